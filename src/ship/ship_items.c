/* Tells the store what waits for a person, and what no longer does. Items are looked at in rounds, a new
 * one whenever messages have come; only what has changed since it was told is told. */
#include "base/sha256.h"
#include "base/utf8.h"
#include "encode/plan.h"
#include "json/json.h"
#include "session/terms.h"
#include "ship/ship_internal.h"
#include "view/session_label.h"

#include <stdlib.h>

enum {
	LOOKED_AT_MAX = 20000, /* items in one step, */
	TOLD_MAX = 100,        /* of which so many are told */
	REFUSED_EVERY_MS = 60000,
};

static uint64_t id_hash(int64_t id)
{
	return hash_long((const char *)&(int64_t[3]){ id, 0, 0 }, 3 * sizeof(int64_t));
}

struct shipped_item *ship_item_of(const struct shipper *s, int64_t id)
{
	for (uint32_t it = 0, i; map_next(&s->by_id, id_hash(id), &it, &i);)
		if (s->items.v[i] && s->items.v[i]->id == id)
			return s->items.v[i];
	return NULL;
}

static int64_t clock_of(const struct shipper *s)
{
	return s->live ? timestamp_now_ms() : TIME_NONE;
}

static uint32_t desk_number(const struct shipper *s, const struct desk *desk)
{
	return (uint32_t)(desk - s->load->desks.list.v);
}

/* ---- what an item is called ---- */

static void add_short_hash(const struct shipper *s, uint32_t message, struct buf *out)
{
	const struct reader *r = &s->load->reader;
	char hex[65];

	sha256_hex(r->bytes(r->ctx, message), hex);
	buf_add(out, hex, 8);
}

/* The same whenever and however the log is read: a decision belongs to one raise. */
static void add_key(const struct shipper *s, const struct desk *desk, const struct draft *like,
		    const struct item_state *at, struct buf *out)
{
	/* the source's own session is named as the source was typed */
	if (!str_eq(like->session, desk->group))
		buf_add_str(out, like->session);
	buf_printf(out, "/%s:", item_kind_name(like->kind));
	buf_add_str(out, like->item);
	buf_addc(out, '@');
	add_short_hash(s, at->anew, out);
}

/* What will be said in one message with it: see `together` of the encoders. */
static void add_bundle(const struct shipper *s, const struct draft *like, const struct item *item,
		       struct buf *out)
{
	const struct model *m = &s->load->model;
	uint32_t review = item_review(m, item);

	if (like->dialect == DIALECT_FEEDBACK && like->kind == ITEM_IMPROVEMENT) {
		buf_adds(out, "turn ");
		buf_add_str(out, like->session);
	} else if (like->dialect == DIALECT_COLLABORATION && review != NONE &&
		   (like->kind == ITEM_FINDING || like->kind == ITEM_CHANGE)) {
		buf_adds(out, "review ");
		add_short_hash(s, m->reviews.v[review].steps.v[0].message, out);
	}
}

/* ---- telling ---- */

static void learn_item(void *ctx, const struct store_answer *a)
{
	struct shipped_item *x = ctx;
	struct shipper *s = x->s;

	if (!a->rows) {
		int64_t now = loop_now_ms();

		x->state = SHIP_ITEM_GONE;
		x->message = NONE;
		x->retry_ms = now + SHIP_RETRY_MS;
		/* a source with too many items has thousands of them */
		if (!s->refused_ms || now - s->refused_ms >= REFUSED_EVERY_MS) {
			shipper_say(s, "items are refused: %.*s", STR_ARG(a->why));
			s->refused_ms = now;
		}
		return;
	}
	if (x->id != store_int(a->rows, 0, 0)) {
		x->id = store_int(a->rows, 0, 0);
		map_add(&s->by_id, id_hash(x->id), x->number);
	}
	x->state = str_is(store_str(a->rows, 0, 1), "open") ? SHIP_ITEM_OPEN : SHIP_ITEM_DECIDED;
}

static struct str title_of(const struct shipper *s, const struct item *item,
			   const struct item_state *at)
{
	const struct reader *r = &s->load->reader;
	struct detail d;

	return r->detail(r->ctx, item, at, &d) && d.title.p ? d.title : STR("");
}

/* Display name of the asking agent, or of the log if no agent is known. */
static struct str asker(const struct shipper *s, const struct desk *desk, uint32_t message)
{
	const struct load *l = s->load;
	const struct route *route = message_route(&l->model, message);
	struct str speaker = l->wire.files.v[route->source].speaker;
	struct str name = speaker.n ? speaker : agent_name(&l->model, route->from);

