/* acp: every verb on every kind of item, byte for byte what recorded clients wrote, or what the
 * protocol wants; and read back, meaning the same. */
#include "acp_recording.h"

#include "decide/question.h"

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

/* Plays a recording up to its n-th ask, from 1; returns where that is. */
static uint32_t play_to_ask(const char *name, unsigned n)
{
	recording_open(&r, name);
	for (uint32_t i = 0; i < r.lines.n; i++) {
		hear(&b, &r.lines.v[i]);
		if (is_ask(&r.lines.v[i]) && --n == 0)
			return i;
	}
	ck_abort_msg("%s has not so many asks", name);
	return 0;
}

/* What the client of the recording answered, behind line i. */
static struct str recorded_answer(uint32_t i)
{
	struct str id = raw_member(r.lines.v[i].bytes, "id");

	for (i++; i < r.lines.n; i++)
		if (r.lines.v[i].by == BY_CLIENT && !raw_member(r.lines.v[i].bytes, "method").n &&
		    str_eq(raw_member(r.lines.v[i].bytes, "id"), id))
			return r.lines.v[i].bytes;
	ck_abort_msg("no answer is recorded");
	return STR_NONE;
}

static struct draft *stage(enum verb verb)
{
	uint32_t item = b.model.items.n - 1;

	return bench_decide(&b, item, verb, verb == VERB_REJECT || verb == VERB_STOP ? "No" : "",
			    "ann");
}

static const struct {
	const char *name;
	unsigned ask;
	enum verb verb;
	const char *answer;
	enum verdict verdict;
} recorded[] = {
	{ "acp-opencode-allow", 1, VERB_ACCEPT, NULL, VERDICT_ACCEPTED },
	{ "acp-gemini-allow", 1, VERB_ACCEPT, NULL, VERDICT_ACCEPTED },
	{ "acp-claude-allow", 1, VERB_ACCEPT, NULL, VERDICT_ACCEPTED },
	{ "acp-codex-allow", 1, VERB_ACCEPT, NULL, VERDICT_ACCEPTED },
	{ "acp-claude-parallel", 3, VERB_ACCEPT, NULL, VERDICT_ACCEPTED },
	{ "acp-opencode-allow-always", 1, VERB_ALWAYS, NULL, VERDICT_ACCEPTED },
	{ "acp-gemini-allow-always", 1, VERB_ALWAYS, NULL, VERDICT_ACCEPTED },
	{ "acp-codex-allow-always", 1, VERB_ALWAYS, NULL, VERDICT_ACCEPTED },
	{ "acp-opencode-reject", 1, VERB_REJECT, NULL, VERDICT_REJECTED },
	{ "acp-gemini-reject", 1, VERB_REJECT, NULL, VERDICT_REJECTED },
	{ "acp-claude-reject", 1, VERB_REJECT, NULL, VERDICT_REJECTED },
	{ "acp-codex-reject", 1, VERB_REJECT, NULL, VERDICT_REJECTED },
	{ "acp-codex-plan", 1, VERB_ACCEPT, NULL, VERDICT_ACCEPTED },
	{ "acp-claude-elicitation", 1, VERB_ANSWER, "JWT\nLinux", VERDICT_ANSWERED },
	{ "acp-claude-elicitation", 1, VERB_ANSWER, "2\n1", VERDICT_ANSWERED },
	{ "acp-claude-elicitation", 1, VERB_ANSWER, " jwt \r\nlinux\n\n", VERDICT_ANSWERED },
	{ "acp-claude-elicitation-declined", 1, VERB_REJECT, NULL, VERDICT_REJECTED },
	{ "acp-codex-question", 1, VERB_ANSWER, "None of the above", VERDICT_ANSWERED },
	{ "acp-codex-question", 1, VERB_ANSWER, "3", VERDICT_ANSWERED },
};

