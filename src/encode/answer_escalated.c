/* Answering what an escalation queue passes on: the item is built again from the messages that the
 * entry carries, in a model of its own, and its own dialect's encoder writes the answer, as if the
 * log were here. Everything in an entry is a claim: the item must be there, in the revision that is
 * named, and where the answer goes is for the person to confirm. */
#include "encode/plan.h"

#include "dialect/escalation_entry.h"
#include "json/compose.h"

#include <limits.h>

enum { CONTEXT_LINES_MAX = 64 };

/* The entry's messages as a little log. */
struct copy {
	struct model model;
	struct decoder decoder, again;
	struct message message;
	struct reader reader;
	VEC(struct str) lines; /* by message; lent by the entry */
	struct str source;
	struct buf text;
};

static bool copy_detail(void *ctx, const struct item *item, const struct item_state *state,
			struct detail *out)
{
	struct copy *c = ctx;

	dialect_look(&c->again, c->lines.v[state->message]);
	return dialect_detail(&c->again, (enum item_kind)item->kind, state->index, out);
}

static struct str copy_summary(void *ctx, uint32_t message)
{
	struct copy *c = ctx;

	buf_clear(&c->text);
	dialect_summarize(&c->again, c->lines.v[message], &c->text);
	return buf_str(&c->text);
}

static struct str copy_bytes(void *ctx, uint32_t message)
{
	struct copy *c = ctx;

	return c->lines.v[message];
}

static const struct diags *copy_diags(void *ctx, uint32_t message)
{
	struct copy *c = ctx;

	dialect_decode(&c->again, c->lines.v[message], NULL, &c->message);
	return &c->message.diags;
}

static struct str copy_source(void *ctx, uint32_t message)
{
	struct copy *c = ctx;

	(void)message;
	return c->source;
}

static void take(struct copy *c, const struct queue_entry *q, struct str bytes, uint32_t line,
		 struct str file)
{
	struct frame_info info = { .full_length = bytes.n, .file_name = file };
	struct place place = { .line = line, .length = (uint32_t)bytes.n, .group = q->session };

	dialect_decode(&c->decoder, bytes, &info, &c->message);
	vec_push(&c->lines, bytes);
	/* a session that only the document named; a path is the name of one that nothing names */
	if (c->message.dialect == DIALECT_COLLABORATION && !c->message.session.n &&
	    q->session.n && q->session.p[0] != '/' && !str_is(q->session, "-")) {
		c->message.session = q->session;
		place.group = STR("queue");
	}
	model_apply(&c->model, &c->message, &place);
}

static void copy_make(struct copy *c, const struct queue_entry *q)
{
	uint32_t at = 0;
	size_t i, n;
	yyjson_val *v;

	*c = (struct copy){ .source = q->source.p ? q->source : STR("") };
	model_init(&c->model);
	/* what was an item there, by whatever settings, must be one here */
	c->model.runs_agents = true;
	c->model.approve_from = c->model.human_from = 2;
	c->reader = (struct reader){ c, copy_detail, copy_summary, copy_bytes, copy_diags,
				     copy_source };
	if (q->context)
		yyjson_arr_foreach(q->context, i, n, v) {
			if (i == (size_t)q->before) {
				at = (uint32_t)q->line;
				take(c, q, q->original, at, q->file);
			}
			if (i == CONTEXT_LINES_MAX)
				break;
			if (json_str(v).n)
				take(c, q, json_str(v), ++at, STR_NONE);
		}
	if (!q->context || (size_t)q->before >= yyjson_arr_size(q->context))
		take(c, q, q->original, (uint32_t)q->line, q->file);
}

static void copy_release(struct copy *c)
{
	model_release(&c->model);
	decoder_release(&c->decoder);
	decoder_release(&c->again);
	message_release(&c->message);
	vec_release(&c->lines);
	buf_release(&c->text);
}

/* The item that the entry names, or NONE. */
static uint32_t copy_find(struct copy *c, const struct queue_entry *q)
{
	struct buf name = { 0 };
	uint32_t found = NONE;

	for (uint32_t i = 0; i < c->model.items.n && found == NONE; i++) {
		buf_clear(&name);
		item_name(&c->model, &c->model.items.v[i], &name);
		if (c->model.items.v[i].kind == q->kind && str_eq(buf_str(&name), q->item))
			found = i;
	}
	buf_release(&name);
	return found;
}

