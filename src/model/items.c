/* Items, what needs a decision: lookup, adding steps (raised, decided, acknowledged, superseded),
 * folding the steps to a state as of k, the decision overlay, sorting the inbox. */
#include "model/rules.h"

#include <stdlib.h>

bool item_is(const struct model *m, uint32_t number, uint32_t session, enum item_kind kind,
	     uint32_t id, uint32_t review)
{
	const struct item *item;
	struct owner owner;

	if (number >= m->items.n)
		return false;
	item = &m->items.v[number];
	if (item->kind != kind || item->id != id)
		return false;
	owner = item_owner(m, item);
	return owner.session == session && owner.review == review;
}

/* Whether it is an item that this agent raised: two agents may use one id. ANYBODY: of any agent. */
static bool is_raised_by(const struct model *m, uint32_t number, uint32_t raiser)
{
	return raiser == ANYBODY || step_by(m, &m->items.v[number].steps[0]) == raiser;
}

uint32_t item_raised_by(const struct model *m, uint32_t session, enum item_kind kind, uint32_t id,
			uint32_t review, uint32_t raiser)
{
	const struct interned *name;
	uint64_t h = 0;

	if (id == NONE)
		return NONE;
	name = &m->strings.v[id];
	if (item_is(m, name->last, session, kind, id, review) &&
	    is_raised_by(m, name->last, raiser))
		return name->last;
	for (int way = 0; name->shared && way < (raiser == ANYBODY ? 1 : 2); way++) {
		h = way ? raiser_hash(h, raiser) : item_hash(session, kind, id, review);
		for (uint32_t it = 0, v; map_next(&m->item_map, h, &it, &v);)
			if (item_is(m, v, session, kind, id, review) && is_raised_by(m, v, raiser))
				return v;
	}
	return NONE;
}

uint32_t item_named(const struct model *m, uint32_t session, enum item_kind kind, uint32_t id,
		    uint32_t review)
{
	return item_raised_by(m, session, kind, id, review, ANYBODY);
}

/* Roles of the protocol itself are no identities: a Result and the Decision that escalates it are
 * about one item. */
static uint32_t sender_of(const struct apply_ctx *a)
{
	return a->msg->from.known_role ? ANYBODY : a->from;
}

uint32_t item_here(const struct apply_ctx *a, enum item_kind kind, uint32_t id)
{
	const struct session_rules *r = a->m->sessions.v[a->session].rules;

	if (kind == ITEM_IMPROVEMENT && id != NONE && !may_have_raised(r, id))
		return NONE;
	return item_named(a->m, a->session, kind, id, NONE);
}

uint32_t find_item(const struct model *m, uint32_t session, enum item_kind kind, struct str id,
		   uint32_t review)
{
	return item_named(m, session, kind, name_known(m, id, &null_key), review);
}

/* Next capacity of an item that is full with n steps: 1, 3, 4, 6, 8, 12, 16 … Most items are only
 * raised, or also decided and acknowledged. The capacity is implied by n and not stored. */
static uint32_t capacity_after(uint32_t n)
{
	return n < 2 ? 2 * n + 1 : n & (n - 1) ? n / 3 * 4 : n / 2 * 3;
}

static bool is_full(uint32_t n)
{
	uint32_t odd = n ? n >> __builtin_ctz(n) : 1;

	return n != 2 && (odd == 1 || odd == 3);
}

/* Whether a raise makes decisions before it void; and whether it opens the item. The same words in
 * the same iteration only repeat what is known, unless it expired, the rules know that it is a new ask,
 * or a turn that was sent twice superseded its items meanwhile. */
static void judge_raise(const struct item *item, struct item_step *step)
{
	const struct item_step *raised = NULL;
	enum step_kind last = item->n ? item->steps[item->n - 1].what : STEP_RAISED;
	bool bounced = false;

	for (uint32_t i = item->n; i-- > 0 && !raised;) {
		bounced |= item->steps[i].what == STEP_BOUNCED;
		if (item->steps[i].what == STEP_RAISED)
			raised = &item->steps[i];
	}
	step->anew |= !raised || bounced || last == STEP_EXPIRED || raised->hash != step->hash ||
		     raised->iteration != step->iteration;
	step->opens = step->anew || item->open || last == STEP_SUPERSEDED || last == STEP_FIXED;
}

