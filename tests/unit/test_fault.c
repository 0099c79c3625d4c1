/* Every system call of two decisions fails or ends the process in turn; then gavel starts again,
 * and what was promised is looked at: nothing lost, nothing doubled, nothing shown that is not so.
 *
 * A run stages and sends two decisions with one fault (faulty_io.h), in a child where the fault
 * ends the process; what the loss of power would take is cut off; then a fresh desk recovers, and
 * the checker counts violations. With a bug planted in the desk the same checker must count
 * some. */
#include "faulty_io.h"
#include "planted.h"
#include "unit.h"

#include "channel/file_locks.h"

#include <ftw.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/wait.h>

enum { LETTERS = 2 };

/* Where the decisions go. */
struct scene {
	const char *name;
	enum channel_type type;
	enum dialect_id dialect;
	size_t bytes;  /* of a message */
	enum { ONE_BY_ONE, AT_ONCE, TAKEN_BACK } how; /* both are staged at once, and then undone */
	bool locked; /* as gavel does: the file is locked, a draft is confirmed by its message */
	unsigned bugs; /* planted in the desk */
};

static const struct scene scenes[] = {
	{ "file", CHANNEL_FILE, DIALECT_FEEDBACK, 80 },
	{ "directory", CHANNEL_DIR, DIALECT_HANDOFF, 80 },
	{ "fifo", CHANNEL_FIFO, DIALECT_COLLABORATION, 80 },
	{ "fifo, long messages", CHANNEL_FIFO, DIALECT_COLLABORATION, 9000 },
	{ "fifo, nothing may be repeated", CHANNEL_FIFO, DIALECT_ENVELOPE, 80 },
	{ "file, staged at once", CHANNEL_FILE, DIALECT_FEEDBACK, 80, AT_ONCE },
	{ "file, locked", CHANNEL_FILE, DIALECT_FEEDBACK, 80, ONE_BY_ONE, .locked = true },
	{ "file, locked, at once", CHANNEL_FILE, DIALECT_FEEDBACK, 80, AT_ONCE, .locked = true },
	{ "staged at once and undone", CHANNEL_FILE, DIALECT_FEEDBACK, 80, TAKEN_BACK },
};
enum { SCENES = sizeof(scenes) / sizeof(scenes[0]), SENDING = SCENES - 1, LOCKED = 6, BATCH = 7 };

/* What is lost when the process ends by a fault. */
enum loss { LOSS_NONE, LOSS_JOURNAL, LOSS_OUTBOX, LOSSES };

/* What the child reports to its person; shared like the watch. */
struct report {
	bool staged[LETTERS], shown[LETTERS]; /* shown: as sent */
	bool undone; /* both */
	bool ended;
};

static char folder[64], base[96], source[96], outbox[96];
static struct report *report;
static struct buf messages[LETTERS];
static struct buf complaints;
static unsigned violations;

static void note_fault(const char *format, ...) __attribute__((format(printf, 1, 2)));
static void note_fault(const char *format, ...)
{
	char text[256];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	violations++;
	if (complaints.n < 2000)
		buf_printf(&complaints, "  %s\n", text);
}

/* ---- the place ---- */

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path);
}

static void remove_tree(const char *path)
{
	nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

static void write_file(const char *path, struct str bytes)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(write(fd, bytes.p, bytes.n), (ssize_t)bytes.n);
	close(fd);
}

/* Empty when it is not there. */
static void read_whole(const char *path, struct buf *out)
{
	char block[4096];
	int fd = open(path, O_RDONLY);
	ssize_t n;

	while (fd >= 0 && (n = read(fd, block, sizeof(block))) > 0)
		buf_add(out, block, (size_t)n);
	if (fd >= 0)
		close(fd);
}

static void make_messages(const struct scene *s)
{
	for (int i = 0; i < LETTERS; i++) {
		struct buf *m = &messages[i];

		buf_clear(m);
		buf_printf(m, "{\"letter\":%d,\"text\":\"", i + 1);
		while (m->n + 3 < s->bytes)
			buf_addc(m, (char)('a' + 13 * i + (int)(m->n % 13)));
		buf_adds(m, "\"}\n");
	}
}

static const char *path_of_letter(const struct scene *s, int i)
{
	static char path[LETTERS][128];

	if (s->type != CHANNEL_DIR)
		return outbox;
	snprintf(path[i], sizeof(path[i]), "%s/decision-%d.json", outbox, i + 1);
	return path[i];
}

static const char *temporary_of_letter(int i)
{
	static char path[LETTERS][160];

	snprintf(path[i], sizeof(path[i]), "%s/.decision-%d.json.gavel-new", outbox, i + 1);
	return path[i];
}

/* A file that another writer has left without its last newline: the hardest start. */
#define OLD "{\"old\":1}"

