/* Following: whatever happens to a log, each line comes once, and can be fetched ever after.
 *
 * A test has a clock of its own that can be put forward, so that nothing is slept through. Where
 * another process writes, it waits for states, never for time: how many lines have been read is in
 * memory that both see. Frames are noted as in test_wire, with the number of the file before them:
 *   FILE: OFFSET+LENGTH #LINE FLAGS <bytes> */
#include "session/load.h"
#include "wire/follow.h"

#include "folder.h"
#include "read_frames.h"
#include "unit.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { DEADLINE_MS = 50000 };

static void put(int fd, struct str bytes)
{
	while (bytes.n) {
		ssize_t n = write(fd, bytes.p, bytes.n);

		if (n < 0)
			abort();
		bytes = str_from(bytes, (size_t)n);
	}
}

static void write_text(const char *path, const char *text)
{
	write_with(path, O_TRUNC, 0600, str_of(text));
}

static void append(const char *path, const char *text)
{
	write_with(path, O_APPEND, 0600, str_of(text));
}

/* ---- a wire that is followed ---- */

struct live {
	struct wire w;
	struct follow *f;
	struct arena arena;
	VEC(struct frame) frames;
	VEC(uint32_t) files;
	struct buf notes; /* of frames that came since they were last checked */
	int64_t ahead_ms;
	int64_t step_ms; /* the clock goes so far with every look; 0: as usual */
	uint64_t numbers; /* lines of writers, see below */
};

static int64_t now_ms(const struct live *l)
{
	return unit_now_ms() + l->ahead_ms;
}

static void note(void *ctx, uint32_t file, const struct frame *f)
{
	struct live *l = ctx;
	struct frame copy = *f;

	copy.bytes = arena_str(&l->arena, f->bytes);
	vec_push(&l->frames, copy);
	vec_push(&l->files, file);
	l->numbers++;
	buf_printf(&l->notes, "%u: %llu+%llu #%u %s%s<", file, (unsigned long long)f->offset,
		   (unsigned long long)f->full_length, f->line,
		   f->flags & FRAME_TRUNCATED ? "T" : "", f->flags & FRAME_OVERSIZE ? "O" : "");
	buf_add_str(&l->notes, f->bytes);
	buf_adds(&l->notes, ">\n");
}

struct first {
	struct live *l;
	uint32_t file;
};

static void note_first(void *ctx, const struct frame *f)
{
	struct first *first = ctx;

	note(first->l, first->file, f);
}

static void add(struct live *l, const char *path)
{
	struct err err = { "" };

	l->w.follow = true;
	ck_assert_msg(wire_add(&l->w, path, &err) == 0, "%s", err.text);
}

static void begin(struct live *l)
{
	struct err err = { "" };

	for (uint32_t i = 0; i < l->w.files.n; i++) {
		struct first first = { l, i };

		ck_assert_msg(read_frames(&l->w, i, note_first, &first, &err) == 0, "%s", err.text);
	}
	l->f = follow_new(&l->w);
}

static void begin_with(struct live *l, const char *path)
{
	add(l, path);
	begin(l);
}

/* Reads until there is nothing more to read at this moment. */
static void read_all(struct live *l)
{
	for (int i = 0; i < 10000 && follow_read(l->f, now_ms(l), 1 << 20, note, l); i++)
		;
}

static void pass(struct live *l, int64_t ms)
{
	l->ahead_ms += ms;
	read_all(l);
}

/* Once round everything, as the timer would. */
static void look(struct live *l)
{
	pass(l, FOLLOW_TICK_MS);
}

/* Waits as the program would. */
static void wait_a_little(struct live *l)
{
	int wait_ms = follow_wait_ms(l->f, now_ms(l));
	struct pollfd ready = { .fd = follow_fd(l->f), .events = POLLIN };

	if (l->step_ms) {
		l->ahead_ms += l->step_ms;
		wait_ms = 0;
	}
	poll(&ready, 1, wait_ms < 0 || wait_ms > 50 ? 50 : wait_ms);
	follow_read(l->f, now_ms(l), 1 << 18, note, l);
}

