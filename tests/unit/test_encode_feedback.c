/* Feedback: every verb on every kind of item, written as one Request a turn, read back, and meaning
 * the same; the artifact that goes with it; and what cannot be said. */
#include "encode/attach.h"

#include "encode.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#define ONE "scope-lacks-detail-01"
#define TWO "contrast-is-too-low-02"
#define THREE "names-are-not-clear-03"

static struct bench b;
static char folder[] = "/tmp/gavel-encode-XXXXXX";

static void setup(void)
{
	bench_init(&b);
}

static void teardown(void)
{
	bench_release(&b);
}

#define ARTIFACT \
	"{ \"media_type\": \"text/markdown\", \"content\": \"# Dark\\u0020mode\\n\", " \
	"\"x-size\": 1.50 }"

static void add_request(int iteration, const char *artifact, const char *more)
{
	char line[2048];

	snprintf(line, sizeof(line),
		 "{\"protocol_version\":\"1.2\",\"iteration\":%d,\"artifact\":%s%s}", iteration,
		 artifact, more);
	bench_add(&b, line);
}

/* A response; session NULL = bare, else inside the tool's text line. */
static void add_response(const char *session, const char *response)
{
	struct buf line = { 0 };

	if (!session) {
		bench_add(&b, response);
		return;
	}
	buf_printf(&line, "{\"type\":\"text\",\"timestamp\":1761021546835,\"sessionID\":\"%s\","
			  "\"part\":{\"id\":\"p\",\"type\":\"text\",\"text\":",
		   session);
	json_write_str(&line, str_of(response));
	buf_adds(&line, "}}");
	bench_add_str(&b, buf_str(&line));
	buf_release(&line);
}

/* A response that may break a rule. */
static void put_areas(const char *session, int iteration, const char *ack, const char *one,
		      const char *two, const char *three)
{
	const char *ids[] = { one, two, three };
	struct buf line = { 0 };

	buf_printf(&line, "{\"protocol_version\":\"1.2\",\"iteration\":%d,\"status\":\"success\"%s,"
			  "\"feedback\":{\"confidence\":{\"level\":\"high\",\"justification\":\"j\"},"
			  "\"positive_points\":[],\"areas_for_improvement\":[",
		   iteration, ack);
	for (int i = 0; i < 3 && ids[i]; i++)
		buf_printf(&line, "%s{\"id\":\"%s\",\"aspect\":\"a\",\"description\":\"d\","
				  "\"recommendation\":\"r\"}",
			   i ? "," : "", ids[i]);
	buf_adds(&line, "],\"general_summary\":\"Good.\"}}");
	add_response(session, line.p);
	buf_release(&line);
}

static void add_areas(const char *session, int iteration, const char *ack, const char *one,
		      const char *two, const char *three)
{
	put_areas(session, iteration, ack, one, two, three);
	ck_assert_msg(b.worse.n == 0, "%s", b.worse.p);
}

static void add_error(const char *session, int iteration)
{
	char line[512];

	snprintf(line, sizeof(line), "{\"protocol_version\":\"1.2\",\"iteration\":%d,\"status\":"
				     "\"error\",\"error\":{\"code\":\"INTERNAL_ERROR\",\"message\":"
				     "\"Broken.\"}}",
		 iteration);
	add_response(session, line);
}

/* One turn: an artifact and what is said about it. */
static void add_turn(const char *session)
{
	add_request(1, ARTIFACT, "");
	add_areas(session, 1, "", ONE, TWO, THREE);
}

/* A file in the test's folder. */
static const char *write_file(const char *name, struct str content)
{
	const char *path = arena_printf(&b.arena, "%s/%s", folder, name);
	FILE *f = fopen(path, "wb");

	ck_assert_ptr_nonnull(f);
	ck_assert_uint_eq(fwrite(content.p, 1, content.n, f), content.n);
	ck_assert_int_eq(fclose(f), 0);
	return path;
}

static bool says(const struct proposal *p, const char *words)
{
	return str_find(p->letter.bytes, str_of(words), 0) >= 0;
}

static const char *const sessions[] = { NULL, "ses_1" };

START_TEST(a_turns_decisions_go_out_in_one_request)
{
	struct draft *d;
	struct proposal *p;

	add_turn(sessions[_i]);
	/* decided in another order than they stand in the response */
	d = bench_stage(&b, ITEM_IMPROVEMENT, THREE, VERB_REJECT);
	d->reason_code = STR("out_of_scope");
	d->explanation = STR("Later; \"see\" above.");
	bench_stage(&b, ITEM_IMPROVEMENT, ONE, VERB_ACCEPT)->sure = true;
	d = bench_stage(&b, ITEM_IMPROVEMENT, TWO, VERB_PARTIAL);
	d->explanation = STR("The main page only.");
	d->sure = true;
	p = bench_ready(&b);
	ck_assert_uint_eq(p->letter.drafts.n, 3);
	ck_assert_uint_eq(p->cautions.n, 0);
	ck_assert(!p->needs_sure);
	assert_str(p->letter.bytes,
		   "{\"protocol_version\":\"1.2\",\"iteration\":2,\"artifact\":" ARTIFACT ","
		   "\"applied_feedback\":{\"items\":["
		   "{\"id\":\"" ONE "\",\"status\":\"accepted\"},"
		   "{\"id\":\"" TWO "\",\"status\":\"partial\",\"explanation\":"
		   "\"The main page only.\"},"
		   "{\"id\":\"" THREE "\",\"status\":\"rejected\",\"reason_code\":\"out_of_scope\","
		   "\"explanation\":\"Later; \\\"see\\\" above.\"}]}}\n");
	bench_apply(&b, p);
	bench_verdict(&b, ITEM_IMPROVEMENT, ONE, VERDICT_ACCEPTED);
	bench_verdict(&b, ITEM_IMPROVEMENT, TWO, VERDICT_PARTIAL);
	bench_verdict(&b, ITEM_IMPROVEMENT, THREE, VERDICT_REJECTED);
	/* and the provider's proof is clean as well */
	add_areas(sessions[_i], 2,
		  ",\"applied_feedback_ack\":{\"items\":["
		  "{\"id\":\"" ONE "\",\"processing_status\":\"acknowledged\"},"
		  "{\"id\":\"" TWO "\",\"processing_status\":\"acknowledged\"},"
		  "{\"id\":\"" THREE "\",\"processing_status\":\"acknowledged\"}]}",
		  NULL, NULL, NULL);
}
END_TEST

