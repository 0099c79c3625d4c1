/* Field rules as tables. A shape lists the fields an object may have; a field says whether it must
 * be there, its types, and what its value must look like. check_object walks an object once,
 * reports every broken rule with its place, and hands the values to the decoder by field number, so
 * that a decoder never looks a name up twice. Nothing here knows a protocol.
 *
 * Most objects are as they should be. So before the first one, shapes_compile makes of each table
 * what answers "is this right?" fastest; only what is not surely right is looked at by the rules as
 * they stand here, which have the words for what is wrong. */
#ifndef GAVEL_DIALECT_RULES_H
#define GAVEL_DIALECT_RULES_H

#include "dialect/formats.h"
#include "event/event.h"
#include "json/json.h"

enum {
	T_STR = 1 << 0,
	T_NUM = 1 << 1, /* any finite number */
	T_INT = 1 << 2, /* a whole number */
	T_BOOL = 1 << 3,
	T_OBJ = 1 << 4,
	T_ARR = 1 << 5,
	T_NULL = 1 << 6,
	T_ANY = T_STR | T_NUM | T_BOOL | T_OBJ | T_ARR | T_NULL,
};

enum need {
	OPTIONAL,
	REQUIRED,    /* absent is an error */
	RECOMMENDED, /* absent is a warning: a SHOULD, or a field that the text's examples lack */
};

enum value_format {
	FORMAT_ANY,
	FORMAT_NOT_EMPTY,    /* nor with U+0000 in it */
	FORMAT_TIMESTAMP,    /* ISO 8601 with date and time */
	FORMAT_DATE,         /* ISO 8601; a date alone will do */
	FORMAT_MIME,
	FORMAT_ITEM_ID,      /* ^[a-z0-9._-]{8,128}$ */
	FORMAT_UUID4_SOFT,   /* otherwise a warning: the text's own examples differ */
	FORMAT_UUID_SOFT,    /* any version, otherwise a warning */
	FORMAT_RELATIVE_PATH,
};

struct shape;

struct field {
	const char *name;
	const char *rule; /* "feedback/4.1.3-id" */
	enum need need;
	unsigned types;
	unsigned elements;          /* types of an array's elements; 0 = not looked at */
	const struct shape *inside; /* of an object, or of an array's object elements */
	const char *const *values;  /* allowed strings, NULL-terminated */
	const char *const *siblings; /* further strings that related texts use: a warning */
	const char *const *words;    /* in place of values: known, but others are not wrong */
	enum severity wrong_value;  /* of a string not in values; zero means SEVERITY_ERROR */
	enum value_format format;         /* of a string, or of an array's string elements */
	const char *alias;          /* a related text's name for the field: read, with a warning */
	uint8_t keep; /* where decoders find what is inside (struct rows); 0 = they do not ask */
	bool ranged;
	double min, max;
};

enum stranger { /* what a field that no table lists is */
	STRANGER_NOTE,
	STRANGER_FINE,
	STRANGER_ERROR, /* unless its name starts with x- */
};

enum { FIELDS_MAX = 20 };

/* How a value that could be wrong is shown to be right. */
enum proof {
	PROOF_NONE, /* by the rules themselves */
	PROOF_VALUE,
	PROOF_NOT_EMPTY,
	PROOF_TIMESTAMP,
	PROOF_DATE,
	PROOF_MIME,
	PROOF_ITEM_ID,
	PROOF_UUID4,
	PROOF_UUID,
	PROOF_PATH,
	PROOF_RANGE,
	PROOF_OBJECT,
	PROOF_ELEMENTS,
};

/* A string that may stand in a field. Most are told by their first bytes and their length. */
struct allowed {
	struct json_words words;
	uint32_t n;      /* bytes; UINT32_MAX: the slot is free */
	uint32_t number; /* among all */
};

/* All that may. Their key puts each into a slot of its own, so that nothing has to be looked for. */
struct allowed_set {
	uint64_t key;
	unsigned shift; /* leaves the number of a slot */
	struct str *texts; /* by number */
	struct allowed slots[];
};

static inline size_t allowed_slot(const struct allowed_set *set, struct json_words words, size_t n)
{
	return (words.first ^ words.second * 0x9e3779b97f4a7c15u ^ n * HASH_K2) * set->key >> set->shift;
}

/* Types and subtypes of values as bits. */
static inline uint32_t tag_of(yyjson_val *v)
{
	return 1u << (v->tag & 31);
}

/* What stands behind a value, guessed: so that it is looked at before it is sure. */
static inline yyjson_val *value_behind(yyjson_val *v)
{
	return usually(!unsafe_yyjson_is_ctn(v)) ? v + 1 : unsafe_yyjson_get_next(v);
}

struct shape_index;

/* Half a cache line, with all that is asked of what is right. */
struct field_index {
	uint32_t fine;     /* tags that need no further look */
	uint32_t provable; /* tags that the proof is for */
	uint32_t fine_elements;
	uint8_t proof;
	uint8_t allowed_n;
	uint8_t elements, keep; /* the field's */
	union {
		const struct allowed_set *allowed;
		const struct shape_index *inside;
	};
	const struct field *field; /* what it was made of */
};

