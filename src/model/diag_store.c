/* Encoding of stored diagnostics: delta of the message number, complaint, index, length of the
 * arguments, arguments. Integers are varints (LEB128), signed ones zigzag-encoded; a text is the
 * number of an interned name plus one, or 0, its length and its bytes; a double is its eight bytes.
 * Every MARK_EVERY diagnostics a mark allows a binary search by message. */
#include "model/diag_store.h"

#include "base/err.h"
#include "model/rules.h"

#include <stdio.h>

enum { MARK_EVERY = 32, WORDS_MAX = 1024 };

/* Encoded arguments. Only the first n bytes are initialised. */
struct words {
	uint32_t n;
	uint8_t bytes[WORDS_MAX];
};

static void put_number(struct words *w, uint64_t v)
{
	while (v >= 0x80 && w->n < WORDS_MAX) {
		w->bytes[w->n++] = (uint8_t)(v | 0x80);
		v >>= 7;
	}
	if (w->n < WORDS_MAX)
		w->bytes[w->n++] = (uint8_t)v;
}

static uint64_t get_number(const struct diag_store *f, uint32_t *at)
{
	uint64_t v = 0;

	for (unsigned shift = 0; *at < f->bytes.n && shift < 64; shift += 7) {
		uint8_t byte = f->bytes.v[(*at)++];

		v |= (uint64_t)(byte & 0x7f) << shift;
		if (byte < 0x80)
			break;
	}
	return v;
}

static uint64_t without_sign(int64_t v)
{
	return (uint64_t)v << 1 ^ (v < 0 ? UINT64_MAX : 0);
}

static int64_t with_sign(uint64_t v)
{
	return (int64_t)(v >> 1 ^ (v & 1 ? UINT64_MAX : 0));
}

/* The number of a quoted name if it is interned; it is interned when it occurs a second time. */
static uint32_t name_of(struct model *m, const char *s, size_t n)
{
	struct str name;
	uint32_t known;
	uint64_t h;

	if (n < 3 || s[0] != '"' || s[n - 1] != '"')
		return NONE;
	name = str_make(s + 1, n - 2);
	h = str_hash(name);
	known = name_lookup(m, name, h);
	if (known != NONE)
		return known;
	if (m->diag_store.lately[h % DIAG_STORE_LATELY] == h)
		return model_intern(m, name);
	m->diag_store.lately[h % DIAG_STORE_LATELY] = h;
	return NONE;
}

/* Truncates a text that does not fit: it would not fit the rendered sentence either. */
static void put_text(struct model *m, struct words *w, const char *s)
{
	size_t n = strlen(s), room;
	uint32_t known = name_of(m, s, n);

	put_number(w, known == NONE ? 0 : (uint64_t)known + 1);
	if (known != NONE)
		return;
	room = WORDS_MAX - w->n;
	n = n < DIAG_STORE_TEXT_MAX ? n : DIAG_STORE_TEXT_MAX;
	n = n + 2 < room ? n : room > 2 ? room - 2 : 0;
	put_number(w, n);
	memcpy(w->bytes + w->n, s, n);
	w->n += (uint32_t)n;
}

/* A parsed printf conversion. */
struct conversion {
	char kind; /* u, d, s, f; 0 = %% */
	bool is_long;
	int digits;
	size_t length; /* with the % */
};

static struct conversion conversion_at(const char *p)
{
	struct conversion c = { .length = 1 };

	if (p[1] == '.' && p[2]) {
		c.digits = p[2] - '0';
		c.length += 2;
	}
	while (p[c.length] == 'l') {
		c.is_long = true;
		c.length++;
	}
	c.kind = p[c.length];
	c.length++;
	if (!c.kind || !strchr("udsf%", c.kind))
		BUG("a finding cannot be told with %s", p);
	return c;
}

/* Caches the conversions of a format, one letter each, upper case for long ones. */
static void list_words(struct diag_call_site *site, const char *format)
{
	size_t n = 0;

	for (const char *p = format; (p = strchr(p, '%'));) {
		struct conversion c = conversion_at(p);

		p += c.length;
		if (c.kind == '%')
			continue;
		if (n + 1 == sizeof(site->words))
			BUG("a finding of too many words: %s", format);
		site->words[n++] = c.is_long ? (char)(c.kind - 'a' + 'A') : c.kind;
	}
	site->words[n] = '\0';
}

static void put_words(struct model *m, struct words *w, const char *kinds, va_list ap)
{
	for (; *kinds; kinds++) {
		double number;

		switch (*kinds) {
		case 'u': put_number(w, va_arg(ap, unsigned)); break;
		case 'U': put_number(w, va_arg(ap, unsigned long long)); break;
		case 'd': put_number(w, without_sign(va_arg(ap, int))); break;
		case 'D': put_number(w, without_sign(va_arg(ap, long long))); break;
		case 's': put_text(m, w, va_arg(ap, const char *)); break;
		case 'f':
			number = va_arg(ap, double);
			if (w->n + sizeof(number) <= WORDS_MAX) {
				memcpy(w->bytes + w->n, &number, sizeof(number));
				w->n += sizeof(number);
			}
			break;
		}
	}
}

