/* Reads and writes what the screen remembers (remembered.h). */
#include "watch/remembered.h"

#include "base/io.h"
#include "decide/desk.h"
#include "json/compose.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

enum { FILE_MAX = 4096 };

static int percent_of(yyjson_val *root, const char *name)
{
	yyjson_val *v = json_get(root, name);
	int64_t n = yyjson_is_int(v) ? yyjson_get_sint(v) : 0;

	return n >= SPLIT_LEAST && n <= SPLIT_MOST ? (int)n : 0;
}

static void take_split(struct preview_split *s, yyjson_val *root)
{
	struct str place = json_get_str(root, "split");

	for (int i = 0; i < SPLIT_PLACES; i++)
		if (str_is(place, split_names[i]))
			s->place = (enum split_place)i;
	for (int i = SPLIT_BELOW; i < SPLIT_PLACES; i++)
		s->percent[i] = percent_of(root, split_names[i]);
}

void remembered_load(struct app *a, const char *journal)
{
	struct buf path = { 0 }, text = { 0 };
	struct json_reader reader = { 0 };
	yyjson_val *root = NULL;
	struct err err;

	desk_base(journal, &path);
	buf_adds(&path, "/screen.json");
	if (io_read_file(path.p, FILE_MAX, &text, &err) == 0)
		json_read(&reader, buf_str(&text), &root);
	if (root)
		take_split(&a->split, root);
	json_reader_release(&reader);
	buf_release(&text);
	buf_release(&path);
}

static void put_split(const struct preview_split *s, struct buf *out)
{
	buf_addc(out, '{');
	json_put_name(out, "split", split_names[s->place]);
	for (int i = SPLIT_BELOW; i < SPLIT_PLACES; i++)
		if (s->percent[i])
			json_put_int(out, split_names[i], s->percent[i]);
	buf_adds(out, "}\n");
}

/* Through a temporary file: two gavels may write at once. */
static int replace_file(const char *path, struct str text)
{
	struct buf temporary = { 0 };
	int fd, rc = -1;

	buf_printf(&temporary, "%s-XXXXXX", path);
	fd = mkstemp(temporary.p);
	if (fd >= 0) {
		rc = io_write_all(fd, text, NULL);
		if (close(fd) < 0 || rc < 0 || (rc = rename(temporary.p, path)) < 0) {
			int saved = errno;

			unlink(temporary.p);
			errno = saved;
			rc = -1;
		}
	}
	buf_release(&temporary);
	return rc;
}

int remembered_save(const struct app *a, const char *journal, struct err *err)
{
	struct buf path = { 0 }, text = { 0 };
	int rc;

	desk_base(journal, &path);
	rc = io_make_folders(path.p, false, err);
	buf_adds(&path, "/screen.json");
	put_split(&a->split, &text);
	if (rc == 0 && replace_file(path.p, buf_str(&text)) < 0)
		rc = err_set(err, "%s: %s", path.p, strerror(errno));
	buf_release(&text);
	buf_release(&path);
	return rc;
}
