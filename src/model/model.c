/* model_apply: resolves a message's session and agents, appends its record, detects repeated
 * messages and dispatches its events to the dialect's rules. Also interning of names. */
#include "event/diag_text.h"
#include "model/rules.h"

#include <stdarg.h>

void model_init(struct model *m)
{
	model_init_in(m, heap_new(HEAP_USUAL));
}

void model_init_in(struct model *m, struct heap *heap)
{
	memset(m, 0, sizeof(*m));
	m->heap = heap;
	m->believed = BELIEVED_NONE;
	m->limit_ms = m->beyond_ms = INT64_MAX;
	m->raised.item = NONE;
	m->approve_from = 0.90;
	m->human_from = 0.70;
}

void model_release(struct model *m)
{
	diag_store_release(&m->diag_store);
	heap_free(m->heap);
	m->heap = NULL;
}

static bool is_name(const struct model *m, uint32_t number, struct str s)
{
	return str_eq(model_str(m, number), s);
}

uint32_t name_cached(const struct model *m, uint64_t h)
{
	struct map_slot cached = m->name_cache[h % MODEL_CACHE_NAMES];

	return cached.high == (uint32_t)(h >> 32) && cached.value < m->strings.n ? cached.value
										 : NONE;
}

static void cache_name(struct model *m, uint64_t h, uint32_t number)
{
	m->name_cache[h % MODEL_CACHE_NAMES] = (struct map_slot){ (uint32_t)(h >> 32), number };
}

uint32_t name_lookup(const struct model *m, struct str s, uint64_t h)
{
	uint32_t cached = name_cached(m, h);

	if (cached != NONE && is_name(m, cached, s))
		return cached;
	for (uint32_t it = 0, v; map_next(&m->string_map, h, &it, &v);)
		if (is_name(m, v, s))
			return v;
	return NONE;
}

uint32_t model_known(const struct model *m, struct str s)
{
	return name_lookup(m, s, str_hash(s));
}

uint32_t name_intern(struct model *m, struct str s, uint64_t h)
{
	uint32_t known = name_lookup(m, s, h);

	if (known == NONE) {
		struct str copy = heap_str(m->heap, s);

		heap_push(m->heap, &m->strings,
			  (struct interned){ .p = copy.p, .n = (uint32_t)copy.n & INT32_MAX,
					     .last = NONE });
		known = m->strings.n - 1;
		map_put(m->heap, &m->string_map, h, known);
	}
	cache_name(m, h, known);
	return known;
}

uint32_t model_intern(struct model *m, struct str s)
{
	return name_intern(m, s, str_hash(s));
}

struct str model_kind(const struct model *m, const struct record *r)
{
	return m->kinds[r->kind];
}

struct str session_name(const struct model *m, uint32_t session)
{
	return model_str(m, m->sessions.v[session].name);
}

struct str agent_name(const struct model *m, uint32_t agent)
{
	return agent == NONE ? STR_NONE : model_str(m, m->agents.v[agent].name);
}

/* Interns a group; usually it is the same as the last one. */
static uint32_t group_intern(struct model *m, struct str group)
{
	if (m->group_before >= m->strings.n || !is_name(m, m->group_before, group))
		m->group_before = model_intern(m, group);
	return m->group_before;
}

static bool is_cached(const struct cached_number *r, uint32_t of, uint32_t name)
{
	return usually(r->number && r->of == of && r->name == name);
}

static uint32_t session_lookup(const struct model *m, uint32_t group, uint32_t name, uint64_t h)
{
	const struct cached_number *cached = &m->session_cache[h % MODEL_CACHE];

	if (is_cached(cached, group, name))
		return cached->number - 1;
	for (uint32_t it = 0, v; map_next(&m->session_map, h, &it, &v);)
		if (m->sessions.v[v].group == group && m->sessions.v[v].name == name)
			return v;
	return NONE;
}

uint32_t session_known(const struct model *m, const struct name_key *key)
{
	uint32_t group = m->group_before, name = key->hash ? key->number - 1 : group;

	return name == NONE ? NONE : session_lookup(m, group, name, hash_mix(group, name));
}

