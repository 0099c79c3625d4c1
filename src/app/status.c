/* Draws the status line, above the message line: key hints and position; while a prompt is open,
 * completions and its keys; while reading or searching, progress. */
#include "app/app.h"
#include "view/view_parts.h"

static const char *const tab_keys[TAB_COUNT] = {
	[TAB_SESSIONS] = "{open} open  {narrow} only this session",
	[TAB_INBOX] = "{open} open  {next-open} {previous-open} open item  {all} every item",
	[TAB_TIMELINE] = "{mark-left} {mark-right} marks  {open} open  {zoom-in} {zoom-out} zoom  "
			 "{pan-left} {pan-right} pan",
	[TAB_LEDGER] = "{open} open  {diff} diff  {next-open} {previous-open} open item",
	[TAB_MESSAGES] = "{open} open  {next-problem} {previous-problem} problem  "
			 "{along} {along-back} correlation  {raw} raw",
	[TAB_AGENTS] = "{open} open  {narrow} only this one",
	[TAB_DECISIONS] = "{open} open  {undo} undo / abandon  {deliver} deliver  :resend",
};

static const struct {
	const char *hint, *keys;
} prompts[PROMPT_KINDS] = {
	[PROMPT_COMMAND] = { "Tab completes  ↑ history", "Enter run · Esc cancel " },
	[PROMPT_SEARCH] = { "then {next} next  {previous} previous",
			    "Enter accept · Esc cancel " },
	[PROMPT_FILTER] = { "words  kind:finding  severity:>=major  is:open  agent:dev-01  -not",
			    "Enter accept · Esc cancel " },
	[PROMPT_EXPLAIN] = { "free text", "Enter stage · Esc cancel " },
	[PROMPT_ANSWER] = { "free text", "Enter stage · Esc cancel " },
	[PROMPT_RULE] = { "the number of a rule, or one of your own; nothing: the first",
			  "Enter stage · Esc cancel " },
	[PROMPT_REASON] = { "a short code for scripts, such as out_of_scope",
			    "Enter stage · Esc cancel " },
	[PROMPT_NOTE] = { "a note on the bookmark, or nothing", "Enter set · Esc cancel " },
	[PROMPT_AGENT] = { "what the agent is to do", "Enter send · Esc cancel " },
};

/* The progress bar while the sources are read. */
static void draw_progress(const struct app *a, struct grid *g, struct rect row)
{
	double part = a->bytes_total ? (double)a->bytes_done / (double)a->bytes_total : 0;
	int room = row.cols - 18, full = (int)(part * room);
	struct pen p = { g, row };

	if (room < 4)
		return;
	pen_printf(&p, ROLE_DIM, " reading %3d%% ", (int)(part * 100));
	grid_fill(g, rect_in(row, 0, 14, 1, full), ROLE_BAR, "█");
	grid_fill(g, rect_in(row, 0, 14 + full, 1, room - full), ROLE_BAR_REST, "░");
}

static void draw_search(const struct app *a, struct grid *g, struct rect row)
{
	struct pen p = { g, rect_in(row, 0, 1, 1, row.cols - 2) };

	pen_printf(&p, ROLE_DIM, "searching, %u%%; any key stops",
		   (unsigned)(100 - 100.0 * a->search.progress.left /
					(a->scene.k ? a->scene.k : 1)));
}

/* Adds hints for deliver and undo while drafts are staged, and for the verbs that the current item
 * takes; false = it takes none, nothing added. */
static bool add_verbs(struct app *a, bool words, struct buf *out)
{
	size_t before = out->n;

	if (decide_staged(a))
		keymap_text(&a->keymap, "{deliver} deliver  {undo} undo  ", out);
	else if (a->scene.returned_n)
		keymap_text(&a->keymap, "{deliver} send the answer  ", out);
	else if (a->scene.artifact) /* of a review, also without a decision */
		keymap_text(&a->keymap, "{deliver} next turn  ", out);
	if (decide_keys(a, words, out))
		return true;
	out->n = before;
	return false;
}

