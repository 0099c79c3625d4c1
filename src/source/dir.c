/* Directory listing: sorted names only; the caller opens each file by its own path. */
#include "source/source.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>

static int by_bytes(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

int source_list(const struct source *s, bool (*wanted)(struct str name), struct source_names *out,
		struct err *err)
{
	DIR *dir = opendir(s->name);
	int failure;

	if (!dir)
		return source_fail(s->name, errno, err);
	for (;;) {
		struct dirent *entry;

		errno = 0;
		entry = readdir(dir);
		if (!entry)
			break;
		if (entry->d_name[0] != '.' && wanted(str_of(entry->d_name)))
			vec_push(&out->names, xstrdup(entry->d_name));
	}
	failure = errno;
	closedir(dir);
	if (failure)
		return source_fail(s->name, failure, err);
	if (out->names.n)
		qsort(out->names.v, out->names.n, sizeof(*out->names.v), by_bytes);
	return 0;
}

void source_names_release(struct source_names *list)
{
	for (uint32_t i = 0; i < list->names.n; i++)
		free(list->names.v[i]);
	vec_release(&list->names);
}
