/* Orchestrator: every verb on every kind of item, written, read back, and meaning the same. */
#include "encode.h"
#include "decide/question.h"

#define ASK "aaaaaaaa-0000-4000-8000-000000000001"
#define EVENT "bbbbbbbb-0000-4000-8000-000000000002"
#define TASK "cccccccc-0000-4000-8000-000000000003"

static struct bench b;

static void setup(void)
{
	bench_init(&b);
	b.model.runs_agents = true;
}

static void teardown(void)
{
	bench_release(&b);
}

/* Even if its options break the protocol. */
static void add_question_as_it_is(const char *options)
{
	char line[1024];

	snprintf(line, sizeof(line),
		 "{\"type\":\"request:ask-user\",\"id\":\"" ASK "\",\"timestamp\":"
		 "\"2026-02-04T14:30:00Z\",\"agentId\":\"agent-1\",\"payload\":{\"question\":"
		 "\"Which one?\"%s,\"timeout\":300000}}",
		 options);
	bench_add(&b, line);
}

static void add_question(const char *options)
{
	add_question_as_it_is(options);
	ck_assert_uint_eq(b.worse.n, 0);
}

#define OPTIONS \
	",\"options\":[{\"label\":\"OAuth 2.0\",\"value\":\"oauth\"}," \
	"{\"label\":\"JWT\",\"value\":\"jwt\"},{\"label\":\"jwt\",\"value\":\"2\"}]"

static void add_event(void)
{
	bench_add(&b, "{\"type\":\"event:question\",\"id\":\"" EVENT "\",\"timestamp\":"
		      "\"2026-02-04T14:30:00Z\",\"agentId\":\"agent-1\",\"payload\":{\"question\":"
		      "\"Proceed?\",\"context\":{\"files\":15}}}");
	ck_assert_uint_eq(b.worse.n, 0);
}

static void add_task(void)
{
	bench_add(&b, "{\"type\":\"request:submit-task\",\"id\":\"" TASK "\",\"timestamp\":"
		      "\"2026-02-04T14:30:00Z\",\"agentId\":\"agent-1\",\"payload\":{\"type\":"
		      "\"implementation\",\"name\":\"Fix\",\"description\":\"All of it\",\"payload\":"
		      "{\"file\":\"a.ts\"},\"requiredRole\":\"worker\",\"requiredCapabilities\":"
		      "[\"typescript\"],\"dependencies\":[\"task-1\"],\"priority\":2}}");
	ck_assert_uint_eq(b.worse.n, 0);
}

static yyjson_val *parsed(struct json_reader *r, const struct proposal *p)
{
	yyjson_val *root;

	ck_assert_int_eq(json_read(r, p->letter.bytes, &root), JSON_OK);
	return root;
}

static const struct {
	const char *typed, *options, *written;
	bool free;
} answers[] = {
	{ "oauth", OPTIONS, "oauth" },
	{ "OAuth 2.0", OPTIONS, "oauth" },
	{ " oauth ", OPTIONS, "oauth" },
	/* a number is no option's, and is sent as it was typed */
	{ "1", OPTIONS, "1", true },
	{ "3", OPTIONS, "3", true },
	/* a value counts before a label */
	{ "jwt", OPTIONS, "jwt" },
	{ "2", OPTIONS, "2" },
	{ "neither \"of\" them", OPTIONS, "neither \"of\" them", true },
	{ "as you like", "", "as you like" },
	{ "1", ",\"options\":[]", "1" },
};

START_TEST(an_answer_is_the_options_value_or_the_text)
{
	struct json_reader r = { 0 };
	struct proposal *p;
	yyjson_val *root;
	int64_t at;

	add_question(answers[_i].options);
	bench_stage(&b, ITEM_QUESTION, ASK, VERB_ANSWER)->answer = str_of(answers[_i].typed);
	p = bench_ready(&b);
	ck_assert_int_eq(p->cautions.n, answers[_i].free);
	ck_assert(!answers[_i].free || bench_cautions(p, "not one of the options"));
	assert_str(p->letter.to, "agent-1");
	root = parsed(&r, p);
	assert_str(json_get_str(root, "type"), "response:success");
	assert_str(json_get_str(root, "correlationId"), ASK);
	ck_assert(is_uuid(json_get_str(root, "id"), true));
	assert_str(json_get_str(root, "timestamp"), "2026-02-04T14:30:00Z");
	root = json_get(root, "payload");
	ck_assert_msg(str_is(json_get_str(root, "answer"), answers[_i].written), "%s",
		      p->letter.bytes.p);
	ck_assert(timestamp_parse_iso(json_get_str(json_get(root, "metadata"), "answeredAt"), &at));
	bench_apply(&b, p);
	bench_verdict(&b, ITEM_QUESTION, ASK, VERDICT_ANSWERED);
	json_reader_release(&r);
}
END_TEST

