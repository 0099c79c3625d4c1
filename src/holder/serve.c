/* The socket: connections, and the lines that clients say. A client is never waited for: one that does
 * not read what it is told is dropped. */
#include "holder/holder.h"

#include "base/io.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

static bool socket_name(const struct holder *h, struct sockaddr_un *at)
{
	*at = (struct sockaddr_un){ .sun_family = AF_UNIX };
	return snprintf(at->sun_path, sizeof(at->sun_path), "%s.sock", h->name) <
	       (int)sizeof(at->sun_path);
}

int serve_open(struct holder *h)
{
	struct sockaddr_un at;
	mode_t mask;
	int rc;

	if (!socket_name(h, &at)) {
		errno = ENAMETOOLONG;
		return -1;
	}
	if (fchdir(h->folder) < 0)
		return -1;
	h->listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (h->listener < 0)
		return -1;
	unlink(at.sun_path); /* the lock of the capture proves that nobody serves it */
	mask = umask(0177);
	rc = bind(h->listener, (const struct sockaddr *)&at, sizeof(at));
	umask(mask);
	return rc < 0 ? -1 : listen(h->listener, CLIENTS_MAX);
}

static void unmap(struct client *c)
{
	if (c->map)
		munmap(c->map, c->map_bytes);
	c->map = NULL;
}

static void drop(struct holder *h, struct client *c)
{
	if (h->input.from == c)
		h->input.from = NULL;
	unmap(c);
	close(c->fd);
	*c = (struct client){ .fd = -1 };
}

void serve_sweep(struct holder *h)
{
	for (int i = 0; i < CLIENTS_MAX; i++)
		if (h->clients[i].fd >= 0 && h->clients[i].gone)
			drop(h, &h->clients[i]);
}

/* The socket goes before the lock: from then on the next holder may bind its own. */
void serve_close(struct holder *h)
{
	struct sockaddr_un at;

	if (h->listener >= 0 && socket_name(h, &at))
		unlinkat(h->folder, at.sun_path, 0);
	fd_close(&h->listener);
	for (int s = 0; s < STREAMS; s++)
		fd_close(&h->streams[s].capture.fd);
}

/* ---- what the holder says ---- */

/* A client that has hung up may have said something before, which still counts: it is not dropped here,
 * but when reading has found its end. */
__attribute__((format(printf, 3, 0)))
static void say(struct client *clients, int n, const char *format, va_list ap)
{
	struct buf text = { 0 };

	buf_vprintf(&text, format, ap);
	for (struct client *c = clients; c < clients + n; c++) {
		ssize_t put;

		if (c->fd < 0 || c->gone)
			continue;
		put = send(c->fd, text.p, text.n, MSG_DONTWAIT | MSG_NOSIGNAL);
		if (put != (ssize_t)text.n && !(put < 0 && (errno == EPIPE || errno == ECONNRESET)))
			c->gone = true;
	}
	buf_release(&text);
}

void serve_say(struct client *c, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	say(c, 1, format, ap);
	va_end(ap);
}

void serve_say_all(struct holder *h, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	say(h->clients, CLIENTS_MAX, format, ap);
	va_end(ap);
}

void serve_trouble(struct holder *h)
{
	int now = h->streams[STREAM_OUT].capture.trouble;

	if (!now)
		now = h->streams[STREAM_ERR].capture.trouble;
	if (now && !h->told)
		serve_say_all(h, "F %s\n", strerror(now));
	else if (!now && h->told)
		serve_say_all(h, "O\n");
	h->told = now;
}

static const char *state_name(const struct holder *h)
{
	if (h->exited)
		return "ended";
	return h->stop == STOP_NONE ? "runs" : "ending";
}

/* The id of the line in flight, else of the last one written. */
static const char *last_id(const struct holder *h)
{
	const char *id = h->input.map ? h->input.id : h->input.last;

	return *id ? id : "-";
}

