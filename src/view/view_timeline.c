/* The timeline view: a lane for each task, grouped by session, with its dependencies, revisions
 * and reviews below it, and one for each feedback loop. All lanes share one time axis. In a replay
 * lanes and axis cover the whole recording; what comes after the cursor is drawn first, dimmed.
 *
 * A lane is drawn in layers: ticks and the line at now, bars between steps, stalls, arrows for
 * what lies outside, then marks; progress marks are drawn before, and so below, the others. */
#include "view/session_label.h"

#include <stdio.h>

enum {
	NEEDS_MAX = 64,
	NEED_COLS = 24, /* of a dependency's name, where it is not an id that people use */
};

enum what {
	LANE_BLANK,
	LANE_SESSION, /* a: session, b: tasks */
	LANE_TASK,    /* a: task */
	LANE_NEEDS,   /* a: task */
	LANE_REVIEW,  /* a: review, b: whether it belongs to a task */
	LANE_LEGEND,
};

enum col { COL_TASK, COL_AGENT, COL_STATE, COL_PERCENT, COL_BAR, COL_AXIS, COL_COUNT };

static const struct column table[COL_COUNT] = {
	[COL_TASK] = { "task", 16, 22, 0 },
	[COL_AGENT] = { "who", 8, 8, 3 },
	[COL_STATE] = { "state", 1, 11, 1 },
	[COL_PERCENT] = { "done", 4, 4, 2, .right = true },
	[COL_BAR] = { "", 6, 6, 4 },
	[COL_AXIS] = { "", 20, 36, 0, .grows = true },
};

/* ---- making ---- */

static void layout(const struct scene *s, int cols, struct lines *out)
{
	struct column c[COL_COUNT];

	memcpy(c, table, sizeof(table));
	c[COL_AGENT].want = agents_width(s, 8, 16);
	if (cols < 100)
		c[COL_BAR].min = c[COL_BAR].want = 0;
	if (cols < 110) /* a glyph: its word would be cut */
		c[COL_STATE].want = 1;
	if (cols > 80)
		c[COL_TASK].want += (cols - 80) / 3;
	if (cols >= 140)
		c[COL_AXIS].want = 50;
	table_layout(out, c, COL_COUNT, cols);
	if (out->table->fit.cols[COL_STATE] < 5)
		out->table->columns[COL_STATE].title = "";
}

/* One linked list of members per owner, in ascending order. */
struct chains {
	uint32_t *first, *next;
};

static struct chains chains_new(struct arena *a, uint32_t owners, uint32_t members)
{
	struct chains c = { arena_alloc(a, (owners + 1) * sizeof(uint32_t)),
			    arena_alloc(a, (members + 1) * sizeof(uint32_t)) };

	memset(c.first, 0xff, (owners + 1) * sizeof(uint32_t));
	return c;
}

/* Push members in descending order. */
static void chain_push(struct chains *c, uint32_t owner, uint32_t member)
{
	c->next[member] = c->first[owner];
	c->first[owner] = member;
}

struct timeline_builder {
	const struct scene *s;
	struct lines *out;
	struct arena arena; /* of the chains */
	struct chains roots, revisions, task_reviews, loops;
};

/* Groups tasks and reviews by session and by the root of their revisions. */
static void group_tasks(struct timeline_builder *k)
{
	const struct model *m = k->s->model;
	struct arena *a = &k->arena;

	k->roots = chains_new(a, m->sessions.n, m->tasks.n);
	k->revisions = chains_new(a, m->tasks.n, m->tasks.n);
	k->task_reviews = chains_new(a, m->tasks.n, m->reviews.n);
	k->loops = chains_new(a, m->sessions.n, m->reviews.n);
	for (uint32_t i = m->tasks.n; i-- > 0 && yield_on(k->s->yield);) {
		uint32_t root = root_at(m, i, k->s->k);

		if (root == i)
			chain_push(&k->roots, m->tasks.v[i].session, i);
		else
			chain_push(&k->revisions, root, i);
	}
	for (uint32_t i = m->reviews.n; i-- > 0 && yield_on(k->s->yield);) {
		const struct review *r = &m->reviews.v[i];

		if (r->task == NONE)
			chain_push(&k->loops, r->session, i);
		else
			chain_push(&k->task_reviews, root_at(m, r->task, k->s->k), i);
	}
}

