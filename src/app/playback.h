/* The film: a session played again. It knows where in the session one is and how that moves; what
 * is seen there is the views' business, who look through the first k messages as ever.
 *
 * Time. A recording's clocks cannot be trusted: they go back, stand still, jump by years, or are
 * missing. The film has a clock of its own, which never goes back. It moves on by what a message's
 * time is ahead of the latest one before it. A clock that was set back is followed again after
 * FILM_BACK_MESSAGES messages that are all behind; until then, and where senders disagree, time
 * stands still. Messages without a time are spread over the gap they lie in, at most a second
 * apart; before the first time and after the last, and in a session where time does not move at
 * all, messages are a second apart. So one wrong time costs one gap, and every film can be watched.
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
	FILM_BACK_MESSAGES = 8,
	FILM_STEP_MS = 1000,  /* between messages that no time tells apart */
	FILM_IDLE_MS = 5000,  /* longer gaps are shortened to this */
	FILM_FRAME_MS = 33,
	FILM_STONE = 1024,
};

#define FILM_WIDE UINT16_MAX

enum film_mark {
	FILM_MESSAGE, /* every one */
	FILM_ITEM,
	FILM_DECISION,
	FILM_ERROR,
	FILM_ITERATION,
	FILM_MARKS
};

/* How dense things are along the bar, for one width. */
struct film_bar {
	int cols;
	uint32_t *n[FILM_MARKS]; /* by column */
	uint32_t most[FILM_MARKS];
	bool *skipped; /* a gap that was shortened ends there */
};

/* What holds as of every FILM_STONE messages, so that no question walks the whole log. */
struct film_stone {
	int64_t now_ms;
	int64_t clock_ms, play_ms; /* of the message before */
	uint32_t errors;
};

/* A gap too long for the list of all of them. */
struct film_gap {
	uint32_t message;
	int64_t ms;
};

enum film_loop { LOOP_NONE, LOOP_HALF, LOOP_ON }; /* LOOP_HALF: its start is chosen */

struct film {
	const struct model *model; /* NULL = not open */
	uint32_t end;     /* messages in it */
	uint8_t *marks;   /* by message: 1 << enum film_mark */
	uint16_t *gaps;   /* by message: ms since the one before; FILM_WIDE: among these */
	VEC(struct film_gap) wide; /* by message */
	struct film_stone *stones;
	bool skip;
	int64_t idle_ms, skipped_ms;
	int64_t length_ms; /* in `play` */
	uint32_t skips; /* gaps shortened */
	struct film_bar bar;

	uint32_t k;
	int64_t now_ms;  /* WHEN_NONE where no message has a time yet */
	double at_ms;    /* in `play` */
	bool playing;
	double speed;
	int64_t ticked_ms;
	enum film_loop loop;
	double loop_from_ms, loop_to_ms;
};

/* On the first n messages, standing at the last; speed and skip are kept if they were set. The
 * model may grow meanwhile, the film does not. */
void film_open(struct film *f, const struct model *m, uint32_t n);
void film_close(struct film *f);
void film_set_skip(struct film *f, bool skip, int64_t idle_ms);

double film_length_ms(const struct film *f);
/* The newest time among the first k messages, and how many of these have errors. */
int64_t film_now(const struct film *f, uint32_t k);
uint32_t film_errors(const struct film *f, uint32_t k);

void film_seek(struct film *f, uint32_t k);
/* To a moment of the clock one watches. */
void film_seek_play(struct film *f, double at_ms);
/* By a span of the recording's clock. */
void film_seek_by(struct film *f, int64_t ms);
/* To a time as messages tell it: what --at=TIME shows. */
void film_seek_time(struct film *f, int64_t time_ms);
/* Behind the next (or the previous) message that is one of these; false = there is none. */
bool film_jump(struct film *f, unsigned marks, int direction);
/* Chooses where a loop begins, then where it ends, then there is none. */
void film_loop_here(struct film *f);

/* `clock_ms` is any clock that does not go back. */
void film_play(struct film *f, int64_t clock_ms);
/* Moves on as time has; true if it did. Stops at the end. */
bool film_tick(struct film *f, int64_t clock_ms);
/* How long nothing moves; -1 = it does not play. */
int film_wait_ms(const struct film *f);

/* "4", "0.5x": 0.1 to 1000. */
bool film_parse_speed(struct str s, double *speed);

/* The bar for that many columns; made anew when they or the clock have changed. */
const struct film_bar *film_bar(struct film *f, int cols);
int film_col(const struct film *f, double at_ms, int cols);
double film_at_col(const struct film *f, int col, int cols);
/* How much of the gap before message k was left out, 0 = nothing. */
int64_t film_left_out(const struct film *f, uint32_t k);

#endif
