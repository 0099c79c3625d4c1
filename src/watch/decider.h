/* Carries out the app's effects on decisions (stage, undo, plan, deliver, resend) on the desks of
 * the sources, and reports each result on the message line. One per run of the UI. */
#ifndef GAVEL_WATCH_DECIDER_H
#define GAVEL_WATCH_DECIDER_H

#include "config/config.h"
#include "session/load.h"
#include "session/terms.h"
#include "app/app.h"

/* Pre-flight pages of all there is to send. Each is confirmed by itself: a yes to one's own words
 * must not carry somebody else's along. */
enum decider_page {
	PAGE_DRAFTS,
	PAGE_MORE,  /* of decider.more */
	PAGE_NAMED, /* from here on, one for each path that only a message names */
};

struct decider {
	const struct options *options;
	const struct config *config;
	struct load *load;
	struct app *app;
	/* Fills a plan with proposals that do not come from drafts and have a page of their own;
	 * NULL = none. */
	void (*more)(void *ctx, struct plan *plan);
	void *more_ctx;
	struct plan plan;
	uint32_t page; /* that the plan is for */
	VEC(char *) named; /* the paths of PAGE_NAMED… */
	struct draft_refs dropped; /* from the plan, until the page is opened anew */
	uint32_t heard; /* replies in the model when the plan was made */
	bool confirmed;         /* with y; reset by each new plan */
	bool is_command;        /* the plan is a command to an agent, and of no draft */
	struct draft_refs chosen; /* the plan is for these alone; none = for all that is staged */
	struct draft_refs at_once; /* of what is being staged: what is sent at once (verb_is_at_once) */
	/* set by gavel review, else NULL */
	const struct turn_terms *turn;
	bool (*propose)(void *ctx, const struct terms *t); /* false = plan the drafts as usual */
	void *ctx;
};

/* Before loading: sets the app's desks, name, reason codes and read-only state. */
void decider_attach(struct decider *s);
/* After loading: shows unfinished deliveries of an earlier run, or resends them
 * (--recover=send). */
void decider_begin(struct decider *s);
void decider_release(struct decider *s);

/* Carries out effects of one command: stages their drafts, or takes those of `undo` back. What is for
 * the same desk is one record: all of it is staged or undone, or nothing. */
void decider_stage(struct decider *s, const struct effect *list, uint32_t n);
void decider_undo(struct decider *s, const struct effect *list, uint32_t n);
/* Keeps in the journal that an item is snoozed, or is back. */
void decider_snooze(struct decider *s, struct desk *desk, uint32_t item, bool on);
/* Shows the pre-flight page of all that is staged, the first one. */
void decider_plan(struct decider *s);
/* The page shown anew: the terms have changed. */
void decider_plan_again(struct decider *s);
/* The same as decider_plan, or the next page if one is shown. */
void decider_next_page(struct decider *s);
/* Leaves a letter of the plan shown out, with those that are sent together with it, or takes a dropped
 * draft in again; the other is NONE. */
void decider_drop(struct decider *s, uint32_t letter, uint32_t dropped);
/* y was pressed on the plan shown: decider_deliver sends that plan or nothing. */
void decider_confirm(struct decider *s);
void decider_deliver(struct decider *s, bool sure);
void decider_recover(struct decider *s);
void decider_resend(struct decider *s, struct desk *desk, uint32_t letter);
/* Empties the plan and fills the terms of a new one. */
void decider_clear_plan(struct decider *s, struct terms *terms);
/* Replies to the desk's source go to that path from now on, as if --reply had named it. */
void decider_reply(struct decider *s, struct desk *desk, const char *path);
/* Shows a command to an agent on the pre-flight page. */
void decider_command(struct decider *s, const struct session_command *c);
void decider_give_up(struct decider *s, struct desk *desk, uint32_t letter, bool may_have_arrived);

#endif
