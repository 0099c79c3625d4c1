/* Plays a whole team for some seconds while things are killed at random; then lets it finish in peace and
 * looks at what is left.
 *
 *   team_actors storm FOLDER SECONDS SEED MISCHIEF...
 *
 * MISCHIEF: kill (reviewers and shippers, with -9), crash (the server, with -9), stop (the server, for
 * six seconds), relay (the network misbehaves), power (power cuts), stall (the standby, for ten seconds:
 * nothing can be committed), promote (the standby takes over).
 * FOLDER has "server", a link to the folder of the server's socket, and "data", one to its files; the
 * command in $SOAK_SERVER starts it again (go) or makes a standby the server (promote). Instead of the
 * reviewers and shippers of this program, $SOAK_REVIEWER and $SOAK_SHIPPER are run by sh, if they are set, with
 * URL, NAME, FOLDER and SEED in the environment; with $SOAK_SHIPPER agents ask questions of the collaboration
 * protocol, and each source has one shipper. */
#include "team_actors.h"

#include "base/io.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
	REVIEWERS = 5,
	SHIPPERS = 4,
	SOURCES = 3,
	CHILDREN = REVIEWERS + SHIPPERS,
	TICK_MS = 10,
	KILL_MS = 90,
	CRASH_MS = 4000,
	POWER_MS = 1000,
	STOP_MS = 6000,
	STALL_MS = 10000,
	OLD_SERVER_MS = 500,
	STUCK_MS = 45000, /* more than a lease, and than the longest pause before a new connection */
	PIDS_MAX = 256,
	ITEMS_A_SECOND = 60,
	REAL_ITEMS_A_SECOND = 3, /* each decision is a process that reads the whole inbox */
};

enum mischief { KILL = 1, CRASH = 2, STOP = 4, RELAY = 8, POWER = 16, PROMOTE = 32, STALL = 64 };

static const struct {
	const char *name;
	enum mischief bit;
} mischiefs[] = { { "kill", KILL },   { "crash", CRASH },     { "stop", STOP },  { "relay", RELAY },
		  { "power", POWER }, { "promote", PROMOTE }, { "stall", STALL } };

struct pids {
	pid_t v[PIDS_MAX];
	unsigned n;
};

static const char *folder, *self;
static uint64_t seed;
static pid_t children[CHILDREN], relay, reader;
static unsigned kills, crashes, cuts, stops, promotions;
static int log_fds[SOURCES];
static unsigned children_n = CHILDREN, lines, items;
static bool is_real;                   /* the shippers are gavel ship */
static int items_a_second = ITEMS_A_SECOND;
static int64_t items_from_ms, turn_ms; /* turn_ms: the last turn of the storm took */

/* ---- the actors ---- */

/* Nobody outlives the storm. */
static pid_t start(void)
{
	pid_t pid = fork();

	if (pid == 0)
		prctl(PR_SET_PDEATHSIG, SIGKILL);
	return pid;
}

static void redirect_errors(void)
{
	char errors[300];

	snprintf(errors, sizeof(errors), "%s/actors.err", folder);
	dup2(open_append(errors), 2);
}

static _Noreturn void become(const char *role, const char *a, const char *b, const char *c)
{
	redirect_errors();
	execl(self, self, role, a, b, c, (char *)NULL);
	_exit(127);
}

static _Noreturn void become_command(const char *command, const char *url, const char *name,
				     const char *number)
{
	setenv("URL", url, 1);
	setenv("NAME", name, 1);
	setenv("SEED", number, 1);
	setenv("FOLDER", folder, 1);
	redirect_errors();
	execl("/bin/sh", "sh", "-c", command, (char *)NULL);
	_exit(127);
}

