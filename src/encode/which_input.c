/* Which input an output envelope answers, where several were open: the person says it by its line. */
#include "encode/verbs.h"

enum { LISTED_MAX = 6 };

uint32_t chosen_input(const struct model *m, const struct item_state *state, uint32_t line)
{
	uint32_t n, found = NONE;
	const uint32_t *inputs = output_inputs(m, state->message, &n);

	for (uint32_t i = 0; line && i < n; i++)
		if (message_line(m, inputs[i]) == line) {
			if (found != NONE) /* of another file */
				return NONE;
			found = inputs[i];
		}
	return found;
}

/* "line 3 (F1/plan) or 5 (F2/plan)", the newest ones */
static void add_inputs(const struct model *m, const uint32_t *inputs, uint32_t n, struct buf *out)
{
	uint32_t first = n > LISTED_MAX ? n - LISTED_MAX : 0;

	for (uint32_t i = first; i < n; i++) {
		uint32_t lane = input_lane(m, inputs[i]);

		buf_adds(out, i == first ? "line " : i + 1 == n ? " or " : ", ");
		buf_printf(out, "%u%s (", message_line(m, inputs[i]), reply_words(m, inputs[i]));
		if (lane != NONE)
			buf_add_str(out, model_str(m, m->tasks.v[lane].id));
		buf_addc(out, ')');
	}
	if (first)
		buf_printf(out, ", or one of %u before", first);
}

bool input_is_chosen(const struct model *m, const struct item *item, const struct item_state *state,
		     enum verb verb, uint32_t line, struct buf *why)
{
	uint32_t n;
	const uint32_t *inputs = output_inputs(m, state->message, &n);

	/* what a queue's entry has is seen only when it is answered */
	if (!inputs && line && item->origin_dialect != DIALECT_ENVELOPE)
		buf_adds(why, "only an output that may answer several inputs takes --input; this "
			      "one does not");
	if (!inputs || verb == VERB_ESCALATE || chosen_input(m, state, line) != NONE)
		return !why->n;
	if (line)
		buf_printf(why, "line %u is not one of the inputs that this output may answer: ",
			   line);
	else
		buf_adds(why, "it is not clear which input this output answers: ");
	add_inputs(m, inputs, n, why);
	buf_adds(why, "; say which with --input=LINE (:input LINE), or escalate it");
	return false;
}
