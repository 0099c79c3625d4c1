/* Reading a journal: opens its files safely, loads them into memory and verifies the hash chain. */
#include "journal/journal_internal.h"

#include "base/sha256.h"
#include "json/json.h"

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

enum {
	/* missing numbers in a row, after the last segment, that end the search for more */
	LOOK_AHEAD = 4,
	POISON_MAX_BYTES = 4096,
};

static int refuse(const char *path, const char *why, struct err *err)
{
	errno = EPERM;
	return err_set(err,
		       "%.300s: %s; look at how that came, move it away, or name another folder "
		       "with --journal",
		       path, why);
}

static int check_plain(const char *path, const struct stat *st, struct err *err)
{
	const char *fault = !S_ISREG(st->st_mode)		? "is not a plain file"
			    : st->st_uid != geteuid()		? "belongs to another user"
			    : st->st_nlink != 1			? "has a second name (a hard link)"
			    : st->st_mode & (S_IWGRP | S_IWOTH) ? "others can write to it"
								: NULL;

	return fault ? refuse(path, fault, err) : 0;
}

int journal_open_file(const char *path, int flags, struct err *err)
{
	struct stat st;
	int fd, rc, number;

	/* O_NONBLOCK: a FIFO in its place must not make open wait for a partner */
	IO_RETRY(fd, io.open(path, flags | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, 0600));
	if (fd < 0) {
		number = errno;
		if (number == ELOOP)
			return refuse(path, "is a symbolic link", err);
		if (number == EISDIR || number == ENXIO)
			return refuse(path, "is not a plain file", err);
		err_set(err,
			"%.300s: cannot be opened: %s; check the place, or name another folder "
			"with --journal",
			path, strerror(number));
		errno = number;
		return -1;
	}
	IO_RETRY(rc, io.fstat(fd, &st));
	if (rc < 0)
		err_set(err, "%.300s: %s; check the disk", path, strerror(errno));
	else
		rc = check_plain(path, &st, err);
	if (rc == 0)
		return fd;
	number = errno;
	io.close(fd);
	errno = number;
	return -1;
}