START_TEST(a_rejection_always_has_both_reasons)
{
	struct draft *d;
	struct proposal *p;

	add_turn("ses_1");
	d = bench_stage(&b, ITEM_IMPROVEMENT, ONE, VERB_REJECT);
	if (_i == 0)
		d->explanation = STR("No.");
	else
		d->reason_code = STR("out_of_scope");
	p = bench_ready(&b);
	ck_assert(says(p, _i ? "\"reason_code\":\"out_of_scope\",\"explanation\":\"out of scope\"" :
			       "\"reason_code\":\"other\",\"explanation\":\"No.\""));
	ck_assert(!p->needs_sure); /* it claims no change */
	ck_assert(bench_cautions(p, "2 other items"));
	bench_apply(&b, p);
	bench_verdict(&b, ITEM_IMPROVEMENT, ONE, VERDICT_REJECTED);
	bench_verdict(&b, ITEM_IMPROVEMENT, TWO, VERDICT_SUPERSEDED);
}
END_TEST

START_TEST(reasons_must_be_given)
{
	add_turn(NULL);
	bench_stage(&b, ITEM_IMPROVEMENT, ONE, _i ? VERB_PARTIAL : VERB_REJECT)->sure = true;
	bench_lacks(&b, _i ? "needs an explanation" : "needs a reason code");
}
END_TEST

START_TEST(an_unchanged_artifact_wants_a_second_yes)
{
	struct draft *d;

	add_turn("ses_1");
	d = bench_stage(&b, ITEM_IMPROVEMENT, ONE, _i ? VERB_PARTIAL : VERB_ACCEPT);
	d->explanation = STR("Half of it.");
	ck_assert(bench_ready(&b)->needs_sure);
	d->sure = true;
	ck_assert(!bench_ready(&b)->needs_sure);
	d->sure = false;
	d->artifact = str_of(write_file("a.md", STR("new\n")));
	ck_assert(!bench_ready(&b)->needs_sure);
	d->artifact = STR_NONE;
	b.terms.artifact = write_file("a.md", STR("new\n"));
	ck_assert(!bench_ready(&b)->needs_sure);
}
END_TEST

START_TEST(without_an_artifact_one_must_be_attached)
{
	struct draft *d;
	struct proposal *p;

	add_areas("ses_1", 1, "", ONE, NULL, NULL);
	d = bench_stage(&b, ITEM_IMPROVEMENT, ONE, VERB_ACCEPT);
	bench_lacks(&b, "no artifact has been seen; attach one: --artifact FILE or :attach FILE");
	d->artifact = str_of(write_file("unknown.extension", STR("text \x01\n")));
	p = bench_ready(&b);
	ck_assert(says(p, "\"media_type\":\"text/plain\",\"content\":\"text \\u0001\\n\""));
	bench_apply(&b, p);
	bench_verdict(&b, ITEM_IMPROVEMENT, ONE, VERDICT_ACCEPTED);
}
END_TEST

START_TEST(an_attached_file_is_the_artifact)
{
	struct draft *d;
	struct proposal *p;

	add_turn("ses_1");
	d = bench_stage(&b, ITEM_IMPROVEMENT, ONE, VERB_ACCEPT);
	d->artifact = str_of(write_file("a.JSON", STR("{}")));
	p = bench_ready(&b);
	ck_assert(says(p, "\"artifact\":{\"media_type\":\"application/json\",\"content\":\"{}\","
			  "\"artifact_ref\":\"sha256:44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e83"
			  "10c060f61caaff8a\"}"));
	/* no type of its own: the last one seen */
	d->artifact = str_of(write_file("none", STR("# Dark mode\n")));
	p = bench_ready(&b);
	ck_assert(says(p, "\"media_type\":\"text/markdown\""));
	ck_assert(bench_cautions(p, "says the same as the artifact of the last turn"));
	bench_apply(&b, p);
	bench_verdict(&b, ITEM_IMPROVEMENT, ONE, VERDICT_ACCEPTED);
}
END_TEST

START_TEST(two_different_files_are_refused)
{
	struct draft *d;

	add_turn("ses_1");
	d = bench_stage(&b, ITEM_IMPROVEMENT, ONE, VERB_ACCEPT);
	d->artifact = str_of(write_file("a.md", STR("first")));
	d = bench_stage(&b, ITEM_IMPROVEMENT, TWO, VERB_ACCEPT);
	d->artifact = str_of(write_file("b.md", STR("second")));
	bench_lacks(&b, "/a.md is attached to " ONE " and ");
	bench_lacks(&b, "/b.md to " TWO "; decide one of them again with the other's file");
	d->artifact = b.desk.drafts.v[0].artifact;
	ck_assert(says(bench_ready(&b), "\"content\":\"first\""));
	d->artifact = STR_NONE; /* one file is enough for all */
	ck_assert(says(bench_ready(&b), "\"content\":\"first\""));
}
END_TEST

START_TEST(what_is_no_text_is_not_attached)
{
	const char *fifo = arena_printf(&b.arena, "%s/fifo", folder);
	struct draft *d;

	add_turn(NULL);
	d = bench_stage(&b, ITEM_IMPROVEMENT, ONE, VERB_ACCEPT);
	d->artifact = str_of(write_file("latin", STR("caf\xe9")));
	bench_lacks(&b, "is not UTF-8 text");
	d->artifact = str_of(write_file("nul", STR("a\0b")));
	bench_lacks(&b, "is not UTF-8 text");
	d->artifact = str_of(folder);
	bench_lacks(&b, "is a folder, not a file");
	d->artifact = STR("/nonexistent/file");
	bench_lacks(&b, "/nonexistent/file: ");
	ck_assert_int_eq(mkfifo(fifo, 0600), 0);
	d->artifact = str_of(fifo);
	bench_lacks(&b, "pipe or socket, not a file");
	unlink(fifo);
}
END_TEST

