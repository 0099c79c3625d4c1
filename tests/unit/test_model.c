/* What the model remembers of messages by their ids: the same message again is a note and changes
 * nothing, another one under the same id is an error, and nothing else is taken for either.
 * Whoever holds an role is the agent of that name. Findings: what is kept in a few bytes comes out
 * as it was told. So does where a message came from. */
#include "event/diag_text.h"
#include "model/prefetch.h"
#include "model/rules.h"

#include "unit.h"

#include <limits.h>
#include <stdio.h>

enum { MANY = 200000 };

static struct model model;
static struct arena arena;

static void setup(void)
{
	model_init(&model);
}

static void teardown(void)
{
	model_release(&model);
	arena_release(&arena);
}

/* The record of an orchestrator message, or of a line of text where id is "". */
static struct record add(const char *session, const char *id, uint64_t content, int64_t time_ms)
{
	struct message m = { .dialect = *id ? DIALECT_ORCHESTRATOR : DIALECT_TEXT,
			     .kind = STR("event:log"), .id = str_of(id), .session = str_of(session),
			     .content_hash = content, .time_ms = time_ms, .sequence = -1,
			     .inside = "", .diags = { .arena = &arena } };
	struct place place = { .line = model.records.n + 1, .group = STR("log.ndjson") };

	model_apply(&model, &m, &place);
	message_release(&m);
	return *vec_last(&model.records);
}

static struct str newest_text(void)
{
	static struct diag_store_walk w;

	diag_store_start(&w, &model, model.diag_store.last);
	while (diag_store_next(&w))
		diag_store_read(&w);
	return w.text;
}

/* An assertion of libcheck costs more than a message: the tests of many count for themselves. */
static bool is_new(struct record r)
{
	return !r.errors && !r.notes && !(route_of(&model, &r)->flags & RECORD_REPEATED);
}

static bool is_repeat(struct record r)
{
	return !r.errors && r.notes == 1 && route_of(&model, &r)->flags & RECORD_REPEATED;
}

static bool is_clash(struct record r)
{
	return r.errors == 1 && !r.notes && !(route_of(&model, &r)->flags & RECORD_REPEATED);
}

START_TEST(the_same_again_is_a_note)
{
	ck_assert(is_new(add("", "a", 7, 1)));
	ck_assert(is_repeat(add("", "a", 7, 1)));
	ck_assert(is_repeat(add("", "a", 7, 1)));
	assert_str(newest_text(),
		   "the same message as in line 1; it changes nothing");
}
END_TEST

START_TEST(another_under_the_id_is_an_error)
{
	ck_assert(is_new(add("", "a", 7, 1)));
	ck_assert(is_clash(add("", "a", 8, 1)));
	assert_str(newest_text(), "the id of another message, in line 1");
	/* the first one stays the one that later ones are held against */
	ck_assert(is_repeat(add("", "a", 7, 1)));
	ck_assert(is_clash(add("", "a", 8, 1)));
}
END_TEST

/* Few bits of the content are kept; where just these are equal, the time tells. */
START_TEST(another_time_is_another_message)
{
	ck_assert(is_new(add("", "a", 7, 1)));
	ck_assert(is_clash(add("", "a", 7, 2)));
}
END_TEST

START_TEST(sessions_have_ids_of_their_own)
{
	ck_assert(is_new(add("one", "a", 7, 1)));
	ck_assert(is_new(add("two", "a", 7, 1)));
	ck_assert(is_new(add("three", "a", 8, 1)));
	ck_assert(is_repeat(add("two", "a", 7, 1)));
	ck_assert(is_clash(add("three", "a", 7, 1)));
}
END_TEST

START_TEST(messages_without_an_id_are_never_the_same)
{
	for (unsigned i = 0; i < 5; i++)
		ck_assert(is_new(add("", "", 7, 1)));
	ck_assert_uint_eq(model.ids.entries.n, 0);
	ck_assert(is_new(add("", "a", 7, 1)));
	ck_assert(is_new(add("", "", 7, 1)));
	ck_assert(is_repeat(add("", "a", 7, 1)));
	ck_assert_uint_eq(message_with_id(&model, 0, STR("")), NONE);
	ck_assert_uint_eq(message_with_id(&model, 0, STR("a")), 5);
	ck_assert_uint_eq(message_with_id(&model, 0, STR("b")), NONE);
}
END_TEST

