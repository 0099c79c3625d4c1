/* Private to encode: finding a feedback session's earlier Requests in log, desk and reply file, and
 * composing the artifact of the next one. */
#ifndef GAVEL_ENCODE_ENCODE_REQUEST_H
#define GAVEL_ENCODE_ENCODE_REQUEST_H

#include "encode/plan.h"

struct sent_request {
	struct str bytes; /* empty = none found */
	int64_t iteration;
	bool broken; /* parsed with repairs, or has duplicate keys */
};

/* The session's newest Request; with an iteration only if it has that one. */
struct sent_request find_request(struct encoding *e, const struct turn_state *turn,
				 int64_t iteration);
/* A Request of the session that is recorded, but not sent yet. */
bool find_unsent_request(struct encoding *e, struct str session, struct sent_request *out);

/* The artifact of the next Request. */
struct next_artifact {
	struct str json; /* the object; empty = none, see the proposal's missing entries */
	bool attached;   /* the contents of a file */
	bool same;       /* equal to the last Request's */
};
/* path: the file attached; NULL = repeat the last Request's artifact. */
struct next_artifact compose_artifact(struct encoding *e, struct proposal *p,
				      const struct sent_request *last, const char *path);

/* {"protocol_version":…,"iteration":…,"artifact":… */
void begin_request(struct buf *b, int64_t iteration, struct str artifact);
/* Resends a Request, with protocol violations corrected; artifact empty = its own. */
void compose_resend(struct encoding *e, struct proposal *p, const struct sent_request *request,
		    struct str artifact);
/* Sets the Request's bytes; a missing entry if it is too big. */
void set_request_bytes(struct encoding *e, struct proposal *p, struct buf *b);

#endif
