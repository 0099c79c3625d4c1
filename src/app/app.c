/* The app's state and key dispatch: to a confirmation, the prompt, the mouse, or through the keymap
 * to a command. Lists are built in listing.c, drawn in frame.c; commands are in commands.c. */
#include "app/app.h"
#include "model/ledger.h"

#include "app/commands.h"
#include "base/utf8.h"
#include "view/view_parts.h"

#include <stdarg.h>
#include <stdlib.h>

enum { HINTS_MAX = 20 };

static const struct view_ops *const tab_views[TAB_COUNT] = {
	[TAB_SESSIONS] = &view_sessions,
	[TAB_INBOX] = &view_inbox,	 [TAB_TIMELINE] = &view_timeline,
	[TAB_LEDGER] = &view_ledger,	 [TAB_MESSAGES] = &view_messages,
	[TAB_AGENTS] = &view_agents,	 [TAB_DECISIONS] = &view_decisions,
};

void app_init(struct app *a, const struct model *m, const struct reader *r, struct str title,
	      bool ascii)
{
	memset(a, 0, sizeof(*a));
	a->scene = (struct scene){ .model = m, .now_ms = TIME_NONE, .reader = r, .ascii = ascii,
				   .app = a };
	a->title = title;
	a->tab = TAB_INBOX;
	a->wall_ms = TIME_NONE;
	a->list_until_ms = INT64_MAX;
	a->scene.triage = &a->deciding.triage;
	for (int i = 0; i < TAB_COUNT; i++)
		a->lists[i].view = tab_views[i];
	memset(a->stale, true, sizeof(a->stale));
	keymap_init(&a->keymap, app_commands, app_command_count);
	a->scene.keymap = &a->keymap;
}

void app_release(struct app *a)
{
	app_cancel_list(a);
	for (int i = 0; i < TAB_COUNT; i++)
		pane_release(&a->lists[i]);
	for (unsigned i = 0; i < a->screen_count; i++)
		pane_release(&a->screens[i].pane);
	if (a->preview.view)
		pane_release(&a->preview);
	vec_release(&a->effects);
	arena_release(&a->effect_strings);
	keymap_release(&a->keymap);
	trail_release(a);
	playback_close(&a->playback);
	app_drop_asof(a);
	ledger_release(a->scene.loops);
	deciding_release(&a->deciding);
	prompt_release(&a->prompt);
	filter_free(a->filter);
	buf_release(&a->word);
	app_count_release(a);
	app_bookmarks_release(a);
	buf_release(&a->filter_text);
	buf_release(&a->hints);
	buf_release(&a->filtering.before);
	buf_release(&a->notice);
	buf_release(&a->strip);
	buf_release(&a->banner);
	buf_release(&a->incomplete);
	free(a->confirm_edit);
}

void app_say(struct app *a, enum role role, const char *format, ...)
{
	struct buf text = { 0 };
	va_list ap;

	va_start(ap, format);
	keymap_vprintf(&a->keymap, &text, format, ap);
	va_end(ap);
	buf_release(&a->notice); /* it may be among the arguments */
	a->notice = text;
	a->notice_role = role;
}

void app_effect(struct app *a, struct effect e)
{
	vec_push(&a->effects, e);
}

struct str app_effect_dup(struct app *a, struct str s)
{
	return s.n ? arena_str(&a->effect_strings, s) : STR_NONE;
}

void app_effects_taken(struct app *a)
{
	a->effects.n = 0;
	arena_reset(&a->effect_strings);
}

void app_invalidate(struct app *a)
{
	memset(a->stale, true, sizeof(a->stale));
	a->previewed.type = TARGET_NONE;
	for (unsigned i = 0; i < a->screen_count; i++) {
		a->screens[i].stale = true;
		if (a->screens[i].page.type == TARGET_NONE)
			a->screens[i].pane.made = false;
	}
}

