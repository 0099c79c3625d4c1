/* Three people, one item, every dialect: the first passes it to a queue, the second to another, the
 * third decides, and the answer is one that the first log understands, where the first would have
 * sent it. And queues that lie. */
#include "encode.h"

#include <stdlib.h>
#include <unistd.h>

#define ID(n) "00000000-0000-4000-8000-1000000000" n
#define ARCH "{\"agent_id\":\"arch\",\"agent_type\":\"architect\",\"instance_id\":\"a1\"}"
#define DEV "{\"agent_id\":\"dev\",\"agent_type\":\"developer\",\"instance_id\":\"d1\"}"
#define REV "{\"agent_id\":\"rev\",\"agent_type\":\"reviewer\",\"instance_id\":\"r1\"}"
#define SAYS(n, from, to, type, payload) \
	"{\"message_id\":\"" ID(n) "\",\"timestamp\":\"2026-02-06T11:00:" n "Z\",\"sequence_number\":" n \
	",\"from_agent\":" from ",\"to_agent\":" to ",\"message_type\":\"" type \
	"\",\"correlation_id\":\"c1\",\"payload\":" payload "}"
#define ASSIGN ASSIGN_WITH("")
#define ASSIGN_WITH(more) \
	SAYS("11", ARCH, DEV, "task_assignment", \
	     "{\"task\":{\"task_id\":\"T1\",\"task_description\":\"Draw\",\"context\":{\"specs\":[]," \
	     "\"reference_files\":[],\"previous_attempts\":[]},\"constraints\":{\"scope\":[\"src/**\"]," \
	     "\"must_not_break\":[],\"testing_required\":true},\"acceptance_criteria\":[\"It draws\"]}," \
	     "\"priority\":\"medium\"" more "}")
#define DONE(status, blockers) \
	SAYS("12", DEV, ARCH, "task_completion", \
	     "{\"task_id\":\"T1\",\"status\":\"" status "\",\"summary\":\"Drawn\",\"changes\":{" \
	     "\"files_created\":[],\"files_modified\":[],\"files_deleted\":[]},\"self_review\":{" \
	     "\"tests_run\":true,\"tests_passed\":true,\"type_check_passed\":true},\"blockers\":[" blockers \
	     "]}")
#define ASK_REVIEW ASK_FOR("13", "R1")
#define ASK_FOR(n, id) \
	SAYS(n, ARCH, REV, "review_request", \
	     "{\"review_id\":\"" id "\",\"task_id\":\"T1\",\"scope\":{\"files\":[\"src/lane.c\"],\"focus_areas\":[" \
	     "\"logic\"]},\"criteria\":{\"must_pass_tests\":true,\"must_pass_type_check\":true},\"context\":{" \
	     "\"task_description\":\"Draw\",\"acceptance_criteria\":[\"It draws\"]}}")
#define REVIEW(verdict) RESULT_OF("14", "R1", verdict)
#define RESULT_OF(n, id, verdict) \
	SAYS(n, REV, ARCH, "review_result", \
	     "{\"review_id\":\"" id "\",\"task_id\":\"T1\",\"verdict\":\"" verdict "\",\"findings\":[{" \
	     "\"finding_id\":\"F1\",\"severity\":\"major\",\"category\":\"bug\",\"location\":{\"file\":" \
	     "\"src/lane.c\"},\"description\":\"No check\",\"rationale\":\"It crashes\"}],\"required_changes\":[{" \
	     "\"change_id\":\"C1\",\"description\":\"Check\",\"related_findings\":[\"F1\"],\"priority\":" \
	     "\"must_fix\"}],\"verification\":{\"tests\":{\"passed\":true},\"type_check\":{\"passed\":true}," \
	     "\"custom\":{}},\"summary\":\"One bug\"}")
#define QUESTION \
	SAYS("12", DEV, ARCH, "feedback", \
	     "{\"feedback_type\":\"question\",\"subject\":\"Colours\",\"content\":\"Which?\"," \
	     "\"action_required\":true,\"related_task_id\":\"T1\"}")

#define RESPONSE(body) \
	"{\"protocol_version\":\"1.2\",\"iteration\":1,\"status\":" body "}"
