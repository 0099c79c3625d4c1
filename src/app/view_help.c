/* The help screen: the keys of the page below it, in columns; what the page's glyphs and column
 * heads mean; then every command that is available there, with its name and all of its help, and
 * the keys the user has bound to whole command lines. */
#include "app/app.h"
#include "view/view_parts.h"

enum {
	NAMES_COLS = 76, /* below this, only commands without a key show their name */
	CELL_COLS = 36,  /* of a key with its help, at least */
	CELL_KEYS = 9,
	GROUPS_MAX = 16, /* sections of commands */
};

enum what {
	ROW_BLANK,
	ROW_HEAD,    /* b: enum head */
	ROW_SECTION, /* a: a command of it */
	ROW_CELLS,   /* a: group, b: its row */
	ROW_LEGEND,  /* a: which, b: row of its text */
	ROW_COMMAND, /* a: which, b: row of its text */
	ROW_OWN,     /* a: binding */
};

enum head { HEAD_LEGEND, HEAD_COMMANDS };

static const char *const heads[] = {
	[HEAD_LEGEND] = "on this page",
	[HEAD_COMMANDS] = "all commands",
};

/* Commands of one section that have a key. */
struct key_group {
	uint32_t first, n, rows;
};

struct help_own {
	const struct legend *legend;
	unsigned legend_n;
	unsigned where; /* the context that the page is about */
	uint32_t columns;
	struct key_group groups[GROUPS_MAX];
	uint32_t group_count;
	uint32_t cells[]; /* commands, group by group */
};

static int help_col(int cols)
{
	return cols < NAMES_COLS ? 20 : 38;
}

/* Of a legend: its heads are short. */
static int legend_col(int cols)
{
	return cols < NAMES_COLS ? 20 : 22;
}

static int prose_rows(struct grid *g, int cols, struct str text)
{
	int rows = grid_prose_rows(g, cols, raw_of(text), TEXT_LABEL, 8);

	return rows > 1 ? rows : 1;
}

/* Whether a binding is one of the command's, and its key means that here: a replay has its own
 * meanings of some keys. */
static bool is_key_of(const struct app *a, const struct binding *b, const struct app_command *c,
		      unsigned where)
{
	return b->command == c && !b->argument && keymap_find(&a->keymap, b->key, where) == b;
}

static bool has_key(const struct app *a, const struct app_command *c, unsigned where)
{
	for (uint32_t i = 0; i < a->keymap.list.n; i++)
		if (is_key_of(a, &a->keymap.list.v[i], c, where))
			return true;
	return false;
}

/* The commands in the order of the page: those of a replay come first there. */
static unsigned nth_command(unsigned i, unsigned where)
{
	unsigned first = 0, n = 0;

	if (!(where & IN_REPLAY))
		return i;
	while (first < app_command_count && strcmp(app_commands[first].section, "replay") != 0)
		first++;
	while (first + n < app_command_count &&
	       strcmp(app_commands[first + n].section, "replay") == 0)
		n++;
	return i < n ? first + i : i < first + n ? i - n : i;
}

/* The view that the help is about: the one below it. */
static const struct view_ops *view_below(const struct scene *s)
{
	const struct app *a = s->app;

	return a->screen_count > 1 ? a->screens[a->screen_count - 2].pane.view
				   : a->lists[a->tab].view;
}

static bool is_new_section(const struct app_command *c, const char **section)
{
	bool new = !*section || strcmp(c->section, *section) != 0;

	*section = c->section;
	return new;
}

/* Groups the commands with a key by section. */
static void group_cells(const struct scene *s, unsigned where, struct help_own *own)
{
	const char *section = NULL;
	uint32_t n = 0;

	for (unsigned nth = 0; nth < app_command_count; nth++) {
		unsigned i = nth_command(nth, where);

		if (!(app_commands[i].where & where) || !has_key(s->app, &app_commands[i], where))
			continue;
		if (is_new_section(&app_commands[i], &section) && own->group_count < GROUPS_MAX)
			own->groups[own->group_count++] = (struct key_group){ .first = n };
		own->cells[n++] = i;
		own->groups[own->group_count - 1].n++;
	}
}

static void add_cells(struct help_own *own, struct lines *out)
{
	for (uint32_t i = 0; i < own->group_count; i++) {
		struct key_group *group = &own->groups[i];

		group->rows = (group->n + own->columns - 1) / own->columns;
		line_add(out, ROW_SECTION, own->cells[group->first], 0);
		for (uint32_t row = 0; row < group->rows; row++)
			line_add(out, ROW_CELLS, i, row);
	}
}

static void add_legend(const struct help_own *own, struct grid *g, int cols, struct lines *out)
{
	int room = cols - legend_col(cols);

	line_add(out, ROW_BLANK, 0, 0);
	line_add(out, ROW_HEAD, 0, HEAD_LEGEND);
	for (uint32_t i = 0; i < own->legend_n; i++) {
		struct buf text = { 0 };

		legend_text(&own->legend[i], &text);
		for (int row = 0; row < prose_rows(g, room, buf_str(&text)); row++)
			line_add(out, ROW_LEGEND, i, (uint32_t)row);
		buf_release(&text);
	}
}

static void add_commands(const struct scene *s, unsigned where, struct grid *g, int cols,
			 struct lines *out)
{
	const char *section = NULL;
	int room = cols - help_col(cols);

