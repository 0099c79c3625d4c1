/* A Provider of feedback, in one or two sessions, bare or in the lines of its tool; now and then
 * the log has a Requester of its own. */
#include "play.h"

#include <stdio.h>
#include <string.h>

enum { DECIDED_MAX = 32, TEXT_SIZE = 16384 };

struct session {
	char name[NAME_SIZE]; /* "-" = the messages are bare */
	unsigned number;
	unsigned iteration;                   /* of the newest Response */
	bool failed;                          /* it was an error */
	char decided[DECIDED_MAX][NAME_SIZE]; /* in the Request to be answered */
	unsigned decided_count;
	bool applied;
};

static char text[TEXT_SIZE];
static size_t used;

static void add(const char *s)
{
	size_t n = strlen(s);

	if (used + n < sizeof(text)) {
		memcpy(text + used, s, n + 1);
		used += n;
	}
}

/* Writes what add() has put together, bare or as the tool's text. */
static unsigned say_text(const struct session *s)
{
	char escaped[2 * TEXT_SIZE];
	size_t n = 0;

	if (s->name[0] == '-')
		return say("%s", text);
	for (size_t i = 0; i < used; i++) {
		if (text[i] == '"' || text[i] == '\\')
			escaped[n++] = '\\';
		escaped[n++] = text[i];
	}
	escaped[n] = '\0';
	iso_now();
	return say(
		"{\"type\":\"text\",\"timestamp\":%llu,\"sessionID\":\"%s\",\"part\":{\"id\":\"prt_"
		"%u\","
		"\"sessionID\":\"%s\",\"messageID\":\"msg_%u\",\"type\":\"text\",\"text\":\"%s\"}}",
		now_ms(), s->name, turn, s->name, turn, escaped);
}

static void add_improvement(struct session *s, const char *id, unsigned words, bool first)
{
	char entry[512];

	snprintf(entry, sizeof(entry),
		 "%s{\"id\":\"%s\",\"aspect\":\"Part %u\",\"description\":\"It is %u.\","
		 "\"recommendation\":\"Make it %u.\"}",
		 first ? "" : ",", id, words % 3, words, words + 1);
	add(entry);
	raise_next("improvement", id, s->name, words);
}

/* What was raised before: the same again, in other words, or not at all; then new ones. */
static void add_improvements(struct session *s)
{
	unsigned before = item_count, count = 0, words = s->iteration;
	char id[NAME_SIZE];

	for (unsigned i = 0; i < before && count < 5; i++) {
		if (strcmp(items[i].kind, "improvement") != 0 || strcmp(items[i].of, s->name) != 0)
			continue;
		if (chance(25))
			add_improvement(s, items[i].id, items[i].words, !count++);
		else if (chance(15))
			add_improvement(s, items[i].id, items[i].words + 10, !count++);
	}
	for (unsigned i = 1 + below(3); i-- > 0; count++) {
		snprintf(id, sizeof(id), "point-%u.%u.%u", s->number, words, i);
		add_improvement(s, id, words, !count);
	}
}

static void add_acks(const struct session *s, bool all)
{
	char entry[256];

	add(",\"applied_feedback_ack\":{\"items\":[");
	for (unsigned i = 0; i < s->decided_count; i++) {
		bool known = all || !chance(20);

		snprintf(entry, sizeof(entry), "%s{\"id\":\"%s\",\"processing_status\":\"%s\"}",
			 i ? "," : "", s->decided[i], known ? "acknowledged" : "unknown_id");
		add(entry);
		fact("%s %s", known ? "ack" : "bounce", s->decided[i]);
	}
	add("]}");
}