static void start_child(unsigned i)
{
	char url[300], path[300], name[24], number[24];
	bool reviews = i < REVIEWERS;
	const char *command = getenv(reviews ? "SOAK_REVIEWER" : "SOAK_SHIPPER");

	snprintf(number, sizeof(number), "%u", chance(&seed, 1u << 31));
	children[i] = start();
	if (children[i])
		return;
	snprintf(name, sizeof(name), "%s%u", reviews ? "r" : "s",
		 reviews ? i : (i - REVIEWERS) % SOURCES);
	snprintf(url, sizeof(url), "postgresql://%s@/team?host=%s/relay", name, folder);
	if (command)
		become_command(command, url, name, number);
	snprintf(path, sizeof(path), "%s/%s.told", folder, name);
	if (reviews)
		become("reviewer", url, path, number);
	become("shipper", url, name, folder);
}

static void start_relay(void)
{
	char from[300], to[300], number[24];

	snprintf(from, sizeof(from), "%s/relay/.s.PGSQL.5432", folder);
	snprintf(to, sizeof(to), "%s/server/.s.PGSQL.5432", folder);
	snprintf(number, sizeof(number), "%u", chance(&seed, 1u << 31));
	unlink(from);
	relay = start();
	if (!relay)
		become("relay", from, to, number);
	while (access(from, F_OK) != 0)
		poll(NULL, 0, 5);
}

static void start_reader(void)
{
	char url[300];

	snprintf(url, sizeof(url), "postgresql://watcher@/team?host=%s/relay", folder);
	reader = start();
	if (!reader)
		become("reader", url, NULL, NULL);
}

static void end_child(pid_t *pid)
{
	kill(*pid, SIGKILL);
	waitpid(*pid, NULL, 0);
	*pid = 0;
}

static void restart_ended(void)
{
	for (unsigned i = 0; i < children_n; i++)
		if (!children[i] || waitpid(children[i], NULL, WNOHANG) == children[i])
			start_child(i);
}

/* ---- what the agents say ---- */

static void open_logs(void)
{
	char path[300];

	for (unsigned i = 0; i < SOURCES; i++) {
		snprintf(path, sizeof(path), "%s/s%u.log", folder, i);
		log_fds[i] = open_append(path);
	}
}

static void ask_question(int fd, uint32_t source, long long number)
{
	write_line(
		fd,
		"{\"message_id\":\"00000000-0000-4000-800%u-%012lld\","
		"\"timestamp\":\"2026-01-26T10:00:01Z\",\"sequence_number\":%lld,"
		"\"correlation_id\":\"00000000-0000-4000-900%u-%012lld\","
		"\"from_agent\":{\"agent_id\":\"dev\",\"agent_type\":\"developer\"},"
		"\"to_agent\":{\"agent_id\":\"arch\",\"agent_type\":\"architect\"},"
		"\"message_type\":\"feedback\",\"payload\":{\"feedback_type\":\"question\","
		"\"subject\":\"Lanes\",\"content\":\"How many, %lld?\",\"action_required\":true}}",
		(unsigned)source, number, number + 1, (unsigned)source, number, number);
}

/* Numbers go on from one storm to the next: the size of the log is in them. */
static void say_something(void)
{
	static const char words[] =
		"words words words words words words words words words words words words ";
	uint32_t i = chance(&seed, SOURCES);
	long long at = lseek(log_fds[i], 0, SEEK_END);

	write_line(log_fds[i], "{\"at\":%lld,\"said\":\"%.*s\"}", at,
		   (int)chance(&seed, sizeof(words)), words);
	lines++;
	if (items < (loop_now_ms() - items_from_ms) * items_a_second / 1000 &&
	    chance(&seed, 8) == 0) {
		at = lseek(log_fds[i], 0, SEEK_END);
		if (is_real)
			ask_question(log_fds[i], i, at);
		else
			write_line(log_fds[i], "{\"item\":%lld,\"need\":%d}", at,
				   chance(&seed, 5) ? 1 : 2);
		lines++;
		items++;
	}
}

/* ---- the server ---- */

