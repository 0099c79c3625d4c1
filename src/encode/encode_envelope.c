/* Encoder for envelopes. A review of an output becomes the input envelope of the next iteration:
 * same context, paths and task, iteration + 1, the output's notes, and the review as last note. The
 * texts must name no person, so a decision is recognized by the start of its line
 * (dialect/envelope.c). An output has no context, so an escalation names feature and workflow in
 * its summary, or the output if no input was seen. */
#include "encode/attach.h"
#include "encode/plan.h"

#include "json/compose.h"

/* The lane of the item that a draft decides; where it is not clear, that of the input it names. */
static uint32_t lane_of(const struct encoding *e, const struct draft *d)
{
	const struct model *m = e->model;
	const struct item *item = d->number == NONE ? NULL : &m->items.v[d->number];
	struct item_state state;
	uint32_t input;

	if (!item || !item_at(m, item, m->records.n, TIME_NONE, &state))
		return NONE;
	input = chosen_input(m, &state, d->input);
	return input == NONE ? item_task(m, item) : input_lane(m, input);
}

/* The input that the item's output answers: the one that the person names, else the last one of its
 * lane before it, or NONE. */
static uint32_t input_of(const struct encoding *e, uint32_t i, uint32_t *newest)
{
	uint32_t task = lane_of(e, draft_of(e, i));
	const struct task *lane = task == NONE ? NULL : &e->model->tasks.v[task];
	struct item_state state;
	uint32_t found = NONE, chosen;

	state_of(e, i, &state);
	chosen = chosen_input(e->model, &state, draft_of(e, i)->input);
	*newest = NONE;
	for (uint32_t k = 0; lane && k < lane->steps.n; k++) {
		if (!lane->steps.v[k].assigned)
			continue;
		*newest = lane->steps.v[k].message;
		if (*newest < state.message)
			found = *newest;
	}
	return chosen == NONE ? found : chosen;
}

static bool iteration_of(yyjson_val *input, int64_t *out)
{
	return json_int(json_get(json_get(input, "context"), "iteration"), out) && *out >= 1 &&
	       *out < COUNT_MAX;
}

/* "Review WHAT (ABOUT): reason"; about may be empty */
static void put_review(struct encoding *e, struct buf *b, const struct draft *d, const char *what,
		       struct str about, const char *otherwise)
{
	struct str words = reason_text(e, d);
	struct buf line = { 0 };

	buf_printf(&line, "Review %s", what);
	if (about.n) {
		buf_adds(&line, " (");
		buf_add_str(&line, about);
		buf_addc(&line, ')');
	}
	buf_adds(&line, ": ");
	buf_add_str(&line, words.n ? words : str_of(otherwise));
	json_write_str(b, buf_str(&line));
	buf_release(&line);
}

static void put_context(struct buf *b, yyjson_val *context, int64_t iteration)
{
	size_t i, n;
	yyjson_val *key, *v;
	bool written = false;

	json_open(b, "context", '{');
	yyjson_obj_foreach(context, i, n, key, v) {
		bool counts = str_is(json_str(key), "iteration");

		if (counts && written)
			continue;
		json_comma(b);
		json_write_str(b, json_str(key));
		buf_addc(b, ':');
		if (counts)
			buf_printf(b, "%lld", (long long)iteration);
		else
			json_write(b, v);
		written |= counts;
	}
	buf_addc(b, '}');
}

static void put_notes(struct encoding *e, uint32_t i, struct buf *b)
{
	const struct draft *d = draft_of(e, i);
	struct item_state state;
	yyjson_val *notes, *v;
	size_t k, n;

	state_of(e, i, &state);
	notes = json_get(parse_message(e, state.message), "notes");
	json_open(b, "prior_context", '[');
	yyjson_arr_foreach(notes, k, n, v)
		if (yyjson_is_str(v)) {
			json_comma(b);
			json_write_str(b, json_str(v));
		}
	json_comma(b);
	put_review(e, b, d, d->verb == VERB_ACCEPT ? "accepted" : "rejected", STR_NONE,
		   "as it is");
	buf_addc(b, ']');
}

