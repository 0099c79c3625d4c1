/* The program as the person sees it: which view, where in it, what is being typed. Keys and
 * commands change it, app_draw pictures it; it touches neither files nor terminal. What it wants
 * done outside it says as effects, which the caller takes and carries out.
 *
 * The caller owns the model and the reader; app_arrived tells that messages have come.
 *
 * The lists of a big log take longer to make than a key may wait. A caller with a clock sets
 * `list_until_ms`: what app_refresh has not made by then, app_list_step goes on with between keys,
 * and meanwhile the old list is shown. */
#ifndef GAVEL_APP_APP_H
#define GAVEL_APP_APP_H

#include "base/job.h"
#include "encode/encode_command.h"
#include "app/deciding.h"
#include "draw/keymap.h"
#include "view/pane.h"
#include "app/prompt.h"
#include "app/transport.h"

enum { SMALLEST_COLS = 60, SMALLEST_ROWS = 15, BESIDE_COLS = 120, SCREENS_MAX = 16 };

enum effect_type {
	EFFECT_QUIT,
	EFFECT_SUSPEND,
	EFFECT_REDRAW,
	EFFECT_SAVE_SCREEN, /* file */
	EFFECT_EDIT,        /* edit */
	EFFECT_STAGE,       /* draft */
	EFFECT_EXPLAIN,     /* draft: its explanation in $EDITOR, then staged again */
	EFFECT_UNDO,        /* undo */
	EFFECT_PLAN,        /* makes the plan and opens the pre-flight page */
	EFFECT_DELIVER,     /* sends what the page showed; sure */
	EFFECT_RECOVER,     /* finishes what an earlier run left */
	EFFECT_RESEND,      /* letter */
	EFFECT_GIVE_UP,     /* letter */
	EFFECT_AGENT,       /* order */
	EFFECT_TURN,        /* turn */
	EFFECT_FORK,        /* fork */
	EFFECT_TELL,        /* tell */
};

/* What is done to agents that gavel runs, without a page to look at first. */
struct agent_order {
	enum { ORDER_STOP, ORDER_RESTART, ORDER_CANCEL, ORDER_ASSIGN } type;
	struct str agent;  /* STOP, RESTART (empty: the only one), ASSIGN */
	struct str task;   /* CANCEL, ASSIGN: its id */
	struct str reason; /* CANCEL */
};

/* What a person says in a session without deciding an item; shown on the pre-flight page. */
struct session_command {
	enum command_type type;
	struct str target; /* ABORT_TASK: id of the task; STATUS: name of the agent */
	struct str reason; /* ABORT_TASK */
	uint32_t message;  /* ACKNOWLEDGE: which, or NONE */
};

enum turn_action { TURN_RETRY, TURN_GIVE_UP, TURN_EDIT };

/* The member that the type names is set. Strings last until app_effects_taken. */
struct effect {
	enum effect_type type;
	struct desk *desk; /* whose draft or letter it is */
	union {
		const char *file;
		struct {
			const char *file;
			uint32_t line; /* 0: none in particular */
		} edit;
		struct draft draft;
		uint32_t undo; /* number of the draft */
		bool sure;     /* also what needed a second yes */
		struct {
			uint32_t number;
			bool may_have_arrived; /* given up in spite of that */
		} letter;
		struct agent_order order;
		enum turn_action turn;
		struct {
			const char *dir; /* NULL: one is made */
			uint32_t k;      /* the messages to decide on a copy of */
		} fork;
		struct session_command tell;
	};
};

/* The six views, in the order of their keys. */
enum tab {
	TAB_INBOX,
	TAB_TIMELINE,
	TAB_LEDGER,
	TAB_MESSAGES,
	TAB_AGENTS,
	TAB_DECISIONS,
	TAB_COUNT
};

/* A list that is being made, for the scene as it was when that began. */
struct listing {
	struct job *job; /* NULL = there is none */
	struct scene scene;
	enum tab tab;
	int cols;
};

