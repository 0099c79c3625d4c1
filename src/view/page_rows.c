/* Draws the rows of pages (page.h). */
#include "view/page.h"

#include <stdio.h>

enum { LABEL_COLS = 11, INDENT = 1, LOOP_TURNS_MAX = 6, ITEM_ID_LEAST_COLS = 120 };

enum item_col { ITEM_STATE, ITEM_TIME, ITEM_GRADE, ITEM_KIND, ITEM_WHO, ITEM_ID, ITEM_WHAT, ITEM_COLS };
enum task_col { TASK_ID, TASK_STATE, TASK_DONE, TASK_WHO, TASK_TIME, TASK_WHAT, TASK_COLS };
enum agent_col { AGENT_NAME, AGENT_STATE, AGENT_TASK, AGENT_SEEN, AGENT_MESSAGES, AGENT_ERRORS,
		 AGENT_TYPE, AGENT_COLS };

static const struct column item_table[ITEM_COLS] = {
	[ITEM_STATE] = { "", 1, 11, 0 },   [ITEM_TIME] = { "", 8, 8, 3 },
	[ITEM_GRADE] = { "", 1, 5, 1 },	   [ITEM_KIND] = { "", 8, 11, 2 },
	[ITEM_WHO] = { "", 8, 14, 4 },	   [ITEM_ID] = { "", 10, 14, 5 },
	[ITEM_WHAT] = { "", 24, 24, 0, .grows = true },
};

/* Reviews use the same columns. */
static const struct column task_table[TASK_COLS] = {
	[TASK_ID] = { "", 12, 16, 0 },  [TASK_STATE] = { "", 1, 11, 0 },
	[TASK_DONE] = { "", 4, 4, 2, .right = true }, [TASK_WHO] = { "", 8, 14, 3 },
	[TASK_TIME] = { "", 8, 8, 4 },  [TASK_WHAT] = { "", 24, 24, 0, .grows = true },
};

static const struct column agent_table[AGENT_COLS] = {
	[AGENT_NAME] = { "", 12, 16, 0 },	[AGENT_STATE] = { "", 9, 11, 0 },
	[AGENT_TASK] = { "", 10, 14, 1 },	[AGENT_SEEN] = { "", 8, 8, 2 },
	[AGENT_MESSAGES] = { "", 13, 14, 3 }, [AGENT_ERRORS] = { "", 10, 12, 4 },
	[AGENT_TYPE] = { "", 8, 12, 5, .grows = true },
};

void page_layout(struct page *p, int cols)
{
	struct column items[ITEM_COLS];

	memcpy(items, item_table, sizeof(items));
	if (cols < ITEM_ID_LEAST_COLS)
		items[ITEM_ID].min = items[ITEM_ID].want = 0;
	columns_fit(items, ITEM_COLS, cols - INDENT, &p->items);
	columns_fit(task_table, TASK_COLS, cols - INDENT, &p->tasks);
	columns_fit(agent_table, AGENT_COLS, cols - INDENT, &p->agents);
	message_row_layout(p->s, cols, &p->messages);
}

static void put_time(struct pen p, const struct model *m, uint32_t message)
{
	int64_t t = message_time(m, message);
	char text[32];

	pen_put(&p, ROLE_TIME, t == TIME_NONE ? "" : timestamp_clock(t, text));
}

static void pen_task_state(struct pen *p, const struct scene *s, const struct task_state_at *at)
{
	struct scene here = scene_in(s, message_route(s->model, at->last)->session);

	if (task_is_stalled(s->model, at, here.now_ms))
		pen_mark(p, &(struct mark){ "⚠", "S", "stalled", ROLE_STALLED });
	else
		pen_mark(p, &task_marks[at->state]);
}

/* ---- facts ---- */

/* Room for the state at the right end of the name's row. */
static struct pen state_pen(struct pen *p)
{
	int cols = p->rest.cols > 40 ? 14 : p->rest.cols / 3;
	struct pen state = { p->g, rect_in(p->rest, 0, p->rest.cols - cols, 1, cols) };

	p->rest.cols -= cols + 1;
	return state;
}

