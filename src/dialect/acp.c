/* Dialect acp. */
#include "dialect/dialect.h"

static void acp_decode(struct decoder *d, yyjson_val *root, struct message *m)
{
	(void)d;
	(void)root;
	(void)m;
}

static void acp_summarize(struct decoder *d, yyjson_val *root, struct buf *out)
{
	(void)d;
	json_write(out, root);
}

static bool acp_detail(struct decoder *d, yyjson_val *root, enum item_kind kind, uint32_t index,
			struct detail *out)
{
	(void)d;
	(void)root;
	(void)kind;
	(void)index;
	(void)out;
	return false;
}

static const struct detection_key signature[] = { { NULL, 0 } };

const struct dialect_ops dialect_acp = {
	.name = "acp",
	.short_name = "acp",
	.signature = signature,
	.decode = acp_decode,
	.summarize = acp_summarize,
	.detail = acp_detail,
	.redelivery = REDELIVERY_ALWAYS,
};
