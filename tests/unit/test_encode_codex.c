/* Codex: every verb on every kind of ask, written, read back, and meaning the same; where a real agent
 * was recorded being answered, byte for byte what it was told. */
#include "encode.h"

#include <stdlib.h>

static struct bench b;
static struct json_reader reader;
static struct buf recording;
static size_t at; /* the next line of it */

static void setup(void)
{
	bench_init(&b);
}

static void teardown(void)
{
	bench_release(&b);
	json_reader_release(&reader);
	buf_release(&recording);
}

static void begin_again(void)
{
	teardown();
	reader = (struct json_reader){ 0 };
	recording = (struct buf){ 0 };
	setup();
}

/* ---- recordings ---- */

static void open_recording(const char *name)
{
	char path[4096];
	FILE *file;
	int c;

	snprintf(path, sizeof(path), "%s/agents/%s.both.ndjson", getenv("GAVEL_FIXTURES"), name);
	file = fopen(path, "r");
	ck_assert_msg(file != NULL, "%s", path);
	while ((c = getc(file)) != EOF)
		buf_addc(&recording, (char)c);
	fclose(file);
	at = 0;
}

/* The next line of the agent or the client, in the arena; false at the end. */
static bool next_line(struct str *line, bool *told)
{
	while (at < recording.n) {
		const char *end = memchr(recording.p + at, '\n', recording.n - at);
		struct str whole = str_make(recording.p + at, (size_t)(end - recording.p) - at);
		struct buf text = { 0 };
		yyjson_val *root;

		at += whole.n + 1;
		ck_assert_int_eq(json_read(&reader, whole, &root), JSON_OK);
		*told = str_is(json_get_str(root, "dir"), "client");
		if (!json_get(root, "msg"))
			continue;
		json_write(&text, json_get(root, "msg"));
		*line = arena_take(&b.arena, &text);
		return true;
	}
	return false;
}

/* Applies lines up to the first that raises an item. */
static void play_to_ask(const char *name)
{
	struct str line;
	bool told;

	open_recording(name);
	while (!b.model.items.n) {
		ck_assert_msg(next_line(&line, &told), "%s asks nothing", name);
		if (told)
			bench_say(&b, line, NULL);
		else
			bench_add_str(&b, line);
	}
	assert_clean(&b);
}

/* The rest of what the agent said. */
static void play_rest(void)
{
	struct str line;
	bool told;

	while (next_line(&line, &told))
		if (!told)
			bench_add_str(&b, line);
}

static const struct {
	const char *recording;
	enum item_kind kind;
	enum verb verb;
	uint32_t option;
	const char *reason, *answer;
	enum verdict verdict;
} recorded[] = {
	{ "codex-accept", ITEM_PERMISSION, VERB_ACCEPT, 0, "", "", VERDICT_ACCEPTED },
	{ "codex-patch-accept", ITEM_PERMISSION, VERB_ACCEPT, 0, "", "", VERDICT_ACCEPTED },
	{ "codex-accept-session", ITEM_PERMISSION, VERB_ALWAYS, 2, "", "", VERDICT_ACCEPTED },
	{ "codex-accept-execpolicy", ITEM_PERMISSION, VERB_ALWAYS, 1, "", "", VERDICT_ACCEPTED },
	{ "codex-accept-execpolicy", ITEM_PERMISSION, VERB_ALWAYS, 0, "", "", VERDICT_ACCEPTED },
	{ "codex-decline-with-reason", ITEM_PERMISSION, VERB_REJECT, 0,
	  "Rejected by the reviewer: use build/ instead.", "", VERDICT_REJECTED },
	{ "codex-cancel", ITEM_PERMISSION, VERB_STOP, 0, "no", "", VERDICT_REJECTED },
	{ "codex-request-input", ITEM_QUESTION, VERB_ANSWER, 0, "", "JWT, user_note: use short expiry",
	  VERDICT_ANSWERED },
};

