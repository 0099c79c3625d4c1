/* Reply files that are locked while replies are planned and sent: the numbers in a message follow
 * those of the lines that others wrote, so nobody may write between reading the file and appending
 * to it. The channel stays open; desk_send_all writes through it. */
#ifndef GAVEL_CHANNEL_FILE_LOCKS_H
#define GAVEL_CHANNEL_FILE_LOCKS_H

#include "base/mem.h"
#include "channel/channel.h"

struct file_lock {
	char *path;
	struct channel *channel;
};

struct file_locks {
	VEC(struct file_lock) list;
};

enum file_lock_result {
	LOCK_TAKEN,   /* by this call */
	LOCK_NOT_NEW, /* it is held already; or there is no such file to lock, as the path is unsafe
			 or its disk knows no locks, which sending reports */
	LOCK_BUSY,    /* another program holds it; err */
};

/* Opens and locks a file, which is created if need be. Waits as channel_prepare does. */
enum file_lock_result file_locks_add(struct file_locks *l, const char *path,
				     const struct idle *idle, struct err *err);
/* The open channel of a locked file, or NULL. */
struct channel *file_locks_find(const struct file_locks *l, struct str path);
/* Unlocks all. A file that was created stays, even if nothing was written: somebody else may be about
 * to append to it. */
void file_locks_release(struct file_locks *l);

#endif
