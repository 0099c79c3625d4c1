/* What is wrong with a message: the sender's fault, told to the person. A rule's id names dialect
 * and section; the pointer (RFC 6901) names the place, or where a missing field should be. */
#ifndef GAVEL_EVENT_DIAG_H
#define GAVEL_EVENT_DIAG_H

#include "base/mem.h"

enum severity {
	SEVERITY_NOTE,    /* odd, but allowed */
	SEVERITY_WARNING, /* a SHOULD, or a rule that its own text contradicts */
	SEVERITY_ERROR,   /* a MUST, a type, an enum */
};

struct diag {
	enum severity severity;
	const char *rule; /* static */
	struct str pointer;
	struct str text;
};

/* Pointers and texts live in the arena. */
struct diags {
	struct arena *arena;
	VEC(struct diag) list;
	unsigned count[3];
	bool quiet; /* only counted: nobody wants the list */
};

const char *severity_name(enum severity s);
/* pointer is copied. */
void diag_add(struct diags *d, enum severity s, const char *rule, struct str pointer,
	      const char *format, ...) __attribute__((format(printf, 5, 6)));
/* The same with a text that is complete; it is copied too. */
void diag_add_str(struct diags *d, enum severity s, const char *rule, struct str pointer,
		  struct str text);
/* Forgets the diagnostics; the arena is its owner's to reset. */
void diags_clear(struct diags *d);

/* A sender's text inside a diagnostic: quoted, cut, control and non-ASCII bytes escaped. out must
 * hold QUOTED_MAX bytes and is returned. */
enum { QUOTED_MAX = 64 };
const char *quoted(struct str s, char out[QUOTED_MAX]);

#endif
