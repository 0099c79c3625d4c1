/* Every command, with the keys that are its aliases and the sentence that explains it. Help, the
 * prompt's completion and the keymap read this table. */
#include "app/app.h"

#include <stdio.h>

static void move(struct app *a, int64_t by)
{
	struct pane *p = app_pane(a);

	if (p == app_list(a) && !a->screen_count)
		pane_move(p, by);
	else
		pane_scroll(p, by);
}

static int64_t page(struct app *a)
{
	int rows = app_pane(a)->rows;

	return rows > 2 ? rows - 1 : 1;
}

#define RUN(name) static void run_##name(struct app *a, struct str argument)
#define UNUSED (void)argument

RUN(down) { UNUSED; move(a, 1); }
RUN(up) { UNUSED; move(a, -1); }
RUN(top) { UNUSED; move(a, INT32_MIN); }
RUN(bottom) { UNUSED; move(a, INT32_MAX); }
RUN(half_down) { UNUSED; move(a, (page(a) + 1) / 2); }
RUN(half_up) { UNUSED; move(a, -(page(a) + 1) / 2); }
RUN(page_down) { UNUSED; move(a, page(a)); }
RUN(page_up) { UNUSED; move(a, -page(a)); }

/* Space scrolls what one reads: the preview if there is one, and on to the next line at its end. */
RUN(scroll)
{
	struct pane *p = a->screen_count || !a->preview.view || a->preview_rect.rows <= 0
				 ? app_pane(a)
				 : &a->preview;
	uint32_t before = p->top;

	UNUSED;
	pane_scroll(p, p->rows > 1 ? p->rows - 1 : 1);
	if (p->top == before && p == &a->preview)
		pane_move(app_list(a), 1);
}

RUN(open)
{
	struct screen *s = app_screen(a);
	struct scene scene = s ? app_scene_of(a, s) : a->scene;
	struct pane *p = s ? &s->pane : app_list(a);

	UNUSED;
	app_open(a, pane_target(p, &scene));
}

RUN(back)
{
	UNUSED;
	if (!app_back(a))
		app_say(a, ROLE_DIM, "{quit} quits");
}

RUN(other_pane)
{
	UNUSED;
	if (a->preview_rect.rows > 0 || a->maximised)
		a->preview_focused = !a->preview_focused;
}

RUN(maximise) { UNUSED; a->maximised = !a->maximised; }

RUN(inbox) { UNUSED; app_show_tab(a, TAB_INBOX); }
RUN(timeline) { UNUSED; app_show_tab(a, TAB_TIMELINE); }
RUN(ledger) { UNUSED; app_show_tab(a, TAB_LEDGER); }
RUN(messages) { UNUSED; app_show_tab(a, TAB_MESSAGES); }
RUN(agents) { UNUSED; app_show_tab(a, TAB_AGENTS); }
RUN(decisions) { UNUSED; app_show_tab(a, TAB_DECISIONS); }

RUN(all)
{
	UNUSED;
	a->scene.all = !a->scene.all;
	app_stale(a);
	app_say(a, ROLE_DIM, a->scene.all ? "every item" : "open items");
}

RUN(search)
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

static void search_again(struct app *a, int direction)
{
	if (!a->word.n)
		app_say(a, ROLE_DIM, "nothing was searched for; {search} does");
	else
		app_search(a, app_search_line(a), direction, true);
}

RUN(next) { UNUSED; search_again(a, 1); }
RUN(previous) { UNUSED; search_again(a, -1); }

RUN(filter)
{
	if (argument.n)
		app_set_filter(a, argument);
	else
		prompt_open(&a->prompt, PROMPT_FILTER, buf_str(&a->filter_text));
}

/* The next line from the selection on whose target is an open item. */
static bool step_open(struct app *a, struct pane *p, int direction)
{
	for (int64_t i = (int64_t)p->selected + direction; i >= 0 && i < p->lines.list.n;
	     i += direction) {
		struct target t = pane_line_target(p, &a->scene, (uint32_t)i);
		struct item_state at;

		if (t.type == TARGET_ITEM && decide_state(a, t.number, &at) && at.open) {
			pane_select(p, (uint32_t)i);
			return true;
		}
	}
	return false;
}

