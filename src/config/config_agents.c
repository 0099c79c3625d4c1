/* Agents of the configuration. One that is wrong in any part is left out: half an agent would run
 * with less, or more, than was meant. */
#include "config/config_agents.h"

#include "source/child.h"

#include <stdlib.h>

#define AGENT_PARTS "name, command, folder, env, role, capabilities"

static void drop(struct config_agent *a)
{
	free(a->name);
	free(a->folder);
	free(a->role);
	for (uint32_t i = 0; i < a->command.n; i++)
		free(a->command.v[i]);
	for (uint32_t i = 0; i < a->env.n; i++)
		free(a->env.v[i]);
	for (uint32_t i = 0; i < a->capabilities.n; i++)
		free(a->capabilities.v[i]);
	vec_release(&a->command);
	vec_release(&a->env);
	vec_release(&a->capabilities);
}

void config_drop_agents(struct config *c)
{
	for (uint32_t i = 0; i < c->agents.n; i++)
		drop(&c->agents.v[i]);
	vec_release(&c->agents);
}

static bool is_text(struct str s)
{
	return s.n && !memchr(s.p, 0, s.n);
}

static bool take_text(struct config_reading *r, yyjson_val *v, const char *name, const char *takes,
		      bool good, char **out)
{
	if (!good) {
		config_wrong(r, v, name, takes);
		return false;
	}
	free(*out);
	*out = str_dup(json_str(v));
	return true;
}

/* An array of texts; at least `least` of them. */
static bool take_list(struct config_reading *r, yyjson_val *array, const char *name,
		      const char *takes, size_t least, char ***list, uint32_t *count)
{
	VEC(char *) words = { 0 };
	yyjson_val *v;
	size_t i, n;
	bool good = yyjson_is_arr(array) && yyjson_arr_size(array) >= least &&
		    yyjson_arr_size(array) <= CONFIG_MEMBERS_MAX;

	if (good)
		yyjson_arr_foreach(array, i, n, v)
			good = good && yyjson_is_str(v) &&
			       (is_text(json_str(v)) || (least && i && !json_str(v).n));
	if (!good) {
		config_wrong(r, array, name, takes);
		return false;
	}
	yyjson_arr_foreach(array, i, n, v)
		vec_push(&words, str_dup(json_str(v)));
	*list = words.v;
	*count = words.n;
	return true;
}

#define TAKE_LIST(r, v, name, takes, least, vec) \
	take_list(r, v, name, takes, least, &(vec).v, &(vec).n)

static bool take_part(struct config_reading *r, yyjson_val *key, yyjson_val *v,
		      struct config_agent *a)
{
	struct str part = json_str(key);

	if (str_is(part, "name"))
		return take_text(r, v, "agents.name",
				 "up to 64 letters, digits, . _ and -, not a dot first",
				 child_name_is_valid(json_str(v)), &a->name);
	if (str_is(part, "command"))
		return TAKE_LIST(r, v, "agents.command",
				 "an array of a program and its arguments; no shell reads it", 1,
				 a->command);
	if (str_is(part, "folder"))
		return take_text(r, v, "agents.folder", "a path", is_text(json_str(v)), &a->folder);
	if (str_is(part, "role"))
		return take_text(r, v, "agents.role", "a word", is_text(json_str(v)), &a->role);
	if (str_is(part, "env"))
		return TAKE_LIST(r, v, "agents.env", "an array of names of variables", 0, a->env);
	if (str_is(part, "capabilities"))
		return TAKE_LIST(r, v, "agents.capabilities", "an array of words", 0,
				 a->capabilities);
	config_unknown(r, key, "part of an agent", AGENT_PARTS);
	return false;
}

static bool is_taken(const struct config *c, const char *name)
{
	for (uint32_t i = 0; i < c->agents.n; i++)
		if (strcmp(c->agents.v[i].name, name) == 0)
			return true;
	return false;
}

static void take_agent(struct config_reading *r, yyjson_val *object)
{
	struct config_place at = config_place_of(r, object);
	struct config_agent a = { .line = at.line, .column = at.column };
	yyjson_val *key, *v;
	size_t i, n;
	bool good = config_is_walkable(r, object, "an agent", "an object of " AGENT_PARTS), whole = good;

	if (good)
		yyjson_obj_foreach(object, i, n, key, v)
			if (config_is_repeated(r, object, key) || !take_part(r, key, v, &a))
				whole = false;
	if (whole && (!a.name || !a.command.n)) {
		config_complain(r, object, "an agent needs a name and a command");
		whole = false;
	} else if (whole && is_taken(r->c, a.name)) {
		config_complain(r, object, "two agents are called \"%s\"; the first one counts", a.name);
		whole = false;
	}
	if (whole)
		vec_push(&r->c->agents, a);
	else
		drop(&a);
}

void config_set_agents(struct config_reading *r, const struct setting *s, yyjson_val *array)
{
	yyjson_val *v;
	size_t i, n;

	if (!yyjson_is_arr(array) || yyjson_arr_size(array) > CONFIG_MEMBERS_MAX) {
		config_wrong(r, array, s->name, s->takes);
		return;
	}
	config_drop_agents(r->c);
	yyjson_arr_foreach(array, i, n, v)
		take_agent(r, v);
}
