/* gavel as the orchestrator: what agents ask, and what they are told. Every line that is written is
 * read back and applied to the same model, which must have nothing to say against it. */
#include "encode.h"

#include "agents/orchestrate.h"

#define T0 INT64_C(1770215400000) /* 2026-02-04T14:30:00Z */
#define ID "aaaaaaaa-0000-4000-8000-"

static struct bench b;
static struct orchestrator o;
static uint32_t ann, bob, cyd;
static int64_t now;
static struct buf out;
static struct json_reader json;
static struct ruling ruled;
static bool odd; /* what orchestrator_attribute said of the last message */

static void setup(void)
{
	static const struct str skills[] = { { "typescript", 10 }, { "testing", 7 } };

	bench_init(&b);
	b.model.runs_agents = true;
	memset(&o, 0, sizeof(o));
	ann = orchestrator_add(&o, STR("ann"), STR("worker"), skills, 2);
	bob = orchestrator_add(&o, STR("bob"), STR("worker"), skills, 1);
	cyd = orchestrator_add(&o, STR("cyd"), STR_NONE, NULL, 0);
	now = T0;
}

static void teardown(void)
{
	bench_release(&b);
	orchestrator_release(&o);
	buf_release(&out);
	json_reader_release(&json);
}

/* One message through the whole way that gavel run goes with it. */
static void pass(uint32_t agent, bool sent, struct str line)
{
	struct place place = bench_decode(&b, line, NULL);

	place.trust = sent ? TRUST_REPLY : TRUST_AGENT;
	place.speaker = o.agents.v[agent].name;
	b.terms.now_ms = now;
	odd = orchestrator_attribute(&o, &b.model, &b.message, agent, sent);
	bench_take(&b, &place);
}

/* A line that gavel writes: one line, sound by itself and after all that was said before. */
static void send(uint32_t agent, struct str line)
{
	ck_assert(line.n && line.p[line.n - 1] == '\n');
	line.n--;
	ck_assert_msg(!memchr(line.p, '\n', line.n), "more than a line: %.*s", STR_ARG(line));
	pass(agent, true, line);
	ck_assert_int_eq(b.message.dialect, DIALECT_ORCHESTRATOR);
	ck_assert_msg(b.worse.n == 0, "%.*s: %s", STR_ARG(line), b.worse.p);
	ck_assert(is_uuid(b.message.id, true));
	ck_assert_int_eq(b.message.time_ms, now);
	orchestrator_note(&o, agent, true, &b.message, line);
}

static void take_str(uint32_t agent, struct str line)
{
	struct incoming h = { .agent = agent, .now_ms = now };

	pass(agent, false, line);
	h.msg = &b.message;
	h.bytes = b.lines.v[b.lines.n - 1];
	h.message = b.model.records.n - 1;
	buf_clear(&out);
	ruled = orchestrator_take(&o, &b.model, &h, &out);
	ck_assert_int_eq(out.n > 0, ruled.type == RULING_ANSWER);
}

static void take(uint32_t agent, const char *line)
{
	take_str(agent, str_of(line));
}

static unsigned asked;
static char asked_id[37];

/* A request under a new id, which asked_id then is. */
static void ask(uint32_t agent, const char *type, const char *payload)
{
	char line[4096], time[32];

	snprintf(asked_id, sizeof(asked_id), ID "%012u", ++asked);
	snprintf(line, sizeof(line),
		 "{\"type\":\"request:%s\",\"id\":\"%s\",\"timestamp\":\"%s\",\"payload\":%s}",
		 type, asked_id, timestamp_iso(now, time), payload);
	take(agent, line);
}

/* What was answered, once the answer has gone out: its payload, or its error. */
static yyjson_val *told(uint32_t agent, const char *type, const char *member)
{
	yyjson_val *root;

	ck_assert_msg(ruled.type == RULING_ANSWER, "no answer: %s", ruled.why ? ruled.why : "");
	send(agent, buf_str(&out));
	ck_assert_int_eq(json_read(&json, buf_str(&out), &root), JSON_OK);
	ck_assert_msg(str_is(json_get_str(root, "type"), type), "%s", out.p);
	ck_assert_msg(str_is(json_get_str(root, "correlationId"), asked_id), "%s", out.p);
	ck_assert(!json_get(root, "agentId"));
	return json_get(root, member);
}

static yyjson_val *payload_told(uint32_t agent)
{
	ck_assert_int_eq(ruled.code, CODE_NONE);
	return told(agent, "response:success", "payload");
}

static yyjson_val *refused(uint32_t agent, enum orchestrator_code code)
{
	yyjson_val *error = told(agent, "response:error", "error");

	ck_assert_msg(str_is(json_get_str(error, "code"), orchestrator_code_name(code)), "%s",
		      out.p);
	ck_assert_int_eq(ruled.code, code);
	ck_assert(json_get_str(error, "message").n > 0);
	return error;
}

static void unanswered(const char *why)
{
	ck_assert_int_eq(ruled.type, RULING_NOTHING);
	ck_assert_msg(why ? ruled.why && strstr(ruled.why, why) : !ruled.why, "%s",
		      ruled.why ? ruled.why : "no reason");
}

static void assert_json(yyjson_val *v, const char *want)
{
	struct buf text = { 0 };

	json_write(&text, v);
	ck_assert_msg(str_is(buf_str(&text), want), "%s\nis not\n%s", text.p, want);
	buf_release(&text);
}

#define TASK_PAYLOAD \
	"{\"type\":\"implementation\",\"name\":\"Fix \\\"auth\\\"\",\"description\":\"All of " \
	"it\"," \
	"\"payload\":{\"file\":\"a.ts\"},\"requiredRole\":\"worker\",\"requiredCapabilities\":" \
	"[\"typescript\"],\"dependencies\":[\"task-0\"],\"priority\":2}"

/* A task that the agent submits and a person lets in; its id. */
static struct str let_in(uint32_t agent)
{
	struct proposal *p;
	yyjson_val *root;

	ask(agent, "submit-task", TASK_PAYLOAD);
	ck_assert_int_eq(ruled.type, RULING_PERSON);
	bench_stage(&b, ITEM_TASK, asked_id, VERB_ACCEPT);
	p = bench_ready(&b);
	send(agent, p->letter.bytes);
	bench_send(&b, p);
	bench_verdict(&b, ITEM_TASK, asked_id, VERDICT_ACCEPTED);
	ck_assert_int_eq(json_read(&json, p->letter.bytes, &root), JSON_OK);
	return arena_str(&b.arena, json_get_str(json_get(json_get(root, "payload"), "task"), "id"));
}

