/* One item, whole: who says it and what became of it, what it says field by field, what is wrong
 * with its message, what happened to it message by message, and the message itself.
 *
 * Texts are wrapped when the lines are made: each text line keeps the bookmark its row starts at,
 * so a row in the middle of a long message costs no more than the first. */
#include "ui/view_parts.h"

#include <stdio.h>
#include <stdlib.h>

enum {
	LABEL_MAX = 14,
	PRETTY_LINES_MAX = 5000,
	ROWS_MAX = 50000,
};

enum what {
	ROW_BLANK,
	ROW_NAME,    /* the id and the verdict */
	ROW_FACTS,   /* what kind of thing it is */
	ROW_ORIGIN,  /* who, where */
	ROW_SECTION, /* a: enum section, b: message or count */
	ROW_TEXT,    /* a: number of the passage */
	ROW_STEP,    /* a: number of the step */
	ROW_EXPIRED,
};

enum section {
	SECTION_HISTORY,
	SECTION_PROBLEMS,
	SECTION_MESSAGE,
	SECTION_INSIDE,
};

/* One row of wrapped text. */
struct passage {
	const char *label; /* in front of the first row only */
	struct wrap at;
	enum role role;
	int indent;
};

struct own {
	struct item_state at;
	struct passage *passages;
	uint32_t n, cap;
	struct cell *row; /* scratch while wrapping */
	bool hidden;      /* some text holds characters that no terminal would show */
};

/* ---- making ---- */

static void add_passage(struct lines *out, struct passage p)
{
	struct own *own = out->own;

	if (own->n == own->cap) {
		struct passage *grown;

		own->cap = own->cap ? own->cap * 2 : 64;
		grown = arena_alloc(&out->arena, own->cap * sizeof(*grown));
		if (own->n)
			memcpy(grown, own->passages, own->n * sizeof(*grown));
		own->passages = grown;
	}
	own->passages[own->n] = p;
	line_add(out, ROW_TEXT, own->n++, 0);
}

/* Wraps a text into lines of their own; all but the first hang deeper. The text must last. */
static void add_wrapped(const struct scene *s, struct lines *out, struct passage p, int hang,
			struct str text, enum text_mode mode)
{
	struct own *own = out->own;
	int cols = out->cols - p.indent - hang > 0 ? out->cols - p.indent - hang : 1;
	uint32_t n;

	own->hidden |= cells_hidden(raw_of(text));
	p.at = wrap_start(raw_of(text), mode, s->ascii, (uint32_t)cols);
	for (struct wrap next = p.at; wrap_next(&next, own->row, &n) && own->n < ROWS_MAX;) {
		add_passage(out, p);
		p.indent += p.at.it.rest.p == text.p ? hang : 0;
		p.label = NULL;
		p.at = next;
	}
}

/* The text is copied: what a reader lends does not last. */
static void add_prose(const struct scene *s, struct lines *out, const char *label, int indent,
		      enum role role, struct str text, enum text_mode mode)
{
	add_wrapped(s, out, (struct passage){ .label = label, .role = role, .indent = indent }, 0,
		    arena_str(&out->arena, text), mode);
}

/* Lines that keep their indentation when they are wrapped. */
static void add_pretty(const struct scene *s, struct lines *out, struct str text)
{
	struct str rest = arena_str(&out->arena, text);

	while (rest.n) {
		ptrdiff_t end = str_find(rest, STR("\n"), 0);
		struct str line = end < 0 ? rest : str_make(rest.p, (size_t)end);
		int indent = 0;

		rest = end < 0 ? STR_NONE : str_from(rest, (size_t)end + 1);
		while (line.n && line.p[0] == ' ' && indent < out->cols / 2) {
			line = str_from(line, 1);
			indent++;
		}
		add_wrapped(s, out, (struct passage){ .role = ROLE_NORMAL, .indent = indent },
			    out->cols < 40 ? 0 : 4, line, TEXT_LINE);
	}
}

static void add_section(struct lines *out, enum section section, uint32_t number)
{
	line_add(out, ROW_BLANK, 0, 0);
	line_add(out, ROW_SECTION, section, number);
}

static bool title_is_a_field(const struct detail *d)
{
	for (unsigned i = 0; i < d->n; i++)
		if (str_eq(d->field[i].text, d->title))
			return true;
	return false;
}

