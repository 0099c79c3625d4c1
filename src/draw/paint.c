/* Renders rows as bytes with SGR sequences, one wherever the look changes. Each starts with a reset
 * and a row ends with one if needed, so that rows can be paged and joined. The themes are below. */
#include "draw/paint.h"

static bool look_eq(struct look a, struct look b)
{
	return a.front == b.front && a.back == b.back && a.bits == b.bits;
}

static const struct look plain_look = { COLOUR_DEFAULT, COLOUR_DEFAULT, 0 };

static struct look look_of(const struct theme *theme, enum role role)
{
	return theme ? theme->look[role] : plain_look;
}

static void add_colour(struct buf *out, unsigned int colour, unsigned int base)
{
	if (colour >= COLOUR_256(0))
		buf_printf(out, ";%u;5;%u", base + 8, colour - COLOUR_256(0));
	else if (colour < COLOUR_BRIGHT)
		buf_printf(out, ";%u", base + colour);
	else if (colour < COLOUR_DEFAULT)
		buf_printf(out, ";%u", base + 60 + colour - COLOUR_BRIGHT);
}

static void add_look(struct buf *out, struct look look)
{
	buf_adds(out, "\033[0");
	if (look.bits & LOOK_BOLD)
		buf_adds(out, ";1");
	if (look.bits & LOOK_FAINT)
		buf_adds(out, ";2");
	if (look.bits & LOOK_UNDERLINE)
		buf_adds(out, ";4");
	if (look.bits & LOOK_REVERSE)
		buf_adds(out, ";7");
	add_colour(out, look.front, 30);
	add_colour(out, look.back, 40);
	buf_addc(out, 'm');
}

/* A trailing blank with this look is invisible and can be dropped. */
static bool is_blank_invisible(struct look look)
{
	return look.back == COLOUR_DEFAULT && !(look.bits & (LOOK_UNDERLINE | LOOK_REVERSE));
}

static void add_cell(struct buf *out, const struct cell *cell, bool ascii)
{
	char bytes[12];

	if (!ascii || (cell->base < 0x80 && !cell->mark[0]))
		buf_add(out, bytes, cell_bytes(cell, bytes));
	else
		buf_add(out, "??", cell->width);
}

void paint_row(const struct grid *g, int row, const struct theme *theme, bool ascii,
	       struct buf *out)
{
	struct look now = plain_look, look;
	int end = g->cols;

	while (end > 0) {
		const struct spot *last = grid_at(g, row, end - 1);

		if (last->cell.base != ' ' || last->cell.mark[0] || last->cell.width != 1 ||
		    !is_blank_invisible(look_of(theme, last->role)))
			break;
		end--;
	}
	for (int col = 0; col < end; col++) {
		const struct spot *spot = grid_at(g, row, col);

		if (spot->cell.width == 0)
			continue;
		look = look_of(theme, spot->role);
		if (!look_eq(look, now))
			add_look(out, look);
		now = look;
		add_cell(out, &spot->cell, ascii);
	}
	if (!look_eq(now, plain_look))
		add_look(out, plain_look);
}

void paint_grid(const struct grid *g, const struct theme *theme, bool ascii, struct buf *out)
{
	for (int row = 0; row < g->rows; row++) {
		paint_row(g, row, theme, ascii, out);
		buf_addc(out, '\n');
	}
}

const struct theme *theme_find(struct str name, int colours)
{
	if (str_is(name, "mono"))
		return &theme_mono;
	if (str_is(name, "dark"))
		return colours >= 256 ? &theme_dark_256 : &theme_dark;
	if (str_is(name, "light"))
		return colours >= 256 ? &theme_light_256 : &theme_light;
	return NULL;
}

#define BRIGHT(colour) (COLOUR_BRIGHT + COLOUR_##colour)
#define LOOK(front, back, bits) { (front), (back), (bits) }
#define FG(colour, bits) LOOK(COLOUR_##colour, COLOUR_DEFAULT, bits)
#define BR(colour, bits) LOOK(BRIGHT(colour), COLOUR_DEFAULT, bits)
#define C256(n, bits) LOOK(COLOUR_256(n), COLOUR_DEFAULT, bits)
#define BG256(front, back, bits) LOOK(COLOUR_256(front), COLOUR_256(back), bits)
#define PLAIN(bits) LOOK(COLOUR_DEFAULT, COLOUR_DEFAULT, bits)

