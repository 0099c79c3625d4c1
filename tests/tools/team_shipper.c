/* A machine with agents: ships the lines of a log, opens an item for each line that begins with
 * {"item", and delivers what was decided.
 *
 *   team_actors shipper URL SOURCE FOLDER
 *
 * In FOLDER: SOURCE.log, which grows; SOURCE.opened, up to where its items are open; SOURCE.out, what
 * was delivered: "ITEM VERB DRAFT", a line each. That file is the journal of the machine: what is in it is
 * reported and not delivered again. Two shippers of one source both ship; the one that has the lock
 * of SOURCE.out delivers. Never ends. */
#include "team_actors.h"

#include "base/io.h"
#include "base/map.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <unistd.h>

enum { BATCH_BYTES = 256 << 10, BATCH_LINES = 1000, OUTBOX_MS = 100, IDLE_MS = 10 };

struct shipper {
	struct store *store;
	const char *source;
	int64_t id, next, wait_ms;
	char log[256], opened_path[256], out_path[256];
	int log_fd, out_fd;
	int64_t opened;
	bool delivers;
	VEC(int64_t) delivered;
	struct buf batch;
};

static void take_source(void *ctx, const struct store_answer *a)
{
	struct shipper *s = ctx;

	s->id = store_int(a->rows, 0, 0);
	s->next = store_int(a->rows, 0, 1);
}

static void take_next(void *ctx, const struct store_answer *a)
{
	struct shipper *s = ctx;

	s->next = store_int(a->rows, 0, 0);
	s->wait_ms = store_int(a->rows, 0, 1);
}

/* The whole lines of the log from an offset. */
static struct str read_lines(struct shipper *s, int64_t from)
{
	ssize_t n;

	buf_clear(&s->batch);
	buf_reserve(&s->batch, BATCH_BYTES);
	n = pread(s->log_fd, s->batch.p, BATCH_BYTES, from);
	if (n < 0)
		fail("%s: %s", s->log, strerror(errno));
	while (n > 0 && s->batch.p[n - 1] != '\n')
		n--;
	return str_make(s->batch.p, (size_t)n);
}

static bool ship(struct shipper *s)
{
	struct str rest = read_lines(s, s->next), lines[BATCH_LINES];
	int64_t before = s->next;
	uint32_t n = 0;

	while (rest.n && n < BATCH_LINES) {
		const char *end = memchr(rest.p, '\n', rest.n);

		lines[n] = str_make(rest.p, (size_t)(end + 1 - rest.p));
		rest = str_from(rest, lines[n].n);
		n++;
	}
	s->wait_ms = 0;
	if (!n)
		return false;
	ask(s->store, "select next, wait_ms from gavel.ship($1::int, $2::bigint, $3)",
	    VALUES(store_number(s->id), store_number(before), store_list(lines, n)), take_next, s);
	return s->next != before;
}

/* ---- items ---- */

static bool open_item(struct shipper *s, struct str line)
{
	static const char sql[] =
		"select item from gavel.open_item($1::int, $2, 'sha256:' || $2, 'finding', $2, "
		"$3, '', $4::int, null)";
	char key[64];
	int number = 0, need = 1;

	if (sscanf(line.p, "{\"item\":%d,\"need\":%d", &number, &need) != 2)
		fail("%s: a line is no item: %.*s", s->log, STR_ARG(line));
	snprintf(key, sizeof(key), "%s-%d", s->source, number);
	return ask(s->store, sql,
		   VALUES(store_number(s->id), store_text(str_of(key)), store_bytes(line),
			  store_number(need)),
		   NULL, NULL) >= 0;
}

