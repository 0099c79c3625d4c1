/* Sources that go on, for the UI: takes what has come, moves the clock, tells what is new and what
 * has run out.
 *
 * Time. Once a message says that it was written just now, now is the wall clock's. A recording
 * keeps its own time, also one that is being copied while gavel looks. */
#ifndef GAVEL_WATCH_LIVE_H
#define GAVEL_WATCH_LIVE_H

#include "config/config.h"
#include "session/load.h"
#include "app/app.h"

struct live {
	struct load *load;
	struct app *app;
	const struct config *config;
	void (*notice)(unsigned kinds); /* bell and the like; NULL = none */
	struct agent_set *agents; /* agents that run; NULL = none */
	load_fn each;      /* for each message of theirs; NULL = nothing */
	void *ctx;

	bool on;            /* there is something to follow */
	uint32_t items;     /* told of so far */
	int64_t told_ms;    /* when the app was last told what has come */
	int64_t ticked_ms;  /* when its clock was last set */
	int64_t spent_ms;   /* on showing, since it was last told */
	struct buf incomplete; /* a line whose end has not come */
};

/* After everything was read once. */
void live_begin(struct live *l, int64_t now_ms);
/* How long to wait at most; -1 = for ever. */
int live_wait_ms(const struct live *l, int64_t now_ms);
/* Takes what has come. now_ms is loop_now_ms. */
void live_take(struct live *l, int64_t now_ms);
/* A frame took that long. The more showing costs, the less often the views are told what has come,
 * so that it stays a small part of all that is done, however much there is to list. */
void live_showed(struct live *l, int64_t ms);
void live_end(struct live *l);

#endif