START_TEST(an_answer_is_what_recorded_clients_wrote)
{
	uint32_t at = play_to_ask(recorded[_i].name, recorded[_i].ask);
	struct str want = recorded_answer(at);
	struct proposal *p;
	uint32_t item = b.model.items.n - 1;
	bool reasoned = recorded[_i].verb == VERB_REJECT;

	stage(recorded[_i].verb)->answer = str_of(recorded[_i].answer);
	p = bench_ready(&b);
	ck_assert_msg(str_eq(str_make(p->letter.bytes.p, p->letter.bytes.n - 1), want),
		      "%s: %.*s instead of %.*s", recorded[_i].name, STR_ARG(p->letter.bytes),
		      STR_ARG(want));
	assert_str(p->letter.to, "opencode");
	ck_assert(bench_cautions(p, "next prompt") == reasoned);
	ck_assert(bench_cautions(p, "from now on: ") == (recorded[_i].verb == VERB_ALWAYS));
	bench_apply(&b, p);
	ck_assert_int_eq(bench_state(&b, item).verdict, recorded[_i].verdict);
}
END_TEST

/* session/cancel, and then the answer that the protocol wants after it. */
static const char *const cancelled[] = { "acp-opencode-cancel", "acp-gemini-cancel",
					 "acp-claude-cancel", "acp-codex-cancel" };

START_TEST(to_stop_is_to_cancel_the_turn_and_then_the_ask)
{
	uint32_t at = play_to_ask(cancelled[_i], 1);
	struct str cancel = STR_NONE;

	for (uint32_t i = at + 1; i < r.lines.n && !cancel.n; i++)
		if (str_find(r.lines.v[i].bytes, STR("\"session/cancel\""), 0) >= 0)
			cancel = r.lines.v[i].bytes;
	stage(VERB_STOP);
	bench_plan(&b);
	assert_ready(&b.plan);
	ck_assert_uint_eq(b.plan.list.n, 2);
	ck_assert_uint_eq(b.plan.list.v[0].group, b.plan.list.v[1].group);
	ck_assert_uint_eq(b.plan.list.v[0].letter.drafts.n, 0);
	for (int i = 0; i < 2; i++) {
		struct str bytes = b.plan.list.v[i].letter.bytes;
		struct str want = i ? recorded_answer(at) : cancel;

		ck_assert_msg(str_eq(str_make(bytes.p, bytes.n - 1), want), "%.*s", STR_ARG(bytes));
		bench_apply(&b, &b.plan.list.v[i]);
	}
	ck_assert_int_eq(bench_state(&b, 0).verdict, VERDICT_REJECTED);
}
END_TEST

/* ---- permissions ---- */

#define OPTION(id, name, kind) \
	"{\"optionId\":\"" id "\",\"name\":\"" name "\",\"kind\":\"" kind "\"}"

static void add_ask(const char *id, const char *kind, const char *options)
{
	char line[2048];

	snprintf(line, sizeof(line),
		 "{\"jsonrpc\":\"2.0\", \"id\" : %s ,\"method\":\"session/request_permission\","
		 "\"params\":{\"sessionId\":\"S\",\"toolCall\":{\"toolCallId\":\"c1\",\"title\":"
		 "\"make\",\"kind\":\"%s\"},\"options\":[%s]}}",
		 id, kind, options);
	hear_text(&b, BY_AGENT, line);
	ck_assert_uint_eq(b.worse.n, 0);
}