static const struct {
	uint32_t number;
	const char *options, *written, *refused;
} choices[] = {
	{ 1, OPTIONS, "oauth" },
	{ 3, OPTIONS, "2" },
	{ 2, ",\"options\":[{\"label\":\"Yes\"},{\"label\":\"Yes\"}]", "Yes" },
	{ 1, ",\"options\":[{\"label\":\"Five\",\"value\":5}]", "5" },
	{ 0, OPTIONS, .refused = "there is no option 0; its options are 1 to 3" },
	{ 4, OPTIONS, .refused = "there is no option 4; its options are 1 to 3" },
	{ 1, ",\"options\":[\"yes\"]", .refused = "option 1 is damaged" },
	{ 1, ",\"options\":[]", .refused = "it offers no options" },
	{ 1, "", .refused = "it offers no options" },
};

START_TEST(an_option_is_chosen_by_its_number)
{
	struct item_state at;
	struct draft *d;
	struct err err;
	char wanted[64];
	int rc;

	add_question_as_it_is(choices[_i].options);
	d = bench_stage(&b, ITEM_QUESTION, ASK, VERB_ANSWER);
	at = bench_state(&b, d->number);
	rc = draft_choose(d, &b.reader, &b.model.items.v[d->number], &at, choices[_i].number,
			  &b.arena, &err);
	ck_assert_int_eq(rc, choices[_i].refused ? -1 : 0);
	if (rc) {
		ck_assert_msg(strstr(err.text, choices[_i].refused) != NULL, "%s", err.text);
		return;
	}
	ck_assert_uint_eq(d->option, choices[_i].number);
	ck_assert(str_is(d->answer, choices[_i].written));
	snprintf(wanted, sizeof(wanted), "\"answer\":\"%s\"", choices[_i].written);
	ck_assert(strstr(bench_ready(&b)->letter.bytes.p, wanted) != NULL);
}
END_TEST

static const struct {
	const char *typed;
	uint32_t option;
} numbers[] = { { "1", 1 }, { " 3 ", 3 }, { "2", 0 }, { "4", 0 }, { "jwt", 0 }, { "any", 0 } };

START_TEST(a_number_is_an_option_unless_it_is_a_value_or_label)
{
	struct item_state at;
	struct draft *d;

	add_question(OPTIONS);
	d = bench_stage(&b, ITEM_QUESTION, ASK, VERB_ANSWER);
	d->answer = str_of(numbers[_i].typed);
	at = bench_state(&b, d->number);
	draft_choose_numbered(d, &b.reader, &b.model.items.v[d->number], &at, &b.arena);
	ck_assert_uint_eq(d->option, numbers[_i].option);
}
END_TEST

START_TEST(a_label_that_two_options_have_is_not_guessed)
{
	add_question(",\"options\":[{\"label\":\"Yes\",\"value\":\"y\"},"
		     "{\"label\":\"Yes\",\"value\":\"n\"}]");
	bench_stage(&b, ITEM_QUESTION, ASK, VERB_ANSWER)->answer = STR("Yes");
	bench_lacks(&b, "several options have this label");
}
END_TEST

START_TEST(an_answer_needs_a_text)
{
	add_question(OPTIONS);
	bench_stage(&b, ITEM_QUESTION, ASK, VERB_ANSWER)->answer = STR("  ");
	bench_lacks(&b, "an answer needs its text");
}
END_TEST

START_TEST(a_question_is_rejected_with_the_reason)
{
	struct json_reader r = { 0 };
	struct draft *d;
	struct proposal *p;
	yyjson_val *error;

	add_question(OPTIONS);
	d = bench_stage(&b, ITEM_QUESTION, ASK, VERB_REJECT);
	if (_i != 1)
		d->explanation = STR("Ask the owner.");
	if (_i != 0)
		d->reason_code = STR("out_of_scope");
	p = bench_ready(&b);
	assert_str(json_get_str(parsed(&r, p), "type"), "response:error");
	error = json_get(parsed(&r, p), "error");
	assert_str(json_get_str(error, "code"), "UNAUTHORIZED");
	ck_assert(str_is(json_get_str(error, "message"),
			 _i == 1 ? "out_of_scope" : "Ask the owner."));
	ck_assert(str_is(json_get_str(json_get(error, "details"), "reason_code"),
			 _i == 2 ? "out_of_scope" : NULL));
	bench_apply(&b, p);
	bench_verdict(&b, ITEM_QUESTION, ASK, VERDICT_REJECTED);
	json_reader_release(&r);
}
END_TEST

