/* Encoder for collaboration task assignments: a task is assigned again because a review's changes
 * were accepted, or because it was blocked and shall continue. The task's newest assignment is
 * copied under a new task id; its last attempt is described, and the decisions come first among
 * its acceptance criteria. */
#include "encode/encode_collaboration.h"

#include "dialect/marker.h"
#include "json/compose.h"

#include <stdlib.h>

#define NOT_GIVEN STR("not given")

struct revision {
	struct buf criteria; /* JSON strings, to be put first */
	struct str outcome, feedback;
	bool urgent;
};

/* What encoding would look for again and again among all tasks and letters. */
struct revision_index {
	VEC(uint32_t) newest; /* assignment of a task or its revisions, by the first of these */
	struct map bases;     /* of a task's name without "-rev-N": numbers in the list */
	VEC(struct revised {
		uint64_t base; /* hash */
		uint64_t highest;
	}) list;
	struct json_reader json;
	uint32_t proposals; /* that many of the plan are in it */
};

void revision_index_free(struct revision_index *x)
{
	if (!x)
		return;
	vec_release(&x->newest);
	map_release(&x->bases);
	vec_release(&x->list);
	json_reader_release(&x->json);
	free(x);
}

/* The task id that a message assigns; *root: the message */
static struct str task_of_line(struct json_reader *json, struct str line, yyjson_val **root)
{
	if (!line.n || json_read(json, line, root) != JSON_OK)
		return STR_NONE;
	return json_get_str(json_get(payload_of(*root), "task"), "task_id");
}

static struct str task_of_letter(struct json_reader *json, const struct letter *l,
				 yyjson_val **root)
{
	return l->dialect == DIALECT_COLLABORATION ? task_of_line(json, l->bytes, root) : STR_NONE;
}

enum { SUFFIX_DIGITS = 8 };

/* "-1a2b3c4d": makes an id unique if the log's ids are not known */
static bool is_random_suffix(struct str s)
{
	if (s.n != 1 + SUFFIX_DIGITS || s.p[0] != '-')
		return false;
	for (size_t i = 1; i < s.n; i++)
		if (!memchr("0123456789abcdef", s.p[i], 16))
			return false;
	return true;
}

static struct str strip_random_suffix(struct str s)
{
	if (s.n > 1 + SUFFIX_DIGITS && is_random_suffix(str_from(s, s.n - 1 - SUFFIX_DIGITS)))
		s.n -= 1 + SUFFIX_DIGITS;
	return s;
}

/* Whether the id is base, "-rev-", a number and perhaps a random suffix. */
static bool is_revision(struct str id, struct str base, uint64_t *number)
{
	struct str rest = str_starts(id, base) ? str_from(id, base.n) : STR("");

	if (!str_starts(rest, STR("-rev-")))
		return false;
	rest = strip_random_suffix(str_from(rest, 5));
	return str_to_u64(rest, number) && *number < 1000000000;
}

/* "task-3" of "task-3-rev-2" or "task-3-rev-2-1a2b3c4d" */
static struct str base_of(struct str id)
{
	const struct str between = STR("-rev-");
	struct str stem = strip_random_suffix(id);
	uint64_t number;

	while (stem.n && stem.p[stem.n - 1] >= '0' && stem.p[stem.n - 1] <= '9')
		stem.n--;
	if (stem.n <= between.n || !str_ends(stem, between))
		return id;
	stem.n -= between.n;
	return is_revision(id, stem, &number) ? stem : id;
}

/* session: NONE for names in letters */
static uint64_t base_hash(uint32_t session, struct str base)
{
	return hash_mix(str_hash(base), session);
}

static uint64_t highest_of(const struct revision_index *x, uint64_t base, uint32_t *number)
{
	for (uint32_t it = 0, i; map_next(&x->bases, base, &it, &i);)
		if (x->list.v[i].base == base) {
			*number = i;
			return x->list.v[i].highest;
		}
	*number = NONE;
	return 0;
}

/* Notes the id of a task, which may be a revision. */
static void note_id(struct revision_index *x, uint32_t session, struct str id)
{
	struct str base = base_of(id);
	uint64_t hash, number;
	uint32_t at;

	if (base.n == id.n || !is_revision(id, base, &number))
		return;
	hash = base_hash(session, base);
	if (highest_of(x, hash, &at) < number && at != NONE)
		x->list.v[at].highest = number;
	if (at != NONE)
		return;
	map_add(&x->bases, hash, x->list.n);
	vec_push(&x->list, ((struct revised){ hash, number }));
}

static void note_letter(struct revision_index *x, const struct letter *l)
{
	yyjson_val *root;

	note_id(x, NONE, task_of_letter(&x->json, l, &root));
}

