/* Synchronizing the desk with the model: binds drafts to items and the raise that was decided on,
 * overlays decisions that the session does not know, records acknowledgments.
 *
 * Runs whenever messages were applied, so it is incremental: the desk remembers how far it got. */
#include "decide/reader.h"
#include "decide/records.h"

/* limit of revisions of an item that are read to find the one decided on */
enum { RAISED_MAX = 64 };

enum verdict verb_verdict(enum verb v)
{
	static const enum verdict verdicts[] = {
		[VERB_ACCEPT] = VERDICT_ACCEPTED,   [VERB_ALWAYS] = VERDICT_ACCEPTED,
		[VERB_PARTIAL] = VERDICT_PARTIAL,   [VERB_REJECT] = VERDICT_REJECTED,
		[VERB_STOP] = VERDICT_REJECTED,     [VERB_ANSWER] = VERDICT_ANSWERED,
		[VERB_DISMISS] = VERDICT_DISMISSED, [VERB_ESCALATE] = VERDICT_ESCALATED,
	};

	return verdicts[v];
}

/* Whether the item waited no more when a message was written: the agent had withdrawn it, but nobody here
 * knew that yet. */
static bool is_too_late(const struct item *item, uint32_t message)
{
	bool over = false;

	for (uint32_t i = 0; i < item->n && item->steps[i].message < message; i++)
		over = item->steps[i].what == STEP_WITHDRAWN || (over && !item->steps[i].anew);
	return over;
}

/* What became of a decision that is a message of the session. */
static enum delivery said_delivery(const struct model *m, const struct draft *draft,
				   const struct letter *l)
{
	const struct item *item = draft->number == NONE ? NULL : &m->items.v[draft->number];
	const struct reply *r = message_reply(m, l->message);

	if (item && is_too_late(item, l->message))
		return DELIVERY_BOUNCED;
	for (uint32_t i = 0; item && i < item->n; i++) {
		if (item->steps[i].message <= l->message)
			continue;
		if (item->steps[i].what == STEP_BOUNCED || item->steps[i].what == STEP_WITHDRAWN)
			return DELIVERY_BOUNCED;
		if (item->steps[i].what == STEP_ACKED)
			return DELIVERY_ACKNOWLEDGED;
		if (item->steps[i].what == STEP_DECIDED || item->steps[i].anew)
			break;
	}
	return r && r->proof != NONE ? DELIVERY_ACKNOWLEDGED : DELIVERY_SENT;
}

enum delivery draft_delivery(const struct desk *d, const struct draft *draft,
			     const struct model *m)
{
	static const enum delivery deliveries[] = {
		[LETTER_INTENT] = DELIVERY_RECORDED, [LETTER_ATTEMPT] = DELIVERY_RECORDED,
		[LETTER_SENT] = DELIVERY_SENT,	     [LETTER_ACKED] = DELIVERY_ACKNOWLEDGED,
		[LETTER_HELD] = DELIVERY_HELD,	     [LETTER_VOID] = DELIVERY_NONE,
	};

	const struct letter *l = draft_letter(d, draft);

	switch (draft->state) {
	case DRAFT_STAGED: return DELIVERY_STAGED;
	case DRAFT_VOID: return DELIVERY_NONE;
	case DRAFT_WRITTEN: break;
	}
	if (m && l->message != NONE && (l->state == LETTER_SENT || l->state == LETTER_ACKED))
		return said_delivery(m, draft, l);
	return deliveries[l->state];
}

/* Whether the item has the draft's revision as of the first k messages; true if unreadable. */
static bool is_decided_text(const struct desk *d, const struct model *m, const struct draft *draft,
			    uint32_t k)
{
	const struct item *item = &m->items.v[draft->number];
	struct buf rev = { 0 };
	struct item_state at;
	bool same;

	if (!item_at(m, item, k, TIME_NONE, &at))
		return false;
	item_rev(d->reader, item, &at, &rev);
	same = !rev.n || str_eq(buf_str(&rev), draft->rev);
	buf_release(&rev);
	return same;
}