int journal_write_new(const char *path, struct str bytes)
{
	int fd, rc, number;

	IO_RETRY(fd, io.open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
	if (fd < 0)
		return -1;
	rc = io_write_all(fd, bytes, NULL);
	if (rc == 0)
		IO_RETRY(rc, io.fsync(fd));
	number = errno;
	io.close(fd);
	if (rc < 0)
		journal_unlink(path);
	errno = number;
	return rc;
}

void journal_unlink(const char *path)
{
	int rc;

	IO_RETRY(rc, io.unlink(path));
	(void)rc;
}

const char *journal_path(struct buf *out, const char *dir, unsigned segment, const char *suffix)
{
	buf_clear(out);
	buf_printf(out, "%s/journal-%06u%s", dir, segment, suffix);
	return out->p;
}

int journal_free_name(struct buf *path, bool dashed)
{
	size_t stem = path->n;

	for (unsigned i = 1;; i++) {
		struct stat st;
		int rc;

		path->n = stem;
		path->p[stem] = '\0';
		if (dashed || i > 1)
			buf_printf(path, "-%u", i);
		IO_RETRY(rc, io.lstat(path->p, &st));
		if (rc < 0)
			return errno == ENOENT ? 0 : -1;
	}
}

void journal_chain(const char before[65], struct str json, char out[65])
{
	struct sha256 s;

	sha256_begin(&s);
	sha256_add(&s, str_make(before, HASH_DIGITS));
	sha256_add(&s, json);
	sha256_end_hex(&s, out);
}

void journal_add_line(struct buf *lines, struct str json, char hash[65])
{
	journal_chain(hash, json, hash);
	buf_add(lines, hash, HASH_DIGITS);
	buf_addc(lines, ' ');
	buf_add_str(lines, json);
	buf_addc(lines, '\n');
}

/* 1 yes, 0 no, -1 and err */
static int exists(const char *path, struct err *err)
{
	struct stat st;
	int rc;

	IO_RETRY(rc, io.lstat(path, &st));
	if (rc == 0)
		return 1;
	if (errno == ENOENT)
		return 0;
	return err_set(err, "%.300s: %s; check the place, or name another folder with --journal",
		       path, strerror(errno));
}

/* 1: loaded; 0: there is no such file; -1 and err */
static int load_file(const char *path, size_t max, struct buf *out, struct err *err)
{
	int fd = journal_open_file(path, O_RDONLY, err), rc, number;

	if (fd < 0)
		return errno == ENOENT ? 0 : -1;
	rc = io_read_rest(fd, max, out);
	number = errno;
	io.close(fd);
	if (rc < 0)
		return err_set(err, "%.300s: cannot be read: %s; check the disk", path,
			       strerror(number));
	return 1;
}

/* Excludes copies of torn and damaged segments. */
static bool is_segment(struct str name)
{
	return str_starts(name, STR("journal-")) &&
	       (!memchr(name.p, '.', name.n) || str_ends(name, STR(".repaired")));
}

bool journal_is_there(const char *dir)
{
	DIR *folder = opendir(dir);
	struct dirent *entry;
	/* an unreadable folder counts: opening the journal then reports the error */
	bool there = !folder && errno != ENOENT && errno != ENOTDIR;

	while (folder && !there && (entry = readdir(folder)))
		there = is_segment(str_of(entry->d_name));
	if (folder)
		closedir(folder);
	return there;
}

/* "journal-000001 BYTES HASH": what was synced of the segment, and the last record in it. */
static void parse_poison(struct str text, struct poison *p)
{
	const struct str stem = STR("journal-");
	ptrdiff_t first = str_find(text, STR(" "), 0), second;
	uint64_t number, good;

	second = first < 0 ? -1 : str_find(text, STR(" "), (size_t)first + 1);
	if (second < 0 || !str_starts(text, stem) || text.n != (size_t)second + 1 + HASH_DIGITS + 1)
		return;
	if (!str_to_u64(str_make(text.p + stem.n, (size_t)first - stem.n), &number) ||
	    !str_to_u64(str_make(text.p + first + 1, (size_t)(second - first - 1)), &good) ||
	    number > UINT32_MAX)
		return;
	p->segment = (unsigned)number;
	p->good = good;
	memcpy(p->hash, text.p + second + 1, HASH_DIGITS);
	p->exact = true;
}

static int load_poison(struct poison *p, const char *dir, struct err *err)
{
	struct buf path = { 0 }, text = { 0 };
	int rc;

	buf_printf(&path, "%s/poisoned", dir);
	rc = load_file(path.p, POISON_MAX_BYTES, &text, err);
	p->there = rc > 0;
	if (p->there)
		parse_poison(buf_str(&text), p);
	buf_release(&path);
	buf_release(&text);
	return rc;
}

/* As load_file. */
static int load_segment(struct segments *s, const char *dir, unsigned number, struct err *err)
{
	struct segment next = { .number = number };
	struct buf path = { 0 };
	int rc = load_file(journal_path(&path, dir, number, ""), SEGMENT_READ_MAX, &next.bytes,
			   err);

	if (rc > 0)
		vec_push(&s->list, next);
	else
		buf_release(&next.bytes);
	buf_release(&path);
	return rc;
}

static int find_repaired(struct segments *s, const char *dir, unsigned number, struct err *err)
{
	struct buf path = { 0 };
	int rc = exists(journal_path(&path, dir, number, ".repaired"), err);

	if (rc > 0 && !s->repaired)
		s->repaired = number;
	buf_release(&path);
	return rc;
}

static int load_all(struct segments *s, const char *dir, struct err *err)
{
	unsigned absent = 0, first_absent = 0;

	for (unsigned n = 1; absent <= LOOK_AHEAD; n++) {
		int rc;

		/* a repair replaces an existing segment or the first missing one */
		if (!absent && find_repaired(s, dir, n, err) < 0)
			return -1;
		rc = load_segment(s, dir, n, err);
		if (rc < 0)
			return -1;
		absent = rc ? 0 : absent + 1;
		if (!rc && !first_absent)
			first_absent = n;
		if (rc && !s->missing)
			s->missing = first_absent;
	}
	return 0;
}

enum journal_result segments_load(struct segments *s, const char *dir, struct err *err)
{
	int rc = exists(dir, err);

	if (rc == 0)
		return JOURNAL_NONE;
	if (rc < 0 || io_check_folder(dir, err) < 0 || load_poison(&s->poison, dir, err) < 0 ||
	    load_all(s, dir, err) < 0)
		return JOURNAL_TROUBLE;
	return s->list.n || s->repaired ? JOURNAL_FINE : JOURNAL_NONE;
}

void segments_release(struct segments *s)
{
	for (uint32_t i = 0; i < s->list.n; i++)
		buf_release(&s->list.v[i].bytes);
	vec_release(&s->list);
	*s = (struct segments){ 0 };
}

bool journal_is_record(struct str json)
{
	struct json_reader reader = { 0 };
	yyjson_val *root;
	bool is = json.n && json_read(&reader, json, &root) == JSON_OK && yyjson_is_obj(root);

	json_reader_release(&reader);
	return is;
}

enum tail segment_tail(const struct segments *s, const struct segment *seg, uint64_t at,
		       const char before[65])
{
	struct str rest = str_from(buf_str(&seg->bytes), at);
	const char *end = memchr(rest.p, '\n', rest.n);
	const struct poison *p = &s->poison;

	if (seg != vec_last(&s->list))
		return TAIL_NONE;
	if (p->exact && p->segment == seg->number && p->good == at &&
	    memcmp(p->hash, before, HASH_DIGITS) == 0)
		return TAIL_UNCONFIRMED;
	if (!end || (end + 1 == rest.p + rest.n && memchr(rest.p, '\0', rest.n)))
		return TAIL_UNFINISHED;
	return TAIL_NONE;
}

static void check_segment(const struct segments *s, const struct segment *seg, struct extent *e)
{
	struct str bytes = buf_str(&seg->bytes);

	e->line = 1;
	while (e->good < bytes.n) {
		struct str rest = str_from(bytes, e->good);
		const char *end = memchr(rest.p, '\n', rest.n);
		struct str line = str_make(rest.p, end ? (size_t)(end - rest.p) : rest.n);
		char hash[65];

		if (segment_tail(s, seg, e->good, e->hash) != TAIL_NONE) {
			e->torn = true;
			return;
		}
		if (!end || line.n < RECORD_JSON || line.p[HASH_DIGITS] != ' ') {
			e->why = "is not a record";
			return;
		}
		journal_chain(e->hash, str_from(line, RECORD_JSON), hash);
		if (memcmp(hash, line.p, HASH_DIGITS) != 0) {
			e->why = "does not follow from the record before";
			return;
		}
		if (!journal_is_record(str_from(line, RECORD_JSON))) {
			e->why = "is not a record, although its hash is right";
			return;
		}
		memcpy(e->hash, hash, sizeof(hash));
		e->good += line.n + 1;
		e->line++;
		e->records++;
	}
}

void segments_check(const struct segments *s, struct extent *e)
{
	*e = (struct extent){ .line = 1, .hash = FIRST_HASH };
	for (uint32_t i = 0; i < s->list.n && !e->why; i++) {
		const struct segment *seg = &s->list.v[i];

		e->index = i;
		e->good = 0;
		if (s->repaired && seg->number >= s->repaired)
			e->why = "was being repaired";
		else if (s->missing && seg->number > s->missing)
			e->why = "has no segment before it";
		else
			check_segment(s, seg, e);
	}
	if (s->repaired && !e->why) {
		e->index = s->list.n;
		e->good = 0;
		e->why = "was being repaired";
	}
}

void segments_describe_damage(const struct segments *s, const struct extent *e, const char *dir,
			      struct err *err)
{
	unsigned number = e->index < s->list.n ? s->list.v[e->index].number : s->repaired;

	err_set(err,
		"the journal is damaged: %.200s/journal-%06u, line %u %s; "
		"see gavel journal verify, then run gavel journal repair",
		dir, number, e->line, e->why);
}
