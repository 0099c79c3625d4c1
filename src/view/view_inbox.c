/* The inbox view: open items, sorted by urgency (model_inbox). The clock at the left counts down to
 * a deadline (with a !) or shows the item's age. Items that have just expired stay for a while
 * after the open ones. With `all`, decided items follow, and a column shows the verdict. */
#include "view/view_parts.h"

#include <stdlib.h>

enum { NEARLY_DUE_MS = 60000 };

enum col {
	COL_CLOCK,
	COL_GRADE,
	COL_VERDICT,
	COL_KIND,
	COL_AGENT,
	COL_TITLE,
	COL_ID,
	COL_SESSION,
	COL_COUNT
};

static const struct column table[COL_COUNT] = {
	[COL_CLOCK] = { "time", 6, 6, 0, .right = true },
	[COL_GRADE] = { "sev", 1, 5, 4 },
	[COL_VERDICT] = { "verdict", 1, 12, 1 },
	[COL_KIND] = { "kind", 11, 11, 2 },
	[COL_AGENT] = { "from", 8, 8, 3 },
	[COL_TITLE] = { "what", 24, 30, 0, .grows = true },
	[COL_ID] = { "id", 12, 15, 5 },
	[COL_SESSION] = { "session", 12, 30, 6 },
};

static bool has_many_sessions(const struct scene *s)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < s->model->sessions.n && n < 2; i++)
		n += s->model->sessions.v[i].first < s->k;
	return n > 1;
}

static void layout(const struct scene *s, int cols, struct lines *out)
{
	struct column c[COL_COUNT];

	memcpy(c, table, sizeof(table));
	c[COL_AGENT].want = agents_width(s, 8, cols < 90 ? 9 : 16);
	if (cols < 90)
		c[COL_GRADE].want = 1;
	if (cols >= 120) {
		c[COL_ID].want = 26;
		c[COL_TITLE].want = 45;
	}
	if (cols >= 150)
		c[COL_ID].want = 36;
	/* the whole word or the glyph */
	c[COL_VERDICT].min = !s->all ? 0 : cols < 56 ? 1 : table[COL_VERDICT].want;
	c[COL_VERDICT].want = c[COL_VERDICT].min;
	if (!has_many_sessions(s) || cols < 160)
		c[COL_SESSION].min = c[COL_SESSION].want = 0;
	table_layout(out, c, COL_COUNT, cols);
}

bool item_is_snoozed(const struct scene *s, uint32_t item, const struct item_state *at)
{
	if (!s->triage || (at->deadline_ms != TIME_NONE && s->now_ms != TIME_NONE &&
			   time_between(at->deadline_ms, s->now_ms) < NEARLY_DUE_MS))
		return false;
	return item < s->triage->snoozed.n && s->triage->snoozed.v[item] == at->message + 1;
}

static void inbox_make(const struct scene *s, int cols, struct lines *out)
{
	const struct model *m = s->model;
	uint32_t n, *numbers = s->asof ? asof_inbox(s->asof, s->k, scene_clock(s), s->all, &n)
				       : model_inbox(m, s->k, scene_clock(s), s->all, &n, s->yield);
	bool every = !s->filter && (s->all || !s->triage || !s->triage->snoozed.n);
	struct item_state at;

	layout(s, cols, out);
	for (uint32_t i = 0; i < n && yield_on(s->yield); i++)
		if (every || (item_is_shown(s, numbers[i], &at) &&
			      (s->all || !at.snoozed || filter_asks_snoozed(s->filter))))
			line_number(out, numbers[i]);
	free(numbers);
	for (uint32_t i = 0; !s->all && i < m->dated.n && yield_on(s->yield); i++) {
		uint32_t item = m->dated.v[i].item;

		if (item_at(m, &m->items.v[item], s->k, scene_clock(s), &at) &&
		    item_just_expired(s, &at) && item_is_shown(s, item, &at))
			line_number(out, item);
	}
}