static const char *numbered(unsigned i)
{
	static char id[32];

	snprintf(id, sizeof(id), "msg-%u", i);
	return id;
}

/* Far beyond the first buckets, which so are split several times over, at once if more is expected
 * (_i); text comes in between. */
START_TEST(many_ids_are_all_found_and_none_is_mistaken)
{
	unsigned mistaken = 0, lost = 0;

	heap_expect(model.heap, _i);
	for (unsigned i = 0; i < MANY; i++) {
		if (i % 7 == 0)
			add("", "", 0, 1);
		mistaken += !is_new(add("", numbered(i), i, 1));
	}
	for (unsigned i = 0; i < MANY; i++)
		lost += message_with_id(&model, 0, str_of(numbered(i))) != i + i / 7 + 1;
	for (unsigned i = MANY; i < 2 * MANY; i++)
		mistaken += message_with_id(&model, 0, str_of(numbered(i))) != NONE;
	ck_assert_uint_eq(mistaken, 0);
	ck_assert_uint_eq(lost, 0);
	for (unsigned i = 0; i < MANY; i += 1000) {
		ck_assert(is_repeat(add("", numbered(i), i, 1)));
		ck_assert(is_clash(add("", numbered(i), i + 1, 1)));
	}
}
END_TEST

/* The bytes that a message may cost beside its record, slack not counted: it is never touched. */
START_TEST(ids_cost_15_bytes_and_a_fifth)
{
	for (unsigned i = 0; i < MANY; i++)
		add("", numbered(i), i, 1);
	ck_assert_uint_le(model.ids.entries.n * sizeof(*model.ids.entries.v) +
				  model.ids.buckets.n * sizeof(*model.ids.buckets.v) +
				  model.ids.has.n * sizeof(*model.ids.has.v) +
				  model.ids.before.n * sizeof(*model.ids.before.v),
			  15 * MANY + MANY / 5);
}
END_TEST

/* ---- agents ---- */

/* The agent whom a message is from. */
static uint32_t speak(const char *session, struct actor from)
{
	struct message m = { .dialect = DIALECT_FEEDBACK, .kind = STR("text"), .from = from,
			     .session = str_of(session), .time_ms = 1, .sequence = -1,
			     .inside = "", .diags = { .arena = &arena } };
	struct place place = { .line = model.records.n + 1, .group = STR("log.ndjson") };

	model_apply(&model, &m, &place);
	message_release(&m);
	return route_of(&model, vec_last(&model.records))->from;
}

START_TEST(who_holds_an_office_has_its_name)
{
	for (enum known_role known_role = KNOWN_ROLE_NONE + 1; known_role < KNOWN_ROLE_COUNT; known_role++) {
		const struct actor *holder = &known_role_actors[known_role];
		uint32_t agent = speak("one", *holder);

		ck_assert_uint_eq(holder->known_role, known_role);
		ck_assert(holder->id.n && str_eq(agent_name(&model, agent), holder->id));
		/* once more, by name alone, and elsewhere */
		ck_assert_uint_eq(speak("one", *holder), agent);
		ck_assert_uint_eq(speak("one", (struct actor){ .id = holder->id }), agent);
		ck_assert_uint_ne(speak("two", *holder), agent);
	}
	ck_assert_uint_eq(model.agents.n, 2 * (KNOWN_ROLE_COUNT - 1));
}
END_TEST

/* ---- findings ---- */

static const char long_text[] = "a text of 64 bytes, which is what a quoted name may have, or so";

/* As report does it: one on every third message, three at once now and then. */
static void add_findings(unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		for (unsigned k = 0; k < (i % 50 ? 1 : 3); k++)
			diag_store_add(&model, i * 3, i % 2 ? SEVERITY_ERROR : SEVERITY_NOTE, "test/a", "/in",
				    "/list/%u/id", i, "%s, %u and %d: %lld, %.2f, 100%%", long_text, i,
				    -(int)i, i % 2 ? LLONG_MIN : LLONG_MAX, i / 4.0);
		if (i % 5 == 0)
			diag_store_add(&model, i * 3, SEVERITY_WARNING, "test/b", "", "/x", 0, "plain");
	}
}

