/* Items of a team's inbox: claiming and releasing them. Whoever decides one claims it first, so that
 * two do not think about the same; what the store answers comes on the message line. */
#include "app/app.h"
#include "app/commands.h"
#include "view/view_parts.h"

bool decide_is_free(struct app *a, uint32_t item)
{
	const struct team_mark *mark = team_mark_of(a->scene.team, item);
	int64_t now = scene_clock(&a->scene);
	char left[32];

	if (now == TIME_NONE || !team_mark_is_taken(mark, now))
		return true;
	app_say(a, ROLE_WARN, "%.*s has claimed it, for another %s; nothing was staged",
		STR_ARG(mark->holder), timestamp_span(time_between(mark->until_ms, now), left));
	decide_refused(a);
	return false;
}

COMMAND(claim)
{
	uint32_t item = app_need_item(a);
	const struct team_mark *mark = item == NONE ? NULL : team_mark_of(a->scene.team, item);

	if (item == NONE)
		return;
	if (!mark)
		app_say(a, ROLE_WARN, "only what is in a team's inbox is claimed");
	else if (a->read_only)
		app_say(a, ROLE_WARN, "read-only: %s", a->read_only);
	else
		app_effect(a, (struct effect){ EFFECT_CLAIM,
					       .claim = { item, number > 0 || (!number && !mark->mine) } });
}

/* What the machine with the agents could not say for certain. */
static void settle(struct app *a, bool resend)
{
	uint32_t item = app_need_item(a);
	const struct team_mark *mark = item == NONE ? NULL : team_mark_of(a->scene.team, item);

	if (item == NONE)
		return;
	if (!mark || !str_is(mark->outcome, "held"))
		app_say(a, ROLE_WARN, "its decision is not held beside the agents");
	else if (a->read_only)
		app_say(a, ROLE_WARN, "read-only: %s", a->read_only);
	else
		app_effect(a, (struct effect){ EFFECT_TEAM_SETTLE, .claim = { item, resend } });
}

COMMAND(team)
{
	if (!a->scene.team)
		app_say(a, ROLE_WARN, "no team's inbox is open");
	else if (str_is(argument, "accept"))
		app_effect(a, (struct effect){ EFFECT_TEAM_ACCEPT });
	else if (str_is(argument, "resend") || str_is(argument, "give-up"))
		settle(a, str_is(argument, "resend"));
	else
		app_say(a, ROLE_ERROR, "team accept goes on with a store that went back; team resend "
				       "and team give-up settle what is held beside the agents");
}
