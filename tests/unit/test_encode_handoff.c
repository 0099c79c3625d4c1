/* What a person decides on a task becomes a Decision that says the same when it is read again. */
#include "encode.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define TASK \
	"{\"task_id\":\"T1\",\"task_type\":\"content\",\"priority\":\"high\",\"context\":{\"goal\":\"A post\"}," \
	"\"acceptance_criteria\":[\"Short\"],\"created_at\":\"2026-02-06T11:00:00Z\",\"status\":\"pending\"}"
#define RESULT(score, status, more) \
	"{\"task_id\":\"T1\",\"status\":\"" status "\",\"confidence_score\":" score \
	",\"output\":{\"type\":\"text\",\"payload\":{\"text\":\"Hi\"}},\"traces\":\"Tried\",\"artifacts\":[]," \
	"\"created_at\":\"2026-02-06T11:01:00Z\"" more "}"
#define ESCALATE \
	"{\"task_id\":\"T1\",\"decision\":\"escalate\",\"rationale\":\"low confidence\",\"state_version\":\"v7\"," \
	"\"created_at\":\"2026-02-06T11:02:00Z\"}"

/* Each way a task comes to a person. */
static const char *const logs[][4] = {
	{ TASK, RESULT("0.8", "success", "") },
	{ TASK, RESULT("0.5", "success", ",\"state_version\":\"v3\"") },
	{ TASK, RESULT("0.95", "success", ",\"sensitive\":true") },
	{ TASK, RESULT("0.5", "success", ""), ESCALATE },
	{ TASK, RESULT("0.95", "failure", ""), RESULT("0.94", "failure", "") },
	{ RESULT("0.8", "success", "") },
	{ ESCALATE },
};
static const char *const versions[] = { NULL, "v3", NULL, "v7", NULL, NULL, "v7" };
enum { LOGS = sizeof(logs) / sizeof(logs[0]) };

static const struct {
	enum verb verb;
	const char *decision;
	enum verdict verdict;
	const char *explanation;
} verbs[] = {
	{ VERB_ACCEPT, "approve", VERDICT_ACCEPTED, "" },
	{ VERB_ACCEPT, "approve", VERDICT_ACCEPTED, "Good \"enough\"\nreally" },
	{ VERB_REJECT, "reject", VERDICT_REJECTED, "Too long" },
	{ VERB_ESCALATE, "escalate", VERDICT_ESCALATED, "" },
};
enum { VERBS = sizeof(verbs) / sizeof(verbs[0]) };

START_TEST(says_what_was_decided)
{
	int log = _i / VERBS, v = _i % VERBS;
	struct terms terms = usual_terms("/nonexistent/replies.ndjson");
	struct bench l;
	struct json_reader json = { 0 };
	struct item_state st;
	struct plan p;
	yyjson_val *root;
	uint32_t item;

	bench_open(&l, "log");
	for (int i = 0; i < 4 && logs[log][i]; i++)
		bench_add(&l, logs[log][i]);
	item = bench_item(&l, ITEM_ESCALATION, "T1");
	bench_decide(&l, item, verbs[v].verb, verbs[v].explanation, "alice");
	bench_plan_by(&l, &terms, &p);
	assert_ready(&p);
	ck_assert_uint_eq(p.list.n, 1);
	ck_assert_int_eq(p.list.v[0].letter.channel, CHANNEL_FILE);
	ck_assert_uint_eq(p.list.v[0].letter.drafts.n, 1);
	ck_assert(json_read(&json, p.list.v[0].letter.bytes, &root) == JSON_OK);
	assert_str(json_get_str(root, "task_id"), "T1");
	ck_assert(str_is(json_get_str(root, "decision"), verbs[v].decision));
	ck_assert(json_get_str(root, "rationale").n > 0);
	if (verbs[v].explanation[0])
		ck_assert(str_is(json_get_str(root, "rationale"), verbs[v].explanation));
	if (versions[log])
		ck_assert(str_is(json_get_str(root, "state_version"), versions[log]));
	else
		ck_assert(str_eq(json_get_str(root, "state_version"), l.desk.drafts.v[0].rev));
	assert_str(json_get_str(root, "created_at"), "2026-02-06T12:00:00Z");
	assert_str(json_get_str(json_get(root, "x-gavel"), "by"), "alice");

	bench_say(&l, p.list.v[0].letter.bytes, NULL);
	assert_clean(&l);
	st = bench_state(&l, item);
	ck_assert(!st.open);
	ck_assert_int_eq(st.verdict, verbs[v].verdict);
	assert_str(agent_name(&l.model, decided_by(&l.model, &st)), "alice");
	ck_assert(l.model.agents.v[decided_by(&l.model, &st)].human);
	json_reader_release(&json);
	plan_release(&p);
	bench_release(&l);
}
END_TEST

