/* Opening the conversation of all groups, and keeping it in the cache. */
#include "session/load.h"

#include <stdlib.h>

static uint32_t find_talk(const struct conversation *c, struct str group)
{
	for (uint32_t i = 0; i < c->talks.n; i++)
		if (str_eq(c->talks.v[i]->group, group))
			return i;
	return NONE;
}

static uint32_t find_desk(const struct load *l, struct str group)
{
	for (uint32_t i = 0; i < l->desks.list.n; i++)
		if (str_eq(l->desks.list.v[i].group, group))
			return i;
	return NONE;
}

static struct talk *add_talk(struct load *l, struct str group)
{
	struct talk *t = xcalloc(1, sizeof(*t));

	t->group = group;
	t->desk = find_desk(l, group);
	t->spool = t->last_file = NONE;
	t->first_anchor = UINT32_MAX;
	vec_push(&l->conversation.talks, t);
	return t;
}

static void talk_free(struct talk *t)
{
	for (uint32_t i = 0; i < t->files.n; i++) {
		free(t->files.v[i].path);
		vec_release(&t->files.v[i].ready);
	}
	vec_release(&t->files);
	free(t->folder);
	vec_release(&t->lines);
	vec_release(&t->queue);
	vec_release(&t->placed);
	vec_release(&t->due);
	line_index_release(&t->waiting);
	line_index_release(&t->texts);
	free(t);
}

/* A source that turned out to be a reply file of another one. */
static bool is_reply_file(const struct load *l, struct str group)
{
	bool is = false;

	for (uint32_t i = 0; i < l->wire.files.n; i++)
		if (str_eq(l->wire.files.v[i].name, group))
			is = l->wire.files.v[i].joined;
	return is;
}

/* Marks the files of a folder that letters were written to. */
static void mark_said(struct load *l, const struct talk *t)
{
	const struct desk *d = talk_desk(l, t);

	for (uint32_t i = 0; d && i < d->letters.n; i++)
		for (uint32_t f = 0; d->letters.v[i].channel == CHANNEL_DIR && f < l->wire.files.n; f++)
			if (is_file_of_letter(&l->wire.files.v[f], t, &d->letters.v[i]))
				l->wire.files.v[f].said = true;
}

static bool has_letters(struct load *l, const struct talk *t)
{
	const struct desk *d = talk_desk(l, t);

	return d && d->letters.n;
}

/* Nothing tells which of several sources a line of a common reply file answers: ids of items and tasks
 * are unique in one source only. */
static int check_reply_option(struct load *l)
{
	uint32_t n = l->conversation.talks.n;

	if (n < 2 || !l->reply || channel_type_of(l->reply) != CHANNEL_FILE)
		return 0;
	load_say(l, str_of(arena_printf(&l->wire.arena,
					"--reply names the reply file of one source, and here are "
					"%u; name one of them, or leave --reply out: then each has "
					"a file of its own",
					n)));
	return -1;
}

int conversation_open(struct load *l)
{
	struct conversation *c = &l->conversation;
	uint32_t n = l->wire.files.n, kept = 0;

	c->on = true;
	for (uint32_t i = 0; i < n; i++)
		if (!l->wire.files.v[i].joined &&
		    find_talk(c, l->wire.files.v[i].group) == NONE)
			add_talk(l, l->wire.files.v[i].group);
	for (uint32_t i = 0; l->follow && i < l->wire.dirs.n; i++)
		if (find_talk(c, str_of(l->wire.dirs.v[i].name)) == NONE)
			add_talk(l, str_of(l->wire.dirs.v[i].name));
	for (uint32_t i = 0; i < n; i++)
		if (l->wire.files.v[i].joined)
			reply_files_add(l, i);
	for (uint32_t i = 0; i < c->talks.n; i++)
		reply_files_find(l, c->talks.v[i]);
	for (uint32_t i = 0; i < c->talks.n; i++)
		talk_read_files(l, c->talks.v[i]);
	for (uint32_t i = 0; i < c->talks.n; i++) {
		if (is_reply_file(l, c->talks.v[i]->group))
			talk_free(c->talks.v[i]);
		else
			c->talks.v[kept++] = c->talks.v[i];
	}
	c->talks.n = kept;
	for (uint32_t i = 0; i < c->talks.n; i++) {
		mark_said(l, c->talks.v[i]);
		talk_queue_journal(l, c->talks.v[i]);
		talk_wait(l, c->talks.v[i], c->talks.v[i]->lines.n);
		c->talks.v[i]->quiet = !c->talks.v[i]->lines.n && !c->talks.v[i]->queue.n &&
				       !has_letters(l, c->talks.v[i]);
	}
	return check_reply_option(l);
}

/* A file that came while following: perhaps a letter that another process wrote into a folder. */
static void note_new_file(struct load *l, struct talk *t, uint32_t file)
{
	struct wire_file *f = &l->wire.files.v[file];
	struct desk *d = talk_desk(l, t);

	if (!f->listed || f->joined)
		return;
	if (d && d->access != DESK_WRITES && wire_is_handoff(f->base))
		load_reopen_desk(l, t->desk);
	mark_said(l, t);
}

struct talk *conversation_of(struct load *l, uint32_t file)
{
	struct conversation *c = &l->conversation;