/* The highest iteration of the two inputs: a correction follows what it corrects. */
static bool last_iteration(struct encoding *e, uint32_t input, uint32_t newest, int64_t *out)
{
	int64_t later;

	if (!iteration_of(parse_message(e, input), out))
		return false;
	if (newest != input && iteration_of(parse_message(e, newest), &later) && later > *out)
		*out = later;
	return true;
}

/* Whether an input can be copied: complete, valid, and parsed without repairs. */
static bool is_whole(struct encoding *e, uint32_t input)
{
	yyjson_val *root = parse_message(e, input), *context = json_get(root, "context");
	yyjson_val *paths = json_get(root, "paths"), *task = json_get(root, "task");
	yyjson_val *feature = json_get(context, "feature_id"), *key, *v;
	size_t i, n;

	if (message_route(e->model, input)->flags & (RECORD_REPAIRED | RECORD_AMBIGUOUS) ||
	    !(yyjson_is_str(feature) || yyjson_is_null(feature)) ||
	    !json_get_str(context, "workflow").p || !yyjson_is_obj(paths) ||
	    !json_get_str(task, "action").p || !yyjson_is_obj(json_get(task, "params")))
		return false;
	yyjson_obj_foreach(paths, i, n, key, v)
		if (!yyjson_is_str(v))
			return false;
	return true;
}

static struct str addressee(const struct encoding *e)
{
	return e->terms->turn ? e->terms->turn->to : STR("workflow");
}

/* A missing entry if several inputs were open and the person has not said which one it answers. */
static bool has_chosen_input(struct encoding *e, uint32_t i, struct proposal *p)
{
	const struct draft *d = draft_of(e, i);
	struct item_state state;
	struct buf why = { 0 };
	uint32_t n;
	bool chosen;

	state_of(e, i, &state);
	if (!output_inputs(e->model, state.message, &n))
		return true;
	chosen = input_is_chosen(e->model, item_of(e, i), &state, d->verb, d->input, &why);
	if (!chosen)
		propose_missing(e, p, "%s", why.p);
	buf_release(&why);
	return chosen;
}

static void encode_review(struct encoding *e, uint32_t i)
{
	struct proposal *p = propose(e, &e->drafts[i], 1);
	uint32_t newest, input = input_of(e, i, &newest);
	struct buf b = { 0 };
	yyjson_val *root;
	int64_t iteration;

	p->letter.to = addressee(e);
	if (!has_chosen_input(e, i, p))
		return;
	if (input == NONE) {
		propose_missing(e, p, "the input envelope of this output was not seen; give a "
				      "folder with its log and this one as the source, or escalate "
				      "it");
		return;
	}
	if (!last_iteration(e, input, newest, &iteration)) {
		propose_missing(e, p,
				"the input in line %u%s has no valid context.iteration to "
				"continue; only escalate is available",
				message_line(e->model, input), reply_words(e->model, input));
		return;
	}
	if (!is_whole(e, input)) {
		propose_missing(e, p,
				"the input in line %u%s is incomplete or damaged and cannot be "
				"passed on; only escalate is available",
				message_line(e->model, input), reply_words(e->model, input));
		return;
	}
	root = parse_message(e, input);
	buf_addc(&b, '{');
	put_context(&b, json_get(root, "context"), iteration + 1);
	json_put_value(&b, "paths", json_get(root, "paths"));
	json_put_value(&b, "task", json_get(root, "task"));
	put_notes(e, i, &b);
	buf_addc(&b, '}');
	proposal_set_bytes(e, p, &b);
	buf_release(&b);
}

