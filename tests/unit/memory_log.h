/* A log in memory, for tests of what is written in answer to it: messages in, drafts on a desk that
 * is filled by hand, a plan, and the plan's letters read back as messages of the same log. */
#ifndef GAVEL_TESTS_MEMORY_LOG_H
#define GAVEL_TESTS_MEMORY_LOG_H

#include "decide/plan.h"
#include "unit.h"

#include <stdio.h>

struct memory_log {
	struct model model;
	struct decoder decoder, again;
	struct message message;
	struct reader reader;
	struct arena arena;
	VEC(struct str) lines, names;
	struct str group;
	struct desk desk;
	struct buf told; /* warnings and errors so far */
};

static bool memory_detail(void *ctx, const struct item *item, const struct item_state *state,
			  struct detail *out)
{
	struct memory_log *l = ctx;

	dialect_look(&l->again, l->lines.v[state->message]);
	return dialect_detail(&l->again, (enum item_kind)item->kind, state->index, out);
}

static struct str memory_summary(void *ctx, uint32_t message)
{
	(void)ctx;
	(void)message;
	return STR("");
}

static struct str memory_bytes(void *ctx, uint32_t message)
{
	return ((struct memory_log *)ctx)->lines.v[message];
}

static const struct diags *memory_diags(void *ctx, uint32_t message)
{
	(void)message;
	return &((struct memory_log *)ctx)->message.diags;
}

static struct str memory_source(void *ctx, uint32_t message)
{
	return ((struct memory_log *)ctx)->names.v[message];
}

static inline void log_init(struct memory_log *l, const char *group)
{
	memset(l, 0, sizeof(*l));
	model_init(&l->model);
	l->group = str_of(group);
	l->desk.group = l->desk.source = l->group;
	l->reader = (struct reader){ l,		    memory_detail, memory_summary, memory_bytes,
				     memory_diags, memory_source };
}

static inline void log_release(struct memory_log *l)
{
	model_release(&l->model);
	decoder_release(&l->decoder);
	decoder_release(&l->again);
	message_release(&l->message);
	arena_release(&l->arena);
	vec_release(&l->lines);
	vec_release(&l->names);
	vec_release(&l->desk.drafts);
	buf_release(&l->told);
}

/* One message; file is the name of a file that is this message alone, or NULL. */
static inline void log_add_file(struct memory_log *l, struct str bytes, const char *file)
{
	struct str line = arena_str(&l->arena, str_trim(bytes));
	struct frame_info info = { .full_length = line.n, .file_name = str_of(file) };
	struct place place = { .line = l->lines.n + 1, .length = (uint32_t)line.n,
			       .group = l->group };

	vec_push(&l->lines, line);
	vec_push(&l->names, file ? str_of(arena_printf(&l->arena, "%s/%s", l->group.p, file))
				 : l->group);
	dialect_decode(&l->decoder, line, &info, &l->message);
	model_apply(&l->model, &l->message, &place);
	for (uint32_t i = 0; i < l->message.diags.list.n; i++) {
		const struct diag *d = &l->message.diags.list.v[i];

		if (d->severity != SEVERITY_NOTE)
			buf_printf(&l->told, "\n  line %u %s %.*s %s: %.*s", place.line,
				   severity_name(d->severity), STR_ARG(d->pointer), d->rule,
				   STR_ARG(d->text));
	}
}

static inline void log_add(struct memory_log *l, const char *line)
{
	log_add_file(l, str_of(line), NULL);
}

#define assert_clean(l) ck_assert_msg((l)->told.n == 0, "complaints:%s", (l)->told.n ? (l)->told.p : "")

static inline uint32_t log_item(struct memory_log *l, enum item_kind kind, const char *name)
{
	struct buf b = { 0 };
	uint32_t found = NONE;

	for (uint32_t i = 0; i < l->model.items.n; i++) {
		buf_clear(&b);
		item_name(&l->model, &l->model.items.v[i], &b);
		if (l->model.items.v[i].kind == kind && str_is(buf_str(&b), name))
			found = i;
	}
	buf_release(&b);
	ck_assert_msg(found != NONE, "there is no %s %s", item_kind_name(kind), name);
	return found;
}

static inline struct item_state log_state(struct memory_log *l, uint32_t item)
{
	struct item_state st;

	ck_assert(item_at(&l->model, &l->model.items.v[item], l->model.records.n, WHEN_NONE, &st));
	return st;
}

/* Stages a decision; the draft may be made more precise afterwards. */
static inline struct draft *log_decide(struct memory_log *l, uint32_t number, enum verb verb,
				       const char *explanation, const char *by)
{
	const struct item *item = &l->model.items.v[number];
	struct item_state st = log_state(l, number);
	struct buf name = { 0 }, rev = { 0 };
	struct draft d = { .state = DRAFT_STAGED, .letter = NONE, .kind = (enum item_kind)item->kind,
			   .verb = verb, .number = number, .seen = l->model.records.n };

	item_name(&l->model, item, &name);
	item_rev(&l->reader, item, &st, &rev);
	ck_assert_msg(rev.n > 0, "the item has no revision");
	d.session = session_name(&l->model, item->session);
	d.item = arena_str(&l->arena, buf_str(&name));
	d.rev = arena_str(&l->arena, buf_str(&rev));
	d.dialect = (enum dialect_id)message_route(&l->model, st.message)->dialect;
	d.explanation = str_of(explanation);
	d.by = str_of(by);
	vec_push(&l->desk.drafts, d);
	buf_release(&name);
	buf_release(&rev);
	return vec_last(&l->desk.drafts);
}

/* UUIDs that count up. */
static void counted_uuid(char out[37])
{
	static unsigned n;

	snprintf(out, 37, "00000000-0000-4000-8000-%012u", ++n);
}

static inline struct terms usual_terms(const char *reply)
{
	return (struct terms){ .as = STR("alice"), .reply = reply, .uuid = counted_uuid,
			       .now_ms = INT64_C(1770379200000) }; /* 2026-02-06T12:00:00Z */
}

static inline void log_plan(struct memory_log *l, const struct terms *t, struct plan *p)
{
	*p = (struct plan){ 0 };
	plan_make(p, &l->desk, &l->model, &l->reader, t, NONE);
}

static inline const char *first_missing(const struct plan *p)
{
	for (uint32_t i = 0; i < p->list.n; i++)
		if (p->list.v[i].missing.n)
			return p->list.v[i].missing.v[0].p;
	return p->refused.n ? p->refused.v[0].p : "";
}

#define assert_ready(p) \
	ck_assert_msg(plan_is_ready(p) && (p)->refused.n == 0, "not ready: %s", first_missing(p))

#endif
