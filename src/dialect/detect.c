/* Detects the dialect of a message by scores (dialect.h).
 *
 * Most messages have the same member names as earlier ones, so the scores of a set of names are
 * memoized in the decoder, under the sum of a random number for each name: one addition a member,
 * whatever the number of dialects, and duplicate names give another sum. */
#include "dialect/dialect.h"

#include "base/err.h"

#include <pthread.h>

/* The names of a message, by their numbers; bit 0 is any that has none. */
struct name_set {
	uint64_t bits[NAME_COUNT_MAX / 64];
	bool twice; /* one that is in a signature */
};

enum {
	FIRST_PROBED = 1, /* numbers of the members that probes look at */
	SLOTS_TRIED = 4,  /* for a memo; the last one is replaced */
};

/* Names have the same numbers in all decoders. */
static struct names all_names;
static uint16_t *key_numbers[DIALECT_MAX];   /* of each signature, in its order; ends with 0 */
static uint64_t key_randoms[NAME_COUNT_MAX]; /* by a name's number; 0 = it is in no signature */
static pthread_once_t once = PTHREAD_ONCE_INIT;

bool dialect_named(struct str name, enum dialect_id *out)
{
	for (unsigned d = 0; d < dialect_count(); d++)
		if (str_is(name, dialects[d]->name)) {
			*out = (enum dialect_id)d;
			return true;
		}
	return false;
}

unsigned dialect_count(void)
{
	unsigned n = 0;

	while (n < DIALECT_MAX && dialects[n])
		n++;
	return n;
}

static unsigned number_name(const char *name)
{
	const char *text = names_add(&all_names, str_of(name));

	if (!text)
		BUG("a dialect cannot be detected by %s: over %d bytes", name, NAME_BYTES);
	return name_number(&all_names, text);
}

static void number_signature(unsigned k)
{
	const struct detection_key *keys = dialects[k]->signature;
	unsigned n = 0, total = 0;

	while (keys && keys[n].name)
		n++;
	key_numbers[k] = xcalloc(n + 1, sizeof(*key_numbers[k]));
	for (unsigned i = 0; i < n; i++) {
		unsigned number = number_name(keys[i].name);

		key_numbers[k][i] = (uint16_t)number;
		key_randoms[number] = str_hash(str_of(keys[i].name));
		total += keys[i].weight;
	}
	if (total > UINT16_MAX)
		BUG("the weights of %s add up to over %d", dialects[k]->name, UINT16_MAX);
}

static void number_names(void)
{
	static const char *const probed[PROBED_COUNT] = {
		[PROBED_TYPE] = "type",	    [PROBED_ID] = "id",
		[PROBED_STATUS] = "status", [PROBED_TIMESTAMP] = "timestamp",
		[PROBED_PAYLOAD] = "payload", [PROBED_METHOD] = "method",
		[PROBED_MESSAGE] = "message",
	};

	for (unsigned i = 0; i < PROBED_COUNT; i++)
		if (number_name(probed[i]) != FIRST_PROBED + i)
			BUG("what is probed has the first numbers");
	for (unsigned k = 0; k < dialect_count(); k++)
		number_signature(k);
	for (unsigned k = 0; k < dialect_count(); k++)
		for (const struct shape *const *s = dialects[k]->shapes; s && *s; s++)
			shapes_compile(*s, &all_names);
}

struct names *names_of_dialects(void)
{
	struct names *names = xmalloc(sizeof(*names));

	pthread_once(&once, number_names);
	*names = all_names;
	return names;
}

static inline unsigned number_of(yyjson_val *key, const struct names *names)
{
	unsigned number = names ? name_number(names, key->uni.str) : 0;

	if (usually(number))
		return number;
	/* read without names, or by another parser */
	return names_find(&all_names, str_make(key->uni.str, unsafe_yyjson_get_len(key)));
}

