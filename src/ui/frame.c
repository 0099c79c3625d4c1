/* The frame: title, tabs, the view with its preview, the keys that matter, the message line. */
#include "ui/app.h"
#include "ui/view_parts.h"

#include <stdio.h>

enum {
	PREVIEW_LEAST_ROWS = 14, /* body rows below which the list has them all */
	TITLE_LEAST_COLS = 30,   /* of the title for the sources and the number of messages */
};

static const struct {
	const char *label;
	const char *keys; /* that matter in this view */
	bool preview;
} tabs[TAB_COUNT] = {
	[TAB_INBOX] = { "Inbox", "Enter open  J K open item", true },
	[TAB_TIMELINE] = { "Timeline", "h l marks  Enter open  + - zoom  ← → pan", false },
	[TAB_LEDGER] = { "Ledger", "Enter open  d diff  J K open item", true },
	[TAB_MESSAGES] = { "Messages", "Enter open  ! ~ problem  o ^O correlation  r raw", true },
	[TAB_AGENTS] = { "Agents", "Enter last message", false },
	[TAB_DECISIONS] = { "Decisions", "Enter open  u undo or give up  $ deliver  :resend", true },
};

/* Where tab i's label starts, and how long it is; labels are cut where the line is short. */
static int tab_col(const struct app *a, int i, int *cols)
{
	int at = 1, room = (a->cols - 2) / TAB_COUNT;

	for (int t = 0;; t++) {
		int want = (int)strlen(tabs[t].label) + 4;

		*cols = want < room ? want : room;
		if (t == i)
			return at;
		at += *cols;
	}
}

int app_tab_at(const struct app *a, int col)
{
	for (int i = 0; i < TAB_COUNT; i++) {
		int cols, at = tab_col(a, i, &cols);

		if (col >= at && col < at + cols)
			return i;
	}
	return -1;
}

static void add_count(struct buf *out, const char *sign, uint32_t n, const char *word)
{
	if (n)
		buf_printf(out, "  %s%u %s", sign, n, word);
}

/* What there is to do and what is wrong; how much there is goes first where there is no room. */
static void count_title(const struct app *a, struct buf *out)
{
	bool sending = a->deciding.sending; /* what is on its way is not held yet */
	uint32_t staged = 0, held = 0;

	for (uint32_t i = 0; a->scene.desks && i < a->scene.desks->list.n; i++) {
		staged += desk_staged(&a->scene.desks->list.v[i]);
		held += sending ? 0 : desk_unfinished(&a->scene.desks->list.v[i]);
	}
	buf_printf(out, "%u open", a->open);
	add_count(out, "!", a->due, "due");
	add_count(out, "", staged, "staged");
	add_count(out, "", held, "held");
	if (sending)
		buf_adds(out, "  sending");
	if (decide_is_read_only(a))
		buf_adds(out, "  read-only");
	add_count(out, "✗", a->errors, "wrong");
	if ((int)out->n + TITLE_LEAST_COLS < a->cols)
		buf_printf(out, "  %u messages", a->scene.k);
	buf_addc(out, ' ');
}

static void draw_title(struct app *a, struct grid *g)
{
	static const char *const modes[] = { [LIVE_NOT] = "", [LIVE_ON] = "  live",
					     [LIVE_PAUSED] = "  paused", [LIVE_BEHIND] = "  behind" };
	struct rect row = rect_in(grid_rect(g), 0, 0, 1, a->cols);
	struct pen p = { g, row };
	struct buf counts = { 0 };

	grid_fill(g, row, ROLE_TITLE, " ");
	count_title(a, &counts);
	put_right(g, row, ROLE_TITLE, counts.p);
	p.rest.cols -= (int)counts.n + 1;
	pen_put(&p, ROLE_TITLE, " gavel  ");
	pen_path(&p, ROLE_TITLE, a->title);
	pen_put(&p, ROLE_TITLE,
		a->loading ? "  reading" : a->film.model ? "  replay" : modes[a->live]);
	buf_release(&counts);
}

