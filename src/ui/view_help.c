/* The help: the table of commands as a page. */
#include "ui/app.h"
#include "ui/view_parts.h"

enum what { ROW_BLANK, ROW_SECTION, ROW_COMMAND };

static void help_make(const struct scene *s, int cols, struct lines *out)
{
	(void)s;
	out->cols = cols;
	for (unsigned i = 0; i < app_command_count; i++) {
		if (!i || strcmp(app_commands[i].section, app_commands[i - 1].section) != 0) {
			if (i)
				line_add(out, ROW_BLANK, 0, i);
			line_add(out, ROW_SECTION, i, 0);
		}
		line_add(out, ROW_COMMAND, i, 0);
	}
}

/* "j, <Down>" */
static void keys_text(const char *keys, struct buf *out)
{
	struct str rest = str_of(keys);
	uint32_t key;

	while (rest.n && key_parse(&rest, &key)) {
		if (out->n)
			buf_adds(out, " ");
		key_name(key, out);
	}
}

static void help_draw(const struct scene *s, const struct lines *lines, uint32_t i, struct grid *g,
		      struct rect row)
{
	const struct line *line = &lines->list.v[i];
	const struct app_command *c = &app_commands[line->a];
	struct buf keys = { 0 };

	(void)s;
	switch ((enum what)line->what) {
	case ROW_BLANK:
		break;
	case ROW_SECTION:
		grid_put(g, rect_in(row, 0, 1, 1, row.cols - 1), ROLE_HEADER, c->section);
		break;
	case ROW_COMMAND:
		keys_text(c->keys, &keys);
		grid_text(g, rect_in(row, 0, 2, 1, 18), ROLE_KEY, raw_of(buf_str(&keys)), TEXT_LABEL);
		grid_put(g, rect_in(row, 0, 21, 1, 18), ROLE_ID, c->name);
		grid_put(g, rect_in(row, 0, 40, 1, row.cols - 40), ROLE_NORMAL, c->help);
		buf_release(&keys);
		break;
	}
}

const struct view_ops view_help = {
	.name = "help",
	.make = help_make,
	.draw = help_draw,
};
