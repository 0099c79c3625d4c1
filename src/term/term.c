/* Terminal output through ncurses, of which only the screen update is used: cells with attributes
 * in, minimal escape sequences out. Keys are read with read(2) and decoded by term/keys.h; terminal
 * modes, size and signals are handled here, so that this file and term/guard.h know everything that
 * must be undone.
 *
 * ncurses does not check widths: a wide character that does not fit its row would wrap into the
 * next. So each row is built here, column by column, from cells that are known to fit, and passed
 * to ncurses whole. */
#define NCURSES_WIDECHAR 1
#include "term/term.h"

#include "base/io.h"
#include "base/mem.h"
#include "term/guard.h"
#include "term/look.h"

#include <curses.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <term.h>
#include <termios.h>
#include <unistd.h>
#include <wchar.h>

/* modes that terminfo has no capability for; see term.h */
#define PASTE_ON "\033[?2004h"
#define PASTE_OFF "\033[?2004l"
#define MOUSE_ON "\033[?1002h\033[?1006h" /* 1002: drags too */
#define MOUSE_OFF "\033[?1006l\033[?1002l"

static struct {
	bool open, released, ansi, redraw;
	struct term_look look;
	int in, out;
	bool in_is_ours, out_is_ours; /* opened here, to be closed */
	FILE *in_file, *out_file;
	SCREEN *screen;
	struct termios before;
	int cursor; /* curs_set */
	attr_t attrs[ROLE_COUNT];
	short pairs[ROLE_COUNT];
	cchar_t *row; /* scratch */
	struct spot *shown; /* what the window has: rows that are the same are not set again */
	int shown_rows, shown_cols;
	char *terminfo_out; /* where collect() writes */
	size_t terminfo_n;
} t;

static const char *terminal_type(void)
{
	const char *type = getenv("TERM");

	return type && type[0] ? type : NULL;
}

int term_colours(void)
{
	int ok, n = 0;

	if (!terminal_type() || setupterm(NULL, STDOUT_FILENO, &ok) != OK)
		return 0;
	n = tigetnum("colors");
	del_curterm(cur_term);
	/* direct colour: numbers above 7 are RGB values there, only the first 8 are indexed */
	return n < 8 ? 0 : n > 256 ? 8 : n;
}

/* Checks TERM without touching the terminal, for a better error than newterm's NULL. On success
 * terminfo is loaded (cur_term). */
static int load_terminfo(struct err *err)
{
	const char *type = terminal_type();
	const char *move_cursor, *erase_all;
	int ok;

	if (!type)
		return err_set(err, "TERM is not set, so the kind of terminal is unknown; set it, "
				    "or use `gavel show'");
	if (setupterm(NULL, t.out, &ok) != OK) {
		if (ok < 0)
			return err_set(err, "no terminfo database was found; install ncurses-base, "
					    "or use `gavel show'");
		return err_set(err, "the terminal \"%.60s\" is unknown or too simple; set TERM, or "
				    "use `gavel show'", type);
	}
	move_cursor = tigetstr("cup");
	erase_all = tigetstr("clear");
	ok = move_cursor && move_cursor != (char *)-1 && erase_all && erase_all != (char *)-1;
	t.ansi = ok && strncmp(move_cursor, "\033[", 2) == 0;
	if (ok)
		return 0;
	del_curterm(cur_term);
	return err_set(err, "a \"%.60s\" terminal cannot move its cursor; set TERM, or use "
			    "`gavel show'", type);
}

static int open_descriptors(struct err *err)
{
	int tty = -1;

	t.in = STDIN_FILENO;
	t.out = STDOUT_FILENO;
	t.in_is_ours = t.out_is_ours = false;
	if (isatty(t.in) && isatty(t.out))
		return 0;
	tty = open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY);
	if (tty < 0)
		return err_set(err, "there is no terminal here; use `gavel show' or --headless");
	if (!isatty(t.in)) {
		t.in = tty;
		t.in_is_ours = true;
	}
	if (!isatty(t.out)) {
		t.out = t.in_is_ours ? fcntl(tty, F_DUPFD_CLOEXEC, 3) : tty;
		t.out_is_ours = true;
		if (t.out < 0)
			return err_set(err, "cannot open the terminal: %s", strerror(errno));
	}
	return 0;
}

