/* Claims of a team's items, and the questions that CHANNEL_TEAM has for the store. A claim is renewed
 * while gavel runs; one that is not lapses at the server, whatever became of its holder. */
#include "session/team_internal.h"

#include <poll.h>

enum { NAME_MAX_BYTES = 28, NAME_BEGIN_BYTES = 8 }; /* of an item, on the message line */

static struct team_inboxes *teams; /* of the load that decides */

/* How long a claim lasts once nobody renews it. */
static int lease_s(const struct team_inbox *t)
{
	return t->load->config ? t->load->config->team_lease_s : CONFIG_LEASE_S;
}

/* ---- questions ---- */

static void free_question(struct team_question *q)
{
	struct team_question **at = &q->t->questions;

	while (*at != q)
		at = &(*at)->next;
	*at = q->next;
	free(q);
}

void team_questions_free(struct team_inbox *t)
{
	while (t->questions)
		free_question(t->questions);
}

static void put_word(char *out, size_t size, struct str s)
{
	size_t n = s.n < size - 1 ? s.n : size - 1;

	memcpy(out, s.p ? s.p : "", n);
	out[n] = '\0';
}

static void name_item(struct team_inbox *t, int64_t id, struct buf *out)
{
	const struct team_item *item = team_item_by_id(t, id);

	if (item && item->task.n > NAME_MAX_BYTES) { /* known by its beginning */
		struct str begin = str_make(item->task.p, NAME_BEGIN_BYTES);

		while (begin.n && (item->task.p[begin.n] & 0xc0) == 0x80)
			begin.n--;
		buf_printf(out, "%.*s…", STR_ARG(begin));
	} else if (item && item->task.n)
		buf_add_str(out, item->task);
	else
		buf_printf(out, "item %lld", (long long)id);
}

/* The answer to a claim that was asked for by a key or along with a verb. */
static void tell_claim(struct team_question *q)
{
	const struct team_answer *a = &q->answer;
	struct str outcome = str_of(a->outcome);
	struct buf name = { 0 };
	char left[32];

	name_item(q->t, q->item, &name);
	if (a->refused)
		team_say(q->t, "not claimed: %s", a->who);
	else if (str_is(outcome, "yours") && !q->quiet)
		team_say(q->t, "%s is claimed, for you alone while gavel runs", name.p);
	else if (str_is(outcome, "held"))
		team_say(q->t, "%s has claimed %s, for another %s", a->who, name.p,
			 timestamp_span(a->left_ms, left));
	else if (str_is(outcome, "decided"))
		team_say(q->t, "%s was decided by %s", name.p, a->who);
	else if (str_is(outcome, "withdrawn"))
		team_say(q->t, "%s was withdrawn: nobody waits for an answer any more", name.p);
	else if (str_is(outcome, "above"))
		team_say(q->t, "%s has risen to a level that you do not decide on", name.p);
	else if (str_is(outcome, "voted") && !q->quiet)
		team_say(q->t, "you have voted on %s already; it needs another person", name.p);
	buf_release(&name);
}

static void note_claim(struct team_question *q)
{
	struct team_item *item = team_item_by_id(q->t, q->item);
	struct store_status status;

	if (!item || !str_is(str_of(q->answer.outcome), "yours"))
		return;
	store_status(q->t->store, &status);
	item->fence = q->answer.fence;
	item->mark.mine = true;
	item->mark.until_ms = timestamp_now_ms() + q->answer.left_ms;
	item->mark.holder = arena_str(&q->t->arena, str_of(status.login));
}

/* Once all that the person sends is decided: see team_dispatch. */
static void note_decided(struct team_question *q)
{
	struct team_item *item = team_item_by_id(q->t, q->item);

	if (item && item->bundled && str_is(str_of(q->answer.outcome), "decided"))
		vec_push(&q->t->sent, item->id);
	else if (item && str_is(str_of(q->answer.outcome), "second"))
		team_say(q->t, "your vote counts, %s: another person has to say the same",
			 q->answer.who);
}

