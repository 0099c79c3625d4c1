/* Reading a team's store: all that waits at first, then the events in their order, and the items that
 * they name. One request at a time, each of which may be answered twice after a lost connection. */
#include "session/team_internal.h"

enum { EVENTS_MOST = 1000 };

void team_stop(struct team_inbox *t, const char *format, ...)
{
	struct buf words = { 0 };
	va_list ap;

	if (t->stopped)
		return;
	buf_adds(&words, "the store went back: ");
	va_start(ap, format);
	buf_vprintf(&words, format, ap);
	va_end(ap);
	buf_adds(&words, "; nothing is decided until :team accept");
	t->stopped = words.p;
}

/* The end of a request; false: it was refused, and is not asked again at once. */
static bool end_reading(struct team_inbox *t, const struct store_answer *a)
{
	t->reading = false;
	t->refused = !a->rows;
	if (a->rows) {
		free(t->trouble);
		t->trouble = NULL;
		return true;
	}
	t->due = false;
	t->poll_ms = loop_now_ms() + TEAM_POLL_MS;
	team_note_trouble(t, a->why);
	return false;
}

static void begin_reading(struct team_inbox *t, struct store_request *r)
{
	r->ctx = t;
	t->reading = true;
	store_ask(t->store, r);
}

/* ---- whether it is the store that was seen ---- */

static void take_known(void *ctx, const struct store_answer *a)
{
	struct team_inbox *t = ctx;

	if (!end_reading(t, a))
		return;
	t->checked = true;
	if (a->n && str_eq(store_str(a->rows, 0, 0),
			   str_make((const char *)t->chain.hash, sizeof(t->chain.hash))))
		return;
	team_stop(t, "event %lld is not what we saw", (long long)t->chain.n);
	t->begun = false; /* all is read again */
}

static void ask_known(struct team_inbox *t)
{
	struct store_request r = { .sql = "select hash from gavel.event where n = $1::bigint",
				   .values = { store_number(t->chain.n) }, .n = 1,
				   .answered = take_known };

	begin_reading(t, &r);
}

/* ---- whether it still has what was decided here ---- */

bool team_forgot(struct team_inbox *t, const struct desk *d, const struct letter *x)
{
	const struct team_item *item;

	if (x->channel != CHANNEL_TEAM || x->state != LETTER_SENT || !x->drafts.n ||
	    d->drafts.v[x->drafts.v[0]].verb == VERB_ESCALATE)
		return false;
	item = team_item_by_id(t, (int64_t)x->attempt.ino);
	return item && item->state == TEAM_OPEN && !item->mark.voted;
}

/* Another gavel of this login may have decided it while all was being read: it is looked at again. */
static void doubt_letters(struct team_inbox *t)
{
	struct desk *d = desks_find(&t->load->desks, t->load->wire.files.v[t->file].group);

	for (uint32_t i = 0; d && i < d->letters.n; i++) {
		struct team_item *item = team_forgot(t, d, &d->letters.v[i])
						 ? team_item_by_id(t, (int64_t)d->letters.v[i].attempt.ino)
						 : NULL;

		if (!item || item->doubted)
			continue;
		item->doubted = true;
		vec_push(&t->fetch, item->id);
	}
}

static void judge_doubted(struct team_inbox *t)
{
	for (uint32_t i = 0; i < t->items.n; i++) {
		struct team_item *item = t->items.v[i];

		if (item->doubted && item->listed && item->state == TEAM_OPEN && !item->mark.voted)
			team_stop(t, "it does not have what you decided on %.*s", STR_ARG(item->task));
		item->doubted &= !item->listed;
	}
}

/* ---- all that waits ---- */

static void take_all(void *ctx, const struct store_answer *a)
{
	struct team_inbox *t = ctx;
	struct str hash;

	if (!end_reading(t, a) || !a->n)
		return;
	t->chain = (struct chain){ .n = store_int(a->rows, 0, 0) };
	hash = store_str(a->rows, 0, 1);
	memcpy(t->chain.hash, hash.p, hash.n < sizeof(t->chain.hash) ? hash.n : sizeof(t->chain.hash));
	for (uint32_t i = 0; i < a->n; i++)
		if (!store_is_null(a->rows, i, 2))
			team_take_row(t, a->rows, i, 2);
	team_take_missing(t);
	doubt_letters(t);
	t->begun = t->checked = t->due = true;
}

