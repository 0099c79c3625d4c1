/* Detection and the walker behind the rule tables.
 *
 * The examples of the five texts and recorded streams (tests/fixtures/examples, streams; the folder
 * names the dialect) each have a file NAME.expect: `LINE is DIALECT KIND` for every message and
 * below it what it deserves, `LINE SEVERITY POINTER RULE` (- for the message as a whole). With
 * GAVEL_REGENERATE=1 in the environment those files are written anew: read the difference. The same
 * messages, and those of the rule cases, feed the matrix of probes. Bad input comes after that. */
#include "dialect/dialect.h"
#include "model/model.h"

#include "unit.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>

enum { MANY = 100000 };

struct fixture {
	const char *path, *expect;
	char *name; /* folder/dialect/file */
	enum dialect_id dialect;
	bool whole; /* .json: the file is one message */
};

static VEC(struct fixture) fixtures;
static struct arena texts;
static const char *root_folder;
static uint32_t cases_from; /* fixtures from here on are rule cases */

static struct str read_file(const char *path)
{
	struct buf b = { 0 };
	struct str text;
	char part[4096];
	size_t n;
	FILE *f = fopen(path, "rb");

	ck_assert_msg(f != NULL, "%s cannot be read", path);
	while ((n = fread(part, 1, sizeof(part), f)))
		buf_add(&b, part, n);
	fclose(f);
	text = arena_str(&texts, buf_str(&b));
	buf_release(&b);
	return text;
}

/* Fills out with the next line; *cut tells that its newline is missing. */
static bool next_line(struct str *rest, struct str *out, bool *cut)
{
	const char *end = rest->n ? memchr(rest->p, '\n', rest->n) : NULL;

	if (!rest->n)
		return false;
	*out = str_make(rest->p, end ? (size_t)(end - rest->p) : rest->n);
	*rest = str_from(*rest, out->n + 1);
	*cut = !end;
	return true;
}

static enum dialect_id find_dialect(const char *name)
{
	enum dialect_id d;

	return dialect_named(str_of(name), &d) ? d : DIALECT_UNKNOWN;
}

static int is_visible(const struct dirent *entry)
{
	return entry->d_name[0] != '.';
}

static void add_fixture(const char *folder, const char *dialect, const char *file)
{
	struct str name = str_of(file);
	struct fixture f = { .dialect = find_dialect(dialect) };
	const char *dot = strrchr(file, '.');

	f.whole = str_ends(name, STR(".json"));
	if (!f.whole && !str_ends(name, STR(".ndjson")))
		return;
	f.name = arena_printf(&texts, "%s/%s/%s", folder, dialect, file);
	f.path = arena_printf(&texts, "%s/%s", root_folder, f.name);
	f.expect = arena_printf(&texts, "%s/%s/%s/%.*s.expect", root_folder, folder, dialect,
				(int)(dot - file), file);
	vec_push(&fixtures, f);
}

static void add_folder(const char *folder)
{
	for (unsigned d = 0; d < dialect_count(); d++) {
		const char *dialect = dialect_name((enum dialect_id)d);
		const char *path = arena_printf(&texts, "%s/%s/%s", root_folder, folder, dialect);
		struct dirent **list;
		int n = scandir(path, &list, is_visible, alphasort);

		for (int i = 0; i < n; i++) {
			add_fixture(folder, dialect, list[i]->d_name);
			free(list[i]);
		}
		if (n >= 0)
			free(list);
	}
}

static void add_cases(void)
{
	static const char *const names[] = { "feedback", "envelope", "collaboration", "handoff",
					     "orchestrator" };

	cases_from = fixtures.n;
	for (int i = 0; i < 5; i++) {
		struct fixture f = { .dialect = find_dialect(names[i]) };

		f.name = arena_printf(&texts, "rules/%s.cases", names[i]);
		f.path = arena_printf(&texts, "%s/%s", root_folder, f.name);
		vec_push(&fixtures, f);
	}
}

/* ---- what the examples and recordings deserve ---- */

static int by_text(const void *left, const void *right)
{
	return strcmp(*(char *const *)left, *(char *const *)right);
}

static void describe(const struct message *m, uint32_t line, struct buf *out)
{
	char **list = xmalloc((m->diags.list.n + 1) * sizeof(*list));
	uint32_t n = m->diags.list.n;

	buf_printf(out, "%u is %s %.*s\n", line, dialect_name(m->dialect), STR_ARG(m->kind));
	for (uint32_t i = 0; i < n; i++) {
		const struct diag *d = &m->diags.list.v[i];

		list[i] = arena_printf(&texts, "%u %s %.*s %s\n", line, severity_name(d->severity),
				       STR_ARG(d->pointer.n ? d->pointer : STR("-")), d->rule);
	}
	qsort(list, n, sizeof(*list), by_text);
	for (uint32_t i = 0; i < n; i++)
		buf_adds(out, list[i]);
	free(list);
}

static unsigned run(const struct fixture *f, struct buf *out)
{
	struct decoder decoder = { 0 };
	struct message message = { 0 };
	struct model model;
	struct str rest = read_file(f->path), line;
	uint32_t number = 0;
	unsigned errors = 0;
	bool cut;

	model_init(&model);
	while (next_line(&rest, &line, &cut)) {
		struct frame_info info = { .flags = cut ? RECORD_TRUNCATED : 0 };
		struct place place = { .line = ++number, .group = STR("fixture") };

		if (f->whole) {
			line = str_make(line.p, line.n + (rest.n ? 1 + rest.n : 0));
			rest = STR_NONE;
		}
		info.full_length = line.n;
		place.length = (uint32_t)line.n;
		dialect_decode(&decoder, line, &info, &message);
		model_apply(&model, &message, &place);
		describe(&message, number, out);
		errors += message.diags.count[SEVERITY_ERROR];
	}
	model_release(&model);
	message_release(&message);
	decoder_release(&decoder);
	return errors;
}

START_TEST(fixture_gets_what_it_deserves)
{
	const struct fixture *f = &fixtures.v[_i];
	struct buf got = { 0 };
	unsigned errors = run(f, &got);
	struct str want;

	if (getenv("GAVEL_REGENERATE")) {
		FILE *out = fopen(f->expect, "wb");

		ck_assert_msg(out && fwrite(got.p, 1, got.n, out) == got.n && fclose(out) == 0,
			      "%s cannot be written", f->expect);
	}
	want = read_file(f->expect);
	ck_assert_msg(str_eq(buf_str(&got), want), "%s: expected:\n%.*sgot:\n%.*s", f->path,
		      STR_ARG(want), STR_ARG(buf_str(&got)));
	ck_assert_msg(errors == 0, "%s: neither examples nor recordings deserve errors", f->path);
	buf_release(&got);
}
END_TEST

/* ---- the matrix: every message × every probe ---- */

static void scores_text(const int *scores, struct buf *out)
{
	for (unsigned d = 0; d < dialect_count(); d++)
		if (scores[d])
			buf_printf(out, " %s %d", dialect_name((enum dialect_id)d), scores[d]);
}

/* The right dialect has the best score, alone, and is what is returned. */
static void assert_wins(const struct fixture *f, unsigned line, yyjson_val *v, struct str bytes)
{
	int scores[DIALECT_MAX];
	enum dialect_id winner = dialect_detect(v, scores);
	struct buf all = { 0 };
	bool alone = true;

	for (unsigned d = 0; d < dialect_count(); d++)
		alone &= d == f->dialect || scores[d] < scores[f->dialect];
	scores_text(scores, &all);
	ck_assert_msg(winner == f->dialect && alone && scores[winner] >= DETECT_MIN,
		      "%s:%u: is %s, but scores are%s: %.*s", f->path, line,
		      dialect_name(f->dialect), all.n ? all.p : " all 0",
		      bytes.n > 300 ? 300 : (int)bytes.n, bytes.p);
	buf_release(&all);
}

/* obj without its member number `left_out` */
static void write_without(struct buf *out, yyjson_val *obj, size_t left_out)
{
	size_t i, n;
	yyjson_val *key, *v;

	buf_clear(out);
	buf_addc(out, '{');
	yyjson_obj_foreach(obj, i, n, key, v) {
		if (i == left_out)
			continue;
		if (out->n > 1)
			buf_addc(out, ',');
		json_write(out, key);
		buf_addc(out, ':');
		json_write(out, v);
	}
	buf_addc(out, '}');
}