static void greet(struct holder *h, struct client *c)
{
	serve_say(c, "H %lu %ld %s %zu %s %llu\n", h->run, (long)h->pid, state_name(h),
		  h->exited ? h->unread : input_unread(h), last_id(h), (unsigned long long)h->start);
	if (h->told)
		serve_say(c, "F %s\n", strerror(h->told));
}

/* Reads what clients had sent by now, and no more: one that goes on sending is not waited for. */
static void read_clients(struct holder *h, int64_t now_ms)
{
	for (struct client *c = h->clients; c < h->clients + CLIENTS_MAX; c++) {
		size_t left = bytes_in(c->fd), got;

		do {
			got = serve_client(h, c, now_ms);
			left -= got < left ? got : left;
		} while (got && left);
	}
	serve_sweep(h);
}

static struct client *free_client(struct holder *h)
{
	for (int i = 0; i < CLIENTS_MAX; i++)
		if (h->clients[i].fd < 0)
			return &h->clients[i];
	return NULL;
}

/* All that was sent before this connection was made is read before it is greeted. So a line that the
 * greeting does not name and the capture does not have will not be written later. */
void serve_accept(struct holder *h, int64_t now_ms)
{
	int fd = accept4(h->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	struct client refused = { .fd = fd }, *c;
	struct ucred peer;
	socklen_t n = sizeof(peer);

	h->accept_ms = 0;
	if (fd < 0) {
		if (errno != EAGAIN && errno != EINTR && errno != ECONNABORTED)
			h->accept_ms = now_ms + RETRY_MS; /* no descriptor: not at once again */
		return;
	}
	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &n) < 0 || peer.uid != geteuid()) {
		close(fd);
		return;
	}
	read_clients(h, now_ms);
	c = free_client(h);
	if (!c || processes_has(h, peer.pid)) {
		serve_say(&refused, "N - %s\n", c ? "refused" : "busy");
		close(fd);
		return;
	}
	*c = (struct client){ .fd = fd };
	greet(h, c);
}

/* ---- what clients say ---- */

static void reject(struct client *c)
{
	serve_say(c, "N - bad\n");
	c->gone = true;
}

static bool is_id(struct str s)
{
	for (size_t i = 0; i < s.n; i++)
		if (!isalnum((unsigned char)s.p[i]) && !strchr("-_.", s.p[i]))
			return false;
	return s.n && s.n <= ID_MAX;
}

static void refuse(struct holder *h, struct client *c, enum refusal why)
{
	static const char *const words[] = { [REFUSE_BUSY] = "busy",
					     [REFUSE_FULL] = "full",
					     [REFUSE_CLOSED] = "closed",
					     [REFUSE_ENDED] = "ended" };
	struct agent_input *in = &h->input;

	if (why == REFUSE_IN_FLIGHT) {
		in->from = c;
	} else if (why == REFUSE_AGAIN) {
		serve_say(c, "A %s %llu\n", in->last, (unsigned long long)in->last_at);
		if (in->state == INPUT_UNREAD)
			in->from = c;
		else
			serve_say(c, "T %s\n", in->last);
	} else {
		serve_say(c, "N %s %s\n", c->id, words[why]);
	}
}

static bool is_line(const char *p, size_t n)
{
	return memchr(p, '\n', n) == p + n - 1;
}

/* The whole line is here, or what was sent of a refused one. */
static void finish_line(struct holder *h, struct client *c, int64_t now_ms)
{
	enum refusal why;

	if (c->map && !is_line(c->map + RECORD_HEAD, c->need)) {
		serve_say(c, "N %s bad\n", c->id);
	} else if (c->map) {
		why = input_refuses(h, c->id, c->need + RECORD_HEAD);
		if (why == REFUSE_NOT)
			input_begin(h, c, now_ms);
		else
			refuse(h, c, why);
	}
	unmap(c);
	c->need = 0;
}

