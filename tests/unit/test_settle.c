/* How what is on the desk stands in the model: found again in the journal by another run, whatever
 * the log is called then and whatever it says by then. */
#include "encode/verbs.h"
#include "decide/desk.h"
#include "decide/reader.h"

#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static char folder[] = "/tmp/gavel-settle-XXXXXX";
static struct model model;
static struct decoder decoder, again;
static struct message message;
static struct desk desk;
static struct buf base;
static VEC(struct str) lines;

static bool read_detail(void *ctx, const struct item *item, const struct item_state *state,
			struct detail *out)
{
	(void)ctx;
	dialect_look(&again, lines.v[state->message], DIALECT_UNKNOWN);
	return dialect_detail(&again, item->kind, state->index, out);
}

static const struct reader reader = { .detail = read_detail };

static void apply(const char *group, const char *json)
{
	struct place place = { .line = model.records.n + 1, .group = str_of(group) };

	vec_push(&lines, str_of(json));
	dialect_decode(&decoder, str_of(json), NULL, &message);
	model_apply(&model, &message, &place);
}

static const char first[] = "{\"id\":\"q1\",\"type\":\"event:question\",\"timestamp\":"
			    "\"2026-01-26T10:00:00.000Z\",\"agentId\":\"a\",\"payload\":{\"question\":"
			    "\"Which way?\"}}",
		  another[] = "{\"id\":\"q1\",\"type\":\"event:question\",\"timestamp\":"
			      "\"2026-01-27T10:00:00.000Z\",\"agentId\":\"a\",\"payload\":{\"question\":"
			      "\"Delete it all?\"}}";

/* A new run: an empty model, and the desk of the log under this name. */
static void start(const char *source)
{
	desk = (struct desk){ .reader = &reader };
	model_init(&model);
	lines.n = 0;
	desk_open(&desk, base.p, source, true);
	ck_assert_int_eq(desk.access, DESK_WRITES);
}

static void finish(void)
{
	desk_close(&desk);
	model_release(&model);
}

