/* The pre-flight view: each letter that would be sent, its receiver, destination, size, decisions,
 * missing fields, cautions and content. Nothing has been written yet. */
#include "view/view_parts.h"

#include <stdio.h>

enum what {
	ROW_HEAD = LINE_OWN, /* a: number of the proposal */
	ROW_DRAFT,           /* a: proposal, b: which of its drafts */
};

static void add_list(struct prose *p, const char *label, enum role role, const struct str *list,
		     uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		prose_add(p, label, 10, role, list[i], TEXT_LINE);
}

/* The content of a letter: JSON pretty-printed, anything else as it is. */
static void add_bytes(struct prose *p, const struct letter *l)
{
	struct json_reader reader = { 0 };
	yyjson_val *root;

	if (json_read(&reader, l->bytes, &root) == JSON_OK)
		prose_json(p, 4, root);
	else
		prose_add(p, NULL, 4, ROLE_NORMAL, l->bytes, TEXT_LINES);
	json_reader_release(&reader);
}

static void add_proposal(struct prose *prose, struct lines *out, const struct proposal *p,
			 uint32_t i)
{
	line_add(out, ROW_HEAD, i, 0);
	if (p->runs.n)
		prose_add(prose, "runs", 10, ROLE_ID, p->runs, TEXT_ID);
	else if (p->letter.channel != CHANNEL_NONE)
		prose_add(prose, "where", 10, ROLE_ID, p->letter.path, TEXT_ID);
	for (uint32_t k = 0; k < p->letter.drafts.n; k++) {
		const struct draft *draft = &p->desk->drafts.v[p->letter.drafts.v[k]];

		line_add(out, ROW_DRAFT, i, k);
		prose_add(prose, NULL, 14, ROLE_DIM, draft->explanation, TEXT_LINES);
	}
	add_list(prose, "missing", ROLE_ERROR, p->missing.v, p->missing.n);
	add_list(prose, "caution:", ROLE_WARN, p->cautions.v, p->cautions.n);
	if (p->needs_sure)
		prose_hint(prose, "caution:", 10, ROLE_WARN,
			   p->letter.channel == CHANNEL_CHILD
				   ? "accepted says that the artifact now reflects the change, but "
				     "it is the same as in the last turn; edit it ({edit}), or "
				     "confirm twice"
				   : "accepted says that the artifact now reflects the change, but "
				     "it is the same as in the last turn; :attach FILE, or confirm "
				     "twice");
	if (!p->missing.n && p->letter.bytes.n)
		add_bytes(prose, &p->letter);
	line_add(out, LINE_BLANK, 0, 0);
}

static void preflight_make(const struct scene *s, int cols, struct lines *out)
{
	struct prose *prose;

	if (!s->plan)
		return;
	prose = prose_start(s, cols, out, sizeof(*prose));
	prose_hint(prose, NULL, 0, ROLE_KEY,
		   s->plan->named.n
			   ? "The path comes from a message. y asks again and writes there, {back} "
			     "cancels."
		   : plan_is_ready(s->plan)
			   ? "This will be written. y sends it, {back} cancels."
			   : "Not all of this can be written yet. y sends what is complete, {back} "
			     "cancels.");
	if (s->plan->apart.n)
		prose_hint(prose, NULL, 0, ROLE_KEY,
			   "More goes to paths named by messages; {deliver} shows it on separate "
			   "pages.");
	line_add(out, LINE_BLANK, 0, 0);
	for (uint32_t i = 0; i < s->plan->list.n; i++)
		add_proposal(prose, out, &s->plan->list.v[i], i);
	add_list(prose, "not sent", ROLE_ERROR, s->plan->refused.v, s->plan->refused.n);
	prose_end(prose);
}

static void draw_head(const struct proposal *p, uint32_t i, uint32_t n, struct pen pen)
{
	const struct letter *l = &p->letter;

	pen_printf(&pen, ROLE_KEY, "%u/%u ", i + 1, n);
	if (l->channel == CHANNEL_NONE && !p->missing.n) {
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

static void draw_draft(const struct scene *s, const struct draft *draft, struct pen pen)
{
	const struct mark *mark = &verdict_marks[verb_verdict(draft->verb)];

	pen_skip(&pen, 4);
	pen_printf(&pen, mark->role, "%s %s ", mark->glyph, verb_name(draft->verb));
	pen_id(&pen, ROLE_ID, draft->item);
	if (draft->reason_code.n) {
		pen_put(&pen, ROLE_DIM, "  ");
		pen_id(&pen, ROLE_NORMAL, draft->reason_code);
	}
	if (draft->answer.n) {
		pen_put(&pen, ROLE_DIM, "  ");
		pen_text(&pen, ROLE_NORMAL, draft->answer);
	}
	if (draft->number != NONE && !(draft->number < s->read_n && s->read[draft->number]))
		pen_put(&pen, ROLE_WARN, "  preview not scrolled to the end");
}

static void preflight_draw(const struct scene *s, const struct lines *lines, uint32_t i,
			   struct grid *g, struct rect row)
{
	const struct line *line = &lines->list.v[i];
	struct pen pen = { g, rect_in(row, 0, 0, 1, row.cols) };
	const struct proposal *p;

	if (prose_draw(s, lines->own, line, pen))
		return;
	p = &s->plan->list.v[line->a];
	if (line->what == ROW_HEAD)
		draw_head(p, line->a, s->plan->list.n, pen);
	else
		draw_draft(s, &p->desk->drafts.v[p->letter.drafts.v[line->b]], pen);
}

const struct view_ops view_preflight = {
	.name = "preflight",
	.make = preflight_make,
	.draw = preflight_draw,
	.empty = "Nothing is staged. {accept} accepts, {reject} rejects, {answer} answers what is "
		 "selected in the inbox.",
};
