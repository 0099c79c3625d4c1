/* Reads an attached file and finds the git commit that contains it.
 *
 * Agents may control the repository, so only git commands that run no configured programs are used:
 * no status (hooks, fsmonitor), no filters. The file's bytes are compared with the commit's
 * blob. */
#include "encode/attach.h"

#include "base/io.h"
#include "base/sha256.h"
#include "base/utf8.h"
#include "loop/loop.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

enum { GIT_TIMEOUT_MS = 2000, GIT_POLL_MS = 5, GIT_WORDS_MAX = 8 };

extern char **environ;

static const struct {
	const char *extension, *type;
} media_types[] = {
	{ "adoc", "text/asciidoc" },	 { "c", "text/x-c" },
	{ "cc", "text/x-c++" },		 { "cpp", "text/x-c++" },
	{ "css", "text/css" },		 { "csv", "text/csv" },
	{ "diff", "text/x-diff" },	 { "go", "text/x-go" },
	{ "h", "text/x-c" },		 { "hpp", "text/x-c++" },
	{ "htm", "text/html" },		 { "html", "text/html" },
	{ "java", "text/x-java" },	 { "js", "text/javascript" },
	{ "json", "application/json" },	 { "jsonl", "application/x-ndjson" },
	{ "log", "text/plain" },	 { "markdown", "text/markdown" },
	{ "md", "text/markdown" },	 { "mjs", "text/javascript" },
	{ "ndjson", "application/x-ndjson" }, { "patch", "text/x-diff" },
	{ "py", "text/x-python" },	 { "rb", "text/x-ruby" },
	{ "rs", "text/x-rust" },	 { "rst", "text/x-rst" },
	{ "sh", "application/x-sh" },	 { "sql", "application/sql" },
	{ "svg", "image/svg+xml" },	 { "tex", "text/x-tex" },
	{ "text", "text/plain" },	 { "toml", "application/toml" },
	{ "ts", "text/x-typescript" },	 { "tsx", "text/x-typescript" },
	{ "txt", "text/plain" },	 { "xml", "application/xml" },
	{ "yaml", "application/yaml" },	 { "yml", "application/yaml" },
};

size_t file_name_start(struct str path)
{
	size_t i = path.n;

	while (i && path.p[i - 1] != '/')
		i--;
	return i;
}

const char *attach_media_type(struct str path)
{
	struct str name = str_from(path, file_name_start(path));
	size_t dot = name.n;

	while (dot && name.p[dot - 1] != '.')
		dot--;
	if (dot < 2) /* no dot, or a hidden file without extension */
		return NULL;
	name = str_from(name, dot);
	for (size_t i = 0; i < sizeof(media_types) / sizeof(media_types[0]); i++)
		if (str_eq_nocase(name, str_of(media_types[i].extension)))
			return media_types[i].type;
	return NULL;
}

/* ---- git ---- */

/* A minimal environment: PATH and HOME, no prompts, locks or fetches. */
static char **git_environment(struct arena *arena)
{
	const char *path = getenv("PATH"), *home = getenv("HOME");
	char **env = arena_alloc(arena, 8 * sizeof(*env));
	int n = 0;

	env[n++] = arena_printf(arena, "PATH=%s", path ? path : "/usr/bin:/bin");
	if (home)
		env[n++] = arena_printf(arena, "HOME=%s", home);
	env[n++] = arena_printf(arena, "LC_ALL=C");
	env[n++] = arena_printf(arena, "GIT_TERMINAL_PROMPT=0");
	env[n++] = arena_printf(arena, "GIT_OPTIONAL_LOCKS=0");
	env[n++] = arena_printf(arena, "GIT_NO_LAZY_FETCH=1");
	env[n] = NULL;
	return env;
}

_Noreturn static void become_git(char **argv, char **env, int out)
{
	int null = open("/dev/null", O_RDWR);
	sigset_t none;

	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	setpgid(0, 0);
	if (null < 0 || dup2(null, 0) < 0 || dup2(out, 1) < 0 || dup2(null, 2) < 0)
		_exit(127);
	environ = env;
	execvp("git", argv);
	_exit(127);
}

/* Reads until the end, the limit or the deadline; true at the end. */
static bool drain(int fd, size_t max, int64_t deadline, struct buf *out)
{
	for (;;) {
		int64_t left = deadline - loop_now_ms();
		struct pollfd p = { .fd = fd, .events = POLLIN };
		char part[8192];
		ssize_t n;

		if (left <= 0)
			return false;
		if (poll(&p, 1, (int)left) < 0 && errno != EINTR)
			return false;
		if (!p.revents)
			continue;
		n = read(fd, part, sizeof(part));
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n == 0;
		if (out->n + (size_t)n > max)
			return false;
		buf_add(out, part, (size_t)n);
	}
}

