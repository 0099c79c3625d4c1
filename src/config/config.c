/* The table of settings and the configuration parser: the text becomes a JSON tree, each member of
 * the root is looked up in the table, and the row's setter validates and stores the value. */
#include "config/config.h"

#include "base/io.h"
#include "config/config_agents.h"
#include "config/config_reading.h"
#include "config/config_theme.h"
#include "config/options.h"
#include "draw/key.h"
#include "wire/frame.h"

#include <fcntl.h>
#include <stddef.h>
#include <stdlib.h>
#include <unistd.h>

/* Not empty, and without control characters. */
static bool is_clean(struct str s)
{
	for (size_t i = 0; i < s.n; i++)
		if ((unsigned char)s.p[i] < 0x20 || s.p[i] == 0x7f)
			return false;
	return s.n > 0;
}

/* The member of struct config that a row stores into. */
static void *field_of(const struct config_reading *r, const struct setting *s)
{
	return (char *)r->c + s->field;
}

static void set_flag(struct config_reading *r, const struct setting *s, yyjson_val *v)
{
	config_set_bool(r, s->name, v, field_of(r, s));
}

static bool read_number(struct config_reading *r, const struct setting *s, yyjson_val *v,
			int64_t min, int64_t max, int64_t *out)
{
	bool valid = json_int(v, out) && *out >= min && *out <= max;

	if (!valid)
		config_invalid(r, v, s->name, s->takes);
	return valid;
}

static void set_max_line(struct config_reading *r, const struct setting *s, yyjson_val *v)
{
	int64_t n;

	if (read_number(r, s, v, 1, 1 << 30, &n))
		r->c->max_line_bytes = (size_t)n;
}

static void set_cache(struct config_reading *r, const struct setting *s, yyjson_val *v)
{
	int64_t n;

	if (read_number(r, s, v, 0, 1 << 20, &n))
		r->c->cache_mb = (uint32_t)n;
}

static void set_thresholds(struct config_reading *r, const struct setting *s, yyjson_val *object)
{
	struct config *c = r->c;
	const double approve = c->approve, human = c->human;
	yyjson_val *key, *v, *last = NULL;
	size_t i, n;

	if (!config_is_object(r, object, s->name, s->takes))
		return;
	yyjson_obj_foreach(object, i, n, key, v) {
		bool is_human = str_is(json_str(key), "human");
		double number;

		if (!is_human && !str_is(json_str(key), "approve")) {
			config_unknown_key(r, key, "threshold", "approve, human");
			continue;
		}
		if (config_is_repeated(r, object, key))
			continue;
		if (!json_number(v, &number) || !(number >= 0 && number <= 1)) {
			config_invalid(r, v, is_human ? "thresholds.human" : "thresholds.approve",
				       "a number from 0 to 1");
			continue;
		}
		*(is_human ? &c->human : &c->approve) = number;
		last = v;
	}
	if (last && c->human > c->approve) {
		config_error(r, last,
			     "thresholds.human (%g) must not be above thresholds.approve (%g)",
			     c->human, c->approve);
		c->approve = approve;
		c->human = human;
	}
}

/* Parses the name of a key to bind. */
static bool read_key(struct config_reading *r, yyjson_val *key, uint32_t *code)
{
	struct str rest = json_str(key);
	char name[CONFIG_VALUE_MAX];

	config_quote(rest, name);
	if (!key_parse(&rest, code) || *code == KEY_MOUSE || *code == KEY_PASTE) {
		config_error(r, key,
			     "no key %s; keys are written a, <Enter>, <C-d>, <Up>, <F1>, <lt>",
			     name);
		return false;
	}
	if (rest.n) {
		config_error(r, key, "%s is more than one key", name);
		return false;
	}
	for (uint32_t i = 0; i < r->c->keys.n; i++)
		if (r->c->keys.v[i].code == *code) {
			config_error(r, key, "%s is bound twice; the first one counts", name);
			return false;
		}
	return true;
}

static void set_keys(struct config_reading *r, const struct setting *s, yyjson_val *object)
{
	yyjson_val *key, *v;
	size_t i, n;

	if (!config_is_object(r, object, s->name, s->takes))
		return;
	yyjson_obj_foreach(object, i, n, key, v) {
		struct str command = json_str(v);
		struct config_place at = config_place_of(r, v);
		struct config_key bound = { .line = at.line, .column = at.column };
		char name[CONFIG_VALUE_MAX];

		if (!read_key(r, key, &bound.code))
			continue;
		if (str_starts(command, STR(":")))
			command = str_from(command, 1);
		if (!yyjson_is_null(v) && !is_clean(command)) {
			config_quote(json_str(key), name);
			config_invalid(r, v, name, "a command line, or null to unbind the key");
			continue;
		}
		bound.command = yyjson_is_null(v) ? NULL : str_dup(command);
		vec_push(&r->c->keys, bound);
	}
}

