/* Byte-wise state machine over one JSON value: brackets, strings and escapes only. */
#include "wire/scan.h"

#include "wire/frame.h"

#include <stddef.h>

bool scan_begins_log(struct str piece)
{
	const char *end = piece.n ? memchr(piece.p, '\n', piece.n) : NULL;

	return end && piece.p[0] == '{' && end[-1] == '}' && end + 1 < piece.p + piece.n &&
	       end[1] == '{';
}

void scan_init(struct scan *s, uint64_t offset)
{
	memset(s, 0, offsetof(struct scan, arrays));
	s->offset = offset;
	s->at_line_start = true;
}

static bool in_array(const struct scan *s)
{
	return s->arrays[s->depth / 8] >> (s->depth % 8) & 1;
}

static bool value_may_begin(const struct scan *s)
{
	return s->last == SCAN_COLON || (in_array(s) && s->last != SCAN_VALUE);
}

static void open_bracket(struct scan *s, char c)
{
	bool array = c == '[';

	if ((s->at_line_start && s->depth && !value_may_begin(s)) ||
	    ++s->depth == SCAN_DEPTH_MAX) {
		s->state = SCAN_REJECTED;
		return;
	}
	s->arrays[s->depth / 8] &= (uint8_t) ~(1u << (s->depth % 8));
	s->arrays[s->depth / 8] |= (uint8_t)((unsigned)array << (s->depth % 8));
	if (array &&
	    (s->depth == 1 || (s->depth == 2 && !s->is_array && strcmp(s->key, "messages") == 0))) {
		s->elements_depth = s->depth;
		s->has_elements = true;
	}
	s->last = SCAN_OPEN;
}

/* At a comma or the closing bracket; there may be no element before it ("[1,,2]"). */
static void end_element(struct scan *s, bool comma, element_fn element, void *ctx)
{
	if ((comma || s->in_element) && s->number < UINT32_MAX)
		s->number++;
	if (s->in_element && element)
		element(ctx, s->element_start, s->element_end, s->number);
	s->in_element = false;
}

static void close_bracket(struct scan *s, char c, element_fn element, void *ctx)
{
	if (in_array(s) != (c == ']')) {
		s->state = SCAN_REJECTED;
		return;
	}
	if (s->depth == s->elements_depth) {
		end_element(s, false, element, ctx);
		s->elements_depth = 0;
	}
	s->last = SCAN_VALUE;
	if (--s->depth == 0) {
		s->state = SCAN_AFTER;
		s->value_end = s->offset + 1;
	}
}

static void end_string(struct scan *s)
{
	s->in_string = false;
	if (s->depth == 1 && !s->is_array) {
		s->text[s->text_n < SCAN_SESSION_MAX ? s->text_n : SCAN_SESSION_MAX] = '\0';
		if (s->last != SCAN_COLON) {
			s->key[0] = '\0';
			if (s->text_n < sizeof(s->key))
				memcpy(s->key, s->text, s->text_n + 1);
		} else if ((strcmp(s->key, "session_id") == 0 ||
			    strcmp(s->key, "sessionId") == 0) &&
			   !s->session_n && s->text_n <= SCAN_SESSION_MAX) {
			memcpy(s->session, s->text, s->text_n);
			s->session_n = s->text_n;
		}
	}
	s->last = SCAN_VALUE;
}

/* Of a top-level string, as much as matters. */
static void keep_text(struct scan *s, struct str part)
{
	size_t room = SCAN_SESSION_MAX - (s->text_n < SCAN_SESSION_MAX ? s->text_n : SCAN_SESSION_MAX);

	if (s->depth != 1)
		return;
	memcpy(s->text + s->text_n, part.p, part.n < room ? part.n : room);
	s->text_n = part.n > room ? SCAN_SESSION_MAX + 1 : s->text_n + (unsigned)part.n;
}

static void string_byte(struct scan *s, char c)
{
	if (c == '\n') {
		s->many_lines = true;
		s->state = SCAN_REJECTED;
		return;
	}
	if (c == '"' && !s->escaped) {
		end_string(s);
		return;
	}
	s->escaped = c == '\\' && !s->escaped;
	keep_text(s, str_make(&c, 1));
}