/* What a Request must not say is left out of the artifact too, whoever said it first. */
START_TEST(faults_of_the_last_artifact_are_not_repeated)
{
	struct proposal *p;

	add_request(1, "{\"media_type\":\"nothing\",\"sessionID\":\"ses_1\",\"content\":{\"a\":1.0},"
		       "\"size\":3,\"artifact_ref\":7}",
		    "");
	add_areas(NULL, 1, "", ONE, NULL, NULL);
	bench_stage(&b, ITEM_IMPROVEMENT, ONE, VERB_ACCEPT)->sure = true;
	p = bench_ready(&b);
	ck_assert(says(p, "\"artifact\":{\"media_type\":\"text/plain\",\"content\":{\"a\":1.0}},"));
	bench_apply(&b, p);
}
END_TEST

START_TEST(a_damaged_artifact_is_not_sent_on)
{
	static const char *const artifacts[] = {
		"{\"media_type\":\"text/plain\",\"content\":\"caf\xe9\"}",
		"{\"media_type\":\"text/plain\",\"content\":\"a\",\"content\":\"b\"}",
		"{\"media_type\":\"text/plain\"}",
	};

	add_request(1, artifacts[_i], "");
	add_areas(NULL, 1, "", ONE, NULL, NULL);
	bench_stage(&b, ITEM_IMPROVEMENT, ONE, VERB_ACCEPT)->sure = true;
	bench_lacks(&b, "the artifact last seen is damaged; attach one");
}
END_TEST

/* Which of two was answered first is not known, so it is not known of the second either. */
START_TEST(what_is_left_of_two_artifacts_is_not_certain)
{
	add_request(1, ARTIFACT, "");
	add_request(1, "{\"media_type\":\"text/plain\",\"content\":\"Another.\"}", "");
	add_areas("ses_1", 1, "", ONE, NULL, NULL);
	add_areas("ses_2", 1, "", TWO, NULL, NULL);
	bench_stage(&b, ITEM_IMPROVEMENT, TWO, VERB_ACCEPT)->sure = true;
	bench_lacks(&b, "which artifact is this session's is not certain; attach one");
}
END_TEST

START_TEST(an_artifact_of_another_session_is_never_taken)
{
	add_request(1, ARTIFACT, "");
	add_request(1, "{\"media_type\":\"text/plain\",\"content\":\"Another.\"}", "");
	add_areas("ses_1", 1, "", ONE, NULL, NULL);
	bench_stage(&b, ITEM_IMPROVEMENT, ONE, VERB_ACCEPT)->sure = true;
	bench_lacks(&b, "which artifact is this session's is not certain; attach one");
}
END_TEST

START_TEST(sessions_do_not_mix)
{
	struct proposal *p;

	add_turn("ses_1");
	add_request(1, "{\"media_type\":\"text/plain\",\"content\":\"Another.\"}", "");
	add_areas("ses_2", 1, "", "only-in-the-second-01", NULL, NULL);
	bench_stage(&b, ITEM_IMPROVEMENT, ONE, VERB_ACCEPT)->sure = true;
	bench_stage(&b, ITEM_IMPROVEMENT, "only-in-the-second-01", VERB_ACCEPT)->sure = true;
	bench_plan(&b);
	ck_assert_uint_eq(b.plan.list.n, 2);
	ck_assert(plan_is_ready(&b.plan));
	p = &b.plan.list.v[0];
	ck_assert(says(p, "mode") && !says(p, "Another") && says(p, ONE));
	assert_str(p->letter.to, "provider of ses_1");
	bench_apply(&b, p);
	p = &b.plan.list.v[1];
	ck_assert(says(p, "Another") && says(p, "only-in-the-second-01") && !says(p, ONE));
	assert_str(p->letter.to, "provider of ses_2");
	bench_apply(&b, p);
	bench_verdict(&b, ITEM_IMPROVEMENT, ONE, VERDICT_ACCEPTED);
	bench_verdict(&b, ITEM_IMPROVEMENT, "only-in-the-second-01", VERDICT_ACCEPTED);
}
END_TEST

START_TEST(a_pretty_printed_request_becomes_one_line)
{
	add_request(1, "{\n \"media_type\":\r\n\"text/plain\",\n\"content\": \"a\\nb\"}", "\n");
	add_areas(NULL, 1, "", ONE, NULL, NULL);
	bench_stage(&b, ITEM_IMPROVEMENT, ONE, VERB_ACCEPT)->sure = true;
	ck_assert(says(bench_ready(&b),
		       "\"artifact\":{ \"media_type\":\"text/plain\",\"content\": \"a\\nb\"},"));
}
END_TEST

#define ACKED(id) \
	",\"applied_feedback_ack\":{\"items\":[{\"id\":\"" id \
	"\",\"processing_status\":\"acknowledged\"}]}"

START_TEST(one_request_a_turn)
{
	struct proposal *p;

	add_turn("ses_1");
	bench_stage(&b, ITEM_IMPROVEMENT, ONE, VERB_ACCEPT)->sure = true;
	bench_send(&b, bench_ready(&b));
	bench_stage(&b, ITEM_IMPROVEMENT, TWO, VERB_ACCEPT)->sure = true;
	bench_refuses(&b, "the Request of iteration 2 is written; it can be decided if it is "
			  "raised again");
	/* in the answer of the next turn it is raised again */
	add_areas("ses_1", 2, ACKED(ONE), TWO, NULL, NULL);
	b.desk.drafts.v[1].state = DRAFT_VOID;
	bench_stage(&b, ITEM_IMPROVEMENT, TWO, VERB_ACCEPT)->sure = true;
	p = bench_ready(&b);
	ck_assert(says(p, "\"iteration\":3"));
}
END_TEST