static void assign(uint32_t agent, struct str task)
{
	buf_clear(&out);
	orchestrator_assign(task, now, &out);
	send(agent, buf_str(&out));
}

static void progress(uint32_t agent, struct str task, const char *how_far)
{
	char line[1024], time[32];

	snprintf(line, sizeof(line),
		 "{\"type\":\"event:progress\",\"id\":\"" ID "%012u\",\"timestamp\":\"%s\","
		 "\"payload\":{\"taskId\":\"%.*s\",\"progress\":%s,\"message\":\"On it\"}}",
		 ++asked, timestamp_iso(now, time), STR_ARG(task), how_far);
	take(agent, line);
	unanswered(NULL);
}

static yyjson_val *get_task(uint32_t agent, struct str task)
{
	char payload[300];

	snprintf(payload, sizeof(payload), "{\"taskId\":\"%.*s\"}", STR_ARG(task));
	ask(agent, "get-task", payload);
	return ruled.code ? NULL : json_get(payload_told(agent), "task");
}

static void assert_status(uint32_t agent, struct str task, const char *status)
{
	yyjson_val *v = get_task(agent, task);

	ck_assert_msg(str_is(json_get_str(v, "status"), status), "%s", out.p);
}

/* ---- agents ---- */

START_TEST(agents_are_told_as_the_text_shows)
{
	ask(ann, "query-agents", "{}");
	assert_json(payload_told(ann),
		    "{\"agents\":[{\"id\":\"ann\",\"role\":\"worker\",\"status\":\"idle\","
		    "\"capabilities\":[\"typescript\",\"testing\"],\"currentTask\":null},"
		    "{\"id\":\"bob\",\"role\":\"worker\",\"status\":\"idle\",\"capabilities\":"
		    "[\"typescript\"],\"currentTask\":null},{\"id\":\"cyd\",\"status\":\"idle\","
		    "\"capabilities\":[],\"currentTask\":null}]}");
}
END_TEST

static const struct {
	const char *filter, *names;
} agent_filters[] = {
	{ "{\"role\":\"worker\"}", "ann bob " },
	{ "{\"role\":\"planner\"}", "" },
	{ "{\"status\":\"idle\"}", "cyd " },
	{ "{\"status\":\"busy\"}", "ann " },
	{ "{\"status\":\"crashed\"}", "bob " },
	{ "{\"status\":\"dancing\"}", "" }, /* the list of states is open */
	{ "{\"capabilities\":[\"typescript\"]}", "ann bob " },
	{ "{\"capabilities\":[\"testing\",\"typescript\"]}", "ann " },
	{ "{\"capabilities\":[]}", "ann bob cyd " },
	{ "{\"role\":\"worker\",\"status\":\"busy\",\"capabilities\":[\"testing\"]}", "ann " },
	{ "{\"n\":90}", "ann bob cyd " },
};

START_TEST(agents_are_filtered)
{
	struct buf names = { 0 };
	yyjson_val *v;
	size_t i, n;

	progress(ann, STR("task-9"), "0.5");
	o.agents.v[bob].life = ORCHESTRATED_CRASHED;
	ask(cyd, "query-agents", agent_filters[_i].filter);
	v = json_get(payload_told(cyd), "agents");
	buf_adds(&names, "");
	for (i = 0, n = yyjson_arr_size(v); i < n; i++) {
		buf_add_str(&names, json_get_str(yyjson_arr_get(v, i), "id"));
		buf_addc(&names, ' ');
	}
	ck_assert_msg(str_is(buf_str(&names), agent_filters[_i].names), "%s gives %.*s",
		      agent_filters[_i].filter, STR_ARG(buf_str(&names)));
	buf_release(&names);
}
END_TEST

static void assert_agent(uint32_t asks, uint32_t agent, const char *status, const char *task)
{
	yyjson_val *v;

	ask(asks, "query-agents", "{}");
	v = yyjson_arr_get(json_get(payload_told(asks), "agents"), agent);
	ck_assert_msg(str_is(json_get_str(v, "status"), status), "%s", out.p);
	ck_assert_msg(task ? str_is(json_get_str(v, "currentTask"), task)
			   : yyjson_is_null(json_get(v, "currentTask")),
		      "%s", out.p);
}

START_TEST(what_an_agent_is_busy_with_is_told_to_whom_it_concerns)
{
	struct str task = let_in(ann);

	assert_agent(ann, ann, "idle", NULL); /* queued: nobody works on it */
	assign(bob, task);
	assert_agent(bob, bob, "busy", task.p);
	assert_agent(ann, bob, "busy", task.p);
	assert_agent(cyd, bob, "busy", NULL);
	o.agents.v[bob].life = ORCHESTRATED_CRASHED;
	assert_agent(ann, bob, "crashed", NULL); /* it does nothing any more */
	o.agents.v[bob].life = ORCHESTRATED_RUNS;
	progress(bob, task, "1");
	assert_agent(bob, bob, "idle", NULL);
	o.agents.v[bob].life = ORCHESTRATED_STOPS;
	assert_agent(bob, bob, "stopping", NULL);
	o.agents.v[bob].life = ORCHESTRATED_STOPPED;
	assert_agent(ann, bob, "stopped", NULL);
}
END_TEST

/* ---- tasks ---- */

START_TEST(a_task_is_told_to_whom_it_belongs)
{
	struct str task = let_in(ann);
	char want[1024];

	snprintf(want, sizeof(want),
		 "{\"id\":\"%.*s\",\"name\":\"Fix \\\"auth\\\"\",\"status\":\"queued\","
		 "\"requiredRole\":\"worker\",\"dependencies\":[\"task-0\"],\"type\":"
		 "\"implementation\",\"description\":\"All of it\",\"payload\":{\"file\":\"a.ts\"},"
		 "\"requiredCapabilities\":[\"typescript\"],\"priority\":2}",
		 STR_ARG(task));
	assert_json(get_task(ann, task), want);
	get_task(bob, task);
	assert_json(json_get(refused(bob, CODE_UNAUTHORIZED), "details"),
		    arena_printf(&b.arena, "{\"taskId\":\"%.*s\"}", STR_ARG(task)));
	assign(bob, task);
	assert_status(bob, task, "assigned");
	assert_status(ann, task, "assigned");
	get_task(cyd, task);
	refused(cyd, CODE_UNAUTHORIZED);
	assign(cyd, task); /* given to another one: no longer bob's */
	get_task(bob, task);
	refused(bob, CODE_UNAUTHORIZED);
	ask(bob, "query-tasks", "{}");
	assert_json(payload_told(bob), "{\"tasks\":[]}");
	assign(bob, task);
	assign(bob, task);
	ask(bob, "query-tasks", "{}");
	ck_assert_uint_eq(yyjson_arr_size(json_get(payload_told(bob), "tasks")), 1);
}
END_TEST

