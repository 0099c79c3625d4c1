/* Views as JSON lines. Scripts depend on the fields: they are only ever added. */
#ifndef GAVEL_CMD_SHOW_JSON_H
#define GAVEL_CMD_SHOW_JSON_H

#include "cmd/load.h"

void json_inbox(struct load *l, const struct scene *s, struct buf *out);
void json_item(struct load *l, const struct scene *s, uint32_t item, struct buf *out);
void json_timeline(struct load *l, const struct scene *s, struct buf *out);
void json_ledger(struct load *l, const struct scene *s, struct buf *out);
void json_messages(struct load *l, const struct scene *s, struct buf *out);
void json_agents(struct load *l, const struct scene *s, struct buf *out);
void json_decisions(struct load *l, const struct scene *s, struct buf *out);
void json_summary(struct load *l, const struct scene *s, struct buf *out);

#endif
