/* gavel purge: removes what is old and no longer needed.
 *
 *   captures   STATE/captures/RUN: what agents of one run have written; not while a gavel keeps it open,
 *              nor while something decided on it is unfinished
 *   journals   STATE/HASH: only those whose source is no more, and in which nothing is staged, held or
 *              on its way. A journal whose log is still there is what keeps decided items decided
 *   caches     CACHE: every file
 *
 * What is old is told by the newest file of a folder. A folder is first given a name that nobody
 * looks for, and then emptied, so that no half of it is ever found. Links are not followed and not
 * removed. */
#include "base/io.h"
#include "cmd/cmd.h"
#include "session/load.h"
#include "view/view_parts.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum kind { CAPTURES, JOURNALS, CACHES, KINDS };

struct purge {
	time_t before; /* what was changed last then or before is old */
	bool dry;
	uint64_t bytes;
	uint32_t removed[KINDS], in_use;
	bool trouble;
	VEC(char *) unfinished; /* sources that a journal still needs */
};

/* What is known of a folder's files. */
struct pile {
	uint64_t bytes;
	time_t newest;
	bool odd;    /* holds something that is no plain file */
	bool locked; /* somebody has it open for writing */
};

/* ---- looking ---- */

/* Folders below are opened by their own name only: a link in their place is none. */
static DIR *open_folder(const char *path)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);

	if (!dir && fd >= 0)
		close(fd);
	return dir;
}

static bool is_dots(const char *name)
{
	return strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
}

/* A capture is locked by whoever writes it. */
static bool is_locked(int folder, const char *name)
{
	int fd = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	bool locked = fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) < 0;

	if (fd >= 0)
		close(fd);
	return locked;
}

