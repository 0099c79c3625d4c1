/* The user's configuration: $XDG_CONFIG_HOME/gavel/config.json, else ~/.config/gavel/config.json,
 * JSON with comments and trailing commas.
 *
 * A struct config is plain data and owns its strings. config_load fills it and never fails: each
 * invalid value adds a sentence to problems, "FILE:LINE:COLUMN: what was expected", and keeps its
 * default (invalid keys and roles are skipped). A missing file is an error only if the user named
 * it. Lines and columns count from 1, columns in characters. Sentences are ASCII but for the file
 * name.
 *
 * Settings are rows of one table: the parser, config_help and the manual read the same rows, and
 * data/config.example.json is the output of config_help. */
#ifndef GAVEL_CONFIG_CONFIG_H
#define GAVEL_CONFIG_CONFIG_H

#include "base/buf.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/file_fault.h"
#include "draw/paint.h"

enum {
	CONFIG_MAX_BYTES = 1 << 20, /* of the file */
	CONFIG_MEMBERS_MAX = 1000,  /* of an object in it */
	CONFIG_LEASE_S = 120,
	CONFIG_LEASE_MIN_S = 10,
	CONFIG_LEASE_MAX_S = 3600,
	CONFIG_CACHE_MB = 2048,     /* of all cached images; the least recently used go first */
};

/* Overrides of one role of the base theme. */
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
	char *dialect, *prompt, *mode; /* as the options of these names; may be NULL */
	VEC(char *) command, env, capabilities;
	bool session; /* "speaks": "session" */
	uint32_t line, column;
};

/* A VEC(char *) with a name: a row of the table stores into it. */
struct config_words {
	char **v;
	uint32_t n, cap;
};

struct config {
	const char *theme; /* "dark", "light", "mono"; not owned */
	struct config_look looks[ROLE_COUNT];
	VEC(struct config_key) keys; /* each code once */
	bool mouse, ascii;
	bool advance; /* the next item is selected once one was decided */
	double approve, human; /* thresholds, human <= approve */
	uint32_t cache_mb; /* 0 = none */
	size_t max_line_bytes;
	unsigned notices;       /* NOTICE_ bits of term/term.h: how new items are announced */
	struct config_words notice_command; /* a program and its arguments, then NULL, which n does
					       not count; n = 0: none */
	char *as, *escalate_to; /* NULL = not set */
	char *team_url;         /* of a team's store; NULL = none */
	int team_lease_s;       /* how long a claim lasts once nobody renews it */
	bool team_claim_on_open; /* the item whose page is open is claimed */
	struct config_words reason_codes;
	struct config_words reviewers; /* login names of those whose reply files are believed */
	char *reviewers_group; /* that may write to these files; NULL = none */
	VEC(struct config_agent) agents; /* names differ */

	char *file; /* path of the file, which may not exist; NULL: the environment has no home */
	VEC(char *) problems;
};

/* -1 and the reason if the file exists, and belongs neither to this user nor to root or can be written
 * to by others: it must not be obeyed. path NULL: the default file. */
int config_check(const char *path, struct err *err);
/* Of a file that config_check refuses, nothing is used. path NULL: the default file. */
void config_load(struct config *c, const char *path);
void config_release(struct config *c);

/* The two halves of config_load, for text that is not in a file: defaults, then the text. */
void config_init(struct config *c, const char *file);
void config_parse(struct config *c, struct str text);
/* Adds a problem at a place in the file, for callers that check values further. */
void config_problem(struct config *c, uint32_t line, uint32_t column, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

/* The theme for a terminal with that many colours (below 8: none), with the user's overrides.
 * Colours that the terminal does not have stay those of the base theme. */
void config_theme(const struct config *c, int colours, struct theme *out);

/* The reviewers, lent. */
struct trusted config_trusted(const struct config *c);

struct config_reading;
struct yyjson_val;
struct setting {
	const char *name;
	const char *takes;   /* "must be …" */
	const char *initial; /* the default, as JSON */
	const char *example; /* another value, as JSON, or NULL */
	const char *help;    /* sentences */
	/* for config*.c only */
	void (*set)(struct config_reading *r, const struct setting *s, struct yyjson_val *value);
	size_t field; /* offset in struct config, for setters that serve several rows */
};

/* Lends the table. */
const struct setting *config_settings(size_t *n);
/* A complete configuration file: every setting with its default, explained in comments. */
void config_help(struct buf *out);

#endif
