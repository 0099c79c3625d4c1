/* Commands of the pre-flight page: open it, attach an artifact, unfold a message, drop it, go to the
 * next caution; and which cautions were on the screen. */
#include "app/app.h"
#include "app/commands.h"

#include <stdlib.h>

enum { SEEN_FIRST = 1, SEEN_LAST = 2, SEEN = SEEN_FIRST | SEEN_LAST }; /* lines of a remark */

static void set_unfolded(struct app *a, uint32_t letter, bool unfolded)
{
	struct deciding *d = &a->deciding;

	while (d->unfolded.n <= letter)
		vec_push(&d->unfolded, 0);
	d->unfolded.v[letter] = unfolded;
	a->scene.unfolded = d->unfolded.v;
	a->scene.unfolded_n = d->unfolded.n;
}

void preflight_reset(struct app *a)
{
	a->deciding.unfolded.n = a->deciding.seen.n = 0;
	a->scene.unfolded_n = 0;
	a->deciding.changed_ms = a->clock_ms;
	if (a->scene.plan && a->scene.plan->list.n == 1)
		set_unfolded(a, 0, true); /* there is room for it */
}

void preflight_select_first(struct pane *p)
{
	uint32_t line = preflight_line(&p->lines, 0);

	if (line >= p->lines.list.n)
		return;
	p->selected = line;
	p->at = line_at(&p->lines, line);
}

void preflight_note_seen(struct app *a, const struct pane *p)
{
	struct deciding *d = &a->deciding;
	uint32_t bottom = p->top + (uint32_t)(p->rows > 0 ? p->rows : 0), first, end;
	bool caution;

	for (uint32_t i = preflight_remark_below(&p->lines, p->top);
	     preflight_remark(&p->lines, i, &first, &end, &caution) && first < bottom; i++) {
		while (d->seen.n <= i)
			vec_push(&d->seen, 0);
		d->seen.v[i] |= (first >= p->top ? SEEN_FIRST : 0) | (end <= bottom ? SEEN_LAST : 0);
	}
}

uint32_t preflight_unseen(struct app *a)
{
	const struct deciding *d = &a->deciding;
	const struct lines *lines = &app_screen(a)->pane.lines;
	uint32_t n = 0, first, end;
	bool caution;

	for (uint32_t i = 0; preflight_remark(lines, i, &first, &end, &caution); i++)
		n += caution && (i >= d->seen.n || d->seen.v[i] != SEEN);
	return n;
}

/* Selects the line of a letter, with as much of the lines below it on the screen as fits. */
static void show_letter(struct pane *p, uint32_t letter)
{
	uint32_t line = preflight_line(&p->lines, letter);
	uint32_t next = preflight_line(&p->lines, letter + 1);
	uint32_t rows = p->rows > 0 ? (uint32_t)p->rows : 1;

	pane_select(p, line);
	if (next > p->top + rows)
		p->top = next - line > rows ? line : next - rows;
}

void preflight_unfold(struct app *a)
{
	struct screen *s = app_screen(a);
	uint32_t dropped, letter = preflight_letter(&s->pane.lines, s->pane.selected, &dropped);
	uint32_t n = a->scene.plan ? a->scene.plan->list.n : 0;
	bool some = false;

	if (dropped != NONE) {
		app_say(a, ROLE_DIM, "it is not sent now; {reject} takes it in again");
		return;
	}
	if (letter != NONE) {
		set_unfolded(a, letter,
			     !(letter < a->scene.unfolded_n && a->scene.unfolded[letter]));
	} else { /* on the lines above them: all */
		for (uint32_t i = 0; i < a->scene.unfolded_n; i++)
			some |= a->scene.unfolded[i];
		for (uint32_t i = 0; i < n; i++)
			set_unfolded(a, i, !some);
	}
	s->stale = true;
	app_refresh(a);
	if (letter != NONE)
		show_letter(&s->pane, letter);
}

COMMAND(drop)
{
	struct screen *s = app_screen(a);
	uint32_t letter, dropped;

	if (!app_shows(a, &view_preflight)) {
		app_say(a, ROLE_DIM, "only a message on the page of {deliver} can be dropped");
		return;
	}
	letter = preflight_letter(&s->pane.lines, s->pane.selected, &dropped);
	if (letter == NONE && dropped == NONE)
		app_say(a, ROLE_DIM, "no message is selected; {down} and {up} select one");
	else
		app_effect(a, (struct effect){ EFFECT_DROP, .drop = { letter, dropped } });
}

COMMAND(caution)
{
	struct screen *s = app_screen(a);
	uint32_t first, end, here, best = NONE, wrapped = NONE, best_end = 0, wrapped_end = 0;
	bool caution;

	if (!app_shows(a, &view_preflight)) {
		app_say(a, ROLE_DIM, "cautions are on the page of {deliver}");
		return;
	}
	here = s->pane.selected;
	for (uint32_t i = 0; preflight_remark(&s->pane.lines, i, &first, &end, &caution); i++) {
		bool beyond = number > 0 ? first > here : first < here;

		if (beyond && (best == NONE || number < 0)) {
			best = first;
			best_end = end;
		}
		if (wrapped == NONE || number < 0) {
			wrapped = first;
			wrapped_end = end;
		}
	}
	if (wrapped == NONE) {
		app_say(a, ROLE_DIM, "no cautions here");
		return;
	}
	if (best == NONE) {
		app_say_wrapped(a, here, wrapped, number);
		best = wrapped;
		best_end = wrapped_end;
	}
	if (best_end > best)
		pane_select(&s->pane, best_end - 1);
	pane_select(&s->pane, best);
}

COMMAND(attach)
{
	free(a->deciding.artifact);
	a->deciding.artifact = NULL;
	if (!argument.n) {
		app_say(a, ROLE_DIM, "no artifact attached; :attach FILE attaches one");
		return;
	}
	a->deciding.artifact = str_dup(argument);
	app_say(a, ROLE_DIM, "%s goes with the next feedback request", a->deciding.artifact);
}

COMMAND(deliver)
{
	if (!decide_is_read_only(a))
		app_effect(a, (struct effect){ EFFECT_PLAN });
	else
		app_say(a, ROLE_WARN, "read-only: %s",
			a->read_only ? a->read_only
			: a->scene.desks && a->scene.desks->list.n
				? a->scene.desks->list.v[0].why.text
				: "no journal here");
}