START_TEST(what_a_real_agent_was_told_is_what_is_written)
{
	struct str line;
	struct draft *d;
	bool told;

	play_to_ask(recorded[_i].recording);
	d = bench_stage(&b, recorded[_i].kind, NULL, recorded[_i].verb);
	d->option = recorded[_i].option;
	d->explanation = str_of(recorded[_i].reason);
	d->answer = str_of(recorded[_i].answer);
	bench_plan(&b);
	assert_ready(&b.plan);
	for (uint32_t i = 0; i < b.plan.list.n; i++) {
		struct str bytes = b.plan.list.v[i].letter.bytes;

		do
			ck_assert_msg(next_line(&line, &told), "the recording tells no more");
		while (!told);
		ck_assert_msg(str_eq(str_make(bytes.p, bytes.n - 1), line), "\n%.*s is not\n%.*s",
			      STR_ARG(bytes), STR_ARG(line));
		assert_str(b.plan.list.v[i].letter.to, "codex");
		bench_send(&b, &b.plan.list.v[i]);
		ck_assert_msg(!b.worse.n, "%s", b.worse.p);
	}
	bench_verdict(&b, recorded[_i].kind, NULL, recorded[_i].verdict);
	ck_assert_int_eq(bench_state(&b, 0).delivery, DELIVERY_SENT);
	play_rest();
	assert_clean(&b);
	ck_assert_int_eq(bench_state(&b, 0).delivery, DELIVERY_ACKNOWLEDGED);
	bench_verdict(&b, recorded[_i].kind, NULL, recorded[_i].verdict);
}
END_TEST

/* ---- asks of our own, with ' for " ---- */

#define WHO "'threadId':'t-1','turnId':'u-1','itemId':"
#define COMMAND(id, call, more) \
	"{'method':'item/commandExecution/requestApproval','id':" id ",'params':{" WHO "'" call \
	"','startedAtMs':1794902376546,'command':'touch a','cwd':'/p'" more "}}"
#define AMENDMENTS \
	",'availableDecisions':['accept',{'applyNetworkPolicyAmendment':{'network_policy_amendment':" \
	"{'host':'bad.org','action':'deny'}}},{'applyNetworkPolicyAmendment':" \
	"{'network_policy_amendment':{'host':'good.org','action':'allow'}}},'cancel']"
#define CHANGE \
	"{'method':'item/fileChange/requestApproval','id':7,'params':{" WHO "'c-1','reason':'Tidy'," \
	"'startedAtMs':1,'grantRoot':null}}"
#define STARTED(call, diff) \
	"{'method':'item/started','params':{'item':{'type':'fileChange','id':'" call "','changes':[{" \
	"'path':'/p/a.c','kind':{'type':'update','move_path':null},'diff':'" diff "'}],'status':" \
	"'inProgress'},'threadId':'t-1','turnId':'u-1'}}"
#define QUESTIONS \
	"{'method':'item/tool/requestUserInput','id':'x-9','params':{" WHO "'c-1','questions':[" \
	"{'id':'auth','question':'Which auth?','isOther':true,'options':[{'label':'OAuth, 2.0'}," \
	"{'label':'JWT'}]},{'id':'os','question':'Where?','isOther':false,'options':[{'label':'Linux'}," \
	"{'label':'BSD'}]},{'id':'name','question':'Name it'}]}}"
#define GRANT \
	"{'method':'item/permissions/requestApproval','id':3,'params':{" WHO "'c-1','cwd':'/p'," \
	"'reason':'Tests','permissions':{ 'network': {'enabled': true} }}}"
#define FORM \
	"{'method':'mcpServer/elicitation/request','id':4,'params':{'threadId':'t-1','turnId':'u-1'," \
	"'serverName':'db','mode':'form','message':'Which table?','requestedSchema':{'type':'object'," \
	"'properties':{'table':{'type':'string'},'rows':{'type':'integer'},'kind':{'type':'string'," \
	"'enum':['a','b']}},'required':['table']}}}"
#define YES_FORM \
	"{'method':'mcpServer/elicitation/request','id':4,'params':{'threadId':'t-1','turnId':'u-1'," \
	"'serverName':'db','mode':'form','message':'Drop it?','requestedSchema':{'type':'object'," \
	"'properties':{}}}}"
#define OLD_COMMAND \
	"{'method':'execCommandApproval','id':5,'params':{'conversationId':'t-1','callId':'c-1'," \
	"'command':['touch','a b'],'cwd':'/p','reason':null,'parsedCmd':[]}}"
