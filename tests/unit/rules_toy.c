/* The toy's rule about several messages: a word answers a question that was asked. */
#include "model/rules.h"

static void apply(struct apply_ctx *a)
{
	const struct event *e = &a->msg->events.v[0];
	uint32_t item;

	if (e->type == EV_ITEM) {
		item_raise(a, e, NONE, NONE, 0);
		return;
	}
	item = item_here(a, ITEM_QUESTION, id_known(a, e));
	if (item == NONE)
		report(a, SEVERITY_ERROR, "toy/answers-known", e->at, e->index,
		       "answers a question that nobody asked");
	else
		item_step(a, item, STEP_DECIDED, e->verdict, 0);
}

const struct rules_ops rules_toy = {
	.name = "toy",
	.apply = apply,
};
