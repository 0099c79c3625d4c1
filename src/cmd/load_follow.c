/* Messages that come after the first reading. */
#include "cmd/load.h"

enum {
	TURN_BYTES = 256 << 10, /* read at a time, so that keys do not wait */
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
	l->items_to_keep = l->model.items.n;
	l->tasks_to_keep = l->model.tasks.n;
}

/* ---- bytes that may be wanted when the log is cut ---- */

static void keep_message(struct load *l, uint32_t message)
{
	const struct model *m = &l->model;

	/* where there is no room, what the log still has can be shown */
	wire_keep(&l->wire, message_route(m, message)->source, message_offset(m, message),
		  m->records.v[message].length, NULL);
}

/* A log that is cut takes its messages along, but not those that somebody still has to decide on.
 * What comes while following is kept anyway. */
static void keep_open_items(struct load *l)
{
	const struct model *m = &l->model;
	uint32_t left = KEPT_A_TURN;

	for (; l->items_kept < l->items_to_keep && left; l->items_kept++) {
		const struct item *item = &m->items.v[l->items_kept];

		for (uint32_t i = 0; i < item->n && item->open; i++, left -= left > 0)
			keep_message(l, item->steps[i].message);
	}
	for (; l->tasks_kept < l->tasks_to_keep && left; l->tasks_kept++) {
		const struct task *task = &m->tasks.v[l->tasks_kept];

		for (uint32_t i = 0; i < task->steps.n; i++) {
			if (task->steps.v[i].assigned)
				keep_message(l, task->steps.v[i].message);
			left -= left > 0;
		}
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
	keep_open_items(l);
	follow_read(l->live, now_ms, TURN_BYTES, take, &t);
	if (t.n)
		load_settle(l);
	return t.n;
}

int load_fd(const struct load *l)
{
	return l->live ? follow_fd(l->live) : -1;
}

int load_wait_ms(const struct load *l, int64_t now_ms)
{
	if (!l->live)
		return -1;
	if (l->items_kept < l->items_to_keep || l->tasks_kept < l->tasks_to_keep)
		return 0;
	return follow_wait_ms(l->live, now_ms);
}
