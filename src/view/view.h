/* A view is a list of lines, each drawn by itself into one row of a grid; nothing is drawn that is
 * not asked for, so cost goes with what is visible. Drawing reads the scene and changes nothing:
 * same scene, same rect, same cells. One view = one file = one const table at its end.
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

struct app;
/* An item that is hidden until it changes or is nearly due. */
struct snoozed {
	uint32_t item, message; /* as it was then */
};

/* What the person has set aside while looking through the inbox. */
struct triage {
	VEC(uint32_t) marked; /* items */
	VEC(bool) is_marked;  /* by item */
	VEC(struct snoozed) snoozed;
};
static inline bool item_is_marked(const struct triage *t, uint32_t item)
{
	return item < t->is_marked.n && t->is_marked.v[item];
}


/* The file under review: as it was sent, and as it is on the disk. */
struct artifact_now {
	struct str path;
	struct str seen, now;
	int64_t iteration;   /* of the turn that it was sent in */
	const char *trouble; /* why it cannot be read; NULL = it can */
};

/* A process that gavel runs, as of now. Its agents are those of its group that have spoken. */
struct life {
	struct str group; /* of its messages, as the model has it */
	bool ended, flooding;
	const char *words; /* "exit 1", "SIGKILL"; NULL = nothing to say */
	bool fine;         /* it has ended as it should */
	bool ending;       /* it was told to */
	int64_t unread_ms; /* for so long it has not read what waits for it; 0 = nothing does */
	uint32_t last;     /* message of its group, plus one; 0 = none, or nobody has looked */
};

struct scene {
	const struct model *model;
	uint32_t k;     /* the first k messages */
	bool reading;   /* the log, for the first time: more is to come */
	uint32_t first; /* messages: from this one on */
	struct str incomplete; /* messages: the beginning of a line that has been waiting for its end */
	int64_t now_ms; /* TIME_NONE when no message has a time */
	struct session_stats *kept; /* of the whole log, once somebody has asked for them; may be NULL */
	struct asof *asof; /* which items are open, at once; NULL: they are walked */
	uint32_t until; /* a replay's last message + 1: what lies beyond k is still to come; 0 = none */
	const struct filter *filter; /* NULL = all */
	const struct reader *reader;
	bool all;      /* inbox: also what is not open */
	bool ascii;    /* the grid's: texts are wrapped for it before it is there */
	uint32_t item; /* item and diff views: which one */
	uint32_t message; /* message view: which one */
	bool raw;         /* message and item views: bytes as they came, not pretty */
	const struct app *app; /* help: of what */
	const struct keymap *keymap; /* of the keys that texts name; NULL on paper */
	struct yield *yield; /* for making lines, may be NULL */
	struct desks *desks;     /* what the person has decided; NULL = nothing can be */
	const struct plan *plan; /* pre-flight: what would be sent */
	const uint8_t *read;     /* by item: shown to its end; read_n of them */
	uint32_t read_n;
	const struct artifact_now *artifact; /* of a review; NULL = this is none */
	const struct triage *triage; /* what is marked and snoozed; NULL = nothing */
	uint32_t mark; /* timeline: the chosen mark's message + 1; 0 = none */
	const struct life *lives; /* life_n of them; they hold for the end of the session only */
	uint32_t life_n;
	int64_t from_ms, to_ms; /* timeline: the part of the axis to show; to_ms 0 = all of it */
};

/* What a line leads to when it is opened. */
enum target_type {
	TARGET_NONE,
	TARGET_ITEM,
	TARGET_MESSAGE,
};

struct target {
	enum target_type type;
	uint32_t number;
};

/* What one line of a view shows; what the numbers mean is the view's own business. */
struct line {
	uint32_t what;
	uint32_t a, b;
};

/* The lines of a view, made once for a scene; line_at tells what one of them shows. */
struct lines {
	VEC(struct line) list;
	/* Where a alone tells what a line shows, and what and b are 0, list has but its n: */
	VEC(uint32_t) numbers; /* a of each line; none: */
	bool counted;          /* a is first, first + 1 … */
	uint32_t first;
	struct arena arena; /* of own, and of the texts it keeps */
	void *own; /* whatever else the view worked out */
	void (*release)(void *own); /* what of it is not in the arena; NULL = all is */
	int cols;  /* the width they were made for (texts are wrapped to it) */
};

static inline struct line line_at(const struct lines *lines, uint32_t i)
{
	if (lines->counted)
		return (struct line){ 0, lines->first + i, 0 };
	return lines->numbers.n ? (struct line){ 0, lines->numbers.v[i], 0 } : lines->list.v[i];
}

struct view_ops {
	const char *name;
	/* Fills lines for a scene and a width. Loops over what grows with the log ask yield_on,
	 * and once that says no the lines need not be right, only safe to release. */
	void (*make)(const struct scene *s, int cols, struct lines *out);
	/* Draws the heading above the lines, one row; NULL = none. */
	void (*heading)(const struct scene *s, const struct lines *lines, struct grid *g,
			struct rect row);
	void (*draw)(const struct scene *s, const struct lines *lines, uint32_t i, struct grid *g,
		     struct rect row);
	/* What line i leads to; NULL = nothing. */
	struct target (*target)(const struct scene *s, const struct lines *lines, uint32_t i);
	/* The message of the mark on line i next to `mark` (as in the scene), or NONE; NULL = no
	 * marks. */
	uint32_t (*next_mark)(const struct scene *s, const struct lines *lines, uint32_t i,
			      int direction);
	/* Both as keymap_text reads them: */
	const char *empty; /* what to say when there is no line, */
	const char *then;  /* and, on the screen, what to do; may be NULL */
};

/* A line of the decisions is one of the log: the message that decided, the item, the number of the
 * step; or one of the journal: this, the desk, the draft. */
#define DECISION_MADE_HERE UINT32_MAX

extern const struct view_ops view_inbox, view_item, view_timeline, view_ledger, view_messages,
	view_agents, view_summary, view_message, view_decisions, view_diff, view_changes,
	view_preflight, view_recovery;

void lines_release(struct lines *lines);

#endif
