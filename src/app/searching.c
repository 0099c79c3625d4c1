/* Searching: in the lines that are shown, and through all messages, which is a hunt in slices. */
#include "app/app.h"

#include "view/view_parts.h"

enum { SEARCH_LINES_MAX = 20000 };

uint32_t app_message_line(const struct app *a, uint32_t message)
{
	const struct pane *p = &a->lists[TAB_MESSAGES];
	struct target t = target_none;
	uint32_t line = 0, n = p->lines.list.n;

	bisect(line, n, i, (t = pane_line_target(p, &a->scene, i),
			    t.type == TARGET_MESSAGE && t.number < message))
	t = line < n ? pane_line_target(p, &a->scene, line) : target_none;
	return t.type == TARGET_MESSAGE && t.number == message ? line : NONE;
}

/* From the message of a line on, once round. */
static void begin_hunt(struct app *a, uint32_t line, int direction, bool again)
{
	struct target t = target_none;
	uint32_t at, k = a->scene.k;

	if (line < app_list(a)->lines.list.n)
		t = pane_line_target(app_list(a), &a->scene, line);
	at = t.type == TARGET_MESSAGE ? t.number : 0;
	a->hunting = true;
	if (again && a->hunt_stopped && a->hunt_line == line && a->hunt.direction == direction &&
	    a->hunt.left && a->hunt.k <= k) {
		a->hunt.word = buf_str(&a->word);
		a->hunt_more += a->hunt_cut;
		return;
	}
	a->hunt_more = 0;
	a->hunt_from = at;
	if (again)
		at = direction > 0 ? (at + 1) % k : (at + k - 1) % k;
	a->hunt = (struct hunt){ .word = buf_str(&a->word), .direction = direction, .k = k, .at = at,
				 .left = k,
				 .found = NONE };
}

void app_say_wrapped(struct app *a, uint32_t from, uint32_t found, int direction)
{
	if (found == from)
		app_say(a, ROLE_DIM, "the only one");
	else if (direction > 0 ? found < from : found > from)
		app_say(a, ROLE_DIM, direction > 0 ? "past the end; on from the top"
						   : "past the top; on from the end");
}

/* To the match after the one that was found: n was typed meanwhile. */
static void hunt_on(struct app *a, uint32_t line)
{
	uint32_t more = a->hunt_more - 1;

	begin_hunt(a, line, a->hunt.direction, true);
	a->hunt_more = more;
}

void app_hunt(struct app *a)
{
	bool more;
	uint32_t line = NONE;

	/* where it is found is told by the list, which may have to be made first */
	if (!a->hunting || !app_is_settled(a))
		return;
	more = a->scene.reader->hunt(a->scene.reader->ctx, &a->hunt);
	/* a find that came after the scene, or that the filter hides, is none */
	if (a->hunt.found < a->scene.k)
		line = app_message_line(a, a->hunt.found);
	if (line != NONE) {
		a->hunting = false;
		if (!a->hunt_more && (a->hunt.found != a->hunt_from || a->hunt_again))
			app_say_wrapped(a, a->hunt_from, a->hunt.found, a->hunt.direction);
		if (a->tab == TAB_MESSAGES && !a->screen_count) {
			pane_select(app_list(a), line);
			a->preview_seeks = true;
		}
		if (a->hunt_more)
			hunt_on(a, line);
	} else if (!more || !a->hunt.left) {
		a->hunting = false;
		app_say(a, ROLE_WARN, a->scene.reading ? "not found in what was read so far" : "not found");
	}
}

uint32_t app_search_line(struct app *a)
{
	const struct pane *p = app_pane(a);

	if (p == app_list(a) && !a->screen_count)
		return p->selected;
	if (p->found > p->top && p->found <= p->top + (uint32_t)(p->rows > 0 ? p->rows : 0))
		return p->found - 1;
	return p->top;
}

/* Goes to a line where the word is. */
static void show_match(struct app *a, struct pane *p, uint32_t line)
{
	if (p == app_list(a) && !a->screen_count) {
		pane_select(p, line);
		a->preview_seeks = true;
	} else {
		p->top = line;
		p->found = line + 1;
	}
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
	n = p->lines.list.n;
	a->hunting = false;
	if (a->word.n && p == &a->lists[TAB_MESSAGES] && a->scene.reader->hunt && a->scene.k) {
		begin_hunt(a, from, direction, again);
		a->hunt_again = again;
		a->hunt_stopped = false;
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
		app_say(a, ROLE_WARN, "not in the next %d lines; {next} goes on, a filter ({filter}) looks "
				      "at all", SEARCH_LINES_MAX);
	} else
		app_say(a, ROLE_WARN, "not found");
	return false;
}

void app_leave_match(struct app *a)
{
	struct pane *p = app_pane(a);

	if (p == app_list(a) && !a->screen_count) {
		pane_select(p, a->search_from);
	} else {
		p->top = a->search_from;
		p->found = 0;
	}
}

void app_stop_hunt(struct app *a, const struct key *key)
{
	a->hunt_cut = false;
	if (!a->hunting || (a->prompt.kind == PROMPT_SEARCH && key->code == KEY_ENTER))
		return;
	a->hunt_cut = true;
	a->hunting = false;
	a->hunt_stopped = a->prompt.kind == PROMPT_NONE;
	a->hunt_line = a->lists[TAB_MESSAGES].selected;
}
