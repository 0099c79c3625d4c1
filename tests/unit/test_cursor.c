/* The time machine: a view of the whole session as of its first k messages is, byte for byte, the
 * view of a session that has only those k messages. For every log among the fixtures and the demo,
 * for every view, for every k (every few of a long log). */
#include "session/load.h"
#include "cmd/show_json.h"
#include "logs.h"

#include <stdio.h>
#include <unistd.h>

static char folder[] = "/tmp/gavel-cursor-XXXXXX";

static const struct {
	const char *name;
	void (*print)(struct load *l, const struct scene *s, struct buf *out);
} views[] = {
	{ "inbox", json_inbox },       { "timeline", json_timeline }, { "ledger", json_ledger },
	{ "messages", json_messages }, { "agents", json_agents },     { "summary", json_summary },
};
enum { VIEWS = sizeof(views) / sizeof(views[0]) };

static void print_all(struct load *l, uint32_t k, struct buf out[VIEWS + 1])
{
	struct scene s = { .model = &l->model, .k = k, .now_ms = model_now(&l->model, k),
			   .reader = &l->reader, .all = true };

	for (int i = 0; i < VIEWS; i++) {
		buf_clear(&out[i]);
		views[i].print(l, &s, &out[i]);
	}
	buf_clear(&out[VIEWS]);
	for (uint32_t i = 0; i < l->model.items.n; i++)
		json_item(l, &s, i, true, &out[VIEWS]);
}

/* What is counted while messages come, and what is counted by looking at every item. */
static void assert_open(const struct model *whole, const struct model *part)
{
	uint32_t k = part->records.n, due, want_due;
	int64_t now = model_now(part, k);

	ck_assert_uint_eq(model_open(part, k, now, &due), model_open(whole, k, now, &want_due));
	ck_assert_uint_eq(due, want_due);
}

START_TEST(test_prefix)
{
	const char *path = logs[_i];
	const char *prefix = "prefix.ndjson";
	struct load whole = { 0 };
	struct buf seen[VIEWS + 1] = { { 0 } }, fresh[VIEWS + 1] = { { 0 } };
	uint32_t step;

	ck_assert_int_eq(chdir(folder), 0);
	write_prefix(path, prefix, SIZE_MAX, false);
	ck_assert_int_eq(load_open(&whole, &prefix, 1, 0), 0);
	load_run(&whole, NULL, NULL);
	step = whole.model.records.n / 60 + 1;
	for (uint32_t k = 0; k <= whole.model.records.n; k += step) {
		struct load part = { 0 };

		print_all(&whole, k, seen);
		/* the open file stays as it was; only the name is used again */
		ck_assert_int_eq(unlink(prefix), 0);
		write_prefix(path, prefix, bytes_up_to(&whole.model, k),
			     k && !(message_route(&whole.model, k - 1)->flags & RECORD_TRUNCATED));
		ck_assert_int_eq(load_open(&part, &prefix, 1, 0), 0);
		load_run(&part, NULL, NULL);
		ck_assert_uint_eq(part.model.records.n, k);
		print_all(&part, k, fresh);
		for (int i = 0; i <= VIEWS; i++)
			ck_assert_msg(str_eq(buf_str(&seen[i]), buf_str(&fresh[i])),
				      "%s at #%u of %s differs:\n--- as of #%u\n%.*s--- fresh\n%.*s",
				      i < VIEWS ? views[i].name : "item", k, path, k,
				      STR_ARG(buf_str(&seen[i])), STR_ARG(buf_str(&fresh[i])));
		assert_open(&whole.model, &part.model);
		load_release(&part);
	}
	for (int i = 0; i <= VIEWS; i++) {
		buf_release(&seen[i]);
		buf_release(&fresh[i]);
	}
	load_release(&whole);
	unlink(prefix);
}
END_TEST

/* All that is said of each message, while it is read. */
static void note_diags(void *ctx, struct load *l, const struct message *msg, const struct record *r)
{
	(void)l;
	buf_add(ctx, r, sizeof(*r));
	for (uint32_t i = 0; i < msg->diags.list.n; i++) {
		buf_printf(ctx, "%s ", msg->diags.list.v[i].rule);
		buf_add_str(ctx, msg->diags.list.v[i].pointer);
		buf_add_str(ctx, msg->diags.list.v[i].text);
	}
}