static const struct {
	const char *kind, *options;
	enum verb verb;
	uint32_t option;
	const char *outcome; /* NULL: what is missing */
	const char *missing;
} choices[] = {
	{ "execute", OPTION("a", "A", "allow_once"), VERB_ACCEPT, 0,
	  "{\"outcome\":\"selected\",\"optionId\":\"a\"}" },
	{ "execute", OPTION("a", "A", "allow_always"), VERB_ACCEPT, 0, NULL, "for good (always)" },
	{ "execute", OPTION("a", "A", "reject_once"), VERB_ACCEPT, 0, NULL, "no option to allow" },
	{ "execute", OPTION("a", "A", "allow_always") "," OPTION("b", "B", "allow_once") ","
		     OPTION("c", "C", "allow_always"), VERB_ALWAYS, 2,
	  "{\"outcome\":\"selected\",\"optionId\":\"c\"}" },
	{ "execute", OPTION("a", "A", "allow_always"), VERB_ALWAYS, 2, NULL, "no rule 2" },
	{ "execute", OPTION("a", "A", "reject_always") "," OPTION("b", "B", "reject_once"),
	  VERB_REJECT, 0, "{\"outcome\":\"selected\",\"optionId\":\"b\"}" },
	{ "execute", OPTION("a", "A", "reject_always"), VERB_REJECT, 0,
	  "{\"outcome\":\"selected\",\"optionId\":\"a\"}" },
	{ "execute", OPTION("a", "A", "allow_once"), VERB_REJECT, 0, "{\"outcome\":\"cancelled\"}" },
	{ "execute", OPTION("a\\\"\\u00e9", "A", "allow_once"), VERB_ACCEPT, 0,
	  "{\"outcome\":\"selected\",\"optionId\":\"a\\\"é\"}" },
	{ "switch_mode", OPTION("a", "A", "allow_once") "," OPTION("b", "B", "reject_once"),
	  VERB_REJECT, 0, "{\"outcome\":\"selected\",\"optionId\":\"b\"}" },
};

START_TEST(an_option_is_chosen_by_its_kind)
{
	struct buf want = { 0 };
	struct proposal *p;

	add_ask("\"x-\\u0031\"", choices[_i].kind, choices[_i].options);
	stage(choices[_i].verb)->option = choices[_i].option;
	if (!choices[_i].outcome) {
		bench_lacks(&b, choices[_i].missing);
		return;
	}
	p = bench_ready(&b);
	/* the id as it was written, escapes and all */
	buf_printf(&want, "{\"jsonrpc\":\"2.0\",\"id\":\"x-\\u0031\",\"result\":{\"outcome\":%s}}\n",
		   choices[_i].outcome);
	ck_assert_msg(str_eq(p->letter.bytes, buf_str(&want)), "%.*s", STR_ARG(p->letter.bytes));
	bench_apply(&b, p);
	ck_assert_int_eq(bench_state(&b, 0).verdict,
			 choices[_i].verb == VERB_REJECT ? VERDICT_REJECTED : VERDICT_ACCEPTED);
	buf_release(&want);
}
END_TEST

static unsigned verbs_now(void)
{
	struct item_state at = bench_state(&b, 0);

	return verbs_allowed(&b.model, &b.model.items.v[0], &at);
}

START_TEST(only_what_the_ask_allows_is_offered)
{
	add_ask("0", "execute", OPTION("a", "A", "allow_once"));
	ck_assert_uint_eq(verbs_now(), CAN_ACCEPT | CAN_REJECT | CAN_STOP | CAN_ESCALATE);
	add_ask("1", "execute", OPTION("a", "A", "allow_once") "," OPTION("b", "B", "allow_always"));
	ck_assert_uint_eq(verbs_now(),
			  CAN_ACCEPT | CAN_ALWAYS | CAN_REJECT | CAN_STOP | CAN_ESCALATE);
	stage(VERB_ALWAYS)->answer = STR("touch *");
	bench_lacks(&b, "no rule of one's own");
}
END_TEST

START_TEST(an_ask_that_cannot_be_answered_is_not_decided)
{
	hear_text(&b, BY_AGENT, ASK("null", "S", "c1"));
	ck_assert_uint_eq(verbs_now(), 0);
	ck_assert(bench_state(&b, 0).undecidable);
}
END_TEST

START_TEST(an_answer_is_given_once)
{
	struct buf why = { 0 };
	struct item_state at;

	add_ask("0", "execute", OPTION("a", "A", "allow_once"));
	stage(VERB_ACCEPT);
	bench_apply(&b, bench_ready(&b));
	at = bench_state(&b, 0);
	ck_assert(!at.open);
	ck_assert(encoders[DIALECT_ACP]->is_final(&b.model, &b.model.items.v[0], &at, &why));
	ck_assert_ptr_nonnull(strstr(why.p, "cannot be taken back"));
	buf_release(&why);
}
END_TEST

/* ---- forms ---- */

