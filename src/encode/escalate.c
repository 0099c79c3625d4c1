/* Entries for an escalation queue: a Decision "escalate" whose x-gavel object
 * (dialect/escalation_entry.h) carries the item's message and the messages that an answer in its
 * dialect needs, so that another person can decide it without the log. */
#include "encode/attach.h"
#include "encode/human_message.h"

#include "base/utf8.h"
#include "dialect/escalation_entry.h"
#include "json/compose.h"
#include "wire/frame.h"

#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

enum { HASTE_MS = 300000 };

void context_add_message(struct context *c, uint32_t message)
{
	if (message == NONE || c->n == CONTEXT_MAX)
		return;
	for (uint32_t i = 0; i < c->n; i++)
		if (c->list[i] == message)
			return;
	c->list[c->n++] = message;
}

static int by_number(const void *left, const void *right)
{
	const uint32_t *a = left, *b = right;

	return *a < *b ? -1 : *a > *b;
}

static void collect_context(struct encoding *e, uint32_t i, const struct item_state *state,
			    struct context *out)
{
	const struct encoder_ops *ops = encoders[message_route(e->model, state->message)->dialect];

	out->n = 0;
	context_add_message(out, item_subject(e->model, item_of(e, i), state->message));
	if (ops->add_context)
		ops->add_context(e, i, state, out);
	qsort(out->list, out->n, sizeof(out->list[0]), by_number);
}

static void put_reply(struct encoding *e, uint32_t i, struct buf *b)
{
	struct buf path = { 0 }, whole = { 0 };
	enum channel_type type = reply_path(e->desk, e->terms, e->model, item_of(e, i),
					    draft_of(e, i)->dialect, &path);

	json_open(b, "reply", '{');
	/* only a gavel that is attached to the agent can deliver to it */
	if (type == CHANNEL_NONE || type == CHANNEL_AGENT || !path.n) {
		buf_adds(b, "\"channel\":\"stdin\"");
	} else {
		add_absolute(&whole, path.p);
		json_put_name(b, "channel", channel_type_name(type));
		json_put_str(b, "path", buf_str(&whole));
	}
	buf_addc(b, '}');
	buf_release(&path);
	buf_release(&whole);
}

static void put_context(struct encoding *e, uint32_t original, uint32_t subject,
			const struct context *c, struct buf *b)
{
	uint32_t before = 0, n = 0, about = 0;

	json_open(b, "context", '[');
	for (uint32_t i = 0; i < c->n; i++) {
		uint32_t at = c->list[i];

		if (at == original)
			continue;
		before += at < original;
		n++;
		if (at == subject)
			about = n;
		json_comma(b);
		json_write_str(b, e->reader->bytes(e->reader->ctx, at));
	}
	buf_addc(b, ']');
	json_put_number(b, "before", before);
	if (about)
		json_put_number(b, "about", about);
}

static void put_title(struct encoding *e, uint32_t i, const struct item_state *state, struct buf *b)
{
	struct detail d;
	struct str title = STR("");

	if (e->reader->detail(e->reader->ctx, item_of(e, i), state, &d) && d.title.p)
		title = d.title;
	if (title.n > QUEUE_TITLE_MAX)
		for (title.n = QUEUE_TITLE_MAX; title.n && (title.p[title.n] & 0xc0) == 0x80;)
			title.n--;
	json_put_str(b, "title", title);
}

/* The message's file name, which may hold the task's id. */
static void put_file(struct encoding *e, uint32_t message, struct buf *b)
{
	struct str path = e->reader->source(e->reader->ctx, message);

	if (encoders[message_route(e->model, message)->dialect]->is_file &&
	    str_ends(path, STR(".json")))
		json_put_str(b, "file", str_from(path, file_name_start(path)));
}

/* A session without id is named after the source; by its full path, to be unique elsewhere. */
static struct str session_of(const struct encoding *e, const struct item *item)
{
	uint32_t session = item_session(e->model, item);
	bool named = session_id(e->model, session).p;

	return !named && e->desk->source.n ? e->desk->source : session_name(e->model, session);
}

/* The item's name in the queue, made unique by its kind if several items share the id, or by its
 * revision if it has no id. */
static struct str queue_task_id(struct encoding *e, uint32_t i)
{
	const struct draft *d = draft_of(e, i);
	struct str digits = str_from(d->rev, sizeof("sha256:") - 1);
	struct buf name = { 0 };

	if (item_has_twin(e->model, item_of(e, i)))
		buf_printf(&name, "%s:", item_kind_name(d->kind));
	buf_add_str(&name, d->item);
	if (item_of(e, i)->id == NONE) {
		buf_addc(&name, '#');
		buf_add_str(&name, str_make(digits.p, digits.n < 8 ? digits.n : 8));
	}
	return keep_buf(e, &name);
}

static void put_entry(struct encoding *e, uint32_t i, struct buf *b)
{
	const struct draft *d = draft_of(e, i);
	const struct model *m = e->model;
	const struct item *item = item_of(e, i);
	struct item_state state;
	struct context context;
	char deadline[32];

	state_of(e, i, &state);
	collect_context(e, i, &state, &context);
	json_put_name(b, "dialect", dialect_name(d->dialect));
	json_put_name(b, "kind", item_kind_name((enum item_kind)item->kind));
	json_put_str(b, "session", session_of(e, item));
	json_put_str(b, "item", d->item);
	json_put_str(b, "rev", d->rev);
	put_title(e, i, &state, b);
	json_put_str(b, "source", e->reader->source(e->reader->ctx, state.message));
	json_put_number(b, "line", message_line(m, state.message));
	json_put_str(b, "original", e->reader->bytes(e->reader->ctx, state.message));
	json_put_number(b, "index", state.index);
	put_file(e, state.message, b);
	put_context(e, state.message, item_subject(m, item, state.message), &context, b);
	if (state.deadline_ms != TIME_NONE)
		json_put_name(b, "deadline", timestamp_iso(state.deadline_ms, deadline));
	put_reply(e, i, b);
}

