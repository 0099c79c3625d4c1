/* Load order of files, and detection of reply files that were given. Files of a directory, and files
 * that are given one after the other, are sorted by the time of their first message: the order is the
 * same whether a person names a directory or what is in it. */
#include "session/load.h"

#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>

enum { DATE_STEPS = 4 }; /* blocks of a given file that are searched for a time */

/* A file with its sort key. */
struct dated_file {
	uint32_t file;
	int64_t time_ms; /* of its first message that has one */
	int rank;
	struct str name; /* of a directory's files */
};

struct dating {
	struct load *l;
	struct dated_file *dated;
};

static void date_frame(void *ctx, const struct frame *frame)
{
	struct dating *d = ctx;

	if (d->dated->time_ms != TIME_NONE)
		return;
	dialect_decode(&d->l->decoder, frame->bytes, NULL, &d->l->message);
	d->dated->time_ms = d->l->message.time_ms;
}

static int by_date(const void *left, const void *right)
{
	const struct dated_file *a = left, *b = right;

	if (a->time_ms != b->time_ms)
		return a->time_ms < b->time_ms ? -1 : 1;
	if (a->rank != b->rank)
		return a->rank < b->rank ? -1 : 1;
	return a->name.n && b->name.n ? str_cmp(a->name, b->name)
				      : a->file < b->file ? -1 : a->file > b->file;
}

static int rank_of(struct str base)
{
	static const char *const order[] = { "task-", "result-", "decision-", "review-" };

	for (int i = 0; i < 4; i++)
		if (str_starts(base, str_of(order[i])))
			return i;
	return 4;
}

/* Reads up to the first message with a time, at most so many blocks. */
static void date_file(struct load *l, struct dated_file *dated, unsigned steps)
{
	struct dating d = { l, dated };
	struct wire_reading *r = wire_read_begin(&l->wire, dated->file, date_frame, &d);
	enum wire_step step = WIRE_MORE;
	struct err err; /* ignored: the load itself will report it */

	while (dated->time_ms == TIME_NONE && step != WIRE_DONE && step != WIRE_FAILED && steps--)
		step = wire_read_step(r, &err);
	wire_read_leave(r);
}

/* Sorts the files of one directory, from `first` on; returns how many there are. */
static uint32_t sort_directory(struct load *l, uint32_t first, struct dated_file *out)
{
	const struct wire_file *f = l->wire.files.v;
	uint64_t done = l->wire.bytes_done;
	uint32_t n = 0;

	while (first + n < l->wire.files.n && f[first + n].listed &&
	       str_eq(f[first + n].group, f[first].group))
		n++;
	if (n < 2) {
		out[0] = (struct dated_file){ .file = first };
		return 1;
	}
	for (uint32_t i = 0; i < n; i++) {
		out[i] = (struct dated_file){ first + i, TIME_NONE, rank_of(f[first + i].base),
					 f[first + i].base };
		date_file(l, &out[i], UINT_MAX);
	}
	l->wire.bytes_done = done;
	qsort(out, n, sizeof(*out), by_date);
	return n;
}

static bool is_given_file(const struct wire_file *f)
{
	return !f->listed && f->source.kind == SOURCE_FILE;
}

/* Sorts files that are given one after the other, from `first` on; returns how many there are. What has
 * no time stays behind what was given before it, which it may answer; so do replies. */
static uint32_t sort_given(struct load *l, uint32_t first, struct dated_file *out)
{
	const struct wire_file *f = l->wire.files.v;
	uint64_t done = l->wire.bytes_done;
	int64_t before_ms = TIME_NONE;
	uint32_t n = 0;

	while (first + n < l->wire.files.n && is_given_file(&f[first + n]))
		n++;
	for (uint32_t i = 0; i < n; i++) {
		out[i] = (struct dated_file){ first + i, TIME_NONE, rank_of(f[first + i].base),
					      STR_NONE };
		if (n > 1 && !f[first + i].joined)
			date_file(l, &out[i], DATE_STEPS);
		if (out[i].time_ms == TIME_NONE) {
			out[i].time_ms = before_ms;
			out[i].rank = i ? out[i - 1].rank : 0;
		}
		before_ms = out[i].time_ms;
	}
	l->wire.bytes_done = done;
	if (n > 1)
		qsort(out, n, sizeof(*out), by_date);
	return n;
}

