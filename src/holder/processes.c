/* The processes of the agent, found in /proc: all that descend from the holder. It is their subreaper,
 * so one whose parent has exited becomes its child, whatever session or environment it gave itself. */
#include "holder/holder.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

struct proc_entry {
	pid_t pid, parent, group;
	char state;
	bool descends;
	unsigned long long started;
};

struct proc_list {
	VEC(struct proc_entry) all;
};

/* Parses what stands after the last ')': the command name may contain anything. */
static bool read_stat(pid_t pid, struct proc_entry *p)
{
	char path[64], text[1024];
	const char *after;
	ssize_t got;
	int fd;

	snprintf(path, sizeof(path), "/proc/%ld/stat", (long)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	got = read(fd, text, sizeof(text) - 1);
	close(fd);
	if (got <= 0)
		return false;
	text[got] = '\0';
	after = strrchr(text, ')');
	*p = (struct proc_entry){ .pid = pid };
	return after && sscanf(after + 1,
			       " %c %d %d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d "
			       "%*d %*d %llu",
			       &p->state, &p->parent, &p->group, &p->started) == 4;
}

static void read_all(struct proc_list *list)
{
	DIR *proc = opendir("/proc");
	struct dirent *entry;
	struct proc_entry p;

	while (proc && (entry = readdir(proc)))
		if (isdigit((unsigned char)entry->d_name[0]) &&
		    read_stat((pid_t)atol(entry->d_name), &p))
			vec_push(&list->all, p);
	if (proc)
		closedir(proc);
}

/* Marks the children of each process that was marked, until there are no more. */
static void mark_descendants(struct proc_list *list)
{
	VEC(pid_t) parents = { 0 };

	vec_push(&parents, getpid());
	for (uint32_t i = 0; i < parents.n; i++)
		for (uint32_t k = 0; k < list->all.n; k++) {
			struct proc_entry *p = &list->all.v[k];

			if (p->descends || p->parent != parents.v[i])
				continue;
			p->descends = true;
			vec_push(&parents, p->pid);
		}
	vec_release(&parents);
}

uint32_t processes_find(struct holder *h)
{
	struct proc_list list = { 0 };

	read_all(&list);
	mark_descendants(&list);
	h->known.n = 0;
	for (uint32_t i = 0; i < list.all.n; i++) {
		const struct proc_entry *p = &list.all.v[i];

		if (!p->descends || p->pid == h->pid)
			continue;
		if (p->state != 'Z' && p->state != 'X')
			vec_push(&h->known, (struct agent_process){ p->pid, p->group, p->started });
		else if (p->parent == getpid())
			waitpid(p->pid, NULL, WNOHANG);
	}
	vec_release(&list.all);
	return h->known.n;
}

bool processes_has(const struct holder *h, pid_t pid)
{
	struct proc_entry p;

	if (getsid(pid) == h->pid)
		return true;
	for (pid_t at = pid; at > 1; at = p.parent) {
		if (!read_stat(at, &p))
			return at == pid;
		if (p.parent == getpid())
			return true;
	}
	return false;
}

static bool is_same(const struct agent_process *known)
{
	struct proc_entry now;

	return read_stat(known->pid, &now) && now.started == known->started;
}

/* Through a pidfd and only if it is still the same process: its number may have been reused. */
static void signal_one(const struct agent_process *known, int number)
{
#ifdef SYS_pidfd_open
	int fd = (int)syscall(SYS_pidfd_open, known->pid, 0);

	if (fd >= 0) {
		if (is_same(known))
			syscall(SYS_pidfd_send_signal, fd, number, NULL, 0);
		close(fd);
		return;
	}
	if (errno != ENOSYS)
		return;
#endif
	if (is_same(known))
		kill(known->pid, number);
}

/* The group at once; the others one by one. */
void processes_signal(struct holder *h, int number)
{
	processes_find(h);
	kill(-h->pid, number);
	for (uint32_t i = 0; i < h->known.n; i++)
		if (h->known.v[i].group != h->pid)
			signal_one(&h->known.v[i], number);
}
