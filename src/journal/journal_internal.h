/* Private to the journal; journal.h is its interface.
 *
 *   journal.c         open, append, sync, rotation, poisoning
 *   journal_lock.c    the writer's lock file
 *   journal_read.c    safe opening and loading of segments; verification of the hash chain
 *   journal_repair.c  verify and repair of damaged segments */
#ifndef GAVEL_JOURNAL_JOURNAL_INTERNAL_H
#define GAVEL_JOURNAL_JOURNAL_INTERNAL_H

#include "base/io.h"
#include "journal/journal.h"

enum {
	HASH_DIGITS = 64,
	SEGMENT_READ_MAX = 1 << 30,
	RECORD_JSON = HASH_DIGITS + 1, /* where the JSON begins in a line */
};

/* Segments are rotated at this size; a test makes it small. */
extern uint64_t segment_max_bytes;

#define FIRST_HASH "0000000000000000000000000000000000000000000000000000000000000000"

/* Opens without blocking or following links; the file must be regular, owned by this user, without
 * hard links and not writable by others. -1, errno and the reason. */
int journal_open_file(const char *path, int flags, struct err *err);
/* Creates a file with these bytes and syncs it, but not its folder. On failure (-1 and errno) the
 * file is removed. */
int journal_write_new(const char *path, struct str bytes);
/* Ignores errors. */
void journal_unlink(const char *path);
/* Sets out to dir/journal-000001 plus suffix. */
const char *journal_path(struct buf *out, const char *dir, unsigned segment, const char *suffix);
/* Makes path the first unused name of PATH, PATH-2 … (dashed: PATH-1, PATH-2 …). */
int journal_free_name(struct buf *path, bool dashed);

/* The hash of the record that follows the one with hash `before`, which out may be. */
void journal_chain(const char before[65], struct str json, char out[65]);
/* Adds the record as written to the file; hash: that of the one before, then its own. */
void journal_add_line(struct buf *lines, struct str json, char hash[65]);

/* Whether it is a JSON object. One that is not has no meaning to the desk, so it counts as damage even
 * under the right hash. */
bool journal_is_record(struct str json);

/* The file `poisoned`, left by a failed sync. exact: nothing after `good` in that segment was
 * synced. */
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
	unsigned missing;         /* first missing number in the middle, 0 = none */
	unsigned repaired;        /* segment with an unfinished repair, 0 = none */
	struct poison poison;
};

/* Reads everything into memory. FINE, NONE or TROUBLE. */
enum journal_result segments_load(struct segments *s, const char *dir, struct err *err);
void segments_release(struct segments *s);

/* What a crash or a failed sync leaves at the end of the newest segment; the next start puts it aside. */
enum tail {
	TAIL_NONE,
	TAIL_UNFINISHED,  /* a line without newline, or with NUL bytes where blocks were not written */
	TAIL_UNCONFIRMED, /* bytes that were never synced */
};
/* Of the bytes from `at` on, which follow the record with hash `before`. */
enum tail segment_tail(const struct segments *s, const struct segment *seg, uint64_t at,
		       const char before[65]);

/* The valid part of the hash chain. */
struct extent {
	uint32_t index;    /* of the segment where it ends, list.n = past the last */
	uint64_t good;     /* valid bytes of that segment */
	unsigned line;     /* the first invalid one, from 1 */
	const char *why;   /* what is damaged; NULL = nothing */
	bool torn;         /* the newest segment ends in an incomplete record */
	uint64_t records;
	char hash[65];     /* of the last good record */
};

void segments_check(const struct segments *s, struct extent *out);
/* Sets err to where the damage is. */
void segments_describe_damage(const struct segments *s, const struct extent *e, const char *dir,
			      struct err *err);

/* FINE, LOCKED or TROUBLE. The descriptor stays open until lock_drop; closing any other descriptor
 * of the same file would release the lock, so nothing else may open it. */
enum journal_result lock_take(const char *dir, int *fd, struct err *err);
void lock_drop(int fd);

#endif