/* Lines one after the other, blank ones and other ends between them, several files in turns. */
START_TEST(every_message_is_found_where_it_was)
{
	enum { FILES = 3, MESSAGES = 5000 };
	static struct place places[MESSAGES];
	uint64_t end[FILES] = { 0, 7, UINT64_C(5) << 40 };
	uint32_t line[FILES] = { 0 }, state = 1, source = 0;

	for (uint32_t i = 0; i < MESSAGES; i++) {
		struct place *p = &places[i];
		struct message m = { .dialect = DIALECT_TEXT, .kind = STR("log"),
				     .flags = i % 1000 ? 0 : RECORD_BINARY, .time_ms = TIME_NONE,
				     .sequence = -1, .inside = "", .diags = { .arena = &arena } };

		state = state * 1664525 + 1013904223;
		source = state >> 24 ? source : (state >> 16) % FILES;
		line[source] += i > 4000 && !(state >> 8 & 3) ? 2 : 1;
		*p = (struct place){ .source = source, .line = line[source],
				     .length = state >> 8 & 0x3ff, .offset = end[source],
				     .group = STR("log.ndjson") };
		end[source] += p->length + (i < 3000 ? 1 : i > 4000 ? state >> 20 & 3 : 2);
		model_apply(&model, &m, p);
	}
	for (uint32_t i = 0; i < MESSAGES; i++)
		if (message_line(&model, i) != places[i].line ||
		    message_offset(&model, i) != places[i].offset ||
		    message_route(&model, i)->source != places[i].source ||
		    message_route(&model, i)->flags != (i % 1000 ? 0 : RECORD_BINARY))
			ck_abort_msg("message %u", i);
	ck_assert_uint_le(model.routes.n, 2 * FILES);
}
END_TEST

/* Lines of several files, sessions and origins in turns: the model looks no further than at the line before. */
START_TEST(a_log_line_is_like_the_one_before_only_where_it_is)
{
	static const struct {
		uint32_t source;
		const char *group, *session;
		uint16_t flags;
		enum trust trust;
		int64_t time_ms;
	} kinds[] = {
		{ 0, "a", "", 0, TRUST_LOG, TIME_NONE },
		{ 1, "b", "", 0, TRUST_LOG, TIME_NONE },
		{ 0, "a", "", RECORD_BINARY, TRUST_LOG, TIME_NONE },
		{ 0, "a", "s", 0, TRUST_LOG, TIME_NONE },
		{ 0, "a", "", 0, TRUST_LOG, 5 },
		{ 0, "a", "", 0, TRUST_AGENT, TIME_NONE },
		{ 2, "a", "", 0, TRUST_LOG, TIME_NONE },
	};
	enum { KINDS = sizeof(kinds) / sizeof(*kinds) };
	uint32_t state = 1;

	for (uint32_t i = 0; i < 2000; i++) {
		unsigned k = (state = state * 1664525 + 1013904223) >> 16 & 1 ? 0 : (state >> 20) % KINDS;
		struct message m = { .dialect = DIALECT_TEXT, .kind = STR("log"), .flags = kinds[k].flags,
				     .session = str_of(kinds[k].session), .time_ms = kinds[k].time_ms,
				     .sequence = -1, .inside = "", .diags = { .arena = &arena } };
		struct place p = { .source = kinds[k].source, .line = i + 1, .length = i,
				   .group = str_of(kinds[k].group), .trust = kinds[k].trust };
		const struct record *r;
		const struct route *route;

		m.diags.count[SEVERITY_WARNING] = k == 0 && i % 3 == 0;
		model_apply(&model, &m, &p);
		r = vec_last(&model.records);
		route = route_of(&model, r);
		if (route->source != p.source || route->trust != p.trust || route->flags != kinds[k].flags ||
		    !str_is(session_name(&model, route->session), *kinds[k].session ? "s" : kinds[k].group) ||
		    !str_is(model_str(&model, model.sessions.v[route->session].group), kinds[k].group) ||
		    !str_is(model_kind(&model, r), "log") || r->length != i || r->time_ms != kinds[k].time_ms ||
		    r->warnings != (k == 0 && i % 3 == 0) || r->errors || r->notes || route->from != NONE)
			ck_abort_msg("line %u, of kind %u", i, k);
	}
	ck_assert_uint_eq(model.routes.n, KINDS - 1); /* a time is none of a route's attributes */
	ck_assert_int_eq(model_now(&model, model.records.n), 5);
}
END_TEST