static void draw_name(const struct scene *s, const struct page *page, struct pen p)
{
	const struct model *m = s->model;
	uint32_t n = s->page.number;
	struct pen state = state_pen(&p);
	struct task_state_at task;

	switch (s->page.type) {
	case TARGET_TASK:
		pen_put(&p, ROLE_DIM, "task ");
		pen_id(&p, ROLE_ID, model_str(m, m->tasks.v[n].id));
		if (task_at(m, &m->tasks.v[n], s->k, &task))
			pen_task_state(&state, s, &task);
		break;
	case TARGET_AGENT:
		pen_put(&p, ROLE_DIM, "agent ");
		pen_agent(&p, m, n);
		pen_agent_state(&state, s, &page->stats[n],
				life_of_agent(s, n, page->stats[n].messages > 0));
		break;
	case TARGET_SESSION:
		pen_put(&p, ROLE_DIM, "session ");
		pen_id(&p, ROLE_ACCENT, session_name(m, n));
		break;
	case TARGET_NONE:
	case TARGET_LOOP:
	case TARGET_ITEM:
	case TARGET_MESSAGE: break;
	}
}

/* The words of a task, and its state. */
static void put_task(const struct scene *s, uint32_t task, struct pen p)
{
	const struct task *t = &s->model->tasks.v[task];
	struct task_state_at at;

	if (!task_at(s->model, t, s->k, &at)) {
		pen_task_words(&p, ROLE_ID, s, t, NULL);
		return;
	}
	pen_printf(&p, task_marks[at.state].role, "%s %s  ", task_marks[at.state].glyph,
		   task_marks[at.state].word);
	pen_task_words(&p, ROLE_ID, s, t, &at);
}

static void draw_link(const struct scene *s, const struct line *line, struct pen p)
{
	struct pen label = p;

	pen_skip(&p, LABEL_COLS);
	if (line->what == ROW_NEEDS) {
		pen_put(&label, ROLE_DIM, line->b ? "needed by" : "needs");
		put_task(s, line->a, p);
	} else if (line->a == TARGET_TASK) {
		pen_put(&label, ROLE_DIM, "task");
		put_task(s, line->b, p);
	} else if (line->a == TARGET_AGENT) {
		pen_put(&label, ROLE_DIM, "agent");
		pen_agent(&p, s->model, line->b);
	} else {
		pen_put(&label, ROLE_DIM, "session");
		pen_id(&p, ROLE_NORMAL, session_name(s->model, line->b));
	}
}

static void draw_last(const struct scene *s, uint32_t message, struct pen p)
{
	struct str words;
	char text[32];
	int64_t t = message_time(s->model, message);

	pen_put(&p, ROLE_DIM, "last");
	p.rest = rect_in(p.rest, 0, LABEL_COLS - 4, 1, p.rest.cols - LABEL_COLS + 4);
	if (t != TIME_NONE)
		pen_printf(&p, ROLE_TIME, "%s  ", timestamp_clock(t, text));
	words = s->reader->summary(s->reader->ctx, message);
	pen_hidden(&p, words);
	pen_text(&p, ROLE_NORMAL, words);
}

static void draw_section(const struct scene *s, const struct page *page, const struct line *line,
			 struct pen p)
{
	static const char *const names[PAGE_SECTIONS] = {
		[PAGE_HISTORY] = "history", [PAGE_AGENTS] = "agents",
		[PAGE_LOOPS] = "loops",	    [PAGE_TASKS] = "tasks",
		[PAGE_REVIEWS] = "reviews", [PAGE_ITEMS] = "items",
		[PAGE_MESSAGES] = "messages",
	};
	bool chain = line->a == PAGE_TASKS && s->page.type == TARGET_TASK;

	grid_fill(p.g, p.rest, ROLE_BORDER, "─");
	pen_put(&p, ROLE_ACCENT, chain ? "revisions" : names[line->a]);
	if (line->b == page->total[line->a])
		pen_printf(&p, ROLE_DIM, " %u ", line->b);
	else
		pen_printf(&p, ROLE_DIM, " %u of %u match the filter ", line->b,
			   page->total[line->a]);
}

/* ---- rows ---- */

static void draw_step(const struct scene *s, const struct line *line, struct grid *g,
		      struct rect row)
{
	const struct model *m = s->model;
	const struct task *t = &m->tasks.v[line->a];
	const struct task_step *step = &t->steps.v[line->b];
	struct pen p = { g, rect_in(row, 0, 9, 1, row.cols - 9) };

	put_time((struct pen){ g, row }, m, step->message);
	pen_printf(&p, task_marks[step->state].role, "%s %s", task_marks[step->state].glyph,
		   task_marks[step->state].word);
	if (step->percent != 255)
		pen_printf(&p, ROLE_NORMAL, " %u%%", step->percent);
	if (step->agent != NONE) {
		pen_put(&p, ROLE_DIM, step->assigned ? " to " : ", ");
		pen_agent(&p, m, step->agent);
	}
	if (t->root != line->a) {
		pen_put(&p, ROLE_DIM, " as ");
		pen_id(&p, ROLE_ID, model_str(m, t->id));
	}
	pen_printf(&p, ROLE_DIM, "  line %u", message_line(m, step->message));
}

