/* The command table and the option table, and the parser of the command line. What is printed of them
 * is in options_text.c. */
#include "config/options.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Sets of commands, for option.commands. */
enum {
	WATCH = 1 << COMMAND_WATCH,
	SHOW = 1 << COMMAND_SHOW,
	CHECK = 1 << COMMAND_CHECK,
	DEMO = 1 << COMMAND_DEMO,
	HELP = 1 << COMMAND_HELP,
	DECIDE = 1 << COMMAND_DECIDE,
	JOURNAL = 1 << COMMAND_JOURNAL,
	REPLAY = 1 << COMMAND_REPLAY,
	PURGE = 1 << COMMAND_PURGE,
	REVIEW = 1 << COMMAND_REVIEW,
	RUN = 1 << COMMAND_RUN,
	AGENTS = 1 << COMMAND_AGENTS,
	TEAM = 1 << COMMAND_TEAM,
	SHIP = 1 << COMMAND_SHIP,
	READERS = WATCH | SHOW | CHECK,
	RUNNERS = REVIEW | RUN,
	PRINTERS = WATCH | SHOW | DEMO | REPLAY | RUNNERS,
	SCREENS = WATCH | DEMO | REPLAY | RUNNERS,
	DECIDERS = WATCH | DECIDE | DEMO | RUNNERS,
	ANY = WATCH | SHOW | CHECK | DEMO | HELP | DECIDE | JOURNAL | PURGE | REPLAY | RUNNERS |
	      AGENTS | TEAM | SHIP,
};

static const struct command commands[] = {
	{ COMMAND_WATCH, "", "[SOURCE...]",
	  "Open the terminal UI; if standard output is not a terminal, print the inbox. SOURCE may be "
	  "the address of a team's store, postgresql://[USER@]HOST/DATABASE: the team's inbox; with "
	  "?source=NAME behind it the lines of one source, as a log that is only read. Without SOURCE, "
	  "what is piped to gavel is read; if that is the terminal, the inbox of team.url." },
	{ COMMAND_RUN, "run", "[--] [COMMAND...]",
	  "Start an agent and supervise it over its pipes; without COMMAND, those of the "
	  "configuration. claude, codex, opencode, gemini, claude-agent-acp and codex-acp get the flags "
	  "that this needs. Its environment is a short list of harmless variables; --env lets others "
	  "through. What it writes, and what is written to it, is kept below "
	  "~/.local/state/gavel/captures. It goes on when gavel ends, unless it is stopped." },
	{ COMMAND_AGENTS, "agents", "[stop NAME... | stop --all | prompt NAME TEXT]",
	  "List the agents that run; or stop some: each is asked to end by its protocol or by the end "
	  "of its input, and then made to; or prompt a real one: TEXT, or @FILE, is written to it and "
	  "journalled. gavel CAPTURE opens one of them." },
	{ COMMAND_REVIEW, "review", "--artifact=FILE [--] COMMAND...",
	  "Let COMMAND review a file, one process a turn: a feedback request on its standard "
	  "input, the stream of what it does and answers on its standard output. Decide its items, "
	  "edit the file, and $ begins the next turn. {session} in COMMAND becomes the id of the "
	  "session; in the first turn that word is left out, and a lone option before it. What is "
	  "asked and said is kept below ~/.local/state/gavel/captures; the same file and COMMAND "
	  "again go on there." },
	{ COMMAND_SHOW, "show", "VIEW [SOURCE...]",
	  "Print a view: sessions, inbox, item ID, timeline, ledger, messages, agents, decisions or "
	  "summary; report, all of it as Markdown; or state, a hash of them all." },
	{ COMMAND_REPLAY, "replay", "LOG...",
	  "Open the terminal UI on a recording and play it: its clock drives what every view "
	  "shows. Nothing is decided, nothing is sent." },
	{ COMMAND_CHECK, "check", "[SOURCE...]", "Check messages against their protocols." },
	{ COMMAND_DECIDE, "decide", "SOURCE [ITEM VERB]",
	  "Decide an item: accept, always, partial, reject, stop, answer, dismiss or escalate; show "
	  "inbox lists which of them it takes. always accepts a tool call, and such calls from now on; "
	  "stop rejects one, and ends the agent's turn. ITEM is an id; "
	  "SESSION/ID where the id alone is not unique, KIND:ID where a finding and a change share "
	  "it. The decision is staged; --deliver sends it, and without ITEM everything that is "
	  "staged." },
	{ COMMAND_JOURNAL, "journal", "list | verify | resend ID | void ID | repair",
	  "Look at what was decided and what became of it: list it, check the hash chain, resend a "
	  "held message, take back what is staged or was not delivered, or repair a damaged "
	  "journal." },
	{ COMMAND_PURGE, "purge", "",
	  "Remove old captures of agents' output, caches, and journals whose source no longer "
	  "exists. Nothing that is in use, and never a journal in which something is unfinished." },
	{ COMMAND_TEAM, "team", "init [URL] | check [URL] | trim [URL]",
	  "For the owner of a team's store, a PostgreSQL database: make it, or upgrade it; check the "
	  "server, the connection, who may do what, and that its history was not changed; remove old "
	  "lines. URL is postgresql://[USER@]HOST/DATABASE, else team.url of the configuration; the "
	  "password is in ~/.pgpass. Unless the host is a socket, the server must prove by TLS who it is." },
	{ COMMAND_SHIP, "ship", "[--to=URL] [SOURCE...]",
	  "Put what agents say on this machine, and what waits for a person, into a team's store; and "
	  "write what the team decides to the agents. It runs beside the agents until it is stopped, "
	  "and is the only one that decides on its sources. What an earlier run left unfinished is "
	  "finished at once. SOURCE may be captures of agents that gavel runs, or their folder: it "
	  "attaches to these, and ends when they have ended; for agents that have ended before, "
	  "give --no-follow. gavel team init makes the store." },
	{ COMMAND_DEMO, "demo", "",
	  "Open a built-in session to try everything on; if standard output is not a terminal, "
	  "print its inbox and summary." },
	{ COMMAND_HELP, "help", "[COMMAND|config|bash|zsh|fish]",
	  "Explain a command, print a configuration file with every setting, or completion for a "
	  "shell." },
};
enum { COMMANDS = sizeof(commands) / sizeof(commands[0]) };