static void take_answer(void *ctx, const struct store_answer *a)
{
	struct team_question *q = ctx;
	struct team_answer *out = &q->answer;
	struct store_status status;

	store_status(q->t->store, &status);
	out->came = true;
	out->refused = !a->rows || !a->n;
	out->unsettled = a->unsettled;
	put_word(out->who, sizeof(out->who), a->rows && a->n ? store_str(a->rows, 0, 1) : a->why);
	if (!out->refused) {
		int64_t until = store_time_ms(a->rows, 0, 3);

		put_word(out->outcome, sizeof(out->outcome), store_str(a->rows, 0, 0));
		out->fence = (uint64_t)store_int(a->rows, 0, 2);
		if (until != TIME_NONE)
			out->left_ms = until - status.clock_ms - timestamp_now_ms();
	}
	if (q->what == TEAM_CLAIM)
		note_claim(q);
	else if (q->what == TEAM_DECIDE)
		note_decided(q);
	q->t->due = true; /* there is an event */
	if (!q->dropped)
		return;
	if (q->said)
		tell_claim(q);
	free_question(q);
}

static struct team_question *new_question(struct team_inbox *t, enum team_ask what, int64_t item)
{
	struct team_question *q = xcalloc(1, sizeof(*q));

	*q = (struct team_question){ .t = t, .next = t->questions, .what = what, .item = item };
	t->questions = q;
	return q;
}

static void send_question(struct team_question *q, struct store_request *r)
{
	r->answered = take_answer;
	r->ctx = q;
	store_ask(q->t->store, r);
}

static void ask_claim(struct team_question *q)
{
	struct store_request r = {
		.sql = "select outcome, who, fence, until from gavel.claim($1::bigint, $2::float8)",
		.values = { store_number(q->item), store_number(lease_s(q->t)) }, .n = 2,
	};

	send_question(q, &r);
}

/* The letter without its last member, the revision, which the store is given apart. */
static void add_draft(struct str bytes, struct buf *out)
{
	struct str draft = str_trim(bytes);
	ptrdiff_t at, last = -1;

	for (at = str_find(draft, STR(",\"rev\":"), 0); at >= 0;
	     at = str_find(draft, STR(",\"rev\":"), (size_t)at + 1))
		last = at;
	buf_add_str(out, last < 0 ? draft : str_make(draft.p, (size_t)last));
	buf_adds(out, last < 0 ? "" : "}");
}

/* Columns as those of a claim. A raise has no vote, but an event behind that of the claim. */
static void ask_draft(struct team_question *q, uint64_t fence, struct str bytes)
{
	static const char *const sql[] = {
		"select outcome, who, 0, null::timestamptz "
		"from gavel.decide($1::bigint, $2::bigint, $3, $4, $5)",
		"select case when exists (select from gavel.vote v where v.item = $1::bigint and "
		"v.who = session_user and v.rev = $3 and v.verb = $4 and v.draft = $5) "
		"then 'mine' else 'none' end, $2::text, 0, null::timestamptz",
		"select gavel.escalate($1::bigint, $2::bigint, $3), '', 0, null::timestamptz",
		"select case when exists (select from gavel.event c join gavel.event r "
		"on r.item = c.item and r.n > c.n where c.item = $1::bigint and c.what = 'claimed' and "
		"c.note = $2 and r.what = 'raised' and r.who = session_user) "
		"then 'mine' else 'none' end, $3::text, 0, null::timestamptz",
	};
	struct team_inbox *t = q->t;
	struct str verb, rev, words;
	struct store_request r = { .n = 5 };
	yyjson_val *root = NULL;
	struct buf draft = { 0 };
	bool raises;

	add_draft(bytes, &draft);
	if (json_read(&t->json, str_trim(bytes), &root) != JSON_OK)
		root = NULL;
	verb = json_get_str(root, "verb");
	rev = json_get_str(root, "rev");
	words = json_get_str(root, "explanation");
	raises = str_is(verb, "escalate");
	r.sql = sql[2 * raises + (q->what == TEAM_LOOK)];
	r.values[0] = store_number(q->item);
	r.values[1] = store_number((int64_t)fence);
	r.values[2] = store_text(raises ? words.p ? words : STR("") : rev.p ? rev : STR(""));
	r.values[3] = store_text(verb.p ? verb : STR(""));
	r.values[4] = store_text(buf_str(&draft));
	r.n = raises ? 3 : 5;
	send_question(q, &r);
	buf_release(&draft);
}

/* What a protocol says in one message waits for all of it, unless a person sends what there is: that is
 * what sending here means. */
void team_dispatch(struct team_inbox *t)
{
	for (uint32_t i = 0; i < t->sent.n; i++) {
		struct store_request r = { .sql = "select gavel.dispatch_bundle($1::bigint)",
					   .values = { store_number(t->sent.v[i]) }, .n = 1 };

		store_ask(t->store, &r);
	}
	t->sent.n = 0;
}

