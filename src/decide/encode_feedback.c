/* Feedback: what the person decided on a turn's items becomes the next Request, one a turn.
 *
 * A Request names no session, so the session's newest Request is what the model and the desk
 * remember of it: the model has those in the log, the desk those it has written itself. The artifact
 * is the attached file, else the object of that Request, byte for byte. */
#include "decide/attach.h"
#include "decide/plan.h"
#include "json/compose.h"
#include "wire/frame.h"

#include <stdlib.h>

#define ITERATION_MAX INT64_C(1000000000000000) /* as far as numbers are exact everywhere */

static bool is_decision(const struct draft *d)
{
	return d->kind == ITEM_IMPROVEMENT &&
	       (d->verb == VERB_ACCEPT || d->verb == VERB_PARTIAL || d->verb == VERB_REJECT);
}

static bool together(const struct encoding *e, const struct draft *a, const struct draft *b)
{
	(void)e;
	return is_decision(a) && is_decision(b) && str_eq(a->session, b->session);
}

/* ---- the text of a member, as it was written ---- */

static size_t skip_space(struct str s, size_t i)
{
	while (i < s.n && (s.p[i] == ' ' || s.p[i] == '\t' || s.p[i] == '\n' || s.p[i] == '\r'))
		i++;
	return i;
}

/* The offset behind the value at i. s is known to be JSON. */
static size_t skip_value(struct str s, size_t i)
{
	unsigned depth = 0;
	bool in_string = false;

	for (; i < s.n; i++) {
		char c = s.p[i];

		if (in_string) {
			if (c == '\\')
				i++;
			else if (c == '"')
				in_string = false;
		} else if (c == '"') {
			in_string = true;
		} else if (c == '{' || c == '[') {
			depth++;
		} else if (c == '}' || c == ']') {
			if (depth == 0)
				break;
			depth--;
		} else if (depth == 0 && (c == ',' || c == ':')) {
			break;
		}
	}
	return i;
}

/* The text of an object's member; none where its name is written with escapes. */
static struct str member_text(struct str object, const char *name)
{
	size_t i = skip_space(object, 0) + 1;

	while (i < object.n && object.p[skip_space(object, i)] != '}') {
		size_t end = skip_value(object, i);
		struct str key = str_trim(str_make(object.p + i, end - i));

		i = end + 1;
		end = skip_value(object, i);
		if (key.n >= 2 && str_is(str_make(key.p + 1, key.n - 2), name))
			return str_trim(str_make(object.p + i, end - i));
		i = end + 1;
	}
	return STR_NONE;
}

/* On one line: newlines outside of strings are space. */
static void add_on_one_line(struct buf *b, struct str text)
{
	for (size_t i = 0; i < text.n; i++)
		if (text.p[i] != '\n' && text.p[i] != '\r')
			buf_addc(b, text.p[i]);
}

/* ,"name": and the member as it was written, where that can be found. */
static void put_member(struct buf *b, struct str object, yyjson_val *parsed, const char *name)
{
	struct str text = member_text(object, name);

	json_key(b, name);
	if (text.n)
		add_on_one_line(b, text);
	else
		json_write(b, json_get(parsed, name));
}

/* ---- the session's newest Request ---- */

struct request {
	struct str bytes; /* n 0 = none was seen */
	int64_t iteration;
	bool broken; /* it was read with repairs, or says a thing twice */
};

/* Fills in the iteration; false when the bytes are no Request. */
static bool read_request(struct encoding *e, struct str bytes, struct request *out)
{
	yyjson_val *root;
	enum json_outcome outcome = json_read(&e->json, bytes, &root);

	if (outcome == JSON_NOT || outcome == JSON_TOO_DEEP || !json_get(root, "artifact"))
		return false;
	*out = (struct request){ .bytes = arena_str(&e->plan->arena, bytes),
				 .broken = outcome == JSON_REPAIRED };
	json_int(json_get(root, "iteration"), &out->iteration);
	return true;
}

/* Whether a letter is a Request of this session that was not given up. */
static bool is_our_request(struct encoding *e, const struct letter *l, struct str session,
			   struct request *out)
{
	return l->dialect == DIALECT_FEEDBACK && l->state != LETTER_VOID &&
	       l->channel != CHANNEL_NONE && l->drafts.n &&
	       str_eq(e->desk->drafts.v[l->drafts.v[0]].session, session) &&
	       read_request(e, str_trim(l->bytes), out);
}

