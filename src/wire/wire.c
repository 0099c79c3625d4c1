/* The list of files: what an argument stands for, which files are open, fetching bytes again. */
#include "wire/wire.h"

#include <stdlib.h>

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
	return a->dev == b->dev && a->ino == b->ino;
}

static bool known(const struct wire *w, const struct source *s)
{
	for (uint32_t it = 0, i; map_next(&w->by_identity, identity(s), &it, &i);)
		if (same_identity(&w->files.v[i].source, s))
			return true;
	return false;
}

static struct str base_of(struct str name)
{
	size_t i = name.n;

	while (i && name.p[i - 1] != '/')
		i--;
	return str_make(name.p + i, name.n - i);
}

/* Takes over the open source. name lives as long as the wire. */
static void add_open(struct wire *w, struct source *s, struct str name, struct str group)
{
	if (known(w, s)) {
		warn(w, s->name, "given twice; read once");
		source_close(s);
		return;
	}
	if (s->kind == SOURCE_FILE && s->fd > 0) {
		if (w->n_open < WIRE_OPEN_MAX)
			w->n_open++;
		else
			source_close(s);
	}
	map_add(&w->by_identity, identity(s), w->files.n);
	w->bytes_total += s->end - s->start;
	vec_push(&w->files, (struct wire_file){ .source = *s, .name = name, .base = base_of(name),
						.group = group });
}

/* The files of a queue and of logs. Notes of a review are the only text that is taken. */
static bool wanted(struct str name)
{
	return str_ends(name, STR(".json")) || str_ends(name, STR(".ndjson")) ||
	       str_ends(name, STR(".jsonl")) || str_ends(name, STR(".log")) ||
	       (str_starts(name, STR("review-")) && str_ends(name, STR(".md")));
}

static void add_entry(struct wire *w, struct str name, struct str group)
{
	struct source s;
	struct err err;

	if (source_open(&s, name.p, &err) < 0) {
		vec_push(&w->warnings, arena_str(&w->arena, str_of(err.text)));
	} else if (s.kind != SOURCE_FILE) {
		/* a FIFO among the files must not hold up the others */
		warn(w, s.name, "not a regular file; give its name if you want it read");
		source_close(&s);
	} else {
		add_open(w, &s, name, group);
	}
}

static int add_dir(struct wire *w, const struct source *dir, struct str name, struct err *err)
{
	struct source_names list = { 0 };
	int rc = -1;

	while (name.n > 1 && name.p[name.n - 1] == '/')
		name.n--;
	name = arena_str(&w->arena, name);
	if (source_list(dir, wanted, &list, err) < 0)
		goto out;
	if (list.names.n > WIRE_FILES_MAX - w->files.n) {
		err_set(err, "%.300s: too many files; give them in smaller parts", dir->name);
		goto out;
	}
	vec_push(&w->dirs, *dir);
	if (!list.names.n)
		warn(w, dir->name,
		     "no *.json, *.ndjson, *.jsonl, *.log or review-*.md in it; nothing to read");
	for (uint32_t i = 0; i < list.names.n; i++) {
		const char *slash = name.p[name.n - 1] == '/' ? "" : "/";
		char *path = arena_printf(&w->arena, "%s%s%s", name.p, slash, list.names.v[i]);

		add_entry(w, str_of(path), name);
	}
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
		return err_set(err, "an empty name is no source; give a file, a directory or -");
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
		return err_set(err, "%.300s: one file too many; give at most %d", s.name,
			       WIRE_FILES_MAX);
	}
	add_open(w, &s, name, str_is(name, "-") ? STR("stdin") : name);
	return 0;
}

int wire_hold(struct wire *w, uint32_t file, struct err *err)
{
	struct source *s;

	if (file >= w->files.n)
		BUG("file %u of %u", file, w->files.n);
	s = &w->files.v[file].source;
	if (s->fd >= 0)
		return 0;
	if (w->lent)
		source_close(&w->files.v[w->lent - 1].source);
	w->lent = 0;
	if (source_reopen(s, err) < 0)
		return -1;
	w->lent = file + 1;
	return 0;
}

int wire_fetch(struct wire *w, uint32_t file, uint64_t offset, uint64_t length, struct buf *out,
	       struct err *err)
{
	size_t n = (size_t)length;

	if (length > wire_max_bytes(w))
		n = length < WIRE_PEEK_BYTES ? (size_t)length : WIRE_PEEK_BYTES;
	buf_clear(out);
	if (wire_hold(w, file, err) < 0)
		return -1;
	buf_reserve(out, n);
	if (source_fetch(&w->files.v[file].source, offset, n, out->p, err) < 0)
		return -1;
	out->n = n;
	out->p[n] = '\0';
	return 0;
}

void wire_release(struct wire *w)
{
	for (uint32_t i = 0; i < w->files.n; i++)
		source_close(&w->files.v[i].source);
	vec_release(&w->files);
	vec_release(&w->warnings);
	vec_release(&w->dirs);
	map_release(&w->by_identity);
	arena_release(&w->arena);
	block_release(&w->block);
	buf_release(&w->message);
	*w = (struct wire){ 0 };
}
