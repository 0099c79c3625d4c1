/* Real agents under supervision: what their captures tell goes to their drivers
 * (agents/driver.h), what these want to be said goes out like everything else, journalled as
 * TOLD. */
#include "agents/supervisor.h"

#include "decide/output_queue.h"

#include <stdlib.h>
#include <unistd.h>

enum { COMPLAINT_BYTES = 4096, COMPLAINT_COLS = 80 };

/* Where the agent works, without a slash at its end. */
static struct str folder_of(const struct agent_about *about, const char *given, char **real)
{
	struct str folder = about->folder;

	*real = NULL;
	if (!folder.n) {
		*real = realpath(given ? given : ".", NULL);
		folder = str_of(*real);
	}
	while (folder.n > 1 && folder.p[folder.n - 1] == '/')
		folder.n--;
	return folder;
}

void supervisor_drive(struct supervised_agent *c, const struct agent_about *about,
		      const char *folder)
{
	const struct driver_ops *ops = driver_of(about->dialect);
	const char *const *argv = (const char *const *)supervisor_child(c->s, c->number)->argv;
	char *real;

	if (!ops)
		return;
	c->driver = xcalloc(1, sizeof(*c->driver));
	c->known = argv ? known_agent_of(argv) : NULL;
	driver_init(c->driver, ops, folder_of(about, folder, &real));
	free(real);
	driver_start_mode(c->driver, about->mode);
}

void supervisor_drive_end(struct supervised_agent *c)
{
	if (c->driver)
		driver_release(c->driver);
	free(c->driver);
	buf_release(&c->said);
}

/* ---- what the capture tells ---- */

/* In ACP an answer has no field for the reason: it is the next prompt, once the turn is over.
 * The answer is found among the letters by its bytes. */
static void note_rejection(struct supervised_agent *c, struct str line)
{
	const struct desk *desk = supervisor_desk(c->s, c->number);
	struct buf path = { 0 };
	uint32_t i = desk->letters.n;

	buf_printf(&path, "%s#%u", supervisor_child(c->s, c->number)->capture, c->driven);
	while (i-- > 0) {
		const struct letter *l = &desk->letters.v[i];

		if (str_eq(l->path, buf_str(&path)) && str_eq(str_trim(l->bytes), str_trim(line)))
			break;
	}
	buf_release(&path);
	for (uint32_t k = 0; i != NONE && k < desk->letters.v[i].drafts.n; k++) {
		const struct draft *draft = &desk->drafts.v[desk->letters.v[i].drafts.v[k]];
		struct str why = draft->explanation.n ? draft->explanation : draft->reason_code;

		if (draft->verb == VERB_REJECT && why.n)
			driver_prompt(c->driver, why);
	}
}

static void note_holder(struct supervised_agent *c, struct str record)
{
	struct json_reader reader = { 0 };
	yyjson_val *root;
	int64_t run;

	if (json_read(&reader, record, &root) == JSON_OK) {
		if (str_is(json_get_str(root, "gavel"), "exit")) {
			driver_end(c->driver);
		} else if (json_int(json_get(root, "n"), &run)) {
			driver_run(c->driver);
			c->malformed = false;
			c->driven = (unsigned)run;
		}
	}
	json_reader_release(&reader);
}

void supervisor_drive_note(struct supervised_agent *c, const struct message *msg, struct str bytes)
{
	bool told = (msg->flags & RECORD_TOLD) != 0, was_busy = c->driver->busy;

	if (msg->flags & RECORD_HOLDER) {
		note_holder(c, bytes);
		return;
	}
	if (msg->flags & RECORD_OVERSIZE)
		return;
	driver_note(c->driver, bytes, told);
	if (told && c->driver->ops->dialect == DIALECT_ACP)
		note_rejection(c, bytes);
	c->finished = was_busy && !c->driver->busy && c->driver->live && !c->driver->prompts.n;
}

/* ---- what is due ---- */

