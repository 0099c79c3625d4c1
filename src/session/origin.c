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

/* Whether it is below the folder of captures, where only this user's processes write. */
static bool is_in_captures(const struct wire_file *f)
{
	struct buf folder = { 0 };
	char *path = f->source.kind == SOURCE_FILE ? realpath(f->name.p, NULL) : NULL, *real;
	bool is;

	desk_base(NULL, &folder);
	buf_adds(&folder, "/captures");
	real = realpath(folder.p, NULL);
	is = path && real && str_starts(str_of(path), str_of(real)) && path[strlen(real)] == '/';
	free(path);
	free(real);
	buf_release(&folder);
	return is;
}

void load_note_origin(struct load *l, uint32_t file)
{
	struct wire_file *f = &l->wire.files.v[file];

	if (f->source.kind == SOURCE_FILE)
		f->ours = f->made || is_in_captures(f);
	if (f->head.n)
		read_head(l, f);
	else if (f->ours)
		f->trust = TRUST_AGENT;
	else
		return;
	if (f->listed)
		f->group = f->name;
}
