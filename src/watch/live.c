/* Following in the UI: rate-limited updates of the views, announcements of new items and of
 * deadlines. */
#include "watch/live.h"

#include "loop/loop.h"
#include "session/agent_set.h"
#include "view/view_parts.h"

enum {
	UPDATE_MS = 100,      /* minimum time between updates of the views */
	UPDATE_FACTOR = 20,   /* that time as a multiple of what drawing them takes */
	UPDATE_MAX_MS = 2000, /* upper limit of that */
	NEW_ITEM_MS = 20,     /* the same where a new item waits for a person: at least this, */
	NEW_ITEM_FACTOR = 4,  /* and at most UPDATE_MS */
	TICK_MS = 1000,     /* of countdowns */
	INCOMPLETE_BYTES = 1000,
	NOTICE_WORDS = 40, /* cells of an item's name in a notice */
};

/* A live log's messages are shown at their end. */
static void follow_unasked(struct app *a)
{
	a->follows = a->follows_unasked = a->select_last = true;
}

void live_begin(struct live *l, int64_t now_ms)
{
	l->on = l->load->live || l->agents;
	l->items = l->load->model.items.n;
	l->told_ms = l->ticked_ms = now_ms;
	if (!l->on)
		return;
	l->app->live = LIVE_ON;
	if (!l->agents && !l->load->teams.list.n &&
	    !load_is_recent(l->load, l->load->model.records.n))
		return;
	l->app->growth = GROWTH_LIVE;
	app_clock(l->app, timestamp_now_ms());
	if (!l->app->lists[TAB_MESSAGES].touched) /* else where the person has gone meanwhile */
		follow_unasked(l->app);
}

/* Timeout of the sources alone; 0 = there is more to read. */
static int quiet_ms(const struct live *l, int64_t now_ms)
{
	int wait = loop_sooner(load_wait_ms(l->load, now_ms), team_wait_ms(l->load, now_ms));

	return l->agents ? loop_sooner(wait, agent_set_wait_ms(l->agents, now_ms)) : wait;
}

static int64_t between(int64_t ms, int64_t least, int64_t most)
{
	return ms < least ? least : ms > most ? most : ms;
}

/* Time of the next update of the views; soon, if there are new items. */
static int64_t told_due(const struct live *l)
{
	if (l->load->model.items.n > l->items)
		return l->told_ms +
		       between(NEW_ITEM_FACTOR * l->spent_ms, NEW_ITEM_MS, UPDATE_MS);
	return l->told_ms + between(UPDATE_FACTOR * l->spent_ms, UPDATE_MS, UPDATE_MAX_MS);
}

static int until_ms(int64_t due_ms, int64_t now_ms)
{
	return due_ms > now_ms ? (int)(due_ms - now_ms) : 0;
}

int live_wait_ms(const struct live *l, int64_t now_ms)
{
	int wait;

	if (!l->on)
		return -1;
	wait = quiet_ms(l, now_ms);
	if (l->load->model.records.n != l->app->told && l->app->live != LIVE_PAUSED)
		wait = loop_sooner(wait, until_ms(told_due(l), now_ms));
	if (l->app->wall_ms != TIME_NONE)
		wait = loop_sooner(wait, until_ms(l->ticked_ms + TICK_MS, now_ms));
	return loop_sooner(wait, notices_wait_ms(&l->notices, now_ms));
}

/* Announces the newest open item on the message line, unless that is in use. */
static void announce_new(struct live *l)
{
	const struct app *a = l->app;
	const struct model *m = &l->load->model;
	uint32_t newest = NONE, n = 0;
	struct item_state at;
	struct buf name = { 0 };

	for (; l->items < m->items.n; l->items++)
		if (item_at(m, &m->items.v[l->items], a->scene.k, scene_clock(&a->scene), &at) &&
		    at.open) {
			newest = l->items;
			n++;
		}
	if (newest == NONE)
		return;
	notices_add(&l->notices, ITEM_OPENED, newest, n);
	if (a->prompt.kind != PROMPT_NONE || a->deciding.confirm != CONFIRM_NONE)
		return;
	item_at(m, &m->items.v[newest], a->scene.k, scene_clock(&a->scene), &at);
	add_item_words(&a->scene, &m->items.v[newest], &at, 2 * NOTICE_WORDS, &name);
	if (n > 1)
		app_say(l->app, ROLE_ACCENT, "%u new items, the last: %s \"%s\"", n,
			item_kind_name(m->items.v[newest].kind), name.p);
	else
		app_say(l->app, ROLE_ACCENT, "new %s: \"%s\"",
			item_kind_name(m->items.v[newest].kind), name.p);
	buf_release(&name);
}