#define AREAS \
	"\"success\",\"feedback\":{\"confidence\":{\"level\":\"high\",\"justification\":\"read it\"}," \
	"\"positive_points\":[],\"areas_for_improvement\":[{\"id\":\"other-01\",\"aspect\":\"a\",\"description\":" \
	"\"x\",\"recommendation\":\"y\"},{\"id\":\"scope-01\",\"aspect\":\"Scope\",\"description\":\"Too wide\"," \
	"\"recommendation\":\"Narrow it\"}],\"general_summary\":\"ok\"}"
#define REQUEST \
	"{\"protocol_version\":\"1.2\",\"iteration\":1,\"artifact\":{\"media_type\":\"text/plain\"," \
	"\"content\":\"The plan\"}}"
#define WRAPPED \
	"{\"type\":\"text\",\"timestamp\":1770379100000,\"sessionID\":\"ses_1\",\"part\":{\"type\":\"text\"," \
	"\"text\":\"Here: {\\\"protocol_version\\\":\\\"1.2\\\",\\\"iteration\\\":1,\\\"status\\\":\\\"success\\\"," \
	"\\\"feedback\\\":{\\\"confidence\\\":{\\\"level\\\":\\\"high\\\",\\\"justification\\\":\\\"j\\\"}," \
	"\\\"positive_points\\\":[],\\\"areas_for_improvement\\\":[{\\\"id\\\":\\\"scope-01\\\",\\\"aspect\\\":" \
	"\\\"Scope\\\",\\\"description\\\":\\\"Too wide\\\",\\\"recommendation\\\":\\\"Narrow it\\\"}]," \
	"\\\"general_summary\\\":\\\"ok\\\"}}\"}}"

#define TASK \
	"{\"task_id\":\"T1\",\"task_type\":\"content\",\"priority\":\"high\",\"context\":{\"goal\":\"A post\"}," \
	"\"acceptance_criteria\":[\"Short\"],\"created_at\":\"2026-02-06T11:00:00Z\",\"status\":\"pending\"}"
#define RESULT \
	"{\"task_id\":\"T1\",\"status\":\"success\",\"confidence_score\":0.8,\"output\":{\"type\":\"text\"}," \
	"\"traces\":\"Tried\",\"artifacts\":[],\"created_at\":\"2026-02-06T11:01:00Z\",\"state_version\":\"v3\"}"
#define JUDGED \
	"{\"task_id\":\"T1\",\"decision\":\"escalate\",\"rationale\":\"hm\",\"state_version\":\"v4\"," \
	"\"created_at\":\"2026-02-06T11:02:00Z\"}"

#define INPUT \
	"{\"context\":{\"feature_id\":\"005\",\"workflow\":\"plan\",\"iteration\":1},\"paths\":{},\"task\":{" \
	"\"action\":\"plan\",\"params\":{}}}"
#define OUTPUT(recommendation) \
	"{\"success\":true,\"summary\":\"Stuck\",\"artifacts\":[],\"recommendation\":\"" recommendation "\"}"

#define ORCH(type, n, payload) \
	"{\"type\":\"" type "\",\"id\":\"" ID(n) "\",\"timestamp\":\"2026-02-06T11:59:50Z\",\"payload\":" payload "}"
#define ASK_USER \
	ORCH("request:ask-user", "21", \
	     "{\"question\":\"Deploy?\",\"options\":[{\"label\":\"Yes\",\"value\":\"yes\"},{\"label\":\"No\"," \
	     "\"value\":\"no\"}],\"timeout\":60000}")
#define SUBMIT \
	ORCH("request:submit-task", "22", \
	     "{\"type\":\"implementation\",\"name\":\"Fix\",\"description\":\"d\",\"payload\":{}," \
	     "\"requiredRole\":\"worker\",\"requiredCapabilities\":[],\"dependencies\":[],\"priority\":2}")
#define EVENT_QUESTION ORCH("event:question", "23", "{\"question\":\"Why?\"}")