#define WAIT_UNTIL(l, condition) \
	do { \
		int64_t deadline_ = unit_now_ms() + DEADLINE_MS; \
		while (!(condition)) { \
			wait_a_little(l); \
			ck_assert_msg(unit_now_ms() < deadline_, "waited in vain for %s", #condition); \
		} \
	} while (0)

static void check_notes(struct live *l, const char *want)
{
	ck_assert_msg(str_is(buf_str(&l->notes), want), "got\n%.*swant\n%s",
		      STR_ARG(buf_str(&l->notes)), want);
	buf_clear(&l->notes);
}

static void check_fetch_of(struct live *l, uint32_t i)
{
	const struct frame *f = &l->frames.v[i];
	struct buf again = { 0 };
	struct err err = { "" };

	if (wire_fetch(&l->w, l->files.v[i], f->offset, f->full_length, &again, &err) < 0)
		ck_abort_msg("frame %u: %s", i, err.text);
	if (!(f->flags & FRAME_OVERSIZE))
		ck_assert_msg(str_eq(buf_str(&again), f->bytes), "frame %u: <%.*s>, was <%.*s>",
			      i, STR_ARG(buf_str(&again)), STR_ARG(f->bytes));
	buf_release(&again);
}

static void check_fetch(struct live *l)
{
	for (uint32_t i = 0; i < l->frames.n; i++)
		check_fetch_of(l, i);
}

static void end(struct live *l)
{
	follow_free(l->f);
	wire_release(&l->w);
	arena_release(&l->arena);
	vec_release(&l->frames);
	vec_release(&l->files);
	buf_release(&l->notes);
}

static struct follow_status status_of(const struct live *l, uint32_t i)
{
	struct follow_status s;

	follow_status(l->f, i, &s);
	return s;
}

static void check_banner(struct live *l, const char *want)
{
	struct buf text = { 0 };
	bool wrong = follow_banner(l->f, now_ms(l), &text);

	if (want)
		ck_assert_msg(wrong && str_find(buf_str(&text), str_of(want), 0) >= 0, "%.*s",
			      STR_ARG(buf_str(&text)));
	else
		ck_assert_msg(!wrong, "%.*s", STR_ARG(buf_str(&text)));
	buf_release(&text);
}

/* ---- growing ---- */

START_TEST(byte_by_byte)
{
	static const char text[] = "{\"a\":1}\n\r\nzwei\r\n\n  {}\nlast";
	struct live l = { 0 };
	struct buf begun = { 0 };

	write_text(path_of("log"), "first\nnot com");
	begin_with(&l, path_of("log"));
	check_notes(&l, "0: 0+5 #1 <first>\n");
	read_all(&l);
	ck_assert_uint_eq(status_of(&l, 0).incomplete, 7);
	append(path_of("log"), "plete\n");
	read_all(&l);
	check_notes(&l, "0: 6+12 #2 <not complete>\n");
	ck_assert_uint_eq(status_of(&l, 0).incomplete, 0);
	for (const char *p = text; *p; p++) {
		append(path_of("log"), (char[2]){ *p, '\0' });
		read_all(&l);
		if (*p == '\n')
			ck_assert_uint_eq(status_of(&l, 0).incomplete, 0);
	}
	check_notes(&l, "0: 19+7 #3 <{\"a\":1}>\n0: 29+4 #5 <zwei>\n0: 36+4 #7 <  {}>\n");
	ck_assert_uint_eq(status_of(&l, 0).incomplete, 4);
	ck_assert_uint_eq(follow_incomplete(l.f), 0);
	follow_incomplete_text(l.f, 0, 100, &begun);
	assert_str(buf_str(&begun), "last");
	follow_incomplete_text(l.f, 0, 2, &begun);
	assert_str(buf_str(&begun), "la");
	append(path_of("log"), "\n");
	read_all(&l);
	follow_incomplete_text(l.f, 0, 2, &begun);
	ck_assert_uint_eq(begun.n, 0);
	buf_release(&begun);
	check_fetch(&l);
	end(&l);
}
END_TEST

/* A file that is empty at first, or has half a byte order mark. */
START_TEST(from_nothing)
{
	struct live l = { 0 };

	write_text(path_of("empty"), "");
	write_text(path_of("mark"), "\xef\xbb");
	add(&l, path_of("empty"));
	add(&l, path_of("mark"));
	begin(&l);
	append(path_of("empty"), "{\"a\":1}");
	append(path_of("mark"), "\xbfx\n");
	read_all(&l);
	check_notes(&l, "1: 3+1 #1 <x>\n");
	append(path_of("empty"), "\n");
	read_all(&l);
	check_notes(&l, "0: 0+7 #1 <{\"a\":1}>\n");
	append(path_of("empty"), "{}\n");
	read_all(&l);
	check_notes(&l, "0: 8+2 #2 <{}>\n");
	check_fetch(&l);
	end(&l);
}
END_TEST

START_TEST(told_when_incomplete_lines_are_old)
{
	struct live l = { 0 };
	int64_t began;
	int wait_ms;

	write_text(path_of("log"), "");
	begin_with(&l, path_of("log"));
	read_all(&l);
	began = now_ms(&l);
	append(path_of("log"), "half");
	read_all(&l);
	ck_assert_int_ge(status_of(&l, 0).incomplete_since_ms, began);
	/* the lines of others are not held up, and there is no busy waiting */
	wait_ms = follow_wait_ms(l.f, now_ms(&l));
	ck_assert_int_gt(wait_ms, 0);
	ck_assert_int_le(wait_ms, FOLLOW_TICK_MS);
	pass(&l, 5000);
	ck_assert_int_gt(follow_wait_ms(l.f, now_ms(&l)), 500);
	check_notes(&l, "");
	ck_assert_uint_eq(status_of(&l, 0).incomplete, 4);
	end(&l);
}
END_TEST

START_TEST(oversize_lines)
{
	struct live l = { .w.max_bytes = 8 };

	write_text(path_of("log"), "123456789");
	begin_with(&l, path_of("log"));
	append(path_of("log"), "0\nshort\nlonger than that\n");
	read_all(&l);
	check_notes(&l, "0: 0+10 #1 O<>\n0: 11+5 #2 <short>\n0: 17+16 #3 O<>\n");
	check_fetch(&l);
	end(&l);
}
END_TEST

/* A budget is kept to, roughly, and nothing is lost over it. */
START_TEST(little_by_little)
{
	struct live l = { 0 };
	struct buf text = { 0 };
	uint64_t seen = 0;
	int rounds = 0;

	write_text(path_of("log"), "0\n");
	begin_with(&l, path_of("log"));
	for (int i = 1; i < 300000; i++)
		buf_printf(&text, "%d\n", i);
	write_with(path_of("log"), O_APPEND, 0600, buf_str(&text));
	read_all(&l);
	ck_assert_uint_eq(l.frames.n, 300000);
	write_with(path_of("log"), O_APPEND, 0600, buf_str(&text));
	while (l.frames.n < 599999) {
		seen = l.w.bytes_done;
		follow_read(l.f, now_ms(&l), 1000, note, &l);
		ck_assert_uint_le(l.w.bytes_done - seen, SOURCE_BLOCK_BYTES);
		ck_assert_int_lt(++rounds, 1000);
		if (l.frames.n < 599999 && l.w.bytes_done > seen)
			ck_assert_int_eq(follow_wait_ms(l.f, now_ms(&l)), 0);
	}
	buf_release(&text);
	end(&l);
}
END_TEST

/* More files than may be kept open. */
START_TEST(many_files)
{
	struct live l = { .w.open_max = 3 };
	char name[32], line[64];
	int highest;

	for (int i = 0; i < 40; i++) {
		snprintf(name, sizeof(name), "%02d.log", i);
		write_text(path_of(name), "a\n");
	}
	begin_with(&l, folder);
	ck_assert_uint_eq(l.frames.n, 40);
	for (int round = 0; round < 3; round++)
		for (int i = 0; i < 40; i++) {
			snprintf(name, sizeof(name), "%02d.log", i);
			snprintf(line, sizeof(line), "%d of %02d\n", round, i);
			append(path_of(name), line);
			if (i % 7 == 0)
				read_all(&l);
		}
	read_all(&l);
	ck_assert_uint_eq(l.frames.n, 160);
	highest = dup(0);
	ck_assert_int_lt(highest, 30);
	close(highest);
	check_fetch(&l);
	end(&l);
}
END_TEST

/* ---- writers ---- */

/* What both processes see. */
struct shared {
	_Atomic uint64_t read; /* lines that were handed over */
};

static struct shared *share(void)
{
	void *p = mmap(NULL, sizeof(struct shared), PROT_READ | PROT_WRITE,
		       MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	ck_assert(p != MAP_FAILED);
	return p;
}

enum rotation {
	RENAME,        /* log → log.N, each with its own name */
	RENAME_SHIFT,  /* log.2 → log.3, log.1 → log.2, log → log.1 */
	RENAME_LATE,   /* and goes on in the old one after the new one is there */
	RENAME_OVER,   /* a new file takes the place of the old one */
	COPY_TRUNCATE,
	REGROW,        /* truncated, then at once longer than before */
	RECREATE,      /* deleted and made again: often with the same inode */
	ROTATIONS
};

enum { TIMES = 100, LINES_A_TIME = 120 };

struct writer {
	struct shared *shared;
	enum rotation rotation;
	const char *log;
	uint64_t written; /* lines */
	uint32_t seed;
	int fd;
};

static void wait_for_reader(struct writer *w, uint64_t lines)
{
	while (w->shared->read < lines)
		poll(NULL, 0, 1);
}

/* In pieces that do not end where lines end. */
static void write_lines(struct writer *w, int fd, int n)
{
	struct buf text = { 0 };

	for (int i = 0; i < n; i++) {
		buf_printf(&text, "{\"n\":%llu,\"text\":\"", (unsigned long long)w->written++);
		w->seed = w->seed * 1103515245 + 12345;
		for (uint32_t k = (w->seed >> 16) % 90; k; k--)
			buf_addc(&text, 'x');
		buf_adds(&text, "\"}\n");
	}
	for (size_t i = 0, k; i < text.n; i += k) {
		w->seed = w->seed * 1103515245 + 12345;
		k = 1 + (w->seed >> 16) % 3000;
		k = k < text.n - i ? k : text.n - i;
		put(fd, str_make(text.p + i, k));
	}
	buf_release(&text);
}

static int create(const char *path)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_APPEND, 0600);

	if (fd < 0)
		abort();
	return fd;
}

static void must(int rc)
{
	if (rc < 0)
		abort();
}

static void rename_shift(const char *log)
{
	char from[600], to[600];

	for (int i = 9; i >= 0; i--) {
		snprintf(from, sizeof(from), i ? "%s.%d" : "%s", log, i);
		snprintf(to, sizeof(to), "%s.%d", log, i + 1);
		if (rename(from, to) < 0 && errno != ENOENT)
			abort();
	}
}

static void copy_file(const char *from, const char *to)
{
	char command[1300];

	snprintf(command, sizeof(command), "cp '%s' '%s'", from, to);
	must(system(command));
}

static void rotate(struct writer *w, int time)
{
	char other[600];
	int old = w->fd;

	snprintf(other, sizeof(other), "%s.%d", w->log, time);
	switch (w->rotation) {
	case RENAME:
		must(rename(w->log, other));
		w->fd = create(w->log);
		close(old);
		return;
	case RENAME_SHIFT:
		/* at most as far ahead as there are names */
		if (time > 5)
			wait_for_reader(w, (uint64_t)(time - 5) * LINES_A_TIME);
		rename_shift(w->log);
		w->fd = create(w->log);
		close(old);
		return;
	case RENAME_LATE:
		must(rename(w->log, other));
		w->fd = create(w->log);
		write_lines(w, old, 7);
		close(old);
		return;
	case RENAME_OVER:
		wait_for_reader(w, w->written);
		w->fd = create(other);
		write_lines(w, w->fd, 3);
		must(rename(other, w->log));
		close(old);
		return;
	case COPY_TRUNCATE:
		copy_file(w->log, other);
		wait_for_reader(w, w->written);
		must(ftruncate(w->fd, 0));
		return;
	case REGROW:
		wait_for_reader(w, w->written);
		must(ftruncate(w->fd, 0));
		write_lines(w, w->fd, 2 * LINES_A_TIME);
		return;
	case RECREATE:
		wait_for_reader(w, w->written);
		must(unlink(w->log));
		close(old);
		w->fd = create(w->log);
		return;
	case ROTATIONS: break;
	}
	abort();
}

