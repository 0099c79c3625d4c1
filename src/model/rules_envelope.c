/* Cross-message rules of envelopes: an output belongs to the last input. Iterations are counted per
 * lane (feature and workflow); retries are limited, and the same gaps twice call for escalation.
 * Nothing has an id: the same output once more, without an input between, is a repetition. */
#include "model/rules.h"

#define RULE(id) "envelope/" id

enum {
	RETRIES_MAX = 3,
	SEARCH_MAX = 512, /* items searched backwards */
};

#define ENVELOPE_KINDS (1u << ITEM_ESCALATION | 1u << ITEM_RETRY)

/* " (NAME): " at the start of what follows "Review escalated" */
static bool starts_with_name(struct str text, struct str name)
{
	return str_starts(text, STR(" (")) && str_starts(str_from(text, 2), name) &&
	       str_starts(str_from(text, 2 + name.n), STR("): "));
}

/* The newest item of a lane, or NONE. Outputs without an input have no lane (NONE); by_name: of
 * these the item that the escalation's text names. */
static uint32_t newest_item(struct apply_ctx *a, uint32_t lane, bool by_name, struct str text)
{
	const struct model *m = a->m;
	struct buf name = { 0 };
	uint32_t found = NONE;

	for (uint32_t i = m->items.n; i-- > 0 && m->items.n - i < SEARCH_MAX && found == NONE;) {
		const struct item *item = &m->items.v[i];

		if (!(ENVELOPE_KINDS & 1u << item->kind) || item_task(m, item) != lane ||
		    item_session(m, item) != a->session)
			continue;
		buf_clear(&name);
		if (by_name)
			item_name(m, item, &name);
		if (!by_name || starts_with_name(text, buf_str(&name)))
			found = i;
	}
	buf_release(&name);
	return found;
}

/* Passed on by a person, and waits for an answer. */
static bool is_escalated(const struct item *item)
{
	const struct item_step *last = &item->steps[item->n - 1];

	return last->what == STEP_DECIDED && last->verdict == VERDICT_ESCALATED;
}

/* The only open item of an output that may answer an input of this lane, or NONE. */
static uint32_t only_unclear_item(struct apply_ctx *a, uint32_t lane)
{
	const struct model *m = a->m;
	uint32_t found = NONE;

	for (uint32_t i = m->items.n; i-- > 0 && m->items.n - i < SEARCH_MAX;) {
		const struct item *item = &m->items.v[i];
		uint32_t n, k = 0;
		const uint32_t *inputs = output_inputs(m, item->steps[0].message, &n);

		if (!(item->open || is_escalated(item)) || !(ENVELOPE_KINDS & 1u << item->kind) ||
		    item_session(m, item) != a->session)
			continue;
		while (k < n && !lane_has_input(m, lane, inputs[k]))
			k++;
		if (k < n && found != NONE)
			return NONE;
		found = k < n ? i : found;
	}
	return found;
}

/* The lane of a review: an input has it in its context, an escalation in its text as " (LANE): ";
 * otherwise the newest. *known false: it names an unknown lane. */
static uint32_t find_lane(struct apply_ctx *a, const struct event *e, bool *known)
{
	const struct model *m = a->m;

	*known = true;
	if (e->id.n)
		return task_get(a, id_intern(a, e));
	if (!str_starts(e->other, STR(" (")))
		return newest_lane(a);
	for (uint32_t i = m->tasks.n; i-- > 0;) {
		if (m->tasks.v[i].session == a->session &&
		    starts_with_name(e->other, model_str(m, m->tasks.v[i].id)))
			return i;
	}
	*known = false;
	return NONE;
}

static struct gaps *gaps_of(struct apply_ctx *a, uint32_t lane)
{
	struct task *t = &a->m->tasks.v[lane];

	if (!t->gaps)
		t->gaps = heap_zalloc(a->m->heap, sizeof(*t->gaps));
	return t->gaps;
}

/* Applies a review's line. False if it decides nothing: no item is open, or the line only repeats
 * the agent's own notes. */
