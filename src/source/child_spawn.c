/* What an agent is started with: its program and its environment. */
#include "source/child_spawn.h"

#include "base/io.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

extern char **environ;

/* ---- the environment ---- */

static const char *const passed_names[] = { "PATH", "HOME",   "USER",  "LOGNAME", "LANG",
				      "TZ",   "TMPDIR", "SHELL", "LC_*",    "XDG_*" };

static bool is_passed(struct str name)
{
	for (size_t i = 0; i < sizeof(passed_names) / sizeof(passed_names[0]); i++) {
		struct str p = str_of(passed_names[i]);

		if (p.p[p.n - 1] == '*' ? str_starts(name, str_make(p.p, p.n - 1))
					: str_eq(name, p))
			return true;
	}
	return false;
}

static bool ends_nocase(struct str name, struct str tail)
{
	return name.n >= tail.n && str_eq_nocase(str_from(name, name.n - tail.n), tail);
}

static bool is_secret(struct str name)
{
	return ends_nocase(name, STR("_KEY")) || ends_nocase(name, STR("_TOKEN")) ||
	       str_contains_nocase(name, STR("SECRET")) ||
	       str_contains_nocase(name, STR("PASSWORD"));
}

static bool is_named(struct str name, const char *const *named)
{
	for (; named && *named; named++)
		if (str_is(name, *named))
			return true;
	return false;
}

static struct str name_of(const char *entry)
{
	const char *equals = strchr(entry, '=');

	return str_make(entry, equals ? (size_t)(equals - entry) : strlen(entry));
}

/* Safe to print in an error message. */
static bool is_plain(struct str name)
{
	for (size_t i = 0; i < name.n; i++)
		if (!isalnum((unsigned char)name.p[i]) && name.p[i] != '_')
			return false;
	return name.n > 0;
}

enum { WITHHELD_BYTES = 200 };

/* Names that look like keys first: their absence breaks an agent most often. */
static char *list_withheld(const char *const *names, uint32_t n)
{
	struct buf text = { 0 };
	uint32_t shown = 0;

	for (int secrets = 1; secrets >= 0; secrets--)
		for (uint32_t i = 0; i < n; i++) {
			struct str name = name_of(names[i]);

			if (is_secret(name) != secrets || !is_plain(name) ||
			    text.n + name.n + 2 > WITHHELD_BYTES)
				continue;
			if (text.n)
				buf_adds(&text, ", ");
			buf_add_str(&text, name);
			shown++;
		}
	if (shown < n)
		buf_printf(&text, "%s%u more", shown ? " and " : "", n - shown);
	return text.p ? text.p : xstrdup("");
}

char **spawn_environment(const char *const *named, char **withheld)
{
	VEC(char *) passed_on = { 0 };
	VEC(const char *) left = { 0 };

	for (char **entry = environ; entry && *entry; entry++) {
		struct str name = name_of(*entry);

		if ((is_named(name, named) && !str_is(name, CHILD_MARK)) || (is_passed(name) && !is_secret(name)))
			vec_push(&passed_on, xstrdup(*entry));
		else if (!str_is(name, "TERM") && !str_is(name, CHILD_MARK))
			vec_push(&left, *entry);
	}
	if (!is_named(STR("TERM"), named))
		vec_push(&passed_on, xstrdup("TERM=dumb"));
	vec_push(&passed_on, xstrdup(CHILD_MARK "="));
	vec_push(&passed_on, NULL);
	*withheld = list_withheld(left.v, left.n);
	vec_release(&left);
	return passed_on.v;
}

/* ---- the program ---- */

int spawn_fail(const char *name, const char *program, int number, const char *withheld,
	       struct err *err)
{
	const char *todo = "check it and start it again";

	switch (number) {
	case ENOENT:
	case ENOTDIR: todo = "check the name, and its first line if it is a script"; break;
	case EACCES:
	case EPERM: todo = "check who may run it (chmod +x)"; break;
	case ENOEXEC: todo = "not a program; a script begins with #! and its interpreter"; break;
	case EAGAIN:
	case ENOMEM: todo = "end other programs and start it again"; break;
	case EMFILE:
	case ENFILE: todo = "run fewer agents, or raise the limit (ulimit -n)"; break;
	case E2BIG: todo = "give it shorter arguments"; break;
	}
	return err_set(err, "%.64s: cannot run %.120s: %s; %s%s%.220s", name, program,
		       strerror(number), todo, *withheld ? "; not passed on (--env NAME): " : "",
		       withheld);
}

/* 0 if it is an executable file, else an errno. */
static int check_executable(const char *path)
{
	struct stat st;

	if (stat(path, &st) < 0)
		return errno;
	if (!S_ISREG(st.st_mode))
		return EACCES;
	return access(path, X_OK) < 0 ? errno : 0;
}

/* PATH search. Relative entries are skipped: the agent may have another working directory. */
static int search_path(const char *program, struct buf *out)
{
	const char *path = getenv("PATH"), *end;
	int why = ENOENT;

	if (!path || !*path)
		path = "/usr/local/bin:/usr/bin:/bin";
	for (;; path = end + 1) {
		int number;

		end = strchrnul(path, ':');
		buf_clear(out);
		buf_add(out, path, (size_t)(end - path));
		buf_printf(out, "/%s", program);
		number = *path == '/' ? check_executable(out->p) : ENOENT;
		if (number == 0)
			return 0;
		if (number == EACCES)
			why = EACCES;
		if (!*end)
			return why;
	}
}

char *spawn_find(const char *name, const char *program, const char *withheld, struct err *err)
{
	struct buf path = { 0 };
	char here[PATH_MAX];
	int number = 0;

	if (!*program)
		number = ENOENT;
	else if (!strchr(program, '/'))
		number = search_path(program, &path);
	else if (*program == '/')
		buf_adds(&path, program);
	else if (getcwd(here, sizeof(here)))
		buf_printf(&path, "%s/%s", here, program);
	else
		number = errno;
	if (!number && strchr(program, '/'))
		number = check_executable(path.p);
	if (!number)
		return path.p;
	spawn_fail(name, program, number, withheld, err);
	buf_release(&path);
	return NULL;
}

bool child_name_takes(char c, size_t at)
{
	return isalnum((unsigned char)c) || c == '_' || c == '-' || (c == '.' && at);
}

bool child_name_is_valid(struct str name)
{
	for (size_t i = 0; i < name.n; i++)
		if (!child_name_takes(name.p[i], i))
			return false;
	return name.n && name.n <= CHILD_NAME_MAX;
}

char **words_copy(const char *const *words)
{
	VEC(char *) copy = { 0 };

	for (; *words; words++)
		vec_push(&copy, xstrdup(*words));
	vec_push(&copy, NULL);
	return copy.v;
}

void words_free(char **words)
{
	for (char **w = words; w && *w; w++)
		free(*w);
	free(words);
}
