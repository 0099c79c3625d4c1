/* Which key runs which command. The built-in keys come from the table of commands; the person's own
 * bindings come on top. Whatever names a key on the screen asks here, so that it names the one in
 * force. */
#ifndef GAVEL_DRAW_KEYMAP_H
#define GAVEL_DRAW_KEYMAP_H

#include "base/mem.h"
#include "draw/key.h"

struct app;

enum where { /* where a command makes sense */
	IN_LIST = 1 << 0,
	IN_SCREEN = 1 << 1,
	IN_TIMELINE = 1 << 2,
	IN_REPLAY = 1 << 3, /* its keys come before the others */
	ANYWHERE = IN_LIST | IN_SCREEN,
};

struct app_command {
	const char *section; /* of the help */
	const char *name;
	const char *keys; /* as key_parse reads them, one after the other */
	const char *help; /* as keymap_text reads it */
	unsigned where;
	void (*run)(struct app *a, struct str argument);
	int number; /* tells commands that share a function apart */
};

struct binding {
	uint32_t key;
	const struct app_command *command;
	char *argument; /* may be NULL */
};

struct keymap {
	const struct app_command *commands; /* command_count of them */
	unsigned command_count;
	VEC(struct binding) list; /* the built-in ones in the order of the table, then the person's */
};

void keymap_init(struct keymap *keys, const struct app_command *commands, unsigned n);
void keymap_release(struct keymap *keys);
/* The command of that name, or the only one that begins so; *n: how many do. */
const struct app_command *keymap_command(const struct keymap *keys, struct str name, unsigned *n);
/* Binds a key to a command with an argument, which may be empty; NULL unbinds the key. */
void keymap_bind(struct keymap *keys, uint32_t key, const struct app_command *command,
		 struct str argument);
/* What a key does there, NULL = nothing. */
const struct binding *keymap_find(const struct keymap *keys, uint32_t key, unsigned where);

/* Adds a text in which {command} stands for the key that runs it: a, Enter, ^O; :command if there is
 * none. Of several keys it is the first built-in one that is still bound to the command, else the
 * person's first; {command <Key>} prefers that one. keys NULL: as if nothing were bound. */
void keymap_text(const struct keymap *keys, const char *text, struct buf *out);
/* The same with a printf format; arguments are taken as they are. */
void keymap_printf(const struct keymap *keys, struct buf *out, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
void keymap_vprintf(const struct keymap *keys, struct buf *out, const char *format, va_list ap)
	__attribute__((format(printf, 3, 0)));

#endif
