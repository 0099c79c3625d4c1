/* Client of holders: connecting by the folder of the capture, lines in both directions; and what holders
 * write into captures. */
#include "source/holder_link.h"

#include "base/io.h"
#include "base/mem.h"
#include "base/timestamp.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum {
	SHORT_LINE_BYTES = 512, /* of what is said, but for the lines for the agent */
	SCAN_BYTES = 64 << 10,
	RECORD_BYTES = 512, /* of a record that are read */
	TO_BYTES = 192,     /* no record of a line to the agent is longer */
};

#define RECORD_BEGIN "\t{\"gavel\":\""
#define CAPTURE_ENDING STR(".ndjson")

unsigned holder_split(const char *path, struct buf *capture)
{
	const char *hash = strrchr(path, '#');
	struct str name = str_make(path, hash ? (size_t)(hash - path) : 0);
	uint64_t run;

	buf_clear(capture);
	if (!hash || path[0] != '/' || !str_ends(name, CAPTURE_ENDING) ||
	    !str_to_u64(str_of(hash + 1), &run) || !run || run > UINT32_MAX)
		return 0;
	buf_add_str(capture, name);
	return (unsigned)run;
}

/* ---- connecting ---- */

static enum holder_state fail(const char *capture, int number, struct err *err)
{
	static const char *const words[] = {
		[HOLDER_ABSENT] = "its agent does not run",
		[HOLDER_SILENT] =
			"the process that holds its agent does not respond; is it stopped?",
		[HOLDER_BUSY] =
			"too many programs are connected to its agent; close one and try again",
		[HOLDER_REFUSED] = "cannot reach the process that holds its agent: ",
	};
	enum holder_state state = number == EAGAIN  ? HOLDER_SILENT
				  : number == EBUSY ? HOLDER_BUSY
				  : number == ENOENT || number == ENOTDIR ||
						  number == ENAMETOOLONG || number == ECONNREFUSED
					  ? HOLDER_ABSENT
					  : HOLDER_REFUSED;

	err_set(err, "%.300s: %s%s", capture, words[state],
		state != HOLDER_REFUSED ? ""
		: number == EPERM       ? "the agent and what it has started may not talk to it"
					: strerror(number));
	return state;
}

/* The socket in that folder, by a path that is short enough whatever the folder's is. 0 or an
 * errno; EAGAIN: too many wait to be accepted. */
static int connect_in(struct holder_link *k, int folder, struct str base)
{
	struct sockaddr_un to = { .sun_family = AF_UNIX };
	struct ucred peer;
	socklen_t n = sizeof(peer);

	if (snprintf(to.sun_path, sizeof(to.sun_path), "/proc/self/fd/%d/%.*s.sock", folder,
		     STR_ARG(base)) >= (int)sizeof(to.sun_path))
		return ENAMETOOLONG;
	k->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (k->fd < 0 || connect(k->fd, (struct sockaddr *)&to, sizeof(to)) < 0 ||
	    getsockopt(k->fd, SOL_SOCKET, SO_PEERCRED, &peer, &n) < 0)
		return errno;
	return peer.uid == geteuid() ? 0 : EACCES;
}

enum holder_state holder_connect(struct holder_link *k, const char *capture, struct err *err)
{
	const char *slash = strrchr(capture, '/');
	struct str base = str_of(slash ? slash + 1 : capture);
	enum holder_state state = HOLDER_RUNS;
	struct buf dir = { 0 };
	int folder, number;

	*k = (struct holder_link){ .fd = -1 };
	if (!str_ends(base, CAPTURE_ENDING))
		return fail(capture, ENOENT, err);
	base.n -= CAPTURE_ENDING.n;
	if (slash > capture)
		buf_add(&dir, capture, (size_t)(slash - capture));
	else
		buf_adds(&dir, slash ? "/" : ".");
	folder = open(dir.p, O_PATH | O_DIRECTORY | O_CLOEXEC);
	number = folder < 0 ? errno : connect_in(k, folder, base);
	if (number)
		state = fail(capture, number, err);
	else if (io_check_folder(dir.p, err) < 0) /* others can put a socket of theirs there */
		state = HOLDER_REFUSED;
	if (state != HOLDER_RUNS)
		fd_close(&k->fd);
	fd_close(&folder);
	buf_release(&dir);
	return state;
}

