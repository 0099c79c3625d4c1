/* Decoder of the handoff dialect, Planner → Worker → Judge: Task, Result, Decision, often one file
 * each. The specification defines the Result's fields; those of Task and Decision come from the
 * documents it cites. Rules are named after the object. */
#include "dialect/dialect.h"
#include "dialect/escalation_entry.h"

#define RULE(id) "handoff/" id
#define OPEN_SHAPE(table) { SHAPE_FIELDS(table), UNKNOWN_OK }

static const char *const priorities[] = { "high", "medium", "low", NULL };
static const char *const task_statuses[] = { "pending", "in_progress", "review", "complete", NULL };
enum { TK_ID, TK_TYPE, TK_PRIORITY, TK_CONTEXT, TK_CRITERIA, TK_CREATED, TK_STATUS, TK_N };
static const struct field task_fields[] = {
	[TK_ID] = { "task_id", RULE("task-task_id"), REQUIRED_ID },
	[TK_TYPE] = { "task_type", RULE("task-task_type"), REQUIRED, T_STR },
	[TK_PRIORITY] = { "priority", RULE("task-priority"), REQUIRED_ENUM(priorities) },
	[TK_CONTEXT] = { "context", RULE("task-context"), REQUIRED, T_OBJ },
	[TK_CRITERIA] = { "acceptance_criteria", RULE("task-acceptance_criteria"), REQUIRED,
			  STRINGS },
	[TK_CREATED] = { "created_at", RULE("task-created_at"), REQUIRED_TIME },
	[TK_STATUS] = { "status", RULE("task-status"), REQUIRED_ENUM(task_statuses) },
};
static const struct shape task_shape = OPEN_SHAPE(task_fields);

static const char *const result_statuses[] = { "success", "failure", "retry", NULL };
/* what is inside has no form, but a person must decide on what says that it is sensitive */
static const struct field output_fields[] = {
	{ "sensitive", RULE("result-sensitive"), OPTIONAL, T_ANY },
};
static const struct shape output_shape = OPEN_SHAPE(output_fields);
enum { RS_STATUS, RS_SCORE, RS_OUTPUT, RS_TRACES, RS_CREATED, RS_ID, RS_ARTIFACTS, RS_SENSITIVE,
       RS_N };
static const struct field result_fields[] = {
	[RS_STATUS] = { "status", RULE("result-status"), REQUIRED_ENUM(result_statuses) },
	[RS_SCORE] = { "confidence_score", RULE("result-confidence_score"), REQUIRED, T_NUM,
		       .ranged = true, .min = 0, .max = 1 },
	[RS_OUTPUT] = { "output", RULE("result-output"), REQUIRED, OBJECT(output_shape) },
	[RS_TRACES] = { "traces", RULE("result-traces"), REQUIRED, T_STR },
	[RS_CREATED] = { "created_at", RULE("result-created_at"), REQUIRED_TIME },
	[RS_ID] = { "task_id", RULE("result-task_id"), RECOMMENDED, T_STR },
	[RS_ARTIFACTS] = { "artifacts", RULE("result-artifacts"), RECOMMENDED, STRINGS },
	/* thresholds of the judge: a person must decide */
	[RS_SENSITIVE] = { "sensitive", RULE("result-sensitive"), OPTIONAL, T_BOOL },
};
static const struct shape result_shape = OPEN_SHAPE(result_fields);

/* what gavel adds to a person's Decision, and to an escalation queue (escalation_entry.h) */
#define GAVEL(name, ...) { name, RULE("x-gavel"), OPTIONAL, __VA_ARGS__ }
static const struct field reply_fields[] = {
	GAVEL("channel", T_STR), GAVEL("path", T_STR),
};
static const struct shape reply_shape = OPEN_SHAPE(reply_fields);
static const struct field gavel_fields[] = {
	GAVEL("by", T_STR), GAVEL("dialect", T_STR), GAVEL("kind", T_STR),
	GAVEL("session", T_STR), GAVEL("item", T_STR), GAVEL("rev", T_STR),
	GAVEL("title", T_STR), GAVEL("source", T_STR), GAVEL("line", T_INT),
	GAVEL("original", T_STR), GAVEL("index", T_INT), GAVEL("file", T_STR),
	GAVEL("context", STRINGS), GAVEL("before", T_INT),
	GAVEL("about", T_INT),
	GAVEL("deadline", T_STR, .format = FORMAT_TIMESTAMP), GAVEL("reply", OBJECT(reply_shape)),
};
static const struct shape gavel_shape = OPEN_SHAPE(gavel_fields);

