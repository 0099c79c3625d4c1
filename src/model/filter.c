/* Evaluates the terms of a filter.
 *
 * A message, item, task or agent is first converted to a subject: the properties that terms test. A
 * key is a row of the table at the end: how its value is parsed and matched. A property that a
 * subject lacks does not match (so its negation does): a message is not open, a task is open until
 * its state is final but never due, no is: value matches an agent. Values match the whole property,
 * case-insensitively, * is a wildcard. Plain words are tested last: they may need the text.
 *
 *   kind      of a message or item; "task"; an agent's type
 *   agent     sender or receiver; who raised or decided the item; who has or had the task
 *   session   that it belongs to: model/session_of.h, by its name or the file's that names it
 *   source    the file, or the file or folder that was given, by its path or a tail of it
 *   task, id  of a message: it has a step of a task, review or item of that name. A task has the
 *             name of the task that it revises, too. id is also the message's own, which is stored
 *             as a hash only: exact match, no wildcard
 *   severity  of an item; of a message's worst diagnostic
 *   trust     where it came from: of an item as item_trust, of a task its newest message
 *   after     from that time on, an item by its newest text, a task by its newest message
 *   before    earlier than that time, a task by its first message
 *
 * A filter may be limited to a task, an agent or a session: that is one more term, which compares
 * numbers instead of names.
 *
 * Which messages have a step of a task is recorded in the task, not in the message: such terms
 * cache a bitmap of messages and update it incrementally. */
#include "model/filter_terms.h"
#include "model/rules.h"

#include <stdlib.h>

static void bitmap_release(struct message_bitmap *c)
{
	vec_release(&c->named);
	vec_release(&c->bits);
	vec_release(&c->agents);
}

void filter_free(struct filter *f)
{
	if (!f)
		return;
	for (uint32_t i = 0; i < f->terms.n; i++)
		if (f->terms.v[i].bitmap)
			bitmap_release(f->terms.v[i].bitmap);
	if (f->scope.bitmap)
		bitmap_release(f->scope.bitmap);
	filter_sources_release(f);
	vec_release(&f->terms);
	vec_release(&f->words);
	arena_release(&f->arena);
	free(f);
}

void filter_limit(struct filter *f, enum filter_scope scope, uint32_t number)
{
	f->scope = (struct term){ .key = KEY_SCOPE, .scope = scope, .number = number };
	if (scope == SCOPE_TASK)
		f->scope.bitmap = arena_zalloc(&f->arena, sizeof(*f->scope.bitmap));
}

/* By its own id, or by that of the task it revises. */
static bool task_matches(const struct term *t, const struct model *m, uint32_t task)
{
	uint32_t root = task == NONE ? NONE : m->tasks.v[task].root;

	if (task == NONE)
		return false;
	if (t->key == KEY_SCOPE)
		return root == m->tasks.v[t->number].root;
	return value_matches(t, model_str(m, m->tasks.v[task].id)) ||
	       (root != task && t->key == KEY_TASK &&
		value_matches(t, model_str(m, m->tasks.v[root].id)));
}

/* By its id, or by its whole name: "review-7/find-2". */
static bool item_id_matches(const struct term *t, const struct model *m, const struct item *item)
{
	struct buf name = { 0 };
	bool match = value_matches(t, model_str(m, item->id));

	if (!match) {
		item_name(m, item, &name);
		match = value_matches(t, buf_str(&name));
		buf_release(&name);
	}
	return match;
}

