/* The channel to a team's store, over a store that gives every answer there is: what counts as sent, what
 * was certainly not taken, and what nobody knows. */
#include "channel/channel.h"
#include "channel/team_link.h"

#include "base/mem.h"
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>

static const char path[] = "postgresql://db/team#42";
static const char words[] = "{\"verb\":\"accept\",\"rev\":\"r\"}\n";
static const struct str message = { words, sizeof(words) - 1 };

/* What the store answers to each kind of question; came false: nothing, in time. */
static struct {
	bool unready;
	struct team_answer answers[TEAM_LOOK + 1];
	unsigned asked[TEAM_LOOK + 1], dropped;
	uint64_t fence; /* of the last draft */
} store;

struct team_question {
	enum team_ask what;
	unsigned waited;
};

static bool is_ready(void *ctx, const char *place, struct err *err)
{
	(void)ctx;
	ck_assert_str_eq(place, path);
	if (store.unready)
		err_set(err, "no connection");
	return !store.unready;
}

static struct team_question *ask(void *ctx, const char *place, enum team_ask what, uint64_t fence,
				 struct str bytes)
{
	struct team_question *q = xcalloc(1, sizeof(*q));

	(void)ctx;
	ck_assert_str_eq(place, path);
	ck_assert(what == TEAM_CLAIM || str_eq(bytes, message));
	q->what = what;
	store.asked[what]++;
	store.fence = fence;
	return q;
}

static const struct team_answer *wait_for(struct team_question *q, int timeout_ms)
{
	static const struct team_answer none;

	ck_assert_int_ge(timeout_ms, 0);
	return ++q->waited < 3 ? &none : &store.answers[q->what];
}

static void drop(struct team_question *q)
{
	store.dropped++;
	free(q);
}

static void set_up(void)
{
	memset(&store, 0, sizeof(store));
	team_link = (struct team_link){ is_ready, ask, wait_for, drop, NULL };
}

static void answer(enum team_ask what, const char *outcome, const char *who)
{
	struct team_answer *a = &store.answers[what];

	*a = (struct team_answer){ .came = true, .fence = 7, .left_ms = 100000 };
	snprintf(a->outcome, sizeof(a->outcome), "%s", outcome);
	snprintf(a->who, sizeof(a->who), "%s", who);
}

/* Claims and sends. */
static enum channel_result deliver(struct attempt *at, struct err *err)
{
	struct channel c = { .fd = -1, .wait_ms = 30, .id = "m" };
	enum channel_result r = channel_open(&c, CHANNEL_TEAM, path, err);

	*at = (struct attempt){ 0 };
	if (r == CHANNEL_OK)
		r = channel_prepare(&c, message, false, at, err);
	if (r == CHANNEL_OK)
		r = channel_send(&c, message, at, err);
	channel_close(&c);
	ck_assert_uint_eq(store.dropped, store.asked[0] + store.asked[1] + store.asked[2]);
	return r;
}

START_TEST(what_the_store_takes_is_sent)
{
	static const char *const taken[] = { "decided", "yours", "second", "raised" };

	for (size_t i = 0; i < sizeof(taken) / sizeof(taken[0]); i++) {
		struct attempt at;
		struct err err;

		answer(TEAM_CLAIM, "yours", "ann");
		answer(TEAM_DECIDE, taken[i], "ann");
		ck_assert_int_eq(deliver(&at, &err), CHANNEL_OK);
		ck_assert_uint_eq(at.ino, 42);
		ck_assert_uint_eq(at.offset, 7);
		ck_assert_uint_eq(store.fence, 7);
	}
}
END_TEST

START_TEST(what_cannot_be_claimed_is_not_sent)
{
	static const struct {
		const char *outcome, *words;
	} refusals[] = {
		{ "held", "bob has claimed it, for another 1:40" },
		{ "decided", "bob decided it before you" },
		{ "withdrawn", "nobody waits for an answer any more" },
		{ "above", "a level that you do not decide on" },
		{ "unknown", "the store does not know it" },
	};

	for (size_t i = 0; i < sizeof(refusals) / sizeof(refusals[0]); i++) {
		struct attempt at;
		struct err err;

		answer(TEAM_CLAIM, refusals[i].outcome, "bob");
		ck_assert_int_eq(deliver(&at, &err), CHANNEL_FAILED);
		ck_assert_ptr_nonnull(strstr(err.text, refusals[i].words));
		ck_assert_uint_eq(store.asked[TEAM_DECIDE], 0);
	}
}
END_TEST

