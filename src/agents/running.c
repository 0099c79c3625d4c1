/* Finds agents by the sockets of their holders. */
#include "agents/running.h"

#include "base/io.h"
#include "decide/desk.h"
#include "view/session_label.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/file.h>
#include <unistd.h>

enum { NAMES_LOCK_MS = 3000, NAMES_LOCK_STEP_MS = 5 };

void captures_folder(struct buf *out)
{
	desk_base(NULL, out);
	buf_adds(out, "/captures");
}

static void add_agent(struct running_agents *r, const char *socket)
{
	struct str stem = str_make(socket, strlen(socket) - strlen(".sock"));
	struct running_agent a = { 0 };
	struct buf capture = { 0 };
	struct err err;

	buf_printf(&capture, "%.*s.ndjson", STR_ARG(stem));
	a.state = holder_ask(capture.p, NULL, &a.greeting, &err);
	if (a.state == HOLDER_ABSENT) {
		buf_release(&capture);
		return;
	}
	a.capture = capture.p;
	a.name = str_dup(str_from(stem, (size_t)(strrchr(socket, '/') + 1 - socket)));
	vec_push(&r->list, a);
}

/* Files below a folder, by a pattern. */
static void find_files(const char *folder, const char *pattern, glob_t *found)
{
	struct buf whole = { 0 };

	for (const char *p = folder; *p; p++) {
		if (strchr("*?[\\", *p))
			buf_addc(&whole, '\\');
		buf_addc(&whole, *p);
	}
	buf_adds(&whole, pattern);
	*found = (glob_t){ 0 };
	glob(whole.p, 0, NULL, found);
	buf_release(&whole);
}

void running_find(struct running_agents *r)
{
	struct buf base = { 0 };
	glob_t found;

	captures_folder(&base);
	find_files(base.p, "/*/*.sock", &found);
	for (size_t i = 0; i < found.gl_pathc; i++)
		add_agent(r, found.gl_pathv[i]);
	globfree(&found);
	buf_release(&base);
}

void running_release(struct running_agents *r)
{
	for (uint32_t i = 0; i < r->list.n; i++) {
		free(r->list.v[i].name);
		free(r->list.v[i].capture);
	}
	vec_release(&r->list);
}

const struct running_agent *running_named(const struct running_agents *r, const char *name)
{
	for (uint32_t i = 0; i < r->list.n; i++)
		if (strcmp(r->list.v[i].name, name) == 0)
			return &r->list.v[i];
	return NULL;
}

int running_lock_names(void)
{
	struct buf base = { 0 };
	int fd, waited = 0;

	captures_folder(&base);
	fd = open(base.p, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	buf_release(&base);
	while (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) < 0) {
		if ((errno == EWOULDBLOCK || errno == EINTR) && waited < NAMES_LOCK_MS) {
			waited += NAMES_LOCK_STEP_MS;
			poll(NULL, 0, NAMES_LOCK_STEP_MS);
		} else {
			fd_close(&fd);
		}
	}
	return fd;
}

/* NAME.ndjson that has NAME.stderr beside it. */
static bool is_capture(const char *path)
{
	struct str stem = str_of(path);
	struct buf errors = { 0 };
	bool is = str_ends(stem, STR(".ndjson"));

	stem.n -= is ? strlen(".ndjson") : 0;
	buf_printf(&errors, "%.*s.stderr", STR_ARG(stem));
	is = is && access(errors.p, F_OK) == 0;
	buf_release(&errors);
	return is;
}

static bool is_held(const char *capture)
{
	struct holder_link k;
	struct err err;
	enum holder_state state = holder_connect(&k, capture, &err);

	holder_close(&k);
	return state == HOLDER_RUNS || state == HOLDER_SILENT;
}

/* All captures of the folder. True: the agent of one runs. */
static bool add_members(struct agent_group *g)
{
	bool runs = false;
	glob_t found;

	/* not by the logs, of which there may be thousands */
	find_files(g->folder, "/*.stderr", &found);
	for (size_t i = 0; i < found.gl_pathc; i++) {
		struct str path = str_of(found.gl_pathv[i]), name;
		struct buf capture = { 0 };

		path.n -= strlen(".stderr");
		name = path_base(path);
		buf_printf(&capture, "%.*s.ndjson", STR_ARG(path));
		if (access(capture.p, F_OK) == 0) {
			vec_push(&g->names, str_dup(name));
			runs |= is_held(capture.p);
		}
		buf_release(&capture);
	}
	globfree(&found);
	return runs;
}

bool agent_group_find(struct agent_group *g, const char *const *paths, uint32_t n)
{
	bool runs = false, same = n > 0;

	*g = (struct agent_group){ 0 };
	for (uint32_t i = 0; i < n && same; i++) {
		char *real = realpath(paths[i], NULL);
		bool capture = real && is_capture(real);

		runs |= !capture || is_held(real);
		if (capture)
			*strrchr(real, '/') = '\0';
		same = real && (!g->folder || strcmp(g->folder, real) == 0);
		if (same && !g->folder)
			g->folder = real;
		else
			free(real);
	}
	if (same && runs && add_members(g))
		return true;
	agent_group_release(g);
	return false;
}

static bool is_given(const struct agent_group *g, const char *name, const char *const *paths, uint32_t n)
{
	bool given = false;

	for (uint32_t i = 0; i < n && !given; i++) {
		char *real = realpath(paths[i], NULL);
		struct buf capture = { 0 };

		buf_printf(&capture, "%s/%s.ndjson", g->folder, name);
		given = real && (strcmp(real, g->folder) == 0 || strcmp(real, capture.p) == 0);
		buf_release(&capture);
		free(real);
	}
	return given;
}

void agent_group_keep(struct agent_group *g, const char *const *paths, uint32_t n)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < g->names.n; i++)
		if (is_given(g, g->names.v[i], paths, n))
			g->names.v[kept++] = g->names.v[i];
		else
			free(g->names.v[i]);
	g->names.n = kept;
}

void agent_group_release(struct agent_group *g)
{
	for (uint32_t i = 0; i < g->names.n; i++)
		free(g->names.v[i]);
	vec_release(&g->names);
	free(g->folder);
	g->folder = NULL;
}