/* Adds the new entities that match the term. */
static void bitmap_find_entities(const struct term *t, const struct model *m)
{
	struct message_bitmap *c = t->bitmap;
	bool by_task = t->key != KEY_ID;

	for (uint32_t *i = &c->tasks_seen; *i < m->tasks.n; (*i)++)
		if (task_matches(t, m, *i))
			vec_push(&c->named, (struct entity){ ENTITY_TASK, *i });
	for (uint32_t *i = &c->items_seen; *i < m->items.n; (*i)++)
		if (by_task ? task_matches(t, m, item_task(m, &m->items.v[*i]))
			    : item_id_matches(t, m, &m->items.v[*i]))
			vec_push(&c->named, (struct entity){ ENTITY_ITEM, *i });
	for (uint32_t *i = &c->reviews_seen; *i < m->reviews.n; (*i)++)
		if (by_task ? task_matches(t, m, m->reviews.v[*i].task)
			    : value_matches(t, model_str(m, m->reviews.v[*i].id)))
			vec_push(&c->named, (struct entity){ ENTITY_REVIEW, *i });
}

static uint32_t step_count(const struct model *m, struct entity e)
{
	if (e.type == ENTITY_ITEM)
		return m->items.v[e.number].n;
	return e.type == ENTITY_TASK ? m->tasks.v[e.number].steps.n
				     : m->reviews.v[e.number].steps.n;
}

static uint32_t step_message(const struct model *m, struct entity e, uint32_t i)
{
	if (e.type == ENTITY_ITEM)
		return m->items.v[e.number].steps[i].message;
	return e.type == ENTITY_TASK ? m->tasks.v[e.number].steps.v[i].message
				     : m->reviews.v[e.number].steps.v[i].message;
}

static void bitmap_note_agent(struct message_bitmap *c, uint32_t agent)
{
	if (agent == NONE)
		return;
	while (c->agents.n <= agent)
		vec_push(&c->agents, false);
	c->agents.v[agent] = true;
}

static void bitmap_add(const struct term *t, const struct model *m, uint32_t message)
{
	const struct route *r = message_route(m, message);

	t->bitmap->bits.v[message / 64] |= UINT64_C(1) << message % 64;
	if (t->key != KEY_SCOPE)
		return;
	bitmap_note_agent(t->bitmap, r->from);
	bitmap_note_agent(t->bitmap, r->to);
}

/* Steps are in the order of messages: the new ones are at the end. */
static void bitmap_update(const struct term *t, const struct model *m)
{
	struct message_bitmap *c = t->bitmap;

	bitmap_find_entities(t, m);
	while (c->bits.n <= m->records.n / 64)
		vec_push(&c->bits, 0);
	for (uint32_t i = 0; i < c->named.n; i++) {
		struct entity e = c->named.v[i];

		for (uint32_t k = step_count(m, e); k-- > 0;) {
			uint32_t message = step_message(m, e, k);

			if (message < c->messages_seen)
				break;
			bitmap_add(t, m, message);
		}
	}
	c->messages_seen = m->records.n;
}

/* Makes the bitmap cover the first n messages. */
static void bitmap_reach(const struct term *t, const struct model *m, uint32_t n)
{
	struct message_bitmap *c = t->bitmap;

	if (c->m != m || c->messages_seen > m->records.n) {
		bitmap_release(c);
		*c = (struct message_bitmap){ .m = m };
	}
	if (c->messages_seen < n && c->messages_seen < m->records.n)
		bitmap_update(t, m);
}

static bool bitmap_has(const struct term *t, const struct subject *s)
{
	struct message_bitmap *c = t->bitmap;

	bitmap_reach(t, s->m, s->is.number + 1);
	return c->bits.v[s->is.number / 64] >> s->is.number % 64 & 1;
}

static bool match_kind(const struct term *t, const struct subject *s)
{
	return value_matches(t, s->kind);
}

static bool match_dialect(const struct term *t, const struct subject *s)
{
	return value_matches(t, str_of(dialect_rules[route_of(s->m, s->last)->dialect]->name));
}

static bool match_agent(const struct term *t, const struct subject *s)
{
	const struct task *task = s->is.type == ENTITY_TASK ? &s->m->tasks.v[s->is.number] : NULL;

	for (unsigned i = 0; i < 3; i++)
		if (value_matches(t, agent_name(s->m, s->agents[i])))
			return true;
	for (uint32_t i = 0; task && i < task->steps.n && task->steps.v[i].message < s->k; i++)
		if (value_matches(t, agent_name(s->m, task->steps.v[i].agent)))
			return true;
	return false;
}

