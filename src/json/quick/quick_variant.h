/* Inside this folder: the inner loops, compiled once for each instruction set. All variants give
 * the same results. */
#ifndef GAVEL_JSON_QUICK_QUICK_VARIANT_H
#define GAVEL_JSON_QUICK_QUICK_VARIANT_H

#include "json/quick/quick.h"

struct quick_variant {
	bool (*runs)(void); /* whether this processor supports it */
	/* Parses one value with the whitespace around it and returns where that ends, or NULL. end:
	 * of the text, NULL for a line; names is not NULL. *tree is moved behind the last value. */
	const char *(*values)(const char *text, const char *end, struct names *names,
			      yyjson_val **tree);
	/* Decodes valid escapes in place; returns the new end. */
	char *(*unescape)(char *start, const char *end);
};

#if defined(__x86_64__) && defined(__GNUC__)
#define QUICK_X86
extern const struct quick_variant quick_avx512, quick_avx2;
#endif
extern const struct quick_variant quick_any;
/* The fastest that this processor supports, chosen before main. Tests set the others. */
extern const struct quick_variant *quick_used;

#endif
