/* Blocks of bytes, candidates in them, and the messages these belong to. */
#include "session/search.h"

#include "base/thread.h"
#include "base/timestamp.h"
#include "base/utf8.h"

#include <stdatomic.h>
#include <stdio.h>

enum {
	FIRST_BYTES = 32 << 10,  /* the next find may be near */
	BLOCK_BYTES = 512 << 10, /* stays in the processor's cache for all that is looked for */
	SLICE_BYTES = 8 << 20,
	BATCH_MAX = SLICE_BYTES / BLOCK_BYTES + 8, /* stretches may be shorter than a block */
	TOGETHER_FROM = 4, /* blocks that are worth a thread */
	SLICE_MESSAGES = 50000,
	ESCAPES_DEEP = 3, /* JSON within JSON within JSON */
};

/* ---- the word ---- */

static bool has(struct str text, struct str word)
{
	return str_contains_nocase(text, word);
}

static bool is_made_of(struct str word, const char *bytes)
{
	for (size_t i = 0; i < word.n; i++)
		if (!word.p[i] || !strchr(bytes, word.p[i]))
			return false;
	return true;
}

static void note_escapable(struct search *s, struct str word)
{
	memset(s->escaped, 0, sizeof(s->escaped));
	s->quotes = s->slashes = false;
	for (size_t i = 0; i < word.n; i++) {
		unsigned char c = (unsigned char)word.p[i];

		s->quotes |= c == '"' || c == '\\';
		s->slashes |= c == '/';
		s->escaped[c] = 1;
		if (c >= 'A' && c <= 'Z')
			s->escaped[c | 0x20] = 1;
		else if (c >= 'a' && c <= 'z')
			s->escaped[c & 0xdf] = 1;
		else if (c >= 0x80)
			s->escaped[0x80] = 1; /* some character that is not ASCII */
	}
}

static void prepare(struct search *s, const struct model *m, struct str word)
{
	if (!str_eq(buf_str(&s->word), word)) {
		buf_clear(&s->word);
		buf_add_str(&s->word, word);
		needle_init(&s->needle, word);
		needle_init(&s->escape, STR("\\u"));
		note_escapable(s, word);
		s->is_number = is_made_of(word, "0123456789");
		s->is_clock = is_made_of(word, "0123456789:");
		for (unsigned d = 0; d < dialect_count(); d++)
			s->dialect_has[d] = has(str_of(dialect_name((enum dialect_id)d)), word);
		s->agent_has.n = 0;
		s->kinds = 0;
	}
	while (s->agent_has.n < m->agents.n)
		vec_push(&s->agent_has, has(agent_name(m, s->agent_has.n), buf_str(&s->word)));
	for (; s->kinds < m->kind_count; s->kinds++)
		s->kind_has[s->kinds] = has(m->kinds[s->kinds], buf_str(&s->word));
}

/* ---- one message ---- */

static bool columns_have(const struct search *s, const struct model *m, uint32_t message)
{
	const struct record *r = &m->records.v[message];
	const struct route *route = route_of(m, r);
	char text[32];

	if ((route->from != NONE && s->agent_has.v[route->from]) ||
	    (route->to != NONE && s->agent_has.v[route->to]) || s->kind_has[r->kind] ||
	    s->dialect_has[route->dialect])
		return true;
	if (s->is_number) {
		snprintf(text, sizeof(text), "%u", message_line(m, message));
		if (strstr(text, s->word.p))
			return true;
	}
	return s->is_clock && r->time_ms != TIME_NONE &&
	       strstr(timestamp_clock(r->time_ms, text), s->word.p);
}

static int hex_of(const char *p)
{
	int value = 0;

	for (int i = 0; i < 4; i++) {
		char c = p[i];

		if (c >= '0' && c <= '9')
			value = value * 16 + (c - '0');
		else if ((c | 0x20) >= 'a' && (c | 0x20) <= 'f')
			value = value * 16 + ((c | 0x20) - 'a' + 10);
		else
			return -1;
	}
	return value;
}

static void add_code_point(struct buf *out, uint32_t c)
{
	char bytes[4];

	buf_add(out, bytes, utf8_encode(c, bytes));
}

