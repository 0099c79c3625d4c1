/* Replay: the app as a player of a recorded session. While the playback is open, every view shows
 * the session as of the playback's position and nothing can be decided. */
#ifndef GAVEL_APP_REPLAY_H
#define GAVEL_APP_REPLAY_H

#include "app/playback.h"
#include "draw/grid.h"
#include "draw/key.h"

struct app;

/* Message-line text: why nothing can be decided while a playback is open. */
extern const char *const replay_refusal;

/* Opens the playback on the messages read so far, at the start or at the end. */
void replay_open(struct app *a, bool from_start);
/* Advances the playback to the clock; true if the screen must be redrawn. */
bool replay_tick(struct app *a, int64_t clock_ms);
/* Milliseconds until replay_tick has something to do, -1 = none. */
int replay_wait_ms(const struct app *a);
#define REPLAY_PLACES "a time such as 10:15, #N, a span such as +30s or -2m, or 40%%"

/* Whether it is a place as replay_seek takes it, in any recording. */
bool replay_is_place(struct str where);
/* Seeks to "10:15", "2026-01-26T10:15:00Z", "#340", "40%", "+30s" or "-2m"; false: syntax error,
 * reported on the message line. */
bool replay_seek(struct app *a, struct str where);
/* Handles a press or drag on the replay bar; false: not on the bar. */
bool replay_mouse(struct app *a, const struct key *key);

/* The replay bar (replay_bar.c): its height, 0 without a playback, and drawing it. */
int replay_bar_rows(const struct app *a);
void replay_draw(struct app *a, struct grid *g, struct rect where);

#endif