/* Shows what the driver has to say, and what may be missing. */
static void show_notice(struct supervisor *s, struct supervised_agent *c)
{
	struct driver *d = c->driver;
	const struct child *child = supervisor_child(s, c->number);

	if (c->finished)
		app_say(&s->watch->app, d->asks_nobody ? ROLE_WARN : ROLE_OK,
			d->asks_nobody ? "%s has finished, and asks nobody in its mode; :mode "
					 "changes that, {prompt} prompts it"
				       : "%s has finished; {prompt} prompts it",
			child->name);
	c->finished = false;
	/* the last line of one that has ended may be cut */
	if (d->malformed && !c->malformed && child->life == CHILD_RUNS) {
		c->malformed = true;
		driver_say(d, "writes lines that are no messages");
	}
	if (!d->notice.n)
		return;
	buf_clear(&c->said);
	buf_printf(&c->said, "%s ", child->name);
	add_clean(&c->said, buf_str(&d->notice), TEXT_LINE);
	if (d->needs_login && c->known) {
		buf_adds(&c->said, "; ");
		known_agent_advice(c->known, c->passed, buf_str(&d->notice), &c->said);
	}
	buf_clear(&d->notice);
	d->needs_login = false;
	app_say(&s->watch->app, ROLE_WARN, "%s", c->said.p);
}

void supervisor_drive_tick(struct supervisor *s, uint32_t agent)
{
	struct supervised_agent *c = s->supervised.v[agent];
	const struct child *child = supervisor_child(s, agent);
	struct buf line = { 0 };

	if (!c->driver || !c->caught_up)
		return;
	if (!c->driver->live)
		driver_live(c->driver);
	while (child->life == CHILD_RUNS && child->stop == CHILD_GOES_ON &&
	       c->driven == child->incarnation && !supervisor_is_locked_out(s, agent) &&
	       driver_next(c->driver, &line)) {
		if (!supervisor_send(s, agent, buf_str(&line)))
			break;
		buf_clear(&line);
	}
	buf_release(&line);
	show_notice(s, c);
}

bool supervisor_drive_stop(struct supervisor *s, uint32_t agent)
{
	struct supervised_agent *c = s->supervised.v[agent];

	if (!c->driver || !driver_interrupt(c->driver))
		return false;
	supervisor_drive_tick(s, agent);
	c->ends_input = true;
	return true;
}

void supervisor_end_input(struct supervisor *s, uint32_t agent)
{
	struct supervised_agent *c = s->supervised.v[agent];

	if (!c->ends_input || desk_queue_wait_ms(supervisor_desk(s, agent), 0) >= 0)
		return;
	c->ends_input = false;
	child_end_input(supervisor_child(s, agent));
}

/* ---- orders ---- */

/* The agent that an order is for; NONE, and said why not. */
static uint32_t agent_of(struct supervisor *s, const struct agent_order *o)
{
	struct app *app = &s->watch->app;
	uint32_t agent =
		o->agent.n || s->supervised.n != 1 ? agent_set_named(&s->agents, o->agent) : 0;
	char q[QUOTED_MAX];

	if (agent == NONE && !o->agent.n)
		app_say(app, ROLE_ERROR, "which agent? {agents} lists them");
	else if (agent == NONE)
		app_say(app, ROLE_ERROR, "no agent %s is running; {agents} lists them",
			quoted(o->agent, q));
	else if (supervisor_desk(s, agent)->access != DESK_WRITES)
		app_say(app, ROLE_ERROR, "%s: %s", supervisor_child(s, agent)->name,
			supervisor_desk(s, agent)->why.text);
	else if (supervisor_child(s, agent)->life != CHILD_RUNS)
		app_say(app, ROLE_ERROR, "%s has ended; :restart %s starts it again",
			supervisor_child(s, agent)->name, supervisor_child(s, agent)->name);
	else if (!s->supervised.v[agent]->driver)
		app_say(app, ROLE_ERROR,
			"%s takes no prompts that gavel knows of; --dialect=claude, codex or acp "
			"says what an agent speaks",
			supervisor_child(s, agent)->name);
	else
		return agent;
	return NONE;
}

