/* The page of an agent: what it does now, what it used, its tasks, items and messages. */
#include "view/page.h"

static void add_use(struct page *p, const struct agent_stats *stats)
{
	char in[16], out[16], cached[16];

	if (stats->tokens_in || stats->tokens_out)
		page_fact(p, "tokens", ROLE_NORMAL, "%s in, %s out, %s cached",
			  short_number(stats->tokens_in, in), short_number(stats->tokens_out, out),
			  short_number(stats->tokens_cached, cached));
	if (stats->cost > 0)
		page_fact(p, "cost", ROLE_NORMAL, "$%.3f", stats->cost);
}

/* How often it was supervised: calls that a person was asked about, and changes that nobody was. */
static void add_asked(struct page *p, const struct agent_stats *stats)
{
	if (stats->asked || stats->unasked)
		page_fact(p, "tool calls", stats->unasked ? ROLE_WARN : ROLE_NORMAL,
			  "asked %u, ran unasked %u", stats->asked, stats->unasked);
}

static void add_counts(struct page *p, const struct agent_stats *stats)
{
	struct buf text = { 0 };
	char rate[16];

	buf_printf(&text, "%u message%s", stats->messages, stats->messages == 1 ? "" : "s");
	if (stats->errors)
		buf_printf(&text, ", %u error%s", stats->errors, stats->errors == 1 ? "" : "s");
	if (stats->warnings)
		buf_printf(&text, ", %u warning%s", stats->warnings,
			   stats->warnings == 1 ? "" : "s");
	if (stats->minute)
		buf_printf(&text, "; %s a second in the last minute",
			   short_rate(stats->minute / (RATE_SPAN_MS / 1000.0), rate));
	page_fact(p, "sent", stats->errors ? ROLE_ERROR : ROLE_NORMAL, "%s", text.p);
	buf_release(&text);
}

static void agent_make(const struct scene *s, int cols, struct lines *out)
{
	const struct agent *agent;
	const struct agent_stats *stats;
	struct page *p;

	if (s->page.number >= s->model->agents.n ||
	    s->model->agents.v[s->page.number].first >= s->k)
		return;
	agent = &s->model->agents.v[s->page.number];
	p = page_start(s, cols, out);
	page_stats(p);
	stats = &p->stats[s->page.number];
	page_name(p);
	prose_add(&p->prose, "type", 11, ROLE_NORMAL, model_str(s->model, agent->type), TEXT_ID);
	page_link(p, TARGET_TASK, stats->task);
	if (stats->messages)
		page_last(p, stats->last_message);
	add_counts(p, stats);
	add_asked(p, stats);
	add_use(p, stats);
	page_link(p, TARGET_SESSION, agent->session);
	page_add_tasks(p);
	page_add_items(p);
	page_add_messages(p);
	page_end(p);
}

const struct view_ops view_agent = {
	.name = "agent",
	.make = agent_make,
	.draw = page_draw,
	.target = page_target,
	.empty = "This agent is not known yet.",
};
