/* Encoder for feedback: the decisions on a turn's items become the next Request, one per turn. An
 * accepted error sends the failed Request again. */
#include "encode/encode_request.h"

#include "base/utf8.h"
#include "json/compose.h"

#include <stdlib.h>

enum { NAMED_ITEMS = 3, TITLE_BYTES = 48 }; /* that a caution lists, and of each */

static bool is_decision(const struct draft *d)
{
	return d->kind == ITEM_IMPROVEMENT &&
	       (d->verb == VERB_ACCEPT || d->verb == VERB_PARTIAL || d->verb == VERB_REJECT);
}

static uint64_t together(const struct encoding *e, const struct draft *d)
{
	(void)e;
	return is_decision(d) ? str_hash(d->session) : 0;
}

/* The file attached by the drafts, else by the terms; NULL = none. A Request carries one artifact:
 * a missing entry if the drafts have different ones, as none of them is the right one by itself. */
static const char *attached_path(struct encoding *e, struct proposal *p)
{
	const struct draft *first = NULL;

	for (uint32_t i = 0; i < e->n; i++) {
		const struct draft *d = draft_of(e, i);

		if (!d->artifact.n)
			continue;
		if (first && !str_eq(first->artifact, d->artifact)) {
			propose_missing(e, p,
					"a Request carries one artifact, but %.300s is attached to "
					"%.100s and %.300s to %.100s; decide one of them again "
					"with the other's file",
					keep_str(e, first->artifact).p, keep_str(e, first->item).p,
					keep_str(e, d->artifact).p, keep_str(e, d->item).p);
			break;
		}
		first = d;
	}
	return first ? keep_str(e, first->artifact).p : e->terms->artifact;
}

/* ---- a turn's decisions ---- */

struct place_in_response {
	uint32_t message, index;
	uint32_t draft; /* of the encoding */
};

static int by_position(const void *left, const void *right)
{
	const struct place_in_response *a = left, *b = right;

	if (a->message != b->message)
		return a->message < b->message ? -1 : 1;
	return a->index < b->index ? -1 : a->index > b->index;
}

/* A Request should have both for a rejection: a missing one is derived from the other. */
static void put_reasons(struct buf *b, const struct draft *d)
{
	struct str code = d->reason_code, why = d->explanation;
	struct buf words = { 0 };

	if (d->verb == VERB_REJECT && !why.n) {
		for (size_t i = 0; i < code.n; i++)
			buf_addc(&words, code.p[i] == '_' ? ' ' : code.p[i]);
		why = buf_str(&words);
	}
	if (d->verb == VERB_REJECT && !code.n)
		code = STR("other");
	if (code.n)
		json_put_str(b, "reason_code", code);
	if (why.n)
		json_put_str(b, "explanation", why);
	buf_release(&words);
}

static void put_decision(struct encoding *e, struct buf *b, uint32_t i)
{
	const struct draft *d = draft_of(e, i);
	const char *status = d->verb == VERB_ACCEPT  ? "accepted" :
			     d->verb == VERB_PARTIAL ? "partial" :
						       "rejected";

	json_comma(b);
	buf_addc(b, '{');
	json_put_str(b, "id", model_str(e->model, item_of(e, i)->id));
	json_put_name(b, "status", status);
	put_reasons(b, d);
	buf_addc(b, '}');
}

/* One Request per turn, which is neither sent nor about to be. */
static void check_turn(struct encoding *e, struct proposal *p, const struct turn_state *turn,
		       struct str session)
{
	struct sent_request unsent;

	if (turn->done < 1 || turn->done >= COUNT_MAX) {
		propose_missing(e, p, "the response has no valid iteration, so none can follow it");
		return;
	}
	if (turn->waits)
		propose_missing(e, p,
				"the Request of iteration %lld is written; this can be decided if "
				"it is raised again",
				(long long)turn->asked);
	else if (find_unsent_request(e, session, &unsent))
		propose_missing(e, p,
				"the Request of iteration %lld is recorded, but not sent; send or "
				"abandon it first (gavel journal list)",
				(long long)unsent.iteration);
}

/* By item: whether a draft of this message decides it. */
static bool *decided_here(const struct encoding *e)
{
	bool *here = xcalloc(e->model->items.n + 1, sizeof(*here));

	for (uint32_t i = 0; i < e->n; i++)
		here[draft_of(e, i)->number] = true;
	return here;
}

/* Appends the first words of an item. */
static void add_title(const struct encoding *e, uint32_t i, const struct item_state *at,
		      struct buf *out)
{
	const struct item *item = &e->model->items.v[i];
	struct str name = model_str(e->model, item->id);
	struct detail detail;
	bool cut;

	if (e->reader->detail(e->reader->ctx, item, at, &detail) && detail.title.n)
		name = detail.title;
	cut = name.n > TITLE_BYTES;
	if (cut)
		name.n = utf8_valid_length(str_make(name.p, TITLE_BYTES));
	buf_adds(out, out->n ? "; " : "");
	buf_add_str(out, name);
	buf_adds(out, cut ? "…" : "");
}

