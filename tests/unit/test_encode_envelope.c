/* A person's review of an output becomes the next input, and says the same when it is read
 * again. */
#include "encode.h"

#define IN(iteration, params) \
	"{\"context\":{\"feature_id\":\"005-auth\",\"workflow\":\"specify\",\"iteration\":" iteration \
	"},\"paths\":{\"spec\":\"specs/005/spec.md\"},\"task\":{\"action\":\"validate\",\"params\":{" params \
	"}},\"prior_context\":[\"Spec complete\"]}"
#define OUT(success, recommendation, notes) \
	"{\"success\":" success ",\"summary\":\"Three gaps\",\"artifacts\":[],\"notes\":[" notes \
	"],\"recommendation\":\"" recommendation "\"}"
#define GAPS "\"gaps\":[\"G1\"]"

static const struct {
	const char *in, *out;
	enum item_kind kind;
	const char *name;
} logs[] = {
	{ IN("1", GAPS), OUT("false", "escalate", "\"Blocked on G1\""), ITEM_ESCALATION, "escalation@2" },
	{ IN("1", GAPS), OUT("true", "escalate", ""), ITEM_ESCALATION, "escalation@2" },
	{ IN("2", ""), OUT("true", "retry", "\"a\",\"b\""), ITEM_RETRY, "retry@2" },
	{ IN("1", GAPS), OUT("false", "retry", "\"Review accepted: me\""), ITEM_RETRY, "retry@2" },
};
enum { LOGS = sizeof(logs) / sizeof(logs[0]) };

static const struct {
	enum verb verb;
	enum verdict verdict;
	const char *explanation, *line;
} verbs[] = {
	{ VERB_ACCEPT, VERDICT_ACCEPTED, "", "Review accepted: as it is" },
	{ VERB_ACCEPT, VERDICT_ACCEPTED, "Go \"on\"", "Review accepted: Go \"on\"" },
	{ VERB_REJECT, VERDICT_REJECTED, "G1 matters", "Review rejected: G1 matters" },
	{ VERB_ESCALATE, VERDICT_ESCALATED, "Ask legal",
	  "Review escalated (005-auth/specify): Ask legal" },
	{ VERB_ESCALATE, VERDICT_ESCALATED, "",
	  "Review escalated (005-auth/specify): somebody else must decide" },
};
enum { VERBS = sizeof(verbs) / sizeof(verbs[0]) };

static void check_input(yyjson_val *root, const char *in, yyjson_val *out, const char *line)
{
	struct json_reader json = { 0 };
	yyjson_val *was, *prior = json_get(root, "prior_context"), *notes = json_get(out, "notes");
	size_t n = yyjson_arr_size(prior);
	int64_t before, now;

	ck_assert(json_read(&json, str_of(in), &was) == JSON_OK);
	ck_assert(yyjson_equals(json_get(root, "paths"), json_get(was, "paths")));
	ck_assert(yyjson_equals(json_get(root, "task"), json_get(was, "task")));
	was = json_get(was, "context");
	root = json_get(root, "context");
	ck_assert(yyjson_equals(json_get(root, "feature_id"), json_get(was, "feature_id")));
	ck_assert(yyjson_equals(json_get(root, "workflow"), json_get(was, "workflow")));
	ck_assert(json_int(json_get(was, "iteration"), &before));
	ck_assert(json_int(json_get(root, "iteration"), &now));
	ck_assert_int_eq(now, before + 1);
	ck_assert_uint_eq(n, yyjson_arr_size(notes) + 1);
	for (size_t i = 0; i + 1 < n; i++)
		ck_assert(yyjson_equals(yyjson_arr_get(prior, i), yyjson_arr_get(notes, i)));
	ck_assert(str_is(json_str(yyjson_arr_get(prior, n - 1)), line));
	json_reader_release(&json);
}

