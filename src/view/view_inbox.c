/* The inbox view: open items, grouped by what silence does, with a heading for each group. Inside a
 * group they are sorted by urgency as model_inbox does. The clock counts down to a deadline (with a
 * !) or shows the item's age. Items that have just expired stay for a while after the open ones.
 * With `all`, decided items follow, and a column shows the verdict. */
#include "view/session_label.h"

#include "model/rules.h"

#include <stdlib.h>

enum { NEARLY_DUE_MS = 60000 };

enum col {
	COL_STATE,
	COL_CLOCK,
	COL_GRADE,
	COL_VERDICT,
	COL_KIND,
	COL_AGENT,
	COL_SESSION,
	COL_TEAM,
	COL_TITLE,
	COL_ID,
	COL_COUNT
};

/* An agent's tail, the session and the id come when the words have what they want. */
static const struct column table[COL_COUNT] = {
	[COL_STATE] = { "", 1, 1, 0 },
	[COL_CLOCK] = { "time", 6, 6, 0, .right = true },
	[COL_GRADE] = { "sev", 1, 5, 3 },
	[COL_VERDICT] = { "verdict", 1, 12, 1 },
	[COL_KIND] = { "kind", 11, 11, 1 },
	[COL_AGENT] = { "from", 8, 8, 2 },
	[COL_SESSION] = { "session", 9, 20, 1, .late = true },
	[COL_TEAM] = { "team", 0, 14, 1 }, /* only in a team's inbox */
	[COL_TITLE] = { "what", 20, 64, 0, .grows = true },
	[COL_ID] = { "id", 8, 16, 2, .late = true },
};

enum { AGENT_LEAST = 12, AGENT_MOST = 20, PAPER_ID_MOST = 36, PAPER_ID_ITEMS = 256 };

/* What happens if the person says nothing. */
enum group { GROUP_RETURNED, GROUP_DUE, GROUP_BLOCKED, GROUP_REVIEW, GROUP_ADVICE, GROUP_ESCALATED,
	     GROUP_EXPIRED, GROUP_CLOSED, GROUP_COUNT };

static const struct {
	const char *name, *silence;
} groups[GROUP_COUNT] = {
	[GROUP_RETURNED] = { "to send", "answered by somebody else; you send it" },
	[GROUP_DUE] = { "due", "goes on without you when its time is up" },
	[GROUP_BLOCKED] = { "blocked on you", "waits until you decide" },
	[GROUP_REVIEW] = { "review", "stays open until you decide" },
	[GROUP_ADVICE] = { "advice", "goes on without it" },
	[GROUP_ESCALATED] = { "escalated", "somebody else answers it, while it is asked" },
	[GROUP_EXPIRED] = { "expired", "its time was up just now" },
	[GROUP_CLOSED] = { "closed", "nothing is left to decide" },
};

/* Without a deadline; a kind that is not listed waits for an answer. */
static const uint8_t group_of_kind[ITEM_KIND_COUNT] = {
	[ITEM_QUESTION] = GROUP_BLOCKED, [ITEM_BLOCKED] = GROUP_BLOCKED,
	[ITEM_PERMISSION] = GROUP_BLOCKED, [ITEM_PLAN] = GROUP_BLOCKED,
	[ITEM_FINDING] = GROUP_REVIEW,   [ITEM_CHANGE] = GROUP_REVIEW,
	[ITEM_VERDICT] = GROUP_REVIEW,   [ITEM_IMPROVEMENT] = GROUP_ADVICE,
};

/* On paper ids are whole, since commands take them: the width of the widest of the first ones. */
static int paper_id_cols(const struct model *m, const uint32_t *items, uint32_t n)
{
	int widest = table[COL_ID].min;
	struct buf name = { 0 };

	for (uint32_t i = 0; i < n && i < PAPER_ID_ITEMS && widest < PAPER_ID_MOST; i++) {
		int width;

		buf_clear(&name);
		item_name(m, &m->items.v[items[i]], &name);
		width = (int)cells_width(raw_of(buf_str(&name)), TEXT_ID, true, PAPER_ID_MOST);
		widest = width > widest ? width : widest;
	}
	buf_release(&name);
	return widest;
}

