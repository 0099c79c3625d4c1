/* The interactive program's state: which view, the cursor in it, prompt, filter, search. Keys and
 * commands change it, app_draw renders it into a grid; it touches neither files nor terminal. What
 * must happen outside (quit, edit, stage, deliver …) is queued as effects, which the caller carries
 * out and drops with app_effects_taken.
 *
 * The caller owns the model and the reader, and calls app_arrived after messages were added.
 *
 * Building the list of a big log takes longer than a key may wait. A caller with a clock sets
 * `list_until_ms`: a list that app_refresh could not finish by then is continued by app_list_step
 * between keys, and meanwhile the old list is shown. */
#ifndef GAVEL_APP_APP_H
#define GAVEL_APP_APP_H

#include "base/job.h"
#include "encode/encode_command.h"
#include "app/deciding.h"
#include "draw/keymap.h"
#include "view/pane.h"
#include "app/prompt.h"
#include "app/replay.h"
#include "app/split.h"

enum { SMALLEST_COLS = 60, SMALLEST_ROWS = 15, SCREENS_MAX = 16 };

enum effect_type {
	EFFECT_QUIT,        /* leave */
	EFFECT_SUSPEND,
	EFFECT_REDRAW,
	EFFECT_SAVE_SCREEN, /* file */
	EFFECT_EDIT,        /* edit */
	EFFECT_STAGE,       /* draft */
	EFFECT_EXPLAIN,     /* draft: edit its explanation in $EDITOR, then stage it again */
	EFFECT_EDIT_INPUT,  /* draft: edit its answer, a tool call's input, in $EDITOR, then stage it */
	EFFECT_UNDO,        /* undo */
	EFFECT_CLAIM,       /* claim: an item of a team's inbox */
	EFFECT_TEAM_SETTLE, /* claim: on = its held message is sent again, else given up */
	EFFECT_TEAM_ACCEPT, /* go on with a team's store that went back */
	EFFECT_SNOOZE,      /* snooze: keep it in the journal */
	EFFECT_PLAN,        /* make the plan and open the pre-flight page */
	EFFECT_DROP,        /* drop: leave a message of the plan shown out, or take one in again */
	EFFECT_DELIVER,     /* sure: send the plan shown */
	EFFECT_RECOVER,     /* finish the deliveries an earlier run left */
	EFFECT_RESEND,      /* letter */
	EFFECT_GIVE_UP,     /* letter */
	EFFECT_AGENT,       /* order: to the supervisor */
	EFFECT_TURN,        /* turn: of a review */
	EFFECT_FORK,        /* fork: decide on a copy */
	EFFECT_REMEMBER,    /* keep `split` for the next run */
	EFFECT_THEME,       /* file: the name of the theme */
	EFFECT_RELOAD,      /* read the configuration again */
	EFFECT_BOOKMARK,    /* bookmark: keep that it was set or removed */
	EFFECT_COPY,        /* copy: to the clipboard */
	EFFECT_REPLY,       /* file: where the desk's replies go from now on */
	EFFECT_TELL,        /* tell: put a session command on the pre-flight page */
};

/* An order to the supervisor of the agents that gavel runs; carried out without a pre-flight. */
struct agent_order {
	enum order_type {
		ORDER_STOP,
		ORDER_RESTART,
		ORDER_CANCEL,
		ORDER_ASSIGN,
		ORDER_PROMPT,    /* words for a real agent */
		ORDER_INTERRUPT, /* ends its turn */
		ORDER_MODE,      /* what it asks for */
	} type;
	struct str agent;  /* all but CANCEL; empty: the only one, except for ASSIGN */
	struct str task;   /* CANCEL, ASSIGN: the id */
	struct str reason; /* CANCEL */
	struct str text;   /* PROMPT: the words; MODE: its name */
};

/* A message to the session that decides no item; shown on the pre-flight page before it is sent. */
struct session_command {
	enum session_command_type type;
	struct str target; /* ABORT_TASK: id of the task; STATUS: name of the agent */
	struct str reason; /* ABORT_TASK */
	uint32_t message;  /* ACKNOWLEDGE: the message, or NONE */
};

