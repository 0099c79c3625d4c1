/* What must be true of every theme, the built-in ones and those that a configuration makes. */
#ifndef GAVEL_TESTS_THEME_H
#define GAVEL_TESTS_THEME_H

#include "draw/paint.h"

static inline bool colour_exists(unsigned int colour)
{
	return colour <= COLOUR_DEFAULT || (colour >= COLOUR_256(16) && colour <= COLOUR_256(255));
}

/* ROLE_ESCAPED is reversed and no other role is, and all colours exist. */
static inline bool theme_is_sound(const struct theme *theme)
{
	for (int role = 0; role < ROLE_COUNT; role++) {
		struct look look = theme->look[role];

		if (!colour_exists(look.front) || !colour_exists(look.back))
			return false;
		if (((look.bits & LOOK_REVERSE) != 0) != (role == ROLE_ESCAPED))
			return false;
	}
	return true;
}

#endif
