/* Encoder for Claude Code: the answer to a control_request can_use_tool. What was asked is what
 * runs: the ask's input is copied byte for byte, unless the person has edited it. A line that is not
 * JSON ends Claude at once, so all that a person types is checked or escaped. */
#include "dialect/claude.h"
#include "encode/plan.h"
#include "encode/raw_member.h"
#include "json/compose.h"
#include "wire/frame.h"

/* What an answer needs of the ask. Texts are as in the message, in the plan's arena. */
struct asked {
	struct str request_id, tool;
	struct str input, offers; /* JSON; empty = not there, or not valid */
};

static void read_ask(struct encoding *e, uint32_t message, struct asked *out)
{
	struct str bytes = keep_str(e, e->reader->bytes(e->reader->ctx, message));
	struct str request = raw_member(bytes, "request");
	yyjson_val *root = parse_message(e, message), *parsed = json_get(root, "request");

	*out = (struct asked){ .request_id = keep_str(e, json_get_str(root, "request_id")),
			       .tool = keep_str(e, json_get_str(parsed, "tool_name")) };
	if (!yyjson_is_obj(parsed) || !request.n)
		return;
	if (yyjson_is_obj(json_get(parsed, "input")))
		out->input = raw_member(request, "input");
	if (yyjson_is_arr(json_get(parsed, "permission_suggestions")))
		out->offers = raw_member(request, "permission_suggestions");
}

static void begin_answer(struct buf *b, const struct asked *q, const char *behavior)
{
	buf_adds(b, "{\"type\":\"control_response\",\"response\":{\"subtype\":\"success\"");
	json_put_str(b, "request_id", q->request_id);
	json_open(b, "response", '{');
	json_put_name(b, "behavior", behavior);
}

static void put_input(struct buf *b, struct str input)
{
	json_key(b, "updatedInput");
	add_on_one_line(b, input);
}

/* Closes the answer and gives it to the proposal. */
static void end_answer(struct encoding *e, struct proposal *p, struct buf *b)
{
	buf_adds(b, "}}}");
	if (b->n >= FRAME_MAX_BYTES)
		propose_missing(e, p, "the answer would have %zu bytes, over %d", b->n,
				FRAME_MAX_BYTES);
	else
		proposal_set_bytes(e, p, b);
}

/* ---- reject, stop ---- */

static void encode_denial(struct encoding *e, struct proposal *p, const struct asked *q,
			  struct buf *b)
{
	const struct draft *d = draft_of(e, 0);

	begin_answer(b, q, "deny");
	json_put_str(b, "message", reason_text(e, d));
	if (d->verb == VERB_STOP) {
		json_put_bool(b, "interrupt", true);
		propose_caution(e, p, "ends the turn; the model does not read the reason");
	}
}

/* ---- always ---- */

/* "Bash(touch *)", or "WebFetch" for all calls of a tool; false = it is neither. */
static bool split_rule(struct str rule, struct str *tool, struct str *content)
{
	ptrdiff_t open = str_find(rule, STR("("), 0);

	*content = STR_NONE;
	*tool = open < 0 ? rule : str_trim(str_make(rule.p, (size_t)open));
	if (open >= 0) {
		if (rule.p[rule.n - 1] != ')')
			return false;
		*content = str_trim(str_make(rule.p + open + 1, rule.n - (size_t)open - 2));
	}
	for (size_t i = 0; i < tool->n; i++)
		if (tool->p[i] <= ' ' || strchr(",:;\"'", tool->p[i]))
			return false;
	return tool->n && (open < 0 || content->n);
}

/* A rule of the person's own holds for the session only: it is nowhere to be found later. */
static bool put_own_rule(struct encoding *e, struct proposal *p, const struct asked *q,
			 struct buf *b)
{
	struct str rule = str_trim(draft_of(e, 0)->answer), tool, content;

	if (!split_rule(rule, &tool, &content)) {
		propose_missing(e, p, "a rule is a tool's name, or one with a pattern, as in "
				      "Bash(touch *)");
		return false;
	}
	buf_adds(b, "{\"type\":\"addRules\",\"rules\":[{");
	json_put_str(b, "toolName", tool);
	if (content.n)
		json_put_str(b, "ruleContent", content);
	buf_adds(b, "}],\"behavior\":\"allow\",\"destination\":\"session\"}");
	if (!str_eq(tool, q->tool))
		propose_caution(e, p, "the rule is for %.*s, but %.*s was asked for",
				STR_ARG(tool), STR_ARG(q->tool));
	else if (!content.n)
		propose_caution(e, p, "every call of %.*s is allowed", STR_ARG(tool));
	return true;
}

static bool put_offer(struct encoding *e, struct proposal *p, const struct asked *q,
		      struct buf *b)
{
	uint32_t number = draft_of(e, 0)->option ? draft_of(e, 0)->option : 1, n = 0;
	struct str offer = raw_element(q->offers, number - 1);

