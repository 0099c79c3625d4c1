/* Claude Code's messages: detected, put into words, and what the model makes of them. What whole
 * recordings become is in tests/claude.t. */
#include "encode.h"

static struct bench b;

static void setup(void)
{
	bench_init(&b);
}

static void teardown(void)
{
	bench_release(&b);
}

/* Messages are written with ' for ". */
static struct str with_quotes(const char *text)
{
	char *out = arena_alloc(&b.arena, strlen(text) + 1);

	for (size_t i = 0; i <= strlen(text); i++)
		out[i] = text[i] == '\'' ? '"' : text[i];
	return str_make(out, strlen(text));
}

static void add(const char *text)
{
	bench_add_str(&b, with_quotes(text));
}

static void say(const char *text)
{
	bench_say(&b, with_quotes(text), NULL);
}

#define ASK(tool, rest) \
	"{'type':'control_request','request_id':'r-1','request':{'subtype':'can_use_tool'," \
	"'tool_name':'" tool "','tool_use_id':'toolu_1'," rest "}}"
#define ANSWER(response) \
	"{'type':'control_response','response':{'subtype':'success','request_id':'r-1'," \
	"'response':" response "}}"
#define ALLOW ANSWER("{'behavior':'allow','updatedInput':{'command':'ls'}}")
#define CALL(tool, input) \
	"{'type':'assistant','message':{'content':[{'type':'tool_use','id':'toolu_1','name':'" tool \
	"','input':" input "}]},'session_id':'s'}"
#define RESULT(more) \
	"{'type':'user','message':{'content':[{'type':'tool_result','tool_use_id':'toolu_1'," \
	"'content':' ok '" more "}]},'session_id':'s'"

/* ---- detection ---- */

static const struct {
	const char *line;
	enum dialect_id dialect;
} detected[] = {
	{ "{'type':'user','message':{'role':'user','content':'Fix it'}}", DIALECT_CLAUDE },
	{ "{'type':'user','message':{'role':'user','content':[{'type':'text','text':'Hi'}]}}",
	  DIALECT_CLAUDE },
	{ "{'type':'control_request','request_id':'1','request':{}}", DIALECT_CLAUDE },
	{ "{'type':'control_response','response':{}}", DIALECT_CLAUDE },
	{ "{'type':'control_cancel_request','request_id':'1'}", DIALECT_CLAUDE },
	{ "{'type':'system','subtype':'init','session_id':'s','uuid':'u'}", DIALECT_CLAUDE },
	{ "{'type':'result','subtype':'success','session_id':'s','total_cost_usd':1}",
	  DIALECT_CLAUDE },
	{ "{'type':'cost-state','sessionId':'s','totalCostUSD':1}", DIALECT_CLAUDE },
	{ "{'type':'new-thing','sessionId':'s','uuid':'u','parentUuid':null,'isSidechain':false}",
	  DIALECT_CLAUDE },
	{ "{'type':'user','name':'ann'}", DIALECT_UNKNOWN },
	{ "{'type':'user','message':'logged in'}", DIALECT_UNKNOWN },
	{ "{'type':'user','message':'logged in','session_id':'s'}", DIALECT_UNKNOWN },
	{ "{'type':'system','message':'boot'}", DIALECT_UNKNOWN },
	{ "{'type':'result','id':7}", DIALECT_UNKNOWN },
	{ "{'request_id':'1','session_id':'s'}", DIALECT_UNKNOWN },
	{ "{'type':'text','timestamp':1,'sessionID':'s','part':{'type':'text','text':'x'}}",
	  DIALECT_FEEDBACK },
	{ "{'type':'event:log','id':'1','timestamp':'2026-02-04T14:30:00Z','payload':{'level':"
	  "'info','message':'x'}}", DIALECT_ORCHESTRATOR },
};

START_TEST(a_line_is_of_the_dialect_or_not)
{
	add(detected[_i].line);
	ck_assert_msg(b.message.dialect == detected[_i].dialect, "%s: %s", detected[_i].line,
		      dialect_name(b.message.dialect));
}
END_TEST

