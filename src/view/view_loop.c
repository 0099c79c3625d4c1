/* The loop view: whether a loop of the ledger converges, and why. Which items came back in which
 * iteration, what both sides decided about them, and what would end the loop. */
#include "model/ledger.h"
#include "view/view_parts.h"

#include <stdarg.h>

enum {
	LABEL_COLS = 8,
	NAMED_MAX = 4,     /* items that come back, in a row */
	OPEN_MAX = 50,     /* open items that are listed */
	TURNS_MAX = 12,    /* iterations of an item that comes back */
	TITLE_BYTES = 240, /* of what an item said */
};

const struct mark progress_marks[] = {
	[LOOP_BEGUN] = { "○", "-", "nothing to compare yet", ROLE_DIM },
	[LOOP_ENDED] = { "✓", "E", "ended", ROLE_OK },
	[LOOP_CONVERGES] = { "✓", "C", "converging", ROLE_OK },
	[LOOP_NOT_FALLING] = { "⚠", "N", "does not converge", ROLE_WARN },
	[LOOP_RECURRING] = { "⚠", "N", "does not converge", ROLE_WARN },
};

struct str loop_name(const struct ledger *all, uint32_t loop)
{
	const struct model *m = all->model;
	uint32_t task = all->list[loop].task;

	if (task != NONE)
		return model_str(m, m->tasks.v[task].id);
	return session_name(m, m->reviews.v[all->reviews[all->list[loop].reviews]].session);
}

bool loop_counts(const struct loop_at *l, uint32_t most, struct buf *out)
{
	uint32_t from = l->turn_count, n = 0;

	while (from && n < most)
		n += l->turns[--from].answer != NONE && !l->turns[from].failed;
	if (!n)
		return false;
	buf_adds(out, from ? "… → " : "");
	for (uint32_t i = from; i < l->turn_count; i++) {
		if (l->turns[i].answer == NONE || l->turns[i].failed)
			continue;
		buf_printf(out, "%u%s", l->turns[i].open, --n ? " → " : "");
	}
	return true;
}

void pen_recurring(struct pen *p, const struct model *m, const struct recurring *list, uint32_t total)
{
	uint32_t named = total < NAMED_MAX ? total : NAMED_MAX;

	for (uint32_t i = 0; i < named; i++) {
		pen_put(p, ROLE_WARN, i ? ", " : "  ▲ ");
		pen_id(p, ROLE_ID, model_str(m, m->items.v[list[i].item].id));
		if (list[i].times > 1)
			pen_printf(p, ROLE_WARN, " ×%u", list[i].times);
	}
	if (total > named)
		pen_printf(p, ROLE_DIM, ", %u more", total - named);
}

struct ledger *scene_ledger(const struct scene *s)
{
	if (s->loops)
		return ledger_ref(s->loops);
	return s->asof ? asof_ledger(s->asof, s->k, s->yield)
		       : ledger_new(s->model, s->k, s->k, s->yield);
}

bool item_loop_diverges(const struct scene *s, uint32_t item)
{
	uint32_t loop = s->loops ? ledger_loop_of(s->loops, item) : NONE;

	return loop != NONE && loop_diverges(s->loops, loop, s->k);
}

/* ---- making ---- */

struct loop_page {
	struct prose *prose;
	const struct scene *s;
	const struct ledger *all;
	const struct loop_at *l;
	uint32_t answered; /* iterations */
	struct arena arena;
	struct buf text;
};

__attribute__((format(printf, 4, 5)))
static void page_add(struct loop_page *p, const char *label, enum role role, const char *format, ...)
{
	va_list ap;

	buf_clear(&p->text);
	va_start(ap, format);
	buf_vprintf(&p->text, format, ap);
	va_end(ap);
	prose_add(p->prose, label, LABEL_COLS, role, buf_str(&p->text), TEXT_LINE);
}

