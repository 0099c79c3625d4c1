/* The person's seat: carries out what the app wishes about decisions, on the desks of the sources.
 * One for a run of the UI. */
#ifndef GAVEL_WATCH_DECIDER_H
#define GAVEL_WATCH_DECIDER_H

#include "config/config.h"
#include "session/load.h"
#include "session/terms.h"
#include "app/app.h"

struct decider {
	const struct options *options;
	const struct config *config;
	struct load *load;
	struct app *app;
	/* Adds what is to be sent besides what was decided here; NULL = nothing. */
	void (*more)(void *ctx, struct plan *plan);
	void *more_ctx;
	struct plan plan;
	bool confirmed;   /* with y; a plan that was made since is another one */
	struct desk *only_desk; /* it was made for this one alone, NULL = all */
	uint32_t only;          /* and for this draft, NONE = all */
	/* of a review; NULL = this is none */
	const struct turn_terms *turn;
	bool (*propose)(void *ctx, const struct terms *t); /* makes the plan; false = as usual */
	void *ctx;
};

/* Before reading: tells the app who decides and what it cannot decide. */
void decider_take(struct decider *s);
/* After reading: shows what an earlier run left unfinished, or finishes it (--recover=send). */
void decider_open(struct decider *s);
void decider_leave(struct decider *s);

void decider_stage(struct decider *s, struct desk *desk, const struct draft *draft);
void decider_undo(struct decider *s, struct desk *desk, uint32_t draft);
/* Of one draft of one desk; NULL and NONE = everything. */
void decider_plan(struct decider *s, struct desk *desk, uint32_t only);
/* y was pressed on the plan that is shown; what is delivered later is that one or nothing. */
void decider_confirm(struct decider *s);
void decider_deliver(struct decider *s, bool sure);
void decider_recover(struct decider *s);
void decider_resend(struct decider *s, struct desk *desk, uint32_t letter);
/* Begins a new plan, with the terms it is made on. */
void decider_clear_plan(struct decider *s, struct terms *terms);
/* A command of the person's to an agent, on the pre-flight page. */
void decider_command(struct decider *s, const struct session_command *c);
void decider_give_up(struct decider *s, struct desk *desk, uint32_t letter, bool may_have_arrived);

/* A new file (0600) with the text, for an editor; its name from malloc, NULL and errno. */
char *decider_text_file(struct str text);

#endif