/* ---- words ---- */

static const struct {
	const char *line, *words;
} summaries[] = {
	{ "{'type':'user','message':{'role':'user','content':'Fix it'}}", "Fix it" },
	{ "{'type':'user','message':{'content':'Fix it'},'session_id':'s','isReplay':true}",
	  "has read: Fix it" },
	{ CALL("Bash", "{'command':'mkdir -p made','description':'d'}"), "Bash: mkdir -p made" },
	{ CALL("mcp__x__y", "{'n':1}"), "mcp__x__y: {\"n\":1}" },
	{ CALL("ListAgents", "{}"), "ListAgents" },
	{ "{'type':'assistant','message':{'content':[{'type':'text','text':'I look.'},{'type':"
	  "'tool_use','id':'t','name':'Read','input':{'file_path':'/a'}}]}}",
	  "I look. · Read: /a" },
	{ RESULT("") "}", "done: ok" },
	{ RESULT(",'is_error':true") "}", "failed: ok" },
	{ RESULT(",'is_error':true") ",'tool_result_meta':[{'id':'toolu_1','non_execution_kind':"
				     "'permission-rule'}]}", "denied: ok" },
	{ ASK("Bash", "'input':{'command':'ls'}"), "asks for Bash: ls" },
	{ ASK("AskUserQuestion", "'input':{'questions':[{'question':'Which?'}]}"), "asks: Which?" },
	{ ASK("ExitPlanMode", "'input':{'plan':'# Do it'}"), "asks to carry out its plan: # Do it" },
	{ ALLOW, "allows" },
	{ ANSWER("{'behavior':'allow','updatedPermissions':[{'type':'addRules','rules':[{'toolName':"
		 "'Bash','ruleContent':'touch *'}],'behavior':'allow','destination':'userSettings'}]}"),
	  "allows always: Bash(touch *)  in ~/.claude/settings.json, for all your projects" },
	{ ANSWER("{'behavior':'allow','updatedInput':{'answers':{'A?':'x','B?':'y, z'}}}"),
	  "answers: x; y, z" },
	{ ANSWER("{'behavior':'deny','message':'no'}"), "denies: no" },
	{ ANSWER("{'behavior':'deny','message':'no','interrupt':true}"),
	  "denies and stops the turn: no" },
	{ "{'type':'control_response','response':{'subtype':'error','request_id':'x','error':'bad'}}",
	  "error: bad" },
	{ "{'type':'control_request','request_id':'x','request':{'subtype':'set_permission_mode',"
	  "'mode':'plan'}}", "set mode plan" },
	{ "{'type':'control_request','request_id':'x','request':{'subtype':'interrupt'}}",
	  "interrupt" },
	{ "{'type':'control_cancel_request','request_id':'x'}", "takes its question back" },
	{ "{'type':'system','subtype':'init','session_id':'s','uuid':'u','model':'m','cwd':'/p',"
	  "'permissionMode':'plan'}", "turn begins: m, mode plan, in /p" },
	{ "{'type':'system','subtype':'of_tomorrow','session_id':'s','uuid':'u'}", "of_tomorrow" },
	{ "{'type':'result','session_id':'s','uuid':'u','result':'Done.','total_cost_usd':0.0123}",
	  "turn over: Done. ($0.0123 so far)" },
	{ "{'type':'result','session_id':'s','uuid':'u','terminal_reason':'aborted_tools',"
	  "'total_cost_usd':0}", "turn over: aborted_tools ($0.0000 so far)" },
};

START_TEST(a_message_is_one_line)
{
	struct buf out = { 0 };

	dialect_summarize(&b.again, with_quotes(summaries[_i].line), &out);
	ck_assert_msg(str_is(buf_str(&out), summaries[_i].words), "%s", out.p);
	buf_release(&out);
}
END_TEST

