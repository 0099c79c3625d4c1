/* Staging, undo, planning, delivery, recovery and resending for the UI; each reports its result on
 * the message line. */
#include "watch/decider.h"

#include "draw/say.h"
#include "view/view_parts.h"

#include <stdlib.h>

/* Cells of messages: an answer, an item's name at least, and the margins of the message line with
 * the mark where a name is cut. */
enum { ANSWER_WORDS = 16, SUBJECT_LEAST = 8, MARGINS = 3 };

void decider_attach(struct decider *s)
{
	struct deciding *d = &s->app->deciding;

	s->app->scene.desks = &s->load->desks;
	if (s->load->teams.list.n)
		s->app->scene.team = &s->load->teams.marks;
	d->as = terms_name(s->options, s->config);
	d->keeps_nothing = s->options->keeps_nothing;
	d->advance = s->config->advance;
	d->reason_codes = s->config->reason_codes.v;
	d->reason_code_count = s->config->reason_codes.n;
	if (s->options->artifact)
		d->artifact = xstrdup(s->options->artifact);
	if (s->options->read_only)
		s->app->read_only = "it was asked for";
	for (uint32_t i = 0; i < s->load->desks.list.n; i++) {
		struct desk *desk = &s->load->desks.list.v[i];

		desk->unanswerable = reply_path_is_missing(desk, s->options->reply);
	}
}

/* After each change of a desk: views must show what the journal has recorded. */
static void update_views(struct decider *s)
{
	for (uint32_t i = 0; i < s->load->desks.list.n; i++)
		desk_close_fifo(&s->load->desks.list.v[i]);
	load_settle(s->load);
	app_decided(s->app);
}

/* Ends a change of a desk: updates the views and reports a failure. false = it has failed. */
static bool end_change(struct decider *s, int rc, const struct err *err)
{
	update_views(s);
	if (rc)
		app_say(s->app, ROLE_ERROR, "%s", err->text);
	return rc == 0;
}

static void restore_snoozed(struct decider *s)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < s->load->desks.list.n; i++)
		n += decide_restore_snoozed(s->app, &s->load->desks.list.v[i]);
	if (n && !s->app->notice.n)
		app_say(s->app, ROLE_DIM,
			"%u snoozed item%s not listed; {filter} is:snoozed lists %s", n,
			n == 1 ? " is" : "s are", n == 1 ? "it" : "them");
}

void decider_begin(struct decider *s)
{
	uint32_t unfinished = 0;

	for (uint32_t i = 0; i < s->load->desks.list.n; i++) {
		const struct desk *d = &s->load->desks.list.v[i];

		if (d->notice.n)
			app_say(s->app, ROLE_WARN, "this is %.*s", STR_ARG(d->notice));
		if (d->journal.torn.n)
			app_say(s->app, ROLE_WARN,
				"the last record of an earlier run is incomplete; it was moved "
				"aside as %s",
				d->journal.torn.p);
		if (d->access == DESK_READS && d->trouble != JOURNAL_FINE)
			app_say(s->app, ROLE_WARN, "read-only: %s", d->why.text);
		else if (d->access == DESK_WRITES && !d->recovered)
			unfinished += desk_unfinished(d);
	}
	app_decided(s->app);
	restore_snoozed(s);
	if (!unfinished)
		return;
	if (s->options->recover_send)
		app_effect(s->app, (struct effect){ EFFECT_RECOVER });
	else
		app_open_view(s->app, &view_recovery, 0, 0);
}

static void forget_named(struct decider *s)
{
	for (uint32_t i = 0; i < s->named.n; i++)
		free(s->named.v[i]);
	s->named.n = 0;
}

void decider_release(struct decider *s)
{
	s->app->scene.plan = NULL;
	plan_release(&s->plan);
	forget_named(s);
	vec_release(&s->named);
	vec_release(&s->dropped.list);
	vec_release(&s->chosen.list);
	vec_release(&s->at_once.list);
}

