/* Decoder of the envelope dialect (ADR-007): a workflow sends an agent an input envelope and gets
 * an output envelope. Without ids, times or names, an output belongs to the input before it. */
#include "dialect/dialect.h"

#define RULE(id) "envelope/" id
#define OPEN_SHAPE(table) SHAPE_NOTING(table, RULE("mapping-unlisted-field"))

enum { ROWS_CONTEXT = 1, ROWS_TASK }; /* nested objects whose fields the decoder needs */

/* feature_id may be null: the agent that creates the feature's folder has none yet */
static const char *const workflows[] = { "specify", "plan", "tasks", NULL };
enum { CTX_FEATURE, CTX_WORKFLOW, CTX_ITERATION };
static const struct field context_fields[] = {
	[CTX_FEATURE] = { "feature_id", RULE("input-context.feature_id"), REQUIRED,
			  T_STR | T_NULL },
	[CTX_WORKFLOW] = { "workflow", RULE("input-context.workflow"), REQUIRED, T_STR },
	/* the text has no range, only an example that begins with 1 */
	[CTX_ITERATION] = { "iteration", RULE("input-context.iteration"), REQUIRED, T_INT,
			    SOFT_RANGE(1, (double)COUNT_MAX) },
};
static const struct shape context_shape = OPEN_SHAPE(context_fields);
static const struct field path_field = { "", RULE("input-paths"), REQUIRED, T_STR };
static const struct shape paths_shape = { SHAPE_INDEX, .each = &path_field };
enum { DO_ACTION, DO_PARAMS };
static const struct field task_fields[] = {
	[DO_ACTION] = { "action", RULE("input-task.action"), REQUIRED, T_STR },
	[DO_PARAMS] = { "params", RULE("input-task.params"), REQUIRED, T_OBJ },
};
static const struct shape task_shape = OPEN_SHAPE(task_fields);
enum { IN_CONTEXT, IN_PATHS, IN_TASK, IN_PRIOR, IN_N };
static const struct field input_fields[] = {
	[IN_CONTEXT] = { "context", RULE("input-context"), REQUIRED, OBJECT(context_shape),
			 .rows = ROWS_CONTEXT },
	[IN_PATHS] = { "paths", RULE("input-paths"), REQUIRED, OBJECT(paths_shape) },
	[IN_TASK] = { "task", RULE("input-task"), REQUIRED, OBJECT(task_shape), .rows = ROWS_TASK },
	[IN_PRIOR] = { "prior_context", RULE("input-prior_context"), OPTIONAL, STRINGS },
};
static const struct shape input_shape = OPEN_SHAPE(input_fields);

static const char *const operations[] = { "create", "update", NULL };
static const struct field artifact_fields[] = {
	{ "path", RULE("artifact-path"), REQUIRED, T_STR, .format = FORMAT_RELATIVE_PATH },
	{ "operation", RULE("artifact-operation"), REQUIRED_ENUM(operations) },
	{ "content", RULE("artifact-content"), REQUIRED, T_STR },
};
static const struct shape artifact_shape = OPEN_SHAPE(artifact_fields);
static const char *const recommendations[] = { "proceed", "retry", "escalate", NULL };
enum { OUT_SUCCESS, OUT_SUMMARY, OUT_ARTIFACTS, OUT_NOTES, OUT_RECOMMENDATION, OUT_N };
static const struct field output_fields[] = {
	[OUT_SUCCESS] = { "success", RULE("output-success"), REQUIRED, T_BOOL },
	[OUT_SUMMARY] = { "summary", RULE("output-summary"), REQUIRED, T_STR },
	[OUT_ARTIFACTS] = { "artifacts", RULE("output-artifacts"), REQUIRED,
			    OBJECTS(artifact_shape) },
	[OUT_NOTES] = { "notes", RULE("output-notes"), OPTIONAL, STRINGS },
	[OUT_RECOMMENDATION] = { "recommendation", RULE("output-recommendation"),
				 REQUIRED_ENUM(recommendations) },
};
static const struct shape output_shape = OPEN_SHAPE(output_fields);

enum { HAS_CONTEXT, HAS_PATHS, HAS_TASK, HAS_PRIOR, HAS_SUCCESS, HAS_SUMMARY, HAS_ARTIFACTS,
       HAS_RECOMMENDATION, HAS_NOTES };
