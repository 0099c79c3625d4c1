/* The options that a question offers. An answer is an option's value, else its label, else free
 * text; or a person chooses an option by its number, from 1. */
#ifndef GAVEL_DECIDE_QUESTION_H
#define GAVEL_DECIDE_QUESTION_H

#include "decide/decision.h"
#include "decide/reader.h"

/* The number of the option with that value, else that label; 0 = none. *several: more than one has
 * that label. */
uint32_t option_named(yyjson_val *options, struct str answer, bool *several);
/* The option of that number; NULL if it is out of range or no object. */
yyjson_val *option_numbered(yyjson_val *options, uint64_t number);
/* Appends what answers with it: its value, or its label if it has none. False: the value is no
 * string and was written as JSON. */
bool option_answer(yyjson_val *option, struct buf *out);

/* Chooses an option of the question that a draft is bound to: sets `option` and `answer`, a string
 * of `words`. -1 if there is no such option. */
int draft_choose(struct draft *d, const struct reader *r, const struct item *item,
		 const struct item_state *state, uint64_t number, struct arena *words,
		 struct err *err);
/* The same if the draft's answer is a number, and neither the value nor the label of an option. */
void draft_choose_numbered(struct draft *d, const struct reader *r, const struct item *item,
			   const struct item_state *state, struct arena *words);

#endif
