/* Programs that gavel knows by name: what they speak, the flags that make them speak it, the
 * variables that they need. A command is known by the name of its program; run by node or npx
 * and the like, by a part of the path or package that these are given. */
#ifndef GAVEL_AGENTS_KNOWN_AGENTS_H
#define GAVEL_AGENTS_KNOWN_AGENTS_H

#include "base/buf.h"
#include "base/err.h"
#include "base/mem.h"
#include "event/record.h"

struct known_agent {
	const char *name;    /* of its program */
	const char *package; /* what it is called in node_modules; NULL = the same */
	enum dialect_id dialect;
	/* Options, added unless they were given: "-p|--print", "--output-format stream-json". Words
	 * without a dash are a subcommand, added if there is none. NULL last. */
	const char *const *flags;
	const char *const *env; /* variables that it is known to need; NULL last */
	const char *login;      /* how one logs in, a command */
};

/* All of them; the last one has no name. */
extern const struct known_agent known_agents[];

/* NULL: not known, or used in a way that gavel cannot supervise (codex exec, opencode run). */
const struct known_agent *known_agent_of(const char *const *argv);
/* The same words and the flags that are missing; in the arena, NULL last. NULL: an option was given
 * that gavel cannot work with; err says which. */
const char **known_agent_argv(const struct known_agent *k, const char *const *argv,
			      struct arena *arena, struct err *err);
/* Adds what may be missing. words: what the agent said of it. A variable in them that is set here
 * and that it does not get; or where its flags are listed; or the variables that it is known to
 * need, set here and not passed; else how one logs in. */
void known_agent_advice(const struct known_agent *k, const char *const *passed, struct str words,
			struct buf *out);

#endif
