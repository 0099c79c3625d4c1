/* Makes the lines of a page: facts and sections (page.h). page_rows.c draws them. */
#include "view/page.h"

#include <stdarg.h>
#include <stdlib.h>

enum { LABEL_COLS = 11 };

struct page *page_start(const struct scene *s, int cols, struct lines *out)
{
	struct page *p = prose_start(s, cols, out, sizeof(*p));
	struct err err;

	p->s = s;
	p->out = out;
	p->scope = filter_new(STR_NONE, TIME_NONE, &err);
	filter_limit(p->scope, target_scope(s->page), s->page.number);
	page_layout(p, out->cols);
	out->release = page_release;
	return p;
}

void page_end(struct page *p)
{
	prose_end(&p->prose);
	filter_free(p->scope);
	p->scope = NULL;
	p->s = NULL;
	p->out = NULL;
}

void page_release(void *page)
{
	struct page *p = page;

	free(p->stats);
	ledger_release(p->ledger);
}

/* ---- facts ---- */

void page_name(struct page *p)
{
	line_add(p->out, ROW_NAME, 0, 0);
}

void page_fact(struct page *p, const char *label, enum role role, const char *format, ...)
{
	struct buf text = { 0 };
	va_list ap;

	va_start(ap, format);
	buf_vprintf(&text, format, ap);
	va_end(ap);
	prose_add(&p->prose, label, label ? LABEL_COLS : 0, role, buf_str(&text), TEXT_LINE);
	buf_release(&text);
}

void page_link(struct page *p, enum target_type type, uint32_t number)
{
	if (number != NONE)
		line_add(p->out, ROW_LINK, type, number);
}

void page_needs(struct page *p, uint32_t task, bool this_one)
{
	line_add(p->out, ROW_NEEDS, task, this_one);
}

void page_last(struct page *p, uint32_t message)
{
	if (message < p->s->k)
		line_add(p->out, ROW_LAST, message, 0);
}

void page_stats(struct page *p)
{
	if (!p->stats)
		p->stats = scene_agent_stats(p->s);
}

/* ---- sections ---- */

/* Returns the line of the heading, for section_end. */
static uint32_t section_start(struct page *p, enum page_section section)
{
	line_add(p->out, LINE_BLANK, 0, 0);
	line_add(p->out, ROW_SECTION, section, 0);
	return p->out->list.n - 1;
}

/* Leaves an empty section out, unless it is the filter that hides its rows. */
static void section_end(struct page *p, uint32_t heading)
{
	struct line *line = &p->out->list.v[heading];

	line->b = p->out->list.n - heading - 1;
	if (!p->total[line->a])
		p->out->list.n = heading - 1;
}

/* Adds a row that the scene's filter lets through. */
static void add_row(struct page *p, enum page_section section, bool shown, enum page_row row,
		    uint32_t number)
{
	p->total[section]++;
	if (shown)
		line_add(p->out, row, number, 0);
}

static bool is_of_chain(const struct page *p, uint32_t task)
{
	const struct task *t = &p->s->model->tasks.v[task];

	return t->steps.n && t->steps.v[0].message < p->s->k && t->root == p->s->page.number;
}

static int newest_step_first(const void *left, const void *right)
{
	const struct line *a = left, *b = right;

	return a->what == b->what ? (a->b < b->b) - (a->b > b->b) : a->what < b->what ? 1 : -1;
}

/* Steps that change state or assignee; what: message, a: task, b: step. */
static void collect_steps(const struct page *p, uint32_t task, struct lines *out)
{
	const struct task *t = &p->s->model->tasks.v[task];

	for (uint32_t i = 0; i < t->steps.n && t->steps.v[i].message < p->s->k &&
			     yield_on(p->s->yield);
	     i++) {
		const struct task_step *step = &t->steps.v[i], *before = step - 1;

		if (!i || step->assigned || step->state != before->state ||
		    step->agent != before->agent)
			line_add(out, step->message, task, i);
	}
}

void page_add_history(struct page *p)
{
	uint32_t heading = section_start(p, PAGE_HISTORY);
	struct lines steps = { .cols = 1 };

	for (uint32_t i = 0; i < p->s->model->tasks.n && yield_on(p->s->yield); i++)
		if (is_of_chain(p, i))
			collect_steps(p, i, &steps);
	yield_sort(steps.list.v, steps.list.n, sizeof(*steps.list.v), newest_step_first,
		   p->s->yield);
	for (uint32_t i = 0; i < steps.list.n; i++)
		line_add(p->out, ROW_STEP, steps.list.v[i].a, steps.list.v[i].b);
	p->total[PAGE_HISTORY] = steps.list.n;
	lines_release(&steps);
	section_end(p, heading);
}

void page_add_agents(struct page *p)
{
	const struct scene *s = p->s;
	uint32_t heading = section_start(p, PAGE_AGENTS);

	page_stats(p);
	for (uint32_t i = 0; i < s->model->agents.n && yield_on(s->yield); i++)
		if (s->model->agents.v[i].first < s->k &&
		    filter_agent(p->scope, s->model, i, s->k))
			add_row(p, PAGE_AGENTS, filter_agent(s->filter, s->model, i, s->k),
				ROW_AGENT, i);
	section_end(p, heading);
}