static void layout(const struct scene *s, int cols, const uint32_t *items, uint32_t n,
		   struct lines *out)
{
	struct column c[COL_COUNT];

	memcpy(c, table, sizeof(table));
	c[COL_AGENT].want = agents_width(s, 8, AGENT_MOST);
	c[COL_AGENT].min = c[COL_AGENT].want < AGENT_LEAST ? c[COL_AGENT].want : AGENT_LEAST;
	/* the whole word or the glyph */
	c[COL_VERDICT].min = !s->all ? 0 : cols < 56 ? 1 : table[COL_VERDICT].want;
	c[COL_VERDICT].want = c[COL_VERDICT].min;
	c[COL_TEAM].min = s->team ? 10 : 0;
	session_column(s, out, &c[COL_SESSION], 4);
	if (!s->keymap)
		c[COL_ID] = (struct column){ "id", paper_id_cols(s->model, items, n), 0, 4 };
	table_layout(out, c, COL_COUNT, cols);
}

bool item_is_snoozed(const struct scene *s, uint32_t item, const struct item_state *at)
{
	if (!s->triage || (at->deadline_ms != TIME_NONE && s->now_ms != TIME_NONE &&
			   time_between(at->deadline_ms, s->now_ms) < NEARLY_DUE_MS))
		return false;
	return item < s->triage->snoozed.n && s->triage->snoozed.v[item] == at->message + 1;
}

/* ---- groups ---- */

/* An item in the order of the screen. */
struct inbox_row {
	uint32_t item;
	uint8_t group, weight;
	int64_t opened_ms; /* only where several sources have to be merged */
};

struct inbox_rows {
	VEC(struct inbox_row) list;
	uint32_t counts[GROUP_COUNT];
};

/* In a team's inbox everything was passed on, so what it was before is shown. */
static enum item_kind shown_kind(const struct scene *s, uint32_t number)
{
	const struct item *item = &s->model->items.v[number];

	return team_mark_of(s->team, number) && item->origin_dialect
		       ? (enum item_kind)item->origin_kind
		       : (enum item_kind)item->kind;
}

static enum group group_of(const struct scene *s, uint32_t number)
{
	const struct item *item = &s->model->items.v[number];
	enum group group = (enum group)group_of_kind[shown_kind(s, number)];
	struct item_state at;

	/* whether it is open is known without looking where only open ones are listed */
	if ((s->all || item->dated) && item_at(s->model, item, s->k, scene_clock(s), &at)) {
		if (!at.open)
			return GROUP_CLOSED;
		if (at.deadline_ms != TIME_NONE)
			return GROUP_DUE;
	}
	return !group ? GROUP_BLOCKED : group; /* 0 in the table: not listed there */
}

static void add_row(struct inbox_rows *p, uint32_t item, enum group group)
{
	vec_push(&p->list, (struct inbox_row){ .item = item, .group = (uint8_t)group });
	p->counts[group]++;
}

/* Sources are loaded one after the other, so the numbers of their items do not tell the age. */
static bool has_many_sources(const struct model *m)
{
	for (uint32_t i = 1; i < m->sessions.n; i++)
		if (m->sessions.v[i].group != m->sessions.v[0].group)
			return true;
	return false;
}

/* By weight, then age; what has a deadline, or is closed, keeps its order. */
static int by_age(const void *left, const void *right)
{
	const struct inbox_row *a = left, *b = right;

	if (a->weight != b->weight)
		return a->weight < b->weight ? -1 : 1;
	if (a->opened_ms != b->opened_ms)
		return a->opened_ms < b->opened_ms ? -1 : 1;
	return a->item < b->item ? -1 : a->item > b->item;
}

static void sort_by_age(const struct scene *s, struct inbox_row *list, uint32_t n)
{
	const struct model *m = s->model;
	struct item_state at;

	for (uint32_t i = 0; i < n && yield_on(s->yield); i++) {
		const struct item *item = &m->items.v[list[i].item];

		if (!item_at(m, item, s->k, scene_clock(s), &at))
			continue;
		list[i].weight = (uint8_t)item_weight(item, at.grade);
		list[i].opened_ms = message_time(m, at.opened);
	}
	yield_sort(list, n, sizeof(*list), by_age, s->yield);
}