static bool task_is_shown(const struct scene *s, uint32_t task)
{
	const struct task *t = &s->model->tasks.v[task];

	return t->steps.n && t->steps.v[0].message < s->k &&
	       filter_task(s->filter, s->model, task, s->k);
}

static void add_review(struct timeline_builder *k, uint32_t review, bool under_task)
{
	const struct review *r = &k->s->model->reviews.v[review];
	struct review_state at;

	if (k->s->filter ? review_at(k->s->model, r, k->s->k, &at) &&
				   (under_task || message_is_shown(k->s, at.last))
			 : r->steps.n && r->steps.v[0].message < k->s->k)
		line_add(k->out, LANE_REVIEW, review, under_task);
}

static void add_task(struct timeline_builder *k, uint32_t task, uint32_t *count)
{
	const struct task *t = &k->s->model->tasks.v[task];

	if (!task_is_shown(k->s, task))
		return;
	++*count;
	line_add(k->out, LANE_TASK, task, 0);
	if (task_needs(t, k->s->k))
		line_add(k->out, LANE_NEEDS, task, 0);
}

static void add_chain(struct timeline_builder *k, uint32_t root, uint32_t *count)
{
	bool filtered = !filter_task(k->s->filter, k->s->model, root, k->s->k);

	add_task(k, root, count);
	for (uint32_t i = k->revisions.first[root]; i != NONE && yield_on(k->s->yield);
	     i = k->revisions.next[i])
		add_task(k, i, count);
	for (uint32_t i = k->task_reviews.first[root];
	     !filtered && i != NONE && yield_on(k->s->yield);
	     i = k->task_reviews.next[i])
		add_review(k, i, true);
}

/* The scene at the end of the replay; itself if there is none. */
static struct scene scene_until(const struct scene *s)
{
	struct scene later = *s;

	if (s->until > s->k)
		later.k = s->until;
	return later;
}

static void timeline_make(const struct scene *scene, int cols, struct lines *out)
{
	struct scene later = scene_until(scene), *s = &later;
	struct timeline_builder k = { .s = s, .out = out };
	struct axis *axis = arena_alloc(&out->arena, sizeof(*axis));

	if (later.k != scene->k)
		later.now_ms = model_now(s->model, later.k);
	out->own = axis;
	layout(s, cols, out);
	*axis = axis_make(s, out->table->fit.cols[COL_AXIS]);
	group_tasks(&k);
	for (uint32_t i = 0; i < s->model->sessions.n && yield_on(s->yield); i++) {
		uint32_t start = out->list.n, count = 0;

		if (start)
			line_add(out, LANE_BLANK, 0, 0);
		line_add(out, LANE_SESSION, i, 0);
		for (uint32_t r = k.loops.first[i]; r != NONE && yield_on(s->yield);
		     r = k.loops.next[r])
			add_review(&k, r, false);
		for (uint32_t t = k.roots.first[i]; t != NONE && yield_on(s->yield);
		     t = k.roots.next[t])
			add_chain(&k, t, &count);
		if (vec_last(&out->list)->what == LANE_SESSION)
			out->list.n = start; /* nothing in it */
		else
			out->list.v[start ? start + 1 : 0].b = count;
	}
	if (out->list.n) {
		line_add(out, LANE_BLANK, 0, 0);
		line_add(out, LANE_LEGEND, 0, 0);
	}
	arena_release(&k.arena);
}

static void timeline_heading(const struct scene *s, const struct lines *lines, struct grid *g,
			     struct rect row)
{
	table_heading(s, lines, g, row);
	axis_draw_labels(lines->own, g, column_rect(row, &lines->table->fit, COL_AXIS));
}

/* ---- drawing lanes ---- */

/* Fills [from, to) of the axis, at least one column, clipped to the axis. */
static void fill_span(const struct axis *a, struct grid *g, struct rect where, int64_t from,
		    int64_t to, enum role role, const char *glyph)
{
	int start = axis_col(a, from, where.cols), end = axis_col(a, to, where.cols);

	if (axis_side(a, from) > 0 || axis_side(a, to) < 0)
		return;
	if (axis_side(a, to) > 0)
		end = where.cols;
	grid_fill(g, rect_in(where, 0, start, 1, end > start ? end - start : 1), role, glyph);
}

