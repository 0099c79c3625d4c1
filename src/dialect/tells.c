/* The registry of dialects, and which of them a message is.
 *
 * The tells of all dialects are one table by a name's number, so each member of a message is looked
 * up once: it adds its weights to the sums of all dialects, and its marks to what they have seen. */
#include "dialect/dialect.h"

#include "base/err.h"

#include <pthread.h>

static const struct dialect *const registry[] = {
	&dialect_feedback, &dialect_envelope,	  &dialect_collaboration,
	&dialect_handoff,  &dialect_orchestrator,
};
enum { REGISTERED = sizeof(registry) / sizeof(registry[0]) };

const struct dialect *dialect_of(enum dialect_id id)
{
	for (unsigned i = 0; i < REGISTERED; i++)
		if (registry[i]->id == id)
			return registry[i];
	return NULL;
}

enum {
	MEMBERS_MAX = 64, /* no message has that many at its top; others do not count */
	WEIGHT_BITS = 12,
	WEIGHT_MASK = (1 << WEIGHT_BITS) - 1,
	MARK_BITS = 16,
	MARKED = 64 / MARK_BITS, /* dialects whose marks fit a word */
	MARK_WORDS = (REGISTERED + MARKED - 1) / MARKED,
};
_Static_assert(REGISTERED * WEIGHT_BITS <= 64 && MEMBERS_MAX * 60 < 1 << WEIGHT_BITS, "sums have room");

struct told {
	uint64_t weights;           /* of all dialects, WEIGHT_BITS each */
	uint64_t marks[MARK_WORDS]; /* of all dialects: which of their tells it is */
	uint8_t glance;             /* which member probes know it as, GLANCES = none */
};
static struct told told[NAME_COUNT_MAX]; /* by a name's number; zero = tells nothing */

/* Names have the same numbers in all decoders. */
static struct names all_names;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static struct told *told_new(const char *name)
{
	const char *text = names_add(&all_names, str_of(name));

	if (!text)
		BUG("%s cannot tell a dialect: it has no number", name);
	return &told[name_number(&all_names, text)];
}

static void number_names(void)
{
	static const char *const glances[GLANCES] = {
		[GLANCE_TYPE] = "type",	    [GLANCE_ID] = "id",
		[GLANCE_STATUS] = "status", [GLANCE_TIMESTAMP] = "timestamp",
		[GLANCE_PAYLOAD] = "payload",
	};

	for (unsigned i = 0; i < NAME_COUNT_MAX; i++)
		told[i].glance = GLANCES;
	for (unsigned i = 0; i < GLANCES; i++)
		told_new(glances[i])->glance = (uint8_t)i;
	for (unsigned k = 0; k < REGISTERED; k++) {
		for (unsigned i = 0; registry[k]->tells[i].name; i++) {
			struct told *t = told_new(registry[k]->tells[i].name);

			if (i == MARK_BITS)
				BUG("more than %d tells", MARK_BITS);
			t->weights += (uint64_t)registry[k]->tells[i].weight << k * WEIGHT_BITS;
			t->marks[k / MARKED] |= UINT64_C(1) << (k % MARKED * MARK_BITS + i);
		}
		for (const struct shape *const *shape = registry[k]->shapes; *shape; shape++)
			shapes_compile(*shape, &all_names);
	}
}

struct names *names_of_dialects(void)
{
	struct names *names = xmalloc(sizeof(*names));

	pthread_once(&once, number_names);
	*names = all_names;
	return names;
}

/* What the members of a message tell. */
struct telling {
	uint64_t sums, marks[MARK_WORDS];
	yyjson_val *glance[GLANCES + 1]; /* the last is for what no probe looks at */
};

static inline void look_through(yyjson_val *root, const struct names *names, struct telling *out)
{
	yyjson_val *key = unsafe_yyjson_get_first(root);
	size_t n = unsafe_yyjson_get_len(root);
	uint64_t sums = 0, marks[MARK_WORDS] = { 0 };

	memset(out->glance, 0, sizeof(out->glance));
	for (size_t i = 0; i < n; i++, key = unsafe_yyjson_get_next(key + 1)) {
		unsigned number = names ? name_number(names, key->uni.str) : 0;
		const struct told *t;

		if (!number) /* read without names, or by another parser */
			number = names_find(&all_names, str_make(key->uni.str,
								 unsafe_yyjson_get_len(key)));
		t = &told[number];
		sums += i < MEMBERS_MAX ? t->weights : 0;
		for (int k = 0; k < MARK_WORDS; k++)
			marks[k] |= t->marks[k];
		if (!out->glance[t->glance])
			out->glance[t->glance] = key + 1;
	}
	out->sums = sums;
	memcpy(out->marks, marks, sizeof(marks));
}

