/* acp: turns, costs, subagents and plans; the page of an item, and one line about each message. */
#include "acp_recording.h"

static struct bench b;
static struct recording r;

static void setup(void)
{
	bench_init(&b);
}

static void teardown(void)
{
	recording_close(&r);
	memset(&r, 0, sizeof(r));
	bench_release(&b);
}

/* ---- turns, costs, subagents, plans ---- */

START_TEST(turns_are_tasks_and_costs_are_totals)
{
	static const struct {
		const char *name;
		unsigned turns;
		double cost;
		uint64_t tokens_in;
	} want[] = {
		{ "acp-opencode-answer-bad", 3, 0.007368, 3 * 234 },
		{ "acp-claude-answer-bad", 3, 0.015792, 3 * 468 },
		{ "acp-gemini-answer-bad", 3, 0, 3 * 2468 },
		{ "acp-claude-reject-then-prompt", 2, 0.006768, 468 },
	};

	for (unsigned k = 0; k < sizeof(want) / sizeof(want[0]); k++) {
		double cost = 0;
		uint64_t tokens_in = 0;

		recording_open(&r, want[k].name);
		for (uint32_t i = 0; i < r.lines.n; i++)
			hear(&b, &r.lines.v[i]);
		ck_assert_uint_eq(b.model.tasks.n, want[k].turns);
		for (uint32_t i = 0; i < b.model.tasks.n; i++)
			ck_assert_int_eq(vec_last(&b.model.tasks.v[i].steps)->state,
					 TASK_COMPLETED);
		assert_str(model_str(&b.model, b.model.tasks.v[0].id), "prompt-3");
		for (uint32_t i = 0; i < b.model.usage.n; i++) {
			cost += b.model.usage.v[i].cost;
			tokens_in += b.model.usage.v[i].tokens_in;
		}
		ck_assert_double_eq_tol(cost, want[k].cost, 1e-9);
		ck_assert_uint_eq(tokens_in, want[k].tokens_in);
		teardown();
		setup();
	}
}
END_TEST

START_TEST(a_prompt_that_failed_ends_its_turn)
{
	hear_text(&b, BY_CLIENT, "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"session/new\","
				 "\"params\":{\"cwd\":\"/\"}}");
	hear_text(&b, BY_AGENT, "{\"jsonrpc\":\"2.0\",\"id\":2,\"error\":{\"code\":-32000,"
				"\"message\":\"Log in first\"}}");
	ck_assert_uint_eq(b.model.tasks.n, 0);
	hear_text(&b, BY_CLIENT, PROMPT("3", "S"));
	hear_text(&b, BY_AGENT, ASK("0", "S", "c1"));
	hear_text(&b, BY_AGENT, "{\"jsonrpc\":\"2.0\",\"id\":3,\"error\":{\"code\":-32603,"
				"\"message\":\"No quota\"}}");
	ck_assert_int_eq(vec_last(&b.model.tasks.v[0].steps)->state, TASK_FAILED);
	ck_assert_int_eq(bench_state(&b, bench_item(&b, ITEM_PERMISSION, "S/c1")).verdict, VERDICT_WITHDRAWN);
}
END_TEST