/* Warnings in front of the title. */
static void put_badges(struct pen *p, const struct item_state *at)
{
	if (at->undecidable)
		pen_put(p, ROLE_ERROR, "⚠ broken: cannot be decided · ");
	if (at->delivery != DELIVERY_NONE && at->delivery != DELIVERY_BOUNCED)
		pen_printf(p, delivery_marks[at->delivery].role, "%s %s, %s · ",
			   verdict_marks[at->verdict].glyph, verdict_marks[at->verdict].word,
			   delivery_name(at->delivery));
	if (at->bounced)
		pen_put(p, ROLE_WARN, "bounced · ");
	if (at->came_back)
		pen_put(p, ROLE_WARN, "▲ came back · ");
	else if (at->revision)
		pen_put(p, ROLE_WARN, "reworded · ");
	else if (at->times > 1)
		pen_printf(p, ROLE_DIM, "×%u · ", at->times);
}

static void put_title(const struct scene *s, struct pen p, const struct item *item,
		      const struct item_state *at)
{
	put_badges(&p, at);
	if (item_just_expired(s, at))
		pen_printf(&p, ROLE_WARN, "⚠ expired: %s · ", item_default(s->model, item));
	pen_title(&p, at->open ? ROLE_NORMAL : ROLE_DIM, s, item, at);
}

/* Behind it, where there is room, the origin of what others decided. */
static void put_verdict(const struct model *m, const struct item_state *at, struct pen p)
{
	enum trust trust = item_trust(m, at);

	pen_mark(&p, &verdict_marks[at->verdict]);
	if (item_by(m, at).n && trust != TRUST_JOURNAL && p.rest.cols >= 2) {
		pen_skip(&p, p.rest.cols - 1);
		pen_put(&p, trust_marks[trust].role, trust_marks[trust].glyph);
	}
}

static void inbox_draw(const struct scene *s, const struct lines *lines, uint32_t i, struct grid *g,
		       struct rect row)
{
	const struct model *m = s->model;
	const struct item *item = &m->items.v[line_at(lines, i).a];
	const struct columns *fit = &lines->table->fit;
	const struct mark *grade;
	struct item_state at;
	struct pen p;
	enum role role;
	char clock[32];

	if (!item_at(m, item, s->k, scene_clock(s), &at))
		return;
	put_right(g, column_rect(row, fit, COL_CLOCK), ROLE_TIME,
		  item_clock(s, &at, clock, &role));
	grid_role(g, column_rect(row, fit, COL_CLOCK), role);
	if (at.grade != GRADE_NONE) {
		grade = &grade_marks[at.grade];
		p = column_pen(g, row, fit, COL_GRADE);
		pen_put(&p, grade->role, p.rest.cols < 5 ? grade->letter : grade->word);
	}
	p = column_pen(g, row, fit, COL_VERDICT);
	put_verdict(m, &at, p);
	grid_put(g, column_rect(row, fit, COL_KIND), ROLE_NORMAL, item_kind_name(item->kind));
	p = column_pen(g, row, fit, COL_AGENT);
	if (message_trust(m, at.message) != TRUST_LOG)
		pen_put(&p, ROLE_DIM, trust_marks[message_trust(m, at.message)].glyph);
	pen_agent(&p, m, message_route(m, at.message)->from);
	put_title(s, column_pen(g, row, fit, COL_TITLE), item, &at);
	p = column_pen(g, row, fit, COL_ID);
	pen_item_name(&p, m, item);
	p = column_pen(g, row, fit, COL_SESSION);
	pen_id(&p, ROLE_DIM, session_name(m, item_session(m, item)));
}

static struct target inbox_target(const struct scene *s, const struct lines *lines, uint32_t i)
{
	(void)s;
	return target_item(line_at(lines, i).a);
}

const struct view_ops view_inbox = {
	.name = "inbox",
	.make = inbox_make,
	.heading = table_heading,
	.draw = inbox_draw,
	.target = inbox_target,
	.empty = "Nothing waits for a decision.",
	.then = "{all} shows every item, {messages} every message.",
};
