/* What things are called on the screen: by their own words, and by an id only where people use it.
 * Ids that programs made up (UUIDs, digests) stand in only where there are no words, shortened. */
#include "decide/question.h"
#include "dialect/formats.h"
#include "draw/say.h"
#include "view/view_parts.h"

enum {
	ID_FOR_PEOPLE = 16, /* bytes of the longest id that stands before the words */
	ID_SHORTENED = 8,
	TITLE_MAX = 400,    /* bytes of a first sentence */
};

static bool is_digest(struct str id)
{
	if (id.n < 16)
		return false;
	for (size_t i = 0; i < id.n; i++)
		if (!memchr("0123456789abcdefABCDEF-", id.p[i], 23))
			return false;
	return true;
}

struct str id_shortened(struct str id)
{
	return is_uuid(id, false) || is_digest(id) ? str_make(id.p, ID_SHORTENED) : id;
}

static bool id_is_for_people(struct str id)
{
	return id.n && id.n <= ID_FOR_PEOPLE && !is_uuid(id, false) && !is_digest(id);
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\n' || c == '\t' || c == '\r';
}

/* A stop after a single letter is one of an abbreviation: "e.g. this". */
static bool ends_sentence(struct str s, size_t i)
{
	return memchr(".!?", s.p[i], 3) && i >= 2 && s.p[i - 2] != '.' && !is_blank(s.p[i - 2]) &&
	       (i + 1 == s.n || is_blank(s.p[i + 1]));
}

struct str first_sentence(struct str text)
{
	while (text.n && is_blank(text.p[0]))
		text = str_from(text, 1);
	for (size_t i = 0; i < text.n && i < TITLE_MAX; i++)
		if (text.p[i] == '\n' || ends_sentence(text, i))
			return str_make(text.p, i + (text.p[i] == '!' || text.p[i] == '?'));
	return text;
}

static struct str item_title(const struct scene *s, const struct item *item,
			     const struct item_state *at)
{
	struct detail d;

	if (s->reader->detail(s->reader->ctx, item, at, &d) && d.title.n)
		return d.title;
	return s->reader->summary(s->reader->ctx, at->message);
}

/* The item's id alone: of a finding, without its review. */
static struct str item_own_id(const struct model *m, const struct item *item)
{
	return item->id == NONE ? STR_NONE : model_str(m, item->id);
}

void add_item_words(const struct scene *s, const struct item *item, const struct item_state *at,
		    int most, struct buf *out)
{
	struct str words, id = item_own_id(s->model, item);
	struct buf name = { 0 };
	size_t before = out->n;

	if (id_is_for_people(id)) {
		add_clean(out, id, TEXT_ID);
		buf_addc(out, ' ');
		most -= (int)id.n + 1;
	}
	words = item_title(s, item, at);
	if (words.n) {
		add_clean_cut(out, words, TEXT_LINE, s->ascii, most > 8 ? most : 8);
		return;
	}
	out->n = before;
	item_name(s->model, item, &name);
	add_clean(out, id_shortened(buf_str(&name)), TEXT_ID);
	buf_release(&name);
}

void pen_item_words(struct pen *p, const struct scene *s, const struct item *item,
		    const struct item_state *at)
{
	struct str words, id = item_own_id(s->model, item);
	struct buf name = { 0 };
	int room = p->rest.cols;

	if (id_is_for_people(id)) {
		pen_id(p, ROLE_ID, id);
		pen_put(p, ROLE_NORMAL, " ");
	}
	words = item_title(s, item, at);
	if (words.n) {
		pen_hidden(p, words);
		pen_text(p, ROLE_NORMAL, words);
	} else if (p->rest.cols == room) {
		item_name(s->model, item, &name);
		pen_id(p, ROLE_ID, id_shortened(buf_str(&name)));
		buf_release(&name);
	}
}

struct str call_folder(const struct scene *s, const struct item_state *at, const struct detail *d)
{
	for (unsigned i = 0; i < d->n; i++)
		if (strcmp(d->field[i].label, "folder") == 0)
			return d->field[i].text;
	return ask_folder(s->model, at->message);
}

/* ---- tasks ---- */

bool pen_task_workflow(struct pen *p, enum role role, const struct scene *s, const struct task *t,
		       const struct task_state_at *at)
{
	enum role words = role == ROLE_DIM ? ROLE_DIM : ROLE_NORMAL;
	struct str id = model_str(s->model, t->id);
	size_t slash = id.n;

	if (message_route(s->model, at->first)->dialect != DIALECT_ENVELOPE)
		return false;
	while (slash > 0 && id.p[slash - 1] != '/')
		slash--;
	if (slash < 2 || slash == id.n)
		return false;
	pen_id(p, words, str_from(id, slash));
	pen_put(p, words, " ");
	pen_path(p, words, str_make(id.p, slash - 1));
	return true;
}

