/* SHA-256 (FIPS 180-4). */
#ifndef GAVEL_BASE_SHA256_H
#define GAVEL_BASE_SHA256_H

#include "base/str.h"

void sha256(struct str bytes, unsigned char out[32]);
/* 64 lower-case digits and a NUL */
void sha256_hex(struct str bytes, char out[65]);

/* Incremental: begin, add as often as needed, end once. */
struct sha256 {
	uint32_t h[8];
	uint64_t bytes;
	unsigned char rest[64]; /* the last bytes % 64 */
};

void sha256_begin(struct sha256 *s);
void sha256_add(struct sha256 *s, struct str bytes);
void sha256_end_hex(struct sha256 *s, char out[65]);

#endif
