/* The pre-flight view: a summary, then each letter that would be sent as one line: what is said, to
 * whom, about what. Unfolded, it shows receiver, destination, size, decisions and content. What is
 * missing and what to be careful about is always shown. Nothing has been written yet. */
#include "base/map.h"
#include "view/view_parts.h"

#include <stdio.h>

enum what {
	ROW_LETTER = LINE_OWN, /* a: number of the proposal */
	ROW_HEAD,              /* a: the same, unfolded */
	ROW_DRAFT,             /* a: proposal, b: which of its drafts */
	ROW_DROPPED,           /* a: number in plan.dropped */
};

enum { VERB_COLS = 10, TO_LEAST_COLS = 6, TO_MOST_COLS = 16, DETAIL_COL = 4, REMARK_COL = 13,
       FOLDER_LEAST_COLS = 12 };

/* Lines that must be seen before the plan is confirmed, or explain what is not sent. */
struct remark {
	uint32_t first, end;
	bool caution;
};

/* lines.own */
struct preflight {
	struct prose prose; /* first, as prose_start wants it */
	struct remark *remarks;
	uint32_t remark_n, remark_cap;
	uint32_t messages, recipients, cautions, recorded, incomplete;
	int to_cols;
};

static void begin_remark(struct preflight *f, struct lines *out, bool caution)
{
	f->remarks = lines_grow(out, f->remarks, f->remark_n, &f->remark_cap, sizeof(*f->remarks));
	f->remarks[f->remark_n++] = (struct remark){ out->list.n, out->list.n, caution };
	f->cautions += caution;
}

static void end_remark(struct preflight *f, const struct lines *out)
{
	f->remarks[f->remark_n - 1].end = out->list.n;
}

bool preflight_remark(const struct lines *lines, uint32_t i, uint32_t *first, uint32_t *end,
		      bool *caution)
{
	const struct preflight *f = lines->own;

	if (!f || i >= f->remark_n)
		return false;
	*first = f->remarks[i].first;
	*end = f->remarks[i].end;
	*caution = f->remarks[i].caution;
	return true;
}

uint32_t preflight_remark_below(const struct lines *lines, uint32_t line)
{
	const struct preflight *f = lines->own;
	uint32_t from = 0, n = f ? f->remark_n : 0;

	bisect(from, n, i, f->remarks[i].end <= line)
	return from;
}

uint32_t preflight_line(const struct lines *lines, uint32_t letter)
{
	uint32_t i = 0;

	while (i < lines->list.n &&
	       !(lines->list.v[i].what == ROW_LETTER && lines->list.v[i].a == letter))
		i++;
	return i;
}

uint32_t preflight_letter(const struct lines *lines, uint32_t line, uint32_t *dropped)
{
	*dropped = NONE;
	if (line >= lines->list.n)
		return NONE;
	if (lines->list.v[line].what == ROW_DROPPED) {
		*dropped = lines->list.v[line].a;
		return NONE;
	}
	/* a blank line ends the letters */
	for (uint32_t i = line + 1; i-- > 0 && lines->list.v[i].what != LINE_BLANK;)
		if (lines->list.v[i].what == ROW_LETTER)
			return lines->list.v[i].a;
	return NONE;
}

static void add_list(struct preflight *f, struct lines *out, const char *label, enum role role,
		     const struct str *list, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		begin_remark(f, out, role == ROLE_WARN);
		prose_add(&f->prose, label, REMARK_COL, role, list[i], TEXT_LINE);
		end_remark(f, out);
	}
}

/* The content of a letter: JSON pretty-printed unless the scene is raw, anything else as it is. */
static void add_bytes(struct prose *p, const struct letter *l)
{
	struct json_reader reader = { 0 };
	yyjson_val *root;

	if (!p->s->raw && json_read(&reader, l->bytes, &root) == JSON_OK)
		prose_json(p, 4, root);
	else
		prose_add(p, NULL, 4, ROLE_NORMAL, l->bytes, TEXT_LINES);
	json_reader_release(&reader);
}

static bool is_recorded_only(const struct proposal *p)
{
	return p->letter.channel == CHANNEL_NONE && !p->missing.n;
}

static bool is_unfolded(const struct scene *s, uint32_t i)
{
	return i < s->unfolded_n && s->unfolded[i];
}

/* What a tool call that was decided on runs, where, and for whom, in full. An edited one runs what the
 * message says. */
