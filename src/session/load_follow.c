/* Messages that come after the first reading. */
#include "session/load.h"

enum {
	TURN_BYTES = 256 << 10, /* read at a time, so that keys do not wait */
	WANTED_A_TURN = 50000,  /* items and tasks looked at */
	KEPT_A_TURN = 500,      /* messages */
	BINARY_AFTER = 20,      /* lines that are enough to judge by */
};

void load_follow_begin(struct load *l)
{
	for (uint32_t i = 0; i < l->wire.files.n; i++) {
		const struct wire_file *f = &l->wire.files.v[i];
		bool begins = f->source.kind == SOURCE_STREAM;

		vec_push(&l->readings,
			 (struct load_reading){ .l = l, .file = i,
						.may_join = begins && l->model.records.n &&
							    !f->joined });
	}
	l->live = follow_new(&l->wire);
	l->keeping = (struct load_keeping){
		.wanted = xcalloc(l->model.records.n / 64 + 1, sizeof(uint64_t)),
		.items_end = l->model.items.n, .tasks_end = l->model.tasks.n,
		.messages_end = l->model.records.n,
	};
}

/* ---- bytes that may be wanted when the log is cut ---- */

static void want(struct load_keeping *k, uint32_t message)
{
	if (message < k->messages_end)
		k->wanted[message / 64] |= UINT64_C(1) << message % 64;
}

/* A log that is cut takes its messages along, but not those that somebody still has to decide on.
 * What comes while following is kept anyway. */
static void want_some(struct load *l)
{
	struct load_keeping *k = &l->keeping;
	uint32_t left = WANTED_A_TURN;

	for (; k->items < k->items_end && left; k->items++, left--) {
		const struct item *item = &l->model.items.v[k->items];

		for (uint32_t i = 0; i < item->n && item->open; i++)
			want(k, item->steps[i].message);
	}
	for (; k->tasks < k->tasks_end && left; k->tasks++, left--) {
		const struct task *task = &l->model.tasks.v[k->tasks];

		for (uint32_t i = 0; i < task->steps.n; i++)
			if (task->steps.v[i].assigned)
				want(k, task->steps.v[i].message);
	}
}

static void keep_message(struct load *l, uint32_t message)
{
	const struct model *m = &l->model;

	/* where there is no room, what the log still has can be shown */
	wire_spool(&l->wire, message_route(m, message)->source, message_offset(m, message),
		  m->records.v[message].length, NULL);
}

/* In the order of the log: what is kept is a list in the order of the files, and grows at its end. */
static void keep_some(struct load *l)
{
	struct load_keeping *k = &l->keeping;
	uint32_t left = KEPT_A_TURN;

	if (!k->wanted)
		return;
	want_some(l);
	if (k->tasks < k->tasks_end)
		return;
	for (; k->messages < k->messages_end && left; k->messages++)
		if (k->wanted[k->messages / 64] >> k->messages % 64 & 1) {
			keep_message(l, k->messages);
			left--;
		}
	if (k->messages == k->messages_end) {
		free(k->wanted);
		k->wanted = NULL;
	}
}

/* ---- what comes ---- */

struct taking {
	struct load *l;
	load_fn each;
	void *ctx;
	uint32_t n;
};

static void take(void *ctx, uint32_t file, const struct frame *frame)
{
	struct taking *t = ctx;
	struct load *l = t->l;
	struct load_reading *r;

	while (l->readings.n <= file) {
		/* a new incarnation is where its predecessor was; a new file may reply to a log */
		if (!l->wire.files.v[l->readings.n].joined)
			load_join_file(l, l->readings.n);
		vec_push(&l->readings, (struct load_reading){ .l = l, .file = l->readings.n });
	}
	r = &l->readings.v[file];
	r->each = t->each;
	r->ctx = t->ctx;
	load_take(r, frame);
	t->n++;
	if (r->messages == BINARY_AFTER)
		load_judge_binary(r);
}

uint32_t load_follow(struct load *l, int64_t now_ms, load_fn each, void *ctx)
{
	struct taking t = { l, each, ctx, 0 };

	if (!l->live)
		return 0;
	keep_some(l);
	follow_read(l->live, now_ms, TURN_BYTES, take, &t);
	if (t.n)
		load_settle(l);
	return t.n;
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
	if (l->keeping.wanted)
		return 0;
	return follow_wait_ms(l->live, now_ms);
}