static bool is_site(const struct diag_call_site *site, enum severity s, const char *const texts[4])
{
	return site->severity == s && site->texts[3] == texts[3] && site->texts[2] == texts[2] &&
	       site->texts[1] == texts[1] && site->texts[0] == texts[0];
}

/* A site used for the first time; equal texts at different addresses share one complaint. */
static struct diag_call_site *add_site(struct model *m, enum severity s, const char *const texts[4],
				       uint64_t h)
{
	struct diag_store *f = &m->diag_store;
	struct diag_call_site site = { .severity = s };
	struct complaint c = { .severity = s };

	memcpy(site.texts, texts, sizeof(site.texts));
	list_words(&site, texts[3]);
	c.rule = model_intern(m, str_of(texts[0]));
	c.head = model_intern(m, str_of(texts[1]));
	c.at = model_intern(m, str_of(texts[2]));
	c.format = model_intern(m, str_of(texts[3]));
	while (site.complaint < f->complaints.n &&
	       memcmp(&f->complaints.v[site.complaint], &c, sizeof(c)) != 0)
		site.complaint++;
	if (site.complaint == f->complaints.n)
		heap_push(m->heap, &f->complaints, c);
	vec_push(&f->sites, site);
	map_add(&f->by_address, h, f->sites.n - 1);
	return vec_last(&f->sites);
}

static const struct diag_call_site *site_of(struct model *m, enum severity s,
					    const char *const texts[4])
{
	struct diag_store *f = &m->diag_store;
	uint64_t h = hash_mix(hash_mix((uintptr_t)texts[3], (uintptr_t)texts[2]),
			      (uintptr_t)texts[0] + (uintptr_t)texts[1] + s);

	for (uint32_t it = 0, v; map_next(&f->by_address, h, &it, &v);)
		if (is_site(&f->sites.v[v], s, texts))
			return &f->sites.v[v];
	return add_site(m, s, texts, h);
}

static void append(struct model *m, const struct words *head, const struct words *words)
{
	struct diag_store *f = &m->diag_store;

	while (f->bytes.room - f->bytes.n < head->n + words->n)
		f->bytes.v = heap_grow_(m->heap, f->bytes.v, &f->bytes.room, 1);
	memcpy(f->bytes.v + f->bytes.n, head->bytes, head->n);
	memcpy(f->bytes.v + f->bytes.n + head->n, words->bytes, words->n);
	f->bytes.n += head->n + words->n;
}

void diag_store_vadd(struct model *m, uint32_t message, enum severity s, const char *rule,
		  const char *head, const char *at, uint32_t index, const char *format, va_list ap)
{
	struct diag_store *f = &m->diag_store;
	const struct diag_call_site *site =
		site_of(m, s, (const char *const[4]){ rule, head, at, format });
	struct words first, words;

	first.n = words.n = 0;
	put_words(m, &words, site->words, ap);
	put_number(&first, message - f->last);
	put_number(&first, site->complaint);
	put_number(&first, index);
	put_number(&first, words.n);
	if (f->n % MARK_EVERY == 0)
		heap_push(m->heap, &f->marks, (struct diag_store_mark){ f->last, f->bytes.n });
	f->newest = (struct diag_store_mark){ f->last, f->bytes.n };
	append(m, &first, &words);
	f->last = message;
	f->n++;
}

void diag_store_add(struct model *m, uint32_t message, enum severity s, const char *rule,
		 const char *head, const char *at, uint32_t index, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	diag_store_vadd(m, message, s, rule, head, at, index, format, ap);
	va_end(ap);
}

bool diag_store_next(struct diag_store_walk *w)
{
	const struct model *m = w->m;
	const struct diag_store *f = &m->diag_store;
	const struct complaint *c;
	uint32_t length;

	if (w->next >= f->n)
		return false;
	w->next++;
	w->message += (uint32_t)get_number(f, &w->offset);
	w->complaint = (uint32_t)get_number(f, &w->offset);
	w->index = (uint32_t)get_number(f, &w->offset);
	length = (uint32_t)get_number(f, &w->offset);
	w->words = w->offset;
	w->offset += length;
	c = &f->complaints.v[w->complaint];
	w->severity = (enum severity)c->severity;
	w->rule = model_str(m, c->rule).p;
	return true;
}