/* A reason code alone is a rationale too. */
START_TEST(reason_code_counts)
{
	struct terms terms = usual_terms("/nonexistent/replies.ndjson");
	struct bench l;
	struct plan p;

	bench_open(&l, "log");
	bench_add(&l, logs[0][1]);
	bench_decide(&l, 0, VERB_REJECT, "later", "alice")->reason_code = STR("out_of_scope");
	bench_plan_by(&l, &terms, &p);
	assert_ready(&p);
	ck_assert(str_find(p.list.v[0].letter.bytes, STR("\"out_of_scope: later\""), 0) > 0);
	plan_release(&p);
	bench_release(&l);
}
END_TEST

START_TEST(needs_a_task)
{
	struct terms terms = usual_terms("/nonexistent/replies.ndjson");
	struct bench l;
	struct plan p;

	bench_open(&l, "log");
	bench_add(&l, "{\"status\":\"success\",\"confidence_score\":0.8,\"output\":{},\"traces\":\"Tried\","
		    "\"created_at\":\"2026-02-06T11:01:00Z\"}");
	bench_decide(&l, bench_item(&l, ITEM_ESCALATION, "escalation@1"), VERB_ACCEPT, "", "alice");
	bench_plan_by(&l, &terms, &p);
	ck_assert(!plan_is_ready(&p));
	ck_assert(strstr(first_missing(&p), "task_id"));
	plan_release(&p);
	bench_release(&l);
}
END_TEST

/* A second person's word, or a correction, stands over the first. */
START_TEST(last_person_has_the_last_word)
{
	struct item_state st;
	struct bench l;
	uint32_t item;
	const char *escalated = "{\"task_id\":\"T1\",\"decision\":\"escalate\",\"rationale\":\"?\","
				"\"state_version\":\"v\",\"created_at\":\"2026-02-06T12:00:00Z\","
				"\"x-gavel\":{\"by\":\"alice\"}}";
	const char *approved = "{\"task_id\":\"T1\",\"decision\":\"approve\",\"rationale\":\"!\","
			       "\"state_version\":\"v\",\"created_at\":\"2026-02-06T12:00:00Z\","
			       "\"x-gavel\":{\"by\":\"bob\"}}";

	bench_open(&l, "log");
	bench_add(&l, logs[1][1]);
	item = bench_item(&l, ITEM_ESCALATION, "T1");
	bench_say(&l, str_of(escalated), NULL);
	ck_assert_int_eq(bench_state(&l, item).verdict, VERDICT_ESCALATED);
	bench_say(&l, str_of(approved), NULL);
	st = bench_state(&l, item);
	ck_assert_int_eq(st.verdict, VERDICT_ACCEPTED);
	assert_str(agent_name(&l.model, decided_by(&l.model, &st)), "bob");
	assert_clean(&l);
	bench_release(&l);
}
END_TEST

static char folder[64];

static void make_folder(void)
{
	strcpy(folder, "/tmp/gavel-handoff-XXXXXX");
	ck_assert(mkdtemp(folder));
}

static void touch(const char *name)
{
	char path[256];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	f = fopen(path, "w");
	ck_assert(f);
	fclose(f);
}

