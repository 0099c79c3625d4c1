/* Text for standard output and standard error. */
#include "draw/say.h"

#include <limits.h>
#include <stdarg.h>
#include <stdio.h>

void add_clean_cut(struct buf *out, struct str s, enum text_mode mode, bool ascii, int most)
{
	struct cells it = cells_start(raw_of(s), mode, ascii);
	struct cell cell;

	for (int n = 0; cells_next(&it, &cell) == CELLS_CELL; n++) {
		char bytes[12];

		if (n == most) {
			buf_adds(out, it.ascii ? "~" : "…");
			return;
		}
		buf_add(out, bytes, cell_bytes(&cell, bytes));
	}
}

void add_clean(struct buf *out, struct str s, enum text_mode mode)
{
	if (str_is_plain(s)) /* the same in every mode */
		buf_add_str(out, s);
	else
		add_clean_cut(out, s, mode, false, INT_MAX);
}

void add_labelled(struct buf *out, const char *label, struct str s, enum text_mode mode)
{
	buf_adds(out, label);
	add_clean(out, s, mode);
}

static void put(FILE *to, struct str bytes)
{
	if (bytes.n)
		fwrite(bytes.p, 1, bytes.n, to);
}

/* Cleaned as a whole: what was cleaned before stays as it is. */
static __attribute__((format(printf, 3, 0))) void
put_sentence(FILE *to, const char *label, const char *format, va_list ap)
{
	struct buf sentence = { 0 }, line = { 0 };

	buf_vprintf(&sentence, format, ap);
	add_labelled(&line, label, buf_str(&sentence), TEXT_LABEL);
	buf_addc(&line, '\n');
	put(to, buf_str(&line));
	buf_release(&sentence);
	buf_release(&line);
}

/* Nearly all lines are clean: they are written from where they are. */
static void put_text(FILE *to, struct str text)
{
	struct buf clean = { 0 };
	size_t written = 0, at = 0;

	if (text.n && text.p[text.n - 1] == '\n' && str_is_plain_lines(text))
		at = text.n;
	while (at < text.n) {
		const char *newline = memchr(text.p + at, '\n', text.n - at);
		size_t end = newline ? (size_t)(newline - text.p) : text.n, next = end + 1;
		struct str line = str_make(text.p + at, end - at);

		if (!newline || !str_is_plain(line)) {
			put(to, str_make(text.p + written, at - written));
			buf_clear(&clean);
			add_clean(&clean, line, TEXT_LABEL);
			buf_addc(&clean, '\n');
			put(to, buf_str(&clean));
			written = next;
		}
		at = next;
	}
	if (written < text.n)
		put(to, str_make(text.p + written, text.n - written));
	buf_release(&clean);
}

void say(const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	put_sentence(stdout, "", format, ap);
	va_end(ap);
}

void say_error(const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	put_sentence(stderr, "gavel: ", format, ap);
	va_end(ap);
}

void say_text(struct str text)
{
	put_text(stdout, text);
}

void say_error_text(struct str text)
{
	put_text(stderr, text);
}

/* DEL, or a C1 control in UTF-8. */
static bool is_control(struct str s, size_t i)
{
	return s.p[i] == 0x7f || ((unsigned char)s.p[i] == 0xc2 && i + 1 < s.n &&
				  (unsigned char)s.p[i + 1] < 0xa0);
}

void say_json(struct str json)
{
	size_t start = 0;

	for (size_t i = 0; i < json.n; i++) {
		if (!is_control(json, i))
			continue;
		put(stdout, str_make(json.p + start, i - start));
		i += json.p[i] != 0x7f;
		fprintf(stdout, "\\u%04x", (unsigned char)json.p[i]);
		start = i + 1;
	}
	put(stdout, str_from(json, start));
}

void say_own(struct str bytes)
{
	put(stdout, bytes);
}
