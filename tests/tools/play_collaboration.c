/* An architect, a developer and a reviewer: they do what they are told, are blocked, ask, and
 * review again what was revised, under the old review_id or a new one. */
#include "play.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ARCHITECT "{\"agent_id\":\"arch\",\"agent_type\":\"architect\"}"
#define DEVELOPER "{\"agent_id\":\"dev\",\"agent_type\":\"developer\"}"
#define REVIEWER "{\"agent_id\":\"rev\",\"agent_type\":\"reviewer\"}"

enum { REVIEWS_MAX = 3 };

static char message_id[NAME_SIZE]; /* of the last message */
static unsigned sequence;          /* the highest in either direction */

static void look_at_sequence(const char *path)
{
	static char line[65536];
	FILE *f = fopen(path, "r");

	while (f && fgets(line, sizeof(line), f)) {
		unsigned n = (unsigned)strtoul(member(line, "sequence_number", NULL), NULL, 10);

		sequence = n > sequence ? n : sequence;
	}
	if (f)
		fclose(f);
}

static void send(const char *from, const char *to, const char *type, const char *reply_to,
		 const char *payload)
{
	char reply[NAME_SIZE + 32] = "";

	if (reply_to)
		snprintf(reply, sizeof(reply), "\"reply_to\":\"%s\",", reply_to);
	say("{\"message_id\":\"%s\",\"timestamp\":\"%s\",\"sequence_number\":%u,\"from_agent\":%s,"
	    "\"to_agent\":%s,\"message_type\":\"%s\",%s\"payload\":{%s}}",
	    uuid(message_id), iso_now(), ++sequence, from, to, type, reply, payload);
}

static void acknowledge(const char *who, const char *to, const char *id)
{
	send(who, to, "acknowledgment", id, "");
}

/* The agent that a reply is from, so that it can be answered. */
static const char *sender(const char *line)
{
	static char out[256];
	const char *from = strstr(line, "\"from_agent\":"), *end = from ? strchr(from, '}') : NULL;

	if (!end)
		return ARCHITECT;
	from += strlen("\"from_agent\":");
	snprintf(out, sizeof(out), "%.*s", (int)(end - from + 1), from);
	return out;
}

static void add_finding(char *out, size_t size, const char *review, const char *root,
			const char *id, unsigned words, const char *severity)
{
	size_t n = strlen(out);
	char name[2 * NAME_SIZE];

	snprintf(out + n, size - n,
		 "%s{\"finding_id\":\"%s\",\"severity\":\"%s\",\"category\":\"bug\",\"location\":"
		 "{\"file\":\"src/a.c\",\"line_start\":%u},\"description\":\"It is %u.\","
		 "\"rationale\":\"It must not be.\"}",
		 n ? "," : "", id, severity, words, words);
	snprintf(name, sizeof(name), "%s/%s", review, id);
	raise_next("finding", name, root, words);
}

/* Findings of the review before, if it has the same name, and new ones. */
static void add_findings(char *out, size_t size, const char *review, const char *root,
			 unsigned round)
{
	unsigned before = item_count;
	char id[NAME_SIZE];

	for (unsigned i = 0; i < before; i++) {
		size_t n = strlen(review);

		if (strcmp(items[i].kind, "finding") == 0 && items[i].id[n] == '/' &&
		    strncmp(items[i].id, review, n) == 0 && chance(40))
			add_finding(out, size, review, root, items[i].id + n + 1,
				    items[i].words + (chance(30) ? 50 : 0), "major");
	}
	for (unsigned i = 1 + below(2); i-- > 0;) {
		snprintf(id, sizeof(id), "f-%u-%u-%u", turn, sequence, i);
		add_finding(out, size, review, root, id, round, i ? "minor" : "major");
	}
}

static void add_change(char *out, size_t size, const char *review, const char *root)
{
	char id[NAME_SIZE], name[3 * NAME_SIZE];

	snprintf(id, sizeof(id), "c-%u-%u", turn, sequence);
	snprintf(name, sizeof(name), "%s/%s", review, id);
	snprintf(out, size,
		 ",\"required_changes\":[{\"change_id\":\"%s\",\"priority\":\"must_fix\","
		 "\"related_findings\":[],\"description\":\"Change it.\"}]",
		 id);
	raise_next("change", name, root, 0);
}

