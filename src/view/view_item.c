/* The item view: state, origin and fields of one item, its history step by step, the diagnostics of
 * its message, and the message itself. */
#include "encode/attach.h"
#include "view/session_label.h"

#include <stdio.h>

enum { LABEL_MAX = 14, HISTORY_COL = 21, REFUSED_MAX = 20 };

enum what {
	ROW_NAME = LINE_OWN, /* the id and the verdict */
	ROW_FACTS,           /* kind, dialect, severity, iteration */
	ROW_ORIGIN,          /* agent, task, session */
	ROW_DEADLINE,        /* and its default action; a: enum deadline_part */
	ROW_TEAM,            /* of a team's inbox: claims, votes, level */
	ROW_DECIDED,         /* by whom, and from where */
	ROW_STEP,            /* a: number of the step */
	ROW_ESCALATED,       /* a: desk, b: draft that was written to a queue */
	ROW_REFUSED,         /* a: message that was not allowed to decide it */
	ROW_MORE_REFUSED,    /* a: how many older ones there are */
	ROW_EXPIRED,
	ROW_OVER,            /* why it is no longer asked */
};

/* A deadline and what comes then: in one row, or in two where that is too long. */
enum deadline_part { DEADLINE_WHOLE, DEADLINE_TIME, DEADLINE_THEN };
enum { DEADLINE_COLS = 76 };

struct item_own {
	struct prose prose;
	struct item_state at;
};

/* ---- making ---- */

static bool title_is_a_field(const struct detail *d)
{
	for (unsigned i = 0; i < d->n; i++)
		if (str_eq(d->field[i].text, d->title))
			return true;
	return false;
}

/* The lines of a diff, added and removed ones as in other diffs. */
static void add_diff(struct prose *p, int indent, struct str text)
{
	struct str rest = arena_str(&p->out->arena, text);
	const char *label = "diff";

	while (rest.n) {
		struct str line = str_cut(&rest, STR("\n"));
		enum role role = str_starts(line, STR("+++")) || str_starts(line, STR("---")) ||
						 str_starts(line, STR("@@"))
					 ? ROLE_DIM
				 : str_starts(line, STR("+")) ? ROLE_ADDED
				 : str_starts(line, STR("-")) ? ROLE_REMOVED
							      : ROLE_NORMAL;

		prose_add(p, label, indent, role, line.n ? line : STR(" "), TEXT_LINE);
		label = NULL;
	}
}

/* What a tool call comes behind, newest first. */
static void add_recent(const struct scene *s, struct lines *out, const struct item *item, int indent)
{
	struct item_own *own = out->own;
	uint32_t calls[RECENT_CALLS], n;

	if (item->kind != ITEM_PERMISSION)
		return;
	n = recent_calls(s->model, own->at.message, calls, RECENT_CALLS);
	for (uint32_t i = 0; i < n; i++)
		prose_add(&own->prose, i ? NULL : "before", indent, ROLE_DIM,
			  s->reader->summary(s->reader->ctx, calls[i]), TEXT_LINE);
}

/* The columns of the labels and the gap behind them. */
static int label_cols(const struct detail *d, const struct lines *out)
{
	int cols = 0;

	for (unsigned i = 0; i < d->n; i++)
		if ((int)strlen(d->field[i].label) > cols)
			cols = (int)strlen(d->field[i].label);
	cols = (cols > LABEL_MAX ? LABEL_MAX : cols) + 2;
	return cols > out->cols / 3 ? out->cols / 3 : cols;
}

