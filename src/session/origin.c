/* What the messages of a file may do, by where they come from: captures are recognized by their head,
 * or by their folder if they are older than heads. */
#include "json/json.h"
#include "session/load.h"

#include <stdlib.h>

/* What the head of a capture tells. */
static void read_head(struct load *l, struct wire_file *f)
{
	struct json_reader reader = { 0 };
	enum dialect_id stream;
	yyjson_val *root;

	f->trust = TRUST_AGENT;
	if (json_read(&reader, f->head, &root) == JSON_OK) {
		if (str_is(json_get_str(root, "speaks"), "session"))
			f->trust = TRUST_LOG;
		else
			f->speaker = arena_str(&l->wire.arena, json_get_str(root, "agent"));
		if (dialect_named(json_get_str(root, "dialect"), &stream))
			f->stream = (uint8_t)stream;
	}
	json_reader_release(&reader);
}

/* The real path of the folder of captures; NULL = there is none. Free the result. */
static char *captures_path(void)
{
	struct buf folder = { 0 };
	char *real;

	desk_base(NULL, &folder);
	buf_adds(&folder, "/captures");
	real = realpath(folder.p, NULL);
	buf_release(&folder);
	return real;
}

/* Whether it is below the folder of captures, where only this user's processes write. */
static bool is_in_captures(const struct wire_file *f, const char *captures)
{
	char *path = captures ? realpath(f->name.p, NULL) : NULL;
	bool is = path && str_starts(str_of(path), str_of(captures)) &&
		  path[strlen(captures)] == '/';

	free(path);
	return is;
}

static void note_origin(struct load *l, uint32_t file, const char *captures)
{
	struct wire_file *f = &l->wire.files.v[file];

	if (f->source.kind == SOURCE_FILE)
		f->ours = f->made || is_in_captures(f, captures);
	if (f->head.n)
		read_head(l, f);
	else if (f->ours)
		f->trust = TRUST_AGENT;
	else
		return;
	if (f->listed)
		f->group = f->name;
}

void load_note_origin(struct load *l, uint32_t file)
{
	load_note_origins(l, file, file + 1);
}

void load_note_origins(struct load *l, uint32_t first, uint32_t end)
{
	char *captures = captures_path();

	for (uint32_t i = first; i < end; i++)
		note_origin(l, i, captures);
	free(captures);
}
