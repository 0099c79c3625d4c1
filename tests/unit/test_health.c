/* How agents are: rate, floods, stalls, silence, death, and deadlines that near and pass; as of any
 * message and any moment. */
#include "unit.h"

#include "dialect/dialect.h"
#include "view/view_parts.h"

#include <locale.h>
#include <stdio.h>
#include <stdlib.h>

static struct model model;
static struct decoder decoder, again;
static struct message message, again_message;
static VEC(struct str) texts;
static struct arena arena;
static struct life lives[1];
static struct scene scene;
static struct buf text;

static struct str give_bytes(void *ctx, uint32_t number)
{
	(void)ctx;
	return texts.v[number];
}

static bool give_detail(void *ctx, const struct item *item, const struct item_state *state,
			struct detail *out)
{
	dialect_look(&again, give_bytes(ctx, state->message), DIALECT_UNKNOWN);
	return dialect_detail(&again, item->kind, state->index, out);
}

static struct str give_summary(void *ctx, uint32_t number)
{
	(void)ctx;
	(void)number;
	return STR("summary");
}

static const struct diags *give_diags(void *ctx, uint32_t number)
{
	dialect_decode(&again, give_bytes(ctx, number), NULL, &again_message);
	return &again_message.diags;
}

static const struct reader reader = { NULL, give_detail, give_summary, give_bytes, give_diags,
				      give_summary };

static void setup(void)
{
	model_init(&model);
	scene = (struct scene){ .model = &model, .reader = &reader };
}

static void teardown(void)
{
	model_release(&model);
	decoder_release(&decoder);
	decoder_release(&again);
	message_release(&message);
	message_release(&again_message);
	vec_release(&texts);
	arena_release(&arena);
	buf_release(&text);
}

static void say(const char *line)
{
	struct place place = { .line = model.records.n + 1, .group = STR("log") };

	vec_push(&texts, str_of(strcpy(arena_alloc(&arena, strlen(line) + 1), line)));
	dialect_decode(&decoder, *vec_last(&texts), NULL, &message);
	model_apply(&model, &message, &place);
}

/* An orchestrator's message at so many ms after 14:30:00. */
static void say_at(int ms, const char *type, const char *payload)
{
	static unsigned number;
	char line[1000];

	snprintf(line, sizeof(line),
		 "{\"type\":\"%s\",\"id\":\"00000000-0000-4000-8000-%012u\","
		 "\"timestamp\":\"2026-02-04T14:%02d:%02d.%03dZ\",\"agentId\":\"agent-1\","
		 "\"payload\":%s}",
		 type, ++number, 30 + ms / 60000, ms / 1000 % 60, ms % 1000, payload);
	say(line);
}

static void log_at(int ms)
{
	say_at(ms, "event:log", "{\"level\":\"info\",\"message\":\"Hi.\"}");
}

/* The same moment as a time. */
static int64_t at(int ms)
{
	int64_t start;

	ck_assert(timestamp_parse_loose(STR("2026-02-04T14:30:00Z"), TIME_NONE, &start));
	return start + ms;
}

static uint32_t agent_named(const char *name)
{
	uint32_t i = 0;

	while (i < model.agents.n && !str_is(agent_name(&model, i), name))
		i++;
	ck_assert_msg(i < model.agents.n, "no agent %s", name);
	return i;
}

static struct agent_stats look(const char *name, uint32_t k, int64_t now_ms)
{
	struct agent_stats *all = model_agent_stats(&model, k, now_ms, NULL);
	struct agent_stats one = all[agent_named(name)];

	free(all);
	return one;
}

/* Its messages of the last seconds. */
static unsigned just_said(const char *name, uint32_t k, int64_t now_ms)
{
	struct agent_stats *all = model_agent_stats(&model, k, now_ms, NULL);
	unsigned n = agent_recent(all, model.agents.n, agent_named(name))[ACTIVITY_BUCKETS - 1];

	free(all);
	return n;
}

/* A view as of now, its words only. */
static const char *draw(const struct view_ops *view, int cols, int64_t now_ms)
{
	struct grid *g = grid_new(1, cols, false);
	struct lines lines = { .cols = cols };
	struct buf row = { 0 };

	scene.k = model.records.n;
	scene.now_ms = now_ms;
	buf_clear(&text);
	view->make(&scene, cols, &lines);
	for (uint32_t i = 0; i < lines.list.n; i++) {
		grid_clear(g);
		view->draw(&scene, &lines, i, g, grid_rect(g));
		buf_clear(&row);
		grid_save(g, &row);
		buf_add(&text, row.p, strcspn(row.p, "\n") + 1);
	}
	buf_adds(&text, "");
	buf_release(&row);
	lines_release(&lines);
	grid_free(g);
	return text.p ? text.p : "";
}

#define SHOWS(words) ck_assert_msg(strstr(text.p, words) != NULL, "no %s in\n%s", words, text.p)
#define HIDES(words) ck_assert_msg(strstr(text.p, words) == NULL, "%s in\n%s", words, text.p)

