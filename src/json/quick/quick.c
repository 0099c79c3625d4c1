/* The quick parser for any machine, the choice of a variant, and what is assumed of yyjson. */
#include "json/quick/quick.h"

#include "json/quick/parse.h"
#include "json/quick/quick_variant.h"
#include "json/quick/unescape.h"

/* Layout of yyjson_val: a tag (length or count, 3 reserved bits, subtype, type) and a union. */
_Static_assert(sizeof(yyjson_val) == 16 && offsetof(yyjson_val, tag) == 0 &&
		       offsetof(yyjson_val, uni) == 8 && sizeof(((yyjson_val *)0)->tag) == 8 &&
		       sizeof(((yyjson_val *)0)->uni) == 8,
	       "a value is a tag of 64 bits and a union of 64 bits");
_Static_assert(YYJSON_TAG_BIT == 8 && YYJSON_TAG_MASK == 0xff, "lengths start at bit 8 of a tag");
_Static_assert(YYJSON_TYPE_MASK == 0x07 && YYJSON_SUBTYPE_MASK == 0x18, "type and subtype");
_Static_assert((YYJSON_RESERVED_MASK & (JSON_ESCAPED | JSON_NONCANONICAL)) ==
		       (JSON_ESCAPED | JSON_NONCANONICAL),
	       "our own bits of a tag are reserved in yyjson");
_Static_assert(YYJSON_TYPE_RAW == 1 && YYJSON_TYPE_NULL == 2 && YYJSON_TYPE_BOOL == 3 &&
		       YYJSON_TYPE_NUM == 4 && YYJSON_TYPE_STR == 5 && YYJSON_TYPE_ARR == 6 &&
		       YYJSON_TYPE_OBJ == 7,
	       "types");
_Static_assert(YYJSON_SUBTYPE_FALSE == 0 && YYJSON_SUBTYPE_TRUE == 1 << 3 &&
		       YYJSON_SUBTYPE_UINT == 0 && YYJSON_SUBTYPE_SINT == 1 << 3 &&
		       YYJSON_SUBTYPE_REAL == 2 << 3 && YYJSON_SUBTYPE_NOESC == 1 << 3,
	       "subtypes");
_Static_assert(_Generic(((yyjson_val *)0)->uni.ofs, size_t: 1) &&
		       _Generic(((yyjson_val *)0)->uni.str, const char *: 1) &&
		       _Generic(((yyjson_val *)0)->uni.f64, double: 1) &&
		       _Generic(((yyjson_val *)0)->uni.i64, int64_t: 1) &&
		       _Generic(((yyjson_val *)0)->uni.u64, uint64_t: 1),
	       "members of the union");
_Static_assert(YYJSON_PADDING_SIZE <= QUICK_PADDING, "yyjson can parse the same text in place");
_Static_assert(sizeof(yyjson_doc) <= 64, "the tree follows the document, aligned");
/* That `ofs` of a container is the distance in bytes to its next sibling, and that a container's
 * values follow it in one array, test_quick.c checks against trees of yyjson itself. */

/* Constants for simd.h. */
extern const char step_quotes[32], step_backslashes[32], step_blanks[32];
#define EIGHT(c) c, c, c, c, c, c, c, c
#define ALL(c) { EIGHT(c), EIGHT(c), EIGHT(c), EIGHT(c) }
_Alignas(32) const char step_quotes[32] = ALL('"');
_Alignas(32) const char step_backslashes[32] = ALL('\\');
_Alignas(32) const char step_blanks[32] = ALL(' ');

/* For unescape.h. Here, since this file is compiled for any processor. */
extern uint8_t kept_bytes[256][8];
uint8_t kept_bytes[256][8];

/* Before there are threads. */
static __attribute__((constructor)) void fill_kept_bytes(void)
{
	for (unsigned drop = 0; drop < 256; drop++)
		for (unsigned i = 0, n = 0; i < 8; i++)
			if (!(drop >> i & 1))
				kept_bytes[drop][n++] = (uint8_t)i;
}

yyjson_doc *quick_read(const char *text, size_t n, const char **newline, struct names *names,
		       void *pool, size_t pool_bytes)
{
	static struct names none; /* never written to: no name is found in it */
	yyjson_val *root = (yyjson_val *)(void *)((char *)pool + 64), *next = root;
	const char *end = newline ? NULL : text + n, *behind;
	yyjson_doc *doc = pool;

	if (pool_bytes < QUICK_POOL_BYTES(n))
		return NULL;
	behind = quick_used->values(text, end, names && names->n ? names : &none, &next);
	if (!behind || (end ? behind != end : *behind != '\n'))
		return NULL;
	if (newline)
		*newline = behind;
	*doc = (yyjson_doc){ .root = root, .dat_read = (size_t)(behind - text),
			     .val_read = (size_t)(next - root) };
	return doc;
}

void json_unescape(yyjson_val *v)
{
	char *start = (char *)(uintptr_t)v->uni.str, *end = start + (v->tag >> YYJSON_TAG_BIT);
	char *first = memchr(start, '\\', (size_t)(end - start));
	char *to = quick_used->unescape(first, end);

	*to = '\0';
	v->tag = (uint64_t)(to - start) << YYJSON_TAG_BIT | YYJSON_TYPE_STR;
}

static bool runs(void)
{
	return true;
}

const struct quick_variant quick_any = { .runs = runs, .values = values, .unescape = unescape };
const struct quick_variant *quick_used = &quick_any;

#ifdef QUICK_X86
/* Before there are threads. */
static __attribute__((constructor)) void choose(void)
{
	if (quick_avx512.runs())
		quick_used = &quick_avx512;
	else if (quick_avx2.runs())
		quick_used = &quick_avx2;
}
#endif
