/* Claude Code: every verb on every kind of ask, byte for byte as the real program has accepted it
 * (tests/fixtures/agents), read back, and meaning the same. */
#include "encode.h"
#include "decide/question.h"

#define R "98f31fbc-90e5-4467-8fe8-eddb7a09a898"
#define ANSWER \
	"{\"type\":\"control_response\",\"response\":{\"subtype\":\"success\",\"request_id\":\"" R \
	"\",\"response\":"

static struct bench b;

static void setup(void)
{
	bench_init(&b);
}

static void teardown(void)
{
	bench_release(&b);
}

/* An ask for that tool; input and more as in JSON. */
static void add_ask(const char *tool, const char *input, const char *more)
{
	char line[4096];

	snprintf(line, sizeof(line),
		 "{\"type\":\"control_request\",\"request_id\":\"" R "\",\"request\":{\"subtype\":"
		 "\"can_use_tool\",\"tool_name\":\"%s\",\"input\":%s%s,\"tool_use_id\":\"toolu_1\"}}",
		 tool, input, more);
	bench_add(&b, line);
	ck_assert_msg(b.worse.n == 0, "%s", b.worse.p);
}

/* Touching a file, with the three offers of a real ask. */
#define TOUCH "{\"command\":\"touch a1.txt\",\"description\":\"Touch a1\"}"
#define RULES \
	"{\"type\":\"addRules\",\"rules\":[{\"toolName\":\"Bash\",\"ruleContent\":\"touch " \
	"a1.txt\"}],\"behavior\":\"allow\",\"destination\":\"localSettings\"}"
#define FOLDERS \
	"{\"type\":\"addDirectories\",\"directories\":[\"/home/u/proj\"],\"destination\":" \
	"\"session\"}"
#define MODE "{\"type\":\"setMode\",\"mode\":\"acceptEdits\",\"destination\":\"session\"}"
#define OFFERS ",\"permission_suggestions\":[" RULES "," FOLDERS ", " MODE "]"
#define QUESTIONS \
	"{\"questions\":[{\"question\":\"Which auth method should we use?\",\"header\":\"Auth\"," \
	"\"options\":[{\"label\":\"OAuth 2.0\",\"description\":\"Standard\"},{\"label\":\"JWT\"," \
	"\"description\":\"Stateless\"}],\"multiSelect\":false},{\"question\":\"Which platforms?\"," \
	"\"header\":\"Platforms\",\"options\":[{\"label\":\"Linux\"},{\"label\":\"macOS\"}," \
	"{\"label\":\"Windows\"}],\"multiSelect\":true}]}"
#define QUESTION \
	"{\"questions\":[{\"question\":\"Which one?\",\"options\":[{\"label\":\"A\"},{\"label\":" \
	"\"B\"}]}]}"
#define PLAN "{\"plan\":\"# Plan\\n\\n1. Read\\n\",\"planFilePath\":\"/home/u/p.md\"}"

static void assert_bytes(const struct proposal *p, const char *wanted)
{
	struct str line = str_make(p->letter.bytes.p, p->letter.bytes.n - 1);

	ck_assert_msg(str_is(line, wanted), "wanted %s\ngot    %.*s", wanted, STR_ARG(line));
}

