/* The filter language over a small session made by hand: one review of a task, one feedback turn, a
 * line of text and a line of unknown JSON. A filter is tested by which messages, items, tasks and
 * agents it lets through. */
#include "model/filter.h"

#include "unit.h"

#include <stdlib.h>

#define MINUTE 60000
#define TEN INT64_C(1769421600000) /* 2026-01-26T10:00Z */

enum { ASSIGN, PROGRESS, RESULT, ANSWER, TEXT, UNKNOWN, ASK, REPEAT, MESSAGES };
enum { FIND_1, FIND_2, SCOPE, NAMES, OLD, ITEMS };

static struct model model;
static struct arena arena;
static unsigned fetched; /* calls of the text callback */

static const char *const texts[MESSAGES] = {
	[ASSIGN] = "Write the parser", [PROGRESS] = "half way", [RESULT] = "Two findings",
	[ANSWER] = "three improvements", [TEXT] = "Segmentation fault (core dumped)",
	[UNKNOWN] = "{\"url\":\"http://x\",\"at\":\"10:15\"}", [ASK] = "next, please",
};

static struct str text_of(void *ctx, uint32_t number)
{
	ck_assert_ptr_eq(ctx, &model);
	fetched++;
	return str_of(texts[number]);
}

static struct message begin(enum dialect_id dialect, const char *kind, int minute)
{
	struct message m = { .dialect = dialect, .kind = str_of(kind), .sequence = -1,
			     .time_ms = minute < 0 ? TIME_NONE : TEN + minute * MINUTE,
			     .inside = "", .diags = { .arena = &arena } };

	return m;
}

static void end(struct message *m)
{
	struct place place = { .line = model.records.n + 1, .group = STR("log.ndjson") };

	model_apply(&model, m, &place);
	message_release(m);
}

static void add_item(struct message *m, const char *id, enum item_kind kind,
		     enum grade grade, int64_t deadline_ms)
{
	struct event *e = event_add(m, EV_ITEM, str_of(id), "/items/%u/id");

	e->item = kind;
	e->grade = grade;
	e->deadline_ms = deadline_ms;
	e->task = m->dialect == DIALECT_COLLABORATION ? STR("T1") : STR_NONE;
}

static void add_assignment(void)
{
	struct message m = begin(DIALECT_COLLABORATION, "task_assignment", 0);

	m.session = STR("ses_1");
	m.id = STR("msg-A1");
	m.correlation = STR("corr-T1");
	m.from = (struct actor){ STR("lead"), STR("architect"), false };
	m.to = (struct actor){ STR("Dev-01"), STR("developer"), false };
	event_add(&m, EV_TASK, STR("T1"), "/payload/task/task_id");
	end(&m);
}

static void add_progress(void)
{
	struct message m = begin(DIALECT_COLLABORATION, "progress_update", 10);
	struct event *e;

	m.session = STR("ses_1");
	m.from.id = STR("Dev-01");
	m.to.id = STR("lead");
	m.flags = RECORD_REPAIRED | RECORD_AMBIGUOUS;
	e = event_add(&m, EV_TASK_STATE, STR("T1"), "/payload/task_id");
	e->state = TASK_RUNNING;
	diag_add(&m.diags, SEVERITY_WARNING, "r", STR(""), "late");
	diag_add(&m.diags, SEVERITY_NOTE, "r", STR(""), "odd");
	end(&m);
}

static void add_review(void)
{
	struct message m = begin(DIALECT_COLLABORATION, "review_result", 15);
	struct event *e;

	m.session = STR("ses_1");
	m.from.id = STR("team/rev-01");
	m.to.id = STR("lead");
	e = event_add(&m, EV_REVIEW_RESULT, STR("review-7"), "/payload/review_id");
	e->task = STR("T1");
	e->review = REVIEW_CHANGES;
	e->index = 2;
	add_item(&m, "find-1", ITEM_FINDING, GRADE_CRITICAL, TIME_NONE);
	add_item(&m, "find-2", ITEM_FINDING, GRADE_MINOR, TIME_NONE);
	diag_add(&m.diags, SEVERITY_ERROR, "r", STR(""), "wrong");
	end(&m);
}

static void add_answer(void)
{
	struct message m = begin(DIALECT_FEEDBACK, "response", 20);

	m.session = STR("two words");
	m.from.id = STR("provider");
	event_add(&m, EV_TURN_ANSWER, STR_NONE, "/iteration")->iteration = 1;
	add_item(&m, "scope-01", ITEM_IMPROVEMENT, GRADE_MAJOR, TEN + 90 * MINUTE);
	add_item(&m, "names-02", ITEM_IMPROVEMENT, GRADE_NONE, TIME_NONE);
	add_item(&m, "old-03", ITEM_IMPROVEMENT, GRADE_SUGGESTION, TEN + 21 * MINUTE);
	end(&m);
}

