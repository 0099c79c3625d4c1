/* The flight of one line at a time. */
#include "decide/output_queue.h"

#include "channel/channel_ops.h"
#include "decide/records.h"

enum { LOOK_SOON_MS = 10, LOOK_LATER_MS = 200, SOON_MS = 500 };

struct queued_line {
	char *path;
	struct buf line;
};

struct output_queue {
	struct channel c;
	bool flies;
	uint32_t letter;   /* in flight; NONE = the first of told */
	struct attempt at;
	int64_t since_ms;  /* since when the first one waits, in flight or not; 0 = none does */
	uint32_t first;    /* letters before it are done with */
	VEC(struct queued_line) told;
	uint32_t told_first;
	size_t told_bytes;
};

static bool lives(const char *path, struct err *err)
{
	if (channel_agents.find)
		return channel_agents.find(channel_agents.ctx, path, err);
	err_set(err, "%.300s: this gavel does not run it any more", path);
	return false;
}

bool letter_is_lost(const struct letter *l)
{
	struct err unused;

	if (l->channel != CHANNEL_CHILD || channel_agents.starts)
		return false;
	return l->lost || !lives(l->path.p, &unused);
}

static struct output_queue *post_of(struct desk *d)
{
	if (!d->queue) {
		d->queue = xcalloc(1, sizeof(*d->queue));
		d->queue->c.fd = -1;
	}
	return d->queue;
}

int desk_record(struct desk *d, struct str json, struct err *err)
{
	return desk_append(d, json, false, err);
}

/* ---- what is told ---- */

static uint32_t told_count(const struct output_queue *p)
{
	return p->told.n - p->told_first;
}

bool desk_queue_line(struct desk *d, struct str path, struct str line)
{
	struct output_queue *p = post_of(d);
	struct queued_line t = { 0 };
	struct buf copy = { 0 };

	if (told_count(p) >= OUTPUT_QUEUE_TOLD_MAX || p->told_bytes + line.n > OUTPUT_QUEUE_TOLD_MAX_BYTES)
		return false;
	buf_add_str(&copy, path);
	t.path = copy.p;
	buf_add_str(&t.line, line);
	p->told_bytes += line.n;
	vec_push(&p->told, t);
	return true;
}

static void drop_told(struct output_queue *p)
{
	struct queued_line *t = &p->told.v[p->told_first++];

	p->told_bytes -= t->line.n;
	free(t->path);
	buf_release(&t->line);
	/* an agent that never catches up must not let the list grow for ever */
	if (p->told_first == p->told.n || p->told_first >= OUTPUT_QUEUE_TOLD_MAX) {
		p->told.n -= p->told_first;
		memmove(p->told.v, p->told.v + p->told_first, p->told.n * sizeof(*p->told.v));
		p->told_first = 0;
	}
}

/* ---- in flight ---- */

static struct str line_in_flight(const struct desk *d)
{
	const struct output_queue *p = d->queue;

	return p->letter == NONE ? buf_str(&p->told.v[p->told_first].line)
				 : d->letters.v[p->letter].bytes;
}

static void land(struct desk *d)
{
	struct output_queue *p = d->queue;

	channel_close(&p->c);
	p->flies = false;
	p->since_ms = 0;
	if (p->letter == NONE)
		drop_told(p);
}

/* Whoever waits too long is told about: once, not with every look. */
static bool hold_when_late(struct desk *d, uint32_t letter, bool certain, const struct err *why,
			   int64_t now_ms)
{
	struct output_queue *p = d->queue;
	struct err unused;

	if (!p->since_ms)
		p->since_ms = now_ms;
	return letter != NONE && now_ms - p->since_ms >= OUTPUT_QUEUE_HELD_MS &&
	       d->letters.v[letter].state != LETTER_HELD &&
	       desk_hold(d, letter, certain, why, &unused) == 0;
}

/* There is no one left to send it to. */
static void lose(struct desk *d, uint32_t letter, bool certain, const struct err *why)
{
	struct err unused;

	desk_hold(d, letter, certain, why, &unused);
	d->letters.v[letter].lost = true;
}

enum progress {
	WAITS,   /* for the agent */
	CHANGED, /* still waits, but something was recorded */
	DONE,    /* one way or the other: the next can begin */
};

static enum progress fly(struct desk *d, int64_t now_ms)
{
	struct output_queue *p = d->queue;
	struct str line = line_in_flight(d);
	struct err why = { { 0 } }, unused;
	enum channel_result r = channel_send(&p->c, line, &p->at, &why);

	if (r == CHANNEL_OK) {
		/* a full disk: it stays in flight, and the next look finds it there and tries
		 * again */
		if (p->letter != NONE && desk_mark_sent(d, p->letter, &unused) < 0 &&
		    d->access == DESK_WRITES)
			return WAITS;
		d->way->sent(d->way->ctx, str_of(p->c.path), line);
		land(d);
		return DONE;
	}
	if (lives(p->c.path, &unused))
		return hold_when_late(d, p->letter, r == CHANNEL_FAILED, &why, now_ms) ? CHANGED : WAITS;
	if (p->letter != NONE)
		lose(d, p->letter, r == CHANNEL_FAILED, &why);
	land(d);
	return DONE;
}