/* The counts of the title line and the scene's now; only new messages are looked at. */
static void count(struct app *a)
{
	const struct model *m = a->scene.model;

	if (a->playback.model) {
		a->errors = playback_errors(&a->playback, a->scene.k);
		a->open = asof_open(a->scene.asof, a->scene.k, scene_clock(&a->scene), &a->due);
		/* the timeline's list is that of the whole recording, not made anew for each k */
		a->diverging = a->scene.loops ? ledger_diverging(a->scene.loops, a->scene.k) : 0;
		a->counted = 0; /* count from the start once the playback is closed */
		a->scene.foreign = 0;
		return;
	}
	if (!a->counted)
		a->errors = a->scene.foreign = 0;
	for (; a->counted < a->scene.k; a->counted++) {
		enum dialect_id dialect = message_route(m, a->counted)->dialect;

		a->errors += m->records.v[a->counted].errors > 0;
		a->scene.foreign += dialect == DIALECT_UNKNOWN || dialect == DIALECT_TEXT;
	}
	a->scene.live = a->wall_ms != TIME_NONE;
	a->scene.now_ms = a->scene.live ? a->wall_ms : model_now(m, a->scene.k);
	a->open = model_open(m, a->scene.k, scene_clock(&a->scene), &a->due);
}

void app_clock(struct app *a, int64_t wall_ms)
{
	a->wall_ms = wall_ms;
	if (a->live == LIVE_PAUSED || a->playback.model)
		return;
	count(a);
	/* these show countdowns or draw the current time */
	a->stale[TAB_INBOX] = a->stale[TAB_TIMELINE] = a->stale[TAB_AGENTS] = true;
	a->stale[TAB_SESSIONS] = true;
	a->preview_stale = true;
	for (unsigned i = 0; i < a->screen_count; i++)
		a->screens[i].stale |= a->screens[i].pane.view == &view_item ||
				       a->screens[i].page.type != TARGET_NONE;
}

void app_incomplete(struct app *a, struct str text)
{
	if (str_eq(text, buf_str(&a->incomplete)))
		return;
	app_cancel_list(a); /* its lines point to the old text */
	buf_clear(&a->incomplete);
	buf_add_str(&a->incomplete, text);
	a->scene.incomplete = buf_str(&a->incomplete);
	a->select_last = a->follows;
	a->stale[TAB_MESSAGES] = true;
}

void app_arrived(struct app *a, uint64_t bytes_done, uint64_t bytes_total, bool reading)
{
	/* during the first read, a list stays at its top until the user moves in it */
	for (int i = 0; a->scene.reading && i < TAB_COUNT; i++)
		if (!a->lists[i].touched)
			a->lists[i].made = false;
	a->bytes_done = bytes_done;
	a->bytes_total = bytes_total;
	a->scene.reading = reading;
	a->told = a->scene.model->records.n;
	if (a->scene.k == a->told || a->playback.model)
		return;
	a->select_last = a->follows;
	app_to_end(a);
}

void app_to_end(struct app *a)
{
	a->scene.k = a->scene.model->records.n;
	app_scene_changed(a);
}

void app_decided(struct app *a)
{
	if (a->playback.model) {
		app_scene_changed(a);
		return;
	}
	/* what was sent is a message, and is to be seen even while drawing is paused */
	if (a->scene.k < a->scene.model->records.n)
		a->select_last = a->follows;
	app_to_end(a);
}

void app_scene_changed(struct app *a)
{
	count(a);
	memset(a->stale, true, sizeof(a->stale));
	for (unsigned i = 0; i < a->screen_count; i++)
		a->screens[i].stale = true;
	a->preview_stale = true;
}

void app_show_plan(struct app *a, const struct plan *plan)
{
	if (app_shows(a, &view_preflight))
		app_back(a);
	a->scene.plan = plan;
	a->deciding.opened_ms = a->clock_ms;
	a->deciding.sent = false; /* a y is for this page now */
	preflight_reset(a);
	app_open_view(a, &view_preflight, 0, 0);
}