static void check_output(yyjson_val *root, const char *line)
{
	ck_assert(yyjson_is_false(json_get(root, "success")));
	ck_assert(str_is(json_get_str(root, "summary"), line));
	ck_assert(yyjson_is_arr(json_get(root, "artifacts")));
	ck_assert_uint_eq(yyjson_arr_size(json_get(root, "artifacts")), 0);
	assert_str(json_get_str(root, "recommendation"), "escalate");
}

START_TEST(says_what_was_decided)
{
	int log = _i / VERBS, v = _i % VERBS;
	struct terms terms = usual_terms("/nonexistent/replies.ndjson");
	struct json_reader json = { 0 }, out_json = { 0 };
	struct bench l;
	struct item_state st;
	struct plan p;
	yyjson_val *root, *out;
	uint32_t item;

	bench_open(&l, "log");
	bench_add(&l, logs[log].in);
	bench_add(&l, logs[log].out);
	item = bench_item(&l, logs[log].kind, logs[log].name);
	bench_decide(&l, item, verbs[v].verb, verbs[v].explanation, "alice");
	bench_plan_by(&l, &terms, &p);
	assert_ready(&p);
	ck_assert_uint_eq(p.list.n, 1);
	ck_assert(str_find(p.list.v[0].letter.bytes, STR("alice"), 0) < 0);
	ck_assert(json_read(&json, p.list.v[0].letter.bytes, &root) == JSON_OK);
	ck_assert(json_read(&out_json, str_of(logs[log].out), &out) == JSON_OK);
	if (verbs[v].verb == VERB_ESCALATE)
		check_output(root, verbs[v].line);
	else
		check_input(root, logs[log].in, out, verbs[v].line);

	bench_say(&l, p.list.v[0].letter.bytes, NULL);
	assert_clean(&l);
	st = bench_state(&l, item);
	ck_assert(!st.open);
	ck_assert_int_eq(st.verdict, verbs[v].verdict);
	ck_assert_uint_eq(l.model.items.n, 1); /* passing it on is not asked for again */
	json_reader_release(&json);
	json_reader_release(&out_json);
	plan_release(&p);
	bench_release(&l);
}
END_TEST

START_TEST(needs_its_input)
{
	struct terms terms = usual_terms("/nonexistent/replies.ndjson");
	struct bench l;
	struct plan p;

	bench_open(&l, "log");
	bench_add(&l, logs[0].out);
	bench_decide(&l, 0, VERB_ACCEPT, "", "alice");
	bench_plan_by(&l, &terms, &p);
	ck_assert(!plan_is_ready(&p));
	ck_assert(strstr(first_missing(&p), "the input envelope of this output was not seen"));
	plan_release(&p);

	/* escalating needs none */
	l.desk.drafts.v[0].verb = VERB_ESCALATE;
	bench_plan_by(&l, &terms, &p);
	assert_ready(&p);
	bench_say(&l, p.list.v[0].letter.bytes, NULL);
	ck_assert_int_eq(bench_state(&l, 0).verdict, VERDICT_ESCALATED);
	ck_assert_uint_eq(l.model.items.n, 1);
	plan_release(&p);
	bench_release(&l);
}
END_TEST

START_TEST(needs_a_count_to_go_on_from)
{
	struct terms terms = usual_terms("/nonexistent/replies.ndjson");
	struct bench l;
	struct plan p;

	bench_open(&l, "log");
	bench_add(&l, IN("\"one\"", ""));
	bench_add(&l, logs[0].out);
	bench_decide(&l, 0, VERB_ACCEPT, "", "alice");
	bench_plan_by(&l, &terms, &p);
	ck_assert(!plan_is_ready(&p));
	ck_assert(strstr(first_missing(&p), "iteration"));
	plan_release(&p);
	bench_release(&l);
}
END_TEST