static void write_and_rotate(struct writer *w, int times, bool timer_only)
{
	w->fd = create(w->log);
	for (int i = 0; i < times; i++) {
		write_lines(w, w->fd, LINES_A_TIME);
		/* who only looks now and then cannot see what came and went in between */
		if (timer_only)
			wait_for_reader(w, w->written);
		rotate(w, i + 1);
	}
	write_lines(w, w->fd, LINES_A_TIME);
	write_lines(w, w->fd, 1); /* so that a missing end of the one before shows */
	wait_for_reader(w, w->written);
	_exit(0);
}

static uint64_t lines_in_all(enum rotation rotation, int times)
{
	uint64_t n = (uint64_t)(times + 1) * LINES_A_TIME + 1;

	if (rotation == RENAME_LATE)
		n += 7 * (uint64_t)times;
	if (rotation == RENAME_OVER)
		n += 3 * (uint64_t)times;
	if (rotation == REGROW)
		n += 2 * LINES_A_TIME * (uint64_t)times;
	return n;
}

/* Each number once; in order, unless several files were written to at once. */
static void check_numbers(const struct live *l, uint64_t n, bool ordered)
{
	char *seen = xcalloc(n, 1);

	for (uint32_t i = 0; i < l->frames.n; i++) {
		struct str s = l->frames.v[i].bytes;
		uint64_t number = 0;
		size_t k = 5;

		ck_assert_msg(str_starts(s, STR("{\"n\":")) && str_ends(s, STR("}")) &&
				      !l->frames.v[i].flags,
			      "frame %u: <%.*s>", i, STR_ARG(s));
		for (; s.p[k] >= '0' && s.p[k] <= '9'; k++)
			number = number * 10 + (uint64_t)(s.p[k] - '0');
		ck_assert_uint_lt(number, n);
		ck_assert_msg(!seen[number], "line %u came twice", (unsigned)number);
		seen[number] = 1;
		if (ordered)
			ck_assert_uint_eq(number, i);
	}
	ck_assert_uint_eq(l->frames.n, n);
	free(seen);
}

static void check_rotation(struct live *l, const char *given, enum rotation rotation, int times,
			   bool ordered)
{
	struct writer w = { .shared = share(), .rotation = rotation, .log = path_of("app.log"),
			    .seed = 7 };
	uint64_t n = lines_in_all(rotation, times);
	int status = -1;
	pid_t pid;

	write_text(path_of("app.log"), "");
	begin_with(l, given);
	pid = fork();
	ck_assert_int_ge(pid, 0);
	if (!pid)
		write_and_rotate(&w, times, l->w.only_timer);
	while (waitpid(pid, &status, WNOHANG) == 0) {
		wait_a_little(l);
		w.shared->read = l->numbers;
		ck_assert_uint_le(l->numbers, n);
	}
	ck_assert_int_eq(status, 0);
	look(l);
	check_numbers(l, n, ordered);
	check_fetch(l);
	ck_assert_uint_ge(status_of(l, follow_count(l->f) - 1).replaced, 1);
	check_banner(l, NULL);
	munmap(w.shared, sizeof(*w.shared));
}

START_TEST(rotations)
{
	struct live l = { 0 };

	check_rotation(&l, path_of("app.log"), (enum rotation)_i, TIMES, _i != RENAME_LATE);
	ck_assert_uint_ge(l.w.files.n, TIMES);
	end(&l);
}
END_TEST

/* The log is one of a directory's files; those it is renamed to are not, by their names. */
START_TEST(rotations_in_a_directory)
{
	struct live l = { 0 };

	check_rotation(&l, folder, (enum rotation)_i, 20, _i != RENAME_LATE);
	end(&l);
}
END_TEST

/* Nothing is told; the clock is put forward so that a look does not take 250 ms. */
START_TEST(rotations_without_notices)
{
	struct live l = { .w.only_timer = true, .step_ms = FOLLOW_POLL_MS };

	check_rotation(&l, path_of("app.log"), (enum rotation)_i, 20, _i != RENAME_LATE);
	end(&l);
}
END_TEST

/* No file is kept open, so that an inode is free for the next one. */
START_TEST(rotations_of_files_that_are_not_kept_open)
{
	struct live l = { .w.open_max = 1 };

	write_text(path_of("0"), "");
	add(&l, path_of("0"));
	check_rotation(&l, path_of("app.log"), RECREATE, TIMES, true);
	end(&l);
}
END_TEST

static void forget(int *old)
{
	close(*old);
	*old = -1;
}

/* Anything in any order, with looks in between or not. A file is cut only after it was read: what
 * it held is gone for everyone. */
static void act(struct live *l, struct writer *w, int *old, uint32_t what, int time)
{
	char other[600];

	snprintf(other, sizeof(other), "%s.%d", w->log, time);
	switch (what) {
	case 0: /* renamed; the one before that is written to no more */
		close(*old);
		*old = w->fd;
		must(rename(w->log, other));
		w->fd = create(w->log);
		return;
	case 1: /* and closed at once */
		forget(old);
		must(rename(w->log, other));
		close(w->fd);
		w->fd = create(w->log);
		return;
	case 2:
		look(l);
		must(ftruncate(w->fd, 0));
		return;
	case 3:
		look(l);
		close(*old);
		*old = w->fd;
		must(unlink(w->log));
		w->fd = create(w->log);
		return;
	case 4:
		forget(old);
		look(l);
		must(unlink(w->log));
		look(l);
		close(w->fd);
		w->fd = create(w->log);
		return;
	case 5:
		if (*old >= 0)
			write_lines(w, *old, 2);
		return;
	case 6: read_all(l); return;
	case 7: pass(l, 300); return;
	default: write_lines(w, w->fd, (int)what); return;
	}
}

START_TEST(anything_in_any_order)
{
	struct live l = { .w.only_timer = _i % 3 == 0, .w.open_max = _i % 5 ? 0 : 1 };
	struct writer w = { .log = path_of("app.log"), .seed = (uint32_t)_i };
	int old = -1;

	if (l.w.open_max) {
		write_text(path_of("0"), "");
		add(&l, path_of("0"));
	}
	w.fd = create(w.log);
	write_lines(&w, w.fd, _i % 4);
	begin_with(&l, _i % 2 ? w.log : folder);
	for (uint32_t i = 0; i < l.frames.n; i++)
		ck_assert_int_eq(wire_spool(&l.w, l.files.v[i], l.frames.v[i].offset,
					   l.frames.v[i].full_length, NULL), 0);
	for (int i = 0; i < 100; i++) {
		w.seed = w.seed * 1103515245 + 12345;
		act(&l, &w, &old, (w.seed >> 16) % 12, i);
		/* what is not told, or not kept open, can be missed between two looks */
		if (l.w.only_timer || l.w.open_max == 1)
			look(&l);
		if (l.w.open_max == 1)
			forget(&old);
	}
	look(&l);
	check_numbers(&l, w.written, false);
	check_fetch(&l);
	close(old);
	close(w.fd);
	end(&l);
}
END_TEST