static uint32_t session_add(struct model *m, uint32_t group, uint32_t name, uint64_t h,
			    uint32_t message)
{
	struct session_rules *rules = heap_zalloc(m->heap, sizeof(*rules));

	rules->sequence = -1;
	heap_push(m->heap, &m->sessions, (struct session){ .name = name, .group = group,
							   .first = message, .loop = NONE,
							   .rules = rules });
	map_put(m->heap, &m->session_map, h, m->sessions.n - 1);
	return m->sessions.n - 1;
}

uint32_t model_session(struct model *m, struct str group, struct str id, const struct name_key *key,
		       uint32_t message)
{
	uint32_t g = group_intern(m, group), name = id.n ? name_intern_key(m, id, key) : g, found;
	uint64_t h = hash_mix(g, name);
	struct cached_number *cached = &m->session_cache[h % MODEL_CACHE];

	if (is_cached(cached, g, name))
		return cached->number - 1;
	found = session_lookup(m, g, name, h);
	if (found == NONE)
		found = session_add(m, g, name, h, message);
	*cached = (struct cached_number){ g, name, found + 1 };
	return found;
}

static uint32_t agent_lookup(const struct model *m, uint32_t session, uint32_t name, uint64_t h)
{
	const struct cached_number *cached = &m->agent_cache[h % MODEL_CACHE];

	if (is_cached(cached, session, name))
		return cached->number - 1;
	for (uint32_t it = 0, v; map_next(&m->agent_map, h, &it, &v);)
		if (m->agents.v[v].session == session && m->agents.v[v].name == name)
			return v;
	return NONE;
}

static uint32_t agent_add(struct model *m, uint32_t session, const struct actor *actor,
			  uint32_t name, uint64_t h, uint32_t message)
{
	heap_push(m->heap, &m->agents, (struct agent){ .name = name, .session = session,
						       .first = message,
						       .spoke = { NONE, NONE, NONE, NONE },
						       .claimed_human = NONE,
						       .type = model_intern(m, actor->type),
						       .human = actor->human });
	map_put(m->heap, &m->agent_map, h, m->agents.n - 1);
	return m->agents.n - 1;
}

static uint32_t role_name(struct model *m, const struct actor *actor)
{
	if (!m->known_role_names[actor->known_role])
		m->known_role_names[actor->known_role] = model_intern(m, actor->id) + 1;
	return m->known_role_names[actor->known_role] - 1;
}

uint32_t model_agent(struct model *m, uint32_t session, const struct actor *actor,
		     const struct name_key *key, uint32_t message)
{
	uint32_t found, name = actor->known_role ? role_name(m, actor)
						 : name_intern_key(m, actor->id, key);
	uint64_t h = hash_mix(session, name);
	struct cached_number *cached = &m->agent_cache[h % MODEL_CACHE];

	if (name == NONE)
		return NONE;
	if (is_cached(cached, session, name))
		return cached->number - 1;
	found = agent_lookup(m, session, name, h);
	if (found == NONE)
		found = agent_add(m, session, actor, name, h, message);
	*cached = (struct cached_number){ session, name, found + 1 };
	return found;
}

static __attribute__((format(printf, 7, 0))) void
report_on(struct apply_ctx *a, enum severity s, const char *rule, const char *head, const char *at,
	  uint32_t index, const char *format, va_list ap)
{
	char pointer[DIAG_STORE_POINTER_MAX], text[DIAG_STORE_TEXT_MAX];
	struct diags *diags = &a->msg->diags;
	va_list again;

	if (!a->m->keeps_no_diags) {
		va_copy(again, ap);
		diag_store_vadd(a->m, a->message, s, rule, head, at, index, format, again);
		va_end(again);
	}
	if (diag_count_only(diags, s, rule))
		return;
	diag_add_str(diags, s, rule,
		     diag_pointer(pointer, sizeof(pointer), str_of(head), str_of(at), index),
		     diag_format(text, sizeof(text), format, ap));
}

