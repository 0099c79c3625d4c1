/* Prose: text wrapped into lines, and the sections that views share: the diagnostics of a message,
 * and the message itself, pretty-printed or raw. Too long text is truncated with a note. */
#include "view/view_parts.h"

#include <stdlib.h>

enum {
	PRETTY_LINES_MAX = 5000,
	PROBLEMS_MAX = 500, /* a message with more of them is not read one by one */
	INSIDE_TRIES_MAX = 16,
	HANG_COLS = 4, /* how much deeper wrapped JSON goes on */
};

static void add_passage(struct prose *p, struct passage passage)
{
	p->list = lines_grow(p->out, p->list, p->n, &p->cap, sizeof(*p->list));
	p->list[p->n] = passage;
	line_add(p->out, LINE_TEXT, p->n++, 0);
}

/* Rows after the first are indented by `hang` more. The text must last. */
static void add_wrapped(struct prose *p, struct passage passage, int hang, struct str text,
			enum text_mode mode)
{
	int cols = p->out->cols - passage.indent - hang;
	bool first = true;
	uint32_t n;

	p->hidden |= cells_hidden(raw_of(text));
	passage.at = wrap_start(raw_of(text), mode, p->s->ascii, cols > 0 ? (uint32_t)cols : 1);
	for (struct wrap next = passage.at;
	     p->n < PROSE_LINES_MAX && wrap_next(&next, p->row, &n);) {
		add_passage(p, passage);
		passage.indent += first ? hang : 0;
		passage.label = NULL;
		passage.at = next;
		first = false;
	}
}

void *prose_start(const struct scene *s, int cols, struct lines *out, size_t size)
{
	struct prose *p = arena_zalloc(&out->arena, size);

	out->own = p;
	out->cols = cols < 1 ? 1 : cols;
	*p = (struct prose){ .s = s, .out = out };
	p->row = xcalloc((size_t)out->cols, sizeof(*p->row));
	return p;
}

static void add_cut_note(struct prose *p, struct str words)
{
	add_passage(p, (struct passage){ .role = ROLE_WARN,
					 .at = wrap_start(raw_of(words), TEXT_LABEL, p->s->ascii,
							  (uint32_t)p->out->cols) });
}

void prose_end(struct prose *p)
{
	if (p->n >= PROSE_LINES_MAX)
		add_cut_note(p, STR("… cut here: too long to be shown whole"));
	free(p->row);
	p->row = NULL;
	p->s = NULL;
	p->out = NULL;
}

void prose_section(struct prose *p, enum section section, uint32_t message)
{
	if (p->out->list.n)
		line_add(p->out, LINE_BLANK, 0, 0);
	line_add(p->out, LINE_SECTION, section, message);
}

void prose_add(struct prose *p, const char *label, int indent, enum role role, struct str text,
	       enum text_mode mode)
{
	add_wrapped(p, (struct passage){ .label = label, .role = role, .indent = indent }, 0,
		    arena_str(&p->out->arena, text), mode);
}

void prose_hint(struct prose *p, const char *label, int indent, enum role role, const char *text)
{
	struct buf expanded = { 0 };

	keymap_text(p->s->keymap, text, &expanded);
	prose_add(p, label, indent, role, buf_str(&expanded), TEXT_LINE);
	buf_release(&expanded);
}

void prose_line(struct prose *p, enum role role, int indent, int hang, struct str text)
{
	struct passage passage = { .role = role, .indent = indent };
	uint32_t before = p->n;

	add_wrapped(p, passage, hang, text, TEXT_LINE);
	if (p->n > before || p->n >= PROSE_LINES_MAX)
		return;
	passage.at = wrap_start(raw_of(STR_NONE), TEXT_LINE, p->s->ascii, 1);
	add_passage(p, passage);
}

/* Lines that keep their indentation when wrapped. */
static void add_lines(struct prose *p, struct str text, int from, int hang)
{
	struct str rest = arena_str(&p->out->arena, text);

	while (rest.n && p->n < PROSE_LINES_MAX) {
		ptrdiff_t end = str_find(rest, STR("\n"), 0);
		struct str line = end < 0 ? rest : str_make(rest.p, (size_t)end);
		int indent = from;

		rest = end < 0 ? STR_NONE : str_from(rest, (size_t)end + 1);
		while (line.n && line.p[0] == ' ' && indent < p->out->cols / 2) {
			line = str_from(line, 1);
			indent++;
		}
		prose_line(p, ROLE_NORMAL, indent, hang, line);
	}
}

void prose_json(struct prose *p, int indent, yyjson_val *root)
{
	struct buf text = { 0 };
	unsigned lines = 0;

	json_write_pretty(&text, root, PRETTY_LINES_MAX);
	add_lines(p, buf_str(&text), indent, p->out->cols < 40 ? 0 : HANG_COLS);
	for (size_t i = 0; i < text.n; i++)
		lines += text.p[i] == '\n';
	if (lines + 1 >= PRETTY_LINES_MAX)
		add_cut_note(p, STR("… cut here: the raw message has the rest"));
	buf_release(&text);
}