START_TEST(the_artifact_that_gavel_sent_itself_is_the_last_one)
{
	struct draft *d;
	struct proposal *p;

	add_turn("ses_1");
	d = bench_stage(&b, ITEM_IMPROVEMENT, ONE, VERB_ACCEPT);
	d->artifact = str_of(write_file("a.md", STR("draft 2")));
	bench_send(&b, bench_ready(&b));
	/* the log holds only the provider's side */
	add_areas("ses_1", 2, ACKED(ONE), TWO, NULL, NULL);
	bench_stage(&b, ITEM_IMPROVEMENT, TWO, VERB_ACCEPT)->sure = true;
	p = bench_ready(&b);
	ck_assert(says(p, "\"content\":\"draft 2\"") && says(p, "\"iteration\":3"));
}
END_TEST

START_TEST(an_error_is_answered_by_the_same_request)
{
	const char *session = sessions[_i % 2];
	struct proposal *p;
	struct str failed;
	int turn = 1;

	if (_i < 2) {
		add_request(1, ARTIFACT, "");
	} else {
		add_turn(session);
		add_request(2, ARTIFACT, ",\"applied_feedback\":{\"items\":[]}");
		turn = 2;
	}
	failed = *vec_last(&b.lines);
	add_error(session, turn);
	bench_stage(&b, ITEM_ERROR, NULL, VERB_ACCEPT);
	p = bench_ready(&b);
	ck_assert(str_eq(str_make(p->letter.bytes.p, p->letter.bytes.n - 1), failed));
	bench_apply(&b, p);
	bench_verdict(&b, ITEM_ERROR, NULL, VERDICT_ACCEPTED);
}
END_TEST

START_TEST(a_request_that_gavel_sent_is_sent_again_after_an_error)
{
	struct proposal *p;
	struct str sent;

	add_turn("ses_1");
	bench_stage(&b, ITEM_IMPROVEMENT, ONE, VERB_ACCEPT)->sure = true;
	bench_send(&b, bench_ready(&b));
	sent = b.desk.letters.v[0].bytes;
	add_error("ses_1", 2);
	bench_stage(&b, ITEM_ERROR, NULL, VERB_ACCEPT);
	p = bench_ready(&b);
	ck_assert(str_eq(p->letter.bytes, sent));
}
END_TEST

/* The iteration that the only proposal carries. */
static int64_t planned_iteration(void)
{
	struct json_reader json = { 0 };
	yyjson_val *root;
	int64_t n = 0;

	ck_assert(json_read(&json, bench_ready(&b)->letter.bytes, &root) == JSON_OK);
	ck_assert(json_int(json_get(root, "iteration"), &n));
	json_reader_release(&json);
	return n;
}

/* Requests are counted by who makes them, whatever a response echoes. */
START_TEST(a_wrong_echo_does_not_count)
{
	static const int echoes[] = { 2, 7 };
	const char *session = _i / 2 ? "ses_1" : NULL;

	add_request(1, ARTIFACT, "");
	put_areas(session, echoes[_i % 2], "", ONE, NULL, NULL);
	ck_assert(b.worse.n > 0);
	bench_stage(&b, ITEM_IMPROVEMENT, ONE, VERB_ACCEPT)->sure = true;
	ck_assert_int_eq(planned_iteration(), 2);
	bench_apply(&b, bench_ready(&b));
	bench_verdict(&b, ITEM_IMPROVEMENT, ONE, VERDICT_ACCEPTED);
}
END_TEST

/* The Request that gavel sent is not in the log; its response echoes another number. */
START_TEST(a_wrong_echo_of_our_own_request_does_not_count)
{
	static const int echoes[] = { 1, 2, 5 };

	add_turn("ses_1");
	bench_stage(&b, ITEM_IMPROVEMENT, ONE, VERB_ACCEPT)->sure = true;
	ck_assert_int_eq(planned_iteration(), 2);
	bench_send(&b, bench_ready(&b));
	put_areas("ses_1", echoes[_i], "", "another-one-04", NULL, NULL);
	bench_stage(&b, ITEM_IMPROVEMENT, "another-one-04", VERB_ACCEPT)->sure = true;
	ck_assert_int_eq(planned_iteration(), 3);
}
END_TEST

/* What a log without requests shows is all there is to count from. */
START_TEST(requests_that_are_not_in_the_log_are_counted_by_their_echo)
{
	add_turn("ses_1");
	put_areas("ses_1", 3, "", "another-one-04", NULL, NULL);
	bench_stage(&b, ITEM_IMPROVEMENT, "another-one-04", VERB_ACCEPT)->sure = true;
	ck_assert_int_eq(planned_iteration(), 4);
	bench_apply(&b, bench_ready(&b));
}
END_TEST

static unsigned steps_of(const char *id, enum step_kind what)
{
	const struct item *item = &b.model.items.v[bench_item(&b, ITEM_IMPROVEMENT, id)];
	unsigned n = 0;

	for (uint32_t i = 0; i < item->n; i++)
		n += item->steps[i].what == what;
	return n;
}

#define DECIDES(id) \
	",\"applied_feedback\":{\"items\":[{\"id\":\"" id "\",\"status\":\"accepted\"}]}"
#define ACKS(id, status) \
	",\"applied_feedback_ack\":{\"items\":[{\"id\":\"" id "\",\"processing_status\":\"" \
	status "\"}]}"

/* Only a response that echoes the Request's iteration, and of what that decided. */
START_TEST(an_acknowledgment_of_something_else_proves_nothing)
{
	add_turn(sessions[_i]);
	add_request(2, ARTIFACT, DECIDES(ONE));
	put_areas(sessions[_i], 1, ACKS(ONE, "acknowledged"), NULL, NULL, NULL);
	ck_assert_uint_eq(steps_of(ONE, STEP_ACKED), 0);
	add_request(3, ARTIFACT, DECIDES(ONE));
	put_areas(sessions[_i], 2, ACKS(ONE, "unknown_id"), NULL, NULL, NULL);
	ck_assert_uint_eq(steps_of(ONE, STEP_BOUNCED), 0);
	add_request(4, ARTIFACT, DECIDES(ONE));
	put_areas(sessions[_i], 4, ACKS(TWO, "acknowledged"), NULL, NULL, NULL);
	ck_assert_uint_eq(steps_of(TWO, STEP_ACKED), 0);
	add_request(5, ARTIFACT, DECIDES(ONE));
	put_areas(sessions[_i], 5, ACKS(ONE, "acknowledged"), NULL, NULL, NULL);
	ck_assert_uint_eq(steps_of(ONE, STEP_ACKED), 1);
	add_request(6, ARTIFACT, DECIDES(ONE));
	put_areas(sessions[_i], 6, ACKS(ONE, "unknown_id"), NULL, NULL, NULL);
	ck_assert_uint_eq(steps_of(ONE, STEP_BOUNCED), 1);
}
END_TEST

