/* gavel postgresql://…?source=NAME: the lines of one source, as its agents wrote them. They are
 * committed in the order of their offsets, since who appends them locks the source; so what is behind
 * the last one read is all that is missing. */
#include "session/team_internal.h"

enum { LINES_MOST = 2000, PAUSE_LEAST_MS = 20, PAUSE_MOST_MS = 1000 };

static bool is_refused(struct team_inbox *t, const struct store_answer *a)
{
	t->reading = false;
	if (a->rows)
		return false;
	t->poll_ms = loop_now_ms() + TEAM_POLL_MS;
	team_note_trouble(t, a->why);
	return true;
}

static void take_source(void *ctx, const struct store_answer *a)
{
	struct team_inbox *t = ctx;
	struct buf why = { 0 };

	if (is_refused(t, a))
		return;
	if (a->n && !store_is_null(a->rows, 0, 0)) {
		t->source_id = store_int(a->rows, 0, 0);
		return;
	}
	buf_printf(&why, "the store has no source %s", t->url.source);
	if (a->n && store_str(a->rows, 0, 1).n)
		buf_printf(&why, "; it has %.*s", STR_ARG(store_str(a->rows, 0, 1)));
	t->poll_ms = loop_now_ms() + TEAM_POLL_MS;
	team_note_trouble(t, buf_str(&why));
	buf_release(&why);
}

static void take_plan(void *ctx, const struct store_answer *a)
{
	struct team_inbox *t = ctx;

	if (!is_refused(t, a))
		t->checked = true;
}

static void tell_trimmed(struct team_inbox *t, int64_t bytes, int64_t before_ms)
{
	char time[32];

	team_say(t, "%s: the lines before %s were trimmed, %lld bytes; the log of its machine has them",
		 t->url.source, timestamp_iso(before_ms, time), (long long)bytes);
}

static void take_lines(void *ctx, const struct store_answer *a)
{
	struct team_inbox *t = ctx;

	if (is_refused(t, a))
		return;
	for (uint32_t i = 0; i < a->n; i++) {
		int64_t at = store_int(a->rows, i, 0);
		struct str line = store_str(a->rows, i, 1);

		if (at < t->next)
			continue; /* answered twice */
		if (at > t->next)
			tell_trimmed(t, at - t->next, store_time_ms(a->rows, i, 2));
		buf_add_str(&t->out, line);
		t->end += line.n;
		t->next = at + (int64_t)line.n;
	}
	t->begun |= a->n < LINES_MOST;
	t->pause_ms = a->n ? PAUSE_LEAST_MS
		      : t->pause_ms * 2 < PAUSE_MOST_MS ? t->pause_ms * 2 : PAUSE_MOST_MS;
	t->poll_ms = a->n == LINES_MOST ? 0 : loop_now_ms() + t->pause_ms;
}

/* A table without statistics yet looks small to the planner, which then reads and sorts all that is behind an
 * offset for each page. This connection asks for nothing but lines in the order of their index. */
static const char by_index_sql[] =
	"select set_config('enable_sort', 'off', false), set_config('enable_seqscan', 'off', false), "
	"set_config('enable_bitmapscan', 'off', false), set_config('jit', 'off', false)";

void team_source_step(struct team_inbox *t, int64_t now_ms)
{
	struct store_request r = { .ctx = t };

	if (t->reading || now_ms < t->poll_ms)
		return;
	if (!t->checked) {
		r.sql = by_index_sql;
		r.answered = take_plan;
	} else if (!t->source_id) {
		r.sql = "select (select id from gavel.source where name = $1), "
			"(select string_agg(name, ', ' order by name) from (select name "
			"from gavel.source order by name limit 10) x)";
		r.values[0] = store_text(str_of(t->url.source));
		r.n = 1;
		r.answered = take_source;
	} else {
		r.sql = "select seq, bytes, at from gavel.line where source = $1::int and "
			"seq >= $2::bigint order by seq limit 2000";
		r.values[0] = store_number(t->source_id);
		r.values[1] = store_number(t->next);
		r.n = 2;
		r.answered = take_lines;
	}
	t->reading = true;
	store_ask(t->store, &r);
}