enum { BOLD = LOOK_BOLD, FAINT = LOOK_FAINT, UNDERLINE = LOOK_UNDERLINE, REVERSE = LOOK_REVERSE };

/* The themes, a row for each role: dark, light, dark and light with 256 colours, mono. Mono only
 * emphasises: every view is readable by its words and signs alone. */
#define THEMES(ROW) \
	ROW(NORMAL, PLAIN(0), PLAIN(0), PLAIN(0), PLAIN(0), PLAIN(0)) \
	ROW(DIM, BR(BLACK, 0), BR(BLACK, 0), C256(247, 0), C256(241, 0), PLAIN(0)) \
	ROW(TITLE, LOOK(BRIGHT(WHITE), COLOUR_BLUE, BOLD), \
	    LOOK(BRIGHT(WHITE), COLOUR_BLUE, BOLD), BG256(231, 24, BOLD), BG256(231, 24, BOLD), \
	    PLAIN(BOLD)) \
	ROW(HEADER, PLAIN(BOLD | UNDERLINE), PLAIN(BOLD | UNDERLINE), \
	    PLAIN(BOLD | UNDERLINE), PLAIN(BOLD | UNDERLINE), PLAIN(UNDERLINE)) \
	ROW(KEY, BR(WHITE, BOLD), FG(BLACK, BOLD), C256(231, BOLD), C256(16, BOLD), PLAIN(BOLD)) \
	ROW(ID, FG(CYAN, 0), FG(CYAN, 0), C256(80, 0), C256(24, 0), PLAIN(0)) \
	ROW(TIME, BR(BLACK, 0), BR(BLACK, 0), C256(247, 0), C256(241, 0), PLAIN(0)) \
	ROW(DIALECT, FG(MAGENTA, 0), FG(MAGENTA, 0), C256(176, 0), C256(90, 0), PLAIN(0)) \
	ROW(ACCENT, BR(CYAN, BOLD), FG(BLUE, BOLD), C256(117, BOLD), C256(25, BOLD), PLAIN(BOLD)) \
	ROW(MATCH, LOOK(COLOUR_BLACK, COLOUR_YELLOW, 0), LOOK(COLOUR_BLACK, COLOUR_YELLOW, 0), \
	    BG256(16, 221, 0), BG256(16, 222, 0), PLAIN(UNDERLINE)) \
	ROW(SELECTED, LOOK(BRIGHT(WHITE), BRIGHT(BLACK), BOLD), \
	    LOOK(COLOUR_BLACK, COLOUR_WHITE, BOLD), BG256(231, 238, BOLD), BG256(16, 252, BOLD), \
	    PLAIN(BOLD | UNDERLINE)) \
	ROW(MARKED, BR(YELLOW, BOLD), FG(MAGENTA, BOLD), \
	    C256(221, BOLD), C256(94, BOLD), PLAIN(BOLD)) \
	ROW(BORDER, BR(BLACK, 0), BR(BLACK, 0), C256(242, 0), C256(248, 0), PLAIN(0)) \
	ROW(CURSOR, BR(YELLOW, 0), FG(MAGENTA, 0), C256(221, 0), C256(94, 0), PLAIN(BOLD)) \
	ROW(BADGE, LOOK(BRIGHT(WHITE), COLOUR_MAGENTA, BOLD), \
	    LOOK(BRIGHT(WHITE), COLOUR_MAGENTA, BOLD), BG256(231, 97, BOLD), \
	    BG256(231, 97, BOLD), PLAIN(BOLD)) \
	ROW(BAR, FG(GREEN, 0), FG(GREEN, 0), C256(71, 0), C256(28, 0), PLAIN(BOLD)) \
	ROW(BAR_REST, BR(BLACK, 0), FG(WHITE, 0), C256(239, 0), C256(250, 0), PLAIN(0)) \
	ROW(OK, FG(GREEN, 0), FG(GREEN, 0), C256(114, 0), C256(22, 0), PLAIN(0)) \
	ROW(INFO, BR(BLUE, 0), FG(BLUE, 0), C256(111, 0), C256(25, 0), PLAIN(0)) \
	ROW(WARN, FG(YELLOW, 0), FG(YELLOW, 0), C256(215, 0), C256(94, 0), PLAIN(BOLD)) \
	ROW(ERROR, BR(RED, 0), FG(RED, 0), C256(210, 0), C256(124, 0), PLAIN(BOLD)) \
	ROW(CRITICAL, LOOK(BRIGHT(WHITE), COLOUR_RED, BOLD), \
	    LOOK(BRIGHT(WHITE), COLOUR_RED, BOLD), BG256(231, 160, BOLD), BG256(231, 160, BOLD), \
	    PLAIN(BOLD | UNDERLINE)) \
	ROW(ACCEPTED, BR(GREEN, 0), FG(GREEN, 0), C256(114, 0), C256(22, 0), PLAIN(0)) \
	ROW(PARTIAL, BR(YELLOW, 0), FG(YELLOW, 0), C256(221, 0), C256(94, 0), PLAIN(0)) \
	ROW(REJECTED, BR(RED, 0), FG(RED, 0), C256(210, 0), C256(124, 0), PLAIN(0)) \
	ROW(ESCALATED, BR(MAGENTA, 0), FG(MAGENTA, 0), C256(213, 0), C256(127, 0), PLAIN(0)) \
	ROW(DEFERRED, FG(BLUE, 0), FG(BLUE, 0), C256(110, 0), C256(25, 0), PLAIN(0)) \
	ROW(STAGED, BR(CYAN, 0), FG(CYAN, 0), C256(87, 0), C256(23, 0), PLAIN(0)) \
	ROW(HELD, FG(YELLOW, BOLD), FG(YELLOW, BOLD), \
	    C256(215, BOLD), C256(94, BOLD), PLAIN(BOLD)) \
	ROW(DUE, BR(RED, BOLD), FG(RED, BOLD), \
	    C256(210, BOLD), C256(124, BOLD), PLAIN(BOLD | UNDERLINE)) \
	ROW(STALLED, FG(YELLOW, FAINT), FG(YELLOW, 0), C256(179, 0), C256(94, 0), PLAIN(0)) \
	ROW(ADDED, FG(GREEN, 0), FG(GREEN, 0), C256(114, 0), C256(22, 0), PLAIN(0)) \
	ROW(REMOVED, FG(RED, 0), FG(RED, 0), C256(210, 0), C256(124, 0), PLAIN(0)) \
	ROW(ARCHITECT, BR(MAGENTA, 0), FG(MAGENTA, 0), C256(177, 0), C256(90, 0), PLAIN(0)) \
	ROW(DEVELOPER, BR(BLUE, 0), FG(BLUE, 0), C256(111, 0), C256(25, 0), PLAIN(0)) \
	ROW(REVIEWER, BR(GREEN, 0), FG(GREEN, 0), C256(150, 0), C256(58, 0), PLAIN(0)) \
	ROW(AGENT, FG(WHITE, 0), BR(BLACK, 0), C256(250, 0), C256(238, 0), PLAIN(0)) \
	ROW(PERSON, BR(WHITE, 0), FG(BLACK, 0), C256(231, 0), C256(16, 0), PLAIN(0)) \
	ROW(ESCAPED, PLAIN(REVERSE), PLAIN(REVERSE), PLAIN(REVERSE), PLAIN(REVERSE), PLAIN(REVERSE))

#define DARK(role, dark, light, dark_256, light_256, mono) [ROLE_##role] = dark,
#define LIGHT(role, dark, light, dark_256, light_256, mono) [ROLE_##role] = light,
#define DARK_256(role, dark, light, dark_256, light_256, mono) [ROLE_##role] = dark_256,
#define LIGHT_256(role, dark, light, dark_256, light_256, mono) [ROLE_##role] = light_256,
#define MONOCHROME(role, dark, light, dark_256, light_256, mono) [ROLE_##role] = mono,

const struct theme theme_dark = { { THEMES(DARK) } };
const struct theme theme_light = { { THEMES(LIGHT) } };
const struct theme theme_dark_256 = { { THEMES(DARK_256) } };
const struct theme theme_light_256 = { { THEMES(LIGHT_256) } };
const struct theme theme_mono = { { THEMES(MONOCHROME) } };