static void add_lines(void)
{
	struct message m = begin(DIALECT_TEXT, "text", -1);

	m.flags = RECORD_TRUNCATED | RECORD_BINARY;
	end(&m);
	m = begin(DIALECT_UNKNOWN, "unknown", 30);
	m.flags = RECORD_OVERSIZE;
	diag_add(&m.diags, SEVERITY_NOTE, "r", STR(""), "odd");
	end(&m);
}

/* Decides names-02. */
static void add_ask(void)
{
	struct message m = begin(DIALECT_FEEDBACK, "request", 40);
	struct event *e;

	m.session = STR("two words");
	m.from.id = STR("ann");
	event_add(&m, EV_TURN_ASK, STR_NONE, "/iteration")->iteration = 2;
	e = event_add(&m, EV_DECIDE, STR("names-02"), "/items/%u/id");
	e->verdict = VERDICT_REJECTED;
	end(&m);
}

static void setup(void)
{
	fetched = 0;
	model_init(&model);
	add_assignment();
	add_progress();
	add_review();
	add_answer();
	add_lines();
	add_ask();
	add_assignment();
	ck_assert_uint_eq(model.records.n, MESSAGES);
	ck_assert_uint_eq(model.items.n, ITEMS);
}

static void teardown(void)
{
	model_release(&model);
	arena_release(&arena);
}

static struct filter *must(const char *text)
{
	struct err err = { "" };
	struct filter *f = filter_new(str_of(text), TEN + 40 * MINUTE, &err);

	ck_assert_msg(f != NULL, "%s: %s", text, err.text);
	return f;
}

#define BIT(n) (1u << (n))

static unsigned messages(const char *text)
{
	struct filter *f = must(text);
	unsigned set = 0;

	for (uint32_t i = 0; i < model.records.n; i++)
		set |= filter_message(f, &model, i, text_of, &model) ? BIT(i) : 0;
	filter_free(f);
	return set;
}

/* The items as of the first k messages, at k's own time. */
static unsigned items_at(const char *text, uint32_t k)
{
	struct filter *f = must(text);
	int64_t now = model_now(&model, k);
	unsigned set = 0;

	for (uint32_t i = 0; i < model.items.n; i++) {
		struct item_state s;

		if (item_at(&model, &model.items.v[i], k, now, &s) &&
		    filter_item(f, &model, i, &s, NULL, NULL))
			set |= BIT(i);
	}
	filter_free(f);
	return set;
}

static unsigned items(const char *text)
{
	return items_at(text, model.records.n);
}

static bool task(const char *text, uint32_t k)
{
	struct filter *f = must(text);
	bool pass = filter_task(f, &model, 0, k);

	filter_free(f);
	return pass;
}

static bool lead(const char *text)
{
	struct filter *f = must(text);
	bool pass = filter_agent(f, &model, 0, UINT32_MAX);

	filter_free(f);
	return pass;
}

static const unsigned all_messages = BIT(MESSAGES) - 1, all_items = BIT(ITEMS) - 1;

START_TEST(nothing_matches_all)
{
	ck_assert_uint_eq(messages(""), all_messages);
	ck_assert_uint_eq(messages(" \t "), all_messages);
	ck_assert_uint_eq(items(""), all_items);
	ck_assert(filter_message(NULL, &model, 0, NULL, NULL));
	ck_assert(filter_item(NULL, &model, 0, NULL, NULL, NULL));
	ck_assert(filter_task(NULL, &model, 0, 0));
	ck_assert(filter_agent(NULL, &model, 0, 0));
	filter_free(NULL);
}
END_TEST

START_TEST(kind_is_the_messages_or_the_items)
{
	ck_assert_uint_eq(messages("kind:review_result"), BIT(RESULT));
	ck_assert_uint_eq(messages("KIND:Review_Result"), BIT(RESULT));
	ck_assert_uint_eq(messages("kind:review"), 0);
	ck_assert_uint_eq(messages("kind:re*"), BIT(RESULT) | BIT(ANSWER) | BIT(ASK));
	ck_assert_uint_eq(messages("kind:*_U*"), BIT(PROGRESS));
	ck_assert_uint_eq(items("kind:finding"), BIT(FIND_1) | BIT(FIND_2));
	ck_assert_uint_eq(items("kind:response"), 0);
	ck_assert(task("kind:task", 1));
	ck_assert(lead("kind:architect"));
}
END_TEST

START_TEST(dialect_by_name)
{
	ck_assert_uint_eq(messages("dialect:feedback"), BIT(ANSWER) | BIT(ASK));
	ck_assert_uint_eq(messages("dialect:F*"), BIT(ANSWER) | BIT(ASK));
	ck_assert_uint_eq(items("dialect:collaboration"), BIT(FIND_1) | BIT(FIND_2));
	ck_assert(task("dialect:collaboration", 1));
	ck_assert(!lead("dialect:text"));
}
END_TEST

