/* Looking past damage. A record is proven when the hash in front of it is that of its text
 * behind the hash of a record before it, so one spoilt byte costs as little as it can:
 *   in the text        that record is lost; the hash that still stands there proves the next
 *   in the hash        the record's true hash can be computed, and the next record proves it
 *   in the newline     the line holds two records, and is cut where the second one's hash begins
 *   in the space       nothing is lost
 *
 * A repair leaves the segments before the first damage alone. It writes all that is proven from
 * there on as journal-N.repairing and renames it to journal-N.repaired: from then on it is
 * decided, and whoever finds that file must finish. The old segments are put aside from the last
 * to the first, so that never one is missing in the middle, and the new one takes its place. */
#include "journal/journal_internal.h"

enum { CUTS_MAX = 16 };

struct salvage {
	struct buf *out;     /* where problems are told */
	unsigned segment, line;
	/* what the next record may follow: the last proven one, the hash that the line before it
	 * shows, and the hash that the line before it should have shown; empty = unknown */
	char proven[65], shown[65], computed[65];
	struct str waiting;  /* the text to which `computed` belongs */
	unsigned waiting_segment, waiting_line;
	/* the lines that are lost so far, to be told in one sentence */
	unsigned lost_from, lost_to;
	uint64_t lost_bytes;
	unsigned problems;
	uint64_t kept, lost_total;
	VEC(struct str) records; /* proven, into the segments' memory */
	struct buf scratch;
};

static void tell(struct salvage *s, unsigned segment, unsigned line, const char *what)
{
	s->problems++;
	buf_printf(s->out, "journal-%06u, line %u: %s\n", segment, line, what);
}

static void tell_lost(struct salvage *s, unsigned segment, unsigned from, unsigned to,
		      uint64_t bytes)
{
	s->problems++;
	s->lost_total += bytes;
	if (from == to)
		buf_printf(s->out,
			   "journal-%06u, line %u: is damaged, %llu bytes cannot be proven\n",
			   segment, from, (unsigned long long)bytes);
	else
		buf_printf(s->out,
			   "journal-%06u, lines %u to %u: are damaged, %llu bytes cannot be "
			   "proven\n",
			   segment, from, to, (unsigned long long)bytes);
}

static void flush_lost(struct salvage *s)
{
	if (s->lost_from)
		tell_lost(s, s->segment, s->lost_from, s->lost_to, s->lost_bytes);
	s->lost_from = 0;
	s->lost_bytes = 0;
}

static void lose(struct salvage *s, unsigned line, uint64_t n)
{
	if (!s->lost_from)
		s->lost_from = line;
	s->lost_to = line;
	s->lost_bytes += n;
}

static void give_up_waiting(struct salvage *s)
{
	uint64_t n = s->waiting.n + RECORD_JSON + 1;

	if (s->waiting.p && s->waiting_segment == s->segment)
		lose(s, s->waiting_line, n);
	else if (s->waiting.p)
		tell_lost(s, s->waiting_segment, s->waiting_line, s->waiting_line, n);
	s->waiting = STR_NONE;
	s->computed[0] = '\0';
}

static void keep(struct salvage *s, struct str json)
{
	vec_push(&s->records, json);
	s->kept++;
}

static bool is_hash(struct str at)
{
	if (at.n < HASH_DIGITS)
		return false;
	for (size_t i = 0; i < HASH_DIGITS; i++)
		if (!(at.p[i] >= '0' && at.p[i] <= '9') && !(at.p[i] >= 'a' && at.p[i] <= 'f'))
			return false;
	return true;
}

static bool follows(struct salvage *s, const char *before, struct str line)
{
	char hash[65];

	if (!*before)
		return false;
	journal_chain(before, str_from(line, RECORD_JSON), &s->scratch, hash);
	return memcmp(hash, line.p, HASH_DIGITS) == 0;
}

/* Keeps the line if it is proven, and the one before it if this one proves it. */
static bool prove(struct salvage *s, struct str line)
{
	if (line.n <= RECORD_JSON || !is_hash(line))
		return false;
	if (follows(s, s->computed, line)) {
		flush_lost(s);
		tell(s, s->waiting_segment, s->waiting_line,
		     "its hash is damaged; the record after it proves it");
		keep(s, s->waiting);
		s->waiting = STR_NONE;
	} else if (follows(s, s->proven, line) || follows(s, s->shown, line)) {
		give_up_waiting(s);
		flush_lost(s);
	} else {
		return false;
	}
	if (line.p[HASH_DIGITS] != ' ')
		tell(s, s->segment, s->line, "the space after its hash is damaged");
	keep(s, str_from(line, RECORD_JSON));
	memcpy(s->proven, line.p, HASH_DIGITS);
	s->shown[0] = s->computed[0] = '\0';
	return true;
}

