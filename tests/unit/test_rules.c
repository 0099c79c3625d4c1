/* Every rule of every protocol, each with messages that break it alone and messages that keep it:
 * the text files of tests/fixtures/rules, whose heads explain their form. One test is one rule,
 * named after it in the report. That no rule is left out is tests/rules.t's business. */
#include "dialect/dialect.h"
#include "model/model.h"

#include "unit.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>

/* From one control line (break, keep) to the next. */
struct trial {
	unsigned line; /* of the control line in its file */
	bool keep;
	uint32_t at; /* break: the message it is on, from 1 */
	struct str pointer, severity;
	unsigned flags; /* of the last message */
	uint64_t full_length;
	struct str file_name;
	VEC(struct str) also, messages;
};

struct rule {
	const char *file;
	unsigned line;
	char *id;
	VEC(struct trial) trials;
};

static VEC(struct rule) rules;
static VEC(char *) mistakes; /* in the files themselves */
static struct arena texts;
static unsigned files;

/* Fills out with the next line, without its end; false at the end. */
static bool next_line(struct str *rest, struct str *out)
{
	const char *end = rest->n ? memchr(rest->p, '\n', rest->n) : NULL;

	if (!rest->n)
		return false;
	*out = str_make(rest->p, end ? (size_t)(end - rest->p) : rest->n);
	*rest = str_from(*rest, out->n + 1);
	return true;
}

static struct str next_word(struct str *rest)
{
	ptrdiff_t space = str_find(*rest, STR(" "), 0);
	struct str word = space < 0 ? *rest : str_make(rest->p, (size_t)space);

	*rest = space < 0 ? STR_NONE : str_from(*rest, (size_t)space + 1);
	return word;
}

static bool take(struct str line, const char *word, struct str *rest)
{
	struct str head = str_of(word);

	if (!str_starts(line, head) || (line.n > head.n && line.p[head.n] != ' '))
		return false;
	*rest = str_from(line, head.n + 1);
	return true;
}

static uint64_t number(struct str word)
{
	uint64_t n = 0;

	str_to_u64(word, &n);
	return n;
}

static void mistake(const char *file, unsigned line, const char *what)
{
	vec_push(&mistakes, arena_printf(&texts, "%s:%u: %s", file, line, what));
}

static void begin_trial(struct rule *r, unsigned line, bool keep, struct str rest)
{
	struct trial t = { .line = line, .keep = keep };

	if (!keep) {
		t.at = (uint32_t)number(next_word(&rest));
		t.pointer = next_word(&rest);
		t.severity = next_word(&rest);
		if (str_is(t.pointer, "-"))
			t.pointer = STR("");
		if (!t.at || !t.severity.n || rest.n)
			mistake(r->file, line, "not: break LINE POINTER SEVERITY");
	}
	vec_push(&r->trials, t);
}

/* @n in a repeated line is the number of the copy. */
static struct str numbered(struct str line, unsigned n)
{
	struct buf b = { 0 };
	struct str out;
	size_t start = 0;
	ptrdiff_t at;

	while ((at = str_find(line, STR("@n"), start)) >= 0) {
		buf_add(&b, line.p + start, (size_t)at - start);
		buf_printf(&b, "%03u", n);
		start = (size_t)at + 2;
	}
	buf_add_str(&b, str_from(line, start));
	out = arena_str(&texts, buf_str(&b));
	buf_release(&b);
	return out;
}

/* A line below break or keep: about the messages, or one of them. */
static void add_line(struct trial *t, struct str line, unsigned *copies)
{
	struct str rest;

	if (take(line, "also", &rest)) {
		vec_push(&t->also, rest);
	} else if (take(line, "file", &rest)) {
		t->file_name = rest;
	} else if (take(line, "repeat", &rest)) {
		*copies = (unsigned)number(rest);
	} else if (take(line, "truncated", &rest)) {
		t->flags |= RECORD_TRUNCATED;
	} else if (take(line, "oversize", &rest)) {
		t->flags |= RECORD_OVERSIZE;
		t->full_length = number(rest);
	} else {
		for (unsigned i = 1; i <= *copies; i++)
			vec_push(&t->messages, *copies > 1 ? numbered(line, i) : line);
		*copies = 1;
	}
}

