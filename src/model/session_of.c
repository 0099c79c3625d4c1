/* The sessions that are named in each file and group, noted by route: there are few of these. */
#include "model/session_of.h"

#define SESSION_SEVERAL (NONE - 1)

/* Distinct in the half of the hash that the map keeps. */
static uint64_t key_of(uint32_t number)
{
	return (uint64_t)(number + 1) << 32;
}

static void note_session(struct only_sessions *o, uint32_t number, uint32_t session)
{
	uint32_t at = map_get(&o->map, key_of(number));

	if (at == MAP_NONE) {
		map_add(&o->map, key_of(number), o->list.n);
		vec_push(&o->list, session);
	} else if (o->list.v[at] != session) {
		o->list.v[at] = SESSION_SEVERAL;
	}
}

static uint32_t only_session(const struct only_sessions *o, uint32_t number)
{
	uint32_t at = map_get(&o->map, key_of(number));

	return at == MAP_NONE ? NONE : o->list.v[at];
}

void sessions_named_release(struct sessions_named *c)
{
	map_release(&c->files.map);
	map_release(&c->groups.map);
	vec_release(&c->files.list);
	vec_release(&c->groups.list);
	*c = (struct sessions_named){ .k = c->k };
}

static bool is_of_group(const struct session *s)
{
	return s->name == s->group;
}

static void note_routes(struct sessions_named *c, const struct model *m)
{
	if (c->m != m || c->routes_seen > m->routes.n)
		sessions_named_release(c);
	c->m = m;
	for (; c->routes_seen < m->routes.n; c->routes_seen++) {
		const struct route *r = &m->routes.v[c->routes_seen];
		const struct session *s = &m->sessions.v[r->session];

		if (is_of_group(s) || (c->k && s->first >= c->k))
			continue;
		note_session(&c->files, r->source, r->session);
		note_session(&c->groups, s->group, r->session);
	}
}

uint32_t session_of(struct sessions_named *c, const struct model *m, uint32_t route)
{
	const struct route *r = &m->routes.v[route];
	const struct session *s = &m->sessions.v[r->session];
	uint32_t only;

	if (!is_of_group(s))
		return r->session;
	note_routes(c, m);
	only = only_session(&c->files, r->source);
	if (only == NONE)
		only = only_session(&c->groups, s->group);
	return only < SESSION_SEVERAL ? only : r->session;
}
