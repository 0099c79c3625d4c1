/* Reads and appends files of bookmarks (bookmark_file.h). */
#include "watch/bookmark_file.h"

#include "base/io.h"
#include "base/sha256.h"
#include "json/compose.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

enum { FILE_MAX_BYTES = 1 << 22, HASH_DIGITS = 16 };

/* A line of the file. */
struct bookmark_line {
	struct str file, hash, note;
	uint64_t offset;
	bool removed;
};

struct bookmark_lines {
	struct arena strings;
	VEC(struct bookmark_line) list;
};

static struct str base_name(struct str path)
{
	for (size_t i = path.n; i > 0; i--)
		if (path.p[i - 1] == '/')
			return str_from(path, i);
	return path;
}

/* 16 digits of the hash of a message's bytes. */
static struct str hash_of(const struct load *l, uint32_t message, char room[65])
{
	sha256_hex(l->reader.bytes(l->reader.ctx, message), room);
	return str_make(room, HASH_DIGITS);
}

static bool add_path(const struct desk *d, struct buf *path)
{
	if (!d || !d->dir || str_is(d->source, "stdin"))
		return false;
	buf_printf(path, "%s.bookmarks", d->dir);
	return true;
}

static void read_line(struct bookmark_lines *e, struct json_reader *reader, struct str line)
{
	yyjson_val *root = NULL;
	struct bookmark_line entry = { 0 };
	int64_t offset;

	json_read(reader, line, &root);
	if (!root || !json_int(json_get(root, "offset"), &offset) || offset < 0)
		return; /* torn, or not ours */
	entry.file = arena_str(&e->strings, json_get_str(root, "file"));
	entry.hash = arena_str(&e->strings, json_get_str(root, "sha256"));
	entry.note = arena_str(&e->strings, json_get_str(root, "note"));
	entry.offset = (uint64_t)offset;
	entry.removed = yyjson_is_true(json_get(root, "removed"));
	vec_push(&e->list, entry);
}

static int by_offset(const void *left, const void *right)
{
	uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;

	return a < b ? -1 : a > b;
}

/* Sets those of the entries that are about this message, the oldest first. */
static void apply(struct app *a, const struct load *l, const struct bookmark_lines *e,
		  uint32_t message, uint64_t offset)
{
	struct str file = base_name(l->reader.source(l->reader.ctx, message));
	char hash[65];
	const struct bookmark_line *last = NULL;

	for (uint32_t i = 0; i < e->list.n; i++)
		if (e->list.v[i].offset == offset && str_eq(e->list.v[i].file, file))
			last = &e->list.v[i];
	if (last && !last->removed && str_eq(last->hash, hash_of(l, message, hash)))
		app_bookmark_set(a, message, last->note);
}

/* One pass over the messages, however many bookmarks there are. */
static void find_messages(struct app *a, const struct load *l, const struct desk *d,
			  const struct bookmark_lines *e)
{
	const struct model *m = &l->model;
	uint64_t *offsets = xmalloc((e->list.n + (size_t)1) * sizeof(*offsets));

	for (uint32_t i = 0; i < e->list.n; i++)
		offsets[i] = e->list.v[i].offset;
	qsort(offsets, e->list.n, sizeof(*offsets), by_offset);
	for (uint32_t i = 0; e->list.n && i < m->records.n; i++) {
		uint64_t offset = message_offset(m, i);

		if (bsearch(&offset, offsets, e->list.n, sizeof(*offsets), by_offset) &&
		    str_eq(model_str(m, m->sessions.v[message_route(m, i)->session].group), d->group))
			apply(a, l, e, i, offset);
	}
	free(offsets);
}

static void load_desk(struct app *a, const struct load *l, const struct desk *d)
{
	struct buf path = { 0 }, text = { 0 };
	struct json_reader reader = { 0 };
	struct bookmark_lines e = { 0 };
	struct err err;

	if (add_path(d, &path) && access(path.p, F_OK) == 0) {
		struct str rest;

		if (io_read_file(path.p, FILE_MAX_BYTES, &text, &err) < 0)
			app_say(a, ROLE_WARN, "the bookmarks cannot be read: %s", err.text);
		for (rest = buf_str(&text); rest.n;)
			read_line(&e, &reader, str_cut(&rest, STR("\n")));
		find_messages(a, l, d, &e);
	}
	json_reader_release(&reader);
	vec_release(&e.list);
	arena_release(&e.strings);
	buf_release(&text);
	buf_release(&path);
}

void bookmarks_load(struct app *a, struct load *l)
{
	for (uint32_t i = 0; i < l->desks.list.n; i++)
		load_desk(a, l, &l->desks.list.v[i]);
}

static int append_line(const char *path, struct str line, struct err *err)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600), rc;

	if (fd < 0)
		return err_set(err, "%s: %s", path, strerror(errno));
	rc = io_write_all(fd, line, NULL);
	if (close(fd) < 0 || rc < 0)
		return err_set(err, "%s: %s", path, strerror(errno));
	return 0;
}

int bookmarks_keep(struct load *l, uint32_t message, struct str note, bool removed, struct err *err)
{
	const struct model *m = &l->model;
	const struct desk *d = desks_find(
		&l->desks, model_str(m, m->sessions.v[message_route(m, message)->session].group));
	struct buf path = { 0 }, folder = { 0 }, line = { 0 };
	char hash[65];
	int rc;

	if (!add_path(d, &path))
		return err_set(err, "a stream has no file to keep them with");
	buf_add(&folder, path.p, (size_t)(strrchr(path.p, '/') - path.p));
	buf_addc(&line, '{');
	json_put_str(&line, "file", base_name(l->reader.source(l->reader.ctx, message)));
	json_put_number(&line, "offset", message_offset(m, message));
	json_put_str(&line, "sha256", hash_of(l, message, hash));
	json_put_str(&line, "note", note);
	json_put_time(&line, "time", timestamp_now_ms());
	json_put_bool(&line, "removed", removed);
	buf_adds(&line, "}\n");
	rc = io_make_folders(folder.p, false, err);
	if (rc == 0)
		rc = append_line(path.p, buf_str(&line), err);
	buf_release(&line);
	buf_release(&folder);
	buf_release(&path);
	return rc;
}
