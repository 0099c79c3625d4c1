/* Decides again and again with `gavel decide --deliver` and kills it with SIGKILL at a random
 * moment; every second time the replies go to a file, else to a FIFO that this program reads. In
 * the end each decision that gavel has shown or recorded must have arrived, and none twice.
 *
 *   soak GAVEL KILLS [SEED]
 *
 * Prints one line and ends with 1 if anything was lost or doubled. A message that comes to the FIFO
 * a second time in a later run under the same message_id is no doubling: nobody can know what a
 * FIFO's reader has read, and the id is there for that. */
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { ID_SIZE = 37, OUT_MAX = 1 << 16 };

struct text {
	char *p;
	size_t n, cap;
};

/* What is known about one item. */
struct item {
	bool shown; /* gavel said that it is recorded, sent or held */
	unsigned copies, ids;
	unsigned round; /* of the last copy */
	char message_id[ID_SIZE];
};

struct place {
	const char *name;
	char log[160], reply[160], journal[160];
	bool is_fifo;
	int fd;          /* of the FIFO's reader */
	struct text got; /* what has arrived */
	size_t judged;   /* lines up to here were looked at */
	unsigned items, next;
	struct item *item;
	unsigned kills, torn;
};

static const char *gavel;
static char folder[64];
static unsigned lost, doubled, repeated, runs;

static _Noreturn void die(const char *what)
{
	fprintf(stderr, "soak: %s: %s\n", what, strerror(errno));
	exit(2);
}

static void text_add(struct text *t, const char *p, size_t n)
{
	if (t->n + n + 1 > t->cap) {
		t->cap = (t->n + n + 1) * 2;
		t->p = realloc(t->p, t->cap);
		if (!t->p)
			die("memory");
	}
	memcpy(t->p + t->n, p, n);
	t->n += n;
	t->p[t->n] = '\0';
}

static int64_t now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

static void read_more(int fd, struct text *to)
{
	char block[4096];
	ssize_t n;

	while ((n = read(fd, block, sizeof(block))) > 0)
		text_add(to, block, (size_t)n);
}

/* ---- what has arrived ---- */

static bool take_field(const char *line, const char *name, char out[ID_SIZE])
{
	const char *at = strstr(line, name);

	if (!at || strlen(at) < strlen(name) + ID_SIZE)
		return false;
	memcpy(out, at + strlen(name), ID_SIZE - 1);
	out[ID_SIZE - 1] = '\0';
	return true;
}

static void judge_line(struct place *p, const char *line)
{
	char id[ID_SIZE], to[ID_SIZE];
	unsigned long number;
	struct item *item;

	if (strncmp(line, "{\"message_id\":\"", 15) != 0 || line[strlen(line) - 1] != '}' ||
	    !take_field(line, "\"message_id\":\"", id) ||
	    !take_field(line, "\"reply_to\":\"", to)) {
		p->torn += line[0] != '\0';
		return;
	}
	number = strtoul(to + 24, NULL, 10);
	if (number < 1 || number > p->items) {
		doubled++; /* nobody decided that */
		return;
	}
	item = &p->item[number - 1];
	item->copies++;
	if (item->ids && strcmp(item->message_id, id) == 0) {
		if (!p->is_fifo || item->round == runs) {
			fprintf(stderr, "soak: %s: item %lu twice in one place\n", p->name, number);
			doubled++;
		} else {
			repeated++;
		}
	} else {
		if (item->ids++) {
			fprintf(stderr, "soak: %s: item %lu under two ids\n", p->name, number);
			doubled++;
		}
		strcpy(item->message_id, id);
	}
	item->round = runs;
}

