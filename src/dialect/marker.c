/* Reads and writes markers: "[ID verdict] text", with the id percent-encoded. */
#include "dialect/marker.h"

static const enum verdict verdicts[] = { VERDICT_ACCEPTED, VERDICT_PARTIAL, VERDICT_REJECTED,
					 VERDICT_ESCALATED };

static int hex_value(char c)
{
	return c >= '0' && c <= '9' ? c - '0' : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* Decodes %XX at i, or -1. */
static int percent_decode(struct str s, size_t i)
{
	int high, low;

	if (i + 2 >= s.n || s.p[i] != '%')
		return -1;
	high = hex_value(s.p[i + 1]);
	low = hex_value(s.p[i + 2]);
	return high < 0 || low < 0 ? -1 : high * 16 + low;
}

/* Characters that would end a marker, start another or break its line. */
static bool needs_encoding(int c)
{
	return c == '[' || c == ']' || c < 0x20 || c == 0x7f;
}

static struct str decode_id(struct str id, struct arena *arena)
{
	struct buf b = { 0 };

	if (!memchr(id.p, '%', id.n))
		return id;
	for (size_t i = 0; i < id.n; i++) {
		int c = percent_decode(id, i);

		/* other writers do not encode %, so decode only what marker_write encodes */
		if (c >= 0 && (c == '%' || needs_encoding(c))) {
			buf_addc(&b, (char)c);
			i += 2;
		} else {
			buf_addc(&b, id.p[i]);
		}
	}
	return arena_take(arena, &b);
}

bool marker_read(struct str text, struct arena *arena, struct marker *out)
{
	ptrdiff_t close;
	size_t space;

	if (!text.n || text.p[0] != '[')
		return false;
	close = str_find(text, STR("]"), 0);
	if (close < 0)
		return false;
	for (space = (size_t)close; space > 1 && text.p[space - 1] != ' ';)
		space--;
	if (space < 3) /* no space, or nothing before it */
		return false;
	for (size_t i = 0; i < sizeof(verdicts) / sizeof(verdicts[0]); i++)
		if (str_is(str_make(text.p + space, (size_t)close - space),
			   verdict_name(verdicts[i]))) {
			out->id = decode_id(str_make(text.p + 1, space - 2), arena);
			out->rest = str_trim(str_from(text, (size_t)close + 1));
			out->verdict = verdicts[i];
			return true;
		}
	return false;
}

void marker_write(struct buf *b, struct str id, enum verdict verdict)
{
	buf_addc(b, '[');
	for (size_t i = 0; i < id.n; i++) {
		unsigned char c = (unsigned char)id.p[i];

		if (needs_encoding(c) || percent_decode(id, i) >= 0)
			buf_printf(b, "%%%02X", c);
		else
			buf_addc(b, (char)c);
	}
	buf_printf(b, " %s] ", verdict_name(verdict));
}
