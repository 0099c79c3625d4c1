/* What is on the desk: the journal's records as drafts and letters, staging and undoing, and how it all
 * stands in the model. Sending is in deliver.c. */
#include "decide/desk.h"

#include "base/sha256.h"
#include "decide/reader.h"
#include "decide/records.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

enum { RAISED_MAX = 64 }; /* how often an item is read again to find the words that were decided on */

void desk_base(const char *given, struct buf *out)
{
	const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");

	if (given)
		buf_adds(out, given);
	else if (state && state[0] == '/')
		buf_printf(out, "%s/gavel", state);
	else
		buf_printf(out, "%s/.local/state/gavel", home && *home ? home : "");
}

/* ---- opening ---- */

static void take_record(void *ctx, struct str json)
{
	record_take(ctx, json);
}

/* What a new journal begins with. */
static void add_head(const struct desk *d, struct buf *out)
{
	buf_adds(out, "{\"state\":\"OPEN\",\"gavel\":1");
	json_put_str(out, "source", d->source);
	json_put_int(out, "time", record_now_ms());
	buf_addc(out, '}');
}

static void say_again(struct desk *d, struct buf *line)
{
	if (d->access == DESK_WRITES &&
	    journal_append(&d->journal, buf_str(line), true, &d->why)) {
		d->access = DESK_READS;
		d->trouble = JOURNAL_TROUBLE;
	}
	buf_clear(line);
}

/* After a failed sync nobody knows what the disk has: what is unfinished is said once more. */
static void restate(struct desk *d)
{
	struct buf line = { 0 };

	for (uint32_t i = 0; i < d->drafts.n; i++) {
		const struct draft *draft = &d->drafts.v[i];
		bool open = draft->state == DRAFT_STAGED ||
			    (draft->state == DRAFT_WRITTEN &&
			     letter_is_unfinished(&d->letters.v[draft->letter]));

		if (!open)
			continue;
		record_draft(d, draft, &line);
		say_again(d, &line);
	}
	for (uint32_t i = 0; i < d->letters.n; i++) {
		const struct letter *l = &d->letters.v[i];

		if (!letter_is_unfinished(l))
			continue;
		record_intent(d, l, &line);
		say_again(d, &line);
		if (l->tried) {
			record_attempt(d, l, &line);
			say_again(d, &line);
		}
		if (l->state == LETTER_HELD) {
			record_held(l, l->why, !l->uncertain, &line);
			say_again(d, &line);
		}
	}
	buf_release(&line);
}

/* Reads the journal, and locks it when it is to be written. */
static void open_journal(struct desk *d, bool write)
{
	struct buf head = { 0 };
	enum journal_result r;

	add_head(d, &head);
	r = journal_open(&d->journal, d->dir, write, buf_str(&head), take_record, d, &d->why);
	buf_release(&head);
	d->trouble = JOURNAL_FINE;
	switch (r) {
	case JOURNAL_FINE:
		d->access = write ? DESK_WRITES : DESK_READS;
		if (!write)
			err_set(&d->why, "read-only was asked for");
		else if (d->journal.was_poisoned)
			restate(d);
		return;
	case JOURNAL_NONE:
		d->access = DESK_NONE;
		return;
	case JOURNAL_LOCKED:
	case JOURNAL_DAMAGED:
	case JOURNAL_TROUBLE:
		break;
	}
	d->trouble = r;
	d->access = DESK_READS;
	/* what can be read is shown all the same */
	if (write && !d->drafts.n && !d->letters.n) {
		struct err ignored;

		journal_open(&d->journal, d->dir, false, STR_NONE, take_record, d, &ignored);
	}
}

/* The first decision makes the journal; or another gavel has made it since, and then what it has
 * is on the desk from now on. */
static void make_journal(struct desk *d)
{
	if (d->access != DESK_WRITES || d->journal.writing)
		return;
	open_journal(d, true);
	d->recovered = !desk_unfinished(d);
}

void desk_open(struct desk *d, const char *base, const char *source, bool write)
{
	struct buf dir = { 0 };
	struct stat st;
	char hex[65], *real = strcmp(source, "-") == 0 ? NULL : realpath(source, NULL);

	d->source = arena_str(&d->arena, str_of(real ? real : strcmp(source, "-") ? source : "stdin"));
	d->group = arena_str(&d->arena, str_of(strcmp(source, "-") ? source : "stdin"));
	free(real);
	d->is_dir = stat(source, &st) == 0 && S_ISDIR(st.st_mode);
	d->journal = (struct journal){ .fd = -1, .lock_fd = -1 };
	if (strcmp(source, "-") == 0) {
		char once[37]; /* a pipe cannot be opened again: no two share a journal */

		uuid_make(once);
		sha256_hex(str_of(once), hex);
	} else {
		sha256_hex(d->source, hex);
	}
	buf_printf(&dir, "%s/%.32s", base, hex);
	d->dir = xstrdup(dir.p);
	buf_release(&dir);
	/* a journal that nobody has written is not made by looking */
	if (journal_is_there(d->dir))
		open_journal(d, write);
	else if (write)
		d->access = DESK_WRITES;
	d->recovered = !desk_unfinished(d);
}