static void add_call(struct prose *prose, const struct draft *draft)
{
	static const char *const shown[][2] = { { "command", "    command" }, { "file", "    file" },
						{ "asks", "    asks" } };
	const struct scene *s = prose->s;
	const struct item *item;
	struct item_state at;
	struct detail d;

	if (draft->kind != ITEM_PERMISSION || draft->number == NONE)
		return;
	item = &s->model->items.v[draft->number];
	if (!item_at(s->model, item, s->model->records.n, scene_clock(s), &at) ||
	    !s->reader->detail(s->reader->ctx, item, &at, &d))
		return;
	for (size_t k = draft->verb == VERB_PARTIAL; k < sizeof(shown) / sizeof(shown[0]); k++)
		for (unsigned i = 0; i < d.n; i++)
			if (strcmp(d.field[i].label, shown[k][0]) == 0)
				prose_add(prose, shown[k][1], REMARK_COL, ROLE_NORMAL,
					  d.field[i].text,
					  d.field[i].id_like ? TEXT_ID : TEXT_LINES);
	prose_add(prose, "    folder", REMARK_COL, ROLE_NORMAL, call_folder(s, &at, &d), TEXT_ID);
}

/* What Enter shows of a letter. */
static void add_unfolded(struct prose *prose, struct lines *out, const struct proposal *p,
			 uint32_t i)
{
	line_add(out, ROW_HEAD, i, 0);
	if (p->runs.n)
		prose_add(prose, "    runs", REMARK_COL, ROLE_ID, p->runs, TEXT_ID);
	else if (p->letter.channel != CHANNEL_NONE)
		prose_add(prose, "    where", REMARK_COL, ROLE_ID, p->letter.path, TEXT_ID);
	for (uint32_t k = 0; k < p->letter.drafts.n; k++) {
		const struct draft *draft = &p->desk->drafts.v[p->letter.drafts.v[k]];

		line_add(out, ROW_DRAFT, i, k);
		prose_add(prose, NULL, 14, ROLE_DIM, draft->explanation, TEXT_LINES);
		add_call(prose, draft);
	}
	if (!p->missing.n && p->letter.bytes.n)
		add_bytes(prose, &p->letter);
}

static void add_proposal(struct preflight *f, struct lines *out, const struct proposal *p,
			 uint32_t i)
{
	line_add(out, ROW_LETTER, i, 0);
	add_list(f, out, "    missing", ROLE_ERROR, p->missing.v, p->missing.n);
	add_list(f, out, "    caution:", ROLE_WARN, p->cautions.v, p->cautions.n);
	if (p->needs_sure) {
		begin_remark(f, out, true);
		prose_hint(&f->prose, "    caution:", REMARK_COL, ROLE_WARN,
			   p->letter.channel == CHANNEL_AGENT
				   ? "accepted says that the artifact now reflects the change, but "
				     "it is the same as in the last turn; edit it ({edit}), or "
				     "confirm twice"
				   : "accepted says that the artifact now reflects the change, but "
				     "it is the same as in the last turn; :attach FILE, or confirm "
				     "twice");
		end_remark(f, out);
	}
	if (is_unfolded(f->prose.s, i))
		add_unfolded(&f->prose, out, p, i);
}

/* Whether none of the letters before it is to the same; notes it in the map. */
static bool is_new_recipient(struct map *seen, const struct plan *plan, uint32_t i)
{
	const struct proposal *p = &plan->list.v[i];
	struct str to = p->runs.n ? p->runs : p->letter.to;
	uint64_t key = str_hash(to);

	for (uint32_t it = 0, k; map_next(seen, key, &it, &k);) {
		const struct proposal *other = &plan->list.v[k];

		if (str_eq(to, other->runs.n ? other->runs : other->letter.to))
			return false;
	}
	map_add(seen, key, i);
	return true;
}

/* Counts for the summary. */
static void count_letters(struct preflight *f, const struct plan *plan, bool ascii)
{
	struct map to = { 0 };

	f->to_cols = TO_LEAST_COLS;
	for (uint32_t i = 0; i < plan->list.n; i++) {
		const struct proposal *p = &plan->list.v[i];
		int cols = (int)cells_width(raw_of(p->letter.to), TEXT_ID, ascii, TO_MOST_COLS);

		f->to_cols = cols > f->to_cols ? cols : f->to_cols;
		if (p->missing.n) {
			f->incomplete++;
		} else if (is_recorded_only(p)) {
			f->recorded++;
		} else {
			f->messages++;
			f->recipients += is_new_recipient(&to, plan, i);
		}
	}
	map_release(&to);
}

