/* Simulates a team of any size on one store, from service times that were measured: which processor time,
 * how many connections and what disk it needs, and how long people and lines wait.
 *
 *   teamsim SERVICE_TIMES NAME=VALUE...
 *
 * SERVICE_TIMES has "NAME VALUE" lines (tests/bench/team_day makes it): processor time of the server in us for
 * ship_call, ship_line, open, report, claim, decide, outbox, and event_read, which is what one event costs for
 * each screen; the time that one transaction with an event keeps all others waiting, serial; and what an answer
 * takes besides, answer. The values on the command line say what is simulated: machines, reviewers, lines (a
 * second), items (a second), think_ms, seconds, cores, seed, and the SERVICE_TIMES themselves, to try others.
 *
 * The model: cores that serve requests in the order they come; behind them one lock, in that order, for what
 * writes an event; a delay before the answer. A machine has one request in flight. A line waits for the 20 ms
 * since the machine's last batch; every reviewer's screen reads what is new when there is an event, and then the items; an item is
 * claimed by the reviewer who knows of it and is free first; machines look for decisions once a second.
 *
 * No threads, no clock: the same seed gives the same result. */
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	MACHINES_MAX = 20000,
	REVIEWERS_MAX = 5000,
	CORES_MAX = 64,
	BATCH_US = 20000,
	OUTBOX_US = 1000000
};

enum setting {
	SHIP_CALL,
	SHIP_LINE,
	OPEN,
	REPORT,
	CLAIM,
	DECIDE,
	OUTBOX,
	EVENT_READ,
	SERIAL,
	ANSWER,
	MACHINES,
	REVIEWERS,
	LINES,
	ITEMS,
	THINK_MS,
	SECONDS,
	CORES,
	SEED,
	SETTINGS
};

static const char *const names[SETTINGS] = {
	[SHIP_CALL] = "ship_call",
	[SHIP_LINE] = "ship_line",
	[OPEN] = "open",
	[REPORT] = "report",
	[CLAIM] = "claim",
	[DECIDE] = "decide",
	[OUTBOX] = "outbox",
	[EVENT_READ] = "event_read",
	[SERIAL] = "serial",
	[ANSWER] = "answer",
	[MACHINES] = "machines",
	[REVIEWERS] = "reviewers",
	[LINES] = "lines",
	[ITEMS] = "items",
	[THINK_MS] = "think_ms",
	[SECONDS] = "seconds",
	[CORES] = "cores",
	[SEED] = "seed",
};

static double value[SETTINGS] = { [CORES] = 2, [SEED] = 1, [SECONDS] = 60 };

/* What is asked of the server; `who` is a machine or a reviewer. */
enum kind {
	ASK_SHIP,
	ASK_OPEN,
	ASK_OUTBOX,
	ASK_REPORT,
	ASK_CLAIM,
	ASK_DECIDE,
	ASK_EVENTS,
	ASK_ITEMS
};

struct request {
	enum kind kind;
	int who;
	int item;     /* or the number of lines */
	double asked; /* since when the first of what it carries has waited */
};

enum step { LINE, ITEM, LOOK, SHIP_NOW, THOUGHT, SERVED, WRITTEN, ANSWERED };

struct moment {
	double at;
	enum step step;
	struct request request;
};

struct queue {
	struct request *v;
	size_t first, n, cap;
};

struct machine {
	struct queue waiting; /* one request in flight, a queue behind it */
	bool busy, shipping;
	int lines;
	double first_line, last_batch;
	int decided; /* items that are to be reported */
};

struct reviewer {
	bool busy, hinted, reads;
};

static struct machine machines[MACHINES_MAX];
static struct reviewer reviewers[REVIEWERS_MAX];
static struct moment *heap;
static size_t moments, heap_cap;
static struct queue cpu, lock, open_items;
static int cores_busy;
static bool lock_busy;
static double now, cpu_us, lock_us;
static uint64_t seed;
static double *waits, *line_waits;
static size_t waits_n, line_waits_n, opened, decided, shipped, reads;
static double *opened_at;

