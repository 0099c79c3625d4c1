/* The words in which a message names its task or explains its decision, for people: where each
 * dialect has them. */
#include "dialect/dialect.h"

enum { DEPTH = 5 };

/* In a path: the first element of the array, or value of the object, that has the rest of it. */
#define ANY "*"

struct member_path {
	enum dialect_id dialect;
	const char *path[DEPTH];
};

/* In order of preference. */
static const struct member_path titles[] = {
	{ DIALECT_COLLABORATION, { "payload", "task", "task_description" } },
	{ DIALECT_COLLABORATION, { "payload", "task_description" } },
	{ DIALECT_ORCHESTRATOR, { "payload", "task", "name" } },
	{ DIALECT_ORCHESTRATOR, { "payload", "name" } },
	{ DIALECT_ORCHESTRATOR, { "payload", "description" } },
	{ DIALECT_HANDOFF, { "title" } },
	{ DIALECT_HANDOFF, { "goal" } },
	{ DIALECT_HANDOFF, { "description" } },
	{ DIALECT_HANDOFF, { "context", "goal" } },
	{ DIALECT_HANDOFF, { "task_type" } },
	{ DIALECT_CLAUDE, { "description" } },
	{ DIALECT_CLAUDE, { "tool_use_result", "task", "subject" } },
	{ DIALECT_CLAUDE, { "toolUseResult", "task", "subject" } },
	{ DIALECT_CLAUDE, { "message", "content" } },
	{ DIALECT_CLAUDE, { "message", "content", ANY, "text" } },
	{ DIALECT_CODEX, { "params", "item", "content", ANY, "text" } },
	{ DIALECT_CODEX, { "params", "input", ANY, "text" } },
	{ DIALECT_CODEX, { "payload", "item", "content", ANY, "text" } },
};

static const struct member_path reasons[] = {
	{ DIALECT_COLLABORATION, { "payload", "content" } },
	{ DIALECT_ORCHESTRATOR, { "payload", "answer" } },
	{ DIALECT_ORCHESTRATOR, { "error", "message" } },
	{ DIALECT_HANDOFF, { "rationale" } },
	{ DIALECT_CLAUDE, { "response", "response", "message" } },
	{ DIALECT_CLAUDE, { "response", "response", "updatedInput", "answers", ANY } },
	{ DIALECT_CLAUDE, { "response", "error" } },
};

static struct str follow(yyjson_val *v, const char *const *path, int left)
{
	struct str found = STR_NONE;
	yyjson_val *key, *inside;
	size_t i, n;

	if (!left || !*path)
		return json_str(v);
	if (strcmp(*path, ANY) != 0)
		return follow(json_get(v, *path), path + 1, left - 1);
	yyjson_arr_foreach(v, i, n, inside)
		if (!found.n)
			found = follow(inside, path + 1, left - 1);
	if (yyjson_is_obj(v))
		yyjson_obj_foreach(v, i, n, key, inside)
			if (!found.n)
				found = follow(inside, path + 1, left - 1);
	return found;
}

static struct str find(const struct member_path *paths, size_t n, enum dialect_id dialect,
		       yyjson_val *root)
{
	for (size_t i = 0; i < n; i++) {
		struct str words = paths[i].dialect == dialect ? follow(root, paths[i].path, DEPTH)
							       : STR_NONE;

		if (words.n)
			return words;
	}
	return STR_NONE;
}

/* The first text of a prompt. */
static struct str prompt_text(yyjson_val *blocks)
{
	yyjson_val *block;
	size_t i, n;

	if (yyjson_is_arr(blocks))
		yyjson_arr_foreach(blocks, i, n, block)
			if (json_get_str(block, "text").n)
				return json_get_str(block, "text");
	return STR_NONE;
}

struct str dialect_task_title(enum dialect_id dialect, yyjson_val *root)
{
	if (dialect == DIALECT_ACP)
		return prompt_text(json_get(json_get(root, "params"), "prompt"));
	return find(titles, sizeof(titles) / sizeof(titles[0]), dialect, root);
}

/* A feedback Request explains each decision beside the item's id. */
static struct str feedback_reason(yyjson_val *root, struct str item)
{
	yyjson_val *v, *items = json_get(json_get(root, "applied_feedback"), "items");
	size_t i, n;

	yyjson_arr_foreach(items, i, n, v) {
		struct str words = json_get_str(v, "explanation");

		if (str_eq(json_get_str(v, "id"), item))
			return words.n ? words : json_get_str(v, "reason_code");
	}
	return STR_NONE;
}

struct str dialect_decision_reason(enum dialect_id dialect, yyjson_val *root, struct str item)
{
	if (dialect == DIALECT_FEEDBACK)
		return feedback_reason(root, item);
	return find(reasons, sizeof(reasons) / sizeof(reasons[0]), dialect, root);
}