static void push_step(struct model *m, struct item *item, struct item_step step)
{
	if (step.what == STEP_RAISED)
		judge_raise(item, &step);
	if (is_full(item->n)) {
		struct item_step *grown =
			heap_alloc(m->heap, capacity_after(item->n) * sizeof(step));

		if (item->n)
			memcpy(grown, item->steps, item->n * sizeof(step));
		heap_give(m->heap, item->steps, item->n * sizeof(step));
		item->steps = grown;
	}
	item->steps[item->n++] = step;
	m->open_count -= item->open;
	item->open = is_open_after(item->open, &step);
	m->open_count += item->open;
}

bool item_step(struct apply_ctx *a, uint32_t item, enum step_kind what, enum verdict verdict,
	       uint32_t iteration)
{
	if (!trust_allows_step(a, &a->m->items.v[item], what))
		return false;
	if (what == STEP_ACKED)
		reply_item_acked(a, item);
	push_step(a->m, &a->m->items.v[item],
		  (struct item_step){ .message = a->message, .what = what & 7, .said = a->reply,
				      .verdict = verdict & 15, .iteration = iteration });
	if (a->reply && what == STEP_DECIDED)
		reply_decides(a, item);
	return true;
}

static const struct item_step *last_step(const struct item *item)
{
	return &item->steps[item->n - 1];
}

static bool is_raised_here(const struct apply_ctx *a, uint32_t item)
{
	const struct item *it = &a->m->items.v[item];

	return it->n && it->steps[it->n - 1].what == STEP_RAISED &&
	       it->steps[it->n - 1].message == a->message;
}

/* Contains U+0000 or U+FFFD (from repair): other parsers may read the id differently. */
static bool id_is_broken(struct str id)
{
	return !str_is_plain(id) &&
	       (memchr(id.p, 0, id.n) || str_find(id, STR("\xef\xbf\xbd"), 0) >= 0);
}

uint32_t item_raise(struct apply_ctx *a, const struct event *e, uint32_t task, uint32_t review,
		    uint32_t iteration)
{
	uint32_t id = id_intern(a, e);
	uint32_t found = item_raised_by(a->m, a->session, e->item, id, review, sender_of(a));

	return item_raise_found(a, e, found, task, review, iteration);
}

static uint32_t item_add(struct apply_ctx *a, const struct event *e, uint32_t task, uint32_t review)
{
	struct model *m = a->m;
	uint32_t id = id_intern(a, e), number = m->items.n;

	heap_push(m->heap, &m->items, (struct item){ .id = id, .kind = e->item,
						     .origin_dialect = e->origin_dialect,
						     .origin_kind = e->origin_kind,
						     .origin_runs = e->origin_dialect && e->severe });
	item_set_owner(m, &m->items.v[number], (struct owner){ a->session, task, review });
	if (id != NONE && e->item == ITEM_IMPROVEMENT)
		note_raised(rules_of(a), id);
	return number;
}

uint32_t item_raise_found(struct apply_ctx *a, const struct event *e, uint32_t found, uint32_t task,
			  uint32_t review, uint32_t iteration)
{
	struct model *m = a->m;
	bool is_new = found == NONE;
	bool broken = e->undecidable || (a->msg->flags & RECORD_AMBIGUOUS) ||
		      id_is_broken(e->id) || id_is_broken(e->other);
	struct item_step step = { .message = a->message, .index = e->index,
				  .hash = (uint32_t)e->content_hash, .what = STEP_RAISED,
				  .iteration = iteration,
				  .grade = e->grade & 7, .undecidable = broken, .anew = e->again,
				  .no_findings = e->no_findings,
				  .no_always = e->no_always };
	bool was_open;

	if (a->reply) /* what a person says waits for no person */
		return found;
	if (found != NONE && !trust_allows_raise(a, &m->items.v[found]))
		return found;
	if (a->second && found != NONE && is_raised_here(a, found))
		return found; /* both readings raise it, and its page shows both */
	if (is_ambiguous(a)) /* what is said clearly later are other words */
		step.hash = ~step.hash;
	if (found == NONE)
		found = item_add(a, e, task, review);
	else
		expire_before_raise(a, found);
	was_open = m->items.v[found].open;
	push_step(m, &m->items.v[found], step);
	if (is_new && m->items.v[found].id != NONE) /* others are not looked up by name */
		name_index_add(m, m->items.v[found].id, NAMED_ITEM, found);
	if (last_step(&m->items.v[found])->anew || (!was_open && m->items.v[found].open))
		deadline_set(a, found, e->deadline_ms);
	if (task != NONE && !was_open && m->items.v[found].open)
		heap_push(m->heap, &m->tasks.v[m->tasks.v[task].root].open_items, found);
	return found;
}

