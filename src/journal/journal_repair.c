/* Verify and repair: salvages records past damage. A record is proven if its hash follows from its
 * text and the hash of an earlier record, so that one damaged byte costs little:
 *   in the text        that record is lost; its intact hash proves the next one
 *   in the hash        the correct hash is computed, and the next record proves it
 *   in the newline     the line holds two records and is split where the second hash begins
 *   in the space       nothing is lost
 *
 * A repair keeps the segments before the first damage. It writes the proven records from there on
 * to journal-N.repairing and renames that to journal-N.repaired, the commit point: a repair that
 * is interrupted later must be finished. The old segments are renamed from the last to the first,
 * so that none is ever missing in the middle, and the new one takes their place. */
#include "journal/journal_internal.h"

enum { CUTS_MAX = 16 };

struct salvage {
	struct buf *out;     /* problem reports, a line each */
	unsigned segment, line;
	/* hashes that the next record may follow: of the last proven record, as read from the
	 * previous line, as computed for the previous line; empty = unknown */
	char proven[65], shown[65], computed[65];
	struct str waiting;  /* the text of `computed`, not proven yet */
	unsigned waiting_segment, waiting_line;
	/* consecutive lost lines, reported together */
	unsigned lost_from, lost_to;
	uint64_t lost_bytes;
	unsigned problems;
	uint64_t lost_total;
	bool damaged; /* not only torn: repair keeps a last record that lacks its newline */
	VEC(struct str) records; /* proven, into the segments' memory */
};

/* Problems that opening the journal finds, too; what the next start mends by itself is only noted in
 * `out`. */
static void __attribute__((format(printf, 2, 3)))
report(struct salvage *s, const char *format, ...)
{
	va_list args;

	s->problems++;
	va_start(args, format);
	buf_vprintf(s->out, format, args);
	va_end(args);
}

static void report_line(struct salvage *s, unsigned segment, unsigned line, const char *what)
{
	report(s, "journal-%06u, line %u: %s\n", segment, line, what);
}

static void report_lost(struct salvage *s, unsigned segment, unsigned from, unsigned to,
			uint64_t bytes)
{
	s->lost_total += bytes;
	if (from == to)
		report(s, "journal-%06u, line %u: damaged, %llu byte%s cannot be proven\n",
		       segment, from, (unsigned long long)bytes, plural_s(bytes));
	else
		report(s,
		       "journal-%06u, lines %u to %u: damaged, %llu byte%s cannot be proven\n",
		       segment, from, to, (unsigned long long)bytes, plural_s(bytes));
}

static void flush_lost(struct salvage *s)
{
	if (s->lost_from)
		report_lost(s, s->segment, s->lost_from, s->lost_to, s->lost_bytes);
	s->lost_from = 0;
	s->lost_bytes = 0;
}

static void add_lost(struct salvage *s, unsigned line, uint64_t n)
{
	if (!s->lost_from)
		s->lost_from = line;
	s->lost_to = line;
	s->lost_bytes += n;
}

static void drop_waiting(struct salvage *s)
{
	uint64_t n = s->waiting.n + RECORD_JSON + 1;

	if (s->waiting.p && s->waiting_segment == s->segment)
		add_lost(s, s->waiting_line, n);
	else if (s->waiting.p)
		report_lost(s, s->waiting_segment, s->waiting_line, s->waiting_line, n);
	s->waiting = STR_NONE;
	s->computed[0] = '\0';
}

static bool is_hex_digit(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
}

static bool is_hash(struct str at)
{
	size_t n = 0;

	while (n < at.n && n < HASH_DIGITS && is_hex_digit(at.p[n]))
		n++;
	return n == HASH_DIGITS;
}

static bool follows(const char *before, struct str line)
{
	char hash[65];

	if (!*before)
		return false;
	journal_chain(before, str_from(line, RECORD_JSON), hash);
	return memcmp(hash, line.p, HASH_DIGITS) == 0;
}

/* Keeps the record if it is proven, and the previous one if this one proves it. */
static bool prove(struct salvage *s, struct str line)
{
	if (line.n <= RECORD_JSON || !is_hash(line) ||
	    !journal_is_record(str_from(line, RECORD_JSON)))
		return false;
	if (follows(s->computed, line)) {
		flush_lost(s);
		report_line(s, s->waiting_segment, s->waiting_line,
			    "its hash is damaged; the record after it proves it");
		vec_push(&s->records, s->waiting);
		s->waiting = STR_NONE;
	} else if (follows(s->proven, line) || follows(s->shown, line)) {
		drop_waiting(s);
		flush_lost(s);
	} else {
		return false;
	}
	if (line.p[HASH_DIGITS] != ' ')
		report_line(s, s->segment, s->line, "the space after its hash is damaged");
	vec_push(&s->records, str_from(line, RECORD_JSON));
	memcpy(s->proven, line.p, HASH_DIGITS);
	s->shown[0] = s->computed[0] = '\0';
	return true;
}

/* Finds the second of two records that have become one line and keeps the first. Returns its
 * offset, 0 = none. */
