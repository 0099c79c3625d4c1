/* Timeline commands: step from mark to mark of a lane, zoom, pan. */
#include "app/app.h"
#include "app/commands.h"
#include "view/session_label.h"

/* Sets the visible range [from, to); a range of nearly everything shows everything (to = 0). */
static void set_axis(struct app *a, int64_t from, int64_t to, int64_t first, int64_t last)
{
	/* rounding loses a few milliseconds when zooming in and out again */
	if (to - from >= (last - first) / 100 * 99 || to <= from)
		from = to = 0;
	a->scene.from_ms = from;
	a->scene.to_ms = to;
	a->stale[TAB_TIMELINE] = true;
}

static bool axis_range(struct app *a, int64_t *first, int64_t *last)
{
	const struct model *m = a->scene.model;

	*first = INT64_MAX;
	*last = a->scene.now_ms;
	for (uint32_t i = 0; i < a->scene.k; i++)
		if (m->records.v[i].time_ms != TIME_NONE && m->records.v[i].time_ms < *first)
			*first = m->records.v[i].time_ms;
	return *last != TIME_NONE && *first < *last;
}

COMMAND(mark_step)
{
	struct pane *p = app_list(a);
	const struct record *r;
	uint32_t message = NONE;
	char clock[32], q[QUOTED_MAX], file[QUOTED_MAX] = "";

	if (p->view->next_mark && p->selected < p->lines.list.n)
		message = p->view->next_mark(&a->scene, &p->lines, p->selected, number);
	if (message == NONE) {
		app_say(a, ROLE_DIM, "no more marks");
		return;
	}
	a->scene.mark = message + 1;
	r = &a->scene.model->records.v[message];
	if (a->scene.model->several_sources)
		quoted(path_base(a->scene.reader->source(a->scene.reader->ctx, message)), file);
	app_say(a, ROLE_NORMAL, "%s  line %u%s%s  %s; {open} opens it",
		r->time_ms == TIME_NONE ? "no time" : timestamp_clock(r->time_ms, clock),
		message_line(a->scene.model, message), file[0] ? " of " : "", file,
		quoted(model_kind(a->scene.model, r), q));
}

COMMAND(zoom)
{
	int64_t first, last, from, to, middle, half;

	if (!axis_range(a, &first, &last))
		return;
	from = a->scene.to_ms ? a->scene.from_ms : first;
	to = a->scene.to_ms ? a->scene.to_ms : last;
	/* around the chosen mark, else the middle; the first zoom is on the newest */
	middle = a->scene.to_ms ? from + (to - from) / 2 : to;
	if (a->scene.mark && a->scene.model->records.v[a->scene.mark - 1].time_ms != TIME_NONE)
		middle = a->scene.model->records.v[a->scene.mark - 1].time_ms;
	half = (int64_t)((double)(to - from) / 2 * (number > 0 ? 0.5 : 2));
	if (half < 500)
		half = 500;
	if (middle + half > last)
		middle = last - half;
	set_axis(a, middle - half, middle + half, first, last);
}

COMMAND(pan)
{
	int64_t first, last, by;

	if (a->tab != TAB_TIMELINE || a->screen_count) {
		run_sideways(a, argument, number);
		return;
	}
	if (!a->scene.to_ms || !axis_range(a, &first, &last)) {
		app_say(a, ROLE_DIM, "already showing all; {zoom-in} zooms in");
		return;
	}
	by = (a->scene.to_ms - a->scene.from_ms) / 4 * number;
	if (a->scene.from_ms + by < first)
		by = first - a->scene.from_ms;
	if (a->scene.to_ms + by > last)
		by = last - a->scene.to_ms;
	set_axis(a, a->scene.from_ms + by, a->scene.to_ms + by, first, last);
}
