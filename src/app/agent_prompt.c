/* Prompting, interrupting and setting the mode of the agents that gavel runs: which agent is
 * meant, and the line that its prompt is typed into. */
#include "app/app.h"
#include "app/commands.h"

static const struct life *life_named(const struct scene *s, struct str name)
{
	for (uint32_t i = 0; i < s->life_n; i++)
		if (str_eq(s->lives[i].group, name))
			return &s->lives[i];
	return NULL;
}

/* The agent on which a command without a name acts: the selected one, that of the selected item,
 * the only one; NULL = none of these. */
static const struct life *life_here(struct app *a)
{
	const struct model *m = a->scene.model;
	const struct pane *p = app_list(a);
	uint32_t item;

	if (a->scene.life_n == 1)
		return &a->scene.lives[0];
	if (a->tab == TAB_AGENTS && !a->screen_count)
		return p->selected < p->lines.list.n
			       ? agents_life(&a->scene, &p->lines, p->selected)
			       : NULL;
	item = app_item_here(a);
	if (item == NONE)
		return NULL;
	return life_named(&a->scene,
			  model_str(m, m->sessions.v[item_session(m, &m->items.v[item])].group));
}

/* The first word if it is an agent's name, which is then taken off; else the agent that is meant
 * here. */
static struct str take_agent(struct app *a, struct str *argument)
{
	struct str rest = *argument, word = str_first_word(&rest);
	const struct life *life = word.n ? life_named(&a->scene, word) : NULL;

	if (life)
		*argument = rest;
	else
		life = life_here(a);
	return life ? life->group : STR_NONE;
}

static void order(struct app *a, enum order_type type, struct str agent, struct str text)
{
	app_effect(a,
		   (struct effect){ EFFECT_AGENT, .order = { .type = type,
							     .agent = app_effect_dup(a, agent),
							     .text = app_effect_dup(a, text) } });
}

COMMAND(prompt_agent)
{
	struct str agent = take_agent(a, &argument);

	if (!a->scene.life_n) {
		app_say(a, ROLE_WARN,
			"gavel runs no agent here that could be prompted; gavel run "
			"starts one");
	} else if (!agent.n && a->scene.life_n > 1) {
		app_say(a, ROLE_WARN,
			"which agent? {agents} and select one, or :prompt AGENT TEXT");
	} else if (argument.n) {
		order(a, ORDER_PROMPT, agent, argument);
	} else {
		prompt_open(&a->prompt, PROMPT_AGENT, STR_NONE);
		prompt_name(&a->prompt, "prompt", agent, 1);
	}
}

/* number: ORDER_INTERRUPT or ORDER_MODE */
COMMAND(order_agent)
{
	struct str agent = take_agent(a, &argument);

	if (!agent.n && a->scene.life_n > 1)
		app_say(a, ROLE_WARN, "which agent? {agents} and select one, or name it");
	else
		order(a, (enum order_type)number, agent, argument);
}

void app_agent_prompted(struct app *a, struct str text)
{
	if (str_trim(text).n)
		order(a, ORDER_PROMPT, buf_str(&a->prompt.subject), text);
	else
		app_say(a, ROLE_DIM, "nothing is said");
}
