/* Handoff replies: a Decision {task_id, decision, rationale, state_version, created_at} with who
 * decided. In a directory it is a file, and the explanation a second file beside it for people. */
#include "encode/attach.h"
#include "encode/plan.h"

#include "json/compose.h"

#include <stdlib.h>
#include <sys/stat.h>

enum { FILE_ID_MAX = 100 };

/* What the agents said, by the chain of its task, newest first; only as far back as was looked. */
struct state_index {
	struct map seen;
	uint32_t left; /* messages before these are not in it yet */
};

void state_index_free(struct state_index *x)
{
	if (!x)
		return;
	map_release(&x->seen);
	free(x);
}

static struct state_index *states_of(struct encoding *e)
{
	if (!e->states) {
		e->states = xcalloc(1, sizeof(*e->states));
		e->states->left = e->model->records.n;
	}
	return e->states;
}

static uint64_t chain_key(uint32_t chain)
{
	return hash_mix(hash_seed, chain);
}

/* What a person wrote is no state of the agents'. */
static bool is_state(const struct model *m, uint32_t message)
{
	const struct route *route = message_route(m, message);

	return route->dialect == DIALECT_HANDOFF && !(route->flags & RECORD_REPLY);
}

/* The state_version of a message of that chain, if it is of the task. */
static struct str version_in(struct encoding *e, uint32_t message, uint32_t session, uint32_t chain,
			     struct str task)
{
	yyjson_val *root;
	struct str id;

	if (e->model->records.v[message].chain != chain ||
	    message_route(e->model, message)->session != session ||
	    !(root = parse_message(e, message)))
		return STR_NONE;
	id = json_get_str(root, "task_id"); /* none: it is in the file's name */
	return !id.n || str_eq(id, task) ? json_get_str(root, "state_version") : STR_NONE;
}

/* The newest state_version of the item's task in the log, or the revision that was shown. */
static struct str state_version(struct encoding *e, uint32_t i)
{
	const struct model *m = e->model;
	const struct item *item = item_of(e, i);
	struct str task = model_str(m, m->tasks.v[item_task(m, item)].id), version = STR_NONE;
	uint32_t chain = (uint32_t)str_hash(task), session = item_session(m, item);
	struct state_index *x = states_of(e);

	chain += chain == 0;
	for (uint32_t it = 0, k; !version.n && map_next(&x->seen, chain_key(chain), &it, &k);)
		version = version_in(e, k, session, chain, task);
	while (!version.n && x->left > 0) {
		if (!is_state(m, --x->left))
			continue;
		map_add(&x->seen, chain_key(m->records.v[x->left].chain), x->left);
		version = version_in(e, x->left, session, chain, task);
	}
	return version.n ? keep_str(e, version) : draft_of(e, i)->rev;
}

static struct str rationale(struct encoding *e, const struct draft *d)
{
	struct str s = reason_text(e, d);

	if (s.n)
		return s;
	return d->verb == VERB_ACCEPT ? STR("A person has looked at it and accepts it as it is.")
				      : STR("A person has looked at it and passes it on.");
}

static const char *decision_name(enum verb v)
{
	return v == VERB_ACCEPT ? "approve" : v == VERB_REJECT ? "reject" : "escalate";
}

static bool is_file_part(struct str s)
{
	if (!s.n || s.n > FILE_ID_MAX || s.p[0] == '.')
		return false;
	for (size_t i = 0; i < s.n; i++) {
		char c = s.p[i];

		if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
		      c == '.' || c == '_' || c == '-'))
			return false;
	}
	return true;
}

/* Whether a file of that name exists, was read, is planned, or is about to be written. */
static bool is_name_used(struct encoding *e, uint32_t i, struct str path)
{
	const struct model *m = e->model;
	const struct desk *d = e->desk;
	struct str slash_name = str_from(path, file_name_start(path) - 1);
	struct stat st;

	if (lstat(path.p, &st) == 0)
		return true;
	for (uint32_t k = 0; k < e->plan->list.n; k++)
		if (str_eq(e->plan->list.v[k].letter.path, path))
			return true;
	for (uint32_t k = 0; k < d->letters.n; k++)
		if (d->letters.v[k].state != LETTER_VOID && str_eq(d->letters.v[k].path, path))
			return true;
	for (uint32_t k = 0; k < m->records.n; k++)
		if (message_route(m, k)->session == item_session(e->model, item_of(e, i)) &&
		    str_ends(e->reader->source(e->reader->ctx, k), slash_name))
			return true;
	return false;
}