/* Cautions about the turn's open items that this Request leaves undecided. */
static void warn_open_items(struct encoding *e, struct proposal *p, uint32_t session)
{
	const struct model *m = e->model;
	uint32_t open = 0, escalated = 0;
	bool *here = decided_here(e);
	struct item_state at;
	struct buf names = { 0 };

	for (uint32_t i = 0; i < m->items.n; i++) {
		if (item_session(m, &m->items.v[i]) != session ||
		    m->items.v[i].kind != ITEM_IMPROVEMENT ||
		    !item_at(m, &m->items.v[i], m->records.n, TIME_NONE, &at))
			continue;
		escalated += at.overlaid && at.verdict == VERDICT_ESCALATED;
		if (!at.open || here[i])
			continue;
		if (open++ < NAMED_ITEMS)
			add_title(e, i, &at, &names);
	}
	p->leaves_open = open;
	if (escalated)
		propose_caution(e, p,
				"%u escalated item%s of this turn can no longer be answered once the "
				"Request is sent",
				escalated, plural_s(escalated));
	if (open)
		propose_caution(e, p,
				"%u other item%s of this turn %s the inbox undecided: %s%s", open,
				plural_s(open), open == 1 ? "is open and leaves" : "are open and leave",
				names.p, open > NAMED_ITEMS ? "; …" : "");
	buf_release(&names);
	free(here);
}

/* `accepted` says that the artifact now reflects the change. */
static bool claims_change(const struct encoding *e)
{
	for (uint32_t i = 0; i < e->n; i++)
		if (draft_of(e, i)->verb != VERB_REJECT && !draft_of(e, i)->sure)
			return true;
	return false;
}

static struct str addressee(struct encoding *e, struct str session)
{
	if (e->terms->turn)
		return e->terms->turn->to;
	return str_of(arena_printf(&e->plan->arena, "provider of %.*s", STR_ARG(session)));
}

/* The artifact of the Request after that turn; empty, and a missing entry, if there is none. */
static struct next_artifact artifact_after(struct encoding *e, struct proposal *p,
					   const struct turn_state *turn)
{
	struct sent_request last = find_request(e, turn, 0);
	struct next_artifact a = compose_artifact(e, p, &last, attached_path(e, p));

	if (!a.json.n && !a.attached)
		propose_missing(e, p, "%s; attach one: --artifact FILE or :attach FILE",
				last.bytes.n ? "the artifact last seen is damaged" :
				turn->unsure ? "which artifact is this session's is not certain" :
					       "no artifact has been seen");
	return a;
}

static void encode_turn(struct encoding *e)
{
	struct place_in_response *order = xmalloc((e->n + 1) * sizeof(*order));
	uint32_t *drafts = xmalloc((e->n + 1) * sizeof(*drafts));
	struct str session = draft_of(e, 0)->session;
	struct next_artifact artifact;
	struct turn_state turn;
	struct item_state at;
	struct proposal *p;
	struct buf b = { 0 };

	for (uint32_t i = 0; i < e->n; i++) {
		state_of(e, i, &at);
		order[i] = (struct place_in_response){ at.message, at.index, i };
	}
	qsort(order, e->n, sizeof(*order), by_position);
	for (uint32_t i = 0; i < e->n; i++)
		drafts[i] = e->drafts[order[i].draft];
	p = propose(e, drafts, e->n);
	p->letter.to = addressee(e, session);
	feedback_turn(e->model, item_session(e->model, item_of(e, 0)), &turn);
	check_turn(e, p, &turn, session);
	artifact = artifact_after(e, p, &turn);
	/* in turns a file is always attached, edited or not */
	p->needs_sure = claims_change(e) &&
			(e->terms->turn ? artifact.same : !artifact.attached);
	warn_open_items(e, p, item_session(e->model, item_of(e, 0)));
	begin_request(&b, turn.done < COUNT_MAX ? turn.done + 1 : COUNT_MAX, artifact.json);
	json_key(&b, "applied_feedback");
	buf_adds(&b, "{\"items\":[");
	for (uint32_t i = 0; i < e->n; i++)
		put_decision(e, &b, order[i].draft);
	buf_adds(&b, "]}}");
	if (artifact.json.n)
		set_request_bytes(e, p, &b);
	buf_release(&b);
	free(drafts);
	free(order);
}

/* ---- an error ---- */

/* Sends the failed Request again; in turns with the file as it is now. */
static void resend_failed(struct encoding *e, struct proposal *p, const struct turn_state *turn)
{
	struct next_artifact artifact = { .same = true };
	struct sent_request request = find_request(e, turn, turn->done);

	if (turn->waits)
		propose_missing(e, p, "a later Request is in the log already");
	else if (!request.bytes.n)
		propose_missing(e, p,
				"the Request that failed has not been seen; dismiss the error, or "
				"let the requester send it again");
	else if (request.broken)
		propose_missing(e, p,
				"the Request that failed is damaged and cannot be sent again");
	else if (e->terms->turn)
		artifact = compose_artifact(e, p, &request, attached_path(e, p));
	if (!p->missing.n)
		compose_resend(e, p, &request, artifact.same ? STR_NONE : artifact.json);
}