void app_change_plan(struct app *a, const struct plan *plan)
{
	a->scene.plan = plan;
	preflight_reset(a);
	app_screen(a)->stale = true;
}

void app_resize(struct app *a, int rows, int cols)
{
	if (rows == a->rows && cols == a->cols)
		return;
	/* y must not confirm a page that looks different now */
	if (a->rows && app_shows(a, &view_preflight)) {
		app_back(a);
		app_say(a, ROLE_WARN, "the terminal was resized; {deliver} shows the page again");
	}
	if (a->deciding.confirm != CONFIRM_NONE || a->confirm_edit)
		buf_clear(&a->notice);
	a->deciding.confirm = CONFIRM_NONE;
	free(a->confirm_edit);
	a->confirm_edit = NULL;
	a->rows = rows;
	a->cols = cols;
	app_invalidate(a);
}

struct screen *app_screen(struct app *a)
{
	return a->screen_count ? &a->screens[a->screen_count - 1] : NULL;
}

bool app_shows(struct app *a, const struct view_ops *view)
{
	return a->screen_count && app_screen(a)->pane.view == view;
}

struct screen *app_page(struct app *a)
{
	for (unsigned i = a->screen_count; i-- > 0;)
		if (a->screens[i].page.type != TARGET_NONE)
			return &a->screens[i];
	return NULL;
}

struct pane *app_list(struct app *a)
{
	struct screen *page = app_page(a);

	return page ? &page->pane : &a->lists[a->tab];
}

struct scene app_list_scene(struct app *a)
{
	struct screen *page = app_page(a);

	return page ? app_scene_of(a, page) : a->scene;
}

struct pane *app_pane(struct app *a)
{
	if (a->screen_count)
		return &app_screen(a)->pane;
	if (a->preview_focused && a->preview.view && a->preview_rect.rows > 0)
		return &a->preview;
	return app_list(a);
}

struct scene app_scene_of(const struct app *a, const struct screen *s)
{
	struct scene scene = a->scene;

	scene.item = s->item;
	scene.message = s->message;
	scene.page = s->page;
	if (s->k && s->k < scene.k) {
		scene.k = s->k;
		scene.now_ms = model_now(scene.model, s->k);
		scene.live = false;
	}
	return scene;
}

static void open_screen(struct app *a, struct screen fresh)
{
	struct screen *s = app_screen(a);

	if (s && s->pane.view == fresh.pane.view && s->item == fresh.item &&
	    s->message == fresh.message && s->page.number == fresh.page.number && !s->k)
		return; /* shown already */
	if (a->screen_count == SCREENS_MAX) {
		app_say(a, ROLE_WARN, "too many screens are open; {back} closes one");
		return;
	}
	a->screens[a->screen_count++] = fresh;
}

void app_open_view(struct app *a, const struct view_ops *view, uint32_t item, uint32_t message)
{
	open_screen(a, (struct screen){ .item = item, .message = message,
					.pane = { .view = view,
						  .text = view != &view_preflight &&
							  view != &view_bookmarks } });
}

const struct view_ops *app_page_view(struct target target)
{
	switch (target.type) {
	case TARGET_TASK: return &view_task;
	case TARGET_AGENT: return &view_agent;
	case TARGET_SESSION: return &view_session;
	case TARGET_NONE:
	case TARGET_ITEM:
	case TARGET_LOOP:
	case TARGET_MESSAGE: break;
	}
	return NULL;
}

void app_open(struct app *a, struct target target)
{
	switch (target.type) {
	case TARGET_ITEM: app_open_view(a, &view_item, target.number, 0); break;
	case TARGET_MESSAGE: app_open_view(a, &view_message, 0, target.number); break;
	case TARGET_LOOP: app_open_view(a, &view_loop, 0, target.number); break;
	case TARGET_TASK:
	case TARGET_AGENT:
	case TARGET_SESSION:
		open_screen(a, (struct screen){ .page = target, .stale = true,
						.pane = { .view = app_page_view(target) } });
		break;
	case TARGET_NONE: app_say(a, ROLE_DIM, "nothing to open here"); break;
	}
}

