/* From SOURCE arguments to a model, and back to the bytes: what every command that reads uses.
 * Zero it, load_open, then load_run; load_release ends all, also after errors. */
#ifndef GAVEL_CMD_LOAD_H
#define GAVEL_CMD_LOAD_H

#include "cmd/options.h"
#include "dialect/dialect.h"
#include "model/model.h"
#include "ui/view.h"
#include "wire/wire.h"

struct load {
	struct wire wire;
	struct model model;
	struct decoder decoder; /* of messages as they come */
	struct message message;
	bool trouble; /* some source could not be read; it was said */
	struct buf *hold; /* sentences go here while the screen is not ours to print on; NULL = stderr */

	/* looking at a message again */
	struct decoder again;
	uint32_t looked_at; /* message that `again` has parsed, NONE */
	struct message again_message;
	struct buf bytes, text;
	struct reader reader;
};

/* Called for each message after the model has taken it; its diagnostics are complete. */
typedef void (*load_fn)(void *ctx, struct load *l, const struct message *msg, const struct record *r);

/* Adds the sources (none: standard input). -1 when nothing can be read at all. */
int load_open(struct load *l, const char *const *sources, uint32_t n, size_t max_line_bytes);
void load_run(struct load *l, load_fn each, void *ctx);
void load_release(struct load *l);

/* A sentence for the person on stderr. Names of files are others' words: only cells come out. */
void load_say(struct load *l, struct str sentence);
/* Appends text as the cells that would be shown, without colours. */
void add_clean(struct buf *out, struct str s, enum text_mode mode);
/* --filter, --since and --until as one filter; NULL when none is given. -1: said on stderr. */
int load_filter(const struct options *o, int64_t day, struct filter **out);

/* The name of a message's file as the person gave it. */
struct str load_source_name(const struct load *l, uint32_t source);
/* SHA-256 of the item, written compactly: "sha256:" and 64 digits; empty when it cannot be read. */
void load_rev(struct load *l, const struct item *item, const struct item_state *state,
	      struct buf *out);

#endif
