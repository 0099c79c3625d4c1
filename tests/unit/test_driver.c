/* Drivers of real agents: what they say at the start, for prompts, interrupts and changes of
 * mode, what they refuse; and that whoever attaches in the middle of a conversation goes on with
 * the same words. */
#include "agents/driver.h"

#include "unit.h"

static struct driver d;
static struct buf line;

static void tear_down(void)
{
	driver_release(&d);
	d = (struct driver){ 0 };
	buf_release(&line);
}

static void start(const struct driver_ops *ops)
{
	driver_init(&d, ops, STR("/home/u/proj"));
	driver_live(&d);
	driver_run(&d);
}

static void heard(const char *text)
{
	driver_note(&d, str_of(text), false);
}

/* The next line is that one, and the capture gets it. */
static void says(const char *want)
{
	buf_clear(&line);
	ck_assert_msg(driver_next(&d, &line), "nothing, not %s", want);
	ck_assert_uint_eq(line.p[line.n - 1], '\n');
	line.p[--line.n] = '\0';
	ck_assert_str_eq(line.p, want);
	driver_note(&d, buf_str(&line), true);
}

static void silent(void)
{
	buf_clear(&line);
	ck_assert_msg(!driver_next(&d, &line), "says %s", line.p);
}

static void noticed(const char *words)
{
	ck_assert_msg(d.notice.n && strstr(d.notice.p, words), "\"%s\", not \"%s\"",
		      d.notice.n ? d.notice.p : "", words);
	buf_clear(&d.notice);
}

/* ---- claude ---- */

#define CLAUDE_INIT \
	"{\"type\":\"control_request\",\"request_id\":\"gavel-1\",\"request\":{\"subtype\":" \
	"\"initialize\",\"hooks\":{}}}"
#define CLAUDE_RESULT "{\"type\":\"result\",\"subtype\":\"success\",\"is_error\":false}"

START_TEST(claude_is_prompted_at_any_time)
{
	start(&driver_claude);
	driver_prompt(&d, STR("say \"hi\"\n"));
	says(CLAUDE_INIT);
	says("{\"type\":\"user\",\"message\":{\"role\":\"user\",\"content\":\"say "
	     "\\\"hi\\\"\\n\"}}");
	ck_assert_uint_eq(d.prompted, 1);
	ck_assert(d.busy);
	silent();
	driver_prompt(&d, STR("and more"));
	says("{\"type\":\"user\",\"message\":{\"role\":\"user\",\"content\":\"and more\"}}");
	heard(CLAUDE_RESULT);
	ck_assert(!d.busy);
	ck_assert(!driver_interrupt(&d));
	silent();
}
END_TEST

START_TEST(claude_is_interrupted_and_changes_its_mode)
{
	start(&driver_claude);
	driver_prompt(&d, STR("go"));
	says(CLAUDE_INIT);
	says("{\"type\":\"user\",\"message\":{\"role\":\"user\",\"content\":\"go\"}}");
	ck_assert(driver_interrupt(&d));
	says("{\"type\":\"control_request\",\"request_id\":\"gavel-2\",\"request\":{\"subtype\":"
	     "\"interrupt\"}}");
	ck_assert(driver_mode(&d, STR("plan")));
	says("{\"type\":\"control_request\",\"request_id\":\"gavel-3\",\"request\":{\"subtype\":"
	     "\"set_permission_mode\",\"mode\":\"plan\"}}");
	heard("{\"type\":\"control_response\",\"response\":{\"subtype\":\"error\",\"request_id\":"
	      "\"gavel-3\",\"error\":\"Cannot set permission mode\"}}");
	noticed("Cannot set permission mode");
	/* the echo of somebody's answer is none of its */
	heard("{\"type\":\"control_response\",\"response\":{\"subtype\":\"error\",\"request_id\":"
	      "\"2376\",\"error\":\"no\"}}");
	ck_assert_uint_eq(d.notice.n, 0);
	silent();
}
END_TEST

