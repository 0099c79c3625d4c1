/* Measures what a team's store does in a second; for tests/bench/team.
 *
 *   team_actors bench ship URL CONNECTIONS SECONDS [LINES_A_SECOND [BATCH]]
 *   team_actors bench tail URL              until SIGTERM
 *   team_actors bench history URL SOURCE    all its lines, a page after the other
 *   team_actors bench decide URL CONNECTIONS SECONDS STATEMENTS [DECISIONS_A_SECOND]
 *   team_actors bench fanout URL SCREENS EVENTS
 *   team_actors bench ask URL TIMES SQL [LOGIN [QUESTIONS_A_SECOND [BEFORE]]]
 *                      the same question again and again; at first BEFORE times by each connection
 *   team_actors bench day URL POSTMASTER SECONDS...  see team_bench_day.c
 *
 * URL has a %s where the login is: edge ships, r0, r1 and so on review. Prints "NAME VALUE" lines. */
#include "team_bench.h"

#include <signal.h>
#include <stdio.h>

enum { LINE_BYTES = 600, BATCH_MS = 20, BATCH_MAX = 400, PAGE = 5000, TAIL_MS = 20, SEEN_MS = 1000 };

static volatile sig_atomic_t ending;

static void end(int sig)
{
	ending = sig;
}

struct store *open_as(const char *pattern, const char *login, const struct store_ops *ops)
{
	const char *at = strstr(pattern, "%s");
	char url[400];

	if (!at)
		fail("%s: has no %%s", pattern);
	snprintf(url, sizeof(url), "%.*s%s%s", (int)(at - pattern), pattern, login, at + 2);
	return open_store(url, ops);
}

