/* Widgets and formatting that views share: pen, times and numbers in a few columns (they never
 * overflow, since senders choose them), and filter checks. */
#include "view/view_parts.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

enum {
	TIME_LOOKBACK = 64, /* messages */
	DAY_MS = 86400000, /* a source that ended that long before the newest is on its own */
	DUE_SOON_MS = 60000,
	NEAR_MS = 60000,
	EXPIRED_SHOWN_MS = 60000,
	MARK_WORD_MIN = 5, /* columns, below which a mark is its glyph alone */
	UUID_SHORT = 8,    /* digits */
	SHORT_MAX = 512,   /* bytes of an id */
};

void lines_release(struct lines *lines)
{
	if (lines->release)
		lines->release(lines->own);
	lines->release = NULL;
	if (lines->release_labels)
		lines->release_labels(lines->labels);
	lines->release_labels = NULL;
	lines->labels = NULL;
	vec_release(&lines->list);
	vec_release(&lines->numbers);
	arena_release(&lines->arena);
	lines->own = NULL;
	lines->table = NULL;
}

void lines_reserve(struct lines *lines, uint32_t more)
{
	uint32_t n = lines->list.n + more;

	if (n <= lines->list.cap)
		return;
	lines->list.v = xrealloc(lines->list.v, n * sizeof(*lines->list.v));
	lines->list.cap = n;
}

void line_add(struct lines *lines, uint32_t what, uint32_t a, uint32_t b)
{
	vec_push(&lines->list, (struct line){ what, a, b });
}

void line_number(struct lines *lines, uint32_t a)
{
	vec_push(&lines->numbers, a);
	lines->list.n = lines->numbers.n;
}

void lines_group(struct lines *lines, uint32_t first, uint32_t n, const char *name,
		 const char *words)
{
	if (lines->group_count == LINE_GROUPS_MAX)
		BUG("too many groups of lines");
	lines->groups[lines->group_count++] = (struct line_group){ first, n, name, words };
}

void *lines_grow(struct lines *lines, void *list, uint32_t n, uint32_t *cap, size_t size)
{
	void *grown;

	if (n < *cap)
		return list;
	*cap = *cap ? *cap * 2 : 64;
	grown = arena_alloc(&lines->arena, *cap * size);
	if (n)
		memcpy(grown, list, n * size);
	return grown;
}

const struct target target_none = { TARGET_NONE, 0 };

struct target target_item(uint32_t item)
{
	return (struct target){ TARGET_ITEM, item };
}

struct target target_message(uint32_t message)
{
	return (struct target){ TARGET_MESSAGE, message };
}

struct target target_loop(uint32_t first_message)
{
	return (struct target){ TARGET_LOOP, first_message };
}

struct target target_task(const struct scene *s, uint32_t task)
{
	return (struct target){ TARGET_TASK, root_at(s->model, task, s->k) };
}

struct target target_agent(uint32_t agent)
{
	return (struct target){ TARGET_AGENT, agent };
}

struct target target_session(uint32_t session)
{
	return (struct target){ TARGET_SESSION, session };
}

enum filter_scope target_scope(struct target t)
{
	switch (t.type) {
	case TARGET_TASK: return SCOPE_TASK;
	case TARGET_AGENT: return SCOPE_AGENT;
	case TARGET_SESSION: return SCOPE_SESSION;
	case TARGET_NONE:
	case TARGET_ITEM:
	case TARGET_LOOP:
	case TARGET_MESSAGE: break;
	}
	return SCOPE_NONE;
}

/* ---- the pen ---- */

void pen_skip(struct pen *p, int cols)
{
	if (cols > p->rest.cols)
		cols = p->rest.cols > 0 ? p->rest.cols : 0;
	p->rest.col += cols;
	p->rest.cols -= cols;
}

void pen_put(struct pen *p, enum role role, const char *label)
{
	pen_skip(p, grid_put(p->g, p->rest, role, label));
}

