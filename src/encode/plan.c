/* Groups staged drafts into proposals for letters; helpers shared by the encoders. */
#include "encode/plan.h"

#include "base/utf8.h"
#include "base/timestamp.h"
#include "channel/file_locks.h"
#include "decide/output_queue.h"
#include "decide/records.h"
#include "encode/encode_collaboration.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

/* No replies in these dialects. */
const struct encoder_ops encoder_unknown, encoder_text;

/* ---- for the encoders ---- */

const struct draft *draft_of(const struct encoding *e, uint32_t i)
{
	return &e->desk->drafts.v[e->drafts[i]];
}

const struct item *item_of(const struct encoding *e, uint32_t i)
{
	return &e->model->items.v[draft_of(e, i)->number];
}

void state_of(const struct encoding *e, uint32_t i, struct item_state *out)
{
	if (!item_at(e->model, item_of(e, i), e->model->records.n, TIME_NONE, out))
		BUG("draft is bound to an item that does not exist");
}

static bool is_in_source(const struct desk *d, struct str path)
{
	return str_eq(path, d->source) ||
	       (d->is_dir && str_starts(path, d->source) && path.p[d->source.n] == '/');
}

static bool is_log(const struct desk *d, const struct terms *t, struct str path)
{
	for (uint32_t i = 0; t->desks && i < t->desks->list.n; i++)
		if (is_in_source(&t->desks->list.v[i], path))
			return true;
	return is_in_source(d, path);
}

const char *reply_problem(const struct desk *d, const struct terms *t, const struct letter *l)
{
	if (t->turn && l->channel == CHANNEL_AGENT)
		return t->turn->blocked;
	if (l->channel == CHANNEL_NONE)
		return d->agent ? "the agent does not run; restart it, then decide again"
			      : "nothing says where replies go; give --reply PATH, in the UI :reply PATH";
	if (!utf8_valid(l->path))
		return "the name of the place is not UTF-8, and the journal could not keep it; "
		       "give another --reply";
	if (l->channel == CHANNEL_DIR && !encoders[l->dialect]->is_file)
		return "its replies are lines, and a folder takes none; give a file or FIFO with "
		       "--reply";
	if (l->channel == CHANNEL_FILE && is_log(d, t, l->path))
		return "replies never go into the log that the agents write; give another --reply";
	return NULL;
}

struct proposal *proposal_add(struct encoding *e, enum dialect_id dialect, const uint32_t *drafts,
			      uint32_t n)
{
	struct proposal p = { .desk = e->desk, .letter.dialect = dialect };

	for (uint32_t i = 0; i < n; i++)
		vec_push(&p.letter.drafts, drafts[i]);
	vec_push(&e->plan->list, p);
	return vec_last(&e->plan->list);
}

struct proposal *propose_to_nobody(struct encoding *e, uint32_t i)
{
	struct proposal *p = proposal_add(e, draft_of(e, i)->dialect, &e->drafts[i], 1);

	p->letter.path = p->letter.bytes = STR("");
	p->letter.to = STR("nobody");
	return p;
}

struct proposal *propose(struct encoding *e, const uint32_t *drafts, uint32_t n)
{
	enum dialect_id dialect = e->n ? draft_of(e, 0)->dialect : DIALECT_UNKNOWN;
	struct proposal *p = proposal_add(e, dialect, drafts, n);
	const char *problem;
	struct err err;

	p->runs = e->terms->turn ? e->terms->turn->to : STR_NONE;
	letter_set_path(e, &p->letter);
	for (uint32_t i = 0; i < n; i++) { /* an older version may have staged incomplete drafts */
		const struct draft *d = &e->desk->drafts.v[drafts[i]];

		if (draft_missing(d))
			propose_missing(e, p, "%.*s: %s", STR_ARG(d->item), draft_missing(d));
	}
	problem = reply_problem(e->desk, e->terms, &p->letter);
	if (problem)
		propose_missing(e, p, "%s", problem);
	else if (p->letter.channel == CHANNEL_AGENT && !e->terms->turn &&
		 !desk_reaches(e->desk, p->letter.path.p, &err))
		propose_missing(e, p, "%s", err.text);
	return p;
}

