/* Formatting the text and the JSON pointer of a diagnostic. */
#include "event/diag_text.h"

#include <stdio.h>

void diag_text_add(struct diag_text *t, struct str s)
{
	size_t n = s.n < t->most - t->n ? s.n : t->most - t->n;

	if (n)
		memcpy(t->room + t->n, s.p, n);
	t->n += n;
}

void diag_text_number(struct diag_text *t, uint64_t v)
{
	char digits[DIGITS_MAX];

	diag_text_add(t, str_from_u64(v, digits));
}

void diag_text_negative(struct diag_text *t, uint64_t v)
{
	diag_text_add(t, STR("-"));
	diag_text_number(t, v);
}

void diag_text_fraction(struct diag_text *t, int digits, double v)
{
	char text[340]; /* of the biggest number */
	int n = snprintf(text, sizeof(text), "%.*f", digits, v);

	diag_text_add(t, str_make(text, n < (int)sizeof(text) ? (size_t)n : sizeof(text) - 1));
}

struct str diag_text_end(struct diag_text *t)
{
	t->room[t->n] = '\0';
	return str_make(t->room, t->n);
}

struct diag_conversion diag_conversion_at(const char *percent)
{
	struct diag_conversion c = { .length = 1 };

	if (percent[1] == '.' && percent[2] >= '0' && percent[2] <= '9') {
		c.digits = percent[2] - '0';
		c.kind = percent[3] == 'f' ? 'f' : 0;
		c.length = 4;
		return c;
	}
	if (percent[1] == 'l' && percent[2] == 'l') {
		c.is_long = true;
		c.length = 3;
	}
	switch (percent[c.length]) {
	case 'u': case 'd': c.kind = percent[c.length]; break;
	case 's': case '%': c.kind = c.is_long ? 0 : percent[c.length]; break;
	}
	c.length++;
	return c;
}

static void add_signed(struct diag_text *t, long long v)
{
	if (v < 0)
		diag_text_negative(t, -(uint64_t)v);
	else
		diag_text_number(t, (uint64_t)v);
}

/* A va_list that can be passed by address. */
struct arguments {
	va_list list;
};

static bool add_argument(struct diag_text *t, struct diag_conversion c, struct arguments *a)
{
	switch (c.kind) {
	case 'u':
		diag_text_number(t, c.is_long ? va_arg(a->list, unsigned long long) : va_arg(a->list, unsigned));
		return true;
	case 'd': add_signed(t, c.is_long ? va_arg(a->list, long long) : va_arg(a->list, int)); return true;
	case 's': diag_text_add(t, str_of(va_arg(a->list, const char *))); return true;
	case 'f': diag_text_fraction(t, c.digits, va_arg(a->list, double)); return true;
	case '%': diag_text_add(t, STR("%")); return true;
	}
	return false;
}

/* false: it has a conversion that is not supported. */
static bool format_quickly(struct diag_text *t, const char *format, struct arguments *a)
{
	const char *percent;

	for (const char *p = format; *p;) {
		struct diag_conversion c;

		percent = strchr(p, '%');
		if (!percent) {
			diag_text_add(t, str_of(p));
			break;
		}
		diag_text_add(t, str_make(p, (size_t)(percent - p)));
		c = diag_conversion_at(percent);
		if (!add_argument(t, c, a))
			return false;
		p = percent + c.length;
	}
	return true;
}

struct str diag_format(char *room, size_t size, const char *format, va_list ap)
{
	struct diag_text t = { room, 0, size - 1 };
	struct arguments a;
	bool done;
	int n;

	va_copy(a.list, ap);
	done = format_quickly(&t, format, &a);
	va_end(a.list);
	if (done)
		return diag_text_end(&t);
	n = vsnprintf(room, size, format, ap);
	return n < 0 ? STR_NONE : str_make(room, n < (int)size ? (size_t)n : size - 1);
}

struct str diag_pointer(char *room, size_t size, struct str head, struct str at, uint32_t index)
{
	struct diag_text t = { room, 0, size - 1 };
	ptrdiff_t percent = str_find(at, STR("%u"), 0);

	diag_text_add(&t, head);
	if (percent >= 0) {
		diag_text_add(&t, str_make(at.p, (size_t)percent));
		diag_text_number(&t, index);
		at = str_from(at, (size_t)percent + 2);
	}
	diag_text_add(&t, at);
	return diag_text_end(&t);
}
