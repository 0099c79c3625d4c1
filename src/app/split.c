/* The preview's place and size: below or beside the list, and how much of the body it gets. */
#include "app/split.h"

#include "app/app.h"
#include "app/commands.h"

enum {
	BESIDE_COLS = 160,       /* from here on the preview stands beside the list by itself, */
	BESIDE_LEAST_COLS = 40,  /* if it has that much */
	BESIDE_USUAL = 40,       /* percent, at most */
	BELOW_USUAL = 50,
	LIST_LEAST_COLS = 40,    /* whatever size the person wants */
	PREVIEW_LEAST_COLS = 20,
	LEAST_ROWS = 4,
	STEP = 5, /* percent */
};

const char *const split_names[SPLIT_PLACES] = {
	[SPLIT_AUTO] = "auto", [SPLIT_BELOW] = "below", [SPLIT_BESIDE] = "beside",
};

static enum split_place place_for(const struct preview_split *s, int cols, int words_cols)
{
	if (s->place != SPLIT_AUTO)
		return s->place;
	return cols >= BESIDE_COLS && cols - 1 - words_cols >= BESIDE_LEAST_COLS ? SPLIT_BESIDE
										 : SPLIT_BELOW;
}

static int between(int n, int least, int most)
{
	return n < least ? least : n > most ? most : n;
}

/* Columns of a preview beside the list. */
static int preview_cols(const struct preview_split *s, int cols, int words_cols)
{
	int percent = s->percent[SPLIT_BESIDE];
	int wanted = cols * (percent ? percent : BESIDE_USUAL) / 100;

	if (!percent && s->place == SPLIT_AUTO && wanted > cols - 1 - words_cols)
		wanted = cols - 1 - words_cols;
	return between(wanted, PREVIEW_LEAST_COLS, cols - 1 - LIST_LEAST_COLS);
}

static int preview_rows(const struct preview_split *s, int rows)
{
	int percent = s->percent[SPLIT_BELOW];
	int wanted = (rows * (percent ? percent : BELOW_USUAL) + 50) / 100 - 1;

	if (!percent) /* the list gets the odd row that the border leaves */
		wanted = rows - rows / 2 - 1;
	return between(wanted, LEAST_ROWS, rows - 1 - LEAST_ROWS);
}

void split_body(const struct preview_split *s, struct rect body, int words_cols, struct rect *list,
		struct rect *preview)
{
	if (place_for(s, body.cols, words_cols) == SPLIT_BESIDE) {
		int left = body.cols - 1 - preview_cols(s, body.cols, words_cols);

		*list = rect_in(body, 0, 0, body.rows, left);
		*preview = rect_in(body, 0, left + 1, body.rows, body.cols - left - 1);
	} else {
		int top = body.rows - 1 - preview_rows(s, body.rows);

		*list = rect_in(body, 0, 0, top, body.cols);
		*preview = rect_in(body, top + 1, 0, body.rows - top - 1, body.cols);
	}
}

/* ---- commands ---- */

static enum split_place place_now(const struct app *a)
{
	return place_for(&a->split, a->cols, app_words_cols(a));
}

/* The size of the preview in percent, also where it has its usual one. */
static int percent_now(const struct app *a)
{
	enum split_place place = place_now(a);

	if (a->split.percent[place])
		return a->split.percent[place];
	if (place == SPLIT_BELOW)
		return BELOW_USUAL;
	return preview_cols(&a->split, a->cols, app_words_cols(a)) * 100 / a->cols;
}

static void say_split(struct app *a)
{
	app_effect(a, (struct effect){ EFFECT_REMEMBER });
	app_say(a, ROLE_DIM, "preview %s, %d%%%s", split_names[place_now(a)], percent_now(a),
		a->split.place == SPLIT_AUTO ? "; where it stands depends on the width" : "");
}

static bool place_named(struct str name, enum split_place *out)
{
	for (int i = 0; i < SPLIT_PLACES; i++)
		if (str_is(name, split_names[i])) {
			*out = (enum split_place)i;
			return true;
		}
	return false;
}

COMMAND(split)
{
	struct preview_split *s = &a->split;
	struct str size = argument;
	uint64_t percent;

	if (!app_words_cols(a)) {
		app_say(a, ROLE_DIM, "not available here; this list has no preview");
		return;
	}
	if (!argument.n && a->preview_rect.rows <= 0 && !a->maximised) {
		app_say(a, ROLE_DIM, "no preview is shown here; it needs a taller terminal");
		return;
	}
	if (str_ends(size, STR("%")))
		size.n--;
	if (!argument.n) {
		s->place = place_now(a) == SPLIT_BESIDE ? SPLIT_BELOW : SPLIT_BESIDE;
	} else if (str_is(argument, "auto")) {
		*s = (struct preview_split){ SPLIT_AUTO, { 0 } };
	} else if (str_to_u64(size, &percent) && percent >= SPLIT_LEAST && percent <= SPLIT_MOST) {
		s->percent[place_now(a)] = (int)percent;
	} else if (!place_named(argument, &s->place)) {
		app_say(a, ROLE_ERROR,
			"split takes below, beside, auto, or the size of the preview: %d%% to %d%%",
			SPLIT_LEAST, SPLIT_MOST);
		return;
	}
	say_split(a);
}

COMMAND(split_size)
{
	int percent = percent_now(a);

	if (a->preview_rect.rows <= 0 || a->maximised) {
		app_say(a, ROLE_DIM, "no preview is shown here");
		return;
	}
	/* to the next multiple, so that the way back leads to the same sizes */
	percent = number > 0 ? percent / STEP * STEP + STEP : (percent - 1) / STEP * STEP;
	a->split.percent[place_now(a)] = between(percent, SPLIT_LEAST, SPLIT_MOST);
	say_split(a);
}