/* A stable counting sort by group: inside, the order of the inbox stays. */
static void add_grouped(const struct scene *s, struct lines *out, const struct inbox_rows *p)
{
	struct inbox_row *sorted = xmalloc((p->list.n + 1) * sizeof(*sorted));
	uint32_t next[GROUP_COUNT], first = 0;
	bool merge = has_many_sources(s->model);

	for (unsigned g = 0; g < GROUP_COUNT; first += p->counts[g++]) {
		next[g] = first;
		if (p->counts[g])
			lines_group(out, first, p->counts[g], groups[g].name, groups[g].silence);
	}
	for (uint32_t i = 0; i < p->list.n && yield_on(s->yield); i++)
		sorted[next[p->list.v[i].group]++] = p->list.v[i];
	for (unsigned g = GROUP_BLOCKED; merge && g <= GROUP_ADVICE; g++)
		sort_by_age(s, sorted + next[g] - p->counts[g], p->counts[g]);
	for (uint32_t i = 0; i < p->list.n && yield_on(s->yield); i++)
		line_number(out, sorted[i].item);
	free(sorted);
}

/* The closed items that pass the filter. */
static uint32_t count_closed(const struct scene *s)
{
	struct item_state at;
	uint32_t n = 0;

	for (uint32_t i = 0; i < s->model->items.n && yield_on(s->yield); i++)
		n += item_is_shown(s, i, &at) && !at.open;
	return n;
}

/* Whether an answer came back from the queue and was not sent yet. */
static bool has_returned(const struct scene *s, uint32_t item)
{
	for (uint32_t i = 0; i < s->returned_n; i++)
		if (s->returned[i] == item)
			return true;
	return false;
}

static void add_escalated(const struct scene *s, struct lines *out, struct inbox_rows *rows,
			  uint32_t item)
{
	if (s->plain_order)
		line_number(out, item);
	else
		add_row(rows, item, has_returned(s, item) ? GROUP_RETURNED : GROUP_ESCALATED);
}

/* Where the protocol has a message for it, the session itself says that it is escalated: that was said
 * here if the last decision of the desk is that. */
static void add_escalated_by_message(const struct scene *s, struct lines *out,
				     struct inbox_rows *rows)
{
	for (uint32_t i = 0; s->desks && i < s->desks->list.n; i++) {
		const struct desk *desk = &s->desks->list.v[i], *of;

		for (uint32_t k = 0; k < desk->drafts.n && yield_on(s->yield); k++) {
			const struct draft *d = &desk->drafts.v[k];
			struct item_state at;

			if (d->verb == VERB_ESCALATE && d->state == DRAFT_WRITTEN &&
			    d->number != NONE && draft_on_item(s, d->number, &of) == d &&
			    item_is_shown(s, d->number, &at) && !at.open && !at.overlaid &&
			    at.verdict == VERDICT_ESCALATED)
				add_escalated(s, out, rows, d->number);
		}
	}
}

/* What was passed on stays on the screen while its question is open: the agent still waits, or goes
 * on without an answer. Only what was decided here has an overlay. */
static void add_passed_on(const struct scene *s, struct lines *out, struct inbox_rows *rows)
{
	const struct model *m = s->model;
	struct item_state at;

	for (uint32_t i = 0; s->keymap && !s->all && i < m->overlays.n && yield_on(s->yield); i++) {
		uint32_t item = m->overlays.v[i].item;

		if (m->overlays.v[i].verdict != VERDICT_ESCALATED ||
		    !item_at(m, &m->items.v[item], s->k, scene_clock(s), &at) ||
		    !item_is_passed_on(&m->items.v[item], &at) || !item_is_shown(s, item, &at) ||
		    (at.deadline_ms != TIME_NONE && s->now_ms > at.deadline_ms))
			continue;
		add_escalated(s, out, rows, item);
	}
	if (s->keymap && !s->all)
		add_escalated_by_message(s, out, rows);
}

