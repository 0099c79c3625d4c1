/* Parser of the filter language, with errors that name the word, the allowed values and the nearest
 * one (edit distance). */
#include "model/filter_terms.h"

#include "base/glob.h"
#include "model/rules.h"

#include <stdlib.h>

static const char *key_at(unsigned i)
{
	return i < KEY_COUNT ? filter_keys[i].name : NULL;
}

static const char *property_at(unsigned i)
{
	return i < PROPERTY_COUNT ? filter_properties[i].name : NULL;
}

static const char *dialect_at(unsigned i)
{
	return i < DIALECT_MAX && dialect_rules[i] ? dialect_rules[i]->name : NULL;
}

static const char *trust_at(unsigned i)
{
	return i < TRUST_COUNT ? trust_name((enum trust)i) : NULL;
}

static const char *severity_at(unsigned i)
{
	if (i < SEVERITY_DIAG)
		return grade_name(i);
	return i < SEVERITY_COUNT ? severity_name(SEVERITY_ERROR - (i - SEVERITY_DIAG)) : NULL;
}

static const char *verdict_at(unsigned i)
{
	return i < VERDICT_COUNT ? verdict_name((enum verdict)i) : NULL;
}

name_fn filter_names(enum key key)
{
	static const name_fn names[KEY_COUNT] = {
		[KEY_DIALECT] = dialect_at, [KEY_SEVERITY] = severity_at, [KEY_IS] = property_at,
		[KEY_TRUST] = trust_at,	    [KEY_VERDICT] = verdict_at,
	};

	return key < KEY_COUNT ? names[key] : NULL;
}

static int index_of_name(name_fn at, struct str s)
{
	const char *name;

	for (unsigned i = 0; (name = at(i)); i++)
		if (str_eq_nocase(str_of(name), s))
			return (int)i;
	return -1;
}

static char lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

/* Levenshtein distance of two short words. */
static unsigned distance(struct str a, struct str b)
{
	unsigned row[32];

	if (a.n >= 32 || b.n >= 32)
		return 32;
	for (unsigned j = 0; j <= b.n; j++)
		row[j] = j;
	for (unsigned i = 1; i <= a.n; i++) {
		unsigned corner = row[0];

		row[0] = i;
		for (unsigned j = 1; j <= b.n; j++) {
			unsigned best = corner + (lower(a.p[i - 1]) != lower(b.p[j - 1]));

			corner = row[j];
			best = row[j] + 1 < best ? row[j] + 1 : best;
			row[j] = row[j - 1] + 1 < best ? row[j - 1] + 1 : best;
		}
	}
	return row[b.n];
}

/* The suggestion: the name with that prefix, or within an edit distance of two. */
static const char *nearest_name(name_fn at, struct str s)
{
	const char *name, *found = NULL;
	unsigned best = s.n < 4 ? 2 : 3;

	for (unsigned i = 0; (name = at(i)); i++) {
		struct str n = str_of(name);
		unsigned d = distance(s, n);

		if (s.n > 1 && s.n < n.n && str_eq_nocase(s, str_make(n.p, s.n)))
			return name;
		if (d < best) {
			best = d;
			found = name;
		}
	}
	return found;
}

static int unknown_name(const struct parser *p, name_fn at, struct str got, const char *fault,
			const char *hint)
{
	const char *name, *meant = nearest_name(at, got);
	char whole[QUOTED_MAX], part[QUOTED_MAX];
	struct buf list = { 0 };

	for (unsigned i = 0; (name = at(i)); i++)
		buf_printf(&list, "%s%s", i ? ", " : "", name);
	err_set(p->err, "filter %s: %s %s%s%s; allowed: %.*s%s", quoted(p->word, whole),
		quoted(got, part), fault, meant ? "; did you mean " : "", meant ? meant : "",
		STR_ARG(buf_str(&list)), hint);
	buf_release(&list);
	return -1;
}

static int term_error(const struct parser *p, const char *fault)
{
	char whole[QUOTED_MAX];

	return err_set(p->err, "filter %s: %s", quoted(p->word, whole), fault);
}

/* Normalises for glob_match: lower case, and no slashes, which are special there. */
static void fold(struct str s, char *out)
{
	for (size_t i = 0; i < s.n; i++)
		out[i] = s.p[i] == '/' ? '\x1f' : lower(s.p[i]);
}

bool value_matches(const struct term *t, struct str s)
{
	char small[128], *folded;
	bool match;

	if (!s.n)
		return false;
	if (!t->glob)
		return str_eq_nocase(t->value, s);
	folded = s.n <= sizeof(small) ? small : xmalloc(s.n);
	fold(s, folded);
	match = glob_match(t->value, str_make(folded, s.n));
	if (folded != small)
		free(folded);
	return match;
}

static void read_text(struct parser *p, struct term *t)
{
	char *folded;

	t->glob = memchr(t->value.p, '*', t->value.n) != NULL;
	if (!t->glob)
		return;
	folded = arena_alloc(p->arena, t->value.n);
	fold(t->value, folded);
	t->value = str_make(folded, t->value.n);
}

int read_name(struct parser *p, struct term *t)
{
	read_text(p, t);
	t->bitmap = arena_zalloc(p->arena, sizeof(*t->bitmap));
	return 0;
}

int read_source(struct parser *p, struct term *t)
{
	read_text(p, t);
	t->sources = arena_zalloc(p->arena, sizeof(*t->sources));
	return 0;
}

int read_dialect(struct parser *p, struct term *t)
{
	read_text(p, t);
	if (!t->glob && index_of_name(dialect_at, t->value) < 0)
		return unknown_name(p, dialect_at, t->value, "is not a dialect", "");
	return 0;
}

