/* Watched folders: listing new files, handling inotify events, and pairing the two events of a
 * rename, so that a log rotated between two looks is still found under its new name. */
#include "wire/follow_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>

enum {
	RENAME_ROUNDS = 1000,
	RENAME_MS = 200, /* longest wait for the second event of a rename */
};

static uint64_t entry_hash(uint32_t folder, struct str base)
{
	return hash_mix(str_hash(base), folder);
}

static uint64_t watch_hash(int watch)
{
	return hash_mix(0x77617463, (uint64_t)(unsigned)watch);
}

static uint32_t find_name(const struct follow *f, uint32_t folder, struct str base)
{
	for (uint32_t it = 0, i; map_next(&f->entries, entry_hash(folder, base), &it, &i);)
		if (f->names.v[i].folder == folder && str_eq(f->names.v[i].base, base))
			return i;
	return UINT32_MAX;
}

uint32_t follow_add_name(struct follow *f, struct str path, uint32_t folder)
{
	struct followed_name n = { .path = path, .base = path, .folder = folder, .file = UINT32_MAX,
			  .due_ms = TAIL_NEVER, .health = FOLLOW_GONE,
			  .since_ms = f->now_ms };

	for (size_t i = 0; i < path.n; i++)
		if (path.p[i] == '/')
			n.base = str_from(path, i + 1);
	if (folder != NO_FOLDER)
		map_add(&f->entries, entry_hash(folder, n.base), f->names.n);
	vec_push(&f->names, n);
	return f->names.n - 1;
}

/* ---- watches ---- */

static void note_watch(struct follow *f, int watch, uint32_t value)
{
	if (watch < 0) {
		f->fast_poll = true;
		return;
	}
	for (uint32_t it = 0, v; map_next(&f->watches, watch_hash(watch), &it, &v);)
		if (v == value)
			return;
	map_add(&f->watches, watch_hash(watch), value);
}

/* Files of a given directory need no watch of their own: the folder's reports their changes. */
void follow_watch_tail(struct follow *f, uint32_t name, struct tail *t)
{
	const struct followed_name *n = &f->names.v[name];
	const struct source *s = &f->w->files.v[t->file].source;

	if (f->inotify < 0 || s->kind != SOURCE_FILE || t->watch >= 0 ||
	    (n->folder != NO_FOLDER && f->folders.v[n->folder].given))
		return;
	t->watch = s->fd >= 0 ? file_watch_open_file(f->inotify, s->fd) : -1;
	if (t->watch < 0 && n->folder != NO_FOLDER)
		t->watch = file_watch_file(f->inotify, n->path.p);
	note_watch(f, t->watch, name * 2);
}

static void watch_folder(struct follow *f, uint32_t folder)
{
	struct folder *d = &f->folders.v[folder];
	struct source_stat look;

	if (f->inotify >= 0) {
		d->watch = file_watch_folder(f->inotify, d->path.p, d->given);
		note_watch(f, d->watch, folder * 2 + 1);
	}
	if (source_stat(d->path.p, -1, &look) == 0) {
		d->dev = look.dev;
		d->ino = look.ino;
	}
}

uint32_t follow_add_folder(struct follow *f, struct str path, bool given)
{
	struct folder d = { .path = path, .given = given, .watch = -1 };
	uint32_t i = 0;

	while (i < f->folders.n && !str_eq(f->folders.v[i].path, path))
		i++;
	if (i == f->folders.n)
		vec_push(&f->folders, d);
	else if (!given || f->folders.v[i].given)
		return i;
	f->folders.v[i].given = given;
	watch_folder(f, i);
	return i;
}

/* ---- listing ---- */

struct entry_arrival {
	char *name;
	int64_t changed_ns;
};

static int by_time(const void *left, const void *right)
{
	const struct entry_arrival *a = left, *b = right;

	if (a->changed_ns != b->changed_ns)
		return a->changed_ns < b->changed_ns ? -1 : 1;
	return strcmp(a->name, b->name);
}

static struct str path_in(struct follow *f, uint32_t folder, const char *base)
{
	return wire_join(f->w, f->folders.v[folder].path, base);
}

static void entry_came(struct follow *f, uint32_t folder, const char *base)
{
	uint32_t name = find_name(f, folder, str_of(base));

	if (name == UINT32_MAX) {
		name = follow_add_name(f, path_in(f, folder, base), folder);
		f->names.v[name].listed = true;
	}
	follow_queue(f, name);
}

/* Adds names that are not known yet, sorted by modification time. */
static void list_folder(struct follow *f, uint32_t folder)
{
	struct source dir = { .name = f->folders.v[folder].path.p };
	struct source_names list = { 0 };
	VEC(struct entry_arrival) came = { 0 };

	if (source_list(&dir, wire_wants, &list, NULL) < 0) {
		source_names_release(&list);
		return;
	}
	for (uint32_t i = 0; i < list.names.n; i++) {
		uint32_t name = find_name(f, folder, str_of(list.names.v[i]));
		struct source_stat look = { 0 };

		if (name != UINT32_MAX) {
			if (f->names.v[name].health != FOLLOW_LIVE)
				follow_queue(f, name);
			continue;
		}
		source_stat(path_in(f, folder, list.names.v[i]).p, -1, &look);
		vec_push(&came, (struct entry_arrival){ list.names.v[i], look.changed_ns });
	}
	if (came.n)
		qsort(came.v, came.n, sizeof(*came.v), by_time);
	for (uint32_t i = 0; i < came.n; i++)
		entry_came(f, folder, came.v[i].name);
	vec_release(&came);
	source_names_release(&list);
}

