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

static COMMAND(open)
{
	struct screen *s = app_screen(a);
	struct scene scene = s ? app_scene_of(a, s) : a->scene;
	struct pane *p = s ? &s->pane : app_list(a);

	if (app_shows(a, &view_preflight))
		preflight_unfold(a);
	else if (app_shows(a, &view_bookmarks) && pane_target(p, &scene).type == TARGET_MESSAGE)
		app_go_message(a, pane_target(p, &scene).number, true);
	else
		app_open(a, pane_target(p, &scene));
}

static COMMAND(back)
{
	bool staged = app_shows(a, &view_preflight) && a->scene.plan && plan_has_drafts(a->scene.plan);

	if (staged && app_back(a))
		app_say(a, ROLE_STAGED, "not sent; still staged: {undo} undoes, {deliver} sends");
	else if (!app_back(a))
		app_say(a, ROLE_DIM, "{quit} quits");
}

static COMMAND(other_pane)
{
	if (a->preview_rect.rows > 0 || a->maximised)
		a->preview_focused = !a->preview_focused;
}

static COMMAND(maximise)
{
	if (a->preview_rect.rows <= 0 && !a->maximised)
		app_say(a, ROLE_DIM, "no preview is shown here; the list has all of the room");
	else
		a->maximised = !a->maximised;
}

/* The screens that a view closes can be returned to. */
static COMMAND(tab)
{
	if (a->screen_count)
		trail_push(a);
	app_show_tab(a, (enum tab)number);
}

static COMMAND(all)
{
	if (a->tab != TAB_INBOX && a->tab != TAB_DECISIONS) {
		app_say(a, ROLE_DIM, "not available here; {inbox} goes to the inbox, which can list every item");
		return;
	}
	a->scene.all = !a->scene.all;
	app_invalidate(a);
	if (a->tab == TAB_INBOX)
		app_say(a, ROLE_DIM, a->scene.all ? "every item" : "open items");
	else
		app_say(a, ROLE_DIM, a->scene.all ? "every decision" : "without what was undone");
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
	if (app_shows(a, &view_preflight))
		run_caution(a, STR_NONE, number);
	else if (!a->word.n)
		app_say(a, ROLE_DIM, "no previous search; {search} searches");
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
	struct scene scene = app_list_scene(a);
	struct item_state at;

	for (int64_t i = (int64_t)p->selected + number; i >= 0 && i < p->lines.list.n;
	     i += number) {
		struct target t = pane_line_target(p, &scene, (uint32_t)i);

		if (t.type != TARGET_ITEM || !decide_state(a, t.number, &at) || !at.open)
			continue;
		pane_select(p, (uint32_t)i);
		if (on_item) {
			app_back(a);
			app_open(a, t);
		}
		return;
	}
	app_say(a, ROLE_DIM, "no more open items here");
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
		app_say(a, ROLE_DIM, "no artifact under review; see gavel review");
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
		app_say(a, ROLE_DIM, "not raised in another iteration");
		return;
	}
	s->k = best;
	s->pane.made = false;
	if (best)
		app_say(a, ROLE_DIM, "as of message %u; {iteration-forward} forward", best);
	else
		app_say(a, ROLE_DIM, "current state");
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
		app_say(a, ROLE_DIM, "no file named here");
	} else if (!is_path_below_cwd(file)) {
		app_say(a, ROLE_WARN, "%s: outside the current folder, not opened",
			quoted(file, q));
	} else {
		a->confirm_edit = str_dup(file);
		a->confirm_line = line < 10000000 ? (uint32_t)line : 0;
		app_say(a, ROLE_KEY, "open %s in $EDITOR? y opens, any other key cancels",
			quoted(file, q));
	}
}

/* Whether a message is shown as text, on a page or in the preview. */
static bool shows_message(struct app *a)
{
	return a->screen_count ? app_shows(a, &view_message) || app_shows(a, &view_item) ||
					 app_shows(a, &view_preflight)
			       : app_words_cols(a) > 0;
}

