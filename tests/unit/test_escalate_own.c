/* What was written here, and is in no log, goes with an item to the escalation queue; what was
 * answered from a queue counts when the next answer is written, there and here. */
#include "encode.h"

#include <stdlib.h>
#include <unistd.h>

#define REPLIES "/tmp/gavel-unit-replies.ndjson"
#define QUEUE "/tmp/gavel-unit-queue.ndjson"

static struct bench first, second;

static void setup(void)
{
	bench_init(&first);
	bench_open(&second, QUEUE);
	first.terms.now_ms = second.terms.now_ms = INT64_C(1770379200000);
	second.terms.as = STR("bob");
	second.terms.reply = REPLIES;
}

static void teardown(void)
{
	bench_release(&first);
	bench_release(&second);
}

/* Sends all that is staged, as if it had gone to a file that nobody reads again. */
static void send_all(struct bench *b)
{
	bench_plan(b);
	assert_ready(&b->plan);
	for (uint32_t i = 0; i < b->plan.list.n; i++)
		bench_send(b, &b->plan.list.v[i]);
}

static void decide(struct bench *b, enum item_kind kind, const char *name, enum verb verb)
{
	bench_decide(b, bench_item(b, kind, name), verb, "words", "ann")->sure = true;
}

enum { PATH_SIZE = 32 };
static char shared[PATH_SIZE];

static void make_file(char path[PATH_SIZE], struct str text)
{
	int fd;

	strcpy(path, "/tmp/gavel-own-XXXXXX");
	fd = mkstemp(path);
	ck_assert_int_eq(write(fd, text.p, text.n), (ssize_t)text.n);
	close(fd);
}

/* The file that replies go to now has what the second wrote last. */
static void share_last(void)
{
	make_file(shared, vec_last(&second.desk.letters)->bytes);
	second.terms.reply = shared;
	bench_say(&first, vec_last(&second.desk.letters)->bytes, NULL);
}

/* The first person passes it on, the second has it in the queue. */
static void pass_on(enum item_kind kind, const char *name)
{
	first.terms.escalate_to = QUEUE;
	decide(&first, kind, name, VERB_ESCALATE);
	send_all(&first);
	first.terms.escalate_to = NULL;
	for (uint32_t i = 0; i < first.plan.list.n; i++)
		if (str_is(first.plan.list.v[i].letter.path, QUEUE))
			bench_add_str(&second, first.plan.list.v[i].letter.bytes);
	assert_clean(&second);
}

static void answer(const char *name, enum verb verb)
{
	decide(&second, ITEM_ESCALATION, name, verb);
	send_all(&second);
}

/* Everything together: what the first wrote stands where it was written. */
static void check_all(void)
{
	struct bench all;

	bench_init(&all);
	for (uint32_t i = 0; i < first.lines.n; i++)
		if (message_reply(&first.model, i))
			bench_say(&all, first.lines.v[i], NULL);
		else
			bench_add_str(&all, first.lines.v[i]);
	for (uint32_t i = 0; i < second.desk.letters.n; i++)
		if (!str_eq(str_trim(second.desk.letters.v[i].bytes), *vec_last(&first.lines)))
			bench_say(&all, second.desk.letters.v[i].bytes, NULL);
	assert_clean(&all);
	bench_release(&all);
}

/* ---- feedback ---- */

#define REQUEST(content) \
	"{\"protocol_version\":\"1.2\",\"iteration\":1,\"artifact\":{\"media_type\":\"text/plain\"," \
	"\"content\":\"" content "\"}}"
#define AREA(id) "{\"id\":\"" id "\",\"aspect\":\"a\",\"description\":\"d\",\"recommendation\":\"r\"}"

static void respond(const char *session, int iteration, const char *ack, const char *areas)
{
	struct buf line = { 0 }, inner = { 0 };

	buf_printf(&inner,
		   "{\"protocol_version\":\"1.2\",\"iteration\":%d,\"status\":\"success\"%s,"
		   "\"feedback\":{\"confidence\":{\"level\":\"high\",\"justification\":\"j\"},"
		   "\"positive_points\":[],\"areas_for_improvement\":[%s],\"general_summary\":\"s\"}}",
		   iteration, ack, areas);
	buf_printf(&line,
		   "{\"type\":\"text\",\"timestamp\":1761021546835,\"sessionID\":\"%s\",\"part\":{"
		   "\"type\":\"text\",\"text\":",
		   session);
	json_write_str(&line, buf_str(&inner));
	buf_adds(&line, "}}");
	bench_add_str(&first, buf_str(&line));
	buf_release(&inner);
	buf_release(&line);
}

