/* Inside the film only: its clocks, for moving in it. */
#ifndef GAVEL_APP_PLAYBACK_INTERNAL_H
#define GAVEL_APP_PLAYBACK_INTERNAL_H

#include "app/playback.h"

enum film_clock { FILM_CLOCK, FILM_PLAY }; /* the recording's, the one that is watched */

/* Makes the gaps; then what follows from them and from skip. */
void film_tell_clock(struct film *f);
void film_shorten(struct film *f);

/* Before a message; shortened as skip has it. */
int64_t film_gap_of(const struct film *f, uint32_t message);
int64_t film_shortened(const struct film *f, int64_t gap);
/* What the clock moves on by with a message, and where it is at one; before each stone. */
int64_t film_step(const struct film *f, enum film_clock clock, uint32_t message);
int64_t film_time_at(const struct film *f, enum film_clock clock, uint32_t message);
int64_t film_stone_at(const struct film *f, enum film_clock clock, uint32_t stone);
/* Where one is after the first k messages. */
double film_time_after(const struct film *f, enum film_clock clock, uint32_t k);

#endif
