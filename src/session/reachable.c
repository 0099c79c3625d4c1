/* Captures of agents that gavel reads like logs: replies go to the agent if it runs, else nowhere. */
#include "base/io.h"
#include "decide/output_queue.h"
#include "session/load.h"
#include "source/holder_link.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

/* The agent of one desk. */
struct reachable {
	struct desk_agent agent; /* first: its ctx is this */
	struct load *l;
	uint32_t file;    /* its capture, in the wire */
	char *capture;    /* real path; NULL = it does not run */
	unsigned run;
	uint64_t start;   /* of the run, in the capture */
};

/* desk_agent.path: an earlier incarnation's is never valid. */
static void path_of(void *ctx, uint32_t message, struct buf *out)
{
	const struct reachable *r = ctx;
	const struct model *m = &r->l->model;
	bool now = message == NONE || (message_route(m, message)->source == r->file &&
				       message_offset(m, message) >= r->start);

	if (r->capture)
		buf_printf(out, "%s#%u", r->capture, now ? r->run : r->run - 1);
}

/* What holders have written to a capture; run 0 in one of 0.1.0, whose replies are beside
 * it. */
static struct capture_end end_of(const struct wire_file *f)
{
	struct capture_end end = { 0 };
	int fd = io.open(f->name.p, O_RDONLY | O_CLOEXEC, 0);

	if (fd >= 0) {
		capture_read_end(fd, 0, &end);
		close(fd);
	}
	return end;
}

static uint32_t capture_of(const struct load *l, const struct desk *d)
{
	for (uint32_t i = 0; i < l->wire.files.n; i++)
		if (str_eq(l->wire.files.v[i].group, d->group) && !l->wire.files.v[i].joined)
			return i;
	return NONE;
}

/* One that does not respond has the incarnation that its capture names last. */
static void reach_agent(struct load *l, struct desk *d, uint32_t file)
{
	const struct wire_file *f = &l->wire.files.v[file];
	struct holder_greeting h = { 0 };
	struct capture_end end = { 0 };
	struct err err;
	enum holder_state state;
	struct reachable *r;

	if (!f->head.n || !f->ours)
		return;
	state = holder_ask(f->name.p, NULL, &h, &err);
	if (state == HOLDER_RUNS) {
		end.run = h.run;
		end.start = h.start;
	} else {
		end = end_of(f);
	}
	if (!end.run)
		return;
	r = xcalloc(1, sizeof(*r));
	*r = (struct reachable){ .agent = { path_of, false, r }, .l = l, .file = file,
				 .run = end.run, .start = end.start };
	if (state == HOLDER_ABSENT)
		desk_hold_unread(d, &end);
	else
		r->capture = realpath(f->name.p, NULL);
	d->agent = &r->agent;
	vec_push(&l->reachable, r);
}

void load_reach_agents(struct load *l)
{
	for (uint32_t i = 0; i < l->desks.list.n; i++) {
		struct desk *d = &l->desks.list.v[i];
		uint32_t file = d->is_dir ? NONE : capture_of(l, d);

		if (file != NONE)
			reach_agent(l, d, file);
	}
}

void load_forget_agents(struct load *l)
{
	for (uint32_t i = 0; i < l->reachable.n; i++) {
		free(l->reachable.v[i]->capture);
		free(l->reachable.v[i]);
	}
	vec_release(&l->reachable);
}
