/* Private to playback*.c: the two clocks, the recording's and the shortened one. */
#ifndef GAVEL_APP_PLAYBACK_INTERNAL_H
#define GAVEL_APP_PLAYBACK_INTERNAL_H

#include "app/playback.h"

enum playback_clock { CLOCK_RECORDED, CLOCK_SHORTENED };

/* Computes the gaps from the timestamps. */
void playback_make_gaps(struct playback *p);
/* Computes what follows from the gaps and skip: checkpoints, length, number of shortened gaps. */
void playback_shorten(struct playback *p);

/* The gap before a message; a gap shortened according to skip. */
int64_t playback_gap_of(const struct playback *p, uint32_t message);
int64_t playback_shortened(const struct playback *p, int64_t gap);
/* By how much a message advances the clock; the clock at a message and at a checkpoint. */
int64_t playback_step(const struct playback *p, enum playback_clock clock, uint32_t message);
int64_t playback_time_at(const struct playback *p, enum playback_clock clock, uint32_t message);
int64_t playback_checkpoint_at(const struct playback *p, enum playback_clock clock, uint32_t i);
/* The clock after the first k messages. */
double playback_time_after(const struct playback *p, enum playback_clock clock, uint32_t k);

#endif
