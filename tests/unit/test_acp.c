/* acp: every line of recordings of four real agents, alone, as a log of one direction and as a
 * conversation; what becomes of each ask; and what only several messages tell. */
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

/* ---- all recordings ---- */

static char **names;
static int name_count;

static int by_name(const void *left, const void *right)
{
	return strcmp(*(char *const *)left, *(char *const *)right);
}

static void find_recordings(void)
{
	char path[1024];
	struct dirent *entry;
	DIR *dir;

	snprintf(path, sizeof(path), "%s/agents", getenv("GAVEL_FIXTURES"));
	dir = opendir(path);
	while (dir && (entry = readdir(dir))) {
		struct str name = str_of(entry->d_name), tail = STR(".both.ndjson");

		if (!str_starts(name, STR("acp-")) || !str_ends(name, tail))
			continue;
		names = xrealloc(names, (size_t)(name_count + 1) * sizeof(*names));
		names[name_count] = xmalloc(name.n);
		snprintf(names[name_count++], name.n, "%.*s", (int)(name.n - tail.n), name.p);
	}
	if (dir)
		closedir(dir);
	qsort(names, (size_t)name_count, sizeof(*names), by_name);
}

static void assert_no_error(const char *what)
{
	for (uint32_t i = 0; i < b.message.diags.list.n; i++)
		ck_assert_msg(b.message.diags.list.v[i].severity != SEVERITY_ERROR,
			      "%s, %s line %u: %.*s", names ? what : "", what, b.lines.n,
			      STR_ARG(b.message.diags.list.v[i].text));
}

/* Without a capture's head: nothing says which dialect it is, nor who speaks. */
static void hear_as_log(const struct heard_line *l)
{
	struct place place = bench_decode(&b, l->bytes, NULL);

	bench_take(&b, &place);
}

START_TEST(each_line_of_one_direction_is_acp)
{
	recording_open(&r, names[_i]);
	for (int by = BY_AGENT; by <= BY_CLIENT; by++) {
		bench_release(&b);
		bench_init(&b);
		for (uint32_t i = 0; i < r.lines.n; i++) {
			const struct heard_line *l = &r.lines.v[i];
			struct str sender;

			if ((int)l->by != by || l->broken)
				continue;
			hear_as_log(l);
			ck_assert_msg(b.message.dialect == DIALECT_ACP, "%s: %.*s", names[_i],
				      STR_ARG(l->bytes));
			sender = b.message.from.id;
			/* an empty result, and an error, may be anybody's */
			ck_assert_msg(str_is(sender, by == BY_AGENT ? "acp" : "client") ||
					      str_ends(l->bytes, STR(",\"result\":{}}")) ||
					      str_find(l->bytes, STR("\"error\":{"), 0) >= 0,
				      "%s: %.*s says %.*s", names[_i], STR_ARG(sender),
				      STR_ARG(l->bytes));
			assert_no_error(names[_i]);
		}
	}
}
END_TEST

static unsigned count_asks(void)
{
	unsigned n = 0;

	for (uint32_t i = 0; i < r.lines.n; i++)
		n += is_ask(&r.lines.v[i]);
	return n;
}

START_TEST(a_conversation_has_no_error_and_an_item_for_each_ask)
{
	bool bad = strstr(names[_i], "answer-bad") || strstr(names[_i], "-cancel");

	recording_open(&r, names[_i]);
	for (uint32_t i = 0; i < r.lines.n; i++) {
		hear(&b, &r.lines.v[i]);
		ck_assert(b.message.dialect == DIALECT_ACP || r.lines.v[i].broken);
		assert_no_error(names[_i]);
	}
	ck_assert_uint_eq(b.model.items.n, count_asks());
	ck_assert_msg(bad || !b.told.n, "%s: %s", names[_i], b.told.p);
	for (uint32_t i = 0; i < b.model.items.n; i++)
		ck_assert_msg(!bench_state(&b, i).open, "%s: item %u is open at the end", names[_i],
			      i);
}
END_TEST

