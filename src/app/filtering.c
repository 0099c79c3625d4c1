/* The filter: set by a command, or while it is typed. Each letter begins the list anew, as a job in
 * time slices (listing.c); the old list stays until then, so typing waits for nothing. */
#include "app/app.h"
#include "view/view_parts.h"

static void use_filter(struct app *a, struct filter *f, struct str text)
{
	struct buf copy = { 0 }; /* the text may be the old one */

	buf_add_str(&copy, text);
	if (f)
		filter_limit(f, target_scope(a->scene.narrowed), a->scene.narrowed.number);
	if (f && a->scene.reader)
		filter_set_sources(f, a->scene.reader->source, a->scene.reader->ctx);
	a->narrowed_last = false;
	app_drop_filter(a);
	a->filter = f;
	a->scene.filter = f;
	buf_release(&a->filter_text);
	a->filter_text = copy;
	app_invalidate(a);
}

/* Narrowed views have a filter without a text. */
static bool is_filter(const struct app *a, struct str text)
{
	return text.n || a->scene.narrowed.type != TARGET_NONE;
}

bool app_set_filter(struct app *a, struct str text)
{
	struct filter *f = NULL;
	struct err err;

	if (is_filter(a, text) && !(f = filter_new(text, a->scene.now_ms, &err))) {
		app_say(a, ROLE_ERROR, "%s", err.text);
		return false;
	}
	use_filter(a, f, text);
	return true;
}

void app_filter_prompt(struct app *a)
{
	struct filtering *f = &a->filtering;
	const struct pane *p = app_list(a);

	buf_clear(&f->before);
	buf_add_str(&f->before, buf_str(&a->filter_text));
	f->tab = a->tab;
	f->at = p->at;
	f->selected = p->selected;
	f->top = p->top;
	f->made = p->made;
	prompt_open(&a->prompt, PROMPT_FILTER, buf_str(&a->filter_text));
}

/* A last word that is not complete yet (kind:) does not count; Enter would tell what is wrong. */
void app_filter_typed(struct app *a)
{
	struct str text = str_trim(buf_str(&a->prompt.text));
	struct pane *p = &a->lists[a->filtering.tab];
	struct filter *f = NULL;
	struct err err;

	buf_clear(&a->notice);
	if (is_filter(a, text) && !(f = filter_new(text, a->scene.now_ms, &err))) {
		text = str_trim(str_make(text.p, filter_last_word(text)));
		f = is_filter(a, text) ? filter_new(text, a->scene.now_ms, &err) : NULL;
	}
	if ((text.n && !f) || str_eq(text, buf_str(&a->filter_text))) {
		filter_free(f);
		return;
	}
	use_filter(a, f, text);
	/* an earlier letter may have left out what was selected; its place in the list that is still
	 * shown stays */
	p->at = a->filtering.at;
	p->made = a->filtering.made;
}

void app_filter_restore(struct app *a)
{
	const struct filtering *f = &a->filtering;
	struct pane *p = &a->lists[f->tab];

	if (str_eq(buf_str(&f->before), buf_str(&a->filter_text)))
		return;
	app_set_filter(a, buf_str(&f->before));
	p->at = f->at;
	p->selected = f->selected;
	p->top = f->top;
	p->made = f->made;
}
