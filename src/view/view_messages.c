/* The messages view: one line each, in order of arrival, with counts of diagnostics. Only drawn
 * messages are read again from the log. An incomplete line of the log comes last, dimmed. */
#include "view/session_label.h"

#include <stdio.h>

enum col {
	COL_LINE,
	COL_PROBLEMS,
	COL_TIME,
	COL_SOURCE,
	COL_SESSION,
	COL_AGENTS,
	COL_DIALECT,
	COL_KIND,
	COL_SUMMARY,
	COL_COUNT
};

static const struct column table[COL_COUNT] = {
	[COL_LINE] = { "line", 4, 4, 0, .right = true },
	[COL_PROBLEMS] = { "chk", 2, 6, 1 },
	[COL_TIME] = { "time", 8, 8, 3 },
	[COL_SOURCE] = { "source", 16, 20, 6 },
	[COL_SESSION] = { "session", 9, 9, 5 },
	[COL_AGENTS] = { "from → to", 10, 20, 4 },
	[COL_DIALECT] = { "dialect", 4, 13, 5 },
	[COL_KIND] = { "kind", 8, 20, 2 },
	[COL_SUMMARY] = { "summary", 24, 24, 0, .grows = true },
};

static void layout(const struct scene *s, int cols, struct lines *out)
{
	struct column c[COL_COUNT];
	uint32_t last = s->k ? message_line(s->model, s->k - 1) : 0;
	int names = agents_width(s, 6, 14);

	memcpy(c, table, sizeof(table));
	c[COL_LINE].min = c[COL_LINE].want = number_width(last > s->k ? last : s->k, 4);
	c[COL_AGENTS].want = 2 * names + 3;
	if (cols < 120) {
		c[COL_AGENTS].want = names + 9 < 20 ? names + 9 : 20;
		c[COL_DIALECT].title = "dial";
		c[COL_DIALECT].want = 4;
		c[COL_KIND].want = 16;
	}
	if (cols < 90) {
		c[COL_KIND].want = 13;
		c[COL_PROBLEMS].want = 4;
	}
	if (cols >= 120)
		c[COL_SUMMARY].want = 50;
	if (out->labels && cols < 90) /* who is more than how */
		c[COL_DIALECT].min = c[COL_DIALECT].want = 0;
	c[COL_SESSION].want = session_labels_width(out, cols < 120 ? 9 : 20);
	if (c[COL_SESSION].want < c[COL_SESSION].min)
		c[COL_SESSION].min = c[COL_SESSION].want;
	if (cols < 160 || !has_several_sources(s))
		c[COL_SOURCE].min = c[COL_SOURCE].want = 0;
	table_layout(out, c, COL_COUNT, cols);
}

static void messages_make(const struct scene *s, int cols, struct lines *out)
{
	uint32_t *k = out->own = arena_alloc(&out->arena, sizeof(*k));

	session_labels_make(s, out);
	*k = s->k; /* a line for this message is the incomplete one */
	layout(s, cols, out);
	if (!s->filter) { /* all messages: numbered, not listed */
		out->counted = true;
		out->first = s->first < s->k ? s->first : s->k;
		out->list.n = s->k - out->first + (s->incomplete.n > 0);
		return;
	}
	for (uint32_t i = s->first; i < s->k && yield_on(s->yield); i++)
		if (message_is_shown(s, i))
			line_number(out, i);
}

/* Errors, warnings, notes: "E1W2N1"; the worst ones if there is no room. */
static void put_problems(struct pen p, const struct record *r)
{
	const unsigned count[] = { r->notes, r->warnings, r->errors };

	for (int severity = SEVERITY_ERROR; severity >= SEVERITY_NOTE; severity--) {
		const struct mark *mark = &problem_marks[severity];

		if (!count[severity] || p.rest.cols < 2)
			continue;
		pen_put(&p, mark->role, mark->letter);
		if (count[severity] > 9)
			pen_put(&p, mark->role, "+");
		else
			pen_printf(&p, mark->role, "%u", count[severity]);
	}
}

