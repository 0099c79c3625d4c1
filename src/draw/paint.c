/* Rows to bytes: one SGR sequence wherever the look changes, each complete in itself (it starts
 * with a reset), and a reset at the end of a row that needs one: rows can be paged and joined. */
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

/* A blank with this look cannot be told from no character at all. */
static bool blank_is_unseen(struct look look)
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
		    !blank_is_unseen(look_of(theme, last->role)))
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

static bool colour_exists(unsigned int colour)
{
	return colour <= COLOUR_DEFAULT || (colour >= COLOUR_256(16) && colour <= COLOUR_256(255));
}

bool theme_check(const struct theme *theme)
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
#define FRONT(colour, bits) { (colour), COLOUR_DEFAULT, (bits) }

const struct theme theme_dark = { {
	[ROLE_NORMAL] = FRONT(COLOUR_DEFAULT, 0),
	[ROLE_DIM] = FRONT(BRIGHT(BLACK), 0),
	[ROLE_TITLE] = { BRIGHT(WHITE), COLOUR_BLUE, LOOK_BOLD },
	[ROLE_HEADER] = FRONT(COLOUR_DEFAULT, LOOK_BOLD | LOOK_UNDERLINE),
	[ROLE_KEY] = FRONT(BRIGHT(WHITE), LOOK_BOLD),
	[ROLE_ID] = FRONT(COLOUR_CYAN, 0),
	[ROLE_TIME] = FRONT(BRIGHT(BLACK), 0),
	[ROLE_DIALECT] = FRONT(COLOUR_MAGENTA, 0),
	[ROLE_ACCENT] = FRONT(BRIGHT(CYAN), LOOK_BOLD),
	[ROLE_MATCH] = { COLOUR_BLACK, COLOUR_YELLOW, 0 },
	[ROLE_SELECTED] = { BRIGHT(WHITE), BRIGHT(BLACK), LOOK_BOLD },
	[ROLE_MARKED] = FRONT(BRIGHT(YELLOW), LOOK_BOLD),
	[ROLE_BORDER] = FRONT(BRIGHT(BLACK), 0),
	[ROLE_CURSOR] = FRONT(BRIGHT(YELLOW), 0),
	[ROLE_BADGE] = { BRIGHT(WHITE), COLOUR_MAGENTA, LOOK_BOLD },
	[ROLE_BAR] = FRONT(COLOUR_GREEN, 0),
	[ROLE_BAR_REST] = FRONT(BRIGHT(BLACK), 0),
	[ROLE_OK] = FRONT(COLOUR_GREEN, 0),
	[ROLE_INFO] = FRONT(BRIGHT(BLUE), 0),
	[ROLE_WARN] = FRONT(COLOUR_YELLOW, 0),
	[ROLE_ERROR] = FRONT(BRIGHT(RED), 0),
	[ROLE_CRITICAL] = { BRIGHT(WHITE), COLOUR_RED, LOOK_BOLD },
	[ROLE_ACCEPTED] = FRONT(BRIGHT(GREEN), 0),
	[ROLE_PARTIAL] = FRONT(BRIGHT(YELLOW), 0),
	[ROLE_REJECTED] = FRONT(BRIGHT(RED), 0),
	[ROLE_ESCALATED] = FRONT(BRIGHT(MAGENTA), 0),
	[ROLE_DEFERRED] = FRONT(COLOUR_BLUE, 0),
	[ROLE_STAGED] = FRONT(BRIGHT(CYAN), 0),
	[ROLE_HELD] = FRONT(COLOUR_YELLOW, LOOK_BOLD),
	[ROLE_DUE] = FRONT(BRIGHT(RED), LOOK_BOLD),
	[ROLE_STALLED] = FRONT(COLOUR_YELLOW, LOOK_FAINT),
	[ROLE_ADDED] = FRONT(COLOUR_GREEN, 0),
	[ROLE_REMOVED] = FRONT(COLOUR_RED, 0),
	[ROLE_ARCHITECT] = FRONT(BRIGHT(MAGENTA), 0),
	[ROLE_DEVELOPER] = FRONT(BRIGHT(BLUE), 0),
	[ROLE_REVIEWER] = FRONT(BRIGHT(GREEN), 0),
	[ROLE_AGENT] = FRONT(COLOUR_WHITE, 0),
	[ROLE_PERSON] = FRONT(BRIGHT(WHITE), 0),
	[ROLE_ESCAPED] = FRONT(COLOUR_DEFAULT, LOOK_REVERSE),
} };