static void look_at_folder(struct follow *f, uint32_t folder)
{
	struct folder *d = &f->folders.v[folder];
	struct source_stat look;
	bool changed;

	if (source_stat(d->path.p, -1, &look) < 0 || !S_ISDIR(look.mode)) {
		if (!d->gone)
			d->since_ms = f->now_ms;
		d->gone = true;
		return;
	}
	changed = d->gone || d->dev != look.dev || d->ino != look.ino ||
		  d->changed_ns != look.changed_ns;
	if (d->gone || d->watch < 0 || d->dev != look.dev || d->ino != look.ino)
		watch_folder(f, folder);
	d->gone = false;
	if (!d->given || (!changed && d->listed_again))
		return;
	d->listed_again = !changed;
	d->changed_ns = look.changed_ns;
	list_folder(f, folder);
}

void follow_look_at_folders(struct follow *f)
{
	for (uint32_t i = 0; i < f->folders.n; i++)
		look_at_folder(f, i);
}

/* ---- inotify events ---- */

static void entry_left(struct follow *f, uint32_t folder, const struct file_event *e, uint32_t name)
{
	for (uint32_t i = 0; i < f->renamed.n; i++) {
		struct renamed_file *s = &f->renamed.v[i];

		if (s->folder != folder || !s->base || !str_is(e->name, s->base))
			continue;
		free(s->base);
		s->base = NULL;
		s->cookie = e->cookie; /* 0: deleted */
		s->since_ms = f->now_ms;
		s->tried = false;
	}
	if (name != UINT32_MAX && e->cookie)
		vec_push(&f->renamed, (struct renamed_file){ .name = name, .cookie = e->cookie,
						     .since_ms = f->now_ms });
}

static void entry_arrived(struct follow *f, uint32_t folder, const struct file_event *e)
{
	for (uint32_t i = 0; i < f->renamed.n && e->cookie; i++)
		if (!f->renamed.v[i].base && f->renamed.v[i].cookie == e->cookie) {
			f->renamed.v[i].folder = folder;
			f->renamed.v[i].base = xstrdup(e->name.p);
			f->renamed.v[i].tried = false;
			follow_queue(f, f->renamed.v[i].name);
		}
}

static void on_folder_event(struct follow *f, uint32_t folder, const struct file_event *e)
{
	uint32_t name = find_name(f, folder, e->name);

	if (!e->name.n) {
		/* the tick watches whatever folder has this path now */
		if ((e->what & FILE_EVENT_ENDED) && f->folders.v[folder].watch == e->watch) {
			f->folders.v[folder].watch = -1;
			f->tick_ms = f->now_ms;
		}
		return;
	}
	if (e->what & FILE_EVENT_LEFT)
		entry_left(f, folder, e, name);
	if (e->what & FILE_EVENT_CAME)
		entry_arrived(f, folder, e);
	if (name != UINT32_MAX)
		follow_queue(f, name);
	else if (f->folders.v[folder].given && !(e->what & FILE_EVENT_LEFT) &&
		 e->name.p[0] != '.' && wire_wants(e->name))
		entry_came(f, folder, e->name.p);
}

static void on_event(void *ctx, const struct file_event *e)
{
	struct follow *f = ctx;

	if (e->what & FILE_EVENT_MISSED) {
		for (uint32_t i = 0; i < f->names.n; i++)
			follow_queue(f, i);
		for (uint32_t i = 0; i < f->folders.n; i++)
			f->folders.v[i].listed_again = false;
		f->tick_ms = f->now_ms;
		return;
	}
	for (uint32_t it = 0, v; map_next(&f->watches, watch_hash(e->watch), &it, &v);) {
		if (v % 2)
			on_folder_event(f, v / 2, e);
		else
			follow_queue(f, v / 2);
	}
}

static void drop_first_renamed(struct follow *f)
{
	free(f->renamed.v[0].base);
	f->renamed.n--;
	memmove(f->renamed.v, f->renamed.v + 1, f->renamed.n * sizeof(*f->renamed.v));
}

/* Opens the oldest stray by its reported name, then reads further events to see whether it had
 * already been renamed again; if so, it is retried. false: its new name is not known yet. */
static bool open_renamed(struct follow *f, bool patient)
{
	struct renamed_file *s = &f->renamed.v[0];
	struct source source = { .fd = -1 };

	if (!s->base) {
		bool gone = !s->cookie || f->now_ms - s->since_ms >= RENAME_MS;

		if (gone)
			drop_first_renamed(f); /* deleted, or moved out of the watched folders */
		return gone;
	}
	if (f->w->files.n < WIRE_FILES_MAX)
		source_open(&source, path_in(f, s->folder, s->base).p, NULL);
	s->tried = true;
	file_watch_read(f->inotify, on_event, f);
	s = &f->renamed.v[0];
	if (!s->tried && patient) {
		source_close(&source);
		return true;
	}
	if (source.fd >= 0 && source.kind == SOURCE_FILE)
		follow_take_renamed(f, s->name, &source);
	else
		source_close(&source);
	drop_first_renamed(f);
	return true;
}

void follow_read_events(struct follow *f)
{
	if (f->inotify < 0)
		return;
	file_watch_read(f->inotify, on_event, f);
	for (int rounds = 0; f->renamed.n; rounds++)
		if (!open_renamed(f, rounds < RENAME_ROUNDS))
			break;
}

int64_t follow_rename_deadline(const struct follow *f, uint32_t name)
{
	for (uint32_t i = 0; i < f->renamed.n; i++)
		if (f->renamed.v[i].name == name)
			return f->renamed.v[0].since_ms + RENAME_MS;
	return TAIL_NEVER;
}