#define ACK(id) \
	",\"applied_feedback_ack\":{\"items\":[{\"id\":\"" id \
	"\",\"processing_status\":\"acknowledged\"}]}"

static struct str last_letter(const struct bench *b)
{
	return vec_last(&b->desk.letters)->bytes;
}

static bool has(struct str s, const char *part)
{
	return str_find(s, str_of(part), 0) >= 0;
}

/* The Request of turn 2 is in no log; the answer from above is that of turn 3. */
START_TEST(an_answer_goes_on_from_a_request_that_was_written_here)
{
	char path[PATH_SIZE];

	make_file(path, STR("two\n"));
	first.terms.artifact = path;
	bench_add(&first, REQUEST("one"));
	respond("ses_1", 1, "", AREA("item-one-1"));
	decide(&first, ITEM_IMPROVEMENT, "item-one-1", VERB_ACCEPT);
	send_all(&first);
	first.terms.artifact = NULL;
	unlink(path);
	respond("ses_1", 2, ACK("item-one-1"), AREA("item-two-2"));
	pass_on(ITEM_IMPROVEMENT, "item-two-2");
	answer("item-two-2", VERB_REJECT);
	ck_assert(has(last_letter(&second), "\"iteration\":3"));
	ck_assert(has(last_letter(&second), "\"content\":\"two\\n\",\"artifact_ref\":\"sha256:"));
	check_all();
}
END_TEST

/* This turn's Request is written: what it left out can no longer be answered from above. */
START_TEST(a_turn_that_was_ended_here_is_not_ended_again)
{
	bench_add(&first, REQUEST("one"));
	respond("ses_1", 1, "", AREA("item-one-1") "," AREA("item-two-2"));
	decide(&first, ITEM_IMPROVEMENT, "item-one-1", VERB_REJECT);
	send_all(&first);
	first.terms.escalate_to = QUEUE;
	decide(&first, ITEM_IMPROVEMENT, "item-two-2", VERB_ESCALATE);
	bench_refuses(&first, "the Request of iteration 2 is written; it can be decided if it is "
			      "raised again");
}
END_TEST

START_TEST(one_turn_is_answered_once_from_a_queue)
{
	bench_add(&first, REQUEST("one"));
	respond("ses_1", 1, "", AREA("item-one-1") "," AREA("item-two-2"));
	pass_on(ITEM_IMPROVEMENT, "item-one-1");
	pass_on(ITEM_IMPROVEMENT, "item-two-2");
	answer("item-one-1", VERB_REJECT);
	share_last();
	decide(&second, ITEM_ESCALATION, "item-two-2", VERB_REJECT);
	bench_lacks(&second, "superseded");
	unlink(shared);
	check_all();
}
END_TEST

/* What is not certain here is not certain there. */
START_TEST(an_artifact_that_may_be_anothers_is_not_passed_on)
{
	bench_add(&first, REQUEST("one"));
	bench_add(&first, REQUEST("two"));
	respond("ses_1", 1, "", AREA("item-one-1"));
	respond("ses_2", 1, "", AREA("item-two-2"));
	pass_on(ITEM_IMPROVEMENT, _i ? "item-two-2" : "item-one-1");
	decide(&second, ITEM_ESCALATION, _i ? "item-two-2" : "item-one-1", VERB_REJECT);
	bench_lacks(&second, "attach one");
}
END_TEST

/* Somebody else's Request is in the file that replies go to, not in the log. */
START_TEST(a_turn_goes_on_from_somebody_elses_request)
{
	char path[PATH_SIZE];

	make_file(path, STR("theirs\n"));
	bench_add(&first, REQUEST("one"));
	respond("ses_1", 1, "", AREA("item-one-1") "," AREA("item-two-2"));
	pass_on(ITEM_IMPROVEMENT, "item-one-1");
	second.terms.artifact = path;
	answer("item-one-1", VERB_ACCEPT);
	unlink(path);
	share_last();
	decide(&first, ITEM_IMPROVEMENT, "item-two-2", VERB_REJECT);
	bench_refuses(&first, "the Request of iteration 2 is written");
	vec_last(&first.desk.drafts)->state = DRAFT_VOID;
	respond("ses_1", 2, ACK("item-one-1"), AREA("item-three-3"));
	decide(&first, ITEM_IMPROVEMENT, "item-three-3", VERB_REJECT);
	send_all(&first);
	unlink(shared);
	ck_assert(has(last_letter(&first), "\"iteration\":3"));
	ck_assert(has(last_letter(&first), "\"content\":\"theirs\\n\""));
}
END_TEST

