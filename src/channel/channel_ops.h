/* Private to the channels: the table of functions of each type, and what the types share. */
#ifndef GAVEL_CHANNEL_CHANNEL_OPS_H
#define GAVEL_CHANNEL_CHANNEL_OPS_H

#include "base/io.h"
#include "channel/channel.h"
#include "loop/loop.h"
#include "source/source.h"

/* As the functions of channel.h. If `open` fails, channel_open closes the descriptor. */
struct channel_ops {
	enum channel_result (*open)(struct channel *c, struct err *err);
	enum channel_result (*prepare)(struct channel *c, struct str bytes, bool after_torn,
				       struct attempt *out, struct err *err);
	enum channel_result (*send)(struct channel *c, struct str bytes, const struct attempt *at,
				    struct err *err);
	enum channel_found (*probe)(struct channel *c, struct str bytes, const struct attempt *at,
				    struct err *err);
};

extern const struct channel_ops channel_file, channel_fifo, channel_dir, channel_agent,
	channel_team;

/* Formats err and returns result: `return channel_fail(CHANNEL_FAILED, err, …)`. */
#define channel_fail(result, err, ...) (err_set(err, __VA_ARGS__), (result))
/* lstat of a file that must be safe and of this type (S_IFREG …). False: err says why; errno is 0
 * unless lstat failed. */
bool channel_lstat(const char *path, mode_t type, struct stat *st, struct err *err);
/* The same check for a file that was opened. */
bool channel_is_safe(const char *path, const struct stat *st, mode_t type, struct err *err);
/* Follows no link; retries EINTR. */
int channel_open_path(const char *path, int flags, mode_t mode);
int channel_fstat(int fd, struct stat *st);
/* Whether it is one line, newline included. */
bool channel_is_line(struct str bytes, struct err *err);
/* Waits for the lock until the channel's timeout. */
enum channel_result channel_lock(struct channel *c, struct err *err);

void agent_delivery_free(struct channel *c);

struct channel_timer {
	int64_t start_ms, idle_ms;
	int step_ms;
};
/* Waits at most 50 ms for events on a descriptor. False: the channel's timeout has passed since the
 * timer began, or the idle callback has cancelled. */
bool channel_wait_for(const struct channel *c, struct channel_timer *t, int fd, short events);

/* ---- FIFOs ---- */

/* Whether a process has the read end open; true if that cannot be determined. */
bool channel_has_reader(const struct channel *c);

enum drain { DRAIN_EMPTY, DRAIN_SLOW, DRAIN_DESERTED, DRAIN_FAILED };
/* Waits until the pipe is empty; *left is the number of unread bytes. SLOW: the timeout has passed;
 * DESERTED: the reader has gone; FAILED: errno. */
enum drain channel_drain(const struct channel *c, int *left);
/* Writes the bytes from *done on, which is updated. 0; an errno; EAGAIN on timeout. */
int channel_write_rest(const struct channel *c, struct str bytes, size_t *done);

#endif
