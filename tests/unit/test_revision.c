/* A decision is bound to the words that were shown. Every kind of item of every dialect is raised
 * again with one value of its message changed: where the page then shows something else, the item has
 * another revision, is open although it had been decided, and what was staged is refused. The same
 * message again, or one that differs only in what tells messages apart, changes nothing. */
#include "encode.h"

/* Messages are written with ' for ". */
#define COLLAB(type, from, id, payload) \
	"{'message_id':'" id "','timestamp':'2026-02-06T11:00:00Z','sequence_number':41," \
	"'from_agent':{'agent_id':'" from "-1','agent_type':'" from "'}," \
	"'to_agent':{'agent_id':'architect-1','agent_type':'architect'}," \
	"'message_type':'" type "','correlation_id':'c-77','payload':" payload "}"
#define HUMAN(type, id, to, payload) \
	"{'message_id':'" id "','timestamp':'2026-02-06T12:00:00Z','sequence_number':90," \
	"'from_agent':{'agent_id':'ann','agent_type':'architect','instance_id':'human'}," \
	"'to_agent':{'agent_id':'" to "-1','agent_type':'" to "'},'reply_to':'m-1'," \
	"'message_type':'" type "','payload':" payload "}"
#define FINDING \
	"{'finding_id':'F-1','severity':'minor','category':'style','location':{'file':'a.c'," \
	"'line_start':12,'line_end':14,'code_snippet':'if (x)'},'description':'Odd name'," \
	"'rationale':'Hard to read','suggestion':'Rename it'}"
#define CHANGE \
	"{'change_id':'C-1','priority':'should_fix','related_findings':['F-1']," \
	"'description':'Rename the variable'}"
#define REVIEW(verdict, findings, changes) \
	COLLAB("review_result", "reviewer", "m-1", \
	       "{'review_id':'R-1','task_id':'T-1','verdict':'" verdict "','findings':[" findings \
	       "],'verification':{'tests':{'passed':true},'type_check':{'passed':true}," \
	       "'custom':{}},'summary':'Nearly done','required_changes':[" changes "]}")
#define ASSIGN(id, criterion, attempts) \
	"{'task':{'task_id':'" id "','task_description':'Do it','context':{'specs':[]," \
	"'reference_files':[]" attempts "},'constraints':{'scope':['*']," \
	"'testing_required':false,'must_not_break':[]},'acceptance_criteria':['" criterion \
	"']},'priority':'low'}"
#define ATTEMPTS ",'previous_attempts':[{'attempt_number':1,'outcome':'o','feedback':'f'}]"
#define AREA \
	"{'id':'scope-0001','aspect':'Scope','description':'Too wide','recommendation':'Cut it'}"
#define RESPONSE(status, more) \
	"{'protocol_version':'1.2','iteration':1,'status':'" status "'" more "}"
#define FEEDBACK \
	RESPONSE("success", \
		 ",'feedback':{'confidence':{'level':'medium','justification':'Read it once'}," \
		 "'positive_points':[{'aspect':'Tone','justification':'Kind'}]," \
		 "'areas_for_improvement':[" AREA "],'general_summary':'Good start'}")
#define DECISION(decision) \
	"{'task_id':'T-1','decision':'" decision "','rationale':'Fix a typo?'," \
	"'state_version':'v1','created_at':'2026-02-06T11:30:00Z'}"
#define RESULT(score) \
	"{'task_id':'T-1','status':'success','confidence_score':" score ",'output':{'type':'text'," \
	"'payload':{'text':'Hello','n':5}},'traces':'Wrote it','artifacts':['a.md','b.md']," \
	"'created_at':'2026-02-06T11:00:00Z'}"
#define ASK(type, payload) \
	"{'type':'" type "','id':'q-1','timestamp':'2026-02-06T11:00:00Z','agentId':'w-1'" payload "}"
#define ASKED \
	",'payload':{'question':'Drop it?','options':[{'label':'Yes','value':'y'}," \
	"{'label':'No','value':'n'}],'timeout':300000,'context':{'files':15}}"
