/* The diff view: the version of an artifact that an item is about against that of the iteration
 * before, line by line; and the changes view: the file under review against the version last sent.
 *
 * A feedback response is about the artifact of the request before it; requests name no session, and
 * the first one of a loop is recorded in the file's own. An envelope output carries its artifacts;
 * the earlier version is that of the same path in an earlier output. Other dialects have none. */
#include "draw/diff.h"
#include "view/view_parts.h"

#include <stdio.h>

enum {
	CONTEXT_LINES = 3,
	LOOKBACK_MAX = 32, /* requests or outputs searched for a version */
	PAIRS_MAX = 64,
	NUMBERS_MIN_COLS = 50, /* below that there is no room for line numbers */
};

enum what {
	ROW_TITLE = LINE_OWN, /* a: number of the pair */
	ROW_PLACE,            /* likewise */
	ROW_FIRST,            /* a: passage, b: number of the line shown */
	ROW_MORE,             /* likewise, continuation of a wrapped line */
	ROW_GAP,              /* b: number of the line shown */
};

/* An artifact as one message carries it. */
struct version {
	uint32_t message;
	int64_t iteration; /* 0 = unknown */
	struct str path, media;
	struct str text;
};

struct pair {
	struct version before, after;
	uint32_t lines_before, lines_after, removed, added;
};

/* A line of a diff that is shown. */
struct diff_shown {
	struct diff_line line;
	const struct diff_span *spans;
	int digits; /* of line numbers; 0 = they are left out */
};

struct diff_own {
	struct prose prose;
	struct pair pairs[PAIRS_MAX];
	struct diff_shown *shown;
	uint32_t pair_count, shown_count, shown_cap;
};

struct diff_builder {
	const struct scene *s;
	struct lines *out;
	struct diff_own *own;
	struct item_state at;
	uint32_t session; /* of the item */
};

/* ---- finding versions ---- */

static struct str content_text(struct arena *arena, yyjson_val *content)
{
	struct buf text = { 0 };
	struct str kept;

	if (yyjson_is_str(content))
		return arena_str(arena, json_str(content));
	if (content)
		json_write_pretty(&text, content, UINT32_MAX);
	kept = arena_str(arena, buf_str(&text));
	buf_release(&text);
	return kept;
}

static bool message_is(const struct scene *s, uint32_t message, enum dialect_id dialect,
		       const char *kind, uint32_t session)
{
	const struct record *r = &s->model->records.v[message];
	const struct route *route = route_of(s->model, r);

	return route->dialect == dialect && route->session == session &&
	       str_is(model_kind(s->model, r), kind);
}

static bool read_request(const struct diff_builder *k, uint32_t message, struct version *out)
{
	struct json_reader reader = { 0 };
	yyjson_val *root = NULL, *artifact;

	json_read(&reader, k->s->reader->bytes(k->s->reader->ctx, message), &root);
	artifact = json_get(root, "artifact");
	*out = (struct version){ .message = message };
	if (artifact) {
		json_int(json_get(root, "iteration"), &out->iteration);
		out->media = arena_str(&k->out->arena, json_get_str(artifact, "media_type"));
		out->text = content_text(&k->out->arena, json_get(artifact, "content"));
	}
	json_reader_release(&reader);
	return artifact != NULL;
}

/* The newest request of a session before a message, with an iteration in [low, high]. */
static bool request_before(const struct diff_builder *k, uint32_t session, uint32_t message,
			   int64_t low, int64_t high, struct version *out)
{
	unsigned tries = 0;

	while (message-- > 0 && tries < LOOKBACK_MAX) {
		if (!message_is(k->s, message, DIALECT_FEEDBACK, "request", session))
			continue;
		tries++;
		if (read_request(k, message, out) && out->iteration >= low &&
		    out->iteration <= high)
			return true;
	}
	return false;
}

/* The message that first answered in a session. */
static uint32_t first_answer(const struct model *m, uint32_t session)
{
	const struct review *loop;

	if (m->sessions.v[session].loop == NONE)
		return 0;
	loop = &m->reviews.v[m->sessions.v[session].loop];
	for (uint32_t i = 0; i < loop->steps.n; i++)
		if (loop->steps.v[i].verdict != REVIEW_NONE)
			return loop->steps.v[i].message;
	return 0;
}