	if (name.n)
		return name;
	return s->settings.options->as_source ? str_of(s->settings.options->as_source)
					      : path_base(desk->source);
}

/* Where its message is in the store's lines, and the one that it is about: what an entry shows can be
 * compared with them. Bytes that are no UTF-8 are others in an entry. */
static void add_places(const struct shipper *s, const struct item *item, const struct item_state *at,
		       struct buf *out)
{
	const struct load *l = s->load;
	uint32_t subject = item_subject(&l->model, item, at->message);

	buf_addc(out, '[');
	if (!utf8_valid(l->reader.bytes(l->reader.ctx, at->message)) ||
	    !ship_put_place(s, at->message, out) ||
	    (subject != NONE && (!utf8_valid(l->reader.bytes(l->reader.ctx, subject)) ||
				 !ship_put_place(s, subject, out))))
		buf_clear(out);
	else
		buf_addc(out, ']');
}

/* Composes the entry and asks. */
static void open_item(struct shipper *s, struct shipped_item *x, const struct desk *desk,
		      const struct draft *like, const struct item_state *at)
{
	const struct load *l = s->load;
	const struct item *item = &l->model.items.v[x->number];
	struct store_request r = {
		.sql = "select item, state from gavel.open_item($1::int, $2, $3, $4, $5, $6, $7, 1, "
		       "to_timestamp($8::float8 / 1000))",
		.n = 8, .answered = learn_item, .ctx = x,
	};
	struct buf key = { 0 }, bundle = { 0 }, places = { 0 }, body = { 0 };
	struct entry_origin origin;
	struct terms terms;
	struct err err;

	terms_fill(&terms, s->settings.options, s->settings.config, &l->model);
	add_key(s, desk, like, at, &key);
	add_bundle(s, like, item, &bundle);
	add_places(s, item, at, &places);
	origin.from = asker(s, desk, at->message);
	origin.places = buf_str(&places);
	if (encode_open_item(desk, &l->model, &l->reader, &terms, x->number, &origin, &body, &err)) {
		shipper_say(s, "%s", err.text);
	} else {
		r.values[0] = store_number(s->sources.v[desk_number(s, desk)]->id);
		r.values[1] = store_text(buf_str(&key));
		r.values[2] = store_text(like->rev);
		r.values[3] = store_text(str_of(item_kind_name(like->kind)));
		r.values[4] = store_text(title_of(s, item, at));
		r.values[5] = store_bytes(buf_str(&body));
		r.values[6] = store_text(buf_str(&bundle));
		r.values[7] = at->deadline_ms == TIME_NONE ? store_null()
							   : store_number(at->deadline_ms);
		store_ask(s->store, &r);
		x->state = SHIP_ITEM_ASKED;
	}
	x->message = at->message;
	x->anew = at->anew;
	x->hash = at->hash;
	buf_release(&key);
	buf_release(&bundle);
	buf_release(&places);
	buf_release(&body);
}

static void withdraw(struct shipper *s, int64_t id, struct str why)
{
	shipper_tell(s, &(struct store_request){ .sql = "select gavel.withdraw($1::bigint, $2)",
						 .values = { store_number(id), store_text(why) },
						 .n = 2 });
}

/* ---- looking ---- */

bool ship_agent_is_gone(const struct desk *desk, uint32_t message)
{
	struct buf asked = { 0 }, runs = { 0 };
	bool gone;

	if (!desk->agent)
		return false;
	desk->agent->path(desk->agent->ctx, message, &asked);
	desk->agent->path(desk->agent->ctx, NONE, &runs);
	gone = !runs.n || !str_eq(buf_str(&asked), buf_str(&runs));
	buf_release(&asked);
	buf_release(&runs);
	return gone;
}

/* Why nobody has to decide it now; NULL = it waits. */
static const char *reason_to_withdraw(const struct shipper *s, uint32_t number, const struct desk *desk,
				      struct item_state *at)
{
	const struct model *m = &s->load->model;
	const struct item *item = &m->items.v[number];

	if (!item_at(m, item, m->records.n, clock_of(s), at) || !at->open ||
	    !verbs_allowed(m, item, at) ||
	    !filter_item(s->settings.items, m, number, at, NULL, NULL))
		return "it is closed in the log";
	return desk && ship_agent_is_gone(desk, at->message) ? "its agent has ended" : NULL;
}

