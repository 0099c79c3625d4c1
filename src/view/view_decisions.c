/* The decisions view: who decided which item and how, newest first, and its delivery. The person's
 * own decisions come first, from the journal: staged, recorded, sent, acknowledged or held. Those
 * of the log and of others' replies follow. */
#include "view/view_parts.h"

#include <stdio.h>
#include <stdlib.h>

enum {
	TRUST_COLS = 9, /* of the longest word for an origin, with its glyph */
	DAY_MS = 24 * 60 * 60 * 1000,
};

enum col {
	COL_DATE,
	COL_TIME,
	COL_LINE,
	COL_AGENT,
	COL_TO,
	COL_TRUST,
	COL_VERDICT,
	COL_DELIVERY,
	COL_KIND,
	COL_ID,
	COL_TITLE,
	COL_SAID,
	COL_COUNT
};

static const struct column table[COL_COUNT] = {
	[COL_DATE] = { "date", 5, 5, 4 }, [COL_TIME] = { "time", 8, 8, 3 },
	[COL_LINE] = { "line", 4, 5, 8, .right = true },
	[COL_AGENT] = { "by", 8, 8, 2 },  [COL_TO] = { "to", 8, 8, 6 },
	[COL_TRUST] = { "origin", 1, TRUST_COLS, 5 },
	[COL_VERDICT] = { "verdict", 1, 11, 0 },
	[COL_DELIVERY] = { "sent", 1, 14, 1 }, [COL_KIND] = { "kind", 11, 11, 7 },
	[COL_ID] = { "item", 12, 26, 9 },
	[COL_TITLE] = { "what", 22, 22, 0 },
	[COL_SAID] = { "said", 8, 16, 1, .grows = true },
};

static int64_t line_time(const struct scene *s, const struct line *line)
{
	if (line->what == DECISION_MADE_HERE)
		return s->desks->list.v[line->a].drafts.v[line->b].time_ms;
	return message_time(s->model, line->what);
}

static int64_t day_of(int64_t ms)
{
	return ms / DAY_MS - (ms % DAY_MS < 0);
}

/* Whether the decisions are of more than one day. Those of the log are in their order, so its ends
 * tell. */
static bool spans_days(const struct scene *s, const struct lines *lines)
{
	int64_t first = TIME_NONE;

	for (uint32_t i = 0; i < lines->list.n; i++) {
		int64_t t = line_time(s, &lines->list.v[i]);

		if (t != TIME_NONE && first != TIME_NONE && day_of(t) != day_of(first))
			return true;
		if (first == TIME_NONE)
			first = t;
		if (lines->list.v[i].what != DECISION_MADE_HERE && i + 1 < lines->list.n)
			i = lines->list.n - 2;
	}
	return false;
}

static void hide(struct column *c)
{
	c->min = c->want = 0;
}

/* Of the item's words: never fewer on a wider screen, whatever other columns it has room for. */
static int words_cols(int cols)
{
	if (cols < 80)
		return 22;
	if (cols < 130)
		return 26 + (cols - 80) * 14 / 50;
	return cols < 200 ? 40 : 40 + (cols - 200) / 2;
}

static void layout(const struct scene *s, int cols, struct lines *out)
{
	struct column c[COL_COUNT];

	memcpy(c, table, sizeof(table));
	c[COL_AGENT].want = agents_width(s, 8, cols < 90 ? 9 : 16);
	c[COL_TO].want = agents_width(s, 8, 12);
	if (!spans_days(s, out))
		hide(&c[COL_DATE]);
	else if (cols >= 120)
		c[COL_DATE].want = 10;
	c[COL_TITLE].min = c[COL_TITLE].want = words_cols(cols);
	if (cols < 80)
		c[COL_VERDICT].want = 1;
	if (cols < 130)
		c[COL_DELIVERY].want = 1;
	if (cols < 140)
		hide(&c[COL_TO]);
	if (cols < 160) {
		hide(&c[COL_LINE]);
		hide(&c[COL_KIND]);
	}
	if (cols < 200) {
		hide(&c[COL_ID]);
		c[COL_TRUST].want = 1;
	}
	table_layout(out, c, COL_COUNT, cols);
}

static int newest_first(const void *left, const void *right)
{
	const struct line *a = left, *b = right;

	if (a->what != b->what)
		return a->what > b->what ? -1 : 1;
	if (a->a != b->a)
		return a->a < b->a ? -1 : 1;
	return a->b > b->b ? -1 : a->b < b->b;
}

static bool draft_is_shown(const struct scene *s, const struct draft *draft)
{
	struct item_state at;

	if (draft->seen > s->k || (draft->state == DRAFT_VOID && !s->all))
		return false;
	return !s->filter || (draft->number != NONE && item_is_shown(s, draft->number, &at));
}

/* It is a draft of a desk, too. */
static bool is_listed(const struct scene *s, const struct item_step *step)
{
	return s->desks && s->desks->list.n && step_is_own(s->model, step);
}