static void add_fields(const struct scene *s, struct lines *out, const struct item *item)
{
	const struct own *own = out->own;
	struct detail d;
	int indent = 0;

	if (!s->reader->detail(s->reader->ctx, item, &own->at, &d)) {
		add_prose(s, out, NULL, 0, ROLE_NORMAL,
			  s->reader->summary(s->reader->ctx, own->at.message), TEXT_LINES);
		return;
	}
	for (unsigned i = 0; i < d.n; i++)
		if ((int)strlen(d.field[i].label) > indent)
			indent = (int)strlen(d.field[i].label);
	indent = (indent > LABEL_MAX ? LABEL_MAX : indent) + 2;
	if (indent > out->cols / 3)
		indent = out->cols / 3;
	if (d.title.n && !title_is_a_field(&d))
		add_prose(s, out, NULL, 0, ROLE_KEY, d.title, TEXT_LINES);
	for (unsigned i = 0; i < d.n; i++) {
		const struct detail_field *f = &d.field[i];

		add_prose(s, out, f->label, indent,
			  str_eq(f->text, d.title) ? ROLE_KEY : ROLE_NORMAL, f->text,
			  f->id_like ? TEXT_ID : TEXT_LINES);
	}
}

/* The newest first: that is where one looks. */
static void add_history(const struct scene *s, struct lines *out, const struct item *item)
{
	const struct own *own = out->own;
	uint32_t n = 0;

	while (n < item->n && item->steps[n].message < s->k)
		n++;
	add_section(out, SECTION_HISTORY, n);
	if (own->at.verdict == VERDICT_EXPIRED)
		line_add(out, ROW_EXPIRED, 0, 0);
	while (n-- > 0)
		line_add(out, ROW_STEP, n, 0);
}

static void add_problems(const struct scene *s, struct lines *out)
{
	const struct own *own = out->own;
	const struct diags *diags = s->reader->diags(s->reader->ctx, own->at.message);
	struct buf text = { 0 };

	if (!diags || !diags->list.n)
		return;
	add_section(out, SECTION_PROBLEMS, own->at.message);
	for (uint32_t i = 0; i < diags->list.n; i++) {
		const struct diag *d = &diags->list.v[i];
		const struct mark *mark = mark_of_problem(d->severity);

		buf_clear(&text);
		if (d->pointer.n) {
			buf_add_str(&text, d->pointer);
			buf_adds(&text, ": ");
		}
		buf_add_str(&text, d->text);
		buf_printf(&text, " [%s]", d->rule);
		add_prose(s, out, mark->word, out->cols < 60 ? 2 : 9, mark->role, buf_str(&text),
			  TEXT_LINE);
	}
	buf_release(&text);
}

/* An object inside the message's text, for those who send their responses that way. */
static void add_inside(const struct scene *s, struct lines *out, struct str prose)
{
	const struct own *own = out->own;
	struct json_reader reader = { 0 };
	struct buf text = { 0 };
	yyjson_val *root = NULL;
	struct str span;
	size_t at = 0;

	for (int tries = 0; !root && tries < 16 && json_next_object(prose, &at, &span); tries++)
		json_read(&reader, span, &root);
	if (root) {
		json_write_pretty(&text, root, PRETTY_LINES_MAX);
		add_section(out, SECTION_INSIDE, own->at.message);
		add_pretty(s, out, buf_str(&text));
	}
	json_reader_release(&reader);
	buf_release(&text);
}

/* The message as JSON with one member a line, or as it is when it is none. */
static void add_message(const struct scene *s, struct lines *out)
{
	const struct own *own = out->own;
	struct str bytes = s->reader->bytes(s->reader->ctx, own->at.message);
	struct json_reader reader = { 0 };
	struct buf text = { 0 };
	yyjson_val *root = NULL;

	json_read(&reader, bytes, &root);
	if (root) {
		json_write_pretty(&text, root, PRETTY_LINES_MAX);
		add_inside(s, out, json_get_str(json_get(root, "part"), "text"));
	} else {
		buf_add_str(&text, bytes);
	}
	add_section(out, SECTION_MESSAGE, own->at.message);
	add_pretty(s, out, buf_str(&text));
	json_reader_release(&reader);
	buf_release(&text);
}

static void item_make(const struct scene *s, int cols, struct lines *out)
{
	const struct item *item;
	struct own *own;

	out->cols = cols < 1 ? 1 : cols;
	if (s->item >= s->model->items.n)
		return;
	item = &s->model->items.v[s->item];
	own = arena_zalloc(&out->arena, sizeof(*own));
	if (!item_at(s->model, item, s->k, s->now_ms, &own->at))
		return;
	out->own = own;
	own->row = xcalloc((size_t)out->cols, sizeof(*own->row));
	line_add(out, ROW_NAME, 0, 0);
	line_add(out, ROW_FACTS, 0, 0);
	line_add(out, ROW_ORIGIN, 0, 0);
	line_add(out, ROW_BLANK, 0, 0);
	add_fields(s, out, item);
	add_history(s, out, item);
	add_problems(s, out);
	add_message(s, out);
	free(own->row);
	own->row = NULL;
}

