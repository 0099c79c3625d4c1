/* Encoder for claude. */
#include "encode/plan.h"

static const struct item_verbs verbs[] = {
	{ .verbs = 0 },
};

const struct encoder_ops encoder_claude = { .verbs = verbs };