/* What is handed on must be what the agent was given, and valid. */
START_TEST(needs_a_whole_input)
{
	static const char *const inputs[] = {
		"{\"context\":{\"feature_id\":\"f\",\"workflow\":\"plan\",\"iteration\":1},"
		"\"paths\":{\"a\":\"b\"},\"task\":{\"action\":\"x\"}}",
		"{\"context\":{\"workflow\":\"plan\",\"iteration\":1},\"paths\":{\"a\":\"b\"},"
		"\"task\":{\"action\":\"x\",\"params\":{}}}",
		"{\"context\":{\"feature_id\":\"f\",\"workflow\":\"plan\",\"iteration\":1},"
		"\"paths\":{\"a\":5},\"task\":{\"action\":\"x\",\"params\":{}}}",
		"{\"context\":{\"feature_id\":\"f\",\"workflow\":\"plan\",\"iteration\":1},"
		"\"paths\":{\"a\":\"b\"},\"paths\":{\"a\":\"c\"},"
		"\"task\":{\"action\":\"x\",\"params\":{}}}",
		"{\"context\":{\"feature_id\":\"f\",\"workflow\":\"plan\",\"iteration\":1},"
		"\"paths\":{\"a\":\"\xff\"},\"task\":{\"action\":\"x\",\"params\":{}}}",
	};
	struct terms terms = usual_terms("/nonexistent/replies.ndjson");
	struct bench l;
	struct plan p;

	bench_open(&l, "log");
	bench_add(&l, inputs[_i]);
	bench_add(&l, logs[0].out);
	bench_decide(&l, 0, VERB_ACCEPT, "", "alice");
	bench_plan_by(&l, &terms, &p);
	ck_assert(!plan_is_ready(&p));
	ck_assert(strstr(first_missing(&p), "incomplete or damaged"));
	plan_release(&p);
	bench_release(&l);
}
END_TEST

/* An output has no context: passing on an older lane's item says which one it is. */
START_TEST(escalates_in_its_own_lane)
{
	struct terms terms = usual_terms("/nonexistent/replies.ndjson");
	struct bench l;
	struct plan p;
	uint32_t item, other;

	bench_open(&l, "log");
	bench_add(&l, IN("1", GAPS));
	bench_add(&l, OUT("true", "escalate", ""));
	bench_add(&l, "{\"context\":{\"feature_id\":\"006\",\"workflow\":\"plan\",\"iteration\":1},\"paths\":{},"
		    "\"task\":{\"action\":\"plan\",\"params\":{}}}");
	bench_add(&l, OUT("true", "retry", "\"G9\""));
	item = bench_item(&l, ITEM_ESCALATION, "escalation@2");
	other = bench_item(&l, ITEM_RETRY, "retry@4");
	bench_decide(&l, item, VERB_ESCALATE, "Ask legal", "alice");
	bench_plan_by(&l, &terms, &p);
	assert_ready(&p);
	bench_say(&l, p.list.v[0].letter.bytes, NULL);
	assert_clean(&l);
	ck_assert_int_eq(bench_state(&l, item).verdict, VERDICT_ESCALATED);
	ck_assert(bench_state(&l, other).open);
	ck_assert_uint_eq(l.model.items.n, 2);
	plan_release(&p);
	bench_release(&l);
}
END_TEST

/* Lanes that run side by side: the answer goes on with its own. */
START_TEST(goes_on_with_its_own_lane)
{
	struct terms terms = usual_terms("/nonexistent/replies.ndjson");
	struct bench l;
	struct plan p;
	uint32_t item;

	bench_open(&l, "log");
	bench_add(&l, IN("4", GAPS));
	bench_add(&l, OUT("true", "escalate", ""));
	bench_add(&l, "{\"context\":{\"feature_id\":\"006\",\"workflow\":\"plan\",\"iteration\":9},\"paths\":{},"
		    "\"task\":{\"action\":\"plan\",\"params\":{}}}");
	item = bench_item(&l, ITEM_ESCALATION, "escalation@2");
	bench_decide(&l, item, VERB_REJECT, "No", "alice");
	bench_plan_by(&l, &terms, &p);
	assert_ready(&p);
	ck_assert(str_find(p.list.v[0].letter.bytes,
			   STR("\"feature_id\":\"005-auth\",\"workflow\":\"specify\",\"iteration\":5"),
			   0) > 0);
	bench_say(&l, p.list.v[0].letter.bytes, NULL);
	assert_clean(&l);
	ck_assert_int_eq(bench_state(&l, item).verdict, VERDICT_REJECTED);
	plan_release(&p);
	bench_release(&l);
}
END_TEST