static bool apply_review(struct apply_ctx *a, const struct event *e, uint32_t *of)
{
	bool known;
	uint32_t lane = *of = find_lane(a, e, &known);
	uint32_t item = newest_item(a, lane, !known, e->other);
	struct gaps *gaps = lane == NONE ? NULL : gaps_of(a, lane);
	const struct item *it;

	if (is_ambiguous(a))
		return false;
	if (lane != NONE && (item == NONE || !a->m->items.v[item].open) && a->m->unclear_outputs.n) {
		uint32_t unclear = only_unclear_item(a, lane);

		item = unclear == NONE ? item : unclear;
	}
	if (item == NONE || (gaps && e->content_hash == gaps->hash))
		return false;
	it = &a->m->items.v[item];
	if (!it->open && !(is_escalated(it) && e->verdict != VERDICT_ESCALATED) &&
	    !(a->reply && it->steps[it->n - 1].said)) /* a correction */
		return false;
	if (!a->reply) {
		report(a, SEVERITY_NOTE, RULE("review"), e->at, e->index,
		       "says that a person decided; only a file of replies or a journal can tell");
		return false;
	}
	item_step(a, item, STEP_DECIDED, e->verdict, it->steps[it->n - 1].iteration);
	if (!gaps)
		return true;
	close_items(a, lane, ENVELOPE_KINDS, STEP_DECIDED, e->verdict);
	/* a person decided: restart the counters */
	gaps->line = a->m->tasks.v[lane].failures = 0;
	gaps->in_hash = 0;
	return true;
}

/* The text only says "current iteration number": several agents may work in one, and a workflow may
 * start again, but nothing explains a number that is left out or was there before. */
static void check_iteration(struct apply_ctx *a, const struct event *e, int64_t last)
{
	if (last && e->iteration > 1 && e->iteration != last && e->iteration != last + 1)
		report(a, SEVERITY_WARNING, RULE("input-context.iteration"), e->at, 0,
		       "iteration %lld after %lld", (long long)e->iteration, (long long)last);
}

static void apply_input(struct apply_ctx *a, const struct event *e)
{
	uint32_t lane = task_get(a, id_intern(a, e));
	struct gaps *gaps;

	if (lane == NONE)
		return;
	input_open(a, lane);
	if (rules_of(a)->extra)
		rules_of(a)->extra->output = 0;
	close_items(a, lane, ENVELOPE_KINDS, STEP_SUPERSEDED, VERDICT_SUPERSEDED);
	gaps = gaps_of(a, lane);
	check_iteration(a, e, gaps->in_iteration);
	if (e->content_hash && gaps->in_hash == e->content_hash &&
	    gaps->in_iteration != e->iteration)
		report(a, SEVERITY_WARNING, RULE("retry-same-gaps"), "/task/params/gaps", 0,
		       "the same gaps as in iteration %lld: escalate",
		       (long long)gaps->in_iteration);
	if (e->iteration == 1)
		a->m->tasks.v[lane].failures = 0;
	gaps->in_hash = e->content_hash;
	if (e->iteration)
		gaps->in_iteration = e->iteration;
	task_step(a, lane, TASK_RUNNING, -1, true);
}

static uint32_t repeated_output(const struct apply_ctx *a)
{
	const struct session_extra *x = a->m->sessions.v[a->session].rules->extra;

	return x && x->output && a->msg->content_hash && x->output_hash == a->msg->content_hash
		       ? x->output - 1
		       : NONE;
}

static void note_output(struct apply_ctx *a)
{
	extra_of(a)->output = a->message + 1;
	extra_of(a)->output_hash = a->msg->content_hash;
}

static void apply_output(struct apply_ctx *a, const struct event *e, uint32_t lane)
{
	struct gaps *gaps;
	struct task *t;

	if (lane == NONE) /* outputs without inputs share one lane */
		lane = task_get(a, model_intern(a->m, STR("envelope")));
	note_output(a);
	gaps = gaps_of(a, lane);
	t = &a->m->tasks.v[lane];
	if (e->failed && !e->severe && gaps->line && gaps->hash == e->content_hash)
		report(a, SEVERITY_WARNING, RULE("retry-same-gaps"), e->at, 0,
		       "the same gaps as in line %u: escalate", gaps->line);
	gaps->line = e->failed ? message_line(a->m, a->message) : 0;
	gaps->hash = e->content_hash;
	if (e->again)
		t->failures++;
	else if (!e->failed)
		t->failures = 0;
	if (e->again && t->failures > RETRIES_MAX)
		report(a, SEVERITY_WARNING, RULE("retry-limit"), e->at, 0,
		       "retry %u; after %d it is time to escalate", t->failures, RETRIES_MAX);
	task_step(a, lane,
		  e->severe   ? TASK_REVIEW
		  : e->again  ? TASK_RETRYING
		  : e->failed ? TASK_FAILED
			      : TASK_COMPLETED,
		  e->failed || e->severe ? -1 : 1, false);
}