int read_verdict(struct parser *p, struct term *t)
{
	int verdict = index_of_name(verdict_at, t->value);

	if (verdict < 0)
		return unknown_name(p, verdict_at, t->value, "is no verdict", "");
	t->wanted = 1u << verdict;
	return 0;
}

int read_is(struct parser *p, struct term *t)
{
	int property = index_of_name(property_at, t->value);

	if (property < 0)
		return unknown_name(p, property_at, t->value, "is not a state", "");
	t->wanted = filter_properties[property].bit;
	return 0;
}

/* Items' grades and diagnostics' severities are two scales; comparisons stay within one. */
int read_severity(struct parser *p, struct term *t)
{
	struct str name = t->value;
	char sign = '=';
	bool equal = true;
	unsigned i, end;
	int found;

	if (name.p[0] == '<' || name.p[0] == '>' || name.p[0] == '=') {
		sign = name.p[0];
		name = str_from(name, 1);
		equal = sign == '=' || (name.n && name.p[0] == '=');
		name = str_from(name, sign != '=' && equal);
	}
	found = index_of_name(severity_at, name);
	if (found < 0)
		return unknown_name(p, severity_at, name, "is not a severity",
				    ", after =, <, <=, > or >= if need be");
	i = found < SEVERITY_DIAG ? 0 : SEVERITY_DIAG;
	end = found < SEVERITY_DIAG ? SEVERITY_DIAG : SEVERITY_COUNT;
	for (; i < end; i++)
		if ((equal && (int)i == found) || (sign == '>' && (int)i < found) ||
		    (sign == '<' && (int)i > found))
			t->wanted |= (unsigned)PROPERTY_SEVERITY << i;
	return 0;
}

int read_trust(struct parser *p, struct term *t)
{
	int trust = index_of_name(trust_at, t->value);

	if (trust < 0)
		return unknown_name(p, trust_at, t->value, "is not an origin", "");
	t->wanted = 1u << trust;
	return 0;
}

int read_time(struct parser *p, struct term *t)
{
	if (!timestamp_parse_loose(t->value, p->day, &t->time_ms))
		return term_error(p, "not a time; allowed: 10:15, 10:15:30, 2026-01-26T10:15Z, "
				     "2026-01-26, or milliseconds since 1970");
	return 0;
}

static bool is_space(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static struct str until_space(struct str s)
{
	size_t n = 0;

	while (n < s.n && !is_space(s.p[n]))
		n++;
	return str_make(s.p, n);
}

static bool starts_quoted(struct str s)
{
	return s.n && s.p[0] == '"';
}

static int take_value(struct parser *p, struct str *out)
{
	ptrdiff_t close;

	if (!starts_quoted(p->rest)) {
		*out = until_space(p->rest);
		p->rest = str_from(p->rest, out->n);
		return 0;
	}
	close = str_find(p->rest, STR("\""), 1);
	if (close < 0)
		return term_error(p, "the quote is not closed; add a \" at the end");
	*out = str_make(p->rest.p + 1, (size_t)close - 1);
	p->rest = str_from(p->rest, (size_t)close + 1);
	if (p->rest.n && !is_space(p->rest.p[0]))
		return term_error(p, "a word ends with its quote; put a space after it");
	return 0;
}

/* Whether the part before the colon looks like a key; not in a URL. */
static bool looks_keyed(struct str word, size_t colon)
{
	if (colon == 0 || colon == word.n || str_starts(str_from(word, colon + 1), STR("//")))
		return false;
	for (size_t i = 0; i < colon; i++)
		if (lower(word.p[i]) < 'a' || lower(word.p[i]) > 'z')
			return false;
	return true;
}

static int take_key(struct parser *p, struct term *t)
{
	struct str word = until_space(p->rest);
	size_t colon = 0;
	int found;

	t->key = KEY_WORD;
	if (starts_quoted(word))
		return 0;
	while (colon < word.n && word.p[colon] != ':')
		colon++;
	if (!looks_keyed(word, colon))
		return 0;
	found = index_of_name(key_at, str_make(word.p, colon));
	if (found < 0)
		return unknown_name(p, key_at, str_make(word.p, colon), "is not a key",
				    "; put a word that has a colon in quotes");
	t->key = (enum key)found;
	p->rest = str_from(p->rest, colon + 1);
	return 0;
}

static int take_term(struct parser *p, struct term *t)
{
	p->word = until_space(p->rest);
	if (p->word.n > 1 && p->word.p[0] == '-') {
		t->negate = true;
		p->rest = str_from(p->rest, 1);
	}
	if (take_key(p, t) < 0 || take_value(p, &t->value) < 0)
		return -1;
	if (t->key == KEY_WORD)
		return 0;
	if (!t->value.n)
		return term_error(p, "a value is missing after the colon");
	if (filter_keys[t->key].read)
		return filter_keys[t->key].read(p, t);
	read_text(p, t);
	return 0;
}

struct filter *filter_new(struct str text, int64_t day, struct err *err)
{
	struct filter *f = xcalloc(1, sizeof(*f));
	struct parser p = { .rest = arena_str(&f->arena, text), .day = day, .arena = &f->arena,
			    .err = err };

	f->sessions = arena_zalloc(&f->arena, sizeof(*f->sessions));
	for (;;) {
		struct term t = { 0 };

		while (p.rest.n && is_space(p.rest.p[0]))
			p.rest = str_from(p.rest, 1);
		if (!p.rest.n)
			return f;
		if (take_term(&p, &t) < 0)
			break;
		if (t.key == KEY_WORD)
			vec_push(&f->words, t);
		else
			vec_push(&f->terms, t);
	}
	filter_free(f);
	return NULL;
}
