/* Inside decide only: the Requests of a feedback session as log and desk remember them, and the
 * artifact that the next one carries. */
#ifndef GAVEL_DECIDE_ENCODE_REQUEST_H
#define GAVEL_DECIDE_ENCODE_REQUEST_H

#include "decide/plan.h"

#define ITERATION_MAX INT64_C(1000000000000000) /* as far as numbers are exact everywhere */

struct request {
	struct str bytes; /* n 0 = none was seen */
	int64_t iteration;
	bool broken; /* it was read with repairs, or says a thing twice */
};

/* iteration: the one that is wanted, 0 = the newest. Where log and desk both have it, the log's. */
struct request find_request(struct encoding *e, struct str session, const struct turn_state *turn,
			    int64_t iteration);
/* Whether a letter is a Request of this session that was not given up. */
bool is_our_request(struct encoding *e, const struct letter *l, struct str session,
		    struct request *out);

/* The artifact of the next Request. */
struct next_artifact {
	struct str json; /* the object; n 0 = there is none, and the proposal says what is missing */
	bool attached;   /* a file as it now is */
	bool same;       /* it says what the last Request's said */
};
/* path: the file attached; NULL = the last Request's artifact goes out again. */
struct next_artifact compose_artifact(struct encoding *e, struct proposal *p,
				      const struct request *last, const char *path);

/* The text of an object's member as it was written; none where its name is written with escapes. */
struct str member_text(struct str object, const char *name);
/* On one line: newlines outside of strings are space. */
void add_on_one_line(struct buf *b, struct str text);
/* The bytes of a Request, or "too big" as missing. */
void set_request(struct encoding *e, struct proposal *p, struct buf *b);

#endif