static int set_format(struct options *o, const char *value, struct err *err)
{
	static const char *const names[] = { "text", "json", "sarif", "md" };

	for (int i = 0; i < 4; i++)
		if (strcmp(value, names[i]) == 0) {
			o->format = (enum format)i;
			if ((i == OUTPUT_SARIF && o->command->id != COMMAND_CHECK) ||
			    (i == OUTPUT_MD && o->command->id != COMMAND_SHOW))
				break;
			return 0;
		}
	return err_set(err, "--format=%s: must be text%s", value,
		       o->command->id == COMMAND_CHECK  ? ", json or sarif"
		       : o->command->id == COMMAND_SHOW ? " or json; md for a report"
						     : " or json");
}

static int set_color(struct options *o, const char *value, struct err *err)
{
	static const char *const names[] = { "auto", "always", "never" };

	for (int i = 0; i < 3; i++)
		if (strcmp(value, names[i]) == 0) {
			o->color = (enum color_mode)i;
			return 0;
		}
	return err_set(err, "--color=%s: must be auto, always or never", value);
}

static int set_size(struct options *o, const char *value, struct err *err)
{
	struct str s = str_of(value), w, h;
	ptrdiff_t x = str_find(s, STR("x"), 0);
	uint64_t cols, rows;

	w = x < 0 ? s : str_make(s.p, (size_t)x);
	h = x < 0 ? STR("0") : str_from(s, (size_t)x + 1);
	if (!str_to_u64(w, &cols) || !str_to_u64(h, &rows) || cols < 1 || cols > 4096 ||
	    rows > 100000)
		return err_set(err, "--size=%s: must be WIDTHxHEIGHT, such as 100x30", value);
	o->cols = (int)cols;
	o->rows = (int)rows;
	return 0;
}

static int set_max_line(struct options *o, const char *value, struct err *err)
{
	struct str s = str_of(value);
	uint64_t n, unit = 1;

	if (s.n && strchr("kKmM", s.p[s.n - 1])) {
		unit = (s.p[s.n - 1] | 32) == 'k' ? 1024 : 1024 * 1024;
		s.n--;
	}
	if (!str_to_u64(s, &n) || n < 1 || n > (1u << 30) || n * unit > (1u << 30))
		return err_set(err, "--max-line=%s: must be a number of bytes up to 1024M", value);
	o->max_line_bytes = (size_t)(n * unit);
	return 0;
}