struct str task_title(const struct scene *s, const struct task_state_at *at)
{
	uint32_t from[] = { at->first, at->given };

	for (int i = 0; i < 2 && s->reader->parsed; i++) {
		struct str title;
		yyjson_val *root;

		if (from[i] == NONE || (i && from[i] == from[0]))
			continue;
		root = s->reader->parsed(s->reader->ctx, from[i]);
		title = root ? dialect_task_title(message_route(s->model, from[i])->dialect, root)
			     : STR_NONE;
		if (title.n)
			return first_sentence(title);
	}
	return STR_NONE;
}

void pen_task_titled(struct pen *p, enum role role, const struct scene *s, const struct task *t,
		     struct str title)
{
	struct str id = model_str(s->model, t->id);
	enum role words = role == ROLE_DIM ? ROLE_DIM : ROLE_NORMAL;

	if (!title.n) {
		pen_path(p, role, id_shortened(id));
		return;
	}
	if (id_is_for_people(id)) {
		pen_id(p, role, id);
		pen_put(p, words, " ");
	}
	pen_hidden(p, title);
	pen_text(p, words, title);
}

void pen_task_words(struct pen *p, enum role role, const struct scene *s, const struct task *t,
		    const struct task_state_at *at)
{
	if (!at || !pen_task_workflow(p, role, s, t, at))
		pen_task_titled(p, role, s, t, at ? task_title(s, at) : STR_NONE);
}

/* ---- decisions ---- */

/* Replaces the answer in `out` by the label of the option that it chose; 0: by value or label. */
static void use_label(const struct scene *s, uint32_t item, uint32_t option, struct buf *out)
{
	const struct item *it = item == NONE ? NULL : &s->model->items.v[item];
	struct item_state at;
	struct detail d;
	struct str label;
	bool several;

	if (!it || !item_at(s->model, it, s->k, scene_clock(s), &at) ||
	    !s->reader->detail(s->reader->ctx, it, &at, &d) || !d.options || asks_by_line(&d))
		return;
	if (!option)
		option = option_named(d.options, buf_str(out), &several);
	label = option_label(option_numbered(d.options, option));
	if (label.n) {
		buf_clear(out);
		buf_add_str(out, label);
	}
}

void answer_label(const struct scene *s, uint32_t item, struct buf *answer)
{
	if (answer->n)
		use_label(s, item, 0, answer);
}

/* The item that a draft is about, as it is now; NULL = it is not in the log. */
static const struct item *subject(const struct scene *s, const struct draft *draft,
				  struct item_state *at)
{
	const struct item *item =
		draft->number == NONE ? NULL : &s->model->items.v[draft->number];

	return item && item_at(s->model, item, s->model->records.n, scene_clock(s), at) ? item
											: NULL;
}

void add_draft_subject(const struct scene *s, const struct draft *draft, int most, struct buf *out)
{
	struct item_state at;
	const struct item *item = subject(s, draft, &at);

	if (item)
		add_item_words(s, item, &at, most, out);
	else
		add_clean(out, id_shortened(draft->item), TEXT_ID);
}

void pen_draft_subject(struct pen *p, const struct scene *s, const struct draft *draft)
{
	struct item_state at;
	const struct item *item = subject(s, draft, &at);

	if (item)
		pen_item_words(p, s, item, &at);
	else
		pen_id(p, ROLE_ID, id_shortened(draft->item));
}

void draft_words(const struct scene *s, const struct draft *draft, struct buf *out)
{
	buf_clear(out);
	buf_add_str(out, draft->answer.n	? draft->answer
			 : draft->explanation.n ? draft->explanation
						: draft->reason_code);
	if (draft->answer.n && draft->verb == VERB_ANSWER)
		use_label(s, draft->number, draft->option, out);
	for (size_t i = 0; i < out->n && draft->verb == VERB_ANSWER; i++)
		if (out->p[i] == '\n') /* answers to several questions, a line each */
			out->p[i] = '/';
}

void step_words(const struct scene *s, uint32_t item, const struct item_step *step,
		struct buf *out)
{
	yyjson_val *root =
		s->reader->parsed ? s->reader->parsed(s->reader->ctx, step->message) : NULL;

	buf_clear(out);
	if (!root)
		return;
	buf_add_str(out, dialect_decision_reason(message_route(s->model, step->message)->dialect,
						 root,
						 item_own_id(s->model, &s->model->items.v[item])));
	if (step->verdict == VERDICT_ANSWERED && out->n)
		use_label(s, item, 0, out);
}
