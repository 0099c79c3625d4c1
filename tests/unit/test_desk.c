/* What the desk keeps when something goes wrong between two records: a letter whose end was never
 * told, one whose text was lost, a record that could not be written, a disk that failed. */
#include "decide/reader.h"
#include "decide/records.h"

#include "base/io.h"
#include "channel/file_locks.h"
#include "unit.h"

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char folder[] = "/tmp/gavel-desk-XXXXXX", base[64], log_path[64], out_path[64];
static struct model model;
static struct decoder decoder;
static struct message message;
static struct desk desk;
static bool no_room;

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path);
}

static void start(void)
{
	desk = (struct desk){ 0 };
	model_init(&model);
	desk_open(&desk, base, log_path, true);
}

static void finish(void)
{
	desk_close(&desk);
	model_release(&model);
}

static void again(void)
{
	finish();
	start();
}

static void setup(void)
{
	FILE *f;

	strcpy(folder + sizeof(folder) - 7, "XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(folder));
	snprintf(base, sizeof(base), "%s/state", folder);
	snprintf(log_path, sizeof(log_path), "%s/log", folder);
	snprintf(out_path, sizeof(out_path), "%s/out", folder);
	f = fopen(log_path, "w");
	ck_assert_ptr_nonnull(f);
	fclose(f);
	start();
}

static void teardown(void)
{
	io_reset();
	finish();
	message_release(&message);
	decoder_release(&decoder);
	nftw(folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

static void apply(const char *json)
{
	struct place place = { .line = model.records.n + 1, .group = desk.group };

	dialect_decode(&decoder, str_of(json), NULL, &message);
	model_apply(&model, &message, &place);
}

static uint32_t stage(const char *item)
{
	struct draft draft = { .session = desk.group, .item = str_of(item), .kind = ITEM_FINDING,
			       .dialect = DIALECT_COLLABORATION, .rev = STR("abc"),
			       .verb = VERB_REJECT, .by = STR("ann"), .explanation = STR("no"),
			       .number = NONE };
	struct err err = { { 0 } };
	uint32_t number = NONE;

	ck_assert_msg(desk_stage(&desk, &draft, &number, &err) == 0, "%s", err.text);
	return number;
}

/* To a place that is not there unless somebody makes it. */
static struct letter letter_of(uint32_t draft)
{
	struct letter l = { .dialect = DIALECT_COLLABORATION, .channel = CHANNEL_FIFO,
			    .path = str_of(out_path), .to = STR("rev"), .bytes = STR("{}\n"),
			    .message = NONE };

	if (draft != NONE)
		vec_push(&l.drafts, draft);
	return l;
}

static void put(void (*record)(const struct desk *, const struct letter *, struct buf *),
		const struct letter *l)
{
	struct buf line = { 0 };
	struct err err = { { 0 } };

	record(&desk, l, &line);
	ck_assert_msg(desk_append(&desk, buf_str(&line), true, &err) == 0, "%s", err.text);
	record_apply(&desk, buf_str(&line));
	buf_release(&line);
}

#define ACK(from) \
	"{\"message_id\":\"00000000-0000-4000-8000-0000000000aa\",\"timestamp\":" \
	"\"2026-01-26T10:00:00Z\",\"sequence_number\":1,\"from_agent\":{\"agent_id\":\"" from "\"," \
	"\"agent_type\":\"reviewer\"},\"to_agent\":{\"agent_id\":\"ann\",\"agent_type\":" \
	"\"architect\"},\"message_type\":\"acknowledgment\",\"reply_to\":\"m-1\",\"payload\":{}}"

#define SAID \
	"{\"message_id\":\"m-1\",\"timestamp\":\"2026-01-26T10:00:00Z\",\"sequence_number\":0," \
	"\"from_agent\":{\"agent_id\":\"ann\",\"agent_type\":\"architect\"},\"to_agent\":{" \
	"\"agent_id\":\"rev\",\"agent_type\":\"reviewer\"},\"message_type\":\"feedback\"," \
	"\"payload\":{}}"

static void say(const char *json)
{
	struct place place = { .line = 1, .group = desk.group, .trust = TRUST_JOURNAL };

	dialect_decode(&decoder, str_of(json), NULL, &message);
	model_apply(&model, &message, &place);
}

/* What the addressee replies proves a letter that is a message of the session. */
START_TEST(a_sent_letter_is_proven_by_the_log)
{
	struct letter l = letter_of(stage("find-1"));

	memcpy(l.id, "0123456789ab", sizeof(l.id));
	put(record_intent, &l);
	put(record_attempt, &l);
	put(record_sent, &l);
	again();
	ck_assert_int_eq(desk.letters.v[0].state, LETTER_SENT);
	say(SAID);
	desk.letters.v[0].message = 0;
	apply(ACK("mallory"));
	desk_settle(&desk, &model);
	ck_assert_int_eq(desk.letters.v[0].state, LETTER_SENT);
	ck_assert_uint_eq(message_reply(&model, 0)->stray, 1);
	apply(ACK("rev"));
	desk_settle(&desk, &model);
	ck_assert_int_eq(desk.letters.v[0].state, LETTER_ACKED);
	again();
	ck_assert_int_eq(desk.letters.v[0].state, LETTER_ACKED);
	ck_assert_uint_eq(desk_unfinished(&desk), 0);
	vec_release(&l.drafts);
}
END_TEST

/* The process ended between the try and the record of its end: nobody knows whether it was said. */
START_TEST(an_attempt_is_not_proven_by_the_log)
{
	struct letter l = letter_of(stage("find-1"));

	memcpy(l.id, "0123456789ab", sizeof(l.id));
	put(record_intent, &l);
	put(record_attempt, &l);
	again();
	desk_settle(&desk, &model);
	apply(ACK("rev"));
	desk_settle(&desk, &model);
	ck_assert_int_eq(desk.letters.v[0].state, LETTER_ATTEMPT);
	ck_assert_uint_eq(desk_unfinished(&desk), 1);
	vec_release(&l.drafts);
}
END_TEST

/* A damaged journal has lost the text of a letter, not that there was one. */
START_TEST(a_lost_intent_is_not_decided_anew)
{
	struct letter l = letter_of(stage("find-1"));
	struct draft twice;
	struct err err = { { 0 } };
	uint32_t number;

	memcpy(l.id, "0123456789ab", sizeof(l.id));
	put(_i ? record_sent : record_attempt, &l);
	again();
	ck_assert_uint_eq(desk.letters.n, 1);
	ck_assert_int_eq(desk.drafts.v[0].state, DRAFT_WRITTEN);
	ck_assert_uint_eq(desk_unfinished(&desk), !_i);
	twice = desk.drafts.v[0];
	ck_assert_int_eq(desk_stage(&desk, &twice, &number, &err), -1);
	if (!_i) {
		ck_assert_uint_eq(desk_recover(&desk, true, &err), 1);
		ck_assert(str_find(desk.letters.v[0].why, STR("its text was lost"), 0) >= 0);
		ck_assert_int_eq(desk_give_up(&desk, 0, false, &err), -1);
		ck_assert_int_eq(desk_give_up(&desk, 0, true, &err), 0);
		ck_assert_int_eq(desk.drafts.v[0].state, DRAFT_VOID);
	}
	vec_release(&l.drafts);
}
END_TEST

/* Spoils the text of some lines of the journal, from 1. */
static void spoil_lines(unsigned from, unsigned to)
{
	char path[128];
	struct buf bytes = { 0 };
	struct err err = { { 0 } };
	unsigned line = 1;
	FILE *f;

	snprintf(path, sizeof(path), "%s/journal-000001", desk.dir);
	ck_assert_msg(io_read_file(path, 1 << 20, &bytes, &err) == 0, "%s", err.text);
	for (size_t i = 0; i < bytes.n; i++) {
		line += bytes.p[i] == '\n';
		if (line >= from && line <= to && bytes.p[i] == '{')
			bytes.p[i] = '(';
	}
	f = fopen(path, "w");
	ck_assert_ptr_nonnull(f);
	ck_assert_uint_eq(fwrite(bytes.p, 1, bytes.n, f), bytes.n);
	fclose(f);
	buf_release(&bytes);
}

/* Letters outlive their drafts: OPEN, DRAFT, INTENT, ATTEMPT, SENT, of which the first ones behind
 * OPEN are lost. */
START_TEST(what_was_sent_is_not_open_after_a_repair)
{
	struct letter l = letter_of(stage("find-1"));
	struct draft twice;
	struct buf out = { 0 };
	struct err err = { { 0 } };
	uint32_t number;

	l.channel = CHANNEL_FILE;
	ck_assert_msg(desk_send_all(&desk, &l, 1, &number, &err) == 0, "%s", err.text);
	ck_assert_int_eq(desk.letters.v[0].state, LETTER_SENT);
	spoil_lines(2, (unsigned)_i);
	again();
	ck_assert_int_eq(desk.access, DESK_READS);
	ck_assert_int_eq(desk.trouble, JOURNAL_DAMAGED);
	ck_assert_msg(journal_repair(desk.dir, &out, &err) == JOURNAL_FINE, "%s", err.text);
	again();
	ck_assert_msg(desk.access == DESK_WRITES, "%s", desk.why.text);
	ck_assert_uint_eq(desk.letters.n, 1);
	ck_assert_int_eq(desk.letters.v[0].state, LETTER_SENT);
	ck_assert_uint_eq(desk.drafts.n, 1);
	ck_assert_int_eq(desk.drafts.v[0].state, DRAFT_WRITTEN);
	ck_assert(str_is(desk.drafts.v[0].item, "find-1") && str_is(desk.drafts.v[0].by, "ann"));
	ck_assert(str_is(desk.drafts.v[0].rev, "abc") && desk.drafts.v[0].verb == VERB_REJECT);
	twice = desk.drafts.v[0];
	twice.explanation = STR("no");
	ck_assert_int_eq(desk_stage(&desk, &twice, &number, &err), -1);
	ck_assert_msg(strstr(err.text, "already decided"), "%s", err.text);
	buf_release(&out);
	vec_release(&l.drafts);
}
END_TEST

static struct draft draft_on(const char *item)
{
	return (struct draft){ .session = desk.group, .item = str_of(item), .kind = ITEM_FINDING,
			       .dialect = DIALECT_COLLABORATION, .rev = STR("abc"),
			       .verb = VERB_REJECT, .by = STR("ann"), .explanation = STR("no"),
			       .number = NONE };
}

static uint64_t journal_bytes(void)
{
	return desk.journal.writing ? desk.journal.good : 0;
}

/* A batch is one record: staged and undone as a whole, also by the next run. */
START_TEST(several_are_staged_and_undone_at_once)
{
	struct draft drafts[] = { draft_on("find-1"), draft_on("find-2"), draft_on("find-3") };
	uint32_t first, before = stage("find-0"), changes = desk.changes, back[2];
	struct err err = { { 0 } };

	ck_assert_msg(desk_stage_all(&desk, drafts, 3, &first, &err) == 0, "%s", err.text);
	ck_assert_uint_eq(desk.changes, changes + 1);
	again();
	ck_assert_uint_eq(desk_staged(&desk), 4);
	ck_assert_uint_eq(desk.drafts.v[before].batch, before);
	for (uint32_t i = 0; i < 3; i++) {
		ck_assert_uint_eq(desk.drafts.v[first + i].batch, first);
		ck_assert(str_eq(desk.drafts.v[first + i].item, drafts[i].item));
		ck_assert(str_is(desk.drafts.v[first + i].explanation, "no"));
	}
	back[0] = first + 2;
	back[1] = first;
	changes = desk.changes;
	ck_assert_msg(desk_undo_all(&desk, back, 2, &err) == 0, "%s", err.text);
	ck_assert_uint_eq(desk.changes, changes + 1);
	again();
	ck_assert_uint_eq(desk_staged(&desk), 2);
	ck_assert_int_eq(desk.drafts.v[first + 1].state, DRAFT_STAGED);
	ck_assert_uint_eq(desk.letters.n, 0);
	ck_assert_int_eq(desk_undo_all(&desk, back, 2, &err), -1);
}
END_TEST

static int fail_sync(int fd)
{
	(void)fd;
	errno = EIO;
	return -1;
}

/* Nobody is told of it before a sync: that of a later record, or of desk_confirm. */
START_TEST(an_unconfirmed_draft_is_confirmed_or_lost)
{
	struct draft draft = draft_on("find-2");
	struct err err = { { 0 } };
	uint32_t number;
	uint64_t safe;

	stage("find-1");
	safe = desk.journal.synced;
	ck_assert_uint_eq(safe, desk.journal.good);
	ck_assert_int_eq(desk_stage_unconfirmed(&desk, &draft, &number, &err), 0);
	ck_assert_uint_eq(desk.journal.synced, safe);
	if (_i) {
		io.fdatasync = fail_sync;
		ck_assert_int_eq(desk_confirm(&desk, &err), -1);
		ck_assert_msg(strstr(err.text, "NOT recorded"), "%s", err.text);
		io_reset();
		ck_assert_int_eq(desk.access, DESK_READS);
	} else {
		ck_assert_int_eq(desk_confirm(&desk, &err), 0);
		ck_assert_uint_eq(desk.journal.synced, desk.journal.good);
		ck_assert_uint_gt(desk.journal.synced, safe);
	}
	again();
	ck_assert_uint_eq(desk_staged(&desk), _i ? 1 : 2);
}
END_TEST

START_TEST(one_that_cannot_be_staged_stops_all)
{
	struct draft drafts[] = { draft_on("find-1"), draft_on("find-2") };
	struct letter l = letter_of(stage("find-0"));
	struct err err = { { 0 } };
	uint32_t number, changes;
	uint64_t bytes;

	l.channel = CHANNEL_FILE;
	ck_assert_msg(desk_send_all(&desk, &l, 1, &number, &err) == 0, "%s", err.text);
	if (_i)
		drafts[1].item = STR("find-0"); /* decided */
	else
		drafts[1].explanation = STR_NONE;
	bytes = journal_bytes();
	changes = desk.changes;
	ck_assert_int_eq(desk_stage_all(&desk, drafts, 2, &number, &err), -1);
	ck_assert_msg(strstr(err.text, _i ? "already decided" : "reason"), "%s", err.text);
	ck_assert_uint_eq(journal_bytes(), bytes);
	ck_assert_uint_eq(desk.changes, changes);
	vec_release(&l.drafts);
}
END_TEST

/* A write ends with the first message; somebody who knows no locks writes behind it, or there is no room for
 * the second. */
static ssize_t meddle(int fd, const void *from, size_t n)
{
	static const char other[] = "{\"other\":1}\n";
	struct str bytes = str_make(from, n);
	ssize_t put;

	if (no_room && str_starts(bytes, STR("{\"n\":2")))
		return errno = ENOSPC, -1;
	put = write(fd, from, str_starts(bytes, STR("{\"n\":1")) ? strlen("{\"n\":1}\n") : n);
	if (!no_room && str_starts(bytes, STR("{\"n\":1")))
		ck_assert_int_eq(write(fd, other, sizeof(other) - 1), sizeof(other) - 1);
	return put;
}

START_TEST(a_batch_is_disturbed)
{
	static const char *const lines[] = { "{\"n\":1}\n", "{\"n\":2}\n", "{\"n\":3}\n" };
	struct file_locks locks = { 0 };
	struct letter letters[3];
	struct letter_group groups[3];
	struct draft drafts[] = { draft_on("find-1"), draft_on("find-2"), draft_on("find-3") };
	struct buf out = { 0 };
	struct err err = { { 0 } };
	uint32_t first;

	ck_assert_int_eq(desk_stage_all(&desk, drafts, 3, &first, &err), 0);
	ck_assert_int_eq(file_locks_add(&locks, out_path, NULL, &err), LOCK_TAKEN);
	desk.locks = &locks;
	for (uint32_t i = 0; i < 3; i++) {
		letters[i] = letter_of(first + i);
		letters[i].channel = CHANNEL_FILE;
		letters[i].bytes = str_of(lines[i]);
		groups[i] = (struct letter_group){ &letters[i], 1 };
	}
	no_room = _i;
	io.write = meddle;
	ck_assert_msg(desk_send_groups(&desk, groups, 3, &err) == 0, "%s", err.text);
	io_reset();
	ck_assert_int_eq(desk.letters.v[0].state, LETTER_SENT);
	for (uint32_t i = 1; i < 3; i++) {
		ck_assert_int_eq(desk.letters.v[i].state, _i ? LETTER_HELD : LETTER_SENT);
		ck_assert(!desk.letters.v[i].uncertain);
	}
	if (_i)
		ck_assert_uint_eq(desk_recover(&desk, false, &err), 0);
	ck_assert_int_eq(io_read_file(out_path, 1000, &out, &err), 0);
	ck_assert_str_eq(out.p, _i ? "{\"n\":1}\n{\"n\":2}\n{\"n\":3}\n"
				   : "{\"n\":1}\n{\"other\":1}\n{\"n\":2}\n{\"n\":3}\n");
	for (uint32_t i = 0; i < 3; i++)
		vec_release(&letters[i].drafts);
	desk.locks = NULL;
	file_locks_release(&locks);
	buf_release(&out);
}
END_TEST

/* Two names of one file, opened before there is a journal: the first decision creates it for both. */
START_TEST(two_names_have_one_journal)
{
	char other_path[80];
	struct desk other = { 0 };
	struct draft twice = { .item = STR("find-1"), .kind = ITEM_FINDING,
			       .dialect = DIALECT_COLLABORATION, .rev = STR("abc"),
			       .verb = VERB_ACCEPT, .by = STR("bob"), .number = NONE };
	struct letter l;
	struct err err = { { 0 } };
	uint32_t number;
	FILE *f = fopen(log_path, "w");

	ck_assert_ptr_nonnull(f);
	fprintf(f, "%080d\n", 1);
	fclose(f);
	snprintf(other_path, sizeof(other_path), "%s/other", folder);
	ck_assert_int_eq(link(log_path, other_path), 0);
	again();
	desk_open(&other, base, other_path, true);
	ck_assert_int_eq(other.access, DESK_WRITES);
	l = letter_of(stage("find-1"));
	l.channel = CHANNEL_FILE;
	ck_assert_msg(desk_send_all(&desk, &l, 1, &number, &err) == 0, "%s", err.text);
	if (_i) /* and has ended meanwhile */
		desk_close(&desk);
	twice.session = other.group;
	ck_assert_int_eq(desk_stage(&other, &twice, &number, &err), -1);
	ck_assert_msg(strstr(err.text, "already decided (reject, sent)"), "%s", err.text);
	ck_assert_int_eq(other.access, _i ? DESK_WRITES : DESK_READS);
	ck_assert_int_eq(other.trouble, _i ? JOURNAL_FINE : JOURNAL_LOCKED);
	desk_close(&other);
	vec_release(&l.drafts);
}
END_TEST

/* With a decision go the letters that only accompany it; the others stay. */
START_TEST(one_of_a_batch_is_given_up)
{
	struct letter letters[] = { letter_of(stage("find-1")), letter_of(NONE),
				    letter_of(stage("find-2")) };
	struct err err = { { 0 } };
	uint32_t first;

	ck_assert_int_eq(desk_send_all(&desk, letters, 3, &first, &err), 0);
	for (int i = 0; i < 3; i++)
		ck_assert_int_eq(desk.letters.v[i].state, LETTER_HELD);
	ck_assert_int_eq(desk_give_up(&desk, 0, false, &err), 0);
	again();
	ck_assert_int_eq(desk.letters.v[0].state, LETTER_VOID);
	ck_assert_int_eq(desk.letters.v[1].state, LETTER_VOID);
	ck_assert_int_eq(desk.letters.v[2].state, LETTER_HELD);
	ck_assert_int_eq(desk.drafts.v[0].state, DRAFT_VOID);
	ck_assert_int_eq(desk.drafts.v[1].state, DRAFT_WRITTEN);
	for (int i = 0; i < 3; i++)
		vec_release(&letters[i].drafts);
}
END_TEST

/* Where it can still be seen that it arrived, it is not given up. */
START_TEST(what_did_arrive_is_not_given_up)
{
	struct letter l = letter_of(stage("find-1"));
	struct channel c = { .fd = -1 };
	struct err err = { { 0 } };

	l.channel = CHANNEL_FILE;
	memcpy(l.id, "0123456789ab", sizeof(l.id));
	put(record_intent, &l);
	ck_assert_int_eq(channel_open(&c, CHANNEL_FILE, out_path, &err), CHANNEL_OK);
	ck_assert_int_eq(channel_prepare(&c, l.bytes, false, &l.attempt, &err), CHANNEL_OK);
	put(record_attempt, &l);
	if (_i)
		ck_assert_int_eq(channel_send(&c, l.bytes, &l.attempt, &err), CHANNEL_OK);
	channel_close(&c);
	ck_assert_int_eq(desk_give_up(&desk, 0, true, &err), 0);
	ck_assert_int_eq(desk.letters.v[0].state, _i ? LETTER_SENT : LETTER_VOID);
	vec_release(&l.drafts);
}
END_TEST

static int writes_left;

static ssize_t fail_write(int fd, const void *from, size_t n)
{
	if (writes_left-- > 0)
		return write(fd, from, n);
	errno = ENOSPC;
	return -1;
}

/* It was not sent, and nobody could write that down: the next start has it to send. */
START_TEST(a_held_record_that_fails)
{
	struct letter l = letter_of(stage("find-1"));
	struct err err = { { 0 } };
	uint32_t number;

	writes_left = 1; /* the INTENT */
	io.write = fail_write;
	ck_assert_int_eq(desk_send_all(&desk, &l, 1, &number, &err), -1);
	ck_assert(strstr(err.text, "the message was not sent, and that was NOT recorded"));
	io_reset();
	ck_assert_int_eq(desk.letters.v[number].state, LETTER_INTENT);
	again();
	ck_assert_uint_eq(desk_unfinished(&desk), 1);
	ck_assert_uint_eq(desk_recover(&desk, false, &err), 1);
	ck_assert_int_eq(desk.letters.v[0].state, LETTER_HELD);
	vec_release(&l.drafts);
}
END_TEST

/* After a failed sync the next start says once more what is unfinished, and says it once. */
START_TEST(restated_after_a_failed_sync)
{
	struct letter l = letter_of(stage("find-1"));
	struct draft lost = { .session = desk.group, .item = STR("find-3"), .kind = ITEM_FINDING,
			      .dialect = DIALECT_COLLABORATION, .rev = STR("abc"),
			      .verb = VERB_ACCEPT, .by = STR("ann"), .number = NONE };
	struct err err = { { 0 } };
	struct buf problems = { 0 };
	uint32_t number;
	uint64_t records;

	ck_assert_int_eq(desk_send_all(&desk, &l, 1, &number, &err), 0);
	stage("find-2");
	io.fdatasync = fail_sync;
	ck_assert_int_eq(desk_stage(&desk, &lost, &number, &err), -1);
	io_reset();
	ck_assert_int_eq(desk.access, DESK_READS);
	for (int run = 0; run < 3; run++) {
		again();
		ck_assert_msg(desk.access == DESK_WRITES, "%s", desk.why.text);
		ck_assert_uint_eq(desk.journal.segment, 2);
		ck_assert_uint_eq(desk.drafts.n, 2);
		ck_assert_uint_eq(desk.letters.n, 1);
		ck_assert_int_eq(desk.letters.v[0].state, LETTER_HELD);
		ck_assert(desk.letters.v[0].why.n > 0);
		ck_assert(!desk.letters.v[0].uncertain);
		ck_assert_int_eq(desk.drafts.v[0].state, DRAFT_WRITTEN);
		ck_assert_int_eq(desk.drafts.v[1].state, DRAFT_STAGED);
		ck_assert_uint_eq(journal_verify(desk.dir, &problems, &records), 0);
		/* OPEN, DRAFT, INTENT, HELD, DRAFT; then two DRAFTs, INTENT and HELD again */
		ck_assert_uint_eq(records, 9);
	}
	buf_release(&problems);
	vec_release(&l.drafts);
}
END_TEST

static uint64_t count_records(void)
{
	struct buf problems = { 0 };
	uint64_t records = 0;

	ck_assert_uint_eq(journal_verify(desk.dir, &problems, &records), 0);
	buf_release(&problems);
	return records;
}

/* An empty INTENT could never be delivered, and everything after it would wait behind it. */
START_TEST(nothing_empty_becomes_an_intent)
{
	static const char *const texts[] = { "", "\n", " \n" };
	struct letter letters[] = { letter_of(stage("find-1")),
				    letter_of(stage("find-2")) };
	uint64_t before = count_records();
	struct err err = { { 0 } };
	uint32_t number;

	letters[1].bytes = str_of(texts[_i]);
	for (uint32_t n = 1; n <= 2; n++) { /* alone, and with one that is fine */
		ck_assert_int_eq(desk_send_all(&desk, letters + 2 - n, n, &number, &err), -1);
		ck_assert_ptr_nonnull(strstr(err.text, "NOT recorded: the message would be empty"));
	}
	letters[1].channel = CHANNEL_NONE; /* only a dismissal goes to nobody */
	ck_assert_int_eq(desk_send_all(&desk, &letters[1], 1, &number, &err), -1);
	ck_assert_uint_eq(count_records(), before);
	again();
	ck_assert_uint_eq(desk.letters.n, 0);
	ck_assert_int_eq(desk.drafts.v[0].state, DRAFT_STAGED);
	ck_assert_int_eq(desk.drafts.v[1].state, DRAFT_STAGED);
	letters[0].channel = CHANNEL_FILE;
	ck_assert_msg(desk_send_all(&desk, &letters[0], 1, &number, &err) == 0, "%s", err.text);
	ck_assert_int_eq(desk.letters.v[number].state, LETTER_SENT);
	for (int i = 0; i < 2; i++)
		vec_release(&letters[i].drafts);
}
END_TEST

START_TEST(a_dismissal_is_its_record_alone)
{
	struct draft draft = { .session = desk.group, .item = STR("e-1"), .kind = ITEM_ERROR,
			       .dialect = DIALECT_ORCHESTRATOR, .rev = STR("abc"),
			       .verb = VERB_DISMISS, .by = STR("ann"), .number = NONE };
	struct letter l = { .dialect = DIALECT_ORCHESTRATOR, .channel = CHANNEL_NONE,
			    .path = STR(""), .bytes = STR(""), .to = STR("nobody") };
	struct err err = { { 0 } };
	uint32_t number;

	ck_assert_int_eq(desk_stage(&desk, &draft, &number, &err), 0);
	vec_push(&l.drafts, number);
	ck_assert_msg(desk_send_all(&desk, &l, 1, &number, &err) == 0, "%s", err.text);
	ck_assert_uint_eq(desk_unfinished(&desk), 0);
	vec_release(&l.drafts);
}
END_TEST

/* Also where it corrects what was written: nothing is staged that cannot be said. */
START_TEST(what_is_not_complete_is_not_staged)
{
	static const struct {
		enum verb verb;
		const char *code, *explanation, *answer, *lacks;
	} drafts[] = {
		{ VERB_REJECT, "", "", "", "a rejection needs a reason code or an explanation" },
		{ VERB_REJECT, " ", " \n", "x", "a rejection needs a reason code or an explanation" },
		{ VERB_PARTIAL, "out_of_scope", "", "", "accepting in part needs an explanation" },
		{ VERB_ANSWER, "x", "x", "  ", "an answer needs its text" },
		{ VERB_REJECT, "out_of_scope", "", "", NULL },
		{ VERB_REJECT, "", "no", "", NULL },
		{ VERB_PARTIAL, "", "half", "", NULL },
		{ VERB_ANSWER, "", "", "5", NULL },
		{ VERB_ACCEPT, "", "", "", NULL },
		{ VERB_ESCALATE, "", "", "", NULL },
	};
	struct letter l = letter_of(stage("find-1"));
	struct draft draft = { .session = desk.group, .item = STR("find-1"), .kind = ITEM_FINDING,
			       .dialect = DIALECT_COLLABORATION, .rev = STR("abc"),
			       .by = STR("ann"), .number = NONE };
	struct err err = { { 0 } };
	uint32_t number;

	ck_assert_int_eq(desk_send_all(&desk, &l, 1, &number, &err), 0);
	draft.corrects = str_of(desk.drafts.v[0].id);
	draft.verb = drafts[_i].verb;
	draft.reason_code = str_of(drafts[_i].code);
	draft.explanation = str_of(drafts[_i].explanation);
	draft.answer = str_of(drafts[_i].answer);
	ck_assert_int_eq(desk_stage(&desk, &draft, &number, &err), drafts[_i].lacks ? -1 : 0);
	ck_assert_uint_eq(desk.drafts.n, drafts[_i].lacks ? 1 : 2);
	if (drafts[_i].lacks)
		ck_assert_ptr_nonnull(strstr(err.text, drafts[_i].lacks));
	vec_release(&l.drafts);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("desk");
	TCase *t = tcase_create("desk");

	tcase_add_checked_fixture(t, setup, teardown);
	suite_add_tcase(suite, t);
	tcase_add_test(t, a_sent_letter_is_proven_by_the_log);
	tcase_add_test(t, an_attempt_is_not_proven_by_the_log);
	tcase_add_loop_test(t, a_lost_intent_is_not_decided_anew, 0, 2);
	tcase_add_loop_test(t, two_names_have_one_journal, 0, 2);
	tcase_add_loop_test(t, what_was_sent_is_not_open_after_a_repair, 2, 5);
	tcase_add_test(t, one_of_a_batch_is_given_up);
	tcase_add_loop_test(t, what_did_arrive_is_not_given_up, 0, 2);
	tcase_add_test(t, a_held_record_that_fails);
	tcase_add_test(t, restated_after_a_failed_sync);
	tcase_add_loop_test(t, nothing_empty_becomes_an_intent, 0, 3);
	tcase_add_test(t, a_dismissal_is_its_record_alone);
	tcase_add_loop_test(t, what_is_not_complete_is_not_staged, 0, 10);
	tcase_add_test(t, several_are_staged_and_undone_at_once);
	tcase_add_loop_test(t, an_unconfirmed_draft_is_confirmed_or_lost, 0, 2);
	tcase_add_loop_test(t, a_batch_is_disturbed, 0, 2);
	tcase_add_loop_test(t, one_that_cannot_be_staged_stops_all, 0, 2);
	return unit_run(suite);
}
