/* Every verb on every kind of collaboration item: what is written is valid, and read back it says
 * the same decision. */
#include "encode/encode_command.h"

#include "encode.h"

#include <stdarg.h>
#include <stdlib.h>

static struct bench bench;
static int64_t sequence;
static bool correlated;

static void setup(void)
{
	bench_init(&bench);
	bench.terms.as = STR("pat");
	bench.terms.reply = "no-such-folder/replies.ndjson";
	bench.terms.now_ms = INT64_C(1769421600000);
	sequence = 0;
	correlated = true;
}

static void teardown(void)
{
	bench_release(&bench);
}

/* Applies a line and returns how many warnings and errors it has. */
static unsigned apply(struct str line)
{
	bench_add_str(&bench, line);
	return bench.bad;
}

static unsigned reply(struct str line)
{
	bench_say(&bench, line, NULL);
	return bench.bad;
}

static const char *agent(const char *id)
{
	static const char *const known[][2] = {
		{ "arch", "{\"agent_id\":\"arch\",\"agent_type\":\"architect\"}" },
		{ "dev", "{\"agent_id\":\"dev\",\"agent_type\":\"developer\","
			 "\"instance_id\":\"inst-7\"}" },
		{ "rev", "{\"agent_id\":\"rev\",\"agent_type\":\"reviewer\"}" },
		{ "joe", "{\"agent_id\":\"joe\",\"agent_type\":\"architect\","
			 "\"instance_id\":\"human\"}" },
	};

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (strcmp(known[i][0], id) == 0)
			return known[i][1];
	ck_abort_msg("no agent %s", id);
	return NULL;
}

/* One message; its id ends with its number in the log, from 1. */
static unsigned say(const char *from, const char *to, const char *type, const char *extra,
		    const char *format, ...) __attribute__((format(printf, 5, 6)));

static unsigned say(const char *from, const char *to, const char *type, const char *extra,
		    const char *format, ...)
{
	struct buf b = { 0 };
	char *payload;
	va_list ap;
	unsigned bad;

	va_start(ap, format);
	ck_assert_int_ge(vasprintf(&payload, format, ap), 0);
	va_end(ap);
	buf_printf(&b, "{\"message_id\":\"00000000-0000-4000-8000-%012u\",\"timestamp\":"
		       "\"2026-01-26T10:00:00Z\",\"sequence_number\":%lld,\"from_agent\":%s,"
		       "\"to_agent\":%s,\"message_type\":\"%s\",%s%s\"payload\":%s}",
		   bench.lines.n + 1, (long long)++sequence, agent(from), agent(to), type,
		   correlated ? "\"correlation_id\":\"corr-1\"," : "", extra, payload);
	bad = apply(buf_str(&b));
	buf_release(&b);
	free(payload);
	return bad;
}

#define assert_valid(bad) ck_assert_msg((bad) == 0, "%.*s", STR_ARG(buf_str(&bench.worse)))
#define SAY(...) assert_valid(say(__VA_ARGS__))

static void assign(const char *task)
{
	SAY("arch", "dev", "task_assignment", "",
	    "{\"task\":{\"task_id\":\"%s\",\"task_description\":\"Draw lanes\",\"context\":{\"specs\":"
	    "[{\"path\":\"spec.md\",\"reason\":\"design\"}],\"reference_files\":[]},\"constraints\":"
	    "{\"scope\":[\"src/**\"],\"testing_required\":true,\"must_not_break\":[\"zoom\"]},"
	    "\"acceptance_criteria\":[\"Lanes show\"]},\"priority\":\"low\",\"max_iterations\":4}",
	    task);
}

static void complete(const char *task, const char *status, const char *blockers)
{
	SAY("dev", "arch", "task_completion", "",
	    "{\"task_id\":\"%s\",\"status\":\"%s\",\"changes\":{\"files_created\":[],"
	    "\"files_modified\":[],\"files_deleted\":[]},\"summary\":\"Half of it\",\"self_review\":"
	    "{\"tests_run\":true,\"tests_passed\":true,\"type_check_passed\":true}%s}",
	    task, status, blockers);
}

#define FINDING(id, severity) \
	"{\"finding_id\":\"" id "\",\"severity\":\"" severity "\",\"category\":\"bug\",\"location\":" \
	"{\"file\":\"src/a.c\",\"line_start\":4},\"description\":\"Empty list\",\"rationale\":" \
	"\"Crashes\",\"suggestion\":\"Return early\"}"
#define CHANGE(id, priority, finding) \
	"{\"change_id\":\"" id "\",\"priority\":\"" priority "\",\"related_findings\":[\"" finding \
	"\"],\"description\":\"Check it\"}"
#define PASSED "\"tests\":{\"passed\":true},\"type_check\":{\"passed\":true},\"custom\":{}"

static void ask_review(const char *review, const char *task)
{
	SAY("arch", "rev", "review_request", "",
	    "{\"review_id\":\"%s\",\"task_id\":\"%s\",\"scope\":{\"files\":[],\"focus_areas\":[]},"
	    "\"criteria\":{\"must_pass_tests\":true,\"must_pass_type_check\":true},\"context\":"
	    "{\"task_description\":\"Draw lanes\",\"acceptance_criteria\":[]}}",
	    review, task);
}

static unsigned give_review(const char *review, const char *task, const char *verdict,
			    const char *findings, const char *changes, const char *verification)
{
	return say("rev", "arch", "review_result", "",
		   "{\"review_id\":\"%s\",\"task_id\":\"%s\",\"verdict\":\"%s\",\"findings\":[%s],"
		   "\"verification\":{%s},\"summary\":\"One bug\",\"required_changes\":[%s]}",
		   review, task, verdict, findings, verification, changes);
}

/* task-1 up to its first review */
static void review_task(const char *verdict, const char *verification)
{
	assign("task-1");
	complete("task-1", "completed", "");
	ask_review("review-1", "task-1");
	give_review("review-1", "task-1", verdict,
		    FINDING("find-1", "critical") "," FINDING("find-2", "minor"),
		    CHANGE("change-1", "must_fix", "find-1"), verification);
}

static void ask_question(void)
{
	SAY("dev", "arch", "feedback", "",
	    "{\"feedback_type\":\"question\",\"subject\":\"Lanes\",\"content\":\"How many?\","
	    "\"action_required\":true,\"related_task_id\":\"task-1\"}");
}

#define QUESTION "00000000-0000-4000-8000-000000000002"

static uint32_t find(enum item_kind kind, const char *id)
{
	return bench_item(&bench, kind, id);
}

#define assert_verdict(kind, id, verdict) bench_verdict(&bench, kind, id, verdict)

static void stage(enum item_kind kind, const char *id, enum verb verb, const char *words)
{
	bool answers = verb == VERB_ANSWER;
	struct draft *d = bench_decide(&bench, find(kind, id), verb, answers ? "" : words, "pat");

	if (answers)
		d->answer = str_of(words);
}

static void make(uint32_t letters)
{
	bench_plan(&bench);
	ck_assert_msg(bench.plan.refused.n == 0, "refused: %.*s",
		      STR_ARG(bench.plan.refused.v[0]));
	ck_assert_uint_eq(bench.plan.list.n, letters);
}

static void make_missing(const char *why)
{
	make(1);
	ck_assert_msg(bench.plan.list.v[0].missing.n, "nothing is missing");
	ck_assert_msg(str_find(bench.plan.list.v[0].missing.v[0], str_of(why), 0) >= 0, "missing: %.*s",
		      STR_ARG(bench.plan.list.v[0].missing.v[0]));
	ck_assert(!plan_is_ready(&bench.plan));
}

static yyjson_val *parsed(struct json_reader *json, uint32_t letter)
{
	yyjson_val *root = NULL;

	ck_assert_int_eq(json_read(json, bench.plan.list.v[letter].letter.bytes, &root), JSON_OK);
	return root;
}