/* ---- reply files ---- */

static bool is_reply_file(const struct wire_file *f)
{
	return str_ends(f->name, STR(".replies.ndjson"));
}

/* Name → file; empty if there is no reply file. */
static struct map map_names(const struct load *l)
{
	struct map names = { 0 };
	bool wanted = false;

	for (uint32_t i = 0; i < l->wire.files.n && !wanted; i++)
		wanted = is_reply_file(&l->wire.files.v[i]);
	for (uint32_t i = 0; wanted && i < l->wire.files.n; i++)
		map_add(&names, str_hash(l->wire.files.v[i].name), i);
	return names;
}

static uint32_t find_named(const struct load *l, const struct map *names, struct str name)
{
	for (uint32_t it = 0, v; map_next(names, str_hash(name), &it, &v);)
		if (str_eq(l->wire.files.v[v].name, name))
			return v;
	return NONE;
}

/* The log that a file replies to by its name, or NONE. Session names may contain dots. */
static uint32_t log_of(const struct load *l, const struct map *names, uint32_t file)
{
	struct str name = l->wire.files.v[file].name;

	if (!names->n || !is_reply_file(&l->wire.files.v[file]))
		return NONE;
	for (name.n -= strlen(".replies.ndjson"); name.n && name.p[name.n] != '/'; name.n--) {
		uint32_t log = name.p[name.n] == '.' ? find_named(l, names, name) : NONE;

		if (log != NONE)
			return log;
	}
	return NONE;
}

/* A reply file may have replies of its own: follows them to the log, or the file itself. */
static uint32_t root_log(const struct load *l, const struct map *names, uint32_t file)
{
	for (uint32_t log; (log = log_of(l, names, file)) != NONE;)
		file = log;
	return file;
}

/* Puts a reply file into its log's group. One that others can write to stays a log. */
static void join_log(struct load *l, uint32_t file, uint32_t log)
{
	const struct wire_file *f = &l->wire.files.v[file];
	struct stat st;

	/* who names a link means what it leads to */
	if ((f->listed ? lstat(f->name.p, &st) : stat(f->name.p, &st)) == 0 &&
	    reply_distrust(l, &st))
		return;
	l->wire.files.v[file].group = l->wire.files.v[log].group;
	l->wire.files.v[file].joined = true;
	source_drop(&l->wire.files.v[file].source); /* its end moves with what is appended */
	l->wire.files.v[file].answers = reply_session(l, l->wire.files.v[file].name,
						      l->wire.files.v[log].name);
}

void load_detect_replies(struct load *l)
{
	struct map names = map_names(l);

	for (uint32_t i = 0; i < l->wire.files.n; i++) {
		uint32_t log = root_log(l, &names, i);

		if (log != i)
			join_log(l, i, log);
	}
	map_release(&names);
}

void load_detect_reply_file(struct load *l, uint32_t file)
{
	struct map names;
	uint32_t log;

	if (!is_reply_file(&l->wire.files.v[file]))
		return;
	names = map_names(l);
	log = log_of(l, &names, file);
	if (log != NONE)
		join_log(l, file, log);
	map_release(&names);
}

uint32_t *load_order(struct load *l, uint32_t *count)
{
	uint32_t n = l->wire.files.n, *order = xmalloc((n + 1) * sizeof(*order));
	struct dated_file *dated = xmalloc((n + 1) * sizeof(*dated));

	*count = 0;
	for (uint32_t i = 0; i < n;)
		i += is_given_file(&l->wire.files.v[i]) ? sort_given(l, i, dated + i)
							: sort_directory(l, i, dated + i);
	for (uint32_t i = 0; i < n; i++)
		if (!l->wire.files.v[dated[i].file].joined)
			order[(*count)++] = dated[i].file;
	free(dated);
	return order;
}
