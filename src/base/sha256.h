/* SHA-256 (FIPS 180-4). */
#ifndef GAVEL_BASE_SHA256_H
#define GAVEL_BASE_SHA256_H

#include "base/str.h"

void sha256(struct str bytes, unsigned char out[32]);
/* 64 lower-case digits and a NUL */
void sha256_hex(struct str bytes, char out[65]);

/* Incremental: begin, add as often as needed, end once. */
enum { SHA256_BLOCK = 64 };

struct sha256 {
	uint32_t h[8];
	uint64_t bytes;
	unsigned char rest[SHA256_BLOCK]; /* the last bytes % SHA256_BLOCK */
};

void sha256_begin(struct sha256 *s);
void sha256_add(struct sha256 *s, struct str bytes);
void sha256_end_hex(struct sha256 *s, char out[65]);

/* ---- for the implementations, and their test ---- */

/* Hashes whole blocks. */
typedef void sha256_blocks_fn(uint32_t h[8], const unsigned char *p, size_t blocks);
/* The one in use, chosen before main: with the processor's own instructions if it has them. */
extern sha256_blocks_fn *sha256_blocks;
sha256_blocks_fn sha256_blocks_any;
extern const uint32_t sha256_constants[64];

#if defined(__x86_64__) && defined(__GNUC__)
#define SHA256_X86
sha256_blocks_fn sha256_blocks_x86;
bool sha256_x86_runs(void);
#endif

#endif