/* False: they are not known, and the summary stands for them. */
static bool add_fields(const struct scene *s, struct lines *out, const struct item *item)
{
	struct item_own *own = out->own;
	struct detail d;
	bool has_folder = false;
	int indent;

	if (!s->reader->detail(s->reader->ctx, item, &own->at, &d)) {
		prose_add(&own->prose, NULL, 0, ROLE_NORMAL,
			  s->reader->summary(s->reader->ctx, own->at.message), TEXT_LINES);
		return false;
	}
	indent = label_cols(&d, out);
	if (d.title.n && !title_is_a_field(&d))
		prose_add(&own->prose, NULL, 0, ROLE_KEY, d.title, TEXT_LINES);
	for (unsigned i = 0; i < d.n; i++) {
		const struct detail_field *f = &d.field[i];

		has_folder |= strcmp(f->label, "folder") == 0;
		if (strcmp(f->label, "diff") == 0)
			add_diff(&own->prose, indent, f->text);
		else
			prose_add(&own->prose, f->label, indent,
				  str_eq(f->text, d.title) ? ROLE_KEY : ROLE_NORMAL, f->text,
				  f->id_like ? TEXT_ID : TEXT_LINES);
	}
	if (item->kind == ITEM_PERMISSION && !has_folder)
		prose_add(&own->prose, "folder", indent, ROLE_NORMAL,
			  call_folder(s, &own->at, &d), TEXT_ID);
	add_recent(s, out, item, indent);
	return true;
}

/* The message, unless its fields stand above already. What is broken is shown as it is: the fields
 * may not say why. On paper nobody can ask for it. */
static void add_message(const struct scene *s, struct prose *p, const struct item_state *at,
			bool has_fields)
{
	if (s->raw || !s->keymap || at->undecidable || !has_fields) {
		prose_message(p, at->message);
		return;
	}
	prose_section(p, SECTION_MESSAGE, at->message);
	prose_hint(p, NULL, 0, ROLE_DIM, "{raw} shows it as it came.");
}

/* Messages that were not allowed to decide the item, newest first. */
struct refused {
	uint32_t list[REFUSED_MAX];
	uint32_t n, more;
};

static void find_refused(const struct scene *s, struct refused *out)
{
	const struct model *m = s->model;

	*out = (struct refused){ .n = 0 };
	for (uint32_t i = m->refusals.n; i-- > 0;) {
		const struct refusal *r = &m->refusals.v[i];

		if (r->item != s->item || r->message >= s->k)
			continue;
		if (out->n < REFUSED_MAX)
			out->list[out->n++] = r->message;
		else
			out->more++;
	}
}

/* What a message was refused for: its role, else the worst that a rule has against it. */
static struct str refused_why(const struct scene *s, uint32_t message)
{
	const struct diags *diags = s->reader->diags(s->reader->ctx, message);
	struct str role = STR("not its role: "), why = STR_NONE;
	enum severity worst = SEVERITY_NOTE;

	for (uint32_t i = 0; i < diags->list.n; i++) {
		const struct diag *d = &diags->list.v[i];

		if (str_starts(d->text, role))
			return str_from(d->text, role.n);
		if (d->severity > worst) {
			worst = d->severity;
			why = d->text;
		}
	}
	return why;
}

static void add_refused(const struct scene *s, struct lines *out, uint32_t message)
{
	struct item_own *own = out->own;

	line_add(out, ROW_REFUSED, message, 0);
	prose_add(&own->prose, NULL, HISTORY_COL, ROLE_DIM, refused_why(s, message), TEXT_LINE);
}

/* Passed on to a queue: that is in the journal, and no message of the session. */
static bool is_escalation(const struct desk *desk, const struct draft *draft, uint32_t item)
{
	const struct letter *l = draft_letter(desk, draft);

	return draft->number == item && draft->verb == VERB_ESCALATE &&
	       draft->state == DRAFT_WRITTEN && l && l->aside;
}

/* The escalations of what a step raised, newest first. A reply from elsewhere may stand right behind
 * that step, so the number of messages seen does not tell which was first. */
static void add_escalations(const struct scene *s, struct lines *out, const struct item *item,
			    uint32_t step)
{
	uint32_t message = item->steps[step].message;

	for (uint32_t d = 0; s->desks && d < s->desks->list.n; d++) {
		const struct desk *desk = &s->desks->list.v[d];

		for (uint32_t i = desk->drafts.n; i-- > 0;)
			if (is_escalation(desk, &desk->drafts.v[i], s->item) &&
			    desk->drafts.v[i].when <= s->k &&
			    (desk->drafts.v[i].raise == message ||
			     (desk->drafts.v[i].raise == NONE && !step)))
				line_add(out, ROW_ESCALATED, d, i);
	}
}

