/* config: what each setting takes, what is said about each mistake, and where. Expected sentences
 * are written out in full; "c.json" is the name of files that exist only here. */
#include "config/config.h"

#include "base/utf8.h"
#include "json/json.h"
#include "draw/key.h"
#include "theme.h"
#include "unit.h"
#include "wire/frame.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static void parse(struct config *c, struct str text)
{
	config_init(c, "c.json");
	config_parse(c, text);
}

static void join_problems(const struct config *c, struct buf *out)
{
	for (uint32_t i = 0; i < c->problems.n; i++)
		buf_printf(out, "%s%s", i ? "\n" : "", c->problems.v[i]);
}

#define assert_problems_of(config, want) \
	do { \
		struct buf got_ = { 0 }; \
		join_problems((config), &got_); \
		assert_str(buf_str(&got_), want); \
		buf_release(&got_); \
	} while (0)

#define assert_problems(text, want) \
	do { \
		struct config c_; \
		parse(&c_, STR(text)); \
		assert_problems_of(&c_, want); \
		config_release(&c_); \
	} while (0)

static void assert_defaults(const struct config *c)
{
	struct theme theme;

	ck_assert_str_eq(c->theme, "dark");
	config_theme(c, 16, &theme);
	ck_assert_mem_eq(&theme, &theme_dark, sizeof(theme));
	ck_assert_uint_eq(c->keys.n, 0);
	ck_assert(c->mouse && !c->ascii);
	ck_assert(c->approve == 0.9 && c->human == 0.7);
	ck_assert_uint_eq(c->max_line_bytes, FRAME_MAX_BYTES);
	ck_assert_uint_eq(c->cache_mb, 2048);
	ck_assert_uint_eq(c->reviewers.n, 0);
	ck_assert_ptr_null(c->reviewers_group);
	ck_assert_ptr_null(c->team_url);
	ck_assert_int_eq(c->team_lease_s, 120);
	ck_assert(!c->team_claim_on_open);
}

static const char *fixture(const char *name)
{
	static char path[4096];
	const char *folder = getenv("GAVEL_FIXTURES");

	snprintf(path, sizeof(path), "%s/config/%s", folder ? folder : "tests/fixtures", name);
	return path;
}

static void read_all(const char *path, struct buf *out)
{
	FILE *f = fopen(path, "rb");
	char block[4096];
	size_t n;

	ck_assert_msg(f != NULL, "%s cannot be read", path);
	while ((n = fread(block, 1, sizeof(block), f)) > 0)
		buf_add(out, block, n);
	fclose(f);
}

/* The sources may be another user's, whose configuration would be refused. */
static void load_fixture(struct config *c, const char *name)
{
	struct buf text = { 0 };

	read_all(fixture(name), &text);
	config_init(c, fixture(name));
	config_parse(c, buf_str(&text));
	buf_release(&text);
}

START_TEST(nothing_said_is_the_defaults)
{
	static const char *const texts[] = {
		"", " \n\t", "{}", "\xef\xbb\xbf{}", "\xef\xbb\xbf", "/* x */ {} // y", "{ // }\n}",
	};

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		struct config c;

		parse(&c, str_of(texts[i]));
		assert_defaults(&c);
		assert_problems_of(&c, "");
		config_release(&c);
	}
}
END_TEST

START_TEST(every_setting_is_read)
{
	struct config c;
	struct theme theme;

	load_fixture(&c, "complete.json");
	assert_problems_of(&c, "");
	ck_assert_str_eq(c.file, fixture("complete.json"));
	ck_assert_str_eq(c.theme, "light");
	ck_assert(!c.mouse && c.ascii);
	ck_assert(c.approve == 1 && c.human == 0.25);
	ck_assert_uint_eq(c.max_line_bytes, 1048576);

	ck_assert_uint_eq(c.keys.n, 4);
	ck_assert_uint_eq(c.keys.v[0].code, KEY_CTRL('N'));
	ck_assert_str_eq(c.keys.v[0].command, "down");
	ck_assert_uint_eq(c.keys.v[0].line, 10);
	ck_assert_uint_eq(c.keys.v[0].column, 14);
	ck_assert_uint_eq(c.keys.v[1].code, 0xe9);
	ck_assert_str_eq(c.keys.v[1].command, "filter is:open");
	ck_assert_uint_eq(c.keys.v[1].column, 10);
	ck_assert_uint_eq(c.keys.v[2].code, 'Q');
	ck_assert_ptr_null(c.keys.v[2].command);
	ck_assert_uint_eq(c.keys.v[3].code, '<');
	ck_assert_str_eq(c.keys.v[3].command, "search \"a\"");

	config_theme(&c, 256, &theme);
	ck_assert(theme_is_sound(&theme));
	ck_assert_uint_eq(theme.look[ROLE_TITLE].front, COLOUR_BRIGHT + COLOUR_WHITE);
	ck_assert_uint_eq(theme.look[ROLE_TITLE].back, COLOUR_256(24));
	ck_assert_uint_eq(theme.look[ROLE_TITLE].bits & (LOOK_BOLD | LOOK_UNDERLINE),
			  LOOK_UNDERLINE);
	ck_assert_uint_eq(theme.look[ROLE_SELECTED].back, COLOUR_CYAN);
	ck_assert_uint_eq(theme.look[ROLE_SELECTED].front,
			  theme_light_256.look[ROLE_SELECTED].front);
	ck_assert_uint_eq(theme.look[ROLE_DIM].front, COLOUR_BRIGHT + COLOUR_BLACK);
	ck_assert_uint_eq(theme.look[ROLE_DIM].bits & (LOOK_BOLD | LOOK_FAINT), LOOK_BOLD);
	ck_assert_mem_eq(&theme.look[ROLE_OK], &theme_light_256.look[ROLE_OK],
			 sizeof(theme.look[0]));
	config_release(&c);
}
END_TEST