static bool is_complete(const struct proposal *p)
{
	return !p->missing.n && !letter_is_empty(p->desk, &p->letter);
}

/* A group's proposals follow each other. */
bool proposal_counts(const struct encoding *e, uint32_t i)
{
	const struct proposal *list = e->plan->list.v, *p = &list[i];
	uint32_t from = i, to = i + 1;

	if (i >= e->first)
		return true;
	if (p->desk != e->desk && !e->via_queue) /* another source, with numbers of its own */
		return false;
	while (from > 0 && list[from - 1].group == p->group && list[from - 1].desk == p->desk)
		from--;
	while (to < e->first && list[to].group == p->group && list[to].desk == p->desk)
		to++;
	while (from < to && is_complete(&list[from]))
		from++;
	return from == to;
}

struct str keep_str(struct encoding *e, struct str s)
{
	return arena_str(&e->plan->arena, s);
}

struct str keep_buf(struct encoding *e, struct buf *b)
{
	struct str s = keep_str(e, buf_str(b));

	buf_release(b);
	return s;
}

static __attribute__((format(printf, 2, 0))) struct str
arena_vprintf(struct arena *a, const char *format, va_list ap)
{
	char text[1024];

	vsnprintf(text, sizeof(text), format, ap);
	return arena_str(a, str_of(text));
}

void propose_missing(struct encoding *e, struct proposal *p, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	vec_push(&p->missing, arena_vprintf(&e->plan->arena, format, ap));
	va_end(ap);
}

void propose_caution(struct encoding *e, struct proposal *p, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	vec_push(&p->cautions, arena_vprintf(&e->plan->arena, format, ap));
	va_end(ap);
}

struct str asker_name(struct encoding *e, const struct item_state *at)
{
	return keep_str(e, agent_name(e->model, message_route(e->model, at->message)->from));
}

struct proposal *propose_answer(struct encoding *e, const struct item_state *at)
{
	struct proposal *p = propose(e, e->drafts, 1);

	p->letter.to = asker_name(e, at);
	if (at->decided != NONE)
		propose_missing(e, p, "line %u%s has answered it already",
				message_line(e->model, at->decided),
				reply_words(e->model, at->decided));
	return p;
}

yyjson_val *parse_message(struct encoding *e, uint32_t message)
{
	yyjson_val *root;

	switch (json_read(&e->json, e->reader->bytes(e->reader->ctx, message), &root)) {
	case JSON_OK:
	case JSON_REPAIRED: return root;
	case JSON_NOT:
	case JSON_TOO_DEEP: break;
	}
	return NULL;
}

/* Reads what was encoded. */
struct reply_check {
	struct decoder decoder;
	struct message message;
};

/* A reply copies values from the log; invalid ones would make it invalid, too. */
static void check_bytes(struct encoding *e, struct proposal *p, struct str line)
{
	struct frame_info info = { .full_length = line.n, .direction = DIRECTION_OUT };
	struct reply_check *c;

	if (p->missing.n)
		return; /* incomplete anyway */
	c = e->check = e->check ? e->check : xcalloc(1, sizeof(*e->check));
	dialect_decode(&c->decoder, line, &info, &c->message);
	for (uint32_t i = 0; i < c->message.diags.list.n; i++) {
		const struct diag *d = &c->message.diags.list.v[i];

		if (d->severity != SEVERITY_NOTE) {
			propose_missing(e, p,
					"what it copies from the log breaks the protocol (%s, "
					"%.*s: %.*s); escalate it, or let its sender correct that",
					d->rule, STR_ARG(d->pointer), STR_ARG(d->text));
			break;
		}
	}
}

