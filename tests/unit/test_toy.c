/* A sixth dialect, and twenty more: what it takes to add one, and that nothing counts them.
 *
 * The registries here stand in for those of the program, which the linker then does not take. */
#include "encode.h"

#include "chance.h"
#include "model/rules.h"

#define DIALECT_TOY DIALECT_LISTED
enum { MORE = 20 };

extern const struct dialect_ops dialect_toy;
extern const struct rules_ops rules_toy;
extern const struct encoder_ops encoder_toy;

static void decode_more(struct decoder *d, yyjson_val *root, struct message *m)
{
	(void)d;
	(void)root;
	m->kind = STR("more");
}

static const struct encoder_ops encoder_more;

#define MORE_OF(n) \
	static const struct detection_key keys_##n[] = { { "more" #n, 40 }, { "type", 20 }, \
							 { NULL, 0 } }; \
	static const struct dialect_ops dialect_##n = { .name = "more" #n, .signature = keys_##n, \
							.decode = decode_more }; \
	static const struct rules_ops rules_##n = { .name = "more" #n };
#define EACH(DO) \
	DO(0) DO(1) DO(2) DO(3) DO(4) DO(5) DO(6) DO(7) DO(8) DO(9) \
	DO(10) DO(11) DO(12) DO(13) DO(14) DO(15) DO(16) DO(17) DO(18) DO(19)
EACH(MORE_OF)

#define DECLARE(NAME, name) \
	extern const struct dialect_ops dialect_##name; \
	extern const struct rules_ops rules_##name; \
	extern const struct encoder_ops encoder_##name;
DIALECTS(DECLARE)

#define DIALECT_ROW(NAME, name) &dialect_##name,
#define DIALECT_MORE(n) &dialect_##n,
const struct dialect_ops *const dialects[DIALECT_MAX] = {
	DIALECTS(DIALECT_ROW) &dialect_toy, EACH(DIALECT_MORE)
};
#define RULES_ROW(NAME, name) &rules_##name,
#define RULES_MORE(n) &rules_##n,
const struct rules_ops *const dialect_rules[DIALECT_MAX] = {
	DIALECTS(RULES_ROW) &rules_toy, EACH(RULES_MORE)
};
#define ENCODER_ROW(NAME, name) &encoder_##name,
#define ENCODER_MORE(n) &encoder_more,
const struct encoder_ops *const encoders[DIALECT_MAX] = {
	DIALECTS(ENCODER_ROW) &encoder_toy, EACH(ENCODER_MORE)
};

#define ASK "{\"toy\":\"ask\",\"toy_id\":\"q-1\",\"from\":\"bot\",\"question\":\"Left or right?\"}"

static struct bench b;

static void set_up(void)
{
	bench_init(&b);
}

static void tear_down(void)
{
	bench_release(&b);
}

/* The message's dialect, which must be the same with a decoder and without. */
static enum dialect_id detected(struct str line)
{
	struct json_reader reader = { 0 };
	enum dialect_id id;
	yyjson_val *root;

	ck_assert_int_eq(json_read(&reader, line, &root), JSON_OK);
	id = dialect_detect(root, NULL);
	json_reader_release(&reader);
	dialect_decode(&b.decoder, line, NULL, &b.message);
	ck_assert_msg(b.message.dialect == id, "%.*s: %s, but %s without a decoder", STR_ARG(line),
		      dialect_name(b.message.dialect), dialect_name(id));
	return id;
}

START_TEST(layers_agree_on_every_dialect)
{
	ck_assert_uint_eq(dialect_count(), DIALECT_LISTED + 1 + MORE);
	ck_assert_str_eq(dialect_name(DIALECT_FEEDBACK), "feedback");
	for (unsigned d = 0; d < dialect_count(); d++) {
		ck_assert_str_eq(dialects[d]->name, dialect_rules[d]->name);
		ck_assert_ptr_nonnull(encoders[d]);
	}
}
END_TEST

