/* The prompt: line editing with readline's keys, history, Tab completion. */
#include "app/prompt.h"

#include "base/utf8.h"
#include "draw/say.h"

static const char *const signs[PROMPT_KINDS] = {
	[PROMPT_COMMAND] = ":",
	[PROMPT_SEARCH] = "/",
	[PROMPT_FILTER] = "\\",
	[PROMPT_EXPLAIN] = "why: ",
	[PROMPT_ANSWER] = "answer: ",
	[PROMPT_RULE] = "rule: ",
	[PROMPT_REASON] = "reason: ",
	[PROMPT_NOTE] = "note: ",
	[PROMPT_AGENT] = "prompt: ",
};

enum { HISTORY_MAX = 200 };

static void set_text(struct prompt *p, struct str text)
{
	buf_clear(&p->text);
	buf_add_str(&p->text, text);
	p->cursor = p->text.n;
}

void prompt_open(struct prompt *p, enum prompt_kind kind, struct str text)
{
	p->kind = kind;
	p->back = 0;
	p->verb = NULL;
	p->tabs = 0;
	p->cycles = false;
	set_text(p, text);
	completions_start(&p->completions, STR_NONE, 0);
}

void prompt_name(struct prompt *p, const char *verb, struct str words, uint32_t items)
{
	p->verb = verb;
	p->items = items;
	buf_clear(&p->subject);
	buf_add_str(&p->subject, words);
}

static bool is_continuation(char c)
{
	return ((unsigned char)c & 0xc0) == 0x80;
}

static size_t step_left(const struct prompt *p, size_t at)
{
	while (at > 0 && is_continuation(p->text.p[--at]))
		;
	return at;
}

/* The end of the UTF-8 character at `at`. */
static size_t step_right(const struct prompt *p, size_t at)
{
	if (at < p->text.n)
		at++;
	while (at < p->text.n && is_continuation(p->text.p[at]))
		at++;
	return at;
}

static void cut(struct prompt *p, size_t from, size_t to)
{
	memmove(p->text.p + from, p->text.p + to, p->text.n - to);
	p->text.n -= to - from;
	p->text.p[p->text.n] = '\0';
	p->cursor = from;
}

static void insert(struct prompt *p, struct str s)
{
	if (!s.n)
		return;
	buf_reserve(&p->text, s.n);
	memmove(p->text.p + p->cursor + s.n, p->text.p + p->cursor, p->text.n - p->cursor);
	memcpy(p->text.p + p->cursor, s.p, s.n);
	p->text.n += s.n;
	p->text.p[p->text.n] = '\0';
	p->cursor += s.n;
}

static void recall(struct prompt *p, int by)
{
	uint32_t n = p->history[p->kind].n;
	int64_t back = (int64_t)p->back + by;

	if (back < 0 || back > n)
		return;
	if (p->back == 0) {
		buf_clear(&p->kept);
		buf_add_str(&p->kept, buf_str(&p->text));
	}
	p->back = (uint32_t)back;
	set_text(p, back ? str_of(p->history[p->kind].v[n - back]) : buf_str(&p->kept));
}

void completions_start(struct completions *c, struct str before, size_t from)
{
	arena_reset(&c->strings);
	c->list.n = 0;
	c->from = from;
	c->word = arena_str(&c->strings, str_from(before, from));
}

void completions_add(struct completions *c, struct str word)
{
	if (c->list.n == COMPLETIONS_MAX || word.n < c->word.n ||
	    !str_eq_nocase(str_make(word.p, c->word.n), c->word))
		return;
	for (uint32_t i = 0; i < c->list.n; i++)
		if (str_eq(c->list.v[i], word))
			return;
	vec_push(&c->list, arena_str(&c->strings, word));
}

/* Looks up completions for the text up to the cursor. */
static void complete_text(struct prompt *p, complete_fn complete, const void *ctx)
{
	struct str before = str_make(p->text.p, p->cursor);

	completions_start(&p->completions, before, before.n);
	if (complete)
		complete(ctx, before, &p->completions);
}

/* Puts a completion in the place of the word, or of the completion before it. */
static void choose(struct prompt *p, uint32_t number)
{
	p->cycles = true;
	p->chosen = number;
	cut(p, p->completions.from, p->cursor);
	insert(p, p->completions.list.v[number]);
}