static void encode_resend(struct encoding *e)
{
	struct proposal *p = propose(e, e->drafts, 1);
	struct str session = draft_of(e, 0)->session;
	struct turn_state turn;

	p->letter.to = addressee(e, session);
	feedback_turn(e->model, item_session(e->model, item_of(e, 0)), &turn);
	resend_failed(e, p, &turn);
}

/* ---- a Request without decisions ---- */

static void encode_plain(struct encoding *e, struct proposal *p, const struct turn_state *turn)
{
	struct next_artifact artifact = artifact_after(e, p, turn);
	struct buf b = { 0 };

	begin_request(&b, turn->done < COUNT_MAX ? turn->done + 1 : COUNT_MAX, artifact.json);
	if (turn->done)
		buf_adds(&b, ",\"applied_feedback\":{\"items\":[]}");
	buf_addc(&b, '}');
	if (artifact.json.n)
		set_request_bytes(e, p, &b);
	buf_release(&b);
}

void plan_turn(struct plan *plan, struct desk *desk, const struct model *m, const struct reader *r,
	       const struct terms *t, uint32_t session, enum turn_which which)
{
	struct encoding e = { .plan = plan, .desk = desk, .model = m, .reader = r, .terms = t };
	struct str name = session == NONE ? STR_NONE : session_name(m, session);
	struct turn_state turn = { .request = NONE };
	struct proposal *p = propose(&e, NULL, 0);

	p->letter.dialect = DIALECT_FEEDBACK;
	p->letter.to = addressee(&e, name);
	if (session != NONE)
		feedback_turn(m, session, &turn);
	if (which == TURN_AGAIN) {
		resend_failed(&e, p, &turn);
	} else {
		if (session != NONE) {
			check_turn(&e, p, &turn, name);
			warn_open_items(&e, p, session);
		}
		encode_plain(&e, p, &turn);
	}
	encoding_release(&e);
}

static void encode(struct encoding *e)
{
	const struct draft *d = draft_of(e, 0);

	if (d->verb == VERB_ESCALATE)
		encode_escalation(e, 0, false);
	else if (is_decision(d))
		encode_turn(e);
	else if (d->kind == ITEM_ERROR && d->verb == VERB_ACCEPT)
		encode_resend(e);
}

/* For an item of an older turn: the newest Request and Response, which an answer continues. */
static void add_newest_turn(const struct model *m, const struct item *item,
			    const struct item_state *state, struct context *out)
{
	uint32_t loop = m->sessions.v[item_session(m, item)].loop;
	bool asked = false, answered = false;

	for (uint32_t k = loop == NONE ? 0 : m->reviews.v[loop].steps.n; k-- > 0;) {
		const struct review_step *s = &m->reviews.v[loop].steps.v[k];
		bool *seen = s->verdict == REVIEW_NONE ? &asked : &answered;

		if (s->message <= state->message)
			break;
		if (!*seen)
			context_add_message(out, s->message);
		*seen = true;
	}
}

/* The Request that the item's Response answers, if certain, and what followed it. */
static void add_turn(const struct model *m, const struct item *item, const struct item_state *state,
		     const struct turn_state *turn, struct context *out)
{
	uint32_t loop = m->sessions.v[item_session(m, item)].loop;

	if (turn->response != state->message) {
		add_newest_turn(m, item, state, out);
		return;
	}
	if (turn->request == NONE || turn->unsure)
		return;
	context_add_message(out, turn->request);
	for (uint32_t k = loop == NONE ? 0 : m->reviews.v[loop].steps.n; k-- > 0;) {
		uint32_t message = m->reviews.v[loop].steps.v[k].message;

		if (message <= turn->request || out->n == CONTEXT_MAX / 2)
			break;
		context_add_message(out, message);
	}
}

static void add_context(struct encoding *e, uint32_t i, const struct item_state *state,
			struct context *out)
{
	struct turn_state turn;

	feedback_turn(e->model, item_session(e->model, item_of(e, i)), &turn);
	add_turn(e->model, item_of(e, i), state, &turn, out);
}

/* A turn has one Request: once that is written, its decisions stand. */
static bool is_final(const struct model *m, const struct item *item, const struct item_state *at,
		     struct buf *why)
{
	struct turn_state turn;

	(void)at;
	feedback_turn(m, item_session(m, item), &turn);
	buf_printf(why, "the Request of iteration %lld is written; it can be decided if it is "
			"raised again", (long long)turn.asked);
	return true;
}

static const struct item_verbs verbs[] = {
	{ ITEM_IMPROVEMENT, CAN_ACCEPT | CAN_PARTIAL | CAN_REJECT | CAN_ESCALATE },
	/* accept sends the same request again */
	{ ITEM_ERROR, CAN_ACCEPT | CAN_DISMISS | CAN_ESCALATE },
	{ .verbs = 0 },
};

const struct encoder_ops encoder_feedback = {
	.verbs = verbs,
	.together = together,
	.encode = encode,
	.add_context = add_context,
	.is_final = is_final,
	.names_no_session = true,
	.queue_caution = "a turn has one Request: if this turn's was sent meanwhile, the agent may "
			 "refuse this one",
};