START_TEST(a_subagent_asks_under_its_own_name)
{
	struct item_state at;
	struct detail d;
	uint32_t item;

	hear_text(&b, BY_AGENT,
		  UPDATE("S", "\"_meta\":{\"claudeCode\":{\"toolName\":\"Agent\"}},\"toolCallId\":"
			      "\"t1\",\"sessionUpdate\":\"tool_call\",\"rawInput\":{},\"title\":\"Task\","
			      "\"kind\":\"think\",\"status\":\"pending\""));
	hear_text(&b, BY_AGENT,
		  UPDATE("S", "\"_meta\":{\"claudeCode\":{\"toolName\":\"Agent\"}},\"toolCallId\":"
			      "\"t1\",\"sessionUpdate\":\"tool_call_update\",\"rawInput\":{"
			      "\"description\":\"Count files\",\"subagent_type\":\"Explore\","
			      "\"prompt\":\"How many?\"}"));
	hear_text(&b, BY_AGENT,
		  "{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"session/request_permission\",\"params\":{"
		  "\"sessionId\":\"S\",\"toolCall\":{\"_meta\":{\"claudeCode\":{\"parentToolUseId\":"
		  "\"t1\"}},\"toolCallId\":\"c1\",\"kind\":\"execute\",\"rawInput\":{\"command\":"
		  "\"find .\"}},\"options\":[{\"optionId\":\"y\",\"name\":\"Yes\",\"kind\":"
		  "\"allow_once\"}]}}");
	assert_clean(&b);
	item = bench_item(&b, ITEM_PERMISSION, "S/c1");
	at = bench_state(&b, item);
	assert_str(agent_name(&b.model, message_route(&b.model, at.message)->from), "Count files");
	ck_assert(b.reader.detail(b.reader.ctx, &b.model.items.v[item], &at, &d));
	for (unsigned i = 0; i < d.n; i++)
		if (strcmp(d.field[i].label, "asks") == 0) {
			assert_str(d.field[i].text, "Count files (Explore)\nHow many?");
			return;
		}
	ck_abort_msg("the page does not say who asks");
}
END_TEST

START_TEST(a_plans_entries_are_tasks)
{
	hear_text(&b, BY_AGENT,
		  UPDATE("S", "\"sessionUpdate\":\"plan\",\"entries\":[{\"content\":\"Read\",\"status\":"
			      "\"completed\"},{\"content\":\"Write\",\"status\":\"in_progress\"},"
			      "{\"content\":\"Test\",\"status\":\"pending\"}]"));
	ck_assert_uint_eq(b.model.tasks.n, 3);
	assert_str(model_str(&b.model, b.model.tasks.v[1].id), "Write");
	ck_assert_int_eq(vec_last(&b.model.tasks.v[0].steps)->state, TASK_COMPLETED);
	ck_assert_int_eq(vec_last(&b.model.tasks.v[1].steps)->state, TASK_RUNNING);
	ck_assert_int_eq(vec_last(&b.model.tasks.v[2].steps)->state, TASK_PENDING);
}
END_TEST

/* ---- pages and lines ---- */

static const struct {
	const char *name, *title, *fields; /* "label text" of some fields, a line each */
} pages[] = {
	{ "acp-opencode-allow", "execute: mkdir -p made && date > made/x.txt",
	  "command mkdir -p made && date > made/x.txt\nfolder /home/u/proj\n"
	  "description Make a directory\nalways 1  Always allow" },
	{ "acp-opencode-edit", "edit: /home/u/proj/README.md",
	  "file /home/u/proj/README.md\ndiff --- /home/u/proj/README.md" },
	{ "acp-claude-write", "Write: Write notes.txt", "tool Write\ndiff new file" },
	{ "acp-gemini-allow", "execute: mkdir -p made && date > made/x.txt",
	  "description [current working directory /home/u/proj] (Make a directory)\n"
	  "always 1  Allow for this session" },
	{ "acp-codex-allow", "execute: touch cx1.txt",
	  "folder /home/u/proj\nalways 1  Yes, and don't ask again for commands that start with" },
	{ "acp-codex-plan", "Plan: 1. Read the spec", "question Implement this plan?\nplan # Plan" },
	{ "acp-codex-question", "Which auth?", "options 1  OAuth 2.0 (Recommended): delegated" },
	{ "acp-claude-elicitation", "Which auth method should we use? (and 1 more)",
	  "questions 1  Which auth method should we use?\noptions 1  OAuth 2.0" },
};

static bool has_field(const struct detail *d, struct str want)
{
	struct str label = str_first_word(&want);

	for (unsigned i = 0; i < d->n; i++)
		if (str_eq(str_of(d->field[i].label), label) && str_starts(d->field[i].text, want))
			return true;
	return false;
}

START_TEST(a_page_says_what_would_run)
{
	struct str rest = str_of(pages[_i].fields);
	struct item_state at;
	struct detail d;

	recording_open(&r, pages[_i].name);
	for (uint32_t i = 0; i < r.lines.n; i++)
		hear(&b, &r.lines.v[i]);
	at = bench_state(&b, 0);
	ck_assert(b.reader.detail(b.reader.ctx, &b.model.items.v[0], &at, &d));
	ck_assert_msg(str_is(d.title, pages[_i].title), "%.*s", STR_ARG(d.title));
	while (rest.n) {
		struct str want = str_cut(&rest, STR("\n"));

		ck_assert_msg(has_field(&d, want), "%s: no %.*s", pages[_i].name, STR_ARG(want));
	}
}
END_TEST