static unsigned marks_of(const struct telling *t, unsigned k)
{
	return (unsigned)(t->marks[k / MARKED] >> k % MARKED * MARK_BITS) & ((1u << MARK_BITS) - 1);
}

/* For probes to ask for their text, those with escapes are copied, since the bytes of the message
 * are still to be hashed as they came. */
static void spare_glances(struct telling *t, struct arena *arena)
{
	for (int i = 0; i < GLANCES; i++) {
		yyjson_val *v = t->glance[i], *copy;

		if (!yyjson_is_str(v) || !(v->tag & JSON_ESCAPED))
			continue;
		copy = arena_alloc(arena, sizeof(*copy) + yyjson_get_len(v) + JSON_PADDING);
		copy->tag = v->tag;
		copy->uni.str = memcpy(copy + 1, v->uni.str, yyjson_get_len(v));
		t->glance[i] = copy;
	}
}

/* The one whose names alone tell it, whatever probes would say of the others; or REGISTERED. */
static unsigned plain_winner(uint64_t sums)
{
	unsigned winner = REGISTERED;
	int best = DETECT_MIN - 1, its_reach = 0, reach = 0; /* what the others could come to */

	for (unsigned k = 0; sums; k++, sums >>= WEIGHT_BITS) {
		int sum = (int)(sums & WEIGHT_MASK), could = sum ? sum + registry[k]->probe_max : 0;

		if (sum > best) {
			reach = its_reach > reach ? its_reach : reach;
			its_reach = could;
			best = sum;
			winner = k;
		} else {
			reach = could > reach ? could : reach;
		}
	}
	return reach < best ? winner : (unsigned)REGISTERED;
}

/* The same with probes of all that could win. */
static unsigned probed_winner(const struct telling *t, bool all, int sum[REGISTERED])
{
	unsigned winner = REGISTERED;
	int most = 0, best = DETECT_MIN - 1;

	for (unsigned k = 0; k < REGISTERED; k++) {
		sum[k] = (int)(t->sums >> k * WEIGHT_BITS & WEIGHT_MASK);
		most = sum[k] > most ? sum[k] : most;
	}
	for (unsigned k = 0; k < REGISTERED; k++) {
		int reach = sum[k] + registry[k]->probe_max;

		if (sum[k] && registry[k]->probe && (all || (reach >= most && reach > best)))
			sum[k] += registry[k]->probe(t->glance);
		if (sum[k] > best) {
			best = sum[k];
			winner = k;
		}
	}
	return winner;
}

const struct dialect *dialect_tell(struct decoder *d, yyjson_val *root)
{
	struct telling t;
	int sum[REGISTERED];
	unsigned winner;

	if (!yyjson_is_obj(root))
		return NULL;
	look_through(root, d->check.names, &t);
	winner = plain_winner(t.sums);
	if (winner == REGISTERED) {
		spare_glances(&t, &d->arena);
		winner = probed_winner(&t, false, sum);
	}
	if (winner == REGISTERED)
		return NULL;
	d->has = marks_of(&t, winner);
	return registry[winner];
}

enum dialect_id dialect_detect(yyjson_val *root, int *scores)
{
	struct telling t;
	int sum[REGISTERED];
	unsigned winner;

	if (scores)
		memset(scores, 0, DIALECT_COUNT * sizeof(*scores));
	if (!yyjson_is_obj(root))
		return DIALECT_UNKNOWN;
	pthread_once(&once, number_names);
	look_through(root, NULL, &t);
	winner = probed_winner(&t, scores, sum);
	for (unsigned k = 0; scores && k < REGISTERED; k++)
		scores[registry[k]->id] = sum[k];
	return winner == REGISTERED ? DIALECT_UNKNOWN : registry[winner]->id;
}

unsigned dialect_has(const struct dialect *dialect, yyjson_val *root, const struct names *names)
{
	struct telling t;
	unsigned k = 0;

	if (!yyjson_is_obj(root))
		return 0;
	pthread_once(&once, number_names);
	while (registry[k] != dialect)
		k++;
	look_through(root, names, &t);
	return marks_of(&t, k);
}
