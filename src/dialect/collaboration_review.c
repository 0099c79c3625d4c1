/* Review requests and results of the collaboration dialect: rules about several fields, and the
 * events of findings, required changes and verifications. */
#include "dialect/collaboration.h"

#include "base/map.h"

static void check_locations(struct checker *c)
{
	yyjson_val *const *finding;
	uint32_t i;

	path_push(c, "findings");
	rows_foreach(c, ROWS_FINDINGS, i, finding) {
		int64_t first, last;
		yyjson_val *location = finding[FD_LOCATION];

		if (!yyjson_is_obj(finding[SELF]))
			continue;
		path_push_index(c, i);
		if (!location && yyjson_is_str(finding[FD_FILE]))
			add_diag(c, SEVERITY_WARNING, RULE("2.2.5-location"), "location",
				 "missing; a related text's flat \"file\" is read in its place");
		else if (!location)
			add_diag(c, SEVERITY_ERROR, RULE("2.2.5-location"), "location",
				 "missing; it is required");
		if (json_int(json_get(location, "line_start"), &first) &&
		    json_int(json_get(location, "line_end"), &last) && last < first) {
			path_push(c, "location");
			add_diag(c, SEVERITY_NOTE, RULE("2.2.5-line_end"), "line_end",
				 "comes before line_start");
			path_pop(c);
		}
		path_pop(c);
	}
	path_pop(c);
}

/* Verifications, and their flat form in related specifications. */
static const struct {
	unsigned field, flat;
	const char *name, *flat_name, *rule;
} verified[] = {
	{ VF_TESTS, VF_TESTS_PASSED, "tests", "tests_passed", RULE("2.2.5-tests") },
	{ VF_TYPE_CHECK, VF_TYPE_CHECK_PASSED, "type_check", "type_check_passed",
	  RULE("2.2.5-type_check") },
	{ VF_LINT, VF_LINT_PASSED, NULL, NULL, NULL }, /* it may be missing */
};

static void check_verification(struct checker *c, yyjson_val *const *verification)
{
	path_push(c, "verification");
	for (int i = 0; verified[i].rule; i++) {
		if (verification[verified[i].field])
			continue;
		if (yyjson_is_bool(verification[verified[i].flat]))
			add_diag(c, SEVERITY_WARNING, verified[i].rule, verified[i].name,
				 "missing; a related text's \"%s\" is read in its place",
				 verified[i].flat_name);
		else
			add_diag(c, SEVERITY_ERROR, verified[i].rule, verified[i].name,
				 "missing; it is required");
	}
	path_pop(c);
}

/* false only if a verification explicitly failed */
static bool verification_passed(yyjson_val *const *verification)
{
	yyjson_val *custom = verification[VF_CUSTOM], *key, *v;
	size_t i, n;

	for (size_t k = 0; k < sizeof(verified) / sizeof(verified[0]); k++)
		if (yyjson_is_false(json_get(verification[verified[k].field], "passed")) ||
		    yyjson_is_false(verification[verified[k].flat]))
			return false;
	if (yyjson_is_obj(custom))
		yyjson_obj_foreach(custom, i, n, key, v)
			if (yyjson_is_false(json_get(v, "passed")))
				return false;
	return true;
}

static bool id_is_listed(const struct map *seen, const struct str *ids, struct str id)
{
	for (uint32_t it = 0, at; map_next(seen, str_hash(id), &it, &at);)
		if (str_eq(ids[at], id))
			return true;
	return false;
}

