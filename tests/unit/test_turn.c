/* Turns of a review: the words of their commands, and what streams amount to. */
#include "agents/turn.h"
#include "dialect/dialect.h"

#include "encode.h"
#include "unit.h"

/* ---- commands ---- */

static void check_command(const char *session, const char *words, const char *want)
{
	struct arena arena = { 0 };
	struct buf got = { 0 };
	char *copy = xstrdup(words), *save = NULL;
	const char *command[20] = { NULL };
	const char **out;
	int n = 0;

	for (char *w = strtok_r(copy, " ", &save); w; w = strtok_r(NULL, " ", &save))
		command[n++] = w;
	out = turn_command(&arena, command, str_of(session));
	for (int i = 0; out[i]; i++)
		buf_printf(&got, "%s%s", i ? " " : "", out[i]);
	ck_assert_str_eq(got.p ? got.p : "", want);
	buf_release(&got);
	arena_release(&arena);
	free(copy);
}

START_TEST(the_session_is_put_where_it_belongs)
{
	check_command("ses_1", "opencode run --format json --session {session}",
		      "opencode run --format json --session ses_1");
	check_command("ses_1", "x --session={session} -s{session} {session}{session}.log",
		      "x --session=ses_1 -sses_1 ses_1ses_1.log");
	check_command("ses_1", "x {sessio} {Session} {session", "x {sessio} {Session} {session");
	check_command("ses_1", "{session} run", "{session} run");
}
END_TEST

START_TEST(without_a_session_its_words_are_left_out)
{
	check_command("", "opencode run --format json --session {session}",
		      "opencode run --format json");
	check_command("", "x --session {session} --model m", "x --model m");
	check_command("", "x -s {session}", "x");
	/* the option has its value: it is not a lone one */
	check_command("", "x --format=json {session}", "x --format=json");
	/* an option itself: the one before it is another matter */
	check_command("", "x --verbose --session={session}", "x --verbose");
	check_command("", "x --verbose -s{session}", "x --verbose");
	/* no options */
	check_command("", "x -- {session}", "x --");
	check_command("", "x - {session}", "x -");
	check_command("", "x run {session} y", "x run y");
	/* only the word right before it, and each once */
	check_command("", "x --a --b {session} {session}", "x --a");
	check_command("", "x --a {session} --b {session}", "x");
	/* the program is never left out */
	check_command("", "{session} {session}", "{session}");
	check_command("", "-x {session}", "-x");
	check_command("", "x", "x");
}
END_TEST

START_TEST(an_id_must_be_a_name)
{
	ck_assert(turn_session_is_safe(STR("ses_e1e619054ffea0xj8gsEpSewJr")));
	ck_assert(turn_session_is_safe(STR("a.b:c-d_1")));
	ck_assert(!turn_session_is_safe(STR("")));
	ck_assert(!turn_session_is_safe(STR("-rf")));
	ck_assert(!turn_session_is_safe(STR("a b")));
	ck_assert(!turn_session_is_safe(STR("a\nb")));
	ck_assert(!turn_session_is_safe(str_make("a\0b", 3)));
	ck_assert(!turn_session_is_safe(STR("caf\xc3\xa9")));
	ck_assert(!turn_session_is_safe(STR("../../etc")));
}
END_TEST

/* ---- streams ---- */

static struct bench bench;
static struct turn turn;

static void set_up(void)
{
	bench_init(&bench);
}

static void tear_down(void)
{
	bench_release(&bench);
	turn_release(&turn);
	turn = (struct turn){ 0 };
}

static const char *look(int64_t now_ms)
{
	static struct buf out;

	turn_look(&turn, &bench.model, &bench.reader, 0, now_ms);
	buf_clear(&out);
	turn_words(&turn, now_ms, "(:retry, E edits, :give-up)", &out);
	return out.p;
}

static const char *end(const struct turn_exit *e, int64_t now_ms)
{
	turn_look(&turn, &bench.model, &bench.reader, 0, now_ms);
	turn_end(&turn, e, now_ms);
	return look(now_ms);
}

static void ask(int64_t iteration)
{
	char line[200];

	turn_begin(&turn, DIALECT_FEEDBACK, iteration, bench.model.records.n, 1000);
	snprintf(line, sizeof(line),
		 "{\"protocol_version\":\"1.2\",\"iteration\":%lld,\"artifact\":{\"media_type\":"
		 "\"text/plain\",\"content\":\"x\"}%s}",
		 (long long)iteration,
		 iteration > 1 ? ",\"applied_feedback\":{\"items\":[]}" : "");
	bench_add(&bench, line);
}

#define WRAP(type, part) \
	"{\"type\":\"" type "\",\"timestamp\":1761021546015,\"sessionID\":\"ses_1\",\"part\":" part "}"
