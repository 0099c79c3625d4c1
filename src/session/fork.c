/* Forking a session: writes the copies and runs gavel on them. */
#include "session/fork.h"

#include "base/io.h"
#include "loop/loop.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* A copy being written. */
struct copying {
	FILE *f;
	uint32_t lines;
	bool failed;
};

static const char *base_of(struct str path)
{
	const char *slash = strrchr(path.p, '/');

	return slash && slash[1] ? slash + 1 : path.p;
}

static void add_source(struct fork_copy *f, const char *path)
{
	for (uint32_t i = 0; i < f->sources.n; i++)
		if (strcmp(f->sources.v[i], path) == 0)
			return;
	vec_push(&f->sources, xstrdup(path));
}

/* Files of a directory go into a folder named like it, others beside each other. */
static int open_copy(struct fork_copy *f, const struct wire_file *file, struct copying *c,
		     struct err *err)
{
	struct buf path = { 0 };
	int rc = 0;

	buf_printf(&path, "%s/", f->dir.p);
	if (file->listed) {
		buf_adds(&path, base_of(file->group));
		if (mkdir(path.p, 0700) < 0 && errno != EEXIST)
			rc = err_set(err, "%s: %s", path.p, strerror(errno));
		add_source(f, path.p);
		buf_printf(&path, "/%s", file->base.p);
	} else {
		buf_adds(&path, str_is(file->name, "-") ? "stdin" : base_of(file->name));
		if (access(path.p, F_OK) == 0) /* the same name in another folder */
			buf_printf(&path, ".%u", f->sources.n + 1);
		add_source(f, path.p);
	}
	if (rc == 0 && !(c->f = fopen(path.p, "wx")))
		rc = err_set(err, "%s: %s", path.p, strerror(errno));
	buf_release(&path);
	return rc;
}

static int copy_message(struct load *l, uint32_t message, struct copying *c, struct buf *bytes,
			struct err *err)
{
	const struct route *route = message_route(&l->model, message);
	uint32_t line = message_line(&l->model, message);
	bool whole = l->wire.files.v[route->source].whole;

	if (wire_fetch(&l->wire, route->source, message_offset(&l->model, message),
		       l->model.records.v[message].length, bytes, err))
		return -1;
	/* blank lines, or elements elsewhere in a document */
	for (; !whole && c->lines + 1 < line; c->lines++)
		putc('\n', c->f);
	for (size_t i = 0; i < bytes->n; i++)
		putc(!whole && (bytes->p[i] == '\n' || bytes->p[i] == '\r') ? ' ' : bytes->p[i],
		     c->f);
	if (!(route->flags & RECORD_TRUNCATED))
		putc('\n', c->f);
	c->lines = line;
	return 0;
}

static void close_copy(struct copying *c)
{
	if (!c->f)
		return;
	c->failed = ferror(c->f);
	c->failed |= fclose(c->f) != 0;
	c->f = NULL;
}

static int make_dir(struct fork_copy *f, const char *dir, struct err *err)
{
	if (dir) {
		buf_adds(&f->dir, dir);
		if (mkdir(dir, 0700) == 0)
			return 0;
		return err_set(err, "%s: %s; a fork needs a folder of its own", dir,
			       strerror(errno));
	}
	buf_printf(&f->dir, "%s/gavel-fork-XXXXXX", io_temp_folder());
	if (mkdtemp(f->dir.p))
		return 0;
	return err_set(err, "%s: %s; set TMPDIR to a folder that can be written", f->dir.p,
		       strerror(errno));
}

int fork_write(struct fork_copy *f, struct load *l, uint32_t k, const char *dir, struct err *err)
{
	struct copying *copies = xcalloc(l->wire.files.n, sizeof(*copies));
	struct buf bytes = { 0 };
	int rc = make_dir(f, dir, err);

	for (uint32_t i = 0; i < k && rc == 0; i++) {
		uint32_t source = message_route(&l->model, i)->source;
		struct copying *c = &copies[source];

		/* what was said is to be decided anew */
		if (l->wire.files.v[source].joined || l->wire.files.v[source].said)
			continue;
		if (!c->f)
			rc = open_copy(f, &l->wire.files.v[source], c, err);
		if (rc == 0)
			rc = copy_message(l, i, c, &bytes, err);
		if (l->wire.files.v[source].whole) /* a directory may have too many to keep open */
			close_copy(c);
	}
	for (uint32_t i = 0; i < l->wire.files.n; i++) {
		close_copy(&copies[i]);
		if (copies[i].failed && rc == 0)
			rc = err_set(err, "%s: %s; make room, or name another folder", f->dir.p,
				     strerror(errno));
	}
	free(copies);
	buf_release(&bytes);
	if (rc == 0 && !f->sources.n)
		rc = err_set(err, "nothing has come yet; there is nothing to decide on");
	return rc;
}

int fork_run(const struct fork_copy *f, const char *as, struct err *err)
{
	VEC(const char *) args = { 0 };
	struct arena arena = { 0 };
	int code;

	vec_push(&args, "gavel");
	vec_push(&args, "--no-follow");
	vec_push(&args, arena_printf(&arena, "--journal=%s/journal", f->dir.p));
	vec_push(&args, arena_printf(&arena, "--escalate-to=%s/escalations.ndjson", f->dir.p));
	if (as)
		vec_push(&args, arena_printf(&arena, "--as=%s", as));
	vec_push(&args, "--");
	for (uint32_t i = 0; i < f->sources.n; i++)
		vec_push(&args, f->sources.v[i]);
	vec_push(&args, NULL);
	code = loop_run_foreground("/proc/self/exe", args.v);
	if (code < 0)
		err_set(err, "gavel could not be started on the copy: %s", strerror(errno));
	else if (code > 0)
		err_set(err, "gavel on the copy failed");
	vec_release(&args);
	arena_release(&arena);
	return code ? -1 : 0;
}

void fork_release(struct fork_copy *f)
{
	for (uint32_t i = 0; i < f->sources.n; i++)
		free(f->sources.v[i]);
	vec_release(&f->sources);
	buf_release(&f->dir);
}
