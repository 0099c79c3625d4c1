/* Myers' O(ND) diff in linear space. The common prefix and suffix are removed first, as bytes. The
 * rest is split into elements; equal elements get equal class numbers (by sorting, so that no input
 * is slow), elements that only one side has are changes, and the others are searched: two frontiers
 * of furthest-reaching paths, from the start and from the end, meet in the middle of a shortest
 * edit script, and both halves are searched recursively. Used for lines, and for the words of a
 * pair of changed lines. */
#include "draw/diff.h"

#include <stdlib.h>

enum {
	COST_MAX = 1 << 23,      /* search steps over lines */
	WORD_COST_MAX = 1 << 15, /* of one pair of lines */
	WORD_LINE_MAX = 4096,    /* bytes; longer lines get no spans */
	WORD_PAIRS_MAX = 4096,
};

struct elements {
	VEC(struct str) v;
	bool *changed; /* one for each */
};

static void elements_release(struct elements *e)
{
	vec_release(&e->v);
	free(e->changed);
	e->changed = NULL;
}

/* One side of a search: the elements that the other side has too. */
struct track {
	uint32_t *class;
	uint32_t *at; /* index of the element */
	bool *changed;
	int32_t n;
};

struct match_search {
	struct track x, y;
	int32_t *front, *back; /* furthest x on each diagonal x - y; diagonals may be negative */
	int64_t budget;
};

static void mark(struct track *t, int32_t from, int32_t to)
{
	for (; from < to; from++)
		t->changed[t->at[from]] = true;
}

struct box {
	int32_t x, x_end, y, y_end;
};

/* Finds the middle of a shortest path through the box, which has no common prefix or suffix. false:
 * over budget. Each round advances both frontiers by one edit. */
static bool find_middle(struct match_search *s, struct box box, int32_t *x_mid, int32_t *y_mid)
{
	const uint32_t *xs = s->x.class, *ys = s->y.class;
	int32_t *front = s->front, *back = s->back;
	const int32_t low = box.x - box.y_end, high = box.x_end - box.y; /* of all diagonals */
	const int32_t start = box.x - box.y, goal = box.x_end - box.y_end;
	int32_t f_low = start, f_high = start, b_low = goal, b_high = goal;
	const bool odd = (start - goal) & 1;

	front[start] = box.x;
	back[goal] = box.x_end;
	while (s->budget > 0) {
		if (f_low > low)
			front[--f_low - 1] = -1;
		else
			f_low++;
		if (f_high < high)
			front[++f_high + 1] = -1;
		else
			f_high--;
		for (int32_t k = f_high; k >= f_low; k -= 2) {
			int32_t x = front[k - 1] < front[k + 1] ? front[k + 1] : front[k - 1] + 1;
			int32_t from = x;

			while (x < box.x_end && x - k < box.y_end && xs[x] == ys[x - k])
				x++;
			front[k] = x;
			s->budget -= 1 + x - from;
			if (odd && k >= b_low && k <= b_high && back[k] <= x) {
				*x_mid = x;
				*y_mid = x - k;
				return true;
			}
		}
		if (b_low > low)
			back[--b_low - 1] = INT32_MAX;
		else
			b_low++;
		if (b_high < high)
			back[++b_high + 1] = INT32_MAX;
		else
			b_high--;
		for (int32_t k = b_high; k >= b_low; k -= 2) {
			int32_t x = back[k - 1] < back[k + 1] ? back[k - 1] : back[k + 1] - 1;
			int32_t from = x;

			while (x > box.x && x - k > box.y && xs[x - 1] == ys[x - 1 - k])
				x--;
			back[k] = x;
			s->budget -= 1 + from - x;
			if (!odd && k >= f_low && k <= f_high && x <= front[k]) {
				*x_mid = x;
				*y_mid = x - k;
				return true;
			}
		}
	}
	return false;
}

/* Each level halves the edits, so the recursion is shallow. false: partly coarse. */
static bool search_box(struct match_search *s, struct box box)
{
	bool fine = true;

	for (;;) {
		struct box head;

		while (box.x < box.x_end && box.y < box.y_end &&
		       s->x.class[box.x] == s->y.class[box.y])
			box.x++, box.y++;
		while (box.x < box.x_end && box.y < box.y_end &&
		       s->x.class[box.x_end - 1] == s->y.class[box.y_end - 1])
			box.x_end--, box.y_end--;
		head = box;
		if (box.x == box.x_end || box.y == box.y_end ||
		    !find_middle(s, box, &head.x_end, &head.y_end)) {
			fine &= box.x == box.x_end || box.y == box.y_end;
			mark(&s->x, box.x, box.x_end);
			mark(&s->y, box.y, box.y_end);
			return fine;
		}
		fine &= search_box(s, head);
		box.x = head.x_end;
		box.y = head.y_end;
	}
}

