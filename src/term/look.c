/* Maps a theme's colours to 16 or 8. How the 16 look is configured in the terminal; the RGB values
 * here are xterm's defaults. */
#include "term/look.h"

static int cube_shade(unsigned int step)
{
	return step ? 55 + 40 * (int)step : 0;
}

/* RGB of one of the 256 colours. */
static void colour_rgb(unsigned int n, int rgb[3])
{
	static const int basic[16][3] = {
		{ 0, 0, 0 }, { 205, 0, 0 }, { 0, 205, 0 }, { 205, 205, 0 },
		{ 0, 0, 238 }, { 205, 0, 205 }, { 0, 205, 205 }, { 229, 229, 229 },
		{ 127, 127, 127 }, { 255, 0, 0 }, { 0, 255, 0 }, { 255, 255, 0 },
		{ 92, 92, 255 }, { 255, 0, 255 }, { 0, 255, 255 }, { 255, 255, 255 },
	};

	if (n < 16) {
		memcpy(rgb, basic[n], sizeof(basic[n]));
	} else if (n < 232) {
		rgb[0] = cube_shade((n - 16) / 36);
		rgb[1] = cube_shade((n - 16) / 6 % 6);
		rgb[2] = cube_shade((n - 16) % 6);
	} else {
		rgb[0] = rgb[1] = rgb[2] = 8 + 10 * (int)(n - 232);
	}
}

static uint16_t nearest_of_16(unsigned int colour)
{
	unsigned int best = 0;
	int want[3], have[3], least = 1 << 30;

	colour_rgb(colour - COLOUR_256(0), want);
	for (unsigned int i = 0; i < 16; i++) {
		int distance = 0;

		colour_rgb(i, have);
		for (int k = 0; k < 3; k++)
			distance += (want[k] - have[k]) * (want[k] - have[k]);
		if (distance < least) {
			least = distance;
			best = i;
		}
	}
	return (uint16_t)best;
}

static bool is_bright(unsigned int colour)
{
	return colour >= COLOUR_BRIGHT && colour < COLOUR_DEFAULT;
}

struct look look_fit(struct look look, int colours)
{
	const uint16_t grey = COLOUR_BRIGHT + COLOUR_BLACK;

	if (colours < 256 && look.front >= COLOUR_256(0))
		look.front = nearest_of_16(look.front);
	if (colours < 256 && look.back >= COLOUR_256(0))
		look.back = nearest_of_16(look.back);
	if (colours >= 16)
		return look;
	if (look.back == grey) {
		look.back = COLOUR_WHITE;
		look.front = COLOUR_BLACK;
	}
	if (is_bright(look.back))
		look.back -= COLOUR_BRIGHT;
	if (look.front == grey) {
		look.front = COLOUR_DEFAULT;
		look.bits |= LOOK_FAINT;
	} else if (is_bright(look.front)) {
		look.front -= COLOUR_BRIGHT;
		look.bits |= LOOK_BOLD;
	}
	return look;
}
