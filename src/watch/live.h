/* Following live sources and running agents in the UI: reads new messages, advances the app's
 * clock, announces new items and deadlines.
 *
 * Clock: the wall clock once a message has a recent timestamp. A recording keeps its own time, even
 * while its file still grows. */
#ifndef GAVEL_WATCH_LIVE_H
#define GAVEL_WATCH_LIVE_H

#include "config/config.h"
#include "session/load.h"
#include "app/app.h"
#include "watch/notices.h"

struct live {
	struct load *load;
	struct app *app;
	struct notices notices; /* released by the caller */
	struct agent_set *agents; /* running agents; NULL = none */
	load_fn each;      /* called for each message of theirs; NULL = none */
	void *ctx;

	bool on;            /* there is something to follow */
	bool no_room;       /* agents' output cannot be kept now */
	bool troubled;      /* the banner tells trouble with a source */
	uint32_t items;     /* announced so far */
	uint32_t page;      /* item of a team whose page is open; NONE at first */
	bool page_claimed;  /* because of that */
	int64_t told_ms;    /* time of the last app_arrived */
	int64_t ticked_ms;  /* time of the last app_clock */
	int64_t spent_ms;   /* drawing time since told_ms, added by the caller: the more drawing
			       costs, the less often views are updated */
	struct buf incomplete; /* an unfinished last line; released by the caller */
};

/* After the first load. */
void live_begin(struct live *l, int64_t now_ms);
/* Timeout until the next live_take; -1 = none. */
int live_wait_ms(const struct live *l, int64_t now_ms);
/* Reads what has arrived. now_ms is loop_now_ms. */
void live_take(struct live *l, int64_t now_ms);

#endif
