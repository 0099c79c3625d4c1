/* Writes JSON members into a buffer, commas between them; the caller writes the braces. */
#ifndef GAVEL_JSON_COMPOSE_H
#define GAVEL_JSON_COMPOSE_H

#include "json/json.h"

/* ,"name": */
void json_key(struct buf *b, const char *name);
/* ,"name": and the opening bracket, '{' or '['. */
void json_open(struct buf *b, const char *name, char bracket);
/* The comma between elements of an array. */
void json_comma(struct buf *b);
/* null where s has no pointer */
void json_put_str(struct buf *b, const char *name, struct str s);
void json_put_name(struct buf *b, const char *name, const char *value);
void json_put_number(struct buf *b, const char *name, uint64_t n);
void json_put_int(struct buf *b, const char *name, int64_t n);
void json_put_bool(struct buf *b, const char *name, bool value);
/* null unless present */
void json_put_int_if(struct buf *b, const char *name, bool present, int64_t n);
/* Milliseconds since 1970; null for TIME_NONE */
void json_put_time(struct buf *b, const char *name, int64_t ms);
/* A copy of a parsed value; null where there is none */
void json_put_value(struct buf *b, const char *name, yyjson_val *v);
/* A copy of a parsed member. */
void json_put_member(struct buf *b, yyjson_val *key, yyjson_val *v);

#endif
