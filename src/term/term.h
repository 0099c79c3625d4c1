/* The terminal: raw mode, keys, screen output. Only term.c includes curses; nothing else writes to
 * the terminal while it is open.
 *
 * term_open takes the terminal over, term_close restores it; so does every other end: exit, BUG(),
 * SIGTERM, SIGHUP, SIGINT, SIGQUIT and crashes in signal handlers, SIGKILL in a small guardian
 * process that waits for its parent to die (term/guard.h: how signals are shared with the caller).
 *
 * The caller must: on SIGWINCH call term_redraw and term_size, resize the grid and show it; on
 * SIGTSTP and on the key ^Z, which arrives as a plain key, call term_suspend; on SIGCONT after a
 * stop that was not term_suspend's (SIGSTOP), call term_redraw.
 *
 * Besides cells and what terminfo describes, the terminal is sent bracketed paste on and off
 * (ESC [ ? 2004 h and l) and, if asked for, mouse reports (1002 and 1006), notices and copies (OSC),
 * only where terminfo says that it uses ANSI sequences. */
#ifndef GAVEL_TERM_TERM_H
#define GAVEL_TERM_TERM_H

#include "base/err.h"
#include "draw/paint.h"

struct term_look {
	const struct theme *theme; /* NULL = theme_mono: bold, underline and reverse only */
	bool ascii;
	bool mouse;
};

/* How many colours the terminal that TERM names has, for theme_find; 0 if none or unknown. Call it
 * before term_open. */
int term_colours(void);

/* Opens /dev/tty for keys when standard input is not the terminal. A theme with more colours than
 * the terminal has is mapped to the nearest ones, to theme_mono without any. -1: err says why (no
 * terminal, TERM unknown or dumb) and what to do. Call setlocale before. */
int term_open(const struct term_look *look, struct err *err);
void term_close(void);
/* The descriptor that keys come from, for poll. */
int term_fd(void);
/* Nonblocking read of input. Returns the number of bytes, 0 for none, -1 on hangup or error. */
int term_read(char *bytes, int room);
/* Current size; at least 1x1 and at most what a grid can hold. */
void term_size(int *rows, int *cols);
/* Shows the grid, sending only the difference. cursor_row < 0: no cursor. A grid larger than the
 * terminal is clipped; a smaller one leaves the rest blank. */
void term_show(const struct grid *g, int cursor_row, int cursor_col);
/* Makes the next term_show set the modes and redraw everything (^L, after a resize). */
void term_redraw(void);
/* Another theme from the next term_show on; it must last until the terminal is closed. */
void term_theme(const struct theme *theme);
/* ^Z: restores the terminal, stops the process group, takes the terminal over again when continued.
 * The caller's handler for SIGTSTP is kept. -1: the terminal could not be taken over again. */
int term_suspend(struct err *err);
/* Release the terminal to another program ($EDITOR) and take it back. In between term_read returns
 * nothing, and term_show and term_notice do nothing. -1: still released; close, or try again. */
void term_release_screen(void);
int term_acquire_screen(struct err *err);
/* Desktop notification or bell; kinds is a set of bits. The text is fixed: no text of a message
 * reaches the terminal this way. */
enum { NOTICE_BELL = 1 << 0, NOTICE_OSC9 = 1 << 1, NOTICE_OSC777 = 1 << 2 };
void term_notice(unsigned kinds);
/* Asks the terminal to put a text on the clipboard (OSC 52, in base64, so that no byte of the text
 * reaches the terminal as such). Nothing tells whether it did. tmux passes it on, or keeps it as a
 * buffer, with `set-clipboard on'. The caller limits the size. */
void term_copy(struct str text);

#endif
