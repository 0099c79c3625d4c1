/* Worker threads that decode a big log ahead. The log is cut into chunks; an idle worker claims the
 * next chunk, splits it into lines and decodes them into a slot of a ring. The main thread applies
 * the chunks to the model in log order, one per step; while the next one is not decoded yet, it
 * decodes a chunk itself instead of waiting. Between steps the workers go on until the ring is
 * full. Workers and ring live as long as the first load; between two logs the workers sleep.
 *
 * Only complete lines are read here. The end of the log and read errors are left to the wire, which
 * continues after the last chunk applied. */
#include "session/load.h"

#include "base/thread.h"
#include "model/prefetch.h"
#include "wire/chunk.h"

#include <sched.h>

enum {
	THREADS_MAX = 8,
	RING_MAX = 2 * THREADS_MAX + 2,
	BUFFER_KEPT_BYTES = 1 << 20, /* a bigger one is freed before the next chunk */
	EVENTS_BLOCK = 64, /* allocated at a time */
	EVENTS_USUAL = 16, /* of most messages, at most */
	MESSAGES_AHEAD = 4, /* are prefetched */
	PREDICT_FROM_BYTES = 1 << 20, /* a smaller sample predicts badly */
};

/* A line waiting to be applied. */
struct decoded_line {
	uint64_t offset;
	uint32_t length, line;
	uint32_t message; /* its number in the chunk, + 1; 0 = it is only a log line, */
	uint16_t flags;   /* with these */
};

/* A slot of the ring. */
struct decoded_chunk {
	const struct wire_file *file; /* that it is of */
	bool done, failed;
	int64_t clock_ms; /* as in struct load_reading; 0 = none in this chunk yet */
	struct chunk_lines read;
	VEC(struct decoded_line) lines;
	VEC(struct message) messages; /* their lists are in the arena */
	struct arena arena;
	struct event *events; /* in the arena, for the next messages */
	uint32_t events_left;
	VEC(struct name_key) keys; /* of all messages, in their order */
	VEC(struct diag) found; /* of the message being decoded */
	struct decoder decoder;
	struct buf buffer;
};

struct load_workers {
	/* the log being read */
	struct load_reading *r;
	struct wire_parallel *a;
	uint64_t start; /* where reading begins */
	uint64_t chunk_bytes, chunks; /* from there on */

	unsigned ring_n;
	pthread_t workers[THREADS_MAX];
	unsigned workers_n;
	bool ending;

	/* under the lock: chunks below claimed are decoded or being decoded, those below applied
	 * are in the model */
	pthread_mutex_t lock;
	pthread_cond_t space, decoded;
	uint64_t claimed, applied;
	unsigned decoding; /* threads that decode a chunk */
	struct decoded_chunk ring[RING_MAX];
};

static bool is_inside(const struct buf *b, const char *p)
{
	return (uintptr_t)p - (uintptr_t)b->p < b->cap;
}

static void *copy_list(struct arena *arena, const void *list, size_t bytes)
{
	return bytes ? memcpy(arena_alloc(arena, bytes), list, bytes) : NULL;
}

/* Prefetches for writing: the cache lines of the next messages and events are still owned by the
 * processor that applied their former contents. Tiny messages are decoded faster than lines come from
 * there, so the next message was prefetched while an earlier one was decoded. */
static void prefetch_next(const struct decoded_chunk *c, const struct message *m)
{
	mem_prefetch_write(m + MESSAGES_AHEAD, sizeof(*m));
	mem_prefetch_write(c->events, 2 * sizeof(*c->events));
}

/* Has a message decoded straight into the arena, without copying its events. */
static void borrow_lists(struct decoded_chunk *c, struct message *m)
{
	if (c->events_left < EVENTS_USUAL) {
		c->events = arena_alloc(&c->arena, EVENTS_BLOCK * sizeof(*c->events));
		c->events_left = EVENTS_BLOCK;
	}
	m->events.v = c->events;
	m->events.cap = c->events_left;
	m->events_borrowed = true;
	memcpy(&m->diags.list, &c->found, sizeof(c->found));
}

static void keep_lists(struct decoded_chunk *c, struct message *m)
{
	struct event *own = m->events.v;

	if (m->events_borrowed) {
		c->events += m->events.n;
		c->events_left -= m->events.n;
	} else {
		m->events.v = copy_list(&c->arena, own, m->events.n * sizeof(*own));
		m->events_borrowed = true;
		free(own);
	}
	memcpy(&c->found, &m->diags.list, sizeof(c->found));
	m->diags.list.v = copy_list(&c->arena, c->found.v, c->found.n * sizeof(*c->found.v));
}

