/* Decoder of the collaboration dialect (SPEC-022): architect, developers and reviewers exchange
 * typed messages about tasks and reviews. Field names and values of related specifications are
 * accepted with a warning. */
#include "dialect/collaboration.h"
#include "dialect/marker.h"

/* The payload, also under the name that related specifications use. */
static yyjson_val *payload_of(yyjson_val *root)
{
	yyjson_val *payload = json_get(root, "payload");

	return payload ? payload : json_get(root, "content");
}

static struct actor actor_of(yyjson_val *const *agent)
{
	return (struct actor){ json_str(agent[AG_ID]), json_str(agent[AG_TYPE]),
			       str_is(json_str(agent[AG_INSTANCE]), "human") };
}

/* Only a reply can be from a person; elsewhere that is a claim. */
static void judge_claim(const struct decoder *d, struct message *m)
{
	if (d->info.reply)
		return;
	if (m->from.human)
		m->flags |= RECORD_CLAIMS_HUMAN;
	m->from.human = m->to.human = false;
}

static void add_path(struct message *m, struct str task, struct str path, const char *at, size_t i)
{
	struct event *e;

	if (!path.n)
		return;
	e = event_add(m, EV_TASK_FILE, task, at);
	e->index = (uint32_t)i;
	e->other = path;
}

static void add_paths(struct message *m, struct str task, yyjson_val *array, const char *at)
{
	size_t i, n;
	yyjson_val *v;

	if (!yyjson_is_arr(array))
		return;
	yyjson_arr_foreach(array, i, n, v)
		add_path(m, task, json_str(yyjson_is_obj(v) ? json_get(v, "path") : v), at, i);
}

static void add_files(struct checker *c, struct message *m, struct str task, unsigned rows,
		      const char *at)
{
	yyjson_val *const *file;
	uint32_t i;

	rows_foreach(c, rows, i, file)
		add_path(m, task, json_str(yyjson_is_obj(file[SELF]) ? file[FL_PATH] : file[SELF]),
			 at, i);
}

/* type: the number of the one that files of this list have */
static void check_change_types(struct checker *c, unsigned rows, const char *list, int type)
{
	yyjson_val *const *file;
	uint32_t i;

	path_push(c, "changes");
	path_push(c, list);
	rows_foreach(c, rows, i, file) {
		int is = value_number(&collab_file_shape, FL_TYPE, file[FL_TYPE]);

		if (!yyjson_is_obj(file[SELF]) || is < 0 || is == type)
			continue;
		path_push_index(c, i);
		add_diag(c, SEVERITY_NOTE, RULE("2.2.3-change_type"), "change_type",
			 "but it is listed in %s", list);
		path_pop(c);
	}
	path_pop(c);
	path_pop(c);
}

static void check_completion(struct checker *c, yyjson_val *const *payload, int status)
{
	check_change_types(c, ROWS_CREATED, "files_created", 0);
	check_change_types(c, ROWS_MODIFIED, "files_modified", 1);
	if (status == 0 && yyjson_arr_size(payload[CP_BLOCKERS]))
		add_diag(c, SEVERITY_WARNING, RULE("2.2.3-blockers"), "blockers",
			 "the reasons why a task is partial or failed; this one is completed");
}

/* type: of the dependencies of the list's strings; objects have their own. One without type must
 * complete first, like a hard one. */
static void add_depends(struct message *m, struct str task, yyjson_val *array, yyjson_val *type,
			const char *at)
{
	size_t i, n;
	yyjson_val *v;

	if (!yyjson_is_arr(array))
		return;
	yyjson_arr_foreach(array, i, n, v) {
		struct str own = json_get_str(v, "task_id");

		if (yyjson_is_obj(v)) {
			add_depends(m, own.n ? own : task, json_get(v, "depends_on"),
				    json_get(v, "dependency_type"), at);
		} else if (json_str(v).n) {
			struct event *e = event_add(m, EV_TASK_DEPENDS, task, at);

			e->index = (uint32_t)i;
			e->other = json_str(v);
			e->severe = !str_is(json_str(type), "soft");
		}
	}
}

