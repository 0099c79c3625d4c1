/* Captures: what the agent said and was told, appended to files. A write that fails leaves the rest in
 * memory; the stream it came from is not read until that is written. */
#include "holder/holder.h"

#include "base/io.h"
#include "base/timestamp.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

/* The worst case are lines of one tab: they grow from two bytes to three. */
static char escaped[BLOCK_BYTES + BLOCK_BYTES / 2 + 1];

int capture_init(struct capture_file *c, int fd, bool clocked)
{
	struct stat st;
	char last = '\n';

	*c = (struct capture_file){ .fd = fd, .clocked = clocked, .fresh = true };
	if (fstat(fd, &st) < 0)
		return -1;
	if (!S_ISREG(st.st_mode)) {
		errno = EINVAL;
		return -1;
	}
	c->end = (uint64_t)st.st_size;
	if (st.st_size > 0 && pread(fd, &last, 1, st.st_size - 1) < 0)
		return -1;
	c->mid_line = last != '\n';
	return 0;
}

int capture_reserve(const struct capture_file *c, size_t bytes)
{
	int rc;

	IO_RETRY(rc, fallocate(c->fd, FALLOC_FL_KEEP_SIZE, (off_t)c->end, (off_t)bytes));
	if (rc < 0 && (errno == ENOSPC || errno == EDQUOT || errno == EFBIG || errno == EIO))
		return errno;
	return 0; /* reserved, or the file system cannot */
}

/* Whether its file was deleted: then nobody can read what is written to it. */
static bool is_deleted(const struct capture_file *c)
{
	struct stat st;

	return fstat(c->fd, &st) == 0 && st.st_nlink == 0;
}

struct str capture_put(struct capture_file *c, struct str bytes, int64_t now_ms)
{
	while (bytes.n) {
		ssize_t done;

		IO_RETRY(done, io.pwrite(c->fd, bytes.p, bytes.n, (off_t)c->end));
		if (done <= 0 && is_deleted(c))
			break;
		if (done <= 0) {
			c->trouble = done ? errno : EIO;
			c->retry_ms = now_ms + RETRY_MS;
			return bytes;
		}
		c->mid_line = bytes.p[done - 1] != '\n';
		bytes = str_from(bytes, (size_t)done);
		c->end += (uint64_t)done;
	}
	c->trouble = 0;
	return STR_NONE;
}

bool capture_flush(struct capture_file *c, int64_t now_ms)
{
	struct str rest = buf_str(&c->rest);
	bool mid_line = c->mid_line;

	if (!rest.n || now_ms < c->retry_ms)
		return !rest.n;
	rest = capture_put(c, rest, now_ms);
	c->mid_line = mid_line;
	if (rest.n)
		memmove(c->rest.p, rest.p, rest.n);
	else
		buf_release(&c->rest);
	c->rest.n = rest.n;
	return !rest.n;
}

static void append(struct capture_file *c, struct str bytes, int64_t now_ms)
{
	bool mid_line;

	if (!bytes.n)
		return;
	mid_line = bytes.p[bytes.n - 1] != '\n';
	if (!c->rest.n)
		bytes = capture_put(c, bytes, now_ms);
	if (bytes.n)
		buf_add_str(&c->rest, bytes);
	c->mid_line = mid_line;
}

void capture_break(struct capture_file *c, int64_t now_ms)
{
	if (c->mid_line)
		append(c, STR("\n"), now_ms);
	c->fresh = false;
}

void capture_control(struct capture_file *c, struct str line, int64_t now_ms)
{
	struct buf text = { 0 };

	buf_printf(&text, "%s\t%.*s\n", c->mid_line ? "\n" : "", STR_ARG(line));
	append(c, buf_str(&text), now_ms);
	buf_release(&text);
	c->fresh = false;
	c->clock_ms = now_ms;
}

/* ---- what the agent says ---- */

/* Puts a space before each tab at the beginning of a line. */
static struct str escape_tabs(const struct capture_file *c, struct str bytes)
{
	bool begins = !c->mid_line;
	size_t n = 0;

	for (size_t i = 0; i < bytes.n;) {
		const char *newline = memchr(bytes.p + i, '\n', bytes.n - i);
		size_t end = newline ? (size_t)(newline - bytes.p) + 1 : bytes.n;

		if (begins && bytes.p[i] == '\t')
			escaped[n++] = ' ';
		memcpy(escaped + n, bytes.p + i, end - i);
		n += end - i;
		begins = true;
		i = end;
	}
	return str_make(escaped, n);
}

static void append_agents(struct capture_file *c, struct str bytes, int64_t now_ms)
{
	if (bytes.n && memchr(bytes.p, '\t', bytes.n))
		bytes = escape_tabs(c, bytes);
	append(c, bytes, now_ms);
}

/* Offset of the first line that begins in these bytes; bytes.n = none does. */
static size_t first_line(const struct capture_file *c, struct str bytes)
{
	const char *newline;

	if (!c->mid_line)
		return 0;
	newline = memchr(bytes.p, '\n', bytes.n);
	return newline ? (size_t)(newline - bytes.p) + 1 : bytes.n;
}

static void append_clocked(struct capture_file *c, struct str bytes, int64_t now_ms)
{
	size_t at = first_line(c, bytes);
	char text[64];
	int n;

	if (at < bytes.n) {
		append_agents(c, str_make(bytes.p, at), now_ms);
		bytes = str_from(bytes, at);
		n = snprintf(text, sizeof(text), "{\"gavel\":\"clock\",\"t\":%lld}",
			     (long long)timestamp_now_ms());
		capture_control(c, str_make(text, (size_t)n), now_ms);
	}
	append_agents(c, bytes, now_ms);
}

/* Keeps what follows the last newline in `carry`; returns what precedes it. */
static struct str split_off(struct capture_file *c, struct str bytes)
{
	const char *newline = memrchr(bytes.p, '\n', bytes.n);
	size_t n = newline ? (size_t)(newline - bytes.p) + 1 : bytes.n;

	if (n < bytes.n)
		buf_add_str(&c->carry, str_from(bytes, n));
	return str_make(bytes.p, n);
}

void capture_take(struct capture_file *c, struct str bytes, int64_t now_ms)
{
	if (!bytes.n)
		return;
	if (c->fresh)
		capture_break(c, now_ms); /* a line that was cut off must not run into this one */
	if (c->split)
		bytes = split_off(c, bytes);
	if (c->clocked && now_ms - c->clock_ms >= CLOCK_MS)
		append_clocked(c, bytes, now_ms);
	else
		append_agents(c, bytes, now_ms);
}

void capture_rejoin(struct capture_file *c, int64_t now_ms)
{
	struct buf carried = c->carry;

	c->split = false;
	c->carry = (struct buf){ 0 };
	capture_take(c, buf_str(&carried), now_ms);
	buf_release(&carried);
}
