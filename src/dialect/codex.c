/* Dialect codex. */
#include "dialect/dialect.h"

static void codex_decode(struct decoder *d, yyjson_val *root, struct message *m)
{
	(void)d;
	(void)root;
	(void)m;
}

static void codex_summarize(struct decoder *d, yyjson_val *root, struct buf *out)
{
	(void)d;
	json_write(out, root);
}

static bool codex_detail(struct decoder *d, yyjson_val *root, enum item_kind kind, uint32_t index,
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

const struct dialect_ops dialect_codex = {
	.name = "codex",
	.short_name = "codx",
	.signature = signature,
	.decode = codex_decode,
	.summarize = codex_summarize,
	.detail = codex_detail,
	.redelivery = REDELIVERY_ALWAYS,
};