static const char *what_keys_do(const struct plan *plan)
{
	bool staged = plan_has_drafts(plan);

	if (!plan->list.n && plan->dropped.n)
		return "Nothing is left to send. {reject} takes a message in again, {back} goes back.";
	if (!plan_can_send(plan))
		return "This cannot be sent: the reason is below. {back} goes back, {undo} undoes it.";
	if (plan->named.n)
		return staged ? "The path comes from a message. y asks again and writes there, {back} "
				"keeps it staged."
			      : "The path comes from a message. y asks again and writes there, {back} "
				"cancels.";
	if (!plan_is_ready(plan))
		return "Not all of this can be written yet. y sends what is complete, {back} keeps all "
		       "staged.";
	return staged ? "This will be written. y sends it, {back} keeps it staged."
		      : "This will be written. y sends it, {back} cancels.";
}

static void preflight_make(const struct scene *s, int cols, struct lines *out)
{
	struct preflight *f;
	struct prose *prose;

	if (!s->plan)
		return;
	f = prose_start(s, cols, out, sizeof(*f));
	prose = &f->prose;
	count_letters(f, s->plan, s->ascii);
	prose_hint(prose, NULL, 0, ROLE_KEY, what_keys_do(s->plan));
	if (s->plan->apart.n)
		prose_hint(prose, NULL, 0, ROLE_KEY,
			   "More goes to paths named by messages; {deliver} shows it on separate "
			   "pages.");
	if (s->plan->named.n)
		prose_add(prose, "    where", REMARK_COL, ROLE_ID, s->plan->named, TEXT_ID);
	for (uint32_t i = 0; i < s->plan->list.n; i++)
		add_proposal(f, out, &s->plan->list.v[i], i);
	/* also if nothing stands before it: the selection stays there when the last letter is dropped,
	 * so that the same key once too often takes none in again */
	if (s->plan->refused.n || s->plan->dropped.n)
		line_add(out, LINE_BLANK, 0, 0);
	add_list(f, out, "not sent", ROLE_ERROR, s->plan->refused.v, s->plan->refused.n);
	for (uint32_t i = 0; i < s->plan->dropped.n; i++)
		line_add(out, ROW_DROPPED, i, 0);
	prose_end(prose);
}

static void put_count(struct pen *pen, enum role role, uint32_t n, const char *one,
		      const char *many)
{
	if (n)
		pen_printf(pen, role, ", %u %s", n, n == 1 ? one : many);
}

/* Stays on top while the letters are scrolled. */
static void preflight_heading(const struct scene *s, const struct lines *lines, struct grid *g,
			      struct rect row)
{
	const struct preflight *f = lines->own;
	struct pen pen = { g, row };

	pen_printf(&pen, ROLE_KEY, "%u message%s, %u recipient%s", f->messages,
		   f->messages == 1 ? "" : "s", f->recipients, f->recipients == 1 ? "" : "s");
	put_count(&pen, ROLE_WARN, f->cautions, "caution", "cautions");
	put_count(&pen, ROLE_NORMAL, f->recorded, "only recorded here", "only recorded here");
	put_count(&pen, ROLE_ERROR, f->incomplete, "incomplete", "incomplete");
	put_count(&pen, ROLE_ERROR, s->plan->refused.n, "not sent", "not sent");
	put_count(&pen, ROLE_DIM, s->plan->dropped.n, "dropped", "dropped");
}

/* ---- a letter in one line ---- */

static int width_of(struct str text, bool ascii, int most)
{
	return (int)cells_width(raw_of(text), TEXT_LINE, ascii, (uint32_t)most);
}

/* What the person says: the chosen option by its label, or a code and an explanation. */
static void add_own_words(const struct scene *s, const struct draft *draft, struct buf *out)
{
	draft_words(s, draft, out);
	if (draft->answer.n || !draft->reason_code.n || !draft->explanation.n)
		return;
	buf_clear(out);
	buf_add_str(out, draft->reason_code);
	buf_adds(out, ": ");
	buf_add_str(out, draft->explanation);
}

/* The item by its words, then what is said about it, which takes at most half of the room. */
static void put_subject(const struct scene *s, const struct draft *draft, struct str said,
			struct pen *pen)
{
	struct pen name = *pen;
	int most = pen->rest.cols / 2 - 2;

