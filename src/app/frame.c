/* Draws the whole screen: title line, tab line (tabs.c), list and preview or an open screen, replay bar,
 * review strip, status line (status.c), and the message line or prompt. */
#include "app/app.h"
#include "view/view_parts.h"

#include <stdio.h>

enum {
	TITLE_LEAST_COLS = 22,   /* of the title line, for the names of the sources */
	TITLE_WORDS_COLS = 80,   /* below this, loops that do not converge are only counted; in a
				  * narrowed view, what is invalid too */
	NARROWED_MOST_COLS = 24, /* likewise, for what the views are narrowed to */
	NOTICE_MOST_ROWS = 5,
	FILTER_LEAST_COLS = 9,   /* behind the tabs; with less it is shown on the message line */
};

/* Views whose selected line has a preview: the width of the list in which its words have 60 columns. */
static const int words_cols[TAB_COUNT] = {
	[TAB_INBOX] = 114, [TAB_LEDGER] = 114, [TAB_MESSAGES] = 117, [TAB_DECISIONS] = 168,
};

int app_words_cols(const struct app *a)
{
	return words_cols[a->tab];
}

static void add_count(struct buf *out, const char *sign, uint32_t n, const char *word)
{
	if (n)
		buf_printf(out, "  %s%u%s%s", sign, n, *word ? " " : "", word);
}

static int label_width(const struct grid *g, const struct buf *label)
{
	return (int)cells_width(raw_of(buf_str(label)), TEXT_LABEL, g->ascii, 512);
}

/* The counts at the right of the title line, without the number of messages if space is short for
 * the sources and what they are narrowed to. */
static void count_title(const struct app *a, const struct grid *g, int narrowed, struct buf *out)
{
	bool sending = a->deciding.delivery; /* letters in flight do not count as held */
	bool terse = narrowed && a->cols < TITLE_WORDS_COLS;
	uint32_t held = 0;
	char messages[32];

	for (uint32_t i = 0; a->scene.desks && i < a->scene.desks->list.n; i++)
		held += sending ? 0 : desk_unfinished(&a->scene.desks->list.v[i]);
	/* what is narrowed is not counted anew */
	buf_printf(out, "%u open%s", a->open,
		   narrowed && a->cols - narrowed >= TITLE_WORDS_COLS ? " in all" : "");
	add_count(out, "!", a->due, "due");
	add_count(out, "", decide_staged(a), "staged");
	add_count(out, "", a->scene.returned_n, "to send");
	add_count(out, "", held, "held");
	if (sending)
		buf_adds(out, "  sending");
	if (!a->playback.model && decide_is_read_only(a))
		buf_adds(out, "  read-only");
	add_count(out, "⚠", a->diverging,
		  terse					   ? ""
		  : a->cols - narrowed >= TITLE_WORDS_COLS ? "not converging"
		  : a->diverging == 1			   ? "loop"
							   : "loops");
	add_count(out, "✗", a->errors, terse ? "" : "invalid");
	snprintf(messages, sizeof(messages), "  %u message%s", a->scene.k,
		 plural_s(a->scene.k));
	if (label_width(g, out) + (int)strlen(messages) + TITLE_LEAST_COLS + narrowed < a->cols)
		buf_adds(out, messages);
	buf_addc(out, ' ');
}

/* The sources; where several do not fit, their file names. */
static void put_sources(struct pen *p, struct str sources)
{
	struct buf names = { 0 };
	struct str rest = sources;

	if (str_find(sources, STR(" "), 0) < 0 ||
	    (int)cells_width(raw_of(sources), TEXT_ID, true, 512) <= p->rest.cols) {
		pen_short(p, ROLE_TITLE, sources);
		return;
	}
	while (rest.n) {
		struct str one = str_cut(&rest, STR(" "));
		ptrdiff_t slash;

		while (one.n > 1 && one.p[one.n - 1] == '/')
			one.n--;
		while (one.n > 1 && (slash = str_find(one, STR("/"), 0)) >= 0)
			one = str_from(one, (size_t)slash + 1);
		buf_printf(&names, "%s%.*s", names.n ? " " : "", STR_ARG(one));
	}
	pen_short(p, ROLE_TITLE, buf_str(&names));
	buf_release(&names);
}

/* What the views are narrowed to, behind the sources: " › task PK-2". */
static int narrowed_cols(const struct app *a)
{
	struct buf words = { 0 };
	int cols;

	app_narrowed_words(a, &words);
	cols = (int)cells_width(raw_of(buf_str(&words)), TEXT_ID, true, NARROWED_MOST_COLS);
	buf_release(&words);
	return cols ? cols + 3 : 0;
}