/* Another file with the same inode and the same bytes so far, and more: only its birth tells. */
START_TEST(the_same_inode_and_the_same_bytes)
{
	struct live l = { .w.open_max = 1 };
	struct stat before, after;
	uint32_t lines = 1;
	bool same = false;

	write_text(path_of("0"), "");
	write_text(path_of("1"), "");
	write_text(path_of("log"), "same\n");
	add(&l, path_of("0"));
	add(&l, path_of("1"));
	add(&l, path_of("log"));
	begin(&l);
	for (int i = 0; i < 10; i++) {
		look(&l);
		ck_assert_uint_eq(l.frames.n, lines);
		/* a look at the other one has this one closed */
		append(path_of("1"), "x\n");
		lines++;
		look(&l);
		ck_assert_int_eq(stat(path_of("log"), &before), 0);
		ck_assert_int_eq(unlink(path_of("log")), 0);
		write_text(path_of("log"), "same\nsame\n");
		ck_assert_int_eq(stat(path_of("log"), &after), 0);
		same |= before.st_ino == after.st_ino;
		lines += 2;
	}
	look(&l);
	ck_assert_uint_eq(l.frames.n, lines);
	if (!same)
		printf("# this file system does not use an inode again at once\n");
	end(&l);
}
END_TEST

/* ---- things that happen to a log, one by one ---- */

START_TEST(renamed_and_written_to)
{
	struct live l = { 0 };
	int old;

	write_text(path_of("log"), "1\n");
	begin_with(&l, path_of("log"));
	old = open(path_of("log"), O_WRONLY | O_APPEND);
	put(old, STR("2\nha"));
	ck_assert_int_eq(rename(path_of("log"), path_of("log.1")), 0);
	read_all(&l);
	check_notes(&l, "0: 0+1 #1 <1>\n0: 2+1 #2 <2>\n");
	ck_assert_int_eq(status_of(&l, 0).health, FOLLOW_GONE);
	check_banner(&l, "log: missing for 0:00; checked once a second");
	write_text(path_of("log"), "a\nb");
	put(old, STR("lf\n3"));
	read_all(&l);
	check_notes(&l, "0: 4+4 #3 <half>\n1: 0+1 #1 <a>\n");
	check_banner(&l, NULL);
	ck_assert_uint_eq(status_of(&l, 0).replaced, 1);
	put(old, STR("\n"));
	append(path_of("log"), "\n");
	look(&l);
	check_notes(&l, "0: 9+1 #4 <3>\n1: 2+1 #2 <b>\n");
	/* its last line stays without an end: cut off there in the end */
	put(old, STR("torn"));
	look(&l);
	check_notes(&l, "");
	pass(&l, FOLLOW_OLD_MS);
	check_notes(&l, "0: 11+4 #5 T<torn>\n");
	close(old);
	ck_assert_int_eq(unlink(path_of("log.1")), 0);
	check_fetch(&l);
	end(&l);
}
END_TEST

START_TEST(renamed_and_back)
{
	struct live l = { 0 };

	write_text(path_of("log"), "1\n");
	begin_with(&l, path_of("log"));
	ck_assert_int_eq(rename(path_of("log"), path_of("aside")), 0);
	read_all(&l);
	write_text(path_of("log"), "other\n");
	read_all(&l);
	append(path_of("aside"), "2\n");
	ck_assert_int_eq(rename(path_of("aside"), path_of("log")), 0);
	append(path_of("log"), "3\n");
	look(&l);
	check_notes(&l, "0: 0+1 #1 <1>\n1: 0+5 #1 <other>\n0: 2+1 #2 <2>\n0: 4+1 #3 <3>\n");
	append(path_of("log"), "4\n");
	look(&l);
	check_notes(&l, "0: 6+1 #4 <4>\n");
	end(&l);
}
END_TEST

/* Two rotations between two looks: the one in the middle was never opened under its name. */
START_TEST(two_at_once)
{
	struct live l = { 0 };

	write_text(path_of("log"), "1\n");
	begin_with(&l, path_of("log"));
	read_all(&l);
	append(path_of("log"), "2\n");
	ck_assert_int_eq(rename(path_of("log"), path_of("log.1")), 0);
	write_text(path_of("log"), "3\n");
	ck_assert_int_eq(rename(path_of("log.1"), path_of("log.2")), 0);
	ck_assert_int_eq(rename(path_of("log"), path_of("log.1")), 0);
	write_text(path_of("log"), "4\n");
	ck_assert_int_eq(rename(path_of("log.2"), path_of("log.3")), 0);
	ck_assert_int_eq(rename(path_of("log.1"), path_of("log.2")), 0);
	look(&l);
	check_notes(&l, "0: 0+1 #1 <1>\n0: 2+1 #2 <2>\n1: 0+1 #1 <3>\n2: 0+1 #1 <4>\n");
	ck_assert_uint_eq(status_of(&l, 0).replaced, 2);
	check_fetch(&l);
	end(&l);
}
END_TEST

/* A batch is one write; pieces in any order, next to others, and such as are spooled already. */
START_TEST(several_pieces_are_spooled_at_once)
{
	static const struct {
		uint64_t offset;
		const char *bytes;
	} parts[] = { { 40, "klmno" }, { 10, "abc" }, { 13, "def" }, { 38, "ijkl" }, { 10, "abc" } };
	struct spool spool = { 0 };
	struct pieces pieces = { 0 };
	struct spool_batch batch = { 0 };
	struct err err;
	char out[16] = "";

	ck_assert_int_eq(spool_add(&spool, &pieces, 16, STR("gh"), &err), 0);
	for (int i = 0; i < 5; i++)
		spool_batch_add(&batch, &pieces, parts[i].offset, str_of(parts[i].bytes));
	ck_assert_int_eq(spool_batch_write(&batch, &spool, &err), 0);
	ck_assert_uint_eq(batch.parts.n + batch.bytes.n, 0);
	for (uint32_t i = 1; i < pieces.list.n; i++)
		ck_assert_uint_le(pieces.list.v[i - 1].offset + pieces.list.v[i - 1].n,
				  pieces.list.v[i].offset);
	ck_assert_uint_eq(spooled_from(&pieces, 10), 8);
	ck_assert_uint_eq(spooled_gap(&pieces, 18), 20);
	ck_assert_uint_eq(spooled_from(&pieces, 38), 7);
	for (size_t i = 0; i < 8; i++)
		ck_assert_int_eq(spooled_read(&spool, &pieces, 10 + i, out + i, 1), 1);
	ck_assert_str_eq(out, "abcdefgh");
	memset(out, 0, sizeof(out));
	for (size_t i = 0; i < 7; i++)
		ck_assert_int_eq(spooled_read(&spool, &pieces, 38 + i, out + i, 1), 1);
	ck_assert_str_eq(out, "ijklmno");
	ck_assert_int_eq(spool_batch_write(&batch, &spool, &err), 0);
	spool_batch_release(&batch);
	vec_release(&pieces.list);
	spool_close(&spool);
}
END_TEST

START_TEST(truncated)
{
	struct live l = { 0 };
	struct buf out = { 0 };
	struct str block;
	struct err err;

	write_text(path_of("log"), "first\nkept\nha");
	begin_with(&l, path_of("log"));
	read_all(&l);
	ck_assert_int_eq(wire_spool(&l.w, 0, 6, 4, &err), 0);
	append(path_of("log"), "lf\nlive\ntorn");
	read_all(&l);
	check_notes(&l, "0: 0+5 #1 <first>\n0: 6+4 #2 <kept>\n0: 11+4 #3 <half>\n"
			"0: 16+4 #4 <live>\n");
	ck_assert_int_eq(wire_fetch_block(&l.w, 0, 3, 15, &out, &block, &err), 0);
	ck_assert(str_is(block, "st\nkept\nhalf\nli"));
	write_text(path_of("log"), "new\n");
	read_all(&l);
	check_notes(&l, "0: 21+4 #5 T<torn>\n1: 0+3 #1 <new>\n");
	ck_assert(str_eq(l.w.files.v[1].name, l.w.files.v[0].name));
	ck_assert(str_eq(l.w.files.v[1].group, l.w.files.v[0].group));
	/* grown again past where it was: not taken for what it was */
	write_text(path_of("log"), "nothing of this is known\nat all\n");
	look(&l);
	check_notes(&l, "2: 0+24 #1 <nothing of this is known>\n2: 25+6 #2 <at all>\n");
	for (uint32_t i = 1; i < l.frames.n; i++)
		check_fetch_of(&l, i);
	/* nobody asked for the first line to be kept: it is gone, and not something else */
	ck_assert_int_eq(wire_fetch(&l.w, 0, 0, 5, &out, &err), -1);
	ck_assert_ptr_nonnull(strstr(err.text, "cannot be read any more"));
	ck_assert_int_eq(wire_fetch_block(&l.w, 0, 0, 10, &out, &block, &err), -1);
	ck_assert_int_eq(wire_fetch_block(&l.w, 0, 6, 4, &out, &block, &err), 0);
	ck_assert(str_is(block, "kept"));
	buf_release(&out);
	end(&l);
}
END_TEST

