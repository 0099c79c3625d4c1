/* Encoder for collaboration: dispatch, and the short messages. Rejecting a finding and answering a
 * question become feedback; rejecting a blocked task aborts it, by one message to each agent that
 * works on it; an escalation goes to the architect. */
#include "encode/encode_collaboration.h"

#include "base/utf8.h"
#include "dialect/marker.h"
#include "json/compose.h"

yyjson_val *payload_of(yyjson_val *root)
{
	yyjson_val *payload = json_get(root, "payload");

	return payload ? payload : json_get(root, "content");
}

struct address read_address(struct encoding *e, yyjson_val *agent, const char *usual_type)
{
	return (struct address){
		keep_str(e, json_get_str(agent, "agent_id")),
		keep_str(e, address_type(json_get_str(agent, "agent_type"), usual_type)),
		keep_str(e, json_get_str(agent, "instance_id"))
	};
}

/* The usual sender and receiver of a message type, for agents of unknown type. */
static void usual_types(struct str type, const char **from, const char **to)
{
	bool work = str_is(type, "task_assignment"), review = str_is(type, "review_request");

	*from = work || review			 ? "architect"
		: str_is(type, "review_result") ? "reviewer"
						: "developer";
	*to = work ? "developer" : review ? "reviewer" : "architect";
}

yyjson_val *read_origin(struct encoding *e, uint32_t i, struct proposal *p, struct origin *out)
{
	const char *from, *to;
	struct item_state state;
	yyjson_val *root;

	state_of(e, i, &state);
	root = parse_message(e, state.message);
	*out = (struct origin){ .message = state.message,
				.session = item_session(e->model, item_of(e, i)) };
	if (!yyjson_is_obj(payload_of(root))) {
		propose_missing(e, p, "the message it answers cannot be read any more");
		return NULL;
	}
	out->id = keep_str(e, json_get_str(root, "message_id"));
	out->session_id = keep_str(e, json_get_str(root, "session_id"));
	if (!out->session_id.n) /* a document with messages[] may have it */
		out->session_id = keep_str(e, session_id(e->model, out->session));
	out->correlation = keep_str(e, json_get_str(root, "correlation_id"));
	if (!out->correlation.n) {
		out->correlation = find_correlation(e, out->session, state.message,
						    item_task(e->model, item_of(e, i)),
						    item_review(e->model, item_of(e, i)));
		root = parse_message(e, state.message);
	}
	usual_types(json_get_str(root, "message_type"), &from, &to);
	out->from = read_address(e, json_get(root, "from_agent"), from);
	out->to = read_address(e, json_get(root, "to_agent"), to);
	return payload_of(root);
}

/* The person needs a name, and one that no agent of the session has. */
static void check_sender(struct encoding *e, struct proposal *p, uint32_t session, bool reviewer)
{
	const struct model *m = e->model;
	struct buf name = { 0 };
	struct err err;

	buf_add_str(&name, e->terms->as);
	if (reviewer)
		buf_adds(&name, "-reviewer");
	if (!e->terms->as.n)
		propose_missing(e, p, "a message needs a sender; give your name with --as");
	if (utf8_check(e->terms->as, "your name (--as)", &err))
		propose_missing(e, p, "%s", err.text);
	for (uint32_t i = 0; i < m->agents.n; i++)
		if (m->agents.v[i].session == session && !m->agents.v[i].human &&
		    str_eq(agent_name(m, i), buf_str(&name)))
			propose_missing(e, p, "an agent of this session has your name; give "
					      "another with --as");
	buf_release(&name);
}

void begin_reply(struct encoding *e, struct proposal *p, struct buf *b, const char *type,
		 const struct origin *o, const struct address *to, bool reviewer)
{
	struct human_message m = { .type = type, .id = encode_uuid(e), .time_ms = encode_ms(e),
				  .as = e->terms->as, .reviewer = reviewer, .to = *to,
				  .session_id = o->session_id, .correlation = o->correlation,
				  .reply_to = o->id };

	m.sequence = next_sequence(e->model, o->session, e->desk, e);
	if (m.sequence < 0)
		propose_missing(e, p, "the session's sequence numbers are exhausted (2^53 - 1); "
				      "only an escalation queue can take it, with --escalate-to");
	check_sender(e, p, o->session, reviewer);
	if (!to->id.n)
		propose_missing(e, p, "the message it answers does not say from whom it is");
	p->letter.to = to->id;
	human_message_begin(b, &m);
}