static const char *const decisions[] = { "approve", "escalate", "reject", NULL };
enum { DC_ID, DC_DECISION, DC_RATIONALE, DC_VERSION, DC_CREATED, DC_GAVEL, DC_N };
static const struct field decision_fields[] = {
	[DC_ID] = { "task_id", RULE("decision-task_id"), REQUIRED_ID },
	[DC_DECISION] = { "decision", RULE("decision-decision"), REQUIRED_ENUM(decisions) },
	[DC_RATIONALE] = { "rationale", RULE("decision-rationale"), REQUIRED, T_STR },
	[DC_VERSION] = { "state_version", RULE("decision-state_version"), REQUIRED_ID },
	[DC_CREATED] = { "created_at", RULE("decision-created_at"), REQUIRED_TIME },
	[DC_GAVEL] = { "x-gavel", RULE("x-gavel"), OPTIONAL, OBJECT(gavel_shape) },
};
static const struct shape decision_shape = OPEN_SHAPE(decision_fields);

enum { HAS_ID, HAS_CRITERIA, HAS_TYPE, HAS_PRIORITY, HAS_CONTEXT, HAS_CREATED, HAS_STATUS,
       HAS_SCORE, HAS_OUTPUT, HAS_TRACES, HAS_ARTIFACTS, HAS_DECISION, HAS_RATIONALE,
       HAS_VERSION };
extern const struct dialect_ops dialect_handoff;

static const struct detection_key signature[] = {
	[HAS_ID] = { "task_id", 15 },
	[HAS_CRITERIA] = { "acceptance_criteria", 35 },
	[HAS_TYPE] = { "task_type", 25 },
	[HAS_PRIORITY] = { "priority", 10 },
	[HAS_CONTEXT] = { "context", 10 },
	[HAS_CREATED] = { "created_at", 10 },
	[HAS_STATUS] = { "status", 10 },
	[HAS_SCORE] = { "confidence_score", 40 },
	[HAS_OUTPUT] = { "output", 20 },
	[HAS_TRACES] = { "traces", 25 },
	[HAS_ARTIFACTS] = { "artifacts", 5 },
	[HAS_DECISION] = { "decision", 40 },
	[HAS_RATIONALE] = { "rationale", 25 },
	[HAS_VERSION] = { "state_version", 25 },
	{ NULL, 0 },
};

enum form { FORM_TASK, FORM_RESULT, FORM_DECISION };

static enum form form_of(yyjson_val *root, unsigned has)
{
	unsigned decision = 3 * HAS(DECISION) + 2 * HAS(RATIONALE) + 2 * HAS(VERSION);
	unsigned result = 3 * HAS(SCORE) + 2 * HAS(OUTPUT) + 2 * HAS(TRACES);
	unsigned task = 3 * HAS(CRITERIA) + 2 * HAS(TYPE) + HAS(CONTEXT) + HAS(PRIORITY);

	if (HAS(STATUS) && value_index(result_statuses, json_get_str(root, "status")) >= 0)
		result++;
	if (decision >= result && decision >= task && decision)
		return FORM_DECISION;
	return result >= task ? FORM_RESULT : FORM_TASK;
}

static enum form looked_form(yyjson_val *root)
{
	return form_of(root, dialect_has(&dialect_handoff, root, NULL));
}

/* The uuid of task-{uuid}.json, result-{uuid}.json, decision-{uuid}.json */
static struct str file_uuid(struct str name, struct str *prefix)
{
	static const char *const known[] = { "task-", "result-", "decision-", NULL };

	*prefix = STR_NONE;
	if (!str_ends(name, STR(".json")))
		return STR_NONE;
	for (int i = 0; known[i]; i++)
		if (str_starts(name, str_of(known[i]))) {
			size_t n = strlen(known[i]);

			*prefix = str_make(name.p, n - 1);
			return str_make(name.p + n, name.n - n - 5);
		}
	return STR_NONE;
}

/* A task's task_id should be the UUID in its file name; other objects may have their own. kind: by
 * the text's pattern; NULL where it has none. */
static void check_file_name(struct decoder *d, struct str task_id, const char *kind)
{
	struct str prefix, uuid = file_uuid(d->info.file_name, &prefix);
	char q[QUOTED_MAX];
	bool is_task;

	if (kind && str_ends(d->info.file_name, STR(".json")) && !str_is(prefix, kind))
		add_diag(&d->check, SEVERITY_NOTE, RULE("naming-file"), NULL,
			 "not in a file named %s-{uuid}.json", kind);
	if (!uuid.n || !task_id.n || str_eq(uuid, task_id))
		return;
	is_task = str_is(prefix, "task");
	add_diag(&d->check, is_task ? SEVERITY_WARNING : SEVERITY_NOTE, RULE("naming-task_id"),
		 "task_id", "%s the file's name: %s", is_task ? "should match" : "differs from",
		 quoted(uuid, q));
}