static void close_descriptors(void)
{
	if (t.in_is_ours && t.in >= 0)
		close(t.in);
	if (t.out_is_ours && t.out >= 0)
		close(t.out);
	t.in = t.out = -1;
}

static void send_bytes(const char *s)
{
	fflush(t.out_file);
	io_write_all(t.out, str_of(s), NULL);
}

/* Output function for tputs. */
static int collect(int byte)
{
	if (t.terminfo_n < 1000)
		t.terminfo_out[t.terminfo_n++] = (char)byte;
	return byte;
}

/* Escape sequences that reset every mode that drawing may have set. */
static struct str restore_string(char room[1024])
{
	static const char *const parts[] = {
		"rmir", "smam", "sgr0", "op", "rmkx", "cnorm", "rmcup",
	};
	const char *modes = t.ansi ? MOUSE_OFF PASTE_OFF : "";
	bool other_screen = false;

	t.terminfo_out = room;
	t.terminfo_n = strlen(modes);
	memcpy(room, modes, t.terminfo_n);
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		const char *s = tigetstr(parts[i]);

		if (s && s != (char *)-1) {
			tputs(s, 1, collect);
			other_screen |= strcmp(parts[i], "rmcup") == 0;
		}
	}
	if (!other_screen) {
		collect('\r');
		collect('\n');
	}
	return str_make(room, t.terminfo_n);
}

static struct termios raw_modes(const struct termios *from)
{
	struct termios m = *from;

	m.c_iflag &= ~(tcflag_t)(IGNBRK | BRKINT | PARMRK | ISTRIP | INLCR | IGNCR | ICRNL | IXON);
	m.c_lflag &= ~(tcflag_t)(ECHO | ECHONL | ICANON | ISIG | IEXTEN);
	m.c_cflag &= ~(tcflag_t)(CSIZE | PARENB);
	m.c_cflag |= CS8;
	/* reads never block: poll comes first */
	m.c_cc[VMIN] = 0;
	m.c_cc[VTIME] = 0;
	return m;
}

/* Sets raw mode and registers the old and new modes with ncurses and the guard. */
static void set_raw_mode(void)
{
	struct termios ours = raw_modes(&t.before);

	guard_arm(&t.before, &ours);
	tcsetattr(t.in, TCSADRAIN, &ours);
	def_prog_mode();
	/* as the kernel reports them, for the guard's comparison */
	if (tcgetattr(t.in, &ours) == 0)
		guard_arm(&t.before, &ours);
}

/* Bracketed paste and mouse reports. */
static void enable_modes(void)
{
	if (!t.ansi)
		return;
	send_bytes(PASTE_ON);
	if (t.look.mouse)
		send_bytes(MOUSE_ON);
}

static short curses_colour(unsigned int colour, short if_default)
{
	if (colour == COLOUR_DEFAULT)
		return if_default;
	return (short)(colour >= COLOUR_256(0) ? colour - COLOUR_256(0) : colour);
}

/* Maps the theme's look of each role to curses attributes and a colour pair. */
static void set_role_attributes(void)
{
	const struct theme *theme = t.look.theme;
	bool defaults = true;
	int colours = 0;

	if (theme && has_colors() && start_color() == OK) {
		defaults = use_default_colors() == OK;
		colours = COLORS > 256 ? 8 : COLORS;
	}
	if (colours < 8 || COLOR_PAIRS <= ROLE_COUNT)
		theme = NULL;
	for (int role = 0; role < ROLE_COUNT; role++) {
		struct look look = theme ? look_fit(theme->look[role], colours) :
					   theme_mono.look[role];

		t.attrs[role] = (look.bits & LOOK_BOLD ? A_BOLD : A_NORMAL) |
				(look.bits & LOOK_FAINT ? A_DIM : A_NORMAL) |
				(look.bits & LOOK_UNDERLINE ? A_UNDERLINE : A_NORMAL) |
				(look.bits & LOOK_REVERSE ? A_REVERSE : A_NORMAL);
		t.pairs[role] = 0;
		if (!theme || (look.front == COLOUR_DEFAULT && look.back == COLOUR_DEFAULT))
			continue;
		t.pairs[role] = (short)(role + 1);
		init_pair(t.pairs[role], curses_colour(look.front, defaults ? -1 : COLOR_WHITE),
			  curses_colour(look.back, defaults ? -1 : COLOR_BLACK));
	}
}

