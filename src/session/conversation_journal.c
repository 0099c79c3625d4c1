/* What the journal tells of the conversation: where letters were said, and which lines of reply files
 * are letters. */
#include "session/load.h"

enum { PRINT_BYTES = 256 };

/* ---- anchors ---- */

static uint32_t print_of(struct load *l, uint32_t file, uint64_t offset)
{
	size_t n = offset < PRINT_BYTES ? (size_t)offset : PRINT_BYTES;
	struct buf bytes = { 0 };
	uint32_t print = 0;
	struct err err;

	/* not the seeded hash: it is written down */
	if (n && wire_fetch(&l->wire, file, offset - n, n, &bytes, &err) == 0)
		for (size_t i = 0; i < bytes.n; i++)
			print = (print ^ (unsigned char)bytes.p[i]) * 16777619u + 2166136261u;
	buf_release(&bytes);
	return print;
}

bool conversation_anchor(void *load, const struct desk *d, const struct letter *said,
			 struct anchor *out, struct arena *names)
{
	struct load *l = load;
	const struct conversation *c = &l->conversation;

	if (said && letter_is_outdated(d, &l->model, said))
		return false;
	for (uint32_t i = 0; i < c->talks.n; i++) {
		const struct talk *t = c->talks.v[i];
		uint32_t file = t->last_file;

		if (!str_eq(t->group, d->group))
			continue;
		if (file == NONE)
			return false;
		*out = (struct anchor){ arena_str(names, l->wire.files.v[file].base),
					c->passed.v[file], 0 };
		out->print = print_of(l, file, out->offset);
		return true;
	}
	return false;
}

static bool holds_anchor(struct load *l, const struct talk *t, uint32_t file,
			 const struct anchor *at)
{
	const struct wire_file *f = &l->wire.files.v[file];

	return !f->joined && str_eq(f->group, t->group) && at->offset <= f->source.end &&
	       print_of(l, file, at->offset) == at->print;
}

/* The file of an anchor, if that is the one that was read then; NONE. A log that was renamed since is
 * known by its bytes. */
static uint32_t anchor_file(struct load *l, const struct talk *t, const struct anchor *at)
{
	const struct desk *d = talk_desk(l, t);

	for (uint32_t i = l->wire.files.n; i-- > 0;)
		if (str_eq(l->wire.files.v[i].base, at->file) && holds_anchor(l, t, i, at))
			return i;
	for (uint32_t i = l->wire.files.n; d && !d->is_dir && i-- > 0;)
		if (holds_anchor(l, t, i, at))
			return i;
	return NONE;
}

static uint32_t seen_by_drafts(const struct desk *d, const struct letter *x)
{
	uint32_t seen = 0;

	for (uint32_t i = 0; i < x->drafts.n; i++)
		if (d->drafts.v[x->drafts.v[i]].seen > seen)
			seen = d->drafts.v[x->drafts.v[i]].seen;
	return seen;
}

/* Puts a letter into the queue; one whose file is not read now is only in the journal. */
static void queue_letter(struct load *l, struct talk *t, struct desk *d, uint32_t letter,
			 uint32_t line)
{
	struct letter *x = &d->letters.v[letter];
	struct anchored a = { .letter = letter, .line = line, .file = NONE };

	if (x->at.file.n) {
		a.file = anchor_file(l, t, &x->at);
		a.offset = x->at.offset;
		x->elsewhere = a.file == NONE;
	} else {
		a.seen = x->drafts.n ? seen_by_drafts(d, x) : t->queued_seen;
	}
	if (x->elsewhere) {
		talk_note_elsewhere(t, x);
		if (line != NONE)
			t->lines.v[line].placed = true;
		return;
	}
	if (line == NONE)
		talk_spool(l, t);
	if (a.file != NONE && t->first_anchor > t->queue.n)
		t->first_anchor = t->queue.n;
	t->queued_seen = a.seen > t->queued_seen ? a.seen : t->queued_seen;
	if (line != NONE)
		talk_anchor_line(t, line);
	vec_push(&t->queue, a);
}

/* ---- own lines ---- */

bool is_line_of(const struct reply_line *line, const struct letter *x)
{
	return str_eq(str_trim(line->bytes), str_trim(x->bytes));
}

/* The line of a letter: at the offset of its last attempt, else the first free one that equals it.
 * A file that an agent was told from has no offsets. */