START_TEST(the_rate_is_of_the_last_minute)
{
	for (int i = 0; i < 30; i++)
		log_at(i * 1000);
	ck_assert_uint_eq(look("agent-1", 30, at(29000)).minute, 30);
	ck_assert_uint_eq(just_said("agent-1", 30, at(29000)), 5);
	ck_assert_uint_eq(look("agent-1", 30, at(79500)).minute, 10);
	ck_assert_uint_eq(just_said("agent-1", 30, at(79500)), 0);
	ck_assert_uint_eq(look("agent-1", 30, at(3600000)).minute, 0);
	ck_assert_uint_eq(look("agent-1", 10, at(9000)).minute, 10); /* as of message 10 */
	draw(&view_agents, 100, at(29000));
	SHOWS(" 0.5 ");
}
END_TEST

START_TEST(over_a_hundred_in_a_second_is_a_flood)
{
	for (int i = 0; i < 100; i++)
		log_at(5000 + 9 * i);
	ck_assert_int_ne(look("agent-1", 100, at(6000)).health, AGENT_FLOODING);
	log_at(5905);
	ck_assert_int_eq(look("agent-1", 101, at(6000)).health, AGENT_FLOODING);
	ck_assert_int_ne(look("agent-1", 100, at(6000)).health, AGENT_FLOODING);
	ck_assert_int_eq(look("agent-1", 101, at(14800)).health, AGENT_FLOODING);
	ck_assert_int_ne(look("agent-1", 101, at(17000)).health, AGENT_FLOODING); /* it is over */
	draw(&view_agents, 100, at(6000));
	SHOWS("⚠ flooding");
}
END_TEST

START_TEST(a_hundred_a_second_for_long_are_none)
{
	for (int i = 0; i < 1500; i++)
		log_at(i * 10);
	ck_assert_int_ne(look("agent-1", model.records.n, at(15000)).health, AGENT_FLOODING);
}
END_TEST

static const char busy[] = "{\"agents\":[{\"id\":\"agent-2\",\"role\":\"worker\",\"status\":\"busy\","
			   "\"capabilities\":[],\"currentTask\":null}]}";

START_TEST(who_works_and_says_nothing_is_silent)
{
	say_at(0, "response:success", busy);
	ck_assert_int_eq(look("agent-2", 1, at(30000)).health, AGENT_WORKING);
	ck_assert_int_eq(look("agent-2", 1, at(30001)).health, AGENT_SILENT);
	draw(&view_agents, 100, at(31000));
	SHOWS("⚠ silent");
	ck_assert_int_eq(look("agent-1", 1, at(31000)).health, AGENT_IDLE); /* has nothing to do */
}
END_TEST

START_TEST(a_task_without_progress_stalls)
{
	say_at(0, "event:progress", "{\"taskId\":\"t1\",\"progress\":10,\"message\":\"Begun.\"}");
	log_at(29000);
	ck_assert_int_eq(look("agent-1", 2, at(30000)).health, AGENT_WORKING);
	log_at(31000); /* words are no progress */
	ck_assert_int_eq(look("agent-1", 3, at(31000)).health, AGENT_STALLED);
	say_at(32000, "event:progress", "{\"taskId\":\"t1\",\"progress\":20,\"message\":\"On.\"}");
	ck_assert_int_eq(look("agent-1", 4, at(32000)).health, AGENT_WORKING);
}
END_TEST

START_TEST(where_messages_tell_no_time_their_coming_does)
{
	say("{\"success\":true,\"summary\":\"Done.\",\"artifacts\":[],\"metrics\":{\"duration_ms\":5},"
	    "\"recommendation\":\"proceed\"}");
	ck_assert_int_eq(model_time(&model, 0), TIME_NONE);
	model_arrived(&model, 0, at(1000));
	say("{\"success\":true,\"summary\":\"Again.\",\"artifacts\":[],"
	    "\"metrics\":{\"duration_ms\":5},\"recommendation\":\"proceed\"}");
	model_arrived(&model, 1, at(2000));
	model_arrived(&model, 2, at(3000)); /* nothing came */
	ck_assert_uint_eq(model.arrivals.n, 2);
	ck_assert_int_eq(model_time(&model, 0), at(1000));
	ck_assert_int_eq(model_time(&model, 1), at(2000));
	ck_assert_int_eq(look("agent", 2, at(4000)).last_seen_ms, at(2000));
	ck_assert_int_eq(look("agent", 1, at(4000)).last_seen_ms, at(1000));
	ck_assert_uint_eq(look("agent", 2, at(4000)).minute, 2);
}
END_TEST