static pid_t postmaster(const char *data)
{
	struct buf text = { 0 };
	char path[300];
	pid_t pid;

	snprintf(path, sizeof(path), "%s/%s/postmaster.pid", folder, data);
	read_whole(path, &text);
	pid = text.n ? (pid_t)strtol(text.p, NULL, 10) : 0;
	buf_release(&text);
	return pid;
}

/* The parent of a process; 0 = it has ended. */
static pid_t parent_of(pid_t pid)
{
	char path[64], text[512] = "", state;
	int fd, parent = 0;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	if (read(fd, text, sizeof(text) - 1) > 0 && strrchr(text, ')'))
		sscanf(strrchr(text, ')') + 1, " %c %d", &state, &parent);
	close(fd);
	return parent && state != 'Z' ? parent : 0;
}

/* A postmaster, stopped so that it starts nobody else, and its processes. */
static void stop_server(const char *data, struct pids *p)
{
	pid_t top = postmaster(data);
	DIR *dir = opendir("/proc");
	struct dirent *e;

	p->n = 0;
	if (top <= 0 || !dir)
		fail("no server runs in %s/%s", folder, data);
	kill(top, SIGSTOP);
	while ((e = readdir(dir))) {
		pid_t pid = (pid_t)strtol(e->d_name, NULL, 10);

		if (pid > 0 && parent_of(pid) == top && p->n < PIDS_MAX - 1)
			p->v[p->n++] = pid;
	}
	closedir(dir);
	p->v[p->n++] = top;
	for (unsigned i = 0; i < p->n; i++)
		kill(p->v[i], SIGSTOP);
}

static void kill_all(const struct pids *p)
{
	for (unsigned i = 0; i < p->n; i++)
		kill(p->v[i], SIGKILL);
	for (unsigned i = 0; i < p->n; i++)
		while (parent_of(p->v[i]))
			poll(NULL, 0, 2);
}

static void server(const char *verb)
{
	struct buf command = { 0 };

	buf_printf(&command, "%s %s", getenv("SOAK_SERVER"), verb);
	if (system(command.p) != 0)
		fail("%s does not work", command.p);
	buf_release(&command);
}

static void take_back(void)
{
	char log[300], data[300], number[24];
	int status;
	pid_t pid;

	snprintf(log, sizeof(log), "%s/unsynced", folder);
	snprintf(data, sizeof(data), "%s/data", folder);
	snprintf(number, sizeof(number), "%u", chance(&seed, 1u << 31));
	pid = start();
	if (!pid)
		become("restore", log, data, number);
	if (waitpid(pid, &status, 0) != pid || status)
		fail("the power cut could not be made");
}

static void crash(bool power)
{
	struct pids p;

	stop_server("data", &p);
	kill_all(&p);
	if (power)
		take_back();
	server("go");
	*(power ? &cuts : &crashes) += 1;
}

/* Stops a server once, and lets it go on later. */
struct hang {
	const char *data;
	int64_t ms, until_ms;
	struct pids stopped;
};

static void hang(struct hang *h)
{
	if (!h->until_ms) {
		stop_server(h->data, &h->stopped);
		h->until_ms = loop_now_ms() + h->ms;
		stops++;
	} else if (loop_now_ms() >= h->until_ms) {
		for (unsigned i = h->stopped.n; i > 0; i--)
			kill(h->stopped.v[i - 1], SIGCONT);
		h->until_ms = INT64_MAX;
	}
}

/* Clients still reach the old server for a while. */
static void promote(void)
{
	static struct pids old;
	int64_t until;

	server("promote");
	until = loop_now_ms() + OLD_SERVER_MS;
	while (loop_now_ms() < until) {
		say_something();
		restart_ended();
		poll(NULL, 0, TICK_MS);
	}
	stop_server("old_data", &old);
	kill_all(&old);
	promotions++;
}

/* ---- the storm ---- */