static void note_task(struct revision_index *x, const struct model *m, const struct task *t)
{
	uint32_t *newest = &x->newest.v[t->root];

	note_id(x, t->session, model_str(m, t->id));
	for (uint32_t k = 0; k < t->steps.n; k++)
		if (t->steps.v[k].assigned &&
		    (*newest == NONE || t->steps.v[k].message > *newest))
			*newest = t->steps.v[k].message;
}

/* Made by the first use: neither tasks nor letters change while a plan is made. */
static struct revision_index *index_of(struct encoding *e)
{
	struct revision_index *x = e->revisions;

	if (x)
		return x;
	x = e->revisions = xcalloc(1, sizeof(*x));
	for (uint32_t i = 0; i < e->model->tasks.n; i++)
		vec_push(&x->newest, NONE);
	for (uint32_t i = 0; i < e->model->tasks.n; i++)
		note_task(x, e->model, &e->model->tasks.v[i]);
	for (uint32_t i = 0; e->desk && i < e->desk->letters.n; i++)
		note_letter(x, &e->desk->letters.v[i]);
	return x;
}

uint32_t find_assignment(struct encoding *e, const struct item *item)
{
	uint32_t task = item_task(e->model, item);

	return task == NONE ? NONE : index_of(e)->newest.v[e->model->tasks.v[task].root];
}

static yyjson_val *read_assignment(struct encoding *e, const struct item *item)
{
	uint32_t message = find_assignment(e, item);

	return message == NONE ? NULL : parse_message(e, message);
}

/* A task id that is used neither in the session nor in letters that are still to be sent. */
static struct str new_task_id(struct encoding *e, const struct item *item)
{
	const struct model *m = e->model;
	struct str base = base_of(model_str(m, m->tasks.v[m->tasks.v[item_task(m, item)].root].id));
	struct revision_index *x = index_of(e);
	struct buf id = { 0 };
	uint64_t highest, said;
	uint32_t ignored;

	/* what is encoded just now is finished, and stays as it is, once the next group is */
	for (; x->proposals < e->first; x->proposals++)
		if (proposal_counts(e, x->proposals))
			note_letter(x, &e->plan->list.v[x->proposals].letter);
	highest = highest_of(x, base_hash(item_session(m, item), base), &ignored);
	said = highest_of(x, base_hash(NONE, base), &ignored);
	highest = said > highest ? said : highest;
	for (uint32_t i = e->first; i < e->plan->list.n; i++) {
		yyjson_val *root;
		struct str used = task_of_letter(&x->json, &e->plan->list.v[i].letter, &root);
		uint64_t number;

		if (is_revision(used, base, &number) && number > highest)
			highest = number;
	}
	buf_add_str(&id, base);
	buf_printf(&id, "-rev-%llu", (unsigned long long)highest + 1);
	if (e->via_queue) { /* the number may be used in the original log */
		char uuid[37];

		uuid_make(uuid);
		buf_printf(&id, "-%.*s", SUFFIX_DIGITS, uuid);
	}
	return keep_buf(e, &id);
}

/* A string member, or `otherwise` if it is missing or no string. */
static void put_text(struct buf *b, const char *name, yyjson_val *object, struct str otherwise)
{
	struct str s = json_get_str(object, name);

	json_put_str(b, name, s.p ? s : otherwise);
}

static void put_files(struct buf *b, const char *name, yyjson_val *files)
{
	static const char *const listed[] = { "path", "reason", "sections", NULL };
	size_t i, n;
	yyjson_val *v;

	json_open(b, name, '[');
	yyjson_arr_foreach(files, i, n, v) {
		struct str path = yyjson_is_str(v) ? json_str(v) : json_get_str(v, "path");

		if (!path.p)
			continue;
		json_comma(b);
		buf_addc(b, '{');
		json_put_str(b, "path", path);
		put_text(b, "reason", v, NOT_GIVEN);
		if (json_get(v, "sections"))
			put_strings(b, "sections", json_get(v, "sections"));
		put_unlisted(b, v, listed);
		buf_addc(b, '}');
	}
	buf_addc(b, ']');
}

static void put_attempt(struct buf *b, int64_t number, struct str outcome, struct str feedback)
{
	json_comma(b);
	buf_addc(b, '{');
	json_put_int(b, "attempt_number", number);
	json_put_str(b, "outcome", outcome);
	json_put_str(b, "feedback", feedback);
	buf_addc(b, '}');
}

static void put_attempts(struct buf *b, yyjson_val *attempts, const struct revision *r)
{
	int64_t last = 0, number;
	size_t i, n;
	yyjson_val *v;

	json_open(b, "previous_attempts", '[');
	yyjson_arr_foreach(attempts, i, n, v) {
		struct str outcome = json_get_str(v, "outcome");
		struct str feedback = json_get_str(v, "feedback");

		if (!yyjson_is_obj(v))
			continue;
		if (!json_int(json_get(v, "attempt_number"), &number) || number < 0 ||
		    number > 1000000)
			number = last + 1;
		last = number > last ? number : last;
		put_attempt(b, number, outcome.p ? outcome : NOT_GIVEN,
			    feedback.p ? feedback : NOT_GIVEN);
	}
	put_attempt(b, last + 1, r->outcome, r->feedback);
	buf_addc(b, ']');
}