/* The value at a JSON pointer of a letter, compactly; empty where there is none. */
static struct str told(uint32_t letter, const char *pointer)
{
	struct json_reader json = { 0 };
	yyjson_val *v = yyjson_ptr_get(parsed(&json, letter), pointer);

	buf_clear(&bench.text);
	if (yyjson_is_str(v))
		buf_add_str(&bench.text, json_str(v));
	else if (v)
		json_write(&bench.text, v);
	json_reader_release(&json);
	return buf_str(&bench.text);
}

/* What every letter has, then all of them read as if they were in the log. */
static void play(void)
{
	for (uint32_t i = 0; i < bench.plan.list.n; i++) {
		const struct proposal *p = &bench.plan.list.v[i];

		ck_assert_msg(p->missing.n == 0, "missing: %.*s", STR_ARG(p->missing.v[0]));
		ck_assert(p->letter.bytes.n && p->letter.bytes.p[p->letter.bytes.n - 1] == '\n');
		ck_assert(str_eq(told(i, "/to_agent/agent_id"), p->letter.to));
		assert_str(told(i, "/from_agent/instance_id"), "human");
		ck_assert(str_eq(told(i, "/correlation_id"), correlated ? STR("corr-1") : STR("")));
		assert_valid(reply(p->letter.bytes));
		ck_assert_int_eq(bench.message.sequence, sequence + (int64_t)i + 1);
	}
	for (uint32_t i = 0; i < bench.desk.drafts.n; i++)
		bench.desk.drafts.v[i].state = DRAFT_WRITTEN;
}

START_TEST(accepted_of_one_review_are_one_revision)
{
	review_task("changes_requested", PASSED);
	stage(ITEM_FINDING, "find-1", VERB_ACCEPT, "");
	stage(ITEM_FINDING, "find-2", VERB_PARTIAL, "only for empty lists");
	stage(ITEM_CHANGE, "change-1", VERB_ACCEPT, "soon");
	make(1);
	ck_assert_uint_eq(bench.plan.list.v[0].letter.drafts.n, 3);
	assert_str(told(0, "/message_type"), "task_assignment");
	assert_str(told(0, "/from_agent"), "{\"agent_id\":\"pat\",\"agent_type\":\"architect\","
					   "\"instance_id\":\"human\"}");
	assert_str(told(0, "/to_agent"), "{\"agent_id\":\"dev\",\"agent_type\":\"developer\","
					 "\"instance_id\":\"inst-7\"}");
	assert_str(told(0, "/payload/priority"), "high");
	assert_str(told(0, "/payload/max_iterations"), "4");
	assert_str(told(0, "/payload/task/task_id"), "task-1-rev-1");
	assert_str(told(0, "/payload/task/task_description"), "Draw lanes");
	assert_str(told(0, "/payload/task/context"),
		   "{\"specs\":[{\"path\":\"spec.md\",\"reason\":\"design\"}],\"reference_files\":[],"
		   "\"previous_attempts\":[{\"attempt_number\":1,\"outcome\":"
		   "\"review-1: changes_requested\",\"feedback\":\"One bug\"}]}");
	assert_str(told(0, "/payload/task/constraints"),
		   "{\"scope\":[\"src/**\"],\"testing_required\":true,\"must_not_break\":[\"zoom\"]}");
	assert_str(told(0, "/payload/task/acceptance_criteria"),
		   "[\"[find-1 accepted] src/a.c:4: Empty list; suggested: Return early\","
		   "\"[find-2 partial] only for empty lists\","
		   "\"[change-1 accepted] Check it; soon\",\"Lanes show\"]");
	play();
	assert_verdict(ITEM_FINDING, "find-1", VERDICT_ACCEPTED);
	assert_verdict(ITEM_FINDING, "find-2", VERDICT_PARTIAL);
	assert_verdict(ITEM_CHANGE, "change-1", VERDICT_ACCEPTED);
	ck_assert_uint_eq(bench.model.tasks.v[bench.model.tasks.n - 1].root, 0);
}
END_TEST

START_TEST(a_revision_decides_only_what_it_names)
{
	review_task("changes_requested", PASSED);
	stage(ITEM_FINDING, "find-2", VERB_ACCEPT, "");
	make(1);
	assert_str(told(0, "/payload/priority"), "low");
	play();
	assert_verdict(ITEM_FINDING, "find-2", VERDICT_ACCEPTED);
	assert_verdict(ITEM_FINDING, "find-1", VERDICT_NONE);
	assert_verdict(ITEM_CHANGE, "change-1", VERDICT_NONE);
}
END_TEST

START_TEST(a_rejected_finding_goes_to_its_reviewer)
{
	review_task("changes_requested", PASSED);
	stage(ITEM_FINDING, "find-1", VERB_REJECT, "cannot be empty");
	bench.desk.drafts.v[0].reason_code = STR("infeasible");
	stage(ITEM_CHANGE, "change-1", VERB_REJECT, "no");
	make(2);
	assert_str(told(0, "/message_type"), "feedback");
	assert_str(told(0, "/to_agent/agent_id"), "rev");
	assert_str(told(0, "/reply_to"), "00000000-0000-4000-8000-000000000004");
	assert_str(told(0, "/payload"),
		   "{\"feedback_type\":\"correction\",\"subject\":\"rejected: review-1/find-1\","
		   "\"content\":\"[find-1 rejected] infeasible: cannot be empty\","
		   "\"action_required\":false,\"related_task_id\":\"task-1\"}");
	play();
	assert_verdict(ITEM_FINDING, "find-1", VERDICT_REJECTED);
	assert_verdict(ITEM_FINDING, "find-2", VERDICT_NONE);
	assert_verdict(ITEM_CHANGE, "change-1", VERDICT_REJECTED);
}
END_TEST

START_TEST(one_plan_says_everything_about_a_review)
{
	review_task("rejected", PASSED);
	stage(ITEM_FINDING, "find-1", VERB_ACCEPT, "");
	stage(ITEM_FINDING, "find-2", VERB_REJECT, "no");
	stage(ITEM_CHANGE, "change-1", VERB_ESCALATE, "who pays?");
	stage(ITEM_VERDICT, "review-1", VERB_PARTIAL, "not that bad");
	make(4);
	play();
	assert_verdict(ITEM_FINDING, "find-1", VERDICT_ACCEPTED);
	assert_verdict(ITEM_FINDING, "find-2", VERDICT_REJECTED);
	assert_verdict(ITEM_CHANGE, "change-1", VERDICT_ESCALATED);
	assert_verdict(ITEM_VERDICT, "review-1", VERDICT_PARTIAL);
}
END_TEST

