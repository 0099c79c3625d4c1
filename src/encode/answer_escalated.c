/* Answers items of an escalation queue. The item is rebuilt from the messages in the queue entry,
 * in a model of its own (the replica), and its original dialect's encoder writes the answer. The
 * entry is untrusted: the item must exist in the revision it names, and a reply path that only it
 * names needs --reply, or a confirmation of its own. */
#include "encode/foreign_replies.h"

#include "base/file_fault.h"
#include "dialect/escalation_entry.h"
#include "json/compose.h"

#include <errno.h>
#include <limits.h>

enum { CONTEXT_LINES_MAX = 64 };

/* A model of the entry's messages, with a reader for them. */
struct replica {
	struct model model;
	struct decoder decoder, reread;
	struct message message;
	struct reader reader;
	VEC(struct str) lines; /* by message; point into the entry */
	struct str source;
	struct buf text;
};

static bool replica_detail(void *ctx, const struct item *item, const struct item_state *state,
			   struct detail *out)
{
	struct replica *c = ctx;
	uint32_t subject = item_subject(&c->model, item, state->message);

	dialect_look(&c->reread, c->lines.v[state->message], DIALECT_UNKNOWN);
	if (message_route(&c->model, state->message)->flags & RECORD_AMBIGUOUS)
		dialect_look_last(&c->reread, c->lines.v[state->message]);
	if (subject != NONE)
		dialect_look_about(&c->reread, c->lines.v[subject]);
	return dialect_detail(&c->reread, (enum item_kind)item->kind, state->index, out);
}

static struct str replica_summary(void *ctx, uint32_t message)
{
	struct replica *c = ctx;

	buf_clear(&c->text);
	dialect_summarize(&c->reread, c->lines.v[message], &c->text);
	return buf_str(&c->text);
}

static struct str replica_bytes(void *ctx, uint32_t message)
{
	struct replica *c = ctx;

	return c->lines.v[message];
}

static const struct diags *replica_diags(void *ctx, uint32_t message)
{
	struct replica *c = ctx;

	dialect_decode(&c->reread, c->lines.v[message], NULL, &c->message);
	return &c->message.diags;
}

static struct str replica_source(void *ctx, uint32_t message)
{
	struct replica *c = ctx;

	(void)message;
	return c->source;
}

static void replica_decode(struct replica *c, struct str bytes, struct str file)
{
	/* the entry may hold what was said to the agents, too; a person is believed to be one here,
	 * as the whole entry is unverified */
	struct frame_info info = { .full_length = bytes.n, .file_name = file, .reply = true };

	dialect_decode(&c->decoder, bytes, &info, &c->message);
}

static void replica_apply(struct replica *c, const struct queue_entry *q, struct str bytes,
			  uint32_t line, bool reply)
{
	struct place place = { .line = line, .length = (uint32_t)bytes.n, .group = q->session };

	vec_push(&c->lines, bytes);
	/* a session id from outside the messages; a path stands for a session without id */
	if (c->message.dialect == DIALECT_COLLABORATION && !c->message.session.n &&
	    q->session.n && q->session.p[0] != '/' && !str_is(q->session, "-")) {
		c->message.session = q->session;
		place.group = STR("queue");
	}
	place.trust = reply || c->message.from.human ? TRUST_REPLY : TRUST_LOG;
	model_apply(&c->model, &c->message, &place);
}

static void replica_build(struct replica *c, const struct queue_entry *q)
{
	uint32_t at = 0;
	size_t i, n;
	yyjson_val *v;

	*c = (struct replica){ .source = q->source.p ? q->source : STR("") };
	model_init(&c->model);
	/* whatever the settings there, it must become an item here */
	c->model.runs_agents = true;
	c->model.approve_from = c->model.human_from = 2;
	c->reader = (struct reader){ c, replica_detail, replica_summary, replica_bytes,
				     replica_diags, replica_source };
	yyjson_arr_foreach(q->context, i, n, v) {
		if (i == (size_t)q->before) {
			at = (uint32_t)q->line;
			replica_decode(c, q->original, q->file);
			replica_apply(c, q, q->original, at, false);
		}
		if (i == CONTEXT_LINES_MAX)
			break;
		if (json_str(v).n) {
			replica_decode(c, json_str(v), STR_NONE);
			replica_apply(c, q, json_str(v), ++at, false);
		}
	}
	if (!q->context || (size_t)q->before >= yyjson_arr_size(q->context)) {
		replica_decode(c, q->original, q->file);
		replica_apply(c, q, q->original, (uint32_t)q->line, false);
	}
}