static void add_reasons(struct loop_page *p, enum loop_progress progress)
{
	const struct loop_turn *before, *after;

	_Static_assert(LOOP_RECURS == 2, "it is called twice below");
	loop_last_two(p->l, &before, &after);
	switch (progress) {
	case LOOP_BEGUN:
		page_add(p, "why", ROLE_DIM, "fewer than two iterations were answered");
		return;
	case LOOP_ENDED:
		page_add(p, "why", ROLE_NORMAL, after->approved
				? "iteration %u was approved"
				: "nothing is open after iteration %u", after->iteration);
		return;
	case LOOP_CONVERGES:
	case LOOP_NOT_FALLING:
	case LOOP_RECURRING: break;
	}
	page_add(p, "why", ROLE_NORMAL, "%u open after iteration %u, %s %u after iteration %u",
		 after->open, after->iteration,
		 progress == LOOP_NOT_FALLING ? "no fewer than the" : "fewer than the",
		 before->open, before->iteration);
	if (after->recurring)
		page_add(p, NULL, ROLE_NORMAL, "%u open item%s came back twice or more",
			 after->recurring, after->recurring == 1 ? "" : "s");
}

/* Who said a message: the person, where it is a reply, else an agent. */
static struct str sender_name(const struct model *m, uint32_t message)
{
	const struct reply *r = message_reply(m, message);

	if (r)
		return r->by == NONE ? STR("reply file") : model_str(m, r->by);
	return agent_name(m, message_route(m, message)->from);
}

/* The beginning of a text, cut between characters. */
static struct str beginning(struct str text)
{
	size_t n = text.n;

	if (n <= TITLE_BYTES)
		return text;
	for (n = TITLE_BYTES; n && ((unsigned char)text.p[n] & 0xc0) == 0x80;)
		n--;
	return str_make(text.p, n);
}

/* What the item said then: its title in the message of the event. */
static void add_title(struct loop_page *p, uint32_t number, uint32_t message)
{
	const struct scene *s = p->s;
	const struct item *item = &s->model->items.v[number];
	struct item_state at;
	struct detail d;

	if (item_at(s->model, item, message + 1, TIME_NONE, &at) && at.message == message &&
	    s->reader->detail(s->reader->ctx, item, &at, &d))
		prose_add(p->prose, NULL, LABEL_COLS, ROLE_DIM, beginning(d.title), TEXT_LINE);
}

/* An iteration and what happened in it: "accepted by requester, acknowledged, came back reworded" */
static void add_turn(struct loop_page *p, const struct entry *e, uint32_t first, uint32_t end)
{
	const struct model *m = p->s->model;
	uint32_t raised = NONE;
	struct buf words = { 0 };

	for (uint32_t i = first; i < end; i++) {
		const struct entry_event *event = &e->list[i];

		buf_printf(&words, "%s%s%s", words.n ? ", " : "", ledger_marks[event->kind].word,
			   event->reworded ? " reworded" : "");
		if (event->kind >= ENTRY_ACCEPTED && event->kind <= ENTRY_OTHER) {
			buf_adds(&words, " by ");
			buf_add_str(&words, sender_name(m, event->message));
		}
		if (event->kind == ENTRY_BACK || event->kind == ENTRY_RAISED)
			raised = event->message;
	}
	prose_add(p->prose,
		  arena_printf(&p->prose->out->arena, "  #%u",
			       p->l->turns[e->list[first].turn].iteration),
		  LABEL_COLS, e->list[end - 1].kind == ENTRY_BACK ? ROLE_WARN : ROLE_NORMAL,
		  buf_str(&words), TEXT_LINE);
	if (raised != NONE)
		add_title(p, e->item, raised);
	buf_release(&words);
}

/* The last iterations in which something happened to an item that comes back. */
static void add_recurring(struct loop_page *p, const struct recurring *r)
{
	uint32_t starts[TURNS_MAX], turns = 0;
	struct buf name = { 0 };
	struct entry e;

	loop_entry(p->all, p->l, r->item, &p->arena, &e);
	item_name(p->s->model, &p->s->model->items.v[e.item], &name);
	line_add(p->prose->out, LINE_BLANK, 0, 0);
	prose_add(p->prose, "▲", 2, ROLE_ID, buf_str(&name), TEXT_ID);
	page_add(p, NULL, ROLE_WARN, r->times == 1 ? "came back once" : "came back %u times",
		 r->times);
	for (uint32_t i = e.n; i-- > 0 && turns < TURNS_MAX;)
		if (!i || e.list[i - 1].turn != e.list[i].turn)
			starts[turns++] = i;
	for (uint32_t t = turns; t-- > 0;)
		add_turn(p, &e, starts[t], t ? starts[t - 1] : e.n);
	buf_release(&name);
}

