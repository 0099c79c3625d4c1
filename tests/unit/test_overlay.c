/* What a person has decided, laid over what the log says of an item; replies to what was sent; and
 * the group that a file of replies belongs to. */
#include "dialect/dialect.h"
#include "model/model.h"

#include "unit.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

static struct model model;
static struct decoder decoder;
static struct message message;

static void setup(void)
{
	model_init(&model);
}

static void teardown(void)
{
	model_release(&model);
	decoder_release(&decoder);
	message_release(&message);
}

static void apply_to(struct model *m, const char *group, const char *json)
{
	struct place place = { .line = m->records.n + 1, .group = str_of(group) };

	dialect_decode(&decoder, str_of(json), NULL, &message);
	model_apply(m, &message, &place);
}

static void apply(const char *json)
{
	apply_to(&model, "log", json);
}

static struct str group_of(const char *json)
{
	struct frame_info info = { .reply = true };

	dialect_decode(&decoder, str_of(json), &info, &message);
	return model_group_of(&model, &message);
}

/* ---- messages ---- */

static const char *text(const char *format, ...) __attribute__((format(printf, 1, 2)));

static const char *text(const char *format, ...)
{
	static char out[4][2048];
	static unsigned next;
	char *here = out[next++ % 4];
	va_list ap;

	va_start(ap, format);
	vsnprintf(here, sizeof(out[0]), format, ap);
	va_end(ap);
	return here;
}

/* A feedback response that raises scope-01 with these words; none where they are NULL. */
static const char *response(int iteration, const char *words, const char *ack)
{
	return text("{\"iteration\":%d,\"status\":\"ok\",\"feedback\":{\"summary\":\"s\","
		    "\"areas_for_improvement\":[%s%s%s]}%s}",
		    iteration,
		    words ? "{\"id\":\"scope-01\",\"severity\":\"major\",\"area\":\"a\","
			    "\"description\":\""
			  : "",
		    words ? words : "", words ? "\"}" : "", ack);
}

static const char *ack(const char *status)
{
	return text(",\"applied_feedback_ack\":{\"items\":[{\"id\":\"scope-01\","
		    "\"processing_status\":\"%s\"}]}",
		    status);
}

static const char *request(int iteration, const char *decision)
{
	return text("{\"protocol_version\":\"1.2\",\"iteration\":%d,\"artifact\":\"x\","
		    "\"media_type\":\"text/plain\"%s%s%s}",
		    iteration,
		    decision ? ",\"applied_feedback\":{\"items\":[{\"id\":\"scope-01\",\"status\":\""
			     : "",
		    decision ? decision : "", decision ? "\"}]}" : "");
}

static const char *question(const char *id, const char *more)
{
	return text("{\"id\":\"%s\",\"type\":\"request:ask-user\",\"timestamp\":"
		    "\"2026-01-26T10:00:00.000Z\",\"agentId\":\"a\",\"payload\":{\"question\":\"?\"%s}}",
		    id, more);
}

static const char *answer(const char *id, const char *to)
{
	return text("{\"id\":\"%s\",\"type\":\"response:success\",\"timestamp\":"
		    "\"2026-01-26T10:00:01.000Z\",\"correlationId\":\"%s\",\"payload\":{\"answer\":"
		    "\"yes\"}}",
		    id, to);
}

/* ---- looking ---- */

static struct item_state at_k(const struct model *m, uint32_t k, int64_t now_ms)
{
	struct item_state st = { 0 };

	ck_assert_uint_eq(m->items.n, 1);
	ck_assert(item_at(m, &m->items.v[0], k, now_ms, &st));
	return st;
}

static struct item_state now(void)
{
	return at_k(&model, model.records.n, TIME_NONE);
}

static void stand_in(struct model *m, uint32_t from, enum verdict v, enum delivery d)
{
	model_overlay(m, &(struct overlay){ .item = 0, .from = from, .by = model_intern(m, STR("ann")),
					   .time_ms = 77, .verdict = v, .delivery = d });
}

static void stand(enum verdict v, enum delivery d)
{
	stand_in(&model, model.records.n, v, d);
}

#define assert_state(st, want_open, want_verdict, want_delivery) \
	do { \
		struct item_state st_ = (st); \
		ck_assert_int_eq(st_.open, want_open); \
		ck_assert_str_eq(verdict_name(st_.verdict), verdict_name(want_verdict)); \
		ck_assert_str_eq(delivery_name(st_.delivery), delivery_name(want_delivery)); \
	} while (0)

