/* Supervisor of running agents: attributes their messages, journals and sends answers, applies sent
 * lines to the model, announces exits and restarts. */
#include "agents/supervisor.h"

#include "decide/output_queue.h"
#include "json/compose.h"
#include "loop/loop.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

static struct desk *supervisor_desk(struct supervisor *s, uint32_t agent)
{
	return &s->watch->load.desks.list.v[s->supervised.v[agent]->desk];
}

/* ---- journal ---- */

/* {"state":…,"time":…,"agent":…,"path":… */
static void begin_record(const struct supervisor *s, uint32_t agent, const char *state,
			 struct buf *out)
{
	struct buf path = { 0 };

	child_path(supervisor_child(s, agent), &path);
	buf_printf(out, "{\"state\":\"%s\"", state);
	json_put_int(out, "time", timestamp_now_ms());
	json_put_name(out, "agent", supervisor_child(s, agent)->name);
	json_put_str(out, "path", buf_str(&path));
	buf_release(&path);
}

/* False: not recorded, so nothing may be sent. The first failure is reported. */
static bool end_record(struct supervisor *s, uint32_t agent, struct buf *record)
{
	struct desk *d = supervisor_desk(s, agent);
	bool wrote_before = d->access == DESK_WRITES;
	struct err err;
	int rc;

	buf_addc(record, '}');
	rc = desk_record(d, buf_str(record), &err);
	if (rc && wrote_before)
		load_say(&s->watch->load, str_of(err.text));
	buf_release(record);
	return rc == 0;
}

static bool record_run(struct supervisor *s, uint32_t agent)
{
	struct buf b = { 0 };

	begin_record(s, agent, "RUN", &b);
	json_key(&b, "command");
	buf_addc(&b, '[');
	for (char **word = supervisor_child(s, agent)->argv; *word; word++) {
		json_comma(&b);
		json_write_str(&b, str_of(*word));
	}
	buf_addc(&b, ']');
	return end_record(s, agent, &b);
}

static bool record_asked(struct supervisor *s, uint32_t agent, const struct message *msg,
			 const struct ruling *r, struct str answer)
{
	static const char *const words[] = { [RULING_NOTHING] = "nothing",
					     [RULING_ANSWER] = "answer",
					     [RULING_PERSON] = "person" };
	struct buf b = { 0 };

	begin_record(s, agent, "ASKED", &b);
	json_put_str(&b, "type", msg->kind);
	json_put_str(&b, "id", msg->id);
	json_put_name(&b, "ruling", words[r->type]);
	if (r->code != CODE_NONE)
		json_put_name(&b, "code", orchestrator_code_name(r->code));
	if (r->why)
		json_put_name(&b, "why", r->why);
	if (answer.n)
		json_put_str(&b, "bytes", answer);
	return end_record(s, agent, &b);
}

/* ---- output ---- */

static bool queue_line(struct supervisor *s, uint32_t agent, struct str line)
{
	struct buf path = { 0 };
	bool queued;

	child_path(supervisor_child(s, agent), &path);
	queued = desk_queue_line(supervisor_desk(s, agent), buf_str(&path), line);
	buf_release(&path);
	s->supervised.v[agent]->unheard += !queued;
	return queued;
}

bool supervisor_send(struct supervisor *s, uint32_t agent, struct str line)
{
	struct buf b = { 0 };

	if (supervisor_child(s, agent)->life != CHILD_RUNS)
		return false;
	begin_record(s, agent, "TOLD", &b);
	json_put_str(&b, "bytes", line);
	return end_record(s, agent, &b) && queue_line(s, agent, line);
}

/* desk_way.path: of the incarnation that wrote the message; that of an earlier one is not valid any
 * more. */
static void reply_path_of(void *ctx, uint32_t message, struct buf *out)
{
	const struct supervised_agent *c = ctx;
	const struct set_agent *a = c->s->agents.agents.v[c->number];
	const struct model *m = &c->s->watch->load.model;
	unsigned incarnation = 0;
	enum agent_pipe stream;
	uint32_t from;
	size_t start = out->n;

	child_path(a->child, out);
	if (message == NONE) {
		if (a->child->life != CHILD_RUNS)
			out->n = start;
		return;
	}
	/* a message that is not from this agent's output gets an invalid path */
	from = agent_set_of_file(&c->s->agents, message_route(m, message)->source, &stream);
	if (from == c->number)
		incarnation = agent_set_incarnation(a, stream, message_offset(m, message));
	if (incarnation != a->child->incarnation) {
		struct buf path = { 0 };
		const char *tag = strrchr(out->p + start, '-');

		buf_printf(&path, "agent:%s#%u%s", a->child->name, incarnation, tag ? tag : "");
		out->n = start;
		buf_add_str(out, buf_str(&path));
		buf_release(&path);
	}
}