static void put_context(struct buf *b, yyjson_val *context, const struct revision *r)
{
	static const char *const listed[] = { "specs", "reference_files", "previous_attempts",
					      NULL };

	json_open(b, "context", '{');
	put_files(b, "specs", json_get(context, "specs"));
	put_files(b, "reference_files", json_get(context, "reference_files"));
	put_attempts(b, json_get(context, "previous_attempts"), r);
	put_unlisted(b, context, listed);
	buf_addc(b, '}');
}

static void put_constraints(struct buf *b, yyjson_val *constraints)
{
	static const char *const listed[] = { "scope", "testing_required", "must_not_break",
					      "style_guide", NULL };

	json_open(b, "constraints", '{');
	put_strings(b, "scope", json_get(constraints, "scope"));
	json_put_bool(b, "testing_required",
		      yyjson_is_true(json_get(constraints, "testing_required")));
	put_strings(b, "must_not_break", json_get(constraints, "must_not_break"));
	if (yyjson_is_str(json_get(constraints, "style_guide")))
		put_text(b, "style_guide", constraints, STR(""));
	put_unlisted(b, constraints, listed);
	buf_addc(b, '}');
}

/* The new criteria, then the old ones without their decision markers. */
static void put_criteria(struct encoding *e, struct buf *b, yyjson_val *criteria,
			 const struct revision *r)
{
	size_t i, n;
	yyjson_val *v;

	json_open(b, "acceptance_criteria", '[');
	buf_add_str(b, buf_str(&r->criteria));
	yyjson_arr_foreach(criteria, i, n, v) {
		struct str text = json_str(v);
		struct marker marker;

		while (marker_read(text, &e->plan->arena, &marker))
			text = marker.rest;
		if (!str_trim(text).n)
			continue;
		json_comma(b);
		json_write_str(b, text);
	}
	buf_addc(b, ']');
}

static struct str priority_of(yyjson_val *payload, const struct revision *r)
{
	struct str priority = json_get_str(payload, "priority");

	if (r->urgent)
		return STR("high");
	return str_is(priority, "high") || str_is(priority, "low") ? priority : STR("medium");
}

static bool is_damaged(const struct model *m, uint32_t message)
{
	return message != NONE &&
	       (message_route(m, message)->flags & (RECORD_REPAIRED | RECORD_AMBIGUOUS));
}

/* Copies the assignment; `o` is the message it replies to. */
static void assign_again(struct encoding *e, struct proposal *p, const struct origin *o,
			 const struct revision *r)
{
	const struct item *item = item_of(e, 0);
	yyjson_val *root = read_assignment(e, item), *payload, *task;
	struct origin chain = *o;
	struct buf b = { 0 };
	struct address to;
	int64_t limit;

	payload = payload_of(root);
	task = json_get(payload, "task");
	if (is_damaged(e->model, find_assignment(e, item))) {
		propose_missing(e, p, "the assignment of its task is ambiguous or damaged and "
				      "cannot be copied; only its sender can change that");
		return;
	}
	if (!yyjson_is_obj(task)) {
		propose_missing(e, p, "no assignment of its task was seen, so it cannot be "
				      "assigned again; give a folder with its log and this one as "
				      "the source, or escalate it");
		return;
	}
	if (json_get_str(root, "correlation_id").n)
		chain.correlation = keep_str(e, json_get_str(root, "correlation_id"));
	to = read_address(e, json_get(root, "to_agent"), "developer");
	begin_reply(e, p, &b, "task_assignment", &chain, &to, false);
	json_open(&b, "task", '{');
	json_put_str(&b, "task_id", new_task_id(e, item));
	put_text(&b, "task_description", task, NOT_GIVEN);
	put_context(&b, json_get(task, "context"), r);
	put_constraints(&b, json_get(task, "constraints"));
	put_criteria(e, &b, json_get(task, "acceptance_criteria"), r);
	buf_addc(&b, '}');
	json_put_str(&b, "priority", priority_of(payload, r));
	if (iso_time(json_get(payload, "deadline")) != TIME_NONE)
		put_text(&b, "deadline", payload, STR(""));
	if (json_int(json_get(payload, "max_iterations"), &limit) && limit > 0)
		json_put_int(&b, "max_iterations", limit);
	end_reply(e, p, &b);
}