/* What stands for \uXXXX at p, with the second half of a pair; *n: bytes taken. */
static void add_escaped(struct buf *out, struct str text, size_t at, size_t *n)
{
	int value = at + 6 <= text.n ? hex_of(text.p + at + 2) : -1, low;

	*n = 2;
	if (value < 0) {
		buf_add(out, text.p + at, 2);
		return;
	}
	*n = 6;
	if (value >= 0xd800 && value < 0xdc00 && at + 12 <= text.n && text.p[at + 6] == '\\' &&
	    text.p[at + 7] == 'u' && (low = hex_of(text.p + at + 8)) >= 0xdc00 && low < 0xe000) {
		add_code_point(out, 0x10000u + (((uint32_t)value - 0xd800) << 10) + ((uint32_t)low - 0xdc00));
		*n = 12;
	} else {
		add_code_point(out, value >= 0xd800 && value < 0xe000 ? 0xfffd : (uint32_t)value);
	}
}

/* The same text with one level of escapes undone; false: there were none. */
static bool unescape(struct str text, struct buf *out)
{
	static const char from[] = "bfnrt", to[] = "\b\f\n\r\t";
	const char *next;
	bool any = false;

	buf_clear(out);
	for (size_t at = 0, n; at < text.n; at += n) {
		next = memchr(text.p + at, '\\', text.n - at);
		n = next ? (size_t)(next - (text.p + at)) : text.n - at;
		if (next && next + 1 == text.p + text.n)
			n++; /* a backslash that nothing follows */
		buf_add(out, text.p + at, n);
		if (at + n == text.n)
			break;
		at += n;
		any = true;
		n = 2;
		next = strchr(from, text.p[at + 1]);
		if (text.p[at + 1] == 'u')
			add_escaped(out, text, at, &n);
		else
			buf_addc(out, next && *next ? to[next - from] : text.p[at + 1]);
	}
	return any;
}

static bool text_has(const struct search *s, struct str text, struct buf *plain)
{
	struct buf again = { 0 };
	bool found = has(text, buf_str(&s->word));

	for (int deep = 0; deep < ESCAPES_DEEP && !found && unescape(text, &again); deep++) {
		struct buf swapped = *plain;

		*plain = again;
		again = swapped;
		text = buf_str(plain);
		found = has(text, buf_str(&s->word));
	}
	buf_release(&again);
	return found;
}

/* ---- a block ---- */

/* Messages one after the other in one file: number `first` and n more, in order. */
struct stretch_of {
	uint32_t first, n;
	uint64_t offset, bytes;
};

/* Where a message begins and ends. */
struct byte_range {
	uint32_t source;
	uint64_t from, to;
};

static struct byte_range extent_of(const struct model *m, uint32_t message)
{
	uint64_t from = message_offset(m, message);

	return (struct byte_range){ message_route(m, message)->source, from,
				from + m->records.v[message].length };
}

/* As many messages as fit into a block, from `at` on in that direction; at least one. */
static struct stretch_of stretch_from(const struct model *m, uint32_t at, uint32_t most,
				      uint64_t room, int direction)
{
	struct byte_range all = extent_of(m, at);
	uint32_t n = 1;

	for (; n < most; n++) {
		struct byte_range next = extent_of(m, direction > 0 ? at + n : at - n);

		if (next.source != all.source ||
		    (direction > 0 ? next.from < all.to : next.to > all.from) ||
		    (direction > 0 ? next.to - all.from : all.to - next.from) > room)
			break;
		all.from = direction > 0 ? all.from : next.from;
		all.to = direction > 0 ? next.to : all.to;
	}
	return (struct stretch_of){ direction > 0 ? at : at - n + 1, n, all.from, all.to - all.from };
}

/* The message of a stretch that has the byte, or NONE. */
static uint32_t message_at(const struct model *m, const struct stretch_of *t, uint64_t offset)
{
	uint32_t low = t->first, high = t->first + t->n;

	while (high - low > 1) {
		uint32_t middle = low + (high - low) / 2;

		if (message_offset(m, middle) <= offset)
			low = middle;
		else
			high = middle;
	}
	return offset - message_offset(m, low) < m->records.v[low].length ? low : NONE;
}

/* Whether an escape at p can stand for a byte of the word. */
static bool escape_matters(const struct search *s, struct str text, size_t at)
{
	int value;

	if (at + 1 >= text.n)
		return false;
	switch (text.p[at + 1]) {
	case 'u':
		value = at + 6 <= text.n ? hex_of(text.p + at + 2) : -1;
		return value >= 0 && s->escaped[value < 0x80 ? value : 0x80];
	case '"':
	case '\\': return s->quotes;
	case '/': return s->slashes;
	default: return false;
	}
}

/* The place of the next escape that matters. Most words cannot be hidden but by \uXXXX, and text in
 * JSON in JSON is full of others. */