static void ask_all(struct team_inbox *t)
{
	static const char sql[] =
		"select h.n, h.hash, x.* from gavel.head h left join (select " TEAM_COLUMNS
		" from " TEAM_JOINS " where i.state = 'open' or i.id in (select l.item "
		"from gavel.decision l order by l.at desc limit 1000)) x on true order by x.id";
	struct store_request r = { .sql = sql, .answered = take_all };

	begin_reading(t, &r);
}

/* ---- what happens ---- */

static bool is_to_fetch(const struct team_inbox *t, int64_t id)
{
	for (uint32_t i = 0; i < t->fetch.n; i++)
		if (t->fetch.v[i] == id)
			return true;
	return false;
}

static void take_events(void *ctx, const struct store_answer *a)
{
	struct team_inbox *t = ctx;

	if (!end_reading(t, a))
		return;
	t->due |= a->n == EVENTS_MOST; /* a hint that came meanwhile may be of a later event */
	for (uint32_t i = 0; i < a->n; i++) {
		struct store_event e;

		chain_read(a->rows, i, &e);
		if (e.n <= t->chain.n)
			continue; /* answered twice */
		switch (chain_add(&t->chain, &e)) {
		case CHAIN_FINE: break;
		case CHAIN_GAP: team_stop(t, "event %lld does not follow the one before it", (long long)e.n); break;
		case CHAIN_WRONG: team_stop(t, "event %lld was changed, or what is before it", (long long)e.n); break;
		}
		t->chain.n = e.n;
		memcpy(t->chain.hash, e.hash.p,
		       e.hash.n < sizeof(t->chain.hash) ? e.hash.n : sizeof(t->chain.hash));
		if (e.item && !is_to_fetch(t, e.item))
			vec_push(&t->fetch, e.item);
	}
}

static void ask_events(struct team_inbox *t)
{
	static const char sql[] = "select " CHAIN_COLUMNS " from gavel.event where n > $1::bigint "
				  "order by n limit 1000";
	struct store_request r = { .sql = sql, .values = { store_number(t->chain.n) }, .n = 1,
				   .answered = take_events };

	t->due = false;
	t->poll_ms = loop_now_ms() + TEAM_POLL_MS;
	begin_reading(t, &r);
}

static void take_items(void *ctx, const struct store_answer *a)
{
	struct team_inbox *t = ctx;

	if (!end_reading(t, a))
		return;
	for (uint32_t i = 0; i < a->n; i++)
		team_take_row(t, a->rows, i, 0);
	judge_doubted(t);
	for (uint32_t i = 0; i < t->items.n; i++)
		t->items.v[i]->listed = false;
}

static void ask_items(struct team_inbox *t)
{
	static const char sql[] = "select " TEAM_COLUMNS " from " TEAM_JOINS
				  " where i.id = any ($1::text::bigint[]) order by i.id";
	struct store_request r = { .sql = sql, .n = 1, .answered = take_items };
	struct buf ids = { 0 };

	for (uint32_t i = 0; i < t->fetch.n; i++)
		buf_printf(&ids, "%s%lld", i ? "," : "{", (long long)t->fetch.v[i]);
	buf_addc(&ids, '}');
	r.values[0] = store_text(buf_str(&ids));
	t->fetch.n = 0;
	begin_reading(t, &r);
	buf_release(&ids);
}

void team_events_step(struct team_inbox *t)
{
	int64_t now = loop_now_ms();

	t->due |= now >= t->poll_ms;
	if (now >= t->proof_ms) {
		t->proof_ms = now + TEAM_POLL_MS;
		team_prove_again(t);
	}
	if (t->reading || (t->refused && now < t->poll_ms) || (!t->due && !t->fetch.n && !t->prove.n))
		return;
	if (!t->checked && t->chain.n)
		ask_known(t);
	else if (!t->begun)
		ask_all(t);
	else if (t->fetch.n)
		ask_items(t);
	else if (t->prove.n)
		team_ask_places(t);
	else
		ask_events(t);
}
