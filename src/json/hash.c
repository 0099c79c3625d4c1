/* Hashes of values. Nearly all strings are hashed undecoded; most have at most 16 bytes, which are
 * hashed as two words, branch-free whatever their length. */
#include "json/escapes.h"
#include "json/json.h"

/* Of n bytes; at least 16 must be readable. */
static inline uint64_t text_hash(const char *p, size_t n)
{
	struct json_words words;

	if (n > 16)
		return hash_long(p, n);
	words = json_words(p, n);
	return hash_short(words.first, words.second, n);
}

/* With its escapes in their usual spelling. */
static __attribute__((noinline)) uint64_t canonical_hash(yyjson_val *v)
{
	struct buf escaped = { 0 };
	uint64_t hash;
	size_t n;

	add_escaped(&escaped, json_str(v));
	n = escaped.n;
	buf_add(&escaped, "0123456789abcdef", 16); /* may be read */
	hash = text_hash(escaped.p, n);
	buf_release(&escaped);
	return hash;
}

/* Most strings with escapes are spelled as usual and not decoded yet: they are hashed as they are,
 * others as if they were spelled like that. */
static inline uint64_t string_hash(yyjson_val *v)
{
	if (usually((v->tag & YYJSON_SUBTYPE_NOESC) ||
		    (v->tag & (JSON_ESCAPED | JSON_NONCANONICAL)) == JSON_ESCAPED))
		return text_hash(v->uni.str, v->tag >> YYJSON_TAG_BIT);
	return canonical_hash(v);
}

static inline uint64_t member_hash(yyjson_val *v)
{
	return usually(unsafe_yyjson_is_str(v)) ? string_hash(v) : value_hash(v);
}

/* Numbers are hashed by their value; beyond 2^53 not every whole number is a double. */
static inline uint64_t number_hash(yyjson_val *v)
{
	double number = yyjson_get_num(v);
	uint64_t h;

	memcpy(&h, &number, sizeof(h));
	if (rarely(!yyjson_is_real(v) && (number > 0x1p53 || number < -0x1p53)))
		h ^= v->uni.u64 * HASH_K2;
	return h;
}

uint64_t value_hash_but(yyjson_val *v, const yyjson_val *but)
{
	const uint64_t k = hash_seed ^ HASH_K3;
	uint64_t h = YYJSON_TYPE_OBJ;
	size_t left;

	if (!yyjson_is_obj(v))
		return value_hash(v);
	left = unsafe_yyjson_get_len(v);
	for (v++; left; left--, v = unsafe_yyjson_get_next(v)) {
		uint64_t name = string_hash(v++);

		if (v != but)
			h += hash_fold(name ^ k, member_hash(v));
	}
	return hash_fold(h ^ k, k);
}

uint64_t value_hash(yyjson_val *v)
{
	const uint64_t k = hash_seed ^ HASH_K3;
	uint64_t h = yyjson_get_type(v);
	size_t left;

	switch (h) {
	case YYJSON_TYPE_NONE:
		return 0;
	case YYJSON_TYPE_STR:
		return string_hash(v);
	case YYJSON_TYPE_RAW:
		return k + text_hash(v->uni.str, v->tag >> YYJSON_TAG_BIT);
	case YYJSON_TYPE_NUM:
		return hash_fold(k, k ^ number_hash(v));
	case YYJSON_TYPE_ARR:
		left = unsafe_yyjson_get_len(v);
		for (v++; left; left--, v = unsafe_yyjson_get_next(v))
			h = hash_fold(h ^ k, member_hash(v) + left);
		break;
	case YYJSON_TYPE_OBJ:
		return value_hash_but(v, NULL);
	default: /* true, false, null */
		h = v->tag;
	}
	return hash_fold(h ^ k, k);
}