START_TEST(a_verdict_is_a_reviewers_last_word)
{
	static const struct {
		enum verb verb;
		enum verdict verdict;
		const char *word;
	} cases[] = {
		{ VERB_ACCEPT, VERDICT_ACCEPTED, "approved" },
		{ VERB_PARTIAL, VERDICT_PARTIAL, "changes_requested" },
		{ VERB_REJECT, VERDICT_REJECTED, "rejected" },
	};

	review_task("rejected", "\"tests\":{\"passed\":true},\"type_check\":{\"passed\":true},"
				"\"custom\":{\"docs\":{\"passed\":true}}");
	stage(ITEM_VERDICT, "review-1", cases[_i].verb, "My word.");
	make(1);
	assert_str(told(0, "/message_type"), "review_result");
	assert_str(told(0, "/from_agent"), "{\"agent_id\":\"pat-reviewer\",\"agent_type\":\"reviewer\","
					   "\"instance_id\":\"human\"}");
	assert_str(told(0, "/to_agent/agent_id"), "arch");
	assert_str(told(0, "/payload/review_id"), "review-1");
	ck_assert(str_is(told(0, "/payload/verdict"), cases[_i].word));
	assert_str(told(0, "/payload/verification"),
		   "{\"tests\":{\"passed\":true},\"type_check\":{\"passed\":true},"
		   "\"custom\":{\"docs\":{\"passed\":true}}}");
	if (cases[_i].verb == VERB_ACCEPT) {
		assert_str(told(0, "/payload/findings/0/finding_id"), "find-2");
		assert_str(told(0, "/payload/findings/1"), "");
		assert_str(told(0, "/payload/required_changes"), "");
		assert_str(told(0, "/payload/summary"), "My word. Waived: find-1 (critical)");
		ck_assert_uint_eq(bench.plan.list.v[0].cautions.n, 1);
	} else {
		assert_str(told(0, "/payload/findings/1/finding_id"), "find-2");
		assert_str(told(0, "/payload/required_changes"),
			   "[{\"change_id\":\"change-1\",\"priority\":\"must_fix\",\"description\":"
			   "\"Check it\",\"related_findings\":[\"find-1\"]}]");
		assert_str(told(0, "/payload/summary"), "My word.");
	}
	play();
	ck_assert_str_eq(verdict_name(bench_state(&bench, find(ITEM_VERDICT, "review-1")).verdict),
			 verdict_name(cases[_i].verdict));
	/* its findings stay as they were */
	assert_verdict(ITEM_FINDING, "find-1", VERDICT_NONE);
	ck_assert_uint_eq(bench.model.items.n, 4);
}
END_TEST

/* What other texts write otherwise, or the protocol's own example leaves out, is written whole. */
START_TEST(a_verdict_is_valid_where_the_review_was_sloppy)
{
	assign("task-1");
	complete("task-1", "completed", "");
	ask_review("review-1", "task-1");
	give_review("review-1", "task-1", "rejected",
		    "{\"finding_id\":\"f\",\"severity\":\"minor\",\"category\":\"bug\",\"file\":\"a.c\","
		    "\"line\":3,\"description\":\"x\"},{\"finding_id\":\"f\",\"severity\":\"minor\"},7",
		    CHANGE("c", "must_fix", "gone") ",{\"change_id\":\"d\"}",
		    "\"tests_passed\":true,\"type_check\":{\"passed\":true}");
	stage(ITEM_VERDICT, "review-1", VERB_PARTIAL, "go on");
	make(1);
	assert_str(told(0, "/payload/findings"),
		   "[{\"finding_id\":\"f\",\"severity\":\"minor\",\"category\":\"bug\",\"location\":"
		   "{\"file\":\"a.c\",\"line_start\":3},\"description\":\"x\",\"rationale\":"
		   "\"not given\"}]");
	assert_str(told(0, "/payload/verification"),
		   "{\"tests\":{\"passed\":true},\"type_check\":{\"passed\":true},\"custom\":{}}");
	assert_str(told(0, "/payload/required_changes/0/related_findings"), "[]");
	play();
	assert_verdict(ITEM_VERDICT, "review-1", VERDICT_PARTIAL);
}
END_TEST

START_TEST(no_approval_without_passing_verification)
{
	static const char *const verifications[] = {
		"\"tests\":{\"passed\":false},\"type_check\":{\"passed\":true},\"custom\":{}",
		"\"tests\":{\"passed\":true},\"custom\":{}",
		PASSED ",\"lint\":{\"passed\":false}",
		("\"tests\":{\"passed\":true},\"type_check\":{\"passed\":true},"
		 "\"custom\":{\"docs\":{\"passed\":false}}"),
		"",
	};

	review_task("rejected", verifications[_i]);
	stage(ITEM_VERDICT, "review-1", VERB_ACCEPT, "");
	make_missing("only when all verifications pass");
	bench.desk.drafts.v[0].verb = VERB_REJECT;
	make_missing("a rejection needs a reason code or an explanation");
	bench.desk.drafts.v[0].explanation = STR("no");
	make(1);
	play();
	assert_verdict(ITEM_VERDICT, "review-1", VERDICT_REJECTED);
}
END_TEST

/* Neither of none at all, nor of one that is not whole and cannot be copied. */
START_TEST(no_changes_without_findings)
{
	assign("task-1");
	complete("task-1", "completed", "");
	ask_review("review-1", "task-1");
	give_review("review-1", "task-1", "rejected", _i ? "{\"finding_id\":\"find-1\"}" : "", "",
		    PASSED);
	stage(ITEM_VERDICT, "review-1", VERB_PARTIAL, "go on");
	if (_i)
		make_missing("this review has none");
	else
		bench_refuses(&bench, "this review has none");
}
END_TEST

/* A verb that the item does not take makes no letter, whoever has staged it. */
START_TEST(a_verdict_is_no_question)
{
	review_task("rejected", PASSED);
	stage(ITEM_VERDICT, "review-1", VERB_ANSWER, "yes");
	bench_refuses(&bench, "can't answer this item; available: ");
}
END_TEST

/* Whatever has become of its letter. */
START_TEST(a_plan_with_an_empty_letter_is_not_ready)
{
	review_task("rejected", PASSED);
	stage(ITEM_VERDICT, "review-1", VERB_ACCEPT, "");
	make(1);
	ck_assert(plan_is_ready(&bench.plan));
	ck_assert(plan_group_is_ready(&bench.plan, 0, true));
	bench.plan.list.v[0].letter.bytes = _i ? STR("\n") : STR("");
	ck_assert(!plan_is_ready(&bench.plan));
	ck_assert(!plan_group_is_ready(&bench.plan, 0, true));
}
END_TEST

START_TEST(an_answer_goes_to_whoever_asked)
{
	assign("task-1");
	ask_question();
	stage(ITEM_QUESTION, QUESTION, VERB_ANSWER, "Three");
	make(1);
	assert_str(told(0, "/reply_to"), QUESTION);
	assert_str(told(0, "/payload"),
		   "{\"feedback_type\":\"guidance\",\"subject\":\"Re: Lanes\",\"content\":\"Three\","
		   "\"action_required\":false,\"related_task_id\":\"task-1\"}");
	assert_str(told(0, "/to_agent/agent_id"), "dev");
	play();
	assert_verdict(ITEM_QUESTION, QUESTION, VERDICT_ANSWERED);
}
END_TEST

/* Words that look like a marker are still an answer. */
START_TEST(an_answer_may_begin_with_brackets)
{
	assign("task-1");
	ask_question();
	stage(ITEM_QUESTION, QUESTION, VERB_ANSWER, "[find-1 rejected] is what I said");
	make(1);
	play();
	assert_verdict(ITEM_QUESTION, QUESTION, VERDICT_ANSWERED);
}
END_TEST

START_TEST(a_blocked_task_goes_on)
{
	assign("task-1");
	complete("task-1", "partial", ",\"blockers\":[\"no network\",\"no key\"]");
	stage(ITEM_BLOCKED, "task-1", VERB_ACCEPT, _i ? "use the mock" : "");
	make(1);
	assert_str(told(0, "/message_type"), "task_assignment");
	assert_str(told(0, "/payload/task/task_id"), "task-1-rev-1");
	assert_str(told(0, "/payload/task/context/previous_attempts/0/outcome"),
		   "partial: Half of it");
	assert_str(told(0, "/payload/priority"), "low");
	if (_i) {
		assert_str(told(0, "/payload/task/acceptance_criteria"),
			   "[\"[task-1 accepted] use the mock\",\"Lanes show\"]");
		assert_str(told(0, "/payload/task/context/previous_attempts/0/feedback"),
			   "no network; no key. use the mock");
	} else {
		assert_str(told(0, "/payload/task/acceptance_criteria"),
			   "[\"[task-1 accepted] goes on in spite of: no network; no key\","
			   "\"Lanes show\"]");
	}
	play();
	assert_verdict(ITEM_BLOCKED, "task-1", VERDICT_ACCEPTED);
}
END_TEST