/* A letter that cannot be sent, to say why. */
static struct proposal *propose_nothing(struct encoding *e, uint32_t i)
{
	struct proposal p = { .desk = e->desk };

	p.letter.dialect = draft_of(e, i)->dialect;
	p.letter.path = p.letter.bytes = STR("");
	p.letter.to = STR("nobody");
	vec_push(&p.letter.drafts, e->drafts[i]);
	vec_push(&e->plan->list, p);
	return vec_last(&e->plan->list);
}

/* Whether the entry is what it says; the reason goes into a proposal otherwise. */
static bool is_sound(struct encoding *e, uint32_t i, struct copy *c, const struct queue_entry *q,
		     uint32_t *number)
{
	struct item_state state;
	struct buf rev = { 0 };
	bool same;

	*number = copy_find(c, q);
	if (*number == NONE ||
	    !item_at(&c->model, &c->model.items.v[*number], c->model.records.n, TIME_NONE, &state)) {
		propose_missing(e, propose_nothing(e, i),
				"the message in the queue does not hold the item that it names; "
				"ask whoever "
				"escalated it");
		return false;
	}
	item_rev(&c->reader, &c->model.items.v[*number], &state, &rev);
	same = str_eq(buf_str(&rev), q->rev);
	buf_release(&rev);
	if (!same)
		propose_missing(e, propose_nothing(e, i),
				"the item in the queue does not match its revision; ask whoever "
				"escalated it");
	else if (state.undecidable)
		propose_missing(e, propose_nothing(e, i),
				"the message in the queue is ambiguous or damaged; it cannot be "
				"decided");
	else if (!(verbs_of_item(&c->model, &c->model.items.v[*number], &state) &
		   1u << draft_of(e, i)->verb))
		propose_missing(e, propose_nothing(e, i), "%s cannot be said of it",
				verb_name(draft_of(e, i)->verb));
	else
		return true;
	return false;
}

/* Passes the entry on to the next queue, as it is, in the words of who does so. */
static void pass_on(struct encoding *e, uint32_t i, yyjson_val *root, const struct queue_entry *q)
{
	const struct draft *d = draft_of(e, i);
	struct str words = encode_words(e, d);
	struct proposal *p = propose_to_queue(e, &e->drafts[i], 1);
	struct buf b = { 0 };
	size_t k, n;
	yyjson_val *key, *v;

	if (p->missing.n)
		return;
	buf_addc(&b, '{');
	json_put_str(&b, "task_id", d->item);
	json_put_name(&b, "decision", "escalate");
	json_put_str(&b, "rationale",
		     words.n ? words : STR("A person has looked at it and passes it on."));
	json_put_value(&b, "state_version", json_get(root, "state_version"));
	json_put_str(&b, "created_at", encode_time(e));
	json_key(&b, "x-gavel");
	buf_addc(&b, '{');
	json_put_str(&b, "by", d->by.n ? d->by : e->terms->as);
	yyjson_obj_foreach(q->object, k, n, key, v) {
		if (str_is(json_str(key), "by"))
			continue;
		json_put_member(&b, key, v);
	}
	buf_adds(&b, "}}");
	proposal_set_bytes(e, p, &b);
	buf_release(&b);
}

static bool is_usable_path(struct str path)
{
	return path.n > 1 && path.n < PATH_MAX && path.p[0] == '/' && !memchr(path.p, 0, path.n);
}

/* Where the answer goes, or NULL with a reason in a proposal. *unconfirmed: only the queue says
 * so. */
static const char *answer_path(struct encoding *e, uint32_t i, const struct queue_entry *q,
			       bool *unconfirmed)
{
	struct buf path = { 0 };
	struct str s;
	enum channel_type type;

	*unconfirmed = false;
	if (e->terms->reply)
		return e->terms->reply;
	if (str_is(q->reply_channel, "stdin")) { /* the gavel that runs the agent reads it there */
		buf_add_str(&path, e->desk->source);
		buf_adds(&path, ".replies.ndjson");
		s = arena_str(&e->plan->arena, buf_str(&path));
		buf_release(&path);
		return s.p;
	}
	if (!is_usable_path(q->reply_path)) {
		propose_missing(e, propose_nothing(e, i),
				"the queue names no path that replies can go to; give --reply "
				"PATH");
		return NULL;
	}
	s = arena_str(&e->plan->arena, q->reply_path);
	type = channel_type_of(s.p);
	if (!str_is(q->reply_channel, channel_type_name(type))) {
		propose_missing(e, propose_nothing(e, i),
				"the queue says that replies go to a %.20s, but here %.700s is "
				"none; give "
				"--reply PATH",
				str_is(q->reply_channel, "fifo")	? "FIFO"
				: str_is(q->reply_channel, "directory") ? "folder"
									: "file",
				s.p);
		return NULL;
	}
	*unconfirmed = !e->terms->reply_confirmed;
	return s.p;
}