static void setup(void)
{
	FILE *f;

	strcpy(folder + sizeof(folder) - 7, "XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(folder));
	ck_assert_int_eq(chdir(folder), 0);
	f = fopen("log", "w");
	ck_assert_ptr_nonnull(f);
	fclose(f);
	buf_clear(&base);
	buf_printf(&base, "%s/state", folder);
	start("log");
	apply("log", first);
	desk_settle(&desk, &model);
}

static void teardown(void)
{
	char *command = NULL;

	finish();
	decoder_release(&decoder);
	decoder_release(&again);
	message_release(&message);
	vec_release(&lines);
	buf_release(&base);
	ck_assert_int_ge(asprintf(&command, "rm -rf %s", folder), 0);
	ck_assert_int_eq(system(command), 0);
	free(command);
}

static struct item_state state(void)
{
	struct item_state st = { 0 };

	ck_assert(item_at(&model, &model.items.v[0], model.records.n, TIME_NONE, &st));
	return st;
}

static uint32_t stage(enum verb verb, const char *corrects)
{
	struct item_state st = state();
	struct buf rev = { 0 };
	struct draft draft = { .session = session_name(&model, 0), .item = STR("q1"),
			       .kind = ITEM_QUESTION, .dialect = DIALECT_ORCHESTRATOR, .verb = verb,
			       .answer = STR("left"), .by = STR("ann"), .number = 0,
			       .seen = model_seen(&model, 0, model.records.n),
			       .corrects = str_of(corrects) };
	struct err err = { { 0 } };
	uint32_t number = NONE;

	item_rev(&reader, &model.items.v[0], &st, &rev);
	draft.rev = buf_str(&rev);
	ck_assert_msg(desk_stage(&desk, &draft, &number, &err) == 0, "%s", err.text);
	buf_release(&rev);
	desk_settle(&desk, &model);
	return number;
}

static uint32_t find_on_q1(void)
{
	return desk_find(&desk, &(struct draft){ .session = session_name(&model, 0),
						 .item = STR("q1"), .kind = ITEM_QUESTION });
}

/* A letter that goes nowhere: the record is all. */
static void record(uint32_t draft)
{
	struct letter letter = { .dialect = DIALECT_ORCHESTRATOR, .channel = CHANNEL_NONE,
				 .path = STR(""), .to = STR("a"), .bytes = STR("x\n") };
	struct err err = { { 0 } };
	uint32_t number;

	vec_push(&letter.drafts, draft);
	ck_assert_msg(desk_send_all(&desk, &letter, 1, &number, &err) == 0, "%s", err.text);
	vec_release(&letter.drafts);
	desk_settle(&desk, &model);
}

#define assert_stands(want_verdict, want_delivery) \
	do { \
		struct item_state st_ = state(); \
		ck_assert_str_eq(verdict_name(st_.verdict), verdict_name(want_verdict)); \
		ck_assert_str_eq(delivery_name(st_.delivery), delivery_name(want_delivery)); \
	} while (0)

START_TEST(a_decision_stands_in_the_next_run)
{
	record(stage(VERB_ANSWER, ""));
	assert_stands(VERDICT_ANSWERED, DELIVERY_RECORDED);
	finish();
	start("log");
	desk_settle(&desk, &model);
	apply("log", first);
	desk_settle(&desk, &model);
	assert_stands(VERDICT_ANSWERED, DELIVERY_RECORDED);
	ck_assert(!state().open);
}
END_TEST

START_TEST(under_another_name_too)
{
	struct buf whole = { 0 };

	record(stage(VERB_ANSWER, ""));
	finish();
	buf_printf(&whole, "%s/./log", folder);
	start(whole.p);
	apply(whole.p, first);
	desk_settle(&desk, &model);
	assert_stands(VERDICT_ANSWERED, DELIVERY_RECORDED);
	ck_assert_uint_ne(find_on_q1(),
			  NONE);
	buf_release(&whole);
}
END_TEST

START_TEST(beside_another_log_too)
{
	record(stage(VERB_ANSWER, ""));
	finish();
	start("log");
	apply("other", "text");
	apply("other", "text");
	apply("log", first);
	desk_settle(&desk, &model);
	assert_stands(VERDICT_ANSWERED, DELIVERY_RECORDED);
}
END_TEST

START_TEST(another_log_under_the_name_is_not_decided)
{
	record(stage(VERB_ANSWER, ""));
	finish();
	start("log");
	apply("log", another);
	apply("log", "text");
	desk_settle(&desk, &model);
	assert_stands(VERDICT_NONE, DELIVERY_NONE);
	ck_assert(state().open);
}
END_TEST

START_TEST(what_is_undone_uncovers_what_was_before)
{
	uint32_t answer = stage(VERB_ANSWER, ""), correction;
	struct err err;

	record(answer);
	correction = stage(VERB_DISMISS, desk.drafts.v[answer].id);
	assert_stands(VERDICT_DISMISSED, DELIVERY_STAGED);
	ck_assert_int_eq(desk_undo(&desk, correction, &err), 0);
	desk_settle(&desk, &model);
	assert_stands(VERDICT_ANSWERED, DELIVERY_RECORDED);
}
END_TEST

/* A correction is a second live decision on the item: the newer one stands, now and later. */
START_TEST(of_two_decisions_the_newer_stands)
{
	uint32_t answer = stage(VERB_ANSWER, "");

	record(answer);
	record(stage(VERB_DISMISS, desk.drafts.v[answer].id));
	assert_stands(VERDICT_DISMISSED, DELIVERY_RECORDED);
	finish();
	start("log");
	apply("log", first);
	desk_settle(&desk, &model);
	assert_stands(VERDICT_DISMISSED, DELIVERY_RECORDED);
	ck_assert_uint_eq(find_on_q1(), 1);
}
END_TEST

/* Whether the question takes the verb, and the draft that this would correct. */
static bool takes(enum verb verb, bool correct, uint32_t *corrects, const char *words)
{
	struct draft draft = { .verb = verb };
	struct arena arena = { 0 };
	struct buf why = { 0 };
	bool taken;

	*corrects = NONE;
	ck_assert(draft_bind(&draft, &model, &reader, 0, model.records.n, &arena));
	taken = desk_allows(&desk, &draft, &model, model.records.n, TIME_NONE,
			   correct ? corrects : NULL, &why);
	ck_assert_str_eq(why.n ? why.p : "", words);
	buf_release(&why);
	arena_release(&arena);
	return taken;
}

/* Whether the verb is taken; if not, why not must contain these words. */
static bool refused_words(enum verb verb, const char *words)
{
	struct draft draft = { .verb = verb };
	struct arena arena = { 0 };
	struct buf why = { 0 };
	bool taken;

	ck_assert(draft_bind(&draft, &model, &reader, 0, model.records.n, &arena));
	taken = desk_allows(&desk, &draft, &model, model.records.n, TIME_NONE, NULL, &why);
	ck_assert_msg(taken || str_find(buf_str(&why), str_of(words), 0) >= 0, "%s", why.p);
	buf_release(&why);
	arena_release(&arena);
	return taken;
}

/* The same verbs for a first decision and a correction; what differs is what closes the item. */
START_TEST(what_an_item_takes)
{
	static const char answered[] = "{\"id\":\"r1\",\"type\":\"response:success\",\"timestamp\":"
				       "\"2026-01-26T10:00:01.000Z\",\"correlationId\":\"q1\","
				       "\"payload\":{\"answer\":\"left\"}}",
			  no[] = "can't accept this item; available: answer, dismiss, "
				 "escalate",
			  closed[] = "only a person's decision can be corrected";
	uint32_t corrects, first_one;

	for (int correct = 0; correct < 2; correct++) {
		ck_assert(takes(VERB_ANSWER, correct, &corrects, ""));
		ck_assert(!takes(VERB_ACCEPT, correct, &corrects, no));
		ck_assert_uint_eq(corrects, NONE);
	}
	/* what is staged can still be another verb */
	first_one = stage(VERB_ANSWER, "");
	ck_assert(takes(VERB_DISMISS, true, &corrects, ""));
	ck_assert_uint_eq(corrects, NONE);
	/* a dismissal is said to nobody: it can be decided otherwise */
	first_one = stage(VERB_DISMISS, "");
	record(first_one);
	ck_assert(!refused_words(VERB_ANSWER, "already decided: dismissed by ann"));
	ck_assert(takes(VERB_ANSWER, true, &corrects, ""));
	ck_assert_uint_eq(corrects, first_one);
	ck_assert(!takes(VERB_ACCEPT, true, &corrects, no));
	apply("log", answered);
	ck_assert(!refused_words(VERB_ANSWER, closed));
	/* asked anew, in other words: that is no correction */
	apply("log", another);
	ck_assert(takes(VERB_ANSWER, true, &corrects, ""));
	ck_assert_uint_eq(corrects, NONE);
}
END_TEST

#define RESPONSE(session) \
	"{\"type\":\"text\",\"timestamp\":1761021546835,\"sessionID\":\"" session "\",\"part\":{" \
	"\"id\":\"p\",\"type\":\"text\",\"text\":\"{\\\"protocol_version\\\":\\\"1.2\\\"," \
	"\\\"iteration\\\":1,\\\"status\\\":\\\"success\\\",\\\"feedback\\\":{" \
	"\\\"confidence\\\":{\\\"level\\\":\\\"high\\\",\\\"justification\\\":\\\"j\\\"}," \
	"\\\"positive_points\\\":[],\\\"areas_for_improvement\\\":[{\\\"id\\\":\\\"item-one-1\\\"," \
	"\\\"aspect\\\":\\\"a\\\",\\\"description\\\":\\\"d\\\",\\\"recommendation\\\":" \
	"\\\"r\\\"}],\\\"general_summary\\\":\\\"s\\\"}}\"}}"

/* The same id, and even the same words, in two sessions of a log. */
START_TEST(items_of_two_sessions_are_not_mixed_up)
{
	struct draft draft = { .item = STR("item-one-1"), .kind = ITEM_IMPROVEMENT,
			       .dialect = DIALECT_FEEDBACK, .verb = VERB_REJECT, .by = STR("ann"),
			       .explanation = STR("no"), .session = STR("ses_b"), .number = NONE };
	struct buf rev = { 0 };
	struct item_state at;
	struct err err = { { 0 } };
	uint32_t number;

	for (int run = 0; run < 2; run++) {
		apply("log", RESPONSE("ses_a"));
		apply("log", RESPONSE("ses_b"));
		ck_assert_uint_eq(model.items.n, 3 - (uint32_t)run);
		for (uint32_t i = model.items.n - 2; i < model.items.n; i++) {
			uint32_t session = item_session(&model, &model.items.v[i]);
			bool decided = str_is(session_name(&model, session), "ses_b");

			ck_assert(item_at(&model, &model.items.v[i], model.records.n, TIME_NONE, &at));
			if (!run && decided) {
				item_rev(&reader, &model.items.v[i], &at, &rev);
				draft.rev = buf_str(&rev);
				draft.seen = model_seen(&model, session,
							model.records.n);
				ck_assert_int_eq(desk_stage(&desk, &draft, &number, &err), 0);
			}
			desk_settle(&desk, &model);
			ck_assert(item_at(&model, &model.items.v[i], model.records.n, TIME_NONE, &at));
			ck_assert_int_eq(at.delivery, decided ? DELIVERY_STAGED : DELIVERY_NONE);
		}
		if (!run) {
			finish();
			start("log");
		}
	}
	buf_release(&rev);
}
END_TEST

START_TEST(undone_nothing_stands)
{
	struct err err;

	ck_assert_int_eq(desk_undo(&desk, stage(VERB_ANSWER, ""), &err), 0);
	desk_settle(&desk, &model);
	assert_stands(VERDICT_NONE, DELIVERY_NONE);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("settle");
	TCase *t = tcase_create("settle");

	tcase_add_checked_fixture(t, setup, teardown);
	suite_add_tcase(suite, t);
	tcase_add_test(t, a_decision_stands_in_the_next_run);
	tcase_add_test(t, under_another_name_too);
	tcase_add_test(t, beside_another_log_too);
	tcase_add_test(t, another_log_under_the_name_is_not_decided);
	tcase_add_test(t, what_is_undone_uncovers_what_was_before);
	tcase_add_test(t, undone_nothing_stands);
	tcase_add_test(t, of_two_decisions_the_newer_stands);
	tcase_add_test(t, what_an_item_takes);
	tcase_add_test(t, items_of_two_sessions_are_not_mixed_up);
	return unit_run(suite);
}
