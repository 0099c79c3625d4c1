/* A working day, made short: machines that ship a line now and then and raise items, reviewers whose screens
 * read what happens, and who claim what is oldest, think, and decide. As people do who see each other's claims,
 * no two of them take the same item. tests/tools/teamsim.c simulates the same, and must come to the same
 * numbers.
 *
 *   team_actors bench day URL POSTMASTER SECONDS EDGES REVIEWERS LINES_A_SECOND ITEMS_A_SECOND THINK_MS SEED
 *
 * Edges log in as edge, reviewers as r0, r1 and so on. Server time is that of all processes of
 * the postmaster, once everybody is connected. */
#include "team_bench.h"

#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <unistd.h>

enum { BATCH_MS = 20, OUTBOX_MS = 1000 };

struct edge {
	struct store *store;
	int64_t id, next, due, asked_ms, outbox_ms;
	bool ships, looks;
};

enum doing { FREE, CLAIMING, THINKING, DECIDING };

struct person {
	struct store *store;
	enum doing doing;
	bool hinted, reads;
	int64_t seen; /* the newest event read */
	int64_t item, fence, until_ms;
	VEC(int64_t) told; /* items that were opened, as far as they have read */
	uint32_t next;     /* in told */
};

struct day {
	struct edge *edges;
	struct person *people;
	struct store **stores;
	unsigned edges_n, people_n;
	double line_us, item_us; /* mean time between two of them, of all edges */
	double think_ms;
	uint64_t seed;
	unsigned items;
	int64_t first_item;
	VEC(bool) taken; /* from first_item on */
	int64_t lines, reads;
};

static struct day day;

static double spread(double mean)
{
	return -mean * log((chance(&day.seed, 1u << 31) + 1.0) / 2147483649.0);
}

static void must(const char *what, const struct store_answer *a)
{
	if (!a->rows)
		fail("%s: %.*s", what, STR_ARG(a->why));
}

/* ---- edges ---- */

static void shipped(void *ctx, const struct store_answer *a)
{
	struct edge *e = ctx;

	must("ship", a);
	e->ships = false;
	e->next = store_int(a->rows, 0, 0);
}

static void ship(struct edge *e, int64_t now)
{
	char text[600];
	struct str lines[64];
	uint32_t n = e->due < 64 ? (uint32_t)e->due : 64;

	memset(text, 'w', sizeof(text));
	text[sizeof(text) - 1] = '\n';
	for (uint32_t i = 0; i < n; i++)
		lines[i] = str_make(text, sizeof(text));
	e->due -= n;
	e->ships = true;
	e->asked_ms = now;
	day.lines += n;
	ask_later(e->store, "select next from gavel.ship($1::int, $2::bigint, $3)",
		  VALUES(store_number(e->id), store_number(e->next), store_list(lines, n)), shipped,
		  e);
}

static void opened(void *ctx, const struct store_answer *a)
{
	(void)ctx;
	must("open_item", a);
}

static void raise_item(struct edge *e)
{
	char key[32];

	snprintf(key, sizeof(key), "day-%u", day.items++);
	ask_later(e->store,
		  "select item from gavel.open_item($1::int, $2, 'r1', 'finding', $2, "
		  "convert_to($2, 'UTF8'), '', 1, null)",
		  VALUES(store_number(e->id), store_text(str_of(key))), opened, NULL);
}

static void take_outbox(void *ctx, const struct store_answer *a)
{
	struct edge *e = ctx;

	must("outbox", a);
	e->looks = false;
	for (uint32_t i = 0; i < a->n; i++)
		ask_later(e->store, "select gavel.report($1::bigint, 'sent', '', '')",
			  VALUES(store_number(store_int(a->rows, i, 0))), opened, NULL);
}

static void edge_step(struct edge *e, int64_t now)
{
	if (!e->ships && e->due && now >= e->asked_ms + BATCH_MS)
		ship(e, now);
	if (e->looks || now < e->outbox_ms)
		return;
	e->outbox_ms = now + OUTBOX_MS;
	e->looks = true;
	ask_later(e->store, "select item from gavel.outbox(array[$1::int])",
		  VALUES(store_number(e->id)), take_outbox, e);
}