START_TEST(what_the_store_refuses_is_certain)
{
	static const struct {
		const char *claim, *outcome, *words;
	} refusals[] = {
		{ "yours", "already", "already decided: bob accept" },
		{ "yours", "changed", "other words than those you decided on" },
		{ "yours", "differs", "two must say the same" },
		{ "yours", "lost", "your claim was lost to bob accept" },
		{ "voted", "lost", "you have voted on it already" },
		{ "yours", "withdrawn", "nobody waits" },
		{ "yours", "above", "a level that you do not decide on" },
		{ "yours", "top", "nobody is above it" },
		{ "yours", "unknown", "the store does not know it" },
	};

	for (size_t i = 0; i < sizeof(refusals) / sizeof(refusals[0]); i++) {
		struct attempt at;
		struct err err;

		answer(TEAM_CLAIM, refusals[i].claim, "ann");
		answer(TEAM_DECIDE, refusals[i].outcome, "bob accept");
		ck_assert_int_eq(deliver(&at, &err), CHANNEL_FAILED);
		ck_assert_msg(strstr(err.text, refusals[i].words), "%s: %s", refusals[i].outcome,
			      err.text);
	}
}
END_TEST

START_TEST(the_servers_own_refusal_is_repeated)
{
	struct attempt at;
	struct err err;

	answer(TEAM_CLAIM, "yours", "ann");
	answer(TEAM_DECIDE, "", "the server could forget decisions: fsync is off");
	store.answers[TEAM_DECIDE].refused = true;
	ck_assert_int_eq(deliver(&at, &err), CHANNEL_FAILED);
	ck_assert_ptr_nonnull(strstr(err.text, "fsync is off"));
	/* which says nothing of a try before, whose answer was lost */
	answer(TEAM_DECIDE, "", "canceling statement due to lock timeout");
	store.answers[TEAM_DECIDE].refused = store.answers[TEAM_DECIDE].unsettled = true;
	ck_assert_int_eq(deliver(&at, &err), CHANNEL_UNCERTAIN);
	ck_assert_ptr_nonnull(strstr(err.text, "may have it"));
}
END_TEST

START_TEST(without_an_answer)
{
	struct attempt at;
	struct err err;

	store.unready = true;
	ck_assert_int_eq(deliver(&at, &err), CHANNEL_FAILED);
	store.unready = false;
	/* a claim decides nothing */
	ck_assert_int_eq(deliver(&at, &err), CHANNEL_FAILED);
	ck_assert_uint_eq(store.asked[TEAM_DECIDE], 0);
	answer(TEAM_CLAIM, "yours", "ann");
	ck_assert_int_eq(deliver(&at, &err), CHANNEL_UNCERTAIN);
	ck_assert_ptr_nonnull(strstr(err.text, "may have it"));
}
END_TEST

static enum channel_found probe(void)
{
	struct channel c = { .fd = -1, .wait_ms = 30, .id = "m" };
	struct attempt at = { .ino = 42, .offset = 7 };
	enum channel_found found;
	struct err err;

	ck_assert_int_eq(channel_open(&c, CHANNEL_TEAM, path, &err), CHANNEL_OK);
	found = channel_probe(&c, message, &at, &err);
	channel_close(&c);
	return found;
}

START_TEST(a_crash_is_cleared_up)
{
	ck_assert_int_eq(probe(), FOUND_TROUBLE);
	answer(TEAM_LOOK, "mine", "");
	ck_assert_int_eq(probe(), FOUND_WHOLE);
	answer(TEAM_LOOK, "none", "");
	ck_assert_int_eq(probe(), FOUND_NOTHING);
	store.answers[TEAM_LOOK].refused = true;
	ck_assert_int_eq(probe(), FOUND_TROUBLE);
}
END_TEST

START_TEST(without_an_inbox)
{
	struct channel c = { .fd = -1 };
	struct err err;

	team_link = (struct team_link){ 0 };
	ck_assert_int_eq(channel_open(&c, CHANNEL_TEAM, path, &err), CHANNEL_FAILED);
	ck_assert_ptr_nonnull(strstr(err.text, "which is not open"));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("channel_team");
	TCase *t = unit_cases(suite, "channel_team", set_up, NULL);

	tcase_add_test(t, what_the_store_takes_is_sent);
	tcase_add_test(t, what_cannot_be_claimed_is_not_sent);
	tcase_add_test(t, what_the_store_refuses_is_certain);
	tcase_add_test(t, the_servers_own_refusal_is_repeated);
	tcase_add_test(t, without_an_answer);
	tcase_add_test(t, a_crash_is_cleared_up);
	tcase_add_test(t, without_an_inbox);
	return unit_run(suite);
}
