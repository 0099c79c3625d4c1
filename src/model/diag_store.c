/* Encoding of stored diagnostics: delta of the message number, template, index, length of the
 * arguments, arguments. Integers are varints (LEB128), signed ones zigzag-encoded; a text is the
 * number of an interned name plus one, or 0, its length and its bytes; a double is its eight bytes.
 * Every MARK_EVERY diagnostics a mark allows a binary search by message. */
#include "model/diag_store.h"

#include "base/err.h"
#include "event/diag_text.h"
#include "model/rules.h"

enum { MARK_EVERY = 32, ENCODED_MAX = 1024 };

/* Only the first n bytes are initialised. */
struct encoded {
	uint32_t n;
	uint8_t bytes[ENCODED_MAX];
};

static void put_varint(struct encoded *w, uint64_t v)
{
	while (v >= 0x80 && w->n < ENCODED_MAX) {
		w->bytes[w->n++] = (uint8_t)(v | 0x80);
		v >>= 7;
	}
	if (w->n < ENCODED_MAX)
		w->bytes[w->n++] = (uint8_t)v;
}

static uint64_t get_varint(const struct diag_store *f, uint32_t *at)
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

static uint64_t zigzag(int64_t v)
{
	return (uint64_t)v << 1 ^ (v < 0 ? UINT64_MAX : 0);
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
	if (m->diag_store.seen_texts[h % DIAG_STORE_SEEN] == h)
		return model_intern(m, name);
	m->diag_store.seen_texts[h % DIAG_STORE_SEEN] = h;
	return NONE;
}

/* Truncates a text that does not fit: it would not fit the rendered sentence either. */
static void put_text(struct model *m, struct encoded *w, const char *s)
{
	size_t n = strlen(s), room;
	uint32_t known = name_of(m, s, n);

	put_varint(w, known == NONE ? 0 : (uint64_t)known + 1);
	if (known != NONE)
		return;
	room = ENCODED_MAX - w->n;
	n = n < DIAG_STORE_TEXT_MAX ? n : DIAG_STORE_TEXT_MAX;
	n = n + 2 < room ? n : room > 2 ? room - 2 : 0;
	put_varint(w, n);
	memcpy(w->bytes + w->n, s, n);
	w->n += (uint32_t)n;
}

static struct diag_conversion conversion_at(const char *p)
{
	struct diag_conversion c = diag_conversion_at(p);

	if (!c.kind)
		BUG("conversion not supported in a diagnostic: %s", p);
	return c;
}

/* Caches the conversions of a format, one letter each, upper case for long ones. */
static void parse_arg_types(struct diag_call_site *site, const char *format)
{
	size_t n = 0;

	for (const char *p = format; (p = strchr(p, '%'));) {
		struct diag_conversion c = conversion_at(p);

		p += c.length;
		if (c.kind == '%')
			continue;
		if (n + 1 == sizeof(site->arg_types))
			BUG("too many arguments in a diagnostic: %s", format);
		site->arg_types[n++] = c.is_long ? (char)(c.kind - 'a' + 'A') : c.kind;
	}
	site->arg_types[n] = '\0';
}

