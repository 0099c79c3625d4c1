/* Being told of changes to files and folders (inotify). Not all changes are told: those on other
 * machines are not, and the system allows only so many watches. Whoever uses it looks now and then
 * all the same. */
#ifndef GAVEL_SOURCE_NOTICE_H
#define GAVEL_SOURCE_NOTICE_H

#include "base/str.h"

enum notice_what {
	NOTICE_CHANGED = 1 << 0, /* the file itself, or an entry of the folder */
	NOTICE_CAME = 1 << 1,    /* an entry; with a cookie: from where another left */
	NOTICE_LEFT = 1 << 2,
	NOTICE_ENDED = 1 << 3,   /* what was watched is gone, and so is the watch */
	NOTICE_MISSED = 1 << 4,  /* too much happened: look at everything; watch is -1 */
};

struct notice {
	int watch;
	unsigned what;
	uint32_t cookie; /* shared by an entry that left and came under another name; 0 = none */
	struct str name; /* of the entry; of what is watched itself none. Lent */
};

typedef void (*notice_fn)(void *ctx, const struct notice *notice);

/* A descriptor that is readable when there is something to tell, -1: cannot be had. */
int notice_open(void);
/* A watch, the same one for the same file or folder; -1: cannot be had. */
int notice_file(int fd, const char *name);
int notice_open_file(int fd, int file);
/* contents: also of changes inside its files */
int notice_folder(int fd, const char *name, bool contents);
void notice_drop(int fd, int watch);
/* Hands over all there is to tell, without waiting. */
void notice_read(int fd, notice_fn fn, void *ctx);

#endif