void end_reply(struct encoding *e, struct proposal *p, struct buf *b)
{
	human_message_end(b);
	proposal_set_bytes(e, p, b);
	buf_release(b);
}

bool check_marker(struct encoding *e, uint32_t i, struct proposal *p)
{
	if (item_of(e, i)->id != NONE)
		return true;
	propose_missing(e, p, "its message does not name it, so a reply cannot either; its sender "
			      "must send it again");
	return false;
}

void put_marker(struct encoding *e, uint32_t i, enum verdict verdict, struct buf *b)
{
	struct buf name = { 0 };

	item_reply_name(e->model, item_of(e, i), &name);
	marker_write(b, buf_str(&name), verdict);
	buf_release(&name);
}

void put_strings(struct buf *b, const char *name, yyjson_val *array)
{
	size_t i, n;
	yyjson_val *v;

	json_open(b, name, '[');
	yyjson_arr_foreach(array, i, n, v) {
		if (!yyjson_is_str(v))
			continue;
		json_comma(b);
		json_write_str(b, json_str(v));
	}
	buf_addc(b, ']');
}

struct seen_names {
	VEC(struct str) list;
	struct map map;
};

/* False if the name was added before. */
static bool add_name(struct seen_names *names, struct str name)
{
	uint64_t hash = str_hash(name);

	for (uint32_t it = 0, v; map_next(&names->map, hash, &it, &v);)
		if (str_eq(names->list.v[v], name))
			return false;
	map_add(&names->map, hash, names->list.n);
	vec_push(&names->list, name);
	return true;
}

void put_unlisted(struct buf *b, yyjson_val *object, const char *const *listed)
{
	struct seen_names names = { 0 };
	size_t i, n;
	yyjson_val *key, *v;

	/* of duplicate keys the first counts, as for json_get */
	if (yyjson_is_obj(object))
		yyjson_obj_foreach(object, i, n, key, v)
			if (value_index(listed, json_str(key)) < 0 && add_name(&names, json_str(key)))
				json_put_member(b, key, v);
	vec_release(&names.list);
	map_release(&names.map);
}

static struct str task_name(const struct encoding *e, const struct item *item)
{
	uint32_t task = item_task(e->model, item);

	return task == NONE ? STR_NONE : model_str(e->model, e->model->tasks.v[task].id);
}

static void put_feedback(struct buf *b, const char *type, struct str subject, struct str content,
			 bool action_required, struct str task)
{
	json_put_name(b, "feedback_type", type);
	json_put_str(b, "subject", subject);
	json_put_str(b, "content", content);
	json_put_bool(b, "action_required", action_required);
	if (task.n)
		json_put_str(b, "related_task_id", task);
}

/* "rejected: review-7/find-2" */
static struct str subject_of(struct encoding *e, uint32_t i, const char *what)
{
	struct buf b = { 0 };

	buf_adds(&b, what);
	item_name(e->model, item_of(e, i), &b);
	return keep_buf(e, &b);
}

/* A rejected finding or change: feedback to its reviewer. */
static void encode_objection(struct encoding *e)
{
	struct proposal *p = propose(e, e->drafts, e->n);
	const struct item *item = item_of(e, 0);
	struct buf content = { 0 }, b = { 0 };
	struct origin o;

	if (!read_origin(e, 0, p, &o) || !check_marker(e, 0, p))
		return;
	put_marker(e, 0, VERDICT_REJECTED, &content);
	buf_add_str(&content, reason_text(e, draft_of(e, 0)));
	begin_reply(e, p, &b, "feedback", &o, &o.from, false);
	put_feedback(&b, "correction", subject_of(e, 0, "rejected: "), buf_str(&content), false,
		     task_name(e, item));
	end_reply(e, p, &b);
	buf_release(&content);
}

static void encode_answer(struct encoding *e)
{
	struct proposal *p = propose(e, e->drafts, e->n);
	struct buf subject = { 0 }, b = { 0 };
	struct origin o;
	yyjson_val *payload = read_origin(e, 0, p, &o);

	if (!payload)
		return;
	buf_adds(&subject, "Re: ");
	buf_add_str(&subject, json_get_str(payload, "subject"));
	begin_reply(e, p, &b, "feedback", &o, &o.from, false);
	put_feedback(&b, "guidance", buf_str(&subject), keep_str(e, draft_of(e, 0)->answer), false,
		     json_get_str(payload, "related_task_id"));
	end_reply(e, p, &b);
	buf_release(&subject);
}

