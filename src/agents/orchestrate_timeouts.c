/* Requests that wait for a person, and what happens when nobody comes. */
#include "agents/orchestrate_internal.h"

enum standing_of { STANDS_OPEN, STANDS_UNDER_WAY, STANDS_ANSWERED };

static enum standing_of how_it_stands(const struct model *m, const struct waiting *w,
				      int64_t now_ms)
{
	struct item_state s;

	if (!item_at(m, &m->items.v[w->item], m->records.n, now_ms, &s))
		return STANDS_OPEN;
	if (s.decided != NONE)
		return STANDS_ANSWERED;
	if (s.verdict == VERDICT_ESCALATED)
		return STANDS_OPEN; /* somebody else was asked, which the agent does not wait for longer */
	switch (s.delivery) {
	case DELIVERY_NONE:
	case DELIVERY_STAGED: /* has not happened */
	case DELIVERY_BOUNCED: return STANDS_OPEN;
	case DELIVERY_RECORDED:
	case DELIVERY_SENT:
	case DELIVERY_HELD: return STANDS_UNDER_WAY;
	case DELIVERY_ACKNOWLEDGED: break;
	}
	return STANDS_ANSWERED;
}

static void write_timeout(const struct waiting *w, int64_t now_ms, struct buf *out)
{
	struct buf details = { 0 };
	char time[32];

	buf_addc(&details, '{');
	json_put_name(&details, "deadline", timestamp_iso(w->deadline_ms, time));
	buf_addc(&details, '}');
	orchestrator_refuse(str_make(w->id, w->id_n), CODE_TIMEOUT,
			    STR("Nobody has answered in time"), buf_str(&details), now_ms, out);
	buf_release(&details);
}

/* Whether it is overdue; drops those that turn out to be answered. */
static bool take_due(const struct model *m, struct orchestrated_agent *c, int64_t now_ms, struct buf *out)
{
	for (uint32_t i = 0; i < c->waiting.n;) {
		struct waiting *w = &c->waiting.v[i];
		enum standing_of stands;

		if (w->deadline_ms == TIME_NONE || now_ms <= w->deadline_ms) {
			i++;
			continue;
		}
		stands = how_it_stands(m, w, now_ms);
		w->under_way = stands == STANDS_UNDER_WAY;
		if (w->under_way) {
			i++;
			continue;
		}
		if (stands == STANDS_OPEN)
			write_timeout(w, now_ms, out);
		free(w->id);
		*w = c->waiting.v[--c->waiting.n];
		if (stands == STANDS_OPEN)
			return true;
	}
	return false;
}

bool orchestrator_due(struct orchestrator *o, const struct model *m, int64_t now_ms,
		      uint32_t *agent, struct buf *out)
{
	for (uint32_t i = 0; i < o->agents.n; i++)
		if (take_due(m, &o->agents.v[i], now_ms, out)) {
			*agent = i;
			return true;
		}
	return false;
}

int64_t orchestrator_next_ms(const struct orchestrator *o)
{
	int64_t next = TIME_NONE;

	for (uint32_t i = 0; i < o->agents.n; i++)
		for (uint32_t k = 0; k < o->agents.v[i].waiting.n; k++) {
			const struct waiting *w = &o->agents.v[i].waiting.v[k];

			if (w->deadline_ms != TIME_NONE && !w->under_way &&
			    (next == TIME_NONE || w->deadline_ms < next))
				next = w->deadline_ms;
		}
	return next;
}
