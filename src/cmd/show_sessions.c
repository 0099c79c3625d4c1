/* gavel show sessions as JSON lines: one object a session, in the order of the view. */
#include "cmd/show_json.h"

#include "json/compose.h"
#include "view/session_label.h"
#include "view/session_rows.h"

#include <stdlib.h>

static void put_place(struct buf *b, const char *name, const struct model *m, uint32_t message,
		      int64_t time_ms)
{
	json_open(b, name, '{');
	json_put_number(b, "line", message_line(m, message));
	json_put_time(b, "time", time_ms);
	buf_addc(b, '}');
}

static void put_dialects(struct buf *b, uint64_t set)
{
	json_open(b, "dialects", '[');
	for (unsigned d = 0; d < dialect_count(); d++)
		if (set >> d & 1) {
			json_comma(b);
			buf_printf(b, "\"%s\"", dialect_name((enum dialect_id)d));
		}
	buf_addc(b, ']');
}

static void put_activity(struct buf *b, const uint16_t *activity)
{
	json_open(b, "activity", '[');
	for (int i = 0; i < ACTIVITY_BUCKETS; i++) {
		json_comma(b);
		buf_printf(b, "%u", activity[i]);
	}
	buf_addc(b, ']');
}

static void put_session(struct load *l, const struct scene *s, uint32_t session,
			const struct session_row *r, struct buf *b)
{
	/* the two words that scripts know */
	static const char *const states[] = {
		[LOOPS_NONE] = NULL,
		[LOOPS_BEGUN] = "converging",
		[LOOPS_ENDED] = "converging",
		[LOOPS_CONVERGE] = "converging",
		[LOOPS_FAILED] = "converging",
		[LOOPS_DIVERGE] = "not converging",
	};
	const struct model *m = s->model;

	buf_addc(b, '{');
	json_session(l, b, session);
	json_put_str(b, "short", session_short(m, session));
	json_source(l, b, r->first);
	json_put_number(b, "agents", r->agents);
	put_dialects(b, r->dialects);
	json_put_number(b, "messages", r->messages);
	json_put_number(b, "open", r->open);
	json_put_number(b, "due", r->due);
	json_put_number(b, "invalid", r->invalid);
	put_place(b, "first", m, r->first, m->records.v[r->first].time_ms);
	put_place(b, "last", m, r->last, r->last_ms);
	json_usage(b, r->tokens_in, r->tokens_out, r->tokens_cached, r->cost);
	put_activity(b, r->activity);
	json_put_number(b, "loops", r->loops);
	json_put_number(b, "not_converging", r->diverging);
	json_put_name(b, "loop_state", states[session_loop_state(r)]);
	json_end(l, b);
}

void json_sessions(struct load *l, const struct scene *s, struct buf *out)
{
	struct session_rows rows;
	uint32_t n, *sorted;

	session_rows_compute(s, &rows);
	sorted = session_rows_sorted(&rows, &n);
	for (uint32_t i = 0; i < n; i++)
		put_session(l, s, sorted[i], &rows.rows[sorted[i]], out);
	free(sorted);
	session_rows_release(&rows);
}