static const struct {
	enum item_kind kind;
	const char *ask;
	const char *page;
} pages[] = {
	{ ITEM_PERMISSION,
	  ASK("Bash", "'input':{'command':'mkdir -p made','description':'Make it','timeout':5},"
		      "'description':'Make it','decision_reason_type':'subcommandResults',"
		      "'blocked_path':'/p/made','permission_suggestions':[{'type':'addRules','rules':"
		      "[{'toolName':'Bash','ruleContent':'mkdir *'}],'behavior':'allow',"
		      "'destination':'localSettings'},{'type':'setMode','mode':'acceptEdits',"
		      "'destination':'session'},{'type':'of_tomorrow'}]"),
	  "Bash: mkdir -p made|tool: Bash|command: mkdir -p made|input: {\"timeout\":5}|description: "
	  "Make it|why: parts of the command need approval|path: /p/made|always: 1  Bash(mkdir *)  in "
	  ".claude/settings.local.json\n2  mode acceptEdits  for this session\n3  "
	  "{\"type\":\"of_tomorrow\"}" },
	{ ITEM_PERMISSION,
	  ASK("Edit", "'input':{'file_path':'/p/a','old_string':'one\\ntwo','new_string':'three\\n',"
		      "'replace_all':false},'description':'a'"),
	  "Edit: /p/a|tool: Edit|file: /p/a|diff: -one\n-two\n+three" },
	{ ITEM_PERMISSION,
	  ASK("Edit", "'input':{'file_path':'/p/a','old_string':'x','new_string':'',"
		      "'replace_all':true}"),
	  "Edit: /p/a|tool: Edit|file: /p/a|diff: -x|input: {\"replace_all\":true}" },
	{ ITEM_PERMISSION, ASK("Write", "'input':{'file_path':'/p/a','content':'a\\n\\nb\\n'}"),
	  "Write: /p/a|tool: Write|file: /p/a|diff: +a\n+\n+b" },
	{ ITEM_PERMISSION,
	  ASK("MultiEdit", "'input':{'file_path':'/p/a','edits':[{'old_string':'a','new_string':'b'}"
			   ",{'old_string':'c','new_string':'d'}]}"),
	  "MultiEdit: /p/a|tool: MultiEdit|file: /p/a|diff: -a\n+b\n-c\n+d" },
	{ ITEM_PERMISSION, ASK("mcp__db__query", "'input':{'sql':'drop table x','content':'y'}"),
	  "mcp__db__query: {\"sql\":\"drop table x\",\"content\":\"y\"}|tool: mcp__db__query|input: "
	  "{\"sql\":\"drop table x\",\"content\":\"y\"}" },
	{ ITEM_QUESTION,
	  ASK("AskUserQuestion", "'input':{'questions':[{'question':'Which?','options':[{'label':'A',"
				 "'description':'first'},{'label':'B'}]}]}"),
	  "Which?|question: Which?|options: 1  A: first\n2  B" },
	{ ITEM_QUESTION,
	  ASK("AskUserQuestion", "'input':{'questions':[{'question':'Which?','options':[{'label':'A'"
				 "}]},{'question':'How many?','multiSelect':true,'options':[{'label':"
				 "'1'},{'label':'2'}]}],'extra':1}"),
	  "Which?|questions: 1. Which?\n   1  A\n2. How many? (one or more)\n   1  1\n   2  2|input: "
	  "{\"extra\":1}" },
	{ ITEM_PLAN,
	  ASK("ExitPlanMode", "'input':{'plan':'\\n# Move it\\n\\n1. Read','planFilePath':'/p.md',"
			      "'allowedPrompts':[{'tool':'Bash'}]}"),
	  "Move it|plan: \n# Move it\n\n1. Read|file: /p.md|input: "
	  "{\"allowedPrompts\":[{\"tool\":\"Bash\"}]}" },
};

static struct str page_of(uint32_t number)
{
	struct item_state at = bench_state(&b, number);
	struct detail d;
	struct buf out = { 0 };

	ck_assert(bench_detail(&b, &b.model.items.v[number], &at, &d));
	buf_add_str(&out, d.title);
	for (unsigned i = 0; i < d.n; i++) {
		buf_printf(&out, "|%s: ", d.field[i].label);
		buf_add_str(&out, d.field[i].text);
	}
	return arena_take(&b.arena, &out);
}