static void make_place(const struct scene *s)
{
	remove_tree(base);
	remove_tree(outbox);
	make_messages(s);
	memset(watched, 0, offsetof(struct watch, got));
	memset(report, 0, sizeof(*report));
	outbox_type = s->type;
	outbox_path = path_of_letter(s, 0);
	if (fifo_reader >= 0)
		close(fifo_reader);
	fifo_reader = -1;
	if (s->type == CHANNEL_FILE)
		write_file(outbox, STR(OLD));
	if (s->type == CHANNEL_FILE)
		watched->outbox = sizeof(OLD) - 1;
	if (s->type == CHANNEL_DIR)
		ck_assert_int_eq(mkdir(outbox, 0700), 0);
	if (s->type == CHANNEL_FIFO) {
		ck_assert_int_eq(mkfifo(outbox, 0600), 0);
		fifo_reader = open(outbox, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
		ck_assert_int_ge(fifo_reader, 0);
		/* so that a long message does not fit */
		ck_assert_int_ge(fcntl(fifo_reader, F_SETPIPE_SZ, 4096), 4096);
	}
}

/* ---- the child ---- */

static void open_desk(struct desk *d, const struct scene *s, bool write)
{
	*d = (struct desk){ .sole_writer = true };
	planted_bugs = s->bugs;
	watched_desk = d;
	desk_open(d, base, source, write);
}

/* Stages letters from..to-1 at once. */
static void stage(struct desk *d, const struct scene *s, int from, int to, uint32_t *first)
{
	char items[LETTERS][32];
	struct draft drafts[LETTERS] = { { .number = NONE } };
	struct err err;
	bool staged;

	for (int i = from; i < to; i++) {
		snprintf(items[i], sizeof(items[i]), "finding-%d", i + 1);
		drafts[i] = (struct draft){ .session = STR("s-1"),
					    .item = str_of(items[i]),
					    .kind = ITEM_FINDING,
					    .dialect = s->dialect,
					    .rev = STR("r-1"),
					    .verb = VERB_ACCEPT,
					    .by = STR("anna"),
					    .number = NONE };
	}
	if (s->locked && s->how == ONE_BY_ONE) {
		if (desk_stage_unconfirmed(d, &drafts[from], first, &err))
			*first = NONE;
		return; /* not shown yet */
	}
	staged = desk_stage_all(d, &drafts[from], (uint32_t)(to - from), first, &err) == 0;
	for (int i = from; i < to; i++)
		report->staged[i] = staged;
}

static void take_back(struct desk *d, uint32_t first)
{
	uint32_t drafts[LETTERS] = { first, first + 1 };
	struct err err;

	for (int i = 0; i < LETTERS; i++)
		report->staged[i] = false; /* they may be gone from here on */
	report->undone = desk_undo_all(d, drafts, LETTERS, &err) == 0;
}

static struct letter letter_of(const struct scene *s, int i, uint32_t draft)
{
	struct letter l = { .dialect = s->dialect,
			    .channel = s->type,
			    .path = str_of(path_of_letter(s, i)),
			    .bytes = buf_str(&messages[i]),
			    .to = STR("dev") };

	vec_push(&l.drafts, draft);
	return l;
}

static void send_letter(struct desk *d, const struct scene *s, int i, uint32_t draft)
{
	struct letter l = letter_of(s, i, draft);
	uint32_t number;
	struct err err;

	if (desk_send_all(d, &l, 1, &number, &err) == 0)
		report->shown[i] = d->letters.v[number].state == LETTER_SENT;
	vec_release(&l.drafts);
}

static void send_letters(struct desk *d, const struct scene *s, const uint32_t drafts[LETTERS])
{
	struct letter letters[LETTERS];
	struct letter_group groups[LETTERS];
	uint32_t first = d->letters.n;
	struct err err;

	for (int i = 0; i < LETTERS; i++) {
		letters[i] = letter_of(s, i, drafts[i]);
		groups[i] = (struct letter_group){ &letters[i], 1 };
	}
	desk_send_groups(d, groups, LETTERS, &err);
	for (int i = 0; i < LETTERS; i++) {
		report->shown[i] = first + (uint32_t)i < d->letters.n &&
				   d->letters.v[first + (uint32_t)i].state == LETTER_SENT;
		vec_release(&letters[i].drafts);
	}
}

static void decide(const struct scene *s)
{
	struct desk d;
	struct file_locks locks = { 0 };
	uint32_t drafts[LETTERS] = { NONE, NONE };
	struct err err;

	open_desk(&d, s, true);
	d.locks = &locks;
	if (s->locked)
		file_locks_add(&locks, outbox, NULL, &err);
	if (s->how != ONE_BY_ONE)
		stage(&d, s, 0, LETTERS, &drafts[0]);
	if (s->how != ONE_BY_ONE)
		drafts[1] = drafts[0] + 1;
	if (s->how == TAKEN_BACK && report->staged[0])
		take_back(&d, drafts[0]);
	if (s->how == AT_ONCE && s->locked && report->staged[0])
		send_letters(&d, s, drafts);
	for (int i = 0; i < LETTERS && !(s->how == AT_ONCE && s->locked); i++) {
		if (s->how == ONE_BY_ONE)
			stage(&d, s, i, i + 1, &drafts[i]);
		if (report->staged[i] || (s->locked && drafts[i] != NONE))
			send_letter(&d, s, i, drafts[i]);
		if (s->locked && drafts[i] != NONE)
			report->staged[i] = desk_confirm(&d, &err) == 0;
	}
	file_locks_release(&locks);
	desk_close(&d);
}

static void recover(const struct scene *s)
{
	struct desk d;
	struct err err;

	open_desk(&d, s, true);
	desk_recover(&d, true, &err);
	desk_close(&d);
}

static bool kills(enum strike kind)
{
	return kind == STRIKE_KILL || kind == STRIKE_HALF_KILL;
}

/* Runs it with the fault; in a process of its own where that one is to end. */
static void run(const struct scene *s, void (*act)(const struct scene *), enum strike kind,
		unsigned at)
{
	pid_t pid;
	int status = 0;

	report->ended = false;
	if (!kills(kind)) {
		faulty_io(kind, at);
		act(s);
		io_reset();
		report->ended = true;
		return;
	}
	pid = fork();
	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		faulty_io(kind, at);
		act(s);
		report->ended = true;
		_exit(0);
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	if (!WIFEXITED(status) || (WEXITSTATUS(status) != 0 && WEXITSTATUS(status) != 9))
		note_fault("the process ended with status %d", status);
}

/* ---- loss of power ---- */

static void journal_folder(const struct scene *s, char out[256])
{
	struct desk d;

	open_desk(&d, s, false);
	snprintf(out, 256, "%s", d.dir);
	desk_close(&d);
}

static bool cut_to(const char *path, uint64_t length, bool really)
{
	struct stat st;

	if (lstat(path, &st) < 0 || (uint64_t)st.st_size <= length)
		return false;
	if (really)
		ck_assert_int_eq(truncate(path, (off_t)length), 0);
	return true;
}

static bool lose_journal(const struct scene *s, bool really)
{
	char dir[256], path[300];
	bool any = false;

	journal_folder(s, dir);
	for (unsigned i = 1; i < SEGMENTS_MAX; i++) {
		snprintf(path, sizeof(path), "%s/journal-%06u", dir, i);
		any |= cut_to(path, watched->journal[i], really);
	}
	return any;
}

static bool lose_outbox(const struct scene *s, bool really)
{
	int i = LETTERS - 1;
	struct stat st;

	if (s->type == CHANNEL_FILE)
		return cut_to(outbox, watched->outbox, really);
	if (s->type != CHANNEL_DIR || !watched->linked)
		return false;
	/* the name of the newest file was not safe yet */
	while (i > 0 && lstat(path_of_letter(s, i), &st) < 0)
		i--;
	if (really)
		unlink(path_of_letter(s, i));
	return true;
}

/* Takes away what the disk has not confirmed; false: it has confirmed all. */
static bool lose(const struct scene *s, enum loss loss, bool really)
{
	switch (loss) {
	case LOSS_NONE:
	case LOSSES: return true;
	case LOSS_JOURNAL: return lose_journal(s, really);
	case LOSS_OUTBOX: return lose_outbox(s, really);
	}
	return false;
}

/* ---- the checker ---- */

/* How often a message arrived, and whether it did so in order and never twice on one connection. */
struct arrived {
	unsigned copies[LETTERS];
};

static void look_at_line(const struct scene *s, struct str line, bool whole, struct arrived *a,
			 unsigned on_connection[LETTERS])
{
	for (int i = 0; i < LETTERS; i++) {
		struct str m = buf_str(&messages[i]);

		if (whole && line.n + 1 == m.n && str_starts(m, line)) {
			a->copies[i]++;
			on_connection[i]++;
			if (i == 0 && a->copies[1])
				note_fault("the second message arrived before the first");
			return;
		}
		/* a pipe may have had half of one before the writer was killed */
		if (s->type == CHANNEL_FIFO && str_starts(m, line))
			return;
	}
	note_fault("a line of %zu bytes that nobody recorded: %.40s", line.n, line.p ? line.p : "");
}

static void look_at_lines(const struct scene *s, struct str text, struct arrived *a)
{
	size_t at = 0;
	unsigned connection = 0, on_connection[LETTERS] = { 0 };

	while (at < text.n) {
		const char *end = memchr(text.p + at, '\n', text.n - at);
		size_t n = end ? (size_t)(end - text.p) - at : text.n - at;
		bool changed = false;

		while (connection < watched->connections_n &&
		       watched->connections[connection] <= at) {
			connection++;
			changed = true;
		}
		if (changed)
			memset(on_connection, 0, sizeof(on_connection));
		if (n || s->type == CHANNEL_FIFO)
			look_at_line(s, str_make(text.p + at, n), end != NULL, a, on_connection);
		for (int i = 0; i < LETTERS; i++)
			if (on_connection[i] > 1)
				note_fault("message %d arrived twice on one connection", i + 1);
		at += n + 1;
	}
}

static void look_at_files(const struct scene *s, struct arrived *a)
{
	for (int i = 0; i < LETTERS; i++) {
		struct buf text = { 0 };
		struct stat st;

		if (lstat(path_of_letter(s, i), &st) < 0)
			continue;
		read_whole(path_of_letter(s, i), &text);
		if (!str_eq(buf_str(&text), buf_str(&messages[i])))
			note_fault("file %d holds something else", i + 1);
		a->copies[i] = 1;
		buf_release(&text);
	}
}

static void look(const struct scene *s, struct arrived *a)
{
	struct buf text = { 0 };

	*a = (struct arrived){ { 0 } };
	switch (s->type) {
	case CHANNEL_NONE:
	case CHANNEL_AGENT: /* see test_channel_child.c */
	case CHANNEL_TEAM: break; /* see test_channel_team.c */
	case CHANNEL_DIR: look_at_files(s, a); break;
	case CHANNEL_FIFO:
		drain_fifo();
		look_at_lines(s, str_make(watched->got, watched->got_n), a);
		break;
	case CHANNEL_FILE:
		read_whole(outbox, &text);
		if (!str_starts(buf_str(&text), STR(OLD)))
			note_fault("what was in the file before is gone");
		look_at_lines(s, str_from(buf_str(&text), sizeof(OLD) - 1), a);
		break;
	}
	buf_release(&text);
}

/* No temporary file is left, unless removing it was what failed. */
static void check_folder(bool unremoved)
{
	struct stat st;

	for (int i = 0; i < LETTERS; i++)
		if (lstat(temporary_of_letter(i), &st) == 0 && !unremoved)
			note_fault("a temporary file is left");
}

static uint32_t find_draft_on(const struct desk *d, const char *item)
{
	return desk_find(d, &(struct draft){ .session = STR("s-1"), .kind = ITEM_FINDING,
					     .item = str_of(item), .rev = STR("r-1") });
}

static const struct letter *find_letter(const struct desk *d, int i)
{
	char item[32];
	uint32_t draft;

	snprintf(item, sizeof(item), "finding-%d", i + 1);
	draft = find_draft_on(d, item);
	return draft == NONE || d->drafts.v[draft].state != DRAFT_WRITTEN
		       ? NULL
		       : &d->letters.v[d->drafts.v[draft].letter];
}

static bool is_listed(const struct desk *d, int i)
{
	char item[32];

	snprintf(item, sizeof(item), "finding-%d", i + 1);
	return find_draft_on(d, item) != NONE;
}

/* What was staged or undone at once is so as a whole. */
static void check_together(const struct scene *s, const struct desk *d)
{
	if (s->how != ONE_BY_ONE && is_listed(d, 0) != is_listed(d, 1))
		note_fault("decision %d is staged without the other", is_listed(d, 1) + 1);
	if (report->undone && is_listed(d, 0))
		note_fault("a decision was shown as undone and is staged");
}

static bool is_held(const struct letter *l)
{
	return l->state == LETTER_INTENT || l->state == LETTER_ATTEMPT || l->state == LETTER_HELD;
}

/* Right after the end of the process: what was shown, or is recorded as sent, has arrived. */
static void check_shown(const struct scene *s)
{
	struct arrived a;
	struct desk d;
	unsigned before = violations;

	if (watched->early)
		note_fault("%u times bytes left before their record was safe", watched->early);
	look(s, &a);
	/* half a line may still be completed, so lines are judged after the recovery only */
	violations = before + (watched->early > 0);
	open_desk(&d, s, false);
	for (int i = 0; i < LETTERS; i++) {
		const struct letter *l = find_letter(&d, i);

		if (report->shown[i] && !(l && l->state == LETTER_SENT))
			note_fault("decision %d was shown as sent and is not recorded as such",
				 i + 1);
		if (l && l->state == LETTER_SENT && a.copies[i] != 1)
			note_fault("decision %d is recorded as sent; %u copies", i + 1, a.copies[i]);
		if (report->staged[i] && !is_listed(&d, i))
			note_fault("decision %d was shown as staged and is lost", i + 1);
		if (a.copies[i] && !l)
			note_fault("decision %d arrived without a record", i + 1);
	}
	check_together(s, &d);
	desk_close(&d);
}

/* After a recovery without faults. */
static void check_recovered(const struct scene *s, bool unremoved)
{
	struct arrived a;
	struct desk d;

	look(s, &a);
	if (s->type == CHANNEL_DIR)
		check_folder(unremoved);
	open_desk(&d, s, false);
	for (int i = 0; i < LETTERS; i++) {
		const struct letter *l = find_letter(&d, i);
		bool held = l && is_held(l);

		if (report->staged[i] && !is_listed(&d, i))
			note_fault("decision %d is lost", i + 1);
		if (!l && a.copies[i])
			note_fault("decision %d arrived without a record", i + 1);
		if (l && !str_eq(l->bytes, buf_str(&messages[i])))
			note_fault("the journal has other bytes than were given");
		if (s->type != CHANNEL_FIFO && held)
			note_fault("decision %d is still held: %.*s", i + 1, STR_ARG(l->why));
		if (s->type != CHANNEL_FIFO && l && a.copies[i] != 1)
			note_fault("decision %d arrived %u times", i + 1, a.copies[i]);
		if (s->type == CHANNEL_FIFO && l && !held && !a.copies[i])
			note_fault("decision %d is sent and did not arrive", i + 1);
		/* an envelope is never repeated, so it may stay held behind a doubt */
		if (s->type == CHANNEL_FIFO && s->dialect != DIALECT_ENVELOPE && held)
			note_fault("decision %d is still held: %.*s", i + 1, STR_ARG(l->why));
		if (s->dialect == DIALECT_ENVELOPE && a.copies[i] > 1)
			note_fault("decision %d was repeated unasked", i + 1);
	}
	check_together(s, &d);
	desk_close(&d);
}

static void summarize(const struct scene *s, struct buf *out)
{
	if (s->type == CHANNEL_FIFO) {
		drain_fifo();
		buf_add(out, watched->got, watched->got_n);
		return;
	}
	for (int i = 0; i < (s->type == CHANNEL_DIR ? LETTERS : 1); i++)
		read_whole(path_of_letter(s, i), out);
}

/* Recovers twice: the second time there is nothing to do. */
static void recover_and_check(const struct scene *s)
{
	struct buf once = { 0 }, twice = { 0 };
	bool unremoved = watched->fault == STRIKE_EIO && watched->calls >= watched->fault_at &&
			 watched->fault_at && watched->kinds[watched->fault_at - 1] == CALL_REMOVES;

	faulty_io(STRIKE_NONE, 0);
	recover(s);
	check_recovered(s, unremoved);
	summarize(s, &once);
	recover(s);
	summarize(s, &twice);
	if (!str_eq(buf_str(&once), buf_str(&twice)))
		note_fault("a second recovery has changed something");
	if (watched->early)
		note_fault("%u times bytes left before their record was safe", watched->early);
	io_reset();
	buf_release(&once);
	buf_release(&twice);
}

/* One whole run. Tells which other losses there could have been (bits). */
static unsigned try_fault(const struct scene *s, enum strike kind, unsigned at, enum loss loss)
{
	unsigned before = violations, losses = 0;

	make_place(s);
	run(s, decide, kind, at);
	for (int i = LOSS_JOURNAL; kills(kind) && i < LOSSES; i++)
		losses |= (unsigned)lose(s, (enum loss)i, false) << i;
	lose(s, loss, true);
	check_shown(s);
	recover_and_check(s);
	if (violations > before && complaints.n < 2000)
		buf_printf(&complaints, " ^ %s: fault %d at call %u, loss %d\n", s->name, kind, at,
			   loss);
	return losses;
}

/* How many calls there are, and what they do. */
static unsigned count_calls(const struct scene *s, unsigned char kinds[CALLS_MAX])
{
	unsigned calls;

	make_place(s);
	run(s, decide, STRIKE_NONE, 0);
	calls = watched->calls;
	ck_assert_uint_lt(calls, CALLS_MAX);
	memcpy(kinds, watched->kinds, CALLS_MAX);
	ck_assert_int_eq(report->undone, s->how == TAKEN_BACK);
	for (int i = 0; i < LETTERS; i++)
		ck_assert_msg(report->shown[i] == (s->how != TAKEN_BACK), "%s: letter %d is not sent", s->name, i + 1);
	return calls;
}

/* Until it is through, or (for a planted bug) until something is found. */
static void try_all(const struct scene *s, bool until_found)
{
	static unsigned char kinds[CALLS_MAX];
	unsigned calls = count_calls(s, kinds);

	try_fault(s, STRIKE_NONE, 0, LOSS_NONE);
	for (int kind = STRIKE_EIO; kind < STRIKE_KINDS; kind++)
		for (unsigned at = 1; at <= calls && !(until_found && violations); at++) {
			unsigned losses;

			if (!strike_fits((enum strike)kind, kinds, at))
				continue;
			losses = try_fault(s, (enum strike)kind, at, LOSS_NONE);
			for (int loss = LOSS_JOURNAL; loss < LOSSES; loss++)
				if (losses & (1u << loss))
					try_fault(s, (enum strike)kind, at, (enum loss)loss);
		}
}

static void set_up(void)
{
	/* thousands of small files: better not on a disk */
	strcpy(folder, access("/dev/shm", W_OK) == 0 ? "/dev/shm/gavel-test-XXXXXX"
						     : "/tmp/gavel-test-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(folder));
	umask(022);
	snprintf(base, sizeof(base), "%s/state", folder);
	snprintf(source, sizeof(source), "%s/log", folder);
	snprintf(outbox, sizeof(outbox), "%s/outbox", folder);
	/* long enough for an identity, so that its journal is in the index */
	write_file(source, STR("{\"type\":\"log\",\"text\":\"a first line that tells this log from "
			       "others\"}\n"));
	watched = watch_new();
	report = mmap(NULL, sizeof(*report), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		      0);
	ck_assert_ptr_nonnull(watched);
	ck_assert_ptr_ne(report, MAP_FAILED);
	violations = 0;
}

static void tear_down(void)
{
	io_reset();
	if (fifo_reader >= 0)
		close(fifo_reader);
	fifo_reader = -1;
	remove_tree(folder);
	for (int i = 0; i < LETTERS; i++)
		buf_release(&messages[i]);
	buf_release(&complaints);
	munmap(watched, sizeof(*watched));
	munmap(report, sizeof(*report));
}

START_TEST(every_call_fails_or_ends_the_process)
{
	try_all(&scenes[_i], false);
	ck_assert_msg(violations == 0, "%u violations:\n%s", violations,
		      complaints.p ? complaints.p : "");
}
END_TEST

/* After the first message has left: the file, SENT; INTENT with ATTEMPT, the file, SENT. */
START_TEST(a_message_to_a_locked_file_is_three_syncs)
{
	static unsigned char kinds[CALLS_MAX];
	const struct scene *s = &scenes[LOCKED];
	unsigned calls = count_calls(s, kinds), at = 0, syncs = 0;

	while (at < calls && kinds[at] != CALL_SENDS)
		at++;
	for (; at < calls; at++)
		syncs += kinds[at] == CALL_SYNC;
	ck_assert_uint_eq(syncs, 5);
}
END_TEST

/* And so are several: after the first has left, the file and all SENTs. */
START_TEST(many_messages_to_a_locked_file_are_three_syncs)
{
	static unsigned char kinds[CALLS_MAX];
	unsigned calls = count_calls(&scenes[BATCH], kinds), at = 0, syncs = 0;

	while (at < calls && kinds[at] != CALL_SENDS)
		at++;
	for (; at < calls; at++)
		syncs += kinds[at] == CALL_SYNC;
	ck_assert_uint_eq(syncs, 2);
}
END_TEST

/* ---- hit twice ---- */

/* What a run has left on the disk, to begin there again. The outbox keeps its identity. */
struct snapshot {
	char journal_path[300];
	struct buf journal, files[LETTERS], temporary[LETTERS];
	struct watch *watch;
	struct report report;
};

static void snapshot_take(const struct scene *s, struct snapshot *t)
{
	char dir[256];

	memset(t, 0, sizeof(*t));
	journal_folder(s, dir);
	snprintf(t->journal_path, sizeof(t->journal_path), "%s/journal-000001", dir);
	read_whole(t->journal_path, &t->journal);
	if (s->type == CHANNEL_FILE)
		read_whole(outbox, &t->files[0]);
	for (int i = 0; s->type == CHANNEL_DIR && i < LETTERS; i++) {
		read_whole(path_of_letter(s, i), &t->files[i]);
		read_whole(temporary_of_letter(i), &t->temporary[i]);
	}
	drain_fifo();
	t->watch = xmalloc(sizeof(*t->watch));
	memcpy(t->watch, watched, offsetof(struct watch, got) + watched->got_n);
	t->report = *report;
}

/* Empty = not there. */
static void put_back(const char *path, const struct buf *bytes)
{
	if (bytes->n)
		write_file(path, buf_str(bytes));
	else
		unlink(path);
}

static void empty_journal(const char *journal_path)
{
	char dir[300];

	snprintf(dir, sizeof(dir), "%s", journal_path);
	*strrchr(dir, '/') = '\0';
	remove_tree(dir);
	ck_assert_int_eq(mkdir(dir, 0700), 0);
}

static void snapshot_restore(const struct scene *s, const struct snapshot *t)
{
	empty_journal(t->journal_path);
	write_file(t->journal_path, buf_str(&t->journal));
	if (s->type == CHANNEL_FILE)
		write_file(outbox, buf_str(&t->files[0]));
	for (int i = 0; s->type == CHANNEL_DIR && i < LETTERS; i++) {
		put_back(path_of_letter(s, i), &t->files[i]);
		put_back(temporary_of_letter(i), &t->temporary[i]);
	}
	drain_fifo();
	memcpy(watched, t->watch, offsetof(struct watch, got) + t->watch->got_n);
	*report = t->report;
}

static void snapshot_release(struct snapshot *t)
{
	buf_release(&t->journal);
	for (int i = 0; i < LETTERS; i++) {
		buf_release(&t->files[i]);
		buf_release(&t->temporary[i]);
	}
	free(t->watch);
}

/* Hit while sending, then the recovery is hit as well, at each of its calls. */
static void try_twice(const struct scene *s, enum strike first, unsigned first_at)
{
	static unsigned char kinds[CALLS_MAX];
	struct snapshot t;
	unsigned calls;

	make_place(s);
	run(s, decide, first, first_at);
	snapshot_take(s, &t);
	run(s, recover, STRIKE_NONE, 0);
	calls = watched->calls;
	memcpy(kinds, watched->kinds, CALLS_MAX);
	for (int kind = STRIKE_EIO; kind < STRIKE_KINDS; kind++)
		for (unsigned at = 1; at <= calls; at++) {
			unsigned before = violations;

			if (!strike_fits((enum strike)kind, kinds, at))
				continue;
			snapshot_restore(s, &t);
			run(s, recover, (enum strike)kind, at);
			recover_and_check(s);
			if (violations > before && complaints.n < 2000)
				buf_printf(&complaints,
					   " ^ %s: fault %d at call %u, recovery: %d at %u\n",
					   s->name, first, first_at, kind, at);
		}
	snapshot_release(&t);
}

START_TEST(every_call_of_the_recovery_too)
{
	const struct scene *s = &scenes[_i];
	static unsigned char kinds[CALLS_MAX];
	unsigned sends = count_calls(s, kinds);

	while (sends && kinds[sends - 1] != CALL_SENDS)
		sends--;
	ck_assert_uint_gt(sends, 0);
	try_twice(s, STRIKE_KILL, sends);
	try_twice(s, STRIKE_HALF_KILL, sends);
	try_twice(s, STRIKE_KILL, sends + 1);
	ck_assert_msg(violations == 0, "%u violations:\n%s", violations,
		      complaints.p ? complaints.p : "");
}
END_TEST

/* ---- torn files ---- */

/* A finished journal and what it says, to be cut anywhere. */
struct whole {
	char path[300];
	struct buf journal;
	size_t attempt[LETTERS], sent[LETTERS]; /* where these records end */
};

static size_t end_of_record(struct str journal, const char *state, unsigned nth)
{
	char word[64];
	ptrdiff_t at = -1;
	size_t n;

	snprintf(word, sizeof(word), "{\"state\":\"%s\"", state);
	do {
		at = str_find(journal, str_of(word), (size_t)(at + 1));
		ck_assert_int_ge(at, 0);
	} while (nth--);
	n = (size_t)at;
	while (journal.p[n] != '\n')
		n++;
	return n + 1;
}

static void make_whole(const struct scene *s, struct whole *w)
{
	char dir[256];

	memset(w, 0, sizeof(*w));
	make_place(s);
	run(s, decide, STRIKE_NONE, 0);
	journal_folder(s, dir);
	snprintf(w->path, sizeof(w->path), "%s/journal-000001", dir);
	read_whole(w->path, &w->journal);
	for (unsigned i = 0; i < LETTERS; i++) {
		w->attempt[i] = end_of_record(buf_str(&w->journal), "ATTEMPT", i);
		w->sent[i] = end_of_record(buf_str(&w->journal), "SENT", i);
	}
}

/* The letter that was on its way when the journal was cut, or LETTERS; *done were there before. */
static int on_its_way(const struct whole *w, size_t cut, int *done)
{
	*done = 0;
	while (*done < LETTERS && cut >= w->sent[*done])
		++*done;
	return *done < LETTERS && cut >= w->attempt[*done] ? *done : LETTERS;
}

static void restart(const struct scene *s, const struct whole *w, size_t cut)
{
	unsigned before = violations;

	memset(report, 0, sizeof(*report));
	memset(watched, 0, offsetof(struct watch, got));
	write_file(w->path, str_make(w->journal.p, cut));
	/* restarting confirms what it finds before it goes on */
	check_shown(s);
	recover_and_check(s);
	if (violations > before && complaints.n < 2000)
		buf_printf(&complaints, " ^ %s: journal cut at %zu of %zu\n", s->name, cut,
			   w->journal.n);
}

/* In the file: what was done, then k bytes of newline and message (the first) or message. */
static void cut_outbox(const struct whole *w, size_t cut, size_t k)
{
	struct buf text = { 0 }, next = { 0 };
	int done, way = on_its_way(w, cut, &done);

	buf_adds(&text, OLD);
	for (int i = 0; i < done; i++) {
		if (i == 0)
			buf_addc(&text, '\n');
		buf_add_str(&text, buf_str(&messages[i]));
	}
	if (way < LETTERS) {
		if (way == 0)
			buf_addc(&next, '\n');
		buf_add_str(&next, buf_str(&messages[way]));
		buf_add(&text, next.p, k < next.n ? k : next.n);
	}
	empty_journal(w->path);
	/* cut, not made anew: it stays the file that the journal speaks of */
	ck_assert_int_eq(truncate(outbox, 0), 0);
	write_file(outbox, buf_str(&text));
	buf_release(&text);
	buf_release(&next);
}

START_TEST(journal_and_file_torn_at_every_byte)
{
	const struct scene *s = &scenes[0];
	struct whole w;

	make_whole(s, &w);
	for (size_t cut = 0; cut <= w.journal.n; cut++) {
		bool edge = cut == 0 || w.journal.p[cut - 1] == '\n';
		int done, way = on_its_way(&w, cut, &done);
		size_t n = way < LETTERS ? messages[way].n + (way == 0) : 0;

		/* every byte of both where a record ends; else, what begins and ends */
		for (size_t k = 0; k <= n; k++) {
			if (!edge && k > 1 && k != n / 2 && k + 1 < n)
				continue;
			cut_outbox(&w, cut, k);
			restart(s, &w, cut);
		}
	}
	ck_assert_msg(violations == 0, "%u violations:\n%s", violations,
		      complaints.p ? complaints.p : "");
	buf_release(&w.journal);
}
END_TEST

/* What a crash can leave of one file: nothing, some of the temporary one, both names, the final
 * one. */
static void leave_files(const struct scene *s, const struct whole *w, size_t cut, size_t k)
{
	int done, way = on_its_way(w, cut, &done);

	empty_journal(w->path);
	for (int i = 0; i < LETTERS; i++) {
		const char *temporary = temporary_of_letter(i);

		unlink(path_of_letter(s, i));
		unlink(temporary);
		if (i < done)
			write_file(path_of_letter(s, i), buf_str(&messages[i]));
		if (i != way || k == 0)
			continue;
		write_file(temporary,
			   str_make(messages[i].p, k - 1 < messages[i].n ? k - 1 : messages[i].n));
		if (k >= messages[i].n + 2)
			ck_assert_int_eq(link(temporary, path_of_letter(s, i)), 0);
		if (k >= messages[i].n + 3)
			ck_assert_int_eq(unlink(temporary), 0);
	}
}

START_TEST(journal_and_folder_torn_at_every_byte)
{
	const struct scene *s = &scenes[1];
	struct whole w;

	make_whole(s, &w);
	for (size_t cut = 0; cut <= w.journal.n; cut++) {
		bool edge = cut == 0 || w.journal.p[cut - 1] == '\n';
		int done, way = on_its_way(&w, cut, &done);
		size_t n = way < LETTERS ? messages[way].n + 3 : 0;

		for (size_t k = 0; k <= n; k++) {
			if (!edge && k > 1 && k + 2 < n)
				continue;
			leave_files(s, &w, cut, k);
			restart(s, &w, cut);
		}
	}
	ck_assert_msg(violations == 0, "%u violations:\n%s", violations,
		      complaints.p ? complaints.p : "");
	buf_release(&w.journal);
}
END_TEST

/* ---- planted bugs ---- */

static const struct {
	unsigned bug;
	int scene;
} planted[] = {
	{ BUG_SYNC_AFTER, 0 }, { BUG_SYNC_AFTER, 1 }, { BUG_SYNC_AFTER, 2 },
	{ BUG_SENT_EARLY, 0 }, { BUG_SENT_EARLY, 1 }, { BUG_SENT_EARLY, 2 },
	{ BUG_NO_PROBE, 0 },   { BUG_NO_PROBE, 4 },   { BUG_SYNC_AFTER, LOCKED },
	{ BUG_SENT_EARLY, LOCKED }, { BUG_NO_PROBE, LOCKED }, { BUG_SYNC_AFTER, BATCH },
	{ BUG_NO_PROBE, BATCH },
};

START_TEST(planted_bugs_are_found)
{
	struct scene s = scenes[planted[_i].scene];

	s.bugs = planted[_i].bug;
	try_all(&s, true);
	ck_assert_msg(violations > 0, "bug %u was not noticed in %s", s.bugs, s.name);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("fault");
	TCase *t = tcase_create("faults");

	suite_add_tcase(suite, t);
	tcase_add_checked_fixture(t, set_up, tear_down);
	tcase_set_timeout(t, 240);
	tcase_add_loop_test(t, every_call_fails_or_ends_the_process, 0, SCENES);
	tcase_add_loop_test(t, every_call_of_the_recovery_too, 0, SENDING);
	tcase_add_test(t, a_message_to_a_locked_file_is_three_syncs);
	tcase_add_test(t, many_messages_to_a_locked_file_are_three_syncs);
	tcase_add_test(t, journal_and_file_torn_at_every_byte);
	tcase_add_test(t, journal_and_folder_torn_at_every_byte);
	tcase_add_loop_test(t, planted_bugs_are_found, 0, sizeof(planted) / sizeof(planted[0]));
	return unit_run(suite);
}
