/* Giving the terminal back however the program ends: by BUG(), by a signal that ends it, by a
 * crash, and, through a small guardian process, by SIGKILL.
 *
 * guard_open comes before the terminal is touched, guard_taken once it is changed, guard_given once
 * it is as before; guard_close ends the watch. Between taken and given a death of the program
 * writes the restore string to the terminal and sets its modes back, these only if they are still
 * ours: a shell may have been quicker.
 *
 * Signals that end a program (SIGTERM, SIGHUP, SIGINT, SIGQUIT) are left to whoever handles or
 * ignores them already; so install handlers of your own in any order, and end by exit(). Crashes
 * (SIGSEGV, SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGSYS) go on to the handler before ours, or to death
 * by that signal, after the terminal is restored. */
#ifndef GAVEL_TERM_GUARD_H
#define GAVEL_TERM_GUARD_H

#include "base/str.h"

#include <termios.h>

/* `out` is the terminal; the string is copied, and cut at an arbitrary 1 KiB. Without a guardian
 * (fork fails) everything else works all the same. */
void guard_open(int out, struct str restore);
void guard_taken(const struct termios *before, const struct termios *ours);
void guard_given(void);
void guard_close(void);
/* Restores now; for BUG() and signal handlers. Returns whether there was something to do. */
bool guard_restore(void);
/* Never in a child process: it has nothing to give back. */
bool guard_is_taken(void);

#endif
