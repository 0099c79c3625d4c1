/* Inside the playback only: its clocks, for moving in it. */
#ifndef GAVEL_APP_PLAYBACK_INTERNAL_H
#define GAVEL_APP_PLAYBACK_INTERNAL_H

#include "app/playback.h"

enum playback_clock { PLAYBACK_CLOCK, PLAYBACK_PLAY }; /* the recording's, the one that is watched */

/* Makes the gaps; then what follows from them and from skip. */
void playback_tell_clock(struct playback *f);
void playback_shorten(struct playback *f);

/* Before a message; shortened as skip has it. */
int64_t playback_gap_of(const struct playback *f, uint32_t message);
int64_t playback_shortened(const struct playback *f, int64_t gap);
/* What the clock moves on by with a message, and where it is at one; before each stone. */
int64_t playback_step(const struct playback *f, enum playback_clock clock, uint32_t message);
int64_t playback_time_at(const struct playback *f, enum playback_clock clock, uint32_t message);
int64_t playback_stone_at(const struct playback *f, enum playback_clock clock, uint32_t checkpoint);
/* Where one is after the first k messages. */
double playback_time_after(const struct playback *f, enum playback_clock clock, uint32_t k);

#endif