/* Whoever has had a message on it is told, its developer first. */
START_TEST(a_blocked_task_is_aborted_everywhere)
{
	static const char *const agents[] = { "dev", "arch", "rev" };

	if (_i)
		review_task("changes_requested", PASSED);
	assign("task-2");
	complete("task-2", "failed", ",\"blockers\":[\"no network\"]");
	if (_i)
		ask_review("review-2", "task-2");
	stage(ITEM_BLOCKED, "task-2", VERB_REJECT, "too late");
	make(_i ? 3 : 2);
	for (uint32_t i = 0; i < bench.plan.list.n; i++) {
		ck_assert(str_is(bench.plan.list.v[i].letter.to, agents[i]));
		ck_assert_uint_eq(bench.plan.list.v[i].letter.drafts.n, i ? 0 : 1);
		assert_str(told(i, "/message_type"), "abort");
		assert_str(told(i, "/payload"),
			   "{\"scope\":\"task\",\"target_id\":\"task-2\",\"reason\":"
			   "\"too late\",\"cleanup_required\":true}");
	}
	assert_str(told(0, "/to_agent/instance_id"), "inst-7");
	play();
	assert_verdict(ITEM_BLOCKED, "task-2", VERDICT_REJECTED);
}
END_TEST

START_TEST(every_kind_is_passed_on_to_the_architect)
{
	static const struct {
		enum item_kind kind;
		const char *id;
	} cases[] = {
		{ ITEM_FINDING, "find-1" },   { ITEM_CHANGE, "change-1" }, { ITEM_VERDICT, "review-1" },
		{ ITEM_BLOCKED, "task-1" },   { ITEM_QUESTION, QUESTION },
	};
	struct buf start = { 0 };

	if (cases[_i].kind == ITEM_QUESTION) {
		assign("task-1");
		ask_question();
	} else if (cases[_i].kind == ITEM_BLOCKED) {
		assign("task-1");
		complete("task-1", "failed", ",\"blockers\":[\"no network\"]");
	} else {
		review_task("rejected", PASSED);
	}
	stage(cases[_i].kind, cases[_i].id, VERB_ESCALATE, "who pays?");
	make(1);
	assert_str(told(0, "/message_type"), "feedback");
	assert_str(told(0, "/to_agent/agent_id"), "arch");
	assert_str(told(0, "/payload/feedback_type"), "question");
	assert_str(told(0, "/payload/action_required"), "true");
	buf_printf(&start, "[%s escalated] who pays?\nIt says: ", cases[_i].id);
	ck_assert(str_starts(told(0, "/payload/content"), buf_str(&start)));
	buf_release(&start);
	play();
	assert_verdict(cases[_i].kind, cases[_i].id, VERDICT_ESCALATED);
	/* what a person asks is no item here */
	for (uint32_t i = 0; i < bench.model.items.n; i++)
		ck_assert_uint_lt(bench.model.items.v[i].steps[0].message, bench.model.records.n - 1);
}
END_TEST

START_TEST(without_an_architect_the_queue_takes_it)
{
	SAY("dev", "rev", "feedback", "",
	    "{\"feedback_type\":\"question\",\"subject\":\"Lanes\",\"content\":\"How many?\","
	    "\"action_required\":true}");
	stage(ITEM_QUESTION, "00000000-0000-4000-8000-000000000001", VERB_ESCALATE, "who knows?");
	make_missing("no architect is known");
	bench.terms.escalate_to = "no-such-folder/queue.ndjson";
	make(1);
	assert_str(told(0, "/decision"), "escalate");
}
END_TEST

START_TEST(an_escalation_goes_to_the_queue_too)
{
	review_task("rejected", PASSED);
	bench.terms.escalate_to = "no-such-folder/queue.ndjson";
	stage(ITEM_FINDING, "find-1", VERB_ESCALATE, "who pays?");
	stage(ITEM_FINDING, "find-2", VERB_REJECT, "no");
	make(3);
	assert_str(told(0, "/sequence_number"), "5");
	assert_str(told(1, "/decision"), "escalate");
	assert_str(told(2, "/sequence_number"), "6");
}
END_TEST

START_TEST(no_revision_without_an_assignment)
{
	give_review("review-1", "task-1", "changes_requested", FINDING("find-1", "minor"), "", PASSED);
	stage(ITEM_FINDING, "find-1", VERB_ACCEPT, "");
	make_missing("no assignment of its task was seen");
}
END_TEST

START_TEST(what_was_assigned_from_here_counts_as_seen)
{
	review_task("changes_requested", PASSED);
	stage(ITEM_FINDING, "find-1", VERB_ACCEPT, "");
	make(1);
	bench_send(&bench, &bench.plan.list.v[0]);
	/* the log shows only what the agents say about it */
	give_review("review-2", "task-1-rev-1", "changes_requested", FINDING("find-9", "minor"), "",
		    PASSED);
	stage(ITEM_FINDING, "find-9", VERB_ACCEPT, "");
	make(1);
	assert_str(told(0, "/payload/task/task_id"), "task-1-rev-2");
	assert_str(told(0, "/sequence_number"), "6");
	assert_str(told(0, "/payload/task/context/previous_attempts/1/attempt_number"), "2");
	/* still asked for, but not decided again */
	assert_str(told(0, "/payload/task/acceptance_criteria/1"),
		   "src/a.c:4: Empty list; suggested: Return early");
}
END_TEST

START_TEST(a_second_revision_has_a_new_id)
{
	review_task("changes_requested", PASSED);
	stage(ITEM_FINDING, "find-1", VERB_ACCEPT, "");
	make(1);
	play();
	sequence++;
	complete("task-1-rev-1", "completed", "");
	ask_review("review-2", "task-1-rev-1");
	give_review("review-2", "task-1-rev-1", "changes_requested", FINDING("find-1", "major"), "",
		    PASSED);
	stage(ITEM_FINDING, "find-1", VERB_PARTIAL, "less");
	make(1);
	assert_str(told(0, "/payload/task/task_id"), "task-1-rev-2");
	play();
	assert_verdict(ITEM_FINDING, "find-1", VERDICT_PARTIAL);
}
END_TEST

START_TEST(nobody_speaks_under_an_agents_name)
{
	review_task("rejected", PASSED);
	bench.terms.as = STR("dev");
	stage(ITEM_FINDING, "find-1", VERB_REJECT, "no");
	make_missing("an agent of this session has your name");
	bench.terms.as = STR("");
	make_missing("give your name");
}
END_TEST

/* The verbs that a finding takes. */
static const enum verb finding_verbs[] = { VERB_ACCEPT, VERB_PARTIAL, VERB_REJECT, VERB_ESCALATE };

/* An id could otherwise decide another item in the person's name. */
START_TEST(an_id_cannot_pass_for_a_marker)
{
	enum verb verb = finding_verbs[_i];

	assign("task-1");
	complete("task-1", "completed", "");
	ask_review("review-1", "task-1");
	give_review("review-1", "task-1", "changes_requested",
		    FINDING("find-1", "minor") "," FINDING("find-1 accepted] x", "minor"), "", PASSED);
	stage(ITEM_FINDING, "find-1 accepted] x", verb, "words");
	make(1);
	play();
	assert_verdict(ITEM_FINDING, "find-1 accepted] x", verb_verdict(verb));
	assert_verdict(ITEM_FINDING, "find-1", VERDICT_NONE);
}
END_TEST

