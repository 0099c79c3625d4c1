/* What the views share: marks for states, a pen along a row, table columns, wrapped texts, the time
 * axis, and the questions whether a filter lets something through. */
#ifndef GAVEL_VIEW_VIEW_PARTS_H
#define GAVEL_VIEW_VIEW_PARTS_H

#include "view/view.h"

/* A state is told by a glyph, a letter and a word; the role only repeats it in colour. The letters
 * of decisions are those of their keys. */
struct mark {
	const char *glyph; /* one column, with an ASCII stand-in */
	const char *letter;
	const char *word;
	enum role role;
};

const struct mark *mark_of_verdict(enum verdict v); /* VERDICT_NONE: open */
const struct mark *mark_of_grade(enum grade s);
const struct mark *mark_of_task(enum task_state s);
const struct mark *mark_of_review(enum review_verdict v);
const struct mark *mark_of_problem(enum severity s);
const struct mark *mark_of_delivery(enum delivery d);
enum role delivery_role(enum delivery d);
/* The person's newest decision on an item, as of the scene; *desk whose it is. NULL = none. */
const struct draft *draft_on_item(const struct scene *s, uint32_t item, const struct desk **desk);
/* Four letters, where "collaboration" has no room. */
enum role agent_role(const struct model *m, uint32_t agent);

/* A pen writes along one row; what does not fit is cut with …, and nothing comes after it. */
struct pen {
	struct grid *g;
	struct rect rest;
};

