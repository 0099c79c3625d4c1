/* Field rules as tables. A shape lists the fields an object may have; a field says whether it must
 * be there, its types, and what its value must look like. check_object walks an object once,
 * reports every broken rule with its place, and hands the values to the decoder by field number, so
 * that a decoder never looks a name up twice. Nothing here knows a protocol. */
#ifndef GAVEL_DIALECT_RULES_H
#define GAVEL_DIALECT_RULES_H

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
	enum severity wrong_value;  /* of a string not in values; zero means SEVERITY_ERROR */
	enum value_format format;         /* of a string, or of an array's string elements */
	const char *alias;          /* a related text's name for the field: read, with a warning */
	bool ranged;
	double min, max;
};

enum stranger { /* what a field that no table lists is */
	STRANGER_NOTE,
	STRANGER_FINE,
	STRANGER_ERROR, /* unless its name starts with x- */
};

enum { FIELDS_MAX = 20 };

struct shape {
	const struct field *fields;
	unsigned n;
	enum stranger stranger;
	const char *stranger_rule;
	const struct field *each; /* every member follows this field; fields is not used */
	/* A name that must not stand here whatever else does (feedback: session fields). */
	bool (*forbidden)(struct str name);
	const char *forbidden_rule;
};

#define SHAPE_FIELDS(table) .fields = (table), .n = sizeof(table) / sizeof((table)[0])

struct path_step {
	struct str name; /* p NULL: an index */
	uint32_t index;
};

struct shape_index;
enum { SHAPES_MAX = 256 };

/* Zero it; checker_release frees what it has learnt of shapes. */
struct checker {
	struct message *m;
	unsigned depth;
	struct path_step path[24];
	struct buf scratch;
	struct names *names; /* of all fields of the shapes met so far */
	struct shape_index *indexes[SHAPES_MAX]; /* by the shape's address */
	unsigned index_n;
};

void checker_release(struct checker *c);
/* Its names; made when they are first asked for. */
struct names *checker_names(struct checker *c);

/* Checks obj and fills got[i] with the value of shape->fields[i], or NULL. got may be NULL. */
void check_object(struct checker *c, yyjson_val *obj, const struct shape *shape, yyjson_val **got);
/* Checks one value as if it stood in that field at the current path. */
void check_value(struct checker *c, yyjson_val *v, const struct field *field);

static inline void path_push(struct checker *c, const char *name)
{
	c->path[c->depth++] = (struct path_step){ str_of(name), 0 };
}

static inline void path_push_index(struct checker *c, uint32_t index)
{
	c->path[c->depth++] = (struct path_step){ STR_NONE, index };
}

static inline void path_pop(struct checker *c)
{
	c->depth--;
}

/* Reports at the current path, or at a member `name` of it. */
void complain(struct checker *c, enum severity s, const char *rule, const char *name,
	      const char *format, ...) __attribute__((format(printf, 5, 6)));

bool is_uuid(struct str s, bool version4);
bool is_item_id(struct str s);
bool is_mime(struct str s); /* type/subtype, with or without parameters */
/* Index of s in a NULL-terminated list, or -1. */
int value_index(const char *const *values, struct str s);

#endif