/* Of a letter that was tried before: whether it goes on where it stopped. */
static bool takes_up(struct desk *d, const struct letter *l, bool *anew, struct err *why)
{
	struct output_queue *p = d->queue;

	*anew = true;
	if (!l->tried || !l->uncertain)
		return true;
	p->at = l->attempt;
	switch (channel_probe(&p->c, l->bytes, &p->at, why)) {
	case FOUND_WHOLE:
	case FOUND_TORN: *anew = false; return true;
	case FOUND_NOTHING: return true;
	case FOUND_UNKNOWN:
	case FOUND_TROUBLE: break;
	}
	return false;
}

static enum progress begin_letter(struct desk *d, uint32_t number, int64_t now_ms)
{
	struct output_queue *p = d->queue;
	struct letter *l = &d->letters.v[number];
	bool doubt = l->tried && l->uncertain, anew;
	struct err why = { { 0 } }, unused;
	enum channel_result r;

	if (!lives(l->path.p, &why)) {
		lose(d, number, !doubt, &why);
		return DONE;
	}
	p->c.wait_ms = -1;
	r = channel_open(&p->c, CHANNEL_CHILD, l->path.p, &why);
	if (r == CHANNEL_OK && !takes_up(d, l, &anew, &why))
		r = CHANNEL_UNCERTAIN;
	if (r == CHANNEL_OK && anew)
		r = channel_prepare(&p->c, l->bytes, false, &p->at, &why);
	if (r == CHANNEL_OK && anew && desk_mark_attempt(d, number, &p->at, &why))
		r = CHANNEL_FAILED;
	if (r != CHANNEL_OK) {
		channel_close(&p->c);
		if (!lives(d->letters.v[number].path.p, &unused))
			return DONE; /* the next look says so */
		return hold_when_late(d, number, r == CHANNEL_FAILED && !doubt, &why, now_ms) ? CHANGED
											  : WAITS;
	}
	p->flies = true;
	p->letter = number;
	p->since_ms = now_ms;
	return fly(d, now_ms);
}

static enum progress begin_told(struct desk *d, int64_t now_ms)
{
	struct output_queue *p = d->queue;
	const struct queued_line *t = &p->told.v[p->told_first];
	struct err why;

	if (!lives(t->path, &why)) {
		drop_told(p);
		return DONE;
	}
	p->c.wait_ms = -1;
	if (channel_open(&p->c, CHANNEL_CHILD, t->path, &why) != CHANNEL_OK ||
	    channel_prepare(&p->c, buf_str(&t->line), false, &p->at, &why) != CHANNEL_OK) {
		channel_close(&p->c);
		if (!p->since_ms)
			p->since_ms = now_ms;
		return WAITS;
	}
	p->flies = true;
	p->letter = NONE;
	p->since_ms = now_ms;
	return fly(d, now_ms);
}

/* The oldest letter for an agent that can still arrive, or NONE. */
static uint32_t next_letter(const struct desk *d)
{
	struct output_queue *p = d->queue;
	uint32_t found = NONE;

	for (uint32_t i = p->first; i < d->letters.n && found == NONE; i++) {
		const struct letter *l = &d->letters.v[i];

		if (l->channel == CHANNEL_CHILD && letter_is_unfinished(l) && !l->lost)
			found = i;
		else if (i == p->first && !letter_is_unfinished(l))
			p->first++;
	}
	return found;
}

bool desk_tick(struct desk *d, int64_t now_ms)
{
	enum progress how = DONE;
	bool changed = false;

	if (!d->way || (!d->queue && !d->letters.n))
		return false;
	post_of(d);
	/* without its journal the desk sends nothing more */
	while (how == DONE && d->access == DESK_WRITES) {
		uint32_t letter = d->queue->flies ? NONE : next_letter(d);

		if (d->queue->flies)
			how = fly(d, now_ms);
		else if (letter != NONE)
			how = begin_letter(d, letter, now_ms);
		else if (told_count(d->queue))
			how = begin_told(d, now_ms);
		else
			break;
		changed |= how != WAITS;
	}
	if (how == DONE)
		d->queue->since_ms = 0;
	return changed;
}

int desk_queue_wait_ms(const struct desk *d, int64_t now_ms)
{
	if (!d->queue || (!d->queue->flies && !told_count(d->queue) && next_letter(d) == NONE))
		return -1;
	/* nothing tells when it reads */
	return now_ms - d->queue->since_ms < SOON_MS ? LOOK_SOON_MS : LOOK_LATER_MS;
}

void output_queue_free(struct desk *d)
{
	if (!d->queue)
		return;
	if (d->queue->flies)
		channel_close(&d->queue->c);
	while (told_count(d->queue))
		drop_told(d->queue);
	vec_release(&d->queue->told);
	free(d->queue);
	d->queue = NULL;
}
