/* A file attached to a decision: the current artifact. Read once and whole, so that the same bytes
 * are shown, hashed and sent. */
#ifndef GAVEL_ENCODE_ATTACH_H
#define GAVEL_ENCODE_ATTACH_H

#include "base/err.h"
#include "base/mem.h"

enum { ATTACH_MAX_BYTES = 8 << 20 };

struct attachment {
	struct str content;     /* UTF-8 without NUL */
	const char *media_type; /* by the name's extension; NULL = not known */
	struct str ref; /* HEAD's commit, if it has the same bytes under this name; else
			   "sha256:…" */
};

/* Strings go into the arena. -1: not a regular file, too big, not text, or unreadable. */
int attach_read(struct arena *arena, const char *path, struct attachment *out, struct err *err);
const char *attach_media_type(struct str path); /* NULL for an unknown extension */
size_t file_name_start(struct str path);        /* offset behind the last slash */

#endif
