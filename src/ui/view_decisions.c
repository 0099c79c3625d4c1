/* The decisions: who decided which item and how, newest first, and whether the other side took note
 * of it. An item that came back and was decided again has a line for each. */
#include "ui/view_parts.h"

#include <stdio.h>
#include <stdlib.h>

enum col {
	COL_TIME,
	COL_LINE,
	COL_AGENT,
	COL_VERDICT,
	COL_TOLD,
	COL_KIND,
	COL_ID,
	COL_TITLE,
	COL_COUNT
};

static const struct column table[COL_COUNT] = {
	[COL_TIME] = { "time", 8, 8, 3 }, [COL_LINE] = { "line", 4, 5, 5, .right = true },
	[COL_AGENT] = { "by", 8, 8, 2 },  [COL_VERDICT] = { "verdict", 1, 11, 0 },
	[COL_TOLD] = { "ack", 1, 1, 6 },  [COL_KIND] = { "kind", 11, 11, 4 },
	[COL_ID] = { "item", 12, 15, 0 }, [COL_TITLE] = { "what", 16, 24, 1, .grows = true },
};

static void layout(const struct scene *s, int cols, struct column c[COL_COUNT], struct columns *fit)
{
	memcpy(c, table, sizeof(table));
	c[COL_AGENT].want = agents_width(s, 8, cols < 90 ? 9 : 16);
	if (cols < 60)
		c[COL_VERDICT].want = 1;
	if (cols >= 100)
		c[COL_TOLD].want = 14;
	if (cols >= 120) {
		c[COL_ID].want = 26;
		c[COL_TITLE].want = 40;
	}
	columns_fit(c, COL_COUNT, cols, fit);
}

/* A line is: the message that decided, the item, the number of the step. */
static int newest_first(const void *left, const void *right)
{
	const struct line *a = left, *b = right;

	if (a->what != b->what)
		return a->what > b->what ? -1 : 1;
	if (a->a != b->a)
		return a->a < b->a ? -1 : 1;
	return a->b > b->b ? -1 : a->b < b->b;
}

static void decisions_make(const struct scene *s, int cols, struct lines *out)
{
	const struct model *m = s->model;
	struct column c[COL_COUNT];

	out->own = arena_alloc(&out->arena, sizeof(struct columns));
	out->cols = cols;
	layout(s, cols, c, out->own);
	for (uint32_t i = 0; i < m->items.n; i++) {
		const struct item *item = &m->items.v[i];
		struct item_state at;

		if (!item->n || item->steps[0].message >= s->k || !item_is_shown(s, i, &at))
			continue;
		for (uint32_t n = 0; n < item->n && item->steps[n].message < s->k; n++)
			if (item->steps[n].what == STEP_DECIDED)
				line_add(out, item->steps[n].message, i, n);
	}
	if (out->list.n)
		qsort(out->list.v, out->list.n, sizeof(*out->list.v), newest_first);
}

static void decisions_heading(const struct scene *s, struct grid *g, struct rect row)
{
	struct column c[COL_COUNT];
	struct columns fit;

	layout(s, row.cols, c, &fit);
	columns_heading(c, COL_COUNT, &fit, g, row);
}

/* What the one who raised the item answered to this decision. */
static void put_told(const struct scene *s, struct pen p, const struct item *item, uint32_t step)
{
	static const struct mark acked = { "✓", "K", "acknowledged", ROLE_OK },
				 bounced = { "⚠", "U", "unknown id", ROLE_WARN };

	for (uint32_t i = step + 1; i < item->n && item->steps[i].message < s->k; i++) {
		switch ((enum step_kind)item->steps[i].what) {
		case STEP_ACKED: pen_mark(&p, &acked); return;
		case STEP_BOUNCED: pen_mark(&p, &bounced); return;
		case STEP_RAISED:
		case STEP_DECIDED: return;
		case STEP_FIXED:
		case STEP_SUPERSEDED: break;
		}
	}
}

static void put_item(const struct scene *s, struct grid *g, struct rect row,
		     const struct columns *fit, const struct item *item, uint32_t decided)
{
	struct pen p = column_pen(g, row, fit, COL_ID);
	struct item_state then;
	struct buf name = { 0 };
	struct detail d;

	item_name(s->model, item, &name);
	pen_id(&p, ROLE_ID, buf_str(&name));
	buf_release(&name);
	p = column_pen(g, row, fit, COL_TITLE);
	/* what it said when it was decided */
	if (p.rest.cols < 1 || !item_at(s->model, item, decided + 1, s->now_ms, &then))
		return;
	if (!s->reader->detail(s->reader->ctx, item, &then, &d) || !d.title.n)
		d.title = s->reader->summary(s->reader->ctx, then.message);
	pen_hidden(&p, d.title);
	pen_text(&p, ROLE_NORMAL, d.title);
}

static void decisions_draw(const struct scene *s, const struct lines *lines, uint32_t i,
			   struct grid *g, struct rect row)
{
	const struct model *m = s->model;
	const struct line *line = &lines->list.v[i];
	const struct item *item = &m->items.v[line->a];
	const struct item_step *step = &item->steps[line->b];
	int64_t time_ms = message_time(m, line->what);
	const struct columns *fit = lines->own;
	struct pen p;
	char text[32];

	grid_put(g, column_rect(row, fit, COL_TIME), ROLE_TIME,
		 time_ms == WHEN_NONE ? "" : when_clock(time_ms, text));
	snprintf(text, sizeof(text), "%u", m->records.v[line->what].line);
	put_right(g, column_rect(row, fit, COL_LINE), ROLE_DIM, text);
	p = column_pen(g, row, fit, COL_AGENT);
	pen_agent(&p, m, step->by);
	p = column_pen(g, row, fit, COL_VERDICT);
	pen_mark(&p, mark_of_verdict(step->verdict));
	put_told(s, column_pen(g, row, fit, COL_TOLD), item, line->b);
	grid_put(g, column_rect(row, fit, COL_KIND), ROLE_NORMAL, item_kind_name(item->kind));
	put_item(s, g, row, fit, item, line->what);
}

static struct target decisions_target(const struct scene *s, const struct lines *lines, uint32_t i)
{
	(void)s;
	return target_item(lines->list.v[i].a);
}

const struct view_ops view_decisions = {
	.name = "decisions",
	.make = decisions_make,
	.heading = decisions_heading,
	.draw = decisions_draw,
	.target = decisions_target,
	.empty = "Nobody has decided anything yet.",
};
