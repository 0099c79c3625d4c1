/* Programs that gavel knows by their names: the flags that they get, and what may be missing when
 * they fail. */
#include "agents/known_agents.h"

#include "unit.h"

/* The words that a command becomes; "-": it is not known, "!": refused. */
static void check_words(const char *words, const char *dialect, const char *want)
{
	struct arena arena = { 0 };
	struct buf got = { 0 };
	char *copy = xstrdup(words), *save = NULL;
	const char *argv[20] = { NULL }, **out;
	const struct known_agent *k;
	struct err err;
	int n = 0;

	for (char *w = strtok_r(copy, " ", &save); w; w = strtok_r(NULL, " ", &save))
		argv[n++] = w;
	k = known_agent_of(argv);
	out = k ? known_agent_argv(k, argv, &arena, &err) : NULL;
	buf_adds(&got, k ? out ? "" : "!" : "-");
	for (int i = 0; out && out[i]; i++)
		buf_printf(&got, "%s%s", i ? " " : "", out[i]);
	ck_assert_str_eq(got.n ? got.p : "", want);
	if (k)
		ck_assert_int_eq(k->dialect, strcmp(dialect, "claude") == 0  ? DIALECT_CLAUDE
					     : strcmp(dialect, "codex") == 0 ? DIALECT_CODEX
									     : DIALECT_ACP);
	buf_release(&got);
	arena_release(&arena);
	free(copy);
}

#define CLAUDE_FLAGS \
	"-p --input-format stream-json --output-format stream-json --verbose " \
	"--permission-prompt-tool stdio --replay-user-messages"

START_TEST(programs_are_known_by_name)
{
	check_words("claude", "claude", "claude " CLAUDE_FLAGS);
	check_words("/usr/bin/claude --model x", "claude",
		    "/usr/bin/claude --model x " CLAUDE_FLAGS);
	check_words(
		"claude --print --output-format=stream-json --verbose --resume 7", "claude",
		"claude --print --output-format=stream-json --verbose --resume 7 --input-format "
		"stream-json --permission-prompt-tool stdio --replay-user-messages");
	check_words("claude --output-format text", "claude", "!");
	check_words("npx -y @anthropic-ai/claude-code@2.1", "claude",
		    "npx -y @anthropic-ai/claude-code@2.1 " CLAUDE_FLAGS);
	check_words("codex", "codex", "codex app-server");
	check_words("codex --search", "codex", "codex --search app-server");
	check_words("codex -c a=b app-server", "codex", "codex -c a=b app-server");
	check_words("codex exec --json hi", "codex", "-");
	check_words("opencode", "acp", "opencode acp");
	check_words("opencode acp", "acp", "opencode acp");
	check_words("opencode run --format json", "acp", "-");
	check_words("gemini", "acp", "gemini --acp");
	check_words("gemini --experimental-acp", "acp", "gemini --experimental-acp");
	check_words("claude-agent-acp", "acp", "claude-agent-acp");
	check_words("node /x/node_modules/@agentclientprotocol/codex-acp/dist/index.js", "acp",
		    "node /x/node_modules/@agentclientprotocol/codex-acp/dist/index.js");
	check_words("npm exec -- @google/gemini-cli", "acp",
		    "npm exec -- @google/gemini-cli --acp");
	check_words("node server.js", "acp", "-");
	check_words("npx", "acp", "-");
	check_words("claude-wrapper", "claude", "-");
}
END_TEST

START_TEST(missing_variables_are_named)
{
	const char *argv[] = { "codex", NULL };
	const char *passed[] = { "OPENAI_API_KEY", NULL };
	struct buf b = { 0 };

	for (const char *const *name = known_agent_of(argv)->env; *name; name++)
		unsetenv(*name);
	known_agent_advice(known_agent_of(argv), NULL, STR_NONE, &b);
	ck_assert_str_eq(b.p, "if it is not logged in, run: codex login");
	buf_clear(&b);
	setenv("OPENAI_API_KEY", "x", 1);
	setenv("CODEX_HOME", "/x", 1);
	known_agent_advice(known_agent_of(argv), NULL, STR("no login"), &b);
	ck_assert_str_eq(b.p, "it may need --env=OPENAI_API_KEY --env=CODEX_HOME");
	buf_clear(&b);
	known_agent_advice(known_agent_of(argv), passed, STR_NONE, &b);
	ck_assert_str_eq(b.p, "it may need --env=CODEX_HOME");
	buf_clear(&b);
	setenv("MY_OWN_KEY", "x", 1);
	known_agent_advice(
		known_agent_of(argv), passed,
		STR("PATH and XDG_HOME: missing environment variable: `MY_OWN_KEY`."), &b);
	ck_assert_str_eq(b.p, "it may need --env=MY_OWN_KEY");
	buf_clear(&b);
	known_agent_advice(
		known_agent_of(argv), passed,
		STR("OPENAI_API_KEY is invalid\nerror: unexpected argument '--x' found"), &b);
	ck_assert_str_eq(b.p, "check its flags: codex --help lists them");
	buf_release(&b);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("known_agents");
	TCase *t = unit_cases(suite, "programs", NULL, NULL);

	tcase_add_test(t, programs_are_known_by_name);
	tcase_add_test(t, missing_variables_are_named);
	return unit_run(suite);
}