/* "[finding-7 accepted] …" in a criterion: a revision names the findings it addresses. */
static void add_criteria_decisions(struct decoder *d, struct message *m, yyjson_val *criteria)
{
	size_t i, n;
	yyjson_val *v;

	if (!yyjson_is_arr(criteria))
		return;
	yyjson_arr_foreach(criteria, i, n, v) {
		struct marker marker;
		struct event *e;

		if (!marker_read(json_str(v), &d->arena, &marker) ||
		    (marker.verdict != VERDICT_ACCEPTED && marker.verdict != VERDICT_PARTIAL))
			continue;
		/* an agent may have written prose in brackets */
		if (!m->from.human && memchr(marker.id.p, ' ', marker.id.n))
			continue;
		e = event_add(m, EV_DECIDE, marker.id, "/payload/task/acceptance_criteria/%u");
		e->index = (uint32_t)i;
		e->item = ITEM_FINDING;
		e->verdict = marker.verdict;
	}
}

static void add_scope(struct message *m, struct str task, yyjson_val *scope)
{
	static const char at[] = "/payload/task/constraints/scope/%u";
	size_t i, n;
	yyjson_val *v;

	if (!yyjson_is_arr(scope))
		return;
	yyjson_arr_foreach(scope, i, n, v)
		if (json_str(v).n)
			event_add(m, EV_TASK_SCOPE, task, at)->other = json_str(v);
	if (!n)
		event_add(m, EV_TASK_SCOPE, task, at);
}

static void decode_assignment(struct decoder *d, struct message *m, yyjson_val *const *payload)
{
	struct checker *c = &d->check;
	yyjson_val *const *task = row_of(c, ROWS_TASK);
	yyjson_val *const *constraints = row_of(c, ROWS_CONSTRAINTS);
	struct str id = json_str(task[TK_ID]);
	struct event *e = event_add(m, EV_TASK, id, "/payload/task/task_id");

	e->agent = m->to;
	e->again = yyjson_arr_size(row_of(c, ROWS_CONTEXT)[CX_ATTEMPTS]) > 0;
	if (!json_int(payload[AS_MAX_ITERATIONS], &e->limit) || e->limit < 1)
		e->limit = 0;
	e->deadline_ms = checked_time(c, payload[AS_DEADLINE]);
	e->tests = yyjson_is_true(constraints[CN_TESTING]);
	add_scope(m, id, constraints[CN_SCOPE]);
	add_depends(m, id, task[TK_DEPENDS], task[TK_DEPENDENCY_TYPE],
		    "/payload/task/depends_on/%u");
	add_depends(m, id, task[TK_DEPENDENCIES], NULL, "/payload/task/dependencies/%u");
	add_depends(m, id, payload[AS_DEPENDENCIES], NULL, "/payload/dependencies/%u");
	add_criteria_decisions(d, m, task[TK_CRITERIA]);
}

static void decode_progress(struct message *m, yyjson_val *const *payload)
{
	struct str id = json_str(payload[PG_TASK]);
	struct event *e = event_add(m, EV_TASK_STATE, id, "/payload/task_id");
	double percent;

	e->state = TASK_RUNNING;
	if (json_number(payload[PG_PERCENT], &percent) && percent >= 0 && percent <= 100)
		e->number = percent / 100;
	add_paths(m, id, payload[PG_FILES], "/payload/files_modified_so_far/%u");
}

static void decode_completion(struct checker *c, struct message *m, yyjson_val *const *payload,
			      const char *payload_name)
{
	static const enum task_state states[] = { TASK_COMPLETED, TASK_PARTIAL, TASK_FAILED };
	struct str id = json_str(payload[CP_TASK]);
	int status = value_number(&collab_completion_shape, CP_STATUS, payload[CP_STATUS]);
	struct event *e = event_add(m, EV_TASK_STATE, id, "/payload/task_id");

	e->state = status < 0 ? TASK_RUNNING : states[status];
	e->number = status == 0 ? 1 : -1;
	e->tests = !yyjson_is_false(row_of(c, ROWS_SELF_REVIEW)[SR_TESTS_RUN]);
	path_push(c, payload_name);
	check_completion(c, payload, status);
	path_pop(c);
	add_files(c, m, id, ROWS_CREATED, "/payload/changes/files_created/%u/path");
	add_files(c, m, id, ROWS_MODIFIED, "/payload/changes/files_modified/%u/path");
	add_paths(m, id, row_of(c, ROWS_FILES)[CH_DELETED], "/payload/changes/files_deleted/%u");
	if (status > 0 && yyjson_arr_size(payload[CP_BLOCKERS])) {
		e = event_add(m, EV_ITEM, id, "/payload/blockers");
		e->item = ITEM_BLOCKED;
		e->task = id;
		e->content_hash = value_hash(payload[SELF]);
	}
}

