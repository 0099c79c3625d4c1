/* Lists the folders that contain a journal; judges the folder that contains them. */
#include "session/journals.h"

#include "base/io.h"
#include "decide/desk.h"

#include <dirent.h>
#include <stdlib.h>

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

void journals_find(const char *given, struct journal_folders *out)
{
	struct buf base = { 0 };
	struct dirent *entry;
	DIR *dir;

	desk_base(given, &base);
	if (journal_is_there(base.p))
		vec_push(&out->list, xstrdup(base.p));
	dir = opendir(base.p);
	while (dir && (entry = readdir(dir))) {
		struct buf path = { 0 };

		buf_printf(&path, "%s/%s", base.p, entry->d_name);
		if (entry->d_name[0] != '.' && journal_is_there(path.p))
			vec_push(&out->list, xstrdup(path.p));
		buf_release(&path);
	}
	if (dir)
		closedir(dir);
	if (out->list.n)
		qsort(out->list.v, out->list.n, sizeof(char *), by_name);
	buf_release(&base);
}

void journals_release(struct journal_folders *f)
{
	for (uint32_t i = 0; i < f->list.n; i++)
		free(f->list.v[i]);
	vec_release(&f->list);
}

int journals_check_place(const char *given, struct err *err)
{
	struct buf path = { 0 };
	struct stat st;
	int rc = 0;

	desk_base(given, &path);
	for (int i = 0; i < 2 && rc == 0; i++) {
		if (stat(path.p, &st) == 0)
			rc = io_check_owner(path.p, &st, false, err);
		buf_adds(&path, "/captures");
	}
	buf_release(&path);
	return rc;
}