void diag_store_start(struct diag_store_walk *w, const struct model *m, uint32_t message)
{
	const struct diag_store *f = &m->diag_store;
	uint32_t low = 0;
	struct diag_store_walk before;

	/* the last mark with only earlier messages before it */
	bisect(low, f->marks.n, i, f->marks.v[i].message < message)
	w->m = m;
	w->next = low ? (low - 1) * MARK_EVERY : 0;
	w->offset = low ? f->marks.v[low - 1].offset : 0;
	w->message = low ? f->marks.v[low - 1].message : 0;
	do {
		before = (struct diag_store_walk){ .next = w->next, .offset = w->offset,
						.message = w->message };
	} while (diag_store_next(w) && w->message < message);
	w->next = before.next;
	w->offset = before.offset;
	w->message = before.message;
}

/* Output buffer that truncates. */
struct telling {
	char *room;
	size_t n, most;
};

static void tell(struct telling *t, struct str s)
{
	size_t n = s.n < t->most - t->n ? s.n : t->most - t->n;

	if (n)
		memcpy(t->room + t->n, s.p, n);
	t->n += n;
}

static void tell_number(struct telling *t, uint64_t v)
{
	char digits[DIGITS_MAX];

	tell(t, str_from_u64(v, digits));
}

static struct str told(const struct telling *t)
{
	t->room[t->n] = '\0';
	return str_make(t->room, t->n);
}

static void read_pointer(struct diag_store_walk *w)
{
	const struct complaint *c = &w->m->diag_store.complaints.v[w->complaint];
	struct telling t = { w->pointer_room, 0, DIAG_STORE_POINTER_MAX - 1 };
	struct str at = model_str(w->m, c->at);
	ptrdiff_t percent = str_find(at, STR("%u"), 0);

	tell(&t, model_str(w->m, c->head));
	if (percent >= 0) {
		tell(&t, str_make(at.p, (size_t)percent));
		tell_number(&t, w->index);
		at = str_from(at, (size_t)percent + 2);
	}
	tell(&t, at);
	w->pointer = told(&t);
}

static void read_signed(struct telling *out, int64_t v)
{
	if (v < 0)
		tell(out, STR("-"));
	tell_number(out, v < 0 ? 0 - (uint64_t)v : (uint64_t)v);
}

static void read_fraction(struct diag_store_walk *w, int digits, uint32_t *at, struct telling *out)
{
	char text[DIAG_STORE_TEXT_MAX];
	double number;
	int n;

	if (w->offset - *at < sizeof(number))
		return;
	memcpy(&number, w->m->diag_store.bytes.v + *at, sizeof(number));
	*at += sizeof(number);
	n = snprintf(text, sizeof(text), "%.*f", digits, number);
	tell(out, str_make(text, n < (int)sizeof(text) ? (size_t)n : sizeof(text) - 1));
}

/* Formats one argument and advances *at. */
static void read_word(struct diag_store_walk *w, struct conversion c, uint32_t *at,
		      struct telling *out)
{
	const struct diag_store *f = &w->m->diag_store;
	uint64_t v;

	switch (c.kind) {
	case 'u': tell_number(out, get_number(f, at)); break;
	case 'd': read_signed(out, with_sign(get_number(f, at))); break;
	case 's':
		v = get_number(f, at);
		if (v) {
			tell(out, STR("\""));
			tell(out, model_str(w->m, (uint32_t)(v - 1)));
			tell(out, STR("\""));
			break;
		}
		v = get_number(f, at);
		if (v <= w->offset - *at)
			tell(out, str_make((const char *)f->bytes.v + *at, (size_t)v));
		*at += (uint32_t)v;
		break;
	case 'f': read_fraction(w, c.digits, at, out); break;
	default: tell(out, STR("%"));
	}
}

void diag_store_read(struct diag_store_walk *w)
{
	const struct complaint *complaint = &w->m->diag_store.complaints.v[w->complaint];
	struct str format = model_str(w->m, complaint->format);
	const char *p = format.p, *end = format.p + format.n, *percent;
	struct telling t = { w->text_room, 0, DIAG_STORE_TEXT_MAX - 1 };
	uint32_t at = w->words;

	read_pointer(w);
	while ((percent = memchr(p, '%', (size_t)(end - p)))) {
		struct conversion c = conversion_at(percent);

		tell(&t, str_make(p, (size_t)(percent - p)));
		read_word(w, c, &at, &t);
		p = percent + c.length;
	}
	tell(&t, str_make(p, (size_t)(end - p)));
	w->text = told(&t);
}

void diag_store_newest(struct diag_store_walk *w, const struct model *m)
{
	const struct diag_store *f = &m->diag_store;

	w->m = m;
	w->next = f->n - 1;
	w->offset = f->newest.offset;
	w->message = f->newest.message;
	diag_store_next(w);
	diag_store_read(w);
}

void diag_store_release(struct diag_store *f)
{
	vec_release(&f->sites);
	map_release(&f->by_address);
}