	while (c->by_file.n <= file) {
		struct str group = l->wire.files.v[c->by_file.n].group;
		uint32_t at = find_talk(c, group);

		/* agents that gavel runs are added later */
		if (at == NONE && !c->on && find_desk(l, group) != NONE) {
			add_talk(l, group);
			at = c->talks.n - 1;
		}
		vec_push(&c->by_file, at == NONE ? 0 : at + 1);
		if (at != NONE && l->complete)
			note_new_file(l, c->talks.v[at], c->by_file.n - 1);
	}
	return c->by_file.v[file] ? c->talks.v[c->by_file.v[file] - 1] : NULL;
}

/* The search begins where the last one ended: both are mostly in one order. */
static uint32_t rebind_letter(struct desk *d, const struct placed_letter *p, uint32_t from)
{
	for (uint32_t i = 0; i < d->letters.n; i++) {
		struct letter *x = &d->letters.v[(from + i) % d->letters.n];

		if (strcmp(x->id, p->id) != 0)
			continue;
		x->message = p->message;
		x->elsewhere = p->message == NONE;
		return (from + i + 1) % d->letters.n;
	}
	return from;
}

void conversation_rebind(struct load *l, uint32_t desk)
{
	struct desk *d = &l->desks.list.v[desk];

	for (uint32_t i = 0; i < l->conversation.talks.n; i++) {
		const struct talk *t = l->conversation.talks.v[i];

		for (uint32_t k = 0, x = 0; t->desk == desk && k < t->placed.n; k++)
			x = rebind_letter(d, &t->placed.v[k], x);
	}
}

/* ---- the cache ---- */

uint64_t conversation_sum(const struct load *l)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < l->conversation.talks.n; i++) {
		const struct talk *t = l->conversation.talks.v[i];

		sum = hash_mix(sum, t->lines.n);
		for (uint32_t k = 0; k < t->lines.n; k++) {
			sum = hash_mix(sum, str_hash(t->lines.v[k].bytes));
			sum = hash_mix(sum, t->lines.v[k].offset ^ t->lines.v[k].letter);
		}
		for (uint32_t k = 0; k < t->queue.n; k++)
			sum = hash_mix(sum ^ t->queue.v[k].seen,
				       t->queue.v[k].offset ^ t->queue.v[k].file);
	}
	return sum;
}

bool conversation_can_be_kept(const struct load *l)
{
	for (uint32_t i = 0; i < l->conversation.talks.n; i++)
		if (l->conversation.talks.v[i]->spool != NONE || l->conversation.talks.v[i]->pending ||
		    l->conversation.talks.v[i]->loose)
			return false;
	return true;
}

static uint64_t place_key(uint32_t file, uint64_t offset)
{
	return hash_mix(file, offset);
}

/* The line of a message of the model. */
static struct reply_line *line_of(const struct talk *t, const struct line_index *places,
				  const struct model *m, uint32_t message)
{
	uint32_t file = message_route(m, message)->source;
	uint64_t offset = message_offset(m, message);
	uint32_t node = line_index_first(places, place_key(file, offset));

	for (; node != NONE; node = places->nodes.v[node].next) {
		struct reply_line *line = &t->lines.v[places->nodes.v[node].line];

		if (line->file == file && line->offset == offset)
			return line;
	}
	return NULL;
}

static void restore_talk(struct load *l, struct talk *t)
{
	const struct model *m = &l->model;
	struct desk *d = talk_desk(l, t);
	struct line_index places = { 0 };

	for (uint32_t i = 0; i < t->lines.n; i++)
		line_index_add(&places, place_key(t->lines.v[i].file, t->lines.v[i].offset), i);
	for (uint32_t i = 0; i < m->replies.n; i++) {
		struct reply_line *line = line_of(t, &places, m, m->replies.v[i].message);

		if (line) {
			line->placed = true;
			line->message = m->replies.v[i].message;
		}
		if (line && line->letter != NONE)
			talk_note_placed(t, &d->letters.v[line->letter], m->replies.v[i].message);
	}
	line_index_release(&places);
	t->began = true;
	t->next = t->queue.n;
	t->pending = 0;
	t->seen = model_group_seen(m, model_known(m, t->group), m->records.n);
}

void conversation_restore(struct load *l)
{
	struct conversation *c = &l->conversation;
	const struct model *m = &l->model;

	for (uint32_t i = 0; i < c->talks.n; i++)
		restore_talk(l, c->talks.v[i]);
	while (c->passed.n < l->wire.files.n)
		vec_push(&c->passed, 0);
	/* the last message of each log, from the end: there are few logs */
	for (uint32_t i = m->records.n, left = l->order_n; i-- > 0 && left;) {
		uint32_t file = message_route(m, i)->source;
		struct talk *t = conversation_of(l, file);

		if (l->wire.files.v[file].joined || c->passed.v[file])
			continue;
		c->passed.v[file] = message_offset(m, i) + m->records.v[i].length;
		if (t && t->last_file == NONE)
			t->last_file = file;
		left--;
	}
}

void conversation_release(struct conversation *c)
{
	for (uint32_t i = 0; i < c->talks.n; i++)
		talk_free(c->talks.v[i]);
	vec_release(&c->talks);
	vec_release(&c->by_file);
	vec_release(&c->passed);
	vec_release(&c->keys.list);
	decoder_release(&c->decoder);
	message_release(&c->message);
	buf_release(&c->bytes);
	arena_release(&c->arena);
}