const struct theme theme_light = { {
	[ROLE_NORMAL] = FRONT(COLOUR_DEFAULT, 0),
	[ROLE_DIM] = FRONT(BRIGHT(BLACK), 0),
	[ROLE_TITLE] = { BRIGHT(WHITE), COLOUR_BLUE, LOOK_BOLD },
	[ROLE_HEADER] = FRONT(COLOUR_DEFAULT, LOOK_BOLD | LOOK_UNDERLINE),
	[ROLE_KEY] = FRONT(COLOUR_BLACK, LOOK_BOLD),
	[ROLE_ID] = FRONT(COLOUR_CYAN, 0),
	[ROLE_TIME] = FRONT(BRIGHT(BLACK), 0),
	[ROLE_DIALECT] = FRONT(COLOUR_MAGENTA, 0),
	[ROLE_ACCENT] = FRONT(COLOUR_BLUE, LOOK_BOLD),
	[ROLE_MATCH] = { COLOUR_BLACK, COLOUR_YELLOW, 0 },
	[ROLE_SELECTED] = { COLOUR_BLACK, COLOUR_WHITE, LOOK_BOLD },
	[ROLE_MARKED] = FRONT(COLOUR_MAGENTA, LOOK_BOLD),
	[ROLE_BORDER] = FRONT(BRIGHT(BLACK), 0),
	[ROLE_CURSOR] = FRONT(COLOUR_MAGENTA, 0),
	[ROLE_BADGE] = { BRIGHT(WHITE), COLOUR_MAGENTA, LOOK_BOLD },
	[ROLE_BAR] = FRONT(COLOUR_GREEN, 0),
	[ROLE_BAR_REST] = FRONT(COLOUR_WHITE, 0),
	[ROLE_OK] = FRONT(COLOUR_GREEN, 0),
	[ROLE_INFO] = FRONT(COLOUR_BLUE, 0),
	[ROLE_WARN] = FRONT(COLOUR_YELLOW, 0),
	[ROLE_ERROR] = FRONT(COLOUR_RED, 0),
	[ROLE_CRITICAL] = { BRIGHT(WHITE), COLOUR_RED, LOOK_BOLD },
	[ROLE_ACCEPTED] = FRONT(COLOUR_GREEN, 0),
	[ROLE_PARTIAL] = FRONT(COLOUR_YELLOW, 0),
	[ROLE_REJECTED] = FRONT(COLOUR_RED, 0),
	[ROLE_ESCALATED] = FRONT(COLOUR_MAGENTA, 0),
	[ROLE_DEFERRED] = FRONT(COLOUR_BLUE, 0),
	[ROLE_STAGED] = FRONT(COLOUR_CYAN, 0),
	[ROLE_HELD] = FRONT(COLOUR_YELLOW, LOOK_BOLD),
	[ROLE_DUE] = FRONT(COLOUR_RED, LOOK_BOLD),
	[ROLE_STALLED] = FRONT(COLOUR_YELLOW, 0),
	[ROLE_ADDED] = FRONT(COLOUR_GREEN, 0),
	[ROLE_REMOVED] = FRONT(COLOUR_RED, 0),
	[ROLE_ARCHITECT] = FRONT(COLOUR_MAGENTA, 0),
	[ROLE_DEVELOPER] = FRONT(COLOUR_BLUE, 0),
	[ROLE_REVIEWER] = FRONT(COLOUR_GREEN, 0),
	[ROLE_AGENT] = FRONT(BRIGHT(BLACK), 0),
	[ROLE_PERSON] = FRONT(COLOUR_BLACK, 0),
	[ROLE_ESCAPED] = FRONT(COLOUR_DEFAULT, LOOK_REVERSE),
} };

