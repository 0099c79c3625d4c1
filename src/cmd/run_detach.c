/* gavel run --detach, and gavel agents prompt: agents without a screen, until what was to be
 * said to them is said. */
#include "cmd/cmd.h"
#include "cmd/print.h"
#include "cmd/run_work.h"
#include "json/compose.h"
#include "loop/loop.h"

#include <poll.h>

enum {
	DETACH_LOOK_MS = 150,
	READY_MS = 60000,  /* for a handshake: npx may fetch the program first */
	SPEAKS_MS = 10000, /* Claude may be prompted before it has started */
	POLL_MS = 10,
};

static void take(struct watch *w, struct supervisor *f, int wait_ms)
{
	struct pollfd fd = { .fd = agent_set_fd(&f->agents), .events = POLLIN };

	agent_set_take(&f->agents, loop_now_ms(), w->each, w->each_ctx);
	supervisor_ops.tick(f, loop_now_ms());
	poll(&fd, 1, agent_set_behind(&f->agents) ? 0 : wait_ms);
}

/* Whether nothing more is to be waited for: it takes prompts, its own is written, and it has
 * shown that it works; or that will never be. */
static bool is_started(const struct supervised_agent *c, int64_t waited_ms)
{
	const struct driver *d = c->driver;

	if (supervisor_child(c->s, c->number)->life != CHILD_RUNS)
		return true;
	if (!d)
		return waited_ms >= DETACH_LOOK_MS;
	if (d->step == DRIVER_FAILED || supervisor_desk(c->s, c->number)->access != DESK_WRITES)
		return true;
	if (driver_changes_mode(d) && !d->ops->mode_by_turn)
		return false;
	return d->step == DRIVER_READY && !d->prompts.n && d->prompted >= c->prompts &&
	       (d->has_spoken || waited_ms >= SPEAKS_MS);
}

static bool all_started(const struct supervisor *f, int64_t waited_ms)
{
	for (uint32_t i = 0; i < f->supervised.n; i++)
		if (!is_started(f->supervised.v[i], waited_ms))
			return false;
	return true;
}

