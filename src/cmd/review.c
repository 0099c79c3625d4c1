/* gavel review: the command, and what the person can do in it. */
#include "cmd/review.h"

#include "base/io.h"
#include "base/sha256.h"
#include "decide/attach.h"
#include "loop/loop.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum {
	TICK_MS = 1000,       /* the line about the turn is made anew that often */
	READING_MS = 120000,  /* a process may take that long to read what it is told */
	NAME_PART_MAX = 40,
	NUMBERS_MAX = 10000,
};

/* ---- what is told ---- */

static void add_file(const struct reviewing *r, struct buf *out)
{
	const struct review_file *f = &r->artifact;
	const char *name = f->path ? strrchr(f->path, '/') : NULL;

	if (!f->path || !f->now.iteration)
		return;
	if (f->now.trouble)
		buf_printf(out, "  %s", f->now.trouble);
	else if (f->added || f->removed)
		buf_printf(out, "  %s +%u -%u (w)", name ? name + 1 : f->path, f->added, f->removed);
}

/* What there is to do between two turns. */
static void add_next(struct reviewing *r, struct buf *out)
{
	const struct model *m = &r->watch.load.model;
	uint32_t staged = desk_staged(review_desk(r)), due;
	uint32_t open = model_open(m, m->records.n, WHEN_NONE, &due);

	if (turn_has_failed(&r->turn) || r->turn.state == TURN_REFUSED || r->turn.state == TURN_OTHER)
		return;
	if (staged)
		buf_printf(out, "  %u of %u decided, $ begins the next turn", staged, open);
	else if (open)
		buf_adds(out, "  decide, then $");
	else
		buf_adds(out, r->envelope ? "  nothing is left to decide"
					  : "  nothing is left to decide; $ asks again");
}

static void add_held(struct reviewing *r, uint32_t held, struct buf *out)
{
	const struct letter *l = &review_desk(r)->letters.v[held];

	buf_printf(out, "a turn could not begin: %.*s; :retry, or :give-up",
		   STR_ARG(l->why.n ? l->why : STR("it was recorded, and not sent")));
}

void review_tell(struct reviewing *r, int64_t now_ms)
{
	struct app *a = &r->watch.app;
	uint32_t held = review_held(r);
	bool failed = turn_has_failed(&r->turn) || r->turn.state == TURN_REFUSED;

	buf_clear(&a->strip);
	a->strip_role = ROLE_ACCENT;
	if (held != NONE) {
		add_held(r, held, &a->strip);
		a->strip_role = ROLE_ERROR;
	} else if (failed && review_failure(r) == NONE) {
		buf_printf(&a->strip, "turn %lld was given up", (long long)r->turn.iteration);
		if (!r->envelope)
			buf_adds(&a->strip, "; $ asks again");
		add_file(r, &a->strip);
		a->strip_role = ROLE_WARN;
	} else {
		turn_words(&r->turn, now_ms, &a->strip);
		if (failed || r->turn.state == TURN_OTHER)
			a->strip_role = ROLE_ERROR;
		else if (turn_is_silent(&r->turn, now_ms))
			a->strip_role = ROLE_WARN;
		add_file(r, &a->strip);
		if (r->turn.state != TURN_RUNS && r->turn.state != TURN_NONE)
			add_next(r, &a->strip);
	}
	if (!a->strip.n)
		buf_adds(&a->strip, "no turn yet");
}

/* The terms of the next plan: which process, told what. */
static void set_terms(struct reviewing *r)
{
	const char **words;
	struct arena arena = { 0 };

	buf_clear(&r->path);
	buf_clear(&r->to);
	buf_clear(&r->blocked);
	child_next_path(r->child, &r->path);
	words = turn_command(&arena, r->command, str_of(r->turn.session));
	for (uint32_t i = 0; words[i]; i++)
		buf_printf(&r->to, "%s%s", i ? " " : "", words[i]);
	arena_release(&arena);
	if (r->turn.state == TURN_RUNS)
		buf_printf(&r->blocked, "turn %lld runs; wait for its end, or :stop it",
			   (long long)r->turn.iteration);
	else if (review_held(r) != NONE)
		buf_adds(&r->blocked, "a turn before this one is held; :retry it, or :give-up");
	r->terms = (struct turn_terms){ .path = r->path.p, .to = buf_str(&r->to),
					.blocked = r->blocked.n ? r->blocked.p : NULL };
}

