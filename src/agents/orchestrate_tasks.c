/* Tasks that agents may query. Kept apart from the model's tasks, which show whatever was said:
 * here only messages of agents that own a task change it. */
#include "agents/orchestrate_internal.h"

/* owner NONE: accepted or assigned by the user. */
static uint64_t task_hash(struct str id, uint32_t owner)
{
	return hash_mix(str_hash(id), owner);
}

static struct orchestrated_task *find_task(const struct orchestrator *o, struct str id,
					   uint32_t owner)
{
	for (uint32_t it = 0, v; map_next(&o->task_map, task_hash(id, owner), &it, &v);)
		if (o->tasks.v[v].owner == owner && str_eq(o->tasks.v[v].id, id))
			return &o->tasks.v[v];
	return NULL;
}

/* agent: whose list it is added to */
static struct orchestrated_task *add_task(struct orchestrator *o, struct str id, uint32_t owner,
					  uint32_t agent)
{
	struct orchestrated_task d = { .id = arena_str(&o->arena, id),
				       .owner = owner,
				       .submitter = NONE,
				       .holder = NONE,
				       .needs = STR("[]"),
				       .state = TASK_QUEUED };

	d.name = d.id; /* unless a description gives one */
	map_add(&o->task_map, task_hash(id, owner), o->tasks.n);
	vec_push(&o->agents.v[agent].tasks, o->tasks.n);
	vec_push(&o->tasks, d);
	return vec_last(&o->tasks);
}

bool task_belongs_to(const struct orchestrated_task *d, uint32_t agent)
{
	return d->owner == agent || d->submitter == agent || d->holder == agent;
}

const struct orchestrated_task *task_named_by(const struct orchestrator *o, uint32_t agent,
					      struct str id, bool *another)
{
	const struct orchestrated_task *d = find_task(o, id, NONE);

	*another = d && !task_belongs_to(d, agent);
	if (d)
		return *another ? NULL : d;
	d = find_task(o, id, agent);
	for (uint32_t i = 0; !d && !*another && i < o->agents.n; i++)
		*another = find_task(o, id, i) != NULL;
	return d;
}

const struct orchestrated_task *orchestrator_task(const struct orchestrator *o, struct str id)
{
	return find_task(o, id, NONE);
}

const struct orchestrated_task *current_task(const struct orchestrator *o, uint32_t agent)
{
	const struct orchestrated_agent *c = &o->agents.v[agent];

	for (uint32_t i = c->tasks.n; i-- > 0;) {
		const struct orchestrated_task *d = &o->tasks.v[c->tasks.v[i]];
		bool does = d->owner == agent || d->holder == agent ||
			    (d->holder == NONE && d->submitter == agent);
		bool active = d->state == TASK_ASSIGNED || d->state == TASK_RUNNING ||
			      d->state == TASK_RETRYING;

		if (does && active && !d->done)
			return d;
	}
	return NULL;
}

/* ---- updates from messages ---- */

static bool is_own_member(struct str name)
{
	static const char *const own[] = { "id",           "name",   "status", "requiredRole",
					   "dependencies", "result", NULL };

	return value_index(own, name) >= 0;
}

/* Copies the description of a task from the response that accepted it. */
static void copy_description(struct orchestrator *o, struct orchestrated_task *d, yyjson_val *task)
{
	struct str name = json_get_str(task, "name"), role = json_get_str(task, "requiredRole");
	struct buf b = { 0 };
	size_t i, n;
	yyjson_val *key, *v;

	if (name.n)
		d->name = arena_str(&o->arena, name);
	if (role.n)
		d->role = arena_str(&o->arena, role);
	if (yyjson_is_arr(json_get(task, "dependencies"))) {
		json_write(&b, json_get(task, "dependencies"));
		d->needs = arena_str(&o->arena, buf_str(&b));
	}
	buf_clear(&b);
	yyjson_obj_foreach(task, i, n, key, v) {
		if (is_own_member(json_str(key)))
			continue;
		buf_addc(&b, ',');
		json_write_str(&b, json_str(key));
		buf_addc(&b, ':');
		json_write(&b, v);
	}
	d->rest = arena_str(&o->arena, buf_str(&b));
	buf_release(&b);
}