/* Looks at the lines that are new. */
static void judge(struct place *p)
{
	char *end;

	if (p->is_fifo) {
		if (p->fd >= 0)
			read_more(p->fd, &p->got);
	} else {
		int fd = open(p->reply, O_RDONLY);

		if (fd >= 0 && lseek(fd, (off_t)p->got.n, SEEK_SET) >= 0)
			read_more(fd, &p->got);
		if (fd >= 0)
			close(fd);
	}
	while (p->judged < p->got.n &&
	       (end = memchr(p->got.p + p->judged, '\n', p->got.n - p->judged))) {
		*end = '\0';
		judge_line(p, p->got.p + p->judged);
		p->judged = (size_t)(end - p->got.p) + 1;
	}
}

/* ---- running gavel ---- */

/* Runs it; kill_us < 0: to its end. What it prints goes to out. Returns its status. */
static int run(struct place *p, const char *const argv[], int64_t kill_us, struct text *out)
{
	int64_t start = now_us();
	int pipes[2], status = 0;
	bool killed = false;
	pid_t pid;

	if (pipe2(pipes, O_CLOEXEC | O_NONBLOCK) < 0)
		die("pipe");
	runs++;
	out->n = 0;
	pid = fork();
	if (pid < 0)
		die("fork");
	if (pid == 0) {
		int null = open("/dev/null", O_RDWR);

		dup2(null, 0);
		dup2(pipes[1], 1);
		dup2(null, 2);
		execv(gavel, (char *const *)(uintptr_t)argv); /* does not change them */
		_exit(127);
	}
	close(pipes[1]);
	for (;;) {
		struct pollfd fds[2] = { { pipes[0], POLLIN, 0 }, { p->fd, POLLIN, 0 } };
		int64_t left = kill_us < 0 ? 1000000 : kill_us - (now_us() - start);
		struct timespec wait = { 0, 0 };

		if (!killed && left <= 0) {
			kill(pid, SIGKILL);
			killed = true;
		}
		wait.tv_nsec = killed ? 1000000 : left < 1000000 ? (long)left * 1000 : 999999999;
		if (ppoll(fds, 2, &wait, NULL) < 0 && errno != EINTR)
			die("poll");
		if (fds[1].revents & POLLIN)
			read_more(p->fd, &p->got);
		if (fds[0].revents) {
			size_t before = out->n;

			read_more(pipes[0], out);
			if (out->n == before && (fds[0].revents & POLLHUP))
				break; /* its end of the pipe is closed: it has ended */
		}
	}
	close(pipes[0]);
	if (waitpid(pid, &status, 0) != pid)
		die("waitpid");
	judge(p);
	p->kills += WIFSIGNALED(status) != 0;
	return status;
}

static void item_id(unsigned number, char out[ID_SIZE])
{
	snprintf(out, ID_SIZE, "00000000-0000-4000-8000-%012u", number);
}

static int decide(struct place *p, unsigned number, int64_t kill_us)
{
	static struct text out;
	char id[ID_SIZE], journal[200], reply[200];
	const char *argv[] = { "gavel",          "decide",    journal,         reply,
			       "--recover=send", "--as=anna", "--answer=four", "--deliver",
			       p->log,           id,          "answer",        NULL };
	struct item *item = &p->item[number - 1];
	int status;

	item_id(number, id);
	snprintf(journal, sizeof(journal), "--journal=%s", p->journal);
	snprintf(reply, sizeof(reply), "--reply=%s", p->reply);
	status = run(p, argv, kill_us, &out);
	if (out.n && strchr(out.p, '\n')) {
		item->shown = true;
		if (strstr(out.p, ": answer, sent") && !item->copies) {
			fprintf(stderr, "soak: %s: item %u shown as sent and not there\n", p->name,
				number);
			lost++;
		}
	}
	return status;
}

/* ---- the end ---- */

