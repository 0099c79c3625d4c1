/* Commands to agents (abort, query, acknowledge) as messages on the pre-flight page; where replies
 * go. */
#include "watch/decider.h"

#include "encode/encode_command.h"

static bool is_collaboration(const struct model *m, uint32_t message)
{
	return message_route(m, message)->dialect == DIALECT_COLLABORATION;
}

/* The newest task of that id. */
static bool find_task_named(const struct model *m, struct str id, struct addressed_command *out)
{
	for (uint32_t i = m->tasks.n; i-- > 0;) {
		struct task_state_at at;

		if (!str_eq(model_str(m, m->tasks.v[i].id), id) ||
		    !task_at(m, &m->tasks.v[i], m->records.n, &at) ||
		    !is_collaboration(m, at.first))
			continue;
		out->session = m->tasks.v[i].session;
		out->agent = at.agent;
		return true;
	}
	return false;
}

static bool find_agent_named(const struct model *m, struct str name, struct addressed_command *out)
{
	for (uint32_t i = m->agents.n; i-- > 0;)
		if (str_eq(agent_name(m, i), name) && is_collaboration(m, m->agents.v[i].first)) {
			out->session = m->agents.v[i].session;
			out->agent = i;
			return true;
		}
	return false;
}

static bool find_message(struct decider *s, uint32_t message, struct addressed_command *out)
{
	const struct model *m = &s->load->model;
	struct json_reader reader = { 0 };
	yyjson_val *root;

	if (message == NONE || !is_collaboration(m, message))
		return false;
	out->session = message_route(m, message)->session;
	out->agent = message_route(m, message)->from;
	json_read(&reader, s->load->reader.bytes(s->load, message), &root);
	out->target = app_effect_dup(s->app, json_get_str(root, "message_id"));
	json_reader_release(&reader);
	return true;
}

/* Resolves the session and agent of a command; reports if there are none. */
static bool resolve(struct decider *s, const struct session_command *c,
		    struct addressed_command *out)
{
	const struct model *m = &s->load->model;
	const char *problem = "only messages of collaboration sessions are acknowledged";
	bool found;

	out->type = c->type;
	if (c->type == SESSION_ABORT_TASK) {
		out->target = c->target;
		out->reason = c->reason;
		found = find_task_named(m, c->target, out);
		problem = "abort needs a task of a collaboration session and a reason";
	} else if (c->type == SESSION_STATUS) {
		found = find_agent_named(m, c->target, out);
		problem = "query needs an agent of a collaboration session";
	} else {
		found = find_message(s, c->message, out);
	}
	if (!found)
		app_say(s->app, ROLE_ERROR, "%s", problem);
	return found;
}

void decider_command(struct decider *s, const struct session_command *c)
{
	const struct model *m = &s->load->model;
	struct addressed_command command = { 0 };
	struct proposal p = { .group = NONE };
	struct buf bytes = { 0 }, path = { 0 };
	struct terms terms;
	const char *problem;
	struct err err;

	if (s->app->deciding.delivery || !resolve(s, c, &command))
		return;
	decider_clear_plan(s, &terms);
	s->is_command = true;
	p.desk = desks_find(&s->load->desks, model_str(m, m->sessions.v[command.session].group));
	if (!p.desk || command_write(&command, m, &s->load->reader, p.desk, &terms, &bytes,
				     &err)) {
		app_say(s->app, ROLE_ERROR, "%s",
			p.desk ? err.text : "no journal belongs to this source");
		buf_release(&bytes);
		return;
	}
	if (p.desk->reply)
		terms.reply = p.desk->reply;
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

/* ---- where replies go ---- */

/* Another source whose replies go there: nothing would tell which of them a line answers. */
static const struct desk *find_sharing(const struct decider *s, const struct desk *desk,
				       struct str path)
{
	for (uint32_t i = 0; i < s->load->desks.list.n; i++) {
		const struct desk *d = &s->load->desks.list.v[i];
		const char *reply = d->reply ? d->reply : s->options->reply;
		struct buf own = { 0 };
		bool same;

		if (d == desk || !reply)
			continue;
		add_absolute(&own, reply);
		same = str_eq(buf_str(&own), path);
		buf_release(&own);
		if (same)
			return d;
	}
	return NULL;
}

/* Why replies cannot go there, or NULL. */
static const char *path_problem(struct decider *s, const struct desk *desk, struct str path)
{
	struct letter letter = { .dialect = DIALECT_HANDOFF, .path = path,
				 .channel = channel_type_of(path.p) };
	struct terms terms = { .desks = &s->load->desks };

	if (desk->agent || s->turn)
		return "what gavel runs is answered directly; there is no other place for replies";
	if (s->app->deciding.delivery)
		return "still sending; wait for that";
	if (letter.channel == CHANNEL_FILE && find_sharing(s, desk, path))
		return "the replies to another source go there; each needs a file of its own";
	return reply_problem(desk, &terms, &letter);
}

void decider_reply(struct decider *s, struct desk *desk, const char *path)
{
	struct buf whole = { 0 };
	const char *problem;
	char q[QUOTED_MAX];

	add_absolute(&whole, path);
	problem = path_problem(s, desk, buf_str(&whole));
	if (problem) {
		app_say(s->app, ROLE_ERROR, "%s", problem);
	} else {
		desk->reply = arena_str(&desk->arena, buf_str(&whole)).p;
		desk->unanswerable = false;
		reply_files_give(s->load, desk->group, desk->reply);
		conversation_update(s->load);
		app_decided(s->app);
		if (app_shows(s->app, &view_preflight))
			decider_plan_again(s);
		app_say(s->app, ROLE_OK, "replies go to %s", quoted(buf_str(&whole), q));
	}
	buf_release(&whole);
}
