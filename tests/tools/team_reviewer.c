/* A reviewer who claims and decides what is open, and writes down what the store has acknowledged.
 *
 *   team_actors reviewer URL FILE SEED
 *
 * FILE: "decided ITEM VERB DRAFT" and "voted ITEM VERB DRAFT", a line each. Some claims are released,
 * and some decisions come after the lease has lapsed. Never ends. */
#include "team_actors.h"

#include <stdio.h>
#include <unistd.h>

enum { LEASE_S = 3, IDLE_MS = 20 };

struct open_item {
	int64_t id, need, fence;
	char rev[80], kind[24], outcome[24];
};

static void keep(char *to, size_t size, struct str s)
{
	str_copy(to, str_make(s.p, s.n < size ? s.n : size - 1));
}

static void take_item(void *ctx, const struct store_answer *a)
{
	struct open_item *item = ctx;

	if (!a->n)
		return;
	item->id = store_int(a->rows, 0, 0);
	item->need = store_int(a->rows, 0, 1);
	keep(item->rev, sizeof(item->rev), store_str(a->rows, 0, 2));
	keep(item->kind, sizeof(item->kind), store_str(a->rows, 0, 3));
}

static void take_outcome(void *ctx, const struct store_answer *a)
{
	struct open_item *item = ctx;

	keep(item->outcome, sizeof(item->outcome), store_str(a->rows, 0, 0));
	item->fence = store_int(a->rows, 0, 1);
}

/* false: there is none. */
static bool find(struct store *s, struct open_item *item)
{
	static const char sql[] =
		"select id, need, rev, kind from gavel.item i where state = 'open' "
		"and (until is null or until <= clock_timestamp()) and not exists "
		"(select from gavel.vote v where v.item = i.id and v.who = session_user) "
		"order by random() limit 1";

	return ask(s, sql, NULL, 0, take_item, item) > 0;
}

static bool claim(struct store *s, struct open_item *item)
{
	return ask(s, "select outcome, fence from gavel.claim($1::bigint, $2::bigint)",
		   VALUES(store_number(item->id), store_number(LEASE_S)), take_outcome,
		   item) == 1 &&
	       strcmp(item->outcome, "yours") == 0;
}

/* Two persons countersign the same draft; others say who wrote them. Questions are those of real agents, for which
 * gavel ship makes a message of the draft. */
static void decide(struct store *s, struct open_item *item, int out, uint64_t *seed)
{
	const char *verb = chance(seed, 10) ? "accept" : "reject";
	char draft[80];

	if (strcmp(item->kind, "question") == 0) {
		verb = "answer";
		snprintf(draft, sizeof(draft), "{\"verb\":\"answer\",\"answer\":\"n%u-%u\"}",
			 (unsigned)getpid(), chance(seed, 1u << 31));
	} else if (item->need > 1)
		snprintf(draft, sizeof(draft), "{\"item\":%lld}", (long long)item->id);
	else
		snprintf(draft, sizeof(draft), "{\"item\":%lld,\"n\":\"%u-%u\"}",
			 (long long)item->id, (unsigned)getpid(), chance(seed, 1u << 31));
	if (ask(s,
		"select outcome, $2::bigint from gavel.decide($1::bigint, $2::bigint, $3, $4, $5)",
		VALUES(store_number(item->id), store_number(item->fence),
		       store_text(str_of(item->rev)), store_text(str_of(verb)),
		       store_text(str_of(draft))),
		take_outcome, item) != 1)
		return;
	if (strcmp(item->outcome, "decided") == 0 || strcmp(item->outcome, "yours") == 0)
		write_line(out, "decided %lld %s %s", (long long)item->id, verb, draft);
	else if (strcmp(item->outcome, "second") == 0)
		write_line(out, "voted %lld %s %s", (long long)item->id, verb, draft);
}

static void idle(struct store *s, int ms)
{
	for (int64_t end = loop_now_ms() + ms, now; (now = loop_now_ms()) < end;)
		step_stores(&s, 1, (int)(end - now));
}

int reviewer_main(int argc, char **argv)
{
	uint64_t seed;
	struct store *s;
	int out;

	if (argc != 4)
		fail("reviewer URL FILE SEED");
	seed = strtoull(argv[3], NULL, 10);
	s = open_store(argv[1], NULL);
	out = open_append(argv[2]);
	for (;;) {
		struct open_item item = { 0 };

		if (!find(s, &item) || !claim(s, &item)) {
			idle(s, IDLE_MS);
			continue;
		}
		if (chance(&seed, 40) == 0) {
			ask(s, "select gavel.release($1::bigint, $2::bigint)",
			    VALUES(store_number(item.id), store_number(item.fence)), NULL, NULL);
			continue;
		}
		if (chance(&seed, 60) == 0)
			idle(s, LEASE_S * 1000 + 200);
		decide(s, &item, out, &seed);
	}
}