bool app_back(struct app *a)
{
	if (a->screen_count) {
		if (a->listing.pane == &app_screen(a)->pane)
			app_cancel_list(a);
		pane_release(&app_screen(a)->pane);
		a->screen_count--;
		return true;
	}
	if (a->preview_focused || a->maximised) {
		a->preview_focused = a->maximised = false;
		return true;
	}
	if (a->scene.narrowed.type != TARGET_NONE && (a->narrowed_last || !a->filter_text.n)) {
		app_narrow(a, target_none);
		return true;
	}
	if (a->filter_text.n) {
		app_set_filter(a, STR_NONE);
		app_say(a, ROLE_DIM, "filter off");
		return true;
	}
	return false;
}

void app_show_tab(struct app *a, enum tab tab)
{
	while (a->screen_count)
		app_back(a);
	a->tab = tab;
	a->preview_focused = false;
}

/* ---- keys ---- */

unsigned app_where(const struct app *a, unsigned screens)
{
	unsigned replay = a->playback.model ? IN_REPLAY : 0;

	if (screens)
		return IN_SCREEN | replay;
	return IN_LIST | replay | (a->tab == TAB_TIMELINE ? (unsigned)IN_TIMELINE : 0) |
	       (a->tab == TAB_AGENTS ? (unsigned)IN_AGENTS : 0);
}

static void run_command(struct app *a, const struct app_command *c, struct str argument)
{
	if (a->playback.model &&
	    (strcmp(c->section, "decide") == 0 || strcmp(c->section, "live") == 0 ||
	     strcmp(c->section, "agents") == 0)) {
		app_say(a, ROLE_WARN, "%s", replay_refusal);
		decide_refused(a);
		return;
	}
	if (!(c->where & app_where(a, a->screen_count))) {
		app_say(a, ROLE_WARN, "%s: not available here; {help} lists what is", c->name);
		return;
	}
	if (argument.n && c->arguments[0] == ARGUMENT_NONE) {
		app_say(a, ROLE_ERROR, "%s takes no argument", c->name);
		return;
	}
	app_refresh(a);
	c->run(a, argument, c->number);
}

/* The line of that list for line N of the log, of several that of the selected message, or for the
 * next one; else the last line of that log. */
static uint32_t find_line(const struct app *a, const struct pane *p, uint64_t number)
{
	const struct model *m = a->scene.model;
	struct target here = pane_target(p, &a->scene);
	uint32_t found = 0;

	if (here.type != TARGET_MESSAGE)
		return 0;
	for (uint32_t i = 0; i < p->lines.list.n; i++) {
		struct target t = pane_line_target(p, &a->scene, i);

		if (t.type != TARGET_MESSAGE ||
		    message_route(m, t.number)->source != message_route(m, here.number)->source)
			continue;
		found = i;
		if (message_line(m, t.number) == number ||
		    (message_line(m, t.number) > number && !p->lines.sort.column))
			break;
	}
	return found;
}

/* :N goes to line N of the log in the list of messages, to line N of the list elsewhere. */
static void go_to_line(struct app *a, uint64_t number)
{
	struct pane *p = app_list(a);

	app_refresh(a);
	if (p != &a->lists[TAB_MESSAGES]) {
		if (number > UINT32_MAX)
			number = UINT32_MAX;
		pane_select(p, number ? (uint32_t)number - 1 : 0);
		return;
	}
	pane_select(p, find_line(a, p, number));
}

void app_run(struct app *a, struct str line)
{
	struct str name = str_first_word(&line);
	const struct app_command *c;
	char q[QUOTED_MAX];
	uint64_t number;
	unsigned n;

	if (!name.n)
		return;
	if (str_to_u64(name, &number)) {
		go_to_line(a, number);
		return;
	}
	c = keymap_command(&a->keymap, name, &n);
	if (c)
		run_command(a, c, line);
	else if (n)
		app_say(a, ROLE_ERROR, "%u commands begin with %s; Tab completes", n,
			quoted(name, q));
	else
		app_say(a, ROLE_ERROR, "no command %s; Tab completes, {help} lists them",
			quoted(name, q));
}