/* What is looked at for every object comes first, and is one cache line. */
struct shape_index {
	const struct shape *shape;
	uint32_t fields, needed, aliased; /* bits of fields */
	uint8_t width; /* of a row: the fields, and SELF */
	bool made;
	bool plain;    /* members are told by their names */
	bool numbered; /* all names have numbers (json/names.h) */
	uint32_t suspect[8]; /* fields by a value's type: those in which it could be wrong */
	_Alignas(64) uint8_t field_of[NAME_COUNT_MAX]; /* by a name's number, NO_FIELD where it is
							  none */
	struct field_index field[FIELDS_MAX];
};
enum { NO_FIELD = 31 };
_Static_assert(offsetof(struct shape_index, field_of) == 64 && sizeof(struct field_index) <= 32,
	       "as small as can be: many shapes take turns in a cache");

struct shape {
	const struct field *fields;
	unsigned n;
	enum stranger stranger;
	const char *stranger_rule;
	const struct field *each; /* every member follows this field; fields is not used */
	/* A name that must not stand here whatever else does (feedback: session fields). */
	bool (*forbidden)(struct str name);
	const char *forbidden_rule;
	struct shape_index *index;
};

/* Shapes are constants, and so is where their index will be. */
#define SHAPE_INDEX .index = &(struct shape_index){ 0 }
#define SHAPE_FIELDS(table) \
	SHAPE_INDEX, .fields = (table), .n = sizeof(table) / sizeof((table)[0])

/* Gives numbers to all names of the shape and of those inside, and makes their indexes. Before
 * anybody reads with these names; not while others do. */
void shapes_compile(const struct shape *shape, struct names *names);

/* What check_object has found inside a field: a row of an object, or one of each element of an
 * array, with the values of the inner shape's fields by their numbers, NULL where there is none or
 * the element is no object. SELF is the object or the element itself. */
struct rows {
	yyjson_val *const *row;
	uint32_t n;
	uint32_t width; /* from one row to the next */
};
enum { SELF = -1, KEPT_MAX = 12, ROOM_MAX = 512 };

enum { PATH_MAX_DEPTH = 24 }; /* of shapes in shapes */
struct path_step {
	const struct field *field; /* whose name it is; NULL: another */
	struct str name; /* p NULL: an index */
	uint32_t index;
};

/* Zero it, and release it. */
struct checker {
	struct message *m;
	unsigned depth;
	struct path_step path[PATH_MAX_DEPTH];
	struct buf scratch;
	struct names *names; /* its own, of all shapes; NULL = trees have none of them */
	struct rows kept[KEPT_MAX]; /* by the field's `keep`, of this message */
	yyjson_val *here[PATH_MAX_DEPTH][FIELDS_MAX]; /* what is not kept, while it is checked */
	yyjson_val *room[ROOM_MAX]; /* for the rows of most messages */
	unsigned room_n;
	struct arena rows; /* for those of the others */
	/* The time that was read last, and of which value: whoever wants it need not read again. */
	yyjson_val *timed;
	int64_t time_ms;
};

/* Before each message. */
void checker_begin(struct checker *c, struct message *m);
void checker_release(struct checker *c);

/* The row of a field that is an object; all NULL where it was not. */
static inline yyjson_val *const *kept(const struct checker *c, unsigned keep)
{
	static yyjson_val *const nothing[1 + FIELDS_MAX];

	return c->kept[keep].n ? c->kept[keep].row : nothing + 1;
}

/* Goes through the rows of a field that is an array. */
#define kept_foreach(c, keep, i, r) \
	for (i = 0, r = (c)->kept[keep].row; i < (c)->kept[keep].n; i++, r += (c)->kept[keep].width)

/* Checks obj and fills got[i] with the value of shape->fields[i], or NULL. got may be NULL. */
void check_object(struct checker *c, yyjson_val *obj, const struct shape *shape, yyjson_val **got);

static inline void path_push(struct checker *c, const char *name)
{
	c->path[c->depth++] = (struct path_step){ NULL, str_of(name), 0 };
}

static inline void path_push_index(struct checker *c, uint32_t index)
{
	c->path[c->depth++] = (struct path_step){ NULL, STR_NONE, index };
}

static inline void path_pop(struct checker *c)
{
	c->depth--;
}

/* Reports at the current path, or at a member `name` of it. */
void complain(struct checker *c, enum severity s, const char *rule, const char *name,
	      const char *format, ...) __attribute__((format(printf, 5, 6)));

/* The number of a string among the values or words of its field, or -1. */
int value_number(const struct shape *shape, unsigned field, yyjson_val *v);
/* Time of an ISO 8601 string, or WHEN_NONE. */
int64_t checked_time(const struct checker *c, yyjson_val *v);

#endif