#define ACP(method, params) \
	"{'jsonrpc':'2.0','id':0,'method':'" method "','params':" params "}"
#define ACP_CALL \
	"{'jsonrpc':'2.0','method':'session/update','params':{'sessionId':'S','update':{" \
	"'sessionUpdate':'tool_call','toolCallId':'c1','title':'make','kind':'execute'," \
	"'rawInput':{'cwd':'/src','description':'Build'}}}}"
#define ACP_OPTIONS \
	"'options':[{'optionId':'y','name':'Yes','kind':'allow_once'},{'optionId':'a','name':" \
	"'Always','kind':'allow_always'},{'optionId':'n','name':'No','kind':'reject_once'}]"
#define ANSWER \
	"{'type':'response:success','id':'r-1','correlationId':'q-1'," \
	"'timestamp':'2026-02-06T11:00:05Z','payload':{'answer':'y'}}"
#define CLAUDE(tool, input, more) \
	"{'type':'control_request','request_id':'r-1','request':{'subtype':'can_use_tool'," \
	"'tool_name':'" tool "','display_name':'" tool "','input':" input more \
	",'tool_use_id':'toolu_1'}}"
#define ENTRY \
	"{'task_id':'q-1','decision':'escalate','rationale':'Not mine','state_version':'v1'," \
	"'created_at':'2026-02-06T11:30:00Z','x-gavel':{'by':'bob','dialect':'orchestrator'," \
	"'kind':'question','session':'log','item':'q-1','rev':'sha256:00','title':'Drop it?'," \
	"'source':'log.ndjson','line':3,'original':'@','index':0,'context':[],'before':0," \
	"'deadline':'2026-02-06T11:40:00Z','reply':{'channel':'file','path':'/tmp/r.ndjson'}}}"