START_TEST(terminals_get_the_colours_they_have)
{
	struct config c;
	struct theme theme;

	load_fixture(&c, "complete.json");
	config_theme(&c, 16, &theme);
	ck_assert(theme_is_sound(&theme));
	ck_assert_uint_eq(theme.look[ROLE_TITLE].front, COLOUR_BRIGHT + COLOUR_WHITE);
	ck_assert_uint_eq(theme.look[ROLE_TITLE].back, theme_light.look[ROLE_TITLE].back);
	config_theme(&c, 0, &theme);
	ck_assert(theme_is_sound(&theme));
	ck_assert_uint_eq(theme.look[ROLE_TITLE].front, theme_mono.look[ROLE_TITLE].front);
	ck_assert(theme.look[ROLE_TITLE].bits & LOOK_UNDERLINE);
	ck_assert_uint_eq(theme.look[ROLE_SELECTED].back, theme_mono.look[ROLE_SELECTED].back);
	config_release(&c);
	parse(&c, STR("{\"theme\": {\"base\": \"mono\", \"ok\": {\"fg\": \"red\"}}}"));
	config_theme(&c, 256, &theme);
	ck_assert_mem_eq(&theme, &theme_mono, sizeof(theme));
	config_release(&c);
	parse(&c, STR("{\"theme\": {\"ok\": {\"fg\": 200, \"bg\": 201}}}"));
	config_theme(&c, 16, &theme);
	ck_assert_mem_eq(&theme, &theme_dark, sizeof(theme));
	config_theme(&c, 256, &theme);
	ck_assert_uint_eq(theme.look[ROLE_OK].front, COLOUR_256(200));
	config_release(&c);
	parse(&c, STR("{\"theme\": {\"stalled\": {\"bold\": false}}}"));
	config_theme(&c, 16, &theme);
	ck_assert_mem_eq(&theme, &theme_dark, sizeof(theme));
	config_release(&c);
}
END_TEST

START_TEST(one_of_each_mistake)
{
	struct config c;
	struct buf text = { 0 }, got = { 0 }, want = { 0 };

	read_all(fixture("mistakes.json"), &text);
	read_all(fixture("mistakes.expected"), &want);
	config_init(&c, "mistakes.json");
	config_parse(&c, buf_str(&text));
	for (uint32_t i = 0; i < c.problems.n; i++) {
		size_t start = got.n;
		struct str line;

		buf_printf(&got, "%s\n", c.problems.v[i]);
		line = str_make(got.p + start, got.n - start);
		ck_assert_msg(start + line.n <= want.n &&
				      memcmp(want.p + start, line.p, line.n) == 0,
			      "not expected: %s", c.problems.v[i]);
	}
	ck_assert_uint_eq(got.n, want.n);

	/* what is wrong has its default, what is right beside it counts */
	ck_assert_str_eq(c.theme, "dark");
	ck_assert(!c.looks[ROLE_TITLE].has_bold && !c.looks[ROLE_ESCAPED].has_front);
	ck_assert(!c.looks[ROLE_SELECTED].has_front && !c.looks[ROLE_SELECTED].has_back);
	ck_assert(c.looks[ROLE_SELECTED].has_underline && c.looks[ROLE_SELECTED].underline);
	ck_assert(!c.looks[ROLE_ERROR].has_front && !c.looks[ROLE_ERROR].has_back);
	ck_assert_uint_eq(c.keys.n, 2);
	ck_assert_uint_eq(c.keys.v[0].code, KEY_ENTER);
	ck_assert_str_eq(c.keys.v[0].command, "open");
	ck_assert_str_eq(c.keys.v[1].command, "up");
	ck_assert(c.mouse && !c.ascii);
	ck_assert(c.approve == 0.9 && c.human == 0.7);
	ck_assert_uint_eq(c.max_line_bytes, FRAME_MAX_BYTES);
	config_release(&c);
	buf_release(&text);
	buf_release(&got);
	buf_release(&want);
}
END_TEST