/* Opening is asked again from where it was written down last. */
static bool open_items(struct shipper *s)
{
	int64_t before = s->opened;
	struct str rest = read_lines(s, s->opened);
	struct buf text = { 0 };
	int fd;

	while (rest.n) {
		const char *end = memchr(rest.p, '\n', rest.n);
		struct str line = str_make(rest.p, (size_t)(end + 1 - rest.p));

		if (str_starts(line, STR("{\"item\"")) && !open_item(s, line))
			break;
		rest = str_from(rest, line.n);
		s->opened += (int64_t)line.n;
	}
	if (s->opened == before)
		return false;
	buf_printf(&text, "%020lld\n", (long long)s->opened);
	fd = open(s->opened_path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	if (fd < 0 || pwrite(fd, text.p, text.n, 0) != (ssize_t)text.n)
		fail("%s: %s", s->opened_path, strerror(errno));
	close(fd);
	buf_release(&text);
	return true;
}

/* ---- delivering ---- */

struct letter {
	int64_t item;
	char *line;
};

struct outbox {
	VEC(struct letter) letters;
};

static void take_outbox(void *ctx, const struct store_answer *a)
{
	struct outbox *box = ctx;

	for (uint32_t i = 0; i < a->n; i++) {
		struct buf line = { 0 };

		buf_printf(&line, "%lld %.*s %.*s", (long long)store_int(a->rows, i, 0),
			   STR_ARG(store_str(a->rows, i, 1)), STR_ARG(store_str(a->rows, i, 2)));
		vec_push(&box->letters, (struct letter){ store_int(a->rows, i, 0), line.p });
	}
}

static bool is_delivered(const struct shipper *s, int64_t item)
{
	for (uint32_t i = s->delivered.n; i > 0; i--)
		if (s->delivered.v[i - 1] == item)
			return true;
	return false;
}

static void deliver(struct shipper *s)
{
	struct outbox box = { 0 };

	ask(s->store, "select item, verb, draft from gavel.outbox(array[$1::int])",
	    VALUES(store_number(s->id)), take_outbox, &box);
	for (uint32_t i = 0; i < box.letters.n; i++) {
		struct letter *l = &box.letters.v[i];

		if (!is_delivered(s, l->item)) {
			write_line(s->out_fd, "%s", l->line);
			vec_push(&s->delivered, l->item);
		}
		ask(s->store, "select gavel.report($1::bigint, 'sent', '', $2)",
		    VALUES(store_number(l->item), store_bytes(str_of(l->line))), NULL, NULL);
		free(l->line);
	}
	vec_release(&box.letters);
}

/* Once nobody else delivers: what was delivered so far. */
static void take_over(struct shipper *s)
{
	struct buf text = { 0 };
	struct str rest;

	if (s->delivers || flock(s->out_fd, LOCK_EX | LOCK_NB) < 0)
		return;
	s->delivers = true;
	read_whole(s->out_path, &text);
	rest = buf_str(&text);
	while (rest.n)
		vec_push(&s->delivered, strtoll(str_cut(&rest, STR("\n")).p, NULL, 10));
	buf_release(&text);
}

static void open_files(struct shipper *s, const char *folder)
{
	struct buf text = { 0 };

	snprintf(s->log, sizeof(s->log), "%s/%s.log", folder, s->source);
	snprintf(s->opened_path, sizeof(s->opened_path), "%s/%s.opened", folder, s->source);
	snprintf(s->out_path, sizeof(s->out_path), "%s/%s.out", folder, s->source);
	s->log_fd = open(s->log, O_RDONLY | O_CLOEXEC);
	if (s->log_fd < 0)
		fail("%s: %s", s->log, strerror(errno));
	s->out_fd = open_append(s->out_path);
	read_whole(s->opened_path, &text);
	s->opened = text.n ? strtoll(text.p, NULL, 10) : 0;
	buf_release(&text);
}

int shipper_main(int argc, char **argv)
{
	struct shipper s = { 0 };
	int64_t outbox_at = 0;

	if (argc != 4)
		fail("shipper URL SOURCE FOLDER");
	s.source = argv[2];
	open_files(&s, argv[3]);
	s.store = open_store(argv[1], NULL);
	while (ask(s.store, "select id, next from gavel.ship_open($1, null, 0, 0)",
		   VALUES(store_text(str_of(s.source))), take_source, &s) != 1)
		;
	for (;;) {
		bool moved = ship(&s);

		take_over(&s);
		moved |= s.delivers && open_items(&s);
		if (s.delivers && loop_now_ms() >= outbox_at) {
			deliver(&s);
			outbox_at = loop_now_ms() + OUTBOX_MS;
		}
		if (!moved)
			step_stores(&s.store, 1, s.wait_ms > IDLE_MS ? (int)s.wait_ms : IDLE_MS);
	}
}