bool holder_parse_greeting(struct str line, struct holder_greeting *out)
{
	char text[SHORT_LINE_BYTES], state[16];
	unsigned long long unread, start;
	long pid;

	if (line.n >= sizeof(text))
		return false;
	memcpy(text, line.p, line.n);
	text[line.n] = '\0';
	if (sscanf(text, "H %u %ld %15s %llu %64s %llu", &out->run, &pid, state, &unread, out->last,
		   &start) != 6)
		return false;
	out->pid = (pid_t)pid;
	out->ending = strcmp(state, "runs") != 0;
	out->unread = unread;
	out->start = start;
	return true;
}

enum holder_state holder_greet(struct holder_link *k, const char *capture,
			       struct holder_greeting *out, struct err *err)
{
	struct str line;
	bool over, some = holder_next(k, &line, &over);
	int number = !some ? ECONNREFUSED : str_is(line, "N - refused") ? EPERM : EBUSY;

	if (some && holder_parse_greeting(line, out))
		return HOLDER_RUNS;
	if (!some && !over)
		return fail(capture, EAGAIN, err);
	holder_close(k);
	return fail(capture, number, err);
}

enum holder_state holder_ask(const char *capture, struct holder_link *k,
			     struct holder_greeting *out, struct err *err)
{
	int64_t until = monotonic_ms() + HOLDER_WAIT_MS, left;
	struct holder_link own, *at = k ? k : &own;
	enum holder_state state;

	while ((state = holder_connect(at, capture, err)) == HOLDER_SILENT && monotonic_ms() < until)
		poll(NULL, 0, 5);
	while (at->fd >= 0 && (state = holder_greet(at, capture, out, err)) == HOLDER_SILENT &&
	       (left = until - monotonic_ms()) > 0) {
		struct pollfd fd = { .fd = at->fd, .events = POLLIN };

		io.poll(&fd, 1, (int)left);
	}
	if (!k || state != HOLDER_RUNS)
		holder_close(at);
	return state;
}

void holder_close(struct holder_link *k)
{
	fd_close(&k->fd);
	buf_release(&k->in);
	k->taken = 0;
}

/* ---- lines ---- */

static bool take_line(struct holder_link *k, struct str *line)
{
	struct str rest = str_from(buf_str(&k->in), k->taken);
	const char *end = rest.n ? memchr(rest.p, '\n', rest.n) : NULL;

	if (!end)
		return false;
	*line = str_make(rest.p, (size_t)(end - rest.p));
	k->taken += line->n + 1;
	return true;
}

bool holder_next(struct holder_link *k, struct str *line, bool *over)
{
	*over = k->fd < 0;
	*line = STR_NONE;
	for (;;) {
		ssize_t n;

		if (take_line(k, line))
			return true;
		if (k->taken) {
			memmove(k->in.p, k->in.p + k->taken, k->in.n - k->taken);
			k->in.n -= k->taken;
			k->taken = 0;
		}
		if (k->fd < 0 || k->in.n > SHORT_LINE_BYTES)
			break;
		buf_reserve(&k->in, SHORT_LINE_BYTES);
		IO_RETRY(n, io.read(k->fd, k->in.p + k->in.n, SHORT_LINE_BYTES));
		if (n < 0 && errno == EAGAIN)
			return false;
		if (n <= 0)
			break;
		k->in.n += (size_t)n;
	}
	*over = true;
	return false;
}

bool holder_say(struct holder_link *k, const char *format, ...)
{
	char text[SHORT_LINE_BYTES];
	va_list args;
	int n;

	va_start(args, format);
	n = vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	return n < (int)sizeof(text) && k->fd >= 0 &&
	       send(k->fd, text, (size_t)n, MSG_NOSIGNAL) == n;
}

/* ---- captures ---- */

/* The number behind a name in a holder's record, -1 = none. */
static long long number_in(const char *record, const char *name)
{
	const char *at = strstr(record, name);

	return at ? atoll(at + strlen(name)) : -1;
}

/* Copies what stands between a name in the record and the next `end`. */
static void copy_from(const char *record, const char *name, const char *end, char *out, size_t size)
{
	const char *at = strstr(record, name);

	if (at)
		snprintf(out, size, "%.*s", (int)strcspn(at + strlen(name), end),
			 at + strlen(name));
}

static void read_exit(const char *record, struct capture_end *out)
{
	long long signal = number_in(record, "\"signal\":");
	long long unread = number_in(record, "\"unread\":");

	out->run = (unsigned)number_in(record, "\"n\":");
	out->ended = true;
	out->by_signal = signal >= 0;
	out->number = (int)(signal >= 0 ? signal : number_in(record, "\"code\":"));
	out->cut = strstr(record, "\"cut\":true") != NULL;
	out->core = strstr(record, "\"core\":true") != NULL;
	out->unread_n = unread > 0 ? (uint64_t)unread : 0;
	if (unread >= 0)
		copy_from(record, "\"id\":\"", "\"", out->unread, sizeof(out->unread));
	copy_from(record, "\"left\":[", "]", out->left, sizeof(out->left));
}

