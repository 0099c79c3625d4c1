/* A dialect that only tests link, as HACKING.md says how to add one: an agent asks, somebody says a
 * word. This is what a message is by itself. */
#include "dialect/dialect.h"

#define RULE(id) "toy/" id

static const char *const kinds[] = { "ask", "say", NULL };
enum { TOY_KIND, TOY_ID, TOY_FROM, TOY_QUESTION, TOY_ANSWERS, TOY_WORD, TOY_N };
static const struct field fields[] = {
	[TOY_KIND] = { "toy", RULE("kind"), REQUIRED, T_STR, .values = kinds },
	[TOY_ID] = { "toy_id", RULE("id"), OPTIONAL, T_STR },
	[TOY_FROM] = { "from", RULE("from"), OPTIONAL, T_STR },
	[TOY_QUESTION] = { "question", RULE("question"), OPTIONAL, T_STR },
	[TOY_ANSWERS] = { "answers", RULE("answers"), OPTIONAL, T_STR },
	[TOY_WORD] = { "word", RULE("word"), OPTIONAL, T_STR },
};
static const struct shape shape = { SHAPE_FIELDS(fields), .unknown = UNKNOWN_OK };
static const struct shape *const shapes[] = { &shape, NULL };

static const struct detection_key signature[] = {
	{ "toy", 50 }, { "toy_id", 20 }, { "question", 10 }, { "answers", 20 }, { "word", 10 },
	{ NULL, 0 },
};

static void decode(struct decoder *d, yyjson_val *root, struct message *m)
{
	yyjson_val *got[TOY_N];
	struct event *e;

	check_object(&d->check, root, &shape, got);
	m->kind = json_str(got[TOY_KIND]);
	m->from.id = json_str(got[TOY_FROM]);
	if (str_is(m->kind, "ask")) {
		e = event_add(m, EV_ITEM, json_str(got[TOY_ID]), "/toy_id");
		e->item = ITEM_QUESTION;
		e->grade = GRADE_NONE;
		e->deadline_ms = TIME_NONE;
		e->content_hash = value_hash(root);
	} else {
		e = event_add(m, EV_DECIDE, json_str(got[TOY_ANSWERS]), "/answers");
		e->item = ITEM_QUESTION;
		e->verdict = VERDICT_ANSWERED;
	}
}

static void summarize(struct decoder *d, yyjson_val *root, struct buf *out)
{
	bool asks = str_is(json_get_str(root, "toy"), "ask");

	(void)d;
	buf_add_str(out, json_get_str(root, asks ? "question" : "word"));
}

static bool detail(struct decoder *d, yyjson_val *root, enum item_kind kind, uint32_t index,
		   struct detail *out)
{
	(void)d;
	(void)index;
	out->title = json_get_str(root, "question");
	detail_part(out, root, NULL);
	return kind == ITEM_QUESTION;
}

const struct dialect_ops dialect_toy = {
	.name = "toy",
	.short_name = "toy",
	.signature = signature,
	.shapes = shapes,
	.decode = decode,
	.summarize = summarize,
	.detail = detail,
	.redelivery = REDELIVERY_ALWAYS,
};