/* However long a turn takes when others compute, too. */
static bool happens(unsigned mean_ms)
{
	return chance(&seed, mean_ms) < turn_ms;
}

static void do_mischief(unsigned what, int64_t left_ms, int64_t all_ms)
{
	static struct hang server_hangs = { .data = "data", .ms = STOP_MS };
	static struct hang standby_hangs = { .data = "standby", .ms = STALL_MS };
	static int64_t calm_until;
	int64_t now = loop_now_ms();
	bool stops_now = (what & STOP) && left_ms < all_ms * 2 / 3 && all_ms > 2 * STOP_MS;

	if ((what & KILL) && happens(KILL_MS)) {
		unsigned i = chance(&seed, children_n);

		end_child(&children[i]);
		kills++;
	}
	if (stops_now)
		hang(&server_hangs);
	if ((what & STALL) && left_ms < all_ms - 1000)
		hang(&standby_hangs);
	if (stops_now && left_ms > all_ms * 2 / 3 - STOP_MS - 1000)
		return;
	if ((what & PROMOTE) && !promotions && left_ms < all_ms / 2)
		promote();
	if (now < calm_until)
		return;
	if ((what & CRASH) && happens(CRASH_MS))
		crash(false);
	else if ((what & POWER) && happens(POWER_MS))
		crash(true);
	else
		return;
	calm_until = loop_now_ms() + 1000; /* something must happen between two of them */
}

static void take_rest(void *ctx, const struct store_answer *a)
{
	*(int64_t *)ctx = store_int(a->rows, 0, 0);
}

/* How much is left to do: open items, decisions that were not delivered, bytes that were not shipped. -1: the
 * server did not say. */
static int64_t count_rest(struct store *s)
{
	static const char sql[] =
		"select (select count(*) from gavel.item where state = 'open') + "
		"greatest(0, $2::bigint - (select count(*) from gavel.item)) + "
		"(select count(*) from gavel.decision d where not exists "
		"(select from gavel.outcome o where o.item = d.item and o.what = 'sent')) + "
		"$1::bigint - (select coalesce(sum(next), 0) from gavel.source)::bigint";
	int64_t rest = -1, bytes = 0;

	for (unsigned i = 0; i < SOURCES; i++) {
		char path[300], text[32] = "";
		int fd;

		bytes += lseek(log_fds[i], 0, SEEK_END);
		if (is_real)
			continue;
		snprintf(path, sizeof(path), "%s/s%u.opened", folder, i);
		fd = open(path, O_RDONLY | O_CLOEXEC);
		if (fd < 0 || read(fd, text, sizeof(text) - 1) <= 0 ||
		    strtoll(text, NULL, 10) != lseek(log_fds[i], 0, SEEK_END))
			bytes++;
		fd_close(&fd);
	}
	if (ask(s, sql, VALUES(store_number(bytes), store_number(items)), take_rest, &rest) != 1)
		return -1;
	return rest;
}

static void print_stuck(void *ctx, const struct store_answer *a)
{
	(void)ctx;
	for (uint32_t i = 0; i < a->n; i++)
		printf("storm: %.*s\n", STR_ARG(store_str(a->rows, i, 0)));
}

/* What nobody has finished, and who was last there. */
static void tell_stuck(void)
{
	static const char sql[] =
		"select format('item %s is %s, need %s, claimed by %s for %s, votes: %s, outcome: %s', i.id, "
		"i.state, i.need, coalesce(i.holder::text, 'nobody'), coalesce((i.until - clock_timestamp())::text, '-'), "
		"coalesce((select string_agg(v.who || ' ' || v.verb, ', ') from gavel.vote v where v.item = i.id), 'none'), "
		"coalesce((select string_agg(o.what, ', ') from gavel.outcome o where o.item = i.id), 'none')) "
		"from gavel.item i where i.state = 'open' or (i.state = 'decided' and not exists "
		"(select from gavel.outcome o where o.item = i.id and o.what = 'sent')) order by i.id limit 5";
	static const char who[] =
		"select format('%s is connected: %s for %s, waits for %s', usename, state, "
		"clock_timestamp() - state_change, coalesce(wait_event, '-')) "
		"from pg_stat_activity where usename ~ '^[rs][0-9]' order by usename";

	char url[300];
	struct store *s;

	/* others do not see who waits */
	snprintf(url, sizeof(url), "postgresql://postgres@/team?host=%s/server", folder);
	s = open_store(url, NULL);
	ask(s, sql, NULL, 0, print_stuck, NULL);
	ask(s, who, NULL, 0, print_stuck, NULL);
	store_close(s);
}