/* ---- turns that decide nothing ---- */

static bool propose_turn(void *ctx, const struct terms *t)
{
	struct reviewing *r = ctx;
	struct load *l = &r->watch.load;
	struct plan *p = &r->watch.seat.plan;
	bool again = r->again;

	set_terms(r);
	r->again = false;
	if (r->envelope || (!again && desk_staged(review_desk(r))))
		return false;
	plan_turn(p, review_desk(r), &l->model, &l->reader, t, review_session(r),
		  again ? TURN_AGAIN : TURN_NEXT);
	return true;
}

/* The first one needs no page: the command line asked for it. */
static void begin_first(struct reviewing *r)
{
	struct load *l = &r->watch.load;
	struct seat *s = &r->watch.seat;
	struct terms terms;

	r->begin = false;
	set_terms(r);
	seat_clear_plan(s, &terms);
	if (r->envelope)
		plan_envelope(&s->plan, review_desk(r), &l->model, &l->reader, &terms, r->envelope);
	else
		plan_turn(&s->plan, review_desk(r), &l->model, &l->reader, &terms, NONE, TURN_NEXT);
	if (s->plan.list.v[0].missing.n) {
		app_say(s->app, ROLE_ERROR, "%.*s", STR_ARG(s->plan.list.v[0].missing.v[0]));
		return;
	}
	s->app->scene.plan = &s->plan;
	seat_confirm(s);
	seat_deliver(s, false);
}

/* ---- what the person wants ---- */

static bool runs(struct reviewing *r)
{
	if (r->turn.state == TURN_RUNS)
		app_say(&r->watch.app, ROLE_WARN, "turn %lld runs; wait for its end, or :stop it",
			(long long)r->turn.iteration);
	return r->turn.state == TURN_RUNS;
}

/* Held letters go to the process of the next turn; theirs never had them. */
static bool resend_held(struct reviewing *r)
{
	struct effect e = { .type = EFFECT_RESEND, .desk = review_desk(r), .number = review_held(r) };
	struct err err;

	if (e.number == NONE)
		return false;
	set_terms(r);
	e.desk->recovered = true;
	if (desk_move(e.desk, e.number, buf_str(&r->path), &err) < 0)
		app_say(&r->watch.app, ROLE_ERROR, "%s", err.text);
	else
		vec_push(&r->watch.sending, e);
	return true;
}

static void retry(struct reviewing *r)
{
	struct app *a = &r->watch.app;
	uint32_t item = review_failure(r);

	if (runs(r) || resend_held(r))
		return;
	if (item != NONE) {
		decide_item(a, item, VERB_ACCEPT);
	} else if (r->turn.state == TURN_NONE) {
		r->begin = true;
	} else if (r->envelope) {
		app_say(a, ROLE_DIM, "nothing failed; decide the items, then $");
	} else {
		r->again = true;
		app_effect(a, EFFECT_PLAN, STR_NONE, NONE);
	}
}

static void give_up(struct reviewing *r)
{
	struct app *a = &r->watch.app;
	uint32_t item = review_failure(r), held = review_held(r);
	struct effect e = { .desk = review_desk(r), .number = held };

	if (runs(r))
		return;
	if (held != NONE)
		seat_give_up(&r->watch.seat, &e);
	else if (item == NONE)
		app_say(a, ROLE_DIM, "nothing failed");
	else if (r->envelope)
		decide_item(a, item, VERB_REJECT);
	else
		decide_item(a, item, VERB_DISMISS);
}

static void stop(struct reviewing *r)
{
	if (r->turn.state != TURN_RUNS) {
		app_say(&r->watch.app, ROLE_DIM, "no turn runs");
		return;
	}
	r->stopped = true;
	child_stop(r->child, loop_now_ms(), 0);
	app_say(&r->watch.app, ROLE_WARN, "turn %lld is being stopped", (long long)r->turn.iteration);
}

