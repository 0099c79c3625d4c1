/* Search: scans blocks of bytes for hits, and maps each hit to its message. */
#include "session/search.h"

#include "base/thread.h"
#include "base/timestamp.h"
#include "base/utf8.h"
#include "json/escapes.h"

#include <stdatomic.h>
#include <stdio.h>

enum {
	FIRST_BYTES = 32 << 10,  /* the next match may be near */
	BLOCK_BYTES = 512 << 10, /* stays in the L2 cache for all passes */
	STEP_BYTES = 8 << 20,
	BATCH_MAX = STEP_BYTES / BLOCK_BYTES + 8, /* ranges may be shorter than a block */
	HELPER_BLOCKS_MIN = 4, /* fewer are not worth a thread */
	STEP_MESSAGES = 50000,
	UNESCAPE_DEPTH = 3, /* JSON within JSON within JSON */
};

/* ---- the word ---- */

static void find_escapable(struct search *s, struct str word)
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
		find_escapable(s, word);
		s->is_number = strspn(s->word.p, "0123456789") == word.n;
		s->is_clock = strspn(s->word.p, "0123456789:") == word.n;
		for (unsigned d = 0; d < dialect_count(); d++)
			s->dialect_has[d] =
				str_contains_nocase(str_of(dialect_name((enum dialect_id)d)), word);
		s->agent_has.n = 0;
		s->kinds = 0;
	}
	while (s->agent_has.n < m->agents.n)
		vec_push(&s->agent_has,
			 str_contains_nocase(agent_name(m, s->agent_has.n), buf_str(&s->word)));
	for (; s->kinds < m->kind_count; s->kinds++)
		s->kind_has[s->kinds] = str_contains_nocase(m->kinds[s->kinds], buf_str(&s->word));
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

/* Decodes the \uXXXX at that offset, or a surrogate pair; *n: bytes consumed. */
static void add_unescaped(struct buf *out, struct str text, size_t at, size_t *n)
{
	const char *p = text.p + at;
	int value = at + 6 <= text.n ? escape_hex4(p + 2) : -1, low;
	char bytes[4];

	*n = value < 0 ? 2 : 6;
	if (value < 0) {
		buf_add(out, p, 2);
		return;
	}
	if (value >= 0xd800 && value < 0xdc00 && at + 12 <= text.n && p[6] == '\\' && p[7] == 'u' &&
	    (low = escape_hex4(p + 8)) >= 0xdc00 && low < 0xe000) {
		value = 0x10000 + ((value - 0xd800) << 10) + (low - 0xdc00);
		*n = 12;
	} else if (value >= 0xd800 && value < 0xe000) {
		value = 0xfffd;
	}
	buf_add(out, bytes, utf8_encode((uint32_t)value, bytes));
}

/* Decodes one level of escapes; false: there were none. */
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
			n++; /* a backslash at the end */
		buf_add(out, text.p + at, n);
		if (at + n == text.n)
			break;
		at += n;
		any = true;
		n = 2;
		next = strchr(from, text.p[at + 1]);
		if (text.p[at + 1] == 'u')
			add_unescaped(out, text, at, &n);
		else
			buf_addc(out, next && *next ? to[next - from] : text.p[at + 1]);
	}
	return any;
}

static bool text_has(const struct search *s, struct str text, struct buf *plain)
{
	struct buf again = { 0 };
	bool found = str_contains_nocase(text, buf_str(&s->word));

	for (int deep = 0; deep < UNESCAPE_DEPTH && !found && unescape(text, &again); deep++) {
		struct buf swapped = *plain;

		*plain = again;
		again = swapped;
		text = buf_str(plain);
		found = str_contains_nocase(text, buf_str(&s->word));
	}
	buf_release(&again);
	return found;
}

/* ---- a block ---- */

/* n consecutive messages of one file, from number `first`. */
struct message_range {
	uint32_t first, n;
	uint64_t offset, bytes;
};

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

/* As many messages as fit into `room` bytes, from `at` on in that direction; at least one. */
static struct message_range range_from(const struct model *m, uint32_t at, uint32_t most,
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
	return (struct message_range){ direction > 0 ? at : at - n + 1, n, all.from,
				       all.to - all.from };
}