static const struct said {
	enum item_kind kind;
	enum verb verb;
	const char *input, *answer;
	uint32_t option;
	const char *written; /* behind the request's id */
	enum verdict verdict;
	const char *caution; /* NULL = none */
} said[] = {
	{ ITEM_PERMISSION, VERB_ACCEPT, TOUCH, "", 0,
	  "{\"behavior\":\"allow\",\"updatedInput\":" TOUCH "}}}", VERDICT_ACCEPTED, NULL },
	{ ITEM_PERMISSION, VERB_ALWAYS, TOUCH, "", 0,
	  "{\"behavior\":\"allow\",\"updatedInput\":" TOUCH ",\"updatedPermissions\":[" RULES "]}}}",
	  VERDICT_ACCEPTED,
	  "from now on: Bash(touch a1.txt)  in .claude/settings.local.json" },
	{ ITEM_PERMISSION, VERB_ALWAYS, TOUCH, "", 3,
	  "{\"behavior\":\"allow\",\"updatedInput\":" TOUCH ",\"updatedPermissions\":[" MODE "]}}}",
	  VERDICT_ACCEPTED, "from now on: mode acceptEdits  for this session" },
	{ ITEM_PERMISSION, VERB_ALWAYS, TOUCH, "Bash(touch *)", 0,
	  "{\"behavior\":\"allow\",\"updatedInput\":" TOUCH ",\"updatedPermissions\":[{\"type\":"
	  "\"addRules\",\"rules\":[{\"toolName\":\"Bash\",\"ruleContent\":\"touch *\"}],"
	  "\"behavior\":\"allow\",\"destination\":\"session\"}]}}}",
	  VERDICT_ACCEPTED, "from now on: Bash(touch *)  for this session" },
	{ ITEM_PERMISSION, VERB_ALWAYS, TOUCH, "WebFetch", 0,
	  "{\"behavior\":\"allow\",\"updatedInput\":" TOUCH ",\"updatedPermissions\":[{\"type\":"
	  "\"addRules\",\"rules\":[{\"toolName\":\"WebFetch\"}],\"behavior\":\"allow\","
	  "\"destination\":\"session\"}]}}}",
	  VERDICT_ACCEPTED, "the rule is for WebFetch, but Bash was asked for" },
	{ ITEM_PERMISSION, VERB_PARTIAL, TOUCH, "{\"command\":\"mkdir -p made-by-human\"}", 0,
	  "{\"behavior\":\"allow\",\"updatedInput\":{\"command\":\"mkdir -p made-by-human\"}}}}",
	  VERDICT_PARTIAL, NULL },
	{ ITEM_PERMISSION, VERB_PARTIAL, TOUCH, "{\n  \"command\": \"a\\nb\"\r\n}\n", 0,
	  "{\"behavior\":\"allow\",\"updatedInput\":{  \"command\": \"a\\nb\"}}}}",
	  VERDICT_PARTIAL, NULL },
	{ ITEM_PERMISSION, VERB_PARTIAL, TOUCH, " " TOUCH " ", 0,
	  "{\"behavior\":\"allow\",\"updatedInput\":" TOUCH "}}}", VERDICT_ACCEPTED,
	  "the one that was asked for" },
	{ ITEM_PERMISSION, VERB_REJECT, TOUCH, "", 0,
	  "{\"behavior\":\"deny\",\"message\":\"Not \\\"this\\\"\\none\"}}}", VERDICT_REJECTED,
	  NULL },
	{ ITEM_PERMISSION, VERB_STOP, TOUCH, "", 0,
	  "{\"behavior\":\"deny\",\"message\":\"Not \\\"this\\\"\\none\",\"interrupt\":true}}}",
	  VERDICT_REJECTED, "does not read the reason" },
	{ ITEM_QUESTION, VERB_ANSWER, QUESTIONS, "JWT\nLinux, macOS", 0,
	  "{\"behavior\":\"allow\",\"updatedInput\":{\"questions\":[{\"question\":\"Which auth "
	  "method should we use?\",\"header\":\"Auth\",\"options\":[{\"label\":\"OAuth 2.0\","
	  "\"description\":\"Standard\"},{\"label\":\"JWT\",\"description\":\"Stateless\"}],"
	  "\"multiSelect\":false},{\"question\":\"Which platforms?\",\"header\":\"Platforms\","
	  "\"options\":[{\"label\":\"Linux\"},{\"label\":\"macOS\"},{\"label\":\"Windows\"}],"
	  "\"multiSelect\":true}],\"answers\":{\"Which auth method should we use?\":\"JWT\","
	  "\"Which platforms?\":\"Linux, macOS\"}}}}}",
	  VERDICT_ANSWERED, NULL },
	{ ITEM_QUESTION, VERB_ANSWER, QUESTION, "B", 0,
	  "{\"behavior\":\"allow\",\"updatedInput\":{\"questions\":[{\"question\":\"Which one?\","
	  "\"options\":[{\"label\":\"A\"},{\"label\":\"B\"}]}],\"answers\":{\"Which one?\":\"B\"}}}}}",
	  VERDICT_ANSWERED, NULL },
	{ ITEM_QUESTION, VERB_REJECT, QUESTION, "", 0,
	  "{\"behavior\":\"deny\",\"message\":\"Not \\\"this\\\"\\none\"}}}", VERDICT_REJECTED,
	  NULL },
	{ ITEM_PLAN, VERB_ACCEPT, PLAN, "", 0,
	  "{\"behavior\":\"allow\",\"updatedInput\":" PLAN "}}}", VERDICT_ACCEPTED, NULL },
	{ ITEM_PLAN, VERB_ACCEPT, "{}", "", 0, "{\"behavior\":\"allow\",\"updatedInput\":{}}}}",
	  VERDICT_ACCEPTED, NULL },
	{ ITEM_PLAN, VERB_REJECT, PLAN, "", 0,
	  "{\"behavior\":\"deny\",\"message\":\"Not \\\"this\\\"\\none\"}}}", VERDICT_REJECTED,
	  NULL },
};
enum { SAID = sizeof(said) / sizeof(said[0]) };

