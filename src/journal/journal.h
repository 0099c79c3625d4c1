/* The journal: a write-ahead log of decisions and deliveries, hash-chained and append-only.
 *
 * A folder (0700) with segments journal-000001, journal-000002 … (0600). One record per line:
 * `<64 hex digits> <json>\n`, the digits being SHA-256(digits of the previous record ‖ json). The
 * first record follows 64 zeros; a later segment continues from the last hash of the previous one.
 * So torn writes, reordering and tampering are detected. A record is a JSON object; its content is the
 * desk's business (desk.h).
 *
 * One writer: the file `lock` is locked (fcntl) while the journal is open for writing, and names
 * the process that holds it. Readers take no lock and ignore an unfinished last line.
 *
 * Failure: journal_append either makes the record durable (written, and fdatasync'ed when asked)
 * or leaves the journal as it was: after a failed write the segment is truncated to its last good
 * byte. A failed sync is never retried: the journal is poisoned (a file `poisoned` is left for the
 * next start), later appends are refused, and the next start begins a new segment.
 *
 * Opening for writing: a torn tail (last line without newline, or holding NUL) is saved as
 * <segment>.torn-N and cut off; with any other damage it fails with JOURNAL_DAMAGED until
 * journal_repair. Folder, lock and segments must belong to this user, be no links and not writable
 * by others. */
#ifndef GAVEL_JOURNAL_JOURNAL_H
#define GAVEL_JOURNAL_JOURNAL_H

#include "base/buf.h"
#include "base/err.h"
#include "base/mem.h"

enum journal_result {
	JOURNAL_FINE = 0,
	JOURNAL_NONE,      /* reading: does not exist yet */
	JOURNAL_LOCKED,    /* by the process that err names */
	JOURNAL_DAMAGED,   /* at the line that err names */
	JOURNAL_TROUBLE,   /* I/O error or unsafe file */
};

struct journal {
	char *dir;
	int fd, lock_fd;        /* -1 */
	unsigned segment;       /* the newest, from 1 */
	char hash[65];          /* of the last record */
	uint64_t good;          /* valid bytes of the newest segment */
	uint64_t synced;        /* of these, confirmed by a sync */
	char synced_hash[65];   /* of the last record among them */
	bool writing, poisoned;
	bool was_poisoned;      /* journal_open found `poisoned` and began a new segment: the caller
	                           must repeat unfinished records in it */
	struct buf torn;        /* path of a saved torn tail, empty = none */
};

/* Whether the folder holds a journal, even a damaged one. */
bool journal_is_there(const char *dir);

/* Called for every good record, oldest first, over all segments. */
typedef void (*journal_fn)(void *ctx, struct str json);

/* Zero the struct first. `head` (JSON) becomes the first record of a new journal. `each` (may be
 * NULL) also gets the records before the damage of a DAMAGED journal, and those of one that is
 * readable but not writable (TROUBLE); of a LOCKED one it gets none: open it for reading then.
 * Unless FINE, nothing is left open and journal_close need not be called. */
enum journal_result journal_open(struct journal *j, const char *dir, bool write, struct str head,
				 journal_fn each, void *ctx, struct err *err);
/* -1: not recorded, the journal is unchanged. sync false only for records whose loss costs nothing, or
 * that nobody is told of before journal_sync or a later record with a sync. */
int journal_append(struct journal *j, struct str json, bool sync, struct err *err);
/* Several records by one write and one sync. -1: none is recorded; a crash may leave the first ones. */
int journal_append_all(struct journal *j, const struct str *records, uint32_t n, bool sync,
		       struct err *err);
/* Makes durable what was appended without a sync. -1: it is not, and the journal is poisoned. */
int journal_sync(struct journal *j, struct err *err);
void journal_close(struct journal *j);

/* Checks every record of every segment and adds a line for each problem to `out`. Returns the
 * number of problems: 0 exactly if journal_open can read and write it. What that mends by itself (a
 * torn tail, a failed sync) has a line, but is no problem. *records is the number of valid
 * records. */
unsigned journal_verify(const char *dir, struct buf *out, uint64_t *records);
/* Renames damaged segments to <segment>.damaged and writes a new one with every record that can
 * still be proven; `out` lists what was kept and lost. Takes the lock. */
enum journal_result journal_repair(const char *dir, struct buf *out, struct err *err);

#endif