/* ---- drawing ---- */

/* The id at the left, what became of it at the right; a long id gives way. */
static void draw_name(const struct scene *s, const struct item *item, const struct item_state *at,
		      struct pen p)
{
	const struct mark *mark = mark_of_verdict(at->verdict);
	struct buf name = { 0 };
	struct rect row = p.rest;
	char state[64];
	int width;

	snprintf(state, sizeof(state), "%s %s%s", mark->glyph, mark->word,
		 at->bounced ? ", bounced"
		 : at->acked ? ", acknowledged"
			     : "");
	width = (int)cells_width(raw_of(str_of(state)), TEXT_LABEL, p.g->ascii, 64);
	put_right(p.g, row, mark->role, state);
	p.rest.cols = row.cols - width - 1;
	if (p.rest.cols < 1)
		return;
	item_name(s->model, item, &name);
	pen_id(&p, ROLE_ID, buf_str(&name));
	buf_release(&name);
}

static void draw_facts(const struct scene *s, const struct item *item, const struct own *own,
		       struct pen p)
{
	const struct item_state *at = &own->at;
	enum dialect_id dialect = s->model->records.v[at->message].dialect;
	char clock[32];
	enum role role;

	if (own->hidden) {
		pen_put(&p, ROLE_BADGE, "HIDDEN TEXT");
		pen_put(&p, ROLE_NORMAL, " ");
	}
	pen_put(&p, ROLE_NORMAL, item_kind_name(item->kind));
	pen_put(&p, ROLE_DIM, " · ");
	pen_put(&p, ROLE_DIALECT, dialect_name(dialect));
	if (at->grade != GRADE_NONE) {
		pen_put(&p, ROLE_DIM, " · ");
		pen_put(&p, mark_of_grade(at->grade)->role, item_severity_name(at->grade));
	}
	if (at->iteration)
		pen_printf(&p, ROLE_NORMAL, " · iteration %u", at->iteration);
	if (at->came_back)
		pen_put(&p, ROLE_WARN, " · ▲ came back");
	if (at->revision > 1)
		pen_printf(&p, ROLE_WARN, " · reworded ×%u", at->revision);
	else if (at->revision)
		pen_put(&p, ROLE_WARN, " · reworded");
	else if (at->times > 1)
		pen_printf(&p, ROLE_DIM, " · ×%u", at->times);
	if (at->undecidable)
		pen_put(&p, ROLE_ERROR, " · ⚠ broken: cannot be decided");
	item_clock(s, item, at, clock, &role);
	if (at->open && item->deadline_ms != WHEN_NONE)
		pen_printf(&p, role, " · %s left", clock + (clock[0] == '!'));
	else if (at->open && clock[0] != '-')
		pen_printf(&p, role, " · waits %s", clock);
}

static void draw_origin(const struct scene *s, const struct item *item, const struct item_state *at,
			struct pen p)
{
	const struct model *m = s->model;

	pen_put(&p, ROLE_DIM, "from ");
	pen_agent(&p, m, m->records.v[at->message].from);
	if (item->task != NONE) {
		pen_put(&p, ROLE_DIM, "  task ");
		pen_id(&p, ROLE_ID, model_str(m, m->tasks.v[item->task].id));
	}
	if (at->by != NONE) {
		pen_put(&p, ROLE_DIM, "  decided by ");
		pen_agent(&p, m, at->by);
	}
	pen_put(&p, ROLE_DIM, "  session ");
	pen_id(&p, ROLE_DIM, session_name(m, item->session));
}

static void draw_section(const struct scene *s, const struct line *line, struct pen p)
{
	static const char *const title[] = {
		[SECTION_HISTORY] = "History",
		[SECTION_PROBLEMS] = "Problems",
		[SECTION_MESSAGE] = "Message",
		[SECTION_INSIDE] = "Inside the text of",
	};

	pen_put(&p, ROLE_ACCENT, title[line->a]);
	if (line->a != SECTION_HISTORY) {
		pen_printf(&p, ROLE_DIM, " line %u of ", s->model->records.v[line->b].line);
		pen_id(&p, ROLE_DIM, s->reader->source(s->reader->ctx, line->b));
	}
	pen_put(&p, ROLE_BORDER, " ");
	grid_fill(p.g, p.rest, ROLE_BORDER, "─");
}

