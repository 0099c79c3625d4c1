/* Messages in which a name stands twice. Parsers disagree on which one counts, so whatever such a
 * message says, it decides, closes, supersedes and acknowledges nothing; and what either reading of it
 * would raise is raised, cannot be decided, and shows both. */
#include "encode.h"
#include "model/rules.h"

/* Messages are written with ' for ". */
#define RESULT(more) \
	"{'task_id':'T-1','status':'success','confidence_score':0.75,'output':{'type':'text'}," \
	"'traces':'Wrote it','artifacts':[],'created_at':'2026-02-06T11:00:00Z'" more "}"
#define DECISION(task, decision) \
	"{" task "," decision ",'rationale':'r','state_version':'v1'," \
	"'created_at':'2026-02-06T11:30:00Z'}"
#define T1 "'task_id':'T-1'"
#define ASK(head, payload) \
	"{" head ",'timestamp':'2026-02-06T11:00:00Z','agentId':'w-1','payload':" payload "}"
#define ASKED ASK("'type':'request:ask-user','id':'q-1'", "{'question':'Drop it?'}")
#define ANSWER(head, payload) \
	"{" head ",'id':'r-1','timestamp':'2026-02-06T11:00:05Z','payload':" payload "}"
#define AREA(more) \
	"{'id':'scope-0001','aspect':'Scope','description':'Too wide','recommendation':'Cut it'" more \
	"}"
#define FEEDBACK(areas) \
	"'feedback':{'confidence':{'level':'high','justification':'j'},'positive_points':[]," \
	"'areas_for_improvement':[" areas "],'general_summary':'s'}"
#define RESPONSE(head, more) "{'protocol_version':'1.2'," head "," more "}"
#define SUCCESS "'iteration':1,'status':'success'"
#define RAISED RESPONSE(SUCCESS, FEEDBACK(AREA("")))
#define REQUEST(head, items) \
	"{'protocol_version':'1.2'," head ",'artifact':{'media_type':'text/plain','content':'x'}," \
	"'applied_feedback':{'items':[" items "]}}"
#define ACCEPTED "{'id':'scope-0001','status':'accepted'}"
#define COLLAB(head, from, payload) \
	"{" head ",'timestamp':'2026-02-06T11:00:00Z','sequence_number':41," \
	"'from_agent':{'agent_id':'" from "-1','agent_type':'" from "'}," \
	"'to_agent':{'agent_id':'architect-1','agent_type':'architect'},'payload':" payload "}"
#define ANSWERED(head, payload) COLLAB(head, "reviewer", payload)
#define FINDING(id, more) \
	"{" id ",'severity':'minor','category':'style','location':{'file':'a.c'}," \
	"'description':'Odd name','rationale':'r'" more "}"
#define REVIEW(message, verdict, findings) \
	COLLAB("'message_id':'" message "','message_type':'review_result'", "reviewer", \
	       "{'review_id':'R-1','task_id':'T-1'," verdict ",'findings':[" findings "]," \
	       "'verification':{'tests':{'passed':true},'type_check':{'passed':true}," \
	       "'custom':{}},'summary':'Nearly done'}")
#define CHANGES "'verdict':'changes_requested'"
#define FOUND REVIEW("m-1", CHANGES, FINDING("'finding_id':'F-1'", ""))
#define QUESTION \
	COLLAB("'message_id':'m-1','message_type':'feedback'", "developer", \
	       "{'feedback_type':'question','subject':'Which?','content':'c'," \
	       "'action_required':true}")
#define GUIDANCE "{'feedback_type':'guidance','subject':'s','content':'this','action_required':false}"
#define OUTPUT(success, recommendation) \
	"{" success ",'summary':'Two ways','artifacts':[]," recommendation "}"
#define INPUT(iteration) \
	"{'context':{'feature_id':'f','workflow':'plan'," iteration "},'paths':{'p':'a'}," \
	"'task':{'action':'plan','params':{}}}"
#define ORIGINAL(question) \
	"{\\'type\\':\\'request:ask-user\\',\\'id\\':\\'q-1\\',\\'timestamp\\':\\'\\'," \
	"\\'payload\\':{\\'question\\':\\'" question "\\'}}"