struct named {
	struct str text;
	uint32_t at;
	bool in_b;
};

static int by_text(const void *left, const void *right)
{
	const struct named *a = left, *b = right;
	int order;

	if (a->text.n != b->text.n)
		return a->text.n < b->text.n ? -1 : 1;
	order = a->text.n ? memcmp(a->text.p, b->text.p, a->text.n) : 0;
	return order ? order : a->in_b != b->in_b ? a->in_b - b->in_b : a->at < b->at ? -1 : 1;
}

/* Assigns class numbers to all elements; 0 to those that only one side has. */
static void classify(const struct elements *a, const struct elements *b, uint32_t *of_a,
		     uint32_t *of_b)
{
	uint32_t n = a->v.n + b->v.n, next = 1;
	struct named *all = xmalloc(n * sizeof(*all));

	for (uint32_t i = 0; i < a->v.n; i++)
		all[i] = (struct named){ a->v.v[i], i, false };
	for (uint32_t i = 0; i < b->v.n; i++)
		all[a->v.n + i] = (struct named){ b->v.v[i], i, true };
	qsort(all, n, sizeof(*all), by_text);
	for (uint32_t from = 0, to; from < n; from = to) {
		uint32_t class;

		for (to = from + 1; to < n && str_eq(all[to].text, all[from].text);)
			to++;
		/* sorted: those of a come first */
		class = !all[from].in_b && all[to - 1].in_b ? next++ : 0;
		for (uint32_t i = from; i < to; i++)
			(all[i].in_b ? of_b : of_a)[all[i].at] = class;
	}
	free(all);
}

/* Keeps the elements with a class; the others are changed. */
static void take_shared(struct track *t, uint32_t *class, uint32_t n, bool *changed)
{
	t->class = class;
	t->changed = changed;
	t->at = xmalloc(n * sizeof(*t->at));
	for (uint32_t i = 0; i < n; i++) {
		changed[i] = !class[i];
		if (!class[i])
			continue;
		t->class[t->n] = class[i];
		t->at[t->n++] = i;
	}
}

/* Fills changed of both. false: coarse. */
static bool compare(struct elements *a, struct elements *b, int64_t budget)
{
	struct match_search s = { .budget = budget };
	uint32_t *of_a = xcalloc(a->v.n, sizeof(*of_a)), *of_b = xcalloc(b->v.n, sizeof(*of_b));
	int32_t *fronts;
	size_t diagonals;
	bool fine;

	a->changed = xmalloc(a->v.n * sizeof(*a->changed));
	b->changed = xmalloc(b->v.n * sizeof(*b->changed));
	classify(a, b, of_a, of_b);
	take_shared(&s.x, of_a, a->v.n, a->changed);
	take_shared(&s.y, of_b, b->v.n, b->changed);
	/* from -y.n - 1 to x.n + 1 */
	diagonals = (size_t)s.x.n + (size_t)s.y.n + 3;
	fronts = xmalloc(2 * diagonals * sizeof(*fronts));
	s.front = fronts + s.y.n + 1;
	s.back = s.front + diagonals;
	fine = search_box(&s, (struct box){ 0, s.x.n, 0, s.y.n });
	free(fronts);
	free(s.x.at);
	free(s.y.at);
	free(of_a);
	free(of_b);
	return fine;
}

static uint32_t count_lines(struct str s)
{
	uint32_t n = s.n && s.p[s.n - 1] != '\n';

	for (size_t i = 0; i < s.n; n++) {
		const char *newline = memchr(s.p + i, '\n', s.n - i);

		if (!newline)
			break;
		i = (size_t)(newline - s.p) + 1;
	}
	return n;
}

/* Removes the first line, with its ending, and returns it. */
static struct str next_line(struct str *s)
{
	const char *newline = s->n ? memchr(s->p, '\n', s->n) : NULL;
	struct str line = newline ? str_make(s->p, (size_t)(newline - s->p) + 1) : *s;

	*s = str_from(*s, line.n);
	return line;
}