	while (raw_element(q->offers, n).n)
		n++;
	if (!n)
		propose_missing(e, p, "it offers no rule; give one, as in Bash(touch *)");
	else if (!offer.n)
		propose_missing(e, p, "there is no offer %u; its offers are 1 to %u", number, n);
	else
		add_on_one_line(b, offer);
	return offer.n > 0;
}

/* Which rule is added, and where: it outlives this answer. */
static void caution_of_rule(struct encoding *e, struct proposal *p, struct str rule)
{
	struct json_reader reader = { 0 };
	struct buf words = { 0 };
	yyjson_val *root;

	if (json_read(&reader, rule, &root) == JSON_OK) {
		claude_offer_words(root, &words);
		propose_caution(e, p, "allowed without asking from now on: %.*s",
				STR_ARG(buf_str(&words)));
	}
	buf_release(&words);
	json_reader_release(&reader);
}

static void encode_always(struct encoding *e, struct proposal *p, const struct asked *q,
			  struct buf *b)
{
	struct buf rule = { 0 };
	bool own = str_trim(draft_of(e, 0)->answer).n > 0;

	if (own ? put_own_rule(e, p, q, &rule) : put_offer(e, p, q, &rule)) {
		begin_answer(b, q, "allow");
		put_input(b, q->input);
		json_open(b, "updatedPermissions", '[');
		buf_add_str(b, buf_str(&rule));
		buf_addc(b, ']');
		caution_of_rule(e, p, buf_str(&rule));
	}
	buf_release(&rule);
}

/* ---- partial ---- */

static void encode_edited(struct encoding *e, struct proposal *p, const struct asked *q,
			  struct buf *b)
{
	struct json_reader typed = { 0 }, asked = { 0 };
	struct str input = str_trim(draft_of(e, 0)->answer);
	yyjson_val *root, *old;
	enum json_outcome outcome;

	if (!input.n)
		return; /* draft_missing says so */
	outcome = json_read(&typed, input, &root);
	if (outcome == JSON_NOT)
		propose_missing(e, p, "the edited input is not JSON: %s at byte %zu", typed.why,
				typed.where + 1);
	else if (outcome != JSON_OK || !yyjson_is_obj(root))
		propose_missing(e, p, "the edited input must be a JSON object");
	else {
		if (json_read(&asked, q->input, &old) == JSON_OK &&
		    value_hash(old) == value_hash(root))
			propose_caution(e, p, "the input is the one that was asked for");
		begin_answer(b, q, "allow");
		put_input(b, input);
	}
	json_reader_release(&typed);
	json_reader_release(&asked);
}

/* ---- answer ---- */

/* Whether the text is the label of an option. */
static bool is_label(yyjson_val *options, struct str text)
{
	yyjson_val *option;
	size_t i, n;

	yyjson_arr_foreach(options, i, n, option)
		if (str_eq(json_get_str(option, "label"), text))
			return true;
	return false;
}

/* Each part of "1, 3" is the number of an option and no label: appends their labels. */
static bool add_numbered(yyjson_val *options, struct str answer, struct buf *out)
{
	size_t start = out->n;

	do {
		struct str part = str_trim(str_cut(&answer, STR(",")));
		uint64_t number;

		if (is_label(options, part) || !str_to_u64(part, &number) || !number ||
		    number > yyjson_arr_size(options)) {
			out->n = start;
			return false;
		}
		buf_adds(out, out->n > start ? ", " : "");
		buf_add_str(out, json_get_str(yyjson_arr_get(options, (size_t)number - 1), "label"));
	} while (answer.n);
	return true;
}

/* Whether it is one of the options, or several where that is allowed. */
static bool is_offered(yyjson_val *question, struct str answer)
{
	yyjson_val *options = json_get(question, "options");

	if (!yyjson_arr_size(options) || is_label(options, answer))
		return true;
	while (answer.n && yyjson_is_true(json_get(question, "multiSelect"))) {
		if (!is_label(options, str_trim(str_cut(&answer, STR(",")))))
			return false;
		if (!answer.n)
			return true;
	}
	return false;
}

static bool put_answer(struct encoding *e, struct proposal *p, yyjson_val *question,
		       struct str answer, struct buf *out)
{
	struct buf words = { 0 };

	answer = str_trim(answer);
	if (!answer.n)
		return false;
	if (!add_numbered(json_get(question, "options"), answer, &words))
		buf_add_str(&words, answer);
	if (!is_offered(question, buf_str(&words)))
		propose_caution(e, p, "not one of the options; sent as typed: %.*s",
				STR_ARG(buf_str(&words)));
	json_comma(out);
	json_write_str(out, json_get_str(question, "question"));
	buf_addc(out, ':');
	json_write_str(out, buf_str(&words));
	buf_release(&words);
	return true;
}

/* Two questions in the same words have one answer: it is named by the words. */
static bool is_repeated(yyjson_val *questions, size_t number)
{
	struct str words = json_get_str(yyjson_arr_get(questions, number), "question");

	for (size_t i = 0; i < number; i++)
		if (str_eq(json_get_str(yyjson_arr_get(questions, i), "question"), words))
			return true;
	return false;
}