START_TEST(agent_has_part_in_it)
{
	ck_assert_uint_eq(messages("agent:dev-01"), BIT(ASSIGN) | BIT(PROGRESS) | BIT(REPEAT));
	ck_assert_uint_eq(messages("agent:dev"), 0);
	ck_assert_uint_eq(messages("agent:ann"), BIT(ASK));
	/* a slash is nothing special, and who is not there has no name */
	ck_assert_uint_eq(messages("agent:*rev*"), BIT(RESULT));
	ck_assert_uint_eq(messages("-agent:*"), BIT(TEXT) | BIT(UNKNOWN));
	ck_assert_uint_eq(items("agent:team/rev-01"), BIT(FIND_1) | BIT(FIND_2));
	ck_assert_uint_eq(items("agent:ann") & BIT(NAMES), BIT(NAMES));
	ck_assert_uint_eq(items_at("agent:ann", ASK), 0);
	ck_assert(task("agent:dev-01", 1));
	ck_assert(!task("agent:lead", 1));
	ck_assert(lead("agent:LEAD"));
	ck_assert(!lead("agent:dev-01"));
}
END_TEST

START_TEST(task_finds_what_was_done_to_it)
{
	ck_assert_uint_eq(messages("task:T1"), BIT(ASSIGN) | BIT(PROGRESS) | BIT(RESULT));
	ck_assert_uint_eq(messages("task:t*"), BIT(ASSIGN) | BIT(PROGRESS) | BIT(RESULT));
	ck_assert_uint_eq(messages("task:T2"), 0);
	ck_assert_uint_eq(items("task:t1"), BIT(FIND_1) | BIT(FIND_2));
	ck_assert(task("task:t1", 1));
	ck_assert(!task("task:T2", 1));
	ck_assert(!lead("task:T1"));
}
END_TEST

/* T1.r2 revises T1. */
static void add_revision(void)
{
	struct message m = begin(DIALECT_COLLABORATION, "task_assignment", 51);

	m.session = STR("ses_1");
	m.from = (struct actor){ STR("lead"), STR("architect"), false };
	m.to = (struct actor){ STR("Dev-02"), STR("developer"), false };
	m.correlation = STR("corr-T1");
	event_add(&m, EV_TASK, STR("T1.r2"), "/payload/task/task_id")->again = true;
	end(&m);
}

static bool passes_message(struct filter *f, uint32_t message)
{
	return filter_message(f, &model, message, NULL, NULL);
}

START_TEST(task_takes_its_revisions_along)
{
	struct filter *f = must("task:T1"), *revision = must("task:t1.R2"), *not = must("-task:T1");
	uint32_t assigned = MESSAGES;

	ck_assert(passes_message(f, ASSIGN)); /* the cache is there before the revision */
	add_revision();
	ck_assert_uint_eq(model.tasks.n, 2);
	ck_assert_uint_eq(model.tasks.v[1].root, 0);
	ck_assert(passes_message(f, assigned) && filter_task(f, &model, 1, model.records.n));
	ck_assert(passes_message(revision, assigned) && !passes_message(revision, ASSIGN));
	ck_assert(!filter_task(revision, &model, 0, model.records.n));
	ck_assert(!passes_message(not, assigned) && passes_message(not, TEXT));
	ck_assert(!task("id:T1.r2", model.records.n)); /* only task: follows revisions */
	filter_free(f);
	filter_free(revision);
	filter_free(not);
}
END_TEST

static uint32_t agent_named(const char *name)
{
	for (uint32_t i = 0; i < model.agents.n; i++)
		if (str_is(agent_name(&model, i), name))
			return i;
	ck_abort_msg("no agent %s", name);
}

static struct filter *limited(const char *text, enum filter_scope scope, uint32_t number)
{
	struct filter *f = must(text);

	filter_limit(f, scope, number);
	return f;
}

START_TEST(limited_to_a_task)
{
	struct filter *f = limited("", SCOPE_TASK, 0), *both = limited("kind:progress*", SCOPE_TASK, 0);
	uint32_t k;

	add_revision();
	k = model.records.n;
	for (uint32_t i = 0; i < MESSAGES; i++) {
		ck_assert_int_eq(passes_message(f, i), i == ASSIGN || i == PROGRESS || i == RESULT);
		ck_assert_int_eq(passes_message(both, i), i == PROGRESS);
	}
	ck_assert(passes_message(f, MESSAGES));
	ck_assert(filter_task(f, &model, 0, k) && filter_task(f, &model, 1, k));
	/* who takes part in it, even where no message was asked about before */
	filter_free(f);
	f = limited("", SCOPE_TASK, 1);
	ck_assert(filter_agent(f, &model, agent_named("lead"), k));
	ck_assert(filter_agent(f, &model, agent_named("Dev-02"), k));
	ck_assert(!filter_agent(f, &model, agent_named("provider"), k));
	filter_free(f);
	filter_free(both);
}
END_TEST