/* A writer that could not write a whole line takes back what it wrote of it. */
START_TEST(taken_back)
{
	struct live l = { 0 };

	write_text(path_of("log"), "1\n2\nto");
	begin_with(&l, path_of("log"));
	append(path_of("log"), "rn");
	read_all(&l);
	ck_assert_uint_eq(status_of(&l, 0).incomplete, 4);
	ck_assert_int_eq(truncate(path_of("log"), 4), 0);
	look(&l);
	ck_assert_uint_eq(status_of(&l, 0).incomplete, 0);
	append(path_of("log"), "three\n4\nx");
	look(&l);
	ck_assert_int_eq(truncate(path_of("log"), 12), 0);
	append(path_of("log"), "five\n");
	look(&l);
	check_notes(&l, "0: 0+1 #1 <1>\n0: 2+1 #2 <2>\n0: 4+5 #3 <three>\n0: 10+1 #4 <4>\n"
			"0: 12+4 #5 <five>\n");
	ck_assert_uint_eq(status_of(&l, 0).replaced, 0);
	check_fetch(&l);
	end(&l);
}
END_TEST

START_TEST(vanishes_and_returns)
{
	struct live l = { 0 };
	int old;

	write_text(path_of("log"), "1\n");
	begin_with(&l, path_of("log"));
	append(path_of("log"), "2\n");
	old = open(path_of("log"), O_WRONLY | O_APPEND);
	ck_assert_int_eq(unlink(path_of("log")), 0);
	read_all(&l);
	ck_assert_int_eq(status_of(&l, 0).health, FOLLOW_GONE);
	pass(&l, 72000);
	check_banner(&l, "log: missing for 1:12; checked once a second");
	ck_assert_int_gt(follow_wait_ms(l.f, now_ms(&l)), 0);
	write_text(path_of("log"), "3\n");
	read_all(&l);
	check_notes(&l, "0: 0+1 #1 <1>\n0: 2+1 #2 <2>\n1: 0+1 #1 <3>\n");
	check_banner(&l, NULL);
	/* who has it open still writes to the old one */
	put(old, STR("late\n"));
	look(&l);
	check_notes(&l, "0: 4+4 #3 <late>\n");
	close(old);
	check_fetch(&l);
	end(&l);
}
END_TEST

START_TEST(its_folder_vanishes_and_returns)
{
	struct live l = { 0 };

	ck_assert_int_eq(mkdir(path_of("sub"), 0700), 0);
	write_text(path_of("sub/log"), "1\n");
	begin_with(&l, path_of("sub/log"));
	ck_assert_int_eq(rename(path_of("sub"), path_of("old")), 0);
	append(path_of("old/log"), "2\n");
	look(&l);
	ck_assert_int_eq(status_of(&l, 0).health, FOLLOW_GONE);
	ck_assert_int_eq(mkdir(path_of("sub"), 0700), 0);
	write_text(path_of("sub/log"), "3\n");
	look(&l);
	look(&l);
	check_notes(&l, "0: 0+1 #1 <1>\n0: 2+1 #2 <2>\n1: 0+1 #1 <3>\n");
	/* and the new folder is watched: no time passes */
	ck_assert_int_eq(rename(path_of("sub/log"), path_of("sub/log.1")), 0);
	write_text(path_of("sub/log"), "4\n");
	read_all(&l);
	check_notes(&l, "2: 0+1 #1 <4>\n");
	end(&l);
}
END_TEST

static void check_turned_into(struct live *l, const char *banner)
{
	int64_t began = unit_now_ms();
	struct follow_status s;

	look(l);
	s = status_of(l, 0);
	ck_assert_int_eq(s.health, FOLLOW_UNREADABLE);
	check_banner(l, banner);
	ck_assert_int_gt(follow_wait_ms(l->f, now_ms(l)), 0);
	ck_assert_int_lt(unit_now_ms() - began, 10000); /* did not wait for a writer */
}

START_TEST(turns_into_something_else)
{
	struct live l = { 0 };

	write_text(path_of("log"), "1\n");
	begin_with(&l, path_of("log"));
	ck_assert_int_eq(unlink(path_of("log")), 0);
	ck_assert_int_eq(mkfifo(path_of("log"), 0600), 0);
	check_turned_into(&l, "log: is a FIFO now; ");
	ck_assert_int_eq(unlink(path_of("log")), 0);
	ck_assert_int_eq(mkdir(path_of("log"), 0700), 0);
	check_turned_into(&l, "log: is a folder now; ");
	ck_assert_int_eq(rmdir(path_of("log")), 0);
	ck_assert_int_eq(symlink("log", path_of("log")), 0);
	look(&l);
	ck_assert_int_eq(status_of(&l, 0).health, FOLLOW_GONE);
	ck_assert_int_eq(unlink(path_of("log")), 0);
	write_text(path_of("log"), "2\n");
	look(&l);
	check_notes(&l, "0: 0+1 #1 <1>\n1: 0+1 #1 <2>\n");
	check_banner(&l, NULL);
	end(&l);
}
END_TEST

START_TEST(may_not_be_read)
{
	struct live l = { 0 };

	write_text(path_of("log"), "1\n");
	begin_with(&l, path_of("log"));
	ck_assert_int_eq(rename(path_of("log"), path_of("log.1")), 0);
	write_text(path_of("log"), "2\n");
	ck_assert_int_eq(chmod(path_of("log"), 0), 0);
	look(&l);
	if (geteuid() != 0) { /* to root everything is readable */
		ck_assert_int_eq(status_of(&l, 0).health, FOLLOW_UNREADABLE);
		check_banner(&l, "log: Permission denied; check who may read it");
		ck_assert_int_eq(chmod(path_of("log"), 0600), 0);
		look(&l);
	}
	check_notes(&l, "0: 0+1 #1 <1>\n1: 0+1 #1 <2>\n");
	check_banner(&l, NULL);
	end(&l);
}
END_TEST

/* No descriptor is left for the new file, then there is one again. */
START_TEST(no_descriptors_left)
{
	struct live l = { 0 };
	struct rlimit limit, low;
	int next;

	write_text(path_of("log"), "1\n");
	begin_with(&l, path_of("log"));
	look(&l);
	next = dup(0);
	close(next);
	ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &limit), 0);
	low = (struct rlimit){ (rlim_t)next, limit.rlim_max };
	ck_assert_int_eq(unlink(path_of("log")), 0);
	write_text(path_of("log"), "2\n");
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &low), 0);
	look(&l);
	ck_assert_int_eq(status_of(&l, 0).health, FOLLOW_UNREADABLE);
	check_banner(&l, "Too many open files");
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
	look(&l);
	check_notes(&l, "0: 0+1 #1 <1>\n1: 0+1 #1 <2>\n");
	check_banner(&l, NULL);
	end(&l);
}
END_TEST