START_TEST(sixth_dialect_raises_an_item)
{
	struct item_state at;

	bench_add(&b, ASK);
	assert_clean(&b);
	ck_assert_int_eq(b.message.dialect, DIALECT_TOY);
	ck_assert_int_eq(message_route(&b.model, 0)->dialect, DIALECT_TOY);
	at = bench_state(&b, bench_item(&b, ITEM_QUESTION, "q-1"));
	ck_assert(at.open);
	assert_str(b.reader.summary(&b, 0), "Left or right?");
}
END_TEST

START_TEST(its_field_rules_are_checked)
{
	bench_add(&b, "{\"toy\":\"ask\",\"toy_id\":7}");
	ck_assert_uint_eq(b.bad, 1);
	ck_assert_ptr_nonnull(strstr(b.worse.p, "toy/id"));
}
END_TEST

START_TEST(its_rule_about_two_messages_is_checked)
{
	bench_add(&b, "{\"toy\":\"say\",\"answers\":\"q-1\",\"word\":\"left\"}");
	ck_assert_uint_eq(b.bad, 1);
	ck_assert_ptr_nonnull(strstr(b.worse.p, "toy/answers-known"));
	bench_add(&b, ASK);
	bench_add(&b, "{\"toy\":\"say\",\"answers\":\"q-1\",\"word\":\"left\"}");
	ck_assert_uint_eq(b.bad, 0);
	bench_verdict(&b, ITEM_QUESTION, "q-1", VERDICT_ANSWERED);
}
END_TEST

START_TEST(it_has_its_own_verbs)
{
	struct item_state at;
	uint32_t item;

	bench_add(&b, ASK);
	item = bench_item(&b, ITEM_QUESTION, "q-1");
	at = bench_state(&b, item);
	ck_assert_uint_eq(verbs_of_item(&b.model, &b.model.items.v[item], &at),
			  CAN_ANSWER | CAN_ESCALATE);
}
END_TEST

START_TEST(answer_is_written_and_read_back)
{
	struct proposal *p;

	bench_add(&b, ASK);
	bench_stage(&b, ITEM_QUESTION, "q-1", VERB_ANSWER)->answer = STR("left, \"please\"");
	p = bench_ready(&b);
	assert_str(p->letter.bytes,
		   "{\"toy\":\"say\",\"answers\":\"q-1\",\"word\":\"left, \\\"please\\\"\"}\n");
	ck_assert_int_eq(p->letter.dialect, DIALECT_TOY);
	bench_apply(&b, p);
	bench_verdict(&b, ITEM_QUESTION, "q-1", VERDICT_ANSWERED);
}
END_TEST

START_TEST(it_goes_to_an_escalation_queue)
{
	struct proposal *p;

	bench_add(&b, ASK);
	b.terms = usual_terms(b.terms.reply);
	b.terms.escalate_to = "/tmp/gavel-unit-queue.ndjson";
	bench_stage(&b, ITEM_QUESTION, "q-1", VERB_ESCALATE);
	p = bench_ready(&b);
	ck_assert(str_find(p->letter.bytes, STR("\"dialect\":\"toy\""), 0) > 0);
	bench_apply(&b, p);
	ck_assert_int_eq(b.message.events.v[0].origin_dialect, DIALECT_TOY);
}
END_TEST

START_TEST(nothing_is_said_where_an_encoder_says_nothing)
{
	bench_add(&b, ASK);
	bench_stage(&b, ITEM_QUESTION, "q-1", VERB_ANSWER)->dialect = DIALECT_TOY + 1;
	bench_plan(&b);
	ck_assert_uint_eq(b.plan.list.n, 0);
	ck_assert_uint_eq(b.plan.refused.n, 1);
}
END_TEST

START_TEST(each_of_many_dialects_is_detected)
{
	char line[64];

	for (unsigned n = 0; n < MORE; n++) {
		snprintf(line, sizeof(line), "{\"type\":0,\"more%u\":0}", n);
		ck_assert_int_eq(detected(str_of(line)), DIALECT_TOY + 1 + n);
		snprintf(line, sizeof(line), "{\"more%u\":0}", n);
		ck_assert_int_eq(detected(str_of(line)), DIALECT_UNKNOWN);
	}
}
END_TEST

