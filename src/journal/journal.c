/* Opening a journal and appending to it atomically: a record is written whole or truncated away.
 * Also segment rotation, and the poison mark that a failed sync leaves. */
#include "journal/journal_internal.h"

#include <fcntl.h>

enum {
	READ_TRIES = 3,
	WRITE_BYTES = 1 << 18, /* of several records, at once */
};

uint64_t segment_max_bytes = SEGMENT_READ_MAX;

static int fail(const struct journal *j, const char *what, struct err *err)
{
	return err_set(err, "%.300s: %s: %s; check the disk, then start gavel again", j->dir, what,
		       strerror(errno));
}

static int truncate_to(int fd, uint64_t length)
{
	int rc;

	IO_RETRY(rc, io.ftruncate(fd, (off_t)length));
	return rc;
}

/* Leaves the mark for the next start. Errors are ignored, since the disk has failed already: even
 * an empty mark is enough. */
static void write_mark(const struct journal *j, bool exact)
{
	struct buf path = { 0 }, text = { 0 };
	int fd, rc;

	buf_printf(&path, "%s/poisoned", j->dir);
	fd = journal_open_file(path.p, O_WRONLY | O_CREAT, NULL);
	if (fd >= 0) {
		if (exact)
			buf_printf(&text, "journal-%06u %llu %s\n", j->segment,
				   (unsigned long long)j->synced, j->synced_hash);
		truncate_to(fd, 0);
		io_write_all(fd, buf_str(&text), NULL);
		IO_RETRY(rc, io.fsync(fd));
		io.close(fd);
		io_sync_folder(path.p);
	}
	buf_release(&path);
	buf_release(&text);
}

/* After a failed fsync the kernel may have dropped the dirty pages, and a second one would succeed
 * all the same. What was not synced is truncated, by the next start if that fails now. */
static void poison(struct journal *j)
{
	j->poisoned = true;
	write_mark(j, true);
	truncate_to(j->fd, j->good);
}

/* -1: the journal is poisoned; errno is that of the sync. */
static int sync_segment(struct journal *j)
{
	int rc, number;

	IO_RETRY(rc, io.fdatasync(j->fd));
	if (rc == 0)
		return 0;
	number = errno;
	poison(j);
	errno = number;
	return -1;
}

/* Syncs a segment found at start: its records must not be shown before they are on the disk. */
static int sync_found(const struct journal *j, int fd, struct err *err)
{
	int rc;

	IO_RETRY(rc, io.fsync(fd));
	if (rc == 0)
		return 0;
	fail(j, "the disk does not confirm what is in it", err);
	write_mark(j, false);
	return -1;
}

static int open_segment(const struct journal *j, int flags, struct err *err)
{
	struct buf path = { 0 };
	int fd = journal_open_file(journal_path(&path, j->dir, j->segment, ""), flags, err);

	buf_release(&path);
	return fd;
}

/* Truncates a torn tail of the newest segment and syncs the rest. */
static int clean_newest(const struct journal *j, const struct extent *e, struct err *err)
{
	int fd = open_segment(j, O_RDWR, err), rc = 0;

	if (fd < 0)
		return -1;
	if (e->torn && truncate_to(fd, e->good) < 0)
		rc = fail(j, "its torn tail cannot be cut off", err);
	if (rc == 0)
		rc = sync_found(j, fd, err);
	io.close(fd);
	return rc;
}

/* Saves a torn tail for the user to inspect. */
static int save_tail(struct journal *j, struct str tail, struct err *err)
{
	journal_path(&j->torn, j->dir, j->segment, ".torn");
	if (journal_free_name(&j->torn, true) < 0 || journal_write_new(j->torn.p, tail) < 0 ||
	    io_sync_folder(j->torn.p) < 0)
		return fail(j, "its torn tail cannot be saved", err);
	return 0;
}

static int begin_segment(struct journal *j, struct err *err)
{
	struct buf path = { 0 };
	int rc = 0;

	j->segment++;
	journal_path(&path, j->dir, j->segment, "");
	j->fd = journal_open_file(path.p, O_RDWR | O_APPEND | O_CREAT | O_EXCL, err);
	if (j->fd < 0) {
		rc = -1;
	} else if (io_sync_folder(path.p) < 0 || (j->segment == 1 && io_sync_folder(j->dir) < 0)) {
		rc = fail(j, "a new segment cannot be made durable", err);
		journal_unlink(path.p);
	}
	buf_release(&path);
	return rc;
}

static int continue_segment(struct journal *j, const struct segment *newest, const struct extent *e,
			    struct err *err)
{
	j->fd = open_segment(j, O_RDWR | O_APPEND, err);
	if (j->fd < 0 || sync_found(j, j->fd, err) < 0)
		return -1;
	/* an empty one may be left from a crash before its directory entry was synced */
	if (!newest->bytes.n) {
		struct buf path = { 0 };
		int rc = io_sync_folder(journal_path(&path, j->dir, j->segment, ""));

		buf_release(&path);
		if (rc < 0)
			return fail(j, "its folder cannot be synced", err);
	}
	j->good = e->good;
	return 0;
}

