/* The command table: name, default keys, help sentence and function of every command. Commands only
 * change the app's state or queue effects. */
#include "app/app.h"
#include "app/commands.h"
#include "draw/paint.h"

enum { SIDEWAYS_COLS = 16, SIDEWAYS_MAX_COLS = 2048 };

static void move(struct app *a, int64_t by)
{
	struct pane *p = app_pane(a);

	if (!p->text)
		pane_move(p, by);
	else
		pane_scroll(p, by);
}

static int64_t page(struct app *a)
{
	int rows = app_pane(a)->rows;

	return rows > 2 ? rows - 1 : 1;
}

/* The end of a live log's messages is where one follows them. */
static COMMAND(move)
{
	move(a, number);
	if (number == INT32_MAX && a->tab == TAB_MESSAGES && app_pane(a) == app_list(a) &&
	    a->live != LIVE_NOT && !a->playback.model)
		a->follows = a->select_last = true;
}

static COMMAND(page) { move(a, number * page(a)); }
static COMMAND(half_page) { move(a, number * ((page(a) + 1) / 2)); }

/* Scrolls the preview if it is shown; at its end, selects the next line of the list. */
static COMMAND(scroll)
{
	struct pane *p = a->screen_count || !a->preview.view || a->preview_rect.rows <= 0
				 ? app_pane(a)
				 : &a->preview;
	uint32_t before = p->top;

	pane_scroll(p, p->rows > 1 ? p->rows - 1 : 1);
	if (p->top == before && p == &a->preview)
		pane_move(app_list(a), 1);
}

static void go_message(struct app *a, uint32_t message);

static COMMAND(open)
{
	struct screen *s = app_screen(a);
	struct scene scene = s ? app_scene_of(a, s) : a->scene;
	struct pane *p = s ? &s->pane : app_list(a);

	if (app_shows(a, &view_bookmarks) && pane_target(p, &scene).type == TARGET_MESSAGE)
		go_message(a, pane_target(p, &scene).number);
	else
		app_open(a, pane_target(p, &scene));
}

static COMMAND(back)
{
	if (!app_back(a))
		app_say(a, ROLE_DIM, "{quit} quits");
}

static COMMAND(other_pane)
{
	if (a->preview_rect.rows > 0 || a->maximised)
		a->preview_focused = !a->preview_focused;
}

static COMMAND(maximise) { a->maximised = !a->maximised; }
static COMMAND(tab) { app_show_tab(a, (enum tab)number); }

static COMMAND(all)
{
	a->scene.all = !a->scene.all;
	app_invalidate(a);
	app_say(a, ROLE_DIM, a->scene.all ? "every item" : "open items");
}

/* A list is made anew, with more room for the column that grows. */
COMMAND(sideways)
{
	struct pane *p = app_pane(a);

	if (number > 0 && !p->more) {
		app_say(a, ROLE_DIM, "no line goes on to the right");
		return;
	}
	if (number < 0 && !p->left) {
		app_say(a, ROLE_DIM, "lines begin here");
		return;
	}
	p->left += number * SIDEWAYS_COLS;
	if (p->left > SIDEWAYS_MAX_COLS)
		p->left = SIDEWAYS_MAX_COLS;
	if (p != app_list(a))
		return;
	app_cancel_list(a); /* it would have the old width */
	a->stale[a->tab] = true;
}

static COMMAND(search)
{
	app_pane(a)->found = 0;
	a->search_from = app_search_line(a);
	if (!argument.n) {
		prompt_open(&a->prompt, PROMPT_SEARCH, STR_NONE);
		return;
	}
	buf_clear(&a->word);
	buf_add_str(&a->word, argument);
	app_search(a, a->search_from, 1, false);
}

static COMMAND(search_again)
{
	if (!a->word.n)
		app_say(a, ROLE_DIM, "nothing was searched for; {search} does");
	else
		app_search(a, app_search_line(a), number, true);
}

static COMMAND(filter)
{
	if (argument.n)
		app_set_filter(a, argument);
	else
		app_filter_prompt(a);
}

