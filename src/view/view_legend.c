/* What the glyphs, letters and short column heads of each view mean, for the help page. The marks
 * themselves are those that the views draw (view_marks.c). */
#include "view/view_parts.h"

#define MARKS(table, from, count) .marks = (table) + (from), .n = (count) - (from)

#define GUTTER { "▸  *", "the selected line; an item marked for a common decision" }
#define SEVERITY                                                                                  \
	{ "sev", "severity", MARKS(grade_marks, 0, GRADE_NONE), .letters = true }
#define VERDICT { "verdict", "what was decided", MARKS(verdict_marks, 0, VERDICT_COUNT) }
#define OVER_ROWS                                                                                 \
	{ "↩ withdrawn", "the agent asks no more: its turn is over, it took the ask back, or "      \
			 "somebody else answered" }
#define SENT                                                                                      \
	{ "sent", "how far a decision has come",                                                   \
	  MARKS(delivery_marks, DELIVERY_STAGED, DELIVERY_HELD + 1) }
#define ORIGIN_ROWS                                                                               \
	{ "□ log", "said in a log, FIFO or pipe; decides what others raised" },                    \
	{ "◂ agent", "one agent's own output; raises and reports, but decides nothing" },          \
	{ "▸ reply", "from a reply file: a person who can write there" },                          \
	{ "■ journal", "decided here" }
#define CLAIM_ROWS                                                                                \
	{ "✗ not its role", "says what its origin or sender may not; no effect on items" },        \
	{ "⚠ unverified human", "calls itself a person, but not in a reply file or journal" }

static const struct legend inbox[] = {
	GUTTER,
	{ "time", "!0:40: time left until the deadline; else how long it has waited" },
	SEVERITY, VERDICT, SENT, OVER_ROWS,
	{ "▲ came back", "raised again after it was decided" },
	{ "⚠ broken", "its message is ambiguous or damaged; it cannot be decided" },
	ORIGIN_ROWS, CLAIM_ROWS,
};

static const struct legend timeline[] = {
	{ "state", "of a task", MARKS(task_marks, 0, TASK_RETRYING + 1) },
	{ "  ↳ state", "of a review", MARKS(review_marks, 0, REVIEW_REJECTED + 1) },
	{ "on a lane", "", MARKS(timeline_marks, 0, TIMELINE_MARKS) },
	{ "done", "reported progress; #2 on a review: its iteration" },
	{ "needs", "the tasks that it depends on, with their state" },
};

static const struct legend ledger[] = {
	{ "a cell", "the state after the iteration, then a letter for each step",
	  MARKS(ledger_marks, 0, LEDGER_MARKS), .letters = true },
	SEVERITY,
	{ "open new again", "items open after the iteration, raised in it, and raised again" },
};

static const struct legend messages[] = {
	{ "chk", "number of problems that check finds: E1W2",
	  MARKS(problem_marks, 0, SEVERITY_ERROR + 1), .letters = true },
	{ "dial", "dialect: feed feedback, coll collaboration, orch orchestrator, hand handoff, "
		  "enve envelope, clau claude, codx codex, acp, text a line that is not JSON, unkn JSON of no known protocol" },
	{ ">", "beside the line number: a reply, said to the agents" },
	{ "repeated", "the same message again; it changes nothing" },
	{ "name twice", "ambiguous: readers disagree on what it says; it decides nothing" },
	{ "cut off", "the input ends inside this line" },
	CLAIM_ROWS,
};

static const struct legend agents[] = {
	{ "state", "▶ working, · idle or waiting, ○ ending; ⚠ stalled: no progress for 30 s, "
		   "silent: no message for 30 s, flooding: over 100 messages a second, unread: "
		   "does not read its input" },
	{ "seen", "time since its last message" },
	{ "/s", "messages a second, over the last minute" },
	{ "minute", "that minute, in steps of 5 s" },
	{ "msgs", "messages; err, warn: those with errors, with warnings" },
	{ "in  out", "tokens read and written; cost in dollars" },
	{ "asked", "tool calls that a person was asked about; unasked: that changed something "
		   "without, by a rule, a mode or a hook" },
	ORIGIN_ROWS, CLAIM_ROWS,
};

static const struct legend decisions[] = {
	VERDICT, SENT,
	{ "said", "the answer or explanation; of what is held or came too late, why" },
	ORIGIN_ROWS,
};

static const struct legend pages[] = { VERDICT,	SENT,	     OVER_ROWS,
				       SEVERITY,	ORIGIN_ROWS, CLAIM_ROWS };

#define OF(view, table) { view, table, sizeof(table) / sizeof((table)[0]) }

static const struct {
	const char *view;
	const struct legend *list;
	unsigned n;
} all[] = {
	OF("inbox", inbox),       OF("timeline", timeline), OF("ledger", ledger),
	OF("messages", messages), OF("agents", agents),     OF("decisions", decisions),
	OF(NULL, pages),
};

const struct legend *view_legend(const struct view_ops *view, unsigned *n)
{
	unsigned i = 0;

	while (all[i].view && strcmp(all[i].view, view->name) != 0)
		i++;
	*n = all[i].n;
	return all[i].list;
}

void legend_text(const struct legend *l, struct buf *out)
{
	buf_adds(out, l->help);
	for (unsigned i = 0; i < l->n; i++) {
		const struct mark *m = &l->marks[i];

		buf_adds(out, i ? ", " : out->n ? ": " : "");
		buf_adds(out, m->glyph);
		if (l->letters && strcmp(m->letter, m->glyph) != 0)
			buf_printf(out, " %s", m->letter);
		buf_printf(out, " %s", m->word);
	}
}
