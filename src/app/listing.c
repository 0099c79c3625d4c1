/* Making what is shown: the list, which may take longer than a key may wait, the screen over it,
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

/* ---- making lists ---- */

bool app_is_settled(const struct app *a)
{
	return a->list_rect.cols <= 0 ||
	       (!a->stale[a->tab] &&
		a->lists[a->tab].lines.cols == a->list_rect.cols - GUTTER_COLS);
}

bool app_wants_list(const struct app *a)
{
	return a->tab == a->making_tab && !a->stale[a->tab] &&
	       a->list_rect.cols - GUTTER_COLS == a->making_cols;
}

void app_drop_filter(struct app *a)
{
	if (a->making)
		vec_push(&a->dropped, a->filter);
	else
		filter_free(a->filter);
	a->filter = NULL;
}

void app_drop_asof(struct app *a)
{
	if (a->making)
		vec_push(&a->dropped_asofs, a->scene.asof);
	else
		asof_free(a->scene.asof);
	a->scene.asof = NULL;
}

static void free_dropped(struct app *a)
{
	for (uint32_t i = 0; i < a->dropped.n; i++)
		filter_free(a->dropped.v[i]);
	for (uint32_t i = 0; i < a->dropped_asofs.n; i++)
		asof_free(a->dropped_asofs.v[i]);
	a->dropped.n = a->dropped_asofs.n = 0;
}

/* Keys that come in meanwhile change the app's scene; the list is made for the one it began
 * with. */
static bool make_list(struct app *a)
{
	struct scene scene = a->scene;
	enum tab tab = a->tab;
	bool made;

	scene.breath = a->breath;
	if (a->breath)
		a->breath->stopped = false;
	a->making = true;
	a->making_tab = tab;
	a->making_cols = a->list_rect.cols - GUTTER_COLS;
	a->stale[tab] = false;
	made = pane_make(&a->lists[tab], &scene, a->making_cols);
	if (!made)
		a->stale[tab] = true;
	a->making = false;
	free_dropped(a);
	return made;
}

void app_settle(struct app *a)
{
	if (!app_is_settled(a))
		make_list(a);
}

void app_refresh(struct app *a)
{
	struct screen *s = app_screen(a);

	if (a->list_rect.cols <= 0)
		return;
	if (!app_is_settled(a) && !a->making && !a->slow[a->tab])
		a->slow[a->tab] = !make_list(a);
	if (s && (!s->pane.made || s->stale || s->pane.lines.cols != a->cols)) {
		struct scene scene = app_scene_of(a, s);

		pane_make(&s->pane, &scene, a->cols);
		s->pane.made = true;
		s->stale = false;
	}
	refresh_preview(a);
}