#define WRAPPED \
	"{'type':'text','timestamp':1770375600000,'sessionID':'s','part':{'id':'p','type':'text'," \
	"'text':'@'}}"

enum { NOTHING = -1 };

static const struct doubled {
	const char *name;
	const char *before[3]; /* messages of the agents */
	const char *message;   /* @ in `outer`, where that is given */
	const char *outer;
	int raises;     /* a kind, or NOTHING */
	const char *id; /* of what is raised, NULL = any */
	const char *one, *other; /* both values, on the page or in its problems */
} cases[] = {
	/* hand-off */
	{ "decision", { RESULT("") }, DECISION(T1, "'decision':'reject','decision':'approve'"), NULL,
	  NOTHING, NULL, "\"reject\"", "\"approve\"" },
	{ "decision, escalated last", { RESULT("") },
	  DECISION(T1, "'decision':'approve','decision':'escalate'"), NULL, ITEM_ESCALATION, "T-1",
	  "approve", "escalate" },
	{ "decision, escalated first", { NULL },
	  DECISION(T1, "'decision':'escalate','decision':'approve'"), NULL, ITEM_ESCALATION, "T-1",
	  "approve", "escalate" },
	{ "task_id of a decision", { RESULT("") },
	  DECISION(T1 ",'task_id':'T-2'", "'decision':'approve'"), NULL, NOTHING, NULL, "T-1", "T-2" },
	{ "task_id of a result", { NULL }, RESULT(",'task_id':'T-2'"), NULL, ITEM_ESCALATION, "T-2",
	  "T-1", "T-2" },
	{ "result that supersedes", { RESULT("") }, RESULT(",'status':'failure'"), NULL,
	  ITEM_ESCALATION, "T-1", "success", "failure" },
	{ "confidence_score", { NULL },
	  "{'task_id':'T-1','status':'success','confidence_score':0.95,'output':{},'traces':'t',"
	  "'created_at':'2026-02-06T11:00:00Z','confidence_score':0.25}", NULL, ITEM_ESCALATION,
	  "T-1", "0.95", "0.25" },
	{ "sensitive in the output", { NULL },
	  "{'task_id':'T-1','status':'success','confidence_score':0.95,'output':{'sensitive':false,"
	  "'sensitive':true},'traces':'t','created_at':'2026-02-06T11:00:00Z'}", NULL,
	  ITEM_ESCALATION, "T-1", "false", "true" },
	{ "x-gavel", { NULL },
	  DECISION(T1, "'decision':'escalate','x-gavel':{'by':'bob','by':'ann'}"), NULL,
	  ITEM_ESCALATION, "T-1", "bob", "ann" },
	{ "original of a queue's entry", { NULL },
	  DECISION(T1, "'decision':'escalate','x-gavel':{'by':'bob','dialect':'orchestrator',"
		   "'kind':'question','session':'s','item':'q-1','rev':'r','reply':{'channel':'file'},"
		   "'original':'" ORIGINAL("Fix?") "','original':'" ORIGINAL("DROP?") "'}"), NULL,
	  ITEM_ESCALATION, "T-1", "question: Fix?", "or question: DROP?" },
	{ "type beside a decision", { RESULT("") },
	  DECISION(T1, "'decision':'approve','type':'x','type':'request:ask-user','id':'q-9',"
		   "'payload':{'question':'Drop?'}"), NULL, ITEM_QUESTION, "q-9", "duplicate", "Drop?" },
	/* orchestrator */
	{ "correlationId", { ASKED, ASK("'type':'request:ask-user','id':'q-2'", "{'question':'B?'}") },
	  ANSWER("'type':'response:success','correlationId':'q-1','correlationId':'q-2'",
		 "{'answer':'y'}"), NULL, NOTHING, NULL, "q-1", "q-2" },
	{ "answer", { ASKED }, ANSWER("'type':'response:success','correlationId':'q-1'",
				      "{'answer':'y','answer':'n'}"), NULL, NOTHING, NULL, "\"y\"",
	  "\"n\"" },
	{ "payload of a response", { ASKED },
	  ANSWER("'type':'response:success','correlationId':'q-1','payload':{}", "{'answer':'y'}"),
	  NULL, NOTHING, NULL, "duplicate", "duplicate" },
	{ "type of a response", { ASKED },
	  ANSWER("'type':'response:success','type':'response:error','correlationId':'q-1'",
		 "{'answer':'y'}"), NULL, NOTHING, NULL, "response:success", "response:error" },
	{ "expiry", { ASKED },
	  "{'type':'response:error','id':'r-1','correlationId':'q-1','timestamp':"
	  "'2026-02-06T11:00:05Z','error':{'code':'TIMEOUT','code':'NOT_FOUND','message':'m'}}", NULL,
	  NOTHING, NULL, "TIMEOUT", "NOT_FOUND" },
	{ "type hides a question", { NULL },
	  ASK("'type':'event:log','type':'request:ask-user','id':'q-1'", "{'question':'Drop?'}"), NULL,
	  ITEM_QUESTION, "q-1", "event:log", "request:ask-user" },
	{ "type, of no dialect first", { NULL },
	  "{'type':'note','type':'request:ask-user','id':'q-1','payload':{'question':'Drop?'}}", NULL,
	  ITEM_QUESTION, "q-1", "duplicate", "Drop?" },
	{ "id", { NULL }, ASK("'type':'request:ask-user','id':'q-1','id':'q-2'", "{'question':'A?'}"),
	  NULL, ITEM_QUESTION, "q-2", "q-1", "q-2" },
	{ "question", { NULL }, ASK("'type':'request:ask-user','id':'q-1'",
				    "{'question':'Fix a typo?','question':'DROP?'}"), NULL,
	  ITEM_QUESTION, "q-1", "question: Fix a typo?", "or question: DROP?" },
	{ "options", { NULL },
	  ASK("'type':'request:ask-user','id':'q-1'",
	      "{'question':'A?','options':[{'label':'Yes','value':'y'}],"
	      "'options':[{'label':'No','value':'n'}]}"), NULL, ITEM_QUESTION, "q-1", "Yes = y",
	  "No = n" },
	{ "value of an option", { NULL },
	  ASK("'type':'request:ask-user','id':'q-1'",
	      "{'question':'A?','options':[{'label':'Yes','value':'y','value':'drop'}]}"), NULL,
	  ITEM_QUESTION, "q-1", "Yes = y", "Yes = drop" },
	{ "timeout", { NULL }, ASK("'type':'request:ask-user','id':'q-1'",
				   "{'question':'A?','timeout':1,'timeout':600000}"), NULL,
	  ITEM_QUESTION, "q-1", "600000", "1 and" },
	{ "payload", { NULL },
	  ASK("'type':'request:ask-user','id':'q-1','payload':{'question':'Fix?'}",
	      "{'question':'DROP?'}"), NULL, ITEM_QUESTION, "q-1", "Fix?", "DROP?" },
	{ "recoverable", { NULL }, ASK("'type':'event:error','id':'q-1'",
				       "{'error':'Boom','recoverable':true,'recoverable':false}"), NULL,
	  ITEM_ERROR, "q-1", "true", "false" },
	/* feedback */
	{ "status of a decision", { RAISED },
	  REQUEST("'iteration':2", "{'id':'scope-0001','status':'rejected','status':'accepted'}"), NULL,
	  NOTHING, NULL, "rejected", "accepted" },
	{ "id of a decision", { RAISED },
	  REQUEST("'iteration':2", "{'id':'scope-0001','id':'scope-0002','status':'accepted'}"), NULL,
	  NOTHING, NULL, "scope-0001", "scope-0002" },
	{ "items", { RAISED },
	  "{'protocol_version':'1.2','iteration':2,'artifact':{'media_type':'text/plain','content':'x'},"
	  "'applied_feedback':{'items':[" ACCEPTED "],'items':[]}}", NULL, NOTHING, NULL, "duplicate",
	  "duplicate" },
	{ "iteration of a request", { RAISED }, REQUEST("'iteration':2,'iteration':1", ACCEPTED), NULL,
	  NOTHING, NULL, "2", "1" },
	{ "iteration of a response", { RAISED },
	  RESPONSE("'iteration':1,'iteration':2,'status':'success'", FEEDBACK("")), NULL, NOTHING, NULL,
	  "1", "2" },
	{ "status of a response", { NULL },
	  RESPONSE("'iteration':1,'status':'success','status':'error'",
		   "'error':{'code':'INTERNAL_ERROR','message':'m'}"), NULL, ITEM_ERROR, NULL,
	  "success", "error" },
	{ "recommendation", { NULL },
	  RESPONSE(SUCCESS, FEEDBACK(AREA(",'recommendation':'DROP it'"))), NULL, ITEM_IMPROVEMENT,
	  "scope-0001", "recommendation: Cut it", "or recommendation: DROP it" },
	{ "recommendation in a text", { NULL },
	  RESPONSE(SUCCESS, FEEDBACK(AREA(",'recommendation':'DROP \\'it\\''"))), WRAPPED,
	  ITEM_IMPROVEMENT, "scope-0001", "recommendation: Cut it",
	  "or recommendation: DROP \"it\"" },
	{ "areas in a text", { NULL },
	  RESPONSE(SUCCESS, "'feedback':{'areas_for_improvement':[]},"
			    FEEDBACK(AREA(""))), WRAPPED, ITEM_IMPROVEMENT, "scope-0001", "duplicate",
	  "Cut it" },
	{ "text", { NULL }, RAISED,
	  "{'type':'text','timestamp':1770375600000,'sessionID':'s','part':{'id':'p','type':'text',"
	  "'text':'Hello','text':'@'}}", ITEM_IMPROVEMENT, "scope-0001", "Hello", "Cut it" },
	{ "part", { NULL }, RAISED,
	  "{'type':'text','timestamp':1770375600000,'sessionID':'s','part':{'text':'Hello'},"
	  "'part':{'id':'p','type':'text','text':'@'}}", ITEM_IMPROVEMENT, "scope-0001", "duplicate",
	  "Cut it" },
	{ "type of a wrapper", { NULL }, RAISED,
	  "{'type':'done','timestamp':1770375600000,'sessionID':'s','part':{'id':'p','type':'text',"
	  "'text':'@'},'type':'text'}", ITEM_IMPROVEMENT, "scope-0001", "done", "text" },
	/* collaboration */
	{ "message_type", { NULL },
	  COLLAB("'message_id':'m-1','message_type':'status_response','message_type':'feedback'",
		 "developer", "{'feedback_type':'question','subject':'Which?','content':'c',"
		 "'action_required':true}"), NULL, ITEM_QUESTION, "m-1", "status_response", "feedback" },
	{ "reply_to", { QUESTION },
	  ANSWERED("'message_id':'m-2','message_type':'feedback','reply_to':'m-1','reply_to':'m-0'",
		   GUIDANCE), NULL, NOTHING, NULL, "m-1", "m-0" },
	{ "payload of an answer", { QUESTION },
	  ANSWERED("'message_id':'m-2','message_type':'feedback','reply_to':'m-1','payload':{}",
		   GUIDANCE), NULL, NOTHING, NULL, "duplicate", "duplicate" },
	{ "finding_id", { NULL },
	  REVIEW("m-1", CHANGES, FINDING("'finding_id':'F-1','finding_id':'F-2'", "")), NULL,
	  ITEM_FINDING, "R-1/F-2", "F-1", "F-2" },
	{ "fixed_in_iteration", { FOUND },
	  REVIEW("m-2", CHANGES, FINDING("'finding_id':'F-1'",
					 ",'fixed_in_iteration':1,'fixed_in_iteration':0")), NULL,
	  ITEM_FINDING, "R-1/F-1", "1", "0" },
	{ "verdict", { FOUND }, REVIEW("m-2", "'verdict':'approved','verdict':'rejected'", ""), NULL,
	  ITEM_VERDICT, "R-1", "verdict: approved", "or verdict: rejected" },
	{ "task_id of a revision", { FOUND },
	  COLLAB("'message_id':'m-2','message_type':'task_assignment','reply_to':'m-1'", "developer",
		 "{'task':{'task_id':'T-2','task_id':'T-3','task_description':'d','context':{'specs':[],"
		 "'reference_files':[],'previous_attempts':[{'attempt_number':1,'outcome':'o',"
		 "'feedback':'f'}]},'constraints':{'scope':['*'],'testing_required':false,"
		 "'must_not_break':[]},'acceptance_criteria':['[F-1 accepted] x']},'priority':'low'}"),
	  NULL, NOTHING, NULL, "T-2", "T-3" },
	{ "status of a completion", { NULL },
	  COLLAB("'message_id':'m-1','message_type':'task_completion'", "developer",
		 "{'task_id':'T-1','status':'completed','status':'failed','changes':{'files_created':[],"
		 "'files_modified':[],'files_deleted':[]},'summary':'s','self_review':{'tests_run':true,"
		 "'tests_passed':true,'type_check_passed':true},'blockers':['No key']}"), NULL,
	  ITEM_BLOCKED, "T-1", "completed", "failed" },
	{ "scope of an abort", { FOUND },
	  COLLAB("'message_id':'m-2','message_type':'abort'", "developer",
		 "{'scope':'task','scope':'session','target_id':'T-1','reason':'r',"
		 "'cleanup_required':true}"), NULL, NOTHING, NULL, "\"task\"", "\"session\"" },
	/* envelopes */
	{ "recommendation of an output", { NULL },
	  OUTPUT("'success':true", "'recommendation':'proceed','recommendation':'escalate'"), NULL,
	  ITEM_ESCALATION, NULL, "proceed", "escalate" },
	{ "success", { NULL }, OUTPUT("'success':true,'success':false", "'recommendation':'proceed'"),
	  NULL, ITEM_RETRY, NULL, "true", "false" },
	{ "iteration of an input",
	  { INPUT("'iteration':1"), OUTPUT("'success':false", "'recommendation':'retry'") },
	  INPUT("'iteration':2,'iteration':3"), NULL, NOTHING, NULL, "2", "3" },
};
enum { CASES = sizeof(cases) / sizeof(cases[0]) };

