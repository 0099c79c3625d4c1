/* Per-agent output queue, one line in flight. The agent's progress is polled: fast at first, slower
 * when it does not read. */
#include "decide/output_queue.h"

#include "channel/channel.h"
#include "decide/records.h"
#include "loop/loop.h"

enum { POLL_FAST_MS = 10, POLL_SLOW_MS = 200, FAST_POLL_PERIOD_MS = 500 };

struct queued_line {
	char *path;
	struct buf line;
};

struct output_queue {
	struct channel c;
	bool in_flight;
	uint32_t letter;   /* in flight; NONE = lines.v[line_first] */
	struct attempt at;
	int64_t since_ms;  /* when the head of the queue began to wait; 0 = empty */
	uint32_t first;    /* letters before it are finished */
	VEC(struct queued_line) lines;
	uint32_t line_first;
	size_t line_bytes;
};

static bool agent_is_running(const char *path, struct err *err)
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
	return l->lost || !agent_is_running(l->path.p, &unused);
}

static struct output_queue *queue_of(struct desk *d)
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

/* ---- lines that are no letters ---- */

static uint32_t waiting_count(const struct output_queue *p)
{
	return p->lines.n - p->line_first;
}

bool desk_queue_line(struct desk *d, struct str path, struct str line)
{
	struct output_queue *p = queue_of(d);
	struct queued_line t = { 0 };
	struct buf copy = { 0 };

	if (waiting_count(p) >= OUTPUT_QUEUE_MAX_LINES ||
	    p->line_bytes + line.n > OUTPUT_QUEUE_MAX_BYTES)
		return false;
	buf_add_str(&copy, path);
	t.path = copy.p;
	buf_add_str(&t.line, line);
	p->line_bytes += line.n;
	vec_push(&p->lines, t);
	return true;
}

static void drop_first_line(struct output_queue *p)
{
	struct queued_line *t = &p->lines.v[p->line_first++];

	p->line_bytes -= t->line.n;
	free(t->path);
	buf_release(&t->line);
	/* compact, in case the queue never runs empty */
	if (p->line_first == p->lines.n || p->line_first >= OUTPUT_QUEUE_MAX_LINES) {
		p->lines.n -= p->line_first;
		memmove(p->lines.v, p->lines.v + p->line_first, p->lines.n * sizeof(*p->lines.v));
		p->line_first = 0;
	}
}

/* ---- in flight ---- */

static void finish_send(struct desk *d)
{
	struct output_queue *p = d->queue;

	channel_close(&p->c);
	p->in_flight = false;
	p->since_ms = 0;
	if (p->letter == NONE)
		drop_first_line(p);
}

static void mark_lost(struct desk *d, uint32_t letter, bool certain, const struct err *why)
{
	struct err unused;

	desk_hold(d, letter, certain, why, &unused);
	d->letters.v[letter].lost = true;
}

enum progress {
	WAITS,   /* for the agent to read */
	CHANGED, /* the same, and HELD was recorded */
	DONE,    /* sent or lost: the next can begin */
};

/* Writes HELD, once, when a letter has waited too long. */
static enum progress hold_if_overdue(struct desk *d, uint32_t letter, bool certain,
				     const struct err *why, int64_t now_ms)
{
	struct output_queue *p = d->queue;
	struct err unused;

	if (!p->since_ms)
		p->since_ms = now_ms;
	if (letter == NONE || now_ms - p->since_ms < OUTPUT_QUEUE_HELD_MS ||
	    d->letters.v[letter].state == LETTER_HELD)
		return WAITS;
	return desk_hold(d, letter, certain, why, &unused) == 0 ? CHANGED : WAITS;
}

static enum progress continue_send(struct desk *d, int64_t now_ms)
{
	struct output_queue *p = d->queue;
	struct str line = p->letter == NONE ? buf_str(&p->lines.v[p->line_first].line)
					    : d->letters.v[p->letter].bytes;
	struct err why = { { 0 } }, unused;
	enum channel_result r = channel_send(&p->c, line, &p->at, &why);

