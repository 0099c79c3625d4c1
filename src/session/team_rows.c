/* Items of a team's store: a row says how one is now, and what is new in that becomes lines of the
 * capture and marks beside the item. So it does not matter whether a row comes because of an event, or
 * because all were read again. */
#include "session/team_internal.h"

#include <errno.h>
#include <unistd.h>

/* In the order of TEAM_COLUMNS. */
enum column {
	ITEM_ID,
	ITEM_SOURCE,
	ITEM_KEY,
	ITEM_BODY,
	ITEM_NEED,
	ITEM_LEVEL,
	ITEM_OPENED,
	ITEM_STATE,
	ITEM_HOLDER,
	ITEM_FENCE,
	ITEM_UNTIL,
	ITEM_VOTES,
	ITEM_VOTERS,
	ITEM_VERB,
	ITEM_DECIDERS,
	ITEM_DRAFT,
	ITEM_DECIDED,
	ITEM_OUTCOME,
	ITEM_NOTE,
	ITEM_SAID,
	ITEM_BUNDLE,
	ITEM_VOTED,
	ITEM_REV,
};

/* A row of an answer; columns of items begin at `first`. */
struct row {
	const struct store_rows *rows;
	uint32_t row;
	unsigned first;
};

static struct str text_of(const struct row *r, enum column c)
{
	return store_str(r->rows, r->row, r->first + c);
}

static int64_t number_of(const struct row *r, enum column c)
{
	return store_int(r->rows, r->row, r->first + c);
}

static int64_t time_of(const struct row *r, enum column c)
{
	return store_time_ms(r->rows, r->row, r->first + c);
}

static uint64_t id_hash(int64_t id)
{
	return hash_mix((uint64_t)id, 0);
}

struct team_item *team_item_by_id(struct team_inbox *t, int64_t id)
{
	for (uint32_t it = 0, i; map_next(&t->by_id, id_hash(id), &it, &i);)
		if (t->items.v[i]->id == id)
			return t->items.v[i];
	return NULL;
}

static uint64_t name_hash(const struct team_item *item)
{
	return hash_mix(str_hash(item->session), str_hash(item->task));
}

/* What is asked again, or has other words, is another item here and the same one in the model. */
static uint32_t number_of_name(const struct team_inbox *t, const struct team_item *item)
{
	for (uint32_t it = 0, i; map_next(&t->by_name, name_hash(item), &it, &i);)
		if (t->items.v[i]->number != NONE && str_eq(t->items.v[i]->task, item->task) &&
		    str_eq(t->items.v[i]->session, item->session))
			return t->items.v[i]->number;
	return NONE;
}

struct team_item *team_item_at(struct team_inbox *t, uint64_t offset)
{
	for (uint32_t it = 0, i; map_next(&t->by_offset, hash_mix(offset, 0), &it, &i);)
		if (t->items.v[i]->offset == offset)
			return t->items.v[i];
	return NULL;
}

struct team_item *team_item_of(struct team_inbox *t, uint32_t number)
{
	return number < t->by_number.n ? t->by_number.v[number] : NULL;
}

/* Its mark is the one that is shown beside the item of the model, if its words are the newest. */
static void number_item(struct team_inbox *t, struct team_item *item, uint32_t number)
{
	struct team_marks *marks = &t->load->teams.marks;
	const struct team_item *newest;

	item->number = number;
	if (number == NONE)
		return;
	while (t->by_number.n <= number)
		vec_push(&t->by_number, NULL);
	while (marks->by_item.n <= number)
		vec_push(&marks->by_item, NULL);
	newest = team_item_of(t, number);
	if (newest && newest->offset > item->offset)
		return;
	t->by_number.v[number] = item;
	marks->by_item.v[number] = &item->mark;
}

void team_bind(struct team_inbox *t, const struct team_item *item, uint32_t number)
{
	for (uint32_t it = 0, i; map_next(&t->by_name, name_hash(item), &it, &i);)
		if (str_eq(t->items.v[i]->task, item->task) &&
		    str_eq(t->items.v[i]->session, item->session))
			number_item(t, t->items.v[i], number);
}

static struct team_item *add_item(struct team_inbox *t, const struct row *r)
{
	struct team_item *item = arena_alloc(&t->arena, sizeof(*item));

	*item = (struct team_item){ .id = number_of(r, ITEM_ID), .place = t->items.n, .number = NONE };
	item->source = arena_str(&t->arena, text_of(r, ITEM_SOURCE));
	item->key = arena_str(&t->arena, text_of(r, ITEM_KEY));
	map_add(&t->by_id, id_hash(item->id), item->place);
	vec_push(&t->items, item);
	return item;
}

static void add_line(struct team_inbox *t, struct buf *line)
{
	t->end += line->n;
	buf_add_str(&t->out, buf_str(line));
	buf_release(line);
}

