/* Between the files that write collaboration messages: encode_collaboration.c (which one, feedback,
 * aborts), encode_revision.c (task assignments) and encode_verdict.c (review results). Strings live
 * in the plan's arena. */
#ifndef GAVEL_ENCODE_ENCODE_COLLABORATION_H
#define GAVEL_ENCODE_ENCODE_COLLABORATION_H

#include "encode/plan.h"
#include "encode/human_message.h"

/* The head of the message that is answered. */
struct origin {
	uint32_t message, session;
	struct str id, session_id, correlation;
	struct address from, to;
};

/* Reads the message of the group's i-th item. The payload lives until the next message is parsed;
 * NULL and a missing entry when it cannot be read. */
yyjson_val *read_origin(struct encoding *e, uint32_t i, struct proposal *p, struct origin *out);
struct str keep_str(struct encoding *e, struct str s);
struct str keep_buf(struct encoding *e, struct buf *b); /* and releases it */
struct address read_address(struct encoding *e, yyjson_val *agent, const char *usual_type);
yyjson_val *payload_of(yyjson_val *root);
/* What the person said with the decision: "reason: words", either, or empty. */
struct str words_of(struct encoding *e, uint32_t i);

/* The head of a reply to `o` from the person's seat. */
void begin_reply(struct encoding *e, struct proposal *p, struct buf *b, const char *type,
		 const struct origin *o, const struct address *to, bool reviewer);
/* Closes it and makes it the proposal's bytes. */
void end_reply(struct encoding *e, struct proposal *p, struct buf *b);

/* false, and says so, where the item has no id to write as a marker. */
bool check_marker(struct encoding *e, uint32_t i, struct proposal *p);
/* "[find-7 accepted] ": the name of the draft's item. */
void put_marker(struct encoding *e, uint32_t i, enum verdict verdict, struct buf *b);

/* ,"name":["…",…]: the strings of an array, [] where there is none */
void put_strings(struct buf *b, const char *name, yyjson_val *array);
/* The members of an object whose names are not in the list (which ends with NULL). */
void put_others(struct buf *b, yyjson_val *object, const char *const *listed);

/* Accepted and partial findings and changes of one review; an accepted blocked task; a verdict. */
void encode_revision(struct encoding *e);
void encode_retry(struct encoding *e);
void encode_verdict(struct encoding *e);

/* The newest message that gives out the task of an item or one of its chain, NONE. */
uint32_t find_assignment(const struct model *m, const struct item *item);
/* The letter that has assigned the item's task from here, which need not be in the log; NULL. */
const struct letter *find_own_assignment(struct encoding *e, const struct item *item);

#endif