/* The message of a range that contains the byte, or NONE. */
static uint32_t message_at(const struct model *m, const struct message_range *t, uint64_t offset)
{
	uint32_t next = t->first + 1, found;

	bisect(next, t->first + t->n, i, message_offset(m, i) <= offset)
	found = next - 1;
	return offset - message_offset(m, found) < m->records.v[found].length ? found : NONE;
}

/* Whether the escape at that offset can encode a byte of the word. */
static bool escape_matters(const struct search *s, struct str text, size_t at)
{
	int value;

	if (at + 1 >= text.n)
		return false;
	switch (text.p[at + 1]) {
	case 'u':
		value = at + 6 <= text.n ? escape_hex4(text.p + at + 2) : -1;
		return value >= 0 && s->escaped[value < 0x80 ? value : 0x80];
	case '"':
	case '\\': return s->quotes;
	case '/': return s->slashes;
	default: return false;
	}
}

/* The offset of the next escape that matters, or -1. Most words can only be hidden by \uXXXX, and
 * nested JSON is full of other escapes. */
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
	struct search_buffers *buffers;
	const struct model *m;
	const struct message_range *t;
	struct str text;
	int direction;
	uint32_t best; /* match so far, or NONE */
};

/* Whether that message comes before the best match, in search direction. */
static bool is_better(const struct block_search *b, uint32_t message)
{
	return b->best == NONE || (b->direction > 0 ? message < b->best : message > b->best);
}

static void scan_for_word(struct block_search *b)
{
	struct str word = buf_str(&b->s->word);
	size_t at = 0, left;
	ptrdiff_t hit;

	while ((hit = needle_find(&b->s->needle, b->text, at)) >= 0) {
		uint32_t message = message_at(b->m, b->t, b->t->offset + (uint64_t)hit);

		at = (size_t)hit + 1;
		if (message == NONE || !is_better(b, message))
			continue;
		/* the needle is only the beginning of a long word */
		left = b->text.n - (size_t)hit;
		if (word.n > NEEDLE_MAX &&
		    !str_contains_nocase(str_make(b->text.p + hit, left < word.n ? left : word.n),
					 word))
			continue;
		b->best = message;
		if (b->direction > 0)
			return;
	}
}

/* Decodes messages in which escapes may hide the word, each once. */
static void scan_escapes(struct block_search *b)
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
			return; /* so are all that follow */
		where = extent_of(b->m, message);
		at = (size_t)(where.to - b->t->offset);
		if (is_better(b, message) &&
		    text_has(b->s, str_make(b->text.p + (where.from - b->t->offset),
					    (size_t)(where.to - where.from)),
			     &b->buffers->plain))
			b->best = message;
	}
}

static void scan_columns(struct block_search *b)
{
	for (uint32_t i = 0; i < b->t->n; i++) {
		uint32_t message =
			b->direction > 0 ? b->t->first + i : b->t->first + b->t->n - 1 - i;

		if (!is_better(b, message))
			return;
		if (columns_have(b->s, b->m, message)) {
			b->best = message;
			return;
		}
	}
}

/* Fallback if the range cannot be read as a block. */
static void scan_each_message(struct block_search *b, const struct reader *r)
{
	for (uint32_t i = 0; i < b->t->n; i++) {
		uint32_t message = b->t->first + i;

		if (is_better(b, message) &&
		    text_has(b->s, r->bytes(r->ctx, message), &b->buffers->plain))
			b->best = message;
	}
}

/* false: the range cannot be read as a block. Of an oversize message only the beginning is read. */
static bool scan_block(struct block_search *b, struct wire *w)
{
	const struct route *route = message_route(b->m, b->t->first);

	if ((b->t->n == 1 && route->flags & RECORD_OVERSIZE) ||
	    wire_fetch_block(w, route->source, b->t->offset, (size_t)b->t->bytes,
			     &b->buffers->block, &b->text, NULL) < 0)
		return false;
	scan_for_word(b);
	scan_escapes(b);
	scan_columns(b);
	return true;
}

/* ---- many blocks ---- */