void close_items(struct apply_ctx *a, uint32_t task, unsigned kinds, enum step_kind what,
		 enum verdict verdict)
{
	struct task *root = &a->m->tasks.v[a->m->tasks.v[task].root];
	uint32_t kept = 0;

	if (is_ambiguous(a))
		return;
	for (uint32_t i = 0; i < root->open_items.n; i++) {
		uint32_t number = root->open_items.v[i];
		struct item *item = &a->m->items.v[number];

		if (!item->open)
			continue;
		if (!(kinds & 1u << item->kind) || item->steps[item->n - 1].message == a->message ||
		    !item_step(a, number, what, verdict, item->steps[item->n - 1].iteration))
			root->open_items.v[kept++] = number;
	}
	root->open_items.n = kept;
}

/* Index of an item's overlay; the map may also have stale indexes of the same item. */
static uint32_t overlay_index(const struct model *m, uint32_t item)
{
	for (uint32_t it = 0, v; map_next(&m->overlay_map, hash_mix(item, 0), &it, &v);)
		if (v < m->overlays.n && m->overlays.v[v].item == item)
			return v;
	return NONE;
}

const struct overlay *item_overlay(const struct model *m, const struct item *item)
{
	uint32_t number = (uint32_t)(item - m->items.v);

	return item->overlaid ? &m->overlays.v[overlay_index(m, number)] : NULL;
}

/* Moves the last overlay to the free index. */
static void remove_overlay(struct model *m, uint32_t item)
{
	uint32_t place = overlay_index(m, item);
	struct overlay last = *vec_last(&m->overlays);

	m->items.v[item].overlaid = false;
	m->overlays.n--;
	if (last.item == item)
		return;
	m->overlays.v[place] = last;
	map_put(m->heap, &m->overlay_map, hash_mix(last.item, 0), place);
}

void model_overlay(struct model *m, const struct overlay *s)
{
	struct item *item = &m->items.v[s->item];
	struct overlay *own;

	if (s->delivery == DELIVERY_NONE) {
		if (item->overlaid)
			remove_overlay(m, s->item);
		return;
	}
	if (!item->overlaid) {
		heap_push(m->heap, &m->overlays, *s);
		map_put(m->heap, &m->overlay_map, hash_mix(s->item, 0), m->overlays.n - 1);
		item->overlaid = true;
	}
	own = &m->overlays.v[overlay_index(m, s->item)];
	*own = *s;
	if (own->from <= item->steps[0].message)
		own->from = item->steps[0].message + 1;
}

void model_overlay_clear(struct model *m)
{
	for (uint32_t i = 0; i < m->overlays.n; i++)
		m->items.v[m->overlays.v[i].item].overlaid = false;
	m->overlays.n = 0;
	map_give(m->heap, &m->overlay_map);
}

/* Applies the decision overlay to the log's state. */
static void apply_overlay(const struct overlay *s, uint32_t k, struct item_state *out)
{
	bool decided = !out->open && out->decided != NONE &&
		       out->verdict != VERDICT_SUPERSEDED && out->verdict != VERDICT_ESCALATED;

	if (k < s->from || out->anew >= s->from)
		return;
	/* the session knows better: the escalation was answered, the dismissed item decided */
	if (decided && (s->verdict == VERDICT_ESCALATED || s->verdict == VERDICT_DISMISSED))
		return;
	out->acked = false; /* whatever arrived: that was not it */
	out->person = s->by;
	out->person_ms = s->time_ms;
	out->delivery = s->delivery;
	out->overlaid = true;
	if (out->delivery == DELIVERY_STAGED && !out->open)
		return;
	out->verdict = s->verdict;
	if (out->delivery != DELIVERY_STAGED)
		out->open = false;
}