static bool match_task(const struct term *t, const struct subject *s)
{
	return s->is.type == ENTITY_MESSAGE ? bitmap_has(t, s) : task_matches(t, s->m, s->task);
}

static bool is_of_agent(const struct subject *s, uint32_t agent)
{
	const struct task *task = s->is.type == ENTITY_TASK ? &s->m->tasks.v[s->is.number] : NULL;

	for (unsigned i = 0; i < 3; i++)
		if (s->agents[i] == agent)
			return true;
	for (uint32_t i = 0; task && i < task->steps.n && task->steps.v[i].message < s->k; i++)
		if (task->steps.v[i].agent == agent)
			return true;
	return false;
}

/* An agent belongs to the tasks about which it sent or received a message. */
static bool match_scope(const struct term *t, const struct subject *s)
{
	switch (t->scope) {
	case SCOPE_NONE: break;
	case SCOPE_AGENT: return is_of_agent(s, t->number);
	case SCOPE_SESSION: return subject_session(s) == t->number;
	case SCOPE_TASK:
		if (s->is.type != ENTITY_AGENT)
			return match_task(t, s);
		bitmap_reach(t, s->m, s->k);
		return s->is.number < t->bitmap->agents.n && t->bitmap->agents.v[s->is.number];
	}
	return true;
}

static bool match_id(const struct term *t, const struct subject *s)
{
	switch (s->is.type) {
	case ENTITY_MESSAGE:
		return message_with_id(s->m, s->session, t->value) == s->is.number ||
		       bitmap_has(t, s);
	case ENTITY_ITEM: return item_id_matches(t, s->m, &s->m->items.v[s->is.number]);
	case ENTITY_TASK: return task_matches(t, s->m, s->is.number);
	case ENTITY_AGENT: return value_matches(t, agent_name(s->m, s->is.number));
	case ENTITY_REVIEW: break;
	}
	return false;
}

static bool match_is(const struct term *t, const struct subject *s)
{
	return t->wanted & s->properties;
}

static bool match_verdict(const struct term *t, const struct subject *s)
{
	return s->is.type == ENTITY_ITEM && t->wanted & 1u << s->item_state->verdict;
}

static enum trust subject_trust(const struct subject *s)
{
	switch (s->is.type) {
	case ENTITY_ITEM: return item_trust(s->m, s->item_state);
	case ENTITY_AGENT: return agent_trust(s->m, s->is.number, s->k);
	case ENTITY_MESSAGE:
	case ENTITY_TASK:
	case ENTITY_REVIEW: break;
	}
	return message_trust(s->m, (uint32_t)(s->last - s->m->records.v));
}

static bool match_trust(const struct term *t, const struct subject *s)
{
	return t->wanted & 1u << subject_trust(s);
}

static bool match_after(const struct term *t, const struct subject *s)
{
	return s->last->time_ms != TIME_NONE && s->last->time_ms >= t->time_ms;
}

static bool match_before(const struct term *t, const struct subject *s)
{
	return s->first->time_ms != TIME_NONE && s->first->time_ms < t->time_ms;
}

static bool word_in_names(const struct term *t, const struct subject *s)
{
	struct buf name = { 0 };
	bool found = str_contains_nocase(s->kind, t->value) ||
		     str_contains_nocase(s->state, t->value) ||
		     str_contains_nocase(s->grade, t->value);

	for (unsigned i = 0; !found && i < 3; i++)
		found = str_contains_nocase(agent_name(s->m, s->agents[i]), t->value);
	if (!found && s->task != NONE)
		found = str_contains_nocase(model_str(s->m, s->m->tasks.v[s->task].id), t->value);
	if (found || s->is.type != ENTITY_ITEM)
		return found;
	item_name(s->m, &s->m->items.v[s->is.number], &name);
	found = str_contains_nocase(buf_str(&name), t->value);
	buf_release(&name);
	return found;
}

