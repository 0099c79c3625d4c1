/* gavel journal: lists the decisions of all sources and their delivery; verifies and repairs
 * journals; resends or voids messages. */
#include "cmd/cmd.h"
#include "session/journals.h"
#include "session/load.h"
#include "cmd/print.h"
#include "json/compose.h"

/* ---- list ---- */

static const char *delivery_of(const struct desk *d, const struct draft *draft)
{
	return draft->state == DRAFT_VOID ? "void" : delivery_name(draft_delivery(d, draft, NULL));
}

static void json_draft(const struct desk *d, const struct draft *draft, struct buf *out)
{
	const struct letter *l = draft_letter(d, draft);

	buf_addc(out, '{');
	json_put_name(out, "id", draft->id);
	json_put_str(out, "source", d->source);
	json_put_str(out, "session", draft->session);
	json_put_name(out, "dialect", dialect_name(draft->dialect));
	json_put_name(out, "kind", item_kind_name(draft->kind));
	json_put_str(out, "item", draft->item);
	json_put_name(out, "verb", verb_name(draft->verb));
	json_put_str(out, "by", draft->by);
	json_put_time(out, "time", draft->time_ms);
	json_put_str(out, "rev", draft->rev);
	json_put_name(out, "delivery", delivery_of(d, draft));
	json_put_name(out, "letter", l ? l->id : NULL);
	json_put_name(out, "state", l ? letter_state_name(l->state) : "DRAFT");
	json_put_str(out, "to", l && l->path.n ? l->path : STR_NONE);
	json_put_number(out, "bytes", l ? l->bytes.n : 0);
	json_put_str(out, "why", l && l->state == LETTER_HELD ? l->why : STR_NONE);
	if (l && l->state == LETTER_HELD)
		json_put_bool(out, "uncertain", l->uncertain);
	buf_adds(out, "}\n");
}

static void text_draft(const struct desk *d, const struct draft *draft, struct buf *out)
{
	const struct letter *l = draft_letter(d, draft);
	char when[32];

	buf_printf(out, "%s  %-24s %-8s  %-12s  ", l ? l->id : draft->id,
		   timestamp_iso(draft->time_ms, when), verb_name(draft->verb),
		   delivery_of(d, draft));
	add_clean(out, draft->item, TEXT_ID);
	if (l && l->path.n)
		add_labelled(out, "  to ", l->path, TEXT_ID);
	if (l && l->state == LETTER_HELD)
		add_labelled(out, l->uncertain ? "  may have arrived: " : "  not delivered: ",
			     l->why, TEXT_LINE);
	buf_addc(out, '\n');
}

/* Messages that carry no decision: review notes, queue entries. */
static void text_letter(const struct letter *l, struct buf *out)
{
	char when[32];

	buf_printf(out, "%s  %-24s %-8s  %-12s  to ", l->id, timestamp_iso(l->time_ms, when),
		   "beside", letter_state_name(l->state));
	add_clean(out, l->path, TEXT_ID);
	if (l->state == LETTER_HELD)
		add_labelled(out, "  ", l->why, TEXT_LINE);
	buf_addc(out, '\n');
}

static int list(const struct options *o, const struct journal_folders *folders)
{
	void (*add_draft)(const struct desk *, const struct draft *, struct buf *) =
		o->format == OUTPUT_JSON ? json_draft : text_draft;
	struct buf out = { 0 };
	int code = EXIT_FINE;

	for (uint32_t i = 0; i < folders->list.n; i++) {
		struct desk d = { 0 };

		desk_open_dir(&d, folders->list.v[i], false);
		if (d.trouble != JOURNAL_FINE) {
			say_error("%s", d.why.text);
			code = EXIT_JOURNAL;
		}
		if (o->format == OUTPUT_TEXT) {
			add_clean(&out, d.source, TEXT_ID);
			buf_addc(&out, '\n');
		}
		for (uint32_t k = 0; k < d.drafts.n; k++)
			add_draft(&d, &d.drafts.v[k], &out);
		for (uint32_t k = 0; k < d.letters.n && o->format == OUTPUT_TEXT; k++)
			if (!d.letters.v[k].drafts.n)
				text_letter(&d.letters.v[k], &out);
		desk_close(&d);
	}
	if (!out.n && o->format == OUTPUT_TEXT)
		buf_adds(&out, "no decisions yet\n");
	(o->format == OUTPUT_TEXT ? print_text : print_json)(&out);
	return code;
}

/* ---- verify, repair ---- */