void pen_printf(struct pen *p, enum role role, const char *format, ...)
{
	char text[256];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	pen_put(p, role, text);
}

void pen_id(struct pen *p, enum role role, struct str id)
{
	pen_skip(p, grid_text(p->g, p->rest, role, raw_of(id), TEXT_ID));
}

/* The longest tail of a path-like id that fits behind a … */
static struct str tail_of(struct str id, int cols)
{
	struct str tail = id;

	while (tail.n && (int)cells_width(raw_of(tail), TEXT_ID, true, (uint32_t)cols) > cols - 1)
		tail = str_from(tail, 1);
	return tail;
}

void pen_path(struct pen *p, enum role role, struct str id)
{
	int cols = p->rest.cols;

	if (cols > 8 && id.n < 512 && str_find(id, STR("/"), 0) >= 0 &&
	    (int)cells_width(raw_of(id), TEXT_ID, true, (uint32_t)cols) > cols) {
		pen_put(p, role, "…");
		id = tail_of(id, cols);
	}
	pen_id(p, role, id);
}

/* The length of the UUID at the start of the text, 0 = there is none. */
static size_t uuid_length(struct str text)
{
	enum { UUID_CHARS = 36 };

	if (text.n < UUID_CHARS)
		return 0;
	for (size_t i = 0; i < UUID_CHARS; i++) {
		bool dash = i == 8 || i == 13 || i == 18 || i == 23;

		if (dash ? text.p[i] != '-' : !isxdigit((unsigned char)text.p[i]))
			return 0;
	}
	/* not the head of a longer name */
	return text.n > UUID_CHARS && (isalnum((unsigned char)text.p[UUID_CHARS]) ||
				       text.p[UUID_CHARS] == '-')
		       ? 0
		       : UUID_CHARS;
}

/* The first 8 digits of a UUID; the last ones where the first are those of a clock (version 7). */
static struct str uuid_short(struct str uuid)
{
	return str_make(uuid.p + (uuid.p[14] == '7' ? uuid.n - UUID_SHORT : 0), UUID_SHORT);
}

void pen_short(struct pen *p, enum role role, struct str id)
{
	struct buf text = { 0 };
	size_t i = 0;

	if (id.n > SHORT_MAX) { /* nobody has such names, so a pen need not be slow for them */
		pen_path(p, role, id);
		return;
	}
	while (i < id.n) {
		bool starts = !i || !isalnum((unsigned char)id.p[i - 1]);
		size_t n = starts ? uuid_length(str_from(id, i)) : 0;

		buf_add_str(&text, n ? uuid_short(str_make(id.p + i, n)) : str_make(id.p + i, 1));
		i += n ? n : 1;
	}
	pen_path(p, role, buf_str(&text));
	buf_release(&text);
}

void pen_text(struct pen *p, enum role role, struct str text)
{
	pen_skip(p, grid_text(p->g, p->rest, role, raw_of(text), TEXT_LINE));
}

void pen_hidden_badge(struct pen *p)
{
	pen_put(p, ROLE_BADGE, "HIDDEN TEXT");
	pen_put(p, ROLE_NORMAL, " ");
}

void pen_hidden(struct pen *p, struct str text)
{
	if (cells_hidden(raw_of(text)))
		pen_hidden_badge(p);
}

