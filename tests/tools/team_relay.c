/* A network that misbehaves, between the clients and the server, both reached by sockets: it delays,
 * stops to pass on, and cuts connections in the middle of a message.
 *
 *   team_actors relay SOCKET SERVER_SOCKET SEED
 *
 * It goes on until it is killed; after SIGUSR1 it is an honest relay, after SIGUSR2 no longer. */
#include "team_actors.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum { PAIRS_MAX = 64, BLOCK = 16 << 10, TURN_MS = 10 };
/* One in so many blocks is delayed, is where passing on ends, or is cut in half. */
enum {
	ODDS_DELAY = 60,
	ODDS_SILENCE = 8000,
	ODDS_CUT = 3000,
	DELAY_MAX_MS = 400,
	SILENCE_MS = 7000
};

struct pair {
	int fds[2];            /* client, server; -1 = free */
	struct buf waiting[2]; /* for each, what is to be sent to it */
	int64_t until_ms;      /* nothing is passed on before */
	bool silent;           /* nor is it then: it ends */
};

static struct pair pairs[PAIRS_MAX];
static volatile sig_atomic_t honest = 1;

static void behave(int sig)
{
	honest = sig == SIGUSR1;
}

static int make_socket(const char *path, bool listens)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

	if (fd < 0 || strlen(path) >= sizeof(a.sun_path))
		fail("%s: no socket", path);
	strcpy(a.sun_path, path);
	if ((listens ? bind(fd, (struct sockaddr *)&a, sizeof(a)) || listen(fd, 64)
		     : connect(fd, (struct sockaddr *)&a, sizeof(a))) != 0) {
		if (listens)
			fail("%s: %s", path, strerror(errno));
		close(fd);
		return -1;
	}
	return fd;
}

static void end_pair(struct pair *p)
{
	for (int i = 0; i < 2; i++) {
		close(p->fds[i]);
		p->fds[i] = -1;
		buf_release(&p->waiting[i]);
	}
}

static void add_pair(int client, const char *server)
{
	for (struct pair *p = pairs; p < pairs + PAIRS_MAX; p++)
		if (p->fds[0] < 0) {
			int fd = make_socket(server, false);

			if (fd < 0)
				break;
			*p = (struct pair){ .fds = { client, fd } };
			return;
		}
	close(client);
}

/* Sends what waits. false: the connection is gone. */
static bool flush(struct pair *p, int side)
{
	struct buf *b = &p->waiting[side];
	ssize_t n = b->n ? send(p->fds[side], b->p, b->n, MSG_NOSIGNAL) : 0;

	if (n < 0)
		return errno == EAGAIN;
	memmove(b->p, b->p + n, b->n - (size_t)n);
	b->n -= (size_t)n;
	return true;
}

/* Takes a block from a side. false: the connection ends here. */
static bool pass(struct pair *p, int from, uint64_t *seed, int64_t now)
{
	char block[BLOCK];
	ssize_t n = recv(p->fds[from], block, sizeof(block), 0);

	if (n <= 0)
		return n < 0 && errno == EAGAIN;
	if (!honest && chance(seed, ODDS_CUT) == 0) {
		buf_add(&p->waiting[!from], block, (size_t)n / 2);
		flush(p, !from);
		return false;
	}
	p->silent = !honest && chance(seed, ODDS_SILENCE) == 0;
	if (p->silent)
		p->until_ms = now + SILENCE_MS;
	else if (!honest && chance(seed, ODDS_DELAY) == 0)
		p->until_ms = now + chance(seed, DELAY_MAX_MS);
	buf_add(&p->waiting[!from], block, (size_t)n);
	return true;
}

static void turn(int listener, const char *server, uint64_t *seed)
{
	struct pollfd fds[1 + 2 * PAIRS_MAX] = { { listener, POLLIN, 0 } };
	int64_t now = loop_now_ms();
	int client;

	for (int i = 0; i < PAIRS_MAX; i++)
		for (int side = 0; side < 2; side++) {
			struct pair *p = &pairs[i];
			bool asleep = p->fds[0] < 0 || p->until_ms > now;

			/* a block at a time is on its way, so that what is slow stays slow */
			fds[1 + 2 * i + side] =
				(struct pollfd){ asleep ? -1 : p->fds[side],
						 (short)((p->waiting[!side].n ? 0 : POLLIN) |
							 (p->waiting[side].n ? POLLOUT : 0)),
						 0 };
		}
	if (poll(fds, 1 + 2 * PAIRS_MAX, TURN_MS) < 0)
		return;
	while ((client = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC)) >= 0)
		add_pair(client, server);
	now = loop_now_ms();
	for (struct pair *p = pairs; p < pairs + PAIRS_MAX; p++) {
		const struct pollfd *f = &fds[1 + 2 * (p - pairs)];

		if (p->fds[0] >= 0 && p->silent && p->until_ms <= now)
			end_pair(p);
		/* fds of a pair that was made just now are not in the list yet */
		if (p->fds[0] < 0 || f[0].fd != p->fds[0])
			continue;
		for (int side = 0; side < 2; side++)
			if (((f[side].revents & (POLLIN | POLLHUP | POLLERR)) &&
			     !pass(p, side, seed, now)) ||
			    (p->until_ms <= now && !flush(p, !side))) {
				end_pair(p);
				break;
			}
	}
}

int relay_main(int argc, char **argv)
{
	uint64_t seed;
	int listener;

	if (argc != 4)
		fail("relay SOCKET SERVER_SOCKET SEED");
	seed = strtoull(argv[3], NULL, 10);
	for (int i = 0; i < PAIRS_MAX; i++)
		pairs[i].fds[0] = pairs[i].fds[1] = -1;
	signal(SIGUSR1, behave);
	signal(SIGUSR2, behave);
	unlink(argv[1]);
	listener = make_socket(argv[1], true);
	for (;;)
		turn(listener, argv[2], &seed);
}