struct str reason_text(struct encoding *e, const struct draft *d)
{
	struct buf text = { 0 };

	buf_add_str(&text, d->reason_code);
	if (d->reason_code.n && d->explanation.n)
		buf_adds(&text, ": ");
	buf_add_str(&text, d->explanation);
	return keep_buf(e, &text);
}

struct proposal *propose_to_queue(struct encoding *e, const uint32_t *drafts, uint32_t n)
{
	struct proposal *p = proposal_add(e, DIALECT_HANDOFF, drafts, n);
	struct buf path = { 0 };
	char real[PATH_MAX];

	p->letter.to = STR(QUEUE_NAME);
	p->letter.aside = true;
	p->letter.path = p->letter.bytes = STR("");
	if (!e->terms->escalate_to) {
		propose_missing(e, p, "this protocol has no escalation; give a queue: "
				      "--escalate-to PATH");
		return p;
	}
	add_absolute(&path, e->terms->escalate_to);
	p->letter.path = keep_buf(e, &path);
	p->letter.channel = channel_type_of(p->letter.path.p);
	if (p->letter.channel == CHANNEL_DIR)
		propose_missing(e, p, "%s is a folder; the escalation queue is a file or a FIFO",
				e->terms->escalate_to);
	else if (!utf8_valid(p->letter.path))
		propose_missing(e, p, "the name of the queue is not UTF-8, and the journal could "
				      "not keep it; give another queue");
	else if (realpath(e->terms->escalate_to, real) && str_is(e->desk->source, real))
		propose_missing(e, p, "%s is what is decided on here; give another queue",
				e->terms->escalate_to);
	return p;
}

/* Whoever is asked needs time to see it and to answer. */
static void caution_of_deadline(struct encoding *e, uint32_t i, struct proposal *p)
{
	struct item_state at;
	int64_t left;
	char span[32];

	state_of(e, i, &at);
	if (at.deadline_ms == TIME_NONE || e->terms->now_ms == TIME_NONE)
		return;
	left = at.deadline_ms < e->terms->now_ms ? 0 : at.deadline_ms - e->terms->now_ms;
	if (left < HASTE_MS)
		propose_caution(e, p, "expires in %s; then %s",
				timestamp_span(left, span),
				item_default(e->model, item_of(e, i)));
}

/* An encoding needs a draft on a desk: one on a copy, which nobody else sees. */
int encode_open_item(const struct desk *desk, const struct model *m, const struct reader *r,
		     const struct terms *t, uint32_t number, const struct entry_origin *origin,
		     struct buf *out, struct err *err)
{
	struct plan plan = { 0 };
	struct draft draft = { .verb = VERB_ESCALATE, .letter = NONE, .by = t->as,
			       .explanation = STR("It waits for a person.") };
	struct desk copy = *desk;
	uint32_t first = 0;
	struct encoding e = { .plan = &plan, .desk = &copy, .model = m, .reader = r, .terms = t,
			      .drafts = &first, .n = 1 };
	int rc = 0;

	draft_bind(&draft, m, r, number, m->records.n, &plan.arena);
	copy.drafts.v = &draft;
	copy.drafts.n = 1;
	begin_decision(&e, out, &draft, queue_task_id(&e, 0));
	json_put_str(out, "state_version", draft.rev);
	put_decider(&e, out, &draft);
	json_put_str(out, "from", origin->from);
	put_entry(&e, 0, out);
	if (origin->places.n) {
		json_key(out, "log");
		buf_add_str(out, origin->places);
	}
	buf_adds(out, "}}");
	if (out->n >= FRAME_MAX_BYTES)
		rc = err_set(err, "%.*s: its entry would be %zu bytes long, at most %d can be read",
			     STR_ARG(draft.item), out->n, FRAME_MAX_BYTES);
	json_reader_release(&e.json);
	plan_release(&plan);
	return rc;
}

void encode_escalation(struct encoding *e, uint32_t i, bool said_in_dialect)
{
	const struct draft *d = draft_of(e, i);
	struct buf b = { 0 };
	struct proposal *p;

	if (said_in_dialect && !e->terms->escalate_to)
		return;
	p = propose_to_queue(e, &e->drafts[i], said_in_dialect ? 0 : 1);
	if (p->missing.n)
		return;
	begin_decision(e, &b, d, queue_task_id(e, i));
	json_put_str(&b, "state_version", d->rev);
	put_decider(e, &b, d);
	put_entry(e, i, &b);
	buf_adds(&b, "}}");
	if (b.n >= FRAME_MAX_BYTES)
		propose_missing(e, p, "the entry would be %zu bytes long; a line of a queue is "
				      "at most %d",
				b.n, FRAME_MAX_BYTES);
	else
		proposal_set_bytes(e, p, &b);
	buf_release(&b);
	caution_of_deadline(e, i, p);
}