/* An output that may answer any of several inputs: it counts for no lane, and no lane's next input
 * closes its item, as it may be another's. A person says which input it answers. */
static void apply_unclear_output(struct apply_ctx *a)
{
	note_output(a);
	report(a, SEVERITY_WARNING, RULE("output-ambiguous"), "", 0,
	       "%u inputs are open, and nothing says which of them this answers",
	       vec_last(&a->m->unclear_outputs)->n);
	task_step(a, task_get(a, model_intern(a->m, STR("envelope"))), TASK_REVIEW, -1, false);
}

static void apply_envelope(struct apply_ctx *a)
{
	bool escalated = false, unclear = false;
	uint32_t of = NONE;

	for (uint32_t i = 0; i < a->msg->events.n; i++) {
		const struct event *e = &a->msg->events.v[i];

		if (e->type == EV_ENVELOPE_IN)
			apply_input(a, e);
		else if (e->type == EV_ENVELOPE_OUT && a->reply && !escalated)
			continue; /* what a person says answers no input */
		else if (e->type == EV_ENVELOPE_OUT && !escalated && !input_answer(a))
			unclear = true;
		else if (e->type == EV_ENVELOPE_OUT)
			apply_output(a, e, escalated ? of : newest_lane(a));
		else if (e->type == EV_DECIDE)
			escalated = apply_review(a, e, &of) && e->verdict == VERDICT_ESCALATED;
		/* an escalation passes the older item on: no new item */
		else if (e->type == EV_ITEM && !escalated)
			item_raise(a, e, unclear ? NONE : newest_lane(a), NONE, 0);
	}
	if (unclear)
		apply_unclear_output(a);
}

static void add_escalation(struct reply_keys *out, struct str lane)
{
	reply_key_add(out, reply_key(ANSWERS_LANE, -1, lane), false, false);
	vec_last(&out->list)->escalates = true;
}

/* An input continues its lane; an escalation names the lane in its text, " (LANE): ". */
static void reply_keys(const struct message *msg, struct reply_keys *out)
{
	for (uint32_t i = 0; i < msg->events.n; i++) {
		const struct event *e = &msg->events.v[i];
		ptrdiff_t end = str_find(e->other, STR("): "), 0);

		if (e->type == EV_ENVELOPE_IN)
			reply_key_add(out, reply_key(ANSWERS_LANE, e->iteration - 1, e->id), false,
				      false);
		else if (e->type == EV_DECIDE && e->verdict == VERDICT_ESCALATED && end > 2)
			add_escalation(out, str_make(e->other.p + 2, (size_t)end - 2));
	}
}

static void offer_lane(const struct model *m, uint32_t lane, struct reply_keys *out)
{
	const struct task *t = lane == NONE ? NULL : &m->tasks.v[lane];

	if (!t || !t->gaps)
		return;
	reply_key_add(out, reply_key(ANSWERS_LANE, t->gaps->in_iteration, model_str(m, t->id)), false,
		      false);
	add_escalation(out, model_str(m, t->id));
}

/* An item without lane is escalated by its name. */
static void offer_item(const struct model *m, struct reply_keys *out)
{
	const struct item *item = m->items.n ? vec_last(&m->items) : NULL;
	struct buf name = { 0 };

	if (!item || item->steps[0].message != m->records.n - 1)
		return;
	item_name(m, item, &name);
	add_escalation(out, buf_str(&name));
	buf_release(&name);
}

static void offer_keys(const struct model *m, uint32_t session, const struct message *msg,
		       struct reply_keys *out)
{
	uint32_t inputs = m->sessions.v[session].rules->inputs, n;
	const uint32_t *unclear = output_inputs(m, m->records.n - 1, &n);

	if (!str_is(msg->kind, "output"))
		return;
	if (!n && inputs)
		offer_lane(m, m->open_inputs.v[inputs - 1].newest, out);
	for (uint32_t i = 0; i < n; i++)
		offer_lane(m, input_lane(m, unclear[i]), out);
	if (n || !inputs)
		offer_item(m, out);
}

const struct rules_ops rules_envelope = {
	.name = "envelope",
	.apply = apply_envelope,
	.reply_keys = reply_keys,
	.offer_keys = offer_keys,
	.repeated = repeated_output,
	.id = { "", RULE("output-repeated"), NULL },
};
