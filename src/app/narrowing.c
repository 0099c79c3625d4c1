/* Narrowing: limits every view to one task with its revisions, one agent or one session. It is part
 * of the filter that the scene has, so that it combines with what was typed there. */
#include "app/app.h"
#include "app/commands.h"
#include "view/session_label.h"

static const struct {
	const char *word;
	enum target_type type;
} kinds[] = {
	{ "task", TARGET_TASK },
	{ "agent", TARGET_AGENT },
	{ "session", TARGET_SESSION },
};

enum { KINDS = sizeof(kinds) / sizeof(kinds[0]) };

static const char *kind_word(enum target_type type)
{
	for (unsigned i = 0; i < KINDS; i++)
		if (kinds[i].type == type)
			return kinds[i].word;
	return "";
}

static uint32_t count_of(const struct model *m, enum target_type type)
{
	return type == TARGET_TASK ? m->tasks.n : type == TARGET_AGENT ? m->agents.n : m->sessions.n;
}

/* Its name, empty while it does not exist as of k; *session: that it belongs to. */
static struct str name_of(const struct scene *s, struct target t, uint32_t *session)
{
	const struct model *m = s->model;

	*session = t.number;
	if (t.type == TARGET_SESSION)
		return m->sessions.v[t.number].first < s->k ? session_name(m, t.number) : STR_NONE;
	if (t.type == TARGET_AGENT) {
		*session = m->agents.v[t.number].session;
		return m->agents.v[t.number].first < s->k ? agent_name(m, t.number) : STR_NONE;
	}
	*session = m->tasks.v[t.number].session;
	if (!m->tasks.v[t.number].steps.n || m->tasks.v[t.number].steps.v[0].message >= s->k)
		return STR_NONE;
	return model_str(m, m->tasks.v[t.number].id);
}

void app_narrowed_words(const struct app *a, struct buf *out)
{
	struct target t = a->scene.narrowed;
	uint32_t session;

	if (t.type == TARGET_NONE)
		return;
	buf_printf(out, "%s ", kind_word(t.type));
	buf_add_str(out, t.type == TARGET_SESSION ? session_short(a->scene.model, t.number)
						  : name_of(&a->scene, t, &session));
}

void app_narrow(struct app *a, struct target target)
{
	struct buf typed = { 0 }, words = { 0 };
	char q[QUOTED_MAX];

	if (target.type == TARGET_TASK)
		target = target_task(&a->scene, target.number);
	app_cancel_list(a); /* its scene has the old filter */
	a->scene.narrowed = target;
	buf_add_str(&typed, buf_str(&a->filter_text));
	app_set_filter(a, buf_str(&typed));
	buf_release(&typed);
	a->narrowed_last = target.type != TARGET_NONE;
	app_narrowed_words(a, &words);
	if (a->narrowed_last)
		app_say(a, ROLE_DIM, "only %s; {back <Esc>} shows everything again",
			quoted(buf_str(&words), q));
	else
		app_say(a, ROLE_DIM, "everything is shown again");
	buf_release(&words);
}

/* ---- from a row or page ---- */

/* The task of which a message is a step, or NONE: items first, since they are sorted by message. */
static uint32_t task_of_message(const struct model *m, uint32_t message)
{
	uint32_t item = 0, n = m->items.n;

	bisect(item, n, i, m->items.v[i].steps[0].message < message)
	for (; item < m->items.n && m->items.v[item].steps[0].message == message; item++)
		if (item_task(m, &m->items.v[item]) != NONE)
			return item_task(m, &m->items.v[item]);
	for (uint32_t t = 0; t < m->tasks.n; t++) {
		uint32_t step = 0, end = m->tasks.v[t].steps.n;

		bisect(step, end, i, m->tasks.v[t].steps.v[i].message < message)
		if (step < m->tasks.v[t].steps.n && m->tasks.v[t].steps.v[step].message == message)
			return t;
	}
	return NONE;
}