static void check_detection(const struct fixture *f, unsigned line, struct str bytes, bool complete)
{
	struct json_reader reader = { 0 }, less_reader = { 0 };
	struct buf less = { 0 };
	yyjson_val *v, *without;

	/* of JSON-RPC one name tells codex or acp */
	complete &= f->dialect != DIALECT_CODEX && f->dialect != DIALECT_ACP;
	json_read(&reader, bytes, &v);
	if (v) { /* else it was cut off */
		assert_wins(f, line, v, bytes);
		for (size_t i = 0; complete && yyjson_obj_size(v) > 2 && i < yyjson_obj_size(v);
		     i++) {
			write_without(&less, v, i);
			json_read(&less_reader, buf_str(&less), &without);
			assert_wins(f, line, without, buf_str(&less));
		}
	}
	buf_release(&less);
	json_reader_release(&reader);
	json_reader_release(&less_reader);
}

START_TEST(right_dialect_wins)
{
	const struct fixture *f = &fixtures.v[_i];
	bool is_cases = (uint32_t)_i >= cases_from;
	struct str rest = read_file(f->path), line;
	unsigned number = 0, messages = 0;
	bool cut;

	if (f->whole) {
		check_detection(f, 1, rest, true);
		return;
	}
	while (next_line(&rest, &line, &cut)) {
		number++;
		if (!line.n || line.p[0] != '{')
			continue;
		messages++;
		/* a message of the cases may lack a field already; those of real agents have a type
		 * or method, without which they could be anybody's */
		check_detection(f, number, line, !is_cases && f->dialect < DIALECT_CLAUDE);
	}
	ck_assert_msg(messages, "%s holds no message", f->path);
}
END_TEST

/* ---- names that have numbers, and names that have none ---- */

static bool same_diags(const struct diags *a, const struct diags *b)
{
	if (a->list.n != b->list.n)
		return false;
	for (uint32_t i = 0; i < a->list.n; i++) {
		const struct diag *x = &a->list.v[i], *y = &b->list.v[i];

		if (x->severity != y->severity || strcmp(x->rule, y->rule) != 0 ||
		    !str_eq(x->pointer, y->pointer) || !str_eq(x->text, y->text))
			return false;
	}
	return true;
}

/* A name with an escape makes another parser read the message: it must be the same to everybody. */
START_TEST(names_without_numbers_are_told_as_well)
{
	const struct fixture *f = &fixtures.v[_i];
	struct str rest = read_file(f->path), line;
	struct decoder decoder = { 0 }, other_decoder = { 0 };
	struct message message = { 0 }, other = { 0 };
	struct buf escaped = { 0 };
	unsigned number = 0;
	bool cut;

	while (next_line(&rest, &line, &cut)) {
		number++;
		if (f->whole) {
			line = str_make(line.p, line.n + (rest.n ? 1 + rest.n : 0));
			rest = STR_NONE;
		}
		if (line.n < 3 || line.p[0] != '{')
			continue;
		buf_clear(&escaped);
		buf_adds(&escaped, "{\"\\u0078-escaped\":0,");
		buf_add_str(&escaped, str_from(line, 1));
		dialect_decode(&decoder, line, NULL, &message);
		dialect_decode(&other_decoder, buf_str(&escaped), NULL, &other);
		if (message.dialect == DIALECT_TEXT)
			continue;
		ck_assert_msg(message.dialect == other.dialect && str_eq(message.kind, other.kind) &&
				      message.time_ms == other.time_ms &&
				      message.sequence == other.sequence &&
				      str_eq(message.from.id, other.from.id) &&
				      str_eq(message.to.type, other.to.type),
			      "%s:%u: another message", f->path, number);
		ck_assert_msg(message.events.n == other.events.n, "%s:%u: other events", f->path,
			      number);
		for (uint32_t i = 0; i < message.events.n; i++) {
			const struct event *x = &message.events.v[i], *y = &other.events.v[i];

			ck_assert_msg(x->type == y->type && str_eq(x->id, y->id) &&
					      str_eq(x->other, y->other) && x->index == y->index,
				      "%s:%u: event %u is another", f->path, number, i);
		}
		ck_assert_msg(same_diags(&message.diags, &other.diags), "%s:%u: other diagnostics",
			      f->path, number);
	}
	buf_release(&escaped);
	message_release(&message);
	message_release(&other);
	decoder_release(&decoder);
	decoder_release(&other_decoder);
}
END_TEST

/* ---- formats, which are looked at by eight bytes ---- */

static bool is_hex(unsigned char c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

START_TEST(uuid_is_one_in_every_byte)
{
	const char good[] = "00988e56-4F65-409b-b6f0-ff8fbf4b1e9b";
	char text[sizeof(good)];

	for (size_t i = 0; i < sizeof(good) - 1; i++)
		for (unsigned c = 0; c < 256; c++) {
			bool right = good[i] == '-' ? c == '-' : is_hex((unsigned char)c);
			bool fourth = (i != 14 || c == '4') && (i != 19 || (c && strchr("89abAB", (int)c)));

			memcpy(text, good, sizeof(good));
			text[i] = (char)c;
			ck_assert_msg(is_uuid(str_make(text, 36), false) == right, "%u at %zu", c, i);
			ck_assert_msg(is_uuid(str_make(text, 36), true) == (right && fourth), "%u at %zu", c, i);
		}
	ck_assert(!is_uuid(str_make(good, 35), false));
	ck_assert(!is_uuid(STR("00988e56-4F65-409b-b6f0-ff8fbf4b1e9b0"), false));
}
END_TEST

/* Short, of eight and sixteen bytes, longer, and alike but in the middle. */
static const char *const some_values[] = {
	"a", "b", "ab", "abcdefgh", "abcdefgi", "abcdefghijklmnop", "abcdefghijklmnoq",
	"abcdefghijklmnop-1-qrstuvwx", "abcdefghijklmnop-2-qrstuvwx", "abcdefghijklmnop-3-qrstuvwx",
	"abcdefghijklmnop-qrstuvwx", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l", "m", "n", NULL
};
static const struct field some_fields[] = { { .name = "value", .types = T_STR, .values = some_values } };
static const struct shape some_shape = { SHAPE_FIELDS(some_fields) };

START_TEST(a_value_has_its_number_and_others_have_none)
{
	static struct names names;
	struct json_reader reader = { 0 };
	yyjson_val *root;

	shapes_compile(&some_shape, &names);
	for (int i = 0; some_values[i]; i++)
		for (int more = 0; more < 3; more++) {
			char text[64];
			int expect = -1;

			/* as it is, with another byte behind it, and without its last */
			snprintf(text, sizeof(text), "\"%s%s\"", some_values[i], more == 1 ? "x" : "");
			if (more == 2)
				memcpy(text + strlen(some_values[i]), "\"", 2);
			ck_assert_int_eq(json_read(&reader, str_of(text), &root), JSON_OK);
			for (int k = 0; some_values[k]; k++)
				expect = str_is(json_str(root), some_values[k]) ? k : expect;
			ck_assert_msg(value_number(&some_shape, 0, root) == expect, "%s", text);
		}
	json_reader_release(&reader);
}
END_TEST

START_TEST(item_id_is_one_in_every_byte)
{
	char text[200];

	for (size_t n = 0; n <= 130; n++) {
		bool fits = n >= 8 && n <= 128;

		memset(text, 'a', sizeof(text));
		ck_assert_msg(is_item_id(str_make(text, n)) == fits, "%zu bytes", n);
		for (size_t i = 0; fits && n < 20 && i < n; i++)
			for (unsigned c = 0; c < 256; c++) {
				bool right = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') ||
					     c == '.' || c == '_' || c == '-';

				text[i] = (char)c;
				ck_assert_msg(is_item_id(str_make(text, n)) == right,
					      "%u at %zu of %zu", c, i, n);
				text[i] = 'a';
			}
	}
}
END_TEST

START_TEST(fixtures_are_there)
{
	unsigned examples = 0, streams = 0, of[DIALECT_MAX] = { 0 };

	for (uint32_t i = 0; i < cases_from; i++) {
		bool is_example = str_starts(str_of(fixtures.v[i].name), STR("examples/"));

		examples += is_example;
		streams += !is_example;
		of[fixtures.v[i].dialect]++;
	}
	ck_assert_msg(examples >= 20 && streams >= 10, "%u examples and %u streams in %s", examples,
		      streams, root_folder);
	for (unsigned d = DIALECT_FEEDBACK; d < dialect_count(); d++)
		ck_assert_msg(of[d] > 0, "no fixture of %s", dialect_name((enum dialect_id)d));
}
END_TEST

START_TEST(what_is_no_message_is_unknown)
{
	static const char *const lines[] = { "{}", "[]", "42", "\"text\"", "null", "true",
					     "{\"type\":\"module\",\"version\":1}",
					     "{\"id\":7,\"status\":\"ok\"}",
					     "{\"level\":\"info\",\"msg\":\"x\",\"time\":1}" };
	struct json_reader reader = { 0 };
	int scores[DIALECT_MAX];
	yyjson_val *v;

	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		ck_assert_int_eq(json_read(&reader, str_of(lines[i]), &v), JSON_OK);
		ck_assert_msg(dialect_detect(v, scores) == DIALECT_UNKNOWN, "%s", lines[i]);
		for (unsigned d = 0; d < dialect_count(); d++)
			ck_assert_int_lt(scores[d], DETECT_MIN);
	}
	json_reader_release(&reader);
}
END_TEST

