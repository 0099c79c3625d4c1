/* The summary view: session statistics. Lists of counts are wrapped into rows; each row keeps its
 * range of the list. */
#include "view/session_label.h"
#include "view/session_stats.h"
#include "view/task_usage.h"
#include "view/view_parts.h"

#include <stdio.h>
#include <stdlib.h>

enum {
	LABEL_COLS = 15,
	NUMBER_COLS = 7,
	ENTRY_GAP = 3,
};

/* A count, named by a mark, else by text of a message. */
struct summary_entry {
	const struct mark *mark;
	struct str name;
	uint64_t n;
	const char *amount; /* in place of n, or NULL */
	enum role role; /* of the name */
};

enum what {
	ROW_BLANK,
	ROW_TIME,
	ROW_USAGE,
	ROW_TOOK, /* how long decisions took */
	ROW_LOOP, /* a: index into summary_own.diverging */
	ROW_LIST, /* and above: number of the list; a: first entry, b: how many */
};

struct list {
	const char *title;
	enum role role;
	uint64_t total;
	uint32_t first, n;
};

/* A loop that does not converge. */
struct summary_loop {
	struct str name, counts;
	struct recurring *recurring;
	uint32_t recurring_count;
};

struct summary_own {
	struct session_stats stats;
	struct list lists[DIALECT_MAX + 15];
	uint32_t list_count;
	struct summary_entry *entries;
	uint32_t entry_count, entry_cap;
	struct summary_loop diverging[DIVERGED_MAX];
	uint32_t diverging_count;
};

/* ---- lists ---- */

static void entry_add(struct lines *out, struct summary_entry e)
{
	struct summary_own *own = out->own;

	own->entries = lines_grow(out, own->entries, own->entry_count, &own->entry_cap,
				  sizeof(*own->entries));
	own->entries[own->entry_count++] = e;
	own->lists[own->list_count - 1].n++;
}

static void mark_add(struct lines *out, const struct mark *mark, uint64_t n)
{
	if (n)
		entry_add(out, (struct summary_entry){ .mark = mark, .n = n });
}

static void list_add(struct lines *out, const char *title, enum role role, uint64_t total)
{
	struct summary_own *own = out->own;

	own->lists[own->list_count++] = (struct list){
		.title = title, .role = role, .total = total, .first = own->entry_count
	};
}

static int entry_cols(const struct scene *s, const struct summary_entry *e)
{
	char number[24];
	int cols = e->amount ? 1 + (int)strlen(e->amount)
			     : snprintf(number, sizeof(number), " %llu", (unsigned long long)e->n);

	if (e->mark)
		return cols + (int)strlen(e->mark->word) + 2;
	return cols + (int)cells_width(raw_of(e->name), TEXT_ID, s->ascii, 256);
}

static int list_indent(int cols)
{
	return cols < 50 ? 2 : LABEL_COLS + NUMBER_COLS + 2;
}

/* Wraps the newest list into rows. */
static void list_wrap(const struct scene *s, struct lines *out)
{
	struct summary_own *own = out->own;
	uint32_t number = own->list_count - 1;
	const struct list *list = &own->lists[number];
	int room = out->cols - list_indent(out->cols), used = 0;
	uint32_t start = list->first;

	/* on a narrow screen the title has its own row */
	if (out->cols < 50 && list->n)
		line_add(out, ROW_LIST + number, start, 0);
	for (uint32_t i = list->first; i < list->first + list->n; i++) {
		int cols = entry_cols(s, &own->entries[i]);

		if (i > start && used + cols > room) {
			line_add(out, ROW_LIST + number, start, i - start);
			start = i;
			used = 0;
		}
		used += cols + ENTRY_GAP;
	}
	line_add(out, ROW_LIST + number, start, list->first + list->n - start);
}

static int by_count(const void *left, const void *right)
{
	const struct summary_entry *a = left, *b = right;

	if (a->n != b->n)
		return a->n > b->n ? -1 : 1;
	return str_cmp(a->name, b->name);
}