static struct str with_quotes(struct bench *b, const char *text)
{
	char *out = arena_alloc(&b->arena, strlen(text) + 1);

	for (size_t i = 0; text[i]; i++)
		out[i] = text[i] == '\'' ? '"' : text[i];
	return str_make(out, strlen(text));
}

/* The message of the case; where it is inside another one, as a string. */
static struct str message_of(struct bench *b, const struct doubled *c)
{
	struct str message = with_quotes(b, c->message), outer;
	struct buf whole = { 0 };
	ptrdiff_t at;

	if (!c->outer)
		return message;
	outer = with_quotes(b, c->outer);
	at = str_find(outer, STR("\"@\""), 0);
	buf_add(&whole, outer.p, (size_t)at);
	json_write_str(&whole, message);
	buf_add_str(&whole, str_from(outer, (size_t)at + 3));
	return arena_take(&b->arena, &whole);
}

/* What the page of the item shows of its message, and what is wrong with that. */
static struct str page(struct bench *b, uint32_t number)
{
	struct item_state at;
	struct detail d;
	struct buf out = { 0 };

	if (number != NONE) {
		at = bench_state(b, number);
		ck_assert(bench_detail(b, &b->model.items.v[number], &at, &d));
		buf_add_str(&out, d.title);
		for (unsigned i = 0; i < d.n; i++) {
			buf_printf(&out, "\n%s: ", d.field[i].label);
			buf_add_str(&out, d.field[i].text);
		}
	}
	buf_add_str(&out, buf_str(&b->worse));
	return arena_take(&b->arena, &out);
}

