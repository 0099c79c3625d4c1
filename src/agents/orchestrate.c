/* Answers requests of agents: validates them, answers queries from the orchestrator's state, and
 * leaves questions and submitted tasks to the user. */
#include "agents/orchestrate_internal.h"

#include "base/err.h"

#include <stdio.h>

/* Longest value of the request that an error repeats. */
enum { ECHO_MAX_BYTES = 200 };

/* ---- validation ---- */

/* The id of a request; *why: it cannot be answered. */
static struct str answerable_id(yyjson_val *root, const char **why)
{
	struct str id = json_get_str(root, "id");
	unsigned ids = 0;
	size_t i, n;
	yyjson_val *key, *v;

	*why = NULL;
	yyjson_obj_foreach(root, i, n, key, v) {
		(void)v;
		ids += str_is(json_str(key), "id");
	}
	if (ids > 1)
		*why = "it has two ids; unclear which one to answer";
	else if (!id.n)
		*why = "it has no id that could be answered";
	else if (id.n > ORCHESTRATOR_ID_MAX_BYTES)
		*why = "its id is too long to be repeated";
	else if (memchr(id.p, 0, id.n) || str_find(id, STR("\xef\xbf\xbd"), 0) >= 0)
		*why = "its id is broken text; an answer would name another one";
	return id;
}

/* Remembers the id; false: this incarnation has used it before. */
static bool add_id(struct orchestrated_agent *c, struct str id)
{
	uint64_t h = str_hash(id);

	for (uint32_t it = 0, v; map_next(&c->id_map, h, &it, &v);)
		if (c->ids.v[v] == h)
			return false;
	map_add(&c->id_map, h, c->ids.n);
	vec_push(&c->ids, h);
	return true;
}

/* ---- requests ---- */

struct request {
	struct orchestrator *o;
	const struct model *m;
	const struct incoming *a;
	struct str id;
	yyjson_val *root, *payload;
	struct buf *out;
};

/* Releases details, which may be NULL. */
static struct ruling refuse(const struct request *q, enum orchestrator_code code,
			    struct str message, struct buf *details)
{
	orchestrator_refuse(q->id, code, message, details ? buf_str(details) : STR_NONE,
			    q->a->now_ms, q->out);
	if (details)
		buf_release(details);
	return (struct ruling){ RULING_ANSWER, code, NULL };
}

static struct ruling refuse_task(const struct request *q, enum orchestrator_code code,
				 const char *message, struct str task)
{
	struct buf b = { 0 };

	if (task.n <= ECHO_MAX_BYTES) {
		buf_addc(&b, '{');
		json_put_str(&b, "taskId", task.p ? task : STR(""));
		buf_addc(&b, '}');
	}
	return refuse(q, code, str_of(message), &b);
}

/* Up to the value of the payload's only member. */
static void begin_success(const struct request *q, const char *member)
{
	begin_payload("response:success", q->id, q->a->now_ms, q->out);
	json_key(q->out, member);
}

static struct ruling end_success(const struct request *q)
{
	end_payload(q->out);
	return (struct ruling){ RULING_ANSWER, CODE_NONE, NULL };
}

/* An absent filter matches everything. */
static bool matches(yyjson_val *filter, struct str value)
{
	return !filter || str_eq(json_str(filter), value);
}

static const char *status_of(const struct orchestrated_agent *c,
			     const struct orchestrated_task *now)
{
	switch (c->life) {
	case ORCHESTRATED_RUNS: return now ? "busy" : "idle";
	case ORCHESTRATED_STOPS: return "stopping";
	case ORCHESTRATED_STOPPED: return "stopped";
	case ORCHESTRATED_CRASHED: return "crashed";
	}
	return "unhealthy";
}

static bool is_capable(const struct orchestrated_agent *c, yyjson_val *wanted)
{
	size_t i, n;
	yyjson_val *v;

	if (!wanted)
		return true;
	yyjson_arr_foreach(wanted, i, n, v) {
		bool has = false;

		for (uint32_t k = 0; k < c->capabilities.n && !has; k++)
			has = str_eq(c->capabilities.v[k], json_str(v));
		if (!has)
			return false;
	}
	return true;
}

/* currentTask is shown only to agents that the task belongs to. */
static void put_agent(const struct request *q, const struct orchestrated_agent *c,
		      const struct orchestrated_task *now)
{
	json_comma(q->out);
	buf_addc(q->out, '{');
	json_put_str(q->out, "id", c->name);
	if (c->role.n)
		json_put_str(q->out, "role", c->role);
	json_put_name(q->out, "status", status_of(c, now));
	json_key(q->out, "capabilities");
	buf_addc(q->out, '[');
	for (uint32_t i = 0; i < c->capabilities.n; i++) {
		json_comma(q->out);
		json_write_str(q->out, c->capabilities.v[i]);
	}
	buf_addc(q->out, ']');
	json_put_str(q->out, "currentTask",
		     now && task_belongs_to(now, q->a->agent) ? now->id : STR_NONE);
	buf_addc(q->out, '}');
}