struct address find_address(struct encoding *e, uint32_t agent)
{
	const struct agent *a = &e->model->agents.v[agent];
	struct str name = agent_name(e->model, agent), type = model_str(e->model, a->type);
	yyjson_val *root = parse_message(e, a->first);
	struct address out = { name, address_type(type, "developer"), STR_NONE };
	const char *from, *to;

	usual_types(json_get_str(root, "message_type"), &from, &to);
	if (str_eq(json_get_str(json_get(root, "from_agent"), "agent_id"), name))
		out = read_address(e, json_get(root, "from_agent"), from);
	else if (str_eq(json_get_str(json_get(root, "to_agent"), "agent_id"), name))
		out = read_address(e, json_get(root, "to_agent"), to);
	return out;
}

struct agents {
	VEC(uint32_t) list;
};

static void add_agent(const struct model *m, struct agents *to, uint32_t agent)
{
	if (agent == NONE || m->agents.v[agent].human)
		return;
	for (uint32_t i = 0; i < to->list.n; i++)
		if (to->list.v[i] == agent)
			return;
	vec_push(&to->list, agent);
}

static void add_both_ends(const struct model *m, struct agents *to, uint32_t message)
{
	add_agent(m, to, message_route(m, message)->from);
	add_agent(m, to, message_route(m, message)->to);
}

/* All agents that sent or received a message about the task, its developer first. */
static void add_task_agents(struct encoding *e, const struct item *item, uint32_t message,
			    struct agents *to)
{
	const struct model *m = e->model;
	uint32_t task = item_task(m, item), root = task == NONE ? NONE : m->tasks.v[task].root;
	uint32_t given = find_assignment(e, item);

	add_agent(m, to, message_route(m, message)->from);
	if (given != NONE)
		add_agent(m, to, message_route(m, given)->to);
	add_both_ends(m, to, message);
	for (uint32_t i = 0; root != NONE && i < m->tasks.n; i++)
		for (uint32_t k = 0; m->tasks.v[i].root == root && k < m->tasks.v[i].steps.n; k++)
			add_both_ends(m, to, m->tasks.v[i].steps.v[k].message);
	for (uint32_t i = 0; root != NONE && i < m->reviews.n; i++) {
		const struct review *r = &m->reviews.v[i];

		for (uint32_t k = 0; r->task != NONE && m->tasks.v[r->task].root == root &&
				     k < r->steps.n; k++)
			add_both_ends(m, to, r->steps.v[k].message);
	}
}

/* The letter to the developer carries the decision; the others accompany it. */
static void encode_abort(struct encoding *e)
{
	const struct item *item = item_of(e, 0);
	struct agents to = { 0 };
	struct item_state state;

	state_of(e, 0, &state);
	add_task_agents(e, item, state.message, &to);
	for (uint32_t i = 0; i < (to.list.n ? to.list.n : 1); i++) {
		struct proposal *p = propose(e, e->drafts, i ? 0 : e->n);
		struct buf b = { 0 };
		struct origin o;
		struct address address;

		if (to.list.n)
			address = find_address(e, to.list.v[i]);
		if (!read_origin(e, 0, p, &o))
			break;
		if (!to.list.n)
			address = o.from;
		begin_reply(e, p, &b, "abort", &o, &address, false);
		put_abort(&b, "task", model_str(e->model, item->id),
			  reason_text(e, draft_of(e, 0)));
		end_reply(e, p, &b);
	}
	vec_release(&to.list);
}

/* The architect who sent or received the message, else the session's first, else the agent that
 * assigned the task, if it has no other type. Never the person. */
static uint32_t find_architect(struct encoding *e, const struct item *item, uint32_t message)
{
	const struct model *m = e->model;
	uint32_t sides[] = { message_route(m, message)->to, message_route(m, message)->from };
	uint32_t session = item_session(m, item), given = find_assignment(e, item), giver;

	for (uint32_t i = 0; i < 2 + m->agents.n; i++) {
		uint32_t agent = i < 2 ? sides[i] : i - 2;
		const struct agent *a = agent == NONE ? NULL : &m->agents.v[agent];

		if (a && a->session == session && !a->human &&
		    str_is(model_str(m, a->type), "architect"))
			return agent;
	}
	giver = given == NONE ? NONE : message_route(m, given)->from;
	if (giver == NONE || m->agents.v[giver].human ||
	    !str_is(address_type(model_str(m, m->agents.v[giver].type), "architect"), "architect"))
		return NONE;
	return giver;
}

