/* Between the agents' pipes and the model: attribution, answers, and what was taken. */
#include "agents/supervisor.h"

#include "decide/output_queue.h"
#include "json/compose.h"
#include "loop/loop.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

struct desk *supervisor_desk(struct supervisor *f, uint32_t agent)
{
	return &f->watch->load.desks.list.v[f->supervised.v[agent]->desk];
}

static struct child *child_of(const struct supervisor *f, uint32_t agent)
{
	return f->agents.agents.v[agent]->child;
}

/* ---- the journal ---- */

/* {"state":…,"time":…,"agent":…,"path":… */
static void begin_record(const struct supervisor *f, uint32_t agent, const char *state, struct buf *out)
{
	struct buf path = { 0 };

	child_path(child_of(f, agent), &path);
	buf_printf(out, "{\"state\":\"%s\"", state);
	json_put_int(out, "time", timestamp_now_ms());
	json_put_name(out, "agent", child_of(f, agent)->name);
	json_put_str(out, "path", buf_str(&path));
	buf_release(&path);
}

/* A journal that cannot be written is told once, by the desk's own words; nothing is sent then. */
static bool end_record(struct supervisor *f, uint32_t agent, struct buf *record)
{
	struct desk *d = supervisor_desk(f, agent);
	bool wrote_before = d->access == DESK_WRITES;
	struct err err;
	int rc;

	buf_addc(record, '}');
	rc = desk_record(d, buf_str(record), &err);
	if (rc && wrote_before)
		load_say(&f->watch->load, str_of(err.text));
	buf_release(record);
	return rc == 0;
}

static bool record_run(struct supervisor *f, uint32_t agent)
{
	struct buf b = { 0 };

	begin_record(f, agent, "RUN", &b);
	json_key(&b, "command");
	buf_addc(&b, '[');
	for (char **word = child_of(f, agent)->argv; *word; word++) {
		json_comma(&b);
		json_write_str(&b, str_of(*word));
	}
	buf_addc(&b, ']');
	return end_record(f, agent, &b);
}

static bool record_asked(struct supervisor *f, uint32_t agent, const struct message *msg,
			 const struct ruling *r, struct str answer)
{
	static const char *const words[] = { [RULING_NOTHING] = "nothing",
					     [RULING_ANSWER] = "answer",
					     [RULING_PERSON] = "person" };
	struct buf b = { 0 };

	begin_record(f, agent, "ASKED", &b);
	json_put_str(&b, "type", msg->kind);
	json_put_str(&b, "id", msg->id);
	json_put_name(&b, "ruling", words[r->type]);
	if (r->code != CODE_NONE)
		json_put_name(&b, "code", orchestrator_code_name(r->code));
	if (r->why)
		json_put_name(&b, "why", r->why);
	if (answer.n)
		json_put_str(&b, "bytes", answer);
	return end_record(f, agent, &b);
}

/* ---- to the agent ---- */

static bool hand_over(struct supervisor *f, uint32_t agent, struct str line)
{
	struct buf path = { 0 };
	bool taken;

	child_path(child_of(f, agent), &path);
	taken = desk_queue_line(supervisor_desk(f, agent), buf_str(&path), line);
	buf_release(&path);
	f->supervised.v[agent]->unheard += !taken;
	return taken;
}

bool supervisor_tell(struct supervisor *f, uint32_t agent, struct str line)
{
	struct buf b = { 0 };

	if (child_of(f, agent)->life != CHILD_RUNS)
		return false;
	begin_record(f, agent, "TOLD", &b);
	json_put_str(&b, "bytes", line);
	return end_record(f, agent, &b) && hand_over(f, agent, line);
}