static bool plan_page(struct decider *s, uint32_t page);

static bool is_on_top(struct decider *s, const struct view_ops *view)
{
	return app_screen(s->app) && app_screen(s->app)->pane.view == view;
}

/* "answer Stop it", or the verb alone: words of a rejection are long, and the person's own. */
static void add_said(struct decider *s, const struct draft *draft, struct buf *out)
{
	struct buf words = { 0 };

	buf_adds(out, verb_name(draft->verb));
	if (draft->verb == VERB_ANSWER) {
		draft_words(&s->app->scene, draft, &words);
		buf_addc(out, ' ');
		add_clean_cut(out, buf_str(&words), TEXT_LINE, s->app->scene.ascii, ANSWER_WORDS);
	}
	buf_release(&words);
}

static int cells_of(const struct buf *text)
{
	return (int)cells_width(raw_of(buf_str(text)), TEXT_LINE, false, 4096);
}

/* The text, the item's words, as many as the message line has room for, and the end. */
static void say_about(struct decider *s, enum role role, struct buf *text,
		      const struct draft *draft, const struct buf *end)
{
	int room = s->app->cols - MARGINS - cells_of(text) - cells_of(end);

	add_draft_subject(&s->app->scene, draft, room > SUBJECT_LEAST ? room : SUBJECT_LEAST, text);
	app_say(s->app, role, "%s%s", text->p, end->p);
}

/* batch: how many the verb has staged. */
static void say_staged(struct decider *s, const struct draft *draft, uint32_t batch)
{
	uint32_t n = decide_staged(s->app);
	struct buf what = { 0 }, end = { 0 };

	if (batch > 1) {
		app_say(s->app, ROLE_STAGED,
			"%s is staged on %u items, %u in all; {undo} undo, {deliver} review and send",
			verb_name(draft->verb), batch, n);
		return;
	}
	add_said(s, draft, &what);
	buf_adds(&what, " is staged: \"");
	buf_addc(&end, '"');
	if (n > 1)
		buf_printf(&end, ", %u in all", n);
	keymap_printf(&s->app->keymap, &end, "; {undo} undo, {deliver} review and send");
	say_about(s, ROLE_STAGED, &what, draft, &end);
	buf_release(&what);
	buf_release(&end);
}

/* Keys are handled while a delivery waits for its channel: refuses what needs the channel, too. */
static bool refuse_while_sending(struct decider *s)
{
	if (s->app->deciding.delivery)
		app_say(s->app, ROLE_WARN, "still sending; wait for that");
	return s->app->deciding.delivery;
}

static void plan_at_once(struct decider *s);

/* Stages those of the effects that are for the desk. */
static int stage_on(struct decider *s, struct desk *desk, const struct effect *list, uint32_t n,
		    struct err *err)
{
	VEC(struct draft) drafts = { 0 };
	uint32_t first;
	int rc = 0;

	for (uint32_t i = 0; i < n; i++)
		if (list[i].desk == desk)
			vec_push(&drafts, list[i].draft);
	if (drafts.n)
		rc = desk_stage_all(desk, drafts.v, drafts.n, &first, err);
	for (uint32_t i = 0; i < drafts.n && rc == 0; i++) {
		decide_note_staged(s->app, desk, first + i);
		if (verb_is_at_once(&s->load->model, &drafts.v[i]))
			vec_push(&s->at_once.list, ((struct draft_ref){ desk, first + i }));
	}
	vec_release(&drafts);
	return rc;
}

void decider_stage(struct decider *s, const struct effect *list, uint32_t n)
{
	const struct draft draft = list->draft;
	struct err err;
	int rc = 0;

	for (uint32_t i = 0; i < s->load->desks.list.n && rc == 0; i++)
		rc = stage_on(s, &s->load->desks.list.v[i], list, n, &err);
	if (!end_change(s, rc, &err)) {
		s->at_once.list.n = 0; /* what was staged before it stays so */
		return;
	}
	decide_advance(s->app);
	if (s->at_once.list.n)
		plan_at_once(s);
	else
		say_staged(s, &draft, n);
}

