/* Inside decide only: the journal's records, written and taken back. desk.h lists them. */
#ifndef GAVEL_DECIDE_RECORDS_H
#define GAVEL_DECIDE_RECORDS_H

#include "decide/desk.h"
#include "json/compose.h"

/* Changes the desk by one record, whether it was just written or read at the start; what cannot be
 * understood changes nothing. */
void record_take(struct desk *d, struct str json);
void record_draft(const struct desk *d, const struct draft *draft, struct buf *out);
void record_intent(const struct desk *d, const struct letter *l, struct buf *out);
void record_attempt(const struct desk *d, const struct letter *l, struct buf *out);
void record_sent(const struct desk *d, const struct letter *l, struct buf *out);
void record_held(const struct letter *l, struct str why, bool certain, struct buf *out);
/* {"state":…,"ref":…,"time":…  without the closing brace */
void record_step(const char *state, const char *ref, struct buf *out);
bool is_on_item(const struct draft *draft, struct str session, enum item_kind kind, struct str item);
uint64_t record_item_key(enum item_kind kind, struct str name);

/* The end of a try, recorded. */
int desk_mark_sent(struct desk *d, uint32_t number, struct err *err);
int desk_hold(struct desk *d, uint32_t number, bool certain, const struct err *why, struct err *err);
/* Where a try begins, recorded and synced. */
int desk_mark_attempt(struct desk *d, uint32_t number, const struct attempt *at, struct err *err);

bool letter_is_unfinished(const struct letter *l);
/* Whether it has nothing to say, and so must never be an INTENT. A dismissal goes to nobody: its
 * record is all. */
bool letter_is_empty(const struct desk *d, const struct letter *l);
/* Records a step and takes it, in this order. Releases the line. */
int desk_step(struct desk *d, struct buf *line, bool sync, struct err *err);
/* Appends; the first one makes the journal. Sets the desk to reading when it is poisoned. */
int desk_append(struct desk *d, struct str json, bool sync, struct err *err);

#endif
