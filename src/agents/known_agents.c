/* The table of programs that gavel knows, and what is done with their command lines. */
#include "agents/known_agents.h"

enum { NAME_MAX_BYTES = 100 };

#define WORDS(...) ((const char *const[]){ __VA_ARGS__, NULL })
#define NO_WORDS ((const char *const[]){ NULL })

#define CLAUDE_ENV \
	"ANTHROPIC_API_KEY", "CLAUDE_CODE_OAUTH_TOKEN", "ANTHROPIC_AUTH_TOKEN", \
		"ANTHROPIC_BASE_URL", "CLAUDE_CONFIG_DIR", "CLAUDE_CODE_USE_BEDROCK", \
		"CLAUDE_CODE_USE_VERTEX"
#define CODEX_ENV "OPENAI_API_KEY", "CODEX_API_KEY", "CODEX_HOME", "OPENAI_BASE_URL"
#define GEMINI_ENV \
	"GEMINI_API_KEY", "GOOGLE_API_KEY", "GOOGLE_CLOUD_PROJECT", \
		"GOOGLE_APPLICATION_CREDENTIALS", "GOOGLE_GENAI_USE_VERTEXAI"

/* claude-agent-acp before claude: the first row that fits counts. What they do while nobody
 * answers, and which of them review themselves, is in the manual (section REAL AGENTS). */
const struct known_agent known_agents[] = {
	{ "claude-agent-acp", NULL, DIALECT_ACP, NO_WORDS, WORDS(CLAUDE_ENV), "claude /login" },
	{ "claude-code-acp", NULL, DIALECT_ACP, NO_WORDS, WORDS(CLAUDE_ENV), "claude /login" },
	{ "codex-acp", NULL, DIALECT_ACP, NO_WORDS, WORDS(CODEX_ENV), "codex login" },
	{ "claude", "claude-code", DIALECT_CLAUDE,
	  WORDS("-p|--print", "--input-format stream-json", "--output-format stream-json",
		"--verbose", "--permission-prompt-tool stdio", "--replay-user-messages"),
	  WORDS(CLAUDE_ENV), "claude /login" },
	{ "codex", NULL, DIALECT_CODEX, WORDS("app-server"), WORDS(CODEX_ENV), "codex login" },
	{ "opencode", "opencode-ai", DIALECT_ACP, WORDS("acp"),
	  WORDS("ANTHROPIC_API_KEY", "OPENAI_API_KEY", "OPENROUTER_API_KEY", "GEMINI_API_KEY",
		"OPENCODE_CONFIG"),
	  "opencode auth login" },
	{ "gemini", "gemini-cli", DIALECT_ACP, WORDS("--acp|--experimental-acp"), WORDS(GEMINI_ENV),
	  "gemini" },
	{ 0 },
};

static const char *const runners[] = { "node", "nodejs", "npx",  "npm",  "pnpm",
				       "pnpx", "bun",    "bunx", "deno", "yarn" };

static struct str base_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return str_of(slash ? slash + 1 : path);
}

/* "codex-acp@2.6.0" and "codex-acp.js" are codex-acp. */
static struct str stem_of(struct str part)
{
	ptrdiff_t at = str_find(part, STR("@"), 1);

	if (at > 0)
		part.n = (size_t)at;
	if (str_ends(part, STR(".js")))
		part.n -= 3;
	else if (str_ends(part, STR(".mjs")) || str_ends(part, STR(".cjs")))
		part.n -= 4;
	return part;
}

static bool is_called(const struct known_agent *k, struct str name)
{
	return str_is(name, k->name) || (k->package && str_is(name, k->package));
}

/* Whether a part of a path or package is its name. */
static bool names_it(const struct known_agent *k, const char *word)
{
	struct str rest = str_of(word);

	while (rest.n)
		if (is_called(k, stem_of(str_cut(&rest, STR("/")))))
			return true;
	return false;
}

static bool is_runner(const char *program)
{
	for (size_t i = 0; i < sizeof(runners) / sizeof(runners[0]); i++)
		if (str_is(base_of(program), runners[i]))
			return true;
	return false;
}

/* The word that says what is run: the program, or what a runner was given. "npm exec --" has a
 * subcommand before it. */
static const char *const *program_in(const char *const *argv)
{
	const char *const *word = argv;

	if (!is_runner(argv[0]))
		return argv;
	for (word++; *word; word++) {
		if (**word == '-' || strcmp(*word, "exec") == 0 || strcmp(*word, "dlx") == 0 ||
		    strcmp(*word, "x") == 0 || strcmp(*word, "run") == 0)
			continue;
		return word;
	}
	return NULL;
}

/* Whether a flag's name, with its other spellings behind bars, is that word or begins it:
 * NAME=VALUE. */
