/* gavel run: starts agents and supervises them in the terminal UI, or leaves them to others
 * (--detach); gavel CAPTURE: the UI on an agent that runs. */
#include "cmd/cmd.h"
#include "cmd/print.h"
#include "agents/running.h"
#include "agents/supervisor.h"
#include "json/compose.h"

#include "base/io.h"
#include "loop/loop.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum {
	COMPLAINT_BYTES = 4096,
	DETACH_LOOK_MS = 150,
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

/* Default name of an agent: that of its program, without characters that names must not have. */
static void name_after(const char *program, char out[CHILD_NAME_MAX + 1])
{
	const char *base = strrchr(program, '/');
	size_t n = 0;

	for (base = base ? base + 1 : program; *base && n < CHILD_NAME_MAX; base++)
		if (child_name_takes(*base, n))
			out[n++] = *base;
	out[n] = '\0';
	if (!n)
		snprintf(out, CHILD_NAME_MAX + 1, "agent");
}

/* A name that no running agent has: NAME, else NAME-2, NAME-3 and so on. */
static const char *free_name(struct arena *arena, const char *name)
{
	struct running_agents r = { 0 };
	const char *found = name;

	running_find(&r);
	for (unsigned n = 2; running_named(&r, found); n++)
		found = arena_printf(arena, "%.*s-%u", CHILD_NAME_MAX - 8, name, n);
	running_release(&r);
	return found;
}

/* Names of the environment variables that an agent gets, from command line and configuration. */
static void add_env(struct arena *arena, const struct options *o, const struct config_agent *a,
		    struct supervisor_spec *spec)
{
	uint32_t n = 0, extra = a ? a->env.n : 0;
	const char **names = arena_zalloc(arena, (o->env.n + extra + 1) * sizeof(*names));

	for (uint32_t i = 0; i < o->env.n; i++)
		names[n++] = o->env.v[i];
	for (uint32_t i = 0; i < extra; i++)
		names[n++] = a->env.v[i];
	spec->child.env = names;
}

static int start_command(struct supervisor *f, struct arena *arena, struct options *o,
			 struct err *err)
{
	struct supervisor_spec spec = { 0 };
	char name[CHILD_NAME_MAX + 1];

	if (o->agents.n > 1)
		return err_set(err, "--agent=%s: one command is one agent; the configuration can "
				    "name several",
			       o->agents.v[1]);
	name_after(o->words.v[0], name);
	vec_push(&o->words, NULL);
	spec.child.name = free_name(arena, o->agents.n ? o->agents.v[0] : name);
	spec.child.argv = o->words.v;
	spec.about.session = o->speaks_for_session;
	add_env(arena, o, NULL, &spec);
	return supervisor_start(f, &spec, err);
}