/* Without an index: scans all items and sorts. */
static void add_by_scan(const struct scene *s, struct lines *out)
{
	const struct model *m = s->model;

	for (uint32_t i = 0; i < m->items.n && yield_on(s->yield); i++) {
		const struct item *item = &m->items.v[i];
		struct item_state at;

		if (!item->n || item->steps[0].message >= s->k ||
		    (s->filter && !item_is_shown(s, i, &at)))
			continue;
		for (uint32_t n = 0; n < item->n && item->steps[n].message < s->k; n++)
			if (item->steps[n].what == STEP_DECIDED && !is_listed(s, &item->steps[n]))
				line_add(out, item->steps[n].message, i, n);
	}
	yield_sort(out->list.v, out->list.n, sizeof(*out->list.v), newest_first, s->yield);
}

/* From the index of decisions (model/asof.h), which is sorted. */
static void add_from_index(const struct scene *s, struct lines *out)
{
	uint32_t n;
	const struct decided *d = asof_decided(s->asof, s->k, &n, s->yield);

	if (!d)
		return;
	lines_reserve(out, n);
	for (uint32_t i = 0; i < n; i++)
		if (!is_listed(s, &s->model->items.v[d[i].item].steps[d[i].step]))
			line_add(out, d[i].message, d[i].item, d[i].step);
}

static void decisions_make(const struct scene *s, int cols, struct lines *out)
{
	for (uint32_t d = 0; s->desks && d < s->desks->list.n; d++)
		for (uint32_t i = 0; i < s->desks->list.v[d].drafts.n; i++)
			if (draft_is_shown(s, &s->desks->list.v[d].drafts.v[i]))
				line_add(out, DECISION_MADE_HERE, d, i);
	if (s->asof && !s->filter) {
		if (out->list.n)
			qsort(out->list.v, out->list.n, sizeof(*out->list.v), newest_first);
		add_from_index(s, out);
	} else {
		add_by_scan(s, out);
	}
	layout(s, cols, out);
}

/* What became of a person's decision; how the agent that raised the item answered an agent's. */
static void put_acknowledgment(const struct scene *s, struct pen p, const struct item *item,
			       uint32_t step)
{
	enum delivery d = step_delivery(item, step, s->k);

	if (item->steps[step].said || d != DELIVERY_SENT)
		pen_mark(&p, &delivery_marks[d]);
}

static void put_item(const struct scene *s, struct grid *g, struct rect row,
		     const struct columns *fit, const struct item *item, uint32_t decided)
{
	struct pen p = column_pen(g, row, fit, COL_ID);
	struct item_state then;

	pen_item_name(&p, s->model, item);
	p = column_pen(g, row, fit, COL_TITLE);
	/* its words when it was decided */
	if (p.rest.cols >= 1 && item_at(s->model, item, decided + 1, scene_clock(s), &then))
		pen_item_words(&p, s, item, &then);
}

/* The date stands out where the day changes. */
static void put_time(const struct scene *s, const struct lines *lines, uint32_t i, struct grid *g,
		     struct rect row)
{
	const struct columns *fit = &lines->table->fit;
	struct rect where = column_rect(row, fit, COL_DATE);
	int64_t t = line_time(s, &lines->list.v[i]);
	int64_t above = i ? line_time(s, &lines->list.v[i - 1]) : TIME_NONE;
	char text[32];

	if (t == TIME_NONE)
		return;
	if (where.cols > 0) {
		timestamp_iso(t, text);
		text[10] = '\0';
		grid_put(g, where,
			 above == TIME_NONE || day_of(above) != day_of(t) ? ROLE_TIME : ROLE_DIM,
			 where.cols < 10 ? text + 5 : text);
	}
	grid_put(g, column_rect(row, fit, COL_TIME), ROLE_TIME, timestamp_clock(t, text));
}

/* Who hears of a decision: its message's recipient, else who raised the item. */
static void put_recipient(const struct scene *s, struct pen p, uint32_t item, struct str to,
			  uint32_t agent)
{
	if (agent == NONE && item != NONE)
		agent = step_by(s->model, &s->model->items.v[item].steps[0]);
	if (to.n)
		pen_id(&p, ROLE_AGENT, to);
	else
		pen_agent(&p, s->model, agent);
}

/* The glyph alone where the word would be cut. */
static void put_trust(struct pen p, enum trust trust)
{
	if (p.rest.cols >= TRUST_COLS)
		pen_mark(&p, &trust_marks[trust]);
	else
		pen_put(&p, trust_marks[trust].role, trust_marks[trust].glyph);
}

/* What was said, or what keeps it from arriving. */
static void put_said(const struct scene *s, const struct desk *desk, const struct draft *draft,
		     struct pen p)
{
	const struct letter *l = draft_letter(desk, draft);
	const struct reply *r = l ? message_reply(s->model, l->message) : NULL;
	struct buf words = { 0 };