static void print_started(const struct supervised_agent *s, enum format format)
{
	const struct child *c = supervisor_child(s->s, s->number);
	bool runs = c->life == CHILD_RUNS;
	struct buf out = { 0 };

	if (format == OUTPUT_JSON) {
		buf_addc(&out, '{');
		json_put_name(&out, "agent", c->name);
		/* of another one it is known when it has said something */
		json_put_name(&out, "dialect",
			      s->driver ? dialect_name(s->driver->ops->dialect) : NULL);
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

/* Says what went wrong with one that has ended, was refused or does not take its prompt; false:
 * nothing did. */
static bool print_failure(const struct supervised_agent *s)
{
	const struct child *c = supervisor_child(s->s, s->number);
	const struct driver *d = s->driver;
	struct buf words = { 0 }, complaint = { 0 }, advice = { 0 };
	bool ended = c->life != CHILD_RUNS;
	bool failed =
		ended && (c->end.by_signal || c->end.number || (d && d->prompted < s->prompts));

	if (failed) {
		supervisor_complaint(c, &complaint);
		supervisor_advice(s, buf_str(&complaint), &advice);
		say_error_text(buf_str(&complaint));
		child_status_text(c, &words);
		say_error("%s ended at once: %s; %s", c->name, words.p, advice.p);
	} else if (!ended && d && d->step == DRIVER_FAILED) {
		failed = true;
		say_error("%s; gavel agents stop %s ends it", s->said.n ? s->said.p : c->name,
			  c->name);
	} else if (!ended && d && (d->prompts.n || d->prompted < s->prompts)) {
		failed = true;
		say_error("%s was not prompted: %s; gavel agents prompt %s TEXT tries it again",
			  c->name,
			  supervisor_desk(s->s, s->number)->access != DESK_WRITES
				  ? supervisor_desk(s->s, s->number)->why.text
				  : "it is not ready",
			  c->name);
	}
	buf_release(&words);
	buf_release(&complaint);
	buf_release(&advice);
	return failed;
}

int work_detached(struct watch *w, struct supervisor *f, const struct err *err)
{
	int64_t start = loop_now_ms(), waited = 0;
	int code = err->text[0] ? EXIT_TROUBLE : EXIT_FINE;

	f->stay = f->only_drives = true;
	watch_begin(w, STR("agents"));
	while (waited < READY_MS && !all_started(f, waited)) {
		take(w, f, POLL_MS);
		waited = loop_now_ms() - start;
	}
	for (uint32_t i = 0; i < f->supervised.n; i++) {
		const struct supervised_agent *s = f->supervised.v[i];

		if (print_failure(s)) {
			code = EXIT_TROUBLE;
			continue;
		}
		print_started(s, w->options->format);
		if (s->said.n)
			say_error("%s", s->said.p);
	}
	return code;
}

/* ---- gavel agents prompt ---- */

static int refuse_prompt(const struct supervised_agent *s, const char *why, int code)
{
	say_error("%s: %s", supervisor_child(s->s, s->number)->name, why);
	return code;
}

/* Waits until the capture is read; then the driver knows where the agent stands. */
static const char *prompt_refusal(struct watch *w, struct supervisor *f, struct supervised_agent *s)
{
	int64_t until = loop_now_ms() + READY_MS;
	const struct driver *d = s->driver;

	while ((!s->caught_up || (d->step != DRIVER_READY && d->step != DRIVER_FAILED)) &&
	       supervisor_child(f, s->number)->life == CHILD_RUNS && loop_now_ms() < until)
		take(w, f, POLL_MS);
	if (supervisor_child(f, s->number)->life != CHILD_RUNS)
		return "it has ended; gavel run starts it again";
	if (d->step != DRIVER_READY)
		return s->said.n ? s->said.p : "it is not ready; try again later";
	if (!driver_takes_prompt(d))
		return "a turn runs, and it takes no words before that is over; try again then, or "
		       "open its capture and use :prompt, which waits";
	return NULL;
}

int work_prompt(struct watch *w, struct supervisor *f, const struct err *err)
{
	const struct options *o = w->options;
	uint32_t agent = agent_set_named(&f->agents, str_of(o->words.v[1]));
	struct supervised_agent *s = agent == NONE ? NULL : f->supervised.v[agent];
	const struct desk *desk = s ? supervisor_desk(f, agent) : NULL;
	int64_t until = loop_now_ms() + READY_MS;
	const char *why;
	uint32_t before;

	(void)err;
	if (!s)
		return print_trouble("no agent %s runs; gavel agents lists them", o->words.v[1]);
	if (!s->driver)
		return refuse_prompt(s, "gavel does not know how to prompt this program",
				     EXIT_FOUND);
	if (desk->access != DESK_WRITES)
		return refuse_prompt(s, desk->why.text,
				     desk->trouble == JOURNAL_TROUBLE ? EXIT_TROUBLE
								      : EXIT_JOURNAL);
	watch_begin(w, str_of(o->words.v[1]));
	why = prompt_refusal(w, f, s);
	if (why)
		return refuse_prompt(s, why, EXIT_FOUND);
	before = s->driver->prompted;
	driver_prompt(s->driver, str_of(o->prompt));
	while (s->driver->prompted == before && supervisor_child(f, agent)->life == CHILD_RUNS &&
	       loop_now_ms() < until)
		take(w, f, POLL_MS);
	if (s->driver->prompted == before)
		return refuse_prompt(s, "not written; it has ended, or does not read", EXIT_FOUND);
	say("%s is prompted: gavel %s", supervisor_child(f, agent)->name,
	    supervisor_child(f, agent)->capture);
	return EXIT_FINE;
}