	line_add(out, ROW_BLANK, 0, 0);
	line_add(out, ROW_HEAD, 0, HEAD_COMMANDS);
	for (unsigned nth = 0; nth < app_command_count; nth++) {
		unsigned i = nth_command(nth, where);
		struct buf text = { 0 };

		if (!(app_commands[i].where & where))
			continue;
		if (is_new_section(&app_commands[i], &section)) {
			line_add(out, ROW_BLANK, i, 0);
			line_add(out, ROW_SECTION, i, 0);
		}
		keymap_text(s->keymap, app_commands[i].help, &text);
		for (int row = 0; row < prose_rows(g, room, buf_str(&text)); row++)
			line_add(out, ROW_COMMAND, i, (uint32_t)row);
		buf_release(&text);
	}
}

static void help_make(const struct scene *s, int cols, struct lines *out)
{
	struct grid *g = grid_new(1, cols > 0 ? cols : 1, s->ascii);
	struct help_own *own = arena_alloc(&out->arena, sizeof(*own) + app_command_count *
									   sizeof(own->cells[0]));
	/* the context before the help was opened */
	unsigned where = app_where(s->app, s->app->screen_count - 1);
	bool blank = false;

	memset(own, 0, sizeof(*own));
	own->where = where;
	out->cols = cols;
	out->own = own;
	own->columns = cols > 2 * CELL_COLS ? (uint32_t)(cols / CELL_COLS) : 1;
	own->legend = view_legend(view_below(s), &own->legend_n);
	group_cells(s, where, own);
	add_cells(own, out);
	add_legend(own, g, cols, out);
	add_commands(s, where, g, cols, out);
	for (uint32_t i = 0; i < s->app->keymap.list.n; i++) {
		if (!s->app->keymap.list.v[i].argument)
			continue;
		if (!blank)
			line_add(out, ROW_BLANK, i, 1);
		blank = true;
		line_add(out, ROW_OWN, i, 0);
	}
	grid_free(g);
}

/* "j <Down>" */
static void keys_text(const struct app *a, const struct app_command *c, unsigned where,
		      struct buf *out)
{
	for (uint32_t i = 0; i < a->keymap.list.n; i++) {
		if (!is_key_of(a, &a->keymap.list.v[i], c, where))
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

static void draw_legend(struct grid *g, struct rect row, const struct legend *l, uint32_t b)
{
	int at = legend_col(row.cols), from = at > 20 ? 2 : 1;
	struct buf text = { 0 };

	legend_text(l, &text);
	if (!b)
		grid_put(g, rect_in(row, 0, from, 1, at - from - 1), ROLE_KEY, l->head);
	grid_prose(g, rect_in(row, 0, at, 1, row.cols - at), ROLE_NORMAL, raw_of(buf_str(&text)),
		   TEXT_LABEL, (int)b);
	buf_release(&text);
}

/* One row of a group: its commands run down the columns. */
static void draw_cells(const struct scene *s, const struct help_own *own,
		       const struct key_group *group, uint32_t row, struct grid *g,
		       struct rect where)
{
	int width = where.cols / (int)own->columns;

	for (uint32_t c = 0; row + c * group->rows < group->n; c++) {
		const struct app_command *command =
			&app_commands[own->cells[group->first + row + c * group->rows]];
		struct rect cell = rect_in(where, 0, (int)c * width, 1, width - 1);
		struct buf keys = { 0 }, help = { 0 };
		int used;

		keys_text(s->app, command, own->where, &keys);
		keymap_text(s->keymap, command->help, &help);
		used = grid_text(g, rect_in(cell, 0, 2, 1, cell.cols - 2), ROLE_KEY,
				 raw_of(buf_str(&keys)), TEXT_LABEL) + 1;
		if (used < CELL_KEYS)
			used = CELL_KEYS;
		grid_text(g, rect_in(cell, 0, 2 + used, 1, cell.cols - 2 - used), ROLE_NORMAL,
			  raw_of(buf_str(&help)), TEXT_LABEL);
		buf_release(&keys);
		buf_release(&help);
	}
}

static void help_draw(const struct scene *s, const struct lines *lines, uint32_t i, struct grid *g,
		      struct rect row)
{
	const struct line *line = &lines->list.v[i];
	const struct help_own *own = lines->own;
	const struct binding *b;
	struct buf keys = { 0 }, help = { 0 };

	switch ((enum what)line->what) {
	case ROW_BLANK:
		break;
	case ROW_HEAD:
		grid_put(g, rect_in(row, 0, 1, 1, row.cols - 1), ROLE_HEADER, heads[line->b]);
		break;
	case ROW_SECTION:
		grid_put(g, rect_in(row, 0, 1, 1, row.cols - 1), ROLE_HEADER,
			 app_commands[line->a].section);
		break;
	case ROW_CELLS:
		draw_cells(s, own, &own->groups[line->a], line->b, g, row);
		break;
	case ROW_LEGEND:
		draw_legend(g, row, &own->legend[line->a], line->b);
		break;
	case ROW_COMMAND:
		keys_text(s->app, &app_commands[line->a], own->where, &keys);
		keymap_text(s->keymap, app_commands[line->a].help, &help);
		draw_columns(g, row, buf_str(&keys), app_commands[line->a].name, buf_str(&help),
			     line->b);
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