/* related_findings must name findings of this review; finding ids must be unique. */
static void check_review_ids(struct checker *c)
{
	size_t k, n;
	uint32_t i;
	yyjson_val *name, *const *row;
	struct map seen = { 0 };
	VEC(struct str) ids = { 0 };
	char q[QUOTED_MAX];

	path_push(c, "findings");
	rows_foreach(c, ROWS_FINDINGS, i, row) {
		struct str id = json_str(row[FD_ID]);

		if (!id.p)
			continue;
		if (!id_is_listed(&seen, ids.v, id)) {
			map_add(&seen, str_hash(id), ids.n);
			vec_push(&ids, id);
			continue;
		}
		path_push_index(c, i);
		add_diag(c, SEVERITY_WARNING, RULE("2.2.5-finding_id"), "finding_id",
			 "%s appears twice in one review", quoted(id, q));
		path_pop(c);
	}
	path_pop(c);
	path_push(c, "required_changes");
	rows_foreach(c, ROWS_CHANGES, i, row) {
		yyjson_val *related = row[RC_RELATED];

		if (!yyjson_is_arr(related))
			continue;
		path_push_index(c, i);
		path_push(c, "related_findings");
		yyjson_arr_foreach(related, k, n, name)
			if (yyjson_is_str(name) && !id_is_listed(&seen, ids.v, json_str(name))) {
				path_push_index(c, (uint32_t)k);
				add_diag(c, SEVERITY_WARNING, RULE("2.2.5-related_findings"), NULL,
					 "%s is not a finding of this review",
					 quoted(json_str(name), q));
				path_pop(c);
			}
		path_pop(c);
		path_pop(c);
	}
	path_pop(c);
	map_release(&seen);
	vec_release(&ids);
}

/* Returns how many are fixed. *hash: of all findings. */
static uint32_t add_findings(struct checker *c, struct message *m, struct str review,
			     struct str task, bool *severe, uint64_t *hash)
{
	yyjson_val *const *finding;
	uint32_t i, fixed_n = 0;

	*hash = 0;
	rows_foreach(c, ROWS_FINDINGS, i, finding) {
		uint64_t own = value_hash(finding[SELF]);
		struct str id = json_str(finding[FD_ID]);
		int grade = value_number(&collab_finding_shape, FD_SEVERITY, finding[FD_SEVERITY]);
		int64_t fixed;
		struct event *e;

		*hash = hash_mix(*hash, own);
		if (!yyjson_is_obj(finding[SELF]))
			continue;
		if (!json_int(finding[FD_FIXED], &fixed) || fixed < 0)
			fixed = 0;
		e = event_add(m, fixed ? EV_FIXED : EV_ITEM, id, "/payload/findings/%u/finding_id");
		e->index = i;
		e->other = review;
		e->task = task;
		e->item = ITEM_FINDING;
		e->grade = grade < 0 ? GRADE_NONE : (enum grade)grade;
		e->content_hash = own;
		if (fixed) {
			e->iteration = fixed;
			fixed_n++;
			continue;
		}
		*severe |= grade == GRADE_CRITICAL || grade == GRADE_MAJOR;
		e->undecidable = !id.n || !review.n;
	}
	return fixed_n;
}

static void add_changes(struct checker *c, struct message *m, struct str review, struct str task)
{
	static const enum grade grades[] = { GRADE_MAJOR, GRADE_MINOR, GRADE_SUGGESTION };
	yyjson_val *const *change;
	uint32_t i;

	rows_foreach(c, ROWS_CHANGES, i, change) {
		struct str id = json_str(change[RC_ID]);
		int priority = value_number(&collab_change_shape, RC_PRIORITY,
					    change[RC_PRIORITY]);
		struct event *e;

		if (!yyjson_is_obj(change[SELF]))
			continue;
		e = event_add(m, EV_ITEM, id, "/payload/required_changes/%u/change_id");
		e->index = i;
		e->other = review;
		e->task = task;
		e->item = ITEM_CHANGE;
		e->grade = priority < 0 ? GRADE_NONE : grades[priority];
		e->undecidable = !id.n || !review.n;
		e->content_hash = value_hash(change[SELF]);
	}
}

