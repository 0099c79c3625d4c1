/* Positions of messages: runs of adjacent lines, found by binary search, and marks within them. */
#include "model/positions.h"

/* Whether the message continues the newest run; a run's second message defines its gap. */
static bool continues_run(struct positions *p, uint32_t message, uint32_t source, uint32_t line,
			  uint64_t offset)
{
	struct positions_run *last;
	uint64_t gap = offset - p->end;

	if (!p->runs.n || source != p->source || line != p->line + 1 || offset < p->end ||
	    gap > UINT32_MAX)
		return false;
	last = vec_last(&p->runs);
	if (message == last->first + 1)
		last->gap = (uint32_t)gap;
	return gap == last->gap;
}

void positions_add(struct heap *h, struct positions *p, uint32_t message, uint32_t source,
		   uint32_t line, uint64_t offset, uint32_t length)
{
	if (!continues_run(p, message, source, line, offset))
		heap_push(h, &p->runs, (struct positions_run){ offset, message, line, 0 });
	if (message % MARK_EVERY_MESSAGES == 0)
		heap_push(h, &p->marks, offset);
	p->end = offset + length;
	p->source = source;
	p->line = line;
}

static const struct positions_run *run_of(const struct positions *p, uint32_t message)
{
	uint32_t next = 1;

	if (vec_last(&p->runs)->first <= message)
		return vec_last(&p->runs); /* while a log is read */
	bisect(next, p->runs.n, i, p->runs.v[i].first <= message)
	return &p->runs.v[next - 1];
}

uint32_t positions_line(const struct positions *p, uint32_t message)
{
	const struct positions_run *run = run_of(p, message);

	return run->line + (message - run->first);
}

uint64_t positions_offset(const struct positions *p, const struct record *records,
			  uint32_t message)
{
	const struct positions_run *run = run_of(p, message);
	uint32_t at = message - message % MARK_EVERY_MESSAGES;
	uint64_t offset = p->marks.v[message / MARK_EVERY_MESSAGES];

	if (at < run->first) {
		at = run->first;
		offset = run->offset;
	}
	for (; at < message; at++)
		offset += records[at].length + (uint64_t)run->gap;
	return offset;
}