/* Something was undone on the pre-flight page: it shows what is still staged, if anything is. */
static void plan_what_is_left(struct decider *s)
{
	if (!is_on_top(s, &view_preflight) || s->app->deciding.delivery || s->is_command)
		return;
	if (plan_page(s, s->page))
		app_show_plan(s->app, &s->plan);
	else
		app_back(s->app);
}

static int undo_on(struct decider *s, struct desk *desk, const struct effect *list, uint32_t n,
		   struct err *err)
{
	VEC(uint32_t) drafts = { 0 };
	int rc = 0;

	for (uint32_t i = 0; i < n; i++)
		if (list[i].desk == desk)
			vec_push(&drafts, list[i].undo);
	if (drafts.n)
		rc = desk_undo_all(desk, drafts.v, drafts.n, err);
	for (uint32_t i = 0; i < drafts.n && rc == 0; i++)
		decide_note_undone(s->app, desk, drafts.v[i]);
	vec_release(&drafts);
	return rc;
}

void decider_undo(struct decider *s, const struct effect *list, uint32_t n)
{
	const struct draft undone = list->desk->drafts.v[list->undo];
	struct err err;
	struct buf what = { 0 }, end = { 0 };
	int rc = 0;

	for (uint32_t i = 0; i < s->load->desks.list.n && rc == 0; i++)
		rc = undo_on(s, &s->load->desks.list.v[i], list, n, &err);
	if (!end_change(s, rc, &err))
		return;
	plan_what_is_left(s);
	if (n > 1) {
		app_say(s->app, ROLE_DIM, "undone: %s of %u items; {redo} redo",
			verb_name(undone.verb), n);
		return;
	}
	buf_adds(&what, "undone: ");
	add_said(s, &undone, &what);
	buf_adds(&what, " of \"");
	keymap_printf(&s->app->keymap, &end, "\"; {redo} redo");
	say_about(s, ROLE_DIM, &what, &undone, &end);
	buf_release(&what);
	buf_release(&end);
}

void decider_snooze(struct decider *s, struct desk *desk, uint32_t number, bool on)
{
	const struct model *m = &s->load->model;
	struct arena names = { 0 };
	struct draft like = { 0 };
	struct err err = { { 0 } };

	if (s->app->read_only || !desk || desk->access != DESK_WRITES ||
	    !draft_bind(&like, m, &s->load->reader, number, m->records.n, &names))
		return; /* then it lasts as long as this run */
	if (desk_snooze(desk, &(struct snooze){ like.session, like.item, like.kind, like.rev,
						m->items.v[number].n }, on, &err))
		app_say(s->app, ROLE_WARN, "%s until gavel ends: %s", on ? "snoozed" : "back",
			err.text);
	arena_release(&names);
}

void decider_clear_plan(struct decider *s, struct terms *terms)
{
	s->app->scene.plan = NULL;
	plan_release(&s->plan);
	s->plan = (struct plan){ 0 };
	s->page = PAGE_DRAFTS;
	s->confirmed = s->is_command = false;
	s->heard = s->load->model.replies.n;
	terms_fill(terms, s->options, s->config, &s->load->model);
	terms->desks = &s->load->desks;
	if (s->app->wall_ms != TIME_NONE) {
		terms->now_ms = timestamp_now_ms(); /* the app's clock has whole seconds */
		terms->live = true;
	}
	if (s->app->deciding.artifact)
		terms->artifact = s->app->deciding.artifact;
	terms->turn = s->turn;
	terms->apart = true;
	terms->dropped = &s->dropped;
	terms->chosen = s->chosen.list.n ? &s->chosen : NULL;
}