static const struct trial {
	const char *lines[6];
	enum dialect_id dialect;
	enum item_kind kind;
	const char *name, *title;
	enum verb verb;
	const char *explanation, *answer;
	enum verdict verdict;
} trials[] = {
	{ { REQUEST, RESPONSE(AREAS) }, DIALECT_FEEDBACK, ITEM_IMPROVEMENT, "scope-01", "Too wide",
	  VERB_REJECT, "No", "", VERDICT_REJECTED },
	{ { REQUEST, WRAPPED }, DIALECT_FEEDBACK, ITEM_IMPROVEMENT, "scope-01", "Too wide", VERB_REJECT,
	  "No", "", VERDICT_REJECTED },
	{ { REQUEST, RESPONSE("\"error\",\"error\":{\"code\":\"INTERNAL_ERROR\",\"message\":\"Oh\"}") },
	  DIALECT_FEEDBACK, ITEM_ERROR, "error@2", "Oh", VERB_ACCEPT, "", "", VERDICT_ACCEPTED },
	{ { ASSIGN, DONE("completed", ""), ASK_REVIEW, REVIEW("changes_requested") },
	  DIALECT_COLLABORATION, ITEM_FINDING, "R1/F1", "No check", VERB_ACCEPT, "", "",
	  VERDICT_ACCEPTED },
	{ { ASSIGN, DONE("completed", ""), ASK_REVIEW, REVIEW("changes_requested") },
	  DIALECT_COLLABORATION, ITEM_FINDING, "R1/F1", "No check", VERB_REJECT, "Not so", "",
	  VERDICT_REJECTED },
	{ { ASSIGN, DONE("completed", ""), ASK_REVIEW, REVIEW("changes_requested") },
	  DIALECT_COLLABORATION, ITEM_CHANGE, "R1/C1", "Check", VERB_PARTIAL, "Half", "",
	  VERDICT_PARTIAL },
	{ { ASSIGN, DONE("completed", ""), ASK_REVIEW, REVIEW("rejected") }, DIALECT_COLLABORATION,
	  ITEM_VERDICT, "R1", "One bug", VERB_ACCEPT, "", "", VERDICT_ACCEPTED },
	/* the second of two rounds: only together are they too many */
	{ { ASSIGN_WITH(",\"max_iterations\":2"), DONE("completed", ""), ASK_REVIEW,
	    REVIEW("changes_requested"), ASK_FOR("15", "R2"),
	    RESULT_OF("16", "R2", "changes_requested") },
	  DIALECT_COLLABORATION, ITEM_VERDICT, "R2", "One bug", VERB_REJECT, "No", "",
	  VERDICT_REJECTED },
	{ { ASSIGN, QUESTION }, DIALECT_COLLABORATION, ITEM_QUESTION, ID("12"), "Colours", VERB_ANSWER, "",
	  "Blue", VERDICT_ANSWERED },
	{ { ASSIGN, DONE("failed", "\"No disk\"") }, DIALECT_COLLABORATION, ITEM_BLOCKED, "T1", NULL,
	  VERB_REJECT, "Give up", "", VERDICT_REJECTED },
	{ { TASK, RESULT }, DIALECT_HANDOFF, ITEM_ESCALATION, "T1", "Tried", VERB_ACCEPT, "", "",
	  VERDICT_ACCEPTED },
	{ { TASK, RESULT, JUDGED }, DIALECT_HANDOFF, ITEM_ESCALATION, "T1", "hm", VERB_REJECT, "No", "",
	  VERDICT_REJECTED },
	{ { INPUT, OUTPUT("escalate") }, DIALECT_ENVELOPE, ITEM_ESCALATION, "escalation@2", "Stuck",
	  VERB_ACCEPT, "", "", VERDICT_ACCEPTED },
	{ { INPUT, OUTPUT("retry") }, DIALECT_ENVELOPE, ITEM_RETRY, "retry@2", "Stuck", VERB_REJECT, "No",
	  "", VERDICT_REJECTED },
	{ { ASK_USER }, DIALECT_ORCHESTRATOR, ITEM_QUESTION, ID("21"), "Deploy?", VERB_ANSWER, "", "yes",
	  VERDICT_ANSWERED },
	{ { ASK_USER }, DIALECT_ORCHESTRATOR, ITEM_QUESTION, ID("21"), "Deploy?", VERB_REJECT, "No", "",
	  VERDICT_REJECTED },
	{ { SUBMIT }, DIALECT_ORCHESTRATOR, ITEM_TASK, ID("22"), "Fix", VERB_REJECT, "No", "",
	  VERDICT_REJECTED },
	{ { EVENT_QUESTION }, DIALECT_ORCHESTRATOR, ITEM_QUESTION, ID("23"), "Why?", VERB_ANSWER, "",
	  "Because", VERDICT_ANSWERED },
};
enum { TRIALS = sizeof(trials) / sizeof(trials[0]) };
enum { OF_FEEDBACK = 0, OF_HANDOFF = 10, OF_ENVELOPE_RETRY = 13, OF_ORCHESTRATOR = 14 };