/* The newest request of an iteration before a message: one of the item's session, else one recorded
 * in the file's own session; there the first of a loop precedes the first answer. */
static bool request_of(const struct diff_builder *k, int64_t iteration, uint32_t message,
		       struct version *out)
{
	const struct model *m = k->s->model;
	uint32_t group = m->sessions.v[k->session].group;
	uint32_t answer = first_answer(m, k->session);

	if (iteration < 1)
		return false;
	if (request_before(k, k->session, message, iteration, iteration, out))
		return true;
	if (iteration == 1 && answer < message)
		message = answer;
	for (uint32_t i = 0; i < m->sessions.n; i++)
		if (m->sessions.v[i].group == group && m->sessions.v[i].name == group)
			return request_before(k, i, message, iteration, iteration, out);
	return false;
}

/* ---- making ---- */

static void add_note(struct diff_builder *k, const char *words)
{
	prose_add(&k->own->prose, NULL, 0, ROLE_DIM, str_of(words), TEXT_LABEL);
}

/* Copies the lines of a diff, which does not last; returns the number of the first. */
static uint32_t keep_lines(struct diff_builder *k, const struct diff *d, int digits)
{
	struct diff_own *own = k->own;
	struct diff_span *spans =
		arena_alloc(&k->out->arena, (d->spans.n + 1) * sizeof(*spans));
	uint32_t first = own->shown_count;

	if (d->spans.n)
		memcpy(spans, d->spans.v, d->spans.n * sizeof(*spans));
	for (uint32_t i = 0; i < d->lines.n; i++) {
		own->shown = lines_grow(k->out, own->shown, own->shown_count, &own->shown_cap,
					sizeof(*own->shown));
		own->shown[own->shown_count++] =
			(struct diff_shown){ d->lines.v[i], spans + d->lines.v[i].span, digits };
	}
	return first;
}

static int gutter_cols(const struct diff_shown *shown)
{
	return shown->digits ? 2 * shown->digits + 4 : 2;
}

static enum role role_of(enum diff_kind kind)
{
	switch (kind) {
	case DIFF_ADDED: return ROLE_ADDED;
	case DIFF_REMOVED: return ROLE_REMOVED;
	case DIFF_KEPT:
	case DIFF_GAP: break;
	}
	return ROLE_NORMAL;
}

/* A note for lines that differ in the line ending alone. */
static void add_ending(struct diff_builder *k, const struct diff_shown *shown)
{
	static const char *const words[] = {
		[DIFF_END_CRLF] = "(the line above ends with CR LF)",
		[DIFF_END_NONE] = "(no newline at the end)",
	};
	const struct diff_line *line = &shown->line;

	if (line->kind != DIFF_KEPT && line->count == 1 && line->end != DIFF_END_LF)
		prose_line(&k->own->prose, ROLE_DIM, gutter_cols(shown), 0,
			   str_of(words[line->end]));
}

static void add_line(struct diff_builder *k, uint32_t number)
{
	struct diff_shown *shown = &k->own->shown[number];
	struct diff_line *line = &shown->line;
	uint32_t first = k->out->list.n;

	if (line->kind == DIFF_GAP) {
		line_add(k->out, ROW_GAP, 0, number);
		return;
	}
	if (line->count > 1) {
		line->text = str_of(arena_printf(&k->out->arena, "… %u more lines", line->count));
		line->spans = 0;
	}
	prose_line(&k->own->prose, role_of(line->kind), gutter_cols(shown), 0, line->text);
	for (uint32_t i = first; i < k->out->list.n; i++) {
		k->out->list.v[i].what = i == first ? ROW_FIRST : ROW_MORE;
		k->out->list.v[i].b = number;
	}
	add_ending(k, shown);
}

/* If both texts lack a newline at the end, it is added to both: that is no difference. */
static void end_last_lines(struct arena *arena, struct version *a, struct version *b)
{
	struct version *both[] = { a, b };

	if (!a->text.n || !b->text.n || str_ends(a->text, STR("\n")) ||
	    str_ends(b->text, STR("\n")))
		return;
	for (int i = 0; i < 2; i++) {
		size_t n = both[i]->text.n;
		char *copy = arena_alloc(arena, n + 1);

		memcpy(copy, both[i]->text.p, n);
		copy[n] = '\n';
		both[i]->text = str_make(copy, n + 1);
	}
}