/* Lets ncurses write a frame at a time. Until a screen has returned from endwin() once, ncurses
 * flushes after each move of the cursor, 50 to 100 times a frame. So the screen is ended into
 * /dev/null, where what newterm() has buffered goes too, and resumed on the terminal, for which
 * refresh() writes all that again. Before start_color(): after it, that would reset the palette. */
static void buffer_frames(void)
{
	int fd = fileno(t.out_file), null = open("/dev/null", O_WRONLY | O_CLOEXEC);

	if (null < 0)
		return;
	dup3(null, fd, O_CLOEXEC);
	endwin();
	dup3(t.out, fd, O_CLOEXEC);
	close(null);
	refresh();
}

/* newterm installs handlers for these; start_curses puts ours back. */
static const int curses_signals[] = { SIGINT, SIGTERM, SIGTSTP, SIGWINCH };

#define CURSES_SIGNALS (sizeof(curses_signals) / sizeof(curses_signals[0]))

static int start_curses(struct err *err)
{
	struct sigaction before[CURSES_SIGNALS];

	t.in_file = fdopen(fcntl(t.in, F_DUPFD_CLOEXEC, 3), "r");
	t.out_file = fdopen(fcntl(t.out, F_DUPFD_CLOEXEC, 3), "w");
	if (!t.in_file || !t.out_file)
		return err_set(err, "cannot open the terminal: %s", strerror(errno));
	for (size_t i = 0; i < CURSES_SIGNALS; i++)
		sigaction(curses_signals[i], NULL, &before[i]);
	use_env(FALSE);
	use_tioctl(TRUE);
	t.screen = newterm(NULL, t.out_file, t.in_file);
	for (size_t i = 0; i < CURSES_SIGNALS; i++)
		sigaction(curses_signals[i], &before[i], NULL);
	if (!t.screen)
		return err_set(err, "the terminal \"%.60s\" cannot be used; set TERM, or use "
				    "`gavel show'", terminal_type());
	set_term(t.screen);
	typeahead(-1); /* keys are not read by ncurses: looking for them would be a poll for each row */
	return 0;
}

static void stop_curses(void)
{
	if (t.screen)
		delscreen(t.screen);
	if (t.in_file)
		fclose(t.in_file);
	if (t.out_file)
		fclose(t.out_file);
	t.screen = NULL;
	t.in_file = t.out_file = NULL;
	free(t.row);
	free(t.shown);
	t.row = NULL;
	t.shown = NULL;
	t.shown_rows = t.shown_cols = 0;
}

/* Creates a new SCREEN each time: returning from endwin() would make ncurses reset the palette
 * (OSC 104), which it never changed. */
static int acquire_terminal(struct err *err)
{
	if (tcgetattr(t.in, &t.before) != 0)
		return err_set(err, "cannot ask the terminal for its modes: %s", strerror(errno));
	guard_arm(&t.before, &t.before);
	if (start_curses(err)) {
		stop_curses();
		guard_disarm();
		return -1;
	}
	set_raw_mode();
	buffer_frames();
	set_role_attributes();
	enable_modes();
	t.cursor = -1;
	t.redraw = true;
	t.released = false;
	return 0;
}