START_TEST(only_who_has_a_task_changes_it)
{
	struct str task = let_in(ann);

	progress(bob, task, "0.5");
	assert_status(ann, task, "queued");
	get_task(bob, task);
	refused(bob, CODE_UNAUTHORIZED);
	progress(ann, task, "0.5");
	assert_status(ann, task, "running");
	assign(bob, task);
	progress(ann, task, "0.6");
	assert_status(bob, task, "assigned");
	progress(bob, task, "0.6");
	assert_status(ann, task, "running");
}
END_TEST

START_TEST(a_cancelled_task_stays_cancelled_until_it_is_given_out_again)
{
	struct str task = let_in(ann);

	assign(bob, task);
	buf_clear(&out);
	orchestrator_cancel(task, STR("Dependency failed"), now, &out);
	send(bob, buf_str(&out));
	progress(bob, task, "0.6");
	assert_json(json_get(get_task(ann, task), "result"), "{\"success\":false}");
	assert_status(ann, task, "cancelled");
	assign(cyd, task);
	assert_status(ann, task, "assigned");
}
END_TEST

START_TEST(what_nobody_knows_is_not_found)
{
	get_task(ann, STR("no-such-task"));
	assert_json(refused(ann, CODE_NOT_FOUND),
		    "{\"code\":\"NOT_FOUND\",\"message\":\"Task not found\",\"details\":"
		    "{\"taskId\":\"no-such-task\"}}");
	get_task(ann, STR(""));
	refused(ann, CODE_NOT_FOUND);
}
END_TEST

START_TEST(each_has_the_tasks_it_made_up)
{
	progress(ann, STR("task-1"), "0.5");
	get_task(bob, STR("task-1"));
	refused(bob, CODE_UNAUTHORIZED);
	assert_json(get_task(ann, STR("task-1")), "{\"id\":\"task-1\",\"name\":\"task-1\","
						  "\"status\":\"running\",\"dependencies\":[]}");
	progress(bob, STR("task-1"), "0.9"); /* the same name, another task */
	buf_clear(&out);
	orchestrator_cancel(STR("task-1"), STR_NONE, now, &out);
	send(bob, buf_str(&out));
	assert_status(bob, STR("task-1"), "cancelled");
	assert_status(ann, STR("task-1"), "running");
}
END_TEST

static const struct {
	const char *filter;
	unsigned n;
} task_filters[] = {
	{ "{}", 3 },
	{ "{\"limit\":2}", 2 },
	{ "{\"limit\":0}", 0 },
	{ "{\"limit\":99}", 3 },
	{ "{\"status\":\"queued\"}", 1 },
	{ "{\"status\":\"assigned\"}", 1 },
	{ "{\"status\":\"running\",\"limit\":10}", 1 },
	{ "{\"status\":\"completed\"}", 0 },
	{ "{\"requiredRole\":\"worker\"}", 2 },
	{ "{\"requiredRole\":\"reviewer\"}", 0 },
	{ "{\"requiredRole\":\"worker\",\"status\":\"running\"}", 0 },
};

START_TEST(tasks_are_filtered_and_ones_own)
{
	yyjson_val *v;
	size_t i, n;

	let_in(ann);
	assign(bob, let_in(ann));
	progress(ann, STR("mine"), "0.1");
	let_in(bob);
	progress(bob, STR("his"), "0.1");
	ask(ann, "query-tasks", task_filters[_i].filter);
	v = json_get(payload_told(ann), "tasks");
	ck_assert_msg(yyjson_arr_size(v) == task_filters[_i].n, "%s", out.p);
	for (i = 0, n = yyjson_arr_size(v); i < n; i++) {
		ck_assert(!str_is(json_get_str(yyjson_arr_get(v, i), "id"), "his"));
		ck_assert(!json_get(yyjson_arr_get(v, i), "description"));
	}
	ask(cyd, "query-tasks", task_filters[_i].filter);
	assert_json(payload_told(cyd), "{\"tasks\":[]}");
}
END_TEST

START_TEST(made_up_tasks_are_not_remembered_without_end)
{
	char name[32];

	for (unsigned i = 0; i <= ORCHESTRATOR_OWN_MAX; i++) {
		snprintf(name, sizeof(name), "t%u", i);
		progress(ann, str_of(name), "0.5");
		now += 20;
	}
	assert_status(ann, STR("t999"), "running");
	get_task(ann, STR("t1000"));
	refused(ann, CODE_NOT_FOUND);
	assert_status(ann, let_in(ann), "queued");
}
END_TEST

/* ---- a person ---- */

START_TEST(a_question_waits_for_a_person)
{
	struct proposal *p;
	uint32_t agent;

	ask(ann, "ask-user",
	    "{\"question\":\"Which?\",\"options\":[{\"label\":\"A\",\"value\":\"a\"}],"
	    "\"timeout\":300000}");
	ck_assert_int_eq(ruled.type, RULING_PERSON);
	ck_assert_int_eq(orchestrator_next_ms(&o), T0 + 300000);
	bench_stage(&b, ITEM_QUESTION, asked_id, VERB_ANSWER)->answer = STR("A");
	p = bench_ready(&b);
	assert_str(p->letter.to, "ann");
	send(ann, p->letter.bytes);
	bench_verdict(&b, ITEM_QUESTION, asked_id, VERDICT_ANSWERED);
	ck_assert_int_eq(orchestrator_next_ms(&o), TIME_NONE);
	now += 400000;
	buf_clear(&out);
	ck_assert(!orchestrator_due(&o, &b.model, now, &agent, &out));
}
END_TEST

START_TEST(where_nobody_can_be_asked_it_is_said)
{
	b.model.runs_agents = false;
	ask(ann, "submit-task", TASK_PAYLOAD);
	refused(ann, CODE_INTERNAL_ERROR);
}
END_TEST