START_TEST(a_rejection_needs_a_reason)
{
	add_question(OPTIONS);
	bench_stage(&b, ITEM_QUESTION, ASK, VERB_REJECT);
	bench_lacks(&b, "needs a reason");
}
END_TEST

START_TEST(an_event_can_be_answered_but_nobody_promises_to_read_it)
{
	struct proposal *p;

	add_event();
	bench_stage(&b, ITEM_QUESTION, EVENT, VERB_ANSWER)->answer = STR("Yes, do.");
	p = bench_ready(&b);
	ck_assert(bench_cautions(p, "does not promise that this is read"));
	bench_apply(&b, p);
	bench_verdict(&b, ITEM_QUESTION, EVENT, VERDICT_ANSWERED);
}
END_TEST

START_TEST(an_event_cannot_be_rejected)
{
	add_event();
	bench_stage(&b, ITEM_QUESTION, EVENT, VERB_REJECT)->explanation = STR("No.");
	bench_refuses(&b, "can't reject this item; available: answer, dismiss, escalate");
}
END_TEST

START_TEST(a_task_is_queued_as_it_was_submitted)
{
	struct json_reader r = { 0 };
	struct proposal *p;
	yyjson_val *task;

	add_task();
	bench_stage(&b, ITEM_TASK, TASK, VERB_ACCEPT);
	p = bench_ready(&b);
	task = json_get(json_get(parsed(&r, p), "payload"), "task");
	ck_assert(str_starts(json_get_str(task, "id"), STR("task-")));
	assert_str(json_get_str(task, "status"), "queued");
	assert_str(json_get_str(task, "name"), "Fix");
	assert_str(json_get_str(json_get(task, "payload"), "file"), "a.ts");
	ck_assert_uint_eq(yyjson_arr_size(json_get(task, "dependencies")), 1);
	bench_apply(&b, p);
	bench_verdict(&b, ITEM_TASK, TASK, VERDICT_ACCEPTED);
	json_reader_release(&r);
}
END_TEST

START_TEST(what_a_task_says_wrongly_is_not_repeated)
{
	struct proposal *p;

	bench_add(&b, "{\"type\":\"request:submit-task\",\"id\":\"" TASK "\",\"timestamp\":"
		      "\"2026-02-04T14:30:00Z\",\"payload\":{\"name\":7,\"requiredRole\":[],"
		      "\"dependencies\":[1],\"requiredCapabilities\":{}}}");
	bench_stage(&b, ITEM_TASK, TASK, VERB_ACCEPT);
	p = bench_ready(&b);
	ck_assert_int_lt(str_find(p->letter.bytes, STR("dependencies"), 0), 0);
	bench_apply(&b, p);
	bench_verdict(&b, ITEM_TASK, TASK, VERDICT_ACCEPTED);
}
END_TEST

START_TEST(a_task_is_rejected_with_the_reason)
{
	struct proposal *p;

	add_task();
	bench_stage(&b, ITEM_TASK, TASK, VERB_REJECT)->explanation = STR("Not now.");
	p = bench_ready(&b);
	ck_assert_int_ge(str_find(p->letter.bytes, STR("UNAUTHORIZED"), 0), 0);
	bench_apply(&b, p);
	bench_verdict(&b, ITEM_TASK, TASK, VERDICT_REJECTED);
}
END_TEST

START_TEST(tasks_need_a_person_only_where_gavel_runs_the_agent)
{
	b.model.runs_agents = false;
	add_task();
	ck_assert_uint_eq(b.model.items.n, 0);
}
END_TEST

START_TEST(what_the_log_has_answered_is_not_answered_again)
{
	add_question(OPTIONS);
	bench_stage(&b, ITEM_QUESTION, ASK, VERB_ANSWER)->answer = STR("jwt");
	bench_add(&b, "{\"type\":\"response:success\",\"id\":\"dddddddd-0000-4000-8000-000000000004\","
		      "\"correlationId\":\"" ASK "\",\"timestamp\":\"2026-02-04T14:31:00Z\","
		      "\"payload\":{\"answer\":\"oauth\"}}");
	bench_plan(&b);
	ck_assert_uint_eq(b.plan.refused.n, 1);
	ck_assert(!plan_is_ready(&b.plan));
}
END_TEST