/* Ranges that the threads share; best[i]: the match in range i, NONE, or NOT_SCANNED. */
struct batch {
	struct search *s;
	const struct model *m;
	struct wire *wire;
	int direction;
	struct message_range list[BATCH_MAX];
	uint32_t best[BATCH_MAX];
	uint32_t n;
	uint64_t bytes; /* of this batch and earlier ones of the step */
	uint32_t messages;
	atomic_uint next;  /* range to be claimed */
	atomic_uint found; /* lowest range with a match: later ones need not be scanned */
};

#define NOT_SCANNED (NONE - 1)

static void note_match(struct batch *b, unsigned i)
{
	unsigned first = atomic_load(&b->found);

	while (i < first && !atomic_compare_exchange_weak(&b->found, &first, i))
		;
}

static struct block_search search_of_range(const struct batch *b, unsigned i,
					   struct search_buffers *buffers)
{
	return (struct block_search){ .s = b->s, .buffers = buffers, .m = b->m, .t = &b->list[i],
				      .direction = b->direction, .best = NONE };
}

static void scan_blocks(struct batch *b, struct search_buffers *buffers)
{
	unsigned i;

	while ((i = atomic_fetch_add(&b->next, 1)) < b->n && i < atomic_load(&b->found)) {
		struct block_search one = search_of_range(b, i, buffers);

		if (!scan_block(&one, b->wire))
			continue;
		b->best[i] = one.best;
		if (one.best != NONE)
			note_match(b, i);
	}
}

static void *helper_main(void *batch)
{
	struct batch *b = batch;

	scan_blocks(b, &b->s->other);
	return NULL;
}

/* Both threads pread from one file, which must be open: all else they share is read-only. */
static void scan_batch(struct batch *b)
{
	uint32_t file = message_route(b->m, b->list[0].first)->source;
	pthread_t helper;
	bool helped = false;

	if (b->n >= HELPER_BLOCKS_MIN && !b->s->alone && wire_ensure_open(b->wire, file, NULL) == 0)
		helped = thread_start(&helper, helper_main, b) == 0;
	scan_blocks(b, &b->s->own);
	if (helped)
		pthread_join(helper, NULL);
}

/* The match in range i, scanned now if no thread has done it. */
static uint32_t match_of(struct batch *b, uint32_t i, const struct reader *r)
{
	struct block_search one = search_of_range(b, i, &b->s->own);

	if (b->best[i] != NOT_SCANNED)
		return b->best[i];
	if (!scan_block(&one, b->wire)) {
		scan_each_message(&one, r);
		scan_columns(&one);
	}
	return one.best;
}

/* ---- search steps ---- */

static void advance(struct search_progress *h, uint32_t n)
{
	h->left -= n;
	if (h->direction > 0)
		h->at = h->at + n < h->k ? h->at + n : 0;
	else
		h->at = h->at >= n ? h->at - n : h->k - 1;
}

static bool batch_is_full(const struct batch *b)
{
	return b->bytes >= STEP_BYTES || b->messages >= STEP_MESSAGES;
}

/* Fills the batch with the next ranges of one file. The first ones of a search are short. */
static void gather(struct batch *b, const struct search_progress *h, uint64_t *room)
{
	struct search_progress ahead = *h;

	for (b->n = 0; ahead.left && b->n < BATCH_MAX && !batch_is_full(b); b->n++) {
		uint32_t most = h->direction > 0 ? h->k - ahead.at : ahead.at + 1; /* to the end */
		struct message_range t = range_from(
			b->m, ahead.at, most < ahead.left ? most : ahead.left, *room, h->direction);

		if (b->n && message_route(b->m, t.first)->source !=
				    message_route(b->m, b->list[0].first)->source)
			break;
		b->list[b->n] = t;
		b->best[b->n] = NOT_SCANNED;
		b->bytes += t.bytes;
		b->messages += t.n;
		advance(&ahead, t.n);
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
	while (h->left && h->found == NONE && !batch_is_full(&b)) {
		gather(&b, h, &room);
		scan_batch(&b);
		for (uint32_t i = 0; i < b.n && h->found == NONE; i++) {
			uint32_t n = b.list[i].n;

			h->found = match_of(&b, i, r);
			if (h->found != NONE)
				n = (h->found > h->at ? h->found - h->at : h->at - h->found) + 1;
			advance(h, n);
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