START_TEST(each_message_once)
{
	struct live l = { 0 };

	write_text(path_of("a.log"), "1\n");
	write_text(path_of("b.log"), "x\n");
	ck_assert_int_eq(symlink("a.log", path_of("link.log")), 0);
	add(&l, path_of("a.log"));
	add(&l, path_of("link.log"));
	add(&l, path_of("b.log"));
	add(&l, folder);
	begin(&l);
	ck_assert_uint_eq(l.w.files.n, 2);
	append(path_of("link.log"), "2\n");
	look(&l);
	check_notes(&l, "0: 0+1 #1 <1>\n1: 0+1 #1 <x>\n0: 2+1 #2 <2>\n");
	/* further names for what is known */
	ck_assert_int_eq(link(path_of("a.log"), path_of("hard.log")), 0);
	ck_assert_int_eq(symlink("b.log", path_of("soft.log")), 0);
	look(&l);
	append(path_of("hard.log"), "3\n");
	look(&l);
	append(path_of("soft.log"), "y\n");
	look(&l);
	check_notes(&l, "0: 4+1 #3 <3>\n1: 2+1 #2 <y>\n");
	/* one log takes the other's name */
	ck_assert_int_eq(rename(path_of("a.log"), path_of("b.log")), 0);
	append(path_of("b.log"), "4\n");
	look(&l);
	check_notes(&l, "0: 6+1 #4 <4>\n");
	/* a new one gets the name that is free now */
	write_text(path_of("a.log"), "new\n");
	look(&l);
	check_notes(&l, "2: 0+3 #1 <new>\n");
	check_banner(&l, NULL);
	check_fetch(&l);
	end(&l);
}
END_TEST

START_TEST(no_room_to_keep)
{
	struct live l = { 0 };

	setenv("TMPDIR", path_of("none"), 1);
	write_text(path_of("log"), "1\nha");
	begin_with(&l, path_of("log"));
	append(path_of("log"), "lf\n3\n");
	read_all(&l);
	check_notes(&l, "0: 0+1 #1 <1>\n0: 2+4 #2 <half>\n0: 7+1 #3 <3>\n");
	check_banner(&l, "no room in $TMPDIR");
	check_fetch(&l);
	/* they are in the file, as long as that is what it was */
	write_text(path_of("log"), "n\n");
	read_all(&l);
	check_notes(&l, "1: 0+1 #1 <n>\n");
	end(&l);
}
END_TEST

/* ---- directories and documents ---- */

START_TEST(files_appear)
{
	struct live l = { 0 };

	write_text(path_of("a.log"), "1\n");
	begin_with(&l, folder);
	check_notes(&l, "0: 0+1 #1 <1>\n");
	read_all(&l);
	write_text(path_of(".tmp.json"), "{}");
	write_text(path_of("x.txt"), "no");
	write_text(path_of("b.ndjson"), "2\n3");
	read_all(&l);
	check_notes(&l, "1: 0+1 #1 <2>\n");
	ck_assert(str_is(l.w.files.v[1].group, folder));
	ck_assert(l.w.files.v[1].listed);
	/* a hand-off file, written under another name and renamed into place */
	write_text(path_of(".t"), "{\n\"task_id\":1\n}\n");
	ck_assert_int_eq(rename(path_of(".t"), path_of("task-1.json")), 0);
	append(path_of("b.ndjson"), "\n");
	append(path_of("a.log"), "4\n");
	read_all(&l);
	ck_assert_ptr_nonnull(strstr(l.notes.p, "0: 2+1 #2 <4>\n"));
	ck_assert_ptr_nonnull(strstr(l.notes.p, "1: 2+1 #2 <3>\n"));
	ck_assert_ptr_nonnull(strstr(l.notes.p, "2: 0+15 #1 <{\n\"task_id\":1\n}>\n"));
	ck_assert(l.w.files.v[2].whole);
	ck_assert_uint_eq(l.frames.n, 5);
	buf_clear(&l.notes);
	/* taken away: its message can still be read, and nobody is alarmed */
	ck_assert_int_eq(unlink(path_of("task-1.json")), 0);
	look(&l);
	check_banner(&l, NULL);
	check_fetch(&l);
	/* a single line without an end, as many tools write it */
	write_text(path_of("result-1.json"), "{\"task_id\":1}");
	write_text(path_of("notes.json"), "{\"a\":1}");
	read_all(&l);
	check_notes(&l, "3: 0+13 #1 T<{\"task_id\":1}>\n");
	pass(&l, TAIL_SETTLE_MS);
	check_notes(&l, "4: 0+7 #1 T<{\"a\":1}>\n");
	check_fetch(&l);
	end(&l);
}
END_TEST

START_TEST(files_appear_unseen)
{
	struct live l = { .w.only_timer = true };

	begin_with(&l, folder);
	read_all(&l);
	check_banner(&l, ": no *.json, ");
	for (int i = 0; i < 3; i++) {
		char name[32];

		snprintf(name, sizeof(name), "%c.log", 'c' - i);
		write_text(path_of(name), "1\n");
		/* a second apart, so that their times tell the order */
		ck_assert_int_eq(utimensat(AT_FDCWD, path_of(name),
					   (struct timespec[2]){ { 1000 + i, 0 }, { 1000 + i, 0 } },
					   0),
				 0);
	}
	ck_assert_int_le(follow_wait_ms(l.f, now_ms(&l)), FOLLOW_POLL_MS);
	pass(&l, FOLLOW_POLL_MS);
	check_banner(&l, NULL);
	check_notes(&l, "0: 0+1 #1 <1>\n1: 0+1 #1 <1>\n2: 0+1 #1 <1>\n");
	ck_assert(str_is(l.w.files.v[0].base, "c.log"));
	ck_assert(str_is(l.w.files.v[2].base, "a.log"));
	end(&l);
}
END_TEST

START_TEST(the_directory_vanishes_and_returns)
{
	struct live l = { 0 };

	ck_assert_int_eq(mkdir(path_of("q"), 0700), 0);
	write_text(path_of("q/a.log"), "1\n");
	begin_with(&l, path_of("q"));
	look(&l);
	ck_assert_int_eq(rename(path_of("q"), path_of("p")), 0);
	look(&l);
	check_banner(&l, "q: missing for 0:00; ");
	ck_assert_int_eq(mkdir(path_of("q"), 0700), 0);
	write_text(path_of("q/b.log"), "2\n");
	look(&l);
	check_banner(&l, NULL);
	write_text(path_of("q/c.log"), "3\n");
	read_all(&l);
	check_notes(&l, "0: 0+1 #1 <1>\n1: 0+1 #1 <2>\n2: 0+1 #1 <3>\n");
	end(&l);
}
END_TEST

/* Written a piece at a time, where its name is, for everyone to see. */
START_TEST(documents_grow)
{
	static const char text[] = "{\"session_id\":\"s\",\n\"messages\":[\n{\"a\":1},\n{}\n]}\n";
	struct live l = { 0 };

	begin_with(&l, folder);
	read_all(&l);
	for (const char *p = text; *p; p++) {
		append(path_of("all.json"), (char[2]){ *p, '\0' });
		read_all(&l);
		append(path_of("all.log"), (char[2]){ *p, '\0' });
		read_all(&l);
	}
	/* by its name the first can be nothing else; with the other, lines may follow */
	ck_assert_uint_eq(l.frames.n, 2);
	pass(&l, TAIL_SETTLE_MS);
	ck_assert_uint_eq(l.frames.n, 4);
	for (uint32_t i = 0; i < 4; i++) {
		ck_assert(str_is(l.frames.v[i].bytes, i % 2 ? "{}" : "{\"a\":1}"));
		ck_assert(str_is(l.w.files.v[l.files.v[i]].session, "s"));
	}
	check_fetch(&l);
	end(&l);
}
END_TEST