static void review(const char *root)
{
	char round_name[NAME_SIZE + 16], id[NAME_SIZE + 16], asked[NAME_SIZE];
	char findings[4096] = "", changes[512] = "", payload[8192];
	unsigned round;
	bool rejected, approved;

	snprintf(round_name, sizeof(round_name), "rounds-%s", root);
	round = noted(round_name) + 1;
	note(round_name, round);
	rejected = round == REVIEWS_MAX || chance(20);
	approved = !rejected && round > 1 && chance(20);
	snprintf(id, sizeof(id), round > 1 && chance(50) ? "R-%s-%u" : "R-%s", root, round);
	snprintf(payload, sizeof(payload),
		 "\"review_id\":\"%s\",\"task_id\":\"%s\",\"scope\":{\"files\":[\"src/a.c\"],"
		 "\"focus_areas\":[\"logic\"]},\"criteria\":{\"must_pass_tests\":true,"
		 "\"must_pass_type_check\":true},\"context\":{\"task_description\":\"Do it.\","
		 "\"acceptance_criteria\":[]}",
		 id, root);
	send(ARCHITECT, REVIEWER, "review_request", NULL, payload);
	memcpy(asked, message_id, sizeof(asked));
	fact("overtake %s", root);
	if (!approved)
		add_findings(findings, sizeof(findings), id, root, round);
	if (!approved && chance(50))
		add_change(changes, sizeof(changes), id, root);
	if (rejected)
		raise_next("verdict", id, root, round);
	snprintf(payload, sizeof(payload),
		 "\"review_id\":\"%s\",\"task_id\":\"%s\",\"verdict\":\"%s\",\"findings\":[%s],"
		 "\"verification\":{\"tests\":{\"passed\":true},\"type_check\":{\"passed\":true},"
		 "\"custom\":{}},\"summary\":\"Round %u.\"%s",
		 id, root,
		 rejected   ? "rejected"
		 : approved ? "approved"
			    : "changes_requested",
		 findings, round, changes);
	send(REVIEWER, ARCHITECT, "review_result", asked, payload);
	say_again(30);
}

/* Done, and then reviewed; or blocked. */
static void complete(const char *task, const char *root, const char *assignment)
{
	bool blocked = chance(25);
	char payload[1024], of[NAME_SIZE + 16], rounds[NAME_SIZE + 16];

	snprintf(of, sizeof(of), "blocked-%s", root);
	snprintf(payload, sizeof(payload),
		 "\"task_id\":\"%s\",\"status\":\"%s\",\"changes\":{\"files_created\":[],"
		 "\"files_modified\":[],\"files_deleted\":[]},\"summary\":\"Turn "
		 "%u.\",\"self_review\":"
		 "{\"tests_run\":true,\"tests_passed\":true,\"type_check_passed\":true}%s",
		 task, blocked ? "partial" : "completed", turn,
		 blocked ? ",\"blockers\":[\"No database.\"]" : "");
	send(DEVELOPER, ARCHITECT, "task_completion", assignment, payload);
	fact("overtake %s", of);
	snprintf(rounds, sizeof(rounds), "rounds-%s", root);
	if (blocked)
		raise_item("blocked", task, of, 0);
	else if (noted(rounds) < REVIEWS_MAX)
		review(root);
}

static void progress(const char *task)
{
	char payload[512];

	snprintf(payload, sizeof(payload),
		 "\"task_id\":\"%s\",\"progress_percent\":50,\"current_step\":\"Half.\","
		 "\"files_modified_so_far\":[]",
		 task);
	send(DEVELOPER, ARCHITECT, "task_progress", NULL, payload);
}

/* Acknowledged: what a message of a person names as decided. */
static void note_acks(const char *line)
{
	for (const char *p = strchr(line, '['); p; p = strchr(p + 1, '[')) {
		char id[NAME_SIZE], verdict[NAME_SIZE];
		struct item *it;

		if (sscanf(p, "[%95[^] ] %95[a-z]]", id, verdict) != 2)
			continue;
		it = item_ending(strchr(id, ':') ? strchr(id, ':') + 1 : id);
		if (it && strcmp(it->verdict, verdict) == 0) /* else it was corrected since */
			fact("ack %s", it->id);
	}
}

