/* Threads that decode ahead. A big log is cut into parts; a free thread takes the next part, cuts it
 * into lines and decodes them, and the main thread applies the parts to the model in the log's
 * order, one a step. While there is no part to apply, the main thread decodes one too: so it never
 * waits for long, and one thread alone does the same work. Between steps the threads go on until all
 * slots are full.
 *
 * Only complete lines are read here. The end of the log, and whatever goes wrong, is left to the
 * wire, which goes on behind the last part that was applied. */
#include "session/load.h"
#include "model/prefetch.h"
#include "wire/chunk.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>

enum {
	THREADS_MAX = 8,
	PARTS_MAX = 2 * THREADS_MAX + 2,
	ROOM_KEPT_BYTES = 1 << 20, /* a bigger one is given back before the next part */
	EVENTS_TAKEN = 64, /* room for events at a time */
	EVENTS_USUAL = 16, /* of a message, at most */
	EXPECT_FROM_BYTES = 1 << 20, /* what has been read before tells little */
};

/* A message that waits to be applied; its lists are in the slot's arena. */
struct decoded {
	struct message message;
	uint64_t offset;
	uint32_t length, line;
};

/* One part on its way. */
struct slot {
	bool done, failed;
	struct chunk_lines lines;
	VEC(struct decoded) messages;
	struct arena arena;
	struct event *events; /* room in the arena for those of the next messages */
	uint32_t events_left;
	VEC(struct name_key) keys; /* of all messages, in their order */
	VEC(struct diag) found; /* of the message that is being decoded */
	struct decoder decoder;
	struct buf room;
};

struct ahead {
	struct load_reading *r;
	struct wire_parallel *a;
	uint64_t start; /* where reading begins */
	uint64_t chunk_bytes, parts; /* from there on */
	unsigned threads, slots_n;
	pthread_t running[THREADS_MAX];
	unsigned running_n;
	bool ending;

	/* under the lock: parts up to taken are decoded or being decoded, up to applied are in the
	 * model */
	pthread_mutex_t lock;
	pthread_cond_t room, news;
	uint64_t taken, applied;
	struct slot slots[PARTS_MAX];
};

static bool is_in(const struct buf *room, const char *p)
{
	return (uintptr_t)p - (uintptr_t)room->p < room->cap;
}

static void *copy_list(struct arena *arena, const void *list, size_t bytes)
{
	return bytes ? memcpy(arena_alloc(arena, bytes), list, bytes) : NULL;
}

/* Prefetches where the next message and its events will be written: those cache lines are still
 * with the processor that applied what was there before. */
static void prefetch_next(const struct slot *s, const struct decoded *d)
{
	mem_prefetch_write(d + 1, sizeof(*d));
	mem_prefetch_write(s->events, 2 * sizeof(*s->events));
}

/* Lists of a message that is decoded where it will wait. */
static void lend_lists(struct slot *s, struct message *m)
{
	if (s->events_left < EVENTS_USUAL) {
		s->events = arena_alloc(&s->arena, EVENTS_TAKEN * sizeof(*s->events));
		s->events_left = EVENTS_TAKEN;
	}
	m->events.v = s->events;
	m->events.cap = s->events_left;
	m->events_borrowed = true;
	memcpy(&m->diags.list, &s->found, sizeof(s->found));
}

static void take_lists(struct slot *s, struct message *m)
{
	struct event *own = m->events.v;

	if (m->events_borrowed) {
		s->events += m->events.n;
		s->events_left -= m->events.n;
	} else {
		m->events.v = copy_list(&s->arena, own, m->events.n * sizeof(*own));
		m->events_borrowed = true;
		free(own);
	}
	memcpy(&s->found, &m->diags.list, sizeof(s->found));
	m->diags.list.v = copy_list(&s->arena, s->found.v, s->found.n * sizeof(*s->found.v));
}

static void hash_names(struct slot *s, struct message *m)
{
	while (s->keys.cap - s->keys.n < message_keys_most(m))
		s->keys.v = vec_grow_(s->keys.v, &s->keys.cap, sizeof(*s->keys.v));
	message_hash(m, s->keys.v + s->keys.n);
	s->keys.n += m->keys_n;
}

/* All keys are there, and do not move any more. */
static void tell_keys(struct slot *s)
{
	struct name_key *keys;

	while (s->keys.cap - s->keys.n < PREFETCH_PADDING)
		s->keys.v = vec_grow_(s->keys.v, &s->keys.cap, sizeof(*s->keys.v));
	memset(s->keys.v + s->keys.n, 0, PREFETCH_PADDING * sizeof(*s->keys.v));
	keys = s->keys.v;
	for (uint32_t i = 0; i < s->messages.n; i++) {
		s->messages.v[i].message.keys = keys;
		keys += s->messages.v[i].message.keys_n;
	}
}

