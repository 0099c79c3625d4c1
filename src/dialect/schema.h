/* Schema validation by tables. A shape lists the fields an object may have; a field says whether it
 * is required, its types, and the format of its value. check_object walks an object once, reports a
 * diagnostic with JSON pointer for every broken rule, and returns the values to the decoder by
 * field number, so that a decoder never looks up a name. Nothing here knows a protocol.
 *
 * Most objects are valid. So shapes_compile, called once before the first object, compiles each
 * table into an index (struct shape_index) with fast checks; only values that do not pass those are
 * checked by the rules below, which produce the diagnostics. */
#ifndef GAVEL_DIALECT_SCHEMA_H
#define GAVEL_DIALECT_SCHEMA_H

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
	RECOMMENDED, /* absent is a warning: a SHOULD, or omitted by the protocol's own examples */
};

enum value_format {
	FORMAT_ANY,
	FORMAT_NOT_EMPTY,    /* and without U+0000 */
	FORMAT_TIMESTAMP,    /* ISO 8601 with date and time */
	FORMAT_DATE,         /* ISO 8601, time optional */
	FORMAT_MIME,
	FORMAT_ITEM_ID,      /* ^[a-z0-9._-]{8,128}$ */
	FORMAT_UUID4_SOFT,   /* otherwise a warning: the protocol's own examples differ */
	FORMAT_UUID_SOFT,    /* any version, otherwise a warning */
	FORMAT_RELATIVE_PATH,
};

struct shape;

struct field {
	const char *name;
	const char *rule; /* "feedback/4.1.3-id" */
	enum need need;
	unsigned types;
	unsigned elements;          /* types of an array's elements; 0 = not checked */
	const struct shape *inside; /* of an object, or of an array's object elements */
	const char *const *values;  /* allowed strings, NULL-terminated */
	const char *const *related_values; /* values of related protocols: a warning */
	const char *const *open_values; /* instead of values: an open list, others are valid, too */
	/* of a string not in values, or a number out of range; zero means SEVERITY_ERROR */
	enum severity wrong_value;
	enum value_format format;         /* of a string, or of an array's string elements */
	const char *alias;          /* name in a related protocol: accepted with a warning */
	uint8_t rows; /* index into checker.rows for the decoder (struct rows); 0 = none */
	bool ranged;
	double min, max;
};

enum unknown_member { /* how to treat a member that is not in the table */
	UNKNOWN_NOTE,
	UNKNOWN_OK,
	UNKNOWN_ERROR, /* unless its name starts with x- */
};

enum { FIELDS_MAX = 20 };

/* A check without diagnostics: a value that passes is valid, another one may be. It is that of a
 * format (FORMAT_ANY: none), or one of these. */
enum fast_check {
	FAST_VALUE = FORMAT_RELATIVE_PATH + 1,
	FAST_RANGE,
	FAST_OBJECT,
	FAST_ELEMENTS,
};

/* An allowed value, compared by its first 16 bytes and its length. */
struct value_slot {
	struct json_words words;
	uint32_t n;      /* bytes; UINT32_MAX: the slot is free */
	uint32_t number; /* index into the field's list */
};

/* Perfect hash table of the allowed values: `key` is chosen so that there are no collisions. */
struct value_table {
	uint64_t key;
	unsigned shift; /* of the hash, leaves the slot number */
	struct str *texts; /* by number */
	struct value_slot slots[];
};

static inline size_t value_slot_of(const struct value_table *set, struct json_words words, size_t n)
{
	return (words.first ^ words.second * 0x9e3779b97f4a7c15u ^ n * HASH_K2) * set->key >>
	       set->shift;
}

/* The type and subtype of a value as one bit of a set. */
static inline uint32_t tag_of(yyjson_val *v)
{
	return 1u << (v->tag & 31);
}

/* The value after v. A hinted branch, so that the next key is loaded speculatively. */
static inline yyjson_val *value_after(yyjson_val *v)
{
	return usually(!unsafe_yyjson_is_ctn(v)) ? v + 1 : unsafe_yyjson_get_next(v);
}

struct shape_index;

/* Compiled field, half a cache line: what the fast path needs. */
struct field_index {
	uint32_t valid_tags;     /* set of tags that are always valid */
	uint32_t fast_tags; /* set of tags that `fast_check` applies to */
	uint32_t valid_element_tags;
	uint8_t fast_check;
	uint8_t value_n;
	uint8_t elements, rows; /* as in the field */
	union {
		const struct value_table *values;
		const struct shape_index *inside;
	};
	const struct field *field; /* its source */
};

/* Compiled shape. What every object needs comes first and is one cache line. */
struct shape_index {
	const struct shape *shape;
	uint32_t fields, needed, aliased; /* bits of fields */
	uint8_t width; /* of a row: the fields, and SELF */
	bool made;
	bool plain;    /* members are looked up by name; false: shape->each */
	bool numbered; /* all names are interned (json/names.h) */
	uint32_t maybe_invalid[8]; /* by JSON type: set of fields in which it may be invalid */
	_Alignas(64) uint8_t field_of[NAME_COUNT_MAX]; /* by a name's number: its field, or
							  NO_FIELD */
	struct field_index field[FIELDS_MAX];
};
enum { NO_FIELD = 31 };
_Static_assert(offsetof(struct shape_index, field_of) == 64 && sizeof(struct field_index) <= 32,
	       "as small as can be: many shapes take turns in a cache");