/* ---- what becomes of asks ---- */

static const struct {
	const char *name, *item;
	enum item_kind kind;
	enum verdict verdict;
	enum delivery delivery;
} outcomes[] = {
	{ "acp-opencode-allow", "ses_e1774b0afffeYOomcZ824WMwMX/call_ujobc1ibi8", ITEM_PERMISSION,
	  VERDICT_ACCEPTED, DELIVERY_ACKNOWLEDGED },
	{ "acp-opencode-edit", NULL, ITEM_PERMISSION, VERDICT_ACCEPTED, DELIVERY_ACKNOWLEDGED },
	{ "acp-opencode-reject", NULL, ITEM_PERMISSION, VERDICT_REJECTED, DELIVERY_ACKNOWLEDGED },
	{ "acp-opencode-reject-then-prompt", NULL, ITEM_PERMISSION, VERDICT_REJECTED,
	  DELIVERY_ACKNOWLEDGED },
	{ "acp-opencode-outcome-cancelled", NULL, ITEM_PERMISSION, VERDICT_REJECTED,
	  DELIVERY_ACKNOWLEDGED },
	/* no update of the call: what the agent says next proves it */
	{ "acp-gemini-reject", NULL, ITEM_PERMISSION, VERDICT_REJECTED, DELIVERY_ACKNOWLEDGED },
	{ "acp-gemini-allow", NULL, ITEM_PERMISSION, VERDICT_ACCEPTED, DELIVERY_ACKNOWLEDGED },
	{ "acp-codex-reject", NULL, ITEM_PERMISSION, VERDICT_REJECTED, DELIVERY_ACKNOWLEDGED },
	{ "acp-codex-plan", NULL, ITEM_PLAN, VERDICT_ACCEPTED, DELIVERY_ACKNOWLEDGED },
	{ "acp-codex-question", "01a1e899-8147-70a2-bfc7-21a2e6b0944f/elicitation-0", ITEM_QUESTION,
	  VERDICT_ANSWERED, DELIVERY_ACKNOWLEDGED },
	{ "acp-claude-elicitation", NULL, ITEM_QUESTION, VERDICT_ANSWERED, DELIVERY_ACKNOWLEDGED },
	{ "acp-claude-elicitation-declined", NULL, ITEM_QUESTION, VERDICT_REJECTED,
	  DELIVERY_ACKNOWLEDGED },
	/* session/cancel, then $/cancel_request before any answer */
	{ "acp-claude-cancel", NULL, ITEM_PERMISSION, VERDICT_WITHDRAWN, DELIVERY_NONE },
	{ "acp-codex-cancel", NULL, ITEM_PERMISSION, VERDICT_WITHDRAWN, DELIVERY_NONE },
	/* these wait for the answer "cancelled", and use it */
	{ "acp-opencode-cancel", NULL, ITEM_PERMISSION, VERDICT_REJECTED, DELIVERY_ACKNOWLEDGED },
	{ "acp-gemini-cancel", NULL, ITEM_PERMISSION, VERDICT_REJECTED, DELIVERY_ACKNOWLEDGED },
	/* allowed, but the other ask was rejected first, which ended the turn */
	{ "acp-codex-parallel", "01a1e892-d348-7500-8bcb-8911b02783d7/call_uqpynob556",
	  ITEM_PERMISSION, VERDICT_WITHDRAWN, DELIVERY_BOUNCED },
	{ "acp-codex-parallel", "01a1e892-d348-7500-8bcb-8911b02783d7/call_sw0zh4q47f",
	  ITEM_PERMISSION, VERDICT_REJECTED, DELIVERY_ACKNOWLEDGED },
	{ "acp-claude-eof-pending", NULL, ITEM_PERMISSION, VERDICT_EXPIRED, DELIVERY_NONE },
	{ "acp-codex-eof-pending", NULL, ITEM_PERMISSION, VERDICT_EXPIRED, DELIVERY_NONE },
	{ "acp-gemini-eof-pending", NULL, ITEM_PERMISSION, VERDICT_EXPIRED, DELIVERY_NONE },
	{ "acp-opencode-eof-pending", NULL, ITEM_PERMISSION, VERDICT_EXPIRED, DELIVERY_NONE },
	/* unusable answers are denials, and nothing proves them; of two answers the first counts */
	{ "acp-opencode-answer-bad", "ses_e177415c4ffeBWrRTHeG3oxN8f/call_p5mgcf0hzb",
	  ITEM_PERMISSION, VERDICT_REJECTED, DELIVERY_SENT },
	{ "acp-opencode-answer-bad", "ses_e177415c4ffeBWrRTHeG3oxN8f/call_xolcf4dcfl",
	  ITEM_PERMISSION, VERDICT_REJECTED, DELIVERY_SENT },
	{ "acp-opencode-answer-bad", "ses_e177415c4ffeBWrRTHeG3oxN8f/call_5552xn7rao",
	  ITEM_PERMISSION, VERDICT_ACCEPTED, DELIVERY_ACKNOWLEDGED },
	{ "acp-claude-answer-bad", "6f65be13-fb83-4110-8efe-5e8962457d0d/toolu_iqx84espn8w0",
	  ITEM_PERMISSION, VERDICT_REJECTED, DELIVERY_SENT },
	{ "acp-codex-answer-bad", "01a1e892-c003-7531-a9f0-6708ba7fbecf/call_5nfcx8cyo9",
	  ITEM_PERMISSION, VERDICT_REJECTED, DELIVERY_SENT },
	{ "acp-gemini-answer-bad",
	  "4aabbc4c-38e1-4aae-9535-df59225dedfe/run_shell_command__fc-4stgak7sbk", ITEM_PERMISSION,
	  VERDICT_REJECTED, DELIVERY_SENT },
};