static void inbox_make(const struct scene *s, int cols, struct lines *out)
{
	const struct model *m = s->model;
	uint32_t n, *numbers = s->asof ? asof_inbox(s->asof, s->k, scene_clock(s), s->all, &n)
				       : model_inbox(m, s->k, scene_clock(s), s->all, &n, s->yield);
	bool every = !s->filter && (s->all || !s->triage || !s->triage->snoozed.n);
	struct inbox_rows rows = { 0 };
	struct item_state at;

	session_labels_make(s, out);
	layout(s, cols, numbers, n, out);
	for (uint32_t i = 0; i < n && yield_on(s->yield); i++) {
		if (!every && (!item_is_shown(s, numbers[i], &at) ||
			       (!s->all && at.snoozed && !filter_asks_snoozed(s->filter))))
			continue;
		if (s->plain_order)
			line_number(out, numbers[i]);
		else
			add_row(&rows, numbers[i], group_of(s, numbers[i]));
	}
	free(numbers);
	add_passed_on(s, out, &rows);
	for (uint32_t i = 0; !s->all && i < m->dated.n && yield_on(s->yield); i++) {
		uint32_t item = m->dated.v[i].item;

		if (!item_at(m, &m->items.v[item], s->k, scene_clock(s), &at) ||
		    !item_just_expired(s, &at) || !item_is_shown(s, item, &at))
			continue;
		if (s->plain_order)
			line_number(out, item);
		else
			add_row(&rows, item, GROUP_EXPIRED);
	}
	if (!s->yield || !s->yield->cancelled)
		add_grouped(s, out, &rows);
	if (!out->list.n && !s->all && s->filter && s->narrowed.type != TARGET_NONE)
		out->closed = count_closed(s);
	vec_release(&rows.list);
}

/* ---- drawing ---- */

/* The state of an item that a person has to know of first. */
static const struct mark *state_mark(const struct scene *s, uint32_t number,
				     const struct item_state *at)
{
	if (at->undecidable)
		return &item_marks[ITEM_IS_BROKEN];
	if (item_is_passed_on(&s->model->items.v[number], at) ||
	    (!s->all && !at->open && at->verdict == VERDICT_ESCALATED))
		return &item_marks[has_returned(s, number) ? ITEM_IS_ANSWERED : ITEM_IS_ESCALATED];
	if (at->delivery != DELIVERY_NONE)
		return &delivery_marks[at->delivery];
	if (at->bounced)
		return &delivery_marks[DELIVERY_BOUNCED];
	if (item_just_expired(s, at))
		return &item_marks[ITEM_IS_EXPIRED];
	if (at->open && item_is_snoozed(s, number, at))
		return &item_marks[ITEM_IS_SNOOZED];
	if (at->came_back)
		return &item_marks[ITEM_CAME_BACK];
	if (at->revision)
		return &item_marks[ITEM_IS_REWORDED];
	return at->times > 1 ? &item_marks[ITEM_IS_REPEATED] : &item_marks[ITEM_IS_PLAIN];
}

/* Behind it, where there is room, the origin of what others decided. */
static void put_verdict(const struct model *m, const struct item_state *at, struct pen p)
{
	enum trust trust = item_trust(m, at);

	pen_mark(&p, &verdict_marks[at->verdict]);
	if (item_by(m, at).n && trust != TRUST_JOURNAL && p.rest.cols >= 2) {
		pen_skip(&p, p.rest.cols - 1);
		pen_put(&p, trust_marks[trust].role, trust_marks[trust].glyph);
	}
}

static void put_grade(const struct item_state *at, struct pen p)
{
	const struct mark *grade = &grade_marks[at->grade];

	if (at->grade != GRADE_NONE)
		pen_put(&p, grade->role, p.rest.cols < 5 ? grade->letter : grade->word);
}

static void inbox_draw(const struct scene *s, const struct lines *lines, uint32_t i, struct grid *g,
		       struct rect row)
{
	const struct model *m = s->model;
	uint32_t number = line_at(lines, i).a;
	const struct item *item = &m->items.v[number];
	const struct columns *fit = &lines->table->fit;
	const struct team_mark *mark;
	struct item_state at;
	struct pen p;
	enum role role;
	char clock[32];

