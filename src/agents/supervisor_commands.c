/* Commands to running agents (stop, restart, cancel, assign), and their state for the views. */
#include "agents/team_feed.h"

#include "decide/output_queue.h"

#include <stdio.h>
#include <string.h>

enum { RATE_MS = 1000 };

/* ---- commands ---- */

/* Requests shutdown: by the protocol's notification, or by end of input. Returns the grace time. */
static int64_t request_exit(struct supervisor *s, uint32_t agent)
{
	struct buf line = { 0 };

	if (s->supervised.v[agent]->orchestrated) {
		orchestrator_shutdown(SUPERVISOR_GRACE_MS, STR_NONE, timestamp_now_ms(), &line);
		supervisor_send(s, agent, buf_str(&line));
		buf_release(&line);
		return SUPERVISOR_GRACE_MS;
	}
	if (supervisor_drive_stop(s, agent))
		return SUPERVISOR_TURN_MS;
	child_end_input(supervisor_child(s, agent));
	return SUPERVISOR_EOF_MS;
}

void supervisor_stop(struct supervisor *s, uint32_t agent, int64_t now_ms)
{
	struct child *c = supervisor_child(s, agent);

	if (c->life != CHILD_RUNS)
		return;
	child_stop(c, now_ms, c->stop == CHILD_GOES_ON ? request_exit(s, agent) : 0);
}

static void restart(struct supervisor *s, uint32_t agent, int64_t now_ms)
{
	struct child *c = supervisor_child(s, agent);
	bool ran = c->life == CHILD_RUNS;
	struct err err;

	if (child_restart(c, now_ms, ran ? request_exit(s, agent) : 0, &err) < 0)
		app_say(&s->watch->app, ROLE_ERROR, "%s", err.text);
	else if (c->life != CHILD_RUNS || ran)
		app_say(&s->watch->app, ROLE_WARN, "restarting %s", c->name);
}

/* The assignee, submitter or owner of a task, or NONE. */
static uint32_t holder_of(const struct supervisor *s, struct str task)
{
	const struct orchestrated_task *d = orchestrator_task(&s->orchestrator, task);

	if (d)
		return d->holder != NONE ? d->holder : d->submitter;
	for (uint32_t i = 0; i < s->orchestrator.tasks.n; i++)
		if (str_eq(s->orchestrator.tasks.v[i].id, task))
			return s->orchestrator.tasks.v[i].owner;
	return NONE;
}

/* Sends a line about a task; before and after complete the sentence "NAME is told that …". */
static void notify_of_task(struct supervisor *s, uint32_t agent, const struct buf *line,
			   const char *before, struct str task, const char *after)
{
	struct app *app = &s->watch->app;
	const char *name = supervisor_child(s, agent)->name;
	char q[QUOTED_MAX];

	if (supervisor_send(s, agent, buf_str(line)))
		app_say(app, ROLE_OK, "%s is told that %s%s%s", name, before, quoted(task, q),
			after);
	else
		app_say(app, ROLE_ERROR, "%s is not running", name);
}

static void cancel(struct supervisor *s, const struct agent_order *o)
{
	uint32_t agent = holder_of(s, o->task);
	struct buf line = { 0 };
	char q[QUOTED_MAX];

	if (agent == NONE) {
		app_say(&s->watch->app, ROLE_ERROR, "no running agent has a task %s",
			quoted(o->task, q));
		return;
	}
	orchestrator_cancel(o->task, o->reason, timestamp_now_ms(), &line);
	notify_of_task(s, agent, &line, "", o->task, " is cancelled");
	buf_release(&line);
}

static void assign(struct supervisor *s, const struct agent_order *o)
{
	struct app *app = &s->watch->app;
	uint32_t agent = agent_set_named(&s->agents, o->agent);
	struct buf line = { 0 };
	char q[QUOTED_MAX];

	if (agent == NONE || !o->task.n) {
		app_say(app, ROLE_ERROR, "assign needs a task and an agent that gavel runs");
	} else if (!orchestrator_task(&s->orchestrator, o->task)) {
		app_say(app, ROLE_ERROR,
			"no accepted task %s; accept one that an agent submits, then assign it",
			quoted(o->task, q));
	} else if (!s->supervised.v[agent]->orchestrated) {
		app_say(app, ROLE_ERROR,
			"%s does not speak the orchestrator's protocol; it cannot take a task",
			supervisor_child(s, agent)->name);
	} else {
		orchestrator_assign(o->task, timestamp_now_ms(), &line);
		notify_of_task(s, agent, &line, "it has ", o->task, "");
		buf_release(&line);
	}
}

static void stop_or_restart(struct supervisor *s, const struct agent_order *o, int64_t now_ms)
{
	struct app *app = &s->watch->app;
	/* a single agent need not be named */
	uint32_t agent = o->agent.n || s->supervised.n != 1 ? agent_set_named(&s->agents, o->agent)
							    : 0;
	char q[QUOTED_MAX];

	if (agent == NONE) {
		app_say(app, ROLE_ERROR, "no agent %s is running; {agents} lists them",
			quoted(o->agent, q));
	} else if (supervisor_is_locked_out(s, agent)) {
		app_say(app, ROLE_ERROR, "%s: %s", supervisor_child(s, agent)->name,
			supervisor_desk(s, agent)->why.text);
	} else if (o->type == ORDER_RESTART) {
		restart(s, agent, now_ms);
	} else if (supervisor_child(s, agent)->life != CHILD_RUNS) {
		app_say(app, ROLE_WARN, "%s has already ended", supervisor_child(s, agent)->name);
	} else {
		app_say(app, ROLE_WARN, "stopping %s", supervisor_child(s, agent)->name);
		supervisor_stop(s, agent, now_ms);
	}
}

