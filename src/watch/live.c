/* Following, as the person sees it. */
#include "watch/live.h"

#include "session/agent_set.h"
#include "view/view_parts.h"

#include <stdio.h>

enum {
	TOLD_MS = 100,   /* the views are told of arrivals at most that often */
	TOLD_PART = 20,  /* and showing is at most that part of the time, */
	TOLD_MAX_MS = 2000, /* if that is not longer */
	TICK_MS = 1000,  /* countdowns move that often */
	INCOMPLETE_BYTES = 1000,
};

void live_begin(struct live *l, int64_t now_ms)
{
	int64_t newest = model_now(&l->load->model, l->load->model.records.n);

	l->on = l->load->live || l->agents;
	l->items = l->load->model.items.n;
	l->told_ms = l->ticked_ms = now_ms;
	if (!l->on)
		return;
	l->app->live = LIVE_ON;
	if (l->agents || timestamp_is_recent(newest))
		app_clock(l->app, timestamp_now_ms());
}

static int sooner(int a, int b)
{
	return a < 0 ? b : b < 0 ? a : a < b ? a : b;
}

/* How long nothing need be taken. */
static int quiet_ms(const struct live *l, int64_t now_ms)
{
	int wait = load_wait_ms(l->load, now_ms);

	return l->agents ? sooner(wait, agent_set_wait_ms(l->agents, now_ms)) : wait;
}

void live_showed(struct live *l, int64_t ms)
{
	l->spent_ms += ms;
}

/* When the views are to be told; of items that wait for a person, soon. */
static int64_t told_due(const struct live *l)
{
	int64_t pause = l->load->model.items.n > l->items ? 0 : TOLD_PART * l->spent_ms;

	return l->told_ms + (pause < TOLD_MS ? TOLD_MS : pause > TOLD_MAX_MS ? TOLD_MAX_MS : pause);
}

int live_wait_ms(const struct live *l, int64_t now_ms)
{
	int wait;

	if (!l->on)
		return -1;
	wait = quiet_ms(l, now_ms);
	if (l->load->model.records.n != l->app->told && l->app->live != LIVE_PAUSED)
		wait = sooner(wait, told_due(l) > now_ms ? (int)(told_due(l) - now_ms) : 0);
	if (l->app->wall_ms != TIME_NONE)
		wait = sooner(wait, l->ticked_ms + TICK_MS > now_ms
					    ? (int)(l->ticked_ms + TICK_MS - now_ms)
					    : 0);
	return wait;
}

static void notify(const struct live *l)
{
	if (l->notice && l->config->notices)
		l->notice(l->config->notices);
}

/* One sentence about the newest item that opened. */
static void tell_new(struct live *l)
{
	const struct app *a = l->app;
	const struct model *m = &l->load->model;
	uint32_t newest = NONE, n = 0;
	struct item_state at;
	struct detail d;
	char q[QUOTED_MAX];

	for (; l->items < m->items.n; l->items++)
		if (item_at(m, &m->items.v[l->items], a->scene.k, a->scene.now_ms, &at) && at.open) {
			newest = l->items;
			n++;
		}
	if (newest == NONE)
		return;
	notify(l);
	if (a->prompt.kind != PROMPT_NONE || a->deciding.confirm != CONFIRM_NONE)
		return; /* the line is in use */
	item_at(m, &m->items.v[newest], a->scene.k, a->scene.now_ms, &at);
	if (!l->load->reader.detail(l->load->reader.ctx, &m->items.v[newest], &at, &d))
		d.title = STR_NONE;
	if (n > 1)
		app_say(l->app, ROLE_ACCENT, "%u new items, the last: %s %s", n,
			item_kind_name(m->items.v[newest].kind), quoted(d.title, q));
	else
		app_say(l->app, ROLE_ACCENT, "new %s: %s", item_kind_name(m->items.v[newest].kind),
			quoted(d.title, q));
}

/* What is about to run out, and what has: between the last tick and this one. */
static void tell_deadlines(struct live *l, int64_t before_ms)
{
	const struct app *a = l->app;
	const struct model *m = &l->load->model;
	int64_t now = a->scene.now_ms;

	for (uint32_t i = 0; before_ms != TIME_NONE && i < m->dated.n; i++) {
		const struct item *item = &m->items.v[m->dated.v[i].item];
		int64_t near = item_near_ms(m, item);
		struct item_state at;
		struct buf name = { 0 };
		char span[32];

		if ((near < before_ms || near >= now) &&
		    (item_deadline(m, item) < before_ms || item_deadline(m, item) >= now))
			continue;
		if (!item_at(m, item, a->scene.k, now, &at) ||
		    (!at.open && at.verdict != VERDICT_EXPIRED))
			continue;
		item_name(m, item, &name);
		notify(l);
		if (at.open)
			app_say(l->app, ROLE_DUE, "%.*s expires in %s: then %s",
				STR_ARG(buf_str(&name)),
				short_span(time_between(item_deadline(m, item), now), span),
				item_default(m, item));
		else
			app_say(l->app, ROLE_WARN, "%.*s expired: %s", STR_ARG(buf_str(&name)),
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
	tell_deadlines(l, before);
}

/* Whether the messages from `first` on are of now. Where none tells a time, that it comes does. */
static bool comes_now(const struct live *l, uint32_t first)
{
	const struct model *m = &l->load->model;
	int64_t newest = TIME_NONE;

	for (uint32_t i = first; i < m->records.n; i++)
		if (m->records.v[i].time_ms > newest)
			newest = m->records.v[i].time_ms;
	return timestamp_is_recent(newest) ||
	       (newest == TIME_NONE && l->app->scene.now_ms == TIME_NONE);
}

/* A line without its end is shown once it has waited for a while. */
static void look_incomplete(struct live *l, int64_t now_ms)
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

void live_end(struct live *l)
{
	buf_release(&l->incomplete);
}

void live_take(struct live *l, int64_t now_ms)
{
	struct app *a = l->app;
	struct model *m = &l->load->model;
	uint32_t first = m->records.n;

	if (!l->on)
		return;
	load_step(l->load, now_ms, NULL, NULL);
	if (l->agents)
		agent_set_take(l->agents, now_ms, l->each, l->ctx);
	if (m->records.n > first) {
		if (a->wall_ms == TIME_NONE && comes_now(l, first))
			app_clock(a, timestamp_now_ms());
		if (a->wall_ms != TIME_NONE)
			model_arrived(m, first, timestamp_now_ms());
	}
	buf_clear(&a->banner);
	if (l->load->live)
		follow_banner(l->load->live, now_ms, &a->banner);
	if (a->live != LIVE_PAUSED)
		look_incomplete(l, now_ms);
	if (a->live != LIVE_PAUSED)
		a->live = quiet_ms(l, now_ms) == 0 ? LIVE_BEHIND : LIVE_ON;
	if (a->live != LIVE_PAUSED && l->load->model.records.n != a->told &&
	    now_ms >= told_due(l)) {
		l->told_ms = now_ms;
		l->spent_ms = 0;
		app_arrived(a, l->load->wire.bytes_done, l->load->wire.bytes_total, false);
		tell_new(l);
	}
	tick(l, now_ms);
}