static void *grown(void *p, size_t n, size_t size)
{
	p = realloc(p, n * size);
	if (!p) {
		fputs("teamsim: out of memory\n", stderr);
		exit(2);
	}
	return p;
}

static double even(void)
{
	uint64_t z = seed += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return (double)((z ^ z >> 31) >> 11) / 9007199254740992.0;
}

static double spread(double mean)
{
	return -mean * log(1 - even());
}

static void push(struct queue *q, struct request r)
{
	if (q->first + q->n == q->cap) {
		if (q->n)
			memmove(q->v, q->v + q->first, q->n * sizeof(*q->v));
		q->first = 0;
		if (q->n * 2 >= q->cap) {
			q->cap = q->cap ? q->cap * 2 : 16;
			q->v = grown(q->v, q->cap, sizeof(*q->v));
		}
	}
	q->v[q->first + q->n++] = r;
}

static struct request pop(struct queue *q)
{
	q->n--;
	return q->v[q->first++];
}

/* ---- time ---- */

static void at(double when, enum step step, struct request r)
{
	size_t i = moments++;

	if (moments > heap_cap) {
		heap_cap = heap_cap ? heap_cap * 2 : 1024;
		heap = grown(heap, heap_cap, sizeof(*heap));
	}
	for (; i && heap[(i - 1) / 2].at > when; i = (i - 1) / 2)
		heap[i] = heap[(i - 1) / 2];
	heap[i] = (struct moment){ when, step, r };
}

static struct moment next_moment(void)
{
	struct moment first = heap[0], last = heap[--moments];
	size_t i = 0, k;

	while ((k = 2 * i + 1) < moments) {
		k += k + 1 < moments && heap[k + 1].at < heap[k].at;
		if (heap[k].at >= last.at)
			break;
		heap[i] = heap[k];
		i = k;
	}
	heap[i] = last;
	return first;
}

/* ---- the server ---- */

static double service(const struct request *r)
{
	switch (r->kind) {
	case ASK_SHIP: return value[SHIP_CALL] + value[SHIP_LINE] * r->item;
	case ASK_OPEN: return value[OPEN];
	case ASK_REPORT: return value[REPORT];
	case ASK_OUTBOX: return value[OUTBOX];
	case ASK_CLAIM: return value[CLAIM];
	case ASK_DECIDE: return value[DECIDE];
	case ASK_EVENTS:
	case ASK_ITEMS: return value[EVENT_READ] / 2;
	}
	return 0;
}

static bool has_event(enum kind kind)
{
	return kind == ASK_OPEN || kind == ASK_REPORT || kind == ASK_CLAIM || kind == ASK_DECIDE;
}

static void serve(void)
{
	while (cpu.n && cores_busy < (int)value[CORES]) {
		struct request r = pop(&cpu);
		double us = service(&r);

		cores_busy++;
		cpu_us += us;
		at(now + us, SERVED, r);
	}
}

static void ask(struct request r)
{
	push(&cpu, r);
	serve();
}

static void write_event(void)
{
	if (lock_busy || !lock.n)
		return;
	lock_busy = true;
	lock_us += value[SERIAL];
	at(now + value[SERIAL], WRITTEN, pop(&lock));
}

/* ---- reviewers ---- */

static void look_for_work(int who)
{
	if (reviewers[who].busy || !open_items.n)
		return;
	reviewers[who].busy = true;
	ask((struct request){ ASK_CLAIM, who, pop(&open_items).item, now });
}

static void look_at_events(int who)
{
	if (!reviewers[who].hinted || reviewers[who].reads)
		return;
	reviewers[who].hinted = false;
	reviewers[who].reads = true;
	reads++;
	ask((struct request){ ASK_EVENTS, who, 0, now });
}

