/* The registry of dialects, and which of them a message is.
 *
 * The tells of all dialects are one table by a name's number, so each member of a message is looked
 * up once: it adds its weights to the sums of all dialects, and its marks to what they have seen.
 * Messages are mostly like others before: then it is enough to know which names are there. */
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
	TOLD_MAX = 64, /* names that tell something have the first numbers, so that bits will do */
};
_Static_assert(sizeof(((struct telling *)0)->marks) == MARK_WORDS * sizeof(uint64_t), "all have room");
_Static_assert(REGISTERED * WEIGHT_BITS <= 64 && MEMBERS_MAX * 60 < 1 << WEIGHT_BITS, "sums have room");

struct told {
	uint64_t weights;           /* of all dialects, WEIGHT_BITS each */
	uint64_t marks[MARK_WORDS]; /* of all dialects: which of their tells it is */
};
static struct told told[TOLD_MAX]; /* by a name's number */
enum { FIRST_GLANCE = 1 };         /* numbers of the members that probes look at */

/* Names have the same numbers in all decoders. */
static struct names all_names;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static struct told *told_new(const char *name)
{
	const char *text = names_add(&all_names, str_of(name));

	if (!text || name_number(&all_names, text) >= TOLD_MAX)
		BUG("%s cannot tell a dialect: it has no small number", name);
	return &told[name_number(&all_names, text)];
}

static void number_names(void)
{
	static const char *const glances[GLANCES] = {
		[GLANCE_TYPE] = "type",	    [GLANCE_ID] = "id",
		[GLANCE_STATUS] = "status", [GLANCE_TIMESTAMP] = "timestamp",
		[GLANCE_PAYLOAD] = "payload",
	};

	for (unsigned i = 0; i < GLANCES; i++)
		if (told_new(glances[i]) != &told[FIRST_GLANCE + i])
			BUG("glances come first");
	for (unsigned k = 0; k < REGISTERED; k++)
		for (unsigned i = 0; registry[k]->tells[i].name; i++) {
			struct told *t = told_new(registry[k]->tells[i].name);

			if (i == MARK_BITS)
				BUG("more than %d tells", MARK_BITS);
			t->weights += (uint64_t)registry[k]->tells[i].weight << k * WEIGHT_BITS;
			t->marks[k / MARKED] |= UINT64_C(1) << (k % MARKED * MARK_BITS + i);
		}
	for (unsigned k = 0; k < REGISTERED; k++)
		for (const struct shape *const *shape = registry[k]->shapes; *shape; shape++)
			shapes_compile(*shape, &all_names);
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

	if (number)
		return number;
	/* read without names, or by another parser */
	return names_find(&all_names, str_make(key->uni.str, unsafe_yyjson_get_len(key)));
}

/* All that members tell, but for the winner. */
static struct telling look_through(yyjson_val *root, const struct names *names)
{
	yyjson_val *key = unsafe_yyjson_get_first(root);
	size_t n = unsafe_yyjson_get_len(root), silent = n > MEMBERS_MAX ? n - MEMBERS_MAX : 0;
	struct telling out = { 0 };

	for (; n; n--, key = unsafe_yyjson_get_next(key + 1)) {
		unsigned number = number_of(key, names);

		if (number >= TOLD_MAX)
			continue;
		out.sums += n > silent ? told[number].weights : 0;
		for (int k = 0; k < MARK_WORDS; k++)
			out.marks[k] |= told[number].marks[k];
	}
	return out;
}

static unsigned marks_of(const struct telling *t, unsigned k)
{
	return (unsigned)(t->marks[k / MARKED] >> k % MARKED * MARK_BITS) & ((1u << MARK_BITS) - 1);
}

/* The members that probes look at. For them to ask for its text, one with escapes is copied if
 * there is an arena: the bytes of the message may still have to be hashed as they came. */