static void decode_frame(void *ctx, const struct frame *frame)
{
	struct slot *s = ctx;
	struct frame_info info = { .flags = frame->flags,
				   .full_length = frame->full_length,
				   .lent = is_in(&s->room, frame->bytes.p) };
	struct decoded *d;

	if (s->messages.n == s->messages.cap)
		s->messages.v = vec_grow_(s->messages.v, &s->messages.cap, sizeof(*d));
	d = &s->messages.v[s->messages.n++];
	d->offset = frame->offset;
	d->line = frame->line;
	d->length = frame->full_length > UINT32_MAX ? UINT32_MAX : (uint32_t)frame->full_length;
	lend_lists(s, &d->message);
	dialect_decode(&s->decoder, frame->bytes, &info, &d->message);
	hash_names(s, &d->message);
	take_lists(s, &d->message);
	prefetch_next(s, d);
}

static const char *read_line(void *ctx, const char *p, const char *end)
{
	struct slot *s = ctx;

	return decoder_read_ahead(&s->decoder, p, end);
}

static void decode_part(struct ahead *x, uint64_t number)
{
	struct slot *s = &x->slots[number % x->slots_n];
	uint64_t first = x->start / x->chunk_bytes;
	struct chunk p = { .fd = x->a->fd, .start = x->start, .end = x->a->end,
			  .from = (first + number) * x->chunk_bytes,
			  .to = (first + number + 1) * x->chunk_bytes,
			  .max_bytes = x->a->max_bytes,
			  .newline = read_line };

	if (p.from < p.start)
		p.from = p.start;
	s->messages.n = 0;
	s->keys.n = 0;
	s->events_left = 0;
	arena_reset(&s->arena);
	decoder_reset(&s->decoder);
	s->decoder.keeps = true;
	s->decoder.quiet = !x->r->l->tells;
	if (s->room.cap > ROOM_KEPT_BYTES)
		buf_release(&s->room);
	s->failed = chunk_read(&p, &s->room, decode_frame, s, &s->lines) < 0;
	tell_keys(s);
}

/* With the lock held. */
static bool may_take(const struct ahead *x)
{
	return x->taken < x->parts && x->taken < x->applied + x->slots_n && !x->ending;
}

/* Decodes the next part. The lock is held before and after. */
static void take_part(struct ahead *x)
{
	uint64_t number = x->taken++;

	pthread_mutex_unlock(&x->lock);
	decode_part(x, number);
	pthread_mutex_lock(&x->lock);
	x->slots[number % x->slots_n].done = true;
	pthread_cond_signal(&x->news);
}

static void *work(void *ctx)
{
	struct ahead *x = ctx;

	pthread_mutex_lock(&x->lock);
	while (!x->ending && x->taken < x->parts) {
		if (may_take(x))
			take_part(x);
		else
			pthread_cond_wait(&x->room, &x->lock);
	}
	pthread_mutex_unlock(&x->lock);
	return NULL;
}

static void apply_one(struct ahead *x, struct decoded *d)
{
	struct diags *own = &x->r->l->message.diags;
	struct message *m = &d->message;
	struct frame frame = { STR_NONE, d->offset, d->length, x->a->line - 1 + d->line, m->flags };
	const struct diag *found = m->diags.list.v;
	uint32_t found_n = m->diags.list.n;

	/* the model adds to diagnostics: they need a list that grows */
	memcpy(&m->diags.list, &own->list, sizeof(own->list));
	m->diags.list.n = 0;
	for (uint32_t k = 0; k < found_n; k++)
		vec_push(&m->diags.list, found[k]);
	load_apply(x->r, m, &frame);
	memcpy(&own->list, &m->diags.list, sizeof(own->list));
}

/* Each message is prefetched in steps while those before it are applied. */
static void apply_part(struct ahead *x, struct slot *s)
{
	const struct model *model = &x->r->l->model;
	struct prefetch_names names = { .keys = s->keys.v };

	for (uint32_t i = 0; i < s->messages.n + PREFETCH_STEPS; i++) {
		for (unsigned step = 0; step < PREFETCH_STEPS && step <= i; step++)
			if (i - step < s->messages.n)
				prefetch_message(model, &names, &s->messages.v[i - step].message,
						 (enum prefetch_step)step);
		if (i >= PREFETCH_STEPS)
			apply_one(x, &s->messages.v[i - PREFETCH_STEPS]);
	}
}