static void hash_names(struct decoded_chunk *c, struct message *m)
{
	while (c->keys.cap - c->keys.n < message_keys_max(m))
		c->keys.v = vec_grow_(c->keys.v, &c->keys.cap, sizeof(*c->keys.v));
	message_hash(m, c->keys.v + c->keys.n);
	c->keys.n += m->keys_n;
}

/* Only once all keys are there, as the list moves while it grows. */
static void assign_keys(struct decoded_chunk *c)
{
	struct name_key *keys;

	while (c->keys.cap - c->keys.n < PREFETCH_PADDING)
		c->keys.v = vec_grow_(c->keys.v, &c->keys.cap, sizeof(*c->keys.v));
	memset(c->keys.v + c->keys.n, 0, PREFETCH_PADDING * sizeof(*c->keys.v));
	keys = c->keys.v;
	for (uint32_t i = 0; i < c->messages.n; i++) {
		c->messages.v[i].keys = keys;
		keys += c->messages.v[i].keys_n;
	}
}

static void decode_message(struct decoded_chunk *c, struct str bytes, const struct frame_info *info,
			   enum capture_line line)
{
	struct message *m;

	if (c->messages.n == c->messages.cap)
		c->messages.v = vec_grow_(c->messages.v, &c->messages.cap, sizeof(*m));
	m = &c->messages.v[c->messages.n++];
	borrow_lists(c, m);
	dialect_decode(&c->decoder, bytes, info, m);
	m->flags |= capture_line_flags(line);
	/* those before the chunk's first record get that of the chunk before, by load_apply */
	if (m->time_ms == TIME_NONE && c->clock_ms)
		m->time_ms = c->clock_ms;
	hash_names(c, m);
	keep_lists(c, m);
	prefetch_next(c, m);
}

static void decode_frame(void *ctx, const struct frame *given)
{
	struct decoded_chunk *c = ctx;
	struct frame copy, *frame = &copy;
	struct frame_info info = { .lent = is_inside(&c->buffer, given->bytes.p) };
	enum capture_line line;
	struct decoded_line l = { .offset = 0 };

	copy = *given;
	line = load_capture_line(c->file, frame);
	if (line == CAPTURE_NOTE || line == CAPTURE_RUN)
		load_note_clock(c->file, frame->bytes, &c->clock_ms);
	if (line == CAPTURE_NOTE)
		return;
	info.flags = frame->flags;
	info.full_length = frame->full_length;
	load_line_info(c->file, line, &info);
	l.offset = frame->offset;
	l.line = frame->line;
	l.length = frame->full_length > UINT32_MAX ? UINT32_MAX : (uint32_t)frame->full_length;
	if (line != CAPTURE_BY_AGENT || c->clock_ms ||
	    !dialect_is_log_line(frame->bytes, &info, &l.flags)) {
		decode_message(c, frame->bytes, &info, line);
		l.message = c->messages.n;
	}
	vec_push(&c->lines, l);
}

static const char *read_line(void *ctx, const char *p, const char *end)
{
	struct decoded_chunk *c = ctx;

	return decoder_read_ahead(&c->decoder, p, end);
}

static void decode_chunk(struct load_workers *x, uint64_t number)
{
	struct decoded_chunk *c = &x->ring[number % x->ring_n];
	uint64_t first = x->start / x->chunk_bytes;
	struct chunk p = { .fd = x->a->fd, .start = x->start, .end = x->a->end,
			  .from = (first + number) * x->chunk_bytes,
			  .to = (first + number + 1) * x->chunk_bytes,
			  .max_bytes = x->a->max_bytes,
			  .newline = read_line };

	if (p.from < p.start)
		p.from = p.start;
	c->lines.n = c->messages.n = 0;
	c->keys.n = 0;
	c->events_left = 0;
	c->clock_ms = 0;
	arena_reset(&c->arena);
	decoder_reset(&c->decoder);
	c->decoder.keeps = true;
	c->file = &x->r->l->wire.files.v[x->r->file];
	c->decoder.quiet = !x->r->l->want_diags;
	if (c->buffer.cap > BUFFER_KEPT_BYTES)
		buf_release(&c->buffer);
	c->failed = chunk_read(&p, &c->buffer, decode_frame, c, &c->read) < 0;
	assign_keys(c);
}