static void go_open(struct app *a, int direction)
{
	bool on_item = a->screen_count && app_screen(a)->pane.view == &view_item;
	struct pane *p = app_list(a);

	if (!step_open(a, p, direction)) {
		app_say(a, ROLE_DIM, "no more open items here");
		return;
	}
	if (on_item) {
		app_back(a);
		app_open(a, pane_target(p, &a->scene));
	}
}

RUN(next_open) { UNUSED; go_open(a, 1); }
RUN(previous_open) { UNUSED; go_open(a, -1); }

/* The message that the person looks at, or NONE. */
static uint32_t message_here(struct app *a)
{
	struct screen *s = app_screen(a);
	struct target t;
	struct item_state at;

	if (s && s->pane.view == &view_message)
		return s->message;
	if (s && s->pane.view == &view_item)
		t = (struct target){ TARGET_ITEM, s->item };
	else
		t = pane_target(app_list(a), &a->scene);
	if (t.type == TARGET_MESSAGE)
		return t.number;
	if (t.type == TARGET_ITEM && decide_state(a, t.number, &at))
		return at.message;
	return NONE;
}

/* Goes to a message: in the list of messages, and on the screen if one is open. */
static void go_message(struct app *a, uint32_t message)
{
	bool on_message = a->screen_count && app_screen(a)->pane.view == &view_message;
	uint32_t line;

	app_show_tab(a, TAB_MESSAGES);
	app_refresh(a);
	line = app_message_line(a, message);
	if (line != NONE)
		pane_select(app_list(a), line);
	if (line == NONE || on_message) /* the filter hides it from the list */
		app_open(a, (struct target){ TARGET_MESSAGE, message });
}

static void go_problem(struct app *a, int direction)
{
	const struct model *m = a->scene.model;
	uint32_t k = a->scene.k, here = message_here(a), at;

	if (here == NONE)
		here = direction > 0 && k ? k - 1 : 0;
	for (uint32_t n = 1; n <= k; n++) {
		at = direction > 0 ? (here + n) % k : (here + k - n) % k;
		if (!m->records.v[at].errors && !m->records.v[at].warnings)
			continue;
		go_message(a, at);
		app_say_wrapped(a, here, at, direction);
		return;
	}
	app_say(a, ROLE_DIM, "no message has a problem");
}

RUN(next_problem) { UNUSED; go_problem(a, 1); }
RUN(previous_problem) { UNUSED; go_problem(a, -1); }

