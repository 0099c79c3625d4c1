/* Carries out the app's effects: saves screens, runs editors and forks, passes decisions to the
 * decider; runs deliveries as a job. */
#include "watch/watch.h"

#include "watch/bookmark_file.h"
#include "decide/question.h"
#include "base/io.h"
#include "base/utf8.h"
#include "session/fork.h"
#include "watch/remembered.h"
#include "loop/loop.h"
#include "term/term.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { EXPLANATION_MAX = 1 << 20 };

int watch_save_screen(struct watch *w, const char *file, struct err *err)
{
	struct buf text = { 0 };
	struct theme theme;
	FILE *f = fopen(file, "w");
	int row, col, rc = 0;

	app_draw(&w->app, w->grid, &row, &col);
	if (w->painted) {
		config_theme(&w->config, 16, &theme);
		paint_grid(w->grid, &theme, w->app.scene.ascii, &text);
	} else {
		grid_save(w->grid, &text);
	}
	if (!f || fwrite(text.p, 1, text.n, f) != text.n)
		rc = err_set(err, "%s: %s", file, strerror(errno));
	if (f && fclose(f) && !rc)
		rc = err_set(err, "%s: %s", file, strerror(errno));
	buf_release(&text);
	return rc;
}

int watch_fail(struct watch *w, const struct err *err)
{
	say_error("%s", err->text);
	return w->code = EXIT_TROUBLE;
}

/* rc: of a call that gives the terminal back. */
static void check_terminal(struct watch *w, int rc, const struct err *err)
{
	if (rc < 0) {
		watch_fail(w, err);
		w->quit = true;
	}
}

void watch_suspend(struct watch *w)
{
	struct err err;

	if (!w->headless)
		check_terminal(w, term_suspend(&err), &err);
}

/* The file name is an argument, never part of the shell command, and never looks like an option.
 * false: the editor failed. */
static bool edit(struct watch *w, const char *file, uint32_t line)
{
	struct buf name = { 0 };
	struct err err;
	char at[24];
	const char *argv[] = { "sh", "-c", "exec ${VISUAL:-${EDITOR:-vi}} \"$@\"", "gavel",
			       at, NULL, NULL };
	int code, why;

	if (w->headless)
		return false;
	snprintf(at, sizeof(at), "+%u", line ? line : 1);
	buf_printf(&name, "%s%s", file[0] == '/' ? "" : "./", file);
	argv[5] = name.p;
	term_release_screen();
	code = loop_run_foreground("/bin/sh", argv);
	why = errno;
	buf_release(&name);
	check_terminal(w, term_acquire_screen(&err), &err);
	if (code < 0)
		app_say(&w->app, ROLE_ERROR, "no editor could be started: %s", strerror(why));
	return code == 0;
}

/* Opens a file that a message names by its real path, so that the editor follows no link. One that
 * does not exist here is not created. */
static void edit_named(struct watch *w, const char *file, uint32_t line)
{
	struct buf real = { 0 };
	struct err err;

	if (io_find_below(file, &real, &err) < 0)
		app_say(&w->app, ROLE_WARN, "%s", err.text);
	else
		edit(w, real.p, line);
	buf_release(&real);
}

/* Opens a file that the person has named. The editor must not create it. */
static void edit_own(struct watch *w, const char *file, uint32_t line)
{
	if (access(file, F_OK) < 0)
		app_say(&w->app, ROLE_WARN, "%s: %s; nothing to open", file,
			strerror(errno));
	else
		edit(w, file, line);
}

/* A temporary file (0600) with the text; its name from malloc, NULL and errno. */
static char *make_text_file(const char *what, const char *suffix, struct str text)
{
	struct buf name = { 0 };
	int fd;

	buf_printf(&name, "%s/gavel-%s-XXXXXX%s", io_temp_folder(), what, suffix);
	fd = mkstemps(name.p, (int)strlen(suffix));
	if (fd < 0 || io_write_all(fd, text, NULL)) {
		int saved = errno;

		if (fd >= 0)
			unlink(name.p);
		buf_release(&name);
		errno = saved;
	}
	if (fd >= 0)
		close(fd);
	return name.p;
}

/* Takes what the editor left; false: it cannot be used, and err says why. */
typedef bool (*edited_fn)(struct watch *w, struct effect *e, struct str text, struct err *err);

/* Lets the person edit a text in a temporary file. What cannot be used is kept. */
static void edit_text(struct watch *w, struct effect *e, char *file, edited_fn take)
{
	struct buf text = { 0 };
	struct err err;
	bool keep = false;

	if (!file) {
		app_say(&w->app, ROLE_ERROR, "no file for the editor: %s", strerror(errno));
		return;
	}
	if (!edit(w, file, 1))
		app_say(&w->app, ROLE_WARN, "the editor ended without saving; nothing was changed");
	else if (io_read_file(file, EXPLANATION_MAX, &text, &err) < 0)
		app_say(&w->app, ROLE_ERROR, "the text cannot be read: %s", strerror(errno));
	else if (!take(w, e, buf_str(&text), &err)) {
		app_say(&w->app, ROLE_ERROR, "%s; your text is kept in %s", err.text, file);
		keep = true;
	}
	if (!keep)
		unlink(file);
	free(file);
	buf_release(&text);
}

