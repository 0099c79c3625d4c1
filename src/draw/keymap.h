/* Keymap: key bindings, from key to command. The default bindings come from the command table, the
 * user's are added on top. Key hints on the screen are expanded here ({command} → its key), so that
 * they show the binding in force. */
#ifndef GAVEL_DRAW_KEYMAP_H
#define GAVEL_DRAW_KEYMAP_H

#include "base/mem.h"
#include "draw/key.h"

struct app;

enum where { /* contexts in which a command is available */
	IN_LIST = 1 << 0,
	IN_SCREEN = 1 << 1,
	IN_TIMELINE = 1 << 2,
	IN_REPLAY = 1 << 3, /* its bindings take precedence */
	IN_AGENTS = 1 << 4, /* the list of agents */
	ANYWHERE = IN_LIST | IN_SCREEN,
};

/* What a command takes after its name, for completion. */
enum argument {
	ARGUMENT_NONE, /* nothing: an argument is refused */
	ARGUMENT_TEXT, /* what cannot be completed */
	ARGUMENT_COLUMN,
	ARGUMENT_AGENT,
	ARGUMENT_TASK,
	ARGUMENT_FILTER, /* all that follows */
	ARGUMENT_THEME,
	ARGUMENT_SCOPE,    /* task, agent or session, and */
	ARGUMENT_IN_SCOPE, /* the name of one */
};

struct app_command {
	const char *section; /* of the help */
	const char *name;
	const char *keys; /* default bindings, concatenated, in the syntax of key_parse */
	const char *help; /* expanded by keymap_text */
	unsigned where;
	void (*run)(struct app *a, struct str argument, int number);
	int number; /* passed to run */
	enum argument arguments[2];
};

struct binding {
	uint32_t key;
	const struct app_command *command;
	char *argument; /* may be NULL */
};

struct keymap {
	const struct app_command *commands; /* command_count of them */
	unsigned command_count;
	VEC(struct binding) list; /* the defaults in table order, then the user's */
};

void keymap_init(struct keymap *keys, const struct app_command *commands, unsigned n);
void keymap_release(struct keymap *keys);
/* Looks a command up by name or unambiguous prefix; *n: how many match. NULL if not exactly one. */
const struct app_command *keymap_command(const struct keymap *keys, struct str name, unsigned *n);
/* Binds a key to a command and its argument, which may be empty; command NULL unbinds the key. */
void keymap_bind(struct keymap *keys, uint32_t key, const struct app_command *command,
		 struct str argument);
/* The binding of a key in a context, or NULL. */
const struct binding *keymap_find(const struct keymap *keys, uint32_t key, unsigned where);

/* Appends text with each {command} replaced by the key that runs it: a, Enter, ^O; :command if none
 * is bound. Of several keys it is the first default still bound to the command, else the user's
 * first; {command <Key>} prefers that one. keys NULL: as if nothing were bound. */
void keymap_text(const struct keymap *keys, const char *text, struct buf *out);
/* The same for a printf format; arguments are not expanded. */
void keymap_printf(const struct keymap *keys, struct buf *out, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
void keymap_vprintf(const struct keymap *keys, struct buf *out, const char *format, va_list ap)
	__attribute__((format(printf, 3, 0)));

#endif