#define OLD_PATCH \
	"{'method':'applyPatchApproval','id':6,'params':{'conversationId':'t-1','callId':'c-1'," \
	"'fileChanges':{'/p/a.c':{'update':{'unified_diff':'@@ -1 +1 @@\\n-a\\n+b\\n'}}," \
	"'/p/n.c':{'add':{'content':'new\\n'}}},'reason':null,'grantRoot':null}}"

static struct str quotes(const char *text)
{
	char *out = arena_alloc(&b.arena, strlen(text) + 1);

	for (size_t i = 0; i <= strlen(text); i++)
		out[i] = text[i] == '\'' ? '"' : text[i];
	return str_of(out);
}

static void add(const char *line)
{
	bench_add_str(&b, quotes(line));
}

static const struct {
	const char *ask;
	enum item_kind kind;
	enum verb verb;
	uint32_t option;
	const char *answer;
	const char *written;
	enum verdict verdict;
} written[] = {
	{ COMMAND("0", "c", ""), ITEM_PERMISSION, VERB_ACCEPT, 0, "",
	  "{'id':0,'result':{'decision':'accept'}}", VERDICT_ACCEPTED },
	{ COMMAND("'0'", "c", ""), ITEM_PERMISSION, VERB_ACCEPT, 0, "",
	  "{'id':'0','result':{'decision':'accept'}}", VERDICT_ACCEPTED },
	{ COMMAND("0", "c", ""), ITEM_PERMISSION, VERB_ALWAYS, 0, "",
	  "{'id':0,'result':{'decision':'acceptForSession'}}", VERDICT_ACCEPTED },
	{ COMMAND("0", "c", ",'proposedExecpolicyAmendment':['touch']"), ITEM_PERMISSION, VERB_ALWAYS,
	  1, "",
	  "{'id':0,'result':{'decision':{'acceptWithExecpolicyAmendment':{'execpolicy_amendment':"
	  "['touch']}}}}", VERDICT_ACCEPTED },
	/* what forbids a host is no offer to allow anything */
	{ COMMAND("0", "c", AMENDMENTS), ITEM_PERMISSION, VERB_ALWAYS, 1, "",
	  "{'id':0,'result':{'decision':{'applyNetworkPolicyAmendment':{'network_policy_amendment':"
	  "{'host':'good.org','action':'allow'}}}}}", VERDICT_ACCEPTED },
	{ COMMAND("0", "c", AMENDMENTS), ITEM_PERMISSION, VERB_ALWAYS, 2, "",
	  "{'id':0,'result':{'decision':'acceptForSession'}}", VERDICT_ACCEPTED },
	{ COMMAND("0", "c", ""), ITEM_PERMISSION, VERB_STOP, 0, "",
	  "{'id':0,'result':{'decision':'cancel'}}", VERDICT_REJECTED },
	{ CHANGE, ITEM_PERMISSION, VERB_ALWAYS, 0, "",
	  "{'id':7,'result':{'decision':'acceptForSession'}}", VERDICT_ACCEPTED },
	{ QUESTIONS, ITEM_QUESTION, VERB_ANSWER, 0, "OAuth, 2.0, JWT\nBSD\nx, y",
	  "{'id':'x-9','result':{'answers':{'auth':{'answers':['OAuth, 2.0','JWT']},'os':{'answers':"
	  "['BSD']},'name':{'answers':['x, y']}}}}", VERDICT_ANSWERED },
	{ QUESTIONS, ITEM_QUESTION, VERB_ANSWER, 0, "\n\nx",
	  "{'id':'x-9','result':{'answers':{'name':{'answers':['x']}}}}", VERDICT_ANSWERED },
	{ QUESTIONS, ITEM_QUESTION, VERB_ANSWER, 0, "JWT, or what you like",
	  "{'id':'x-9','result':{'answers':{'auth':{'answers':['JWT','or what you like']}}}}",
	  VERDICT_ANSWERED },
	{ GRANT, ITEM_PERMISSION, VERB_ACCEPT, 0, "",
	  "{'id':3,'result':{'permissions':{ 'network': {'enabled': true} },'scope':'turn'}}",
	  VERDICT_ACCEPTED },
	{ GRANT, ITEM_PERMISSION, VERB_ALWAYS, 0, "",
	  "{'id':3,'result':{'permissions':{ 'network': {'enabled': true} },'scope':'session'}}",
	  VERDICT_ACCEPTED },
	{ FORM, ITEM_QUESTION, VERB_ANSWER, 0, "users\n12\nb",
	  "{'id':4,'result':{'action':'accept','content':{'table':'users','rows':12,'kind':'b'}}}",
	  VERDICT_ANSWERED },
	{ YES_FORM, ITEM_PERMISSION, VERB_ACCEPT, 0, "",
	  "{'id':4,'result':{'action':'accept','content':{}}}", VERDICT_ACCEPTED },
	{ YES_FORM, ITEM_PERMISSION, VERB_STOP, 0, "",
	  "{'id':4,'result':{'action':'cancel','content':null}}", VERDICT_REJECTED },
	{ OLD_COMMAND, ITEM_PERMISSION, VERB_ACCEPT, 0, "",
	  "{'id':5,'result':{'decision':'approved'}}", VERDICT_ACCEPTED },
	{ OLD_COMMAND, ITEM_PERMISSION, VERB_ALWAYS, 0, "",
	  "{'id':5,'result':{'decision':'approved_for_session'}}", VERDICT_ACCEPTED },
	{ OLD_PATCH, ITEM_PERMISSION, VERB_STOP, 0, "", "{'id':6,'result':{'decision':'abort'}}",
	  VERDICT_REJECTED },
};

