/* Threads that read ahead. A big log is cut into parts; whoever is free takes the next part, cuts
 * it into lines and decodes them, and the main thread applies the parts to the model in the log's
 * order. While there is no part to apply, the main thread decodes one too: so nobody waits for
 * long, and one thread alone does the same work.
 *
 * Only complete lines are read here. The end of the log, and whatever goes wrong, is left to
 * wire_read, which goes on behind the last part that was applied. */
#include "cmd/load.h"
#include "wire/part.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>

enum {
	THREADS_MAX = 8,
	PARTS_MAX = 2 * THREADS_MAX + 2,
	ROOM_KEPT_BYTES = 1 << 20, /* a bigger one is given back after its part */
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
	struct part_lines lines;
	VEC(struct decoded) messages;
	struct arena arena;
	struct decoder decoder;
	struct message message; /* being decoded */
	struct buf room;
};

struct ahead {
	struct load_reading *r;
	struct wire_ahead *a;
	uint64_t start; /* where reading begins */
	uint64_t part_bytes, parts; /* from there on */
	unsigned threads, slots_n;
	bool ending;

	/* under the lock: parts up to taken are decoded or being decoded, up to applied are in the
	 * model */
	pthread_mutex_t lock;
	pthread_cond_t room, news;
	uint64_t taken, applied;
	struct slot slots[PARTS_MAX];
};

static void decode_frame(void *ctx, const struct frame *frame)
{
	struct slot *s = ctx;
	struct frame_info info = { .flags = frame->flags, .full_length = frame->full_length };
	struct message *m = &s->message;
	struct decoded d = { .offset = frame->offset, .line = frame->line };
	size_t events, diags;

	dialect_decode(&s->decoder, frame->bytes, &info, m);
	d.length = frame->full_length > UINT32_MAX ? UINT32_MAX : (uint32_t)frame->full_length;
	d.message = *m;
	events = m->events.n * sizeof(*m->events.v);
	diags = m->diags.list.n * sizeof(*m->diags.list.v);
	if (events)
		d.message.events.v = memcpy(arena_alloc(&s->arena, events), m->events.v, events);
	if (diags)
		d.message.diags.list.v =
			memcpy(arena_alloc(&s->arena, diags), m->diags.list.v, diags);
	vec_push(&s->messages, d);
}