static void list_dialects(const struct scene *s, struct lines *out)
{
	struct summary_own *own = out->own;
	const struct counts *c = &own->stats.counts;

	for (unsigned d = dialect_count(); d-- > 0;) {
		struct list *list;

		if (!c->dialect[d])
			continue;
		list_add(out, dialect_name(d), ROLE_DIALECT, c->dialect[d]);
		for (unsigned k = 0; k < 256; k++)
			if (c->kind[d][k])
				entry_add(out, (struct summary_entry){ .name = s->model->kinds[k],
							       .n = c->kind[d][k],
							       .role = ROLE_NORMAL });
		list = &own->lists[own->list_count - 1];
		qsort(own->entries + list->first, list->n, sizeof(struct summary_entry), by_count);
		list_wrap(s, out);
	}
}

static void list_total(const struct scene *s, struct lines *out, const char *title, uint64_t n)
{
	list_add(out, title, ROLE_KEY, n);
	list_wrap(s, out);
}

static void list_states(const struct scene *s, struct lines *out)
{
	struct summary_own *own = out->own;
	const struct counts *c = &own->stats.counts;
	static const struct mark stalled = { "⚠", "S", "stalled", ROLE_STALLED };
	static const struct mark due = { "!", "D", "with a deadline", ROLE_DUE };
	static const struct mark back = { "▲", "B", "came back", ROLE_WARN };
	static const struct mark broken = { "⚠", "U", "cannot be decided", ROLE_ERROR };

	list_add(out, "items", ROLE_KEY, c->items);
	mark_add(out, &verdict_marks[VERDICT_NONE], c->verdict[VERDICT_NONE]);
	mark_add(out, &due, c->due);
	mark_add(out, &back, c->came_back);
	mark_add(out, &broken, c->undecidable);
	for (int v = VERDICT_NONE + 1; v < VERDICT_COUNT; v++)
		mark_add(out, &verdict_marks[v], c->verdict[v]);
	list_wrap(s, out);
	list_add(out, "tasks", ROLE_KEY, c->tasks);
	for (int t = 0; t < TASK_STATE_COUNT; t++)
		mark_add(out, &task_marks[t], c->task[t]);
	mark_add(out, &stalled, c->stalled);
	list_wrap(s, out);
	list_add(out, "reviews", ROLE_KEY, c->reviews);
	for (int v = REVIEW_NONE; v <= REVIEW_REJECTED; v++)
		mark_add(out, &review_marks[v], c->review[v]);
	list_wrap(s, out);
	list_add(out, "problems", ROLE_KEY, c->problem[0] + c->problem[1] + c->problem[2]);
	for (int severity = SEVERITY_ERROR; severity >= SEVERITY_NOTE; severity--)
		mark_add(out, &problem_marks[severity], c->problem[severity]);
	list_wrap(s, out);
}

static void add_diverging(const struct scene *s, struct lines *out, const struct ledger *all,
			  uint32_t loop)
{
	struct summary_own *own = out->own;
	struct summary_loop *to = &own->diverging[own->diverging_count];
	struct arena arena = { 0 };
	const struct loop_at *l = loop_look(all, loop, s->k, &arena);
	struct buf counts = { 0 };

	loop_counts(l, 8, &counts);
	to->name = arena_str(&out->arena, loop_name(all, loop));
	to->counts = arena_str(&out->arena, buf_str(&counts));
	to->recurring = arena_zalloc(&out->arena, RECURRING_MAX * sizeof(*to->recurring));
	to->recurring_count = loop_recurring(all, l, to->recurring);
	line_add(out, ROW_LOOP, own->diverging_count++, 0);
	buf_release(&counts);
	arena_release(&arena);
}

/* The first loops that do not converge, by name. */
static void list_diverging(const struct scene *s, struct lines *out)
{
	struct summary_own *own = out->own;
	const struct session_stats *f = &own->stats;
	struct ledger *all = f->diverging ? scene_ledger(s) : NULL;

	for (uint32_t i = 0; all && i < all->n && own->diverging_count < f->diverging &&
			     own->diverging_count < DIVERGED_MAX; i++)
		if (all->list[i].first == f->diverged[own->diverging_count])
			add_diverging(s, out, all, i);
	ledger_release(all);
}

static void list_decisions(const struct scene *s, struct lines *out)
{
	static const struct mark diverges = { "⚠", "W", "not converging", ROLE_WARN };
	const struct session_stats *f = &((const struct summary_own *)out->own)->stats;

	list_add(out, "decisions", ROLE_KEY, f->decided);
	for (int v = VERDICT_NONE + 1; v < VERDICT_COUNT; v++)
		mark_add(out, &verdict_marks[v], f->by_agents[v] + f->by_persons[v]);
	list_wrap(s, out);
	if (f->timed)
		line_add(out, ROW_TOOK, 0, 0);
	list_add(out, "loops", ROLE_KEY, f->loops);
	mark_add(out, &diverges, f->diverging);
	list_wrap(s, out);
	list_diverging(s, out);
}

