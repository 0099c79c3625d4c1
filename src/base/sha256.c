/* SHA-256 over blocks of 64 bytes. */
#include "base/sha256.h"

const uint32_t sha256_constants[64] = {
	0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4,
	0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe,
	0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f,
	0x4a7484aa, 0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7,
	0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc,
	0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b,
	0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116,
	0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
	0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7,
	0xc67178f2,
};

static uint32_t rotate(uint32_t x, unsigned n)
{
	return x >> n | x << (32 - n);
}

static void block(uint32_t h[8], const unsigned char *p)
{
	uint32_t a = h[0], b = h[1], c = h[2], d = h[3], e = h[4], f = h[5], g = h[6], i = h[7];
	uint32_t w[64];

	for (int t = 0; t < 16; t++)
		w[t] = (uint32_t)p[4 * t] << 24 | (uint32_t)p[4 * t + 1] << 16 |
		       (uint32_t)p[4 * t + 2] << 8 | p[4 * t + 3];
	for (int t = 16; t < 64; t++) {
		uint32_t x = w[t - 15], y = w[t - 2];

		w[t] = w[t - 16] + (rotate(x, 7) ^ rotate(x, 18) ^ x >> 3) + w[t - 7] +
		       (rotate(y, 17) ^ rotate(y, 19) ^ y >> 10);
	}
	for (int t = 0; t < 64; t++) {
		uint32_t t1 = i + (rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25)) +
			      ((e & f) ^ (~e & g)) + sha256_constants[t] + w[t];
		uint32_t t2 = (rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22)) +
			      ((a & b) ^ (a & c) ^ (b & c));

		i = g;
		g = f;
		f = e;
		e = d + t1;
		d = c;
		c = b;
		b = a;
		a = t1 + t2;
	}
	h[0] += a;
	h[1] += b;
	h[2] += c;
	h[3] += d;
	h[4] += e;
	h[5] += f;
	h[6] += g;
	h[7] += i;
}

void sha256_blocks_any(uint32_t h[8], const unsigned char *p, size_t blocks)
{
	for (; blocks; blocks--, p += SHA256_BLOCK)
		block(h, p);
}

sha256_blocks_fn *sha256_blocks = sha256_blocks_any;

#ifdef SHA256_X86
/* Before there are threads. */
static __attribute__((constructor)) void choose(void)
{
	if (sha256_x86_runs())
		sha256_blocks = sha256_blocks_x86;
}
#endif

void sha256_begin(struct sha256 *s)
{
	static const uint32_t start[8] = { 0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
					   0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19 };

	memcpy(s->h, start, sizeof(start));
	s->bytes = 0;
}

void sha256_add(struct sha256 *s, struct str bytes)
{
	size_t held = s->bytes % SHA256_BLOCK, room = SHA256_BLOCK - held;

	if (!bytes.n)
		return;
	s->bytes += bytes.n;
	if (held && bytes.n >= room) {
		memcpy(s->rest + held, bytes.p, room);
		sha256_blocks(s->h, s->rest, 1);
		bytes = str_from(bytes, room);
		held = 0;
	}
	if (!held) {
		size_t blocks = bytes.n / SHA256_BLOCK;

		sha256_blocks(s->h, (const unsigned char *)bytes.p, blocks);
		bytes = str_from(bytes, blocks * SHA256_BLOCK);
	}
	if (bytes.n)
		memcpy(s->rest + held, bytes.p, bytes.n);
}

static void sha256_end(struct sha256 *s, unsigned char out[32])
{
	size_t rest = s->bytes % SHA256_BLOCK;
	size_t tail_bytes = rest + 9 <= SHA256_BLOCK ? SHA256_BLOCK : 2 * SHA256_BLOCK;
	unsigned char tail[2 * SHA256_BLOCK] = { 0 };

	memcpy(tail, s->rest, rest);
	tail[rest] = 0x80;
	for (int i = 0; i < 8; i++)
		tail[tail_bytes - 1 - (size_t)i] = (unsigned char)(s->bytes * 8 >> 8 * i);
	sha256_blocks(s->h, tail, tail_bytes / SHA256_BLOCK);
	for (int i = 0; i < 8; i++)
		for (int b = 0; b < 4; b++)
			out[4 * i + b] = (unsigned char)(s->h[i] >> (24 - 8 * b));
}

void sha256(struct str bytes, unsigned char out[32])
{
	struct sha256 s;

	sha256_begin(&s);
	sha256_add(&s, bytes);
	sha256_end(&s, out);
}

void sha256_end_hex(struct sha256 *s, char out[65])
{
	unsigned char raw[32];

	sha256_end(s, raw);
	*str_put_hex(out, raw, sizeof(raw)) = '\0';
}

void sha256_hex(struct str bytes, char out[65])
{
	struct sha256 s;

	sha256_begin(&s);
	sha256_add(&s, bytes);
	sha256_end_hex(&s, out);
}
