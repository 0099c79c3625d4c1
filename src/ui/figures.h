/* How the deciding went, in figures: how long items waited, what became of them, which loops do not
 * come to an end. As of the scene. */
#ifndef GAVEL_UI_FIGURES_H
#define GAVEL_UI_FIGURES_H

#include "ui/view.h"

struct figures {
	/* decisions, by agents in the log and by persons here */
	uint32_t by_agents[VERDICT_SUPERSEDED + 1], by_persons[VERDICT_SUPERSEDED + 1];
	uint32_t decided;
	/* from an item's opening to the decision, where both have a time; a person's counts where it was
	 * made while the session went on */
	uint32_t timed;
	int64_t median_ms, longest_ms; /* WHEN_NONE where timed is 0 */
	uint32_t loops, diverging;
};

/* From the item's opening to the decision that is its step number `step`, and to a person's; WHEN_NONE
 * where that is not known. */
int64_t step_took(const struct model *m, const struct item *item, uint32_t step);
int64_t standing_took(const struct model *m, const struct standing *standing, uint32_t opened);

void figures_make(const struct scene *s, struct figures *out);

#endif