static struct name_set names_in(yyjson_val *root, const struct names *names)
{
	struct name_set set = { 0 };
	size_t i, n;
	yyjson_val *key, *v;

	yyjson_obj_foreach(root, i, n, key, v) {
		unsigned number = number_of(key, names);
		uint64_t bit = UINT64_C(1) << number % 64;

		set.twice |= key_randoms[number] && set.bits[number / 64] & bit;
		set.bits[number / 64] |= bit;
	}
	return set;
}

/* Which keys of a dialect's signature are there, as bits; *sum: their weights. */
static uint16_t keys_in(const struct name_set *set, unsigned k, uint16_t *sum)
{
	uint16_t has = 0;

	*sum = 0;
	for (unsigned i = 0, number; (number = key_numbers[k][i]); i++)
		if (set->bits[number / 64] >> number % 64 & 1) {
			*sum = (uint16_t)(*sum + dialects[k]->signature[i].weight);
			has |= (uint16_t)(i < 16 ? 1u << i : 0);
		}
	return has;
}

/* Of members with one name, probes look at the first. */
static inline void note_probed(yyjson_val **probed, unsigned number, yyjson_val *v)
{
	unsigned g = number - FIRST_PROBED;

	if (g < PROBED_COUNT && !probed[g])
		probed[g] = v;
}

static void find_probed(yyjson_val *root, yyjson_val **probed)
{
	size_t i, n;
	yyjson_val *key, *v;

	yyjson_obj_foreach(root, i, n, key, v)
		note_probed(probed, number_of(key, NULL), v);
}

/* Probes ask for texts, which decodes their escapes, but the bytes of the message may still have to be
 * hashed as they came. */
static void copy_escaped(yyjson_val **probed, struct arena *arena)
{
	for (unsigned g = 0; g < PROBED_COUNT; g++) {
		yyjson_val *v = probed[g], *copy;

		if (!yyjson_is_str(v) || !(v->tag & JSON_ESCAPED))
			continue;
		copy = arena_alloc(arena, sizeof(*copy) + yyjson_get_len(v) + JSON_PADDING);
		copy->tag = v->tag;
		copy->uni.str = memcpy(copy + 1, v->uni.str, yyjson_get_len(v));
		probed[g] = copy;
	}
}

/* The one whose names alone tell it, whatever probes would say of the others; or none. */
static enum dialect_id winner_by_names(const struct detection *t)
{
	unsigned winner = DIALECT_UNKNOWN;
	int best = DETECT_MIN - 1, its_reach = 0, reach = 0; /* what the others could come to */

	for (unsigned k = 0; k < dialect_count(); k++) {
		int sum = t->sum[k], could = sum ? sum + dialects[k]->probe_max : 0;

		if (sum > best) {
			reach = its_reach > reach ? its_reach : reach;
			its_reach = could;
			best = sum;
			winner = k;
		} else {
			reach = could > reach ? could : reach;
		}
	}
	return reach < best ? (enum dialect_id)winner : DIALECT_UNKNOWN;
}

static void detect_by_names(yyjson_val *root, const struct names *names, struct detection *out)
{
	struct name_set set = names_in(root, names);

	out->twice = set.twice;
	out->most = 0;
	out->n = dialect_count();
	for (unsigned k = 0; k < out->n; k++) {
		out->has[k] = keys_in(&set, k, &out->sum[k]);
		out->most = out->sum[k] > out->most ? out->sum[k] : out->most;
	}
	out->winner = winner_by_names(out);
}