static int start_configured(struct supervisor *f, struct arena *arena, const struct options *o,
			    const struct config_agent *a, struct err *err)
{
	const char **argv = arena_zalloc(arena, (a->command.n + 1) * sizeof(*argv));
	struct str *capabilities =
		arena_zalloc(arena, (a->capabilities.n + 1) * sizeof(*capabilities));
	struct supervisor_spec spec = {
		.child = { .name = free_name(arena, a->name), .argv = argv, .folder = a->folder },
		.about = { a->role ? str_of(a->role) : STR_NONE, capabilities, a->capabilities.n,
			   a->session || o->speaks_for_session },
	};

	for (uint32_t i = 0; i < a->command.n; i++)
		argv[i] = a->command.v[i];
	for (uint32_t i = 0; i < a->capabilities.n; i++)
		capabilities[i] = str_of(a->capabilities.v[i]);
	add_env(arena, o, a, &spec);
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

/* What is done with agents once they were started or attached to; returns the exit code. err: why some
 * were not started. */
typedef int (*work_fn)(struct watch *w, struct supervisor *f, const struct err *err);

static int go(struct watch *w, struct supervisor *f, const struct err *err)
{
	struct buf title = { 0 }; /* the agents' names */
	int code;

	for (uint32_t i = 0; i < f->supervised.n; i++)
		buf_printf(&title, "%s%s", i ? " " : "", supervisor_child(f, i)->name);
	watch_begin(w, buf_str(&title));
	queue_replies_open(&f->queue_replies, &f->agents, &w->app,
		     w->options->escalate_to ? w->options->escalate_to : w->config.escalate_to,
		     config_trusted(&w->config));
	w->decider.more = queue_replies_plan;
	w->decider.more_ctx = &f->queue_replies;
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
	for (uint32_t i = 0; f->stay && i < f->supervised.n; i++) {
		const struct child *c = supervisor_child(f, i);

		if (c->life == CHILD_RUNS)
			say_error("%s goes on; gavel %s shows it, gavel agents stop %s ends it",
				  c->name, c->capture, c->name);
	}
	return code;
}

/* ---- --detach ---- */

/* The last lines that an agent wrote to standard error. */
static void print_complaint(const struct child *c)
{
	char text[COMPLAINT_BYTES];
	uint64_t end = c->err.source.end;
	uint64_t from = end > sizeof(text) ? end - sizeof(text) : 0;
	ssize_t n = pread(c->err.source.fd, text, sizeof(text), (off_t)from);

	if (n > 0)
		say_error_text(str_make(text, (size_t)n));
}

static void print_started(const struct child *c, enum format format)
{
	bool runs = c->life == CHILD_RUNS;
	struct buf out = { 0 };

	if (format == OUTPUT_JSON) {
		buf_addc(&out, '{');
		json_put_name(&out, "agent", c->name);
		json_put_name(&out, "dialect", NULL); /* it has not said anything yet */
		json_put_int(&out, "pid", c->pid);
		json_put_name(&out, "state", runs ? "runs" : "ended");
		json_put_name(&out, "capture", c->capture);
		buf_adds(&out, "}\n");
		print_json(&out);
	} else if (runs) {
		say("%s runs, pid %ld: gavel %s", c->name, (long)c->pid, c->capture);
	} else {
		say("%s has ended already: exit code 0: gavel %s", c->name, c->capture);
	}
}

/* Reports agents that exited right after the start, with their standard error. */
static int detach(struct watch *w, struct supervisor *f, const struct err *err)
{
	int64_t until = loop_now_ms() + DETACH_LOOK_MS;
	int code = err->text[0] ? EXIT_TROUBLE : EXIT_FINE;

	f->stay = true;
	do
		agent_set_take(&f->agents, loop_now_ms(), NULL, NULL);
	while (loop_now_ms() < until &&
	       poll(&(struct pollfd){ .fd = agent_set_fd(&f->agents), .events = POLLIN }, 1,
		    (int)(until - loop_now_ms())) >= 0);
	for (uint32_t i = 0; i < f->supervised.n; i++) {
		const struct child *c = supervisor_child(f, i);
		struct buf words = { 0 };

		if (c->life == CHILD_RUNS || (!c->end.by_signal && !c->end.number)) {
			print_started(c, w->options->format);
			continue;
		}
		print_complaint(c);
		child_status_text(c, &words);
		say_error("%s ended at once: %s; check its command", c->name, words.p);
		buf_release(&words);
		code = EXIT_TROUBLE;
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

/* Starts agents, or attaches to those of the group, and works with them. */
static int with_agents(struct options *o, const char *captures, const struct agent_group *group,
		       work_fn work)
{
	struct watch w = { 0 };
	struct supervisor f = { .stay = group && o->headless };
	struct arena arena = { 0 };
	struct err err = { { 0 } };
	int code = EXIT_TROUBLE;

	watch_init(&w, o);
	load_init(&w.load, o->max_line_bytes);
	if (supervisor_open(&f, &w, captures, &err) == 0 &&
	    (group      ? attach_all(&f, group, &err)
	     : o->words.n ? start_command(&f, &arena, o, &err)
			: start_all(&f, &arena, o, &err)) == 0)
		code = work(&w, &f, &err);
	else
		load_say(&w.load, str_of(err.text));
	supervisor_close(&f);
	watch_release(&w);
	arena_release(&arena);
	return code;
}

int cmd_run(struct options *o)
{
	struct buf captures = { 0 };
	struct err err;
	int code;

	if (!o->headless && !o->detach && !isatty(STDOUT_FILENO))
		return print_trouble("run needs a terminal; --detach starts agents without one, and "
				     "--headless runs the UI with the keys of --keys");
	if (o->format != OUTPUT_TEXT && !o->detach)
		return print_trouble("--format is for run --detach; the UI prints nothing");
	if (make_captures(&captures, &err) < 0) {
		code = print_trouble("%s", err.text);
	} else {
		code = with_agents(o, captures.p, NULL, o->detach ? detach : go);
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
