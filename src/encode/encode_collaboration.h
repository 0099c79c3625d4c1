/* Shared by the files that encode collaboration messages: encode_collaboration.c (dispatch,
 * feedback, aborts), encode_revision.c (task assignments) and encode_verdict.c (review results).
 * Strings live in the plan's arena. */
#ifndef GAVEL_ENCODE_ENCODE_COLLABORATION_H
#define GAVEL_ENCODE_ENCODE_COLLABORATION_H

#include "encode/plan.h"
#include "encode/human_message.h"

/* Header of the message that is answered. */
struct origin {
	uint32_t message, session;
	struct str id, session_id, correlation;
	struct address from, to;
};

/* Reads the message of the group's i-th item. Returns its payload, valid until the next message is
 * parsed; NULL and a missing entry when unreadable. */
yyjson_val *read_origin(struct encoding *e, uint32_t i, struct proposal *p, struct origin *out);
/* The correlation_id of a chain: of the message, else the newest one in its review, its task or
 * another of the task's revisions, else of a message it replies to. Each may be NONE; empty if none
 * of them has one. Parses messages. */
struct str find_correlation(struct encoding *e, uint32_t session, uint32_t message, uint32_t task,
			    uint32_t review);
/* The agent's address in the first message from or to it. */
struct address find_address(struct encoding *e, uint32_t agent);
struct address read_address(struct encoding *e, yyjson_val *agent, const char *usual_type);
yyjson_val *payload_of(yyjson_val *root);

/* Writes the header of the person's reply to `o`. */
void begin_reply(struct encoding *e, struct proposal *p, struct buf *b, const char *type,
		 const struct origin *o, const struct address *to, bool reviewer);
/* Closes the message, sets it as the proposal's bytes and releases b. */
void end_reply(struct encoding *e, struct proposal *p, struct buf *b);

/* false, and a missing entry, if the item has no id for a marker. */
bool check_marker(struct encoding *e, uint32_t i, struct proposal *p);
/* "[find-7 accepted] ": the decision on the draft's item, which agents recognize. */
void put_marker(struct encoding *e, uint32_t i, enum verdict verdict, struct buf *b);

/* ,"name":["…",…]: the strings of an array; [] if it is none */
void put_strings(struct buf *b, const char *name, yyjson_val *array);
/* Copies the members of an object that are not in the NULL-terminated list of names. */
void put_unlisted(struct buf *b, yyjson_val *object, const char *const *listed);

void encode_revision(struct encoding *e); /* accepted or partial findings and changes */
void encode_retry(struct encoding *e);    /* an accepted blocked task */
void encode_verdict(struct encoding *e);

/* The newest assignment of the item's task or another of its chain, or NONE. */
uint32_t find_assignment(struct encoding *e, const struct item *item);
void revision_index_free(struct revision_index *x);

#endif
