/* The scripted agent as Claude Code, codex app-server or an agent of ACP:
 *
 *   claude PLAN, codex PLAN, acp PLAN      a line of its script, and the last one
 *
 * It answers what the real programs answer: the handshake; for a prompt a turn, in which it does
 * what PLAN says; further prompts are turns of a text alone. Words of a plan:
 *
 *   text            says something
 *   ask             a tool call waits for a permission; goes on when that is answered, with proof
 *   two             two of them at once
 *   withdraw:FILE   the same, but it is withdrawn once FILE exists, and is not answered any more
 *   late            claude: the same, but it is withdrawn when half of the answer has arrived
 *   elsewhere:FILE  the same, but somebody else has allowed it once FILE exists
 *   asks:N:FILE     N of them, one after the other; writes to FILE when it has asked and when it has
 *                   read the answer: "asked NUMBER MS", "answered NUMBER MS" by the monotonic clock
 *   talk:RATE       says so many texts a second until it is interrupted
 *   hold:FILE       waits until FILE exists
 *   malformed       a line that is not JSON
 *   files           acp: asks to write a file, and needs an answer
 *   deaf            reads no more, and does nothing
 *   unread:FILE     a tool call waits for a permission, but no answer is read; dies once FILE exists
 *   die             ends in the middle of a line
 *   quit            ends with code 1 and a word on standard error
 *
 * A malformed line ends it with code 1, as it does Claude; a prompt for acp while a turn runs with
 * code 70: real agents have swallowed it. */
#include "fake_agent.h"

#include <limits.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { CLAUDE, CODEX, ACP };
enum { ASKS_MAX = 1000, EXIT_SWALLOWED = 70 };

static int dialect;
static bool busy;    /* in a turn */
static bool stopped; /* the turn was ended by the client */
static int asks;     /* so far */
static bool open_ask[ASKS_MAX + 1];
static char prompt_id[32]; /* acp: of the prompt's request */
static FILE *ask_times;    /* of asks:N:FILE, or NULL */
static int turns;

static void out(const char *format, ...) __attribute__((format(printf, 1, 2)));

static void out(const char *format, ...)
{
	char *text = NULL;
	va_list ap;

	va_start(ap, format);
	if (vasprintf(&text, format, ap) < 0)
		_exit(99);
	va_end(ap);
	fake_say(text);
	free(text);
}

static double now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static void note_time(const char *what, int n)
{
	if (!ask_times)
		return;
	fprintf(ask_times, "%s %d %.3f\n", what, n, now_ms());
	fflush(ask_times);
}

/* ---- a line that was read ---- */

/* The value of a member, as it stands there: a string without its quotes, or a number. */
static bool member(const char *line, const char *name, char *value, size_t room)
{
	char key[64];
	const char *p;
	size_t n;

	snprintf(key, sizeof(key), "\"%s\":", name);
	p = strstr(line, key);
	if (!p)
		return false;
	p += strlen(key);
	n = *p == '"' ? strcspn(p + 1, "\"") : strcspn(p, ",}");
	snprintf(value, room, "%.*s", (int)n, *p == '"' ? p + 1 : p);
	return true;
}

static bool has(const char *line, const char *text)
{
	return strstr(line, text) != NULL;
}

static void check_whole(const char *line)
{
	size_t n = strlen(line);

	if (n && (line[0] != '{' || line[n - 1] != '}')) {
		fprintf(stderr, "Error parsing streaming input line: %s\n", line);
		_exit(1);
	}
}

/* ---- what it says ---- */

#define CLAUDE_TAIL "\"session_id\":\"ses-1\",\"uuid\":\"{uuid}\",\"timestamp\":\"{now}\""
#define UPDATE \
	"{\"jsonrpc\":\"2.0\",\"method\":\"session/" \
	"update\",\"params\":{\"sessionId\":\"ses-1\",\"update\":"
#define CODEX_AT "\"threadId\":\"th-1\",\"turnId\":\"turn-%d\""

static void say_text(const char *words)
{
	if (dialect == CLAUDE)
		out("{\"type\":\"assistant\",\"message\":{\"id\":\"msg\",\"type\":\"message\","
		    "\"role\":"
		    "\"assistant\",\"model\":\"m\",\"content\":[{\"type\":\"text\",\"text\":\"%s\"}"
		    "]},"
		    "\"parent_tool_use_id\":null," CLAUDE_TAIL "}",
		    words);
	else if (dialect == CODEX)
		out("{\"method\":\"item/"
		    "completed\",\"params\":{\"item\":{\"type\":\"agentMessage\",\"id\":"
		    "\"msg\",\"text\":\"%s\"}," CODEX_AT "}}",
		    words, turns);
	else
		out(UPDATE
		    "{\"sessionUpdate\":\"agent_message_chunk\",\"content\":{\"type\":\"text\","
		    "\"text\":\"%s\"}}}}",
		    words);
}