static void set_text(struct config_reading *r, const struct setting *s, yyjson_val *v)
{
	struct str text = json_str(v);
	char **out = field_of(r, s);

	if (yyjson_is_null(v) || is_clean(text)) {
		free(*out);
		*out = yyjson_is_null(v) ? NULL : str_dup(text);
	} else {
		config_invalid(r, v, s->name, s->takes);
	}
}

static void set_terminal_notices(struct config_reading *r, const char *name, const char *takes,
				 yyjson_val *array)
{
	static const char *const words[] = { "bell", "osc9", "osc777" };
	unsigned wanted = 0;
	yyjson_val *v;
	size_t i, n;
	bool valid = config_is_array(array, 0);

	if (valid)
		yyjson_arr_foreach(array, i, n, v) {
			unsigned bit = 0;

			for (unsigned k = 0; k < 3; k++)
				bit |= str_is(json_str(v), words[k]) ? 1u << k : 0;
			wanted |= bit;
			valid = valid && bit;
		}
	if (valid)
		r->c->notices = wanted;
	else
		config_invalid(r, array, name, takes);
}

/* A program that is found through PATH or by its full path: one given relative to the current folder
 * would be whatever lies beside the log. */
static void set_notice_command(struct config_reading *r, yyjson_val *array)
{
	struct config_words *out = &r->c->notice_command;
	yyjson_val *v;
	size_t i, n;
	struct str program = json_str(yyjson_arr_get_first(array));
	bool valid = config_is_array(array, 1) && is_clean(program) &&
		     (program.p[0] == '/' || !memchr(program.p, '/', program.n));

	if (valid)
		yyjson_arr_foreach(array, i, n, v)
			valid = valid && yyjson_is_str(v) && (!json_str(v).n || is_clean(json_str(v)));
	if (!valid && !yyjson_is_null(array)) {
		config_invalid(r, array, "notices.command",
			       "an array of a program, by its name in PATH or its full path, and "
			       "its arguments, or null");
		return;
	}
	config_free_words(out);
	if (yyjson_is_null(array))
		return;
	yyjson_arr_foreach(array, i, n, v)
		vec_push(out, str_dup(json_str(v)));
	vec_push(out, NULL);
	out->n--;
}

/* The array is that of the terminal. */
static void set_notices(struct config_reading *r, const struct setting *s, yyjson_val *value)
{
	yyjson_val *key, *v;
	size_t i, n;

	if (!yyjson_is_obj(value)) {
		set_terminal_notices(r, s->name, s->takes, value);
		return;
	}
	if (!config_is_object(r, value, s->name, s->takes))
		return;
	yyjson_obj_foreach(value, i, n, key, v) {
		bool command = str_is(json_str(key), "command");

		if (!command && !str_is(json_str(key), "terminal"))
			config_unknown_key(r, key, "kind of notice", "terminal, command");
		else if (config_is_repeated(r, value, key))
			continue;
		else if (command)
			set_notice_command(r, v);
		else
			set_terminal_notices(r, "notices.terminal",
					     "an array of \"bell\", \"osc9\" and \"osc777\"", v);
	}
}

/* One invalid word keeps all defaults: half a list would hide the error. */
static void set_words(struct config_reading *r, const struct setting *s, yyjson_val *array)
{
	struct config_words *out = field_of(r, s);
	yyjson_val *v;
	size_t i, n;
	bool valid = config_is_array(array, 0);

	if (valid)
		yyjson_arr_foreach(array, i, n, v)
			valid = valid && is_clean(json_str(v));
	if (!valid) {
		config_invalid(r, array, s->name, s->takes);
		return;
	}
	config_free_words(out);
	yyjson_arr_foreach(array, i, n, v)
		vec_push(out, str_dup(json_str(v)));
}

static void set_team_url(struct config_reading *r, yyjson_val *v)
{
	struct str url = json_str(v);

	/* what else is wrong with it is said where it is used */
	if (!yyjson_is_null(v) &&
	    (!is_clean(url) || (!str_starts(url, STR("postgresql://")) && !str_starts(url, STR("postgres://"))))) {
		config_invalid(r, v, "team.url", "an address, postgresql://HOST/DATABASE, or null");
		return;
	}
	free(r->c->team_url);
	r->c->team_url = yyjson_is_null(v) ? NULL : str_dup(url);
}

