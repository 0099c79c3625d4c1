/* What a person can say to a toy: a word, or that somebody else decides. */
#include "encode/plan.h"
#include "json/compose.h"

static void encode(struct encoding *e)
{
	const struct draft *d = draft_of(e, 0);
	struct buf b = { 0 };
	struct proposal *p;

	if (d->verb == VERB_ESCALATE) {
		encode_escalation(e, 0, false);
		return;
	}
	p = propose(e, e->drafts, 1);
	p->letter.to = STR("the toy");
	buf_addc(&b, '{');
	json_put_name(&b, "toy", "say");
	json_put_str(&b, "answers", model_str(e->model, item_of(e, 0)->id));
	json_put_str(&b, "word", d->answer);
	buf_addc(&b, '}');
	proposal_set_bytes(e, p, &b);
	buf_release(&b);
}

static const struct item_verbs verbs[] = {
	{ ITEM_QUESTION, CAN_ANSWER | CAN_ESCALATE },
	{ .verbs = 0 },
};

const struct encoder_ops encoder_toy = {
	.verbs = verbs,
	.encode = encode,
};