/* ---- the channel's link ---- */

static struct team_inbox *inbox_of(const char *path)
{
	const char *hash = strrchr(path, '#');

	for (uint32_t i = 0; hash && teams && i < teams->list.n; i++) {
		struct team_inbox *t = teams->list.v[i];

		if (!t->url.source && str_eq(str_make(path, (size_t)(hash - path)), str_of(t->url.group)))
			return t;
	}
	return NULL;
}

static bool link_is_ready(void *ctx, const char *path, struct err *err)
{
	const struct team_inbox *t = inbox_of(path);
	struct store_status status;

	(void)ctx;
	if (!t) {
		err_set(err, "%.300s is in a team's inbox, which is not open; decide it there", path);
		return false;
	}
	if (t->stopped) {
		err_set(err, "%s", t->stopped);
		return false;
	}
	store_status(t->store, &status);
	if (status.state == STORE_READY)
		return true;
	err_set(err, "%s: no connection; resend it once there is one", t->url.group);
	return false;
}

static struct team_question *link_ask(void *ctx, const char *path, enum team_ask what, uint64_t fence,
				      struct str bytes)
{
	struct team_inbox *t = inbox_of(path);
	struct team_question *q;
	uint64_t item = 0;

	(void)ctx;
	str_to_u64(str_of(strrchr(path, '#') + 1), &item);
	q = new_question(t, what, (int64_t)item);
	if (what == TEAM_CLAIM)
		ask_claim(q);
	else
		ask_draft(q, fence, bytes);
	return q;
}

static const struct team_answer *link_wait(struct team_question *q, int timeout_ms)
{
	struct store *s = q->t->store;

	if (!q->answer.came)
		store_step(s, loop_now_ms());
	if (!q->answer.came) {
		struct loop_fd wait = store_fd(s);
		struct pollfd fd = { wait.fd, (short)(POLLIN | (wait.output ? POLLOUT : 0)), 0 };

		poll(&fd, 1, loop_sooner(timeout_ms, store_wait_ms(s, loop_now_ms())));
		store_step(s, loop_now_ms());
	}
	return &q->answer;
}

static void link_drop(struct team_question *q)
{
	q->dropped = true;
	if (q->answer.came)
		free_question(q);
}

void team_link_open(struct load *l)
{
	teams = &l->teams;
	team_link = (struct team_link){ link_is_ready, link_ask, link_wait, link_drop, NULL };
}

/* ---- keys ---- */

static bool is_connected(const struct team_inbox *t)
{
	struct store_status status;

	store_status(t->store, &status);
	return status.state == STORE_READY;
}

static struct team_item *find_item(struct load *l, uint32_t number, struct team_inbox **of)
{
	for (uint32_t i = 0; i < l->teams.list.n; i++) {
		struct team_item *item = team_item_of(l->teams.list.v[i], number);

		*of = l->teams.list.v[i];
		if (item)
			return item;
	}
	return NULL;
}

void team_claim(struct load *l, uint32_t number, bool quiet)
{
	struct team_inbox *t;
	struct team_item *item = find_item(l, number, &t);
	struct team_question *q;

	if (!item || (quiet && item->mark.mine))
		return;
	if (!is_connected(t)) {
		team_say(t, quiet ? "no connection: it is not claimed; what is decided is staged, to be sent "
					 "once there is one"
				  : "no connection: claims wait for the server");
		return;
	}
	q = new_question(t, TEAM_CLAIM, item->id);
	q->dropped = q->said = true;
	q->quiet = quiet;
	ask_claim(q);
}

static void take_release(void *ctx, const struct store_answer *a)
{
	struct team_inbox *t = ctx;

	if (!a->rows)
		team_say(t, "not released: %.*s", STR_ARG(a->why));
	t->due = true;
}

void team_unclaim(struct load *l, uint32_t number, bool quiet)
{
	struct team_inbox *t;
	struct team_item *item = find_item(l, number, &t);
	struct store_request r = {
		.sql = "select gavel.release($1::bigint, (select fence from gavel.item where id = $1::bigint))",
		.n = 1, .answered = take_release,
	};
	struct buf name = { 0 };

	if (!item)
		return;
	name_item(t, item->id, &name);
	if (!is_connected(t)) {
		team_say(t, "no connection: the claim lapses by itself");
	} else if (!item->mark.mine && !quiet) {
		team_say(t, "%s is not yours to release", name.p);
	} else {
		r.values[0] = store_number(item->id);
		r.ctx = t;
		store_ask(t->store, &r);
		if (item->mark.mine)
			item->mark.holder = STR_NONE;
		item->mark.mine = false;
		if (!quiet)
			team_say(t, "%s is released", name.p);
	}
	buf_release(&name);
}

