/* Lines of reply files that nothing but their own words can place: what they wait for, and when it has
 * come. A line is ready once the message that it answers, or is the cause of, is known; those of one
 * file are then placed in their order. All of it is O(log n) a line and message. */
#include "session/load.h"

/* Requests name no session: the key of one that is known by the name of its file has that, too. */
static uint64_t waiting_key(const struct reply_key *key, struct str session)
{
	return hash_mix(hash_mix(key->hash, key->before), session.n ? str_hash(session) : 0);
}

/* ---- ready lines ---- */

bool line_waits(const struct reply_line *line)
{
	return !line->placed && !line->ready && !line->anchored;
}

void talk_make_ready(struct talk *t, uint32_t i)
{
	struct reply_file *f = &t->files.v[t->lines.v[i].of];
	uint32_t at;

	t->lines.v[i].ready = true;
	t->pending--;
	t->ready++;
	vec_push(&f->ready, i);
	/* most come in their order */
	for (at = f->ready.n - 1; at > f->ready_at && f->ready.v[at - 1] > i; at--)
		f->ready.v[at] = f->ready.v[at - 1];
	f->ready.v[at] = i;
}

/* The first line of a file that has a known place and is not there yet, NONE. */
static uint32_t first_anchored(struct talk *t, struct reply_file *f)
{
	while (f->first_anchored != NONE && (!t->lines.v[f->first_anchored].anchored ||
					     t->lines.v[f->first_anchored].placed))
		f->first_anchored = t->lines.v[f->first_anchored].next;
	return f->first_anchored;
}

void talk_anchor_line(struct talk *t, uint32_t i)
{
	struct reply_file *f = &t->files.v[t->lines.v[i].of];

	t->lines.v[i].anchored = true;
	if (f->first_anchored > i) /* NONE is the highest number */
		f->first_anchored = i;
}

/* The first ready line of a file that may be placed, NONE. Lines keep their order: somebody else's
 * does not come before a letter of ours that stands above it. */
static uint32_t next_of_file(struct talk *t, struct reply_file *f)
{
	while (f->ready_at < f->ready.n && t->lines.v[f->ready.v[f->ready_at]].placed) {
		f->ready_at++;
		t->ready--;
	}
	if (f->ready_at == f->ready.n) {
		f->ready.n = f->ready_at = 0;
		return NONE;
	}
	if (t->next < t->queue.n && first_anchored(t, f) < f->ready.v[f->ready_at])
		return NONE;
	return f->ready.v[f->ready_at];
}

uint32_t talk_next_ready(struct talk *t, uint32_t above)
{
	uint32_t found = above;

	for (uint32_t i = 0; t->ready && i < t->files.n; i++) {
		uint32_t line = above == NONE || t->lines.v[above].of == i
					? next_of_file(t, &t->files.v[i])
					: NONE;

		found = line < found ? line : found;
	}
	if (found == above)
		return NONE;
	t->files.v[t->lines.v[found].of].ready_at++;
	t->ready--;
	return found;
}

/* ---- lines that wait for a time ---- */

static bool is_earlier(const struct talk *t, uint32_t a, uint32_t b)
{
	return t->lines.v[t->due.v[a]].time_ms < t->lines.v[t->due.v[b]].time_ms;
}

static void swap_due(struct talk *t, uint32_t a, uint32_t b)
{
	uint32_t line = t->due.v[a];

	t->due.v[a] = t->due.v[b];
	t->due.v[b] = line;
}

/* A binary heap, the earliest first. */
static void push_due(struct talk *t, uint32_t line)
{
	vec_push(&t->due, line);
	for (uint32_t i = t->due.n - 1; i && is_earlier(t, i, (i - 1) / 2); i = (i - 1) / 2)
		swap_due(t, i, (i - 1) / 2);
}

static uint32_t pop_due(struct talk *t)
{
	uint32_t line = t->due.v[0];

	t->due.v[0] = t->due.v[--t->due.n];
	for (uint32_t i = 0, child; (child = 2 * i + 1) < t->due.n; i = child) {
		child += child + 1 < t->due.n && is_earlier(t, child + 1, child);
		if (!is_earlier(t, child, i))
			break;
		swap_due(t, i, child);
	}
	return line;
}

/* What answers nothing, or something that comes again and again, stands where its time tells: before
 * the first later message. */
static void release_due(struct talk *t, int64_t time_ms)
{
	while (t->due.n && t->lines.v[t->due.v[0]].time_ms < time_ms) {
		uint32_t line = pop_due(t);

		if (line_waits(&t->lines.v[line]))
			talk_make_ready(t, line);
	}
}

/* ---- keys ---- */

static void note_length(struct talk *t, size_t n)
{
	t->lengths[n / 64 % TALK_LENGTHS] |= UINT64_C(1) << n % 64;
}

static void decode_line(struct load *l, const struct reply_line *line)
{
	struct conversation *c = &l->conversation;
	struct frame_info info = { .full_length = line->bytes.n, .reply = true,
				   .direction = DIRECTION_OUT };

	c->decoder.quiet = true;
	dialect_decode(&c->decoder, line->bytes, &info, &c->message);
	message_reply_keys(&c->message, &c->keys);
}

