/* The trail: places that a jump has left, so that one can go back to them exactly. A place is the
 * tab, the position in its list, and the screens with theirs; lists find their selection again by
 * its content (pane.h). */
#include "app/app.h"

#include <stdlib.h>

enum { TRAIL_MAX = 200 };

struct position {
	uint32_t selected, top;
	struct line at;
};

struct saved_screen {
	const struct view_ops *view;
	bool text;
	uint32_t item, message, k;
	struct target page;
	struct position position;
};

struct location {
	enum tab tab;
	struct position list;
	uint32_t preview_top;
	bool preview_focused, maximised;
	unsigned n;
	struct saved_screen screens[];
};

static struct position position_of(const struct pane *p)
{
	return (struct position){ p->selected, p->top, p->at };
}

static void set_position(struct pane *p, struct position to)
{
	p->selected = to.selected;
	p->top = to.top;
	p->at = to.at;
	p->made = p->touched = true;
}

void trail_push(struct app *a)
{
	struct location *l =
		xcalloc(1, sizeof(*l) + a->screen_count * sizeof(l->screens[0]));

	*l = (struct location){ .tab = a->tab, .list = position_of(&a->lists[a->tab]),
				.preview_top = a->preview.top,
				.preview_focused = a->preview_focused, .maximised = a->maximised,
				.n = a->screen_count };
	for (unsigned i = 0; i < l->n; i++) {
		const struct screen *s = &a->screens[i];

		l->screens[i] = (struct saved_screen){ s->pane.view, s->pane.text, s->item,
						       s->message, s->k, s->page,
						       position_of(&s->pane) };
	}
	if (a->trail.n == TRAIL_MAX) {
		free(a->trail.v[0]);
		memmove(a->trail.v, a->trail.v + 1, --a->trail.n * sizeof(a->trail.v[0]));
	}
	vec_push(&a->trail, l);
}

/* A plan that was shown then may be gone, and what it confirms has to be looked at anew. */
static bool is_lasting(const struct saved_screen *s)
{
	return s->view != &view_preflight && s->view != &view_recovery;
}

bool trail_back(struct app *a)
{
	struct location *l;

	if (!a->trail.n)
		return false;
	l = a->trail.v[--a->trail.n];
	app_show_tab(a, l->tab);
	if (a->lists[l->tab].lines.list.n)
		set_position(&a->lists[l->tab], l->list);
	a->stale[l->tab] = true;
	for (unsigned i = 0; i < l->n; i++) {
		const struct saved_screen *s = &l->screens[i];
		struct screen *to = &a->screens[a->screen_count];

		if (!is_lasting(s))
			continue;
		*to = (struct screen){ .item = s->item, .message = s->message, .k = s->k,
				       .page = s->page, .stale = true,
				       .pane = { .view = s->view, .text = s->text } };
		set_position(&to->pane, s->position);
		a->screen_count++;
	}
	a->preview_focused = l->preview_focused;
	a->maximised = l->maximised;
	app_refresh(a);
	a->preview.top = l->preview_top;
	free(l);
	return true;
}

void trail_release(struct app *a)
{
	for (uint32_t i = 0; i < a->trail.n; i++)
		free(a->trail.v[i]);
	vec_release(&a->trail);
}