static bool subject_passes(const struct filter *f, const struct subject *s)
{
	struct str text = STR_NONE;
	bool fetched = false;

	if (!match_scope(&f->scope, s))
		return false;
	for (uint32_t i = 0; i < f->terms.n; i++) {
		const struct term *t = &f->terms.v[i];

		if (filter_keys[t->key].match(t, s) == t->negate)
			return false;
	}
	for (uint32_t i = 0; i < f->words.n; i++) {
		const struct term *t = &f->words.v[i];
		bool found = word_in_names(t, s);

		if (!found && s->text) {
			if (!fetched)
				text = s->text(s->ctx, s->is.number);
			fetched = true;
			found = str_contains_nocase(text, t->value);
		}
		if (found == t->negate)
			return false;
	}
	return true;
}

_Static_assert((int)RECORD_HOLDER < (int)PROPERTY_OPEN, "they share a word");

static unsigned record_properties(const struct model *m, const struct record *r)
{
	const struct route *route = route_of(m, r);

	return route->flags | (r->errors ? PROPERTY_ERROR : 0u) |
	       (r->warnings ? PROPERTY_WARNING : 0u) | (r->notes ? PROPERTY_NOTE : 0u) |
	       (route->dialect == DIALECT_TEXT ? PROPERTY_TEXT : 0u) |
	       (route->dialect == DIALECT_UNKNOWN ? PROPERTY_UNKNOWN : 0u);
}

static unsigned severity_property(unsigned severity)
{
	return (unsigned)PROPERTY_SEVERITY << severity;
}

static unsigned worst_property(const struct record *r)
{
	if (r->errors)
		return severity_property(SEVERITY_DIAG);
	if (r->warnings)
		return severity_property(SEVERITY_DIAG + 1);
	return r->notes ? severity_property(SEVERITY_DIAG + 2) : 0;
}

static unsigned item_properties(const struct item_state *state)
{
	if (state->open)
		return PROPERTY_OPEN | (state->deadline_ms != TIME_NONE ? PROPERTY_DUE : 0u) |
		       (state->snoozed ? PROPERTY_SNOOZED : 0u);
	if (state->verdict == VERDICT_EXPIRED)
		return PROPERTY_EXPIRED;
	if (state->verdict == VERDICT_NONE || state->verdict == VERDICT_SUPERSEDED ||
	    state->verdict == VERDICT_WITHDRAWN)
		return 0;
	return PROPERTY_DECIDED;
}

bool filter_message(const struct filter *f, const struct model *m, uint32_t message,
		    filter_text_fn text, void *ctx)
{
	const struct record *r;
	const struct route *route;

	if (!f)
		return true;
	r = &m->records.v[message];
	route = route_of(m, r);
	return subject_passes(f, &(struct subject){
		.f = f, .m = m, .is = { ENTITY_MESSAGE, message }, .first = r, .last = r,
		.session = route->session, .task = NONE, .agents = { route->from, route->to, NONE },
		.kind = model_kind(m, r), .properties = record_properties(m, r) | worst_property(r),
		.text = text, .ctx = ctx });
}

bool filter_item(const struct filter *f, const struct model *m, uint32_t item,
		 const struct item_state *state, filter_text_fn text, void *ctx)
{
	const struct item *it;
	const struct record *r;

	if (!f)
		return true;
	it = &m->items.v[item];
	r = &m->records.v[state->message];
	return subject_passes(f, &(struct subject){
		.f = f, .m = m, .is = { ENTITY_ITEM, item }, .first = r, .last = r,
		.item_state = state, .session = item_session(m, it), .task = item_task(m, it),
		.agents = { message_route(m, state->opened)->from, route_of(m, r)->from,
			    decided_by(m, state) },
		.kind = str_of(item_kind_name(it->kind)),
		.state = state->verdict == VERDICT_NONE ? STR_NONE
							: str_of(verdict_name(state->verdict)),
		.grade = str_of(grade_name(state->grade)),
		.properties = record_properties(m, r) | item_properties(state) |
			      (state->grade == GRADE_NONE ? 0 : severity_property(state->grade)),
		.text = text, .ctx = ctx });
}