/* ---- one message at a time ---- */

static struct decoder decoder;
static struct message message;
static struct buf line;

static void set_up(void)
{
	memset(&decoder, 0, sizeof(decoder));
	memset(&message, 0, sizeof(message));
	line = (struct buf){ 0 };
}

static void tear_down(void)
{
	decoder_release(&decoder);
	message_release(&message);
	buf_release(&line);
	arena_release(&texts);
}

static void decode(struct str bytes)
{
	struct frame_info info = { .full_length = bytes.n };

	dialect_decode(&decoder, bytes, &info, &message);
}

static void decode_text(const char *zero_terminated)
{
	decode(str_of(zero_terminated));
}

static const char *got(void)
{
	struct buf b = { 0 };
	const char *text;

	for (uint32_t i = 0; i < message.diags.list.n && i < 20; i++) {
		const struct diag *d = &message.diags.list.v[i];

		buf_printf(&b, "\n  %s %.*s %s: %.*s", severity_name(d->severity),
			   STR_ARG(d->pointer), d->rule, STR_ARG(d->text));
	}
	text = arena_str(&texts, b.n ? buf_str(&b) : STR(" nothing")).p;
	buf_release(&b);
	return text;
}

/* NULL: any */
static unsigned count(enum severity s, const char *pointer, const char *rule)
{
	unsigned n = 0;

	for (uint32_t i = 0; i < message.diags.list.n; i++) {
		const struct diag *d = &message.diags.list.v[i];

		n += d->severity == s && (!rule || strcmp(d->rule, rule) == 0) &&
		     (!pointer || str_is(d->pointer, pointer));
	}
	return n;
}

#define assert_told(severity, pointer, rule) \
	ck_assert_msg(count(severity, pointer, rule) == 1, "expected %s %s, got:%s", pointer, rule, \
		      got())
#define assert_clean() \
	ck_assert_msg(message.diags.list.n == 0, "expected no diagnostics, got:%s", got())
#define assert_message(dialect_, kind_) \
	do { \
		ck_assert_str_eq(dialect_name(message.dialect), dialect_name(dialect_)); \
		assert_str(message.kind, kind_); \
	} while (0)

static const struct event *find_event(enum event_type type)
{
	for (uint32_t i = 0; i < message.events.n; i++)
		if (message.events.v[i].type == type)
			return &message.events.v[i];
	ck_abort_msg("no event of type %d", (int)type);
	return NULL;
}

/* Whether the decoded message's only item cannot be decided. */
static bool item_is_undecidable(void)
{
	struct model model;
	struct place place = { .line = 1, .group = STR("s") };
	struct item_state state;

	model_init(&model);
	model_apply(&model, &message, &place);
	ck_assert_uint_eq(model.items.n, 1);
	ck_assert(item_at(&model, &model.items.v[0], 1, TIME_NONE, &state));
	model_release(&model);
	return state.undecidable;
}

/* A Response with one item; its parts may be replaced. */
#define ITEM(id) \
	"{\"id\":\"" id "\",\"aspect\":\"a\",\"description\":\"d\",\"recommendation\":\"r\"}"
#define FEEDBACK(items, summary) \
	"{\"confidence\":{\"level\":\"high\",\"justification\":\"j\"},\"positive_points\":[]," \
	"\"areas_for_improvement\":[" items "],\"general_summary\":\"" summary "\"}"
#define RESPONSE(iteration, more, items) \
	"{\"protocol_version\":\"1.2\",\"iteration\":" iteration ",\"status\":\"success\"" more \
	",\"feedback\":" FEEDBACK(items, "s") "}"
#define REQUEST(more) \
	"{\"protocol_version\":\"1.2\",\"iteration\":1" more \
	",\"artifact\":{\"media_type\":\"text/plain\",\"content\":\"c\"}}"
#define COLLABORATION(type, from, to, payload) \
	"{\"message_id\":\"00000000-0000-4000-8000-000000000001\"," \
	"\"timestamp\":\"2026-01-26T10:00:00Z\",\"sequence_number\":1," \
	"\"from_agent\":{\"agent_id\":\"a\",\"agent_type\":\"" from "\"}," \
	"\"to_agent\":{\"agent_id\":\"b\",\"agent_type\":\"" to "\"}," \
	"\"message_type\":\"" type "\",\"payload\":" payload "}"
#define FINDING(id) \
	"{\"finding_id\":\"" id "\",\"severity\":\"minor\",\"category\":\"bug\"," \
	"\"location\":{\"file\":\"f\"},\"description\":\"d\",\"rationale\":\"r\"}"
#define REVIEW_HEAD \
	"{\"review_id\":\"R1\",\"task_id\":\"T1\",\"verdict\":\"changes_requested\"," \
	"\"verification\":{\"tests\":{\"passed\":true},\"type_check\":{\"passed\":true}," \
	"\"custom\":{}},\"summary\":\"s\",\"findings\":["

/* The text line of a tool, with this text in it. */
static void decode_part(struct str text)
{
	buf_clear(&line);
	buf_adds(&line, "{\"type\":\"text\",\"timestamp\":1,\"sessionID\":\"s\",\"part\":{\"type\":"
			"\"text\",\"text\":");
	json_write_str(&line, text);
	buf_adds(&line, "}}");
	decode(buf_str(&line));
}

START_TEST(pointers_escape_tilde_and_slash)
{
	decode_text(RESPONSE("1", ",\"a/b~c\":1,\"\":2", ITEM("scope-01")));
	assert_told(SEVERITY_ERROR, "/a~1b~0c", "feedback/6-x-prefix");
	assert_told(SEVERITY_ERROR, "/", "feedback/6-x-prefix");
	decode_text(COLLABORATION("review_result", "reviewer", "architect",
				  "{\"review_id\":\"R1\",\"task_id\":\"T1\",\"verdict\":\"rejected\","
				  "\"findings\":[],\"verification\":{\"tests\":{\"passed\":true},"
				  "\"type_check\":{\"passed\":true},\"custom\":{\"e2e/a~b\":"
				  "{\"passed\":\"yes\"}}},\"summary\":\"s\"}"));
	assert_told(SEVERITY_ERROR, "/payload/verification/custom/e2e~1a~0b/passed",
		    "collaboration/2.2.5-passed");
	ck_assert_uint_eq(message.diags.count[SEVERITY_ERROR], 1);
}
END_TEST