static void parse(const char *file, struct str text)
{
	struct str line, rest;
	struct rule *r = NULL;
	struct trial *t = NULL;
	unsigned n = 0, copies = 1;

	while (next_line(&text, &line)) {
		n++;
		if (!line.n || (!r && line.p[0] == '#'))
			continue;
		if (take(line, "==", &rest)) {
			vec_push(&rules, (struct rule){ .file = file, .line = n,
							.id = arena_printf(&texts, "%.*s",
									   STR_ARG(rest)) });
			r = vec_last(&rules);
			t = NULL;
		} else if (r && (take(line, "break", &rest) || str_is(line, "keep"))) {
			begin_trial(r, n, str_is(line, "keep"), rest);
			t = vec_last(&r->trials);
		} else if (t) {
			add_line(t, line, &copies);
		} else {
			mistake(file, n, "stands before any rule or case");
		}
	}
}

static struct str read_file(const char *path)
{
	struct buf b = { 0 };
	struct str text;
	char part[4096];
	size_t n;
	FILE *f = fopen(path, "rb");

	if (!f)
		return STR_NONE;
	while ((n = fread(part, 1, sizeof(part), f)))
		buf_add(&b, part, n);
	fclose(f);
	text = arena_str(&texts, buf_str(&b));
	buf_release(&b);
	return text;
}

static int is_cases(const struct dirent *entry)
{
	return str_ends(str_of(entry->d_name), STR(".cases"));
}

static void load(void)
{
	const char *folder = getenv("GAVEL_FIXTURES"), *srcdir = getenv("srcdir");
	struct dirent **list;
	int n;

	if (!folder)
		folder = arena_printf(&texts, "%s/tests/fixtures", srcdir ? srcdir : ".");
	folder = arena_printf(&texts, "%s/rules", folder);
	n = scandir(folder, &list, is_cases, alphasort);
	for (int i = 0; i < n; i++) {
		const char *path = arena_printf(&texts, "%s/%s", folder, list[i]->d_name);

		parse(path, read_file(path));
		free(list[i]);
		files++;
	}
	if (n >= 0)
		free(list);
	else
		mistake(folder, 0, "cannot be read");
}

/* What one case gives, as text, and how much of it is of which sort. */
struct outcome {
	struct buf all;          /* every diagnostic, for the report of a failure */
	unsigned right, of_rule; /* the one that is wanted; all of the rule in question */
	unsigned others;         /* warnings and errors of rules that the case does not name */
	uint64_t also_seen;      /* bits of the trial's `also` */
};

static void weigh(struct outcome *o, const struct rule *r, const struct trial *t, uint32_t at,
		  const struct diag *d)
{
	buf_printf(&o->all, "\n  line %u %s %.*s %s: %.*s", at, severity_name(d->severity),
		   STR_ARG(d->pointer), d->rule, STR_ARG(d->text));
	if (strcmp(d->rule, r->id) == 0) {
		/* beside an error, a note of the same rule does no harm */
		o->of_rule += t->keep || d->severity > SEVERITY_NOTE || str_is(t->severity, "note");
		o->right += !t->keep && at == t->at && str_eq(d->pointer, t->pointer) &&
			    str_is(t->severity, severity_name(d->severity));
		return;
	}
	if (d->severity == SEVERITY_NOTE)
		return;
	for (uint32_t i = 0; i < t->also.n; i++)
		if (str_is(t->also.v[i], d->rule)) {
			o->also_seen |= UINT64_C(1) << i;
			return;
		}
	o->others++;
}