/* ---- standings ---- */

START_TEST(staged_leaves_the_item_open)
{
	struct item_state st;

	apply(response(1, "one", ""));
	assert_state(now(), true, VERDICT_NONE, DELIVERY_NONE);
	ck_assert_uint_eq(now().person, NONE);
	stand(VERDICT_ACCEPTED, DELIVERY_STAGED);
	st = now();
	assert_state(st, true, VERDICT_ACCEPTED, DELIVERY_STAGED);
	assert_str(model_str(&model, st.person), "ann");
	ck_assert_int_eq(st.person_ms, 77);
}
END_TEST

START_TEST(recorded_and_further_closes_it)
{
	apply(response(1, "one", ""));
	for (int d = DELIVERY_RECORDED; d <= DELIVERY_HELD; d++) {
		if (d == DELIVERY_BOUNCED)
			continue;
		stand(VERDICT_REJECTED, (enum delivery)d);
		assert_state(now(), false, VERDICT_REJECTED, (enum delivery)d);
	}
	ck_assert_uint_eq(model.overlays.n, 1);
}
END_TEST

START_TEST(taken_away_the_log_is_as_before)
{
	apply(question("q1", ""));
	apply(question("q2", ""));
	apply(question("q3", ""));
	for (uint32_t i = 0; i < 3; i++)
		model_overlay(&model, &(struct overlay){ .item = i, .from = 3, .by = 0,
							.verdict = VERDICT_ANSWERED,
							.delivery = DELIVERY_SENT });
	model_overlay(&model, &(struct overlay){ .item = 0, .delivery = DELIVERY_NONE });
	model_overlay(&model, &(struct overlay){ .item = 0, .delivery = DELIVERY_NONE });
	ck_assert_uint_eq(model.overlays.n, 2);
	for (uint32_t i = 0; i < 3; i++) {
		struct item_state st;

		ck_assert(item_at(&model, &model.items.v[i], 3, TIME_NONE, &st));
		assert_state(st, i == 0, i ? VERDICT_ANSWERED : VERDICT_NONE,
			     i ? DELIVERY_SENT : DELIVERY_NONE);
		ck_assert(model.items.v[i].overlaid == (i > 0));
		if (i)
			ck_assert_uint_eq(item_overlay(&model, &model.items.v[i])->item, i);
	}
	model_overlay(&model, &(struct overlay){ .item = 2, .delivery = DELIVERY_NONE });
	model_overlay(&model, &(struct overlay){ .item = 1, .delivery = DELIVERY_NONE });
	ck_assert_uint_eq(model.overlays.n, 0);
}
END_TEST

START_TEST(before_it_was_decided_it_is_not_seen)
{
	apply(response(1, "one", ""));
	apply("text");
	apply("text");
	stand(VERDICT_ACCEPTED, DELIVERY_SENT);
	assert_state(at_k(&model, 2, TIME_NONE), true, VERDICT_NONE, DELIVERY_NONE);
	assert_state(at_k(&model, 3, TIME_NONE), false, VERDICT_ACCEPTED, DELIVERY_SENT);
	/* a journal may know less of the numbers than this log: never before it was raised */
	stand_in(&model, 0, VERDICT_ACCEPTED, DELIVERY_SENT);
	assert_state(at_k(&model, 1, TIME_NONE), false, VERDICT_ACCEPTED, DELIVERY_SENT);
}
END_TEST

/* A turn sent twice asks nobody twice. */
START_TEST(said_again_in_the_same_words_is_the_same)
{
	apply(response(1, "one", ""));
	stand(VERDICT_ACCEPTED, DELIVERY_SENT);
	apply(response(1, "one", ""));
	assert_state(now(), false, VERDICT_ACCEPTED, DELIVERY_SENT);
	ck_assert_uint_eq(now().times, 1);
	ck_assert(message_route(&model, 1)->flags & RECORD_REPEATED);
}
END_TEST