/* Newest step first. */
static void add_history(const struct scene *s, struct lines *out, const struct item *item)
{
	struct item_own *own = out->own;
	struct refused refused;
	uint32_t n = 0, next = 0;

	find_refused(s, &refused);
	while (n < item->n && item->steps[n].message < s->k)
		n++;
	prose_section(&own->prose, SECTION_HISTORY, NONE);
	if (own->at.verdict == VERDICT_EXPIRED && item->steps[n - 1].verdict != VERDICT_EXPIRED)
		line_add(out, ROW_EXPIRED, 0, 0);
	while (n-- > 0) {
		while (next < refused.n && refused.list[next] > item->steps[n].message)
			add_refused(s, out, refused.list[next++]);
		if (next == refused.n && refused.more) {
			line_add(out, ROW_MORE_REFUSED, refused.more, 0);
			refused.more = 0;
		}
		if (item->steps[n].what == STEP_RAISED || item->steps[n].what == STEP_BOUNCED)
			add_escalations(s, out, item, n);
		line_add(out, ROW_STEP, n, 0);
	}
}

/* The reply of somebody else that decided the item, or NULL. */
static const struct reply *their_reply(const struct model *m, const struct item_state *at)
{
	const struct reply *r = at->overlaid ? NULL : message_reply(m, at->decided);

	return r && (!r->own || r->relayed) ? r : NULL;
}

/* What somebody else's reply says. */
static void add_their_words(const struct scene *s, struct item_own *own)
{
	struct item_step step = { .message = own->at.decided, .verdict = own->at.verdict & 15 };
	struct buf words = { 0 };

	step_words(s, s->item, &step, &words);
	prose_add(&own->prose, own->at.verdict == VERDICT_ANSWERED ? "answer" : "why", 8,
		  ROLE_NORMAL, buf_str(&words), TEXT_LINES);
	buf_release(&words);
}

/* Who decided; of the person's own decision also reason, explanation, answer and delivery. */
static void add_decision(const struct scene *s, struct lines *out)
{
	struct item_own *own = out->own;
	const struct desk *desk;
	const struct draft *draft = own->at.delivery == DELIVERY_NONE
					    ? NULL
					    : draft_on_item(s, s->item, &desk);

	if (item_over_reason(s->model, &own->at))
		line_add(out, ROW_OVER, 0, 0);
	else if (item_by(s->model, &own->at).n && own->at.verdict != VERDICT_SUPERSEDED)
		line_add(out, ROW_DECIDED, 0, 0);
	if (their_reply(s->model, &own->at)) {
		add_their_words(s, own);
		return; /* whatever was said here, that is not why */
	}
	if (!draft)
		return;
	prose_add(&own->prose, "reason", 8, ROLE_NORMAL, draft->reason_code, TEXT_ID);
	prose_add(&own->prose, "why", 8, ROLE_NORMAL, draft->explanation, TEXT_LINES);
	prose_add(&own->prose, "answer", 8, ROLE_NORMAL, draft->answer, TEXT_LINES);
	if (draft->letter != NONE && desk->letters.v[draft->letter].state == LETTER_HELD)
		prose_add(&own->prose, "held", 8, ROLE_HELD, desk->letters.v[draft->letter].why,
			  TEXT_LINE);
}