static const struct kind_case {
	const char *name;
	enum item_kind kind;
	enum verb verb;
	const char *before;  /* a message of the agents */
	const char *message; /* that raises the item */
	const char *outer;   /* holds the message as a string in place of @; NULL = it is alone */
	const char *reply;   /* a person's decision; NULL: it has no id, so it cannot come again, or
				each ask is a new one */
	unsigned visible;    /* values that the page shows, at least */
} cases[] = {
	{ "improvement", ITEM_IMPROVEMENT, VERB_REJECT, NULL, FEEDBACK, NULL,
	  "{'protocol_version':'1.2','iteration':2,'artifact':{'media_type':'text/plain',"
	  "'content':'x'},'applied_feedback':{'items':[{'id':'scope-0001','status':'rejected',"
	  "'reason_code':'r','explanation':'e'}]}}", 6 },
	{ "improvement in a text", ITEM_IMPROVEMENT, VERB_REJECT, NULL, FEEDBACK,
	  "{'type':'text','timestamp':1770375600000,'sessionID':'s','part':{'id':'p',"
	  "'sessionID':'s','messageID':'m','type':'text','text':'@'}}", NULL, 6 },
	{ "feedback error", ITEM_ERROR, VERB_DISMISS, NULL,
	  RESPONSE("error", ",'error':{'code':'INTERNAL_ERROR','message':'Out of memory'}"), NULL,
	  NULL, 2 },
	{ "feedback error that is a text", ITEM_ERROR, VERB_DISMISS, NULL,
	  RESPONSE("error", ",'error':'Out of memory'"), NULL, NULL, 1 },
	{ "finding", ITEM_FINDING, VERB_REJECT, NULL, REVIEW("changes_requested", FINDING, ""), NULL,
	  HUMAN("feedback", "h-1", "reviewer", "{'feedback_type':'correction','subject':'s',"
		"'content':'[F-1 rejected] no','action_required':false}"), 8 },
	{ "change", ITEM_CHANGE, VERB_REJECT, NULL, REVIEW("changes_requested", FINDING, CHANGE),
	  NULL, HUMAN("feedback", "h-1", "reviewer", "{'feedback_type':'correction','subject':'s',"
		      "'content':'[C-1 rejected] no','action_required':false}"), 3 },
	{ "verdict", ITEM_VERDICT, VERB_ACCEPT, NULL, REVIEW("rejected", FINDING, ""), NULL,
	  HUMAN("review_result", "h-1", "architect",
		"{'review_id':'R-1','task_id':'T-1','verdict':'approved','findings':[],"
		"'verification':{'tests':{'passed':true},'type_check':{'passed':true},'custom':{}},"
		"'summary':'fine'}"), 1 },
	{ "collaboration question", ITEM_QUESTION, VERB_ANSWER, NULL,
	  COLLAB("feedback", "developer", "m-1", "{'feedback_type':'question','subject':'Which?',"
		 "'content':'This or that?','action_required':true,'related_task_id':'T-1'}"), NULL,
	  HUMAN("feedback", "h-1", "developer", "{'feedback_type':'guidance','subject':'s',"
		"'content':'this','action_required':false}"), 4 },
	{ "blocked", ITEM_BLOCKED, VERB_ACCEPT,
	  COLLAB("task_assignment", "architect", "m-0", ASSIGN("T-1", "Short", "")),
	  COLLAB("task_completion", "developer", "m-1",
		 "{'task_id':'T-1','status':'partial','changes':{'files_created':[],"
		 "'files_modified':[],'files_deleted':[]},'summary':'Half','implementation_notes':"
		 "'Hard','self_review':{'tests_run':true,'tests_passed':true,"
		 "'type_check_passed':true},'blockers':['No key','No time']}"), NULL,
	  HUMAN("task_assignment", "h-1", "developer", ASSIGN("T-2", "[T-1 accepted] go", ATTEMPTS)),
	  5 },
	{ "result", ITEM_ESCALATION, VERB_ACCEPT, NULL, RESULT("0.75"), NULL, DECISION("approve"), 7 },
	{ "decision", ITEM_ESCALATION, VERB_ACCEPT, NULL, DECISION("escalate"), NULL,
	  DECISION("approve"), 2 },
	{ "decision on a result", ITEM_ESCALATION, VERB_ACCEPT, RESULT("0.75"), DECISION("escalate"),
	  NULL, DECISION("approve"), 2 },
	/* each ask is raised anew: the same words do not stay decided */
	{ "acp permission", ITEM_PERMISSION, VERB_ACCEPT, NULL,
	  ACP("session/request_permission", "{'sessionId':'S','toolCall':{'toolCallId':'c1','title':"
	      "'make','kind':'execute','rawInput':{'command':'make all','cwd':'/src','reason':'No'},"
	      "'content':[{'type':'diff','path':'a.c','oldText':'a','newText':'b'}]}," ACP_OPTIONS "}"),
	  NULL, NULL, 8 },
	{ "acp permission, call told before", ITEM_PERMISSION, VERB_REJECT, ACP_CALL,
	  ACP("session/request_permission", "{'sessionId':'S','toolCall':{'toolCallId':'c1','title':"
	      "'make all'}," ACP_OPTIONS "}"), NULL, NULL, 2 },
	{ "acp plan", ITEM_PLAN, VERB_ACCEPT, NULL,
	  ACP("session/request_permission", "{'sessionId':'S','toolCall':{'toolCallId':'c1','title':"
	      "'Go on?','kind':'switch_mode','rawInput':{'plan':'Read it'}}," ACP_OPTIONS "}"),
	  NULL, NULL, 5 },
	{ "acp question", ITEM_QUESTION, VERB_ANSWER, NULL,
	  ACP("elicitation/create", "{'sessionId':'S','mode':'form','message':'Well?',"
	      "'requestedSchema':{'type':'object','properties':{'q':{'type':'string','title':"
	      "'Which?','oneOf':[{'const':'y','title':'Yes','description':'All'}]}}}}"),
	  NULL, NULL, 4 },
	{ "queue entry", ITEM_ESCALATION, VERB_ACCEPT, NULL, ENTRY, NULL, NULL, 7 },
	{ "original of a queue entry", ITEM_ESCALATION, VERB_ACCEPT, NULL,
	  ASK("request:ask-user", ASKED), ENTRY, NULL, 7 },
	{ "envelope escalation", ITEM_ESCALATION, VERB_ESCALATE, NULL,
	  "{'success':true,'summary':'Two ways','artifacts':[{'path':'a.md','operation':'create',"
	  "'content':'x'}],'notes':['One','Two'],'recommendation':'escalate'}", NULL, NULL, 5 },
	{ "envelope retry", ITEM_RETRY, VERB_ESCALATE, NULL,
	  "{'success':false,'summary':'Failed','artifacts':[],'notes':['One'],"
	  "'recommendation':'retry'}", NULL, NULL, 2 },
	{ "question", ITEM_QUESTION, VERB_ANSWER, NULL, ASK("request:ask-user", ASKED), NULL, ANSWER,
	  8 },
	{ "question without payload", ITEM_QUESTION, VERB_ANSWER, NULL, ASK("request:ask-user", ""),
	  NULL, ANSWER, 1 },
	{ "question whose payload is a text", ITEM_QUESTION, VERB_ANSWER, NULL,
	  ASK("request:ask-user", ",'payload':'Drop it?'"), NULL, ANSWER, 2 },
	{ "event question", ITEM_QUESTION, VERB_ANSWER, NULL,
	  ASK("event:question", ",'payload':{'question':'Go?','context':{'files':15}}"), NULL, ANSWER,
	  2 },
	{ "event error", ITEM_ERROR, VERB_DISMISS, NULL,
	  ASK("event:error", ",'payload':{'taskId':'T-1','error':'Boom','stack':'at x',"
	      "'recoverable':false}"), NULL, NULL, 3 },
	{ "submitted task", ITEM_TASK, VERB_ACCEPT, NULL,
	  ASK("request:submit-task", ",'payload':{'type':'fix','name':'Fix it','description':'Now',"
	      "'payload':{'file':'a.ts'},'requiredRole':'worker','requiredCapabilities':[],"
	      "'dependencies':[],'priority':2}"), NULL,
	  "{'type':'response:success','id':'r-1','correlationId':'q-1',"
	  "'timestamp':'2026-02-06T11:00:05Z','payload':{'task':{'id':'t','status':'queued'}}}", 4 },
	{ "claude command", ITEM_PERMISSION, VERB_REJECT, NULL,
	  CLAUDE("Bash", "{'command':'rm x','description':'Remove','timeout':5}",
		 ",'description':'Other','permission_suggestions':[{'type':'addRules','rules':[{"
		 "'toolName':'Bash','ruleContent':'rm *'}],'behavior':'allow','destination':"
		 "'localSettings'}],'blocked_path':'/p/x','decision_reason':'Because'"), NULL,
	  NULL, 10 },
	{ "claude edit", ITEM_PERMISSION, VERB_REJECT, NULL,
	  CLAUDE("Edit", "{'file_path':'/p/a','old_string':'a','new_string':'b',"
		 "'replace_all':false}", ""), NULL, NULL, 4 },
	{ "claude question", ITEM_QUESTION, VERB_ANSWER, NULL,
	  CLAUDE("AskUserQuestion", "{'questions':[{'question':'Which?','multiSelect':false,"
		 "'options':[{'label':'A','description':'First'},{'label':'B'}]}]}", ""), NULL,
	  NULL, 5 },
	{ "claude plan", ITEM_PLAN, VERB_REJECT, NULL,
	  CLAUDE("ExitPlanMode", "{'plan':'Do it','planFilePath':'/p.md'}", ""), NULL,
	  NULL, 2 },
};
enum { CASES = sizeof(cases) / sizeof(cases[0]) };

