/* gavel agents: lists the agents that run, and stops them. */
#include "cmd/cmd.h"
#include "cmd/print.h"
#include "cmd/run_spec.h"
#include "agents/orchestrate.h"
#include "agents/running.h"
#include "agents/supervisor.h"
#include "json/compose.h"
#include "loop/loop.h"
#include "session/load.h"

#include <poll.h>

enum {
	POLL_MS = 20,
	PATIENCE_MS = 3000, /* behind the moment when a holder has given up */
};

/* What the capture tells of an agent. */
struct told {
	enum dialect_id dialect; /* that most of its messages are of */
	uint32_t open;           /* items */
};

static struct told read_capture(const struct running_agent *a)
{
	struct load l = { .desk_options = { 0 } };
	const char *sources[] = { a->capture };
	struct told t = { DIALECT_UNKNOWN, 0 };
	uint32_t counts[DIALECT_MAX] = { 0 }, due;

	if (load_open(&l, sources, 1, 0) == 0) {
		load_run(&l, NULL, NULL);
		for (uint32_t i = 0; i < l.model.records.n; i++)
			counts[message_route(&l.model, i)->dialect]++;
		for (uint32_t i = 0; i < DIALECT_LISTED; i++)
			if (i != DIALECT_TEXT && i != DIALECT_UNKNOWN && counts[i] > counts[t.dialect])
				t.dialect = (enum dialect_id)i;
		t.open = model_open(&l.model, l.model.records.n, timestamp_now_ms(), &due);
	}
	load_release(&l);
	return t;
}

static const char *state_words(const struct running_agent *a)
{
	static const char *const words[] = { [HOLDER_BUSY] = "has too many clients",
					     [HOLDER_REFUSED] = "cannot be reached",
					     [HOLDER_SILENT] = "does not respond" };

	return a->state != HOLDER_RUNS ? words[a->state] : a->greeting.ending ? "ending" : "runs";
}

static void print_agent(const struct running_agent *a, enum format format)
{
	struct told t = read_capture(a);
	const char *dialect = t.dialect == DIALECT_UNKNOWN ? NULL : dialects[t.dialect]->name;
	struct buf out = { 0 };

	if (format == OUTPUT_JSON) {
		buf_addc(&out, '{');
		json_put_name(&out, "agent", a->name);
		json_put_name(&out, "dialect", dialect);
		json_put_int_if(&out, "pid", a->greeting.pid, a->greeting.pid);
		json_put_name(&out, "state", state_words(a));
		json_put_name(&out, "capture", a->capture);
		json_put_int(&out, "open", t.open);
		buf_adds(&out, "}\n");
		print_json(&out);
		return;
	}
	buf_printf(&out, "%-16s %-13s ", a->name, dialect ? dialect : "-");
	buf_printf(&out, a->greeting.pid ? "%8ld" : "       -", (long)a->greeting.pid);
	buf_printf(&out, "  %-6s %3u open  %s\n", state_words(a), t.open, a->capture);
	print_text(&out);
}

/* ---- stop ---- */

/* An agent that was asked to end. */
struct stopping {
	const struct running_agent *agent;
	struct holder_link link;
	struct err err;     /* why it cannot be asked */
	struct buf request; /* what asks it: the request of its protocol, or the end of its input */
	bool busy;          /* that was refused, as there is something that the agent has not read */
	bool over;          /* the connection has ended */
	struct buf full;    /* why its output cannot be kept; empty = it is */
	struct buf end;     /* how it has ended, and what it left running: "code 0 left 7, 9" */
};

static void begin_stop(struct stopping *s)
{
	bool orchestrated = read_capture(s->agent).dialect == DIALECT_ORCHESTRATOR;
	struct holder_greeting h;
	struct buf line = { 0 };
	char id[37];

	if (orchestrated) {
		uuid_make(id);
		orchestrator_shutdown(SUPERVISOR_GRACE_MS, STR_NONE, timestamp_now_ms(), &line);
		buf_printf(&s->request, "W %s %zu\n%s", id, line.n, line.p);
		buf_release(&line);
	} else {
		buf_adds(&s->request, "E\n");
	}
	if (holder_ask(s->agent->capture, &s->link, &h, &s->err) != HOLDER_RUNS)
		return;
	s->err.text[0] = '\0';
	holder_say(&s->link, "%s", s->request.p);
	holder_say(&s->link, "K %d\n", orchestrated ? SUPERVISOR_GRACE_MS : SUPERVISOR_EOF_MS);
}

/* True: there is more to wait for. That does not include room on a full disk. */
static bool advance_stop(struct stopping *s)
{
	struct str line;

	if (s->busy)
		holder_say(&s->link, "%s", s->request.p);
	s->busy = false;
	while (!s->over && holder_next(&s->link, &line, &s->over)) {
		char type = line.n ? line.p[0] : '\0';

		if (type == 'F' || type == 'O')
			buf_clear(&s->full);
		if (type == 'F' || type == 'D')
			buf_add_str(type == 'F' ? &s->full : &s->end, str_trim(str_from(line, 1)));
		s->busy |= type == 'N' && str_ends(line, STR(" busy"));
	}
	return !s->over && !s->full.n;
}

