/* Search: in the lines of a pane at once; through the texts of all messages in time slices. */
#include "app/app.h"

#include "view/view_parts.h"

enum { SEARCH_LINES_MAX = 20000 };

uint32_t app_message_line(const struct app *a, uint32_t message)
{
	const struct pane *p = &a->lists[TAB_MESSAGES];
	struct target t = target_none;
	uint32_t line = 0, n = p->lines.list.n;

	if (p->lines.sort.column) {
		while (line < n && line_at(&p->lines, line).a != message)
			line++;
		return line < n ? line : NONE;
	}
	bisect(line, n, i, (t = pane_line_target(p, &a->scene, i),
			    t.type == TARGET_MESSAGE && t.number < message))
	t = line < n ? pane_line_target(p, &a->scene, line) : target_none;
	return t.type == TARGET_MESSAGE && t.number == message ? line : NONE;
}

/* Starts at the message of a line and goes round once, or resumes a paused search from there. */
static void start_search(struct app *a, uint32_t line, int direction, bool again)
{
	struct search_all *s = &a->search;
	bool paused = s->state == SEARCH_PAUSED;
	struct target t = target_none;
	uint32_t at, k = a->scene.k;

	if (line < app_list(a)->lines.list.n)
		t = pane_line_target(app_list(a), &a->scene, line);
	at = t.type == TARGET_MESSAGE ? t.number : 0;
	s->state = SEARCH_ON;
	if (again && paused && s->line == line && s->progress.direction == direction &&
	    s->progress.left && s->progress.k <= k) {
		s->progress.word = buf_str(&a->word);
		s->skip += s->interrupted;
		return;
	}
	s->skip = 0;
	s->from = at;
	if (again)
		at = direction > 0 ? (at + 1) % k : (at + k - 1) % k;
	s->progress = (struct search_progress){ .word = buf_str(&a->word), .direction = direction,
						.k = k, .at = at, .left = k, .found = NONE };
}

bool app_is_searching(const struct app *a)
{
	return a->search.state == SEARCH_ON;
}

void app_say_wrapped(struct app *a, uint32_t from, uint32_t found, int direction)
{
	if (found == from)
		app_say(a, ROLE_DIM, "only match");
	else if (direction > 0 ? found < from : found > from)
		app_say(a, ROLE_DIM, direction > 0 ? "search wrapped to the top"
						   : "search wrapped to the end");
}

/* Selects the line, or scrolls to it in a pane without a selection. */
static void show_match(struct app *a, struct pane *p, uint32_t line)
{
	if (!p->text) {
		pane_select(p, line);
		a->preview_seeks = p == app_list(a);
	} else {
		p->top = line;
		p->found = line + 1;
	}
	app_count_start(a);
}

void app_say_missed(struct app *a)
{
	a->search_missed = true;
	app_say(a, ROLE_WARN, "not found: %.*s", STR_ARG(buf_str(&a->word)));
}

void app_search_step(struct app *a)
{
	struct search_all *s = &a->search;
	uint32_t line = NONE, skip = s->skip;
	bool more;

	/* the list tells the line of a match, and may have to be built first */
	if (!app_is_searching(a) || !app_is_settled(a))
		return;
	more = a->scene.reader->search_step(a->scene.reader->ctx, &s->progress);
	/* matches beyond the scene or hidden by the filter do not count */
	if (s->progress.found < a->scene.k)
		line = app_message_line(a, s->progress.found);
	if (line != NONE) {
		s->state = SEARCH_OVER;
		if (!skip && (s->progress.found != s->from || s->again))
			app_say_wrapped(a, s->from, s->progress.found, s->progress.direction);
		if (a->tab == TAB_MESSAGES && !a->screen_count)
			show_match(a, app_list(a), line);
		if (skip) {
			start_search(a, line, s->progress.direction, true);
			s->skip = skip - 1;
		}
	} else if (!more || !s->progress.left) {
		s->state = SEARCH_OVER;
		if (a->scene.reading)
			app_say(a, ROLE_WARN, "not found so far; still reading");
		else
			app_say_missed(a);
	}
}

uint32_t app_search_line(struct app *a)
{
	const struct pane *p = app_pane(a);

	if (!p->text)
		return p->selected;
	if (p->found > p->top && p->found <= p->top + (uint32_t)(p->rows > 0 ? p->rows : 0))
		return p->found - 1;
	return p->top;
}

bool app_search(struct app *a, uint32_t from, int direction, bool again)
{
	struct pane *p = app_pane(a);
	struct screen *s = app_screen(a);
	struct scene scene = s ? app_scene_of(a, s) : a->scene;
	uint32_t n, at = from;

	if (p == &a->preview)
		scene.item = scene.message = a->previewed.number;
	app_refresh(a);
	a->search_missed = false;
	n = p->lines.list.n;
	if (app_is_searching(a))
		a->search.state = SEARCH_OVER;
	if (a->word.n && p == &a->lists[TAB_MESSAGES] && a->scene.reader->search_step &&
	    a->scene.k) {
		start_search(a, from, direction, again);
		a->search.again = again;
		return true;
	}
	if (!n || !a->word.n)
		return false;
	if (again && a->search_stop && direction > 0)
		at = a->search_stop - 1;
	a->search_stop = 0;
	for (uint32_t tries = 0; tries <= n && tries < SEARCH_LINES_MAX; tries++) {
		if (tries || again)
			at = direction > 0 ? (at + 1) % n : (at + n - 1) % n;
		if (at >= n)
			at = 0;
		if (pane_line_has(p, &scene, at, buf_str(&a->word))) {
			if (at != from || again)
				app_say_wrapped(a, from, at, direction);
			show_match(a, p, at);
			return true;
		}
	}
	if (n > SEARCH_LINES_MAX) {
		a->search_stop = at + 1;
		app_say(a, ROLE_WARN,
			"no match in the next %d lines; {next} continues, {filter} filters all",
			SEARCH_LINES_MAX);
	} else {
		app_say_missed(a);
	}
	return false;
}

void app_search_restore(struct app *a)
{
	struct pane *p = app_pane(a);

	if (p == app_list(a)) {
		pane_select(p, a->search_from);
	} else {
		p->top = a->search_from;
		p->found = 0;
	}
}

void app_search_interrupt(struct app *a, const struct key *key)
{
	a->search.interrupted = false;
	if (!app_is_searching(a) || (a->prompt.kind == PROMPT_SEARCH && key->code == KEY_ENTER))
		return;
	a->search.interrupted = true;
	a->search.state = a->prompt.kind == PROMPT_NONE ? SEARCH_PAUSED : SEARCH_OVER;
	a->search.line = a->lists[TAB_MESSAGES].selected;
}