void proposal_set_bytes(struct encoding *e, struct proposal *p, const struct buf *json)
{
	struct buf line = { 0 };

	check_bytes(e, p, buf_str(json));
	buf_add_str(&line, buf_str(json));
	buf_addc(&line, '\n');
	p->letter.bytes = keep_buf(e, &line);
}

int64_t encode_ms(const struct encoding *e)
{
	int64_t now = e->terms->now_ms;

	for (uint32_t i = 0; i < e->n && !e->terms->live; i++) {
		struct item_state at;
		int64_t asked;

		state_of(e, i, &at);
		asked = e->model->records.v[at.message].time_ms;
		if (asked > now && asked <= e->model->limit_ms)
			now = asked + 1;
	}
	return now;
}

struct str encode_time(struct encoding *e)
{
	char text[32];

	return keep_str(e, str_of(timestamp_iso(encode_ms(e), text)));
}

struct str encode_uuid(struct encoding *e)
{
	char text[37];

	uuid_make(text);
	return keep_str(e, str_make(text, 36));
}

void encoding_release(struct encoding *e)
{
	json_reader_release(&e->json);
	revision_index_free(e->revisions);
	state_index_free(e->states);
	free(e->correlated);
	if (e->check) {
		message_release(&e->check->message);
		decoder_release(&e->check->decoder);
	}
	free(e->check);
}

/* ---- grouping ---- */

static void refuse(struct plan *p, const struct desk *d, uint32_t draft, const char *why)
{
	struct buf line = { 0 };

	buf_add_str(&line, d->drafts.v[draft].item);
	buf_printf(&line, ": %s", why);
	vec_push(&p->refused, arena_str(&p->arena, buf_str(&line)));
	vec_push(&p->refused_drafts, draft);
	buf_release(&line);
}

/* Whether a draft can still be sent: the item is asked as it was shown, and takes the verb.
 * Otherwise appends why not. */
static bool is_sendable(const struct draft *draft, const struct model *m, const struct reader *r,
			int64_t wall_ms, struct buf *why)
{
	const struct item *item = draft->number == NONE ? NULL : &m->items.v[draft->number];
	struct item_state at;
	struct buf rev = { 0 };
	bool same;

	if (!item || !item_at(m, item, m->records.n, wall_ms, &at)) {
		buf_adds(why, "no longer in the log");
		return false;
	}
	item_rev(r, item, &at, &rev);
	same = str_eq(buf_str(&rev), draft->rev);
	buf_release(&rev);
	if (!same)
		buf_adds(why, "it has changed since it was shown; look at it again and decide "
			      "anew");
	else if (draft->raise != NONE && draft->raise != at.anew)
		buf_adds(why, "it was asked again since it was shown; look at it again and decide "
			      "anew");
	return !why->n && draft_is_allowed(draft, m, item, at, why);
}

static bool is_current(struct plan *p, const struct desk *d, uint32_t draft, const struct model *m,
		       const struct reader *r, int64_t wall_ms)
{
	struct buf why = { 0 };
	bool current = is_sendable(&d->drafts.v[draft], m, r, wall_ms, &why);

	if (!current)
		refuse(p, d, draft, why.p);
	buf_release(&why);
	return current;
}

bool plan_is_current(const struct plan *p, const struct model *m, const struct reader *r,
		     int64_t wall_ms)
{
	struct buf why = { 0 };
	bool current;

	for (uint32_t i = 0; i < p->list.n; i++) {
		const struct proposal *one = &p->list.v[i];

		for (uint32_t k = 0; k < one->letter.drafts.n && !why.n; k++) {
			const struct draft *d = &one->desk->drafts.v[one->letter.drafts.v[k]];

			if (d->state == DRAFT_STAGED)
				is_sendable(d, m, r, wall_ms, &why);
		}
	}
	current = !why.n;
	buf_release(&why);
	return current;
}

