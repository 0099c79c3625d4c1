/* Confirmations of what cannot be undone: sending, quitting, giving up, corrections, stopping an
 * agent; and the keys that are dropped because they were typed for something else. */
#include "app/app.h"
#include "app/commands.h"

COMMAND(quit)
{
	uint32_t n = decide_staged(a);

	if (!n) {
		app_effect(a, (struct effect){ EFFECT_QUIT });
		return;
	}
	if (app_shows(a, &view_preflight))
		app_back(a); /* it offers y for sending */
	a->deciding.confirm = CONFIRM_QUIT;
	app_say(a, ROLE_KEY,
		a->deciding.keeps_nothing
			? "%u staged, not sent (the demo keeps nothing). y quits, {deliver} reviews"
			: "%u staged, not sent (kept). y quits, {deliver} reviews",
		n);
}

/* Confirmed: a y too many is not for what is shown next. */
static void send(struct app *a, struct effect e)
{
	a->deciding.sent = true;
	a->deciding.sent_ms = a->clock_ms;
	app_effect(a, e);
}

/* Sends the plan, after another y if its artifact has not changed or if it ends a turn with open
 * items. */
static void deliver_plan(struct app *a)
{
	const struct plan *plan = a->scene.plan;
	uint32_t same = 0, open = 0;

	for (uint32_t i = 0; i < plan->list.n; i++) {
		const struct proposal *p = &plan->list.v[i];

		same += p->needs_sure && !p->missing.n;
		open += p->missing.n ? 0 : p->leaves_open;
	}
	if (!same && !open) {
		send(a, (struct effect){ EFFECT_DELIVER, .sure = false });
		return;
	}
	a->deciding.confirm = same ? CONFIRM_SURE : CONFIRM_OPEN;
	if (!open)
		app_say(a, ROLE_KEY, "the artifact is the same as in the last turn; y again sends it "
				     "anyway");
	else
		app_say(a, ROLE_KEY, "%s%u other item%s the inbox undecided; y again sends it anyway",
			same ? "the artifact is the same as in the last turn, and " : "", open,
			open == 1 ? " leaves" : "s leave");
}

/* Asks once more if a message names the place. */
static void confirm_named(struct app *a)
{
	const struct plan *plan = a->scene.plan;
	char q[QUOTED_MAX];

	for (uint32_t i = 0; i < plan->list.n && plan->named.n; i++)
		if (!plan->list.v[i].missing.n) {
			a->deciding.confirm = CONFIRM_NAMED;
			app_say(a, ROLE_KEY, "path named by a message: %s; y again writes there",
				quoted(plan->list.v[i].letter.path, q));
			return;
		}
	deliver_plan(a);
}

static void do_confirmed(struct app *a, enum confirm what)
{
	struct deciding *d = &a->deciding;

	switch (what) {
	case CONFIRM_CORRECT: decide_prompt_or_stage(a, STR_NONE); break;
	case CONFIRM_UNSEEN: confirm_named(a); break;
	case CONFIRM_NAMED: deliver_plan(a); break;
	case CONFIRM_SURE: send(a, (struct effect){ EFFECT_DELIVER, .sure = true }); break;
	case CONFIRM_OPEN: send(a, (struct effect){ EFFECT_DELIVER, .sure = false }); break;
	case CONFIRM_QUIT: app_effect(a, (struct effect){ EFFECT_QUIT }); break;
	case CONFIRM_DOUBT:
		d->confirm = CONFIRM_GIVE_UP;
		app_say(a, ROLE_KEY, "if it did arrive, agents may act on both decisions; y again "
				     "abandons it");
		break;
	case CONFIRM_GIVE_UP:
		app_effect(a, (struct effect){ EFFECT_GIVE_UP, d->desk,
					       .letter = { d->letter, d->sure } });
		break;
	case CONFIRM_AGENT:
		app_effect(a, (struct effect){ EFFECT_AGENT,
					       .order = { .type = (enum order_type)d->order,
							  .agent = app_effect_dup(
								  a, buf_str(&d->agent)) } });
		break;
	case CONFIRM_LEAVE:
	case CONFIRM_NONE: break;
	}
}

void decide_confirm_leaving(struct app *a, uint32_t running)
{
	a->deciding.confirm = CONFIRM_LEAVE;
	app_say(a, ROLE_KEY, "%u agent%s: l leaves %s running, s stops %s, any other key cancels",
		running, running == 1 ? " runs" : "s run", running == 1 ? "it" : "them",
		running == 1 ? "it" : "them");
}