/* What was typed, or the option of the first question that was chosen by its number alone. */
static struct str chosen(const struct draft *d, yyjson_val *questions)
{
	yyjson_val *options = json_get(yyjson_arr_get_first(questions), "options");

	return d->answer.n || !d->option
		       ? d->answer
		       : json_get_str(yyjson_arr_get(options, d->option - 1), "label");
}

/* One line for each question, an empty one where it is not answered; of a single question, all of
 * the text is its answer. Returns how many are answered. */
static size_t put_answers(struct encoding *e, struct proposal *p, yyjson_val *questions,
			  struct buf *out)
{
	struct str typed = chosen(draft_of(e, 0), questions);
	size_t i, n, answered = 0;
	yyjson_val *question;

	yyjson_arr_foreach(questions, i, n, question) {
		struct str line = n == 1 ? typed : str_cut(&typed, STR("\n"));

		if (is_repeated(questions, i) && str_trim(line).n)
			propose_missing(e, p, "question %zu has the words of another one; leave "
					      "its line empty", i + 1);
		else
			answered += put_answer(e, p, question, line, out);
	}
	if (n > 1 && str_trim(typed).n)
		propose_missing(e, p, "%zu questions, but more lines of answers", n);
	else if (answered < n)
		propose_caution(e, p, "%zu of %zu questions answered; the model is told so",
				answered, n);
	return answered;
}

static void encode_answer(struct encoding *e, struct proposal *p, const struct asked *q,
			  uint32_t message, struct buf *b)
{
	yyjson_val *request = json_get(parse_message(e, message), "request");
	yyjson_val *questions = json_get(json_get(request, "input"), "questions");
	struct buf answers = { 0 };

	if (!yyjson_arr_size(questions) || raw_member(q->input, "answers").n)
		propose_missing(e, p, "the message holds no question that can be answered");
	else if (!put_answers(e, p, questions, &answers) && !p->missing.n)
		propose_missing(e, p, "an answer needs its text");
	else if (!p->missing.n) {
		begin_answer(b, q, "allow");
		put_input(b, str_make(q->input.p, q->input.n - 1));
		buf_printf(b, ",\"answers\":{");
		buf_add_str(b, buf_str(&answers));
		buf_adds(b, "}}");
	}
	buf_release(&answers);
}

/* ---- all ---- */

static bool copies_input(enum verb verb)
{
	return verb == VERB_ACCEPT || verb == VERB_ALWAYS || verb == VERB_ANSWER;
}

static void encode_verb(struct encoding *e, struct proposal *p, const struct asked *q,
			uint32_t message, struct buf *b)
{
	switch (draft_of(e, 0)->verb) {
	case VERB_ACCEPT:
		begin_answer(b, q, "allow");
		put_input(b, q->input);
		break;
	case VERB_ALWAYS: encode_always(e, p, q, b); break;
	case VERB_PARTIAL: encode_edited(e, p, q, b); break;
	case VERB_REJECT:
	case VERB_STOP: encode_denial(e, p, q, b); break;
	case VERB_ANSWER: encode_answer(e, p, q, message, b); break;
	case VERB_DISMISS:
	case VERB_ESCALATE:
	case VERB_COUNT: break;
	}
}

static void encode(struct encoding *e)
{
	struct item_state at;
	struct proposal *p;
	struct asked q;
	struct buf b = { 0 };

	if (draft_of(e, 0)->verb == VERB_ESCALATE) {
		encode_escalation(e, 0, false);
		return;
	}
	state_of(e, 0, &at);
	p = propose_answer(e, &at);
	read_ask(e, at.message, &q);
	if (!p->missing.n && copies_input(draft_of(e, 0)->verb) && !q.input.n)
		propose_missing(e, p, "its input cannot be copied from the message; reject it");
	if (!p->missing.n)
		encode_verb(e, p, &q, at.message, &b);
	if (b.n && !p->missing.n)
		end_answer(e, p, &b);
	buf_release(&b);
}

static bool is_final(const struct model *m, const struct item *item, const struct item_state *at,
		     struct buf *why)
{
	(void)m;
	(void)item;
	(void)at;
	buf_adds(why, "Claude uses the first answer, which cannot be taken back");
	return true;
}

static const struct item_verbs verbs[] = {
	{ ITEM_PERMISSION, CAN_ACCEPT | CAN_ALWAYS | CAN_PARTIAL | CAN_REJECT | CAN_STOP |
				   CAN_ESCALATE },
	{ ITEM_QUESTION, CAN_ANSWER | CAN_REJECT | CAN_STOP | CAN_ESCALATE },
	{ ITEM_PLAN, CAN_ACCEPT | CAN_REJECT | CAN_STOP | CAN_ESCALATE },
	{ .verbs = 0 },
};

const struct encoder_ops encoder_claude = {
	.verbs = verbs,
	.at_once = true,
	.encode = encode,
	.is_final = is_final,
};
