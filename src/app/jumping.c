/* Where one is (target, message, item), and the jumps from there: along a correlation, to the next
 * problem or error, and back. */
#include "app/app.h"
#include "app/commands.h"

struct target app_target_here(struct app *a)
{
	struct screen *s = app_screen(a);
	struct scene scene = app_list_scene(a);

	if (app_shows(a, &view_message))
		return (struct target){ TARGET_MESSAGE, s->message };
	if (app_shows(a, &view_item) || app_shows(a, &view_diff))
		return (struct target){ TARGET_ITEM, s->item };
	return pane_target(app_list(a), &scene);
}

/* The newest message of an agent, else the one that first names it. */
static uint32_t last_message_of(const struct scene *s, uint32_t agent)
{
	for (uint32_t i = s->k; i-- > s->model->agents.v[agent].first;)
		if (message_route(s->model, i)->from == agent)
			return i;
	return s->model->agents.v[agent].first;
}

uint32_t app_message_here(struct app *a)
{
	struct target t = app_target_here(a);
	struct task_state_at task;
	struct item_state at;

	switch (t.type) {
	case TARGET_NONE: break;
	case TARGET_MESSAGE:
	case TARGET_LOOP: return t.number;
	case TARGET_ITEM:
		return decide_state(a, t.number, &at) ? at.message : NONE;
	case TARGET_TASK:
		if (!task_at(a->scene.model, &a->scene.model->tasks.v[t.number], a->scene.k, &task))
			break;
		return task.given != NONE ? task.given : task.last;
	case TARGET_AGENT: return last_message_of(&a->scene, t.number);
	case TARGET_SESSION: return a->scene.model->sessions.v[t.number].first;
	}
	return NONE;
}

uint32_t app_item_here(struct app *a)
{
	struct screen *s = app_screen(a);
	struct target t = app_target_here(a);

	if (s && s->pane.text && !app_shows(a, &view_item) && !app_shows(a, &view_diff))
		return NONE;
	return t.type == TARGET_ITEM ? t.number : NONE;
}

uint32_t app_need_item(struct app *a)
{
	uint32_t item = app_item_here(a);

	if (item == NONE)
		app_say(a, ROLE_DIM, "no item is selected");
	return item;
}

void app_go_message(struct app *a, uint32_t message, bool stay)
{
	bool on_message = app_shows(a, &view_message);
	uint32_t line;

	if (!stay || a->tab != TAB_MESSAGES || a->screen_count > on_message)
		trail_push(a);
	app_show_tab(a, TAB_MESSAGES);
	app_refresh(a);
	line = app_message_line(a, message);
	if (line != NONE)
		pane_select(app_list(a), line);
	if (line == NONE || line + 1 < app_list(a)->lines.list.n)
		a->follows = a->select_last = false;
	if (line == NONE || on_message) /* the filter hides it from the list */
		app_open(a, (struct target){ TARGET_MESSAGE, message });
}

/* Says that the way to the next problem, or error, has wrapped around. */
static void say_around(struct app *a, uint32_t from, uint32_t at, int direction, const char *what)
{
	if (at == from)
		app_say(a, ROLE_DIM, "the only message with a%s %s", *what == 'e' ? "n" : "", what);
	else if (direction > 0 ? at < from : at > from)
		app_say(a, ROLE_DIM, "wrapped to the %s %s", direction > 0 ? "first" : "last", what);
}

/* The next message with a problem; with warnings false, with an error. */
static void problem_step(struct app *a, int direction, bool warnings)
{
	const struct model *m = a->scene.model;
	uint32_t k = a->scene.k, here = app_message_here(a), at;

	if (here == NONE)
		here = direction > 0 && k ? k - 1 : 0;
	for (uint32_t n = 1; n <= k; n++) {
		at = direction > 0 ? (here + n) % k : (here + k - n) % k;
		if (!m->records.v[at].errors && !(warnings && m->records.v[at].warnings))
			continue;
		app_go_message(a, at, true);
		say_around(a, here, at, direction, warnings ? "problem" : "error");
		return;
	}
	app_say(a, ROLE_DIM, warnings ? "no message has a problem" : "no message has an error");
}

COMMAND(problem_step) { problem_step(a, number, true); }

/* In a replay, to where the error comes. */
COMMAND(error_step)
{
	if (a->playback.model)
		run_mark_jump(a, argument, number * PLAYBACK_ERROR);
	else
		problem_step(a, number, false);
}

COMMAND(along)
{
	const struct model *m = a->scene.model;
	uint32_t here = app_message_here(a);

	if (here == NONE || !m->records.v[here].chain) {
		app_say(a, ROLE_DIM, "this message is not part of a correlation");
		return;
	}
	for (uint32_t n = 1; n < a->scene.k; n++) {
		uint32_t i = (here + n) % a->scene.k;

		if (m->records.v[i].chain == m->records.v[here].chain &&
		    message_route(m, i)->session == message_route(m, here)->session) {
			app_go_message(a, i, false);
			return;
		}
	}
	app_say(a, ROLE_DIM, "no other message of this correlation");
}

COMMAND(along_back)
{
	if (!trail_back(a))
		app_say(a, ROLE_DIM, "nowhere to go back to");
}