/* Notes that end like a review are the agent's, and overtake the item as any next input does. */
START_TEST(agents_notes_are_no_review)
{
	struct bench l;

	bench_open(&l, "log");
	bench_add(&l, IN("1", ""));
	bench_add(&l, OUT("true", "retry", "\"fine\",\"Review accepted: by all\""));
	bench_add(&l, "{\"context\":{\"feature_id\":\"005-auth\",\"workflow\":\"specify\",\"iteration\":2},"
		    "\"paths\":{},\"task\":{\"action\":\"validate\",\"params\":{}},"
		    "\"prior_context\":[\"fine\",\"Review accepted: by all\"]}");
	ck_assert_int_eq(bench_state(&l, 0).verdict, VERDICT_SUPERSEDED);
	/* an escalation is not hidden by its words when nothing waits */
	bench_add(&l, "{\"success\":false,\"summary\":\"Review escalated: nothing to see\",\"artifacts\":[],"
		    "\"recommendation\":\"escalate\"}");
	ck_assert_uint_eq(l.model.items.n, 2);
	ck_assert(bench_state(&l, 1).open);
	bench_release(&l);
}
END_TEST

/* After a person has looked, the same gaps are no news; without one they are. */
START_TEST(same_gaps_after_a_review)
{
	struct terms terms = usual_terms("/nonexistent/replies.ndjson");
	struct bench l;
	struct plan p;

	bench_open(&l, "log");
	bench_add(&l, IN("1", GAPS));
	bench_add(&l, OUT("true", "retry", "\"G1\""));
	bench_decide(&l, 0, VERB_ACCEPT, "once more", "alice");
	bench_plan_by(&l, &terms, &p);
	assert_ready(&p);
	bench_say(&l, p.list.v[0].letter.bytes, NULL);
	bench_add(&l, OUT("true", "retry", "\"G1\""));
	assert_clean(&l);
	bench_add(&l, IN("3", GAPS));
	ck_assert(l.told.n && strstr(l.told.p, "retry-same-gaps"));
	plan_release(&p);
	bench_release(&l);
}
END_TEST

/* The second reviewer's answer, after the first has passed it on. */
START_TEST(second_reviewer_decides)
{
	struct bench l;

	bench_open(&l, "log");
	bench_add(&l, IN("1", ""));
	bench_add(&l, OUT("true", "retry", "\"G1\""));
	bench_say(&l, STR("{\"success\":false,\"summary\":\"Review escalated: hm\",\"artifacts\":[],"
			  "\"recommendation\":\"escalate\"}"), NULL);
	ck_assert_int_eq(bench_state(&l, 0).verdict, VERDICT_ESCALATED);
	bench_say(&l, STR("{\"context\":{\"feature_id\":\"005-auth\",\"workflow\":\"specify\","
			  "\"iteration\":2},\"paths\":{},\"task\":{\"action\":\"validate\","
			  "\"params\":{}},\"prior_context\":[\"G1\",\"Review rejected: no\"]}"),
		  NULL);
	ck_assert_int_eq(bench_state(&l, 0).verdict, VERDICT_REJECTED);
	assert_clean(&l);
	bench_release(&l);
}
END_TEST