static void add_pair(struct diff_builder *k, struct version before, struct version after)
{
	struct diff_own *own = k->own;
	struct pair *pair = &own->pairs[own->pair_count];
	struct diff d = { 0 };
	uint32_t number;
	int digits;

	end_last_lines(&k->out->arena, &before, &after);
	diff_make(&d, before.text, after.text, CONTEXT_LINES);
	*pair = (struct pair){ .before = before,
			       .after = after,
			       .lines_before = d.kept + d.removed,
			       .lines_after = d.kept + d.added,
			       .removed = d.removed,
			       .added = d.added };
	if (own->pair_count)
		line_add(k->out, LINE_BLANK, 0, 0);
	line_add(k->out, ROW_TITLE, own->pair_count, 0);
	line_add(k->out, ROW_PLACE, own->pair_count, 0);
	line_add(k->out, LINE_BLANK, 0, 0);
	own->pair_count++;
	if (d.coarse)
		add_note(k, "Too different to compare line by line.");
	if (!d.hunks)
		add_note(k, "The artifact did not change.");
	digits = number_width(d.kept + (d.added > d.removed ? d.added : d.removed), 3);
	number = keep_lines(k, &d, k->out->cols < NUMBERS_MIN_COLS ? 0 : digits);
	for (; d.hunks && number < own->shown_count && own->prose.n < PROSE_LINES_MAX; number++)
		add_line(k, number);
	diff_release(&d);
}

static void compare_requests(struct diff_builder *k)
{
	struct version before, after;

	if (!request_of(k, k->at.iteration, k->at.message, &after) &&
	    !request_before(k, k->session, k->at.message, 0, INT64_MAX, &after))
		add_note(k, "The request that carries the artifact is not in the log.");
	else if (after.iteration < 2)
		add_note(k, "The first version of the artifact: there is no earlier one to compare "
			    "with.");
	else if (!request_of(k, after.iteration - 1, after.message, &before))
		add_note(k, "The request of the iteration before is not in the log.");
	else
		add_pair(k, before, after);
}

/* The artifacts of an output that name a path; *n of them. */
static struct version *read_output(const struct diff_builder *k, uint32_t message, uint32_t *n)
{
	struct arena *arena = &k->out->arena;
	struct json_reader reader = { 0 };
	yyjson_val *root = NULL, *artifacts, *v;
	struct version *list;
	size_t i, count;

	*n = 0;
	json_read(&reader, k->s->reader->bytes(k->s->reader->ctx, message), &root);
	artifacts = json_get(root, "artifacts");
	list = arena_alloc(arena, PAIRS_MAX * sizeof(*list));
	yyjson_arr_foreach(artifacts, i, count, v) {
		if (*n == PAIRS_MAX || !json_get(v, "content") || !json_get_str(v, "path").n)
			continue;
		list[(*n)++] = (struct version){
			.message = message,
			.path = arena_str(arena, json_get_str(v, "path")),
			.text = content_text(arena, json_get(v, "content")),
		};
	}
	json_reader_release(&reader);
	return list;
}

static void compare_outputs(struct diff_builder *k)
{
	uint32_t n, earlier_n, message = k->at.message;
	struct version *list = read_output(k, message, &n), *earlier;
	unsigned tries = 0;

	while (n && !k->own->pair_count && message-- > 0 && tries < LOOKBACK_MAX) {
		if (!message_is(k->s, message, DIALECT_ENVELOPE, "output", k->session))
			continue;
		tries++;
		earlier = read_output(k, message, &earlier_n);
		for (uint32_t i = 0; i < n * earlier_n && k->own->pair_count < PAIRS_MAX; i++)
			if (str_eq(list[i / earlier_n].path, earlier[i % earlier_n].path))
				add_pair(k, earlier[i % earlier_n], list[i / earlier_n]);
	}
	if (!k->own->pair_count)
		add_note(k, "No artifact that an earlier output has too: there is nothing to "
			    "compare.");
}