static bool take_explanation(struct watch *w, struct effect *e, struct str text, struct err *err)
{
	if (utf8_check(text, "the explanation", err))
		return false;
	e->draft.explanation = str_trim(text);
	decider_stage(&w->decider, e, 1);
	return true;
}

/* The input of a tool call: if nothing was changed, it is no other call. */
static bool take_input(struct watch *w, struct effect *e, struct str text, struct err *err)
{
	struct draft was = e->draft;

	if (utf8_check(text, "the edited input", err) ||
	    draft_set_input(&e->draft, text, &w->app.effect_strings, err))
		return false;
	if (draft_set_input(&was, was.answer, &w->app.effect_strings, err) == 0 &&
	    str_eq(was.answer, e->draft.answer))
		app_say(&w->app, ROLE_WARN, "nothing was changed; {accept} accepts it as it is");
	else
		decider_stage(&w->decider, e, 1);
	return true;
}

static void leave(struct watch *w)
{
	if (!w->ops->leave || w->ops->leave(w->ops_ctx, loop_now_ms()))
		w->quit = true;
	else
		w->leaving = true;
}

/* Forks the session and runs another gavel on the copy. */
static void what_if(struct watch *w, const char *dir, uint32_t k)
{
	struct fork_copy f = { 0 };
	struct err err;
	int rc = fork_write(&f, &w->load, k, dir, &err);

	if (rc == 0 && !w->headless) {
		term_release_screen();
		rc = fork_run(&f, w->options->as, &err);
		check_terminal(w, term_acquire_screen(&err), &err);
	}
	if (rc < 0)
		app_say(&w->app, ROLE_ERROR, "%s", err.text);
	else
		app_say(&w->app, ROLE_INFO,
			"the fork is %s; gavel show decisions --against=%s LOG compares", f.dir.p,
			f.dir.p);
	fork_release(&f);
}

/* How many effects of one type there are from the i-th on. */
static uint32_t count_alike(const struct watch *w, uint32_t i)
{
	uint32_t n = 1;

	while (i + n < w->app.effects.n && w->app.effects.v[i + n].type == w->app.effects.v[i].type)
		n++;
	return n;
}

/* Carries out decisions of one command together; returns how many more effects that were. */
static uint32_t decide_alike(struct watch *w, uint32_t i)
{
	const struct effect *list = &w->app.effects.v[i];
	uint32_t n = count_alike(w, i);

	if (list->type == EFFECT_UNDO) {
		decider_undo(&w->decider, list, n);
		return n - 1;
	}
	decider_stage(&w->decider, list, n);
	for (uint32_t k = 0; k < n; k++)
		if (list[k].desk->team)
			team_claim(&w->load, list[k].draft.number, true);
	return n - 1;
}

/* What is about decisions. *i: moved on by those that are carried out together. */
static void carry_out_decision(struct watch *w, uint32_t *i)
{
	struct effect e = w->app.effects.v[*i];

	switch (e.type) {
	case EFFECT_STAGE:
	case EFFECT_UNDO: *i += decide_alike(w, *i); break;
	case EFFECT_CLAIM:
		if (e.claim.on)
			team_claim(&w->load, e.claim.item, false);
		else
			team_unclaim(&w->load, e.claim.item, false);
		break;
	case EFFECT_TEAM_SETTLE: team_settle_held(&w->load, e.claim.item, e.claim.on); break;
	case EFFECT_TEAM_ACCEPT:
		app_say(&w->app, ROLE_INFO,
			team_accept(&w->load) ? "it is the store now; look at what was decided "
						"before deciding anew"
					      : "no store has gone back");
		break;
	case EFFECT_SNOOZE:
		decider_snooze(&w->decider, e.desk, e.snooze.item, e.snooze.on);
		break;
	case EFFECT_PLAN: decider_next_page(&w->decider); break;
	case EFFECT_DROP: decider_drop(&w->decider, e.drop.letter, e.drop.dropped); break;
	case EFFECT_DELIVER:
		decider_confirm(&w->decider);
		vec_push(&w->sending, e);
		break;
	case EFFECT_RECOVER:
	case EFFECT_RESEND: vec_push(&w->sending, e); break;
	case EFFECT_REPLY: decider_reply(&w->decider, e.desk, e.file); break;
	case EFFECT_TELL: decider_command(&w->decider, &e.tell); break;
	case EFFECT_GIVE_UP:
		decider_give_up(&w->decider, e.desk, e.letter.number,
				e.letter.may_have_arrived);
		break;
	default: /* those of the screen, in watch_effects */
		break;
	}
}

