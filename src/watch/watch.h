/* The event loop of the terminal UI: keys, new messages, effects, frames. gavel SOURCE is this loop
 * alone; run, review and replay extend it by a struct watch_ops.
 *
 *   watch_init     reads the configuration; then the caller opens w->load, and starts agents if it
 *                  has some
 *   watch_go       until the user quits; with --headless until the end of the key file, or without
 *                  one until no agent runs. Returns the exit code
 *   watch_release  in any case. The caller closes the agents, after watch_go and before this
 *
 * With agents the clock is real even with --headless: <wait:MS> waits, and messages are read
 * meanwhile. */
#ifndef GAVEL_WATCH_WATCH_H
#define GAVEL_WATCH_WATCH_H

#include "config/config.h"
#include "loop/loop.h"
#include "watch/live.h"
#include "session/load.h"
#include "watch/decider.h"
#include "term/keys.h"
#include "app/app.h"

/* Callbacks of a command. Each may be NULL. now_ms is loop_now_ms. */
struct watch_ops {
	void (*loaded)(void *ctx, int64_t now_ms);  /* the first load is complete */
	void (*drawn)(void *ctx, const struct grid *g, int64_t clock_ms);
	/* --headless: step of the test clock, 0 = it stops at the end of the key file. */
	int (*pace_ms)(void *ctx);
	void (*tick)(void *ctx, int64_t now_ms);    /* after new messages were read */
	int (*wait_ms)(void *ctx, int64_t now_ms);  /* timeout until the next tick; -1 = none */
	struct loop_fd (*other_fd)(void *ctx); /* that the tick is due for, too; asked in each turn */
	bool (*effect)(void *ctx, struct effect *e); /* true = it was handled */
	/* The user quits. false = not yet; tick then sets w->quit. */
	bool (*leave)(void *ctx, int64_t now_ms);
};

struct watch {
	struct options *options;
	struct load load;
	struct app app;
	struct config config;
	struct decider decider;
	struct agent_set *agents; /* running agents; NULL = none */
	const struct watch_ops *ops;
	void *ops_ctx;
	load_fn each; /* called for each message of theirs; NULL = none */
	void *each_ctx;
	bool quit;
	int code;
	/* private */
	struct keys keys;
	struct grid *grid;
	struct theme theme;
	int colours; /* of the terminal */
	struct live live;
	VEC(struct effect) sending; /* effects that wait for delivery */
	struct buf said; /* stderr output held back while the screen is in use */
	bool headless, began;
	bool leaving; /* ops->leave has postponed quitting */
	bool painted; /* saved screens have colours in place of role letters */
	int64_t test_ms; /* the clock of a headless run, advanced by <wait:MS> */
	struct job *delivery; /* in progress; NULL = none */
	struct yield *yield; /* of the delivery, while it runs */
	struct idle idle; /* of the desks */
	int64_t drawn_ms; /* time of the last frame */
	bool undrawn; /* something may have changed since */
	unsigned crowd; /* successive wake-ups within SOON_MS */
	bool pressed; /* a key was handled, or a search has ended */
	int64_t arrived_ms; /* last app_arrived while loading, until its list is made; 0 = made */
	int64_t arrive_ms; /* time of the next one */
	int64_t arrive_gap_ms; /* minimum time between two, grows */
};

void watch_init(struct watch *w, struct options *o);
/* Initialises the app and key bindings, after load_open. Called by watch_go unless the caller needs
 * the app earlier. */
void watch_begin(struct watch *w, struct str title);
/* The sources, for the title line. */
void watch_title(const struct options *o, struct buf *out);
/* After watch_begin: the first view is that of sessions if several sources were given. */
void watch_begin_with_sessions(struct watch *w);
int watch_go(struct watch *w, struct str title);
/* init, load_open, go and release for the sources that the options name. */
int watch_run(struct options *o);
void watch_release(struct watch *w);

/* Private (watch_effects.c): */
/* Carries out the app's pending effects. */
void watch_effects(struct watch *w);
/* Starts the delivery of w->sending as a job, since it may wait for a channel; with --headless,
 * delivers at once. */
void watch_send(struct watch *w);
void watch_step_delivery(struct watch *w);
/* Binds the keys of w->config and reports its problems: all on stderr, the first on the message
 * line. */
void watch_configure(struct watch *w);
/* reload.c: */
void watch_apply_theme(struct watch *w);
void watch_set_theme(struct watch *w, const char *name);
void watch_reload(struct watch *w);
/* Cancels the delivery, if there is one: undelivered letters are held. */
void watch_end_delivery(struct watch *w);
/* The idle.go_on of desks that wait for a channel. */
bool watch_wait(void *w);
/* Prints err on stderr and sets the exit code, which it returns. */
int watch_fail(struct watch *w, const struct err *err);
void watch_suspend(struct watch *w);
int watch_save_screen(struct watch *w, const char *file, struct err *err);

#endif
