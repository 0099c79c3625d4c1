/* State of one parse of a configuration: line and column of each value, error messages about them,
 * and checks that setters share. For config.c and the setters of its table only.
 *
 * Call config_find_places first, with the text that root was parsed from; the caller releases
 * places. Errors become problems of c. */
#ifndef GAVEL_CONFIG_CONFIG_READING_H
#define GAVEL_CONFIG_CONFIG_READING_H

#include "config/config.h"
#include "json/json.h"

struct config_place {
	uint32_t line, column;
};

struct config_reading {
	struct config *c;
	yyjson_val *root;
	VEC(struct config_place) places; /* of the values, in the order of the text */
};

void config_find_places(struct config_reading *r, struct str text);
struct config_place config_place_of(const struct config_reading *r, yyjson_val *v);
/* Advances a place over the text s. */
void config_place_advance(struct config_place *at, struct str s);

/* Takes ownership of the sentence; the buffer is empty afterwards. */
void config_add_problem(struct config *c, struct buf *sentence);
/* Adds a problem at a value or key. */
#define config_error(r, v, ...) \
	config_problem((r)->c, config_place_of(r, v).line, config_place_of(r, v).column, \
		       __VA_ARGS__)
/* "name must be expected, not …" */
void config_invalid(struct config_reading *r, yyjson_val *v, const char *name,
		    const char *expected);
/* "no what key; there are known" */
void config_unknown_key(struct config_reading *r, yyjson_val *key, const char *what,
			const char *known);

enum { CONFIG_SHOWN_MAX = 40, CONFIG_VALUE_MAX = CONFIG_SHOWN_MAX * 8 };

/* In quotes, escaped to ASCII, cut when long. */
void config_quote(struct str s, char out[CONFIG_VALUE_MAX]);

/* Whether the value is an object of at most CONFIG_MEMBERS_MAX members; else adds a problem. */
bool config_is_object(struct config_reading *r, yyjson_val *v, const char *name,
		      const char *expected);
/* Whether the value is an array of min to CONFIG_MEMBERS_MAX values; adds no problem. */
bool config_is_array(yyjson_val *v, size_t min);
/* Whether an earlier member has the same name; then adds a problem. */
bool config_is_repeated(struct config_reading *r, yyjson_val *object, yyjson_val *key);
/* Stores a boolean; anything else adds a problem and returns false. */
bool config_set_bool(struct config_reading *r, const char *name, yyjson_val *v, bool *out);

/* Frees a VEC(char *) and its strings. */
#define config_free_words(vec) \
	do { \
		for (uint32_t i_ = 0; i_ < (vec)->n; i_++) \
			free((vec)->v[i_]); \
		vec_release(vec); \
	} while (0)

#endif