	if (said.n)
		name.rest.cols -= 2 + width_of(said, s->ascii, most > 0 ? most : 0);
	pen_draft_subject(&name, s, draft);
	pen_skip(pen, name.rest.col - pen->rest.col);
	if (said.n) {
		pen_put(pen, ROLE_DIM, ": ");
		pen_text(pen, ROLE_STAGED, said);
	}
}

/* Where a tool call runs, behind its words, where there is room. */
static void put_folder(const struct scene *s, const struct draft *draft, struct pen *pen)
{
	const struct item *item = draft->number == NONE ? NULL : &s->model->items.v[draft->number];
	struct item_state at;
	struct detail d;

	if (draft->kind != ITEM_PERMISSION || !item || pen->rest.cols < FOLDER_LEAST_COLS ||
	    !item_at(s->model, item, s->model->records.n, scene_clock(s), &at) ||
	    !s->reader->detail(s->reader->ctx, item, &at, &d))
		return;
	if (call_folder(s, &at, &d).n) {
		pen_put(pen, ROLE_DIM, "  in ");
		pen_path(pen, ROLE_DIM, call_folder(s, &at, &d));
	}
}

static void put_decision(const struct scene *s, const struct draft *draft, struct pen *pen)
{
	struct buf said = { 0 };

	add_own_words(s, draft, &said);
	put_subject(s, draft, buf_str(&said), pen);
	buf_release(&said);
	put_folder(s, draft, pen);
}

/* What a letter without decisions is, in the protocol's words. */
static void put_kind(const struct letter *l, struct pen *pen)
{
	static const char *const names[] = { "message_type", "type", "kind", "decision" };
	struct json_reader reader = { 0 };
	yyjson_val *root = NULL;
	struct str kind = STR_NONE;

	if (json_read(&reader, l->bytes, &root) == JSON_OK)
		for (size_t i = 0; i < sizeof(names) / sizeof(names[0]) && !kind.n; i++)
			kind = json_get_str(root, names[i]);
	if (kind.n)
		pen_id(pen, ROLE_NORMAL, kind);
	else
		pen_printf(pen, ROLE_NORMAL, "%s message", dialect_name(l->dialect));
	json_reader_release(&reader);
}

static bool is_unread(const struct scene *s, const struct proposal *p)
{
	for (uint32_t k = 0; k < p->letter.drafts.n; k++) {
		uint32_t item = p->desk->drafts.v[p->letter.drafts.v[k]].number;

		if (item != NONE && !(item < s->read_n && s->read[item]))
			return true;
	}
	return false;
}

/* The verb, or for several decisions their number. */
static void put_verb(const struct proposal *p, struct pen pen)
{
	const struct letter *l = &p->letter;
	const struct draft *first = l->drafts.n ? &p->desk->drafts.v[l->drafts.v[0]] : NULL;
	const struct mark *mark = first ? &verdict_marks[verb_verdict(first->verb)] : NULL;

	if (l->drafts.n == 1)
		pen_printf(&pen, mark->role, "%s %s", mark->glyph, verb_name(first->verb));
	else if (first)
		pen_printf(&pen, ROLE_STAGED, "%u verdicts", l->drafts.n);
	else
		pen_put(&pen, ROLE_DIM, "  message");
}

static void draw_letter(const struct scene *s, const struct preflight *f, uint32_t i,
			struct pen pen)
{
	const struct proposal *p = &s->plan->list.v[i];
	const struct letter *l = &p->letter;
	struct rect all = pen.rest;
	struct pen to = { pen.g, rect_in(all, 0, 2 + VERB_COLS + 3, 1, f->to_cols) };

	pen_put(&pen, ROLE_DIM, is_unfolded(s, i) ? "▿ " : "▹ ");
	put_verb(p, (struct pen){ pen.g, rect_in(all, 0, 2, 1, VERB_COLS) });
	pen_skip(&pen, VERB_COLS + 1);
	pen_put(&pen, ROLE_DIM, "→ ");
	if (is_recorded_only(p))
		pen_put(&to, ROLE_DIM, "nobody");
	else if (p->runs.n)
		pen_put(&to, ROLE_AGENT, "a new process");
	else
		pen_id(&to, ROLE_AGENT, l->to);
	pen_skip(&pen, f->to_cols + 1);
	if (is_unread(s, p) && pen.rest.cols > 30) {
		put_right(pen.g, pen.rest, ROLE_WARN, " unread");
		pen.rest.cols -= 7;
	}
	if (p->missing.n)
		pen_put(&pen, ROLE_ERROR, "✗ cannot be sent yet · ");
	if (p->words.n)
		pen_text(&pen, ROLE_NORMAL, p->words);
	else if (!l->drafts.n)
		put_kind(l, &pen);
	if (!l->drafts.n && i && p[-1].desk == p->desk && p[-1].group == p->group)
		pen_put(&pen, ROLE_DIM, ", goes with the one above");
	for (uint32_t k = 0; k < l->drafts.n && pen.rest.cols > 0; k++) {
		const struct draft *draft = &p->desk->drafts.v[l->drafts.v[k]];
		const struct mark *mark = &verdict_marks[verb_verdict(draft->verb)];

		if (k)
			pen_put(&pen, ROLE_DIM, " · ");
		if (l->drafts.n > 1)
			pen_printf(&pen, mark->role, "%s ", mark->glyph);
		put_decision(s, draft, &pen);
	}
}