START_TEST(an_ask_ends_as_the_agent_took_it)
{
	struct item_state at;

	recording_open(&r, outcomes[_i].name);
	for (uint32_t i = 0; i < r.lines.n; i++)
		hear(&b, &r.lines.v[i]);
	at = bench_state(&b, bench_item(&b, outcomes[_i].kind, outcomes[_i].item));
	ck_assert_msg(at.verdict == outcomes[_i].verdict && at.delivery == outcomes[_i].delivery,
		      "%s: %s, %s", outcomes[_i].name, verdict_name(at.verdict),
		      delivery_name(at.delivery));
}
END_TEST

static const struct {
	const char *name;
	unsigned warnings;
	const char *say[5];
} complaints[] = {
	{ "acp-opencode-answer-bad", 5, { "answers \"98765\", which was not asked",
					  "chooses \"no-such-option\"", "no answer to what line",
					  "a second answer to line", "looks like JSON" } },
	{ "acp-codex-answer-bad", 5, { "98765", "no-such-option", "no answer", "second", "JSON" } },
	{ "acp-claude-answer-bad", 5, { "98765", "no-such-option", "no answer", "second", "JSON" } },
	{ "acp-gemini-answer-bad", 5, { "98765", "no-such-option", "no answer", "second", "JSON" } },
	/* the late "cancelled" is what the protocol wants; the one after it is not */
	{ "acp-claude-cancel", 1, { "asks no more; the agent ignores this" } },
	{ "acp-codex-cancel", 1, { "asks no more" } },
	{ "acp-gemini-cancel", 1, { "a second answer" } },
};