/* Selects the next open item of the list, and shows it if an item was shown. */
static COMMAND(open_item_step)
{
	bool on_item = app_shows(a, &view_item);
	struct pane *p = app_list(a);
	struct item_state at;

	for (int64_t i = (int64_t)p->selected + number; i >= 0 && i < p->lines.list.n;
	     i += number) {
		struct target t = pane_line_target(p, &a->scene, (uint32_t)i);

		if (t.type != TARGET_ITEM || !decide_state(a, t.number, &at) || !at.open)
			continue;
		pane_select(p, (uint32_t)i);
		if (on_item) {
			app_back(a);
			app_open(a, pane_target(p, &a->scene));
		}
		return;
	}
	app_say(a, ROLE_DIM, "no more open items here");
}

uint32_t app_message_here(struct app *a)
{
	struct screen *s = app_screen(a);
	struct target t;
	struct item_state at;

	if (app_shows(a, &view_message))
		return s->message;
	if (app_shows(a, &view_item))
		t = (struct target){ TARGET_ITEM, s->item };
	else
		t = pane_target(app_list(a), &a->scene);
	if (t.type == TARGET_MESSAGE)
		return t.number;
	if (t.type == TARGET_ITEM && decide_state(a, t.number, &at))
		return at.message;
	return NONE;
}

/* Selects a message in the list of messages, and shows it if a message was shown. */
static void go_message(struct app *a, uint32_t message)
{
	bool on_message = app_shows(a, &view_message);
	uint32_t line;

	app_show_tab(a, TAB_MESSAGES);
	app_refresh(a);
	line = app_message_line(a, message);
	if (line != NONE)
		pane_select(app_list(a), line);
	if (line == NONE || on_message) /* the filter hides it from the list */
		app_open(a, (struct target){ TARGET_MESSAGE, message });
}

/* The next message with a problem; with warnings false, with an error. */
static void problem_step(struct app *a, int direction, bool warnings)
{
	const struct model *m = a->scene.model;
	uint32_t k = a->scene.k, here = app_message_here(a), at;

	if (here == NONE)
		here = direction > 0 && k ? k - 1 : 0;
	for (uint32_t n = 1; n <= k; n++) {
		at = direction > 0 ? (here + n) % k : (here + k - n) % k;
		if (!m->records.v[at].errors && !(warnings && m->records.v[at].warnings))
			continue;
		go_message(a, at);
		app_say_wrapped(a, here, at, direction);
		return;
	}
	app_say(a, ROLE_DIM, warnings ? "no message has a problem" : "no message has an error");
}

static COMMAND(problem_step) { problem_step(a, number, true); }

/* In a replay, to where the error comes. */
static COMMAND(error_step)
{
	if (a->playback.model)
		run_mark_jump(a, argument, number * PLAYBACK_ERROR);
	else
		problem_step(a, number, false);
}

static COMMAND(along)
{
	const struct model *m = a->scene.model;
	uint32_t here = app_message_here(a);

	if (here == NONE || !m->records.v[here].chain) {
		app_say(a, ROLE_DIM, "this message is not part of a correlation");
		return;
	}
	for (uint32_t n = 1; n < a->scene.k; n++) {
		uint32_t i = (here + n) % a->scene.k;

		if (m->records.v[i].chain == m->records.v[here].chain &&
		    message_route(m, i)->session == message_route(m, here)->session) {
			vec_push(&a->trail, here);
			go_message(a, i);
			return;
		}
	}
	app_say(a, ROLE_DIM, "no other message of this correlation");
}

static COMMAND(along_back)
{
	if (!a->trail.n)
		app_say(a, ROLE_DIM, "nowhere to go back to");
	else
		go_message(a, a->trail.v[--a->trail.n]);
}

uint32_t app_item_here(struct app *a)
{
	struct screen *s = app_screen(a);
	struct target t;

	if (app_shows(a, &view_item) || app_shows(a, &view_diff))
		return s->item;
	if (s)
		return NONE;
	t = pane_target(app_list(a), &a->scene);
	return t.type == TARGET_ITEM ? t.number : NONE;
}

