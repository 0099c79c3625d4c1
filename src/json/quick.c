/* The quick parser for any machine, and which one is taken. */
#include "json/quick.h"

#include "json/values.h"

/* for the wide steps of step.h */
extern const char step_quotes[32], step_backslashes[32], step_blanks[32];
#define EIGHT(c) c, c, c, c, c, c, c, c
#define ALL(c) { EIGHT(c), EIGHT(c), EIGHT(c), EIGHT(c) }
_Alignas(32) const char step_quotes[32] = ALL('"');
_Alignas(32) const char step_backslashes[32] = ALL('\\');
_Alignas(32) const char step_blanks[32] = ALL(' ');

const char *quick_values(const char *text, const char *end, struct names *names, yyjson_val **tree)
{
	return values(text, end, names, tree);
}

size_t quick_pool_bytes(size_t n)
{
	/* each value takes two bytes of the text at least, but containers without an end only
	 * one */
	return 64 + ((n + JSON_DEPTH_MAX) / 2 + 2) * sizeof(yyjson_val);
}

yyjson_doc *quick_read_by(quick_parser *parser, const char *text, size_t n, struct names *names,
			  void *pool, size_t pool_bytes)
{
	static struct names none; /* is not written to: none is found in it */
	yyjson_val *root = (yyjson_val *)(void *)((char *)pool + 64), *next = root;
	yyjson_doc *doc = pool;

	_Static_assert(sizeof(yyjson_doc) <= 64, "the tree follows");
	if (pool_bytes < quick_pool_bytes(n) ||
	    parser(text, text + n, names && names->n ? names : &none, &next) != text + n)
		return NULL;
	*doc = (yyjson_doc){ .root = root, .dat_read = n, .val_read = (size_t)(next - root) };
	return doc;
}

yyjson_doc *quick_read(const char *text, size_t n, struct names *names, void *pool,
		       size_t pool_bytes)
{
	return quick_read_by(quick_has_wide() ? quick_values_wide : quick_values, text, n, names,
			     pool, pool_bytes);
}