static void draw_passage(const struct own *own, uint32_t number, struct pen p)
{
	const struct passage *t = &own->passages[number];
	struct wrap w = t->at;
	struct rect row = p.rest;

	if (t->label)
		grid_put(p.g, rect_in(row, 0, 0, 1, t->indent - 1), ROLE_DIM, t->label);
	grid_wrap(p.g, rect_in(row, 0, t->indent, 1, row.cols - t->indent), t->role, &w);
}

/* Whether a step raises again what was raised before in another iteration. */
static bool came_back_at(const struct item *item, uint32_t step)
{
	for (uint32_t i = step; i-- > 0;)
		if (item->steps[i].what == STEP_RAISED)
			return item->steps[i].iteration != item->steps[step].iteration;
	return false;
}

static const char *raised_words(const struct item *item, uint32_t step)
{
	for (uint32_t i = step; i-- > 0;) {
		if (item->steps[i].what != STEP_RAISED)
			continue;
		if (item->steps[i].hash != item->steps[step].hash)
			return came_back_at(item, step) ? "came back, reworded" : "reworded";
		return came_back_at(item, step) ? "came back" : "raised again";
	}
	return "raised";
}

static void put_step(const struct item *item, uint32_t number, struct pen *p)
{
	const struct item_step *step = &item->steps[number];
	const struct mark *mark = mark_of_verdict(step->verdict);

	switch ((enum step_kind)step->what) {
	case STEP_RAISED:
		pen_printf(p, number ? ROLE_WARN : ROLE_ACCENT, "%s %s",
			   came_back_at(item, number) ? "▲" : "●", raised_words(item, number));
		break;
	case STEP_DECIDED: pen_printf(p, mark->role, "%s %s", mark->glyph, mark->word); break;
	case STEP_ACKED: pen_put(p, ROLE_OK, "✓ acknowledged"); break;
	case STEP_BOUNCED: pen_put(p, ROLE_WARN, "⚠ bounced: unknown id"); break;
	case STEP_FIXED:
		pen_printf(p, ROLE_ACCEPTED, "✓ fixed in iteration %u", step->iteration);
		break;
	case STEP_SUPERSEDED: pen_put(p, ROLE_DIM, "· superseded"); break;
	}
}

static void draw_step(const struct scene *s, const struct item *item, uint32_t number, struct pen p)
{
	const struct item_step *step = &item->steps[number];
	const struct record *r = &s->model->records.v[step->message];
	struct rect row = p.rest;
	char text[32];

	pen_put(&p, ROLE_TIME, r->time_ms == WHEN_NONE ? "-" : when_clock(r->time_ms, text));
	snprintf(text, sizeof(text), "line %u", r->line);
	put_right(p.g, rect_in(row, 0, 9, 1, 10), ROLE_DIM, text);
	p.rest = rect_in(row, 0, 21, 1, row.cols - 21);
	put_step(item, number, &p);
	if (step->what == STEP_RAISED && step->iteration)
		pen_printf(&p, ROLE_DIM, " in iteration %u", step->iteration);
	if (step->by != NONE) {
		pen_put(&p, ROLE_DIM, " by ");
		pen_agent(&p, s->model, step->by);
	}
}

static void draw_expired(const struct item *item, struct pen p)
{
	struct rect row = p.rest;
	char text[32];

	pen_put(&p, ROLE_TIME, when_clock(item->deadline_ms, text));
	p.rest = rect_in(row, 0, 21, 1, row.cols - 21);
	pen_printf(&p, ROLE_WARN, "%s %s: the deadline passed without an answer",
		   mark_of_verdict(VERDICT_EXPIRED)->glyph, mark_of_verdict(VERDICT_EXPIRED)->word);
}

static void item_draw(const struct scene *s, const struct lines *lines, uint32_t i, struct grid *g,
		      struct rect row)
{
	const struct own *own = lines->own;
	const struct line *line = &lines->list.v[i];
	const struct item *item = &s->model->items.v[s->item];
	struct pen p = { g, rect_in(row, 0, 0, 1, row.cols) };

	switch ((enum what)line->what) {
	case ROW_BLANK: break;
	case ROW_NAME: draw_name(s, item, &own->at, p); break;
	case ROW_FACTS: draw_facts(s, item, own, p); break;
	case ROW_ORIGIN: draw_origin(s, item, &own->at, p); break;
	case ROW_SECTION: draw_section(s, line, p); break;
	case ROW_TEXT: draw_passage(own, line->a, p); break;
	case ROW_STEP: draw_step(s, item, line->a, p); break;
	case ROW_EXPIRED: draw_expired(item, p); break;
	}
}

const struct view_ops view_item = {
	.name = "item",
	.make = item_make,
	.draw = item_draw,
	.empty = "There is no such item, or not yet.",
};