/* Room for the line and the head of its record; the memory is taken as it is filled. */
static void map_line(struct client *c)
{
	c->map_bytes = c->need + RECORD_HEAD;
	c->map = mmap(NULL, c->map_bytes, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (c->map == MAP_FAILED) {
		c->map = NULL;
		serve_say(c, "N %s busy\n", c->id);
	}
}

/* rest: what follows "W ". */
static void begin_line(struct holder *h, struct client *c, struct str rest, int64_t now_ms)
{
	struct str id = str_cut(&rest, STR(" "));
	enum refusal why;
	uint64_t n;

	if (!is_id(id) || !str_to_u64(rest, &n) || !n || n > LINE_MAX_BYTES) {
		reject(c);
		return;
	}
	str_copy(c->id, id);
	c->need = (size_t)n;
	c->got = 0;
	input_advance(h, now_ms); /* the last one may have been read */
	why = input_refuses(h, c->id, 0);
	if (why != REFUSE_NOT)
		refuse(h, c, why);
	else
		map_line(c);
}

static void obey(struct holder *h, struct client *c, struct str line, int64_t now_ms)
{
	uint64_t grace_ms;

	if (str_starts(line, STR("W ")))
		begin_line(h, c, str_from(line, 2), now_ms);
	else if (str_is(line, "E"))
		input_end(h);
	else if (str_is(line, "?"))
		greet(h, c);
	else if (str_is(line, "X"))
		ending_kill(h, now_ms);
	else if (str_starts(line, STR("K ")) && str_to_u64(str_from(line, 2), &grace_ms) &&
		 grace_ms <= INT32_MAX)
		ending_stop(h, (int64_t)grace_ms, now_ms);
	else
		reject(c);
}

static void take_body(struct holder *h, struct client *c, size_t n, int64_t now_ms)
{
	c->got += n;
	if (c->got == c->need)
		finish_line(h, c, now_ms);
}

/* Takes bytes behind a head for the line it announced; returns how many. */
static size_t move_body(struct holder *h, struct client *c, const char *from, size_t n,
			int64_t now_ms)
{
	if (n > c->need - c->got)
		n = c->need - c->got;
	if (c->map)
		memcpy(c->map + RECORD_HEAD + c->got, from, n);
	take_body(h, c, n, now_ms);
	return n;
}

static void read_heads(struct holder *h, struct client *c, int64_t now_ms)
{
	size_t at = 0;

	while (at < c->head_n && !c->gone) {
		const char *line = c->head + at, *newline;

		if (c->need) {
			at += move_body(h, c, line, c->head_n - at, now_ms);
			continue;
		}
		newline = memchr(line, '\n', c->head_n - at);
		if (!newline)
			break;
		at += (size_t)(newline - line) + 1;
		obey(h, c, str_make(line, (size_t)(newline - line)), now_ms);
	}
	memmove(c->head, c->head + at, c->head_n - at);
	c->head_n -= at;
	if (c->head_n == sizeof(c->head) && !c->gone)
		reject(c);
}

size_t serve_client(struct holder *h, struct client *c, int64_t now_ms)
{
	char *to = c->head + c->head_n;
	size_t room = sizeof(c->head) - c->head_n;
	ssize_t got;

	if (c->fd < 0 || c->gone)
		return 0;
	if (c->need) {
		room = c->need - c->got;
		to = c->map ? c->map + RECORD_HEAD + c->got : block;
		if (!c->map && room > sizeof(block))
			room = sizeof(block);
	}
	IO_RETRY(got, recv(c->fd, to, room, MSG_DONTWAIT));
	if (got < 0 && errno == EAGAIN)
		return 0;
	if (got <= 0) {
		c->gone = true;
		return 0;
	}
	if (c->need) {
		take_body(h, c, (size_t)got, now_ms);
	} else {
		c->head_n += (size_t)got;
		read_heads(h, c, now_ms);
	}
	return (size_t)got;
}