/* As loading a file does it (session/load.c). */
static void run(const struct rule *r, const struct trial *t, struct outcome *o)
{
	struct decoder decoder = { 0 };
	struct message message = { 0 };
	struct model model;

	model_init(&model);
	for (uint32_t i = 0; i < t->messages.n; i++) {
		bool said = str_starts(t->messages.v[i], STR("> ")); /* by a person */
		struct str bytes = str_from(t->messages.v[i], said ? 2 : 0);
		bool last = i + 1 == t->messages.n;
		struct frame_info info = { .flags = last ? t->flags : 0,
					   .full_length = last && t->full_length ? t->full_length
										 : bytes.n,
					   .file_name = t->file_name, .reply = said };
		struct place place = { .line = i + 1, .length = (uint32_t)bytes.n,
				       .group = STR("fixture"),
				       .trust = said ? TRUST_REPLY : TRUST_LOG };

		if (info.flags & RECORD_OVERSIZE)
			bytes = STR_NONE;
		dialect_decode(&decoder, bytes, &info, &message);
		model_apply(&model, &message, &place);
		for (uint32_t k = 0; k < message.diags.list.n; k++)
			weigh(o, r, t, i + 1, &message.diags.list.v[k]);
	}
	model_release(&model);
	message_release(&message);
	decoder_release(&decoder);
}

static void check_trial(const struct rule *r, const struct trial *t)
{
	struct outcome o = { 0 };
	const char *got;

	run(r, t, &o);
	got = o.all.n ? o.all.p : " nothing";
	ck_assert_msg(t->messages.n, "%s:%u: %s: a case without messages", r->file, t->line, r->id);
	if (t->keep)
		ck_assert_msg(o.of_rule == 0, "%s:%u: keeps %s, but got:%s", r->file, t->line,
			      r->id, got);
	else
		ck_assert_msg(o.right == 1 && o.of_rule == 1,
			      "%s:%u: expected once and nowhere else:\n  line %u %.*s %.*s %s\n"
			      "got:%s",
			      r->file, t->line, t->at, STR_ARG(t->severity), STR_ARG(t->pointer),
			      r->id, got);
	ck_assert_msg(o.others == 0, "%s:%u: %s: expected no other warning or error, got:%s",
		      r->file, t->line, r->id, got);
	for (uint32_t i = 0; i < t->also.n; i++)
		ck_assert_msg(o.also_seen & UINT64_C(1) << i, "%s:%u: %s: expected also %.*s, got:%s",
			      r->file, t->line, r->id, STR_ARG(t->also.v[i]), got);
	buf_release(&o.all);
}

START_TEST(rule_is_told_when_broken_and_only_then)
{
	const struct rule *r = &rules.v[_i];
	unsigned breaks = 0, keeps = 0;

	for (uint32_t i = 0; i < r->trials.n; i++) {
		if (r->trials.v[i].keep)
			keeps++;
		else
			breaks++;
		check_trial(r, &r->trials.v[i]);
	}
	ck_assert_msg(breaks && keeps, "%s:%u: %s has %u cases that break it and %u that keep it",
		      r->file, r->line, r->id, breaks, keeps);
}
END_TEST

START_TEST(files_are_well_formed)
{
	ck_assert_msg(mistakes.n == 0, "%s (and %u more)", mistakes.v[0], mistakes.n - 1);
	ck_assert_msg(files >= 6 && rules.n >= 300, "only %u files with %u rules were found", files,
		      rules.n);
	for (uint32_t i = 0; i < rules.n; i++)
		for (uint32_t k = 0; k < i; k++)
			ck_assert_msg(strcmp(rules.v[i].id, rules.v[k].id) != 0,
				      "%s:%u: %s stands in line %u too", rules.v[i].file,
				      rules.v[i].line, rules.v[i].id, rules.v[k].line);
}
END_TEST

static void release(void)
{
	for (uint32_t i = 0; i < rules.n; i++) {
		for (uint32_t k = 0; k < rules.v[i].trials.n; k++) {
			vec_release(&rules.v[i].trials.v[k].also);
			vec_release(&rules.v[i].trials.v[k].messages);
		}
		vec_release(&rules.v[i].trials);
	}
	vec_release(&rules);
	vec_release(&mistakes);
	arena_release(&texts);
}

int main(void)
{
	Suite *suite = suite_create("rules");
	TCase *t = tcase_create("files");
	int result;

	load();
	suite_add_tcase(suite, t);
	tcase_add_test(t, files_are_well_formed);
	for (uint32_t i = 0; i < rules.n; i++) {
		t = tcase_create(rules.v[i].id);
		suite_add_tcase(suite, t);
		tcase_add_loop_test(t, rule_is_told_when_broken_and_only_then, (int)i, (int)i + 1);
	}
	result = unit_run(suite);
	release();
	return result;
}
