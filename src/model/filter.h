/* The filter language: words that must all match. A plain word matches any text of the subject,
 * without case; key:value looks at one property; a leading - negates; "two words" in quotes are
 * one.
 *   kind:finding dialect:feedback agent:dev-01 task:T1 session:ses_1 severity:>=major id:scope
 *   source:run.ndjson verdict:rejected
 *   is:open is:error is:warning is:due is:snoozed is:decided is:expired is:not-its-role trust:agent
 *   after:10:15 before:2026-01-26T10:00Z
 * severity takes = < <= > >= and the names critical major minor suggestion (critical is highest);
 * task takes the revisions of a task along */
#ifndef GAVEL_MODEL_FILTER_H
#define GAVEL_MODEL_FILTER_H

#include "base/err.h"
#include "model/model.h"

struct filter;

/* Parses a filter; the caller frees it with filter_free. NULL: err says which word is wrong and
 * what is allowed. `day` is the session's newest time, for clock times without a date. An empty
 * text gives a filter that matches all. */
struct filter *filter_new(struct str text, int64_t day, struct err *err);
void filter_free(struct filter *f);

/* Limits a filter to what belongs to one task with its revisions, one agent, or one session. */
enum filter_scope { SCOPE_NONE, SCOPE_TASK, SCOPE_AGENT, SCOPE_SESSION };
void filter_limit(struct filter *f, enum filter_scope scope, uint32_t number);

/* Fetches the subject's full text when (and only when) a plain word needs it. */
typedef struct str (*filter_text_fn)(void *ctx, uint32_t number);

/* Sets how the file of a message is named, for source:. Without it only the group's name is known:
 * the file or folder as it was given. */
void filter_set_sources(struct filter *f, filter_text_fn name, void *ctx);

/* NULL filters match everything. */
bool filter_message(const struct filter *f, const struct model *m, uint32_t message,
		    filter_text_fn text, void *ctx);
bool filter_item(const struct filter *f, const struct model *m, uint32_t item,
		 const struct item_state *state, filter_text_fn text, void *ctx);
/* Whether it has is:snoozed, negated or not. NULL: no. */
bool filter_asks_snoozed(const struct filter *f);
bool filter_task(const struct filter *f, const struct model *m, uint32_t task, uint32_t k);
bool filter_agent(const struct filter *f, const struct model *m, uint32_t agent, uint32_t k);

/* Where the last word of a filter begins. */
size_t filter_last_word(struct str text);
enum { FILTER_VALUE_MAX = 100 }; /* bytes of a name; longer ones are not offered */
/* Calls `each` with what the last word of a filter being typed could become: the keys, or the values
 * of its key, those of names as the model has them. Words may repeat, and need not begin like the
 * last word. */
typedef void (*filter_word_fn)(void *ctx, struct str word);
void filter_complete(const struct model *m, struct str text, filter_word_fn each, void *ctx);

#endif