static void draw_agent(const struct scene *s, const struct page *page, uint32_t agent,
		       struct grid *g, struct rect row)
{
	const struct agent_stats *stats = &page->stats[agent];
	struct pen p = column_pen(g, row, &page->agents, AGENT_NAME);
	char text[32];

	pen_agent(&p, s->model, agent);
	p = column_pen(g, row, &page->agents, AGENT_STATE);
	pen_agent_state(&p, s, stats, life_of_agent(s, agent, stats->messages > 0));
	p = column_pen(g, row, &page->agents, AGENT_TASK);
	if (stats->task != NONE)
		pen_short(&p, ROLE_ID, model_str(s->model, s->model->tasks.v[stats->task].id));
	p = column_pen(g, row, &page->agents, AGENT_SEEN);
	if (stats->last_seen_ms != TIME_NONE)
		pen_put(&p, ROLE_TIME, timestamp_clock(stats->last_seen_ms, text));
	p = column_pen(g, row, &page->agents, AGENT_MESSAGES);
	pen_printf(&p, ROLE_NORMAL, "%s message%s", short_number(stats->messages, text),
		   stats->messages == 1 ? "" : "s");
	p = column_pen(g, row, &page->agents, AGENT_ERRORS);
	if (stats->errors)
		pen_printf(&p, ROLE_ERROR, "%s error%s", short_number(stats->errors, text),
			   stats->errors == 1 ? "" : "s");
	p = column_pen(g, row, &page->agents, AGENT_TYPE);
	pen_id(&p, ROLE_DIM, model_str(s->model, s->model->agents.v[agent].type));
}

static void draw_loop(const struct scene *s, const struct page *page, uint32_t number,
		      struct pen p)
{
	const struct ledger *all = page->ledger;
	uint32_t task = all->list[number].task, from;
	struct arena arena = { 0 };
	struct loop_at *l = loop_look(all, number, s->k, &arena);
	const char *sep = "";

	if (task == NONE)
		pen_put(&p, ROLE_NORMAL, "feedback loop");
	else
		pen_id(&p, ROLE_ID, model_str(s->model, s->model->tasks.v[task].id));
	pen_printf(&p, ROLE_DIM, "  %u iteration%s  open ", l->turn_count,
		   l->turn_count == 1 ? "" : "s");
	from = l->turn_count > LOOP_TURNS_MAX ? l->turn_count - LOOP_TURNS_MAX : 0;
	if (from)
		pen_put(&p, ROLE_DIM, "… → ");
	for (uint32_t i = from; i < l->turn_count; i++) {
		if (l->turns[i].answer == NONE)
			pen_printf(&p, ROLE_DIM, "%s–", sep);
		else
			pen_printf(&p, ROLE_NORMAL, "%s%u", sep, l->turns[i].open);
		sep = " → ";
	}
	pen_put(&p, ROLE_NORMAL, "  ");
	if (loop_diverges(all, number, s->k))
		pen_put(&p, ROLE_WARN, "⚠ does not converge");
	else if (l->failed)
		pen_put(&p, ROLE_ERROR, "⚠ error");
	else
		pen_mark(&p, &review_marks[l->verdict]);
	arena_release(&arena);
}

static void draw_task(const struct scene *s, const struct page *page, uint32_t number,
		      struct grid *g, struct rect row)
{
	const struct task *t = &s->model->tasks.v[number];
	struct pen p = column_pen(g, row, &page->tasks, TASK_ID);
	struct task_state_at at;
	struct str title;
	char text[16];

	pen_short(&p, ROLE_ID, model_str(s->model, t->id));
	if (!task_at(s->model, t, s->k, &at))
		return;
	p = column_pen(g, row, &page->tasks, TASK_STATE);
	pen_task_state(&p, s, &at);
	if (at.percent >= 0) {
		snprintf(text, sizeof(text), "%d%%", at.percent);
		put_right(g, column_rect(row, &page->tasks, TASK_DONE), ROLE_NORMAL, text);
	}
	p = column_pen(g, row, &page->tasks, TASK_WHO);
	pen_agent(&p, s->model, at.agent);
	put_time(column_pen(g, row, &page->tasks, TASK_TIME), s->model, at.last);
	p = column_pen(g, row, &page->tasks, TASK_WHAT);
	title = task_title(s, &at);
	if (!title.n && at.given != NONE)
		title = s->reader->summary(s->reader->ctx, at.given);
	pen_hidden(&p, title);
	pen_text(&p, ROLE_NORMAL, title);
}