static int by_size(const void *a, const void *b)
{
	const int64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

static double server_before;

static pid_t postmaster(void)
{
	const char *pid = getenv("POSTMASTER");

	return pid ? (pid_t)strtol(pid, NULL, 10) : 0;
}

/* Everybody is connected, and has asked before: what the server computes counts from now on. */
static void measure_from_now(void)
{
	server_before = postmaster() ? server_s(postmaster()) : 0;
}

void ask_later(struct store *s, const char *sql, const struct store_value *values, unsigned n,
	       void (*done)(void *, const struct store_answer *), void *ctx)
{
	struct store_request r = { .sql = sql, .n = n, .answered = done, .ctx = ctx };

	for (unsigned i = 0; i < n; i++)
		r.values[i] = values[i];
	store_ask(s, &r);
	store_step(s, loop_now_ms());
}

void print_times(const char *name, int64_t *us, uint32_t n)
{
	double sum = 0;

	if (!n)
		fail("%s: nothing was measured", name);
	qsort(us, n, sizeof(*us), by_size);
	for (uint32_t i = 0; i < n; i++)
		sum += (double)us[i];
	printf("%s_mean %.2f\n%s_p50 %.2f\n%s_p90 %.2f\n%s_p99 %.2f\n%s_max %.2f\n", name,
	       sum / n / 1e3, name, (double)us[n / 2] / 1e3, name,
	       (double)us[(uint64_t)n * 90 / 100] / 1e3, name,
	       (double)us[(uint64_t)n * 99 / 100] / 1e3, name, (double)us[n - 1] / 1e3);
}

/* ---- shipping ---- */

struct shipping_feed {
	struct store *store;
	int64_t id, next;
	bool busy;
	int64_t made, shipped; /* lines */
	int64_t asked_us;      /* the last batch */
	char *text;
	struct str lines[BATCH_MAX];
};

struct shipping {
	int64_t start_us, end_us;
	double each_us; /* between two lines of a feed; 0 = as many as there is time for */
	uint32_t batch; /* so many lines at once; with a rate: at least */
};

static void take_source(void *ctx, const struct store_answer *a)
{
	struct shipping_feed *f = ctx;

	f->id = store_int(a->rows, 0, 0);
	f->next = store_int(a->rows, 0, 1);
}

static void take_shipped(void *ctx, const struct store_answer *a)
{
	struct shipping_feed *f = ctx;

	if (!a->rows)
		fail("ship: %.*s", STR_ARG(a->why));
	f->busy = false;
	f->shipped = f->made;
	f->next = store_int(a->rows, 0, 0);
}

/* Lines say when they were made, for whoever reads them. */
static void ship_batch(struct shipping_feed *f, const struct shipping *s, uint32_t n)
{
	struct store_request r = { .sql = "select next from gavel.ship($1::int, $2::bigint, $3)",
				   .n = 3,
				   .answered = take_shipped,
				   .ctx = f };
	int64_t now = now_us();

	for (uint32_t i = 0; i < n; i++) {
		char *p = f->text + (size_t)i * LINE_BYTES;
		int64_t at = s->each_us > 0
				     ? s->start_us + (int64_t)((double)(f->made + i) * s->each_us)
				     : now;
		int head = snprintf(p, LINE_BYTES, "{\"at_us\":%020lld,\"said\":\"", (long long)at);

		memset(p + head, 'w', (size_t)(LINE_BYTES - 3 - head));
		memcpy(p + LINE_BYTES - 3, "\"}\n", 3);
		f->lines[i] = str_make(p, LINE_BYTES);
	}
	r.values[0] = store_number(f->id);
	r.values[1] = store_number(f->next);
	r.values[2] = store_list(f->lines, n);
	store_ask(f->store, &r);
	store_step(f->store, loop_now_ms());
	f->made += n;
	f->busy = true;
	f->asked_us = now;
}

static void feed_step(struct shipping_feed *f, const struct shipping *s)
{
	int64_t now = now_us(), due = s->batch;

	if (f->busy || now >= s->end_us)
		return;
	if (s->each_us > 0) {
		due = (int64_t)((double)(now - s->start_us) / s->each_us) - f->made;
		if (now - f->asked_us < BATCH_MS * 1000 || due < s->batch)
			return;
	}
	if (due > 0)
		ship_batch(f, s, due < BATCH_MAX ? (uint32_t)due : BATCH_MAX);
}

static int bench_ship(int argc, char **argv)
{
	uint32_t n = (uint32_t)strtoul(argv[1], NULL, 10);
	double rate = argc > 3 ? strtod(argv[3], NULL) : 0;
	struct shipping s = { .batch = argc > 4	 ? (uint32_t)strtoul(argv[4], NULL, 10)
				       : rate > 0 ? 1
						  : 20 };
	struct shipping_feed *feeds = xcalloc(n, sizeof(*feeds));
	struct store **stores = xcalloc(n, sizeof(*stores));
	int64_t lines = 0;
	bool busy = true;

	for (uint32_t i = 0; i < n; i++) {
		char name[32];

		snprintf(name, sizeof(name), "b%u", i);
		feeds[i].store = stores[i] = open_as(argv[0], "edge", NULL);
		feeds[i].text = xmalloc((size_t)BATCH_MAX * LINE_BYTES);
		ask(stores[i], "select id, next from gavel.ship_open($1, null, 0, 0)",
		    VALUES(store_text(str_of(name))), take_source, &feeds[i]);
	}
	measure_from_now();
	s.start_us = now_us();
	s.end_us = s.start_us + (int64_t)(strtod(argv[2], NULL) * 1e6);
	s.each_us = rate > 0 ? 1e6 * n / rate : 0;
	while (now_us() < s.end_us || busy) {
		busy = false;
		for (uint32_t i = 0; i < n; i++) {
			feed_step(&feeds[i], &s);
			busy |= feeds[i].busy;
		}
		step_stores(stores, n, 2);
	}
	for (uint32_t i = 0; i < n; i++)
		lines += feeds[i].shipped;
	printf("ship_lines %lld\nship_per_s %.0f\n", (long long)lines,
	       (double)lines * 1e6 / (double)(now_us() - s.start_us));
	return 0;
}

/* ---- reading ---- */

struct tailing {
	int64_t xid, source, seq, lines, bytes;
	VEC(int64_t) waits;
	bool measures;
};

static void take_lines(void *ctx, const struct store_answer *a)
{
	struct tailing *t = ctx;
	int64_t now = now_us();

	for (uint32_t i = 0; i < a->n; i++) {
		struct str bytes = store_str(a->rows, i, 3);

		t->xid = store_int(a->rows, i, 0);
		t->source = store_int(a->rows, i, 1);
		t->seq = store_int(a->rows, i, 2);
		t->lines++;
		t->bytes += (int64_t)bytes.n;
		if (t->measures && str_starts(bytes, STR("{\"at_us\":")))
			vec_push(&t->waits, now - strtoll(bytes.p + 9, NULL, 10));
	}
}

static int read_page(struct store *s, struct tailing *t)
{
	return ask(
		s,
		"select xid, source, seq, bytes from gavel.tail($1::bigint, $2::int, $3::bigint, "
		"'-infinity', $4::int)",
		VALUES(store_number(t->xid), store_number(t->source), store_number(t->seq),
		       store_number(PAGE)),
		take_lines, t);
}

static int bench_tail(int argc, char **argv)
{
	struct store *s = open_as(argv[0], "r0", NULL);
	struct tailing t = { 0 };

	(void)argc;
	signal(SIGTERM, end);
	while (read_page(s, &t) > 0)
		;
	t.measures = true;
	t.lines = 0;
	puts("ready");
	fflush(stdout);
	while (!ending)
		if (read_page(s, &t) < PAGE && !ending)
			step_stores(&s, 1, TAIL_MS);
	printf("tail_lines %lld\n", (long long)t.lines);
	print_times("tail_ms", t.waits.v, t.waits.n);
	store_close(s);
	return 0;
}

static void take_history(void *ctx, const struct store_answer *a)
{
	struct tailing *t = ctx;

	for (uint32_t i = 0; i < a->n; i++) {
		struct str bytes = store_str(a->rows, i, 1);

		t->seq = store_int(a->rows, i, 0) + 1;
		t->bytes += (int64_t)bytes.n;
		t->lines++;
	}
}

static void take_number(void *ctx, const struct store_answer *a)
{
	*(int64_t *)ctx = store_int(a->rows, 0, 0);
}

/* A source, as gavel URL?source=NAME reads it. */
static int bench_history(int argc, char **argv)
{
	static const char by_index[] =
		"select set_config('enable_sort', 'off', false), set_config('enable_seqscan', 'off', "
		"false), set_config('enable_bitmapscan', 'off', false), set_config('jit', 'off', false)";
	static const char sql[] =
		"select seq, bytes from gavel.line where source = $1::int and seq >= $2::bigint "
		"order by seq limit 2000";
	struct store *s = open_as(argv[0], "r0", NULL);
	struct tailing t = { 0 };
	int64_t start, source = 0;
	double us;

	(void)argc;
	if (ask(s, "select id from gavel.source where name = $1",
		VALUES(store_text(str_of(argv[1]))), take_number, &source) != 1)
		fail("%s: no such source", argv[1]);
	ask(s, by_index, NULL, 0, NULL, NULL);
	start = now_us();
	while (ask(s, sql, VALUES(store_number(source), store_number(t.seq)), take_history, &t) > 0)
		;
	us = (double)(now_us() - start);
	printf("history_lines %lld\nhistory_mb_per_s %.1f\n", (long long)t.lines,
	       (double)t.bytes / us);
	store_close(s);
	return 0;
}

/* ---- deciding ---- */

struct decider {
	struct store *store;
	int64_t item, last, step, asked_us; /* deals with item, item + step, … to last */
	bool busy, two, claimed;
	int64_t fence, done;
	VEC(int64_t) times;
};

static void decided(void *ctx, const struct store_answer *a)
{
	struct decider *d = ctx;
	struct str outcome;

	if (!a->rows)
		fail("decide: %.*s", STR_ARG(a->why));
	d->busy = false;
	outcome = store_str(a->rows, 0, 0);
	if (d->two && !d->claimed) {
		d->claimed = true;
		d->fence = store_int(a->rows, 0, 1);
		return;
	}
	if (!str_is(outcome, "decided"))
		fail("decide: item %lld is %.*s", (long long)d->item, STR_ARG(outcome));
	vec_push(&d->times, now_us() - d->asked_us);
	d->claimed = false;
	d->item += d->step;
	d->done++;
}

static void decide_next(struct decider *d)
{
	struct store_request r = { .answered = decided, .ctx = d };

	r.values[r.n++] = store_number(d->item);
	if (!d->two) {
		r.sql = "select d.outcome from gavel.claim($1::bigint, 60) c, "
			"lateral gavel.decide($1::bigint, c.fence, 'r1', 'accept', '{}') d";
	} else if (!d->claimed) {
		r.sql = "select outcome, fence from gavel.claim($1::bigint, 60)";
	} else {
		r.sql = "select outcome from gavel.decide($1::bigint, $2::bigint, 'r1', 'accept', "
			"'{}')";
		r.values[r.n++] = store_number(d->fence);
	}
	if (!d->claimed)
		d->asked_us = now_us();
	d->busy = true;
	store_ask(d->store, &r);
	store_step(d->store, loop_now_ms());
}

/* Whether the next of what is done `rate` times a second is due, 0 = at once. */
static bool is_due(int64_t done, double rate, int64_t start_us)
{
	return rate <= 0 || (double)(now_us() - start_us) * rate / 1e6 >= (double)done;
}

/* The items of source "items" that are open: they were made by the caller. */
static int bench_decide(int argc, char **argv)
{
	unsigned n = (unsigned)strtoul(argv[1], NULL, 10);
	struct decider *deciders = xcalloc(n, sizeof(*deciders));
	struct store **stores = xcalloc(n, sizeof(*stores));
	double rate = argc > 4 ? strtod(argv[4], NULL) : 0;
	int64_t first = 0, last = 0, done = 0, start, end_us, begun = 0;
	VEC(int64_t) times = { 0 };

	for (unsigned i = 0; i < n; i++) {
		char login[16];

		snprintf(login, sizeof(login), "r%u", i);
		stores[i] = open_as(argv[0], login, NULL);
		ask(stores[i], "select coalesce(min(id), 0) from gavel.item where state = 'open'",
		    NULL, 0, take_number, &first);
		ask(stores[i], "select coalesce(max(id), 0) from gavel.item where state = 'open'",
		    NULL, 0, take_number, &last);
		deciders[i] = (struct decider){ .store = stores[i],
						.item = first + i,
						.last = last,
						.step = n,
						.two = strcmp(argv[3], "2") == 0 };
	}
	measure_from_now();
	start = now_us();
	end_us = start + (int64_t)(strtod(argv[2], NULL) * 1e6);
	while (now_us() < end_us) {
		for (unsigned i = 0; i < n; i++) {
			if (deciders[i].item > deciders[i].last)
				end_us = 0;
			else if (!deciders[i].busy &&
				 (deciders[i].claimed || rate <= 0 ||
				  (begun % n == i && is_due(begun, rate, start)))) {
				begun += !deciders[i].claimed;
				decide_next(&deciders[i]);
			}
		}
		step_stores(stores, n, rate > 0 ? 1 : 100);
	}
	end_us = now_us();
	for (unsigned i = 0; i < n; i++) {
		done += deciders[i].done;
		for (uint32_t k = 0; k < deciders[i].times.n; k++)
			vec_push(&times, deciders[i].times.v[k]);
	}
	printf("decide_first %lld\ndecide_done %lld\ndecide_per_s %.1f\n", (long long)first,
	       (long long)done,
	       (double)done * 1e6 / (double)(end_us - start));
	print_times("decide_ms", times.v, times.n);
	return 0;
}

/* ---- fan-out ---- */

/* Reads what has happened and the items it is about, as gavel does. */
struct screen {
	struct store *store;
	int64_t n; /* the newest event read */
	int64_t shown; /* and whose item was read */
	bool hinted, busy;
	int64_t *began; /* when each event was asked for */
	int64_t base, events;
	VEC(int64_t) * waits;
};

static void hint(void *ctx)
{
	((struct screen *)ctx)->hinted = true;
}

static void take_items(void *ctx, const struct store_answer *a)
{
	struct screen *s = ctx;
	int64_t now = now_us();

	s->busy = false;
	if (!a->rows)
		fail("items: %.*s", STR_ARG(a->why));
	for (; s->shown < s->n; s->shown++)
		if (s->shown >= s->base && s->shown < s->base + s->events)
			vec_push(s->waits, now - s->began[s->shown - s->base]);
}

/* All of them are about one item. */
static void take_events(void *ctx, const struct store_answer *a)
{
	struct screen *s = ctx;
	char ids[40];

	s->busy = false;
	if (!a->n)
		return;
	s->n = store_int(a->rows, a->n - 1, 0);
	s->busy = true;
	snprintf(ids, sizeof(ids), "{%lld}", (long long)store_int(a->rows, a->n - 1, 4));
	ask_later(s->store, ITEMS_SQL, VALUES(store_text(str_of(ids))), take_items, s);
}

static void screen_step(struct screen *s)
{
	if (!s->hinted || s->busy)
		return;
	s->hinted = false;
	s->busy = true;
	ask_later(s->store, EVENTS_SQL, VALUES(store_number(s->n)), take_events, s);
}

static void called(void *ctx, const struct store_answer *a)
{
	(void)a;
	*(bool *)ctx = true;
}

/* The newest events are still on their way. */
static void await_screens(struct store *const *stores, struct screen *screens, unsigned n)
{
	int64_t end = loop_now_ms() + SEEN_MS;
	unsigned behind;

	do {
		step_stores(stores, n, 5);
		behind = 0;
		for (unsigned i = 0; i < n; i++) {
			screen_step(&screens[i]);
			behind += screens[i].shown < screens[i].base + screens[i].events;
		}
	} while (behind && loop_now_ms() < end);
}

/* One who claims and releases, an event each, and all who look. */
static int bench_fanout(int argc, char **argv)
{
	unsigned n = (unsigned)strtoul(argv[1], NULL, 10);
	int64_t events = strtoll(argv[2], NULL, 10), base = 0, item = 0;
	struct screen *screens = xcalloc(n, sizeof(*screens));
	struct store **stores = xcalloc(n + 1, sizeof(*stores));
	int64_t *began = xcalloc((size_t)events, sizeof(*began));
	VEC(int64_t) waits = { 0 }, calls = { 0 };
	void *shared = &waits;

	(void)argc;
	stores[n] = open_as(argv[0], "r0", NULL);
	ask(stores[n], "select min(id) from gavel.item where state = 'open'", NULL, 0, take_number,
	    &item);
	for (unsigned i = 0; i < n; i++) {
		stores[i] = open_as(argv[0], "r1",
				    &(struct store_ops){ .hint = hint, .ctx = &screens[i] });
		ask(stores[i], "select n from gavel.head", NULL, 0, take_number, &base);
		screens[i] = (struct screen){ .store = stores[i],
					      .n = base,
					      .shown = base,
					      .began = began,
					      .base = base,
					      .events = events,
					      .waits = shared };
	}
	measure_from_now();
	for (int64_t k = 0; k < events; k++) {
		struct store_request r = {
			.sql = k % 2 ? "select gavel.release($1::bigint, (select fence from "
				       "gavel.item where id = $1::bigint))"
				     : "select outcome from gavel.claim($1::bigint, 60)",
			.n = 1,
			.answered = called
		};
		bool done = false;
		int64_t next_us = now_us() + 25000;

		r.values[0] = store_number(item);
		r.ctx = &done;
		began[k] = now_us();
		store_ask(stores[n], &r);
		store_step(stores[n], loop_now_ms());
		while (!done || now_us() < next_us) {
			bool before = done;

			step_stores(stores, n + 1, 5);
			if (done && !before)
				vec_push(&calls, now_us() - began[k]);
			for (unsigned i = 0; i < n; i++)
				screen_step(&screens[i]);
		}
	}
	await_screens(stores, screens, n);
	printf("fanout_wanted %lld\nfanout_seen %u\n", (long long)(events * n), waits.n);
	if (n)
		print_times("fanout_ms", waits.v, waits.n);
	print_times("fanout_call_ms", calls.v, calls.n);
	return 0;
}

/* ---- one question ---- */

/* By many connections in turn: a server process that others have pushed out of the caches takes longer. */
static int bench_ask(int argc, char **argv)
{
	enum { CONNECTIONS = 50 };
	struct store *stores[CONNECTIONS];
	double rate = argc > 4 ? strtod(argv[4], NULL) : 0;
	int64_t times = strtoll(argv[1], NULL, 10), start = 0;
	int64_t before = CONNECTIONS * (argc > 5 ? strtoll(argv[5], NULL, 10) : 6);

	for (int i = 0; i < CONNECTIONS; i++)
		stores[i] = open_as(argv[0], argc > 3 ? argv[3] : "edge", NULL);
	for (int64_t i = -before; i < times; i++) {
		struct store *s = stores[(i + before) % CONNECTIONS];

		if (i == 0) {
			measure_from_now();
			start = now_us();
		}
		while (i > 0 && !is_due(i, rate, start))
			step_stores(&s, 1, 1);
		if (ask(s, argv[2], NULL, 0, NULL, NULL) < 0)
			fail("%s is refused", argv[2]);
	}
	printf("ask_ms %.3f\n", (double)(now_us() - start) / 1e3 / (double)times);
	return 0;
}

/* What the server has computed meanwhile, if $POSTMASTER says who it is. */
static int measured(int (*run)(int argc, char **argv), int argc, char **argv)
{
	int code = run(argc, argv);

	if (postmaster())
		printf("server_s %.4f\n", server_s(postmaster()) - server_before);
	return code;
}

int bench_main(int argc, char **argv)
{
	static const struct {
		const char *name;
		int words;
		int (*run)(int argc, char **argv);
	} parts[] = {
		{ "ship", 3, bench_ship },       { "tail", 1, bench_tail },
		{ "history", 2, bench_history }, { "decide", 4, bench_decide },
		{ "fanout", 3, bench_fanout },   { "ask", 3, bench_ask },
		{ "day", 3, bench_day },
	};

	for (unsigned i = 0; argc > 1 && i < sizeof(parts) / sizeof(parts[0]); i++)
		if (strcmp(argv[1], parts[i].name) == 0 && argc - 2 >= parts[i].words)
			return measured(parts[i].run, argc - 2, argv + 2);
	fail("bench ship|tail|history|decide|fanout|ask|day URL …");
}
