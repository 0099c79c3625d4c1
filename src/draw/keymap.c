/* Key bindings: lookup by key, and expansion of {command} hints to the key that is bound. */
#include "draw/keymap.h"

#include "base/err.h"

#include <stdlib.h>

void keymap_init(struct keymap *keys, const struct app_command *commands, unsigned n)
{
	*keys = (struct keymap){ .commands = commands, .command_count = n };
	for (unsigned i = 0; i < n; i++) {
		struct str rest = str_of(commands[i].keys);
		uint32_t key;

		while (rest.n && key_parse(&rest, &key))
			vec_push(&keys->list, (struct binding){ key, &commands[i], NULL });
		if (rest.n)
			BUG("command %s: bad keys %s", commands[i].name, commands[i].keys);
	}
}

void keymap_release(struct keymap *keys)
{
	for (uint32_t i = 0; i < keys->list.n; i++)
		free(keys->list.v[i].argument);
	vec_release(&keys->list);
}

const struct app_command *keymap_command(const struct keymap *keys, struct str name, unsigned *n)
{
	const struct app_command *found = NULL;

	if (str_is(name, "q")) /* vi's :q; otherwise ambiguous with query */
		name = STR("quit");
	*n = 0;
	for (unsigned i = 0; name.n && i < keys->command_count; i++) {
		if (!str_starts(str_of(keys->commands[i].name), name))
			continue;
		found = &keys->commands[i];
		++*n;
		if (str_is(name, found->name))
			break;
	}
	return found && (*n == 1 || str_is(name, found->name)) ? found : NULL;
}

void keymap_bind(struct keymap *keys, uint32_t key, const struct app_command *command,
		 struct str argument)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < keys->list.n; i++)
		if (keys->list.v[i].key == key)
			free(keys->list.v[i].argument);
		else
			keys->list.v[kept++] = keys->list.v[i];
	keys->list.n = kept;
	if (command)
		vec_push(&keys->list,
			 (struct binding){ key, command, argument.n ? str_dup(argument) : NULL });
}

const struct binding *keymap_find(const struct keymap *keys, uint32_t key, unsigned where)
{
	const struct binding *found = NULL;

	for (uint32_t i = 0; i < keys->list.n; i++) {
		unsigned both = keys->list.v[i].command->where & where;

		if (keys->list.v[i].key != key || !both)
			continue;
		if (both & IN_REPLAY)
			return &keys->list.v[i];
		if (!found)
			found = &keys->list.v[i];
	}
	return found;
}

/* Exact lookup, fast because each frame expands many hints. */
static const struct app_command *command_named(const struct keymap *keys, struct str name)
{
	for (unsigned i = 0; name.n && i < keys->command_count; i++)
		if (keys->commands[i].name[0] == name.p[0] && str_is(name, keys->commands[i].name))
			return &keys->commands[i];
	return NULL;
}

/* The wanted key if it runs the command, else the first that does; 0 = none. */
static uint32_t key_of(const struct keymap *keys, const struct app_command *command,
		       uint32_t wanted)
{
	uint32_t first = 0;

	for (uint32_t i = 0; i < keys->list.n; i++) {
		const struct binding *b = &keys->list.v[i];

		if (b->command != command || b->argument)
			continue;
		if (b->key == wanted)
			return wanted;
		if (!first)
			first = b->key;
	}
	return first;
}

/* hint: "back" or "back <Esc>" */
static void add_key(const struct keymap *keys, struct str hint, struct buf *out)
{
	struct str wanted = hint, command = str_cut(&wanted, STR(" "));
	const struct app_command *c = keys ? command_named(keys, command) : NULL;
	uint32_t key = 0;

	if ((wanted.n && !key_parse(&wanted, &key)) || (keys && !c))
		BUG("key hint with unknown command or key: %.*s", STR_ARG(hint));
	key = c ? key_of(keys, c, key) : 0;
	if (key)
		key_label(key, out);
	else
		buf_printf(out, ":%.*s", STR_ARG(command));
}

/* format: the result is a printf format, so the key % is written %%. */
static void expand(const struct keymap *keys, struct str text, bool format, struct buf *out)
{
	ptrdiff_t open, close;

	while ((open = str_find(text, STR("{"), 0)) >= 0 &&
	       (close = str_find(text, STR("}"), (size_t)open)) >= 0) {
		buf_add(out, text.p, (size_t)open);
		add_key(keys, str_make(text.p + open + 1, (size_t)(close - open - 1)), out);
		if (format && out->p[out->n - 1] == '%')
			buf_addc(out, '%');
		text = str_from(text, (size_t)close + 1);
	}
	buf_add_str(out, text);
}

void keymap_text(const struct keymap *keys, const char *text, struct buf *out)
{
	expand(keys, str_of(text), false, out);
}

void keymap_vprintf(const struct keymap *keys, struct buf *out, const char *format, va_list ap)
{
	struct buf expanded = { 0 };

	expand(keys, str_of(format), true, &expanded);
	/* expand keeps the conversions of the format, which was checked at the call */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
	buf_vprintf(out, expanded.n ? expanded.p : "", ap);
#pragma GCC diagnostic pop
	buf_release(&expanded);
}

void keymap_printf(const struct keymap *keys, struct buf *out, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	keymap_vprintf(keys, out, format, ap);
	va_end(ap);
}