/* What tells one message from the next, and nothing else. */
static bool is_transport(const struct kind_case *c, struct str name)
{
	static const char *const names[] = { "message_id", "sequence_number", "correlation_id",
					     "messageID", "created_at", "tool_use_id" };

	/* of a question that is an item itself, the message's id is the item's */
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (str_is(name, names[i]))
			return !(i == 0 && c->kind == ITEM_QUESTION);
	return str_is(name, "timestamp") && !strstr(c->message, "request:");
}

static struct str with_quotes(struct bench *b, const char *text)
{
	char *out = arena_alloc(&b->arena, strlen(text) + 1);

	for (size_t i = 0; text[i]; i++)
		out[i] = text[i] == '\'' ? '"' : text[i];
	return str_make(out, strlen(text));
}

/* The message as it is in the log: alone, or inside another. */
static struct str in_outer(struct bench *b, const struct kind_case *c, struct str message)
{
	struct str outer;
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

/* A value of a message: where it is, and the name before it. */
struct leaf {
	size_t start, end;
	struct str name;
};

/* The next string (its content), number or boolean that is a value. */
static bool next_leaf(struct str s, size_t *at, struct leaf *out)
{
	for (size_t i = *at; i < s.n; i++) {
		char c = s.p[i];
		size_t end = i;

		if (c == '"') {
			for (end = ++i; s.p[end] != '"'; end++)
				;
			if (s.p[end + 1] == ':') {
				out->name = str_make(s.p + i, end - i);
				i = end;
				continue;
			}
			*at = end + 1;
		} else if ((c >= '0' && c <= '9') || c == 't' || c == 'f') {
			while (s.p[end] != ',' && s.p[end] != '}' && s.p[end] != ']')
				end++;
			*at = end;
		} else {
			continue;
		}
		out->start = i;
		out->end = end;
		return true;
	}
	return false;
}

/* The message with another value there, as valid as it was where that is possible. */
static struct str changed(struct bench *b, struct str s, const struct leaf *leaf)
{
	struct str old = str_make(s.p + leaf->start, leaf->end - leaf->start);
	struct buf out = { 0 };
	char last = old.n ? old.p[old.n - 1] : 'x';