START_TEST(claude_gets_an_error_for_what_gavel_cannot_do)
{
	start(&driver_claude);
	says(CLAUDE_INIT);
	heard("{\"type\":\"control_request\",\"request_id\":\"a-1\",\"request\":{\"subtype\":"
	      "\"can_use_tool\",\"tool_name\":\"Bash\",\"input\":{}}}");
	silent(); /* that is for a person */
	heard("{\"type\":\"control_request\",\"request_id\":\"a-2\",\"request\":{\"subtype\":"
	      "\"mcp_message\"}}");
	says("{\"type\":\"control_response\",\"response\":{\"subtype\":\"error\",\"request_id\":"
	     "\"a-2\","
	     "\"error\":\"gavel does not do that\"}}");
	silent();
	heard("{\"type\":\"control_request\",\"request_id\":\"a-3\",\"request\":{\"subtype\":"
	      "\"mcp_message\"}}");
	heard("{\"type\":\"control_cancel_request\",\"request_id\":\"a-3\"}");
	heard("{\"type\":\"control_request\",\"request\":{\"subtype\":\"mcp_message\"}}");
	heard("{\"type\":\"control_cancel_request\"}");
	silent();
}
END_TEST

START_TEST(requests_without_end_are_not_kept)
{
	struct buf b = { 0 };

	start(&driver_claude);
	for (unsigned i = 0; i < DRIVER_ASKED_MAX + 10; i++) {
		buf_clear(&b);
		buf_printf(&b, "{\"type\":\"control_request\",\"request_id\":\"a-%u\",\"request\":"
			       "{\"subtype\":\"can_use_tool\"}}", i);
		heard(b.p);
	}
	buf_release(&b);
	ck_assert_uint_eq(d.asked.n, DRIVER_ASKED_MAX);
}
END_TEST

START_TEST(claude_without_a_login_says_so)
{
	start(&driver_claude);
	heard("{\"type\":\"result\",\"is_error\":true,\"result\":\"Invalid API key \\u00b7 Please "
	      "run "
	      "/login\"}");
	ck_assert(d.needs_login);
	noticed("Please run /login");
	heard("not JSON at all");
	ck_assert(d.malformed);
}
END_TEST

/* ---- codex ---- */

#define CODEX_INIT \
	"{\"id\":1,\"method\":\"initialize\",\"params\":{\"clientInfo\":{\"name\":\"gavel\"," \
	"\"title\":" \
	"\"gavel\",\"version\":\"" PACKAGE_VERSION \
	"\"},\"capabilities\":{\"experimentalApi\":true}}}"
#define CODEX_THREAD \
	"{\"id\":2,\"method\":\"thread/start\",\"params\":{\"cwd\":\"/home/u/proj\"," \
	"\"approvalPolicy\":\"on-request\",\"sandbox\":\"workspace-write\"}}"
#define CODEX_TURN(id, words) \
	"{\"id\":" #id \
	",\"method\":\"turn/start\",\"params\":{\"threadId\":\"T\",\"input\":[{\"type\":" \
	"\"text\",\"text\":\"" words "\"}]}}"
#define CODEX_STEER(id, words) \
	"{\"id\":" #id \
	",\"method\":\"turn/steer\",\"params\":{\"threadId\":\"T\",\"expectedTurnId\":" \
	"\"U\",\"input\":[{\"type\":\"text\",\"text\":\"" words "\"}]}}"
#define CODEX_COMPLETED \
	"{\"method\":\"turn/" \
	"completed\",\"params\":{\"threadId\":\"T\",\"turn\":{\"id\":\"U\",\"status\":" \
	"\"completed\",\"error\":null}}}"

static void codex_is_ready(void)
{
	start(&driver_codex);
	driver_prompt(&d, STR("go"));
	says(CODEX_INIT);
	silent();
	heard("{\"id\":1,\"result\":{\"userAgent\":\"x\"}}");
	says("{\"method\":\"initialized\"}");
	says(CODEX_THREAD);
	silent();
	heard("{\"id\":2,\"result\":{\"thread\":{\"id\":\"T\"}}}");
	says(CODEX_TURN(3, "go"));
}