START_TEST(a_page_shows_all_that_would_happen)
{
	struct str page;

	add(pages[_i].ask);
	page = page_of(bench_item(&b, pages[_i].kind, "r-1"));
	ck_assert_msg(str_is(page, pages[_i].page), "%.*s", STR_ARG(page));
}
END_TEST

#define STARTED \
	"{'type':'system','subtype':'task_started','task_id':'a-1','tool_use_id':'toolu_9'," \
	"'description':'Worker A','subagent_type':'Explore','session_id':'s','uuid':'u'}"

START_TEST(a_subagent_asks_by_its_name)
{
	uint32_t item;
	struct str page;

	add(STARTED);
	add(ASK("Bash", "'input':{'command':'ls'},'agent_id':'a-1'"));
	item = bench_item(&b, ITEM_PERMISSION, "r-1");
	page = page_of(item);
	ck_assert_msg(str_find(page, STR("asks: Worker A (Explore)"), 0) >= 0, "%.*s",
		      STR_ARG(page));
	assert_str(agent_name(&b.model, message_route(&b.model, 1)->from), "Worker A");
	assert_str(model_str(&b.model, b.model.tasks.v[0].id), "a-1");
	ck_assert_uint_eq(item_task(&b.model, &b.model.items.v[item]), 0);
	/* the turn's end leaves it waiting, its own does not */
	add("{'type':'result','session_id':'s','uuid':'u','total_cost_usd':0}");
	ck_assert(bench_state(&b, item).open);
	add("{'type':'system','subtype':'task_notification','task_id':'a-1','status':'failed',"
	    "'session_id':'s','uuid':'u'}");
	bench_verdict(&b, ITEM_PERMISSION, "r-1", VERDICT_WITHDRAWN);
}
END_TEST

/* ---- what answers become ---- */

static void ask_bash(void)
{
	add(CALL("Bash", "{'command':'ls'}"));
	add(ASK("Bash", "'input':{'command':'ls'}"));
}

static enum delivery delivery(void)
{
	return bench_state(&b, bench_item(&b, ITEM_PERMISSION, "r-1")).delivery;
}

#define SOURCE(source) \
	",'tool_result_meta':[{'id':'toolu_1','permission_decision':{'decision':'accept','source':'" \
	source "'}}]}"

static const struct {
	const char *proof;
	enum delivery delivery;
} proofs[] = {
	{ ALLOW, DELIVERY_ACKNOWLEDGED },
	{ ANSWER("{'behavior':'deny','message':'no'}"), DELIVERY_SENT }, /* another answer */
	{ RESULT("") SOURCE("user_temporary"), DELIVERY_ACKNOWLEDGED },
	{ RESULT("") "}", DELIVERY_ACKNOWLEDGED }, /* older ones do not tell */
	{ RESULT("") SOURCE("hook"), DELIVERY_SENT },
	{ RESULT("") SOURCE("config"), DELIVERY_SENT },
	{ "{'type':'control_cancel_request','request_id':'r-1'}", DELIVERY_BOUNCED },
	{ "{'type':'result','session_id':'s','uuid':'u','total_cost_usd':0}", DELIVERY_BOUNCED },
	{ "{'type':'assistant','message':{'content':[]},'session_id':'s'}", DELIVERY_SENT },
};

START_TEST(what_proves_an_answer)
{
	ask_bash();
	say(ALLOW);
	ck_assert_int_eq(delivery(), DELIVERY_SENT);
	add(proofs[_i].proof);
	ck_assert_msg(delivery() == proofs[_i].delivery, "%s: %s", proofs[_i].proof,
		      delivery_name(delivery()));
}
END_TEST

/* In a log the echo is all there is of the answer. */
START_TEST(an_echo_in_a_log_tells_the_answer)
{
	ask_bash();
	add(ANSWER("{'behavior':'allow','updatedInput':{'command':'pwd'}}"));
	bench_verdict(&b, ITEM_PERMISSION, "r-1", VERDICT_PARTIAL);
	assert_clean(&b);
}
END_TEST