const struct theme theme_dark_256 = { {
	[ROLE_NORMAL] = FRONT(COLOUR_DEFAULT, 0),
	[ROLE_DIM] = FRONT(COLOUR_256(247), 0),
	[ROLE_TITLE] = { COLOUR_256(231), COLOUR_256(24), LOOK_BOLD },
	[ROLE_HEADER] = FRONT(COLOUR_DEFAULT, LOOK_BOLD | LOOK_UNDERLINE),
	[ROLE_KEY] = FRONT(COLOUR_256(231), LOOK_BOLD),
	[ROLE_ID] = FRONT(COLOUR_256(80), 0),
	[ROLE_TIME] = FRONT(COLOUR_256(247), 0),
	[ROLE_DIALECT] = FRONT(COLOUR_256(176), 0),
	[ROLE_ACCENT] = FRONT(COLOUR_256(117), LOOK_BOLD),
	[ROLE_MATCH] = { COLOUR_256(16), COLOUR_256(221), 0 },
	[ROLE_SELECTED] = { COLOUR_256(231), COLOUR_256(238), LOOK_BOLD },
	[ROLE_MARKED] = FRONT(COLOUR_256(221), LOOK_BOLD),
	[ROLE_BORDER] = FRONT(COLOUR_256(242), 0),
	[ROLE_CURSOR] = FRONT(COLOUR_256(221), 0),
	[ROLE_BADGE] = { COLOUR_256(231), COLOUR_256(97), LOOK_BOLD },
	[ROLE_BAR] = FRONT(COLOUR_256(71), 0),
	[ROLE_BAR_REST] = FRONT(COLOUR_256(239), 0),
	[ROLE_OK] = FRONT(COLOUR_256(114), 0),
	[ROLE_INFO] = FRONT(COLOUR_256(111), 0),
	[ROLE_WARN] = FRONT(COLOUR_256(215), 0),
	[ROLE_ERROR] = FRONT(COLOUR_256(210), 0),
	[ROLE_CRITICAL] = { COLOUR_256(231), COLOUR_256(160), LOOK_BOLD },
	[ROLE_ACCEPTED] = FRONT(COLOUR_256(114), 0),
	[ROLE_PARTIAL] = FRONT(COLOUR_256(221), 0),
	[ROLE_REJECTED] = FRONT(COLOUR_256(210), 0),
	[ROLE_ESCALATED] = FRONT(COLOUR_256(213), 0),
	[ROLE_DEFERRED] = FRONT(COLOUR_256(110), 0),
	[ROLE_STAGED] = FRONT(COLOUR_256(87), 0),
	[ROLE_HELD] = FRONT(COLOUR_256(215), LOOK_BOLD),
	[ROLE_DUE] = FRONT(COLOUR_256(210), LOOK_BOLD),
	[ROLE_STALLED] = FRONT(COLOUR_256(179), 0),
	[ROLE_ADDED] = FRONT(COLOUR_256(114), 0),
	[ROLE_REMOVED] = FRONT(COLOUR_256(210), 0),
	[ROLE_ARCHITECT] = FRONT(COLOUR_256(177), 0),
	[ROLE_DEVELOPER] = FRONT(COLOUR_256(111), 0),
	[ROLE_REVIEWER] = FRONT(COLOUR_256(150), 0),
	[ROLE_AGENT] = FRONT(COLOUR_256(250), 0),
	[ROLE_PERSON] = FRONT(COLOUR_256(231), 0),
	[ROLE_ESCAPED] = FRONT(COLOUR_DEFAULT, LOOK_REVERSE),
} };

const struct theme theme_light_256 = { {
	[ROLE_NORMAL] = FRONT(COLOUR_DEFAULT, 0),
	[ROLE_DIM] = FRONT(COLOUR_256(241), 0),
	[ROLE_TITLE] = { COLOUR_256(231), COLOUR_256(24), LOOK_BOLD },
	[ROLE_HEADER] = FRONT(COLOUR_DEFAULT, LOOK_BOLD | LOOK_UNDERLINE),
	[ROLE_KEY] = FRONT(COLOUR_256(16), LOOK_BOLD),
	[ROLE_ID] = FRONT(COLOUR_256(24), 0),
	[ROLE_TIME] = FRONT(COLOUR_256(241), 0),
	[ROLE_DIALECT] = FRONT(COLOUR_256(90), 0),
	[ROLE_ACCENT] = FRONT(COLOUR_256(25), LOOK_BOLD),
	[ROLE_MATCH] = { COLOUR_256(16), COLOUR_256(222), 0 },
	[ROLE_SELECTED] = { COLOUR_256(16), COLOUR_256(252), LOOK_BOLD },
	[ROLE_MARKED] = FRONT(COLOUR_256(94), LOOK_BOLD),
	[ROLE_BORDER] = FRONT(COLOUR_256(248), 0),
	[ROLE_CURSOR] = FRONT(COLOUR_256(94), 0),
	[ROLE_BADGE] = { COLOUR_256(231), COLOUR_256(97), LOOK_BOLD },
	[ROLE_BAR] = FRONT(COLOUR_256(28), 0),
	[ROLE_BAR_REST] = FRONT(COLOUR_256(250), 0),
	[ROLE_OK] = FRONT(COLOUR_256(22), 0),
	[ROLE_INFO] = FRONT(COLOUR_256(25), 0),
	[ROLE_WARN] = FRONT(COLOUR_256(94), 0),
	[ROLE_ERROR] = FRONT(COLOUR_256(124), 0),
	[ROLE_CRITICAL] = { COLOUR_256(231), COLOUR_256(160), LOOK_BOLD },
	[ROLE_ACCEPTED] = FRONT(COLOUR_256(22), 0),
	[ROLE_PARTIAL] = FRONT(COLOUR_256(94), 0),
	[ROLE_REJECTED] = FRONT(COLOUR_256(124), 0),
	[ROLE_ESCALATED] = FRONT(COLOUR_256(127), 0),
	[ROLE_DEFERRED] = FRONT(COLOUR_256(25), 0),
	[ROLE_STAGED] = FRONT(COLOUR_256(23), 0),
	[ROLE_HELD] = FRONT(COLOUR_256(94), LOOK_BOLD),
	[ROLE_DUE] = FRONT(COLOUR_256(124), LOOK_BOLD),
	[ROLE_STALLED] = FRONT(COLOUR_256(94), 0),
	[ROLE_ADDED] = FRONT(COLOUR_256(22), 0),
	[ROLE_REMOVED] = FRONT(COLOUR_256(124), 0),
	[ROLE_ARCHITECT] = FRONT(COLOUR_256(90), 0),
	[ROLE_DEVELOPER] = FRONT(COLOUR_256(25), 0),
	[ROLE_REVIEWER] = FRONT(COLOUR_256(58), 0),
	[ROLE_AGENT] = FRONT(COLOUR_256(238), 0),
	[ROLE_PERSON] = FRONT(COLOUR_256(16), 0),
	[ROLE_ESCAPED] = FRONT(COLOUR_DEFAULT, LOOK_REVERSE),
} };