static struct ruling query_agents(const struct request *q)
{
	yyjson_val *role = json_get(q->payload, "role"), *status = json_get(q->payload, "status");

	begin_success(q, "agents");
	buf_addc(q->out, '[');
	for (uint32_t i = 0; i < q->o->agents.n; i++) {
		const struct orchestrated_agent *c = &q->o->agents.v[i];
		const struct orchestrated_task *now = NULL;

		if (c->life == ORCHESTRATED_RUNS)
			now = current_task(q->o, i);
		if (matches(role, c->role) && matches(status, str_of(status_of(c, now))) &&
		    is_capable(c, json_get(q->payload, "capabilities")))
			put_agent(q, c, now);
	}
	buf_addc(q->out, ']');
	return end_success(q);
}

static struct ruling query_tasks(const struct request *q)
{
	yyjson_val *status = json_get(q->payload, "status");
	yyjson_val *role = json_get(q->payload, "requiredRole");
	const struct orchestrated_agent *c = &q->o->agents.v[q->a->agent];
	int64_t left = INT64_MAX;

	json_int(json_get(q->payload, "limit"), &left);
	begin_success(q, "tasks");
	buf_addc(q->out, '[');
	for (uint32_t i = 0; i < c->tasks.n && left > 0; i++) {
		const struct orchestrated_task *d = &q->o->tasks.v[c->tasks.v[i]];

		if (!task_belongs_to(d, q->a->agent) || /* was reassigned */
		    !matches(status, str_of(task_state_name(d->state))) || !matches(role, d->role))
			continue;
		json_comma(q->out);
		write_task(d, false, q->out);
		left--;
	}
	buf_addc(q->out, ']');
	return end_success(q);
}

static struct ruling get_task(const struct request *q)
{
	struct str id = json_get_str(q->payload, "taskId");
	bool another;
	const struct orchestrated_task *d = task_named_by(q->o, q->a->agent, id, &another);

	if (another)
		return refuse_task(q, CODE_UNAUTHORIZED, "Task belongs to another agent", id);
	if (!d)
		return refuse_task(q, CODE_NOT_FOUND, "Task not found", id);
	begin_success(q, "task");
	write_task(d, true, q->out);
	return end_success(q);
}

/* The item that the message raised, or NONE. */
static uint32_t item_of_message(const struct model *m, uint32_t message)
{
	for (uint32_t i = m->items.n; i-- > 0;) {
		const struct item *item = &m->items.v[i];
		const struct item_step *last = &item->steps[item->n - 1];

		if (last->message == message && last->what == STEP_RAISED)
			return i;
	}
	return NONE;
}

static struct ruling ask_person(const struct request *q)
{
	struct waiting w = { .item = item_of_message(q->m, q->a->message), .id_n = q->id.n };

	/* a repeated question, or submitted tasks raise no items here */
	if (w.item == NONE)
		return refuse(q, CODE_INTERNAL_ERROR, STR("Nobody is available to ask"), NULL);
	w.deadline_ms = item_deadline(q->m, &q->m->items.v[w.item], q->m->records.n);
	for (uint32_t i = 0; i < q->a->msg->events.n; i++)
		if (q->a->msg->events.v[i].type == EV_REQUEST)
			w.deadline_ms = q->a->msg->events.v[i].deadline_ms;
	w.id = str_dup(q->id);
	vec_push(&q->o->agents.v[q->a->agent].waiting, w);
	return (struct ruling){ RULING_PERSON, CODE_NONE, NULL };
}

static const struct {
	const char *type;
	struct ruling (*answer)(const struct request *q);
} requests[] = {
	{ "request:query-agents", query_agents }, { "request:query-tasks", query_tasks },
	{ "request:get-task", get_task },         { "request:submit-task", ask_person },
	{ "request:ask-user", ask_person },
};

/* ---- malformed requests ---- */

/* {"role":"invalid-role"}: the invalid value, if it is short. */
static void put_invalid_value(yyjson_val *root, struct str pointer, struct buf *out)
{
	const struct str inside = STR("/payload/");
	yyjson_val *v = yyjson_ptr_getn(root, pointer.p, pointer.n);
	struct str name = str_from(pointer, str_starts(pointer, inside) ? inside.n : 1);

	if (!v || !name.n || yyjson_is_ctn(v) || yyjson_get_len(v) > ECHO_MAX_BYTES)
		return;
	buf_addc(out, '{');
	json_write_str(out, name);
	buf_addc(out, ':');
	json_write(out, v);
	buf_addc(out, '}');
}