/* Whether the decoded line of the reply file says something that the entry does not hold. */
static bool is_news(const struct replica *c, struct str line)
{
	const struct message *msg = &c->message;
	const struct event *first = msg->events.n ? &msg->events.v[0] : NULL;
	struct turn_state turn;

	for (uint32_t i = 0; i < c->lines.n; i++)
		if (str_eq(str_trim(c->lines.v[i]), line))
			return false;
	if (!c->model.sessions.n || !first)
		return false;
	if (first->type != EV_TURN_ASK)
		return true;
	/* only a Request after the turn that the entry shows */
	for (uint32_t i = 0; i < c->model.sessions.n; i++) {
		feedback_turn(&c->model, i, &turn);
		if (turn.done && first->iteration > turn.done)
			return true;
	}
	return false;
}

/* What was said in the session since the item was escalated, as far as the reply file tells. Returns
 * how long that file is. */
static uint64_t replica_hear(struct encoding *e, struct replica *c, const struct queue_entry *q,
			     const char *path)
{
	struct foreign_replies heard = foreign_replies_read(e, path);

	for (uint32_t i = 0; i < heard.n; i++) {
		replica_decode(c, heard.lines[i], STR_NONE);
		if (c->message.dialect == q->dialect && is_news(c, heard.lines[i]))
			replica_apply(c, q, heard.lines[i], i + 1, true);
	}
	return heard.bytes;
}

static void replica_release(struct replica *c)
{
	model_release(&c->model);
	decoder_release(&c->decoder);
	decoder_release(&c->reread);
	message_release(&c->message);
	vec_release(&c->lines);
	buf_release(&c->text);
}

/* The item that the entry names, or NONE. */
static uint32_t replica_find_item(struct replica *c, const struct queue_entry *q)
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

/* Reports why the group's i-th item cannot be answered. */
static void propose_problem(struct encoding *e, uint32_t i, const char *why)
{
	propose_missing(e, propose_to_nobody(e, i), "%s", why);
}

/* Checks the entry against its replica: NULL, or why it cannot be answered. */
static const char *entry_problem(struct encoding *e, uint32_t i, struct replica *c,
				 const struct queue_entry *q, uint32_t number)
{
	const struct item *item = number == NONE ? NULL : &c->model.items.v[number];
	struct item_state state;
	struct buf rev = { 0 };
	bool same;

	if (!item || !item_at(&c->model, item, c->model.records.n, TIME_NONE, &state))
		return "the message in the queue does not hold the item that it names; ask whoever "
		       "escalated it";
	item_rev(&c->reader, item, &state, &rev);
	same = str_eq(buf_str(&rev), q->rev);
	buf_release(&rev);
	if (!same)
		return "the item in the queue does not match its revision; ask whoever escalated "
		       "it";
	if (state.undecidable)
		return "the message in the queue is ambiguous or damaged; it cannot be decided";
	if (!(verbs_of_item(&c->model, item, &state) & 1u << draft_of(e, i)->verb))
		return verb_refusal(draft_of(e, i)->verb);
	return NULL;
}

/* Copies the entry to the next queue, with this person's name and rationale. */
static void escalate_further(struct encoding *e, uint32_t i, yyjson_val *root,
			     const struct queue_entry *q)
{
	const struct draft *d = draft_of(e, i);
	struct proposal *p = propose_to_queue(e, &e->drafts[i], 1);
	struct buf b = { 0 };
	size_t k, n;
	yyjson_val *key, *v;

	if (p->missing.n)
		return;
	begin_decision(e, &b, d, d->item);
	json_put_value(&b, "state_version", json_get(root, "state_version"));
	put_decider(e, &b, d);
	yyjson_obj_foreach(q->object, k, n, key, v)
		if (!str_is(json_str(key), "by"))
			json_put_member(&b, key, v);
	buf_adds(&b, "}}");
	proposal_set_bytes(e, p, &b);
	buf_release(&b);
}