START_TEST(a_deadline_that_passes_is_a_timeout)
{
	char first[37];
	uint32_t agent;

	ask(ann, "ask-user", "{\"question\":\"Which?\",\"timeout\":300000}");
	memcpy(first, asked_id, sizeof(first));
	ask(bob, "submit-task", TASK_PAYLOAD); /* 30 s */
	ck_assert_int_eq(orchestrator_next_ms(&o), T0 + 30000);
	now = T0 + 30000;
	buf_clear(&out);
	ck_assert(!orchestrator_due(&o, &b.model, now, &agent, &out));
	now++;
	ck_assert(orchestrator_due(&o, &b.model, now, &agent, &out));
	ck_assert_uint_eq(agent, bob);
	ruled = (struct ruling){ RULING_ANSWER, CODE_TIMEOUT, NULL };
	assert_json(json_get(refused(bob, CODE_TIMEOUT), "details"),
		    "{\"deadline\":\"2026-02-04T14:30:30Z\",\"x-gavel\":{\"by\":\"gavel\"}}");
	bench_verdict(&b, ITEM_TASK, asked_id, VERDICT_EXPIRED);
	buf_clear(&out);
	ck_assert(!orchestrator_due(&o, &b.model, now, &agent, &out));
	memcpy(asked_id, first, sizeof(first));
	now = T0 + 300001;
	ck_assert(orchestrator_due(&o, &b.model, now, &agent, &out));
	ck_assert_uint_eq(agent, ann);
	refused(ann, CODE_TIMEOUT);
	bench_verdict(&b, ITEM_QUESTION, first, VERDICT_EXPIRED);
	buf_clear(&out);
	ck_assert(!orchestrator_due(&o, &b.model, now, &agent, &out));
	ck_assert_uint_eq(out.n, 0);
}
END_TEST

START_TEST(asked_again_it_has_the_new_deadline)
{
	uint32_t agent;

	ask(ann, "ask-user", "{\"question\":\"Which?\",\"timeout\":1000}");
	now = T0 + 900;
	asked--; /* under the same id */
	ask(ann, "ask-user", "{\"question\":\"Which?\",\"timeout\":60000}");
	ck_assert_int_eq(ruled.type, RULING_NOTHING);
	ck_assert_int_eq(orchestrator_next_ms(&o), T0 + 60900);
	buf_clear(&out);
	now = T0 + 1001;
	ck_assert(!orchestrator_due(&o, &b.model, now, &agent, &out));
	now = T0 + 60901;
	ck_assert(orchestrator_due(&o, &b.model, now, &agent, &out));
}
END_TEST

static const struct {
	enum delivery delivery;
	bool times_out;
} deliveries[] = {
	{ DELIVERY_STAGED, true },	  { DELIVERY_RECORDED, false },
	{ DELIVERY_SENT, false },	  { DELIVERY_HELD, false },
	{ DELIVERY_ACKNOWLEDGED, false }, { DELIVERY_BOUNCED, true },
};

START_TEST(an_answer_on_its_way_is_not_overtaken_by_a_timeout)
{
	struct overlay s = { .verdict = VERDICT_ANSWERED, .delivery = deliveries[_i].delivery };
	uint32_t agent;

	ask(ann, "ask-user", "{\"question\":\"Which?\"}");
	s.item = bench_item(&b, ITEM_QUESTION, asked_id);
	s.from = b.model.records.n;
	s.by = model_intern(&b.model, STR("ann"));
	model_overlay(&b.model, &s);
	now += 30001;
	buf_clear(&out);
	ck_assert_int_eq(orchestrator_due(&o, &b.model, now, &agent, &out),
			 deliveries[_i].times_out);
	ck_assert_int_eq(orchestrator_next_ms(&o), TIME_NONE);
	if (deliveries[_i].times_out || deliveries[_i].delivery == DELIVERY_ACKNOWLEDGED)
		return;
	/* given up: it was never answered */
	s.delivery = DELIVERY_NONE;
	model_overlay(&b.model, &s);
	ck_assert(orchestrator_due(&o, &b.model, now, &agent, &out));
}
END_TEST

START_TEST(what_is_answered_elsewhere_does_not_time_out)
{
	uint32_t agent;
	char line[512];

	ask(ann, "ask-user", "{\"question\":\"Which?\"}");
	snprintf(line, sizeof(line),
		 "{\"type\":\"response:success\",\"id\":\"" ID "%012u\",\"correlationId\":\"%s\","
		 "\"timestamp\":\"2026-02-04T14:30:01Z\",\"payload\":{\"answer\":\"a\"}}",
		 ++asked, asked_id);
	pass(ann, true, str_of(line)); /* the model has heard of it, the orchestrator not */
	buf_clear(&out);
	ck_assert(!orchestrator_due(&o, &b.model, T0 + 30001, &agent, &out));
	ck_assert_int_eq(orchestrator_next_ms(&o), TIME_NONE);
}
END_TEST

START_TEST(whoever_comes_after_it_is_not_told_what_it_has_not_asked)
{
	struct str task = let_in(ann);
	uint32_t agent;

	ask(ann, "ask-user", "{\"question\":\"Which?\"}");
	orchestrator_gone(&o, ann);
	buf_clear(&out);
	ck_assert(!orchestrator_due(&o, &b.model, T0 + 30001, &agent, &out));
	ck_assert_int_eq(orchestrator_next_ms(&o), TIME_NONE);
	assert_status(ann, task, "queued");
}
END_TEST

/* ---- malformed and hostile ---- */

#define HEAD "{\"type\":\"request:query-agents\",\"id\":\"" ID "900000000001\",\"timestamp\":" \
	     "\"2026-02-04T14:30:00Z\""
#define BODY(type, payload) \
	"{\"type\":\"request:" type "\",\"id\":\"" ID "900000000001\",\"timestamp\":" \
	"\"2026-02-04T14:30:00Z\",\"payload\":" payload "}"