/* Members nobody knows, then what is one's own. */
static void add_behind(struct buf *line, unsigned strangers, const char *own)
{
	buf_clear(line);
	buf_addc(line, '{');
	for (unsigned i = 0; i < strangers; i++)
		buf_printf(line, "\"m%u\":%u,", i, i);
	buf_adds(line, own);
}

START_TEST(number_of_members_does_not_matter)
{
	static const unsigned strangers[] = { 0, 1, 63, 64, 65, 100, 1000 };
	struct buf line = { 0 };

	for (size_t i = 0; i < sizeof(strangers) / sizeof(strangers[0]); i++) {
		add_behind(&line, strangers[i], &ASK[1]);
		ck_assert_int_eq(detected(buf_str(&line)), DIALECT_TOY);
		/* told by what is in a member, so by a probe */
		add_behind(&line, strangers[i],
			   "\"type\":\"event:log\",\"id\":\"aaaaaaaa-0000-4000-8000-000000000001\","
			   "\"timestamp\":\"2026-02-04T14:30:00Z\",\"payload\":{\"level\":\"info\","
			   "\"message\":\"m\"}}");
		ck_assert_int_eq(detected(buf_str(&line)), DIALECT_ORCHESTRATOR);
	}
	buf_release(&line);
}
END_TEST

START_TEST(name_counts_once)
{
	ck_assert_int_eq(detected(STR("{\"word\":1,\"word\":2,\"word\":3,\"word\":4,\"word\":5,"
				      "\"word\":6}")),
			 DIALECT_UNKNOWN);
	ck_assert_int_eq(detected(STR("{\"more3\":1,\"more3\":2}")), DIALECT_UNKNOWN);
	ck_assert_int_eq(detected(STR("{\"more3\":1,\"type\":1,\"more3\":2}")), DIALECT_TOY + 4);
}
END_TEST

/* Any names, some of them twice, in two orders, by a decoder that has seen all the others. */
START_TEST(neither_order_nor_what_came_before_matters)
{
	const char *names[128], *picked[16];
	struct buf line = { 0 };
	unsigned known = 0;

	sow(1);
	for (unsigned d = 0; d < DIALECT_TOY + 3u; d++)
		for (unsigned i = 0; dialects[d]->signature && dialects[d]->signature[i].name; i++)
			names[known++] = dialects[d]->signature[i].name;
	ck_assert_uint_le(known, 128);
	for (unsigned round = 0; round < 20000; round++) {
		unsigned n = chance(16), k = chance(known - 8);
		enum dialect_id first = DIALECT_UNKNOWN;

		for (unsigned i = 0; i < n; i++)
			picked[i] = names[k + chance(8)];
		for (unsigned turn = 0; turn < 2 && n; turn++) {
			buf_clear(&line);
			for (unsigned i = 0; i < n; i++)
				buf_printf(&line, "%s\"%s\":0", i ? "," : "{",
					   picked[turn ? n - 1 - i : i]);
			buf_addc(&line, '}');
			ck_assert_msg(!turn || detected(buf_str(&line)) == first, "%s, " TOLD, line.p,
				      SEED);
			first = detected(buf_str(&line));
		}
	}
	buf_release(&line);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("toy");
	TCase *t = unit_cases(suite, "sixth dialect", set_up, tear_down);

	tcase_add_test(t, layers_agree_on_every_dialect);
	tcase_add_test(t, sixth_dialect_raises_an_item);
	tcase_add_test(t, its_field_rules_are_checked);
	tcase_add_test(t, its_rule_about_two_messages_is_checked);
	tcase_add_test(t, it_has_its_own_verbs);
	tcase_add_test(t, answer_is_written_and_read_back);
	tcase_add_test(t, it_goes_to_an_escalation_queue);
	tcase_add_test(t, nothing_is_said_where_an_encoder_says_nothing);
	t = unit_cases(suite, "detection", set_up, tear_down);
	tcase_add_test(t, each_of_many_dialects_is_detected);
	tcase_add_test(t, number_of_members_does_not_matter);
	tcase_add_test(t, name_counts_once);
	tcase_add_test(t, neither_order_nor_what_came_before_matters);
	return unit_run(suite);
}