static char folder[64], queue_1[96], queue_2[96], replies[96];

static void setup(void)
{
	strcpy(folder, "/tmp/gavel-escalate-XXXXXX");
	ck_assert(mkdtemp(folder));
	snprintf(queue_1, sizeof(queue_1), "%s/queue-1.ndjson", folder);
	snprintf(queue_2, sizeof(queue_2), "%s/queue-2.ndjson", folder);
	snprintf(replies, sizeof(replies), "%s/log.replies.ndjson", folder);
}

static void teardown(void)
{
	unlink(queue_1);
	unlink(queue_2);
	unlink(replies);
	rmdir(folder);
}

static const struct proposal *letter_to(const struct plan *p, const char *path)
{
	for (uint32_t i = 0; i < p->list.n; i++)
		if (str_is(p->list.v[i].letter.path, path))
			return &p->list.v[i];
	return NULL;
}

static void open_log(struct bench *l, const struct trial *t)
{
	bench_open(l, "log");
	l->model.runs_agents = true;
	for (int i = 0; i < 6 && t->lines[i]; i++)
		bench_add(l, t->lines[i]);
	assert_clean(l);
}

/* The first person passes the item on; her own dialect's words are heard in the log. */
static void escalate(struct bench *l, const struct trial *t, const char *queue, struct plan *p)
{
	struct terms terms = usual_terms(replies);
	const struct proposal *entry;
	uint32_t carried = 0;

	terms.escalate_to = queue;
	bench_decide(l, bench_item(l, t->kind, t->name), VERB_ESCALATE, "Not mine", "alice");
	bench_plan_by(l, &terms, p);
	assert_ready(p);
	entry = letter_to(p, queue);
	ck_assert(entry && entry->letter.channel == CHANNEL_FILE);
	ck_assert(entry->letter.bytes.p[entry->letter.bytes.n - 1] == '\n');
	for (uint32_t i = 0; i < p->list.n; i++) {
		carried += p->list.v[i].letter.drafts.n;
		if (&p->list.v[i] != entry)
			bench_say(l, p->list.v[i].letter.bytes, NULL);
	}
	ck_assert_uint_eq(carried, 1);
	assert_clean(l);
}

static void open_queue(struct bench *q, const char *path, struct str entry)
{
	bench_open(q, path);
	bench_add_file(q, entry, NULL);
	assert_clean(q);
	ck_assert_uint_eq(q->model.items.n, 1);
}

/* Plans as the UI does: the page of drafts, and if that has nothing, the page of the first path that
 * a message names. */
static void plan_apart(struct bench *q, struct terms *terms, struct plan *p)
{
	char path[96];

	terms->apart = true;
	terms->named = NULL;
	bench_plan_by(q, terms, p);
	if (!p->apart.n)
		return;
	ck_assert_uint_eq(p->apart.n, 1);
	ck_assert_uint_eq(p->list.n, 0);
	snprintf(path, sizeof(path), "%.*s", STR_ARG(p->apart.v[0]));
	plan_release(p);
	terms->named = path;
	bench_plan_by(q, terms, p);
	ck_assert(str_is(p->named, path));
	terms->named = NULL;
}

static void check_entry(struct bench *q, const struct trial *t)
{
	const struct item *item = &q->model.items.v[0];
	struct item_state st = bench_state(q, 0);
	struct detail d;
	bool shows_path = false, shows_why = false;

	ck_assert_int_eq(item->kind, ITEM_ESCALATION);
	ck_assert(is_from_queue(item));
	ck_assert_int_eq(item->origin_dialect, t->dialect);
	ck_assert_int_eq(item->origin_kind, t->kind);
	ck_assert(st.open && !st.undecidable);
	ck_assert(verbs_of_item(&q->model, item, &st) & 1u << t->verb);
	ck_assert(verbs_of_item(&q->model, item, &st) & 1u << VERB_ESCALATE);
	ck_assert(bench_detail(q, item, &st, &d));
	if (t->title)
		ck_assert_msg(str_is(d.title, t->title), "the title is %.*s", STR_ARG(d.title));
	for (unsigned i = 0; i < d.n; i++) {
		shows_path |= str_is(d.field[i].text, replies) && d.field[i].id_like;
		shows_why |= str_is(d.field[i].text, "Not mine") ||
			     str_is(d.field[i].text, "Nor mine");
		/* its own dialect's words, not a heap of JSON */
		ck_assert(t->dialect == DIALECT_HANDOFF || strcmp(d.field[i].label, "original") != 0);
	}
	ck_assert(shows_path && shows_why);
}