static void draw_tabs(struct app *a, struct grid *g)
{
	struct rect line = rect_in(grid_rect(g), 1, 0, 1, a->cols);

	for (int i = 0; i < TAB_COUNT; i++) {
		int cols, at = tab_col(a, i, &cols);
		bool current = (enum tab)i == a->tab;
		char label[32];

		snprintf(label, sizeof(label), "%s%d %s%s", current ? "[" : " ", i + 1,
			 tabs[i].label, current ? "]" : " ");
		grid_put(g, rect_in(line, 0, at, 1, cols), current ? ROLE_ACCENT : ROLE_DIM, label);
	}
	if (a->filter) {
		int cols, at = tab_col(a, TAB_COUNT - 1, &cols) + cols + 1;
		struct pen p = { g, rect_in(line, 0, at, 1, a->cols - at) };

		pen_put(&p, ROLE_KEY, "\\");
		pen_text(&p, ROLE_MATCH, buf_str(&a->filter_text));
	}
}

/* A bar that fills while the sources are read. */
static void draw_progress(struct app *a, struct grid *g, struct rect row)
{
	double part = a->bytes_total ? (double)a->bytes_done / (double)a->bytes_total : 0;
	int room = row.cols - 18, full = (int)(part * room);
	struct pen p = { g, row };

	if (room < 4)
		return;
	pen_printf(&p, ROLE_DIM, " reading %3d%% ", (int)(part * 100));
	grid_fill(g, rect_in(row, 0, 14, 1, full), ROLE_BAR, "█");
	grid_fill(g, rect_in(row, 0, 14 + full, 1, room - full), ROLE_BAR_REST, "░");
}

static void list_keys(struct app *a, struct buf *out)
{
	char verbs[KEYS_MAX];

	if (a->film.model)
		buf_printf(out, "Space %s  , . step  < > speed  { } event  ( ) minute  s idle  L loop%s",
			   a->film.playing ? "pause" : "play", a->replays ? "" : "  R leave");
	else if (a->tab == TAB_INBOX && decide_keys(a, true, verbs))
		buf_printf(out, "%s  u undo  $ deliver", verbs);
	else
		buf_adds(out, tabs[a->tab].keys);
}

static void screen_keys(struct app *a, struct buf *out)
{
	const struct view_ops *view = app_screen(a)->pane.view;
	char verbs[KEYS_MAX];

	if (view == &view_preflight)
		buf_adds(out, "y send  q back, nothing is sent");
	else if (view == &view_recovery)
		buf_adds(out, "y finish them  u give up what is held  q leave them");
	else if (view == &view_item && decide_keys(a, false, verbs))
		buf_printf(out, "%s decide  $ deliver  q back  d diff  [ ] iteration  r raw  J K items",
			   verbs);
	else if (view == &view_item)
		buf_adds(out, "q back  d diff  [ ] iteration  r raw  J K items");
	else if (view == &view_message)
		buf_adds(out, "q back  r raw  o ^O correlation  ! ~ problem");
	else
		buf_adds(out, "q back  j k scroll  / search");
}

static void draw_status(struct app *a, struct grid *g, struct rect row)
{
	const struct screen *s = app_screen(a);
	char position[24], part[24], right[72];
	struct buf keys = { 0 };

	if (a->loading) {
		draw_progress(a, g, row);
		return;
	}
	if (a->hunting) {
		struct pen p = { g, rect_in(row, 0, 1, 1, row.cols - 2) };

		pen_printf(&p, ROLE_DIM, "searching, %u%%; any key stops it",
			   (unsigned)(100 - 100.0 * a->hunt.left / (a->scene.k ? a->scene.k : 1)));
		return;
	}
	/* while something is typed, what there is to say about it */
	if (a->prompt.kind != PROMPT_NONE && a->notice.n) {
		grid_text(g, rect_in(row, 0, 1, 1, row.cols - 2), a->notice_role,
			  raw_of(buf_str(&a->notice)), TEXT_LINE);
		return;
	}
	if (s)
		snprintf(right, sizeof(right), "%s  ? help ", pane_position(&s->pane, false, position));
	else if (a->preview.view && a->preview_rect.rows > 0 && a->previewed.type != TARGET_NONE)
		snprintf(right, sizeof(right), "%s  preview %s  ? help ",
			 pane_position(app_list(a), true, position),
			 pane_position(&a->preview, false, part));
	else
		snprintf(right, sizeof(right), "%s  ? help ",
			 pane_position(app_list(a), true, position));
	(s ? screen_keys : list_keys)(a, &keys);
	grid_put(g, rect_in(row, 0, 1, 1, row.cols - (int)strlen(right) - 2), ROLE_DIM, keys.p);
	put_right(g, row, ROLE_DIM, right);
	buf_release(&keys);
}