START_TEST(pointers_count_elements_and_go_on_inside_text)
{
	decode_text(RESPONSE("1", "", ITEM("scope-01") "," ITEM("scope-02") "," ITEM("BAD")));
	assert_told(SEVERITY_ERROR, "/feedback/areas_for_improvement/2/id", "feedback/4.1.3-id");
	decode_part(STR(RESPONSE("1", "", ITEM("scope-01") ",7")));
	assert_message(DIALECT_FEEDBACK, "response");
	assert_told(SEVERITY_ERROR, "/part/text/feedback/areas_for_improvement/1",
		    "feedback/4.1-areas_for_improvement");
	ck_assert_uint_eq(message.diags.list.n, 1);
}
END_TEST

START_TEST(duplicate_names_make_a_message_ambiguous)
{
	static const struct {
		const char *text, *pointer;
	} rows[] = {
		{ RESPONSE("1", ",\"iteration\":2", ""), "/iteration" },
		{ RESPONSE("1", "", "{\"id\":\"scope-01\",\"id\":\"scope-02\",\"aspect\":\"a\","
				    "\"description\":\"d\",\"recommendation\":\"r\"}"),
		  "/feedback/areas_for_improvement/0/id" },
		{ REQUEST(",\"artifact\":{\"media_type\":\"text/plain\",\"content\":\"d\"}"),
		  "/artifact" },
		{ COLLABORATION("feedback", "architect", "developer",
				"{\"feedback_type\":\"question\",\"subject\":\"s\",\"content\":\"c\","
				"\"action_required\":false,\"action_required\":true}"),
		  "/payload/action_required" },
		{ "{\"task_id\":\"t\",\"decision\":\"reject\",\"decision\":\"approve\","
		  "\"rationale\":\"r\",\"state_version\":\"v\","
		  "\"created_at\":\"2026-01-26T10:00:00Z\"}",
		  "/decision" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		decode_text(rows[i].text);
		assert_told(SEVERITY_ERROR, rows[i].pointer, "json/duplicate-name");
		ck_assert_msg(message.flags & RECORD_AMBIGUOUS, "%s", rows[i].text);
	}
	decode_part(STR(RESPONSE("1", ",\"iteration\":2", "")));
	assert_told(SEVERITY_ERROR, "/part/text/iteration", "json/duplicate-name");
	ck_assert(message.flags & RECORD_AMBIGUOUS);
	/* the same name in two objects is nothing special */
	decode_text(RESPONSE("1", "", ITEM("scope-01") "," ITEM("scope-02")));
	assert_clean();
	ck_assert(!(message.flags & RECORD_AMBIGUOUS));
}
END_TEST

START_TEST(items_of_an_ambiguous_message_cannot_be_decided)
{
	decode_text(RESPONSE("1", "", ITEM("scope-01")));
	ck_assert(!item_is_undecidable());
	decode_text(RESPONSE("1", ",\"iteration\":2", ITEM("scope-01")));
	ck_assert(item_is_undecidable());
}
END_TEST

/* numbers that are none, or not of the kind a counter needs */
static const char *const bad_counters[] = { "18446744073709551616", "9223372036854775808", "1e999",
					    "-1e999", "-1", "1.5", "\"3\"", "null", "true", "[1]",
					    "{}" };
static const char *const good_counters[] = { "1", "3", "3.0", "3e0", "1000000" };
enum { BAD_COUNTERS = 11, GOOD_COUNTERS = 5 };

static void decode_iteration(const char *number)
{
	buf_clear(&line);
	buf_printf(&line,
		   "{\"protocol_version\":\"1.2\",\"iteration\":%s,\"status\":\"success\","
		   "\"feedback\":%s}",
		   number, FEEDBACK(ITEM("scope-01"), "s"));
	decode(buf_str(&line));
}

START_TEST(numbers_of_a_feedback_iteration)
{
	for (int i = 0; i < BAD_COUNTERS; i++) {
		decode_iteration(bad_counters[i]);
		assert_message(DIALECT_FEEDBACK, "response");
		ck_assert_msg(count(SEVERITY_ERROR, "/iteration", "feedback/4-iteration") == 1,
			      "%s: got:%s", bad_counters[i], got());
		ck_assert_int_eq(find_event(EV_TURN_ANSWER)->iteration, 0);
		assert_str(find_event(EV_ITEM)->id, "scope-01");
	}
	for (int i = 0; i < GOOD_COUNTERS; i++) {
		decode_iteration(good_counters[i]);
		assert_clean();
		ck_assert_int_gt(find_event(EV_TURN_ANSWER)->iteration, 0);
		ck_assert(!item_is_undecidable());
	}
}
END_TEST

START_TEST(item_is_undecidable_without_the_iteration_its_reply_needs)
{
	for (int i = 0; i < BAD_COUNTERS; i++) {
		decode_iteration(bad_counters[i]);
		ck_assert_msg(item_is_undecidable(), "iteration %s", bad_counters[i]);
	}
}
END_TEST

START_TEST(numbers_of_a_sequence_and_of_progress)
{
	static const char *const bad_fractions[] = { "18446744073709551616", "1e999", "-1", "1.5",
						     "\"0.5\"", "null" };
	struct str query = STR(COLLABORATION("status_query", "architect", "developer", "{}"));
	struct str one = STR("\"sequence_number\":1,");
	size_t at = (size_t)str_find(query, one, 0);

	for (int i = 0; i < BAD_COUNTERS; i++) {
		buf_clear(&line);
		buf_add(&line, query.p, at);
		buf_printf(&line, "\"sequence_number\":%s,", bad_counters[i]);
		buf_add_str(&line, str_from(query, at + one.n));
		decode(buf_str(&line));
		ck_assert_msg(count(SEVERITY_ERROR, "/sequence_number",
				    "collaboration/2.1-sequence_number") == 1,
			      "%s: got:%s", bad_counters[i], got());
		ck_assert_int_eq(message.sequence, -1);
	}
	for (size_t i = 0; i < sizeof(bad_fractions) / sizeof(bad_fractions[0]); i++) {
		buf_clear(&line);
		buf_printf(&line,
			   "{\"type\":\"event:progress\",\"id\":"
			   "\"00000000-0000-4000-8000-000000000001\",\"timestamp\":"
			   "\"2026-02-04T14:30:00Z\",\"payload\":{\"taskId\":\"t\",\"progress\":%s,"
			   "\"message\":\"m\"}}",
			   bad_fractions[i]);
		decode(buf_str(&line));
		/* numbers out of range come third and fourth; the others are no numbers */
		assert_told(i == 2 || i == 3 ? SEVERITY_WARNING : SEVERITY_ERROR,
			    "/payload/progress", "orchestrator/progress-progress");
		ck_assert(find_event(EV_TASK_STATE)->number < 0);
	}
}
END_TEST

START_TEST(half_a_surrogate_pair_is_repaired_and_said)
{
	decode_text(RESPONSE("1", "", "{\"id\":\"scope-01\",\"aspect\":\"\\ud83d\",\"description\":"
				      "\"\\ude80 x\",\"recommendation\":\"\\ud83d\\ude80\"}"));
	ck_assert(message.flags & RECORD_REPAIRED);
	assert_told(SEVERITY_WARNING, "", "json/repaired");
	ck_assert_uint_eq(message.diags.list.n, 1);
	ck_assert(!item_is_undecidable());
	/* in an id: what it was is lost */
	decode_text(RESPONSE("1", "", ITEM("scope-01\\ud800")));
	ck_assert(message.flags & RECORD_REPAIRED);
	ck_assert(item_is_undecidable());
	/* a whole pair is nothing special */
	decode_text(RESPONSE("1", ",\"x-mood\":\"\\ud83d\\ude80\"", ""));
	assert_clean();
	ck_assert(!(message.flags & RECORD_REPAIRED));
}
END_TEST

START_TEST(repair_inside_text_is_said_too)
{
	decode_part(STR(RESPONSE("1", "", "{\"id\":\"scope-01\",\"aspect\":\"\\ud83d\","
					  "\"description\":\"d\",\"recommendation\":\"r\"}")));
	assert_message(DIALECT_FEEDBACK, "response");
	ck_assert(message.flags & RECORD_REPAIRED);
	ck_assert_msg(count(SEVERITY_WARNING, NULL, "json/repaired") == 1,
		      "expected json/repaired, got:%s", got());
}
END_TEST

START_TEST(finding_whose_id_was_repaired_is_undecidable)
{
	decode_text(COLLABORATION("review_result", "reviewer", "architect",
				  REVIEW_HEAD FINDING("F\\ud800") "]}"));
	ck_assert(message.flags & RECORD_REPAIRED);
	ck_assert(item_is_undecidable());
}
END_TEST

START_TEST(bytes_that_are_not_utf8_are_repaired)
{
	decode(STR("{\"success\":true,\"summary\":\"a\xff\xfe"
		   "b\",\"artifacts\":[],\"recommendation\":\"proceed\"}"));
	assert_message(DIALECT_ENVELOPE, "output");
	ck_assert(message.flags & RECORD_REPAIRED);
	assert_told(SEVERITY_WARNING, "", "json/repaired");
	decode(STR("\x1f\x8b\x08\0\0binary"));
	assert_message(DIALECT_TEXT, "log");
	ck_assert(message.flags & RECORD_BINARY);
	assert_clean();
}
END_TEST

START_TEST(nul_in_an_id_is_no_id)
{
	decode_text(RESPONSE("1", "", ITEM("scope-01\\u0000x")));
	assert_told(SEVERITY_ERROR, "/feedback/areas_for_improvement/0/id", "feedback/4.1.3-id");
	assert_str(find_event(EV_ITEM)->id, "scope-01\0x");
	ck_assert(item_is_undecidable());
	decode_text(COLLABORATION("review_result", "reviewer", "architect",
				  REVIEW_HEAD FINDING("F1\\u0000") "]}"));
	assert_str(find_event(EV_ITEM)->id, "F1\0");
	ck_assert(item_is_undecidable());
	decode_text("{\"type\":\"request:ask-user\",\"id\":\"q\\u0000\",\"timestamp\":"
		    "\"2026-02-04T14:30:00Z\",\"payload\":{\"question\":\"q\"}}");
	assert_told(SEVERITY_ERROR, "/id", "orchestrator/base-id");
	assert_str(message.id, "q\0");
}
END_TEST

START_TEST(nul_in_an_id_is_an_error_everywhere)
{
	decode_text(COLLABORATION("review_result", "reviewer", "architect",
				  REVIEW_HEAD FINDING("F1\\u0000") "]}"));
	assert_told(SEVERITY_ERROR, "/payload/findings/0/finding_id", "collaboration/2.2.5-finding_id");
	decode_text("{\"task_id\":\"t\\u0000\",\"decision\":\"approve\",\"rationale\":\"r\","
		    "\"state_version\":\"v\",\"created_at\":\"2026-01-26T10:00:00Z\"}");
	assert_told(SEVERITY_ERROR, "/task_id", "handoff/decision-task_id");
}
END_TEST

START_TEST(question_with_nul_in_its_id_is_undecidable)
{
	decode_text("{\"type\":\"request:ask-user\",\"id\":\"q\\u0000\",\"timestamp\":"
		    "\"2026-02-04T14:30:00Z\",\"payload\":{\"question\":\"q\"}}");
	ck_assert(item_is_undecidable());
}
END_TEST

/* ---- depth, size, number ---- */

static void add_times(const char *text, size_t times)
{
	for (size_t i = 0; i < times; i++)
		buf_adds(&line, text);
}

START_TEST(depth_128_is_read_and_129_is_not)
{
	for (int depth = 127; depth <= 130; depth++) {
		buf_clear(&line);
		buf_adds(&line, "{\"success\":true,\"summary\":\"s\",\"artifacts\":[],"
				"\"recommendation\":\"proceed\",\"x-deep\":");
		add_times("[", (size_t)depth - 1); /* and the outer object */
		add_times("]", (size_t)depth - 1);
		buf_adds(&line, "}");
		decode(buf_str(&line));
		if (depth <= 128) {
			assert_message(DIALECT_ENVELOPE, "output");
			assert_clean();
		} else {
			assert_message(DIALECT_TEXT, "log");
			assert_told(SEVERITY_WARNING, "", "json/depth");
		}
	}
	/* brackets in strings are text */
	buf_clear(&line);
	buf_adds(&line, "{\"success\":true,\"summary\":\"");
	add_times("[{\\\"", 1000);
	buf_adds(&line, "\",\"artifacts\":[],\"recommendation\":\"proceed\"}");
	decode(buf_str(&line));
	assert_message(DIALECT_ENVELOPE, "output");
	assert_clean();
}
END_TEST

START_TEST(million_brackets_are_a_log_line)
{
	static const char *const units[] = { "[", "{", "{\"a\":", "[{\"\":" };

	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		buf_clear(&line);
		add_times(units[i], 1000000);
		decode(buf_str(&line));
		assert_message(DIALECT_TEXT, "log");
		assert_told(SEVERITY_WARNING, "", "json/depth");
		ck_assert_uint_eq(message.events.n, 0);
	}
}
END_TEST