START_TEST(raised_anew_it_is_open_again)
{
	static const char *const words[] = { "two", "one" };

	/* other words in the same iteration; the same words in the next */
	for (int i = 0; i < 2; i++) {
		teardown();
		memset(&decoder, 0, sizeof(decoder));
		memset(&message, 0, sizeof(message));
		model_init(&model);
		apply(response(1, "one", ""));
		stand(VERDICT_ACCEPTED, i ? DELIVERY_SENT : DELIVERY_STAGED);
		apply(response(1 + i, words[i], ""));
		assert_state(now(), true, VERDICT_NONE, DELIVERY_NONE);
		ck_assert_uint_eq(now().person, NONE);
		stand(VERDICT_REJECTED, DELIVERY_SENT);
		assert_state(now(), false, VERDICT_REJECTED, DELIVERY_SENT);
	}
}
END_TEST

START_TEST(the_logs_words_do_not_take_it_away)
{
	apply(response(1, "one", ""));
	stand(VERDICT_PARTIAL, DELIVERY_SENT);
	apply(request(2, "accepted"));
	assert_state(now(), false, VERDICT_PARTIAL, DELIVERY_SENT);
	ck_assert_uint_eq(now().decided, 1);
	apply(response(2, NULL, ""));
	assert_state(now(), false, VERDICT_PARTIAL, DELIVERY_SENT);
}
END_TEST

START_TEST(what_overtakes_a_staged_one_counts)
{
	apply(response(1, "one", ""));
	stand(VERDICT_ACCEPTED, DELIVERY_STAGED);
	apply(response(2, NULL, ""));
	assert_state(now(), false, VERDICT_SUPERSEDED, DELIVERY_STAGED);
}
END_TEST

/* What is held was not said: no message acknowledges it, or bounces it. */
START_TEST(nothing_is_proven_that_was_not_said)
{
	static const enum delivery before[] = { DELIVERY_HELD, DELIVERY_RECORDED };

	apply(response(1, "one", ""));
	for (int i = 0; i < 2; i++) {
		stand_in(&model, 1, VERDICT_ACCEPTED, before[i]);
		apply(response(2 + i, NULL, ack("acknowledged")));
		ck_assert_int_eq(now().delivery, before[i]);
	}
}
END_TEST

static void apply_aside(const char *group, const char *json);

START_TEST(what_was_said_is_acknowledged)
{
	apply(response(1, "one", ""));
	apply_aside("log", request(2, "accepted"));
	assert_state(now(), false, VERDICT_ACCEPTED, DELIVERY_SENT);
	apply(response(2, NULL, ack("acknowledged")));
	assert_state(now(), false, VERDICT_ACCEPTED, DELIVERY_ACKNOWLEDGED);
	ck_assert_uint_eq(message_reply(&model, 1)->proof, 2);
}
END_TEST

START_TEST(bounced_it_is_open_again)
{
	apply(response(1, "one", ""));
	apply_aside("log", request(2, "accepted"));
	apply(response(2, NULL, ack("unknown_id")));
	assert_state(now(), true, VERDICT_NONE, DELIVERY_BOUNCED);
	ck_assert_uint_eq(message_reply(&model, 1)->proof, NONE);
	/* bounced is raised anew: the next decision is another one */
	ck_assert_uint_eq(now().anew, 2);
	apply_aside("log", request(3, "rejected"));
	assert_state(now(), false, VERDICT_REJECTED, DELIVERY_SENT);
}
END_TEST

START_TEST(the_same_in_a_later_turn_is_open)
{
	apply(response(1, "one", ""));
	apply_aside("log", request(2, "rejected"));
	apply(response(2, "one", ack("acknowledged")));
	assert_state(now(), true, VERDICT_NONE, DELIVERY_NONE);
	ck_assert(now().came_back);
}
END_TEST

START_TEST(only_what_is_staged_expires)
{
	int64_t deadline;

	apply(question("q1", ",\"timeout\":1000"));
	deadline = item_deadline(&model, &model.items.v[0], 1);
	ck_assert(deadline != TIME_NONE);
	stand(VERDICT_ANSWERED, DELIVERY_STAGED);
	assert_state(at_k(&model, 1, deadline), true, VERDICT_ANSWERED, DELIVERY_STAGED);
	assert_state(at_k(&model, 1, deadline + 1), false, VERDICT_EXPIRED, DELIVERY_STAGED);
	stand(VERDICT_ANSWERED, DELIVERY_RECORDED);
	assert_state(at_k(&model, 1, deadline + 1), false, VERDICT_ANSWERED, DELIVERY_RECORDED);
}
END_TEST

