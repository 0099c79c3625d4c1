/* The person's configuration: $XDG_CONFIG_HOME/gavel/config.json, else ~/.config/gavel/config.json,
 * JSON with comments and trailing commas.
 *
 * A struct config is plain data and owns its strings. config_load fills it and never fails:
 * whatever is wrong becomes a sentence in problems, "FILE:LINE:COLUMN: what was expected", each and
 * every one, and that one value keeps its default (of keys and roles, the wrong ones are left
 * out). No file is no problem, unless it was named. Lines and columns count from 1, columns in
 * characters. Sentences are ASCII but for the name of the file.
 *
 * Settings are rows of one table: the parser, config_help and the manual read the same rows, and
 * data/config.example.json is what config_help prints. */
#ifndef GAVEL_CONFIG_CONFIG_H
#define GAVEL_CONFIG_CONFIG_H

#include "base/buf.h"
#include "base/mem.h"
#include "draw/paint.h"

enum {
	CONFIG_MAX_BYTES = 1 << 20, /* of the file */
	CONFIG_MEMBERS_MAX = 1000,  /* of an object in it */
	CONFIG_CACHE_MB = 2048,     /* of all cached images; the least recently used go first */
};

/* What a theme says about a role; the rest is the base theme's. */
struct config_look {
	bool has_front, has_back, has_bold, has_underline;
	bool bold, underline;
	uint16_t front, back; /* as in struct look */
};

struct config_key {
	uint32_t code;
	char *command;         /* without ':'; NULL unbinds the key */
	uint32_t line, column; /* of the command, for config_problem */
};

/* An agent to run. */
struct config_agent {
	char *name, *folder, *role; /* folder, role: may be NULL */
	VEC(char *) command, env, capabilities;
	uint32_t line, column;
};

struct config {
	const char *theme; /* "dark", "light", "mono"; not owned */
	struct config_look looks[ROLE_COUNT];
	VEC(struct config_key) keys; /* each code once */
	bool mouse, ascii;
	double approve, human; /* thresholds, human <= approve */
	uint32_t cache_mb; /* 0 = none */
	size_t max_line_bytes;
	unsigned notices;       /* enum term_notice bits: how new items are told */
	char *as, *escalate_to; /* NULL = not told */
	VEC(char *) reason_codes;
	VEC(struct config_agent) agents; /* names differ */

	char *file; /* its path, also when there is none; NULL: nowhere to look */
	VEC(char *) problems;
};

/* path NULL: the usual place. */
void config_load(struct config *c, const char *path);
void config_release(struct config *c);

/* The two halves of config_load, for text from elsewhere: defaults, then what the text says. */
void config_init(struct config *c, const char *file);
void config_parse(struct config *c, struct str text);
/* Adds a sentence on a place in the file: for what only others can tell to be wrong. */
void config_problem(struct config *c, uint32_t line, uint32_t column, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

/* The theme for a terminal with that many colours (below 8: none), the person's changes applied.
 * Colours the terminal does not have are left as the base theme has them. */
void config_theme(const struct config *c, int colours, struct theme *out);

struct config_reading;
struct yyjson_val;
struct setting {
	const char *name;
	const char *takes;   /* "must be …" */
	const char *initial; /* the default, as JSON */
	const char *example; /* another value, as JSON, or NULL */
	const char *help;    /* sentences */
	/* of config*.c only */
	void (*set)(struct config_reading *r, const struct setting *s, struct yyjson_val *value);
};

/* Lends the table. */
const struct setting *config_settings(size_t *n);
/* A complete configuration file: every setting with its default, explained in comments. */
void config_help(struct buf *out);

#endif
