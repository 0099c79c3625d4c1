/* The tab line: a label for each list view, brackets round the current one.
 *
 * Labels have a blank on both sides; where the line is too short, neighbours share it. If that is not
 * enough, the sessions' label is left out, and then words give way to the number alone, from the right.
 * The label of the current view stays. */
#include "app/app.h"
#include "view/view_parts.h"

static const char *const labels[TAB_COUNT] = {
	[TAB_SESSIONS] = "{sessions} Sessions", [TAB_INBOX] = "{inbox} Inbox",
	[TAB_TIMELINE] = "{timeline} Timeline", [TAB_LEDGER] = "{ledger} Ledger",
	[TAB_MESSAGES] = "{messages} Messages", [TAB_AGENTS] = "{agents} Agents",
	[TAB_DECISIONS] = "{decisions} Decisions",
};

struct tab_line {
	struct buf text[TAB_COUNT]; /* labels as they are drawn */
	int at[TAB_COUNT];          /* column of the opening bracket */
	int cols[TAB_COUNT];        /* with both brackets */
	bool close;                 /* neighbours share a blank */
	bool shifted;               /* the blank before the first label is off the screen */
	int end;                    /* column behind the last bracket */
};

/* "1 Inbox", or "Inbox" if no key is bound to the view. */
static void set_label(const struct app *a, struct tab_line *line, int i)
{
	struct buf all = { 0 };
	struct str text;
	ptrdiff_t blank;

	keymap_text(&a->keymap, labels[i], &all);
	text = buf_str(&all);
	blank = str_find(text, STR(" "), 0);
	if (all.p[0] == ':' && blank > 1)
		text = str_from(text, (size_t)blank + 1);
	buf_add_str(&line->text[i], text);
	buf_release(&all);
}

static void place_labels(const struct app *a, struct tab_line *line)
{
	int at = !line->close - line->shifted;

	for (int i = 0; i < TAB_COUNT; i++) {
		line->at[i] = at;
		if (!line->text[i].n)
			continue; /* left out */
		line->cols[i] = 2 + (int)cells_width(raw_of(buf_str(&line->text[i])), TEXT_LABEL,
						     a->scene.ascii, 512);
		at += line->cols[i] - line->close;
	}
	line->end = at + line->close;
}

/* Leaves the key alone, where there is one. */
static void drop_word(const struct app *a, struct tab_line *line, int i)
{
	ptrdiff_t blank = str_find(buf_str(&line->text[i]), STR(" "), 0);

	if (blank > 0) {
		line->text[i].n = (size_t)blank;
		line->text[i].p[blank] = '\0';
	}
	place_labels(a, line);
}

static void leave_out(const struct app *a, struct tab_line *line, int i)
{
	buf_clear(&line->text[i]);
	line->cols[i] = 0;
	place_labels(a, line);
}

static void tab_line_make(const struct app *a, struct tab_line *line)
{
	*line = (struct tab_line){ .close = false };
	for (int i = 0; i < TAB_COUNT; i++)
		set_label(a, line, i);
	place_labels(a, line);
	if (line->end > a->cols) {
		line->close = true;
		place_labels(a, line);
	}
	/* the last label may lose its closing bracket */
	if (line->end > a->cols + 1 && a->tab != TAB_SESSIONS)
		leave_out(a, line, TAB_SESSIONS);
	for (int i = TAB_COUNT; i-- > 0 && line->end > a->cols + 1;)
		if (i != (int)a->tab)
			drop_word(a, line, i);
	/* the current label keeps both brackets */
	if (line->end > a->cols && a->tab == TAB_COUNT - 1) {
		line->shifted = true;
		place_labels(a, line);
	}
}

static void tab_line_release(struct tab_line *line)
{
	for (int i = 0; i < TAB_COUNT; i++)
		buf_release(&line->text[i]);
}

int app_tab_at(const struct app *a, int col)
{
	struct tab_line line;
	int found = -1;

	tab_line_make(a, &line);
	for (int i = 0; i < TAB_COUNT && found < 0; i++)
		if (col >= line.at[i] && col < line.at[i] + line.cols[i])
			found = i;
	tab_line_release(&line);
	return found;
}

int app_tabs_end(const struct app *a)
{
	struct tab_line line;

	tab_line_make(a, &line);
	tab_line_release(&line);
	return line.end;
}

static void draw_label(const struct app *a, const struct tab_line *line, int i, struct grid *g,
		       struct rect where)
{
	bool current = i == (int)a->tab;

	if (!line->text[i].n)
		return;
	grid_printf(g, rect_in(where, 0, line->at[i], 1, line->cols[i]),
		    current ? ROLE_ACCENT : ROLE_DIM, "%s%.*s%s",
		    current ? "[" : line->at[i] < 0 ? "" : " ",
		    STR_ARG(buf_str(&line->text[i])),
		    line->at[i] + line->cols[i] > a->cols ? "" : current ? "]" : " ");
}

void app_draw_tabs(const struct app *a, struct grid *g, struct rect where)
{
	struct tab_line line;

	tab_line_make(a, &line);
	for (int i = 0; i < TAB_COUNT; i++)
		draw_label(a, &line, i, g, where);
	draw_label(a, &line, (int)a->tab, g, where); /* over the blanks of its neighbours */
	tab_line_release(&line);
}
