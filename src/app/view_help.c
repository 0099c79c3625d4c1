/* The help screen: the commands available in the current context with the keys bound to them now,
 * the keys the user has bound to whole command lines, then the glyphs of origins. */
#include "app/app.h"
#include "view/view_parts.h"

enum { NAMES_COLS = 76 }; /* below this, only commands without a key show their name */
enum what { ROW_BLANK, ROW_SECTION, ROW_COMMAND, ROW_OWN, ROW_GLYPHS, ROW_GLYPH };

static const struct {
	const struct mark *mark;
	const char *help;
} glyphs[] = {
	{ &trust_marks[TRUST_LOG], "said in a log, FIFO or pipe; decides what others raised" },
	{ &trust_marks[TRUST_AGENT],
	  "one agent's own output; raises and reports, but decides nothing" },
	{ &trust_marks[TRUST_REPLY], "from a reply file: a person who can write there" },
	{ &trust_marks[TRUST_JOURNAL], "decided here" },
	{ &claim_marks[CLAIM_ROLE], "says what its origin or sender may not; no effect on items" },
	{ &claim_marks[CLAIM_HUMAN],
	  "calls itself a person, but not in a reply file or journal" },
};

enum { GLYPH_COUNT = sizeof(glyphs) / sizeof(glyphs[0]) };

static int help_col(int cols)
{
	return cols < NAMES_COLS ? 20 : 38;
}

static int help_rows(const struct scene *s, struct grid *g, int cols, const char *help)
{
	struct buf text = { 0 };
	int rows;

	keymap_text(s->keymap, help, &text);
	rows = grid_prose_rows(g, cols - help_col(cols), raw_of(buf_str(&text)), TEXT_LABEL, 8);
	buf_release(&text);
	return rows > 1 ? rows : 1;
}

static void help_make(const struct scene *s, int cols, struct lines *out)
{
	struct grid *g = grid_new(1, cols > 0 ? cols : 1, s->ascii);
	/* the context before the help was opened */
	unsigned where = app_where(s->app, s->app->screen_count - 1);
	const char *section = NULL;
	bool own = false;

	out->cols = cols;
	for (unsigned i = 0; i < app_command_count; i++) {
		if (!(app_commands[i].where & where))
			continue;
		if (!section || strcmp(app_commands[i].section, section) != 0) {
			if (section)
				line_add(out, ROW_BLANK, i, 0);
			line_add(out, ROW_SECTION, i, 0);
		}
		section = app_commands[i].section;
		for (int row = 0; row < help_rows(s, g, cols, app_commands[i].help); row++)
			line_add(out, ROW_COMMAND, i, (uint32_t)row);
	}
	for (uint32_t i = 0; i < s->app->keymap.list.n; i++) {
		if (!s->app->keymap.list.v[i].argument)
			continue;
		if (!own)
			line_add(out, ROW_BLANK, i, 1);
		own = true;
		line_add(out, ROW_OWN, i, 0);
	}
	line_add(out, ROW_BLANK, 0, 0);
	line_add(out, ROW_GLYPHS, 0, 0);
	for (uint32_t i = 0; i < GLYPH_COUNT; i++)
		for (int row = 0; row < help_rows(s, g, cols, glyphs[i].help); row++)
			line_add(out, ROW_GLYPH, i, (uint32_t)row);
	grid_free(g);
}

/* "j <Down>" */
static void keys_text(const struct app *a, const struct app_command *c, struct buf *out)
{
	for (uint32_t i = 0; i < a->keymap.list.n; i++) {
		if (a->keymap.list.v[i].command != c || a->keymap.list.v[i].argument)
			continue;
		if (out->n)
			buf_addc(out, ' ');
		key_name(a->keymap.list.v[i].key, out);
	}
}

/* b: the row of the wrapped help text. */
static void draw_columns(struct grid *g, struct rect row, struct str keys, const char *name,
			 struct str help, uint32_t b)
{
	int at = help_col(row.cols);

	if (!b && (keys.n || at > 20))
		grid_text(g, rect_in(row, 0, 2, 1, 17), ROLE_KEY, raw_of(keys), TEXT_LABEL);
	else if (!b)
		grid_printf(g, rect_in(row, 0, 2, 1, 17), ROLE_ID, ":%s", name);
	if (!b && at > 20)
		grid_put(g, rect_in(row, 0, 20, 1, 17), ROLE_ID, name);
	grid_prose(g, rect_in(row, 0, at, 1, row.cols - at), ROLE_NORMAL, raw_of(help),
		   TEXT_LABEL, (int)b);
}

static void draw_glyph(struct grid *g, struct rect row, const struct line *line)
{
	const struct mark *mark = glyphs[line->a].mark;
	int at = help_col(row.cols), from = at > 20 ? 2 : 1;

	if (!line->b)
		grid_printf(g, rect_in(row, 0, from, 1, at - from - 1), ROLE_KEY, "%s %s",
			    mark->glyph, mark->word);
	grid_prose(g, rect_in(row, 0, at, 1, row.cols - at), ROLE_NORMAL,
		   raw_of(str_of(glyphs[line->a].help)), TEXT_LABEL, (int)line->b);
}

static void help_draw(const struct scene *s, const struct lines *lines, uint32_t i, struct grid *g,
		      struct rect row)
{
	const struct line *line = &lines->list.v[i];
	const struct binding *b;
	struct buf keys = { 0 }, help = { 0 };

	switch ((enum what)line->what) {
	case ROW_BLANK:
		break;
	case ROW_SECTION:
		grid_put(g, rect_in(row, 0, 1, 1, row.cols - 1), ROLE_HEADER,
			 app_commands[line->a].section);
		break;
	case ROW_COMMAND:
		keys_text(s->app, &app_commands[line->a], &keys);
		keymap_text(s->keymap, app_commands[line->a].help, &help);
		draw_columns(g, row, buf_str(&keys), app_commands[line->a].name, buf_str(&help),
			     line->b);
		break;
	case ROW_GLYPHS:
		grid_put(g, rect_in(row, 0, 1, 1, row.cols - 1), ROLE_HEADER, "origin");
		break;
	case ROW_GLYPH:
		draw_glyph(g, row, line);
		break;
	case ROW_OWN:
		b = &s->app->keymap.list.v[line->a];
		key_name(b->key, &keys);
		draw_columns(g, row, buf_str(&keys), b->command->name, str_of(b->argument), 0);
		break;
	}
	buf_release(&keys);
	buf_release(&help);
}

const struct view_ops view_help = {
	.name = "help",
	.make = help_make,
	.draw = help_draw,
};