/* Waits for the child, killing it at the deadline. True if it exited with 0. */
static bool reap(pid_t pid, bool kill_now, int64_t deadline)
{
	int status;
	pid_t got;

	for (;;) {
		if (kill_now || loop_now_ms() >= deadline) {
			kill(-pid, SIGKILL);
			kill(pid, SIGKILL);
			kill_now = true;
		}
		got = waitpid(pid, &status, kill_now ? 0 : WNOHANG);
		if (got == pid)
			return !kill_now && WIFEXITED(status) && WEXITSTATUS(status) == 0;
		if (got < 0 && errno != EINTR)
			return false;
		if (got == 0)
			poll(NULL, 0, GIT_POLL_MS);
	}
}

/* Runs git without a shell. False if it is missing, fails, prints over max bytes or times out. */
static bool run_git(struct arena *arena, const char *const *words, size_t max, struct buf *out)
{
	char **env = git_environment(arena), *argv[GIT_WORDS_MAX + 1] = { 0 };
	int64_t deadline = loop_now_ms() + GIT_TIMEOUT_MS;
	int ends[2];
	pid_t pid;
	bool whole;

	for (int i = 0; i < GIT_WORDS_MAX && words[i]; i++)
		argv[i] = arena_printf(arena, "%s", words[i]);
	if (pipe2(ends, O_CLOEXEC) != 0)
		return false;
	pid = fork();
	if (pid == 0)
		become_git(argv, env, ends[1]);
	close(ends[1]);
	if (pid < 0) {
		close(ends[0]);
		return false;
	}
	setpgid(pid, pid);
	whole = drain(ends[0], max, deadline, out);
	close(ends[0]);
	return reap(pid, !whole, deadline) && whole;
}

static bool is_commit(struct str s)
{
	if (s.n != 40 && s.n != 64)
		return false;
	for (size_t i = 0; i < s.n; i++)
		if (!((s.p[i] >= '0' && s.p[i] <= '9') || (s.p[i] >= 'a' && s.p[i] <= 'f')))
			return false;
	return true;
}

static bool find_commit(struct arena *arena, const char *path, struct str content, struct buf *out)
{
	struct str whole = str_of(path);
	size_t start = file_name_start(whole);
	char *folder = start ? arena_printf(arena, "%.*s", (int)start, path) :
			       arena_printf(arena, ".");
	const char *head[] = { "git", "-C", folder, "rev-parse", "--verify", "--quiet",
			       "HEAD^{commit}", NULL };
	const char *blob[] = { "git", "-C", folder, "--no-replace-objects", "cat-file", "blob",
			       NULL, NULL };
	struct buf bytes = { 0 };
	bool same = false;

	if (run_git(arena, head, 128, out)) {
		out->n = str_trim(buf_str(out)).n;
		blob[6] = arena_printf(arena, "%.*s:./%s", STR_ARG(buf_str(out)), path + start);
		same = is_commit(buf_str(out)) && run_git(arena, blob, content.n + 1, &bytes) &&
		       str_eq(buf_str(&bytes), content);
	}
	buf_release(&bytes);
	return same;
}

static bool is_text(struct str s)
{
	return (!s.n || !memchr(s.p, 0, s.n)) && utf8_valid(s);
}

int attach_read(struct arena *arena, const char *path, struct attachment *out, struct err *err)
{
	struct buf bytes = { 0 }, commit = { 0 };
	char hex[65];

	*out = (struct attachment){ .media_type = attach_media_type(str_of(path)) };
	if (io_read_file(path, ATTACH_MAX_BYTES, &bytes, err) < 0) {
		buf_release(&bytes);
		return -1;
	}
	out->content = arena_str(arena, buf_str(&bytes));
	buf_release(&bytes);
	if (!is_text(out->content))
		return err_set(err, "%s is not UTF-8 text; a Request can carry only text", path);
	if (find_commit(arena, path, out->content, &commit)) {
		out->ref = arena_str(arena, buf_str(&commit));
	} else {
		sha256_hex(out->content, hex);
		out->ref = str_of(arena_printf(arena, "sha256:%s", hex));
	}
	buf_release(&commit);
	return 0;
}