/* iteration: the one that is wanted, 0 = the newest. Where log and desk both have it, the log's. */
static struct request find_request(struct encoding *e, const struct turn_state *turn,
				   int64_t iteration)
{
	struct request found = { 0 }, ours;

	if (turn->request != NONE && !turn->unsure &&
	    read_request(e, e->reader->bytes(e->reader->ctx, turn->request), &found)) {
		const struct record *r = &e->model->records.v[turn->request];

		found.broken |= (r->flags & (RECORD_REPAIRED | RECORD_AMBIGUOUS)) != 0;
		if (iteration && found.iteration != iteration)
			found = (struct request){ 0 };
	}
	for (uint32_t i = 0; i < e->desk->letters.n; i++)
		if (is_our_request(e, &e->desk->letters.v[i], draft_of(e, 0)->session, &ours) &&
		    ours.iteration > found.iteration && (!iteration || ours.iteration == iteration))
			found = ours;
	return found;
}

/* ---- the artifact ---- */

struct artifact {
	struct str json;       /* the object; n 0 = none */
	struct str media_type; /* n 0 = none that is valid */
	struct str text;       /* content, where it is a text */
};

/* Nothing in it that a Request must not hold. */
static bool is_clean(yyjson_val *artifact)
{
	static const char *const known[] = { "media_type", "content", "artifact_ref", NULL };
	yyjson_val *ref = json_get(artifact, "artifact_ref"), *key, *value;
	size_t i, n;

	yyjson_obj_foreach(artifact, i, n, key, value)
		if (value_index(known, json_str(key)) < 0 && !str_starts(json_str(key), STR("x-")))
			return false;
	return is_mime(json_get_str(artifact, "media_type")) && (!ref || yyjson_is_str(ref));
}

static struct artifact last_artifact(struct encoding *e, const struct request *request)
{
	struct artifact a = { 0 };
	struct buf b = { 0 };
	struct str text;
	yyjson_val *root, *v;

	if (!request->bytes.n || request->broken)
		return a;
	json_read(&e->json, request->bytes, &root);
	v = json_get(root, "artifact");
	if (!json_get(v, "content"))
		return a;
	if (is_mime(json_get_str(v, "media_type")))
		a.media_type = arena_str(&e->plan->arena, json_get_str(v, "media_type"));
	if (yyjson_is_str(json_get(v, "content")))
		a.text = arena_str(&e->plan->arena, json_get_str(v, "content"));
	text = member_text(request->bytes, "artifact");
	if (is_clean(v) && text.n) {
		add_on_one_line(&b, text);
	} else {
		buf_addc(&b, '{');
		json_put_str(&b, "media_type", a.media_type.n ? a.media_type : STR("text/plain"));
		put_member(&b, text, v, "content");
		if (yyjson_is_str(json_get(v, "artifact_ref")))
			json_put_str(&b, "artifact_ref", json_get_str(v, "artifact_ref"));
		buf_addc(&b, '}');
	}
	a.json = arena_str(&e->plan->arena, buf_str(&b));
	buf_release(&b);
	return a;
}

/* The file attached last; NULL where there is none. */
static const char *attached_path(struct encoding *e, struct proposal *p)
{
	const struct draft *newest = NULL;
	bool several = false;

	for (uint32_t i = 0; i < e->n; i++) {
		const struct draft *d = draft_of(e, i);

		if (!d->artifact.n)
			continue;
		several |= newest && !str_eq(newest->artifact, d->artifact);
		if (!newest || d->time_ms >= newest->time_ms)
			newest = d;
	}
	if (several)
		propose_caution(e, p, "several files are attached; the last one goes out");
	if (newest)
		return arena_str(&e->plan->arena, newest->artifact).p;
	return e->terms->artifact;
}