/* Without inputs nothing but its name tells which output a person has passed on. */
START_TEST(outputs_without_input_are_told_apart)
{
	static const char *const names[] = { "escalation@1", "escalation@2" };
	struct terms terms = usual_terms("/nonexistent/replies.ndjson");
	struct bench l;
	struct plan p;

	bench_open(&l, "log");
	bench_add(&l, OUT("false", "escalate", "\"a\""));
	bench_add(&l, OUT("false", "escalate", "\"b\""));
	terms.escalate_to = "/nonexistent/queue.ndjson";
	bench_decide(&l, bench_item(&l, ITEM_ESCALATION, names[_i]), VERB_ESCALATE, "Ask", "ann");
	bench_plan_by(&l, &terms, &p);
	assert_ready(&p);
	for (uint32_t i = 0; i < p.list.n; i++)
		if (str_is(p.list.v[i].letter.to, "workflow"))
			bench_say(&l, p.list.v[i].letter.bytes, NULL);
	ck_assert_uint_eq(l.lines.n, 3);
	ck_assert_int_eq(bench_state(&l, bench_item(&l, ITEM_ESCALATION, names[_i])).verdict,
			 VERDICT_ESCALATED);
	ck_assert_int_eq(bench_state(&l, bench_item(&l, ITEM_ESCALATION, names[!_i])).verdict,
			 VERDICT_NONE);
	plan_release(&p);
	bench_release(&l);
}
END_TEST

#define FEATURE(id, iteration) \
	"{\"context\":{\"feature_id\":\"" id "\",\"workflow\":\"plan\",\"iteration\":" iteration \
	"},\"paths\":{\"spec\":\"specs/" id ".md\"},\"task\":{\"action\":\"plan\",\"params\":{}}}"

/* Lines 1 and 2: inputs of two features; 3 and 4: outputs. */
static void open_two(struct bench *l)
{
	bench_open(l, "log");
	bench_add(l, FEATURE("a", "1"));
	bench_add(l, FEATURE("b", "4"));
	bench_add(l, OUT("false", "escalate", "\"one\""));
	bench_add(l, OUT("false", "retry", "\"two\""));
}

static const struct {
	uint32_t line;
	const char *next, *missing;
} two[] = {
	{ 0, .missing = "it is not clear which input this output answers: line 1 (a/plan) or 2 (b/plan); "
			"say which with --input=LINE" },
	{ 3, .missing = "line 3 is not one of the inputs that this output may answer: line 1 (a/plan) or 2 "
			"(b/plan)" },
	{ 1, "{\"feature_id\":\"a\",\"workflow\":\"plan\",\"iteration\":2},\"paths\":{\"spec\":"
	     "\"specs/a.md\"}" },
	{ 2, "{\"feature_id\":\"b\",\"workflow\":\"plan\",\"iteration\":5},\"paths\":{\"spec\":"
	     "\"specs/b.md\"}" },
};

START_TEST(of_otheropen_inputs_the_person_says_which)
{
	struct terms terms = usual_terms("/nonexistent/replies.ndjson");
	struct bench l;
	struct plan p;

	open_two(&l);
	ck_assert_uint_eq(item_task(&l.model, &l.model.items.v[0]), NONE);
	bench_decide(&l, bench_item(&l, ITEM_ESCALATION, "escalation@3"), VERB_ACCEPT, "", "ann")
		->input = two[_i].line;
	bench_plan_by(&l, &terms, &p);
	ck_assert_uint_eq(p.list.n, 1);
	if (two[_i].missing) {
		ck_assert_uint_eq(p.list.v[0].missing.n, 1);
		ck_assert_msg(str_find(p.list.v[0].missing.v[0], str_of(two[_i].missing), 0) == 0, "%s",
			      p.list.v[0].missing.v[0].p);
	} else {
		assert_ready(&p);
		ck_assert_msg(str_find(p.list.v[0].letter.bytes, str_of(two[_i].next), 0) > 0, "%s",
			      p.list.v[0].letter.bytes.p);
		ck_assert(str_find(p.list.v[0].letter.bytes, STR("[\"one\",\"Review"), 0) > 0);
	}
	plan_release(&p);
	bench_release(&l);
}
END_TEST

