/* Prints records as they arrive. A line of inbox or decisions is printed again when the hash of its
 * state has changed. */
#include "cmd/show_follow.h"

#include "cmd/print.h"
#include "cmd/show_json.h"
#include "loop/loop.h"
#include "view/view_parts.h"

#include <poll.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

enum { TICK_MS = 1000 }; /* deadlines and journals are checked that often */

/* The state of a line when it was last printed or skipped. */
struct printed {
	struct line line;
	uint64_t state;
};

struct following {
	struct load *load;
	const struct view_ops *view;
	struct scene *s;
	const struct options *o;
	struct printer printer;
	struct buf out;
	VEC(struct printed) printed;
	struct map by_line;
	bool begun, headed;
	VEC(off_t) journals; /* their sizes */
};

bool show_follow_refuses(const struct view_ops *view, const struct options *o)
{
	if (view != &view_messages && view != &view_inbox && view != &view_decisions)
		say_error("--follow works with messages, inbox and decisions only");
	else if (o->at)
		say_error("--follow and --at exclude each other; give one of them");
	else
		return false;
	return true;
}

/* ---- changes ---- */

static uint64_t state_of_item(const struct scene *s, uint32_t number)
{
	struct item_state at;

	if (!item_at(s->model, &s->model->items.v[number], s->k, scene_clock(s), &at))
		return 0;
	return hash_mix(hash_mix(at.verdict, (uint64_t)at.delivery << 8 | at.open),
			hash_mix(hash_mix(at.message, at.iteration),
				 (uint64_t)at.revision << 32 | (unsigned)at.times << 4 |
					 (unsigned)at.came_back << 3 | (unsigned)at.bounced << 2 |
					 (unsigned)at.acked << 1 | at.undecidable));
}

static uint64_t state_of_decision(const struct scene *s, const struct line *line)
{
	const struct desk *d;
	const struct draft *draft;

	if (line->what != DECISION_MADE_HERE)
		return 1;
	d = &s->desks->list.v[line->a];
	draft = &d->drafts.v[line->b];
	return hash_mix(draft->state, draft_delivery(d, draft, s->model));
}

/* The first time the inbox is only the open items, as without --follow. */
static bool is_wanted(const struct following *f, const struct line *line)
{
	struct item_state at;

	return f->begun || f->view != &view_inbox || f->o->all ||
	       (item_at(f->s->model, &f->s->model->items.v[line->a], f->s->k, scene_clock(f->s),
			&at) &&
		at.open);
}

/* Whether a line is new or has changed; remembers its state. */
static bool has_changed(struct following *f, const struct line *line)
{
	uint64_t state = f->view == &view_inbox ? state_of_item(f->s, line->a)
						: state_of_decision(f->s, line);
	uint64_t hash = hash_mix(line->what, hash_mix(line->a, line->b));
	struct printed *p;

	for (uint32_t it = 0, v; map_next(&f->by_line, hash, &it, &v);) {
		p = &f->printed.v[v];
		if (p->line.what != line->what || p->line.a != line->a || p->line.b != line->b)
			continue;
		if (p->state == state)
			return false;
		p->state = state;
		return true;
	}
	map_add(&f->by_line, hash, f->printed.n);
	vec_push(&f->printed, (struct printed){ *line, state });
	return is_wanted(f, line);
}

/* ---- printing ---- */

static void print_row(struct following *f, const struct lines *lines, uint32_t i)
{
	if (!f->headed)
		printer_heading(&f->printer, f->view, f->s, lines);
	f->headed = true;
	printer_row(&f->printer, f->view, f->s, lines, i);
}

static void print_messages(struct following *f)
{
	struct lines lines = { 0 };

	if (f->o->format == OUTPUT_JSON) {
		json_messages(f->load, f->s, &f->out);
	} else {
		f->view->make(f->s, f->printer.cols, &lines);
		for (uint32_t i = 0; i < lines.list.n; i++)
			print_row(f, &lines, i);
		lines_release(&lines);
	}
	f->s->first = f->s->k;
}

static void print_changes(struct following *f)
{
	bool newest_first = f->view == &view_decisions;
	struct lines lines = { 0 };

	f->s->all = f->s->plain_order = true;
	f->view->make(f->s, f->printer.cols, &lines);
	for (uint32_t n = 0; n < lines.list.n; n++) {
		uint32_t i = newest_first ? lines.list.n - 1 - n : n;
		struct line line = line_at(&lines, i);

		if (!has_changed(f, &line))
			continue;
		if (f->o->format != OUTPUT_JSON)
			print_row(f, &lines, i);
		else if (f->view == &view_inbox)
			json_item(f->load, f->s, line.a, false, &f->out);
		else
			json_decision(f->load, f->s, &line, &f->out);
	}
	lines_release(&lines);
}

