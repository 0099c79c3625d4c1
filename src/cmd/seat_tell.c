/* Commands to agents (abort, query, acknowledge) as messages on the pre-flight page. */
#include "cmd/seat.h"

#include "decide/commands.h"

static bool is_collaboration(const struct model *m, uint32_t message)
{
	return message_route(m, message)->dialect == DIALECT_COLLABORATION;
}

/* The newest task of that id that somebody works on. */
static bool find_task_named(const struct model *m, struct str id, struct order *out)
{
	for (uint32_t i = m->tasks.n; i-- > 0;) {
		struct task_state_at at;

		if (!str_eq(model_str(m, m->tasks.v[i].id), id) ||
		    !task_at(m, &m->tasks.v[i], m->records.n, &at) || !is_collaboration(m, at.first))
			continue;
		out->session = m->tasks.v[i].session;
		out->agent = at.agent;
		return true;
	}
	return false;
}

static bool find_agent_named(const struct model *m, struct str name, struct order *out)
{
	for (uint32_t i = m->agents.n; i-- > 0;)
		if (str_eq(agent_name(m, i), name) && is_collaboration(m, m->agents.v[i].first)) {
			out->session = m->agents.v[i].session;
			out->agent = i;
			return true;
		}
	return false;
}

/* "abort TASK REASON" and so on; says what is wrong with it. */
static int parse(struct seat *s, const struct effect *e, struct order *out)
{
	const struct model *m = &s->load->model;
	struct str line = str_of(e->text), word, rest;
	ptrdiff_t space = str_find(line, STR(" "), 0);

	word = str_make(line.p, (size_t)space);
	rest = str_trim(str_from(line, (size_t)space));
	if (str_is(word, "abort")) {
		space = str_find(rest, STR(" "), 0);
		out->type = COMMAND_ABORT_TASK;
		out->target = space < 0 ? rest : str_make(rest.p, (size_t)space);
		out->reason = space < 0 ? STR_NONE : str_trim(str_from(rest, (size_t)space));
		if (find_task_named(m, out->target, out))
			return 0;
		app_say(s->app, ROLE_ERROR, "abort needs a task of a collaboration session and a reason");
	} else if (str_is(word, "query")) {
		out->type = COMMAND_STATUS;
		if (find_agent_named(m, rest, out))
			return 0;
		app_say(s->app, ROLE_ERROR, "query needs an agent of a collaboration session");
	} else {
		out->type = COMMAND_ACKNOWLEDGE;
		if (e->number != NONE && is_collaboration(m, e->number)) {
			struct json_reader reader = { 0 };
			yyjson_val *root;

			out->session = message_route(m, e->number)->session;
			out->agent = message_route(m, e->number)->from;
			json_read(&reader, s->load->reader.bytes(s->load, e->number), &root);
			out->target = arena_str(&s->app->deciding.words,
						json_get_str(root, "message_id"));
			json_reader_release(&reader);
			return 0;
		}
		app_say(s->app, ROLE_ERROR, "only messages of collaboration sessions are acknowledged");
	}
	return -1;
}

void seat_tell(struct seat *s, const struct effect *e)
{
	const struct model *m = &s->load->model;
	struct order command = { 0 };
	struct proposal p = { .group = NONE };
	struct buf bytes = { 0 }, path = { 0 };
	struct terms terms;
	const char *problem;
	struct err err;

	if (s->app->deciding.delivery || parse(s, e, &command))
		return;
	seat_clear_plan(s, &terms);
	p.desk = desks_find(&s->load->desks, model_str(m, m->sessions.v[command.session].group));
	if (!p.desk || command_write(&command, m, p.desk, &terms, &bytes, &err)) {
		app_say(s->app, ROLE_ERROR, "%s", p.desk ? err.text : "no journal belongs to this source");
		return;
	}
	p.letter.dialect = DIALECT_COLLABORATION;
	p.letter.channel = reply_path(p.desk, &terms, m, &(struct item){ .owner = command.session },
				      DIALECT_COLLABORATION, &path);
	p.letter.path = arena_str(&s->plan.arena, buf_str(&path));
	p.letter.bytes = arena_str(&s->plan.arena, buf_str(&bytes));
	p.letter.to = arena_str(&s->plan.arena, agent_name(m, command.agent));
	vec_push(&s->plan.list, p);
	problem = reply_problem(p.desk, &terms, &p.letter);
	if (problem)
		vec_push(&vec_last(&s->plan.list)->missing, str_of(problem));
	app_show_plan(s->app, &s->plan);
	buf_release(&bytes);
	buf_release(&path);
}
