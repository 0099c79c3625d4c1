/* One turn of a review after the other: beginning, looking, ending; what the last run left
 * behind. */
#include "agents/review.h"

#include "json/compose.h"
#include "loop/loop.h"

#include <stdio.h>

enum { COMPLAINT_BYTES = 4096 };

struct desk *review_desk(struct reviewing *r)
{
	return &r->watch.load.desks.list.v[0];
}

/* ---- letters ---- */

static struct str line_of(const struct letter *l)
{
	return str_trim(l->bytes);
}

static uint32_t letter_to(struct reviewing *r, const char *path)
{
	const struct desk *d = review_desk(r);

	for (uint32_t i = d->letters.n; i-- > 0;)
		if (d->letters.v[i].channel == CHANNEL_CHILD && str_is(d->letters.v[i].path, path))
			return i;
	return NONE;
}

static bool is_held(const struct letter *l)
{
	switch (l->state) {
	case LETTER_INTENT:
	case LETTER_ATTEMPT:
	case LETTER_HELD: return l->channel == CHANNEL_CHILD;
	case LETTER_SENT:
	case LETTER_ACKED:
	case LETTER_VOID: break;
	}
	return false;
}

uint32_t review_held(struct reviewing *r)
{
	const struct desk *d = review_desk(r);

	for (uint32_t i = 0; i < d->letters.n && r->turn.state != TURN_RUNS; i++)
		if (is_held(&d->letters.v[i]))
			return i;
	return NONE;
}

static int64_t iteration_in(struct str message)
{
	struct json_reader reader = { 0 };
	yyjson_val *root = NULL;
	int64_t n = 0;

	json_read(&reader, message, &root);
	if (!json_int(json_get(root, "iteration"), &n))
		json_int(json_get(json_get(root, "context"), "iteration"), &n);
	json_reader_release(&reader);
	return n;
}

/* ---- beginning ---- */

static int begin(struct reviewing *r, uint32_t letter, struct err *err)
{
	const struct letter *l = &review_desk(r)->letters.v[letter];
	int64_t now_ms = loop_now_ms();
	const char **words;

	arena_reset(&r->words);
	words = turn_command(&r->words, r->command, str_of(r->turn.session));
	review_file_look(&r->artifact);
	if (child_turn(r->child, words, l->bytes, now_ms, err) < 0)
		return -1;
	r->letter = letter;
	r->stopped = r->warned = false;
	turn_begin(&r->turn, l->dialect, iteration_in(line_of(l)), r->watch.load.model.records.n,
		   now_ms);
	review_file_sent(&r->artifact, line_of(l), r->turn.iteration);
	review_tell(r, now_ms);
	return 0;
}

struct child_input *review_input(void *ctx, const char *path, struct err *err)
{
	struct reviewing *r = ctx;
	struct buf next = { 0 };
	uint32_t letter = letter_to(r, path);
	bool mine;

	child_next_path(r->child, &next);
	mine = str_is(buf_str(&next), path);
	buf_release(&next);
	/* only a letter that is recorded begins a turn */
	if (mine && letter != NONE && is_held(&review_desk(r)->letters.v[letter]) &&
	    agent_set_is_over(&r->agents, r->agent) && begin(r, letter, err) < 0)
		return NULL;
	return children_input(r->agents.children, path, err);
}

/* ---- the log ---- */

void review_read(struct reviewing *r)
{
	do
		agent_set_take(&r->agents, loop_now_ms(), NULL, NULL);
	while (agent_set_wait_ms(&r->agents, loop_now_ms()) == 0);
}

static bool is_asking(const struct model *m, const struct record *record)
{
	struct str kind = model_kind(m, record);
	unsigned dialect = route_of(m, record)->dialect;

	return (dialect == DIALECT_FEEDBACK && str_is(kind, "request")) ||
	       (dialect == DIALECT_ENVELOPE && str_is(kind, "input"));
}

/* The newest message of the log that asks, or NONE. */
static uint32_t last_asked(const struct reviewing *r)
{
	const struct model *m = &r->watch.load.model;

	for (uint32_t i = m->records.n; i-- > 0;)
		if (message_route(m, i)->source == r->file && is_asking(m, &m->records.v[i]))
			return i;
	return NONE;
}

uint32_t review_session(const struct reviewing *r)
{
	const struct model *m = &r->watch.load.model;

	for (uint32_t i = m->records.n; i-- > 0;)
		if (message_route(m, i)->source == r->file &&
		    message_route(m, i)->dialect == DIALECT_FEEDBACK &&
		    str_is(model_kind(m, &m->records.v[i]), "response"))
			return message_route(m, i)->session;
	return NONE;
}

uint32_t review_failure(const struct reviewing *r)
{
	const struct model *m = &r->watch.load.model;
	struct item_state at;

	for (uint32_t i = m->items.n; i-- > 0;)
		if ((m->items.v[i].kind == ITEM_ERROR || m->items.v[i].kind == ITEM_RETRY) &&
		    item_at(m, &m->items.v[i], m->records.n, TIME_NONE, &at) && at.open)
			return i;
	return NONE;
}

/* ---- its end ---- */

/* Without what colours terminals. */
static void strip_colours(struct str text, struct buf *out)
{
	for (size_t i = 0; i < text.n; i++) {
		if (text.p[i] == '\033' && i + 1 < text.n && text.p[i + 1] == '[') {
			i += 2;
			while (i < text.n && (unsigned char)text.p[i] < 0x40)
				i++;
		} else if (text.p[i] != '\r') {
			buf_addc(out, text.p[i]);
		}
	}
}

/* What it complained of last on standard error: the last line with an error in it, else the
 * last. */