/* A Request that overtakes another does not take its response. */
START_TEST(a_response_belongs_to_the_request_that_it_echoes)
{
	add_turn(sessions[_i]);
	add_request(2, ARTIFACT, DECIDES(ONE));
	add_request(3, ARTIFACT, DECIDES(TWO));
	add_areas(sessions[_i], 2, ACKS(ONE, "acknowledged"), NULL, NULL, NULL);
	ck_assert_uint_eq(steps_of(ONE, STEP_ACKED), 1);
	add_areas(sessions[_i], 3, ACKS(TWO, "acknowledged"), THREE, NULL, NULL);
	ck_assert_uint_eq(steps_of(TWO, STEP_ACKED), 1);
	bench_stage(&b, ITEM_IMPROVEMENT, THREE, VERB_ACCEPT)->sure = true;
	ck_assert_int_eq(planned_iteration(), 4);
}
END_TEST

/* Of two Requests of one iteration the newest is answered: the other was given up. */
START_TEST(a_bare_response_belongs_to_the_newest_request_of_its_iteration)
{
	struct turn_state turn;

	add_request(1, ARTIFACT, "");
	add_request(1, "{\"media_type\":\"text/plain\",\"content\":\"A mode\"}", "");
	put_areas(NULL, 1, "", ONE, NULL, NULL);
	feedback_turn(&b.model, message_route(&b.model, 2)->session, &turn);
	ck_assert_uint_eq(turn.request, 1);
}
END_TEST

#define BAD_ARTIFACT "{\"content\":\"x\",\"media_type\":\"md\"}"

/* What a failed Request lacked is supplied, or the second one would break the rules too. */
START_TEST(a_request_is_completed_when_it_is_sent_again)
{
	static const char *const requests[] = {
		"{\"iteration\":1,\"artifact\":" ARTIFACT "}",
		"{\"protocol_version\":\"1.0\",\"iteration\":1,\"artifact\":" ARTIFACT "}",
		"{\"protocol_version\":\"1.2\",\"iteration\":2,\"artifact\":" ARTIFACT "}",
		"{\"protocol_version\":\"1.2\",\"iteration\":1,\"x-a\":1,\"session_id\":\"s\",\"artifact\":" ARTIFACT "}",
		"{\"protocol_version\":\"1.2\",\"iteration\":1,\"artifact\":" BAD_ARTIFACT "}",
	};
	struct proposal *p;

	if (_i == 2)
		add_turn("ses_1");
	bench_add(&b, requests[_i]);
	add_error("ses_1", _i == 2 ? 2 : 1);
	bench_stage(&b, ITEM_ERROR, NULL, VERB_ACCEPT);
	p = bench_ready(&b);
	ck_assert(bench_cautions(p, "supplied"));
	bench_apply(&b, p);
	bench_verdict(&b, ITEM_ERROR, NULL, VERDICT_ACCEPTED);
}
END_TEST

START_TEST(a_request_that_is_sent_again_is_not_blamed_again)
{
	add_turn("ses_1");
	bench_add(&b, "{\"protocol_version\":\"1.2\",\"iteration\":2,\"artifact\":" ARTIFACT
		      ",\"applied_feedback\":{\"items\":[{\"id\":\"never-raised-1\","
		      "\"status\":\"accepted\"}]}}");
	add_error("ses_1", 2);
	bench_stage(&b, ITEM_ERROR, NULL, VERB_ACCEPT);
	bench_apply(&b, bench_ready(&b));
}
END_TEST

/* Where the log begins in the middle, the first Request has a later iteration; its session is that
 * of its response all the same. */
START_TEST(a_request_in_the_middle_is_sent_again)
{
	const char *session = _i ? "ses_1" : NULL;

	add_request(8, ARTIFACT, "");
	add_error(session, 8);
	bench_stage(&b, ITEM_ERROR, NULL, VERB_ACCEPT);
	bench_apply(&b, bench_ready(&b));
	bench_verdict(&b, ITEM_ERROR, NULL, VERDICT_ACCEPTED);
}
END_TEST

START_TEST(the_artifact_of_a_request_in_the_middle_is_known)
{
	add_request(8, ARTIFACT, ",\"applied_feedback\":{\"items\":[]}");
	add_areas("ses_1", 8, ",\"applied_feedback_ack\":{\"items\":[]}", ONE, NULL, NULL);
	bench_stage(&b, ITEM_IMPROVEMENT, ONE, VERB_ACCEPT)->sure = true;
	bench_apply(&b, bench_ready(&b));
	bench_verdict(&b, ITEM_IMPROVEMENT, ONE, VERDICT_ACCEPTED);
}
END_TEST

/* One tool writes the answers bare, another one wraps them. */
START_TEST(a_request_of_a_bare_loop_that_a_session_answers_is_sent_again)
{
	add_turn(NULL);
	add_request(2, ARTIFACT, ",\"applied_feedback\":{\"items\":[]}");
	add_error("ses_1", 2);
	bench_stage(&b, ITEM_ERROR, NULL, VERB_ACCEPT);
	bench_apply(&b, bench_ready(&b));
	bench_verdict(&b, ITEM_ERROR, NULL, VERDICT_ACCEPTED);
}
END_TEST

/* Whose it is cannot be told: of two that differ, or of one that has another iteration. */
START_TEST(a_request_in_the_middle_that_may_be_anothers_is_not_sent_again)
{
	add_request(8, ARTIFACT, "");
	if (_i == 0)
		add_request(8, "{\"media_type\":\"text/plain\",\"content\":\"other\"}", "");
	add_error("ses_1", _i == 0 ? 8 : 9);
	bench_stage(&b, ITEM_ERROR, NULL, VERB_ACCEPT);
	bench_lacks(&b, "has not been seen");
}
END_TEST