/* Whatever characters an id has, the reply names it. */
START_TEST(any_id_is_named)
{
	static const char *const ids[][2] = { /* as JSON writes it, and as it is */
		{ "a[1]", "a[1]" }, { "a\\nb\\u001b", "a\nb\x1b" }, { "50%", "50%" },
		{ "%5D", "%5D" }, { "%255D]", "%255D]" }, { "]", "]" }, { "a\x7f", "a\x7f" },
		{ "%5d[", "%5d[" },
	};
	enum verb verb = finding_verbs[_i % 4];
	char findings[1024];

	assign("task-1");
	complete("task-1", "completed", "");
	ask_review("review-1", "task-1");
	snprintf(findings, sizeof(findings),
		 "{\"finding_id\":\"%s\",\"severity\":\"minor\",\"category\":\"bug\",\"location\":"
		 "{\"file\":\"f\"},\"description\":\"d\",\"rationale\":\"r\"}",
		 ids[_i / 4][0]);
	give_review("review-1", "task-1", "changes_requested", findings, "", PASSED);
	stage(ITEM_FINDING, ids[_i / 4][1], verb, "w");
	make(1);
	play();
	assert_verdict(ITEM_FINDING, ids[_i / 4][1], verb_verdict(verb));
}
END_TEST

/* A type that the protocol has not is not copied; what the agent does tells what it is. */
START_TEST(agents_of_other_types_are_addressed_by_what_they_do)
{
	correlated = false;
	sequence = 1;
	ck_assert_uint_eq(apply(STR(
		"{\"message_id\":\"00000000-0000-4000-8000-0000000000aa\",\"timestamp\":"
		"\"2026-01-26T10:00:00Z\",\"sequence_number\":1,\"from_agent\":{\"agent_id\":"
		"\"helper\",\"agent_type\":\"tester\"},\"to_agent\":{\"agent_id\":\"arch\","
		"\"agent_type\":\"architect\"},\"message_type\":\"feedback\",\"payload\":{"
		"\"feedback_type\":\"question\",\"subject\":\"s\",\"content\":\"c\","
		"\"action_required\":true}}")), 1);
	stage(ITEM_QUESTION, "00000000-0000-4000-8000-0000000000aa", VERB_ANSWER, "yes");
	make(1);
	ck_assert(str_find(bench.plan.list.v[0].letter.bytes,
			   STR("\"helper\",\"agent_type\":\"developer\""), 0) > 0);
	play();
}
END_TEST

/* Numbers go on after the highest as long as every reader can tell them apart. */
START_TEST(sequence_numbers_go_on_to_their_end)
{
	sequence = COUNT_MAX - 4 - _i; /* four messages follow */
	review_task("changes_requested", PASSED);
	stage(ITEM_FINDING, "find-1", VERB_REJECT, "no");
	if (_i) {
		make(1);
		ck_assert(str_find(bench.plan.list.v[0].letter.bytes,
				   STR("\"sequence_number\":9007199254740991"), 0) > 0);
		play();
	} else {
		make_missing("exhausted");
	}
}
END_TEST

START_TEST(a_verdict_without_findings_is_not_partial)
{
	struct item_state st;
	struct buf why = { 0 };
	const struct item *item;

	assign("task-1");
	complete("task-1", "completed", "");
	ask_review("review-1", "task-1");
	give_review("review-1", "task-1", "rejected", _i ? FINDING("find-1", "minor") : "", "",
		    PASSED);
	item = &bench.model.items.v[find(ITEM_VERDICT, "review-1")];
	st = bench_state(&bench, (uint32_t)(item - bench.model.items.v));
	ck_assert_uint_eq(verbs_allowed(&bench.model, item, &st) >> VERB_PARTIAL & 1, _i);
	ck_assert_int_eq(verb_is_allowed(VERB_PARTIAL, &bench.model, item, &st, &why), _i);
	ck_assert((str_find(buf_str(&why), STR("this review has none"), 0) >= 0) == !_i);
	buf_release(&why);
}
END_TEST

START_TEST(ids_may_have_spaces)
{
	assign("task-1");
	complete("task-1", "completed", "");
	ask_review("review-1", "task-1");
	give_review("review-1", "task-1", "changes_requested",
		    FINDING("the first one", "minor") "," FINDING("the second", "minor"), "", PASSED);
	stage(ITEM_FINDING, "the first one", VERB_ACCEPT, "");
	stage(ITEM_FINDING, "the second", VERB_REJECT, "no");
	make(2);
	play();
	assert_verdict(ITEM_FINDING, "the first one", VERDICT_ACCEPTED);
	assert_verdict(ITEM_FINDING, "the second", VERDICT_REJECTED);
}
END_TEST

START_TEST(a_finding_and_a_change_may_share_an_id)
{
	assign("task-1");
	complete("task-1", "completed", "");
	ask_review("review-1", "task-1");
	give_review("review-1", "task-1", "changes_requested", FINDING("1", "minor"),
		    CHANGE("1", "consider", "1"), PASSED);
	stage(ITEM_FINDING, "1", VERB_ACCEPT, "");
	stage(ITEM_CHANGE, "1", VERB_PARTIAL, "less");
	make(1);
	play();
	assert_verdict(ITEM_FINDING, "1", VERDICT_ACCEPTED);
	assert_verdict(ITEM_CHANGE, "1", VERDICT_PARTIAL);
}
END_TEST

/* Each of them alone, also where other ids look like the names that tell them apart. */
START_TEST(what_shares_an_id_is_named_by_its_kind)
{
	static const struct {
		enum item_kind kind;
		const char *id, *marker;
	} items[] = {
		{ ITEM_FINDING, "1", "[finding:1 " },
		{ ITEM_CHANGE, "1", "[change:1 " },
		{ ITEM_FINDING, "change:1", "[finding:change:1 " },
		{ ITEM_FINDING, "finding:change:1", "[finding:finding:change:1 " },
		{ ITEM_CHANGE, "verdict:2", "[verdict:2 " },
		{ ITEM_CHANGE, "task:", "[task: " },
		{ ITEM_FINDING, "review-1", "[finding:review-1 " },
		{ ITEM_VERDICT, "review-1", "[verdict:review-1 " },
	};
	enum { N = sizeof(items) / sizeof(items[0]) };
	enum verb verb = _i % 2 ? VERB_ESCALATE : VERB_REJECT;
	uint32_t at = (uint32_t)_i / 2;

	ck_assert_uint_eq(N, 8);
	if (items[at].kind == ITEM_VERDICT && verb == VERB_REJECT)
		return; /* says so by what it is */
	assign("task-1");
	complete("task-1", "completed", "");
	ask_review("review-1", "task-1");
	give_review("review-1", "task-1", "rejected",
		    FINDING("1", "minor") "," FINDING("change:1", "minor") ","
		    FINDING("finding:change:1", "minor") "," FINDING("review-1", "minor"),
		    CHANGE("1", "consider", "1") "," CHANGE("verdict:2", "consider", "1") ","
		    CHANGE("task:", "consider", "1"),
		    PASSED);
	stage(items[at].kind, items[at].id, verb, "words");
	make(1);
	ck_assert_msg(str_starts(told(0, "/payload/content"), str_of(items[at].marker)), "%.*s",
		      STR_ARG(told(0, "/payload/content")));
	play();
	for (uint32_t i = 0; i < N; i++)
		assert_verdict(items[i].kind, items[i].id,
			       i == at ? verb_verdict(verb) : VERDICT_NONE);
}
END_TEST