	buf_add(&out, s.p, leaf->start);
	if (str_is(old, "true") && s.p[leaf->start - 1] != '"') {
		buf_adds(&out, "false");
	} else if (str_is(old, "false") && s.p[leaf->start - 1] != '"') {
		buf_adds(&out, "true");
	} else if (last == 'Z') { /* a time: another second */
		buf_add(&out, old.p, old.n - 2);
		buf_addc(&out, old.p[old.n - 2] == '1' ? '2' : '1');
		buf_addc(&out, 'Z');
	} else if (last >= '0' && last <= '9') {
		buf_add(&out, old.p, old.n - 1);
		buf_addc(&out, last == '0' ? '1' : (char)(last - 1));
	} else {
		buf_add_str(&out, old);
		buf_addc(&out, 'x');
	}
	buf_add_str(&out, str_from(s, leaf->end));
	return arena_take(&b->arena, &out);
}

/* All that the item's page shows of its message. */
static struct str page(struct bench *b, uint32_t number)
{
	const struct item *item = &b->model.items.v[number];
	struct item_state at = bench_state(b, number);
	struct detail d;
	struct buf out = { 0 };

	ck_assert(bench_detail(b, item, &at, &d));
	buf_add_str(&out, d.title);
	for (unsigned i = 0; i < d.n; i++) {
		buf_printf(&out, "\n%s: ", d.field[i].label);
		buf_add_str(&out, d.field[i].text);
	}
	if (d.deadline_ms != TIME_NONE)
		buf_printf(&out, "\nuntil %lld", (long long)d.deadline_ms);
	return arena_take(&b->arena, &out);
}

static struct str rev(struct bench *b, uint32_t number)
{
	struct item_state at = bench_state(b, number);
	struct buf out = { 0 };