static void plan_drafts(struct decider *s, const struct terms *terms)
{
	if (s->propose && !s->chosen.list.n && !terms->named && s->propose(s->ctx, terms))
		return;
	for (uint32_t i = 0; i < s->load->desks.list.n; i++) {
		struct desk *d = &s->load->desks.list.v[i];
		struct terms own = *terms;

		own.reply = d->reply ? d->reply : terms->reply;
		if (d->access == DESK_WRITES)
			plan_make(&s->plan, d, &s->load->model, &s->load->reader, &own, NONE);
	}
}

/* Makes the plan of a page; false = there is nothing on it. */
static bool make_page(struct decider *s, uint32_t page)
{
	struct terms terms;

	decider_clear_plan(s, &terms);
	s->page = page;
	if (page >= PAGE_NAMED)
		terms.named = s->named.v[page - PAGE_NAMED];
	if (page != PAGE_MORE)
		plan_drafts(s, &terms);
	else if (s->more && !s->chosen.list.n)
		s->more(s->more_ctx, &s->plan);
	return s->plan.list.n || s->plan.refused.n || s->plan.dropped.n;
}

/* Makes the plan of the first page that has something on it, from this one on and round; false = none
 * has. */
static bool plan_page(struct decider *s, uint32_t page)
{
	bool some = make_page(s, PAGE_DRAFTS);
	uint32_t n;

	forget_named(s);
	for (uint32_t i = 0; i < s->plan.apart.n; i++)
		vec_push(&s->named, str_dup(s->plan.apart.v[i]));
	n = PAGE_NAMED + s->named.n;
	for (uint32_t i = 0; i < n; i++) {
		uint32_t at = (page + i) % n;

		if (at != PAGE_DRAFTS || s->page != PAGE_DRAFTS)
			some = make_page(s, at);
		if (some)
			return true;
	}
	return false;
}

static void show_plan(struct decider *s, uint32_t page)
{
	if (plan_page(s, page))
		app_show_plan(s->app, &s->plan);
	else
		app_say(s->app, ROLE_DIM, "nothing is staged");
}

void decider_plan(struct decider *s)
{
	if (refuse_while_sending(s))
		return;
	s->chosen.list.n = s->dropped.list.n = 0;
	show_plan(s, PAGE_DRAFTS);
}

void decider_plan_again(struct decider *s)
{
	if (refuse_while_sending(s))
		return;
	s->dropped.list.n = 0;
	show_plan(s, PAGE_DRAFTS);
}

/* The pre-flight page of what the last verb staged: other drafts stay staged. */
static void plan_at_once(struct decider *s)
{
	struct draft_refs batch = s->at_once;

	s->at_once = (struct draft_refs){ 0 };
	vec_release(&s->chosen.list);
	s->chosen = batch;
	decider_plan_again(s);
}

void decider_next_page(struct decider *s)
{
	bool shown = is_on_top(s, &view_preflight) && s->app->scene.plan && !s->chosen.list.n;

	if (!shown)
		decider_plan(s);
	else if (!refuse_while_sending(s))
		show_plan(s, s->page + 1);
}

/* Notes the drafts of all letters that are sent together with this one; false = it has none. */
static bool drop_group(struct decider *s, uint32_t letter)
{
	uint32_t before = s->dropped.list.n, end = plan_group_end(&s->plan, letter);

	for (uint32_t i = plan_group_first(&s->plan, letter); i < end; i++) {
		const struct proposal *p = &s->plan.list.v[i];

		for (uint32_t k = 0; k < p->letter.drafts.n; k++)
			vec_push(&s->dropped.list,
				 ((struct draft_ref){ p->desk, p->letter.drafts.v[k] }));
	}
	return s->dropped.list.n > before;
}