/* Reports the first error. */
static struct ruling refuse_malformed(const struct request *q, const struct diags *diags)
{
	struct buf text = { 0 }, details = { 0 };
	struct ruling result;

	for (uint32_t i = 0; i < diags->list.n; i++) {
		const struct diag *d = &diags->list.v[i];

		if (d->severity != SEVERITY_ERROR)
			continue;
		buf_add_str(&text, d->pointer);
		buf_adds(&text, ": ");
		buf_add_str(&text, d->text);
		put_invalid_value(q->root, d->pointer, &details);
		break;
	}
	result = refuse(q, CODE_INVALID_REQUEST, buf_str(&text), &details);
	buf_release(&text);
	return result;
}

static struct ruling refuse_type(const struct request *q, yyjson_val *type)
{
	struct buf details = { 0 };

	put_invalid_value(q->root, STR("/type"), &details);
	return refuse(q, CODE_INVALID_MESSAGE_TYPE,
		      yyjson_is_str(type) && str_starts(json_str(type), STR("request:"))
			      ? STR("No such request")
			      : STR("No such message type"),
		      &details);
}

static struct ruling refuse_rate(const struct request *q)
{
	struct buf details = { 0 };
	char text[100];

	snprintf(text, sizeof(text), "More than %d messages per second; wait, then retry",
		 ORCHESTRATOR_RATE_MAX);
	buf_printf(&details, "{\"limit\":%d,\"windowMs\":%d}", ORCHESTRATOR_RATE_MAX,
		   ORCHESTRATOR_WINDOW_MS);
	return refuse(q, CODE_UNAUTHORIZED, str_of(text), &details);
}

static struct ruling answer(const struct request *q, bool beyond)
{
	const struct diags *diags = &q->o->message.diags;
	yyjson_val *type = json_get(q->root, "type");

	if (beyond)
		return refuse_rate(q);
	if (json_last_wins(q->root))
		return refuse(
			q, CODE_INVALID_REQUEST,
			STR("Duplicate name in one object; readers disagree on which one counts"),
			NULL);
	for (size_t i = 0; i < sizeof(requests) / sizeof(requests[0]); i++) {
		if (!str_is(json_str(type), requests[i].type))
			continue;
		if (diags->count[SEVERITY_ERROR])
			return refuse_malformed(q, diags);
		if (other_agent_named(q->o, q->a->agent, json_get_str(q->root, "agentId")) != NONE)
			return refuse(q, CODE_UNAUTHORIZED,
				      STR("The agentId belongs to another agent; leave it out"),
				      NULL);
		return requests[i].answer(q);
	}
	return refuse_type(q, type);
}

/* Messages of unknown type are answered like requests; events and the orchestrator's own types are
 * not. */
static bool wants_answer(struct str kind)
{
	return !str_starts(kind, STR("event:")) && !is_from_orchestrator(kind) &&
	       !str_is(kind, "unknown");
}

/* A question that waits for a person is asked again: its deadline is that of the model. */
static void ask_again(const struct request *q)
{
	struct orchestrated_agent *c = &q->o->agents.v[q->a->agent];

	for (uint32_t i = 0; i < c->waiting.n; i++) {
		struct waiting *w = &c->waiting.v[i];

		if (str_eq(str_make(w->id, w->id_n), q->id))
			w->deadline_ms = item_deadline(q->m, &q->m->items.v[w->item],
						       q->m->records.n);
	}
}

struct ruling orchestrator_take(struct orchestrator *o, const struct model *m,
				const struct incoming *a, struct buf *out)
{
	struct request q = { .o = o, .m = m, .a = a, .out = out };
	struct ruling nothing = { RULING_NOTHING, CODE_NONE, NULL };
	struct orchestrated_agent *c = &o->agents.v[a->agent];
	bool beyond;

	if (a->msg->dialect != DIALECT_ORCHESTRATOR)
		return nothing;
	beyond = !rate_admits(c, a->now_ms);
	orchestrator_note(o, a->agent, false, a->msg, a->bytes);
	if (!wants_answer(a->msg->kind))
		return nothing;
	if (beyond && !rate_admits_refusal(c, a->now_ms))
		return nothing; /* not journalled either: a flood must not fill the disk */
	dialect_decode(&o->decoder, a->bytes, NULL, &o->message);
	if (o->message.dialect != DIALECT_ORCHESTRATOR)
		BUG("bytes do not belong to the message");
	json_read(&o->reader, a->bytes, &q.root);
	q.payload = json_get(q.root, "payload");
	q.id = answerable_id(q.root, &nothing.why);
	if (nothing.why)
		return nothing;
	if (!add_id(c, q.id)) {
		ask_again(&q);
		nothing.why = "its id is that of an earlier request, which has its own response";
		return nothing;
	}
	return answer(&q, beyond);
}