/* What becomes of agents that run when gavel quits. */
enum leave_choice { LEAVE_ASKS, LEAVE_RUNNING, LEAVE_STOPS };

enum turn_action { TURN_RETRY, TURN_GIVE_UP, TURN_EDIT };

/* The comment of the type names the member that is set. Strings last until app_effects_taken. */
struct effect {
	enum effect_type type;
	struct desk *desk; /* the desk of the draft or letter */
	union {
		enum leave_choice leave;
		const char *file;
		struct {
			const char *file;
			uint32_t line; /* 0: none */
			bool is_own;   /* named by the person, not by a message */
		} edit;
		struct draft draft;
		uint32_t undo; /* number of the draft */
		struct {
			uint32_t item;
			bool on; /* false: it is back */
		} snooze;
		struct {
			uint32_t item;
			bool on; /* false: release it */
		} claim;
		struct {
			uint32_t letter, dropped; /* number in plan.list or in plan.dropped; NONE */
		} drop;
		bool sure;     /* include what needed a second confirmation */
		struct {
			uint32_t number;
			bool may_have_arrived; /* given up all the same */
		} letter;
		struct agent_order order;
		enum turn_action turn;
		struct {
			const char *dir; /* NULL: create one */
			uint32_t k;      /* copy the first k messages */
		} fork;
		struct str copy;
		struct {
			uint32_t message;
			struct str note;
			bool removed;
		} bookmark;
		struct session_command tell;
	};
};

/* The list views, in the order of their keys. */
enum tab {
	TAB_SESSIONS,
	TAB_INBOX,
	TAB_TIMELINE,
	TAB_LEDGER,
	TAB_MESSAGES,
	TAB_AGENTS,
	TAB_DECISIONS,
	TAB_COUNT
};

/* A list under construction, for the scene as it was when that began. */
struct listing {
	struct job *job; /* NULL = none */
	struct scene scene;
	struct pane *pane; /* of a tab or of a page */
	bool *stale;       /* that of the pane */
	int cols;
	struct ledger *loops; /* computed by the job, NULL = the scene's are up to date */
};

/* The search through all messages, in time slices (searching.c). */
struct search_all {
	enum search_state {
		SEARCH_OVER,
		SEARCH_ON,     /* app_search_step must be called between keys */
		SEARCH_PAUSED, /* by a key; n resumes if `line` is still selected */
	} state;
	uint32_t line;
	struct search_progress progress;
	bool interrupted; /* by the key being handled */
	uint32_t skip;    /* matches to skip: n was typed before they were found */
	uint32_t from;    /* the message it started at */
	bool again;       /* for another match than that */
};

/* The matches of the search word in a pane (counting.c). */
struct match_count {
	enum { COUNT_NONE, COUNT_ON, COUNT_DONE } state;
	const struct pane *pane;
	const struct view_ops *view;
	uint32_t lines; /* of the pane then */
	struct buf word;
	VEC(uint32_t) found; /* lines */
	bool cut;            /* there may be more */
	uint32_t at;         /* next line, or */
	struct search_progress progress; /* in the list of messages */
};

struct bookmark {
	uint32_t message;
	char *note; /* may be NULL */
};

/* What Esc in the prompt of the filter returns to. */
struct filtering {
	struct buf before; /* the filter */
	enum tab tab;
	struct line at; /* the selection, and where it was on the screen */
	uint32_t selected, top;
	bool made;
};

/* A screen opened over the views: an item, a message, its diff, the help; or a page, which is a list
 * with a selection (not pane.text) and is made in steps, as the lists of the tabs are. */
struct screen {
	struct pane pane;
	uint32_t item, message;
	struct target page; /* of a page: what it is of */
	uint32_t k; /* as of message k, 0 = as of the app's scene */
	bool stale; /* its lines must be rebuilt */
};

/* A place that trail_back returns to (trail.c). */
struct location;

/* Whether the sources are followed. */
enum liveness {
	LIVE_NOT,
	LIVE_ON,
	LIVE_PAUSED, /* new messages are read but not shown */
	LIVE_BEHIND, /* messages arrive faster than they are read */
};