/* Decisions of the failed Request cannot be made up. */
START_TEST(a_request_that_cannot_be_mended_is_not_sent_again)
{
	bench_add(&b, "{\"protocol_version\":\"1.2\",\"iteration\":1,\"artifact\":" ARTIFACT
		      ",\"applied_feedback\":{\"items\":[{\"id\":\"x\"}]}}");
	add_error("ses_1", 1);
	bench_stage(&b, ITEM_ERROR, NULL, VERB_ACCEPT);
	bench_lacks(&b, "breaks the protocol");
}
END_TEST

/* Replies may be in a file of any name; they are known by what they answer. */
START_TEST(a_request_sent_again_is_known_in_any_file)
{
	struct frame_info info = { 0 };
	struct proposal *p;

	add_request(1, ARTIFACT, "");
	add_error(_i ? "ses_1" : NULL, 1);
	bench_stage(&b, ITEM_ERROR, NULL, VERB_ACCEPT);
	p = bench_ready(&b);
	dialect_decode(&b.decoder, str_trim(p->letter.bytes), &info, &b.message);
	ck_assert(str_eq(model_group_of(&b.model, &b.message), b.desk.group));
}
END_TEST

START_TEST(a_request_that_was_never_seen_cannot_be_sent_again)
{
	add_error("ses_1", 1);
	bench_stage(&b, ITEM_ERROR, NULL, VERB_ACCEPT);
	bench_lacks(&b, "has not been seen");
}
END_TEST

START_TEST(an_error_is_dismissed_and_nothing_is_written)
{
	struct proposal *p;

	add_error("ses_1", 1);
	bench_stage(&b, ITEM_ERROR, NULL, VERB_DISMISS);
	p = bench_only(&b);
	ck_assert_uint_eq(p->missing.n, 0);
	ck_assert_int_eq(p->letter.channel, CHANNEL_NONE);
	ck_assert_uint_eq(p->letter.bytes.n, 0);
}
END_TEST

START_TEST(an_escalation_is_not_in_the_request)
{
	add_turn("ses_1");
	bench_stage(&b, ITEM_IMPROVEMENT, TWO, VERB_ESCALATE)->explanation = STR("Not mine.");
	bench_stage(&b, ITEM_IMPROVEMENT, ONE, VERB_ACCEPT)->sure = true;
	bench_plan(&b);
	ck_assert(!plan_is_ready(&b.plan)); /* no queue is given */
	for (uint32_t i = 0; i < b.plan.list.n; i++) {
		const struct proposal *p = &b.plan.list.v[i];

		ck_assert(!says(p, "applied_feedback") || (says(p, ONE) && !says(p, TWO)));
	}
}
END_TEST

START_TEST(no_verb_but_those_of_the_protocol)
{
	add_turn(NULL);
	bench_stage(&b, ITEM_IMPROVEMENT, ONE, VERB_ANSWER)->answer = STR("Yes.");
	bench_refuses(&b, "can't answer this item");
}
END_TEST

/* ---- attached files ---- */