	item_rev(&b->reader, &b->model.items.v[number], &at, &out);
	ck_assert_msg(out.n > 0, "no revision");
	return arena_take(&b->arena, &out);
}

/* The item of that kind which the last message raised, or NONE. */
static uint32_t raised_last(struct bench *b, enum item_kind kind)
{
	for (uint32_t i = b->model.items.n; i-- > 0;) {
		const struct item *item = &b->model.items.v[i];

		for (uint32_t k = item->n; k-- > 0;)
			if (item->kind == kind && item->steps[k].what == STEP_RAISED &&
			    item->steps[k].message == b->model.records.n - 1)
				return i;
	}
	return NONE;
}

/* A log with the case's item; returns its number. */
static uint32_t raise_item(struct bench *b, const struct kind_case *c)
{
	uint32_t item;

	bench_open(b, "log");
	b->model.runs_agents = true;
	if (c->before)
		bench_add_str(b, with_quotes(b, c->before));
	bench_add_str(b, in_outer(b, c, with_quotes(b, c->message)));
	item = raised_last(b, c->kind);
	ck_assert_msg(item != NONE, "%s is not raised", c->name);
	return item;
}

static void assert_refused(struct bench *b, const struct kind_case *c, struct str name)
{
	bench_plan(b);
	ck_assert_msg(b->plan.refused.n == 1 && b->plan.list.n == 0,
		      "%s, another %.*s: what was staged would still be sent", c->name,
		      STR_ARG(name));
	ck_assert_msg(str_find(b->plan.refused.v[0], STR("has changed"), 0) >= 0, "%.*s",
		      STR_ARG(b->plan.refused.v[0]));
}

/* One value changed; returns whether the page shows it. */
static bool try_leaf(const struct kind_case *c, const struct leaf *leaf)
{
	struct bench b;
	uint32_t item = raise_item(&b, c), again;
	struct str message = with_quotes(&b, c->message), before = page(&b, item);
	struct str first = rev(&b, item);
	bool shown = false, same;

	bench_decide(&b, item, c->verb, "Because.", "ann")->answer = STR("y");
	bench_add_str(&b, in_outer(&b, c, changed(&b, message, leaf)));
	again = raised_last(&b, c->kind);
	if (again != NONE) {
		shown = !str_eq(page(&b, again), before);
		same = str_eq(rev(&b, again), first);
		ck_assert_msg(!shown || !same, "%s: another %.*s, and the same revision:\n%.*s",
			      c->name, STR_ARG(leaf->name), STR_ARG(page(&b, again)));
		ck_assert_msg(same || !is_transport(c, leaf->name),
			      "%s: only another %.*s, and another revision", c->name,
			      STR_ARG(leaf->name));
	}
	if (again == item && shown) {
		ck_assert(bench_state(&b, item).anew == b.model.records.n - 1);
		assert_refused(&b, c, leaf->name);
	}
	bench_release(&b);
	return shown;
}

/* The same after the person's decision. */
static void try_decided(const struct kind_case *c, const struct leaf *leaf, bool shown)
{
	struct bench b;
	uint32_t item = raise_item(&b, c), again;
	struct str message = with_quotes(&b, c->message);

	bench_say(&b, with_quotes(&b, c->reply), NULL);
	ck_assert_msg(!bench_state(&b, item).open, "%s is not decided", c->name);
	bench_add_str(&b, in_outer(&b, c, message));
	ck_assert_msg(!bench_state(&b, item).open, "%s: the same message again opens it", c->name);
	bench_add_str(&b, in_outer(&b, c, changed(&b, message, leaf)));
	again = raised_last(&b, c->kind);
	ck_assert_msg(!shown || again != item || bench_state(&b, item).open,
		      "%s: another %.*s, and still decided", c->name, STR_ARG(leaf->name));
	bench_release(&b);
}

START_TEST(covers_what_the_page_shows)
{
	const struct kind_case *c = &cases[_i];
	struct bench b = { 0 };
	struct str message = with_quotes(&b, c->message);
	struct leaf leaf = { 0 };
	unsigned visible = 0;

	for (size_t at = 0; next_leaf(message, &at, &leaf);) {
		bool shown = try_leaf(c, &leaf);

		visible += shown;
		if (c->reply)
			try_decided(c, &leaf, shown);
	}
	ck_assert_msg(visible >= c->visible, "%s: only %u values are shown", c->name, visible);
	arena_release(&b.arena);
}
END_TEST

/* Results and Decisions have no id: the same words at another time are another ask. */
START_TEST(the_same_words_later_are_asked_anew)
{
	static const char *const asks[][2] = { { RESULT("0.75"), "11:00:00Z" },
					       { DECISION("escalate"), "11:30:00Z" } };
	const char *at = strstr(asks[_i][0], asks[_i][1]);
	struct leaf leaf = { .start = (size_t)(at - asks[_i][0]), .name = STR("created_at") };
	struct str ask, first;
	struct bench b;
	uint32_t item;

	leaf.end = leaf.start + strlen(asks[_i][1]);
	bench_open(&b, "log");
	ask = with_quotes(&b, asks[_i][0]);
	bench_add_str(&b, ask);
	item = raised_last(&b, ITEM_ESCALATION);
	first = rev(&b, item);
	bench_say(&b, with_quotes(&b, DECISION("reject")), NULL);
	ck_assert(!bench_state(&b, item).open);
	bench_add_str(&b, ask);
	ck_assert(!bench_state(&b, item).open);
	bench_add_str(&b, changed(&b, ask, &leaf));
	ck_assert(bench_state(&b, item).open);
	ck_assert(str_eq(rev(&b, item), first));
	bench_release(&b);
}
END_TEST

/* A decision is for one ask, even where the next has the same words. */
START_TEST(what_was_staged_is_not_for_the_next_ask)
{
	struct bench b;
	struct leaf leaf = { .name = STR("created_at") };
	const struct kind_case *c = NULL;
	struct str ask;

	for (int i = 0; i < CASES; i++)
		if (strcmp(cases[i].name, "decision") == 0)
			c = &cases[i];
	raise_item(&b, c);
	ask = with_quotes(&b, c->message);
	leaf.start = (size_t)str_find(ask, STR("11:30:00Z"), 0);
	leaf.end = leaf.start + sizeof("11:30:00Z") - 1;
	bench_stage(&b, ITEM_ESCALATION, "T-1", VERB_ACCEPT);
	bench_add_str(&b, changed(&b, ask, &leaf));
	bench_refuses(&b, "asked again");
	bench_release(&b);
}
END_TEST

/* Other words under the id of a request that was answered wait for another response. */
START_TEST(a_question_asked_anew_can_be_answered)
{
	struct bench b;
	uint32_t item;

	bench_open(&b, "log");
	bench_add_str(&b, with_quotes(&b, ASK("request:ask-user", ASKED)));
	item = raised_last(&b, ITEM_QUESTION);
	bench_say(&b, with_quotes(&b, ANSWER), NULL);
	ck_assert(!bench_state(&b, item).open);
	bench_add_str(&b, with_quotes(&b, ASK("request:ask-user", ",'payload':{'question':'All?'}")));
	ck_assert(bench_state(&b, item).open);
	bench_say(&b, with_quotes(&b, "{'type':'response:success','id':'r-2','correlationId':'q-1',"
				      "'timestamp':'2026-02-06T11:00:06Z','payload':{'answer':'n'}}"),
		  NULL);
	ck_assert(!bench_state(&b, item).open);
	ck_assert_int_eq(bench_state(&b, item).verdict, VERDICT_ANSWERED);
	bench_release(&b);
}
END_TEST

/* A finding first seen as fixed has a revision like any other. */
START_TEST(a_fixed_finding_has_words)
{
	struct bench b;
	struct str fixed;
	uint32_t item;

	bench_open(&b, "log");
	fixed = with_quotes(&b, REVIEW("approved", "{'finding_id':'F-1','severity':'minor',"
				       "'category':'style','location':{'file':'a.c'},"
				       "'description':'d','rationale':'r','fixed_in_iteration':1}",
				       ""));
	bench_add_str(&b, fixed);
	item = raised_last(&b, ITEM_FINDING);
	ck_assert(item != NONE && b.model.items.v[item].steps[0].hash != 0);
	bench_release(&b);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("revision");
	TCase *t = unit_cases(s, "words", NULL, NULL);

	tcase_add_loop_test(t, covers_what_the_page_shows, 0, CASES);
	tcase_add_loop_test(t, the_same_words_later_are_asked_anew, 0, 2);
	tcase_add_test(t, what_was_staged_is_not_for_the_next_ask);
	tcase_add_test(t, a_question_asked_anew_can_be_answered);
	tcase_add_test(t, a_fixed_finding_has_words);
	return unit_run(s);
}