static const struct {
	const char *line;
	enum orchestrator_code code;
	const char *says; /* in the line that is written */
} wrong[] = {
	{ BODY("query-agents", "{\"role\":\"invalid-role\"}"), CODE_INVALID_REQUEST,
	  "\"details\":{\"role\":\"invalid-role\"}" },
	{ BODY("query-agents", "{\"role\":7}"), CODE_INVALID_REQUEST, "{\"role\":7}" },
	{ BODY("query-agents", "{\"role\":null}"), CODE_INVALID_REQUEST, "{\"role\":null}" },
	{ BODY("query-agents", "{\"status\":[]}"), CODE_INVALID_REQUEST, "/payload/status" },
	{ BODY("query-agents", "{\"capabilities\":\"typescript\"}"), CODE_INVALID_REQUEST,
	  "array" },
	{ BODY("query-agents", "{\"capabilities\":[\"a\",1]}"), CODE_INVALID_REQUEST,
	  "{\"capabilities/1\":1}" },
	{ BODY("query-tasks", "{\"status\":\"done\"}"), CODE_INVALID_REQUEST, "done" },
	{ BODY("query-tasks", "{\"limit\":-1}"), CODE_INVALID_REQUEST, "{\"limit\":-1}" },
	{ BODY("query-tasks", "{\"limit\":1.5}"), CODE_INVALID_REQUEST, "limit" },
	{ BODY("query-tasks", "{\"limit\":18446744073709551616}"), CODE_INVALID_REQUEST, "limit" },
	{ BODY("query-tasks", "{\"limit\":1e999}"), CODE_INVALID_REQUEST, "limit" },
	{ BODY("get-task", "{}"), CODE_INVALID_REQUEST, "/payload/taskId: missing" },
	{ BODY("get-task", "{\"taskId\":{\"a\":1}}"), CODE_INVALID_REQUEST, "taskId" },
	{ BODY("get-task", "{\"taskId\":\"a\\u0000b\"}"), CODE_NOT_FOUND, "a\\u0000b" },
	{ BODY("get-task", "{\"taskId\":\"\\\"},{\\u001b[2J\\u202e\"}"), CODE_NOT_FOUND,
	  "\\\"},{\\u001b[2J" },
	{ BODY("get-task", "7"), CODE_INVALID_REQUEST, "/payload" },
	{ BODY("get-task", "[]"), CODE_INVALID_REQUEST, "/payload" },
	{ BODY("ask-user", "\"Which?\""), CODE_INVALID_REQUEST, "/payload" },
	{ BODY("ask-user", "{\"question\":7}"), CODE_INVALID_REQUEST, "{\"question\":7}" },
	{ BODY("ask-user", "{\"question\":\"?\",\"timeout\":-1}"), CODE_INVALID_REQUEST,
	  "timeout" },
	{ BODY("ask-user", "{\"question\":\"?\",\"options\":[{\"label\":\"A\"}]}"),
	  CODE_INVALID_REQUEST, "/payload/options/0/value" },
	{ BODY("ask-user", "{\"question\":\"?\",\"question\":\"!\"}"), CODE_INVALID_REQUEST,
	  "Duplicate name" },
	{ BODY("submit-task", "{\"name\":\"x\"}"), CODE_INVALID_REQUEST, "missing" },
	{ BODY("submit-task",
	       "{\"type\":\"t\",\"name\":\"x\",\"description\":\"d\",\"payload\":{\"file\":\"a\","
	       "\"\\u0066ile\":\"b\"},\"requiredRole\":\"worker\"}"),
	  CODE_INVALID_REQUEST, "Duplicate name" },
	{ BODY("list-agents", "{}"), CODE_INVALID_MESSAGE_TYPE,
	  "{\"type\":\"request:list-agents\"}" },
	{ BODY("", "{}"), CODE_INVALID_MESSAGE_TYPE, "No such request" },
	{ BODY("Query-Agents", "{}"), CODE_INVALID_MESSAGE_TYPE, "No such request" },
	{ BODY("query-agents\\u0000", "{}"), CODE_INVALID_MESSAGE_TYPE, "query-agents\\u0000" },
	{ "{\"type\":\"command:stop\",\"id\":\"" ID "900000000001\",\"timestamp\":"
	  "\"2026-02-04T14:30:00Z\",\"payload\":{}}",
	  CODE_INVALID_MESSAGE_TYPE, "No such message type" },
	{ HEAD "}", CODE_INVALID_REQUEST, "/payload: missing" },
	{ "{\"type\":\"request:query-agents\",\"id\":\"" ID "900000000001\",\"payload\":{}}",
	  CODE_INVALID_REQUEST, "/timestamp: missing" },
	{ "{\"type\":\"request:query-agents\",\"id\":\"" ID "900000000001\",\"timestamp\":"
	  "\"yesterday\",\"payload\":{}}",
	  CODE_INVALID_REQUEST, "{\"timestamp\":\"yesterday\"}" },
	{ HEAD ",\"payload\":{},\"type\":\"event:log\"}", CODE_INVALID_REQUEST, "Duplicate name" },
	{ HEAD ",\"payload\":{},\"x\":[{\"a\":[{\"b\":1,\"b\":1}]}]}", CODE_INVALID_REQUEST,
	  "Duplicate name" },
	{ HEAD ",\"payload\":{},\"agentId\":7}", CODE_INVALID_REQUEST, "{\"agentId\":7}" },
	{ HEAD ",\"payload\":{},\"agentId\":\"bob\"}", CODE_UNAUTHORIZED, "another agent" },
	{ BODY("query-agents", "{\"role\":\"\\ud800\"}"), CODE_INVALID_REQUEST, "\xef\xbf\xbd" },
};

START_TEST(a_bad_request_is_told_what_is_wrong)
{
	take(ann, wrong[_i].line);
	strcpy(asked_id, ID "900000000001");
	refused(ann, wrong[_i].code);
	ck_assert_msg(str_find(buf_str(&out), str_of(wrong[_i].says), 0) >= 0, "%s lacks %s", out.p,
		      wrong[_i].says);
	for (uint32_t i = 0; i < b.model.items.n; i++)
		ck_assert(!b.model.items.v[i].open);
	ck_assert_int_eq(orchestrator_next_ms(&o), TIME_NONE);
}
END_TEST

#define WITH_ID(id) "{\"type\":\"request:query-agents\",\"id\":" id ",\"timestamp\":" \
		    "\"2026-02-04T14:30:00Z\",\"payload\":{}}"

static const struct {
	const char *line, *why;
} silent[] = {
	{ "{\"type\":\"request:query-agents\",\"timestamp\":\"2026-02-04T14:30:00Z\",\"payload\":{}"
	  "}",
	  "no id" },
	{ WITH_ID("\"\""), "no id" },
	{ WITH_ID("7"), "no id" },
	{ WITH_ID("null"), "no id" },
	{ WITH_ID("{\"id\":\"a\"}"), "no id" },
	{ WITH_ID("\"a\\u0000b\""), "broken" },
	{ WITH_ID("\"a\\ud800b\""), "broken" },
	{ WITH_ID("\"a\",\"id\":\"b\""), "two ids" },
	{ WITH_ID("\"a\",\"\\u0069d\":\"a\""), "two ids" },
	{ "{\"type\":\"event:log\",\"id\":\"" ID "900000000001\",\"timestamp\":"
	  "\"2026-02-04T14:30:00Z\",\"payload\":{\"level\":\"info\",\"message\":\"x\"}}",
	  NULL },
	{ "{\"type\":\"event:heartbeat\",\"id\":\"" ID "900000000001\",\"timestamp\":"
	  "\"2026-02-04T14:30:00Z\",\"payload\":{}}",
	  NULL },
	{ "{\"type\":\"event:question\",\"id\":\"" ID "900000000001\",\"timestamp\":"
	  "\"2026-02-04T14:30:00Z\",\"payload\":{\"question\":\"?\"}}",
	  NULL },
	{ "{\"id\":\"" ID "900000000001\",\"timestamp\":\"2026-02-04T14:30:00Z\",\"payload\":"
	  "{\"taskId\":\"t\"}}",
	  NULL },
	{ "{\"iteration\":1,\"status\":\"success\"}", NULL },
	{ "just a log line", NULL },
	{ "{\"type\":\"request:query-agents\",", NULL },
	{ "", NULL },
};

