/* Private to encode: answers to elicitations of acp. */
#ifndef GAVEL_ENCODE_ENCODE_ACP_H
#define GAVEL_ENCODE_ENCODE_ACP_H

#include "encode/plan.h"

/* Appends the content of an answer to the form of an elicitation: an object with a member for each
 * question that the draft answers, a line each. What is missing becomes part of the proposal. params:
 * of the ask. */
void put_form_content(struct encoding *e, struct proposal *p, yyjson_val *params, struct buf *b);

#endif