/* Where it is not known what a revision replies to, the open items are looked at. */
START_TEST(a_revision_names_kinds_without_a_reply_to)
{
	static const char *const names[] = { "finding:1", "change:1", "1" };

	assign("task-1");
	complete("task-1", "completed", "");
	ask_review("review-1", "task-1");
	give_review("review-1", "task-1", "changes_requested", FINDING("1", "minor"),
		    CHANGE("1", "consider", "1"), PASSED);
	SAY("arch", "dev", "task_assignment", "",
	    "{\"task\":{\"task_id\":\"task-1-rev-1\",\"task_description\":\"Draw lanes\",\"context\":"
	    "{\"specs\":[],\"reference_files\":[],\"previous_attempts\":[{\"attempt_number\":1,"
	    "\"outcome\":\"o\",\"feedback\":\"f\"}]},\"constraints\":{\"scope\":[\"src/**\"],"
	    "\"testing_required\":true,\"must_not_break\":[]},\"acceptance_criteria\":"
	    "[\"[%s accepted] x\"]},\"priority\":\"low\"}",
	    names[_i]);
	assert_verdict(ITEM_FINDING, "1", _i == 1 ? VERDICT_NONE : VERDICT_ACCEPTED);
	assert_verdict(ITEM_CHANGE, "1", _i == 0 ? VERDICT_NONE : VERDICT_ACCEPTED);
}
END_TEST

/* Without a correlation the reply alone tells which task is meant. */
START_TEST(replies_find_their_task_without_a_correlation)
{
	uint32_t root;

	correlated = false;
	review_task("changes_requested", PASSED);
	assign("task-2");
	complete("task-2", "completed", "");
	stage(ITEM_FINDING, "find-1", VERB_ACCEPT, "");
	make(1);
	play();
	assert_verdict(ITEM_FINDING, "find-1", VERDICT_ACCEPTED);
	root = vec_last(&bench.model.tasks)->root;
	assert_str(model_str(&bench.model, bench.model.tasks.v[root].id), "task-1");
}
END_TEST

/* A file of replies is read after its log: what they reply to is long overtaken by then, and the
 * same ids may ask again. */
START_TEST(replies_read_late_decide_what_they_replied_to)
{
	uint32_t first, second, word, blocked;

	review_task("rejected", PASSED);
	first = find(ITEM_FINDING, "find-1");
	second = find(ITEM_FINDING, "find-2");
	word = find(ITEM_VERDICT, "review-1");
	stage(ITEM_FINDING, "find-1", VERB_ACCEPT, "");
	stage(ITEM_FINDING, "find-2", VERB_REJECT, "no");
	stage(ITEM_VERDICT, "review-1", VERB_PARTIAL, "not that bad");
	make(3);
	assign("task-3");
	complete("task-3", "failed", ",\"blockers\":[\"no network\"]");
	blocked = find(ITEM_BLOCKED, "task-3");
	ask_review("review-2", "task-1");
	give_review("review-2", "task-1", "changes_requested",
		    FINDING("find-1", "minor") "," FINDING("find-2", "minor"), "", PASSED);
	ck_assert_int_eq(bench_state(&bench, first).verdict, VERDICT_SUPERSEDED);
	for (uint32_t i = 0; i < bench.plan.list.n; i++)
		assert_valid(reply(bench.plan.list.v[i].letter.bytes));
	ck_assert_int_eq(bench_state(&bench, first).verdict, VERDICT_ACCEPTED);
	ck_assert_int_eq(bench_state(&bench, second).verdict, VERDICT_REJECTED);
	ck_assert_int_eq(bench_state(&bench, word).verdict, VERDICT_PARTIAL);
	ck_assert_int_eq(bench_state(&bench, blocked).verdict, VERDICT_NONE);
	assert_verdict(ITEM_FINDING, "find-1", VERDICT_NONE);
	assert_verdict(ITEM_FINDING, "find-2", VERDICT_NONE);
}
END_TEST

/* The same, when the review goes on under its own id. */
START_TEST(late_replies_leave_a_later_round_alone)
{
	review_task("rejected", PASSED);
	stage(ITEM_FINDING, "find-1", VERB_ACCEPT, "");
	stage(ITEM_VERDICT, "review-1", VERB_ACCEPT, "");
	make(2);
	ask_review("review-1", "task-1");
	give_review("review-1", "task-1", "rejected", FINDING("find-1", "minor"), "", PASSED);
	for (uint32_t i = 0; i < bench.plan.list.n; i++)
		assert_valid(reply(bench.plan.list.v[i].letter.bytes));
	assert_verdict(ITEM_FINDING, "find-1", VERDICT_NONE);
	assert_verdict(ITEM_VERDICT, "review-1", VERDICT_NONE);
	ck_assert_uint_eq(vec_last(&bench.model.reviews.v[0].steps)->iteration, 2);
}
END_TEST

START_TEST(a_later_word_corrects_an_earlier_one)
{
	review_task("rejected", PASSED);
	stage(ITEM_VERDICT, "review-1", VERB_REJECT, "no");
	make(1);
	reply(bench.plan.list.v[0].letter.bytes);
	assert_verdict(ITEM_VERDICT, "review-1", VERDICT_REJECTED);
	give_review("review-9", "task-9", "rejected", FINDING("f", "minor"), "", PASSED);
	bench.says = true;
	SAY("joe", "rev", "feedback", "\"reply_to\":\"00000000-0000-4000-8000-000000000004\",",
	    "{\"feedback_type\":\"question\",\"subject\":\"s\",\"content\":"
	    "\"[review-1 escalated] after all\",\"action_required\":true}");
	assert_verdict(ITEM_VERDICT, "review-1", VERDICT_ESCALATED);
}
END_TEST

/* Others may speak for a person too, and name no message. */
START_TEST(a_persons_result_is_the_last_word_without_a_reply_to)
{
	uint32_t items;

	review_task("rejected", PASSED);
	items = bench.model.items.n;
	bench.says = true;
	SAY("joe", "arch", "review_result", "",
	    "{\"review_id\":\"review-1\",\"task_id\":\"task-1\",\"verdict\":\"approved\","
	    "\"findings\":[" FINDING("find-7", "minor") "],\"verification\":{" PASSED "},"
	    "\"summary\":\"Fine\"}");
	assert_verdict(ITEM_VERDICT, "review-1", VERDICT_ACCEPTED);
	assert_verdict(ITEM_FINDING, "find-1", VERDICT_NONE);
	/* what a person says raises nothing */
	ck_assert_uint_eq(bench.model.items.n, items);
	ck_assert_uint_eq(bench.model.reviews.v[0].round, 1);
}
END_TEST

START_TEST(agents_decide_nothing_by_markers_in_feedback)
{
	review_task("changes_requested", PASSED);
	SAY("arch", "rev", "feedback", "\"reply_to\":\"00000000-0000-4000-8000-000000000004\",",
	    "{\"feedback_type\":\"correction\",\"subject\":\"s\",\"content\":\"[find-1 rejected] no\","
	    "\"action_required\":false}");
	assert_verdict(ITEM_FINDING, "find-1", VERDICT_NONE);
}
END_TEST

/* Agents may count a person's messages, or not know of them. */
START_TEST(numbers_of_a_person_disturb_nobody)
{
	assign("task-1");
	ask_question();
	stage(ITEM_QUESTION, QUESTION, VERB_ANSWER, "Three");
	make(1);
	assert_str(told(0, "/sequence_number"), "3");
	reply(bench.plan.list.v[0].letter.bytes);
	sequence += _i;
	complete("task-1", "completed", "");
	ck_assert_int_eq(model_sequence(&bench.model, 0), 3 + _i);
	sequence += 7;
	say("dev", "arch", "status_response", "", "{}");
	ck_assert_uint_eq(vec_last(&bench.model.records)->notes, 1); /* a gap */
}
END_TEST

static uint32_t agent_number(const char *name)
{
	for (uint32_t i = 0; i < bench.model.agents.n; i++)
		if (str_is(agent_name(&bench.model, i), name))
			return i;
	return NONE;
}