/* A person's feedback may name the item it decides. Only agents' questions become items: those of a
 * person are for agents to answer. */
static void decode_feedback(struct decoder *d, struct message *m, yyjson_val *const *payload)
{
	struct str task = json_str(payload[FB_TASK]);
	struct marker marker = { 0 };
	struct event *e;

	if (m->from.human &&
	    marker_read(json_str(payload[FB_CONTENT]), &d->arena, &marker) &&
	    (marker.verdict == VERDICT_REJECTED || marker.verdict == VERDICT_ESCALATED)) {
		e = event_add(m, EV_DECIDE, marker.id, "/payload/content");
		e->item = ITEM_FINDING;
		e->verdict = marker.verdict;
	}
	/* escalating a question does not answer it */
	if (m->reply_to.n && !(m->from.human && str_eq(marker.id, m->reply_to))) {
		e = event_add(m, EV_DECIDE, m->reply_to, "/reply_to");
		e->item = ITEM_QUESTION;
		e->verdict = VERDICT_ANSWERED;
	}
	if (!m->from.human && yyjson_is_true(payload[FB_ACTION])) {
		e = event_add(m, EV_ITEM, m->id, "/message_id");
		e->item = ITEM_QUESTION;
		e->task = task;
		e->undecidable = !m->id.n;
		e->content_hash = value_hash(payload[SELF]);
	}
	if (task.n && !m->from.human)
		event_add(m, EV_TASK_NAMED, STR_NONE, "/payload/related_task_id")->task = task;
}

static void decode_payload(struct decoder *d, struct message *m, int type,
			   yyjson_val *const *payload, const char *payload_name)
{
	struct event *e;

	switch ((enum message_type)type) {
	case MT_ASSIGNMENT:
		decode_assignment(d, m, payload);
		break;
	case MT_PROGRESS:
		decode_progress(m, payload);
		break;
	case MT_COMPLETION:
		decode_completion(&d->check, m, payload, payload_name);
		break;
	case MT_REVIEW_REQUEST:
		decode_review_request(&d->check, m, payload);
		break;
	case MT_REVIEW_RESULT:
		decode_review_result(&d->check, m, payload, payload_name);
		break;
	case MT_FEEDBACK:
		decode_feedback(d, m, payload);
		break;
	case MT_STATUS_QUERY:
	case MT_STATUS_RESPONSE:
		break;
	case MT_ABORT:
		e = event_add(m, EV_ABORT, json_str(payload[AB_TARGET]), "/payload/target_id");
		e->again = str_is(json_str(payload[AB_SCOPE]), "session");
		break;
	case MT_ACKNOWLEDGMENT:
		e = event_add(m, EV_ACKNOWLEDGE, m->reply_to, "/reply_to");
		e->task = json_get_str(payload[SELF], "task_id");
		break;
	}
}

static enum authority authority_for(int type)
{
	switch (type) {
	case MT_ASSIGNMENT:
	case MT_REVIEW_REQUEST:
	case MT_ABORT: return AUTHORITY_DIRECT;
	case MT_REVIEW_RESULT: return AUTHORITY_JUDGE;
	default: return AUTHORITY_NONE;
	}
}