/* "src/a.c:12: what is wrong; what to do about it" */
static void describe_finding(struct buf *b, yyjson_val *v)
{
	yyjson_val *location = json_get(v, "location");
	struct str file = json_get_str(location ? location : v, "file");
	struct str suggestion = json_get_str(v, "suggestion");
	int64_t line;

	if (file.n) {
		buf_add_str(b, file);
		if (json_int(json_get(location ? location : v, location ? "line_start" : "line"),
			     &line))
			buf_printf(b, ":%lld", (long long)line);
		buf_adds(b, ": ");
	}
	buf_add_str(b, json_get_str(v, "description"));
	if (suggestion.n) {
		buf_adds(b, "; suggested: ");
		buf_add_str(b, suggestion);
	}
}

static void add_criterion(struct encoding *e, uint32_t i, yyjson_val *v, struct revision *r)
{
	const struct draft *d = draft_of(e, i);
	struct str words = reason_text(e, draft_of(e, i));
	struct buf text = { 0 };

	put_marker(e, i, d->verb == VERB_PARTIAL ? VERDICT_PARTIAL : VERDICT_ACCEPTED, &text);
	if (d->verb != VERB_PARTIAL) {
		if (d->kind == ITEM_FINDING)
			describe_finding(&text, v);
		else
			buf_add_str(&text, json_get_str(v, "description"));
		if (words.n)
			buf_adds(&text, "; ");
	}
	buf_add_str(&text, words);
	json_comma(&r->criteria);
	json_write_str(&r->criteria, buf_str(&text));
	buf_release(&text);
	r->urgent |= str_is(json_get_str(v, "severity"), "critical") ||
		     str_is(json_get_str(v, "priority"), "must_fix");
}

/* "review-7: changes_requested" */
static struct str outcome_of(struct encoding *e, struct str of, struct str status)
{
	struct buf b = { 0 };

	buf_add_str(&b, of);
	buf_adds(&b, ": ");
	buf_add_str(&b, status);
	return keep_buf(e, &b);
}

void encode_revision(struct encoding *e)
{
	struct proposal *p = propose(e, e->drafts, e->n);
	struct revision r = { 0 };
	yyjson_val *payload = NULL;
	struct array_index elements[2] = { 0 };
	bool refused = false;
	struct item_state at;
	struct origin o;

	for (uint32_t i = 0; i < e->n; i++) {
		bool finding = draft_of(e, i)->kind == ITEM_FINDING;

		state_of(e, i, &at);
		/* parse a review once, not for each of its thousands of findings */
		if (!payload || at.message != o.message) {
			payload = read_origin(e, i, p, &o);
			elements_forget(&elements[0]);
			elements_forget(&elements[1]);
			r.outcome = outcome_of(e, json_get_str(payload, "review_id"),
					       json_get_str(payload, "verdict"));
			r.feedback = keep_str(e, json_get_str(payload, "summary"));
		}
		refused = !payload || !check_marker(e, i, p);
		if (refused)
			break;
		add_criterion(e, i,
			      elements_at(&elements[finding],
					  json_get(payload, finding ? "findings"
								    : "required_changes"),
					  at.index),
			      &r);
	}
	if (!refused)
		assign_again(e, p, &o, &r);
	elements_release(&elements[0]);
	elements_release(&elements[1]);
	buf_release(&r.criteria);
}

static void add_blockers(struct buf *b, yyjson_val *blockers)
{
	size_t i, n, start = b->n;
	yyjson_val *v;

	yyjson_arr_foreach(blockers, i, n, v) {
		if (!yyjson_is_str(v))
			continue;
		if (b->n > start)
			buf_adds(b, "; ");
		buf_add_str(b, json_str(v));
	}
}

void encode_retry(struct encoding *e)
{
	struct proposal *p = propose(e, e->drafts, e->n);
	struct str words = reason_text(e, draft_of(e, 0));
	struct buf text = { 0 }, feedback = { 0 };
	struct revision r = { 0 };
	struct origin o;
	yyjson_val *payload = read_origin(e, 0, p, &o);

	if (!payload || !check_marker(e, 0, p))
		return;
	put_marker(e, 0, VERDICT_ACCEPTED, &text);
	if (words.n) {
		buf_add_str(&text, words);
	} else {
		buf_adds(&text, "goes on in spite of: ");
		add_blockers(&text, json_get(payload, "blockers"));
	}
	json_write_str(&r.criteria, buf_str(&text));
	buf_release(&text);
	add_blockers(&feedback, json_get(payload, "blockers"));
	if (words.n) {
		buf_adds(&feedback, ". ");
		buf_add_str(&feedback, words);
	}
	r.feedback = keep_buf(e, &feedback);
	r.outcome = outcome_of(e, json_get_str(payload, "status"),
			       json_get_str(payload, "summary"));
	assign_again(e, p, &o, &r);
	buf_release(&r.criteria);
}