static int set_threads(struct options *o, const char *value, struct err *err)
{
	uint64_t n;

	if (!str_to_u64(str_of(value), &n) || n > 64)
		return err_set(err, "--threads=%s: must be a number up to 64", value);
	o->threads = (unsigned)n;
	return 0;
}

static int set_speaks(struct options *o, const char *value, struct err *err)
{
	if (strcmp(value, "agent") != 0 && strcmp(value, "session") != 0)
		return err_set(err, "--speaks=%s: must be agent or session", value);
	o->speaks_for_session = value[0] == 's';
	return 0;
}

static int set_recover(struct options *o, const char *value, struct err *err)
{
	if (strcmp(value, "ask") != 0 && strcmp(value, "send") != 0)
		return err_set(err, "--recover=%s: must be ask or send", value);
	o->recover_send = value[0] == 's';
	return 0;
}

/* -1 and err, which repeats the option. */
static int parse_age(struct options *o, const char *option, const char *value, struct err *err)
{
	static const struct {
		char letter;
		unsigned seconds;
	} units[] = { { 'd', 86400 }, { 'w', 7 * 86400 }, { 'h', 3600 }, { 'm', 60 }, { 's', 1 } };
	struct str s = str_of(value);
	uint64_t n;

	for (unsigned i = 0; s.n && i < sizeof(units) / sizeof(units[0]); i++)
		if (s.p[s.n - 1] == units[i].letter && str_to_u64(str_make(s.p, s.n - 1), &n) &&
		    n <= 36500) {
			o->older_than_s = n * units[i].seconds;
			o->has_age = true;
			return 0;
		}
	return err_set(err, "--%s=%s: must be a number of days, weeks or hours, such as 30d, 4w or 12h",
		       option, value);
}

static int set_older_than(struct options *o, const char *value, struct err *err)
{
	return parse_age(o, "older-than", value, err);
}

static int set_keep(struct options *o, const char *value, struct err *err)
{
	return parse_age(o, "keep", value, err);
}

static int set_option(struct options *o, const char *value, struct err *err)
{
	if (!str_to_u64(str_of(value), &o->option) || !o->option)
		return err_set(err, "--option=%s: must be the number of an option, from 1", value);
	return 0;
}

static int set_offer(struct options *o, const char *value, struct err *err)
{
	if (!str_to_u64(str_of(value), &o->offer) || !o->offer || o->offer > UINT32_MAX)
		return err_set(err, "--offer=%s: must be the number of an offered rule, from 1", value);
	return 0;
}

static int set_answer(struct options *o, const char *value, struct err *err)
{
	(void)err;
	vec_push(&o->answers, value);
	return 0;
}

static int set_input(struct options *o, const char *value, struct err *err)
{
	uint64_t n;

	if (!str_to_u64(str_of(value), &n) || n < 1 || n > UINT32_MAX)
		return err_set(err, "--input=%s: must be the number of a line", value);
	o->input = (uint32_t)n;
	return 0;
}

static int set_agent(struct options *o, const char *value, struct err *err)
{
	(void)err;
	vec_push(&o->agents, value);
	return 0;
}

static int set_env(struct options *o, const char *value, struct err *err)
{
	if (!*value || strchr(value, '='))
		return err_set(err, "--env=%s: must be the name of a variable; its value is this "
				    "one's", value);
	vec_push(&o->env, value);
	return 0;
}

static int set_dialect(struct options *o, const char *value, struct err *err)
{
	static const char *const names[] = { "claude", "codex", "acp", "none" };

	for (int i = 0; i < 4; i++)
		if (strcmp(value, names[i]) == 0) {
			o->dialect = names[i];
			return 0;
		}
	return err_set(err, "--dialect=%s: must be claude, codex, acp or none", value);
}

#define FIELD(member) .field = offsetof(struct options, member)

