/* The logs that tests go through: every one among the fixtures, and the demo; and beginnings of
 * them. */
#ifndef GAVEL_TESTS_LOGS_H
#define GAVEL_TESTS_LOGS_H

#include "base/buf.h"
#include "base/mem.h"
#include "model/model.h"
#include "unit.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>

static char **logs;
static int log_count;

/* The first `bytes` of a log under the log's own name, since names are part of what is shown. */
static void write_prefix(const char *path, const char *to, size_t bytes, bool newline)
{
	FILE *in = fopen(path, "rb"), *out = fopen(to, "wb");
	int c;

	ck_assert_ptr_nonnull(in);
	ck_assert_ptr_nonnull(out);
	while (bytes-- && (c = getc(in)) != EOF)
		putc(c, out);
	if (newline)
		putc('\n', out);
	fclose(in);
	ck_assert_int_eq(fclose(out), 0);
}

/* How much of a log the first k messages are. */
static inline size_t bytes_up_to(const struct model *m, uint32_t k)
{
	return k ? message_offset(m, k - 1) + m->records.v[k - 1].length : 0;
}

static void add_log(const char *dir, const char *name)
{
	struct buf path = { 0 };
	char *real;

	buf_printf(&path, "%s/%s", dir, name);
	real = realpath(path.p, NULL);
	if (real) {
		logs = xrealloc(logs, (size_t)(log_count + 1) * sizeof(*logs));
		logs[log_count++] = real;
	}
	buf_release(&path);
}

/* Every log below a folder. */
static void add_folder(const char *base, const char *name)
{
	struct buf path = { 0 };
	struct dirent *entry;
	DIR *dir;

	buf_printf(&path, "%s/%s", base, name);
	dir = opendir(path.p);
	while (dir && (entry = readdir(dir))) {
		if (str_ends(str_of(entry->d_name), STR(".ndjson")))
			add_log(path.p, entry->d_name);
		else if (!strchr(entry->d_name, '.'))
			add_folder(path.p, entry->d_name);
	}
	if (dir)
		closedir(dir);
	buf_release(&path);
}

#endif
