/* The bridge between the agents of one machine and a team's store: copies lines, opens an item for each
 * thing that waits for a person, and delivers what the team decides through the desks of a load, which
 * stay the only writers of their journals and reply files.
 *
 * The store says who decides, the journal says whether bytes have left: a DRAFT has the store's id of what
 * was decided (draft.team), so that after any crash a decision is found again, said once, and reported.
 * Nobody sits here, so unfinished deliveries are finished at once, as with --recover=send; what stays
 * uncertain is reported as held, and reviewers settle it.
 *
 * The load follows its sources, with desks opened for writing. In each turn of the loop: load_step, then
 * shipper_step; wait for load_fd and shipper_fd. */
#ifndef GAVEL_SHIP_SHIPPER_H
#define GAVEL_SHIP_SHIPPER_H

#include "session/load.h"
#include "team/store.h"

struct shipper_settings {
	const struct options *options; /* as_source, items, no_lines, and what replies need */
	const struct config *config;
	const struct team_url *url;
	struct filter *items; /* only these are opened; NULL = all */
	/* What happened, a line for people; may be NULL. */
	void (*said)(void *ctx, struct str line);
	void *ctx;
};

struct shipper;

/* Settings and load are borrowed. NULL: err. */
struct shipper *shipper_open(struct load *l, const struct shipper_settings *settings, struct err *err);
/* What is not reported yet is reported by the next one. */
void shipper_close(struct shipper *s);
struct loop_fd shipper_fd(const struct shipper *s);
int shipper_wait_ms(const struct shipper *s, int64_t now_ms);
/* May wait for the reader of a FIFO while it sends. */
void shipper_step(struct shipper *s, int64_t now_ms);
/* Whether all that there is was copied, opened, decided, said and reported. */
bool shipper_is_idle(const struct shipper *s);
/* Looks at all items and at the outbox once more before it is idle: an agent has ended, or runs again. */
void shipper_look_again(struct shipper *s);
/* Once for each time that there is no connection: appends why, a sentence. */
bool shipper_has_lost(struct shipper *s, int64_t now_ms, struct buf *why);
/* Why it can ship nothing to this store whatever happens; NULL = it can. */
const char *shipper_failure(const struct shipper *s);
/* Whether the store has refused a source, or lines of one. */
bool shipper_is_incomplete(const struct shipper *s);
void shipper_status(const struct shipper *s, struct store_status *out);

#endif