static bool is_usable_path(struct str path)
{
	return path.n > 1 && path.n < PATH_MAX && path.p[0] == '/' && !memchr(path.p, 0, path.n);
}

/* Why an answer does not go to a path that only a message names, or NULL. Only a file that gavel
 * makes, or one that is a reply file already, can do no harm with a line more. */
static const char *named_problem(const char *path, enum channel_type type)
{
	struct stat st;

	if (type == CHANNEL_DIR)
		return NULL;
	if (type != CHANNEL_FILE)
		return "a FIFO";
	if (lstat(path, &st) < 0)
		return errno == ENOENT ? NULL : "a place that cannot be looked at";
	if (!str_ends(str_of(path), STR(".replies.ndjson")))
		return "a file that exists and is no reply file";
	return file_fault(&st, S_IFREG, NULL) == FILE_SAFE ? NULL
							   : "a file that is not yours alone";
}

/* The reply path, or NULL and a proposal that says why. *unconfirmed: only the queue names it, and
 * nobody was asked. */
static const char *answer_path(struct encoding *e, uint32_t i, const struct queue_entry *q,
			       bool *unconfirmed)
{
	struct buf path = { 0 };
	struct str s;
	enum channel_type type;
	const char *problem;

	*unconfirmed = false;
	if (e->terms->reply)
		return e->terms->reply;
	if (str_is(q->reply_channel, "stdin")) { /* the gavel that runs the agent reads it there */
		buf_add_str(&path, e->desk->source);
		buf_adds(&path, ".replies.ndjson");
		return keep_buf(e, &path).p;
	}
	if (!is_usable_path(q->reply_path)) {
		propose_problem(e, i, "the queue names no path that replies can go to; give "
				      "--reply PATH");
		return NULL;
	}
	s = keep_str(e, q->reply_path);
	type = channel_type_of(s.p);
	if (!str_is(q->reply_channel, channel_type_name(type))) {
		propose_missing(e, propose_to_nobody(e, i),
				"the queue says that replies go to a %.20s, but here %.700s is "
				"none; give --reply PATH",
				str_is(q->reply_channel, "fifo")	? "FIFO"
				: str_is(q->reply_channel, "directory") ? "folder"
									: "file",
				s.p);
		return NULL;
	}
	problem = e->terms->named ? named_problem(s.p, type) : NULL;
	if (problem) {
		propose_missing(e, propose_to_nobody(e, i),
				"%s, named by a message, is %s; give --reply PATH if replies do "
				"go there",
				s.p, problem);
		return NULL;
	}
	*unconfirmed = !e->terms->named;
	return s.p;
}

bool answer_is_named(struct encoding *e, uint32_t draft, struct str *path)
{
	const struct draft *d = &e->desk->drafts.v[draft];
	const struct item *item = d->number == NONE ? NULL : &e->model->items.v[d->number];
	struct item_state at;
	struct queue_entry q;
	yyjson_val *root;

	if (e->desk->team || e->terms->reply || !item || !is_from_queue(item) || d->verb == VERB_DISMISS ||
	    d->verb == VERB_ESCALATE ||
	    !item_at(e->model, item, e->model->records.n, TIME_NONE, &at))
		return false;
	root = parse_message(e, at.message);
	if (!root || !queue_entry_read(root, &q) || !q.passes_on || q.missing ||
	    str_is(q.reply_channel, "stdin") || !is_usable_path(q.reply_path))
		return false;
	*path = keep_str(e, q.reply_path);
	return true;
}

#define UNSEEN "what was said in that log since it was escalated is not seen here"

/* Turns the letters of the replica's desk into letters of this desk. */
static void adopt_letters(struct encoding *e, uint32_t i, uint32_t first,
			  const struct queue_entry *q, const char *path, bool unconfirmed,
			  uint64_t heard_bytes)
{
	const char *caution = encoders[q->dialect]->queue_caution;

	for (uint32_t k = first; k < e->plan->list.n; k++) {
		struct proposal *p = &e->plan->list.v[k];

		p->desk = e->desk;
		p->letter.aside = true;
		p->hears = true;
		p->heard_bytes = heard_bytes;
		for (uint32_t j = 0; j < p->letter.drafts.n; j++)
			p->letter.drafts.v[j] = e->drafts[i];
		p->letter.path = keep_str(e, p->letter.path);
		p->letter.bytes = keep_str(e, p->letter.bytes);
		p->letter.to = keep_str(e, p->letter.to);
		if (unconfirmed)
			propose_missing(e, p,
					"the reply goes to %s, named by a message; confirm it with "
					"--reply %s",
					path, path);
		else if (e->terms->named)
			propose_caution(e, p, "the place is named by a message, not by you");
		propose_caution(e, p, "%s", caution ? caution : UNSEEN);
	}
}