/* Its name, with the session where another of them has the same. */
static struct str spender_name(const struct scene *s, struct lines *out, const struct session_stats *f,
			       uint32_t i)
{
	const struct model *m = s->model;
	uint32_t agent = f->spender[i].agent;
	struct str name = agent_name(m, agent), session = session_short(m, m->agents.v[agent].session);
	bool same = false;

	for (uint32_t k = 0; k < f->spenders && k < SPENDERS_MAX; k++)
		same |= k != i && str_eq(agent_name(m, f->spender[k].agent), name);
	return same ? str_of(arena_printf(&out->arena, "%.*s (%.*s)", STR_ARG(name), STR_ARG(session)))
		    : name;
}

/* Agents that used most tokens. */
static void list_spenders(const struct scene *s, struct lines *out)
{
	const struct session_stats *f = &((const struct summary_own *)out->own)->stats;

	if (!f->spenders)
		return;
	list_add(out, "  by agent", ROLE_KEY, f->spenders);
	for (uint32_t i = 0; i < f->spenders && i < SPENDERS_MAX; i++) {
		char tokens[16];

		short_number(f->spender[i].tokens, tokens);
		entry_add(out, (struct summary_entry){
				       .name = spender_name(s, out, f, i),
				       .amount = arena_printf(&out->arena, "%s tokens", tokens),
				       .role = ROLE_AGENT });
	}
	list_wrap(s, out);
}

/* Tasks, and sessions without one, that cost most. */
static void list_costs(const struct scene *s, struct lines *out)
{
	const struct model *m = s->model;
	uint32_t n;
	struct task_usage *list = task_usage_list(s, &n);

	if (n)
		list_add(out, "  by task", ROLE_KEY, n);
	for (uint32_t i = 0; i < n && i < SPENDERS_MAX; i++) {
		const struct task_usage *u = &list[i];
		char tokens[16];

		short_number(u->tokens_in + u->tokens_out, tokens);
		entry_add(out, (struct summary_entry){
				       .name = u->task != NONE ? model_str(m, m->tasks.v[u->task].id)
							       : session_name(m, u->session),
				       .amount = u->cost > 0
							 ? arena_printf(&out->arena, "$%.4f", u->cost)
							 : arena_printf(&out->arena, "%s tokens", tokens),
				       .role = u->task != NONE ? ROLE_ID : ROLE_NORMAL });
	}
	if (n)
		list_wrap(s, out);
	free(list);
}

static void list_all(const struct scene *s, struct lines *out)
{
	const struct summary_own *own = out->own;

	line_add(out, ROW_TIME, 0, 0);
	list_states(s, out);
	list_decisions(s, out);
	list_total(s, out, "agents", own->stats.counts.agents);
	line_add(out, ROW_USAGE, 0, 0);
	list_spenders(s, out);
	list_costs(s, out);
	line_add(out, ROW_BLANK, 0, 0);
	list_total(s, out, "sources", own->stats.counts.sources);
	list_total(s, out, "sessions", own->stats.counts.sessions);
	list_total(s, out, "messages", own->stats.counts.messages);
	list_dialects(s, out);
}

static void summary_make(const struct scene *s, int cols, struct lines *out)
{
	struct summary_own *own = arena_zalloc(&out->arena, sizeof(*own));
	struct ledger *loops;
	struct scene with = *s;

	out->own = own;
	out->cols = cols;
	session_stats_compute(s, &own->stats, &loops);
	if (loops)
		with.loops = loops;
	if (own->stats.counts.messages)
		list_all(&with, out);
	ledger_release(loops);
}

/* ---- drawing ---- */

static void draw_time(const struct counts *c, struct pen p)
{
	char from[32], to[32];

	grid_put(p.g, p.rest, ROLE_KEY, "time");
	pen_skip(&p, p.rest.cols < 50 ? 6 : LABEL_COLS);
	if (c->from_ms == TIME_NONE) {
		pen_put(&p, ROLE_DIM, "no message has a time");
		return;
	}
	timestamp_iso(c->from_ms / 1000 * 1000, from);
	/* the date only once if both are on one day */
	if (c->from_ms / 86400000 == c->to_ms / 86400000)
		timestamp_clock(c->to_ms, to);
	else
		timestamp_iso(c->to_ms / 1000 * 1000, to);
	pen_printf(&p, ROLE_NORMAL, "%s → %s", from, to);
	pen_printf(&p, ROLE_DIM, "  %s", timestamp_span(time_between(c->to_ms, c->from_ms), from));
}

