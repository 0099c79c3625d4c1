/* Running agents as sources: what they say is in the model, in order and whole, whatever they
 * do. */
#include "session/agent_set.h"

#include "loop/loop.h"

#include "folder.h"
#include "unit.h"

#include <poll.h>
#include <stdio.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

enum { WAIT_MS = 20000 };

static struct load load;
static struct agent_set agents;
static const struct agent_about nothing;

static void set_up(void)
{
	struct err err;

	make_folder();
	load = (struct load){ .desk_options = { .open = true, .write = true, .journal = folder } };
	agents = (struct agent_set){ 0 };
	load_init(&load, 0);
	ck_assert_msg(agent_set_open(&agents, &load, folder, &err) == 0, "%s", err.text);
}

static void tear_down(void)
{
	agent_set_kill(&agents);
	agent_set_close(&agents);
	load_release(&load);
	remove_folder();
}

/* An agent with up to four lines of script. */
static uint32_t start(const char *name, const char *group, const char *a, const char *b,
		      const char *c, const char *d)
{
	const char *argv[] = { getenv("FAKE_AGENT"), a, b, c, d, NULL };
	struct child_spec spec = { .name = name, .argv = argv };
	struct err err;
	uint32_t n;

	ck_assert_msg(argv[0] != NULL, "FAKE_AGENT must name tests/tools/fake_agent");
	n = agent_set_start(&agents, &spec, str_of(group), &nothing, &err);
	ck_assert_msg(n != NONE, "%s", err.text);
	return n;
}

/* One turn of a loop; false when it was too long. */
static bool turn(int64_t deadline)
{
	int64_t now = loop_now_ms();
	int wait = agent_set_wait_ms(&agents, now);
	struct pollfd fd = { agent_set_fd(&agents), POLLIN, 0 };

	if (wait < 0 || wait > 100)
		wait = 100;
	poll(&fd, 1, wait);
	agent_set_take(&agents, loop_now_ms(), NULL, NULL);
	return now < deadline;
}

static void run_all(void)
{
	int64_t deadline = loop_now_ms() + WAIT_MS;

	while (agent_set_running(&agents))
		ck_assert_msg(turn(deadline), "agents still run");
}

static void until_messages(uint32_t n)
{
	int64_t deadline = loop_now_ms() + WAIT_MS;

	while (load.model.records.n < n)
		ck_assert_msg(turn(deadline), "%u of %u messages", load.model.records.n, n);
}

static struct str said(uint32_t message)
{
	return load.reader.bytes(&load, message);
}

static const struct route *route(uint32_t message)
{
	ck_assert_uint_lt(message, load.model.records.n);
	return message_route(&load.model, message);
}

START_TEST(says_and_ends)
{
	uint32_t dev = start("dev", "", "say one", "say {\"type\":\"event:log\"}", "partial three", NULL);

	run_all();
	ck_assert_uint_eq(load.model.records.n, 3);
	assert_str(said(0), "one");
	ck_assert_int_eq(route(1)->dialect, DIALECT_ORCHESTRATOR);
	assert_str(said(2), "three");
	assert_str(session_name(&load.model, route(0)->session), "dev");
	assert_str(load_source_name(&load, route(0)->source), "dev");
	ck_assert(agent_set_is_over(&agents, dev));
	ck_assert_int_eq(agent_set_behind(&agents), 0);
}
END_TEST

/* Looked at with clocks of our own: nobody waits. */
START_TEST(half_a_line_is_told)
{
	int64_t deadline = loop_now_ms() + WAIT_MS, since;

	start("dev", "", "say one", "partial two", "wait-for-line", NULL);
	until_messages(1);
	while (agents.agents.v[0]->streams[AGENT_OUT].line_ms == AGENT_SET_NO_LINE ||
	       agents.agents.v[0]->child->holder != HOLDER_RUNS)
		ck_assert_msg(turn(deadline), "no half line");
	since = agents.agents.v[0]->streams[AGENT_OUT].line_ms;
	assert_str(agent_set_incomplete(&agents, since), "");
	ck_assert_int_eq(agent_set_wait_ms(&agents, since), FOLLOW_SHOWN_MS);
	assert_str(agent_set_incomplete(&agents, since + FOLLOW_SHOWN_MS), "two");
	ck_assert_int_eq(agent_set_wait_ms(&agents, since + FOLLOW_SHOWN_MS), -1);
	child_end_input(agents.agents.v[0]->child);
	run_all();
	assert_str(said(1), "two");
	assert_str(agent_set_incomplete(&agents, since + FOLLOW_SHOWN_MS), "");
}
END_TEST

