/* The sessions view: a row for each session with its source, who takes part, what waits for a person,
 * what is wrong, last activity, tokens, cost, and whether its loops converge. What is due comes first,
 * then what is open. All sparklines share their scale, which is the time of all sessions. */
#include "view/session_label.h"
#include "view/session_rows.h"

#include <stdio.h>
#include <stdlib.h>

enum col {
	COL_NAME,
	COL_SOURCE,
	COL_OPEN,
	COL_DUE,
	COL_INVALID,
	COL_LAST,
	COL_AGENTS,
	COL_LOOP,
	COL_DIALECTS,
	COL_TOKENS,
	COL_COST,
	COL_ACTIVITY,
	COL_COUNT
};

enum {
	SOURCE_MOST = 60, /* columns of a source's name, unless there is nothing else to show */
	COUNTS_COLS = 36, /* of what comes before the sources, from "open" to "loop" */
	MEASURED_MAX = 10000,
};

static const struct column table[COL_COUNT] = {
	[COL_NAME] = { "session", 10, 10, 0 },
	[COL_SOURCE] = { "source", 12, 18, 5, .grows = true },
	[COL_OPEN] = { "open", 4, 5, 0, .right = true },
	[COL_DUE] = { "due", 3, 4, 1, .right = true },
	[COL_INVALID] = { "inv", 3, 4, 2, .right = true },
	[COL_LAST] = { "last", 5, 5, 3, .right = true },
	[COL_AGENTS] = { "agents", 6, 6, 4, .right = true },
	[COL_LOOP] = { "loop", 6, 18, 6 },
	[COL_DIALECTS] = { "protocols", 9, 14, 8 },
	[COL_TOKENS] = { "tokens", 6, 6, 9, .right = true },
	[COL_COST] = { "cost", 6, 7, 7, .right = true },
	[COL_ACTIVITY] = { "activity", 12, 12, 10 },
};

static void sessions_release(void *rows)
{
	session_rows_release(rows);
}

/* The width of the longest name of a source. */
static int sources_width(const struct scene *s, const struct session_rows *rows)
{
	int longest = 0;

	for (uint32_t i = 0; i < rows->n && i < MEASURED_MAX && yield_on(s->yield); i++) {
		struct str name;
		int width;

		if (!rows->rows[i].messages)
			continue;
		name = path_base(s->reader->source(s->reader->ctx, rows->rows[i].first));
		width = (int)cells_width(raw_of(name), TEXT_ID, true, SOURCE_MOST + 1);
		longest = width > longest ? width : longest;
	}
	return longest;
}

/* Names of sources are whole, where there is room, before columns that matter less come. */
static void fit_source(struct column *c, int longest, int room)
{
	int whole = longest < SOURCE_MOST ? longest : SOURCE_MOST;

	if (c->min < whole)
		c->min = whole < room ? whole : room > c->min ? room : c->min;
	c->want = whole > c->min ? whole : c->min;
	c->grows = longest > SOURCE_MOST;
}

static void layout(int cols, int longest, struct lines *out)
{
	struct column c[COL_COUNT];
	int most = cols < 100 ? 24 : cols < 148 ? 24 + (cols - 100) / 2 : 48;
	int name = session_labels_width(out, most);

	memcpy(c, table, sizeof(table));
	if (c[COL_NAME].min < name) /* the whole name before any other column */
		c[COL_NAME].min = c[COL_NAME].want = name;
	fit_source(&c[COL_SOURCE], longest, cols - c[COL_NAME].min - COUNTS_COLS);
	if (cols >= 150)
		c[COL_DIALECTS].want = 24;
	table_layout(out, c, COL_COUNT, cols);
}

static void sessions_make(const struct scene *s, int cols, struct lines *out)
{
	struct session_rows *rows = arena_zalloc(&out->arena, sizeof(*rows));
	uint32_t n, *sorted;

	out->own = rows;
	out->release = sessions_release;
	session_labels_make(s, out);
	session_rows_compute(s, rows);
	layout(cols, sources_width(s, rows), out);
	sorted = session_rows_sorted(rows, &n);
	for (uint32_t i = 0; i < n; i++)
		line_number(out, sorted[i]);
	free(sorted);
}

static void put_count(struct grid *g, struct rect where, enum role role, uint64_t n)
{
	char text[16];

	put_right(g, where, n ? role : ROLE_DIM, n ? short_number(n, text) : "·");
}

/* Short names of the protocols, and of what is none where there is nothing else; as many as fit, and
 * how many more there are. */