static void remove_folder(void)
{
	char command[128];

	snprintf(command, sizeof(command), "rm -rf %s", folder);
	ck_assert_int_eq(system(command), 0);
}

static void plan_in_folder(struct bench *l, const char *result, const char *file,
			   const char *explanation, struct plan *p)
{
	struct terms terms = usual_terms(NULL);

	bench_open(l, folder);
	l->desk.is_dir = true;
	bench_add_file(l, str_of(result), file);
	ck_assert_uint_eq(l->model.items.n, 1);
	bench_decide(l, 0, VERB_ACCEPT, explanation, "alice");
	bench_plan_by(l, &terms, p);
	assert_ready(p);
}

static bool path_is(const struct plan *p, uint32_t i, const char *name)
{
	char path[256];

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	return str_is(p->list.v[i].letter.path, path);
}

START_TEST(folder_gets_files)
{
	struct bench l;
	struct plan p;

	make_folder();
	plan_in_folder(&l, RESULT("0.8", "success", ""), "result-T1.json", "", &p);
	ck_assert_uint_eq(p.list.n, 1);
	ck_assert_int_eq(p.list.v[0].letter.channel, CHANNEL_DIR);
	ck_assert(path_is(&p, 0, "decision-T1.json"));
	bench_say(&l, p.list.v[0].letter.bytes, "decision-T1.json");
	assert_clean(&l);
	ck_assert_int_eq(bench_state(&l, 0).verdict, VERDICT_ACCEPTED);
	plan_release(&p);
	bench_release(&l);

	/* what the person says is a file for people, and goes first; it decides nothing */
	plan_in_folder(&l, RESULT("0.8", "success", ""), "result-T1.json", "Nice", &p);
	ck_assert_uint_eq(p.list.n, 2);
	ck_assert(path_is(&p, 0, "review-T1.md"));
	ck_assert_int_eq(p.list.v[0].letter.channel, CHANNEL_DIR);
	ck_assert_uint_eq(p.list.v[0].letter.drafts.n, 0);
	ck_assert(str_find(p.list.v[0].letter.bytes, STR("\nNice\n"), 0) > 0);
	ck_assert(path_is(&p, 1, "decision-T1.json"));
	ck_assert_uint_eq(p.list.v[1].letter.drafts.n, 1);
	bench_say(&l, p.list.v[0].letter.bytes, "review-T1.md");
	assert_clean(&l);
	ck_assert(bench_state(&l, 0).open);
	plan_release(&p);
	bench_release(&l);
	remove_folder();
}
END_TEST

/* A name that is taken gets a UUID: …xxxxxxxx-xxxx-4xxx-xxxx-xxxxxxxxxxxx.json */
static void assert_ends_with_uuid(struct str path)
{
	const char *uuid = path.p + path.n - 41;

	ck_assert_msg(path.n > 41 && uuid[8] == '-' && uuid[13] == '-' && uuid[14] == '4' &&
		      uuid[18] == '-' && uuid[23] == '-' && str_ends(path, STR(".json")),
		      "%.*s", STR_ARG(path));
}

