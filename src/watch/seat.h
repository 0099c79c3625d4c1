/* The person's seat: carries out what the app wishes about decisions, on the desks of the sources.
 * One for a run of the UI. */
#ifndef GAVEL_WATCH_SEAT_H
#define GAVEL_WATCH_SEAT_H

#include "config/config.h"
#include "session/load.h"
#include "session/terms.h"
#include "app/app.h"

struct seat {
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
void seat_take(struct seat *s);
/* After reading: shows what an earlier run left unfinished, or finishes it (--recover=send). */
void seat_open(struct seat *s);
void seat_leave(struct seat *s);

void seat_stage(struct seat *s, struct desk *desk, const struct draft *draft);
void seat_undo(struct seat *s, struct desk *desk, uint32_t draft);
/* Of one draft of one desk; NULL and NONE = everything. */
void seat_plan(struct seat *s, struct desk *desk, uint32_t only);
/* y was pressed on the plan that is shown; what is delivered later is that one or nothing. */
void seat_confirm(struct seat *s);
void seat_deliver(struct seat *s, bool sure);
void seat_recover(struct seat *s);
void seat_resend(struct seat *s, struct desk *desk, uint32_t letter);
/* Begins a new plan, with the terms it is made on. */
void seat_clear_plan(struct seat *s, struct terms *terms);
/* A command of the person's to an agent, on the pre-flight page. */
void seat_tell(struct seat *s, const struct session_command *c);
void seat_give_up(struct seat *s, struct desk *desk, uint32_t letter, bool may_have_arrived);

/* A new file (0600) with the text, for an editor; its name from malloc, NULL and errno. */
char *seat_text_file(struct str text);

#endif