static void encode_group(struct encoding *e)
{
	const struct encoder_ops *encoder = encoders[draft_of(e, 0)->dialect];

	if (e->desk->team)
		encode_team_drafts(e);
	else if (draft_of(e, 0)->verb == VERB_DISMISS)
		propose_to_nobody(e, 0); /* only recorded */
	else if (is_from_queue(item_of(e, 0)))
		encode_queue_answer(e);
	else if (encoder->encode)
		encoder->encode(e);
}

/* Guarantees that each decision has a message or a reason why there is none. */
static void check_group(struct encoding *e, uint32_t first)
{
	enum verb verb = draft_of(e, 0)->verb;

	if (first == e->plan->list.n)
		refuse(e->plan, e->desk, e->drafts[0], "no reply to its sender is possible");
	for (uint32_t i = first; i < e->plan->list.n; i++) {
		struct proposal *p = &e->plan->list.v[i];

		if (!p->missing.n && letter_is_empty(e->desk, &p->letter))
			propose_missing(e, p, "%s", verb_refusal(verb));
	}
}

/* A draft that may go into one message with others. */
struct companion {
	uint64_t key; /* what they share */
	uint32_t draft;
};

static int by_key(const void *left, const void *right)
{
	const struct companion *a = left, *b = right;

	if (a->key != b->key)
		return a->key < b->key ? -1 : 1;
	return a->draft < b->draft ? -1 : a->draft > b->draft;
}

/* Sets next[i] to the draft behind draft i in its message, or NONE, for all that are not done. */
static void link_companions(const struct encoding *e, const bool *done, uint32_t *next)
{
	const struct desk *d = e->desk;
	VEC(struct companion) list = { 0 };

	for (uint32_t i = 0; i < d->drafts.n; i++) {
		const struct draft *draft = &d->drafts.v[i];
		const struct encoder_ops *encoder = encoders[draft->dialect];
		uint64_t key = done[i] || !encoder->together ? 0 : encoder->together(e, draft);

		next[i] = NONE;
		if (key)
			vec_push(&list, ((struct companion){ hash_mix(key, draft->dialect), i }));
	}
	if (list.n)
		qsort(list.v, list.n, sizeof(*list.v), by_key);
	for (uint32_t i = 1; i < list.n; i++)
		if (list.v[i].key == list.v[i - 1].key)
			next[list.v[i - 1].draft] = list.v[i].draft;
	vec_release(&list);
}

/* Collects the drafts that go out with draft i, and marks them as done. */
static void collect_group(struct encoding *e, uint32_t i, const uint32_t *next, bool *done,
			  uint32_t *group)
{
	e->drafts = group;
	e->n = 0;
	e->first = e->plan->list.n;
	for (; i != NONE; i = next[i]) {
		group[e->n++] = i;
		done[i] = true;
	}
}

static bool has_draft(const struct encoding *e, uint32_t draft)
{
	for (uint32_t i = 0; i < e->n; i++)
		if (e->drafts[i] == draft)
			return true;
	return false;
}

/* By draft of the desk: whether it is listed. NULL = there is no list. */
static bool *mark_drafts(const struct draft_refs *refs, const struct desk *desk)
{
	bool *marked = refs ? xcalloc(desk->drafts.n + 1, sizeof(*marked)) : NULL;

	for (uint32_t i = 0; refs && i < refs->list.n; i++)
		if (refs->list.v[i].desk == desk && refs->list.v[i].draft < desk->drafts.n)
			marked[refs->list.v[i].draft] = true;
	return marked;
}

/* Whether a draft goes into the plan; a refusal is told unless the plan is for another draft. */
static bool is_planned(struct encoding *e, uint32_t i, uint32_t only)
{
	const struct draft *d = &e->desk->drafts.v[i];
	struct buf ignored = { 0 };
	bool sendable;

	if (d->state != DRAFT_STAGED || (e->chosen && !e->chosen[i]))
		return false;
	if (!e->terms->named && (only == NONE || i == only))
		return is_current(e->plan, e->desk, i, e->model, e->reader, terms_clock(e->terms));
	sendable = is_sendable(d, e->model, e->reader, terms_clock(e->terms), &ignored);
	buf_release(&ignored);
	return sendable;
}

