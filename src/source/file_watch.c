/* Wrapper of inotify: maps its masks to enum file_watch_what. */
#include "source/file_watch.h"

#include <stdio.h>
#include <sys/inotify.h>
#include <unistd.h>

enum {
	NAMES = IN_CREATE | IN_MOVED_TO | IN_MOVED_FROM | IN_DELETE | IN_DELETE_SELF | IN_MOVE_SELF,
	CONTENTS = IN_MODIFY | IN_CLOSE_WRITE | IN_ATTRIB,
};

int file_watch_open(void)
{
	return inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
}

/* The same file may be watched for two reasons. */
int file_watch_file(int fd, const char *name)
{
	return inotify_add_watch(fd, name, IN_MODIFY | IN_ATTRIB | IN_MASK_ADD);
}

int file_watch_open_file(int fd, int file)
{
	char name[40];

	snprintf(name, sizeof(name), "/proc/self/fd/%d", file);
	return file_watch_file(fd, name);
}

int file_watch_folder(int fd, const char *name, bool contents)
{
	return inotify_add_watch(fd, name, NAMES | IN_ONLYDIR | IN_MASK_ADD |
						   (contents ? CONTENTS : 0));
}

void file_watch_drop(int fd, int watch)
{
	inotify_rm_watch(fd, watch);
}

static unsigned what_of(uint32_t mask)
{
	unsigned what = 0;

	if (mask & CONTENTS)
		what |= FILE_EVENT_CHANGED;
	if (mask & (IN_CREATE | IN_MOVED_TO))
		what |= FILE_EVENT_CAME;
	if (mask & (IN_DELETE | IN_MOVED_FROM))
		what |= FILE_EVENT_LEFT;
	if (mask & (IN_IGNORED | IN_DELETE_SELF | IN_MOVE_SELF | IN_UNMOUNT))
		what |= FILE_EVENT_ENDED;
	if (mask & IN_Q_OVERFLOW)
		what |= FILE_EVENT_MISSED;
	return what;
}

void file_watch_read(int fd, file_watch_fn fn, void *ctx)
{
	_Alignas(struct inotify_event) char bytes[16 << 10];
	ssize_t n = 1;

	/* bounded: 256 rounds exceed the kernel's queue, later events wait for the next call */
	for (int round = 0; round < 256 && n > 0; round++) {
		n = read(fd, bytes, sizeof(bytes));
		for (ssize_t at = 0; at < n;) {
			const struct inotify_event *e = (const void *)(bytes + at);
			struct file_event event = { .watch = e->wd, .what = what_of(e->mask),
						    .cookie = e->cookie };

			if (e->len)
				event.name = str_of(e->name);
			fn(ctx, &event);
			at += (ssize_t)(sizeof(*e) + e->len);
		}
	}
}
