/* Reply files: which there are for a group, and reading the lines that were appended to them. */
#include "session/load.h"

#include "base/file_fault.h"
#include "base/io.h"
#include "channel/channel.h"
#include "encode/plan.h"
#include "json/json.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define REPLIES ".replies.ndjson"

enum { READ_MAX_BYTES = 64 << 20 };

static int hex_digit(char c)
{
	return c >= '0' && c <= '9' ? c - '0' : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* In LOG.SESSION.replies.ndjson the file name carries the session, percent-encoded, as the requests
 * in it do not (see reply_path). A truncated name tells nothing. */
static struct str session_in_name(struct load *l, struct str part)
{
	struct buf session = { 0 };
	struct str out = STR_NONE;

	for (size_t i = 0; i < part.n && !reply_part_is_cut(part); i++) {
		bool coded = part.p[i] == '%' && i + 2 < part.n && hex_digit(part.p[i + 1]) >= 0 &&
			     hex_digit(part.p[i + 2]) >= 0;

		buf_addc(&session, coded ? (char)(hex_digit(part.p[i + 1]) * 16 +
						  hex_digit(part.p[i + 2]))
					 : part.p[i]);
		i += coded ? 2 : 0;
	}
	if (session.n)
		out = arena_str(&l->wire.arena, buf_str(&session));
	buf_release(&session);
	return out;
}

struct str reply_session(struct load *l, struct str name, struct str log)
{
	size_t from = log.n + 1, tail = strlen(REPLIES);

	return name.n > from + tail
		       ? session_in_name(l, str_make(name.p + from, name.n - from - tail))
		       : STR_NONE;
}

static bool is_regular(const struct reply_file *f, struct stat *st)
{
	return (f->given ? stat(f->path, st) : lstat(f->path, st)) == 0 && S_ISREG(st->st_mode);
}

/* The wire's file behind a path, by its identity; NONE. */
static uint32_t find_in_wire(const struct load *l, const struct stat *st)
{
	for (uint32_t i = l->wire.files.n; i-- > 0;) {
		const struct source *s = &l->wire.files.v[i].source;

		if (s->kind == SOURCE_FILE && s->dev == st->st_dev && s->ino == st->st_ino)
			return i;
	}
	return NONE;
}

static bool is_same_file(const char *a, const char *b)
{
	struct stat one, other;

	return strcmp(a, b) == 0 ||
	       (stat(a, &one) == 0 && stat(b, &other) == 0 && one.st_dev == other.st_dev &&
		one.st_ino == other.st_ino);
}

/* A reply file belongs to one source. */
static bool is_listed(const struct load *l, const char *path)
{
	for (uint32_t i = 0; i < l->conversation.talks.n; i++)
		for (uint32_t k = 0; k < l->conversation.talks.v[i]->files.n; k++)
			if (is_same_file(l->conversation.talks.v[i]->files.v[k].path, path))
				return true;
	return false;
}

/* given: by the user, who may have named a link */
static void add_path(struct load *l, struct talk *t, const char *path, struct str session, bool given)
{
	if (is_listed(l, path))
		return;
	vec_push(&t->files,
		 (struct reply_file){ .path = xstrdup(path), .given = given,
				      .name = arena_str(&l->wire.arena, str_of(path)),
				      .session = session, .file = NONE, .line = 1,
				      .last = NONE, .first_anchored = NONE });
}

/* log.1.replies.ndjson has the replies of log.1 where that is a file, not of session 1 of log. */
static bool is_of_another_log(struct str path)
{
	struct buf log = { 0 };
	struct stat st;
	bool is;

	buf_add(&log, path.p, path.n - strlen(REPLIES));
	is = stat(log.p, &st) == 0;
	buf_release(&log);
	return is;
}

/* LOG.replies.ndjson, which need not exist yet, and every LOG.SESSION.replies.ndjson. */
static void add_beside(struct load *l, struct talk *t, const char *log)
{
	struct stat st;
	const char *slash = strrchr(log, '/'), *base = slash ? slash + 1 : log;
	struct buf path = { 0 };
	size_t n = strlen(base);
	struct dirent *d;
	DIR *dir;

	buf_printf(&path, "%s" REPLIES, log);
	add_path(l, t, path.p, STR_NONE, false);
	buf_clear(&path);
	buf_add(&path, log, (size_t)(base - log));
	dir = opendir(path.n ? path.p : ".");
	if (dir && fstat(dirfd(dir), &st) == 0 && !t->folder) {
		t->folder = xstrdup(path.n ? path.p : ".");
		t->folder_changed = st.st_mtim;
	}
	while (dir && (d = readdir(dir))) {
		struct str name = str_of(d->d_name);
		struct buf whole = { 0 };

		if (name.n <= n + 1 + strlen(REPLIES) || memcmp(name.p, base, n) != 0 ||
		    name.p[n] != '.' || !str_ends(name, STR(REPLIES)))
			continue;
		buf_add_str(&whole, buf_str(&path));
		buf_add_str(&whole, name);
		if (!is_of_another_log(buf_str(&whole)))
			add_path(l, t, whole.p,
				 session_in_name(l, str_make(name.p + n + 1,
							     name.n - n - 1 -
								     strlen(REPLIES))),
				 false);
		buf_release(&whole);
	}
	if (dir)
		closedir(dir);
	buf_release(&path);
}

void add_reply_path(struct load *l, struct talk *t, const struct letter *x)
{
	if (x->channel == CHANNEL_FILE && !x->aside && x->path.n)
		add_path(l, t, x->path.p, STR_NONE, false);
}

/* The source as given, so that files beside it are named like it; the real path of a link, "." and
 * "..", as replies go beside that. */
static const char *source_path(struct load *l, struct str group)
{
	struct str path = arena_str(&l->wire.arena, wire_trim_slashes(group));
	const char *slash = strrchr(path.p, '/'), *base = slash ? slash + 1 : path.p;
	struct stat st;
	char *real = NULL;

	if (base[0] == '.' || (lstat(path.p, &st) == 0 && S_ISLNK(st.st_mode)))
		real = realpath(path.p, NULL);
	if (real)
		path = arena_str(&l->wire.arena, str_of(real));
	free(real);
	return path.p;
}

void reply_files_add(struct load *l, uint32_t file)
{
	const struct wire_file *f = &l->wire.files.v[file];

	for (uint32_t i = 0; i < l->conversation.talks.n; i++) {
		struct talk *t = l->conversation.talks.v[i];

		if (str_eq(t->group, f->group))
			add_path(l, t, f->name.p, f->answers, true);
	}
}

/* Given as a source, too, it is not its own reply file. */
static void add_given(struct load *l, struct talk *t, const char *path)
{
	if (channel_type_of(path) == CHANNEL_FILE &&
	    !is_same_file(arena_str(&l->wire.arena, t->group).p, path))
		add_path(l, t, path, STR_NONE, true);
}

void reply_files_give(struct load *l, struct str group, const char *path)
{
	for (uint32_t i = 0; i < l->conversation.talks.n; i++)
		if (str_eq(l->conversation.talks.v[i]->group, group) && !str_is(group, "stdin"))
			add_given(l, l->conversation.talks.v[i], path);
}

void reply_files_find(struct load *l, struct talk *t)
{
	const struct desk *d = desks_find(&l->desks, t->group);

	if (str_is(t->group, "stdin"))
		return;
	if (l->reply)
		add_given(l, t, l->reply);
	add_beside(l, t, source_path(l, t->group));
	for (uint32_t i = 0; d && i < d->letters.n; i++)
		add_reply_path(l, t, &d->letters.v[i]);
}

void reply_files_look(struct load *l, struct talk *t)
{
	struct stat st;

	if (!t->folder || stat(t->folder, &st) < 0 ||
	    (st.st_mtim.tv_sec == t->folder_changed.tv_sec &&
	     st.st_mtim.tv_nsec == t->folder_changed.tv_nsec))
		return;
	t->folder_changed = st.st_mtim;
	add_beside(l, t, source_path(l, t->group));
}

/* The wire's file for a reply file that was opened: one that was given by name, or a new one. */
static uint32_t wire_file_of(struct load *l, const struct talk *t, struct reply_file *f,
			     const struct stat *st)
{
	uint32_t file = find_in_wire(l, st);
	struct source s;
	struct err err;

	if (file != NONE && !l->wire.files.v[file].joined &&
	    str_eq(l->wire.files.v[file].group, t->group))
		return NONE; /* the log itself */
	if (file == NONE || f->incarnation > 1) {
		if (source_open(&s, f->name.p, &err) < 0)
			return NONE;
		file = wire_append(&l->wire, &s, f->name);
		l->wire.files.v[file].found = true;
	}
	l->wire.files.v[file].group = t->group;
	l->wire.files.v[file].joined = true;
	l->wire.files.v[file].answers = f->session;
	source_drop(&l->wire.files.v[file].source); /* its end moves with what is appended */
	if (l->live)
		follow_wake_on(l->live, f->path);
	return file;
}

/* New, replaced, or cut. */
static bool is_other_file(const struct reply_file *f, const struct stat *st)
{
	return f->file == NONE || f->dev != st->st_dev || f->ino != st->st_ino ||
	       (uint64_t)st->st_size < f->at;
}

const char *reply_distrust(const struct load *l, const struct stat *st)
{
	struct trusted also = l->config ? config_trusted(l->config) : (struct trusted){ 0 };

	return file_distrust(st, &also);
}

/* Says once why the file is not read: what others can write there are not a person's words. */
static bool is_believed(struct load *l, struct reply_file *f, const struct stat *st)
{
	const char *why = reply_distrust(l, st);
	struct buf text = { 0 };

	if (why && !f->distrusted) {
		buf_add_str(&text, f->name);
		buf_printf(&text, ": not read as replies: it %s", why);
		load_say(l, buf_str(&text));
		buf_release(&text);
	}
	f->distrusted = why != NULL;
	return !why;
}

/* Opens the file if it has grown, or is another one. */
static int open_grown(struct load *l, const struct talk *t, struct reply_file *f, struct stat *st)
{
	int fd;

	if (!is_regular(f, st))
		return -1;
	if (f->file != NONE && f->dev == st->st_dev && f->ino == st->st_ino &&
	    (uint64_t)st->st_size == f->at)
		return -1;
	/* while a frame is applied, the wire must not get more files */
	if (l->conversation.applying && is_other_file(f, st))
		return -1;
	fd = open(f->path, O_RDONLY | (f->given ? 0 : O_NOFOLLOW) | O_NONBLOCK | O_NOCTTY |
				   O_CLOEXEC);
	if (fd < 0 || fstat(fd, st) < 0 || !S_ISREG(st->st_mode) || !is_believed(l, f, st)) {
		if (fd >= 0)
			close(fd);
		return -1;
	}
	if (is_other_file(f, st)) {
		f->at = 0;
		f->line = 1;
		f->skips = false;
		f->incarnation++;
		f->dev = st->st_dev;
		f->ino = st->st_ino;
		f->file = wire_file_of(l, t, f, st);
	}
	if (f->file != NONE)
		return fd;
	close(fd);
	return -1;
}

/* Whether the line was in the file before that was saved again or cut: the k-th equal one. */
static bool is_known(struct talk *t, uint32_t of, const struct reply_file *f, struct str bytes)
{
	uint32_t i = f->incarnation > 1 ? talk_first_equal(t, bytes) : NONE;

	for (; i != NONE; i = t->texts.nodes.v[i].next) {
		struct reply_line *line = &t->lines.v[t->texts.nodes.v[i].line];

		if (line->of != of || line->incarnation >= f->incarnation ||
		    !str_eq(line->bytes, bytes))
			continue;
		line->incarnation = f->incarnation;
		return true;
	}
	return false;
}

uint32_t talk_first_equal(const struct talk *t, struct str bytes)
{
	return line_index_first(&t->texts, str_hash(str_trim(bytes)));
}

static void add_line(struct load *l, struct talk *t, struct reply_file *f, struct str bytes,
		     uint64_t offset)
{
	uint32_t of = (uint32_t)(f - t->files.v), i = t->lines.n;

	if (!str_trim(bytes).n || is_known(t, of, f, bytes))
		return;
	vec_push(&t->lines,
		 (struct reply_line){ .file = f->file, .line = f->line, .offset = offset,
				      .of = of, .incarnation = f->incarnation, .next = NONE,
				      .letter = NONE, .time_ms = TIME_NONE,
				      .bytes = arena_str(&l->conversation.arena, bytes) });
	line_index_add(&t->texts, str_hash(str_trim(bytes)), i);
	if (f->last != NONE)
		t->lines.v[f->last].next = i;
	if (f->first_anchored == NONE)
		f->first_anchored = i;
	f->last = i;
}

static bool is_json(struct str bytes)
{
	struct json_reader reader = { 0 };
	yyjson_val *root;
	bool is = json_read(&reader, bytes, &root) == JSON_OK;

	json_reader_release(&reader);
	return is;
}

/* Whether what stands behind the last newline of a file is read as a line now. Somebody may be writing
 * it: whoever reads on, or may decide, waits for its end, unless it lacks only its newline. */
static bool is_last_line(const struct load *l, struct str bytes)
{
	return !l->follow && (!l->desk_options.write || is_json(bytes));
}

/* Adds whole lines. end: the bytes end with the file. A line that is not whole, but was read or is too
 * long, goes on in what is read next: that is skipped. */
static void add_lines(struct load *l, struct talk *t, struct reply_file *f, struct str bytes,
		      bool end)
{
	size_t at = 0;

	while (at < bytes.n) {
		const char *newline = memchr(bytes.p + at, '\n', bytes.n - at);
		size_t n = newline ? (size_t)(newline - bytes.p) - at : bytes.n - at;
		struct str line = str_make(bytes.p + at, n);
		bool is_long = n >= READ_MAX_BYTES;

		if (!newline && !f->skips && !is_long && !(end && is_last_line(l, line)))
			break;
		if (!f->skips && !(is_long && !newline))
			add_line(l, t, f, line, f->at + at);
		f->line += newline != NULL;
		f->skips = !newline;
		at += n + (newline != NULL);
	}
	f->at += at;
	l->wire.files.v[f->file].source.end = f->at;
}

void reply_file_read(struct load *l, struct talk *t, struct reply_file *f)
{
	struct buf *bytes = &l->conversation.bytes;
	struct stat st;
	int fd = open_grown(l, t, f, &st);
	uint64_t size = fd < 0 ? 0 : (uint64_t)st.st_size, before = UINT64_MAX;

	while (fd >= 0 && f->at < size && f->at != before) {
		size_t want = size - f->at > READ_MAX_BYTES ? READ_MAX_BYTES : (size_t)(size - f->at);
		ssize_t n = 1;

		before = f->at;
		buf_clear(bytes);
		buf_reserve(bytes, want);
		while (bytes->n < want && n > 0) {
			IO_RETRY(n, pread(fd, bytes->p + bytes->n, want - bytes->n,
					  (off_t)(f->at + bytes->n)));
			bytes->n += n > 0 ? (size_t)n : 0;
		}
		add_lines(l, t, f, buf_str(bytes), f->at + bytes->n >= size);
	}
	if (fd >= 0)
		close(fd);
}