START_TEST(limited_to_an_agent_or_a_session)
{
	uint32_t dev = agent_named("Dev-01"), session = model.agents.v[dev].session;
	struct filter *agent = limited("", SCOPE_AGENT, dev);
	struct filter *in = limited("", SCOPE_SESSION, session);
	uint32_t k = model.records.n;

	for (uint32_t i = 0; i < MESSAGES; i++) {
		const struct route *r = message_route(&model, i);

		ck_assert_int_eq(passes_message(agent, i), r->from == dev || r->to == dev);
		ck_assert_int_eq(passes_message(in, i), r->session == session);
	}
	ck_assert(passes_message(agent, ASSIGN) && !passes_message(agent, TEXT));
	ck_assert(passes_message(in, ASSIGN) && !passes_message(in, TEXT));
	ck_assert(filter_task(agent, &model, 0, k) && filter_task(in, &model, 0, k));
	for (uint32_t i = 0; i < model.agents.n; i++) {
		ck_assert_int_eq(filter_agent(agent, &model, i, k), i == dev);
		ck_assert_int_eq(filter_agent(in, &model, i, k),
				 model.agents.v[i].session == session);
	}
	filter_free(agent);
	filter_free(in);
}
END_TEST

START_TEST(task_sees_messages_that_come_later)
{
	struct filter *f = must("task:T1");

	ck_assert(filter_message(f, &model, PROGRESS, NULL, NULL));
	add_ask();
	ck_assert(!filter_message(f, &model, MESSAGES, NULL, NULL));
	for (unsigned i = 1; i <= 130; i++) {
		add_progress();
		ck_assert(filter_message(f, &model, MESSAGES + i, NULL, NULL));
	}
	ck_assert(!filter_message(f, &model, MESSAGES, NULL, NULL));
	ck_assert(filter_message(f, &model, PROGRESS, NULL, NULL));
	filter_free(f);
}
END_TEST

/* A line of text, or one that names a session, from a file of a group. */
static void said_in(struct model *m, const char *session, uint32_t source, const char *group)
{
	struct message msg = begin(session ? DIALECT_FEEDBACK : DIALECT_TEXT,
				   session ? "step_start" : "log", 1);
	struct place place = { .line = m->records.n + 1, .source = source,
			       .group = str_of(group) };

	msg.session = str_of(session);
	msg.from.id = STR("provider");
	model_apply(m, &msg, &place);
	message_release(&msg);
}

static struct str file_of(void *ctx, uint32_t message)
{
	static const char *const names[] = { "logs/one.ndjson", "logs/two.ndjson", "/tmp/x.log",
					     "/tmp/x.log.replies.ndjson" };

	return str_of(names[message_route(ctx, message)->source]);
}

static unsigned matches_in(const struct model *m, const char *text)
{
	struct filter *f = must(text);
	unsigned set = 0;

	filter_set_sources(f, file_of, (void *)(uintptr_t)m);
	for (uint32_t i = 0; i < m->records.n; i++)
		set |= filter_message(f, m, i, NULL, NULL) ? BIT(i) : 0;
	filter_free(f);
	return set;
}

/* Two files of a folder, and a log with its replies. */
static void say_in_files(struct model *m)
{
	model_init(m);
	said_in(m, NULL, 0, "logs");
	said_in(m, "ses_A", 0, "logs");
	said_in(m, NULL, 0, "logs");
	said_in(m, "ses_B", 1, "logs");
	said_in(m, NULL, 1, "logs");
	said_in(m, "ses_C", 2, "/tmp/x.log");
	said_in(m, NULL, 2, "/tmp/x.log");
	said_in(m, NULL, 3, "/tmp/x.log");
}

START_TEST(session_takes_what_names_none)
{
	struct model m;

	say_in_files(&m);
	ck_assert_uint_eq(matches_in(&m, "session:ses_A"), BIT(0) | BIT(1) | BIT(2));
	ck_assert_uint_eq(matches_in(&m, "session:ses_B"), BIT(3) | BIT(4));
	ck_assert_uint_eq(matches_in(&m, "session:ses_C"), BIT(5) | BIT(6) | BIT(7));
	ck_assert_uint_eq(matches_in(&m, "-session:ses_*"), 0);
	/* the session that the file names is still found by its name, or the file's */
	ck_assert_uint_eq(matches_in(&m, "session:logs"), BIT(0) | BIT(2) | BIT(4));
	ck_assert_uint_eq(matches_in(&m, "session:x.log"), BIT(6) | BIT(7));
	ck_assert_uint_eq(matches_in(&m, "session:/tmp/x.log"), BIT(6) | BIT(7));
	/* a second session in a file: nobody knows to which of them such a line belongs */
	said_in(&m, "ses_D", 2, "/tmp/x.log");
	ck_assert_uint_eq(matches_in(&m, "session:ses_C"), BIT(5));
	ck_assert_uint_eq(matches_in(&m, "session:ses_D"), BIT(8));
	ck_assert_uint_eq(matches_in(&m, "session:x.log"), BIT(6) | BIT(7));
	model_release(&m);
}
END_TEST

/* A filter is used while messages come. */
START_TEST(session_of_a_line_is_known_later)
{
	struct filter *f = must("session:ses_A");
	struct model m;

	model_init(&m);
	said_in(&m, NULL, 0, "logs");
	ck_assert(!filter_message(f, &m, 0, NULL, NULL));
	said_in(&m, "ses_A", 0, "logs");
	ck_assert(filter_message(f, &m, 0, NULL, NULL));
	said_in(&m, "ses_B", 0, "logs");
	ck_assert(!filter_message(f, &m, 0, NULL, NULL));
	filter_free(f);
	model_release(&m);
}
END_TEST