static void draw_narrowed(const struct app *a, struct pen p)
{
	struct buf words = { 0 };
	struct str name, kind;

	app_narrowed_words(a, &words);
	name = buf_str(&words);
	kind = str_first_word(&name);
	if (words.n)
		pen_printf(&p, ROLE_TITLE, " › %.*s ", STR_ARG(kind));
	pen_path(&p, ROLE_TITLE, name);
	buf_release(&words);
}

static void draw_title(struct app *a, struct grid *g)
{
	static const char *const modes[] = {
		[LIVE_NOT] = "", [LIVE_PAUSED] = "  paused", [LIVE_BEHIND] = "  behind",
	};
	static const char *const growths[] = {
		[GROWTH_AWAITED] = "  followed", [GROWTH_LIVE] = "  live", [GROWTH_ENDED] = "  ended",
	};
	struct rect row = rect_in(grid_rect(g), 0, 0, 1, a->cols);
	const char *mode = a->scene.reading	  ? "  reading"
			   : a->playback.model	  ? "  replay"
			   : a->live == LIVE_ON ? growths[a->growth]
						  : modes[a->live];
	struct pen p = { g, row };
	struct buf counts = { 0 };
	int narrowed = narrowed_cols(a), room;

	grid_fill(g, row, ROLE_TITLE, " ");
	count_title(a, g, narrowed, &counts);
	put_right(g, row, ROLE_TITLE, counts.p);
	/* the sources may be clipped, the mode and what is shown of them may not */
	room = row.cols - label_width(g, &counts) - 2 - (int)strlen(mode);
	narrowed = narrowed < room ? narrowed : room > 0 ? room : 0;
	p.rest.cols = room - narrowed;
	pen_put(&p, ROLE_TITLE, " gavel  ");
	put_sources(&p, a->title);
	draw_narrowed(a, (struct pen){ g, { p.rest.row, p.rest.col, 1, narrowed } });
	p.rest.cols += narrowed;
	pen_skip(&p, narrowed);
	p.rest.cols += (int)strlen(mode);
	pen_put(&p, ROLE_TITLE, mode);
	buf_release(&counts);
}

/* The number of columns behind the tabs, from *at on. */
static int filter_room(const struct app *a, int *at)
{
	*at = app_tabs_end(a) + 1;
	return a->cols - *at;
}

static void draw_filter(const struct app *a, struct grid *g, struct rect row)
{
	struct pen p = { g, row };

	pen_put(&p, ROLE_KEY, "\\");
	pen_text(&p, ROLE_MATCH, buf_str(&a->filter_text));
}

static void draw_tabs(struct app *a, struct grid *g)
{
	struct rect line = rect_in(grid_rect(g), 1, 0, 1, a->cols);
	int at;

	app_draw_tabs(a, g, line);
	if (a->filter_text.n && filter_room(a, &at) >= FILTER_LEAST_COLS)
		draw_filter(a, g, rect_in(line, 0, at, 1, a->cols - at));
}

/* The state of the review's turn, below a border. */
static void draw_strip(const struct app *a, struct grid *g, struct rect row)
{
	grid_fill(g, row, ROLE_BORDER, "─");
	grid_text(g, rect_in(row, 0, 1, 1, row.cols - 2), a->strip_role, raw_of(buf_str(&a->strip)),
		  TEXT_LINE);
}

/* The message line; a long message grows upwards over the lines above. */
static void draw_notice(struct grid *g, struct rect row, enum role role, struct str text)
{
	int rows = grid_prose_rows(g, row.cols - 2, raw_of(text), TEXT_LINE, NOTICE_MOST_ROWS);
	struct rect where = { row.row - rows + 1, row.col, rows, row.cols };

	grid_fill(g, where, ROLE_NORMAL, " ");
	grid_prose(g, rect_in(where, 0, 1, rows, row.cols - 2), role, raw_of(text), TEXT_LINE, 0);
}

static void draw_unanswerable(const struct app *a, struct grid *g, struct rect row)
{
	struct buf text = { 0 };

	keymap_text(&a->keymap, "nothing says where replies go yet; {reply} PATH does (or --reply)",
		    &text);
	draw_notice(g, row, ROLE_WARN, buf_str(&text));
	buf_release(&text);
}

static void draw_message_line(struct app *a, struct grid *g, struct rect row, int *cursor_col)
{
	int at;

	if (a->prompt.kind != PROMPT_NONE)
		*cursor_col = prompt_draw(&a->prompt, g, row);
	else if (a->notice.n)
		draw_notice(g, row, a->notice_role, buf_str(&a->notice));
	else if (a->banner.n)
		draw_notice(g, row, ROLE_WARN, buf_str(&a->banner));
	else if (decide_is_unanswerable(a))
		draw_unanswerable(a, g, row);
	else if (a->filter_text.n && filter_room(a, &at) < FILTER_LEAST_COLS)
		draw_filter(a, g, rect_in(row, 0, 1, 1, row.cols - 2));
}