START_TEST(three_people)
{
	const struct trial *t = &trials[_i];
	struct terms terms = usual_terms(NULL);
	struct bench l, q1, q2;
	struct plan p1, p2, p3;
	struct item_state st;
	struct draft *d;

	open_log(&l, t);
	escalate(&l, t, queue_1, &p1);

	open_queue(&q1, queue_1, letter_to(&p1, queue_1)->letter.bytes);
	check_entry(&q1, t);
	assert_str(agent_name(&q1.model, message_route(&q1.model, 0)->from), "alice");
	terms.escalate_to = queue_2;
	bench_decide(&q1, 0, VERB_ESCALATE, "Nor mine", "bob");
	bench_plan_by(&q1, &terms, &p2);
	assert_ready(&p2);
	ck_assert_uint_eq(p2.list.n, 1); /* the original is not answered */
	ck_assert(str_is(p2.list.v[0].letter.path, queue_2));
	ck_assert_uint_eq(p2.list.v[0].letter.drafts.n, 1);

	open_queue(&q2, queue_2, p2.list.v[0].letter.bytes);
	check_entry(&q2, t);
	assert_str(agent_name(&q2.model, message_route(&q2.model, 0)->from), "bob");
	bench_decide(&q2, 0, VERB_ESCALATE, "Hm", "carol")->state = DRAFT_VOID; /* she thought again */
	d = bench_decide(&q2, 0, t->verb, t->explanation, "carol");
	d->answer = str_of(t->answer);
	d->reason_code = t->verb == VERB_REJECT ? STR("out_of_scope") : STR("");
	bench_plan_by(&q2, &terms, &p3);
	/* where it goes is the queue's word until a person confirms it */
	ck_assert(!plan_is_ready(&p3));
	ck_assert_msg(strstr(first_missing(&p3), replies) && strstr(first_missing(&p3), "--reply"), "%s",
		      first_missing(&p3));
	plan_release(&p3);
	plan_apart(&q2, &terms, &p3);
	assert_ready(&p3);
	for (uint32_t i = 0; i < p3.list.n; i++) {
		ck_assert(str_is(p3.list.v[i].letter.path, replies));
		ck_assert_ptr_eq(p3.list.v[i].desk, &q2.desk);
		ck_assert_int_eq(p3.list.v[i].letter.dialect, t->dialect);
		ck_assert(p3.list.v[i].letter.drafts.n <= 1);
		for (uint32_t k = 0; k < p3.list.v[i].letter.drafts.n; k++)
			ck_assert_uint_eq(p3.list.v[i].letter.drafts.v[k], 1);
		bench_say(&l, p3.list.v[i].letter.bytes, NULL);
	}
	assert_clean(&l);
	st = bench_state(&l, bench_item(&l, t->kind, t->name));
	ck_assert_msg(st.verdict == t->verdict && !st.open, "%s, not %s", verdict_name(st.verdict),
		      verdict_name(t->verdict));
	plan_release(&p1);
	plan_release(&p2);
	plan_release(&p3);
	bench_release(&l);
	bench_release(&q1);
	bench_release(&q2);
}
END_TEST

START_TEST(reply_given_wins)
{
	struct terms terms = usual_terms("/nonexistent/elsewhere.ndjson");
	struct bench l, q;
	struct plan p1, p2;

	open_log(&l, &trials[OF_HANDOFF]);
	escalate(&l, &trials[OF_HANDOFF], queue_1, &p1);
	open_queue(&q, queue_1, letter_to(&p1, queue_1)->letter.bytes);
	bench_decide(&q, 0, VERB_ACCEPT, "", "bob");
	bench_plan_by(&q, &terms, &p2);
	assert_ready(&p2);
	assert_str(p2.list.v[0].letter.path, "/nonexistent/elsewhere.ndjson");
	ck_assert(str_find(p2.list.v[0].letter.bytes, STR("\"state_version\":\"v3\""), 0) > 0);
	plan_release(&p1);
	plan_release(&p2);
	bench_release(&l);
	bench_release(&q);
}
END_TEST

