/* Deadlines of requests that wait for the user: composes TIMEOUT errors for overdue ones. */
#include "agents/orchestrate_internal.h"

enum progress { UNANSWERED, UNDER_WAY, ANSWERED };

static enum progress answer_progress(const struct model *m, const struct waiting *w, int64_t now_ms)
{
	struct item_state s;

	if (!item_at(m, &m->items.v[w->item], m->records.n, now_ms, &s))
		return UNANSWERED;
	if (s.decided != NONE)
		return ANSWERED;
	if (s.verdict == VERDICT_ESCALATED)
		return UNANSWERED; /* escalation does not extend the deadline */
	switch (s.delivery) {
	case DELIVERY_NONE:
	case DELIVERY_STAGED:
	case DELIVERY_BOUNCED: return UNANSWERED;
	case DELIVERY_RECORDED:
	case DELIVERY_SENT:
	case DELIVERY_HELD: return UNDER_WAY;
	case DELIVERY_ACKNOWLEDGED: break;
	}
	return ANSWERED;
}

static void write_timeout(const struct waiting *w, int64_t now_ms, struct buf *out)
{
	struct buf details = { 0 };
	char time[32];

	buf_addc(&details, '{');
	json_put_name(&details, "deadline", timestamp_iso(w->deadline_ms, time));
	json_open(&details, "x-gavel", '{'); /* no person and no other program has decided it */
	json_put_name(&details, "by", "gavel");
	buf_adds(&details, "}}");
	orchestrator_refuse(str_make(w->id, w->id_n), CODE_TIMEOUT,
			    STR("No answer in time"), buf_str(&details), now_ms, out);
	buf_release(&details);
}

void waiting_remove(struct orchestrated_agent *c, uint32_t i)
{
	free(c->waiting.v[i].id);
	c->waiting.v[i] = c->waiting.v[--c->waiting.n];
}

/* Times out one overdue request of the agent; drops those that were answered. */
static bool time_out(const struct model *m, struct orchestrated_agent *c, int64_t now_ms,
		     struct buf *out)
{
	for (uint32_t i = 0; i < c->waiting.n;) {
		struct waiting *w = &c->waiting.v[i];
		bool overdue = w->deadline_ms != TIME_NONE && now_ms > w->deadline_ms;
		enum progress progress = overdue ? answer_progress(m, w, now_ms) : UNDER_WAY;

		if (overdue)
			w->under_way = progress == UNDER_WAY;
		if (progress == UNANSWERED)
			write_timeout(w, now_ms, out);
		if (progress == UNDER_WAY)
			i++;
		else
			waiting_remove(c, i);
		if (progress == UNANSWERED)
			return true;
	}
	return false;
}

bool orchestrator_due(struct orchestrator *o, const struct model *m, int64_t now_ms,
		      uint32_t *agent, struct buf *out)
{
	for (uint32_t i = 0; i < o->agents.n; i++)
		if (time_out(m, &o->agents.v[i], now_ms, out)) {
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
