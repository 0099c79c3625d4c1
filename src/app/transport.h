/* The app as a player: what the transport's commands do to playback and scene. While the playback is open
 * every view looks through its cursor, and nothing can be decided. */
#ifndef GAVEL_APP_TRANSPORT_H
#define GAVEL_APP_TRANSPORT_H

#include "app/playback.h"
#include "draw/grid.h"
#include "draw/key.h"

struct app;

/* Why nothing can be decided while a playback is open; a sentence for the message line. */
extern const char *const replay_refusal;

/* Opens the playback on what has come so far, at its first message or where the scene is; closes it. */
void replay_open(struct app *a, bool from_start);
void replay_close(struct app *a);
/* Time passes; true: something has moved, and is to be drawn. */
bool replay_tick(struct app *a, int64_t clock_ms);
/* How long nothing moves, -1 = for ever. */
int replay_wait_ms(const struct app *a);
/* "10:15", "2026-01-26T10:15:00Z", "#340", "40%", "+30s", "-2m"; false: said on the message
 * line. */
bool replay_seek(struct app *a, struct str where);
/* A press or a drag on the bar; true: it was there. */
bool replay_mouse(struct app *a, const struct key *key);

/* The bar: how many rows it takes on a screen of that many, and drawing it. */
int replay_bar_rows(const struct app *a);
void replay_draw(struct app *a, struct grid *g, struct rect where);

/* The commands. */
void replay_toggle(struct app *a, struct str argument);
void replay_run_play(struct app *a, struct str argument);
void replay_run_step(struct app *a, struct str argument);
void replay_run_step_back(struct app *a, struct str argument);
void replay_run_faster(struct app *a, struct str argument);
void replay_run_slower(struct app *a, struct str argument);
void replay_run_speed(struct app *a, struct str argument);
void replay_run_minute(struct app *a, struct str argument);
void replay_run_minute_back(struct app *a, struct str argument);
void replay_run_next(struct app *a, struct str argument);
void replay_run_previous(struct app *a, struct str argument);
void replay_run_next_item(struct app *a, struct str argument);
void replay_run_previous_item(struct app *a, struct str argument);
void replay_run_next_decision(struct app *a, struct str argument);
void replay_run_previous_decision(struct app *a, struct str argument);
void replay_run_next_error(struct app *a, struct str argument);
void replay_run_previous_error(struct app *a, struct str argument);
void replay_run_next_iteration(struct app *a, struct str argument);
void replay_run_previous_iteration(struct app *a, struct str argument);
void replay_run_start(struct app *a, struct str argument);
void replay_run_end(struct app *a, struct str argument);
void replay_run_loop(struct app *a, struct str argument);
void replay_run_skip(struct app *a, struct str argument);
void replay_run_seek(struct app *a, struct str argument);
void replay_run_fork(struct app *a, struct str argument);

#endif