/* A stream says nothing of where its writer listens: the gavel that runs the agent looks beside the
 * queue. */
START_TEST(stream_is_answered_beside_the_queue)
{
	struct terms terms = usual_terms(NULL);
	struct bench l, q;
	struct plan p1, p2;

	open_log(&l, &trials[OF_ORCHESTRATOR]);
	l.desk.source = STR("stdin");
	terms.escalate_to = queue_1;
	bench_decide(&l, 0, VERB_ESCALATE, "Not mine", "alice");
	bench_plan_by(&l, &terms, &p1);
	assert_ready(&p1);
	ck_assert_uint_eq(p1.list.n, 1);
	ck_assert(str_find(p1.list.v[0].letter.bytes, STR("\"reply\":{\"channel\":\"stdin\"}"), 0) > 0);
	open_queue(&q, queue_1, p1.list.v[0].letter.bytes);
	bench_decide(&q, 0, VERB_ANSWER, "", "bob")->answer = STR("no");
	terms.escalate_to = NULL;
	bench_plan_by(&q, &terms, &p2);
	assert_ready(&p2);
	ck_assert(str_starts(p2.list.v[0].letter.path, str_of(queue_1)));
	ck_assert(str_ends(p2.list.v[0].letter.path, STR("queue-1.ndjson.replies.ndjson")));
	plan_release(&p1);
	plan_release(&p2);
	bench_release(&l);
	bench_release(&q);
}
END_TEST

START_TEST(needs_a_queue)
{
	struct terms terms = usual_terms(replies);
	struct bench l, q;
	struct plan p;
	static const int cannot_say[] = { OF_FEEDBACK, OF_ORCHESTRATOR };

	for (int i = 0; i < 2; i++) {
		open_log(&l, &trials[cannot_say[i]]);
		bench_decide(&l, bench_item(&l, trials[cannot_say[i]].kind, trials[cannot_say[i]].name),
			   VERB_ESCALATE, "Not mine", "alice");
		bench_plan_by(&l, &terms, &p);
		ck_assert(!plan_is_ready(&p));
		ck_assert(strstr(first_missing(&p), "--escalate-to PATH"));
		plan_release(&p);
		/* a folder is no queue */
		terms.escalate_to = folder;
		bench_plan_by(&l, &terms, &p);
		ck_assert(!plan_is_ready(&p));
		ck_assert(strstr(first_missing(&p), "folder"));
		terms.escalate_to = NULL;
		plan_release(&p);
		bench_release(&l);
	}
	/* handoff can say it alone */
	open_log(&l, &trials[OF_HANDOFF]);
	bench_decide(&l, 0, VERB_ESCALATE, "Not mine", "alice");
	bench_plan_by(&l, &terms, &p);
	assert_ready(&p);
	ck_assert_uint_eq(p.list.n, 1);
	plan_release(&p);
	bench_release(&l);
	/* and a queue's item goes to another queue, not back into its own */
	open_log(&l, &trials[OF_HANDOFF]);
	escalate(&l, &trials[OF_HANDOFF], queue_1, &p);
	open_queue(&q, queue_1, letter_to(&p, queue_1)->letter.bytes);
	plan_release(&p);
	fclose(fopen(queue_1, "w"));
	bench_decide(&q, 0, VERB_ESCALATE, "Nor mine", "bob");
	terms.escalate_to = queue_1;
	bench_plan_by(&q, &terms, &p);
	ck_assert(!plan_is_ready(&p));
	plan_release(&p);
	bench_release(&l);
	bench_release(&q);
}
END_TEST

/* The entry of trial n with `from` replaced by `to` once. */
static struct str forged(struct arena *a, int n, const char *from, const char *to)
{
	struct bench l;
	struct plan p;
	struct str entry, s;
	ptrdiff_t at;
	struct buf b = { 0 };

	open_log(&l, &trials[n]);
	escalate(&l, &trials[n], queue_1, &p);
	entry = letter_to(&p, queue_1)->letter.bytes;
	at = str_find(entry, str_of(from), 0);
	ck_assert_msg(at > 0, "no %s in %.*s", from, STR_ARG(entry));
	buf_add(&b, entry.p, (size_t)at);
	buf_adds(&b, to);
	buf_add_str(&b, str_from(entry, (size_t)at + strlen(from)));
	s = arena_str(a, buf_str(&b));
	buf_release(&b);
	plan_release(&p);
	bench_release(&l);
	return s;
}

