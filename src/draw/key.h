/* A key as the person pressed it, whatever bytes the terminal made of it. Plain characters are
 * their code point; keys without one are numbers beyond Unicode. */
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
	KEY_MOUSE,
	KEY_PASTE, /* pasted text, its lines ended by \n; never a command */

	KEY_ESCAPE = 0x1b,
	KEY_ENTER = '\r', /* newline comes as this too */
	KEY_TAB = '\t',
	KEY_BACKSPACE = 0x7f, /* ^H comes as this too */
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

/* The name as configuration, help and key files write it: "a", "<Enter>", "<C-d>", "<Up>",
 * "<lt>". */
void key_name(uint32_t code, struct buf *out);
/* The same as hints on the screen write it: "a", "Enter", "^D", "↑", "<". */
void key_label(uint32_t code, struct buf *out);
/* Takes one key off the front of s, as above; false, and nothing taken, at its end, on a control
 * character, and on a name nobody knows. Names are taken in any case, <x> means x for any one
 * character, and a control key is what it comes as: <C-m> is <Enter>. There is no name for a mouse
 * event or a paste. */
bool key_parse(struct str *s, uint32_t *code);
/* A control code as the key it stands for: newline is Enter, ^H is Backspace. */
uint32_t key_of_control(uint32_t c);

#endif