START_TEST(a_finding_says_what_it_was_told)
{
	struct diag_store_walk w;

	add_findings(8);
	diag_store_start(&w, &model, 21);
	ck_assert(diag_store_next(&w));
	diag_store_read(&w);
	ck_assert_uint_eq(w.message, 21);
	ck_assert_int_eq(w.severity, SEVERITY_ERROR);
	ck_assert_str_eq(w.rule, "test/a");
	assert_str(w.pointer, "/in/list/7/id");
	assert_str(w.text, "a text of 64 bytes, which is what a quoted name may have, or so, 7 and -7: "
			   "-9223372036854775808, 1.75, 100%");
	ck_assert(!diag_store_next(&w));
	diag_store_start(&w, &model, 22);
	ck_assert(!diag_store_next(&w));
}
END_TEST

/* Eight bytes are quoted at a time where none needs an escape. */
START_TEST(a_quoted_text_is_escaped_byte_by_byte)
{
	static const char odd[] = { '\x1f', '\x7f', '\x80', '\xff', ' ', '~' };
	char text[80], out[QUOTED_MAX], expected[QUOTED_MAX * 4];

	for (size_t n = 0; n < sizeof(text); n++)
		for (size_t at = 0; at <= n; at++)
			for (size_t k = 0; k < sizeof(odd); k++) {
				size_t e = 1;

				memset(text, 'a', sizeof(text));
				if (at < n)
					text[at] = odd[k];
				strcpy(expected, "\"");
				for (size_t i = 0; i < n; i++) {
					if (e > QUOTED_MAX - 12) {
						strcpy(expected + e, "...");
						break;
					}
					e += (size_t)sprintf(expected + e,
							     text[i] >= ' ' && text[i] <= '~' ? "%c" : "\\x%02x",
							     (unsigned char)text[i]);
				}
				strcat(expected, "\"");
				ck_assert_str_eq(quoted(str_make(text, n), out), expected);
			}
}
END_TEST

START_TEST(findings_are_found_by_their_message)
{
	enum { N = 2000 };
	struct diag_store_walk w;

	add_findings(N);
	for (unsigned message = 0; message <= 3 * N; message++) {
		unsigned i = message / 3, n = 0;
		unsigned expected = message % 3 || i >= N ? 0 : (i % 50 ? 1 : 3) + (i % 5 == 0);

		diag_store_start(&w, &model, message);
		for (; diag_store_next(&w) && w.message == message; n++)
			if (strcmp(w.rule, "test/b") == 0) {
				diag_store_read(&w);
				assert_str(w.text, "plain");
				assert_str(w.pointer, "/x");
			}
		if (n != expected)
			ck_abort_msg("%u findings on message %u", n, message);
	}
	ck_assert_uint_eq(model.diag_store.templates.n, 3);
}
END_TEST

/* A name that the model knows is kept by its number. */
START_TEST(a_finding_names_what_is_known)
{
	static const char *const names[] = { "\"known name\"", "\"unknown name\"", "\"\"", "\"", "" };
	struct diag_store_walk w;
	uint32_t before;

	model_intern(&model, STR("known name"));
	model_intern(&model, STR(""));
	for (unsigned i = 0; i < 5; i++) {
		before = model.diag_store.bytes.n;
		diag_store_add(&model, i, SEVERITY_NOTE, "test/a", "", "/x", 0, "<%s> %u", names[i], i);
		if (i == 0)
			ck_assert_uint_le(model.diag_store.bytes.n - before, 6);
	}
	/* the third time, it is short too */
	for (unsigned i = 5; i < 7; i++) {
		before = model.diag_store.bytes.n;
		diag_store_add(&model, i, SEVERITY_NOTE, "test/a", "", "/x", 0, "<%s> %u", names[1], i);
	}
	ck_assert_uint_le(model.diag_store.bytes.n - before, 6);
	diag_store_start(&w, &model, 0);
	for (unsigned i = 0; i < 7; i++) {
		char wanted[64];

		snprintf(wanted, sizeof(wanted), "<%s> %u", names[i < 5 ? i : 1], i);
		ck_assert(diag_store_next(&w));
		diag_store_read(&w);
		ck_assert(str_is(w.text, wanted));
	}
}
END_TEST