static void add_form(const char *properties, const char *required)
{
	char line[2048];

	snprintf(line, sizeof(line),
		 "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"elicitation/create\",\"params\":{"
		 "\"sessionId\":\"S\",\"mode\":\"form\",\"message\":\"Well?\",\"requestedSchema\":{"
		 "\"type\":\"object\",\"properties\":{%s},\"required\":[%s]}}}",
		 properties, required);
	hear_text(&b, BY_AGENT, line);
	ck_assert_uint_eq(b.worse.n, 0);
}

#define COLOUR "\"colour\":{\"type\":\"string\",\"enum\":[\"red\",\"light, blue\"]}"
#define SIZES \
	"\"sizes\":{\"type\":\"array\",\"items\":{\"anyOf\":[{\"const\":\"s\",\"title\":\"Small\"}," \
	"{\"const\":\"l\",\"title\":\"Large\"}]}}"
#define OWN(name) "\"" name "_custom\":{\"type\":\"string\"}"

static const struct {
	const char *properties, *required, *typed;
	const char *content; /* NULL: what is missing */
	const char *missing;
} forms[] = {
	{ "\"name\":{\"type\":\"string\"}", "", "Ann \"A\"", "{\"name\":\"Ann \\\"A\\\"\"}" },
	{ "\"name\":{\"type\":\"string\"}", "", "two\nlines", "{\"name\":\"two\\nlines\"}" },
	{ COLOUR, "", "red", "{\"colour\":\"red\"}" },
	{ COLOUR, "", "2", "{\"colour\":\"light, blue\"}" },
	{ COLOUR, "", "green", NULL, "question 1: \"green\" is none of its choices" },
	{ COLOUR "," OWN("colour"), "", "green", "{\"colour_custom\":\"green\"}" },
	{ COLOUR "," OWN("colour"), "\"colour\"", "green", NULL, "is none of its choices" },
	{ SIZES, "", "Small, l", "{\"sizes\":[\"s\",\"l\"]}" },
	{ SIZES, "", "1, 2", "{\"sizes\":[\"s\",\"l\"]}" },
	{ SIZES "," OWN("sizes"), "", "l, huge", "{\"sizes\":[\"l\"],\"sizes_custom\":\"huge\"}" },
	{ SIZES, "", "l, huge", NULL, "\"huge\" is none of its choices" },
	{ "\"ok\":{\"type\":\"boolean\"}", "", "yes", "{\"ok\":true}" },
	{ "\"ok\":{\"type\":\"boolean\"}", "", "No", "{\"ok\":false}" },
	{ "\"ok\":{\"type\":\"boolean\"}", "", "maybe", NULL, "yes or no" },
	{ "\"n\":{\"type\":\"integer\"}", "", "12", "{\"n\":12}" },
	{ "\"n\":{\"type\":\"integer\"}", "", "1.5", NULL, "a whole number" },
	{ "\"n\":{\"type\":\"number\"}", "", "1.50", "{\"n\":1.50}" },
	{ "\"n\":{\"type\":\"number\"}", "", "many", NULL, "wants a number" },
	/* several questions, a line each; an empty line is no answer */
	{ COLOUR "," SIZES, "", "\nl", "{\"sizes\":[\"l\"]}" },
	{ COLOUR "," SIZES, "", "red", "{\"colour\":\"red\"}" },
	{ COLOUR "," SIZES, "\"sizes\"", "red", NULL, "question 2 needs an answer" },
	{ COLOUR "," SIZES, "", "red\nl\nmore", NULL, "only 2 questions" },
	{ SIZES, "", ",", NULL, "no question is answered" },
};

START_TEST(a_form_is_filled_in_as_its_schema_wants)
{
	struct buf want = { 0 };
	struct proposal *p;

	add_form(forms[_i].properties, forms[_i].required);
	stage(VERB_ANSWER)->answer = str_of(forms[_i].typed);
	if (!forms[_i].content) {
		bench_lacks(&b, forms[_i].missing);
		return;
	}
	p = bench_ready(&b);
	buf_printf(&want, "{\"jsonrpc\":\"2.0\",\"id\":7,\"result\":{\"action\":\"accept\","
			  "\"content\":%s}}\n", forms[_i].content);
	ck_assert_msg(str_eq(p->letter.bytes, buf_str(&want)), "%.*s", STR_ARG(p->letter.bytes));
	bench_apply(&b, p);
	bench_verdict(&b, ITEM_QUESTION, "S/elicitation-7", VERDICT_ANSWERED);
	buf_release(&want);
}
END_TEST

