/* Followed names and the succession of files behind each (rotation, truncation, rewrite), the work
 * queue of names to read, and the deadlines for the next look. */
#include "wire/follow_internal.h"

#include "base/io.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	LOOK_BYTES = 1024,   /* charged to the budget per look, even if nothing was read */
	LOOKS_A_TICK = 512,
};

static struct wire_file *file_of(const struct follow *f, const struct tail *t)
{
	return &f->w->files.v[t->file];
}

void follow_queue(struct follow *f, uint32_t name)
{
	if (f->names.v[name].queued)
		return;
	f->names.v[name].queued = true;
	vec_push(&f->queue, name);
}

/* ---- health ---- */

static void set_health(struct follow *f, struct followed_name *n, enum follow_health health,
		       const char *why)
{
	if (n->health != health)
		n->since_ms = f->now_ms;
	n->health = health;
	n->retry_ms = f->now_ms + FOLLOW_TICK_MS;
	if (why && n->why && strcmp(why, n->why) == 0)
		return;
	free(n->why);
	n->why = why ? xstrdup(why) : NULL;
}

static void set_unreadable(struct follow *f, struct followed_name *n, const char *what)
{
	struct err err;

	err_set(&err, "%.300s: %s", n->path.p, what);
	set_health(f, n, FOLLOW_UNREADABLE, err.text);
}

static void set_failed(struct follow *f, struct followed_name *n, int number)
{
	bool gone = number == ENOENT || number == ENOTDIR || number == ELOOP;
	struct err err;

	source_fail(n->path.p, number, &err);
	set_health(f, n, gone ? FOLLOW_GONE : FOLLOW_UNREADABLE, err.text);
}

/* ---- rotation: the files of one name ---- */

static void watch_stream(struct follow *f, uint32_t name, const struct source *s)
{
	struct epoll_event event = { .events = EPOLLIN | EPOLLET, .data.u64 = name };

	stream_enlarge_pipe(s);
	if (f->epoll < 0 || epoll_ctl(f->epoll, EPOLL_CTL_ADD, s->fd, &event) < 0)
		f->fast_poll = f->fast_poll || errno != EEXIST;
}

/* Makes t the current file of the name. */
static void take_file(struct follow *f, uint32_t name, struct tail *t)
{
	struct followed_name *n = &f->names.v[name];

	n->now = t;
	n->file = t->file;
	set_health(f, n, FOLLOW_LIVE, NULL);
	if (file_of(f, t)->source.kind == SOURCE_STREAM)
		watch_stream(f, name, &file_of(f, t)->source);
	else
		follow_watch_tail(f, name, t);
}

/* Adds a file that has or had this name to the wire; it inherits group etc. of the previous one. */
static struct tail *attach_file(struct follow *f, uint32_t name, struct source *s)
{
	struct followed_name *n = &f->names.v[name];
	struct wire *w = f->w;
	uint32_t before = n->file, file;
	struct tail *t;

	if (s->kind == SOURCE_STREAM)
		s->spool_only = true;
	s->end = s->start;
	file = wire_append(w, s, n->path);
	if (before != UINT32_MAX) {
		w->files.v[file].group = w->files.v[before].group;
		w->files.v[file].listed = w->files.v[before].listed;
		w->files.v[file].joined = w->files.v[before].joined;
		w->files.v[file].answers = w->files.v[before].answers;
	} else {
		w->files.v[file].group = f->folders.v[n->folder].path;
		w->files.v[file].listed = n->listed;
	}
	t = tail_new(w, file);
	if (before != UINT32_MAX && w->files.v[before].hash)
		t->before = before;
	n->replaced += before != UINT32_MAX;
	return t;
}

static void drop_tail(struct follow *f, struct tail *t)
{
	if (t->watch >= 0)
		file_watch_drop(f->inotify, t->watch);
	tail_free(f->w, t);
}

/* A document lost its name: spool a small one, so that its descriptor can be closed. */
static void leave_document(struct follow *f, struct followed_name *n)
{
	const struct source *s = &file_of(f, n->now)->source;

	if (s->fd >= 0 && s->end - s->start <= WIRE_SMALL_BYTES)
		wire_spool(f->w, n->now->file, s->start, s->end - s->start, NULL);
	drop_tail(f, n->now);
	n->now = NULL;
}