START_TEST(the_whole_must_be_an_object)
{
	assert_problems("[1]", "c.json:1:1: the configuration must be an object, not an array");
	assert_problems("// x\n  null",
			"c.json:2:3: the configuration must be an object, not null");
	assert_problems("\"a\"", "c.json:1:1: the configuration must be an object, not \"a\"");
	assert_problems("17", "c.json:1:1: the configuration must be an object, not 17");
}
END_TEST

START_TEST(theme_mistakes)
{
	assert_problems(
		"{\"theme\": \"blue\"}",
		"c.json:1:11: theme must be \"dark\", \"light\", \"mono\" or an object of roles, "
		"not \"blue\"");
	assert_problems(
		"{\"theme\": []}",
		"c.json:1:11: theme must be \"dark\", \"light\", \"mono\" or an object of roles, "
		"not an array");
	assert_problems(
		"{\"theme\": {\"ok\": {\"fg\": -1}}}",
		"c.json:1:25: theme.ok.fg must be a colour such as red, bright-red or default, or "
		"a number from 0 to 255, not -1");
	assert_problems("{\"theme\": {\"ok\": {\"fg\": \"default\", \"bg\": \"default\"}}}", "");
	assert_problems("{\"theme\": {\"ok\": {\"bg\": \"red\", \"fg\": \"red\"}}}",
			"c.json:1:38: theme.ok: fg and bg must differ, or nothing could be read");
}
END_TEST

START_TEST(threshold_mistakes)
{
	assert_problems("{\"thresholds\": 1}",
			"c.json:1:16: thresholds must be an object of approve and human, not 1");
	assert_problems("{\"thresholds\": {\"human\": 1.5}}",
			"c.json:1:26: thresholds.human must be a number from 0 to 1, not 1.5");
	assert_problems("{\"thresholds\": {\"human\": \"1\"}}",
			"c.json:1:26: thresholds.human must be a number from 0 to 1, not \"1\"");
	assert_problems("{\"thresholds\": {\"approve\": 1e999}}",
			"c.json:1:28: thresholds.approve must be a number from 0 to 1, not 1e999");
	/* against the default of the other one */
	assert_problems(
		"{\"thresholds\": {\"approve\": 0.5}}",
		"c.json:1:28: thresholds.human (0.7) must not be above thresholds.approve (0.5)");
	assert_problems("{\"thresholds\": {\"human\": 0.9}}", "");
	assert_problems("{\"thresholds\": {\"approve\": 0, \"human\": 0}}", "");
}
END_TEST

START_TEST(agents_to_run)
{
	struct config c;

	parse(&c, STR("{\"agents\": [{\"name\": \"dev\", \"command\": [\"my-agent\", \"\", \"-x\"], "
		      "\"folder\": \"/srv\", \"env\": [\"KEY\"], \"role\": \"worker\", "
		      "\"capabilities\": [\"c\"]}, {\"name\": \"b\", \"command\": [\"x\"]}]}"));
	assert_problems_of(&c, "");
	ck_assert_uint_eq(c.agents.n, 2);
	ck_assert_str_eq(c.agents.v[0].name, "dev");
	ck_assert_uint_eq(c.agents.v[0].command.n, 3);
	ck_assert_str_eq(c.agents.v[0].command.v[1], "");
	ck_assert_str_eq(c.agents.v[0].folder, "/srv");
	ck_assert_str_eq(c.agents.v[0].env.v[0], "KEY");
	ck_assert_str_eq(c.agents.v[0].role, "worker");
	ck_assert_str_eq(c.agents.v[0].capabilities.v[0], "c");
	ck_assert_ptr_null(c.agents.v[1].folder);
	config_release(&c);
	/* one that is wrong is left out, the others run */
	parse(&c, STR("{\"agents\": [{\"name\": \"a\"}, {\"name\": \"b\", \"command\": [\"x\"]}]}"));
	assert_problems_of(&c, "c.json:1:13: an agent needs a name and a command");
	ck_assert_uint_eq(c.agents.n, 1);
	config_release(&c);
	assert_problems("{\"agents\": {}}", "c.json:1:12: agents must be an array of objects, not an object");
	assert_problems("{\"agents\": [{\"name\": \"../x\", \"command\": [\"x\"]}]}",
			"c.json:1:22: agents.name must be up to 64 letters, digits, . _ and -, not a dot "
			"first, not \"../x\"");
	assert_problems("{\"agents\": [{\"name\": \"a\", \"command\": \"rm -rf\"}]}",
			"c.json:1:38: agents.command must be an array of a program and its arguments; no "
			"shell reads it, not \"rm -rf\"");
	assert_problems("{\"agents\": [{\"name\": \"a\", \"command\": []}]}",
			"c.json:1:38: agents.command must be an array of a program and its arguments; no "
			"shell reads it, not an array");
	assert_problems("{\"agents\": [{\"name\": \"a\", \"command\": [\"x\"], \"environment\": 1}]}",
			"c.json:1:45: no part of an agent \"environment\"; there are name, command, prompt, "
			"mode, dialect, folder, env, role, capabilities, speaks");
	parse(&c, STR("{\"agents\": [{\"name\": \"a\", \"command\": [\"x\"], \"dialect\": \"acp\", "
		      "\"prompt\": \"@TASK.md\", \"mode\": \"plan\"}]}"));
	assert_problems_of(&c, "");
	ck_assert_str_eq(c.agents.v[0].dialect, "acp");
	ck_assert_str_eq(c.agents.v[0].prompt, "@TASK.md");
	ck_assert_str_eq(c.agents.v[0].mode, "plan");
	config_release(&c);
	assert_problems("{\"agents\": [{\"name\": \"a\", \"command\": [\"x\"], \"dialect\": \"latin\"}]}",
			"c.json:1:56: agents.dialect must be \"claude\", \"codex\", \"acp\" or \"none\", not "
			"\"latin\"");
	assert_problems("{\"agents\": [{\"name\": \"a\", \"command\": [\"x\"], \"prompt\": \"\"}]}",
			"c.json:1:55: agents.prompt must be a text, or \"@FILE\", not \"\"");
	assert_problems("{\"agents\": [{\"name\": \"a\", \"command\": [\"x\"]}, {\"name\": \"a\", "
			"\"command\": [\"y\"]}]}",
			"c.json:1:46: two agents are called \"a\"; the first one counts");
}
END_TEST