static void ask_architect(struct encoding *e, uint32_t i, uint32_t architect)
{
	struct proposal *p = propose(e, &e->drafts[i], 1);
	const struct item *item = item_of(e, i);
	struct buf content = { 0 }, b = { 0 };
	struct str words = reason_text(e, draft_of(e, i));
	struct item_state state;
	struct detail detail;
	struct address to;
	struct origin o;

	if (architect == NONE) {
		propose_missing(e, p, "no architect is known in this session; give a queue with "
				      "--escalate-to");
		return;
	}
	to = find_address(e, architect);
	if (!read_origin(e, i, p, &o) || !check_marker(e, i, p))
		return;
	state_of(e, i, &state);
	put_marker(e, i, VERDICT_ESCALATED, &content);
	buf_add_str(&content, words);
	if (e->reader->detail(e->reader->ctx, item, &state, &detail) && detail.title.n) {
		buf_adds(&content, words.n ? "\nIt says: " : "It says: ");
		buf_add_str(&content, detail.title);
	}
	begin_reply(e, p, &b, "feedback", &o, &to, false);
	put_feedback(&b, "question", subject_of(e, i, "to decide: "), buf_str(&content), true,
		     task_name(e, item));
	end_reply(e, p, &b);
	buf_release(&content);
}

/* Asks the architect, and copies to the queue; only the queue if there is no architect or no
 * sequence number left. */
static void encode_escalations(struct encoding *e)
{
	for (uint32_t i = 0; i < e->n; i++) {
		struct item_state state;
		uint32_t architect, session;
		bool said;

		state_of(e, i, &state);
		architect = find_architect(e, item_of(e, i), state.message);
		session = item_session(e->model, item_of(e, i));
		said = !e->terms->escalate_to ||
		       (architect != NONE &&
			next_sequence(e->model, session, e->desk, e) >= 0);
		if (said)
			ask_architect(e, i, architect);
		encode_escalation(e, i, said);
	}
}

static bool is_wanted_change(const struct draft *d)
{
	return (d->kind == ITEM_FINDING || d->kind == ITEM_CHANGE) &&
	       (d->verb == VERB_ACCEPT || d->verb == VERB_PARTIAL);
}

/* The accepted findings and changes of one review become one revision. */
static uint64_t together(const struct encoding *e, const struct draft *d)
{
	struct owner of;

	if (!is_wanted_change(d))
		return 0;
	of = item_owner(e->model, &e->model->items.v[d->number]);
	return of.review == NONE
		       ? 0
		       : hash_mix(hash_mix(hash_mix(hash_seed, of.session), of.review), of.task);
}

/* ---- corrections ---- */

static bool is_recipient(const struct encoding *e, uint32_t first, struct str name)
{
	for (uint32_t i = first; i < e->plan->list.n; i++)
		if (str_eq(e->plan->list.v[i].letter.to, name))
			return true;
	return false;
}

/* Feedback to a recipient of the corrected decision that gets no message about the new one. */
static void notify_recipient(struct encoding *e, uint32_t i, const struct letter *told)
{
	struct proposal *p = propose(e, NULL, 0);
	struct buf content = { 0 }, b = { 0 };
	struct address to;
	struct origin o;
	yyjson_val *root;

	if (!read_origin(e, i, p, &o) || json_read(&e->json, told->bytes, &root) != JSON_OK)
		return;
	o.id = keep_str(e, json_get_str(root, "message_id"));
	to = read_address(e, json_get(root, "to_agent"), "developer");
	buf_adds(&content, "This corrects an earlier decision: ");
	item_name(e->model, item_of(e, i), &content);
	buf_printf(&content, " is %s now. ", verdict_name(verb_verdict(draft_of(e, i)->verb)));
	buf_add_str(&content, reason_text(e, draft_of(e, i)));
	begin_reply(e, p, &b, "feedback", &o, &to, false);
	put_feedback(&b, "correction", subject_of(e, i, "corrected: "), buf_str(&content), false,
		     task_name(e, item_of(e, i)));
	end_reply(e, p, &b);
	buf_release(&content);
}

/* Notifies all recipients of the corrected decisions. first: index of the group's first proposal. */
static void notify_recipients(struct encoding *e, uint32_t first)
{
	const struct desk *d = e->desk;

	for (uint32_t i = 0; i < e->n; i++) {
		const struct draft *old = desk_draft_named(d, draft_of(e, i)->corrects);
		const struct letter *sent = old ? draft_letter(d, old) : NULL;

		for (uint32_t k = sent ? sent->batch : d->letters.n; k < d->letters.n; k++) {
			const struct letter *l = &d->letters.v[k];

			if (l->batch == sent->batch && !l->aside &&
			    l->dialect == DIALECT_COLLABORATION && !is_recipient(e, first, l->to))
				notify_recipient(e, i, l);
		}
	}
}

