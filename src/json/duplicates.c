/* Members of one name: what a parser reads that lets the last of them win. */
#include "base/map.h"
#include "json/json.h"

enum { PAIRWISE_MAX = 16 };

static const char no_name[JSON_PADDING]; /* so many bytes of a name may be read */

static struct str name_of(yyjson_val *key)
{
	return str_make(key->uni.str, unsafe_yyjson_get_len(key));
}

static void take_name(yyjson_val *key)
{
	key->tag = YYJSON_TYPE_STR | YYJSON_SUBTYPE_NOESC;
	key->uni.str = no_name;
}

/* The members found so far, by their names; those in keys are the last of theirs. */
struct seen {
	struct map map;
	VEC(yyjson_val *) keys;
};

/* The earlier member of that name, in place of which this one is noted; or NULL. */
static yyjson_val *note_key(struct seen *s, yyjson_val *key)
{
	uint64_t h = str_hash(name_of(key));

	for (uint32_t it = 0, i; map_next(&s->map, h, &it, &i);) {
		yyjson_val *before = s->keys.v[i];

		if (!str_eq(name_of(before), name_of(key)))
			continue;
		s->keys.v[i] = key;
		return before;
	}
	map_add(&s->map, h, s->keys.n);
	vec_push(&s->keys, key);
	return NULL;
}

static bool resolve_many(yyjson_val *obj)
{
	struct seen seen = { 0 };
	bool any = false;
	size_t i, n;
	yyjson_val *key, *v;

	yyjson_obj_foreach(obj, i, n, key, v) {
		yyjson_val *before = note_key(&seen, key);

		if (before)
			take_name(before);
		any |= before != NULL;
	}
	map_release(&seen.map);
	vec_release(&seen.keys);
	return any;
}

static bool resolve_few(yyjson_val *obj)
{
	yyjson_val *keys[PAIRWISE_MAX], *key, *v;
	bool any = false;
	size_t i, n;

	yyjson_obj_foreach(obj, i, n, key, v) {
		keys[i] = key;
		for (size_t k = 0; k < i; k++)
			if (keys[k]->uni.str != no_name && str_eq(name_of(keys[k]), name_of(key))) {
				take_name(keys[k]);
				any = true;
			}
	}
	return any;
}

/* Depth is bounded by JSON_DEPTH_MAX, so recursion is. */
bool json_last_wins(yyjson_val *v)
{
	bool any = false;
	size_t i, n;
	yyjson_val *key, *inside;

	if (yyjson_is_obj(v)) {
		any = yyjson_obj_size(v) <= PAIRWISE_MAX ? resolve_few(v) : resolve_many(v);
		yyjson_obj_foreach(v, i, n, key, inside)
			any |= json_last_wins(inside);
	} else if (yyjson_is_arr(v)) {
		yyjson_arr_foreach(v, i, n, inside)
			any |= json_last_wins(inside);
	}
	return any;
}
