/* The terminal. One file includes curses; nothing else writes to the terminal while it is open.
 *
 * term_open takes the terminal over, term_close gives it back; so does every way of dying: exit,
 * BUG(), SIGTERM, SIGHUP, SIGINT, SIGQUIT, crashes by handlers, SIGKILL by a small guardian process
 * that waits for its parent to vanish (term/guard.h tells how signals are shared with the caller).
 *
 * Left to the caller: on SIGWINCH call term_redraw, ask term_size, resize the grid and show it; on
 * SIGTSTP, and on the key ^Z, which arrives as a plain key, call term_suspend; on SIGCONT after a
 * stop that was not term_suspend's (SIGSTOP), call term_redraw.
 *
 * Besides cells and what terminfo describes, the terminal is sent bracketed paste on and off
 * (ESC [ ? 2004 h and l) and, if asked for, mouse reports (1002 and 1006), only where terminfo says
 * that it speaks ANSI. */
#ifndef GAVEL_TERM_TERM_H
#define GAVEL_TERM_TERM_H

#include "base/err.h"
#include "ui/paint.h"

struct term_look {
	const struct theme *theme; /* NULL = theme_mono: bold, underline and reverse only */
	bool ascii;
	bool mouse;
};

/* How many colours the terminal that TERM names has, for theme_find; 0 if none or unknown. Call it
 * before term_open. */
int term_colours(void);

/* Opens /dev/tty for keys when standard input is not the terminal. A theme with more colours than
 * the terminal has is shown in the nearest ones it has, in none by theme_mono. -1: err says why (no
 * terminal, TERM unknown or dumb) and what to do. Call setlocale before. */
int term_open(const struct term_look *look, struct err *err);
void term_close(void);
/* The descriptor that keys come from, for poll. */
int term_fd(void);
/* Reads what has come, never blocks. Returns bytes, 0 for none, -1 when the terminal is gone. */
int term_read(char *bytes, int room);
/* What the terminal says now; never below 1x1 nor beyond what a grid can be. */
void term_size(int *rows, int *cols);
/* Shows the grid: only what changed is sent. cursor_row < 0: no cursor. A grid of another size than
 * the terminal is cut, or leaves the rest blank. */
void term_show(const struct grid *g, int cursor_row, int cursor_col);
/* The next term_show sets the terminal's modes and draws everything anew (^L, after a resize). */
void term_redraw(void);
/* ^Z: gives the terminal back, stops the process group, takes it over again when continued. The
 * caller's handler for SIGTSTP is kept. -1: the terminal could not be taken over again. */
int term_suspend(struct err *err);
/* Gives the terminal to another program ($EDITOR) and takes it back. In between there are no keys,
 * and term_show and term_notice do nothing. -1: still left; close, or try again. */
void term_leave(void);
int term_enter(struct err *err);
/* Tells the person that something waits; bits of the ways to do so. The text is fixed: no word of a
 * message reaches the terminal this way. */
enum { NOTICE_BELL = 1 << 0, NOTICE_OSC9 = 1 << 1, NOTICE_OSC777 = 1 << 2 };
void term_notice(unsigned kinds);

#endif
