/* A log in memory, a desk filled by hand, a plan, and the way back: what a plan would write is
 * decoded and applied to the same model, and must mean what was decided, without a word from the
 * rules. */
#ifndef GAVEL_TESTS_ENCODE_H
#define GAVEL_TESTS_ENCODE_H

#include "encode/plan.h"

#include "unit.h"

#include <stdio.h>

struct bench {
	struct model model;
	struct decoder decoder, again;
	struct message message;
	struct arena arena;
	VEC(struct str) lines; /* of all messages, those that were written too */
	VEC(struct str) names; /* of the files they are from */
	struct reader reader;
	struct desk desk;
	struct plan plan;
	struct terms terms;
	struct buf worse; /* warnings and errors of the message applied last */
	unsigned bad;     /* how many they are */
	struct buf told;  /* of all of them */
	bool says;        /* the next message is what a person says */
	struct buf text;
};

static inline struct str bench_bytes(void *ctx, uint32_t message)
{
	return ((struct bench *)ctx)->lines.v[message];
}

static inline bool bench_detail(void *ctx, const struct item *item, const struct item_state *state,
				struct detail *out)
{
	struct bench *b = ctx;

	dialect_look(&b->again, b->lines.v[state->message],
		     (enum dialect_id)message_route(&b->model, state->message)->dialect);
	if (message_route(&b->model, state->message)->flags & RECORD_AMBIGUOUS)
		dialect_look_last(&b->again, b->lines.v[state->message]);
	if (item_subject(&b->model, item, state->message) != NONE)
		dialect_look_about(&b->again,
				   b->lines.v[item_subject(&b->model, item, state->message)]);
	return dialect_detail(&b->again, item->kind, state->index, out);
}

static inline struct str bench_summary(void *ctx, uint32_t message)
{
	struct bench *b = ctx;

	buf_clear(&b->text);
	dialect_summarize(&b->again, b->lines.v[message], &b->text);
	return buf_str(&b->text);
}

static inline const struct diags *bench_diags(void *ctx, uint32_t message)
{
	(void)message;
	return &((struct bench *)ctx)->message.diags;
}

static inline struct str bench_source(void *ctx, uint32_t message)
{
	return ((struct bench *)ctx)->names.v[message];
}

/* name: of the log, and so of its session where messages name none. */
static inline void bench_open(struct bench *b, const char *name)
{
	memset(b, 0, sizeof(*b));
	model_init(&b->model);
	b->reader = (struct reader){ b,		    bench_detail, bench_summary, bench_bytes,
				     bench_diags, bench_source };
	b->desk.group = b->desk.source = str_of(name);
	b->terms = (struct terms){ .as = STR("ann"), .reply = "/tmp/gavel-unit-replies.ndjson",
				   .now_ms = TIME_NONE };
}

static inline void bench_init(struct bench *b)
{
	bench_open(b, "log.ndjson");
}

/* The next message of the log, decoded; file: the name of a file that is this message alone, or
 * NULL. */
static inline struct place bench_decode(struct bench *b, struct str bytes, const char *file)
{
	struct str kept = arena_str(&b->arena, str_trim(bytes));
	struct frame_info info = { .full_length = kept.n, .file_name = str_of(file),
				   .reply = b->says };

	vec_push(&b->lines, kept);
	vec_push(&b->names, file ? str_of(arena_printf(&b->arena, "%s/%s", b->desk.group.p, file))
				 : b->desk.group);
	dialect_decode(&b->decoder, kept, &info, &b->message);
	return (struct place){ .line = b->lines.n, .length = (uint32_t)kept.n,
			       .group = b->desk.group, 
			       .trust = b->says ? TRUST_JOURNAL : TRUST_LOG };
}

/* Applies it as loading a file does; b->worse tells what the rules say against it. */
static inline void bench_take(struct bench *b, const struct place *place)
{
	model_apply(&b->model, &b->message, place);
	buf_clear(&b->worse);
	b->bad = 0;
	for (uint32_t i = 0; i < b->message.diags.list.n; i++) {
		const struct diag *d = &b->message.diags.list.v[i];

		if (d->severity == SEVERITY_NOTE)
			continue;
		b->bad++;
		buf_printf(&b->worse, "\n  line %u %s %.*s %s: %.*s", place->line,
			   severity_name(d->severity), STR_ARG(d->pointer), d->rule,
			   STR_ARG(d->text));
	}
	buf_add_str(&b->told, buf_str(&b->worse));
}

static inline void bench_add_file(struct bench *b, struct str bytes, const char *file)
{
	struct place place = bench_decode(b, bytes, file);

	bench_take(b, &place);
	if (b->message.time_ms > b->terms.now_ms)
		b->terms.now_ms = b->message.time_ms;
}

static inline void bench_add_str(struct bench *b, struct str line)
{
	bench_add_file(b, line, NULL);
}

static inline void bench_add(struct bench *b, const char *line)
{
	bench_add_file(b, str_of(line), NULL);
}

/* What a person says. */
static inline void bench_say(struct bench *b, struct str line, const char *file)
{
	b->says = true;
	bench_add_file(b, line, file);
	b->says = false;
}

#define assert_clean(b) \
	ck_assert_msg((b)->told.n == 0, "complaints:%s", (b)->told.n ? (b)->told.p : "")

/* The newest item of that kind that is called so, with its review or without; name NULL = the
 * newest of the kind. */