static void last_words(const struct child *c, struct buf *out)
{
	uint64_t from = c->err.began, end = c->err.source.end;
	struct buf bytes = { 0 }, plain = { 0 };
	struct str rest, best = STR_NONE;
	struct err err;

	if (end - from > COMPLAINT_BYTES)
		from = end - COMPLAINT_BYTES;
	buf_reserve(&bytes, (size_t)(end - from) + 1);
	if (end > from && source_fetch(&c->err.source, from, (size_t)(end - from), bytes.p, &err) == 0)
		bytes.n = (size_t)(end - from);
	strip_colours(buf_str(&bytes), &plain);
	for (rest = buf_str(&plain); rest.n;) {
		ptrdiff_t newline = str_find(rest, STR("\n"), 0);
		struct str line = newline < 0 ? rest : str_make(rest.p, (size_t)newline);

		rest = newline < 0 ? STR_NONE : str_from(rest, (size_t)newline + 1);
		line = str_trim(line);
		if (line.n && (!best.n || str_contains_nocase(line, STR("error")) ||
			       !str_contains_nocase(best, STR("error"))))
			best = line;
	}
	buf_add_str(out, best);
	buf_release(&bytes);
	buf_release(&plain);
}

/* Writes the failure down, where it becomes an item. */
static void note(struct reviewing *r)
{
	struct buf line = { 0 };
	struct err err;

	turn_note(&r->turn, timestamp_now_ms(), &line);
	if (child_capture_append(r->child, buf_str(&line), &err) < 0)
		app_say(&r->watch.app, ROLE_ERROR, "%s", err.text);
	buf_release(&line);
}

static void conclude(struct reviewing *r)
{
	const struct load *l = &r->watch.load;
	struct err err;

	if (r->letter != NONE &&
	    desk_conclude(review_desk(r), r->letter, !turn_has_failed(&r->turn), &err) < 0)
		app_say(&r->watch.app, ROLE_ERROR, "%s", err.text);
	if (turn_has_failed(&r->turn))
		note(r);
	review_read(r);
	load_settle(&r->watch.load);
	/* what is told of it must be there to look at */
	if (r->watch.app.live != LIVE_PAUSED)
		app_arrived(&r->watch.app, l->wire.bytes_done, l->wire.bytes_total, false);
	app_decided(&r->watch.app);
}

static void finish(struct reviewing *r, int64_t now_ms)
{
	struct buf words = { 0 }, complaint = { 0 };
	struct turn_exit e = { .well = !r->child->by_signal && r->child->number == 0,
			       .stopped = r->stopped };

	child_status_text(r->child, &words);
	last_words(r->child, &complaint);
	e.words = buf_str(&words);
	e.complaint = buf_str(&complaint);
	e.unread = r->letter != NONE && is_held(&review_desk(r)->letters.v[r->letter]);
	turn_end(&r->turn, &e, now_ms);
	conclude(r);
	buf_release(&words);
	buf_release(&complaint);
}

/* Once it has read all: many begin only at the end of their input. */
static void end_input(struct reviewing *r)
{
	struct desk *d = review_desk(r);
	struct err err;

	if (r->child->life != CHILD_RUNS || r->child->input.fd < 0 || r->letter == NONE)
		return;
	/* held, because that took long; the second try finds that it is there, and sends nothing */
	if (is_held(&d->letters.v[r->letter]) && !r->child->input.unread)
		desk_resend(d, r->letter, &err);
	if (!is_held(&d->letters.v[r->letter]))
		child_end_input(r->child);
}

void review_look(struct reviewing *r, int64_t now_ms)
{
	struct load *l = &r->watch.load;

	if (r->turn.state != TURN_RUNS)
		return;
	turn_look(&r->turn, &l->model, &l->reader, r->file, now_ms);
	end_input(r);
	if (agent_set_is_over(&r->agents, r->agent))
		finish(r, now_ms);
}

/* ---- after the last run ---- */

/* The letter that a line of the log was, if the desk does not know how it ended. */
static uint32_t letter_of_line(struct reviewing *r, struct str line)
{
	const struct desk *d = review_desk(r);

	for (uint32_t i = d->letters.n; i-- > 0;)
		if (is_held(&d->letters.v[i]) && str_eq(line_of(&d->letters.v[i]), str_trim(line)))
			return i;
	return NONE;
}

void review_resume(struct reviewing *r)
{
	struct load *l = &r->watch.load;
	uint32_t asked = last_asked(r);
	struct turn_exit well = { .well = true };
	struct str line;

	r->letter = NONE;
	if (asked == NONE) {
		r->begin = !review_desk(r)->letters.n;
		return;
	}
	/* all of it tells the session, what came after the last question how that went */
	turn_begin(&r->turn, r->envelope ? DIALECT_ENVELOPE : DIALECT_FEEDBACK, 0, 0, 0);
	turn_look(&r->turn, &l->model, &l->reader, r->file, 0);
	line = l->reader.bytes(l->reader.ctx, asked);
	turn_begin(&r->turn, message_route(&l->model, asked)->dialect, iteration_in(line), asked, 0);
	review_file_look(&r->artifact);
	review_file_sent(&r->artifact, line, r->turn.iteration);
	r->letter = letter_of_line(r, line);
	turn_look(&r->turn, &l->model, &l->reader, r->file, 0);
	turn_end(&r->turn, &well, 0);
	if (!turn_has_failed(&r->turn)) {
		if (r->letter != NONE)
			conclude(r);
		return;
	}
	r->turn.state = TURN_LOST;
	if (review_desk(r)->access == DESK_WRITES)
		conclude(r);
}