/* Directions are specified in prose only, so another one is a note. */
static void check_direction(struct checker *c, int type, struct message *m)
{
	static const struct {
		const char *from, *to, *rule;
	} expected[] = {
		[MT_ASSIGNMENT] = { "architect", "developer", RULE("2.2.1-direction") },
		[MT_PROGRESS] = { "developer", "architect", RULE("2.2.2-direction") },
		[MT_COMPLETION] = { "developer", "architect", RULE("2.2.3-direction") },
		[MT_REVIEW_REQUEST] = { "architect", "reviewer", RULE("2.2.4-direction") },
		[MT_REVIEW_RESULT] = { "reviewer", "architect", RULE("2.2.5-direction") },
	};

	m->authority = (uint8_t)authority_for(type);
	if (!m->from.human && !type_has_authority(m->from.type, authority_for(type)))
		m->flags |= RECORD_NOT_ITS_ROLE;
	if ((size_t)type >= sizeof(expected) / sizeof(expected[0]))
		return;
	if ((m->from.type.n && !str_is(m->from.type, expected[type].from)) ||
	    (m->to.type.n && !str_is(m->to.type, expected[type].to)))
		add_diag(c, SEVERITY_NOTE, expected[type].rule, "from_agent",
			 "this message goes from %s to %s", expected[type].from, expected[type].to);
}

enum { HAS_ID, HAS_TYPE, HAS_FROM, HAS_TO, HAS_SEQUENCE, HAS_PAYLOAD, HAS_TIME, HAS_CORRELATION,
       HAS_REPLY };
static const struct detection_key signature[] = {
	[HAS_ID] = { "message_id", 30 },
	[HAS_TYPE] = { "message_type", 40 },
	[HAS_FROM] = { "from_agent", 30 },
	[HAS_TO] = { "to_agent", 30 },
	[HAS_SEQUENCE] = { "sequence_number", 20 },
	[HAS_PAYLOAD] = { "payload", 10 },
	[HAS_TIME] = { "timestamp", 5 },
	[HAS_CORRELATION] = { "correlation_id", 10 },
	[HAS_REPLY] = { "reply_to", 10 },
	{ NULL, 0 },
};

static void collaboration_decode(struct decoder *d, yyjson_val *root, struct message *m)
{
	yyjson_val *got[B_N], *row[1 + FIELDS_MAX], **payload = row + 1;
	struct checker *c = &d->check;
	const char *payload_name;
	int type;

	m->content_hash = str_hash(d->bytes); /* before any of them is unescaped */
	check_object(c, root, &collab_base_shape, got);
	m->kind = json_str(got[B_TYPE]);
	if (!m->kind.n)
		m->kind = STR("unknown");
	m->id = json_str(got[B_ID]);
	m->time_ms = checked_time(c, got[B_TIME]);
	m->reply_to = json_str(got[B_REPLY]);
	m->correlation = json_str(got[B_CORRELATION]);
	m->session = json_str(got[B_SESSION]);
	m->from = actor_of(row_of(c, ROWS_FROM));
	m->to = actor_of(row_of(c, ROWS_TO));
	judge_claim(d, m);
	if (!json_int(got[B_SEQUENCE], &m->sequence) || m->sequence < 0)
		m->sequence = -1;
	type = value_number(&collab_base_shape, B_TYPE, got[B_TYPE]);
	payload[SELF] = got[B_PAYLOAD];
	if (type < 0 || !yyjson_is_obj(payload[SELF]))
		return;
	m->payload_is_content = !(d->has & 1 << HAS_PAYLOAD);
	payload_name = m->payload_is_content ? "content" : "payload";
	path_push(c, payload_name);
	check_object(c, payload[SELF], collab_payload_shapes[type], payload);
	path_pop(c);
	check_direction(c, type, m);
	decode_payload(d, m, type, payload, payload_name);
}

/* No payload is specified: common fields, or all of it. */
static void summarize_free(yyjson_val *payload, struct buf *out)
{
	static const char *const names[] = { "task_id", "state", "status", "question", "query",
					     "note", "message", "detail" };
	size_t start = out->n;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		struct str s = json_get_str(payload, names[i]);

		if (!s.n)
			continue;
		if (out->n > start)
			buf_adds(out, i <= 2 ? " " : ": ");
		buf_add_str(out, s);
	}
	if (out->n == start && payload)
		json_write(out, payload);
}