static void print_new(struct following *f)
{
	if (f->view == &view_messages)
		print_messages(f);
	else
		print_changes(f);
	f->begun = true;
	print_json(&f->out);
	printer_write(&f->printer);
	fflush(stdout);
}

/* ---- the loop ---- */

/* The wall clock once a message is recent, as in watch/live.h. */
static void set_now(struct following *f)
{
	struct scene *s = f->s;

	s->live = s->live || load_is_recent(f->load, f->begun ? s->k : s->model->records.n);
	s->k = s->model->records.n;
	s->now_ms = s->live ? timestamp_now_ms() : model_now(s->model, s->k);
}

static off_t journal_size(const struct desk *d)
{
	struct buf path = { 0 };
	struct stat st;
	off_t size = 0;

	/* a rotation to the next segment counts, too */
	for (unsigned i = 0; d->dir && i < 2; i++) {
		buf_clear(&path);
		buf_printf(&path, "%s/journal-%06u", d->dir,
			   (d->journal.segment ? d->journal.segment : 1) + i);
		if (stat(path.p, &st) == 0)
			size += st.st_size;
	}
	buf_release(&path);
	return size;
}

/* Reopens journals that another process has written to. */
static void check_journals(struct following *f)
{
	bool any = false;

	for (uint32_t i = 0; i < f->load->desks.list.n; i++) {
		off_t size = journal_size(&f->load->desks.list.v[i]);

		if (f->journals.n <= i)
			vec_push(&f->journals, size);
		else if (f->journals.v[i] != size) {
			load_reopen_desk(f->load, i);
			f->journals.v[i] = size;
			any = true;
		}
	}
	if (any)
		load_settle(f->load);
}

static bool may_continue(const struct load *l)
{
	struct follow_status status;

	if (l->wire.dirs.n)
		return true;
	for (uint32_t i = 0; i < follow_count(l->live); i++) {
		follow_status(l->live, i, &status);
		if (status.health != FOLLOW_ENDED)
			return true;
	}
	return false;
}

static bool stdout_is_open(void)
{
	struct pollfd out = { .fd = STDOUT_FILENO };

	return !ferror(stdout) && !(poll(&out, 1, 0) > 0 && out.revents & (POLLERR | POLLNVAL));
}

static void wait_for_more(const struct load *l, int64_t until_ms)
{
	struct pollfd fds[2 + LOOP_OTHERS_MAX] = { { .fd = load_fd(l), .events = POLLIN },
						   { .fd = STDOUT_FILENO } };
	struct loop_fd stores[LOOP_OTHERS_MAX];
	unsigned n = team_fds(l, stores, LOOP_OTHERS_MAX);
	int64_t now = loop_now_ms();
	int wait = loop_sooner(load_wait_ms(l, now), team_wait_ms(l, now));
	int tick = until_ms > now ? (int)(until_ms - now) : 0;

	for (unsigned i = 0; i < n; i++)
		fds[2 + i] = (struct pollfd){ stores[i].fd,
					      (short)(POLLIN | (stores[i].output ? POLLOUT : 0)), 0 };
	poll(fds, 2 + n, wait < 0 || wait > tick ? tick : wait);
}

int show_follow(struct load *l, const struct view_ops *view, struct scene *s,
		const struct options *o)
{
	struct following f = { .load = l, .view = view, .s = s, .o = o };
	int64_t tick = loop_now_ms() + TICK_MS;
	bool more = true;

	printer_open(&f.printer, o);
	l->json.flush = NULL;
	check_journals(&f);
	set_now(&f);
	print_new(&f);
	while (more && stdout_is_open()) {
		bool due = loop_now_ms() >= tick;
		uint32_t before = l->model.records.n;

		more = may_continue(l) || load_wait_ms(l, loop_now_ms()) == 0;
		if (due) {
			tick = loop_now_ms() + TICK_MS;
			if (view != &view_messages)
				check_journals(&f);
		}
		team_step(l, loop_now_ms());
		load_step(l, loop_now_ms(), NULL, NULL);
		if (l->model.records.n != before || (due && view != &view_messages)) {
			set_now(&f);
			print_new(&f);
		}
		if (more)
			wait_for_more(l, tick);
	}
	printer_close(&f.printer);
	vec_release(&f.printed);
	vec_release(&f.journals);
	map_release(&f.by_line);
	return l->trouble ? EXIT_TROUBLE : EXIT_FINE;
}