static void set_team(struct config_reading *r, const struct setting *s, yyjson_val *object)
{
	yyjson_val *key, *v;
	size_t i, n;
	int64_t lease;

	if (!config_is_object(r, object, s->name, s->takes))
		return;
	yyjson_obj_foreach(object, i, n, key, v) {
		bool is_url = str_is(json_str(key), "url"), is_lease = str_is(json_str(key), "lease");

		if (!is_url && !is_lease && !str_is(json_str(key), "claim_on_open"))
			config_unknown_key(r, key, "setting of team", "url, lease, claim_on_open");
		else if (config_is_repeated(r, object, key))
			continue;
		else if (is_url)
			set_team_url(r, v);
		else if (!is_lease)
			config_set_bool(r, "team.claim_on_open", v, &r->c->team_claim_on_open);
		else if (!json_int(v, &lease) || lease < CONFIG_LEASE_MIN_S || lease > CONFIG_LEASE_MAX_S)
			config_invalid(r, v, "team.lease", "a number of seconds from 10 to 3600");
		else
			r->c->team_lease_s = (int)lease;
	}
}

#define FIELD(member) offsetof(struct config, member)

static const struct setting settings[] = {
	{ "theme", "\"dark\", \"light\", \"mono\" or an object of roles", "\"dark\"",
	  "{ \"base\": \"light\", \"selected\": { \"fg\": \"black\", \"bg\": 153 } }",
	  "The colours. An object changes the looks of single roles of a base theme (dark unless "
	  "base says another): fg and bg are a colour, bold and underline true or false. Colours "
	  "are black, red, green, yellow, blue, magenta, cyan, white, each also with bright- "
	  "before it, default, or a number from 0 to 255.",
	  config_set_theme },
	{ "keys", "an object of keys and command lines", "{}",
	  "{ \"<C-n>\": \"down\", \"<F2>\": \"filter is:open\", \"Q\": null }",
	  "What keys do, on top of the built-in ones: a command line as typed after the colon, or "
	  "null for nothing. Keys are written a, <Enter>, <C-d>, <Up>, <F1>; < itself is <lt>.",
	  set_keys },
	{ "mouse", "true or false", "true", NULL,
	  "Whether the wheel scrolls and a click selects. Off, the terminal's own selection works "
	  "as usual.",
	  set_flag, FIELD(mouse) },
	{ "ascii", "true or false", "false", NULL, "Draw with nothing but ASCII, as --ascii does.",
	  set_flag, FIELD(ascii) },
	{ "advance", "true or false", "false", NULL,
	  "Whether the next undecided item is selected once a decision is staged. false: the "
	  "selection stays.",
	  set_flag, FIELD(advance) },
	{ "thresholds", "an object of approve and human", "{ \"approve\": 0.9, \"human\": 0.7 }",
	  NULL,
	  "How the confidence of a hand-off's result is judged: from approve on it passes, from "
	  "human on a person decides. Numbers from 0 to 1, human not above approve.",
	  set_thresholds },
	{ "as", "a name, or null", "null", "\"alice\"",
	  "Who decides: the name that decisions carry. null: the name of the login.",
	  set_text, FIELD(as) },
	{ "escalate_to", "a path, or null", "null", "\"/srv/agents/queue.ndjson\"",
	  "The queue that escalations are written to, as --escalate-to gives it.",
	  set_text, FIELD(escalate_to) },
	{ "reason_codes", "an array of words", "[\"out_of_scope\", \"infeasible\"]", NULL,
	  "What is offered as the reason of a rejection.", set_words, FIELD(reason_codes) },
	{ "reviewers", "an array of login names", "[]", "[\"bob\"]",
	  "Whose reply files are believed besides your own: the answers to what you escalated, in "
	  "QUEUE.replies.ndjson. A file that everybody can write to is never believed.",
	  set_words, FIELD(reviewers) },
	{ "reviewers_group", "the name of a group, or null", "null", "\"reviewers\"",
	  "The group that may write to these files. null: one that a group can write to is not "
	  "believed.",
	  set_text, FIELD(reviewers_group) },
	{ "team", "an object of url, lease and claim_on_open",
	  "{ \"url\": null, \"lease\": 120, \"claim_on_open\": false }",
	  "{ \"url\": \"postgresql://db1/team\", \"claim_on_open\": true }",
	  "The team whose inbox you share. url is the address of its store, without a password: what "
	  "gavel, gavel show and gavel check open where no SOURCE is given and nothing is piped to them, "
	  "where gavel ship puts what it reads unless --to is given, and what gavel team looks at. "
	  "Without a user in it, the login is that of PGUSER or of the account. lease: for how many "
	  "seconds, from 10 to 3600, a claim of yours lasts if gavel ends without releasing it. "
	  "claim_on_open: whether the item whose page you open is claimed, and released when you leave "
	  "the page without a decision.",
	  set_team },
	{ "notices",
	  "an array of \"bell\", \"osc9\" and \"osc777\", or an object of terminal and command",
	  "[]", "{ \"terminal\": [\"bell\"], \"command\": [\"/home/alice/bin/tell-me\"] }",
	  "How you are told while a log is followed that an item has opened, comes near its "
	  "deadline or has expired, at most once a second. terminal, or the array alone: the "
	  "terminal's bell, or a notice as terminals with OSC 9 or 777 show it; the text is always "
	  "the same, nothing of a message is in it. command: a program of yours, by its name in "
	  "PATH or its full path, and its arguments, which no shell reads; it gets one JSON object "
	  "on its standard input.",
	  set_notices },
	{ "agents", "an array of objects", "[]",
	  "[{ \"name\": \"dev\", \"command\": [\"my-agent\", \"--json\"], \"folder\": "
	  "\"/srv/work\", \"env\": [\"MY_API_KEY\"] }]",
	  "The agents that gavel run starts. name and command are needed; the command is a program "
	  "and its arguments, which no shell reads. folder is where it works, env the variables "
	  "that it sees besides the usual ones; prompt is what a real agent is to do first, mode "
	  "that in which it begins, dialect what it speaks if its program does not tell, as "
	  "--prompt, --mode and --dialect give them; role and capabilities are told to agents that "
	  "ask who there is. speaks is \"agent\", unless given, or \"session\" for a process that writes "
	  "the lines of several agents and is trusted like a log.",
	  config_set_agents },
	{ "max_line", "a number of bytes from 1 to 1073741824", "16777216", NULL,
	  "The longest message that is read; longer ones are counted and shown as oversize.",
	  set_max_line },
	{ "cache", "a number of megabytes from 0 to 1048576", "2048", NULL,
	  "How much may be kept of big logs that were read, so that they open at once the next "
	  "time. 0: nothing is kept, as with --no-cache.",
	  set_cache },
};
enum { SETTINGS = sizeof(settings) / sizeof(settings[0]) };

