/* gavel show decisions --against=JOURNAL: diff of the decisions made here and those of another
 * journal, usually a fork's: item by item, and field by field of the protocol messages. Ids, times
 * and counters differ in every message and are ignored. */
#include "session/journals.h"
#include "cmd/print.h"
#include "cmd/show_json.h"

#include "json/compose.h"
#include "view/view_parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

enum { VALUE_CELLS = 60, DIFFERENCES_MAX = 64 };

/* One side of the diff: a person's decision from a journal, or an agent's from the log. */
struct compared_side {
	bool there;
	enum verdict verdict;
	enum delivery delivery; /* of a person's */
	struct str by;
	enum trust trust;   /* of that decision */
	struct str message; /* protocol message; empty = none was written */
	uint32_t line;      /* in the log, 0 = none */
	struct buf bytes;
};

struct difference {
	char *pointer, *left, *right; /* NULL = missing on that side */
};

struct comparison {
	struct str session, item;
	enum item_kind kind;
	struct compared_side here, there;
	VEC(struct difference) list;
	bool more; /* the list is truncated */
};

/* ---- diff of messages ---- */

static bool is_volatile(struct str key)
{
	static const char *const keys[] = { "id", "message_id", "timestamp", "created_at",
					    "answeredAt", "sequence_number", "state_version" };

	for (unsigned i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		if (str_is(key, keys[i]))
			return true;
	return false;
}

static char *value_text(yyjson_val *v)
{
	struct buf text = { 0 };

	if (!v)
		return NULL;
	json_write(&text, v);
	return text.p;
}

static void add_difference(struct comparison *c, struct buf *at, yyjson_val *left,
			   yyjson_val *right)
{
	if (c->list.n == DIFFERENCES_MAX) {
		c->more = true;
		return;
	}
	vec_push(&c->list, (struct difference){ xstrdup(at->n ? at->p : ""), value_text(left),
						value_text(right) });
}

static void compare(struct comparison *c, struct buf *at, yyjson_val *left, yyjson_val *right,
		    unsigned depth);

static void compare_member(struct comparison *c, struct buf *at, struct str key, yyjson_val *left,
			   yyjson_val *right, unsigned depth)
{
	size_t before = at->n;

	json_pointer_add(at, key);
	compare(c, at, left, right, depth);
	at->n = before;
	if (at->p)
		at->p[at->n] = '\0';
}

static yyjson_val *member(yyjson_val *object, yyjson_val *key)
{
	return yyjson_obj_getn(object, yyjson_get_str(key), yyjson_get_len(key));
}

static void compare_objects(struct comparison *c, struct buf *at, yyjson_val *left,
			    yyjson_val *right, unsigned depth)
{
	yyjson_obj_iter it = yyjson_obj_iter_with(left);
	yyjson_val *key;

	while ((key = yyjson_obj_iter_next(&it)))
		if (!is_volatile(json_str(key)))
			compare_member(c, at, json_str(key), yyjson_obj_iter_get_val(key),
				       member(right, key), depth);
	it = yyjson_obj_iter_with(right);
	while ((key = yyjson_obj_iter_next(&it)))
		if (!is_volatile(json_str(key)) && !member(left, key))
			compare_member(c, at, json_str(key), NULL, yyjson_obj_iter_get_val(key),
				       depth);
}

static void compare_arrays(struct comparison *c, struct buf *at, yyjson_val *left,
			   yyjson_val *right, unsigned depth)
{
	size_t n = yyjson_arr_size(left), m = yyjson_arr_size(right);
	yyjson_arr_iter a = yyjson_arr_iter_with(left), b = yyjson_arr_iter_with(right);

	for (size_t i = 0; i < n || i < m; i++) {
		char key[24];

		snprintf(key, sizeof(key), "%zu", i);
		compare_member(c, at, str_of(key), i < n ? yyjson_arr_iter_next(&a) : NULL,
			       i < m ? yyjson_arr_iter_next(&b) : NULL, depth);
	}
}

static void compare(struct comparison *c, struct buf *at, yyjson_val *left, yyjson_val *right,
		    unsigned depth)
{
	bool nested = left && right && depth < JSON_DEPTH_MAX;

	if (nested && yyjson_is_obj(left) && yyjson_is_obj(right))
		compare_objects(c, at, left, right, depth + 1);
	else if (nested && yyjson_is_arr(left) && yyjson_is_arr(right))
		compare_arrays(c, at, left, right, depth + 1);
	else if (!left || !right || !yyjson_equals(left, right))
		add_difference(c, at, left, right);
}

static void compare_messages(struct comparison *c)
{
	struct json_reader a = { 0 }, b = { 0 };
	yyjson_val *left, *right;
	struct buf at = { 0 };

	if (c->here.message.n && c->there.message.n &&
	    json_read(&a, str_trim(c->here.message), &left) <= JSON_REPAIRED &&
	    json_read(&b, str_trim(c->there.message), &right) <= JSON_REPAIRED)
		compare(c, &at, left, right, 0);
	json_reader_release(&a);
	json_reader_release(&b);
	buf_release(&at);
}

/* ---- the two sides ---- */

/* The default session is named after the source, whose path may differ: no name. */
static struct str session_of(const struct desk *d, struct str session)
{
	return str_eq(session, d->group) || str_eq(session, d->source) ? STR("") : session;
}

static struct compared_side side_of_draft(const struct desk *d, const struct draft *draft)
{
	const struct letter *l = draft_letter(d, draft);

	return (struct compared_side){ .there = true, .verdict = verb_verdict(draft->verb),
			      .delivery = draft_delivery(d, draft, NULL), .by = draft->by,
			      .trust = TRUST_JOURNAL,
			      .message = l ? l->bytes : STR_NONE };
}

/* The newest draft on the item that was not undone, or NULL. */
static const struct draft *find_draft(const struct desk *d, const struct comparison *c)
{
	for (uint32_t i = d->drafts.n; i-- > 0;) {
		const struct draft *draft = &d->drafts.v[i];

		if (draft->state != DRAFT_VOID && draft->kind == c->kind &&
		    str_eq(draft->item, c->item) &&
		    str_eq(session_of(d, draft->session), c->session))
			return draft;
	}
	return NULL;
}

/* The last decision of an agent on the item. */
static void find_in_log(struct load *l, const struct scene *s, struct comparison *c)
{
	const struct model *m = s->model;
	struct buf name = { 0 };

	for (uint32_t i = 0; i < m->items.n && !c->here.there; i++) {
		const struct item *item = &m->items.v[i];
		const struct session *session = &m->sessions.v[item_session(m, item)];
		struct str own =
			session->name == session->group ? STR("") : model_str(m, session->name);
		struct item_state at;

		if (item->kind != c->kind || !str_eq(own, c->session))
			continue;
		buf_clear(&name);
		item_name(m, item, &name);
		if (!str_eq(buf_str(&name), c->item) ||
		    !item_at(m, item, s->k, scene_clock(s), &at) ||
		    at.decided == NONE)
			continue;
		c->here.there = true;
		c->here.verdict = at.verdict;
		c->here.by = agent_name(m, decided_by(m, &at));
		c->here.trust = message_trust(m, at.decided);
		c->here.line = message_line(m, at.decided);
		buf_add_str(&c->here.bytes, l->reader.bytes(l->reader.ctx, at.decided));
		c->here.message = buf_str(&c->here.bytes);
	}
	buf_release(&name);
}

static bool is_same(const struct comparison *c)
{
	return c->here.there && c->there.there && c->here.verdict == c->there.verdict && !c->list.n;
}

/* ---- output ---- */

static void put_side(struct buf *b, const char *name, const struct compared_side *s)
{
	json_key(b, name);
	if (!s->there) {
		buf_adds(b, "null");
		return;
	}
	buf_addc(b, '{');
	json_put_name(b, "verdict", verdict_name(s->verdict));
	json_put_str(b, "by", s->by);
	json_put_name(b, "delivery", s->line ? NULL : delivery_name(s->delivery));
	json_put_int_if(b, "line", s->line, s->line);
	json_put_str(b, "message", s->message.n ? str_trim(s->message) : STR_NONE);
	buf_addc(b, '}');
}

static void put_raw(struct buf *b, const char *name, const char *json)
{
	json_key(b, name);
	buf_adds(b, json ? json : "null");
}

static void put_comparison(struct load *l, const struct comparison *c, struct buf *b)
{
	buf_addc(b, '{');
	json_put_str(b, "item", c->item);
	json_put_str(b, "session", c->session);
	json_put_name(b, "kind", item_kind_name(c->kind));
	json_put_bool(b, "same", is_same(c));
	put_side(b, "here", &c->here);
	put_side(b, "there", &c->there);
	json_open(b, "differences", '[');
	for (uint32_t i = 0; i < c->list.n; i++) {
		json_comma(b);
		buf_addc(b, '{');
		json_put_name(b, "pointer", c->list.v[i].pointer);
		put_raw(b, "here", c->list.v[i].left);
		put_raw(b, "there", c->list.v[i].right);
		buf_addc(b, '}');
	}
	buf_addc(b, ']');
	json_end(l, b);
}

static void print_side(struct buf *b, const char *sign, const struct compared_side *s)
{
	if (!s->there) {
		buf_printf(b, "  %s not decided\n", sign);
		return;
	}
	buf_printf(b, "  %s %s by ", sign, verdict_name(s->verdict));
	add_clean(b, s->by, TEXT_ID);
	buf_adds(b, trust_words(s->trust));
	if (s->line)
		buf_printf(b, ", line %u", s->line);
	else
		buf_printf(b, ", %s", delivery_name(s->delivery));
	buf_addc(b, '\n');
}

static void print_value(struct buf *b, const char *sign, const char *pointer, const char *value)
{
	if (!value)
		return;
	buf_printf(b, "  %s   ", sign);
	add_clean(b, str_of(pointer), TEXT_LINE);
	buf_adds(b, " = ");
	add_clean_cut(b, str_of(value), TEXT_LINE, false, VALUE_CELLS);
	buf_addc(b, '\n');
}

static void print_comparison(struct load *l, const struct comparison *c, struct buf *b)
{
	add_labelled(b, is_same(c) ? "= " : "≠ ", c->item, TEXT_ID);
	buf_printf(b, " (%s)\n", item_kind_name(c->kind));
	if (!is_same(c)) {
		print_side(b, "-", &c->here);
		print_side(b, "+", &c->there);
	}
	for (uint32_t i = 0; i < c->list.n; i++) {
		print_value(b, "-", c->list.v[i].pointer, c->list.v[i].left);
		print_value(b, "+", c->list.v[i].pointer, c->list.v[i].right);
	}
	if (c->more)
		buf_adds(b, "    … and more\n");
	if (l->json.flush)
		l->json.flush(l->json.ctx, b);
}

static struct comparison comparison_of(const struct desk *d, const struct draft *draft)
{
	return (struct comparison){ .session = session_of(d, draft->session), .item = draft->item,
				    .kind = draft->kind };
}

static void comparison_release(struct comparison *c)
{
	for (uint32_t i = 0; i < c->list.n; i++) {
		free(c->list.v[i].pointer);
		free(c->list.v[i].left);
		free(c->list.v[i].right);
	}
	vec_release(&c->list);
	buf_release(&c->here.bytes);
}

static void print_and_release(struct load *l, const struct scene *s, struct comparison *c,
			      bool json, struct buf *out)
{
	if (!c->here.there)
		find_in_log(l, s, c);
	compare_messages(c);
	(json ? put_comparison : print_comparison)(l, c, out);
	comparison_release(c);
}

/* Decisions of the other journal, with those here. */
static void compare_desk(struct load *l, const struct scene *s, const struct desk *other, bool json,
			 struct buf *out)
{
	for (uint32_t i = 0; i < other->drafts.n; i++) {
		const struct draft *draft = &other->drafts.v[i];
		struct comparison c = comparison_of(other, draft);

		if (find_draft(other, &c) != draft)
			continue; /* undone, or decided again */
		c.there = side_of_draft(other, draft);
		for (uint32_t d = 0; d < l->desks.list.n && !c.here.there; d++) {
			const struct desk *desk = &l->desks.list.v[d];
			const struct draft *here = find_draft(desk, &c);

			if (here)
				c.here = side_of_draft(desk, here);
		}
		print_and_release(l, s, &c, json, out);
	}
}

/* Decisions made here only. */
static void compare_here_only(struct load *l, const struct scene *s, const struct desk *others,
			      uint32_t n, bool json, struct buf *out)
{
	for (uint32_t d = 0; d < l->desks.list.n; d++)
		for (uint32_t i = 0; i < l->desks.list.v[d].drafts.n; i++) {
			const struct desk *desk = &l->desks.list.v[d];
			const struct draft *draft = &desk->drafts.v[i];
			struct comparison c = comparison_of(desk, draft);
			bool found = find_draft(desk, &c) != draft;

			for (uint32_t o = 0; o < n && !found; o++)
				found = find_draft(&others[o], &c) != NULL;
			if (found)
				continue;
			c.here = side_of_draft(desk, draft);
			print_and_release(l, s, &c, json, out);
		}
}

int show_against(struct load *l, const struct scene *s, const char *journal, bool json)
{
	struct journal_folders folders = { 0 };
	VEC(struct desk) others = { 0 };
	struct buf inside = { 0 }, out = { 0 };
	struct stat st;
	int code = EXIT_FINE;

	/* a fork's folder contains its journal */
	buf_printf(&inside, "%s/journal", journal);
	journals_find(stat(inside.p, &st) == 0 && S_ISDIR(st.st_mode) ? inside.p : journal,
		      &folders);
	buf_release(&inside);
	if (!folders.list.n)
		code = print_trouble("--against=%s: there is no journal; give a fork's folder, or "
				     "one that --journal named", journal);
	for (uint32_t i = 0; i < folders.list.n; i++) {
		vec_push(&others, (struct desk){ 0 });
		desk_open_dir(vec_last(&others), folders.list.v[i], false);
		if (vec_last(&others)->trouble != JOURNAL_FINE) {
			say_error("%s", vec_last(&others)->why.text);
			code = EXIT_JOURNAL;
		}
	}
	for (uint32_t i = 0; i < others.n; i++)
		compare_desk(l, s, &others.v[i], json, &out);
	if (others.n)
		compare_here_only(l, s, others.v, others.n, json, &out);
	(json ? print_json : print_text)(&out);
	for (uint32_t i = 0; i < others.n; i++)
		desk_close(&others.v[i]);
	vec_release(&others);
	journals_release(&folders);
	return code;
}
