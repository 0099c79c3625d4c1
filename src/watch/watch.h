/* The terminal UI as a loop: keys, what comes, what was wished, a frame. gavel SOURCE is nothing
 * else; commands that run agents put theirs into it.
 *
 *   watch_init     reads the configuration; then the caller opens w->load (and runs it and starts a
 *                  agents, if he has one)
 *   watch_go       until the person leaves; with --headless until the key file ends, or without one
 *                  until no agent runs any more. Returns the exit code
 *   watch_release  in any case; the agents is the caller's to close, after watch_go and before this
 *
 * With a agents the clock is the world's, also without a terminal: <wait:MS> waits, and what comes
 * meanwhile is taken. */
#ifndef GAVEL_WATCH_WATCH_H
#define GAVEL_WATCH_WATCH_H

#include "config/config.h"
#include "watch/live.h"
#include "session/load.h"
#include "watch/decider.h"
#include "term/keys.h"
#include "app/app.h"

/* What a command adds to the loop. Each may be NULL. now_ms is loop_now_ms. */
struct watch_ops {
	void (*loaded)(void *ctx, int64_t now_ms);  /* everything was read for the first time */
	void (*drawn)(void *ctx, const struct grid *g, int64_t clock_ms);
	/* Without a terminal: how far the test clock goes at a time, 0 = not after the key file. */
	int (*pace_ms)(void *ctx);
	void (*turn)(void *ctx, int64_t now_ms);    /* what has come was taken */
	int (*wait_ms)(void *ctx, int64_t now_ms);  /* how long until the next turn at most; -1 */
	bool (*effect)(void *ctx, struct effect *e); /* a wish of the app's: true = it was mine */
	/* The person wants to leave: false = not yet; turn sets w->quit then. */
	bool (*leave)(void *ctx, int64_t now_ms);
};

struct watch {
	struct options *options;
	struct load load;
	struct app app;
	struct config config;
	struct decider decider; /* from which the person decides */
	struct agent_set *agents; /* agents that run; NULL = none */
	const struct watch_ops *ops;
	void *ops_ctx;
	load_fn each; /* for each message of theirs; NULL = nothing */
	void *each_ctx;
	bool quit;
	int code;
	/* the rest is its own */
	struct keys keys;
	struct grid *grid;
	struct live live;
	VEC(struct effect) sending; /* what is to be delivered, by the job if there is one */
	struct buf said; /* while the screen was ours; printed afterwards */
	bool headless, began;
	bool leaving; /* the person wants to, and something is to be ended first */
	bool painted; /* saved screens have colours in place of role letters */
	int64_t test_ms; /* the clock of a headless run: only <wait:MS> moves it */
	struct job *delivery; /* under way; NULL = none */
	struct yield *yield; /* of the delivery, while it runs */
	struct idle idle; /* of the desks */
	int64_t drawn_ms;
	bool undrawn; /* something may have changed since */
	unsigned crowd; /* how often something came soon after the last time */
	bool pressed; /* a key was handed out, or a search has ended */
	int64_t arrived_ms; /* when the views were told what has come, and still make their lists */
	int64_t arrive_ms; /* when they are told next */
	int64_t arrive_gap_ms; /* and how long after that again, at least */
};

void watch_init(struct watch *w, struct options *o);
/* The app on the model, the person's keys: after load_open. For whoever has
 * something to say to the app before watch_go, which does it otherwise. */
void watch_begin(struct watch *w, struct str title);
int watch_go(struct watch *w, struct str title);
/* All of it for the sources that the options name. */
int watch_run(struct options *o);
void watch_release(struct watch *w);

/* Within the loop: */
/* Carries out what the app wishes. */
void watch_effects(struct watch *w);
/* Begins to deliver what was wished; without a terminal, delivers it. A delivery may have to wait for
 * a channel, so it is a job that is stepped until it has ended. */
void watch_send(struct watch *w);
void watch_step_delivery(struct watch *w);
/* Cancels the delivery, if there is one: what did not get through is held. */
void watch_end_delivery(struct watch *w);
/* What desks do while they wait for a channel: an idle.go_on. */
bool watch_wait(void *w);
void watch_suspend(struct watch *w);
int watch_save_screen(struct watch *w, const char *file, struct err *err);

#endif