static int write_command(const struct addressed_command *c, struct buf *out)
{
	struct err err;

	return command_write(c, &bench.model, &bench.reader, &bench.desk, &bench.terms, out, &err);
}

START_TEST(commands_are_valid_messages)
{
	static const char *const payloads[] = {
		[SESSION_ABORT_TASK] = "\"payload\":{\"scope\":\"task\",\"target_id\":\"task-1\","
				       "\"reason\":\"late\",\"cleanup_required\":true}}",
		[SESSION_STATUS] = "\"message_type\":\"status_query\","
				   "\"correlation_id\":\"corr-1\",\"payload\":"
				   "{\"task_id\":\"task-1\"}}",
		[SESSION_ACKNOWLEDGE] = "\"message_type\":\"acknowledgment\",\"reply_to\":"
					"\"task-1\",\"payload\":{}}",
	};
	struct addressed_command c = { .type = (enum session_command_type)_i, .target = STR("task-1"),
			     .reason = STR("late") };
	struct buf b = { 0 };

	assign("task-1");
	c.agent = agent_number("dev");
	if (c.type == SESSION_ABORT_SESSION) {
		/* the log names no session */
		ck_assert_int_eq(write_command(&c, &b), -1);
		return;
	}
	ck_assert_int_eq(write_command(&c, &b), 0);
	ck_assert_msg(str_find(buf_str(&b), str_of(payloads[_i]), 0) > 0, "%s", b.p);
	assert_valid(reply(buf_str(&b)));
	ck_assert_int_eq(bench.message.sequence, 2);
	c.agent = NONE;
	ck_assert_int_eq(write_command(&c, &b), -1);
	buf_release(&b);
}
END_TEST

/* task-1 up to its review; only message `which` has a correlation_id, from 0. */
static void review_correlated_in(int which)
{
	correlated = which == 0;
	assign("task-1");
	correlated = which == 1;
	complete("task-1", "completed", "");
	correlated = which == 2;
	ask_review("review-1", "task-1");
	correlated = which == 3;
	give_review("review-1", "task-1", "rejected", FINDING("find-1", "minor"),
		    CHANGE("change-1", "must_fix", "find-1"), PASSED);
	correlated = false;
	ask_question();
}

/* Whichever message of the chain has the correlation_id, what the person says carries it. */
START_TEST(one_message_correlates_the_chain)
{
	review_correlated_in(_i);
	stage(ITEM_FINDING, "review-1/find-1", VERB_REJECT, "No");
	stage(ITEM_CHANGE, "review-1/change-1", VERB_ACCEPT, "");
	stage(ITEM_VERDICT, "review-1", VERB_REJECT, "No");
	stage(ITEM_QUESTION, "00000000-0000-4000-8000-000000000005", VERB_ANSWER, "Three");
	make(4);
	for (uint32_t i = 0; i < 4; i++) {
		assert_str(told(i, "/correlation_id"), "corr-1");
		assert_str(told(i, "/from_agent/instance_id"), "human");
	}
}
END_TEST

START_TEST(a_command_carries_the_correlation_and_the_instance)
{
	struct addressed_command abort_task = { .type = SESSION_ABORT_TASK, .target = STR("task-1"),
						.reason = STR("late") };
	struct addressed_command acknowledge = { .type = SESSION_ACKNOWLEDGE,
						 .target = STR("00000000-0000-4000-8000-"
							       "000000000002") };
	struct buf b = { 0 };

	review_correlated_in(_i);
	abort_task.agent = acknowledge.agent = agent_number("dev");
	ck_assert_int_eq(write_command(&abort_task, &b), 0);
	ck_assert_msg(strstr(b.p, "\"correlation_id\":\"corr-1\"") != NULL, "%s", b.p);
	ck_assert_msg(strstr(b.p, "\"instance_id\":\"inst-7\"") != NULL, "%s", b.p);
	ck_assert_msg(strstr(b.p, "\"instance_id\":\"human\"") != NULL, "%s", b.p);
	buf_clear(&b);
	/* a message about the task */
	ck_assert_int_eq(write_command(&acknowledge, &b), 0);
	ck_assert_msg(strstr(b.p, "\"correlation_id\":\"corr-1\"") != NULL, "%s", b.p);
	ck_assert_msg(strstr(b.p, "\"instance_id\":\"inst-7\"") != NULL, "%s", b.p);
	buf_release(&b);
}
END_TEST

START_TEST(a_reply_is_correlated_as_what_it_replies_to)
{
	SAY("arch", "dev", "status_query", "", "{}");
	correlated = false;
	SAY("dev", "arch", "feedback", "\"reply_to\":\"00000000-0000-4000-8000-000000000001\",",
	    "{\"feedback_type\":\"question\",\"subject\":\"Lanes\",\"content\":\"How many?\","
	    "\"action_required\":true}");
	stage(ITEM_QUESTION, "00000000-0000-4000-8000-000000000002", VERB_ANSWER, "Three");
	make(1);
	assert_str(told(0, "/correlation_id"), "corr-1");
}
END_TEST

/* What is refused is not sent, so it takes no number; nor does what is not sent now. */
START_TEST(a_refused_letter_leaves_no_gap)
{
	review_task("rejected", "\"tests\":{\"passed\":false},\"type_check\":{\"passed\":true},"
				"\"custom\":{}");
	ask_question();
	stage(ITEM_VERDICT, "review-1", VERB_ACCEPT, "");
	stage(ITEM_QUESTION, "00000000-0000-4000-8000-000000000005", VERB_ANSWER, "Three");
	stage(ITEM_FINDING, "review-1/find-1", VERB_REJECT, "No");
	make(3);
	ck_assert_uint_eq(bench.plan.list.v[0].missing.n, 1);
	assert_str(told(1, "/sequence_number"), "6");
	assert_str(told(2, "/sequence_number"), "7");
	plan_release(&bench.plan);
	bench.plan = (struct plan){ 0 };
	plan_make(&bench.plan, &bench.desk, &bench.model, &bench.reader, &bench.terms, 2);
	ck_assert_uint_eq(bench.plan.list.n, 1);
	assert_str(told(0, "/sequence_number"), "6");
}
END_TEST

/* A plan for one draft has what goes out with it, and nothing else. */
START_TEST(a_plan_for_one_has_its_whole_message)
{
	review_task("changes_requested", PASSED);
	ask_question();
	stage(ITEM_QUESTION, "00000000-0000-4000-8000-000000000005", VERB_ANSWER, "Three");
	stage(ITEM_FINDING, "review-1/find-1", VERB_ACCEPT, "");
	stage(ITEM_FINDING, "review-1/find-2", VERB_ACCEPT, "");
	plan_make(&bench.plan, &bench.desk, &bench.model, &bench.reader, &bench.terms, 2);
	ck_assert_uint_eq(bench.plan.list.n, 1);
	ck_assert_uint_eq(bench.plan.refused.n, 0);
	ck_assert_uint_eq(bench.plan.list.v[0].letter.drafts.n, 2);
	assert_str(told(0, "/sequence_number"), "6");
}
END_TEST

/* Sessions in one log are told apart by an id that replies carry too. */
START_TEST(replies_stay_in_their_session)
{
	struct addressed_command c = { .type = SESSION_ABORT_SESSION, .reason = STR("late") };
	struct buf b = { 0 };

	SAY("dev", "arch", "feedback", "\"session_id\":\"s-1\",",
	    "{\"feedback_type\":\"question\",\"subject\":\"Lanes\",\"content\":\"How many?\","
	    "\"action_required\":true}");
	stage(ITEM_QUESTION, "00000000-0000-4000-8000-000000000001", VERB_ANSWER, "Three");
	make(1);
	assert_str(told(0, "/session_id"), "s-1");
	play();
	assert_verdict(ITEM_QUESTION, "00000000-0000-4000-8000-000000000001", VERDICT_ANSWERED);
	ck_assert_uint_eq(bench.model.sessions.n, 1);
	c.agent = agent_number("dev");
	ck_assert_int_eq(write_command(&c, &b), 0);
	assert_valid(reply(buf_str(&b)));
	ck_assert_uint_eq(bench.model.sessions.n, 1);
	buf_release(&b);
}
END_TEST

