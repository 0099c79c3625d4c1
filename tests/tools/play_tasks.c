/* The three smaller protocols: hand-off between Planner, Worker and Judge; envelopes of a workflow;
 * agents that ask their orchestrator. */
#include "play.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- handoff ---- */

static void write_result(const char *task, unsigned confidence, bool failed, unsigned words)
{
	say("{\"task_id\":\"%s\",\"status\":\"%s\",\"confidence_score\":%u.%02u,\"output\":{"
	    "\"type\":"
	    "\"text\",\"payload\":{\"text\":\"Text %u.\"}},\"traces\":\"Tried %u "
	    "times.\",\"created_at\":"
	    "\"%s\"}",
	    task, failed ? "failure" : "success", confidence / 100, confidence % 100, words, words,
	    iso_now());
}

static void write_decision(const char *task, const char *decision, const char *why)
{
	char version[NAME_SIZE];

	say("{\"task_id\":\"%s\",\"decision\":\"%s\",\"rationale\":\"%s\",\"state_version\":\"%s\","
	    "\"created_at\":\"%s\"}",
	    task, decision, why, uuid(version), iso_now());
}

/* A Result, and perhaps what the judge says to it; failures in a row are counted. */
static void work(const char *task)
{
	char name[2 * NAME_SIZE], fails[2 * NAME_SIZE];
	unsigned roll = below(100), words;
	bool failed = roll < 25;
	unsigned confidence = failed      ? 30
			      : roll < 60 ? 75 + below(14)
			      : roll < 80 ? 40 + below(29)
					  : 95;

	snprintf(name, sizeof(name), "tries-%s", task);
	snprintf(fails, sizeof(fails), "fails-%s", task);
	words = noted(name) + 1;
	note(name, words);
	note(fails, failed ? noted(fails) + 1 : 0);
	write_result(task, confidence, failed, words);
	fact("overtake %s", task);
	if (confidence < 90)
		raise_item("escalation", task, task, words);
	if (confidence >= 90) {
		write_decision(task, "approve", "Good.");
	} else if (say_again(40)) {
		; /* nothing new */
	} else if (confidence < 70 && noted(fails) < 2 && chance(50)) {
		write_decision(task, "reject", "low confidence");
		fact("close rejected judge %s", task);
	} else if (chance(50)) {
		write_decision(task, "escalate", "low confidence");
	}
}

void play_handoff(unsigned seed)
{
	const char *line;
	char task[NAME_SIZE];

	(void)seed;
	while ((line = hear(replies_path("")))) {
		bool again = strcmp(member(line, "decision", NULL), "reject") == 0 && chance(70);

		snprintf(task, sizeof(task), "%s", member(line, "task_id", NULL));
		if (again || chance(10))
			work(task);
	}
	if (turn > 1 && chance(20))
		return;
	uuid(task);
	say("{\"task_id\":\"%s\",\"task_type\":\"content\",\"priority\":\"low\",\"context\":{},"
	    "\"acceptance_criteria\":[\"It reads "
	    "well\"],\"created_at\":\"%s\",\"status\":\"pending\"}",
	    task, iso_now());
	work(task);
}

/* ---- envelope ---- */

static void write_output(const char *lane, unsigned words)
{
	static const char *const recommendations[] = { "retry", "escalate", "proceed" };
	unsigned roll = below(10);
	const char *recommendation = recommendations[roll < 5 ? 0 : roll < 8 ? 1 : 2];
	bool success = roll >= 8;
	char id[NAME_SIZE];
	unsigned line;

	line = say("{\"success\":%s,\"summary\":\"Turn %u: %u "
		   "gaps.\",\"artifacts\":[],\"notes\":[\"Note "
		   "%u.%u\"],\"recommendation\":\"%s\"}",
		   success ? "true" : "false", turn, words, turn, words, recommendation);
	if (success)
		return;
	snprintf(id, sizeof(id), "%s@%u", roll < 5 ? "retry" : "escalation", line);
	raise_item(roll < 5 ? "retry" : "escalation", id, lane, words);
	say_again(30);
}

