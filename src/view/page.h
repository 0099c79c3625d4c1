/* The page of a task, an agent or a session (scene.page): facts in words, then sections of rows that
 * can be opened. What belongs to it is what a filter that is limited to it lets through, so a page
 * shows what narrowing to it shows; the scene's own filter applies to the rows as well.
 *
 * A view's make calls page_start, adds facts and sections, then page_end; it shares page_draw,
 * page_target and nothing else. Making costs a pass over what the sections list, and yields. */
#ifndef GAVEL_VIEW_PAGE_H
#define GAVEL_VIEW_PAGE_H

#include "model/ledger.h"
#include "view/view_parts.h"

enum page_section {
	PAGE_HISTORY,
	PAGE_AGENTS,
	PAGE_LOOPS,
	PAGE_TASKS,
	PAGE_REVIEWS,
	PAGE_ITEMS,
	PAGE_MESSAGES,
	PAGE_SECTIONS
};

struct page {
	struct prose prose;
	/* while lines are made: */
	const struct scene *s;
	struct lines *out;
	struct filter *scope;
	/* afterwards, too: */
	uint32_t total[PAGE_SECTIONS]; /* without the scene's filter */
	struct agent_stats *stats;     /* of all agents; NULL = not computed */
	struct ledger *ledger;         /* with the loops; NULL = none is listed */
	struct columns items, tasks, agents, messages;
};

struct page *page_start(const struct scene *s, int cols, struct lines *out);
void page_end(struct page *p);
void page_release(void *page);

/* The first line: what it is called, with its state at the right. */
void page_name(struct page *p);
/* A line of text behind a label, wrapped. */
void page_fact(struct page *p, const char *label, enum role role, const char *format, ...)
	__attribute__((format(printf, 4, 5)));
/* A line that leads to an agent, a session or a task; NONE adds nothing. */
void page_link(struct page *p, enum target_type type, uint32_t number);
/* A line for a task that is needed, or that needs this one. */
void page_needs(struct page *p, uint32_t task, bool this_one);
void page_last(struct page *p, uint32_t message); /* the newest message, in words */

/* Sections; an empty one is left out. */
void page_add_history(struct page *p); /* of the task: changes of state, newest first */
void page_add_agents(struct page *p);
void page_add_loops(struct page *p);
void page_add_tasks(struct page *p); /* of a task: its revisions */
void page_add_reviews(struct page *p); /* of the task */
void page_add_items(struct page *p); /* the open ones first */
void page_add_messages(struct page *p);

/* Computes page.stats. */
void page_stats(struct page *p);

/* view_ops.draw and .target */
void page_draw(const struct scene *s, const struct lines *lines, uint32_t i, struct grid *g,
	       struct rect row);
struct target page_target(const struct scene *s, const struct lines *lines, uint32_t i);

/* Row kinds; shared by page.c and page_rows.c. */
enum page_row {
	ROW_NAME = LINE_OWN,
	ROW_SECTION, /* a: enum page_section, b: rows in it */
	ROW_LINK,    /* a: enum target_type, b: number */
	ROW_NEEDS,   /* a: task, b: whether it needs this one */
	ROW_LAST,    /* a: message */
	ROW_STEP,    /* a: task, b: number of the step */
	ROW_AGENT,   /* a: agent */
	ROW_LOOP,    /* a: loop */
	ROW_TASK,    /* a: task */
	ROW_REVIEW,  /* a: review */
	ROW_ITEM,    /* a: item */
	ROW_MESSAGE, /* a: message */
};
/* Fits the columns of the rows. */
void page_layout(struct page *p, int cols);

#endif
