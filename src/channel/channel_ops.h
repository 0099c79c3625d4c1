/* Inside the channels only: one table a kind, and what the kinds share. */
#ifndef GAVEL_CHANNEL_CHANNEL_OPS_H
#define GAVEL_CHANNEL_CHANNEL_OPS_H

#include "base/io.h"
#include "channel/channel.h"
#include "loop/loop.h"
#include "source/child.h"

/* As the functions of channel.h. `open` may leave a descriptor behind when it fails: channel_open
 * closes it. */
struct channel_ops {
	enum channel_result (*open)(struct channel *c, struct err *err);
	enum channel_result (*prepare)(struct channel *c, struct str bytes, bool after_torn,
				       struct attempt *out, struct err *err);
	enum channel_result (*send)(struct channel *c, struct str bytes, const struct attempt *at,
				    struct err *err);
	enum channel_found (*probe)(struct channel *c, struct str bytes, const struct attempt *at,
				    struct err *err);
};

extern const struct channel_ops channel_file, channel_fifo, channel_dir, channel_child;

/* Fills err and returns the result, so that `return channel_say(CHANNEL_FAILED, err, …)` is all. */
enum channel_result channel_say(enum channel_result r, struct err *err, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/* lstat of what is there; false: err says that it is not a safe one of this type (S_IFREG …), or
 * errno is not 0 and says why it cannot be seen. */
bool channel_look(const char *path, mode_t type, struct stat *st, struct err *err);
/* The same for what was opened. */
bool channel_is_safe(const char *path, const struct stat *st, mode_t type, struct err *err);
/* Never through a link, over interruptions. */
int channel_open_path(const char *path, int flags, mode_t mode);
int channel_fstat(int fd, struct stat *st);
/* A whole line: ends with its newline and holds no other. */
bool channel_is_line(struct str bytes, struct err *err);
/* Whether somebody has the other end of a pipe open; not to be told apart from trouble: yes. */
bool channel_has_reader(const struct channel *c);
/* Waits for the lock as long as patience lasts. */
enum channel_result channel_lock(struct channel *c, struct err *err);

/* Waiting with a deadline, by a clock that does not jump. Zero it; patience_renew puts the deadline
 * off when something went on. */
struct patience {
	int64_t start_ms, idle_ms;
	int step_ms;
};
/* Waits a little, at most 50 ms, for `events` on the channel; *ready gets poll's answer. False: it
 * was long enough, or the one who idles has had enough. */
bool channel_wait(const struct channel *c, struct patience *p, short events, short *ready);
void patience_renew(struct patience *p);
/* write(2) that answers EPIPE and raises no signal. */
ssize_t channel_write(int fd, const char *p, size_t n);

#endif