static size_t split_line(struct salvage *s, struct str line)
{
	size_t digits = 0;
	int cuts = 0;

	for (size_t i = RECORD_JSON; i < line.n && cuts < CUTS_MAX; i++) {
		char c = line.p[i];
		size_t start;

		if (is_hex_digit(c)) {
			digits++;
			continue;
		}
		start = i - HASH_DIGITS;
		if (c == ' ' && digits >= HASH_DIGITS && start > RECORD_JSON + 1) {
			cuts++;
			if (prove(s, str_make(line.p, start - 1))) {
				report_line(s, s->segment, s->line, "its end is damaged");
				return start;
			}
		}
		digits = 0;
	}
	return 0;
}

/* A line that nothing proves: the next one may, if only its hash is damaged. */
static void keep_waiting(struct salvage *s, struct str line)
{
	bool direct = !s->waiting.p && !s->lost_from && !s->shown[0];

	drop_waiting(s);
	if (is_hash(line))
		memcpy(s->shown, line.p, HASH_DIGITS);
	if (!direct || line.n <= RECORD_JSON ||
	    !journal_is_record(str_from(line, RECORD_JSON))) {
		add_lost(s, s->line, line.n + 1);
		return;
	}
	s->waiting = str_from(line, RECORD_JSON);
	s->waiting_segment = s->segment;
	s->waiting_line = s->line;
	journal_chain(s->proven, s->waiting, s->computed);
}

static void salvage_line(struct salvage *s, struct str line)
{
	size_t cut;

	while (!prove(s, line)) {
		cut = split_line(s, line);
		if (!cut) {
			keep_waiting(s, line);
			break;
		}
		line = str_from(line, cut);
	}
}

/* Handles an incomplete or unsynced tail of the newest segment; false = rest is not one. */
static bool salvage_tail(struct salvage *s, const struct segments *all, const struct segment *seg,
			 uint64_t at)
{
	struct str rest = str_from(buf_str(&seg->bytes), at);
	enum tail tail = segment_tail(all, seg, at, s->proven);

	if (tail == TAIL_NONE)
		return false;
	if (s->damaged && tail == TAIL_UNFINISHED && prove(s, rest)) {
		report_line(s, s->segment, s->line, "its end is missing");
		return true;
	}
	drop_waiting(s);
	flush_lost(s);
	s->lost_total += rest.n;
	buf_printf(s->out,
		   "journal-%06u, line %u: the last %zu bytes are %s; the next start puts them "
		   "aside\n",
		   s->segment, s->line, rest.n,
		   tail == TAIL_UNCONFIRMED ? "what the disk did not confirm"
					    : "a record that was not written to its end");
	return true;
}

static void salvage_segment(struct salvage *s, const struct segments *all,
			    const struct segment *seg)
{
	struct str bytes = buf_str(&seg->bytes);
	size_t at = 0;

	s->segment = seg->number;
	for (s->line = 1; at < bytes.n; s->line++) {
		struct str rest = str_from(bytes, at);
		const char *end = memchr(rest.p, '\n', rest.n);
		size_t n = end ? (size_t)(end - rest.p) : rest.n;

		if (salvage_tail(s, all, seg, at))
			return;
		salvage_line(s, str_make(rest.p, n));
		at += n + 1;
	}
	flush_lost(s); /* the waiting record may still be proven by the next segment */
}

static void salvage_from(struct salvage *s, const struct segments *all, uint32_t first)
{
	for (uint32_t i = first; i < all->list.n; i++)
		salvage_segment(s, all, &all->list.v[i]);
	drop_waiting(s);
	flush_lost(s);
}

static void salvage_release(struct salvage *s)
{
	vec_release(&s->records);
}

static unsigned verify_once(const char *dir, struct buf *out, uint64_t *records)
{
	struct salvage s = { .out = out, .proven = FIRST_HASH };
	struct segments all = { 0 };
	struct extent e;
	struct err err;
	enum journal_result result = segments_load(&all, dir, &err);

	segments_check(&all, &e);
	s.damaged = e.why;
	if (result == JOURNAL_NONE)
		report(&s, "%s: there is no journal\n", dir);
	else if (result == JOURNAL_TROUBLE)
		report(&s, "%s\n", err.text);
	if (all.repaired)
		report(&s, "journal-%06u: a repair was not finished; run gavel journal repair\n",
		       all.repaired);
	if (all.missing)
		report(&s, "journal-%06u: is missing\n", all.missing);
	if (all.poison.there)
		buf_adds(out, "poisoned: the disk did not confirm a record; the next start begins "
			      "a new segment\n");
	salvage_from(&s, &all, 0);
	*records = s.records.n;
	salvage_release(&s);
	segments_release(&all);
	return s.problems;
}

unsigned journal_verify(const char *dir, struct buf *out, uint64_t *records)
{
	size_t start = out->n;
	unsigned problems = 0;

	/* without the lock, a record that is just being written looks torn */
	for (int tries = 0; tries < 3; tries++) {
		out->n = start;
		if (out->p)
			out->p[start] = '\0';
		problems = verify_once(dir, out, records);
		if (!problems && out->n == start)
			break;
	}
	return problems;
}