static const struct forgery {
	int trial;
	const char *from, *to;
	bool undecidable; /* seen when it is read; otherwise when it is answered */
	const char *says;
} forgeries[] = {
	{ OF_HANDOFF, "\"rev\":\"sha256:", "\"rev\":\"sha256:0", false, "revision" },
	{ OF_HANDOFF, "\"rev\":", "\"was\":", true, NULL },
	{ OF_HANDOFF, "\"original\":", "\"orig\":", true, NULL },
	{ OF_HANDOFF, "\"dialect\":\"handoff\"", "\"dialect\":\"morse\"", true, NULL },
	{ OF_HANDOFF, "\"dialect\":\"handoff\"", "\"dialect\":\"text\"", true, NULL },
	{ OF_HANDOFF, "\"kind\":\"escalation\"", "\"kind\":\"wish\"", true, NULL },
	{ OF_HANDOFF, "\"item\":\"T1\"", "\"item\":\"T2\"", false, "item" },
	{ OF_HANDOFF, "\"session\":", "\"sitting\":", true, NULL },
	{ OF_HANDOFF, "\"reply\":", "\"answer\":", true, NULL },
	{ OF_HANDOFF, "\"confidence_score\\\":0.8", "\"confidence_score\\\":0.81", false, "revision" },
	{ OF_HANDOFF, "\\\"traces\\\":\\\"Tried\\\"", "\\\"traces\\\":\\\"Tried\\\",\\\"traces\\\":\\\"Tried\\\"",
	  false, "" },
	{ OF_HANDOFF, "\"path\":\"/", "\"path\":\"", false, "no path" },
	{ OF_HANDOFF, "\"path\":\"/", "\"path\":\"/\\u0000", false, "no path" },
	{ OF_HANDOFF, "\"channel\":\"file\"", "\"channel\":\"directory\"", false, "folder" },
	{ OF_HANDOFF, "\"channel\":\"file\"", "\"channel\":\"socket\"", false, "--reply" },
	/* two names for one thing: readers disagree on which counts */
	{ OF_HANDOFF, "\"item\":\"T1\"", "\"item\":\"T1\",\"item\":\"T1\"", true, NULL },
	{ OF_HANDOFF, "\"path\":\"/", "\"path\":\"/etc/passwd\",\"path\":\"/", true, NULL },
	{ OF_FEEDBACK, "\"index\":1", "\"index\":0", false, NULL },
};
enum { FORGERIES = sizeof(forgeries) / sizeof(forgeries[0]) };

START_TEST(forged_entries_are_refused)
{
	const struct forgery *f = &forgeries[_i];
	struct terms terms = usual_terms(NULL);
	struct arena arena = { 0 };
	struct bench q;
	struct item_state st;
	struct plan p;

	bench_open(&q, queue_1);
	bench_add_file(&q, forged(&arena, f->trial, f->from, f->to), NULL);
	ck_assert_uint_eq(q.model.items.n, 1);
	st = bench_state(&q, 0);
	ck_assert(st.open);
	ck_assert_int_eq(st.undecidable, f->undecidable);
	if (f->undecidable)
		ck_assert_uint_eq(verbs_of_item(&q.model, &q.model.items.v[0], &st), 0);
	bench_decide(&q, 0, trials[f->trial].verb, "Yes", "bob");
	plan_apart(&q, &terms, &p);
	if (f->says || f->undecidable)
		ck_assert(!plan_is_ready(&p));
	else /* only what is shown was wrong: the answer is about the item that was named */
		assert_ready(&p);
	if (f->says)
		ck_assert_msg(strstr(first_missing(&p), f->says), "%s", first_missing(&p));
	plan_release(&p);
	bench_release(&q);
	arena_release(&arena);
}
END_TEST

/* Thresholds are the first reviewer's business. */
START_TEST(other_settings_make_no_difference)
{
	struct terms terms = usual_terms(NULL), first = usual_terms(replies);
	struct bench l, q;
	struct plan p1, p2;

	bench_open(&l, "log");
	l.model.approve_from = 0.99;
	bench_add(&l, "{\"task_id\":\"T1\",\"status\":\"success\",\"confidence_score\":0.95,\"output\":{},"
		    "\"traces\":\"Tried\",\"created_at\":\"2026-02-06T11:01:00Z\"}");
	first.escalate_to = queue_1;
	bench_decide(&l, 0, VERB_ESCALATE, "Not mine", "alice");
	bench_plan_by(&l, &first, &p1);
	assert_ready(&p1);
	open_queue(&q, queue_1, letter_to(&p1, queue_1)->letter.bytes);
	bench_decide(&q, 0, VERB_ACCEPT, "", "bob");
	plan_apart(&q, &terms, &p2);
	assert_ready(&p2);
	plan_release(&p1);
	plan_release(&p2);
	bench_release(&l);
	bench_release(&q);
}
END_TEST