/* The first response with a task: the user has accepted it. Later ones answer queries. */
static void accept_task(struct orchestrator *o, uint32_t agent, struct str id, struct str bytes)
{
	struct json_reader *r = &o->decoder.outer;
	yyjson_val *root, *task;
	struct orchestrated_task *d;

	if (find_task(o, id, NONE) || find_task(o, id, agent) ||
	    json_read(r, bytes, &root) != JSON_OK)
		return;
	task = json_get(json_get(root, "payload"), "task");
	if (!str_eq(json_get_str(task, "id"), id))
		return;
	d = add_task(o, id, NONE, agent);
	d->submitter = agent;
	copy_description(o, d, task);
}

static void list_once(struct orchestrated_agent *c, uint32_t task)
{
	for (uint32_t i = 0; i < c->tasks.n; i++)
		if (c->tasks.v[i] == task)
			return;
	vec_push(&c->tasks, task);
}

static void assign_task(struct orchestrator *o, uint32_t agent, struct str id)
{
	struct orchestrated_task *d = find_task(o, id, NONE);

	if (!d)
		d = add_task(o, id, NONE, agent);
	else
		list_once(&o->agents.v[agent], (uint32_t)(d - o->tasks.v));
	d->holder = agent;
	d->state = TASK_ASSIGNED;
	d->done = false;
}

static void cancel_task(struct orchestrator *o, uint32_t agent, struct str id)
{
	struct orchestrated_task *d = find_task(o, id, NONE);

	if (!d)
		d = find_task(o, id, agent);
	if (d)
		d->state = TASK_CANCELLED;
}

/* Ignores progress of agents that may not change the task. */
static void apply_progress(struct orchestrator *o, uint32_t agent, const struct event *e)
{
	struct orchestrated_task *d = find_task(o, e->id, NONE);
	struct orchestrated_agent *c = &o->agents.v[agent];

	if (d) {
		if (d->holder != NONE ? d->holder != agent : d->submitter != agent)
			return;
	} else {
		d = find_task(o, e->id, agent);
		if (!d && c->own == ORCHESTRATOR_OWN_MAX)
			return;
		if (!d) {
			c->own++;
			d = add_task(o, e->id, agent, agent);
		}
	}
	if (task_state_is_final(d->state))
		return;
	d->state = e->state;
	d->done = e->number >= 1;
}

static void forget_waiting(struct orchestrated_agent *c, struct str request)
{
	for (uint32_t i = 0; i < c->waiting.n; i++)
		if (str_eq(str_make(c->waiting.v[i].id, c->waiting.v[i].id_n), request)) {
			waiting_remove(c, i);
			return;
		}
}

void orchestrator_note(struct orchestrator *o, uint32_t agent, bool sent, const struct message *msg,
		       struct str bytes)
{
	if (msg->dialect != DIALECT_ORCHESTRATOR)
		return;
	for (uint32_t i = 0; i < msg->events.n; i++) {
		const struct event *e = &msg->events.v[i];

		if (sent && e->type == EV_RESPONSE)
			forget_waiting(&o->agents.v[agent], e->id);
		if (e->type != EV_TASK_STATE || !e->id.n || e->id.n > ORCHESTRATOR_ID_MAX_BYTES)
			continue;
		if (!sent && str_is(msg->kind, "event:progress"))
			apply_progress(o, agent, e);
		else if (sent && str_is(msg->kind, "response:success"))
			accept_task(o, agent, e->id, bytes);
		else if (sent && str_is(msg->kind, "notify:task-assigned"))
			assign_task(o, agent, e->id);
		else if (sent && str_is(msg->kind, "notify:task-cancelled"))
			cancel_task(o, agent, e->id);
	}
}

void write_task(const struct orchestrated_task *d, bool whole, struct buf *out)
{
	buf_addc(out, '{');
	json_put_str(out, "id", d->id);
	json_put_str(out, "name", d->name);
	json_put_name(out, "status", task_state_name(d->state));
	if (d->role.n)
		json_put_str(out, "requiredRole", d->role);
	json_key(out, "dependencies");
	buf_add_str(out, d->needs);
	if (whole)
		buf_add_str(out, d->rest);
	if (whole && task_state_is_final(d->state)) {
		json_key(out, "result");
		buf_addc(out, '{');
		json_put_bool(out, "success", d->state == TASK_COMPLETED);
		buf_addc(out, '}');
	}
	buf_addc(out, '}');
}