START_TEST(million_brackets_inside_text_are_prose)
{
	static const char *const units[] = { "[", "{", "{\"", "{}", "{\"a\":1} " };
	struct buf text = { 0 };

	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		buf_clear(&text);
		for (int k = 0; k < 1000000; k++)
			buf_adds(&text, units[i]);
		decode_part(buf_str(&text));
		assert_message(DIALECT_FEEDBACK, "text");
		assert_clean();
	}
	buf_release(&text);
}
END_TEST

START_TEST(response_is_found_in_a_text)
{
	static const char *const around[][2] = {
		{ "", "" },
		{ "\n  ", "  \n" },
		{ "```json\n", "\n```" },
		{ "```\n", "\n```\nDone." },
		{ "Here is {my} review, \"as asked\":\n\n", "" },
		{ "I looked at {\"a\": 1} first.\n```json\n", "\n```\nLet me know {if} it helps!" },
		{ "It's } unbalanced. ", " and { so on" },
	};
	static const struct str answer = { RESPONSE("2", "", ITEM("scope-01")),
					   sizeof(RESPONSE("2", "", ITEM("scope-01"))) - 1 };
	struct buf text = { 0 };

	for (size_t i = 0; i < sizeof(around) / sizeof(around[0]); i++) {
		buf_clear(&text);
		buf_adds(&text, around[i][0]);
		buf_add_str(&text, answer);
		buf_adds(&text, around[i][1]);
		decode_part(buf_str(&text));
		ck_assert_msg(str_is(message.kind, "response"), "not found: %.*s",
			      STR_ARG(buf_str(&text)));
		assert_clean();
		ck_assert_int_eq(find_event(EV_TURN_ANSWER)->iteration, 2);
		assert_str(find_event(EV_ITEM)->id, "scope-01");
	}
	/* of two, the last is the answer */
	decode_part(STR("First " RESPONSE("1", "", "") " no, rather " RESPONSE("7", "", "") "."));
	ck_assert_int_eq(find_event(EV_TURN_ANSWER)->iteration, 7);
	/* also where many objects are inside the first, or one that is none comes behind it */
	buf_clear(&text);
	buf_adds(&text, "First {\"a\":[{}");
	for (int i = 0; i < 100; i++)
		buf_adds(&text, ",{}");
	buf_adds(&text, "]} then " RESPONSE("5", "", ITEM("scope-01")) " of {\"b\":2}.");
	decode_part(buf_str(&text));
	ck_assert_int_eq(find_event(EV_TURN_ANSWER)->iteration, 5);
	assert_str(find_event(EV_ITEM)->id, "scope-01");
	assert_clean();
	buf_release(&text);
}
END_TEST

START_TEST(text_without_a_response_is_prose)
{
	static const char *const texts_[] = { "", " ", "Hello.", "{}", "{\"a\":1}", "[1,2]", "null",
					      "```json\n{\"files\":[]}\n```", "{ not json",
					      "\"status\" is what I ask for" };

	for (size_t i = 0; i < sizeof(texts_) / sizeof(texts_[0]); i++) {
		decode_part(str_of(texts_[i]));
		assert_message(DIALECT_FEEDBACK, "text");
		assert_clean();
		ck_assert_uint_eq(message.events.n, 0);
	}
	/* meant to be one, but cut off */
	decode_part(STR("{\"protocol_version\":\"1.2\",\"iteration\":1,\"status\":\"succ"));
	assert_message(DIALECT_FEEDBACK, "text");
	assert_told(SEVERITY_ERROR, "/part/text", "feedback/2.2.1-part.text");
}
END_TEST