START_TEST(codex_is_steered_while_a_turn_runs)
{
	codex_is_ready();
	driver_prompt(&d, STR("more"));
	silent(); /* the turn's id is not known */
	heard("{\"id\":3,\"result\":{\"turn\":{\"id\":\"U\"}}}");
	says(CODEX_STEER(4, "more"));
	heard("{\"id\":4,\"result\":{\"turnId\":\"U\"}}");
	silent();
	ck_assert(driver_interrupt(&d));
	says("{\"id\":5,\"method\":\"turn/"
	     "interrupt\",\"params\":{\"threadId\":\"T\",\"turnId\":\"U\"}}");
	heard("{\"id\":5,\"result\":{}}");
	/* a subagent's turn is not this one */
	heard("{\"method\":\"turn/"
	      "completed\",\"params\":{\"threadId\":\"T2\",\"turn\":{\"id\":\"V\"}}}");
	ck_assert(d.busy);
	heard(CODEX_COMPLETED);
	ck_assert(!d.busy);
	ck_assert_uint_eq(d.notice.n, 0);
	heard("{\"method\":\"turn/completed\""
	      ",\"params\":{\"threadId\":\"T\",\"turn\":{\"id\":\"U\","
	      "\"error\":{\"message\":\"stream disconnected\"}}}}");
	ck_assert(!d.needs_login);
	noticed("could not work: stream disconnected");
	driver_prompt(&d, STR("next"));
	says(CODEX_TURN(6, "next"));
}
END_TEST

#define CODEX_PLANS(id, words) \
	"{\"id\":" #id ",\"method\":\"turn/start\",\"params\":{\"threadId\":\"T\"," \
	"\"collaborationMode\":{\"mode\":\"plan\",\"settings\":{\"model\":\"gpt-5.5\"," \
	"\"reasoning_effort\":null,\"developer_instructions\":null}},\"input\":[{\"type\":" \
	"\"text\",\"text\":\"" words "\"}]}}"

START_TEST(codex_has_its_mode_with_the_next_turn)
{
	driver_start_mode(&d, STR("plan"));
	start(&driver_codex);
	says(CODEX_INIT);
	heard("{\"id\":1,\"result\":{}}");
	says("{\"method\":\"initialized\"}");
	says(CODEX_THREAD);
	heard("{\"id\":2,\"result\":{\"thread\":{\"id\":\"T\"},\"model\":\"gpt-5.5\"}}");
	silent();
	driver_prompt(&d, STR("go"));
	says(CODEX_PLANS(3, "go"));
	silent();
	heard(CODEX_COMPLETED);
	driver_prompt(&d, STR("more"));
	says(CODEX_TURN(4, "more")); /* it has the mode */
	ck_assert(!driver_mode(&d, STR("yolo")));
	noticed("no mode \"yolo\"; it offers default, plan");
}
END_TEST

START_TEST(codex_words_that_a_turn_did_not_take_are_the_next_turn)
{
	codex_is_ready();
	heard("{\"id\":3,\"result\":{\"turn\":{\"id\":\"U\"}}}");
	driver_prompt(&d, STR("more"));
	says(CODEX_STEER(4, "more"));
	heard("{\"id\":4,\"error\":{\"code\":-32600,\"message\":\"no active turn to steer\"}}");
	driver_prompt(&d, STR("last"));
	silent();
	heard(CODEX_COMPLETED);
	says(CODEX_TURN(5, "more"));
	silent();
	heard("{\"id\":5,\"result\":{\"turn\":{\"id\":\"U\"}}}");
	says(CODEX_STEER(6, "last"));
}
END_TEST

START_TEST(codex_refuses)
{
	start(&driver_codex);
	says(CODEX_INIT);
	heard("{\"id\":1,\"result\":{}}");
	says("{\"method\":\"initialized\"}");
	says(CODEX_THREAD);
	heard("{\"error\":{\"code\":-32600,\"message\":\"not logged in\"},\"id\":2}");
	ck_assert_int_eq(d.step, DRIVER_FAILED);
	ck_assert(d.needs_login);
	noticed("refused thread/start: not logged in");
	driver_prompt(&d, STR("go"));
	silent();
}
END_TEST

START_TEST(codex_gets_an_error_for_what_gavel_cannot_do)
{
	codex_is_ready();
	heard("{\"method\":\"item/commandExecution/requestApproval\",\"id\":0,\"params\":{}}");
	heard("{\"method\":\"item/tool/requestUserInput\",\"id\":1,\"params\":{}}");
	silent();
	heard("{\"method\":\"account/chatgptAuthTokens/refresh\",\"id\":2,\"params\":{}}");
	says("{\"id\":2,\"error\":{\"code\":-32601,\"message\":\"Method not found\"}}");
	silent();
	/* an approval of a kind that raises no item yet: nobody could answer it */
	heard("{\"method\":\"item/unheardOf/requestApproval\",\"id\":3,\"params\":{}}");
	says("{\"id\":3,\"error\":{\"code\":-32601,\"message\":\"Method not found\"}}");
	heard("{\"method\":\"account/read\",\"id\":null,\"params\":{}}");
	heard("{\"method\":\"account/read\",\"id\":{},\"params\":{}}");
	silent();
}
END_TEST