/* As of its first k messages, a log is a log of k messages, decisions and all. */
START_TEST(a_cursor_is_a_shorter_log)
{
	char *log[] = { xstrdup(response(1, "one", "")),
			xstrdup(request(2, "accepted")),
			xstrdup(response(2, "two", ack("unknown_id"))),
			xstrdup(request(3, "rejected")),
			xstrdup(response(3, NULL, ack("acknowledged"))),
			xstrdup(response(4, "two", "")) };
	enum { N = sizeof(log) / sizeof(log[0]) };

	for (int i = 0; i < N; i++)
		apply(log[i]);
	for (uint32_t from = 0; from <= N; from++)
		for (int d = DELIVERY_STAGED; d <= DELIVERY_HELD; d++)
			for (uint32_t k = 1; k <= N; k++) {
				struct model part;
				struct item_state a, b;

				model_init(&part);
				for (uint32_t i = 0; i < k; i++)
					apply_to(&part, "log", log[i]);
				stand_in(&part, from, VERDICT_PARTIAL, (enum delivery)d);
				stand_in(&model, from, VERDICT_PARTIAL, (enum delivery)d);
				a = at_k(&model, k, 5);
				b = at_k(&part, k, 5);
				ck_assert_int_eq(a.person == NONE, b.person == NONE);
				a.person = b.person = 0; /* interned in another order */
				ck_assert_msg(a.open == b.open && a.verdict == b.verdict &&
						      a.delivery == b.delivery &&
						      a.person_ms == b.person_ms &&
						      a.decided == b.decided &&
						      a.message == b.message,
					      "from %u, %s, as of %u", from,
					      delivery_name((enum delivery)d), k);
				model_release(&part);
			}
	for (int i = 0; i < N; i++)
		free(log[i]);
}
END_TEST

/* ---- how much of a source had come ---- */

static void apply_aside(const char *group, const char *json)
{
	struct place place = { .line = model.records.n + 1, .group = str_of(group),
			       .trust = TRUST_REPLY };
	struct frame_info info = { .reply = true };

	dialect_decode(&decoder, str_of(json), &info, &message);
	model_apply(&model, &message, &place);
}

START_TEST(seen_means_the_same_beside_other_sources)
{
	/* a b b a a (a's replies) a: seven messages, five of them counted */
	apply_to(&model, "a", "one");
	apply_to(&model, "b", "one");
	apply_to(&model, "b", "two");
	apply_to(&model, "a", "two");
	apply_to(&model, "a", "three");
	apply_aside("a", "reply");
	apply_to(&model, "a", "four");
	ck_assert_uint_eq(model.sessions.n, 2);
	ck_assert_uint_eq(model_seen(&model, 0, 0), 0);
	ck_assert_uint_eq(model_seen(&model, 0, 1), 1);
	ck_assert_uint_eq(model_seen(&model, 0, 3), 1);
	ck_assert_uint_eq(model_seen(&model, 0, 5), 3);
	ck_assert_uint_eq(model_seen(&model, 0, 6), 3);
	ck_assert_uint_eq(model_seen(&model, 0, 7), 4);
	ck_assert_uint_eq(model_seen(&model, 1, 7), 2);
	ck_assert_uint_eq(model_when_seen(&model, 0, 0), 0);
	ck_assert_uint_eq(model_when_seen(&model, 0, 1), 1);
	ck_assert_uint_eq(model_when_seen(&model, 0, 2), 4);
	ck_assert_uint_eq(model_when_seen(&model, 0, 3), 5);
	ck_assert_uint_eq(model_when_seen(&model, 0, 4), 7);
	ck_assert_uint_eq(model_when_seen(&model, 0, 5), 7);
	ck_assert_uint_eq(model_when_seen(&model, 1, 2), 3);
}
END_TEST

/* ---- replies ---- */

#define AGENT(field, name, type) \
	"\"" field "\":{\"agent_id\":\"" name "\",\"agent_type\":\"" type "\"}"
#define SAID \
	"{\"message_id\":\"p1\",\"message_type\":\"feedback\"," \
	AGENT("from_agent", "ann", "architect") "," AGENT("to_agent", "dev", "developer") \
	",\"payload\":{}}"
#define HEARD_BY(name) \
	"{\"message_id\":\"by-" name "\",\"message_type\":\"acknowledgment\",\"reply_to\":\"p1\"," \
	AGENT("from_agent", name, "developer") ",\"payload\":{}}"

