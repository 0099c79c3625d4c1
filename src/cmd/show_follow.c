/* Printing records as they come. What was printed of a line is remembered by the state it was in;
 * when that is another one, the line is printed again. */
#include "cmd/show_follow.h"

#include "cmd/print.h"
#include "cmd/show_json.h"
#include "loop/loop.h"
#include "view/view_parts.h"

#include <poll.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

enum { TICK_MS = 1000 }; /* deadlines pass and journals are looked at that often */

/* How a line of a list was when it was last printed, or was found not worth printing. */
struct printed {
	struct line line;
	uint64_t state;
};

struct following {
	struct load *load;
	const struct view_ops *view;
	struct scene *s;
	const struct options *o;
	struct paper paper;
	struct buf out;
	VEC(struct printed) printed;
	struct map by_line;
	bool begun, headed;
	VEC(off_t) journals; /* their sizes */
};

bool show_follow_refuses(const struct view_ops *view, const struct options *o)
{
	if (view != &view_messages && view != &view_inbox && view != &view_decisions)
		fprintf(stderr, "gavel: --follow prints records as they come: messages, inbox, "
				"decisions; other views are pictures of a moment\n");
	else if (o->at)
		fprintf(stderr, "gavel: --follow goes on where --at stops; give one of them\n");
	else
		return false;
	return true;
}

/* ---- what is new ---- */

static uint64_t state_of_item(const struct scene *s, uint32_t number)
{
	struct item_state at;

	if (!item_at(s->model, &s->model->items.v[number], s->k, s->now_ms, &at))
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
	struct item_state at;

	if (line->what != DECISION_MADE_HERE)
		return 1;
	d = &s->desks->list.v[line->a];
	draft = &d->drafts.v[line->b];
	if (draft->number != NONE &&
	    item_at(s->model, &s->model->items.v[draft->number], s->k, s->now_ms, &at) &&
	    at.delivery != DELIVERY_NONE && at.overlay_ms == draft->time_ms)
		return hash_mix(draft->state, at.delivery);
	return hash_mix(draft->state, draft_delivery(d, draft));
}

/* At first the inbox is what it always is: the open items. */
static bool is_worth_printing(const struct following *f, const struct line *line)
{
	struct item_state at;

	return f->begun || f->view != &view_inbox || f->o->all ||
	       (item_at(f->s->model, &f->s->model->items.v[line->a], f->s->k, f->s->now_ms, &at) &&
		at.open);
}

/* Whether a line is new or other than it was; remembers how it is. */
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
	return is_worth_printing(f, line);
}

/* ---- printing ---- */

static void print_json(struct following *f, const struct line *line)
{
	if (f->view == &view_inbox)
		json_inbox_item(f->load, f->s, line->a, &f->out);
	else
		json_decision(f->load, f->s, line, &f->out);
}

static void print_row(struct following *f, const struct lines *lines, uint32_t i)
{
	if (!f->headed)
		paper_heading(&f->paper, f->view, f->s, lines);
	f->headed = true;
	paper_row(&f->paper, f->view, f->s, lines, i);
}

static void print_messages(struct following *f)
{
	struct lines lines = { 0 };

	if (f->o->format == OUTPUT_JSON) {
		json_messages(f->load, f->s, &f->out);
	} else {
		f->view->make(f->s, f->paper.cols, &lines);
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

	f->s->all = true;
	f->view->make(f->s, f->paper.cols, &lines);
	for (uint32_t n = 0; n < lines.list.n; n++) {
		uint32_t i = newest_first ? lines.list.n - 1 - n : n;
		struct line line = line_at(&lines, i);

		if (!has_changed(f, &line))
			continue;
		if (f->o->format == OUTPUT_JSON)
			print_json(f, &line);
		else
			print_row(f, &lines, i);
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
	if (f->out.n)
		fwrite(f->out.p, 1, f->out.n, stdout);
	buf_clear(&f->out);
	paper_write(&f->paper);
	fflush(stdout);
}

/* ---- time, journals, the end ---- */

/* The wall clock once some message is of now, as in watch/live.h. */
static void set_now(struct following *f)
{
	struct scene *s = f->s;
	int64_t wall = timestamp_now_ms();

	for (; s->k < s->model->records.n; s->k++)
		if (s->model->records.v[s->k].time_ms > s->now_ms)
			s->now_ms = s->model->records.v[s->k].time_ms;
	if (timestamp_is_recent(s->now_ms) && s->now_ms < wall)
		s->now_ms = wall;
}

static off_t journal_size(const struct desk *d)
{
	struct buf path = { 0 };
	struct stat st;
	off_t size = 0;

	/* a next segment counts as growth, too */
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

/* Reads again the journals in which another gavel has written. */
static void look_at_journals(struct following *f)
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

static bool may_go_on(const struct load *l)
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

static bool is_read(void)
{
	struct pollfd out = { .fd = STDOUT_FILENO };

	return !ferror(stdout) && !(poll(&out, 1, 0) > 0 && out.revents & (POLLERR | POLLNVAL));
}

static void wait_for_more(const struct load *l, int64_t until_ms)
{
	struct pollfd fds[2] = { { .fd = load_fd(l), .events = POLLIN }, { .fd = STDOUT_FILENO } };
	int64_t now = loop_now_ms();
	int wait = load_wait_ms(l, now), tick = until_ms > now ? (int)(until_ms - now) : 0;

	poll(fds, 2, wait < 0 || wait > tick ? tick : wait);
}

int show_follow(struct load *l, const struct view_ops *view, struct scene *s,
		const struct options *o)
{
	struct following f = { .load = l, .view = view, .s = s, .o = o };
	int64_t tick = loop_now_ms() + TICK_MS;
	bool more = true;

	paper_open(&f.paper, o);
	l->json.flush = NULL;
	look_at_journals(&f);
	set_now(&f);
	print_new(&f);
	while (more && is_read()) {
		bool due = loop_now_ms() >= tick;
		uint32_t before = l->model.records.n;

		more = may_go_on(l) || load_wait_ms(l, loop_now_ms()) == 0;
		if (due) {
			tick = loop_now_ms() + TICK_MS;
			if (view != &view_messages)
				look_at_journals(&f);
		}
		load_step(l, loop_now_ms(), NULL, NULL);
		if (l->model.records.n != before || (due && view != &view_messages)) {
			set_now(&f);
			print_new(&f);
		}
		if (more)
			wait_for_more(l, tick);
	}
	paper_close(&f.paper);
	buf_release(&f.out);
	vec_release(&f.printed);
	vec_release(&f.journals);
	map_release(&f.by_line);
	return l->trouble ? EXIT_TROUBLE : EXIT_FINE;
}