void watch_effects(struct watch *w)
{
	struct err err;

	for (uint32_t i = 0; i < w->app.effects.n; i++) {
		struct effect e = w->app.effects.v[i];

		if (w->ops->effect && w->ops->effect(w->ops_ctx, &e))
			continue;
		switch (e.type) {
		case EFFECT_QUIT: leave(w); break;
		case EFFECT_SUSPEND: watch_suspend(w); break;
		case EFFECT_REDRAW:
			if (!w->headless)
				term_redraw();
			break;
		case EFFECT_SAVE_SCREEN:
			if (watch_save_screen(w, e.file, &err) < 0)
				app_say(&w->app, ROLE_ERROR, "%s", err.text);
			else
				app_say(&w->app, ROLE_DIM, "saved %s", e.file);
			break;
		case EFFECT_EDIT:
			(e.edit.is_own ? edit_own : edit_named)(w, e.edit.file, e.edit.line);
			break;
		case EFFECT_EXPLAIN:
			edit_text(w, &e, make_text_file("explanation", "", e.draft.explanation),
				  take_explanation);
			break;
		case EFFECT_EDIT_INPUT:
			edit_text(w, &e, make_text_file("input", ".json", e.draft.answer),
				  take_input);
			break;
		case EFFECT_STAGE:
		case EFFECT_UNDO:
		case EFFECT_CLAIM:
		case EFFECT_TEAM_SETTLE:
		case EFFECT_TEAM_ACCEPT:
		case EFFECT_SNOOZE:
		case EFFECT_PLAN:
		case EFFECT_DROP:
		case EFFECT_DELIVER:
		case EFFECT_RECOVER:
		case EFFECT_RESEND:
		case EFFECT_REPLY:
		case EFFECT_TELL:
		case EFFECT_GIVE_UP: carry_out_decision(w, &i); break;
		case EFFECT_AGENT:
			app_say(&w->app, ROLE_ERROR, "no agents running; gavel run starts some");
			break;
		case EFFECT_TURN:
			app_say(&w->app, ROLE_ERROR,
				"nothing under review; see gavel review");
			break;
		case EFFECT_FORK: what_if(w, e.fork.dir, e.fork.k); break;
		case EFFECT_REMEMBER:
			if (remembered_save(&w->app, w->options->journal, &err) < 0)
				app_say(&w->app, ROLE_WARN, "not kept for the next time: %s",
					err.text);
			break;
		case EFFECT_THEME: watch_set_theme(w, e.file); break;
		case EFFECT_RELOAD: watch_reload(w); break;
		case EFFECT_BOOKMARK:
			if (!w->load.desk_options.write || w->app.playback.model)
				app_say(&w->app, ROLE_DIM, "kept until the end only: %s",
					w->app.playback.model ? "a replay writes nothing"
							      : "read-only");
			else if (bookmarks_keep(&w->load, e.bookmark.message, e.bookmark.note,
						e.bookmark.removed, &err) < 0)
				app_say(&w->app, ROLE_WARN, "until the end only: %s", err.text);
			break;
		case EFFECT_COPY:
			if (!w->headless)
				term_copy(e.copy);
			break;
		}
	}
	app_effects_taken(&w->app);
}

/* ---- delivering ---- */

static void deliver(void *ctx, struct yield *y)
{
	struct watch *w = ctx;

	w->yield = y;
	for (uint32_t i = 0; i < w->sending.n && !(y && y->cancelled); i++) {
		struct effect e = w->sending.v[i];

		if (e.type == EFFECT_DELIVER)
			decider_deliver(&w->decider, e.sure);
		else if (e.type == EFFECT_RECOVER)
			decider_recover(&w->decider);
		else
			decider_resend(&w->decider, e.desk, e.letter.number);
	}
	w->sending.n = 0;
	w->yield = NULL;
}

/* w->yield is NULL while the main loop runs: what waits for a channel there is not the delivery. */
bool watch_wait(void *ctx)
{
	struct watch *w = ctx;
	struct yield *y = w->yield;
	bool goes_on;

	if (!y)
		return !w->quit;
	w->yield = NULL;
	goes_on = yield_now(y);
	w->yield = y;
	return goes_on;
}

void watch_end_delivery(struct watch *w)
{
	job_end(w->delivery);
	w->app.deciding.delivery = w->delivery = NULL;
}

void watch_step_delivery(struct watch *w)
{
	if (job_step(w->delivery, loop_now_ms()))
		watch_end_delivery(w);
}

void watch_send(struct watch *w)
{
	if (!w->sending.n || w->quit || w->delivery)
		return;
	if (w->headless) {
		deliver(w, NULL);
		return;
	}
	w->app.deciding.delivery = w->delivery = job_new(deliver, w);
	watch_step_delivery(w);
}
