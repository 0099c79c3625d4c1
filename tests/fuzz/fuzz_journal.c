/* A journal of any bytes: reading and checking it do no harm and have one verdict, opening it for writing either refuses or
 * leaves one that is whole, and repairing makes one that is whole from whatever is there. The input is
 * one segment; a line that begins with '=' gets the hash that belongs there, so that records get
 * through to those who read them. */
#include "base/sha256.h"
#include "journal/journal.h"

#include "fuzz.h"

#include <unistd.h>

static void count(void *ctx, struct str json)
{
	(void)json;
	++*(uint64_t *)ctx;
}

static void add_record(struct buf *out, char hash[65], struct str json)
{
	struct sha256 s;

	sha256_begin(&s);
	sha256_add(&s, str_make(hash, 64));
	sha256_add(&s, json);
	sha256_end_hex(&s, hash);
	buf_printf(out, "%s ", hash);
	buf_add_str(out, json);
	buf_adds(out, "\n");
}

static void make_segment(struct str text, struct buf *out)
{
	char hash[65];

	memset(hash, '0', 64);
	hash[64] = '\0';
	while (text.n) {
		const char *end = memchr(text.p, '\n', text.n);
		struct str line = str_make(text.p, end ? (size_t)(end - text.p) : text.n);

		if (line.n && line.p[0] == '=' && end)
			add_record(out, hash, str_from(line, 1));
		else
			buf_add_str(out, str_make(line.p, line.n + (end ? 1 : 0)));
		text = str_from(text, line.n + (end ? 1 : 0));
	}
}

static void is_whole(const char *dir)
{
	struct journal j = { .fd = -1, .lock_fd = -1 };
	struct buf told = { 0 };
	struct err err = { "" };
	uint64_t records = 0, verified = 0;

	PROMISE(journal_open(&j, dir, false, STR(""), count, &records, &err) == JOURNAL_FINE);
	journal_close(&j);
	PROMISE(journal_verify(dir, &told, &verified) == 0 && verified == records);
	buf_release(&told);
}

/* Looking, deciding and repairing have one verdict. */
static void open_for_writing(const char *dir)
{
	struct journal j = { .fd = -1, .lock_fd = -1 };
	struct buf told = { 0 };
	struct err err = { "" };
	uint64_t records = 0;
	unsigned problems = journal_verify(dir, &told, &records);
	enum journal_result looked = journal_open(&j, dir, false, STR(""), NULL, NULL, &err);

	buf_release(&told);
	PROMISE((problems > 0) == (looked == JOURNAL_DAMAGED || looked == JOURNAL_NONE));
	journal_close(&j);
	j = (struct journal){ 0 };
	if (journal_open(&j, dir, true, STR("{\"head\":1}"), count, &records, &err) == JOURNAL_FINE) {
		PROMISE(journal_append(&j, STR("{\"more\":1}"), true, &err) == 0);
		journal_close(&j);
		is_whole(dir);
		PROMISE(problems == 0);
	} else {
		PROMISE(err.text[0] && problems > 0);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	const char *dir = fuzz_path("journal");
	struct buf segment = { 0 }, told = { 0 };
	struct err err = { "" };
	char path[256];

	fuzz_folder_remove();
	PROMISE(mkdir(fuzz_folder, 0700) == 0 && mkdir(dir, 0700) == 0);
	umask(077);
	make_segment(str_make((const char *)bytes, n), &segment);
	snprintf(path, sizeof(path), "%s/journal-000001", dir);
	fuzz_write(path, "w", buf_str(&segment));
	open_for_writing(dir);
	if (journal_repair(dir, &told, &err) == JOURNAL_FINE) {
		open_for_writing(dir);
		is_whole(dir);
	}
	buf_release(&segment);
	buf_release(&told);
	return 0;
}