static void take_in_again(struct decider *s, struct draft_ref ref)
{
	for (uint32_t i = s->dropped.list.n; i-- > 0;)
		if (s->dropped.list.v[i].desk == ref.desk &&
		    s->dropped.list.v[i].draft == ref.draft)
			s->dropped.list.v[i] = s->dropped.list.v[--s->dropped.list.n];
}

void decider_drop(struct decider *s, uint32_t letter, uint32_t dropped)
{
	uint32_t page = s->page;

	if (!s->app->scene.plan || !is_on_top(s, &view_preflight) || refuse_while_sending(s))
		return;
	if (dropped < s->plan.dropped.n) {
		take_in_again(s, s->plan.dropped.v[dropped]);
	} else if (letter >= s->plan.list.n || s->is_command || !drop_group(s, letter)) {
		app_say(s->app, ROLE_WARN,
			"it belongs to no decision, so it cannot be dropped; {back} sends nothing");
		return;
	}
	/* the others are encoded anew: numbers must leave no gap */
	if (!plan_page(s, page))
		app_back(s->app);
	else if (s->page == page)
		app_change_plan(s->app, &s->plan);
	else
		app_show_plan(s->app, &s->plan);
	app_say(s->app, ROLE_DIM,
		dropped != NONE ? "taken in again"
				: "not now: it stays staged; {reject} on it takes it in again");
}

/* Numbers of letters by result of a delivery. */
struct tally {
	uint32_t sent, recorded, going, held, left;
};

static void say_result(struct decider *s, const struct tally *t, const struct err *err)
{
	struct buf line = { 0 };

	if (err->text[0]) {
		app_say(s->app, ROLE_ERROR, "%s", err->text);
		return;
	}
	if (t->sent || (!t->recorded && !t->going))
		buf_printf(&line, "%u sent", t->sent);
	if (t->going)
		buf_printf(&line, "%s%u on the way", line.n ? ", " : "", t->going);
	if (t->recorded)
		buf_printf(&line, "%s%u recorded", line.n ? ", " : "", t->recorded);
	if (t->held)
		keymap_printf(&s->app->keymap, &line,
			      ", %u held; {decisions} shows why, {resend} tries again", t->held);
	else if (t->left)
		buf_printf(&line, ", %u not complete yet: they stay staged", t->left);
	app_say(s->app, t->held ? ROLE_HELD : t->left ? ROLE_WARN : ROLE_OK, "%s", line.p);
	buf_release(&line);
}

static void count_letters(const struct desk *d, uint32_t from, struct tally *t)
{
	for (uint32_t i = from; i < d->letters.n; i++) {
		if (d->letters.v[i].state == LETTER_HELD)
			t->held++;
		else if (d->letters.v[i].channel == CHANNEL_NONE)
			t->recorded++;
		else if (d->letters.v[i].state == LETTER_INTENT ||
			 d->letters.v[i].state == LETTER_ATTEMPT)
			t->going++; /* the agent has not read it yet */
		else
			t->sent++;
	}
}

void decider_confirm(struct decider *s)
{
	s->confirmed = s->app->scene.plan != NULL;
}

/* What agents that gavel runs are told is a reply, too, and never ends. */
static bool speaks_to_agents(const struct decider *s)
{
	for (uint32_t i = 0; i < s->load->desks.list.n; i++)
		if (s->load->desks.list.v[i].agent)
			return true;
	return s->turn != NULL;
}

static void show_plan_again(struct decider *s, const char *why)
{
	update_views(s);
	if (s->is_command) {
		if (is_on_top(s, &view_preflight))
			app_back(s->app);
		s->app->scene.plan = NULL;
		app_say(s->app, ROLE_WARN, "%s, so nothing was sent; repeat the command", why);
		return;
	}
	show_plan(s, s->page);
	app_say(s->app, ROLE_WARN, "%s; look again", why);
}

/* Locks the reply files, and reads what others wrote there: numbers of messages follow theirs. False:
 * what the page showed is not sent. */