START_TEST(answers_that_do_nothing_are_told)
{
	unsigned n = 0;

	recording_open(&r, complaints[_i].name);
	for (uint32_t i = 0; i < r.lines.n; i++) {
		hear(&b, &r.lines.v[i]);
		if (!b.bad)
			continue;
		ck_assert_uint_lt(n, complaints[_i].warnings);
		ck_assert_msg(strstr(b.worse.p, complaints[_i].say[n]) != NULL, "%s", b.worse.p);
		n++;
	}
	ck_assert_uint_eq(n, complaints[_i].warnings);
}
END_TEST

/* ---- proof ---- */

static enum delivery delivery_of(const char *item)
{
	return bench_state(&b, bench_item(&b, ITEM_PERMISSION, item)).delivery;
}

static enum verdict verdict_of(const char *item)
{
	return bench_state(&b, bench_item(&b, ITEM_PERMISSION, item)).verdict;
}

static const struct {
	bool announced; /* the call was told of before the ask */
	const char *next;
	enum delivery then;
} proofs[] = {
	{ false, TEXT("S"), DELIVERY_ACKNOWLEDGED },
	{ false, CALL("S", "c2", ""), DELIVERY_ACKNOWLEDGED },
	{ false, ASK("7", "S", "c2"), DELIVERY_ACKNOWLEDGED },
	{ false, NEWS("S", "c1", "in_progress"), DELIVERY_ACKNOWLEDGED },
	{ false, DONE("3", "end_turn"), DELIVERY_ACKNOWLEDGED },
	{ true, NEWS("S", "c1", "in_progress"), DELIVERY_ACKNOWLEDGED },
	{ true, NEWS("S", "c1", "failed"), DELIVERY_ACKNOWLEDGED },
	{ true, DONE("3", "end_turn"), DELIVERY_ACKNOWLEDGED },
	{ true, DONE("3", "cancelled"), DELIVERY_BOUNCED },
	/* its own update is awaited: others may have been on their way */
	{ true, TEXT("S"), DELIVERY_SENT },
	{ true, CALL("S", "c2", ""), DELIVERY_SENT },
	{ true, NEWS("S", "c9", "in_progress"), DELIVERY_SENT },
	{ true, ASK("7", "S", "c2"), DELIVERY_SENT },
	/* another session, another prompt */
	{ false, TEXT("T"), DELIVERY_SENT },
	{ false, NEWS("T", "c1", "in_progress"), DELIVERY_SENT },
	{ false, DONE("4", "end_turn"), DELIVERY_SENT },
	{ false, DONE("4", "cancelled"), DELIVERY_SENT },
	/* what comes without an answer as well */
	{ false, UPDATE("S", "\"sessionUpdate\":\"usage_update\",\"used\":1,\"size\":2"), DELIVERY_SENT },
	{ false, UPDATE("S", "\"sessionUpdate\":\"session_info_update\",\"title\":\"T\""), DELIVERY_SENT },
	{ false, UPDATE("S", "\"sessionUpdate\":\"available_commands_update\",\"availableCommands\":[]"),
	  DELIVERY_SENT },
	{ false, UPDATE("S", "\"sessionUpdate\":\"config_option_update\",\"configOptions\":[]"),
	  DELIVERY_SENT },
	{ false, "{\"jsonrpc\":\"2.0\",\"method\":\"$/cancel_request\",\"params\":{\"requestId\":\"0\"}}",
	  DELIVERY_SENT },
	{ false, "{\"jsonrpc\":\"2.0\",\"method\":\"$/cancel_request\",\"params\":{\"requestId\":0}}",
	  DELIVERY_BOUNCED },
};

START_TEST(only_what_follows_from_the_answer_proves_it)
{
	hear_text(&b, BY_CLIENT, PROMPT("3", "S"));
	hear_text(&b, BY_CLIENT, PROMPT("4", "T"));
	if (proofs[_i].announced)
		hear_text(&b, BY_AGENT, CALL("S", "c1", ""));
	hear_text(&b, BY_AGENT, ASK("0", "S", "c1"));
	hear_text(&b, BY_CLIENT, CHOOSE("0", "y"));
	ck_assert_int_eq(delivery_of("S/c1"), DELIVERY_SENT);
	hear_text(&b, BY_AGENT, proofs[_i].next);
	ck_assert_msg(delivery_of("S/c1") == proofs[_i].then, "%s", proofs[_i].next);
}
END_TEST