static struct str id_or_file(struct decoder *d, struct str id)
{
	struct str prefix;

	return id.n ? id : file_uuid(d->info.file_name, &prefix);
}

static void decode_task(struct decoder *d, yyjson_val *root, struct message *m)
{
	static const enum task_state states[] = { TASK_PENDING, TASK_RUNNING, TASK_REVIEW,
						  TASK_COMPLETED };
	yyjson_val *got[TK_N];
	struct event *e;
	struct str id;
	int status;

	m->kind = STR("task");
	m->from = known_role_actors[KNOWN_ROLE_PLANNER];
	m->to = known_role_actors[KNOWN_ROLE_WORKER];
	check_object(&d->check, root, &task_shape, got);
	check_file_name(d, json_str(got[TK_ID]), "task");
	m->time_ms = checked_time(&d->check, got[TK_CREATED]);
	m->correlation = id = id_or_file(d, json_str(got[TK_ID]));
	e = event_add(m, EV_TASK, id, "/task_id");
	e->agent = m->to;
	status = value_number(&task_shape, TK_STATUS, got[TK_STATUS]);
	if (status >= 0) {
		e = event_add(m, EV_TASK_STATE, id, "/task_id");
		e->state = states[status];
		e->number = states[status] == TASK_COMPLETED ? 1 : -1;
		e->again = true;
	}
}

static bool is_blank(yyjson_val *v)
{
	return yyjson_is_str(v) && str_trim(json_str(v)).n == 0;
}

/* A failure without traces: its output may still tell what happened. */
static void check_failure(struct checker *c, yyjson_val *output)
{
	if (yyjson_is_obj(output) && yyjson_obj_size(output))
		add_diag(c, SEVERITY_WARNING, RULE("error-handling-traces"), "traces",
			 "empty; a failure tells what happened");
	else
		add_diag(c, SEVERITY_ERROR, RULE("error-handling-traces"), "traces",
			 "empty, and so is the output; a failure must tell what happened");
}

static void decode_result(struct decoder *d, yyjson_val *root, struct message *m)
{
	yyjson_val *got[RS_N];
	struct event *e;
	struct str status;
	double score;

	m->kind = STR("result");
	m->from = known_role_actors[KNOWN_ROLE_WORKER];
	m->to = known_role_actors[KNOWN_ROLE_JUDGE];
	check_object(&d->check, root, &result_shape, got);
	check_file_name(d, json_str(got[RS_ID]), "result");
	status = json_str(got[RS_STATUS]);
	if (str_is(status, "failure") && is_blank(got[RS_TRACES]))
		check_failure(&d->check, got[RS_OUTPUT]);
	m->time_ms = checked_time(&d->check, got[RS_CREATED]);
	m->correlation = id_or_file(d, json_str(got[RS_ID]));
	e = event_add(m, EV_RESULT, m->correlation, "/task_id");
	e->failed = str_is(status, "failure") || str_is(status, "retry");
	e->severe = yyjson_is_true(got[RS_SENSITIVE]) ||
		    yyjson_is_true(json_get(got[RS_OUTPUT], "sensitive"));
	if (json_number(got[RS_SCORE], &score) && score >= 0 && score <= 1)
		e->number = score;
	e->content_hash = value_hash_but(root, got[RS_CREATED]);
}

/* Whether an escalated review has no findings. */
static bool has_no_findings(struct decoder *d, struct str review)
{
	yyjson_val *root, *payload;

	if (json_read(&d->original, review, &root) == JSON_NOT)
		return false;
	payload = json_get(root, "payload");
	return !yyjson_arr_size(
		json_get(payload ? payload : json_get(root, "content"), "findings"));
}

