/* What the views share: marks for states, a pen along a row, table columns, the time axis, and the
 * questions whether a filter lets something through. */
#ifndef GAVEL_UI_VIEW_PARTS_H
#define GAVEL_UI_VIEW_PARTS_H

#include "ui/view.h"


/* A state is told by a glyph, a letter and a word; the role only repeats it in colour. The letters
 * of decisions are those of their keys. */
struct mark {
	const char *glyph; /* one column, with an ASCII stand-in */
	const char *letter;
	const char *word;
	enum role role;
};

const struct mark *mark_of_verdict(enum verdict v); /* VERDICT_NONE: open */
const struct mark *mark_of_grade(enum item_severity s);
const struct mark *mark_of_task(enum task_state s);
const struct mark *mark_of_review(enum review_verdict v);
const struct mark *mark_of_problem(enum severity s);
/* Four letters, where "collaboration" has no room. */
const char *dialect_short(enum dialect_id d);
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
/* Says so when a text holds characters that no terminal would show. */
void pen_hidden(struct pen *p, struct str text);
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

enum { COLUMNS_MAX = 14 };

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
/* "9s", "4m12", "3h04", "2d05h": a span in at most five columns; "-" for WHEN_NONE. */
const char *short_span(int64_t ms, char out[32]);
/* Time left to a deadline ("!0:40"), else the item's age; *role tells how urgent. */
const char *item_clock(const struct scene *s, const struct item *item, const struct item_state *at,
		       char out[32], enum role *role);
/* 1234 → "1.2k"; out has room for 16. */
const char *short_number(uint64_t n, char out[16]);
/* One of ▁…█; a blank for 0. */
const char *level_glyph(uint64_t n, uint64_t max);

/* The time axis of the timeline, cols columns wide. */
struct axis {
	int64_t from_ms, to_ms; /* WHEN_NONE when nothing has a time */
	int64_t tick_ms;        /* 0 = none */
};

struct axis axis_make(const struct scene *s, int cols);
int axis_col(const struct axis *a, int64_t t, int cols);
void axis_draw_ticks(const struct axis *a, struct grid *g, struct rect where);
void axis_draw_labels(const struct axis *a, struct grid *g, struct rect where);

bool item_is_shown(const struct scene *s, uint32_t item, struct item_state *out);
bool message_is_shown(const struct scene *s, uint32_t message);
/* The first task of the chain a task revises, as of k. */
uint32_t root_at(const struct model *m, uint32_t task, uint32_t k);
/* Adds a line. */
void line_add(struct lines *lines, uint32_t what, uint32_t a, uint32_t b);

#endif