static void open_item(struct team_inbox *t, struct team_item *item, const struct row *r)
{
	struct buf line = { 0 };

	team_line_opened(t, item, text_of(r, ITEM_BODY), text_of(r, ITEM_REV),
			 time_of(r, ITEM_OPENED), &line);
	item->offset = t->end;
	map_add(&t->by_offset, hash_mix(item->offset, 0), item->place);
	add_line(t, &line);
	if (item->state == TEAM_NEW)
		map_add(&t->by_name, name_hash(item), item->place);
	number_item(t, item, number_of_name(t, item));
	item->state = TEAM_OPEN;
}

static void decide_item(struct team_inbox *t, struct team_item *item, const struct row *r)
{
	struct buf line = { 0 };

	team_line_decided(t, item, text_of(r, ITEM_VERB), text_of(r, ITEM_DECIDERS),
			  text_of(r, ITEM_DRAFT), time_of(r, ITEM_DECIDED), &line);
	add_line(t, &line);
	item->state = TEAM_DECIDED;
}

static void withdraw_item(struct team_inbox *t, struct team_item *item)
{
	struct buf line = { 0 };

	team_line_decided(t, item, STR("withdrawn"), item->from, STR_NONE, TIME_NONE, &line);
	add_line(t, &line);
	item->state = TEAM_WITHDRAWN;
}

/* Kept only if it is another text: most rows say what is known. */
static void keep(struct team_inbox *t, struct str *kept, struct str now)
{
	if (!str_eq(*kept, now))
		*kept = arena_str(&t->arena, now);
}

/* Somebody has to settle it, or to decide anew. */
static void tell_outcome(struct team_inbox *t, const struct team_item *item, struct str outcome,
			 struct str note)
{
	if (!t->begun || str_eq(item->mark.outcome, outcome))
		return;
	if (str_is(outcome, "held"))
		team_say(t, "%.*s holds the decision on %.*s: %.*s; :team resend or :team give-up",
			 STR_ARG(item->source), STR_ARG(item->task), STR_ARG(note));
	else if (str_is(outcome, "refused"))
		team_say(t, "%.*s could not say the decision on %.*s: %.*s", STR_ARG(item->source),
			 STR_ARG(item->task), STR_ARG(note));
}

static void take_mark(struct team_inbox *t, struct team_item *item, const struct row *r)
{
	struct team_mark *m = &item->mark;
	struct store_status status;
	int64_t until = time_of(r, ITEM_UNTIL);

	store_status(t->store, &status);
	m->id = item->id;
	m->source = item->source;
	keep(t, &m->holder, text_of(r, ITEM_HOLDER));
	keep(t, &m->voters, text_of(r, ITEM_VOTERS));
	tell_outcome(t, item, text_of(r, ITEM_OUTCOME), text_of(r, ITEM_NOTE));
	t->acked |= str_is(text_of(r, ITEM_OUTCOME), "acked");
	keep(t, &m->outcome, text_of(r, ITEM_OUTCOME));
	keep(t, &m->note, text_of(r, ITEM_NOTE));
	keep(t, &m->said, text_of(r, ITEM_SAID));
	m->mine = m->holder.n && str_is(m->holder, status.login);
	m->until_ms = until == TIME_NONE ? TIME_NONE : until - status.clock_ms;
	m->voted = number_of(r, ITEM_VOTED);
	m->votes = (uint32_t)number_of(r, ITEM_VOTES);
	m->need = (uint32_t)number_of(r, ITEM_NEED);
	m->level = number_of(r, ITEM_LEVEL);
	item->fence = (uint64_t)number_of(r, ITEM_FENCE);
	item->bundled = text_of(r, ITEM_BUNDLE).n > 0;
}

void team_take_row(struct team_inbox *t, const struct store_rows *rows, uint32_t row, unsigned column)
{
	const struct row r = { rows, row, column };
	struct team_item *item = team_item_by_id(t, number_of(&r, ITEM_ID));
	struct str state = text_of(&r, ITEM_STATE);

	if (!item && str_is(state, "withdrawn"))
		return;
	if (!item)
		item = add_item(t, &r);
	item->listed = true;
	if (item->state == TEAM_NEW || (item->state == TEAM_WITHDRAWN && !str_is(state, "withdrawn")))
		open_item(t, item, &r);
	if (item->state == TEAM_OPEN && str_is(state, "decided"))
		decide_item(t, item, &r);
	else if (item->state == TEAM_OPEN && str_is(state, "withdrawn"))
		withdraw_item(t, item);
	take_mark(t, item, &r);
}

void team_take_missing(struct team_inbox *t)
{
	for (uint32_t i = 0; i < t->items.n; i++) {
		if (!t->items.v[i]->listed && t->items.v[i]->state == TEAM_OPEN)
			withdraw_item(t, t->items.v[i]);
		t->items.v[i]->listed = false;
	}
}

/* What a full disk does not take now is written later. */
void team_flush(struct team_inbox *t)
{
	ssize_t put;

	if (!t->out.n)
		return;
	do
		put = write(t->fd, t->out.p, t->out.n);
	while (put < 0 && errno == EINTR);
	if (put > 0) {
		memmove(t->out.p, t->out.p + put, t->out.n - (size_t)put);
		t->out.n -= (size_t)put;
	} else if (put < 0) {
		team_note_trouble(t, str_of(strerror(errno)));
	}
}