static void item_make(const struct scene *s, int cols, struct lines *out)
{
	const struct team_mark *mark;
	const struct item *item;
	struct item_state at;
	struct item_own *own;
	bool has_fields;

	if (s->item >= s->model->items.n)
		return;
	item = &s->model->items.v[s->item];
	if (!item_at(s->model, item, s->k, scene_clock(s), &at))
		return;
	own = prose_start(s, cols, out, sizeof(*own));
	own->at = at;
	line_add(out, ROW_NAME, 0, 0);
	line_add(out, ROW_FACTS, 0, 0);
	line_add(out, ROW_ORIGIN, 0, 0);
	if (own->at.open && own->at.deadline_ms != TIME_NONE) {
		line_add(out, ROW_DEADLINE, cols >= DEADLINE_COLS ? DEADLINE_WHOLE : DEADLINE_TIME, 0);
		if (cols < DEADLINE_COLS)
			line_add(out, ROW_DEADLINE, DEADLINE_THEN, 0);
	}
	mark = team_mark_of(s->team, s->item);
	if (mark)
		line_add(out, ROW_TEAM, 0, 0);
	if (mark && mark->doubt.n)
		prose_add(&own->prose, "log", 8, team_mark_is_untrue(mark) ? ROLE_ERROR : ROLE_DIM, mark->doubt,
			  TEXT_LINES);
	add_decision(s, out);
	if (mark && mark->said.n)
		prose_add(&own->prose, "said", 8, ROLE_DIM, mark->said, TEXT_LINES);
	line_add(out, LINE_BLANK, 0, 0);
	has_fields = add_fields(s, out, item);
	add_history(s, out, item);
	prose_problems(&own->prose, own->at.message);
	add_message(s, &own->prose, &own->at, has_fields);
	prose_end(&own->prose);
}

/* ---- drawing ---- */

/* The id at the left, the verdict at the right; a long id is cut. */
static void draw_name(const struct scene *s, const struct item *item, const struct item_state *at,
		      struct pen p)
{
	const struct mark *mark = &verdict_marks[at->verdict];
	struct rect row = p.rest;
	char state[64];
	int width;

	snprintf(state, sizeof(state), "%s %s%s", mark->glyph, mark->word,
		 at->bounced ? at->open ? ", bounced" : ", answered too late"
		 : at->acked ? ", acknowledged"
			     : "");
	width = (int)cells_width(raw_of(str_of(state)), TEXT_LABEL, p.g->ascii, 64);
	put_right(p.g, row, mark->role, state);
	p.rest.cols = row.cols - width - 1;
	if (p.rest.cols >= 1)
		pen_item_name(&p, s->model, item);
}

static void draw_facts(const struct scene *s, const struct item *item, const struct item_own *own,
		       struct pen p)
{
	const struct item_state *at = &own->at;
	enum dialect_id dialect = message_route(s->model, at->message)->dialect;
	uint32_t inputs;
	char clock[32];
	enum role role;

	if (own->prose.hidden)
		pen_hidden_badge(&p);
	pen_claims(&p, s->model, at->message);
	pen_put(&p, ROLE_NORMAL, item_kind_name(item->kind));
	pen_put(&p, ROLE_DIM, " · ");
	pen_put(&p, ROLE_DIALECT, dialect_name(dialect));
	if (at->grade != GRADE_NONE) {
		pen_put(&p, ROLE_DIM, " · ");
		pen_put(&p, grade_marks[at->grade].role, grade_name(at->grade));
	}
	if (at->iteration)
		pen_printf(&p, ROLE_NORMAL, " · iteration %u", at->iteration);
	if (at->came_back)
		pen_put(&p, ROLE_WARN, " · ▲ came back");
	if (at->open && item_loop_diverges(s, s->item))
		pen_put(&p, ROLE_WARN, " · ⚠ loop not converging");
	if (at->revision > 1)
		pen_printf(&p, ROLE_WARN, " · reworded ×%u", at->revision);
	else if (at->revision)
		pen_put(&p, ROLE_WARN, " · reworded");
	else if (at->times > 1)
		pen_printf(&p, ROLE_DIM, " · ×%u", at->times);
	if (at->undecidable)
		pen_put(&p, ROLE_ERROR, " · ⚠ broken: cannot be decided");
	if (at->open && item_is_snoozed(s, s->item, at))
		pen_put(&p, ROLE_DEFERRED, " · snoozed");
	if (output_inputs(s->model, at->message, &inputs))
		pen_printf(&p, ROLE_WARN, " · ⚠ may answer any of %u inputs (:input LINE)", inputs);
	item_clock(s, at, clock, &role);
	if (at->open && at->deadline_ms == TIME_NONE && clock[0] != '-')
		pen_printf(&p, role, " · waits %s", clock);
}

