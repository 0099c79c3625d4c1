/* The page of bookmarks: a list, in the order of their messages. */
#include "app/app.h"
#include "view/view_parts.h"

#include <stdio.h>

enum col { COL_NUMBER, COL_TIME, COL_AGENT, COL_KIND, COL_NOTE, COL_SUMMARY, COL_COUNT };

static const struct column table[COL_COUNT] = {
	[COL_NUMBER] = { "message", 7, 9, 0, .right = true },
	[COL_TIME] = { "time", 8, 8, 2 },
	[COL_AGENT] = { "from", 8, 14, 3 },
	[COL_KIND] = { "kind", 8, 16, 4 },
	[COL_NOTE] = { "note", 16, 30, 0 },
	[COL_SUMMARY] = { "summary", 10, 24, 1, .grows = true },
};

/* a: the message, b: number of the bookmark */
static void bookmarks_make(const struct scene *s, int cols, struct lines *out)
{
	table_layout(out, table, COL_COUNT, cols);
	for (uint32_t i = 0; i < s->app->bookmarks.n; i++)
		if (s->app->bookmarks.v[i].message < s->k)
			line_add(out, 0, s->app->bookmarks.v[i].message, i);
}

static void bookmarks_draw(const struct scene *s, const struct lines *lines, uint32_t i,
			   struct grid *g, struct rect row)
{
	const struct model *m = s->model;
	struct line line = line_at(lines, i);
	const struct columns *fit = &lines->table->fit;
	const struct record *r = &m->records.v[line.a];
	struct message_number n = message_number(m, line.a);
	uint32_t at = app_bookmark_find(s->app, line.a);
	struct pen p;
	char text[32];

	snprintf(text, sizeof(text), n.r ? "#%u.%u" : "#%u", n.n, n.r);
	put_right(g, column_rect(row, fit, COL_NUMBER), ROLE_DIM, text);
	grid_put(g, column_rect(row, fit, COL_TIME), ROLE_TIME,
		 r->time_ms == TIME_NONE ? "" : timestamp_clock(r->time_ms, text));
	p = column_pen(g, row, fit, COL_AGENT);
	pen_agent(&p, m, message_route(m, line.a)->from);
	p = column_pen(g, row, fit, COL_KIND);
	pen_id(&p, ROLE_ACCENT, model_kind(m, r));
	p = column_pen(g, row, fit, COL_NOTE);
	pen_text(&p, ROLE_PERSON, at == NONE ? STR_NONE : str_of(s->app->bookmarks.v[at].note));
	p = column_pen(g, row, fit, COL_SUMMARY);
	pen_text(&p, ROLE_NORMAL, s->reader->summary(s->reader->ctx, line.a));
}

static struct target bookmarks_target(const struct scene *s, const struct lines *lines, uint32_t i)
{
	(void)s;
	return target_message(line_at(lines, i).a);
}

const struct view_ops view_bookmarks = {
	.name = "bookmarks",
	.make = bookmarks_make,
	.heading = table_heading,
	.draw = bookmarks_draw,
	.target = bookmarks_target,
	.empty = "There are no bookmarks here.",
	.then = "{bookmark} sets one on the message that is selected.",
};
