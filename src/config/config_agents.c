/* Parser of the setting "agents". An agent with any invalid member is skipped: it would run with
 * less, or more, than was meant. */
#include "config/config_agents.h"

#include "source/child.h"

#include <stdlib.h>

#define AGENT_PARTS "name, command, prompt, mode, dialect, folder, env, role, capabilities, speaks"

static void agent_release(struct config_agent *a)
{
	free(a->name);
	free(a->folder);
	free(a->role);
	free(a->dialect);
	free(a->prompt);
	free(a->mode);
	config_free_words(&a->command);
	config_free_words(&a->env);
	config_free_words(&a->capabilities);
}

void config_free_agents(struct config *c)
{
	for (uint32_t i = 0; i < c->agents.n; i++)
		agent_release(&c->agents.v[i]);
	vec_release(&c->agents);
}

static bool is_text(struct str s)
{
	return s.n && !memchr(s.p, 0, s.n);
}

static bool read_text(struct config_reading *r, yyjson_val *v, const char *name, const char *takes,
		      bool valid, char **out)
{
	if (!valid) {
		config_invalid(r, v, name, takes);
		return false;
	}
	free(*out);
	*out = str_dup(json_str(v));
	return true;
}

/* Reads an array of at least `least` strings. Arguments of a command may be empty. */
static bool read_list(struct config_reading *r, yyjson_val *array, const char *name,
		      const char *takes, size_t least, char ***list, uint32_t *count)
{
	VEC(char *) words = { 0 };
	yyjson_val *v;
	size_t i, n;
	bool valid = config_is_array(array, least);

	if (valid)
		yyjson_arr_foreach(array, i, n, v)
			valid = valid && yyjson_is_str(v) &&
				(is_text(json_str(v)) || (least && i && !json_str(v).n));
	if (!valid) {
		config_invalid(r, array, name, takes);
		return false;
	}
	yyjson_arr_foreach(array, i, n, v)
		vec_push(&words, str_dup(json_str(v)));
	*list = words.v;
	*count = words.n;
	return true;
}

#define READ_LIST(r, v, name, takes, least, vec) \
	read_list(r, v, name, takes, least, &(vec).v, &(vec).n)

static bool read_speaks(struct config_reading *r, yyjson_val *v, struct config_agent *a)
{
	a->session = str_is(json_str(v), "session");
	if (a->session || str_is(json_str(v), "agent"))
		return true;
	config_invalid(r, v, "agents.speaks", "\"agent\" or \"session\"");
	return false;
}

static bool is_dialect(struct str s)
{
	return str_is(s, "claude") || str_is(s, "codex") || str_is(s, "acp") || str_is(s, "none");
}

static bool read_member(struct config_reading *r, yyjson_val *key, yyjson_val *v,
			struct config_agent *a)
{
	struct str part = json_str(key);

	if (str_is(part, "name"))
		return read_text(r, v, "agents.name",
				 "up to 64 letters, digits, . _ and -, not a dot first",
				 child_name_is_valid(json_str(v)), &a->name);
	if (str_is(part, "command"))
		return READ_LIST(r, v, "agents.command",
				 "an array of a program and its arguments; no shell reads it", 1,
				 a->command);
	if (str_is(part, "folder"))
		return read_text(r, v, "agents.folder", "a path", is_text(json_str(v)), &a->folder);
	if (str_is(part, "role"))
		return read_text(r, v, "agents.role", "a word", is_text(json_str(v)), &a->role);
	if (str_is(part, "prompt"))
		return read_text(r, v, "agents.prompt", "a text, or \"@FILE\"", is_text(json_str(v)),
				 &a->prompt);
	if (str_is(part, "mode"))
		return read_text(r, v, "agents.mode", "a mode, or several with commas",
				 is_text(json_str(v)), &a->mode);
	if (str_is(part, "dialect"))
		return read_text(r, v, "agents.dialect", "\"claude\", \"codex\", \"acp\" or \"none\"",
				 is_dialect(json_str(v)), &a->dialect);
	if (str_is(part, "speaks"))
		return read_speaks(r, v, a);
	if (str_is(part, "env"))
		return READ_LIST(r, v, "agents.env", "an array of names of variables", 0, a->env);
	if (str_is(part, "capabilities"))
		return READ_LIST(r, v, "agents.capabilities", "an array of words", 0,
				 a->capabilities);
	config_unknown_key(r, key, "part of an agent", AGENT_PARTS);
	return false;
}

static bool name_is_used(const struct config *c, const char *name)
{
	for (uint32_t i = 0; i < c->agents.n; i++)
		if (strcmp(c->agents.v[i].name, name) == 0)
			return true;
	return false;
}

static void read_agent(struct config_reading *r, yyjson_val *object)
{
	struct config_place at = config_place_of(r, object);
	struct config_agent a = { .line = at.line, .column = at.column };
	yyjson_val *key, *v;
	size_t i, n;
	bool valid = config_is_object(r, object, "an agent", "an object of " AGENT_PARTS);

	if (valid)
		yyjson_obj_foreach(object, i, n, key, v)
			if (config_is_repeated(r, object, key) || !read_member(r, key, v, &a))
				valid = false;
	if (valid && (!a.name || !a.command.n)) {
		config_error(r, object, "an agent needs a name and a command");
		valid = false;
	} else if (valid && name_is_used(r->c, a.name)) {
		config_error(r, object, "two agents are called \"%s\"; the first one counts",
			     a.name);
		valid = false;
	}
	if (valid)
		vec_push(&r->c->agents, a);
	else
		agent_release(&a);
}

void config_set_agents(struct config_reading *r, const struct setting *s, yyjson_val *array)
{
	yyjson_val *v;
	size_t i, n;

	if (!config_is_array(array, 0)) {
		config_invalid(r, array, s->name, s->takes);
		return;
	}
	config_free_agents(r->c);
	yyjson_arr_foreach(array, i, n, v)
		read_agent(r, v);
}
