/* Agents whose team decides, without a screen: gavel run --team where there is no terminal, and gavel ship
 * on captures of agents that run. */
#include "cmd/cmd.h"
#include "cmd/print.h"
#include "cmd/run_work.h"
#include "agents/team_feed.h"
#include "loop/loop.h"

#include <poll.h>
#include <signal.h>
#include <stdio.h>

enum {
	IDLE_MAX_MS = 20,  /* how soon the end is noticed */
	FINISH_MS = 5000,
};

void print_shipped(void *ctx, struct str line)
{
	struct buf out = { 0 };

	(void)ctx;
	add_clean(&out, line, TEXT_LINE);
	buf_addc(&out, '\n');
	print_text(&out);
	fflush(NULL);
}

int claim_desks(struct load *l)
{
	for (uint32_t i = 0; i < l->desks.list.n; i++) {
		struct desk *d = &l->desks.list.v[i];
		struct err err;

		if (desk_claim(d, &err)) {
			say_error("%s", err.text);
			return d->trouble == JOURNAL_TROUBLE ? EXIT_TROUBLE : EXIT_JOURNAL;
		}
		load_say_copy(l, d);
	}
	return EXIT_FINE;
}

/* What was said of an agent. */
struct told_agent {
	bool ended;
	uint64_t words; /* hash of what its driver had to say */
};

static void tell_of(struct supervised_agent *s, struct told_agent *told)
{
	const struct child *c = supervisor_child(s->s, s->number);
	bool ended = agent_set_is_over(&s->s->agents, s->number);
	uint64_t words = str_hash(buf_str(&s->said));
	struct buf text = { 0 };

	if (s->said.n && words != told->words)
		say_error("%s", s->said.p);
	told->words = words;
	if (ended && !told->ended) {
		child_status_text(c, &text);
		if (s->driver && (c->end.by_signal || c->end.number))
			supervisor_add_complaint(s, &text);
		say_error("%s has ended: %s", c->name, text.p);
	}
	told->ended = ended;
	buf_release(&text);
}

static bool was_signalled(void)
{
	bool was = false;
	int number;

	while ((number = loop_signal()))
		was |= number == SIGTERM || number == SIGINT || number == SIGHUP;
	return was;
}

/* soon: its end is being waited for. */
static int turn_wait_ms(struct supervisor *f, int64_t now_ms, bool soon)
{
	int wait = agent_set_behind(&f->agents) ? 0 : agent_set_wait_ms(&f->agents, now_ms);

	wait = loop_sooner(wait, supervisor_ops.wait_ms(f, now_ms));
	return soon ? loop_sooner(wait, IDLE_MAX_MS) : wait;
}

/* With --no-follow, the first attempt to connect must do. */
static bool is_hopeless(const struct watch *w, const struct supervisor *f)
{
	struct store_status status;

	shipper_status(f->feed->shipper, &status);
	return w->options->no_follow && status.state == STORE_LOST && !status.connections;
}

/* Whether it ends as soon as everything is done. */
static bool may_end(const struct watch *w, const struct supervisor *f)
{
	return w->options->no_follow || !agent_set_running(&f->agents);
}

static int ship(struct watch *w, struct supervisor *f)
{
	VEC(struct told_agent) told = { 0 };
	bool leaving = false;
	int code = EXIT_FINE;

	while (!leaving) {
		int64_t now = loop_now_ms();
		struct loop_fd fds[] = { { agent_set_fd(&f->agents) }, { -1 } };
		const char *failure;

		agent_set_take(&f->agents, now, w->each, w->each_ctx);
		supervisor_ops.tick(f, loop_now_ms());
		while (told.n < f->supervised.n)
			vec_push(&told, (struct told_agent){ 0 });
		for (uint32_t i = 0; i < f->supervised.n; i++)
			tell_of(f->supervised.v[i], &told.v[i]);
		failure = shipper_failure(f->feed->shipper);
		if (may_end(w, f) && team_feed_is_done(f->feed))
			leaving = true;
		else if (failure)
			code = print_trouble("%s", failure);
		else if (is_hopeless(w, f))
			code = EXIT_TROUBLE;
		if (leaving || code != EXIT_FINE)
			break;
		fds[1] = shipper_fd(f->feed->shipper);
		if (loop_wait(-1, fds, 2, turn_wait_ms(f, loop_now_ms(), may_end(w, f))) & LOOP_SIGNAL)
			leaving = was_signalled();
	}
	vec_release(&told);
	if (code == EXIT_FINE && shipper_is_incomplete(f->feed->shipper))
		code = EXIT_TROUBLE;
	return code;
}

static void say_what_goes_on(struct watch *w, const struct supervisor *f)
{
	for (uint32_t i = 0; i < f->supervised.n; i++) {
		const struct child *c = supervisor_child(f, i);

		if (c->life == CHILD_RUNS)
			say_error("%s goes on; gavel ship %s --to=%s ships it, gavel agents stop %s ends it",
				  c->name, c->capture,
				  w->options->team ? w->options->team : w->options->to, c->name);
	}
}

int work_shipping(struct watch *w, struct supervisor *f, const struct err *err)
{
	struct err trouble;
	int code;

	(void)err; /* it was said */
	f->stay = true;
	f->feed->said = print_shipped;
	watch_begin(w, STR("agents"));
	code = claim_desks(&w->load);
	if (code == EXIT_FINE && loop_open(&trouble) < 0)
		code = print_trouble("%s", trouble.text);
	if (code == EXIT_FINE)
		code = ship(w, f);
	say_what_goes_on(w, f);
	loop_close();
	return code;
}

/* Whether everything was shipped in time. */
static bool finish(struct watch *w, struct supervisor *f)
{
	int64_t now = loop_now_ms(), until = now + FINISH_MS;
	struct store_status status;

	do {
		struct loop_fd other = shipper_fd(f->feed->shipper);
		struct pollfd fds[] = { { .fd = agent_set_fd(&f->agents), .events = POLLIN },
					{ .fd = other.fd,
					  .events = (short)(POLLIN | (other.output ? POLLOUT : 0)) } };

		agent_set_take(&f->agents, now, w->each, w->each_ctx);
		supervisor_ops.tick(f, loop_now_ms());
		if (team_feed_is_done(f->feed))
			return true;
		now = loop_now_ms();
		poll(fds, 2, turn_wait_ms(f, now, true));
		shipper_status(f->feed->shipper, &status);
	} while (now < until && status.state != STORE_LOST && !shipper_failure(f->feed->shipper));
	return false;
}

void finish_shipping(struct watch *w, struct supervisor *f)
{
	if (!finish(w, f))
		say_error("not everything is in the store; gavel ship %s --to=%s ships the rest",
			  children_folder(f->agents.children), w->options->team);
	say_what_goes_on(w, f);
}