static void collaboration_summarize(struct decoder *d, yyjson_val *root, struct buf *out)
{
	static const char *const templates[MT_ACKNOWLEDGMENT + 1] = {
		[MT_PROGRESS] = "{task_id} {#progress_percent}%: {current_step}",
		[MT_COMPLETION] = "{task_id} {status}: {summary}",
		[MT_REVIEW_REQUEST] = "{review_id} of {task_id}",
		[MT_FEEDBACK] = "{feedback_type}: {subject}",
		[MT_ABORT] = "{scope} {target_id}: {reason}",
	};
	yyjson_val *p = payload_of(root);
	int type = value_index(collab_message_types, json_get_str(root, "message_type"));

	if (type == MT_ASSIGNMENT) {
		summary_add(d, out, json_get(p, "task"), "{task_id}: {task_description}");
	} else if (type == MT_REVIEW_RESULT) {
		summary_add(d, out, p, "{review_id} {verdict}");
		buf_printf(out, ", %zu findings: ", yyjson_arr_size(json_get(p, "findings")));
		summary_add(d, out, p, "{summary}");
	} else if (type >= 0 && templates[type]) {
		summary_add(d, out, p, templates[type]);
	} else {
		summarize_free(p, out);
	}
}

static void detail_finding(struct decoder *d, yyjson_val *v, struct detail *out)
{
	yyjson_val *location = json_get(v, "location");
	struct str file = json_get_str(location ? location : v, "file");
	yyjson_val *line = location ? json_get(location, "line_start") : json_get(v, "line");

	out->title = json_get_str(v, "description");
	detail_add(out, "severity", json_get_str(v, "severity"), true);
	detail_add(out, "category", json_get_str(v, "category"), true);
	detail_add(out, "file", file, true);
	detail_add(out, "line", scalar_text(d, line), true);
	detail_add(out, "description", json_get_str(v, "description"), false);
	detail_add(out, "rationale", json_get_str(v, "rationale"), false);
	detail_add(out, "suggestion", json_get_str(v, "suggestion"), false);
	detail_add(out, "code", json_get_str(location, "code_snippet"), false);
}

static bool collaboration_detail(struct decoder *d, yyjson_val *root, enum item_kind kind,
				 uint32_t index, struct detail *out)
{
	yyjson_val *p = payload_of(root), *v;

	switch (kind) {
	case ITEM_FINDING:
		v = elements_at(&d->elements[0], json_get(p, "findings"), index);
		detail_part(out, v, NULL);
		if (v)
			detail_finding(d, v, out);
		return v != NULL;
	case ITEM_CHANGE:
		v = elements_at(&d->elements[1], json_get(p, "required_changes"), index);
		detail_part(out, v, NULL);
		out->title = json_get_str(v, "description");
		detail_add(out, "priority", json_get_str(v, "priority"), true);
		detail_add(out, "description", json_get_str(v, "description"), false);
		detail_add_list(d, out, "findings", json_get(v, "related_findings"));
		return v != NULL;
	case ITEM_VERDICT:
		detail_part(out, p, NULL);
		out->title = json_get_str(p, "summary");
		detail_add(out, "verdict", json_get_str(p, "verdict"), true);
		detail_add(out, "task", json_get_str(p, "task_id"), true);
		detail_add(out, "summary", json_get_str(p, "summary"), false);
		return true;
	case ITEM_QUESTION:
		detail_part(out, p, NULL);
		out->title = json_get_str(p, "subject");
		detail_add(out, "type", json_get_str(p, "feedback_type"), true);
		detail_add(out, "subject", json_get_str(p, "subject"), false);
		detail_add(out, "content", json_get_str(p, "content"), false);
		detail_add(out, "task", json_get_str(p, "related_task_id"), true);
		return true;
	case ITEM_BLOCKED:
		detail_part(out, p, NULL);
		v = yyjson_arr_get_first(json_get(p, "blockers"));
		out->title = yyjson_is_str(v) ? json_str(v) : json_get_str(p, "summary");
		detail_add(out, "task", json_get_str(p, "task_id"), true);
		detail_add(out, "status", json_get_str(p, "status"), true);
		detail_add_list(d, out, "blockers", json_get(p, "blockers"));
		detail_add(out, "summary", json_get_str(p, "summary"), false);
		detail_add(out, "notes", json_get_str(p, "implementation_notes"), false);
		return true;
	default:
		return false;
	}
}

const struct dialect_ops dialect_collaboration = {
	.name = "collaboration",
	.short_name = "coll",
	.signature = signature,
	.shapes = collab_shapes,
	.decode = collaboration_decode,
	.summarize = collaboration_summarize,
	.detail = collaboration_detail,
	.redelivery = REDELIVERY_ALWAYS,
};
