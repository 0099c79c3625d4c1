/* Cross-message rules of claude: those of all real agents (model/asks.h). */
#include "model/asks.h"

static const struct ask_rules rules = {
	.answer = "claude/answer-request",
	.result = "claude/tool-result",
	.unasked = "claude/tool-unasked",
	.call_proves = true,
};

static void apply(struct apply_ctx *a)
{
	asks_apply(a, &rules);
}

const struct rules_ops rules_claude = {
	.name = "claude",
	.apply = apply,
	.find_session = asks_name_sender,
	.reply_keys = asks_reply_keys,
	.offer_keys = asks_offer_keys,
	.subject = asks_subject,
	.names_nobody = true,
	.echoes = true,
};
