/* JSON output of decisions: those made here, from the journals, oldest first; then those that
 * agents made in the log, and others in files of replies. */
#include "cmd/show_json.h"

#include "json/compose.h"
#include "view/session_stats.h"
#include "view/view_parts.h"

#include <stdlib.h>

/* null if empty */
static void put_text(struct buf *b, const char *name, struct str s)
{
	json_put_str(b, name, s.n ? s : STR_NONE);
}

static void put_letter(struct buf *b, const struct letter *l)
{
	bool held = l && l->state == LETTER_HELD;

	put_text(b, "letter", l ? str_of(l->id) : STR_NONE);
	put_text(b, "to", l ? l->to : STR_NONE);
	json_put_name(b, "channel", l ? channel_type_name(l->channel) : NULL);
	put_text(b, "path", l ? l->path : STR_NONE);
	json_put_int_if(b, "bytes", l, l ? (int64_t)l->bytes.n : 0);
	json_put_int_if(b, "tries", l, l ? l->tries : 0);
	put_text(b, "why", held ? l->why : STR_NONE);
	json_put_bool(b, "uncertain", held && l->uncertain);
}

/* From the raise that was decided on to the decision. */
static int64_t draft_took(const struct desk *d, const struct model *m, const struct draft *draft)
{
	const struct item *item = draft->number == NONE ? NULL : &m->items.v[draft->number];
	const struct letter *l = draft_letter(d, draft);
	const struct overlay *overlay = item ? item_overlay(m, item) : NULL;

	for (uint32_t i = 0; item && l && l->message != NONE && i < item->n; i++)
		if (item->steps[i].message == l->message && item->steps[i].what == STEP_DECIDED)
			return step_took(m, item, i);
	return overlay && overlay->time_ms == draft->time_ms && draft->raise != NONE
		       ? overlay_took(m, overlay, draft->raise)
		       : TIME_NONE;
}

static void put_draft(struct load *load, const struct desk *d, const struct draft *draft,
		      struct buf *b)
{
	const struct letter *l = draft_letter(d, draft);

	buf_addc(b, '{');
	json_put_name(b, "id", draft->id);
	json_put_str(b, "item", draft->item);
	json_put_str(b, "session", draft->session);
	json_put_name(b, "kind", item_kind_name(draft->kind));
	json_put_name(b, "dialect", dialect_name(draft->dialect));
	json_put_name(b, "verb", verb_name(draft->verb));
	json_put_name(b, "verdict", verdict_name(verb_verdict(draft->verb)));
	json_put_str(b, "by", draft->by);
	json_put_time(b, "time", draft->time_ms);
	json_put_str(b, "rev", draft->rev);
	json_put_name(b, "delivery", delivery_name(draft_delivery(d, draft, &load->model)));
	put_letter(b, l);
	put_text(b, "reason_code", draft->reason_code);
	put_text(b, "explanation", draft->explanation);
	put_text(b, "answer", draft->answer);
	put_text(b, "corrects", draft->corrects);
	json_put_name(b, "line", NULL);
	json_put_int_if(b, "option", draft->option, draft->option);
	json_put_time(b, "took", draft_took(d, &load->model, draft));
	json_trust(load, b, TRUST_JOURNAL, STR_NONE);
	json_end(load, b);
}

static bool was_decided(const struct scene *s, const struct draft *draft)
{
	uint32_t session = item_session(s->model, &s->model->items.v[draft->number]);

	return model_when_seen(s->model, session, draft->seen) <= s->k;
}

/* Undone ones only with --all; those whose item is not in the log only without filter and --at. */
static void put_desk(struct load *l, const struct scene *s, const struct desk *d, struct buf *b)
{
	for (uint32_t i = 0; i < d->drafts.n; i++) {
		const struct draft *draft = &d->drafts.v[i];
		struct item_state st;

		if (draft->state == DRAFT_VOID && !s->all)
			continue;
		if (draft->number == NONE) {
			if (!s->filter && s->k == s->model->records.n)
				put_draft(l, d, draft, b);
		} else if (was_decided(s, draft) && item_is_shown(s, draft->number, &st)) {
			put_draft(l, d, draft, b);
		}
	}
}

struct decision_line {
	uint32_t item, step, message;
};

static int by_message(const void *left, const void *right)
{
	const struct decision_line *a = left, *b = right;

	if (a->message != b->message)
		return a->message < b->message ? -1 : 1;
	if (a->item != b->item)
		return a->item < b->item ? -1 : 1;
	return a->step < b->step ? -1 : a->step > b->step;
}

static void put_agent_decision(struct load *l, const struct scene *s,
			       const struct decision_line *line, struct buf *b)
{
	const struct model *m = s->model;
	const struct item *item = &m->items.v[line->item];
	const struct item_step *step = &item->steps[line->step];
	const struct record *r = &m->records.v[line->message];
	struct buf name = { 0 };

	item_name(m, item, &name);
	buf_addc(b, '{');
	json_put_name(b, "id", NULL);
	json_put_str(b, "item", buf_str(&name));
	json_session(l, b, item_session(m, item));
	json_put_name(b, "kind", item_kind_name(item->kind));
	json_put_name(b, "dialect", dialect_name((enum dialect_id)route_of(m, r)->dialect));
	json_put_name(b, "verb", NULL);
	json_put_name(b, "verdict", verdict_name(step->verdict));
	json_put_str(b, "by", step_person(l, step));
	json_put_time(b, "time", r->time_ms);
	json_put_name(b, "rev", NULL);
	json_put_name(b, "delivery",
		      step->said ? delivery_name(step_delivery(item, line->step, s->k)) : NULL);
	json_put_number(b, "line", message_line(m, line->message));
	json_source(l, b, line->message);
	json_put_time(b, "took", l->json.hide_names && step->said
					 ? TIME_NONE
					 : step_took(m, item, line->step));
	json_trust(l, b, message_trust(m, line->message), message_claims(m, line->message));
	json_end(l, b);
	buf_release(&name);
}

void json_agent_decisions(struct load *l, const struct scene *s, struct buf *out)
{
	const struct model *m = s->model;
	VEC(struct decision_line) list = { 0 };

	for (uint32_t i = 0; i < m->items.n; i++) {
		const struct item *item = &m->items.v[i];
		struct item_state st;

		if (!item_is_shown(s, i, &st))
			continue;
		for (uint32_t n = 0; n < item->n && item->steps[n].message < s->k; n++)
			if (item->steps[n].what == STEP_DECIDED && !(l->desks.list.n && !l->json.hide_names &&
			      step_is_own(m, &item->steps[n])))
				vec_push(&list,
					 (struct decision_line){ i, n, item->steps[n].message });
	}
	if (list.n)
		qsort(list.v, list.n, sizeof(*list.v), by_message);
	for (uint32_t i = 0; i < list.n; i++)
		put_agent_decision(l, s, &list.v[i], out);
	vec_release(&list);
}

void json_decisions(struct load *l, const struct scene *s, struct buf *out)
{
	for (uint32_t i = 0; i < l->desks.list.n; i++)
		put_desk(l, s, &l->desks.list.v[i], out);
	json_agent_decisions(l, s, out);
}

void json_decision(struct load *l, const struct scene *s, const struct line *line, struct buf *out)
{
	if (line->what == DECISION_MADE_HERE) {
		const struct desk *d = &l->desks.list.v[line->a];
		const struct draft *draft = &d->drafts.v[line->b];

		put_draft(l, d, draft, out);
	} else {
		put_agent_decision(l, s, &(struct decision_line){ line->a, line->b, line->what },
				   out);
	}
}
