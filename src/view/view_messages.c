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
	[COL_PROBLEMS] = { "chk", 2, 4, 1 },
	[COL_TIME] = { "time", 8, 8, 4 },
	[COL_SOURCE] = { "source", 16, 20, 1, .late = true },
	[COL_SESSION] = { "session", 9, 9, 2, .late = true },
	[COL_AGENTS] = { "from → to", 10, 20, 3 },
	[COL_DIALECT] = { "dialect", 4, 13, 1, .late = true },
	[COL_KIND] = { "kind", 12, 24, 2 },
	[COL_SUMMARY] = { "summary", 22, 72, 0, .grows = true },
};

enum {
	NAME_COLS = 14,
	AGENTS_LEAST = 21,
	AGENTS_BESIDE_SESSION = 15,
	SUMMARY_BESIDE_SESSION = 60,
	DIALECT_COLS = 13,
};

static void adapt(const struct scene *s, struct column c[COL_COUNT])
{
	uint32_t last = s->k ? message_line(s->model, s->k - 1) : 0;
	int names = agents_width(s, 6, NAME_COLS);

	memcpy(c, table, sizeof(table));
	c[COL_LINE].min = c[COL_LINE].want = number_width(last > s->k ? last : s->k, 4);
	c[COL_AGENTS].want = 2 * names + 3;
	c[COL_AGENTS].min = c[COL_AGENTS].want < AGENTS_LEAST ? c[COL_AGENTS].want : AGENTS_LEAST;
}

/* At 80 columns there is room for both; later agents get their names before a kind its tail. */
static void agents_beside_session(struct column c[COL_COUNT])
{
	c[COL_AGENTS].min = AGENTS_BESIDE_SESSION;
	c[COL_AGENTS].widens = 1;
	c[COL_SUMMARY].want = SUMMARY_BESIDE_SESSION;
}

static void layout(const struct scene *s, int cols, struct lines *out)
{
	struct column c[COL_COUNT];

	adapt(s, c);
	session_column(s, out, &c[COL_SESSION], 3);
	if (!s->model->several_sources)
		c[COL_SOURCE].min = 0;
	else if (c[COL_AGENTS].min > AGENTS_BESIDE_SESSION)
		agents_beside_session(c);
	table_layout(out, c, COL_COUNT, cols);
	if (out->table->fit.cols[COL_DIALECT] < DIALECT_COLS)
		out->table->columns[COL_DIALECT].title = "dial";
}

void message_row_layout(const struct scene *s, int cols, struct columns *fit)
{
	struct column c[COL_COUNT];

	adapt(s, c);
	c[COL_SOURCE].min = c[COL_SESSION].min = 0;
	columns_fit(c, COL_COUNT, cols, fit);
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

void message_row_draw(const struct scene *s, const struct columns *fit, uint32_t message,
		      struct grid *g, struct rect row)
{
	const struct model *m = s->model;
	const struct record *r = &m->records.v[message];
	const struct route *route = route_of(m, r);
	bool prose = route->dialect == DIALECT_TEXT || route->dialect == DIALECT_UNKNOWN;
	struct str summary;
	struct pen p;
	char text[32];

	snprintf(text, sizeof(text), route->flags & RECORD_REPLY ? ">%u" : "%u",
		 message_line(m, message));
	put_right(g, column_rect(row, fit, COL_LINE),
		  route->flags & RECORD_REPLY ? ROLE_PERSON : ROLE_DIM, text);
	put_problems(column_pen(g, row, fit, COL_PROBLEMS), r);
	grid_put(g, column_rect(row, fit, COL_TIME), ROLE_TIME,
		 r->time_ms == TIME_NONE ? "" : timestamp_clock(r->time_ms, text));
	put_agents(column_pen(g, row, fit, COL_AGENTS), m, route);
	grid_put(g, column_rect(row, fit, COL_DIALECT), ROLE_DIALECT,
		 fit->cols[COL_DIALECT] < DIALECT_COLS ? dialects[route->dialect]->short_name
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

static void messages_draw(const struct scene *s, const struct lines *lines, uint32_t i,
			  struct grid *g, struct rect row)
{
	const uint32_t *k = lines->own;
	const struct columns *fit = &lines->table->fit;
	uint32_t message = line_at(lines, i).a;
	struct pen p;

	if (message == *k)
		draw_incomplete(s, fit, g, row);
	else
		message_row_draw(s, fit, message, g, row);
	p = column_pen(g, row, fit, COL_SOURCE);
	if (message != *k && p.rest.cols > 0)
		pen_id(&p, ROLE_DIM, path_base(s->reader->source(s->reader->ctx, message)));
	p = column_pen(g, row, fit, COL_SESSION);
	if (message != *k && p.rest.cols > 0)
		pen_session(&p, ROLE_DIM, s, lines, message_session(s, lines, message));
}

static struct target messages_target(const struct scene *s, const struct lines *lines, uint32_t i)
{
	const uint32_t *k = lines->own;
	uint32_t message = line_at(lines, i).a;

	(void)s;
	return message == *k ? target_none : target_message(message);
}

static enum sort_place messages_sort_key(const struct scene *s, struct lines *lines, uint32_t i,
					 unsigned column, struct sort_key *out)
{
	const struct model *m = s->model;
	struct target t = messages_target(s, lines, i);
	const struct record *r;
	const struct route *route;

	if (t.type != TARGET_MESSAGE)
		return SORT_LAST;
	r = &m->records.v[t.number];
	route = route_of(m, r);
	switch ((enum col)column) {
	case COL_LINE: out->number = t.number; break;
	case COL_PROBLEMS: out->number = r->errors << 16 | r->warnings << 8 | r->notes; break;
	case COL_TIME:
		out->number = r->time_ms;
		return r->time_ms == TIME_NONE ? SORT_LAST : SORT_BY_KEY;
	case COL_AGENTS: out->text = agent_name(m, route->from); break;
	case COL_DIALECT: out->text = str_of(dialect_name(route->dialect)); break;
	case COL_KIND: out->text = model_kind(m, r); break;
	case COL_SESSION:
		out->text = session_name(m, message_session(s, lines, t.number));
		break;
	case COL_SOURCE:
	case COL_SUMMARY: /* in the log, not in memory */
	case COL_COUNT: return SORT_LAST;
	}
	return SORT_BY_KEY;
}

const struct view_ops view_messages = {
	.name = "messages",
	.make = messages_make,
	.heading = table_heading,
	.draw = messages_draw,
	.target = messages_target,
	.sort_key = messages_sort_key,
	.sort_columns = 1 << COL_LINE | 1 << COL_PROBLEMS | 1 << COL_TIME | 1 << COL_AGENTS |
			1 << COL_DIALECT | 1 << COL_KIND | 1 << COL_SESSION,
	.sort_down = 1 << COL_LINE | 1 << COL_PROBLEMS,
	.empty = "No messages yet.",
	.then = "They appear here as they arrive.",
};