static __attribute__((format(printf, 2, 3))) void formats_like_printf(size_t size, const char *format, ...)
{
	char got[64], wanted[64];
	va_list ap;
	struct str s;

	va_start(ap, format);
	s = diag_format(got, size, format, ap);
	va_end(ap);
	va_start(ap, format);
	vsnprintf(wanted, size, format, ap);
	va_end(ap);
	ck_assert_str_eq(got, wanted);
	ck_assert_uint_eq(s.n, strlen(wanted));
}

/* In a room of any size. */
START_TEST(a_text_is_what_printf_makes_of_it)
{
	for (size_t size = 1; size <= 64; size++) {
		formats_like_printf(size, "%s", "");
		formats_like_printf(size, "plain");
		formats_like_printf(size, "%u of %u, %d and %d, 100%%", 0u, UINT_MAX, INT_MIN, INT_MAX);
		formats_like_printf(size, "%lld %lld %llu", LLONG_MIN, LLONG_MAX, ULLONG_MAX);
		formats_like_printf(size, "%s, %.1f%s%.2f", "a", 0.25, "b", -1e9);
		/* left to printf */
		formats_like_printf(size, "%s at least %g", "must be", 0.5);
		formats_like_printf(size, "%u %.*s%zu %lu %c %5d %-3u|", 7u, 2, "abc", (size_t)8, 9ul, 'c', 10, 11u);
	}
}
END_TEST

/* Longer than any sentence may be: cut, as it is where it is told. */
START_TEST(a_long_finding_is_cut)
{
	char text[2000];
	struct diag_store_walk w;

	memset(text, 'x', sizeof(text));
	text[sizeof(text) - 1] = '\0';
	diag_store_add(&model, 0, SEVERITY_NOTE, "test/a", "", "/x", 0, "%s%s%s %u %.1f", text, text, text,
		    7u, 0.5);
	diag_store_add(&model, 0, SEVERITY_NOTE, "test/a", "", "/x", 0, "%s", "y");
	diag_store_start(&w, &model, 0);
	ck_assert(diag_store_next(&w));
	diag_store_read(&w);
	ck_assert_uint_eq(w.text.n, DIAG_STORE_TEXT_MAX - 1);
	ck_assert(memcmp(w.text.p, text, w.text.n) == 0);
	ck_assert(diag_store_next(&w));
	diag_store_read(&w);
	assert_str(w.text, "y");
}
END_TEST

/* ---- items ---- */

START_TEST(an_item_belongs_to_what_it_was_raised_in)
{
	uint32_t own = 0;

	heap_push(model.heap, &model.tasks, (struct task){ .session = 3 });
	heap_push(model.heap, &model.tasks, (struct task){ .session = 4 });
	heap_push(model.heap, &model.reviews, (struct review){ .session = 3, .task = 0 });
	heap_push(model.heap, &model.reviews, (struct review){ .session = 4, .task = NONE });
	for (uint32_t i = 0; i < 2 * 3 * 3; i++) {
		struct owner want = { 3 + i % 2, i / 2 % 3 - 1, i / 6 - 1 }, got;
		struct item item = { 0 };

		item_set_owner(&model, &item, want);
		own += item.owned == OWNER_OWN;
		got = item_owner(&model, &item);
		ck_assert_uint_eq(got.session, want.session);
		ck_assert_uint_eq(got.task, want.task);
		ck_assert_uint_eq(got.review, want.review);
	}
	/* of no task and review two, of a task two, of a review two */
	ck_assert_uint_eq(own, 18 - 6);
	ck_assert_uint_eq(model.item_owners.n, own);
}
END_TEST

/* The first of them that has the name in the session, as a walk finds it; NONE. */
static uint32_t walk_tasks(uint32_t session, uint32_t name)
{
	for (uint32_t i = 0; i < model.tasks.n; i++)
		if (model.tasks.v[i].session == session && model.tasks.v[i].id == name)
			return i;
	return NONE;
}

static uint32_t walk_items(uint32_t session, enum item_kind kind, uint32_t name, uint32_t review)
{
	for (uint32_t i = 0; i < model.items.n; i++) {
		struct owner owner = item_owner(&model, &model.items.v[i]);

		if (owner.session == session && owner.review == review &&
		    model.items.v[i].kind == kind && model.items.v[i].id == name)
			return i;
	}
	return NONE;
}