static const struct option options[] = {
	{ "format", "FORMAT",
	  "text, json (one object a line); for check also sarif, for show report md. Scripts use "
	  "json: its fields only ever grow.",
	  READERS | DECIDE | JOURNAL | RUN | AGENTS | TEAM, .set = set_format, .values = "text json sarif md" },
	{ "filter", "EXPR",
	  "Only what matches: words match any text; kind:finding severity:>=major dialect:feedback "
	  "agent:dev-01 task:T1 session:S source:FILE id:X is:open is:error is:not-its-role "
	  "trust:agent after:10:15 before:T; - negates.",
	  READERS | REPLAY | RUN, FIELD(filter) },
	{ "since", "TIME", "Only what is not before TIME: ISO 8601, HH:MM[:SS], or ms since 1970.",
	  READERS, FIELD(since) },
	{ "until", "TIME", "Only what is before TIME.", READERS, FIELD(until) },
	{ "at", "TIME|#N",
	  "Look at the session as it was: after the first N messages of agents and what was said "
	  "behind them (#N.0: without that), or before the first message later than TIME; -10m is "
	  "so long before the end, +10m so long after the start. replay begins there, and takes "
	  "40%, too.",
	  WATCH | SHOW | REPLAY, FIELD(at) },
	{ "speed", "N", "replay: N times real time, 0.1 to 1000.", REPLAY, FIELD(speed) },
	{ "against", "JOURNAL",
	  "show decisions: compare with another journal, such as a fork's folder: what was decided "
	  "otherwise, and which fields of the messages differ.",
	  SHOW, FIELD(against) },
	{ "export", "FILE.cast",
	  "replay: write it as an asciicast, for asciinema, at --size and --speed. --keys are "
	  "typed first, and <wait:MS> plays.",
	  REPLAY, FIELD(export_to) },
	{ "all", NULL,
	  "check: a json record for every message; inbox: every item, not only the open ones; agents "
	  "stop: all of them.",
	  READERS | REPLAY | AGENTS, FIELD(all) },
	{ "strict", NULL, "check: warnings fail as errors do.", CHECK, FIELD(strict) },
	{ "max-line", "BYTES",
	  "Longest message that is read, 16M unless given; longer ones are counted and shown as "
	  "oversize.",
	  READERS | DECIDE | REPLAY | RUNNERS | SHIP, .set = set_max_line },
	{ "threads", "N",
	  "How many threads read a big log; unless given, as many as there are processors, at most "
	  "8.",
	  READERS | DECIDE | REPLAY, .set = set_threads },
	{ "as", "NAME", "Who decides; the login's name unless given.",
	  DECIDERS | REPLAY, FIELD(as) },
	{ "reply", "PATH",
	  "Where replies go, and those of others are read: a file, a FIFO or a folder. Unless given, "
	  "a log's replies are in LOG.replies.ndjson beside it, a hand-off folder's in the folder. A "
	  "reply file is for one SOURCE.",
	  WATCH | DECIDE | DEMO | SHOW | CHECK | REPLAY | SHIP, FIELD(reply) },
	{ "agent", "NAME",
	  "run: what the agent is called, if not after its command; without COMMAND, only this one "
	  "of the configuration (may be repeated).",
	  RUN, .set = set_agent },
	{ "prompt", "TEXT|@FILE",
	  "run: what a real agent (claude, codex, or one that speaks ACP) is to do first; @FILE: what "
	  "the file says. A text that begins with @ is given with a space before it.",
	  RUN, FIELD(prompt) },
	{ "mode", "MODE[,MODE]",
	  "run: the mode that a real agent begins in, before its prompt, such as plan; codex-acp asks "
	  "in workspace-write. The message for one that it does not have names those that it has.",
	  RUN, FIELD(mode) },
	{ "dialect", "NAME",
	  "run: what a program speaks that gavel does not know by its name: claude (stream-json), "
	  "codex (app-server) or acp; its command is run as it is. none: a known program is run as "
	  "it is, too, and gavel says nothing to it by itself.",
	  RUN, .set = set_dialect, .values = "claude codex acp none" },
	{ "env", "NAME",
	  "Let a variable of the environment through to the agents (may be repeated).", RUNNERS,
	  .set = set_env },
	{ "speaks", "WHO",
	  "run: whose lines the agent writes: its own (agent, the default), which decide nothing, or "
	  "those of a whole session with all its roles.", RUN, .set = set_speaks,
	  .values = "agent session" },
	{ "detach", NULL,
	  "run: start the agents, print where their captures are, and leave them running; one that was "
	  "given a prompt has got it then.", RUN,
	  FIELD(detach) },
	{ "team", "URL",
	  "run: a team decides what the agents ask: what they say and what waits for a person is put "
	  "into its store, postgresql://[USER@]HOST/DATABASE, as gavel ship does it. The UI shows "
	  "all and decides nothing; without a terminal it says what it does, and ends when the agents "
	  "have ended and all is in the store.",
	  RUN, FIELD(team) },
	{ "escalate-to", "PATH", "The queue that escalations are written to.", DECIDERS,
	  FIELD(escalate_to) },
	{ "journal", "DIR",
	  "Where decisions are recorded, in place of ~/.local/state/gavel.",
	  DECIDERS | SHOW | CHECK | JOURNAL | REPLAY | SHIP, FIELD(journal) },
	{ "recover", "WHEN",
	  "What an earlier run left unfinished: ask shows it first, send finishes it at once.",
	  DECIDERS, .set = set_recover, .values = "ask send" },
	{ "follow", NULL,
	  "show: keep printing records as they come: messages; items of the inbox when they open "
	  "or change; decisions when they are made or progress.",
	  SHOW, FIELD(follow) },
	{ "no-follow", NULL, "Read what is there, and do not wait for more.", WATCH | SHIP,
	  FIELD(no_follow) },
	{ "no-cache", NULL,
	  "Read big logs as if for the first time, and keep nothing for the next.",
	  WATCH | SHOW | DECIDE | REPLAY, FIELD(no_cache) },
	{ "read-only", NULL, "Look, but decide nothing.", WATCH | DEMO, FIELD(read_only) },
	{ "sole-writer", NULL,
	  "Nobody else writes to the reply FIFO, so messages over 4096 bytes may go there.",
	  WATCH | DECIDE | DEMO | JOURNAL | SHIP, FIELD(sole_writer) },
	{ "sure", NULL,
	  "journal void: abandon a message even though it may have arrived and been acted on.",
	  JOURNAL, FIELD(sure) },
	{ "reason-code", "CODE", "decide: a word for the reason, such as out_of_scope.", DECIDE,
	  FIELD(reason_code), .once = true },
	{ "explain", "TEXT", "decide: the explanation; reject, stop and partial need one.", DECIDE,
	  FIELD(explain), .once = true },
	{ "answer", "TEXT",
	  "decide: the answer to a question: the value of one of its options, else the label of "
	  "one, else free text. A number is not taken for an option's; --option chooses by number. "
	  "Where an item asks several questions, one for each, in order (may be repeated); of several "
	  "options: A, B.",
	  DECIDE, .set = set_answer },
	{ "option", "N", "decide: answer a question with its option number N, from 1.", DECIDE,
	  .set = set_option, .once = true },
	{ "offer", "N",
	  "decide always: allow such calls by the N-th of the rules that the agent offers; the first "
	  "unless given.",
	  DECIDE, .set = set_offer, .once = true },
	{ "rule", "TEXT",
	  "decide always: allow such calls by a rule of your own, where the protocol takes one: "
	  "Bash(touch *).",
	  DECIDE, FIELD(rule), .once = true },
	{ "edit", "FILE",
	  "decide partial: accept a tool call with the input in FILE, a JSON object.", DECIDE,
	  FIELD(edit), .once = true },
	{ "input", "LINE",
	  "decide: the line of the input that an output envelope answers, where several were open "
	  "and nothing says which.",
	  DECIDE, .set = set_input, .once = true },
	{ "artifact", "FILE",
	  "decide: the artifact as it now is, for a feedback request; review: the file. Text in "
	  "UTF-8, at most 8 MiB.",
	  DECIDERS | SHIP, FIELD(artifact), .once = true },
	{ "envelope", "FILE",
	  "review: speak envelopes; FILE holds the input envelope of the first turn.", REVIEW,
	  FIELD(envelope) },
	{ "fresh", NULL,
	  "review: begin a new review, where one of this file and command could go on.", REVIEW,
	  FIELD(fresh) },
	{ "rev", "HASH",
	  "decide: refuse unless the item still has this rev. It also tells items of one name "
	  "apart.",
	  DECIDE | SHOW, FIELD(rev), .once = true },
	{ "deliver", NULL, "decide: send it, do not only stage it.", DECIDE, FIELD(deliver) },
	{ "correct", NULL, "decide: a correction of what was delivered already, where the protocol has one.", DECIDE,
	  FIELD(correct) },
	{ "older-than", "AGE", "purge: what is old: 30d unless given; 4w, 12h.", PURGE,
	  .set = set_older_than },
	{ "to", "URL", "ship: the store, postgresql://[USER@]HOST/DATABASE; else team.url of the configuration.", SHIP,
	  FIELD(to) },
	{ "as-source", "NAME", "ship: what the source is called in the store; HOST:PATH unless given.", SHIP,
	  FIELD(as_source) },
	{ "items", "EXPR", "ship, run --team: only items that match, as --filter has it.", SHIP | RUN,
	  FIELD(items) },
	{ "no-lines", NULL,
	  "ship, run --team: what waits for a person, and not the lines of the log.", SHIP | RUN,
	  FIELD(no_lines) },
	{ "keep", "AGE", "team trim: how long lines are kept, by whole days: 30d unless given.", TEAM,
	  .set = set_keep },
	{ "dry-run", NULL, "purge: only say what would be removed.", PURGE, FIELD(dry_run) },
	{ "size", "WxH", "Columns and, when given, most rows of the output.", PRINTERS,
	  .set = set_size },
	{ "color", "WHEN", "auto, always or never. NO_COLOR in the environment means never.",
	  PRINTERS, .set = set_color, .values = "auto always never" },
	{ "ascii", NULL, "Print nothing but ASCII.", PRINTERS, FIELD(ascii) },
	{ "config", "FILE",
	  "Configuration, in place of ~/.config/gavel/config.json.", SCREENS | READERS | DECIDE | SHIP | TEAM,
	  FIELD(config) },
	{ "headless", NULL, "For tests and scripts: run the terminal UI without a terminal.",
	  SCREENS, FIELD(headless) },
	{ "keys", "FILE",
	  "With --headless: type what FILE says: keys as they are, <Enter> <Esc> <C-d> <Up> for "
	  "others, <wait:MS>, <until:TEXT> (waits until the screen shows it), # comments.",
	  SCREENS, FIELD(keys) },
	{ "screen", "FILE",
	  "With --headless: write the last screen to FILE: rows of text, ---, rows of role "
	  "letters; with --color=always as a terminal of 16 colours would get it.",
	  SCREENS, FIELD(screen) },
	{ "help", NULL, "Print help for the command and exit.", ANY, FIELD(help) },
	{ "version", NULL, "Print the version and exit.", ANY, FIELD(version) },
};
enum { OPTIONS = sizeof(options) / sizeof(options[0]) };
_Static_assert((int)OPTIONS <= (int)OPTIONS_MAX, "struct options.given has a place for each row");

