/* Cross-message rules of codex: those of all real agents (model/asks.h). The agent resolves a
 * request that was answered, by whomever; what became of the call tells whether the answer
 * counted. */
#include "model/asks.h"

static const struct ask_rules rules = {
	.answer = "codex/answer-request",
	.result = "codex/tool-result",
	.unasked = "codex/tool-unasked",
	.outcome = "codex/tool-outcome",
	.resolved = true,
	.shows_call = true,
};

/* Requests of our own have numbers above all that the agent was sent. */
static void note_number(struct apply_ctx *a)
{
	if (a->msg->sequence > rules_of(a)->sequence)
		rules_of(a)->sequence = a->msg->sequence;
}

static void apply(struct apply_ctx *a)
{
	note_number(a);
	asks_apply(a, &rules);
}

/* The thread of an ask, with which the name of its item begins. */
static struct str thread_of(const struct message *msg)
{
	struct str id = msg->events.n && msg->events.v[0].type == EV_ITEM ? msg->events.v[0].id
									  : STR_NONE;
	const char *slash = id.n ? memchr(id.p, '/', id.n) : NULL;

	return slash ? str_make(id.p, (size_t)(slash - id.p)) : STR_NONE;
}

/* Messages do not tell who speaks; but a subagent is a thread that was introduced as one, and asks
 * name their thread. */
static void name_sender(struct apply_ctx *a, struct str group)
{
	struct str thread = thread_of(a->msg);
	struct actor from = a->msg->from;

	if (!thread.n)
		return;
	a->msg->from = (struct actor){ thread, STR("subagent"), false };
	asks_name_sender(a, group);
	if (a->msg->from.id.p == thread.p)
		a->msg->from = from;
}

const struct rules_ops rules_codex = {
	.name = "codex",
	.apply = apply,
	.find_session = name_sender,
	.reply_keys = asks_reply_keys,
	.offer_keys = asks_offer_keys,
	.subject = asks_subject,
	.names_nobody = true,
};