bool filter_task(const struct filter *f, const struct model *m, uint32_t task, uint32_t k)
{
	const struct task *t;
	struct task_state_at at;

	if (!f)
		return true;
	t = &m->tasks.v[task];
	if (!task_at(m, t, k, &at))
		return false;
	return subject_passes(f, &(struct subject){
		.f = f, .m = m, .is = { ENTITY_TASK, task }, .k = k,
		.first = &m->records.v[at.first], .last = &m->records.v[at.last],
		.session = t->session, .task = task, .agents = { at.agent, NONE, NONE },
		.kind = STR("task"), .state = str_of(task_state_name(at.state)),
		.properties = record_properties(m, &m->records.v[at.last]) |
			      (task_state_is_final(at.state) ? PROPERTY_DECIDED : PROPERTY_OPEN) });
}

bool filter_agent(const struct filter *f, const struct model *m, uint32_t agent, uint32_t k)
{
	const struct agent *a;
	const struct record *r;

	if (!f)
		return true;
	a = &m->agents.v[agent];
	r = &m->records.v[a->first];
	return subject_passes(f, &(struct subject){
		.f = f, .m = m, .is = { ENTITY_AGENT, agent }, .k = k, .first = r, .last = r,
		.session = a->session, .task = NONE, .agents = { agent, NONE, NONE },
		.kind = model_str(m, a->type) });
}

bool filter_asks_snoozed(const struct filter *f)
{
	for (uint32_t i = 0; f && i < f->terms.n; i++)
		if (f->terms.v[i].key == KEY_IS && f->terms.v[i].wanted & PROPERTY_SNOOZED)
			return true;
	return false;
}

const struct property_row filter_properties[PROPERTY_COUNT] = {
	{ "open", PROPERTY_OPEN },
	{ "decided", PROPERTY_DECIDED },
	{ "expired", PROPERTY_EXPIRED },
	{ "due", PROPERTY_DUE },
	{ "snoozed", PROPERTY_SNOOZED },
	{ "error", PROPERTY_ERROR },
	{ "warning", PROPERTY_WARNING },
	{ "note", PROPERTY_NOTE },
	{ "repaired", RECORD_REPAIRED },
	{ "ambiguous", RECORD_AMBIGUOUS },
	{ "truncated", RECORD_TRUNCATED },
	{ "oversize", RECORD_OVERSIZE },
	{ "binary", RECORD_BINARY },
	{ "repeated", RECORD_REPEATED },
	{ "reply", RECORD_REPLY },
	{ "not-its-role", RECORD_NOT_ITS_ROLE },
	{ "text", PROPERTY_TEXT },
	{ "unknown", PROPERTY_UNKNOWN },
};

const struct key_row filter_keys[KEY_COUNT] = {
	[KEY_KIND] = { "kind", NULL, match_kind },
	[KEY_DIALECT] = { "dialect", read_dialect, match_dialect },
	[KEY_AGENT] = { "agent", NULL, match_agent },
	[KEY_TASK] = { "task", read_name, match_task },
	[KEY_SESSION] = { "session", NULL, match_session },
	[KEY_SOURCE] = { "source", read_source, match_source },
	[KEY_ID] = { "id", read_name, match_id },
	[KEY_SEVERITY] = { "severity", read_severity, match_is },
	[KEY_VERDICT] = { "verdict", read_verdict, match_verdict },
	[KEY_IS] = { "is", read_is, match_is },
	[KEY_TRUST] = { "trust", read_trust, match_trust },
	[KEY_AFTER] = { "after", read_time, match_after },
	[KEY_BEFORE] = { "before", read_time, match_before },
};
