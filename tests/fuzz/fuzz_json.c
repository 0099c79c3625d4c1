/* The quick parser against yyjson: what it takes, yyjson takes too, and makes the same tree of. */
#include "json/escapes.h"
#include "json/quick/quick.h"

#include "fuzz.h"

#include <string.h>

static void same(const yyjson_val *a, const yyjson_val *b)
{
	PROMISE(a->tag == b->tag);
	switch (a->tag & YYJSON_TYPE_MASK) {
	case YYJSON_TYPE_STR:
		PROMISE(memcmp(a->uni.str, b->uni.str, (size_t)(a->tag >> YYJSON_TAG_BIT) + 1) == 0);
		break;
	case YYJSON_TYPE_NUM: PROMISE(a->uni.u64 == b->uni.u64); break;
	case YYJSON_TYPE_ARR:
	case YYJSON_TYPE_OBJ: PROMISE(a->uni.ofs == b->uni.ofs); break;
	default: break; /* the tag says it all */
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	size_t pool_bytes = QUICK_POOL_BYTES(n);
	char *text = calloc(1, n + QUICK_PADDING);
	void *pool = malloc(pool_bytes);
	yyjson_doc *quick, *want;

	PROMISE(text && pool);
	if (n)
		memcpy(text, bytes, n);
	quick = quick_read(text, n, NULL, NULL, pool, pool_bytes);
	if (quick) {
		tree_unescape(quick);
		want = yyjson_read((const char *)bytes, n, YYJSON_READ_BIGNUM_AS_RAW);
		PROMISE(want && quick->val_read == want->val_read);
		for (size_t i = 0; i < want->val_read; i++)
			same(&quick->root[i], &want->root[i]);
		yyjson_doc_free(want);
	}
	free(text);
	free(pool);
	return 0;
}
