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

/* What takes the most time is compiled more than once, for processors that can do more at a time;
 * all read the same. */
struct quick {
	bool (*runs)(void); /* whether this processor can run it */
	/* The values from any blanks at the text to behind those at its end, which is returned, or
	 * NULL. Of a line, `end` is NULL; names are not. `tree` is moved behind the last value. */
	const char *(*values)(const char *text, const char *end, struct names *names,
			      yyjson_val **tree);
	/* Text with escapes that are right becomes what it means, where it is; returns its end. */
	char *(*unescape)(char *start, const char *end);
};
#if defined(__x86_64__) && defined(__GNUC__)
#define QUICK_X86
extern const struct quick quick_avx512, quick_avx2;
#endif
extern const struct quick quick_any;
/* The one that is used: the best that runs, chosen before main. Tests try the others. */
extern const struct quick *quick_used;

#endif
