/* The review in the UI: status line, plans of turns without decisions, and the commands retry,
 * give-up, stop and edit. */
#include "agents/review.h"

#include "loop/loop.h"

enum { TICK_MS = 1000 }; /* of the status line */

/* ---- status line ---- */

static void add_file(const struct reviewing *r, struct buf *out)
{
	const struct review_file *f = &r->artifact;
	const char *name = f->path ? strrchr(f->path, '/') : NULL;

	if (!f->path || !f->now.iteration)
		return;
	if (f->now.trouble)
		buf_printf(out, "  %s", f->now.trouble);
	else if (f->added || f->removed)
		keymap_printf(&r->watch.app.keymap, out, "  %s +%u -%u ({changes})",
			      name ? name + 1 : f->path, f->added, f->removed);
}

/* What to do after an answered turn. */
static void add_next(struct reviewing *r, struct buf *out)
{
	const struct model *m = &r->watch.load.model;
	const struct keymap *keys = &r->watch.app.keymap;
	uint32_t staged = desk_staged(review_desk(r)), due;
	uint32_t open = model_open(m, m->records.n, TIME_NONE, &due);

	if (staged)
		keymap_printf(keys, out, "  %u of %u decided, {deliver} starts the next turn",
			      staged, open);
	else if (open)
		keymap_text(keys, "  decide, then {deliver}", out);
	else
		keymap_text(keys,
			    r->envelope ? "  nothing is left to decide"
					: "  nothing is left to decide; {deliver} asks again",
			    out);
}

static void add_turn(struct reviewing *r, int64_t now_ms, struct buf *out)
{
	struct buf remedies = { 0 };

	keymap_text(&r->watch.app.keymap, "({retry}, {edit} edits, {give-up})", &remedies);
	turn_words(&r->turn, now_ms, remedies.p, out);
	buf_release(&remedies);
}

void review_show(struct reviewing *r, int64_t now_ms)
{
	struct app *a = &r->watch.app;
	uint32_t held = review_held(r);
	bool failed = turn_has_failed(&r->turn) || r->turn.state == TURN_REFUSED;

	buf_clear(&a->strip);
	a->strip_role = ROLE_ACCENT;
	if (held != NONE) {
		struct str why = review_desk(r)->letters.v[held].why;

		keymap_printf(&a->keymap, &a->strip,
			      "a turn could not start ({retry}, {give-up}): %.*s",
			      STR_ARG(why.n ? why : STR("recorded, not sent")));
		a->strip_role = ROLE_ERROR;
	} else if (failed && review_failure(r) == NONE) {
		buf_printf(&a->strip, "turn %lld was abandoned", (long long)r->turn.iteration);
		if (!r->envelope)
			keymap_text(&a->keymap, "; {deliver} asks again", &a->strip);
		add_file(r, &a->strip);
		a->strip_role = ROLE_WARN;
	} else {
		add_turn(r, now_ms, &a->strip);
		if (failed || r->turn.state == TURN_OTHER)
			a->strip_role = ROLE_ERROR;
		else if (turn_is_silent(&r->turn, now_ms))
			a->strip_role = ROLE_WARN;
		add_file(r, &a->strip);
		if (r->turn.state == TURN_ANSWERED)
			add_next(r, &a->strip);
	}
	if (!a->strip.n)
		buf_adds(&a->strip, "no turn yet");
}

/* The terms of the next plan: path and command line of its process, or why it cannot start. */
static void set_terms(struct reviewing *r)
{
	const struct keymap *keys = &r->watch.app.keymap;
	const char **words;
	struct arena arena = { 0 };

	buf_clear(&r->path);
	buf_clear(&r->to);
	buf_clear(&r->blocked);
	child_next_path(r->child, &r->path);
	words = turn_command(&arena, r->command, str_of(r->turn.session));
	for (uint32_t i = 0; words[i]; i++)
		buf_printf(&r->to, "%s%s", i ? " " : "", words[i]);
	arena_release(&arena);
	if (r->turn.state == TURN_RUNS)
		keymap_printf(keys, &r->blocked, "turn %lld is running; wait for it, or {stop} it",
			      (long long)r->turn.iteration);
	else if (review_held(r) != NONE)
		keymap_text(keys, "a turn before this one is held; {retry} it, or {give-up}",
			    &r->blocked);
	r->terms = (struct turn_terms){ .path = r->path.p, .to = buf_str(&r->to),
					.blocked = r->blocked.n ? r->blocked.p : NULL };
}

/* ---- turns without decisions ---- */

bool review_propose(void *ctx, const struct terms *t)
{
	struct reviewing *r = ctx;
	struct load *l = &r->watch.load;
	struct plan *p = &r->watch.decider.plan;
	bool again = r->again;

	set_terms(r);
	r->again = false;
	if (r->envelope || (!again && desk_staged(review_desk(r))))
		return false;
	plan_turn(p, review_desk(r), &l->model, &l->reader, t, review_session(r),
		  again ? TURN_AGAIN : TURN_NEXT);
	return true;
}

/* The first turn is delivered without a pre-flight page: the command line asked for it. */
static void begin_first(struct reviewing *r)
{
	struct load *l = &r->watch.load;
	struct decider *s = &r->watch.decider;
	struct terms terms;

	r->begin = false;
	set_terms(r);
	decider_clear_plan(s, &terms);
	if (r->envelope)
		plan_envelope(&s->plan, review_desk(r), &l->model, &l->reader, &terms, r->envelope);
	else
		plan_turn(&s->plan, review_desk(r), &l->model, &l->reader, &terms, NONE, TURN_NEXT);
	if (s->plan.list.v[0].missing.n) {
		app_say(s->app, ROLE_ERROR, "%.*s", STR_ARG(s->plan.list.v[0].missing.v[0]));
		return;
	}
	s->app->scene.plan = &s->plan;
	decider_confirm(s);
	vec_push(&r->watch.sending, (struct effect){ EFFECT_DELIVER });
}