static void put_args(struct model *m, struct encoded *w, const char *kinds, va_list ap)
{
	for (; *kinds; kinds++) {
		double number;

		switch (*kinds) {
		case 'u': put_varint(w, va_arg(ap, unsigned)); break;
		case 'U': put_varint(w, va_arg(ap, unsigned long long)); break;
		case 'd': put_varint(w, zigzag(va_arg(ap, int))); break;
		case 'D': put_varint(w, zigzag(va_arg(ap, long long))); break;
		case 's': put_text(m, w, va_arg(ap, const char *)); break;
		case 'f':
			number = va_arg(ap, double);
			if (w->n + sizeof(number) <= ENCODED_MAX) {
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

/* A site used for the first time; equal texts at different addresses share one template. */
static struct diag_call_site *add_site(struct model *m, enum severity s, const char *const texts[4],
				       uint64_t h)
{
	struct diag_store *f = &m->diag_store;
	struct diag_call_site site = { .severity = s };
	struct diag_template c = { .severity = s };

	memcpy(site.texts, texts, sizeof(site.texts));
	parse_arg_types(&site, texts[3]);
	c.rule = model_intern(m, str_of(texts[0]));
	c.head = model_intern(m, str_of(texts[1]));
	c.at = model_intern(m, str_of(texts[2]));
	c.format = model_intern(m, str_of(texts[3]));
	while (site.template_index < f->templates.n &&
	       memcmp(&f->templates.v[site.template_index], &c, sizeof(c)) != 0)
		site.template_index++;
	if (site.template_index == f->templates.n)
		heap_push(m->heap, &f->templates, c);
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

static void append(struct model *m, const struct encoded *head, const struct encoded *args)
{
	struct diag_store *f = &m->diag_store;

	while (f->bytes.room - f->bytes.n < head->n + args->n)
		f->bytes.v = heap_grow_(m->heap, f->bytes.v, &f->bytes.room, 1);
	memcpy(f->bytes.v + f->bytes.n, head->bytes, head->n);
	memcpy(f->bytes.v + f->bytes.n + head->n, args->bytes, args->n);
	f->bytes.n += head->n + args->n;
}

void diag_store_vadd(struct model *m, uint32_t message, enum severity s, const char *rule,
		     const char *head, const char *at, uint32_t index, const char *format,
		     va_list ap)
{
	struct diag_store *f = &m->diag_store;
	const struct diag_call_site *site =
		site_of(m, s, (const char *const[4]){ rule, head, at, format });
	struct encoded first, args;

	first.n = args.n = 0;
	put_args(m, &args, site->arg_types, ap);
	put_varint(&first, message - f->last);
	put_varint(&first, site->template_index);
	put_varint(&first, index);
	put_varint(&first, args.n);
	if (f->n % MARK_EVERY == 0)
		heap_push(m->heap, &f->marks, (struct diag_store_mark){ f->last, f->bytes.n });
	append(m, &first, &args);
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
	const struct diag_template *c;
	uint32_t length;

	if (w->next >= f->n)
		return false;
	w->next++;
	w->message += (uint32_t)get_varint(f, &w->offset);
	w->template_index = (uint32_t)get_varint(f, &w->offset);
	w->index = (uint32_t)get_varint(f, &w->offset);
	length = (uint32_t)get_varint(f, &w->offset);
	w->args = w->offset;
	w->offset += length;
	c = &f->templates.v[w->template_index];
	w->severity = (enum severity)c->severity;
	w->rule = model_str(m, c->rule).p;
	return true;
}

void diag_store_start(struct diag_store_walk *w, const struct model *m, uint32_t message)
{
	const struct diag_store *f = &m->diag_store;
	uint32_t low = 0;

	/* the last mark with only earlier messages before it */
	bisect(low, f->marks.n, i, f->marks.v[i].message < message)
	w->m = m;
	w->next = low ? (low - 1) * MARK_EVERY : 0;
	w->offset = low ? f->marks.v[low - 1].offset : 0;
	w->message = low ? f->marks.v[low - 1].message : 0;
	while (w->next < f->n) {
		uint32_t at = w->offset;

		if (w->message + (uint32_t)get_varint(f, &at) >= message)
			break;
		diag_store_next(w);
	}
}

static void read_fraction(struct diag_store_walk *w, int digits, uint32_t *at,
			  struct diag_text *out)
{
	double number;

	if (w->offset - *at < sizeof(number))
		return;
	memcpy(&number, w->m->diag_store.bytes.v + *at, sizeof(number));
	*at += sizeof(number);
	diag_text_fraction(out, digits, number);
}

/* Formats one argument and advances *at. */
static void read_arg(struct diag_store_walk *w, struct diag_conversion c, uint32_t *at,
		     struct diag_text *out)
{
	const struct diag_store *f = &w->m->diag_store;
	uint64_t v;

	switch (c.kind) {
	case 'u': diag_text_number(out, get_varint(f, at)); break;
	case 'd':
		v = get_varint(f, at);
		if (v & 1)
			diag_text_negative(out, (v >> 1) + 1);
		else
			diag_text_number(out, v >> 1);
		break;
	case 's':
		v = get_varint(f, at);
		if (v) {
			diag_text_add(out, STR("\""));
			diag_text_add(out, model_str(w->m, (uint32_t)(v - 1)));
			diag_text_add(out, STR("\""));
			break;
		}
		v = get_varint(f, at);
		if (v <= w->offset - *at)
			diag_text_add(out, str_make((const char *)f->bytes.v + *at, (size_t)v));
		*at += (uint32_t)v;
		break;
	case 'f': read_fraction(w, c.digits, at, out); break;
	default: diag_text_add(out, STR("%"));
	}
}

void diag_store_read(struct diag_store_walk *w)
{
	const struct model *m = w->m;
	const struct diag_template *template = &m->diag_store.templates.v[w->template_index];
	struct str format = model_str(m, template->format);
	const char *p = format.p, *end = format.p + format.n, *percent;
	struct diag_text t = { w->text_room, 0, DIAG_STORE_TEXT_MAX - 1 };
	uint32_t at = w->args;

	w->pointer = diag_pointer(w->pointer_room, DIAG_STORE_POINTER_MAX,
				  model_str(m, template->head), model_str(m, template->at), w->index);
	while ((percent = memchr(p, '%', (size_t)(end - p)))) {
		struct diag_conversion c = conversion_at(percent);

		diag_text_add(&t, str_make(p, (size_t)(percent - p)));
		read_arg(w, c, &at, &t);
		p = percent + c.length;
	}
	diag_text_add(&t, str_make(p, (size_t)(end - p)));
	w->text = diag_text_end(&t);
}

void diag_store_release(struct diag_store *f)
{
	vec_release(&f->sites);
	map_release(&f->by_address);
}
