/* Lists of diagnostics, and quoting a sender's text in them. */
#include "event/diag.h"

#include "event/diag_text.h"

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

/* Replaces the number in the text of a note that stands for others. */
static void write_counted(struct diags *d, struct diag *note)
{
	const struct str one = STR(" more note of this kind is not listed"),
			 several = STR(" more notes of this kind are not listed"),
			 words = note->counted == 1 ? one : several;
	char digits[DIGITS_MAX];
	struct str number = str_from_u64(note->counted, digits);
	char *room = (char *)(uintptr_t)note->text.p;

	if (!room)
		room = arena_alloc(d->arena, DIGITS_MAX + several.n);
	memcpy(room, number.p, number.n);
	memcpy(room + number.n, words.p, words.n);
	note->text = str_make(room, number.n + words.n);
}

/* The note that stands for the others of a rule, once enough are listed; NULL = not yet. */
static struct diag *counting_note(struct diags *d, const char *rule)
{
	unsigned listed = 0;

	for (uint32_t i = d->list.n; i-- > 0 && listed < DIAG_LISTED_MAX;) {
		struct diag *known = &d->list.v[i];

		if (known->severity != SEVERITY_NOTE ||
		    (known->rule != rule && strcmp(known->rule, rule) != 0))
			continue;
		if (known->counted)
			return known;
		listed++;
	}
	if (listed < DIAG_LISTED_MAX)
		return NULL;
	vec_push(&d->list, (struct diag){ .severity = SEVERITY_NOTE, .rule = rule });
	return vec_last(&d->list);
}

bool diag_count_only(struct diags *d, enum severity s, const char *rule)
{
	struct diag *note;

	if (!d->quiet) {
		if (s != SEVERITY_NOTE || d->list.n < DIAG_LISTED_MAX)
			return false;
		note = counting_note(d, rule);
		if (!note)
			return false;
		note->counted++;
		write_counted(d, note);
	}
	d->count[s]++;
	return true;
}

void diag_add(struct diags *d, enum severity s, const char *rule, struct str pointer,
	      const char *format, ...)
{
	char text[400];
	struct str formatted;
	va_list ap;

	if (diag_count_only(d, s, rule))
		return;
	va_start(ap, format);
	formatted = diag_format(text, sizeof(text), format, ap);
	va_end(ap);
	diag_add_str(d, s, rule, pointer, formatted);
}

void diag_add_str(struct diags *d, enum severity s, const char *rule, struct str pointer,
		  struct str text)
{
	if (diag_count_only(d, s, rule))
		return;
	d->count[s]++;
	vec_push(&d->list, (struct diag){ .severity = s, .rule = rule,
					  .pointer = arena_str(d->arena, pointer),
					  .text = arena_str(d->arena, text) });
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