const struct command *command_at(unsigned i)
{
	return i < COMMANDS ? &commands[i] : NULL;
}

const struct option *option_at(unsigned i)
{
	return i < OPTIONS ? &options[i] : NULL;
}

bool command_takes(const struct command *c, const struct option *o)
{
	return o->commands & 1u << c->id;
}

const struct command *command_find(const char *name)
{
	for (int i = 1; i < COMMANDS; i++)
		if (strcmp(name, commands[i].name) == 0)
			return &commands[i];
	return NULL;
}

static size_t least(size_t a, size_t b)
{
	return a < b ? a : b;
}

enum { NEAR_MAX = 16 };

/* Letters to insert, remove, replace or swap with their neighbour to get from one word to the other
 * (optimal string alignment). Both at most NEAR_MAX long. */
static size_t edit_distance(struct str a, struct str b)
{
	size_t d[NEAR_MAX + 1][NEAR_MAX + 1];

	for (size_t i = 0; i <= a.n; i++)
		for (size_t j = 0; j <= b.n; j++) {
			if (!i || !j) {
				d[i][j] = i + j;
				continue;
			}
			d[i][j] = least(least(d[i - 1][j], d[i][j - 1]) + 1,
					d[i - 1][j - 1] + (a.p[i - 1] != b.p[j - 1]));
			if (i > 1 && j > 1 && a.p[i - 1] == b.p[j - 2] && a.p[i - 2] == b.p[j - 1])
				d[i][j] = least(d[i][j], d[i - 2][j - 2] + 1);
		}
	return d[a.n][b.n];
}