static void wait_for_keys(struct load *l, struct talk *t, uint32_t i)
{
	const struct conversation *c = &l->conversation;
	struct reply_line *line = &t->lines.v[i];
	struct str session = l->wire.files.v[line->file].answers;

	line->first_key = t->waiting.nodes.n;
	line->keys = c->keys.list.n;
	for (uint32_t k = 0; k < c->keys.list.n; k++) {
		uint64_t key = waiting_key(&c->keys.list.v[k], session);
		struct line_list *list = line_index_add(&t->waiting, key, i);

		list->grown = true;
		list->untimed += line->time_ms == TIME_NONE;
	}
}

void talk_wait(struct load *l, struct talk *t, uint32_t end)
{
	const struct conversation *c = &l->conversation;

	for (; t->heard < end; t->heard++) {
		uint32_t i = t->heard;
		struct reply_line *line = &t->lines.v[i];

		note_length(t, line->bytes.n);
		if (line->placed)
			continue;
		decode_line(l, line);
		line->time_ms = c->message.time_ms;
		line->free = c->keys.answers_nothing;
		if (line->free && !line->anchored && line->time_ms != TIME_NONE)
			push_due(t, i);
		wait_for_keys(l, t, i);
		t->pending += !line->anchored;
	}
}

void talk_note_effects(struct talk *t, uint32_t i)
{
	const struct reply_line *line = &t->lines.v[i];

	for (uint32_t k = 0; k < line->keys; k++)
		t->waiting.lists.v[t->waiting.nodes.v[line->first_key + k].list].done = true;
}

/* The first line of a list, in their order, that waits; NONE. */
static uint32_t first_waiting(struct talk *t, struct line_list *list)
{
	const struct line_node *nodes = t->waiting.nodes.v;

	while (list->first != NONE && (t->lines.v[nodes[list->first].line].placed ||
				       t->lines.v[nodes[list->first].line].ready))
		list->first = nodes[list->first].next;
	for (uint32_t i = list->first; i != NONE; i = nodes[i].next)
		if (line_waits(&t->lines.v[nodes[i].line]))
			return nodes[i].line;
	return NONE;
}

/* Effects come after their causes. */
static void release_causes(struct load *l, struct talk *t, const struct message *msg)
{
	struct conversation *c = &l->conversation;

	message_effect_keys(msg, &c->keys);
	for (uint32_t i = 0; i < c->keys.list.n; i++)
		for (int named = 0; named < (msg->session.n ? 2 : 1); named++) {
			struct line_list *list = line_index_find(
				&t->waiting, waiting_key(&c->keys.list.v[i],
							 named ? msg->session : STR_NONE));
			uint32_t line = list && !list->done ? first_waiting(t, list) : NONE;

			if (line != NONE)
				talk_make_ready(t, line);
		}
}

void talk_release_before(struct load *l, struct talk *t, const struct message *msg)
{
	release_causes(l, t, msg);
	if (t->seen && msg->time_ms != TIME_NONE)
		release_due(t, msg->time_ms);
}

/* With times, a line's own tells which of several messages it answers: the newest before it. */
static void note_known(struct talk *t, struct line_list *list, int64_t time_ms)
{
	const struct line_node *nodes = t->waiting.nodes.v;

	if (time_ms >= list->since_ms && !list->grown)
		return;
	list->since_ms = time_ms < list->since_ms ? time_ms : list->since_ms;
	list->grown = false;
	for (uint32_t i = list->first; i != NONE; i = nodes[i].next) {
		struct reply_line *line = &t->lines.v[nodes[i].line];

		/* one that is earlier answered another message, which is not here */
		if (!line_waits(line) || line->known || line->time_ms == TIME_NONE ||
		    line->time_ms < time_ms)
			continue;
		line->known = true;
		push_due(t, nodes[i].line);
	}
}

/* Lines that wait for a key which several messages may offer. Without times, each message releases
 * one line. True if it has. */
static bool release_one(struct talk *t, struct line_list *list, int64_t time_ms)
{
	const struct line_node *nodes = t->waiting.nodes.v;

	if (time_ms != TIME_NONE)
		note_known(t, list, time_ms);
	if (time_ms != TIME_NONE && !list->untimed)
		return false;
	for (uint32_t i = list->first; i != NONE; i = nodes[i].next) {
		struct reply_line *line = &t->lines.v[nodes[i].line];

		if (line->placed || line->ready || line->spent) {
			if (i == list->first)
				list->first = nodes[i].next;
			continue;
		}
		if (line->time_ms != TIME_NONE && time_ms != TIME_NONE)
			continue;
		if (line->anchored)
			line->spent = true; /* a letter of ours answers it */
		else
			talk_make_ready(t, nodes[i].line);
		return true;
	}
	return false;
}

void talk_release_behind(struct load *l, struct talk *t, const struct message *msg)
{
	struct conversation *c = &l->conversation;
	bool released[2] = { false, false };

	message_offer_keys(&l->model, msg, &c->keys);
	for (uint32_t i = 0; i < c->keys.list.n; i++)
		for (int named = 0; named < (msg->session.n ? 2 : 1); named++) {
			struct line_list *list = line_index_find(
				&t->waiting, waiting_key(&c->keys.list.v[i],
							 named ? msg->session : STR_NONE));

			if (list && !c->keys.list.v[i].unique) {
				bool *done = &released[c->keys.list.v[i].escalates];

				*done = *done || release_one(t, list, msg->time_ms);
				continue;
			}
			for (uint32_t line; list && (line = first_waiting(t, list)) != NONE;)
				talk_make_ready(t, line);
		}
}