static int remove_mark(const struct journal *j, struct err *err)
{
	struct buf path = { 0 };
	int rc;

	buf_printf(&path, "%s/poisoned", j->dir);
	IO_RETRY(rc, io.unlink(path.p));
	if (rc == 0)
		rc = io_sync_folder(path.p);
	buf_release(&path);
	return rc < 0 ? fail(j, "the mark of a failed sync cannot be removed", err) : 0;
}

/* Prepares the loaded journal for appending. */
static int begin_writing(struct journal *j, const struct segments *s, const struct extent *e,
			 struct str head, struct err *err)
{
	const struct segment *newest = s->list.n ? vec_last(&s->list) : NULL;
	const struct poison *p = &s->poison;
	/* a crash after the new segment was created has left it empty */
	bool begun = newest && !newest->bytes.n && p->exact && p->segment < newest->number;

	if (e->torn && save_tail(j, str_from(buf_str(&newest->bytes), e->good), err) < 0)
		return -1;
	if (newest && (e->torn || p->there) && clean_newest(j, e, err) < 0)
		return -1;
	if (!newest || (p->there && !begun)) {
		if (begin_segment(j, err) < 0)
			return -1;
	} else if (continue_segment(j, newest, e, err) < 0) {
		return -1;
	}
	if (p->there && remove_mark(j, err) < 0)
		return -1;
	j->was_poisoned = p->there;
	j->synced = j->good;
	memcpy(j->synced_hash, j->hash, sizeof(j->hash));
	j->writing = true;
	return e->records ? 0 : journal_append(j, head, true, err);
}

/* Without the lock a reader may see a line that is just being written or truncated: damage is
 * reported only if it persists. */
static enum journal_result load_and_check(const char *dir, bool locked, struct segments *s,
					  struct extent *e, struct err *err)
{
	for (int tries = 0;; tries++) {
		enum journal_result result = segments_load(s, dir, err);

		if (result == JOURNAL_TROUBLE)
			return result;
		segments_check(s, e);
		if (!e->why)
			return result;
		if (locked || tries == READ_TRIES) {
			segments_describe_damage(s, e, dir, err);
			return JOURNAL_DAMAGED;
		}
		segments_release(s);
	}
}

static void each_record(const struct segments *s, const struct extent *e, journal_fn each,
			void *ctx)
{
	for (uint32_t i = 0; i < s->list.n && i <= e->index; i++) {
		struct str rest = buf_str(&s->list.v[i].bytes);

		if (i == e->index)
			rest.n = e->good;
		while (rest.n) {
			const char *end = memchr(rest.p, '\n', rest.n);
			size_t n = (size_t)(end - rest.p);

			each(ctx, str_from(str_make(rest.p, n), RECORD_JSON));
			rest = str_from(rest, n + 1);
		}
	}
}

enum journal_result journal_open(struct journal *j, const char *dir, bool write, struct str head,
				 journal_fn each, void *ctx, struct err *err)
{
	enum journal_result result = JOURNAL_FINE;
	struct segments s = { 0 };
	struct extent e = { 0 };

	*j = (struct journal){ .dir = xstrdup(dir), .fd = -1, .lock_fd = -1 };
	if (write)
		result = io_make_folders(dir, true, err) < 0 ? JOURNAL_TROUBLE
							     : lock_take(dir, &j->lock_fd, err);
	if (result == JOURNAL_FINE)
		result = load_and_check(dir, write, &s, &e, err);
	if (each && (result == JOURNAL_FINE || result == JOURNAL_DAMAGED))
		each_record(&s, &e, each, ctx);
	if (result == JOURNAL_FINE || result == JOURNAL_NONE) {
		memcpy(j->hash, e.hash, sizeof(j->hash));
		j->segment = s.list.n ? vec_last(&s.list)->number : 0;
		if (write)
			result = begin_writing(j, &s, &e, head, err) < 0 ? JOURNAL_TROUBLE
									  : JOURNAL_FINE;
		else
			j->good = e.good;
	}
	segments_release(&s);
	if (result != JOURNAL_FINE)
		journal_close(j);
	return result;
}

/* Refuses to append to a journal that was removed or written by others: the record would be
 * lost. */
static int check_unchanged(const struct journal *j, struct err *err)
{
	struct stat st, lock;
	int rc;

	IO_RETRY(rc, io.fstat(j->fd, &st));
	if (rc == 0)
		IO_RETRY(rc, io.fstat(j->lock_fd, &lock));
	if (rc < 0)
		return err_set(err, "NOT recorded: %.300s: %s; check the disk", j->dir,
			       strerror(errno));
	if (st.st_nlink != 1 || lock.st_nlink != 1 || (uint64_t)st.st_size != j->good)
		return err_set(err,
			       "NOT recorded: someone else has changed or removed the journal in "
			       "%.300s; start gavel again",
			       j->dir);
	return 0;
}