/* What is in the model so far, other files and what came from an image included, tells how much
 * there will be. */
static void expect(struct ahead *x)
{
	uint64_t done = x->r->l->wire.bytes_done, left = x->a->end - x->a->at;

	if (done >= EXPECT_FROM_BYTES)
		heap_expect(x->r->l->model.heap, (double)(done + left) / (double)done);
}

/* The slot of the next part, once it is decoded; NULL = all were applied. */
static struct slot *next_part(struct ahead *x)
{
	struct slot *s = &x->slots[x->applied % x->slots_n];

	if (x->applied == x->parts)
		return NULL;
	pthread_mutex_lock(&x->lock);
	while (!s->done) {
		if (may_take(x))
			take_part(x);
		else
			pthread_cond_wait(&x->news, &x->lock);
	}
	pthread_mutex_unlock(&x->lock);
	return s;
}

bool load_ahead_step(struct ahead *x)
{
	struct slot *s = next_part(x);

	if (!s || s->failed)
		return false;
	apply_part(x, s);
	if (s->lines.lines) {
		x->r->l->wire.bytes_done += s->lines.next - x->a->at;
		x->a->at = s->lines.next;
		x->a->line += s->lines.lines;
		expect(x);
	}
	pthread_mutex_lock(&x->lock);
	s->done = false;
	x->applied++;
	pthread_cond_signal(&x->room);
	pthread_mutex_unlock(&x->lock);
	return true;
}

/* Signals are for the main thread. */
static void start_threads(struct ahead *x)
{
	sigset_t all, before;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	while (x->running_n + 1 < x->threads &&
	       pthread_create(&x->running[x->running_n], NULL, work, x) == 0)
		x->running_n++;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
}

static void slot_release(struct slot *s)
{
	vec_release(&s->messages);
	arena_release(&s->arena);
	decoder_release(&s->decoder);
	vec_release(&s->keys);
	vec_release(&s->found);
	buf_release(&s->room);
}

static unsigned processors(void)
{
	cpu_set_t set;

	return sched_getaffinity(0, sizeof(set), &set) == 0 ? (unsigned)CPU_COUNT(&set) : 1;
}

/* Lines that the model has from its image. */
static void skip_known(struct load_reading *r, struct wire_parallel *a)
{
	const struct cache_file *known = cache_file(r->l, r->file);

	if (!known || known->at <= a->start || known->at > a->end)
		return;
	a->at = known->at;
	a->line = known->line;
	r->l->wire.bytes_done += a->at - a->start;
}

struct ahead *load_ahead_begin(struct load_reading *r, struct wire_parallel *a)
{
	uint64_t chunk_bytes = r->l->chunk_bytes ? r->l->chunk_bytes : CHUNK_BYTES;
	unsigned threads = r->l->threads ? r->l->threads : processors();
	struct ahead *x;

	r->lines = true;
	skip_known(r, a);
	threads = threads > THREADS_MAX ? THREADS_MAX : threads;
	if (threads < 2 || r->text || a->end - a->at <= 2 * chunk_bytes)
		return NULL;
	x = xcalloc(1, sizeof(*x));
	x->r = r;
	x->a = a;
	x->start = a->at;
	x->chunk_bytes = chunk_bytes;
	x->parts = (a->end - 1) / chunk_bytes - a->at / chunk_bytes + 1;
	x->threads = threads;
	x->slots_n = 2 * threads + 2; /* so that nobody waits for a part that takes long */
	pthread_mutex_init(&x->lock, NULL);
	pthread_cond_init(&x->room, NULL);
	pthread_cond_init(&x->news, NULL);
	start_threads(x);
	return x;
}

void load_ahead_end(struct ahead *x)
{
	if (!x)
		return;
	heap_expect(x->r->l->model.heap, 0);
	pthread_mutex_lock(&x->lock);
	x->ending = true;
	pthread_cond_broadcast(&x->room);
	pthread_mutex_unlock(&x->lock);
	while (x->running_n)
		pthread_join(x->running[--x->running_n], NULL);
	for (unsigned i = 0; i < x->slots_n; i++)
		slot_release(&x->slots[i]);
	pthread_cond_destroy(&x->room);
	pthread_cond_destroy(&x->news);
	pthread_mutex_destroy(&x->lock);
	free(x);
	mem_trim();
}