static void leave_agents(struct app *a, uint32_t key)
{
	if (key == 'l' || key == 's')
		app_effect(a, (struct effect){ EFFECT_QUIT, .leave = key == 'l' ? LEAVE_RUNNING
									      : LEAVE_STOPS });
}

/* y on the pre-flight page. */
static void confirm_plan(struct app *a)
{
	uint32_t unseen = preflight_unseen(a);

	if (!a->scene.plan->list.n) {
		app_say(a, ROLE_WARN,
			a->scene.plan->refused.n ? "this cannot be sent; {back} goes back"
						 : "nothing is left to send; {back} goes back");
		return;
	}
	if (!plan_can_send(a->scene.plan)) {
		app_say(a, ROLE_WARN, "this cannot be sent; {back} goes back");
		return;
	}
	if (!unseen) {
		confirm_named(a);
		return;
	}
	a->deciding.confirm = CONFIRM_UNSEEN;
	app_say(a, ROLE_KEY,
		"%u caution%s not been on the screen; {next} shows %s, y again sends anyway",
		unseen, unseen == 1 ? " has" : "s have", unseen == 1 ? "it" : "them");
}

static bool is_deliver_key(const struct app *a, uint32_t key)
{
	const struct binding *b = keymap_find(&a->keymap, key, ANYWHERE);

	return b && strcmp(b->command->name, "deliver") == 0;
}

/* Says in front of the refusal that keys are ignored, so that none is without any effect. */
static void say_ignoring(struct app *a)
{
	struct buf refusal = a->notice;

	a->notice = (struct buf){ 0 };
	buf_adds(&a->notice, "typing ignored (Esc): ");
	buf_add_str(&a->notice, buf_str(&refusal));
	buf_release(&refusal);
}

/* Whether a key was typed for the prompt that a refused verb did not open: all text is, until there
 * was a pause. Once some was dropped, Esc ends that and does nothing else. */
static bool is_typed_ahead(struct app *a, const struct key *key)
{
	struct deciding *d = &a->deciding;

	if (!d->refused || a->clock_ms - d->refused_ms >= REFUSED_DEAF_MS) {
		d->refused = false;
		return false;
	}
	if (key->code == KEY_ESCAPE) {
		d->refused = false;
		if (d->ignoring)
			app_say(a, ROLE_DIM, "keys are commands again");
		return d->ignoring;
	}
	if (key->code != KEY_ENTER && key->code != KEY_PASTE && key->code != KEY_BACKSPACE &&
	    (key->code < ' ' || key->code >= KEY_UP))
		return false;
	if (!d->ignoring)
		say_ignoring(a);
	d->ignoring = true;
	d->refused_ms = a->clock_ms;
	return true;
}

/* Whether a y was typed once more for the page that has just been sent. */
static bool is_one_too_many(struct app *a, const struct key *key)
{
	struct deciding *d = &a->deciding;

	if (!d->sent || a->clock_ms - d->sent_ms >= SENT_DEAF_MS) {
		d->sent = false;
		return false;
	}
	return key->code == 'y' && d->confirm == CONFIRM_NONE && !app_shows(a, &view_recovery);
}

bool decide_key(struct app *a, const struct key *key)
{
	struct deciding *d = &a->deciding;
	bool preflight = app_shows(a, &view_preflight);

	if (is_typed_ahead(a, key) || is_one_too_many(a, key))
		return true;
	/* text typed ahead or pasted was not meant for a page that was not there yet */
	if (preflight && (key->code == KEY_PASTE || a->clock_ms - d->opened_ms < PREFLIGHT_DEAF_MS))
		return true;
	if (preflight && key->code == 'y' && a->clock_ms - d->changed_ms < PREFLIGHT_DEAF_MS)
		return true;
	if (d->confirm == CONFIRM_UNSEEN && key->code != 'y')
		d->confirm = CONFIRM_NONE; /* the key goes on to the caution, or does what it does */
	if (d->confirm != CONFIRM_NONE) {
		enum confirm what = d->confirm;

		d->confirm = CONFIRM_NONE;
		buf_clear(&a->notice);
		if (what == CONFIRM_LEAVE)
			leave_agents(a, key->code);
		else if (key->code == 'y')
			do_confirmed(a, what);
		else if (what == CONFIRM_QUIT && is_deliver_key(a, key->code))
			run_deliver(a, STR_NONE, 0);
		return true;
	}
	if (preflight && key->code == 'y' && a->scene.plan) {
		confirm_plan(a);
		return true;
	}
	if (app_shows(a, &view_recovery) && key->code == 'y') {
		send(a, (struct effect){ EFFECT_RECOVER });
		return true;
	}
	return false;
}