void pen_put(struct pen *p, enum role role, const char *label);
void pen_printf(struct pen *p, enum role role, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
void pen_id(struct pen *p, enum role role, struct str id);
/* An id like a/b/c: it is its head that is cut. */
void pen_path(struct pen *p, enum role role, struct str id);
void pen_text(struct pen *p, enum role role, struct str text);
void pen_skip(struct pen *p, int cols);
/* Says that a text holds characters that no terminal would show; pen_hidden looks first. */
void pen_hidden_badge(struct pen *p);
void pen_hidden(struct pen *p, struct str text);
/* What is odd about a message's bytes, each word with a separator behind it. */
void pen_flags(struct pen *p, unsigned flags);
/* The glyph and the word; the glyph alone where there is no room for more than a few letters. */
void pen_mark(struct pen *p, const struct mark *mark);
void pen_agent(struct pen *p, const struct model *m, uint32_t agent);
/* The program's own words against the right edge. */
void put_right(struct grid *g, struct rect where, enum role role, const char *label);

/* Columns of a table. The widths depend on the row's width and little else, so they do not jump
 * while messages arrive. Too narrow for all: those of highest rank go first. What is left beyond
 * the least widths goes to low ranks first, up to `want`, and the rest to the one that grows. */
struct column {
	const char *title;
	int min, want;
	int rank;   /* 0 = never dropped */
	bool right; /* numbers and times */
	bool grows;
};

enum { COLUMNS_MAX = 16 };

struct columns {
	int at[COLUMNS_MAX], cols[COLUMNS_MAX]; /* cols 0 = dropped */
};

void columns_fit(const struct column *table, unsigned n, int cols, struct columns *out);
struct rect column_rect(struct rect row, const struct columns *c, unsigned i);
struct pen column_pen(struct grid *g, struct rect row, const struct columns *c, unsigned i);
void columns_heading(const struct column *table, unsigned n, const struct columns *c,
		     struct grid *g, struct rect row);
/* Columns of the longest agent name among the first k messages, within [min, max]. */
int agents_width(const struct scene *s, int min, int max);

/* a - b, kept in range whatever a sender made of the times. */
int64_t time_between(int64_t a, int64_t b);
/* The time of a message, or of the nearest one shortly before it that has any. */
int64_t message_time(const struct model *m, uint32_t message);
/* "9s", "4m12", "3h04", "2d05h": a span in at most five columns; "-" for TIME_NONE. */
const char *short_span(int64_t ms, char out[32]);
/* Time left to a deadline ("!0:40"), else the item's age; *role tells how urgent. */
const char *item_clock(const struct scene *s, const struct item *item, const struct item_state *at,
		       char out[32], enum role *role);
/* What becomes of whoever asked when the deadline passes, as the end of a sentence. */
const char *item_default(const struct model *m, const struct item *item);
/* When it is time to say that a deadline is near: a minute before it, later where the whole time is
 * short. TIME_NONE: it has no deadline. */
int64_t item_near_ms(const struct model *m, const struct item *item);
/* Whether it has expired so lately that it ought to be seen. */
bool item_just_expired(const struct scene *s, const struct item *item, const struct item_state *at);
/* 1234 → "1.2k"; out has room for 16. */
const char *short_number(uint64_t n, char out[16]);
/* Messages a second: "0.2", "12", "1.3k"; "·" for none. */
const char *short_rate(double a_second, char out[16]);
/* One of ▁…█; a blank for 0. */
const char *level_glyph(uint64_t n, uint64_t max);

/* Prose: texts wrapped into lines of their own, for views that are read (view_prose.c). Each text
 * line keeps the bookmark its row starts at, so a row in the middle of a long message costs no more
 * than the first. prose_start, then add, then prose_end; drawing comes after that. The struct must
 * last as long as the lines: put it into their `own`. */
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

/* out->cols must be set. */
void prose_start(struct prose *p, const struct scene *s, struct lines *out);
void prose_end(struct prose *p);
void prose_section(struct prose *p, enum section section, uint32_t message);
/* Texts are copied: what a reader lends does not last. An empty one makes no line. */
void prose_add(struct prose *p, const char *label, int indent, enum role role, struct str text,
	       enum text_mode mode);
/* The same with keys in it, as keymap_text reads it. */
void prose_hint(struct prose *p, const char *label, int indent, enum role role, const char *text);
/* One line of a text, which must last as long as the lines, wrapped: at least one row. */
void prose_line(struct prose *p, enum role role, int indent, int hang, struct str text);
/* JSON with one member a line; what is too long to be shown whole says so. */
void prose_json(struct prose *p, int indent, yyjson_val *root);
/* The diagnostics of a message, if it has any. */
void prose_problems(struct prose *p, uint32_t message);
/* A message as JSON with one member a line, and before it what its text holds; as it came when it
 * is no JSON or the scene is raw. */
void prose_message(struct prose *p, uint32_t message);
/* false when the line is none of prose's. */
bool prose_draw(const struct scene *s, const struct prose *p, const struct line *line,
		struct pen pen);

/* The time axis of the timeline, cols columns wide. */
struct axis {
	int64_t from_ms, to_ms; /* TIME_NONE when nothing has a time */
	int64_t tick_ms;        /* 0 = none */
};

/* The scene's part of the axis where it names one, else all of it. */
struct axis axis_make(const struct scene *s, int cols);
/* Times beyond an end are at that end; axis_side tells: -1 before, 0 inside, 1 after. */
int axis_col(const struct axis *a, int64_t t, int cols);
int axis_side(const struct axis *a, int64_t t);
/* Ticks, and a line at now. */
void axis_draw_ticks(const struct axis *a, int64_t now_ms, struct grid *g, struct rect where);
/* ‹ or › where something lies outside; nothing for what is inside. */
void axis_draw_outside(const struct axis *a, int64_t t, struct grid *g, struct rect where);
void axis_draw_labels(const struct axis *a, struct grid *g, struct rect where);

/* Whether the scene's filter, of which there is one, lets it through. */
bool item_passes(const struct scene *s, uint32_t item, const struct item_state *at);
static inline bool item_is_shown(const struct scene *s, uint32_t item, struct item_state *out)
{
	return item_at(s->model, &s->model->items.v[item], s->k, s->now_ms, out) &&
	       (!s->filter || item_passes(s, item, out));
}
/* Put off by the person, until it changes or is nearly due. */
bool item_is_put_off(const struct scene *s, uint32_t item, const struct item_state *at);
/* Whether what a line leads to says the word, also where the line has no room for it. */
bool target_has(const struct scene *s, struct target t, struct str word);
bool message_is_shown(const struct scene *s, uint32_t message);
/* The first task of the chain a task revises, as of k. */
uint32_t root_at(const struct model *m, uint32_t task, uint32_t k);
/* The process behind an agent, where gavel runs it; NULL = it does not, or not as of the scene. */
const struct life *life_of_agent(const struct scene *s, uint32_t agent, bool has_spoken);
/* The word for how an agent is: the worst that is known. */
const char *agent_health_word(const struct agent_stats *stats, const struct life *life);
/* Targets of lines. */
struct target target_item(uint32_t item);
struct target target_message(uint32_t message);
extern const struct target target_none;
/* Room for so many more, where that is known. */
void lines_want(struct lines *lines, uint32_t more);
/* Adds a line; to one view's lines either by the first or by the second. */
void line_add(struct lines *lines, uint32_t what, uint32_t a, uint32_t b);
void line_number(struct lines *lines, uint32_t a);

#endif
