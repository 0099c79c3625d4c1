/* What views are drawn with: marks for states, the pen that draws a row, the columns layout of
 * tables, prose (wrapped text), the time axis, and whether an item or message passes the filter. */
#ifndef GAVEL_VIEW_VIEW_PARTS_H
#define GAVEL_VIEW_VIEW_PARTS_H

#include "model/ledger.h"
#include "view/view.h"

/* How a state is shown: by a glyph, a letter or a word; the colour only repeats it. The letters of
 * decisions are those of their keys. */
struct mark {
	const char *glyph; /* one column, with an ASCII stand-in */
	const char *letter;
	const char *word;
	enum role role;
};

/* Indexed by verdict (VERDICT_NONE: open), grade, task_state, review_verdict, severity of a
 * diagnostic, delivery, and trust. */
extern const struct mark verdict_marks[], grade_marks[], task_marks[], review_marks[],
	problem_marks[], delivery_marks[], trust_marks[];
/* What a person has to know of an item before its words, in one glyph. */
enum item_mark {
	ITEM_IS_PLAIN,
	ITEM_IS_BROKEN,
	ITEM_IS_EXPIRED,
	ITEM_IS_SNOOZED,
	ITEM_CAME_BACK,
	ITEM_IS_REWORDED,
	ITEM_IS_REPEATED,
	ITEM_IS_ESCALATED,
	ITEM_IS_ANSWERED,
	ITEM_MARK_COUNT
};
extern const struct mark item_marks[];
/* What a message claims, and is not. */
enum { CLAIM_ROLE, CLAIM_HUMAN, CLAIM_AGENT };
extern const struct mark claim_marks[];
enum { TIMELINE_MARKS = 15, LEDGER_MARKS = 11 };
extern const struct mark timeline_marks[TIMELINE_MARKS];
extern const struct mark ledger_marks[LEDGER_MARKS]; /* of its cells (view_ledger.c) */

/* A line of the help page about what a view shows (view_legend.c). */
struct legend {
	const char *head;         /* a column's head, a glyph or a word */
	const char *help;
	const struct mark *marks; /* that may stand there, */
	unsigned n;
	bool letters;             /* also as letters */
};
const struct legend *view_legend(const struct view_ops *view, unsigned *n);
/* The meaning of a head and its marks, in words. */
void legend_text(const struct legend *l, struct buf *out);
/* The person's newest decision on an item, as of the scene; *desk whose it is. NULL = none. */
const struct draft *draft_on_item(const struct scene *s, uint32_t item, const struct desk **desk);
enum role agent_role(const struct model *m, uint32_t agent);

/* A pen draws text into a row from left to right; what does not fit is cut with …, and nothing is
 * drawn after it. */
struct pen {
	struct grid *g;
	struct rect rest;
};