START_TEST(each_verb_has_its_bytes)
{
	struct proposal *p;
	struct draft *d;

	add(written[_i].ask);
	assert_clean(&b);
	d = bench_stage(&b, written[_i].kind, NULL, written[_i].verb);
	d->option = written[_i].option;
	d->answer = str_of(written[_i].answer);
	d->explanation = written[_i].verb == VERB_STOP ? STR("no") : STR_NONE;
	p = bench_ready(&b);
	ck_assert_int_eq(bench_cautions(p, "no place for the reason"), written[_i].verb == VERB_STOP);
	ck_assert_int_eq(bench_cautions(p, "no longer asked"), written[_i].verb == VERB_ALWAYS);
	ck_assert_msg(str_eq(str_trim(p->letter.bytes), quotes(written[_i].written)), "%.*s",
		      STR_ARG(p->letter.bytes));
	bench_apply(&b, p);
	bench_verdict(&b, written[_i].kind, NULL, written[_i].verdict);
}
END_TEST

static const struct {
	const char *ask;
	const char *steer, *written; /* steer NULL: the reason cannot be said */
} rejections[] = {
	{ COMMAND("0", "c", ""), "", "{'id':0,'result':{'decision':'decline'}}" },
	{ CHANGE, "", "{'id':7,'result':{'decision':'decline'}}" },
	{ GRANT, "", "{'id':3,'result':{'permissions':{},'scope':'turn'}}" },
	{ QUESTIONS, "", "{'id':'x-9','result':{'answers':{}}}" },
	{ YES_FORM, "", "{'id':4,'result':{'action':'decline','content':null}}" },
	{ OLD_COMMAND, NULL, "{'id':5,'result':{'decision':'denied'}}" },
};

START_TEST(a_reason_goes_before_the_rejection)
{
	const struct proposal *last;

	bench_say(&b, quotes("{'id':41,'method':'turn/start','params':{'threadId':'t-1'}}"), NULL);
	add(rejections[_i].ask);
	bench_decide(&b, 0, VERB_REJECT, "no \"new\" files", "ann");
	bench_plan(&b);
	assert_ready(&b.plan);
	last = vec_last(&b.plan.list);
	ck_assert_msg(str_eq(str_trim(last->letter.bytes), quotes(rejections[_i].written)), "%.*s",
		      STR_ARG(last->letter.bytes));
	ck_assert_uint_eq(b.plan.list.n, rejections[_i].steer ? 2 : 1);
	ck_assert_int_eq(bench_cautions(last, "no place for the reason"), !rejections[_i].steer);
	if (rejections[_i].steer)
		assert_str(str_trim(b.plan.list.v[0].letter.bytes),
			   "{\"id\":42,\"method\":\"turn/steer\",\"params\":{\"threadId\":\"t-1\","
			   "\"expectedTurnId\":\"u-1\",\"input\":[{\"type\":\"text\",\"text\":"
			   "\"no \\\"new\\\" files\"}]}}");
	for (uint32_t i = 0; i < b.plan.list.n; i++)
		bench_send(&b, &b.plan.list.v[i]);
	assert_clean(&b);
	ck_assert_int_eq(bench_state(&b, 0).verdict, VERDICT_REJECTED);
}
END_TEST