const struct setting *config_settings(size_t *n)
{
	*n = SETTINGS;
	return settings;
}

void config_help(struct buf *out)
{
	static const char comment[] = "  // ";
	struct buf line = { 0 };

	buf_adds(out, "// The configuration of gavel: $XDG_CONFIG_HOME/gavel/config.json, or\n"
		      "// ~/.config/gavel/config.json. Every setting is here with its default;\n"
		      "// comments and trailing commas are allowed.\n{\n");
	for (int i = 0; i < SETTINGS; i++) {
		const struct setting *s = &settings[i];

		buf_clear(&line);
		buf_printf(&line, "%s: %s. %s", s->name, s->takes, s->help);
		if (s->set == config_set_theme) {
			buf_adds(&line, " Roles: ");
			config_add_role_names(&line);
			buf_addc(&line, '.');
		}
		buf_adds(out, comment);
		buf_add_wrapped(out, line.p, comment, (int)strlen(comment), 79);
		if (s->example)
			buf_printf(out, "  // \"%s\": %s,\n", s->name, s->example);
		buf_printf(out, "  \"%s\": %s,\n%s", s->name, s->initial,
			   i + 1 < SETTINGS ? "\n" : "");
	}
	buf_adds(out, "}\n");
	buf_release(&line);
}

void config_init(struct config *c, const char *file)
{
	*c = (struct config){ .theme = "dark", .mouse = true, .approve = 0.9, .human = 0.7,
			      .cache_mb = CONFIG_CACHE_MB, .team_lease_s = CONFIG_LEASE_S,
			      .max_line_bytes = FRAME_MAX_BYTES,
			      .file = file ? xstrdup(file) : NULL };
	vec_push(&c->reason_codes, xstrdup("out_of_scope"));
	vec_push(&c->reason_codes, xstrdup("infeasible"));
}

static void read_settings(struct config_reading *r)
{
	struct buf names = { 0 };
	yyjson_val *key, *v;
	size_t i, n;

	if (!config_is_object(r, r->root, "the configuration", "an object"))
		return;
	for (int k = 0; k < SETTINGS; k++)
		buf_printf(&names, "%s%s", k ? ", " : "", settings[k].name);
	yyjson_obj_foreach(r->root, i, n, key, v) {
		const struct setting *s = settings;

		while (s < settings + SETTINGS && !str_is(json_str(key), s->name))
			s++;
		if (s == settings + SETTINGS)
			config_unknown_key(r, key, "setting", names.p);
		else if (!config_is_repeated(r, r->root, key))
			s->set(r, s, v);
	}
	buf_release(&names);
}