static void write_response(struct session *s)
{
	bool failed = s->iteration > 1 && !s->failed && chance(15);
	char head[256], id[NAME_SIZE];

	used = 0;
	snprintf(head, sizeof(head),
		 "{\"protocol_version\":\"1.2\",\"iteration\":%u,\"status\":\"%s\"", s->iteration,
		 failed ? "error" : "success");
	add(head);
	fact("overtake %s", s->name);
	if (s->applied)
		add_acks(s, failed);
	if (failed) {
		add(",\"error\":{\"code\":\"INTERNAL_ERROR\",\"message\":\"Out of memory.\"}}");
		snprintf(id, sizeof(id), "error@%u", say_text(s));
		raise_item("error", id, s->name, 0);
	} else {
		add(",\"feedback\":{\"confidence\":{\"level\":\"high\",\"justification\":\"Read.\"}"
		    ","
		    "\"positive_points\":[],\"areas_for_improvement\":[");
		add_improvements(s);
		add("],\"general_summary\":\"Better.\"}}");
		say_text(s);
	}
	s->failed = failed;
}

/* The Requester in the log decides some of what is open. */
static void write_request(struct session *s)
{
	static const char *const statuses[] = { "accepted", "rejected", "partial" };
	char entry[256];

	used = 0;
	s->decided_count = 0;
	snprintf(entry, sizeof(entry),
		 "{\"protocol_version\":\"1.2\",\"iteration\":%u,\"artifact\":{\"media_type\":"
		 "\"text/plain\",\"content\":\"Version %u of %s.\"}",
		 s->iteration, turn, s->name);
	add(entry);
	for (unsigned i = 0; i < item_count && s->iteration > 1; i++) {
		unsigned status = below(3);

		if (!items[i].open || strcmp(items[i].of, s->name) != 0 ||
		    strcmp(items[i].kind, "improvement") != 0 || s->decided_count == DECIDED_MAX)
			continue;
		add(s->decided_count ? "," : ",\"applied_feedback\":{\"items\":[");
		snprintf(entry, sizeof(entry),
			 "{\"id\":\"%s\",\"status\":\"%s\",\"explanation\":\"So.\"}", items[i].id,
			 statuses[status]);
		add(entry);
		memcpy(s->decided[s->decided_count++], items[i].id, NAME_SIZE);
		fact("close %s requester %s", statuses[status], items[i].id);
	}
	s->applied = s->decided_count;
	add(s->applied ? "]}}" : "}");
	fact("overtake %s", s->name);
	say("%s", text);
}

/* A Request that continues the session; the newest one counts. */
static bool hear_request(struct session *s, const char *path)
{
	const char *line, *at;
	bool found = false;

	while ((line = hear(path))) {
		unsigned iteration = 0;

		sscanf(member(line, "iteration", &at), "%u", &iteration);
		if (iteration != s->iteration + 1 && !(s->failed && iteration == s->iteration))
			continue;
		found = true;
		s->iteration = iteration;
		s->decided_count = 0;
		s->applied = strstr(line, "\"applied_feedback\"");
		at = s->applied ? strstr(line, "\"applied_feedback\"") : "";
		for (const char *id;
		     s->decided_count < DECIDED_MAX && *(id = member(at, "id", &at));)
			snprintf(s->decided[s->decided_count++], NAME_SIZE, "%s", id);
	}
	return found;
}

static void play_session(struct session *s, bool alone)
{
	char iteration[NAME_SIZE + 16], failed[NAME_SIZE + 16];
	bool goes_on;

	snprintf(iteration, sizeof(iteration), "iteration-%u", s->number);
	snprintf(failed, sizeof(failed), "failed-%u", s->number);
	s->iteration = noted(iteration);
	s->failed = noted(failed);
	goes_on = hear_request(s, replies_path(alone ? "" : s->name));
	if (!goes_on && (!s->iteration || (!s->failed && chance(40)))) {
		s->iteration++;
		write_request(s);
		goes_on = true;
	}
	if (!goes_on)
		return;
	write_response(s);
	note(iteration, s->iteration);
	note(failed, s->failed);
}

/* Seeds 0, 1 and 2 modulo 3: bare messages, a tool's lines, two sessions of a tool. */
void play_feedback(unsigned seed)
{
	static struct session one, two;

	one.number = 1;
	two.number = 2;
	snprintf(one.name, sizeof(one.name), "%s", seed % 3 ? "ses_one" : "-");
	snprintf(two.name, sizeof(two.name), "ses_two");
	play_session(&one, seed % 3 != 2);
	if (seed % 3 == 2)
		play_session(&two, false);
}
