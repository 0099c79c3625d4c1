/* The prompt: line editing with readline's keys, history, Tab completion. */
#include "app/prompt.h"

#include "base/utf8.h"

static const char *const signs[PROMPT_KINDS] = {
	[PROMPT_COMMAND] = ":",
	[PROMPT_SEARCH] = "/",
	[PROMPT_FILTER] = "\\",
	[PROMPT_EXPLAIN] = "why: ",
	[PROMPT_ANSWER] = "answer: ",
	[PROMPT_REASON] = "reason: ",
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
	set_text(p, text);
}

static bool is_continuation(char c)
{
	return ((unsigned char)c & 0xc0) == 0x80;
}

static size_t step_left(const struct prompt *p)
{
	size_t at = p->cursor;

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

/* Tab: inserts the longest common prefix of the candidates, which are whole lines; a single command
 * also gets a space. */
static void complete_word(struct prompt *p, complete_fn complete, const void *ctx)
{
	struct str start = str_make(p->text.p, p->cursor), shared = STR_NONE;
	struct buf first = { 0 }; /* a candidate lasts until the next is asked for */
	const char *word;
	unsigned n = 0;

	if (!complete)
		return;
	for (; (word = complete(ctx, start, n)); n++) {
		struct str w = str_of(word);

		if (n == 0)
			buf_adds(&first, word);
		shared = n == 0 ? buf_str(&first) : shared;
		while (!str_starts(w, shared))
			shared.n--;
	}
	if (shared.n >= start.n)
		insert(p, str_from(shared, start.n));
	buf_release(&first);
	if (n == 1 && shared.n >= start.n && p->kind == PROMPT_COMMAND)
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

enum prompt_result prompt_key(struct prompt *p, const struct key *key, complete_fn complete,
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
		cut(p, step_left(p), p->cursor);
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
		p->cursor = step_left(p);
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

int prompt_draw(const struct prompt *p, struct grid *g, struct rect row)
{
	struct str before = str_make(p->text.p, p->cursor);
	int sign = (int)strlen(signs[p->kind]), room = row.cols - sign;
	int cursor = (int)cells_width(raw_of(before), TEXT_LINE, g->ascii, 4096);
	size_t from = 0;

	/* a long text scrolls to the left, so that the cursor stays visible */
	while (cursor >= room && from < p->cursor) {
		from = step_right(p, from);
		cursor = (int)cells_width(raw_of(str_make(p->text.p + from, p->cursor - from)),
					  TEXT_LINE, g->ascii, 4096);
	}
	grid_put(g, row, ROLE_KEY, signs[p->kind]);
	grid_text(g, rect_in(row, 0, sign, 1, room), ROLE_NORMAL,
		  raw_of(str_from(buf_str(&p->text), from)), TEXT_LINE);
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
}
