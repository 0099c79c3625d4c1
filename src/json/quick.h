/* Inside this folder: a parser for the JSON that messages are made of. It builds the tree that
 * yyjson would build, looking at many bytes of a string at a time, but leaves the escapes in its
 * strings, which have JSON_ESCAPED in their tags then. Whatever is not plain (an error, a
 * number with an exponent or more than fifteen digits, broken UTF-8, a name with an escape,
 * nesting beyond the limit) it leaves to yyjson: NULL. tests/unit/test_quick.c holds the two
 * against each other. */
#ifndef GAVEL_JSON_QUICK_H
#define GAVEL_JSON_QUICK_H

#include "json/json.h"

/* So many bytes behind the text must be readable, and the first of them a control (the newline
 * of a line will do, or a zero), at which everything stops. */
enum { QUICK_PADDING = JSON_PADDING };

/* What the tree of a text of n bytes may need while it is made. */
size_t quick_pool_bytes(size_t n);
/* names may be NULL; else names of members that it has are its own. pool holds the tree; NULL
 * also where it is too small. */
yyjson_doc *quick_read(const char *text, size_t n, struct names *names, void *pool,
		       size_t pool_bytes);

/* The same for a text that a newline ends, *end is set to where that is; before `most` bytes. */
yyjson_doc *quick_read_line(const char *text, size_t most, struct names *names, void *pool,
			    size_t pool_bytes, const char **end);

/* The same by one of the parsers, from any blanks at the text to behind those at its end, or
 * NULL; of a line, `end` is NULL. quick_read takes the wide one where the processor has what it
 * needs. A parser's names are not NULL. `tree` is moved behind the last value. */
typedef const char *quick_parser(const char *text, const char *end, struct names *names,
				 yyjson_val **tree);
quick_parser quick_values, quick_values_wide;
yyjson_doc *quick_read_by(quick_parser *parser, const char *text, size_t n, struct names *names,
			  void *pool, size_t pool_bytes);
yyjson_doc *quick_read_line_by(quick_parser *parser, const char *text, size_t most,
			       struct names *names, void *pool, size_t pool_bytes, const char **end);

/* Whether the wide one can be compiled, and whether it can run. */
#if defined(__x86_64__) && defined(__GNUC__)
#define QUICK_WIDE
static inline bool quick_has_wide(void)
{
	return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") &&
	       __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("popcnt");
}
#else
static inline bool quick_has_wide(void)
{
	return false;
}
#endif

#endif