static void draw_origin(const struct scene *s, const struct item *item, const struct item_state *at,
			struct pen p)
{
	const struct model *m = s->model;
	uint32_t from = message_route(m, at->message)->from;

	pen_put(&p, ROLE_DIM, "raised by ");
	if (from == NONE)
		pen_put(&p, ROLE_DIM, "-");
	else
		pen_id(&p, agent_role(m, from), agent_name(m, from));
	pen_origin(&p, m, at->message, false);
	if (item_task(m, item) != NONE) {
		pen_put(&p, ROLE_DIM, "  task ");
		pen_id(&p, ROLE_ID, model_str(m, m->tasks.v[item_task(m, item)].id));
	}
	pen_put(&p, ROLE_DIM, "  session ");
	pen_id(&p, ROLE_DIM, session_name(m, item_session(m, item)));
}

static void draw_deadline(const struct scene *s, const struct item *item,
			  const struct item_state *at, enum deadline_part part, struct pen p)
{
	const char *between = part == DEADLINE_WHOLE ? "; " : "";
	enum role role;
	char clock[32];

	item_clock(s, at, clock, &role);
	if (item_is_overdue(s, at)) {
		if (part != DEADLINE_THEN)
			pen_printf(&p, role, "its deadline was %s",
				   timestamp_clock(at->deadline_ms, clock));
		if (part != DEADLINE_TIME)
			pen_printf(&p, ROLE_DIM, "%snothing newer from the agent", between);
		return;
	}
	if (part != DEADLINE_THEN) {
		pen_put(&p, role, clock);
		pen_printf(&p, ROLE_DIM, " until it expires at %s",
			   timestamp_clock(at->deadline_ms, clock));
	}
	if (part != DEADLINE_TIME) {
		pen_printf(&p, ROLE_DIM, "%sthen ", between);
		pen_put(&p, ROLE_NORMAL, item_default(s->model, item));
	}
}

static int64_t decided_at(const struct model *m, const struct item_state *at)
{
	if (at->delivery != DELIVERY_NONE && at->person_ms != TIME_NONE)
		return at->person_ms;
	return at->overlaid || at->decided == NONE ? TIME_NONE
						   : m->records.v[at->decided].time_ms;
}

static void draw_decided(const struct scene *s, const struct item_state *at, struct pen p)
{
	const struct model *m = s->model;
	const struct mark *mark = &verdict_marks[at->verdict];
	bool person = at->delivery != DELIVERY_NONE;
	int64_t when = decided_at(m, at);
	char clock[32];

	if (!at->overlaid && at->decided != NONE)
		pen_claims(&p, m, at->decided);
	pen_printf(&p, mark->role, "%s %s", mark->glyph, mark->word);
	pen_put(&p, ROLE_DIM, " by ");
	pen_id(&p, person ? ROLE_PERSON : agent_role(m, decided_by(m, at)), item_by(m, at));
	pen_put(&p, ROLE_DIM, item_by_origin(m, at));
	if (when != TIME_NONE)
		pen_printf(&p, ROLE_DIM, " at %s", timestamp_clock(when, clock));
	if (!person)
		return;
	pen_put(&p, ROLE_DIM, ", ");
	pen_put(&p, delivery_marks[at->delivery].role, delivery_name(at->delivery));
}

/* Why it is no longer asked; and what was answered too late. */
static void draw_over(const struct scene *s, const struct item *item, const struct item_state *at,
		      struct pen p)
{
	const struct mark *mark = &verdict_marks[at->verdict];
	uint32_t n = item->n;