static void decode_part(struct ahead *x, uint64_t number)
{
	struct slot *s = &x->slots[number % x->slots_n];
	uint64_t first = x->start / x->part_bytes;
	struct part p = { .fd = x->a->fd, .start = x->start, .end = x->a->end,
			  .from = (first + number) * x->part_bytes,
			  .to = (first + number + 1) * x->part_bytes,
			  .max_bytes = x->a->max_bytes };

	if (p.from < p.start)
		p.from = p.start;
	s->messages.n = 0;
	arena_reset(&s->arena);
	decoder_forget(&s->decoder);
	s->decoder.keeps = true;
	s->decoder.quiet = !x->r->l->tells;
	s->failed = part_read(&p, &s->room, decode_frame, s, &s->lines) < 0;
	if (s->room.cap > ROOM_KEPT_BYTES)
		buf_release(&s->room);
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

static void apply_part(struct ahead *x, struct slot *s)
{
	struct load *l = x->r->l;
	struct message *m = &l->message;

	for (uint32_t i = 0; i < s->messages.n; i++) {
		struct decoded *d = &s->messages.v[i];
		struct frame frame = { STR_NONE, d->offset, d->length, d->line, d->message.flags };
		struct message own = *m;

		/* the model adds to diagnostics: they need a list that grows */
		*m = d->message;
		m->diags.list.v = own.diags.list.v;
		m->diags.list.cap = own.diags.list.cap;
		m->diags.list.n = 0;
		for (uint32_t k = 0; k < d->message.diags.list.n; k++)
			vec_push(&m->diags.list, d->message.diags.list.v[k]);
		frame.line = x->a->line - 1 + d->line;
		load_apply(x->r, m, &frame);
		m->events.v = own.events.v;
		m->events.n = 0;
		m->events.cap = own.events.cap;
	}
}

/* Until all parts are applied, one failed, or nobody wants more. */
static void apply_all(struct ahead *x)
{
	struct wire *w = &x->r->l->wire;

	pthread_mutex_lock(&x->lock);
	while (x->applied < x->parts && !w->stop) {
		struct slot *s = &x->slots[x->applied % x->slots_n];

		if (s->done) {
			pthread_mutex_unlock(&x->lock);
			if (s->failed)
				return;
			apply_part(x, s);
			if (s->lines.lines) {
				w->bytes_done += s->lines.next - x->a->at;
				x->a->at = s->lines.next;
				x->a->line += s->lines.lines;
			}
			pthread_mutex_lock(&x->lock);
			s->done = false;
			x->applied++;
			pthread_cond_signal(&x->room);
		} else if (may_take(x)) {
			take_part(x);
		} else {
			pthread_cond_wait(&x->news, &x->lock);
		}
	}
	pthread_mutex_unlock(&x->lock);
}

/* Signals are for the main thread. */
static unsigned start_threads(struct ahead *x, pthread_t *threads)
{
	sigset_t all, before;
	unsigned n = 0;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	while (n + 1 < x->threads && pthread_create(&threads[n], NULL, work, x) == 0)
		n++;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return n;
}

static void slot_release(struct slot *s)
{
	vec_release(&s->messages);
	arena_release(&s->arena);
	decoder_release(&s->decoder);
	message_release(&s->message);
	buf_release(&s->room);
}

static unsigned processors(void)
{
	cpu_set_t set;

	return sched_getaffinity(0, sizeof(set), &set) == 0 ? (unsigned)CPU_COUNT(&set) : 1;
}

/* Lines that the model has from its image. */
static void skip_known(struct load_reading *r, struct wire_ahead *a)
{
	const struct cache_file *known = cache_file(r->l, r->file);

	if (!known || known->at <= a->start || known->at > a->end)
		return;
	a->at = known->at;
	a->line = known->line;
	r->l->wire.bytes_done += a->at - a->start;
}

void load_ahead(void *reading, struct wire_ahead *a)
{
	struct load_reading *r = reading;
	uint64_t part_bytes = r->l->part_bytes ? r->l->part_bytes : PART_BYTES;
	unsigned threads = r->l->threads ? r->l->threads : processors();
	pthread_t running[THREADS_MAX];
	struct ahead *x;
	unsigned n;

	r->lines = true;
	skip_known(r, a);
	threads = threads > THREADS_MAX ? THREADS_MAX : threads;
	if (threads < 2 || r->text || a->end - a->at <= 2 * part_bytes)
		return;
	x = xcalloc(1, sizeof(*x));
	x->r = r;
	x->a = a;
	x->start = a->at;
	x->part_bytes = part_bytes;
	x->parts = (a->end - 1) / part_bytes - a->at / part_bytes + 1;
	x->threads = threads;
	x->slots_n = 2 * threads + 2;
	pthread_mutex_init(&x->lock, NULL);
	pthread_cond_init(&x->room, NULL);
	pthread_cond_init(&x->news, NULL);
	n = start_threads(x, running);
	apply_all(x);
	pthread_mutex_lock(&x->lock);
	x->ending = true;
	pthread_cond_broadcast(&x->room);
	pthread_mutex_unlock(&x->lock);
	while (n)
		pthread_join(running[--n], NULL);
	for (unsigned i = 0; i < x->slots_n; i++)
		slot_release(&x->slots[i]);
	pthread_cond_destroy(&x->room);
	pthread_cond_destroy(&x->news);
	pthread_mutex_destroy(&x->lock);
	free(x);
}
