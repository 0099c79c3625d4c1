/* The program that plays a team, and what its parts share. */
#include "team_actors.h"

#include "base/io.h"

#include <fcntl.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

enum { STORES_MAX = 512 };

static const struct {
	const char *name;
	int (*main)(int argc, char **argv);
} roles[] = {
	{ "reviewer", reviewer_main }, { "shipper", shipper_main }, { "reader", reader_main },
	{ "relay", relay_main },       { "storm", storm_main },     { "books", books_main },
	{ "restore", restore_main },   { "bench", bench_main },
};

_Noreturn void fail(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	fputs("team_actors: ", stderr);
	vfprintf(stderr, format, args);
	fputc('\n', stderr);
	va_end(args);
	exit(2);
}

struct store *open_store(const char *address, const struct store_ops *ops)
{
	struct team_url url;
	struct err err;
	struct store *s;

	if (team_url_parse(&url, address, &err))
		fail("%s", err.text);
	s = store_open(&url, ops, &err);
	if (!s)
		fail("%s", err.text);
	team_url_release(&url);
	return s;
}

void step_stores(struct store *const *stores, unsigned n, int timeout_ms)
{
	struct pollfd fds[STORES_MAX];
	int64_t now = loop_now_ms();

	if (n > STORES_MAX)
		fail("%u connections are too many", n);
	for (unsigned i = 0; i < n; i++) {
		struct loop_fd fd = store_fd(stores[i]);

		fds[i] = (struct pollfd){ fd.fd, (short)(POLLIN | (fd.output ? POLLOUT : 0)), 0 };
		timeout_ms = loop_sooner(timeout_ms, store_wait_ms(stores[i], now));
	}
	if (poll(fds, n, timeout_ms) < 0 && errno != EINTR)
		fail("poll: %s", strerror(errno));
	now = loop_now_ms();
	for (unsigned i = 0; i < n; i++)
		if (fds[i].revents || store_wait_ms(stores[i], now) == 0)
			store_step(stores[i], now);
}

struct asking {
	void (*rows)(void *ctx, const struct store_answer *a);
	void *ctx;
	bool done;
	int n;
};

static void answered(void *ctx, const struct store_answer *a)
{
	struct asking *q = ctx;

	q->done = true;
	q->n = a->rows ? (int)a->n : -1;
	if (!a->rows)
		fprintf(stderr, "refused %s %.*s\n", a->code, STR_ARG(a->why));
	else if (q->rows)
		q->rows(q->ctx, a);
}

int ask(struct store *s, const char *sql, const struct store_value *values, unsigned n,
	void (*rows)(void *ctx, const struct store_answer *a), void *ctx)
{
	struct asking q = { rows, ctx, false, 0 };
	struct store_request r = { .sql = sql, .n = n, .answered = answered, .ctx = &q };

	for (unsigned i = 0; i < n; i++)
		r.values[i] = values[i];
	store_ask(s, &r);
	store_step(s, loop_now_ms());
	while (!q.done)
		step_stores(&s, 1, 1000);
	return q.n;
}

uint32_t chance(uint64_t *seed, uint32_t n)
{
	/* splitmix64 */
	uint64_t z = *seed += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return (uint32_t)(((z ^ z >> 31) >> 32) * n >> 32);
}

int64_t now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

int open_append(const char *path)
{
	int fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);

	if (fd < 0)
		fail("%s: %s", path, strerror(errno));
	return fd;
}

void write_line(int fd, const char *format, ...)
{
	struct buf b = { 0 };
	va_list args;

	va_start(args, format);
	buf_vprintf(&b, format, args);
	va_end(args);
	buf_addc(&b, '\n');
	if (write(fd, b.p, b.n) != (ssize_t)b.n)
		fail("cannot write what happened: %s", strerror(errno));
	buf_release(&b);
}

void read_whole(const char *path, struct buf *out)
{
	struct err err;

	if (access(path, F_OK) == 0 && io_read_file(path, (size_t)1 << 30, out, &err))
		fail("%s", err.text);
}

int main(int argc, char **argv)
{
	for (unsigned i = 0; argc > 1 && i < sizeof(roles) / sizeof(roles[0]); i++)
		if (strcmp(argv[1], roles[i].name) == 0)
			return roles[i].main(argc - 1, argv + 1);
	fail("says nobody whom to play");
}