void report(struct apply_ctx *a, enum severity s, const char *rule, const char *at, uint32_t index,
	    const char *format, ...)
{
	const char *head = a->msg->inside;
	va_list ap;

	if (a->second)
		return;
	if (a->msg->payload_is_content && strncmp(at, "/payload", 8) == 0) {
		head = "/content";
		at += 8;
	}
	va_start(ap, format);
	report_on(a, s, rule, head, at, index, format, ap);
	va_end(ap);
}

/* Interns a kind; those beyond 255 share the name "other". */
static uint8_t kind_lookup(struct model *m, struct str kind)
{
	for (unsigned i = 0; i < m->kind_count; i++)
		if (str_eq(m->kinds[i], kind))
			return (uint8_t)i;
	if (m->kind_count == 255) {
		m->kinds[255] = heap_str(m->heap, STR("other"));
		return 255;
	}
	m->kinds[m->kind_count] = heap_str(m->heap, kind);
	return (uint8_t)m->kind_count++;
}

/* Cache in front of kind_lookup, hashed by first byte, last byte and length. */
static uint8_t kind_number(struct model *m, struct str kind)
{
	uint8_t *cached = &m->kind_cache[0];

	if (kind.n > 64)
		kind.n = 64;
	if (kind.n)
		cached += ((unsigned char)kind.p[0] + 5 * (unsigned char)kind.p[kind.n - 1] +
			   3 * kind.n) % MODEL_CACHE_KINDS;
	if (*cached >= m->kind_count || !str_eq(m->kinds[*cached], kind))
		*cached = kind_lookup(m, kind);
	return *cached;
}

static uint64_t id_in_session(uint32_t session, uint64_t id)
{
	return hash_mix(id, session);
}

uint32_t message_with_hash(const struct model *m, uint32_t session, uint64_t hash)
{
	return ids_find(&m->ids, id_in_session(session, hash));
}

uint32_t message_with_id(const struct model *m, uint32_t session, struct str id)
{
	return id.n ? message_with_hash(m, session, str_hash(id)) : NONE;
}

/* An agent's message that names one of a person's as received. */
static void note_acknowledgment(struct apply_ctx *a)
{
	const struct rules_ops *ops = dialect_rules[a->msg->dialect];

	if (a->m->replies.n && !a->reply && ops->replied_to)
		reply_acknowledge(a, message_with_id(a->m, a->session, ops->replied_to(a->msg)));
}

static void report_repeat(struct apply_ctx *a, uint32_t first)
{
	const struct id_rules *rule = &dialect_rules[a->msg->dialect]->id;

	report(a, SEVERITY_NOTE, rule->again, rule->at, 0,
	       "the same message as in line %u%s; it changes nothing", message_line(a->m, first),
	       reply_words(a->m, first));
}

/* Idempotence: a message with the id and content of an earlier one is not applied again, nor one
 * without id that its dialect takes for a repetition. */
static bool is_repeat(struct apply_ctx *a, uint64_t id)
{
	struct model *m = a->m;
	struct message *msg = a->msg;
	const struct rules_ops *ops = dialect_rules[msg->dialect];
	const struct id_rules *rule = &ops->id;
	uint32_t first;

	if (!msg->id.n) {
		first = ops->repeated ? ops->repeated(a) : NONE;
		if (first != NONE)
			report_repeat(a, first);
		return first != NONE;
	}
	first = ids_find(&m->ids, id);
	if (first == NONE) {
		ids_add(m->heap, &m->ids, id, msg->content_hash, a->message);
		return false;
	}
	if (ids_same_content(&m->ids, first, msg->content_hash) &&
	    m->records.v[first].time_ms == msg->time_ms) {
		report_repeat(a, first);
		return true;
	}
	report(a, SEVERITY_ERROR, rule->reuse, rule->at, 0, "the id of another message, in line %u%s",
	       message_line(m, first), reply_words(m, first));
	return false;
}

static void note_group(struct apply_ctx *a)
{
	struct model *m = a->m;
	uint32_t group = a->reply ? NONE : m->group_before;

	if (!m->group_runs.n || vec_last(&m->group_runs)->group != group)
		heap_push(m->heap, &m->group_runs,
			  (struct group_run){ a->message, group,
					      model_group_seen(m, group, a->message) });
}