struct shape {
	const struct field *fields;
	unsigned n;
	enum unknown_member unknown;
	const char *unknown_rule;
	const struct field *each; /* every member follows this field; fields is not used */
	/* Names that are not allowed here (feedback: session fields). */
	bool (*forbidden)(struct str name);
	const char *forbidden_rule;
	struct shape_index *index;
};

/* A shape is const; its index is a static object, filled by shapes_compile. */
#define SHAPE_INDEX .index = &(struct shape_index){ 0 }
#define SHAPE_FIELDS(table) \
	SHAPE_INDEX, .fields = (table), .n = sizeof(table) / sizeof((table)[0])

/* Common rows of a table, after name and rule. */
#define POSITIVE .ranged = true, .min = 1, .max = (double)COUNT_MAX
#define NOT_NEGATIVE .ranged = true, .min = 0, .max = (double)COUNT_MAX
/* A range that the protocol's text only implies: outside of it is a warning. */
#define SOFT_RANGE(least, most) \
	.ranged = true, .min = (least), .max = (most), .wrong_value = SEVERITY_WARNING
#define REQUIRED_ID REQUIRED, T_STR, .format = FORMAT_NOT_EMPTY
#define REQUIRED_TIME REQUIRED, T_STR, .format = FORMAT_TIMESTAMP
#define REQUIRED_ENUM(list) REQUIRED, T_STR, .values = (list)
#define OBJECT(shape) T_OBJ, .inside = &(shape)
#define OBJECTS(shape) T_ARR, T_OBJ, &(shape)
#define STRINGS T_ARR, T_STR

/* Unknown members are noted. */
#define SHAPE_NOTING(table, rule) \
	{ SHAPE_FIELDS(table), .unknown = UNKNOWN_NOTE, .unknown_rule = rule }

/* Interns all names of the shape and of nested shapes, and builds their indexes. Call before any
 * thread parses with these names. */
void shapes_compile(const struct shape *shape, struct names *names);

/* Values that check_object has found inside a field: one row for an object, or one per element of
 * an array, indexed by the inner shape's field numbers; NULL where absent or the element is no
 * object. row[SELF] is the object or element itself. */
struct rows {
	yyjson_val *const *row;
	uint32_t n;
	uint32_t width; /* distance of rows */
};
enum { SELF = -1, NESTED_MAX = 12, ROW_SPACE_MAX = 512 };

enum { PATH_MAX_DEPTH = 24 }; /* of nested shapes */
struct path_step {
	const struct field *field; /* its name is the step; NULL: name or index is */
	struct str name; /* p NULL: an index */
	uint32_t index;
};

/* Zero it; checker_begin before each message; checker_release at the end. */
struct checker {
	struct message *m;
	unsigned depth;
	struct path_step path[PATH_MAX_DEPTH];
	struct buf scratch;
	struct names *names; /* owned, interned names of all shapes; NULL = trees have none */
	struct rows rows[NESTED_MAX]; /* by the field's `rows`, of this message */
	yyjson_val *scratch_rows[PATH_MAX_DEPTH][FIELDS_MAX]; /* for objects without rows */
	yyjson_val *row_space[ROW_SPACE_MAX]; /* storage of rows */
	unsigned row_space_n;
	struct arena rows_overflow; /* overflow of row_space */
	/* Cache of the last parsed time and its value, for checked_time. */
	yyjson_val *time_value;
	int64_t time_ms;
};

void checker_begin(struct checker *c, struct message *m);
void checker_release(struct checker *c);

/* The row of a field that is an object; all NULL if it is absent. */
static inline yyjson_val *const *row_of(const struct checker *c, unsigned rows)
{
	static yyjson_val *const nothing[1 + FIELDS_MAX];

	return c->rows[rows].n ? c->rows[rows].row : nothing + 1;
}

/* Iterates over the rows of a field that is an array. */
#define rows_foreach(c, at, i, r) \
	for (i = 0, r = (c)->rows[at].row; i < (c)->rows[at].n; i++, r += (c)->rows[at].width)

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

/* Adds a diagnostic at the current path, or at a member `name` of it. */
void add_diag(struct checker *c, enum severity s, const char *rule, const char *name,
	      const char *format, ...) __attribute__((format(printf, 5, 6)));

/* A member that stands twice: the message is ambiguous. */
void report_duplicate(struct checker *c, struct str name, yyjson_val *first, yyjson_val *second);

/* Index of a string in the values or words of its field, or -1. */
int value_number(const struct shape *shape, unsigned field, yyjson_val *v);
/* Time of an ISO 8601 string, or TIME_NONE. checked_time does not parse again what was just
 * checked. */
int64_t iso_time(yyjson_val *v);
int64_t checked_time(const struct checker *c, yyjson_val *v);

#endif