START_TEST(response_inside_a_responses_string_is_just_text)
{
	struct buf inner = { 0 };

	buf_adds(&inner, "{\"protocol_version\":\"1.2\",\"iteration\":1,\"status\":\"error\","
			 "\"error\":{\"code\":\"INTERNAL_ERROR\",\"message\":");
	json_write_str(&inner, STR(RESPONSE("9", "", ITEM("inner-01"))));
	buf_adds(&inner, "}}");
	decode_part(buf_str(&inner));
	assert_message(DIALECT_FEEDBACK, "response");
	assert_clean();
	ck_assert_int_eq(find_event(EV_TURN_ANSWER)->iteration, 1);
	ck_assert_int_eq(find_event(EV_ITEM)->item, ITEM_ERROR);
	buf_release(&inner);
}
END_TEST

START_TEST(five_mebibytes_of_text)
{
	struct buf text = { 0 };

	buf_adds(&text, "Prose with {braces} and \"quotes\".\n```json\n"
			"{\"protocol_version\":\"1.2\",\"iteration\":1,\"status\":\"error\","
			"\"error\":{\"code\":\"INTERNAL_ERROR\",\"message\":\"");
	while (text.n < (5u << 20))
		buf_adds(&text, "\\u001b[31m {\\\"a\\\": [ } ");
	buf_adds(&text, "\"}}\n```\n");
	decode_part(buf_str(&text));
	assert_message(DIALECT_FEEDBACK, "response");
	assert_clean();
	/* the same without an end */
	text.n -= 10;
	decode_part(buf_str(&text));
	assert_message(DIALECT_FEEDBACK, "text");
	assert_told(SEVERITY_ERROR, "/part/text", "feedback/2.2.1-part.text");
	buf_release(&text);
}
END_TEST

START_TEST(own_fields_start_with_x_dash)
{
	static const char *const names[] = { "provider", "X-provider", "x_provider", "xprovider",
					     "_x-", "" };

	decode_text(RESPONSE("1", ",\"x-provider\":{\"sub\":{}},\"x-\":1", ITEM("scope-01")));
	assert_clean();
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		char pointer[64];

		buf_clear(&line);
		buf_printf(&line,
			   "{\"protocol_version\":\"1.2\",\"iteration\":1,\"status\":\"success\","
			   "\"%s\":1,\"feedback\":%s}",
			   names[i], FEEDBACK("", "s"));
		decode(buf_str(&line));
		snprintf(pointer, sizeof(pointer), "/%s", names[i]);
		assert_told(SEVERITY_ERROR, pointer, "feedback/6-x-prefix");
		ck_assert_uint_eq(message.diags.list.n, 1);
	}
	/* what a requester puts into its content is its own business, as is the tool's wrapper */
	decode_text("{\"protocol_version\":\"1.2\",\"iteration\":1,\"artifact\":{\"media_type\":"
		    "\"application/json\",\"content\":{\"session_id\":1,\"own\":2}}}");
	assert_clean();
	decode_text("{\"type\":\"step_start\",\"timestamp\":1,\"sessionID\":\"s\",\"own\":1,\"part\":"
		    "{\"sessionID\":\"s\",\"own\":2}}");
	assert_clean();
}
END_TEST

START_TEST(session_fields_are_refused_by_any_name)
{
	static const char *const names[] = { "sessionID", "session_id", "sessionId", "SessionID",
					     "session-id", "session", "SESSION_ID", "session id",
					     "session_state" };
	static const char *const places[] = { "", "/feedback", "/feedback/confidence",
					      "/feedback/positive_points/0",
					      "/feedback/areas_for_improvement/0",
					      "/applied_feedback_ack",
					      "/applied_feedback_ack/items/0" };
	enum { PLACES = sizeof(places) / sizeof(places[0]) };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		for (int p = 0; p < PLACES; p++) {
			char own[PLACES][48] = { "" }, pointer[96];

			snprintf(own[p], sizeof(own[p]), ",\"%s\":\"s\"", names[i]);
			buf_clear(&line);
			buf_printf(&line,
				   "{\"protocol_version\":\"1.2\",\"iteration\":1,"
				   "\"status\":\"success\"%s,\"feedback\":{\"confidence\":{\"level\":"
				   "\"low\",\"justification\":\"j\"%s},\"positive_points\":[{"
				   "\"aspect\":\"a\",\"justification\":\"j\"%s}],"
				   "\"areas_for_improvement\":[{\"id\":\"scope-01\",\"aspect\":\"a\","
				   "\"description\":\"d\",\"recommendation\":\"r\"%s}],"
				   "\"general_summary\":\"s\"%s},\"applied_feedback_ack\":{\"items\":"
				   "[{\"id\":\"scope-00\",\"processing_status\":\"acknowledged\"%s}]"
				   "%s}}",
				   own[0], own[2], own[3], own[4], own[1], own[6], own[5]);
			decode(buf_str(&line));
			snprintf(pointer, sizeof(pointer), "%s/%s", places[p], names[i]);
			assert_message(DIALECT_FEEDBACK, "response");
			assert_told(SEVERITY_ERROR, pointer, "feedback/2.1-session-field");
			ck_assert_msg(message.diags.list.n == 1, "got:%s", got());
		}
	}
	decode_text(REQUEST(",\"session_id\":\"s\""));
	assert_message(DIALECT_FEEDBACK, "request");
	assert_told(SEVERITY_ERROR, "/session_id", "feedback/2.1-session-field");
	decode_text(REQUEST(",\"sessionID\":\"s\""));
	assert_message(DIALECT_FEEDBACK, "request");
	assert_told(SEVERITY_ERROR, "/sessionID", "feedback/2.1-session-field");
	/* no session in it */
	decode_text(REQUEST(",\"obsession\":\"s\""));
	assert_told(SEVERITY_NOTE, "/obsession", "feedback/3-unlisted-field");
}
END_TEST

/* ---- every field of every message that is right, with a value of another type ---- */

/* What the texts leave open: any value may stand there, or below. */
static const char *const open_fields[] = {
	"/artifact/content", "/task/params/", "/context/goal", "/output/type", "/x-",
	"/part/state/input", "/part/state/output", "/context/rows", "/context/files",
	"/payload/payload/", "/error/details/", "/metadata/", "/currentTask",
};

struct swap {
	struct buf text, pointer; /* the message with one value exchanged, and which */
	unsigned target, seen;
};

static void write_swapped(struct swap *s, yyjson_val *v, struct buf *path);

static void write_members(struct swap *s, yyjson_val *v, struct buf *path)
{
	bool is_object = yyjson_is_obj(v);
	size_t i, n, here = path->n;
	yyjson_val *key, *member;

	buf_addc(&s->text, is_object ? '{' : '[');
	if (is_object)
		yyjson_obj_foreach(v, i, n, key, member) {
			if (i)
				buf_addc(&s->text, ',');
			json_write(&s->text, key);
			buf_addc(&s->text, ':');
			json_pointer_add(path, json_str(key));
			write_swapped(s, member, path);
			path->n = here;
		}
	else
		yyjson_arr_foreach(v, i, n, member) {
			if (i)
				buf_addc(&s->text, ',');
			buf_printf(path, "/%zu", i);
			write_swapped(s, member, path);
			path->n = here;
		}
	buf_addc(&s->text, is_object ? '}' : ']');
}

static void write_swapped(struct swap *s, yyjson_val *v, struct buf *path)
{
	bool is_number = json_is_number(v), is_leaf = !yyjson_is_ctn(v);

	if (path->n && s->seen++ == s->target) {
		buf_add_str(&s->pointer, buf_str(path));
		buf_adds(&s->text, is_number || yyjson_is_bool(v) ? "\"yes\"" : "7");
	} else if (is_leaf) {
		json_write(&s->text, v);
	} else {
		write_members(s, v, path);
	}
}

static bool is_open(struct str pointer)
{
	for (size_t i = 0; i < sizeof(open_fields) / sizeof(open_fields[0]); i++)
		if (str_find(pointer, str_of(open_fields[i]), 0) >= 0)
			return true;
	return false;
}

