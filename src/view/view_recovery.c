/* The recovery view: letters that an earlier run recorded but did not finish sending, or holds.
 * Nothing is sent before the person has seen it. */
#include "decide/output_queue.h"
#include "view/view_parts.h"

#include <stdio.h>

enum what {
	ROW_LETTER = LINE_OWN, /* a: desk, b: letter */
};

static bool is_listed(const struct letter *l)
{
	return l->state == LETTER_HELD || l->state == LETTER_ATTEMPT ||
	       (l->state == LETTER_INTENT && l->channel != CHANNEL_NONE);
}

/* What confirming with y will do with a letter. */
static const char *planned_action(const struct desk *d, const struct letter *l)
{
	bool known = l->channel == CHANNEL_FILE || l->channel == CHANNEL_DIR;

	if (letter_is_lost(d, l))
		return !l->tried || !l->uncertain
			       ? "not delivered, and its agent has ended; it is withdrawn"
			       : "may have been read, and its agent has ended; it cannot be sent "
				 "again and is withdrawn";
	if (l->channel == CHANNEL_NONE)
		return "its text was lost with a damaged record; it stays held";
	if (!l->tried || !l->uncertain)
		return "not delivered; it will be sent";
	if (known)
		return "may have arrived; the file is checked first, and only what is missing is "
		       "written";
	if (l->channel == CHANNEL_AGENT)
		return "may have arrived; the agent's capture is checked first, and it is sent only "
		       "if it was not written";
	switch (dialects[l->dialect]->redelivery) {
	case REDELIVERY_ALWAYS:
		return "may have arrived; it is sent again under the same id, which changes "
		       "nothing twice";
	case REDELIVERY_ASKED: return "may have arrived; it will be sent again";
	case REDELIVERY_NEVER: break;
	}
	return "may have arrived; it stays held until {resend} says otherwise";
}

static void recovery_make(const struct scene *s, int cols, struct lines *out)
{
	struct prose *prose;

	if (!s->desks)
		return;
	prose = prose_start(s, cols, out, sizeof(*prose));
	prose_hint(prose, NULL, 0, ROLE_KEY,
		   "These messages are recorded, but not sent, or not for certain. y finishes them "
		   "as stated below, {back} leaves them.");
	for (uint32_t d = 0; d < s->desks->list.n; d++)
		for (uint32_t i = 0; i < s->desks->list.v[d].letters.n; i++) {
			const struct letter *l = &s->desks->list.v[d].letters.v[i];

			if (!is_listed(l))
				continue;
			line_add(out, LINE_BLANK, 0, 0);
			line_add(out, ROW_LETTER, d, i);
			prose_add(prose, "where", 10, ROLE_ID, l->path, TEXT_ID);
			prose_add(prose, "held", 10, ROLE_HELD, l->why, TEXT_LINE);
			prose_hint(prose, "then", 10, ROLE_NORMAL,
				   planned_action(&s->desks->list.v[d], l));
		}
	prose_end(prose);
}

static void recovery_draw(const struct scene *s, const struct lines *lines, uint32_t i,
			  struct grid *g, struct rect row)
{
	const struct line *line = &lines->list.v[i];
	struct pen p = { g, rect_in(row, 0, 0, 1, row.cols) };
	const struct desk *d;
	const struct letter *l;

	if (prose_draw(s, lines->own, line, p))
		return;
	d = &s->desks->list.v[line->a];
	l = &d->letters.v[line->b];
	pen_printf(&p, ROLE_KEY, "%s ", l->id);
	pen_printf(&p, ROLE_HELD, "%s ", letter_state_name(l->state));
	pen_put(&p, ROLE_DIALECT, dialect_name(l->dialect));
	pen_put(&p, ROLE_DIM, " to ");
	pen_id(&p, ROLE_AGENT, l->to);
	for (uint32_t k = 0; k < l->drafts.n; k++) {
		const struct draft *draft = &d->drafts.v[l->drafts.v[k]];

		pen_printf(&p, ROLE_DIM, "  %s ", verb_name(draft->verb));
		pen_draft_subject(&p, s, draft);
	}
}

const struct view_ops view_recovery = {
	.name = "recovery",
	.make = recovery_make,
	.draw = recovery_draw,
	.empty = "Nothing unfinished.",
};