/* The bar after a step, and a stall on it. */
static void draw_bar_after(const struct axis *a, struct grid *g, struct rect where,
			 const struct task_step *step, int64_t from, int64_t to)
{
	switch ((enum task_state)step->state) {
	case TASK_ASSIGNED:
	case TASK_RUNNING:
		fill_span(a, g, where, from, to, ROLE_BAR, "─");
		if (step->percent != 100 && time_between(to, from) > STALL_MS &&
		    from < INT64_MAX - STALL_MS &&
		    axis_col(a, to, where.cols) > axis_col(a, from + STALL_MS, where.cols))
			fill_span(a, g, where, from + STALL_MS, to, ROLE_STALLED, "╱");
		break;
	case TASK_PENDING:
	case TASK_QUEUED:
	case TASK_RETRYING: fill_span(a, g, where, from, to, ROLE_DIM, "╌"); break;
	case TASK_REVIEW: fill_span(a, g, where, from, to, ROLE_PARTIAL, "╌"); break;
	case TASK_COMPLETED:
	case TASK_PARTIAL:
	case TASK_FAILED:
	case TASK_CANCELLED:
	case TASK_STATE_COUNT: break;
	}
}

static bool is_progress(const struct task_step *step)
{
	return step->state == TASK_RUNNING && !step->assigned;
}

/* Whether step n assigns a task that was assigned before, or one that revises another. */
static bool is_reassigned(const struct model *m, const struct task *t, uint32_t n)
{
	bool again = &m->tasks.v[t->root] != t;

	while (!again && n-- > 0)
		again = t->steps.v[n].assigned;
	return again;
}

static void draw_task_mark(const struct scene *s, const struct task *t, uint32_t n, struct grid *g,
			   struct rect where)
{
	const struct task_step *step = &t->steps.v[n];
	const struct mark *mark = &task_marks[step->state];

	if (is_progress(step))
		grid_put(g, where, ROLE_BAR, step->percent == 255 ? "▸" : "•");
	else if (step->assigned && step->state != TASK_PENDING)
		grid_put(g, where, ROLE_INFO, is_reassigned(s->model, t, n) ? "V" : "A");
	else if (step->state == TASK_REVIEW)
		grid_put(g, where, mark->role, "R");
	else
		grid_put(g, where, mark->role, mark->glyph);
}

static void draw_task_axis(const struct scene *s, const struct axis *a, const struct task *t,
			   struct grid *g, struct rect where)
{
	uint32_t n = 0;

	while (n < t->steps.n && t->steps.v[n].message < s->k)
		n++;
	for (uint32_t i = 0; i < n; i++) {
		int64_t from = message_time(s->model, t->steps.v[i].message);
		int64_t to =
			i + 1 < n ? message_time(s->model, t->steps.v[i + 1].message) : s->now_ms;

		if (from != TIME_NONE && to >= from)
			draw_bar_after(a, g, where, &t->steps.v[i], from, to);
	}
	for (uint32_t i = 0; i < n; i++)
		axis_draw_outside(a, message_time(s->model, t->steps.v[i].message), g, where);
	for (int pass = 0; pass < 2; pass++) {
		for (uint32_t i = 0; i < n; i++) {
			int64_t at = message_time(s->model, t->steps.v[i].message);

			if (at != TIME_NONE && !axis_side(a, at) &&
			    is_progress(&t->steps.v[i]) == (pass == 0))
				draw_task_mark(
					s, t, i, g,
					rect_in(where, 0, axis_col(a, at, where.cols), 1, 1));
		}
	}
}

/* Dims all but ticks and the line at now. */
static void dim(struct grid *g, struct rect where)
{
	for (int c = 0; c < where.cols; c++) {
		enum role role = grid_at(g, where.row, where.col + c)->role;

		if (role != ROLE_BORDER && role != ROLE_CURSOR)
			grid_role(g, rect_in(where, 0, c, 1, 1), ROLE_DIM);
	}
}

static void draw_bar(struct grid *g, struct rect where, int percent)
{
	int done = (where.cols * percent + 50) / 100;

	grid_fill(g, where, ROLE_BAR_REST, "░");
	grid_fill(g, rect_in(where, 0, 0, 1, done), ROLE_BAR, "█");
}

