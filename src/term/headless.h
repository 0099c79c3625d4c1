/* Headless driver in place of the terminal: plays keys and time from a key file, for tests and
 * scripts.
 *
 * A key file holds keys as typed, names in brackets for the others (draw/key.h), and
 *     <wait:300>          300 ms of the test clock pass; of the real clock where agents run
 *     <until:some text>   waits until the screen shows it; without agents it must already
 *     <until600:text>     the same, with a timeout of 600 seconds instead of 30
 *     <paste:some text>   bracketed paste, up to the >
 *     <click:ROW,COL>  <wheel-up:ROW,COL>  <wheel-down:ROW,COL>     the mouse, counted from 0
 * Line ends, and blanks at either end of a line, are not keys; blanks inside a line are. A comment
 * is a # at the start of a line, or one with blanks on both sides; there <#> is the key. */
#ifndef GAVEL_TERM_HEADLESS_H
#define GAVEL_TERM_HEADLESS_H

#include "base/err.h"
#include "draw/key.h"

enum { KEY_FILE_MAX_BYTES = 1 << 24, WAIT_MAX_MS = 1 << 30 };

/* One of key, wait_ms and until. */
struct headless_step {
	const struct key *key;
	int64_t wait_ms;
	struct str until; /* wait_ms is its timeout, 0 = the default */
};

/* Return false to stop here. */
typedef bool (*headless_fn)(void *ctx, const struct headless_step *step);

/* Reads the file ("-" = standard input), checks all of it, then calls step for each step. -1: err
 * says where and what. 0 also when step stopped early. */
int headless_run(const char *path, headless_fn step, void *ctx, struct err *err);
/* As above for a text in memory; name is for errors. */
int headless_play(struct str text, const char *name, headless_fn step, void *ctx, struct err *err);

#endif
