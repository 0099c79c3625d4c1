/* Encoder for collaboration verdicts: the person's review_result on the same round, sent as a
 * reviewer.
 *
 * The review is copied. What the protocol does not allow with the new verdict is left out and named
 * (severe findings of an approval), or refused (an approval without passing verification). */
#include "encode/encode_collaboration.h"

#include "json/compose.h"

struct review_copy {
	struct buf findings, changes; /* JSON objects, with commas */
	struct buf waived;            /* "find-1 (critical), find-2 (major)" */
	struct buf failed;            /* "tests, lint" */
	VEC(struct str) kept;         /* ids of the findings copied */
	struct map kept_map;
};

/* The file of a finding, in its location or beside it. */
static struct str file_of(yyjson_val *finding)
{
	yyjson_val *location = json_get(finding, "location");

	return json_get_str(location ? location : finding, "file");
}

static bool finding_is_whole(yyjson_val *v)
{
	static const char *const severities[] = { "critical", "major", "minor", "suggestion",
						  NULL };
	static const char *const categories[] = { "bug",   "security", "performance", "style",
						  "logic", "test",     NULL };

	return json_get_str(v, "finding_id").n && json_get_str(v, "description").p &&
	       value_index(severities, json_get_str(v, "severity")) >= 0 &&
	       value_index(categories, json_get_str(v, "category")) >= 0 && file_of(v).p;
}

static bool finding_is_fixed(yyjson_val *v)
{
	int64_t fixed;

	return json_int(json_get(v, "fixed_in_iteration"), &fixed) && fixed > 0;
}

static bool finding_is_severe(yyjson_val *v)
{
	return !finding_is_fixed(v) && (str_is(json_get_str(v, "severity"), "critical") ||
					str_is(json_get_str(v, "severity"), "major"));
}

static void put_finding(struct buf *b, yyjson_val *v)
{
	static const char *const listed[] = { "finding_id", "severity", "category",
					      "location",   "file",	"line",
					      "description", "rationale", "fixed_in_iteration",
					      NULL };
	struct str rationale = json_get_str(v, "rationale");
	int64_t line;

	json_comma(b);
	buf_addc(b, '{');
	json_put_str(b, "finding_id", json_get_str(v, "finding_id"));
	json_put_str(b, "severity", json_get_str(v, "severity"));
	json_put_str(b, "category", json_get_str(v, "category"));
	if (json_get(v, "location")) {
		json_put_value(b, "location", json_get(v, "location"));
	} else {
		json_open(b, "location", '{');
		json_put_str(b, "file", file_of(v));
		if (json_int(json_get(v, "line"), &line) && line >= 0)
			json_put_int(b, "line_start", line);
		buf_addc(b, '}');
	}
	json_put_str(b, "description", json_get_str(v, "description"));
	json_put_str(b, "rationale", rationale.p ? rationale : STR("not given"));
	if (finding_is_fixed(v))
		json_put_value(b, "fixed_in_iteration", json_get(v, "fixed_in_iteration"));
	put_unlisted(b, v, listed);
	buf_addc(b, '}');
}

static bool is_kept(const struct review_copy *w, struct str id)
{
	for (uint32_t it = 0, v; map_next(&w->kept_map, str_hash(id), &it, &v);)
		if (str_eq(w->kept.v[v], id))
			return true;
	return false;
}

static void copy_findings(struct review_copy *w, yyjson_val *findings, bool approved)
{
	size_t i, n;
	yyjson_val *v;

	yyjson_arr_foreach(findings, i, n, v) {
		struct str id = json_get_str(v, "finding_id");

		if (approved && finding_is_fixed(v))
			continue; /* an approval has no severe findings, not even fixed ones */
		if (approved && finding_is_severe(v)) {
			buf_adds(&w->waived, w->waived.n ? ", " : "");
			buf_add_str(&w->waived, id);
			buf_adds(&w->waived, " (");
			buf_add_str(&w->waived, json_get_str(v, "severity"));
			buf_addc(&w->waived, ')');
		} else if (finding_is_whole(v) && !is_kept(w, id)) {
			put_finding(&w->findings, v);
			map_add(&w->kept_map, str_hash(id), w->kept.n);
			vec_push(&w->kept, id);
		}
	}
}

static void put_change(struct review_copy *w, yyjson_val *v)
{
	static const char *const listed[] = { "related_findings", NULL };
	yyjson_val *related = json_get(v, "related_findings"), *name;
	struct buf *b = &w->changes;
	size_t i, n;

	json_comma(b);
	buf_addc(b, '{');
	put_unlisted(b, v, listed);
	json_open(b, "related_findings", '[');
	yyjson_arr_foreach(related, i, n, name) {
		if (!yyjson_is_str(name) || !is_kept(w, json_str(name)))
			continue;
		json_comma(b);
		json_write_str(b, json_str(name));
	}
	buf_adds(b, "]}");
}

static void copy_changes(struct review_copy *w, yyjson_val *changes)
{
	static const char *const priorities[] = { "must_fix", "should_fix", "consider", NULL };
	size_t i, n;
	yyjson_val *v;

	yyjson_arr_foreach(changes, i, n, v)
		if (json_get_str(v, "change_id").n && json_get_str(v, "description").p &&
		    value_index(priorities, json_get_str(v, "priority")) >= 0)
			put_change(w, v);
}

static void add_failed(struct review_copy *w, struct str name, bool passed)
{
	if (passed)
		return;
	buf_adds(&w->failed, w->failed.n ? ", " : "");
	buf_add_str(&w->failed, name);
}

