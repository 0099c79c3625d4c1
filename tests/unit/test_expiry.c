/* Deadlines: whose message expires what in a recording, which raise a deadline belongs to, and
 * which times are believed. */
#include "dialect/dialect.h"
#include "model/rules.h"

#include "chance.h"
#include "unit.h"

#include <stdarg.h>
#include <stdio.h>

enum { HOUR = 3600000, LINES = 400 };

static struct model model;
static struct decoder decoder;
static struct message message;
static char lines[LINES][512];
static bool replies[LINES];
static uint32_t line_count;

static void setup(void)
{
	model_init(&model);
	line_count = 0;
}

static void teardown(void)
{
	model_release(&model);
	decoder_release(&decoder);
	message_release(&message);
}

/* A time of that day, so many milliseconds after ten. */
static int64_t at(int64_t ms)
{
	return INT64_C(1770199200000) + ms;
}

static void apply(struct model *m, const char *json, bool reply)
{
	struct place place = { .line = m->records.n + 1, .group = STR("log"),
			       .trust = reply ? TRUST_REPLY : TRUST_LOG };
	struct frame_info info = { .reply = reply };

	dialect_decode(&decoder, str_of(json), &info, &message);
	model_apply(m, &message, &place);
}

static void say(bool reply, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void say(bool reply, const char *format, ...)
{
	char text[512], *line = line_count < LINES ? lines[line_count] : text;
	va_list ap;

	va_start(ap, format);
	vsnprintf(line, sizeof(text), format, ap);
	va_end(ap);
	if (line_count < LINES)
		replies[line_count++] = reply;
	apply(&model, line, reply);
}

static const char *clock_of(int64_t ms)
{
	static char out[4][32];
	static unsigned next;

	return timestamp_iso(at(ms), out[next++ % 4]);
}

static const char *named(const char *agent)
{
	static char out[64];

	if (!agent)
		return "";
	snprintf(out, sizeof(out), "\"agentId\":\"%s\",", agent);
	return out;
}

static void ask_words(const char *agent, const char *id, int64_t ms, int64_t timeout,
		      const char *words)
{
	say(false,
	    "{\"type\":\"request:ask-user\",\"id\":\"%s\",\"timestamp\":\"%s\",%s\"payload\":"
	    "{\"question\":\"%s\",\"options\":[],\"timeout\":%lld}}",
	    id, clock_of(ms), named(agent), words, (long long)timeout);
}

static void ask(const char *agent, const char *id, int64_t ms, int64_t timeout)
{
	ask_words(agent, id, ms, timeout, "Which?");
}

static void note(const char *agent, int64_t ms)
{
	static unsigned n;

	say(false,
	    "{\"type\":\"event:log\",\"id\":\"n-%u\",\"timestamp\":\"%s\",%s\"payload\":"
	    "{\"level\":\"info\",\"message\":\"Hello\"}}",
	    n++, clock_of(ms), named(agent));
}

static void notify(int64_t ms)
{
	say(false,
	    "{\"type\":\"notify:shutdown\",\"id\":\"s\",\"timestamp\":\"%s\",\"payload\":"
	    "{\"reason\":\"done\",\"gracePeriod\":1000}}",
	    clock_of(ms));
}

static void answer(bool reply, const char *id, int64_t ms)
{
	static unsigned n;

	say(reply,
	    "{\"type\":\"response:success\",\"id\":\"a-%u\",\"timestamp\":\"%s\","
	    "\"correlationId\":\"%s\",\"payload\":{\"answer\":\"this\"}}",
	    n++, clock_of(ms), id);
}

static struct item_state state(const char *id)
{
	struct item_state out;
	uint32_t item = find_item(&model, 0, ITEM_QUESTION, str_of(id), NONE);

	ck_assert_uint_ne(item, NONE);
	ck_assert(item_at(&model, &model.items.v[item], model.records.n, TIME_NONE, &out));
	return out;
}

static void assert_open(const char *id)
{
	ck_assert_msg(state(id).open && state(id).verdict == VERDICT_NONE, "%s: %s", id,
		      verdict_name(state(id).verdict));
}

static void assert_verdict(const char *id, enum verdict verdict)
{
	ck_assert_msg(!state(id).open && state(id).verdict == verdict, "%s: %s", id,
		      verdict_name(state(id).verdict));
}

/* ---- who expires ---- */

START_TEST(who_asked_expires_what_it_asked)
{
	ask("dev", "q-1", 0, 1000);
	ask("other", "q-2", 0, 1000);
	note("dev", 1000);
	assert_open("q-1");
	note("dev", 1001);
	assert_verdict("q-1", VERDICT_EXPIRED);
	ck_assert_uint_eq(state("q-1").decided, NONE);
	assert_open("q-2");
}
END_TEST

START_TEST(a_third_agent_expires_nothing)
{
	ask("dev", "q-1", 0, 1000);
	note("evil", HOUR);
	note("evil", INT64_C(24) * 365 * HOUR);
	note(NULL, HOUR);
	ask("evil", "q-2", HOUR, 1000);
	assert_open("q-1");
}
END_TEST

START_TEST(the_orchestrator_and_a_person_expire_what_anybody_asked)
{
	ask("dev", "q-1", 0, 1000);
	ask("other", "q-2", 0, 2000);
	ask("other", "q-3", 0, 4000);
	notify(2001);
	assert_verdict("q-1", VERDICT_EXPIRED);
	assert_verdict("q-2", VERDICT_EXPIRED);
	assert_open("q-3");
	ask("dev", "q-4", 2001, 500);
	answer(true, "q-4", 4001);
	assert_verdict("q-4", VERDICT_ANSWERED); /* late, but it is what came first */
	assert_verdict("q-3", VERDICT_EXPIRED);
}
END_TEST

START_TEST(where_nobody_has_a_name_anybody_expires)
{
	ask(NULL, "q-1", 0, 1000);
	ask("dev", "q-2", 0, 1000);
	note("other", 1001);
	assert_verdict("q-1", VERDICT_EXPIRED);
	assert_open("q-2");
}
END_TEST

START_TEST(what_expired_is_not_answered)
{
	ask("dev", "q-1", 0, 1000);
	note("dev", 2000);
	answer(false, "q-1", 3000);
	assert_verdict("q-1", VERDICT_EXPIRED);
	ask("dev", "q-2", 3000, 1000);
	note("dev", 5000);
	answer(true, "q-2", 6000);
	assert_verdict("q-2", VERDICT_EXPIRED);
	ask("dev", "q-3", 6000, 1000);
	answer(false, "q-3", 8000); /* the first message past its deadline; check says so */
	assert_verdict("q-3", VERDICT_ANSWERED);
}
END_TEST

/* Their messages have the same time, that of the recording. */
START_TEST(what_a_person_says_makes_the_next_answer_not_late)
{
	ask("dev", "q-1", 0, 1000);
	ask("dev", "q-2", 0, 1000);
	note("other", 2000);
	answer(true, "q-1", 2001);
	assert_verdict("q-2", VERDICT_EXPIRED);
	answer(true, "q-2", 2001);
	assert_verdict("q-1", VERDICT_ANSWERED);
	assert_verdict("q-2", VERDICT_ANSWERED);
	ck_assert_int_eq(state("q-2").delivery, DELIVERY_SENT);
}
END_TEST

START_TEST(what_changes_nothing_expires_nothing)
{
	static const char *const log =
		"{\"type\":\"event:log\",\"id\":\"same\",\"timestamp\":\"2026-02-04T09:59:00Z\","
		"\"agentId\":\"dev\",\"payload\":{\"level\":\"info\",\"message\":\"Hello\"}}";
	struct place place = { .line = 9, .group = STR("log"), .trust = TRUST_REPLY,
			       .unplaced = true };
	struct frame_info info = { .reply = true };

	say(false, "%s", log);
	ask("dev", "q-1", -120000, 1000);
	say(false, "%s", log); /* a repetition */
	assert_open("q-1");
	dialect_decode(&decoder, STR("{\"type\":\"notify:shutdown\",\"id\":\"s\",\"timestamp\":"
				     "\"2026-02-04T11:00:00Z\",\"payload\":{}}"), &info, &message);
	model_apply(&model, &message, &place);
	assert_open("q-1");
	say(false, "{\"type\":\"event:log\",\"id\":\"n\",\"agentId\":\"dev\",\"payload\":"
		   "{\"level\":\"info\",\"message\":\"No time\"}}");
	assert_open("q-1");
}
END_TEST

/* ---- whose deadline ---- */

START_TEST(a_deadline_belongs_to_its_raise)
{
	const struct item *item;

	ask_words("dev", "q-1", 0, 1, "Mine?");
	ask_words("dev", "q-1", 0, 300000, "Yours?");
	item = &model.items.v[0];
	ck_assert_int_eq(item_deadline(&model, item, 0), TIME_NONE);
	ck_assert_int_eq(item_deadline(&model, item, 1), at(1));
	ck_assert_int_eq(item_deadline(&model, item, 2), at(300000));
	note("dev", 1000); /* that of the first raise means nothing any more */
	assert_open("q-1");
	note("dev", 300001);
	assert_verdict("q-1", VERDICT_EXPIRED);
}
END_TEST

START_TEST(the_newest_words_set_the_deadline)
{
	ask("dev", "q-1", 0, 1000);
	ask("dev", "q-1", 10, 100); /* other words: the timeout is one of them */
	ck_assert_int_eq(state("q-1").deadline_ms, at(110));
	ask("dev", "q-1", 20, 1000);
	ck_assert_int_eq(state("q-1").deadline_ms, at(1020));
	ask("dev", "q-1", 500, 1000);
	ck_assert_int_eq(state("q-1").deadline_ms, at(1500));
	ck_assert_uint_eq(state("q-1").times, 4);
}
END_TEST

START_TEST(asked_again_after_its_deadline_it_is_open)
{
	ask("dev", "q-1", 0, 1000);
	note("dev", 2000);
	assert_verdict("q-1", VERDICT_EXPIRED);
	ask("dev", "q-1", 3000, 1000);
	assert_open("q-1");
	ck_assert_int_eq(state("q-1").deadline_ms, at(4000));
	ck_assert_uint_eq(state("q-1").anew, 2);
	ask("dev", "q-1", 5000, 1000); /* nothing has come in between */
	assert_open("q-1");
	ck_assert_int_eq(state("q-1").deadline_ms, at(6000));
	ck_assert_uint_eq(model.items.v[0].steps[3].what, STEP_EXPIRED);
	note("dev", 6001);
	assert_verdict("q-1", VERDICT_EXPIRED);
}
END_TEST

START_TEST(a_raise_without_a_deadline_has_none)
{
	uint32_t due;

	ask("dev", "q-1", 0, 1000);
	say(false,
	    "{\"type\":\"event:question\",\"id\":\"q-1\",\"timestamp\":\"%s\",\"agentId\":\"dev\","
	    "\"payload\":{\"question\":\"Which?\"}}",
	    clock_of(500));
	ck_assert_int_eq(state("q-1").deadline_ms, TIME_NONE);
	note("dev", 9000);
	assert_open("q-1");
	ck_assert_uint_eq(model_open(&model, 2, TIME_NONE, &due), 1);
	ck_assert_uint_eq(due, 0);
	ck_assert_uint_eq(model_open(&model, 1, TIME_NONE, &due), 1);
	ck_assert_uint_eq(due, 1);
}
END_TEST

/* ---- as of any message, and under attack ---- */

static void say_something(uint32_t i)
{
	static const char *const agents[] = { "dev", "evil", "other", NULL };
	char id[16];

	snprintf(id, sizeof(id), "q-%u", chance(12));
	switch (chance(8)) {
	case 0: notify((int64_t)i * 100 + chance(900)); break;
	case 1: answer(chance(2), id, (int64_t)i * 100 + chance(900)); break;
	case 2:
		note(agents[chance(4)], (int64_t)i * 100 + (chance(9) ? chance(900) : 3 * HOUR));
		break;
	case 3: note(agents[chance(4)], (int64_t)i * 100); break;
	default:
		ask(agents[chance(4)], id, (int64_t)i * 100 + chance(900), chance(3) * 1000);
		break;
	}
}

START_TEST(a_cursor_is_a_shorter_log)
{
	sow(_i);
	for (uint32_t i = 0; i < LINES; i++)
		say_something(i);
	for (uint32_t k = 1; k <= LINES; k += 1 + chance(9)) {
		struct model part;
		uint32_t n, m, *whole = model_inbox(&model, k, TIME_NONE, true, &n, NULL);
		uint32_t *prefix;

		model_init(&part);
		for (uint32_t i = 0; i < k; i++)
			apply(&part, lines[i], replies[i]);
		prefix = model_inbox(&part, k, TIME_NONE, true, &m, NULL);
		ck_assert_msg(n == m && memcmp(whole, prefix, n * sizeof(*whole)) == 0,
			      "as of %u; " TOLD, k, SEED);
		ck_assert_msg(model_now(&model, k) == model_now(&part, k), TOLD, SEED);
		for (uint32_t i = 0; i < n; i++) {
			struct item_state a, b;

			ck_assert(item_at(&model, &model.items.v[i], k, TIME_NONE, &a) &&
				  item_at(&part, &part.items.v[i], k, TIME_NONE, &b));
			ck_assert_msg(a.open == b.open && a.verdict == b.verdict &&
					      a.deadline_ms == b.deadline_ms && a.anew == b.anew,
				      "item %u as of %u; " TOLD, i, k, SEED);
		}
		free(whole);
		free(prefix);
		model_release(&part);
	}
}
END_TEST

/* One message after the other must not look at all that is open. */
START_TEST(many_deadlines_cost_little)
{
	enum { MANY = 100000 };
	char id[32], agent[32];

	for (int i = 0; i < MANY; i++) {
		snprintf(id, sizeof(id), "q-%d", i);
		snprintf(agent, sizeof(agent), "a-%d", _i ? i : 0);
		ask(agent, id, i, 1000000);
	}
	for (int i = 0; i < MANY; i++) { /* answered, they stay in the queues until they are due */
		snprintf(id, sizeof(id), "q-%d", i);
		if (i % 2)
			answer(true, id, 200000);
		else
			note("a-0", 200000);
	}
	ck_assert_uint_eq(model.open_count, MANY / 2);
	for (int i = 0; i < MANY; i++)
		note(i % 2 ? "evil" : "a-0", 1000001 + i);
	ck_assert_uint_eq(model.open_count, _i ? MANY / 2 - 1 : 0);
	notify(HOUR);
	ck_assert_uint_eq(model.open_count, 0);
}
END_TEST

/* ---- which times are believed ---- */

static void tell(int64_t time_ms)
{
	model_add_record(&model, (struct record){ .time_ms = time_ms });
}

START_TEST(a_jump_needs_a_second_message)
{
	tell(TIME_NONE);
	ck_assert_int_eq(model_now(&model, 1), TIME_NONE);
	tell(at(0));
	tell(at(HOUR));
	tell(at(5));
	ck_assert_int_eq(model_now(&model, 4), at(HOUR));
	tell(at(9 * HOUR));
	tell(at(HOUR + 1));
	ck_assert_int_eq(model_now(&model, 6), at(HOUR + 1));
	tell(at(7 * HOUR)); /* another jump, no witness for the first */
	ck_assert_int_eq(model_now(&model, 7), at(HOUR + 1));
	tell(at(6 * HOUR));
	ck_assert_int_eq(model_now(&model, 8), at(7 * HOUR));
	for (uint32_t k = 0; k < 8; k++)
		ck_assert(model_now(&model, k) <= model_now(&model, k + 1));
	ck_assert_int_eq(model_now(&model, 6), at(HOUR + 1));
}
END_TEST

START_TEST(nothing_is_believed_beyond_the_limit)
{
	model_set_limit(&model, at(HOUR));
	tell(at(HOUR + 1)); /* the first one, too */
	ck_assert_int_eq(model_now(&model, 1), TIME_NONE);
	tell(at(0));
	tell(INT64_MAX);
	tell(INT64_MAX);
	tell(INT64_MIN + 1);
	ck_assert_int_eq(model_now(&model, 5), at(0));
	model_set_limit(&model, at(0)); /* a clock that was set back */
	ck_assert_int_eq(model_now(&model, 5), at(0));
	model_set_limit(&model, at(2 * HOUR)); /* time went on: as if it were read now */
	ck_assert_int_eq(model_now(&model, 5), at(HOUR + 1));
	ck_assert_int_eq(model_now(&model, 1), at(HOUR + 1));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("expiry");
	TCase *t = tcase_create("expiry");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, who_asked_expires_what_it_asked);
	tcase_add_test(t, a_third_agent_expires_nothing);
	tcase_add_test(t, the_orchestrator_and_a_person_expire_what_anybody_asked);
	tcase_add_test(t, where_nobody_has_a_name_anybody_expires);
	tcase_add_test(t, what_expired_is_not_answered);
	tcase_add_test(t, what_a_person_says_makes_the_next_answer_not_late);
	tcase_add_test(t, what_changes_nothing_expires_nothing);
	tcase_add_test(t, a_deadline_belongs_to_its_raise);
	tcase_add_test(t, the_newest_words_set_the_deadline);
	tcase_add_test(t, asked_again_after_its_deadline_it_is_open);
	tcase_add_test(t, a_raise_without_a_deadline_has_none);
	tcase_add_loop_test(t, a_cursor_is_a_shorter_log, 0, 6);
	tcase_add_loop_test(t, many_deadlines_cost_little, 0, 2);
	tcase_add_test(t, a_jump_needs_a_second_message);
	tcase_add_test(t, nothing_is_believed_beyond_the_limit);
	suite_add_tcase(suite, t);
	return unit_run(suite);
}