/* The next input of a lane neither closes nor decides an item that may be another's. */
START_TEST(an_unclear_item_is_closed_by_no_lane_alone)
{
	struct bench l;
	uint32_t one, other;

	open_two(&l);
	one = bench_item(&l, ITEM_ESCALATION, "escalation@3");
	other = bench_item(&l, ITEM_RETRY, "retry@4");
	bench_add(&l, FEATURE("b", "5"));
	ck_assert(bench_state(&l, one).open && bench_state(&l, other).open);
	bench_release(&l);
}
END_TEST

START_TEST(a_review_of_the_only_unclear_item_decides_it)
{
	struct terms terms = usual_terms("/nonexistent/replies.ndjson");
	struct bench l;
	struct plan p;
	uint32_t item;

	bench_open(&l, "log");
	bench_add(&l, FEATURE("a", "1"));
	bench_add(&l, FEATURE("b", "4"));
	bench_add(&l, OUT("false", "escalate", "\"one\""));
	item = bench_item(&l, ITEM_ESCALATION, "escalation@3");
	bench_decide(&l, item, VERB_REJECT, "No", "ann")->input = 1;
	bench_plan_by(&l, &terms, &p);
	assert_ready(&p);
	bench_say(&l, p.list.v[0].letter.bytes, NULL);
	ck_assert_int_eq(bench_state(&l, item).verdict, VERDICT_REJECTED);
	plan_release(&p);
	bench_release(&l);
}
END_TEST

/* Without ids, only an input between two equal outputs tells that the second is another. */
START_TEST(an_output_that_comes_again_raises_nothing)
{
	struct bench l;

	bench_open(&l, "log");
	bench_add(&l, IN("1", ""));
	bench_add(&l, OUT("true", "retry", "\"a\""));
	bench_add(&l, OUT("true", "retry", "\"a\""));
	assert_clean(&l);
	ck_assert_uint_eq(l.model.items.n, 1);
	ck_assert_uint_eq(l.model.items.v[0].n, 1);
	ck_assert(message_route(&l.model, 2)->flags & RECORD_REPEATED);
	bench_add(&l, IN("2", ""));
	bench_add(&l, OUT("true", "retry", "\"a\""));
	ck_assert_uint_eq(l.model.items.n, 2);
	ck_assert_uint_eq(l.bad, 1); /* the same gaps twice */
	bench_release(&l);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("encode_envelope");
	TCase *t = tcase_create("envelope");

	suite_add_tcase(suite, t);
	tcase_add_loop_test(t, says_what_was_decided, 0, LOGS * VERBS);
	tcase_add_test(t, needs_its_input);
	tcase_add_test(t, needs_a_count_to_go_on_from);
	tcase_add_loop_test(t, needs_a_whole_input, 0, 5);
	tcase_add_test(t, escalates_in_its_own_lane);
	tcase_add_test(t, goes_on_with_its_own_lane);
	tcase_add_test(t, agents_notes_are_no_review);
	tcase_add_test(t, same_gaps_after_a_review);
	tcase_add_test(t, second_reviewer_decides);
	tcase_add_loop_test(t, outputs_without_input_are_told_apart, 0, 2);
	tcase_add_loop_test(t, of_otheropen_inputs_the_person_says_which, 0,
			    sizeof(two) / sizeof(two[0]));
	tcase_add_test(t, an_unclear_item_is_closed_by_no_lane_alone);
	tcase_add_test(t, a_review_of_the_only_unclear_item_decides_it);
	tcase_add_test(t, an_output_that_comes_again_raises_nothing);
	return unit_run(suite);
}