#define assert_shown(c, page, text) \
	ck_assert_msg(str_find(page, str_of(text), 0) >= 0, "%s: \"%s\" is not in\n%.*s", \
		      (c)->name, text, STR_ARG(page))

/* Which items the last message has raised; it must have done nothing else to any. */
static uint32_t raised_only(struct bench *b, const struct doubled *c, const char *id)
{
	uint32_t found = NONE, message = b->model.records.n - 1;

	for (uint32_t i = 0; i < b->model.items.n; i++) {
		const struct item *item = &b->model.items.v[i];
		struct buf name = { 0 };

		for (uint32_t k = 0; k < item->n; k++) {
			if (item->steps[k].message != message)
				continue;
			ck_assert_msg(item->steps[k].what == STEP_RAISED, "%s: step %d", c->name,
				      item->steps[k].what);
			ck_assert_msg(item->steps[k].undecidable, "%s: decidable", c->name);
			item_name(&b->model, item, &name);
			if ((int)item->kind == c->raises && (!id || str_is(buf_str(&name), id)))
				found = i;
		}
		ck_assert_msg(item->open, "%s: it is closed", c->name);
		buf_release(&name);
	}
	return found;
}

static void load_case(struct bench *b, const struct doubled *c)
{
	bench_open(b, "log");
	for (int i = 0; i < 3 && c->before[i]; i++)
		bench_add_str(b, with_quotes(b, c->before[i]));
	bench_add_str(b, message_of(b, c));
}