#define ANSWER(iteration) \
	WRAP("text", "{\"type\":\"text\",\"text\":\"{\\\"protocol_version\\\":\\\"1.2\\\"," \
	"\\\"iteration\\\":" iteration ",\\\"status\\\":\\\"success\\\",\\\"feedback\\\":{" \
	"\\\"confidence\\\":{\\\"level\\\":\\\"high\\\",\\\"justification\\\":\\\"j\\\"}," \
	"\\\"positive_points\\\":[],\\\"areas_for_improvement\\\":[],\\\"general_summary\\\":" \
	"\\\"Ready.\\\"}}\"}")

static const struct turn_exit well = { .well = true, .words = { "exit code 0", 11 } };
static const struct turn_exit badly = { .words = { "exit code 3", 11 },
					.complaint = { "no such agent\nsecond line", 25 } };

START_TEST(a_running_turn_tells_what_it_does)
{
	ask(1);
	ck_assert_str_eq(look(1000), "turn 1 runs 0:00");
	bench_add(&bench, WRAP("step_start", "{\"type\":\"step-start\"}"));
	bench_add(&bench, WRAP("tool_use", "{\"type\":\"tool\",\"tool\":\"bash\",\"callID\":\"c\","
				   "\"state\":{\"status\":\"completed\",\"title\":\"ls -1\"}}"));
	bench_add(&bench, WRAP("step_finish", "{\"type\":\"step-finish\",\"reason\":\"stop\",\"cost\":"
				      "0.0018,\"tokens\":{\"input\":234,\"output\":56,\"reasoning\":0,"
				      "\"cache\":{\"read\":1000,\"write\":0}}}"));
	ck_assert_str_eq(look(75000), "turn 1 runs 1:14  step 1  1 tool  1290 tokens  $0.0018  "
				      "tool_use: bash completed: ls -1");
	ck_assert_str_eq(turn.session, "ses_1");
	ck_assert(!turn_is_silent(&turn, 75000 + TURN_SILENT_MS - 1));
	ck_assert(turn_is_silent(&turn, 75000 + TURN_SILENT_MS));
	ck_assert_str_eq(look(75000 + TURN_SILENT_MS),
			 "turn 1 runs 1:44  silent for 0:30: wait, or :stop it  step 1  1 tool  1290 "
			 "tokens  $0.0018");
}
END_TEST

START_TEST(an_answer_is_an_answer)
{
	ask(1);
	bench_add(&bench, WRAP("text", "{\"type\":\"text\",\"text\":\"I will look.\"}"));
	bench_add(&bench, ANSWER("1"));
	ck_assert_str_eq(end(&well, 5000), "turn 1 answered in 0:04");
	ck_assert(!turn_has_failed(&turn));
	/* how it ended is told all the same */
	ask(2);
	bench_add(&bench, ANSWER("2"));
	ck_assert_str_eq(end(&badly, 5000), "turn 2 answered in 0:04  (exit code 3; it said: no such "
						 "agent…)");
}
END_TEST

START_TEST(another_iteration_is_not_what_was_asked_for)
{
	ask(1);
	bench_add(&bench, ANSWER("7"));
	ck_assert_str_eq(end(&well, 5000), "turn 1 answered for iteration 7, not 1: decide its items "
					   "anyway, or :retry");
	ck_assert(!turn_has_failed(&turn));
}
END_TEST

static void check_failure(const struct turn_exit *e, enum turn_state_name state, const char *why,
			  const char *note)
{
	struct buf line = { 0 };

	end(e, 5000);
	ck_assert_int_eq(turn.state, state);
	ck_assert(turn_has_failed(&turn));
	ck_assert_str_eq(turn.why.p, why);
	turn_note(&turn, 1761021546999, &line);
	ck_assert_str_eq(line.p, note);
	/* a valid message, and an item that a person can decide */
	bench_add_str(&bench, str_trim(buf_str(&line)));
	ck_assert_str_eq(bench.worse.p ? bench.worse.p : "", "");
	ck_assert_uint_eq(bench.model.open_count, 1);
	buf_release(&line);
}

START_TEST(an_error_line_is_a_failure)
{
	ask(1);
	bench_add(&bench, "{\"type\":\"error\",\"timestamp\":1761021546015,\"sessionID\":\"ses_1\","
			  "\"error\":{\"name\":\"APIError\",\"data\":{\"message\":\"no key\"}}}");
	check_failure(&badly, TURN_ERROR, "APIError: no key (exit code 3)",
		      "{\"type\":\"text\",\"timestamp\":1761021546999,\"sessionID\":\"ses_1\",\"part\":{"
		      "\"type\":\"text\",\"text\":\"{\\\"protocol_version\\\":\\\"1.2\\\",\\\"iteration\\\":"
		      "1,\\\"status\\\":\\\"error\\\",\\\"error\\\":{\\\"code\\\":\\\"INTERNAL_ERROR\\\","
		      "\\\"message\\\":\\\"APIError: no key (exit code 3)\\\"},\\\"x-gavel\\\":{\\\"turn\\\":"
		      "\\\"error\\\"}}\"}}\n");
}
END_TEST

