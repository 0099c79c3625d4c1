/* gavel decide: makes one decision from a script, or delivers all that is staged. Prints the
 * outcome of each item as a line of text or a JSON object. */
#include "cmd/cmd.h"
#include "agents/running.h"
#include "decide/question.h"
#include "session/find_item.h"
#include "session/load.h"
#include "session/terms.h"
#include "base/io.h"
#include "cmd/print.h"
#include "json/compose.h"

#include <stdlib.h>

enum { INPUT_MAX = 1 << 20 }; /* bytes of --edit */

struct decide_command {
	struct options *o;
	struct config config;
	struct load load;
	struct scene scene;
	struct terms terms;
	struct desk *desk;
	struct plan plan;
	struct arena words; /* of outcomes, which outlive a plan */
	VEC(uint32_t) proposals; /* of the plan, by draft: number plus one; 0 = none */
};

/* What happened to one item. */
struct outcome {
	struct str item, verb;
	enum delivery delivery;
	const struct letter *letter; /* NULL = none yet */
	bool repeated;
	VEC(struct str) missing; /* why it was not sent, or not even staged */
};

static void print_object(const struct outcome *r)
{
	struct buf out = { 0 };

	buf_addc(&out, '{');
	json_put_str(&out, "item", r->item);
	json_put_str(&out, "verb", r->verb);
	json_put_name(&out, "delivery", delivery_name(r->delivery));
	json_put_str(&out, "to", r->letter && r->letter->path.n ? r->letter->path : STR_NONE);
	json_put_number(&out, "bytes", r->letter ? r->letter->bytes.n : 0);
	json_put_bool(&out, "repeated", r->repeated);
	json_open(&out, "missing", '[');
	for (uint32_t i = 0; i < r->missing.n; i++) {
		json_comma(&out);
		json_write_str(&out, r->missing.v[i]);
	}
	buf_addc(&out, ']');
	json_put_str(&out, "addressee", r->letter && r->letter->to.n ? r->letter->to : STR_NONE);
	json_put_name(&out, "letter", r->letter && r->letter->id[0] ? r->letter->id : NULL);
	if (r->delivery == DELIVERY_HELD) {
		json_put_str(&out, "why", r->letter->why);
		json_put_bool(&out, "uncertain", r->letter->uncertain);
	}
	buf_adds(&out, "}\n");
	print_json(&out);
}

static void print_problem(const struct outcome *r, struct str problem)
{
	struct buf item = { 0 };

	add_clean(&item, r->item, TEXT_ID);
	say_error("%s: %.*s", item.n ? item.p : "", STR_ARG(problem));
	buf_release(&item);
}

static void print_lines(const struct decide_command *d, const struct outcome *r)
{
	struct buf out = { 0 };

	add_clean(&out, r->item, TEXT_ID);
	buf_printf(&out, ": %.*s, %s", STR_ARG(r->verb), delivery_name(r->delivery));
	if (r->repeated)
		buf_adds(&out, " already; nothing new was written");
	if (r->letter && r->letter->path.n && r->delivery >= DELIVERY_SENT) {
		add_labelled(&out, r->delivery == DELIVERY_HELD ? " for " : " to ",
			     r->letter->path, TEXT_ID);
		buf_printf(&out, " (%zu bytes)", r->letter->bytes.n);
	}
	if (r->delivery == DELIVERY_HELD)
		add_labelled(&out,
			     r->letter->uncertain ? ", it may have arrived: " : ", not delivered: ",
			     r->letter->why, TEXT_LINE);
	if (r->delivery == DELIVERY_STAGED && !d->o->deliver) {
		add_labelled(&out, "; gavel decide ", str_of(d->o->words.v[0]), TEXT_ID);
		buf_adds(&out, " --deliver sends it");
	}
	buf_addc(&out, '\n');
	print_text(&out);
	for (uint32_t i = 0; i < r->missing.n; i++)
		print_problem(r, r->missing.v[i]);
}

static int report(const struct decide_command *d, struct outcome *r)
{
	bool fine = !r->missing.n && r->delivery != DELIVERY_HELD;

	if (d->o->format == OUTPUT_JSON)
		print_object(r);
	else
		print_lines(d, r);
	vec_release(&r->missing);
	return fine ? EXIT_FINE : EXIT_FOUND;
}

