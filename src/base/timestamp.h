/* Points in time are milliseconds since 1970 UTC in an int64_t; TIME_NONE where there is none. */
#ifndef GAVEL_BASE_TIMESTAMP_H
#define GAVEL_BASE_TIMESTAMP_H

#include "base/str.h"

#define TIME_NONE INT64_MIN

/* ISO 8601 as RFC 3339 narrows it: YYYY-MM-DDTHH:MM[:SS[.fraction]] and Z or ±HH[:]MM; a bare date,
 * a time without zone (taken as UTC) and the form without dashes and colons are ISO 8601 too and
 * are accepted. */
bool timestamp_parse_iso(struct str s, int64_t *ms);
/* A duration: "30s", "2m", "1h", "500ms", "45"; bare numbers are seconds. */
bool timestamp_parse_span(struct str s, int64_t *ms);
/* As typed after --at and --since: ISO as above, HH:MM[:SS] on the day of `day`, or milliseconds
 * since 1970 (11 to 15 digits). */
bool timestamp_parse_loose(struct str s, int64_t day, int64_t *ms);
/* "2026-01-26T10:00:00.123Z" (the fraction only when not zero). out holds at least 32 bytes. */
const char *timestamp_iso(int64_t ms, char out[32]);
/* "10:00:00", UTC */
const char *timestamp_clock(int64_t ms, char out[32]);
/* A span for people: "0:42", "12:05", "3h04", "2d05h"; negative spans with a minus. */
const char *timestamp_span(int64_t ms, char out[32]);

int64_t timestamp_now_ms(void); /* the wall clock, since 1970 */
int64_t monotonic_ms(void);     /* CLOCK_MONOTONIC */
/* Within ten minutes of the wall clock, which allows for clock skew. */
bool timestamp_is_recent(int64_t ms);

#endif