static void raise_first(const struct item_step *s, struct item_state *out)
{
	*out = (struct item_state){ .grade = s->grade, .opened = s->message, .anew = s->message,
				    .message = s->message, .index = s->index, .hash = s->hash,
				    .decided = NONE, .iteration = s->iteration, .times = 1,
				    .open = true, .undecidable = s->undecidable,
				    .no_findings = s->no_findings, .no_always = s->no_always,
				    .person = NONE,
				    .person_ms = TIME_NONE, .deadline_ms = TIME_NONE };
}

static void raise_again(const struct item_step *s, struct item_state *out)
{
	out->message = s->message;
	out->index = s->index;
	if (!s->opens || (out->open && !s->anew)) {
		out->times++;
		out->undecidable |= s->undecidable;
		return;
	}
	if (s->hash != out->hash)
		out->revision++;
	out->came_back = s->iteration != out->iteration;
	out->times = out->came_back ? 1 : out->times + 1;
	if (s->anew)
		out->anew = s->message;
	out->verdict = VERDICT_NONE;
	out->delivery = DELIVERY_NONE;
	out->decided = NONE;
	out->acked = out->bounced = false;
	out->fixed_in = 0;
	out->iteration = s->iteration;
	out->grade = s->grade;
	out->undecidable = s->undecidable;
	out->no_findings = s->no_findings;
	out->no_always = s->no_always;
	out->hash = s->hash;
}

static inline void fold_step(const struct item_step *s, struct item_state *out)
{
	switch ((enum step_kind)s->what) {
	case STEP_RAISED: raise_again(s, out); break;
	case STEP_DECIDED:
		out->verdict = s->verdict;
		out->decided = s->message;
		out->acked = out->bounced = false;
		out->delivery = s->said ? DELIVERY_SENT : DELIVERY_NONE;
		break;
	case STEP_FIXED:
		out->verdict = s->verdict;
		out->decided = s->message;
		out->acked = out->bounced = false;
		out->fixed_in = s->iteration;
		out->delivery = DELIVERY_NONE;
		break;
	case STEP_ACKED:
		out->acked = out->decided != NONE;
		if (out->delivery == DELIVERY_SENT)
			out->delivery = DELIVERY_ACKNOWLEDGED;
		break;
	case STEP_BOUNCED:
		out->bounced = true;
		out->verdict = VERDICT_NONE;
		out->anew = s->message;
		if (out->delivery != DELIVERY_NONE)
			out->delivery = DELIVERY_BOUNCED;
		break;
	case STEP_SUPERSEDED:
		out->verdict = VERDICT_SUPERSEDED;
		out->decided = s->message;
		break;
	case STEP_WITHDRAWN:
		out->verdict = VERDICT_WITHDRAWN;
		out->withdrawn = s->message;
		out->bounced = out->delivery == DELIVERY_SENT;
		if (out->bounced)
			out->delivery = DELIVERY_BOUNCED;
		break;
	case STEP_EXPIRED: /* nobody has decided it */
		out->verdict = VERDICT_EXPIRED;
		out->decided = NONE;
		break;
	}
	out->open = is_open_after(out->open, s);
}

void item_fold(const struct item *item, uint32_t step, struct item_state *at)
{
	if (step == 0)
		raise_first(item->steps, at);
	else
		fold_step(&item->steps[step], at);
}

/* Who said the decision, and when. */
static void name_person(const struct model *m, struct item_state *out)
{
	const struct reply *r = message_reply(m, out->decided);

	if (!r)
		return;
	out->person = r->by;
	out->person_ms = r->time_ms;
}

/* Folds the steps before k; the first one is RAISED. here: with the decision overlay. */
static bool state_at(const struct model *m, const struct item *item, uint32_t k, int64_t wall_ms,
		     bool here, struct item_state *out)
{
	if (item->n == 0 || item->steps[0].message >= k)
		return false;
	raise_first(item->steps, out);
	for (uint32_t i = 1; i < item->n && item->steps[i].message < k; i++)
		fold_step(&item->steps[i], out);
	if (out->delivery != DELIVERY_NONE)
		name_person(m, out);
	if (item->overlaid && here)
		apply_overlay(item_overlay(m, item), k, out);
	out->deadline_ms = item_deadline(m, item, k);
	if (out->open && out->deadline_ms != TIME_NONE && wall_ms > out->deadline_ms) {
		out->open = false;
		out->verdict = VERDICT_EXPIRED;
	}
	return true;
}