bool app_bind(struct app *a, uint32_t key, const char *line)
{
	struct str argument = str_of(line), name = str_first_word(&argument);
	const struct app_command *c = NULL;
	unsigned n;

	if (line && !(c = keymap_command(&a->keymap, name, &n)))
		return false;
	keymap_bind(&a->keymap, key, c, argument);
	return true;
}

/* Incremental search: always from where it began, so that the result does not depend on what the
 * earlier letters matched nor on how fast they were typed. */
static void prompt_changed(struct app *a)
{
	if (a->prompt.kind == PROMPT_FILTER)
		app_filter_typed(a);
	if (a->prompt.kind != PROMPT_SEARCH)
		return;
	app_search_restore(a);
	buf_clear(&a->word);
	buf_add_str(&a->word, buf_str(&a->prompt.text));
	buf_clear(&a->notice);
	if (a->word.n)
		app_search(a, a->search_from, 1, false);
}

static void prompt_done(struct app *a)
{
	enum prompt_kind kind = a->prompt.kind;
	struct buf text = { 0 };

	buf_add_str(&text, buf_str(&a->prompt.text));
	a->prompt.kind = PROMPT_NONE;
	if (kind == PROMPT_COMMAND)
		app_run(a, buf_str(&text));
	else if (kind == PROMPT_FILTER && app_set_filter(a, str_trim(buf_str(&text))))
		app_say(a, ROLE_DIM,
			text.n ? "filtered; {back <Esc>} clears the filter"
				  : "filter off");
	else if (kind == PROMPT_FILTER)
		prompt_open(&a->prompt, kind, buf_str(&text)); /* to be corrected */
	else if (kind == PROMPT_SEARCH && !text.n && a->word.n)
		app_search(a, app_search_line(a), 1, true); /* repeats the last search */
	else if (kind == PROMPT_SEARCH && text.n && a->search_missed)
		app_say_missed(a); /* the key has cleared the line */
	else if (kind == PROMPT_NOTE)
		app_bookmark_noted(a, buf_str(&text));
	else if (kind == PROMPT_AGENT)
		app_agent_prompted(a, buf_str(&text));
	else
		decide_answered(a, kind, buf_str(&text));
	buf_release(&text);
}

static void handle_prompt_key(struct app *a, const struct key *key)
{
	enum prompt_kind kind = a->prompt.kind;
	struct err err;

	/* a search may look for any bytes; all else may be sent */
	if (key->code == KEY_PASTE && kind != PROMPT_SEARCH && kind != PROMPT_FILTER &&
	    utf8_check(key->text, "the pasted text", &err)) {
		app_say(a, ROLE_ERROR, "%s", err.text);
		return;
	}
	switch (prompt_key(&a->prompt, key, app_complete, a)) {
	case PROMPT_GOES_ON:
		break;
	case PROMPT_CHANGED:
		prompt_changed(a);
		break;
	case PROMPT_DONE:
		prompt_done(a);
		break;
	case PROMPT_CANCELLED:
		if (a->prompt.kind == PROMPT_SEARCH) {
			buf_clear(&a->word);
			app_search_restore(a);
		} else if (a->prompt.kind == PROMPT_FILTER) {
			app_filter_restore(a);
		}
		a->prompt.kind = PROMPT_NONE;
		a->deciding.on_marked = false;
		buf_clear(&a->notice);
		if (kind == PROMPT_EXPLAIN || kind == PROMPT_ANSWER || kind == PROMPT_RULE)
			app_say(a, ROLE_DIM, "nothing was staged");
		break;
	}
}

/* The wheel scrolls what it is over; a click selects, or works as the key that a hint names. The mouse
 * never decides. */
