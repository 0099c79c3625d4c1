/* Lists of diagnostics, and quoting a sender's text in them. */
#include "event/diag.h"

#include <stdarg.h>
#include <stdio.h>

const char *severity_name(enum severity s)
{
	switch (s) {
	case SEVERITY_NOTE: return "note";
	case SEVERITY_WARNING: return "warning";
	case SEVERITY_ERROR: return "error";
	}
	return "?";
}

void diag_add(struct diags *d, enum severity s, const char *rule, struct str pointer,
	      const char *format, ...)
{
	char text[400];
	va_list ap;
	int n = 0;

	va_start(ap, format);
	if (!d->quiet)
		n = vsnprintf(text, sizeof(text), format, ap);
	va_end(ap);
	if (n >= (int)sizeof(text))
		n = (int)sizeof(text) - 1;
	diag_add_str(d, s, rule, pointer, n > 0 ? str_make(text, (size_t)n) : STR_NONE);
}

void diag_add_str(struct diags *d, enum severity s, const char *rule, struct str pointer,
		  struct str text)
{
	d->count[s]++;
	if (!d->quiet)
		vec_push(&d->list, (struct diag){ s, rule, arena_str(d->arena, pointer),
						  arena_str(d->arena, text) });
}

void diags_clear(struct diags *d)
{
	d->list.n = 0;
	memset(d->count, 0, sizeof(d->count));
}

const char *quoted(struct str s, char out[QUOTED_MAX])
{
	const size_t most = QUOTED_MAX - 12; /* room for one escape, "..." and the quote */
	size_t n = 0, i = 0;

	out[n++] = '"';
	for (; i + 8 <= s.n && n + 7 <= most && str_plain_eight(s.p + i); i += 8, n += 8)
		memcpy(out + n, s.p + i, 8);
	for (; i < s.n; i++) {
		unsigned char c = (unsigned char)s.p[i];

		if (n > most) {
			n += (size_t)snprintf(out + n, QUOTED_MAX - n, "...");
			break;
		}
		if (c >= 0x20 && c < 0x7f)
			out[n++] = (char)c;
		else
			n += (size_t)snprintf(out + n, QUOTED_MAX - n, "\\x%02x", c);
	}
	out[n++] = '"';
	out[n] = '\0';
	return out;
}