static inline uint32_t bench_item(struct bench *b, enum item_kind kind, const char *name)
{
	struct buf whole = { 0 };
	uint32_t found = NONE;

	for (uint32_t i = b->model.items.n; i-- > 0 && found == NONE;) {
		const struct item *item = &b->model.items.v[i];

		buf_clear(&whole);
		item_name(&b->model, item, &whole);
		if (item->kind == kind && (!name || str_is(buf_str(&whole), name) ||
					   str_is(model_str(&b->model, item->id), name)))
			found = i;
	}
	buf_release(&whole);
	ck_assert_msg(found != NONE, "there is no %s %s", item_kind_name(kind), name ? name : "");
	return found;
}

/* Whatever time it is. */
static inline struct item_state bench_state(struct bench *b, uint32_t item)
{
	struct item_state at;

	ck_assert(item_at(&b->model, &b->model.items.v[item], b->model.records.n, TIME_NONE, &at));
	return at;
}

/* Stages a decision; the draft may be made more precise afterwards, until the next one. */
static inline struct draft *bench_decide(struct bench *b, uint32_t number, enum verb verb,
					 const char *explanation, const char *by)
{
	const struct item *item = &b->model.items.v[number];
	struct item_state at = bench_state(b, number);
	struct draft d = { .state = DRAFT_STAGED, .letter = NONE, .kind = (enum item_kind)item->kind,
			   .verb = verb, .by = str_of(by), .number = number, .raise = at.anew,
			   .explanation = str_of(explanation) };
	struct buf name = { 0 }, rev = { 0 };

	d.seen = model_seen(&b->model, item_session(&b->model, item), b->model.records.n);
	snprintf(d.id, sizeof(d.id), "%012u", b->desk.drafts.n);
	item_name(&b->model, item, &name);
	item_rev(&b->reader, item, &at, &rev);
	ck_assert_msg(rev.n > 0, "the item has no revision");
	d.session = session_name(&b->model, item_session(&b->model, item));
	d.dialect = (enum dialect_id)message_route(&b->model, at.message)->dialect;
	d.item = arena_str(&b->arena, buf_str(&name));
	d.rev = arena_str(&b->arena, buf_str(&rev));
	buf_release(&name);
	buf_release(&rev);
	vec_push(&b->desk.drafts, d);
	return vec_last(&b->desk.drafts);
}

static inline struct draft *bench_stage(struct bench *b, enum item_kind kind, const char *name,
					enum verb verb)
{
	return bench_decide(b, bench_item(b, kind, name), verb, "", "ann");
}

/* Plans all that is staged. */
static inline void bench_plan(struct bench *b)
{
	plan_release(&b->plan);
	memset(&b->plan, 0, sizeof(b->plan));
	plan_make(&b->plan, &b->desk, &b->model, &b->reader, &b->terms, NONE);
}

/* The terms of a person called alice, at noon of 2026-02-06. */
static inline struct terms usual_terms(const char *reply)
{
	return (struct terms){ .as = STR("alice"), .reply = reply,
			       .now_ms = INT64_C(1770379200000) };
}

/* The same with other terms, for a plan of its own. */
static inline void bench_plan_by(struct bench *b, const struct terms *t, struct plan *p)
{
	*p = (struct plan){ 0 };
	plan_make(p, &b->desk, &b->model, &b->reader, t, NONE);
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

/* The only draft is in no letter, and the plan says why. */
static inline void bench_refuses(struct bench *b, const char *words)
{
	bench_plan(b);
	ck_assert_uint_eq(b->plan.list.n, 0);
	ck_assert_uint_eq(b->plan.refused.n, 1);
	ck_assert_msg(str_find(b->plan.refused.v[0], str_of(words), 0) >= 0,
		      "\"%s\" is not in \"%.*s\"", words, STR_ARG(b->plan.refused.v[0]));
}

static inline bool bench_cautions(const struct proposal *p, const char *words)
{
	for (uint32_t i = 0; i < p->cautions.n; i++)
		if (str_find(p->cautions.v[i], str_of(words), 0) >= 0)
			return true;
	return false;
}

/* Sent: a letter of the desk and, unless it goes to a queue, a message of the session. */
static inline void bench_send(struct bench *b, const struct proposal *p)
{
	struct letter l = p->letter;

	memset(&l.drafts, 0, sizeof(l.drafts));
	l.state = LETTER_SENT;
	l.bytes = arena_str(&b->arena, l.bytes);
	l.path = arena_str(&b->arena, l.path);
	l.message = NONE;
	for (uint32_t i = 0; i < p->letter.drafts.n; i++) {
		struct draft *d = &b->desk.drafts.v[p->letter.drafts.v[i]];

		vec_push(&l.drafts, p->letter.drafts.v[i]);
		d->state = DRAFT_WRITTEN;
		d->letter = b->desk.letters.n;
	}
	if (!l.aside && l.channel != CHANNEL_NONE) {
		l.message = b->model.records.n;
		bench_say(b, str_make(l.bytes.p, l.bytes.n - 1), NULL);
	}
	vec_push(&b->desk.letters, l);
}

/* What the proposal writes, applied; the rules must have nothing to say against it. */
static inline void bench_apply(struct bench *b, const struct proposal *p)
{
	bench_say(b, str_make(p->letter.bytes.p, p->letter.bytes.n - 1), NULL);
	ck_assert_msg(b->worse.n == 0, "%.*s: %s", STR_ARG(p->letter.bytes), b->worse.p);
}

static inline void bench_verdict(struct bench *b, enum item_kind kind, const char *name,
				 enum verdict verdict)
{
	struct item_state at = bench_state(b, bench_item(b, kind, name));

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
	vec_release(&b->names);
	plan_release(&b->plan);
	model_release(&b->model);
	message_release(&b->message);
	decoder_release(&b->decoder);
	decoder_release(&b->again);
	buf_release(&b->worse);
	buf_release(&b->told);
	buf_release(&b->text);
	arena_release(&b->arena);
}

#endif