/* What a team decided, in its own words; "decision" has only three of them. */
static void decode_team_decision(const struct queue_entry *q, struct message *m, struct event *e)
{
	static const struct {
		const char *verb;
		enum verdict verdict;
	} verbs[] = {
		{ "accept", VERDICT_ACCEPTED },	  { "always", VERDICT_ACCEPTED },
		{ "partial", VERDICT_PARTIAL },	  { "reject", VERDICT_REJECTED },
		{ "stop", VERDICT_REJECTED },	  { "answer", VERDICT_ANSWERED },
		{ "dismiss", VERDICT_DISMISSED }, { "withdrawn", VERDICT_WITHDRAWN },
	};

	if (q->session.n)
		m->session = q->session;
	for (size_t i = 0; i < sizeof(verbs) / sizeof(verbs[0]); i++)
		if (str_is(q->verb, verbs[i].verb))
			e->verdict = verbs[i].verdict;
}

/* The x-gavel object: a person's Decision, or an escalated item of another log. Only a claim. */
static void decode_gavel(struct decoder *d, yyjson_val *root, struct message *m, struct event *e)
{
	struct queue_entry q;

	if (!queue_entry_read(root, &q))
		return;
	if (q.by.n && !d->info.reply && !q.team_item)
		m->flags |= RECORD_CLAIMS_HUMAN;
	/* who escalated an item to a queue is shown, but decides nothing */
	if (q.by.n && (d->info.reply || q.passes_on))
		m->from = (struct actor){ q.by, STR("judge"), d->info.reply };
	if (!q.passes_on && d->info.reply && q.verb.n)
		decode_team_decision(&q, m, e);
	if (!q.passes_on || e->verdict != VERDICT_ESCALATED)
		return;
	/* a queue holds items of several logs: use their original sessions */
	m->session = q.session;
	e->origin_dialect = (uint8_t)q.dialect;
	e->origin_kind = (uint8_t)q.kind;
	e->deadline_ms = q.deadline_ms;
	/* gavel runs the agent and sends it TIMEOUT */
	e->severe = q.dialect == DIALECT_ORCHESTRATOR && str_is(q.reply_channel, "stdin");
	e->undecidable = q.missing != NULL;
	e->no_findings = q.kind == ITEM_VERDICT && has_no_findings(d, q.original);
	path_push(&d->check, "x-gavel");
	if (q.missing)
		add_diag(&d->check, SEVERITY_WARNING, RULE("x-gavel"), q.missing,
			 "missing or not known; what was escalated cannot be answered without it");
	path_pop(&d->check);
}

static void decode_decision(struct decoder *d, yyjson_val *root, struct message *m)
{
	static const enum verdict verdicts[] = { VERDICT_ACCEPTED, VERDICT_ESCALATED,
						 VERDICT_REJECTED };
	yyjson_val *got[DC_N];
	struct event *e;
	int decision;

	m->kind = STR("decision");
	m->from = known_role_actors[KNOWN_ROLE_JUDGE];
	m->to = known_role_actors[KNOWN_ROLE_ORCHESTRATOR];
	check_object(&d->check, root, &decision_shape, got);
	check_file_name(d, json_str(got[DC_ID]), NULL);
	decision = value_number(&decision_shape, DC_DECISION, got[DC_DECISION]);
	m->time_ms = checked_time(&d->check, got[DC_CREATED]);
	m->correlation = id_or_file(d, json_str(got[DC_ID]));
	e = event_add(m, EV_JUDGEMENT, m->correlation, "/decision");
	e->verdict = decision < 0 ? VERDICT_NONE : verdicts[decision];
	e->content_hash = value_hash_but(root, got[DC_CREATED]); /* before any is unescaped */
	e->other = json_str(got[DC_RATIONALE]);
	if (is_blank(got[DC_RATIONALE]))
		add_diag(&d->check, SEVERITY_WARNING, RULE("decision-rationale"), "rationale",
			 "empty; a Decision comes with its rationale");
	if (got[DC_GAVEL])
		decode_gavel(d, root, m, e);
}

static void handoff_decode(struct decoder *d, yyjson_val *root, struct message *m)
{
	switch (form_of(root, d->has)) {
	case FORM_TASK: decode_task(d, root, m); break;
	case FORM_RESULT: decode_result(d, root, m); break;
	case FORM_DECISION: decode_decision(d, root, m); break;
	}
}

static struct str task_title(struct decoder *d, yyjson_val *root)
{
	static const char *const names[] = { "title", "goal", "description", "task_type" };
	struct str goal = json_get_str(json_get(root, "context"), "goal");

	for (int i = 0; i < 4; i++) {
		struct str s = json_get_str(root, names[i]);

		if (i == 3 && goal.n)
			return goal;
		if (s.n)
			return s;
	}
	return scalar_text(d, json_get(root, "context"));
}

