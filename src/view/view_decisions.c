/* The decisions view: who decided which item and how, newest first, and its delivery. The person's
 * own decisions come first, from the journal: staged, recorded, sent, acknowledged or held. Those
 * of the log and of others' replies follow. */
#include "view/session_label.h"

#include <stdio.h>
#include <stdlib.h>

enum {
	TRUST_COLS = 9, /* of the longest word for an origin, with its glyph */
	VERDICT_COLS = 12,
	DELIVERY_COLS = 14,
	PAPER_ID_COLS = 36,
	PAPER_SAID_COLS = 44,
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
	COL_SESSION,
	COL_ID,
	COL_TITLE,
	COL_SAID,
	COL_COUNT
};

static const struct column table[COL_COUNT] = {
	[COL_DATE] = { "date", 5, 10, 4 },
	[COL_TIME] = { "time", 8, 8, 3 },
	[COL_LINE] = { "line", 4, 5, 5, .right = true, .late = true },
	[COL_AGENT] = { "by", 8, 8, 2 },
	[COL_TO] = { "to", 8, 8, 2, .late = true },
	[COL_TRUST] = { "origin", 1, TRUST_COLS, 5 },
	[COL_VERDICT] = { "verdict", VERDICT_COLS, VERDICT_COLS, 0 },
	[COL_DELIVERY] = { "sent", 1, DELIVERY_COLS, 1, .widens = 4 },
	[COL_KIND] = { "kind", 11, 11, 3, .late = true },
	[COL_SESSION] = { "session", 9, 9, 1, .late = true },
	[COL_ID] = { "item", 12, 16, 4, .late = true },
	[COL_TITLE] = { "what", 20, 40, 0, .grows = true, .roomy = 60 },
	[COL_SAID] = { "said", 7, 30, 7, .widens = 3 },
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

static void layout(const struct scene *s, int cols, struct lines *out)
{
	struct column c[COL_COUNT];

	memcpy(c, table, sizeof(table));
	c[COL_AGENT].want = agents_width(s, 8, 16);
	c[COL_TO].want = agents_width(s, 8, 12);
	session_column(s, out, &c[COL_SESSION], 6);
	if (!spans_days(s, out))
		c[COL_DATE].min = 0;
	if (!s->keymap) { /* whole ids, since commands take them, and words that can be searched */
		c[COL_ID] = (struct column){ "item", 12, PAPER_ID_COLS, 1 };
		c[COL_DELIVERY].widens = 1;
		c[COL_TITLE].widens = 2;
		c[COL_SAID].want = PAPER_SAID_COLS;
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
	session_labels_make(s, out);
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

/* The glyph alone where words of the column, up to that many columns, would be cut. */
static void put_mark(struct pen p, const struct mark *mark, int cols)
{
	if (p.rest.cols >= cols)
		pen_mark(&p, mark);
	else
		pen_put(&p, mark->role, mark->glyph);
}

/* What became of a person's decision; how the agent that raised the item answered an agent's. */
static void put_acknowledgment(const struct scene *s, struct pen p, const struct item *item,
			       uint32_t step)
{
	enum delivery d = step_delivery(item, step, s->k);

	if (item->steps[step].said || d != DELIVERY_SENT)
		put_mark(p, &delivery_marks[d], DELIVERY_COLS);
}

static void put_item(const struct scene *s, struct grid *g, struct rect row,
		     const struct columns *fit, const struct item *item, uint32_t decided)
{
	struct pen p = column_pen(g, row, fit, COL_ID);
	struct item_state then;

	pen_item_short(&p, s, item);
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

static void put_session(const struct scene *s, const struct lines *lines, uint32_t item,
			struct pen p)
{
	const struct item *it = &s->model->items.v[item];

	pen_session(&p, ROLE_DIM, s, lines, message_session(s, lines, it->steps[0].message));
}


/* Whether it was sent when nobody asked any more. */
static bool is_too_late(const struct scene *s, const struct desk *desk, const struct draft *draft,
			struct item_state *at)
{
	return draft->number != NONE && draft->state != DRAFT_VOID &&
	       draft_delivery(desk, draft, s->model) == DELIVERY_BOUNCED &&
	       item_at(s->model, &s->model->items.v[draft->number], s->k, scene_clock(s), at) &&
	       item_over_reason(s->model, at);
}

/* What was said, or what keeps it from arriving. */
static void put_said(const struct scene *s, const struct desk *desk, const struct draft *draft,
		     struct pen p)
{
	const struct letter *l = draft_letter(desk, draft);
	const struct reply *r = l ? message_reply(s->model, l->message) : NULL;
	struct buf words = { 0 };
	struct item_state at;

	if (l && l->state == LETTER_HELD) {
		pen_put(&p, ROLE_HELD, l->uncertain ? "may have arrived: " : "not delivered: ");
		pen_text(&p, ROLE_HELD, l->why);
	} else if (is_too_late(s, desk, draft, &at)) {
		pen_printf(&p, ROLE_WARN, "too late: %s", item_over_reason(s->model, &at));
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
static void draw_draft(const struct scene *s, const struct lines *lines, uint32_t i, struct grid *g,
		       struct rect row)
{
	const struct line *line = &lines->list.v[i];
	const struct columns *fit = &lines->table->fit;
	const struct desk *desk = &s->desks->list.v[line->a];
	const struct draft *draft = &desk->drafts.v[line->b];
	const struct letter *l = draft_letter(desk, draft);
	struct pen p = column_pen(g, row, fit, COL_AGENT);

	pen_id(&p, ROLE_PERSON, draft->by);
	put_recipient(s, column_pen(g, row, fit, COL_TO), draft->number, l ? l->to : STR_NONE,
		      NONE);
	put_mark(column_pen(g, row, fit, COL_TRUST), &trust_marks[TRUST_JOURNAL], TRUST_COLS);
	p = column_pen(g, row, fit, COL_VERDICT);
	pen_mark(&p, &verdict_marks[verb_verdict(draft->verb)]);
	p = column_pen(g, row, fit, COL_DELIVERY);
	if (draft->state == DRAFT_VOID)
		pen_put(&p, ROLE_DIM, "undone");
	else
		put_mark(p, &delivery_marks[draft_delivery(desk, draft, s->model)],
			 DELIVERY_COLS);
	grid_put(g, column_rect(row, fit, COL_KIND), ROLE_NORMAL, item_kind_name(draft->kind));
	p = column_pen(g, row, fit, COL_SESSION);
	if (draft->number != NONE)
		put_session(s, lines, draft->number, p);
	p = column_pen(g, row, fit, COL_ID);
	(s->keymap ? pen_short : pen_id)(&p, ROLE_ID, draft->item);
	p = column_pen(g, row, fit, COL_TITLE);
	pen_draft_subject(&p, s, draft);
	put_said(s, desk, draft, column_pen(g, row, fit, COL_SAID));
}

static void draw_step(const struct scene *s, const struct lines *lines, uint32_t i, struct grid *g,
		      struct rect row)
{
	const struct model *m = s->model;
	const struct line *line = &lines->list.v[i];
	const struct columns *fit = &lines->table->fit;
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
	put_mark(column_pen(g, row, fit, COL_TRUST), &trust_marks[message_trust(m, line->what)],
		 TRUST_COLS);
	p = column_pen(g, row, fit, COL_VERDICT);
	pen_mark(&p, &verdict_marks[step->verdict]);
	put_acknowledgment(s, column_pen(g, row, fit, COL_DELIVERY), item, line->b);
	grid_put(g, column_rect(row, fit, COL_KIND), ROLE_NORMAL, item_kind_name(item->kind));
	put_session(s, lines, line->a, column_pen(g, row, fit, COL_SESSION));
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
	(line->what == DECISION_MADE_HERE ? draw_draft : draw_step)(s, lines, i, g, row);
}

static struct target decisions_target(const struct scene *s, const struct lines *lines, uint32_t i)
{
	const struct line *line = &lines->list.v[i];
	uint32_t item = line->a;

	if (line->what == DECISION_MADE_HERE)
		item = s->desks->list.v[line->a].drafts.v[line->b].number;
	return item == NONE ? target_none : target_item(item);
}

static enum sort_place draft_sort_key(const struct scene *s, const struct line *line,
				      enum col column, struct sort_key *out)
{
	const struct desk *desk = &s->desks->list.v[line->a];
	const struct draft *draft = &desk->drafts.v[line->b];

	switch (column) {
	case COL_DATE:
	case COL_TIME: out->number = draft->time_ms; break;
	case COL_AGENT: out->text = draft->by; break;
	case COL_TRUST: out->number = TRUST_JOURNAL; break;
	case COL_VERDICT: out->number = verb_verdict(draft->verb); break;
	case COL_DELIVERY: out->number = draft_delivery(desk, draft, s->model); break;
	case COL_KIND: out->text = str_of(item_kind_name(draft->kind)); break;
	case COL_ID: out->text = draft->item; break;
	case COL_SESSION:
		if (draft->number == NONE)
			return SORT_LAST;
		out->text = session_name(s->model,
					 item_session(s->model, &s->model->items.v[draft->number]));
		break;
	case COL_LINE: /* it has none */
	case COL_TO:
	case COL_TITLE:
	case COL_SAID:
	case COL_COUNT: return SORT_LAST;
	}
	return SORT_BY_KEY;
}

static enum sort_place decisions_sort_key(const struct scene *s, struct lines *lines, uint32_t i,
					  unsigned column, struct sort_key *out)
{
	const struct model *m = s->model;
	const struct line *line = &lines->list.v[i];
	const struct item *item;

	if (line->what == DECISION_MADE_HERE)
		return draft_sort_key(s, line, (enum col)column, out);
	item = &m->items.v[line->a];
	switch ((enum col)column) {
	case COL_DATE:
	case COL_TIME: out->number = message_time(m, line->what); break;
	case COL_LINE: out->number = message_line(m, line->what); break;
	case COL_AGENT: out->text = agent_name(m, message_route(m, line->what)->from); break;
	case COL_TRUST: out->number = message_trust(m, line->what); break;
	case COL_VERDICT: out->number = item->steps[line->b].verdict; break;
	case COL_DELIVERY: out->number = step_delivery(item, line->b, s->k); break;
	case COL_KIND: out->text = str_of(item_kind_name(item->kind)); break;
	case COL_SESSION: out->text = session_name(m, item_session(m, item)); break;
	case COL_ID: out->text = item_sort_name(m, item, lines); break;
	case COL_TO:
	case COL_TITLE:
	case COL_SAID:
	case COL_COUNT: return SORT_LAST;
	}
	return SORT_BY_KEY;
}

const struct view_ops view_decisions = {
	.name = "decisions",
	.make = decisions_make,
	.heading = table_heading,
	.draw = decisions_draw,
	.target = decisions_target,
	.sort_key = decisions_sort_key,
	.sort_columns = ((1 << COL_TITLE) - 1) & ~(1 << COL_TO | 1 << COL_DATE),
	.sort_down = 1 << COL_TIME | 1 << COL_LINE,
	.empty = "No decisions yet.",
	.then = "{accept} accepts, {reject} rejects, {answer} answers what is selected in the "
		"inbox ({inbox}).",
};