static bool is_still_as_shown(struct decider *s, bool sure)
{
	struct err err;

	if (plan_lock(&s->plan, &s->load->locks, sure, &err) < 0) {
		app_say(s->app, ROLE_ERROR, "%s", err.text);
		return false;
	}
	conversation_update(s->load);
	if ((!speaks_to_agents(s) && s->load->model.replies.n != s->heard) ||
	    !plan_heard_all(&s->plan, &s->load->locks)) {
		show_plan_again(s, "someone else has replied meanwhile");
		return false;
	}
	/* new messages may have changed the items decided on, or their deadlines have passed */
	if (!plan_is_current(&s->plan, &s->load->model, &s->load->reader,
			     scene_clock(&s->app->scene))) {
		show_plan_again(s, "what was decided on has changed meanwhile");
		return false;
	}
	return true;
}

static void send_plan(struct decider *s, bool sure)
{
	struct tally tally = { 0 };
	struct err err = { { 0 } };
	bool failed = false;

	for (uint32_t i = 0, end; i < s->plan.list.n && !failed; i = end) {
		const struct desk *d = s->plan.list.v[i].desk;
		uint32_t before = d->letters.n;

		if (!plan_group_is_ready(&s->plan, i, sure)) {
			tally.left++;
			end = plan_group_end(&s->plan, i);
			continue;
		}
		failed = plan_send_groups(&s->plan, i, sure, &end, &err) != 0;
		count_letters(d, before, &tally);
	}
	if (is_on_top(s, &view_preflight))
		app_back(s->app);
	s->app->scene.plan = NULL;
	update_views(s);
	if (!failed)
		err.text[0] = '\0';
	say_result(s, &tally, &err);
}

void decider_deliver(struct decider *s, bool sure)
{
	if (!s->app->scene.plan || !s->confirmed)
		return;
	app_say(s->app, ROLE_DIM, "sending");
	if (is_still_as_shown(s, sure))
		send_plan(s, sure);
	file_locks_release(&s->load->locks);
}

void decider_recover(struct decider *s)
{
	uint32_t left = 0, before = 0;
	struct err err = { { 0 } };

	app_say(s->app, ROLE_DIM, "sending");
	for (uint32_t i = 0; i < s->load->desks.list.n; i++) {
		struct desk *d = &s->load->desks.list.v[i];

		before += desk_unfinished(d);
		left += d->access == DESK_WRITES ? desk_recover(d, true, &err)
						 : desk_unfinished(d);
	}
	if (is_on_top(s, &view_recovery))
		app_back(s->app);
	update_views(s);
	if (err.text[0])
		app_say(s->app, ROLE_ERROR, "%s", err.text);
	else if (left)
		app_say(s->app, ROLE_HELD, "%u of %u are still held; {decisions} shows why", left,
			before);
	else
		app_say(s->app, ROLE_OK, "%u finished", before);
}

void decider_resend(struct decider *s, struct desk *desk, uint32_t letter)
{
	struct err err;

	app_say(s->app, ROLE_DIM, "sending");
	if (!end_change(s, desk_resend(desk, letter, &err), &err))
		return;
	if (desk->letters.v[letter].state == LETTER_HELD)
		app_say(s->app, ROLE_HELD, "still held: %.*s",
			STR_ARG(desk->letters.v[letter].why));
	else
		app_say(s->app, ROLE_OK, "sent");
}

void decider_give_up(struct decider *s, struct desk *desk, uint32_t letter, bool may_have_arrived)
{
	struct err err;

	if (refuse_while_sending(s) || /* perhaps this letter */
	    !end_change(s, desk_give_up(desk, letter, may_have_arrived, &err), &err))
		return;
	if (desk->letters.v[letter].state == LETTER_SENT)
		app_say(s->app, ROLE_OK, "it did arrive, so it is not abandoned");
	else
		app_say(s->app, ROLE_DIM, "abandoned; the item is open again");
}
