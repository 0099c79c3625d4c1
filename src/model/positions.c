/* Positions of messages: runs of adjacent lines, found by binary search, and marks within them. */
#include "model/positions.h"

/* Whether the message continues the newest run; a run's second message defines its gap. */
static bool goes_on(struct positions *w, uint32_t message, uint32_t source, uint32_t line,
		    uint64_t offset)
{
	struct positions_run *last;
	uint64_t gap = offset - w->end;

	if (!w->runs.n || source != w->source || line != w->line + 1 || offset < w->end ||
	    gap > UINT32_MAX)
		return false;
	last = vec_last(&w->runs);
	if (message == last->first + 1)
		last->gap = (uint32_t)gap;
	return gap == last->gap;
}

void positions_add(struct heap *h, struct positions *w, uint32_t message, uint32_t source, uint32_t line,
		uint64_t offset, uint32_t length)
{
	if (!goes_on(w, message, source, line, offset))
		heap_push(h, &w->runs, (struct positions_run){ offset, message, line, 0 });
	if (message % WHENCE_EVERY == 0)
		heap_push(h, &w->marks, offset);
	w->end = offset + length;
	w->source = source;
	w->line = line;
}

static const struct positions_run *run_of(const struct positions *w, uint32_t message)
{
	uint32_t next = 1;

	bisect(next, w->runs.n, i, w->runs.v[i].first <= message)
	return &w->runs.v[next - 1];
}

uint32_t positions_line(const struct positions *w, uint32_t message)
{
	const struct positions_run *run = run_of(w, message);

	return run->line + (message - run->first);
}

uint64_t positions_offset(const struct positions *w, const struct record *records, uint32_t message)
{
	const struct positions_run *run = run_of(w, message);
	uint32_t at = message - message % WHENCE_EVERY;
	uint64_t offset;

	if (at >= run->first) {
		offset = w->marks.v[message / WHENCE_EVERY];
	} else {
		at = run->first;
		offset = run->offset;
	}
	for (; at < message; at++)
		offset += records[at].length + (uint64_t)run->gap;
	return offset;
}