static const char *tool_of(enum item_kind kind)
{
	return kind == ITEM_QUESTION ? "AskUserQuestion"
	       : kind == ITEM_PLAN   ? "ExitPlanMode"
				     : "Bash";
}

static struct draft *stage(const struct said *s)
{
	struct draft *d;

	add_ask(tool_of(s->kind), s->input, s->kind == ITEM_PERMISSION ? OFFERS : "");
	d = bench_stage(&b, s->kind, R, s->verb);
	d->answer = str_of(s->answer);
	d->option = s->option;
	if (s->verb == VERB_REJECT || s->verb == VERB_STOP)
		d->explanation = STR("Not \"this\"\none");
	return d;
}

/* Written, read back, and proven by the same bytes from Claude. */
START_TEST(a_verb_is_said)
{
	const struct said *s = &said[_i];
	struct proposal *p;
	char wanted[4096];
	struct item_state at;

	stage(s);
	p = bench_ready(&b);
	snprintf(wanted, sizeof(wanted), ANSWER "%s", s->written);
	assert_bytes(p, wanted);
	ck_assert_msg((p->cautions.n > 0) == (s->caution != NULL), "cautions: %u", p->cautions.n);
	ck_assert_msg(!s->caution || bench_cautions(p, s->caution), "%.*s",
		      STR_ARG(p->cautions.v[0]));
	assert_str(p->letter.to, "claude");
	bench_apply(&b, p);
	bench_verdict(&b, s->kind, R, s->verdict);
	at = bench_state(&b, bench_item(&b, s->kind, R));
	ck_assert_int_eq(at.delivery, DELIVERY_SENT);
	bench_add(&b, wanted);
	ck_assert_msg(b.worse.n == 0, "%s", b.worse.p);
	at = bench_state(&b, bench_item(&b, s->kind, R));
	ck_assert_int_eq(at.delivery, DELIVERY_ACKNOWLEDGED);
}
END_TEST

static const char *const inputs[] = {
	"{\"a\":12345678901234567890123456789.10e5,\"b\":1.0,\"c\":-0.0}",
	"{ \"command\" :  \"x\\u0041\\/\\ud83d\\ude00\\\\\" ,\"b\":[ 1 , 2 ] }",
	"{\"\\u0063ommand\":\"ls\",\"\":null}",
	"{\"input\":{\"input\":{\"}\":\"{\\\"\"}}}",
};