/* The open items that did not come back. */
static void add_others(struct loop_page *p, const struct recurring *back, uint32_t back_n)
{
	const struct scene *s = p->s;
	uint32_t limit = model_item_count(s->model, s->k), n = 0;

	for (uint32_t place = loop_first_place(p->all, p->l->number, limit);
	     place != NONE && n < OPEN_MAX;
	     place = loop_next_place(p->all, p->l->number, place, limit)) {
		uint32_t number = loop_item(p->all, place), i = 0;
		const struct item *item = &s->model->items.v[number];
		struct item_state at;
		struct buf name = { 0 };

		while (i < back_n && back[i].item != number)
			i++;
		if (i < back_n || !item_at(s->model, item, s->k, scene_clock(s), &at) || !at.open)
			continue;
		if (!n++)
			line_add(p->prose->out, LINE_BLANK, 0, 0);
		item_name(s->model, item, &name);
		prose_add(p->prose, "○", 2, ROLE_ID, buf_str(&name), TEXT_ID);
		add_title(p, number, at.message);
		buf_release(&name);
	}
}

/* What would end the loop, by its protocol. */
static void add_end(struct loop_page *p, enum loop_progress progress)
{
	const struct model *m = p->s->model;
	uint32_t task = p->all->list[p->l->number].task;

	if (progress == LOOP_ENDED)
		return;
	if (task == NONE) {
		prose_add(p->prose, "ends", LABEL_COLS, ROLE_NORMAL,
			  STR("when an answer leaves nothing open; the protocol sets no limit"),
			  TEXT_LINE);
	} else {
		uint32_t most = task_review_limit(&m->tasks.v[task]);

		page_add(p, "ends", ROLE_NORMAL,
			 "when a review approves; the task allows %u review%s, %u %s answered%s",
			 most, most == 1 ? "" : "s", p->answered, p->answered == 1 ? "was" : "were",
			 p->answered >= most ? ": a person has to decide now" : "");
	}
	if (progress == LOOP_NOT_FALLING || progress == LOOP_RECURRING)
		prose_hint(p->prose, NULL, LABEL_COLS, ROLE_NORMAL,
			   "Settle what comes back: on the item, {reject} rejects it with a reason "
			   "for the other side, {escalate} escalates it to another reviewer.");
}

static void make_page(struct loop_page *p)
{
	enum loop_progress progress = loop_progress(p->l);
	struct recurring back[RECURRING_MAX];
	uint32_t total = loop_recurring(p->all, p->l, back);
	uint32_t n = total < RECURRING_MAX ? total : RECURRING_MAX;

	for (uint32_t i = 0; i < p->l->turn_count; i++)
		p->answered += p->l->turns[i].answer != NONE && !p->l->turns[i].failed;
	prose_add(p->prose, "loop", LABEL_COLS, ROLE_ACCENT, loop_name(p->all, p->l->number),
		  TEXT_ID);
	page_add(p, "state", progress_marks[progress].role, "%s %s",
		 progress_marks[progress].glyph, progress_marks[progress].word);
	buf_clear(&p->text);
	if (loop_counts(p->l, LOOP_COUNTS_MAX, &p->text))
		prose_add(p->prose, "open", LABEL_COLS, ROLE_KEY, buf_str(&p->text), TEXT_LABEL);
	add_reasons(p, progress);
	add_end(p, progress);
	for (uint32_t i = 0; i < n; i++)
		add_recurring(p, &back[i]);
	if (total > n)
		page_add(p, NULL, ROLE_DIM, "… and %u more that came back", total - n);
	add_others(p, back, n);
}

static void loop_make(const struct scene *s, int cols, struct lines *out)
{
	struct loop_page p = { .s = s, .prose = prose_start(s, cols, out, sizeof(*p.prose)) };
	struct ledger *all = scene_ledger(s);
	uint32_t loop = 0;

	while (all && loop < all->n && all->list[loop].first != s->message)
		loop++;
	if (all && loop < all->n && s->message < s->k) {
		p.all = all;
		p.l = loop_look(all, loop, s->k, &p.arena);
		make_page(&p);
	}
	prose_end(p.prose);
	ledger_release(all);
	arena_release(&p.arena);
	buf_release(&p.text);
}

static void loop_draw(const struct scene *s, const struct lines *lines, uint32_t i, struct grid *g,
		      struct rect row)
{
	struct pen p = { g, rect_in(row, 0, 0, 1, row.cols) };

	prose_draw(s, lines->own, &lines->list.v[i], p);
}

const struct view_ops view_loop = {
	.name = "loop",
	.make = loop_make,
	.draw = loop_draw,
	.empty = "There is no such loop, or not yet.",
};