#define UNSEEN "what was said in that log since it was escalated is not seen here"

/* The letters that the original's encoder wrote become letters of this desk. */
static void adopt(struct encoding *e, uint32_t i, uint32_t first, const struct queue_entry *q,
		  const char *path, bool unconfirmed)
{
	const char *caution = encoders[q->dialect]->queue_caution;
	struct arena *a = &e->plan->arena;

	for (uint32_t k = first; k < e->plan->list.n; k++) {
		struct proposal *p = &e->plan->list.v[k];

		p->desk = e->desk;
		for (uint32_t j = 0; j < p->letter.drafts.n; j++)
			p->letter.drafts.v[j] = e->drafts[i];
		p->letter.path = arena_str(a, p->letter.path);
		p->letter.bytes = arena_str(a, p->letter.bytes);
		p->letter.to = arena_str(a, p->letter.to);
		p->letter.expect = arena_str(a, p->letter.expect);
		if (unconfirmed)
			propose_missing(e, p,
					"the reply goes to %s, which the queue names; confirm it "
					"with --reply %s",
					path, path);
		propose_caution(e, p, "%s", caution ? caution : UNSEEN);
	}
}

/* What was answered from here before counts there, too, after all that the entry tells. */
static void lend_desk(const struct encoding *e, struct desk *out)
{
	for (uint32_t i = 0; i < e->desk->drafts.n; i++) {
		vec_push(&out->drafts, e->desk->drafts.v[i]);
		vec_last(&out->drafts)->seen = UINT32_MAX;
		vec_last(&out->drafts)->number = NONE; /* none of the copy's items */
	}
	out->letters = e->desk->letters;
}

static void answer(struct encoding *e, uint32_t i, struct copy *c, const struct queue_entry *q,
		   uint32_t number)
{
	const struct encoder_ops *encoder = encoders[q->dialect];
	struct desk desk = { .group = q->session, .source = c->source, .access = DESK_READS };
	struct terms terms = *e->terms;
	struct encoding inner = { .plan = e->plan, .desk = &desk, .model = &c->model,
				  .reader = &c->reader, .terms = &terms, .drafts = &e->drafts[i],
				  .n = 1, .elsewhere = true };
	uint32_t first = e->plan->list.n;
	struct draft *draft;
	bool unconfirmed;

	terms.reply = answer_path(e, i, q, &unconfirmed);
	terms.escalate_to = NULL;
	if (!terms.reply || !encoder->encode)
		return;
	lend_desk(e, &desk);
	draft = &desk.drafts.v[e->drafts[i]];
	draft->seen = c->model.records.n;
	draft->number = number;
	draft->dialect = q->dialect;
	draft->kind = q->kind;
	draft->session = q->session;
	draft->item = q->item;
	draft->rev = q->rev;
	encoder->encode(&inner);
	json_reader_release(&inner.json);
	vec_release(&desk.drafts);
	adopt(e, i, first, q, terms.reply, unconfirmed);
}

static void answer_one(struct encoding *e, uint32_t i)
{
	struct item_state state;
	struct queue_entry q;
	struct copy c;
	yyjson_val *root;
	uint32_t number;

	state_of(e, i, &state);
	root = parse_message(e, state.message);
	if (!root || !queue_entry_read(root, &q) || !q.passes_on || q.missing) {
		propose_missing(e, propose_nothing(e, i),
				"the queue's entry is not complete; ask whoever escalated it");
		return;
	}
	copy_make(&c, &q);
	if (is_sound(e, i, &c, &q, &number)) {
		if (draft_of(e, i)->verb == VERB_ESCALATE)
			pass_on(e, i, root, &q);
		else
			answer(e, i, &c, &q, number);
	}
	copy_release(&c);
}

bool is_from_queue(const struct item *item)
{
	return item->origin_dialect != 0;
}

void encode_queue_answer(struct encoding *e)
{
	for (uint32_t i = 0; i < e->n; i++)
		answer_one(e, i);
}