START_TEST(team)
{
	struct config c;

	parse(&c, STR("{\"team\": {\"url\": \"postgres://h/t\", \"lease\": 10, \"claim_on_open\": true}}"));
	assert_problems_of(&c, "");
	ck_assert_str_eq(c.team_url, "postgres://h/t");
	ck_assert_int_eq(c.team_lease_s, 10);
	ck_assert(c.team_claim_on_open);
	config_release(&c);
	assert_problems("{\"team\": {\"url\": null}}", "");
	assert_problems("{\"team\": 1}", "c.json:1:10: team must be an object of url, lease and "
					 "claim_on_open, not 1");
	assert_problems("{\"team\": {\"url\": \"db1/team\"}}",
			"c.json:1:18: team.url must be an address, postgresql://HOST/DATABASE, or null, not "
			"\"db1/team\"");
	assert_problems("{\"team\": {\"lease\": 9}}",
			"c.json:1:20: team.lease must be a number of seconds from 10 to 3600, not 9");
	assert_problems("{\"team\": {\"poll\": 1}}",
			"c.json:1:11: no setting of team \"poll\"; there are url, lease, claim_on_open");
	assert_problems("{\"team\": {\"lease\": 10, \"lease\": 20}}",
			"c.json:1:24: \"lease\" is given twice; the first one counts");
}
END_TEST

START_TEST(number_and_text_limits)
{
	assert_problems("{\"max_line\": 1073741824}", "");
	assert_problems("{\"cache\": 0}", "");
	assert_problems("{\"cache\": -1}", "c.json:1:11: cache must be a number of megabytes from 0 to "
					  "1048576, not -1");
	assert_problems("{\"max_line\": 1073741825}",
			"c.json:1:14: max_line must be a number of bytes from 1 to 1073741824, not "
			"1073741825");
	assert_problems(
		"{\"max_line\": 1.5}",
		"c.json:1:14: max_line must be a number of bytes from 1 to 1073741824, not 1.5");
	assert_problems("{\"max_line\": 99999999999999999999}",
			"c.json:1:14: max_line must be a number of bytes from 1 to 1073741824, not "
			"99999999999999999999");
	assert_problems("{\"keys\": {\"a\": \"x\\u0000y\"}}",
			"c.json:1:16: \"a\" must be a command line, or null to unbind the key, not "
			"\"x\\u0000y\"");
	/* nothing that steers a terminal, and not the whole novel */
	assert_problems("{\"\\u001b]0;\\u202e\\\"\\\\\": 1}",
			"c.json:1:2: no setting \"\\u001b]0;\\u202e\\\"\\\\\"; there are theme, "
			"keys, mouse, ascii, advance, thresholds, as, escalate_to, reason_codes, reviewers, "
			"reviewers_group, team, notices, agents, max_line, cache");
	assert_problems("{\"ascii\": \"0123456789012345678901234567890123456789\"}",
			"c.json:1:11: ascii must be true or false, not "
			"\"0123456789012345678901234567890123456789\"");
	assert_problems("{\"ascii\": \"0123456789012345678901234567890123456789x\"}",
			"c.json:1:11: ascii must be true or false, not "
			"\"0123456789012345678901234567890123456789...\"");
	assert_problems("{\"ascii\": 10000000000000000000000000000000000000001}",
			"c.json:1:11: ascii must be true or false, not "
			"1000000000000000000000000000000000000000...");
}
END_TEST