	pen_printf(&p, mark->role, "%s %s", mark->glyph, mark->word);
	pen_printf(&p, ROLE_NORMAL, ": %s", item_over_reason(s->model, at));
	if (!at->bounced)
		return;
	while (n > 0 && (item->steps[n - 1].what != STEP_DECIDED || item->steps[n - 1].message >= s->k))
		n--;
	if (!n)
		return;
	mark = &verdict_marks[item->steps[n - 1].verdict];
	pen_put(&p, ROLE_DIM, " · too late: ");
	pen_printf(&p, mark->role, "%s %s", mark->glyph, mark->word);
	pen_put(&p, ROLE_DIM, " by ");
	pen_decider(&p, s->model, &item->steps[n - 1]);
}

/* Whether the item was last raised before this step in another iteration. */
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
	const struct mark *mark = &verdict_marks[step->verdict];

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
	case STEP_EXPIRED: pen_printf(p, ROLE_WARN, "%s %s", mark->glyph, mark->word); break;
	case STEP_WITHDRAWN: pen_printf(p, mark->role, "%s %s", mark->glyph, mark->word); break;
	}
}

/* Draws when and where a message was; returns the pen for what it did. */
static struct pen history_pen(const struct scene *s, uint32_t message, struct pen p)
{
	int64_t time_ms = s->model->records.v[message].time_ms;
	bool said = message_route(s->model, message)->flags & RECORD_REPLY;
	struct rect row = p.rest;
	char text[32];

	pen_put(&p, ROLE_TIME, time_ms == TIME_NONE ? "-" : timestamp_clock(time_ms, text));
	snprintf(text, sizeof(text), said ? "reply %u" : "line %u",
		 message_line(s->model, message));
	put_right(p.g, rect_in(row, 0, 9, 1, 10), ROLE_DIM, text);
	p.rest = rect_in(row, 0, HISTORY_COL, 1, row.cols - HISTORY_COL);
	return p;
}

static void put_step_words(const struct scene *s, const struct item_step *step, struct pen *p)
{
	struct buf words = { 0 };

	step_words(s, s->item, step, &words);
	if (words.n) {
		pen_put(p, ROLE_DIM, ": ");
		pen_text(p, ROLE_NORMAL, buf_str(&words));
	}
	buf_release(&words);
}

static void draw_escalated(const struct scene *s, const struct line *line, struct pen p)
{
	const struct mark *mark = &verdict_marks[VERDICT_ESCALATED];
	const struct desk *desk = &s->desks->list.v[line->a];
	const struct draft *draft = &desk->drafts.v[line->b];
	const struct letter *l = draft_letter(desk, draft);
	struct rect row = p.rest;
	char text[32];

	pen_put(&p, ROLE_TIME, timestamp_clock(draft->time_ms, text));
	put_right(p.g, rect_in(row, 0, 9, 1, 10), ROLE_DIM, "journal");
	p.rest = rect_in(row, 0, HISTORY_COL, 1, row.cols - HISTORY_COL);
	pen_printf(&p, mark->role, "%s %s", mark->glyph, mark->word);
	pen_put(&p, ROLE_DIM, " by ");
	pen_id(&p, ROLE_PERSON, draft->by);
	pen_put(&p, ROLE_DIM, " to ");
	pen_id(&p, ROLE_ID, str_from(l->path, file_name_start(l->path)));
	if (draft->explanation.n) {
		pen_put(&p, ROLE_DIM, ": ");
		pen_text(&p, ROLE_NORMAL, draft->explanation);
	}
}