static bool is_as_told(const struct shipped_item *x, const struct item_state *at)
{
	return x->state != SHIP_ITEM_GONE && x->message == at->message && x->anew == at->anew &&
	       x->hash == at->hash;
}

/* true: it was told. */
static bool look_at(struct shipper *s, uint32_t number, int64_t now_ms)
{
	struct load *l = s->load;
	const struct item *item = &l->model.items.v[number];
	struct shipped_item *x = s->items.v[number];
	bool was_open = x && x->state == SHIP_ITEM_OPEN;
	struct draft like = { 0 };
	struct arena words = { 0 };
	struct item_state at;
	struct desk *desk;
	const char *why;

	if (!item->open && !was_open)
		return false;
	desk = desks_of_item(&l->desks, &l->model, item);
	why = reason_to_withdraw(s, number, desk, &at);
	if (why) {
		if (was_open) {
			withdraw(s, x->id, str_of(why));
			x->state = SHIP_ITEM_GONE;
		}
		return was_open;
	}
	if (x && (x->state == SHIP_ITEM_ASKED || is_as_told(x, &at) || now_ms < x->retry_ms))
		return false;
	s->item_waits = ship_is_opening(s, at.message);
	if (s->item_waits || !desk || !s->sources.v[desk_number(s, desk)]->id)
		return false;
	if (!x) {
		x = s->items.v[number] = xcalloc(1, sizeof(*x));
		x->s = s;
		x->number = number;
	}
	if (was_open)
		withdraw(s, x->id, STR("it was asked again"));
	draft_bind(&like, &l->model, &l->reader, number, l->model.records.n, &words);
	open_item(s, x, desk, &like, &at);
	arena_release(&words);
	return true;
}

/* What the store has open and this log has not; and what may still be acknowledged. */
static void compare(void *ctx, const struct store_answer *a)
{
	struct shipper *s = ctx;

	s->comparing = false;
	if (!a->rows) {
		shipper_say(s, "the store refuses to list the items: %.*s", STR_ARG(a->why));
		return;
	}
	s->compared = true;
	for (uint32_t i = 0; i < a->n; i++) {
		int64_t id = store_int(a->rows, i, 0);
		const struct shipped_item *x = ship_item_of(s, id);

		if (str_is(store_str(a->rows, i, 1), "sent"))
			ship_note_sent(s, id, NONE);
		else if (!x || (x->state != SHIP_ITEM_OPEN && x->state != SHIP_ITEM_ASKED))
			withdraw(s, id, STR("it was closed in the log meanwhile"));
	}
}

static void ask_own_items(struct shipper *s)
{
	struct store_request r = { .sql = "select item, last from gavel.own_items($1::int[])",
				   .n = 1, .answered = compare, .ctx = s };
	struct buf list = { 0 };

	ship_source_list(s, &list);
	r.values[0] = store_text(buf_str(&list));
	store_ask(s->store, &r);
	buf_release(&list);
	s->comparing = true;
}

void ship_items_step(struct shipper *s, int64_t now_ms)
{
	const struct model *m = &s->load->model;
	uint32_t told = 0, last;

	while (s->items.n < m->items.n)
		vec_push(&s->items, NULL);
	if (s->round_done &&
	    now_ms - s->round_ms < (s->messages == m->records.n ? SHIP_ROUND_MAX_MS : SHIP_ROUND_MIN_MS))
		return;
	if (s->round_done) {
		s->round_done = false;
		s->scanned = 0;
	}
	if (!s->scanned) {
		s->messages = m->records.n;
		s->round_ms = now_ms;
	}
	last = m->items.n - s->scanned < LOOKED_AT_MAX ? m->items.n : s->scanned + LOOKED_AT_MAX;
	s->item_waits = false;
	while (s->scanned < last && told < TOLD_MAX && !s->item_waits) {
		told += look_at(s, s->scanned, now_ms);
		s->scanned += !s->item_waits;
	}
	s->round_done = s->scanned == m->items.n;
	if (s->round_done && !s->compared && !s->comparing)
		ask_own_items(s);
}

void ship_items_again(struct shipper *s)
{
	for (uint32_t i = 0; i < s->items.n; i++)
		if (s->items.v[i] && s->items.v[i]->state != SHIP_ITEM_ASKED)
			s->items.v[i]->state = SHIP_ITEM_GONE;
	s->round_done = s->compared = s->comparing = s->item_waits = false;
	s->scanned = 0;
}