bool item_at(const struct model *m, const struct item *item, uint32_t k, int64_t wall_ms,
	     struct item_state *out)
{
	return state_at(m, item, k, wall_ms, true, out);
}

bool item_without_overlay(const struct model *m, const struct item *item, uint32_t k,
			  int64_t wall_ms, struct item_state *out)
{
	return state_at(m, item, k, wall_ms, false, out);
}

struct str item_by(const struct model *m, const struct item_state *at)
{
	if (at->verdict == VERDICT_NONE)
		return STR_NONE;
	if (at->delivery == DELIVERY_STAGED && at->decided != NONE)
		return agent_name(m, decided_by(m, at)); /* it was overtaken */
	if (at->delivery != DELIVERY_NONE && at->person != NONE)
		return model_str(m, at->person);
	if (at->delivery != DELIVERY_NONE && !at->overlaid)
		return STR("reply file");
	return agent_name(m, decided_by(m, at));
}

bool item_is_shared(const struct model *m, const struct item *item)
{
	struct owner owner = item_owner(m, item);
	uint32_t number = (uint32_t)(item - m->items.v);
	uint64_t h = item_hash(owner.session, (enum item_kind)item->kind, item->id, owner.review);

	for (uint32_t it = 0, v; m->strings.v[item->id].shared && map_next(&m->item_map, h, &it, &v);)
		if (v != number && item_is(m, v, owner.session, (enum item_kind)item->kind, item->id,
					   owner.review))
			return true;
	return false;
}

uint32_t item_subject(const struct model *m, const struct item *item, uint32_t message)
{
	const struct rules_ops *ops = dialect_rules[message_route(m, message)->dialect];

	return ops->subject ? ops->subject(m, item, message) : NONE;
}

void item_name(const struct model *m, const struct item *item, struct buf *out)
{
	if (item->id != NONE && item_is_shared(m, item)) {
		buf_add_str(out, agent_name(m, step_by(m, &item->steps[0])));
		buf_addc(out, ':');
	}
	item_plain_name(m, item, out);
}

void item_plain_name(const struct model *m, const struct item *item, struct buf *out)
{
	uint32_t review = item_review(m, item);

	if (item->id == NONE) {
		buf_printf(out, "%s@%u", item_kind_name(item->kind),
			   message_line(m, item->steps[0].message));
		return;
	}
	if (review != NONE && (item->kind == ITEM_FINDING || item->kind == ITEM_CHANGE)) {
		buf_add_str(out, model_str(m, m->reviews.v[review].id));
		buf_addc(out, '/');
	}
	buf_add_str(out, model_str(m, item->id));
}

bool item_has_twin(const struct model *m, const struct item *item)
{
	struct owner owner = item_owner(m, item);

	for (int k = 0; item->id != NONE && k < ITEM_KIND_COUNT; k++)
		if (k != item->kind && item_named(m, owner.session, (enum item_kind)k, item->id,
						  owner.review) != NONE)
			return true;
	return false;
}

unsigned item_weight(const struct item *item, enum grade grade)
{
	static const uint8_t by_kind[ITEM_KIND_COUNT] = {
		[ITEM_IMPROVEMENT] = GRADE_MINOR, [ITEM_FINDING] = GRADE_MINOR,
		[ITEM_CHANGE] = GRADE_MINOR,      [ITEM_VERDICT] = GRADE_MAJOR,
		[ITEM_QUESTION] = GRADE_MAJOR,    [ITEM_BLOCKED] = GRADE_MAJOR,
		[ITEM_ESCALATION] = GRADE_MAJOR,  [ITEM_RETRY] = GRADE_MINOR,
		[ITEM_TASK] = GRADE_MINOR,        [ITEM_ERROR] = GRADE_MAJOR,
		[ITEM_PERMISSION] = GRADE_MAJOR,  [ITEM_PLAN] = GRADE_MAJOR,
	};

	return grade != GRADE_NONE ? grade : by_kind[item->kind];
}