static void draw_task(const struct scene *s, const struct lines *lines, uint32_t number,
		      struct grid *g, struct rect row)
{
	const struct model *m = s->model;
	const struct task *t = &m->tasks.v[number];
	const struct columns *fit = &lines->table->fit;
	const struct axis *axis = lines->own;
	struct rect where = column_rect(row, fit, COL_AXIS);
	struct scene later = scene_until(s);
	struct task_state_at at;
	struct pen p = column_pen(g, row, fit, COL_TASK);
	bool there = task_at(m, t, s->k, &at);
	char text[16];

	if (!there && later.k == s->k)
		return;
	if (root_at(m, number, later.k) != number)
		pen_put(&p, ROLE_DIM, "  ");
	pen_task_words(&p, there ? ROLE_ID : ROLE_DIM, s, t, there ? &at : NULL);
	if (later.k != s->k) {
		later.now_ms = axis->to_ms;
		draw_task_axis(&later, axis, t, g, where);
		dim(g, where);
	}
	if (!there)
		return;
	p = column_pen(g, row, fit, COL_AGENT);
	pen_agent(&p, m, at.agent);
	p = column_pen(g, row, fit, COL_STATE);
	if (task_is_stalled(m, &at, s->now_ms))
		pen_mark(&p, &(struct mark){ "⚠", "S", "stalled", ROLE_STALLED });
	else
		pen_mark(&p, &task_marks[at.state]);
	if (at.percent >= 0) {
		snprintf(text, sizeof(text), "%d%%", at.percent);
		put_right(g, column_rect(row, fit, COL_PERCENT), ROLE_NORMAL, text);
		draw_bar(g, column_rect(row, fit, COL_BAR), at.percent);
	}
	draw_task_axis(s, axis, t, g, where);
}

/* ---- dependencies and reviews ---- */

/* Its name and state. */
static void put_need(const struct scene *s, uint32_t session, uint32_t id, struct pen *p)
{
	const struct model *m = s->model;
	struct str name = model_str(m, id);
	uint32_t task = task_named(m, session, id);
	struct task_state_at at;
	bool there = task != NONE && task_at(m, &m->tasks.v[task], s->k, &at);
	struct pen part = *p;

	if (part.rest.cols > NEED_COLS)
		part.rest.cols = NEED_COLS;
	if (there && id_shortened(name).n < name.n)
		pen_task_words(&part, ROLE_ID, s, &m->tasks.v[task], &at);
	else
		pen_id(&part, ROLE_ID, id_shortened(name));
	pen_skip(p, part.rest.col - p->rest.col + 1);
	pen_put(p, there ? task_marks[at.state].role : ROLE_WARN,
		there ? task_marks[at.state].glyph : "not seen");
}

static bool is_duplicate_need(const struct task_need *needs, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		if (needs[i].task_id == needs[n].task_id)
			return true;
	return false;
}

static void draw_needs(const struct scene *s, const struct lines *lines, uint32_t number,
		       struct grid *g, struct rect row)
{
	const struct task *t = &s->model->tasks.v[number];
	struct pen p = { g, rect_in(row, 0, 0, 1, lines->table->fit.at[COL_AXIS] - 1) };
	uint32_t n = task_needs(t, s->k);

	pen_put(&p, ROLE_DIM,
		root_at(s->model, number, scene_until(s).k) == number ? "  needs" : "    needs");
	for (uint32_t i = 0; i < n && i < NEEDS_MAX && p.rest.cols > 0; i++) {
		const struct task_need *needs = t->terms->needs.v;

		if (is_duplicate_need(needs, i))
			continue;
		pen_skip(&p, 1);
		put_need(s, t->session, needs[i].task_id, &p);
	}
}

/* Marks followed by the number of the iteration, as far as the next mark leaves room. */
static void draw_review_marks(const struct scene *s, const struct axis *a, const struct review *r,
			      struct grid *g, struct rect where)
{
	for (uint32_t i = 0; i < r->steps.n && r->steps.v[i].message < s->k; i++) {
		const struct review_step *step = &r->steps.v[i];
		const struct mark *mark = &review_marks[step->verdict];
		int64_t t = message_time(s->model, step->message);
		int col = axis_col(a, t, where.cols);
		char number[8];

		if (t == TIME_NONE || axis_side(a, t))
			continue;
		grid_put(g, rect_in(where, 0, col, 1, 1), step->failed ? ROLE_ERROR : mark->role,
			 step->failed                   ? "⚠"
			 : step->verdict == REVIEW_NONE ? "R"
							: mark->glyph);
		snprintf(number, sizeof(number), "%u", step->iteration);
		if (col + 1 + (int)strlen(number) <= where.cols && step->verdict != REVIEW_NONE)
			grid_put(g, rect_in(where, 0, col + 1, 1, 8), mark->role, number);
	}
}