/* Tells what became of it; true: it has ended. */
static bool end_stop(struct stopping *s, enum format format)
{
	const char *outcome = "ended", *capture = s->agent->capture;
	ptrdiff_t left = str_find(buf_str(&s->end), STR(" left "), 0);
	bool ended = s->end.n && left < 0;
	long pid = s->agent->greeting.pid;
	struct buf text = { 0 }, out = { 0 };

	if (ended) {
		buf_printf(&text, "has ended (%s); what it said is in %s", s->end.p, capture);
	} else if (left >= 0) {
		outcome = "left";
		buf_printf(&text, "it has ended and left running: %s; kill it yourself",
			   s->end.p + left + 6);
	} else if (s->err.text[0]) {
		outcome = "unreachable";
		buf_adds(&text, s->err.text);
	} else if (s->over) {
		outcome = "unknown";
		buf_printf(&text, "its holder was killed; check whether pid %ld has ended", pid);
	} else if (s->full.n) {
		outcome = "full";
		buf_printf(&text, "its last output waits for room in %.*s: %s; make room there",
			   (int)(strrchr(capture, '/') - capture), capture, s->full.p);
	} else {
		outcome = "runs";
		buf_printf(&text, "pid %ld does not end; kill it yourself", pid);
	}
	if (format == OUTPUT_JSON) {
		buf_addc(&out, '{');
		json_put_name(&out, "agent", s->agent->name);
		json_put_name(&out, "outcome", outcome);
		json_put_str(&out, "message", buf_str(&text));
		buf_adds(&out, "}\n");
		print_json(&out);
	} else {
		(ended ? say : say_error)("%s%s %s", s->agent->name, ended ? "" : ":", text.p);
	}
	holder_close(&s->link);
	buf_release(&text);
	buf_release(&s->request);
	buf_release(&s->full);
	buf_release(&s->end);
	return ended;
}

/* All are asked, then all are waited for. */
static int stop(const struct running_agents *r, const struct options *o)
{
	VEC(struct stopping) list = { 0 };
	int64_t until;
	int code = EXIT_FINE;
	bool waits = true;

	if ((o->words.n < 2) != o->all)
		return print_trouble("stop whom? gavel agents stop NAME, or --all");
	for (uint32_t i = 0; o->all && i < r->list.n; i++)
		vec_push(&list, (struct stopping){ .agent = &r->list.v[i] });
	for (uint32_t i = 1; i < o->words.n; i++) {
		uint32_t before = list.n;

		/* two that were started at the same moment may have one name */
		for (uint32_t k = 0; k < r->list.n; k++)
			if (strcmp(r->list.v[k].name, o->words.v[i]) == 0)
				vec_push(&list, (struct stopping){ .agent = &r->list.v[k] });
		if (list.n == before)
			code = print_trouble("no agent %s runs; gavel agents lists them",
					     o->words.v[i]);
	}
	for (uint32_t i = 0; i < list.n; i++)
		begin_stop(&list.v[i]);
	until = loop_now_ms() + SUPERVISOR_GRACE_MS + 2 * CHILD_TERM_MS + PATIENCE_MS;
	while (waits && loop_now_ms() < until) {
		waits = false;
		for (uint32_t i = 0; i < list.n; i++)
			waits |= advance_stop(&list.v[i]);
		if (waits)
			poll(NULL, 0, POLL_MS);
	}
	for (uint32_t i = 0; i < list.n; i++)
		if (!end_stop(&list.v[i], o->format))
			code = EXIT_TROUBLE;
	vec_release(&list);
	return code;
}

/* ---- prompt ---- */

/* All words behind the name are the prompt. */
static int read_words(const struct options *o, struct arena *arena, struct str *out, struct err *err)
{
	struct buf text = { 0 };

	for (uint32_t i = 2; i < o->words.n; i++)
		buf_printf(&text, "%s%s", i > 2 ? " " : "", o->words.v[i]);
	return read_prompt(arena, "agents prompt", arena_take(arena, &text).p, out, err);
}

static int prompt(const struct running_agents *r, struct options *o)
{
	struct arena arena = { 0 };
	struct agent_group group;
	struct str text;
	struct err err;
	int code = EXIT_TROUBLE;
	const struct running_agent *a;

	if (o->words.n < 3)
		return print_trouble("prompt whom, and what? gavel agents prompt NAME TEXT");
	a = running_named(r, o->words.v[1]);
	if (!a) {
		print_trouble("no agent %s runs; gavel agents lists them", o->words.v[1]);
	} else if (read_words(o, &arena, &text, &err) < 0) {
		print_trouble("%s", err.text);
	} else if (!agent_group_find(&group, (const char *const[]){ a->capture }, 1)) {
		print_trouble("%s: its holder does not respond; is it stopped?", a->name);
	} else {
		o->prompt = arena_str(&arena, text).p;
		code = prompt_agent(o, &group);
		agent_group_release(&group);
	}
	arena_release(&arena);
	return code;
}

int cmd_agents(struct options *o)
{
	struct running_agents r = { 0 };
	int code = EXIT_FINE;
	bool prompts = o->words.n && strcmp(o->words.v[0], "prompt") == 0;

	if (o->words.n && !prompts && strcmp(o->words.v[0], "stop") != 0)
		return print_trouble("agents %s: gavel agents lists those that run, gavel agents stop "
				     "NAME ends one, gavel agents prompt NAME TEXT tells one what to "
				     "do",
				     o->words.v[0]);
	if (prompts && o->format != OUTPUT_TEXT)
		return print_trouble("--format is not for agents prompt; its exit code tells");
	if (o->all && !o->words.n)
		return print_trouble("--all is for gavel agents stop --all, which ends all agents");
	running_find(&r);
	if (prompts)
		code = prompt(&r, o);
	else if (o->words.n)
		code = stop(&r, o);
	else if (!r.list.n && o->format == OUTPUT_TEXT)
		say_text(STR("No agent runs.\n"));
	for (uint32_t i = 0; !o->words.n && i < r.list.n; i++)
		print_agent(&r.list.v[i], o->format);
	running_release(&r);
	return code;
}