void pen_flags(struct pen *p, unsigned flags)
{
	static const struct {
		unsigned flag;
		const char *word;
	} words[] = {
		{ RECORD_REPEATED, "repeated" },    { RECORD_TRUNCATED, "cut off" },
		{ RECORD_OVERSIZE, "oversize" },    { RECORD_AMBIGUOUS, "name twice" },
		{ RECORD_REPAIRED, "bad Unicode" }, { RECORD_BINARY, "binary" },
	};

	for (unsigned i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (flags & words[i].flag)
			pen_printf(p, ROLE_WARN, "%s · ", words[i].word);
}

void pen_mark(struct pen *p, const struct mark *mark)
{
	pen_put(p, mark->role, mark->glyph);
	if (p->rest.cols < MARK_WORD_MIN - 1)
		return;
	pen_put(p, mark->role, " ");
	pen_put(p, mark->role, mark->word);
}

void pen_glyph(struct pen *p, const struct mark *mark)
{
	pen_put(p, mark->role, p->g->ascii ? mark->letter : mark->glyph);
}

void pen_agent(struct pen *p, const struct model *m, uint32_t agent)
{
	if (agent == NONE)
		pen_put(p, ROLE_DIM, "-");
	else
		pen_short(p, agent_role(m, agent), agent_name(m, agent));
}

void pen_item_name(struct pen *p, const struct model *m, const struct item *item)
{
	struct buf name = { 0 };

	item_name(m, item, &name);
	pen_id(p, ROLE_ID, buf_str(&name));
	buf_release(&name);
}

void pen_item_short(struct pen *p, const struct scene *s, const struct item *item)
{
	struct buf name = { 0 };

	item_name(s->model, item, &name);
	(s->keymap ? pen_short : pen_id)(p, ROLE_ID, buf_str(&name));
	buf_release(&name);
}

void pen_title(struct pen *p, enum role role, const struct scene *s, const struct item *item,
	       const struct item_state *at)
{
	struct detail d;

	if (!s->reader->detail(s->reader->ctx, item, at, &d) || !d.title.n)
		d.title = s->reader->summary(s->reader->ctx, at->message);
	pen_hidden(p, d.title);
	pen_text(p, role, d.title);
}

int number_width(uint32_t n, int min)
{
	char text[16];
	int width = snprintf(text, sizeof(text), "%u", n);

	return width < min ? min : width;
}

void put_right(struct grid *g, struct rect where, enum role role, const char *label)
{
	int width = (int)cells_width(raw_of(str_of(label)), TEXT_LABEL, g->ascii, 512);

	if (width < where.cols) {
		where.col += where.cols - width;
		where.cols = width;
	}
	grid_put(g, where, role, label);
}

/* ---- times and numbers ---- */

int64_t time_between(int64_t a, int64_t b)
{
	int64_t span;

	if (__builtin_sub_overflow(a, b, &span))
		return a > b ? INT64_MAX : -INT64_MAX;
	return span == INT64_MIN ? -INT64_MAX : span;
}

int64_t message_time(const struct model *m, uint32_t message)
{
	for (uint32_t back = 0; back <= TIME_LOOKBACK && back <= message; back++) {
		int64_t t = model_time(m, message - back);

		if (t != TIME_NONE)
			return t;
	}
	return TIME_NONE;
}

const char *short_span(int64_t ms, char out[32])
{
	long long s = (ms < 0 ? 0 : ms) / 1000;

	if (ms == TIME_NONE)
		snprintf(out, 32, "-");
	else if (s < 60)
		snprintf(out, 32, "%llds", s);
	else if (s < 3600)
		snprintf(out, 32, "%lldm%02lld", s / 60, s % 60);
	else if (s < 86400)
		snprintf(out, 32, "%lldh%02lld", s / 3600, s / 60 % 60);
	else if (s < 100 * 86400)
		snprintf(out, 32, "%lldd%02lld", s / 86400, s / 3600 % 24);
	else
		snprintf(out, 32, ">99d");
	return out;
}

const char *short_age(const struct scene *s, int64_t since_ms, char out[32])
{
	bool known = since_ms != TIME_NONE && s->now_ms != TIME_NONE;

	return short_span(known ? time_between(s->now_ms, since_ms) : TIME_NONE, out);
}

struct scene scene_in(const struct scene *s, uint32_t session)
{
	const struct model *m = s->model;
	struct scene here = *s;
	int64_t end;

	if (s->live || s->now_ms == TIME_NONE || m->group_runs.n < 2)
		return here;
	end = model_group_end(m, m->sessions.v[session].group, s->k);
	if (end != TIME_NONE && time_between(s->now_ms, end) > DAY_MS)
		here.now_ms = end;
	return here;
}

static struct scene scene_of_item(const struct scene *s, const struct item_state *at)
{
	return scene_in(s, message_route(s->model, at->message)->session);
}

const char *item_clock(const struct scene *s, const struct item_state *at, char out[32],
		       enum role *role)
{
	struct scene here = scene_of_item(s, at);
	char span[32];

	*role = ROLE_TIME;
	if ((at->open || (at->overlaid && at->verdict == VERDICT_ESCALATED)) &&
	    at->deadline_ms != TIME_NONE && here.now_ms != TIME_NONE) {
		int64_t left = time_between(at->deadline_ms, here.now_ms);

		if (left < 0)
			left = 0;
		*role = left <= DUE_SOON_MS ? ROLE_DUE : ROLE_WARN;
		snprintf(out, 32, "!%s",
			 left < 3600000 ? timestamp_span(left, span) : short_span(left, span));
		return out;
	}
	if (item_just_expired(s, at)) {
		*role = ROLE_WARN;
		return strcpy(out, "over");
	}
	return short_age(&here, message_time(s->model, at->opened), out);
}

int64_t item_near_ms(const struct model *m, const struct item_state *at)
{
	int64_t raised = message_time(m, at->anew), near = NEAR_MS;

	if (at->deadline_ms == TIME_NONE)
		return TIME_NONE;
	if (raised != TIME_NONE && time_between(at->deadline_ms, raised) / 3 < near)
		near = time_between(at->deadline_ms, raised) / 3;
	return time_between(at->deadline_ms, near < 0 ? 0 : near);
}

bool item_is_overdue(const struct scene *s, const struct item_state *at)
{
	return at->open && at->deadline_ms != TIME_NONE &&
	       scene_of_item(s, at).now_ms > at->deadline_ms;
}

bool item_just_expired(const struct scene *s, const struct item_state *at)
{
	return at->verdict == VERDICT_EXPIRED && s->now_ms != TIME_NONE &&
	       time_between(s->now_ms, at->deadline_ms) < EXPIRED_SHOWN_MS;
}

const char *short_number(uint64_t n, char out[16])
{
	static const char unit[] = " kMGTPE";
	double value = (double)n;
	int power = 0;

	while (value >= 999.5 && power < 6) {
		value /= 1000;
		power++;
	}
	if (power == 0)
		snprintf(out, 16, "%u", (unsigned)n);
	else
		snprintf(out, 16, value < 9.95 ? "%.1f%c" : "%.0f%c", value, unit[power]);
	return out;
}

const char *short_rate(double a_second, char out[16])
{
	if (a_second <= 0)
		snprintf(out, 16, "·");
	else if (a_second < 0.095)
		snprintf(out, 16, "<0.1");
	else if (a_second < 9.95)
		snprintf(out, 16, "%.1f", a_second);
	else
		return short_number((uint64_t)(a_second + 0.5), out);
	return out;
}

const char *level_glyph(uint64_t n, uint64_t max)
{
	static const char *const level[] = { "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█" };
	unsigned place;

	if (n == 0 || max == 0)
		return " ";
	place = (unsigned)((double)n / (double)max * 8 + 0.5);
	return level[place < 1 ? 0 : place > 8 ? 7 : place - 1];
}

void put_sparkline(struct pen p, const uint16_t parts[ACTIVITY_BUCKETS], uint32_t most)
{
	int first = p.rest.cols < ACTIVITY_BUCKETS ? ACTIVITY_BUCKETS - p.rest.cols : 0;
	char line[ACTIVITY_BUCKETS * sizeof("█")] = "", *end = line;

	for (int t = first; t < ACTIVITY_BUCKETS; t++)
		end = stpcpy(end, level_glyph(parts[t], most));
	pen_put(&p, ROLE_INFO, line);
}

/* ---- what a scene shows ---- */

struct item_words {
	const struct scene *s;
	const struct item_state *at;
	struct buf text;
};

/* The text that plain words of a filter match: the item's own, not the rest of its message. */
static struct str item_text(void *ctx, uint32_t item)
{
	struct item_words *w = ctx;
	struct detail d;

	if (!w->s->reader->detail(w->s->reader->ctx, &w->s->model->items.v[item], w->at, &d))
		return STR_NONE;
	buf_add_str(&w->text, d.title);
	for (unsigned i = 0; i < d.n; i++) {
		buf_addc(&w->text, '\n');
		buf_add_str(&w->text, d.field[i].text);
	}
	return buf_str(&w->text);
}

bool item_passes(const struct scene *s, uint32_t item, const struct item_state *at)
{
	struct item_words words = { .s = s, .at = at };
	bool passes = filter_item(s->filter, s->model, item, at, item_text, &words);

	buf_release(&words.text);
	return passes;
}

bool target_contains(const struct scene *s, struct target t, struct str word)
{
	struct item_state at;
	struct item_words words = { .s = s, .at = &at };
	const struct item *item;
	bool found;

	if (t.type == TARGET_MESSAGE)
		return str_contains_nocase(s->reader->bytes(s->reader->ctx, t.number), word);
	if (t.type != TARGET_ITEM)
		return false;
	item = &s->model->items.v[t.number];
	if (!item_at(s->model, item, s->k, scene_clock(s), &at))
		return false;
	item_name(s->model, item, &words.text);
	buf_addc(&words.text, '\n');
	found = str_contains_nocase(item_text(&words, t.number), word);
	buf_release(&words.text);
	return found;
}

bool message_is_shown(const struct scene *s, uint32_t message)
{
	return filter_message(s->filter, s->model, message, s->reader->bytes, s->reader->ctx);
}

uint32_t root_at(const struct model *m, uint32_t task, uint32_t k)
{
	const struct task *t = &m->tasks.v[task];

	return t->steps.n && t->steps.v[0].message < k ? t->root : task;
}

const struct life *life_of_agent(const struct scene *s, uint32_t agent, bool has_spoken)
{
	const struct agent *g = &s->model->agents.v[agent];
	struct str group;

	/* a person, and gavel itself as the orchestrator, are no process of the group */
	if (!has_spoken || g->human || str_is(model_str(s->model, g->type), "orchestrator") ||
	    s->k < s->model->records.n ||
	    s->model->sessions.v[g->session].group == NONE)
		return NULL;
	group = model_str(s->model, s->model->sessions.v[g->session].group);
	for (uint32_t i = 0; i < s->life_n; i++)
		if (str_eq(s->lives[i].group, group))
			return &s->lives[i];
	return NULL;
}

const char *agent_health_word(const struct agent_stats *stats, const struct life *life)
{
	static const char *const words[] = { [AGENT_IDLE] = "idle", [AGENT_WORKING] = "working",
					     [AGENT_SILENT] = "silent", [AGENT_STALLED] = "stalled",
					     [AGENT_FLOODING] = "flooding" };

	if (life && life->ended)
		return "dead";
	return words[life && life->flooding ? AGENT_FLOODING : stats->health];
}

const struct draft *draft_on_item(const struct scene *s, uint32_t item, const struct desk **desk)
{
	for (uint32_t d = 0; s->desks && d < s->desks->list.n; d++) {
		*desk = &s->desks->list.v[d];
		for (uint32_t i = (*desk)->drafts.n; i-- > 0;) {
			const struct draft *draft = &(*desk)->drafts.v[i];

			if (draft->number == item && draft->state != DRAFT_VOID &&
			    draft->seen <= s->k)
				return draft;
		}
	}
	return NULL;
}