START_TEST(what_cannot_or_need_not_be_answered_is_not)
{
	take(ann, silent[_i].line);
	unanswered(silent[_i].why);
}
END_TEST

START_TEST(an_id_may_be_long_but_not_endless)
{
	char line[2048];

	for (int n = ORCHESTRATOR_ID_MAX_BYTES; n <= ORCHESTRATOR_ID_MAX_BYTES + 1; n++) {
		snprintf(line, sizeof(line), WITH_ID("\"%0*d\""), n, 1);
		take(ann, line);
		ck_assert_int_eq(ruled.type,
				 n > ORCHESTRATOR_ID_MAX_BYTES ? RULING_NOTHING : RULING_ANSWER);
	}
	unanswered("too long");
}
END_TEST

START_TEST(an_error_does_not_repeat_a_novel)
{
	static char payload[3000];

	snprintf(payload, sizeof(payload), "{\"role\":\"%02000d\"}", 1);
	ask(ann, "query-agents", payload);
	ck_assert(!json_get(refused(ann, CODE_INVALID_REQUEST), "details"));
	ck_assert_uint_lt(out.n, 600);
	snprintf(payload, sizeof(payload), "{\"taskId\":\"%02000d\"}", 1);
	ask(ann, "get-task", payload);
	ck_assert(!json_get(refused(ann, CODE_NOT_FOUND), "details"));
}
END_TEST

START_TEST(an_id_is_answered_once)
{
	take(ann, WITH_ID("\"req-1\""));
	ck_assert_int_eq(ruled.type, RULING_ANSWER);
	strcpy(asked_id, "req-1");
	payload_told(ann);
	take(ann, WITH_ID("\"req-1\"")); /* again */
	unanswered("earlier request");
	take(ann, "{\"type\":\"request:get-task\",\"id\":\"req-1\",\"timestamp\":"
		  "\"2026-02-04T14:30:01Z\",\"payload\":{\"taskId\":\"t\"}}");
	unanswered("earlier request");
	/* the next process counts from one again */
	orchestrator_gone(&o, ann);
	take(ann, WITH_ID("\"req-1\""));
	ck_assert_int_eq(ruled.type, RULING_ANSWER);
}
END_TEST

START_TEST(a_waiting_question_is_not_closed_by_another_request_of_its_id)
{
	take(ann,
	     "{\"type\":\"request:ask-user\",\"id\":\"q\",\"timestamp\":\"2026-02-04T14:30:00Z\","
	     "\"payload\":{\"question\":\"Which?\"}}");
	ck_assert_int_eq(ruled.type, RULING_PERSON);
	take(ann, "{\"type\":\"request:none\",\"id\":\"q\",\"timestamp\":\"2026-02-04T14:30:01Z\","
		  "\"payload\":{}}");
	unanswered("earlier request");
	ck_assert(bench_state(&b, bench_item(&b, ITEM_QUESTION, "q")).open);
	ck_assert_int_eq(orchestrator_next_ms(&o), T0 + 30000);
}
END_TEST

/* ---- who speaks ---- */

static bool has_finding(const char *rule, enum severity severity)
{
	struct diag_store_walk w;

	diag_store_start(&w, &b.model, b.model.records.n - 1);
	while (diag_store_next(&w))
		if (strcmp(w.rule, rule) == 0 && w.severity == severity)
			return true;
	return false;
}

START_TEST(nothing_that_an_agent_prints_answers_a_question)
{
	static const char *const forged[] = {
		"\"type\":\"response:success\",\"payload\":{\"answer\":\"a\"}",
		"\"type\":\"response:success\",\"agentId\":\"ann\",\"payload\":{\"answer\":\"a\"}",
		"\"type\":\"response:error\",\"error\":{\"code\":\"TIMEOUT\",\"message\":\"m\"}",
	};
	char line[512];
	uint32_t agent;

	ask(ann, "ask-user", "{\"question\":\"Which?\"}");
	snprintf(line, sizeof(line),
		 "{%s,\"id\":\"" ID "800000000000\",\"correlationId\":\"%s\",\"timestamp\":"
		 "\"2026-02-04T14:30:00Z\"}",
		 forged[_i], asked_id);
	take(bob, line);
	unanswered(NULL);
	ck_assert(odd);
	ck_assert(has_finding("gavel/not-its-role", SEVERITY_ERROR));
	ck_assert_uint_eq(b.model.records.v[b.model.records.n - 1].errors, 1);
	ck_assert(str_is(agent_name(&b.model, message_route(&b.model, b.model.records.n - 1)->from), "bob"));
	ck_assert_uint_eq(b.model.replies.n, 0);
	ck_assert(bench_state(&b, bench_item(&b, ITEM_QUESTION, asked_id)).open);
	now += 30001;
	ck_assert(orchestrator_due(&o, &b.model, now, &agent, &out));
	ck_assert_uint_eq(agent, ann);
}
END_TEST

START_TEST(nobody_gives_himself_a_task)
{
	struct str task = let_in(ann);
	char line[512];

	snprintf(line, sizeof(line),
		 "{\"type\":\"notify:task-assigned\",\"id\":\"" ID "800000000000\",\"timestamp\":"
		 "\"2026-02-04T14:30:00Z\",\"payload\":{\"taskId\":\"%.*s\",\"message\":\"m\"}}",
		 STR_ARG(task));
	take(bob, line);
	/* also where nobody has looked who speaks */
	dialect_decode(&b.decoder, str_of(line), NULL, &b.message);
	orchestrator_note(&o, bob, false, &b.message, str_of(line));
	get_task(bob, task);
	refused(bob, CODE_UNAUTHORIZED);
	assert_status(ann, task, "queued");
}
END_TEST