static COMMAND(raw)
{
	if (!shows_message(a)) {
		app_say(a, ROLE_DIM, "not available here; a message's page can be raw");
		return;
	}
	a->scene.raw = !a->scene.raw;
	app_invalidate(a);
	app_say(a, ROLE_DIM, a->scene.raw ? "raw" : "pretty");
}

static COMMAND(recover) { app_open_view(a, &view_recovery, 0, 0); }

static COMMAND(follow)
{
	if (a->tab != TAB_MESSAGES || a->screen_count) {
		app_say(a, ROLE_DIM, "not available here; {messages} goes to the list of messages, which can follow");
		return;
	}
	/* who knows that f follows need not look whether it does already */
	a->follows = !a->follows || a->follows_unasked;
	a->follows_unasked = false;
	a->select_last = a->follows;
	app_say(a, ROLE_DIM, a->follows ? "following ({follow} stops)"
					: "not following ({follow} follows)");
}

static COMMAND(tell)
{
	struct session_command c = { .type = (enum session_command_type)number };

	if (decide_is_read_only(a)) {
		app_say(a, ROLE_WARN, "read-only: nothing can be sent");
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

/* Asks whether to stop or restart the agent that is selected in the list. */
static void ask_for_agent(struct app *a, enum order_type what)
{
	const struct pane *p = app_list(a);
	const struct life *life = p->selected < p->lines.list.n
					  ? agents_life(&a->scene, &p->lines, p->selected)
					  : NULL;

	if (!life && a->scene.artifact) {
		app_say(a, ROLE_WARN, "a review has turns; :stop ends the one that runs");
	} else if (!life) {
		app_say(a, ROLE_WARN, "gavel does not run the selected agent: it can neither be "
				      "stopped nor restarted here");
	} else if (what == ORDER_STOP && life->ended) {
		app_say(a, ROLE_WARN, "%.*s has ended already", STR_ARG(life->group));
	} else {
		buf_clear(&a->deciding.agent);
		buf_add_str(&a->deciding.agent, life->group);
		a->deciding.order = what;
		a->deciding.confirm = CONFIRM_AGENT;
		app_say(a, ROLE_KEY, "%s %.*s? y does, any other key does not",
			what == ORDER_STOP ? "stop" : "restart", STR_ARG(life->group));
	}
}

static COMMAND(selected_agent) { ask_for_agent(a, (enum order_type)number); }

static COMMAND(agent)
{
	struct agent_order o = { .type = (enum order_type)number };
	bool selected = !argument.n && a->scene.life_n && a->tab == TAB_AGENTS &&
			!a->screen_count;

	if (selected && (o.type == ORDER_STOP || o.type == ORDER_RESTART)) {
		ask_for_agent(a, o.type);
		return;
	}
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
		app_say(a, ROLE_DIM, "not following anything");
	} else if (a->live == LIVE_PAUSED) {
		a->live = LIVE_ON;
	} else {
		a->live = LIVE_PAUSED;
		app_say(a, ROLE_DIM, "paused: new messages are buffered; {pause} resumes");
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
	{ "move", "scroll", "<Space>", "scroll the text", ANYWHERE, run_scroll },
	{ "move", "open", "<Enter>", "open the selected line", ANYWHERE, run_open },
	{ "move", "back", "q<Esc>", "back: close the screen, the pane, the filter; widen", ANYWHERE,
	  run_back },
	{ "move", "other-pane", "<Tab>", "switch to the other pane", IN_LIST, run_other_pane },
	{ "move", "maximise", "O", "maximise this pane, and back", IN_LIST, run_maximise },
	{ "move", "split", "|", "preview below or beside; split below, beside, auto or 30%", IN_LIST,
	  run_split, 0, { ARGUMENT_TEXT } },
	{ "move", "larger-preview", ">", "a larger preview", IN_LIST, run_split_size, 1 },
	{ "move", "smaller-preview", "<lt>", "a smaller preview", IN_LIST, run_split_size, -1 },
	{ "move", "sessions", "0", "every session, with what waits in it", ANYWHERE, run_tab,
	  TAB_SESSIONS },
	{ "move", "inbox", "1", "items waiting for a decision", ANYWHERE, run_tab, TAB_INBOX },
	{ "move", "timeline", "2", "tasks over time", ANYWHERE, run_tab, TAB_TIMELINE },
	{ "move", "ledger", "3", "feedback by iteration", ANYWHERE, run_tab, TAB_LEDGER },
	{ "move", "messages", "4", "every message", ANYWHERE, run_tab, TAB_MESSAGES },
	{ "move", "agents", "5", "agents and people", ANYWHERE, run_tab, TAB_AGENTS },
	{ "move", "decisions", "6", "decisions and their delivery", ANYWHERE, run_tab,
	  TAB_DECISIONS },

	{ "find", "search", "/", "search as you type", ANYWHERE, run_search, 0, { ARGUMENT_TEXT } },
	{ "find", "next", "n", "next match", ANYWHERE, run_search_again, 1 },
	{ "find", "previous", "N", "previous match", ANYWHERE, run_search_again, -1 },
	{ "find", "filter", "\\", "show only matching lines", ANYWHERE, run_filter, 0,
	  { ARGUMENT_FILTER } },
	{ "find", "all", "A", "inbox: all items, or open ones; decisions: undone ones, too", IN_LIST, run_all },
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
	{ "find", "along-back", "<C-o>",
	  "back to where {along} or another jump came from, screens and all", ANYWHERE,
	  run_along_back },
	{ "find", "narrow", "&",
	  "narrow [task|agent|session NAME]: every view shows only what belongs to it", ANYWHERE,
	  run_narrow, 0, { ARGUMENT_SCOPE, ARGUMENT_IN_SCOPE } },
	{ "find", "widen", "", "show everything again", ANYWHERE, run_widen },
	{ "find", "sort", "s",
	  "sort the list by the next column; after the last, as it was; sort COLUMN: by that one",
	  IN_LIST, run_sort, 0, { ARGUMENT_COLUMN } },
	{ "find", "sort-reverse", "S", "sort the other way round", IN_LIST, run_sort_reverse },

	{ "look", "diff", "d", "diff of the artifact with its previous iteration", ANYWHERE,
	  run_diff },
	{ "look", "changes", "w", "review: diff of the artifact since it was sent",
	  ANYWHERE, run_changes },
	{ "look", "edit", "E", "review: edit the artifact in $EDITOR", ANYWHERE, run_turn,
	  TURN_EDIT },
	{ "look", "iteration-back", "[", "the item one iteration earlier", IN_SCREEN,
	  run_iteration_step, -1 },
	{ "look", "iteration-forward", "]", "the item one iteration later", IN_SCREEN,
	  run_iteration_step, 1 },
	{ "look", "bookmark", "b", "set a bookmark with a note, or remove it; bookmark NOTE",
	  ANYWHERE, run_bookmark, 0, { ARGUMENT_TEXT } },
	{ "look", "bookmarks", "", "the bookmarks of this session", ANYWHERE, run_bookmarks },
	{ "look", "copy-id", "y", "copy the id of the item, agent, session or message", ANYWHERE,
	  run_copy_id },
	{ "look", "copy-message", "Y", "copy the message as it came", ANYWHERE, run_copy_message },
	{ "look", "edit-file", "v", "open the file a finding names in $EDITOR", ANYWHERE,
	  run_edit_file },
	{ "look", "raw", "r", "messages raw or pretty", ANYWHERE, run_raw },
	{ "look", "mark-right", "l", "next mark of the lane", IN_TIMELINE, run_mark_step, 1 },
	{ "look", "mark-left", "h", "previous mark of the lane", IN_TIMELINE, run_mark_step, -1 },
	{ "look", "zoom-in", "+", "zoom in", IN_TIMELINE, run_zoom, 1 },
	{ "look", "zoom-out", "-", "zoom out", IN_TIMELINE, run_zoom, -1 },
	{ "look", "pan-left", "<Left>", "scroll left; timeline: earlier", ANYWHERE, run_pan, -1 },
	{ "look", "pan-right", "<Right>", "scroll right; timeline: later", ANYWHERE, run_pan, 1 },
	{ "look", "left", "<S-Left>", "scroll left, on the timeline, too", ANYWHERE, run_sideways,
	  -1 },
	{ "look", "right", "<S-Right>", "scroll right, on the timeline, too", ANYWHERE, run_sideways,
	  1 },

	{ "decide", "accept", "a", "accept the item", ANYWHERE, run_verb, VERB_ACCEPT,
	  { ARGUMENT_TEXT } },
	{ "decide", "reject", "x", "reject the item", ANYWHERE, run_verb, VERB_REJECT,
	  { ARGUMENT_TEXT } },
	{ "decide", "partial", "p", "accept in part; a tool call: edit it", ANYWHERE, run_verb,
	  VERB_PARTIAL, { ARGUMENT_TEXT } },
	{ "decide", "escalate", "e", "escalate to another reviewer", ANYWHERE, run_verb,
	  VERB_ESCALATE, { ARGUMENT_TEXT } },
	{ "decide", "answer", "=", "answer the question", ANYWHERE, run_verb, VERB_ANSWER,
	  { ARGUMENT_TEXT } },
	{ "decide", "dismiss", "D", "dismiss it", ANYWHERE, run_verb, VERB_DISMISS,
	  { ARGUMENT_TEXT } },
	{ "decide", "defer", "z", "snooze until nearly due; again: wake", ANYWHERE,
	  run_defer },
	{ "decide", "claim", "t", "team: claim the item; again: release it", ANYWHERE, run_claim, 0 },
	{ "decide", "release", "", "team: release the item", ANYWHERE, run_claim, -1 },
	{ "decide", "team", "", "team accept: go on although the store went back; resend, give-up: what is held", ANYWHERE, run_team, 0,
	  { ARGUMENT_TEXT } },
	{ "decide", "explain", "c", "write an explanation in $EDITOR", ANYWHERE, run_explain },
	{ "decide", "reason", "C", "set a reason code", ANYWHERE, run_reason, 0,
	  { ARGUMENT_TEXT } },
	{ "decide", "mark", "m", "mark the item; mark FILTER: all that match", ANYWHERE, run_mark, 0,
	  { ARGUMENT_TEXT } },
	{ "decide", "mark-all", "M", "mark all shown", ANYWHERE, run_mark_all },
	{ "decide", "on-marked", ";", "apply a verb to the marked items", ANYWHERE, run_on_marked },
	{ "decide", "undo", "u", "undo what is staged, or abandon what is held", ANYWHERE,
	  run_undo },
	{ "decide", "redo", "<C-r>", "stage again what {undo} has undone", ANYWHERE, run_redo },
	{ "decide", "deliver", "$", "review what will be sent, and send it", ANYWHERE,
	  run_deliver },
	{ "decide", "drop", "", "on the page of {deliver}: do not send this message now; again: do",
	  ANYWHERE, run_drop },
	{ "decide", "next-caution", "", "next caution on that page; {next} there", ANYWHERE,
	  run_caution, 1 },
	{ "decide", "previous-caution", "", "previous caution; {previous} there", ANYWHERE,
	  run_caution, -1 },
	{ "decide", "attach", "", "attach FILE: the artifact's current content", ANYWHERE,
	  run_attach, 0, { ARGUMENT_TEXT } },
	{ "decide", "input", "", "input LINE: which open input this output envelope answers",
	  ANYWHERE, run_input, 0, { ARGUMENT_TEXT } },
	{ "decide", "reply", "", "reply PATH: where replies to this source go, as with --reply",
	  ANYWHERE, run_reply, 0, { ARGUMENT_TEXT } },
	{ "decide", "resend", "", "resend what is held", ANYWHERE, run_resend },
	{ "decide", "recover", "", "what an earlier run left unfinished", ANYWHERE, run_recover },

	{ "agents", "always", "*",
	  "always allow such calls; always N: by the N-th rule on offer; always RULE: by your own",
	  ANYWHERE, run_verb, VERB_ALWAYS, { ARGUMENT_TEXT } },
	{ "agents", "stop-turn", "T", "reject, and stop the turn", ANYWHERE, run_verb,
	  VERB_STOP, { ARGUMENT_TEXT } },

	{ "live", "follow", "f", "follow new messages, or stop", ANYWHERE,
	  run_follow },
	{ "live", "prompt", "i",
	  "prompt AGENT TEXT: tell an agent that gavel runs what to do; without a name the selected "
	  "one, without words a line to type them", ANYWHERE, run_prompt_agent, 0,
	  { ARGUMENT_AGENT, ARGUMENT_TEXT } },
	{ "live", "interrupt", "", "interrupt AGENT: end its turn; it waits for a prompt then",
	  ANYWHERE, run_order_agent, ORDER_INTERRUPT, { ARGUMENT_AGENT } },
	{ "live", "mode", "", "mode AGENT MODE: what it asks for, such as workspace-write or plan",
	  ANYWHERE, run_order_agent, ORDER_MODE, { ARGUMENT_AGENT, ARGUMENT_TEXT } },
	{ "live", "stop", "",
	  "stop AGENT: end an agent that gavel runs, gracefully; without a name the selected one, "
	  "after a question", ANYWHERE, run_agent, ORDER_STOP, { ARGUMENT_AGENT } },
	{ "live", "restart", "",
	  "restart AGENT: stop it if it runs, start it again; without a name the selected one, after "
	  "a question", ANYWHERE, run_agent, ORDER_RESTART, { ARGUMENT_AGENT } },
	{ "live", "stop-selected", "X", "agents: stop the selected one, after a question",
	  IN_AGENTS, run_selected_agent, ORDER_STOP },
	{ "live", "restart-selected", "U", "agents: restart the selected one, after a question",
	  IN_AGENTS, run_selected_agent, ORDER_RESTART },
	{ "live", "cancel", "", "cancel TASK REASON: take a task away from the agent that has it",
	  ANYWHERE, run_agent, ORDER_CANCEL, { ARGUMENT_TASK } },
	{ "live", "assign", "", "assign TASK AGENT: give an accepted task to an agent",
	  ANYWHERE, run_agent, ORDER_ASSIGN, { ARGUMENT_TASK, ARGUMENT_AGENT } },
	{ "live", "retry", "", "review: retry the failed turn", ANYWHERE,
	  run_turn, TURN_RETRY },
	{ "live", "give-up", "", "review: abandon the failed turn", ANYWHERE,
	  run_turn, TURN_GIVE_UP },
	{ "live", "abort", "", "abort TASK REASON: tell whoever has it to stop", ANYWHERE,
	  run_tell, SESSION_ABORT_TASK, { ARGUMENT_TASK } },
	{ "live", "query", "", "query AGENT: ask for its status", ANYWHERE,
	  run_tell, SESSION_STATUS, { ARGUMENT_AGENT } },
	{ "live", "acknowledge", "", "acknowledge this message to its sender", ANYWHERE,
	  run_tell, SESSION_ACKNOWLEDGE },
	{ "live", "pause", "P", "pause or resume the display", ANYWHERE, run_pause },

	{ "replay", "replay", "R", "replay the session; again: leave", ANYWHERE, run_replay },
	{ "replay", "play", "<Space>", "play and pause", IN_REPLAY, run_play },
	{ "replay", "step", ".", "one message forward", IN_REPLAY, run_step, 1 },
	{ "replay", "step-back", ",", "one message back", IN_REPLAY, run_step, -1 },
	{ "replay", "faster", ">", "faster, up to 1000x", IN_REPLAY, run_speed_step, 1 },
	{ "replay", "slower", "<lt>", "slower, down to 0.1x", IN_REPLAY, run_speed_step, -1 },
	{ "replay", "speed", "", "speed N: N times real time", IN_REPLAY, run_speed, 0,
	  { ARGUMENT_TEXT } },
	{ "replay", "minute", ")", "one minute forward", IN_REPLAY, run_minute, 1 },
	{ "replay", "minute-back", "(", "one minute back", IN_REPLAY, run_minute, -1 },
	{ "replay", "next-event", "}", "next item, decision or error", IN_REPLAY,
	  run_event_step, 1 },
	{ "replay", "previous-event", "{", "previous item, decision or error", IN_REPLAY,
	  run_event_step, -1 },
	{ "replay", "next-item", "i", "next item raised", IN_REPLAY,
	  run_mark_jump, PLAYBACK_ITEM },
	{ "replay", "previous-item", "I", "previous item raised", IN_REPLAY,
	  run_mark_jump, -PLAYBACK_ITEM },
	{ "replay", "next-decision", "b", "next decision, a person's or an agent's", IN_REPLAY,
	  run_mark_jump, PLAYBACK_DECISION },
	{ "replay", "previous-decision", "B", "previous decision", IN_REPLAY,
	  run_mark_jump, -PLAYBACK_DECISION },
	{ "replay", "replay-next-error", "w", "next message with an error", IN_REPLAY,
	  run_mark_jump, PLAYBACK_ERROR },
	{ "replay", "replay-previous-error", "W", "previous message with an error", IN_REPLAY,
	  run_mark_jump, -PLAYBACK_ERROR },
	{ "replay", "next-iteration", "t", "next turn of a review or loop", IN_REPLAY,
	  run_mark_jump, PLAYBACK_ITERATION },
	{ "replay", "previous-iteration", "T", "previous turn", IN_REPLAY,
	  run_mark_jump, -PLAYBACK_ITERATION },
	{ "replay", "start", "<Home>", "before the first message", IN_REPLAY, run_replay_start },
	{ "replay", "end", "<End>", "after the last message; again: with new ones", IN_REPLAY,
	  run_replay_end },
	{ "replay", "seek", "S", "seek 10:15, #340, 40%, +30s or -2m", IN_REPLAY, run_seek, 0,
	  { ARGUMENT_TEXT } },
	{ "replay", "loop", "L", "set a loop's start, its end; off", IN_REPLAY, run_loop },
	{ "replay", "fork", "", "fork [FOLDER]: decide differently from here, on a copy",
	  IN_REPLAY, run_fork, 0, { ARGUMENT_TEXT } },
	{ "replay", "skip", "s", "skip idle time, or play it; skip 5s", IN_REPLAY, run_skip, 0,
	  { ARGUMENT_TEXT } },

	{ "else", "command", ":", "type a command", ANYWHERE, run_prompt },
	{ "else", "help", "?", "this page", ANYWHERE, run_help },
	{ "else", "redraw", "<C-l>", "redraw the screen", ANYWHERE, run_effect, EFFECT_REDRAW },
	{ "else", "theme", "", "theme NAME: dark, light or mono, until the end", ANYWHERE, run_theme,
	  0, { ARGUMENT_THEME } },
	{ "else", "reload", "", "read the configuration again: keys, theme, notices", ANYWHERE,
	  run_effect, EFFECT_RELOAD },
	{ "else", "suspend", "<C-z>", "suspend; fg resumes", ANYWHERE,
	  run_effect, EFFECT_SUSPEND },
	{ "else", "save-screen", "", "save-screen FILE: the screen as text and roles", ANYWHERE,
	  run_save_screen, 0, { ARGUMENT_TEXT } },
	{ "else", "quit", "Q", "quit; :q too", ANYWHERE, run_quit },
};

const unsigned app_command_count = sizeof(app_commands) / sizeof(app_commands[0]);