/* codex-acp: an own answer goes with the last choice, into the note beside it. */
START_TEST(an_own_answer_to_codex_is_a_note)
{
	struct proposal *p;

	play_to_ask("acp-codex-question", 1);
	stage(VERB_ANSWER)->answer = STR("Passkeys");
	p = bench_ready(&b);
	assert_str(p->letter.bytes,
		   "{\"jsonrpc\":\"2.0\",\"id\":0,\"result\":{\"action\":\"accept\",\"content\":{"
		   "\"auth\":\"None of the above\",\"auth_note\":\"Passkeys\"}}}\n");
}
END_TEST

START_TEST(an_option_is_chosen_by_its_number)
{
	struct draft *d;
	struct item_state at;
	struct err err;
	struct proposal *p;

	play_to_ask("acp-codex-question", 1);
	d = stage(VERB_ANSWER);
	at = bench_state(&b, d->number);
	ck_assert_int_eq(draft_choose(d, &b.reader, &b.model.items.v[d->number], &at, 2, &b.arena,
				      &err), 0);
	assert_str(d->answer, "JWT");
	p = bench_ready(&b);
	assert_str(p->letter.bytes, "{\"jsonrpc\":\"2.0\",\"id\":0,\"result\":{\"action\":\"accept\","
				    "\"content\":{\"auth\":\"JWT\"}}}\n");
}
END_TEST

/* ---- a second reviewer ---- */

START_TEST(an_escalated_ask_is_answered_from_the_queue)
{
	struct bench second;
	struct proposal *p;
	struct str entry;

	/* the call was told of before: its message goes along */
	play_to_ask("acp-opencode-allow", 1);
	b.terms.escalate_to = "/tmp/gavel-unit-queue.ndjson";
	b.terms.now_ms = INT64_C(1794902925034);
	stage(VERB_ESCALATE)->explanation = STR("Please look");
	p = bench_ready(&b);
	entry = str_make(p->letter.bytes.p, p->letter.bytes.n - 1);
	ck_assert(str_find(entry, STR("\\\"sessionUpdate\\\":\\\"tool_call_update\\\""), 0) >= 0);

	bench_open(&second, "queue.ndjson");
	bench_add_str(&second, entry);
	assert_clean(&second);
	bench_decide(&second, bench_item(&second, ITEM_ESCALATION, NULL), VERB_ACCEPT, "Fine", "bob");
	p = bench_ready(&second);
	assert_str(p->letter.bytes, "{\"jsonrpc\":\"2.0\",\"id\":0,\"result\":{\"outcome\":{"
				    "\"outcome\":\"selected\",\"optionId\":\"once\"}}}\n");
	bench_release(&second);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("encode acp");
	TCase *t = unit_cases(suite, "encode", setup, teardown);

	if (!getenv("GAVEL_FIXTURES")) {
		puts("Bail out! needs GAVEL_FIXTURES");
		return 1;
	}
	tcase_add_loop_test(t, an_answer_is_what_recorded_clients_wrote, 0, ROWS(recorded));
	tcase_add_loop_test(t, to_stop_is_to_cancel_the_turn_and_then_the_ask, 0, ROWS(cancelled));
	tcase_add_loop_test(t, an_option_is_chosen_by_its_kind, 0, ROWS(choices));
	tcase_add_test(t, only_what_the_ask_allows_is_offered);
	tcase_add_test(t, an_ask_that_cannot_be_answered_is_not_decided);
	tcase_add_test(t, an_answer_is_given_once);
	tcase_add_loop_test(t, a_form_is_filled_in_as_its_schema_wants, 0, ROWS(forms));
	tcase_add_test(t, an_own_answer_to_codex_is_a_note);
	tcase_add_test(t, an_option_is_chosen_by_its_number);
	tcase_add_test(t, an_escalated_ask_is_answered_from_the_queue);
	return unit_run(suite);
}