START_TEST(stderr_is_text)
{
	enum agent_pipe stream;

	start("dev", "", "stderr {\"type\":\"request:submit-task\",\"id\":\"x\"}", NULL, NULL, NULL);
	run_all();
	ck_assert_uint_eq(load.model.records.n, 1);
	ck_assert_int_eq(route(0)->dialect, DIALECT_TEXT);
	ck_assert_uint_eq(load.model.items.n, 0);
	ck_assert_uint_eq(agent_set_of_file(&agents, route(0)->source, &stream), 0);
	ck_assert_int_eq(stream, AGENT_ERR);
	assert_str(load.reader.summary(&load, 0), "{\"type\":\"request:submit-task\",\"id\":\"x\"}");
	ck_assert_uint_eq(load.reader.diags(&load, 0)->list.n, 0);
}
END_TEST

START_TEST(several_at_once)
{
	uint32_t counts[3] = { 0 };
	enum agent_pipe stream;

	start("a", "", "flood 200000", NULL, NULL, NULL);
	start("b", "", "say hello", "stall", NULL, NULL);
	start("c", "", "flood 200000", "stderr done", NULL, NULL);
	ck_assert_uint_eq(agent_set_named(&agents, STR("b")), 1);
	ck_assert_uint_eq(agent_set_named(&agents, STR("d")), NONE);
	while (!agent_set_is_over(&agents, 0) || !agent_set_is_over(&agents, 2) || !load.model.records.n)
		turn(INT64_MAX);
	for (uint32_t i = 0; i < load.model.records.n; i++)
		counts[agent_set_of_file(&agents, route(i)->source, &stream)]++;
	ck_assert_uint_eq(counts[1], 1);
	ck_assert_uint_gt(counts[0], 100);
	ck_assert_uint_eq(counts[0] + 1, counts[2]);
	ck_assert_uint_eq(agent_set_running(&agents), 1);
}
END_TEST

/* Each incarnation's words are told apart, and the half line that one leaves is one of its own. */
START_TEST(incarnations)
{
	uint32_t dev = start("dev", "", "say first", "partial half", "wait-for-line", NULL);
	struct set_agent *a = agents.agents.v[dev];
	const int64_t *half = &a->streams[AGENT_OUT].line_ms;
	struct err err;

	until_messages(1);
	while (*half == AGENT_SET_NO_LINE)
		turn(INT64_MAX);
	ck_assert_int_eq(child_restart(a->child, loop_now_ms(), 0, &err), 0);
	until_messages(3);
	while (*half == AGENT_SET_NO_LINE)
		turn(INT64_MAX);
	child_stop(a->child, loop_now_ms(), 0);
	run_all();
	ck_assert_uint_eq(load.model.records.n, 4);
	assert_str(said(0), "first");
	assert_str(said(1), "half");
	assert_str(said(2), "first");
	assert_str(said(3), "half");
	for (uint32_t i = 0; i < 4; i++)
		ck_assert_uint_eq(agent_set_incarnation(a, AGENT_OUT, message_offset(&load.model, i)), i < 2 ? 1 : 2);
}
END_TEST

/* Turns of one session: programs of their own, one group. */
START_TEST(one_group)
{
	start("turn-1", "loop", "say one", NULL, NULL, NULL);
	run_all();
	start("turn-2", "loop", "say two", NULL, NULL, NULL);
	run_all();
	ck_assert_uint_eq(load.model.records.n, 2);
	ck_assert_uint_eq(route(0)->session, route(1)->session);
	assert_str(session_name(&load.model, route(0)->session), "loop");
	ck_assert_uint_eq(agent_set_named(&agents, STR("loop")), 1);
	ck_assert_uint_eq(load.desks.list.n, 1);
	assert_str(load.desks.list.v[0].group, "loop");
}
END_TEST

START_TEST(start_that_fails)
{
	const char *argv[] = { "/nonexistent/agent", NULL };
	struct child_spec spec = { .name = "dev", .argv = argv };
	struct err err = { { 0 } };

	ck_assert_uint_eq(agent_set_start(&agents, &spec, STR_NONE, &nothing, &err), NONE);
	ck_assert_msg(strstr(err.text, "/nonexistent/agent"), "%s", err.text);
	ck_assert_uint_eq(agents.agents.n, 0);
	ck_assert_uint_eq(load.wire.files.n, 0);
}
END_TEST

static void rename_sender(void *ctx, struct load *l, struct message *msg, uint32_t file)
{
	(void)l;
	(void)file;
	++*(uint32_t *)ctx;
	msg->from = known_role_actors[KNOWN_ROLE_PLANNER];
}

START_TEST(before_the_model)
{
	uint32_t calls = 0;

	agents.before = rename_sender;
	agents.before_ctx = &calls;
	start("dev", "", "say {\"type\":\"event:log\",\"id\":\"1\",\"agentId\":\"boss\"}", NULL, NULL,
	      NULL);
	run_all();
	ck_assert_uint_eq(calls, 1);
	assert_str(agent_name(&load.model, route(0)->from), "planner");
}
END_TEST

