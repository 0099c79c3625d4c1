/* Restores the terminal however the program ends: by BUG(), a terminating signal, a crash and,
 * through a small guardian process, SIGKILL.
 *
 * guard_open comes before the terminal is touched, guard_arm once it is changed, guard_disarm once
 * it is as before; guard_close stops guarding. If the program dies while armed, the restore
 * string is written to the terminal and its modes are reset, these only if they are still ours: the
 * shell may have reset them already.
 *
 * Terminating signals (SIGTERM, SIGHUP, SIGINT, SIGQUIT) that are already handled or ignored stay
 * so; install handlers of your own in any order, and end by exit(). Crashes (SIGSEGV, SIGABRT,
 * SIGBUS, SIGFPE, SIGILL, SIGSYS) are passed to the previous handler or the default action after
 * the terminal is restored. */
#ifndef GAVEL_TERM_GUARD_H
#define GAVEL_TERM_GUARD_H

#include "base/str.h"

#include <termios.h>

/* `out` is the terminal; the string is copied and truncated to 1 KiB. If the guardian cannot be
 * forked, everything but SIGKILL is still covered. */
void guard_open(int out, struct str restore);
void guard_arm(const struct termios *before, const struct termios *ours);
void guard_disarm(void);
void guard_close(void);
/* Restores now; for BUG() and signal handlers. Returns whether there was something to do. */
bool guard_restore(void);
/* Always false in a forked child, which must not restore the terminal. */
bool guard_is_armed(void);

#endif