static uint8_t clamp8(unsigned n)
{
	return n > 255 ? 255 : (uint8_t)n;
}

static bool same_route(const struct route *a, const struct route *b)
{
	return memcmp(a, b, sizeof(*a)) == 0;
}

/* Replies are of the sources that they answer. */
static void note_source(struct model *m, const struct route *route)
{
	if (route->flags & RECORD_REPLY)
		return;
	if (!m->first_source)
		m->first_source = route->source + 1u;
	m->several_sources |= m->first_source != route->source + 1u;
}

/* Interns a route. */
static uint32_t route_number(struct model *m, struct route route, uint32_t message)
{
	uint64_t words[2], h; /* all but `to` */
	struct cached_route *cached;
	uint32_t found = NONE;

	memcpy(words, &route, sizeof(words));
	h = hash_mix(words[0] ^ (uint64_t)route.to << 24, words[1]);
	cached = &m->route_cache[h % MODEL_CACHE];
	if (cached->number && same_route(&cached->route, &route))
		return cached->number - 1;
	for (uint32_t it = 0, v; found == NONE && map_next(&m->route_map, h, &it, &v);)
		if (same_route(&m->routes.v[v], &route))
			found = v;
	if (found == NONE) {
		found = m->routes.n;
		heap_push(m->heap, &m->routes, route);
		map_put(m->heap, &m->route_map, h, found);
		trust_note_sender(m, &route, message);
		note_source(m, &route);
	}
	*cached = (struct cached_route){ route, found + 1 };
	return found;
}

void model_add_record(struct model *m, struct record r)
{
	heap_push(m->heap, &m->records, r);
	believe(&m->believed, r.time_ms, m->limit_ms);
	if (r.time_ms > m->limit_ms && r.time_ms < m->beyond_ms)
		m->beyond_ms = r.time_ms;
}

/* Raises what those would have to decide who read the message in the other way. */
static void apply_other(const struct apply_ctx *first, const struct place *place)
{
	struct apply_ctx a = *first;
	const struct rules_ops *ops = dialect_rules[first->msg->other->dialect];
	struct str refused; /* reported for the first reading */

	a.msg = first->msg->other;
	a.second = true;
	trust_attribute(a.msg, place);
	trust_screen(a.msg, place, &refused);
	a.session = model_session(a.m, place->group, a.msg->session, &null_key, a.message);
	if (ops->find_session)
		ops->find_session(&a, place->group);
	a.from = model_agent(a.m, a.session, &a.msg->from, &null_key, a.message);
	a.to = model_agent(a.m, a.session, &a.msg->to, &null_key, a.message);
	if (ops->apply)
		ops->apply(&a);
}

/* Whether it is a log line behind another one of its file, so that but for length and place they are
 * the same to the model. */
static bool continues_log(const struct model *m, const struct message *msg,
			  const struct place *place)
{
	const struct session *session;
	const struct route *last;

	if (msg->dialect != DIALECT_TEXT || place->trust != TRUST_LOG || place->echo ||
	    place->unplaced || msg->time_ms != TIME_NONE || msg->session.n || !m->records.n)
		return false;
	last = &m->routes.v[vec_last(&m->records)->route];
	session = &m->sessions.v[last->session];
	return last->dialect == DIALECT_TEXT && last->trust == TRUST_LOG &&
	       last->source == place->source && last->flags == msg->flags &&
	       session->name == session->group && str_eq(model_str(m, session->group), place->group);
}

static void set_counts(struct record *r, const struct diags *diags)
{
	r->errors = clamp8(diags->count[SEVERITY_ERROR]);
	r->warnings = clamp8(diags->count[SEVERITY_WARNING]);
	r->notes = clamp8(diags->count[SEVERITY_NOTE]);
}

static void note_position(struct model *m, const struct place *place)
{
	positions_add(m->heap, &m->positions, m->records.n - 1, place->source, place->line,
		      place->offset, place->length);
}

