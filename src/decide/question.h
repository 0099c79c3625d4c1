/* The options that a question offers. An answer is an option's value, else its label, else free
 * text; or a person chooses an option by its number, from 1. Several questions of one item are
 * answered by a line each. And the edited input of a tool call. */
#ifndef GAVEL_DECIDE_QUESTION_H
#define GAVEL_DECIDE_QUESTION_H

#include "decide/decision.h"
#include "decide/reader.h"

/* The number of the option with that value, else that label; 0 = none. *several: more than one has
 * that label. */
uint32_t option_named(yyjson_val *options, struct str answer, bool *several);
/* The option of that number; NULL if it is out of range or no object. */
yyjson_val *option_numbered(yyjson_val *options, uint64_t number);
/* What it is called: its label, or title; empty = it has neither. */
struct str option_label(yyjson_val *option);
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

/* Appends the line that answers a question as typed: numbers become the options' answers, several of
 * them separated by commas if the question takes several. Empty = not answered. */
void question_answer(const struct detail_question *q, struct str typed, struct buf *out);
/* Whether the item's answer has a line for each question, or a choice of several options. */
static inline bool asks_by_line(const struct detail *d)
{
	return d->question_n > 1 || (d->question_n == 1 && d->questions[0].several);
}

/* Sets the draft's answer to the input of a tool call, compact, in `words`. -1 if the text is no JSON
 * object. */
int draft_set_input(struct draft *d, struct str text, struct arena *words, struct err *err);

#endif
