/* Polls the replies file of the escalation queue, matches replies with questions of running agents,
 * and proposes them for delivery. */
#include "agents/queue_replies.h"

#include "decide/output_queue.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { POLL_EVERY_MS = 1000, BLOCK_BYTES = 64 << 10 };

void queue_replies_open(struct queue_replies *r, struct agent_set *agents, struct app *app,
			const char *queue)
{
	struct buf path = { 0 };

	r->agents = agents;
	r->app = app;
	r->fd = -1;
	framer_init(&r->framer, wire_max_bytes(&agents->load->wire), 0);
	if (!queue)
		return;
	buf_printf(&path, "%s.replies.ndjson", queue);
	r->path = path.p;
}

void queue_replies_close(struct queue_replies *r)
{
	if (r->path && r->fd >= 0)
		close(r->fd);
	for (uint32_t i = 0; i < r->list.n; i++)
		buf_release(&r->list.v[i].line);
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

/* The item that the reply names; else the only one that the question raised. */
static uint32_t find_item(const struct queue_replies *r, uint32_t message)
{
	const struct model *m = &r->agents->load->model;
	uint32_t only = NONE, named = NONE, decisions = 0, raised = 0;
	bool names = r->message.dialect == DIALECT_COLLABORATION;

	for (uint32_t i = 0; names && i < r->message.events.n; i++) {
		const struct event *e = &r->message.events.v[i];

		if (e->type != EV_DECIDE || e->item == ITEM_QUESTION)
			continue;
		decisions++;
		named = item_replied_to(m, message, e->id);
	}
	if (decisions)
		return decisions == 1 ? named : NONE;
	for (uint32_t i = m->items.n; i-- > 0 && raised < 2;)
		if (m->items.v[i].n && m->items.v[i].steps[0].message == message) {
			raised++;
			only = i;
		}
	return raised == 1 ? only : NONE;
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
	reply.item = find_item(r, reply.message);
	reply.dialect = r->message.dialect;
	buf_add_str(&reply.line, frame->bytes);
	buf_addc(&reply.line, '\n');
	vec_push(&r->list, reply);
}

/* ---- polling ---- */

/* The file is created with the first reply. */
static bool open_file(struct queue_replies *r)
{
	struct stat st;

	if (r->fd < 0)
		r->fd = open(r->path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (r->fd >= 0 && (fstat(r->fd, &st) < 0 || !S_ISREG(st.st_mode))) {
		close(r->fd);
		r->fd = -1;
	}
	return r->fd >= 0;
}

static struct desk *desk_of(const struct queue_replies *r, uint32_t agent)
{
	return desks_find(&r->agents->load->desks, group_of(r, agent));
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
	return !is_done(r, reply) && !is_late(r, reply);
}

void queue_replies_poll(struct queue_replies *r, int64_t now_ms)
{
	char block[BLOCK_BYTES];
	uint32_t before = r->list.n, waiting = 0;
	ssize_t n;

	if (!r->path || now_ms - r->looked_ms < POLL_EVERY_MS)
		return;
	r->looked_ms = now_ms;
	while (open_file(r) && (n = pread(r->fd, block, sizeof(block), (off_t)r->at)) > 0) {
		r->at += (uint64_t)n;
		framer_feed(&r->framer, str_make(block, (size_t)n), on_line, r);
	}
	for (uint32_t i = 0; i < r->list.n; i++)
		waiting += is_waiting(r, &r->list.v[i]);
	if (r->list.n > before && waiting > r->waiting)
		app_say(r->app, ROLE_ACCENT,
			"an answer has come back for %s; {deliver} looks at it and sends it",
			r->agents->agents.v[vec_last(&r->list)->agent]->child->name);
	r->waiting = waiting;
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
		p.letter.channel = CHANNEL_CHILD;
		p.letter.path = arena_str(&plan->arena, buf_str(&path));
		p.letter.bytes = arena_str(&plan->arena, buf_str(&reply->line));
		p.letter.to = str_of(r->agents->agents.v[reply->agent]->child->name);
		vec_push(&p.cautions,
			 STR("somebody else has decided this; it came back from the queue"));
		if (!channel_agents.find(channel_agents.ctx, p.letter.path.p, &err))
			vec_push(&p.missing, arena_str(&plan->arena, str_of(err.text)));
		vec_push(&plan->list, p);
		buf_release(&path);
	}
}