START_TEST(requests_of_ours_have_numbers_of_their_own)
{
	bench_say(&b, quotes("{'id':9,'method':'turn/start','params':{}}"), NULL);
	add(COMMAND("0", "c-1", ""));
	add(COMMAND("1", "c-2", ""));
	add(COMMAND("2", "c-3", ""));
	bench_decide(&b, 0, VERB_REJECT, "one", "ann");
	bench_plan(&b);
	for (uint32_t i = 0; i < 2; i++)
		bench_send(&b, &b.plan.list.v[i]);
	bench_decide(&b, 1, VERB_REJECT, "two", "ann");
	bench_decide(&b, 2, VERB_REJECT, "three", "ann");
	bench_plan(&b);
	assert_ready(&b.plan);
	ck_assert_uint_eq(b.plan.list.n, 4);
	ck_assert(str_starts(b.plan.list.v[0].letter.bytes, STR("{\"id\":11,")));
	ck_assert(str_starts(b.plan.list.v[2].letter.bytes, STR("{\"id\":12,")));
}
END_TEST

static const struct {
	const char *ask;
	enum verb verb;
	uint32_t option;
	const char *answer, *lacks;
} lacking[] = {
	{ COMMAND("0", "c", ""), VERB_ALWAYS, 2, "", "there is no offer 2" },
	{ COMMAND("0", "c", ""), VERB_ALWAYS, 0, "rm *", "no rule but those" },
	{ QUESTIONS, VERB_ANSWER, 0, "\nPlan 9", "only the listed options" },
	{ FORM, VERB_ANSWER, 0, "t\n1.5e\na", "rows: not what" },
	{ GRANT, VERB_STOP, 0, "", "reject it instead" },
	{ FORM, VERB_ANSWER, 0, "\n12", "table is required" },
	{ FORM, VERB_ANSWER, 0, "t\nmany", "rows: not what" },
	{ FORM, VERB_ANSWER, 0, "t\n\nc", "kind: not what" },
};

START_TEST(what_cannot_be_said_is_refused)
{
	struct draft *d;

	add(lacking[_i].ask);
	d = bench_decide(&b, 0, lacking[_i].verb, lacking[_i].verb == VERB_STOP ? "no" : "", "ann");
	d->option = lacking[_i].option;
	d->answer = str_of(lacking[_i].answer);
	bench_lacks(&b, lacking[_i].lacks);
}
END_TEST

START_TEST(an_ask_without_id_is_shown_and_cannot_be_answered)
{
	add("{'method':'item/fileChange/requestApproval','params':{" WHO "'c-1'}}");
	ck_assert_uint_eq(b.model.items.n, 1);
	ck_assert(bench_state(&b, 0).undecidable);
	ck_assert_uint_eq(b.bad, 1);
}
END_TEST

/* ---- what becomes of it ---- */

#define RESOLVED(id) "{'method':'serverRequest/resolved','params':{'threadId':'t-1','requestId':" id "}}"
#define COMPLETED(status) \
	"{'method':'item/completed','params':{'item':{'type':'commandExecution','id':'c','command':" \
	"'touch a','status':'" status "','commandActions':[]},'threadId':'t-1','turnId':'u-1'}}"
#define TURN_OVER(turn) \
	"{'method':'turn/completed','params':{'threadId':'t-1','turn':{'id':'" turn "','status':" \
	"'interrupted'}}}"

static void say(const char *line)
{
	bench_say(&b, quotes(line), NULL);
}

