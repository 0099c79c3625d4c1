/* Change notification for files and folders (inotify). It is a hint only: changes made on other
 * hosts (NFS) are not reported, and the number of watches is limited, so callers must poll as well.
 * The caller closes the descriptor of notice_open, which drops all watches. */
#ifndef GAVEL_SOURCE_NOTICE_H
#define GAVEL_SOURCE_NOTICE_H

#include "base/str.h"

enum notice_what {
	NOTICE_CHANGED = 1 << 0, /* the file itself, or an entry of the folder */
	NOTICE_CAME = 1 << 1,    /* an entry was created or, with a cookie, renamed to here */
	NOTICE_LEFT = 1 << 2,
	NOTICE_ENDED = 1 << 3,   /* the watched file or folder was deleted or moved */
	NOTICE_MISSED = 1 << 4,  /* queue overflow: rescan everything; watch is -1 */
};

struct notice {
	int watch;
	unsigned what;
	uint32_t cookie; /* pairs the two events of a rename; 0 = none */
	struct str name; /* of the entry, borrowed; empty for the watched file or folder itself */
};

typedef void (*notice_fn)(void *ctx, const struct notice *notice);

/* A descriptor that is readable when there are events; -1: not available. */
int notice_open(void);
/* Adds a watch and returns its number, the same one for the same inode; -1 on failure. */
int notice_file(int fd, const char *name);
int notice_open_file(int fd, int file);
/* contents: also report changes inside its files */
int notice_folder(int fd, const char *name, bool contents);
void notice_drop(int fd, int watch);
/* Calls fn for each queued event; does not block. */
void notice_read(int fd, notice_fn fn, void *ctx);

#endif