static void handoff_summarize(struct decoder *d, yyjson_val *root, struct buf *out)
{
	switch (looked_form(root)) {
	case FORM_TASK:
		buf_add_str(out, task_title(d, root));
		break;
	case FORM_RESULT:
		summary_add(d, out, root, "{status} {#confidence_score}: {traces}");
		break;
	case FORM_DECISION:
		summary_add(d, out, root, "{decision}: {rationale}");
		break;
	}
}

/* All of an object but when it was written, which tells it from the next that says the same. */
static void detail_said(struct detail *out, yyjson_val *object)
{
	detail_part(out, object, json_get(object, "created_at"));
}

static void detail_result(struct decoder *d, yyjson_val *root, struct detail *out)
{
	detail_add(out, "status", json_get_str(root, "status"), true);
	detail_add(out, "confidence", scalar_text(d, json_get(root, "confidence_score")), true);
	detail_add(out, "traces", json_get_str(root, "traces"), false);
	detail_add(out, "output", scalar_text(d, json_get(root, "output")), false);
	detail_add_list(d, out, "artifacts", json_get(root, "artifacts"));
}

/* Details of the escalated message by its own dialect if it can be decoded, else its raw text. */
static void original_detail(struct decoder *d, const struct queue_entry *q, struct detail *out)
{
	const struct dialect_ops *dialect = dialect_of(q->dialect);
	yyjson_val *original;
	struct buf text = { 0 };

	json_read(&d->original, q->original, &original);
	if (q->about)
		json_read(&d->about, json_str(yyjson_arr_get(q->context, (size_t)q->about - 1)),
			  &d->looked_about);
	if (original && dialect && dialect != &dialect_handoff &&
	    dialect_detect(original, NULL) == q->dialect &&
	    dialect->detail(d, original, q->kind, (uint32_t)q->index, out))
		return;
	if (original && q->dialect == DIALECT_HANDOFF && looked_form(original) == FORM_RESULT) {
		detail_result(d, original, out);
		return;
	}
	if (original)
		json_write_pretty(&text, original, 400);
	else
		buf_add_str(&text, q->original);
	detail_add(out, "original", arena_take(&d->arena, &text), false);
}

static void entry_detail(struct decoder *d, yyjson_val *root, const struct queue_entry *q,
			 struct detail *out)
{
	original_detail(d, q, out); /* what is asked comes first */
	detail_add(out, "escalated by", q->by, true);
	detail_add(out, "rationale", json_get_str(root, "rationale"), false);
	detail_add(out, "from", json_get_str(q->object, "dialect"), true);
	detail_add(out, "kind", json_get_str(q->object, "kind"), true);
	detail_add(out, "session", q->session, true);
	detail_add(out, "item", q->item, true);
	if (q->team_item)
		detail_add(out, "source", q->team_source, true);
	else
		detail_add(out, "reply to", q->reply_path, true);
	out->parts = 0; /* the entry has the original's */
	out->deadline_ms = TIME_NONE;
	detail_said(out, root);
	out->title = q->title.n ? q->title : json_get_str(root, "rationale");
}

static bool handoff_detail(struct decoder *d, yyjson_val *root, enum item_kind kind, uint32_t index,
			   struct detail *out)
{
	struct queue_entry q;

	(void)index;
	if (kind != ITEM_ESCALATION)
		return false;
	if (looked_form(root) == FORM_DECISION && queue_entry_read(root, &q) && q.passes_on) {
		entry_detail(d, root, &q, out);
		return true;
	}
	detail_said(out, root);
	detail_add(out, "task", json_get_str(root, "task_id"), true);
	switch (looked_form(root)) {
	case FORM_TASK:
		return false;
	case FORM_RESULT:
		out->title = json_get_str(root, "traces");
		detail_result(d, root, out);
		break;
	case FORM_DECISION:
		out->title = json_get_str(root, "rationale");
		detail_add(out, "decision", json_get_str(root, "decision"), true);
		detail_add(out, "rationale", json_get_str(root, "rationale"), false);
		detail_add(out, "state", scalar_text(d, json_get(root, "state_version")), true);
		if (d->looked_about) {
			detail_said(out, d->looked_about);
			detail_result(d, d->looked_about, out);
		}
		break;
	}
	return true;
}

static const struct shape *const shapes[] = { &task_shape, &result_shape, &decision_shape, NULL };

const struct dialect_ops dialect_handoff = {
	.name = "handoff",
	.short_name = "hand",
	.signature = signature,
	.shapes = shapes,
	.decode = handoff_decode,
	.summarize = handoff_summarize,
	.detail = handoff_detail,
	.redelivery = REDELIVERY_ALWAYS,
};