/* A search through all messages. */
struct search_all {
	enum search_state {
		SEARCH_OVER,
		SEARCH_ON,     /* app_search_step is to be called between keys */
		SEARCH_PAUSED, /* by a key; n goes on where it was, */
	} state;
	uint32_t line;     /* unless the person has moved from here */
	struct search_progress progress;
	bool cut;          /* by the key that is being answered: if that is n, it */
	uint32_t more;     /* asks for a later match, of which so many are wanted */
	uint32_t from;     /* the message that it began at, */
	bool again;        /* looking for another match than that */
};

/* A screen opened over the views: an item, a message, its diff, the help. */
struct screen {
	struct pane pane;
	uint32_t item, message;
	uint32_t k; /* as of message k, 0 = as the views are */
	bool stale; /* something has arrived since it was made */
};

/* Whether the sources go on. */
enum liveness {
	LIVE_NOT,    /* all was read */
	LIVE_ON,
	LIVE_PAUSED, /* what comes is taken, but not shown */
	LIVE_BEHIND, /* more comes than is read at the moment */
};

struct app {
	struct scene scene;
	struct str title; /* the sources, for the title line */
	enum tab tab;
	struct pane lists[TAB_COUNT];
	bool stale[TAB_COUNT];
	struct listing listing;
	int64_t list_until_ms; /* of loop_now_ms; INT64_MAX: lists are made at one go */
	struct pane preview;
	struct target previewed;
	bool preview_stale;
	struct screen screens[SCREENS_MAX];
	unsigned screen_count;
	bool preview_focused, maximised;
	struct deciding deciding;
	const char *read_only; /* why nothing can be decided at all; NULL = it can */
	int64_t clock_ms;      /* set by the caller before each key: a clock that does not jump */
	struct prompt prompt;
	struct buf word;        /* searched for */
	uint32_t search_from;   /* where the incremental search began, and Esc goes back to */
	struct search_all search; /* through all messages */
	uint32_t search_stop;   /* where a search of a long list paused; n goes on there */
	bool preview_seeks;     /* something was found: the preview is to show it */
	struct filter *filter;
	struct buf filter_text;
	struct buf notice;      /* the message line */
	enum role notice_role;
	char *confirm_edit;     /* waiting for y */
	uint32_t confirm_line;
	VEC(uint32_t) trail;    /* messages to come back to */
	VEC(struct effect) effects;
	struct arena effect_strings;
	uint32_t open, due, errors; /* counts of the title line, as of the scene */
	uint32_t counted;           /* messages in errors and in the scene's now */
	uint64_t bytes_done, bytes_total;
	uint32_t told; /* messages that app_arrived has told of */
	struct playback playback;      /* open: the scene is its cursor's (replaying.h) */
	bool replays;          /* for good: this is gavel replay */
	struct rect bar_rect;  /* where its bar was drawn */
	bool dragging;         /* the mouse, on the bar */
	enum liveness live;
	int64_t wall_ms;   /* now, where the session is live; TIME_NONE: of the newest message */
	bool follows;      /* the list of messages stays at its end when more come */
	bool jump;         /* and has to go there */
	struct buf incomplete; /* the beginning of a line whose end has not come; the scene's */
	struct buf strip;  /* how the turn of a review stands, above the keys; empty = there is none */
	enum role strip_role;
	struct buf banner; /* what is wrong with a source; empty = nothing */
	int rows, cols;
	struct rect list_rect, preview_rect; /* where they were drawn, for the mouse */
	struct keymap keymap;
};

extern const struct app_command app_commands[];
extern const unsigned app_command_count;

void app_init(struct app *a, const struct model *m, const struct reader *r, struct str title,
	      bool ascii);