START_TEST(folder_names_are_free_and_safe)
{
	struct bench l;
	struct terms terms;
	struct plan p;

	make_folder();
	/* the task's id is in the file's name */
	plan_in_folder(&l,
		       "{\"status\":\"success\",\"confidence_score\":0.8,\"output\":{},\"traces\":\"Tried\","
		       "\"created_at\":\"2026-02-06T11:01:00Z\"}",
		       "result-T9.json", "", &p);
	ck_assert(path_is(&p, 0, "decision-T9.json"));
	ck_assert(str_find(p.list.v[0].letter.bytes, STR("\"task_id\":\"T9\""), 0) > 0);
	plan_release(&p);
	bench_release(&l);

	/* on the disk */
	touch("decision-T1.json");
	plan_in_folder(&l, RESULT("0.8", "success", ""), "result-T1.json", "", &p);
	ck_assert(str_ends(p.list.v[0].letter.path, STR(".json")));
	assert_ends_with_uuid(p.list.v[0].letter.path);
	plan_release(&p);
	bench_release(&l);
	remove_folder();

	/* read, but not on the disk any more; and a folder that only ends like it */
	make_folder();
	plan_in_folder(&l, ESCALATE, "decision-T1.json", "", &p);
	assert_ends_with_uuid(p.list.v[0].letter.path);
	plan_release(&p);
	bench_release(&l);

	/* written by nobody yet, but a letter that is held will be */
	plan_in_folder(&l, RESULT("0.8", "success", ""), "result-T1.json", "", &p);
	ck_assert(path_is(&p, 0, "decision-T1.json"));
	vec_push(&l.desk.letters, (struct letter){ .state = LETTER_HELD, .channel = CHANNEL_DIR,
						   .path = arena_str(&l.arena,
								     p.list.v[0].letter.path) });
	plan_release(&p);
	terms = usual_terms(NULL);
	bench_plan_by(&l, &terms, &p);
	ck_assert_uint_eq(p.list.n, 1);
	ck_assert(!path_is(&p, 0, "decision-T1.json"));
	plan_release(&p);
	bench_release(&l);

	/* an id that would leave the folder */
	plan_in_folder(&l,
		       "{\"task_id\":\"../../etc/x\",\"status\":\"success\",\"confidence_score\":0.8,"
		       "\"output\":{},\"traces\":\"Tried\",\"created_at\":\"2026-02-06T11:01:00Z\"}",
		       NULL, "Nice", &p);
	ck_assert(str_find(p.list.v[0].letter.path, STR(".."), 0) < 0);
	ck_assert(str_find(p.list.v[1].letter.path, STR(".."), 0) < 0);
	ck_assert(str_find(p.list.v[1].letter.bytes, STR("\"task_id\":\"../../etc/x\""), 0) > 0);
	plan_release(&p);
	bench_release(&l);
	remove_folder();
}
END_TEST

/* Nothing has an id here: a Result that says the same as the task's newest is that one again. */
START_TEST(a_result_that_comes_again_opens_nothing)
{
	struct bench l;
	uint32_t item;

	bench_open(&l, "log");
	bench_add(&l, TASK);
	bench_add(&l, RESULT("0.8", "success", ""));
	item = bench_item(&l, ITEM_ESCALATION, "T1");
	bench_add(&l, "{\"task_id\":\"T1\",\"decision\":\"approve\",\"rationale\":\"Fine\","
		      "\"state_version\":\"v1\",\"created_at\":\"2026-02-06T11:03:00Z\","
		      "\"x-gavel\":{\"by\":\"alice\"}}");
	ck_assert(!bench_state(&l, item).open);
	bench_add(&l, RESULT("0.8", "success", ""));
	ck_assert(!bench_state(&l, item).open);
	ck_assert_int_eq(bench_state(&l, item).verdict, VERDICT_ACCEPTED);
	ck_assert(message_route(&l.model, 3)->flags & RECORD_REPEATED);
	bench_add(&l, RESULT("0.81", "success", ""));
	ck_assert(bench_state(&l, item).open);
	ck_assert(!(message_route(&l.model, 4)->flags & RECORD_REPEATED));
	/* the newest counts */
	bench_add(&l, RESULT("0.8", "success", ""));
	ck_assert(!(message_route(&l.model, 5)->flags & RECORD_REPEATED));
	bench_release(&l);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("encode_handoff");
	TCase *t = tcase_create("decision");

	suite_add_tcase(suite, t);
	tcase_add_loop_test(t, says_what_was_decided, 0, LOGS * VERBS);
	tcase_add_test(t, reason_code_counts);
	tcase_add_test(t, needs_a_task);
	tcase_add_test(t, last_person_has_the_last_word);
	tcase_add_test(t, a_result_that_comes_again_opens_nothing);
	t = tcase_create("folder");
	suite_add_tcase(suite, t);
	tcase_add_test(t, folder_gets_files);
	tcase_add_test(t, folder_names_are_free_and_safe);
	return unit_run(suite);
}
