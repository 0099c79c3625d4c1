/* The list of files: expanding SOURCE arguments, the limit on open descriptors, file identity, and
 * fetching the bytes of a frame again. */
#include "wire/wire.h"

#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

static void warn(struct wire *w, const char *name, const char *what)
{
	vec_push(&w->warnings, str_of(arena_printf(&w->arena, "%s: %s", name, what)));
}

size_t wire_max_bytes(const struct wire *w)
{
	return w->max_bytes ? w->max_bytes : FRAME_MAX_BYTES;
}

static uint64_t identity(const struct source *s)
{
	return hash_mix((uint64_t)s->dev, (uint64_t)s->ino);
}

static bool same_identity(const struct source *a, const struct source *b)
{
	return a->dev == b->dev && a->ino == b->ino && a->born_ns == b->born_ns;
}

uint32_t wire_find(const struct wire *w, const struct source *s)
{
	uint32_t found = UINT32_MAX;

	for (uint32_t it = 0, i; map_next(&w->by_identity, identity(s), &it, &i);) {
		const struct source *known = &w->files.v[i].source;

		/* without a birth time the inode of a closed file may have been reused */
		if (same_identity(known, s) && (!w->follow || known->fd >= 0 || known->born_ns) &&
		    (found == UINT32_MAX || i > found))
			found = i;
	}
	return found;
}

/* Followed files stay open if possible: what is written after a rename can then still be read. */
static uint32_t open_max(struct wire *w)
{
	struct rlimit limit;

	if (w->open_max)
		return w->open_max;
	w->open_max = WIRE_OPEN_MAX;
	if (w->follow && getrlimit(RLIMIT_NOFILE, &limit) == 0 &&
	    limit.rlim_cur / 2 > WIRE_OPEN_MAX)
		w->open_max = limit.rlim_cur / 2 < WIRE_FOLLOW_OPEN_MAX
				      ? (uint32_t)(limit.rlim_cur / 2)
				      : WIRE_FOLLOW_OPEN_MAX;
	return w->open_max;
}

static struct str base_of(struct str name)
{
	size_t i = name.n;

	while (i && name.p[i - 1] != '/')
		i--;
	return str_make(name.p + i, name.n - i);
}

/* The beginning of a file of which reading has not begun; -1 for what is no open file. */
static ssize_t read_beginning(const struct source *s, char *p, size_t n)
{
	if (!s->held)
		return s->fd < 0 ? -1 : pread(s->fd, p, n, 0);
	n = n < s->end ? n : (size_t)s->end;
	memcpy(p, s->held, n);
	return (ssize_t)n;
}

/* The head of a capture; nothing for other files, and for pipes. */
static struct str read_head(struct wire *w, const struct source *s)
{
	char line[WIRE_HEAD_BYTES];
	size_t n = strlen(WIRE_HEAD);
	const char *newline;
	ssize_t got;

	if (read_beginning(s, line, n) != (ssize_t)n || memcmp(line, WIRE_HEAD, n) != 0)
		return STR_NONE;
	got = read_beginning(s, line, sizeof(line));
	newline = got > 0 ? memchr(line, '\n', (size_t)got) : NULL;
	/* one that is too long is a head, too, which tells nothing else */
	return newline ? arena_str(&w->arena, str_make(line + 1, (size_t)(newline - line) - 1))
		       : STR("{");
}

uint32_t wire_append(struct wire *w, struct source *s, struct str name)
{
	struct str head = read_head(w, s);

	if (s->kind == SOURCE_FILE && s->fd > 0) {
		if (w->n_open < open_max(w))
			w->n_open++;
		else
			source_close(s);
	}
	map_add(&w->by_identity, identity(s), w->files.n);
	vec_push(&w->files,
		 (struct wire_file){ .source = *s, .name = name, .base = base_of(name),
				     .head = head });
	w->block.source = NULL; /* the sources may have moved */
	return w->files.n - 1;
}