/* One check; `flat` is a boolean variant of it. */
static void put_check(struct review_copy *w, struct buf *b, yyjson_val *verification,
		      const char *name, const char *flat, bool required)
{
	yyjson_val *check = json_get(verification, name), *passed = json_get(check, "passed");
	bool nested = yyjson_is_bool(passed);

	if (!nested)
		passed = json_get(verification, flat);
	if (nested) {
		json_put_value(b, name, check);
	} else if (yyjson_is_bool(passed) || required || check) {
		json_open(b, name, '{');
		json_put_bool(b, "passed", yyjson_is_true(passed));
		if (!yyjson_is_bool(passed))
			json_put_name(b, "error", "not given");
		buf_addc(b, '}');
	} else {
		return;
	}
	add_failed(w, str_of(name), yyjson_is_true(passed));
}

static void put_verification(struct review_copy *w, struct buf *b, yyjson_val *verification)
{
	static const char *const listed[] = { "tests",	"type_check",	"lint", "custom",
					      "tests_passed", "type_check_passed", "lint_passed",
					      NULL };
	yyjson_val *custom = json_get(verification, "custom"), *key, *v;
	size_t i, n;

	json_open(b, "verification", '{');
	put_check(w, b, verification, "tests", "tests_passed", true);
	put_check(w, b, verification, "type_check", "type_check_passed", true);
	put_check(w, b, verification, "lint", "lint_passed", false);
	json_open(b, "custom", '{');
	if (yyjson_is_obj(custom)) /* the macro would do arithmetic on NULL */
		yyjson_obj_foreach(custom, i, n, key, v) {
			add_failed(w, json_str(key), yyjson_is_true(json_get(v, "passed")));
			if (yyjson_is_bool(json_get(v, "passed")))
				json_put_member(b, key, v);
		}
	buf_addc(b, '}');
	put_unlisted(b, verification, listed);
	buf_addc(b, '}');
}

static void put_summary(struct encoding *e, struct buf *b, yyjson_val *payload,
			const struct review_copy *w)
{
	struct str words = reason_text(e, draft_of(e, 0));
	struct buf text = { 0 };

	buf_add_str(&text, words.n ? words : json_get_str(payload, "summary"));
	if (w->waived.n) {
		buf_adds(&text, text.n ? " Waived: " : "Waived: ");
		buf_add_str(&text, buf_str(&w->waived));
	}
	json_put_str(b, "summary", text.n ? buf_str(&text) : STR("not given"));
	buf_release(&text);
}

static void put_result(struct encoding *e, struct buf *b, yyjson_val *payload, const char *verdict,
		       struct review_copy *w)
{
	bool approved = draft_of(e, 0)->verb == VERB_ACCEPT;
	yyjson_val *praise = json_get(payload, "commendations");

	copy_findings(w, json_get(payload, "findings"), approved);
	if (!approved)
		copy_changes(w, json_get(payload, "required_changes"));
	json_put_str(b, "review_id", json_get_str(payload, "review_id"));
	json_put_str(b, "task_id", json_get_str(payload, "task_id"));
	json_put_name(b, "verdict", verdict);
	json_open(b, "findings", '[');
	buf_add_str(b, buf_str(&w->findings));
	buf_addc(b, ']');
	put_verification(w, b, json_get(payload, "verification"));
	put_summary(e, b, payload, w);
	if (w->changes.n) {
		json_open(b, "required_changes", '[');
		buf_add_str(b, buf_str(&w->changes));
		buf_addc(b, ']');
	}
	if (approved && yyjson_is_arr(praise))
		put_strings(b, "commendations", praise);
}

/* Checks the copy against the protocol's rules for the verdict. */
static void check_result(struct encoding *e, struct proposal *p, yyjson_val *payload,
			 const struct review_copy *w)
{
	enum verb verb = draft_of(e, 0)->verb;
	char q[QUOTED_MAX];

	if (!json_get_str(payload, "task_id").n)
		propose_missing(e, p, "the review names no task; its reviewer must send it again");
	if (verb == VERB_ACCEPT && w->failed.n)
		propose_missing(e, p, "a review is approved only when all verifications pass, and "
				      "these did not: %s; reject it, or let them run again",
				quoted(buf_str(&w->failed), q));
	if (verb == VERB_PARTIAL && !w->kept.n)
		propose_missing(e, p, "changes are requested by findings, and this review has "
				      "none; accept or reject it");
	if (w->waived.n)
		propose_caution(e, p, "an approval cannot have severe findings; left out and "
				      "named as waived: %s", quoted(buf_str(&w->waived), q));
}

void encode_verdict(struct encoding *e)
{
	static const char *const verdicts[] = { [VERB_ACCEPT] = "approved",
						[VERB_PARTIAL] = "changes_requested",
						[VERB_REJECT] = "rejected" };
	struct proposal *p = propose(e, e->drafts, e->n);
	enum verb verb = draft_of(e, 0)->verb;
	struct review_copy w = { 0 };
	struct buf b = { 0 };
	struct origin o;
	yyjson_val *payload = read_origin(e, 0, p, &o);

	if (!payload || verb > VERB_REJECT)
		return;
	begin_reply(e, p, &b, "review_result", &o, &o.to, true);
	put_result(e, &b, payload, verdicts[verb], &w);
	check_result(e, p, payload, &w);
	end_reply(e, p, &b);
	vec_release(&w.kept);
	map_release(&w.kept_map);
	buf_release(&w.findings);
	buf_release(&w.changes);
	buf_release(&w.waived);
	buf_release(&w.failed);
}
