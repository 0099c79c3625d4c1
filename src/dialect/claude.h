/* The parts of dialect claude: what its messages mean (claude.c, claude_talk.c), and how they are
 * put into words (claude_words.c, claude_detail.c). */
#ifndef GAVEL_DIALECT_CLAUDE_H
#define GAVEL_DIALECT_CLAUDE_H

#include "dialect/dialect.h"

#define CLAUDE_QUESTION "AskUserQuestion"
#define CLAUDE_PLAN "ExitPlanMode"

extern const struct actor claude_actor; /* the agent itself, not a subagent */

static inline enum direction claude_direction(const struct decoder *d)
{
	return d->info.reply ? DIRECTION_OUT : d->info.direction;
}

/* The kind of item that an ask for this tool is. */
enum item_kind claude_item_kind(struct str tool);
/* Whether a call may change something. Unknown tools may. */
bool claude_tool_changes(struct str tool);

/* Messages of a conversation: prompts, replies of the model, tool calls and their results; of
 * Claude Code itself about turns, subagents and modes. They add events to m. */
/* Checked by claude_decode_talk. */
extern const struct shape claude_talk_shape;
void claude_decode_talk(struct decoder *d, yyjson_val *root, struct message *m, bool told);
void claude_decode_system(yyjson_val *root, struct message *m);
void claude_decode_result(yyjson_val *root, struct message *m);
void claude_decode_cost(yyjson_val *root, struct message *m);
void claude_add_mode(struct message *m, yyjson_val *mode, const char *at);

void claude_summarize(struct decoder *d, yyjson_val *root, struct buf *out);
bool claude_detail(struct decoder *d, yyjson_val *root, enum item_kind kind, uint32_t index,
		   struct detail *out);
/* What a tool call is about: its command, file, question …; else its input as JSON. */
struct str claude_call_words(struct decoder *d, yyjson_val *input);
/* Appends what one of permission_suggestions would allow, and where that is kept: "Bash(touch *)
 * in .claude/settings.local.json", with two spaces between. */
void claude_offer_words(yyjson_val *offer, struct buf *out);

#endif