static ptrdiff_t next_escape(const struct search *s, struct str text, size_t at)
{
	const char *p;
	ptrdiff_t hit;

	for (; at < text.n; at++) {
		if (s->quotes || s->slashes) {
			p = memchr(text.p + at, '\\', text.n - at);
			hit = p ? p - text.p : -1;
		} else {
			hit = needle_find(&s->escape, text, at);
		}
		if (hit < 0 || escape_matters(s, text, (size_t)hit))
			return hit;
		at = (size_t)hit;
	}
	return -1;
}

struct block_search {
	const struct search *s;
	struct search_hands *hands;
	const struct model *m;
	const struct stretch_of *t;
	struct str text;
	int direction;
	uint32_t best; /* NONE */
};

/* Whether that message would be a better find than the best so far. */
static bool is_better(const struct block_search *b, uint32_t message)
{
	return b->best == NONE || (b->direction > 0 ? message < b->best : message > b->best);
}

static void look_for_word(struct block_search *b)
{
	size_t at = 0;
	ptrdiff_t hit;

	while ((hit = needle_find(&b->s->needle, b->text, at)) >= 0) {
		uint32_t message = message_at(b->m, b->t, b->t->offset + (uint64_t)hit);

		at = (size_t)hit + 1;
		if (message == NONE || !is_better(b, message))
			continue;
		if (b->s->word.n > NEEDLE_MAX &&
		    !has(str_make(b->text.p + hit, b->text.n - (size_t)hit < b->s->word.n
							   ? b->text.n - (size_t)hit
							   : b->s->word.n),
			 buf_str(&b->s->word)))
			continue;
		b->best = message;
		if (b->direction > 0)
			return;
	}
}

/* Messages in which the word may be hidden by escapes; each is looked at once. */
static void look_behind_escapes(struct block_search *b)
{
	size_t at = 0;
	ptrdiff_t hit;

	while ((hit = next_escape(b->s, b->text, at)) >= 0) {
		uint32_t message = message_at(b->m, b->t, b->t->offset + (uint64_t)hit);
		struct byte_range where;

		at = (size_t)hit + 1;
		if (message == NONE)
			continue;
		if (b->direction > 0 && !is_better(b, message))
			return; /* they only get worse */
		where = extent_of(b->m, message);
		at = (size_t)(where.to - b->t->offset);
		if (is_better(b, message) &&
		    text_has(b->s, str_make(b->text.p + (where.from - b->t->offset),
					    (size_t)(where.to - where.from)),
			     &b->hands->plain))
			b->best = message;
	}
}

static void look_at_columns(struct block_search *b)
{
	for (uint32_t i = 0; i < b->t->n; i++) {
		uint32_t message = b->direction > 0 ? b->t->first + i : b->t->first + b->t->n - 1 - i;

		if (!is_better(b, message))
			return;
		if (columns_have(b->s, b->m, message)) {
			b->best = message;
			return;
		}
	}
}

/* Message by message, where there is no block. */
static void look_one_by_one(struct block_search *b, const struct reader *r)
{
	for (uint32_t i = 0; i < b->t->n; i++) {
		uint32_t message = b->t->first + i;

		if (is_better(b, message) && text_has(b->s, r->bytes(r->ctx, message), &b->hands->plain))
			b->best = message;
	}
}

/* false: it cannot be read as a block. One that is longer than the limit is known by its beginning
 * only. */
static bool look_at_block(struct block_search *b, struct wire *w)
{
	const struct route *route = message_route(b->m, b->t->first);

	if ((b->t->n == 1 && route->flags & RECORD_OVERSIZE) ||
	    wire_fetch_block(w, route->source, b->t->offset, (size_t)b->t->bytes, &b->hands->block,
			     &b->text, NULL) < 0)
		return false;
	look_for_word(b);
	look_behind_escapes(b);
	look_at_columns(b);
	return true;
}

/* ---- many blocks ---- */

/* What a hunt looks through at one go; `best` by stretch: a message, NONE, or NOT_YET. */
struct batch {
	struct search *s;
	const struct model *m;
	struct wire *wire;
	int direction;
	struct stretch_of list[BATCH_MAX];
	uint32_t best[BATCH_MAX];
	uint32_t n;
	uint64_t bytes; /* of this and the batches before it */
	uint32_t messages;
	atomic_uint next;  /* stretch that nobody has taken */
	atomic_uint found; /* the first one with a find: those behind it do not matter */
};

#define NOT_YET (NONE - 1)

