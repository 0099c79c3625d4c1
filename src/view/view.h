/* A view is a list of lines; each call of view_ops.draw draws a row of a grid from one of them, so
 * cost depends on what is visible. Drawing is a pure function: same scene, same rect, same cells.
 * One view = one file = one const table at its end.
 *
 * The scene is the session as of the first k messages. Texts are not in the model; the reader
 * fetches them from the message's bytes. */
#ifndef GAVEL_VIEW_VIEW_H
#define GAVEL_VIEW_VIEW_H

#include "encode/plan.h"
#include "model/asof.h"
#include "model/filter.h"
#include "draw/grid.h"
#include "draw/keymap.h"
#include "view/team_mark.h"

struct app;

/* Items of the inbox that the person has marked or snoozed. */
struct triage {
	VEC(uint32_t) marked; /* items */
	VEC(bool) is_marked;  /* by item */
	/* by item: its newest message + 1 when it was snoozed, to be hidden until it changes or is
	 * nearly due; 0 = it was not */
	VEC(uint32_t) snoozed;
};

static inline bool item_is_marked(const struct triage *t, uint32_t item)
{
	return item < t->is_marked.n && t->is_marked.v[item];
}

/* The file under review: as sent, and as it is on disk. */
struct artifact_now {
	struct str path;
	struct str seen, now;
	int64_t iteration;   /* of the turn it was sent in */
	const char *trouble; /* read error; NULL = none */
};

/* A process that gavel runs, as of now. Its agents are those of its group that have spoken. */
struct life {
	struct str group; /* of its messages, as the model has it */
	bool ended, flooding;
	const char *words; /* how it ended: "exit 1", "SIGKILL"; NULL = unknown */
	bool fine;         /* it ended successfully */
	bool ending;       /* it was asked to end */
	int64_t unread_ms; /* how long input has been waiting for it to read; 0 = none is */
	uint32_t last;     /* last message of its group + 1; 0 = none, or unknown */
};

/* What a line leads to when it is opened. */
enum target_type {
	TARGET_NONE,
	TARGET_ITEM,
	TARGET_MESSAGE,
	TARGET_TASK,
	TARGET_AGENT,
	TARGET_SESSION,
	TARGET_LOOP, /* by its first message */
};

struct target {
	enum target_type type;
	uint32_t number;
};

struct scene {
	const struct model *model;
	uint32_t k;            /* the first k messages */
	bool reading;          /* the log is being loaded: more is to come */
	uint32_t foreign;      /* messages of no known protocol */
	uint32_t first;        /* messages: from this one on */
	struct str incomplete; /* messages: a line whose end has not arrived for a while */
	int64_t now_ms;        /* TIME_NONE if no message has a time */
	bool live;             /* now_ms is the wall clock; in a recording no clock expires items */
	struct session_stats *kept;  /* cache of those of the whole log; may be NULL */
	struct asof *asof;           /* index of open items by k; NULL: items are scanned */
	struct ledger *loops; /* the loops with every answer up to k; NULL: not computed yet */
	uint32_t until;              /* replay: its last message + 1, beyond k; 0 = no replay */
	const struct filter *filter; /* NULL = all */
	struct target narrowed;      /* what the filter is limited to, for words; NONE = nothing */
	const struct reader *reader;
	bool all;                    /* inbox: closed items, too */
	bool plain_order;            /* inbox: as model_inbox sorts it, without groups */
	bool ascii;                  /* as the grid's; texts are wrapped before there is a grid */
	uint32_t item;               /* item and diff views: which one */
	uint32_t message;            /* message view: which one; loop view: its first */
	struct target page;          /* task, agent and session views: which one */
	bool raw;                    /* message and item views: raw bytes, not pretty-printed */
	const struct app *app;       /* help: of what */
	const struct keymap *keymap; /* for key names in texts; NULL on paper */
	struct yield *yield;         /* for making lines; may be NULL */
	struct desks *desks;         /* the person's decisions; NULL = read-only */
	const struct plan *plan;     /* pre-flight: what would be sent */
	const uint8_t *read;         /* by item, read_n of them: whether it was shown to its end */
	uint32_t read_n;
	const uint8_t *unfolded; /* pre-flight: by letter, unfolded_n of them: all of it is shown */
	uint32_t unfolded_n;
	const struct artifact_now *artifact; /* of a review; NULL = no review */
	const uint32_t *returned; /* items with answers from the queue that are to be sent */
	uint32_t returned_n;
	const struct team_marks *team; /* beside items of a team's inbox; NULL = there is none */
	const struct triage *triage;         /* NULL = nothing is marked or snoozed */
	uint32_t mark;                       /* timeline: chosen mark, message + 1; 0 = none */
	const struct life *lives;            /* life_n of them, valid at the end of the session */
	uint32_t life_n;
	int64_t from_ms, to_ms; /* timeline: visible range; to_ms 0 = all */
};

/* The clock that expires items, as item_at takes it. */
static inline int64_t scene_clock(const struct scene *s)
{
	return s->live ? s->now_ms : TIME_NONE;
}

/* Content of one line; each view defines the meaning of the numbers. */
struct line {
	uint32_t what;
	uint32_t a, b;
};

/* Lines that stand below a heading of their own, which the pane draws: it is no line. */
struct line_group {
	uint32_t first, n;
	const char *name, *words;
};

enum { LINE_GROUPS_MAX = 8 };