static int refuse(const struct decide_command *d, struct outcome *r, const char *why)
{
	if (d->o->format == OUTPUT_JSON) {
		vec_push(&r->missing, str_of(why));
		report(d, r);
	} else {
		print_problem(r, str_of(why));
	}
	return EXIT_FOUND;
}

/* ---- delivery ---- */

static void recover(struct decide_command *d)
{
	struct err err = { { 0 } };

	desk_recover(d->desk, true, &err);
	load_settle(&d->load);
	if (err.text[0])
		load_say(&d->load, str_of(err.text));
}

/* What a team's store has refused stands in nobody's way. */
static bool has_unfinished(const struct desk *desk)
{
	uint32_t doubtful = 0;

	for (uint32_t i = 0; i < desk->letters.n; i++)
		doubtful += desk->letters.v[i].tried && desk->letters.v[i].uncertain;
	return desk_unfinished(desk) && (!desk->team || doubtful);
}

static int refuse_unfinished(struct decide_command *d, struct outcome *r)
{
	/* the log may prove by now that everything arrived */
	if (d->desk->recovered || !has_unfinished(d->desk))
		return 0;
	vec_push(&r->missing,
		 STR("an earlier run left messages unfinished; see gavel journal list, then give "
		     "--recover=send"));
	return -1;
}

/* The messages of a group often have the same problem. */
static void add_once(struct outcome *r, struct str sentence)
{
	for (uint32_t i = 0; i < r->missing.n; i++)
		if (str_eq(r->missing.v[i], sentence))
			return;
	vec_push(&r->missing, sentence);
}

/* Why the group that begins there cannot be sent. */
static void add_missing(const struct decide_command *d, uint32_t first, struct outcome *r)
{
	uint32_t end = plan_group_end(&d->plan, first);

	for (uint32_t i = first; i < end; i++) {
		const struct proposal *p = &d->plan.list.v[i];

		for (uint32_t k = 0; k < p->missing.n; k++)
			add_once(r, p->missing.v[k]);
		if (p->needs_sure)
			vec_push(&r->missing,
				 STR("accepted says that the artifact now reflects the change, but "
				     "it is the same as before; give it with --artifact FILE"));
	}
}

static const struct proposal *proposal_of(const struct decide_command *d, uint32_t draft)
{
	uint32_t number = draft < d->proposals.n ? d->proposals.v[draft] : 0;

	return number ? &d->plan.list.v[number - 1] : NULL;
}

/* Held messages that go along with the decision's own: queue entries, notes, copies. */
static void add_held_beside(const struct decide_command *d, uint32_t own, struct outcome *r)
{
	uint32_t n = d->desk->letters.n, batch = own < n ? d->desk->letters.v[own].batch : n;

	for (uint32_t i = batch; i < n && d->desk->letters.v[i].batch == batch; i++) {
		const struct letter *l = &d->desk->letters.v[i];

		if (l->state == LETTER_HELD && i != own)
			add_once(r, str_of(arena_printf(&d->desk->arena,
							"what goes beside it to %.*s is held: "
							"%.*s; gavel journal resend %s",
							STR_ARG(l->path), STR_ARG(l->why), l->id)));
	}
}

/* Why the plan has no message for it, without the item's name that each sentence begins with. */
static void add_refusals(const struct decide_command *d, uint32_t draft, struct outcome *r)
{
	for (uint32_t i = 0; i < d->plan.refused.n; i++)
		if (d->plan.refused_drafts.v[i] == draft)
			vec_push(&r->missing,
				 str_from(d->plan.refused.v[i],
					  d->desk->drafts.v[draft].item.n + strlen(": ")));
}

/* After new messages: what is now, and where replies go. */
static void look_again(struct decide_command *d)
{
	const struct model *m = &d->load.model;

	terms_fill(&d->terms, d->o, &d->config, m);
	d->scene = (struct scene){ .model = m, .reader = &d->load.reader, .k = m->records.n,
				   .now_ms = model_now(m, m->records.n) };
}

