/* Inside decide only: the Requests of a feedback session as log and desk remember them, and the
 * artifact that the next one carries. */
#ifndef GAVEL_ENCODE_ENCODE_REQUEST_H
#define GAVEL_ENCODE_ENCODE_REQUEST_H

#include "encode/plan.h"

struct sent_request {
	struct str bytes; /* n 0 = none was seen */
	int64_t iteration;
	bool broken; /* it was read with repairs, or says a thing twice */
};

/* iteration: the one that is wanted, 0 = the newest. Where log and desk both have it, the log's. */
struct sent_request find_request(struct encoding *e, const struct item *item, struct str session,
			    const struct turn_state *turn, int64_t iteration);
/* The newest Request that somebody else wrote to the file that replies go to; iteration 0 = none.
 * at most: with no higher iteration. */
struct sent_request find_others(struct encoding *e, const struct item *item, int64_t at_most);
/* The newest of the desk's first n letters that is a Request of this session and was not given up;
 * NULL. A later one has a higher iteration, or the same once more. */
const struct letter *find_ours(struct encoding *e, struct str session, uint32_t n,
			       struct sent_request *out);
/* The session's turn, by the log and by what was written here: where the log shows Requests, one
 * that it does not show is ours, whatever iteration its response says. */
void find_turn(struct encoding *e, const struct item *item, uint32_t session, struct str name,
	       struct turn_state *turn);

/* The artifact of the next Request. */
struct next_artifact {
	struct str json; /* the object; n 0 = none, and the proposal says what is missing */
	bool attached;   /* a file as it now is */
	bool same;       /* it says what the last Request's said */
};
/* path: the file attached; NULL = the last Request's artifact goes out again. */
struct next_artifact compose_artifact(struct encoding *e, struct proposal *p,
				      const struct sent_request *last, const char *path);

/* {"protocol_version":…,"iteration":…,"artifact":… */
void begin_request(struct buf *b, int64_t iteration, struct str artifact);
/* The same Request once more, with what it lacks by the protocol; artifact empty = its own. */
void compose_again(struct encoding *e, struct proposal *p, const struct sent_request *request,
		   struct str artifact);
/* The bytes of a Request, or "too big" as missing. */
void set_request(struct encoding *e, struct proposal *p, struct buf *b);

#endif
