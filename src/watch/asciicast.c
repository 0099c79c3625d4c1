/* Encodes grids as asciicast v2 output events, changed rows only. */
#include "watch/asciicast.h"

#include "json/compose.h"
#include "draw/paint.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int cast_open(struct cast *c, const char *file, int rows, int cols, struct str title, bool ascii,
	      struct err *err)
{
	struct buf line = { 0 };

	*c = (struct cast){ .file = file, .row_count = rows, .ascii = ascii };
	c->f = fopen(file, "w");
	if (!c->f)
		return err_set(err, "%s: %s", file, strerror(errno));
	c->rows = xcalloc((size_t)rows, sizeof(*c->rows));
	buf_addc(&line, '{');
	json_put_number(&line, "version", 2);
	json_put_number(&line, "width", (uint64_t)cols);
	json_put_number(&line, "height", (uint64_t)rows);
	json_put_str(&line, "title", title);
	json_key(&line, "env");
	buf_adds(&line, "{\"TERM\":\"xterm-256color\"}}\n");
	fwrite(line.p, 1, line.n, c->f);
	buf_release(&line);
	return 0;
}

static void add_event(struct cast *c, int64_t at_ms, struct str bytes)
{
	struct buf line = { 0 };

	buf_printf(&line, "[%lld.%03lld, \"o\", ", (long long)(at_ms / 1000),
		   (long long)(at_ms % 1000));
	json_write_str(&line, bytes);
	buf_adds(&line, "]\n");
	fwrite(line.p, 1, line.n, c->f);
	buf_release(&line);
}

void cast_frame(struct cast *c, const struct grid *g, int64_t at_ms)
{
	struct buf out = { 0 }, row = { 0 };

	for (int i = 0; i < c->row_count && i < g->rows; i++) {
		buf_clear(&row);
		paint_row(g, i, &theme_dark_256, c->ascii, &row);
		if (c->frames && str_eq(buf_str(&row), buf_str(&c->rows[i])))
			continue;
		if (!c->frames && !out.n)
			buf_adds(&out, "\033[?25l\033[2J");
		buf_printf(&out, "\033[%d;1H", i + 1);
		buf_add_str(&out, buf_str(&row));
		buf_adds(&out, "\033[0m\033[K");
		buf_clear(&c->rows[i]);
		buf_add_str(&c->rows[i], buf_str(&row));
	}
	if (out.n) {
		add_event(c, at_ms, buf_str(&out));
		c->frames++;
	}
	c->last_ms = at_ms;
	buf_release(&out);
	buf_release(&row);
}

int cast_close(struct cast *c, struct err *err)
{
	bool failed;

	if (!c->f)
		return 0;
	add_event(c, c->last_ms, STR("\033[?25h\r\n"));
	failed = ferror(c->f);
	if (fclose(c->f))
		failed = true;
	c->f = NULL;
	for (int i = 0; i < c->row_count; i++)
		buf_release(&c->rows[i]);
	free(c->rows);
	return failed ? err_set(err, "%s: %s", c->file, strerror(errno)) : 0;
}
