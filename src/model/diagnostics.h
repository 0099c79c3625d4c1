/* Compact store of the diagnostics of cross-message rules: logs that break a rule tend to break it
 * in every other message, and sentences would take more memory than the rest of the model.
 *
 * A diagnostic is stored as a template (complaint: severity, rule, JSON pointer, format), the
 * element's index and the arguments of the format; text and pointer are rendered on demand
 * (finding_read). Diagnostics are in the order of their messages. */
#ifndef GAVEL_MODEL_DIAGNOSTICS_H
#define GAVEL_MODEL_DIAGNOSTICS_H

#include "base/map.h"
#include "event/diag.h"

#include <stdarg.h>

struct model;

enum { FINDING_POINTER_MAX = 160, FINDING_TEXT_MAX = 360, FINDING_LATELY = 256 };

/* All interned in the model. */
struct complaint {
	uint32_t severity; /* enum severity */
	uint32_t rule, head, at, format;
};

/* Position of every MARK_EVERYth diagnostic, for binary search. */
struct finding_mark {
	uint32_t message; /* of the diagnostic before it */
	uint32_t offset;
};

/* A call site of report(), identified by the addresses of its string literals: rule, head, at,
 * format. */
struct complaint_site {
	const char *texts[4];
	uint32_t severity;
	uint32_t complaint;
	char words[8]; /* types of the format's arguments */
};

struct findings {
	uint32_t n;
	uint32_t last; /* message of the newest */
	struct finding_mark newest; /* its position */
	HVEC(uint8_t) bytes;
	HVEC(struct finding_mark) marks;
	HVEC(struct complaint) complaints;
	uint64_t lately[FINDING_LATELY]; /* hashes of recent texts; a repeated one is interned */
	/* not saved with the model's heap: addresses of this process */
	struct map by_address;
	VEC(struct complaint_site) sites;
};

/* rule, head, at and format must be string literals: they are identified by address. at may hold
 * one %u, for index; format %u, %d, %lld, %s, %.1f and %.2f (any one digit). */
void finding_add(struct model *m, uint32_t message, enum severity s, const char *rule,
		 const char *head, const char *at, uint32_t index, const char *format, ...)
	__attribute__((format(printf, 8, 9)));
void finding_vadd(struct model *m, uint32_t message, enum severity s, const char *rule,
		  const char *head, const char *at, uint32_t index, const char *format, va_list ap);

/* Iterator. Strings are valid until the next call with the same walk; the model must not change
 * meanwhile. */
struct finding_walk {
	const struct model *m;
	uint32_t next;   /* number */
	uint32_t offset; /* its bytes */
	/* after finding_next: */
	uint32_t message;
	enum severity severity;
	const char *rule;
	/* after finding_read: */
	struct str pointer, text;

	uint32_t complaint, index, words; /* private */
	char pointer_room[FINDING_POINTER_MAX], text_room[FINDING_TEXT_MAX];
};

/* Positions w before the first diagnostic on this message or a later one. */
void finding_start(struct finding_walk *w, const struct model *m, uint32_t message);
/* false: no more. */
bool finding_next(struct finding_walk *w);
/* Renders pointer and text of the current diagnostic. */
void finding_read(struct finding_walk *w);
/* Renders the newest; there must be one. */
void finding_newest(struct finding_walk *w, const struct model *m);
/* Frees what is not in the model's heap. */
void findings_release(struct findings *f);

#endif