/* The current file lost the name. A log is still followed: its writer may have it open. */
static void retire_current(struct follow *f, struct followed_name *n)
{
	if (n->now && n->now->state == TAIL_DOCUMENT)
		leave_document(f, n);
	else if (n->now)
		vec_push(&n->old, n->now);
	n->now = NULL;
}

/* Strays arrive in the order in which they lost the name, so the file that we still take for the
 * current one is newer than the renamed before it and older than those after. */
void follow_take_renamed(struct follow *f, uint32_t name, struct source *s)
{
	struct followed_name *n = &f->names.v[name];
	struct source_stat look = { .dev = s->dev, .ino = s->ino, .born_ns = s->born_ns };
	struct tail *t;

	follow_queue(f, name);
	if (n->now && source_is(&file_of(f, n->now)->source, &look))
		retire_current(f, n);
	if (wire_find(f->w, s) != UINT32_MAX) {
		source_close(s);
		return;
	}
	t = attach_file(f, name, s);
	vec_push(&n->old, t);
	if (!n->now)
		n->file = t->file;
	follow_watch_tail(f, name, t);
}

/* The file was truncated or rewritten: a new tail on the same file, from its beginning. */
static struct tail *begin_again(struct follow *f, struct followed_name *n, struct tail *old,
				struct feed *feed)
{
	struct tail *t;

	tail_supersede(old, feed);
	t = tail_new(f->w, wire_new_incarnation(f->w, old->file));
	if (old->state == TAIL_DOCUMENT)
		t->before = old->file;
	t->watch = old->watch;
	old->watch = -1;
	drop_tail(f, old);
	n->replaced++;
	return t;
}

static uint32_t find_old(const struct follow *f, const struct followed_name *n,
			 const struct source_stat *look)
{
	for (uint32_t i = 0; i < n->old.n; i++)
		if (source_is(&file_of(f, n->old.v[i])->source, look))
			return i;
	return UINT32_MAX;
}

/* It was renamed away and back. */
static void restore_old(struct follow *f, uint32_t name, uint32_t i)
{
	struct followed_name *n = &f->names.v[name];
	struct tail *t = n->old.v[i];

	memmove(n->old.v + i, n->old.v + i + 1, (n->old.n - i - 1) * sizeof(*n->old.v));
	n->old.n--;
	retire_current(f, n);
	take_file(f, name, t);
}

/* The name refers to a file that was read before, perhaps under another name. A document that is no
 * longer tailed may have changed since, and is read again. */
static bool reread_known_file(struct follow *f, uint32_t name, uint32_t file)
{
	struct followed_name *n = &f->names.v[name];
	struct wire *w = f->w;
	struct wire_file *again;
	struct tail *t;

	retire_current(f, n);
	set_health(f, n, FOLLOW_LIVE, NULL);
	if (w->files.v[file].tailed || !w->files.v[file].hash || w->files.n >= WIRE_FILES_MAX)
		return false;
	t = tail_new(w, wire_new_incarnation(w, file));
	t->before = file;
	again = &w->files.v[t->file];
	again->name = n->path;
	again->base = n->base;
	again->source.name = n->path.p;
	take_file(f, name, t);
	return true;
}

static const char *kind_of(mode_t mode)
{
	if (S_ISDIR(mode))
		return "is a folder now; gavel waits for the log to come back";
	if (S_ISFIFO(mode))
		return "is a FIFO now; gavel waits for the log to come back";
	return "is no longer a regular file; gavel waits for the log to come back";
}

/* Opens the file that has the name now. true: there is something to read. */
static bool open_name(struct follow *f, uint32_t name, mode_t mode)
{
	struct followed_name *n = &f->names.v[name];
	bool was_stream = n->file != UINT32_MAX &&
			  f->w->files.v[n->file].source.kind == SOURCE_STREAM;
	struct source s;
	struct tail *t;

	if (!S_ISREG(mode) && !(S_ISFIFO(mode) && was_stream)) {
		if (n->file == UINT32_MAX) {
			/* not a log that was replaced: it never was a file */
			set_health(f, n, FOLLOW_GONE, NULL);
			return false;
		}
		retire_current(f, n);
		set_unreadable(f, n, kind_of(mode));
		return false;
	}
	if (source_open(&s, n->path.p, NULL) < 0) {
		set_failed(f, n, errno);
		return false;
	}
	if (s.kind == SOURCE_DIR || (s.kind == SOURCE_STREAM && !was_stream) ||
	    wire_find(f->w, &s) != UINT32_MAX) {
		source_close(&s); /* replaced between stat and open: retry at the next look */
		return false;
	}
	t = attach_file(f, name, &s);
	retire_current(f, n);
	take_file(f, name, t);
	/* others may have had the name before this one */
	follow_read_events(f);
	return true;
}