/* How the turn of a review stands, marked off from the list above it. */
static void draw_strip(const struct app *a, struct grid *g, struct rect row)
{
	grid_fill(g, row, ROLE_BORDER, "─");
	grid_text(g, rect_in(row, 0, 1, 1, row.cols - 2), a->strip_role, raw_of(buf_str(&a->strip)),
		  TEXT_LINE);
}

static void draw_bottom(struct app *a, struct grid *g, struct rect row, int *cursor_col)
{
	if (a->prompt.kind != PROMPT_NONE) {
		*cursor_col = prompt_draw(&a->prompt, g, row);
		return;
	}
	if (a->notice.n)
		grid_text(g, rect_in(row, 0, 1, 1, row.cols - 2), a->notice_role,
			  raw_of(buf_str(&a->notice)), TEXT_LINE);
	else if (a->banner.n)
		grid_text(g, rect_in(row, 0, 1, 1, row.cols - 2), ROLE_WARN,
			  raw_of(buf_str(&a->banner)), TEXT_LINE);
}

/* How the body is shared between list and preview. */
static void lay_out(struct app *a, struct rect body)
{
	a->list_rect = body;
	a->preview_rect = (struct rect){ 0 };
	if (!tabs[a->tab].preview || body.rows < PREVIEW_LEAST_ROWS)
		return;
	if (a->maximised) {
		if (a->preview_focused) {
			a->preview_rect = body;
			a->list_rect = rect_in(body, 0, 0, 0, body.cols);
		}
		return;
	}
	if (body.cols >= BESIDE_COLS) {
		int left = body.cols / 2;

		a->list_rect = rect_in(body, 0, 0, body.rows, left);
		a->preview_rect = rect_in(body, 0, left + 1, body.rows, body.cols - left - 1);
	} else {
		int top = body.rows / 2;

		a->list_rect = rect_in(body, 0, 0, top, body.cols);
		a->preview_rect = rect_in(body, top + 1, 0, body.rows - top - 1, body.cols);
	}
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
	struct scene scene = a->scene;

	lay_out(a, body);
	app_refresh(a);
	if (a->jump && a->tab == TAB_MESSAGES && app_is_settled(a)) {
		pane_select(app_list(a), UINT32_MAX);
		a->jump = false;
		app_refresh(a);
	}
	if (a->list_rect.rows > 0)
		pane_draw(app_list(a), &a->scene, g, a->list_rect, true, !a->preview_focused,
			  a->preview_focused ? STR_NONE : buf_str(&a->word));
	draw_border(a, g, body);
	if (a->preview_rect.rows <= 0 || !a->preview.view || a->previewed.type == TARGET_NONE)
		return;
	scene.item = scene.message = a->previewed.number;
	pane_draw(&a->preview, &scene, g, a->preview_rect, false, a->preview_focused,
		  a->preview_focused ? buf_str(&a->word) : STR_NONE);
	if (a->previewed.type == TARGET_ITEM)
		decide_saw(a, a->previewed.number, &a->preview);
}

static void draw_screen(struct app *a, struct grid *g, struct rect body)
{
	struct screen *s = app_screen(a);
	struct scene scene = app_scene_of(a, s);

	lay_out(a, body);
	app_refresh(a);
	pane_draw(&s->pane, &scene, g, body, false, true, buf_str(&a->word));
	if (s->pane.view == &view_item && !s->k)
		decide_saw(a, s->item, &s->pane);
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
	draw_title(a, g);
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
	if (a->strip.n)
		draw_strip(a, g, rect_in(all, a->rows - 3, 0, 1, a->cols));
	draw_status(a, g, rect_in(all, a->rows - 2, 0, 1, a->cols));
	draw_bottom(a, g, rect_in(all, a->rows - 1, 0, 1, a->cols), cursor_col);
	if (*cursor_col >= 0)
		*cursor_row = a->rows - 1;
}