uint32_t app_need_item(struct app *a)
{
	uint32_t item = app_item_here(a);

	if (item == NONE)
		app_say(a, ROLE_DIM, "no item is selected");
	return item;
}

static COMMAND(diff)
{
	uint32_t item = app_need_item(a);

	if (item != NONE)
		app_open_view(a, &view_diff, item, 0);
}

static COMMAND(changes)
{
	if (!a->scene.artifact)
		app_say(a, ROLE_DIM, "no artifact is under review here; gavel review has one");
	else
		app_open_view(a, &view_changes, 0, 0);
}

/* Shows the item as of the iteration that raised it before or after the one shown. */
static COMMAND(iteration_step)
{
	struct screen *s = app_screen(a);
	const struct item *item;
	uint32_t shown, best = NONE;

	if (!app_shows(a, &view_item)) {
		app_say(a, ROLE_DIM, "open an item first");
		return;
	}
	item = &a->scene.model->items.v[s->item];
	shown = s->k ? s->k : a->scene.k;
	for (uint32_t i = 0; i < item->n; i++) {
		uint32_t k = item->steps[i].message + 1;

		if (item->steps[i].what != STEP_RAISED || k > a->scene.k)
			continue;
		if (number < 0 && k < shown)
			best = k;
		if (number > 0 && k > shown && best == NONE)
			best = k;
	}
	if (best == NONE && number > 0 && s->k)
		best = 0; /* back to the present */
	if (best == NONE) {
		app_say(a, ROLE_DIM, "raised in no other iteration");
		return;
	}
	s->k = best;
	s->pane.made = false;
	if (best)
		app_say(a, ROLE_DIM, "as of message %u; {iteration-forward} goes on", best);
	else
		app_say(a, ROLE_DIM, "as it is now");
}

/* Messages are untrusted: only a relative path below the current folder may be opened. */
static bool is_path_below_cwd(struct str path)
{
	return path.n && path.p[0] != '/' && path.p[0] != '~' && path.p[0] != '-' &&
	       !memchr(path.p, 0, path.n) && !str_is(path, "..") &&
	       !str_starts(path, STR("../")) && str_find(path, STR("/../"), 0) < 0 &&
	       !str_ends(path, STR("/.."));
}

static COMMAND(edit_file)
{
	uint32_t item = app_item_here(a);
	struct detail d;
	struct item_state at;
	struct str file = STR_NONE;
	uint64_t line = 0;
	char q[QUOTED_MAX];

	if (item != NONE && decide_state(a, item, &at) &&
	    a->scene.reader->detail(a->scene.reader->ctx, &a->scene.model->items.v[item], &at, &d))
		for (unsigned i = 0; i < d.n; i++) {
			if (strcmp(d.field[i].label, "file") == 0)
				file = d.field[i].text;
			else if (strcmp(d.field[i].label, "line") == 0)
				str_to_u64(d.field[i].text, &line);
		}
	if (!file.n) {
		app_say(a, ROLE_DIM, "this names no file");
	} else if (!is_path_below_cwd(file)) {
		app_say(a, ROLE_WARN, "%s is not below the current folder: not opened",
			quoted(file, q));
	} else {
		a->confirm_edit = str_dup(file);
		a->confirm_line = line < 10000000 ? (uint32_t)line : 0;
		app_say(a, ROLE_KEY, "open %s in $EDITOR? y opens, any other key does not",
			quoted(file, q));
	}
}

static COMMAND(raw)
{
	a->scene.raw = !a->scene.raw;
	app_invalidate(a);
	app_say(a, ROLE_DIM, a->scene.raw ? "bytes as they came" : "pretty");
}

static COMMAND(recover) { app_open_view(a, &view_recovery, 0, 0); }

static COMMAND(follow)
{
	/* who knows that f follows need not look whether it does already */
	a->follows = !a->follows || a->follows_unasked;
	a->follows_unasked = false;
	a->select_last = a->follows;
	app_say(a, ROLE_DIM, "the list of messages stays %s",
		a->follows ? "at its end" : "where you leave it");
}