static const struct {
	const char *lines[4];
	bool told; /* the first of them */
	enum verdict verdict;
	enum delivery delivery;
	const char *complaint; /* part of the last one; NULL = none */
} fates[] = {
	{ { RESOLVED("0") }, false, VERDICT_WITHDRAWN, DELIVERY_NONE, NULL },
	{ { RESOLVED("'0'") }, false, VERDICT_NONE, DELIVERY_NONE, NULL },
	{ { TURN_OVER("u-1"), RESOLVED("0") }, false, VERDICT_WITHDRAWN, DELIVERY_NONE, NULL },
	{ { TURN_OVER("u-2") }, false, VERDICT_NONE, DELIVERY_NONE, NULL },
	{ { "{'id':0,'result':{'decision':'accept'}}", RESOLVED("0"), COMPLETED("completed") }, true,
	  VERDICT_ACCEPTED, DELIVERY_ACKNOWLEDGED, NULL },
	{ { "{'id':0,'result':{'decision':'accept'}}", RESOLVED("0"), COMPLETED("failed") }, true,
	  VERDICT_ACCEPTED, DELIVERY_ACKNOWLEDGED, NULL },
	{ { "{'id':0,'result':{'decision':'accept'}}", RESOLVED("0"), COMPLETED("declined") }, true,
	  VERDICT_WITHDRAWN, DELIVERY_BOUNCED, "was denied, although" },
	{ { "{'id':0,'result':{'decision':'decline'}}", RESOLVED("0"), COMPLETED("completed") }, true,
	  VERDICT_WITHDRAWN, DELIVERY_BOUNCED, "was run, although" },
	/* too late: the turn was over before it was used */
	{ { "{'id':0,'result':{'decision':'accept'}}", TURN_OVER("u-1"), RESOLVED("0") }, true,
	  VERDICT_WITHDRAWN, DELIVERY_BOUNCED, NULL },
	/* a denial, but no proof that anybody read it */
	{ { "{'id':0,'result':{'decision':'maybe'}}", RESOLVED("0"), COMPLETED("failed") }, true,
	  VERDICT_REJECTED, DELIVERY_SENT, "nothing that the agent knows" },
	{ { "{'id':0,'error':{'code':-1,'message':'nobody'}}", RESOLVED("0") }, true,
	  VERDICT_REJECTED, DELIVERY_SENT, "nothing that the agent knows" },
	{ { "{'id':0,'result':{}}", RESOLVED("0") }, true, VERDICT_REJECTED, DELIVERY_SENT,
	  "nothing that the agent knows" },
	{ { "{'id':9,'result':{'decision':'accept'}}" }, true, VERDICT_NONE, DELIVERY_NONE,
	  "which was not asked" },
};

START_TEST(what_the_agent_says_next_tells_whether_it_counted)
{
	struct item_state now;

	add(COMMAND("0", "c", ""));
	for (int i = 0; i < 4 && fates[_i].lines[i]; i++) {
		if (i == 0 && fates[_i].told)
			say(fates[_i].lines[i]);
		else
			add(fates[_i].lines[i]);
	}
	now = bench_state(&b, 0);
	ck_assert_msg(now.verdict == fates[_i].verdict, "%s", verdict_name(now.verdict));
	ck_assert_msg(now.delivery == fates[_i].delivery, "%s", delivery_name(now.delivery));
	ck_assert_int_eq(now.open, fates[_i].verdict == VERDICT_NONE);
	if (!fates[_i].complaint)
		assert_clean(&b);
	else
		ck_assert_msg(str_find(buf_str(&b.told), str_of(fates[_i].complaint), 0) >= 0, "%.*s",
			      STR_ARG(buf_str(&b.told)));
}
END_TEST

START_TEST(asks_of_the_same_item_with_callbacks_are_two)
{
	add(COMMAND("0", "c", ",'approvalId':'a-1'"));
	add(COMMAND("1", "c", ",'approvalId':'a-2'"));
	ck_assert_uint_eq(b.model.items.n, 2);
	bench_item(&b, ITEM_PERMISSION, "t-1/c/a-2");
}
END_TEST