/* Tab: replaces the word by the longest common prefix of its completions. A single one is followed
 * by a blank, unless it is a key that a value follows. Where that adds nothing, the next Tab goes
 * through them; so does the first one on an empty line for words, which has no list to show. */
static void complete_word(struct prompt *p, complete_fn complete, const void *ctx)
{
	const struct completions *c = &p->completions;
	bool lists = p->kind == PROMPT_COMMAND || p->kind == PROMPT_FILTER;
	struct str shared;

	if (p->cycles) {
		choose(p, (p->chosen + 1) % c->list.n);
		return;
	}
	complete_text(p, complete, ctx);
	if (!c->list.n)
		return;
	shared = c->list.v[0];
	for (uint32_t i = 1; i < c->list.n; i++)
		while (!str_starts(c->list.v[i], shared))
			shared.n--;
	if (c->list.n > 1 && shared.n <= c->word.n && (p->tabs || (!lists && !c->word.n))) {
		choose(p, str_eq(c->list.v[0], c->word));
		return;
	}
	if (shared.n < c->word.n)
		return;
	cut(p, c->from, p->cursor);
	insert(p, shared);
	if (c->list.n == 1 && lists && !str_ends(shared, STR(":")))
		insert(p, STR(" "));
}

static size_t word_start(const struct prompt *p)
{
	size_t at = p->cursor;

	while (at > 0 && p->text.p[at - 1] == ' ')
		at--;
	while (at > 0 && p->text.p[at - 1] != ' ')
		at--;
	return at;
}

static void remember(struct prompt *p)
{
	uint32_t n = p->history[p->kind].n;

	if (!p->text.n || (n && str_eq(str_of(p->history[p->kind].v[n - 1]), buf_str(&p->text))))
		return;
	if (n == HISTORY_MAX) {
		free(p->history[p->kind].v[0]);
		memmove(p->history[p->kind].v, p->history[p->kind].v + 1, (n - 1) * sizeof(char *));
		p->history[p->kind].n--;
	}
	vec_push(&p->history[p->kind], xstrdup(p->text.p));
}

static enum prompt_result insert_key(struct prompt *p, const struct key *key)
{
	char bytes[4];

	if (key->code == KEY_PASTE) {
		for (size_t i = 0; i < key->text.n; i++)
			if ((unsigned char)key->text.p[i] >= 0x20 && key->text.p[i] != 0x7f)
				insert(p, str_make(key->text.p + i, 1));
		return PROMPT_CHANGED;
	}
	if (key->code < 0x20 || key->code >= 0x110000)
		return PROMPT_GOES_ON;
	insert(p, str_make(bytes, utf8_encode(key->code, bytes)));
	return PROMPT_CHANGED;
}

static enum prompt_result edit_text(struct prompt *p, const struct key *key, complete_fn complete,
				    const void *ctx)
{
	switch (key->code) {
	case KEY_ENTER:
		remember(p);
		return PROMPT_DONE;
	case KEY_ESCAPE:
	case KEY_CTRL('C'):
	case KEY_CTRL('G'):
		return PROMPT_CANCELLED;
	case KEY_BACKSPACE:
		if (!p->text.n)
			return PROMPT_CANCELLED;
		cut(p, step_left(p, p->cursor), p->cursor);
		return PROMPT_CHANGED;
	case KEY_DELETE:
		cut(p, p->cursor, step_right(p, p->cursor));
		return PROMPT_CHANGED;
	case KEY_CTRL('U'):
		cut(p, 0, p->cursor);
		return PROMPT_CHANGED;
	case KEY_CTRL('K'):
		cut(p, p->cursor, p->text.n);
		return PROMPT_CHANGED;
	case KEY_CTRL('W'):
		cut(p, word_start(p), p->cursor);
		return PROMPT_CHANGED;
	case KEY_LEFT:
		p->cursor = step_left(p, p->cursor);
		return PROMPT_GOES_ON;
	case KEY_RIGHT:
		p->cursor = step_right(p, p->cursor);
		return PROMPT_GOES_ON;
	case KEY_HOME:
	case KEY_CTRL('A'):
		p->cursor = 0;
		return PROMPT_GOES_ON;
	case KEY_END:
	case KEY_CTRL('E'):
		p->cursor = p->text.n;
		return PROMPT_GOES_ON;
	case KEY_UP:
	case KEY_CTRL('P'):
		recall(p, 1);
		return PROMPT_CHANGED;
	case KEY_DOWN:
	case KEY_CTRL('N'):
		recall(p, -1);
		return PROMPT_CHANGED;
	case KEY_TAB:
		complete_word(p, complete, ctx);
		return PROMPT_CHANGED;
	default:
		return insert_key(p, key);
	}
}

