/* UTF-8, strictly: no overlong forms, no surrogates, nothing above U+10FFFF. */
#ifndef GAVEL_BASE_UTF8_H
#define GAVEL_BASE_UTF8_H

#include "base/err.h"
#include "base/str.h"

/* Decodes the character at s.p (s.n > 0). Returns its length in bytes and stores the code point;
 * returns 0 when the first byte does not start a valid character. */
size_t utf8_decode(struct str s, uint32_t *code_point);
/* Writes at most 4 bytes; returns how many. */
size_t utf8_encode(uint32_t code_point, char out[4]);
bool utf8_valid(struct str s);
/* How many bytes at the start are valid: s.n if all are. */
size_t utf8_valid_length(struct str s);
/* -1 and a sentence (which byte, what to do) if a person's text, called `what`, is not valid. */
int utf8_check(struct str s, const char *what, struct err *err);

#endif
