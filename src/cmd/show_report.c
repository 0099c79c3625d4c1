/* gavel show report: the session as Markdown tables, for issue trackers. Untrusted text is
 * sanitized and put into code spans of one line, where it cannot be a heading, a link, a mention or
 * HTML, nor end its cell. */
#include "cmd/show_json.h"

#include "view/session_stats.h"
#include "model/ledger.h"
#include "view/view_parts.h"

#include <stdlib.h>

enum { ROWS_MAX = 100, TEXT_CELLS = 120 };

struct report {
	struct load *l;
	const struct scene *s;
	struct buf *out;
	const char *table; /* title */
	uint32_t rows; /* of the table so far */
	struct ledger *loops; /* NULL = not computed yet */
};

/* ---- untrusted text ---- */

static size_t longest_run(struct str s, char c)
{
	size_t longest = 0, run = 0;

	for (size_t i = 0; i < s.n; i++) {
		run = s.p[i] == c ? run + 1 : 0;
		longest = run > longest ? run : longest;
	}
	return longest;
}

void markdown_code(struct buf *out, struct str text)
{
	struct buf cells = { 0 };
	struct str s;
	size_t fence;
	bool pad;

	add_clean_cut(&cells, text, TEXT_LINE, false, TEXT_CELLS);
	s = str_trim(buf_str(&cells));
	fence = longest_run(s, '`') + 1;
	pad = s.n && (s.p[0] == '`' || s.p[s.n - 1] == '`');
	for (size_t i = 0; s.n && i < fence; i++)
		buf_addc(out, '`');
	buf_adds(out, pad ? " " : "");
	for (size_t i = 0; i < s.n; i++) {
		if (s.p[i] == '|') /* ends a cell even in code; \\| does, too */
			buf_adds(out, i && s.p[i - 1] == '\\' ? " \\" : "\\");
		buf_addc(out, s.p[i]);
	}
	buf_adds(out, pad ? " " : "");
	for (size_t i = 0; s.n && i < fence; i++)
		buf_addc(out, '`');
	buf_release(&cells);
}

/* ---- tables ---- */

/* Begins a table unless it has begun. heads: "waits|kind|what" */
static void table(struct report *r, const char *title, const char *heads)
{
	if (r->table == title)
		return;
	r->table = title;
	buf_printf(r->out, "\n## %s\n\n| ", title);
	for (const char *p = heads; *p; p++)
		if (*p == '|')
			buf_adds(r->out, " | ");
		else
			buf_addc(r->out, *p);
	buf_adds(r->out, " |\n|");
	for (const char *p = heads; p; p = strchr(p, '|') ? strchr(p, '|') + 1 : NULL)
		buf_adds(r->out, " --- |");
	buf_addc(r->out, '\n');
	r->rows = 0;
}

/* Begins a row; false: the table is full. */
static bool row(struct report *r)
{
	if (r->rows++ >= ROWS_MAX)
		return false;
	if (r->l->json.flush)
		r->l->json.flush(r->l->json.ctx, r->out);
	buf_adds(r->out, "|");
	return true;
}

static void table_end(struct report *r)
{
	if (r->rows > ROWS_MAX)
		buf_printf(r->out, "\n… and %u more.\n", r->rows - ROWS_MAX);
}

static void cell_text(struct report *r, struct str text)
{
	buf_addc(r->out, ' ');
	markdown_code(r->out, text);
	buf_adds(r->out, " |");
}

static void cell_word(struct report *r, const char *word)
{
	buf_printf(r->out, " %s |", word ? word : "");
}

static void cell_number(struct report *r, uint64_t n)
{
	buf_printf(r->out, " %llu |", (unsigned long long)n);
}

static void cell_span(struct report *r, int64_t ms)
{
	char span[32];

	cell_word(r, ms == TIME_NONE ? "" : timestamp_span(ms, span));
}

/* ---- sections ---- */

static int64_t time_of(const struct report *r, uint32_t message)
{
	return message == NONE ? TIME_NONE : r->s->model->records.v[message].time_ms;
}

static int64_t span_between(int64_t from, int64_t to)
{
	return from == TIME_NONE || to == TIME_NONE || to < from ? TIME_NONE
								 : time_between(to, from);
}

static void cell_item(struct report *r, const struct item *item, const struct item_state *at)
{
	struct buf name = { 0 };
	struct detail d = { 0 };

	if (!r->s->reader->detail(r->s->reader->ctx, item, at, &d) || !d.title.n)
		d.title = r->s->reader->summary(r->s->reader->ctx, at->message);
	cell_text(r, d.title);
	item_name(r->s->model, item, &name);
	cell_text(r, buf_str(&name));
	buf_release(&name);
}