/* Answers to a path that a message names are planned apart from all others. */
static bool is_on_page(struct encoding *e, uint32_t draft)
{
	const struct terms *t = e->terms;
	struct plan *p = e->plan;
	struct str path;
	bool named = (t->apart || t->named) && answer_is_named(e, draft, &path);

	if (t->named)
		return named && str_is(path, t->named);
	if (!named)
		return true;
	for (uint32_t i = 0; i < p->apart.n; i++)
		if (str_eq(p->apart.v[i], path))
			return false;
	vec_push(&p->apart, path);
	return false;
}

/* Lists the draft if the person has dropped it from this plan. */
static bool is_dropped(struct encoding *e, uint32_t draft)
{
	if (!e->dropped || !e->dropped[draft])
		return false;
	vec_push(&e->plan->dropped, ((struct draft_ref){ e->desk, draft }));
	return true;
}

void plan_make(struct plan *p, struct desk *desk, const struct model *m, const struct reader *r,
	       const struct terms *t, uint32_t only)
{
	struct encoding e = { .plan = p, .desk = desk, .model = m, .reader = r, .terms = t };
	uint32_t n = desk->drafts.n, *group = xmalloc((n + 1) * sizeof(*group));
	uint32_t *next = xmalloc((n + 1) * sizeof(*next));
	bool *done = xcalloc(n + 1, sizeof(*done));
	bool *chosen = mark_drafts(t->chosen, desk), *dropped = mark_drafts(t->dropped, desk);

	e.chosen = chosen;
	e.dropped = dropped;
	if (t->named)
		p->named = arena_str(&p->arena, str_of(t->named));
	for (uint32_t i = 0; i < n; i++)
		done[i] = !is_planned(&e, i, only) || !is_on_page(&e, i) || is_dropped(&e, i);
	link_companions(&e, done, next);
	for (uint32_t i = 0; i < n; i++) {
		if (done[i])
			continue;
		collect_group(&e, i, next, done, group);
		if (only != NONE && !has_draft(&e, only))
			continue;
		encode_group(&e);
		check_group(&e, e.first);
		for (uint32_t k = e.first; k < p->list.n; k++)
			p->list.v[k].group = i;
	}
	encoding_release(&e);
	free(group);
	free(next);
	free(done);
	free(chosen);
	free(dropped);
}

static bool is_same_group(const struct proposal *a, const struct proposal *b)
{
	return a->desk == b->desk && a->group == b->group;
}

uint32_t plan_group_first(const struct plan *p, uint32_t i)
{
	while (i > 0 && is_same_group(&p->list.v[i - 1], &p->list.v[i]))
		i--;
	return i;
}

uint32_t plan_group_end(const struct plan *p, uint32_t i)
{
	while (++i < p->list.n && is_same_group(&p->list.v[i - 1], &p->list.v[i]))
		;
	return i;
}

bool plan_group_is_ready(const struct plan *p, uint32_t first, bool sure)
{
	uint32_t end = plan_group_end(p, first);

	for (uint32_t i = first; i < end; i++) {
		const struct proposal *one = &p->list.v[i];

		if (!is_complete(one) || (one->needs_sure && !sure))
			return false;
	}
	return true;
}

static int by_path(const void *left, const void *right)
{
	return strcmp(*(const char *const *)left, *(const char *const *)right);
}