/* ---- acp ---- */

#define ACP_INIT \
	"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":{\"protocolVersion\":" \
	"1," \
	"\"clientCapabilities\":{\"fs\":{\"readTextFile\":false,\"writeTextFile\":false}," \
	"\"terminal\":" \
	"false,\"elicitation\":{\"form\":{}}},\"clientInfo\":{\"name\":\"gavel\",\"title\":" \
	"\"gavel\"," \
	"\"version\":\"" PACKAGE_VERSION "\"}}}"
#define ACP_NEW \
	"{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"session/new\",\"params\":{\"cwd\":\"/home/u/" \
	"proj\"," \
	"\"mcpServers\":[]}}"
#define ACP_PROMPT(id, words) \
	"{\"jsonrpc\":\"2.0\",\"id\":" #id \
	",\"method\":\"session/prompt\",\"params\":{\"sessionId\":" \
	"\"S\",\"prompt\":[{\"type\":\"text\",\"text\":\"" words "\"}]}}"
#define ACP_ASK(id) \
	"{\"jsonrpc\":\"2.0\",\"id\":" #id \
	",\"method\":\"session/request_permission\",\"params\":" \
	"{\"sessionId\":\"S\"}}"

static void acp_is_ready(const char *agent, const char *modes)
{
	struct buf b = { 0 };

	start(&driver_acp);
	driver_prompt(&d, STR("go"));
	says(ACP_INIT);
	silent();
	buf_printf(&b,
		   "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"protocolVersion\":1,\"agentInfo\":"
		   "{\"name\":\"%s\"}}}",
		   agent);
	heard(b.p);
	says(ACP_NEW);
	silent();
	buf_clear(&b);
	buf_printf(&b, "{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{\"sessionId\":\"S\"%s}}", modes);
	heard(b.p);
	buf_release(&b);
	says(ACP_PROMPT(3, "go"));
}

START_TEST(acp_is_prompted_turn_by_turn)
{
	acp_is_ready("OpenCode", "");
	driver_prompt(&d, STR("more"));
	ck_assert(!driver_takes_prompt(&d));
	silent();
	heard("{\"jsonrpc\":\"2.0\",\"id\":3,\"result\":{\"stopReason\":\"end_turn\"}}");
	says(ACP_PROMPT(4, "more"));
	heard("{\"jsonrpc\":\"2.0\",\"id\":4,\"error\":{\"code\":-32000,\"message\":"
	      "\"Authentication "
	      "required\"}}");
	ck_assert(!d.busy);
	ck_assert(d.needs_login);
	noticed("refused session/prompt: Authentication required");
}
END_TEST

START_TEST(acp_asks_for_files_in_vain)
{
	acp_is_ready("OpenCode", "");
	heard("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"fs/write_text_file\",\"params\":{}}");
	says("{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":-32601,\"message\":\"Method not "
	     "found: "
	     "fs/write_text_file\"}}");
	heard("{\"jsonrpc\":\"2.0\",\"id\":\"t\",\"method\":\"terminal/create\",\"params\":{}}");
	says("{\"jsonrpc\":\"2.0\",\"id\":\"t\",\"error\":{\"code\":-32601,\"message\":\"Method "
	     "not "
	     "found: terminal/create\"}}");
	silent();
}
END_TEST

START_TEST(acp_is_interrupted)
{
	acp_is_ready("OpenCode", "");
	heard(ACP_ASK(0));
	heard(ACP_ASK(1));
	heard("{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"elicitation/create\",\"params\":{}}");
	driver_note(&d,
		    STR("{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"outcome\":{\"outcome\":"
			"\"selected\",\"optionId\":\"once\"}}}"),
		    true);
	silent();
	ck_assert(driver_interrupt(&d));
	says("{\"jsonrpc\":\"2.0\",\"method\":\"session/"
	     "cancel\",\"params\":{\"sessionId\":\"S\"}}");
	says("{\"jsonrpc\":\"2.0\",\"id\":0,\"result\":{\"outcome\":{\"outcome\":\"cancelled\"}}}");
	says("{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{\"action\":\"cancel\"}}");
	silent();
	heard("{\"jsonrpc\":\"2.0\",\"id\":3,\"result\":{\"stopReason\":\"cancelled\"}}");
	heard(ACP_ASK(5));
	silent(); /* a later ask is not cancelled */
}
END_TEST

START_TEST(acp_has_modes)
{
	acp_is_ready(
		"@agentclientprotocol/codex-acp",
		",\"modes\":{\"currentModeId\":\"agent\",\"availableModes\":[{\"id\":\"agent\"},"
		"{\"id\":\"workspace-write\"}]}");
	noticed("reviews itself");
	ck_assert(d.asks_nobody);
	ck_assert(!driver_mode(&d, STR("yolo")));
	noticed("it offers agent, workspace-write");
	ck_assert(driver_mode(&d, STR("workspace-write")));
	says("{\"jsonrpc\":\"2.0\",\"id\":4,\"method\":\"session/"
	     "set_mode\",\"params\":{\"sessionId\":"
	     "\"S\",\"modeId\":\"workspace-write\"}}");
	heard("{\"jsonrpc\":\"2.0\",\"id\":4,\"result\":{}}");
	noticed("has changed its mode");
	ck_assert(!d.asks_nobody);
}
END_TEST

#define CODEX_ACP_MODES \
	",\"modes\":{\"currentModeId\":\"agent\",\"availableModes\":[{\"id\":\"agent\"}," \
	"{\"id\":\"workspace-write\"}]},\"configOptions\":[{\"id\":\"mode\",\"category\":" \
	"\"mode\",\"options\":[{\"value\":\"agent\"},{\"value\":\"workspace-write\"}]},{\"id\":" \
	"\"collaboration_mode\",\"category\":\"collaboration_mode\",\"options\":[{\"value\":" \
	"\"default\"},{\"value\":\"plan\"}]},{\"id\":\"effort\",\"category\":\"thought_level\"," \
	"\"options\":[{\"value\":\"high\"}]}]"
#define ACP_SET_MODE(id, mode) \
	"{\"jsonrpc\":\"2.0\",\"id\":" #id ",\"method\":\"session/set_mode\",\"params\":{" \
	"\"sessionId\":\"S\",\"modeId\":\"" mode "\"}}"
#define ACP_SET_OPTION(id, option, value) \
	"{\"jsonrpc\":\"2.0\",\"id\":" #id ",\"method\":\"session/set_config_option\"," \
	"\"params\":{\"sessionId\":\"S\",\"configId\":\"" option "\",\"value\":\"" value "\"}}"

/* One that has a mode to begin in, and a prompt, up to its session. */
static void acp_begins_in(const char *mode, const char *modes)
{
	struct buf b = { 0 };

	driver_start_mode(&d, str_of(mode));
	start(&driver_acp);
	driver_prompt(&d, STR("go"));
	says(ACP_INIT);
	heard("{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"agentInfo\":{\"name\":\"codex-acp\"}}}");
	says(ACP_NEW);
	buf_printf(&b, "{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{\"sessionId\":\"S\"%s}}", modes);
	heard(b.p);
	buf_release(&b);
}

START_TEST(acp_is_not_prompted_before_it_has_its_mode)
{
	acp_begins_in("workspace-write, plan", CODEX_ACP_MODES);
	ck_assert_uint_eq(d.notice.n, 0);
	says(ACP_SET_MODE(3, "workspace-write"));
	silent();
	heard("{\"jsonrpc\":\"2.0\",\"id\":3,\"result\":{}}");
	says(ACP_SET_OPTION(4, "collaboration_mode", "plan"));
	silent();
	heard("{\"jsonrpc\":\"2.0\",\"id\":4,\"result\":{\"configOptions\":[]}}");
	says(ACP_PROMPT(5, "go"));
	ck_assert_uint_eq(d.notice.n, 0);
	/* what is refused later keeps nothing from it */
	ck_assert(driver_mode(&d, STR("default")));
	says(ACP_SET_OPTION(6, "collaboration_mode", "default"));
	heard("{\"jsonrpc\":\"2.0\",\"id\":6,\"error\":{\"code\":-32603,\"message\":\"not now\"}}");
	noticed("refused the mode: not now");
	ck_assert_uint_eq(d.step, DRIVER_READY);
	heard("{\"jsonrpc\":\"2.0\",\"id\":5,\"result\":{\"stopReason\":\"end_turn\"}}");
	driver_prompt(&d, STR("more"));
	says(ACP_PROMPT(7, "more"));
}
END_TEST

START_TEST(acp_is_not_prompted_in_another_mode)
{
	acp_begins_in("yolo", CODEX_ACP_MODES);
	noticed("no mode \"yolo\"; it offers agent, workspace-write, default, plan");
	ck_assert_uint_eq(d.step, DRIVER_FAILED);
	silent();
	tear_down();
	acp_begins_in("workspace-write", CODEX_ACP_MODES);
	says(ACP_SET_MODE(3, "workspace-write"));
	heard("{\"jsonrpc\":\"2.0\",\"id\":3,\"error\":{\"code\":-32603,\"message\":\"no\"}}");
	noticed("refused the mode: no");
	ck_assert_uint_eq(d.step, DRIVER_FAILED);
	silent();
}
END_TEST

#define CLAUDE_PLANS \
	"{\"type\":\"control_request\",\"request_id\":\"gavel-2\",\"request\":{\"subtype\":" \
	"\"set_permission_mode\",\"mode\":\"plan\"}}"

START_TEST(claude_is_not_prompted_in_another_mode)
{
	driver_start_mode(&d, STR("plan"));
	start(&driver_claude);
	driver_prompt(&d, STR("go"));
	says(CLAUDE_INIT);
	says(CLAUDE_PLANS);
	silent();
	heard("{\"type\":\"control_response\",\"response\":{\"subtype\":\"error\",\"request_id\":"
	      "\"gavel-2\"}}");
	noticed("refused the mode: it gave no reason");
	ck_assert_uint_eq(d.step, DRIVER_FAILED);
	silent();
}
END_TEST

/* ---- attaching, restarting ---- */

START_TEST(who_attaches_changes_no_mode_again)
{
	driver_start_mode(&d, STR("plan"));
	driver_init(&d, &driver_claude, STR("/home/u/proj"));
	driver_run(&d);
	driver_note(&d, STR(CLAUDE_INIT), true);
	driver_note(&d, STR(CLAUDE_PLANS), true);
	heard("{\"type\":\"control_response\",\"response\":{\"subtype\":\"success\",\"request_id\":"
	      "\"gavel-2\",\"response\":{\"mode\":\"plan\"}}}");
	driver_live(&d);
	silent();
	/* its next process begins in it, too */
	driver_end(&d);
	driver_run(&d);
	says("{\"type\":\"control_request\",\"request_id\":\"gavel-3\",\"request\":{\"subtype\":"
	     "\"initialize\",\"hooks\":{}}}");
	says("{\"type\":\"control_request\",\"request_id\":\"gavel-4\",\"request\":{\"subtype\":"
	     "\"set_permission_mode\",\"mode\":\"plan\"}}");
}
END_TEST

struct said {
	bool told;
	const char *text;
};

static const struct said codex_talk[] = {
	{ true, CODEX_INIT },
	{ false, "{\"id\":1,\"result\":{}}" },
	{ true, "{\"method\":\"initialized\"}" },
	{ true, CODEX_THREAD },
	{ false, "{\"id\":2,\"result\":{\"thread\":{\"id\":\"T\"}}}" },
	{ true, CODEX_TURN(3, "go") },
	{ false, "{\"id\":3,\"result\":{\"turn\":{\"id\":\"U\"}}}" },
	{ false, "{\"method\":\"account/x\",\"id\":7,\"params\":{}}" },
	{ true, "{\"id\":7,\"error\":{\"code\":-32601,\"message\":\"Method not found\"}}" },
	{ true, CODEX_STEER(4, "more") },
	{ false, CODEX_COMPLETED },
	{ true, CODEX_TURN(5, "last") },
};

static const struct said acp_talk[] = {
	{ true, ACP_INIT },
	{ false, "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}" },
	{ true, ACP_NEW },
	{ false, "{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{\"sessionId\":\"S\"}}" },
	{ true, ACP_PROMPT(3, "go") },
	{ false, "{\"jsonrpc\":\"2.0\",\"id\":9,\"method\":\"fs/read_text_file\",\"params\":{}}" },
	{ true, "{\"jsonrpc\":\"2.0\",\"id\":9,\"error\":{\"code\":-32601,\"message\":\"Method not "
		"found: "
		"fs/read_text_file\"}}" },
	{ false, "{\"jsonrpc\":\"2.0\",\"id\":3,\"result\":{\"stopReason\":\"end_turn\"}}" },
	{ true, ACP_PROMPT(4, "more") },
	{ false, "{\"jsonrpc\":\"2.0\",\"id\":4,\"result\":{\"stopReason\":\"end_turn\"}}" },
	{ true, ACP_PROMPT(5, "last") },
};

/* Who attaches behind any line goes on with the next one that is told; the prompts of that are
 * given before, as the reason of a rejection is. */
static void attach_everywhere(const struct driver_ops *ops, const struct said *talk, unsigned n)
{
	for (unsigned cut = 0; cut < n; cut++) {
		driver_init(&d, ops, STR("/home/u/proj"));
		driver_run(&d);
		driver_prompt(&d, STR("go"));
		driver_prompt(&d, STR("more"));
		driver_prompt(&d, STR("last"));
		for (unsigned i = 0; i < cut; i++)
			driver_note(&d, str_of(talk[i].text), talk[i].told);
		silent();
		driver_live(&d);
		for (unsigned i = cut; i < n; i++) {
			/* what is not answered here waits: the agent is not asked twice */
			if (talk[i].told)
				says(talk[i].text);
			else
				heard(talk[i].text);
		}
		ck_assert_uint_eq(d.prompts.n, 0);
		tear_down();
	}
}

START_TEST(who_attaches_goes_on)
{
	attach_everywhere(&driver_codex, codex_talk, sizeof(codex_talk) / sizeof(codex_talk[0]));
	attach_everywhere(&driver_acp, acp_talk, sizeof(acp_talk) / sizeof(acp_talk[0]));
}
END_TEST

START_TEST(a_restarted_agent_is_greeted_again)
{
	acp_is_ready("OpenCode", "");
	driver_prompt(&d, STR("more"));
	driver_end(&d);
	noticed("1 prompt was not sent");
	silent();
	driver_run(&d);
	buf_clear(&line);
	ck_assert(driver_next(&d, &line));
	/* numbers go on */
	ck_assert_ptr_nonnull(strstr(line.p, "\"id\":4,\"method\":\"initialize\""));
	silent();
	heard("{\"jsonrpc\":\"2.0\",\"id\":4,\"result\":{}}");
	buf_clear(&line);
	ck_assert(driver_next(&d, &line));
	ck_assert_ptr_nonnull(strstr(line.p, "\"id\":5,\"method\":\"session/new\""));
}
END_TEST

START_TEST(nothing_is_said_before_the_process_runs)
{
	driver_init(&d, &driver_claude, STR_NONE);
	driver_live(&d);
	driver_prompt(&d, STR("go"));
	silent();
	driver_run(&d);
	says(CLAUDE_INIT);
	says("{\"type\":\"user\",\"message\":{\"role\":\"user\",\"content\":\"go\"}}");
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("driver");
	TCase *t = unit_cases(suite, "claude", NULL, tear_down);

	tcase_add_test(t, claude_is_prompted_at_any_time);
	tcase_add_test(t, claude_is_interrupted_and_changes_its_mode);
	tcase_add_test(t, claude_gets_an_error_for_what_gavel_cannot_do);
	tcase_add_test(t, requests_without_end_are_not_kept);
	tcase_add_test(t, claude_without_a_login_says_so);
	t = unit_cases(suite, "codex", NULL, tear_down);
	tcase_add_test(t, codex_is_steered_while_a_turn_runs);
	tcase_add_test(t, codex_words_that_a_turn_did_not_take_are_the_next_turn);
	tcase_add_test(t, codex_refuses);
	tcase_add_test(t, codex_gets_an_error_for_what_gavel_cannot_do);
	t = unit_cases(suite, "acp", NULL, tear_down);
	tcase_add_test(t, acp_is_prompted_turn_by_turn);
	tcase_add_test(t, acp_asks_for_files_in_vain);
	tcase_add_test(t, acp_is_interrupted);
	tcase_add_test(t, acp_has_modes);
	tcase_add_test(t, acp_is_not_prompted_before_it_has_its_mode);
	tcase_add_test(t, acp_is_not_prompted_in_another_mode);
	tcase_add_test(t, codex_has_its_mode_with_the_next_turn);
	tcase_add_test(t, claude_is_not_prompted_in_another_mode);
	tcase_add_test(t, who_attaches_changes_no_mode_again);
	t = unit_cases(suite, "any", NULL, tear_down);
	tcase_add_test(t, who_attaches_goes_on);
	tcase_add_test(t, a_restarted_agent_is_greeted_again);
	tcase_add_test(t, nothing_is_said_before_the_process_runs);
	return unit_run(suite);
}