void prose_problems(struct prose *p, uint32_t message)
{
	const struct reader *reader = p->s->reader;
	const struct diags *diags = reader->diags(reader->ctx, message);
	struct buf text = { 0 };
	bool narrow = p->out->cols < 40;
	unsigned total;

	if (!diags || !diags->list.n)
		return;
	total = diags->count[SEVERITY_NOTE] + diags->count[SEVERITY_WARNING] +
		diags->count[SEVERITY_ERROR];
	prose_section(p, SECTION_PROBLEMS, message);
	for (uint32_t i = 0; i < diags->list.n && i < PROBLEMS_MAX; i++) {
		const struct diag *d = &diags->list.v[i];
		const struct mark *mark = &problem_marks[d->severity];

		buf_clear(&text);
		if (d->pointer.n) {
			buf_add_str(&text, d->pointer);
			buf_adds(&text, ": ");
		}
		buf_add_str(&text, d->text);
		buf_printf(&text, " [%s]", d->rule);
		prose_add(p, narrow ? mark->letter : mark->word, narrow ? 2 : 9, mark->role,
			  buf_str(&text), TEXT_LINE);
	}
	if (diags->list.n > PROBLEMS_MAX) {
		buf_clear(&text);
		buf_printf(&text, "… and %u more; gavel check lists them all",
			   total - PROBLEMS_MAX);
		prose_add(p, NULL, 0, ROLE_WARN, buf_str(&text), TEXT_LABEL);
	}
	buf_release(&text);
}

/* A JSON object inside the message's text: some agents send their responses that way. */
static void add_inside(struct prose *p, uint32_t message, struct str text)
{
	struct json_reader reader = { 0 };
	yyjson_val *root = NULL;
	struct str span;
	size_t at = 0, budget = text.n * 4 + 4096;

	for (int tries = 0; !root && tries < INSIDE_TRIES_MAX &&
			    json_next_object(text, &at, &span, &budget);
	     tries++)
		json_read(&reader, span, &root);
	if (root) {
		prose_section(p, SECTION_INSIDE, message);
		prose_json(p, 0, root);
	}
	json_reader_release(&reader);
}

static yyjson_val *parse(const struct reader *from, uint32_t message, struct json_reader *room)
{
	yyjson_val *root = NULL;

	if (from->parsed)
		return from->parsed(from->ctx, message);
	json_read(room, from->bytes(from->ctx, message), &root);
	return root;
}

void prose_message(struct prose *p, uint32_t message)
{
	const struct reader *from = p->s->reader;
	struct json_reader reader = { 0 };
	yyjson_val *root = p->s->raw ? NULL : parse(from, message, &reader);

	if (root)
		add_inside(p, message, json_get_str(json_get(root, "part"), "text"));
	prose_section(p, p->s->raw ? SECTION_RAW : SECTION_MESSAGE, message);
	if (root)
		prose_json(p, 0, root);
	else
		add_lines(p, from->bytes(from->ctx, message), 0, 0);
	json_reader_release(&reader);
}

/* ---- drawing ---- */

static void draw_section(const struct scene *s, const struct line *line, struct pen p)
{
	static const char *const title[] = {
		[SECTION_HISTORY] = "History",           [SECTION_PROBLEMS] = "Problems",
		[SECTION_INSIDE] = "Inside the text of", [SECTION_MESSAGE] = "Message",
		[SECTION_RAW] = "Message as it came,",
	};

	pen_put(&p, ROLE_ACCENT, title[line->a]);
	if (line->b != NONE) {
		pen_printf(&p, ROLE_DIM, " line %u of ", message_line(s->model, line->b));
		pen_id(&p, ROLE_DIM, s->reader->source(s->reader->ctx, line->b));
	}
	pen_put(&p, ROLE_BORDER, " ");
	grid_fill(p.g, p.rest, ROLE_BORDER, "─");
}

static void draw_passage(const struct passage *t, struct pen p)
{
	struct wrap w = t->at;
	struct rect row = p.rest;

	if (t->label)
		grid_put(p.g, rect_in(row, 0, 0, 1, t->indent - 1), ROLE_DIM, t->label);
	grid_wrap(p.g, rect_in(row, 0, t->indent, 1, row.cols - t->indent), t->role, &w);
}

bool prose_draw(const struct scene *s, const struct prose *p, const struct line *line,
		struct pen pen)
{
	switch (line->what) {
	case LINE_BLANK: return true;
	case LINE_SECTION: draw_section(s, line, pen); return true;
	case LINE_TEXT: draw_passage(&p->list[line->a], pen); return true;
	}
	return false;
}