static void encode_output(struct encoding *e, uint32_t i)
{
	const struct model *m = e->model;
	uint32_t lane = item_task(m, item_of(e, i));
	struct proposal *p;
	struct buf b = { 0 };

	/* in turns, gavel itself is the workflow */
	encode_escalation(e, i, !e->terms->turn);
	if (e->terms->turn)
		return;
	p = propose(e, &e->drafts[i], 1);
	p->letter.to = STR("workflow");
	buf_adds(&b, "{\"success\":false,\"summary\":");
	put_review(e, &b, draft_of(e, i), "escalated",
		   lane == NONE ? draft_of(e, i)->item : model_str(m, m->tasks.v[lane].id),
		   "somebody else must decide");
	buf_adds(&b, ",\"artifacts\":[],\"recommendation\":\"escalate\"}");
	proposal_set_bytes(e, p, &b);
	buf_release(&b);
}

static void encode_envelope(struct encoding *e)
{
	for (uint32_t i = 0; i < e->n; i++)
		if (draft_of(e, i)->verb == VERB_ESCALATE)
			encode_output(e, i);
		else
			encode_review(e, i);
}

/* ---- the first input ---- */

/* Whether the bytes are a valid input envelope; appends the first error. */
static bool is_input(struct str bytes, struct buf *why)
{
	struct decoder d = { 0 };
	struct message msg = { 0 };
	struct frame_info info = { .full_length = bytes.n };
	bool fine;

	dialect_decode(&d, bytes, &info, &msg);
	fine = msg.dialect == DIALECT_ENVELOPE && str_is(msg.kind, "input");
	for (uint32_t i = 0; fine && i < msg.diags.list.n; i++)
		if (msg.diags.list.v[i].severity == SEVERITY_ERROR) {
			buf_printf(why, "%.*s: %.*s", STR_ARG(msg.diags.list.v[i].pointer),
				   STR_ARG(msg.diags.list.v[i].text));
			fine = false;
		}
	message_release(&msg);
	decoder_release(&d);
	return fine;
}

void plan_envelope(struct plan *plan, struct desk *desk, const struct model *m,
		   const struct reader *r, const struct terms *t, const char *path)
{
	struct encoding e = { .plan = plan, .desk = desk, .model = m, .reader = r, .terms = t };
	struct proposal *p = propose(&e, NULL, 0);
	struct buf line = { 0 }, why = { 0 };
	struct attachment file;
	yyjson_val *root;
	struct err err;

	p->letter.dialect = DIALECT_ENVELOPE;
	p->letter.to = addressee(&e);
	if (attach_read(&plan->arena, path, &file, &err) != 0) {
		propose_missing(&e, p, "%s", err.text);
		return;
	}
	if (json_read(&e.json, file.content, &root) == JSON_OK)
		json_write(&line, root);
	if (!line.n || !is_input(buf_str(&line), &why))
		propose_missing(&e, p,
				"%s is no input envelope; give one (context, paths, task)%s%s",
				path, why.n ? ": " : "", why.n ? why.p : "");
	else
		proposal_set_bytes(&e, p, &line);
	encoding_release(&e);
	buf_release(&line);
	buf_release(&why);
}

/* The input that the item's output answers, or all that it may answer, and the newest one. */
static void add_context(struct encoding *e, uint32_t i, const struct item_state *state,
			struct context *out)
{
	uint32_t newest, n;
	const uint32_t *inputs = output_inputs(e->model, state->message, &n);

	context_add_message(out, input_of(e, i, &newest));
	context_add_message(out, newest);
	while (n-- > 0)
		context_add_message(out, inputs[n]);
}

static const struct item_verbs verbs[] = {
	{ ITEM_ESCALATION, CAN_ACCEPT | CAN_REJECT | CAN_ESCALATE },
	{ ITEM_RETRY, CAN_ACCEPT | CAN_REJECT | CAN_ESCALATE },
	{ .verbs = 0 },
};

const struct encoder_ops encoder_envelope = {
	.verbs = verbs,
	.encode = encode_envelope,
	.add_context = add_context,
};
