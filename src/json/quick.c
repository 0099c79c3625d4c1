/* The quick parser for any machine, and which one is used. */
#include "json/quick.h"

#include "json/unescape.h"
#include "json/values.h"

/* for the wide steps of step.h */
extern const char step_quotes[32], step_backslashes[32], step_blanks[32];
#define EIGHT(c) c, c, c, c, c, c, c, c
#define ALL(c) { EIGHT(c), EIGHT(c), EIGHT(c), EIGHT(c) }
_Alignas(32) const char step_quotes[32] = ALL('"');
_Alignas(32) const char step_backslashes[32] = ALL('\\');
_Alignas(32) const char step_blanks[32] = ALL(' ');

size_t quick_pool_bytes(size_t n)
{
	/* each value takes two bytes of the text at least, but containers without an end only
	 * one */
	return 64 + ((n + JSON_DEPTH_MAX) / 2 + 2) * sizeof(yyjson_val);
}

/* Up to `end`, or where a line ends if that is NULL; *behind is set to where it did. */
static yyjson_doc *read_to(const char *text, const char *end, struct names *names, void *pool,
			   const char **behind)
{
	static struct names none; /* is not written to: none is found in it */
	yyjson_val *root = (yyjson_val *)(void *)((char *)pool + 64), *next = root;
	yyjson_doc *doc = pool;

	_Static_assert(sizeof(yyjson_doc) <= 64, "the tree follows");
	*behind = quick_used->values(text, end, names && names->n ? names : &none, &next);
	if (!*behind || (end ? *behind != end : **behind != '\n'))
		return NULL;
	*doc = (yyjson_doc){ .root = root, .dat_read = (size_t)(*behind - text),
			     .val_read = (size_t)(next - root) };
	return doc;
}

yyjson_doc *quick_read(const char *text, size_t n, struct names *names, void *pool,
		       size_t pool_bytes)
{
	const char *behind;

	if (pool_bytes < quick_pool_bytes(n))
		return NULL;
	return read_to(text, text + n, names, pool, &behind);
}

yyjson_doc *quick_read_line(const char *text, size_t most, struct names *names, void *pool,
			    size_t pool_bytes, const char **end)
{
	if (pool_bytes < quick_pool_bytes(most))
		return NULL;
	return read_to(text, NULL, names, pool, end);
}

static bool runs(void)
{
	return true;
}

const struct quick quick_any = { .runs = runs, .values = values, .unescape = unescape };
const struct quick *quick_used = &quick_any;

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