static void say_prompted(struct supervisor *s, uint32_t agent, bool at_once)
{
	const struct driver *d = s->supervised.v[agent]->driver;
	const char *name = supervisor_child(s, agent)->name;

	if (at_once)
		app_say(&s->watch->app, ROLE_OK, "%s is prompted", name);
	else if (d->busy)
		app_say(&s->watch->app, ROLE_WARN,
			"%s is prompted when its turn is over; :interrupt ends that", name);
	else
		app_say(&s->watch->app, ROLE_WARN, "%s is prompted when it is ready", name);
}

static void say_modes(struct app *app, const struct driver *d)
{
	struct buf offers = { 0 };

	driver_put_offers(d, &offers);
	app_say(app, ROLE_ERROR, "mode needs the name of a mode%s%s", offers.n ? "; it offers " : "",
		offers.n ? offers.p : "");
	buf_release(&offers);
}

void supervisor_drive_order(struct supervisor *s, const struct agent_order *o)
{
	uint32_t agent = agent_of(s, o);
	struct app *app = &s->watch->app;
	struct driver *d;
	const char *name;

	if (agent == NONE)
		return;
	d = s->supervised.v[agent]->driver;
	name = supervisor_child(s, agent)->name;
	if (o->type == ORDER_PROMPT) {
		bool at_once = driver_takes_prompt(d);

		if (!o->text.n)
			app_say(app, ROLE_ERROR, "a prompt needs words");
		else if (!driver_prompt(d, o->text))
			app_say(app, ROLE_ERROR, "%s: too many prompts wait already", name);
		else
			say_prompted(s, agent, at_once);
	} else if (o->type == ORDER_INTERRUPT) {
		if (driver_interrupt(d))
			app_say(app, ROLE_WARN, "interrupting %s", name);
		else
			app_say(app, ROLE_WARN, "%s has no turn that runs", name);
	} else if (!o->text.n) {
		say_modes(app, d);
	} else if (driver_mode(d, o->text)) {
		app_say(app, ROLE_WARN,
			d->ops->mode_by_turn ? "%s has that mode from its next turn on"
					     : "%s is told to change its mode", name);
	}
	supervisor_drive_tick(s, agent);
}

/* ---- failures ---- */

void supervisor_complaint(const struct child *c, struct buf *out)
{
	char text[COMPLAINT_BYTES];
	uint64_t end = c->err.source.end;
	uint64_t from = end > sizeof(text) ? end - sizeof(text) : 0;
	ssize_t n = end > c->err.began ? pread(c->err.source.fd, text, sizeof(text),
					       (off_t)(from > c->err.began ? from : c->err.began))
				       : 0;

	if (n > 0)
		buf_add(out, text, (size_t)n);
}

void supervisor_add_complaint(const struct supervised_agent *c, struct buf *out)
{
	struct buf text = { 0 };
	struct str rest, line = STR_NONE;

	supervisor_complaint(supervisor_child(c->s, c->number), &text);
	for (rest = buf_str(&text); rest.n;) {
		struct str one = str_trim(str_cut(&rest, STR("\n")));

		if (one.n)
			line = one;
	}
	if (line.n) {
		buf_adds(out, ": ");
		add_clean_cut(out, line, TEXT_LINE, false, COMPLAINT_COLS);
	}
	if (!c->driver->has_spoken || driver_is_login(line)) {
		buf_adds(out, "; ");
		supervisor_advice(c, buf_str(&text), out);
	}
	buf_release(&text);
}

void supervisor_advice(const struct supervised_agent *c, struct str words, struct buf *out)
{
	if (c->known)
		known_agent_advice(c->known, c->passed, words, out);
	else
		buf_adds(out, "check its command");
}
