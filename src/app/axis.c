/* Moving along the timeline's axis: from mark to mark, closer and away, earlier and later. */
#include "app/app.h"

#define AXIS(name) void axis_##name(struct app *a, struct str argument)
#define UNUSED (void)argument

/* The part of the time axis that is shown: [from, to), all of it when to is 0. */
static void set_axis(struct app *a, int64_t from, int64_t to, int64_t first, int64_t last)
{
	/* zoomed in and out again, a few milliseconds are lost */
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

/* From mark to mark along the selected lane; Enter then opens that message. */
static void step_mark(struct app *a, int direction)
{
	struct pane *p = app_list(a);
	const struct record *r;
	uint32_t message = NONE;
	char clock[32], q[QUOTED_MAX];

	if (p->view->next_mark && p->selected < p->lines.list.n)
		message = p->view->next_mark(&a->scene, &p->lines, p->selected, direction);
	if (message == NONE) {
		app_say(a, ROLE_DIM, "no mark that way");
		return;
	}
	a->scene.mark = message + 1;
	r = &a->scene.model->records.v[message];
	app_say(a, ROLE_NORMAL, "%s  line %u  %s; {open} opens it",
		r->time_ms == TIME_NONE ? "no time" : timestamp_clock(r->time_ms, clock),
		message_line(a->scene.model, message), quoted(model_kind(a->scene.model, r), q));
}

AXIS(mark_left) { UNUSED; step_mark(a, -1); }
AXIS(mark_right) { UNUSED; step_mark(a, 1); }

static void zoom(struct app *a, double factor)
{
	int64_t first, last, from, to, middle, half;

	if (!axis_range(a, &first, &last))
		return;
	from = a->scene.to_ms ? a->scene.from_ms : first;
	to = a->scene.to_ms ? a->scene.to_ms : last;
	/* around the chosen mark; without one, the newest is what one zooms in on first */
	middle = a->scene.to_ms ? from + (to - from) / 2 : to;
	if (a->scene.mark && a->scene.model->records.v[a->scene.mark - 1].time_ms != TIME_NONE)
		middle = a->scene.model->records.v[a->scene.mark - 1].time_ms;
	half = (int64_t)((double)(to - from) / 2 * factor);
	if (half < 500)
		half = 500;
	if (middle + half > last)
		middle = last - half;
	set_axis(a, middle - half, middle + half, first, last);
}

AXIS(zoom_in) { UNUSED; zoom(a, 0.5); }
AXIS(zoom_out) { UNUSED; zoom(a, 2); }

static void pan(struct app *a, int direction)
{
	int64_t first, last, by;

	if (!a->scene.to_ms || !axis_range(a, &first, &last)) {
		app_say(a, ROLE_DIM, "all of it is shown; {zoom-in} zooms in");
		return;
	}
	by = (a->scene.to_ms - a->scene.from_ms) / 4 * direction;
	if (a->scene.from_ms + by < first)
		by = first - a->scene.from_ms;
	if (a->scene.to_ms + by > last)
		by = last - a->scene.to_ms;
	set_axis(a, a->scene.from_ms + by, a->scene.to_ms + by, first, last);
}

AXIS(pan_left) { UNUSED; pan(a, -1); }
AXIS(pan_right) { UNUSED; pan(a, 1); }