extern const struct dialect_ops dialect_envelope;

static const struct detection_key signature[] = {
	[HAS_CONTEXT] = { "context", 30 },
	[HAS_PATHS] = { "paths", 30 },
	[HAS_TASK] = { "task", 30 },
	[HAS_PRIOR] = { "prior_context", 20 },
	[HAS_SUCCESS] = { "success", 20 },
	[HAS_SUMMARY] = { "summary", 20 },
	[HAS_ARTIFACTS] = { "artifacts", 20 },
	[HAS_RECOMMENDATION] = { "recommendation", 30 },
	[HAS_NOTES] = { "notes", 10 },
	{ NULL, 0 },
};

static bool is_input(unsigned has)
{
	return HAS(CONTEXT) + HAS(PATHS) + HAS(TASK) + HAS(PRIOR) >=
	       HAS(SUCCESS) + HAS(SUMMARY) + HAS(ARTIFACTS) + HAS(RECOMMENDATION);
}

static bool looked_is_input(yyjson_val *root)
{
	return is_input(dialect_has(&dialect_envelope, root, NULL));
}

/* feature/workflow: iterations are counted per lane */
static struct str lane_id(struct decoder *d, struct str feature, struct str workflow)
{
	size_t n = feature.n + 1 + workflow.n;
	char *id = arena_alloc(&d->arena, n);

	if (feature.n)
		memcpy(id, feature.p, feature.n);
	id[feature.n] = '/';
	if (workflow.n)
		memcpy(id + feature.n + 1, workflow.p, workflow.n);
	return str_make(id, n);
}

/* A person's review of an output is the last note of the next input: "Review accepted: TEXT". */
static void decode_review(struct message *m, struct str lane, yyjson_val *prior)
{
	yyjson_val *last = yyjson_arr_get_last(prior);
	bool accepted = str_starts(json_str(last), STR("Review accepted: "));
	struct event *e;

	if (!accepted && !str_starts(json_str(last), STR("Review rejected: ")))
		return;
	e = event_add(m, EV_DECIDE, lane, "/prior_context/%u");
	e->index = (uint32_t)yyjson_arr_size(prior) - 1;
	e->verdict = accepted ? VERDICT_ACCEPTED : VERDICT_REJECTED;
	e->content_hash = value_hash(prior); /* to detect the output's own notes, passed on */
}

static void decode_input(struct decoder *d, yyjson_val *root, struct message *m)
{
	yyjson_val *got[IN_N], *const *context, *const *task, *gaps;
	struct checker *c = &d->check;
	struct event *e;
	struct str workflow, lane;
	int64_t iteration = 0;

	m->kind = STR("input");
	m->from = known_role_actors[KNOWN_ROLE_WORKFLOW];
	m->to = known_role_actors[KNOWN_ROLE_AGENT];
	check_object(c, root, &input_shape, got);
	context = row_of(c, ROWS_CONTEXT);
	task = row_of(c, ROWS_TASK);
	workflow = json_str(context[CTX_WORKFLOW]);
	path_push(c, "context");
	if (workflow.p && value_index(workflows, workflow) < 0)
		add_diag(c, SEVERITY_NOTE, RULE("input-context.workflow"), "workflow",
			 "not specify, plan or tasks");
	path_pop(c);
	json_int(context[CTX_ITERATION], &iteration);
	lane = lane_id(d, json_str(context[CTX_FEATURE]), workflow);
	decode_review(m, lane, got[IN_PRIOR]);
	e = event_add(m, EV_ENVELOPE_IN, lane, "/context/iteration");
	e->iteration = iteration > 0 ? iteration : 0;
	e->other = json_str(task[DO_ACTION]);
	gaps = json_get(task[DO_PARAMS], "gaps");
	e->content_hash = gaps ? value_hash(gaps) : 0;
}