static void run_words(struct place *p, struct text *out, const char *a, const char *b,
		      const char *c)
{
	char journal[200], reply[200];
	const char *argv[9] = { "gavel", a, journal };
	int n = 3;

	snprintf(journal, sizeof(journal), "--journal=%s", p->journal);
	snprintf(reply, sizeof(reply), "--reply=%s", p->reply);
	if (strcmp(a, "decide") == 0) {
		argv[n++] = reply;
		argv[n++] = "--as=anna";
		argv[n++] = "--deliver";
		argv[n++] = "--recover=send";
	}
	argv[n++] = b;
	if (c)
		argv[n++] = c;
	argv[n] = NULL;
	run(p, argv, -1, out);
}

/* One after the other, as they are listed; how many were held. */
static unsigned resend_listed(struct place *p)
{
	struct text list = { 0 }, out = { 0 };
	unsigned held = 0;

	run_words(p, &list, "journal", "--format=json", "list");
	for (char *at = list.p, *end; at && (end = strchr(at, '\n')); at = end + 1) {
		char *letter, id[13];

		*end = '\0';
		letter = strstr(at, "\"letter\":\"");
		if (!letter || !strstr(at, "\"delivery\":\"held\""))
			continue;
		memcpy(id, letter + 10, 12);
		id[12] = '\0';
		run_words(p, &out, "journal", "resend", id);
		held++;
	}
	free(list.p);
	free(out.p);
	return held;
}

/* A message that was in doubt three times is held until the person says so, and those behind it
 * wait: here the person says so at once. The list is not in the order of sending, so it may take
 * turns. */
static void resend_held(struct place *p)
{
	for (unsigned held = resend_listed(p), before = held + 1; held && held < before;) {
		before = held;
		held = resend_listed(p);
	}
}

/* Every decision in the journal, and every one shown, has arrived. */
static unsigned count_recorded(struct place *p)
{
	struct text list = { 0 };
	unsigned recorded = 0;

	run_words(p, &list, "journal", "--format=json", "list");
	for (char *at = list.p, *end; at && (end = strchr(at, '\n')); at = end + 1) {
		char id[ID_SIZE];
		unsigned long number;

		*end = '\0';
		if (!take_field(at, "\"item\":\"", id))
			continue;
		number = strtoul(id + 24, NULL, 10);
		if (number < 1 || number > p->items)
			continue;
		p->item[number - 1].shown = true;
		recorded++;
	}
	for (unsigned i = 0; i < p->items; i++)
		if (p->item[i].shown && !p->item[i].copies) {
			fprintf(stderr, "soak: %s: item %u was recorded and did not arrive\n",
				p->name, i + 1);
			lost++;
		}
	free(list.p);
	return recorded;
}

static void verify(struct place *p)
{
	struct text out = { 0 };

	run_words(p, &out, "journal", "verify", NULL);
	if (!out.p || !strstr(out.p, " 0 problems")) {
		fprintf(stderr, "soak: %s: the journal is damaged: %s", p->name,
			out.p ? out.p : "\n");
		lost++;
	}
	free(out.p);
}

/* ---- the beginning ---- */

static void open_reader(struct place *p)
{
	/* read and write: there is always a reader, and never an end */
	p->fd = open(p->reply, O_RDWR | O_NONBLOCK | O_CLOEXEC);
	if (p->fd < 0)
		die(p->reply);
}