/* Whether what is followed does grow, for the title line. */
enum growth {
	GROWTH_AWAITED, /* nothing has come yet, and what there is was not written just now */
	GROWTH_LIVE,
	GROWTH_ENDED, /* no agent runs any more */
};

struct app {
	struct scene scene;
	struct str title; /* the sources, for the title line */
	enum tab tab;
	struct pane lists[TAB_COUNT];
	bool stale[TAB_COUNT];
	struct listing listing;
	int64_t list_until_ms; /* deadline on the clock loop_now_ms; INT64_MAX: none */
	struct pane preview;
	struct target previewed;
	bool preview_stale;
	struct screen screens[SCREENS_MAX];
	unsigned screen_count;
	bool preview_focused, maximised;
	struct preview_split split;
	struct deciding deciding;
	const char *read_only; /* the reason why nothing can be decided; NULL = it can */
	int64_t clock_ms;      /* monotonic, set by the caller before each key, frame and step */
	struct prompt prompt;
	struct buf word;        /* the search word */
	uint32_t search_from;   /* line where the incremental search began; Esc returns there */
	struct search_all search;
	struct match_count matches;
	bool search_missed;     /* the last search found nothing */
	uint32_t search_stop;   /* line + 1 where a search of a long list paused; n resumes there */
	bool preview_seeks;     /* a match was found: scroll the preview to it */
	struct filter *filter;  /* what was typed, limited to scene.narrowed; NULL = neither */
	struct buf filter_text;
	struct filtering filtering;
	bool narrowed_last;     /* narrowed after it was filtered: back undoes that first */
	VEC(struct bookmark) bookmarks; /* by message */
	uint32_t noting; /* the message that the note being typed is for */
	struct buf notice;      /* the message line */
	enum role notice_role;
	char *confirm_edit;     /* the file to edit, waiting for y */
	uint32_t confirm_line;
	VEC(struct location *) trail; /* places that were left by :along and other jumps, a stack */
	VEC(struct effect) effects;
	struct arena effect_strings;
	uint32_t open, due, errors; /* counts of the title line, as of the scene */
	uint32_t diverging;         /* loops that do not converge, */
	uint32_t loop_answers;      /* as of so many answers; UINT32_MAX = of a scene in the past */
	uint32_t counted;           /* messages counted so far in errors and in the scene's now */
	uint64_t bytes_done, bytes_total;
	uint32_t told;         /* messages at the last app_arrived */
	struct playback playback; /* while open, the scene is set to its position (replay.h) */
	bool replays;          /* this is `gavel replay`: the playback cannot be closed */
	struct rect bar_rect;  /* where the replay bar was drawn */
	bool dragging;         /* the mouse, on the bar */
	enum liveness live;
	enum growth growth;
	int64_t wall_ms;       /* the time of day in a live session, else TIME_NONE */
	bool follows;          /* the list of messages keeps its last line selected */
	bool follows_unasked;  /* it does so since the log is live; f keeps that */
	bool select_last;      /* select the last line when the list is next drawn */
	struct buf incomplete; /* last line of the log while it lacks its newline */
	struct buf strip;      /* state of the review's turn, above the status line; empty = none */
	enum role strip_role;
	struct buf banner;     /* trouble with a source, on the message line; empty = none */
	struct buf hints;      /* drawn in hints_rect */
	struct rect hints_rect;
	int rows, cols;
	struct rect list_rect, preview_rect, screen_rect; /* where they were drawn, for the mouse */
	struct keymap keymap;
};

extern const struct app_command app_commands[];
extern const unsigned app_command_count;

void app_init(struct app *a, const struct model *m, const struct reader *r, struct str title,
	      bool ascii);