/* only: as in plan_make. What is not sent now must not take numbers from what is. */
static void make_plan(struct decide_command *d, uint32_t only)
{
	plan_release(&d->plan);
	d->plan = (struct plan){ 0 };
	d->proposals.n = 0;
	plan_make(&d->plan, d->desk, &d->load.model, &d->load.reader, &d->terms, only);
	for (uint32_t i = 0; i < d->desk->drafts.n; i++)
		vec_push(&d->proposals, 0);
	/* the first message that a draft is in is its own */
	for (uint32_t i = d->plan.list.n; i-- > 0;)
		for (uint32_t k = 0; k < d->plan.list.v[i].letter.drafts.n; k++)
			d->proposals.v[d->plan.list.v[i].letter.drafts.v[k]] = i + 1;
}

/* Reads what others wrote to the reply files before they were locked. False: the plan is as it would be
 * if it were made now. */
static bool hears_news(struct decide_command *d)
{
	uint32_t messages = d->load.model.records.n, changes = d->desk->changes;

	load_settle(&d->load);
	look_again(d);
	return d->load.model.records.n != messages || d->desk->changes != changes ||
	       !plan_heard_all(&d->plan, &d->load.locks);
}

/* Plans what is sent at once: under the locks of the reply files, with all that others have written
 * there, as numbers follow theirs and what they have decided is not decided again. Unlocked by
 * load_release. */
static int make_plan_locked(struct decide_command *d, uint32_t only, struct err *err)
{
	int taken;

	if (d->o->recover_send && !d->desk->recovered)
		recover(d);
	make_plan(d, only);
	while ((taken = plan_lock(&d->plan, &d->load.locks, false, err)) > 0 && hears_news(d))
		make_plan(d, only);
	return taken < 0 ? -1 : 0;
}

/* The outcome of a draft, which was sent or is staged; reports what else its group holds: by the first
 * draft of it. */
static void tell_outcome(struct decide_command *d, uint32_t draft, bool is_first, struct outcome *r)
{
	const struct proposal *p = proposal_of(d, draft);
	const struct draft *now = &d->desk->drafts.v[draft];

	if (is_first)
		add_held_beside(d, now->letter, r);
	r->delivery = draft_delivery(d->desk, now, &d->load.model);
	r->letter = now->letter != NONE ? &d->desk->letters.v[now->letter] : p ? &p->letter : NULL;
}

/* The first proposal of the group that the draft is in; NONE: none says it, and why. */
static uint32_t group_of(struct decide_command *d, uint32_t draft, struct outcome *r)
{
	const struct proposal *p = proposal_of(d, draft);
	uint32_t group = NONE;

	if (p) {
		group = plan_group_first(&d->plan, (uint32_t)(p - d->plan.list.v));
		add_missing(d, group, r);
	} else {
		add_refusals(d, draft, r);
	}
	return group;
}

/* Fills the outcome of a draft; sends its group if asked to. */
static void finish(struct decide_command *d, uint32_t draft, bool deliver, struct outcome *r)
{
	uint32_t group = group_of(d, draft, r);
	struct err err;

	if (group != NONE && deliver && !r->missing.n && refuse_unfinished(d, r) == 0 &&
	    plan_send_group(&d->plan, group, &err))
		vec_push(&r->missing, arena_str(&d->words, str_of(err.text)));
	tell_outcome(d, draft, deliver, r);
	if (desk_confirm(d->desk, &err)) { /* nothing was sent that would have */
		vec_push(&r->missing, arena_str(&d->words, str_of(err.text)));
		r->delivery = DELIVERY_NONE;
	}
}

/* What can never be sent does not stay staged: its item was closed or reworded since. */
static void drop_refused(struct decide_command *d, uint32_t draft, struct outcome *r)
{
	struct err err;

	if (d->desk->drafts.v[draft].state != DRAFT_STAGED || proposal_of(d, draft) ||
	    d->desk->drafts.v[draft].number == NONE || !r->missing.n ||
	    desk_undo(d->desk, draft, &err))
		return;
	vec_push(&r->missing, STR("no longer staged"));
	r->delivery = DELIVERY_NONE;
}

