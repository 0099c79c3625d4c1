/* Specifications of the agents that gavel run starts. */
#include "cmd/run_spec.h"
#include "agents/running.h"

#include "base/io.h"
#include "base/utf8.h"

#include <stdio.h>

enum { PROMPT_MAX_BYTES = 1 << 20, MODE_MAX_BYTES = 200 };

/* Default name of an agent: that of its program, without characters that names must not have. */
static void name_after(const char *program, char out[CHILD_NAME_MAX + 1])
{
	const char *base = strrchr(program, '/');
	size_t n = 0;

	for (base = base ? base + 1 : program; *base && n < CHILD_NAME_MAX; base++)
		if (child_name_takes(*base, n))
			out[n++] = *base;
	out[n] = '\0';
	if (!n)
		snprintf(out, CHILD_NAME_MAX + 1, "agent");
}

/* A name that no running agent has: NAME, else NAME-2, NAME-3 and so on. */
static const char *free_name(struct arena *arena, const char *name)
{
	struct running_agents r = { 0 };
	const char *found = name;

	running_find(&r);
	for (unsigned n = 2; running_named(&r, found); n++)
		found = arena_printf(arena, "%.*s-%u", CHILD_NAME_MAX - 8, name, n);
	running_release(&r);
	return found;
}

/* Names of the environment variables that an agent gets, from command line and configuration. */
static void add_env(struct arena *arena, const struct options *o, const struct config_agent *a,
		    struct supervisor_spec *spec)
{
	uint32_t n = 0, extra = a ? a->env.n : 0;
	const char **names = arena_zalloc(arena, (o->env.n + extra + 1) * sizeof(*names));

	for (uint32_t i = 0; i < o->env.n; i++)
		names[n++] = o->env.v[i];
	for (uint32_t i = 0; i < extra; i++)
		names[n++] = a->env.v[i];
	spec->child.env = names;
}

int read_prompt(struct arena *arena, const char *what, const char *given, struct str *out,
		struct err *err)
{
	struct buf text = { 0 };

	if (given[0] != '@') {
		buf_adds(&text, given);
	} else if (io_read_file(given + 1, PROMPT_MAX_BYTES, &text, err) < 0) {
		buf_release(&text);
		return -1;
	}
	*out = str_trim(arena_take(arena, &text));
	if (!out->n)
		return err_set(err, "%s: no words; give TEXT, or @FILE with some", what);
	return utf8_check(*out, what, err);
}

/* What is told to a real agent; each may be NULL. */
struct agent_words {
	const char *dialect, *mode, *prompt;
};

static int complete_mode(const char *mode, struct supervisor_spec *spec, struct err *err)
{
	struct str words = str_trim(str_of(mode));

	if (!words.n || words.n > MODE_MAX_BYTES)
		return err_set(err, "--mode: give the name of a mode");
	spec->about.mode = words;
	return utf8_check(words, "--mode", err);
}

/* What the program is known to need: its dialect, the flags for that, its mode and its prompt. */
static int complete(struct arena *arena, struct agent_words told, struct supervisor_spec *spec,
		    struct err *err)
{
	const struct known_agent *k = known_agent_of(spec->child.argv);

	if (told.dialect && !dialect_named(str_of(told.dialect), &spec->about.dialect))
		k = NULL; /* none */
	else if (told.dialect && k && k->dialect != spec->about.dialect)
		k = NULL;
	if (k) {
		spec->about.dialect = k->dialect;
		spec->child.argv = known_agent_argv(k, spec->child.argv, arena, err);
		if (!spec->child.argv)
			return -1;
	}
	if (!told.prompt && !told.mode)
		return 0;
	if (!driver_of(spec->about.dialect))
		return err_set(err,
			       "%s: gavel does not know how to prompt this program; "
			       "--dialect=claude, codex or acp says what it speaks",
			       spec->child.name);
	if (told.mode && complete_mode(told.mode, spec, err) < 0)
		return -1;
	return told.prompt ? read_prompt(arena, "--prompt", told.prompt, &spec->prompt, err) : 0;
}

int spec_of_command(struct arena *arena, struct options *o, struct supervisor_spec *out,
		    struct err *err)
{
	char name[CHILD_NAME_MAX + 1];

	*out = (struct supervisor_spec){ 0 };
	if (o->agents.n > 1)
		return err_set(err,
			       "--agent=%s: one command is one agent; the configuration can "
			       "name several",
			       o->agents.v[1]);
	name_after(o->words.v[0], name);
	vec_push(&o->words, NULL);
	out->child.name =
		free_name(arena, o->agents.n ? o->agents.v[0] : arena_printf(arena, "%s", name));
	out->child.argv = o->words.v;
	out->about.session = o->speaks_for_session;
	add_env(arena, o, NULL, out);
	return complete(arena, (struct agent_words){ o->dialect, o->mode, o->prompt }, out, err);
}

int spec_of_configured(struct arena *arena, const struct options *o, const struct config_agent *a,
		       struct supervisor_spec *out, struct err *err)
{
	const char **argv = arena_zalloc(arena, (a->command.n + 1) * sizeof(*argv));
	struct str *capabilities =
		arena_zalloc(arena, (a->capabilities.n + 1) * sizeof(*capabilities));

	*out = (struct supervisor_spec){
		.child = { .name = free_name(arena, a->name), .argv = argv, .folder = a->folder },
		.about = { .role = a->role ? str_of(a->role) : STR_NONE,
			   .capabilities = capabilities,
			   .capability_n = a->capabilities.n,
			   .session = a->session || o->speaks_for_session },
	};
	for (uint32_t i = 0; i < a->command.n; i++)
		argv[i] = a->command.v[i];
	for (uint32_t i = 0; i < a->capabilities.n; i++)
		capabilities[i] = str_of(a->capabilities.v[i]);
	add_env(arena, o, a, out);
	return complete(arena,
			(struct agent_words){ o->dialect ? o->dialect : a->dialect,
				       o->mode ? o->mode : a->mode,
				       o->prompt ? o->prompt : a->prompt },
			out, err);
}
