/* Per-agent output queue, one line in flight. The agent's progress is polled: fast at first, slower
 * when it does not read. */
#include "decide/output_queue.h"

#include "channel/channel.h"
#include "decide/records.h"
#include "loop/loop.h"
#include "source/holder_link.h"

enum {
	POLL_FAST_MS = 10,
	POLL_SLOW_MS = 200,
	FAST_POLL_PERIOD_MS = 500,
	RETRY_MS = 1000, /* after a refusal */
};

struct queued_line {
	char *path;
	struct buf line;
	char id[37];
};

struct output_queue {
	struct channel c;
	bool open;         /* c, for `letter` */
	bool in_flight;
	bool sent;         /* it has left, only SENT is not recorded yet */
	uint32_t letter;   /* that c is open for; NONE = lines.v[line_first] */
	struct attempt at;
	int64_t since_ms;  /* when the head of the queue began to wait; 0 = empty */
	int64_t retry_ms;  /* nothing is tried before that */
	uint32_t first;    /* letters before it are finished */
	VEC(struct queued_line) lines;
	uint32_t line_first;
	size_t line_bytes;
};

bool desk_reaches(const struct desk *d, const char *path, struct err *err)
{
	struct buf now = { 0 };
	bool reaches;

	if (!d->agent)
		return agent_is_running(path, err);
	d->agent->path(d->agent->ctx, NONE, &now);
	reaches = str_is(buf_str(&now), path);
	if (!reaches)
		agent_say_gone(path, now.n ? now.p : NULL, err);
	buf_release(&now);
	return reaches;
}