static void on_turn_wish(struct reviewing *r, const char *what)
{
	struct app *a = &r->watch.app;

	if (strcmp(what, "retry") == 0)
		retry(r);
	else if (strcmp(what, "give-up") == 0)
		give_up(r);
	else if (r->artifact.path)
		app_effect(a, EFFECT_EDIT, str_of(r->artifact.path), 0);
	else
		app_say(a, ROLE_DIM, "no artifact is under review; --artifact FILE names one");
}

static bool on_effect(void *ctx, struct effect *e)
{
	struct reviewing *r = ctx;
	struct str text = e->text ? str_of(e->text) : STR_NONE;

	switch (e->type) {
	case EFFECT_TURN: on_turn_wish(r, e->text); return true;
	case EFFECT_AGENT:
		if (str_starts(text, STR("stop")))
			stop(r);
		else
			app_say(&r->watch.app, ROLE_DIM, "a review has turns; :retry begins one anew");
		return true;
	case EFFECT_RECOVER:
		if (app_screen(&r->watch.app) && app_screen(&r->watch.app)->pane.view == &view_recovery)
			app_back(&r->watch.app);
		return resend_held(r);
	case EFFECT_RESEND: return !runs(r) && resend_held(r);
	case EFFECT_QUIT:
		if (r->turn.state != TURN_RUNS || r->warned)
			return false;
		r->warned = true;
		app_say(&r->watch.app, ROLE_KEY,
			"turn %lld runs; Q once more stops it and leaves", (long long)r->turn.iteration);
		return true;
	default: return false; /* the others are the loop's */
	}
}

static void on_turn(void *ctx, int64_t now_ms)
{
	struct reviewing *r = ctx;
	struct app *a = &r->watch.app;

	if (r->begin && review_desk(r)->access == DESK_WRITES)
		begin_first(r);
	review_look(r, now_ms);
	if (review_file_look(&r->artifact))
		app_decided(a); /* the page of changes, too */
	review_tell(r, now_ms);
	set_terms(r);
	if (r->leaving && r->turn.state != TURN_RUNS)
		r->watch.quit = true;
}

static int on_wait(void *ctx, int64_t now_ms)
{
	struct reviewing *r = ctx;

	(void)now_ms;
	if (r->begin && review_desk(r)->access == DESK_WRITES)
		return 0;
	return TICK_MS;
}

static bool on_leave(void *ctx, int64_t now_ms)
{
	struct reviewing *r = ctx;

	if (r->turn.state != TURN_RUNS)
		return true;
	r->leaving = r->stopped = true;
	child_stop(r->child, now_ms, 0);
	return false;
}

const struct watch_ops review_ops = { .turn = on_turn, .wait_ms = on_wait, .effect = on_effect,
				      .leave = on_leave };

/* ---- who speaks ---- */

/* Questions are gavel's: one that the journal does not have is the reviewer's invention. */
static void attribute(void *ctx, struct load *l, struct message *msg, uint32_t file)
{
	static const char rule[] = "feedback/2.2-requester";
	static const char text[] = "the reviewer's own words, in the form of a question to it: it counts "
				   "for nothing";
	struct reviewing *r = ctx;
	const struct desk *d = review_desk(r);
	bool asks = (msg->dialect == DIALECT_FEEDBACK && str_is(msg->kind, "request")) ||
		    (msg->dialect == DIALECT_ENVELOPE && str_is(msg->kind, "input"));
	struct str line = str_trim(l->decoder.bytes);

	(void)file;
	for (uint32_t i = 0; asks && i < d->letters.n; i++) {
		while (r->told.n <= i)
			vec_push(&r->told, 0);
		if (r->told.v[i] || d->letters.v[i].channel != CHANNEL_CHILD ||
		    !str_eq(str_trim(d->letters.v[i].bytes), line))
			continue;
		r->told.v[i] = 1;
		return;
	}
	if (!asks)
		return;
	msg->events.n = 0;
	diag_add(&msg->diags, SEVERITY_ERROR, rule, STR(""), "%s", text);
	finding_add(&l->model, l->model.records.n, SEVERITY_ERROR, rule, "", "", 0, "%s", text);
}

/* ---- the command ---- */