bool letter_is_outdated(const struct desk *d, const struct model *m, const struct letter *l)
{
	for (uint32_t i = 0; d->reader && i < l->drafts.n; i++) {
		const struct draft *draft = &d->drafts.v[l->drafts.v[i]];

		if (draft->number != NONE && !is_decided_text(d, m, draft, m->records.n))
			return true;
	}
	return false;
}

/* Generated names are not unique; then the revision decides. */
static void bind_to_item(const struct desk *d, const struct model *m, struct draft *draft,
			 uint32_t item)
{
	uint32_t other = draft->number;

	draft->number = item;
	if (other != NONE && (!d->reader || !is_decided_text(d, m, draft, m->records.n)))
		draft->number = other;
}

/* Finds the items of drafts replayed from the journal. Scans only new items, or all of them when
 * there are new unbound drafts. */
static void bind_drafts(struct desk *d, struct model *m)
{
	struct map unbound = { 0 };
	struct buf name = { 0 };
	uint32_t from = d->items_seen;

	for (uint32_t i = 0; i < d->drafts.n; i++) {
		const struct draft *draft = &d->drafts.v[i];

		if (draft->number != NONE || draft->state == DRAFT_VOID)
			continue;
		map_add(&unbound, record_item_key(draft->kind, draft->item), i);
		if (i >= d->drafts_seen)
			from = 0;
	}
	for (uint32_t i = from; unbound.n && i < m->items.n; i++) {
		const struct item *item = &m->items.v[i];
		struct str group = model_str(m, m->sessions.v[item_session(m, item)].group);
		uint64_t key;

		if (d->group.n && !str_eq(group, d->group))
			continue;
		/* it may have got the name of its agent since another one uses the id, too */
		for (int plain = 0; plain < 2; plain++) {
			buf_clear(&name);
			(plain ? item_plain_name : item_name)(m, item, &name);
			key = record_item_key(item->kind, buf_str(&name));
			for (uint32_t it = 0, v; map_next(&unbound, key, &it, &v);)
				if (draft_is_on(&d->drafts.v[v],
						session_name(m, item_session(m, item)), item->kind,
						buf_str(&name)))
					bind_to_item(d, m, &d->drafts.v[v], i);
		}
	}
	d->items_seen = m->items.n;
	d->drafts_seen = d->drafts.n;
	map_release(&unbound);
	buf_release(&name);
}

/* The model position from which the decision holds: `seen`, or where the item got the decided
 * revision. 0: it never has it, perhaps because the log was replaced. */
static uint32_t find_decided_at(const struct desk *d, const struct model *m,
				const struct draft *draft, uint32_t seen)
{
	const struct item *item = &m->items.v[draft->number];

	if (seen <= item->steps[0].message)
		seen = item->steps[0].message + 1;
	if (!d->reader || is_decided_text(d, m, draft, seen))
		return seen;
	for (uint32_t i = 0, raised = 0; i < item->n && raised < RAISED_MAX; i++) {
		if (item->steps[i].what != STEP_RAISED)
			continue;
		raised++;
		if (is_decided_text(d, m, draft, item->steps[i].message + 1))
			return item->steps[i].message + 1;
	}
	return 0;
}

/* Computes draft->from and draft->raise. Final once messages follow the position of the decision. */
static void locate(const struct desk *d, const struct model *m, struct draft *draft)
{
	const struct item *item = &m->items.v[draft->number];
	uint32_t seen = model_when_seen(m, item_session(m, item), draft->seen);
	struct item_state at;

	if (!draft->compared || draft->when != seen) {
		draft->compared = true;
		draft->when = seen;
		draft->from = find_decided_at(d, m, draft, seen);
		draft->raise = draft->from && item_without_overlay(m, item, draft->from, TIME_NONE,
								   &at)
				       ? at.anew
				       : NONE;
	}
	draft->placed = seen < m->records.n;
}

/* Whether the session itself knows the decision, as a message; or it was said in another file. */
static bool is_said(const struct desk *d, const struct draft *draft)
{
	const struct letter *l = draft_letter(d, draft);

	return l && (l->state == LETTER_SENT || l->state == LETTER_ACKED) &&
	       (l->message != NONE || l->elsewhere);
}