START_TEST(the_process_behind_an_agent_may_be_dead)
{
	log_at(0);
	lives[0] = (struct life){ .group = STR("log") };
	scene.lives = lives;
	scene.life_n = 1;
	draw(&view_agents, 120, at(0));
	SHOWS("· waits");
	lives[0].flooding = true;
	draw(&view_agents, 120, at(0));
	SHOWS("⚠ flooding");
	lives[0].ended = true;
	lives[0].words = "exit 3";
	draw(&view_agents, 160, at(0));
	SHOWS("✗ exit 3");
	HIDES("· started");
	/* before it died, it lived */
	log_at(1);
	scene.k = 1;
	ck_assert_ptr_null(life_of_agent(&scene, 0, true));
	/* one that has not spoken has a line of its own */
	lives[0].group = STR("other");
	draw(&view_agents, 160, at(0));
	SHOWS("other");
	SHOWS("✗ exit 3");
}
END_TEST

static const char question[] = "{\"question\":\"Which?\",\"options\":[],\"timeout\":30000}";

START_TEST(a_deadline_counts_down_and_passes_visibly)
{
	scene.live = true;
	say_at(0, "request:ask-user", question);
	draw(&view_inbox, 100, at(10000));
	SHOWS("!0:20");
	draw(&view_item, 100, at(10000));
	SHOWS("!0:20 until it expires at 14:30:30; then the agent continues unanswered");
	draw(&view_inbox, 160, at(31000));
	SHOWS("⚠    over");
	draw(&view_item, 100, at(31000));
	SHOWS("⚠ expired: the agent continues unanswered");
	HIDES("until it expires");
	ck_assert_str_eq(draw(&view_inbox, 100, at(30000 + 60000)), ""); /* and is gone */
	model.runs_agents = true;
	draw(&view_item, 100, at(10000));
	SHOWS("then the agent gets TIMEOUT");
}
END_TEST

START_TEST(in_a_recording_a_clock_expires_nothing)
{
	say_at(0, "request:ask-user", question);
	draw(&view_inbox, 160, at(31000));
	SHOWS("!0:00");
	HIDES("expired");
	draw(&view_item, 100, at(31000));
	SHOWS("its deadline was 14:30:30; nothing newer from the agent");
	HIDES("expire");
	log_at(31000);
	draw(&view_inbox, 160, at(31000));
	SHOWS("⚠    over");
	draw(&view_item, 100, at(31000));
	SHOWS("14:30:31     line 2  ⚠ expired: the agent continues unanswered");
	HIDES("until it expires");
	ck_assert_str_eq(draw(&view_inbox, 100, at(30000 + 60000)), "");
}
END_TEST

START_TEST(a_line_without_its_end_is_no_message_yet)
{
	struct lines lines = { 0 };

	log_at(0);
	scene.incomplete = STR("{\"type\":\"ev");
	draw(&view_messages, 100, at(0));
	SHOWS("incomplete   {\"type\":\"ev");
	view_messages.make(&scene, 100, &lines);
	ck_assert_uint_eq(lines.list.n, 2);
	ck_assert_int_eq(view_messages.target(&scene, &lines, 0).type, TARGET_MESSAGE);
	ck_assert_int_eq(view_messages.target(&scene, &lines, 1).type, TARGET_NONE);
	lines_release(&lines);
	scene.incomplete = STR_NONE;
	draw(&view_messages, 100, at(0));
	HIDES("incomplete");
}
END_TEST

static int64_t near_of(uint32_t item)
{
	struct item_state at;

	ck_assert(item_at(&model, &model.items.v[item], model.records.n, TIME_NONE, &at));
	return item_near_ms(&model, &at);
}

START_TEST(near_is_a_minute_or_a_third)
{
	say_at(0, "request:ask-user", question);
	say_at(0, "request:ask-user", "{\"question\":\"Which?\",\"options\":[],\"timeout\":3600000}");
	say_at(0, "event:question", "{\"question\":\"Which?\"}");
	ck_assert_int_eq(near_of(0), at(20000));
	ck_assert_int_eq(near_of(1), at(3600000 - 60000));
	ck_assert_int_eq(near_of(2), TIME_NONE);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("health");
	TCase *t = tcase_create("health");

	setlocale(LC_ALL, "C.UTF-8");
	tcase_add_checked_fixture(t, setup, teardown);
	suite_add_tcase(suite, t);
	tcase_add_test(t, the_rate_is_of_the_last_minute);
	tcase_add_test(t, over_a_hundred_in_a_second_is_a_flood);
	tcase_add_test(t, a_hundred_a_second_for_long_are_none);
	tcase_add_test(t, who_works_and_says_nothing_is_silent);
	tcase_add_test(t, a_task_without_progress_stalls);
	tcase_add_test(t, where_messages_tell_no_time_their_coming_does);
	tcase_add_test(t, the_process_behind_an_agent_may_be_dead);
	tcase_add_test(t, a_deadline_counts_down_and_passes_visibly);
	tcase_add_test(t, in_a_recording_a_clock_expires_nothing);
	tcase_add_test(t, a_line_without_its_end_is_no_message_yet);
	tcase_add_test(t, near_is_a_minute_or_a_third);
	return unit_run(suite);
}