static void diff_view_make(const struct scene *s, int cols, struct lines *out)
{
	struct diff_builder k = { .s = s, .out = out };
	const struct item *item;
	unsigned dialect;

	if (s->item >= s->model->items.n)
		return;
	item = &s->model->items.v[s->item];
	if (!item_at(s->model, item, s->k, scene_clock(s), &k.at))
		return;
	k.session = item_session(s->model, item);
	k.own = prose_start(s, cols, out, sizeof(*k.own));
	dialect = message_route(s->model, k.at.message)->dialect;
	if (dialect == DIALECT_FEEDBACK)
		compare_requests(&k);
	else if (dialect == DIALECT_ENVELOPE)
		compare_outputs(&k);
	else
		add_note(&k, "Messages of this protocol carry no artifact: there is nothing to "
			     "compare.");
	prose_end(&k.own->prose);
}

static void changes_make(const struct scene *s, int cols, struct lines *out)
{
	const struct artifact_now *a = s->artifact;
	struct diff_builder k = { .s = s, .out = out };
	struct arena *arena = &out->arena;
	struct version before, after;

	if (!a)
		return;
	k.own = prose_start(s, cols, out, sizeof(*k.own));
	before = (struct version){ .message = NONE, .iteration = a->iteration,
				   .text = arena_str(arena, a->seen) };
	after = (struct version){ .message = NONE, .path = arena_str(arena, a->path),
				  .text = arena_str(arena, a->now) };
	if (a->trouble)
		prose_add(&k.own->prose, NULL, 0, ROLE_ERROR, str_of(a->trouble), TEXT_LINE);
	else if (!a->iteration)
		add_note(&k, "Nothing has been sent yet: there is nothing to compare.");
	else
		add_pair(&k, before, after);
	prose_end(&k.own->prose);
}

/* ---- drawing ---- */

static void draw_title(const struct diff_own *own, const struct pair *pair, struct pen p)
{
	struct rect row = p.rest;
	char counts[32];

	snprintf(counts, sizeof(counts), "+%u -%u", pair->added, pair->removed);
	p.rest.cols -= (int)strlen(counts) + 1;
	if (p.rest.cols < 12)
		p.rest = row;
	else
		put_right(p.g, row, ROLE_KEY, counts);
	if (own->prose.hidden)
		pen_hidden_badge(&p);
	if (pair->after.path.n)
		pen_path(&p, ROLE_ID, pair->after.path);
	else
		pen_put(&p, ROLE_ACCENT, "artifact");
	if (pair->after.message == NONE)
		pen_printf(&p, ROLE_NORMAL, " · turn %lld → on the disk",
			   (long long)pair->before.iteration);
	else if (pair->after.iteration)
		pen_printf(&p, ROLE_NORMAL, " · iteration %lld → %lld",
			   (long long)pair->before.iteration, (long long)pair->after.iteration);
	if (!pair->after.media.n)
		return;
	pen_put(&p, ROLE_DIM, " · ");
	if (!str_eq(pair->before.media, pair->after.media)) {
		pen_id(&p, ROLE_REMOVED, pair->before.media);
		pen_put(&p, ROLE_DIM, " → ");
	}
	pen_id(&p, ROLE_DIM, pair->after.media);
}

static void draw_place(const struct scene *s, const struct pair *pair, struct pen p)
{
	const struct model *m = s->model;

	if (pair->after.message == NONE) {
		pen_printf(&p, ROLE_DIM, "%u → %u lines", pair->lines_before, pair->lines_after);
		return;
	}
	pen_printf(&p, ROLE_DIM, "%u → %u lines · message in line %u → %u of ", pair->lines_before,
		   pair->lines_after, message_line(m, pair->before.message),
		   message_line(m, pair->after.message));
	pen_path(&p, ROLE_DIM, s->reader->source(s->reader->ctx, pair->after.message));
}