static COMMAND(tell)
{
	struct session_command c = { .type = (enum session_command_type)number };

	if (decide_is_read_only(a)) {
		app_say(a, ROLE_WARN, "read-only: nothing can be said here");
		return;
	}
	if (c.type == SESSION_ACKNOWLEDGE) {
		c.message = app_message_here(a);
	} else if (c.type == SESSION_STATUS) {
		c.target = app_effect_dup(a, argument);
	} else {
		c.target = app_effect_dup(a, str_first_word(&argument));
		c.reason = app_effect_dup(a, argument);
	}
	app_effect(a, (struct effect){ EFFECT_TELL, .tell = c });
}

static COMMAND(agent)
{
	struct agent_order o = { .type = (enum order_type)number };

	if (o.type == ORDER_CANCEL || o.type == ORDER_ASSIGN)
		o.task = app_effect_dup(a, str_first_word(&argument));
	*(o.type == ORDER_CANCEL ? &o.reason : &o.agent) = app_effect_dup(a, argument);
	app_effect(a, (struct effect){ EFFECT_AGENT, .order = o });
}

static COMMAND(turn)
{
	app_effect(a, (struct effect){ EFFECT_TURN, .turn = (enum turn_action)number });
}

static COMMAND(pause)
{
	if (a->live == LIVE_NOT) {
		app_say(a, ROLE_DIM, "nothing is followed");
	} else if (a->live == LIVE_PAUSED) {
		a->live = LIVE_ON;
	} else {
		a->live = LIVE_PAUSED;
		app_say(a, ROLE_DIM, "paused: what comes is taken and not shown; {pause} goes on");
	}
}

static COMMAND(prompt) { prompt_open(&a->prompt, PROMPT_COMMAND, STR_NONE); }
static COMMAND(help) { app_open_view(a, &view_help, 0, 0); }
static COMMAND(effect) { app_effect(a, (struct effect){ (enum effect_type)number }); }

static COMMAND(theme)
{
	if (theme_find(argument, 0))
		app_effect(a, (struct effect){ EFFECT_THEME,
					       .file = app_effect_dup(a, argument).p });
	else
		app_say(a, ROLE_ERROR, "theme takes one of dark, light, mono");
}

static COMMAND(save_screen)
{
	if (argument.n)
		app_effect(a, (struct effect){ EFFECT_SAVE_SCREEN,
					       .file = app_effect_dup(a, argument).p });
	else
		app_say(a, ROLE_ERROR, "save-screen needs a file name");
}

