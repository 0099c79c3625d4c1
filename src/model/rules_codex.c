/* Cross-message rules of codex: those of all real agents (model/asks.h). The agent resolves a request
 * that was answered, by whomever; what became of the call tells whether the answer counted. */
#include "model/asks.h"

static const struct ask_rules rules = {
	.answer = "codex/answer-request",
	.result = "codex/tool-result",
	.unasked = "codex/tool-unasked",
	.outcome = "codex/tool-outcome",
	.resolved = true,
	.shows_call = true,
};

static void apply(struct apply_ctx *a)
{
	asks_apply(a, &rules);
}

/* Messages do not say whose they are, but the items of asks begin with the thread, and a subagent is
 * a thread that was introduced as one. */
static void name_sender(struct apply_ctx *a, struct str group)
{
	struct message *msg = a->msg;

	(void)group;
	for (uint32_t i = 0; i < msg->events.n; i++) {
		struct str id = msg->events.v[i].id;
		const char *slash = id.n ? memchr(id.p, '/', id.n) : NULL;

		if (msg->events.v[i].type != EV_ITEM || !slash)
			continue;
		asks_rename_sender(a, str_make(id.p, (size_t)(slash - id.p)));
	}
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