static void find_glances(yyjson_val *root, const struct names *names, struct arena *arena,
			 yyjson_val *glance[GLANCES])
{
	size_t i, n;
	yyjson_val *key, *v, *copy;

	memset(glance, 0, GLANCES * sizeof(*glance));
	yyjson_obj_foreach(root, i, n, key, v) {
		unsigned g = number_of(key, names) - FIRST_GLANCE;

		if (g >= GLANCES || glance[g] || i >= MEMBERS_MAX)
			continue;
		glance[g] = v;
		if (!arena || !yyjson_is_str(v) || !(v->tag & JSON_ESCAPED))
			continue;
		copy = arena_alloc(arena, sizeof(*copy) + yyjson_get_len(v) + JSON_PADDING);
		copy->tag = v->tag;
		copy->uni.str = memcpy(copy + 1, v->uni.str, yyjson_get_len(v));
		glance[g] = copy;
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

/* A name's bit among those that tell something, 1 if it does not. */
static inline uint64_t bit_of(yyjson_val *key, const struct names *names)
{
	uintptr_t offset = (uintptr_t)key->uni.str - (uintptr_t)names->list;
	unsigned number;

	if (usually(offset < TOLD_MAX * sizeof(names->list[0])))
		return UINT64_C(1) << offset / sizeof(names->list[0]);
	number = number_of(key, names);
	return number < TOLD_MAX ? UINT64_C(1) << number : 1;
}

/* What the members of a message tell, which mostly is what those of another have told. */
static const struct telling *tell(struct decoder *d, yyjson_val *root, struct telling *odd)
{
	const struct names *names = d->check.names;
	yyjson_val *key = unsafe_yyjson_get_first(root);
	size_t n = unsafe_yyjson_get_len(root);
	uint64_t has = 1, twice = 0; /* number 0 is no name */
	struct telling *t;

	for (size_t left = n; left; left--) {
		uint64_t bit = bit_of(key, names);

		twice |= has & bit;
		has |= bit;
		key = value_behind(key + 1);
	}
	t = &d->usual[has * 0x9e3779b97f4a7c15u >> 58];
	_Static_assert(sizeof(d->usual) / sizeof(d->usual[0]) == 64, "a slot is six bits");
	if (twice > 1 || n > MEMBERS_MAX)
		t = odd;
	else if (t->names == has)
		return t;
	*t = look_through(root, names);
	t->names = has;
	t->winner = plain_winner(t->sums);
	return t;
}

/* The same with probes of all that could win. */
static unsigned probed_winner(uint64_t sums, yyjson_val *const *glance, bool all,
			      int sum[REGISTERED])
{
	unsigned winner = REGISTERED;
	int most = 0, best = DETECT_MIN - 1;

	for (unsigned k = 0; k < REGISTERED; k++) {
		sum[k] = (int)(sums >> k * WEIGHT_BITS & WEIGHT_MASK);
		most = sum[k] > most ? sum[k] : most;
	}
	for (unsigned k = 0; k < REGISTERED; k++) {
		int reach = sum[k] + registry[k]->probe_max;

		if (sum[k] && registry[k]->probe && (all || (reach >= most && reach > best)))
			sum[k] += registry[k]->probe(glance);
		if (sum[k] > best) {
			best = sum[k];
			winner = k;
		}
	}
	return winner;
}

const struct dialect *dialect_tell(struct decoder *d, yyjson_val *root)
{
	yyjson_val *glance[GLANCES];
	const struct telling *t;
	struct telling odd;
	int sum[REGISTERED];
	unsigned winner;

	if (!yyjson_is_obj(root))
		return NULL;
	t = tell(d, root, &odd);
	winner = t->winner;
	if (winner == REGISTERED) {
		find_glances(root, d->check.names, &d->arena, glance);
		winner = probed_winner(t->sums, glance, false, sum);
	}
	if (winner == REGISTERED)
		return NULL;
	d->has = marks_of(t, winner);
	return registry[winner];
}

enum dialect_id dialect_detect(yyjson_val *root, int *scores)
{
	yyjson_val *glance[GLANCES];
	int sum[REGISTERED];
	unsigned winner;

	if (scores)
		memset(scores, 0, DIALECT_COUNT * sizeof(*scores));
	if (!yyjson_is_obj(root))
		return DIALECT_UNKNOWN;
	pthread_once(&once, number_names);
	find_glances(root, NULL, NULL, glance);
	winner = probed_winner(look_through(root, NULL).sums, glance, scores, sum);
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
	t = look_through(root, names);
	return marks_of(&t, k);
}