static void make_place(struct place *p, const char *name, unsigned items)
{
	FILE *log;

	*p = (struct place){ .name = name, .fd = -1, .items = items, .next = 1 };
	p->is_fifo = strcmp(name, "fifo") == 0;
	p->item = calloc(items, sizeof(*p->item));
	snprintf(p->log, sizeof(p->log), "%s/%s.ndjson", folder, name);
	snprintf(p->reply, sizeof(p->reply), "%s/%s.replies", folder, name);
	snprintf(p->journal, sizeof(p->journal), "%s/%s.journal", folder, name);
	log = fopen(p->log, "w");
	if (!log || !p->item)
		die(p->log);
	for (unsigned i = 1; i <= items; i++)
		fprintf(log,
			"{\"message_id\":\"00000000-0000-4000-8000-%012u\","
			"\"timestamp\":\"2026-01-26T10:00:01Z\",\"sequence_number\":%u,"
			"\"correlation_id\":\"00000000-0000-4000-9000-%012u\","
			"\"from_agent\":{\"agent_id\":\"dev\",\"agent_type\":\"developer\"},"
			"\"to_agent\":{\"agent_id\":\"arch\",\"agent_type\":\"architect\"},"
			"\"message_type\":\"feedback\",\"payload\":{\"feedback_type\":\"question\","
			"\"subject\":\"Lanes\",\"content\":\"How many, "
			"%u?\",\"action_required\":true}}\n",
			i, i, i, i);
	if (fclose(log) != 0)
		die(p->log);
	if (p->is_fifo) {
		if (mkfifo(p->reply, 0600) < 0)
			die(p->reply);
		open_reader(p);
	}
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path);
}

/* How long a decision takes when nobody disturbs it. */
static int64_t measure(struct place *p)
{
	int64_t start = now_us();

	for (int i = 0; i < 5; i++)
		if (decide(p, p->next++, -1) != 0) {
			fprintf(stderr, "soak: %s decide does not work\n", gavel);
			exit(2);
		}
	return (now_us() - start) / 5;
}

static void kill_one(struct place *p, int64_t usual_us)
{
	/* now and then nobody reads, and the message has to wait */
	bool deserted = p->is_fifo && rand() % 20 == 0;

	if (deserted) {
		judge(p);
		close(p->fd);
		p->fd = -1;
	}
	decide(p, p->next, rand() % (usual_us * 5 / 4 + 1));
	if (deserted)
		open_reader(p);
	if (rand() % 2 && p->next < p->items)
		p->next++;
}

int main(int argc, char **argv)
{
	unsigned kills = argc > 2 ? (unsigned)strtoul(argv[2], NULL, 10) : 0, recorded = 0;
	unsigned seed = argc > 3 ? (unsigned)strtoul(argv[3], NULL, 10) : (unsigned)time(NULL);
	struct place places[2];
	int64_t usual_us[2];

	if (kills == 0) {
		fprintf(stderr, "usage: soak GAVEL KILLS [SEED]\n");
		return 2;
	}
	gavel = argv[1];
	srand(seed);
	strcpy(folder, "/tmp/gavel-soak-XXXXXX");
	if (!mkdtemp(folder))
		die(folder);
	make_place(&places[0], "file", kills + 10);
	make_place(&places[1], "fifo", kills + 10);
	for (int i = 0; i < 2; i++)
		usual_us[i] = measure(&places[i]);
	for (unsigned i = 0; places[0].kills + places[1].kills < kills; i++) {
		kill_one(&places[i % 2], usual_us[i % 2]);
		if (i % 50 == 49)
			resend_held(&places[1]);
	}
	for (int i = 0; i < 2; i++) {
		struct text out = { 0 };

		run_words(&places[i], &out, "decide", places[i].log, NULL);
		resend_held(&places[i]);
		recorded += count_recorded(&places[i]);
		verify(&places[i]);
		/* a file is mended, so nothing is left in it that is not a message */
		if (!places[i].is_fifo && (places[i].torn || places[i].judged != places[i].got.n)) {
			fprintf(stderr, "soak: half a message is in the file\n");
			lost++;
		}
		free(out.p);
	}
	printf("soak: %u kills (file %u, fifo %u), seed %u: %u recorded, %u lost %u doubled "
	       "(%u came to the FIFO again under their own id)\n",
	       places[0].kills + places[1].kills, places[0].kills, places[1].kills, seed, recorded,
	       lost, doubled, repeated);
	for (int i = 0; i < 2; i++) {
		free(places[i].item);
		free(places[i].got.p);
	}
	if (lost || doubled)
		fprintf(stderr, "soak: everything is left in %s\n", folder);
	else
		nftw(folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
	return lost || doubled;
}
