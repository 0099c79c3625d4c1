/* The help: the commands that do something where the person is, with the keys that lead to them as
 * they are bound now, and the keys the person has bound to whole command lines. */
#include "ui/app.h"
#include "ui/view_parts.h"

enum what { ROW_BLANK, ROW_SECTION, ROW_COMMAND, ROW_OWN };

/* What was on the screen before the help. */
static unsigned where_below(const struct app *a)
{
	unsigned replay = a->film.model ? IN_REPLAY : 0;

	if (a->screen_count > 1)
		return IN_SCREEN | replay;
	return IN_LIST | replay | (a->tab == TAB_TIMELINE ? (unsigned)IN_TIMELINE : 0);
}

static void help_make(const struct scene *s, int cols, struct lines *out)
{
	const char *section = NULL;
	bool own = false;

	out->cols = cols;
	for (unsigned i = 0; i < app_command_count; i++) {
		if (!(app_commands[i].where & where_below(s->app)))
			continue;
		if (!section || strcmp(app_commands[i].section, section) != 0) {
			if (section)
				line_add(out, ROW_BLANK, i, 0);
			line_add(out, ROW_SECTION, i, 0);
		}
		section = app_commands[i].section;
		line_add(out, ROW_COMMAND, i, 0);
	}
	for (uint32_t i = 0; i < s->app->keymap.n; i++) {
		if (!s->app->keymap.v[i].argument)
			continue;
		if (!own)
			line_add(out, ROW_BLANK, i, 1);
		own = true;
		line_add(out, ROW_OWN, i, 0);
	}
}

/* "j <Down>" */
static void keys_text(const struct app *a, const struct app_command *c, struct buf *out)
{
	for (uint32_t i = 0; i < a->keymap.n; i++) {
		if (a->keymap.v[i].command != c || a->keymap.v[i].argument)
			continue;
		if (out->n)
			buf_addc(out, ' ');
		key_name(a->keymap.v[i].key, out);
	}
}

static void draw_columns(struct grid *g, struct rect row, struct str keys, const char *name,
			 const char *help)
{
	grid_text(g, rect_in(row, 0, 2, 1, 17), ROLE_KEY, raw_of(keys), TEXT_LABEL);
	grid_put(g, rect_in(row, 0, 20, 1, 17), ROLE_ID, name);
	grid_put(g, rect_in(row, 0, 38, 1, row.cols - 38), ROLE_NORMAL, help);
}

static void help_draw(const struct scene *s, const struct lines *lines, uint32_t i, struct grid *g,
		      struct rect row)
{
	const struct line *line = &lines->list.v[i];
	const struct binding *b;
	struct buf keys = { 0 };

	switch ((enum what)line->what) {
	case ROW_BLANK:
		break;
	case ROW_SECTION:
		grid_put(g, rect_in(row, 0, 1, 1, row.cols - 1), ROLE_HEADER,
			 app_commands[line->a].section);
		break;
	case ROW_COMMAND:
		keys_text(s->app, &app_commands[line->a], &keys);
		draw_columns(g, row, buf_str(&keys), app_commands[line->a].name,
			     app_commands[line->a].help);
		break;
	case ROW_OWN:
		b = &s->app->keymap.v[line->a];
		key_name(b->key, &keys);
		draw_columns(g, row, buf_str(&keys), b->command->name, b->argument);
		break;
	}
	buf_release(&keys);
}

const struct view_ops view_help = {
	.name = "help",
	.make = help_make,
	.draw = help_draw,
};