void pen_put(struct pen *p, enum role role, const char *label);
void pen_printf(struct pen *p, enum role role, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
void pen_id(struct pen *p, enum role role, struct str id);
/* Beside an item of a team's inbox: in a column, and in words. now_ms TIME_NONE: without countdown. */
void pen_team(struct pen *p, const struct team_mark *mark, int64_t now_ms);
void pen_team_words(struct pen *p, const struct team_mark *mark, int64_t now_ms);
/* An id like a/b/c: its head is cut, not its tail. */
void pen_path(struct pen *p, enum role role, struct str id);
/* The same for rows of lists, with UUIDs shortened to the 8 digits that tell them apart. */
void pen_short(struct pen *p, enum role role, struct str id);
void pen_text(struct pen *p, enum role role, struct str text);
void pen_skip(struct pen *p, int cols);
/* A badge for text with characters that terminals do not show; pen_hidden checks first. */
void pen_hidden_badge(struct pen *p);
void pen_hidden(struct pen *p, struct str text);
/* Words for irregular bytes (RECORD_TRUNCATED, RECORD_BINARY …), each followed by a separator. */
void pen_flags(struct pen *p, unsigned flags);
/* The same for what a message claims to be or to decide, and may not. */
void pen_claims(struct pen *p, const struct model *m, uint32_t message);
/* The glyph and the word; the glyph alone where there is no room for more than a few letters. */
void pen_mark(struct pen *p, const struct mark *mark);
/* The glyph, or in ASCII the letter, since not every glyph has a stand-in of its own. */
void pen_glyph(struct pen *p, const struct mark *mark);
/* Who caused a step: a person, of a reply, or an agent. */
void pen_decider(struct pen *p, const struct model *m, const struct item_step *step);
/* Where the message of a step came from, in words behind that name: " (reply file)". The log is
 * named where it decides, the journal never. */
void pen_origin(struct pen *p, const struct model *m, uint32_t message, bool decision);
/* The name as in a row: pen_short. */
void pen_agent(struct pen *p, const struct model *m, uint32_t agent);
void pen_item_name(struct pen *p, const struct model *m, const struct item *item);
/* The same for a row: pen_short on the screen; whole on paper, to be typed into a command. */
void pen_item_short(struct pen *p, const struct scene *s, const struct item *item);
/* The title of an item, else the summary of its message. */
void pen_title(struct pen *p, enum role role, const struct scene *s, const struct item *item,
	       const struct item_state *at);
/* Names for people (view_names.c): ids that people use (PK-2, F-1) stand before the words; UUIDs
 * and digests only where nothing else names the thing, by their first 8 characters. */
struct str id_shortened(struct str id);
struct str first_sentence(struct str text);
/* Appends the item's name, cleaned and cut after about `most` cells. */
void add_item_words(const struct scene *s, const struct item *item, const struct item_state *at,
		    int most, struct buf *out);
void pen_item_words(struct pen *p, const struct scene *s, const struct item *item,
		    const struct item_state *at);
/* What a task is called, by the message that brought it up, else by the one that gave it out; empty:
 * neither says. Lent by the reader. */
struct str task_title(const struct scene *s, const struct task_state_at *at);
/* at: NULL = it is not there yet, only its id is known. ROLE_DIM dims the words, too. */
void pen_task_words(struct pen *p, enum role role, const struct scene *s, const struct task *t,
		    const struct task_state_at *at);
/* The two parts of pen_task_words. An envelope has a lane for each workflow of a feature ("specify
 * 014-passkey-sign-in"), false for any other task; those have a title, if task_title found one. */
bool pen_task_workflow(struct pen *p, enum role role, const struct scene *s, const struct task *t,
		       const struct task_state_at *at);
void pen_task_titled(struct pen *p, enum role role, const struct scene *s, const struct task *t,
		     struct str title);
/* The name of the item that a draft is about, as add_item_words. */
void add_draft_subject(const struct scene *s, const struct draft *draft, int most, struct buf *out);
void pen_draft_subject(struct pen *p, const struct scene *s, const struct draft *draft);
/* Replaces the value of an option of the item by its label. */
void answer_label(const struct scene *s, uint32_t item, struct buf *answer);
/* What was said with a decision, made here or found in the log: an option by its label, else the
 * explanation or reason code. Replaces what is in `out`. */
void draft_words(const struct scene *s, const struct draft *draft, struct buf *out);
void step_words(const struct scene *s, uint32_t item, const struct item_step *step,
		struct buf *out);
/* Decimal digits of n, at least `min`. */
int number_width(uint32_t n, int min);
/* State of an agent: trouble of its process or health; else as reported; else from its work. */
void pen_agent_state(struct pen *p, const struct scene *s, const struct agent_stats *stats,
		     const struct life *life);
/* Right-aligned label. */
void put_right(struct grid *g, struct rect where, enum role role, const char *label);

/* Columns layout of a table. Widths depend on the row's width and little else, so they do not jump
 * while messages arrive. Room is given in a fixed order, so that the column that grows, the words,
 * is never narrower in a wider row:
 *   1. the least widths, low ranks first; a column for which there is no room is dropped, and those
 *      of higher rank with it
 *   2. what the columns want, low ranks first (`widens`)
 *   3. what the words want before others come (`roomy`)
 *   4. late columns, low ranks first: the least width, then what they want
 *   5. a second blank between columns, and all the rest for the one that grows
 * While a column waits for more room than there is, nobody else gets that room for good. */
struct column {
	const char *title;
	int min, want; /* min 0: not in this table */
	int rank;      /* 0 = never dropped, unless it is late */
	int widens;    /* rank for what it wants; 0 = rank */
	bool right;    /* numbers and times */
	bool grows;
	int roomy;     /* for the one that grows; 0 = want */
	bool late;
};

enum { COLUMNS_MAX = 20 };

struct columns {
	int at[COLUMNS_MAX], cols[COLUMNS_MAX]; /* cols 0 = dropped */
};

/* lines->table of a view that is a table. */
struct table {
	struct column *columns;
	unsigned n;
	struct columns fit;
};

/* Sets lines->table and lines->cols. */
void table_layout(struct lines *lines, const struct column *columns, unsigned n, int cols);
/* view_ops.heading of tables: the titles of the columns. */
void table_heading(const struct scene *s, const struct lines *lines, struct grid *g,
		   struct rect row);
void columns_fit(const struct column *table, unsigned n, int cols, struct columns *out);
struct rect column_rect(struct rect row, const struct columns *c, unsigned i);
struct pen column_pen(struct grid *g, struct rect row, const struct columns *c, unsigned i);
/* The row of one message, in the columns of the messages view. */
void message_row_layout(const struct scene *s, int cols, struct columns *fit);
void message_row_draw(const struct scene *s, const struct columns *fit, uint32_t message,
		      struct grid *g, struct rect row);
/* Columns of the longest agent name among the first k messages, within [min, max]. */
int agents_width(const struct scene *s, int min, int max);

/* a - b, saturated: senders choose the times. */
int64_t time_between(int64_t a, int64_t b);
/* The time of a message, else of the nearest one shortly before it that has one. */
int64_t message_time(const struct model *m, uint32_t message);
/* "9s", "4m12", "3h04", "2d05h": a span in at most five columns; "-" for TIME_NONE. */
const char *short_span(int64_t ms, char out[32]);
/* How long ago that was, as short_span. */
const char *short_age(const struct scene *s, int64_t since_ms, char out[32]);
/* The scene with the clock of a session. Where nothing is live, a source that ended more than a day
 * before the newest message is a recording of its own, whose clock is its last message. */
struct scene scene_in(const struct scene *s, uint32_t session);
/* As model_agent_stats, with the state of each agent by the clock of its session. */
struct agent_stats *scene_agent_stats(const struct scene *s);
/* Time left to a deadline ("!0:40"), else the item's age; *role shows the urgency. */
const char *item_clock(const struct scene *s, const struct item_state *at, char out[32],
		       enum role *role);
/* When to warn of a deadline: a minute before it, later if the whole time is short. TIME_NONE: it
 * has no deadline. */
int64_t item_near_ms(const struct model *m, const struct item_state *at);
/* Open in a recording whose time is past the deadline: nobody who could tell has spoken since. */
bool item_is_overdue(const struct scene *s, const struct item_state *at);
/* Whether it expired less than a minute ago and is still listed. */
bool item_just_expired(const struct scene *s, const struct item_state *at);
/* 1234 → "1.2k". */
const char *short_number(uint64_t n, char out[16]);
/* Messages a second: "0.2", "12", "1.3k"; "·" for none. */
const char *short_rate(double a_second, char out[16]);
/* One column of a sparkline, ▁ to █; a blank for 0. */
const char *level_glyph(uint64_t n, uint64_t max);
/* Activity as a sparkline; the newest steps only if there is little room. */
void put_sparkline(struct pen p, const uint16_t parts[ACTIVITY_BUCKETS], uint32_t most);

/* Where a tool call runs: as its detail says, else where the agent works; empty = unknown. */
struct str call_folder(const struct scene *s, const struct item_state *at, const struct detail *d);

/* Prose: text wrapped into lines, for views that are read (view_prose.c). Each line keeps the wrap
 * state its row starts with, so drawing a row in the middle of a long message costs no more than
 * the first. Call prose_start, add text, then prose_end; draw after that. */
enum prose_kind {
	LINE_BLANK,
	LINE_SECTION, /* a: enum section, b: the message it is about, NONE */
	LINE_TEXT,    /* a: number of the passage */
	LINE_OWN,     /* a view's own kinds start here */
};

enum section {
	SECTION_HISTORY,
	SECTION_PROBLEMS,
	SECTION_INSIDE, /* an object in the text of a message */
	SECTION_MESSAGE,
	SECTION_RAW,
};

/* One row of wrapped text. */
struct passage {
	const char *label; /* in front of the first row only */
	struct wrap at;
	enum role role;
	int indent;
};

struct prose {
	struct passage *list;
	uint32_t n, cap;
	bool hidden; /* some text holds characters that no terminal would show */
	/* while lines are made: */
	const struct scene *s;
	struct lines *out;
	struct cell *row;
};

enum { PROSE_LINES_MAX = 50000 };

/* Sets out->cols and allocates out->own, zeroed: a struct of `size` bytes that begins with a struct
 * prose. Returns it. */
void *prose_start(const struct scene *s, int cols, struct lines *out, size_t size);
void prose_end(struct prose *p);
void prose_section(struct prose *p, enum section section, uint32_t message);
/* Copies the text, since what a reader lends does not last. An empty one adds no line. */
void prose_add(struct prose *p, const char *label, int indent, enum role role, struct str text,
	       enum text_mode mode);
/* The same with references to keys, expanded by keymap_text. */
void prose_hint(struct prose *p, const char *label, int indent, enum role role, const char *text);
/* One line of text, wrapped into at least one row. Not copied: must last as long as the lines. */
void prose_line(struct prose *p, enum role role, int indent, int hang, struct str text);
/* JSON with one member a line; a truncated one ends with a note. */
void prose_json(struct prose *p, int indent, yyjson_val *root);
/* The diagnostics of a message, if it has any. */
void prose_problems(struct prose *p, uint32_t message);
/* A message as JSON with one member a line, preceded by a JSON object found inside its text; raw
 * bytes if it is not JSON or the scene is raw. */
void prose_message(struct prose *p, uint32_t message);
/* False if the line is one of the view's own kinds. */
bool prose_draw(const struct scene *s, const struct prose *p, const struct line *line,
		struct pen pen);

/* The time axis of the timeline, cols columns wide. */
struct axis {
	int64_t from_ms, to_ms; /* TIME_NONE when nothing has a time */
	int64_t tick_ms;        /* 0 = none */
};

/* The range of the scene if it has one, else from the first step to now. */
struct axis axis_make(const struct scene *s, int cols);
/* Times outside are clamped; axis_side: -1 before, 0 inside, 1 after the axis. */
int axis_col(const struct axis *a, int64_t t, int cols);
int axis_side(const struct axis *a, int64_t t);
/* Ticks, and a line at now. */
void axis_draw_ticks(const struct axis *a, int64_t now_ms, struct grid *g, struct rect where);
/* ‹ or › at the edge for a time outside; nothing for one inside. */
void axis_draw_outside(const struct axis *a, int64_t t, struct grid *g, struct rect where);
void axis_draw_labels(const struct axis *a, struct grid *g, struct rect where);

/* Hidden by the person until it changes or is nearly due. */
bool item_is_snoozed(const struct scene *s, uint32_t item, const struct item_state *at);
/* Whether it passes the scene's filter, which must not be NULL. */
bool item_passes(const struct scene *s, uint32_t item, const struct item_state *at);
static inline bool item_is_shown(const struct scene *s, uint32_t item, struct item_state *out)
{
	if (!item_at(s->model, &s->model->items.v[item], s->k, scene_clock(s), out))
		return false;
	out->snoozed = item_is_snoozed(s, item, out);
	return !s->filter || item_passes(s, item, out);
}
/* Whether the item or message contains the word, without case; its line may not show all of it. */
bool target_contains(const struct scene *s, struct target t, struct str word);
bool message_is_shown(const struct scene *s, uint32_t message);

/* Loops of the ledger (view_loop.c). Indexed by loop_progress, and by entry_event_kind. */
extern const struct mark progress_marks[];
/* The root task's id, or the name of the feedback session. */
struct str loop_name(const struct ledger *all, uint32_t loop);
/* "4 → 3 → 4": open items after the last `most` answers. False: there is no answer. */
bool loop_counts(const struct loop_at *l, uint32_t most, struct buf *out);
enum { LOOP_COUNTS_MAX = 24 }; /* where there is room for many */
/* "  ▲ F-1 ×3, F-2": what loop_recurring found. */
void pen_recurring(struct pen *p, const struct model *m, const struct recurring *list,
		   uint32_t total);
/* The scene's loops, else computed; the caller calls ledger_release. NULL: cancelled. */
struct ledger *scene_ledger(const struct scene *s);
/* Whether the scene's loops have the item in one that does not converge. */
bool item_loop_diverges(const struct scene *s, uint32_t item);
/* The first task of the chain a task revises, as of k. */
uint32_t root_at(const struct model *m, uint32_t task, uint32_t k);
/* The process of an agent that gavel runs; NULL = it does not, or the scene is in the past. */
const struct life *life_of_agent(const struct scene *s, uint32_t agent, bool has_spoken);
/* Health of an agent as a word: the worst state known. */
const char *agent_health_word(const struct agent_stats *stats, const struct life *life);
struct target target_item(uint32_t item);
struct target target_message(uint32_t message);
struct target target_loop(uint32_t first_message);
/* A task leads to the page of the chain it revises. */
struct target target_task(const struct scene *s, uint32_t task);
struct target target_agent(uint32_t agent);
struct target target_session(uint32_t session);
/* How a filter is limited to what belongs to a task, agent or session; SCOPE_NONE for others. */
enum filter_scope target_scope(struct target t);
extern const struct target target_none;
/* Allocates room for so many more lines. */
void lines_reserve(struct lines *lines, uint32_t more);
/* Grows an array of n elements in the lines' arena if it is full. Returns it. */
void *lines_grow(struct lines *lines, void *list, uint32_t n, uint32_t *cap, size_t size);
/* Appends a line. A view uses either the first or, where `a` is all it needs, the second. */
void line_add(struct lines *lines, uint32_t what, uint32_t a, uint32_t b);
void line_number(struct lines *lines, uint32_t a);
/* Puts n lines from `first` on below a heading of their own; in the order of the lines. */
void lines_group(struct lines *lines, uint32_t first, uint32_t n, const char *name,
		 const char *words);

#endif