void desk_open_dir(struct desk *d, const char *dir, bool write)
{
	d->journal = (struct journal){ .fd = -1, .lock_fd = -1 };
	d->dir = xstrdup(dir);
	if (journal_is_there(dir))
		open_journal(d, write);
	d->recovered = !desk_unfinished(d);
}

void desk_close(struct desk *d)
{
	desk_let_go(d);
	journal_close(&d->journal);
	for (uint32_t i = 0; i < d->letters.n; i++)
		vec_release(&d->letters.v[i].drafts);
	vec_release(&d->drafts);
	vec_release(&d->letters);
	map_release(&d->draft_ids);
	map_release(&d->letter_ids);
	map_release(&d->item_drafts);
	arena_release(&d->arena);
	free(d->dir);
	d->dir = NULL;
}

int desk_append(struct desk *d, struct str json, bool sync, struct err *err)
{
	make_journal(d);
	if (d->access != DESK_WRITES)
		return err_set(err, "NOT recorded: %s",
			       d->why.text[0] ? d->why.text : "this session is read-only");
	if (journal_append(&d->journal, json, sync, err)) {
		if (d->journal.poisoned) {
			d->access = DESK_READS;
			d->trouble = JOURNAL_TROUBLE;
			err_set(&d->why, "the disk failed; check it, then start gavel again");
		}
		return -1;
	}
	return 0;
}

/* ---- staging ---- */

static bool same_item(const struct draft *a, struct str session, enum item_kind kind, struct str item)
{
	return a->kind == kind && str_eq(a->item, item) && str_eq(a->session, session);
}

uint32_t desk_find(const struct desk *d, struct str session, enum item_kind kind, struct str item,
		   struct str rev)
{
	for (uint32_t i = d->drafts.n; i-- > 0;) {
		const struct draft *draft = &d->drafts.v[i];

		if (draft->state != DRAFT_VOID && same_item(draft, session, kind, item) &&
		    (!rev.n || str_eq(draft->rev, rev)))
			return i;
	}
	return NONE;
}

uint32_t desk_staged(const struct desk *d)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < d->drafts.n; i++)
		n += d->drafts.v[i].state == DRAFT_STAGED;
	return n;
}

/* The delivered decision that another one would contradict. */
static uint32_t find_written(const struct desk *d, const struct draft *draft)
{
	for (uint32_t i = d->drafts.n; i-- > 0;) {
		const struct draft *old = &d->drafts.v[i];

		if (old->state == DRAFT_WRITTEN && str_eq(old->rev, draft->rev) &&
		    same_item(old, draft->session, draft->kind, draft->item))
			return i;
	}
	return NONE;
}

/* A path as typed means another file elsewhere. */
static struct str whole_path(struct desk *d, struct str path)
{
	char *real = path.n ? realpath(arena_str(&d->arena, path).p, NULL) : NULL;
	struct str out = real ? arena_str(&d->arena, str_of(real)) : path;

	free(real);
	return out;
}

int desk_stage(struct desk *d, const struct draft *draft, uint32_t *number, struct err *err)
{
	struct draft fresh = *draft;
	struct buf line = { 0 };
	uint32_t written;
	int rc;

	make_journal(d); /* before it is asked what was decided */
	written = find_written(d, draft);
	if (written != NONE && !str_is(draft->corrects, d->drafts.v[written].id))
		return err_set(err,
			       "this was decided already (%s, %s); a correction has to say that it "
			       "is one",
			       verb_name(d->drafts.v[written].verb),
			       delivery_name(draft_delivery(d, &d->drafts.v[written])));
	decision_id(fresh.id);
	fresh.state = DRAFT_STAGED;
	fresh.letter = NONE;
	fresh.time_ms = record_now_ms();
	fresh.artifact = whole_path(d, draft->artifact);
	record_draft(d, &fresh, &line);
	rc = desk_append(d, buf_str(&line), true, err);
	if (rc == 0) {
		record_take(d, buf_str(&line));
		*number = d->drafts.n - 1;
		d->drafts.v[*number].number = draft->number;
	}
	buf_release(&line);
	return rc;
}