#define BARE(message, turn) \
	"{\"protocol_version\":\"1.2\",\"iteration\":1,\"status\":\"error\",\"error\":{\"code\":" \
	"\"INTERNAL_ERROR\",\"message\":\"" message "\"},\"x-gavel\":{\"turn\":\"" turn "\"}}\n"

START_TEST(an_exit_code_is_a_failure)
{
	ask(1);
	check_failure(&badly, TURN_EXIT, "exit code 3; it said: no such agent…",
		      BARE("exit code 3; it said: no such agent…", "exit"));
}
END_TEST

START_TEST(no_word_is_a_failure)
{
	ask(1);
	check_failure(&well, TURN_SILENT, "ended without output",
		      BARE("ended without output", "silent"));
}
END_TEST

START_TEST(prose_is_no_answer)
{
	ask(1);
	bench_add(&bench, WRAP("text", "{\"type\":\"text\",\"text\":\"All is well.\"}"));
	end(&well, 5000);
	ck_assert_str_eq(turn.why.p, "no answer in its output");
	ck_assert(turn_has_failed(&turn));
}
END_TEST

START_TEST(unread_and_stopped_are_failures)
{
	struct turn_exit unread = badly, stopped = badly;

	unread.unread = stopped.stopped = true;
	ask(1);
	check_failure(&unread, TURN_UNREAD,
		      "ended without reading its input (exit code 3); it said: no such agent…",
		      BARE("ended without reading its input (exit code 3); it said: no such "
			   "agent…", "unread"));
	turn_begin(&turn, DIALECT_FEEDBACK, 1, bench.model.records.n, 1000);
	end(&stopped, 2000);
	ck_assert_str_eq(turn.why.p, "stopped");
}
END_TEST

START_TEST(an_id_that_is_no_name_is_not_used)
{
	ask(1);
	bench_add(&bench, "{\"type\":\"step_start\",\"timestamp\":1,\"sessionID\":\"--yolo\",\"part\":{}}");
	look(1000);
	ck_assert_str_eq(turn.session, "");
	ck_assert(strstr(look(1000), "invalid session id"));
}
END_TEST

START_TEST(envelopes_have_turns_too)
{
	struct buf line = { 0 };

	turn_begin(&turn, DIALECT_ENVELOPE, 1, 0, 1000);
	bench_add(&bench, "{\"context\":{\"feature_id\":\"f\",\"workflow\":\"plan\",\"iteration\":1},"
			  "\"paths\":{},\"task\":{\"action\":\"validate\",\"params\":{}}}");
	ck_assert_str_eq(look(2000), "turn 1 runs 0:01");
	end(&badly, 5000);
	ck_assert_int_eq(turn.state, TURN_EXIT);
	turn_note(&turn, 0, &line);
	ck_assert_str_eq(line.p, "{\"success\":false,\"summary\":\"gavel: turn 1 failed: exit code 3; it "
				 "said: no such agent…\",\"artifacts\":[],\"recommendation\":\"retry\"}\n");
	bench_add_str(&bench, str_trim(buf_str(&line)));
	ck_assert_str_eq(bench.worse.p ? bench.worse.p : "", "");
	ck_assert_uint_eq(bench.model.open_count, 1);
	buf_release(&line);
	turn_begin(&turn, DIALECT_ENVELOPE, 2, bench.model.records.n, 1000);
	bench_add(&bench, "{\"success\":true,\"summary\":\"Fine.\",\"artifacts\":[],"
			  "\"recommendation\":\"proceed\"}");
	ck_assert_str_eq(end(&well, 5000), "turn 2 answered in 0:04");
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("turns");
	TCase *t = tcase_create("commands");

	tcase_add_test(t, the_session_is_put_where_it_belongs);
	tcase_add_test(t, without_a_session_its_words_are_left_out);
	tcase_add_test(t, an_id_must_be_a_name);
	suite_add_tcase(suite, t);
	t = tcase_create("streams");
	tcase_add_checked_fixture(t, set_up, tear_down);
	tcase_add_test(t, a_running_turn_tells_what_it_does);
	tcase_add_test(t, an_answer_is_an_answer);
	tcase_add_test(t, another_iteration_is_not_what_was_asked_for);
	tcase_add_test(t, an_error_line_is_a_failure);
	tcase_add_test(t, an_exit_code_is_a_failure);
	tcase_add_test(t, no_word_is_a_failure);
	tcase_add_test(t, prose_is_no_answer);
	tcase_add_test(t, unread_and_stopped_are_failures);
	tcase_add_test(t, an_id_that_is_no_name_is_not_used);
	tcase_add_test(t, envelopes_have_turns_too);
	suite_add_tcase(suite, t);
	return unit_run(suite);
}