/* With the lock held. */
static bool can_decode(const struct load_workers *x)
{
	return x->claimed < x->chunks && x->claimed < x->applied + x->ring_n;
}

/* Decodes the next chunk. The lock is held before and after, not meanwhile. */
static void decode_next(struct load_workers *x)
{
	uint64_t number = x->claimed++;

	x->decoding++;
	pthread_mutex_unlock(&x->lock);
	decode_chunk(x, number);
	pthread_mutex_lock(&x->lock);
	x->decoding--;
	x->ring[number % x->ring_n].done = true;
	pthread_cond_signal(&x->decoded);
}

static void *worker_main(void *ctx)
{
	struct load_workers *x = ctx;

	pthread_mutex_lock(&x->lock);
	while (!x->ending) {
		if (can_decode(x))
			decode_next(x);
		else
			pthread_cond_wait(&x->space, &x->lock);
	}
	pthread_mutex_unlock(&x->lock);
	return NULL;
}

static void apply_message(struct load_workers *x, struct message *m, const struct frame *frame)
{
	struct diags *own = &x->r->l->message.diags;
	const struct diag *found = m->diags.list.v;
	uint32_t found_n = m->diags.list.n;

	/* model_apply appends diagnostics: they need a list that can grow */
	memcpy(&m->diags.list, &own->list, sizeof(own->list));
	m->diags.list.n = 0;
	for (uint32_t k = 0; k < found_n; k++)
		vec_push(&m->diags.list, found[k]);
	load_apply(x->r, m, frame);
	memcpy(&own->list, &m->diags.list, sizeof(own->list));
}

static void apply_line(struct load_workers *x, struct decoded_chunk *c,
		       const struct decoded_line *l)
{
	struct message *m = &x->r->l->message;
	struct frame frame = { STR_NONE, l->offset, l->length, x->a->line - 1 + l->line, 0 };

	if (l->message) {
		m = &c->messages.v[l->message - 1];
		frame.flags = m->flags;
		apply_message(x, m, &frame);
		return;
	}
	dialect_log_line(m, l->flags);
	m->diags.arena = &c->decoder.arena;
	m->diags.quiet = c->decoder.quiet;
	frame.flags = m->flags;
	load_apply(x->r, m, &frame);
}

/* A software pipeline: each message is prefetched in steps while earlier ones are applied. */
static void apply_chunk(struct load_workers *x, struct decoded_chunk *c)
{
	const struct model *model = &x->r->l->model;
	struct prefetch_names names = { .keys = c->keys.v };

	for (uint32_t i = 0; i < c->lines.n + PREFETCH_STEPS; i++) {
		for (unsigned step = 0; step < PREFETCH_STEPS && step <= i; step++) {
			uint32_t number = i - step < c->lines.n ? c->lines.v[i - step].message : 0;

			if (number)
				prefetch_message(model, &names, &c->messages.v[number - 1],
						 (enum prefetch_step)step);
		}
		if (i >= PREFETCH_STEPS)
			apply_line(x, c, &c->lines.v[i - PREFETCH_STEPS]);
	}
	if (c->clock_ms)
		x->r->clock_ms = c->clock_ms;
}

/* Extrapolates the heap's final size from the bytes loaded so far, cached ones included. */
static void predict_growth(struct load_workers *x)
{
	const struct wire *w = &x->r->l->wire;
	uint64_t total = w->bytes_done + (x->a->end - x->a->at);

	if (total < w->bytes_total)
		total = w->bytes_total;
	if (w->bytes_done >= PREDICT_FROM_BYTES)
		heap_expect(x->r->l->model.heap, (double)total / (double)w->bytes_done);
}

/* The next chunk to apply, once it is decoded; NULL = all were applied. */
static struct decoded_chunk *wait_for_chunk(struct load_workers *x)
{
	struct decoded_chunk *c = &x->ring[x->applied % x->ring_n];

	if (x->applied == x->chunks)
		return NULL;
	pthread_mutex_lock(&x->lock);
	while (!c->done) {
		if (can_decode(x))
			decode_next(x);
		else
			pthread_cond_wait(&x->decoded, &x->lock);
	}
	pthread_mutex_unlock(&x->lock);
	return c;
}