const struct app_command app_commands[] = {
	{ "move", "down", "j<Down>", "next line", ANYWHERE, run_move, 1 },
	{ "move", "up", "k<Up>", "previous line", ANYWHERE, run_move, -1 },
	{ "move", "top", "g<Home>", "first line", ANYWHERE, run_move, INT32_MIN },
	{ "move", "bottom", "G<End>", "last line", ANYWHERE, run_move, INT32_MAX },
	{ "move", "half-down", "<C-d>", "half a page down", ANYWHERE, run_half_page, 1 },
	{ "move", "half-up", "<C-u>", "half a page up", ANYWHERE, run_half_page, -1 },
	{ "move", "page-down", "<PageDown><C-f>", "a page down", ANYWHERE, run_page, 1 },
	{ "move", "page-up", "<PageUp><C-b>", "a page up", ANYWHERE, run_page, -1 },
	{ "move", "scroll", "<Space>", "scroll what you read", ANYWHERE, run_scroll },
	{ "move", "open", "<Enter>", "open what is selected", ANYWHERE, run_open },
	{ "move", "back", "q<Esc>", "back: close the screen, the pane, the filter", ANYWHERE,
	  run_back },
	{ "move", "other-pane", "<Tab>", "to the other pane", IN_LIST, run_other_pane },
	{ "move", "maximise", "O", "this pane alone, and back", IN_LIST, run_maximise },
	{ "move", "inbox", "1", "what waits for a person", ANYWHERE, run_tab, TAB_INBOX },
	{ "move", "timeline", "2", "tasks over time", ANYWHERE, run_tab, TAB_TIMELINE },
	{ "move", "ledger", "3", "feedback by iteration", ANYWHERE, run_tab, TAB_LEDGER },
	{ "move", "messages", "4", "every message", ANYWHERE, run_tab, TAB_MESSAGES },
	{ "move", "agents", "5", "who takes part", ANYWHERE, run_tab, TAB_AGENTS },
	{ "move", "decisions", "6", "what was decided", ANYWHERE, run_tab, TAB_DECISIONS },

	{ "find", "search", "/", "search as you type", ANYWHERE, run_search },
	{ "find", "next", "n", "next match", ANYWHERE, run_search_again, 1 },
	{ "find", "previous", "N", "previous match", ANYWHERE, run_search_again, -1 },
	{ "find", "filter", "\\", "show only what matches", ANYWHERE, run_filter, 0,
	  { ARGUMENT_FILTER } },
	{ "find", "all", "A", "inbox: every item, or the open ones", IN_LIST, run_all },
	{ "find", "next-open", "J", "next open item", ANYWHERE, run_open_item_step, 1 },
	{ "find", "previous-open", "K", "previous open item", ANYWHERE, run_open_item_step, -1 },
	{ "find", "next-problem", "!", "next message with a problem", ANYWHERE,
	  run_problem_step, 1 },
	{ "find", "previous-problem", "~", "previous message with a problem", ANYWHERE,
	  run_problem_step, -1 },
	{ "find", "next-error", "", "next message with an error", ANYWHERE, run_error_step, 1 },
	{ "find", "previous-error", "", "previous message with an error", ANYWHERE,
	  run_error_step, -1 },
	{ "find", "along", "o", "next message of the same correlation", ANYWHERE, run_along },
	{ "find", "along-back", "<C-o>", "back to where {along} came from", ANYWHERE,
	  run_along_back },
	{ "find", "sort", "s", "sort the list by the next column; after the last, as it was",
	  IN_LIST, run_sort },
	{ "find", "sort-reverse", "S", "sort the other way round", IN_LIST, run_sort_reverse },

	{ "look", "diff", "d", "the artifact against its previous iteration", ANYWHERE, run_diff },
	{ "look", "changes", "w", "review: what changed in the artifact since it was sent",
	  ANYWHERE, run_changes },
	{ "look", "edit", "E", "review: the artifact in $EDITOR", ANYWHERE, run_turn, TURN_EDIT },
	{ "look", "iteration-back", "[", "the item one iteration earlier", IN_SCREEN,
	  run_iteration_step, -1 },
	{ "look", "iteration-forward", "]", "the item one iteration later", IN_SCREEN,
	  run_iteration_step, 1 },
	{ "look", "bookmark", "b", "set a bookmark with a note, or remove it; bookmark NOTE",
	  ANYWHERE, run_bookmark },
	{ "look", "bookmarks", "", "the bookmarks of this session", ANYWHERE, run_bookmarks },
	{ "look", "copy-id", "y", "copy the id of the item, agent or message", ANYWHERE,
	  run_copy_id },
	{ "look", "copy-message", "Y", "copy the message as it came", ANYWHERE, run_copy_message },
	{ "look", "edit-file", "v", "the file a finding names, in $EDITOR", ANYWHERE,
	  run_edit_file },
	{ "look", "raw", "r", "messages as they came, or pretty", ANYWHERE, run_raw },
	{ "look", "mark-right", "l", "next mark of the lane", IN_TIMELINE, run_mark_step, 1 },
	{ "look", "mark-left", "h", "previous mark of the lane", IN_TIMELINE, run_mark_step, -1 },
	{ "look", "zoom-in", "+", "a shorter stretch of time", IN_TIMELINE, run_zoom, 1 },
	{ "look", "zoom-out", "-", "a longer stretch of time", IN_TIMELINE, run_zoom, -1 },
	{ "look", "pan-left", "<Left>", "to the left; timeline: earlier", ANYWHERE, run_pan, -1 },
	{ "look", "pan-right", "<Right>", "to the right, where lines are cut; timeline: later",
	  ANYWHERE, run_pan, 1 },
	{ "look", "left", "<S-Left>", "scroll to the left, in the timeline, too", ANYWHERE,
	  run_sideways, -1 },
	{ "look", "right", "<S-Right>", "scroll to the right, in the timeline, too", ANYWHERE,
	  run_sideways, 1 },

	{ "decide", "accept", "a", "accept the item", ANYWHERE, run_verb, VERB_ACCEPT },
	{ "decide", "reject", "x", "reject the item", ANYWHERE, run_verb, VERB_REJECT },
	{ "decide", "partial", "p", "accept it in part", ANYWHERE, run_verb, VERB_PARTIAL },
	{ "decide", "escalate", "e", "ask someone above", ANYWHERE, run_verb, VERB_ESCALATE },
	{ "decide", "answer", "=", "answer the question", ANYWHERE, run_verb, VERB_ANSWER },
	{ "decide", "dismiss", "D", "dismiss it", ANYWHERE, run_verb, VERB_DISMISS },
	{ "decide", "defer", "z", "put it off until it is nearly due; bring it back", ANYWHERE,
	  run_defer },
	{ "decide", "explain", "c", "an explanation, in $EDITOR", ANYWHERE, run_explain },
	{ "decide", "reason", "C", "a reason code", ANYWHERE, run_reason },
	{ "decide", "mark", "m", "mark it", ANYWHERE, run_mark },
	{ "decide", "mark-all", "M", "mark all shown", ANYWHERE, run_mark_all },
	{ "decide", "on-marked", ";", "a verb on the marked ones", ANYWHERE, run_on_marked },
	{ "decide", "undo", "u", "undo what is staged, or give up what is held", ANYWHERE,
	  run_undo },
	{ "decide", "deliver", "$", "look at what will be sent, and send it", ANYWHERE,
	  run_deliver },
	{ "decide", "attach", "", "attach FILE: the artifact as it now is", ANYWHERE, run_attach },
	{ "decide", "input", "", "input LINE: which open input this output envelope answers",
	  ANYWHERE, run_input },
	{ "decide", "resend", "", "send what is held again", ANYWHERE, run_resend },
	{ "decide", "recover", "", "what an earlier run left unfinished", ANYWHERE, run_recover },

	{ "live", "follow", "f", "the list of messages stays at its end, or not", ANYWHERE,
	  run_follow },
	{ "live", "stop", "", "stop AGENT: end an agent that gavel runs, in order", ANYWHERE,
	  run_agent, ORDER_STOP, { ARGUMENT_AGENT } },
	{ "live", "restart", "", "restart AGENT: end it if it runs, and begin anew", ANYWHERE,
	  run_agent, ORDER_RESTART, { ARGUMENT_AGENT } },
	{ "live", "cancel", "", "cancel TASK REASON: take a task away from the agent that has it",
	  ANYWHERE, run_agent, ORDER_CANCEL, { ARGUMENT_TASK } },
	{ "live", "assign", "", "assign TASK AGENT: give a task that was let in to an agent",
	  ANYWHERE, run_agent, ORDER_ASSIGN, { ARGUMENT_TASK, ARGUMENT_AGENT } },
	{ "live", "retry", "", "review: the turn that failed once more", ANYWHERE,
	  run_turn, TURN_RETRY },
	{ "live", "give-up", "", "review: leave the turn that failed as it is", ANYWHERE,
	  run_turn, TURN_GIVE_UP },
	{ "live", "abort", "", "abort TASK REASON: tell whoever has it to stop", ANYWHERE,
	  run_tell, SESSION_ABORT_TASK, { ARGUMENT_TASK } },
	{ "live", "query", "", "query AGENT: ask how it stands", ANYWHERE,
	  run_tell, SESSION_STATUS, { ARGUMENT_AGENT } },
	{ "live", "acknowledge", "", "tell its sender that this message has come", ANYWHERE,
	  run_tell, SESSION_ACKNOWLEDGE },
	{ "live", "pause", "P", "stop showing what comes; go on", ANYWHERE, run_pause },

	{ "replay", "replay", "R", "the session as a film, and back", ANYWHERE, run_replay },
	{ "replay", "play", "<Space>", "play and pause", IN_REPLAY, run_play },
	{ "replay", "step", ".", "one message on", IN_REPLAY, run_step, 1 },
	{ "replay", "step-back", ",", "one message back", IN_REPLAY, run_step, -1 },
	{ "replay", "faster", ">", "faster, up to 1000x", IN_REPLAY, run_speed_step, 1 },
	{ "replay", "slower", "<lt>", "slower, down to 0.1x", IN_REPLAY, run_speed_step, -1 },
	{ "replay", "speed", "", "speed N: times as fast as it was", IN_REPLAY, run_speed },
	{ "replay", "minute", ")", "one minute on", IN_REPLAY, run_minute, 1 },
	{ "replay", "minute-back", "(", "one minute back", IN_REPLAY, run_minute, -1 },
	{ "replay", "next-event", "}", "next item, decision or error", IN_REPLAY,
	  run_event_step, 1 },
	{ "replay", "previous-event", "{", "previous item, decision or error", IN_REPLAY,
	  run_event_step, -1 },
	{ "replay", "next-item", "i", "where the next item is raised", IN_REPLAY,
	  run_mark_jump, PLAYBACK_ITEM },
	{ "replay", "previous-item", "I", "the previous one", IN_REPLAY,
	  run_mark_jump, -PLAYBACK_ITEM },
	{ "replay", "next-decision", "b", "the next decision, a person's or an agent's", IN_REPLAY,
	  run_mark_jump, PLAYBACK_DECISION },
	{ "replay", "previous-decision", "B", "the previous one", IN_REPLAY,
	  run_mark_jump, -PLAYBACK_DECISION },
	{ "replay", "replay-next-error", "w", "the next message with an error", IN_REPLAY,
	  run_mark_jump, PLAYBACK_ERROR },
	{ "replay", "replay-previous-error", "W", "the previous one", IN_REPLAY,
	  run_mark_jump, -PLAYBACK_ERROR },
	{ "replay", "next-iteration", "t", "the next turn of a review or loop", IN_REPLAY,
	  run_mark_jump, PLAYBACK_ITERATION },
	{ "replay", "previous-iteration", "T", "the previous one", IN_REPLAY,
	  run_mark_jump, -PLAYBACK_ITERATION },
	{ "replay", "start", "<Home>", "before the first message", IN_REPLAY, run_replay_start },
	{ "replay", "end", "<End>", "after the last; again: what has come since too", IN_REPLAY,
	  run_replay_end },
	{ "replay", "seek", "S", "seek 10:15, #340, 40%, +30s or -2m", IN_REPLAY, run_seek },
	{ "replay", "loop", "L", "play from here to there, again and again", IN_REPLAY, run_loop },
	{ "replay", "fork", "", "fork [FOLDER]: decide otherwise from here on, on a copy",
	  IN_REPLAY, run_fork },
	{ "replay", "skip", "s", "idle time: left out or not; skip 5s", IN_REPLAY, run_skip },

	{ "else", "command", ":", "type a command", ANYWHERE, run_prompt },
	{ "else", "help", "?", "this page", ANYWHERE, run_help },
	{ "else", "redraw", "<C-l>", "draw the screen anew", ANYWHERE, run_effect, EFFECT_REDRAW },
	{ "else", "theme", "", "theme NAME: dark, light or mono, until the end", ANYWHERE, run_theme,
	  0, { ARGUMENT_THEME } },
	{ "else", "reload", "", "read the configuration again: keys, theme, notices", ANYWHERE,
	  run_effect, EFFECT_RELOAD },
	{ "else", "suspend", "<C-z>", "stop for a while; fg comes back", ANYWHERE,
	  run_effect, EFFECT_SUSPEND },
	{ "else", "save-screen", "", "save-screen FILE: the screen as text and roles", ANYWHERE,
	  run_save_screen },
	{ "else", "quit", "Q", "quit; :q too", ANYWHERE, run_quit },
};

const unsigned app_command_count = sizeof(app_commands) / sizeof(app_commands[0]);