uint32_t model_open(const struct model *m, uint32_t k, int64_t wall_ms, uint32_t *due)
{
	bool whole = k >= m->records.n;
	uint32_t open = whole ? m->open_count : 0, n = whole ? m->dated.n : m->items.n;
	struct item_state s;

	*due = 0;
	for (uint32_t i = 0; i < n; i++) {
		const struct item *item = &m->items.v[whole ? m->dated.v[i].item : i];
		bool is_open = item_at(m, item, k, wall_ms, &s) && s.open;

		if (!whole)
			open += is_open;
		else if (item->open && !is_open)
			open--; /* expired, or closed by the decision overlay */
		*due += is_open && s.deadline_ms != TIME_NONE;
	}
	for (uint32_t i = 0; whole && i < m->overlays.n; i++) {
		const struct item *item = &m->items.v[m->overlays.v[i].item];

		if (item->open && !item->dated && item_at(m, item, k, wall_ms, &s) && !s.open)
			open--;
	}
	return open;
}

enum { RANK_CLOSED = GRADE_NONE + 1 };

int inbox_order(const void *left, const void *right)
{
	const struct inbox_place *a = left, *b = right;

	if (a->deadline_ms != b->deadline_ms)
		return a->deadline_ms < b->deadline_ms ? -1 : 1;
	if (a->weight != b->weight)
		return a->weight < b->weight ? -1 : 1;
	return a->item < b->item ? -1 : a->item > b->item;
}

/* Items are numbered in the order they were raised, so a counting sort by weight is enough for
 * those without a deadline; there may be hundreds of thousands. */
struct inbox {
	VEC(struct inbox_place) due;
	uint32_t *others; /* without deadline, sorted by number */
	uint8_t *rank;    /* of each: its weight, or RANK_CLOSED */
	uint32_t n, counts[RANK_CLOSED + 1];
};

static void inbox_add(struct inbox *in, const struct model *m, uint32_t number,
		      const struct item_state *at)
{
	const struct item *item = &m->items.v[number];
	unsigned rank = at->open ? item_weight(item, at->grade) : RANK_CLOSED;

	if (at->open && at->deadline_ms != TIME_NONE) {
		vec_push(&in->due, (struct inbox_place){ at->deadline_ms, rank, number });
		return;
	}
	in->others[in->n] = number;
	in->rank[in->n++] = (uint8_t)rank;
	in->counts[rank]++;
}

static uint32_t *inbox_list(const struct inbox *in)
{
	uint32_t *list = xmalloc((in->due.n + in->n + 1) * sizeof(*list));
	uint32_t at[RANK_CLOSED + 1], next = in->due.n;

	for (uint32_t i = 0; i < in->due.n; i++)
		list[i] = in->due.v[i].item;
	for (unsigned rank = 0; rank <= RANK_CLOSED; next += in->counts[rank++])
		at[rank] = next;
	for (uint32_t i = 0; i < in->n; i++)
		list[at[in->rank[i]]++] = in->others[i];
	return list;
}

uint32_t *model_inbox(const struct model *m, uint32_t k, int64_t wall_ms, bool all, uint32_t *n,
		      struct yield *yield)
{
	struct inbox in = { .others = xmalloc((m->items.n + 1) * sizeof(*in.others)),
			    .rank = xmalloc(m->items.n + 1) };
	bool only_open = !all && k >= m->records.n;
	uint32_t *list;

	for (uint32_t i = 0; i < m->items.n && yield_on(yield); i++) {
		struct item_state at;

		if (only_open && !m->items.v[i].open) /* the overlay cannot open it either */
			continue;
		if (item_at(m, &m->items.v[i], k, wall_ms, &at) && (all || at.open))
			inbox_add(&in, m, i, &at);
	}
	if (in.due.n)
		yield_sort(in.due.v, in.due.n, sizeof(*in.due.v), inbox_order, yield);
	*n = in.due.n + in.n;
	list = inbox_list(&in);
	vec_release(&in.due);
	free(in.others);
	free(in.rank);
	return list;
}
