/* Rebuilds stale lines: the current list, as a job in time slices (app_list_step), the open screen,
 * and the preview. */
#include "app/app.h"

static void refresh_preview(struct app *a)
{
	struct target t = pane_target(app_list(a), &a->scene);
	struct scene scene = a->scene;
	const struct view_ops *view = t.type == TARGET_ITEM ? &view_item : &view_message;

	if (a->preview_rect.rows <= 0 || t.type == TARGET_NONE) {
		a->previewed.type = TARGET_NONE;
		return;
	}
	if (a->previewed.type == t.type && a->previewed.number == t.number &&
	    a->preview.lines.cols == a->preview_rect.cols && !a->preview_stale && !a->preview_seeks)
		return;
	a->preview_stale = false;
	if (a->previewed.type != t.type || a->previewed.number != t.number) {
		if (a->preview.view)
			pane_release(&a->preview);
		a->preview = (struct pane){ .view = view, .text = true };
	}
	a->previewed = t;
	scene.item = scene.message = t.number;
	pane_make(&a->preview, &scene, a->preview_rect.cols);
	if (a->preview_seeks)
		pane_show_word(&a->preview, &scene, a->preview_rect.rows, buf_str(&a->word));
	a->preview_seeks = false;
}

/* ---- building lists ---- */

bool app_is_settled(const struct app *a)
{
	return a->list_rect.cols <= 0 ||
	       (!a->listing.job && !a->stale[a->tab] &&
		a->lists[a->tab].lines.cols == a->list_rect.cols - GUTTER_COLS);
}

/* Whether the list under construction is the one to be shown. */
static bool is_wanted(const struct app *a)
{
	return a->listing.job && a->tab == a->listing.tab && !a->stale[a->tab] &&
	       a->list_rect.cols - GUTTER_COLS == a->listing.cols;
}

void app_cancel_list(struct app *a)
{
	if (!a->listing.job)
		return;
	job_end(a->listing.job);
	a->listing.job = NULL;
	a->stale[a->listing.tab] = true;
}

void app_drop_filter(struct app *a)
{
	app_cancel_list(a);
	filter_free(a->filter);
	a->filter = NULL;
}

void app_drop_asof(struct app *a)
{
	app_cancel_list(a);
	asof_free(a->scene.asof);
	a->scene.asof = NULL;
}

/* Job: uses the scene saved when it began, since keys may change the app's scene meanwhile. */
static void make_list(void *ctx, struct yield *y)
{
	struct app *a = ctx;

	a->listing.scene.yield = y;
	pane_make(&a->lists[a->listing.tab], &a->listing.scene, a->listing.cols);
}

bool app_list_step(struct app *a, int64_t until_ms)
{
	if (!is_wanted(a))
		app_cancel_list(a);
	if (app_is_settled(a))
		return true;
	if (!a->listing.job) {
		a->listing = (struct listing){ .job = job_new(make_list, a), .scene = a->scene,
					       .tab = a->tab,
					       .cols = a->list_rect.cols - GUTTER_COLS };
		a->stale[a->tab] = false;
	}
	if (until_ms == INT64_MAX)
		make_list(a, NULL);
	else if (!job_step(a->listing.job, until_ms))
		return false;
	job_end(a->listing.job);
	a->listing.job = NULL;
	return true;
}

void app_refresh(struct app *a)
{
	struct screen *s = app_screen(a);
	int cols;

	if (a->list_rect.cols <= 0)
		return;
	if (!is_wanted(a))
		app_list_step(a, a->list_until_ms);
	cols = a->cols - (s && !s->pane.text ? GUTTER_COLS : 0);
	if (s && (!s->pane.made || s->stale || s->pane.lines.cols != cols)) {
		struct scene scene = app_scene_of(a, s);

		pane_make(&s->pane, &scene, cols);
		s->pane.made = true;
		s->stale = false;
	}
	refresh_preview(a);
}