	if (l && l->state == LETTER_HELD) {
		pen_put(&p, ROLE_HELD, l->uncertain ? "may have arrived: " : "not delivered: ");
		pen_text(&p, ROLE_HELD, l->why);
	} else if (r && r->stray != NONE && r->proof == NONE) {
		pen_printf(&p, ROLE_WARN, "line %u claims to acknowledge it, from ",
			   message_line(s->model, r->stray));
		pen_agent(&p, s->model, message_route(s->model, r->stray)->from);
	} else {
		draft_words(s, draft, &words);
		pen_text(&p, ROLE_NORMAL, buf_str(&words));
	}
	buf_release(&words);
}

/* A decision of the person's own, from the journal. */
static void draw_draft(const struct scene *s, const struct line *line, const struct columns *fit,
		       struct grid *g, struct rect row)
{
	const struct desk *desk = &s->desks->list.v[line->a];
	const struct draft *draft = &desk->drafts.v[line->b];
	const struct letter *l = draft_letter(desk, draft);
	struct pen p = column_pen(g, row, fit, COL_AGENT);

	pen_id(&p, ROLE_PERSON, draft->by);
	put_recipient(s, column_pen(g, row, fit, COL_TO), draft->number, l ? l->to : STR_NONE,
		      NONE);
	p = column_pen(g, row, fit, COL_TRUST);
	put_trust(p, TRUST_JOURNAL);
	p = column_pen(g, row, fit, COL_VERDICT);
	pen_mark(&p, &verdict_marks[verb_verdict(draft->verb)]);
	p = column_pen(g, row, fit, COL_DELIVERY);
	if (draft->state == DRAFT_VOID)
		pen_put(&p, ROLE_DIM, "undone");
	else
		pen_mark(&p, &delivery_marks[draft_delivery(desk, draft, s->model)]);
	grid_put(g, column_rect(row, fit, COL_KIND), ROLE_NORMAL, item_kind_name(draft->kind));
	p = column_pen(g, row, fit, COL_ID);
	pen_id(&p, ROLE_ID, draft->item);
	p = column_pen(g, row, fit, COL_TITLE);
	pen_draft_subject(&p, s, draft);
	put_said(s, desk, draft, column_pen(g, row, fit, COL_SAID));
}

static void draw_step(const struct scene *s, const struct line *line, const struct columns *fit,
		      struct grid *g, struct rect row)
{
	const struct model *m = s->model;
	const struct item *item = &m->items.v[line->a];
	const struct item_step *step = &item->steps[line->b];
	struct pen p = column_pen(g, row, fit, COL_AGENT);
	struct buf words = { 0 };
	char text[32];

	snprintf(text, sizeof(text), "%u", message_line(m, line->what));
	put_right(g, column_rect(row, fit, COL_LINE), ROLE_DIM, text);
	pen_decider(&p, m, step);
	put_recipient(s, column_pen(g, row, fit, COL_TO), line->a, STR_NONE,
		      message_route(m, line->what)->to);
	p = column_pen(g, row, fit, COL_TRUST);
	put_trust(p, message_trust(m, line->what));
	p = column_pen(g, row, fit, COL_VERDICT);
	pen_mark(&p, &verdict_marks[step->verdict]);
	put_acknowledgment(s, column_pen(g, row, fit, COL_DELIVERY), item, line->b);
	grid_put(g, column_rect(row, fit, COL_KIND), ROLE_NORMAL, item_kind_name(item->kind));
	put_item(s, g, row, fit, item, line->what);
	p = column_pen(g, row, fit, COL_SAID);
	if (p.rest.cols > 0) {
		step_words(s, line->a, step, &words);
		pen_text(&p, ROLE_NORMAL, buf_str(&words));
	}
	buf_release(&words);
}

static void decisions_draw(const struct scene *s, const struct lines *lines, uint32_t i,
			   struct grid *g, struct rect row)
{
	const struct line *line = &lines->list.v[i];

	put_time(s, lines, i, g, row);
	(line->what == DECISION_MADE_HERE ? draw_draft : draw_step)(s, line, &lines->table->fit, g,
								     row);
}

static struct target decisions_target(const struct scene *s, const struct lines *lines, uint32_t i)
{
	const struct line *line = &lines->list.v[i];
	uint32_t item = line->a;

	if (line->what == DECISION_MADE_HERE)
		item = s->desks->list.v[line->a].drafts.v[line->b].number;
	return item == NONE ? target_none : target_item(item);
}

const struct view_ops view_decisions = {
	.name = "decisions",
	.make = decisions_make,
	.heading = table_heading,
	.draw = decisions_draw,
	.target = decisions_target,
	.empty = "No decisions yet.",
	.then = "{accept} accepts, {reject} rejects, {answer} answers what is selected in the "
		"inbox ({inbox}).",
};