static void report_head(struct report *r)
{
	const struct model *m = r->s->model;
	struct session_stats f;
	uint64_t errors = 0, warnings = 0;
	uint32_t open, due, expired = 0;
	int64_t first = INT64_MAX;
	char text[32];

	session_stats_compute(r->s, &f, &r->loops);
	open = model_open(m, r->s->k, scene_clock(r->s), &due);
	for (uint32_t i = 0; i < r->s->k; i++) {
		errors += m->records.v[i].errors;
		warnings += m->records.v[i].warnings;
		if (m->records.v[i].time_ms != TIME_NONE && m->records.v[i].time_ms < first)
			first = m->records.v[i].time_ms;
	}
	for (uint32_t i = 0; i < m->dated.n; i++) {
		const struct item *item = &m->items.v[m->dated.v[i].item];
		struct item_state at;

		expired += item_at(m, item, r->s->k, scene_clock(r->s), &at) &&
			   at.verdict == VERDICT_EXPIRED;
	}
	buf_adds(r->out, "# Session report\n\n| | |\n| --- | --- |\n");
	if (first != INT64_MAX) {
		buf_printf(r->out, "| from | %s |\n", timestamp_iso(first, text));
		buf_printf(r->out, "| to | %s |\n", timestamp_iso(r->s->now_ms, text));
	}
	buf_printf(r->out, "| messages | %u |\n| errors, warnings | %llu, %llu |\n", r->s->k,
		   (unsigned long long)errors, (unsigned long long)warnings);
	buf_printf(r->out, "| items open | %u (%u with a deadline) |\n| items expired | %u |\n",
		   open, due, expired);
	buf_printf(r->out, "| decisions | %u |\n", f.decided);
	if (f.timed) {
		buf_printf(r->out, "| time to decision, median | %s |\n",
			   timestamp_span(f.median_ms, text));
		buf_printf(r->out, "| time to decision, longest | %s |\n",
			   timestamp_span(f.longest_ms, text));
	}
	buf_printf(r->out, "| loops, not converging | %u, %u |\n", f.loops, f.diverging);
}

static void report_open(struct report *r)
{
	const struct model *m = r->s->model;
	uint32_t n, *list = model_inbox(m, r->s->k, scene_clock(r->s), false, &n, NULL);
	struct item_state at;

	if (n)
		table(r, "Waiting for a decision", "waits|severity|kind|from|what|id");
	for (uint32_t i = 0; i < n; i++) {
		const struct item *item = &m->items.v[list[i]];

		if (!item_is_shown(r->s, list[i], &at) || !row(r))
			continue;
		cell_span(r, span_between(time_of(r, at.opened), r->s->now_ms));
		cell_word(r, at.grade == GRADE_NONE ? "" : grade_name(at.grade));
		cell_word(r, item_kind_name(item->kind));
		cell_text(r, agent_name(m, message_route(m, at.message)->from));
		cell_item(r, item, &at);
		buf_addc(r->out, '\n');
	}
	table_end(r);
	free(list);
}

static void cell_by(struct report *r, const struct item_state *at)
{
	buf_addc(r->out, ' ');
	markdown_code(r->out, item_by(r->s->model, at));
	buf_printf(r->out, "%s |", item_by_origin(r->s->model, at));
}

static void report_decided(struct report *r)
{
	const struct model *m = r->s->model;
	struct item_state at;
	char clock[32];

	for (uint32_t i = 0; i < m->items.n; i++) {
		const struct item *item = &m->items.v[i];
		int64_t decided;

		if (!item_is_shown(r->s, i, &at) || at.open || at.verdict == VERDICT_SUPERSEDED ||
		    at.verdict == VERDICT_EXPIRED)
			continue;
		table(r, "Decided", "when|took|verdict|by|kind|what|id");
		if (!row(r))
			continue;
		decided = at.delivery != DELIVERY_NONE && at.person_ms != TIME_NONE
				  ? at.person_ms
				  : time_of(r, at.decided);
		cell_word(r, decided == TIME_NONE ? "" : timestamp_iso(decided, clock));
		cell_span(r, at.delivery != DELIVERY_NONE
				     ? TIME_NONE
				     : span_between(time_of(r, at.message), decided));
		cell_word(r, verdict_name(at.verdict));
		cell_by(r, &at);
		cell_word(r, item_kind_name(item->kind));
		cell_item(r, item, &at);
		buf_addc(r->out, '\n');
	}
	table_end(r);
}

static uint32_t count_entries(const struct ledger *all, uint32_t loop, uint32_t items)
{
	uint32_t n = 0;

	for (uint32_t p = loop_first_place(all, loop, items); p != NONE;
	     p = loop_next_place(all, loop, p, items))
		n++;
	return n;
}

static void report_loop(struct report *r, const struct ledger *all, uint32_t loop,
			struct arena *arena)
{
	const struct model *m = r->s->model;
	const struct loop_at *l = loop_look(all, loop, r->s->k, arena);
	enum loop_progress progress = loop_progress(l);
	struct recurring back[RECURRING_MAX];
	uint32_t back_n = loop_recurring(all, l, back);