/* A list that was made and has no lines. */
static bool list_is_empty(struct app *a)
{
	const struct pane *p = app_list(a);

	return p->lines.cols && !p->lines.list.n;
}

/* Layout: splits the body between list and preview. */
static void lay_out(struct app *a, struct rect body)
{
	a->list_rect = body;
	a->preview_rect = (struct rect){ 0 };
	if (!words_cols[a->tab] || body.rows < SPLIT_ROWS || list_is_empty(a))
		return;
	if (a->maximised && a->preview_focused) {
		a->preview_rect = body;
		a->list_rect = rect_in(body, 0, 0, 0, body.cols);
	} else if (!a->maximised) {
		split_body(&a->split, body, words_cols[a->tab], &a->list_rect, &a->preview_rect);
	}
}

/* Lays out the body and makes what is stale. Only then is it known whether the list is empty. */
static void refresh(struct app *a, struct rect body)
{
	bool empty = list_is_empty(a);

	lay_out(a, body);
	app_refresh(a);
	if (list_is_empty(a) == empty)
		return;
	lay_out(a, body);
	app_refresh(a);
}

static void draw_border(const struct app *a, struct grid *g, struct rect body)
{
	enum role role = a->preview_focused ? ROLE_ACCENT : ROLE_BORDER;

	if (a->preview_rect.rows <= 0 || a->list_rect.rows <= 0)
		return;
	if (a->preview_rect.col > body.col)
		grid_fill(g, rect_in(body, 0, a->preview_rect.col - 1, body.rows, 1), role, "│");
	else
		grid_fill(g, rect_in(body, a->preview_rect.row - 1 - body.row, 0, 1, body.cols),
			  role, "─");
}

static void draw_views(struct app *a, struct grid *g, struct rect body)
{
	struct scene scene;

	refresh(a, body);
	if (a->select_last && a->tab == TAB_MESSAGES && app_is_settled(a) &&
	    !app_list(a)->lines.sort.column) {
		pane_select(app_list(a), UINT32_MAX);
		a->select_last = false;
		app_refresh(a);
	}
	if (a->list_rect.rows > 0)
		pane_draw(app_list(a), &a->scene, g, a->list_rect, !a->preview_focused,
			  a->preview_focused ? STR_NONE : buf_str(&a->word));
	draw_border(a, g, body);
	if (a->preview_rect.rows <= 0 || !a->preview.view || a->previewed.type == TARGET_NONE)
		return;
	scene = a->scene; /* with what app_refresh has computed */
	scene.item = scene.message = a->previewed.number;
	pane_draw(&a->preview, &scene, g, a->preview_rect, a->preview_focused,
		  buf_str(&a->word));
	if (a->previewed.type == TARGET_ITEM)
		decide_note_read(a, a->previewed.number, &a->preview);
}

static void draw_screen(struct app *a, struct grid *g, struct rect body)
{
	struct screen *s = app_screen(a);
	struct scene scene;

	a->screen_rect = body;
	refresh(a, body);
	scene = app_scene_of(a, s);
	pane_draw(&s->pane, &scene, g, body, true, buf_str(&a->word));
	if (s->pane.view == &view_preflight)
		preflight_note_seen(a, &s->pane);
	if (s->pane.view == &view_item && !s->k)
		decide_note_read(a, s->item, &s->pane);
}

void app_draw(struct app *a, struct grid *g, int *cursor_row, int *cursor_col)
{
	struct rect all = grid_rect(g), body;
	int bar, strip;

	app_resize(a, g->rows, g->cols);
	*cursor_row = *cursor_col = -1;
	grid_clear(g);
	if (a->cols < SMALLEST_COLS || a->rows < SMALLEST_ROWS) {
		grid_printf(g, all, ROLE_NORMAL, "gavel needs %dx%d; this is %dx%d", SMALLEST_COLS,
			    SMALLEST_ROWS, a->cols, a->rows);
		return;
	}
	draw_tabs(a, g);
	bar = replay_bar_rows(a);
	strip = a->strip.n ? 1 : 0;
	body = rect_in(all, 2, 0, a->rows - 4 - bar - strip, a->cols);
	if (bar)
		replay_draw(a, g, rect_in(all, a->rows - 2 - bar, 0, bar, a->cols));
	if (a->screen_count)
		draw_screen(a, g, body);
	else
		draw_views(a, g, body);
	draw_title(a, g); /* after the list, with which loops are counted */
	if (a->strip.n)
		draw_strip(a, g, rect_in(all, a->rows - 3, 0, 1, a->cols));
	app_draw_status(a, g, rect_in(all, a->rows - 2, 0, 1, a->cols));
	draw_message_line(a, g, rect_in(all, a->rows - 1, 0, 1, a->cols), cursor_col);
	if (*cursor_col >= 0)
		*cursor_row = a->rows - 1;
}