/* The same as for another message with these names, mostly. */
static const struct detection *detect_memoized(struct decoder *d, yyjson_val *root,
					       yyjson_val **probed)
{
	const struct names *names = d->check.names;
	yyjson_val *key = unsafe_yyjson_get_first(root);
	uint64_t sum = 1; /* that of a slot never used is 0 */
	struct detection *t = NULL;

	for (size_t left = unsafe_yyjson_get_len(root); left; left--) {
		unsigned number = number_of(key, names);

		sum += key_randoms[number];
		note_probed(probed, number, key + 1);
		key = value_after(key + 1);
	}
	for (unsigned i = 0; i < SLOTS_TRIED; i++) {
		t = &d->detections[((sum >> 32) + i) % DETECTIONS];
		if (usually(t->names == sum))
			return t;
		if (!t->names)
			break;
	}
	detect_by_names(root, names, t);
	t->names = sum;
	return t;
}

/* The best score with what probes add: of all, or only of those that could still win. */
static enum dialect_id probed_winner(const struct detection *t, yyjson_val *const *probed,
				     int *scores)
{
	unsigned winner = DIALECT_UNKNOWN;
	int best = DETECT_MIN - 1;

	for (unsigned k = 0; k < t->n; k++) {
		int score = t->sum[k], reach = score + dialects[k]->probe_max;

		if (score && dialects[k]->probe && (scores || (reach >= t->most && reach > best)))
			score += dialects[k]->probe(probed);
		if (scores)
			scores[k] = score;
		if (score > best) {
			best = score;
			winner = k;
		}
	}
	return (enum dialect_id)winner;
}

/* Whether probes see no more than a type and a timestamp, as in many small messages. */
static bool has_only_type(yyjson_val *const *probed)
{
	return yyjson_is_str(probed[PROBED_TYPE]) && !probed[PROBED_ID] && !probed[PROBED_STATUS] &&
	       !probed[PROBED_PAYLOAD] && !probed[PROBED_METHOD] && !probed[PROBED_MESSAGE];
}

static enum dialect_id winner_by_type(struct decoder *d, const struct detection *t,
				      yyjson_val *const *probed)
{
	unsigned timestamp = yyjson_get_type(probed[PROBED_TIMESTAMP]);
	uint64_t key = hash_mix(t->names + timestamp, value_hash(probed[PROBED_TYPE])) | 1;
	struct typed_winner *memo = &d->typed_winners[(key >> 32) % DETECTIONS];

	if (rarely(memo->key != key))
		*memo = (struct typed_winner){ key, probed_winner(t, probed, NULL) };
	return memo->winner;
}

enum dialect_id decoder_detect(struct decoder *d, yyjson_val *root)
{
	yyjson_val *probed[PROBED_SIZE] = { [PROBED_ROOT] = root };
	const struct detection *t;
	enum dialect_id winner;

	d->twice = false;
	if (!yyjson_is_obj(root))
		return DIALECT_UNKNOWN;
	t = detect_memoized(d, root, probed);
	d->twice = t->twice;
	winner = t->winner;
	if (winner == DIALECT_UNKNOWN && t->most) {
		copy_escaped(probed, &d->arena);
		winner = has_only_type(probed) ? winner_by_type(d, t, probed)
					       : probed_winner(t, probed, NULL);
	}
	d->has = t->has[winner];
	return winner;
}

enum dialect_id dialect_detect(yyjson_val *root, int *scores)
{
	yyjson_val *probed[PROBED_SIZE] = { [PROBED_ROOT] = root };
	struct detection t;

	if (scores)
		memset(scores, 0, DIALECT_MAX * sizeof(*scores));
	if (!yyjson_is_obj(root))
		return DIALECT_UNKNOWN;
	pthread_once(&once, number_names);
	find_probed(root, probed);
	detect_by_names(root, NULL, &t);
	return probed_winner(&t, probed, scores);
}

unsigned dialect_has(const struct dialect_ops *dialect, yyjson_val *root, const struct names *names)
{
	struct name_set set;
	unsigned k = 0;
	uint16_t sum;

	if (!yyjson_is_obj(root))
		return 0;
	pthread_once(&once, number_names);
	while (dialects[k] != dialect)
		k++;
	set = names_in(root, names);
	return keys_in(&set, k, &sum);
}
