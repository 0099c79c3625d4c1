/* Reading one configuration text: where each value of the tree stands, and what is said about those
 * that are wrong. For config.c and the setters of its table only.
 *
 * config_find_places comes first, with the text that root was read from; the caller releases
 * places. Complaints become problems of c. */
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
/* Moves a place behind s. */
void config_move_over(struct config_place *at, struct str s);

/* Takes the sentence; the buffer is empty afterwards. */
void config_add_problem(struct config *c, struct buf *sentence);
/* At a value or key. */
void config_complain(struct config_reading *r, yyjson_val *v, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/* "name must be expected, not …" */
void config_wrong(struct config_reading *r, yyjson_val *v, const char *name, const char *expected);
/* A key that nothing answers to. known: "there are …" */
void config_unknown(struct config_reading *r, yyjson_val *key, const char *what, const char *known);

enum { CONFIG_SHOWN_MAX = 40, CONFIG_VALUE_MAX = CONFIG_SHOWN_MAX * 8 };

/* In quotes, ASCII only, cut when long: fit for any terminal. */
void config_quote(struct str s, char out[CONFIG_VALUE_MAX]);

/* Whether the value may be walked: an object, and not beyond all measure; else complains. */
bool config_is_walkable(struct config_reading *r, yyjson_val *v, const char *name,
			const char *expected);
/* Whether an earlier member has the same name; then complains. */
bool config_is_repeated(struct config_reading *r, yyjson_val *object, yyjson_val *key);
/* False: it was none, and *out is as before; complained. */
bool config_set_bool(struct config_reading *r, const char *name, yyjson_val *v, bool *out);

#endif