void supervisor_command(struct supervisor *s, const struct agent_order *o, int64_t now_ms)
{
	switch (o->type) {
	case ORDER_CANCEL: cancel(s, o); break;
	case ORDER_ASSIGN: assign(s, o); break;
	case ORDER_STOP:
	case ORDER_RESTART: stop_or_restart(s, o, now_ms); break;
	case ORDER_PROMPT:
	case ORDER_INTERRUPT:
	case ORDER_MODE: supervisor_drive_order(s, o); break;
	}
}

/* ---- state ---- */

/* Short, for a column: "exit 3", "SIGSEGV". */
static void put_words(const struct child *c, char out[SUPERVISED_WORDS])
{
	const char *name = c->end.by_signal ? sigabbrev_np(c->end.number) : NULL;

	if (name)
		snprintf(out, SUPERVISED_WORDS, "SIG%s", name);
	else if (c->end.by_signal)
		snprintf(out, SUPERVISED_WORDS, "signal %d", c->end.number);
	else if (c->orphan)
		snprintf(out, SUPERVISED_WORDS, "pid %ld runs", (long)c->orphan);
	else if (c->end.number < 0)
		snprintf(out, SUPERVISED_WORDS, "gone");
	else
		snprintf(out, SUPERVISED_WORDS, "exit %d", c->end.number);
}

static void show_one(struct supervisor *s, uint32_t agent, int64_t now_ms)
{
	const struct child *c = supervisor_child(s, agent);
	struct life *l = &s->lives.v[agent];
	char *words = s->supervised.v[agent]->words;
	bool ended = c->life != CHILD_RUNS;

	put_words(c, words);
	*l = (struct life){ .group = str_of(c->name),
			    .ended = ended,
			    .flooding = l->flooding,
			    .words = ended ? words : NULL,
			    .fine = !c->end.by_signal && !c->end.number,
			    .ending = !ended && c->stop != CHILD_GOES_ON,
			    .last = l->last };
	if (c->unread_since_ms)
		l->unread_ms = now_ms - c->unread_since_ms;
}

/* Adds the agent's problem, if it has one. */
static void add_problem(const struct supervisor *s, uint32_t agent, struct buf *out)
{
	const struct child *c = supervisor_child(s, agent);
	int64_t unread = s->lives.v[agent].unread_ms;

	if (c->silent)
		buf_printf(out, "%s: %s", c->name,
			   c->holder == HOLDER_SILENT ? "does not respond; is its holder stopped?"
						      : c->why.text);
	else if (c->life == CHILD_RUNS && unread >= OUTPUT_QUEUE_HELD_MS)
		buf_printf(out, "%s: not reading for %lld:%02d", c->name,
			   (long long)(unread / 60000), (int)(unread / 1000 % 60));
	else if (s->supervised.v[agent]->unheard)
		buf_printf(out, "%s: %llu answer%s dropped; it does not read", c->name,
			   (unsigned long long)s->supervised.v[agent]->unheard,
			   plural_s(s->supervised.v[agent]->unheard));
}

/* The orchestrator's rate limit applies to agents of all protocols, except for real ones: these write
 * their words as they come. */
static void count_rates(struct supervisor *s, int64_t now_ms)
{
	int64_t span = now_ms - s->counted_ms;

	for (uint32_t i = 0; i < s->supervised.n; i++) {
		s->lives.v[i].flooding = !s->supervised.v[i]->driver &&
					 (int64_t)s->supervised.v[i]->lately * RATE_MS >
						 ORCHESTRATOR_RATE_MAX * span;
		s->supervised.v[i]->lately = 0;
	}
	s->counted_ms = now_ms;
}

void supervisor_show(struct supervisor *s, int64_t now_ms)
{
	struct app *app = &s->watch->app;
	const struct model *m = &s->watch->load.model;

	while (s->lives.n < s->supervised.n)
		vec_push(&s->lives, (struct life){ 0 });
	for (; s->looked < m->records.n; s->looked++) {
		uint32_t file = message_route(m, s->looked)->source;
		uint32_t agent = agent_set_of_file(&s->agents, file, NULL);

		if (agent == NONE)
			continue;
		s->lives.v[agent].last = s->looked + 1;
		s->supervised.v[agent]->lately++;
	}
	if (now_ms - s->counted_ms >= RATE_MS)
		count_rates(s, now_ms);
	for (uint32_t i = 0; i < s->supervised.n; i++) {
		show_one(s, i, now_ms);
		if (!app->banner.n)
			add_problem(s, i, &app->banner);
	}
	if (!app->banner.n && s->feed)
		team_feed_banner(s->feed, now_ms, &app->banner);
	if (!app->banner.n)
		queue_replies_banner(&s->queue_replies, &app->banner);
	app->scene.lives = s->lives.v;
	app->scene.life_n = s->lives.n;
}
