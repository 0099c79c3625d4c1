/* Both sides of a session, and one agent's own output: lines that begin with > are in the reply file
 * of a log, lines that begin with ! in a capture, the others in the log. Whatever they say, only
 * people decide what an agent alone raised, nobody decides what he raised himself, and the state does
 * not depend on how the files are given. */
#include "cmd/show_json.h"
#include "session/load.h"

#include "fuzz.h"

#define HEAD "\t{\"gavel\":\"capture\",\"agent\":\"dev\",\"speaks\":\"agent\"}\n"

enum { LINE_MAX_BYTES = 1 << 16 };

/* Sorts the lines by where they belong. */
static void part(struct str text, struct buf *log, struct buf *replies, struct buf *capture)
{
	buf_adds(capture, HEAD);
	while (text.n) {
		const char *newline = memchr(text.p, '\n', text.n);
		size_t n = newline ? (size_t)(newline - text.p) : text.n;
		bool marked = n && (text.p[0] == '>' || text.p[0] == '!');
		struct buf *to = !marked ? log : text.p[0] == '>' ? replies : capture;

		/* as gavel keeps what an agent writes */
		if (to == capture && n > 1 && text.p[1] == '\t')
			buf_addc(to, ' ');
		buf_add(to, text.p + marked, n - marked);
		buf_addc(to, '\n');
		text = str_from(text, newline ? n + 1 : n);
	}
}

/* The agent that raised the item last before that step. */
static uint32_t raiser_before(const struct model *m, const struct item *item, uint32_t step)
{
	while (step-- > 0)
		if (item->steps[step].what == STEP_RAISED)
			return step_by(m, &item->steps[step]);
	return NONE;
}

static void check_decisions(const struct model *m)
{
	for (uint32_t i = 0; i < m->items.n; i++) {
		const struct item *item = &m->items.v[i];

		for (uint32_t k = 0; k < item->n; k++) {
			const struct item_step *s = &item->steps[k];
			enum trust trust = message_trust(m, s->message);

			if (s->what != STEP_DECIDED)
				continue;
			PROMISE(trust != TRUST_AGENT);
			PROMISE(trust != TRUST_LOG || step_by(m, s) == NONE ||
				step_by(m, s) != raiser_before(m, item, k));
		}
	}
}

static void open_and_hash(const char *const *sources, uint32_t n, char hex[65])
{
	struct buf said = { 0 };
	struct load l;
	struct scene s;

	memset(&l, 0, sizeof(l));
	l.hold = &said;
	hex[0] = '\0';
	if (load_open(&l, sources, n, LINE_MAX_BYTES) == 0) {
		load_run(&l, NULL, NULL);
		s = (struct scene){ .model = &l.model, .reader = &l.reader,
				    .k = l.model.records.n,
				    .now_ms = model_now(&l.model, l.model.records.n) };
		check_decisions(&l.model);
		state_hash(&l, &s, hex);
	}
	load_release(&l);
	buf_release(&said);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	const char *log = fuzz_path("log.ndjson");
	const char *replies = fuzz_path("log.ndjson.replies.ndjson");
	const char *capture = fuzz_path("capture.ndjson");
	const char *forth[] = { log, replies }, *back[] = { replies, log };
	struct buf of_log = { 0 }, of_replies = { 0 }, of_capture = { 0 };
	char alone[65], given[65], first[65], own[65];

	fuzz_locale();
	part(str_make((const char *)bytes, n), &of_log, &of_replies, &of_capture);
	fuzz_write(log, "w", buf_str(&of_log));
	fuzz_write(replies, "w", buf_str(&of_replies));
	fuzz_write(capture, "w", buf_str(&of_capture));
	open_and_hash(&log, 1, alone);
	open_and_hash(forth, 2, given);
	open_and_hash(back, 2, first);
	open_and_hash(&capture, 1, own);
	PROMISE(strcmp(alone, given) == 0 && strcmp(alone, first) == 0);
	buf_release(&of_log);
	buf_release(&of_replies);
	buf_release(&of_capture);
	return 0;
}
