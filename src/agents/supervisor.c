/* Supervisor of running agents: attributes their messages, journals and sends answers, announces
 * exits and restarts. */
#include "agents/team_feed.h"

#include "decide/output_queue.h"
#include "json/compose.h"
#include "loop/loop.h"

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
	for (char **word = supervisor_child(s, agent)->argv; word && *word; word++) {
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

/* desk_agent.path: of the incarnation that wrote the message; that of an earlier one is not valid any
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
	if (incarnation == a->child->incarnation)
		return;
	out->n = start;
	buf_printf(out, "%s#%u", a->child->capture, incarnation);
}

/* ---- input ---- */

static void attribute(void *ctx, struct load *l, struct message *msg, uint32_t file)
{
	struct supervisor *s = ctx;
	enum agent_pipe stream;
	uint32_t agent = agent_set_of_file(&s->agents, file, &stream);

	/* real agents call themselves by their programs: two of them, or another one, may have that
	 * name, and the model puts the right one in its place */
	if (agent == NONE || stream != AGENT_OUT || s->supervised.v[agent]->driver)
		return;
	orchestrator_attribute(&s->orchestrator, &l->model, msg, agent,
			       (msg->flags & RECORD_TOLD) != 0);
}

static void answer_request(struct supervisor *s, const struct incoming *in)
{
	struct buf answer = { 0 };
	struct ruling ruling =
		orchestrator_take(&s->orchestrator, &s->watch->load.model, in, &answer);

	if ((ruling.type != RULING_NOTHING || ruling.why) &&
	    record_asked(s, in->agent, in->msg, &ruling, buf_str(&answer)) && answer.n)
		queue_line(s, in->agent, buf_str(&answer));
	buf_release(&answer);
}

/* A line that the agent was told: a request that it answers does not wait any more. */
static void note_told(struct supervised_agent *c, const struct incoming *in)
{
	uint64_t id = str_hash(in->msg->correlation);

	orchestrator_note(&c->s->orchestrator, in->agent, true, in->msg, in->bytes);
	for (uint32_t i = 0; in->msg->correlation.n && i < c->unanswered.n; i++)
		if (c->unanswered.v[i].id == id) {
			c->unanswered.v[i].message = NONE;
			break;
		}
}

static void on_message(void *ctx, struct load *l, const struct message *msg, const struct record *r)
{
	struct supervisor *s = ctx;
	enum agent_pipe stream;
	uint32_t file = route_of(&l->model, r)->source;
	struct incoming in = { .agent = agent_set_of_file(&s->agents, file, &stream),
			       .msg = msg,
			       .bytes = l->decoder.bytes,
			       .message = l->model.records.n - 1,
			       .now_ms = timestamp_now_ms() };
	struct supervised_agent *c;
	struct set_agent *a;

	if (in.agent == NONE || stream != AGENT_OUT)
		return;
	a = s->agents.agents.v[in.agent];
	c = s->supervised.v[in.agent];
	if (c->driver)
		supervisor_drive_note(c, msg, in.bytes);
	if (c->driver || s->only_drives || msg->dialect != DIALECT_ORCHESTRATOR)
		return;
	if (msg->flags & RECORD_TOLD) {
		note_told(c, &in);
		return;
	}
	/* requests of an earlier incarnation are not answered; nor does one who only looks */
	if (agent_set_incarnation(a, stream, message_offset(&l->model, in.message)) !=
		    a->child->incarnation ||
	    supervisor_desk(s, in.agent)->access != DESK_WRITES) {
		orchestrator_note(&s->orchestrator, in.agent, false, msg, in.bytes);
		return;
	}
	c->orchestrated = true;
	if (c->caught_up) {
		answer_request(s, &in);
		return;
	}
	/* its answer may stand further down in the capture */
	orchestrator_note(&s->orchestrator, in.agent, false, msg, in.bytes);
	if (str_starts(msg->kind, STR("request:")))
		vec_push(&c->unanswered,
			 (struct unanswered){ in.message, str_hash(msg->id) });
}

/* Answers what has waited while nobody was attached. */
static void catch_up(struct supervisor *s, uint32_t agent)
{
	struct supervised_agent *c = s->supervised.v[agent];
	struct load *l = &s->watch->load;

	if (c->caught_up || !agent_set_has_caught_up(&s->agents, agent))
		return;
	c->caught_up = true;
	for (uint32_t i = 0; i < c->unanswered.n; i++) {
		struct incoming in = { .agent = agent, .msg = &s->message,
				       .message = c->unanswered.v[i].message };

		if (in.message == NONE)
			continue;
		in.bytes = l->reader.bytes(l->reader.ctx, in.message);
		dialect_decode(&s->decoder, in.bytes, NULL, &s->message);
		/* by the time of the request: what came in an hour is no flood */
		in.now_ms = l->model.records.v[in.message].time_ms;
		if (in.now_ms == TIME_NONE)
			in.now_ms = timestamp_now_ms();
		answer_request(s, &in);
	}
	vec_release(&c->unanswered);
}

/* ---- tick ---- */

static void say_ended(struct supervisor *s, const struct supervised_agent *c,
		      const struct child *child, bool failed)
{
	struct buf text = { 0 };

	child_status_text(child, &text);
	if (failed && c->driver)
		supervisor_add_complaint(c, &text);
	if (child->orphan)
		buf_printf(&text, "; kill it, then :restart %s starts it again", child->name);
	else if (child->argv)
		buf_printf(&text, "; :restart %s starts it again", child->name);
	else
		buf_adds(&text, "; its command is not known here: start it anew by gavel run");
	app_say(&s->watch->app, failed ? ROLE_ERROR : ROLE_WARN, "%s%s %s", child->name,
		child->orphan ? ":" : " has ended:", text.p);
	buf_release(&text);
}

/* Announces exits and restarts; keeps the orchestrator's state of each agent. */
static void update_lives(struct supervisor *s)
{
	for (uint32_t i = 0; i < s->supervised.n; i++) {
		struct supervised_agent *c = s->supervised.v[i];
		struct child *child = supervisor_child(s, i);
		struct app *app = &s->watch->app;
		bool failed = child->end.by_signal || child->end.number;

		if (child->incarnation != c->incarnation) {
			orchestrator_gone(&s->orchestrator, i);
			record_run(s, i);
			app_say(app, ROLE_OK, "%s is running again", child->name);
			c->incarnation = child->incarnation;
			c->life = CHILD_RUNS;
			c->orchestrated = c->ends_input = false;
		}
		if (c->life == CHILD_RUNS && child->life != CHILD_RUNS) {
			orchestrator_gone(&s->orchestrator, i);
			desk_hold_unread(supervisor_desk(s, i), &child->end);
			if (!s->leaving)
				say_ended(s, c, child, failed);
			app_decided(app); /* letters to it are lost now */
		}
		s->orchestrator.agents.v[i].life =
			child->life == CHILD_RUNS
				? child->stop == CHILD_GOES_ON ? ORCHESTRATED_RUNS
							       : ORCHESTRATED_STOPS
			: failed ? ORCHESTRATED_CRASHED
				 : ORCHESTRATED_STOPPED;
		if (child->end.left[0] && c->life != CHILD_OVER && child->life == CHILD_OVER)
			app_say(app, ROLE_ERROR, "%s has ended and left running: %s; kill it "
						 "yourself",
				child->name, child->end.left);
		if (child->trouble.text[0]) {
			app_say(app, ROLE_ERROR, "%s", child->trouble.text);
			child->trouble.text[0] = '\0';
		}
		c->life = child->life;
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
		app_say(&s->watch->app, ROLE_ERROR,
			"%s; {quit} quits, and it is kept when there is room", names.p);
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
	for (uint32_t i = 0; i < s->supervised.n; i++)
		catch_up(s, i);
	send_timeouts(s);
	for (uint32_t i = 0; i < s->supervised.n; i++)
		supervisor_drive_tick(s, i);
	if (s->feed)
		changed = team_feed_step(s->feed, now_ms);
	for (uint32_t i = 0; i < s->supervised.n; i++)
		changed |= desk_tick(supervisor_desk(s, i), now_ms);
	for (uint32_t i = 0; i < s->supervised.n; i++)
		supervisor_end_input(s, i);
	if (changed) {
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

bool supervisor_is_idle(const struct supervisor *s)
{
	for (uint32_t i = 0; i < s->supervised.n; i++) {
		const struct supervised_agent *c = s->supervised.v[i];

		if (!c->caught_up || desk_queue_wait_ms(supervisor_desk(s, i), 0) >= 0 ||
		    (c->driver && c->driver->prompts.n && c->life == CHILD_RUNS))
			return false;
	}
	return true;
}

static int wait_ms(void *ctx, int64_t now_ms)
{
	struct supervisor *s = ctx;
	int64_t due = orchestrator_next_ms(&s->orchestrator);
	int wait = s->leaving ? 200 : s->queue_replies.path ? 1000 : -1;

	for (uint32_t i = 0; i < s->supervised.n; i++)
		wait = loop_sooner(wait, desk_queue_wait_ms(supervisor_desk(s, i), now_ms));
	if (s->feed)
		wait = loop_sooner(wait, team_feed_wait_ms(s->feed, now_ms));
	if (due != TIME_NONE) {
		int64_t left = due - timestamp_now_ms() + 1;

		wait = loop_sooner(wait, left < 0 ? 0 : left > 1000 ? 1000 : (int)left);
	}
	return wait;
}

static struct loop_fd other_fd(void *ctx)
{
	const struct supervisor *s = ctx;

	return s->feed ? shipper_fd(s->feed->shipper) : (struct loop_fd){ -1 };
}

/* Quitting does not end the agents unless the user says so. */
static bool ask_before_leaving(struct supervisor *s, enum leave_choice choice)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < s->supervised.n; i++) {
		n += supervisor_child(s, i)->life == CHILD_RUNS;
		s->stay |= supervisor_is_locked_out(s, i);
	}
	if (!n || s->leaving || s->stay || s->watch->headless)
		return false;
	if (choice == LEAVE_ASKS) {
		decide_confirm_leaving(&s->watch->app, n);
		return true;
	}
	s->stay = choice == LEAVE_RUNNING;
	return false;
}

static bool effect(void *ctx, struct effect *e)
{
	const struct supervisor *s = ctx;

	if (s->feed && team_feed_refuses(s->feed, e))
		return true;
	if (e->type == EFFECT_QUIT)
		return ask_before_leaving(ctx, e->leave);
	if (e->type != EFFECT_AGENT)
		return false;
	supervisor_command(ctx, &e->order, loop_now_ms());
	return true;
}

static bool leave(void *ctx, int64_t now_ms)
{
	struct supervisor *s = ctx;

	if (s->leaving || s->stay || !agent_set_running(&s->agents))
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
	w->agents = &s->agents;
	w->each = on_message;
	w->ops = &supervisor_ops;
	w->ops_ctx = w->each_ctx = s;
	return 0;
}

/* Takes an agent of the set under supervision. */
static struct supervised_agent *supervise(struct supervisor *s, uint32_t n,
					  const struct agent_about *about)
{
	const struct child *child = s->agents.agents.v[n]->child;
	struct supervised_agent *c = xcalloc(1, sizeof(*c));

	*c = (struct supervised_agent){ .s = s,
					.number = n,
					.desk = s->watch->load.desks.list.n - 1,
					.incarnation = child->incarnation,
					.life = child->life };
	c->desk_agent = (struct desk_agent){ reply_path_of, true, c };
	vec_push(&s->supervised, c);
	supervisor_desk(s, n)->agent = &c->desk_agent;
	orchestrator_add(&s->orchestrator, str_of(child->name), about->role, about->capabilities,
			 about->capability_n);
	return c;
}

int supervisor_start(struct supervisor *s, const struct supervisor_spec *spec, struct err *err)
{
	uint32_t n = agent_set_start(&s->agents, &spec->child, STR_NONE, &spec->about, err);
	struct supervised_agent *c;

	if (n == NONE)
		return -1;
	c = supervise(s, n, &spec->about);
	c->caught_up = true;
	c->passed = spec->child.env;
	supervisor_drive(c, &spec->about, spec->child.folder);
	if (c->driver)
		driver_live(c->driver);
	c->prompts = c->driver && spec->prompt.n;
	if (c->prompts)
		driver_prompt(c->driver, spec->prompt);
	record_run(s, n);
	return 0;
}

int supervisor_attach(struct supervisor *s, const char *name, struct err *err)
{
	struct agent_about about;
	uint32_t n = agent_set_attach(&s->agents, name, &about, err);
	struct supervised_agent *c;

	if (n == NONE)
		return -1;
	c = supervise(s, n, &about);
	supervisor_drive(c, &about, NULL);
	if (c->life == CHILD_OVER)
		desk_hold_unread(supervisor_desk(s, n), &supervisor_child(s, n)->end);
	return 0;
}

void supervisor_close(struct supervisor *s)
{
	/* a lost terminal or a signal does not end them */
	if (s->agents.children && !s->stay && (s->leaving || s->watch->headless))
		agent_set_kill(&s->agents);
	orchestrator_release(&s->orchestrator);
	queue_replies_close(&s->queue_replies);
	for (uint32_t i = 0; i < s->supervised.n; i++) {
		desk_tick(supervisor_desk(s, i), loop_now_ms()); /* records what did not arrive */
		supervisor_desk(s, i)->agent = NULL;
		vec_release(&s->supervised.v[i]->unanswered);
		supervisor_drive_end(s->supervised.v[i]);
		free(s->supervised.v[i]);
	}
	if (s->agents.children)
		agent_set_close(&s->agents);
	vec_release(&s->supervised);
	vec_release(&s->lives);
	decoder_release(&s->decoder);
	message_release(&s->message);
}

const struct watch_ops supervisor_ops = { .tick = tick, .wait_ms = wait_ms, .other_fd = other_fd,
					  .effect = effect, .leave = leave };
