/* Says what the team has decided: takes the outbox, stages drafts that have the store's ids, sends them as
 * any decision is sent, and reports what became of each.
 *
 *   killed before the DRAFT        the outbox has it, no draft has its id: staged anew
 *   between DRAFT and sending      the staged draft is found by its id and sent
 *   while sending                  desk_recover finishes it, or it is held as uncertain
 *   before the report              the letter is found, and reported again, which counts once */
#include "base/sha256.h"
#include "decide/draft_words.h"
#include "encode/attach.h"
#include "encode/plan.h"
#include "session/terms.h"
#include "ship/ship_internal.h"

enum {
	OUTBOX_EVERY_MS = 1000,
	QUEUED_EVERY_MS = 50, /* while an agent reads what it was told, so that it is soon reported */
	TICK_EVERY_MS = 5000,
};

static struct desk *desk_of(const struct shipper *s, const struct outgoing *o)
{
	return &s->load->desks.list.v[o->source];
}

static int64_t clock_of(const struct shipper *s)
{
	return s->live ? timestamp_now_ms() : TIME_NONE;
}

/* ---- taking ---- */

static uint32_t source_with(const struct shipper *s, int64_t id)
{
	for (uint32_t i = 0; i < s->sources.n; i++)
		if (s->sources.v[i]->id == id)
			return i;
	return NONE;
}

static struct str keep(struct shipper *s, const struct store_answer *a, uint32_t row, unsigned column)
{
	return arena_str(&s->box_words, store_str(a->rows, row, column));
}

static void learn_outbox(void *ctx, const struct store_answer *a)
{
	struct shipper *s = ctx;
	struct store_status status;

	s->box_asked = false;
	s->box_ms = loop_now_ms() + OUTBOX_EVERY_MS;
	if (!a->rows) {
		shipper_say(s, "the store refuses the outbox: %.*s", STR_ARG(a->why));
		s->box_ms += SHIP_RETRY_MS;
		return;
	}
	store_status(s->store, &status);
	arena_reset(&s->box_words);
	s->box.n = 0;
	for (uint32_t i = 0; i < a->n; i++) {
		struct outgoing o = { .item = store_int(a->rows, i, 0), .draft = NONE,
				      .source = source_with(s, store_int(a->rows, i, 1)) };

		if (o.source == NONE)
			continue;
		o.rev = keep(s, a, i, 2);
		o.who = keep(s, a, i, 3);
		o.words = keep(s, a, i, 4);
		o.last = keep(s, a, i, 5);
		o.tag = str_of(arena_printf(&s->box_words, "%s/%lld", status.id, (long long)o.item));
		vec_push(&s->box, o);
	}
	s->box_full = s->box.n;
	s->box_done = !s->box.n && !s->box_old;
	if (s->box_old)
		s->box_ms = 0;
	s->box_old = false;
}

static void ask_outbox(struct shipper *s)
{
	struct store_request r = { .sql = "select item, source, rev, who, draft, last from "
					  "gavel.outbox($1::int[])",
				   .n = 1, .answered = learn_outbox, .ctx = s };
	struct buf list = { 0 };

	ship_source_list(s, &list);
	r.values[0] = store_text(buf_str(&list));
	store_ask(s->store, &r);
	buf_release(&list);
	s->box_asked = true;
}

/* ---- reporting ---- */

static void report(struct shipper *s, const struct outgoing *o, const char *what, struct str why,
		   struct str bytes)
{
	struct store_request r = { .sql = "select gavel.report($1::bigint, $2, $3, $4)", .n = 4 };

	s->reported = true;
	r.values[0] = store_number(o->item);
	r.values[1] = store_text(str_of(what));
	r.values[2] = store_text(why);
	r.values[3] = bytes.n ? store_bytes(bytes) : store_null();
	shipper_tell(s, &r);
}

static void refuse(struct shipper *s, const struct outgoing *o, struct str why)
{
	struct shipped_item *x = ship_item_of(s, o->item);

	report(s, o, "refused", why, STR_NONE);
	shipper_say(s, "item %lld: refused: %.*s", (long long)o->item, STR_ARG(why));
	if (x) { /* if it still waits, it is asked again */
		x->state = SHIP_ITEM_GONE;
		s->round_done = false;
		s->scanned = 0;
	}
}