/* Takes ownership of the open source. name must live as long as the wire. */
static void add_open(struct wire *w, struct source *s, struct str name, struct str group,
		     bool listed)
{
	if (wire_find(w, s) != UINT32_MAX) {
		warn(w, s->name, "given twice; read once");
		source_close(s);
		return;
	}
	w->bytes_total += s->end - s->start;
	if (w->held_bytes + s->end <= WIRE_HELD_BYTES && source_hold(s))
		w->held_bytes += s->end;
	wire_append(w, s, name);
	vec_last(&w->files)->group = group;
	vec_last(&w->files)->listed = listed;
}

uint32_t wire_new_incarnation(struct wire *w, uint32_t file)
{
	const struct wire_file *old = &w->files.v[file];
	struct wire_file f = { .source = old->source, .name = old->name, .base = old->base,
			       .group = old->group, .listed = old->listed,
			       .answers = old->answers, .joined = old->joined,
			       .head = read_head(w, &old->source) };

	f.source.spooled = (struct pieces){ 0 };
	f.source.start = f.source.end = 0;
	f.source.spool_only = f.source.kind == SOURCE_STREAM;
	map_add(&w->by_identity, identity(&f.source), w->files.n);
	w->files.v[file].source.spool_only = true;
	w->files.v[file].source.fd = -1;
	if (w->temp_open == file + 1)
		w->temp_open = w->files.n + 1;
	vec_push(&w->files, f);
	w->block.source = NULL;
	return w->files.n - 1;
}

void wire_close_file(struct wire *w, uint32_t file)
{
	struct source *s = &w->files.v[file].source;

	if (s->fd < 0)
		return;
	if (w->temp_open == file + 1)
		w->temp_open = 0;
	else if (s->kind == SOURCE_FILE && s->fd > 0)
		w->n_open--;
	source_close(s);
}

/* Logs and files of a queue. Review notes are the only text files. */
bool wire_wants(struct str name)
{
	return str_ends(name, STR(".json")) || str_ends(name, STR(".ndjson")) ||
	       str_ends(name, STR(".jsonl")) || str_ends(name, STR(".log")) ||
	       wire_is_review(name);
}

static void add_entry(struct wire *w, struct str name, struct str group)
{
	struct source s;
	struct err err;

	if (source_open(&s, name.p, &err) < 0) {
		vec_push(&w->warnings, arena_str(&w->arena, str_of(err.text)));
	} else if (s.kind != SOURCE_FILE) {
		/* a FIFO would block the files after it */
		warn(w, s.name, "not a regular file; give its name if you want it read");
		source_close(&s);
	} else {
		add_open(w, &s, name, group, true);
	}
}

struct str wire_trim_slashes(struct str path)
{
	while (path.n > 1 && path.p[path.n - 1] == '/')
		path.n--;
	return path;
}

struct str wire_join(struct wire *w, struct str folder, const char *base)
{
	const char *slash = folder.p[folder.n - 1] == '/' ? "" : "/";

	return str_of(arena_printf(&w->arena, "%s%s%s", folder.p, slash, base));
}

static int add_dir(struct wire *w, const struct source *dir, struct str name, struct err *err)
{
	struct source_names list = { 0 };
	int rc = -1;

	name = arena_str(&w->arena, wire_trim_slashes(name));
	if (source_list(dir, wire_wants, &list, err) < 0)
		goto out;
	if (list.names.n > WIRE_FILES_MAX - w->files.n) {
		err_set(err, "%.300s: too many files; give them in smaller parts", dir->name);
		goto out;
	}
	vec_push(&w->dirs, *dir);
	if (!list.names.n && !w->follow)
		warn(w, dir->name, "no " WIRE_WANTS " in it; nothing to read");
	for (uint32_t i = 0; i < list.names.n; i++)
		add_entry(w, wire_join(w, name, list.names.v[i]), name);
	rc = 0;
out:
	source_names_release(&list);
	return rc;
}

int wire_add(struct wire *w, const char *name_given, struct err *err)
{
	struct str name = arena_str(&w->arena, str_of(name_given));
	struct source s;

	if (!name.n)
		return err_set(err, "empty source name; give a file, a directory or -");
	if (source_open(&s, name.p, err) < 0)
		return -1;
	if (s.kind == SOURCE_DIR) {
		for (uint32_t i = 0; i < w->dirs.n; i++)
			if (same_identity(&w->dirs.v[i], &s)) {
				warn(w, s.name, "given twice; read once");
				return 0;
			}
		return add_dir(w, &s, name, err);
	}
	if (w->files.n >= WIRE_FILES_MAX) {
		source_close(&s);
		return err_set(err, "%.300s: too many files; give at most %d", s.name,
			       WIRE_FILES_MAX);
	}
	add_open(w, &s, name, str_is(name, "-") ? STR("stdin") : name, false);
	return 0;
}