START_TEST(decides_nothing_and_raises_what_either_reading_does)
{
	const struct doubled *c = &cases[_i];
	struct bench b;
	uint32_t item;
	struct str shown;

	load_case(&b, c);
	ck_assert_msg(b.message.flags & RECORD_AMBIGUOUS, "%s: not ambiguous", c->name);
	ck_assert_msg(strstr(b.worse.p, "json/duplicate-name"), "%s", b.worse.p);
	ck_assert(b.message.diags.count[SEVERITY_ERROR] > 0);
	item = raised_only(&b, c, c->id);
	ck_assert_msg((item != NONE) == (c->raises != NOTHING), "%s: %s raised", c->name,
		      item == NONE ? "nothing is" : "something is");
	shown = page(&b, item);
	assert_shown(c, shown, c->one);
	assert_shown(c, shown, c->other);
	bench_release(&b);
}
END_TEST

/* The other order of the two values, where what is raised is the same. */
START_TEST(it_does_not_matter_which_comes_first)
{
	static const char *const pairs[][2] = {
		{ DECISION(T1, "'decision':'escalate','decision':'reject'"),
		  DECISION(T1, "'decision':'reject','decision':'escalate'") },
		{ ASK("'type':'event:log','type':'event:question','id':'q-1'", "{'question':'A?'}"),
		  ASK("'type':'event:question','type':'event:log','id':'q-1'", "{'question':'A?'}") },
		{ OUTPUT("'success':true", "'recommendation':'proceed','recommendation':'retry'"),
		  OUTPUT("'success':true", "'recommendation':'retry','recommendation':'proceed'") },
		{ RESPONSE("'iteration':1,'status':'error','status':'success'", FEEDBACK(AREA(""))),
		  RESPONSE("'iteration':1,'status':'success','status':'error'",
			   FEEDBACK(AREA(""))) },
		{ REVIEW("m-1", "'verdict':'rejected','verdict':'approved'", ""),
		  REVIEW("m-1", "'verdict':'approved','verdict':'rejected'", "") },
	};

	for (int order = 0; order < 2; order++) {
		struct bench b;
		uint32_t waiting = 0;

		bench_open(&b, "log");
		bench_add_str(&b, with_quotes(&b, pairs[_i][order]));
		for (uint32_t i = 0; i < b.model.items.n; i++) {
			ck_assert(bench_state(&b, i).undecidable);
			waiting += bench_state(&b, i).open;
		}
		ck_assert_uint_eq(waiting, _i == 3 ? 2 : 1);
		bench_release(&b);
	}
}
END_TEST