/* The views tell by words and signs; here the eye is only helped. */
const struct theme theme_mono = { {
	[ROLE_NORMAL] = FRONT(COLOUR_DEFAULT, 0),
	[ROLE_DIM] = FRONT(COLOUR_DEFAULT, 0),
	[ROLE_TITLE] = FRONT(COLOUR_DEFAULT, LOOK_BOLD),
	[ROLE_HEADER] = FRONT(COLOUR_DEFAULT, LOOK_UNDERLINE),
	[ROLE_KEY] = FRONT(COLOUR_DEFAULT, LOOK_BOLD),
	[ROLE_ID] = FRONT(COLOUR_DEFAULT, 0),
	[ROLE_TIME] = FRONT(COLOUR_DEFAULT, 0),
	[ROLE_DIALECT] = FRONT(COLOUR_DEFAULT, 0),
	[ROLE_ACCENT] = FRONT(COLOUR_DEFAULT, LOOK_BOLD),
	[ROLE_MATCH] = FRONT(COLOUR_DEFAULT, LOOK_UNDERLINE),
	[ROLE_SELECTED] = FRONT(COLOUR_DEFAULT, LOOK_BOLD | LOOK_UNDERLINE),
	[ROLE_MARKED] = FRONT(COLOUR_DEFAULT, LOOK_BOLD),
	[ROLE_BORDER] = FRONT(COLOUR_DEFAULT, 0),
	[ROLE_CURSOR] = FRONT(COLOUR_DEFAULT, LOOK_BOLD),
	[ROLE_BADGE] = FRONT(COLOUR_DEFAULT, LOOK_BOLD),
	[ROLE_BAR] = FRONT(COLOUR_DEFAULT, LOOK_BOLD),
	[ROLE_BAR_REST] = FRONT(COLOUR_DEFAULT, 0),
	[ROLE_OK] = FRONT(COLOUR_DEFAULT, 0),
	[ROLE_INFO] = FRONT(COLOUR_DEFAULT, 0),
	[ROLE_WARN] = FRONT(COLOUR_DEFAULT, LOOK_BOLD),
	[ROLE_ERROR] = FRONT(COLOUR_DEFAULT, LOOK_BOLD),
	[ROLE_CRITICAL] = FRONT(COLOUR_DEFAULT, LOOK_BOLD | LOOK_UNDERLINE),
	[ROLE_ACCEPTED] = FRONT(COLOUR_DEFAULT, 0),
	[ROLE_PARTIAL] = FRONT(COLOUR_DEFAULT, 0),
	[ROLE_REJECTED] = FRONT(COLOUR_DEFAULT, 0),
	[ROLE_ESCALATED] = FRONT(COLOUR_DEFAULT, 0),
	[ROLE_DEFERRED] = FRONT(COLOUR_DEFAULT, 0),
	[ROLE_STAGED] = FRONT(COLOUR_DEFAULT, 0),
	[ROLE_HELD] = FRONT(COLOUR_DEFAULT, LOOK_BOLD),
	[ROLE_DUE] = FRONT(COLOUR_DEFAULT, LOOK_BOLD | LOOK_UNDERLINE),
	[ROLE_STALLED] = FRONT(COLOUR_DEFAULT, 0),
	[ROLE_ADDED] = FRONT(COLOUR_DEFAULT, 0),
	[ROLE_REMOVED] = FRONT(COLOUR_DEFAULT, 0),
	[ROLE_ARCHITECT] = FRONT(COLOUR_DEFAULT, 0),
	[ROLE_DEVELOPER] = FRONT(COLOUR_DEFAULT, 0),
	[ROLE_REVIEWER] = FRONT(COLOUR_DEFAULT, 0),
	[ROLE_AGENT] = FRONT(COLOUR_DEFAULT, 0),
	[ROLE_PERSON] = FRONT(COLOUR_DEFAULT, 0),
	[ROLE_ESCAPED] = FRONT(COLOUR_DEFAULT, LOOK_REVERSE),
} };