enum prompt_result prompt_key(struct prompt *p, const struct key *key, complete_fn complete,
			      const void *ctx)
{
	bool tab = key->code == KEY_TAB;
	enum prompt_result result;

	p->cycles = p->cycles && tab;
	result = edit_text(p, key, complete, ctx);
	p->tabs = tab ? p->tabs + 1 : 0;
	if (!p->cycles && (result == PROMPT_CHANGED || result == PROMPT_GOES_ON))
		complete_text(p, complete, ctx);
	return result;
}

/* ":", or "reject "Credential store…", why: ". */
static void add_sign(const struct prompt *p, bool ascii, int cols, struct buf *out)
{
	if (!p->verb) {
		buf_adds(out, signs[p->kind]);
		return;
	}
	buf_adds(out, p->verb);
	if (p->kind == PROMPT_AGENT) {
		buf_addc(out, ' ');
		add_clean_cut(out, buf_str(&p->subject), TEXT_LINE, ascii, cols / 3);
		buf_adds(out, ": ");
		return;
	}
	if (p->items > 1) {
		buf_printf(out, " %u items", p->items);
	} else {
		buf_adds(out, " \"");
		add_clean_cut(out, buf_str(&p->subject), TEXT_LINE, ascii, cols / 3);
		buf_addc(out, '"');
	}
	if (p->kind == PROMPT_ANSWER)
		buf_adds(out, ": ");
	else
		buf_printf(out, ", %s", signs[p->kind]);
}

enum { ESCAPE_COLS = 10 }; /* <U+10FFFF> */

static int width_before(const struct prompt *p, size_t from, bool ascii)
{
	struct str shown = str_make(p->text.p + from, p->cursor - from);

	return (int)cells_width(raw_of(shown), TEXT_LINE, ascii, 4096);
}

/* A long text scrolls to the left, so that the cursor stays visible: where it begins then. Only what
 * may be in the row is measured. A combining mark is escaped at the start, and thus wider there than
 * behind its letter. */
static size_t first_shown(const struct prompt *p, int room, bool ascii)
{
	size_t from = p->cursor, at = from, bytes = room > 0 ? (size_t)room * 8 : 0;

	while (at > 0 && p->cursor - at < bytes) {
		int width;

		at = step_left(p, at);
		width = width_before(p, at, ascii);
		if (width < room)
			from = at;
		else if (width >= room + ESCAPE_COLS)
			break;
	}
	return from;
}

int prompt_draw(const struct prompt *p, struct grid *g, struct rect row)
{
	struct buf label = { 0 };
	int cursor, sign, room;
	size_t from;

	add_sign(p, g->ascii, row.cols, &label);
	sign = (int)cells_width(raw_of(buf_str(&label)), TEXT_LINE, g->ascii, (uint32_t)row.cols);
	room = row.cols - sign;
	from = first_shown(p, room, g->ascii);
	cursor = width_before(p, from, g->ascii);
	grid_text(g, row, ROLE_KEY, raw_of(buf_str(&label)), TEXT_LINE);
	grid_text(g, rect_in(row, 0, sign, 1, room), ROLE_NORMAL,
		  raw_of(str_from(buf_str(&p->text), from)), TEXT_LINE);
	buf_release(&label);
	return sign + cursor < row.cols ? sign + cursor : row.cols - 1;
}

void prompt_release(struct prompt *p)
{
	for (int k = 0; k < PROMPT_KINDS; k++) {
		for (uint32_t i = 0; i < p->history[k].n; i++)
			free(p->history[k].v[i]);
		vec_release(&p->history[k]);
	}
	buf_release(&p->text);
	buf_release(&p->kept);
	buf_release(&p->subject);
	vec_release(&p->completions.list);
	arena_release(&p->completions.strings);
}