static void draw_gutter(const struct diff_shown *shown, bool first, struct grid *g, struct rect row)
{
	const struct diff_line *line = &shown->line;
	const uint32_t numbers[] = { line->a, line->b };
	int digits = shown->digits;
	char text[16];
	const char *sign = line->kind == DIFF_ADDED ? "+" : line->kind == DIFF_REMOVED ? "-" : " ";

	for (int i = 0; digits && first && i < 2; i++) {
		snprintf(text, sizeof(text), "%u", numbers[i]);
		if (numbers[i])
			put_right(g, rect_in(row, 0, i * (digits + 1), 1, digits), ROLE_DIM, text);
	}
	grid_put(g, rect_in(row, 0, gutter_cols(shown) - 2, 1, 1), role_of(line->kind), sign);
}

/* Highlights the words that changed in one row of a line, which ends before `end`. */
static void highlight_words(const struct passage *passage, const struct diff_shown *shown,
			    const char *end, struct grid *g, struct rect row)
{
	const struct diff_span *span = shown->spans, *last = span + shown->line.spans;
	struct rect text = rect_in(row, 0, passage->indent, 1, row.cols - passage->indent);
	struct cells it = passage->at.it;
	struct cell cell;

	for (int col = 0; span < last && col < text.cols && it.rest.p < end;) {
		size_t at = (size_t)(it.rest.p - shown->line.text.p);

		while (span < last && at >= (size_t)span->at + span->n)
			span++;
		if (cells_next(&it, &cell) != CELLS_CELL)
			break;
		if (span < last && at >= span->at)
			grid_role(g, rect_in(text, 0, col, 1, cell.width), ROLE_KEY);
		col += cell.width;
	}
}

static void draw_line(const struct scene *s, const struct lines *lines, uint32_t i, struct pen p)
{
	const struct diff_own *own = lines->own;
	const struct line *line = &lines->list.v[i], *next = line + 1;
	const struct diff_shown *shown = &own->shown[line->b];
	const char *end = shown->line.text.p + shown->line.text.n;

	if (i + 1 < lines->list.n && next->what == ROW_MORE && next->b == line->b)
		end = own->prose.list[next->a].at.it.rest.p;
	draw_gutter(shown, line->what == ROW_FIRST, p.g, p.rest);
	prose_draw(s, &own->prose, &(struct line){ LINE_TEXT, line->a, 0 }, p);
	if (shown->line.spans)
		highlight_words(&own->prose.list[line->a], shown, end, p.g, p.rest);
}

static void draw_gap(const struct diff_shown *shown, struct pen p)
{
	uint32_t n = shown->line.count;

	pen_skip(&p, gutter_cols(shown) - 2);
	pen_printf(&p, ROLE_BORDER, "··· %u line%s unchanged ···", n, plural_s(n));
}

static void diff_view_draw(const struct scene *s, const struct lines *lines, uint32_t i,
			   struct grid *g, struct rect row)
{
	const struct diff_own *own = lines->own;
	const struct line *line = &lines->list.v[i];
	struct pen p = { g, rect_in(row, 0, 0, 1, row.cols) };

	if (prose_draw(s, &own->prose, line, p))
		return;
	switch ((enum what)line->what) {
	case ROW_TITLE: draw_title(own, &own->pairs[line->a], p); break;
	case ROW_PLACE: draw_place(s, &own->pairs[line->a], p); break;
	case ROW_FIRST:
	case ROW_MORE: draw_line(s, lines, i, p); break;
	case ROW_GAP: draw_gap(&own->shown[line->b], p); break;
	}
}

/* The artifact leads to the message that carries it. */
static struct target diff_view_target(const struct scene *s, const struct lines *lines, uint32_t i)
{
	const struct diff_own *own = lines->own;
	const struct line *line = &lines->list.v[i];

	(void)s;
	if ((line->what != ROW_TITLE && line->what != ROW_PLACE) ||
	    own->pairs[line->a].after.message == NONE)
		return target_none;
	return target_message(own->pairs[line->a].after.message);
}

const struct view_ops view_changes = {
	.name = "changes",
	.make = changes_make,
	.draw = diff_view_draw,
	.target = diff_view_target,
	.empty = "No artifact is under review here.",
};

const struct view_ops view_diff = {
	.name = "diff",
	.make = diff_view_make,
	.draw = diff_view_draw,
	.target = diff_view_target,
	.empty = "No such item, or not yet.",
};