bool load_workers_apply(struct load_workers *x)
{
	struct decoded_chunk *c = wait_for_chunk(x);
	bool has_room;

	if (!c || c->failed)
		return false;
	apply_chunk(x, c);
	if (c->read.lines) {
		x->r->l->wire.bytes_done += c->read.next - x->a->at;
		x->a->at = c->read.next;
		x->a->line += c->read.lines;
		predict_growth(x);
	}
	pthread_mutex_lock(&x->lock);
	c->done = false;
	x->applied++;
	/* not for each chunk: waking a worker for one costs two switches */
	has_room = x->claimed - x->applied <= x->ring_n / 2;
	pthread_mutex_unlock(&x->lock);
	if (has_room)
		pthread_cond_signal(&x->space); /* after unlocking: the woken thread takes the lock */
	return true;
}

static void chunk_release(struct decoded_chunk *c)
{
	vec_release(&c->lines);
	vec_release(&c->messages);
	arena_release(&c->arena);
	decoder_release(&c->decoder);
	vec_release(&c->keys);
	vec_release(&c->found);
	buf_release(&c->buffer);
}

static unsigned processors(void)
{
	cpu_set_t set;

	return sched_getaffinity(0, sizeof(set), &set) == 0 ? (unsigned)CPU_COUNT(&set) : 1;
}

/* Lines that came into the model from the cache. */
static void skip_cached(struct load_reading *r, struct wire_parallel *a)
{
	const struct cache_file *known = cache_file(r->l, r->file);

	if (!known || known->at <= a->start || known->at > a->end)
		return;
	a->at = known->at;
	a->line = known->line;
	r->l->wire.bytes_done += a->at - a->start;
}

static unsigned threads_of(const struct load *l)
{
	unsigned threads = l->threads ? l->threads : processors();

	return threads > THREADS_MAX ? THREADS_MAX : threads;
}

static struct load_workers *workers_new(unsigned threads)
{
	struct load_workers *x = xcalloc(1, sizeof(*x));

	x->ring_n = 2 * threads + 2; /* so that one slow chunk does not stall the others */
	pthread_mutex_init(&x->lock, NULL);
	pthread_cond_init(&x->space, NULL);
	pthread_cond_init(&x->decoded, NULL);
	while (x->workers_n + 1 < threads &&
	       thread_start(&x->workers[x->workers_n], worker_main, x) == 0)
		x->workers_n++;
	return x;
}

bool load_workers_begin(struct load_reading *r, struct wire_parallel *a)
{
	struct load *l = r->l;
	uint64_t chunk_bytes = l->chunk_bytes ? l->chunk_bytes : CHUNK_BYTES;
	struct load_workers *x;

	r->lines = true;
	skip_cached(r, a);
	if (r->text || a->fd < 0 || a->end - a->at <= 2 * chunk_bytes)
		return false;
	if (!l->workers) {
		if (threads_of(l) < 2)
			return false;
		l->workers = workers_new(threads_of(l));
	}
	x = l->workers;
	pthread_mutex_lock(&x->lock);
	x->r = r;
	x->a = a;
	x->start = a->at;
	x->chunk_bytes = chunk_bytes;
	x->chunks = (a->end - 1) / chunk_bytes - a->at / chunk_bytes + 1;
	x->claimed = x->applied = 0;
	pthread_mutex_unlock(&x->lock);
	pthread_cond_broadcast(&x->space);
	return true;
}

void load_workers_end(struct load_workers *x)
{
	pthread_mutex_lock(&x->lock);
	x->chunks = 0;
	while (x->decoding)
		pthread_cond_wait(&x->decoded, &x->lock);
	for (unsigned i = 0; i < x->ring_n; i++)
		x->ring[i].done = false;
	pthread_mutex_unlock(&x->lock);
}

void load_workers_stop(struct load *l)
{
	struct load_workers *x = l->workers;

	if (!x)
		return;
	heap_expect(l->model.heap, 0);
	pthread_mutex_lock(&x->lock);
	x->ending = true;
	x->chunks = 0;
	pthread_cond_broadcast(&x->space);
	pthread_mutex_unlock(&x->lock);
	while (x->workers_n)
		pthread_join(x->workers[--x->workers_n], NULL);
	for (unsigned i = 0; i < x->ring_n; i++)
		chunk_release(&x->ring[i]);
	pthread_cond_destroy(&x->space);
	pthread_cond_destroy(&x->decoded);
	pthread_mutex_destroy(&x->lock);
	free(x);
	l->workers = NULL;
	mem_trim();
}