/* In the letters that names of agents have. */
static void add_name(struct buf *out, const char *path)
{
	const char *base = strrchr(path, '/');
	size_t n = 0;

	for (base = base ? base + 1 : path; *base && n < NAME_PART_MAX; base++, n++) {
		bool good = isalnum((unsigned char)*base) || *base == '_' || *base == '-' ||
			    (*base == '.' && n);

		buf_addc(out, good ? *base : '_');
	}
}

/* What makes it this review: the file and the command. */
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

/* Several reviews of one file by one command are numbered; the newest goes on, or another begins. */
static void find_number(struct buf *name, const char *folder, bool fresh)
{
	struct buf path = { 0 };
	unsigned n;

	for (n = 1; n < NUMBERS_MAX; n++) {
		buf_clear(&path);
		buf_printf(&path, n > 1 ? "%s/%s.%u.ndjson" : "%s/%s.ndjson", folder, name->p, n);
		if (access(path.p, F_OK) < 0)
			break;
	}
	if (!fresh && n > 1)
		n--;
	if (n > 1)
		buf_printf(name, ".%u", n);
	buf_release(&path);
}

static int open_log(struct reviewing *r, const struct options *o, struct err *err)
{
	const char *path = r->envelope ? r->envelope : r->artifact.path;
	struct buf folder = { 0 }, name = { 0 };
	struct child_spec spec = { .argv = r->command, .env = o->env.v, .whole = true };
	const char *base = strrchr(path, '/');
	int rc = -1;

	desk_base(o->journal, &folder);
	buf_adds(&folder, "/reviews");
	add_name(&name, path);
	add_key(r, path, &name);
	if (io_make_folders(folder.p, err) == 0) {
		find_number(&name, folder.p, o->fresh);
		spec.name = name.p;
		buf_printf(&r->log, "%s/%s.ndjson", folder.p, name.p);
		r->crew.before = attribute;
		r->crew.before_ctx = r;
		rc = crew_open(&r->crew, &r->watch.load, folder.p, err);
	}
	if (rc == 0)
		r->agent = crew_add(&r->crew, &spec, str_of(base ? base + 1 : path), err);
	if (rc == 0 && r->agent == NONE)
		rc = -1;
	buf_release(&folder);
	buf_release(&name);
	return rc;
}

/* Whether there is something to review, before anything is made for it. */
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
	r->child = r->crew.agents.v[r->agent]->child;
	r->file = r->crew.agents.v[r->agent]->streams[CREW_OUT].load.file;
	channel_agents = (struct channel_agents){ review_input, r };
	review_desk(r)->wait_ms = READING_MS;
	w->crew = &r->crew;
	w->ops = &review_ops;
	w->ops_ctx = r;
	watch_begin(w, buf_str(&title));
	w->app.scene.artifact = r->artifact.path ? &r->artifact.now : NULL;
	w->seat.turn = &r->terms;
	w->seat.propose = propose_turn;
	w->seat.ctx = r;
	review_read(r);
	review_resume(r);
	on_turn(r, loop_now_ms());
	w->code = watch_go(w, buf_str(&title));
	fprintf(stderr, "gavel: this review is kept in %s\n", r->log.p);
	buf_release(&title);
}

static void review_release(struct reviewing *r)
{
	channel_agents = (struct channel_agents){ 0 };
	crew_close(&r->crew);
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
	struct reviewing r = { .letter = NONE, .artifact.path = o->artifact, .envelope = o->envelope };
	struct err err = { { 0 } };
	int code = EXIT_TROUBLE;

	if (!o->words.n) {
		fprintf(stderr, "gavel: no command to review with; gavel review --artifact FILE -- "
				"COMMAND...\n");
		return code;
	}
	vec_push(&o->words, NULL);
	vec_push(&o->env, NULL);
	r.command = o->words.v;
	watch_init(&r.watch, o);
	load_init(&r.watch.load, o->max_line_bytes ? o->max_line_bytes : r.watch.config.max_line_bytes);
	if (check_files(&r, &err) < 0 || open_log(&r, o, &err) < 0) {
		fprintf(stderr, "gavel: %s\n", err.text);
	} else {
		go(&r);
		code = r.watch.code;
	}
	review_release(&r);
	return code;
}