/* ---- commands ---- */

static bool refuse_while_running(struct reviewing *r)
{
	if (r->turn.state == TURN_RUNS)
		app_say(&r->watch.app, ROLE_WARN, "turn %lld is running; wait for it, or {stop} it",
			(long long)r->turn.iteration);
	return r->turn.state == TURN_RUNS;
}

/* Readdresses a held letter to the process of the next turn. false: there is none. */
static bool resend_held(struct reviewing *r)
{
	struct desk *desk = review_desk(r);
	uint32_t held = review_held(r);
	struct err err;

	if (held == NONE)
		return false;
	set_terms(r);
	desk->recovered = true;
	if (desk_reroute(desk, held, buf_str(&r->path), &err) < 0)
		app_say(&r->watch.app, ROLE_ERROR, "%s", err.text);
	else
		vec_push(&r->watch.sending,
			 (struct effect){ EFFECT_RESEND, desk, .letter = { held } });
	return true;
}

static void retry(struct reviewing *r)
{
	struct app *a = &r->watch.app;
	uint32_t item = review_failure(r);

	if (refuse_while_running(r) || resend_held(r))
		return;
	if (item != NONE) {
		decide_item(a, item, VERB_ACCEPT, STR_NONE);
	} else if (r->turn.state == TURN_NONE) {
		r->begin = true;
	} else if (r->envelope) {
		app_say(a, ROLE_DIM, "nothing failed; decide the items, then {deliver}");
	} else {
		r->again = true;
		app_effect(a, (struct effect){ EFFECT_PLAN });
	}
}

static void give_up(struct reviewing *r)
{
	struct app *a = &r->watch.app;
	uint32_t item = review_failure(r), held = review_held(r);

	if (refuse_while_running(r))
		return;
	if (held != NONE)
		decider_give_up(&r->watch.decider, review_desk(r), held, false);
	else if (item == NONE)
		app_say(a, ROLE_DIM, "nothing failed");
	else if (r->envelope)
		decide_item(a, item, VERB_REJECT, STR("abandoned: the turn failed"));
	else
		decide_item(a, item, VERB_DISMISS, STR_NONE);
}

static void stop(struct reviewing *r)
{
	if (r->turn.state != TURN_RUNS) {
		app_say(&r->watch.app, ROLE_DIM, "no turn is running");
		return;
	}
	r->stopped = true;
	child_stop(r->child, loop_now_ms(), 0);
	app_say(&r->watch.app, ROLE_WARN, "turn %lld is being stopped",
		(long long)r->turn.iteration);
}

static void edit(struct reviewing *r)
{
	if (r->artifact.path)
		app_effect(&r->watch.app,
			   (struct effect){ EFFECT_EDIT,
					    .edit = { .file = r->artifact.path, .is_own = true } });
	else
		app_say(&r->watch.app, ROLE_DIM,
			"no artifact under review; --artifact FILE names one");
}

static void (*const turn_actions[])(struct reviewing *r) = {
	[TURN_RETRY] = retry,
	[TURN_GIVE_UP] = give_up,
	[TURN_EDIT] = edit,
};

static bool on_effect(void *ctx, struct effect *e)
{
	struct reviewing *r = ctx;

	switch (e->type) {
	case EFFECT_TURN: turn_actions[e->turn](r); return true;
	case EFFECT_AGENT:
		if (e->order.type == ORDER_STOP)
			stop(r);
		else
			app_say(&r->watch.app, ROLE_DIM,
				"a review has turns; {retry} starts one again");
		return true;
	case EFFECT_RECOVER:
		if (app_screen(&r->watch.app) &&
		    app_screen(&r->watch.app)->pane.view == &view_recovery)
			app_back(&r->watch.app);
		return resend_held(r);
	case EFFECT_RESEND: return !refuse_while_running(r) && resend_held(r);
	case EFFECT_QUIT:
		if (r->turn.state != TURN_RUNS || r->warned)
			return false;
		if (!r->watch.headless) {
			r->stays = e->leave == LEAVE_RUNNING;
			if (e->leave == LEAVE_ASKS)
				decide_confirm_leaving(&r->watch.app, 1);
			return e->leave == LEAVE_ASKS;
		}
		r->warned = true;
		app_say(&r->watch.app, ROLE_KEY,
			"turn %lld is running; {quit} again stops it and quits",
			(long long)r->turn.iteration);
		return true;
	default: return false;
	}
}

static void on_tick(void *ctx, int64_t now_ms)
{
	struct reviewing *r = ctx;
	struct app *a = &r->watch.app;

	if (r->begin && review_desk(r)->access == DESK_WRITES)
		begin_first(r);
	review_tick(r, now_ms);
	if (review_file_reload(&r->artifact))
		app_decided(a); /* updates the view of changes */
	review_show(r, now_ms);
	set_terms(r);
	if (r->leaving && r->turn.state != TURN_RUNS)
		r->watch.quit = true;
}

static int on_wait(void *ctx, int64_t now_ms)
{
	struct reviewing *r = ctx;

	(void)now_ms;
	if (r->begin && review_desk(r)->access == DESK_WRITES)
		return 0;
	return TICK_MS;
}

static bool on_leave(void *ctx, int64_t now_ms)
{
	struct reviewing *r = ctx;

	if (r->turn.state != TURN_RUNS || r->stays)
		return true;
	r->leaving = r->stopped = true;
	child_stop(r->child, now_ms, 0);
	return false;
}

const struct watch_ops review_ops = { .tick = on_tick, .wait_ms = on_wait, .effect = on_effect,
				      .leave = on_leave };
