/* The journal: what the person decided and what became of it, durable before anything else happens.
 *
 * A folder with segments journal-000001, journal-000002 …, 0600 in 0700, append-only. One record a
 * line: `<64 hex digits> <json>\n`, the digits being SHA-256(digits of the record before ‖ json);
 * the first record of all follows 64 zeros, and a later segment goes on from the last hash of the
 * one before. So torn writes, order and tampering show. What records mean is the desk's business
 * (desk.h).
 *
 * One writer: `lock` in the folder is locked (fcntl) for as long as the journal is open for writing
 * and tells who holds it. Reading needs no lock and ignores a last line that is still being
 * written.
 *
 * Failure: journal_append either makes the record durable (written, and fdatasync'ed when asked) or
 * leaves the journal as it was: after a failed write the segment is cut back to its last good byte.
 * A failed sync is never tried again: the journal is poisoned (a file `poisoned` is left for the
 * next start), appends are refused from then on, and the next start begins a new segment.
 *
 * Opening for writing: a torn tail (last line without newline, or holding NUL) is saved as
 * <segment>.torn-N and cut off; any other damage refuses with JOURNAL_DAMAGED until journal_repair.
 * The folder, the lock and the segments must be plain files of this user, no links, not writable by
 * others; anything else is refused with the reason. */
#ifndef GAVEL_JOURNAL_JOURNAL_H
#define GAVEL_JOURNAL_JOURNAL_H

#include "base/buf.h"
#include "base/err.h"
#include "base/mem.h"

enum journal_result {
	JOURNAL_FINE = 0,
	JOURNAL_NONE,      /* reading: there is none yet */
	JOURNAL_LOCKED,    /* err says by whom */
	JOURNAL_DAMAGED,   /* err says where */
	JOURNAL_TROUBLE,   /* err says what */
};

struct journal {
	char *dir;
	int fd, lock_fd;        /* -1 */
	unsigned segment;       /* the newest, from 1 */
	char hash[65];          /* of the last record */
	uint64_t good;          /* bytes of the newest segment up to which all is well */
	uint64_t synced;        /* of these, confirmed by a sync; */
	char synced_hash[65];   /* the last record among them */
	bool writing, poisoned;
	bool was_poisoned;      /* opening found the mark and began a new segment: the opener
	                           restates in it what is unfinished */
	struct buf torn;        /* where a torn tail was saved, for the person; empty = none */
};

/* Whether the folder holds one, whatever its state. */
bool journal_is_there(const char *dir);

/* Called for every good record, oldest first, over all segments. */
typedef void (*journal_fn)(void *ctx, struct str json);

/* Zero the struct first. `head` (JSON) becomes the first record of a new journal. Records are
 * handed to `each` also when the journal is DAMAGED (those before the damage) and when it can be
 * read but not written (TROUBLE); none when it is LOCKED: open it for reading then. Unless FINE,
 * nothing is left open and journal_close has nothing to do. */
enum journal_result journal_open(struct journal *j, const char *dir, bool write, struct str head,
				 journal_fn each, void *ctx, struct err *err);
/* -1: not recorded, nothing was changed; err is a sentence that says so. sync false only for
 * records whose loss costs nothing. */
int journal_append(struct journal *j, struct str json, bool sync, struct err *err);
void journal_close(struct journal *j);

/* Checks every record of every segment; problems are sentences added to `out`, a line each. Returns
 * how many. *records counts the good ones. */
unsigned journal_verify(const char *dir, struct buf *out, uint64_t *records);
/* Puts the damaged segments aside (<segment>.damaged) and writes a new one with every record that
 * can still be proven; says in `out` what was kept and lost. Takes the lock. */
enum journal_result journal_repair(const char *dir, struct buf *out, struct err *err);

#endif