/* Detects rotation: does the name still refer to the file being read? true: there is something to
 * read. */
static bool check_name(struct follow *f, uint32_t name)
{
	struct followed_name *n = &f->names.v[name];
	struct source_stat look;
	uint32_t old, known;

	if (n->folder == NO_FOLDER) {
		if (n->health == FOLLOW_UNREADABLE && !n->failed)
			set_health(f, n, FOLLOW_LIVE, NULL);
		return false;
	}
	/* read files that had the name before the one that has it now */
	if (follow_rename_deadline(f, name) != TAIL_NEVER ||
	    (n->health == FOLLOW_UNREADABLE && n->retry_ms > f->now_ms))
		return false;
	if (source_stat(n->path.p, -1, &look) < 0) {
		set_failed(f, n, errno);
		if (n->health == FOLLOW_GONE && n->now && n->now->state == TAIL_DOCUMENT)
			leave_document(f, n);
		return false;
	}
	if (n->now && source_is(&file_of(f, n->now)->source, &look)) {
		if (!n->failed)
			set_health(f, n, FOLLOW_LIVE, NULL);
		return false;
	}
	old = find_old(f, n, &look);
	if (old != UINT32_MAX) {
		restore_old(f, name, old);
		return true;
	}
	known = wire_find(f->w, &(struct source){ .fd = -1, .dev = look.dev, .ino = look.ino,
						  .born_ns = look.born_ns });
	if (known != UINT32_MAX)
		return reread_known_file(f, name, known);
	if (f->w->files.n >= WIRE_FILES_MAX) {
		set_unreadable(f, n, "too many files; start gavel again");
		return false;
	}
	return open_name(f, name, look.mode);
}

/* Reads the files that lost this name. true: there is more. */
static bool read_old(struct follow *f, uint32_t name, struct feed *feed)
{
	struct followed_name *n = &f->names.v[name];
	uint32_t kept = 0, i;
	bool more = false;

	for (i = 0; i < n->old.n && !more; i++) {
		struct tail *t = n->old.v[i];
		enum tail_result news = tail_read(t, feed, NULL);

		if (news == TAIL_CHANGED && f->w->files.n < WIRE_FILES_MAX) {
			t = begin_again(f, n, t, feed);
			news = TAIL_MORE;
		}
		tail_settle(t, feed);
		more = news == TAIL_MORE;
		if (news == TAIL_EOF && t->came_ms != TAIL_NOT_YET &&
		    feed->now_ms - t->came_ms >= FOLLOW_OLD_MS)
			tail_end(t, feed);
		if (more || (news == TAIL_EOF && n->old.n - i <= FOLLOW_OLD_MAX)) {
			n->old.v[kept++] = t;
			continue;
		}
		tail_end(t, feed);
		drop_tail(f, t);
	}
	if (kept < i)
		memmove(n->old.v + kept, n->old.v + i, (n->old.n - i) * sizeof(*n->old.v));
	n->old.n -= i - kept;
	return more;
}

/* Reads the file that has the name, or had it last. true: there is more. */
static bool read_now(struct follow *f, uint32_t name, struct feed *feed)
{
	struct followed_name *n = &f->names.v[name];
	struct err err = { "" };
	enum tail_result news;

	if (!n->now || n->health == FOLLOW_ENDED)
		return false;
	news = tail_read(n->now, feed, &err);
	n->failed = news == TAIL_FAILED;
	switch (news) {
	case TAIL_EOF:
		tail_settle(n->now, feed);
		return false;
	case TAIL_MORE: return true;
	case TAIL_CHANGED:
		if (f->w->files.n >= WIRE_FILES_MAX)
			return false;
		take_file(f, name, begin_again(f, n, n->now, feed));
		return true;
	case TAIL_ENDED: set_health(f, n, FOLLOW_ENDED, NULL); return false;
	case TAIL_REPLACED:
		tail_end(n->now, feed);
		drop_tail(f, n->now);
		n->now = NULL;
		return false;
	case TAIL_FAILED: set_health(f, n, FOLLOW_UNREADABLE, err.text); return false;
	}
	return false;
}