static void split_lines(struct elements *e, struct str s)
{
	while (s.n && e->v.n + 1 < DIFF_LINES_MAX) {
		struct str line = next_line(&s);

		vec_push(&e->v, line);
	}
	if (s.n)
		vec_push(&e->v, s);
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

static bool is_word(char c)
{
	return (unsigned char)c >= 0x80 || c == '_' || (c >= '0' && c <= '9') ||
	       ((c | 32) >= 'a' && (c | 32) <= 'z');
}

/* Tokens: words, runs of blanks, and any other character by itself. */
static void split_words(struct elements *e, struct str s)
{
	for (size_t i = 0, from; i < s.n;) {
		from = i++;
		if (is_word(s.p[from]))
			while (i < s.n && is_word(s.p[i]))
				i++;
		else if (is_blank(s.p[from]))
			while (i < s.n && is_blank(s.p[i]))
				i++;
		vec_push(&e->v, str_make(s.p + from, i - from));
	}
}

static bool all_blank(struct str s)
{
	return s.n && is_blank(s.p[0]);
}

/* Counts the bytes other than blanks: of all words, and of the unchanged ones. */
static void count_common(const struct elements *e, size_t *all, size_t *common)
{
	*all = *common = 0;
	for (uint32_t i = 0; i < e->v.n; i++) {
		size_t n = all_blank(e->v.v[i]) ? 0 : e->v.v[i].n;

		*all += n;
		*common += e->changed[i] ? 0 : n;
	}
}

static void add_spans(struct diff *d, struct diff_line *line, const struct elements *e)
{
	uint32_t at = 0;
	bool open = false;

	line->span = d->spans.n;
	for (uint32_t i = 0; i < e->v.n; i++) {
		uint32_t n = (uint32_t)e->v.v[i].n;
		/* blanks between two changed words belong to the span */
		bool changed = e->changed[i] || (open && all_blank(e->v.v[i]) && i + 1 < e->v.n &&
						 e->changed[i + 1]);

		if (changed && open)
			vec_last(&d->spans)->n += n;
		else if (changed)
			vec_push(&d->spans, (struct diff_span){ at, n });
		open = changed;
		at += n;
	}
	line->spans = d->spans.n - line->span;
}

/* Adds spans if at least half is in common: marking nearly all words would not help. */
static void compare_words(struct diff *d, struct diff_line *old, struct diff_line *new)
{
	struct elements a = { 0 }, b = { 0 };
	size_t all_a, all_b, common;

	if (old->count != 1 || new->count != 1 || !old->text.n || !new->text.n ||
	    old->text.n > WORD_LINE_MAX || new->text.n > WORD_LINE_MAX)
		return;
	split_words(&a, old->text);
	split_words(&b, new->text);
	if (compare(&a, &b, WORD_COST_MAX)) {
		count_common(&a, &all_a, &common);
		count_common(&b, &all_b, &common);
		if (common * 2 >= (all_a > all_b ? all_a : all_b)) {
			add_spans(d, old, &a);
			add_spans(d, new, &b);
		}
	}
	elements_release(&a);
	elements_release(&b);
}

static void add_line(struct diff *d, enum diff_kind kind, uint32_t a, uint32_t b, uint32_t count,
		     struct str text)
{
	struct diff_line line = { .kind = kind, .end = DIFF_END_NONE, .a = a, .b = b,
				  .count = count, .text = text };

	if (count == 1 && str_ends(text, STR("\r\n"))) {
		line.end = DIFF_END_CRLF;
		line.text.n -= 2;
	} else if (count == 1 && str_ends(text, STR("\n"))) {
		line.end = DIFF_END_LF;
		line.text.n--;
	}
	vec_push(&d->lines, line);
}

/* A run of kept lines: one piece of a's text. */
struct run {
	struct str text;
	uint32_t count, a, b;
};

static void extend_run(struct run *run, struct str text, uint32_t count)
{
	run->text = run->count ? str_make(run->text.p, run->text.n + text.n) : text;
	run->count += count;
}

static void add_kept(struct diff *d, struct run *run, uint32_t count)
{
	for (; count; count--, run->count--)
		add_line(d, DIFF_KEPT, run->a++, run->b++, 1, next_line(&run->text));
}

/* The length in bytes of the run without its last `count` lines. */
static size_t without_last(const struct run *run, uint32_t count)
{
	size_t n = run->text.n;

	for (; count; count--) {
		const char *newline = n > 1 ? memrchr(run->text.p, '\n', n - 1) : NULL;

		n = newline ? (size_t)(newline - run->text.p) + 1 : 0;
	}
	return n;
}

/* Adds the run, or its ends and a gap of at least two lines, and advances it to its end. */
static void end_run(struct diff *d, struct run *run, uint32_t before, uint32_t after)
{
	d->kept += run->count;
	if (run->count > (uint64_t)before + after + 1) {
		uint32_t hidden = run->count - before - after;
		size_t n;

		add_kept(d, run, before);
		n = without_last(run, after);
		add_line(d, DIFF_GAP, run->a, run->b, hidden, str_make(run->text.p, n));
		run->text = str_from(run->text, n);
		run->count -= hidden;
		run->a += hidden;
		run->b += hidden;
	}
	add_kept(d, run, run->count);
}

struct middle {
	struct elements a, b;
	uint32_t rest_a, rest_b; /* lines in the last element */
};

static uint32_t lines_in(const struct elements *e, uint32_t i, uint32_t rest)
{
	return i + 1 == e->v.n ? rest : 1;
}

/* Adds the change at elements *i of a and *j of b, and advances them and the run behind it. */
static void add_change(struct diff *d, const struct middle *m, uint32_t *i, uint32_t *j,
		       struct run *run, uint32_t *pairs)
{
	uint32_t old = d->lines.n, new, olds, news;

	for (; *i < m->a.v.n && m->a.changed[*i]; ++*i) {
		uint32_t count = lines_in(&m->a, *i, m->rest_a);

		add_line(d, DIFF_REMOVED, run->a, 0, count, m->a.v.v[*i]);
		run->a += count;
		d->removed += count;
	}
	new = d->lines.n;
	for (; *j < m->b.v.n && m->b.changed[*j]; ++*j) {
		uint32_t count = lines_in(&m->b, *j, m->rest_b);

		add_line(d, DIFF_ADDED, 0, run->b, count, m->b.v.v[*j]);
		run->b += count;
		d->added += count;
	}
	olds = new - old;
	news = d->lines.n - new;
	for (uint32_t k = 0; k < olds && k < news && *pairs < WORD_PAIRS_MAX; k++, ++*pairs)
		compare_words(d, &d->lines.v[old + k], &d->lines.v[new + k]);
	d->hunks++;
}

/* The length of the common prefix that consists of whole lines of both. */
static size_t common_head(struct str a, struct str b)
{
	size_t n = 0, end = a.n < b.n ? a.n : b.n;

	while (n < end && a.p[n] == b.p[n])
		n++;
	if (n == a.n && n == b.n)
		return n;
	while (n && a.p[n - 1] != '\n')
		n--;
	return n;
}

static bool starts_line(struct str s, size_t at)
{
	return at == 0 || s.p[at - 1] == '\n';
}

static size_t common_tail(struct str a, struct str b)
{
	size_t n = 0, end = a.n < b.n ? a.n : b.n;

	while (n < end && a.p[a.n - 1 - n] == b.p[b.n - 1 - n])
		n++;
	while (n && !(starts_line(a, a.n - n) && starts_line(b, b.n - n)))
		n--;
	return n;
}

void diff_make(struct diff *d, struct str a, struct str b, uint32_t context)
{
	const size_t head = common_head(a, b);
	const size_t tail = common_tail(str_from(a, head), str_from(b, head));
	/* context at the ends of the text */
	const uint32_t around = context == DIFF_WHOLE ? DIFF_LINES_MAX : 0;
	struct middle m = { 0 };
	struct run run = { .a = 1, .b = 1 };
	uint32_t i = 0, j = 0, pairs = 0, before = around;
	struct str rest;

	if (!a.n)
		a = STR("");
	if (!b.n)
		b = STR("");
	if (context > DIFF_LINES_MAX)
		context = DIFF_LINES_MAX;
	d->lines.n = d->spans.n = 0;
	d->kept = d->removed = d->added = d->hunks = 0;
	split_lines(&m.a, str_make(a.p + head, a.n - head - tail));
	split_lines(&m.b, str_make(b.p + head, b.n - head - tail));
	m.rest_a = m.a.v.n ? count_lines(*vec_last(&m.a.v)) : 0;
	m.rest_b = m.b.v.n ? count_lines(*vec_last(&m.b.v)) : 0;
	d->coarse = !compare(&m.a, &m.b, COST_MAX);

	rest = str_make(a.p, head);
	extend_run(&run, rest, count_lines(rest));
	for (;;) {
		for (; i < m.a.v.n && !m.a.changed[i] && !m.b.changed[j]; i++, j++)
			extend_run(&run, m.a.v.v[i], lines_in(&m.a, i, m.rest_a));
		if (i == m.a.v.n && j == m.b.v.n)
			break;
		end_run(d, &run, before, context);
		add_change(d, &m, &i, &j, &run, &pairs);
		before = context;
	}
	rest = str_make(a.p + a.n - tail, tail);
	extend_run(&run, rest, count_lines(rest));
	end_run(d, &run, before, around);
	elements_release(&m.a);
	elements_release(&m.b);
}

void diff_release(struct diff *d)
{
	vec_release(&d->lines);
	vec_release(&d->spans);
}
