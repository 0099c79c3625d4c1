/* What a person does with running agents, and how they stand. */
#include "agents/supervisor.h"

#include "decide/output_queue.h"

#include <stdio.h>
#include <string.h>

enum { RATE_MS = 1000 };

static struct child *child_of(const struct supervisor *f, uint32_t agent)
{
	return f->agents.agents.v[agent]->child;
}

/* ---- orders ---- */

/* Asked in the words of its protocol where that has some; else the end of its input asks. */
static int64_t ask_to_end(struct supervisor *f, uint32_t agent)
{
	struct buf line = { 0 };

	if (f->supervised.v[agent]->orchestrated) {
		orchestrator_shutdown(SUPERVISOR_GRACE_MS, STR_NONE, timestamp_now_ms(), &line);
		supervisor_tell(f, agent, buf_str(&line));
		buf_release(&line);
		return SUPERVISOR_GRACE_MS;
	}
	child_end_input(child_of(f, agent));
	return SUPERVISOR_EOF_MS;
}

void supervisor_stop(struct supervisor *f, uint32_t agent, int64_t now_ms)
{
	struct child *c = child_of(f, agent);

	if (c->life != CHILD_RUNS)
		return;
	child_stop(c, now_ms, c->stop == CHILD_GOES_ON ? ask_to_end(f, agent) : 0);
}

static void restart(struct supervisor *f, uint32_t agent, int64_t now_ms)
{
	struct child *c = child_of(f, agent);
	bool ran = c->life == CHILD_RUNS;
	struct err err;

	if (child_restart(c, now_ms, ran ? ask_to_end(f, agent) : 0, &err) < 0)
		app_say(&f->watch->app, ROLE_ERROR, "%s", err.text);
	else if (c->life != CHILD_RUNS || ran)
		app_say(&f->watch->app, ROLE_WARN, "%s is ended, then begins anew", c->name);
}

/* Who has a task: who was given it or has submitted it, or who made it up; NONE. */
static uint32_t holder_of(const struct supervisor *f, struct str task)
{
	const struct orchestrated_task *d = orchestrator_task(&f->orchestrator, task);

	if (d)
		return d->holder != NONE ? d->holder : d->submitter;
	for (uint32_t i = 0; i < f->orchestrator.tasks.n; i++)
		if (str_eq(f->orchestrator.tasks.v[i].id, task))
			return f->orchestrator.tasks.v[i].owner;
	return NONE;
}

/* Hands over a line about a task; "NAME is told that …" is how that sentence goes on. */
static void tell_of_task(struct supervisor *f, uint32_t agent, const struct buf *line,
			 const char *before, struct str task, const char *after)
{
	struct app *app = &f->watch->app;
	const char *name = child_of(f, agent)->name;
	char q[QUOTED_MAX];

	if (supervisor_tell(f, agent, buf_str(line)))
		app_say(app, ROLE_OK, "%s is told that %s%s%s", name, before, quoted(task, q),
			after);
	else
		app_say(app, ROLE_ERROR, "%s does not run; it cannot be told", name);
}

static void cancel(struct supervisor *f, const struct agent_order *o)
{
	uint32_t agent = holder_of(f, o->task);
	struct buf line = { 0 };
	char q[QUOTED_MAX];

	if (agent == NONE) {
		app_say(&f->watch->app, ROLE_ERROR, "no agent that runs here has a task %s",
			quoted(o->task, q));
		return;
	}
	orchestrator_cancel(o->task, o->reason, timestamp_now_ms(), &line);
	tell_of_task(f, agent, &line, "", o->task, " is cancelled");
	buf_release(&line);
}

static void assign(struct supervisor *f, const struct agent_order *o)
{
	struct app *app = &f->watch->app;
	uint32_t agent = agent_set_named(&f->agents, o->agent);
	struct buf line = { 0 };
	char q[QUOTED_MAX];

	if (agent == NONE || !o->task.n) {
		app_say(app, ROLE_ERROR, "assign needs a task and an agent that gavel runs");
	} else if (!orchestrator_task(&f->orchestrator, o->task)) {
		app_say(app, ROLE_ERROR,
			"no task %s was let in; accept one that an agent submits, then assign it",
			quoted(o->task, q));
	} else if (!f->supervised.v[agent]->orchestrated) {
		app_say(app, ROLE_ERROR, "%s has not spoken the orchestrator's protocol; it would not "
					 "know what to do with a task",
			child_of(f, agent)->name);
	} else {
		orchestrator_assign(o->task, timestamp_now_ms(), &line);
		tell_of_task(f, agent, &line, "it has ", o->task, "");
		buf_release(&line);
	}
}