static int deliver_one(struct decide_command *d, uint32_t draft, struct outcome *r)
{
	struct err err;

	if (make_plan_locked(d, draft, &err))
		vec_push(&r->missing, arena_str(&d->words, str_of(err.text)));
	finish(d, draft, true, r);
	drop_refused(d, draft, r);
	return report(d, r);
}

/* The same decision again: nothing is written twice. */
static int repeat(struct decide_command *d, uint32_t draft, struct outcome *r)
{
	const struct draft *old = &d->desk->drafts.v[draft];
	struct err err;

	if (old->state == DRAFT_STAGED && d->o->deliver)
		return deliver_one(d, draft, r);
	r->repeated = true;
	r->letter = draft_letter(d->desk, old);
	/* a claim lapses, a server comes back */
	if (d->o->deliver && d->desk->team && r->letter && r->letter->state == LETTER_HELD) {
		r->repeated = false;
		if (desk_resend(d->desk, old->letter, &err))
			vec_push(&r->missing, arena_str(&d->words, str_of(err.text)));
		load_settle(&d->load);
	}
	r->delivery = draft_delivery(d->desk, old, &d->load.model);
	return report(d, r);
}

/* Whether --artifact is the draft's file; the journal has real paths. One that is not given again
 * is the same. */
static bool same_file(const struct options *o, const struct draft *old)
{
	char *real = o->artifact ? realpath(o->artifact, NULL) : NULL;
	bool same = !o->artifact || str_is(old->artifact, real ? real : o->artifact);

	free(real);
	return same;
}

static bool same_words(const struct options *o, const struct draft *old, const struct draft *now)
{
	return old->verb == now->verb && str_eq(old->reason_code, now->reason_code) &&
	       str_eq(old->explanation, now->explanation) && str_eq(old->answer, now->answer) &&
	       (old->verb != VERB_ALWAYS || old->option == now->option) &&
	       str_eq(old->by, now->by) && old->input == now->input && same_file(o, old);
}

/* --answer, one for each question: a line each. */
static struct str join_answers(struct decide_command *d)
{
	static const struct detail_question free_text;
	const struct options *o = d->o;
	struct buf lines = { 0 };
	struct str all;

	if (o->answers.n < 2)
		return o->answers.n ? str_of(o->answers.v[0]) : STR_NONE;
	for (uint32_t i = 0; i < o->answers.n; i++) {
		buf_adds(&lines, i ? "\n" : "");
		question_answer(&free_text, str_of(o->answers.v[i]), &lines);
	}
	all = arena_str(&d->words, buf_str(&lines));
	buf_release(&lines);
	return all;
}

/* Whether there are more answers than questions: of two for one, neither overrides the other. */
static bool has_answers_too_many(struct decide_command *d, const struct draft *draft,
				 const struct item_state *at)
{
	const struct reader *r = &d->load.reader;
	struct detail detail;
	bool known = d->o->answers.n > 1 &&
		     r->detail(r->ctx, &d->load.model.items.v[draft->number], at, &detail);

	return d->o->answers.n > (known && detail.question_n ? detail.question_n : 1);
}

/* What the options say that belong to one verb: an answer, a rule, an edited input. */
static int add_choices(struct decide_command *d, struct draft *draft, const struct item_state *at,
		       struct outcome *r)
{
	const struct options *o = d->o;
	struct buf input = { 0 };
	struct err err;
	int rc = 0;

	if (o->option && draft->verb != VERB_ANSWER)
		return refuse(d, r, "--option chooses an answer; the verb for that is answer");
	if (o->answers.n && draft->verb == VERB_ALWAYS)
		return refuse(d, r, "--answer answers a question; a rule is given with --rule");
	if ((o->offer || o->rule) && draft->verb != VERB_ALWAYS)
		return refuse(d, r, "--offer and --rule say what is always allowed; the verb for that "
				    "is always");
	if (o->edit && draft->verb != VERB_PARTIAL)
		return refuse(d, r, "--edit accepts a call with another input; the verb for that is "
				    "partial");
	if (has_answers_too_many(d, draft, at))
		return refuse(d, r, "more answers than questions; give --answer once for each, in "
				    "their order");
	draft->answer = o->rule ? str_of(o->rule) : join_answers(d);
	if (draft->verb == VERB_ALWAYS)
		draft->option = (uint32_t)o->offer;
	if (o->option)
		rc = draft_choose(draft, &d->load.reader, &d->load.model.items.v[draft->number], at,
				  o->option, &d->words, &err);
	if (o->edit)
		rc = io_read_file(o->edit, INPUT_MAX, &input, &err) ||
		     draft_set_input(draft, buf_str(&input), &d->words, &err);
	buf_release(&input);
	return rc ? refuse(d, r, err.text) : EXIT_FINE;
}

