/* The ledger view: a table for each loop, its items down and its iterations across; a cell shows
 * the steps of an item in an iteration. The heading says whether the loop converges and what comes
 * back; counts of open, new and recurring items stand below. */
#include "model/ledger.h"
#include "view/session_label.h"

#include <stdio.h>

enum {
	CELL_COLS = 6, /* glyph, up to four letters, gap; more for long iteration numbers */
	CELL_LETTERS = 4,
	GRADE_COLS = 6,
	ID_COLS = 24,
	ID_MORE = 10,        /* what the ids get from a screen of this width on: */
	ID_GROWS_COLS = 110,
	YIELD_EVERY = 64,
	ROWS_A_LOOP = 6, /* besides its items */
};

enum what {
	ROW_BLANK,
	ROW_LOOP, /* a: loop */
	ROW_ITEM, /* a: its entry's first item, b: loop */
	ROW_OPEN, /* a: loop */
	ROW_NEW,
	ROW_AGAIN,
	ROW_PROGRESS,
};

_Static_assert(LEDGER_MARKS == (int)ENTRY_COUNT, "all are explained");

const struct mark ledger_marks[LEDGER_MARKS] = {
	[ENTRY_RAISED] = { "●", "R", "raised", ROLE_ACCENT },
	[ENTRY_BACK] = { "▲", "B", "came back", ROLE_WARN },
	[ENTRY_ACCEPTED] = { "✓", "A", "accepted", ROLE_ACCEPTED },
	[ENTRY_PARTIAL] = { "◆", "P", "partial", ROLE_PARTIAL },
	[ENTRY_REJECTED] = { "✗", "X", "rejected", ROLE_REJECTED },
	[ENTRY_ESCALATED] = { "▲", "E", "escalated", ROLE_ESCALATED },
	[ENTRY_OTHER] = { "–", "D", "dismissed", ROLE_DEFERRED },
	[ENTRY_ACKED] = { "✓", "K", "acknowledged", ROLE_OK },
	[ENTRY_BOUNCED] = { "⚠", "U", "unknown id", ROLE_WARN },
	[ENTRY_FIXED] = { "✓", "F", "fixed", ROLE_ACCEPTED },
	[ENTRY_SUPERSEDED] = { "–", "S", "superseded", ROLE_DIM },
};

/* ---- lines ---- */

/* A loop as of the scene, and what comes back in it. */
struct drawn_loop {
	struct loop_at *at; /* NULL: not drawn yet */
	enum loop_progress progress;
	uint32_t recurring_count;
	struct recurring *recurring; /* up to RECURRING_MAX of them */
};

struct ledger_own {
	struct ledger *all;
	uint32_t k, items;       /* of the scene, and how many items there are then */
	struct drawn_loop *states; /* by loop: computed when it is first drawn */
	struct arena arena;      /* of states */
	struct arena scratch;    /* of the line being drawn */
};

static void ledger_own_release(void *own_)
{
	struct ledger_own *own = own_;

	ledger_release(own->all);
	arena_release(&own->arena);
	arena_release(&own->scratch);
}

static bool entry_is_shown(const struct scene *s, const struct ledger_own *own, uint32_t place)
{
	struct item_state at;

	if (!s->filter)
		return true;
	for (; place != NONE; place = entry_next_place(own->all, place, own->items))
		if (item_is_shown(s, loop_item(own->all, place), &at))
			return true;
	return false;
}

static void add_loop(const struct scene *s, struct lines *out, uint32_t number)
{
	const struct ledger_own *own = out->own;
	uint32_t start = out->list.n, first = loop_first_place(own->all, number, own->items);
	bool any = false;

	if (start)
		line_add(out, ROW_BLANK, 0, 0);
	line_add(out, ROW_LOOP, number, 0);
	if (loop_has_two_answers(own->all, number, own->k))
		line_add(out, ROW_PROGRESS, number, 0);
	for (uint32_t p = first; p != NONE && (p % YIELD_EVERY || yield_on(s->yield));
	     p = loop_next_place(own->all, number, p, own->items)) {
		if (!entry_is_shown(s, own, p))
			continue;
		line_add(out, ROW_ITEM, loop_item(own->all, p), number);
		any = true;
	}
	if (!any && s->filter) {
		out->list.n = start;
		return;
	}
	if (first != NONE) {
		line_add(out, ROW_OPEN, number, 0);
		line_add(out, ROW_NEW, number, 0);
		line_add(out, ROW_AGAIN, number, 0);
	}
}

