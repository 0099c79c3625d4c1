/* Applying replies where they were said: anchored ones in the order of the journal, others behind
 * the messages that they answer. */
#include "session/conversation.h"

#include "session/load.h"

struct desk *talk_desk(struct load *l, const struct talk *t)
{
	return t->desk == NONE ? NULL : &l->desks.list.v[t->desk];
}

/* ---- applying ---- */

static struct str letter_session(const struct desk *d, const struct letter *x)
{
	const struct draft *draft = x->drafts.n ? &d->drafts.v[x->drafts.v[0]] : NULL;

	return !draft || str_eq(draft->session, d->group) ? STR_NONE : draft->session;
}

static void set_origin(const struct desk *d, const struct letter *x, struct place *place)
{
	place->trust = TRUST_JOURNAL;
	place->said_ms = x->drafts.n ? d->drafts.v[x->drafts.v[0]].time_ms : x->time_ms;
	place->by = x->drafts.n ? d->drafts.v[x->drafts.v[0]].by : STR_NONE;
}

/* The desk may be read anew from its journal: the talk remembers what is in the model. */
void talk_note_placed(struct talk *t, struct letter *x, uint32_t message)
{
	struct placed_letter p = { .message = message };

	memcpy(p.id, x->id, sizeof(p.id));
	vec_push(&t->placed, p);
	x->message = message;
}

/* Applies one reply. letter: NONE = somebody else's. */
static void apply_reply(struct load *l, struct talk *t, struct str bytes, struct place place,
			uint32_t letter)
{
	struct conversation *c = &l->conversation;
	struct desk *d = talk_desk(l, t);
	struct letter *x = letter == NONE ? NULL : &d->letters.v[letter];
	struct frame_info info = { .full_length = bytes.n, .reply = true,
				   .direction = DIRECTION_OUT };
	struct message *m = &c->message;

	c->decoder.quiet = !l->want_diags;
	dialect_decode(&c->decoder, bytes, &info, m);
	place.length = (uint32_t)bytes.n;
	place.group = t->group;
	place.trust = TRUST_REPLY;
	if (x)
		set_origin(d, x, &place);
	/* what an agent has reworded before it read the answer is not answered by that */
	if (x && letter_is_outdated(d, &l->model, x))
		place.unplaced = true;
	if (!m->session.n && m->dialect == DIALECT_FEEDBACK)
		m->session = x ? letter_session(d, x) : l->wire.files.v[place.source].answers;
	model_apply(&l->model, m, &place);
	if (x)
		talk_note_placed(t, x, l->model.records.n - 1);
	if (c->each)
		c->each(c->ctx, l, m, vec_last(&l->model.records));
}

static void place_line(struct load *l, struct talk *t, uint32_t i, bool unplaced)
{
	struct reply_line *line = &t->lines.v[i];
	struct place place = { .source = line->file, .line = line->line, .offset = line->offset,
			       .unplaced = unplaced };

	if (t->pending)
		talk_note_effects(t, i);
	line->placed = true;
	line->message = l->model.records.n;
	apply_reply(l, t, line->bytes, place, line->letter);
}

uint32_t talk_spool(struct load *l, struct talk *t)
{
	struct source s = { .kind = SOURCE_STREAM, .fd = -1, .spool_only = true };
	struct str name;

	if (t->spool != NONE || l->conversation.applying)
		return t->spool;
	name = str_of(arena_printf(&l->wire.arena, "replies to %.*s", STR_ARG(t->group)));
	s.name = name.p;
	t->spool = wire_append(&l->wire, &s, name);
	l->wire.files.v[t->spool].group = t->group;
	l->wire.files.v[t->spool].joined = l->wire.files.v[t->spool].found = true;
	return t->spool;
}

/* A letter whose channel keeps nothing, or lost it: its bytes are in the journal. */
static void place_letter(struct load *l, struct talk *t, uint32_t letter)
{
	struct str bytes = str_trim(talk_desk(l, t)->letters.v[letter].bytes);
	struct place place = { .source = talk_spool(l, t), .line = t->spool_line + 1,
			       .offset = t->spooled };
	struct source *s;
	struct err err;

	if (place.source == NONE)
		return; /* the next update places it */
	t->spool_line++;
	s = &l->wire.files.v[t->spool].source;
	s->spool = &l->wire.spool;
	if (spool_add(&l->wire.spool, &s->spooled, t->spooled, bytes, &err) < 0)
		load_say(l, str_of(err.text));
	t->spooled += bytes.n + 1;
	s->end = t->spooled;
	apply_reply(l, t, bytes, place, letter);
}