static bool is_flag(const char *flag, const char *word)
{
	struct str names = str_of(flag);

	names = str_cut(&names, STR(" "));
	while (names.n) {
		struct str name = str_cut(&names, STR("|"));

		if (str_starts(str_of(word), name) && (!word[name.n] || word[name.n] == '='))
			return true;
	}
	return false;
}

/* The value of a flag that was given, NULL = it was not. */
static const char *given(const char *flag, const char *const *words)
{
	for (; *words; words++)
		if (is_flag(flag, *words)) {
			const char *equals = strchr(*words, '=');

			return equals ? equals + 1 : words[1] ? words[1] : "";
		}
	return NULL;
}

/* The subcommand: the first word that is no option. NULL = none. */
static const char *subcommand_in(const char *const *words)
{
	for (; *words; words++)
		if (**words != '-')
			return *words;
	return NULL;
}

const struct known_agent *known_agent_of(const char *const *argv)
{
	const char *const *program = argv && argv[0] ? program_in(argv) : NULL;
	const struct known_agent *k = known_agents;
	const char *first;

	if (!program)
		return NULL;
	while (k->name &&
	       !(program == argv ? is_called(k, base_of(*program)) : names_it(k, *program)))
		k++;
	if (!k->name)
		return NULL;
	first = k->flags[0];
	/* another subcommand is not what gavel supervises; options may have values before it */
	if (first && first[0] != '-' && subcommand_in(program + 1) && !given(first, program + 1))
		return NULL;
	return k;
}

const char **known_agent_argv(const struct known_agent *k, const char *const *argv,
			      struct arena *arena, struct err *err)
{
	uint32_t n = 0, flags = 0;
	const char **all;

	while (argv[n])
		n++;
	while (k->flags[flags])
		flags++;
	all = arena_zalloc(arena, (n + 2 * flags + 1) * sizeof(*all));
	memcpy(all, argv, n * sizeof(*all));
	for (uint32_t i = 0; i < flags; i++) {
		const char *value = strchr(k->flags[i], ' '), *old = given(k->flags[i], argv);
		size_t name = strcspn(k->flags[i], "| ");

		if (old && value && strcmp(old, value + 1) != 0) {
			err_set(err, "%s: gavel needs %s; leave out the one that was given",
				k->name, k->flags[i]);
			return NULL;
		}
		if (old)
			continue;
		all[n++] = arena_printf(arena, "%.*s", (int)name, k->flags[i]);
		if (value)
			all[n++] = value + 1;
	}
	return all;
}

static bool is_among(const char *name, const char *const *list)
{
	for (; list && *list; list++)
		if (strcmp(name, *list) == 0)
			return true;
	return false;
}

static bool is_usage(struct str words)
{
	static const char *const some[] = { "unknown option", "unknown argument", "unknown flag",
					    "unexpected argument", "unrecognized", "invalid option",
					    "unknown command" };

	for (size_t i = 0; i < sizeof(some) / sizeof(some[0]); i++)
		if (str_contains_nocase(words, str_of(some[i])))
			return true;
	return false;
}

static bool is_name_char(char c)
{
	return c == '_' || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}

/* PATH and the like are passed to every agent, or are just words. */
static bool may_be_needed(const char *name, const char *const *passed)
{
	return strchr(name, '_') && strncmp(name, "XDG_", 4) != 0 && strncmp(name, "LC_", 3) != 0 &&
	       getenv(name) && !is_among(name, passed);
}

/* The first variable of gavel's own environment in the words that the agent does not have. */
static struct str withheld_in(struct str words, const char *const *passed)
{
	for (size_t i = 0, n; i < words.n; i += n + 1) {
		char name[NAME_MAX_BYTES + 1];

		for (n = 0; i + n < words.n && is_name_char(words.p[i + n]);)
			n++;
		if (!n || n > NAME_MAX_BYTES)
			continue;
		memcpy(name, words.p + i, n);
		name[n] = '\0';
		if (may_be_needed(name, passed))
			return str_make(words.p + i, n);
	}
	return STR_NONE;
}

void known_agent_advice(const struct known_agent *k, const char *const *passed, struct str words,
			struct buf *out)
{
	struct str named = withheld_in(words, passed);
	size_t start = out->n;

	if (named.n) {
		buf_printf(out, "it may need --env=%.*s", STR_ARG(named));
		return;
	}
	if (is_usage(words)) {
		buf_printf(out, "check its flags: %s --help lists them", k->name);
		return;
	}
	for (const char *const *name = k->env; *name; name++)
		if (getenv(*name) && !is_among(*name, passed))
			buf_printf(out, "%s--env=%s", out->n > start ? " " : "it may need ", *name);
	if (out->n == start)
		buf_printf(out, "if it is not logged in, run: %s", k->login);
}
