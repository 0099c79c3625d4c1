/* gavel purge: removes old files that are no longer needed.
 *
 *   captures   STATE/captures/RUN, the output of one run's agents; not while a gavel has it open,
 *              nor while a decision on it is unfinished
 *   journals   STATE/HASH, if the source was deleted and nothing is staged, held or being
 *              delivered: while the log exists, its journal keeps decided items decided
 *   caches     CACHE: every file
 *
 * The age of a folder is that of its newest file. A folder is renamed before its files are deleted,
 * so that it is never found half empty. Symbolic links are neither followed nor removed. */
#include "base/io.h"
#include "cmd/cmd.h"
#include "cmd/print.h"
#include "session/load.h"
#include "view/view_parts.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { CACHE_DEPTH_MAX = 3 };
enum kind { CAPTURES, JOURNALS, CACHES, KINDS };

struct purge {
	time_t before; /* old = not modified after that */
	bool dry;
	uint64_t bytes;
	uint32_t removed[KINDS], in_use;
	bool trouble;
	int depth; /* of folders in the cache */
	int folder; /* descriptor of the one being listed, so that no link is followed */
	VEC(char *) unfinished; /* sources with unfinished decisions */
};

/* The files of a folder. */
struct folder_stat {
	uint64_t bytes;
	time_t newest;
	bool odd;    /* has something that is neither a regular file nor a holder's socket */
	bool locked; /* a process has a file open for writing */
};

/* ---- folders ---- */

/* opendir without following a symbolic link. */
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

/* The holder that writes a capture has it locked until it ends. */
static bool is_locked(int folder, const char *name)
{
	int fd = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	bool locked = fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) < 0;

	if (fd >= 0)
		close(fd);
	return locked;
}