const struct command *command_near(const char *word)
{
	const struct command *nearest = NULL;
	size_t nearest_by = 3;

	for (int i = 1; i < COMMANDS && strlen(word) <= NEAR_MAX; i++) {
		struct str name = str_of(commands[i].name);
		size_t by = edit_distance(str_of(word), name);

		/* of a short name, two letters are most of it */
		if (by < nearest_by && by < (name.n + 1) / 2) {
			nearest = &commands[i];
			nearest_by = by;
		}
	}
	return nearest;
}

static const struct option *find_option(struct str name)
{
	for (int i = 0; i < OPTIONS; i++)
		if (str_is(name, options[i].name))
			return &options[i];
	return NULL;
}

/* Parses --name, --name=value or --name value at argv[*i]; *i becomes the last word used. */
static int parse_option(struct options *o, int argc, char **argv, int *i, struct err *err)
{
	struct str word = str_from(str_of(argv[*i]), 2);
	ptrdiff_t equals = str_find(word, STR("="), 0);
	struct str name = equals < 0 ? word : str_make(word.p, (size_t)equals);
	const struct option *option = find_option(name);
	const char *value = equals < 0 ? NULL : word.p + equals + 1;
	const char *command = o->command->name[0] ? o->command->name : "gavel";

	if (!option || !command_takes(o->command, option)) {
		if (option)
			return err_set(err, "%s takes no --%s; see gavel %s --help", command,
				       option->name, o->command->name);
		return err_set(err, "no option --%.*s; see gavel --help", STR_ARG(name));
	}
	if (!option->argument && value)
		return err_set(err, "--%s takes no value", option->name);
	if (option->argument && !value) {
		if (*i + 1 >= argc)
			return err_set(err, "--%s needs a value: --%s=%s", option->name,
				       option->name, option->argument);
		value = argv[++*i];
	}
	if (option->once && o->given[option - options])
		return err_set(err, "--%s is given twice; give it once", option->name);
	o->given[option - options] = true;
	if (option->set)
		return option->set(o, value, err);
	if (option->argument)
		*(const char **)((char *)o + option->field) = value;
	else
		*(bool *)((char *)o + option->field) = true;
	return 0;
}

