/* Keeps reply files open and locked. */
#include "channel/file_locks.h"

#include "channel/channel_ops.h"

#include <fcntl.h>
#include <stdlib.h>

enum { REPLACED_MAX = 3 };

struct channel *file_locks_find(const struct file_locks *l, struct str path)
{
	for (uint32_t i = 0; i < l->list.n; i++)
		if (str_is(path, l->list.v[i].path))
			return l->list.v[i].channel;
	return NULL;
}

/* Whether the path still names the file that was opened. */
static bool is_named(const struct channel *c)
{
	struct stat opened, named;

	return channel_fstat(c->fd, &opened) == 0 && io.lstat(c->path, &named) == 0 &&
	       opened.st_dev == named.st_dev && opened.st_ino == named.st_ino;
}

static enum file_lock_result lock_file(struct channel *c, const char *path, struct err *err)
{
	struct err ignored;

	/* a file that was replaced while its lock was waited for is not the one to write to */
	for (int i = 0; i < REPLACED_MAX; i++) {
		if (channel_open(c, CHANNEL_FILE, path, &ignored) != CHANNEL_OK)
			return LOCK_NOT_NEW;
		if (channel_lock(c, &ignored) != CHANNEL_OK && !c->busy)
			return LOCK_NOT_NEW;
		if (c->busy) {
			err_set(err,
				"%.300s: another program has locked it, so nothing was sent; try "
				"again when it is done",
				path);
			return LOCK_BUSY;
		}
		if (is_named(c))
			return LOCK_TAKEN;
		channel_close(c);
	}
	err_set(err, "%.300s: keeps being replaced; try again later", path);
	return LOCK_BUSY;
}

enum file_lock_result file_locks_add(struct file_locks *l, const char *path,
				     const struct idle *idle, struct err *err)
{
	struct file_lock lock;
	enum file_lock_result r;

	if (file_locks_find(l, str_of(path)))
		return LOCK_NOT_NEW;
	lock.path = xstrdup(path);
	lock.channel = xcalloc(1, sizeof(*lock.channel));
	lock.channel->idle = idle;
	r = lock_file(lock.channel, lock.path, err);
	if (r == LOCK_TAKEN) {
		vec_push(&l->list, lock);
		return r;
	}
	channel_close(lock.channel);
	free(lock.channel);
	free(lock.path);
	return r;
}

void file_locks_release(struct file_locks *l)
{
	struct flock none = { .l_type = F_UNLCK, .l_whence = SEEK_SET };

	for (uint32_t i = 0; i < l->list.n; i++) {
		/* a child process that was forked meanwhile has the descriptor, too */
		fcntl(l->list.v[i].channel->fd, F_OFD_SETLK, &none);
		channel_close(l->list.v[i].channel);
		free(l->list.v[i].channel);
		free(l->list.v[i].path);
	}
	vec_release(&l->list);
}