START_TEST(an_ask_ends_with_its_call)
{
	ask_bash();
	add(RESULT("") SOURCE("hook"));
	bench_verdict(&b, ITEM_PERMISSION, "r-1", VERDICT_WITHDRAWN);
	assert_clean(&b);
}
END_TEST

static const char *const silent[] = {
	"{'type':'control_request','request_id':'x','request':{'subtype':'hook_callback',"
	"'callback_id':'c','input':{'hook_event_name':'PreToolUse'}}}",
	"{'type':'control_request','request_id':'x','request':{'subtype':'initialize'}}",
	"{'type':'control_request','request_id':'x','request':{'subtype':'interrupt'}}",
	"{'type':'control_request','request_id':'x','request':{'subtype':'set_permission_mode',"
	"'mode':'plan'}}",
	"{'type':'control_request','request_id':'x','request':{'subtype':'of_tomorrow'}}",
	"{'type':'stream_event','event':{},'session_id':'s','uuid':'u','parent_tool_use_id':null}",
};

START_TEST(what_needs_no_person_is_no_item)
{
	add(silent[_i]);
	ck_assert_int_eq(b.message.dialect, DIALECT_CLAUDE);
	ck_assert_uint_eq(b.model.items.n, 0);
	assert_clean(&b);
}
END_TEST

/* ---- usage ---- */

/* total_cost_usd is of the process, and starts again with it. */
START_TEST(cost_is_a_running_total)
{
	static const double totals[] = { 0.25, 0.75, 0.125 };
	double cost = 0;

	for (size_t i = 0; i < 3; i++) {
		bench_add(&b, arena_printf(&b.arena,
					   "{\"type\":\"result\",\"session_id\":\"s\",\"uuid\":\"u\","
					   "\"total_cost_usd\":%g,\"usage\":{\"input_tokens\":3,"
					   "\"cache_creation_input_tokens\":2,"
					   "\"cache_read_input_tokens\":7,\"output_tokens\":4}}",
					   totals[i]));
		ck_assert_uint_eq(b.model.usage.v[i].tokens_in, 5);
		ck_assert_uint_eq(b.model.usage.v[i].tokens_cached, 7);
		ck_assert_uint_eq(b.model.usage.v[i].tokens_out, 4);
		cost += b.model.usage.v[i].cost;
	}
	ck_assert_double_eq(cost, 0.875);
}
END_TEST

/* Subagents are in the usage by model only. */
START_TEST(usage_counts_subagents)
{
	add("{'type':'result','session_id':'s','uuid':'u','total_cost_usd':1,'usage':{'input_tokens':"
	    "1},'model_usage_since_last_result':{'a':{'inputTokens':2,'outputTokens':3,"
	    "'cacheReadInputTokens':4,'cacheCreationInputTokens':5},'b':{'inputTokens':10}}}");
	ck_assert_uint_eq(b.model.usage.v[0].tokens_in, 17);
	ck_assert_uint_eq(b.model.usage.v[0].tokens_out, 3);
	ck_assert_uint_eq(b.model.usage.v[0].tokens_cached, 4);
}
END_TEST

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))

int main(void)
{
	Suite *s = suite_create("claude");
	TCase *t = unit_cases(s, "messages", setup, teardown);

	tcase_add_loop_test(t, a_line_is_of_the_dialect_or_not, 0, COUNT(detected));
	tcase_add_loop_test(t, a_message_is_one_line, 0, COUNT(summaries));
	tcase_add_loop_test(t, a_page_shows_all_that_would_happen, 0, COUNT(pages));
	tcase_add_test(t, a_subagent_asks_by_its_name);
	tcase_add_loop_test(t, what_proves_an_answer, 0, COUNT(proofs));
	tcase_add_test(t, an_echo_in_a_log_tells_the_answer);
	tcase_add_test(t, an_ask_ends_with_its_call);
	tcase_add_loop_test(t, what_needs_no_person_is_no_item, 0, COUNT(silent));
	tcase_add_test(t, cost_is_a_running_total);
	tcase_add_test(t, usage_counts_subagents);
	return unit_run(s);
}