static void place_anchored(struct load *l, struct talk *t, const struct anchored *a)
{
	if (a->letter != NONE && talk_desk(l, t)->letters.v[a->letter].message != NONE)
		return;
	if (a->line == NONE)
		place_letter(l, t, a->letter);
	else if (!t->lines.v[a->line].placed)
		place_line(l, t, a->line, false);
}

static bool is_reached(const struct load *l, const struct talk *t, const struct anchored *a)
{
	if (a->file == NONE)
		return t->seen >= a->seen;
	return !a->offset || (a->file < l->conversation.passed.n &&
			      l->conversation.passed.v[a->file] >= a->offset);
}

/* Places the lines that are ready; above: only those above that line of its file, NONE = all. */
static void place_ready(struct load *l, struct talk *t, uint32_t above)
{
	for (uint32_t line; (line = talk_next_ready(t, above)) != NONE;)
		place_line(l, t, line, false);
}

void talk_note_elsewhere(struct talk *t, struct letter *x)
{
	talk_note_placed(t, x, NONE);
	x->elsewhere = true;
}

/* A log that was rotated since has fewer messages than letters of 0.1.0 count: those are not waited
 * for once a later one has its place. */
static void skip_unreachable(struct load *l, struct talk *t)
{
	if (t->first_anchor >= t->queue.n || t->next >= t->first_anchor ||
	    !is_reached(l, t, &t->queue.v[t->first_anchor]))
		return;
	for (; t->next < t->first_anchor && !is_reached(l, t, &t->queue.v[t->next]); t->next++)
		if (t->queue.v[t->next].letter != NONE)
			talk_note_elsewhere(t, &talk_desk(l, t)->letters
							.v[t->queue.v[t->next].letter]);
}

/* Everything that belongs behind the messages applied so far. */
static void place_reached(struct load *l, struct talk *t)
{
	skip_unreachable(l, t);
	while (t->next < t->queue.n && is_reached(l, t, &t->queue.v[t->next])) {
		const struct anchored *a = &t->queue.v[t->next];

		if (a->line != NONE)
			place_ready(l, t, a->line);
		place_anchored(l, t, &t->queue.v[t->next]);
		t->next++;
	}
	place_ready(l, t, NONE);
}

/* ---- while reading ---- */

/* Another process sent the letter: its line may have been read before its journal. */
static bool bind_heard(struct load *l, struct talk *t, const struct desk *d, struct letter *x)
{
	for (uint32_t i = talk_first_equal(t, x->bytes); i != NONE; i = t->texts.nodes.v[i].next) {
		struct reply_line *line = &t->lines.v[t->texts.nodes.v[i].line];
		struct place place = { 0 };

		if (!line->placed || line->letter != NONE || !is_line_of(line, x))
			continue;
		set_origin(d, x, &place);
		line->letter = (uint32_t)(x - d->letters.v);
		talk_note_placed(t, x, line->message);
		model_reply_own(&l->model, line->message, place.by, place.said_ms);
		return true;
	}
	return false;
}

/* Letters that were sent since the desk was last looked at are said now. */
static void place_sent(struct load *l, struct talk *t)
{
	struct desk *d = talk_desk(l, t);
	struct str read = STR_NONE; /* the path of the letter before, where nothing is new */

	/* before that, the queue has them */
	if (!l->complete || !d || d->changes == t->changes || d->agent)
		return;
	t->changes = d->changes;
	for (uint32_t i = 0; i < d->letters.n; i++) {
		struct letter *x = &d->letters.v[i];
		uint32_t line;

		if (!letter_is_said(x) || x->channel == CHANNEL_AGENT ||
		    x->state == LETTER_INTENT || x->state == LETTER_VOID)
			continue;
		if (!str_eq(x->path, read)) {
			add_reply_path(l, t, x);
			talk_read_files(l, t);
			read = x->path;
		}
		if (bind_heard(l, t, d, x))
			continue;
		line = talk_find_line(l, t, x);
		if (!letter_was_sent(x, line))
			continue;
		if (line != NONE) {
			t->pending -= line < t->heard && line_waits(&t->lines.v[line]);
			t->lines.v[line].letter = i;
		}
		if (line == NONE && talk_spool(l, t) == NONE) {
			t->changes--; /* again, outside of the frame */
			continue;
		}
		place_anchored(l, t, &(struct anchored){ .letter = i, .line = line });
	}
}

