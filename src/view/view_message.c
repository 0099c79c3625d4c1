/* The message view: source, kind, agents, diagnostics and content of one message. */
#include "view/view_parts.h"

#include <stdio.h>

enum what {
	ROW_PLACE = LINE_OWN, /* line, source, time */
	ROW_FACTS,            /* flags, dialect, kind, size */
	ROW_AGENTS,           /* sender, receiver, session */
};

static void message_make(const struct scene *s, int cols, struct lines *out)
{
	struct prose *prose;

	if (s->message >= s->k)
		return;
	prose = prose_start(s, cols, out, sizeof(*prose));
	line_add(out, ROW_PLACE, 0, 0);
	line_add(out, ROW_FACTS, 0, 0);
	line_add(out, ROW_AGENTS, 0, 0);
	prose_problems(prose, s->message);
	prose_message(prose, s->message);
	prose_end(prose);
}

static void draw_place(const struct scene *s, const struct record *r, struct pen p)
{
	struct rect row = p.rest;
	char time[32];

	if (r->time_ms == TIME_NONE)
		snprintf(time, sizeof(time), "no time");
	else
		timestamp_iso(r->time_ms, time);
	p.rest.cols -= (int)strlen(time) + 1;
	if (p.rest.cols < 8) /* no room for both: the line number matters more than the time */
		p.rest = row;
	else
		put_right(p.g, row, ROLE_TIME, time);
	pen_printf(&p, ROLE_KEY, "line %u", message_line(s->model, s->message));
	pen_put(&p, ROLE_DIM, " of ");
	pen_path(&p, ROLE_ID, s->reader->source(s->reader->ctx, s->message));
}

static void draw_facts(const struct scene *s, const struct record *r, bool hidden, struct pen p)
{
	const struct route *route = route_of(s->model, r);

	if (hidden)
		pen_hidden_badge(&p);
	pen_flags(&p, route->flags);
	pen_claims(&p, s->model, s->message);
	pen_put(&p, ROLE_DIALECT, dialect_name(route->dialect));
	pen_put(&p, ROLE_DIM, " · ");
	pen_id(&p, ROLE_ACCENT, model_kind(s->model, r));
	pen_printf(&p, ROLE_DIM, " · %u %s", r->length, r->length == 1 ? "byte" : "bytes");
}

static void draw_agents(const struct model *m, uint32_t message, struct pen p)
{
	const struct route *r = message_route(m, message);

	if (r->from != NONE || r->to != NONE) {
		pen_put(&p, ROLE_DIM, "from ");
		pen_agent(&p, m, r->from);
		pen_origin(&p, m, message, false);
		if (r->to != NONE) {
			pen_put(&p, ROLE_DIM, " → ");
			pen_agent(&p, m, r->to);
		}
		pen_put(&p, ROLE_DIM, "  ");
	}
	pen_put(&p, ROLE_DIM, "session ");
	pen_id(&p, ROLE_DIM, session_name(m, r->session));
}

static void message_draw(const struct scene *s, const struct lines *lines, uint32_t i,
			 struct grid *g, struct rect row)
{
	const struct prose *prose = lines->own;
	const struct line *line = &lines->list.v[i];
	const struct record *r = &s->model->records.v[s->message];
	struct pen p = { g, rect_in(row, 0, 0, 1, row.cols) };

	if (prose_draw(s, prose, line, p))
		return;
	switch ((enum what)line->what) {
	case ROW_PLACE: draw_place(s, r, p); break;
	case ROW_FACTS: draw_facts(s, r, prose->hidden, p); break;
	case ROW_AGENTS: draw_agents(s->model, s->message, p); break;
	}
}

const struct view_ops view_message = {
	.name = "message",
	.make = message_make,
	.draw = message_draw,
	.empty = "No such message, or not yet.",
};
