/* How the body of the screen is divided between a list and its preview. The person's choice is
 * remembered by whoever runs the app (EFFECT_REMEMBER). */
#ifndef GAVEL_APP_SPLIT_H
#define GAVEL_APP_SPLIT_H

#include "draw/grid.h"

enum split_place {
	SPLIT_AUTO,  /* below, and beside on a screen where the rows keep their words */
	SPLIT_BELOW,
	SPLIT_BESIDE,
	SPLIT_PLACES
};

enum {
	SPLIT_LEAST = 10, /* percent of the body that a preview can have */
	SPLIT_MOST = 90,
};

struct preview_split {
	enum split_place place;
	int percent[SPLIT_PLACES]; /* of the preview below and beside; 0 = the usual size */
};

extern const char *const split_names[SPLIT_PLACES];

enum { SPLIT_ROWS = 14 }; /* the least height of a body that is divided */

/* Divides the body; the border is between the two. words_cols: the width of a list in which its
 * words have 60 columns; the preview does not stand beside a narrower one by itself. */
void split_body(const struct preview_split *s, struct rect body, int words_cols, struct rect *list,
		struct rect *preview);

#endif
