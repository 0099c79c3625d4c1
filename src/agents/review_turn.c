/* The turns of a review: starting the process, following it, concluding its letter, and recovery of
 * a turn that the last run left. */
#include "agents/review.h"

#include "decide/output_queue.h"
#include "json/compose.h"
#include "loop/loop.h"

enum { COMPLAINT_BYTES = 4096, LOOK_EVERY_MS = 500 };

struct desk *review_desk(struct reviewing *r)
{
	return &r->watch.load.desks.list.v[0];
}

/* ---- letters ---- */

static uint32_t letter_to(struct reviewing *r, const char *path)
{
	const struct desk *d = review_desk(r);

	for (uint32_t i = d->letters.n; i-- > 0;)
		if (d->letters.v[i].channel == CHANNEL_AGENT && str_is(d->letters.v[i].path, path))
			return i;
	return NONE;
}

static bool is_held(const struct letter *l)
{
	return l->channel == CHANNEL_AGENT &&
	       (l->state == LETTER_INTENT || l->state == LETTER_ATTEMPT || l->state == LETTER_HELD);
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

/* ---- start ---- */

static int begin(struct reviewing *r, uint32_t letter, struct err *err)
{
	const struct letter *l = &review_desk(r)->letters.v[letter];
	int64_t now_ms = loop_now_ms();
	const char **words;

	arena_reset(&r->words);
	words = turn_command(&r->words, r->command, str_of(r->turn.session));
	review_file_reload(&r->artifact);
	if (child_turn(r->child, words, err) < 0)
		return -1;
	r->letter = letter;
	r->stopped = r->warned = false;
	turn_begin(&r->turn, l->dialect, iteration_in(str_trim(l->bytes)),
		   r->watch.load.model.records.n, now_ms);
	review_file_sent(&r->artifact, str_trim(l->bytes), r->turn.iteration);
	review_show(r, now_ms);
	return 0;
}

int review_start_turn(void *ctx, const char *path, struct err *err)
{
	struct reviewing *r = ctx;
	struct buf next = { 0 };
	uint32_t letter = letter_to(r, path);
	bool mine;

	child_next_path(r->child, &next);
	mine = str_is(buf_str(&next), path);
	buf_release(&next);
	/* only a letter that is recorded begins a turn */
	if (!mine || letter == NONE || !is_held(&review_desk(r)->letters.v[letter]) ||
	    !agent_set_is_over(&r->agents, r->agent))
		return 0;
	return begin(r, letter, err);
}

/* ---- the log ---- */

void review_read(struct reviewing *r)
{
	do
		agent_set_take(&r->agents, loop_now_ms(), NULL, NULL);
	while (agent_set_wait_ms(&r->agents, loop_now_ms()) == 0);
}

static bool is_request(const struct model *m, const struct record *record)
{
	struct str kind = model_kind(m, record);
	unsigned dialect = route_of(m, record)->dialect;

	return (dialect == DIALECT_FEEDBACK && str_is(kind, "request")) ||
	       (dialect == DIALECT_ENVELOPE && str_is(kind, "input"));
}

/* The newest request in the log, or NONE. */
static uint32_t last_request(const struct reviewing *r)
{
	const struct model *m = &r->watch.load.model;

	for (uint32_t i = m->records.n; i-- > 0;)
		if (message_route(m, i)->source == r->file && is_request(m, &m->records.v[i]))
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

/* ---- end ---- */

/* Removes CSI escape sequences and carriage returns. */
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

/* The last line of standard error that contains "error", else the last one. */
static void last_complaint(const struct child *c, struct buf *out)
{
	uint64_t from = c->err.began, end = c->err.source.end;
	struct buf bytes = { 0 }, plain = { 0 };
	struct str rest, best = STR_NONE;
	struct err err;

	if (end - from > COMPLAINT_BYTES)
		from = end - COMPLAINT_BYTES;
	buf_reserve(&bytes, (size_t)(end - from) + 1);
	if (end > from &&
	    source_fetch(&c->err.source, from, (size_t)(end - from), bytes.p, &err) == 0)
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

/* Records the failure in the log, where it becomes an item. */
static void log_failure(struct reviewing *r)
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
		log_failure(r);
	review_read(r);
	load_settle(&r->watch.load);
	/* the views must show what the status line reports */
	if (r->watch.app.live != LIVE_PAUSED)
		app_arrived(&r->watch.app, l->wire.bytes_done, l->wire.bytes_total, false);
	app_decided(&r->watch.app);
}

static void finish(struct reviewing *r, int64_t now_ms)
{
	struct buf words = { 0 }, complaint = { 0 };
	struct turn_exit e = { .well = !r->child->end.by_signal && r->child->end.number == 0,
			       .stopped = r->stopped };

	r->turn.cut = r->child->end.cut;
	child_status_text(r->child, &words);
	last_complaint(r->child, &complaint);
	e.words = buf_str(&words);
	e.complaint = buf_str(&complaint);
	if (r->letter != NONE)
		desk_hold_unread(review_desk(r), &r->child->end);
	e.unread = r->letter != NONE && is_held(&review_desk(r)->letters.v[r->letter]);
	turn_end(&r->turn, &e, now_ms);
	conclude(r);
	buf_release(&words);
	buf_release(&complaint);
}

/* Closes its input once it has the message: many programs start working only then. */
static void end_input(struct reviewing *r, int64_t now_ms)
{
	struct desk *d = review_desk(r);
	struct err err;

	if (r->child->life != CHILD_RUNS || r->child->input_ended || r->letter == NONE)
		return;
	/* held after a timeout, or by a gavel that was killed, but perhaps written since */
	if (is_held(&d->letters.v[r->letter]) && now_ms >= r->look_ms) {
		r->look_ms = now_ms + LOOK_EVERY_MS;
		if (desk_look_for(d, &d->letters.v[r->letter], &err) != FOUND_TROUBLE)
			desk_resend(d, r->letter, &err);
	}
	if (!is_held(&d->letters.v[r->letter]))
		child_end_input(r->child);
}

void review_tick(struct reviewing *r, int64_t now_ms)
{
	struct load *l = &r->watch.load;

	if (r->turn.state != TURN_RUNS)
		return;
	turn_look(&r->turn, &l->model, &l->reader, r->file, now_ms);
	end_input(r, now_ms);
	if (agent_set_is_over(&r->agents, r->agent))
		finish(r, now_ms);
}

/* ---- recovery ---- */

/* The unfinished letter with the bytes of a line of the log, or NONE. */
static uint32_t letter_of_line(struct reviewing *r, struct str line)
{
	const struct desk *d = review_desk(r);

	for (uint32_t i = d->letters.n; i-- > 0;)
		if (is_held(&d->letters.v[i]) &&
		    str_eq(str_trim(d->letters.v[i].bytes), str_trim(line)))
			return i;
	return NONE;
}

/* The last turn has survived the gavel that began it. One whose request never came, and is not on its
 * way either, is of no use. */
static void resume_running(struct reviewing *r, uint32_t asked)
{
	struct buf path = { 0 };

	child_path(r->child, &path);
	r->letter = letter_to(r, path.p);
	buf_release(&path);
	if ((asked == NONE || message_offset(&r->watch.load.model, asked) < r->child->out.began) &&
	    (r->letter == NONE || !is_held(&review_desk(r)->letters.v[r->letter]))) {
		r->stopped = true;
		child_stop(r->child, loop_now_ms(), 0);
	}
	r->turn.began_ms = r->turn.heard_ms = loop_now_ms();
}

void review_resume(struct reviewing *r)
{
	struct load *l = &r->watch.load;
	uint32_t asked = last_request(r);
	struct turn_exit well = { .well = true };
	struct str line;

	r->letter = NONE;
	if (asked == NONE && r->child->life == CHILD_RUNS) {
		turn_begin(&r->turn, r->envelope ? DIALECT_ENVELOPE : DIALECT_FEEDBACK, 1, 0, 0);
		resume_running(r, NONE);
		return;
	}
	if (asked == NONE) {
		r->begin = !review_desk(r)->letters.n;
		return;
	}
	/* the whole log gives the session, the part after the last request the state of its turn */
	turn_begin(&r->turn, r->envelope ? DIALECT_ENVELOPE : DIALECT_FEEDBACK, 0, 0, 0);
	turn_look(&r->turn, &l->model, &l->reader, r->file, 0);
	line = l->reader.bytes(l->reader.ctx, asked);
	turn_begin(&r->turn, message_route(&l->model, asked)->dialect, iteration_in(line), asked,
		   0);
	review_file_reload(&r->artifact);
	review_file_sent(&r->artifact, line, r->turn.iteration);
	if (r->child->life == CHILD_RUNS) {
		turn_look(&r->turn, &l->model, &l->reader, r->file, 0);
		resume_running(r, asked);
		return;
	}
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