/* Threads that share a log in parts of any size read the same as one thread does. */
START_TEST(test_threads)
{
	static const size_t sizes[] = { 1, 100, 2000 };
	const char *path = logs[_i];
	struct buf one[VIEWS + 1] = { { 0 } }, several[VIEWS + 1] = { { 0 } };
	struct buf said = { 0 }, also_said = { 0 };
	struct load alone = { .threads = 1, .want_diags = true };

	ck_assert_int_eq(load_open(&alone, &path, 1, 0), 0);
	load_run(&alone, note_diags, &said);
	print_all(&alone, alone.model.records.n, one);
	for (int n = 0; n < 3; n++) {
		struct load l = { .want_diags = true, .threads = 3, .chunk_bytes = sizes[n] };

		buf_clear(&also_said);
		ck_assert_int_eq(load_open(&l, &path, 1, 0), 0);
		load_run(&l, note_diags, &also_said);
		ck_assert_msg(str_eq(buf_str(&said), buf_str(&also_said)), "%s in parts of %zu", path,
			      sizes[n]);
		ck_assert_uint_eq(l.wire.bytes_done, l.wire.bytes_total);
		print_all(&l, l.model.records.n, several);
		for (int i = 0; i <= VIEWS; i++)
			ck_assert_msg(str_eq(buf_str(&one[i]), buf_str(&several[i])),
				      "%s of %s in parts of %zu", i < VIEWS ? views[i].name : "item",
				      path, sizes[n]);
		load_release(&l);
	}
	for (int i = 0; i <= VIEWS; i++) {
		buf_release(&one[i]);
		buf_release(&several[i]);
	}
	buf_release(&said);
	buf_release(&also_said);
	load_release(&alone);
}
END_TEST

/* Reads in steps that are as short as can be, and looks at what is there in between. Returns how
 * many steps that took; at most so many. */
static unsigned step_through(struct load *l, unsigned most, struct buf *said)
{
	unsigned steps = 0;

	while (!l->complete && steps++ < most) {
		ck_assert_int_eq(load_step(l, 0, note_diags, said), LOAD_MORE);
		ck_assert_int_eq(load_wait_ms(l, 0), l->complete ? -1 : 0);
		if (l->model.records.n)
			l->reader.summary(l->reader.ctx, l->model.records.n - 1);
	}
	return steps;
}

/* Reading step by step comes to the same as reading at one go, however many threads decode; and it
 * may end after any step. */
START_TEST(test_steps)
{
	static const struct {
		unsigned threads;
		size_t chunk_bytes;
	} ways[] = { { 1, 0 }, { 2, 1 }, { 2, 2000 }, { 8, 100 }, { 8, 2000 } };
	const char *path = logs[_i];
	struct buf one[VIEWS + 1] = { { 0 } }, several[VIEWS + 1] = { { 0 } };
	struct buf said = { 0 }, also_said = { 0 };
	struct load whole = { .want_diags = true, .threads = 1 };

	ck_assert_int_eq(load_open(&whole, &path, 1, 0), 0);
	load_run(&whole, note_diags, &said);
	print_all(&whole, whole.model.records.n, one);
	for (unsigned n = 0; n < sizeof(ways) / sizeof(ways[0]); n++) {
		struct load l = { .want_diags = true, .threads = ways[n].threads,
				  .chunk_bytes = ways[n].chunk_bytes }, cut = l;
		unsigned steps;

		buf_clear(&also_said);
		ck_assert_int_eq(load_open(&l, &path, 1, 0), 0);
		steps = step_through(&l, UINT32_MAX, &also_said);
		ck_assert_msg(str_eq(buf_str(&said), buf_str(&also_said)), "%s, %u threads, parts of %zu",
			      path, ways[n].threads, ways[n].chunk_bytes);
		ck_assert_uint_eq(l.wire.bytes_done, l.wire.bytes_total);
		ck_assert_int_eq(load_step(&l, 0, NULL, NULL), LOAD_ENDED);
		print_all(&l, l.model.records.n, several);
		for (int i = 0; i <= VIEWS; i++)
			ck_assert_msg(str_eq(buf_str(&one[i]), buf_str(&several[i])), "%s of %s",
				      i < VIEWS ? views[i].name : "item", path);
		load_release(&l);
		ck_assert_int_eq(load_open(&cut, &path, 1, 0), 0);
		step_through(&cut, steps / 2, &also_said);
		load_release(&cut);
	}
	for (int i = 0; i <= VIEWS; i++) {
		buf_release(&one[i]);
		buf_release(&several[i]);
	}
	buf_release(&said);
	buf_release(&also_said);
	load_release(&whole);
}
END_TEST