RUN(along)
{
	const struct model *m = a->scene.model;
	uint32_t here = message_here(a);

	UNUSED;
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

RUN(along_back)
{
	UNUSED;
	if (!a->trail.n)
		app_say(a, ROLE_DIM, "nowhere to go back to");
	else
		go_message(a, a->trail.v[--a->trail.n]);
}

uint32_t app_item_here(struct app *a)
{
	struct screen *s = app_screen(a);
	struct target t;

	if (s && (s->pane.view == &view_item || s->pane.view == &view_diff))
		return s->item;
	if (s)
		return NONE;
	t = pane_target(app_list(a), &a->scene);
	return t.type == TARGET_ITEM ? t.number : NONE;
}

RUN(diff)
{
	uint32_t item = app_item_here(a);

	UNUSED;
	if (item == NONE)
		app_say(a, ROLE_DIM, "no item is selected");
	else
		app_open_view(a, &view_diff, item, 0);
}

RUN(changes)
{
	UNUSED;
	if (!a->scene.artifact)
		app_say(a, ROLE_DIM, "no artifact is under review here; gavel review has one");
	else
		app_open_view(a, &view_changes, 0, 0);
}

/* The item as it was raised in the iteration before or after the one shown. */
static void step_iteration(struct app *a, int direction)
{
	struct screen *s = app_screen(a);
	const struct item *item;
	uint32_t shown, best = NONE;

	if (!s || s->pane.view != &view_item) {
		app_say(a, ROLE_DIM, "open an item first");
		return;
	}
	item = &a->scene.model->items.v[s->item];
	shown = s->k ? s->k : a->scene.k;
	for (uint32_t i = 0; i < item->n; i++) {
		uint32_t k = item->steps[i].message + 1;

		if (item->steps[i].what != STEP_RAISED || k > a->scene.k)
			continue;
		if (direction < 0 && k < shown)
			best = k;
		if (direction > 0 && k > shown && best == NONE)
			best = k;
	}
	if (best == NONE && direction > 0 && s->k)
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

RUN(iteration_back) { UNUSED; step_iteration(a, -1); }
RUN(iteration_forward) { UNUSED; step_iteration(a, 1); }

RUN(copy_id)
{
	uint32_t item = app_item_here(a);
	struct buf name = { 0 };

	UNUSED;
	if (item == NONE) {
		app_say(a, ROLE_DIM, "no item is selected");
		return;
	}
	item_name(a->scene.model, &a->scene.model->items.v[item], &name);
	buf_clear(&a->notice);
	buf_add_str(&a->notice, buf_str(&name));
	a->notice_role = ROLE_ID;
	buf_release(&name);
}

/* Only files below the current folder: a message may name any path. */
static bool path_is_below(struct str path)
{
	return path.n && path.p[0] != '/' && path.p[0] != '~' && path.p[0] != '-' &&
	       !memchr(path.p, 0, path.n) && !str_is(path, "..") &&
	       !str_starts(path, STR("../")) && str_find(path, STR("/../"), 0) < 0 &&
	       !str_ends(path, STR("/.."));
}

RUN(edit_file)
{
	uint32_t item = app_item_here(a);
	struct detail d;
	struct item_state at;
	struct str file = STR_NONE;
	uint64_t line = 0;
	char q[QUOTED_MAX];

	UNUSED;
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
	} else if (!path_is_below(file)) {
		app_say(a, ROLE_WARN, "%s is not below the current folder: not opened",
			quoted(file, q));
	} else {
		a->confirm_edit = str_dup(file);
		a->confirm_line = line < 10000000 ? (uint32_t)line : 0;
		app_say(a, ROLE_KEY, "open %s in $EDITOR? y opens, any other key does not",
			quoted(file, q));
	}
}

RUN(raw)
{
	UNUSED;
	a->scene.raw = !a->scene.raw;
	app_stale(a);
	app_say(a, ROLE_DIM, a->scene.raw ? "bytes as they came" : "pretty");
}

RUN(accept) { decide_verb(a, VERB_ACCEPT, argument); }
RUN(partial) { decide_verb(a, VERB_PARTIAL, argument); }
RUN(reject) { decide_verb(a, VERB_REJECT, argument); }
RUN(escalate) { decide_verb(a, VERB_ESCALATE, argument); }
RUN(answer) { decide_verb(a, VERB_ANSWER, argument); }
RUN(dismiss) { decide_verb(a, VERB_DISMISS, argument); }
RUN(defer) { UNUSED; decide_defer(a); }
RUN(explain) { UNUSED; decide_explain(a); }
RUN(reason) { decide_reason(a, argument); }
RUN(mark) { UNUSED; decide_mark(a); }
RUN(mark_all) { UNUSED; decide_mark_all(a); }
RUN(on_marked) { UNUSED; decide_on_marked(a); }
RUN(undo) { UNUSED; decide_undo(a); }
RUN(deliver) { UNUSED; decide_preflight(a); }
RUN(attach) { decide_attach(a, argument); }
RUN(resend) { UNUSED; decide_resend(a); }
RUN(recover) { UNUSED; app_open_view(a, &view_recovery, 0, 0); }

RUN(follow)
{
	UNUSED;
	a->follows = !a->follows;
	a->jump = a->follows;
	app_say(a, ROLE_DIM, "the list of messages stays %s",
		a->follows ? "at its end" : "where you leave it");
}

static void tell(struct app *a, struct session_command c)
{
	if (decide_is_read_only(a)) {
		app_say(a, ROLE_WARN, "read-only: nothing can be said here");
		return;
	}
	c.target = app_keep(a, c.target);
	c.reason = app_keep(a, c.reason);
	app_effect(a, (struct effect){ EFFECT_TELL, .tell = c });
}

RUN(abort)
{
	struct str task = str_first_word(&argument);

	tell(a, (struct session_command){ COMMAND_ABORT_TASK, .target = task, .reason = argument });
}

RUN(query) { tell(a, (struct session_command){ COMMAND_STATUS, .target = argument }); }

RUN(acknowledge)
{
	UNUSED;
	tell(a, (struct session_command){ COMMAND_ACKNOWLEDGE, .message = message_here(a) });
}

static void order(struct app *a, struct agent_order o)
{
	o.agent = app_keep(a, o.agent);
	o.task = app_keep(a, o.task);
	o.reason = app_keep(a, o.reason);
	app_effect(a, (struct effect){ EFFECT_AGENT, .order = o });
}

RUN(stop) { order(a, (struct agent_order){ ORDER_STOP, .agent = argument }); }
RUN(restart) { order(a, (struct agent_order){ ORDER_RESTART, .agent = argument }); }

RUN(cancel)
{
	struct str task = str_first_word(&argument);

	order(a, (struct agent_order){ ORDER_CANCEL, .task = task, .reason = argument });
}

RUN(assign)
{
	struct str task = str_first_word(&argument);

	order(a, (struct agent_order){ ORDER_ASSIGN, .task = task, .agent = argument });
}

RUN(retry) { UNUSED; app_effect(a, (struct effect){ EFFECT_TURN, .turn = TURN_RETRY }); }
RUN(give_up) { UNUSED; app_effect(a, (struct effect){ EFFECT_TURN, .turn = TURN_GIVE_UP }); }
RUN(edit) { UNUSED; app_effect(a, (struct effect){ EFFECT_TURN, .turn = TURN_EDIT }); }

RUN(pause)
{
	UNUSED;
	if (a->live == LIVE_NOT) {
		app_say(a, ROLE_DIM, "nothing is followed");
	} else if (a->live == LIVE_PAUSED) {
		a->live = LIVE_ON;
	} else {
		a->live = LIVE_PAUSED;
		app_say(a, ROLE_DIM, "paused: what comes is taken and not shown; {pause} goes on");
	}
}

RUN(command) { UNUSED; prompt_open(&a->prompt, PROMPT_COMMAND, STR_NONE); }
RUN(help) { UNUSED; app_open_view(a, &view_help, 0, 0); }
RUN(redraw) { UNUSED; app_effect(a, (struct effect){ EFFECT_REDRAW }); }
RUN(suspend) { UNUSED; app_effect(a, (struct effect){ EFFECT_SUSPEND }); }
RUN(quit) { UNUSED; decide_quit(a); }

RUN(save_screen)
{
	if (argument.n)
		app_effect(a, (struct effect){ EFFECT_SAVE_SCREEN,
					       .file = app_keep(a, argument).p });
	else
		app_say(a, ROLE_ERROR, "save-screen needs a file name");
}

const struct app_command app_commands[] = {
	{ "move", "down", "j<Down>", "next line", ANYWHERE, run_down },
	{ "move", "up", "k<Up>", "previous line", ANYWHERE, run_up },
	{ "move", "top", "g<Home>", "first line", ANYWHERE, run_top },
	{ "move", "bottom", "G<End>", "last line", ANYWHERE, run_bottom },
	{ "move", "half-down", "<C-d>", "half a page down", ANYWHERE, run_half_down },
	{ "move", "half-up", "<C-u>", "half a page up", ANYWHERE, run_half_up },
	{ "move", "page-down", "<PageDown><C-f>", "a page down", ANYWHERE, run_page_down },
	{ "move", "page-up", "<PageUp><C-b>", "a page up", ANYWHERE, run_page_up },
	{ "move", "scroll", "<Space>", "scroll what you read", ANYWHERE, run_scroll },
	{ "move", "open", "<Enter>", "open what is selected", ANYWHERE, run_open },
	{ "move", "back", "q<Esc>", "back: close the screen, the pane, the filter", ANYWHERE, run_back },
	{ "move", "other-pane", "<Tab>", "to the other pane", IN_LIST, run_other_pane },
	{ "move", "maximise", "O", "this pane alone, and back", IN_LIST, run_maximise },
	{ "move", "inbox", "1", "what waits for a person", ANYWHERE, run_inbox },
	{ "move", "timeline", "2", "tasks over time", ANYWHERE, run_timeline },
	{ "move", "ledger", "3", "feedback by iteration", ANYWHERE, run_ledger },
	{ "move", "messages", "4", "every message", ANYWHERE, run_messages },
	{ "move", "agents", "5", "who takes part", ANYWHERE, run_agents },
	{ "move", "decisions", "6", "what was decided", ANYWHERE, run_decisions },

	{ "find", "search", "/", "search as you type", ANYWHERE, run_search },
	{ "find", "next", "n", "next match", ANYWHERE, run_next },
	{ "find", "previous", "N", "previous match", ANYWHERE, run_previous },
	{ "find", "filter", "\\", "show only what matches", ANYWHERE, run_filter },
	{ "find", "all", "A", "inbox: every item, or the open ones", IN_LIST, run_all },
	{ "find", "next-open", "J", "next open item", ANYWHERE, run_next_open },
	{ "find", "previous-open", "K", "previous open item", ANYWHERE, run_previous_open },
	{ "find", "next-problem", "!", "next message with a problem", ANYWHERE, run_next_problem },
	{ "find", "previous-problem", "~", "previous message with a problem", ANYWHERE,
	  run_previous_problem },
	{ "find", "along", "o", "next message of the same correlation", ANYWHERE, run_along },
	{ "find", "along-back", "<C-o>", "back to where {along} came from", ANYWHERE, run_along_back },

	{ "look", "diff", "d", "the artifact against its previous iteration", ANYWHERE, run_diff },
	{ "look", "changes", "w", "review: what changed in the artifact since it was sent", ANYWHERE,
	  run_changes },
	{ "look", "edit", "E", "review: the artifact in $EDITOR", ANYWHERE, run_edit },
	{ "look", "iteration-back", "[", "the item one iteration earlier", IN_SCREEN,
	  run_iteration_back },
	{ "look", "iteration-forward", "]", "the item one iteration later", IN_SCREEN,
	  run_iteration_forward },
	{ "look", "copy-id", "y", "the item's id on the message line", ANYWHERE, run_copy_id },
	{ "look", "edit-file", "v", "the file a finding names, in $EDITOR", ANYWHERE, run_edit_file },
	{ "look", "raw", "r", "messages as they came, or pretty", ANYWHERE, run_raw },
	{ "look", "mark-right", "l", "next mark of the lane", IN_TIMELINE, axis_mark_right },
	{ "look", "mark-left", "h", "previous mark of the lane", IN_TIMELINE, axis_mark_left },
	{ "look", "zoom-in", "+", "a shorter stretch of time", IN_TIMELINE, axis_zoom_in },
	{ "look", "zoom-out", "-", "a longer stretch of time", IN_TIMELINE, axis_zoom_out },
	{ "look", "pan-left", "<Left>", "earlier", IN_TIMELINE, axis_pan_left },
	{ "look", "pan-right", "<Right>", "later", IN_TIMELINE, axis_pan_right },

	{ "decide", "accept", "a", "accept the item", ANYWHERE, run_accept },
	{ "decide", "reject", "x", "reject the item", ANYWHERE, run_reject },
	{ "decide", "partial", "p", "accept it in part", ANYWHERE, run_partial },
	{ "decide", "escalate", "e", "ask someone above", ANYWHERE, run_escalate },
	{ "decide", "answer", "=", "answer the question", ANYWHERE, run_answer },
	{ "decide", "dismiss", "D", "dismiss it", ANYWHERE, run_dismiss },
	{ "decide", "defer", "z", "put it off until it is nearly due; bring it back", ANYWHERE, run_defer },
	{ "decide", "explain", "c", "an explanation, in $EDITOR", ANYWHERE, run_explain },
	{ "decide", "reason", "C", "a reason code", ANYWHERE, run_reason },
	{ "decide", "mark", "m", "mark it", ANYWHERE, run_mark },
	{ "decide", "mark-all", "M", "mark all shown", ANYWHERE, run_mark_all },
	{ "decide", "on-marked", ";", "a verb on the marked ones", ANYWHERE, run_on_marked },
	{ "decide", "undo", "u", "undo what is staged, or give up what is held", ANYWHERE, run_undo },
	{ "decide", "deliver", "$", "look at what will be sent, and send it", ANYWHERE, run_deliver },
	{ "decide", "attach", "", "attach FILE: the artifact as it now is", ANYWHERE, run_attach },
	{ "decide", "resend", "", "send what is held again", ANYWHERE, run_resend },
	{ "decide", "recover", "", "what an earlier run left unfinished", ANYWHERE, run_recover },

	{ "live", "follow", "f", "the list of messages stays at its end, or not", ANYWHERE, run_follow },
	{ "live", "stop", "", "stop AGENT: end an agent that gavel runs, in order", ANYWHERE, run_stop },
	{ "live", "restart", "", "restart AGENT: end it if it runs, and begin anew", ANYWHERE,
	  run_restart },
	{ "live", "cancel", "", "cancel TASK REASON: take a task away from the agent that has it",
	  ANYWHERE, run_cancel },
	{ "live", "assign", "", "assign TASK AGENT: give a task that was let in to an agent", ANYWHERE,
	  run_assign },
	{ "live", "retry", "", "review: the turn that failed once more", ANYWHERE, run_retry },
	{ "live", "give-up", "", "review: leave the turn that failed as it is", ANYWHERE, run_give_up },
	{ "live", "abort", "", "abort TASK REASON: tell whoever has it to stop", ANYWHERE, run_abort },
	{ "live", "query", "", "query AGENT: ask how it stands", ANYWHERE, run_query },
	{ "live", "acknowledge", "", "tell its sender that this message has come", ANYWHERE,
	  run_acknowledge },
	{ "live", "pause", "P", "stop showing what comes; go on", ANYWHERE, run_pause },

	{ "replay", "replay", "R", "the session as a film, and back", ANYWHERE, replay_toggle },
	{ "replay", "play", "<Space>", "play and pause", IN_REPLAY, replay_run_play },
	{ "replay", "step", ".", "one message on", IN_REPLAY, replay_run_step },
	{ "replay", "step-back", ",", "one message back", IN_REPLAY, replay_run_step_back },
	{ "replay", "faster", ">", "faster, up to 1000x", IN_REPLAY, replay_run_faster },
	{ "replay", "slower", "<lt>", "slower, down to 0.1x", IN_REPLAY, replay_run_slower },
	{ "replay", "speed", "", "speed N: times as fast as it was", IN_REPLAY, replay_run_speed },
	{ "replay", "minute", ")", "one minute on", IN_REPLAY, replay_run_minute },
	{ "replay", "minute-back", "(", "one minute back", IN_REPLAY, replay_run_minute_back },
	{ "replay", "next-event", "}", "next item, decision or error", IN_REPLAY, replay_run_next },
	{ "replay", "previous-event", "{", "previous item, decision or error", IN_REPLAY,
	  replay_run_previous },
	{ "replay", "next-item", "i", "where the next item is raised", IN_REPLAY, replay_run_next_item },
	{ "replay", "previous-item", "I", "the previous one", IN_REPLAY, replay_run_previous_item },
	{ "replay", "next-decision", "b", "the next decision, a person's or an agent's", IN_REPLAY,
	  replay_run_next_decision },
	{ "replay", "previous-decision", "B", "the previous one", IN_REPLAY,
	  replay_run_previous_decision },
	{ "replay", "next-error", "w", "the next message with an error", IN_REPLAY,
	  replay_run_next_error },
	{ "replay", "previous-error", "W", "the previous one", IN_REPLAY, replay_run_previous_error },
	{ "replay", "next-iteration", "t", "the next turn of a review or loop", IN_REPLAY,
	  replay_run_next_iteration },
	{ "replay", "previous-iteration", "T", "the previous one", IN_REPLAY,
	  replay_run_previous_iteration },
	{ "replay", "start", "<Home>", "before the first message", IN_REPLAY, replay_run_start },
	{ "replay", "end", "<End>", "after the last; again: what has come since too", IN_REPLAY,
	  replay_run_end },
	{ "replay", "seek", "S", "seek 10:15, #340, 40%, +30s or -2m", IN_REPLAY, replay_run_seek },
	{ "replay", "loop", "L", "play from here to there, again and again", IN_REPLAY,
	  replay_run_loop },
	{ "replay", "fork", "", "fork [FOLDER]: decide otherwise from here on, on a copy", IN_REPLAY,
	  replay_run_fork },
	{ "replay", "skip", "s", "idle time: left out or not; skip 5s", IN_REPLAY, replay_run_skip },

	{ "else", "command", ":", "type a command", ANYWHERE, run_command },
	{ "else", "help", "?", "this page", ANYWHERE, run_help },
	{ "else", "redraw", "<C-l>", "draw the screen anew", ANYWHERE, run_redraw },
	{ "else", "suspend", "<C-z>", "stop for a while; fg comes back", ANYWHERE, run_suspend },
	{ "else", "save-screen", "", "save-screen FILE: the screen as text and roles", ANYWHERE,
	  run_save_screen },
	{ "else", "quit", "Q", "quit; :q too", ANYWHERE, run_quit },
};

const unsigned app_command_count = sizeof(app_commands) / sizeof(app_commands[0]);