int desk_undo(struct desk *d, uint32_t draft, struct err *err)
{
	struct buf line = { 0 };
	int rc;

	if (d->drafts.v[draft].state != DRAFT_STAGED)
		return err_set(err, "only what is staged can be undone; this was recorded to be sent");
	record_step("VOID", d->drafts.v[draft].id, &line);
	buf_addc(&line, '}');
	rc = desk_append(d, buf_str(&line), true, err);
	if (rc == 0)
		record_take(d, buf_str(&line));
	buf_release(&line);
	return rc;
}

/* ---- how it stands ---- */

enum verdict verb_verdict(enum verb v)
{
	static const enum verdict verdicts[] = {
		[VERB_ACCEPT] = VERDICT_ACCEPTED,   [VERB_PARTIAL] = VERDICT_PARTIAL,
		[VERB_REJECT] = VERDICT_REJECTED,   [VERB_ANSWER] = VERDICT_ANSWERED,
		[VERB_DISMISS] = VERDICT_DISMISSED, [VERB_ESCALATE] = VERDICT_ESCALATED,
	};

	return verdicts[v];
}

enum delivery draft_delivery(const struct desk *d, const struct draft *draft)
{
	static const enum delivery deliveries[] = {
		[LETTER_INTENT] = DELIVERY_RECORDED, [LETTER_ATTEMPT] = DELIVERY_RECORDED,
		[LETTER_SENT] = DELIVERY_SENT,	     [LETTER_ACKED] = DELIVERY_ACKNOWLEDGED,
		[LETTER_HELD] = DELIVERY_HELD,	     [LETTER_VOID] = DELIVERY_NONE,
	};

	switch (draft->state) {
	case DRAFT_STAGED: return DELIVERY_STAGED;
	case DRAFT_VOID: return DELIVERY_NONE;
	case DRAFT_WRITTEN: return deliveries[d->letters.v[draft->letter].state];
	}
	return DELIVERY_NONE;
}

/* Whether the item says, as of the first k messages, what was decided on. What cannot be read any more
 * is taken for it. */
static bool says(const struct desk *d, const struct model *m, const struct draft *draft, uint32_t k)
{
	const struct item *item = &m->items.v[draft->number];
	struct buf rev = { 0 };
	struct item_state at;
	bool same;

	if (!item_at(m, item, k, WHEN_NONE, &at))
		return false;
	item_rev(d->reader, item, &at, &rev);
	same = !rev.n || str_eq(buf_str(&rev), draft->rev);
	buf_release(&rev);
	return same;
}

/* Names that gavel makes up are not always unique; then the words tell. */
static void tie_to(const struct desk *d, const struct model *m, struct draft *draft, uint32_t item)
{
	uint32_t other = draft->number;

	draft->number = item;
	if (other != NONE && (!d->reader || !says(d, m, draft, m->records.n)))
		draft->number = other;
}

/* Finds the items of drafts that came from the journal. */
static void tie(struct desk *d, struct model *m)
{
	struct map untied = { 0 };
	struct buf name = { 0 };

	for (uint32_t i = 0; i < d->drafts.n; i++)
		if (d->drafts.v[i].number == NONE && d->drafts.v[i].state != DRAFT_VOID)
			map_add(&untied, record_item_key(d->drafts.v[i].kind, d->drafts.v[i].item), i);
	for (uint32_t i = 0; untied.n && i < m->items.n; i++) {
		const struct item *item = &m->items.v[i];
		struct str group = model_str(m, m->sessions.v[item->session].group);
		uint64_t key;

		if (d->group.n && !str_eq(group, d->group))
			continue;
		buf_clear(&name);
		item_name(m, item, &name);
		key = record_item_key(item->kind, buf_str(&name));
		for (uint32_t it = 0, v; map_next(&untied, key, &it, &v);)
			if (same_item(&d->drafts.v[v], session_name(m, item->session), item->kind,
				      buf_str(&name)))
				tie_to(d, m, &d->drafts.v[v], i);
	}
	map_release(&untied);
	buf_release(&name);
}

/* How many messages had come when it was decided; 0 where this log never says what was decided on: it
 * may be another one that has got the name. */
static uint32_t find_from(const struct desk *d, const struct model *m, const struct draft *draft,
			  uint32_t seen)
{
	const struct item *item = &m->items.v[draft->number];

	if (seen <= item->steps[0].message)
		seen = item->steps[0].message + 1;
	if (!d->reader || says(d, m, draft, seen))
		return seen;
	for (uint32_t i = 0, raised = 0; i < item->n && raised < RAISED_MAX; i++) {
		if (item->steps[i].what != STEP_RAISED)
			continue;
		raised++;
		if (says(d, m, draft, item->steps[i].message + 1))
			return item->steps[i].message + 1;
	}
	return 0;
}