/* Fields that the other verdict has. */
static void check_verdict_fields(struct checker *c, yyjson_val *const *payload, int verdict)
{
	if (verdict == 0 && yyjson_arr_size(payload[RV_CHANGES]))
		add_diag(c, SEVERITY_WARNING, RULE("2.2.5-required_changes"), "required_changes",
			 "for changes_requested or rejected; this review is approved");
	if (verdict > 0 && yyjson_arr_size(payload[RV_COMMENDATIONS]))
		add_diag(c, SEVERITY_NOTE, RULE("2.2.5-commendations"), "commendations",
			 "for approved; this review is not");
}

static void add_check(struct message *m, struct str review, struct str name)
{
	event_add(m, EV_REVIEW_CHECK, review, "/payload/review_id")->other = name;
}

void decode_review_request(struct checker *c, struct message *m, yyjson_val *const *payload)
{
	yyjson_val *const *criteria = row_of(c, ROWS_CRITERIA);
	yyjson_val *custom = criteria[CR_CUSTOM], *v;
	struct str review = json_str(payload[RQ_ID]), name;
	size_t i, n;

	event_add(m, EV_REVIEW_ASK, review, "/payload/review_id")->task =
		json_str(payload[RQ_TASK]);
	if (yyjson_is_true(criteria[CR_LINT]))
		add_check(m, review, STR_NONE);
	if (!yyjson_is_arr(custom))
		return;
	yyjson_arr_foreach(custom, i, n, v) {
		name = json_get_str(v, "name");
		if (name.n)
			add_check(m, review, name);
	}
}

/* Events for the optional verifications: lint and custom checks. */
static void add_verified(struct message *m, struct str review, yyjson_val *const *verification)
{
	yyjson_val *custom = verification[VF_CUSTOM], *key, *v;
	size_t i, n;

	if (verification[VF_LINT] || verification[VF_LINT_PASSED])
		add_check(m, review, STR_NONE);
	if (!yyjson_is_obj(custom))
		return;
	yyjson_obj_foreach(custom, i, n, key, v)
		if (json_str(key).n)
			add_check(m, review, json_str(key));
}

/* Findings, most of a review, are hashed one by one anyway. */
static uint64_t review_hash(yyjson_val *const *payload, uint64_t findings)
{
	yyjson_val *list = payload[RV_FINDINGS];

	return yyjson_is_arr(list) ? hash_mix(value_hash_but(payload[SELF], list), findings)
				   : value_hash(payload[SELF]);
}

void decode_review_result(struct checker *c, struct message *m, yyjson_val *const *payload,
			  const char *payload_name)
{
	static const enum review_verdict verdicts[] = { REVIEW_APPROVED, REVIEW_CHANGES,
							REVIEW_REJECTED };
	yyjson_val *const *verification = row_of(c, ROWS_VERIFICATION);
	struct str review = json_str(payload[RV_ID]), task = json_str(payload[RV_TASK]);
	int verdict = value_number(&collab_review_result_shape, RV_VERDICT,
				   payload[RV_VERDICT]);
	uint32_t at = m->events.n, fixed;
	uint64_t findings;
	struct event *e;
	bool severe = false;

	path_push(c, payload_name);
	check_locations(c);
	if (yyjson_is_obj(payload[RV_VERIFICATION]))
		check_verification(c, verification);
	check_review_ids(c);
	check_verdict_fields(c, payload, verdict);
	path_pop(c);

	e = event_add(m, EV_REVIEW_RESULT, review, "/payload/review_id");
	e->task = task;
	e->review = verdict < 0 ? REVIEW_NONE : verdicts[verdict];
	e->failed = !verification_passed(verification);
	fixed = add_findings(c, m, review, task, &severe, &findings);
	e = &m->events.v[at];
	if (e->review == REVIEW_CHANGES || e->review == REVIEW_REJECTED) /* others are no items */
		e->content_hash = review_hash(payload, findings);
	add_changes(c, m, review, task);
	add_verified(m, review, verification);
	m->events.v[at].severe = severe;
	m->events.v[at].limit = fixed;
	m->events.v[at].index = c->rows[ROWS_FINDINGS].n;
}