static int64_t sooner(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

/* Deadline of the next look at this tail if there is no event. */
static int64_t due_of(const struct follow *f, const struct tail *t, bool is_old)
{
	int64_t due = tail_due(f->w, t);

	if (!tail_incomplete(f->w, t))
		return due;
	if (is_old)
		due = sooner(due, t->came_ms + FOLLOW_OLD_MS);
	if (t->line_ms + FOLLOW_SHOWN_MS > f->now_ms)
		due = sooner(due, t->line_ms + FOLLOW_SHOWN_MS);
	return due;
}

static void schedule(struct follow *f, uint32_t name)
{
	struct followed_name *n = &f->names.v[name];

	n->due_ms = follow_rename_deadline(f, name);
	if (n->now)
		n->due_ms = sooner(n->due_ms, due_of(f, n->now, false));
	for (uint32_t i = 0; i < n->old.n; i++)
		n->due_ms = sooner(n->due_ms, due_of(f, n->old.v[i], true));
	if (n->due_ms == TAIL_NEVER || n->waiting)
		return;
	n->waiting = true;
	vec_push(&f->waiting, name);
}

/* true: there is more. Rotated files first: their bytes are older than those of the new file. */
static bool look(struct follow *f, uint32_t name, struct feed *feed)
{
	bool more;

	feed->budget_bytes -= feed->budget_bytes < LOOK_BYTES ? feed->budget_bytes : LOOK_BYTES;
	more = read_old(f, name, feed) || read_now(f, name, feed) || check_name(f, name);
	schedule(f, name);
	return more;
}

/* ---- scheduling ---- */

static void tick(struct follow *f)
{
	uint32_t n = f->names.n < LOOKS_A_TICK ? f->names.n : LOOKS_A_TICK;

	f->tick_ms = f->now_ms + (f->fast_poll ? FOLLOW_POLL_MS : FOLLOW_TICK_MS);
	for (; n; n--) {
		f->next = f->next + 1 < f->names.n ? f->next + 1 : 0;
		follow_queue(f, f->next);
	}
	follow_look_at_folders(f);
}

static void queue_due(struct follow *f)
{
	uint32_t left = 0;

	for (uint32_t i = 0; i < f->waiting.n; i++) {
		struct followed_name *n = &f->names.v[f->waiting.v[i]];

		n->waiting = n->due_ms > f->now_ms && n->due_ms != TAIL_NEVER;
		if (n->due_ms <= f->now_ms)
			follow_queue(f, f->waiting.v[i]);
		if (n->waiting)
			f->waiting.v[left++] = f->waiting.v[i];
	}
	f->waiting.n = left;
}

static void poll_streams(struct follow *f)
{
	struct epoll_event events[64];
	int n = f->epoll < 0 ? 0 : epoll_wait(f->epoll, events, 64, 0);

	for (int i = 0; i < n; i++)
		if (events[i].data.u64 < f->names.n)
			follow_queue(f, (uint32_t)events[i].data.u64);
}

static void serve_queue(struct follow *f, struct feed *feed)
{
	while (f->queue_first < f->queue.n && feed->budget_bytes) {
		uint32_t name = f->queue.v[f->queue_first++];

		f->names.v[name].queued = false;
		if (look(f, name, feed))
			follow_queue(f, name);
		if (f->queue_first > 1024 && f->queue_first > f->queue.n / 2) {
			f->queue.n -= f->queue_first;
			memmove(f->queue.v, f->queue.v + f->queue_first,
				f->queue.n * sizeof(*f->queue.v));
			f->queue_first = 0;
		}
	}
	if (f->queue_first == f->queue.n)
		f->queue_first = f->queue.n = 0;
}

bool follow_read(struct follow *f, int64_t now_ms, size_t budget_bytes, follow_fn emit, void *ctx)
{
	struct feed feed = { .w = f->w, .emit = emit, .ctx = ctx, .now_ms = now_ms,
			     .budget_bytes = budget_bytes };

	if (f->busy)
		return false;
	f->busy = true;
	f->now_ms = now_ms;
	poll_streams(f);
	follow_read_events(f);
	queue_due(f);
	if (now_ms >= f->tick_ms)
		tick(f);
	serve_queue(f, &feed);
	f->busy = false;
	return f->queue_first < f->queue.n;
}

int follow_wait_ms(const struct follow *f, int64_t now_ms)
{
	bool ticks = f->names.n > f->anonymous || f->folders.n || f->fast_poll;
	int64_t next = ticks ? f->tick_ms : TAIL_NEVER;

	if (f->queue_first < f->queue.n)
		return 0;
	for (uint32_t i = 0; i < f->waiting.n; i++)
		if (f->names.v[f->waiting.v[i]].due_ms < next)
			next = f->names.v[f->waiting.v[i]].due_ms;
	if (next == TAIL_NEVER)
		return -1;
	if (next <= now_ms)
		return 0;
	return next - now_ms < FOLLOW_TICK_MS ? (int)(next - now_ms) : FOLLOW_TICK_MS;
}

int follow_fd(const struct follow *f)
{
	return f->epoll;
}

/* ---- open and close ---- */

static struct str folder_of(struct wire *w, struct str path)
{
	size_t n = path.n;

	while (n && path.p[n - 1] != '/')
		n--;
	if (!n)
		return STR(".");
	return arena_str(&w->arena, wire_trim_slashes(str_make(path.p, n)));
}

static void add_folders(struct follow *f)
{
	for (uint32_t i = 0; i < f->w->dirs.n; i++) {
		struct str path = wire_trim_slashes(str_of(f->w->dirs.v[i].name));

		follow_add_folder(f, arena_str(&f->w->arena, path), true);
	}
}

static void add_file(struct follow *f, uint32_t file)
{
	struct wire *w = f->w;
	const struct source *s = &w->files.v[file].source;
	struct str path = w->files.v[file].name;
	/* standard input and pipes cannot be reopened by name */
	bool once = str_is(path, "-") || (s->kind == SOURCE_STREAM && !stream_is_fifo(s));
	uint32_t folder = once ? NO_FOLDER : follow_add_folder(f, folder_of(w, path), false);
	uint32_t name = follow_add_name(f, path, folder);
	struct tail *t = tail_new(w, file);

	f->names.v[name].listed = w->files.v[file].listed;
	f->anonymous += once && s->kind == SOURCE_STREAM;
	take_file(f, name, t);
	follow_queue(f, name);
}

struct follow *follow_new(struct wire *w)
{
	struct follow *f = xcalloc(1, sizeof(*f));
	struct epoll_event event = { .events = EPOLLIN, .data.u64 = UINT64_MAX };
	uint32_t n = w->files.n;

	if (!w->follow)
		BUG("following was not wanted when the files were read");
	f->w = w;
	f->epoll = epoll_create1(EPOLL_CLOEXEC);
	f->inotify = w->only_timer || f->epoll < 0 ? -1 : file_watch_open();
	if (f->inotify >= 0 && epoll_ctl(f->epoll, EPOLL_CTL_ADD, f->inotify, &event) < 0)
		fd_close(&f->inotify);
	f->fast_poll = f->inotify < 0;
	add_folders(f);
	for (uint32_t i = 0; i < n; i++)
		if (!w->files.v[i].joined || w->files.v[i].listed) /* the loader reads replies */
			add_file(f, i);
	f->tick_ms = INT64_MIN;
	return f;
}

void follow_wake_on(struct follow *f, const char *path)
{
	if (f->inotify >= 0)
		file_watch_file(f->inotify, path); /* events of unknown watches only wake */
}

static void free_name(struct follow *f, struct followed_name *n)
{
	if (n->now)
		tail_free(f->w, n->now);
	for (uint32_t i = 0; i < n->old.n; i++)
		tail_free(f->w, n->old.v[i]);
	vec_release(&n->old);
	free(n->why);
}

void follow_free(struct follow *f)
{
	if (!f)
		return;
	for (uint32_t i = 0; i < f->names.n; i++)
		free_name(f, &f->names.v[i]);
	for (uint32_t i = 0; i < f->renamed.n; i++)
		free(f->renamed.v[i].base);
	fd_close(&f->inotify);
	fd_close(&f->epoll);
	vec_release(&f->names);
	vec_release(&f->folders);
	vec_release(&f->renamed);
	vec_release(&f->queue);
	vec_release(&f->waiting);
	map_release(&f->entries);
	map_release(&f->watches);
	free(f);
}