static int stat_folder(const char *path, struct folder_stat *out)
{
	DIR *dir = open_folder(path);
	struct dirent *entry;
	struct stat st;

	*out = (struct folder_stat){ 0 };
	if (!dir)
		return -1;
	if (fstat(dirfd(dir), &st) == 0)
		out->newest = st.st_mtime;
	while ((entry = readdir(dir))) {
		if (is_dots(entry->d_name))
			continue;
		if (fstatat(dirfd(dir), entry->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0)
			st.st_mode = 0;
		if (!S_ISREG(st.st_mode)) {
			out->odd |= !S_ISSOCK(st.st_mode) ||
				    !str_ends(str_of(entry->d_name), STR(".sock"));
		} else {
			out->bytes += (uint64_t)st.st_size;
			out->newest = st.st_mtime > out->newest ? st.st_mtime : out->newest;
			out->locked |= is_locked(dirfd(dir), entry->d_name);
		}
	}
	closedir(dir);
	return 0;
}

typedef void (*entry_fn)(struct purge *p, const char *base, const char *name, const char *path);

/* Closes dir, which may be NULL. */
static void each_entry(struct purge *p, DIR *dir, const char *base, entry_fn fn)
{
	struct dirent *entry;
	int outer = p->folder;

	while (dir && (entry = readdir(dir))) {
		struct buf path = { 0 };

		p->folder = dirfd(dir);
		buf_printf(&path, "%s/%s", base, entry->d_name);
		if (!is_dots(entry->d_name))
			fn(p, base, entry->d_name, path.p);
		buf_release(&path);
	}
	if (dir)
		closedir(dir);
	p->folder = outer;
}

/* ---- removing ---- */

static void note_removed(struct purge *p, enum kind kind, const char *path, uint64_t bytes)
{
	struct buf line = { 0 };
	char size[16];

	add_labelled(&line, p->dry ? "would remove " : "removed ", str_of(path), TEXT_LINE);
	buf_printf(&line, " (%sB)\n", short_number(bytes, size));
	print_text(&line);
	p->removed[kind]++;
	p->bytes += bytes;
}

static void fail(struct purge *p, const char *path)
{
	say_error("%s: cannot be removed: %s", path, strerror(errno));
	p->trouble = true;
}

/* Deletes the regular files and sockets of a folder, then the folder. */
static int remove_folder(const char *path)
{
	DIR *dir = open_folder(path);
	struct dirent *entry;
	struct stat st;
	int rc = dir ? 0 : -1;

	while (dir && (entry = readdir(dir)))
		if (!is_dots(entry->d_name) &&
		    fstatat(dirfd(dir), entry->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
		    (S_ISREG(st.st_mode) || S_ISSOCK(st.st_mode)) &&
		    unlinkat(dirfd(dir), entry->d_name, 0) < 0)
			rc = -1;
	if (dir)
		closedir(dir);
	return rc < 0 ? -1 : rmdir(path);
}

#define PURGED_PREFIX ".purged-"

/* Removes what an interrupted purge left. */
static bool finish_purge(struct purge *p, const char *name, const char *path)
{
	if (!str_starts(str_of(name), STR(PURGED_PREFIX)))
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
	buf_printf(&aside, "%s/" PURGED_PREFIX "%s", base, name);
	if (!p->dry && (rename(path.p, aside.p) < 0 || remove_folder(aside.p) < 0))
		fail(p, path.p);
	else
		note_removed(p, kind, path.p, bytes);
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

	/* U+FFFD: the name was not UTF-8, and is not known exactly */
	return source.n && source.p[0] == '/' && str_find(source, STR("\xef\xbf\xbd"), 0) < 0 &&
	       lstat(source.p, &st) < 0 && errno == ENOENT;
}

static bool is_journal(const char *name, const char *path)
{
	struct stat st;

	return name[0] != '.' && lstat(path, &st) == 0 && S_ISDIR(st.st_mode) &&
	       journal_is_there(path);
}

static void note_unfinished(struct purge *p, const char *base, const char *name, const char *path)
{
	struct desk d = { 0 };

	(void)base;
	if (!is_journal(name, path))
		return;
	desk_open_dir(&d, path, false);
	if (!is_finished(&d) && d.source.n)
		vec_push(&p->unfinished, xstrdup(d.source.p));
	desk_close(&d);
}

/* Whether none of the logs that the journal is of is there. */
static bool is_abandoned(const struct desk *d)
{
	bool gone = d->logs.n > 0;

	for (uint32_t i = 0; i < d->logs.n; i++)
		gone &= is_gone(d->logs.v[i].source);
	return gone;
}

static void purge_index(const struct desk *d, const char *base, const char *name)
{
	for (uint32_t i = 0; i < d->logs.n; i++)
		if (d->logs.v[i].file.head[0])
			index_remove(base, d->logs.v[i].file.head, name);
}

/* Holds the lock of the journal, so that no other process begins to use it. */
static void purge_journal(struct purge *p, const char *base, const char *name, const char *path)
{
	struct desk d = { 0 };
	struct folder_stat stat;

	if (finish_purge(p, name, path) || !is_journal(name, path) ||
	    stat_folder(path, &stat) < 0 || stat.odd || stat.newest > p->before)
		return;
	desk_open_dir(&d, path, !p->dry);
	if (d.trouble == JOURNAL_LOCKED) {
		p->in_use++;
	} else if (is_finished(&d) && is_abandoned(&d)) {
		if (!p->dry)
			purge_index(&d, base, name);
		purge_folder(p, JOURNALS, base, name, stat.bytes);
	}
	desk_close(&d);
}

/* ---- captures ---- */

/* Whether a file of that folder has unfinished decisions. */
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

static void purge_capture(struct purge *p, const char *base, const char *name, const char *path)
{
	struct folder_stat stat;

	if (finish_purge(p, name, path) || stat_folder(path, &stat) < 0 || stat.odd)
		return;
	if (stat.locked || is_needed(p, path))
		p->in_use += stat.newest <= p->before;
	else if (stat.newest <= p->before)
		purge_folder(p, CAPTURES, base, name, stat.bytes);
}

/* ---- caches ---- */

static void purge_cache(struct purge *p, const char *base, const char *name, const char *path)
{
	struct stat st;

	(void)base;
	if (fstatat(p->folder, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return;
	if (S_ISDIR(st.st_mode) && p->depth < CACHE_DEPTH_MAX) {
		p->depth++;
		each_entry(p, open_folder(path), path, purge_cache);
		p->depth--;
		if (!p->dry)
			unlinkat(p->folder, name, AT_REMOVEDIR); /* if it is empty */
	} else if (S_ISREG(st.st_mode) && st.st_mtime <= p->before) {
		if (is_locked(p->folder, name))
			p->in_use++;
		else if (!p->dry && unlinkat(p->folder, name, 0) < 0)
			fail(p, path);
		else
			note_removed(p, CACHES, path, (uint64_t)st.st_size);
	}
}

static void print_total(const struct purge *p)
{
	struct buf line = { 0 };
	char size[16];

	buf_printf(&line, "%s: %u capture%s, %u journal%s, %u cache file%s, %sB",
		   p->dry ? "would remove" : "removed", p->removed[CAPTURES],
		   plural_s(p->removed[CAPTURES]), p->removed[JOURNALS],
		   plural_s(p->removed[JOURNALS]), p->removed[CACHES],
		   plural_s(p->removed[CACHES]), short_number(p->bytes, size));
	if (p->in_use)
		buf_printf(&line, "; kept %u old one%s in use or unfinished", p->in_use,
			   plural_s(p->in_use));
	print_text(&line);
}

int cmd_purge(struct options *o)
{
	struct purge p = { .dry = o->dry_run };
	struct buf state = { 0 }, captures = { 0 }, cache = { 0 };

	if (o->words.n)
		return print_trouble("purge takes no names; --older-than says what is old, "
				     "--dry-run shows it first");
	p.before = time(NULL) - (o->has_age ? (time_t)o->older_than_s : 30 * 86400);
	desk_base(NULL, &state);
	io_user_folder("XDG_CACHE_HOME", ".cache", &cache);
	buf_printf(&captures, "%s/captures", state.p);
	each_entry(&p, opendir(state.p), state.p, note_unfinished);
	each_entry(&p, open_folder(captures.p), captures.p, purge_capture);
	each_entry(&p, opendir(state.p), state.p, purge_journal);
	each_entry(&p, opendir(cache.p), cache.p, purge_cache);
	print_total(&p);
	for (uint32_t i = 0; i < p.unfinished.n; i++)
		free(p.unfinished.v[i]);
	vec_release(&p.unfinished);
	buf_release(&state);
	buf_release(&captures);
	buf_release(&cache);
	return p.trouble ? EXIT_TROUBLE : EXIT_FINE;
}
