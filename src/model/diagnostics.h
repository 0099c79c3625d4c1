/* What rules about several messages found, kept in a few bytes each: logs that break a rule tend to
 * break it in every other message, and sentences would take more room than all the rest.
 *
 * A finding is kept as which rule said it (a complaint: severity, rule, place, sentence with %…),
 * the element's number and the words that fill the sentence in; sentence and pointer are put
 * together when somebody wants to read them. Findings are in the order of their messages. */
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

/* Where every so many findings begin. */
struct finding_mark {
	uint32_t message; /* of the finding before it */
	uint32_t offset;
};

/* A place in the program that complains, known by the addresses of its texts: rule, head, at and
 * format. */
struct complaint_site {
	const char *texts[4];
	uint32_t severity;
	uint32_t complaint;
	char words[8]; /* kinds of what stands in the sentence, in order */
};

struct findings {
	uint32_t n;
	uint32_t last; /* message of the newest */
	struct finding_mark newest; /* where it begins */
	HVEC(uint8_t) bytes;
	HVEC(struct finding_mark) marks;
	HVEC(struct complaint) complaints;
	uint64_t lately[FINDING_LATELY]; /* hashes of texts that stood in findings */
	/* for this run of the program only */
	struct map by_address;
	VEC(struct complaint_site) sites;
};

/* rule, head, at and format are static: their addresses are what they are known by. at may hold one
 * %u, for index; format %u, %d, %lld, %s, %.1f and %.2f (any one digit). */
void finding_add(struct model *m, uint32_t message, enum severity s, const char *rule,
		 const char *head, const char *at, uint32_t index, const char *format, ...)
	__attribute__((format(printf, 8, 9)));
void finding_vadd(struct model *m, uint32_t message, enum severity s, const char *rule,
		  const char *head, const char *at, uint32_t index, const char *format, va_list ap);

/* Looking at them. The strings are lent until the next call with the same walk, which is meant to
 * be short: the model must not change meanwhile. */
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

	uint32_t complaint, index, words; /* its own */
	char pointer_room[FINDING_POINTER_MAX], text_room[FINDING_TEXT_MAX];
};

/* Before the first finding on this message or a later one. */
void finding_start(struct finding_walk *w, const struct model *m, uint32_t message);
/* false: no more. */
bool finding_next(struct finding_walk *w);
/* Puts pointer and text of the one that finding_next came to together. */
void finding_read(struct finding_walk *w);
/* Reads the newest; there is one. */
void finding_newest(struct finding_walk *w, const struct model *m);
/* What is not in the model's heap. */
void findings_release(struct findings *f);

#endif
