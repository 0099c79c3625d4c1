/* A log in memory, a desk filled by hand, a plan, and the way back: what a plan would write is
 * decoded and applied to the same model, and must mean what was decided, without a word from the
 * rules. */
#ifndef GAVEL_TESTS_ENCODE_H
#define GAVEL_TESTS_ENCODE_H

#include "decide/plan.h"

#include "unit.h"

#include <stdio.h>

struct bench {
	struct model model;
	struct decoder decoder, again;
	struct message message;
	struct arena arena;
	VEC(struct str) lines; /* of all messages, those that were written too */
	struct reader reader;
	struct desk desk;
	struct plan plan;
	struct terms terms;
	struct buf worse; /* warnings and errors of the message applied last */
};

static inline struct str bench_bytes(void *ctx, uint32_t message)
{
	return ((struct bench *)ctx)->lines.v[message];
}

static inline bool bench_detail(void *ctx, const struct item *item, const struct item_state *state,
				struct detail *out)
{
	struct bench *b = ctx;

	dialect_look(&b->again, b->lines.v[state->message]);
	return dialect_detail(&b->again, item->kind, state->index, out);
}

static inline void bench_uuid(char out[37])
{
	static unsigned n;

	snprintf(out, 37, "00000000-0000-4000-8000-%012u", ++n);
}

static inline void bench_init(struct bench *b)
{
	memset(b, 0, sizeof(*b));
	model_init(&b->model);
	b->reader = (struct reader){ .ctx = b, .detail = bench_detail, .bytes = bench_bytes };
	b->desk.group = b->desk.source = STR("log.ndjson");
	b->terms = (struct terms){ .as = STR("ann"), .reply = "/tmp/gavel-unit-replies.ndjson",
				   .now_ms = WHEN_NONE, .uuid = bench_uuid };
}

/* Applies a message as loading a file does; b->worse tells what the rules say against it. */
static inline void bench_add_str(struct bench *b, struct str line)
{
	struct str kept = arena_str(&b->arena, line);
	struct frame_info info = { .full_length = kept.n };
	struct place place = { .line = b->lines.n + 1, .length = (uint32_t)kept.n,
			       .group = b->desk.group };

	vec_push(&b->lines, kept);
	dialect_decode(&b->decoder, kept, &info, &b->message);
	model_apply(&b->model, &b->message, &place);
	buf_clear(&b->worse);
	for (uint32_t i = 0; i < b->message.diags.list.n; i++) {
		const struct diag *d = &b->message.diags.list.v[i];

		if (d->severity != SEVERITY_NOTE)
			buf_printf(&b->worse, "%s %s %.*s: %.*s\n", severity_name(d->severity),
				   d->rule, STR_ARG(d->pointer), STR_ARG(d->text));
	}
	if (b->message.time_ms > b->terms.now_ms)
		b->terms.now_ms = b->message.time_ms;
}

static inline void bench_add(struct bench *b, const char *line)
{
	bench_add_str(b, str_of(line));
}

/* The item of that kind and name; name NULL = the newest of the kind. */
static inline uint32_t bench_item(struct bench *b, enum item_kind kind, const char *name)
{
	for (uint32_t i = b->model.items.n; i-- > 0;)
		if (b->model.items.v[i].kind == kind &&
		    (!name || str_is(model_str(&b->model, b->model.items.v[i].id), name)))
			return i;
	ck_abort_msg("no item %s", name ? name : item_kind_name(kind));
	return NONE;
}

static inline void bench_state(struct bench *b, uint32_t item, struct item_state *out)
{
	ck_assert(item_at(&b->model, &b->model.items.v[item], b->model.records.n, b->terms.now_ms,
			  out));
}

/* Stages a decision; the pointer is good until the next one. */
static inline struct draft *bench_stage(struct bench *b, enum item_kind kind, const char *name,
					enum verb verb)
{
	uint32_t number = bench_item(b, kind, name);
	const struct item *item = &b->model.items.v[number];
	struct draft d = { .letter = NONE, .kind = kind, .verb = verb, .by = STR("ann"),
			   .seen = b->model.records.n, .number = number };
	struct buf text = { 0 }, rev = { 0 };
	struct item_state at;