START_TEST(places_count_characters_and_skip_comments)
{
	assert_problems("/* \" { é */ {/**/\"mouse\"/*:*/:/*\n*/ 1/**/}",
			"c.json:2:4: mouse must be true or false, not 1");
	assert_problems("{ // \"mouse\": 1, {\r\"ascii\" : 2 }",
			"c.json:1:30: ascii must be true or false, not 2");
	assert_problems("{\"keys\": {\"a\": \"\\\"}\\\\\"}, \"mouse\": 1}",
			"c.json:1:35: mouse must be true or false, not 1");
	assert_problems("{\"keys\": {\"a\": \"日本\"}, \"mouse\": 1}",
			"c.json:1:32: mouse must be true or false, not 1");
	assert_problems("\xef\xbb\xbf{\"mouse\": 1}",
			"c.json:1:11: mouse must be true or false, not 1");
	assert_problems("{\r\n\"mouse\":\r\n1}", "c.json:3:1: mouse must be true or false, not 1");
	assert_problems(
		"{\"keys\":[[[1,{\"a\":2}],-1e5,true]],\"mouse\":1}",
		"c.json:1:9: keys must be an object of keys and command lines, not an array\n"
		"c.json:1:43: mouse must be true or false, not 1");
}
END_TEST

static void assert_starts(struct str text, const char *want)
{
	struct config c;

	parse(&c, text);
	ck_assert_uint_eq(c.problems.n, 1);
	ck_assert_msg(str_starts(str_of(c.problems.v[0]), str_of(want)), "\"%s\", not \"%s...\"",
		      c.problems.v[0], want);
	ck_assert(str_ends(str_of(c.problems.v[0]), STR("; no setting of this file is used")));
	assert_defaults(&c);
	config_release(&c);
}

/* The reasons are yyjson's words, which may change. */
START_TEST(broken_json_tells_the_place)
{
	struct buf deep = { 0 };

	assert_starts(STR("{\"mouse\": false,\n  \"ascii\": tru }"), "c.json:2:12: not JSON: ");
	assert_starts(STR("{\"mouse\": false"), "c.json:1:16: not JSON: ");
	assert_starts(STR("{\"mouse\": false} x"), "c.json:1:18: not JSON: ");
	assert_starts(STR("{\"mouse\": false /* "), "c.json:1:");
	assert_starts(STR("// nothing else"), "c.json:1:");
	assert_starts(STR("{\"theme\": \"\xff\"}"), "c.json:1:12: not JSON: ");
	for (int i = 0; i < 129; i++)
		buf_adds(&deep, "[");
	assert_starts(buf_str(&deep), "c.json:1:1: not JSON: nested deeper than 128 levels");
	buf_release(&deep);
}
END_TEST

START_TEST(relaxed_reading_has_the_same_depth_limit)
{
	struct json_reader r = { 0 };
	struct buf b = { 0 };
	yyjson_val *root;

	/* brackets and quotes in comments do not count */
	buf_adds(&b, "/* \" *//*[*/ // \"\n");
	for (int i = 0; i < 200; i++)
		buf_adds(&b, "/*[*/ //{\n");
	buf_adds(&b, "[1,]");
	ck_assert_int_eq(json_read_relaxed(&r, buf_str(&b), &root), JSON_OK);
	ck_assert(yyjson_is_arr(root));
	ck_assert_int_eq(json_read(&r, STR("[1,]"), &root), JSON_NOT);
	ck_assert_ptr_null(root);
	ck_assert_int_eq(json_read(&r, STR("[1]//"), &root), JSON_NOT);
	buf_clear(&b);
	buf_adds(&b, "/* \" */");
	for (int i = 0; i < 200; i++)
		buf_adds(&b, "/**//**/[");
	ck_assert_int_eq(json_read_relaxed(&r, buf_str(&b), &root), JSON_TOO_DEEP);
	ck_assert_ptr_null(root);
	json_reader_release(&r);
	buf_release(&b);
}
END_TEST

/* {"keys": {…}}, each a key of its own. */
static void add_keys(struct buf *b, int n)
{
	buf_adds(b, "{\"keys\": {");
	for (int i = 0; i < n; i++) {
		char key[4];
		size_t bytes = utf8_encode(0x4e00 + (uint32_t)i, key);

		buf_printf(b, "\"%.*s\": \"down\",", (int)bytes, key);
	}
	buf_adds(b, "}}");
}

