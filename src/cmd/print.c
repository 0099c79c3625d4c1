/* Prints views: draws each row into a grid of one row, and paints that as text. */
#include "cmd/print.h"

#include "draw/paint.h"

#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { WRITE_BYTES = 64 * 1024 };

static bool use_color(const struct options *o)
{
	const char *no_color = getenv("NO_COLOR"), *term = getenv("TERM");

	if (o->color != COLOR_AUTO)
		return o->color == COLOR_ALWAYS;
	return isatty(STDOUT_FILENO) && !(no_color && *no_color) &&
	       !(term && strcmp(term, "dumb") == 0);
}

static int width_of(const struct options *o)
{
	struct winsize size;
	const char *columns = getenv("COLUMNS");
	uint64_t n;

	if (o->cols)
		return o->cols;
	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col)
		return size.ws_col;
	if (columns && str_to_u64(str_of(columns), &n) && n > 0 && n <= GRID_MAX_COLS)
		return (int)n;
	return 100;
}

void printer_open(struct printer *p, const struct options *o)
{
	*p = (struct printer){ .theme = use_color(o) ? &theme_dark : NULL, .ascii = o->ascii,
			     .cols = width_of(o) };
	p->g = grid_new(1, p->cols, o->ascii);
}

void printer_write(struct printer *p)
{
	say_own(buf_str(&p->out));
	buf_clear(&p->out);
}

void printer_close(struct printer *p)
{
	printer_write(p);
	buf_release(&p->out);
	grid_free(p->g);
}

static void paint(struct printer *p)
{
	paint_grid(p->g, p->theme, p->ascii, &p->out);
	grid_clear(p->g);
	if (p->out.n > WRITE_BYTES)
		printer_write(p);
}

void printer_heading(struct printer *p, const struct view_ops *view, const struct scene *s,
		   const struct lines *lines)
{
	view->heading(s, lines, p->g, grid_rect(p->g));
	paint(p);
}

void printer_row(struct printer *p, const struct view_ops *view, const struct scene *s,
	       const struct lines *lines, uint32_t i)
{
	view->draw(s, lines, i, p->g, grid_rect(p->g));
	paint(p);
}

int print_trouble(const char *format, ...)
{
	struct buf sentence = { 0 };
	va_list ap;

	va_start(ap, format);
	buf_vprintf(&sentence, format, ap);
	va_end(ap);
	say_error("%s", sentence.n ? sentence.p : "");
	buf_release(&sentence);
	return EXIT_TROUBLE;
}

void print_text(struct buf *b)
{
	say_text(buf_str(b));
	buf_release(b);
}

void print_json(struct buf *b)
{
	say_json(buf_str(b));
	buf_release(b);
}

void printer_note(struct printer *p, const char *words)
{
	grid_put(p->g, grid_rect(p->g), ROLE_DIM, words);
	paint(p);
}