/* Items and messages belong to a task, else to a session. */
static struct target owner_of(struct app *a, struct target t)
{
	const struct model *m = a->scene.model;
	uint32_t task, session;

	if (t.type == TARGET_ITEM) {
		task = item_task(m, &m->items.v[t.number]);
		session = item_session(m, &m->items.v[t.number]);
	} else {
		task = task_of_message(m, t.number);
		session = message_route(m, t.number)->session;
	}
	return task != NONE ? target_task(&a->scene, task) : target_session(session);
}

static struct target narrow_here(struct app *a)
{
	struct screen *s = app_screen(a);
	struct target t = app_target_here(a);

	if (s && s->page.type != TARGET_NONE)
		return s->page; /* whichever row is selected on it */
	if (target_scope(t) != SCOPE_NONE)
		return t;
	return t.type == TARGET_NONE ? t : owner_of(a, t);
}

/* ---- by name ---- */

/* "PK-2", or "SESSION/PK-2" where several sessions have one. */
static bool is_named(const struct scene *s, struct target t, struct str name)
{
	uint32_t session;
	struct str own = name_of(s, t, &session), in = session_name(s->model, session);

	if (!own.n)
		return false;
	return str_eq(own, name) ||
	       (t.type != TARGET_SESSION && name.n == in.n + 1 + own.n && str_starts(name, in) &&
		name.p[in.n] == '/' && str_ends(name, own));
}

static struct target find_named(const struct scene *s, enum target_type type, struct str name,
				uint32_t *n)
{
	struct target found = target_none;

	*n = 0;
	for (uint32_t i = 0; i < count_of(s->model, type); i++) {
		struct target t = { type, i };

		if (!is_named(s, t, name))
			continue;
		found = t;
		++*n;
	}
	return found;
}

static void narrow_to_name(struct app *a, struct str argument)
{
	struct str word = str_first_word(&argument);
	enum target_type type = TARGET_NONE;
	struct target found;
	char q[QUOTED_MAX];
	uint32_t n;

	for (unsigned i = 0; i < KINDS; i++)
		if (str_is(word, kinds[i].word))
			type = kinds[i].type;
	argument = str_trim(argument);
	if (type == TARGET_NONE || !argument.n) {
		app_say(a, ROLE_ERROR, "narrow task NAME, narrow agent NAME or narrow session NAME; "
				       "without any, to what is selected");
		return;
	}
	found = find_named(&a->scene, type, argument, &n);
	if (!n)
		app_say(a, ROLE_ERROR, "no %s is called %s; Tab completes", kind_word(type),
			quoted(argument, q));
	else if (n > 1)
		app_say(a, ROLE_ERROR, "%u %ss are called %s; select the one that is meant, or "
				       "name its session: SESSION/NAME", n, kind_word(type),
			quoted(argument, q));
	else
		app_narrow(a, found);
}

COMMAND(narrow)
{
	struct target t;

	if (argument.n) {
		narrow_to_name(a, argument);
		return;
	}
	t = narrow_here(a);
	if (t.type == TARGET_NONE)
		app_say(a, ROLE_DIM, "nothing is selected that the views could be narrowed to");
	else
		app_narrow(a, t);
}

COMMAND(widen)
{
	if (a->scene.narrowed.type == TARGET_NONE)
		app_say(a, ROLE_DIM, "the views are not narrowed");
	else
		app_narrow(a, target_none);
}

/* ---- completion ---- */

void app_narrow_complete(const struct app *a, struct str kind, struct completions *out)
{
	uint32_t session;

	for (unsigned k = 0; k < KINDS; k++) {
		if (!kind.n)
			completions_add(out, str_of(kinds[k].word));
		else if (str_is(kind, kinds[k].word))
			for (uint32_t i = 0; i < count_of(a->scene.model, kinds[k].type); i++)
				app_complete_name(out, name_of(&a->scene,
							       (struct target){ kinds[k].type, i },
							       &session));
	}
}