void conversation_before(struct load *l, struct talk *t, const struct message *msg)
{
	l->conversation.applying = true;
	if (!t->began) {
		t->began = true;
		place_reached(l, t);
	}
	place_sent(l, t);
	if (t->pending) {
		talk_release_before(l, t, msg);
		place_ready(l, t, NONE);
	}
	l->conversation.applying = false;
}

void conversation_behind(struct load *l, struct talk *t, uint32_t file, const struct frame *frame,
			 const struct message *msg)
{
	struct conversation *c = &l->conversation;

	conversation_pass(c, t, file, frame);
	if (t->pending)
		talk_release_behind(l, t, msg); /* before anything is placed behind it */
	if (t->next < t->queue.n || t->ready) {
		c->applying = true;
		place_reached(l, t);
		c->applying = false;
	}
}

/* Whether a folder's file is the one that a letter was written to. */
bool is_file_of_letter(const struct wire_file *f, const struct talk *t, const struct letter *x)
{
	size_t n = f->base.n;

	return f->listed && str_eq(f->group, t->group) && x->path.n > n &&
	       str_ends(x->path, f->base) && x->path.p[x->path.n - n - 1] == '/';
}

static void claim_file(struct desk *d, struct talk *t, const struct wire_file *f, uint32_t message,
		       struct place *place)
{
	for (uint32_t i = 0; d && i < d->letters.n; i++) {
		struct letter *x = &d->letters.v[i];

		if (x->channel != CHANNEL_DIR || x->message != NONE || !is_file_of_letter(f, t, x))
			continue;
		set_origin(d, x, place);
		talk_note_placed(t, x, message);
		return;
	}
}

/* Whether the log repeats what was said. What is equal but said later, such as a Request that is sent
 * again, is another message; not if it has an id: then the log tells only here that it was said. */
static bool is_echo(struct load *l, const struct talk *t, uint32_t file, const struct frame *frame,
		    const struct message *msg)
{
	struct buf bytes = { 0 };
	struct err err;
	uint32_t i = NONE;
	bool echo = false;

	if (wire_fetch(&l->wire, file, frame->offset, frame->full_length, &bytes, &err) == 0)
		i = talk_first_equal(t, buf_str(&bytes));
	for (; i != NONE && !echo; i = t->texts.nodes.v[i].next) {
		const struct reply_line *line = &t->lines.v[t->texts.nodes.v[i].line];

		echo = (line->placed || msg->id.n) &&
		       str_eq(str_trim(line->bytes), str_trim(buf_str(&bytes)));
	}
	buf_release(&bytes);
	return echo;
}

/* A line of a team's inbox: what this person decided there, or agreed to, is not listed twice. Its words
 * name all who decided. */
static void claim_team_line(struct load *l, struct talk *t, const struct message *msg,
			    struct place *place)
{
	struct desk *d = talk_desk(l, t);
	enum verdict verdict = msg->events.n ? msg->events.v[0].verdict : VERDICT_NONE;

	for (uint32_t i = 0; d && i < d->letters.n; i++) {
		struct letter *x = &d->letters.v[i];
		const struct draft *draft = x->drafts.n ? &d->drafts.v[x->drafts.v[0]] : NULL;

		if (x->channel != CHANNEL_TEAM || x->message != NONE || !draft ||
		    (x->state != LETTER_SENT && x->state != LETTER_ACKED) ||
		    verb_verdict(draft->verb) != verdict ||
		    !str_eq(draft->session, msg->session) || !str_eq(draft->item, msg->correlation))
			continue;
		set_origin(d, x, place);
		place->by = msg->from.id;
		talk_note_placed(t, x, l->model.records.n);
		return;
	}
}

void conversation_claim(struct load *l, struct talk *t, uint32_t file, const struct frame *frame,
			const struct message *msg, struct place *place)
{
	bool told = msg->flags & RECORD_TOLD;
	struct desk *d = talk_desk(l, t);
	struct buf bytes = { 0 };
	struct err err;

	if (t->lengths[frame->full_length / 64 % TALK_LENGTHS] >> frame->full_length % 64 & 1)
		place->echo = is_echo(l, t, file, frame, msg);
	if (l->wire.files.v[file].said)
		claim_file(d, t, &l->wire.files.v[file], l->model.records.n, place);
	if (told && l->wire.files.v[file].made) {
		claim_team_line(l, t, msg, place);
		return;
	}
	/* an agent that writes the same has not said it */
	for (uint32_t i = t->claimed; told && d && i < d->letters.n; i++) {
		struct letter *x = &d->letters.v[i];
		bool open = x->channel == CHANNEL_AGENT && x->message == NONE &&
			    x->state != LETTER_VOID;

		if (!open && i == t->claimed)
			t->claimed++;
		if (!open || str_trim(x->bytes).n != frame->full_length)
			continue;
		if (!bytes.n && wire_fetch(&l->wire, file, frame->offset, frame->full_length,
					   &bytes, &err) < 0)
			break;
		if (!str_eq(buf_str(&bytes), str_trim(x->bytes)))
			continue;
		set_origin(d, x, place);
		place->unplaced = letter_is_outdated(d, &l->model, x);
		talk_note_placed(t, x, l->model.records.n);
		break;
	}
	buf_release(&bytes);
}

