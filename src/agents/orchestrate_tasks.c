/* Tasks that agents may ask for. Kept apart from the model's: that one shows what was said, this
 * one counts only what the sayer was entitled to say. */
#include "agents/orchestrate_internal.h"

static bool is_live(enum task_state s)
{
	return s == TASK_ASSIGNED || s == TASK_RUNNING || s == TASK_RETRYING;
}

/* owner NONE: one that a person let in or gave out. */
static uint64_t duty_hash(struct str id, uint32_t owner)
{
	return hash_mix(str_hash(id), owner);
}

static struct duty *duty_find(const struct orchestrator *o, struct str id, uint32_t owner)
{
	for (uint32_t it = 0, v; map_next(&o->duty_map, duty_hash(id, owner), &it, &v);)
		if (o->duties.v[v].owner == owner && str_eq(o->duties.v[v].id, id))
			return &o->duties.v[v];
	return NULL;
}

static struct duty *duty_add(struct orchestrator *o, struct str id, uint32_t owner, uint32_t lister)
{
	struct duty d = { .id = arena_str(&o->arena, id),
			  .owner = owner,
			  .submitter = NONE,
			  .holder = NONE,
			  .needs = STR("[]"),
			  .state = TASK_QUEUED };

	d.name = d.id; /* until something better is told */
	map_add(&o->duty_map, duty_hash(id, owner), o->duties.n);
	vec_push(&o->crew.v[lister].duties, o->duties.n);
	vec_push(&o->duties, d);
	return vec_last(&o->duties);
}

bool duty_is_of(const struct duty *d, uint32_t agent)
{
	return d->owner == agent || d->submitter == agent || d->holder == agent;
}

const struct duty *duty_for(const struct orchestrator *o, uint32_t agent, struct str id,
			    bool *another)
{
	const struct duty *d = duty_find(o, id, NONE);

	*another = d && !duty_is_of(d, agent);
	if (d)
		return *another ? NULL : d;
	d = duty_find(o, id, agent);
	for (uint32_t i = 0; !d && !*another && i < o->crew.n; i++)
		*another = duty_find(o, id, i) != NULL;
	return d;
}

const struct duty *orchestrator_task(const struct orchestrator *o, struct str id)
{
	return duty_find(o, id, NONE);
}

const struct duty *duty_now(const struct orchestrator *o, uint32_t agent)
{
	const struct crew_member *c = &o->crew.v[agent];

	for (uint32_t i = c->duties.n; i-- > 0;) {
		const struct duty *d = &o->duties.v[c->duties.v[i]];
		bool does = d->owner == agent || d->holder == agent ||
			    (d->holder == NONE && d->submitter == agent);

		if (does && is_live(d->state) && !d->done)
			return d;
	}
	return NULL;
}

/* ---- what is told ---- */

static bool is_own_member(struct str name)
{
	static const char *const own[] = { "id",           "name",   "status", "requiredRole",
					   "dependencies", "result", NULL };

	return value_index(own, name) >= 0;
}

/* Takes the description out of the response that let the task in. */
static void describe(struct orchestrator *o, struct duty *d, yyjson_val *task)
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

/* A response tells of a task for the first time: a person has let it in. What else responses tell
 * is what was asked for, and comes from here. */
static void let_in(struct orchestrator *o, uint32_t agent, struct str id, struct str bytes)
{
	struct json_reader *r = &o->decoder.outer;
	yyjson_val *root, *task;
	struct duty *d;

	if (duty_find(o, id, NONE) || duty_find(o, id, agent) ||
	    json_read(r, bytes, &root) != JSON_OK)
		return;
	task = json_get(json_get(root, "payload"), "task");
	if (!str_eq(json_get_str(task, "id"), id))
		return;
	d = duty_add(o, id, NONE, agent);
	d->submitter = agent;
	describe(o, d, task);
}

/* It may have had it before. */
static void list_once(struct crew_member *c, uint32_t duty)
{
	for (uint32_t i = 0; i < c->duties.n; i++)
		if (c->duties.v[i] == duty)
			return;
	vec_push(&c->duties, duty);
}

static void give(struct orchestrator *o, uint32_t agent, struct str id)
{
	struct duty *d = duty_find(o, id, NONE);

	if (!d)
		d = duty_add(o, id, NONE, agent);
	else
		list_once(&o->crew.v[agent], (uint32_t)(d - o->duties.v));
	d->holder = agent;
	d->state = TASK_ASSIGNED;
	d->done = false;
}

static void cancel(struct orchestrator *o, uint32_t agent, struct str id)
{
	struct duty *d = duty_find(o, id, NONE);

	if (!d)
		d = duty_find(o, id, agent);
	if (d)
		d->state = TASK_CANCELLED;
}

/* An agent says how far it is. */
static void advance(struct orchestrator *o, uint32_t agent, const struct event *e)
{
	struct duty *d = duty_find(o, e->id, NONE);
	struct crew_member *c = &o->crew.v[agent];

	if (d) {
		if (d->holder != NONE ? d->holder != agent : d->submitter != agent)
			return;
	} else {
		d = duty_find(o, e->id, agent);
		if (!d && c->own == ORCHESTRATOR_OWN_MAX)
			return;
		if (!d) {
			c->own++;
			d = duty_add(o, e->id, agent, agent);
		}
	}
	if (task_state_is_final(d->state))
		return;
	d->state = e->state;
	d->done = e->number >= 1;
}

static void forget_waiting(struct crew_member *c, struct str request)
{
	for (uint32_t i = 0; i < c->waiting.n; i++) {
		struct waiting *w = &c->waiting.v[i];

		if (!str_eq(str_make(w->id, w->id_n), request))
			continue;
		free(w->id);
		*w = c->waiting.v[--c->waiting.n];
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
			forget_waiting(&o->crew.v[agent], e->id);
		if (e->type != EV_TASK_STATE || !e->id.n || e->id.n > ORCHESTRATOR_ID_MAX_BYTES)
			continue;
		if (!sent && str_is(msg->kind, "event:progress"))
			advance(o, agent, e);
		else if (sent && str_is(msg->kind, "response:success"))
			let_in(o, agent, e->id, bytes);
		else if (sent && str_is(msg->kind, "notify:task-assigned"))
			give(o, agent, e->id);
		else if (sent && str_is(msg->kind, "notify:task-cancelled"))
			cancel(o, agent, e->id);
	}
}

/* ---- telling it ---- */

void duty_write(const struct duty *d, bool whole, struct buf *out)
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
