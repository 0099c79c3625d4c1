/* JSON output of the views, one object per line (JSON lines). Scripts depend on the fields: they
 * are only ever added. */
#ifndef GAVEL_CMD_SHOW_JSON_H
#define GAVEL_CMD_SHOW_JSON_H

#include "session/load.h"

/* Ends a line; flushes load.json now and then. */
void json_end(struct load *l, struct buf *out);
void json_session(struct load *l, struct buf *out, uint32_t session);
void json_usage(struct buf *out, uint64_t tokens_in, uint64_t tokens_out, uint64_t tokens_cached,
		double cost);
void json_source(struct load *l, struct buf *out, uint32_t message);
/* "trust" and "claims"; the last members of an object, but for those of its own view. */
void json_trust(struct load *l, struct buf *out, enum trust trust, struct str claims);

/* Who caused a step: a person, of a reply, or an agent. */
struct str step_person(const struct load *l, const struct item_step *step);
void json_inbox(struct load *l, const struct scene *s, struct buf *out);
/* One item as a line of the inbox; whole: with its fields and history. */
void json_item(struct load *l, const struct scene *s, uint32_t item, bool whole, struct buf *out);
void json_timeline(struct load *l, const struct scene *s, struct buf *out);
void json_ledger(struct load *l, const struct scene *s, struct buf *out);
void json_messages(struct load *l, const struct scene *s, struct buf *out);
void json_sessions(struct load *l, const struct scene *s, struct buf *out);
void json_agents(struct load *l, const struct scene *s, struct buf *out);
/* Decisions that agents made in the log. */
void json_agent_decisions(struct load *l, const struct scene *s, struct buf *out);
/* Decisions of the journals, then those of agents. */
void json_decisions(struct load *l, const struct scene *s, struct buf *out);
/* The decision of one line of the view. */
void json_decision(struct load *l, const struct scene *s, const struct line *line,
		   struct buf *out);
void json_summary(struct load *l, const struct scene *s, struct buf *out);

/* SHA-256 over the views, `all` of each, as of the scene's k; its filter is not used. */
void state_hash(struct load *l, const struct scene *s, char hex[65]);
void json_state(struct load *l, const struct scene *s, struct buf *out);

/* Prints a diff with the decisions of another journal, as text or JSON. Returns the exit code. */
int show_against(struct load *l, const struct scene *s, const char *journal, bool json);
/* The whole session as Markdown. */
void markdown_report(struct load *l, const struct scene *s, struct buf *out);
/* Untrusted text as a code span that fits into a table's cell. */
void markdown_code(struct buf *out, struct str text);

#endif