/* Agents go on; the next gavel begins. */
static void leave(void)
{
	struct err err;

	agent_set_close(&agents);
	load_release(&load);
	agents = (struct agent_set){ 0 };
	load = (struct load){ .desk_options = { 0 } };
	load_init(&load, 0);
	ck_assert_int_eq(agent_set_open(&agents, &load, folder, &err), 0);
}

/* Whatever prevents attaching, the agent goes on; only one that was just started is stopped. */
START_TEST(attaching_that_fails_stops_nobody)
{
	struct rlimit many, few = { 0 };
	struct agent_about about;
	struct err err;
	int probe;

	start("dev", "", "say up", "stall", NULL, NULL);
	until_messages(1);
	leave();
	getrlimit(RLIMIT_NOFILE, &many);
	probe = dup(0);
	close(probe);
	/* room for both captures and the connection, not for a copy of each capture */
	few = (struct rlimit){ (rlim_t)probe + 4, many.rlim_max };
	setrlimit(RLIMIT_NOFILE, &few);
	ck_assert_uint_eq(agent_set_attach(&agents, "dev", &about, &err), NONE);
	setrlimit(RLIMIT_NOFILE, &many);
	assert_says(err, "run fewer agents");
	ck_assert_int_eq(children_find(agents.children, "dev")->stop, CHILD_GOES_ON);
}
END_TEST

/* An agent that another gavel started is started again with what the head of its capture has. */
START_TEST(the_head_tells_how_to_start_it_again)
{
	static char word[4000];
	const char *argv[] = { "./agent", "a \"b\"", NULL }, *env[] = { "WANTED", "UNSET", NULL };
	struct str can[] = { STR("c"), STR("\"d\"") };
	struct agent_about about = { STR("reviewer"), can, 2, true };
	const char *many[] = { getenv("FAKE_AGENT"), "exit 0", memset(word, 'x', sizeof(word) - 1), NULL };
	struct child_spec spec = { .name = "dev", .argv = argv, .env = env, .folder = "sub" };
	struct child_spec big = { .name = "big", .argv = many };
	char *here = getcwd(NULL, 0), want[400];
	struct err err;
	uint32_t n;

	ck_assert_int_eq(chdir(folder), 0);
	mkdir("sub", 0700);
	write_with("agent", O_TRUNC, 0700, STR("#!/bin/sh\necho \"$1 $WANTED\"; pwd\n"));
	setenv("WANTED", "yes", 1);
	unsetenv("UNSET");
	ck_assert_uint_ne(agent_set_start(&agents, &spec, STR_NONE, &about, &err), NONE);
	ck_assert_uint_ne(agent_set_start(&agents, &big, STR_NONE, &nothing, &err), NONE);
	run_all();
	leave();
	ck_assert_int_eq(chdir("/"), 0);
	n = agent_set_attach(&agents, "dev", &about, &err);
	ck_assert_msg(n != NONE, "%s", err.text);
	assert_str(about.role, "reviewer");
	ck_assert_uint_eq(about.capability_n, 2);
	assert_str(about.capabilities[0], "c");
	assert_str(about.capabilities[1], "\"d\"");
	ck_assert(agents.agents.v[n]->speaks_for_session);
	run_all();
	ck_assert_uint_eq(load.model.records.n, 2);
	ck_assert_msg(child_restart(agents.agents.v[n]->child, 0, 0, &err) == 0, "%s", err.text);
	run_all();
	ck_assert_uint_eq(load.model.records.n, 4);
	assert_str(said(2), "a \"b\" yes");
	snprintf(want, sizeof(want), "%s/sub", folder);
	ck_assert_msg(str_is(said(3), want), "%.*s", STR_ARG(said(3)));
	/* half a command is none */
	n = agent_set_attach(&agents, "big", &about, &err);
	ck_assert_msg(n != NONE, "%s", err.text);
	ck_assert_int_eq(child_restart(agents.agents.v[n]->child, 0, 0, &err), -1);
	assert_says(err, "does not have its whole command");
	ck_assert_uint_eq(about.capability_n, 0);
	/* nor is one with another environment started */
	leave();
	unsetenv("WANTED");
	n = agent_set_attach(&agents, "dev", &about, &err);
	ck_assert_int_eq(child_restart(agents.agents.v[n]->child, 0, 0, &err), -1);
	assert_says(err, "dev: WANTED is not set here");
	ck_assert_int_eq(chdir(here), 0);
	free(here);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("crew");
	TCase *t = unit_cases(suite, "crew", set_up, tear_down);

	tcase_add_test(t, says_and_ends);
	tcase_add_test(t, half_a_line_is_told);
	tcase_add_test(t, stderr_is_text);
	tcase_add_test(t, several_at_once);
	tcase_add_test(t, incarnations);
	tcase_add_test(t, one_group);
	tcase_add_test(t, start_that_fails);
	tcase_add_test(t, before_the_model);
	tcase_add_test(t, attaching_that_fails_stops_nobody);
	tcase_add_test(t, the_head_tells_how_to_start_it_again);
	return unit_run(suite);
}