static void note_find(struct batch *b, unsigned i)
{
	unsigned first = atomic_load(&b->found);

	while (i < first && !atomic_compare_exchange_weak(&b->found, &first, i))
		;
}

static void take_blocks(struct batch *b, struct search_hands *hands)
{
	unsigned i;

	while ((i = atomic_fetch_add(&b->next, 1)) < b->n && i < atomic_load(&b->found)) {
		struct block_search one = { .s = b->s, .hands = hands, .m = b->m, .t = &b->list[i],
					    .direction = b->direction, .best = NONE };

		if (!look_at_block(&one, b->wire))
			continue;
		b->best[i] = one.best;
		if (one.best != NONE)
			note_find(b, i);
	}
}

static void *take_others(void *batch)
{
	struct batch *b = batch;

	take_blocks(b, &b->s->other);
	return NULL;
}

/* Both threads read one file, which is open: that is all that they share and does not stand
 * still. */
static void search_together(struct batch *b)
{
	uint32_t file = message_route(b->m, b->list[0].first)->source;
	pthread_t helper;
	bool helped = false;

	if (b->n >= TOGETHER_FROM && !b->s->alone && wire_ensure_open(b->wire, file, NULL) == 0)
		helped = thread_start(&helper, take_others, b) == 0;
	take_blocks(b, &b->s->own);
	if (helped)
		pthread_join(helper, NULL);
}

/* The best find in stretch i, wherever it comes from. */
static uint32_t find_of(struct batch *b, uint32_t i, const struct reader *r)
{
	struct block_search one = { .s = b->s, .hands = &b->s->own, .m = b->m, .t = &b->list[i],
				    .direction = b->direction, .best = NONE };

	if (b->best[i] != NOT_YET)
		return b->best[i];
	if (!look_at_block(&one, b->wire)) {
		look_one_by_one(&one, r);
		look_at_columns(&one);
	}
	return one.best;
}

/* ---- the hunt ---- */

static void move_on(struct search_progress *h, uint32_t n)
{
	h->left -= n;
	if (h->direction > 0)
		h->at = h->at + n < h->k ? h->at + n : 0;
	else
		h->at = h->at >= n ? h->at - n : h->k - 1;
}

static bool is_slice(const struct batch *b)
{
	return b->bytes >= SLICE_BYTES || b->messages >= SLICE_MESSAGES;
}

/* The next stretches of one file, without moving on; the first ones of a hunt are short, since the
 * next find may be near. */
static void gather(struct batch *b, const struct search_progress *h, uint64_t *room)
{
	struct search_progress ahead = *h;

	for (b->n = 0; ahead.left && b->n < BATCH_MAX && !is_slice(b); b->n++) {
		uint32_t most = h->direction > 0 ? h->k - ahead.at : ahead.at + 1; /* to the end */
		struct stretch_of t = stretch_from(b->m, ahead.at, most < ahead.left ? most : ahead.left,
						   *room, h->direction);

		if (b->n && message_route(b->m, t.first)->source !=
				    message_route(b->m, b->list[0].first)->source)
			break;
		b->list[b->n] = t;
		b->best[b->n] = NOT_YET;
		b->bytes += t.bytes;
		b->messages += t.n;
		move_on(&ahead, t.n);
		if (*room < BLOCK_BYTES) {
			*room *= 2;
			b->n++;
			break;
		}
	}
	atomic_init(&b->next, 0);
	atomic_init(&b->found, b->n);
}

bool search_step(struct search *s, const struct model *m, struct wire *w, const struct reader *r,
		 struct search_progress *h)
{
	struct batch b = { .s = s, .m = m, .wire = w, .direction = h->direction };
	uint64_t room = h->left == h->k ? FIRST_BYTES : BLOCK_BYTES;

	prepare(s, m, h->word);
	h->found = NONE;
	while (h->left && h->found == NONE && !is_slice(&b)) {
		gather(&b, h, &room);
		search_together(&b);
		for (uint32_t i = 0; i < b.n && h->found == NONE; i++) {
			uint32_t n = b.list[i].n;

			h->found = find_of(&b, i, r);
			if (h->found != NONE)
				n = (h->found > h->at ? h->found - h->at : h->at - h->found) + 1;
			move_on(h, n);
		}
	}
	return h->found != NONE || h->left > 0;
}

void search_release(struct search *s)
{
	buf_release(&s->word);
	buf_release(&s->own.block);
	buf_release(&s->own.plain);
	buf_release(&s->other.block);
	buf_release(&s->other.plain);
	vec_release(&s->agent_has);
}