void page_add_loops(struct page *p)
{
	const struct scene *s = p->s;
	uint32_t heading = section_start(p, PAGE_LOOPS);

	p->ledger = s->asof ? asof_ledger(s->asof, s->k, s->yield)
			    : ledger_new(s->model, s->k, s->k, s->yield);
	for (uint32_t i = 0; p->ledger && i < p->ledger->n && yield_on(s->yield); i++) {
		const struct ledger_loop *loop = &p->ledger->list[i];

		if (loop_has_begun(p->ledger, i, s->k) &&
		    s->model->reviews.v[p->ledger->reviews[loop->reviews]].session ==
			    s->page.number)
			add_row(p, PAGE_LOOPS, message_is_shown(s, loop->first), ROW_LOOP, i);
	}
	section_end(p, heading);
}

static bool is_page_of_task(const struct scene *s, uint32_t task)
{
	return s->page.type == TARGET_TASK && s->page.number == task;
}

void page_add_tasks(struct page *p)
{
	const struct scene *s = p->s;
	uint32_t heading = section_start(p, PAGE_TASKS);

	for (uint32_t i = 0; i < s->model->tasks.n && yield_on(s->yield); i++)
		if (!is_page_of_task(s, i) && filter_task(p->scope, s->model, i, s->k))
			add_row(p, PAGE_TASKS, filter_task(s->filter, s->model, i, s->k),
				ROW_TASK, i);
	section_end(p, heading);
}

void page_add_reviews(struct page *p)
{
	const struct scene *s = p->s;
	uint32_t heading = section_start(p, PAGE_REVIEWS);
	struct review_state at;

	for (uint32_t i = 0; i < s->model->reviews.n && yield_on(s->yield); i++) {
		const struct review *r = &s->model->reviews.v[i];

		if (r->task != NONE && root_at(s->model, r->task, s->k) == s->page.number &&
		    review_at(s->model, r, s->k, &at))
			add_row(p, PAGE_REVIEWS, true, ROW_REVIEW, i);
	}
	section_end(p, heading);
}

void page_add_items(struct page *p)
{
	const struct scene *s = p->s;
	uint32_t heading = section_start(p, PAGE_ITEMS), n = model_item_count(s->model, s->k);
	struct lines closed = { .cols = 1 };
	struct item_state at;

	for (uint32_t i = 0; i < n && yield_on(s->yield); i++) {
		if (!item_at(s->model, &s->model->items.v[i], s->k, scene_clock(s), &at) ||
		    !filter_item(p->scope, s->model, i, &at, NULL, NULL))
			continue;
		p->total[PAGE_ITEMS]++;
		if (!s->filter || item_passes(s, i, &at))
			line_add(at.open ? p->out : &closed, ROW_ITEM, i, 0);
	}
	for (uint32_t i = 0; i < closed.list.n; i++)
		vec_push(&p->out->list, closed.list.v[i]);
	lines_release(&closed);
	section_end(p, heading);
}

void page_add_messages(struct page *p)
{
	const struct scene *s = p->s;
	uint32_t heading = section_start(p, PAGE_MESSAGES);

	for (uint32_t i = 0; i < s->k && yield_on(s->yield); i++)
		if (filter_message(p->scope, s->model, i, NULL, NULL))
			add_row(p, PAGE_MESSAGES, message_is_shown(s, i), ROW_MESSAGE, i);
	section_end(p, heading);
}

struct target page_target(const struct scene *s, const struct lines *lines, uint32_t i)
{
	const struct line *line = &lines->list.v[i];
	const struct page *p = lines->own;
	struct review_state review;
	struct task_state_at task;

	switch ((enum page_row)line->what) {
	case ROW_NAME:
	case ROW_SECTION: break;
	case ROW_LINK:
		return line->a == TARGET_TASK ? target_task(s, line->b)
					      : (struct target){ line->a, line->b };
	case ROW_NEEDS: return target_task(s, line->a);
	case ROW_STEP: return target_message(s->model->tasks.v[line->a].steps.v[line->b].message);
	case ROW_AGENT: return target_agent(line->a);
	case ROW_LOOP:
		if (p->ledger->list[line->a].task != NONE)
			return target_task(s, p->ledger->list[line->a].task);
		return target_message(p->ledger->list[line->a].first);
	case ROW_TASK:
		if (s->page.type != TARGET_TASK)
			return target_task(s, line->a);
		task_at(s->model, &s->model->tasks.v[line->a], s->k, &task);
		return target_message(task.first);
	case ROW_REVIEW:
		if (review_at(s->model, &s->model->reviews.v[line->a], s->k, &review))
			return target_message(review.last);
		break;
	case ROW_ITEM: return target_item(line->a);
	case ROW_LAST:
	case ROW_MESSAGE: return target_message(line->a);
	}
	return target_none;
}
