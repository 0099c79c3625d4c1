/* Polls the replies file of the escalation queue, matches replies with questions of running agents,
 * and proposes them for delivery. */
#include "agents/queue_replies.h"

#include "base/io.h"
#include "decide/output_queue.h"
#include "view/view_parts.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { POLL_EVERY_MS = 1000, BLOCK_BYTES = 64 << 10, SUBJECT_COLS = 40 };

void queue_replies_open(struct queue_replies *r, struct agent_set *agents, struct app *app,
			const char *queue, struct trusted reviewers)
{
	struct buf path = { 0 };

	r->agents = agents;
	r->app = app;
	r->reviewers = reviewers;
	r->fd = -1;
	framer_init(&r->framer, wire_max_bytes(&agents->load->wire), 0);
	if (!queue)
		return;
	buf_printf(&path, "%s.replies.ndjson", queue);
	r->path = path.p;
}

void queue_replies_close(struct queue_replies *r)
{
	if (r->path)
		fd_close(&r->fd);
	for (uint32_t i = 0; i < r->list.n; i++) {
		buf_release(&r->list.v[i].line);
		buf_release(&r->list.v[i].by);
		buf_release(&r->list.v[i].said);
	}
	vec_release(&r->returned);
	vec_release(&r->list);
	framer_release(&r->framer);
	decoder_release(&r->decoder);
	message_release(&r->message);
	free(r->path);
}

/* ---- matching ---- */

static struct str group_of(const struct queue_replies *r, uint32_t agent)
{
	const struct set_agent *a = r->agents->agents.v[agent];

	return r->agents->load->wire.files.v[a->streams[AGENT_OUT].load.file].group;
}

static bool is_output_of(const struct queue_replies *r, uint32_t agent, uint32_t message)
{
	uint32_t file = message_route(&r->agents->load->model, message)->source;
	enum agent_pipe stream;

	return agent_set_of_file(r->agents, file, &stream) == agent && stream == AGENT_OUT;
}

/* The agent's message with the id that the reply names; else its last message. */
static uint32_t find_question(const struct queue_replies *r, uint32_t agent)
{
	const struct model *m = &r->agents->load->model;
	struct str group = group_of(r, agent);
	struct str id = r->message.reply_to.n ? r->message.reply_to : r->message.correlation;

	for (uint32_t i = 0; i < m->sessions.n && id.n; i++) {
		uint32_t found = str_eq(model_str(m, m->sessions.v[i].group), group)
					 ? message_with_id(m, i, id)
					 : NONE;

		if (found != NONE && is_output_of(r, agent, found))
			return found;
	}
	for (uint32_t i = m->records.n; i-- > 0;)
		if (is_output_of(r, agent, i))
			return i;
	return NONE;
}

static struct desk *desk_of(const struct queue_replies *r, uint32_t agent)
{
	return desks_find(&r->agents->load->desks, group_of(r, agent));
}

static bool has_words(const struct queue_replies *r, uint32_t item, struct str rev)
{
	const struct load *l = r->agents->load;
	struct item_state at;
	struct buf now = { 0 };
	bool same;

	if (!item_at(&l->model, &l->model.items.v[item], l->model.records.n, TIME_NONE, &at))
		return false;
	item_rev(&l->reader, &l->model.items.v[item], &at, &now);
	same = str_eq(buf_str(&now), rev);
	buf_release(&now);
	return same;
}

/* Whether the item, as it is worded now, was passed on from here. */
static bool was_escalated(const struct queue_replies *r, uint32_t agent, uint32_t item)
{
	const struct desk *d = desk_of(r, agent);

	for (uint32_t i = d && item != NONE ? d->drafts.n : 0; i-- > 0;) {
		const struct draft *draft = &d->drafts.v[i];

		if (draft->number == item && draft->verb == VERB_ESCALATE &&
		    draft->state == DRAFT_WRITTEN && has_words(r, item, draft->rev))
			return true;
	}
	return false;
}

static bool is_raised_by(const struct model *m, uint32_t item, uint32_t message)
{
	return m->items.v[item].n && m->items.v[item].steps[0].message == message;
}

/* The item of the question that a decision names, or NONE. */
static uint32_t find_named(const struct queue_replies *r, uint32_t message, struct str id)
{
	const struct model *m = &r->agents->load->model;
	struct buf name = { 0 };
	uint32_t found = NONE;

	if (r->message.dialect == DIALECT_COLLABORATION)
		return item_replied_to(m, message, id);
	for (uint32_t i = m->items.n; i-- > 0 && found == NONE;) {
		buf_clear(&name);
		if (!is_raised_by(m, i, message))
			continue;
		item_name(m, &m->items.v[i], &name);
		found = str_eq(buf_str(&name), id) ? i : NONE;
	}
	buf_release(&name);
	return found;
}

/* Whether all items that the reply names were escalated, or, where it names none, one that the
 * question raised. reply->item: the item it decides if that is only one. */