static void check_types(const struct fixture *f, unsigned number, yyjson_val *root)
{
	struct swap s = { 0 };
	struct buf path = { 0 };

	for (;; s.target++) {
		s.seen = 0;
		buf_clear(&s.text);
		buf_clear(&s.pointer);
		buf_clear(&path);
		write_swapped(&s, root, &path);
		if (!s.pointer.n)
			break;
		if (is_open(buf_str(&s.pointer)))
			continue;
		decode(buf_str(&s.text));
		ck_assert_msg(message.dialect == f->dialect, "%s:%u: not found any more: %.*s",
			      f->path, number, STR_ARG(buf_str(&s.text)));
		ck_assert_msg(count(SEVERITY_ERROR, s.pointer.p, NULL) > 0,
			      "%s:%u: expected an error at %s, got:%s\n%.*s", f->path, number,
			      s.pointer.p, got(), STR_ARG(buf_str(&s.text)));
	}
	buf_release(&s.text);
	buf_release(&s.pointer);
	buf_release(&path);
}

START_TEST(value_of_another_type_is_an_error)
{
	const struct fixture *f = &fixtures.v[_i];
	struct str rest = read_file(f->path), text;
	struct json_reader reader = { 0 };
	unsigned number = 0, messages = 0;
	bool cut, keeps = false;
	yyjson_val *v;

	while (next_line(&rest, &text, &cut)) {
		number++;
		if (str_is(text, "keep"))
			keeps = true;
		else if (str_starts(text, STR("break ")) || str_starts(text, STR("== ")))
			keeps = false;
		if (!keeps || !text.n || text.p[0] != '{')
			continue;
		messages++;
		json_read(&reader, text, &v);
		check_types(f, number, v);
	}
	ck_assert_uint_gt(messages, 20);
	json_reader_release(&reader);
}
END_TEST

START_TEST(many_keys)
{
	buf_clear(&line);
	buf_adds(&line, REQUEST(""));
	line.n--;
	for (int i = 0; i < MANY; i++)
		buf_printf(&line, ",\"key%d\":%d", i, i);
	buf_addc(&line, '}');
	decode(buf_str(&line));
	assert_message(DIALECT_FEEDBACK, "request");
	ck_assert_uint_eq(message.diags.count[SEVERITY_NOTE], MANY);
	ck_assert_uint_eq(message.diags.list.n, DIAG_LISTED_MAX + 1);
	ck_assert_uint_eq(count(SEVERITY_NOTE, NULL, "feedback/3-unlisted-field"),
			  DIAG_LISTED_MAX + 1);
	ck_assert_uint_eq(message.diags.list.v[DIAG_LISTED_MAX].counted, MANY - DIAG_LISTED_MAX);
	/* one name, many times */
	buf_clear(&line);
	buf_adds(&line, REQUEST(""));
	line.n--;
	for (int i = 0; i < MANY; i++)
		buf_adds(&line, ",\"iteration\":2");
	buf_addc(&line, '}');
	decode(buf_str(&line));
	ck_assert_uint_eq(count(SEVERITY_ERROR, "/iteration", "json/duplicate-name"), MANY);
	/* and where nobody looks */
	buf_clear(&line);
	buf_adds(&line, "{\"protocol_version\":\"1.2\",\"iteration\":1,\"artifact\":{\"media_type\":"
			"\"application/json\",\"content\":{\"a\":0");
	for (int i = 0; i < MANY; i++)
		buf_printf(&line, ",\"key%d\":%d", i, i);
	buf_adds(&line, "}}}");
	decode(buf_str(&line));
	assert_clean();
}
END_TEST

static void apply(struct model *m, uint32_t number)
{
	struct place place = { .line = number, .group = STR("s"), .length = (uint32_t)line.n };

	decode(buf_str(&line));
	model_apply(m, &message, &place);
}

static void write_review(int round, bool same_id)
{
	buf_clear(&line);
	buf_printf(&line,
		   "{\"message_id\":\"00000000-0000-4000-8000-%012d\",\"timestamp\":"
		   "\"2026-01-26T10:00:00Z\",\"sequence_number\":%d,\"from_agent\":{\"agent_id\":"
		   "\"r\",\"agent_type\":\"reviewer\"},\"to_agent\":{\"agent_id\":\"a\","
		   "\"agent_type\":\"architect\"},\"message_type\":\"review_result\",\"payload\":",
		   round, round);
	buf_adds(&line, REVIEW_HEAD);
	for (int i = 0; i < MANY; i++) {
		if (i)
			buf_addc(&line, ',');
		buf_printf(&line,
			   "{\"finding_id\":\"F%d\",\"severity\":\"minor\",\"category\":\"bug\","
			   "\"location\":{\"file\":\"f\"},\"description\":\"d\",\"rationale\":\"r\"}",
			   same_id ? 0 : i);
	}
	buf_adds(&line, "]}}");
}

START_TEST(many_findings)
{
	struct model model;

	model_init(&model);
	for (int round = 1; round <= 2; round++) {
		write_review(round, false);
		apply(&model, (uint32_t)round);
		assert_message(DIALECT_COLLABORATION, "review_result");
		ck_assert_uint_eq(message.diags.count[SEVERITY_ERROR], 0);
	}
	ck_assert_uint_eq(model.items.n, MANY);
	model_release(&model);
}
END_TEST

START_TEST(many_findings_of_one_id)
{
	struct model model;

	model_init(&model);
	for (int round = 1; round <= 2; round++) {
		write_review(round, true);
		apply(&model, (uint32_t)round);
		ck_assert_uint_eq(count(SEVERITY_WARNING, NULL, "collaboration/2.2.5-finding_id"),
				  MANY - 1);
	}
	ck_assert_uint_eq(model.items.n, 1);
	model_release(&model);
}
END_TEST

static void write_turn(bool is_request, int iteration, bool same_id)
{
	buf_clear(&line);
	if (is_request)
		buf_printf(&line,
			   "{\"protocol_version\":\"1.2\",\"iteration\":%d,\"artifact\":{"
			   "\"media_type\":\"text/plain\",\"content\":\"c\"},\"applied_feedback\":{"
			   "\"items\":[",
			   iteration);
	else
		buf_printf(&line,
			   "{\"protocol_version\":\"1.2\",\"iteration\":%d,\"status\":\"success\","
			   "\"applied_feedback_ack\":{\"items\":[",
			   iteration);
	for (int i = 0; i < MANY && (is_request || iteration > 1); i++)
		buf_printf(&line, "%s{\"id\":\"item-%06d\",\"%s\":\"%s\"}", i ? "," : "",
			   same_id ? 0 : i, is_request ? "status" : "processing_status",
			   is_request ? "accepted" : "acknowledged");
	buf_adds(&line, "]}");
	if (!is_request) {
		buf_adds(&line, ",\"feedback\":{\"confidence\":{\"level\":\"low\",\"justification\":"
				"\"j\"},\"positive_points\":[],\"areas_for_improvement\":[");
		for (int i = 0; i < MANY; i++)
			buf_printf(&line,
				   "%s{\"id\":\"item-%06d\",\"aspect\":\"a\",\"description\":\"d\","
				   "\"recommendation\":\"r\"}",
				   i ? "," : "", same_id ? 0 : i);
		buf_adds(&line, "],\"general_summary\":\"s\"}");
	}
	buf_addc(&line, '}');
}

static void play_turns(bool same_id)
{
	struct model model;

	model_init(&model);
	write_turn(false, 1, same_id);
	apply(&model, 1);
	assert_message(DIALECT_FEEDBACK, "response");
	ck_assert_uint_eq(count(SEVERITY_ERROR, NULL, "feedback/4.1.3-id"), same_id ? MANY - 1 : 0);
	write_turn(true, 2, same_id);
	apply(&model, 2);
	assert_message(DIALECT_FEEDBACK, "request");
	write_turn(false, 2, same_id);
	apply(&model, 3);
	ck_assert_uint_eq(model.items.n, same_id ? 1 : MANY);
	model_release(&model);
}

START_TEST(many_improvements_decided_and_acknowledged)
{
	play_turns(false);
}
END_TEST

