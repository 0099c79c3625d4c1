/* The playback: a session played again. It knows where in the session one is and how that moves; what
 * is seen there is the views' business, who look through the first k messages as ever.
 *
 * Time. A recording's clocks cannot be trusted: they go back, stand still, jump by years, or are
 * missing. The playback has a clock of its own, which never goes back. It moves on by what a message's
 * time is ahead of the latest one before it. A clock that was set back is followed again after
 * PLAYBACK_BACK_MESSAGES messages that are all behind; until then, and where senders disagree, time
 * stands still. Messages without a time are spread over the gap they lie in, at most a second
 * apart; before the first time and after the last, and in a session where time does not move at
 * all, messages are a second apart. So one wrong time costs one gap, and every playback can be watched.
 *
 * With `skip`, gaps longer than idle_ms are shortened to that: `play` is the clock one watches,
 * `clock` the recording's.
 *
 * Where one is: after the first k messages, at now_ms. Between two messages now goes on from the
 * one's time to the other's, so countdowns run; on a message it is the newest time up to there,
 * which is what --at=#k shows. */
#ifndef GAVEL_APP_PLAYBACK_H
#define GAVEL_APP_PLAYBACK_H

#include "model/model.h"

enum {
	PLAYBACK_BACK_MESSAGES = 8,
	PLAYBACK_STEP_MS = 1000,  /* between messages that no time tells apart */
	PLAYBACK_IDLE_MS = 5000,  /* longer gaps are shortened to this */
	PLAYBACK_FRAME_MS = 33,
	PLAYBACK_CHECKPOINT = 1024,
};

#define PLAYBACK_WIDE UINT16_MAX

enum playback_mark {
	PLAYBACK_MESSAGE, /* every one */
	PLAYBACK_ITEM,
	PLAYBACK_DECISION,
	PLAYBACK_ERROR,
	PLAYBACK_ITERATION,
	PLAYBACK_MARKS
};

/* How dense things are along the bar, for one width. */
struct playback_bar {
	int cols;
	uint32_t *n[PLAYBACK_MARKS]; /* by column */
	uint32_t most[PLAYBACK_MARKS];
	bool *skipped; /* a gap that was shortened ends there */
};

/* What holds as of every PLAYBACK_CHECKPOINT messages, so that no question walks the whole log. */
struct playback_checkpoint {
	int64_t now_ms;
	int64_t clock_ms, play_ms; /* of the message before */
	uint32_t errors;
};

/* A gap too long for the list of all of them. */
struct playback_gap {
	uint32_t message;
	int64_t ms;
};

enum playback_loop { LOOP_NONE, LOOP_HALF, LOOP_ON }; /* LOOP_HALF: its start is chosen */

struct playback {
	const struct model *model; /* NULL = not open */
	uint32_t end;     /* messages in it */
	uint8_t *marks;   /* by message: 1 << enum playback_mark */
	uint16_t *gaps;   /* by message: ms since the one before; PLAYBACK_WIDE: among these */
	VEC(struct playback_gap) wide; /* by message */
	struct playback_checkpoint *checkpoints;
	bool skip;
	int64_t idle_ms, skipped_ms;
	int64_t length_ms; /* in `play` */
	uint32_t skips; /* gaps shortened */
	struct playback_bar bar;

	uint32_t k;
	int64_t now_ms;  /* TIME_NONE where no message has a time yet */
	double at_ms;    /* in `play` */
	bool playing;
	double speed;
	int64_t ticked_ms;
	enum playback_loop loop;
	double loop_from_ms, loop_to_ms;
};

/* On the first n messages, standing at the last; speed and skip are kept if they were set. The
 * model may grow meanwhile, the playback does not. */
void playback_open(struct playback *f, const struct model *m, uint32_t n);
void playback_close(struct playback *f);
void playback_set_skip(struct playback *f, bool skip, int64_t idle_ms);

double playback_length_ms(const struct playback *f);
/* The newest time among the first k messages, and how many of these have errors. */
int64_t playback_now(const struct playback *f, uint32_t k);
uint32_t playback_errors(const struct playback *f, uint32_t k);

void playback_seek(struct playback *f, uint32_t k);
/* To a moment of the clock one watches. */
void playback_seek_play(struct playback *f, double at_ms);
/* By a span of the recording's clock. */
void playback_seek_by(struct playback *f, int64_t ms);
/* To a time as messages tell it: what --at=TIME shows. */
void playback_seek_time(struct playback *f, int64_t time_ms);
/* Behind the next (or the previous) message that is one of these; false = there is none. */
bool playback_jump(struct playback *f, unsigned marks, int direction);
/* Chooses where a loop begins, then where it ends, then there is none. */
void playback_loop_here(struct playback *f);

/* `clock_ms` is any clock that does not go back. */
void playback_play(struct playback *f, int64_t clock_ms);
/* Moves on as time has; true if it did. Stops at the end. */
bool playback_tick(struct playback *f, int64_t clock_ms);
/* How long nothing moves; -1 = it does not play. */
int playback_wait_ms(const struct playback *f);

/* "4", "0.5x": 0.1 to 1000. */
bool playback_parse_speed(struct str s, double *speed);

/* The bar for that many columns; made anew when they or the clock have changed. */
const struct playback_bar *playback_bar(struct playback *f, int cols);
int playback_col(const struct playback *f, double at_ms, int cols);
double playback_at_col(const struct playback *f, int col, int cols);
/* How much of the gap before message k was left out, 0 = nothing. */
int64_t playback_left_out(const struct playback *f, uint32_t k);

#endif