/* Lines whose place is the end of the log, as far as it is known now. */
static void place_rest(struct load *l, struct talk *t)
{
	for (uint32_t i = 0; (t->pending || t->ready) && i < t->lines.n; i++) {
		struct reply_line *line = &t->lines.v[i];
		bool known = line->known || line->free || line->ready;

		if (line->placed || line->anchored || (l->follow && !known))
			continue;
		t->pending -= !line->ready; /* what is ready is counted when it is taken out */
		t->loose = true;
		place_line(l, t, i, !known);
	}
}

/* The log ends before the place of the rest of the queue. */
static void drop_queue(struct load *l, struct talk *t)
{
	for (; t->next < t->queue.n; t->next++) {
		const struct anchored *a = &t->queue.v[t->next];

		if (is_reached(l, t, a)) {
			place_anchored(l, t, a);
		} else if (a->letter != NONE) {
			talk_note_elsewhere(t, &talk_desk(l, t)->letters.v[a->letter]);
		} else { /* somebody else's line, which may stand behind what it answers */
			t->lines.v[a->line].anchored = false;
			t->pending++;
		}
	}
}

void conversation_end(struct load *l)
{
	for (uint32_t i = 0; i < l->conversation.talks.n; i++) {
		struct talk *t = l->conversation.talks.v[i];

		t->began = true;
		place_reached(l, t);
		drop_queue(l, t);
		place_rest(l, t);
	}
}

/* Whether the model has what the line answers. */
static bool answers_known(struct load *l, const struct talk *t, const struct reply_line *line)
{
	struct conversation *c = &l->conversation;
	struct frame_info info = { .full_length = line->bytes.n, .reply = true,
				   .direction = DIRECTION_OUT };

	c->decoder.quiet = true;
	dialect_decode(&c->decoder, line->bytes, &info, &c->message);
	return str_eq(model_group_of(&l->model, &c->message), t->group);
}

/* A line that came while gavel watched stands where it came, if it answers something known. Only those
 * before `end`. */
static void hear_lines(struct load *l, struct talk *t, uint32_t end)
{
	uint32_t first = t->heard;

	talk_wait(l, t, end);
	for (uint32_t i = first; i < end; i++) {
		struct reply_line *line = &t->lines.v[i];

		if (!line_waits(line) || !(line->free || answers_known(l, t, line)))
			continue;
		if (talk_desk(l, t))
			desk_note_heard(talk_desk(l, t), l->wire.files.v[line->file].name,
					line->offset);
		talk_make_ready(t, i);
	}
	place_ready(l, t, NONE);
}

void talk_read_files(struct load *l, struct talk *t)
{
	for (uint32_t i = 0; i < t->files.n; i++)
		reply_file_read(l, t, &t->files.v[i]);
}

static void update_talk(struct load *l, struct talk *t)
{
	const struct desk *d = talk_desk(l, t);
	uint32_t end;

	t->quiet = t->quiet && !(d && d->letters.n);
	place_sent(l, t);
	if (!l->conversation.applying)
		reply_files_look(l, t);
	talk_read_files(l, t);
	end = t->lines.n;
	if (end == t->heard)
		return;
	t->quiet = false;
	/* Another process may have sent them: its journal tells in which order. An attempt is recorded before
	 * its line is written, so the journal now has the letters of the lines read so far, but perhaps not
	 * of those that place_sent reads. */
	if (t->desk != NONE && talk_desk(l, t)->access != DESK_WRITES) {
		load_reopen_desk(l, t->desk);
		t->changes = UINT32_MAX;
		place_sent(l, t);
	}
	hear_lines(l, t, end);
}

uint32_t conversation_update(struct load *l)
{
	uint32_t before = l->model.records.n;

	for (uint32_t i = 0; l->complete && i < l->conversation.talks.n; i++)
		update_talk(l, l->conversation.talks.v[i]);
	return l->model.records.n - before;
}

uint32_t conversation_waiting(const struct load *l)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < l->conversation.talks.n; i++)
		n += l->conversation.talks.v[i]->pending;
	return n;
}