/* The artifact object, or nothing and an entry in missing. */
static struct str compose_artifact(struct encoding *e, struct proposal *p,
				   const struct turn_state *turn, bool *attached)
{
	struct request request = find_request(e, turn, 0);
	struct artifact last = last_artifact(e, &request);
	const char *path = attached_path(e, p);
	struct attachment file;
	struct buf b = { 0 };
	struct err err;
	struct str out;

	*attached = path != NULL;
	if (!path) {
		if (last.json.n)
			return last.json;
		propose_missing(e, p, "%s; attach one: --artifact FILE or :attach FILE",
				request.bytes.n ? "the artifact last seen is damaged" :
				turn->unsure	? "which artifact is this session's is not certain" :
						  "no artifact has been seen");
		return STR_NONE;
	}
	if (attach_read(&e->plan->arena, path, &file, &err) != 0) {
		propose_missing(e, p, "%s", err.text);
		return STR_NONE;
	}
	if (last.text.p && str_eq(last.text, file.content))
		propose_caution(e, p, "%s says the same as the artifact of the last turn", path);
	buf_addc(&b, '{');
	json_put_str(&b, "media_type",
		     file.media_type	 ? str_of(file.media_type) :
		     last.media_type.n ? last.media_type :
					   STR("text/plain"));
	json_put_str(&b, "content", file.content);
	json_put_str(&b, "artifact_ref", file.ref);
	buf_addc(&b, '}');
	out = arena_str(&e->plan->arena, buf_str(&b));
	buf_release(&b);
	return out;
}

/* ---- a turn's decisions ---- */

struct place_in_response {
	uint32_t message, index;
	uint32_t draft; /* of the encoding */
};

static int by_place(const void *left, const void *right)
{
	const struct place_in_response *a = left, *b = right;

	if (a->message != b->message)
		return a->message < b->message ? -1 : 1;
	return a->index < b->index ? -1 : a->index > b->index;
}