/* By which column lines are sorted. */
struct sort_order {
	unsigned column; /* of the table, + 1; 0 = the view's own order */
	bool down;       /* the greatest first */
};

/* Compared by text, without case, then by number. Texts last as long as model and lines. */
struct sort_key {
	struct str text;
	int64_t number;
};

enum sort_place {
	SORT_BY_KEY,
	SORT_LAST,       /* has no key: after the others, in both directions */
	SORT_NOT_LISTED, /* a heading of the view's own order */
};

/* The lines of a view, made once for a scene; read them by line_at. */
struct lines {
	VEC(struct line) list;
	/* Compact forms for lines with what = b = 0; then only n of list is valid: */
	VEC(uint32_t) numbers; /* a of each line; or none, and */
	bool counted;          /* a is first, first + 1 … */
	uint32_t first;
	struct sort_order sort;
	struct table *table;        /* columns of a table (view_parts.h); NULL = it is none */
	struct arena arena;         /* of table and own */
	void *own;                  /* the view's own data */
	void (*release)(void *own); /* frees what is not in the arena; NULL = all is */
	int cols;                   /* the width they were made for */
	uint32_t closed;            /* of an empty inbox of a narrowed view: what {all} would list */
	struct line_group groups[LINE_GROUPS_MAX];
	unsigned group_count; /* 0 = no headings */
	struct session_labels *labels; /* short names of sessions (session_label.h), or NULL */
	void (*release_labels)(void *labels);
	int wide;                   /* columns more for that which grows: it is scrolled to */
};

static inline struct line line_at(const struct lines *lines, uint32_t i)
{
	if (lines->counted)
		return (struct line){ 0, lines->first + i, 0 };
	return lines->numbers.n ? (struct line){ 0, lines->numbers.v[i], 0 } : lines->list.v[i];
}

struct view_ops {
	const char *name;
	/* Makes the lines for a scene and a width. Loops over what grows with the log call
	 * yield_on; once it returns false, the lines only need to be safe to release. */
	void (*make)(const struct scene *s, int cols, struct lines *out);
	/* Draws the heading above the lines, one row; NULL = none. */
	void (*heading)(const struct scene *s, const struct lines *lines, struct grid *g,
			struct rect row);
	/* Draw a row from line i. */
	void (*draw)(const struct scene *s, const struct lines *lines, uint32_t i, struct grid *g,
		     struct rect row);
	/* What line i leads to; NULL = nothing. */
	struct target (*target)(const struct scene *s, const struct lines *lines, uint32_t i);
	/* What the preview shows of line i, where that is not its target; NULL = its target. */
	struct target (*preview)(const struct scene *s, const struct lines *lines, uint32_t i);
	/* The message of the mark on line i next to scene.mark, or NONE; NULL = no marks. */
	uint32_t (*next_mark)(const struct scene *s, const struct lines *lines, uint32_t i,
			      int direction);
	/* The key of line i for a column; NULL = not sorted by columns. */
	enum sort_place (*sort_key)(const struct scene *s, struct lines *lines, uint32_t i,
				    unsigned column, struct sort_key *out);
	uint32_t sort_columns; /* bits of the columns with keys */
	uint32_t sort_down;    /* of those, the ones that begin with the greatest */
	/* Both expanded by keymap_text: */
	const char *empty; /* the message if there are no lines, */
	const char *then;  /* and, on the screen, what to do; may be NULL */
	bool needs_protocol; /* of messages of no known protocol nothing is listed */
};

/* A line of view_decisions is either of the log (what: message, a: item, b: step) or of the journal
 * (what: this, a: desk, b: draft). */
#define DECISION_MADE_HERE UINT32_MAX

extern const struct view_ops view_inbox, view_item, view_timeline, view_ledger, view_messages,
	view_agents, view_summary, view_message, view_decisions, view_diff, view_changes,
	view_preflight, view_recovery, view_loop, view_sessions, view_task,
	view_agent, view_session;

/* Of the lines of view_preflight: the i-th remark, its lines [first, end), and whether it is a caution
 * or says what is missing or not sent; false: there are no more. */
bool preflight_remark(const struct lines *lines, uint32_t i, uint32_t *first, uint32_t *end,
		      bool *caution);
/* The first remark that ends below a line. */
uint32_t preflight_remark_below(const struct lines *lines, uint32_t line);
/* The line of a letter; behind the last line: there is no such letter. */
uint32_t preflight_line(const struct lines *lines, uint32_t letter);
/* The letter (number in plan.list) that a line is part of, or NONE, and then *dropped (in
 * plan.dropped), or NONE. */
uint32_t preflight_letter(const struct lines *lines, uint32_t line, uint32_t *dropped);

/* view_agents: the process that a line of it belongs to; NULL = gavel runs none. */
const struct life *agents_life(const struct scene *s, const struct lines *lines, uint32_t i);

void lines_release(struct lines *lines);
/* Sorts lines by a column (view_sort.c); not all of them if the scene's yield is cancelled. */
void lines_sort(const struct view_ops *view, const struct scene *s, struct lines *lines,
		struct sort_order order);
/* An item's whole name as the text of a key: as long-lived as the lines. */
struct str item_sort_name(const struct model *m, const struct item *item, struct lines *lines);
/* Whether the table is drawn with that column, and can be sorted by it. */
bool table_sorts(const struct view_ops *view, const struct lines *lines, unsigned column);

#endif
