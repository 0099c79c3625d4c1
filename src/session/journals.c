/* Looking for journals. */
#include "session/journals.h"

#include "decide/desk.h"

#include <dirent.h>
#include <stdlib.h>

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

void folders_find(const char *given, struct folders *out)
{
	struct buf base = { 0 };
	struct dirent *entry;
	DIR *dir;

	desk_base(given, &base);
	if (journal_is_there(base.p)) /* one journal's own folder was given */
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

void folders_release(struct folders *f)
{
	for (uint32_t i = 0; i < f->list.n; i++)
		free(f->list.v[i]);
	vec_release(&f->list);
}