START_TEST(to_give_up_is_proven_by_the_end_of_the_turn)
{
	hear_text(&b, BY_CLIENT, PROMPT("3", "S"));
	hear_text(&b, BY_AGENT, ASK("0", "S", "c1"));
	hear_text(&b, BY_CLIENT, CANCELLED("0"));
	hear_text(&b, BY_AGENT, DONE("3", "cancelled"));
	ck_assert_int_eq(verdict_of("S/c1"), VERDICT_REJECTED);
	ck_assert_int_eq(delivery_of("S/c1"), DELIVERY_ACKNOWLEDGED);
	assert_clean(&b);
}
END_TEST

#define CANCEL "{\"jsonrpc\":\"2.0\",\"method\":\"session/cancel\",\"params\":{\"sessionId\":\"S\"}}"
#define TAKEN_BACK \
	"{\"jsonrpc\":\"2.0\",\"method\":\"$/cancel_request\",\"params\":{\"requestId\":0}}"

/* The agent was faster than the second half of what a person sent. */
START_TEST(a_cancelled_turn_is_answered_behind_the_withdrawal)
{
	hear_text(&b, BY_CLIENT, PROMPT("3", "S"));
	hear_text(&b, BY_AGENT, CALL("S", "c1", ""));
	hear_text(&b, BY_AGENT, ASK("0", "S", "c1"));
	hear_text(&b, BY_CLIENT, CANCEL);
	hear_text(&b, BY_AGENT, TAKEN_BACK);
	hear_text(&b, BY_AGENT, NEWS("S", "c1", "failed"));
	ck_assert(bench_state(&b, bench_item(&b, ITEM_PERMISSION, "S/c1")).open);
	hear_text(&b, BY_CLIENT, _i ? CHOOSE("0", "y") : CANCELLED("0"));
	hear_text(&b, BY_AGENT, DONE("3", "cancelled"));
	ck_assert_int_eq(verdict_of("S/c1"), _i ? VERDICT_WITHDRAWN : VERDICT_REJECTED);
	ck_assert_int_eq(delivery_of("S/c1"), _i ? DELIVERY_NONE : DELIVERY_ACKNOWLEDGED);
}
END_TEST

START_TEST(a_cancelled_turn_that_nobody_answers_is_over)
{
	hear_text(&b, BY_CLIENT, PROMPT("3", "S"));
	hear_text(&b, BY_AGENT, ASK("0", "S", "c1"));
	hear_text(&b, BY_CLIENT, CANCEL);
	hear_text(&b, BY_AGENT, TAKEN_BACK);
	hear_text(&b, BY_AGENT, DONE("3", "cancelled"));
	ck_assert_int_eq(verdict_of("S/c1"), VERDICT_WITHDRAWN);
}
END_TEST

START_TEST(a_prompt_that_waits_keeps_the_turn_of_its_session)
{
	hear_text(&b, BY_CLIENT, PROMPT("3", "S"));
	hear_text(&b, BY_AGENT, ASK("0", "S", "c1"));
	hear_text(&b, BY_CLIENT, PROMPT("4", "S"));
	hear_text(&b, BY_AGENT, DONE("3", "end_turn"));
	ck_assert(bench_state(&b, bench_item(&b, ITEM_PERMISSION, "S/c1")).open);
	hear_text(&b, BY_AGENT, DONE("4", "end_turn"));
	ck_assert_int_eq(verdict_of("S/c1"), VERDICT_WITHDRAWN);
	assert_clean(&b);
}
END_TEST