START_TEST(source_by_path_or_its_tail)
{
	unsigned first = BIT(0) | BIT(1) | BIT(2), second = BIT(3) | BIT(4),
		 third = BIT(5) | BIT(6) | BIT(7);
	struct model m;

	say_in_files(&m);
	ck_assert_uint_eq(matches_in(&m, "source:logs/one.ndjson"), first);
	ck_assert_uint_eq(matches_in(&m, "source:one.ndjson"), first);
	ck_assert_uint_eq(matches_in(&m, "source:ONE.ndjson"), first);
	ck_assert_uint_eq(matches_in(&m, "source:one*"), first);
	ck_assert_uint_eq(matches_in(&m, "source:ne.ndjson"), 0);
	ck_assert_uint_eq(matches_in(&m, "source:one"), 0);
	ck_assert_uint_eq(matches_in(&m, "source:logs"), first | second);
	/* the replies of a log belong to it, and have a name of their own */
	ck_assert_uint_eq(matches_in(&m, "source:x.log"), third);
	ck_assert_uint_eq(matches_in(&m, "source:*.replies.ndjson"), BIT(7));
	ck_assert_uint_eq(matches_in(&m, "-source:x.log"), first | second);
	ck_assert_uint_eq(matches_in(&m, "source:two.ndjson -session:ses_B"), 0);
	model_release(&m);
}
END_TEST

START_TEST(session_by_name)
{
	ck_assert_uint_eq(messages("session:SES_1"),
			  BIT(ASSIGN) | BIT(PROGRESS) | BIT(RESULT) | BIT(REPEAT));
	ck_assert_uint_eq(messages("session:log.ndjson"), BIT(TEXT) | BIT(UNKNOWN));
	ck_assert_uint_eq(items("session:ses_1"), BIT(FIND_1) | BIT(FIND_2));
	ck_assert(task("session:ses_1", 1));
	ck_assert(lead("session:ses_1"));
}
END_TEST

START_TEST(id_of_items_messages_and_the_rest)
{
	ck_assert_uint_eq(items("id:scope-01"), BIT(SCOPE));
	ck_assert_uint_eq(items("id:scope"), 0);
	ck_assert_uint_eq(items("id:*-0*"), BIT(SCOPE) | BIT(NAMES) | BIT(OLD));
	ck_assert_uint_eq(items("id:Find-2"), BIT(FIND_2));
	ck_assert_uint_eq(items("id:review-7/find-2"), BIT(FIND_2));
	ck_assert_uint_eq(items("id:review*"), BIT(FIND_1) | BIT(FIND_2));
	ck_assert_uint_eq(messages("id:names-02"), BIT(ANSWER) | BIT(ASK));
	ck_assert_uint_eq(messages("id:review-7"), BIT(RESULT));
	ck_assert_uint_eq(messages("id:msg-A1"), BIT(ASSIGN));
	ck_assert_uint_eq(messages("id:msg-A2"), 0);
	ck_assert(task("id:t1", 1));
	ck_assert(lead("id:lead"));
}
END_TEST

START_TEST(severity_of_items)
{
	ck_assert_uint_eq(items("severity:critical"), BIT(FIND_1));
	ck_assert_uint_eq(items("severity:=Critical"), BIT(FIND_1));
	ck_assert_uint_eq(items("severity:>=major"), BIT(FIND_1) | BIT(SCOPE));
	ck_assert_uint_eq(items("severity:>major"), BIT(FIND_1));
	ck_assert_uint_eq(items("severity:<major"), BIT(FIND_2) | BIT(OLD));
	ck_assert_uint_eq(items("severity:<=major"), BIT(FIND_2) | BIT(OLD) | BIT(SCOPE));
	ck_assert_uint_eq(items("severity:>critical"), 0);
	ck_assert_uint_eq(items("-severity:>=suggestion"), BIT(NAMES));
	ck_assert_uint_eq(items("severity:>=note"), 0);
	ck_assert(!task("severity:>=suggestion", 1));
}
END_TEST

START_TEST(severity_of_messages_is_the_worst_diagnostic)
{
	ck_assert_uint_eq(messages("severity:error"), BIT(RESULT));
	ck_assert_uint_eq(messages("severity:>=warning") & (BIT(PROGRESS) | BIT(UNKNOWN)),
			  BIT(PROGRESS));
	ck_assert_uint_eq(messages("severity:note"), BIT(UNKNOWN) | BIT(REPEAT));
	ck_assert_uint_eq(messages("severity:>=suggestion"), 0);
}
END_TEST