void app_release(struct app *a);
/* The model has grown, or reading has ended. */
void app_arrived(struct app *a, uint64_t bytes_done, uint64_t bytes_total, bool reading);
/* Sets the time of day of a live session. */
void app_clock(struct app *a, int64_t wall_ms);
/* Sets the last line of the log while it lacks its newline; empty = none. */
void app_incomplete(struct app *a, struct str text);
void app_resize(struct app *a, int rows, int cols);
void app_key(struct app *a, const struct key *key);
/* Runs a line as if typed after ':'. */
void app_run(struct app *a, struct str line);
/* Binds a key to a command line; false when there is no such command. NULL unbinds the key. */
bool app_bind(struct app *a, uint32_t key, const char *line);
/* Draws the whole screen; *cursor_col < 0: no cursor. */
void app_draw(struct app *a, struct grid *g, int *cursor_row, int *cursor_col);
/* A decision was staged, sent or undone: recounts and rebuilds everything shown. */
void app_decided(struct app *a);
/* Opens the pre-flight page; the plan must last until the page is closed or replaced. */
void app_show_plan(struct app *a, const struct plan *plan);
/* The pre-flight page, which is open, shows this plan now; its selection stays. */
void app_change_plan(struct app *a, const struct plan *plan);
/* Drops the effects and their strings, once they were carried out. */
void app_effects_taken(struct app *a);
/* Sets the message line; {command} in the format is replaced by its key (keymap.h). */
void app_say(struct app *a, enum role role, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* For the commands: */
/* The scene's k or now has changed: recounts and marks everything shown as stale. */
void app_scene_changed(struct app *a);
/* Sets the scene to all messages read. */
void app_to_end(struct app *a);
struct screen *app_screen(struct app *a); /* the topmost, or NULL */
bool app_shows(struct app *a, const struct view_ops *view); /* on the topmost screen */
struct pane *app_pane(struct app *a);     /* the focused pane */
/* The topmost screen that is a page, or NULL. */
struct screen *app_page(struct app *a);
/* The list one is in, if under other screens: that of the page, else that of the tab. */
struct pane *app_list(struct app *a);
struct scene app_list_scene(struct app *a);
struct scene app_scene_of(const struct app *a, const struct screen *s);
/* Where one is (jumping.c). */
/* The item shown or selected, or NONE; app_need_item then says so on the message line. */
uint32_t app_item_here(struct app *a);
/* What the message or item screen shows, else what is selected in the list. */
struct target app_target_here(struct app *a);
uint32_t app_need_item(struct app *a);
/* The message shown or selected, else the newest of the selected item, task or agent; or NONE. */
uint32_t app_message_here(struct app *a);
/* Selects a message in the list of messages, and shows it if a message was shown. Where one was is
 * remembered, unless `stay` and one was in that list already. */
void app_go_message(struct app *a, uint32_t message, bool stay);
void app_open(struct app *a, struct target target);
void app_open_view(struct app *a, const struct view_ops *view, uint32_t item, uint32_t message);
/* The view that shows a task, an agent or a session; NULL for other targets. */
const struct view_ops *app_page_view(struct target target);
bool app_back(struct app *a);
void app_show_tab(struct app *a, enum tab tab);
/* All lines shown must be rebuilt from scratch. */
void app_invalidate(struct app *a);
/* The context of commands (enum where) with that many screens open. */
unsigned app_where(const struct app *a, unsigned screens);
void app_effect(struct app *a, struct effect e);
/* A NUL-terminated copy that lasts as long as the effects; STR_NONE for an empty string. */
struct str app_effect_dup(struct app *a, struct str s);
/* Rebuilds what is stale; called before drawing and before commands look at lines. */
void app_refresh(struct app *a);
/* Whether the list shown is up to date. */
bool app_is_settled(const struct app *a);
/* Continues building the list until the deadline. The model must not change before the list is
 * settled, unless app_arrived or app_scene_changed is called. Returns app_is_settled. */
bool app_list_step(struct app *a, int64_t until_ms);
/* Must be called before freeing anything that a list under construction may still use. */
void app_cancel_list(struct app *a);
/* Free the filter and the playback's index (scene.asof), cancelling the list that uses them. */
void app_drop_filter(struct app *a);
void app_drop_asof(struct app *a);
/* Searches the focused pane for a->word from line `from` on; again: for another match than that
 * line. false: not found. In the list of messages it only starts a search of all messages: while
 * app_is_searching, call app_search_step between keys. */
bool app_search(struct app *a, uint32_t from, int direction, bool again);
bool app_is_searching(const struct app *a);
/* Continues the search for a few milliseconds. */
void app_search_step(struct app *a);
/* Called before each key: a key interrupts the search, so that nobody waits for its end. */
void app_search_interrupt(struct app *a, const struct key *key);
/* Says that the search word was not found, and notes it. */
void app_say_missed(struct app *a);
/* Says that a search wrapped around, or that there is only one match. */
void app_say_wrapped(struct app *a, uint32_t from, uint32_t found, int direction);
/* The line where the next search starts: the one selected, or the last match while visible. */
uint32_t app_search_line(struct app *a);
/* Returns to where the incremental search began. */
void app_search_restore(struct app *a);
/* Counts the matches of a->word in the focused pane, unless they are counted already: while
 * app_is_counting, call app_count_step between keys. */
void app_count_start(struct app *a);
bool app_is_counting(const struct app *a);
void app_count_step(struct app *a);
/* Appends "match 3/17  " once they are counted. */
void app_count_text(struct app *a, struct buf *out);
void app_count_release(struct app *a);
/* The line of a message in the list of messages, or NONE. */
uint32_t app_message_line(const struct app *a, uint32_t message);
/* Adds the columns that :sort takes in this list. */
void app_sort_complete(const struct app *a, struct completions *out);
/* A click on a column of the heading, counted from the first column of the lines. */
void app_sort_click(struct app *a, int col);
bool app_set_filter(struct app *a, struct str text);
/* The width of the list shown in which its words have 60 columns (split.h). */
int app_words_cols(const struct app *a);
/* Opens the prompt for a filter; the list narrows while it is typed (filtering.c). */
void app_filter_prompt(struct app *a);
void app_filter_typed(struct app *a);
/* Esc: the filter and the selection as they were before the prompt. */
void app_filter_restore(struct app *a);
/* Key hints, two blanks between them (hints.c): those drawn, for clicks; drawing; and the binding of
 * the one at a place of the screen, NULL = none, or it is not for the mouse. */
void app_hints_set(struct app *a, struct rect row, struct str hints);
void app_hints_draw(struct grid *g, struct rect row, struct str hints);
const struct binding *app_hint_at(const struct app *a, int row, int col);

/* Limits every view to a task, an agent or a session; TARGET_NONE shows everything again. */
void app_narrow(struct app *a, struct target target);
/* What the views are narrowed to, in words: "task PK-2". Empty = nothing. */
void app_narrowed_words(const struct app *a, struct buf *out);
/* Adds the kinds of what :narrow takes, or the names of one kind. */
/* Adds a name that agents have made up, unless it is too long to be of use. */
void app_complete_name(struct completions *out, struct str name);
void app_narrow_complete(const struct app *a, struct str kind, struct completions *out);

/* Remembers where one is: tab, selections, scroll positions and screens. */
void trail_push(struct app *a);
/* Goes back there; false: nothing is remembered. */
bool trail_back(struct app *a);
void trail_release(struct app *a);

/* The tab whose label is at that column of the tab line, or -1 (tabs.c). */
int app_tab_at(const struct app *a, int col);
/* Draws the tab line (tabs.c). */
void app_draw_tabs(const struct app *a, struct grid *g, struct rect line);
/* The column behind the last label of the tab line. */
int app_tabs_end(const struct app *a);
/* Draws the status line, above the message line (status.c). */
void app_draw_status(struct app *a, struct grid *g, struct rect row);
/* The prompt's complete_fn; ctx is the app (completing.c). */
void app_complete(const void *ctx, struct str before, struct completions *out);
/* The hint for what is being typed: the command's help, or the possible completions. */
void app_prompt_hint(const struct app *a, int room, struct buf *out);

/* Bookmarks (bookmarks.c): number of a message's, or NONE; sets one, as the caller does with those
 * that were kept; the note that was asked for. */
uint32_t app_bookmark_find(const struct app *a, uint32_t message);
void app_bookmark_set(struct app *a, uint32_t message, struct str note);
/* The words of PROMPT_AGENT (agent_prompt.c). */
void app_agent_prompted(struct app *a, struct str text);
void app_bookmark_noted(struct app *a, struct str note);
void app_bookmarks_release(struct app *a);

extern const struct view_ops view_help, view_bookmarks;

#endif