/* Where the second of two records begins that have become one line, or 0. The first is kept
 * then. */
static size_t cut_line(struct salvage *s, struct str line)
{
	size_t digits = 0;
	int cuts = 0;

	for (size_t i = RECORD_JSON; i < line.n && cuts < CUTS_MAX; i++) {
		char c = line.p[i];
		size_t start;

		if ((c >= '0' && c <= '9') || (c >= 'a' && c <= 'f')) {
			digits++;
			continue;
		}
		start = i - HASH_DIGITS;
		if (c == ' ' && digits >= HASH_DIGITS && start > RECORD_JSON + 1) {
			cuts++;
			if (prove(s, str_make(line.p, start - 1))) {
				tell(s, s->segment, s->line, "its end is damaged");
				return start;
			}
		}
		digits = 0;
	}
	return 0;
}

/* A line that nothing proves yet. */
static void suspect(struct salvage *s, struct str line)
{
	bool direct = !s->waiting.p && !s->lost_from && !s->shown[0];

	give_up_waiting(s);
	if (is_hash(line))
		memcpy(s->shown, line.p, HASH_DIGITS);
	if (!direct || line.n <= RECORD_JSON) {
		lose(s, s->line, line.n + 1);
		return;
	}
	s->waiting = str_from(line, RECORD_JSON);
	s->waiting_segment = s->segment;
	s->waiting_line = s->line;
	journal_chain(s->proven, s->waiting, &s->scratch, s->computed);
}

static void take_line(struct salvage *s, struct str line)
{
	size_t cut;

	while (!prove(s, line)) {
		cut = cut_line(s, line);
		if (!cut) {
			suspect(s, line);
			break;
		}
		line = str_from(line, cut);
	}
}

/* What is at the end of the newest segment and never became a record. */
static bool take_tail(struct salvage *s, const struct segments *all, struct str rest, uint64_t at)
{
	const struct poison *p = &all->poison;
	bool unconfirmed = p->exact && p->segment == s->segment && p->good == at &&
			   memcmp(p->hash, s->proven, HASH_DIGITS) == 0;

	if (!unconfirmed && memchr(rest.p, '\n', rest.n))
		return false;
	if (!unconfirmed && prove(s, rest)) {
		tell(s, s->segment, s->line, "its end is missing");
		return true;
	}
	give_up_waiting(s);
	flush_lost(s);
	s->problems++;
	s->lost_total += rest.n;
	buf_printf(s->out,
		   "journal-%06u, line %u: the last %zu bytes are %s; the next start puts them "
		   "aside\n",
		   s->segment, s->line, rest.n,
		   unconfirmed ? "what the disk did not confirm"
			       : "a record that was not written to its end");
	return true;
}

static void salvage_segment(struct salvage *s, const struct segments *all,
			    const struct segment *seg)
{
	struct str bytes = buf_str(&seg->bytes);
	bool newest = seg == vec_last(&all->list);
	size_t at = 0;

	s->segment = seg->number;
	for (s->line = 1; at < bytes.n; s->line++) {
		struct str rest = str_from(bytes, at);
		const char *end = memchr(rest.p, '\n', rest.n);
		size_t n = end ? (size_t)(end - rest.p) : rest.n;

		if (newest && take_tail(s, all, rest, at))
			return;
		take_line(s, str_make(rest.p, n));
		at += n + 1;
	}
	flush_lost(s); /* the next segment may still prove a line that waits */
}

static void salvage_from(struct salvage *s, const struct segments *all, uint32_t first)
{
	for (uint32_t i = first; i < all->list.n; i++)
		salvage_segment(s, all, &all->list.v[i]);
	give_up_waiting(s);
	flush_lost(s);
}

static void salvage_release(struct salvage *s)
{
	vec_release(&s->records);
	buf_release(&s->scratch);
}