int term_open(const struct term_look *look, struct err *err)
{
	static bool at_exit;
	char restore[1024];

	if (t.open)
		BUG("the terminal is open already");
	t.look = *look;
	if (open_descriptors(err) || load_terminfo(err))
		goto fail;
	guard_open(t.out, restore_string(restore));
	del_curterm(cur_term);
	if (acquire_terminal(err)) {
		guard_close();
		goto fail;
	}
	if (!at_exit)
		atexit(term_close);
	at_exit = true;
	t.open = true;
	return 0;
fail:
	close_descriptors();
	return -1;
}

void term_release_screen(void)
{
	if (!t.open || t.released)
		return;
	t.released = true;
	/* already restored by the guard, or a forked child: nothing to undo */
	if (guard_is_armed()) {
		if (t.ansi)
			send_bytes(MOUSE_OFF PASTE_OFF);
		curs_set(1);
		endwin();
		tcsetattr(t.in, TCSADRAIN, &t.before);
		guard_disarm();
	}
	stop_curses();
}

int term_acquire_screen(struct err *err)
{
	if (!t.open || !t.released)
		BUG("the terminal was not released");
	return acquire_terminal(err);
}

void term_close(void)
{
	if (!t.open)
		return;
	term_release_screen();
	guard_close();
	t.open = false;
	close_descriptors();
}

int term_suspend(struct err *err)
{
	struct sigaction before, stop = { .sa_handler = SIG_DFL };
	sigset_t set, mask;

	if (!t.open || t.released)
		return 0;
	term_release_screen();
	sigaction(SIGTSTP, &stop, &before);
	sigemptyset(&set);
	sigaddset(&set, SIGTSTP);
	pthread_sigmask(SIG_UNBLOCK, &set, &mask);
	kill(0, SIGTSTP);
	/* stopped here until SIGCONT */
	pthread_sigmask(SIG_SETMASK, &mask, NULL);
	sigaction(SIGTSTP, &before, NULL);
	return term_acquire_screen(err);
}

int term_fd(void)
{
	return t.in;
}

int term_read(char *bytes, int room)
{
	struct pollfd p = { .fd = t.in, .events = POLLIN };
	ssize_t n;

	if (!t.open || t.released || room <= 0)
		return 0;
	if (poll(&p, 1, 0) <= 0)
		return 0;
	n = p.revents & POLLNVAL ? -1 : read(t.in, bytes, (size_t)room);
	if (n > 0)
		return (int)n;
	if (n < 0 && (errno == EINTR || errno == EAGAIN) && !(p.revents & POLLNVAL))
		return 0;
	return n < 0 || (p.revents & (POLLHUP | POLLERR)) ? -1 : 0;
}

void term_size(int *rows, int *cols)
{
	struct winsize size = { 0 };

	if (t.out < 0 || ioctl(t.out, TIOCGWINSZ, &size) != 0)
		size = (struct winsize){ 0 };
	*rows = size.ws_row ? size.ws_row : 24;
	*cols = size.ws_col ? size.ws_col : 80;
	if (*cols > GRID_MAX_COLS)
		*cols = GRID_MAX_COLS;
	if (*rows > GRID_MAX_SPOTS / *cols)
		*rows = GRID_MAX_SPOTS / *cols;
}

static void set_size(void)
{
	int rows, cols;

	term_size(&rows, &cols);
	if (rows == LINES && cols == COLS)
		return;
	resize_term(rows, cols);
	t.redraw = true;
}

static void set_cchar(cchar_t *out, const struct spot *spot, const wchar_t *text)
{
	setcchar(out, text, t.attrs[spot->role], t.pairs[spot->role], NULL);
}