static void encode(struct encoding *e)
{
	const struct draft *d = draft_of(e, 0);
	uint32_t first = e->plan->list.n;

	if (d->verb == VERB_ESCALATE)
		encode_escalations(e);
	else if (is_wanted_change(d))
		encode_revision(e);
	else if (d->kind == ITEM_FINDING || d->kind == ITEM_CHANGE)
		encode_objection(e);
	else if (d->kind == ITEM_VERDICT)
		encode_verdict(e);
	else if (d->kind == ITEM_QUESTION)
		encode_answer(e);
	else if (d->kind == ITEM_BLOCKED && d->verb == VERB_ACCEPT)
		encode_retry(e);
	else if (d->kind == ITEM_BLOCKED)
		encode_abort(e);
	if (!e->via_queue)
		notify_recipients(e, first);
}

/* Adds the rounds of a review: its requests, and results without a request. */
static void add_rounds(const struct review *r, struct context *out)
{
	for (uint32_t k = r->steps.n; k-- > 0 && out->n < CONTEXT_MAX - 16;)
		if (r->steps.v[k].verdict == REVIEW_NONE || k == 0 ||
		    r->steps.v[k - 1].verdict != REVIEW_NONE)
			context_add_message(out, r->steps.v[k].message);
}

/* Assignments and final states of the task's chain, the rounds of its reviews, and each agent's
 * last message, for agent types and sequence numbers. */
static void add_task_history(const struct model *m, const struct item *item, struct context *out)
{
	uint32_t root = item_task(m, item) == NONE ? NONE : m->tasks.v[item_task(m, item)].root;
	uint32_t agents[16], n_agents = 0;

	for (uint32_t i = m->tasks.n; root != NONE && i-- > root;) {
		const struct task *t = &m->tasks.v[i];
		bool given = false;

		for (uint32_t k = t->root == root ? t->steps.n : 0; k-- > 0 && !given;) {
			given = t->steps.v[k].assigned;
			if (given || k + 1 == t->steps.n ||
			    task_state_is_final(t->steps.v[k].state))
				context_add_message(out, t->steps.v[k].message);
		}
		if (out->n >= CONTEXT_MAX / 2)
			break;
	}
	for (uint32_t i = m->reviews.n; i-- > 0 && out->n < CONTEXT_MAX - 16;)
		if (i == item_review(m, item) || (root != NONE && m->reviews.v[i].task != NONE &&
					  m->tasks.v[m->reviews.v[i].task].root == root))
			add_rounds(&m->reviews.v[i], out);
	for (uint32_t k = m->records.n; k-- > 0 && n_agents < 16 && m->records.n - k < 65536;) {
		const struct route *route = message_route(m, k);
		uint32_t a = 0;

		if (route->session != item_session(m, item) ||
		    route->dialect != DIALECT_COLLABORATION)
			continue;
		while (a < n_agents && agents[a] != route->from)
			a++;
		if (a < n_agents)
			continue;
		agents[n_agents++] = route->from;
		context_add_message(out, k);
	}
}

static void add_context(struct encoding *e, uint32_t i, const struct item_state *state,
			struct context *out)
{
	const struct item *item = item_of(e, i);

	(void)state;
	add_task_history(e->model, item, out);
}

static const struct item_verbs verbs[] = {
	{ ITEM_FINDING, CAN_ACCEPT | CAN_PARTIAL | CAN_REJECT | CAN_ESCALATE },
	{ ITEM_CHANGE, CAN_ACCEPT | CAN_PARTIAL | CAN_REJECT | CAN_ESCALATE },
	{ ITEM_VERDICT, CAN_ACCEPT | CAN_PARTIAL | CAN_REJECT | CAN_ESCALATE },
	{ ITEM_QUESTION, CAN_ANSWER | CAN_ESCALATE },
	{ ITEM_BLOCKED, CAN_ACCEPT | CAN_REJECT | CAN_ESCALATE },
	{ .verbs = 0 },
};

const struct encoder_ops encoder_collaboration = {
	.verbs = verbs,
	.together = together,
	.encode = encode,
	.add_context = add_context,
};