static struct str path_for(struct encoding *e, struct str dir, const char *head, struct str id,
			   const char *tail)
{
	struct buf path = { 0 };

	buf_add_str(&path, dir);
	buf_printf(&path, "/%s", head);
	buf_add_str(&path, id);
	buf_adds(&path, tail);
	return keep_buf(e, &path);
}

/* The id for decision-{id}.json and review-{id}.md: the task's if it is a valid file name and both
 * are free, else a UUID. */
static struct str file_id(struct encoding *e, uint32_t i, struct str dir, struct str task)
{
	if (is_file_part(task) &&
	    !is_name_used(e, i, path_for(e, dir, "decision-", task, ".json")) &&
	    !is_name_used(e, i, path_for(e, dir, "review-", task, ".md")))
		return task;
	return encode_uuid(e);
}

/* The explanation, as a file for people. */
static void propose_notes(struct encoding *e, const struct draft *d, struct str path,
			  struct str task)
{
	struct proposal *p = propose(e, NULL, 0);
	struct buf text = { 0 };
	char q[QUOTED_MAX];

	p->letter.path = path;
	p->letter.to = STR("whoever reads the review");
	buf_printf(&text, "# Review of task %s\n\nDecision: %s\n\n", quoted(task, q),
		   decision_name(d->verb));
	buf_add_str(&text, d->explanation);
	proposal_set_bytes(e, p, &text);
	buf_release(&text);
}

void begin_decision(struct encoding *e, struct buf *b, const struct draft *d, struct str task)
{
	buf_addc(b, '{');
	json_put_str(b, "task_id", task);
	json_put_name(b, "decision", decision_name(d->verb));
	json_put_str(b, "rationale", rationale(e, d));
}

void put_decider(struct encoding *e, struct buf *b, const struct draft *d)
{
	json_put_str(b, "created_at", encode_time(e));
	json_open(b, "x-gavel", '{');
	json_put_str(b, "by", d->by.n ? d->by : e->terms->as);
}

static void encode_one(struct encoding *e, uint32_t i)
{
	const struct model *m = e->model;
	const struct draft *d = draft_of(e, i);
	uint32_t number = item_task(e->model, item_of(e, i));
	struct str task = number == NONE ? STR_NONE : model_str(m, m->tasks.v[number].id), dir, id;
	struct buf b = { 0 };
	struct proposal *p;

	/* first: without the entry nobody could tell what "escalate" is about */
	if (d->verb == VERB_ESCALATE)
		encode_escalation(e, i, true);
	p = propose(e, &e->drafts[i], 1);
	p->letter.to = STR("orchestrator");
	if (!task.n) {
		propose_missing(e, p,
				"the message names no task, and no file name does; a Decision "
				"needs a task_id");
		return;
	}
	if (p->letter.channel == CHANNEL_DIR) {
		dir = p->letter.path;
		id = file_id(e, i, dir, task);
		p->letter.path = path_for(e, dir, "decision-", id, ".json");
		if (d->explanation.n) { /* the notes go first: they make sense alone */
			struct proposal decision = *p;

			e->plan->list.n--;
			propose_notes(e, d, path_for(e, dir, "review-", id, ".md"), task);
			vec_push(&e->plan->list, decision);
			p = vec_last(&e->plan->list);
		}
	}
	begin_decision(e, &b, d, task);
	json_put_str(&b, "state_version", state_version(e, i));
	put_decider(e, &b, d);
	buf_adds(&b, "}}");
	proposal_set_bytes(e, p, &b);
	buf_release(&b);
}

static void encode_handoff(struct encoding *e)
{
	for (uint32_t i = 0; i < e->n; i++)
		encode_one(e, i);
}

/* The newest Task, Result and Decision of the item's task. */
static void add_context(struct encoding *e, uint32_t i, const struct item_state *state,
			struct context *out)
{
	const struct model *m = e->model;
	uint32_t task = item_task(m, item_of(e, i));
	const struct task *t = task == NONE ? NULL : &m->tasks.v[task];
	bool seen[256] = { false };

	for (uint32_t k = t ? t->steps.n : 0; k-- > 0;) {
		uint32_t message = t->steps.v[k].message;
		const struct record *r = &m->records.v[message];

		if (seen[r->kind] || message == state->message)
			continue;
		seen[r->kind] = true;
		context_add_message(out, message);
	}
}

static const struct item_verbs verbs[] = {
	{ ITEM_ESCALATION, CAN_ACCEPT | CAN_REJECT | CAN_ESCALATE },
	{ .verbs = 0 },
};

const struct encoder_ops encoder_handoff = {
	.verbs = verbs,
	.encode = encode_handoff,
	.add_context = add_context,
	.is_file = true,
};