static void write_input(unsigned feature, unsigned iteration)
{
	char lane[NAME_SIZE];

	snprintf(lane, sizeof(lane), "%03u-thing/plan", feature);
	fact("overtake %s", lane);
	say("{\"context\":{\"feature_id\":\"%03u-thing\",\"workflow\":\"plan\",\"iteration\":%u},"
	    "\"paths\":{\"feature_root\":\"specs/%03u/"
	    "\"},\"task\":{\"action\":\"create\",\"params\":{}},"
	    "\"prior_context\":[]}",
	    feature, iteration, feature);
	write_output(lane, below(100));
}

/* An output belongs to the input before it, so only the last that was said is worked on. */
void play_envelope(unsigned seed)
{
	const char *line;
	char lane[2 * NAME_SIZE] = "";
	unsigned features = noted("features");

	(void)seed;
	while ((line = hear(replies_path(""))))
		if (strstr(line, "\"feature_id\""))
			snprintf(lane, sizeof(lane), "%s/%s", member(line, "feature_id", NULL),
				 member(line, "workflow", NULL));
		else
			lane[0] = '\0';
	if (lane[0])
		write_output(lane, below(100));
	if (features && chance(30))
		return;
	note("features", features + 1);
	write_input(features + 1, 1);
}

/* ---- orchestrator ---- */

static void ask(unsigned agent)
{
	char id[NAME_SIZE];
	/* the shorter ones are over in the next turn */
	unsigned minutes = chance(25) ? 4 : 60;

	say("{\"type\":\"request:ask-user\",\"id\":\"%s\",\"timestamp\":\"%s\",\"agentId\":\"agent-"
	    "%u\","
	    "\"payload\":{\"question\":\"Which, in turn "
	    "%u?\",\"options\":[{\"label\":\"One\",\"value\":"
	    "\"one\"},{\"label\":\"Two\",\"value\":\"two\"}],\"timeout\":%u}}",
	    uuid(id), iso_now(), agent, turn, minutes * 60000);
	raise_item("question", id, minutes < 10 ? "short" : "long", 0);
	if (!say_again(20) && chance(15)) {
		char answer[NAME_SIZE];

		say("{\"type\":\"response:success\",\"id\":\"%s\",\"correlationId\":\"%s\","
		    "\"timestamp\":"
		    "\"%s\",\"payload\":{\"answer\":\"one\"}}",
		    uuid(answer), id, iso_now());
		fact("close answered orchestrator %s", id);
	}
}

static void tell(unsigned agent)
{
	char id[NAME_SIZE];
	unsigned roll = below(3);

	uuid(id);
	if (roll == 0) {
		say("{\"type\":\"event:question\",\"id\":\"%s\",\"timestamp\":\"%s\",\"agentId\":"
		    "\"agent-%u\","
		    "\"payload\":{\"question\":\"Shall I, in turn %u?\"}}",
		    id, iso_now(), agent, turn);
		raise_item("question", id, "-", 0);
	} else if (roll == 1) {
		say("{\"type\":\"event:error\",\"id\":\"%s\",\"timestamp\":\"%s\",\"agentId\":"
		    "\"agent-%u\","
		    "\"payload\":{\"taskId\":\"task-%u\",\"error\":\"No such "
		    "file\",\"recoverable\":false}}",
		    id, iso_now(), agent, turn);
		raise_item("error", id, "-", 0);
	} else {
		say("{\"type\":\"event:log\",\"id\":\"%s\",\"timestamp\":\"%s\",\"agentId\":"
		    "\"agent-%u\","
		    "\"payload\":{\"level\":\"info\",\"message\":\"Turn %u\"}}",
		    id, iso_now(), agent, turn);
	}
}

/* Every turn begins with a word of each agent, by which its short questions are over. */
void play_orchestrator(unsigned seed)
{
	(void)seed;
	for (unsigned agent = 1; agent <= 2; agent++) {
		char id[NAME_SIZE];

		say("{\"type\":\"event:log\",\"id\":\"%s\",\"timestamp\":\"%s\",\"agentId\":"
		    "\"agent-%u\","
		    "\"payload\":{\"level\":\"info\",\"message\":\"Alive\"}}",
		    uuid(id), iso_now(), agent);
	}
	for (unsigned i = 0; i < item_count; i++)
		if (items[i].open && strcmp(items[i].of, "short") == 0)
			fact("close expired * %s", items[i].id);
	while (hear(replies_path("")))
		;
	ask(1 + below(2));
	for (unsigned i = below(4); i-- > 0;)
		tell(1 + below(2));
}