START_TEST(very_many_members)
{
	struct buf b = { 0 };
	struct config c;

	add_keys(&b, CONFIG_MEMBERS_MAX);
	parse(&c, buf_str(&b));
	assert_problems_of(&c, "");
	ck_assert_uint_eq(c.keys.n, CONFIG_MEMBERS_MAX);
	config_release(&c);
	buf_clear(&b);
	add_keys(&b, CONFIG_MEMBERS_MAX + 1);
	parse(&c, buf_str(&b));
	assert_problems_of(&c, "c.json:1:10: keys must have at most 1000 members, not 1001");
	ck_assert_uint_eq(c.keys.n, 0);
	config_release(&c);
	buf_clear(&b);
	buf_adds(&b, "{\"theme\": {");
	for (int i = 0; i <= CONFIG_MEMBERS_MAX; i++)
		buf_adds(&b, "\"base\": \"light\",");
	buf_adds(&b, "}}");
	parse(&c, buf_str(&b));
	assert_problems_of(&c, "c.json:1:11: theme must have at most 1000 members, not 1001");
	assert_defaults(&c);
	config_release(&c);
	buf_release(&b);
}
END_TEST

/* A folder of its own, gone afterwards. */
static char folder[64];

static void make_folder(void)
{
	snprintf(folder, sizeof(folder), "/tmp/gavel-config-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(folder));
}

static void remove_folder(void)
{
	char command[128];

	snprintf(command, sizeof(command), "rm -rf '%s'", folder);
	ck_assert_int_eq(system(command), 0);
}

static const char *in_folder(const char *name)
{
	static char path[256];

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	return path;
}

static void write_file(const char *name, struct str text)
{
	FILE *f = fopen(in_folder(name), "wb");

	ck_assert_ptr_nonnull(f);
	fwrite(text.p, 1, text.n, f);
	fclose(f);
}

START_TEST(the_usual_places)
{
	struct config c;

	mkdir(in_folder("gavel"), 0700);
	mkdir(in_folder(".config"), 0700);
	mkdir(in_folder(".config/gavel"), 0700);
	write_file("gavel/config.json", STR("{\"theme\": \"light\"}"));
	write_file(".config/gavel/config.json", STR("{\"theme\": \"mono\"}"));
	setenv("HOME", folder, 1);
	setenv("XDG_CONFIG_HOME", folder, 1);
	config_load(&c, NULL);
	ck_assert_str_eq(c.theme, "light");
	ck_assert_str_eq(c.file, in_folder("gavel/config.json"));
	config_release(&c);
	for (int i = 0; i < 3; i++) {
		if (i == 0)
			unsetenv("XDG_CONFIG_HOME");
		else
			setenv("XDG_CONFIG_HOME", i == 1 ? "" : "relative", 1);
		config_load(&c, NULL);
		ck_assert_str_eq(c.theme, "mono");
		ck_assert_str_eq(c.file, in_folder(".config/gavel/config.json"));
		config_release(&c);
	}
	unsetenv("XDG_CONFIG_HOME");
	unsetenv("HOME");
	config_load(&c, NULL);
	assert_defaults(&c);
	ck_assert_ptr_null(c.file);
	assert_problems_of(&c, "");
	config_release(&c);
}
END_TEST

static void assert_unreadable(const char *path, const char *why)
{
	struct config c;
	char want[512];

	config_load(&c, path);
	ck_assert_uint_eq(c.problems.n, 1);
	snprintf(want, sizeof(want), "%s: cannot be read: %s; defaults are used", path, why);
	ck_assert_str_eq(c.problems.v[0], want);
	assert_defaults(&c);
	config_release(&c);
}

/* Judged by itself: the command line refuses it before, but it may be exchanged in between. */
START_TEST(what_others_can_write_is_not_used)
{
	struct config c;
	struct err err;
	char want[600];

	write_file("open.json", STR("{\"theme\": \"light\"}"));
	for (int i = 0; i < 2; i++) {
		ck_assert_int_eq(chmod(in_folder("open.json"), i ? 0602 : 0620), 0);
		ck_assert_int_eq(config_check(in_folder("open.json"), &err), -1);
		config_load(&c, in_folder("open.json"));
		snprintf(want, sizeof(want), "%s; defaults are used", err.text);
		ck_assert_uint_eq(c.problems.n, 1);
		ck_assert_str_eq(c.problems.v[0], want);
		assert_defaults(&c);
		config_release(&c);
	}
	ck_assert_int_eq(chmod(in_folder("open.json"), 0644), 0);
	ck_assert_int_eq(config_check(in_folder("open.json"), &err), 0);
	ck_assert_int_eq(config_check(in_folder("none.json"), &err), 0);
	ck_assert_int_eq(config_check("/dev/null", &err), 0);
	ck_assert_int_eq(config_check("/etc/passwd", &err), 0); /* root's */
}
END_TEST

START_TEST(missing_is_fine_unless_named_and_unreadable_is_not)
{
	struct config c;
	struct buf big = { 0 };

	setenv("XDG_CONFIG_HOME", folder, 1);
	config_load(&c, NULL);
	assert_defaults(&c);
	assert_problems_of(&c, "");
	ck_assert_str_eq(c.file, in_folder("gavel/config.json"));
	config_release(&c);
	/* gavel is a file there, so nothing can be in it */
	write_file("gavel", STR(""));
	config_load(&c, NULL);
	assert_problems_of(&c, "");
	config_release(&c);

	assert_unreadable(in_folder("none.json"), "No such file or directory");
	assert_unreadable(in_folder(""), "Is a directory");
	ck_assert_int_eq(mkfifo(in_folder("pipe"), 0600), 0);
	assert_unreadable(in_folder("pipe"), "Not a regular file");
	write_file("secret.json", STR("{}"));
	chmod(in_folder("secret.json"), 0);
	if (geteuid() != 0)
		assert_unreadable(in_folder("secret.json"), "Permission denied");
	for (int i = 0; i <= CONFIG_MAX_BYTES; i++)
		buf_addc(&big, ' ');
	write_file("big.json", buf_str(&big));
	assert_unreadable(in_folder("big.json"), "File too large");
	big.n--;
	write_file("big.json", buf_str(&big));
	config_load(&c, in_folder("big.json"));
	assert_problems_of(&c, "");
	config_release(&c);
	buf_release(&big);
	config_load(&c, "/dev/null");
	assert_defaults(&c);
	assert_problems_of(&c, "");
	config_release(&c);
}
END_TEST

START_TEST(reviewers_are_names)
{
	struct trusted t;
	struct config c;

	parse(&c, STR("{\"reviewers\": [\"bob\", \"eve\"], \"reviewers_group\": \"team\"}"));
	assert_problems_of(&c, "");
	t = config_trusted(&c);
	ck_assert_uint_eq(t.n, 2);
	ck_assert_str_eq(t.users[0], "bob");
	ck_assert_str_eq(t.users[1], "eve");
	ck_assert_str_eq(t.group, "team");
	config_release(&c);
	/* half a list would hide the mistake */
	parse(&c, STR("{\"reviewers\": [\"bob\", 7], \"reviewers_group\": []}"));
	ck_assert_uint_eq(c.problems.n, 2);
	t = config_trusted(&c);
	ck_assert_uint_eq(t.n, 0);
	ck_assert_ptr_null(t.group);
	config_release(&c);
}
END_TEST

START_TEST(notices_of_two_kinds)
{
	struct config c;

	parse(&c, STR("{\"notices\": [\"bell\", \"osc777\"]}"));
	assert_problems_of(&c, "");
	ck_assert_uint_eq(c.notices, 5);
	ck_assert_uint_eq(c.notice_command.n, 0);
	config_release(&c);
	parse(&c, STR("{\"notices\": {\"terminal\": [\"osc9\"], \"command\": [\"/bin/tell\", \"\", \"a b\"]}}"));
	assert_problems_of(&c, "");
	ck_assert_uint_eq(c.notices, 2);
	ck_assert_uint_eq(c.notice_command.n, 3);
	ck_assert_str_eq(c.notice_command.v[0], "/bin/tell");
	ck_assert_str_eq(c.notice_command.v[1], "");
	ck_assert_str_eq(c.notice_command.v[2], "a b");
	ck_assert_ptr_null(c.notice_command.v[3]);
	config_release(&c);
	parse(&c, STR("{\"notices\": {\"command\": null}}"));
	assert_problems_of(&c, "");
	config_release(&c);
	assert_problems("{\"notices\": {\"command\": [\"tell\"]}}", "");
	assert_problems("{\"notices\": {\"comand\": []}}",
			"c.json:1:14: no kind of notice \"comand\"; there are terminal, command");
	assert_problems("{\"notices\": {\"terminal\": [\"horn\"]}}",
			"c.json:1:26: notices.terminal must be an array of \"bell\", \"osc9\" and "
			"\"osc777\", not an array");
	/* beside the log there may be any program of that name */
	for (const char *const *bad = (const char *const[]){ "[]", "[\"./tell\"]", "[\"bin/tell\"]",
							     "[\"\"]", "[1]", "[\"a\", 1]",
							     "[\"a\\u0000\"]", "[\"a\", \"\\n\"]",
							     "\"tell\"", "{}", NULL };
	     *bad; bad++) {
		struct buf text = { 0 };

		buf_printf(&text, "{\"notices\": {\"command\": %s}}", *bad);
		parse(&c, buf_str(&text));
		ck_assert_msg(c.problems.n == 1 && strstr(c.problems.v[0], "notices.command must"),
			      "%s: %s", *bad, c.problems.n ? c.problems.v[0] : "no problem");
		ck_assert_uint_eq(c.notice_command.n, 0);
		config_release(&c);
		buf_release(&text);
	}
}
END_TEST

START_TEST(others_may_add_problems)
{
	struct config c;

	parse(&c, STR("{\"keys\": {\n \"a\": \"fly\"}}"));
	ck_assert_uint_eq(c.problems.n, 0);
	config_problem(&c, c.keys.v[0].line, c.keys.v[0].column, "no command %s",
		       c.keys.v[0].command);
	ck_assert_str_eq(c.problems.v[0], "c.json:2:7: no command fly");
	config_release(&c);
}
END_TEST

/* Help, example file and defaults are one: the help is a configuration, its values change nothing,
 * every row is in it, and the file in data/ is the help. */
START_TEST(the_example_is_the_help_and_the_defaults)
{
	struct buf help = { 0 }, file = { 0 };
	const char *data = getenv("GAVEL_DATADIR");
	struct json_reader reader = { 0 };
	struct config c;
	yyjson_val *root;
	char path[4096];
	size_t n;
	const struct setting *rows = config_settings(&n);

	config_help(&help);
	parse(&c, buf_str(&help));
	assert_problems_of(&c, "");
	assert_defaults(&c);
	config_release(&c);
	ck_assert_int_eq(json_read_relaxed(&reader, buf_str(&help), &root), JSON_OK);
	ck_assert_uint_eq(yyjson_obj_size(root), n);
	for (size_t i = 0; i < n; i++) {
		struct buf b = { 0 };

		ck_assert_ptr_nonnull(json_get(root, rows[i].name));
		buf_printf(&b, "{\"%s\": %s}", rows[i].name,
			   rows[i].example ? rows[i].example : rows[i].initial);
		parse(&c, buf_str(&b));
		assert_problems_of(&c, "");
		config_release(&c);
		buf_release(&b);
	}
	json_reader_release(&reader);
	snprintf(path, sizeof(path), "%s/config.example.json", data ? data : "data");
	read_all(path, &file);
	ck_assert_msg(str_eq(buf_str(&file), buf_str(&help)),
		      "data/config.example.json is not what config_help prints:\n%s", help.p);
	buf_release(&help);
	buf_release(&file);
}
END_TEST

/* Whatever the text is, reading ends and the thresholds are in order; places are checked inside. */
START_TEST(mangled_texts_do_no_harm)
{
	struct buf text = { 0 }, mangled = { 0 };
	uint32_t state = 12345;

	read_all(fixture("mistakes.json"), &text);
	for (int round = 0; round < 3000; round++) {
		struct config c;

		buf_clear(&mangled);
		buf_add_str(&mangled, buf_str(&text));
		for (int k = 0; k < 1 + round % 4; k++) {
			state = state * 1664525 + 1013904223;
			mangled.p[(state >> 8) % mangled.n] = "\"\\/*{}[],: \n1tx\xc3"[state >> 28];
		}
		parse(&c, buf_str(&mangled));
		if (!(c.human <= c.approve && c.approve <= 1 && c.human >= 0))
			ck_abort_msg("round %d", round);
		config_release(&c);
	}
	buf_release(&text);
	buf_release(&mangled);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("config");
	TCase *t = tcase_create("values");

	tcase_add_test(t, nothing_said_is_the_defaults);
	tcase_add_test(t, every_setting_is_read);
	tcase_add_test(t, terminals_get_the_colours_they_have);
	tcase_add_test(t, one_of_each_mistake);
	tcase_add_test(t, the_whole_must_be_an_object);
	tcase_add_test(t, theme_mistakes);
	tcase_add_test(t, threshold_mistakes);
	tcase_add_test(t, agents_to_run);
	tcase_add_test(t, team);
	tcase_add_test(t, number_and_text_limits);
	tcase_add_test(t, very_many_members);
	tcase_add_test(t, reviewers_are_names);
	tcase_add_test(t, notices_of_two_kinds);
	tcase_add_test(t, others_may_add_problems);
	tcase_add_test(t, the_example_is_the_help_and_the_defaults);
	suite_add_tcase(s, t);
	t = tcase_create("text");
	tcase_add_test(t, places_count_characters_and_skip_comments);
	tcase_add_test(t, broken_json_tells_the_place);
	tcase_add_test(t, relaxed_reading_has_the_same_depth_limit);
	tcase_add_test(t, mangled_texts_do_no_harm);
	suite_add_tcase(s, t);
	t = tcase_create("files");
	tcase_add_checked_fixture(t, make_folder, remove_folder);
	tcase_add_test(t, the_usual_places);
	tcase_add_test(t, missing_is_fine_unless_named_and_unreadable_is_not);
	tcase_add_test(t, what_others_can_write_is_not_used);
	suite_add_tcase(s, t);
	return unit_run(s);
}