static void tell(void)
{
	for (int i = 0; i < (int)value[REVIEWERS]; i++) {
		reviewers[i].hinted = true;
		look_at_events(i);
	}
}

/* ---- machines ---- */

static void machine_next(int who)
{
	struct machine *m = &machines[who];

	if (m->busy || !m->waiting.n)
		return;
	m->busy = true;
	ask(pop(&m->waiting));
}

static void machine_ask(struct request r)
{
	push(&machines[r.who].waiting, r);
	machine_next(r.who);
}

static void ship(int who)
{
	struct machine *m = &machines[who];

	if (m->shipping || !m->lines)
		return;
	if (now < m->last_batch + BATCH_US) {
		m->shipping = true;
		at(m->last_batch + BATCH_US, SHIP_NOW, (struct request){ ASK_SHIP, who, 0, 0 });
		return;
	}
	m->shipping = true;
	m->last_batch = now;
	machine_ask((struct request){ ASK_SHIP, who, m->lines, m->first_line });
	m->lines = 0;
}

static void say_line(void)
{
	int who = (int)(even() * value[MACHINES]);

	if (!machines[who].lines++)
		machines[who].first_line = now;
	ship(who);
	at(now + spread(1e6 / value[LINES]), LINE, (struct request){ 0 });
}

static void raise_item(void)
{
	machine_ask(
		(struct request){ ASK_OPEN, (int)(even() * value[MACHINES]), (int)opened, now });
	opened_at = grown(opened_at, opened + 1, sizeof(*opened_at));
	opened_at[opened++] = now;
	at(now + spread(1e6 / value[ITEMS]), ITEM, (struct request){ 0 });
}

static void keep(double **v, size_t *n, double us)
{
	if ((*n & (*n - 1)) == 0)
		*v = grown(*v, *n ? *n * 2 : 1, sizeof(**v));
	(*v)[(*n)++] = us;
}

static void machine_answered(const struct request *r)
{
	struct machine *m = &machines[r->who];

	m->busy = false;
	if (r->kind == ASK_SHIP) {
		m->shipping = false;
		shipped += (size_t)r->item;
		keep(&line_waits, &line_waits_n, now - r->asked);
		ship(r->who);
	}
	if (r->kind == ASK_OUTBOX) {
		for (; m->decided; m->decided--)
			machine_ask((struct request){ ASK_REPORT, r->who, 0, now });
		at(now + OUTBOX_US, LOOK, (struct request){ ASK_OUTBOX, r->who, 0, 0 });
	}
	machine_next(r->who);
}

static void answered(struct request r)
{
	switch (r.kind) {
	case ASK_SHIP:
	case ASK_OPEN:
	case ASK_OUTBOX:
	case ASK_REPORT: machine_answered(&r); break;
	case ASK_CLAIM: at(now + spread(value[THINK_MS] * 1000), THOUGHT, r); break;
	case ASK_DECIDE:
		decided++;
		keep(&waits, &waits_n, now - opened_at[r.item]);
		machines[(int)(even() * value[MACHINES])].decided++;
		reviewers[r.who].busy = false;
		look_for_work(r.who);
		break;
	case ASK_EVENTS:
		look_for_work(r.who);
		r.kind = ASK_ITEMS;
		ask(r);
		break;
	case ASK_ITEMS:
		reviewers[r.who].reads = false;
		look_at_events(r.who);
		break;
	}
}

/* What is written can be seen. */
static void written(const struct request *r)
{
	lock_busy = false;
	if (r->kind == ASK_OPEN)
		push(&open_items, *r);
	tell();
	at(now + value[ANSWER], ANSWERED, *r);
	write_event();
}

static void served(const struct request *r)
{
	cores_busy--;
	if (has_event(r->kind)) {
		push(&lock, *r);
		write_event();
	} else {
		at(now + value[ANSWER], ANSWERED, *r);
	}
	serve();
}

