/* gavel review: opens the log of a review and runs the reviewer on it, turn by turn. */
#include "cmd/cmd.h"
#include "cmd/print.h"
#include "agents/review.h"

#include "base/io.h"
#include "base/sha256.h"
#include "encode/attach.h"
#include "loop/loop.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum {
	READING_MS = 120000, /* for a process to read its input */
	NAME_PART_MAX = 40,
	NUMBERS_MAX = 10000,
};

/* Only gavel asks questions: one that is not in the journal was forged by the reviewer, and gets an
 * error instead of its events. */
static void check_questions(void *ctx, struct load *l, struct message *msg, uint32_t file)
{
	static const char rule[] = "feedback/2.2-requester";
	static const char text[] = "a request written by the reviewer itself; ignored";
	struct reviewing *r = ctx;
	const struct desk *d = review_desk(r);
	bool asks = (msg->dialect == DIALECT_FEEDBACK && str_is(msg->kind, "request")) ||
		    (msg->dialect == DIALECT_ENVELOPE && str_is(msg->kind, "input"));
	struct str line = str_trim(l->decoder.bytes);

	(void)file;
	for (uint32_t i = 0; asks && i < d->letters.n; i++) {
		while (r->told.n <= i)
			vec_push(&r->told, 0);
		if (r->told.v[i] || d->letters.v[i].channel != CHANNEL_AGENT ||
		    !str_eq(str_trim(d->letters.v[i].bytes), line))
			continue;
		r->told.v[i] = 1;
		return;
	}
	if (!asks)
		return;
	msg->events.n = 0;
	diag_add(&msg->diags, SEVERITY_ERROR, rule, STR(""), "%s", text);
	diag_store_add(&l->model, l->model.records.n, SEVERITY_ERROR, rule, "", "", 0, "%s", text);
}

/* ---- the command ---- */

/* The base name, with _ for characters that names of agents must not have. */
static void add_name(struct buf *out, const char *path)
{
	const char *base = strrchr(path, '/');
	size_t n = 0;

	for (base = base ? base + 1 : path; *base && n < NAME_PART_MAX; base++, n++)
		buf_addc(out, child_name_takes(*base, n) ? *base : '_');
}

/* A hash that identifies the review: of the file's path and the command. */
static void add_key(const struct reviewing *r, const char *path, struct buf *out)
{
	struct buf key = { 0 };
	char *real = realpath(path, NULL), hex[65];

	buf_adds(&key, real ? real : path);
	for (uint32_t i = 0; r->command[i]; i++) {
		buf_addc(&key, '\0');
		buf_adds(&key, r->command[i]);
	}
	sha256_hex(buf_str(&key), hex);
	buf_printf(out, "-%.12s", hex);
	buf_release(&key);
	free(real);
}

/* Reviews of one file by one command are numbered; continues the newest, or begins another. */
static void find_number(struct buf *folder, bool fresh)
{
	struct buf path = { 0 };
	unsigned n;

	for (n = 1; n < NUMBERS_MAX; n++) {
		buf_clear(&path);
		buf_printf(&path, n > 1 ? "%s.%u" : "%s", folder->p, n);
		if (access(path.p, F_OK) < 0)
			break;
	}
	if (!fresh && n > 1)
		n--;
	if (n > 1)
		buf_printf(folder, ".%u", n);
	buf_release(&path);
}

/* In a folder among the captures, so that gavel purge finds it. */
static int open_log(struct reviewing *r, const struct options *o, struct err *err)
{
	const char *path = r->envelope ? r->envelope : r->artifact.path;
	struct buf folder = { 0 }, name = { 0 };
	struct child_spec spec = { .argv = r->command, .env = o->env.v };
	const char *base = strrchr(path, '/');
	int rc = -1;

	add_name(&name, path);
	desk_base(o->journal, &folder);
	buf_printf(&folder, "/captures/%s", name.p);
	add_key(r, path, &folder);
	find_number(&folder, o->fresh);
	spec.name = name.p;
	buf_printf(&r->log, "%s/%s.ndjson", folder.p, name.p);
	r->agents.before = check_questions;
	r->agents.before_ctx = r;
	if (io_make_folders(folder.p, true, err) == 0 &&
	    agent_set_open(&r->agents, &r->watch.load, folder.p, err) == 0) {
		r->agent = agent_set_add(&r->agents, &spec, str_of(base ? base + 1 : path), err);
		rc = r->agent == NONE ? -1 : 0;
	}
	if (rc < 0)
		rmdir(folder.p); /* if nothing is in it */
	buf_release(&folder);
	buf_release(&name);
	return rc;
}

/* Checked before anything is created. */
static int check_files(const struct reviewing *r, struct err *err)
{
	struct arena arena = { 0 };
	struct attachment file;
	int rc = 0;

	if (!r->artifact.path && !r->envelope)
		rc = err_set(err, "nothing to review; give --artifact FILE");
	if (rc == 0 && r->artifact.path)
		rc = attach_read(&arena, r->artifact.path, &file, err);
	if (rc == 0 && r->envelope)
		rc = attach_read(&arena, r->envelope, &file, err);
	arena_release(&arena);
	return rc;
}

static void go(struct reviewing *r)
{
	struct watch *w = &r->watch;
	struct buf title = { 0 };

	buf_printf(&title, "review %s", r->envelope ? r->envelope : r->artifact.path);
	r->child = r->agents.agents.v[r->agent]->child;
	r->file = r->agents.agents.v[r->agent]->streams[AGENT_OUT].load.file;
	channel_starter = (struct channel_starter){ review_start_turn, r };
	review_desk(r)->wait_ms = READING_MS;
	w->agents = &r->agents;
	w->ops = &review_ops;
	w->ops_ctx = r;
	watch_begin(w, buf_str(&title));
	w->app.scene.artifact = r->artifact.path ? &r->artifact.now : NULL;
	w->decider.turn = &r->terms;
	w->decider.propose = review_propose;
	w->decider.ctx = r;
	review_read(r);
	review_resume(r);
	review_ops.tick(r, loop_now_ms());
	w->code = watch_go(w, buf_str(&title));
	say_error("this review is kept in %s", r->log.p);
	buf_release(&title);
}

static void review_release(struct reviewing *r)
{
	channel_starter = (struct channel_starter){ 0 };
	/* without a terminal nobody comes back to it */
	if (r->agents.children && r->watch.headless)
		agent_set_kill(&r->agents);
	if (r->agents.children)
		agent_set_close(&r->agents);
	watch_release(&r->watch);
	turn_release(&r->turn);
	review_file_release(&r->artifact);
	arena_release(&r->words);
	vec_release(&r->told);
	buf_release(&r->path);
	buf_release(&r->to);
	buf_release(&r->blocked);
	buf_release(&r->log);
}

int cmd_review(struct options *o)
{
	struct reviewing r = { .letter = NONE, .artifact.path = o->artifact,
			       .envelope = o->envelope };
	struct err err = { { 0 } };
	int code = EXIT_TROUBLE;

	if (!o->words.n)
		return print_trouble("no command to review with; gavel review --artifact FILE -- "
				     "COMMAND...");
	vec_push(&o->words, NULL);
	vec_push(&o->env, NULL);
	r.command = o->words.v;
	watch_init(&r.watch, o);
	load_init(&r.watch.load, o->max_line_bytes);
	if (check_files(&r, &err) < 0 || open_log(&r, o, &err) < 0) {
		say_error("%s", err.text);
	} else {
		go(&r);
		code = r.watch.code;
	}
	review_release(&r);
	return code;
}