static void ledger_make(const struct scene *s, int cols, struct lines *out)
{
	struct ledger_own *own = arena_zalloc(&out->arena, sizeof(*own));
	uint32_t most;

	out->own = own;
	out->cols = cols;
	out->release = ledger_own_release;
	session_labels_make(s, out);
	own->k = s->k;
	own->items = model_item_count(s->model, s->k);
	own->all = scene_ledger(s);
	if (!own->all)
		return;
	own->states = arena_zalloc(&own->arena, own->all->n * sizeof(*own->states));
	most = own->all->list[own->all->n].items;
	lines_reserve(out, (most < own->items ? most : own->items) + ROWS_A_LOOP * own->all->n);
	for (uint32_t i = 0; i < own->all->n && yield_on(s->yield); i++)
		if (loop_has_begun(own->all, i, s->k))
			add_loop(s, out, i);
}

static const struct drawn_loop *loop_state(struct ledger_own *own, uint32_t loop)
{
	struct drawn_loop *d = &own->states[loop];

	if (d->at)
		return d;
	d->at = loop_look(own->all, loop, own->k, &own->arena);
	d->progress = loop_progress(d->at);
	d->recurring = arena_alloc(&own->arena, RECURRING_MAX * sizeof(*d->recurring));
	d->recurring_count = loop_recurring(own->all, d->at, d->recurring);
	return d;
}

/* ---- drawing ---- */

/* Columns layout of a row: id, severity, the last turns that fit, the title. */
struct ledger_layout {
	int id_cols, grade_at, turns_at, title_at, title_cols;
	int cell; /* columns of a turn */
	uint32_t from, turns; /* shown turns: [from, from + turns) */
};

/* Wide enough for the iteration numbers of the newest turns, with a sign and a gap. */
static int cell_cols(const struct loop_at *l)
{
	uint32_t most = 0;

	for (uint32_t i = l->turn_count; i-- > 0 && l->turn_count - i <= 64;)
		most = l->turns[i].iteration > most ? l->turns[i].iteration : most;
	return number_width(most, CELL_COLS - 3) + 3;
}

static struct ledger_layout layout_of(const struct loop_at *l, int cols)
{
	struct ledger_layout p = { .id_cols = cols < 50 ? cols / 3 : ID_COLS };
	int room, title = cols < 70 ? 0 : cols / 4, more = (cols - ID_GROWS_COLS) / 2;

	if (more > 0) /* at half the pace of the screen, so that the title grows too */
		p.id_cols += more < ID_MORE ? more : ID_MORE;

	p.grade_at = p.id_cols + 1;
	p.turns_at = p.grade_at + (cols < 50 ? 2 : GRADE_COLS);
	p.cell = cell_cols(l);
	room = (cols - p.turns_at - title) / p.cell;
	p.turns = room < 1 ? 1 : (uint32_t)room;
	if (p.turns > l->turn_count)
		p.turns = l->turn_count;
	p.from = l->turn_count - p.turns;
	/* titles of loops with up to three turns are aligned */
	p.title_at = p.turns_at + p.cell * (int)(p.turns < 3 && room >= 3 ? 3 : p.turns) + 1;
	/* what the next turn will take on a wider screen is not given to the title before */
	p.title_cols = p.turns < l->turn_count ? title - 1 : cols - p.title_at;
	if (p.title_cols > cols - p.title_at)
		p.title_cols = cols - p.title_at;
	return p;
}

static struct rect turn_rect(const struct ledger_layout *p, struct rect row, uint32_t turn)
{
	return rect_in(row, 0, p->turns_at + (int)(turn - p->from) * p->cell, 1, p->cell - 1);
}

static void draw_loop(const struct scene *s, const struct lines *lines, const struct loop_at *l,
		      struct grid *g, struct rect row)
{
	const struct ledger_own *own = lines->own;
	const struct model *m = s->model;
	const struct review *r = &m->reviews.v[l->review];
	uint32_t task = own->all->list[l->number].task;
	struct ledger_layout at = layout_of(l, row.cols);
	struct pen p = { g, rect_in(row, 0, 0, 1, at.turns_at - 2) };
	char text[16];

	grid_fill(g, rect_in(row, 0, 0, 1, row.cols), ROLE_BORDER, "─");
	if (task == NONE)
		pen_short(&p, ROLE_ACCENT, session_name(m, r->session));
	else
		pen_short(&p, ROLE_ACCENT, model_str(m, m->tasks.v[task].id));
	if (task != NONE && lines->labels) { /* tasks of several sessions may have one id */
		pen_put(&p, ROLE_BORDER, " ");
		pen_session(&p, ROLE_DIM, s, lines, r->session);
	}
	grid_put(g, rect_in(row, 0, p.rest.col - row.col, 1, 1), ROLE_BORDER, " ");
	for (uint32_t i = at.from; i < at.from + at.turns; i++) {
		snprintf(text, sizeof(text), i == at.from && at.from ? "…%u " : "#%u ",
			 l->turns[i].iteration);
		grid_put(g, turn_rect(&at, row, i), l->turns[i].failed ? ROLE_ERROR : ROLE_KEY,
			 text);
	}
	p.rest = rect_in(row, 0, at.title_at, 1, row.cols - at.title_at);
	if (l->failed)
		pen_put(&p, ROLE_ERROR, "⚠ error");
	else
		pen_mark(&p, &review_marks[l->verdict]);
	pen_put(&p, ROLE_BORDER, " ");
}