START_TEST(a_subagent_asks_under_its_name)
{
	struct item_state now;

	add("{'method':'thread/started','params':{'thread':{'id':'t-2','parentThreadId':'t-1',"
	    "'agentNickname':'Scout'}}}");
	add("{'method':'item/commandExecution/requestApproval','id':0,'params':{'threadId':'t-2',"
	    "'turnId':'u-2','itemId':'c','command':'ls'}}");
	add(COMMAND("1", "c", ""));
	assert_clean(&b);
	now = bench_state(&b, 0);
	assert_str(agent_name(&b.model, message_route(&b.model, now.message)->from), "Scout");
	now = bench_state(&b, 1);
	assert_str(agent_name(&b.model, message_route(&b.model, now.message)->from), "codex");
	/* its own turn withdraws what it asked */
	add(TURN_OVER("u-2"));
	ck_assert_int_eq(bench_state(&b, 0).verdict, VERDICT_WITHDRAWN);
	ck_assert(bench_state(&b, 1).open);
}
END_TEST

/* ---- the page ---- */

static struct str field_of(uint32_t item, const char *label)
{
	struct item_state now = bench_state(&b, item);
	struct detail d;

	ck_assert(bench_detail(&b, &b.model.items.v[item], &now, &d));
	for (unsigned i = 0; i < d.n; i++)
		if (strcmp(d.field[i].label, label) == 0)
			return d.field[i].text;
	return strcmp(label, "title") == 0 ? d.title : STR_NONE;
}

static struct str rev_of(uint32_t item)
{
	struct item_state now = bench_state(&b, item);
	struct buf out = { 0 };

	item_rev(&b.reader, &b.model.items.v[item], &now, &out);
	return arena_take(&b.arena, &out);
}

START_TEST(a_change_is_shown_with_its_diff)
{
	char first[128];
	uint32_t hash;

	add(STARTED("c-1", "@@ -1 +1 @@\\n-a\\n+b\\n"));
	add(CHANGE);
	assert_str(field_of(0, "title"), "change: a.c");
	assert_str(field_of(0, "file"), "update /p/a.c");
	assert_str(field_of(0, "diff"), "--- /p/a.c\n+++ /p/a.c\n@@ -1 +1 @@\n-a\n+b\n");
	assert_str(field_of(0, "why"), "Tidy");
	snprintf(first, sizeof(first), "%.*s", STR_ARG(rev_of(0)));
	hash = b.model.items.v[0].steps[0].hash;
	/* the same ask for another diff is another revision */
	begin_again();
	add(STARTED("c-1", "@@ -1 +1 @@\\n-a\\n+c\\n"));
	add(CHANGE);
	ck_assert(!str_is(rev_of(0), first));
	ck_assert_uint_ne(b.model.items.v[0].steps[0].hash, hash);
}
END_TEST

START_TEST(a_change_that_was_not_told_says_so)
{
	add(STARTED("other", "x"));
	add(CHANGE);
	assert_str(field_of(0, "title"), "change: files that this log does not tell");
	ck_assert_uint_eq(field_of(0, "diff").n, 0);
}
END_TEST

START_TEST(a_page_tells_what_runs_where_and_why)
{
	add("{'method':'item/commandExecution/requestApproval','id':0,'params':{" WHO "'c','command':"
	    "'/bin/bash -lc \\u0027cat a | sh\\u0027','cwd':'/p','reason':'Look','commandActions':["
	    "{'type':'read','command':'cat a','name':'a','path':'/p/a'}],"
	    "'proposedExecpolicyAmendment':['cat','a']}}");
	assert_clean(&b);
	assert_str(field_of(0, "title"), "command: cat a | sh");
	assert_str(field_of(0, "command"), "/bin/bash -lc 'cat a | sh'");
	assert_str(field_of(0, "folder"), "/p");
	assert_str(field_of(0, "why"), "Look");
	assert_str(field_of(0, "does"), "read a /p/a");
	ck_assert(str_starts(field_of(0, "always"), STR("1  cat a  ")));
	ck_assert(str_find(field_of(0, "always"), STR("default.rules\n2  "), 0) > 0);
	add(OLD_PATCH);
	assert_str(field_of(1, "title"), "change: a.c, n.c");
	ck_assert(str_ends(field_of(1, "diff"), STR("--- /p/n.c\n+++ /p/n.c\n+new\n")));
	add(OLD_COMMAND);
	assert_str(field_of(1, "title"), "command: touch \"a b\"");
}
END_TEST