START_TEST(only_the_addressee_acknowledges_a_reply)
{
	apply_aside("log", SAID);
	ck_assert_uint_eq(model.replies.n, 1);
	ck_assert_uint_eq(message_reply(&model, 0)->proof, NONE);
	apply(HEARD_BY("eve"));
	ck_assert_uint_eq(message_reply(&model, 0)->proof, NONE);
	ck_assert_uint_eq(message_reply(&model, 0)->stray, 1);
	apply(HEARD_BY("dev"));
	ck_assert_uint_eq(message_reply(&model, 0)->proof, 2);
	ck_assert_ptr_null(message_reply(&model, 1));
}
END_TEST

/* a r r a r: numbered 1, 1.1, 1.2, 2, 2.1 */
START_TEST(replies_are_numbered_behind_messages)
{
	static const struct message_number numbers[] = { { 1, 0 }, { 1, 1 }, { 1, 2 }, { 2, 0 },
							 { 2, 1 } };
	uint32_t k;

	apply_to(&model, "a", "one");
	apply_aside("a", "reply");
	apply_aside("a", "another");
	apply_to(&model, "a", "two");
	apply_aside("a", "the last");
	for (uint32_t i = 0; i < 5; i++) {
		ck_assert_uint_eq(message_number(&model, i).n, numbers[i].n);
		ck_assert_uint_eq(message_number(&model, i).r, numbers[i].r);
		ck_assert_uint_eq(model_cut_number(&model, numbers[i].n, numbers[i].r), i + 1);
	}
	ck_assert_uint_eq(model_cut_number(&model, 0, UINT32_MAX), 0);
	ck_assert_uint_eq(model_cut_number(&model, 1, UINT32_MAX), 3);
	ck_assert_uint_eq(model_cut_number(&model, 1, 7), 3);
	ck_assert_uint_eq(model_cut_number(&model, 2, UINT32_MAX), 5);
	ck_assert_uint_eq(model_cut_number(&model, 9, 0), 4);
	ck_assert(model_cut_named(&model, STR("#1.1"), &k) && k == 2);
	ck_assert(model_cut_named(&model, STR("#1.0"), &k) && k == 1);
	ck_assert(model_cut_named(&model, STR("#1"), &k) && k == 3);
	ck_assert(!model_cut_named(&model, STR("#1."), &k));
	ck_assert(!model_cut_named(&model, STR("1"), &k));
	ck_assert(!model_cut_named(&model, STR("#"), &k));
}
END_TEST

/* ---- groups ---- */

static const char *collaboration(const char *type, const char *decider, const char *more,
				 const char *payload)
{
	return text("{\"message_id\":\"m-%s\",\"message_type\":\"%s\",\"timestamp\":"
		    "\"2026-01-26T10:00:00Z\",\"from_agent\":{\"agent_id\":\"arch\",\"agent_type\":"
		    "\"architect\",\"instance_id\":\"%s\"},\"to_agent\":{\"agent_id\":\"dev\","
		    "\"agent_type\":\"developer\",\"instance_id\":\"1\"}%s,\"payload\":{%s}}",
		    type, type, decider, more, payload);
}

START_TEST(a_response_belongs_to_its_request)
{
	apply_to(&model, "a", question("q1", ""));
	apply_to(&model, "b", question("q2", ""));
	assert_str(group_of(answer("r", "q1")), "a");
	assert_str(group_of(answer("r", "q2")), "b");
	assert_str(group_of(answer("r", "q3")), "");
	assert_str(group_of(question("q1", "")), "");
	apply_to(&model, "b", question("q1", ""));
	assert_str(group_of(answer("r", "q1")), "");
}
END_TEST

START_TEST(a_request_belongs_to_what_it_decides)
{
	apply_to(&model, "a", response(1, "one", ""));
	apply_to(&model, "b", response(1, NULL, ""));
	apply_to(&model, "c", response(4, NULL, ""));
	assert_str(group_of(request(2, "accepted")), "a");
	assert_str(group_of(request(2, NULL)), ""); /* of a and b */
	assert_str(group_of(request(5, NULL)), "c");
	assert_str(group_of(request(1, NULL)), "");
	apply_to(&model, "d", response(3, "one", ""));
	assert_str(group_of(request(2, "accepted")), "a"); /* it goes on there */
	assert_str(group_of(request(4, "accepted")), "d");
	assert_str(group_of(request(9, "accepted")), "");
}
END_TEST