static void draw_usage(const struct counts *c, struct pen p)
{
	char in[16], out[16], cached[16];

	grid_put(p.g, p.rest, ROLE_KEY, "tokens");
	pen_skip(&p, p.rest.cols < 50 ? 8 : LABEL_COLS + NUMBER_COLS + 2);
	pen_printf(&p, ROLE_NORMAL, "$%.4f   %s in   %s out   %s cached", c->cost,
		   short_number(c->tokens_in, in), short_number(c->tokens_out, out),
		   short_number(c->tokens_cached, cached));
}

static void draw_took(const struct session_stats *f, struct pen p)
{
	char median[32], longest[32];

	grid_put(p.g, p.rest, ROLE_KEY, "  took");
	pen_skip(&p, p.rest.cols < 50 ? 8 : LABEL_COLS + NUMBER_COLS + 2);
	pen_printf(&p, ROLE_NORMAL, "median %s, longest %s",
		   timestamp_span(f->median_ms, median), timestamp_span(f->longest_ms, longest));
	if (f->timed < f->decided)
		pen_printf(&p, ROLE_DIM, "   (%u without a time)", f->decided - f->timed);
}

static void draw_loop(const struct model *m, const struct summary_loop *l, struct pen p)
{
	pen_skip(&p, list_indent(p.rest.cols));
	pen_id(&p, ROLE_ID, l->name);
	pen_put(&p, ROLE_NORMAL, "  ");
	pen_printf(&p, ROLE_NORMAL, "%.*s", STR_ARG(l->counts));
	pen_put(&p, ROLE_NORMAL, " open");
	pen_recurring(&p, m, l->recurring, l->recurring_count);
}

static void draw_list(const struct summary_own *own, const struct line *line, struct pen p)
{
	const struct list *list = &own->lists[line->what - ROW_LIST];
	struct rect row = p.rest;
	char number[32];
	int indent = list_indent(row.cols);

	if (line->a == list->first && (indent > 2 || !line->b)) {
		grid_put(p.g, rect_in(row, 0, 0, 1, LABEL_COLS), list->role, list->title);
		snprintf(number, sizeof(number), "%llu", (unsigned long long)list->total);
		put_right(p.g, rect_in(row, 0, LABEL_COLS, 1, NUMBER_COLS), ROLE_NORMAL, number);
	}
	pen_skip(&p, indent);
	for (uint32_t i = line->a; i < line->a + line->b; i++) {
		const struct summary_entry *e = &own->entries[i];

		if (e->mark) {
			pen_printf(&p, e->mark->role, "%s ", e->mark->glyph);
			pen_put(&p, e->mark->role, e->mark->word);
		} else {
			pen_id(&p, e->role, e->name);
		}
		if (e->amount)
			pen_printf(&p, ROLE_DIM, " %s", e->amount);
		else
			pen_printf(&p, e->mark ? e->mark->role : ROLE_DIM, " %llu",
				   (unsigned long long)e->n);
		pen_skip(&p, ENTRY_GAP);
	}
}

static void summary_draw(const struct scene *s, const struct lines *lines, uint32_t i,
			 struct grid *g, struct rect row)
{
	const struct summary_own *own = lines->own;
	const struct line *line = &lines->list.v[i];
	struct pen p = { g, rect_in(row, 0, 0, 1, row.cols) };

	if (line->what == ROW_BLANK)
		return;
	if (line->what == ROW_TIME)
		draw_time(&own->stats.counts, p);
	else if (line->what == ROW_USAGE)
		draw_usage(&own->stats.counts, p);
	else if (line->what == ROW_TOOK)
		draw_took(&own->stats, p);
	else if (line->what == ROW_LOOP)
		draw_loop(s->model, &own->diverging[line->a], p);
	else
		draw_list(own, line, p);
}

const struct view_ops view_summary = {
	.name = "summary",
	.make = summary_make,
	.draw = summary_draw,
	.empty = "No messages.",
};
