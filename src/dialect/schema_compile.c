/* Compiles field tables (shapes) into the indexes that the validator uses: sets of valid tags,
 * fast checks, perfect hash tables of allowed values. */
#include "dialect/schema.h"

#include "base/err.h"

#include <stdlib.h>

#define TAG(type, subtype) (1u << ((type) | (subtype)))
#define TAGS(type) (TAG(type, 0) | TAG(type, 1 << 3) | TAG(type, 2 << 3) | TAG(type, 3 << 3))

/* Set of tags that are always valid in the field. */
static uint32_t always_valid(unsigned types, const struct field *f, bool arrays)
{
	uint32_t valid = types == T_ANY ? TAGS(YYJSON_TYPE_RAW) : 0;

	if ((types & T_STR) && !f->values && f->format == FORMAT_ANY)
		valid |= TAGS(YYJSON_TYPE_STR);
	if ((types & T_NUM) && !f->ranged)
		valid |= TAGS(YYJSON_TYPE_NUM);
	if ((types & T_INT) && !f->ranged)
		valid |= TAG(YYJSON_TYPE_NUM, YYJSON_SUBTYPE_SINT);
	if (types & T_BOOL)
		valid |= TAGS(YYJSON_TYPE_BOOL);
	if (types & T_NULL)
		valid |= TAGS(YYJSON_TYPE_NULL);
	if ((types & T_OBJ) && !f->inside)
		valid |= TAGS(YYJSON_TYPE_OBJ);
	if ((types & T_ARR) && arrays)
		valid |= TAGS(YYJSON_TYPE_ARR);
	return valid;
}

/* A field has one fast check: for a container if it may be one, else for a number or a string. */
static void set_fast_check(struct field_index *fi, const struct field *f)
{
	if ((f->types & T_ARR) && f->elements) {
		fi->fast_check = FAST_ELEMENTS;
		fi->fast_tags = TAGS(YYJSON_TYPE_ARR);
	} else if ((f->types & T_OBJ) && f->inside) {
		fi->fast_check = FAST_OBJECT;
		fi->fast_tags = TAGS(YYJSON_TYPE_OBJ);
	} else if ((f->types & (T_NUM | T_INT)) && f->ranged) {
		fi->fast_check = FAST_RANGE;
		fi->fast_tags = TAG(YYJSON_TYPE_NUM, YYJSON_SUBTYPE_SINT) |
			       TAG(YYJSON_TYPE_NUM, YYJSON_SUBTYPE_UINT);
		if (f->types & T_NUM)
			fi->fast_tags |= TAG(YYJSON_TYPE_NUM, YYJSON_SUBTYPE_REAL);
	} else if (f->types & T_STR) {
		fi->fast_check = (uint8_t)f->format;
		if (f->values)
			fi->fast_check = f->format == FORMAT_ANY ? FAST_VALUE : FORMAT_ANY;
		fi->fast_tags = TAGS(YYJSON_TYPE_STR);
	}
}

/* Fills the table with the set's key and size; false: collision. Strings with the same first bytes
 * and length share a slot, see find_long_value. */
static bool fill_slots(struct value_table *set, const struct value_slot *list, unsigned n)
{
	for (size_t i = 0; i < (size_t)1 << (64 - set->shift); i++)
		set->slots[i] = (struct value_slot){ .n = UINT32_MAX };
	for (unsigned i = 0; i < n; i++) {
		struct value_slot *slot = &set->slots[value_slot_of(set, list[i].words, list[i].n)];

		if (slot->n == UINT32_MAX)
			*slot = list[i];
		else if (slot->n != list[i].n || slot->words.first != list[i].words.first ||
			 slot->words.second != list[i].words.second)
			return false;
	}
	return true;
}

enum { SLOT_BITS_MAX = 16 };

/* Searches a key without collisions: 256 tries per table size, then twice the size. */
static struct value_table *find_key(const struct value_slot *list, unsigned n, const char *rule)
{
	struct value_table *set;
	uint64_t key = 1;
	unsigned bits = 1;

	while (1u << bits < n)
		bits++;
	for (; bits <= SLOT_BITS_MAX; bits++) {
		set = xcalloc(1, sizeof(*set) + (sizeof(*list) << bits));
		set->shift = 64 - bits;
		for (unsigned tries = 0; tries < 256; tries++) {
			set->key = key = key * 0xd1342543de82ef95u + 2; /* stays odd */
			if (fill_slots(set, list, n))
				return set;
		}
		free(set);
	}
	BUG("%s: no key for its values", rule);
}

static void set_values(struct field_index *fi, const char *const *values)
{
	struct value_slot *list;
	struct value_table *set;
	struct str *texts;
	unsigned n = 0;

	while (values[n])
		n++;
	if (n > UINT8_MAX)
		BUG("more than %d values", UINT8_MAX);
	list = xcalloc(n + 1, sizeof(*list));
	texts = xcalloc(n + 1, sizeof(*texts));
	for (unsigned i = 0; i < n; i++) {
		size_t most = sizeof(list[i].words);

		texts[i] = str_of(values[i]);
		list[i] = (struct value_slot){ .n = (uint32_t)texts[i].n, .number = i };
		memcpy(&list[i].words, texts[i].p, texts[i].n < most ? texts[i].n : most);
	}
	set = find_key(list, n, fi->field->rule);
	set->texts = texts;
	free(list);
	fi->values = set;
	fi->value_n = (uint8_t)n;
}

static void index_field(struct field_index *fi, const struct field *f, struct names *names)
{
	fi->field = f;
	fi->elements = (uint8_t)f->elements;
	fi->rows = f->rows;
	fi->valid_tags = always_valid(f->types, f, !f->elements);
	fi->valid_element_tags = always_valid(f->elements, f, true);
	set_fast_check(fi, f);
	if (f->values || f->open_values)
		set_values(fi, f->values ? f->values : f->open_values);
	if (f->inside) {
		shapes_compile(f->inside, names);
		if (f->values || f->open_values)
			BUG("%s has both values and an inside", f->rule);
		fi->inside = f->inside->index;
	}
	if (f->rows >= NESTED_MAX || (f->rows && !f->inside) ||
	    (f->rows && f->elements && !(f->elements & T_OBJ)))
		BUG("%s cannot have rows", f->rule);
}

void shapes_compile(const struct shape *shape, struct names *names)
{
	struct shape_index *x = shape->index;

	if (x->made)
		return;
	x->made = x->numbered = true;
	x->shape = shape;
	x->width = (uint8_t)(1 + shape->n);
	x->plain = !shape->each;
	memset(x->field_of, NO_FIELD, sizeof(x->field_of));
	if (shape->each)
		index_field(&x->field[0], shape->each, names);
	for (unsigned i = 0; i < shape->n; i++) {
		const struct field *f = &shape->fields[i];
		const char *name = names_add(names, str_of(f->name));

		if (name)
			x->field_of[name_number(names, name)] = (uint8_t)i;
		else
			x->numbered = false;
		x->fields |= 1u << i;
		x->needed |= (uint32_t)(f->need != OPTIONAL) << i;
		x->aliased |= (uint32_t)(f->alias != NULL) << i;
		index_field(&x->field[i], f, names);
		for (unsigned type = 0; type < 8; type++)
			if (~x->field[i].valid_tags & TAGS(type))
				x->maybe_invalid[type] |= 1u << i;
	}
}