START_TEST(ids_start_again_with_a_new_process)
{
	hear_text(&b, BY_CLIENT, PROMPT("3", "S"));
	hear_text(&b, BY_AGENT, ASK("0", "S", "c1"));
	hear_text(&b, BY_HOLDER, "{\"gavel\":\"exit\",\"n\":1,\"code\":0,\"t\":1794902925034}");
	hear_text(&b, BY_AGENT, ASK("0", "S", "c2"));
	hear_text(&b, BY_CLIENT, CHOOSE("0", "n"));
	ck_assert_int_eq(verdict_of("S/c1"), VERDICT_EXPIRED);
	ck_assert_int_eq(verdict_of("S/c2"), VERDICT_REJECTED);
	assert_clean(&b);
}
END_TEST

/* A log of what the agent wrote: somebody has answered, and the log does not say what. */
START_TEST(a_call_that_is_over_waits_no_more)
{
	hear_text(&b, BY_AGENT, CALL("S", "c1", ""));
	hear_text(&b, BY_AGENT, ASK("0", "S", "c1"));
	hear_text(&b, BY_AGENT, NEWS("S", "c1", "in_progress"));
	ck_assert(bench_state(&b, bench_item(&b, ITEM_PERMISSION, "S/c1")).open);
	hear_text(&b, BY_AGENT, NEWS("S", "c1", "completed"));
	ck_assert_int_eq(verdict_of("S/c1"), VERDICT_WITHDRAWN);
}
END_TEST

/* ---- calls without asking ---- */

static const struct {
	const char *mode;
	enum severity severity;
	const char *words;
} modes[] = {
	{ "default", SEVERITY_WARNING, "although its mode asks before changes" },
	{ "plan", SEVERITY_WARNING, "although its mode asks before changes" },
	{ "agent", SEVERITY_NOTE, "the mode is \"agent\"" },
	{ "acceptEdits", SEVERITY_NOTE, "the mode is \"acceptEdits\"" },
	{ "workspace-write", SEVERITY_NOTE, "the mode is \"workspace-write\"" },
	{ NULL, SEVERITY_NOTE, "was run without asking" },
};

START_TEST(a_change_without_asking_is_told_with_the_mode)
{
	char line[512];
	const struct diag *d;

	if (modes[_i].mode) {
		snprintf(line, sizeof(line), MODE("S", "%s"), modes[_i].mode);
		hear_text(&b, BY_AGENT, line);
	}
	hear_text(&b, BY_AGENT, CALL("S", "c1", ""));
	hear_text(&b, BY_AGENT, NEWS("S", "c1", "completed"));
	d = told_of(&b, "acp/tool-unasked");
	ck_assert_ptr_nonnull(d);
	ck_assert_int_eq(d->severity, modes[_i].severity);
	ck_assert_msg(str_find(d->text, str_of(modes[_i].words), 0) >= 0, "%.*s", STR_ARG(d->text));
}
END_TEST

/* codex-acp reviews itself in its mode "agent". Here its review failed and nothing ran; had it run,
 * that would be told. */
START_TEST(the_mode_of_a_recording_is_known)
{
	const struct diag *d;

	recording_open(&r, "acp-codex-default-mode-reviews-itself");
	for (uint32_t i = 0; i < r.lines.n; i++) {
		if (r.lines.v[i].by == BY_HOLDER)
			break;
		hear(&b, &r.lines.v[i]);
		ck_assert_ptr_null(told_of(&b, "acp/tool-unasked"));
	}
	hear_text(&b, BY_AGENT, CALL("01a1e8a4-725e-76d3-a2a8-84f7e7d0f551", "c1", ""));
	hear_text(&b, BY_AGENT, NEWS("01a1e8a4-725e-76d3-a2a8-84f7e7d0f551", "c1", "completed"));
	d = told_of(&b, "acp/tool-unasked");
	ck_assert_ptr_nonnull(d);
	ck_assert_msg(str_find(d->text, STR("the mode is \"agent\""), 0) >= 0, "%.*s",
		      STR_ARG(d->text));
}
END_TEST