static void handle_mouse(struct app *a, const struct key *key)
{
	const struct binding *hint;
	struct pane *p = app_pane(a);
	int by = key->mouse == MOUSE_WHEEL_UP ? -3 : 3;

	if (replay_mouse(a, key))
		return;
	if (!a->screen_count && rect_has(a->preview_rect, key->row, key->col) && a->preview.view)
		p = &a->preview;
	else if (!a->screen_count)
		p = app_list(a);
	if (key->mouse == MOUSE_WHEEL_UP || key->mouse == MOUSE_WHEEL_DOWN) {
		pane_scroll(p, by);
		return;
	}
	if (key->mouse != MOUSE_PRESS || key->button != 1)
		return;
	if ((hint = app_hint_at(a, key->row, key->col))) {
		run_command(a, hint->command, str_of(hint->argument));
	} else if (key->row == 1) {
		int tab = app_tab_at(a, key->col);

		if (tab >= 0 && a->screen_count)
			trail_push(a);
		if (tab >= 0)
			app_show_tab(a, (enum tab)tab);
	} else if (a->screen_count && !p->text && rect_has(a->screen_rect, key->row, key->col)) {
		int heading = a->screen_rect.rows - p->rows;
		uint32_t line = pane_line_in_row(p, key->row - a->screen_rect.row - heading);

		if (line != NONE)
			pane_select(p, line);
	} else if (!a->screen_count && rect_has(a->list_rect, key->row, key->col)) {
		int first = a->list_rect.rows - p->rows; /* the heading's row */
		int row = key->row - a->list_rect.row - first;
		uint32_t line = pane_line_in_row(p, row);

		a->preview_focused = false;
		if (row < 0)
			app_sort_click(a, key->col - a->list_rect.col - GUTTER_COLS + p->left);
		if (line != NONE)
			pane_select(p, line);
	} else if (!a->screen_count && rect_has(a->preview_rect, key->row, key->col)) {
		a->preview_focused = true;
	}
}

/* Moving up in the list of messages ends following, also from another list. */
static void note_moved_up(struct app *a, uint32_t selected)
{
	if (!a->follows || a->lists[TAB_MESSAGES].selected >= selected)
		return;
	a->follows = a->select_last = false;
	if (!a->notice.n)
		app_say(a, ROLE_DIM, "not following any more; {bottom} goes to the end and "
				     "stays there");
}

static void handle_key(struct app *a, const struct key *key)
{
	const struct binding *bound;
	bool on_marked;

	app_search_interrupt(a, key);
	if (a->confirm_edit) {
		char *file = a->confirm_edit;

		a->confirm_edit = NULL;
		buf_clear(&a->notice);
		if (key->code == 'y')
			app_effect(a, (struct effect){ EFFECT_EDIT,
						       .edit = { app_effect_dup(a, str_of(file)).p,
								 a->confirm_line } });
		free(file);
		return;
	}
	if (a->prompt.kind != PROMPT_NONE) {
		handle_prompt_key(a, key);
		return;
	}
	if (decide_key(a, key))
		return;
	if (key->code == KEY_PASTE)
		return; /* pasted text is no command */
	buf_clear(&a->notice);
	if (key->code == KEY_MOUSE) {
		handle_mouse(a, key);
		return;
	}
	bound = keymap_find(&a->keymap, key->code, app_where(a, a->screen_count));
	if (bound) {
		on_marked = a->deciding.on_marked;
		run_command(a, bound->command, str_of(bound->argument));
		/* on-marked lasts for one command and its prompt */
		if (on_marked && a->prompt.kind == PROMPT_NONE)
			a->deciding.on_marked = false;
		return;
	}
	a->deciding.on_marked = false;
	app_say(a, ROLE_DIM, key->code == KEY_CTRL('C') ? "{quit} quits"
						      : "key not bound here; {help} lists keys");
}

void app_key(struct app *a, const struct key *key)
{
	uint32_t selected = a->lists[TAB_MESSAGES].selected;

	handle_key(a, key);
	note_moved_up(a, selected);
}