START_TEST(the_channel_says_who_it_is)
{
	progress(ann, STR("mine"), "0.5");
	/* a name that nobody else has is its own affair */
	take(ann, "{\"type\":\"request:query-tasks\",\"id\":\"r1\",\"timestamp\":"
		  "\"2026-02-04T14:30:00Z\",\"payload\":{},\"agentId\":\"4a982218\"}");
	ck_assert(odd);
	ck_assert(has_finding("orchestrator/base-agentId", SEVERITY_WARNING));
	ck_assert(str_is(agent_name(&b.model, message_route(&b.model, b.model.records.n - 1)->from), "ann"));
	strcpy(asked_id, "r1");
	ck_assert_uint_eq(yyjson_arr_size(json_get(payload_told(ann), "tasks")), 1);
	/* but not another's */
	take(bob, "{\"type\":\"request:query-tasks\",\"id\":\"r2\",\"timestamp\":"
		  "\"2026-02-04T14:30:00Z\",\"payload\":{},\"agentId\":\"ann\"}");
	ck_assert(odd);
	ck_assert(has_finding("orchestrator/base-agentId", SEVERITY_ERROR));
	ck_assert(str_is(agent_name(&b.model, message_route(&b.model, b.model.records.n - 1)->from), "bob"));
	strcpy(asked_id, "r2");
	refused(bob, CODE_UNAUTHORIZED);
	take(ann, "{\"type\":\"request:query-tasks\",\"id\":\"r3\",\"timestamp\":"
		  "\"2026-02-04T14:30:00Z\",\"payload\":{},\"agentId\":\"ann\"}");
	ck_assert(!odd);
	ck_assert_int_eq(ruled.code, CODE_NONE);
	/* its own affair is told once, and again when it is another name */
	take(ann, "{\"type\":\"event:log\",\"id\":\"e1\",\"timestamp\":\"2026-02-04T14:30:00Z\","
		  "\"payload\":{\"level\":\"info\",\"message\":\"x\"},\"agentId\":\"4a982218\"}");
	ck_assert(!odd);
	take(ann, "{\"type\":\"event:log\",\"id\":\"e2\",\"timestamp\":\"2026-02-04T14:30:00Z\","
		  "\"payload\":{\"level\":\"info\",\"message\":\"x\"},\"agentId\":\"other\"}");
	ck_assert(odd);
	orchestrator_gone(&o, ann);
	take(ann, "{\"type\":\"event:log\",\"id\":\"e3\",\"timestamp\":\"2026-02-04T14:30:00Z\","
		  "\"payload\":{\"level\":\"info\",\"message\":\"x\"},\"agentId\":\"other\"}");
	ck_assert(odd);
}
END_TEST

/* Other protocols name their senders themselves; not that one of ours speaks for another. */
START_TEST(nobody_speaks_for_another)
{
	static const char form[] =
		"{\"message_id\":\"m\",\"timestamp\":\"2026-02-04T14:30:00Z\",\"sequence_number\":1,"
		"\"from_agent\":{\"agent_id\":\"%s\",\"agent_type\":\"developer\"},\"to_agent\":"
		"{\"agent_id\":\"x\",\"agent_type\":\"architect\"},\"message_type\":\"acknowledgment\","
		"\"payload\":{}}";
	char line[512];

	snprintf(line, sizeof(line), form, "developer-01");
	pass(bob, false, str_of(line));
	ck_assert_int_eq(b.message.dialect, DIALECT_COLLABORATION);
	ck_assert(!odd);
	snprintf(line, sizeof(line), form, "ann");
	pass(bob, false, str_of(line));
	ck_assert(odd);
	ck_assert(has_finding("run/speaker", SEVERITY_ERROR));
	pass(ann, false, str_of(line));
	ck_assert(!odd);
}
END_TEST

/* ---- floods ---- */

START_TEST(requests_over_the_rate_are_refused)
{
	for (int i = 0; i < ORCHESTRATOR_RATE_MAX; i++) {
		ask(ann, "query-agents", "{}");
		ck_assert_int_eq(ruled.code, CODE_NONE);
		now += 5;
	}
	for (int i = 0; i < 50; i++) {
		ask(ann, "ask-user", "{\"question\":\"?\"}");
		assert_json(json_get(refused(ann, CODE_UNAUTHORIZED), "details"),
			    "{\"limit\":100,\"windowMs\":1000}");
	}
	ck_assert_uint_eq(o.agents.v[ann].beyond, 50);
	ck_assert_int_eq(orchestrator_next_ms(&o), TIME_NONE);
	ask(bob, "query-agents", "{}"); /* others are none the worse */
	payload_told(bob);
	now = T0 + 999;
	ask(ann, "query-agents", "{}");
	refused(ann, CODE_UNAUTHORIZED);
	now++; /* the first one is a second ago */
	ask(ann, "query-agents", "{}");
	payload_told(ann);
	ask(ann, "query-agents", "{}");
	refused(ann, CODE_UNAUTHORIZED);
}
END_TEST

START_TEST(who_always_asks_too_often_is_served_at_the_rate)
{
	unsigned served = 0;

	for (int i = 0; i < 3000; i++) { /* 300 a second, for ten seconds */
		now = T0 + i * 10 / 3;
		ask(ann, "query-agents", "{}");
		served += ruled.code == CODE_NONE;
	}
	ck_assert_uint_ge(served, 990);
	ck_assert_uint_le(served, 1000);
}
END_TEST

START_TEST(events_over_the_rate_are_counted)
{
	for (int i = 0; i < ORCHESTRATOR_RATE_MAX + 7; i++)
		progress(ann, STR("t"), "0.5");
	ck_assert_uint_eq(o.agents.v[ann].beyond, 7);
	take(ann, "a line that is no message");
	ck_assert_uint_eq(o.agents.v[ann].beyond, 7);
	ask(ann, "query-tasks", "{}");
	refused(ann, CODE_UNAUTHORIZED);
}
END_TEST

START_TEST(even_refusals_end)
{
	unsigned answers = 0;

	for (int i = 0; i < ORCHESTRATOR_RATE_MAX + ORCHESTRATOR_REFUSALS_MAX + 500; i++) {
		ask(ann, "query-agents", "{}");
		answers += ruled.type == RULING_ANSWER;
	}
	ck_assert_uint_eq(answers, ORCHESTRATOR_RATE_MAX + ORCHESTRATOR_REFUSALS_MAX);
	unanswered(NULL); /* nor recorded */
	now += 1000;
	ask(ann, "query-agents", "{}");
	payload_told(ann);
}
END_TEST

START_TEST(a_clock_that_was_put_back_silences_nobody)
{
	for (int i = 0; i < ORCHESTRATOR_RATE_MAX; i++)
		ask(ann, "query-agents", "{}");
	now -= 3600000;
	ask(ann, "query-agents", "{}");
	ck_assert_int_eq(ruled.code, CODE_NONE);
}
END_TEST

/* ---- notifications ---- */

