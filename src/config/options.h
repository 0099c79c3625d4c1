/* Command-line parser: one command table, one option table. The parser, --help, shell completion
 * and the man page read the same rows. */
#ifndef GAVEL_CONFIG_OPTIONS_H
#define GAVEL_CONFIG_OPTIONS_H

#include "base/buf.h"
#include "base/err.h"
#include "base/mem.h"

enum format {
	OUTPUT_TEXT,
	OUTPUT_JSON,
	OUTPUT_SARIF,
	OUTPUT_MD,
};

enum color_mode {
	COLOR_AUTO,
	COLOR_ALWAYS,
	COLOR_NEVER,
};

enum { OPTIONS_MAX = 128 };

/* The parsed command line. words: positional arguments, in order. */
struct options {
	const struct command *command;
	VEC(const char *) words;
	char *team_url; /* of the configuration, once it was asked for */
	enum format format;
	enum color_mode color;
	bool help, version, strict, all, ascii, headless;
	int cols, rows; /* --size; 0 = not given */
	size_t max_line_bytes;
	unsigned threads; /* 0 = not given */
	const char *filter, *since, *until, *at;
	const char *config; /* file, in place of the default one */
	/* deciding: who, where replies and escalations go, where the journal is */
	const char *as, *reply, *escalate_to, *journal;
	bool read_only, sole_writer, recover_send, no_follow, follow, sure;
	bool no_cache;
	bool keeps_nothing; /* demo: the journal is removed at the end; no option sets it */
	/* of one decision */
	const char *reason_code, *explain, *artifact, *rev;
	VEC(const char *) answers; /* one for each question, in order */
	uint64_t option; /* of a question, from 1; 0 = not given */
	uint64_t offer;  /* of a permission: which of the rules it offers, from 1; 0 = not given */
	const char *rule, *edit; /* a rule of one's own; a file with a tool call's input */
	uint32_t input; /* line of an input envelope; 0 = not given */
	bool deliver, correct;
	/* purge, and team trim */
	uint64_t older_than_s;
	bool has_age, dry_run;
	/* ship: a store's address, what the source is called there, a filter; run: the address */
	const char *to, *as_source, *items, *team;
	bool no_lines;
	const char *speed, *export_to; /* of a replay */
	/* of a review */
	const char *envelope;
	bool fresh;
	const char *against; /* another journal, to compare with */
	/* agents to run, and variables that they see */
	VEC(const char *) agents, env;
	bool speaks_for_session; /* --speaks=session */
	bool detach;             /* run: without a screen */
	const char *prompt;      /* for an agent: TEXT or @FILE */
	const char *mode;        /* that it begins in: MODE[,MODE] */
	const char *dialect;     /* that an agent speaks */
	bool given[OPTIONS_MAX]; /* by row of the option table */
	const char *keys, *screen; /* with headless: key file, where the last screen goes */
};

enum exit_code {
	EXIT_FINE = 0,
	EXIT_FOUND = 1,   /* check found errors, no such item, decide was refused or held */
	EXIT_TROUBLE = 2, /* usage, file or terminal trouble */
	EXIT_JOURNAL = 3, /* the journal is damaged, or locked by another gavel */
};

/* The commands; cmd/cmd.h has a function for each. */
enum command_id {
	COMMAND_WATCH,
	COMMAND_RUN,
	COMMAND_AGENTS,
	COMMAND_TEAM,
	COMMAND_SHIP,
	COMMAND_REVIEW,
	COMMAND_SHOW,
	COMMAND_REPLAY,
	COMMAND_CHECK,
	COMMAND_DECIDE,
	COMMAND_JOURNAL,
	COMMAND_PURGE,
	COMMAND_DEMO,
	COMMAND_HELP,
};

struct command {
	enum command_id id;
	const char *name;
	const char *synopsis; /* after the name */
	const char *help;     /* sentences for --help and the manual */
};

struct option {
	const char *name;
	const char *argument; /* NULL = takes none */
	const char *help;
	unsigned commands; /* that take it: 1 << enum command_id */
	/* Parses and stores the value; -1 and err if it is invalid. NULL: it is stored in field. */
	int (*set)(struct options *o, const char *value, struct err *err);
	const char *values; /* all valid ones, space separated; NULL = any */
	bool once; /* a second one is refused: what a decision says is never overridden */
	size_t field; /* offset in struct options: a const char *, a bool without argument */
};

/* The tables' rows, NULL after the last. The first command has no name: it is the default. */
const struct command *command_at(unsigned i);
const struct option *option_at(unsigned i);
bool command_takes(const struct command *c, const struct option *o);

/* argv without the program's name. The command's word is the first that is neither an option nor the
 * value of one; after -- no word is a command. -1: invalid usage, described by err. */
int options_parse(struct options *o, int argc, char **argv, struct err *err);
void options_release(struct options *o);

/* By its name, or NULL. */
const struct command *command_find(const char *name);
/* The command that a mistyped word probably means, or NULL. */
const struct command *command_near(const char *word);
/* --help: all of it, or one command's. */
void options_help(const struct command *command, struct buf *out);
/* The COMMANDS and OPTIONS sections of the man page, in roff. */
void options_man(struct buf *out);
/* Appends text escaped for roff. */
void roff_add(struct buf *out, const char *text);
/* Appends words wrapped to cols columns, then a newline; lines after the first start with hang. */
void buf_add_wrapped(struct buf *out, const char *text, const char *hang, int column, int cols);

#endif