static uint32_t walk_reviews(uint32_t session, uint32_t name)
{
	for (uint32_t i = 0; i < model.reviews.n; i++)
		if (model.reviews.v[i].session == session && model.reviews.v[i].id == name)
			return i;
	return NONE;
}

/* Adds what there is none of, asks for all, and compares with a walk. */
static void meet(struct apply_ctx *a, unsigned what, const char *text)
{
	uint32_t name = model_intern(&model, str_of(text));
	uint32_t review = what % 5 == 4 ? walk_reviews(a->session, name) : NONE;
	enum item_kind kind = what % 2 ? ITEM_FINDING : ITEM_CHANGE;
	struct event e = { .type = EV_ITEM, .item = kind, .id = str_of(text),
			   .deadline_ms = TIME_NONE };
	uint32_t before;

	if (what % 5 == 0) {
		before = walk_tasks(a->session, name);
		before = before == NONE ? model.tasks.n : before;
		ck_assert_uint_eq(task_get(a, name), before);
	} else if (what % 5 == 1) {
		before = walk_reviews(a->session, name);
		before = before == NONE ? model.reviews.n : before;
		ck_assert_uint_eq(review_get(a, name, NONE), before);
	} else if (what % 5 != 2) {
		before = walk_items(a->session, kind, name, review);
		before = before == NONE ? model.items.n : before;
		ck_assert_uint_eq(item_raise(a, &e, NONE, review, 1), before);
	}
	ck_assert_uint_eq(task_named(&model, a->session, name), walk_tasks(a->session, name));
	ck_assert_uint_eq(item_named(&model, a->session, kind, name, review),
			  walk_items(a->session, kind, name, review));
}

/* Names of one thing, of several of a kind, and of several kinds that have one number, too. */
START_TEST(names_lead_to_all_that_have_them)
{
	struct message msg = { .inside = "", .from = known_role_actors[KNOWN_ROLE_PROVIDER] };
	struct apply_ctx a = { .m = &model, .msg = &msg };
	unsigned chance = 1;

	for (unsigned i = 0; i < 3000; i++) {
		char name[16];

		if (i % 100 == 0) { /* numbers begin anew */
			model_release(&model);
			model_init(&model);
			for (unsigned k = 0; k < 2; k++)
				model_session(&model, STR("log"), str_of(k ? "b" : "a"),
					      &null_key, 0);
		}
		chance = chance * 1103515245 + 12345;
		a.session = chance >> 16 & 1;
		snprintf(name, sizeof(name), "n%u", (chance >> 20) % (1 + i % 100 / 4));
		meet(&a, (chance >> 24) % 10, name);
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("model");
	TCase *t = tcase_create("ids");

	tcase_add_checked_fixture(t, setup, teardown);
	suite_add_tcase(suite, t);
	tcase_add_test(t, the_same_again_is_a_note);
	tcase_add_test(t, another_under_the_id_is_an_error);
	tcase_add_test(t, another_time_is_another_message);
	tcase_add_test(t, sessions_have_ids_of_their_own);
	tcase_add_test(t, messages_without_an_id_are_never_the_same);
	tcase_add_loop_test(t, many_ids_are_all_found_and_none_is_mistaken, 0, 4);
	tcase_add_test(t, ids_cost_15_bytes_and_a_fifth);
	t = tcase_create("agents");
	tcase_add_checked_fixture(t, setup, teardown);
	suite_add_tcase(suite, t);
	tcase_add_test(t, who_holds_an_office_has_its_name);
	t = tcase_create("findings");
	tcase_add_checked_fixture(t, setup, teardown);
	suite_add_tcase(suite, t);
	tcase_add_test(t, every_message_is_found_where_it_was);
	tcase_add_test(t, a_log_line_is_like_the_one_before_only_where_it_is);
	tcase_add_test(t, an_item_belongs_to_what_it_was_raised_in);
	tcase_add_test(t, names_lead_to_all_that_have_them);
	tcase_add_test(t, a_finding_says_what_it_was_told);
	tcase_add_test(t, a_quoted_text_is_escaped_byte_by_byte);
	tcase_add_test(t, findings_are_found_by_their_message);
	tcase_add_test(t, a_finding_names_what_is_known);
	tcase_add_test(t, a_text_is_what_printf_makes_of_it);
	tcase_add_test(t, a_long_finding_is_cut);
	return unit_run(suite);
}