static int fail_sync(const struct journal *j, struct err *err)
{
	return err_set(err,
		       "NOT recorded: %.300s: the disk did not confirm it: %s; check the disk, "
		       "then start gavel again",
		       j->dir, strerror(errno));
}

static int fail_write(struct journal *j, struct err *err)
{
	int number = errno;

	if (truncate_to(j->fd, j->good) < 0)
		poison(j);
	return err_set(err, "NOT recorded: %.300s: %s; %s", j->dir, strerror(number),
		       j->poisoned ? "check the disk, then start gavel again"
		       : number == ENOSPC || number == EDQUOT ? "make room, then try again"
							      : "check the disk, then try again");
}

/* All or none of them. hash: of the record before, then of the last. */
static int write_records(struct journal *j, const struct str *records, uint32_t n, bool sync,
			 char hash[65], struct err *err)
{
	struct buf lines = { 0 };
	int rc = 0;

	for (uint32_t i = 0; i < n && rc == 0; i++) {
		journal_add_line(&lines, records[i], hash);
		if (i + 1 < n && lines.n < WRITE_BYTES)
			continue;
		if (io_write_all(j->fd, buf_str(&lines), NULL) < 0)
			rc = fail_write(j, err);
		buf_clear(&lines);
	}
	buf_release(&lines);
	if (rc == 0 && sync && sync_segment(j) < 0)
		rc = fail_sync(j, err);
	return rc;
}

/* Rotation: the full segment is synced before the next one begins. */
static int next_segment(struct journal *j, struct err *err)
{
	struct journal old = *j;
	struct err why;

	if (sync_segment(j) < 0)
		return err_set(err,
			       "NOT recorded: %.300s: %s; check the disk, then start gavel again",
			       j->dir, strerror(errno));
	if (begin_segment(j, &why) < 0) {
		if (j->fd >= 0)
			io.close(j->fd);
		j->fd = old.fd;
		j->segment = old.segment;
		return err_set(err, "NOT recorded: %.450s", why.text);
	}
	io.close(old.fd);
	j->good = j->synced = 0;
	memcpy(j->synced_hash, j->hash, sizeof(j->hash));
	return 0;
}

/* Whether records may be appended at all. */
static int check_writable(const struct journal *j, struct err *err)
{
	if (!j->writing)
		return err_set(err, "NOT recorded: the journal is open for reading only");
	if (j->poisoned)
		return err_set(err, "NOT recorded: the disk failed before; check it, then start "
			       "gavel again");
	return check_unchanged(j, err);
}

static void note_synced(struct journal *j)
{
	j->synced = j->good;
	memcpy(j->synced_hash, j->hash, sizeof(j->hash));
}

int journal_append_all(struct journal *j, const struct str *records, uint32_t n, bool sync,
		       struct err *err)
{
	char hash[65];
	uint64_t bytes = 0;

	for (uint32_t i = 0; i < n; i++) {
		const struct str json = records[i];

		if (!json.n || memchr(json.p, '\n', json.n) || memchr(json.p, '\0', json.n))
			BUG("a journal record must be one line of text");
		bytes += RECORD_JSON + json.n + 1;
	}
	if (check_writable(j, err) < 0)
		return -1;
	if (bytes > segment_max_bytes)
		return err_set(err,
			       "NOT recorded: a record of %llu bytes is more than the journal takes",
			       (unsigned long long)(bytes - RECORD_JSON - 1));
	if (j->good + bytes > segment_max_bytes && next_segment(j, err) < 0)
		return -1;
	memcpy(hash, j->hash, sizeof(hash));
	if (write_records(j, records, n, sync, hash, err) < 0)
		return -1;
	j->good += bytes;
	memcpy(j->hash, hash, sizeof(hash));
	if (sync)
		note_synced(j);
	return 0;
}

int journal_append(struct journal *j, struct str json, bool sync, struct err *err)
{
	return journal_append_all(j, &json, 1, sync, err);
}

int journal_sync(struct journal *j, struct err *err)
{
	if (!j->writing || j->synced == j->good)
		return 0;
	if (check_writable(j, err) < 0)
		return -1;
	if (sync_segment(j) < 0)
		return fail_sync(j, err);
	note_synced(j);
	return 0;
}

void journal_close(struct journal *j)
{
	if (!j->dir)
		return; /* never opened, or closed */
	if (j->writing && !j->poisoned && j->synced < j->good)
		sync_segment(j);
	if (j->fd >= 0)
		io.close(j->fd);
	lock_drop(j->lock_fd);
	free(j->dir);
	buf_release(&j->torn);
	*j = (struct journal){ .fd = -1, .lock_fd = -1 };
}