/* What is said clearly afterwards can be decided, in the same words, too. */
START_TEST(said_clearly_it_can_be_decided)
{
	static const char *const said[][2] = {
		{ ASK("'type':'request:ask-user','id':'q-1'", "{'question':'A?','question':'B?'}"),
		  ASK("'type':'request:ask-user','id':'q-1'", "{'question':'A?'}") },
		{ ASK("'type':'request:ask-user','id':'q-1','agentId':'w-1'", "{'question':'A?'}"),
		  ASK("'type':'request:ask-user','id':'q-1'", "{'question':'A?'}") },
		{ DECISION(T1, "'decision':'escalate','decision':'approve'"),
		  DECISION(T1, "'decision':'escalate'") },
		{ RESPONSE(SUCCESS, FEEDBACK(AREA(",'aspect':'Tone'"))), RAISED },
	};
	struct bench b;

	bench_open(&b, "log");
	bench_add_str(&b, with_quotes(&b, said[_i][0]));
	ck_assert(bench_state(&b, 0).open && bench_state(&b, 0).undecidable);
	bench_add_str(&b, with_quotes(&b, said[_i][1]));
	ck_assert(bench_state(&b, 0).open && !bench_state(&b, 0).undecidable);
	bench_release(&b);
}
END_TEST

/* A time that only one reader sees expires nothing, and a deadline is the later one. */
START_TEST(time_is_the_earlier_one)
{
	struct bench b;

	bench_open(&b, "log");
	bench_add_str(&b, with_quotes(&b, ASK("'type':'request:ask-user','id':'q-1'",
					      "{'question':'A?','timeout':1,'timeout':600000}")));
	bench_add_str(&b, with_quotes(&b, "{'type':'event:log','id':'l-1','timestamp':"
					  "'2099-01-01T00:00:00Z','timestamp':"
					  "'2026-02-06T11:00:30Z','payload':{'level':'info',"
					  "'message':'m'}}"));
	ck_assert_int_eq(model_now(&b.model, b.model.records.n), INT64_C(1770375630000));
	ck_assert(bench_state(&b, 0).open);
	bench_release(&b);
}
END_TEST