/* ---- reviewers ---- */

static void hint(void *ctx)
{
	((struct person *)ctx)->hinted = true;
}

static void take_items(void *ctx, const struct store_answer *a)
{
	struct person *p = ctx;

	must("items", a);
	p->reads = false;
}

static void take_events(void *ctx, const struct store_answer *a)
{
	struct person *p = ctx;
	struct buf ids = { 0 };

	must("events", a);
	for (uint32_t i = 0; i < a->n; i++) {
		int64_t item = store_int(a->rows, i, 4);

		buf_printf(&ids, "%c%lld", i ? ',' : '{', (long long)item);
		if (str_is(store_str(a->rows, i, 3), "opened"))
			vec_push(&p->told, item);
		p->seen = store_int(a->rows, i, 0);
	}
	p->reads = a->n;
	day.reads += p->reads;
	buf_addc(&ids, '}');
	if (p->reads)
		ask_later(p->store, ITEMS_SQL, VALUES(store_text(buf_str(&ids))), take_items, p);
	buf_release(&ids);
}

static void claimed(void *ctx, const struct store_answer *a)
{
	struct person *p = ctx;

	must("claim", a);
	if (!str_is(store_str(a->rows, 0, 0), "yours"))
		fail("claim: item %lld is not free", (long long)p->item);
	p->fence = store_int(a->rows, 0, 1);
	p->doing = THINKING;
	p->until_ms = loop_now_ms() + (int64_t)spread(day.think_ms);
}

static void decided(void *ctx, const struct store_answer *a)
{
	struct person *p = ctx;

	must("decide", a);
	p->doing = FREE;
}

/* The oldest that nobody has taken, or 0. */
static int64_t take_item(struct person *p)
{
	while (p->next < p->told.n) {
		int64_t item = p->told.v[p->next++];

		while (day.first_item + day.taken.n <= item)
			vec_push(&day.taken, false);
		if (!day.taken.v[item - day.first_item]) {
			day.taken.v[item - day.first_item] = true;
			return item;
		}
	}
	return 0;
}

static void person_step(struct person *p, int64_t now)
{
	if (p->hinted && !p->reads) {
		p->hinted = false;
		p->reads = true;
		ask_later(p->store, EVENTS_SQL, VALUES(store_number(p->seen)), take_events, p);
	}
	if (p->doing == FREE && (p->item = take_item(p)) != 0) {
		p->doing = CLAIMING;
		ask_later(p->store, "select outcome, fence from gavel.claim($1::bigint, 60)",
			  VALUES(store_number(p->item)), claimed, p);
	} else if (p->doing == THINKING && now >= p->until_ms) {
		p->doing = DECIDING;
		ask_later(p->store,
			  "select outcome from gavel.decide($1::bigint, $2::bigint, 'r1', "
			  "'accept', '{}')",
			  VALUES(store_number(p->item), store_number(p->fence)), decided, p);
	}
}

/* ---- the server's time ---- */

/* The first line of a file about a process; "" if it is gone. */
static void process_line(pid_t pid, const char *name, char line[600])
{
	char path[64];
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, name);
	f = fopen(path, "r");
	if (!f || !fgets(line, 600, f))
		line[0] = '\0';
	if (f)
		fclose(f);
}

/* To the nanosecond, but for children that have ended, which are counted in ticks. parent 0 = any. */
static double process_s(pid_t pid, pid_t parent)
{
	int found_parent = 0;
	unsigned long long ns = 0, gone_user = 0, gone_sys = 0;
	char line[600];

	process_line(pid, "stat", line);
	if (strrchr(line, ')'))
		sscanf(strrchr(line, ')') + 1,
		       " %*c %d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %llu %llu",
		       &found_parent, &gone_user, &gone_sys);
	if (parent && found_parent != parent)
		return 0;
	process_line(pid, "schedstat", line);
	sscanf(line, "%llu", &ns);
	return (double)ns / 1e9 +
	       (parent ? 0 : (double)(gone_user + gone_sys) / (double)sysconf(_SC_CLK_TCK));
}

