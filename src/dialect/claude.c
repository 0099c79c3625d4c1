/* Dialect claude. */
#include "dialect/dialect.h"

static void claude_decode(struct decoder *d, yyjson_val *root, struct message *m)
{
	(void)d;
	(void)root;
	(void)m;
}

static void claude_summarize(struct decoder *d, yyjson_val *root, struct buf *out)
{
	(void)d;
	json_write(out, root);
}

static bool claude_detail(struct decoder *d, yyjson_val *root, enum item_kind kind, uint32_t index,
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

const struct dialect_ops dialect_claude = {
	.name = "claude",
	.short_name = "clau",
	.signature = signature,
	.decode = claude_decode,
	.summarize = claude_summarize,
	.detail = claude_detail,
	.redelivery = REDELIVERY_ALWAYS,
};