/* desk_way.sent: called during any delivery, so the model is updated later. */
static void add_sent_line(void *ctx, struct str path, struct str line)
{
	const struct supervised_agent *c = ctx;
	struct sent_line t = { .agent = c->number };

	(void)path;
	buf_add_str(&t.line, line);
	vec_push(&c->s->sent, t);
}

/* ---- input ---- */

static void attribute(void *ctx, struct load *l, struct message *msg, uint32_t file)
{
	struct supervisor *s = ctx;
	enum agent_pipe stream;
	uint32_t agent = agent_set_of_file(&s->agents, file, &stream);

	if (agent == NONE || stream != AGENT_OUT)
		return;
	orchestrator_attribute(&s->orchestrator, &l->model, msg, agent, false);
}

static void on_message(void *ctx, struct load *l, const struct message *msg, const struct record *r)
{
	struct supervisor *s = ctx;
	enum agent_pipe stream;
	struct buf answer = { 0 };
	uint32_t file = route_of(&l->model, r)->source;
	struct incoming in = { .agent = agent_set_of_file(&s->agents, file, &stream),
			       .msg = msg,
			       .bytes = l->decoder.bytes,
			       .message = l->model.records.n - 1,
			       .now_ms = timestamp_now_ms() };
	struct set_agent *a;
	struct ruling ruling;

	if (in.agent == NONE || stream != AGENT_OUT || msg->dialect != DIALECT_ORCHESTRATOR)
		return;
	a = s->agents.agents.v[in.agent];
	/* requests of an earlier incarnation are not answered */
	if (agent_set_incarnation(a, stream, message_offset(&l->model, in.message)) !=
	    a->child->incarnation) {
		orchestrator_note(&s->orchestrator, in.agent, false, msg, in.bytes);
		return;
	}
	s->supervised.v[in.agent]->orchestrated = true;
	ruling = orchestrator_take(&s->orchestrator, &l->model, &in, &answer);
	if ((ruling.type != RULING_NOTHING || ruling.why) &&
	    record_asked(s, in.agent, msg, &ruling, buf_str(&answer)) && answer.n)
		queue_line(s, in.agent, buf_str(&answer));
	buf_release(&answer);
}

/* ---- sent lines ---- */

