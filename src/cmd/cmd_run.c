/* gavel run: starts agents and supervises them over their pipes, in the terminal UI. */
#include "cmd/cmd.h"
#include "cmd/print.h"
#include "agents/supervisor.h"

#include "base/io.h"
#include "loop/loop.h"

#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* A new folder for the captures of this run. */
static int make_captures(struct buf *out, struct err *err)
{
	time_t now = time(NULL);
	struct tm t;
	char stamp[32];

	desk_base(NULL, out);
	buf_adds(out, "/captures");
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
	spec.child.name = o->agents.n ? o->agents.v[0] : name;
	spec.child.argv = o->words.v;
	spec.session = o->speaks_for_session;
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
		.child = { .name = a->name, .argv = argv, .folder = a->folder },
		.role = a->role ? str_of(a->role) : STR_NONE,
		.capabilities = capabilities, .capability_count = a->capabilities.n,
		.session = a->session || o->speaks_for_session,
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

/* ---- the command ---- */

static int supervise(struct watch *w, struct supervisor *f, const char *captures,
		     const struct err *err)
{
	struct buf title = { 0 };
	int code;

	for (uint32_t i = 0; i < f->supervised.n; i++)
		buf_printf(&title, "%s%s", i ? " " : "", f->agents.agents.v[i]->child->name);
	watch_begin(w, buf_str(&title));
	queue_replies_open(&f->queue_replies, &f->agents, &w->app,
		     w->options->escalate_to ? w->options->escalate_to : w->config.escalate_to,
		     config_trusted(&w->config));
	w->decider.more = queue_replies_plan;
	w->decider.more_ctx = &f->queue_replies;
	supervisor_show(f, loop_now_ms());
	if (err->text[0])
		app_say(&w->app, ROLE_ERROR, "%s", err->text);
	else if (!w->app.notice.n)
		app_say(&w->app, ROLE_DIM, "their output is kept in %s", captures);
	code = watch_go(w, buf_str(&title));
	buf_release(&title);
	return code;
}

int cmd_run(struct options *o)
{
	struct watch w = { 0 };
	struct supervisor f = { 0 };
	struct arena arena = { 0 };
	struct buf captures = { 0 };
	struct err err = { { 0 } };
	int code = EXIT_TROUBLE, rc;

	if (!o->headless && !isatty(STDOUT_FILENO))
		return print_trouble("run needs a terminal; --headless runs without one, and "
				     "--keys says what is typed");
	watch_init(&w, o);
	load_init(&w.load, o->max_line_bytes);
	rc = make_captures(&captures, &err);
	if (rc == 0)
		rc = supervisor_open(&f, &w, captures.p, &err);
	if (rc == 0)
		rc = (o->words.n ? start_command : start_all)(&f, &arena, o, &err);
	if (rc == 0)
		code = supervise(&w, &f, captures.p, &err);
	else
		load_say(&w.load, str_of(err.text));
	supervisor_close(&f);
	if (f.agents.load && rmdir(captures.p) < 0 && code != EXIT_TROUBLE)
		say_error("what the agents wrote is in %s", captures.p);
	watch_release(&w);
	arena_release(&arena);
	buf_release(&captures);
	return code;
}