/* session/load tells again what happened long ago. */
START_TEST(what_is_loaded_happened_before)
{
	recording_open(&r, "acp-claude-load2");
	for (uint32_t i = 0; i < r.lines.n; i++) {
		hear(&b, &r.lines.v[i]);
		ck_assert_uint_eq(b.message.diags.list.n, 0);
	}
	ck_assert_uint_eq(b.model.items.n, 0);
	ck_assert_uint_eq(b.model.tool_acts.n, 0);
	ck_assert_uint_eq(b.model.tasks.n, 0);
	/* what comes after a prompt happens now */
	hear_text(&b, BY_CLIENT, PROMPT("9", "12fd9cba-20c6-4881-8a69-91cfca681062"));
	hear_text(&b, BY_AGENT, CALL("12fd9cba-20c6-4881-8a69-91cfca681062", "c1", ""));
	hear_text(&b, BY_AGENT, NEWS("12fd9cba-20c6-4881-8a69-91cfca681062", "c1", "completed"));
	ck_assert_ptr_nonnull(told_of(&b, "acp/tool-unasked"));
}
END_TEST

START_TEST(what_was_allowed_for_good_is_no_surprise)
{
	unsigned notes = 0;

	recording_open(&r, "acp-gemini-allow-always");
	for (uint32_t i = 0; i < r.lines.n; i++) {
		hear(&b, &r.lines.v[i]);
		if (told_of(&b, "acp/tool-unasked")) {
			ck_assert(str_find(told_of(&b, "acp/tool-unasked")->text,
					   STR("allows some calls for good"), 0) >= 0);
			notes++;
		}
	}
	ck_assert_uint_eq(notes, 1);
	ck_assert_uint_eq(b.told.n, 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("acp");
	TCase *all = unit_cases(suite, "recordings", setup, teardown);
	TCase *asks = unit_cases(suite, "asks", setup, teardown);
	TCase *rest = unit_cases(suite, "rest", setup, teardown);
	int failed;

	if (!getenv("GAVEL_FIXTURES")) {
		puts("Bail out! needs GAVEL_FIXTURES");
		return 1;
	}
	find_recordings();
	if (name_count < 60) {
		puts("Bail out! the recordings are missing");
		return 1;
	}
	tcase_add_loop_test(all, each_line_of_one_direction_is_acp, 0, name_count);
	tcase_add_loop_test(all, a_conversation_has_no_error_and_an_item_for_each_ask, 0, name_count);
	tcase_add_loop_test(asks, an_ask_ends_as_the_agent_took_it, 0, ROWS(outcomes));
	tcase_add_loop_test(asks, answers_that_do_nothing_are_told, 0, ROWS(complaints));
	tcase_add_loop_test(asks, only_what_follows_from_the_answer_proves_it, 0, ROWS(proofs));
	tcase_add_test(asks, to_give_up_is_proven_by_the_end_of_the_turn);
	tcase_add_loop_test(asks, a_cancelled_turn_is_answered_behind_the_withdrawal, 0, 2);
	tcase_add_test(asks, a_cancelled_turn_that_nobody_answers_is_over);
	tcase_add_test(asks, a_prompt_that_waits_keeps_the_turn_of_its_session);
	tcase_add_test(asks, ids_start_again_with_a_new_process);
	tcase_add_test(asks, a_call_that_is_over_waits_no_more);
	tcase_add_loop_test(rest, a_change_without_asking_is_told_with_the_mode, 0, ROWS(modes));
	tcase_add_test(rest, the_mode_of_a_recording_is_known);
	tcase_add_test(rest, what_is_loaded_happened_before);
	tcase_add_test(rest, what_was_allowed_for_good_is_no_surprise);
	failed = unit_run(suite);
	for (int i = 0; i < name_count; i++)
		free(names[i]);
	free(names);
	return failed;
}