/* The replica's desk: earlier answers from here count, as if given after the entry's messages. */
static void copy_desk(const struct encoding *e, struct desk *out)
{
	for (uint32_t i = 0; i < e->desk->drafts.n; i++) {
		vec_push(&out->drafts, e->desk->drafts.v[i]);
		vec_last(&out->drafts)->seen = UINT32_MAX;
		vec_last(&out->drafts)->number = NONE; /* not an item of the replica */
	}
	out->letters = e->desk->letters;
}

/* Says so if the reply file shows a decision since the item was escalated. */
static bool was_decided_meanwhile(struct encoding *e, uint32_t i, const struct model *m,
				  const struct item *item)
{
	struct buf why = { 0 };
	struct item_state at;

	item_at(m, item, m->records.n, TIME_NONE, &at);
	/* whether its time is over is for the queue to tell */
	if (at.open || at.verdict == VERDICT_ESCALATED || at.decided == NONE)
		return false;
	add_decided(m, &at, &why);
	propose_problem(e, i, why.p);
	buf_release(&why);
	return true;
}

/* Lets the original's dialect answer item `number` of the replica. */
static void encode_original(struct encoding *e, uint32_t i, struct replica *c,
			    const struct queue_entry *q, uint32_t number)
{
	const struct encoder_ops *encoder = encoders[q->dialect];
	struct desk desk = { .group = q->session, .source = c->source, .access = DESK_READS };
	struct terms terms = *e->terms;
	struct encoding inner = { .plan = e->plan, .desk = &desk, .model = &c->model,
				  .reader = &c->reader, .terms = &terms, .drafts = &e->drafts[i],
				  .n = 1, .first = e->first, .via_queue = true };
	uint32_t first = e->plan->list.n;
	struct draft *draft;
	uint64_t heard_bytes;
	bool unconfirmed;

	terms.reply = answer_path(e, i, q, &unconfirmed);
	terms.escalate_to = NULL;
	if (!terms.reply || !encoder->encode)
		return;
	heard_bytes = replica_hear(e, c, q, terms.reply);
	if (!e->desk->drafts.v[e->drafts[i]].corrects.n &&
	    was_decided_meanwhile(e, i, &c->model, &c->model.items.v[number]))
		return;
	copy_desk(e, &desk);
	draft = &desk.drafts.v[e->drafts[i]];
	draft->seen = c->model.records.n;
	draft->number = number;
	draft->dialect = q->dialect;
	draft->kind = q->kind;
	draft->session = q->session;
	draft->item = q->item;
	draft->rev = q->rev;
	encoder->encode(&inner);
	encoding_release(&inner);
	vec_release(&desk.drafts);
	adopt_letters(e, i, first, q, terms.reply, unconfirmed, heard_bytes);
}

static void answer_one(struct encoding *e, uint32_t i)
{
	struct item_state state;
	struct queue_entry q;
	struct replica c;
	yyjson_val *root;
	const char *problem;
	uint32_t number;

	state_of(e, i, &state);
	root = parse_message(e, state.message);
	if (!root || !queue_entry_read(root, &q) || !q.passes_on || q.missing) {
		propose_problem(e, i,
				"the queue's entry is not complete; ask whoever escalated it");
		return;
	}
	replica_build(&c, &q);
	number = replica_find_item(&c, &q);
	problem = entry_problem(e, i, &c, &q, number);
	if (problem)
		propose_problem(e, i, problem);
	else if (draft_of(e, i)->verb == VERB_ESCALATE)
		escalate_further(e, i, root, &q);
	else
		encode_original(e, i, &c, &q, number);
	replica_release(&c);
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