/* The input is the ask's own, whatever its spelling. */
START_TEST(the_input_is_copied_byte_for_byte)
{
	char wanted[1024];
	struct proposal *p;

	bench_add(&b, arena_printf(&b.arena,
				   "{\"type\":\"control_request\",\"request_id\":\"" R "\" , "
				   "\"request\": {\"subtype\":\"can_use_tool\",\"input\":%s ,"
				   "\"tool_name\":\"mcp__x__y\"}}", inputs[_i]));
	bench_stage(&b, ITEM_PERMISSION, R, VERB_ACCEPT);
	p = bench_ready(&b);
	snprintf(wanted, sizeof(wanted), ANSWER "{\"behavior\":\"allow\",\"updatedInput\":%s}}}",
		 inputs[_i]);
	assert_bytes(p, wanted);
}
END_TEST

static const struct {
	const char *answer;
	uint32_t option;
	const char *answers; /* NULL: refused, for this */
	const char *words;   /* what is missing, or a caution */
} answers[] = {
	{ "JWT\nLinux", 0,
	  "{\"Which auth method should we use?\":\"JWT\",\"Which platforms?\":\"Linux\"}", NULL },
	{ "2\n1, 3", 0,
	  "{\"Which auth method should we use?\":\"JWT\",\"Which platforms?\":\"Linux, Windows\"}",
	  NULL },
	{ "mTLS, because of the audit\nLinux", 0,
	  "{\"Which auth method should we use?\":\"mTLS, because of the audit\",\"Which "
	  "platforms?\":\"Linux\"}", "not one of the options" },
	{ "\nmacOS", 0, "{\"Which platforms?\":\"macOS\"}", "1 of 2 questions answered" },
	{ "JWT", 0, "{\"Which auth method should we use?\":\"JWT\"}", "1 of 2 questions answered" },
	{ "JWT", 2, "{\"Which auth method should we use?\":\"JWT\"}", "1 of 2 questions answered" },
	{ "", 2, "{\"Which auth method should we use?\":\"JWT\"}", "1 of 2 questions answered" },
	{ "OAuth 2.0, JWT\nLinux, BeOS", 0,
	  "{\"Which auth method should we use?\":\"OAuth 2.0, JWT\",\"Which platforms?\":\"Linux, "
	  "BeOS\"}", "not one of the options; sent as typed: OAuth 2.0, JWT" },
	{ "JWT\nLinux\nmore", 0, NULL, "2 questions, but more lines of answers" },
	{ "\n \n", 0, NULL, "an answer needs its text" },
};

START_TEST(each_question_has_a_line)
{
	struct proposal *p;
	struct draft *d;
	const char *found;

	add_ask("AskUserQuestion", QUESTIONS, "");
	d = bench_stage(&b, ITEM_QUESTION, R, VERB_ANSWER);
	d->answer = str_of(answers[_i].answer);
	d->option = answers[_i].option;
	if (!answers[_i].answers) {
		bench_lacks(&b, answers[_i].words);
		return;
	}
	p = bench_ready(&b);
	found = strstr(p->letter.bytes.p, "\"answers\":");
	ck_assert(found != NULL);
	ck_assert_msg(strncmp(found + 10, answers[_i].answers, strlen(answers[_i].answers)) == 0,
		      "%s", found);
	ck_assert_msg(!answers[_i].words || bench_cautions(p, answers[_i].words), "no caution");
	ck_assert_int_eq(p->cautions.n > 0, answers[_i].words != NULL);
}
END_TEST

/* The number keys choose an option of the first question. */
START_TEST(an_option_is_chosen_by_its_number)
{
	struct item_state at;
	struct draft *d;
	struct err err;

	add_ask("AskUserQuestion", QUESTION, "");
	d = bench_stage(&b, ITEM_QUESTION, R, VERB_ANSWER);
	at = bench_state(&b, d->number);
	ck_assert_int_eq(draft_choose(d, &b.reader, &b.model.items.v[d->number], &at, 2, &b.arena,
				      &err), 0);
	ck_assert(strstr(bench_ready(&b)->letter.bytes.p, "\"answers\":{\"Which one?\":\"B\"}"));
}
END_TEST