static void take_settled(void *ctx, const struct store_answer *a)
{
	struct team_inbox *t = ctx;

	if (!a->rows)
		team_say(t, "not settled: %.*s", STR_ARG(a->why));
	else if (a->n && !store_int(a->rows, 0, 0))
		team_say(t, "it is not held any more, or on a level that you do not decide on");
	t->due = true;
}

void team_settle_held(struct load *l, uint32_t number, bool resend)
{
	struct team_inbox *t;
	struct team_item *item = find_item(l, number, &t);
	struct store_request r = { .sql = "select gavel.settle($1::bigint, $2)", .n = 2,
				   .answered = take_settled };

	if (!item)
		return;
	if (!is_connected(t)) {
		team_say(t, "no connection: what is held is settled when the server is back");
		return;
	}
	r.values[0] = store_number(item->id);
	r.values[1] = store_text(resend ? STR("resend") : STR("give_up"));
	r.ctx = t;
	store_ask(t->store, &r);
	team_say(t, resend ? "it is sent again" : "it is given up; the item is asked again if it waits");
}

/* ---- renewing ---- */

static void lose_claim(struct team_inbox *t, struct team_item *item)
{
	struct buf name = { 0 };

	item->mark.mine = false;
	vec_push(&t->fetch, item->id);
	name_item(t, item->id, &name);
	team_say(t, "your claim of %s was lost; claim it again to decide it", name.p);
	buf_release(&name);
}

static void take_beat(void *ctx, const struct store_answer *a)
{
	struct team_inbox *t = ctx;
	struct store_status status;

	store_status(t->store, &status);
	for (uint32_t i = 0; a->rows && i < a->n; i++) {
		struct team_item *item = team_item_by_id(t, store_int(a->rows, i, 0));

		if (!item)
			continue;
		item->beaten = false;
		item->mark.until_ms = store_time_ms(a->rows, i, 1) - status.clock_ms;
	}
	for (uint32_t i = 0; a->rows && i < t->items.n; i++) {
		struct team_item *item = t->items.v[i];

		if (item->beaten && item->mark.mine && item->state == TEAM_OPEN)
			lose_claim(t, item);
		item->beaten = false;
	}
}

static void beat(struct team_inbox *t)
{
	struct store_request r = {
		.sql = "select item, until from gavel.beat($1::text::bigint[], "
		       "$2::text::bigint[], $3::float8)",
		.n = 3, .answered = take_beat, .ctx = t,
	};
	struct buf ids = { 0 }, fences = { 0 };

	for (uint32_t i = 0; i < t->items.n; i++) {
		struct team_item *item = t->items.v[i];

		if (!item->mark.mine || item->state != TEAM_OPEN)
			continue;
		item->beaten = true;
		buf_printf(&ids, "%s%lld", ids.n ? "," : "{", (long long)item->id);
		buf_printf(&fences, "%s%llu", fences.n ? "," : "{", (unsigned long long)item->fence);
	}
	if (ids.n) {
		buf_addc(&ids, '}');
		buf_addc(&fences, '}');
		r.values[0] = store_text(buf_str(&ids));
		r.values[1] = store_text(buf_str(&fences));
		r.values[2] = store_number(lease_s(t));
		store_ask(t->store, &r);
	}
	buf_release(&ids);
	buf_release(&fences);
}

void team_claims_step(struct team_inbox *t, int64_t now_ms)
{
	static const struct store_request tick = { .sql = "select gavel.tick()" };

	if (now_ms >= t->beat_ms) {
		t->beat_ms = now_ms + 1000 * lease_s(t) / TEAM_BEATS;
		beat(t);
	}
	if (now_ms >= t->tick_ms) {
		t->tick_ms = now_ms + TEAM_TICK_MS;
		store_ask(t->store, &tick);
	}
	if (now_ms < t->claims_ms)
		return;
	/* renewing a claim is no event */
	t->claims_ms = now_ms + TEAM_CLAIMS_MS;
	for (uint32_t i = 0; i < t->items.n; i++) {
		const struct team_item *item = t->items.v[i];

		if (item->state == TEAM_OPEN && item->mark.holder.n && !item->mark.mine)
			vec_push(&t->fetch, item->id);
	}
}