/* The draft's overlay; DELIVERY_NONE if it does not apply to the item in this log. */
static struct overlay overlay_of(const struct desk *d, const struct model *m, struct draft *draft)
{
	struct overlay s = { .item = draft->number, .verdict = verb_verdict(draft->verb),
			      .delivery = draft_delivery(d, draft, NULL), .time_ms = draft->time_ms };

	if (s.delivery != DELIVERY_NONE && !draft->placed)
		locate(d, m, draft);
	s.from = draft->from;
	if (!draft->from || is_said(d, draft))
		s.delivery = DELIVERY_NONE;
	return s;
}

/* Compares with the overlay last passed to the model, and remembers the new one. */
static bool overlay_changed(struct draft *draft, const struct overlay *s)
{
	bool anew = !draft->overlaid || draft->overlay_delivery != s->delivery ||
		    draft->overlay_from != s->from;

	draft->overlaid = true;
	draft->overlay_delivery = s->delivery;
	draft->overlay_from = s->from;
	return anew;
}

static uint64_t number_hash(uint32_t item)
{
	return hash_mix(hash_seed, item);
}

static bool is_among(const struct map *items, uint32_t item)
{
	for (uint32_t it = 0, v; map_next(items, number_hash(item), &it, &v);)
		if (v == item)
			return true;
	return false;
}

/* Passes changed overlays to the model. For an item with any change all drafts are passed, void
 * ones first, so that a live older draft is not removed by a void newer one. */
static void update_overlays(struct desk *d, struct model *m)
{
	struct map changed = { 0 };

	for (uint32_t i = 0; i < d->drafts.n; i++) {
		struct draft *draft = &d->drafts.v[i];
		struct overlay s;

		if (draft->number == NONE)
			continue;
		s = overlay_of(d, m, draft);
		if (overlay_changed(draft, &s) && !is_among(&changed, draft->number))
			map_add(&changed, number_hash(draft->number), draft->number);
	}
	for (int live = 0; changed.n && live < 2; live++)
		for (uint32_t i = 0; i < d->drafts.n; i++) {
			struct draft *draft = &d->drafts.v[i];
			struct overlay s;

			if (draft->number == NONE || !is_among(&changed, draft->number))
				continue;
			s = overlay_of(d, m, draft);
			s.by = model_intern(m, draft->by);
			if ((s.delivery != DELIVERY_NONE) == live)
				model_overlay(m, &s);
		}
	map_release(&changed);
}

static bool can_be_acknowledged(const struct letter *l)
{
	return l->message != NONE && (l->state == LETTER_SENT || l->state == LETTER_ATTEMPT ||
				      (l->state == LETTER_HELD && l->uncertain));
}

/* The model knows which messages acknowledge a reply (model/replies.c). */
static void record_acknowledgments(struct desk *d, const struct model *m)
{
	for (uint32_t i = 0; i < d->letters.n && d->access == DESK_WRITES; i++) {
		const struct letter *l = &d->letters.v[i];
		const struct reply *r = can_be_acknowledged(l) ? message_reply(m, l->message) : NULL;
		struct buf line = { 0 };
		struct err err;

		if (!r || r->proof == NONE)
			continue;
		record_step("ACKED", l->id, &line);
		json_put_number(&line, "line", message_line(m, r->proof));
		buf_addc(&line, '}');
		desk_step(d, &line, true, &err); /* on failure: retried by the next desk_settle */
	}
}

void desk_acknowledge(struct desk *d, uint32_t letter)
{
	const struct letter *l = &d->letters.v[letter];
	struct buf line = { 0 };
	struct err err;

	if (l->state != LETTER_SENT || d->access != DESK_WRITES)
		return;
	record_step("ACKED", l->id, &line);
	buf_addc(&line, '}');
	desk_step(d, &line, true, &err); /* on failure: retried by the next team_settle */
}

void desk_settle(struct desk *d, struct model *m)
{
	bind_drafts(d, m);
	record_acknowledgments(d, m);
	update_overlays(d, m);
}