	if (r == CHANNEL_OK) {
		/* disk full: it stays in flight, and the next tick records SENT */
		if (p->letter != NONE && desk_mark_sent(d, p->letter, &unused) < 0 &&
		    d->access == DESK_WRITES)
			return WAITS;
		d->agent->sent(d->agent->ctx, str_of(p->c.path), line);
		finish_send(d);
		return DONE;
	}
	if (agent_is_running(p->c.path, &unused))
		return hold_if_overdue(d, p->letter, r == CHANNEL_FAILED, &why, now_ms);
	if (p->letter != NONE)
		mark_lost(d, p->letter, r == CHANNEL_FAILED, &why);
	finish_send(d);
	return DONE;
}

static enum progress start_send(struct desk *d, uint32_t letter, int64_t now_ms)
{
	d->queue->in_flight = true;
	d->queue->letter = letter;
	d->queue->since_ms = now_ms;
	return continue_send(d, now_ms);
}

/* Probes for an earlier attempt of the letter. *anew: it has to start over; otherwise it continues
 * from p->at. False: cannot be found out now. */
static bool probe_earlier_try(struct desk *d, const struct letter *l, bool *anew, struct err *why)
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

	if (!agent_is_running(l->path.p, &why)) {
		mark_lost(d, number, !doubt, &why);
		return DONE;
	}
	p->c.wait_ms = -1;
	r = channel_open(&p->c, CHANNEL_CHILD, l->path.p, &why);
	if (r == CHANNEL_OK && !probe_earlier_try(d, l, &anew, &why))
		r = CHANNEL_UNCERTAIN;
	if (r == CHANNEL_OK && anew)
		r = channel_prepare(&p->c, l->bytes, false, &p->at, &why);
	if (r == CHANNEL_OK && anew && desk_mark_attempt(d, number, &p->at, &why))
		r = CHANNEL_FAILED;
	if (r != CHANNEL_OK) {
		channel_close(&p->c);
		if (!agent_is_running(d->letters.v[number].path.p, &unused))
			return DONE; /* the next round marks it lost */
		return hold_if_overdue(d, number, r == CHANNEL_FAILED && !doubt, &why, now_ms);
	}
	return start_send(d, number, now_ms);
}

static enum progress begin_line(struct desk *d, int64_t now_ms)
{
	struct output_queue *p = d->queue;
	const struct queued_line *t = &p->lines.v[p->line_first];
	struct err why;

	if (!agent_is_running(t->path, &why)) {
		drop_first_line(p);
		return DONE;
	}
	p->c.wait_ms = -1;
	if (channel_open(&p->c, CHANNEL_CHILD, t->path, &why) != CHANNEL_OK ||
	    channel_prepare(&p->c, buf_str(&t->line), false, &p->at, &why) != CHANNEL_OK) {
		channel_close(&p->c);
		return hold_if_overdue(d, NONE, false, &why, now_ms);
	}
	return start_send(d, NONE, now_ms);
}

/* The oldest unfinished letter that is not lost, or NONE. */
static uint32_t next_unsent_letter(const struct desk *d)
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

	if (!d->agent || (!d->queue && !d->letters.n))
		return false;
	queue_of(d);
	/* stops when the journal fails */
	while (how == DONE && d->access == DESK_WRITES) {
		uint32_t letter = d->queue->in_flight ? NONE : next_unsent_letter(d);

		if (d->queue->in_flight)
			how = continue_send(d, now_ms);
		else if (letter != NONE)
			how = begin_letter(d, letter, now_ms);
		else if (waiting_count(d->queue))
			how = begin_line(d, now_ms);
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
	const struct output_queue *p = d->queue;

	if (!p || (!p->in_flight && !waiting_count(p) && next_unsent_letter(d) == NONE))
		return -1;
	/* no event tells when the agent reads */
	return now_ms - p->since_ms < FAST_POLL_PERIOD_MS ? POLL_FAST_MS : POLL_SLOW_MS;
}

void output_queue_free(struct desk *d)
{
	if (!d->queue)
		return;
	if (d->queue->in_flight)
		channel_close(&d->queue->c);
	while (waiting_count(d->queue))
		drop_first_line(d->queue);
	vec_release(&d->queue->lines);
	free(d->queue);
	d->queue = NULL;
}