START_TEST(media_types_go_by_extension)
{
	static const struct {
		const char *path, *type;
	} names[] = {
		{ "a.md", "text/markdown" }, { "/b/c.d/a.YML", "application/yaml" },
		{ "a.tar.json", "application/json" }, { "a", NULL },
		{ "x.md/a", NULL }, { ".md", NULL }, { "a.", NULL }, { "", NULL },
		{ "a.xyz", NULL },
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		ck_assert_pstr_eq(attach_media_type(str_of(names[i].path)), names[i].type);
}
END_TEST

START_TEST(what_is_too_big_is_refused)
{
	const char *path = write_file("big", STR(""));
	struct attachment a;
	struct err err;

	ck_assert_int_eq(truncate(path, ATTACH_MAX_BYTES + 1), 0);
	ck_assert_int_eq(attach_read(&b.arena, path, &a, &err), -1);
	ck_assert_ptr_nonnull(strstr(err.text, "longer than"));
	ck_assert_int_eq(truncate(path, 0), 0);
	ck_assert_int_eq(attach_read(&b.arena, path, &a, &err), 0);
	ck_assert_uint_eq(a.content.n, 0);
	ck_assert(str_starts(a.ref, STR("sha256:e3b0c442")));
}
END_TEST

/* A git that is a script of ours: what it prints is believed, and no more of it than is due. */
static void fake_git(const char *script)
{
	const char *path = write_file("git", str_of(script));

	ck_assert_int_eq(chmod(path, 0700), 0);
	setenv("PATH", arena_printf(&b.arena, "%s:/usr/bin:/bin", folder), 1);
}

#define COMMIT "0123456789abcdef0123456789abcdef01234567"
#define PRINTS_HEAD "case \"$*\" in *rev-parse*) echo " COMMIT ";exit;;esac\n"

static const struct {
	const char *script;
	bool commit;
} gits[] = {
	{ "#!/bin/sh\n" PRINTS_HEAD "case \"$6\" in " COMMIT ":./f.md) printf text;;esac", true },
	{ "#!/bin/sh\n" PRINTS_HEAD "printf 'text and more'" },
	{ "#!/bin/sh\n" PRINTS_HEAD "printf tex" },
	{ "#!/bin/sh\n" PRINTS_HEAD "printf text; exit 1" },
	{ "#!/bin/sh\n" PRINTS_HEAD "exec cat /dev/zero" },
	{ "#!/bin/sh\ncase \"$*\" in *rev-parse*) echo main;;*) printf text;;esac" },
	{ "#!/bin/sh\nexit 128" },
	{ "#!/nonexistent" },
	/* nothing of our surroundings but what it needs */
	{ "#!/bin/sh\n" PRINTS_HEAD "test -z \"$GIT_DIR$SECRET\" && printf text", true },
	/* one that never ends, and one that ends but leaves a child with its output open */
	{ "#!/bin/sh\nexec sleep 600" },
	{ "#!/bin/sh\nsleep 600 &" },
};

START_TEST(the_commit_counts_only_where_it_holds_these_bytes)
{
	const char *path;
	struct attachment a;
	struct err err;

	path = write_file("f.md", STR("text"));
	setenv("GIT_DIR", "/nonexistent", 1);
	setenv("SECRET", "word", 1);
	fake_git(gits[_i].script);
	ck_assert_int_eq(attach_read(&b.arena, path, &a, &err), 0);
	ck_assert_msg(str_starts(a.ref, gits[_i].commit ? STR(COMMIT) : STR("sha256:")), "%.*s",
		      STR_ARG(a.ref));
}
END_TEST

START_TEST(a_real_repository)
{
	const char *path, *command;
	struct attachment a;
	struct err err;

	if (system("git --version >/dev/null 2>&1") != 0)
		return;
	/* safe.directory and templates of the person's own must not matter */
	setenv("HOME", folder, 1);
	setenv("GIT_CONFIG_NOSYSTEM", "1", 1);
	command = arena_printf(&b.arena,
			       "cd %s && git init -q r && cd r && printf one >f.md && git add f.md && "
			       "git -c user.name=a -c user.email=a@b -c commit.gpgsign=false "
			       "commit -q -m m >/dev/null 2>&1",
			       folder);
	ck_assert_int_eq(system(command), 0);
	path = arena_printf(&b.arena, "%s/r/f.md", folder);
	ck_assert_int_eq(attach_read(&b.arena, path, &a, &err), 0);
	ck_assert_uint_eq(a.ref.n, 40);
	write_file("r/f.md", STR("two"));
	ck_assert_int_eq(attach_read(&b.arena, path, &a, &err), 0);
	ck_assert(str_starts(a.ref, STR("sha256:")));
	path = write_file("r/new.md", STR("one"));
	ck_assert_int_eq(attach_read(&b.arena, path, &a, &err), 0);
	ck_assert(str_starts(a.ref, STR("sha256:")));
}
END_TEST

/* ---- turns of a review ---- */

static const struct turn_terms turns = { .path = "agent:plan#1-0", .to = { "reviewer", 8 } };

static struct proposal *plan_one(uint32_t session, enum turn_which which)
{
	plan_release(&b.plan);
	memset(&b.plan, 0, sizeof(b.plan));
	plan_turn(&b.plan, &b.desk, &b.model, &b.reader, &b.terms, session, which);
	ck_assert_uint_eq(b.plan.list.n, 1);
	return &b.plan.list.v[0];
}

static uint32_t session_of_newest(void)
{
	return message_route(&b.model, b.model.records.n - 1)->session;
}

START_TEST(the_first_turn_has_the_file_and_nothing_else)
{
	struct proposal *p;

	b.terms.turn = &turns;
	b.terms.artifact = write_file("plan.md", STR("# Plan\n"));
	p = plan_one(NONE, TURN_NEXT);
	ck_assert_uint_eq(p->missing.n, 0);
	ck_assert_int_eq(p->letter.channel, CHANNEL_AGENT);
	assert_str(p->letter.path, "agent:plan#1-0");
	assert_str(p->letter.to, "reviewer");
	ck_assert(str_starts(p->letter.bytes, STR("{\"protocol_version\":\"1.2\",\"iteration\":1,"
						  "\"artifact\":{\"media_type\":\"text/markdown\","
						  "\"content\":\"# Plan\\n\",\"artifact_ref\":"
						  "\"sha256:")));
	ck_assert(!says(p, "applied_feedback"));
	bench_apply(&b, p);
}
END_TEST

START_TEST(a_turn_waits_for_the_one_before)
{
	struct turn_terms busy = turns;

	busy.blocked = "turn 1 runs";
	b.terms.turn = &busy;
	b.terms.artifact = write_file("plan.md", STR("# Plan\n"));
	ck_assert_uint_eq(plan_one(NONE, TURN_NEXT)->missing.n, 1);
	assert_str(b.plan.list.v[0].missing.v[0], "turn 1 runs");
}
END_TEST

START_TEST(the_next_turn_can_decide_nothing)
{
	struct proposal *p;

	add_turn("ses_1");
	b.terms.turn = &turns;
	b.terms.artifact = write_file("plan.md", STR("# Plan\n"));
	p = plan_one(session_of_newest(), TURN_NEXT);
	ck_assert_uint_eq(p->missing.n, 0);
	ck_assert(says(p, "\"iteration\":2,") && says(p, "\"applied_feedback\":{\"items\":[]}"));
	ck_assert(bench_cautions(p, "3 other items of this turn are open and leave the inbox undecided: "));
	ck_assert_uint_eq(p->leaves_open, 3);
	bench_apply(&b, p);
	/* and none follows while it waits */
	ck_assert_uint_eq(plan_one(session_of_newest(), TURN_NEXT)->missing.n, 1);
}
END_TEST

START_TEST(a_file_that_goes_with_each_turn_does_not_tell_that_it_changed)
{
	struct proposal *p;

	add_turn("ses_1");
	b.terms.turn = &turns;
	b.terms.artifact = write_file("plan.md", STR("# Dark mode\n"));
	bench_stage(&b, ITEM_IMPROVEMENT, ONE, VERB_ACCEPT);
	p = bench_ready(&b);
	ck_assert(p->needs_sure);
	write_file("plan.md", STR("# Dark mode, all of it\n"));
	p = bench_ready(&b);
	ck_assert(!p->needs_sure);
}
END_TEST

/* Turns are counted by who asks, not by what a Response claims to answer. */
START_TEST(another_iteration_does_not_move_the_count)
{
	struct proposal *p;

	add_request(1, ARTIFACT, "");
	add_response("ses_1", "{\"protocol_version\":\"1.2\",\"iteration\":7,\"status\":\"success\","
			      "\"feedback\":{\"confidence\":{\"level\":\"high\",\"justification\":"
			      "\"j\"},\"positive_points\":[],\"areas_for_improvement\":[{\"id\":\"" ONE
			      "\",\"aspect\":\"a\",\"description\":\"d\",\"recommendation\":\"r\"}],"
			      "\"general_summary\":\"Good.\"}}");
	ck_assert(b.worse.n > 0);
	bench_stage(&b, ITEM_IMPROVEMENT, ONE, VERB_REJECT)->explanation = STR("No.");
	p = bench_ready(&b);
	ck_assert(says(p, "\"iteration\":2,"));
	/* once more what was asked */
	b.terms.turn = &turns;
	p = plan_one(session_of_newest(), TURN_AGAIN);
	ck_assert_uint_eq(p->missing.n, 0);
	ck_assert(says(p, "{\"protocol_version\":\"1.2\",\"iteration\":1,\"artifact\":" ARTIFACT "}"));
}
END_TEST

START_TEST(a_failed_turn_is_sent_again_with_the_file_as_it_now_is)
{
	struct proposal *p;

	add_turn("ses_1");
	add_request(2, ARTIFACT, ",\"applied_feedback\":{\"items\":[{\"id\":\"" ONE
				 "\",\"status\":\"accepted\"}]}");
	add_error("ses_1", 2);
	b.terms.turn = &turns;
	b.terms.artifact = write_file("plan.md", STR("# Dark mode\n"));
	bench_stage(&b, ITEM_ERROR, NULL, VERB_ACCEPT);
	p = bench_ready(&b);
	ck_assert(says(p, ARTIFACT));
	write_file("plan.md", STR("# Edited\n"));
	p = bench_ready(&b);
	ck_assert(says(p, "\"iteration\":2,\"artifact\":{\"media_type\":\"text/markdown\",\"content\":"
			  "\"# Edited\\n\""));
	ck_assert(says(p, "\"applied_feedback\":{\"items\":[{\"id\":\"" ONE
			  "\",\"status\":\"accepted\"}]}}"));
	bench_apply(&b, p);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("encode_feedback");
	TCase *t = tcase_create("verbs"), *files = tcase_create("files");
	struct buf command = { 0 };
	int failed;

	if (!mkdtemp(folder)) {
		puts("Bail out! needs /tmp");
		return 1;
	}
	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_loop_test(t, a_turns_decisions_go_out_in_one_request, 0, 2);
	tcase_add_loop_test(t, a_rejection_always_has_both_reasons, 0, 2);
	tcase_add_loop_test(t, reasons_must_be_given, 0, 2);
	tcase_add_loop_test(t, an_unchanged_artifact_wants_a_second_yes, 0, 2);
	tcase_add_test(t, without_an_artifact_one_must_be_attached);
	tcase_add_test(t, an_attached_file_is_the_artifact);
	tcase_add_test(t, two_different_files_are_refused);
	tcase_add_test(t, what_is_no_text_is_not_attached);
	tcase_add_test(t, faults_of_the_last_artifact_are_not_repeated);
	tcase_add_loop_test(t, a_damaged_artifact_is_not_sent_on, 0, 3);
	tcase_add_test(t, an_artifact_of_another_session_is_never_taken);
	tcase_add_test(t, what_is_left_of_two_artifacts_is_not_certain);
	tcase_add_test(t, sessions_do_not_mix);
	tcase_add_test(t, a_pretty_printed_request_becomes_one_line);
	tcase_add_test(t, one_request_a_turn);
	tcase_add_test(t, the_artifact_that_gavel_sent_itself_is_the_last_one);
	tcase_add_loop_test(t, an_error_is_answered_by_the_same_request, 0, 4);
	tcase_add_test(t, a_request_that_gavel_sent_is_sent_again_after_an_error);
	tcase_add_loop_test(t, a_wrong_echo_does_not_count, 0, 4);
	tcase_add_loop_test(t, a_wrong_echo_of_our_own_request_does_not_count, 0, 3);
	tcase_add_test(t, requests_that_are_not_in_the_log_are_counted_by_their_echo);
	tcase_add_loop_test(t, an_acknowledgment_of_something_else_proves_nothing, 0, 2);
	tcase_add_loop_test(t, a_response_belongs_to_the_request_that_it_echoes, 0, 2);
	tcase_add_test(t, a_bare_response_belongs_to_the_newest_request_of_its_iteration);
	tcase_add_loop_test(t, a_request_is_completed_when_it_is_sent_again, 0, 5);
	tcase_add_test(t, a_request_that_is_sent_again_is_not_blamed_again);
	tcase_add_loop_test(t, a_request_in_the_middle_is_sent_again, 0, 2);
	tcase_add_test(t, a_request_of_a_bare_loop_that_a_session_answers_is_sent_again);
	tcase_add_test(t, the_artifact_of_a_request_in_the_middle_is_known);
	tcase_add_loop_test(t, a_request_in_the_middle_that_may_be_anothers_is_not_sent_again, 0, 2);
	tcase_add_test(t, a_request_that_cannot_be_mended_is_not_sent_again);
	tcase_add_loop_test(t, a_request_sent_again_is_known_in_any_file, 0, 2);
	tcase_add_test(t, a_request_that_was_never_seen_cannot_be_sent_again);
	tcase_add_test(t, an_error_is_dismissed_and_nothing_is_written);
	tcase_add_test(t, an_escalation_is_not_in_the_request);
	tcase_add_test(t, no_verb_but_those_of_the_protocol);
	suite_add_tcase(suite, t);
	tcase_add_checked_fixture(files, setup, teardown);
	tcase_set_timeout(files, 20);
	tcase_add_test(files, media_types_go_by_extension);
	tcase_add_test(files, what_is_too_big_is_refused);
	tcase_add_loop_test(files, the_commit_counts_only_where_it_holds_these_bytes, 0,
			    sizeof(gits) / sizeof(gits[0]));
	tcase_add_test(files, a_real_repository);
	tcase_add_test(files, the_first_turn_has_the_file_and_nothing_else);
	tcase_add_test(files, a_turn_waits_for_the_one_before);
	tcase_add_test(files, the_next_turn_can_decide_nothing);
	tcase_add_test(files, a_file_that_goes_with_each_turn_does_not_tell_that_it_changed);
	tcase_add_test(files, another_iteration_does_not_move_the_count);
	tcase_add_test(files, a_failed_turn_is_sent_again_with_the_file_as_it_now_is);
	suite_add_tcase(suite, files);
	failed = unit_run(suite);
	buf_printf(&command, "rm -rf %s", folder);
	if (system(command.p) != 0)
		puts("# the test's folder could not be removed");
	buf_release(&command);
	return failed;
}
