/* gavel show: prints a view as text, JSON lines or Markdown. */
#include "cmd/cmd.h"
#include "session/find_item.h"
#include "session/load.h"
#include "cmd/print.h"
#include "cmd/show_follow.h"
#include "config/config.h"
#include "cmd/show_json.h"
#include "view/view_parts.h"

#include <stdio.h>

struct shown_view {
	const char *name;
	const struct view_ops *view;
	void (*json)(struct load *l, const struct scene *s, struct buf *out);
};

static void json_one_item(struct load *l, const struct scene *s, struct buf *out)
{
	json_item(l, s, s->item, true, out);
}

static const struct shown_view views[] = {
	{ "inbox", &view_inbox, json_inbox },
	{ "sessions", &view_sessions, json_sessions },
	{ "item", &view_item, json_one_item },
	{ "timeline", &view_timeline, json_timeline },
	{ "ledger", &view_ledger, json_ledger },
	{ "messages", &view_messages, json_messages },
	{ "agents", &view_agents, json_agents },
	{ "decisions", &view_decisions, json_decisions },
	{ "state", NULL, json_state },
	{ "report", NULL, NULL },
	{ "summary", &view_summary, json_summary },
};
enum { VIEWS = sizeof(views) / sizeof(views[0]) };

const char *show_view_name(unsigned i)
{
	return i < VIEWS ? views[i].name : NULL;
}

static void print_view(const struct view_ops *view, const struct scene *s, const struct options *o)
{
	struct printer printer;
	struct lines lines = { 0 };
	uint32_t most = o->rows ? (uint32_t)o->rows : UINT32_MAX, n;
	char more[32];

	printer_open(&printer, o);
	lines.cols = printer.cols;
	view->make(s, printer.cols, &lines);
	n = lines.list.n;
	if (view->heading && n && most) {
		printer_heading(&printer, view, s, &lines);
		most--;
	}
	for (uint32_t i = 0; i < n && i < most; i++) {
		if (i + 1 == most && n > most) {
			snprintf(more, sizeof(more), "… %u more", n - i);
			printer_note(&printer, more);
		} else {
			printer_row(&printer, view, s, &lines, i);
		}
	}
	if (!n && view->empty && most)
		printer_note(&printer, view->empty);
	lines_release(&lines);
	printer_close(&printer);
}

/* "-10m" is so long before the end, "+10m" so long after the first message. */
static bool parse_span_at(const struct model *m, struct str at, int64_t end_ms, int64_t *ms)
{
	int64_t span, from = end_ms;

	if (!at.n || (at.p[0] != '+' && at.p[0] != '-') || end_ms == TIME_NONE ||
	    !timestamp_parse_span(str_from(at, 1), &span))
		return false;
	for (uint32_t i = 0; at.p[0] == '+' && i < m->records.n; i++)
		if (m->records.v[i].time_ms != TIME_NONE) {
			from = m->records.v[i].time_ms;
			break;
		}
	*ms = at.p[0] == '-' ? from - span : from + span;
	return true;
}

/* --at: #N, a time or a span. */
static int set_cursor(struct scene *s, const struct options *o)
{
	const struct model *m = s->model;
	struct str at = str_of(o->at);
	int64_t ms;

	s->k = m->records.n;
	s->now_ms = s->live ? timestamp_now_ms() : model_now(m, s->k);
	if (!o->at)
		return 0;
	if (at.n && at.p[0] == '#') {
		if (!model_cut_named(m, at, &s->k)) {
			say_error("--at=%s: must be #N or #N.R with numbers", o->at);
			return -1;
		}
		s->now_ms = model_now(m, s->k);
		return 0;
	}
	if (!parse_span_at(m, at, s->now_ms, &ms) && !timestamp_parse_loose(at, s->now_ms, &ms)) {
		say_error("--at=%s: must be a time such as 10:15, 2026-01-26T10:15:00Z, a span such "
			  "as -10m, or #N for the first N messages",
			  o->at);
		return -1;
	}
	s->k = model_cut_at(m, ms);
	s->now_ms = s->k ? ms : TIME_NONE;
	return 0;
}

static void print_lines(void *ctx, struct buf *lines)
{
	(void)ctx;
	say_json(buf_str(lines));
	buf_clear(lines);
}