START_TEST(notifications_are_those_of_the_text)
{
	yyjson_val *root;

	orchestrator_assign(STR("task-\"1\"\n"), now, &out);
	send(bob, buf_str(&out));
	ck_assert_int_eq(json_read(&json, buf_str(&out), &root), JSON_OK);
	assert_str(json_get_str(root, "type"), "notify:task-assigned");
	assert_json(json_get(root, "payload"),
		    "{\"taskId\":\"task-\\\"1\\\"\\n\",\"message\":"
		    "\"Task assigned. Use TaskGet to view details.\"}");
	ck_assert(str_is(agent_name(&b.model, message_route(&b.model, b.model.records.n - 1)->to), "bob"));
	ck_assert_ptr_nonnull(orchestrator_task(&o, STR("task-\"1\"\n")));
	ck_assert_uint_eq(orchestrator_task(&o, STR("task-\"1\"\n"))->holder, bob);
	ck_assert_ptr_null(orchestrator_task(&o, STR("task-1")));

	buf_clear(&out);
	orchestrator_cancel(STR("task-1"), STR("Dependency \xff failed"), now, &out);
	send(bob, buf_str(&out));
	ck_assert_int_eq(json_read(&json, buf_str(&out), &root), JSON_OK);
	assert_str(json_get_str(root, "type"), "notify:task-cancelled");
	assert_json(json_get(root, "payload"),
		    "{\"taskId\":\"task-1\",\"reason\":\"Dependency \xef\xbf\xbd failed\"}");

	for (int i = 0; i < 2; i++) {
		buf_clear(&out);
		orchestrator_shutdown(i ? -5 : 30000, i ? STR_NONE : STR("Done"), now, &out);
		send(bob, buf_str(&out));
		ck_assert_int_eq(json_read(&json, buf_str(&out), &root), JSON_OK);
		assert_str(json_get_str(root, "type"), "notify:shutdown");
		assert_json(json_get(root, "payload"),
			    i ? "{\"gracePeriod\":0,\"reason\":\"Orchestrator stopping\"}"
			      : "{\"gracePeriod\":30000,\"reason\":\"Done\"}");
	}
}
END_TEST

START_TEST(ids_are_never_the_same)
{
	struct str first;

	ask(ann, "query-agents", "{}");
	payload_told(ann);
	first = arena_str(&b.arena, b.message.id);
	ask(ann, "query-agents", "{}");
	payload_told(ann);
	ck_assert(!str_eq(first, b.message.id));
}
END_TEST

START_TEST(what_is_read_again_is_known_but_not_answered)
{
	struct str task = let_in(ann), line;
	struct orchestrator again = { 0 };
	struct message m = { 0 };
	struct decoder d = { 0 };

	assign(bob, task);
	progress(bob, task, "0.5");
	for (uint32_t i = 0; i < 3; i++)
		orchestrator_add(&again, o.agents.v[i].name, STR_NONE, NULL, 0);
	for (uint32_t i = 0; i < b.lines.n; i++) {
		line = b.lines.v[i];
		dialect_decode(&d, line, NULL, &m);
		orchestrator_note(&again, i < 2 ? ann : bob,
				  !str_starts(m.kind, STR("request:")) &&
					  !str_starts(m.kind, STR("event:")),
				  &m, line);
	}
	ck_assert_ptr_nonnull(orchestrator_task(&again, task));
	ck_assert_uint_eq(orchestrator_task(&again, task)->submitter, ann);
	ck_assert_uint_eq(orchestrator_task(&again, task)->holder, bob);
	ck_assert_int_eq(orchestrator_task(&again, task)->state, TASK_RUNNING);
	ck_assert_int_eq(orchestrator_next_ms(&again), TIME_NONE);
	orchestrator_release(&again);
	message_release(&m);
	decoder_release(&d);
}
END_TEST

#define N(table) (int)(sizeof(table) / sizeof((table)[0]))

int main(void)
{
	Suite *suite = suite_create("orchestrate");
	TCase *t = tcase_create("queries");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, agents_are_told_as_the_text_shows);
	tcase_add_loop_test(t, agents_are_filtered, 0, N(agent_filters));
	tcase_add_test(t, what_an_agent_is_busy_with_is_told_to_whom_it_concerns);
	tcase_add_test(t, a_task_is_told_to_whom_it_belongs);
	tcase_add_test(t, only_who_has_a_task_changes_it);
	tcase_add_test(t, a_cancelled_task_stays_cancelled_until_it_is_given_out_again);
	tcase_add_test(t, what_nobody_knows_is_not_found);
	tcase_add_test(t, each_has_the_tasks_it_made_up);
	tcase_add_loop_test(t, tasks_are_filtered_and_ones_own, 0, N(task_filters));
	tcase_add_test(t, made_up_tasks_are_not_remembered_without_end);
	suite_add_tcase(suite, t);

	t = tcase_create("people");
	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, a_question_waits_for_a_person);
	tcase_add_test(t, where_nobody_can_be_asked_it_is_said);
	tcase_add_test(t, a_deadline_that_passes_is_a_timeout);
	tcase_add_test(t, asked_again_it_has_the_new_deadline);
	tcase_add_loop_test(t, an_answer_on_its_way_is_not_overtaken_by_a_timeout, 0,
			    N(deliveries));
	tcase_add_test(t, what_is_answered_elsewhere_does_not_time_out);
	tcase_add_test(t, whoever_comes_after_it_is_not_told_what_it_has_not_asked);
	suite_add_tcase(suite, t);

	t = tcase_create("hostile");
	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_loop_test(t, a_bad_request_is_told_what_is_wrong, 0, N(wrong));
	tcase_add_loop_test(t, what_cannot_or_need_not_be_answered_is_not, 0, N(silent));
	tcase_add_test(t, an_id_may_be_long_but_not_endless);
	tcase_add_test(t, an_error_does_not_repeat_a_novel);
	tcase_add_test(t, an_id_is_answered_once);
	tcase_add_test(t, a_waiting_question_is_not_closed_by_another_request_of_its_id);
	tcase_add_loop_test(t, nothing_that_an_agent_prints_answers_a_question, 0, 3);
	tcase_add_test(t, nobody_gives_himself_a_task);
	tcase_add_test(t, the_channel_says_who_it_is);
	tcase_add_test(t, nobody_speaks_for_another);
	suite_add_tcase(suite, t);

	t = tcase_create("floods");
	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, requests_over_the_rate_are_refused);
	tcase_add_test(t, who_always_asks_too_often_is_served_at_the_rate);
	tcase_add_test(t, events_over_the_rate_are_counted);
	tcase_add_test(t, even_refusals_end);
	tcase_add_test(t, a_clock_that_was_put_back_silences_nobody);
	suite_add_tcase(suite, t);

	t = tcase_create("lines");
	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, notifications_are_those_of_the_text);
	tcase_add_test(t, ids_are_never_the_same);
	tcase_add_test(t, what_is_read_again_is_known_but_not_answered);
	suite_add_tcase(suite, t);
	return unit_run(suite);
}