START_TEST(documents_are_replaced)
{
	struct live l = { 0 };

	write_text(path_of("task-1.json"), "{\n\"v\":1\n}\n");
	begin_with(&l, folder);
	check_notes(&l, "0: 0+9 #1 <{\n\"v\":1\n}>\n");
	read_all(&l);
	/* the same bytes say nothing new */
	write_text(path_of("task-1.json"), "{\n\"v\":1\n}\n");
	pass(&l, 3000);
	write_text(path_of(".new"), "{\n\"v\":1\n}\n");
	ck_assert_int_eq(rename(path_of(".new"), path_of("task-1.json")), 0);
	pass(&l, 3000);
	check_notes(&l, "");
	check_fetch(&l);
	write_text(path_of("task-1.json"), "{\n\"v\":2\n}\n");
	pass(&l, 3000);
	ck_assert_uint_eq(l.frames.n, 2);
	ck_assert(str_is(l.frames.v[1].bytes, "{\n\"v\":2\n}"));
	write_text(path_of(".new"), "{\n\"v\":3,\n\"w\":[]}\n");
	ck_assert_int_eq(rename(path_of(".new"), path_of("task-1.json")), 0);
	pass(&l, 3000);
	ck_assert_uint_eq(l.frames.n, 3);
	/* torn: shown as it is once nobody goes on writing, and anew when somebody does */
	write_text(path_of("task-1.json"), "{\n\"v\":4");
	read_all(&l);
	ck_assert_uint_eq(l.frames.n, 3);
	pass(&l, TAIL_TORN_MS);
	ck_assert_uint_eq(l.frames.n, 4);
	ck_assert_uint_eq(l.frames.v[3].flags, FRAME_TRUNCATED);
	append(path_of("task-1.json"), "\n}\n");
	pass(&l, 3000);
	ck_assert_uint_eq(l.frames.n, 5);
	ck_assert(str_is(l.frames.v[4].bytes, "{\n\"v\":4\n}"));
	/* renamed, nothing is new; changed under its new name, it is */
	ck_assert_int_eq(rename(path_of("task-1.json"), path_of("task-2.json")), 0);
	pass(&l, 3000);
	ck_assert_uint_eq(l.frames.n, 5);
	append(path_of("task-2.json"), "\n");
	pass(&l, 3000);
	ck_assert_uint_eq(l.frames.n, 5);
	write_text(path_of("task-2.json"), "{\n\"v\":5\n}\n");
	pass(&l, 3000);
	ck_assert_uint_eq(l.frames.n, 6);
	ck_assert(str_is(l.w.files.v[l.files.v[5]].base, "task-2.json"));
	check_fetch(&l);
	write_text(path_of("review-1.md"), "# Notes\n");
	read_all(&l);
	append(path_of("review-1.md"), "- a\n");
	read_all(&l);
	pass(&l, TAIL_SETTLE_MS);
	ck_assert_uint_eq(l.frames.n, 7);
	ck_assert(str_is(l.frames.v[6].bytes, "# Notes\n- a"));
	check_fetch(&l);
	end(&l);
}
END_TEST

/* ---- streams ---- */

START_TEST(a_pipe_with_a_torn_end)
{
	struct live l = { 0 };
	int ends[2];

	ck_assert_int_eq(pipe(ends), 0);
	ck_assert_int_ge(dup2(ends[0], 0), 0);
	close(ends[0]);
	begin_with(&l, "-"); /* does not wait */
	read_all(&l);
	ck_assert_int_eq(follow_wait_ms(l.f, now_ms(&l)), -1);
	put(ends[1], STR("{\"a\":1}\n{\"b\""));
	WAIT_UNTIL(&l, l.frames.n == 1);
	check_notes(&l, "0: 0+7 #1 <{\"a\":1}>\n");
	ck_assert_uint_eq(status_of(&l, 0).incomplete, 4);
	ck_assert_int_gt(follow_wait_ms(l.f, now_ms(&l)), 0);
	put(ends[1], STR(":2}\n{\"torn"));
	WAIT_UNTIL(&l, l.frames.n == 2);
	close(ends[1]);
	WAIT_UNTIL(&l, status_of(&l, 0).health == FOLLOW_ENDED);
	check_notes(&l, "0: 8+7 #2 <{\"b\":2}>\n0: 16+6 #3 T<{\"torn>\n");
	ck_assert_int_eq(follow_wait_ms(l.f, now_ms(&l)), -1);
	check_banner(&l, NULL);
	check_fetch(&l);
	end(&l);
}
END_TEST

START_TEST(a_document_through_a_pipe)
{
	for (int closed = 0; closed < 2; closed++) {
		struct live l = { 0 };
		int ends[2];

		ck_assert_int_eq(pipe(ends), 0);
		ck_assert_int_ge(dup2(ends[0], 0), 0);
		close(ends[0]);
		begin_with(&l, "-");
		put(ends[1], STR("[\n{\"a\":1},"));
		read_all(&l);
		ck_assert_uint_gt(status_of(&l, 0).incomplete, 0);
		put(ends[1], STR("\n{\"b\":2}\n]\n"));
		read_all(&l);
		check_notes(&l, "");
		if (closed)
			close(ends[1]);
		pass(&l, closed ? 0 : TAIL_SETTLE_MS);
		check_notes(&l, "0: 2+7 #1 <{\"a\":1}>\n0: 11+7 #2 <{\"b\":2}>\n");
		if (!closed) {
			/* it was not the end */
			put(ends[1], STR("x\ny\n"));
			read_all(&l);
			check_notes(&l, "1: 0+1 #1 <x>\n1: 2+1 #2 <y>\n");
			close(ends[1]);
		}
		check_fetch(&l);
		end(&l);
	}
}
END_TEST

START_TEST(a_fifo_and_its_writers)
{
	struct live l = { 0 };

	ck_assert_int_eq(mkfifo(path_of("fifo"), 0600), 0);
	begin_with(&l, path_of("fifo"));
	read_all(&l);
	for (int i = 0; i < 20; i++) {
		char text[64];
		int fd = open(path_of("fifo"), O_WRONLY | O_NONBLOCK);

		ck_assert_int_ge(fd, 0);
		snprintf(text, sizeof(text), "%d\n%d torn", i, i);
		put(fd, str_of(text));
		if (i % 2)
			read_all(&l);
		close(fd);
		WAIT_UNTIL(&l, l.frames.n == 2 * (uint32_t)i + 2);
		snprintf(text, sizeof(text), "%d torn", i);
		ck_assert(str_is(vec_last(&l.frames)->bytes, text));
		ck_assert_uint_eq(vec_last(&l.frames)->flags, FRAME_TRUNCATED);
		/* no writer is no reason to be busy */
		ck_assert_int_gt(follow_wait_ms(l.f, now_ms(&l)), 0);
		ck_assert_int_eq(poll(&(struct pollfd){ follow_fd(l.f), POLLIN, 0 }, 1, 0), 0);
		ck_assert_int_eq(status_of(&l, 0).health, FOLLOW_LIVE);
	}
	ck_assert_uint_eq(l.w.files.n, 1);
	/* another FIFO takes its place */
	ck_assert_int_eq(unlink(path_of("fifo")), 0);
	look(&l);
	check_banner(&l, "fifo: missing for ");
	ck_assert_int_eq(mkfifo(path_of("fifo"), 0600), 0);
	look(&l);
	buf_clear(&l.notes);
	write_with(path_of("fifo"), 0, 0600, STR("again\n"));
	WAIT_UNTIL(&l, l.frames.n == 41);
	check_notes(&l, "1: 0+5 #1 <again>\n");
	check_fetch(&l);
	end(&l);
}
END_TEST

/* Faster than it can be read, and more than a pipe holds. */
START_TEST(a_flood)
{
	struct live l = { 0 };
	struct writer w = { .seed = 3 };
	int ends[2], status;
	pid_t pid;

	ck_assert_int_eq(pipe(ends), 0);
	ck_assert_int_ge(dup2(ends[0], 0), 0);
	close(ends[0]);
	begin_with(&l, "-");
	pid = fork();
	ck_assert_int_ge(pid, 0);
	if (!pid) {
		for (int i = 0; i < 100; i++)
			write_lines(&w, ends[1], 500);
		_exit(0);
	}
	close(ends[1]);
	WAIT_UNTIL(&l, status_of(&l, 0).health == FOLLOW_ENDED);
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	check_numbers(&l, 50000, true);
	check_fetch(&l);
	end(&l);
}
END_TEST