static void print_shown(struct load *l, const struct shown_view *shown, struct scene *s,
			const struct options *o)
{
	struct buf out = { 0 };
	char hex[65];

	if (!shown->json) {
		markdown_report(l, s, &out);
		print_text(&out);
	} else if (o->format == OUTPUT_JSON) {
		shown->json(l, s, &out);
		print_json(&out);
	} else if (shown->view) {
		if (shown->view == &view_item) /* its page says how its loop is doing */
			s->loops = scene_ledger(s);
		print_view(shown->view, s, o);
	} else {
		state_hash(l, s, hex);
		say("%s", hex);
	}
}

static int show(struct options *o, const struct shown_view *shown, const char *item, uint32_t skip)
{
	struct load l = { .json.flush = print_lines };
	struct scene s = { .model = &l.model, .reader = &l.reader, .all = o->all,
			   .desks = &l.desks, .kept = &l.cache.session_stats };
	struct filter *filter = NULL;
	struct config config;
	int code = EXIT_TROUBLE;

	load_read_config(&l, o, &config);
	s.ascii = o->ascii |= config.ascii;
	l.desk_options = (struct desk_options){ .open = true, .journal = o->journal };
	l.follow = o->follow;
	if (load_open(&l, skip ? o->words.v + skip : o->words.v, o->words.n - skip,
		      o->max_line_bytes))
		goto out;
	load_run(&l, NULL, NULL);
	if (l.teams.list.n) {
		s.team = &l.teams.marks;
		s.live = !o->at && load_is_recent(&l, 0); /* what it has open waits now */
	}
	if (set_cursor(&s, o) || load_filter(o, s.now_ms, &filter))
		goto out;
	if (filter)
		filter_set_sources(filter, l.reader.source, l.reader.ctx);
	s.filter = filter;
	code = l.trouble ? EXIT_TROUBLE : EXIT_FINE;
	if (o->against)
		code = show_against(&l, &s, o->against, o->format == OUTPUT_JSON);
	else if (o->follow)
		code = show_follow(&l, shown->view, &s, o);
	else if (item && find_item_named(&s, item, o->rev, &s.item))
		code = EXIT_FOUND;
	else
		print_shown(&l, shown, &s, o);
	if (!o->follow)
		cache_save(&l, false);
out:
	ledger_release(s.loops);
	filter_free(filter);
	load_release(&l);
	config_release(&config);
	return code;
}

int cmd_show(struct options *o)
{
	const char *name = o->words.n ? o->words.v[0] : NULL;

	for (int i = 0; name && i < VIEWS; i++) {
		if (strcmp(views[i].name, name) != 0)
			continue;
		configured_source(o, views[i].view == &view_item ? 2 : 1);
		if ((o->format == OUTPUT_MD && views[i].json) ||
		    (o->format == OUTPUT_JSON && !views[i].json))
			return print_trouble("Markdown is what show report prints, and only that; "
					     "the other views print text or json");
		if (o->against && views[i].view != &view_decisions)
			return print_trouble("--against compares decisions: gavel show decisions "
					     "--against=JOURNAL LOG");
		if (o->follow && show_follow_refuses(views[i].view, o))
			return EXIT_TROUBLE;
		if (views[i].view != &view_item)
			return show(o, &views[i], NULL, 1);
		if (o->words.n < 2)
			return print_trouble("show item needs an id: gavel show item ID SOURCE");
		return show(o, &views[i], o->words.v[1], 2);
	}
	return print_trouble("%s%s; the views are sessions, inbox, item ID, timeline, ledger, "
			     "messages, agents, decisions, summary, report, state",
			     name ? "no view " : "show needs a view", name ? name : "");
}

int show_inbox(struct options *o)
{
	return show(o, &views[0], NULL, 0);
}

int show_demo(struct options *o, const char *source)
{
	struct load l = { .json.flush = print_lines };
	struct scene s = { .model = &l.model, .reader = &l.reader, .ascii = o->ascii };
	int code = EXIT_TROUBLE;

	if (load_open(&l, &source, 1, 0) == 0) {
		load_run(&l, NULL, NULL);
		set_cursor(&s, o);
		print_shown(&l, &views[0], &s, o);
		if (o->format == OUTPUT_TEXT)
			say_own(STR("\n"));
		print_shown(&l, &views[VIEWS - 1], &s, o);
		code = l.trouble ? EXIT_TROUBLE : EXIT_FINE;
	}
	load_release(&l);
	return code;
}