static const struct {
	enum verb verb;
	const char *answer;
	uint32_t option;
	const char *offers, *words;
} refused[] = {
	{ VERB_ALWAYS, "", 0, "", "it offers no rule; give one, as in Bash(touch *)" },
	{ VERB_ALWAYS, "", 0, ",\"permission_suggestions\":[]", "it offers no rule" },
	{ VERB_ALWAYS, "", 4, OFFERS, "there is no offer 4; its offers are 1 to 3" },
	{ VERB_ALWAYS, "Bash(touch *", 0, OFFERS, "a rule is a tool's name" },
	{ VERB_ALWAYS, "Bash()", 0, OFFERS, "a rule is a tool's name" },
	{ VERB_ALWAYS, "all of it", 0, OFFERS, "a rule is a tool's name" },
	{ VERB_PARTIAL, "", 0, OFFERS, "needs its input" },
	{ VERB_PARTIAL, "touch b", 0, OFFERS, "the edited input is not JSON" },
	{ VERB_PARTIAL, "[1]", 0, OFFERS, "must be a JSON object" },
	{ VERB_PARTIAL, "{\"a\":\"\\ud800\"}", 0, OFFERS, "must be a JSON object" },
	{ VERB_REJECT, "", 0, OFFERS, "needs a reason" },
	{ VERB_STOP, "", 0, OFFERS, "needs a reason" },
};

START_TEST(what_cannot_be_said_is_not_sent)
{
	struct draft *d;

	add_ask("Bash", TOUCH, refused[_i].offers);
	d = bench_stage(&b, ITEM_PERMISSION, R, refused[_i].verb);
	d->answer = str_of(refused[_i].answer);
	d->option = refused[_i].option;
	bench_lacks(&b, refused[_i].words);
}
END_TEST

#define IN_ASK(request) \
	"{\"type\":\"control_request\",\"request_id\":\"" R "\",\"request\":{\"subtype\":" \
	"\"can_use_tool\",\"tool_name\":\"Bash\"" request "}}"

static const struct {
	const char *ask, *words;
} broken[] = {
	{ IN_ASK(""), "cannot be copied" },
	{ IN_ASK(",\"input\":[]"), "cannot be copied" },
	{ IN_ASK(",\"\\u0069nput\":{}"), "cannot be copied" },
	{ IN_ASK(",\"input\":{\"a\":\"\xff\"}"), "broken Unicode" },
	{ IN_ASK(",\"input\":{\"a\":\"\\ud800 half\"}"), "broken Unicode" },
};

/* What cannot be copied cannot be allowed; it can be rejected, since the agent waits. */
START_TEST(a_broken_ask_can_only_be_rejected)
{
	bench_add(&b, broken[_i].ask);
	bench_stage(&b, ITEM_PERMISSION, R, VERB_ACCEPT);
	bench_lacks(&b, broken[_i].words);
	b.desk.drafts.n = 0;
	bench_stage(&b, ITEM_PERMISSION, R, VERB_REJECT)->explanation = STR("no");
	assert_bytes(bench_ready(&b), ANSWER "{\"behavior\":\"deny\",\"message\":\"no\"}}}");
}
END_TEST

static const char *const undecidable[] = {
	"{\"type\":\"control_request\",\"request\":{\"subtype\":\"can_use_tool\","
	"\"tool_name\":\"Bash\",\"input\":{}}}",
	IN_ASK(",\"input\":{\"command\":\"ls\",\"command\":\"rm -r .\"}"),
	IN_ASK(",\"input\":{},\"input\":{\"command\":\"rm -r .\"}"),
};