START_TEST(a_question_whose_time_is_over_is_not_answered)
{
	add_question(OPTIONS);
	bench_stage(&b, ITEM_QUESTION, ASK, VERB_ANSWER)->answer = STR("jwt");
	bench_add(&b, "{\"type\":\"event:log\",\"id\":\"dddddddd-0000-4000-8000-000000000004\","
		      "\"timestamp\":\"2026-02-04T14:35:01Z\",\"agentId\":\"agent-1\","
		      "\"payload\":{\"level\":\"info\",\"message\":\"Still here\"}}");
	bench_plan(&b);
	ck_assert_uint_eq(b.plan.refused.n, 1);
	ck_assert(!plan_is_ready(&b.plan));
}
END_TEST

START_TEST(a_fatal_error_is_dismissed_and_nothing_is_written)
{
	struct proposal *p;

	bench_add(&b, "{\"type\":\"event:error\",\"id\":\"" EVENT "\",\"timestamp\":"
		      "\"2026-02-04T14:30:00Z\",\"payload\":{\"taskId\":\"task-1\",\"error\":"
		      "\"TypeError\",\"recoverable\":false}}");
	bench_stage(&b, ITEM_ERROR, EVENT, VERB_DISMISS);
	p = bench_only(&b);
	ck_assert_uint_eq(p->missing.n, 0);
	ck_assert_int_eq(p->letter.channel, CHANNEL_NONE);
	ck_assert_uint_eq(p->letter.bytes.n, 0);
}
END_TEST

START_TEST(an_escalation_without_a_queue_lacks_one)
{
	add_question(OPTIONS);
	bench_stage(&b, ITEM_QUESTION, ASK, VERB_ESCALATE)->explanation = STR("Not mine.");
	bench_plan(&b);
	ck_assert(!plan_is_ready(&b.plan));
}
END_TEST

/* The page may stand open for a while before y is pressed. */
START_TEST(a_plan_is_over_with_its_question)
{
	const int64_t timeout_ms = 300000;
	int64_t asked_ms;

	add_question("");
	asked_ms = b.terms.now_ms;
	bench_stage(&b, ITEM_QUESTION, ASK, VERB_ANSWER)->answer = STR("yes");
	bench_ready(&b);
	ck_assert(plan_is_current(&b.plan, &b.model, &b.reader, asked_ms + timeout_ms - 1));
	ck_assert(!plan_is_current(&b.plan, &b.model, &b.reader, asked_ms + timeout_ms + 1));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("encode_orchestrator");
	TCase *t = tcase_create("verbs");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_loop_test(t, an_answer_is_the_options_value_or_the_text, 0,
			    sizeof(answers) / sizeof(answers[0]));
	tcase_add_loop_test(t, an_option_is_chosen_by_its_number, 0,
			    sizeof(choices) / sizeof(choices[0]));
	tcase_add_loop_test(t, a_number_is_an_option_unless_it_is_a_value_or_label, 0,
			    sizeof(numbers) / sizeof(numbers[0]));
	tcase_add_test(t, a_label_that_two_options_have_is_not_guessed);
	tcase_add_test(t, an_answer_needs_a_text);
	tcase_add_test(t, a_plan_is_over_with_its_question);
	tcase_add_loop_test(t, a_question_is_rejected_with_the_reason, 0, 3);
	tcase_add_test(t, a_rejection_needs_a_reason);
	tcase_add_test(t, an_event_can_be_answered_but_nobody_promises_to_read_it);
	tcase_add_test(t, an_event_cannot_be_rejected);
	tcase_add_test(t, a_task_is_queued_as_it_was_submitted);
	tcase_add_test(t, what_a_task_says_wrongly_is_not_repeated);
	tcase_add_test(t, a_task_is_rejected_with_the_reason);
	tcase_add_test(t, tasks_need_a_person_only_where_gavel_runs_the_agent);
	tcase_add_test(t, what_the_log_has_answered_is_not_answered_again);
	tcase_add_test(t, a_question_whose_time_is_over_is_not_answered);
	tcase_add_test(t, a_fatal_error_is_dismissed_and_nothing_is_written);
	tcase_add_test(t, an_escalation_without_a_queue_lacks_one);
	suite_add_tcase(suite, t);
	return unit_run(suite);
}
