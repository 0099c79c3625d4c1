/* Finds the item that a command line names: whole id, KIND:ID, or an unambiguous prefix. */
#include "session/find_item.h"

#include "draw/say.h"

/* How a name can match, best first. */
enum way {
	WHOLE, /* ID, SESSION/ID, KIND:ID, AGENT:ID; an id may look like another item's KIND:ID */
	PREFIX,
	N_WAYS
};

/* Whether it is ID or SESSION/ID. */
static bool is_name(struct str wanted, struct str session, struct str id)
{
	return str_eq(wanted, id) ||
	       (str_starts(wanted, session) && wanted.n > session.n && wanted.p[session.n] == '/' &&
		str_eq(str_from(wanted, session.n + 1), id));
}

/* Whether it is AGENT:ID. */
static bool is_of_agent(struct str wanted, struct str agent, struct str id)
{
	return agent.n && str_starts(wanted, agent) && wanted.n > agent.n &&
	       wanted.p[agent.n] == ':' && str_eq(str_from(wanted, agent.n + 1), id);
}

static bool item_matches(const struct scene *s, uint32_t number, struct str wanted, enum way way)
{
	const struct item *item = &s->model->items.v[number];
	struct str session = session_name(s->model, item_session(s->model, item)), rest;
	struct buf name = { 0 }, plain = { 0 };
	struct item_state st;
	enum item_kind kind;
	bool hit;

	if (!item_at(s->model, item, s->k, scene_clock(s), &st))
		return false;
	item_name(s->model, item, &name);
	item_plain_name(s->model, item, &plain);
	if (way == WHOLE)
		hit = is_name(wanted, session, buf_str(&name)) ||
		      is_name(wanted, session, buf_str(&plain)) ||
		      (item_kind_split(wanted, &kind, &rest) && kind == item->kind &&
		       is_name(rest, session, buf_str(&name))) ||
		      is_of_agent(wanted, agent_name(s->model, step_by(s->model, item->steps)),
				  buf_str(&plain));
	else
		hit = str_starts(buf_str(&name), wanted);
	buf_release(&name);
	buf_release(&plain);
	return hit;
}

static bool item_has_rev(const struct scene *s, uint32_t number, const char *rev)
{
	const struct item *item = &s->model->items.v[number];
	struct item_state at;
	struct buf own = { 0 };
	bool same;

	if (!item_at(s->model, item, s->k, scene_clock(s), &at))
		return false;
	item_rev(s->reader, item, &at, &own);
	same = str_is(buf_str(&own), rev);
	buf_release(&own);
	return same;
}

int find_item_named(const struct scene *s, const char *wanted, const char *rev, uint32_t *item)
{
	uint32_t hits = 0, exact = 0;

	for (int way = WHOLE; way < N_WAYS && !hits; way++)
		for (uint32_t i = 0; i < s->model->items.n; i++) {
			if (!item_matches(s, i, str_of(wanted), (enum way)way))
				continue;
			hits++;
			if (rev && item_has_rev(s, i, rev)) {
				exact++;
				*item = i;
			} else if (!exact) {
				*item = i;
			}
		}
	if (exact == 1)
		return 0;
	if (hits == 0)
		say_error("no item %s; gavel show inbox --all lists them", wanted);
	else if (hits > 1)
		say_error("%u items are named %s; write more of it, SESSION/ID, KIND:ID, AGENT:ID, "
			  "or choose with --rev",
			  hits, wanted);
	return hits == 1 ? 0 : -1;
}