static void draw_review(const struct scene *s, const struct page *page, uint32_t number,
			struct grid *g, struct rect row)
{
	const struct review *r = &s->model->reviews.v[number];
	struct pen p = column_pen(g, row, &page->tasks, TASK_ID);
	struct review_state at;
	char text[16];

	pen_short(&p, ROLE_ID, model_str(s->model, r->id));
	if (!review_at(s->model, r, s->k, &at))
		return;
	p = column_pen(g, row, &page->tasks, TASK_STATE);
	if (at.failed)
		pen_mark(&p, &(struct mark){ "⚠", "!", "error", ROLE_ERROR });
	else
		pen_mark(&p, &review_marks[at.verdict]);
	snprintf(text, sizeof(text), "#%u", at.iteration);
	put_right(g, column_rect(row, &page->tasks, TASK_DONE), ROLE_NORMAL, text);
	p = column_pen(g, row, &page->tasks, TASK_WHO);
	pen_agent(&p, s->model,
		  r->reviewer == NONE ? message_route(s->model, at.last)->from : r->reviewer);
	put_time(column_pen(g, row, &page->tasks, TASK_TIME), s->model, at.last);
	p = column_pen(g, row, &page->tasks, TASK_WHAT);
	if (at.verdict != REVIEW_NONE)
		pen_printf(&p, ROLE_DIM, "%u finding%s", at.findings, at.findings == 1 ? "" : "s");
}

static void draw_item(const struct scene *s, const struct page *page, uint32_t number,
		      struct grid *g, struct rect row)
{
	const struct model *m = s->model;
	const struct item *item = &m->items.v[number];
	const struct mark *grade;
	struct item_state at;
	struct pen p = column_pen(g, row, &page->items, ITEM_STATE);

	if (!item_at(m, item, s->k, scene_clock(s), &at))
		return;
	pen_mark(&p, &verdict_marks[at.verdict]);
	put_time(column_pen(g, row, &page->items, ITEM_TIME), m, at.message);
	p = column_pen(g, row, &page->items, ITEM_GRADE);
	grade = &grade_marks[at.grade];
	if (at.grade != GRADE_NONE)
		pen_put(&p, grade->role, p.rest.cols < 5 ? grade->letter : grade->word);
	p = column_pen(g, row, &page->items, ITEM_KIND);
	pen_put(&p, ROLE_NORMAL, item_kind_name(item->kind));
	p = column_pen(g, row, &page->items, ITEM_WHO);
	pen_agent(&p, m, message_route(m, at.message)->from);
	p = column_pen(g, row, &page->items, ITEM_ID);
	if (p.rest.cols)
		pen_item_name(&p, m, item);
	p = column_pen(g, row, &page->items, ITEM_WHAT);
	if (at.delivery != DELIVERY_NONE)
		pen_printf(&p, delivery_marks[at.delivery].role, "%s · ",
			   delivery_name(at.delivery));
	pen_title(&p, at.open ? ROLE_NORMAL : ROLE_DIM, s, item, &at);
}

void page_draw(const struct scene *s, const struct lines *lines, uint32_t i, struct grid *g,
	       struct rect row)
{
	const struct page *page = lines->own;
	const struct line *line = &lines->list.v[i];
	struct pen p = { g, rect_in(row, 0, 0, 1, row.cols) };
	struct rect in = rect_in(row, 0, INDENT, 1, row.cols - INDENT);

	if (prose_draw(s, &page->prose, line, p))
		return;
	switch ((enum page_row)line->what) {
	case ROW_NAME: draw_name(s, page, p); break;
	case ROW_SECTION: draw_section(s, page, line, p); break;
	case ROW_LINK:
	case ROW_NEEDS: draw_link(s, line, p); break;
	case ROW_LAST: draw_last(s, line->a, p); break;
	case ROW_STEP: draw_step(s, line, g, in); break;
	case ROW_AGENT: draw_agent(s, page, line->a, g, in); break;
	case ROW_LOOP: draw_loop(s, page, line->a, (struct pen){ g, in }); break;
	case ROW_TASK: draw_task(s, page, line->a, g, in); break;
	case ROW_REVIEW: draw_review(s, page, line->a, g, in); break;
	case ROW_ITEM: draw_item(s, page, line->a, g, in); break;
	case ROW_MESSAGE: message_row_draw(s, &page->messages, line->a, g, row); break;
	}
}