bool letter_is_lost(const struct desk *d, const struct letter *l)
{
	struct err unused;

	if (l->channel != CHANNEL_AGENT || channel_starter.start)
		return false;
	return l->lost || !desk_reaches(d, l->path.p, &unused);
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
	uuid_make(t.id);
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

static void close_channel(struct output_queue *p)
{
	if (p->open)
		channel_close(&p->c);
	p->open = p->in_flight = false;
}

static void finish_send(struct desk *d)
{
	struct output_queue *p = d->queue;

	close_channel(p);
	p->since_ms = 0;
	if (p->letter == NONE)
		drop_first_line(p);
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

/* It can never be sent to this incarnation. */
static enum progress lose(struct desk *d, bool certain, const struct err *why)
{
	uint32_t letter = d->queue->letter;
	struct err unused;

	if (letter != NONE) {
		desk_hold(d, letter, certain, why, &unused);
		d->letters.v[letter].lost = true;
	}
	finish_send(d);
	return DONE;
}

static enum progress continue_send(struct desk *d, int64_t now_ms)
{
	struct output_queue *p = d->queue;
	struct queued_line *line = p->letter == NONE ? &p->lines.v[p->line_first] : NULL;
	struct str bytes = line ? buf_str(&line->line) : d->letters.v[p->letter].bytes;
	struct err why = { { 0 } }, unused;
	enum channel_result r;

	p->c.id = line ? line->id : d->letters.v[p->letter].id;
	r = p->sent ? CHANNEL_OK : channel_send(&p->c, bytes, &p->at, &why);
	if (r == CHANNEL_OK) {
		/* disk full: it stays in flight, and the next tick records SENT */
		p->sent = true;
		if (!line && desk_mark_sent(d, p->letter, &unused) < 0 && d->access == DESK_WRITES)
			return WAITS;
		finish_send(d);
		return DONE;
	}
	if (agent_is_gone(&p->c) || p->c.torn)
		return lose(d, r == CHANNEL_FAILED, &why);
	if (r == CHANNEL_FAILED) { /* not taken: it begins anew */
		close_channel(p);
		p->retry_ms = now_ms + RETRY_MS;
	}
	return hold_if_overdue(d, p->letter, r == CHANNEL_FAILED, &why, now_ms);
}

static enum progress start_send(struct desk *d, int64_t now_ms)
{
	d->queue->in_flight = true;
	d->queue->sent = false;
	d->queue->since_ms = now_ms;
	return continue_send(d, now_ms);
}

/* Opens the channel for a letter, or for the first line. */
static enum channel_result open_channel(struct desk *d, uint32_t letter, struct err *why)
{
	struct output_queue *p = d->queue;
	bool is_letter = letter != NONE;
	enum channel_result r;

	if (p->open && p->letter != letter)
		close_channel(p);
	p->letter = letter;
	p->c.id = is_letter ? d->letters.v[letter].id : p->lines.v[p->line_first].id;
	if (!p->open) {
		p->c.wait_ms = -1;
		r = channel_open(&p->c, CHANNEL_AGENT,
				 is_letter ? d->letters.v[letter].path.p
					   : p->lines.v[p->line_first].path,
				 why);
		p->open = r == CHANNEL_OK;
		if (!p->open)
			return r;
	}
	return agent_greet(&p->c, why);
}

/* Looks for an earlier attempt: *found, it was sent. *doubt is cleared if it certainly was not. */
static enum channel_result find_earlier(struct output_queue *p, struct str bytes, bool *doubt,
					bool *found, struct err *why)
{
	switch (channel_probe(&p->c, bytes, &p->at, why)) {
	case FOUND_WHOLE:
	case FOUND_TORN: *found = true; return CHANNEL_OK;
	case FOUND_NOTHING: *doubt = false; return CHANNEL_OK;
	case FOUND_UNKNOWN:
	case FOUND_TROUBLE: break;
	}
	return CHANNEL_UNCERTAIN;
}

static enum progress begin_send(struct desk *d, uint32_t letter, int64_t now_ms)
{
	struct output_queue *p = d->queue;
	struct letter *l = letter == NONE ? NULL : &d->letters.v[letter];
	struct str bytes = l ? l->bytes : buf_str(&p->lines.v[p->line_first].line);
	bool doubt = l && l->tried && l->uncertain, found = false;
	struct err why = { { 0 } };
	enum channel_result r;

	if (l)
		p->at = l->attempt;
	r = open_channel(d, letter, &why);
	if (r != CHANNEL_OK && agent_is_connected(&p->c)) /* its holder does not respond yet */
		return hold_if_overdue(d, letter, !doubt, &why, now_ms);
	if (r == CHANNEL_OK && doubt)
		r = find_earlier(p, bytes, &doubt, &found, &why);
	if (r == CHANNEL_OK && !found)
		r = channel_prepare(&p->c, bytes, false, &p->at, &why);
	if (r == CHANNEL_OK && !found && l && desk_mark_attempt(d, letter, &p->at, &why))
		r = CHANNEL_FAILED;
	if (r == CHANNEL_OK)
		return start_send(d, now_ms);
	if (agent_is_gone(&p->c))
		return lose(d, r == CHANNEL_FAILED && !doubt, &why);
	close_channel(p);
	return hold_if_overdue(d, letter, r == CHANNEL_FAILED && !doubt, &why, now_ms);
}

/* The oldest unfinished letter that is not lost, or NONE. */
static uint32_t next_unsent_letter(const struct desk *d)
{
	struct output_queue *p = d->queue;
	uint32_t found = NONE;

	for (uint32_t i = p->first; i < d->letters.n && found == NONE; i++) {
		const struct letter *l = &d->letters.v[i];

		if (l->channel == CHANNEL_AGENT && letter_is_unfinished(l) && !l->lost)
			found = i;
		else if (i == p->first && !letter_is_unfinished(l))
			p->first++;
	}
	return found;
}

void desk_hold_unread(struct desk *d, const struct capture_end *end)
{
	uint32_t i = d->letters.n;
	struct buf line = { 0 };
	struct letter *l;
	struct err why, unused;
	bool certain;

	while (i-- > 0)
		if (end->unread[0] && strcmp(d->letters.v[i].id, end->unread) == 0)
			break;
	if (i == NONE || d->letters.v[i].state == LETTER_VOID)
		return;
	l = &d->letters.v[i];
	certain = end->unread_n >= l->bytes.n;
	if (l->state != LETTER_HELD || l->uncertain == certain) {
		agent_say_unread(l->path.p, end->unread_n, l->bytes.n, &why);
		record_held(l, str_of(why.text), certain, &line);
		if (d->access == DESK_WRITES)
			desk_append(d, buf_str(&line), true, &unused);
		record_apply(d, buf_str(&line)); /* what is shown is true even if it is not kept */
		buf_release(&line);
	}
	d->letters.v[i].lost = true;
}

bool desk_tick(struct desk *d, int64_t now_ms)
{
	enum progress how = DONE;
	bool changed = false;

	if (!d->agent || !d->agent->queued || (!d->queue && !d->letters.n))
		return false;
	queue_of(d);
	/* stops when the journal fails */
	while (how == DONE && d->access == DESK_WRITES) {
		uint32_t letter = d->queue->in_flight ? NONE : next_unsent_letter(d);

		if (now_ms < d->queue->retry_ms)
			return changed;
		if (d->queue->in_flight)
			how = continue_send(d, now_ms);
		else if (letter != NONE || waiting_count(d->queue))
			how = begin_send(d, letter, now_ms);
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
	if (now_ms < p->retry_ms)
		return (int)(p->retry_ms - now_ms);
	/* the holder reports on its connection, which the loop does not watch */
	return now_ms - p->since_ms < FAST_POLL_PERIOD_MS ? POLL_FAST_MS : POLL_SLOW_MS;
}

void output_queue_free(struct desk *d)
{
	if (!d->queue)
		return;
	close_channel(d->queue);
	while (waiting_count(d->queue))
		drop_first_line(d->queue);
	vec_release(&d->queue->lines);
	free(d->queue);
	d->queue = NULL;
}