START_TEST(a_persons_message_belongs_to_its_task)
{
	const char *corr = ",\"correlation_id\":\"c1\"";
	const char *task = "\"task\":{\"task_id\":\"t1\",\"context\":{}}";
	const char *again = "\"task\":{\"task_id\":\"t9\",\"context\":{\"previous_attempts\":[\"x\"]}}";
	const char *abort_it = "\"scope\":\"task\",\"target_id\":\"t1\"";

	apply_to(&model, "a", collaboration("task_assignment", "1", corr, task));
	assert_str(group_of(collaboration("task_assignment", "human", corr, again)), "a");
	/* another log may use the same ids */
	assert_str(group_of(collaboration("task_assignment", "human", corr, task)), "");
	assert_str(group_of(collaboration("task_assignment", "1", corr, again)), "");
	assert_str(group_of(collaboration("abort", "human", "", abort_it)), "a");
	assert_str(group_of(collaboration("abort", "1", "", abort_it)), "");
	assert_str(group_of(collaboration("feedback", "1",
					  ",\"reply_to\":\"m-task_assignment\"", "")), "a");
	assert_str(group_of(collaboration("feedback", "human", ",\"reply_to\":\"m-x\"", "")), "");
	assert_str(group_of(collaboration("review_result", "human", "",
					  "\"review_id\":\"r1\",\"task_id\":\"t1\","
					  "\"verdict\":\"approved\"")), "a");
}
END_TEST

static const char *input(int iteration)
{
	return text("{\"context\":{\"feature\":\"f\",\"workflow\":\"w\",\"iteration\":%d},"
		    "\"paths\":{},\"task\":{\"action\":\"x\",\"params\":{}},"
		    "\"prior_context\":\"\"}",
		    iteration);
}

START_TEST(decisions_and_envelopes_belong_to_their_tasks)
{
	const char *decision = "{\"task_id\":\"t1\",\"decision\":\"approve\",\"rationale\":\"r\","
			       "\"state_version\":\"v\",\"created_at\":\"2026-01-26T10:00:00Z\"}";

	assert_str(group_of(decision), "");
	apply_to(&model, "a", "{\"task_id\":\"t1\",\"status\":\"success\",\"confidence_score\":"
			      "0.8,\"output\":{},\"traces\":\"t\",\"created_at\":\"2026-01-26T10:00:00Z\"}");
	apply_to(&model, "b", input(1));
	assert_str(group_of(decision), "a");
	assert_str(group_of(input(2)), "b");
	assert_str(group_of(input(1)), "");
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("standing");
	TCase *t = tcase_create("standings");

	tcase_add_checked_fixture(t, setup, teardown);
	suite_add_tcase(suite, t);
	tcase_add_test(t, staged_leaves_the_item_open);
	tcase_add_test(t, recorded_and_further_closes_it);
	tcase_add_test(t, taken_away_the_log_is_as_before);
	tcase_add_test(t, before_it_was_decided_it_is_not_seen);
	tcase_add_test(t, said_again_in_the_same_words_is_the_same);
	tcase_add_test(t, raised_anew_it_is_open_again);
	tcase_add_test(t, the_logs_words_do_not_take_it_away);
	tcase_add_test(t, what_overtakes_a_staged_one_counts);
	tcase_add_test(t, nothing_is_proven_that_was_not_said);
	tcase_add_test(t, what_was_said_is_acknowledged);
	tcase_add_test(t, the_same_in_a_later_turn_is_open);
	tcase_add_test(t, bounced_it_is_open_again);
	tcase_add_test(t, only_what_is_staged_expires);
	tcase_add_test(t, a_cursor_is_a_shorter_log);
	tcase_add_test(t, seen_means_the_same_beside_other_sources);

	t = tcase_create("replies");
	tcase_add_checked_fixture(t, setup, teardown);
	suite_add_tcase(suite, t);
	tcase_add_test(t, only_the_addressee_acknowledges_a_reply);
	tcase_add_test(t, replies_are_numbered_behind_messages);

	t = tcase_create("groups");
	tcase_add_checked_fixture(t, setup, teardown);
	suite_add_tcase(suite, t);
	tcase_add_test(t, a_response_belongs_to_its_request);
	tcase_add_test(t, a_request_belongs_to_what_it_decides);
	tcase_add_test(t, a_persons_message_belongs_to_its_task);
	tcase_add_test(t, decisions_and_envelopes_belong_to_their_tasks);
	return unit_run(suite);
}