static bool find_items(const struct queue_replies *r, struct queue_reply *reply)
{
	const struct model *m = &r->agents->load->model;
	uint32_t n = 0, last = NONE, escalated = 0;
	bool names = r->message.dialect == DIALECT_COLLABORATION ||
		     r->message.dialect == DIALECT_FEEDBACK;

	for (uint32_t i = 0; names && i < r->message.events.n; i++) {
		const struct event *e = &r->message.events.v[i];

		if (e->type != EV_DECIDE || e->item == ITEM_QUESTION)
			continue;
		n++;
		last = find_named(r, reply->message, e->id);
		escalated += was_escalated(r, reply->agent, last);
	}
	reply->item = n == 1 ? last : NONE;
	if (n)
		return escalated == n;
	for (uint32_t i = m->items.n; i-- > 0;)
		if (is_raised_by(m, i, reply->message)) {
			n++;
			last = i;
			escalated += was_escalated(r, reply->agent, i);
		}
	reply->item = n == 1 ? last : NONE;
	return escalated > 0;
}

static void report_ignored(struct queue_replies *r, uint32_t agent)
{
	struct buf line = { 0 };

	r->ignored++;
	buf_printf(&line, "%s: an answer for %s to something that was not escalated is ignored",
		   r->path, r->agents->agents.v[agent]->child->name);
	load_say(r->agents->load, buf_str(&line));
	buf_release(&line);
}

/* Who gave the answer and what it is, by its own words; the file is one that is believed. */
static void note_words(struct queue_replies *r, struct queue_reply *reply, struct str line)
{
	const struct model *m = &r->agents->load->model;
	struct frame_info info = { .full_length = line.n, .reply = true,
				   .direction = DIRECTION_OUT };
	struct json_reader json = { 0 };
	yyjson_val *root = NULL;

	dialect_decode(&r->decoder, line, &info, &r->message);
	if (r->message.from.human)
		buf_add_str(&reply->by, r->message.from.id);
	else if (r->message.events.n && r->message.events.v[0].type == EV_RESPONSE)
		buf_add_str(&reply->by, r->message.events.v[0].agent.id);
	if (reply->item != NONE && json_read(&json, line, &root) == JSON_OK)
		buf_add_str(&reply->said,
			    dialect_decision_reason(reply->dialect, root,
						    model_str(m, m->items.v[reply->item].id)));
	json_reader_release(&json);
}

static void on_line(void *ctx, const struct frame *frame)
{
	struct queue_replies *r = ctx;
	struct queue_reply reply = { 0 };
	struct str group;

	if (frame->flags)
		return;
	dialect_decode(&r->decoder, frame->bytes, NULL, &r->message);
	if (r->message.flags & RECORD_AMBIGUOUS) /* it decides nothing */
		return;
	group = model_group_of(&r->agents->load->model, &r->message);
	if (!group.n)
		return;
	reply.agent = agent_set_named(r->agents, group);
	reply.message = reply.agent == NONE ? NONE : find_question(r, reply.agent);
	if (reply.message == NONE)
		return;
	if (!find_items(r, &reply)) {
		report_ignored(r, reply.agent);
		return;
	}
	reply.dialect = r->message.dialect;
	note_words(r, &reply, frame->bytes);
	buf_add_str(&reply.line, frame->bytes);
	buf_addc(&reply.line, '\n');
	vec_push(&r->list, reply);
}

/* ---- polling ---- */

static void start_framer(struct queue_replies *r)
{
	framer_release(&r->framer);
	framer_init(&r->framer, wire_max_bytes(&r->agents->load->wire), 0);
	r->at = 0;
}

/* NULL: the file is open, or does not exist, as it is created with the first reply. Otherwise why
 * it is not read; who can write to it may change at any time. */