static void draw_review_axis(const struct scene *s, const struct axis *a, const struct review *r,
			     struct grid *g, struct rect where)
{
	int64_t asked = TIME_NONE;

	for (uint32_t i = 0; i < r->steps.n && r->steps.v[i].message < s->k; i++) {
		int64_t t = message_time(s->model, r->steps.v[i].message);

		if (r->steps.v[i].verdict == REVIEW_NONE) {
			asked = t;
			continue;
		}
		if (asked != TIME_NONE && t >= asked)
			fill_span(a, g, where, asked, t, ROLE_REVIEWER, "─");
		asked = TIME_NONE;
	}
	if (asked != TIME_NONE && s->now_ms >= asked)
		fill_span(a, g, where, asked, s->now_ms, ROLE_REVIEWER, "─");
	for (uint32_t i = 0; i < r->steps.n && r->steps.v[i].message < s->k; i++)
		axis_draw_outside(a, message_time(s->model, r->steps.v[i].message), g, where);
	draw_review_marks(s, a, r, g, where);
}

static void draw_review(const struct scene *s, const struct lines *lines,
			const struct line *line, struct grid *g, struct rect row)
{
	const struct model *m = s->model;
	const struct review *r = &m->reviews.v[line->a];
	const struct columns *fit = &lines->table->fit;
	const struct axis *axis = lines->own;
	struct rect where = column_rect(row, fit, COL_AXIS);
	struct scene later = scene_until(s);
	struct review_state at;
	struct pen p = column_pen(g, row, fit, COL_TASK);
	bool there = review_at(m, r, s->k, &at);
	char text[16];

	if (!there && later.k == s->k)
		return;
	if (line->b)
		pen_put(&p, ROLE_DIM, "  ↳ ");
	if (m->sessions.v[r->session].loop == line->a)
		pen_put(&p, there ? ROLE_NORMAL : ROLE_DIM, "feedback loop");
	else
		pen_short(&p, there ? ROLE_NORMAL : ROLE_DIM, model_str(m, r->id));
	if (later.k != s->k) {
		later.now_ms = axis->to_ms;
		draw_review_axis(&later, axis, r, g, where);
		dim(g, where);
	}
	if (!there)
		return;
	p = column_pen(g, row, fit, COL_AGENT);
	pen_agent(&p, m, r->reviewer == NONE ? message_route(m, at.last)->from : r->reviewer);
	p = column_pen(g, row, fit, COL_STATE);
	if (at.failed)
		pen_mark(&p, &(struct mark){ "⚠", "!", "error", ROLE_ERROR });
	else
		pen_mark(&p, &review_marks[at.verdict]);
	snprintf(text, sizeof(text), "#%u", at.iteration);
	put_right(g, column_rect(row, fit, COL_PERCENT), ROLE_NORMAL, text);
	draw_review_axis(s, axis, r, g, where);
}

static void draw_session(const struct scene *s, const struct line *line, struct pen p)
{
	uint32_t first = s->model->sessions.v[line->a].first;
	char text[48];

	grid_fill(p.g, p.rest, ROLE_BORDER, "─");
	if (line->b) {
		snprintf(text, sizeof(text), " %u %s", line->b, line->b == 1 ? "task" : "tasks");
		put_right(p.g, p.rest, ROLE_DIM, text);
		p.rest.cols -= (int)strlen(text);
	}
	pen_short(&p, ROLE_ACCENT, session_name(s->model, line->a));
	if (!str_eq(session_name(s->model, line->a), s->reader->source(s->reader->ctx, first)))
		pen_source(&p, s, first);
	pen_put(&p, ROLE_BORDER, " ");
}

/* As many marks as fit. */
static void draw_legend(struct pen p)
{
	for (unsigned i = 0; i < TIMELINE_MARKS; i++) {
		const struct mark *mark = &timeline_marks[i];

		if ((int)strlen(mark->word) + 4 > p.rest.cols)
			return;
		pen_put(&p, ROLE_KEY, mark->glyph);
		pen_printf(&p, ROLE_DIM, " %s  ", mark->word);
	}
}