/* All that was raised is decided and delivered. However long that takes: it fails when nothing is done any more. */
static bool finish(void)
{
	int64_t begun = loop_now_ms(), moved = begun, rest = INT64_MAX;
	char url[300];
	struct store *s;

	kill(relay, SIGUSR1);
	snprintf(url, sizeof(url), "postgresql://watcher@/team?host=%s/server", folder);
	s = open_store(url, NULL);
	while (rest && loop_now_ms() < moved + STUCK_MS) {
		int64_t left;

		restart_ended();
		step_stores(&s, 1, 100);
		left = count_rest(s);
		if (left < 0 || left >= rest)
			continue;
		rest = left;
		moved = loop_now_ms();
	}
	printf("storm: then %.1f s in peace\n", (double)(moved - begun) / 1e3);
	if (rest)
		tell_stuck();
	store_close(s);
	for (unsigned i = 0; i < children_n; i++)
		end_child(&children[i]);
	return !rest;
}

static int end_reader(void)
{
	int status = 0;

	kill(reader, SIGTERM);
	waitpid(reader, &status, 0);
	end_child(&relay);
	return status != 0;
}

static unsigned parse_mischief(int argc, char **argv)
{
	unsigned bits = 0;

	for (int i = 0; i < argc; i++)
		for (unsigned k = 0; k < sizeof(mischiefs) / sizeof(mischiefs[0]); k++)
			if (strcmp(argv[i], mischiefs[k].name) == 0)
				bits |= mischiefs[k].bit;
	return bits;
}

int storm_main(int argc, char **argv)
{
	int64_t start, all, now;
	unsigned what;
	bool done;
	int code;

	if (argc < 4 || !getenv("SOAK_SERVER"))
		fail("SOAK_SERVER=COMMAND storm FOLDER SECONDS SEED MISCHIEF...");
	self = "/proc/self/exe";
	folder = argv[1];
	all = strtoll(argv[2], NULL, 10) * 1000;
	seed = strtoull(argv[3], NULL, 10);
	is_real = getenv("SOAK_SHIPPER");
	if (getenv("SOAK_REVIEWER"))
		items_a_second = REAL_ITEMS_A_SECOND;
	children_n = is_real ? REVIEWERS + SOURCES : CHILDREN;
	what = parse_mischief(argc - 4, argv + 4);
	open_logs();
	start_relay();
	start_reader();
	restart_ended();
	if (what & RELAY)
		kill(relay, SIGUSR2);
	start = items_from_ms = loop_now_ms();
	for (int64_t before = start; (now = loop_now_ms()) < start + all; before = now) {
		turn_ms = now - before;
		for (int i = 0; i < 8; i++)
			say_something();
		do_mischief(what, start + all - now, all);
		restart_ended();
		poll(NULL, 0, TICK_MS);
	}
	done = finish();
	code = end_reader();
	printf("storm: %u lines, %u items; %u clients killed, %u crashes, %u power cuts, %u stops, "
	       "%u promotions\n",
	       lines, items, kills, crashes, cuts, stops, promotions);
	if (!done)
		printf("storm: not all is decided, delivered and shipped, and for %d s without any "
		       "mischief nothing was done about it\n",
		       STUCK_MS / 1000);
	return code || !done;
}