static unsigned verify_once(const char *dir, struct buf *out, uint64_t *records)
{
	struct salvage s = { .out = out, .proven = FIRST_HASH };
	struct segments all = { 0 };
	struct err err;

	switch (segments_load(&all, dir, &err)) {
	case JOURNAL_NONE:
		s.problems++;
		buf_printf(out, "%s: there is no journal\n", dir);
		break;
	case JOURNAL_TROUBLE:
		s.problems++;
		buf_printf(out, "%s\n", err.text);
		break;
	case JOURNAL_FINE:
	case JOURNAL_LOCKED:
	case JOURNAL_DAMAGED:
		break;
	}
	if (all.repaired) {
		s.problems++;
		buf_printf(out,
			   "journal-%06u: a repair was not finished; run gavel journal repair\n",
			   all.repaired);
	}
	if (all.missing) {
		s.problems++;
		buf_printf(out, "journal-%06u: is missing\n", all.missing);
	}
	if (all.poison.there) {
		s.problems++;
		buf_adds(out,
			 "poisoned: the disk did not confirm a record; the next start begins a new "
			 "segment\n");
	}
	salvage_from(&s, &all, 0);
	*records = s.kept;
	salvage_release(&s);
	segments_release(&all);
	return s.problems;
}

unsigned journal_verify(const char *dir, struct buf *out, uint64_t *records)
{
	size_t start = out->n;
	unsigned problems = 0;

	/* a gavel that is just writing looks like damage for a moment */
	for (int tries = 0; tries < 3; tries++) {
		out->n = start;
		if (out->p)
			out->p[start] = '\0';
		problems = verify_once(dir, out, records);
		if (!problems)
			break;
	}
	return problems;
}

static int broken(const char *path, const char *what, struct err *err)
{
	return err_set(err, "%.300s: %s: %s; check the disk and repair again", path, what,
		       strerror(errno));
}

static int rename_file(const char *from, const char *to)
{
	int rc;

	IO_RETRY(rc, io.rename(from, to));
	return rc;
}

static int put_aside(const char *dir, unsigned number, struct buf *out, struct err *err)
{
	struct buf from = { 0 }, to = { 0 };
	int rc;

	journal_path(&from, dir, number, "");
	journal_path(&to, dir, number, ".damaged");
	rc = journal_free_name(&to, false);
	if (rc == 0)
		rc = rename_file(from.p, to.p);
	if (rc == 0)
		rc = io_sync_folder(to.p);
	if (rc < 0)
		broken(from.p, "cannot be put aside", err);
	else
		buf_printf(out, "the old journal-%06u is kept as %s\n", number, to.p);
	buf_release(&from);
	buf_release(&to);
	return rc;
}

/* The new segment is on the disk as .repaired: the old ones go, it comes. */
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
		rc = rename_file(from.p, to.p);
		if (rc == 0)
			rc = io_sync_folder(to.p);
		if (rc < 0)
			broken(to.p, "cannot be put in its place", err);
	}
	buf_release(&from);
	buf_release(&to);
	return rc;
}

static int write_repaired(const char *dir, unsigned number, const struct salvage *s,
			  const char *before, struct err *err)
{
	struct buf bytes = { 0 }, line = { 0 }, from = { 0 }, to = { 0 };
	char hash[65];
	int rc;

	memcpy(hash, before, sizeof(hash));
	for (uint32_t i = 0; i < s->records.n; i++) {
		char next[65];

		journal_line(hash, s->records.v[i], &line, next);
		buf_add_str(&bytes, buf_str(&line));
		memcpy(hash, next, sizeof(hash));
	}
	journal_path(&from, dir, number, ".repairing");
	journal_path(&to, dir, number, ".repaired");
	journal_unlink(from.p); /* half of one from a repair that was ended */
	rc = journal_write_new(from.p, buf_str(&bytes));
	if (rc == 0)
		rc = rename_file(from.p, to.p);
	if (rc == 0)
		rc = io_sync_folder(to.p);
	if (rc < 0)
		broken(from.p, "cannot be written", err);
	buf_release(&bytes);
	buf_release(&line);
	buf_release(&from);
	buf_release(&to);
	return rc;
}

static int repair(const char *dir, const struct segments *all, const struct extent *e,
		  struct buf *out, struct err *err)
{
	struct salvage s = { .out = out };
	unsigned number = all->list.v[e->index].number;
	uint32_t first = e->index;
	struct segments before = *all;
	struct extent whole;
	int rc;

	if (all->missing && all->missing < number)
		number = all->missing;
	/* the hash at which the segments end that are left alone */
	before.list.n = first;
	before.missing = 0;
	segments_check(&before, &whole);
	memcpy(s.proven, whole.hash, sizeof(whole.hash));
	salvage_from(&s, all, first);
	rc = write_repaired(dir, number, &s, whole.hash, err);
	if (rc == 0)
		rc = finish(dir, all, number, out, err);
	if (rc == 0)
		buf_printf(out, "%llu records are kept, %llu bytes are lost\n",
			   (unsigned long long)(whole.records + s.kept),
			   (unsigned long long)s.lost_total);
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
