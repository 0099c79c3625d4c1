/* Key names: one table for parsing and printing; the first name of a code is the one printed. */
#include "draw/key.h"

#include "base/utf8.h"

static const struct {
	const char *name;
	uint32_t code;
} names[] = {
	{ "Esc", KEY_ESCAPE },
	{ "Enter", KEY_ENTER },
	{ "Tab", KEY_TAB },
	{ "S-Tab", KEY_BACKTAB },
	{ "BS", KEY_BACKSPACE },
	{ "Space", ' ' },
	{ "lt", '<' },
	{ "Up", KEY_UP },
	{ "Down", KEY_DOWN },
	{ "Left", KEY_LEFT },
	{ "Right", KEY_RIGHT },
	{ "Home", KEY_HOME },
	{ "End", KEY_END },
	{ "PageUp", KEY_PAGE_UP },
	{ "PageDown", KEY_PAGE_DOWN },
	{ "S-Left", KEY_SHIFT_LEFT },
	{ "S-Right", KEY_SHIFT_RIGHT },
	{ "Ins", KEY_INSERT },
	{ "Del", KEY_DELETE },
	/* aliases, accepted only */
	{ "Escape", KEY_ESCAPE },
	{ "Return", KEY_ENTER },
	{ "CR", KEY_ENTER },
	{ "BackTab", KEY_BACKTAB },
	{ "Backspace", KEY_BACKSPACE },
	{ "PgUp", KEY_PAGE_UP },
	{ "PgDn", KEY_PAGE_DOWN },
	{ "Insert", KEY_INSERT },
	{ "Delete", KEY_DELETE },
};

#define NAMES (sizeof(names) / sizeof(names[0]))

uint32_t key_of_control(uint32_t c)
{
	if (c == '\n')
		return KEY_ENTER;
	return c == '\b' ? KEY_BACKSPACE : c;
}

void key_name(uint32_t code, struct buf *out)
{
	char bytes[4];

	for (size_t i = 0; i < NAMES; i++) {
		if (names[i].code == code) {
			buf_printf(out, "<%s>", names[i].name);
			return;
		}
	}
	if (code >= KEY_F1 && code <= KEY_F12) {
		buf_printf(out, "<F%u>", code - KEY_F1 + 1);
	} else if (code == KEY_MOUSE) {
		buf_adds(out, "<Mouse>");
	} else if (code == KEY_PASTE) {
		buf_adds(out, "<Paste>");
	} else if (code < 0x20) {
		code += code >= 1 && code <= 26 ? 'a' - 1 : '@';
		buf_printf(out, "<C-%c>", (char)code);
	} else {
		buf_add(out, bytes, utf8_encode(code, bytes));
	}
}

void key_label(uint32_t code, struct buf *out)
{
	static const char *const arrows[] = { "↑", "↓", "←", "→" };
	struct buf name = { 0 };

	key_name(code, &name);
	if (code >= KEY_UP && code <= KEY_RIGHT)
		buf_adds(out, arrows[code - KEY_UP]);
	else if (code == '<' || name.p[0] != '<')
		buf_add(out, code == '<' ? "<" : name.p, code == '<' ? 1 : name.n);
	else if (str_starts(buf_str(&name), STR("<C-")))
		buf_printf(out, "^%c", (char)(code + '@'));
	else
		buf_add(out, name.p + 1, name.n - 2);
	buf_release(&name);
}

/* name: what is between < and >. */
static bool find_name(struct str name, uint32_t *code)
{
	uint64_t number;
	char c;

	for (size_t i = 0; i < NAMES; i++) {
		if (str_eq_nocase(name, str_of(names[i].name))) {
			*code = names[i].code;
			return true;
		}
	}
	if (name.n >= 2 && (name.p[0] | 0x20) == 'f' && str_to_u64(str_from(name, 1), &number) &&
	    number >= 1 && number <= 12 && name.p[1] != '0') {
		*code = KEY_F1 + (uint32_t)number - 1;
		return true;
	}
	if (name.n == 3 && (name.p[0] | 0x20) == 'c' && name.p[1] == '-') {
		c = name.p[2];
		if (c >= 'a' && c <= 'z')
			c -= 'a' - 'A';
		if (c <= '@' || c > '_')
			return false;
		*code = key_of_control((uint32_t)KEY_CTRL(c));
		return true;
	}
	/* any single character in brackets: <#> */
	if (name.n > 0 && utf8_decode(name, code) == name.n)
		return *code >= 0x20 && (*code < 0x7f || *code >= 0xa0);
	return false;
}

bool key_parse(struct str *s, uint32_t *code)
{
	ptrdiff_t close;
	uint32_t c;
	size_t n;

	if (s->n == 0)
		return false;
	if (s->p[0] == '<') {
		/* from the second character on, so that <>> is > */
		close = str_find(*s, STR(">"), 2);
		if (close < 0 || !find_name(str_make(s->p + 1, (size_t)close - 1), &c))
			return false;
		n = (size_t)close + 1;
	} else {
		n = utf8_decode(*s, &c);
		if (n == 0 || c < 0x20 || (c >= 0x7f && c < 0xa0))
			return false;
	}
	*code = c;
	*s = str_from(*s, n);
	return true;
}