/* How a draft stands in the model; DELIVERY_NONE where it says nothing of the item that is there. */
static struct standing standing_of(const struct desk *d, const struct model *m, struct draft *draft)
{
	uint32_t seen = model_when_seen(m, m->items.v[draft->number].session, draft->seen);
	struct standing s = { .item = draft->number, .verdict = verb_verdict(draft->verb),
			      .delivery = draft_delivery(d, draft), .time_ms = draft->time_ms };

	if (s.delivery != DELIVERY_NONE && (!draft->compared || draft->when != seen)) {
		draft->compared = true;
		draft->when = seen;
		draft->from = find_from(d, m, draft, seen);
	}
	s.from = draft->from;
	if (!draft->from)
		s.delivery = DELIVERY_NONE;
	return s;
}

/* A void one takes its standing away; one that is live, though older, puts its own. */
static void stand(struct desk *d, struct model *m)
{
	for (int live = 0; live < 2; live++)
		for (uint32_t i = 0; i < d->drafts.n; i++) {
			struct draft *draft = &d->drafts.v[i];
			struct standing s;

			if (draft->number == NONE)
				continue;
			s = standing_of(d, m, draft);
			s.by = model_intern(m, draft->by);
			if ((s.delivery != DELIVERY_NONE) == live)
				model_stand(m, &s);
		}
}

/* Only whom the letter was for can acknowledge it; others' claims change nothing. */
static uint32_t find_proof(struct letter *l, uint32_t expected, const struct model *m)
{
	for (uint32_t i = 0; i < m->replies.n; i++) {
		const struct reply *r = &m->replies.v[i];
		const struct record *record = &m->records.v[r->message];

		if (r->expected != expected)
			continue;
		if (l->dialect != DIALECT_COLLABORATION || str_eq(agent_name(m, record->from), l->to))
			return r->message;
		l->stray = r->message + 1;
	}
	return NONE;
}

/* The first word of the log on a decision, if it acknowledges it. */
static uint32_t find_ack(const struct draft *draft, const struct model *m)
{
	const struct item *item = draft->number == NONE ? NULL : &m->items.v[draft->number];

	for (uint32_t i = 0; item && draft->from && i < item->n; i++) {
		const struct item_step *step = &item->steps[i];

		if (step->message < draft->from)
			continue;
		if (step->what == STEP_ACKED)
			return step->message;
		if (step->what == STEP_BOUNCED)
			return NONE;
	}
	return NONE;
}

/* Feedback acknowledges items one by one. */
static uint32_t find_acks(const struct desk *d, const struct letter *l, const struct model *m)
{
	uint32_t last = NONE;

	for (uint32_t i = 0; i < l->drafts.n; i++) {
		last = find_ack(&d->drafts.v[l->drafts.v[i]], m);
		if (last == NONE)
			break;
	}
	return last;
}

/* What went out, or may have, can be acknowledged. */
static bool awaits_proof(const struct letter *l)
{
	return l->state == LETTER_SENT || l->state == LETTER_ATTEMPT ||
	       (l->state == LETTER_HELD && l->uncertain);
}

static void prove(struct desk *d, struct model *m)
{
	for (uint32_t i = 0; i < d->letters.n; i++) {
		struct letter *l = &d->letters.v[i];
		uint32_t expected = l->expect.n ? model_expect(m, l->expect) : NONE, proof = NONE;
		struct buf line = { 0 };
		struct err err;

		if (!awaits_proof(l))
			continue;
		if (expected != NONE)
			proof = find_proof(l, expected, m);
		else if (l->dialect == DIALECT_FEEDBACK)
			proof = find_acks(d, l, m);
		if (proof == NONE || d->access != DESK_WRITES)
			continue;
		record_step("ACKED", l->id, &line);
		json_put_number(&line, "line", m->records.v[proof].line);
		buf_addc(&line, '}');
		if (desk_append(d, buf_str(&line), true, &err) == 0)
			record_take(d, buf_str(&line));
		buf_release(&line);
	}
}

void desk_settle(struct desk *d, struct model *m)
{
	tie(d, m);
	stand(d, m);
	prove(d, m);
	stand(d, m);
}

struct desk *desks_find(struct desks *all, struct str group)
{
	for (uint32_t i = 0; i < all->list.n; i++)
		if (str_eq(all->list.v[i].group, group))
			return &all->list.v[i];
	return NULL;
}

struct desk *desks_of_item(struct desks *all, const struct model *m, const struct item *item)
{
	return desks_find(all, model_str(m, m->sessions.v[item->session].group));
}