/* The glyph of the last state in the turn, then a letter for each step. */
static void draw_cell(const struct entry *e, uint32_t turn, struct pen p)
{
	const struct mark *state = NULL;
	unsigned letters = 0;
	struct pen glyph = p;

	pen_skip(&p, 1);
	for (uint32_t i = 0; i < e->n; i++) {
		const struct mark *mark = &ledger_marks[e->list[i].kind];

		if (e->list[i].turn != turn)
			continue;
		if (!state || e->list[i].kind != ENTRY_ACKED)
			state = mark;
		if (letters++ < CELL_LETTERS)
			pen_put(&p, mark->role, mark->letter);
	}
	if (state)
		pen_put(&glyph, state->role, state->glyph);
	else if (turn > e->list[0].turn)
		pen_put(&glyph, ROLE_BORDER, "·");
}

static void draw_item(const struct scene *s, struct ledger_own *own, const struct loop_at *l,
		      uint32_t first, struct grid *g, struct rect row)
{
	const struct model *m = s->model;
	const struct item *item;
	struct ledger_layout at = layout_of(l, row.cols);
	struct pen p = { g, rect_in(row, 0, 1, 1, at.id_cols - 1) };
	struct entry e;
	const struct mark *grade;
	struct item_state state;
	struct detail d;

	arena_reset(&own->scratch);
	loop_entry(own->all, l, first, &own->scratch, &e);
	item = &m->items.v[e.item];
	if (!item_at(m, item, s->k, scene_clock(s), &state))
		return;
	grade = &grade_marks[state.grade];
	pen_short(&p, ROLE_ID, model_str(m, item->id));
	if (item->kind == ITEM_CHANGE)
		pen_put(&p, ROLE_DIM, " change");
	p.rest = rect_in(row, 0, at.grade_at, 1, at.turns_at - at.grade_at - 1);
	if (state.grade != GRADE_NONE)
		pen_put(&p, grade->role, p.rest.cols < 5 ? grade->letter : grade->word);
	for (uint32_t i = at.from; i < at.from + at.turns; i++)
		draw_cell(&e, i, (struct pen){ g, turn_rect(&at, row, i) });
	p.rest = rect_in(row, 0, at.title_at, 1, at.title_cols);
	if (p.rest.cols >= 16 && s->reader->detail(s->reader->ctx, item, &state, &d))
		pen_text(&p, state.open ? ROLE_NORMAL : ROLE_DIM, d.title);
}

static uint32_t count_of(const struct loop_turn *t, enum what what)
{
	return what == ROW_OPEN ? t->open : what == ROW_NEW ? t->fresh : t->again;
}

static void draw_counts(const struct loop_at *l, enum what what, struct grid *g, struct rect row)
{
	static const struct {
		const char *label;
		enum role role;
	} looks[] = {
		[ROW_OPEN] = { "open", ROLE_KEY },
		[ROW_NEW] = { "new", ROLE_INFO },
		[ROW_AGAIN] = { "recurring", ROLE_WARN },
	};
	struct ledger_layout at = layout_of(l, row.cols);
	uint32_t most = 0;

	put_right(g, rect_in(row, 0, 0, 1, at.turns_at - 1), ROLE_DIM, looks[what].label);
	for (uint32_t i = at.from; i < at.from + at.turns; i++) {
		most = l->turns[i].open > most ? l->turns[i].open : most;
		most = l->turns[i].fresh > most ? l->turns[i].fresh : most;
	}
	for (uint32_t i = at.from; i < at.from + at.turns; i++) {
		uint32_t n = count_of(&l->turns[i], what);
		struct pen p = { g, turn_rect(&at, row, i) };

		if (l->turns[i].answer == NONE) {
			pen_put(&p, ROLE_DIM, "–");
			continue;
		}
		pen_put(&p, looks[what].role, level_glyph(n, most));
		pen_printf(&p, n ? looks[what].role : ROLE_DIM, "%u", n);
	}
}