/* Text that is not UTF-8, or holds half a character, comes through with the same revision. */
START_TEST(broken_text_comes_through)
{
	static const char *const traces[] = { "half \\ud800 pair", "bad \xff\xfe\xc3 bytes", "a\\u0000b" };
	struct terms terms = usual_terms(NULL);
	struct bench l, q;
	struct plan p1, p2;
	char result[512];
	struct terms first = usual_terms(replies);

	snprintf(result, sizeof(result),
		 "{\"task_id\":\"T1\",\"status\":\"success\",\"confidence_score\":0.8,\"output\":{},"
		 "\"traces\":\"%s\",\"created_at\":\"2026-02-06T11:01:00Z\"}",
		 traces[_i]);
	bench_open(&l, "log");
	bench_add(&l, result);
	first.escalate_to = queue_1;
	bench_decide(&l, 0, VERB_ESCALATE, "Not mine", "alice");
	bench_plan_by(&l, &first, &p1);
	assert_ready(&p1);
	bench_open(&q, queue_1);
	bench_add_file(&q, letter_to(&p1, queue_1)->letter.bytes, NULL);
	assert_clean(&q);
	bench_decide(&q, 0, VERB_ACCEPT, "", "bob");
	plan_apart(&q, &terms, &p2);
	assert_ready(&p2);
	plan_release(&p1);
	plan_release(&p2);
	bench_release(&l);
	bench_release(&q);
}
END_TEST

/* Items of several logs in one queue do not run into each other, not even from logs of one name. */
START_TEST(one_queue_for_all)
{
	static const char *const same_name[] = { OUTPUT("retry"),
						 "{\"success\":false,\"summary\":\"Lost\",\"artifacts\":[],"
						 "\"recommendation\":\"retry\"}" };
	struct bench q;

	bench_open(&q, queue_1);
	for (int i = 0; i < TRIALS; i++) {
		struct bench l;
		struct plan p;
		char name[16];

		snprintf(name, sizeof(name), "log-%d", i);
		bench_open(&l, name);
		l.model.runs_agents = true;
		for (int k = 0; k < 6 && trials[i].lines[k]; k++)
			bench_add(&l, trials[i].lines[k]);
		escalate(&l, &trials[i], queue_1, &p);
		bench_add_file(&q, letter_to(&p, queue_1)->letter.bytes, NULL);
		plan_release(&p);
		bench_release(&l);
	}
	assert_clean(&q);
	ck_assert_uint_eq(q.model.items.n, TRIALS);
	for (int i = 0; i < 2; i++) {
		struct trial t = trials[OF_ENVELOPE_RETRY];
		struct bench l;
		struct plan p;

		t.lines[1] = same_name[i];
		bench_open(&l, "stdin");
		for (int k = 0; k < 2; k++)
			bench_add(&l, t.lines[k]);
		escalate(&l, &t, queue_1, &p);
		bench_add_file(&q, letter_to(&p, queue_1)->letter.bytes, NULL);
		plan_release(&p);
		bench_release(&l);
	}
	ck_assert_uint_eq(q.model.items.n, TRIALS + 2);
	bench_release(&q);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("escalate");
	TCase *t = tcase_create("chain");

	suite_add_tcase(suite, t);
	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_loop_test(t, three_people, 0, TRIALS);
	tcase_add_test(t, reply_given_wins);
	tcase_add_test(t, stream_is_answered_beside_the_queue);
	tcase_add_test(t, needs_a_queue);
	tcase_add_test(t, one_queue_for_all);
	tcase_add_test(t, other_settings_make_no_difference);
	t = tcase_create("hostile");
	suite_add_tcase(suite, t);
	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_loop_test(t, forged_entries_are_refused, 0, FORGERIES);
	tcase_add_loop_test(t, broken_text_comes_through, 0, 3);
	return unit_run(suite);
}
