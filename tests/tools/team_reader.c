/* Whoever wants all lines, and sees all events: reads them while they come, through every loss of the
 * connection. At SIGTERM it reads on to the end and says what it has seen; exit 1 if a line was missing
 * or came twice, or if an event does not fit to those before it.
 *
 *   team_actors reader URL */
#include "team_actors.h"

#include "team/chain.h"

#include <signal.h>
#include <stdio.h>

enum { PAGE = 5000, EVENTS = 1000, POLL_MS = 20 };

struct seen_line {
	int64_t source, seq, length;
};

struct reader {
	struct chain chain;
	unsigned faults;
	int64_t xid, source, seq; /* the cursor */
	VEC(struct seen_line) lines;
};

static volatile sig_atomic_t ending;

static void end(int sig)
{
	ending = sig;
}

static void take_lines(void *ctx, const struct store_answer *a)
{
	struct reader *r = ctx;

	for (uint32_t i = 0; i < a->n; i++) {
		r->xid = store_int(a->rows, i, 0);
		r->source = store_int(a->rows, i, 1);
		r->seq = store_int(a->rows, i, 2);
		vec_push(&r->lines,
			 (struct seen_line){ r->source, r->seq, store_int(a->rows, i, 3) });
	}
}

static void take_events(void *ctx, const struct store_answer *a)
{
	struct reader *r = ctx;

	for (uint32_t i = 0; i < a->n && !r->faults; i++) {
		struct store_event e;

		chain_read(a->rows, i, &e);
		if (chain_add(&r->chain, &e) != CHAIN_FINE) {
			fprintf(stderr, "reader: event %lld does not fit to event %lld\n",
				(long long)e.n, (long long)r->chain.n);
			r->faults++;
		}
	}
}

/* A store that went back has an older event where the last one was. */
static void take_head(void *ctx, const struct store_answer *a)
{
	struct reader *r = ctx;

	if (store_int(a->rows, 0, 0) >= r->chain.n || r->faults)
		return;
	fprintf(stderr, "reader: the store went back, event %lld is gone\n", (long long)r->chain.n);
	r->faults++;
}

static int by_place(const void *a, const void *b)
{
	const struct seen_line *x = a, *y = b;

	if (x->source != y->source)
		return x->source < y->source ? -1 : 1;
	return x->seq < y->seq ? -1 : x->seq > y->seq;
}

static int sum_up(struct reader *r)
{
	unsigned lost = 0, doubled = 0;

	qsort(r->lines.v, r->lines.n, sizeof(*r->lines.v), by_place);
	for (uint32_t i = 0; i < r->lines.n; i++) {
		const struct seen_line *line = &r->lines.v[i], *before = i ? line - 1 : NULL;
		bool first = !before || before->source != line->source;
		int64_t wanted = first ? 0 : before->seq + before->length;

		lost += line->seq > wanted;
		doubled += line->seq < wanted;
	}
	printf("reader: %u lines, %u lost, %u doubled; %lld events, %u that do not fit\n",
	       r->lines.n, lost, doubled, (long long)r->chain.n, r->faults);
	return lost || doubled || r->faults;
}

int reader_main(int argc, char **argv)
{
	struct reader r = { 0 };
	struct store *s;
	int code;

	if (argc != 2)
		fail("reader URL");
	signal(SIGTERM, end);
	s = open_store(argv[1], NULL);
	for (;;) {
		bool last = ending;
		int events = ask(s,
				 "select " CHAIN_COLUMNS
				 " from gavel.event where n > $1::bigint order by n limit 1000",
				 VALUES(store_number(r.chain.n)), take_events, &r);
		int lines = ask(s,
				"select xid, source, seq, octet_length(bytes) from "
				"gavel.tail($1::bigint, $2::int, $3::bigint, '-infinity', $4::int)",
				VALUES(store_number(r.xid), store_number(r.source),
				       store_number(r.seq), store_number(PAGE)),
				take_lines, &r);

		ask(s, "select n from gavel.head", NULL, 0, take_head, &r);
		if (last && lines == 0 && (events == 0 || r.faults))
			break;
		if (lines < PAGE && events < EVENTS)
			step_stores(&s, 1, POLL_MS);
	}
	code = sum_up(&r);
	vec_release(&r.lines);
	store_close(s);
	return code;
}