START_TEST(all_questions_are_shown)
{
	struct item_state now;
	struct detail d;

	add(QUESTIONS);
	assert_str(field_of(0, "title"), "Which auth?");
	assert_str(field_of(0, "questions"),
		   "1  Which auth?\n   1  OAuth, 2.0\n   2  JWT\n2  Where?\n   1  Linux\n   2  BSD\n"
		   "3  Name it");
	now = bench_state(&b, 0);
	ck_assert(bench_detail(&b, &b.model.items.v[0], &now, &d));
	ck_assert_uint_eq(yyjson_arr_size(d.options), 2);
}
END_TEST

START_TEST(a_question_that_resolves_itself_has_a_deadline)
{
	add("{'method':'item/tool/requestUserInput','id':0,'params':{" WHO "'c','startedAtMs':"
	    "1794902376546,'questions':[{'id':'q','question':'Go?'}],'autoResolutionMs':60000}}");
	assert_clean(&b);
	ck_assert_int_eq(bench_state(&b, 0).deadline_ms, INT64_C(1794902436546));
}
END_TEST

/* Each value of an ask, changed alone: another revision, another hash of the raise. */
START_TEST(every_word_of_an_ask_is_in_its_revision)
{
	static const char *const values[][2] = {
		{ "touch a", "touch b" }, { "/p", "/q" }, { "Because", "Anyway" },
		{ "['touch']", "['to']" }, { "t-1", "t-2" },
	};
	const char *ask = COMMAND("0", "c", ",'reason':'Because','proposedExecpolicyAmendment':['touch']");
	struct str first, whole;
	uint32_t hash;

	add(ask);
	first = rev_of(0);
	hash = b.model.items.v[0].steps[0].hash;
	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
		const char *where = strstr(ask, values[i][0]);
		struct buf other = { 0 };
		const struct item *item;

		buf_add(&other, ask, (size_t)(where - ask));
		buf_adds(&other, values[i][1]);
		buf_adds(&other, where + strlen(values[i][0]));
		whole = arena_take(&b.arena, &other);
		add(whole.p);
		item = vec_last(&b.model.items);
		ck_assert_msg(!str_eq(rev_of((uint32_t)(item - b.model.items.v)), first), "%s",
			      values[i][0]);
		ck_assert_uint_ne(item->steps[item->n - 1].hash, hash);
	}
	/* when it was asked says nothing */
	begin_again();
	add("{'method':'item/commandExecution/requestApproval','id':0,'params':{" WHO "'c',"
	    "'startedAtMs':5,'command':'touch a','cwd':'/p','reason':'Because',"
	    "'proposedExecpolicyAmendment':['touch']}}");
	ck_assert_uint_eq(b.model.items.v[0].steps[0].hash, hash);
}
END_TEST

#define LOOP(tc, list, test) \
	tcase_add_loop_test(tc, test, 0, (int)(sizeof(list) / sizeof((list)[0])))

int main(void)
{
	Suite *s = suite_create("encode_codex");
	TCase *tc = tcase_create("codex");

	tcase_add_checked_fixture(tc, setup, teardown);
	LOOP(tc, recorded, what_a_real_agent_was_told_is_what_is_written);
	LOOP(tc, written, each_verb_has_its_bytes);
	LOOP(tc, rejections, a_reason_goes_before_the_rejection);
	LOOP(tc, lacking, what_cannot_be_said_is_refused);
	LOOP(tc, fates, what_the_agent_says_next_tells_whether_it_counted);
	tcase_add_test(tc, requests_of_ours_have_numbers_of_their_own);
	tcase_add_test(tc, an_ask_without_id_is_shown_and_cannot_be_answered);
	tcase_add_test(tc, asks_of_the_same_item_with_callbacks_are_two);
	tcase_add_test(tc, a_subagent_asks_under_its_name);
	tcase_add_test(tc, a_change_is_shown_with_its_diff);
	tcase_add_test(tc, a_change_that_was_not_told_says_so);
	tcase_add_test(tc, a_page_tells_what_runs_where_and_why);
	tcase_add_test(tc, all_questions_are_shown);
	tcase_add_test(tc, a_question_that_resolves_itself_has_a_deadline);
	tcase_add_test(tc, every_word_of_an_ask_is_in_its_revision);
	suite_add_tcase(s, tc);
	return unit_run(s);
}
