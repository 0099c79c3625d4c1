/* The pool of agent processes: open and close, tick, timeouts, lookup by name and by path. */
#include "source/child_internal.h"

#include "base/io.h"
#include "base/timestamp.h"

#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

enum { INPUT_EVERY_MS = 1000, CLOSE_WAIT_MS = 2000 };

struct children *children_open(const char *captures, struct err *err)
{
	struct children *pool;
	struct sigaction action;
	struct drain *drain = drain_open(err);
	uint32_t random = 0;

	if (!drain)
		return NULL;
	pool = xcalloc(1, sizeof(*pool));
	pool->drain = drain;
	pool->folder = captures ? xstrdup(captures) : NULL;
	if (getrandom(&random, sizeof(random), GRND_NONBLOCK) < 0)
		random = (uint32_t)monotonic_ms() ^ (uint32_t)getpid() << 16;
	snprintf(pool->tag, sizeof(pool->tag), "%08x", random);
	/* inherited SIG_IGN would make the kernel reap children and lose their exit status */
	if (sigaction(SIGCHLD, NULL, &action) == 0 && action.sa_handler == SIG_IGN)
		signal(SIGCHLD, SIG_DFL);
	return pool;
}

/* Waits until its other processes are gone, too, which are not our children; `left` names the rest. */
static void wait_others(struct child *c, int64_t until_ms)
{
	const struct timespec pause = { .tv_nsec = 1000000 };

	while (processes_find(c) && monotonic_ms() < until_ms)
		nanosleep(&pause, NULL);
	processes_leave(c);
}

/* Waits for a killed process, but not for ever: one in uninterruptible sleep must not block us. */
static void wait_killed(struct child *c, int64_t until_ms)
{
	const struct timespec pause = { .tv_nsec = 1000000 };

	while (c->life == CHILD_RUNS && !child_notice_exit(c) && monotonic_ms() < until_ms)
		nanosleep(&pause, NULL);
	wait_others(c, until_ms);
	if (c->life != CHILD_RUNS)
		child_reap(c);
}

const char *children_folder(const struct children *pool)
{
	return pool->folder ? pool->folder : io_temp_folder();
}

static void add_left(const struct child *c, struct buf *left)
{
	if (c->left.n)
		buf_printf(left, "%s: left running: %s; it could not be ended\n", c->name, c->left.p);
}

/* After drain_close. */
static void add_lost(const struct child_private *k, struct buf *left)
{
	uint64_t lost = k->captures[DRAIN_OUT].lost + k->captures[DRAIN_ERR].lost;
	int number = atomic_load(&k->captures[DRAIN_OUT].trouble);

	if (!number)
		number = atomic_load(&k->captures[DRAIN_ERR].trouble);
	if (lost)
		buf_printf(left, "%s: lost the last %llu byte%s of its output: %s: %s\n",
			   k->c.name, (unsigned long long)lost, plural_s(lost),
			   children_folder(k->c.pool), strerror(number));
}

void children_close(struct children *pool, struct buf *left)
{
	int64_t until_ms = monotonic_ms() + CLOSE_WAIT_MS;

	if (!pool)
		return;
	for (uint32_t i = 0; i < pool->list.n; i++)
		if (pool->list.v[i]->c.run)
			processes_signal(&pool->list.v[i]->c, SIGKILL);
	for (uint32_t i = 0; i < pool->list.n; i++)
		if (pool->list.v[i]->c.run)
			wait_killed(&pool->list.v[i]->c, until_ms);
	drain_close(pool->drain); /* reads what is left in the pipes */
	for (uint32_t i = 0; left && i < pool->list.n; i++) {
		add_lost(pool->list.v[i], left);
		add_left(&pool->list.v[i]->c, left);
	}
	for (uint32_t i = 0; i < pool->list.n; i++)
		child_free(&pool->list.v[i]->c);
	vec_release(&pool->list);
	free(pool->folder);
	free(pool);
}

int children_fd(const struct children *pool)
{
	return drain_fd(pool->drain);
}

bool children_tick(struct children *pool, int64_t now_ms)
{
	bool changed = false;

	drain_rearm(pool->drain);
	for (uint32_t i = 0; i < pool->list.n; i++)
		if (pool->list.v[i]->c.run)
			changed |= child_tick(&pool->list.v[i]->c, now_ms);
	return changed;
}

/* When this child needs a tick without an event; INT64_MAX = never. */
static int64_t next_tick_ms(const struct child *c, int64_t now_ms)
{
	if (!c->run)
		return INT64_MAX;
	if (c->life == CHILD_EXITED)
		return now_ms + SWEEP_EVERY_MS;
	if (c->stop == CHILD_ASKED || c->stop == CHILD_TERMED)
		return c->deadline_ms;
	/* there is no event when the agent reads its pipe */
	return c->input.unread > 0 ? now_ms + INPUT_EVERY_MS : INT64_MAX;
}

int children_wait_ms(const struct children *pool, int64_t now_ms)
{
	int64_t first = INT64_MAX;

	for (uint32_t i = 0; i < pool->list.n; i++) {
		int64_t next = next_tick_ms(&pool->list.v[i]->c, now_ms);

		first = next < first ? next : first;
	}
	if (first == INT64_MAX)
		return -1;
	if (first <= now_ms)
		return 0;
	return first - now_ms > INT_MAX ? INT_MAX : (int)(first - now_ms);
}

struct child *children_find(const struct children *pool, const char *name)
{
	for (uint32_t i = 0; i < pool->list.n; i++)
		if (strcmp(pool->list.v[i]->c.name, name) == 0)
			return &pool->list.v[i]->c;
	return NULL;
}

/* ---- paths to inputs ---- */

/* The child that a path names, of any incarnation. */
static struct child *owner_of(const struct children *pool, struct str path)
{
	for (uint32_t i = 0; i < pool->list.n; i++) {
		struct child *c = &pool->list.v[i]->c;
		size_t n = strlen(c->name);

		if (str_starts(path, STR("agent:")) && path.n > 6 + n &&
		    memcmp(path.p + 6, c->name, n) == 0 && path.p[6 + n] == '#')
			return c;
	}
	return NULL;
}

struct child_input *children_input(void *pool, const char *path, struct err *err)
{
	struct child *c = owner_of(pool, str_of(path));
	struct buf now = { 0 };
	bool same;

	if (!c) {
		err_set(err, "%.300s: no such agent runs here; start it, then decide again", path);
		return NULL;
	}
	child_path(c, &now);
	same = str_is(buf_str(&now), path);
	buf_clear(&now);
	child_notice_exit(c);
	child_status_text(c, &now);
	if (!same)
		err_set(err,
			"%s: the agent was restarted; what was meant for the one before is not "
			"sent to it: decide again",
			c->name);
	else if (c->life != CHILD_RUNS)
		err_set(err, "%s: the agent has ended (%s); restart it, then decide again", c->name,
			now.p);
	else if (c->input.fd < 0)
		err_set(err, "%s: its standard input is closed; restart it, then decide again",
			c->name);
	buf_release(&now);
	return same && c->input.fd >= 0 ? &c->input : NULL;
}