static void put_agents(struct pen p, const struct model *m, const struct route *r)
{
	int half = (p.rest.cols - 3) / 2, whole = p.rest.cols, width;
	struct pen from = p;

	if (r->from == NONE && r->to == NONE)
		return;
	if (r->to == NONE) {
		pen_agent(&p, m, r->from);
		return;
	}
	/* the sender gets the room that the receiver leaves, and at least half */
	width = (int)cells_width(raw_of(agent_name(m, r->to)), TEXT_ID, true, (uint32_t)whole);
	from.rest.cols = whole - 3 - width > half ? whole - 3 - width : half;
	if (from.rest.cols < 1)
		return;
	pen_agent(&from, m, r->from);
	pen_skip(&p, from.rest.col - p.rest.col);
	pen_put(&p, ROLE_DIM, " → ");
	pen_agent(&p, m, r->to);
}

static void draw_incomplete(const struct scene *s, const struct columns *fit, struct grid *g,
			    struct rect row)
{
	struct pen p = column_pen(g, row, fit, COL_KIND);

	pen_put(&p, ROLE_DIM, "incomplete");
	p = column_pen(g, row, fit, COL_SUMMARY);
	pen_hidden(&p, s->incomplete);
	pen_text(&p, ROLE_DIM, s->incomplete);
}

static void messages_draw(const struct scene *s, const struct lines *lines, uint32_t i,
			  struct grid *g, struct rect row)
{
	const struct model *m = s->model;
	const uint32_t *k = lines->own;
	const struct columns *fit = &lines->table->fit;
	uint32_t message = line_at(lines, i).a;
	const struct record *r;
	const struct route *route;
	struct str summary;
	struct pen p;
	bool prose;
	char text[32];

	if (message == *k) {
		draw_incomplete(s, fit, g, row);
		return;
	}
	r = &m->records.v[message];
	route = route_of(m, r);
	prose = route->dialect == DIALECT_TEXT || route->dialect == DIALECT_UNKNOWN;
	snprintf(text, sizeof(text), route->flags & RECORD_REPLY ? ">%u" : "%u",
		 message_line(m, message));
	put_right(g, column_rect(row, fit, COL_LINE),
		  route->flags & RECORD_REPLY ? ROLE_PERSON : ROLE_DIM, text);
	put_problems(column_pen(g, row, fit, COL_PROBLEMS), r);
	grid_put(g, column_rect(row, fit, COL_TIME), ROLE_TIME,
		 r->time_ms == TIME_NONE ? "" : timestamp_clock(r->time_ms, text));
	p = column_pen(g, row, fit, COL_SOURCE);
	if (p.rest.cols > 0)
		pen_id(&p, ROLE_DIM, path_base(s->reader->source(s->reader->ctx, message)));
	p = column_pen(g, row, fit, COL_SESSION);
	pen_session(&p, ROLE_DIM, s, lines, message_session(s, lines, message));
	put_agents(column_pen(g, row, fit, COL_AGENTS), m, route);
	grid_put(g, column_rect(row, fit, COL_DIALECT), ROLE_DIALECT,
		 fit->cols[COL_DIALECT] < 13 ? dialects[route->dialect]->short_name
					     : dialect_name(route->dialect));
	p = column_pen(g, row, fit, COL_KIND);
	pen_id(&p, ROLE_ACCENT, model_kind(m, r));
	p = column_pen(g, row, fit, COL_SUMMARY);
	pen_flags(&p, route->flags);
	pen_claims(&p, m, message);
	summary = s->reader->summary(s->reader->ctx, message);
	pen_hidden(&p, summary);
	pen_text(&p, prose ? ROLE_DIM : ROLE_NORMAL, summary);
}

static struct target messages_target(const struct scene *s, const struct lines *lines, uint32_t i)
{
	const uint32_t *k = lines->own;
	uint32_t message = line_at(lines, i).a;

	(void)s;
	return message == *k ? target_none : target_message(message);
}

const struct view_ops view_messages = {
	.name = "messages",
	.make = messages_make,
	.heading = table_heading,
	.draw = messages_draw,
	.target = messages_target,
	.empty = "Nothing has come yet.",
	.then = "It appears here as it comes.",
};