/* "4 → 3 → 4 → 4 open  ⚠ does not converge  ▲ F-1 ×3, F-2" */
static void draw_progress(const struct model *m, const struct drawn_loop *d, struct pen p)
{
	const struct mark *mark = &progress_marks[d->progress];
	struct buf counts = { 0 };

	pen_skip(&p, 1);
	if (loop_counts(d->at, p.rest.cols < 100 ? 6 : 12, &counts))
		pen_printf(&p, ROLE_KEY, "%s open  ", counts.p);
	pen_printf(&p, mark->role, "%s %s", mark->glyph, mark->word);
	pen_recurring(&p, m, d->recurring, d->recurring_count);
	buf_release(&counts);
}

/* The legend, with short words on narrow screens. */
static void ledger_heading(const struct scene *s, const struct lines *lines, struct grid *g,
			   struct rect row)
{
	static const char *const brief[ENTRY_COUNT] = {
		[ENTRY_RAISED] = "raised",   [ENTRY_BACK] = "back",
		[ENTRY_ACCEPTED] = "accept", [ENTRY_PARTIAL] = "part",
		[ENTRY_REJECTED] = "reject", [ENTRY_ESCALATED] = "esc",
		[ENTRY_ACKED] = "ack",       [ENTRY_BOUNCED] = "unknown",
		[ENTRY_FIXED] = "fixed",     [ENTRY_SUPERSEDED] = "super",
	};
	struct pen p = { g, rect_in(row, 0, 0, 1, row.cols) };
	bool wide = row.cols >= 125;

	(void)s;
	(void)lines;
	grid_fill(g, p.rest, ROLE_HEADER, " ");
	for (unsigned i = 0; i < ENTRY_COUNT; i++) {
		const char *word = wide ? ledger_marks[i].word : brief[i];

		if (!word || (int)strlen(word) + 2 > p.rest.cols)
			continue;
		pen_printf(&p, ROLE_HEADER, "%s %s", ledger_marks[i].letter, word);
		pen_skip(&p, wide ? 2 : 1);
	}
}

static void ledger_draw(const struct scene *s, const struct lines *lines, uint32_t i,
			struct grid *g, struct rect row)
{
	struct ledger_own *own = lines->own;
	const struct line *line = &lines->list.v[i];
	struct pen p = { g, rect_in(row, 0, 0, 1, row.cols) };
	const struct drawn_loop *d = NULL;
	const struct loop_at *l = NULL;

	if (line->what != ROW_BLANK) {
		d = loop_state(own, line->what == ROW_ITEM ? line->b : line->a);
		l = d->at;
	}
	switch ((enum what)line->what) {
	case ROW_BLANK: break;
	case ROW_LOOP: draw_loop(s, lines, l, g, row); break;
	case ROW_ITEM: draw_item(s, own, l, line->a, g, row); break;
	case ROW_OPEN:
	case ROW_NEW:
	case ROW_AGAIN: draw_counts(l, line->what, g, row); break;
	case ROW_PROGRESS: draw_progress(s->model, d, p); break;
	}
}

static bool is_heading(const struct line *line)
{
	return line->what == ROW_LOOP || line->what == ROW_PROGRESS;
}

/* The newest of the items that share the row; a heading leads to the task or session of its loop. */
static struct target ledger_target(const struct scene *s, const struct lines *lines, uint32_t i)
{
	const struct ledger_own *own = lines->own;
	const struct line *line = &lines->list.v[i];
	uint32_t place, next;

	if (line->what == ROW_PROGRESS)
		return target_loop(own->all->list[line->a].first);
	if (line->what == ROW_LOOP) {
		const struct ledger_loop *loop = &own->all->list[line->a];

		if (loop->task != NONE)
			return target_task(s, loop->task);
		return target_session(s->model->reviews.v[own->all->reviews[loop->reviews]].session);
	}
	if (line->what != ROW_ITEM)
		return target_none;
	place = loop_place_of(own->all, line->b, line->a);
	while ((next = entry_next_place(own->all, place, own->items)) != NONE)
		place = next;
	return target_item(loop_item(own->all, place));
}

/* A heading's preview is the loop, whatever it leads to. */
static struct target ledger_preview(const struct scene *s, const struct lines *lines, uint32_t i)
{
	const struct ledger_own *own = lines->own;
	const struct line *line = &lines->list.v[i];

	return is_heading(line) ? target_loop(own->all->list[line->a].first)
				: ledger_target(s, lines, i);
}

const struct view_ops view_ledger = {
	.name = "ledger",
	.make = ledger_make,
	.heading = ledger_heading,
	.draw = ledger_draw,
	.target = ledger_target,
	.preview = ledger_preview,
	.empty = "No feedback loop or review yet.",
	.then = "{messages} shows every message.",
	.needs_protocol = true,
};