void app_release(struct app *a);
/* The model has grown (or its sources are read to the end). */
void app_arrived(struct app *a, uint64_t bytes_done, uint64_t bytes_total, bool reading);
/* The session is live, and so late it is. */
void app_clock(struct app *a, int64_t wall_ms);
/* The beginning of a line that has been waiting for its end; empty = there is none. */
void app_incomplete(struct app *a, struct str text);
void app_resize(struct app *a, int rows, int cols);
void app_key(struct app *a, const struct key *key);
/* Runs a line as if typed after ':'. */
void app_run(struct app *a, struct str line);
/* Binds a key to a command line; false when there is no such command. NULL unbinds. */
bool app_bind(struct app *a, uint32_t key, const char *line);
/* Draws the whole screen; *cursor_col < 0: no cursor. */
void app_draw(struct app *a, struct grid *g, int *cursor_row, int *cursor_col);
/* Something was decided, sent or undone: what is shown is made anew. */
void app_decided(struct app *a);
/* Opens the pre-flight page on a plan; the plan lasts until the page is closed or another comes. */
void app_show_plan(struct app *a, const struct plan *plan);
/* The effects were carried out: they and their strings go. */
void app_effects_taken(struct app *a);
/* One sentence on the message line; {command} in the format stands for its key (keymap.h). */
void app_say(struct app *a, enum role role, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* For the commands: */
/* The scene's k or now has changed: counts, and what is shown. */
void app_moved(struct app *a);
/* As of everything that has come. */
void app_to_end(struct app *a);
struct screen *app_screen(struct app *a); /* the topmost, or NULL */
struct pane *app_pane(struct app *a);     /* what moving moves */
struct pane *app_list(struct app *a);
struct scene app_scene_of(const struct app *a, const struct screen *s);
/* The item that the person looks at, or NONE: a key acts only where it is seen which one it is. */
uint32_t app_item_here(struct app *a);
void app_open(struct app *a, struct target target);
void app_open_view(struct app *a, const struct view_ops *view, uint32_t item, uint32_t message);
bool app_back(struct app *a);
void app_show_tab(struct app *a, enum tab tab);
void app_stale(struct app *a);
/* Where one is (enum where) with so many screens over the views. */
unsigned app_where(const struct app *a, unsigned screens);
void app_effect(struct app *a, struct effect e);
/* A copy, terminated, that lasts as long as the effects; nothing of nothing. */
struct str app_keep(struct app *a, struct str s);
/* Makes what is out of date; called before drawing and before commands look at lines. */
void app_refresh(struct app *a);
/* Whether the list shown is up to date. */
bool app_is_settled(const struct app *a);
/* Goes on making it until that moment; the model must not change before it is settled, unless what
 * changed is told as always. Returns app_is_settled. */
bool app_list_step(struct app *a, int64_t until_ms);
/* Before anything is freed that a list in the making may still use. */
void app_cancel_list(struct app *a);
/* Without the filter, or what a playback knows of the session, from now on. */
void app_drop_filter(struct app *a);
void app_drop_asof(struct app *a);
/* Searches what is moved in from line `from` on. false: not found. Through the messages it only
 * begins, where the reader has search_step: while app_is_searching, app_search_step is to be
 * called between keys. */
bool app_search(struct app *a, uint32_t from, int direction, bool again);
/* What is looked for goes round; it is told where it did, and where there is nothing else. */
void app_say_wrapped(struct app *a, uint32_t from, uint32_t found, int direction);
/* Where the next search begins: the line selected, or that of the last match as long as it is
 * seen. */
uint32_t app_search_line(struct app *a);
/* The line of the list of messages that shows a message, or NONE. */
uint32_t app_message_line(const struct app *a, uint32_t message);
bool app_is_searching(const struct app *a);
/* Searches on for a few milliseconds. */
void app_search_step(struct app *a);
/* Before each key: whatever is typed next, the person does not wait for the end of a search; other
 * letters of the word begin another one. */
void app_search_interrupt(struct app *a, const struct key *key);
/* Back to where the person was before the search. */
void app_leave_match(struct app *a);
bool app_set_filter(struct app *a, struct str text);
/* The tab whose label is at that column of the tab line, or -1. */
int app_tab_at(const struct app *a, int col);
/* The line above the last (status.c). */
void app_draw_status(struct app *a, struct grid *g, struct rect row);
/* What the command line that is being typed may become: what its command does, or which there
 * are. */
void app_command_hint(const struct app *a, struct str line, struct buf *out);

/* Commands of the timeline. */
void axis_mark_left(struct app *a, struct str argument);
void axis_mark_right(struct app *a, struct str argument);
void axis_zoom_in(struct app *a, struct str argument);
void axis_zoom_out(struct app *a, struct str argument);
void axis_pan_left(struct app *a, struct str argument);
void axis_pan_right(struct app *a, struct str argument);

extern const struct view_ops view_help;

#endif
