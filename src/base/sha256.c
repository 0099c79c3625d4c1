/* SHA-256 over blocks of 64 bytes. */
#include "base/sha256.h"


static const uint32_t k[64] = {
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
	uint32_t w[64], v[8];

	for (int i = 0; i < 16; i++)
		w[i] = (uint32_t)p[4 * i] << 24 | (uint32_t)p[4 * i + 1] << 16 |
		       (uint32_t)p[4 * i + 2] << 8 | p[4 * i + 3];
	for (int i = 16; i < 64; i++) {
		uint32_t a = w[i - 15], b = w[i - 2];

		w[i] = w[i - 16] + (rotate(a, 7) ^ rotate(a, 18) ^ a >> 3) + w[i - 7] +
		       (rotate(b, 17) ^ rotate(b, 19) ^ b >> 10);
	}
	memcpy(v, h, sizeof(v));
	for (int i = 0; i < 64; i++) {
		uint32_t e = v[4], a = v[0];
		uint32_t t1 = v[7] + (rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25)) +
			      ((e & v[5]) ^ (~e & v[6])) + k[i] + w[i];
		uint32_t t2 = (rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22)) +
			      ((a & v[1]) ^ (a & v[2]) ^ (v[1] & v[2]));

		memmove(v + 1, v, 7 * sizeof(*v));
		v[4] += t1;
		v[0] = t1 + t2;
	}
	for (int i = 0; i < 8; i++)
		h[i] += v[i];
}

void sha256_begin(struct sha256 *s)
{
	static const uint32_t start[8] = { 0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
					   0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19 };

	memcpy(s->h, start, sizeof(start));
	s->bytes = 0;
}

void sha256_add(struct sha256 *s, struct str bytes)
{
	size_t held = s->bytes % 64, room = 64 - held;

	if (!bytes.n)
		return;
	s->bytes += bytes.n;
	if (held && bytes.n >= room) {
		memcpy(s->rest + held, bytes.p, room);
		block(s->h, s->rest);
		bytes = str_from(bytes, room);
		held = 0;
	}
	for (; !held && bytes.n >= 64; bytes = str_from(bytes, 64))
		block(s->h, (const unsigned char *)bytes.p);
	if (bytes.n)
		memcpy(s->rest + held, bytes.p, bytes.n);
}

static void sha256_end(struct sha256 *s, unsigned char out[32])
{
	size_t rest = s->bytes % 64, tail_bytes = rest + 9 <= 64 ? 64 : 128;
	unsigned char tail[128] = { 0 };

	memcpy(tail, s->rest, rest);
	tail[rest] = 0x80;
	for (int i = 0; i < 8; i++)
		tail[tail_bytes - 1 - (size_t)i] = (unsigned char)(s->bytes * 8 >> 8 * i);
	for (size_t i = 0; i < tail_bytes; i += 64)
		block(s->h, tail + i);
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
	static const char digits[] = "0123456789abcdef";
	unsigned char raw[32];

	sha256_end(s, raw);
	for (int i = 0; i < 32; i++) {
		out[2 * i] = digits[raw[i] >> 4];
		out[2 * i + 1] = digits[raw[i] & 0xf];
	}
	out[64] = '\0';
}

void sha256_hex(struct str bytes, char out[65])
{
	struct sha256 s;

	sha256_begin(&s);
	sha256_add(&s, bytes);
	sha256_end_hex(&s, out);
}