static const struct {
	const char *line, *words;
} summaries[] = {
	{ TEXT("S"), "Well." },
	{ CALL("S", "c1", ",\"rawInput\":{\"command\":\"make all\"}"), "execute: make all, pending" },
	{ NEWS("S", "c1", "completed"), "c1, completed" },
	{ ASK("0", "S", "c1"), "asks: " },
	{ CHOOSE("0", "y"), "chooses y" },
	{ CANCELLED("0"), "cancelled" },
	{ PROMPT("3", "S"), "Build it" },
	{ DONE("3", "end_turn"), "turn over: end_turn" },
	{ MODE("S", "plan"), "mode plan" },
	{ UPDATE("S", "\"sessionUpdate\":\"usage_update\",\"used\":12,\"size\":99,\"cost\":{\"amount\":"
		      "0.0055260000000000005,\"currency\":\"USD\"}"),
	  "context 12 of 99 tokens, 0.005526 USD so far" },
	{ "{\"jsonrpc\":\"2.0\",\"id\":0,\"result\":{\"action\":\"accept\",\"content\":{\"q\":\"JWT\"}}}",
	  "answers: q = JWT" },
	{ "{\"jsonrpc\":\"2.0\",\"id\":0,\"result\":{\"action\":\"decline\"}}", "declines the question" },
	{ "{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":-32700,\"message\":\"Parse error\"}}",
	  "error -32700: Parse error" },
	{ "{\"jsonrpc\":\"2.0\",\"method\":\"_auth/status_update\",\"params\":{\"a\":1}}", "{\"a\":1}" },
};

START_TEST(a_line_says_what_a_message_is)
{
	struct decoder d = { 0 };
	struct buf out = { 0 };

	dialect_summarize(&d, str_of(summaries[_i].line), &out);
	ck_assert_msg(str_is(buf_str(&out), summaries[_i].words), "%s", out.p);
	buf_release(&out);
	decoder_release(&d);
}
END_TEST

/* A message of no dialect stays one. */
START_TEST(other_json_is_not_acp)
{
	static const char *const lines[] = {
		"{\"method\":\"GET\",\"path\":\"/\",\"id\":3}",
		"{\"id\":1,\"result\":\"ok\",\"time\":12}",
		"{\"params\":{},\"error\":\"x\"}",
		"[1,2]",
		"\"jsonrpc\"",
		"42",
	};
	struct frame_info capture = { .stream = DIALECT_ACP, .direction = DIRECTION_IN };
	struct decoder d = { 0 };
	struct message m = { 0 };

	for (unsigned i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		dialect_decode(&d, str_of(lines[i]), NULL, &m);
		ck_assert_int_ne(m.dialect, DIALECT_ACP);
	}
	/* in a capture that says so, whatever is an object */
	for (unsigned i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		dialect_decode(&d, str_of(lines[i]), &capture, &m);
		ck_assert(m.dialect == DIALECT_ACP || lines[i][0] != '{');
	}
	message_release(&m);
	decoder_release(&d);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("acp pages");
	TCase *t = unit_cases(suite, "pages", setup, teardown);

	if (!getenv("GAVEL_FIXTURES")) {
		puts("Bail out! needs GAVEL_FIXTURES");
		return 1;
	}
	tcase_add_test(t, turns_are_tasks_and_costs_are_totals);
	tcase_add_test(t, a_prompt_that_failed_ends_its_turn);
	tcase_add_test(t, a_subagent_asks_under_its_own_name);
	tcase_add_test(t, a_plans_entries_are_tasks);
	tcase_add_loop_test(t, a_page_says_what_would_run, 0, ROWS(pages));
	tcase_add_loop_test(t, a_line_says_what_a_message_is, 0, ROWS(summaries));
	tcase_add_test(t, other_json_is_not_acp);
	return unit_run(suite);
}