START_TEST(is_of_messages)
{
	ck_assert_uint_eq(messages("is:error"), BIT(RESULT));
	ck_assert(messages("is:warning") & BIT(PROGRESS));
	ck_assert_uint_eq(messages("is:note"), BIT(PROGRESS) | BIT(UNKNOWN) | BIT(REPEAT));
	ck_assert_uint_eq(messages("is:repaired"), BIT(PROGRESS));
	ck_assert_uint_eq(messages("is:ambiguous"), BIT(PROGRESS));
	ck_assert_uint_eq(messages("is:truncated"), BIT(TEXT));
	ck_assert_uint_eq(messages("is:binary"), BIT(TEXT));
	ck_assert_uint_eq(messages("is:oversize"), BIT(UNKNOWN));
	ck_assert_uint_eq(messages("is:repeated"), BIT(REPEAT));
	ck_assert_uint_eq(messages("is:Text"), BIT(TEXT));
	ck_assert_uint_eq(messages("is:unknown"), BIT(UNKNOWN));
	ck_assert_uint_eq(messages("is:open"), 0);
}
END_TEST

START_TEST(is_of_items)
{
	ck_assert_uint_eq(items_at("is:open", TEXT), all_items);
	ck_assert_uint_eq(items_at("is:due", TEXT), BIT(SCOPE) | BIT(OLD));
	ck_assert_uint_eq(items_at("is:due", ASK), BIT(SCOPE));
	ck_assert_uint_eq(items_at("is:expired", ASK), BIT(OLD));
	ck_assert_uint_eq(items_at("is:decided", ASK), 0);
	ck_assert_uint_eq(items("is:decided"), BIT(NAMES));
	ck_assert_uint_eq(items("verdict:rejected"), BIT(NAMES));
	ck_assert_uint_eq(items("verdict:none"), BIT(FIND_1) | BIT(FIND_2));
	ck_assert_uint_eq(messages("verdict:none"), 0);
	/* overtaken by the request: neither open nor decided */
	ck_assert_uint_eq(items("is:open"), BIT(FIND_1) | BIT(FIND_2));
	ck_assert_uint_eq(items("is:due"), 0);
	ck_assert_uint_eq(items("is:error"), BIT(FIND_1) | BIT(FIND_2));
}
END_TEST

/* A reply that decides scope-01, and a line of one agent's own that a judge would say. */
START_TEST(trust_is_the_origin)
{
	struct message m = begin(DIALECT_FEEDBACK, "request", 41);
	struct event *e;
	struct place place = { .group = STR("log.ndjson"), .trust = TRUST_REPLY };

	m.session = STR("two words");
	m.from = (struct actor){ STR("bob"), STR("requester"), true };
	event_add(&m, EV_TURN_ASK, STR_NONE, "/iteration")->iteration = 2;
	e = event_add(&m, EV_DECIDE, STR("scope-01"), "/items/%u/id");
	e->verdict = VERDICT_ACCEPTED;
	model_apply(&model, &m, &place);
	message_release(&m);
	m = begin(DIALECT_HANDOFF, "decision", 42);
	place = (struct place){ .group = STR("dev.ndjson"), .trust = TRUST_AGENT,
				.speaker = STR("dev") };
	m.from = known_role_actors[KNOWN_ROLE_JUDGE];
	event_add(&m, EV_JUDGEMENT, STR("T9"), "/decision")->verdict = VERDICT_ACCEPTED;
	model_apply(&model, &m, &place);
	message_release(&m);

	ck_assert_uint_eq(messages("trust:log"), all_messages);
	ck_assert_uint_eq(messages("trust:reply"), BIT(MESSAGES));
	ck_assert_uint_eq(messages("TRUST:Agent"), BIT(MESSAGES + 1));
	ck_assert_uint_eq(messages("is:not-its-role trust:agent"), BIT(MESSAGES + 1));
	ck_assert_uint_eq(messages("trust:journal"), 0);
	ck_assert_uint_eq(items("trust:reply"), BIT(SCOPE));
	ck_assert_uint_eq(items("-trust:log"), BIT(SCOPE));
	ck_assert_uint_eq(items_at("trust:log", MESSAGES), all_items);
	ck_assert(task("trust:log", 1));
	ck_assert(lead("trust:log"));
	ck_assert(str_is(message_claims(&model, MESSAGES + 1), "judge"));
	ck_assert(!message_claims(&model, MESSAGES).n);

	model_reply_own(&model, MESSAGES, STR("bob"), TEN);
	ck_assert_uint_eq(messages("trust:journal"), BIT(MESSAGES));
	ck_assert_uint_eq(items("trust:journal"), BIT(SCOPE));
}
END_TEST

