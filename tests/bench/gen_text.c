/*
 * The words of the generated messages: prose, source code, names of things and files.
 *
 * The text means nothing, but it has the shape that costs a reader time: sentences with
 * quotes, some characters beyond ASCII, and code full of escapes once it is JSON.
 */
#include "gen.h"

#include <string.h>

static const char *const words[] = {
	"the", "a", "this", "should", "token", "session", "returns", "before", "validate",
	"schema", "error", "request", "response", "agent", "task", "review", "queue", "index",
	"field", "missing", "check", "when", "array", "test", "coverage", "module", "component",
	"retry", "timeout", "because", "which", "client", "server", "cache", "update", "render",
	"list", "view", "state", "parser", "message", "stream", "payload", "artifact", "iteration",
	"feedback", "plan", "section", "describes", "does", "not", "and", "or", "with", "without",
	"after", "under", "load", "latency", "memory", "buffer", "lock", "thread", "race",
	"condition", "consider", "adding", "explicit", "for", "edge", "case", "empty", "input",
	"contrast", "keyboard", "focus", "order", "documentation", "example", "function", "type",
	"contract", "boundary", "migration", "rollback", "transaction", "idempotent", "sequence",
	"ordering", "guarantee", "delivery", "worker", "planner", "judge", "threshold", "operator",
	"rationale", "evidence", "trace", "metric", "deploy", "config", "default", "optional",
	"version", "compatible", "breaking", "change", "rename", "extract", "duplicate", "naming",
	"strict", "promise", "async", "callback", "socket", "pipe", "process", "signal", "shutdown",
	"na\303\257ve", "caf\303\251", "\342\206\222", "\342\200\234quoted\342\200\235",
	"\346\227\245\346\234\254\350\252\236", "\342\234\223",
};

static const char *const aspects[] = {
	"Scope Definition", "Error Handling", "Test Coverage", "Clarity", "Efficiency", "Security",
	"Naming", "Accessibility", "Performance", "Data Model", "API Surface", "Concurrency",
	"Rollout Plan", "Observability",
};

static const char *const slugs[] = {
	"scope-definition-lacks-detail", "error-path-untested", "accessibility-concerns",
	"performance-impact", "naming-inconsistent", "auth.token-lifetime", "rollback-plan-missing",
	"schema_version-drift", "observability-gap", "race-in-queue-drain",
};

static const char *const paths[] = {
	"frontend/src/types/agent.ts", "docs/specs/SPEC-002.md", "src/auth/session.ts",
	"src/orchestrator/queue.ts", "specs/005-user-auth/spec.md", "lib/index/store.c",
	"lib/view/tree.c", "tests/test_queue.py", "migrations/0042_users.sql", "README.md",
};

static struct line scratch;

const char *
word_pick(void)
{
	return PICK(words);
}

const char *
aspect_pick(void)
{
	return PICK(aspects);
}

const char *
slug_pick(void)
{
	return PICK(slugs);
}

const char *
path_pick(void)
{
	return PICK(paths);
}

static void
text_word(struct line *line, bool capital)
{
	const char *word = word_pick();
	size_t start = line->len;

	line_add(line, word, strlen(word));
	if (capital && line->bytes[start] >= 'a' && line->bytes[start] <= 'z')
		line->bytes[start] = (char)(line->bytes[start] - 'a' + 'A');
}

static const char *
text_gap(void)
{
	unsigned roll = rnd_below(100);

	return roll < 4 ? ", " : roll < 6 ? " \"x\" " : " ";
}

void
text_prose(struct line *line, unsigned bytes)
{
	size_t end = line->len + bytes;
	unsigned left = rnd_between(6, 19);

	text_word(line, true);
	while (line->len < end) {
		bool sentence_over = --left == 0;
		const char *gap = sentence_over ? ". " : text_gap();

		line_add(line, gap, strlen(gap));
		text_word(line, sentence_over);
		if (sentence_over)
			left = rnd_between(6, 19);
	}
	line_add(line, ".", 1);
}

static void
text_code_line(struct line *line)
{
	const char *a = word_pick(), *b = word_pick();
	unsigned number = rnd_below(1000);

	switch (rnd_below(7)) {
	case 0:
		line_addf(line, "## %u. %s\n\n", number % 40 + 1, aspect_pick());
		break;
	case 1:
		line_addf(line, "export async function %s_%u(%s, opts = {}) {\n", a, number, b);
		break;
	case 2:
		line_addf(line, "\tif (!%s || %s.length == 0) throw Error(\"%s\\n\");\n", a, b, a);
		break;
	case 3:
		line_addf(line, "  const %s = await this.%s(%u, \"%s\");\n", a, b, number, a);
		break;
	case 4:
		line_addf(line, "    return { id: '%s', path: \"%s\" };\n}\n\n", a, path_pick());
		break;
	case 5:
		line_addf(line, "| `%s` | string | %s |\n", a, b);
		break;
	default:
		text_prose(line, rnd_between(60, 300));
		line_add(line, "\n", 1);
	}
}

void
line_prose(struct line *line, const char *key, unsigned median)
{
	line_clear(&scratch);
	text_prose(&scratch, rnd_length(median));
	line_string_len(line, key, scratch.bytes, scratch.len);
}

void
line_prose_array(struct line *line, const char *key, unsigned count, unsigned median)
{
	line_array(line, key);
	for (unsigned i = 0; i < count; i++)
		line_prose(line, NULL, median);
	line_array_end(line);
}

void
line_code(struct line *line, const char *key, unsigned bytes)
{
	line_clear(&scratch);
	while (scratch.len < bytes)
		text_code_line(&scratch);
	line_string_len(line, key, scratch.bytes, scratch.len);
}