START_TEST(an_ambiguous_ask_cannot_be_decided)
{
	bench_add(&b, undecidable[_i]);
	ck_assert_uint_ge(b.model.items.n, 1);
	for (uint32_t i = 0; i < b.model.items.n; i++)
		ck_assert(bench_state(&b, i).undecidable);
}
END_TEST

START_TEST(an_answer_is_final)
{
	struct buf why = { 0 };
	uint32_t item, corrects;
	struct draft *d;

	stage(&said[0]);
	bench_send(&b, bench_ready(&b));
	item = bench_item(&b, ITEM_PERMISSION, R);
	d = bench_decide(&b, item, VERB_REJECT, "Because.", "ann");
	ck_assert(!desk_allows(&b.desk, d, &b.model, b.model.records.n, TIME_NONE, &corrects, &why));
	ck_assert_msg(strstr(why.p, "cannot be taken back") != NULL, "%s", why.p);
	buf_release(&why);
}
END_TEST

/* A second reviewer answers from a queue; the asking subagent is part of the item. */
START_TEST(an_escalated_ask_can_be_answered)
{
	struct bench queue;
	struct proposal *p;
	struct terms terms;
	struct plan plan;

	bench_add(&b, "{\"type\":\"system\",\"subtype\":\"task_started\",\"task_id\":\"a-1\","
		      "\"description\":\"Worker A\",\"subagent_type\":\"general-purpose\","
		      "\"session_id\":\"s\",\"uuid\":\"u\"}");
	add_ask("Bash", TOUCH, OFFERS ",\"agent_id\":\"a-1\"");
	bench_stage(&b, ITEM_PERMISSION, R, VERB_ESCALATE)->explanation = STR("Not mine");
	b.terms.escalate_to = "/tmp/gavel-unit-queue.ndjson";
	b.terms.now_ms = INT64_C(1770379200000);
	p = bench_only(&b);
	ck_assert_msg(p->missing.n == 0, "%.*s", STR_ARG(p->missing.v[0]));
	assert_str(p->letter.to, QUEUE_NAME);
	ck_assert(strstr(p->letter.bytes.p, "Worker A") != NULL);

	bench_open(&queue, "queue.ndjson");
	bench_add_str(&queue, str_trim(p->letter.bytes));
	bench_decide(&queue, 0, VERB_ALWAYS, "", "bob")->option = 1;
	terms = usual_terms("/tmp/gavel-unit-replies.ndjson");
	bench_plan_by(&queue, &terms, &plan);
	assert_ready(&plan);
	ck_assert_uint_eq(plan.list.n, 1);
	assert_bytes(&plan.list.v[0],
		     ANSWER "{\"behavior\":\"allow\",\"updatedInput\":" TOUCH
			    ",\"updatedPermissions\":[" RULES "]}}}");
	plan_release(&plan);
	bench_release(&queue);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("encode_claude");
	TCase *t = unit_cases(s, "verbs", setup, teardown);

	tcase_add_loop_test(t, a_verb_is_said, 0, SAID);
	tcase_add_loop_test(t, the_input_is_copied_byte_for_byte, 0,
			    sizeof(inputs) / sizeof(inputs[0]));
	tcase_add_loop_test(t, each_question_has_a_line, 0, sizeof(answers) / sizeof(answers[0]));
	tcase_add_test(t, an_option_is_chosen_by_its_number);
	tcase_add_loop_test(t, what_cannot_be_said_is_not_sent, 0,
			    sizeof(refused) / sizeof(refused[0]));
	tcase_add_loop_test(t, a_broken_ask_can_only_be_rejected, 0,
			    sizeof(broken) / sizeof(broken[0]));
	tcase_add_loop_test(t, an_ambiguous_ask_cannot_be_decided, 0,
			    sizeof(undecidable) / sizeof(undecidable[0]));
	tcase_add_test(t, an_answer_is_final);
	tcase_add_test(t, an_escalated_ask_can_be_answered);
	return unit_run(s);
}