/* As of each k an agent has spoken from the origins before it. */
START_TEST(trust_of_agents_is_as_of_k)
{
	uint32_t ann = model.records.n, agent = model.agents.n;
	enum trust origins[] = { TRUST_LOG, TRUST_REPLY };

	for (unsigned i = 0; i < 2; i++) {
		struct message m = begin(DIALECT_COLLABORATION, "feedback", 50);
		struct place place = { .group = STR("log.ndjson"), .trust = origins[i] };

		m.from = (struct actor){ STR("eve"), STR("architect"), origins[i] == TRUST_REPLY };
		m.flags = origins[i] == TRUST_LOG ? RECORD_CLAIMS_HUMAN : 0;
		model_apply(&model, &m, &place);
		message_release(&m);
	}
	ck_assert_uint_eq(agent_trust(&model, agent, ann + 1), TRUST_LOG);
	ck_assert(agent_claims_human(&model, agent, ann + 1));
	ck_assert(!agent_claims_human(&model, agent, ann));
	ck_assert_uint_eq(agent_trust(&model, agent, ann + 2), TRUST_REPLY);
	model_reply_own(&model, ann + 1, STR("eve"), TEN);
	ck_assert_uint_eq(agent_trust(&model, agent, ann + 2), TRUST_JOURNAL);
	ck_assert_uint_eq(agent_trust(&model, agent, ann + 1), TRUST_LOG);
}
END_TEST

START_TEST(is_of_tasks)
{
	ck_assert(!task("", 0));
	ck_assert(task("is:open", 1));
	ck_assert(!task("is:decided", 1));
	ck_assert(!task("is:warning", 1));
	ck_assert(task("is:warning", 2));
	ck_assert(!lead("is:error"));
}
END_TEST

START_TEST(after_and_before_part_what_has_a_time)
{
	unsigned early = BIT(ASSIGN) | BIT(PROGRESS) | BIT(REPEAT);
	unsigned timed = all_messages & ~BIT(TEXT);

	ck_assert_uint_eq(messages("before:10:15"), early);
	ck_assert_uint_eq(messages("after:10:15"), timed & ~early);
	ck_assert_uint_eq(messages("after:10:15:01"), timed & ~early & ~BIT(RESULT));
	ck_assert_uint_eq(messages("after:2026-01-26T10:15Z before:10:20"), BIT(RESULT));
	ck_assert_uint_eq(messages("before:\"10:15\""), early);
	ck_assert_uint_eq(items("before:10:20"), BIT(FIND_1) | BIT(FIND_2));
	ck_assert(task("after:10:10", 2));
	ck_assert(!task("after:10:10", 1));
	ck_assert(task("before:10:10", 2));
	ck_assert(lead("before:10:01"));
}
END_TEST

START_TEST(words_match_names_and_text)
{
	ck_assert_uint_eq(messages("segmentation"), BIT(TEXT));
	ck_assert_uint_eq(messages("FAULT core"), BIT(TEXT));
	ck_assert_uint_eq(messages("fault parser"), 0);
	ck_assert_uint_eq(messages("progress_upd"), BIT(PROGRESS));
	ck_assert_uint_eq(messages("provider"), BIT(ANSWER));
	ck_assert_uint_eq(items("scope"), BIT(SCOPE));
	ck_assert_uint_eq(items("review-7/"), BIT(FIND_1) | BIT(FIND_2));
	ck_assert_uint_eq(items("rejected"), BIT(NAMES));
	ck_assert_uint_eq(items("critical"), BIT(FIND_1));
	ck_assert(task("assigned", 1));
	ck_assert(task("running", 2));
	ck_assert(!task("running", 1));
	ck_assert(lead("archi"));
}
END_TEST

START_TEST(words_may_have_colons_and_stars)
{
	ck_assert_uint_eq(messages("10:15"), BIT(UNKNOWN));
	ck_assert_uint_eq(messages("http://x"), BIT(UNKNOWN));
	ck_assert_uint_eq(messages("-http://x"), all_messages & ~BIT(UNKNOWN));
	ck_assert_uint_eq(messages("\"kind:x\""), 0);
	ck_assert_uint_eq(messages(":"), BIT(UNKNOWN));
	ck_assert_uint_eq(messages("fau*"), 0);
	ck_assert_uint_eq(messages("task_id:T1"), 0);
}
END_TEST

START_TEST(minus_negates)
{
	ck_assert_uint_eq(messages("-segmentation"), all_messages & ~BIT(TEXT));
	ck_assert_uint_eq(messages("-kind:response dialect:feedback"), BIT(ASK));
	ck_assert_uint_eq(messages("-is:error -is:open"), all_messages & ~BIT(RESULT));
	ck_assert_uint_eq(messages("-\"core dumped\""), all_messages & ~BIT(TEXT));
	ck_assert_uint_eq(messages("-session:\"two words\" dialect:feedback"), 0);
	/* not a minus: alone, or in quotes */
	ck_assert_uint_eq(messages("- "), messages("\"-\""));
	ck_assert_uint_eq(messages("\"-01\""),
			  BIT(ASSIGN) | BIT(PROGRESS) | BIT(RESULT) | BIT(REPEAT));
}
END_TEST

START_TEST(quotes_hold_words_together)
{
	ck_assert_uint_eq(messages("\"core dumped\""), BIT(TEXT));
	ck_assert_uint_eq(messages("\"dumped core\""), 0);
	ck_assert_uint_eq(messages("session:\"two words\""), BIT(ANSWER) | BIT(ASK));
	ck_assert_uint_eq(messages("session:\"two *\" kind:request"), BIT(ASK));
	ck_assert_uint_eq(messages("url\""), BIT(UNKNOWN));
}
END_TEST

