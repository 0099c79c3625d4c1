/* Key hints of the status line, and clicks on them: a click runs the command of the key, unless it
 * decides or sends something. */
#include "app/app.h"
#include "view/view_parts.h"

/* Whether a click may run it: the mouse never decides, and tells agents nothing. */
static bool is_harmless(const struct app_command *c)
{
	if (strcmp(c->section, "live") == 0)
		return strcmp(c->name, "follow") == 0 || strcmp(c->name, "pause") == 0;
	return strcmp(c->section, "decide") != 0 && strcmp(c->section, "agents") != 0;
}

/* The binding that a label on the screen names here; NULL = none, as for words. */
static const struct binding *binding_of(const struct app *a, struct str label)
{
	unsigned where = app_where(a, a->screen_count);
	const struct binding *found = NULL;

	for (uint32_t i = 0; i < a->keymap.list.n && !found; i++) {
		struct buf name = { 0 };

		key_label(a->keymap.list.v[i].key, &name);
		if (str_eq(buf_str(&name), label))
			found = keymap_find(&a->keymap, a->keymap.list.v[i].key, where);
		buf_release(&name);
	}
	return found;
}

static int width_of(const struct app *a, struct str text)
{
	return (int)cells_width(raw_of(text), TEXT_LABEL, a->scene.ascii, 512);
}

/* "! ~ problem": a key under the pointer, else the first one. */
static const struct binding *binding_at(const struct app *a, struct str hint, int col)
{
	const struct binding *first = NULL, *b;
	int at = 0;

	while (hint.n) {
		struct str word = str_cut(&hint, STR(" "));
		int cols = width_of(a, word);

		b = binding_of(a, word);
		if (!b)
			break; /* the words */
		if (col >= at && col < at + cols)
			return b;
		first = first ? first : b;
		at += cols + 1;
	}
	return first;
}

void app_hints_set(struct app *a, struct rect row, struct str hints)
{
	buf_clear(&a->hints);
	buf_add_str(&a->hints, hints);
	a->hints_rect = row;
}

/* As many hints as fit, none of them clipped; they are separated by two blanks. */
void app_hints_draw(struct grid *g, struct rect row, struct str rest)
{
	struct pen p = { g, row };

	while (rest.n) {
		struct str one = str_cut(&rest, STR("  "));
		bool first = p.rest.col == row.col;

		if (!first &&
		    (int)cells_width(raw_of(one), TEXT_LABEL, g->ascii, 512) + 2 > p.rest.cols)
			return;
		pen_printf(&p, ROLE_DIM, "%s%.*s", first ? "" : "  ", STR_ARG(one));
	}
}

const struct binding *app_hint_at(const struct app *a, int row, int col)
{
	struct str rest = buf_str(&a->hints);
	int at = a->hints_rect.col, end = at + a->hints_rect.cols;
	const struct binding *b;

	if (!rest.n || !rect_has(a->hints_rect, row, col))
		return NULL;
	while (rest.n) {
		struct str one = str_cut(&rest, STR("  "));
		int cols = width_of(a, one);

		if (at + cols > end)
			return NULL; /* not drawn */
		if (col >= at && col < at + cols) {
			b = binding_at(a, one, col - at);
			return b && is_harmless(b->command) ? b : NULL;
		}
		at += cols + 2;
	}
	return NULL;
}
