/* An item by what the person calls it. */
#include "cmd/find.h"

#include <stdio.h>

/* Whether an item answers to a name: its id, SESSION/ID, or with `prefix` the beginning of its
 * id. */
static bool item_answers(const struct scene *s, uint32_t number, struct str wanted, bool prefix)
{
	const struct item *item = &s->model->items.v[number];
	struct str session = session_name(s->model, item->session);
	struct buf name = { 0 };
	struct item_state st;
	bool hit;

	if (!item_at(s->model, item, s->k, s->now_ms, &st))
		return false;
	item_name(s->model, item, &name);
	hit = prefix ? str_starts(buf_str(&name), wanted) : str_eq(buf_str(&name), wanted);
	if (!hit && str_starts(wanted, session) && wanted.n > session.n && wanted.p[session.n] == '/')
		hit = str_eq(buf_str(&name), str_from(wanted, session.n + 1));
	buf_release(&name);
	return hit;
}

static bool item_has_rev(const struct scene *s, uint32_t number, const char *rev)
{
	const struct item *item = &s->model->items.v[number];
	struct item_state at;
	struct buf own = { 0 };
	bool same;

	if (!item_at(s->model, item, s->k, s->now_ms, &at))
		return false;
	item_rev(s->reader, item, &at, &own);
	same = str_is(buf_str(&own), rev);
	buf_release(&own);
	return same;
}

int find_item_named(const struct scene *s, const char *wanted, const char *rev, uint32_t *item)
{
	uint32_t hits = 0, exact = 0;

	for (int prefix = 0; prefix < 2 && !hits; prefix++)
		for (uint32_t i = 0; i < s->model->items.n; i++) {
			if (!item_answers(s, i, str_of(wanted), prefix))
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
		fprintf(stderr, "gavel: no item %s; gavel show inbox --all lists them\n", wanted);
	else if (hits > 1)
		fprintf(stderr,
			"gavel: %u items are named %s; write more of it, SESSION/ID, or choose with "
			"--rev\n",
			hits, wanted);
	return hits == 1 ? 0 : -1;
}
