/* Counts the matches of the search word in the pane that was searched, in steps between keys, for
 * "3/17" in the status line. Long counts are cut. What was counted holds for the lines as they were:
 * once they have changed it is not shown, until the next search. */
#include "app/app.h"

#include <stdio.h>

enum {
	MATCHES_MAX = 1000,
	LINES_MAX = 20000, /* looked at in a list other than that of messages */
	STEP_LINES = 100,
};

static bool is_current(struct app *a)
{
	const struct match_count *c = &a->matches;
	const struct pane *p = app_pane(a);

	return c->pane == p && c->view == p->view && c->lines == p->lines.list.n &&
	       str_eq(buf_str(&c->word), buf_str(&a->word));
}

void app_count_start(struct app *a)
{
	struct match_count *c = &a->matches;
	const struct pane *p = app_pane(a);
	struct buf word = c->word;

	if (c->state != COUNT_NONE && is_current(a))
		return;
	c->found.n = 0;
	c->at = 0;
	c->state = COUNT_ON;
	c->cut = false;
	c->pane = p;
	c->view = p->view;
	c->lines = p->lines.list.n;
	buf_clear(&word);
	buf_add_str(&word, buf_str(&a->word));
	c->word = word;
	c->progress = (struct search_progress){ .word = buf_str(&c->word), .direction = 1,
						.k = a->scene.k, .left = a->scene.k,
						.found = NONE };
}

bool app_is_counting(const struct app *a)
{
	return a->matches.state == COUNT_ON;
}

static void add_match(struct match_count *c, uint32_t line)
{
	if (c->found.n == MATCHES_MAX)
		c->cut = true;
	else
		vec_push(&c->found, line);
}

/* Whether there is more to look at. */
static bool count_messages(struct app *a, struct match_count *c)
{
	bool more = a->scene.reader->search_step(a->scene.reader->ctx, &c->progress);
	uint32_t line = NONE;

	if (c->progress.found < a->scene.k)
		line = app_message_line(a, c->progress.found);
	if (line != NONE)
		add_match(c, line);
	return more && c->progress.left;
}

static bool count_lines(struct app *a, struct match_count *c)
{
	const struct screen *s = app_screen(a);
	struct scene scene = s ? app_scene_of(a, s) : a->scene;

	if (c->pane == &a->preview)
		scene.item = scene.message = a->previewed.number;
	for (int n = 0; n < STEP_LINES && c->at < c->lines && c->at < LINES_MAX; n++, c->at++)
		if (pane_line_has(c->pane, &scene, c->at, buf_str(&c->word)))
			add_match(c, c->at);
	c->cut |= c->at == LINES_MAX && c->at < c->lines;
	return c->at < c->lines && c->at < LINES_MAX;
}

void app_count_step(struct app *a)
{
	struct match_count *c = &a->matches;
	bool messages = c->pane == &a->lists[TAB_MESSAGES] && a->scene.reader->search_step;

	if (!app_is_counting(a) || !app_is_settled(a))
		return;
	if (!is_current(a))
		c->state = COUNT_NONE;
	else if (!(messages ? count_messages : count_lines)(a, c) || c->cut)
		c->state = COUNT_DONE;
}

void app_count_text(struct app *a, struct buf *out)
{
	const struct match_count *c = &a->matches;
	uint32_t here = app_search_line(a), at = 0;
	const char *more = c->cut ? "+" : "";

	if (c->state != COUNT_DONE || !a->word.n || !is_current(a) || !c->found.n)
		return;
	while (at < c->found.n && c->found.v[at] != here)
		at++;
	if (at < c->found.n)
		buf_printf(out, "match %u/%u%s  ", at + 1, c->found.n, more);
	else
		buf_printf(out, "%u%s match%s  ", c->found.n, more, c->found.n == 1 ? "" : "es");
}

void app_count_release(struct app *a)
{
	buf_release(&a->matches.word);
	vec_release(&a->matches.found);
}
