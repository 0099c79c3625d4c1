/* What the files of the journal share; journal.h is for everyone else.
 *
 *   journal.c         opening, appending, failing
 *   journal_lock.c    one writer, and who it is
 *   journal_read.c    a folder's files, checked and read into memory; the chain
 *   journal_repair.c  looking past damage: verify and repair */
#ifndef GAVEL_JOURNAL_JOURNAL_INTERNAL_H
#define GAVEL_JOURNAL_JOURNAL_INTERNAL_H

#include "base/io.h"
#include "journal/journal.h"

enum {
	HASH_DIGITS = 64,
	SEGMENT_READ_MAX = 1 << 30,
	RECORD_JSON = HASH_DIGITS + 1, /* where the JSON begins in a line */
};

/* A segment that would grow beyond this is continued in a new one; a test makes it small. */
extern uint64_t segment_max_bytes;

#define FIRST_HASH "0000000000000000000000000000000000000000000000000000000000000000"

/* A safe way to open a file of the journal: never waits, follows no link, and the file must be
 * plain, ours, under one name and not writable by others. -1, errno and the reason; ENOENT is
 * left to the caller to judge. */
int journal_open_file(const char *path, int flags, struct err *err);
/* Makes a file that must not be there yet, durable but for its name: 0, or -1 and errno, and
 * then it is not there. */
int journal_write_new(const char *path, struct str bytes);
/* Without caring whether it works. */
void journal_unlink(const char *path);
/* dir/journal-000001 and what follows it, in out. */
const char *journal_path(struct buf *out, const char *dir, unsigned segment, const char *suffix);
/* The first of PATH, PATH-2 … (dashed: PATH-1, PATH-2 …) that is not there; in path itself. */
int journal_free_name(struct buf *path, bool dashed);

/* The hash of the record that follows `before`. scratch is kept between calls for its memory. */
void journal_chain(const char before[65], struct str json, struct buf *scratch, char out[65]);
/* One line of the file. */
void journal_line(const char before[65], struct str json, struct buf *line, char hash[65]);

/* The mark of a failed sync. Where it is exact, nothing behind `good` in that segment was
 * confirmed. */
struct poison {
	bool there, exact;
	unsigned segment;
	uint64_t good;
	char hash[65];
};

struct segment {
	unsigned number;
	struct buf bytes;
};

struct segments {
	VEC(struct segment) list; /* by number */
	unsigned missing;         /* a number left out in the middle, 0 = none */
	unsigned repaired;        /* a repair of this segment was not finished, 0 = none */
	struct poison poison;
};

/* Reads everything into memory. FINE, NONE or TROUBLE. */
enum journal_result segments_load(struct segments *s, const char *dir, struct err *err);
void segments_release(struct segments *s);

/* How far the chain holds. */
struct extent {
	uint32_t index;    /* of the segment where it ends, list.n = past the last */
	uint64_t good;     /* bytes of that segment which are well */
	unsigned line;     /* the first one that is not, from 1 */
	const char *why;   /* damage: what is wrong; NULL = none */
	bool torn;         /* the newest segment has a tail that never became a record */
	uint64_t records;
	char hash[65];     /* of the last good record */
};

void segments_check(const struct segments *s, struct extent *out);
/* Says in err where the damage is. */
void segments_complain(const struct segments *s, const struct extent *e, const char *dir,
		       struct err *err);

/* FINE, LOCKED or TROUBLE. The descriptor lives until lock_drop; closing any other descriptor of
 * the same file would give up the lock, which is why nothing else opens it. */
enum journal_result lock_take(const char *dir, int *fd, struct err *err);
void lock_drop(int fd);

#endif