static void draw_dropped(const struct scene *s, uint32_t i, struct pen pen)
{
	const struct draft_ref *ref = &s->plan->dropped.v[i];
	const struct draft *draft = &ref->desk->drafts.v[ref->draft];

	pen_printf(&pen, ROLE_DIM, "not now   stays staged: %s ", verb_name(draft->verb));
	put_decision(s, draft, &pen);
}

/* ---- unfolded ---- */

static void draw_head(const struct proposal *p, uint32_t i, uint32_t n, struct pen pen)
{
	const struct letter *l = &p->letter;

	pen_skip(&pen, DETAIL_COL);
	pen_printf(&pen, ROLE_KEY, "%u/%u ", i + 1, n);
	if (is_recorded_only(p)) {
		pen_put(&pen, ROLE_NORMAL, "nothing is sent; it is recorded here");
		return;
	}
	pen_put(&pen, ROLE_DIALECT, dialect_name(l->dialect));
	pen_put(&pen, ROLE_DIM, " to ");
	if (p->runs.n)
		pen_put(&pen, ROLE_AGENT, "a new process");
	else
		pen_id(&pen, ROLE_AGENT, l->to);
	if (l->bytes.n && !p->missing.n)
		pen_printf(&pen, ROLE_DIM, "  %zu bytes", l->bytes.n);
	pen_printf(&pen, ROLE_DIM, "  %s", channel_type_name(l->channel));
	if (p->missing.n)
		pen_put(&pen, ROLE_ERROR, "  ✗ cannot be sent yet");
}

/* Its explanation follows in lines of its own. */
static void draw_draft(const struct scene *s, const struct draft *draft, struct pen pen)
{
	static const char unread[] = "  preview not scrolled to the end";
	const struct mark *mark = &verdict_marks[verb_verdict(draft->verb)];
	struct buf said = { 0 };

	pen_skip(&pen, 4);
	pen_printf(&pen, mark->role, "%s %s ", mark->glyph, verb_name(draft->verb));
	if (draft->number != NONE && !(draft->number < s->read_n && s->read[draft->number])) {
		put_right(pen.g, pen.rest, ROLE_WARN, unread);
		pen.rest.cols -= (int)sizeof(unread) - 1;
	}
	if (draft->answer.n)
		draft_words(s, draft, &said);
	else
		buf_add_str(&said, draft->reason_code);
	put_subject(s, draft, buf_str(&said), &pen);
	buf_release(&said);
}

static void preflight_draw(const struct scene *s, const struct lines *lines, uint32_t i,
			   struct grid *g, struct rect row)
{
	const struct line *line = &lines->list.v[i];
	struct pen pen = { g, rect_in(row, 0, 0, 1, row.cols) };
	const struct proposal *p;

	if (prose_draw(s, lines->own, line, pen))
		return;
	p = line->what == ROW_DROPPED ? NULL : &s->plan->list.v[line->a];
	if (line->what == ROW_DROPPED)
		draw_dropped(s, line->a, pen);
	else if (line->what == ROW_LETTER)
		draw_letter(s, lines->own, line->a, pen);
	else if (line->what == ROW_HEAD)
		draw_head(p, line->a, s->plan->list.n, pen);
	else
		draw_draft(s, &p->desk->drafts.v[p->letter.drafts.v[line->b]], pen);
}

const struct view_ops view_preflight = {
	.name = "preflight",
	.make = preflight_make,
	.heading = preflight_heading,
	.draw = preflight_draw,
	.empty = "Nothing is staged. {accept} accepts, {reject} rejects, {answer} answers what is "
		 "selected in the inbox.",
};