static void begin_turn(const char *line)
{
	busy = true;
	stopped = false;
	turns++;
	if (dialect == CLAUDE) {
		out("{\"type\":\"system\",\"subtype\":\"init\",\"cwd\":\"/"
		    "tmp\",\"session_id\":\"ses-1\","
		    "\"tools\":[\"Bash\"],\"model\":\"m\",\"permissionMode\":\"default\",\"uuid\":"
		    "\"{uuid}\"}");
		/* the prompt is repeated */
		out("%.*s," CLAUDE_TAIL ",\"isReplay\":true}", (int)strlen(line) - 1, line);
	} else if (dialect == CODEX) {
		char id[32] = "";

		member(line, "id", id, sizeof(id));
		out("{\"id\":%s,\"result\":{\"turn\":{\"id\":\"turn-%d\",\"status\":\"inProgress\"}"
		    "}}",
		    id, turns);
		out("{\"method\":\"turn/"
		    "started\",\"params\":{\"threadId\":\"th-1\",\"turn\":{\"id\":"
		    "\"turn-%d\",\"status\":\"inProgress\",\"error\":null}}}",
		    turns);
	} else {
		member(line, "id", prompt_id, sizeof(prompt_id));
	}
}

static void end_turn(void)
{
	if (!busy)
		return;
	busy = false;
	if (dialect == CLAUDE)
		out("{\"type\":\"result\",\"subtype\":\"%s\",\"is_error\":false,\"num_turns\":1,"
		    "\"result\":"
		    "\"done\",\"total_cost_usd\":0.01,\"permission_denials\":[],\"session_id\":"
		    "\"ses-1\","
		    "\"uuid\":\"{uuid}\"}",
		    stopped ? "error_during_execution" : "success");
	else if (dialect == CODEX)
		out("{\"method\":\"turn/"
		    "completed\",\"params\":{\"threadId\":\"th-1\",\"turn\":{\"id\":"
		    "\"turn-%d\",\"status\":\"%s\",\"error\":null}}}",
		    turns, stopped ? "interrupted" : "completed");
	else
		out("{\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":{\"stopReason\":\"%s\"}}", prompt_id,
		    stopped ? "cancelled" : "end_turn");
}

/* The tool call that the ask of that number is about, and the ask. */
static void say_ask(int n)
{
	open_ask[n] = true;
	if (dialect == CLAUDE) {
		out("{\"type\":\"assistant\",\"message\":{\"id\":\"msg\",\"type\":\"message\","
		    "\"role\":"
		    "\"assistant\",\"model\":\"m\",\"content\":[{\"type\":\"tool_use\",\"id\":"
		    "\"call-%d\","
		    "\"name\":\"Bash\",\"input\":{\"command\":\"touch "
		    "f%d\"}}]},\"parent_tool_use_id\":null," CLAUDE_TAIL "}",
		    n, n);
		out("{\"type\":\"control_request\",\"request_id\":\"ask-%d\",\"request\":{"
		    "\"subtype\":"
		    "\"can_use_tool\",\"tool_name\":\"Bash\",\"display_name\":\"Bash\",\"input\":{"
		    "\"command\":"
		    "\"touch f%d\"},\"tool_use_id\":\"call-%d\"}}",
		    n, n, n);
	} else if (dialect == CODEX) {
		out("{\"method\":\"item/"
		    "started\",\"params\":{\"item\":{\"type\":\"commandExecution\",\"id\":"
		    "\"call-%d\",\"command\":\"touch "
		    "f%d\",\"cwd\":\"/tmp\",\"status\":\"inProgress\"}," CODEX_AT "}}",
		    n, n, turns);
		out("{\"method\":\"item/commandExecution/"
		    "requestApproval\",\"id\":%d,\"params\":{\"kind\":"
		    "\"command\"," CODEX_AT
		    ",\"itemId\":\"call-%d\",\"reason\":\"to see\",\"command\":"
		    "\"touch "
		    "f%d\",\"cwd\":\"/tmp\",\"availableDecisions\":[\"accept\",\"cancel\"]}}",
		    n, turns, n, n);
	} else {
		out(UPDATE
		    "{\"sessionUpdate\":\"tool_call\",\"toolCallId\":\"call-%d\",\"title\":\"touch "
		    "f%d\",\"kind\":\"execute\",\"status\":\"pending\",\"rawInput\":{\"command\":"
		    "\"touch "
		    "f%d\"}}}}",
		    n, n, n);
		out("{\"jsonrpc\":\"2.0\",\"id\":%d,\"method\":\"session/"
		    "request_permission\",\"params\":"
		    "{\"sessionId\":\"ses-1\",\"toolCall\":{\"toolCallId\":\"call-%d\",\"title\":"
		    "\"touch "
		    "f%d\",\"kind\":\"execute\",\"status\":\"pending\",\"rawInput\":{\"command\":"
		    "\"touch "
		    "f%d\"}},\"options\":[{\"optionId\":\"once\",\"name\":\"Yes\",\"kind\":\"allow_"
		    "once\"},"
		    "{\"optionId\":\"always\",\"name\":\"Always\",\"kind\":\"allow_always\"},{"
		    "\"optionId\":"
		    "\"reject\",\"name\":\"No\",\"kind\":\"reject_once\"}]}}",
		    n, n, n, n);
	}
}

/* What became of the call. */
static void say_done(int n, bool ran)
{
	if (dialect == CLAUDE)
		out("{\"type\":\"user\",\"message\":{\"role\":\"user\",\"content\":[{\"tool_use_"
		    "id\":"
		    "\"call-%d\",\"type\":\"tool_result\",\"content\":\"%s\",\"is_error\":%s}]},"
		    "\"parent_tool_use_id\":null," CLAUDE_TAIL "}",
		    n, ran ? "ran" : "denied", ran ? "false" : "true");
	else if (dialect == CODEX)
		out("{\"method\":\"item/"
		    "completed\",\"params\":{\"item\":{\"type\":\"commandExecution\","
		    "\"id\":\"call-%d\",\"command\":\"touch "
		    "f%d\",\"cwd\":\"/tmp\",\"status\":\"%s\"}," CODEX_AT "}}",
		    n, n, ran ? "completed" : "declined", turns);
	else
		out(UPDATE
		    "{\"sessionUpdate\":\"tool_call_update\",\"toolCallId\":\"call-%d\",\"status\":"
		    "\"%s\"}}}",
		    n, ran ? "completed" : "failed");
}

static void say_withdrawn(int n)
{
	open_ask[n] = false;
	if (dialect == CLAUDE)
		out("{\"type\":\"control_cancel_request\",\"request_id\":\"ask-%d\"}", n);
	else if (dialect == CODEX)
		out("{\"method\":\"serverRequest/"
		    "resolved\",\"params\":{\"threadId\":\"th-1\",\"requestId\":"
		    "%d}}",
		    n);
	else
		out("{\"jsonrpc\":\"2.0\",\"method\":\"$/"
		    "cancel_request\",\"params\":{\"requestId\":%d}}",
		    n);
}

/* ---- what it hears ---- */

/* The number of the open ask that a line answers; 0 = none. */
static int answered_ask(const char *line)
{
	char id[64];
	int n;

	if (dialect == CLAUDE
		    ? !has(line, "\"control_response\"") || !member(line, "request_id", id, 64) ||
			      strncmp(id, "ask-", 4) != 0
		    : has(line, "\"method\"") || !member(line, "id", id, 64))
		return 0;
	n = atoi(dialect == CLAUDE ? id + 4 : id);
	return n > 0 && n <= ASKS_MAX && open_ask[n] ? n : 0;
}

/* The proof that the answer was used, and what came of it. */
static void take_answer(int n, const char *line)
{
	bool ran = dialect == CLAUDE  ? has(line, "\"behavior\":\"allow\"")
		   : dialect == CODEX ? has(line, "\"accept")
				      : has(line, "\"once\"") || has(line, "\"always\"");

	note_time("answered", n);
	open_ask[n] = false;
	if (dialect == CLAUDE)
		out("%s", line);
	else if (dialect == CODEX)
		out("{\"method\":\"serverRequest/"
		    "resolved\",\"params\":{\"threadId\":\"th-1\",\"requestId\":"
		    "%d}}",
		    n);
	say_done(n, ran);
	stopped |= dialect == CLAUDE  ? has(line, "\"interrupt\":true")
		   : dialect == CODEX ? has(line, "\"cancel\"")
				      : has(line, "\"cancelled\"");
}

static void withdraw_all(void)
{
	for (int n = 1; n <= ASKS_MAX; n++)
		if (open_ask[n])
			say_withdrawn(n);
}

static void interrupt(const char *line)
{
	char id[64] = "";

	member(line, dialect == CLAUDE ? "request_id" : "id", id, sizeof(id));
	if (dialect == CLAUDE)
		out("{\"type\":\"control_response\",\"response\":{\"subtype\":\"success\","
		    "\"request_id\":"
		    "\"%s\",\"response\":{}}}",
		    id);
	else if (dialect == CODEX)
		out("{\"id\":%s,\"result\":{}}", id);
	stopped = busy;
	/* an agent of ACP waits until the client has cancelled what it was asked, codex ends the turn first */
	if (dialect == CLAUDE)
		withdraw_all();
}

static void control(const char *line)
{
	char id[64] = "";

	member(line, "request_id", id, sizeof(id));
	if (has(line, "\"subtype\":\"interrupt\""))
		interrupt(line);
	else if (has(line, "\"mode\":\"nonsense\""))
		out("{\"type\":\"control_response\",\"response\":{\"subtype\":\"error\",\"request_"
		    "id\":\"%s\","
		    "\"error\":\"Cannot set permission mode\",\"error_code\":\"invalid_mode\"}}",
		    id);
	else
		out("{\"type\":\"control_response\",\"response\":{\"subtype\":\"success\","
		    "\"request_id\":"
		    "\"%s\",\"response\":%s}}",
		    id, has(line, "\"mode\"") ? "{\"mode\":\"plan\"}" : "{\"commands\":[]}");
}

/* Requests of JSON-RPC that are no prompt. */
static void request(const char *line)
{
	const char *version = dialect == ACP ? "\"jsonrpc\":\"2.0\"," : "";
	char id[32];

	if (!member(line, "id", id, sizeof(id)))
		return;
	if (has(line, "\"thread/start\""))
		out("{\"id\":%s,\"result\":{\"thread\":{\"id\":\"th-1\"}}}", id);
	else if (has(line, "\"session/new\""))
		out("{\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":{\"sessionId\":\"ses-1\",\"modes\":"
		    "{\"currentModeId\":\"default\",\"availableModes\":[{\"id\":\"default\"},{"
		    "\"id\":"
		    "\"plan\"}]}}}",
		    id);
	else if (has(line, "\"turn/steer\""))
		out("{\"id\":%s,\"result\":{\"turnId\":\"turn-%d\"}}", id, turns);
	else
		out("{%s\"id\":%s,\"result\":{}}", version, id);
}

/* Handles a line; true: it is a prompt, whose turn begins. */
static bool handle(const char *line)
{
	int n = answered_ask(line);

	check_whole(line);
	if (n) {
		take_answer(n, line);
	} else if (has(line, "\"session/cancel\"") || has(line, "\"turn/interrupt\"")) {
		interrupt(line);
	} else if (dialect == CLAUDE && has(line, "{\"type\":\"user\"")) {
		if (!busy)
			return true;
		out("%.*s," CLAUDE_TAIL ",\"isReplay\":true}", (int)strlen(line) - 1, line);
	} else if (dialect == CLAUDE && has(line, "\"control_request\"")) {
		control(line);
	} else if (has(line, "\"session/prompt\"") || has(line, "\"turn/start\"")) {
		if (busy) {
			fprintf(stderr, "a prompt while a turn runs\n");
			_exit(EXIT_SWALLOWED);
		}
		return true;
	} else if (dialect != CLAUDE && has(line, "\"method\"")) {
		request(line);
	}
	return false;
}

static void read_one(void)
{
	const char *line = fake_read_line();

	if (!line)
		_exit(0);
	handle(line);
}

static bool some_wait(void)
{
	for (int n = 1; n <= ASKS_MAX; n++)
		if (open_ask[n])
			return true;
	return false;
}

/* Takes what comes within some time. */
static void read_for(double ms)
{
	double end = now_ms() + ms, left;

	while (!stopped && (left = end - now_ms()) > 0)
		if (poll(&(struct pollfd){ .fd = STDIN_FILENO, .events = POLLIN }, 1,
			 (int)left + 1) > 0)
			read_one();
}

/* Reads until the file exists. */
static void wait_for_file(const char *name)
{
	while (access(name, F_OK) != 0 && !stopped)
		if (poll(&(struct pollfd){ .fd = STDIN_FILENO, .events = POLLIN }, 1, 20) > 0)
			read_one();
}

/* ---- the plan ---- */

static void ask(int how_many)
{
	for (int i = 0; i < how_many && asks < ASKS_MAX; i++) {
		say_ask(++asks);
		note_time("asked", asks);
	}
	while (some_wait() && !(stopped && dialect == CODEX))
		read_one();
}

static void ask_timed(const char *words)
{
	const char *file = strchr(words, ':');

	ask_times = file ? fopen(file + 1, "w") : NULL;
	if (!ask_times)
		_exit(99);
	/* the pauses differ, so that no timer of gavel runs in step with them */
	for (int i = 0, n = atoi(words); i < n && !stopped; i++) {
		read_for(100 + i * 37 % 101);
		ask(1);
	}
	fclose(ask_times);
	ask_times = NULL;
}

static void talk(int rate)
{
	double begin = now_ms();
	char words[40];

	for (long said = 1; !stopped; said++) {
		snprintf(words, sizeof(words), "step %ld is done", said);
		say_text(words);
		read_for(begin + (double)said * 1000 / rate - now_ms());
	}
}

static void ask_until(const char *file, bool elsewhere)
{
	int n = ++asks;

	say_ask(n);
	wait_for_file(file);
	if (!open_ask[n])
		return;
	say_withdrawn(n);
	if (elsewhere)
		say_done(n, true);
}

/* The call is so long that the answer does not fit into what a pipe takes at once; its last part comes
 * when the line that withdraws the ask is whole. */
static void ask_late(void)
{
	enum { LONG = 3 * PIPE_BUF };
	int n = ++asks;

	out("{\"type\":\"control_request\",\"request_id\":\"ask-%d\",\"request\":{\"subtype\":"
	    "\"can_use_tool\",\"tool_name\":\"Bash\",\"input\":{\"command\":\"touch f%d%*s\"},"
	    "\"tool_use_id\":\"call-%d\"}}",
	    n, n, LONG, "", n);
	dprintf(STDOUT_FILENO, "{\"type\":\"control_cancel_request\",");
	poll(&(struct pollfd){ .fd = STDIN_FILENO, .events = POLLIN }, 1, -1);
	out("\"request_id\":\"ask-%d\"}", n);
	read_one(); /* the answer, which is ignored */
}

static void ask_unread(const char *file)
{
	say_ask(++asks);
	while (access(file, F_OK) != 0)
		poll(NULL, 0, 20);
	abort();
}

static void do_word(const char *word)
{
	if (strcmp(word, "ask") == 0 || strcmp(word, "two") == 0) {
		ask(word[0] == 't' ? 2 : 1);
	} else if (strncmp(word, "withdraw:", 9) == 0 || strncmp(word, "elsewhere:", 10) == 0) {
		ask_until(strchr(word, ':') + 1, word[0] == 'e');
	} else if (strcmp(word, "late") == 0) {
		ask_late();
	} else if (strncmp(word, "unread:", 7) == 0) {
		ask_unread(word + 7);
	} else if (strncmp(word, "asks:", 5) == 0) {
		ask_timed(word + 5);
	} else if (strncmp(word, "talk:", 5) == 0 && atoi(word + 5) > 0) {
		talk(atoi(word + 5));
	} else if (strncmp(word, "hold:", 5) == 0) {
		wait_for_file(word + 5);
	} else if (strcmp(word, "malformed") == 0) {
		out("{\"type\": not JSON");
	} else if (strcmp(word, "files") == 0) {
		out("{\"jsonrpc\":\"2.0\",\"id\":100,\"method\":\"fs/"
		    "write_text_file\",\"params\":{\"sessionId\":"
		    "\"ses-1\",\"path\":\"/tmp/x\",\"content\":\"\"}}");
		do {
			const char *line = fake_read_line();

			if (!line)
				_exit(0);
			if (has(line, "\"id\":100"))
				break;
			handle(line);
		} while (true);
	} else if (strcmp(word, "deaf") == 0) {
		for (;;)
			pause();
	} else if (strcmp(word, "die") == 0) {
		if (write(STDOUT_FILENO, "{\"type\":\"assi", 13) == 13)
			abort();
	} else if (strcmp(word, "quit") == 0) {
		fprintf(stderr, "error: unknown option\n");
		_exit(1);
	} else {
		say_text(word);
	}
}

static void speak(int which, const char *plan)
{
	char *words = strdup(plan), *save = NULL;
	const char *line;

	dialect = which;
	while ((line = fake_read_line())) {
		if (!handle(line))
			continue;
		begin_turn(line);
		for (char *w = strtok_r(words, " ", &save); w && !stopped;
		     w = strtok_r(NULL, " ", &save))
			do_word(w);
		free(words);
		words = strdup("again");
		end_turn();
		withdraw_all();
	}
	free(words);
}

void fake_claude(const char *plan)
{
	speak(CLAUDE, plan);
}
void fake_codex(const char *plan)
{
	speak(CODEX, plan);
}
void fake_acp(const char *plan)
{
	speak(ACP, plan);
}