double server_s(pid_t postmaster)
{
	double sum = process_s(postmaster, 0);
	DIR *dir = opendir("/proc");
	struct dirent *e;

	while (dir && (e = readdir(dir)))
		if (e->d_name[0] > '0' && e->d_name[0] <= '9')
			sum += process_s((pid_t)strtol(e->d_name, NULL, 10), postmaster);
	if (dir)
		closedir(dir);
	return sum;
}

/* ---- the day ---- */

static void take_number(void *ctx, const struct store_answer *a)
{
	*(int64_t *)ctx = store_int(a->rows, 0, 0);
}

static void connect_all(const char *url)
{
	int64_t n = 0;

	for (unsigned i = 0; i < day.edges_n; i++) {
		char name[32];

		snprintf(name, sizeof(name), "day%u", i);
		day.stores[i] = day.edges[i].store = open_as(url, "edge", NULL);
		ask(day.stores[i], "select id from gavel.ship_open($1, null, 0, 0)",
		    VALUES(store_text(str_of(name))), take_number, &day.edges[i].id);
		day.edges[i].outbox_ms = loop_now_ms() + chance(&day.seed, OUTBOX_MS);
	}
	for (unsigned i = 0; i < day.people_n; i++) {
		struct person *p = &day.people[i];
		char login[16];

		snprintf(login, sizeof(login), "r%u", i);
		p->store = open_as(url, login, &(struct store_ops){ .hint = hint, .ctx = p });
		day.stores[day.edges_n + i] = p->store;
		ask(p->store, "select n from gavel.head", NULL, 0, take_number, &n);
		p->seen = n;
		ask(p->store, "select coalesce(max(id), 0) from gavel.item", NULL, 0, take_number,
		    &day.first_item);
	}
}

static void run_for(int64_t us)
{
	int64_t start = now_us(), now;
	double line_at = (double)start, item_at = (double)start;

	while ((now = now_us()) < start + us) {
		int64_t now_ms = loop_now_ms();

		for (; line_at <= (double)now; line_at += spread(day.line_us))
			day.edges[chance(&day.seed, day.edges_n)].due++;
		for (; item_at <= (double)now; item_at += spread(day.item_us))
			raise_item(&day.edges[chance(&day.seed, day.edges_n)]);
		for (unsigned i = 0; i < day.edges_n; i++)
			edge_step(&day.edges[i], now_ms);
		for (unsigned i = 0; i < day.people_n; i++)
			person_step(&day.people[i], now_ms);
		step_stores(day.stores, day.edges_n + day.people_n, 2);
	}
}

int bench_day(int argc, char **argv)
{
	pid_t postmaster;
	double seconds, cpu;

	if (argc != 9)
		fail("bench day URL POSTMASTER SECONDS EDGES REVIEWERS LINES ITEMS THINK_MS SEED");
	postmaster = (pid_t)strtol(argv[1], NULL, 10);
	seconds = strtod(argv[2], NULL);
	day = (struct day){ .edges_n = (unsigned)strtoul(argv[3], NULL, 10),
			    .people_n = (unsigned)strtoul(argv[4], NULL, 10),
			    .line_us = 1e6 / strtod(argv[5], NULL),
			    .item_us = 1e6 / strtod(argv[6], NULL),
			    .think_ms = strtod(argv[7], NULL),
			    .seed = strtoull(argv[8], NULL, 10) };
	day.edges = xcalloc(day.edges_n, sizeof(*day.edges));
	day.people = xcalloc(day.people_n, sizeof(*day.people));
	day.stores = xcalloc(day.edges_n + day.people_n, sizeof(struct store *));
	connect_all(argv[0]);
	run_for(4000000); /* plans are made then */
	cpu = server_s(postmaster);
	day.lines = day.reads = 0;
	run_for((int64_t)(seconds * 1e6));
	printf("day_cpu_per_s %.4f\nday_lines_per_s %.1f\nday_reads_per_s %.1f\n",
	       (server_s(postmaster) - cpu) / seconds, (double)day.lines / seconds,
	       (double)day.reads / seconds);
	return 0;
}