/* Index of the command's word, the first that is neither an option nor the value of one; -1: there
 * is none, so it is the command without a name. */
static int find_command_word(int argc, char **argv)
{
	for (int i = 0; i < argc; i++) {
		struct str word = str_of(argv[i]);
		const struct option *option;

		if (str_is(word, "--"))
			return -1;
		if (word.n < 2 || word.p[0] != '-')
			return command_find(argv[i]) ? i : -1;
		option = word.p[1] == '-' ? find_option(str_from(word, 2)) : NULL;
		if (option && option->argument)
			i++; /* --name value */
	}
	return -1;
}

int options_parse(struct options *o, int argc, char **argv, struct err *err)
{
	bool only_words = false;
	int at = find_command_word(argc, argv);

	*o = (struct options){ .command = at < 0 ? &commands[0] : command_find(argv[at]) };
	for (int i = 0; i < argc; i++) {
		const char *word = argv[i];

		if (i == at) {
			continue;
		} else if (!only_words && strcmp(word, "--") == 0) {
			only_words = true;
		} else if (!only_words && strncmp(word, "--", 2) == 0) {
			if (parse_option(o, argc, argv, &i, err))
				return -1;
		} else if (!only_words && (strcmp(word, "-h") == 0 || strcmp(word, "-V") == 0)) {
			o->help |= word[1] == 'h';
			o->version |= word[1] == 'V';
		} else if (!only_words && word[0] == '-' && word[1]) {
			return err_set(err, "no option %s; see gavel --help", word);
		} else {
			vec_push(&o->words, word);
			/* the rest is the agent's command line */
			only_words |= (1 << o->command->id & RUNNERS) != 0;
		}
	}
	return 0;
}

void options_release(struct options *o)
{
	vec_release(&o->words);
	free(o->team_url);
	vec_release(&o->agents);
	vec_release(&o->env);
	vec_release(&o->answers);
}
