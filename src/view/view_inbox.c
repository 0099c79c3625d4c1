/* The inbox: what waits for a person, most urgent first. The clock at the left counts down to a
 * deadline (with a !) or tells how long an item has waited. What has just expired stays for a
 * while, after the open ones, and says what that means. With `all`, decided items follow the open
 * ones and a column says what became of each. */
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

static void layout(const struct scene *s, int cols, struct column c[COL_COUNT], struct columns *fit)
{
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
	/* a word or a sign, no half of a word */
	c[COL_VERDICT].min = c[COL_VERDICT].want = !s->all ? 0 : cols < 56 ? 1 : table[COL_VERDICT].want;
	if (!has_many_sessions(s) || cols < 160)
		c[COL_SESSION].min = c[COL_SESSION].want = 0;
	columns_fit(c, COL_COUNT, cols, fit);
}

bool item_is_put_off(const struct scene *s, uint32_t item, const struct item_state *at)
{
	int64_t deadline = item_deadline(s->model, &s->model->items.v[item]);

	if (!s->triage || (deadline != TIME_NONE && s->now_ms != TIME_NONE &&
			     time_between(deadline, s->now_ms) < NEARLY_DUE_MS))
		return false;
	for (uint32_t i = 0; i < s->triage->snoozed.n; i++)
		if (s->triage->snoozed.v[i].item == item &&
		    s->triage->snoozed.v[i].message == at->message)
			return true;
	return false;
}

static void inbox_make(const struct scene *s, int cols, struct lines *out)
{
	uint32_t n, *numbers = s->asof ? asof_inbox(s->asof, s->k, s->now_ms, s->all, &n)
				       : model_inbox(s->model, s->k, s->now_ms, s->all, &n, s->yield);
	bool every = !s->filter && (s->all || !s->triage || !s->triage->snoozed.n);
	struct item_state at;
	struct column c[COL_COUNT];

	out->own = arena_alloc(&out->arena, sizeof(struct columns));
	out->cols = cols;
	layout(s, cols, c, out->own);
	for (uint32_t i = 0; i < n && yield_on(s->yield); i++)
		if (every || (item_is_shown(s, numbers[i], &at) &&
			      (s->all || !item_is_put_off(s, numbers[i], &at))))
			line_number(out, numbers[i]);
	free(numbers);
	for (uint32_t i = 0; !s->all && i < s->model->dated.n && yield_on(s->yield); i++)
		if (item_at(s->model, &s->model->items.v[s->model->dated.v[i].item], s->k, s->now_ms, &at) &&
		    item_just_expired(s, &s->model->items.v[s->model->dated.v[i].item], &at) &&
		    item_is_shown(s, s->model->dated.v[i].item, &at))
			line_number(out, s->model->dated.v[i].item);
}

static void inbox_heading(const struct scene *s, const struct lines *lines, struct grid *g,
			  struct rect row)
{
	(void)s;
	columns_heading(table, COL_COUNT, lines->own, g, row);
}

/* What a person should know before reading on. */
static void put_badges(struct pen *p, const struct item_state *at)
{
	if (at->undecidable)
		pen_put(p, ROLE_ERROR, "⚠ broken: cannot be decided · ");
	if (at->delivery != DELIVERY_NONE && at->delivery != DELIVERY_BOUNCED)
		pen_printf(p, delivery_role(at->delivery), "%s %s, %s · ",
			   mark_of_verdict(at->verdict)->glyph, mark_of_verdict(at->verdict)->word,
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
	struct detail d;

	put_badges(&p, at);
	if (item_just_expired(s, item, at))
		pen_printf(&p, ROLE_WARN, "⚠ expired: %s · ", item_default(s->model, item));
	if (!s->reader->detail(s->reader->ctx, item, at, &d) || !d.title.n)
		d.title = s->reader->summary(s->reader->ctx, at->message);
	pen_hidden(&p, d.title);
	pen_text(&p, at->open ? ROLE_NORMAL : ROLE_DIM, d.title);
}

static void inbox_draw(const struct scene *s, const struct lines *lines, uint32_t i, struct grid *g,
		       struct rect row)
{
	const struct model *m = s->model;
	const struct item *item = &m->items.v[line_at(lines, i).a];
	const struct columns *fit = lines->own;
	struct item_state at;
	struct buf name = { 0 };
	struct pen p;
	enum role role;
	char clock[32];

	if (!item_at(m, item, s->k, s->now_ms, &at))
		return;
	put_right(g, column_rect(row, fit, COL_CLOCK), ROLE_TIME,
		  item_clock(s, item, &at, clock, &role));
	grid_role(g, column_rect(row, fit, COL_CLOCK), role);
	if (at.grade != GRADE_NONE) {
		p = column_pen(g, row, fit, COL_GRADE);
		if (p.rest.cols < 5) /* no word fits */
			pen_put(&p, mark_of_grade(at.grade)->role, mark_of_grade(at.grade)->letter);
		else
			pen_put(&p, mark_of_grade(at.grade)->role, mark_of_grade(at.grade)->word);
	}
	p = column_pen(g, row, fit, COL_VERDICT);
	pen_mark(&p, mark_of_verdict(at.verdict));
	grid_put(g, column_rect(row, fit, COL_KIND), ROLE_NORMAL, item_kind_name(item->kind));
	p = column_pen(g, row, fit, COL_AGENT);
	pen_agent(&p, m, message_route(m, at.message)->from);
	put_title(s, column_pen(g, row, fit, COL_TITLE), item, &at);
	item_name(m, item, &name);
	p = column_pen(g, row, fit, COL_ID);
	pen_id(&p, ROLE_ID, buf_str(&name));
	buf_release(&name);
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
	.heading = inbox_heading,
	.draw = inbox_draw,
	.target = inbox_target,
	.empty = "Nothing waits for a decision.",
	.then = "{all} shows every item, {messages} every message.",
};