static void stop_or_restart(struct supervisor *f, const struct agent_order *o, int64_t now_ms)
{
	struct app *app = &f->watch->app;
	/* with a single agent there is no question which one */
	uint32_t agent = o->agent.n || f->supervised.n != 1 ? agent_set_named(&f->agents, o->agent) : 0;
	char q[QUOTED_MAX];

	if (agent == NONE) {
		app_say(app, ROLE_ERROR, "no agent %s runs here; {agents} lists them",
			quoted(o->agent, q));
	} else if (o->type == ORDER_RESTART) {
		restart(f, agent, now_ms);
	} else if (child_of(f, agent)->life != CHILD_RUNS) {
		app_say(app, ROLE_WARN, "%s has ended already", child_of(f, agent)->name);
	} else {
		app_say(app, ROLE_WARN, "%s is told to end", child_of(f, agent)->name);
		supervisor_stop(f, agent, now_ms);
	}
}

void supervisor_command(struct supervisor *f, const struct agent_order *o, int64_t now_ms)
{
	switch (o->type) {
	case ORDER_CANCEL: cancel(f, o); break;
	case ORDER_ASSIGN: assign(f, o); break;
	case ORDER_STOP:
	case ORDER_RESTART: stop_or_restart(f, o, now_ms); break;
	}
}

/* ---- how they stand ---- */

/* As short as a column: "exit 3", "SIGSEGV". */
static void put_words(const struct child *c, char out[SUPERVISED_WORDS])
{
	const char *name = c->by_signal ? sigabbrev_np(c->number) : NULL;

	if (name)
		snprintf(out, SUPERVISED_WORDS, "SIG%s", name);
	else if (c->by_signal)
		snprintf(out, SUPERVISED_WORDS, "signal %d", c->number);
	else
		snprintf(out, SUPERVISED_WORDS, "exit %d", c->number);
}

static void show_one(struct supervisor *f, uint32_t agent, int64_t now_ms)
{
	const struct child *c = child_of(f, agent);
	struct life *l = &f->lives.v[agent];
	struct supervised_agent *supervised_agent = f->supervised.v[agent];
	bool ended = c->life != CHILD_RUNS;

	put_words(c, supervised_agent->words);
	*l = (struct life){ .group = str_of(c->name),
			    .ended = ended,
			    .flooding = l->flooding,
			    .words = ended ? supervised_agent->words : NULL,
			    .fine = !c->by_signal && !c->number,
			    .ending = !ended && c->stop != CHILD_GOES_ON,
			    .unread_ms = c->input.waits_since_ms ? now_ms - c->input.waits_since_ms : 0,
			    .last = l->last };
}

/* What is wrong with one, in a sentence; false: nothing. */
static bool add_trouble(const struct supervisor *f, uint32_t agent, struct buf *out)
{
	const struct child *c = child_of(f, agent);
	int64_t unread = f->lives.v[agent].unread_ms;
	uint64_t lost = c->out.lost + c->err.lost;
	int number = c->out.trouble ? c->out.trouble : c->err.trouble;

	if (lost)
		buf_printf(out, "%s: %llu bytes of what it wrote could not be kept: %s", c->name,
			   (unsigned long long)lost, strerror(number));
	else if (c->life == CHILD_RUNS && unread >= OUTPUT_QUEUE_HELD_MS)
		buf_printf(out, "%s: not reading for %lld:%02d", c->name,
			   (long long)(unread / 60000), (int)(unread / 1000 % 60));
	else if (f->supervised.v[agent]->unheard)
		buf_printf(out, "%s: %llu answers were not given; it does not read", c->name,
			   (unsigned long long)f->supervised.v[agent]->unheard);
	else
		return false;
	return true;
}

/* More than the protocol allows, in whatever protocol. */
static void count_rates(struct supervisor *f, int64_t now_ms)
{
	int64_t span = now_ms - f->counted_ms;

	for (uint32_t i = 0; i < f->supervised.n; i++) {
		f->lives.v[i].flooding = (int64_t)f->supervised.v[i]->lately * RATE_MS >
					 ORCHESTRATOR_RATE_MAX * span;
		f->supervised.v[i]->lately = 0;
	}
	f->counted_ms = now_ms;
}

void supervisor_show(struct supervisor *f, int64_t now_ms)
{
	struct app *app = &f->watch->app;
	const struct model *m = &f->watch->load.model;

	while (f->lives.n < f->supervised.n)
		vec_push(&f->lives, (struct life){ 0 });
	for (; f->looked < m->records.n; f->looked++) {
		uint32_t agent = agent_set_of_file(&f->agents, message_route(m, f->looked)->source, NULL);

		if (agent == NONE)
			continue;
		f->lives.v[agent].last = f->looked + 1;
		f->supervised.v[agent]->lately++;
	}
	if (now_ms - f->counted_ms >= RATE_MS)
		count_rates(f, now_ms);
	for (uint32_t i = 0; i < f->supervised.n; i++) {
		show_one(f, i, now_ms);
		if (!app->banner.n)
			add_trouble(f, i, &app->banner);
	}
	if (!app->banner.n && f->queue_replies.waiting)
		keymap_printf(&app->keymap, &app->banner,
			      "%u answer%s came back from the queue; {deliver} looks at %s",
			      f->queue_replies.waiting, f->queue_replies.waiting == 1 ? "" : "s",
			      f->queue_replies.waiting == 1 ? "it" : "them");
	app->scene.lives = f->lives.v;
	app->scene.life_n = f->lives.n;
}
