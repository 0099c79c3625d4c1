/* Reduces a theme's look to the number of colours that a terminal has. */
#ifndef GAVEL_TERM_LOOK_H
#define GAVEL_TERM_LOOK_H

#include "draw/paint.h"

/* colours: at least 8. Colours of 256 become the nearest of 16; of these, eight-colour terminals
 * show bright letters as bold, grey ones as dim, and a grey background as black on white. */
struct look look_fit(struct look look, int colours);

#endif