	bench_state(b, number, &at);
	snprintf(d.id, sizeof(d.id), "%012u", b->desk.drafts.n);
	d.session = session_name(&b->model, item->session);
	d.dialect = message_route(&b->model, at.message)->dialect;
	item_name(&b->model, item, &text);
	d.item = arena_str(&b->arena, buf_str(&text));
	item_rev(&b->reader, item, &at, &rev);
	d.rev = arena_str(&b->arena, buf_str(&rev));
	buf_release(&text);
	buf_release(&rev);
	vec_push(&b->desk.drafts, d);
	return vec_last(&b->desk.drafts);
}

/* Plans all that is staged. */
static inline void bench_plan(struct bench *b)
{
	plan_release(&b->plan);
	memset(&b->plan, 0, sizeof(b->plan));
	plan_make(&b->plan, &b->desk, &b->model, &b->reader, &b->terms, NONE);
}

/* The plan's only proposal. */
static inline struct proposal *bench_only(struct bench *b)
{
	bench_plan(b);
	ck_assert_msg(b->plan.refused.n == 0, "refused: %.*s", STR_ARG(b->plan.refused.v[0]));
	ck_assert_uint_eq(b->plan.list.n, 1);
	return &b->plan.list.v[0];
}

/* The only proposal, which must lack nothing. */
static inline struct proposal *bench_ready(struct bench *b)
{
	struct proposal *p = bench_only(b);

	ck_assert_msg(p->missing.n == 0, "missing: %.*s", STR_ARG(p->missing.v[0]));
	ck_assert(p->letter.bytes.n && p->letter.bytes.p[p->letter.bytes.n - 1] == '\n');
	ck_assert_msg(!memchr(p->letter.bytes.p, '\n', p->letter.bytes.n - 1),
		      "more than a line: %s", p->letter.bytes.p);
	ck_assert(p->letter.to.n);
	return p;
}

/* The only proposal, which must lack exactly what `words` are part of. */
static inline void bench_lacks(struct bench *b, const char *words)
{
	struct proposal *p = bench_only(b);

	ck_assert_uint_eq(p->missing.n, 1);
	ck_assert_msg(str_find(p->missing.v[0], str_of(words), 0) >= 0, "\"%s\" is not in \"%.*s\"",
		      words, STR_ARG(p->missing.v[0]));
}

static inline bool bench_cautions(const struct proposal *p, const char *words)
{
	for (uint32_t i = 0; i < p->cautions.n; i++)
		if (str_find(p->cautions.v[i], str_of(words), 0) >= 0)
			return true;
	return false;
}

/* As if the proposal had been sent: a letter of the desk, its drafts written. */
static inline void bench_send(struct bench *b, const struct proposal *p)
{
	struct letter l = p->letter;

	memset(&l.drafts, 0, sizeof(l.drafts));
	l.state = LETTER_SENT;
	l.bytes = arena_str(&b->arena, l.bytes);
	l.path = arena_str(&b->arena, l.path);
	for (uint32_t i = 0; i < p->letter.drafts.n; i++) {
		struct draft *d = &b->desk.drafts.v[p->letter.drafts.v[i]];

		vec_push(&l.drafts, p->letter.drafts.v[i]);
		d->state = DRAFT_WRITTEN;
		d->letter = b->desk.letters.n;
	}
	vec_push(&b->desk.letters, l);
}

/* What the proposal writes, applied; the rules must have nothing to say against it. */
static inline void bench_apply(struct bench *b, const struct proposal *p)
{
	bench_add_str(b, str_make(p->letter.bytes.p, p->letter.bytes.n - 1));
	ck_assert_msg(b->worse.n == 0, "%.*s: %s", STR_ARG(p->letter.bytes), b->worse.p);
}

static inline void bench_verdict(struct bench *b, enum item_kind kind, const char *name,
				 enum verdict verdict)
{
	struct item_state at;

	bench_state(b, bench_item(b, kind, name), &at);
	ck_assert_msg(at.verdict == verdict, "%s is %s, not %s", name ? name : item_kind_name(kind),
		      verdict_name(at.verdict), verdict_name(verdict));
}

static inline void bench_release(struct bench *b)
{
	for (uint32_t i = 0; i < b->desk.letters.n; i++)
		vec_release(&b->desk.letters.v[i].drafts);
	vec_release(&b->desk.letters);
	vec_release(&b->desk.drafts);
	vec_release(&b->lines);
	plan_release(&b->plan);
	model_release(&b->model);
	message_release(&b->message);
	decoder_release(&b->decoder);
	decoder_release(&b->again);
	buf_release(&b->worse);
	arena_release(&b->arena);
}

#endif