/* In the order of their names, so that two gavels never wait for each other. */
int plan_lock(const struct plan *p, struct file_locks *locks, bool sure, struct err *err)
{
	VEC(const char *) paths = { 0 };
	enum file_lock_result r = LOCK_NOT_NEW;
	int taken = 0;

	for (uint32_t i = 0, end; i < p->list.n; i = end) {
		end = plan_group_end(p, i);
		if (!plan_group_is_ready(p, i, sure))
			continue;
		for (uint32_t k = i; k < end; k++)
			if (p->list.v[k].letter.channel == CHANNEL_FILE)
				vec_push(&paths, p->list.v[k].letter.path.p);
	}
	if (paths.n)
		qsort(paths.v, paths.n, sizeof(*paths.v), by_path);
	for (uint32_t i = 0; i < paths.n && r != LOCK_BUSY; i++) {
		r = file_locks_add(locks, paths.v[i], p->list.v[0].desk->idle, err);
		taken += r == LOCK_TAKEN;
	}
	vec_release(&paths);
	return r == LOCK_BUSY ? -1 : taken;
}

bool plan_heard_all(const struct plan *p, const struct file_locks *locks)
{
	for (uint32_t i = 0; i < p->list.n; i++) {
		const struct proposal *one = &p->list.v[i];
		const struct channel *c = file_locks_find(locks, one->letter.path);
		struct stat st;

		if (one->hears && c && fstat(c->fd, &st) == 0 &&
		    (uint64_t)st.st_size != one->heard_bytes)
			return false;
	}
	return true;
}

int plan_send_group(struct plan *p, uint32_t first, struct err *err)
{
	VEC(struct letter) letters = { 0 };
	uint32_t end = plan_group_end(p, first), number;
	int rc;

	for (uint32_t i = first; i < end; i++)
		vec_push(&letters, p->list.v[i].letter);
	rc = desk_send_all(p->list.v[first].desk, letters.v, letters.n, &number, err);
	vec_release(&letters);
	return rc;
}

int plan_send_groups(struct plan *p, uint32_t first, bool sure, uint32_t *end, struct err *err)
{
	struct desk *desk = p->list.v[first].desk;
	VEC(struct letter) letters = { 0 };
	VEC(struct letter_group) groups = { 0 };
	uint32_t i = first, sent = 0;
	int rc;

	while (i < p->list.n && p->list.v[i].desk == desk && plan_group_is_ready(p, i, sure)) {
		vec_push(&groups, ((struct letter_group){ .n = plan_group_end(p, i) - i }));
		for (uint32_t last = plan_group_end(p, i); i < last; i++)
			vec_push(&letters, p->list.v[i].letter);
	}
	*end = i;
	for (uint32_t k = 0; k < groups.n; sent += groups.v[k++].n)
		groups.v[k].letters = &letters.v[sent];
	rc = desk_send_groups(desk, groups.v, groups.n, err);
	vec_release(&groups);
	vec_release(&letters);
	return rc;
}

bool plan_can_send(const struct plan *p)
{
	for (uint32_t i = 0; i < p->list.n; i = plan_group_end(p, i))
		if (plan_group_is_ready(p, i, true))
			return true;
	return false;
}

bool plan_has_drafts(const struct plan *p)
{
	for (uint32_t i = 0; i < p->list.n; i++)
		if (p->list.v[i].letter.drafts.n)
			return true;
	return p->dropped.n || p->refused_drafts.n;
}

bool plan_is_ready(const struct plan *p)
{
	for (uint32_t i = 0; i < p->list.n; i++)
		if (!is_complete(&p->list.v[i]))
			return false;
	return p->list.n > 0;
}

void plan_release(struct plan *p)
{
	for (uint32_t i = 0; i < p->list.n; i++) {
		vec_release(&p->list.v[i].letter.drafts);
		vec_release(&p->list.v[i].missing);
		vec_release(&p->list.v[i].cautions);
	}
	vec_release(&p->list);
	vec_release(&p->refused);
	vec_release(&p->refused_drafts);
	vec_release(&p->dropped);
	vec_release(&p->apart);
	arena_release(&p->arena);
}
