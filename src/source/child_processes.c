/* The processes that belong to one incarnation of an agent, found in /proc, also those that left
 * its process group or whose parent has exited.
 *
 * A process belongs to it if it is in its group or session, descends from it, has its mark in the
 * environment (CHILD_MARK), shares a session with one that belongs to it, or did so the last time.
 * One that cleared its environment and was an orphan before anybody looked is not found. */
#include "source/child_internal.h"

#include "base/io.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { ENVIRONMENT_MAX = 1 << 20 };

struct process {
	pid_t pid, parent, group, session;
	char state;
	bool belongs;
	unsigned long long started;
};

struct processes {
	VEC(struct process) list;
};

/* A file of /proc/PID, at most max bytes. */
static bool read_proc(pid_t pid, const char *name, size_t max, struct buf *out)
{
	char path[64];
	int fd;

	buf_clear(out);
	snprintf(path, sizeof(path), "/proc/%ld/%s", (long)pid, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	io_read_rest(fd, max, out);
	close(fd);
	return out->n != 0;
}

/* Parses what stands after the last ')': the command name may contain anything. */
static bool read_stat(pid_t pid, struct buf *room, struct process *p)
{
	const char *after;

	if (!read_proc(pid, "stat", 4096, room))
		return false;
	after = strrchr(room->p, ')');
	*p = (struct process){ .pid = pid };
	return after && sscanf(after + 1,
			       " %c %d %d %d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d "
			       "%*d %*d %llu",
			       &p->state, &p->parent, &p->group, &p->session, &p->started) == 5;
}

static void read_all(struct processes *all, struct buf *room)
{
	DIR *proc = opendir("/proc");
	struct dirent *entry;
	struct process p;

	while (proc && (entry = readdir(proc)))
		if (isdigit((unsigned char)entry->d_name[0]) &&
		    read_stat((pid_t)atol(entry->d_name), room, &p))
			vec_push(&all->list, p);
	if (proc)
		closedir(proc);
}

static bool has_mark(pid_t pid, struct str mark, struct buf *room)
{
	const char *at, *end;

	if (!read_proc(pid, "environ", ENVIRONMENT_MAX, room))
		return false;
	for (at = room->p, end = at + room->n; at < end; at += strlen(at) + 1)
		if (str_is(mark, at))
			return true;
	return false;
}

static bool was_known(const struct child *c, const struct process *p)
{
	for (uint32_t i = 0; i < c->known.n; i++)
		if (c->known.v[i].pid == p->pid && c->known.v[i].started == p->started)
			return true;
	return false;
}

static const struct process *find_leader(const struct child *c, const struct processes *all)
{
	for (uint32_t i = 0; i < all->list.n; i++)
		if (all->list.v[i].pid == c->pid)
			return &all->list.v[i];
	return NULL;
}

/* The mark is looked for only in processes that are not older than the agent. */
static void find_first(const struct child *c, struct processes *all, struct buf *room)
{
	const struct process *leader = find_leader(c, all);
	struct buf mark = { 0 };

	buf_adds(&mark, CHILD_MARK "=");
	child_path(c, &mark);
	for (uint32_t i = 0; i < all->list.n; i++) {
		struct process *p = &all->list.v[i];

		p->belongs = p->group == c->pid || p->session == c->pid || was_known(c, p) ||
			     (leader && p->started >= leader->started && p->pid != getpid() &&
			      has_mark(p->pid, buf_str(&mark), room));
	}
	buf_release(&mark);
}

static bool is_related(const struct process *p, const struct processes *all)
{
	for (uint32_t i = 0; i < all->list.n; i++) {
		const struct process *other = &all->list.v[i];

		if (other->belongs &&
		    (p->parent == other->pid || p->session == other->session))
			return true;
	}
	return false;
}

static void find_related(struct processes *all)
{
	for (bool more = true; more;) {
		more = false;
		for (uint32_t i = 0; i < all->list.n; i++) {
			struct process *p = &all->list.v[i];

			if (!p->belongs && is_related(p, all))
				p->belongs = more = true;
		}
	}
}

uint32_t processes_find(struct child *c)
{
	struct processes all = { 0 };
	struct buf room = { 0 };

	read_all(&all, &room);
	find_first(c, &all, &room);
	find_related(&all);
	c->known.n = 0;
	for (uint32_t i = 0; i < all.list.n; i++) {
		const struct process *p = &all.list.v[i];

		/* the leader is a zombie on purpose */
		if (p->belongs && p->pid != c->pid && p->state != 'Z' && p->state != 'X')
			vec_push(&c->known, (struct child_process){ p->pid, p->group, p->started });
	}
	vec_release(&all.list);
	buf_release(&room);
	return c->known.n;
}

/* Through a pidfd and only if it is still the same process: its number may have been reused. */
static void signal_one(const struct child_process *known, int number, struct buf *room)
{
	struct process now;
	int fd = -1;

#ifdef SYS_pidfd_open
	fd = (int)syscall(SYS_pidfd_open, known->pid, 0);
	if (fd < 0 && errno != ENOSYS)
		return;
#endif
	if (!read_stat(known->pid, room, &now) || now.started != known->started)
		number = 0;
#ifdef SYS_pidfd_send_signal
	if (fd >= 0)
		syscall(SYS_pidfd_send_signal, fd, number, NULL, 0);
#endif
	if (fd < 0)
		kill(known->pid, number);
	fd_close(&fd);
}

void processes_signal(struct child *c, int number)
{
	struct buf room = { 0 };

	processes_find(c);
	kill(-c->pid, number);
	for (uint32_t i = 0; i < c->known.n; i++)
		if (c->known.v[i].group != c->pid)
			signal_one(&c->known.v[i], number, &room);
	buf_release(&room);
}

void processes_leave(struct child *c)
{
	buf_clear(&c->left);
	for (uint32_t i = 0; i < c->known.n; i++)
		buf_printf(&c->left, "%s%ld", i ? ", " : "", (long)c->known.v[i].pid);
}
