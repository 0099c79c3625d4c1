/* gavel run: starts agents and supervises them in the terminal UI, or leaves them to others
 * (--detach); gavel CAPTURE: the UI on an agent that runs. */
#include "cmd/cmd.h"
#include "cmd/print.h"
#include "cmd/run_spec.h"
#include "cmd/run_work.h"
#include "agents/running.h"
#include "agents/team_feed.h"

#include "base/io.h"
#include "loop/loop.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum {
	ATTEND_MS = 3000,
	POLL_MS = 10,
};

/* A new folder for the captures of this run. */
static int make_captures(struct buf *out, struct err *err)
{
	time_t now = time(NULL);
	struct tm t;
	char stamp[32];

	captures_folder(out);
	localtime_r(&now, &t);
	strftime(stamp, sizeof(stamp), "%Y%m%d-%H%M%S", &t);
	if (io_make_folders(out->p, true, err) < 0)
		return -1;
	buf_printf(out, "/%s-%d", stamp, (int)getpid());
	if (mkdir(out->p, 0700) == 0)
		return 0;
	return err_set(err, "%.300s: cannot keep agents' output: %s; set XDG_STATE_HOME to a "
			    "folder with room",
		       out->p, strerror(errno));
}

/* ---- agents ---- */

static int start_command(struct supervisor *f, struct arena *arena, struct options *o,
			 struct err *err)
{
	struct supervisor_spec spec;

	if (spec_of_command(arena, o, &spec, err) < 0)
		return -1;
	return supervisor_start(f, &spec, err);
}

static int start_configured(struct supervisor *f, struct arena *arena, const struct options *o,
			    const struct config_agent *a, struct err *err)
{
	struct supervisor_spec spec;

	if (spec_of_configured(arena, o, a, &spec, err) < 0)
		return -1;
	return supervisor_start(f, &spec, err);
}

static bool is_chosen(const struct options *o, const char *name)
{
	for (uint32_t i = 0; i < o->agents.n; i++)
		if (strcmp(o->agents.v[i], name) == 0)
			return true;
	return !o->agents.n;
}

static const char *find_unknown(const struct options *o, const struct config *c)
{
	for (uint32_t i = 0; i < o->agents.n; i++) {
		uint32_t k = 0;

		while (k < c->agents.n && strcmp(o->agents.v[i], c->agents.v[k].name) != 0)
			k++;
		if (k == c->agents.n)
			return o->agents.v[i];
	}
	return NULL;
}

/* Reports each agent that cannot be started, the last one also in err. -1: none was started. */
static int start_all(struct supervisor *f, struct arena *arena, struct options *o, struct err *err)
{
	const struct config *c = &f->watch->config;
	const char *unknown = find_unknown(o, c);
	struct err one;

	if (unknown)
		return err_set(err, "no agent \"%s\" in %s; give its command: gavel run -- COMMAND",
			       unknown, c->file ? c->file : "the configuration");
	if (o->prompt && o->agents.n != 1 && c->agents.n > 1)
		return err_set(err, "--prompt is for one agent; name it with --agent, or give each its "
				    "\"prompt\" in %s",
			       c->file ? c->file : "the configuration");
	if (!c->agents.n)
		return err_set(err, "no agent to run; give a command (gavel run -- COMMAND), or "
				    "\"agents\" in %s",
			       c->file ? c->file : "a configuration");
	for (uint32_t i = 0; i < c->agents.n; i++)
		if (is_chosen(o, c->agents.v[i].name) &&
		    start_configured(f, arena, o, &c->agents.v[i], &one) < 0) {
			load_say(&f->watch->load, str_of(one.text));
			*err = one;
		}
	return f->supervised.n ? 0 : err_set(err, "no agent could be started");
}

/* ---- the UI ---- */

/* Who answers for the agents: this person, with an escalation queue, or a team. */
static void begin_deciding(struct watch *w, struct supervisor *f)
{
	if (f->feed) {
		w->app.read_only = f->feed->refusal.p;
		return;
	}
	queue_replies_open(&f->queue_replies, &f->agents, &w->app,
		     w->options->escalate_to ? w->options->escalate_to : w->config.escalate_to,
		     config_trusted(&w->config));
	w->decider.more = queue_replies_plan;
	w->decider.more_ctx = &f->queue_replies;
}

static int go(struct watch *w, struct supervisor *f, const struct err *err)
{
	struct buf title = { 0 }; /* the agents' names */
	int code;

	for (uint32_t i = 0; i < f->supervised.n; i++)
		buf_printf(&title, "%s%s", i ? " " : "", supervisor_child(f, i)->name);
	watch_begin(w, buf_str(&title));
	begin_deciding(w, f);
	supervisor_show(f, loop_now_ms());
	if (err->text[0])
		app_say(&w->app, ROLE_ERROR, "%s", err->text);
	else if (w->load.desks.list.v[0].access != DESK_WRITES)
		app_say(&w->app, ROLE_WARN, "%s", w->load.desks.list.v[0].why.text);
	else if (!w->app.notice.n)
		app_say(&w->app, ROLE_DIM, "their output is kept in %s",
			children_folder(f->agents.children));
	code = watch_go(w, buf_str(&title));
	buf_release(&title);
	if (f->feed)
		finish_shipping(w, f);
	for (uint32_t i = 0; f->stay && i < f->supervised.n; i++) {
		const struct child *c = supervisor_child(f, i);

		const struct driver *d = f->supervised.v[i]->driver;

		if (d && d->prompts.n)
			say_error("%s: %u prompt%s not sent: its turn is not over", c->name,
				  d->prompts.n, d->prompts.n == 1 ? " was" : "s were");
		if (c->life == CHILD_RUNS && !f->feed)
			say_error("%s goes on; gavel %s shows it, gavel agents stop %s ends it",
				  c->name, c->capture, c->name);
	}
	return code;
}