static int look_at_folder(const char *path, struct pile *out)
{
	DIR *dir = open_folder(path);
	struct dirent *entry;
	struct stat st;

	*out = (struct pile){ 0 };
	if (!dir)
		return -1;
	if (fstat(dirfd(dir), &st) == 0)
		out->newest = st.st_mtime;
	while ((entry = readdir(dir))) {
		if (is_dots(entry->d_name))
			continue;
		if (fstatat(dirfd(dir), entry->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0 ||
		    !S_ISREG(st.st_mode)) {
			out->odd = true;
			continue;
		}
		out->bytes += (uint64_t)st.st_size;
		out->newest = st.st_mtime > out->newest ? st.st_mtime : out->newest;
		out->locked |= is_locked(dirfd(dir), entry->d_name);
	}
	closedir(dir);
	return 0;
}

/* ---- removing ---- */

static void say(struct purge *p, enum kind kind, const char *path, uint64_t bytes)
{
	struct buf line = { 0 };
	char size[16];

	buf_adds(&line, p->dry ? "would remove " : "removed ");
	add_clean(&line, str_of(path), TEXT_LINE);
	buf_printf(&line, " (%sB)\n", short_number(bytes, size));
	fwrite(line.p, 1, line.n, stdout);
	buf_release(&line);
	p->removed[kind]++;
	p->bytes += bytes;
}

static void fail(struct purge *p, const char *path)
{
	struct buf line = { 0 };

	buf_adds(&line, "gavel: ");
	add_clean(&line, str_of(path), TEXT_LINE);
	buf_printf(&line, ": cannot be removed: %s\n", strerror(errno));
	fwrite(line.p, 1, line.n, stderr);
	buf_release(&line);
	p->trouble = true;
}

/* Empties a folder of its plain files and removes it. */
static int remove_folder(const char *path)
{
	DIR *dir = open_folder(path);
	struct dirent *entry;
	struct stat st;
	int rc = dir ? 0 : -1;

	while (dir && (entry = readdir(dir)))
		if (!is_dots(entry->d_name) &&
		    fstatat(dirfd(dir), entry->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
		    S_ISREG(st.st_mode) && unlinkat(dirfd(dir), entry->d_name, 0) < 0)
			rc = -1;
	if (dir)
		closedir(dir);
	return rc < 0 ? -1 : rmdir(path);
}

#define ASIDE ".purged-"

/* What a purge that was ended left behind. */
static bool finish_purge(struct purge *p, const char *name, const char *path)
{
	if (!str_starts(str_of(name), STR(ASIDE)))
		return false;
	if (!p->dry && remove_folder(path) < 0)
		fail(p, path);
	return true;
}

static void purge_folder(struct purge *p, enum kind kind, const char *base, const char *name,
			 uint64_t bytes)
{
	struct buf path = { 0 }, aside = { 0 };

	buf_printf(&path, "%s/%s", base, name);
	buf_printf(&aside, "%s/" ASIDE "%s", base, name);
	if (!p->dry && (rename(path.p, aside.p) < 0 || remove_folder(aside.p) < 0))
		fail(p, path.p);
	else
		say(p, kind, path.p, bytes);
	buf_release(&path);
	buf_release(&aside);
}

/* ---- journals ---- */

static bool is_finished(const struct desk *d)
{
	return d->trouble == JOURNAL_FINE && !desk_staged(d) && !desk_unfinished(d);
}

static bool is_gone(struct str source)
{
	struct stat st;

	/* a name that was not UTF-8 could not be kept: whether it is there cannot be told */
	return source.n && source.p[0] == '/' && str_find(source, STR("\xef\xbf\xbd"), 0) < 0 &&
	       lstat(source.p, &st) < 0 && errno == ENOENT;
}

/* With the lock of the journal, so that nobody else is just going to use it. */
static void purge_journal(struct purge *p, const char *base, const char *name, const char *path)
{
	struct desk d = { 0 };
	struct pile pile;

	if (look_at_folder(path, &pile) < 0 || pile.odd || pile.newest > p->before)
		return;
	desk_open_dir(&d, path, !p->dry);
	if (d.trouble == JOURNAL_LOCKED)
		p->in_use++;
	else if (is_finished(&d) && is_gone(d.source))
		purge_folder(p, JOURNALS, base, name, pile.bytes);
	desk_close(&d);
}

/* Notes what journals need, or removes those that nobody does. */
static void each_journal(struct purge *p, const char *base, bool removing)
{
	DIR *dir = opendir(base);
	struct dirent *entry;

	while (dir && (entry = readdir(dir))) {
		struct buf path = { 0 };
		struct stat st;

		buf_printf(&path, "%s/%s", base, entry->d_name);
		if (removing && finish_purge(p, entry->d_name, path.p)) {
			; /* that was it */
		} else if (entry->d_name[0] != '.' && lstat(path.p, &st) == 0 &&
			   S_ISDIR(st.st_mode) && journal_is_there(path.p)) {
			if (removing) {
				purge_journal(p, base, entry->d_name, path.p);
			} else {
				struct desk d = { 0 };

				desk_open_dir(&d, path.p, false);
				if (!is_finished(&d) && d.source.n)
					vec_push(&p->unfinished, xstrdup(d.source.p));
				desk_close(&d);
			}
		}
		buf_release(&path);
	}
	if (dir)
		closedir(dir);
}

/* ---- captures ---- */

/* Whether a journal still needs a file of that folder. */
static bool is_needed(const struct purge *p, const char *folder)
{
	char *real = realpath(folder, NULL);
	bool needed = false;

	for (uint32_t i = 0; real && i < p->unfinished.n; i++) {
		size_t n = strlen(real);

		needed |= strncmp(p->unfinished.v[i], real, n) == 0 && p->unfinished.v[i][n] == '/';
	}
	free(real);
	return needed;
}

static void purge_captures(struct purge *p, const char *state)
{
	struct buf base = { 0 };
	struct dirent *entry;
	DIR *dir;

	buf_printf(&base, "%s/captures", state);
	dir = open_folder(base.p);
	while (dir && (entry = readdir(dir))) {
		struct buf path = { 0 };
		struct pile pile;

		buf_printf(&path, "%s/%s", base.p, entry->d_name);
		if (is_dots(entry->d_name) || finish_purge(p, entry->d_name, path.p) ||
		    look_at_folder(path.p, &pile) < 0 || pile.odd)
			; /* not ours */
		else if (pile.locked || is_needed(p, path.p))
			p->in_use += pile.newest <= p->before;
		else if (pile.newest <= p->before)
			purge_folder(p, CAPTURES, base.p, entry->d_name, pile.bytes);
		buf_release(&path);
	}
	if (dir)
		closedir(dir);
	buf_release(&base);
}

/* ---- caches ---- */

static void purge_caches(struct purge *p, const char *base, int depth)
{
	DIR *dir = depth ? open_folder(base) : opendir(base);
	struct dirent *entry;

	while (dir && (entry = readdir(dir))) {
		struct buf path = { 0 };
		struct stat st;

		buf_printf(&path, "%s/%s", base, entry->d_name);
		if (is_dots(entry->d_name) ||
		    fstatat(dirfd(dir), entry->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0) {
			; /* gone meanwhile */
		} else if (S_ISDIR(st.st_mode) && depth < 3) {
			purge_caches(p, path.p, depth + 1);
			if (!p->dry)
				unlinkat(dirfd(dir), entry->d_name, AT_REMOVEDIR); /* if it is empty */
		} else if (S_ISREG(st.st_mode) && st.st_mtime <= p->before) {
			if (is_locked(dirfd(dir), entry->d_name))
				p->in_use++;
			else if (!p->dry && unlinkat(dirfd(dir), entry->d_name, 0) < 0)
				fail(p, path.p);
			else
				say(p, CACHES, path.p, (uint64_t)st.st_size);
		}
		buf_release(&path);
	}
	if (dir)
		closedir(dir);
}

static void sum_up(const struct purge *p)
{
	char size[16];

	printf("%s: %u captures, %u journals, %u cache files, %sB", p->dry ? "would remove" : "removed",
	       p->removed[CAPTURES], p->removed[JOURNALS], p->removed[CACHES],
	       short_number(p->bytes, size));
	if (p->in_use)
		printf("; %u old ones are in use or unfinished and stay", p->in_use);
	printf("\n");
}

int cmd_purge(struct options *o)
{
	struct purge p = { .dry = o->dry_run };
	struct buf state = { 0 }, cache = { 0 };

	if (o->words.n) {
		fprintf(stderr, "gavel: purge takes no names; --older-than says what is old, --dry-run "
				"shows it first\n");
		return EXIT_TROUBLE;
	}
	p.before = time(NULL) - (o->has_age ? (time_t)o->older_than_s : 30 * 86400);
	desk_base(NULL, &state);
	io_user_folder("XDG_CACHE_HOME", ".cache", &cache);
	each_journal(&p, state.p, false);
	purge_captures(&p, state.p);
	each_journal(&p, state.p, true);
	purge_caches(&p, cache.p, 0);
	sum_up(&p);
	for (uint32_t i = 0; i < p.unfinished.n; i++)
		free(p.unfinished.v[i]);
	vec_release(&p.unfinished);
	buf_release(&state);
	buf_release(&cache);
	return p.trouble ? EXIT_TROUBLE : EXIT_FINE;
}