/* A Request recommends both with a rejection; what the person left out is derived from the other. */
static void put_reasons(struct encoding *e, struct proposal *p, struct buf *b,
			const struct draft *d)
{
	struct str code = d->reason_code, why = d->explanation;
	struct buf words = { 0 };

	if (d->verb == VERB_REJECT && !code.n && !why.n)
		propose_missing(e, p, "%.*s: a rejection needs a reason code or an explanation",
				STR_ARG(d->item));
	if (d->verb == VERB_PARTIAL && !why.n)
		propose_missing(e, p, "%.*s: a partial decision needs an explanation",
				STR_ARG(d->item));
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

static void put_decision(struct encoding *e, struct proposal *p, struct buf *b, uint32_t i)
{
	const struct draft *d = draft_of(e, i);
	const char *status = d->verb == VERB_ACCEPT  ? "accepted" :
			     d->verb == VERB_PARTIAL ? "partial" :
						       "rejected";

	json_comma(b);
	buf_addc(b, '{');
	json_put_str(b, "id", model_str(e->model, item_of(e, i)->id));
	json_put_name(b, "status", status);
	put_reasons(e, p, b, d);
	buf_addc(b, '}');
}

/* One Request a turn: whether the log or the desk has one already. */
static void check_turn(struct encoding *e, struct proposal *p, const struct turn_state *turn)
{
	struct request ours;

	if (turn->answered < 1 || turn->answered >= ITERATION_MAX) {
		propose_missing(e, p, "the response has no valid iteration, so none can follow it");
		return;
	}
	if (turn->asked > turn->answered) {
		propose_missing(e, p,
				"the Request after turn %lld is in the log already; the next turn "
				"can carry this",
				(long long)turn->answered);
		return;
	}
	for (uint32_t i = 0; i < e->desk->letters.n; i++)
		if (is_our_request(e, &e->desk->letters.v[i], draft_of(e, 0)->session, &ours) &&
		    ours.iteration > turn->answered) {
			propose_missing(e, p,
					"the Request after turn %lld is written already; the next "
					"turn can carry this",
					(long long)turn->answered);
			return;
		}
}

/* Items of the turn that stay behind. */
static void tell_undecided(struct encoding *e, struct proposal *p)
{
	const struct model *m = e->model;
	uint32_t session = item_of(e, 0)->session, open = 0;
	struct item_state at;

	for (uint32_t i = 0; i < m->items.n; i++)
		open += m->items.v[i].session == session &&
			m->items.v[i].kind == ITEM_IMPROVEMENT &&
			item_at(m, &m->items.v[i], m->records.n, WHEN_NONE, &at) && at.open;
	for (uint32_t i = 0; i < e->n; i++) {
		state_of(e, i, &at);
		open -= at.open;
	}
	if (open)
		propose_caution(e, p,
				"%u other item%s of this turn %s open; the Request ends the turn",
				open, open == 1 ? "" : "s", open == 1 ? "is" : "are");
}

/* `accepted` says that the artifact now reflects the change. */
static bool claims_change(const struct encoding *e)
{
	for (uint32_t i = 0; i < e->n; i++)
		if (draft_of(e, i)->verb != VERB_REJECT && !draft_of(e, i)->sure)
			return true;
	return false;
}

static struct str addressee(struct encoding *e)
{
	return str_of(arena_printf(&e->plan->arena, "provider of %.*s",
				   STR_ARG(draft_of(e, 0)->session)));
}

static void set_request(struct encoding *e, struct proposal *p, struct buf *b)
{
	if (b->n > FRAME_MAX_BYTES)
		propose_missing(e, p,
				"the Request would have %zu bytes, over %d; attach a smaller file",
				b->n, FRAME_MAX_BYTES);
	else
		proposal_set_bytes(e, p, b);
}

static void encode_turn(struct encoding *e)
{
	struct place_in_response *order = xmalloc((e->n + 1) * sizeof(*order));
	uint32_t *drafts = xmalloc((e->n + 1) * sizeof(*drafts));
	struct turn_state turn;
	struct item_state at;
	struct proposal *p;
	struct buf b = { 0 };
	struct str artifact;
	bool attached;

	for (uint32_t i = 0; i < e->n; i++) {
		state_of(e, i, &at);
		order[i] = (struct place_in_response){ at.message, at.index, i };
	}
	qsort(order, e->n, sizeof(*order), by_place);
	for (uint32_t i = 0; i < e->n; i++)
		drafts[i] = e->drafts[order[i].draft];
	p = propose(e, drafts, e->n);
	p->letter.to = addressee(e);
	feedback_turn(e->model, item_of(e, 0)->session, &turn);
	check_turn(e, p, &turn);
	artifact = compose_artifact(e, p, &turn, &attached);
	p->needs_sure = !attached && claims_change(e);
	tell_undecided(e, p);
	buf_addc(&b, '{');
	json_put_name(&b, "protocol_version", "1.2");
	json_put_int(&b, "iteration",
		     turn.answered < ITERATION_MAX ? turn.answered + 1 : ITERATION_MAX);
	json_key(&b, "artifact");
	buf_add_str(&b, artifact);
	json_key(&b, "applied_feedback");
	buf_adds(&b, "{\"items\":[");
	for (uint32_t i = 0; i < e->n; i++)
		put_decision(e, p, &b, order[i].draft);
	buf_adds(&b, "]}}");
	if (artifact.n)
		set_request(e, p, &b);
	buf_release(&b);
	free(drafts);
	free(order);
}

/* ---- an error ---- */

/* The Request that failed, once more. */
static void encode_again(struct encoding *e)
{
	struct proposal *p = propose(e, e->drafts, 1);
	struct turn_state turn;
	struct request request;
	struct buf b = { 0 };

	p->letter.to = addressee(e);
	feedback_turn(e->model, item_of(e, 0)->session, &turn);
	request = find_request(e, &turn, turn.answered);
	if (turn.asked > turn.answered) {
		propose_missing(e, p, "a later Request is in the log already");
	} else if (!request.bytes.n) {
		propose_missing(e, p,
				"the Request that failed has not been seen; dismiss the error, or let "
				"the requester send it again");
	} else if (request.broken) {
		propose_missing(e, p, "the Request that failed is damaged and cannot be sent again");
	} else {
		add_on_one_line(&b, request.bytes);
		set_request(e, p, &b);
	}
	buf_release(&b);
}

static void encode(struct encoding *e)
{
	const struct draft *d = draft_of(e, 0);
	struct proposal *p;

	if (d->verb == VERB_ESCALATE) {
		encode_escalation(e, 0, false);
	} else if (is_decision(d)) {
		encode_turn(e);
	} else if (d->kind == ITEM_ERROR && d->verb == VERB_ACCEPT) {
		encode_again(e);
	} else {
		p = propose(e, e->drafts, 1);
		propose_missing(e, p, "the protocol cannot %s this", verb_name(d->verb));
	}
}

const struct encoder encoder_feedback = {
	.dialect = DIALECT_FEEDBACK,
	.together = together,
	.encode = encode,
};