/* ---- collaboration ---- */

#define ARCH "{\"agent_id\":\"arch\",\"agent_type\":\"architect\"}"
#define DEV "{\"agent_id\":\"dev\",\"agent_type\":\"developer\"}"
#define REV "{\"agent_id\":\"rev\",\"agent_type\":\"reviewer\"}"
#define FINDING(id) \
	"{\"finding_id\":\"" id "\",\"severity\":\"minor\",\"category\":\"bug\",\"location\":{\"file\":" \
	"\"a.c\"},\"description\":\"d\",\"rationale\":\"r\"}"

static void say(const char *from, const char *to, const char *type, const char *payload)
{
	struct buf b = { 0 };
	uint32_t n = first.lines.n + 1;

	buf_printf(&b,
		   "{\"message_id\":\"00000000-0000-4000-8000-%012u\",\"timestamp\":"
		   "\"2026-02-06T11:00:%02uZ\",\"sequence_number\":%u,\"from_agent\":%s,\"to_agent\":%s,"
		   "\"message_type\":\"%s\",\"correlation_id\":\"c1\",\"payload\":%s}",
		   n, n, n, from, to, type, payload);
	bench_add_str(&first, buf_str(&b));
	buf_release(&b);
}

static void review(const char *review, const char *task)
{
	char payload[2048];

	snprintf(payload, sizeof(payload),
		 "{\"review_id\":\"%s\",\"task_id\":\"%s\",\"scope\":{\"files\":[],\"focus_areas\":[]},"
		 "\"criteria\":{\"must_pass_tests\":true,\"must_pass_type_check\":true},\"context\":{"
		 "\"task_description\":\"Draw\",\"acceptance_criteria\":[]}}",
		 review, task);
	say(ARCH, REV, "review_request", payload);
	snprintf(payload, sizeof(payload),
		 "{\"review_id\":\"%s\",\"task_id\":\"%s\",\"verdict\":\"changes_requested\","
		 "\"findings\":[" FINDING("f-1") "," FINDING("f-2") "," FINDING("f-3")
		 "],\"verification\":{\"tests\":{\"passed\":true},\"type_check\":{\"passed\":true},"
		 "\"custom\":{}},\"summary\":\"s\"}",
		 review, task);
	say(REV, ARCH, "review_result", payload);
}

static void complete(const char *task)
{
	char payload[1024];

	snprintf(payload, sizeof(payload),
		 "{\"task_id\":\"%s\",\"status\":\"completed\",\"summary\":\"s\",\"changes\":{"
		 "\"files_created\":[],\"files_modified\":[],\"files_deleted\":[]},\"self_review\":{"
		 "\"tests_run\":true,\"tests_passed\":true,\"type_check_passed\":true}}",
		 task);
	say(DEV, ARCH, "task_completion", payload);
}

static void reviewed_task(void)
{
	say(ARCH, DEV, "task_assignment",
	    "{\"task\":{\"task_id\":\"T1\",\"task_description\":\"Draw\",\"context\":{\"specs\":[],"
	    "\"reference_files\":[]},\"constraints\":{\"scope\":[\"**\"],\"testing_required\":true,"
	    "\"must_not_break\":[]},\"acceptance_criteria\":[]},\"priority\":\"low\"}");
	complete("T1");
	review("R1", "T1");
}

/* Both give the task out again, and neither sees what the other writes. */
START_TEST(ids_of_tasks_differ_from_those_given_out_elsewhere)
{
	reviewed_task();
	decide(&first, ITEM_FINDING, "R1/f-1", VERB_ACCEPT);
	send_all(&first);
	ck_assert(has(last_letter(&first), "\"task_id\":\"T1-rev-1\""));
	pass_on(ITEM_FINDING, "R1/f-2");
	pass_on(ITEM_FINDING, "R1/f-3");
	answer("R1/f-2", VERB_ACCEPT);
	ck_assert(has(last_letter(&second), "\"task_id\":\"T1-rev-2-"));
	answer("R1/f-3", VERB_ACCEPT);
	ck_assert(has(last_letter(&second), "\"task_id\":\"T1-rev-3-"));
	check_all();
}
END_TEST