	if (!item_at(m, item, s->k, scene_clock(s), &at))
		return;
	p = column_pen(g, row, fit, COL_STATE);
	pen_glyph(&p, state_mark(s, number, &at));
	put_right(g, column_rect(row, fit, COL_CLOCK), ROLE_TIME,
		  item_clock(s, &at, clock, &role));
	grid_role(g, column_rect(row, fit, COL_CLOCK), role);
	put_grade(&at, column_pen(g, row, fit, COL_GRADE));
	put_verdict(m, &at, column_pen(g, row, fit, COL_VERDICT));
	mark = team_mark_of(s->team, number);
	grid_put(g, column_rect(row, fit, COL_KIND), ROLE_NORMAL,
		 item_kind_name(shown_kind(s, number)));
	p = column_pen(g, row, fit, COL_AGENT);
	if (message_trust(m, at.message) != TRUST_LOG)
		pen_put(&p, ROLE_DIM, trust_marks[message_trust(m, at.message)].glyph);
	pen_agent(&p, m, message_route(m, at.message)->from);
	p = column_pen(g, row, fit, COL_SESSION);
	pen_session(&p, ROLE_DIM, s, lines, message_session(s, lines, at.message));
	p = column_pen(g, row, fit, COL_TEAM);
	if (mark)
		pen_team(&p, mark, scene_clock(s));
	p = column_pen(g, row, fit, COL_TITLE);
	pen_title(&p, at.open ? ROLE_NORMAL : ROLE_DIM, s, item, &at);
	p = column_pen(g, row, fit, COL_ID);
	pen_item_short(&p, s, item);
}

static struct target inbox_target(const struct scene *s, const struct lines *lines, uint32_t i)
{
	(void)s;
	return target_item(line_at(lines, i).a);
}

/* Time: by deadline, then by age. */
static int64_t clock_key(const struct model *m, const struct item_state *at)
{
	int64_t opened = message_time(m, at->opened);

	if (at->deadline_ms != TIME_NONE)
		return at->deadline_ms / 2 + INT64_MIN / 2;
	return opened == TIME_NONE ? INT64_MAX : opened / 2;
}

static enum sort_place inbox_sort_key(const struct scene *s, struct lines *lines, uint32_t i,
				      unsigned column, struct sort_key *out)
{
	const struct model *m = s->model;
	struct target t = view_inbox.target(s, lines, i);
	const struct item *item;
	struct item_state at;

	if (t.type != TARGET_ITEM)
		return SORT_NOT_LISTED;
	item = &m->items.v[t.number];
	if (!item_at(m, item, s->k, scene_clock(s), &at))
		return SORT_LAST;
	switch ((enum col)column) {
	case COL_CLOCK: out->number = clock_key(m, &at); break;
	case COL_GRADE: out->number = at.grade; break;
	case COL_VERDICT: out->number = at.verdict; break;
	case COL_KIND: out->text = str_of(item_kind_name(item->kind)); break;
	case COL_AGENT: out->text = agent_name(m, message_route(m, at.message)->from); break;
	case COL_SESSION: out->text = session_name(m, item_session(m, item)); break;
	case COL_ID: out->text = item_sort_name(m, item, lines); break;
	case COL_STATE:
	case COL_TEAM:
	case COL_TITLE:
	case COL_COUNT: return SORT_LAST;
	}
	return SORT_BY_KEY;
}

const struct view_ops view_inbox = {
	.name = "inbox",
	.make = inbox_make,
	.heading = table_heading,
	.draw = inbox_draw,
	.target = inbox_target,
	.sort_key = inbox_sort_key,
	.sort_columns = 1 << COL_CLOCK | 1 << COL_GRADE | 1 << COL_VERDICT | 1 << COL_KIND |
			1 << COL_AGENT | 1 << COL_ID | 1 << COL_SESSION,
	.empty = "Nothing waits for a decision.",
	.then = "{all} shows every item, {messages} every message.",
	.needs_protocol = true,
};