START_TEST(text_is_fetched_only_for_words)
{
	messages("kind:request task:T1 id:x agent:ann is:open severity:error after:10:00");
	ck_assert_uint_eq(fetched, 0);
	/* a key has said no before, in whatever order they stand */
	messages("please kind:nothing");
	ck_assert_uint_eq(fetched, 0);
	/* the names are enough */
	messages("kind:request request");
	ck_assert_uint_eq(fetched, 0);
	messages("kind:request please");
	ck_assert_uint_eq(fetched, 1);
	/* once for all words */
	messages("kind:request next please -parser");
	ck_assert_uint_eq(fetched, 2);
}
END_TEST

static void refused(const char *text, const char *first, const char *second)
{
	struct err err = { "" };

	ck_assert_msg(filter_new(str_of(text), TEN, &err) == NULL, "%s is accepted", text);
	ck_assert_msg(strstr(err.text, first) && strstr(err.text, second),
		      "%s gives: %s; not: %s, %s", text, err.text, first, second);
	ck_assert_ptr_null(filter_new(str_of(text), TEN, NULL));
}

START_TEST(errors_name_the_word_and_what_is_allowed)
{
	refused("ok knd:finding", "\"knd:finding\": \"knd\" is not a key; did you mean kind",
		"kind, dialect, agent, task, session, source, id, severity, verdict, is, trust, after, "
		"before");
	refused("-sev:major", "\"-sev:major\"", "did you mean severity");
	refused("wholly:other", "\"wholly\" is not a key; allowed", "in quotes");
	refused("trust:agnt", "did you mean agent", "allowed: log, agent, reply, journal");
	refused("is:opne", "did you mean open", "decided, expired, due, snoozed, error");
	refused("is:op*", "\"is:op*\"", "allowed: open");
	refused("severity:>=magor", "\"magor\" is not a severity; did you mean major",
		"critical, major, minor, suggestion, error, warning, note");
	refused("severity:>=", "\"\" is not a severity", "critical");
	refused("severity:==major", "is not a severity", "major");
	refused("dialect:feedbak", "did you mean feedback", "handoff");
	refused("after:noon", "\"after:noon\": not a time", "10:15");
	refused("before:25:99", "not a time", "1970");
	refused("kind:", "\"kind:\"", "value is missing");
	refused("kind: finding", "\"kind:\"", "value is missing");
	refused("kind:\"\"", "kind:", "value is missing");
	refused("a \"b c", "\"\"b\"", "not closed");
	refused("kind:\"b", "kind:", "not closed");
	refused("\"a\"b", "\"a\"b", "space");
}
END_TEST

START_TEST(errors_stay_short)
{
	char big[4000];

	memset(big, 'x', sizeof(big));
	big[2000] = ':';
	big[sizeof(big) - 1] = '\0';
	refused(big, "is not a key; allowed: kind", "in quotes");
	memcpy(big, "kind:*", 6);
	filter_free(must(big));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("filter");
	TCase *t = tcase_create("filter");

	tcase_add_checked_fixture(t, setup, teardown);
	suite_add_tcase(suite, t);
	tcase_add_test(t, nothing_matches_all);
	tcase_add_test(t, kind_is_the_messages_or_the_items);
	tcase_add_test(t, dialect_by_name);
	tcase_add_test(t, agent_has_part_in_it);
	tcase_add_test(t, task_finds_what_was_done_to_it);
	tcase_add_test(t, task_sees_messages_that_come_later);
	tcase_add_test(t, task_takes_its_revisions_along);
	tcase_add_test(t, limited_to_a_task);
	tcase_add_test(t, limited_to_an_agent_or_a_session);
	tcase_add_test(t, session_by_name);
	tcase_add_test(t, session_takes_what_names_none);
	tcase_add_test(t, session_of_a_line_is_known_later);
	tcase_add_test(t, source_by_path_or_its_tail);
	tcase_add_test(t, id_of_items_messages_and_the_rest);
	tcase_add_test(t, severity_of_items);
	tcase_add_test(t, severity_of_messages_is_the_worst_diagnostic);
	tcase_add_test(t, is_of_messages);
	tcase_add_test(t, is_of_items);
	tcase_add_test(t, trust_is_the_origin);
	tcase_add_test(t, trust_of_agents_is_as_of_k);
	tcase_add_test(t, is_of_tasks);
	tcase_add_test(t, after_and_before_part_what_has_a_time);
	tcase_add_test(t, words_match_names_and_text);
	tcase_add_test(t, words_may_have_colons_and_stars);
	tcase_add_test(t, minus_negates);
	tcase_add_test(t, quotes_hold_words_together);
	tcase_add_test(t, text_is_fetched_only_for_words);
	tcase_add_test(t, errors_name_the_word_and_what_is_allowed);
	tcase_add_test(t, errors_stay_short);
	return unit_run(suite);
}
