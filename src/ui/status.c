/* The line above the last: which keys matter here, where one is; while something is typed, what may
 * come next and how to leave it. */
#include "ui/app.h"
#include "ui/view_parts.h"

#include <stdio.h>

static const char *const tab_keys[TAB_COUNT] = {
	[TAB_INBOX] = "Enter open  J K open item  A every item",
	[TAB_TIMELINE] = "h l marks  Enter open  + - zoom  ← → pan",
	[TAB_LEDGER] = "Enter open  d diff  J K open item",
	[TAB_MESSAGES] = "Enter open  ! ~ problem  o ^O correlation  r raw",
	[TAB_AGENTS] = "Enter last message",
	[TAB_DECISIONS] = "Enter open  u undo or give up  $ deliver  :resend",
};

static const struct {
	const char *hint, *keys;
} prompts[PROMPT_KINDS] = {
	[PROMPT_COMMAND] = { "Tab completes  ↑ earlier ones", "Enter runs  Esc leaves " },
	[PROMPT_SEARCH] = { "afterwards n next  N previous",
			    "Enter stays  Esc goes back " },
	[PROMPT_FILTER] = { "words  kind:finding  severity:>=major  is:open  agent:dev-01  -not",
			    "Enter  Esc leaves " },
	[PROMPT_EXPLAIN] = { "in your words", "Enter stages  Esc leaves " },
	[PROMPT_ANSWER] = { "in your words", "Enter stages  Esc leaves " },
	[PROMPT_REASON] = { "a word that programs can read", "Enter stages  Esc leaves " },
};

/* A bar that fills while the sources are read. */
static void draw_progress(const struct app *a, struct grid *g, struct rect row)
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

static void draw_hunt(const struct app *a, struct grid *g, struct rect row)
{
	struct pen p = { g, rect_in(row, 0, 1, 1, row.cols - 2) };

	pen_printf(&p, ROLE_DIM, "searching, %u%%; any key stops it",
		   (unsigned)(100 - 100.0 * a->search.hunt.left / (a->scene.k ? a->scene.k : 1)));
}

/* What is staged and not sent is what one should not forget. */
static const char *staged_keys(const struct app *a)
{
	if (decide_staged(a))
		return "$ deliver  u undo  ";
	return a->scene.artifact ? "$ next turn  " : ""; /* of a review, also without a decision */
}

static void list_keys(struct app *a, struct buf *out)
{
	char verbs[KEYS_MAX];

	if (a->film.model)
		buf_printf(out, "Space %s  %s, . step  < > speed  { } event  ( ) minute  s idle  L loop",
			   a->film.playing ? "pause" : "play", a->replays ? "" : "R leave  ");
	else if (a->tab == TAB_INBOX && decide_keys(a, true, verbs))
		buf_printf(out, "%s%s  m mark  z put off", staged_keys(a), verbs);
	else
		buf_adds(out, tab_keys[a->tab]);
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
		buf_printf(out, "%s%s decide  q back  d diff  [ ] iteration  r raw  J K items",
			   staged_keys(a), verbs);
	else if (view == &view_item)
		buf_adds(out, "q back  d diff  [ ] iteration  r raw  J K items");
	else if (view == &view_message)
		buf_adds(out, "q back  r raw  o ^O correlation  ! ~ problem");
	else
		buf_adds(out, "q back  j k scroll  / search");
}

/* As many as there is room for, two blanks apart, none of them cut. */
static void put_whole(struct grid *g, struct rect row, const char *hints)
{
	struct str rest = str_of(hints);
	struct pen p = { g, row };

	while (rest.n) {
		ptrdiff_t gap = str_find(rest, STR("  "), 0);
		struct str one = gap < 0 ? rest : str_make(rest.p, (size_t)gap);
		bool first = p.rest.col == row.col;

		if (!first && (int)cells_width(raw_of(one), TEXT_LABEL, g->ascii, 512) + 2 > p.rest.cols)
			return;
		pen_printf(&p, ROLE_DIM, "%s%.*s", first ? "" : "  ", STR_ARG(one));
		rest = str_from(rest, one.n + 2);
	}
}

static void put_line(struct grid *g, struct rect row, enum role role, struct str text,
		     const char *right)
{
	struct rect left = rect_in(row, 0, 1, 1, row.cols - (int)strlen(right) - 2);

	if (role == ROLE_DIM)
		put_whole(g, left, text.p);
	else
		grid_text(g, left, role, raw_of(text), TEXT_LINE);
	put_right(g, row, ROLE_DIM, right);
}

/* What there is to say about what is typed; else what the keys do. */
static void draw_typing(const struct app *a, struct grid *g, struct rect row)
{
	const char *keys = prompts[a->prompt.kind].keys, *leave = "Esc leaves ";
	struct buf hint = { 0 };

	if (a->notice.n)
		buf_add_str(&hint, buf_str(&a->notice));
	else if (a->prompt.kind == PROMPT_COMMAND)
		app_command_hint(buf_str(&a->prompt.text), &hint);
	if (!hint.n)
		buf_adds(&hint, prompts[a->prompt.kind].hint);
	/* what one has to choose from is not cut for them */
	if (a->notice.n && (int)(hint.n + strlen(keys)) + 2 > row.cols)
		keys = (int)(hint.n + strlen(leave)) + 4 > row.cols ? "" : leave;
	put_line(g, row, a->notice.n ? a->notice_role : ROLE_DIM, buf_str(&hint), keys);
	buf_release(&hint);
}

void app_draw_status(struct app *a, struct grid *g, struct rect row)
{
	const struct screen *s = app_screen(a);
	char position[24], part[24], right[72];
	struct buf keys = { 0 };

	if (a->scene.reading || app_is_searching(a)) {
		(a->scene.reading ? draw_progress : draw_hunt)(a, g, row);
		return;
	}
	if (a->prompt.kind != PROMPT_NONE) {
		draw_typing(a, g, row);
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
	put_line(g, row, ROLE_DIM, buf_str(&keys), right);
	buf_release(&keys);
}