/* An acknowledgment that is ambiguous proves nothing. */
START_TEST(acknowledges_nothing)
{
	static const char *const acks[] = {
		RESPONSE("'iteration':2,'status':'success'",
			 FEEDBACK("") ",'applied_feedback_ack':{'items':[{'id':'scope-0001',"
				      "'processing_status':'unknown_id',"
				      "'processing_status':'acknowledged'}]}"),
		RESPONSE("'iteration':2,'iteration':1,'status':'success'",
			 FEEDBACK("") ",'applied_feedback_ack':{'items':[{'id':'scope-0001',"
				      "'processing_status':'acknowledged'}]}"),
	};
	struct bench b;

	bench_open(&b, "log");
	bench_add_str(&b, with_quotes(&b, RAISED));
	bench_say(&b, with_quotes(&b, REQUEST("'iteration':2", ACCEPTED)), NULL);
	ck_assert_int_eq(bench_state(&b, 0).delivery, DELIVERY_SENT);
	bench_add_str(&b, with_quotes(&b, acks[_i]));
	ck_assert_int_eq(bench_state(&b, 0).delivery, DELIVERY_SENT);
	ck_assert(!bench_state(&b, 0).acked && !bench_state(&b, 0).bounced);
	ck_assert_uint_eq(b.model.replies.v[0].proof, NONE);
	bench_release(&b);
}
END_TEST

/* What a person says in such a line decides as little. */
START_TEST(a_reply_decides_nothing_either)
{
	struct bench b;

	bench_open(&b, "log");
	bench_add_str(&b, with_quotes(&b, RESULT("")));
	bench_say(&b, with_quotes(&b, DECISION(T1, "'decision':'reject','decision':'approve'")), NULL);
	ck_assert(bench_state(&b, 0).open);
	ck_assert_int_eq(bench_state(&b, 0).verdict, VERDICT_NONE);
	bench_release(&b);
}
END_TEST

/* What came in between does not use up what a clear message needs. */
START_TEST(a_clear_message_decides_afterwards)
{
	struct bench b;

	bench_open(&b, "log");
	bench_add_str(&b, with_quotes(&b, ASKED));
	bench_add_str(&b, with_quotes(&b, ANSWER("'type':'response:success','correlationId':'q-1',"
						 "'correlationId':'q-2'", "{'answer':'y'}")));
	bench_add_str(&b, with_quotes(&b, "{'type':'response:success','id':'r-2','correlationId':"
					  "'q-1','timestamp':'2026-02-06T11:00:06Z','payload':"
					  "{'answer':'n'}}"));
	ck_assert_int_eq(bench_state(&b, 0).verdict, VERDICT_ANSWERED);
	bench_release(&b);
	bench_open(&b, "log");
	bench_add_str(&b, with_quotes(&b, RAISED));
	bench_add_str(&b, with_quotes(&b, RESPONSE("'iteration':1,'iteration':2,'status':'success'",
						   FEEDBACK(""))));
	ck_assert(bench_state(&b, 0).open);
	bench_add_str(&b, with_quotes(&b, RESPONSE("'iteration':3,'status':'success'", FEEDBACK(""))));
	ck_assert_int_eq(bench_state(&b, 0).verdict, VERDICT_SUPERSEDED);
	bench_release(&b);
}
END_TEST

