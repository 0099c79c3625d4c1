/* A file that the person attaches to a decision: the artifact as it now is. Read whole and once, so
 * that what is shown, hashed and sent are the same bytes. */
#ifndef GAVEL_ENCODE_ATTACH_H
#define GAVEL_ENCODE_ATTACH_H

#include "base/err.h"
#include "base/mem.h"

enum { ATTACH_MAX_BYTES = 8 << 20 };

struct attachment {
	struct str content;     /* UTF-8 without NUL */
	const char *media_type; /* by the name's extension; NULL = not known */
	struct str ref; /* the commit that HEAD is, when it has these very bytes under this name;
			   else "sha256:…" */
};

/* Strings go into the arena. -1: it is no regular file, too big, not text, or cannot be read. */
int attach_read(struct arena *arena, const char *path, struct attachment *out, struct err *err);
/* NULL where the extension is none of the usual ones. */
const char *attach_media_type(struct str path);

#endif