/* What can be done with the current item in its team; waits: it takes a decision. */
static void add_team(struct app *a, bool waits, struct buf *out)
{
	uint32_t item = app_item_here(a);
	const struct team_mark *mark = item == NONE ? NULL : team_mark_of(a->scene.team, item);

	if (!mark || a->read_only)
		return;
	if (str_is(mark->outcome, "held"))
		buf_adds(out, ":team resend  :team give-up  ");
	else if (waits && mark->mine)
		keymap_text(&a->keymap, "{claim} release  ", out);
	else if (waits && !team_mark_is_taken(mark, scene_clock(&a->scene)))
		keymap_text(&a->keymap, "{claim} claim  ", out);
}

static void list_keys(struct app *a, struct buf *out)
{
	if (a->playback.model) {
		keymap_text(&a->keymap, a->playback.playing ? "{play} pause  " : "{play} play  ",
			    out);
		keymap_text(&a->keymap, a->replays ? "" : "{replay} leave  ", out);
		keymap_text(&a->keymap,
			    "{step-back} {step} step  {slower} {faster} speed  "
			    "{previous-event} {next-event} event  {minute-back} {minute} minute  "
			    "{skip} idle  {loop} loop", out);
	} else if (a->tab == TAB_INBOX && add_verbs(a, true, out)) {
		buf_adds(out, "  ");
		add_team(a, true, out);
		keymap_text(&a->keymap, "{mark} mark  {defer} snooze", out);
	} else if (a->tab == TAB_AGENTS && a->scene.life_n)
		keymap_text(&a->keymap,
			    "{open} open  {stop-selected} stop  {restart-selected} restart",
			    out);
	else {
		if (a->tab == TAB_INBOX)
			add_team(a, false, out);
		keymap_text(&a->keymap, tab_keys[a->tab], out);
	}
}

/* Only what the page has: something to send, to unfold, to drop, to be careful about. */
static void preflight_keys(struct app *a, struct buf *out)
{
	const struct pane *p = &app_screen(a)->pane;
	const struct plan *plan = a->scene.plan;
	uint32_t dropped, letter = preflight_letter(&p->lines, p->selected, &dropped), first, end;
	bool folds = letter < a->scene.unfolded_n && a->scene.unfolded[letter], caution = false;

	for (uint32_t i = 0; letter == NONE && i < a->scene.unfolded_n; i++)
		folds |= a->scene.unfolded[i];
	if (plan && plan_can_send(plan))
		keymap_text(&a->keymap, "y send  {back} back, nothing is sent", out);
	else
		keymap_text(&a->keymap, "{back} back", out);
	if (plan && plan->list.n)
		keymap_text(&a->keymap, folds ? "  {open} fold" : "  {open} unfold", out);
	if (dropped != NONE)
		keymap_text(&a->keymap, "  {reject} take in again", out);
	else if (plan && plan->list.n)
		keymap_text(&a->keymap, "  {reject} drop", out);
	for (uint32_t i = 0; !caution && preflight_remark(&p->lines, i, &first, &end, &caution);)
		i++;
	if (caution)
		keymap_text(&a->keymap, "  {next} caution", out);
}

static void screen_keys(struct app *a, struct buf *out)
{
	const struct view_ops *view = app_screen(a)->pane.view;
	const char *keys = "{back} back  {down} {up} scroll  {search} search";

	if (view == &view_preflight) {
		preflight_keys(a, out);
		return;
	}
	if (view == &view_bookmarks)
		keys = "{open} go to the message  {bookmark} remove  {back} back";
	else if (view == &view_recovery)
		keys = "y finish them  {undo} abandon what is held  {back} leave them";
	else if (view == &view_message)
		keys = "{back} back  {raw} raw  {along} {along-back} correlation  "
		       "{next-problem} {previous-problem} problem";
	else if (!app_screen(a)->pane.text) {
		if (add_verbs(a, false, out))
			buf_adds(out, " decide  ");
		keys = "{back} back  {open} open  {along} {along-back} correlation  "
		       "{narrow} only this  {next-open} {previous-open} open item";
	} else if (view == &view_item) {
		bool waits = add_verbs(a, false, out);

		buf_adds(out, waits ? " decide  " : "");
		add_team(a, waits, out);
		keys = "{back} back  {diff} diff  {iteration-back} {iteration-forward} iteration  "
		       "{raw} raw  {next-open} {previous-open} items";
	}
	keymap_text(&a->keymap, keys, out);
}

