/* Key codes and key names. A character's code is its code point; keys without one have numbers
 * beyond Unicode. term/keys.h decodes them from the terminal's bytes. */
#ifndef GAVEL_DRAW_KEY_H
#define GAVEL_DRAW_KEY_H

#include "base/buf.h"
#include "base/str.h"

enum {
	KEY_UP = 0x200000,
	KEY_DOWN,
	KEY_LEFT,
	KEY_RIGHT,
	KEY_HOME,
	KEY_END,
	KEY_PAGE_UP,
	KEY_PAGE_DOWN,
	KEY_INSERT,
	KEY_DELETE,
	KEY_BACKTAB,
	KEY_F1, /* F2 is KEY_F1 + 1 … up to F12 */
	KEY_F12 = KEY_F1 + 11,
	KEY_SHIFT_LEFT,
	KEY_SHIFT_RIGHT,
	KEY_MOUSE,
	KEY_PASTE, /* bracketed paste, lines end in \n; never a command */

	KEY_ESCAPE = 0x1b,
	KEY_ENTER = '\r', /* also for newline */
	KEY_TAB = '\t',
	KEY_BACKSPACE = 0x7f, /* also for ^H */
	/* Ctrl with a letter is its control code: KEY_CTRL('D') */
};

#define KEY_CTRL(letter) ((letter) & 0x1f)

enum mouse_what {
	MOUSE_PRESS,
	MOUSE_RELEASE,
	MOUSE_DRAG,
	MOUSE_WHEEL_UP,
	MOUSE_WHEEL_DOWN,
};

struct key {
	uint32_t code;
	/* KEY_MOUSE: */
	enum mouse_what mouse;
	int row, col, button; /* from 0; button 1 = left */
	/* KEY_PASTE: lent until the next key */
	struct str text;
};

/* Appends the name used in the configuration, help and key files: "a", "<Enter>", "<C-d>", "<Up>",
 * "<lt>". */
void key_name(uint32_t code, struct buf *out);
/* Appends the name used in hints on the screen: "a", "Enter", "^D", "↑", "<". */
void key_label(uint32_t code, struct buf *out);
/* Parses one key name at the front of s and advances s; false, without advancing, at the end, on a
 * control character and on an unknown name. Names are case-insensitive, <x> means x for any one
 * character, and control keys are normalised: <C-m> is <Enter>. Mouse and paste have no name. */
bool key_parse(struct str *s, uint32_t *code);
/* Normalises a control code: newline is Enter, ^H is Backspace. */
uint32_t key_of_control(uint32_t c);

#endif