static void put_dialects(struct pen p, uint64_t set)
{
	static const uint64_t none = UINT64_C(1) << DIALECT_TEXT | UINT64_C(1) << DIALECT_UNKNOWN;
	int left;

	set = set & ~none ? set & ~none : set;
	left = __builtin_popcountll(set);
	for (unsigned d = 0; d < dialect_count(); d++) {
		const char *name = dialects[d]->short_name;
		int more = left > 1 ? 3 : 0; /* columns of " +9" */

		if (!(set >> d & 1))
			continue;
		if ((int)strlen(name) + more > p.rest.cols) {
			pen_printf(&p, ROLE_DIM, "+%d", left);
			return;
		}
		pen_put(&p, ROLE_DIALECT, name);
		pen_put(&p, ROLE_DIM, --left ? " " : "");
	}
}

static void put_loop(struct pen p, const struct session_row *row)
{
	bool narrow = p.rest.cols < table[COL_LOOP].want;

	switch (session_loop_state(row)) {
	case LOOPS_NONE: pen_put(&p, ROLE_DIM, "·"); break;
	case LOOPS_BEGUN: pen_put(&p, ROLE_DIM, narrow ? "·" : "nothing to compare"); break;
	case LOOPS_ENDED: pen_put(&p, ROLE_OK, narrow ? "✓" : "✓ ended"); break;
	case LOOPS_FAILED: pen_put(&p, ROLE_ERROR, narrow ? "⚠ err" : "⚠ error"); break;
	case LOOPS_CONVERGE:
		pen_put(&p, ROLE_OK, p.rest.cols < 10 ? "✓" : "converging");
		break;
	case LOOPS_DIVERGE:
		if (narrow)
			pen_printf(&p, ROLE_WARN, "⚠ %u/%u", row->diverging, row->loops);
		else
			pen_put(&p, ROLE_WARN, "⚠ not converging");
		break;
	}
}

static void put_name(const struct scene *s, const struct lines *lines, uint32_t session,
		     struct pen p)
{
	if (lines->labels)
		pen_session(&p, ROLE_ACCENT, s, lines, session);
	else
		pen_path(&p, ROLE_ACCENT, session_short(s->model, session));
}

static void sessions_draw(const struct scene *s, const struct lines *lines, uint32_t i,
			  struct grid *g, struct rect row)
{
	const struct session_rows *rows = lines->own;
	uint32_t session = line_at(lines, i).a;
	const struct session_row *r = &rows->rows[session];
	const struct columns *fit = &lines->table->fit;
	struct pen p;
	char text[32];

	put_name(s, lines, session, column_pen(g, row, fit, COL_NAME));
	p = column_pen(g, row, fit, COL_SOURCE);
	pen_id(&p, ROLE_DIM, path_base(s->reader->source(s->reader->ctx, r->first)));
	put_count(g, column_rect(row, fit, COL_OPEN), ROLE_NORMAL, r->open);
	put_count(g, column_rect(row, fit, COL_DUE), ROLE_DUE, r->due);
	put_count(g, column_rect(row, fit, COL_INVALID), ROLE_ERROR, r->invalid);
	put_right(g, column_rect(row, fit, COL_LAST), ROLE_TIME, short_age(s, r->last_ms, text));
	put_count(g, column_rect(row, fit, COL_AGENTS), ROLE_NORMAL, r->agents);
	put_loop(column_pen(g, row, fit, COL_LOOP), r);
	put_dialects(column_pen(g, row, fit, COL_DIALECTS), r->dialects);
	put_count(g, column_rect(row, fit, COL_TOKENS), ROLE_NORMAL, r->tokens_in + r->tokens_out);
	if (r->cost > 0)
		snprintf(text, sizeof(text), r->cost < 100 ? "$%.3f" : "$%.0f", r->cost);
	put_right(g, column_rect(row, fit, COL_COST), r->cost > 0 ? ROLE_NORMAL : ROLE_DIM,
		  r->cost > 0 ? text : "·");
	put_sparkline(column_pen(g, row, fit, COL_ACTIVITY), r->activity, rows->most_active);
}

static struct target sessions_target(const struct scene *s, const struct lines *lines, uint32_t i)
{
	(void)s;
	return (struct target){ TARGET_SESSION, line_at(lines, i).a };
}

const struct view_ops view_sessions = {
	.name = "sessions",
	.make = sessions_make,
	.heading = table_heading,
	.draw = sessions_draw,
	.target = sessions_target,
	.empty = "Nothing has been said yet.",
	.then = "A session appears here with its first message.",
};
