/* What the messages of a file may do, by where they come from: captures are recognized by their head,
 * or by their folder if they are older than heads. */
#include "json/json.h"
#include "session/load.h"

#include <stdlib.h>

/* Whether the process wrote the lines of several agents. */
static bool speaks_for_session(struct str head)
{
	struct json_reader reader = { 0 };
	yyjson_val *root;
	bool session = json_read(&reader, head, &root) == JSON_OK &&
		       str_is(json_get_str(root, "speaks"), "session");

	json_reader_release(&reader);
	return session;
}

/* Below the folder of captures, but not what the agents were told. */
static bool is_in_captures(const struct wire_file *f)
{
	struct buf folder = { 0 };
	char *path = f->source.kind == SOURCE_FILE ? realpath(f->name.p, NULL) : NULL;
	bool is;

	desk_base(NULL, &folder);
	buf_adds(&folder, "/captures/");
	is = path && str_starts(str_of(path), buf_str(&folder));
	free(path);
	buf_release(&folder);
	return is;
}

void load_note_origin(struct load *l, uint32_t file)
{
	struct wire_file *f = &l->wire.files.v[file];

	if (!f->head.n && !is_in_captures(f))
		return;
	f->trust = f->head.n && speaks_for_session(f->head) ? TRUST_LOG : TRUST_AGENT;
	if (f->listed)
		f->group = f->name;
}