static void apply_log_line(struct model *m, const struct message *msg, const struct place *place)
{
	struct record r = *vec_last(&m->records);

	r.length = place->length;
	r.time_ms = TIME_NONE;
	set_counts(&r, &msg->diags);
	model_add_record(m, r);
	note_position(m, place);
}

static void apply_any(struct model *m, struct message *msg, const struct place *place)
{
	struct apply_ctx a = { .m = m, .msg = msg, .message = m->records.n,
			       .glob_budget = 1000000, .trust = place->trust,
			       .reply = place->trust >= TRUST_REPLY };
	const struct rules_ops *ops = dialect_rules[msg->dialect];
	struct record r = { .time_ms = msg->time_ms, .length = place->length };
	struct route route = { .source = place->source, .dialect = (uint8_t)msg->dialect,
			       .trust = (uint8_t)place->trust };
	struct actor claimed = msg->from;
	struct str refused = STR_NONE;
	bool screened, unauthorized, echo = place->echo && !ops->echoes;
	uint64_t id;

	if (a.reply)
		msg->flags |= place->unplaced ? RECORD_REPLY | RECORD_UNPLACED : RECORD_REPLY;
	trust_attribute(msg, place);
	if (a.reply)
		msg->flags &= (uint16_t)~RECORD_NOT_ITS_ROLE; /* people have the authority */
	a.denied = unauthorized = msg->flags & RECORD_NOT_ITS_ROLE;
	screened = trust_screen(msg, place, &refused);
	a.denied |= !screened;
	a.session = model_session(m, place->group, msg->session,
				  message_key(msg, msg->session_key), a.message);
	note_group(&a);
	if (ops->find_session)
		ops->find_session(&a, place->group);
	/* prefetch the bucket of its id while the agents are looked up */
	id = msg->id.n ? id_in_session(a.session, hash_known(msg->id, msg->id_hash)) : 0;
	if (id)
		ids_prefetch(&m->ids, id);
	a.from = model_agent(m, a.session, &msg->from, message_key(msg, msg->from_key), a.message);
	a.to = model_agent(m, a.session, &msg->to, message_key(msg, msg->to_key), a.message);
	if (msg->from.human && a.from != NONE)
		m->agents.v[a.from].human = true;
	route.session = a.session;
	route.from = a.from;
	route.to = a.to;
	route.flags = msg->flags;
	r.route = route_number(m, route, a.message);
	r.kind = kind_number(m, msg->kind);
	r.chain = chain_of(msg);
	model_add_record(m, r);
	note_position(m, place);
	if (a.reply)
		reply_add(&a, place);
	if (place->unplaced)
		report(&a, SEVERITY_NOTE, "gavel/reply-unplaced", "", 0,
		       "answers nothing that is known here; it has no effect");
	if (echo)
		report(&a, SEVERITY_NOTE, "gavel/echo", "", 0,
		       "repeats what was said in the replies; it changes nothing");
	if (!screened)
		trust_report(&a, refused);
	else if (unauthorized)
		report(&a, SEVERITY_NOTE, "gavel/not-its-role", "", 0,
		       "not its role: agents of this type give out, abort or judge no work of others; "
		       "it closes no item");
	if (echo || is_repeat(&a, id)) {
		msg->flags |= RECORD_REPEATED;
	} else if (!place->unplaced) {
		note_acknowledgment(&a);
		if (ops->apply)
			ops->apply(&a);
		if (rarely(msg->other != NULL))
			apply_other(&a, place);
		expire_items(&a);
	}
	if (place->trust == TRUST_AGENT)
		trust_note_claim(&a, &claimed, place->speaker);
	if (route.flags != msg->flags) {
		route.flags = msg->flags;
		m->records.v[a.message].route = route_number(m, route, a.message);
	}
	set_counts(&m->records.v[a.message], &msg->diags);
}

void model_apply(struct model *m, struct message *msg, const struct place *place)
{
	if (continues_log(m, msg, place))
		apply_log_line(m, msg, place);
	else
		apply_any(m, msg, place);
}

const struct rules_ops rules_unknown = { .name = "unknown" };
const struct rules_ops rules_text = { .name = "text" };