static void root_of(const char *task, char out[NAME_SIZE])
{
	const char *end = strstr(task, "-rev-");

	snprintf(out, NAME_SIZE, "%.*s", end ? (int)(end - task) : (int)strlen(task), task);
}

static void hear_assignment(const char *line, const char *id)
{
	char task[NAME_SIZE], root[NAME_SIZE];

	snprintf(task, sizeof(task), "%s", member(line, "task_id", NULL));
	root_of(task, root);
	if (chance(15))
		return; /* nobody says a word */
	note_acks(line);
	if (chance(60))
		acknowledge(DEVELOPER, sender(line), id);
	else
		progress(task);
	if (chance(80))
		complete(task, root, id);
}

static void hear_all(void)
{
	const char *line;
	static char kept[65536];

	while ((line = hear(replies_path("")))) {
		const char *type, *to;
		char id[NAME_SIZE];

		snprintf(kept, sizeof(kept), "%s", line);
		type = member(kept, "message_type", NULL);
		to = strstr(kept, "\"to_agent\"");
		snprintf(id, sizeof(id), "%s", member(kept, "message_id", NULL));
		to = strstr(to, "\"dev\"") && strstr(to, "\"dev\"") < strchr(to, '}')   ? DEVELOPER
		     : strstr(to, "\"rev\"") && strstr(to, "\"rev\"") < strchr(to, '}') ? REVIEWER
											: ARCHITECT;
		if (strcmp(type, "task_assignment") == 0) {
			hear_assignment(kept, id);
		} else if (strcmp(type, "abort") == 0) {
			acknowledge(to, sender(kept), id);
			fact("ack %s", member(kept, "target_id", NULL));
		} else if (strcmp(type, "review_result") == 0) {
			acknowledge(to, sender(kept), id);
			fact("ack %s", member(kept, "review_id", NULL));
		} else if (strcmp(member(kept, "feedback_type", NULL), "question") != 0 &&
			   chance(70)) {
			acknowledge(to, sender(kept), id);
			note_acks(kept);
			fact("ack %s", member(kept, "reply_to", NULL));
		}
	}
}

static void new_task(unsigned number)
{
	char task[NAME_SIZE], payload[1024], assignment[NAME_SIZE];

	snprintf(task, sizeof(task), "T%u", number);
	snprintf(payload, sizeof(payload),
		 "\"task\":{\"task_id\":\"%s\",\"task_description\":\"Do "
		 "it.\",\"context\":{\"specs\":[],"
		 "\"reference_files\":[]},\"constraints\":{\"scope\":[\"src/**\"],"
		 "\"testing_required\":true,\"must_not_break\":[]},\"acceptance_criteria\":"
		 "[\"It works\"]},\"priority\":\"low\"",
		 task);
	send(ARCHITECT, DEVELOPER, "task_assignment", NULL, payload);
	memcpy(assignment, message_id, sizeof(assignment));
	acknowledge(DEVELOPER, ARCHITECT, assignment);
	if (chance(30)) {
		snprintf(payload, sizeof(payload),
			 "\"feedback_type\":\"question\",\"subject\":\"How?\",\"content\":\"How, "
			 "in turn "
			 "%u?\",\"action_required\":true,\"related_task_id\":\"%s\"",
			 turn, task);
		send(DEVELOPER, ARCHITECT, "feedback", NULL, payload);
		raise_item("question", message_id, "-", 0);
	}
	complete(task, task, assignment);
}

void play_collaboration(unsigned seed)
{
	unsigned tasks = noted("tasks");

	(void)seed;
	look_at_sequence(log_path);
	look_at_sequence(replies_path(""));
	hear_all();
	if (!tasks || chance(45)) {
		note("tasks", tasks + 1);
		new_task(tasks + 1);
	} else if (chance(20)) {
		progress("T1");
	}
}
