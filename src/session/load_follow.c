/* Following sources after the first load; spooling messages that must outlive their log. */
#include "session/load.h"

enum {
	STEP_BYTES = 256 << 10, /* read per step, so that keys do not wait */
	STEP_MARKED = 50000,    /* items and tasks looked at */
	STEP_SPOOLED = 500,     /* messages */
	BATCHED_BYTES = 16 << 10, /* of a message that is spooled together with others */
	BINARY_AFTER = 20,      /* lines needed for load_warn_binary */
};

void load_follow_begin(struct load *l)
{
	for (uint32_t i = 0; i < l->wire.files.n; i++) {
		vec_push(&l->readings, (struct load_reading){ .l = l, .file = i });
	}
	l->live = follow_new(&l->wire);
	for (uint32_t i = 0; i < l->wire.files.n; i++)
		if (l->wire.files.v[i].joined && l->wire.files.v[i].source.kind == SOURCE_FILE)
			follow_wake_on(l->live, l->wire.files.v[i].name.p);
	l->spooling = (struct load_spooling){
		.wanted = xcalloc(l->model.records.n / 64 + 1, sizeof(uint64_t)),
		.items_end = l->model.items.n, .tasks_end = l->model.tasks.n,
		.messages_end = l->model.records.n,
	};
}

/* ---- spooling ---- */

static void mark_wanted(struct load_spooling *k, uint32_t message)
{
	if (message < k->messages_end)
		k->wanted[message / 64] |= UINT64_C(1) << message % 64;
}

/* Messages of open items and task assignments; those read while following are spooled anyway. */
static void mark_step(struct load *l)
{
	struct load_spooling *k = &l->spooling;
	uint32_t left = STEP_MARKED;

	for (; k->items < k->items_end && left; k->items++, left--) {
		const struct item *item = &l->model.items.v[k->items];

		for (uint32_t i = 0; i < item->n && item->open; i++)
			mark_wanted(k, item->steps[i].message);
	}
	for (; k->tasks < k->tasks_end && left; k->tasks++, left--) {
		const struct task *task = &l->model.tasks.v[k->tasks];

		for (uint32_t i = 0; i < task->steps.n; i++)
			if (task->steps.v[i].assigned)
				mark_wanted(k, task->steps.v[i].message);
	}
}

/* Errors are ignored: the message can be shown as long as the log has it. */
static void spool_message(struct load *l, struct spool_batch *b, struct buf *room,
			  uint32_t message)
{
	const struct model *m = &l->model;
	uint32_t file = message_route(m, message)->source;
	struct source *s = &l->wire.files.v[file].source;
	uint64_t offset = message_offset(m, message), length = m->records.v[message].length;

	if (length > BATCHED_BYTES || spooled_gap(&s->spooled, offset) < length) {
		wire_spool(&l->wire, file, offset, length, NULL);
	} else if (wire_fetch(&l->wire, file, offset, length, room, NULL) == 0) {
		s->spool = &l->wire.spool;
		spool_batch_add(b, &s->spooled, offset, buf_str(room));
	}
}

/* In the order of the log, as the spool only grows at its end. */
static void spool_step(struct load *l)
{
	struct load_spooling *k = &l->spooling;
	struct spool_batch batch = { 0 };
	struct buf room = { 0 };
	uint32_t left = STEP_SPOOLED;

	if (!k->wanted)
		return;
	mark_step(l);
	if (k->tasks < k->tasks_end)
		return;
	for (; k->messages < k->messages_end && left; k->messages++)
		if (k->wanted[k->messages / 64] >> k->messages % 64 & 1) {
			spool_message(l, &batch, &room, k->messages);
			left--;
		}
	spool_batch_write(&batch, &l->wire.spool, NULL);
	spool_batch_release(&batch);
	buf_release(&room);
	if (k->messages == k->messages_end) {
		free(k->wanted);
		k->wanted = NULL;
	}
}

/* ---- following ---- */

struct followed {
	struct load *l;
	load_fn each;
	void *ctx;
	uint32_t n;
};

static void apply_frame(void *ctx, uint32_t file, const struct frame *frame)
{
	struct followed *t = ctx;
	struct load *l = t->l;
	struct load_reading *r;

	while (l->readings.n <= file) {
		/* a new incarnation has its predecessor's group; a new file may be a reply file */
		load_note_origin(l, l->readings.n);
		if (!l->wire.files.v[l->readings.n].joined)
			load_detect_reply_file(l, l->readings.n);
		if (l->wire.files.v[l->readings.n].joined)
			reply_files_add(l, l->readings.n);
		vec_push(&l->readings, (struct load_reading){ .l = l, .file = l->readings.n });
	}
	if (l->wire.files.v[file].joined)
		return; /* the conversation reads it */
	r = &l->readings.v[file];
	r->each = t->each;
	r->ctx = t->ctx;
	/* a line caused by a reply was written after it: replies come first */
	if (!t->n) {
		l->conversation.applying = true;
		conversation_update(l);
		l->conversation.applying = false;
	}
	load_frame(r, frame);
	t->n++;
	if (r->messages == BINARY_AFTER)
		load_warn_binary(r);
}

uint32_t load_follow(struct load *l, int64_t now_ms, load_fn each, void *ctx)
{
	struct followed t = { l, each, ctx, 0 };
	uint32_t before = l->model.records.n;

	if (!l->live)
		return 0;
	spool_step(l);
	l->conversation.each = each;
	l->conversation.ctx = ctx;
	follow_read(l->live, now_ms, STEP_BYTES, apply_frame, &t);
	conversation_update(l);
	if (l->model.records.n != before)
		load_settle(l);
	return l->model.records.n - before;
}

int load_fd(const struct load *l)
{
	if (l->file)
		return wire_read_fd(l->file);
	return l->live ? follow_fd(l->live) : -1;
}

int load_wait_ms(const struct load *l, int64_t now_ms)
{
	if (!l->complete)
		return load_fd(l) < 0 ? 0 : -1;
	if (!l->live)
		return -1;
	if (l->spooling.wanted)
		return 0;
	return follow_wait_ms(l->live, now_ms);
}