static void put_line(struct grid *g, struct rect row, enum role role, struct str text,
		     const char *right)
{
	struct rect left = rect_in(row, 0, 1, 1, row.cols - (int)strlen(right) - 2);

	if (role == ROLE_DIM)
		app_hints_draw(g, left, text);
	else
		grid_text(g, left, role, raw_of(text), TEXT_LINE);
	put_right(g, row, ROLE_DIM, right);
}

/* While a prompt is open: a message about the input, else completions, else key hints. */
static void draw_prompt_hint(struct app *a, struct grid *g, struct rect row)
{
	const char *keys = prompts[a->prompt.kind].keys, *leave = "Esc cancel ";
	struct buf hint = { 0 }, right = { 0 };

	if (a->notice.n)
		buf_add_str(&hint, buf_str(&a->notice));
	else
		app_prompt_hint(a, row.cols - (int)strlen(keys) - 2, &hint);
	if (!hint.n)
		keymap_text(&a->keymap, prompts[a->prompt.kind].hint, &hint);
	/* the message may list choices: the key hints give way to it */
	if (a->notice.n && (int)(hint.n + strlen(keys)) + 2 > row.cols)
		keys = (int)(hint.n + strlen(leave)) + 4 > row.cols ? "" : leave;
	if (a->prompt.kind == PROMPT_SEARCH)
		app_count_text(a, &right);
	buf_adds(&right, keys);
	put_line(g, row, a->notice.n ? a->notice_role : ROLE_DIM, buf_str(&hint), right.p);
	buf_release(&right);
	buf_release(&hint);
}

/* What y and other keys mean while the message line asks something, or NULL: then the page's own keys
 * do not hold. A question about cautions leaves the other keys as they are. */
static const char *confirm_keys(const struct app *a)
{
	switch (a->deciding.confirm) {
	case CONFIRM_NONE: return a->confirm_edit ? "y open  any other key: no" : NULL;
	case CONFIRM_UNSEEN: return NULL;
	case CONFIRM_NAMED:
	case CONFIRM_SURE:
	case CONFIRM_OPEN: return "y send all the same  any other key: no";
	case CONFIRM_QUIT: return "y quit  {deliver} review  any other key: stay";
	case CONFIRM_LEAVE: return "l leave running  s stop  any other key: stay";
	case CONFIRM_CORRECT:
	case CONFIRM_GIVE_UP:
	case CONFIRM_DOUBT:
	case CONFIRM_AGENT: break;
	}
	return "y yes  any other key: no";
}

void app_draw_status(struct app *a, struct grid *g, struct rect row)
{
	const struct screen *s = app_screen(a);
	char position[24], part[24];
	struct rect left;
	struct buf keys = { 0 }, right = { 0 };

	app_hints_set(a, row, STR_NONE);
	if (a->scene.reading || app_is_searching(a)) {
		(a->scene.reading ? draw_progress : draw_search)(a, g, row);
		return;
	}
	if (a->prompt.kind != PROMPT_NONE) {
		draw_prompt_hint(a, g, row);
		return;
	}
	if (app_pane(a)->left)
		buf_printf(&right, "‹%d  ", app_pane(a)->left);
	if (a->follows && !s && a->tab == TAB_MESSAGES)
		buf_adds(&right, "following  ");
	app_count_text(a, &right);
	buf_adds(&right, pane_position(s ? &s->pane : app_list(a), position));
	if (!s && a->preview.view && a->preview_rect.rows > 0 && a->previewed.type != TARGET_NONE)
		buf_printf(&right, "  preview %s", pane_position(&a->preview, part));
	keymap_text(&a->keymap, "  {help} help ", &right);
	if (confirm_keys(a))
		keymap_text(&a->keymap, confirm_keys(a), &keys);
	else
		(s ? screen_keys : list_keys)(a, &keys);
	put_line(g, row, ROLE_DIM, buf_str(&keys), right.p);
	left = rect_in(row, 0, 1, 1, row.cols - (int)strlen(right.p) - 2);
	if (!confirm_keys(a)) /* the mouse answers no question */
		app_hints_set(a, left, buf_str(&keys));
	buf_release(&keys);
	buf_release(&right);
}