static void take(const struct moment *m)
{
	struct request r = m->request;

	switch (m->step) {
	case LINE: say_line(); break;
	case ITEM: raise_item(); break;
	case LOOK: machine_ask(r); break;
	case SHIP_NOW:
		machines[r.who].shipping = false;
		ship(r.who);
		break;
	case THOUGHT:
		r.kind = ASK_DECIDE;
		ask(r);
		break;
	case SERVED: served(&r); break;
	case WRITTEN: written(&r); break;
	case ANSWERED: answered(r); break;
	}
}

/* ---- in and out ---- */

static bool set(const char *name, size_t n, const char *text)
{
	for (int i = 0; i < SETTINGS; i++)
		if (strlen(names[i]) == n && memcmp(names[i], name, n) == 0) {
			value[i] = strtod(text, NULL);
			return true;
		}
	return false;
}

static void read_settings(int argc, char **argv)
{
	char line[200], name[100], text[100];
	FILE *f = argc > 1 ? fopen(argv[1], "r") : NULL;

	if (!f) {
		fputs("usage: teamsim SERVICE_TIMES NAME=VALUE...\n", stderr);
		exit(2);
	}
	while (fgets(line, sizeof(line), f))
		if (sscanf(line, "%99s %99s", name, text) == 2)
			set(name, strlen(name), text);
	fclose(f);
	for (int i = 2; i < argc; i++) {
		const char *equals = strchr(argv[i], '=');

		if (!equals || !set(argv[i], (size_t)(equals - argv[i]), equals + 1)) {
			fprintf(stderr, "teamsim: %s: no such setting\n", argv[i]);
			exit(2);
		}
	}
	if (value[MACHINES] < 1 || value[MACHINES] > MACHINES_MAX || value[REVIEWERS] < 1 ||
	    value[REVIEWERS] > REVIEWERS_MAX || value[CORES] < 1 || value[CORES] > CORES_MAX ||
	    value[LINES] <= 0 || value[ITEMS] <= 0) {
		fputs("teamsim: machines, reviewers, cores, lines or items out of bounds\n",
		      stderr);
		exit(2);
	}
}

static int by_size(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

static void print_waits(const char *name, double *v, size_t n)
{
	double sum = 0;

	qsort(v, n, sizeof(*v), by_size);
	for (size_t i = 0; i < n; i++)
		sum += v[i];
	if (n)
		printf("%s_ms_mean %.2f\n%s_ms_p50 %.2f\n%s_ms_p90 %.2f\n%s_ms_p99 %.2f\n", name,
		       sum / (double)n / 1e3, name, v[n / 2] / 1e3, name, v[n * 90 / 100] / 1e3,
		       name, v[n * 99 / 100] / 1e3);
}

int main(int argc, char **argv)
{
	double us;

	read_settings(argc, argv);
	seed = (uint64_t)value[SEED];
	us = value[SECONDS] * 1e6;
	at(0, LINE, (struct request){ 0 });
	at(0, ITEM, (struct request){ 0 });
	for (int i = 0; i < (int)value[MACHINES]; i++)
		at(even() * OUTBOX_US, LOOK, (struct request){ ASK_OUTBOX, i, 0, 0 });
	while (moments && heap[0].at < us) {
		struct moment m = next_moment();

		now = m.at;
		take(&m);
	}
	printf("cpu_per_s %.4f\nlock_per_s %.4f\nlines_per_s %.1f\ndecided_per_s %.2f\n"
	       "reads_per_s %.1f\nopen_at_the_end %zu\nconnections %.0f\n",
	       cpu_us / us, lock_us / us, (double)shipped / value[SECONDS],
	       (double)decided / value[SECONDS], (double)reads / value[SECONDS],
	       opened - decided, value[MACHINES] + value[REVIEWERS]);
	print_waits("item", waits, waits_n);
	print_waits("line", line_waits, line_waits_n);
	return 0;
}