static void hold(struct shipper *s, const struct outgoing *o, struct str why)
{
	if (str_is(o->last, "held"))
		return;
	report(s, o, "held", why, STR_NONE);
	shipper_say(s, "item %lld: held: %.*s", (long long)o->item, STR_ARG(why));
}

void ship_note_sent(struct shipper *s, int64_t item, uint32_t desk)
{
	vec_push(&s->unacknowledged, ((struct unacknowledged){ item, desk }));
}

/* What a reviewer said about a held letter. */
static void settle(struct shipper *s, const struct outgoing *o, uint32_t letter)
{
	struct desk *desk = desk_of(s, o);
	struct err err = { { 0 } };

	if (str_is(o->last, "resend"))
		desk_resend(desk, letter, &err);
	else if (str_is(o->last, "give_up"))
		desk_give_up(desk, letter, true, &err);
	if (err.text[0])
		shipper_say(s, "item %lld: %s", (long long)o->item, err.text);
}

static void report_letter(struct shipper *s, struct outgoing *o)
{
	struct desk *desk = desk_of(s, o);
	const struct draft *draft = &desk->drafts.v[o->draft];
	uint32_t letter = draft->letter;
	const struct letter *l;

	if (letter == NONE) {
		refuse(s, o, STR("it was taken back beside the agents"));
		return;
	}
	if (desk->letters.v[letter].state == LETTER_HELD)
		settle(s, o, letter);
	l = &desk->letters.v[letter];
	switch (l->state) {
	case LETTER_SENT:
	case LETTER_ACKED:
		report(s, o, "sent", l->path, l->bytes);
		shipper_say(s, "item %lld: %s on %.*s by %.*s, sent to %.*s (%zu bytes)",
			    (long long)o->item, verb_name(draft->verb), STR_ARG(draft->item),
			    STR_ARG(draft->by), STR_ARG(l->path), l->bytes.n);
		ship_note_sent(s, o->item, o->source);
		break;
	case LETTER_VOID:
		refuse(s, o, str_is(o->last, "give_up") ? STR("a reviewer gave it up")
							: STR("it was given up beside the agents"));
		break;
	case LETTER_HELD:
		hold(s, o, l->why);
		break;
	case LETTER_INTENT:
	case LETTER_ATTEMPT:
		if (l->channel == CHANNEL_NONE) /* a dismissal: said to nobody */
			report(s, o, "sent", STR("to nobody"), STR_NONE);
		else
			s->queued = true; /* for a running agent: desk_tick */
		break;
	}
}

/* ---- saying ---- */

static uint32_t find_tagged(const struct desk *d, struct str tag)
{
	for (uint32_t i = d->drafts.n; i-- > 0;)
		if (str_eq(d->drafts.v[i].team, tag))
			return i;
	return NONE;
}

/* Whether the artifact is the one that the person has seen. */
static bool is_same_artifact(const struct shipper *s, struct str seen)
{
	const char *path = s->settings.options->artifact;
	struct arena arena = { 0 };
	struct attachment file;
	char hex[65] = "";
	struct err err;

	if (!seen.n || !path)
		return true;
	if (attach_read(&arena, path, &file, &err) == 0)
		sha256_hex(file.content, hex);
	arena_release(&arena);
	return str_starts(seen, STR("sha256:")) && str_is(str_from(seen, 7), hex);
}