/* The incarnation that a message came from; of an earlier one's message, its path leads nowhere. */
static void way_path(void *ctx, uint32_t message, struct buf *out)
{
	const struct supervised_agent *c = ctx;
	const struct set_agent *a = c->f->agents.agents.v[c->number];
	const struct model *m = &c->f->watch->load.model;
	unsigned incarnation = a->child->incarnation;
	enum agent_pipe stream;
	size_t start = out->n;

	child_path(a->child, out);
	if (message == NONE) {
		if (a->child->life != CHILD_RUNS)
			out->n = start;
		return;
	}
	/* what is not from this agent's output is not answered to it */
	if (agent_set_of_file(&c->f->agents, message_route(m, message)->source, &stream) != c->number)
		incarnation = 0;
	else
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

/* It may happen in the middle of anything that sends; the model is told later. */
static void way_sent(void *ctx, struct str path, struct str line)
{
	const struct supervised_agent *c = ctx;
	struct taken t = { .agent = c->number };

	(void)path;
	buf_add_str(&t.line, line);
	vec_push(&c->f->taken, t);
}

/* ---- from the agent ---- */

static void attribute(void *ctx, struct load *l, struct message *msg, uint32_t file)
{
	struct supervisor *f = ctx;
	enum agent_pipe stream;
	uint32_t agent = agent_set_of_file(&f->agents, file, &stream);

	if (agent == NONE || stream != AGENT_OUT)
		return;
	orchestrator_attribute(&f->orchestrator, &l->model, msg, agent, false);
}

static void hear(void *ctx, struct load *l, const struct message *msg, const struct record *r)
{
	struct supervisor *f = ctx;
	enum agent_pipe stream;
	struct buf answer = { 0 };
	struct heard heard = { .agent = agent_set_of_file(&f->agents, route_of(&l->model, r)->source, &stream),
			       .msg = msg,
			       .bytes = l->decoder.bytes,
			       .message = l->model.records.n - 1,
			       .now_ms = timestamp_now_ms() };
	struct set_agent *a;
	struct ruling ruling;

	if (heard.agent == NONE || stream != AGENT_OUT || msg->dialect != DIALECT_ORCHESTRATOR)
		return;
	a = f->agents.agents.v[heard.agent];
	/* what an earlier incarnation asked is answered to nobody */
	if (agent_set_incarnation(a, stream, message_offset(&l->model, heard.message)) != a->child->incarnation) {
		orchestrator_note(&f->orchestrator, heard.agent, false, msg, heard.bytes);
		return;
	}
	f->supervised.v[heard.agent]->orchestrated = true;
	ruling = orchestrator_take(&f->orchestrator, &l->model, &heard, &answer);
	if (ruling.type != RULING_NOTHING || ruling.why) {
		if (record_asked(f, heard.agent, msg, &ruling, buf_str(&answer)) && answer.n)
			hand_over(f, heard.agent, buf_str(&answer));
	}
	buf_release(&answer);
}

/* ---- what was taken ---- */

static void open_replies(struct supervisor *f, struct supervised_agent *c, struct str group)
{
	struct wire *w = &f->watch->load.wire;
	const char *name = child_of(f, c->number)->name;
	struct source s = { .kind = SOURCE_STREAM, .fd = -1 };
	struct buf path = { 0 };
	struct str given;

	buf_printf(&path, "%s/%s.ndjson.replies.ndjson", f->agents.captures, name);
	c->replies_fd = open(path.p, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (c->replies_fd >= 0)
		s.fd = fcntl(c->replies_fd, F_DUPFD_CLOEXEC, 3);
	if (s.fd < 0) {
		buf_printf(&path, ": %s; what %s is told is not kept", strerror(errno), name);
		load_say(&f->watch->load, buf_str(&path));
	}
	given = str_of(arena_printf(&w->arena, "to %s", name));
	s.name = given.p;
	c->replies = (struct load_reading){ .l = &f->watch->load, .file = wire_append(w, &s, given) };
	w->files.v[c->replies.file].group = group;
	w->files.v[c->replies.file].joined = true;
	buf_release(&path);
}

static void attribute_sent(void *ctx, struct load *l, struct message *msg, uint32_t file)
{
	struct supervised_agent *c = ctx;

	(void)file;
	orchestrator_attribute(&c->f->orchestrator, &l->model, msg, c->number, true);
}

static void note_sent(void *ctx, struct load *l, const struct message *msg, const struct record *r)
{
	struct supervised_agent *c = ctx;

	(void)r;
	orchestrator_note(&c->f->orchestrator, c->number, true, msg, l->decoder.bytes);
}

static void apply_taken(struct supervisor *f, const struct taken *t)
{
	struct supervised_agent *c = f->supervised.v[t->agent];
	struct source *s = &f->watch->load.wire.files.v[c->replies.file].source;
	struct frame frame = { .bytes = str_make(t->line.p, t->line.n - 1),
			       .offset = c->replies_at,
			       .full_length = t->line.n - 1,
			       .line = ++c->replies_line };
	ssize_t put = c->replies_fd < 0
			      ? -1
			      : pwrite(c->replies_fd, t->line.p, t->line.n, (off_t)c->replies_at);

	/* kept or not, the agent has it; a hole is shown as bytes that cannot be read */
	(void)put;
	c->replies_at += t->line.n;
	s->end = c->replies_at;
	c->replies.before = attribute_sent;
	c->replies.each = note_sent;
	c->replies.ctx = c->replies.before_ctx = c;
	load_take(&c->replies, &frame);
}

static bool take_taken(struct supervisor *f)
{
	bool some = f->taken.n != 0;

	for (uint32_t i = 0; i < f->taken.n; i++) {
		apply_taken(f, &f->taken.v[i]);
		buf_release(&f->taken.v[i].line);
	}
	f->taken.n = 0;
	return some;
}

/* ---- the turn ---- */

static void note_lives(struct supervisor *f, int64_t now_ms)
{
	(void)now_ms;
	for (uint32_t i = 0; i < f->supervised.n; i++) {
		struct supervised_agent *c = f->supervised.v[i];
		struct child *child = child_of(f, i);
		struct app *app = &f->watch->app;
		struct buf words = { 0 };

		if (child->incarnation != c->incarnation) {
			orchestrator_gone(&f->orchestrator, i);
			record_run(f, i);
			app_say(app, ROLE_OK, "%s runs again", child->name);
			c->incarnation = child->incarnation;
			c->life = CHILD_RUNS;
			c->orchestrated = false;
		}
		if (c->life == CHILD_RUNS && child->life != CHILD_RUNS) {
			orchestrator_gone(&f->orchestrator, i);
			child_status_text(child, &words);
			if (!f->leaving)
				app_say(app, child->by_signal || child->number ? ROLE_ERROR : ROLE_WARN,
					"%s has ended: %s; :restart %s begins anew", child->name,
					words.p, child->name);
			app_decided(app); /* what was for it stands otherwise now */
		}
		c->life = child->life;
		f->orchestrator.agents.v[i].life =
			child->life == CHILD_RUNS
				? child->stop == CHILD_GOES_ON ? ORCHESTRATED_RUNS : ORCHESTRATED_STOPS
			: child->by_signal || child->number ? ORCHESTRATED_CRASHED
							     : ORCHESTRATED_STOPPED;
		if (child->trouble.text[0]) {
			app_say(app, ROLE_ERROR, "%s", child->trouble.text);
			child->trouble.text[0] = '\0';
		}
		buf_release(&words);
	}
}

static void tell_due(struct supervisor *f)
{
	struct buf line = { 0 };
	uint32_t agent;

	while (orchestrator_due(&f->orchestrator, &f->watch->load.model, timestamp_now_ms(), &agent,
				&line)) {
		supervisor_tell(f, agent, buf_str(&line));
		buf_clear(&line);
	}
	buf_release(&line);
}

static void say_left(struct supervisor *f, int64_t now_ms)
{
	struct buf names = { 0 };
	uint32_t n = 0;

	for (uint32_t i = 0; i < f->supervised.n; i++) {
		const struct child *c = child_of(f, i);
		int64_t left = c->deadline_ms - now_ms;

		if (agent_set_is_over(&f->agents, i))
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
		app_say(&f->watch->app, ROLE_WARN, "waiting for %s to end; {quit} kills at once", names.p);
	buf_release(&names);
}

static void turn(void *ctx, int64_t now_ms)
{
	struct supervisor *f = ctx;
	struct load *l = &f->watch->load;
	bool changed = false;

	note_lives(f, now_ms);
	tell_due(f);
	for (uint32_t i = 0; i < f->supervised.n; i++)
		changed |= desk_tick(supervisor_desk(f, i), now_ms);
	if (take_taken(f) || changed) {
		load_settle(l);
		app_decided(&f->watch->app);
	}
	queue_replies_look(&f->queue_replies, now_ms);
	supervisor_show(f, now_ms);
	if (!f->leaving)
		return;
	if (!agent_set_running(&f->agents))
		f->watch->quit = true;
	else
		say_left(f, now_ms);
}

static int wait_ms(void *ctx, int64_t now_ms)
{
	struct supervisor *f = ctx;
	int64_t due = orchestrator_next_ms(&f->orchestrator);
	int wait = f->leaving ? 200 : f->queue_replies.path ? 1000 : -1;

	for (uint32_t i = 0; i < f->supervised.n; i++) {
		int one = desk_queue_wait_ms(supervisor_desk(f, i), now_ms);

		if (one >= 0 && (wait < 0 || one < wait))
			wait = one;
	}
	if (due != TIME_NONE) {
		int64_t left = due - timestamp_now_ms() + 1;

		left = left < 0 ? 0 : left > 1000 ? 1000 : left;
		if (wait < 0 || left < wait)
			wait = (int)left;
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
	struct supervisor *f = ctx;

	if (f->leaving || !agent_set_running(&f->agents))
		return true; /* a second time: whoever is left is killed */
	f->leaving = true;
	for (uint32_t i = 0; i < f->supervised.n; i++)
		supervisor_stop(f, i, now_ms);
	say_left(f, now_ms);
	return false;
}

/* ---- from the beginning to the end ---- */

int supervisor_open(struct supervisor *f, struct watch *w, const char *captures, struct err *err)
{
	f->watch = w;
	f->agents.before = attribute;
	f->agents.before_ctx = f;
	w->load.model.runs_agents = true;
	if (agent_set_open(&f->agents, &w->load, captures, err) < 0)
		return -1;
	channel_agents = (struct channel_agents){ children_input, f->agents.children };
	w->agents = &f->agents;
	w->each = hear;
	w->ops = &supervisor_ops;
	w->ops_ctx = w->each_ctx = f;
	return 0;
}

int supervisor_start(struct supervisor *f, const struct supervisor_spec *spec, struct err *err)
{
	uint32_t n = agent_set_start(&f->agents, &spec->child, STR_NONE, loop_now_ms(), err);
	struct supervised_agent *c;
	struct str group;

	if (n == NONE)
		return -1;
	c = xcalloc(1, sizeof(*c));
	*c = (struct supervised_agent){ .f = f,
			      .number = n,
			      .desk = f->watch->load.desks.list.n - 1,
			      .incarnation = 1,
			      .life = CHILD_RUNS,
			      .replies_fd = -1 };
	c->way = (struct desk_way){ way_path, way_sent, c };
	vec_push(&f->supervised, c);
	orchestrator_add(&f->orchestrator, str_of(spec->child.name), spec->role, spec->capabilities,
			 spec->capability_count);
	group = f->watch->load.wire.files.v[f->agents.agents.v[n]->streams[AGENT_OUT].load.file].group;
	open_replies(f, c, group);
	supervisor_desk(f, n)->way = &c->way;
	record_run(f, n);
	return 0;
}

void supervisor_close(struct supervisor *f)
{
	if (f->agents.children)
		agent_set_close(&f->agents);
	channel_agents = (struct channel_agents){ 0 };
	orchestrator_release(&f->orchestrator);
	queue_replies_close(&f->queue_replies);
	for (uint32_t i = 0; i < f->supervised.n; i++) {
		desk_tick(supervisor_desk(f, i), loop_now_ms()); /* records what did not arrive */
		supervisor_desk(f, i)->way = NULL;
		if (f->supervised.v[i]->replies_fd >= 0)
			close(f->supervised.v[i]->replies_fd);
		free(f->supervised.v[i]);
	}
	for (uint32_t i = 0; i < f->taken.n; i++)
		buf_release(&f->taken.v[i].line);
	vec_release(&f->supervised);
	vec_release(&f->taken);
	vec_release(&f->lives);
}

const struct watch_ops supervisor_ops = { .turn = turn,
				       .wait_ms = wait_ms,
				       .effect = effect,
				       .leave = leave };