/* Announces deadlines that came near or passed since the last tick. */
static void announce_deadlines(struct live *l, int64_t before_ms)
{
	const struct app *a = l->app;
	const struct model *m = &l->load->model;
	int64_t now = a->scene.now_ms;

	for (uint32_t i = 0; before_ms != TIME_NONE && i < m->dated.n; i++) {
		const struct item *item = &m->items.v[m->dated.v[i].item];
		int64_t near;
		struct item_state at;
		struct buf name = { 0 };
		char span[32];

		if (item_deadline(m, item, a->scene.k) < before_ms ||
		    !item_at(m, item, a->scene.k, now, &at) ||
		    (!at.open && at.verdict != VERDICT_EXPIRED && !item_is_passed_on(item, &at)))
			continue;
		near = item_near_ms(m, &at);
		if ((near < before_ms || near >= now) && at.deadline_ms >= now)
			continue;
		add_item_words(&a->scene, item, &at, NOTICE_WORDS, &name);
		notices_add(&l->notices, at.deadline_ms >= now ? ITEM_NEAR : ITEM_EXPIRED, m->dated.v[i].item, 1);
		if (at.deadline_ms >= now)
			app_say(l->app, ROLE_DUE, "\"%s\" expires in %s: then %s", name.p,
				short_span(time_between(at.deadline_ms, now), span),
				item_default(m, item));
		else
			app_say(l->app, ROLE_WARN, "\"%s\" expired: %s", name.p,
				item_default(m, item));
		buf_release(&name);
	}
}

static void tick(struct live *l, int64_t now_ms)
{
	int64_t before = l->app->scene.now_ms;

	if (l->app->wall_ms == TIME_NONE || now_ms - l->ticked_ms < TICK_MS)
		return;
	l->ticked_ms = now_ms;
	app_clock(l->app, timestamp_now_ms());
	announce_deadlines(l, before);
}

/* Whether the messages from `first` on were written just now. Without timestamps they count as
 * new. */
static bool is_live(const struct live *l, uint32_t first)
{
	const struct model *m = &l->load->model;

	if (load_is_recent(l->load, first))
		return true;
	for (uint32_t i = first; i < m->records.n; i++)
		if (m->records.v[i].time_ms != TIME_NONE)
			return false;
	return l->app->scene.now_ms == TIME_NONE;
}

/* Shows an unfinished last line after a delay. */
static void show_incomplete(struct live *l, int64_t now_ms)
{
	struct follow *live = l->load->live;
	uint32_t i = live ? follow_incomplete(live) : UINT32_MAX;
	struct str said = l->agents ? agent_set_incomplete(l->agents, now_ms) : STR_NONE;
	struct follow_status status;

	buf_clear(&l->incomplete);
	buf_add(&l->incomplete, said.p, said.n < INCOMPLETE_BYTES ? said.n : INCOMPLETE_BYTES);
	if (i != UINT32_MAX && !said.n) {
		follow_status(live, i, &status);
		if (now_ms - status.incomplete_since_ms >= FOLLOW_SHOWN_MS)
			follow_incomplete_text(live, i, INCOMPLETE_BYTES, &l->incomplete);
	}
	app_incomplete(l->app, buf_str(&l->incomplete));
}

/* Replies that cannot be shown yet: they answer something that has not come. */
static void add_waiting(const struct load *l, struct buf *banner)
{
	uint32_t n = conversation_waiting(l);

	if (n)
		buf_printf(banner, "%u repl%s in the reply file answer%s nothing in the log yet", n,
			   n == 1 ? "y" : "ies", n == 1 ? "s" : "");
}