/* ---- the commands ---- */

static int attach_all(struct supervisor *f, const struct agent_group *g, struct err *err)
{
	int rc = 0;

	for (uint32_t i = 0; i < g->names.n && rc == 0; i++)
		rc = supervisor_attach(f, g->names.v[i], err);
	return rc;
}

/* Opens what the options ask for: agents to start, or those of a group, and a team that decides. */
static int begin(struct supervisor *f, struct team_feed *feed, struct arena *arena, const char *captures,
		 const struct agent_group *group, struct err *err)
{
	struct options *o = f->watch->options;
	const char *team = o->team ? o->team : o->to;

	if (supervisor_open(f, f->watch, captures, err) < 0 ||
	    (team && team_feed_open(feed, f, team, err) < 0))
		return -1;
	return group	    ? attach_all(f, group, err)
	       : o->words.n ? start_command(f, arena, o, err)
			    : start_all(f, arena, o, err);
}

/* Starts agents, or attaches to those of the group, and works with them. */
static int with_agents(struct options *o, const char *captures, const struct agent_group *group,
		       work_fn work)
{
	struct watch w = { 0 };
	struct supervisor f = { .watch = &w, .stay = group && o->headless };
	struct team_feed feed = { 0 };
	struct arena arena = { 0 };
	struct err err = { { 0 } };
	int code = EXIT_TROUBLE, names = group ? -1 : running_lock_names();
	bool begun;

	watch_init(&w, o);
	load_init(&w.load, o->max_line_bytes);
	begun = begin(&f, &feed, &arena, captures, group, &err) == 0;
	fd_close(&names);
	if (begun)
		code = work(&w, &f, &err);
	else
		load_say(&w.load, str_of(err.text));
	team_feed_close(&feed);
	supervisor_close(&f);
	watch_release(&w);
	arena_release(&arena);
	return code;
}

static int check_team(const struct options *o)
{
	if (!o->team)
		return o->items || o->no_lines ? print_trouble("--items and --no-lines say what a team gets; "
							       "give --team")
					       : EXIT_FINE;
	if (o->detach)
		return print_trouble("--detach leaves the agents alone, and --team needs somebody beside "
				     "them; give --detach only, then gavel ship with the capture that "
				     "it prints and --to=%s", o->team);
	if (o->escalate_to)
		return print_trouble("with --team, what is escalated rises in the team; leave out "
				     "--escalate-to");
	return EXIT_FINE;
}

int cmd_run(struct options *o)
{
	struct buf captures = { 0 };
	struct err err;
	bool ui = !o->detach && (o->headless || isatty(STDOUT_FILENO));
	int code = check_team(o);

	if (code != EXIT_FINE)
		return code;
	if (!ui && !o->detach && !o->team)
		return print_trouble("run needs a terminal; --detach starts agents without one, and "
				     "--headless runs the UI with the keys of --keys");
	if (o->format != OUTPUT_TEXT && !o->detach)
		return print_trouble("--format is for run --detach; the UI prints nothing");
	if (make_captures(&captures, &err) < 0) {
		code = print_trouble("%s", err.text);
	} else {
		o->headless |= !ui && !o->detach;
		code = with_agents(o, captures.p, NULL,
				   ui ? go : o->detach ? work_detached : work_shipping);
		if (rmdir(captures.p) < 0 && code != EXIT_TROUBLE && !o->detach)
			say_error("what the agents wrote is in %s", captures.p);
	}
	buf_release(&captures);
	return code;
}

int attach_to(struct options *o, const struct agent_group *group)
{
	return with_agents(o, group->folder, group, go);
}

static int answer_waiting(struct watch *w, struct supervisor *f, const struct err *err)
{
	int64_t until = loop_now_ms() + ATTEND_MS; /* later if the capture is long */

	(void)err;
	watch_begin(w, str_of(supervisor_child(f, 0)->name));
	do {
		struct pollfd fd = { .fd = agent_set_fd(&f->agents), .events = POLLIN };

		agent_set_take(&f->agents, loop_now_ms(), w->each, w->each_ctx);
		supervisor_ops.tick(f, loop_now_ms());
		for (uint32_t i = 0; i < f->supervised.n; i++)
			if (!f->supervised.v[i]->caught_up)
				until = loop_now_ms() + ATTEND_MS;
		poll(&fd, 1, agent_set_behind(&f->agents) ? 0 : POLL_MS);
	} while (!supervisor_is_idle(f) && loop_now_ms() < until);
	return EXIT_FINE;
}

void attend(struct options *given, const struct agent_group *group)
{
	struct options o = *given;

	o.headless = true;
	with_agents(&o, group->folder, group, answer_waiting);
}

int ship_agents(struct options *given, const struct agent_group *group)
{
	struct options o = *given;

	o.headless = true;
	return with_agents(&o, group->folder, group, work_shipping);
}

int prompt_agent(struct options *given, const struct agent_group *group)
{
	struct options o = *given;

	o.headless = true;
	return with_agents(&o, group->folder, group, work_prompt);
}