void config_parse(struct config *c, struct str text)
{
	struct config_reading r = { .c = c };
	struct json_reader reader = { 0 };
	struct config_place at = { 1, 1 };

	if (str_starts(text, STR("\xef\xbb\xbf")))
		text = str_from(text, 3);
	if (!str_trim(text).n)
		return;
	if (json_read_relaxed(&reader, text, &r.root) == JSON_OK) {
		config_find_places(&r, text);
		if (r.places.n != yyjson_doc_get_val_count(reader.doc))
			BUG("%u places for %zu values", r.places.n,
			    yyjson_doc_get_val_count(reader.doc));
		read_settings(&r);
	} else {
		config_place_advance(
			&at, str_make(text.p, reader.where < text.n ? reader.where : text.n));
		config_problem(c, at.line, at.column,
			       "not JSON: %s; no setting of this file is used", reader.why);
	}
	vec_release(&r.places);
	json_reader_release(&reader);
}

/* Path of the default configuration file; NULL if the environment has no home. */
static char *default_path(void)
{
	struct buf b = { 0 };

	if (io_user_folder("XDG_CONFIG_HOME", ".config", &b))
		buf_adds(&b, "/config.json");
	else
		buf_release(&b);
	return b.p;
}

/* Opens the file without blocking. -1 and errno, EPERM with a reason in err: it must not be obeyed.
 * Devices (/dev/null) are not judged. */
static int open_file(const char *path, struct stat *st, struct err *err)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK), number;

	if (fd < 0)
		return -1;
	if (fstat(fd, st) == 0 &&
	    (!S_ISREG(st->st_mode) || io_check_owner(path, st, true, err) == 0))
		return fd;
	number = err->text[0] ? EPERM : errno;
	close(fd);
	errno = number;
	return -1;
}

int config_check(const char *path, struct err *err)
{
	char *usual = path ? NULL : default_path();
	const char *file = path ? path : usual;
	struct stat st;
	int fd;

	err->text[0] = '\0';
	fd = file ? open_file(file, &st, err) : -1;
	if (fd >= 0)
		close(fd);
	free(usual);
	return err->text[0] ? -1 : 0;
}

/* Reads the whole file; -1 and errno, EFBIG if it is longer than CONFIG_MAX_BYTES, or the reason in
 * err. Only regular files and character devices are read. */
static int read_file(const char *path, struct buf *out, struct err *err)
{
	struct stat st;
	int fd = open_file(path, &st, err), rc = 0, saved;

	if (fd < 0)
		return -1;
	if (!S_ISREG(st.st_mode) && !S_ISCHR(st.st_mode)) {
		errno = S_ISDIR(st.st_mode) ? EISDIR : EINVAL;
		rc = -1;
	}
	if (rc == 0)
		rc = io_read_rest(fd, CONFIG_MAX_BYTES, out);
	saved = errno;
	close(fd);
	errno = saved;
	return rc;
}

void config_load(struct config *c, const char *path)
{
	char *usual = path ? NULL : default_path();
	struct buf text = { 0 }, b = { 0 };
	struct err err = { "" };

	config_init(c, path ? path : usual);
	free(usual);
	if (!c->file)
		return;
	if (read_file(c->file, &text, &err) == 0) {
		config_parse(c, buf_str(&text));
	} else if (err.text[0]) {
		buf_printf(&b, "%s; defaults are used", err.text);
		config_add_problem(c, &b);
	} else if (path || (errno != ENOENT && errno != ENOTDIR)) {
		buf_printf(&b, "%s: cannot be read: %s; defaults are used", c->file,
			   errno == EINVAL ? "Not a regular file" : strerror(errno));
		config_add_problem(c, &b);
	}
	buf_release(&text);
}

struct trusted config_trusted(const struct config *c)
{
	return (struct trusted){ c->reviewers.v, c->reviewers.n, c->reviewers_group };
}

void config_release(struct config *c)
{
	for (uint32_t i = 0; i < c->keys.n; i++)
		free(c->keys.v[i].command);
	vec_release(&c->keys);
	config_free_words(&c->problems);
	config_free_words(&c->reason_codes);
	config_free_words(&c->reviewers);
	config_free_words(&c->notice_command);
	config_free_agents(c);
	free(c->as);
	free(c->reviewers_group);
	free(c->escalate_to);
	free(c->team_url);
	free(c->file);
	*c = (struct config){ 0 };
}