static int verify(const struct journal_folders *folders)
{
	int code = EXIT_FINE;

	for (uint32_t i = 0; i < folders->list.n; i++) {
		struct buf said = { 0 };
		uint64_t records = 0;
		unsigned problems = journal_verify(folders->list.v[i], &said, &records);

		say("%s: %llu record%s, %u problem%s", folders->list.v[i],
		    (unsigned long long)records, plural_s(records), problems, plural_s(problems));
		print_text(&said);
		if (problems)
			code = EXIT_JOURNAL;
	}
	if (!folders->list.n)
		say("there is no journal yet");
	return code;
}

static int repair(const struct journal_folders *folders)
{
	int code = EXIT_FINE;

	for (uint32_t i = 0; i < folders->list.n; i++) {
		struct buf said = { 0 };
		uint64_t records;
		struct err err;
		bool valid = !journal_verify(folders->list.v[i], &said, &records);

		buf_clear(&said);
		if (!valid && journal_repair(folders->list.v[i], &said, &err) != JOURNAL_FINE) {
			say_error("%s", err.text);
			code = EXIT_JOURNAL;
		}
		print_text(&said);
	}
	return code;
}

/* ---- resend, void ---- */

/* What an id refers to: a message, or a staged decision that is in none yet. */
struct journal_match {
	uint32_t folder, letter, draft; /* letter or draft is NONE */
};

static int find_named(const struct journal_folders *folders, const char *id,
		      struct journal_match *out)
{
	uint32_t hits = 0;

	for (uint32_t i = 0; i < folders->list.n; i++) {
		struct desk d = { 0 };

		desk_open_dir(&d, folders->list.v[i], false);
		for (uint32_t k = 0; k < d.letters.n; k++)
			if (str_starts(str_of(d.letters.v[k].id), str_of(id))) {
				*out = (struct journal_match){ i, k, NONE };
				hits++;
			}
		for (uint32_t k = 0; k < d.drafts.n; k++)
			if (d.drafts.v[k].state == DRAFT_STAGED &&
			    str_starts(str_of(d.drafts.v[k].id), str_of(id))) {
				*out = (struct journal_match){ i, NONE, k };
				hits++;
			}
		desk_close(&d);
	}
	if (hits == 0)
		print_trouble("no entry %s; gavel journal list shows the ids", id);
	else if (hits > 1)
		say_error("%u ids begin with %s; give more of it", hits, id);
	return hits == 1 ? 0 : -1;
}

static int act(struct desk *d, const struct journal_match *what, bool resend, bool sure,
	       struct err *err)
{
	if (what->letter != NONE)
		return resend ? desk_resend(d, what->letter, err)
			      : desk_give_up(d, what->letter, sure, err);
	if (resend)
		return err_set(err, "%s is staged, not held; gavel decide SOURCE --deliver sends "
				    "it", d->drafts.v[what->draft].id);
	return desk_undo(d, what->draft, err);
}

static int act_on(const struct options *o, const struct journal_folders *folders, bool resend)
{
	struct desk d = { .sole_writer = o->sole_writer };
	struct buf line = { 0 };
	struct journal_match what = { 0, NONE, NONE };
	struct err err;
	int code = EXIT_FOUND;

	if (find_named(folders, o->words.v[1], &what))
		return EXIT_FOUND;
	desk_open_dir(&d, folders->list.v[what.folder], true);
	if (d.access != DESK_WRITES) {
		say_error("%s", d.why.text);
		code = EXIT_JOURNAL;
	} else if (act(&d, &what, resend, o->sure, &err)) {
		say_error("%s", err.text);
	} else if (what.letter == NONE) {
		say("%s: undone", d.drafts.v[what.draft].id);
		code = EXIT_FINE;
	} else {
		const struct letter *l = &d.letters.v[what.letter];

		buf_printf(&line, "%s: %s", l->id, letter_state_name(l->state));
		if (l->state == LETTER_HELD)
			add_labelled(&line, ": ", l->why, TEXT_LINE);
		buf_addc(&line, '\n');
		print_text(&line);
		code = l->state == LETTER_HELD ? EXIT_FOUND : EXIT_FINE;
	}
	desk_close(&d);
	return code;
}

int cmd_journal(struct options *o)
{
	const char *word = o->words.n ? o->words.v[0] : "list";
	struct journal_folders folders = { 0 };
	int code = EXIT_TROUBLE;

	journals_find(o->journal, &folders);
	if (strcmp(word, "list") == 0)
		code = list(o, &folders);
	else if (strcmp(word, "verify") == 0)
		code = verify(&folders);
	else if (strcmp(word, "repair") == 0)
		code = repair(&folders);
	else if (strcmp(word, "resend") == 0 && o->words.n == 2)
		code = act_on(o, &folders, true);
	else if (strcmp(word, "void") == 0 && o->words.n == 2)
		code = act_on(o, &folders, false);
	else
		print_trouble("journal list, verify, resend ID, void ID or repair; see gavel "
			      "journal --help");
	journals_release(&folders);
	return code;
}