START_TEST(many_improvements_of_one_id)
{
	play_turns(true);
}
END_TEST

START_TEST(session_without_order_is_complained_of_51_times)
{
	struct str query = STR(COLLABORATION("status_query", "architect", "developer", "{}"));
	struct str from = STR("000000000001\""), order = STR("\"sequence_number\":1,");
	size_t id = (size_t)str_find(query, from, 0), at = (size_t)str_find(query, order, 0);
	struct model model;
	unsigned told = 0;

	model_init(&model);
	for (int i = 0; i < 200; i++) {
		buf_clear(&line);
		buf_add(&line, query.p, id);
		buf_printf(&line, "%012d\"", i);
		buf_add(&line, query.p + id + from.n, at - id - from.n);
		buf_printf(&line, "\"sequence_number\":%d,", 1000 - i);
		buf_add_str(&line, str_from(query, at + order.n));
		apply(&model, (uint32_t)i + 1);
		ck_assert_uint_eq(message.diags.count[SEVERITY_ERROR], 0);
		told += count(SEVERITY_WARNING, "/sequence_number",
			      "collaboration/2.1-sequence_number");
	}
	ck_assert_uint_eq(told, 51); /* the last one says that no more will be said */
	model_release(&model);
}
END_TEST

static size_t pick(size_t n)
{
	static uint32_t state = 1;

	state = state * 1664525 + 1013904223;
	return (state >> 16) % n;
}

/* A decoder remembers what it took the same names and the same type for. */
START_TEST(what_is_remembered_of_a_type_is_true)
{
	static const char *const types[] = { "\"text\"", "\"step_start\"", "\"system\"", "\"control_request\"",
					     "\"event:log\"", "\"x:y\"", "\"user\"", "\"turn.started\"", "\"event_msg\"",
					     "\"error\"", "\"result\"", "\"s\\u0079stem\"", "7", "null" };
	static const char *const times[] = { "1", "\"2026-01-26T10:00:00Z\"", "null", "1.5" };
	static const char *const others[] = { "sessionID", "session_id", "part", "uuid", "params", "agentId",
					      "payload", "message", "id", "status", "method", "taskId" };
	static const char *const values[] = { "\"a\"", "{}", "{\"content\":[]}", "\"success\"",
					      "\"6f1c1c39-9a3c-4e0a-8f6c-0d7b6a4f3c11\"" };
	static struct decoder remembering;
	struct json_reader reader = { 0 };
	struct buf text = { 0 };
	uint32_t wins[DIALECT_MAX] = { 0 };
	unsigned known = 0;

#define PICKED(list) (list)[pick(sizeof(list) / sizeof(*(list)))]
	for (int round = 0; round < 30000; round++) {
		struct message m = { 0 };
		yyjson_val *v;

		buf_clear(&text);
		buf_printf(&text, "{\"type\":%s", PICKED(types));
		if (round % 4)
			buf_printf(&text, ",\"timestamp\":%s", PICKED(times));
		for (int i = 0; i < round % 3; i++)
			buf_printf(&text, ",\"%s\":%s", PICKED(others), PICKED(values));
		buf_addc(&text, '}');
		json_read(&reader, buf_str(&text), &v);
		dialect_decode(&remembering, buf_str(&text), NULL, &m);
		if (!(m.flags & RECORD_AMBIGUOUS) && m.dialect != dialect_detect(v, NULL))
			ck_abort_msg("%s is of %s", text.p, dialect_name(m.dialect));
		wins[m.dialect]++;
		message_release(&m);
	}
#undef PICKED
	for (unsigned d = 0; d < DIALECT_MAX; d++)
		known += wins[d] > 100;
	ck_assert_uint_ge(known, 4);
	decoder_release(&remembering);
	json_reader_release(&reader);
	buf_release(&text);
}
END_TEST

static TCase *cases(Suite *suite, const char *name)
{
	TCase *t = tcase_create(name);

	suite_add_tcase(suite, t);
	return t;
}

static void add_fixture_cases(Suite *suite)
{
	for (uint32_t i = 0; i < fixtures.n; i++) {
		TCase *t = cases(suite, fixtures.v[i].name);

		tcase_add_checked_fixture(t, set_up, tear_down);
		tcase_add_loop_test(t, right_dialect_wins, (int)i, (int)i + 1);
		tcase_add_loop_test(t, names_without_numbers_are_told_as_well, (int)i, (int)i + 1);
		if (i >= cases_from)
			tcase_add_loop_test(t, value_of_another_type_is_an_error, (int)i,
					    (int)i + 1);
		else
			tcase_add_loop_test(t, fixture_gets_what_it_deserves, (int)i, (int)i + 1);
	}
}

int main(void)
{
	const char *srcdir = getenv("srcdir");
	Suite *suite = suite_create("dialect");
	struct arena names;
	TCase *t;
	int result;

	root_folder = getenv("GAVEL_FIXTURES");
	if (!root_folder)
		root_folder = arena_printf(&texts, "%s/tests/fixtures", srcdir ? srcdir : ".");
	add_folder("examples");
	add_folder("streams");
	add_cases();
	names = texts; /* the tests have an arena of their own */
	texts = (struct arena){ 0 };

	t = cases(suite, "fixtures");
	tcase_add_test(t, fixtures_are_there);
	add_fixture_cases(suite);

	t = cases(suite, "detect");
	tcase_add_test(t, what_is_no_message_is_unknown);
	tcase_add_test(t, what_is_remembered_of_a_type_is_true);

	t = cases(suite, "formats");
	tcase_add_test(t, uuid_is_one_in_every_byte);
	tcase_add_test(t, item_id_is_one_in_every_byte);
	tcase_add_test(t, a_value_has_its_number_and_others_have_none);

	t = cases(suite, "walker");
	tcase_add_checked_fixture(t, set_up, tear_down);
	tcase_add_test(t, pointers_escape_tilde_and_slash);
	tcase_add_test(t, pointers_count_elements_and_go_on_inside_text);
	tcase_add_test(t, duplicate_names_make_a_message_ambiguous);
	tcase_add_test(t, items_of_an_ambiguous_message_cannot_be_decided);
	tcase_add_test(t, numbers_of_a_feedback_iteration);
	tcase_add_test(t, item_is_undecidable_without_the_iteration_its_reply_needs);
	tcase_add_test(t, numbers_of_a_sequence_and_of_progress);
	tcase_add_test(t, half_a_surrogate_pair_is_repaired_and_said);
	tcase_add_test(t, repair_inside_text_is_said_too);
	tcase_add_test(t, finding_whose_id_was_repaired_is_undecidable);
	tcase_add_test(t, bytes_that_are_not_utf8_are_repaired);
	tcase_add_test(t, nul_in_an_id_is_no_id);
	tcase_add_test(t, nul_in_an_id_is_an_error_everywhere);
	tcase_add_test(t, question_with_nul_in_its_id_is_undecidable);
	tcase_add_test(t, own_fields_start_with_x_dash);
	tcase_add_test(t, session_fields_are_refused_by_any_name);

	t = cases(suite, "text");
	tcase_add_checked_fixture(t, set_up, tear_down);
	tcase_add_test(t, response_is_found_in_a_text);
	tcase_add_test(t, text_without_a_response_is_prose);
	tcase_add_test(t, response_inside_a_responses_string_is_just_text);

	t = cases(suite, "size");
	tcase_add_checked_fixture(t, set_up, tear_down);
	tcase_add_test(t, depth_128_is_read_and_129_is_not);
	tcase_add_test(t, million_brackets_are_a_log_line);
	tcase_add_test(t, million_brackets_inside_text_are_prose);
	tcase_add_test(t, five_mebibytes_of_text);
	tcase_add_test(t, many_keys);
	tcase_add_test(t, many_findings);
	tcase_add_test(t, many_findings_of_one_id);
	tcase_add_test(t, many_improvements_decided_and_acknowledged);
	tcase_add_test(t, many_improvements_of_one_id);
	tcase_add_test(t, session_without_order_is_complained_of_51_times);

	result = unit_run(suite);
	vec_release(&fixtures);
	arena_release(&texts);
	arena_release(&names);
	return result;
}