/* A stream that is read to its end is not waited for within a step. */
START_TEST(test_steps_of_a_stream)
{
	static const char line[] = "{\"type\":\"event:log\",\"payload\":{}}\n";
	const char *name = "/dev/fd/9";
	struct load l = { 0 };
	int ends[2];

	ck_assert_int_eq(pipe(ends), 0);
	ck_assert_int_eq(dup2(ends[0], 9), 9);
	close(ends[0]);
	ck_assert_int_eq(load_open(&l, &name, 1, 0), 0);
	close(9);
	for (unsigned i = 0; i < 5; i++) {
		ck_assert_int_eq(load_step(&l, INT64_MAX, NULL, NULL), LOAD_WAITS);
		ck_assert_int_ge(load_fd(&l), 0);
		ck_assert_int_eq(load_wait_ms(&l, 0), -1);
		ck_assert_int_eq(write(ends[1], line, sizeof(line) - 1), sizeof(line) - 1);
	}
	close(ends[1]);
	ck_assert_int_eq(load_step(&l, INT64_MAX, NULL, NULL), LOAD_MORE);
	ck_assert(l.complete);
	ck_assert_uint_eq(l.model.records.n, 5);
	ck_assert_int_eq(load_fd(&l), -1);
	load_release(&l);
}
END_TEST

static void write_log(const char *name, unsigned first, unsigned n)
{
	FILE *f = fopen(name, "w");

	ck_assert(f != NULL);
	for (unsigned i = first; i < first + n; i++)
		fprintf(f, "{\"type\":\"event:log\",\"id\":\"%08x-0000-4000-8000-000000000000\","
			   "\"timestamp\":\"2026-01-26T10:00:00Z\",\"payload\":{\"level\":\"info\"}}\n", i);
	fclose(f);
}

/* Tables grow to what a log promises (heap_expect): by what it adds to the model, not by how much of
 * itself is left. */
START_TEST(test_expected)
{
	enum { EACH = 30000 };
	const char *names[] = { "one.ndjson", "two.ndjson" };
	struct load l = { .threads = 2 };

	ck_assert_int_eq(chdir(folder), 0);
	for (unsigned i = 0; i < 2; i++)
		write_log(names[i], i * EACH, EACH);
	ck_assert_int_eq(load_open(&l, names, 2, 0), 0);
	load_run(&l, NULL, NULL);
	ck_assert_uint_eq(l.model.ids.n, 2 * EACH);
	ck_assert_uint_le(l.model.ids.buckets.n, 2 * EACH / 4 + 2 * EACH / 32);
	load_release(&l);
	for (unsigned i = 0; i < 2; i++)
		unlink(names[i]);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("cursor");
	TCase *prefix = tcase_create("prefix");
	const char *fixtures = getenv("GAVEL_FIXTURES"), *data = getenv("GAVEL_DATADIR");
	int failed;

	if (!mkdtemp(folder) || !fixtures || !data) {
		puts("Bail out! needs /tmp, GAVEL_FIXTURES and GAVEL_DATADIR");
		return 1;
	}
	add_log(data, "demo.ndjson");
	add_folder(fixtures, "examples");
	add_folder(fixtures, "streams");
	tcase_add_loop_test(prefix, test_prefix, 0, log_count);
	tcase_add_loop_test(prefix, test_threads, 0, log_count);
	tcase_add_loop_test(prefix, test_steps, 0, log_count);
	tcase_add_test(prefix, test_steps_of_a_stream);
	tcase_add_test(prefix, test_expected);
	suite_add_tcase(suite, prefix);
	failed = unit_run(suite);
	rmdir(folder);
	for (int i = 0; i < log_count; i++)
		free(logs[i]);
	free(logs);
	return failed;
}