	cell_text(r, loop_name(all, loop));
	cell_number(r, l->turn_count);
	cell_number(r, count_entries(all, loop, model_item_count(m, r->s->k)));
	cell_word(r, l->failed ? "error" : review_verdict_name(l->verdict));
	buf_addc(r->out, ' ');
	loop_counts(l, LOOP_COUNTS_MAX, r->out);
	buf_adds(r->out, " |");
	cell_word(r, progress == LOOP_BEGUN	   ? ""
		     : progress == LOOP_ENDED	   ? "ended"
		     : progress == LOOP_CONVERGES ? "yes"
						   : "**no**");
	for (uint32_t i = 0; i < back_n && i < RECURRING_MAX; i++) {
		buf_adds(r->out, i ? ", " : " ");
		markdown_code(r->out, model_str(m, m->items.v[back[i].item].id));
		if (back[i].times > 1)
			buf_printf(r->out, " ×%u", back[i].times);
	}
	if (back_n > RECURRING_MAX)
		buf_printf(r->out, ", %u more", back_n - RECURRING_MAX);
	buf_adds(r->out, " |\n");
}

static void report_loops(struct report *r)
{
	struct arena arena = { 0 };
	const struct ledger *all = r->loops;

	if (all->n)
		table(r, "Review loops",
		      "loop|iterations|items|latest|open after each|converges|comes back");
	for (uint32_t i = 0; i < all->n; i++) {
		arena_reset(&arena);
		if (loop_has_begun(all, i, r->s->k) && row(r))
			report_loop(r, all, i, &arena);
	}
	table_end(r);
	arena_release(&arena);
}

static void report_tasks(struct report *r)
{
	const struct model *m = r->s->model;
	struct task_state_at at;

	for (uint32_t i = 0; i < m->tasks.n; i++) {
		if (!task_at(m, &m->tasks.v[i], r->s->k, &at) ||
		    !filter_task(r->s->filter, m, i, r->s->k))
			continue;
		table(r, "Tasks", "task|agent|state|done|attempts");
		if (!row(r))
			continue;
		cell_text(r, model_str(m, m->tasks.v[i].id));
		cell_text(r, agent_name(m, at.agent));
		cell_word(r, task_is_stalled(m, &at, r->s->now_ms) ? "stalled"
								   : task_state_name(at.state));
		if (at.percent >= 0)
			buf_printf(r->out, " %d%% |", at.percent);
		else
			cell_word(r, "");
		cell_number(r, at.attempts);
		buf_addc(r->out, '\n');
	}
	table_end(r);
}

static void report_agents(struct report *r)
{
	const struct model *m = r->s->model;
	struct agent_stats *stats = model_agent_stats(m, r->s->k, r->s->now_ms, NULL);

	if (m->agents.n)
		table(r, "Agents", m->tool_acts.n ? "agent|messages|errors|tokens in|tokens out|cost|"
						    "asked|ran unasked"
						  : "agent|messages|errors|tokens in|tokens out|cost");
	for (uint32_t i = 0; i < m->agents.n; i++) {
		if (m->agents.v[i].first >= r->s->k ||
		    !filter_agent(r->s->filter, m, i, r->s->k) || !row(r))
			continue;
		cell_text(r, model_str(m, m->agents.v[i].name));
		cell_number(r, stats[i].messages);
		cell_number(r, stats[i].errors);
		cell_number(r, stats[i].tokens_in);
		cell_number(r, stats[i].tokens_out);
		buf_printf(r->out, " $%.4f |", stats[i].cost);
		if (m->tool_acts.n) {
			cell_number(r, stats[i].asked);
			cell_number(r, stats[i].unasked);
		}
		buf_addc(r->out, '\n');
	}
	table_end(r);
	free(stats);
}

static void report_problems(struct report *r)
{
	const struct model *m = r->s->model;

	for (uint32_t i = 0; i < r->s->k; i++) {
		const struct diags *diags;

		if (!m->records.v[i].errors || !message_is_shown(r->s, i))
			continue;
		table(r, "Broken rules", "line|rule|problem");
		if (r->rows >= ROWS_MAX) { /* counted, not read again */
			r->rows++;
			continue;
		}
		diags = r->s->reader->diags(r->s->reader->ctx, i);
		for (uint32_t d = 0; d < diags->list.n; d++) {
			if (diags->list.v[d].severity != SEVERITY_ERROR || !row(r))
				continue;
			cell_number(r, message_line(m, i));
			cell_text(r, str_of(diags->list.v[d].rule));
			cell_text(r, diags->list.v[d].text);
			buf_addc(r->out, '\n');
		}
	}
	table_end(r);
}

void markdown_report(struct load *l, const struct scene *s, struct buf *out)
{
	struct report r = { .l = l, .s = s, .out = out };

	report_head(&r);
	report_open(&r);
	report_decided(&r);
	if (!r.loops)
		r.loops = ledger_new(s->model, s->k, s->k, NULL);
	report_loops(&r);
	ledger_release(r.loops);
	report_tasks(&r);
	report_agents(&r);
	report_problems(&r);
}