/* Output that cannot be kept comes before all other trouble, and is said at once. */
static void show_banner(struct live *l, int64_t now_ms)
{
	struct app *a = l->app;
	bool waited = l->no_room, was_troubled = l->troubled;

	buf_clear(&a->banner);
	l->no_room = l->agents && agent_set_waits_for_room(l->agents, &a->banner);
	if (l->no_room && !waited)
		app_say(a, ROLE_ERROR, "%s", a->banner.p);
	else if (waited && !l->no_room)
		app_say(a, ROLE_OK, "disk space is back: the agents' output is kept again, all of "
				    "it");
	l->troubled = !l->no_room && l->load->live && (team_banner(l->load, now_ms, &a->banner) ||
						       follow_banner(l->load->live, now_ms, &a->banner));
	if (l->troubled && !was_troubled && a->notice_role != ROLE_ERROR)
		buf_clear(&a->notice); /* it would hide the trouble until a key is pressed */
	if (!l->no_room && l->load->live && !l->troubled)
		add_waiting(l->load, &a->banner);
}

/* Answers of a team's store, and what others do to what this person works on. */
static void show_news(struct live *l)
{
	struct buf news = { 0 };

	if (team_news(l->load, &news))
		app_say(l->app, ROLE_ACCENT, "%s", news.p);
	buf_release(&news);
}

/* Whether the item waits for a decision that is not even staged. */
static bool is_undecided(const struct live *l, uint32_t item)
{
	const struct model *m = &l->load->model;
	struct item_state at;

	return item_at(m, &m->items.v[item], m->records.n, TIME_NONE, &at) && at.open &&
	       at.delivery == DELIVERY_NONE;
}

/* The item of a team whose page is open is claimed, if the configuration says so, and released when the
 * person leaves the page without a decision; not one that they had claimed before. */
static void claim_page(struct live *l)
{
	const struct screen *s = app_screen(l->app);
	uint32_t item = s && s->pane.view == &view_item ? s->item : NONE;
	const struct team_mark *mark;

	if (item == l->page || !l->load->config || !l->load->config->team_claim_on_open || l->app->read_only)
		return;
	if (l->page_claimed && is_undecided(l, l->page))
		team_unclaim(l->load, l->page, true);
	l->page = item;
	mark = item == NONE ? NULL : team_mark_of(&l->load->teams.marks, item);
	l->page_claimed = mark && !mark->mine && is_undecided(l, item);
	if (l->page_claimed)
		team_claim(l->load, item, true);
}

/* What people reply does not make a log live. */
static void note_growth(struct live *l, uint32_t first)
{
	const struct model *m = &l->load->model;
	bool awaited = l->app->growth == GROWTH_AWAITED;

	if (l->agents)
		l->app->growth = agent_set_running(l->agents) ? GROWTH_LIVE : GROWTH_ENDED;
	for (uint32_t i = first; i < m->records.n && l->app->growth == GROWTH_AWAITED; i++)
		if (!message_reply(m, i))
			l->app->growth = GROWTH_LIVE;
	/* who looks at the list already is not taken away from there */
	if (awaited && l->app->growth == GROWTH_LIVE && !l->app->lists[TAB_MESSAGES].made)
		follow_unasked(l->app);
}

void live_take(struct live *l, int64_t now_ms)
{
	struct app *a = l->app;
	struct model *m = &l->load->model;
	uint32_t first = m->records.n, before = a->scene.k;

	if (!l->on)
		return;
	team_step(l->load, now_ms);
	load_step(l->load, now_ms, NULL, NULL);
	if (l->agents)
		agent_set_take(l->agents, now_ms, l->each, l->ctx);
	team_settle(l->load);
	claim_page(l);
	show_news(l);
	note_growth(l, first);
	if (m->records.n > first) {
		if (a->wall_ms == TIME_NONE && is_live(l, first))
			app_clock(a, timestamp_now_ms());
		if (a->wall_ms != TIME_NONE)
			model_arrived(m, first, timestamp_now_ms());
	}
	show_banner(l, now_ms);
	if (a->live != LIVE_PAUSED) {
		show_incomplete(l, now_ms);
		a->live = quiet_ms(l, now_ms) == 0 ? LIVE_BEHIND : LIVE_ON;
	}
	if (a->live != LIVE_PAUSED && m->records.n != a->told && now_ms >= told_due(l)) {
		l->told_ms = now_ms;
		l->spent_ms = 0;
		app_arrived(a, l->load->wire.bytes_done, l->load->wire.bytes_total, false);
		announce_new(l);
		decide_note_answered(a, before);
		decide_note_overtaken(a, before);
	}
	tick(l, now_ms);
	notices_tick(&l->notices, now_ms);
}