static int fail(const char *path, const char *what, struct err *err)
{
	return err_set(err, "%.300s: %s: %s; check the disk and repair again", path, what,
		       strerror(errno));
}

static int rename_durably(const char *from, const char *to)
{
	int rc;

	IO_RETRY(rc, io.rename(from, to));
	return rc < 0 ? rc : io_sync_folder(to);
}

static int put_aside(const char *dir, unsigned number, struct buf *out, struct err *err)
{
	struct buf from = { 0 }, to = { 0 };
	int rc;

	journal_path(&from, dir, number, "");
	journal_path(&to, dir, number, ".damaged");
	rc = journal_free_name(&to, false);
	if (rc == 0)
		rc = rename_durably(from.p, to.p);
	if (rc < 0)
		fail(from.p, "cannot be put aside", err);
	else
		buf_printf(out, "the old journal-%06u is kept as %s\n", number, to.p);
	buf_release(&from);
	buf_release(&to);
	return rc;
}

/* Replaces the old segments by journal-N.repaired. */
static int finish(const char *dir, const struct segments *all, unsigned number, struct buf *out,
		  struct err *err)
{
	struct buf from = { 0 }, to = { 0 };
	int rc = 0;

	for (uint32_t i = all->list.n; i-- > 0 && all->list.v[i].number >= number && rc == 0;)
		rc = put_aside(dir, all->list.v[i].number, out, err);
	journal_path(&from, dir, number, ".repaired");
	journal_path(&to, dir, number, "");
	if (rc == 0) {
		rc = rename_durably(from.p, to.p);
		if (rc < 0)
			fail(to.p, "cannot be put in its place", err);
	}
	buf_release(&from);
	buf_release(&to);
	return rc;
}

static int write_repaired(const char *dir, unsigned number, const struct salvage *s,
			  const char *before, struct err *err)
{
	struct buf bytes = { 0 }, from = { 0 }, to = { 0 };
	char hash[65];
	int rc;

	memcpy(hash, before, sizeof(hash));
	for (uint32_t i = 0; i < s->records.n; i++)
		journal_add_line(&bytes, s->records.v[i], hash);
	journal_path(&from, dir, number, ".repairing");
	journal_path(&to, dir, number, ".repaired");
	journal_unlink(from.p); /* left by an interrupted repair */
	rc = journal_write_new(from.p, buf_str(&bytes));
	if (rc == 0)
		rc = rename_durably(from.p, to.p);
	if (rc < 0)
		fail(from.p, "cannot be written", err);
	buf_release(&bytes);
	buf_release(&from);
	buf_release(&to);
	return rc;
}

static int repair(const char *dir, const struct segments *all, const struct extent *e,
		  struct buf *out, struct err *err)
{
	struct salvage s = { .out = out, .damaged = true };
	unsigned number = all->list.v[e->index].number;
	uint32_t first = e->index;
	struct segments before = *all;
	struct extent whole;
	int rc;

	if (all->missing && all->missing < number)
		number = all->missing;
	/* the last hash of the segments that are kept */
	before.list.n = first;
	before.missing = 0;
	segments_check(&before, &whole);
	memcpy(s.proven, whole.hash, sizeof(whole.hash));
	salvage_from(&s, all, first);
	rc = write_repaired(dir, number, &s, whole.hash, err);
	if (rc == 0)
		rc = finish(dir, all, number, out, err);
	if (rc == 0)
		buf_printf(out, "%llu record%s kept, %llu byte%s lost\n",
			   (unsigned long long)(whole.records + s.records.n),
			   plural_s(whole.records + s.records.n), (unsigned long long)s.lost_total,
			   plural_s(s.lost_total));
	salvage_release(&s);
	return rc;
}

enum journal_result journal_repair(const char *dir, struct buf *out, struct err *err)
{
	struct segments all = { 0 };
	struct extent e;
	enum journal_result result;
	struct stat st;
	int lock, rc;

	IO_RETRY(rc, io.lstat(dir, &st));
	if (rc < 0 && errno == ENOENT) {
		err_set(err, "%.300s: there is no journal to mend", dir);
		return JOURNAL_NONE;
	}
	if (io_check_folder(dir, err) < 0)
		return JOURNAL_TROUBLE;
	result = lock_take(dir, &lock, err);
	if (result != JOURNAL_FINE)
		return result;
	result = segments_load(&all, dir, err);
	if (result == JOURNAL_FINE) {
		segments_check(&all, &e);
		if (all.repaired)
			rc = finish(dir, &all, all.repaired, out, err);
		else if (e.why)
			rc = repair(dir, &all, &e, out, err);
		else
			buf_adds(out, "nothing is damaged\n");
		if (rc < 0)
			result = JOURNAL_TROUBLE;
		else if (all.repaired)
			buf_adds(out, "the repair that was interrupted is finished\n");
	}
	if (result == JOURNAL_NONE)
		err_set(err, "%.300s: there is no journal to mend", dir);
	segments_release(&all);
	lock_drop(lock);
	return result;
}
