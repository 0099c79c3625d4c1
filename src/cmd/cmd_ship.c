/* gavel ship: puts the sources of this machine into a team's store, and says what the team decides. */
#include "cmd/cmd.h"
#include "cmd/print.h"
#include "cmd/run_work.h"
#include "agents/running.h"
#include "loop/loop.h"
#include "model/filter.h"
#include "ship/shipper.h"

#include <signal.h>
#include <stdio.h>

enum {
	LOAD_MS = 10,
	IDLE_MAX_MS = 20,    /* with --no-follow: how soon its end is noticed */
};

struct ship_command {
	struct options *o;
	struct config config;
	struct load load;
	struct team_url url;
	struct filter *items;
	struct shipper *shipper;
	bool leaving;
	int code;
};

/* Says once that there is no connection. With --no-follow, the first attempt must do. */
static void watch_connection(struct ship_command *c, int64_t now_ms)
{
	struct store_status status;
	struct buf why = { 0 };

	shipper_status(c->shipper, &status);
	if (shipper_has_lost(c->shipper, now_ms, &why)) {
		say_error("%s", why.p);
		if (c->o->no_follow && !status.connections) {
			c->code = EXIT_TROUBLE;
			c->leaving = true;
		}
	}
	buf_release(&why);
}

static void handle_signals(struct ship_command *c)
{
	int number;

	while ((number = loop_signal()))
		if (number == SIGTERM || number == SIGINT || number == SIGHUP)
			c->leaving = true;
}

static void run(struct ship_command *c)
{
	while (!c->leaving) {
		int64_t now = loop_now_ms();
		enum load_state state = load_step(&c->load, now + LOAD_MS, NULL, NULL);
		struct loop_fd fds[] = { { load_fd(&c->load) }, { -1 } };
		int wait;

		shipper_step(c->shipper, loop_now_ms());
		if (shipper_failure(c->shipper)) {
			c->code = print_trouble("%s", shipper_failure(c->shipper));
			return;
		}
		if (c->o->no_follow && shipper_is_idle(c->shipper)) {
			c->code = shipper_is_incomplete(c->shipper) ? EXIT_TROUBLE : EXIT_FINE;
			return;
		}
		now = loop_now_ms();
		watch_connection(c, now);
		wait = state == LOAD_MORE || !c->load.complete
			       ? 0
			       : loop_sooner(shipper_wait_ms(c->shipper, now),
					     load_wait_ms(&c->load, now));
		if (c->o->no_follow)
			wait = loop_sooner(wait, IDLE_MAX_MS);
		fds[1] = shipper_fd(c->shipper);
		if (loop_wait(-1, fds, 2, wait) & LOOP_SIGNAL)
			handle_signals(c);
	}
}

static int begin(struct ship_command *c, struct err *err)
{
	struct options *o = c->o;
	struct shipper_settings settings = { .options = o, .config = &c->config, .url = &c->url,
					     .said = print_shipped };

	if (team_url_parse(&c->url, o->to, err))
		return -1;
	if (c->url.source)
		return err_set(err, "?source= is for reading a store; --as-source names what is shipped");
	if (o->items) {
		c->items = filter_new(str_of(o->items), TIME_NONE, err);
		if (!c->items)
			return -1;
	}
	settings.items = c->items;
	c->shipper = shipper_open(&c->load, &settings, err);
	return c->shipper && loop_open(err) == 0 ? 0 : -1;
}

/* The running agents whose captures are among the sources. A folder of captures stands for all of its agents. */
static bool find_agents(const struct options *o, struct agent_group *g)
{
	if (!agent_group_find(g, o->words.v, o->words.n))
		return false;
	agent_group_keep(g, o->words.v, o->words.n);
	return true;
}

static int ship_sources(struct options *o)
{
	struct ship_command c = { .o = o };
	struct err err;

	load_read_config(&c.load, o, &c.config);
	c.load.desk_options = (struct desk_options){ .open = true, .write = true,
						     .journal = o->journal,
						     .sole_writer = o->sole_writer };
	c.load.follow = !o->no_follow;
	if (load_open(&c.load, o->words.v, o->words.n, o->max_line_bytes)) {
		c.code = EXIT_TROUBLE;
		goto out;
	}
	if (!c.load.wire.files.n)
		say_error("%s: no log in it yet; what comes is shipped (captures of agents are in folders of "
			  "their own, which gavel agents lists)", o->words.v[0]);
	if ((c.code = claim_desks(&c.load)) == EXIT_FINE) {
		if (begin(&c, &err))
			c.code = print_trouble("%s", err.text);
		else
			run(&c);
	}
out:
	shipper_close(c.shipper);
	loop_close();
	filter_free(c.items);
	team_url_release(&c.url);
	load_release(&c.load);
	config_release(&c.config);
	return c.code;
}

int cmd_ship(struct options *o)
{
	struct agent_group g;
	bool run, several;
	int code;

	if (!o->to)
		o->to = configured_team(o);
	if (!o->to)
		return print_trouble("ship needs a store: --to=postgresql://HOST/DATABASE, or team.url in "
				     "the configuration");
	run = find_agents(o, &g);
	several = (run ? g.names.n : o->words.n) > 1;
	if (o->as_source && several)
		code = print_trouble("--as-source is the name of one source; ship others by themselves");
	else
		code = run ? ship_agents(o, &g) : ship_sources(o);
	agent_group_release(&g);
	return code;
}