int wire_ensure_open(struct wire *w, uint32_t file, struct err *err)
{
	struct source *s;

	if (file >= w->files.n)
		BUG("file %u of %u", file, w->files.n);
	s = &w->files.v[file].source;
	if (s->fd >= 0)
		return 0;
	if (w->temp_open)
		source_close(&w->files.v[w->temp_open - 1].source);
	w->temp_open = 0;
	if (source_reopen(s, err) < 0)
		return -1;
	w->temp_open = file + 1;
	return 0;
}

/* Only the first bytes of an oversize message are fetched. */
static size_t fetch_length(const struct wire *w, uint64_t length)
{
	if (length <= wire_max_bytes(w))
		return (size_t)length;
	return length < WIRE_PEEK_BYTES ? (size_t)length : WIRE_PEEK_BYTES;
}

/* Opens the file unless all these bytes are spooled. */
static int ensure_readable(struct wire *w, uint32_t file, uint64_t offset, size_t n,
			   struct err *err)
{
	if (file < w->files.n && spooled_from(&w->files.v[file].source.spooled, offset) >= n)
		return 0;
	return wire_ensure_open(w, file, err);
}

int wire_fetch(struct wire *w, uint32_t file, uint64_t offset, uint64_t length, struct buf *out,
	       struct err *err)
{
	size_t n = fetch_length(w, length);

	buf_clear(out);
	if (ensure_readable(w, file, offset, n, err) < 0)
		return -1;
	buf_reserve(out, n);
	if (source_fetch(&w->files.v[file].source, offset, n, out->p, err) < 0)
		return -1;
	out->n = n;
	out->p[n] = '\0';
	return 0;
}

int wire_fetch_block(struct wire *w, uint32_t file, uint64_t offset, size_t n, struct buf *room,
		     struct str *out, struct err *err)
{
	char *bytes;

	if (ensure_readable(w, file, offset, n, err) < 0)
		return -1;
	bytes = source_buffer(room, offset, n);
	if (source_fetch_block(&w->files.v[file].source, offset, n, bytes, err) < 0)
		return -1;
	bytes[n] = '\0';
	*out = str_make(bytes, n);
	return 0;
}

int wire_spool(struct wire *w, uint32_t file, uint64_t offset, uint64_t length, struct err *err)
{
	struct source *s = &w->files.v[file].source;
	uint64_t end = offset + fetch_length(w, length);
	struct buf bytes = { 0 };
	int rc = 0;

	if (spooled_from(&s->spooled, offset) >= end - offset)
		return 0;
	if (wire_ensure_open(w, file, err) < 0)
		return -1;
	s->spool = &w->spool;
	buf_reserve(&bytes, end - offset < SOURCE_BLOCK_BYTES ? (size_t)(end - offset)
							      : SOURCE_BLOCK_BYTES);
	while (offset < end && rc == 0) {
		uint64_t left = end - offset;
		size_t n = left < SOURCE_BLOCK_BYTES ? (size_t)left : SOURCE_BLOCK_BYTES;

		rc = source_fetch(s, offset, n, bytes.p, err);
		if (rc == 0)
			rc = spool_add(&w->spool, &s->spooled, offset, str_make(bytes.p, n), err);
		offset += n;
	}
	buf_release(&bytes);
	return rc;
}

void wire_release(struct wire *w)
{
	for (uint32_t i = 0; i < w->files.n; i++) {
		struct wire_file *f = &w->files.v[i];

		source_close(&f->source);
		source_drop(&f->source);
		vec_release(&f->source.spooled.list);
		wire_lines_free(f->lines);
	}
	spool_close(&w->spool);
	vec_release(&w->files);
	vec_release(&w->warnings);
	vec_release(&w->dirs);
	map_release(&w->by_identity);
	arena_release(&w->arena);
	block_release(&w->block);
	buf_release(&w->message);
	*w = (struct wire){ 0 };
}