/* A review may be as long as its sender likes. */
START_TEST(many_findings_take_no_long_time)
{
	enum { MANY = 20000 };
	struct buf raised = { 0 }, fixed = { 0 }, criteria = { 0 };

	for (unsigned i = 0; i < MANY; i++) {
		buf_printf(&raised, "%s{\"finding_id\":\"f%u\",\"severity\":\"minor\",\"category\":"
				    "\"bug\",\"location\":{\"file\":\"a\"},\"description\":\"x\","
				    "\"rationale\":\"y\"}", i ? "," : "", i);
		buf_printf(&fixed, "%s{\"finding_id\":\"f%u\",\"severity\":\"minor\",\"category\":"
				   "\"bug\",\"location\":{\"file\":\"a\"},\"description\":\"x\","
				   "\"rationale\":\"y\",\"fixed_in_iteration\":1}", i ? "," : "", i);
		buf_printf(&criteria, "%s\"[f%u accepted]\"", i ? "," : "", i);
	}
	assign("task-1");
	complete("task-1", "completed", "");
	for (unsigned i = 0; i < 3; i++) {
		give_review("review-1", "task-1", "changes_requested", raised.p, "", PASSED);
		if (i == 1)
			give_review("review-2", "task-1", "changes_requested", fixed.p, "", PASSED);
		if (i == 2)
			say("arch", "dev", "task_assignment", "",
			    "{\"task\":{\"task_id\":\"task-2\",\"task_description\":\"x\",\"context\":"
			    "{\"specs\":[],\"reference_files\":[],\"previous_attempts\":[{}]},"
			    "\"acceptance_criteria\":[%s]},\"priority\":\"low\"}", criteria.p);
	}
	assert_verdict(ITEM_FINDING, "f19999", VERDICT_ACCEPTED);
	buf_release(&raised);
	buf_release(&fixed);
	buf_release(&criteria);
}
END_TEST

/* What a sender repeats without end must not choose how long the person waits: names of members,
 * and dashes of an id. */
START_TEST(what_is_copied_may_be_long)
{
	enum { NAMES = 100000, DASHES = 2000000 };
	struct buf id = { 0 }, names = { 0 };

	buf_adds(&id, "task");
	for (unsigned i = 0; i < DASHES; i++)
		buf_addc(&id, '-');
	buf_adds(&id, "rev-7");
	for (unsigned i = 0; i < NAMES; i++)
		buf_printf(&names, ",\"name-%u\":%u", i, i);
	SAY("arch", "dev", "task_assignment", "",
	    "{\"task\":{\"task_id\":\"%s\",\"task_description\":\"Draw lanes\",\"context\":{\"specs\":"
	    "[],\"reference_files\":[]%s},\"constraints\":{\"scope\":[],\"testing_required\":true,"
	    "\"must_not_break\":[]},\"acceptance_criteria\":[\"Lanes show\"]},\"priority\":\"low\"}",
	    id.p, names.p);
	complete(id.p, "completed", "");
	ask_review("review-1", id.p);
	give_review("review-1", id.p, "changes_requested", FINDING("find-1", "minor"), "", PASSED);
	stage(ITEM_FINDING, "find-1", VERB_ACCEPT, "");
	make(1);
	assert_str(told(0, "/payload/task/context/name-99999"), "99999");
	ck_assert(str_ends(told(0, "/payload/task/task_id"), STR("---rev-8")));
	ck_assert_uint_eq(told(0, "/payload/task/task_id").n, id.n);
	buf_release(&id);
	buf_release(&names);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("encode_collaboration");
	TCase *t = tcase_create("collaboration");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_set_timeout(t, 20);
	suite_add_tcase(suite, t);
	tcase_add_test(t, accepted_of_one_review_are_one_revision);
	tcase_add_test(t, a_revision_decides_only_what_it_names);
	tcase_add_test(t, a_rejected_finding_goes_to_its_reviewer);
	tcase_add_test(t, one_plan_says_everything_about_a_review);
	tcase_add_loop_test(t, a_verdict_is_a_reviewers_last_word, 0, 3);
	tcase_add_test(t, a_verdict_is_valid_where_the_review_was_sloppy);
	tcase_add_loop_test(t, no_approval_without_passing_verification, 0, 5);
	tcase_add_loop_test(t, no_changes_without_findings, 0, 2);
	tcase_add_test(t, a_verdict_is_no_question);
	tcase_add_loop_test(t, a_plan_with_an_empty_letter_is_not_ready, 0, 2);
	tcase_add_test(t, an_answer_goes_to_whoever_asked);
	tcase_add_test(t, an_answer_may_begin_with_brackets);
	tcase_add_loop_test(t, a_blocked_task_goes_on, 0, 2);
	tcase_add_loop_test(t, a_blocked_task_is_aborted_everywhere, 0, 2);
	tcase_add_loop_test(t, every_kind_is_passed_on_to_the_architect, 0, 5);
	tcase_add_test(t, without_an_architect_the_queue_takes_it);
	tcase_add_test(t, an_escalation_goes_to_the_queue_too);
	tcase_add_test(t, no_revision_without_an_assignment);
	tcase_add_test(t, what_was_assigned_from_here_counts_as_seen);
	tcase_add_test(t, a_second_revision_has_a_new_id);
	tcase_add_test(t, nobody_speaks_under_an_agents_name);
	tcase_add_loop_test(t, an_id_cannot_pass_for_a_marker, 0, 3);
	tcase_add_loop_test(t, any_id_is_named, 0, 32);
	tcase_add_test(t, what_is_copied_may_be_long);
	tcase_add_test(t, agents_of_other_types_are_addressed_by_what_they_do);
	tcase_add_loop_test(t, sequence_numbers_go_on_to_their_end, 0, 2);
	tcase_add_loop_test(t, a_verdict_without_findings_is_not_partial, 0, 2);
	tcase_add_test(t, ids_may_have_spaces);
	tcase_add_test(t, a_finding_and_a_change_may_share_an_id);
	tcase_add_loop_test(t, what_shares_an_id_is_named_by_its_kind, 0, 16);
	tcase_add_loop_test(t, a_revision_names_kinds_without_a_reply_to, 0, 3);
	tcase_add_test(t, replies_find_their_task_without_a_correlation);
	tcase_add_loop_test(t, one_message_correlates_the_chain, 0, 4);
	tcase_add_test(t, a_refused_letter_leaves_no_gap);
	tcase_add_test(t, a_plan_for_one_has_its_whole_message);
	tcase_add_loop_test(t, a_command_carries_the_correlation_and_the_instance, 0, 4);
	tcase_add_test(t, a_reply_is_correlated_as_what_it_replies_to);
	tcase_add_test(t, replies_read_late_decide_what_they_replied_to);
	tcase_add_test(t, late_replies_leave_a_later_round_alone);
	tcase_add_test(t, a_later_word_corrects_an_earlier_one);
	tcase_add_test(t, a_persons_result_is_the_last_word_without_a_reply_to);
	tcase_add_test(t, agents_decide_nothing_by_markers_in_feedback);
	tcase_add_loop_test(t, numbers_of_a_person_disturb_nobody, 0, 2);
	tcase_add_loop_test(t, commands_are_valid_messages, 0, 4);
	tcase_add_test(t, replies_stay_in_their_session);
	tcase_add_test(t, many_findings_take_no_long_time);
	return unit_run(suite);
}