/* Only a few bytes can follow the first bracket of JSON; rejects `{foo}` and `[INFO]`. */
static bool goes_on_like_json(const struct scan *s, char c)
{
	if (s->depth != 1 || s->last != SCAN_OPEN)
		return true;
	return c && strchr(s->is_array ? "]{[\"-0123456789tfn" : "}\"", c);
}

static void first_byte(struct scan *s, char c)
{
	if (s->state == SCAN_AFTER || (c != '{' && c != '[')) {
		s->state = SCAN_REJECTED;
		return;
	}
	s->state = SCAN_INSIDE;
	s->value_start = s->offset;
	s->is_array = c == '[';
	open_bracket(s, c);
}

static void inside_byte(struct scan *s, char c, element_fn element, void *ctx)
{
	bool separates = s->depth == s->elements_depth && (c == ',' || c == ']');

	if (!goes_on_like_json(s, c)) {
		s->state = SCAN_REJECTED;
		return;
	}
	if (s->elements_depth && !separates) {
		if (!s->in_element) {
			s->element_start = s->offset;
			s->has_objects |= c == '{';
		}
		s->in_element = true;
	}
	switch (c) {
	case '{':
	case '[': open_bracket(s, c); break;
	case '}':
	case ']': close_bracket(s, c, element, ctx); break;
	case ',':
		if (separates)
			end_element(s, true, element, ctx);
		s->last = SCAN_COMMA;
		break;
	case ':': s->last = SCAN_COLON; break;
	case '"':
		s->in_string = true;
		s->escaped = false;
		s->text_n = 0;
		break;
	default: s->last = SCAN_VALUE;
	}
	s->element_end = s->offset + 1;
}

static void scan_byte(struct scan *s, char c, element_fn element, void *ctx)
{
	if (s->in_string) {
		string_byte(s, c);
		s->element_end = s->offset + 1;
	} else if (c == '\n') {
		s->many_lines |= s->state == SCAN_INSIDE;
		s->at_line_start = true;
		return;
	} else if (c == ' ' || c == '\t' || c == '\r') {
		/* clears at_line_start: an indented bracket is not the start of a log line */
	} else if (s->state == SCAN_INSIDE) {
		inside_byte(s, c, element, ctx);
	} else {
		first_byte(s, c);
	}
	s->at_line_start = false;
}

/* Matches the BOM. True: the byte is consumed; a partial BOM is not JSON. */
static bool bom_byte(struct scan *s, char c)
{
	if (c == BOM[s->bom]) {
		s->bom++;
		return true;
	}
	if (s->bom)
		s->state = SCAN_REJECTED;
	s->bom = BOM_BYTES;
	return s->state == SCAN_REJECTED;
}

/* Whether none of 8 bytes is a quote, a backslash or a newline; now and then false although so. */
static bool has_no_special(const char *p)
{
	const uint64_t each = 0x0101010101010101u;
	uint64_t word, quote, backslash, newline;

	memcpy(&word, p, sizeof(word));
	quote = word ^ '"' * each;
	backslash = word ^ '\\' * each;
	newline = word ^ '\n' * each;
	return !(((quote - each) | (backslash - each) | (newline - each)) & ~word & 0x80 * each);
}

/* Fast path: length of the run inside a string without its end, a newline, or a backslash before
 * one or at the end of the piece. */
static size_t text_run(struct str piece, size_t i)
{
	size_t first = i;

	for (;;) {
		while (i + 8 <= piece.n && has_no_special(piece.p + i))
			i += 8;
		while (i < piece.n && piece.p[i] != '"' && piece.p[i] != '\\' && piece.p[i] != '\n')
			i++;
		if (i + 1 >= piece.n || piece.p[i] != '\\' || piece.p[i + 1] == '\n')
			return i - first;
		i += 2;
	}
}

void scan_feed(struct scan *s, struct str piece, element_fn element, void *ctx)
{
	for (size_t i = 0; i < piece.n && s->state != SCAN_REJECTED; i++) {
		if (s->in_string && !s->escaped) {
			size_t run = text_run(piece, i);

			keep_text(s, str_make(piece.p + i, run));
			i += run;
			s->offset += run;
			if (i == piece.n)
				break;
		}
		if (s->bom == BOM_BYTES || !bom_byte(s, piece.p[i]))
			scan_byte(s, piece.p[i], element, ctx);
		s->offset++;
	}
}