/* The message of the n-th mark on a lane, or NONE after the last one before k. */
static uint32_t mark_message(const struct scene *s, const struct line *line, uint32_t n)
{
	const struct model *m = s->model;
	uint32_t message = NONE;

	if (line->what == LANE_TASK && n < m->tasks.v[line->a].steps.n)
		message = m->tasks.v[line->a].steps.v[n].message;
	else if (line->what == LANE_REVIEW && n < m->reviews.v[line->a].steps.n)
		message = m->reviews.v[line->a].steps.v[n].message;
	return message < s->k ? message : NONE;
}

static bool lane_has_mark(const struct scene *s, const struct line *line)
{
	uint32_t message;

	for (uint32_t n = 0; s->mark && (message = mark_message(s, line, n)) != NONE; n++)
		if (message == s->mark - 1)
			return true;
	return false;
}

static uint32_t timeline_next_mark(const struct scene *s, const struct lines *lines, uint32_t i,
				   int direction)
{
	const struct line *line = &lines->list.v[i];
	bool here = lane_has_mark(s, line);
	uint32_t message, best = NONE;

	for (uint32_t n = 0; (message = mark_message(s, line, n)) != NONE; n++) {
		if (!here) /* the first from the left, or from the right */
			best = direction > 0 && best != NONE ? best : message;
		else if (direction > 0 && message > s->mark - 1)
			return message;
		else if (direction < 0 && message < s->mark - 1)
			best = message;
	}
	return best;
}

static void draw_chosen_mark(const struct scene *s, const struct axis *axis,
			     const struct line *line, struct grid *g, struct rect where)
{
	int64_t at;

	if (!lane_has_mark(s, line))
		return;
	at = message_time(s->model, s->mark - 1);
	if (at != TIME_NONE && !axis_side(axis, at))
		grid_role(g, rect_in(where, 0, axis_col(axis, at, where.cols), 1, 1), ROLE_CURSOR);
}

static void timeline_draw(const struct scene *s, const struct lines *lines, uint32_t i,
			  struct grid *g, struct rect row)
{
	struct rect where = column_rect(row, &lines->table->fit, COL_AXIS);
	const struct line *line = &lines->list.v[i];
	struct pen p = { g, rect_in(row, 0, 0, 1, row.cols) };
	struct scene here = *s;

	if (line->what == LANE_TASK) /* it runs until its recording ends */
		here = scene_in(s, s->model->tasks.v[line->a].session);
	if (line->what == LANE_TASK || line->what == LANE_NEEDS || line->what == LANE_REVIEW)
		axis_draw_ticks(lines->own, s->now_ms, g, where);
	switch ((enum what)line->what) {
	case LANE_BLANK: break;
	case LANE_SESSION: draw_session(s, line, p); break;
	case LANE_TASK: draw_task(&here, lines, line->a, g, row); break;
	case LANE_NEEDS: draw_needs(s, lines, line->a, g, row); break;
	case LANE_REVIEW: draw_review(s, lines, line, g, row); break;
	case LANE_LEGEND: draw_legend(p); break;
	}
	draw_chosen_mark(s, lines->own, line, g, where);
}

/* A review leads to its newest step. */
static struct target timeline_target(const struct scene *s, const struct lines *lines, uint32_t i)
{
	const struct model *m = s->model;
	const struct line *line = &lines->list.v[i];
	struct review_state review;

	if (lane_has_mark(s, line))
		return target_message(s->mark - 1);
	if (line->what == LANE_SESSION)
		return target_session(line->a);
	if ((line->what == LANE_TASK || line->what == LANE_NEEDS) &&
	    m->tasks.v[line->a].steps.n && m->tasks.v[line->a].steps.v[0].message < s->k)
		return target_task(s, line->a);
	if (line->what == LANE_REVIEW && review_at(m, &m->reviews.v[line->a], s->k, &review))
		return target_message(review.last);
	return target_none;
}

const struct view_ops view_timeline = {
	.name = "timeline",
	.make = timeline_make,
	.heading = timeline_heading,
	.draw = timeline_draw,
	.target = timeline_target,
	.next_mark = timeline_next_mark,
	.empty = "No task, review or feedback loop yet.",
	.then = "{messages} shows every message.",
	.needs_protocol = true,
};
