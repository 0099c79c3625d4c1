/* Compact store of the diagnostics of cross-message rules: logs that break a rule tend to break it
 * in every other message, and sentences would take more memory than the rest of the model.
 *
 * A diagnostic is stored as a template (severity, rule, JSON pointer, format), the element's index
 * and the arguments of the format; text and pointer are rendered on demand (diag_store_read).
 * Diagnostics are in the order of their messages. */
#ifndef GAVEL_MODEL_DIAG_STORE_H
#define GAVEL_MODEL_DIAG_STORE_H

#include "base/map.h"
#include "event/diag.h"

#include <stdarg.h>

struct model;

enum { DIAG_STORE_POINTER_MAX = 160, DIAG_STORE_TEXT_MAX = 360, DIAG_STORE_SEEN = 256 };

/* All interned in the model. */
struct diag_template {
	uint32_t severity; /* enum severity */
	uint32_t rule, head, at, format;
};

/* Position of every MARK_EVERYth diagnostic, for binary search. */
struct diag_store_mark {
	uint32_t message; /* of the diagnostic before it */
	uint32_t offset;
};

/* A call site of report(), identified by the addresses of its string literals: rule, head, at,
 * format. */
struct diag_call_site {
	const char *texts[4];
	uint32_t severity;
	uint32_t template_index;
	char arg_types[8]; /* types of the format's arguments */
};

struct diag_store {
	uint32_t n;
	uint32_t last; /* message of the newest */
	HVEC(uint8_t) bytes;
	HVEC(struct diag_store_mark) marks;
	HVEC(struct diag_template) templates;
	uint64_t seen_texts[DIAG_STORE_SEEN]; /* hashes: a text seen again is interned */
	/* not saved with the model's heap: addresses of this process */
	struct map by_address;
	VEC(struct diag_call_site) sites;
};

/* rule, head, at and format must be string literals: they are identified by address. at may hold
 * one %u, for index; format %u, %d, %lld, %s, %.1f and %.2f (any one digit). */
void diag_store_add(struct model *m, uint32_t message, enum severity s, const char *rule,
		    const char *head, const char *at, uint32_t index, const char *format, ...)
	__attribute__((format(printf, 8, 9)));
void diag_store_vadd(struct model *m, uint32_t message, enum severity s, const char *rule,
		     const char *head, const char *at, uint32_t index, const char *format,
		     va_list ap);

/* Iterator. Strings are valid until the next call with the same walk; the model must not change
 * meanwhile. */
struct diag_store_walk {
	const struct model *m;
	uint32_t next;   /* number */
	uint32_t offset; /* its bytes */
	/* after diag_store_next: */
	uint32_t message;
	enum severity severity;
	const char *rule;
	/* after diag_store_read: */
	struct str pointer, text;

	uint32_t template_index, index, args; /* private */
	char pointer_room[DIAG_STORE_POINTER_MAX], text_room[DIAG_STORE_TEXT_MAX];
};

/* Positions w before the first diagnostic on this message or a later one. */
void diag_store_start(struct diag_store_walk *w, const struct model *m, uint32_t message);
/* false: no more. */
bool diag_store_next(struct diag_store_walk *w);
/* Renders pointer and text of the current diagnostic. */
void diag_store_read(struct diag_store_walk *w);
/* Frees what is not in the model's heap. */
void diag_store_release(struct diag_store *f);

#endif