START_TEST(a_pipe_that_cannot_be_kept)
{
	struct live l = { 0 };
	int ends[2];

	setenv("TMPDIR", path_of("none"), 1);
	ck_assert_int_eq(pipe(ends), 0);
	ck_assert_int_ge(dup2(ends[0], 0), 0);
	close(ends[0]);
	begin_with(&l, "-");
	put(ends[1], STR("{\"a\":1,\n"));
	read_all(&l);
	put(ends[1], STR("\"b\":1}\n"));
	close(ends[1]);
	read_all(&l);
	check_notes(&l, "0: 0+7 #1 <{\"a\":1,>\n0: 8+6 #2 <\"b\":1}>\n");
	check_banner(&l, "no room in $TMPDIR");
	end(&l);
}
END_TEST

START_TEST(standard_input_from_a_file)
{
	struct live l = { 0 };
	int fd;

	write_text(path_of("log"), "before\n1\n");
	fd = open(path_of("log"), O_RDONLY);
	ck_assert_int_ge(dup2(fd, 0), 0);
	ck_assert_int_eq(lseek(fd, 7, SEEK_SET), 7);
	close(fd);
	begin_with(&l, "-");
	append(path_of("log"), "2\n");
	look(&l);
	ck_assert_int_eq(truncate(path_of("log"), 0), 0);
	look(&l);
	append(path_of("log"), "3\n");
	look(&l);
	check_notes(&l, "0: 7+1 #1 <1>\n0: 9+1 #2 <2>\n1: 0+1 #1 <3>\n");
	end(&l);
}
END_TEST

/* ---- into the model ---- */

#define ASK(n) \
	"{\"type\":\"request:ask-user\",\"id\":\"123e4567-e89b-42d3-a456-42661417400" n "\"," \
	"\"timestamp\":\"2026-02-04T14:30:00Z\",\"payload\":{\"question\":\"Which one " n \
	"?\",\"timeout\":300000}}\n"

static uint32_t follow_load(struct load *l, int64_t at_ms)
{
	uint32_t n = 0;

	do
		n += load_follow(l, at_ms, NULL, NULL);
	while (load_wait_ms(l, at_ms) == 0);
	return n;
}

static bool says(struct load *l, uint32_t message, const char *text)
{
	struct str bytes = l->reader.bytes(l->reader.ctx, message);

	return str_find(bytes, str_of(text), 0) >= 0;
}

START_TEST(into_the_model)
{
	const char *log = path_of("app.log");
	struct load l = { .follow = true };
	struct buf text = { 0 };

	write_text(log, "plain\n" ASK("1"));
	ck_assert_int_eq(load_open(&l, &log, 1, 0), 0);
	load_run(&l, NULL, NULL);
	ck_assert_uint_eq(l.model.records.n, 2);
	ck_assert_uint_eq(follow_load(&l, 1000), 0);
	ck_assert_int_ge(load_fd(&l), 0);
	append(log, ASK("2"));
	ck_assert_uint_eq(follow_load(&l, 1100), 1);
	ck_assert_uint_eq(l.model.open_count, 2);
	write_text(log, ASK("3"));
	ck_assert_uint_eq(follow_load(&l, 1200), 1);
	ck_assert_uint_eq(l.model.records.n, 4);
	ck_assert_uint_eq(l.model.sessions.n, 1);
	/* open items can be shown though the log has lost them */
	ck_assert(says(&l, 0, "(cannot be read any more: "));
	ck_assert(says(&l, 1, "Which one 1?"));
	ck_assert(says(&l, 2, "Which one 2?"));
	ck_assert(says(&l, 3, "Which one 3?"));
	buf_release(&text);
	load_release(&l);
}
END_TEST

START_TEST(replies_appear_beside_their_log)
{
	const char *given = folder;
	struct load l = { .follow = true };

	write_text(path_of("app.log"), ASK("1"));
	ck_assert_int_eq(load_open(&l, &given, 1, 0), 0);
	load_run(&l, NULL, NULL);
	follow_load(&l, 1000);
	write_text(path_of("app.log.replies.ndjson"),
		   "{\"type\":\"response:success\",\"id\":\"123e4567-e89b-42d3-a456-426614174011\","
		   "\"correlationId\":\"123e4567-e89b-42d3-a456-426614174001\","
		   "\"timestamp\":\"2026-02-04T14:31:00Z\",\"payload\":{\"answer\":\"a\"}}\n");
	ck_assert_uint_eq(follow_load(&l, 2000), 1);
	ck_assert(l.wire.files.v[1].joined);
	ck_assert_uint_eq(l.model.open_count, 0);
	ck_assert_uint_eq(l.model.sessions.n, 1);
	load_release(&l);
}
END_TEST

START_TEST(without_following)
{
	const char *log = path_of("app.log");
	struct load l = { 0 };

	write_text(log, ASK("1") "torn");
	ck_assert_int_eq(load_open(&l, &log, 1, 0), 0);
	load_run(&l, NULL, NULL);
	ck_assert_uint_eq(l.model.records.n, 2);
	append(log, ASK("2"));
	ck_assert_uint_eq(load_follow(&l, 1000, NULL, NULL), 0);
	ck_assert_int_eq(load_fd(&l), -1);
	ck_assert_int_eq(load_wait_ms(&l, 1000), -1);
	load_release(&l);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("follow");
	TCase *t = unit_cases(suite, "growing", make_folder, remove_folder);

	tcase_add_test(t, byte_by_byte);
	tcase_add_test(t, from_nothing);
	tcase_add_test(t, told_when_incomplete_lines_are_old);
	tcase_add_test(t, oversize_lines);
	tcase_add_test(t, little_by_little);
	tcase_add_test(t, many_files);

	t = unit_cases(suite, "rotations", make_folder, remove_folder);
	tcase_set_timeout(t, 60); /* hundreds of turns, on a busy machine */
	tcase_add_loop_test(t, rotations, 0, ROTATIONS);
	tcase_add_loop_test(t, rotations_in_a_directory, 0, ROTATIONS);
	tcase_add_loop_test(t, rotations_without_notices, 0, ROTATIONS);
	tcase_add_test(t, rotations_of_files_that_are_not_kept_open);
	tcase_add_loop_test(t, anything_in_any_order, 0, 60);
	tcase_add_test(t, the_same_inode_and_the_same_bytes);

	t = unit_cases(suite, "events", make_folder, remove_folder);
	tcase_add_test(t, renamed_and_written_to);
	tcase_add_test(t, renamed_and_back);
	tcase_add_test(t, two_at_once);
	tcase_add_test(t, several_pieces_are_spooled_at_once);
	tcase_add_test(t, truncated);
	tcase_add_test(t, taken_back);
	tcase_add_test(t, vanishes_and_returns);
	tcase_add_test(t, its_folder_vanishes_and_returns);
	tcase_add_test(t, turns_into_something_else);
	tcase_add_test(t, may_not_be_read);
	tcase_add_test(t, no_descriptors_left);
	tcase_add_test(t, each_message_once);
	tcase_add_test(t, no_room_to_keep);

	t = unit_cases(suite, "directories", make_folder, remove_folder);
	tcase_add_test(t, files_appear);
	tcase_add_test(t, files_appear_unseen);
	tcase_add_test(t, the_directory_vanishes_and_returns);
	tcase_add_test(t, documents_grow);
	tcase_add_test(t, documents_are_replaced);

	t = unit_cases(suite, "streams", make_folder, remove_folder);
	tcase_add_test(t, a_pipe_with_a_torn_end);
	tcase_add_test(t, a_document_through_a_pipe);
	tcase_add_test(t, a_fifo_and_its_writers);
	tcase_add_test(t, a_flood);
	tcase_add_test(t, a_pipe_that_cannot_be_kept);
	tcase_add_test(t, standard_input_from_a_file);

	t = unit_cases(suite, "model", make_folder, remove_folder);
	tcase_add_test(t, into_the_model);
	tcase_add_test(t, replies_appear_beside_their_log);
	tcase_add_test(t, without_following);

	return unit_run(suite);
}