/* The next revision of such a task is one of the first task, not of that name. */
START_TEST(ids_that_were_kept_apart_are_counted)
{
	reviewed_task();
	pass_on(ITEM_FINDING, "R1/f-1");
	answer("R1/f-1", VERB_ACCEPT);
	bench_say(&first, last_letter(&second), NULL);
	decide(&first, ITEM_FINDING, "R1/f-2", VERB_ACCEPT);
	send_all(&first);
	ck_assert(has(last_letter(&first), "\"task_id\":\"T1-rev-2\""));
}
END_TEST

/* The assignment of T1-rev-1 is in no log; the second person copies it all the same. */
START_TEST(a_task_that_was_assigned_here_is_assigned_again_from_above)
{
	reviewed_task();
	decide(&first, ITEM_FINDING, "R1/f-1", VERB_ACCEPT);
	send_all(&first);
	complete("T1-rev-1");
	review("R2", "T1-rev-1");
	pass_on(ITEM_FINDING, "R2/f-1");
	answer("R2/f-1", VERB_ACCEPT);
	ck_assert(has(last_letter(&second), "\"task_id\":\"T1-rev-2-"));
	ck_assert(has(last_letter(&second), "\"task_description\":\"Draw\""));
}
END_TEST

START_TEST(a_task_that_somebody_else_assigned_is_assigned_again)
{
	char task[64];
	ptrdiff_t at;

	reviewed_task();
	pass_on(ITEM_FINDING, "R1/f-1");
	answer("R1/f-1", VERB_ACCEPT);
	share_last();
	at = str_find(last_letter(&second), STR("T1-rev-1-"), 0);
	ck_assert_int_gt(at, 0);
	snprintf(task, sizeof(task), "%.17s", last_letter(&second).p + at);
	complete(task);
	review("R2", task);
	decide(&first, ITEM_FINDING, "R2/f-1", VERB_ACCEPT);
	send_all(&first);
	unlink(shared);
	ck_assert(has(last_letter(&first), "\"task_id\":\"T1-rev-2\""));
	ck_assert(has(last_letter(&first), "\"task_description\":\"Draw\""));
}
END_TEST

/* ---- envelopes ---- */

#define OUTPUT(summary) \
	"{\"success\":false,\"summary\":\"" summary \
	"\",\"artifacts\":[],\"recommendation\":\"retry\",\"notes\":[\"n\"]}"

/* The second input is in no log; what comes after the second output is the third. */
START_TEST(an_input_that_was_written_here_is_counted)
{
	bench_add(&first, "{\"context\":{\"feature_id\":\"f\",\"workflow\":\"plan\",\"iteration\":1},"
			  "\"paths\":{},\"task\":{\"action\":\"plan\",\"params\":{}}}");
	bench_add(&first, OUTPUT("one"));
	decide(&first, ITEM_RETRY, NULL, VERB_ACCEPT);
	send_all(&first);
	ck_assert(has(last_letter(&first), "\"iteration\":2"));
	bench_add(&first, OUTPUT("two"));
	if (!_i) {
		decide(&first, ITEM_RETRY, NULL, VERB_REJECT);
		send_all(&first);
		ck_assert(has(last_letter(&first), "\"iteration\":3"));
		return;
	}
	pass_on(ITEM_RETRY, NULL);
	answer(NULL, VERB_REJECT);
	ck_assert(has(last_letter(&second), "\"iteration\":3"));
	share_last();
	bench_add(&first, OUTPUT("three"));
	decide(&first, ITEM_RETRY, NULL, VERB_REJECT);
	send_all(&first);
	unlink(shared);
	ck_assert(has(last_letter(&first), "\"iteration\":4"));
}
END_TEST

int main(void)
{
	Suite *s = suite_create("escalate_own");
	TCase *t = tcase_create("own");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, an_answer_goes_on_from_a_request_that_was_written_here);
	tcase_add_test(t, a_turn_that_was_ended_here_is_not_ended_again);
	tcase_add_test(t, one_turn_is_answered_once_from_a_queue);
	tcase_add_test(t, a_turn_goes_on_from_somebody_elses_request);
	tcase_add_loop_test(t, an_artifact_that_may_be_anothers_is_not_passed_on, 0, 2);
	tcase_add_test(t, ids_of_tasks_differ_from_those_given_out_elsewhere);
	tcase_add_test(t, ids_that_were_kept_apart_are_counted);
	tcase_add_test(t, a_task_that_was_assigned_here_is_assigned_again_from_above);
	tcase_add_test(t, a_task_that_somebody_else_assigned_is_assigned_again);
	tcase_add_loop_test(t, an_input_that_was_written_here_is_counted, 0, 2);
	suite_add_tcase(s, t);
	return unit_run(s);
}
