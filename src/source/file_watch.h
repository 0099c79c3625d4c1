/* Change notification for files and folders (inotify). It is a hint only: changes made on other
 * hosts (NFS) are not reported, and the number of watches is limited, so callers must poll as well.
 * The caller closes the descriptor of file_watch_open, which drops all watches. */
#ifndef GAVEL_SOURCE_FILE_WATCH_H
#define GAVEL_SOURCE_FILE_WATCH_H

#include "base/str.h"

enum file_watch_what {
	FILE_EVENT_CHANGED = 1 << 0, /* the file itself, or an entry of the folder */
	FILE_EVENT_CAME = 1 << 1,    /* an entry was created or, with a cookie, renamed to here */
	FILE_EVENT_LEFT = 1 << 2,
	FILE_EVENT_ENDED = 1 << 3,   /* the watched file or folder was deleted or moved */
	FILE_EVENT_MISSED = 1 << 4,  /* queue overflow: rescan everything; watch is -1 */
};

struct file_event {
	int watch;
	unsigned what;
	uint32_t cookie; /* pairs the two events of a rename; 0 = none */
	struct str name; /* of the entry, borrowed; empty for the watched file or folder itself */
};

typedef void (*file_watch_fn)(void *ctx, const struct file_event *event);

/* A descriptor that is readable when there are events; -1: not available. */
int file_watch_open(void);
/* Adds a watch and returns its number, the same one for the same inode; -1 on failure. */
int file_watch_file(int fd, const char *name);
int file_watch_open_file(int fd, int file);
/* contents: also report changes inside its files */
int file_watch_folder(int fd, const char *name, bool contents);
void file_watch_drop(int fd, int watch);
/* Calls fn for each queued event; does not block. */
void file_watch_read(int fd, file_watch_fn fn, void *ctx);

#endif
