/* Rebuilds stale lines: the current list, as a job in time slices (app_list_step), the open screen,
 * and the preview. */
#include "app/app.h"
#include "view/view_parts.h"

/* NULL: only its page shows it. */
static const struct view_ops *view_of(enum target_type type)
{
	switch (type) {
	case TARGET_ITEM: return &view_item;
	case TARGET_MESSAGE: return &view_message;
	case TARGET_LOOP: return &view_loop;
	case TARGET_NONE:
	case TARGET_TASK:
	case TARGET_AGENT:
	case TARGET_SESSION: break;
	}
	return NULL;
}

static void refresh_preview(struct app *a)
{
	struct target t = pane_preview(&a->lists[a->tab], &a->scene);
	struct scene scene = a->scene;
	const struct view_ops *view = view_of(t.type);

	if (a->preview_rect.rows <= 0 || !view) {
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

/* The list to be shown is that of the topmost page, else of the tab. */
static const struct screen *wanted_page(const struct app *a)
{
	for (unsigned i = a->screen_count; i-- > 0;)
		if (a->screens[i].page.type != TARGET_NONE)
			return &a->screens[i];
	return NULL;
}

static bool wanted_is_stale(const struct app *a)
{
	const struct screen *page = wanted_page(a);

	return page ? page->stale : a->stale[a->tab];
}

static int wanted_cols(const struct app *a)
{
	return (wanted_page(a) ? a->cols : a->list_rect.cols) - GUTTER_COLS;
}

static const struct pane *wanted_pane(const struct app *a)
{
	const struct screen *page = wanted_page(a);

	return page ? &page->pane : &a->lists[a->tab];
}

bool app_is_settled(const struct app *a)
{
	return a->list_rect.cols <= 0 ||
	       (!a->listing.job && !wanted_is_stale(a) &&
		wanted_pane(a)->lines.cols == wanted_cols(a));
}

/* Whether the list under construction is the one to be shown. */
static bool is_wanted(const struct app *a)
{
	return a->listing.job && wanted_pane(a) == a->listing.pane && !wanted_is_stale(a) &&
	       wanted_cols(a) == a->listing.cols;
}

void app_cancel_list(struct app *a)
{
	if (!a->listing.job)
		return;
	job_end(a->listing.job);
	a->listing.job = NULL;
	ledger_release(a->listing.loops);
	a->listing.loops = NULL;
	*a->listing.stale = true;
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

/* Computes the loops unless no answer has come since, so that a live log costs it only then; while
 * the log is read, not at all. The older ones may lack items that have come since, so the list has
 * them only if nothing has. */
static void find_loops(struct app *a, struct scene *s)
{
	struct ledger *older = a->scene.loops;

	s->loops = NULL;
	if (s->reading)
		return;
	if (s->asof || !older || a->loop_answers != s->model->review_answers)
		s->loops = a->listing.loops = scene_ledger(s);
	else if (older->model == s->model && older->to == s->k)
		s->loops = older;
}

/* Takes over what find_loops has computed. */
static void take_loops(struct app *a)
{
	const struct scene *s = &a->listing.scene;

	if (!a->listing.loops)
		return;
	ledger_release(a->scene.loops);
	a->scene.loops = a->listing.loops;
	a->listing.loops = NULL;
	a->loop_answers = s->asof || s->k < s->model->records.n ? UINT32_MAX
								: s->model->review_answers;
	a->diverging = ledger_diverging(a->scene.loops, s->k);
	a->preview_stale = true;
}

/* Job: uses the scene saved when it began, since keys may change the app's scene meanwhile. */
static void make_list(void *ctx, struct yield *y)
{
	struct app *a = ctx;

	a->listing.scene.yield = y;
	find_loops(a, &a->listing.scene);
	pane_make(a->listing.pane, &a->listing.scene, a->listing.cols);
}

bool app_list_step(struct app *a, int64_t until_ms)
{
	if (!is_wanted(a))
		app_cancel_list(a);
	if (app_is_settled(a))
		return true;
	if (!a->listing.job) {
		struct screen *page = app_page(a);

		a->listing = (struct listing){ .job = job_new(make_list, a),
					       .scene = app_list_scene(a), .pane = app_list(a),
					       .stale = page ? &page->stale : &a->stale[a->tab],
					       .cols = wanted_cols(a) };
		*a->listing.stale = false;
	}
	if (until_ms == INT64_MAX)
		make_list(a, NULL);
	else if (!job_step(a->listing.job, until_ms))
		return false;
	job_end(a->listing.job);
	a->listing.job = NULL;
	take_loops(a);
	decide_note_gone(a, a->listing.pane);
	return true;
}

void app_refresh(struct app *a)
{
	struct screen *s = app_screen(a);
	bool fresh;
	int cols;

	if (a->list_rect.cols <= 0)
		return;
	if (!is_wanted(a))
		app_list_step(a, a->list_until_ms);
	cols = s && !s->pane.text ? a->cols - GUTTER_COLS : a->cols;
	if (s && s->page.type == TARGET_NONE &&
	    (!s->pane.made || s->stale || s->pane.lines.cols != cols)) {
		struct scene scene = app_scene_of(a, s);

		fresh = !s->pane.made;
		pane_make(&s->pane, &scene, cols);
		if (fresh && s->pane.view == &view_preflight)
			preflight_select_first(&s->pane);
		s->pane.made = true;
		s->stale = false;
	}
	refresh_preview(a);
}