static bool is_kind(const char *record, const char *kind)
{
	size_t n = strlen(RECORD_BEGIN), m = strlen(kind);

	return strncmp(record, RECORD_BEGIN, n) == 0 && strncmp(record + n, kind, m) == 0 &&
	       record[n + m] == '"';
}

/* Whether the holder's record of something other than the time is at that place. What the agent was
 * told begins with a tab, too: it follows a `to`. */
static bool read_record(int fd, uint64_t at, char record[RECORD_BYTES + 1])
{
	uint64_t before = at < TO_BYTES ? at : TO_BYTES;
	char bytes[TO_BYTES + RECORD_BYTES + 1], *line = bytes + before, *newline;
	ssize_t n;

	IO_RETRY(n, io.pread(fd, bytes, (size_t)before + RECORD_BYTES, (off_t)(at - before)));
	if (n <= (ssize_t)before || (before && line[-1] != '\n'))
		return false;
	bytes[n] = '\0';
	newline = before > 1 ? memrchr(bytes, '\n', (size_t)before - 1) : NULL;
	if ((newline && is_kind(newline + 1, "to")) ||
	    (!newline && before == at && is_kind(bytes, "to")))
		return false;
	line[strcspn(line, "\n")] = '\0';
	memcpy(record, line, strlen(line) + 1);
	return is_kind(line, "run") || is_kind(line, "to") || is_kind(line, "exit");
}

/* The last record that begins in from..*end; *end is then its place. 0: none; -1: unreadable. */
static int record_before(int fd, uint64_t from, uint64_t *end, char record[RECORD_BYTES + 1])
{
	char *block = xmalloc(SCAN_BYTES), *at;
	int rc = 0;

	while (rc == 0 && *end > from) {
		uint64_t start = *end - from > SCAN_BYTES ? *end - SCAN_BYTES : from;
		ssize_t n;

		IO_RETRY(n, io.pread(fd, block, (size_t)(*end - start), (off_t)start));
		if (n < 0)
			rc = -1;
		*end = start;
		while (rc == 0 && n > 0 && (at = memrchr(block, '\t', (size_t)n))) {
			n = at - block;
			if ((!n || at[-1] == '\n') &&
			    read_record(fd, start + (uint64_t)n, record)) {
				*end = start + (uint64_t)n;
				rc = 1;
			}
		}
	}
	free(block);
	return rc;
}

static uint64_t size_of(int fd)
{
	struct stat st;

	return io.fstat(fd, &st) == 0 ? (uint64_t)st.st_size : 0;
}

void capture_read_end(int fd, uint64_t from, struct capture_end *out)
{
	capture_read_run(fd, from, 0, out);
}

void capture_read_run(int fd, uint64_t from, unsigned run, struct capture_end *out)
{
	char record[RECORD_BYTES + 1];
	uint64_t at = size_of(fd);

	*out = (struct capture_end){ .start = from, .number = -1 };
	while (record_before(fd, from, &at, record) > 0) {
		if (run && number_in(record, "\"n\":") != run)
			continue;
		if (is_kind(record, "run")) {
			out->run = (unsigned)number_in(record, "\"n\":");
			out->pid = out->ended ? 0 : (pid_t)number_in(record, "\"pid\":");
			out->start = at;
			break;
		}
		if (is_kind(record, "exit")) {
			read_exit(record, out);
			out->at = at;
		}
		if (out->ended && from)
			break;
	}
}

enum capture_letter capture_find_letter(int fd, uint64_t from, unsigned run, const char *id)
{
	enum capture_letter found = CAPTURE_NOT_YET;
	char record[RECORD_BYTES + 1], name[HOLDER_ID_MAX + 10];
	uint64_t end = size_of(fd);
	int rc;

	snprintf(name, sizeof(name), "\"id\":\"%s\"", id);
	while ((rc = record_before(fd, from, &end, record)) > 0) {
		if (is_kind(record, "to") && strstr(record, name))
			return CAPTURE_HAS_LETTER;
		/* of a line that was written in part, some may have been read */
		if (is_kind(record, "exit") && number_in(record, "\"n\":") == (long long)run &&
		    !strstr(record, name))
			found = CAPTURE_NEVER;
	}
	return rc < 0 ? CAPTURE_UNREADABLE : found;
}
