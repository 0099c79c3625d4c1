/* SHA-256 (FIPS 180-4). */
#ifndef GAVEL_BASE_SHA256_H
#define GAVEL_BASE_SHA256_H

#include "base/str.h"

void sha256(struct str bytes, unsigned char out[32]);
/* 64 lower-case digits and a NUL */
void sha256_hex(struct str bytes, char out[65]);

#endif
