/* Playback of a recorded session: position, clock, speed, loop, seeking. It draws nothing; the
 * views show the first k messages as ever.
 *
 * Timestamps of a recording cannot be trusted: they go back, stand still, jump by years, or are
 * missing. So the playback derives a monotonic clock. It advances by how far a message's time is
 * ahead of the latest one before it. A clock that was set back is followed again after
 * PLAYBACK_BACK_MESSAGES messages that are all behind; until then, and where senders disagree, time
 * stands still. Messages without a time are spread over the gap they lie in, at most a second
 * apart; before the first timestamp, after the last, and in a session whose time never advances,
 * messages are a second apart. So one wrong timestamp costs one gap, and any session can be played.
 *
 * With `skip`, gaps longer than idle_ms are shortened to that: positions in `play` are on the
 * shortened clock, positions in `clock` on the recording's.
 *
 * The position is after the first k messages, at now_ms. Between two messages now_ms is
 * interpolated, so countdowns run; on a message it is the newest believed time so far (model_now),
 * as with --at=#k. No clock expires anything in a playback. */
#ifndef GAVEL_APP_PLAYBACK_H
#define GAVEL_APP_PLAYBACK_H

#include "model/model.h"

enum {
	PLAYBACK_BACK_MESSAGES = 8,
	PLAYBACK_STEP_MS = 1000,  /* between messages without usable timestamps */
	PLAYBACK_IDLE_MS = 5000,  /* default of idle_ms */
	PLAYBACK_FRAME_MS = 33,
	PLAYBACK_CHECKPOINT = 1024, /* messages between checkpoints */
	PLAYBACK_WIDE = UINT16_MAX, /* in gaps: the gap is in `wide` */
};

enum playback_mark {
	PLAYBACK_MESSAGE, /* every one */
	PLAYBACK_ITEM,
	PLAYBACK_DECISION,
	PLAYBACK_ERROR,
	PLAYBACK_ITERATION,
	PLAYBACK_MARKS
};

/* Histogram of the replay bar: marks by column, for one width. */
struct playback_bar {
	int cols;
	uint32_t *n[PLAYBACK_MARKS];   /* by column */
	uint32_t most[PLAYBACK_MARKS]; /* the maximum */
	bool *skipped; /* a shortened gap ends in the column */
};

/* Running totals at every PLAYBACK_CHECKPOINT-th message, so that no lookup scans the whole log. */
struct playback_checkpoint {
	struct believed believed;
	int64_t clock_ms, play_ms; /* of the message before */
	uint32_t errors;
};

/* A gap that does not fit in 16 bits. */
struct playback_gap {
	uint32_t message;
	int64_t ms;
};

enum playback_loop { LOOP_NONE, LOOP_HALF, LOOP_ON }; /* LOOP_HALF: only its start is set */

struct playback {
	const struct model *model; /* NULL = not open */
	uint32_t end;     /* number of messages */
	uint8_t *marks;   /* by message: 1 << enum playback_mark */
	uint16_t *gaps;   /* by message: ms since the one before, or PLAYBACK_WIDE */
	VEC(struct playback_gap) wide; /* sorted by message */
	struct playback_checkpoint *checkpoints;
	bool skip;
	int64_t idle_ms, skipped_ms;
	int64_t length_ms; /* in `play` */
	uint32_t skips;    /* number of shortened gaps */
	struct playback_bar bar;

	uint32_t k;
	int64_t now_ms;    /* TIME_NONE before the first timestamp */
	double at_ms;      /* in `play` */
	bool playing;
	double speed;
	int64_t ticked_ms; /* clock of the last tick */
	enum playback_loop loop;
	double loop_from_ms, loop_to_ms;
};

/* Opens on the first n messages, positioned at the end; speed and skip survive from the previous
 * playback. The model may grow meanwhile, the playback does not. */
void playback_open(struct playback *p, const struct model *m, uint32_t n);
void playback_close(struct playback *p);
void playback_set_skip(struct playback *p, bool skip, int64_t idle_ms);

double playback_length_ms(const struct playback *p);
/* model_now of the first k messages, and the number of those with errors. */
int64_t playback_now(const struct playback *p, uint32_t k);
uint32_t playback_errors(const struct playback *p, uint32_t k);

void playback_seek(struct playback *p, uint32_t k);
/* To a position in `play`. */
void playback_seek_play(struct playback *p, double at_ms);
/* Relative, on the recording's clock. */
void playback_seek_by(struct playback *p, int64_t ms);
/* To a message timestamp, as --at=TIME. */
void playback_seek_time(struct playback *p, int64_t time_ms);
/* To just after the next or previous message with one of the marks; false = none. */
bool playback_jump(struct playback *p, unsigned marks, int direction);
/* Sets the start of a loop, then its end, then removes it. */
void playback_loop_here(struct playback *p);

/* `clock_ms` is any monotonic clock. */
void playback_play(struct playback *p, int64_t clock_ms);
/* Advances to the clock; true if it moved. Stops at the end. */
bool playback_tick(struct playback *p, int64_t clock_ms);
/* Milliseconds until the next tick is due; -1 = not playing. */
int playback_wait_ms(const struct playback *p);

/* "4", "0.5x": 0.1 to 1000. */
bool playback_parse_speed(struct str s, double *speed);

/* The bar for that many columns; cached until they or the clock change. */
const struct playback_bar *playback_bar(struct playback *p, int cols);
int playback_col(const struct playback *p, double at_ms, int cols);
double playback_at_col(const struct playback *p, int col, int cols);
/* By how much the gap before message k was shortened. */
int64_t playback_left_out(const struct playback *p, uint32_t k);

#endif