/* Stages the draft if the item accepts it; otherwise reports why not. */
static int stage(struct decide_command *d, struct draft *draft, struct outcome *r, uint32_t *staged)
{
	const struct model *m = &d->load.model;
	uint32_t written = NONE;
	struct buf why = { 0 };
	struct err err;
	int code = EXIT_FINE;

	if (!desk_allows(d->desk, draft, m, m->records.n, scene_clock(&d->scene), &written, &why)) {
		code = refuse(d, r, why.p);
	} else if (written != NONE && !d->o->correct) {
		add_standing(d->desk, draft, m, m->records.n, &why);
		buf_adds(&why, "; --correct sends a correction");
		code = refuse(d, r, why.p);
	}
	buf_release(&why);
	if (code)
		return code;
	if (written != NONE)
		draft->corrects = arena_str(&d->words, corrects_name(d->desk, written));
	if ((d->o->deliver ? desk_stage_unconfirmed : desk_stage)(d->desk, draft, staged, &err) == 0)
		return EXIT_FINE;
	refuse(d, r, err.text);
	return d->desk->trouble == JOURNAL_FINE ? EXIT_FOUND : EXIT_JOURNAL;
}

static int decide_item(struct decide_command *d, uint32_t number, enum verb verb)
{
	const struct options *o = d->o;
	const struct model *m = &d->load.model;
	struct outcome r = { .verb = str_of(verb_name(verb)) };
	struct draft draft = { .verb = verb, .reason_code = str_of(o->reason_code),
			       .explanation = str_of(o->explain),
			       .artifact = str_of(o->artifact), .input = o->input,
			       .by = desk_decider(d->desk, d->terms.as) };
	struct item_state at;
	uint32_t old, staged;
	int code;

	draft_bind(&draft, m, &d->load.reader, number, m->records.n, &d->words);
	item_at(m, &m->items.v[number], m->records.n, scene_clock(&d->scene), &at);
	r.item = draft.item;
	r.delivery = at.delivery;
	if (o->rev && !str_is(draft.rev, o->rev))
		return refuse(d, &r, "it has changed since it was shown; look at it again");
	code = add_choices(d, &draft, &at, &r);
	if (code)
		return code;
	old = desk_find(d->desk, &draft);
	if (old != NONE && same_words(o, &d->desk->drafts.v[old], &draft))
		return repeat(d, old, &r);
	code = stage(d, &draft, &r, &staged);
	if (code)
		return code;
	load_settle(&d->load);
	if (o->deliver)
		return deliver_one(d, staged, &r);
	make_plan(d, staged);
	finish(d, staged, false, &r);
	return report(d, &r);
}

/* Sends all groups that are ready. -1: not all of them, err. */
static int send_ready(struct decide_command *d, struct err *err)
{
	int rc = 0;

	for (uint32_t i = 0, end; i < d->plan.list.n && rc == 0; i = end) {
		if (plan_group_is_ready(&d->plan, i, false))
			rc = plan_send_groups(&d->plan, i, false, &end, err);
		else
			end = plan_group_end(&d->plan, i);
	}
	return rc;
}

/* After send_ready; failed: its error, or NULL. */
static void finish_sent(struct decide_command *d, uint32_t draft, const struct err *failed,
			struct outcome *r)
{
	bool staged = d->desk->drafts.v[draft].state == DRAFT_STAGED;
	uint32_t group = group_of(d, draft, r);
	const struct letter *first = group == NONE ? NULL : &d->plan.list.v[group].letter;

