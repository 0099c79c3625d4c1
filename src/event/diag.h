/* Diagnostics: what is wrong with a message, by the sender's fault. A rule's id names dialect and
 * section; the JSON pointer (RFC 6901) names the place, or where a missing field should be.
 *
 * Of the notes that one rule makes on one message, DIAG_LISTED_MAX are listed. The others are counted:
 * by `count` like all, and by one more note in the list, which stands for them. */
#ifndef GAVEL_EVENT_DIAG_H
#define GAVEL_EVENT_DIAG_H

#include "base/mem.h"

enum severity {
	SEVERITY_NOTE,    /* odd, but allowed */
	SEVERITY_WARNING, /* a SHOULD, or a rule that the protocol's own examples break */
	SEVERITY_ERROR,   /* a MUST, a type, an enum */
};

enum { DIAG_LISTED_MAX = 100 };

struct diag {
	enum severity severity;
	uint32_t counted; /* 0, or it stands for so many notes that are not listed; no pointer then */
	const char *rule; /* static */
	struct str pointer;
	struct str text;
};

/* Pointers and texts live in the arena, which the caller owns. */
struct diags {
	struct arena *arena;
	VEC(struct diag) list;
	unsigned count[3];
	bool quiet; /* count only, list stays empty */
};

const char *severity_name(enum severity s);
/* pointer is copied. */
void diag_add(struct diags *d, enum severity s, const char *rule, struct str pointer,
	      const char *format, ...) __attribute__((format(printf, 5, 6)));
/* The same with a finished text, which is copied, too. */
void diag_add_str(struct diags *d, enum severity s, const char *rule, struct str pointer,
		  struct str text);
/* Counts a diagnostic that need not be listed, for callers that take trouble to make its text. false:
 * nothing was done, diag_add it. */
bool diag_count_only(struct diags *d, enum severity s, const char *rule);
/* Empties the list; the caller resets the arena. */
void diags_clear(struct diags *d);

/* Quotes a sender's text for a diagnostic: truncated, control and non-ASCII bytes escaped. Returns
 * out. */
enum { QUOTED_MAX = 64 };
const char *quoted(struct str s, char out[QUOTED_MAX]);

#endif