/* Converts a spot; cols: columns left in the row. Returns the number of cchar_t written. */
static int put_spot(cchar_t *out, const struct spot *spot, int cols)
{
	const struct cell *c = &spot->cell;
	wchar_t text[4] = { (wchar_t)c->base, (wchar_t)c->mark[0], (wchar_t)c->mark[1], 0 };

	if (c->base >= 0x20 && c->base < 0x7f && !c->mark[0] && c->width == 1) {
		set_cchar(out, spot, text);
		return 1;
	}
	if (c->width > cols) {
		set_cchar(out, spot, L">");
		return 1;
	}
	/* wcwidth disagrees with the grid: ncurses would misplace what follows */
	if (t.look.ascii || wcwidth((wchar_t)c->base) != c->width ||
	    (c->mark[0] && wcwidth(text[1]) != 0) || (c->mark[1] && wcwidth(text[2]) != 0)) {
		for (int i = 0; i < c->width; i++)
			set_cchar(out + i, spot, L"?");
		return c->width;
	}
	set_cchar(out, spot, text);
	return 1;
}

/* Whether the window has this row already; remembers it. Differing padding costs a row drawn in
 * vain, nothing else. */
static bool is_shown(const struct grid *g, int row, int cols)
{
	struct spot *shown = t.shown + (size_t)row * (size_t)cols;
	const struct spot *now = grid_at(g, row, 0);
	size_t n = (size_t)cols * sizeof(*now);

	if (!t.redraw && memcmp(shown, now, n) == 0)
		return true;
	memcpy(shown, now, n);
	return false;
}

static void show_row(const struct grid *g, int row, int cols)
{
	int n = 0;

	if (is_shown(g, row, cols))
		return;
	for (int col = 0; col < cols; col++) {
		const struct spot *spot = grid_at(g, row, col);

		if (spot->cell.width > 0)
			n += put_spot(t.row + n, spot, cols - col);
	}
	mvadd_wchnstr(row, 0, t.row, n);
}

static void show_cursor(const struct grid *g, int row, int col)
{
	bool on = row >= 0 && row < g->rows && row < LINES && col >= 0 && col < COLS;

	if (on)
		move(row, col);
	leaveok(stdscr, !on);
	if (t.cursor != on)
		curs_set(on);
	t.cursor = on;
}

static void keep_room(int rows, int cols)
{
	if (t.shown_rows == rows && t.shown_cols == cols)
		return;
	t.row = xrealloc(t.row, (size_t)cols * sizeof(*t.row));
	free(t.shown);
	t.shown = xcalloc((size_t)rows * (size_t)cols, sizeof(*t.shown));
	t.shown_rows = rows;
	t.shown_cols = cols;
	t.redraw = true;
	erase();
}

void term_show(const struct grid *g, int cursor_row, int cursor_col)
{
	int rows, cols;

	if (!t.open || t.released)
		return;
	set_size();
	rows = g->rows < LINES ? g->rows : LINES;
	cols = g->cols < COLS ? g->cols : COLS;
	keep_room(rows, cols);
	if (t.redraw) {
		set_raw_mode();
		enable_modes();
		clearok(curscr, TRUE);
		t.cursor = -1;
	}
	for (int row = 0; row < rows; row++)
		show_row(g, row, cols);
	t.redraw = false;
	show_cursor(g, cursor_row, cursor_col);
	refresh();
}

void term_redraw(void)
{
	t.redraw = true;
}

void term_theme(const struct theme *theme)
{
	if (!t.open || t.released)
		return;
	t.look.theme = theme;
	set_role_attributes();
	t.redraw = true;
}

void term_notice(unsigned kinds)
{
	static const char osc9[] = "\033]9;gavel: something waits for you\007";
	static const char osc777[] = "\033]777;notify;gavel;something waits for you\007";

	if (!t.open || t.released)
		return;
	if (kinds & NOTICE_BELL)
		beep();
	if (kinds & NOTICE_OSC9)
		fputs(osc9, t.out_file);
	if (kinds & NOTICE_OSC777)
		fputs(osc777, t.out_file);
	fflush(t.out_file);
}

void term_copy(struct str text)
{
	struct buf sequence = { 0 };

	if (!t.open || t.released || !t.ansi)
		return;
	buf_adds(&sequence, "\033]52;c;");
	buf_add_base64(&sequence, text);
	buf_addc(&sequence, '\007');
	fwrite(sequence.p, 1, sequence.n, t.out_file);
	fflush(t.out_file);
	buf_release(&sequence);
}