/* Stages what was decided, or finds out why that cannot be. */
static void stage(struct shipper *s, struct outgoing *o)
{
	const struct model *m = &s->load->model;
	const struct shipped_item *x = ship_item_of(s, o->item);
	struct draft draft = { .by = o->who, .team = o->tag };
	struct desk *desk = desk_of(s, o);
	struct buf why = { 0 };
	struct str artifact;
	struct err err;

	if (!x) {
		o->refused = true;
		o->why = STR("it no longer waits in the log");
		return;
	}
	draft_bind(&draft, m, &s->load->reader, x->number, m->records.n, &s->box_words);
	if (draft_words_read(o->words, &draft, &artifact, &s->box_words, &err))
		buf_adds(&why, err.text);
	else if (!str_eq(draft.rev, o->rev))
		buf_adds(&why, "it has changed since it was shown");
	else if (!is_same_artifact(s, artifact))
		buf_adds(&why, "the artifact has changed since it was shown");
	else if (x->message != NONE && ship_agent_is_gone(desk, x->message))
		buf_adds(&why, "its agent has ended");
	else
		desk_allows(desk, &draft, m, m->records.n, clock_of(s), NULL, &why);
	if (why.n) {
		o->refused = true;
	} else if (desk_stage(desk, &draft, &o->draft, &err)) {
		o->draft = NONE;
		o->refused = desk->trouble == JOURNAL_FINE;
		buf_adds(&why, err.text);
	}
	o->why = arena_str(&s->box_words, buf_str(&why));
	buf_release(&why);
}

static void fill_terms(const struct shipper *s, const struct outgoing *o, struct terms *t,
		       const struct draft_refs *chosen)
{
	terms_fill(t, s->settings.options, s->settings.config, &s->load->model);
	t->desks = &s->load->desks;
	t->chosen = chosen;
	t->as = o->who;
	if (s->live) {
		t->now_ms = timestamp_now_ms();
		t->live = true;
	}
}

/* Under the locks of the reply files, with all that others have written there. */
static int make_plan(struct shipper *s, const struct outgoing *o, const struct draft_refs *chosen,
		     struct plan *plan, struct err *err)
{
	struct terms terms;
	int taken;

	do {
		fill_terms(s, o, &terms, chosen);
		plan_release(plan);
		*plan = (struct plan){ 0 };
		plan_make(plan, desk_of(s, o), &s->load->model, &s->load->reader, &terms, o->draft);
		taken = plan_lock(plan, &s->load->locks, false, err);
		if (taken > 0)
			load_settle(s->load);
	} while (taken > 0);
	return taken;
}

static bool has_draft(const struct proposal *p, uint32_t draft)
{
	for (uint32_t i = 0; i < p->letter.drafts.n; i++)
		if (p->letter.drafts.v[i] == draft)
			return true;
	return false;
}

/* Where the group begins that says a draft, or NONE. */
static uint32_t group_of(const struct plan *plan, uint32_t draft)
{
	for (uint32_t i = 0; i < plan->list.n; i++)
		if (has_draft(&plan->list.v[i], draft))
			return plan_group_first(plan, i);
	return NONE;
}

/* Why the plan does not say it. */
static struct str reason(struct shipper *s, const struct outgoing *o, const struct plan *plan)
{
	for (uint32_t i = 0; i < plan->refused.n; i++)
		if (plan->refused_drafts.v[i] == o->draft)
			return arena_str(&s->box_words, plan->refused.v[i]);
	for (uint32_t i = 0; i < plan->list.n; i++)
		if (plan->list.v[i].missing.n)
			return arena_str(&s->box_words, plan->list.v[i].missing.v[0]);
	return STR("the artifact is the same as before; a reviewer must confirm that");
}

/* Sends the message that a staged draft belongs to, with all others in it. */
static void send_draft(struct shipper *s, struct outgoing *o, const struct draft_refs *chosen)
{
	struct desk *desk = desk_of(s, o);
	struct plan plan = { 0 };
	struct err err;
	bool sure = desk->drafts.v[o->draft].sure;
	uint32_t group;

	if (make_plan(s, o, chosen, &plan, &err) < 0) {
		o->why = arena_str(&s->box_words, str_of(err.text));
		goto out;
	}
	group = group_of(&plan, o->draft);
	if (group == NONE) {
		o->why = reason(s, o, &plan);
		o->refused = true;
		desk_undo(desk, o->draft, &err);
	} else if (!plan_group_is_ready(&plan, group, sure)) {
		o->why = reason(s, o, &plan);
	} else if (plan_send_group(&plan, group, &err)) {
		o->why = arena_str(&s->box_words, str_of(err.text));
	}
out:
	plan_release(&plan);
	file_locks_release(&s->load->locks);
}

