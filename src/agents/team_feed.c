/* Feeds a team's store from running agents. */
#include "agents/team_feed.h"

#include "draw/say.h"
#include "model/filter.h"

enum { BANNER_MS = 3000 }; /* without a connection */

static void tell(void *ctx, struct str line)
{
	struct team_feed *f = ctx;

	if (f->said)
		f->said(f->ctx, line);
	else
		app_say(&f->s->watch->app, ROLE_DIM, "%.*s", STR_ARG(line));
}

int team_feed_open(struct team_feed *f, struct supervisor *s, const char *address, struct err *err)
{
	const struct options *o = s->watch->options;
	struct shipper_settings settings = { .options = o, .config = &s->watch->config,
					     .url = &f->url, .said = tell, .ctx = f };

	f->s = s;
	if (team_url_parse(&f->url, address, err))
		return -1;
	if (f->url.source)
		return err_set(err, "?source= is for reading a store; each agent's capture is a source");
	if (o->items) {
		f->items = filter_new(str_of(o->items), TIME_NONE, err);
		if (!f->items)
			return -1;
	}
	settings.items = f->items;
	f->shipper = shipper_open(&s->watch->load, &settings, err);
	if (!f->shipper)
		return -1;
	buf_printf(&f->refusal, "the team decides: gavel %s", f->url.group);
	s->feed = f;
	return 0;
}

void team_feed_close(struct team_feed *f)
{
	shipper_close(f->shipper);
	filter_free(f->items);
	team_url_release(&f->url);
	buf_release(&f->refusal);
	if (f->s)
		f->s->feed = NULL;
	*f = (struct team_feed){ 0 };
}

static bool all_caught_up(const struct supervisor *s)
{
	for (uint32_t i = 0; i < s->supervised.n; i++)
		if (!s->supervised.v[i]->caught_up)
			return false;
	return s->supervised.n;
}

static uint64_t count_changes(const struct load *l)
{
	uint64_t n = 0;

	for (uint32_t i = 0; i < l->desks.list.n; i++)
		n += l->desks.list.v[i].changes;
	return n;
}

/* What an agent asked waits no more when it has ended. */
static void note_ends(struct team_feed *f)
{
	bool ended = !agent_set_running(&f->s->agents);

	if (ended != f->ended)
		shipper_look_again(f->shipper);
	f->ended = ended;
}

static void say_lost(struct team_feed *f, int64_t now_ms)
{
	struct store_status status;
	struct buf why = { 0 };

	shipper_status(f->shipper, &status);
	f->lost_ms = status.state == STORE_READY ? 0 : f->lost_ms ? f->lost_ms : now_ms;
	if (f->said && shipper_has_lost(f->shipper, now_ms, &why)) /* else the banner says it */
		say_error("%s", why.p);
	buf_release(&why);
}

bool team_feed_step(struct team_feed *f, int64_t now_ms)
{
	uint64_t before = count_changes(&f->s->watch->load);

	f->began = f->began || all_caught_up(f->s);
	if (!f->began)
		return false;
	note_ends(f);
	shipper_step(f->shipper, now_ms);
	say_lost(f, now_ms);
	return count_changes(&f->s->watch->load) != before;
}

int team_feed_wait_ms(const struct team_feed *f, int64_t now_ms)
{
	if (f->began)
		return shipper_wait_ms(f->shipper, now_ms);
	return all_caught_up(f->s) ? 0 : -1;
}

void team_feed_banner(const struct team_feed *f, int64_t now_ms, struct buf *out)
{
	const char *failure = shipper_failure(f->shipper);
	int64_t ms = now_ms - f->lost_ms;
	struct store_status status;

	if (failure)
		buf_adds(out, failure);
	if (failure || !f->lost_ms || ms < BANNER_MS)
		return;
	shipper_status(f->shipper, &status);
	buf_printf(out, "no connection to %s for %lld:%02d; what the team decides waits",
		   f->url.group, (long long)(ms / 60000), (int)(ms / 1000 % 60));
	if (status.why[0])
		buf_printf(out, ": %s", status.why);
}

bool team_feed_is_done(const struct team_feed *f)
{
	return f->began && f->ended == !agent_set_running(&f->s->agents) &&
	       !agent_set_behind(&f->s->agents) && supervisor_is_idle(f->s) &&
	       shipper_is_idle(f->shipper);
}

bool team_feed_refuses(const struct team_feed *f, const struct effect *e)
{
	switch (e->type) {
	case EFFECT_STAGE:
	case EFFECT_UNDO:
	case EFFECT_EXPLAIN:
	case EFFECT_EDIT_INPUT:
	case EFFECT_PLAN:
	case EFFECT_DROP:
	case EFFECT_DELIVER:
	case EFFECT_RECOVER:
	case EFFECT_RESEND:
	case EFFECT_GIVE_UP:
	case EFFECT_REPLY:
	case EFFECT_TELL:
		app_say(&f->s->watch->app, ROLE_WARN, "%s", f->refusal.p);
		return true;
	default: /* no decision */
		return false;
	}
}