uint32_t talk_find_line(const struct load *l, const struct talk *t, const struct letter *x)
{
	uint32_t found = NONE;

	for (uint32_t k = talk_first_equal(t, x->bytes); k != NONE; k = t->texts.nodes.v[k].next) {
		uint32_t i = t->texts.nodes.v[k].line;
		const struct reply_line *line = &t->lines.v[i];

		if (line->letter != NONE || line->placed || !is_line_of(line, x))
			continue;
		if (x->tried && line->offset == x->attempt.offset + x->attempt.lead &&
		    l->wire.files.v[line->file].source.ino == x->attempt.ino)
			return i;
		found = found == NONE ? i : found;
	}
	return found;
}

bool letter_is_said(const struct letter *x)
{
	return x->message == NONE && !x->aside && !x->elsewhere && x->channel != CHANNEL_NONE &&
	       x->channel != CHANNEL_DIR && str_trim(x->bytes).n;
}

/* Sent; or written, as its line shows. */
bool letter_was_sent(const struct letter *x, uint32_t line)
{
	switch (x->state) {
	case LETTER_SENT:
	case LETTER_ACKED: return true;
	case LETTER_ATTEMPT:
	case LETTER_HELD: return line != NONE && x->tried;
	case LETTER_INTENT:
	case LETTER_VOID: break;
	}
	return false;
}

/* A path may be written in several ways. */
static struct str base_of(struct str path)
{
	size_t i = path.n;

	while (i && path.p[i - 1] != '/')
		i--;
	return str_from(path, i);
}

static uint64_t heard_key(struct str base, uint64_t offset)
{
	return hash_mix(str_hash(base), offset);
}

static void index_heard(const struct load *l, const struct talk *t, struct line_index *out)
{
	for (uint32_t i = 0; i < t->lines.n; i++)
		line_index_add(out,
			       heard_key(l->wire.files.v[t->lines.v[i].file].base,
					 t->lines.v[i].offset),
			       i);
}

/* The last line at that place, NONE. */
static uint32_t heard_line(const struct load *l, const struct talk *t,
			   const struct line_index *places, const struct heard *h)
{
	struct str base = base_of(h->path);
	uint32_t node = line_index_first(places, heard_key(base, h->offset)), found = NONE;

	for (; node != NONE; node = places->nodes.v[node].next) {
		uint32_t i = places->nodes.v[node].line;
		const struct reply_line *line = &t->lines.v[i];

		if (line->offset == h->offset && !line->anchored && line->letter == NONE &&
		    str_eq(l->wire.files.v[line->file].base, base))
			found = i;
	}
	return found;
}

static void queue_heard(struct load *l, struct talk *t, const struct line_index *places,
			const struct heard *h)
{
	struct anchored a = { .letter = NONE, .line = heard_line(l, t, places, h),
			      .offset = h->at.offset };

	a.file = a.line == NONE ? NONE : anchor_file(l, t, &h->at);
	if (a.file == NONE)
		return;
	talk_anchor_line(t, a.line);
	vec_push(&t->queue, a);
}

/* Sorts the desk's letters out of the lines read, and queues them in the order of the journal. */
void talk_queue_journal(struct load *l, struct talk *t)
{
	struct desk *d = talk_desk(l, t);
	struct line_index places = { 0 };
	uint32_t heard = 0;

	if (d && d->heard.n)
		index_heard(l, t, &places);
	for (uint32_t i = 0; d && i < d->letters.n; i++) {
		struct letter *x = &d->letters.v[i];
		uint32_t line = letter_is_said(x) ? talk_find_line(l, t, x) : NONE;

		while (heard < d->heard.n && d->heard.v[heard].letters <= i)
			queue_heard(l, t, &places, &d->heard.v[heard++]);
		if (line != NONE)
			t->lines.v[line].letter = i;
		if (letter_is_said(x) && letter_was_sent(x, line) &&
		    (line != NONE || x->channel != CHANNEL_AGENT))
			queue_letter(l, t, d, i, line);
		else if (line != NONE)
			t->lines.v[line].letter = NONE;
	}
	while (d && heard < d->heard.n)
		queue_heard(l, t, &places, &d->heard.v[heard++]);
	line_index_release(&places);
	t->changes = d ? d->changes : 0;
}