static void stage_all(struct shipper *s)
{
	for (uint32_t i = 0; i < s->box.n; i++) {
		struct outgoing *o = &s->box.v[i];

		o->draft = find_tagged(desk_of(s, o), o->tag);
		if (o->draft == NONE)
			stage(s, o);
	}
	load_settle(s->load);
}

static bool is_staged(const struct shipper *s, const struct outgoing *o)
{
	return o->draft != NONE && desk_of(s, o)->drafts.v[o->draft].state == DRAFT_STAGED;
}

static void deliver(struct shipper *s)
{
	struct draft_refs chosen = { 0 };

	s->reported = s->queued = false;
	stage_all(s);
	for (uint32_t i = 0; i < s->box.n; i++)
		if (is_staged(s, &s->box.v[i]))
			vec_push(&chosen.list, ((struct draft_ref){ desk_of(s, &s->box.v[i]),
								   s->box.v[i].draft }));
	for (uint32_t i = 0; i < s->box.n; i++)
		if (is_staged(s, &s->box.v[i]) && !s->box.v[i].refused)
			send_draft(s, &s->box.v[i], &chosen);
	load_settle(s->load);
	for (uint32_t i = 0; i < s->box.n; i++) {
		struct outgoing *o = &s->box.v[i];

		if (o->refused)
			refuse(s, o, o->why);
		else if (o->draft == NONE || is_staged(s, o))
			hold(s, o, o->why);
		else
			report_letter(s, o);
	}
	vec_release(&chosen.list);
	s->box.n = 0;
	s->box_done = !s->reported && !s->queued;
	if (s->queued)
		s->box_ms = loop_now_ms() + QUEUED_EVERY_MS;
}

/* ---- acknowledgments ---- */

static const struct letter *letter_of(const struct shipper *s, const struct unacknowledged *u)
{
	const struct letter *l = NULL;
	struct store_status status;
	struct buf tag = { 0 };

	store_status(s->store, &status);
	buf_printf(&tag, "%s/%lld", status.id, (long long)u->item);
	for (uint32_t i = 0; i < s->load->desks.list.n && !l; i++) {
		const struct desk *d = &s->load->desks.list.v[i];
		uint32_t draft = u->desk == NONE || u->desk == i ? find_tagged(d, buf_str(&tag)) : NONE;

		l = draft == NONE ? NULL : draft_letter(d, &d->drafts.v[draft]);
	}
	buf_release(&tag);
	return l;
}

/* true: it was acknowledged, or its agent has ended before it has read it. */
static bool report_acknowledged(struct shipper *s, const struct unacknowledged *u)
{
	const struct letter *l = letter_of(s, u);
	struct outgoing o = { .item = u->item };

	if (l && l->state == LETTER_ACKED)
		report(s, &o, "acked", STR(""), STR_NONE);
	else if (l && (l->state == LETTER_HELD || l->state == LETTER_VOID))
		report(s, &o, "refused", l->why, STR_NONE);
	else
		return false;
	return true;
}

static void report_all_acknowledged(struct shipper *s)
{
	uint32_t left = 0;

	for (uint32_t i = 0; i < s->unacknowledged.n; i++)
		if (!report_acknowledged(s, &s->unacknowledged.v[i]))
			s->unacknowledged.v[left++] = s->unacknowledged.v[i];
	s->unacknowledged.n = left;
}

void ship_outbox_step(struct shipper *s, int64_t now_ms)
{
	if (!s->compared)
		return; /* what waits here is not known yet */
	if (s->box_full) {
		deliver(s);
		s->box_full = false;
	}
	if (now_ms >= s->box_ms && !s->box_asked) {
		report_all_acknowledged(s);
		ask_outbox(s);
	}
	if (now_ms >= s->tick_ms) {
		shipper_tell(s, &(struct store_request){ .sql = "select gavel.tick()" });
		s->tick_ms = now_ms + TICK_EVERY_MS;
	}
}