/* Nor is a task done, or a message received, because of it. */
START_TEST(changes_no_task_and_proves_no_delivery)
{
	struct task_state_at at;
	struct bench b;

	bench_open(&b, "log");
	bench_add_str(&b, with_quotes(&b, RESULT("")));
	bench_add_str(&b, with_quotes(&b, DECISION(T1, "'decision':'approve','decision':'reject'")));
	ck_assert(task_at(&b.model, &b.model.tasks.v[0], b.model.records.n, &at));
	ck_assert_int_eq(at.state, TASK_REVIEW);
	bench_release(&b);
	bench_open(&b, "log");
	bench_add_str(&b, with_quotes(&b, QUESTION));
	bench_say(&b, with_quotes(&b, "{'message_id':'h-1','message_type':'feedback','timestamp':"
				      "'2026-02-06T11:00:01Z','sequence_number':42,'from_agent':"
				      "{'agent_id':'ann','agent_type':'architect','instance_id':"
				      "'human'},'to_agent':{'agent_id':'developer-1','agent_type':"
				      "'developer'},'reply_to':'m-1','payload':" GUIDANCE "}"), NULL);
	ck_assert(!bench_state(&b, 0).open);
	bench_add_str(&b, with_quotes(&b, COLLAB("'message_id':'m-2','message_type':"
						 "'acknowledgment','reply_to':'h-1','reply_to':'m-0'",
						 "developer", "{}")));
	ck_assert_uint_eq(b.model.replies.v[0].proof, NONE);
	bench_add_str(&b, with_quotes(&b, COLLAB("'message_id':'m-3','message_type':"
						 "'acknowledgment','reply_to':'h-1'", "developer",
						 "{}")));
	ck_assert_uint_ne(b.model.replies.v[0].proof, NONE);
	bench_release(&b);
}
END_TEST

/* A Decision on a Result that is ambiguous cannot be decided, as it is shown with it. */
START_TEST(a_decision_on_an_ambiguous_result)
{
	struct bench b;

	bench_open(&b, "log");
	bench_add_str(&b, with_quotes(&b, RESULT(",'traces':'Deleted it'")));
	bench_add_str(&b, with_quotes(&b, DECISION(T1, "'decision':'escalate'")));
	ck_assert(bench_state(&b, 0).open && bench_state(&b, 0).undecidable);
	bench_release(&b);
}
END_TEST

/* Many of them, without many steps for each. */
START_TEST(many_duplicates)
{
	enum { MANY = 100000 };
	struct buf line = { 0 };
	struct json_reader r = { 0 };
	int64_t start = unit_now_ms();
	yyjson_val *root;

	buf_addc(&line, '{');
	for (int i = 0; i < MANY; i++)
		buf_printf(&line, "%s\"k%d\":%d", i ? "," : "", i % 2 ? i : 0, i);
	buf_addc(&line, '}');
	ck_assert_int_eq(json_read(&r, buf_str(&line), &root), JSON_OK);
	ck_assert_int_eq(yyjson_get_int(json_get(root, "k0")), 0);
	ck_assert(json_last_wins(root));
	ck_assert_int_eq(yyjson_get_int(json_get(root, "k0")), MANY - 2);
	ck_assert_int_eq(yyjson_get_int(json_get(root, "k1")), 1);
	ck_assert(!json_last_wins(json_get(root, "k1")));
	ck_assert_int_lt(unit_now_ms() - start, 5000);
	json_reader_release(&r);
	buf_release(&line);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("ambiguous");
	TCase *t = unit_cases(s, "names", NULL, NULL);

	tcase_add_loop_test(t, decides_nothing_and_raises_what_either_reading_does, 0, CASES);
	tcase_add_loop_test(t, it_does_not_matter_which_comes_first, 0, 5);
	tcase_add_loop_test(t, said_clearly_it_can_be_decided, 0, 4);
	tcase_add_test(t, time_is_the_earlier_one);
	tcase_add_loop_test(t, acknowledges_nothing, 0, 2);
	tcase_add_test(t, a_reply_decides_nothing_either);
	tcase_add_test(t, a_clear_message_decides_afterwards);
	tcase_add_test(t, changes_no_task_and_proves_no_delivery);
	tcase_add_test(t, a_decision_on_an_ambiguous_result);
	tcase_add_test(t, many_duplicates);
	return unit_run(s);
}