	if (staged && first && !r->missing.n && refuse_unfinished(d, r) == 0 && failed)
		vec_push(&r->missing, str_of(failed->text));
	tell_outcome(d, draft, first && first->drafts.n && first->drafts.v[0] == draft, r);
}

static int deliver_all(struct decide_command *d)
{
	uint32_t n = d->desk->drafts.n, reported = 0;
	int code = EXIT_FINE, one;
	struct err err;
	bool failed = make_plan_locked(d, NONE, &err) != 0;

	if (!failed && (d->desk->recovered || !desk_unfinished(d->desk)))
		failed = send_ready(d, &err) != 0;
	for (uint32_t i = 0; i < n; i++) {
		struct outcome r = { 0 };

		if (d->desk->drafts.v[i].state != DRAFT_STAGED &&
		    !(proposal_of(d, i) && d->desk->drafts.v[i].state == DRAFT_WRITTEN))
			continue;
		r.item = d->desk->drafts.v[i].item;
		r.verb = str_of(verb_name(d->desk->drafts.v[i].verb));
		finish_sent(d, i, failed ? &err : NULL, &r);
		drop_refused(d, i, &r);
		one = report(d, &r);
		code = one ? one : code;
		reported++;
	}
	if (!reported && d->o->format == OUTPUT_TEXT)
		say("nothing is staged");
	if (desk_unfinished(d->desk) && code == EXIT_FINE)
		code = EXIT_FOUND;
	return code;
}

static int run(struct decide_command *d)
{
	const struct options *o = d->o;
	uint32_t number;
	enum verb verb;

	if (o->words.n == 1)
		return deliver_all(d);
	if (strcmp(o->words.v[2], "defer") == 0)
		return print_trouble("defer only snoozes an item in the terminal UI; it decides "
				     "nothing");
	if (!verb_named(str_of(o->words.v[2]), &verb))
		return print_trouble("no verb %s; there are accept, always, partial, reject, stop, "
				     "answer, dismiss and escalate", o->words.v[2]);
	if (find_item_named(&d->scene, o->words.v[1], o->rev, &number))
		return EXIT_FOUND;
	return decide_item(d, number, verb);
}

int cmd_decide(struct options *o)
{
	struct decide_command d = { .o = o };
	struct agent_group group;
	int code = EXIT_TROUBLE;

	if (o->words.n != 3 && !(o->words.n == 1 && o->deliver))
		return print_trouble("decide needs SOURCE ITEM VERB, or SOURCE --deliver for what "
				     "is staged; see gavel decide --help");
	if (o->answers.n && o->option)
		return print_trouble("--answer and --option are two answers; give one of them");
	if (o->rule && o->offer)
		return print_trouble("--rule and --offer are two rules; give one of them");
	load_read_config(&d.load, o, &d.config);
	d.load.desk_options = (struct desk_options){ .open = true, .write = true,
						     .journal = o->journal,
						     .sole_writer = o->sole_writer };
	if (load_open(&d.load, o->words.v, 1, o->max_line_bytes))
		goto out;
	d.desk = &d.load.desks.list.v[0];
	if (d.desk->access != DESK_WRITES) {
		say_error("%s", d.desk->why.text);
		code = d.desk->trouble == JOURNAL_TROUBLE ? EXIT_TROUBLE : EXIT_JOURNAL;
		goto out;
	}
	load_say_copy(&d.load, d.desk);
	if (d.desk->journal.torn.n)
		say_error("the last record of an earlier run is incomplete; it was moved aside as "
			  "%s",
			  d.desk->journal.torn.p);
	load_run(&d.load, NULL, NULL);
	if (d.load.trouble)
		goto out;
	look_again(&d);
	code = run(&d);
	plan_release(&d.plan);
	vec_release(&d.proposals);
out:
	load_release(&d.load);
	arena_release(&d.words);
	config_release(&d.config);
	/* after a failure nothing more is sent: what was reported stays true */
	if (o->deliver && code == EXIT_FINE && agent_group_find(&group, o->words.v, 1)) {
		attend(o, &group);
		agent_group_release(&group);
	}
	return code;
}
