/* Private to decide: writing journal records and applying them to a desk. desk.h lists them. */
#ifndef GAVEL_DECIDE_RECORDS_H
#define GAVEL_DECIDE_RECORDS_H

#include "decide/desk.h"
#include "json/compose.h"

/* Applies one record to the desk, whether just written or replayed on open; a malformed record has
 * no effect. */
void record_apply(struct desk *d, struct str json);
/* OPEN, with path and identity of the desk's source */
void record_open(const struct desk *d, struct buf *out);
void record_draft(const struct desk *d, const struct draft *draft, struct buf *out);
/* Begins the record of several drafts that are staged at once: "]}" ends it */
void record_begin_drafts(struct buf *out);
/* VOID of several staged drafts */
void record_void_drafts(const struct desk *d, const uint32_t *drafts, uint32_t n, struct buf *out);
void record_intent(const struct desk *d, const struct letter *l, struct buf *out);
void record_done(const struct desk *d, const struct letter *l, struct buf *out);
/* "at":{…}, nothing if no place is known */
void record_put_anchor(const struct anchor *at, struct buf *out);
void record_attempt(const struct desk *d, const struct letter *l, struct buf *out);
void record_sent(const struct desk *d, const struct letter *l, struct buf *out);
void record_held(const struct letter *l, struct str why, bool certain, struct buf *out);
/* SNOOZED, or WOKEN */
void record_snooze(const struct desk *d, const struct snooze *s, bool on, struct buf *out);
void record_seen(const struct store_seen *seen, struct buf *out);
/* {"state":…,"ref":…,"time":…  without the closing brace */
void record_step(const char *state, const char *ref, struct buf *out);
bool draft_is_on(const struct draft *draft, struct str session, enum item_kind kind,
		 struct str item);
uint64_t record_item_key(enum item_kind kind, struct str name);

/* Write SENT, HELD (certain: it did not arrive) or ATTEMPT for a letter, synced. */
int desk_mark_sent(struct desk *d, uint32_t number, struct err *err);
int desk_hold(struct desk *d, uint32_t number, bool certain, const struct err *why,
	      struct err *err);
int desk_mark_attempt(struct desk *d, uint32_t number, const struct attempt *at, struct err *err);

bool letter_is_unfinished(const struct letter *l);
/* No bytes to send, so it must not become an INTENT. A dismissal does not count: it is only
 * recorded, never sent. */
bool letter_is_empty(const struct desk *d, const struct letter *l);
/* Appends a record to the journal, then applies it. Releases the line. */
int desk_step(struct desk *d, struct buf *line, bool sync, struct err *err);
/* Writes VOID for a draft or letter. */
int desk_void(struct desk *d, const char *id, struct err *err);
/* Appends a record, creating the journal if needed. A poisoned journal makes the desk read-only. */
int desk_append(struct desk *d, struct str json, bool sync, struct err *err);
/* Several records, in one write with one sync. */
int desk_append_all(struct desk *d, const struct str *records, uint32_t n, bool sync,
		    struct err *err);

#endif