static void draw_step(const struct scene *s, const struct item *item, uint32_t number, struct pen p)
{
	const struct item_step *step = &item->steps[number];

	p = history_pen(s, step->message, p);
	put_step(item, number, &p);
	if (step->what == STEP_RAISED && step->iteration)
		pen_printf(&p, ROLE_DIM, " in iteration %u", step->iteration);
	if (step->what == STEP_EXPIRED) {
		pen_printf(&p, ROLE_WARN, ": %s",
			   item_deadline(s->model, item, step->message) == TIME_NONE
				   ? "the agent ended"
				   : item_default(s->model, item));
	} else if (step->what == STEP_WITHDRAWN) {
		pen_printf(&p, ROLE_DIM, ": %s", withdrawal_reason(s->model, step->message));
	} else if (step->said || step_by(s->model, step) != NONE) {
		pen_put(&p, ROLE_DIM, " by ");
		pen_decider(&p, s->model, step);
		pen_origin(&p, s->model, step->message, step->what == STEP_DECIDED);
		if (step->said && step->what == STEP_DECIDED)
			put_step_words(s, step, &p);
	}
	pen_source(&p, s, step->message);
}

static void draw_refused(const struct scene *s, uint32_t message, struct pen p)
{
	const struct model *m = s->model;
	const struct mark *mark = &claim_marks[CLAIM_ROLE];
	uint32_t from = message_route(m, message)->from;

	p = history_pen(s, message, p);
	pen_printf(&p, mark->role, "%s %s", mark->glyph, mark->word);
	if (from == NONE)
		return;
	pen_put(&p, ROLE_DIM, ", by ");
	pen_agent(&p, m, from);
	pen_origin(&p, m, message, true);
}

static void draw_expired(const struct scene *s, const struct item *item,
			 const struct item_state *at, struct pen p)
{
	struct rect row = p.rest;
	char text[32];

	pen_put(&p, ROLE_TIME, timestamp_clock(at->deadline_ms, text));
	p.rest = rect_in(row, 0, HISTORY_COL, 1, row.cols - HISTORY_COL);
	pen_printf(&p, ROLE_WARN, "%s %s: %s", verdict_marks[VERDICT_EXPIRED].glyph,
		   verdict_marks[VERDICT_EXPIRED].word, item_default(s->model, item));
}

static void item_draw(const struct scene *s, const struct lines *lines, uint32_t i, struct grid *g,
		      struct rect row)
{
	const struct item_own *own = lines->own;
	const struct line *line = &lines->list.v[i];
	const struct item *item = &s->model->items.v[s->item];
	struct pen p = { g, rect_in(row, 0, 0, 1, row.cols) };

	if (prose_draw(s, &own->prose, line, p))
		return;
	switch ((enum what)line->what) {
	case ROW_NAME: draw_name(s, item, &own->at, p); break;
	case ROW_FACTS: draw_facts(s, item, own, p); break;
	case ROW_ORIGIN: draw_origin(s, item, &own->at, p); break;
	case ROW_TEAM:
		if (team_mark_of(s->team, s->item))
			pen_team_words(&p, team_mark_of(s->team, s->item), scene_clock(s));
		break;
	case ROW_DECIDED: draw_decided(s, &own->at, p); break;
	case ROW_STEP: draw_step(s, item, line->a, p); break;
	case ROW_ESCALATED: draw_escalated(s, line, p); break;
	case ROW_REFUSED: draw_refused(s, line->a, p); break;
	case ROW_MORE_REFUSED:
		pen_skip(&p, HISTORY_COL);
		pen_printf(&p, ROLE_DIM, "and %u more, not its role either", line->a);
		break;
	case ROW_EXPIRED: draw_expired(s, item, &own->at, p); break;
	case ROW_OVER: draw_over(s, item, &own->at, p); break;
	case ROW_DEADLINE: draw_deadline(s, item, &own->at, line->a, p); break;
	}
}

static struct target item_target(const struct scene *s, const struct lines *lines, uint32_t i)
{
	const struct line *line = &lines->list.v[i];

	if (line->what == ROW_REFUSED)
		return target_message(line->a);
	if (line->what != ROW_STEP)
		return target_none;
	return target_message(s->model->items.v[s->item].steps[line->a].message);
}

const struct view_ops view_item = {
	.name = "item",
	.make = item_make,
	.draw = item_draw,
	.target = item_target,
	.empty = "No such item, or not yet.",
};