static void decode_output(struct decoder *d, yyjson_val *root, struct message *m)
{
	yyjson_val *got[OUT_N];
	struct checker *c = &d->check;
	struct str recommendation;
	struct event *e;
	bool failed, escalate, retry;

	m->kind = STR("output");
	m->content_hash = str_hash(d->bytes); /* before any of them is unescaped */
	m->from = known_role_actors[KNOWN_ROLE_AGENT];
	m->to = known_role_actors[KNOWN_ROLE_WORKFLOW];
	check_object(c, root, &output_shape, got);
	recommendation = json_str(got[OUT_RECOMMENDATION]);
	if (yyjson_is_str(got[OUT_SUMMARY]) && !str_trim(json_str(got[OUT_SUMMARY])).n)
		add_diag(c, SEVERITY_WARNING, RULE("output-summary"), "summary",
			 "empty; it tells what happened, errors too");
	failed = yyjson_is_false(got[OUT_SUCCESS]);
	escalate = str_is(recommendation, "escalate");
	retry = str_is(recommendation, "retry");
	if (failed && str_is(recommendation, "proceed"))
		add_diag(c, SEVERITY_WARNING, RULE("recommendation-proceed"), "recommendation",
			 "proceed means that the agent succeeded");
	if (escalate && failed && !yyjson_arr_size(got[OUT_ARTIFACTS]) &&
	    (str_starts(json_str(got[OUT_SUMMARY]), STR("Review escalated: ")) ||
	     str_starts(json_str(got[OUT_SUMMARY]), STR("Review escalated (")))) {
		e = event_add(m, EV_DECIDE, STR_NONE, "/summary");
		e->verdict = VERDICT_ESCALATED;
		e->other = str_from(json_str(got[OUT_SUMMARY]), sizeof("Review escalated") - 1);
	}
	e = event_add(m, EV_ENVELOPE_OUT, STR_NONE, "/recommendation");
	e->failed = failed || retry;
	e->severe = escalate;
	e->again = retry;
	/* the gaps it names: the notes, or the summary where there are none */
	e->content_hash = yyjson_arr_size(got[OUT_NOTES]) ? value_hash(got[OUT_NOTES])
							   : value_hash(got[OUT_SUMMARY]);
	if (escalate || retry || failed) {
		e = event_add(m, EV_ITEM, STR_NONE, "/recommendation");
		e->item = escalate ? ITEM_ESCALATION : ITEM_RETRY;
		e->content_hash = value_hash(root);
	}
}

static void envelope_decode(struct decoder *d, yyjson_val *root, struct message *m)
{
	if (is_input(d->has))
		decode_input(d, root, m);
	else
		decode_output(d, root, m);
}

static void envelope_summarize(struct decoder *d, yyjson_val *root, struct buf *out)
{
	if (!looked_is_input(root)) {
		summary_add(d, out, root, "{recommendation}: {summary}");
		return;
	}
	summary_add(d, out, json_get(root, "context"), "{workflow} {feature_id} #{#iteration}: ");
	summary_add(d, out, json_get(root, "task"), "{action}");
}

static bool envelope_detail(struct decoder *d, yyjson_val *root, enum item_kind kind,
			    uint32_t index, struct detail *out)
{
	yyjson_val *artifacts = json_get(root, "artifacts"), *v;
	struct buf paths = { 0 };
	size_t i, n;

	(void)index;
	if ((kind != ITEM_ESCALATION && kind != ITEM_RETRY) || looked_is_input(root))
		return false;
	detail_part(out, root, NULL);
	out->title = json_get_str(root, "summary");
	detail_add(out, "recommendation", json_get_str(root, "recommendation"), true);
	detail_add(out, "summary", json_get_str(root, "summary"), false);
	detail_add_list(d, out, "notes", json_get(root, "notes"));
	if (yyjson_is_arr(artifacts))
		yyjson_arr_foreach(artifacts, i, n, v) {
			if (i)
				buf_addc(&paths, '\n');
			summary_add(d, &paths, v, "{operation} {path}");
		}
	detail_add(out, "artifacts", arena_take(&d->arena, &paths), false);
	return true;
}

static const struct shape *const shapes[] = { &input_shape, &output_shape, NULL };

const struct dialect_ops dialect_envelope = {
	.name = "envelope",
	.short_name = "envl",
	.signature = signature,
	.shapes = shapes,
	.decode = envelope_decode,
	.summarize = envelope_summarize,
	.detail = envelope_detail,
};