static void open_replies(struct supervisor *s, struct supervised_agent *c, struct str group)
{
	struct wire *w = &s->watch->load.wire;
	const char *name = supervisor_child(s, c->number)->name;
	struct source source = { .kind = SOURCE_STREAM, .fd = -1 };
	struct buf path = { 0 };
	struct str given;

	buf_printf(&path, "%s/%s.ndjson.replies.ndjson", s->agents.captures, name);
	c->replies_fd = open(path.p, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (c->replies_fd >= 0)
		source.fd = fcntl(c->replies_fd, F_DUPFD_CLOEXEC, 3);
	if (source.fd < 0) {
		buf_printf(&path, ": %s; what is sent to %s is not kept", strerror(errno), name);
		load_say(&s->watch->load, buf_str(&path));
	}
	given = str_of(arena_printf(&w->arena, "to %s", name));
	source.name = given.p;
	c->replies = (struct load_reading){ .l = &s->watch->load,
					    .file = wire_append(w, &source, given) };
	w->files.v[c->replies.file].group = group;
	w->files.v[c->replies.file].joined = true;
	buf_release(&path);
}

static void attribute_sent(void *ctx, struct load *l, struct message *msg, uint32_t file)
{
	struct supervised_agent *c = ctx;

	(void)file;
	orchestrator_attribute(&c->s->orchestrator, &l->model, msg, c->number, true);
}

static void note_sent(void *ctx, struct load *l, const struct message *msg, const struct record *r)
{
	struct supervised_agent *c = ctx;

	(void)r;
	orchestrator_note(&c->s->orchestrator, c->number, true, msg, l->decoder.bytes);
}

static void apply_sent_line(struct supervisor *s, const struct sent_line *t)
{
	struct supervised_agent *c = s->supervised.v[t->agent];
	struct frame frame = { .bytes = str_make(t->line.p, t->line.n - 1),
			       .offset = c->replies_at,
			       .full_length = t->line.n - 1,
			       .line = ++c->replies_line };
	ssize_t put = c->replies_fd < 0
			      ? -1
			      : pwrite(c->replies_fd, t->line.p, t->line.n, (off_t)c->replies_at);

	/* the agent has read it in any case; if the write failed, the text shows as unreadable */
	(void)put;
	c->replies_at += t->line.n;
	s->watch->load.wire.files.v[c->replies.file].source.end = c->replies_at;
	c->replies.before = attribute_sent;
	c->replies.each = note_sent;
	c->replies.ctx = c->replies.before_ctx = c;
	load_frame(&c->replies, &frame);
}

static bool apply_sent_lines(struct supervisor *s)
{
	bool some = s->sent.n != 0;

	for (uint32_t i = 0; i < s->sent.n; i++) {
		apply_sent_line(s, &s->sent.v[i]);
		buf_release(&s->sent.v[i].line);
	}
	s->sent.n = 0;
	return some;
}

/* ---- tick ---- */

/* Announces exits and restarts; keeps the orchestrator's state of each agent. */
static void update_lives(struct supervisor *s)
{
	for (uint32_t i = 0; i < s->supervised.n; i++) {
		struct supervised_agent *c = s->supervised.v[i];
		struct child *child = supervisor_child(s, i);
		struct app *app = &s->watch->app;
		bool failed = child->by_signal || child->number;
		struct buf words = { 0 };

		if (child->incarnation != c->incarnation) {
			orchestrator_gone(&s->orchestrator, i);
			record_run(s, i);
			app_say(app, ROLE_OK, "%s is running again", child->name);
			c->incarnation = child->incarnation;
			c->life = CHILD_RUNS;
			c->orchestrated = false;
		}
		if (c->life == CHILD_RUNS && child->life != CHILD_RUNS) {
			orchestrator_gone(&s->orchestrator, i);
			child_status_text(child, &words);
			if (!s->leaving)
				app_say(app, failed ? ROLE_ERROR : ROLE_WARN,
					"%s has ended: %s; :restart %s starts it again",
					child->name, words.p, child->name);
			app_decided(app); /* letters to it are lost now */
		}
		s->orchestrator.agents.v[i].life =
			child->life == CHILD_RUNS
				? child->stop == CHILD_GOES_ON ? ORCHESTRATED_RUNS
							       : ORCHESTRATED_STOPS
			: failed ? ORCHESTRATED_CRASHED
				 : ORCHESTRATED_STOPPED;
		if (child->left.n && c->life != CHILD_OVER && child->life == CHILD_OVER)
			app_say(app, ROLE_ERROR, "%s has ended and left running: %s; kill it "
						 "yourself",
				child->name, child->left.p);
		if (child->trouble.text[0]) {
			app_say(app, ROLE_ERROR, "%s", child->trouble.text);
			child->trouble.text[0] = '\0';
		}
		c->life = child->life;
		buf_release(&words);
	}
}

static void send_timeouts(struct supervisor *s)
{
	struct buf line = { 0 };
	uint32_t agent;

	while (orchestrator_due(&s->orchestrator, &s->watch->load.model, timestamp_now_ms(), &agent,
				&line)) {
		supervisor_send(s, agent, buf_str(&line));
		buf_clear(&line);
	}
	buf_release(&line);
}

/* "waiting for NAME (TERM in 3 s) … to end" */
static void say_waiting(struct supervisor *s, int64_t now_ms)
{
	struct buf names = { 0 };
	uint32_t n = 0;

	if (agent_set_waits_for_room(&s->agents, &names)) {
		app_say(&s->watch->app, ROLE_ERROR, "%s; {quit} quits now and loses it", names.p);
		buf_release(&names);
		return;
	}
	for (uint32_t i = 0; i < s->supervised.n; i++) {
		const struct child *c = supervisor_child(s, i);
		int64_t left = c->deadline_ms - now_ms;

		if (agent_set_is_over(&s->agents, i))
			continue;
		n++;
		if (n > 3)
			continue;
		buf_printf(&names, "%s%s", n > 1 ? ", " : "", c->name);
		if (c->life == CHILD_RUNS && c->stop == CHILD_ASKED)
			buf_printf(&names, " (TERM in %d s)", (int)((left + 999) / 1000));
		else if (c->life == CHILD_RUNS && c->stop == CHILD_TERMED)
			buf_printf(&names, " (KILL in %d s)", (int)((left + 999) / 1000));
	}
	if (n > 3)
		buf_printf(&names, " and %u more", n - 3);
	if (n)
		app_say(&s->watch->app, ROLE_WARN, "waiting for %s to end; {quit} kills at once",
			names.p);
	buf_release(&names);
}

static void tick(void *ctx, int64_t now_ms)
{
	struct supervisor *s = ctx;
	struct load *l = &s->watch->load;
	bool changed = false;

	update_lives(s);
	send_timeouts(s);
	for (uint32_t i = 0; i < s->supervised.n; i++)
		changed |= desk_tick(supervisor_desk(s, i), now_ms);
	if (apply_sent_lines(s) || changed) {
		load_settle(l);
		app_decided(&s->watch->app);
	}
	queue_replies_poll(&s->queue_replies, now_ms);
	supervisor_show(s, now_ms);
	if (!s->leaving)
		return;
	if (!agent_set_running(&s->agents))
		s->watch->quit = true;
	else
		say_waiting(s, now_ms);
}

static int wait_ms(void *ctx, int64_t now_ms)
{
	struct supervisor *s = ctx;
	int64_t due = orchestrator_next_ms(&s->orchestrator);
	int wait = s->leaving ? 200 : s->queue_replies.path ? 1000 : -1;

	for (uint32_t i = 0; i < s->supervised.n; i++)
		wait = loop_sooner(wait, desk_queue_wait_ms(supervisor_desk(s, i), now_ms));
	if (due != TIME_NONE) {
		int64_t left = due - timestamp_now_ms() + 1;

		wait = loop_sooner(wait, left < 0 ? 0 : left > 1000 ? 1000 : (int)left);
	}
	return wait;
}

static bool effect(void *ctx, struct effect *e)
{
	if (e->type != EFFECT_AGENT)
		return false;
	supervisor_command(ctx, &e->order, loop_now_ms());
	return true;
}

static bool leave(void *ctx, int64_t now_ms)
{
	struct supervisor *s = ctx;

	if (s->leaving || !agent_set_running(&s->agents))
		return true; /* on the second request the rest is killed */
	s->leaving = true;
	for (uint32_t i = 0; i < s->supervised.n; i++)
		supervisor_stop(s, i, now_ms);
	say_waiting(s, now_ms);
	return false;
}

/* ---- life cycle ---- */

int supervisor_open(struct supervisor *s, struct watch *w, const char *captures, struct err *err)
{
	s->watch = w;
	s->agents.before = attribute;
	s->agents.before_ctx = s;
	w->load.model.runs_agents = true;
	if (agent_set_open(&s->agents, &w->load, captures, err) < 0)
		return -1;
	channel_agents = (struct channel_agents){ children_input, s->agents.children };
	w->agents = &s->agents;
	w->each = on_message;
	w->ops = &supervisor_ops;
	w->ops_ctx = w->each_ctx = s;
	return 0;
}

int supervisor_start(struct supervisor *s, const struct supervisor_spec *spec, struct err *err)
{
	uint32_t n = agent_set_start(&s->agents, &spec->child, STR_NONE, spec->session,
					loop_now_ms(), err);
	struct supervised_agent *c;
	uint32_t file;

	if (n == NONE)
		return -1;
	c = xcalloc(1, sizeof(*c));
	*c = (struct supervised_agent){ .s = s,
					.number = n,
					.desk = s->watch->load.desks.list.n - 1,
					.incarnation = 1,
					.life = CHILD_RUNS,
					.replies_fd = -1 };
	c->desk_agent = (struct desk_agent){ reply_path_of, add_sent_line, c };
	vec_push(&s->supervised, c);
	orchestrator_add(&s->orchestrator, str_of(spec->child.name), spec->role, spec->capabilities,
			 spec->capability_count);
	file = s->agents.agents.v[n]->streams[AGENT_OUT].load.file;
	open_replies(s, c, s->watch->load.wire.files.v[file].group);
	supervisor_desk(s, n)->agent = &c->desk_agent;
	record_run(s, n);
	return 0;
}

void supervisor_close(struct supervisor *s)
{
	if (s->agents.children)
		agent_set_close(&s->agents);
	channel_agents = (struct channel_agents){ 0 };
	orchestrator_release(&s->orchestrator);
	queue_replies_close(&s->queue_replies);
	for (uint32_t i = 0; i < s->supervised.n; i++) {
		desk_tick(supervisor_desk(s, i), loop_now_ms()); /* records what did not arrive */
		supervisor_desk(s, i)->agent = NULL;
		if (s->supervised.v[i]->replies_fd >= 0)
			close(s->supervised.v[i]->replies_fd);
		free(s->supervised.v[i]);
	}
	for (uint32_t i = 0; i < s->sent.n; i++)
		buf_release(&s->sent.v[i].line);
	vec_release(&s->supervised);
	vec_release(&s->sent);
	vec_release(&s->lives);
}

const struct watch_ops supervisor_ops = { .tick = tick, .wait_ms = wait_ms, .effect = effect,
					  .leave = leave };