static const char *open_file(struct queue_replies *r)
{
	struct stat st;
	const char *why;

	if (r->fd < 0)
		r->fd = open(r->path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (r->fd < 0 && errno == ENOENT)
		return NULL;
	if ((r->fd < 0 ? lstat(r->path, &st) : fstat(r->fd, &st)) < 0)
		return "cannot be examined; check its folder";
	why = file_distrust(&st, &r->reviewers);
	if (r->fd < 0)
		return why ? why : "cannot be opened; check who may read it";
	if (!why && (st.st_dev != r->dev || st.st_ino != r->ino)) {
		r->dev = st.st_dev;
		r->ino = st.st_ino;
		start_framer(r);
	}
	if (why)
		fd_close(&r->fd);
	return why;
}

/* Once for each reason. */
static void report_refusal(struct queue_replies *r, const char *why)
{
	struct buf line = { 0 };

	if (why && why != r->refused) {
		buf_printf(&line, "answers from the queue are not read: the file %s: %s", why,
			   r->path);
		load_say(r->agents->load, buf_str(&line));
		buf_release(&line);
	}
	r->refused = why;
}

static void read_file(struct queue_replies *r)
{
	char block[BLOCK_BYTES];
	ssize_t n;

	report_refusal(r, open_file(r));
	while (r->fd >= 0 && (n = pread(r->fd, block, sizeof(block), (off_t)r->at)) > 0) {
		r->at += (uint64_t)n;
		framer_feed(&r->framer, str_make(block, (size_t)n), on_line, r);
	}
}

/* Delivered, or in delivery. */
static bool is_done(const struct queue_replies *r, const struct queue_reply *reply)
{
	const struct desk *d = desk_of(r, reply->agent);

	for (uint32_t i = d ? d->letters.n : 0; i-- > 0;)
		if (str_eq(d->letters.v[i].bytes, buf_str(&reply->line)) &&
		    d->letters.v[i].state != LETTER_VOID)
			return true;
	return false;
}

/* Its item was decided or has expired. */
static bool is_late(const struct queue_replies *r, const struct queue_reply *reply)
{
	const struct model *m = &r->agents->load->model;
	struct item_state at;

	return reply->item != NONE &&
	       item_at(m, &m->items.v[reply->item], m->records.n, scene_clock(&r->app->scene), &at) &&
	       (at.decided != NONE || at.verdict == VERDICT_EXPIRED);
}

static bool is_waiting(const struct queue_replies *r, const struct queue_reply *reply)
{
	return !is_done(r, reply) && !is_late(r, reply) &&
	       (reply->item == NONE || was_escalated(r, reply->agent, reply->item));
}

void queue_replies_poll(struct queue_replies *r, int64_t now_ms)
{
	uint32_t before = r->list.n, waiting = 0;

	if (!r->path || now_ms - r->looked_ms < POLL_EVERY_MS)
		return;
	r->looked_ms = now_ms;
	read_file(r);
	r->returned.n = 0;
	for (uint32_t i = 0; i < r->list.n; i++)
		if (is_waiting(r, &r->list.v[i]))
			vec_push(&r->returned, r->list.v[i].item);
	waiting = r->returned.n;
	r->app->scene.returned = r->returned.v;
	r->app->scene.returned_n = waiting;
	if (waiting != r->waiting)
		r->app->stale[TAB_INBOX] = true;
	if (r->list.n > before && waiting > r->waiting)
		app_say(r->app, ROLE_ACCENT,
			"an answer came back for %s; {deliver} reviews and sends it",
			r->agents->agents.v[vec_last(&r->list)->agent]->child->name);
	r->waiting = waiting;
}

void queue_replies_banner(const struct queue_replies *r, struct buf *out)
{
	if (r->refused)
		buf_printf(out, "answers from the queue are not read: the file %s: %s", r->refused,
			   r->path);
	else if (r->waiting)
		keymap_printf(&r->app->keymap, out,
			      "%u answer%s came back from the queue; {deliver} reviews %s",
			      r->waiting, plural_s(r->waiting),
			      r->waiting == 1 ? "it" : "them");
	else if (r->ignored)
		buf_printf(out, "%u answer%s to what was not escalated: ignored; see %s",
			   r->ignored, plural_s(r->ignored), r->path);
}

/* "Which one?": Beta, says bob */
static struct str words_of(const struct queue_replies *r, const struct queue_reply *reply,
			   struct arena *arena)
{
	const struct scene *s = &r->app->scene;
	const struct model *m = s->model;
	const struct item *item = reply->item == NONE ? NULL : &m->items.v[reply->item];
	struct buf text = { 0 }, said = { 0 };
	struct item_state at;
	struct str words;

	if (!item || !item_at(m, item, m->records.n, TIME_NONE, &at))
		return STR_NONE;
	buf_addc(&text, '"');
	add_item_words(s, item, &at, SUBJECT_COLS, &text);
	buf_addc(&text, '"');
	buf_add_str(&said, buf_str(&reply->said));
	answer_label(s, reply->item, &said);
	if (said.n)
		buf_printf(&text, ": %.*s", STR_ARG(buf_str(&said)));
	if (reply->by.n)
		buf_printf(&text, ", says %.*s", STR_ARG(buf_str(&reply->by)));
	words = arena_str(arena, buf_str(&text));
	buf_release(&text);
	buf_release(&said);
	return words;
}

void queue_replies_plan(void *queue_replies, struct plan *plan)
{
	struct queue_replies *r = queue_replies;

	for (uint32_t i = 0; i < r->list.n; i++) {
		const struct queue_reply *reply = &r->list.v[i];
		struct proposal p = { .desk = desk_of(r, reply->agent), .group = NONE - 1 - i };
		struct buf path = { 0 };
		struct err err;

		if (!p.desk || p.desk->access != DESK_WRITES || !is_waiting(r, reply))
			continue;
		p.desk->agent->path(p.desk->agent->ctx, reply->message, &path);
		p.letter.dialect = reply->dialect;
		p.letter.channel = CHANNEL_AGENT;
		p.letter.path = arena_str(&plan->arena, buf_str(&path));
		p.letter.bytes = arena_str(&plan->arena, buf_str(&reply->line));
		p.words = words_of(r, reply, &plan->arena);
		p.letter.to = str_of(r->agents->agents.v[reply->agent]->child->name);
		vec_push(&p.cautions,
			 STR("decided by someone else; it came back from the queue"));
		if (!desk_reaches(p.desk, p.letter.path.p, &err))
			vec_push(&p.missing, arena_str(&plan->arena, str_of(err.text)));
		vec_push(&plan->list, p);
		buf_release(&path);
	}
}
