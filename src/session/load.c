/* Loading logs into a model step by step, and reading a message's bytes again for display. */
#include "session/load.h"

#include "loop/loop.h"

#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>

enum {
	AHEAD_MS = 300000,      /* a sender's clock may be ahead of ours by this */
	LIMIT_EVERY_MS = 60000,
};

/* conversation_of, for files that were seen before. */
static inline struct talk *talk_of(struct load *l, uint32_t file)
{
	const struct conversation *c = &l->conversation;

	if (file >= c->by_file.n)
		return conversation_of(l, file);
	return c->by_file.v[file] ? c->talks.v[c->by_file.v[file] - 1] : NULL;
}

/* Lines that the agent was told are a person's in a capture of ours. A head alone proves nothing:
 * elsewhere they are what they would be in a log. */
static enum trust origin_of(const struct wire_file *file, const struct message *m)
{
	if (file->joined || file->said || (m->flags & RECORD_TOLD && file->ours))
		return TRUST_REPLY;
	return m->flags & RECORD_TOLD ? TRUST_LOG : (enum trust)file->trust;
}

void load_apply(struct load_reading *r, struct message *m, const struct frame *frame)
{
	struct load *l = r->l;
	struct talk *talk = talk_of(l, r->file);
	const struct wire_file *file = &l->wire.files.v[r->file];
	struct place place = { .source = r->file, .line = frame->line, .offset = frame->offset };

	place.length = frame->full_length > UINT32_MAX ? UINT32_MAX : (uint32_t)frame->full_length;
	if (!m->session.n)
		m->session = file->session;
	if (m->time_ms == TIME_NONE && r->clock_ms)
		m->time_ms = r->clock_ms;
	place.group = file->group;
	place.trust = origin_of(file, m);
	place.speaker = file->speaker;
	if (talk && !talk->quiet)
		conversation_claim(l, talk, r->file, frame, m, &place);
	if (talk && !talk->quiet && place.trust < TRUST_REPLY)
		conversation_before(l, talk, m);
	if (r->before)
		r->before(r->before_ctx, l, m, r->file);
	model_apply(&l->model, m, &place);
	r->messages++;
	r->truncated |= (frame->flags & FRAME_TRUNCATED) != 0;
	r->binary += (m->flags & RECORD_BINARY) != 0;
	if (r->each)
		r->each(r->ctx, l, m, vec_last(&l->model.records));
	if (talk && talk->quiet && place.trust < TRUST_REPLY)
		conversation_pass(&l->conversation, talk, r->file, frame);
	else if (talk && place.trust < TRUST_REPLY)
		conversation_behind(l, talk, r->file, frame, m);
}

static bool is_run_record(struct str line)
{
	struct str rest = str_from(line, sizeof("\t{\"gavel\":") - 1);

	return str_starts(rest, STR("\"run\"")) || str_starts(rest, STR("\"exit\""));
}

enum capture_line load_capture_line(const struct wire_file *file, struct frame *frame)
{
	enum capture_line line = CAPTURE_SAID;

	if (!file->head.n || !frame->bytes.n || frame->bytes.p[0] != '\t')
		return CAPTURE_BY_AGENT;
	if (str_starts(frame->bytes, STR("\t{\"gavel\":"))) {
		if (!file->stream || !is_run_record(frame->bytes))
			return CAPTURE_NOTE;
		line = CAPTURE_RUN;
	}
	frame->bytes = str_from(frame->bytes, 1);
	frame->offset++;
	frame->full_length--;
	return line;
}

void load_note_clock(const struct wire_file *file, struct str record, int64_t *clock_ms)
{
	ptrdiff_t at = file->stream ? str_find(record, STR("\"t\":"), 0) : -1;
	struct str digits = at < 0 ? STR_NONE : str_from(record, (size_t)at + 4);
	size_t n = 0;
	uint64_t ms;

	while (n < digits.n && digits.p[n] >= '0' && digits.p[n] <= '9')
		n++;
	if (n && str_to_u64(str_make(digits.p, n), &ms) && ms <= INT64_MAX)
		*clock_ms = (int64_t)ms;
}

void load_line_info(const struct wire_file *file, enum capture_line line, struct frame_info *info)
{
	if (file->whole)
		info->file_name = file->base;
	info->reply = file->joined || file->said || (line == CAPTURE_SAID && file->ours);
	info->holder = line == CAPTURE_RUN;
	info->stream = (enum dialect_id)file->stream;
	if (line == CAPTURE_SAID || info->reply)
		info->direction = DIRECTION_OUT;
	else if (file->head.n)
		info->direction = DIRECTION_IN;
}

/* A file that was empty when it was opened shows only now that it is a capture. */
static void note_late_head(struct load *l, uint32_t file, const struct frame *frame)
{
	if (frame->offset || !str_starts(frame->bytes, STR(WIRE_HEAD)) ||
	    l->wire.files.v[file].head.n)
		return;
	l->wire.files.v[file].head = arena_str(&l->wire.arena, str_from(frame->bytes, 1));
	load_note_origin(l, file);
}

void load_frame(void *reading, const struct frame *given)
{
	struct load_reading *r = reading;
	struct load *l = r->l;
	const struct wire_file *file;
	struct frame frame = *given;
	struct frame_info info = { .flags = frame.flags };
	enum capture_line line;

	note_late_head(l, r->file, given);
	talk_of(l, r->file); /* tells whether it was said */
	file = &l->wire.files.v[r->file];
	line = load_capture_line(file, &frame);
	if (line == CAPTURE_NOTE || line == CAPTURE_RUN)
		load_note_clock(file, frame.bytes, &r->clock_ms);
	if (line == CAPTURE_NOTE)
		return;
	info.full_length = frame.full_length;
	info.text = r->text;
	load_line_info(file, line, &info);
	l->decoder.quiet = !l->want_diags;
	dialect_decode(&l->decoder, frame.bytes, &info, &l->message);
	l->message.flags |= capture_line_flags(line);
	load_apply(r, &l->message, &frame);
}

void load_say(struct load *l, struct str sentence)
{
	if (!l->hold) {
		say_error("%.*s", STR_ARG(sentence));
		return;
	}
	add_labelled(l->hold, "gavel: ", sentence, TEXT_LINE);
	buf_addc(l->hold, '\n');
}

void load_warn_binary(struct load_reading *r)
{
	struct buf text = { 0 };

	if (r->binary <= r->messages / 2)
		return;
	buf_add_str(&text, load_source_name(r->l, r->file));
	buf_printf(&text,
		   ": binary? %u of %u lines are no text; compressed logs must be unpacked first",
		   r->binary, r->messages);
	load_say(r->l, buf_str(&text));
	buf_release(&text);
}

static void begin_file(struct load *l, uint32_t file)
{
	const struct cache_file *known = cache_file(l, file);
	struct load_reading *r = &l->reading;

	*r = (struct load_reading){ .l = l, .file = file };
	if (known) {
		r->messages = known->messages;
		r->binary = known->binary;
	}
	l->file = wire_read_begin(&l->wire, file, load_frame, r);
}

static void end_parallel(struct load *l)
{
	if (l->parallel)
		load_workers_end(l->workers);
	l->parallel = false;
	wire_parallel_end(l->file, &l->handover);
}

static void end_file(struct load *l, const struct err *failed)
{
	struct load_reading *r = &l->reading;

	wire_read_end(l->file);
	l->file = NULL;
	if (failed) {
		load_say(l, str_of(failed->text));
		l->trouble = true;
	}
	load_warn_binary(r);
	cache_add_file(l, r, r->lines && !r->truncated && l->wire.files.v[r->file].is_lines);
}

static enum load_state step_file(struct load *l)
{
	struct err err;

	if (l->parallel) {
		if (!load_workers_apply(l->workers))
			end_parallel(l);
		return LOAD_MORE;
	}
	switch (wire_read_step(l->file, &err)) {
	case WIRE_MORE: break;
	case WIRE_WAITS: return LOAD_WAITS;
	case WIRE_LINES:
		if (!wire_parallel_begin(l->file, &l->handover))
			break;
		l->parallel = load_workers_begin(&l->reading, &l->handover);
		if (!l->parallel)
			end_parallel(l);
		break;
	case WIRE_DONE: end_file(l, NULL); break;
	case WIRE_FAILED: end_file(l, &err); break;
	}
	return LOAD_MORE;
}

static enum load_state step_first(struct load *l)
{
	if (!l->order) {
		l->order = load_order(l, &l->order_n);
		cache_open(l);
	}
	if (l->file)
		return step_file(l);
	if (l->order_next < l->order_n) {
		begin_file(l, l->order[l->order_next++]);
		return LOAD_MORE;
	}
	load_workers_stop(l);
	conversation_end(l);
	l->complete = true;
	if (l->follow)
		load_follow_begin(l);
	load_settle(l);
	return LOAD_MORE;
}

static enum load_state step_follow(struct load *l, load_fn each, void *ctx)
{
	int64_t now = loop_now_ms();

	load_follow(l, now, each, ctx);
	return !l->live ? LOAD_ENDED : load_wait_ms(l, now) == 0 ? LOAD_MORE : LOAD_WAITS;
}

bool load_is_recent(const struct load *l, uint32_t first)
{
	const struct model *m = &l->model;
	bool recent = timestamp_is_recent(m->believed.now_ms) ||
		      timestamp_is_recent(m->believed.jump_ms);

	for (uint32_t i = first; i < m->records.n && !recent; i++)
		recent = timestamp_is_recent(m->records.v[i].time_ms);
	return recent;
}

/* As time goes on, later times are believed; by the minute, since that may judge all anew. */
static void set_limit(struct load *l)
{
	int64_t limit = timestamp_now_ms() + AHEAD_MS;

	if (limit - l->model.limit_ms >= LIMIT_EVERY_MS)
		model_set_limit(&l->model, limit);
}

enum load_state load_step(struct load *l, int64_t until_ms, load_fn each, void *ctx)
{
	bool first = !l->complete;
	enum load_state state;

	set_limit(l);
	do {
		l->reading.each = l->conversation.each = each;
		l->reading.ctx = l->conversation.ctx = ctx;
		state = first ? step_first(l) : step_follow(l, each, ctx);
	} while (state == LOAD_MORE && first == !l->complete &&
		 (until_ms == INT64_MAX || loop_now_ms() < until_ms));
	return state;
}

void load_run(struct load *l, load_fn each, void *ctx)
{
	while (!l->complete)
		if (load_step(l, INT64_MAX, each, ctx) == LOAD_WAITS)
			poll(&(struct pollfd){ .fd = load_fd(l), .events = POLLIN }, 1, -1);
}

void load_settle(struct load *l)
{
	conversation_update(l);
	team_settle(l);
	for (uint32_t i = 0; i < l->desks.list.n; i++)
		desk_settle(&l->desks.list.v[i], &l->model);
}

struct str load_source_name(const struct load *l, uint32_t source)
{
	const struct wire_file *f = &l->wire.files.v[source];

	return f->shown.n ? f->shown : f->name;
}

static struct str read_bytes(void *ctx, uint32_t message)
{
	struct load *l = ctx;
	struct err err;

	if (wire_fetch(&l->wire, message_route(&l->model, message)->source,
		       message_offset(&l->model, message), l->model.records.v[message].length,
		       &l->bytes, &err)) {
		buf_clear(&l->bytes);
		buf_printf(&l->bytes, "(cannot be read any more: %s)", err.text);
	}
	return buf_str(&l->bytes);
}

/* What is read of one message is usually read in a row: it is parsed once. */
static void look_at(struct load *l, uint32_t message)
{
	struct str bytes;

	if (l->looked_at == message)
		return;
	l->looked_at = message;
	bytes = read_bytes(l, message);
	dialect_look(&l->again, bytes, (enum dialect_id)message_route(&l->model, message)->dialect);
	if (message_route(&l->model, message)->flags & RECORD_AMBIGUOUS)
		dialect_look_last(&l->again, bytes);
}

static bool read_detail(void *ctx, const struct item *item, const struct item_state *state,
			struct detail *out)
{
	struct load *l = ctx;
	uint32_t subject = item_subject(&l->model, item, state->message);

	look_at(l, state->message);
	if (subject != NONE)
		dialect_look_about(&l->again, read_bytes(l, subject));
	return dialect_detail(&l->again, item->kind, state->index, out);
}

static yyjson_val *read_parsed(void *ctx, uint32_t message)
{
	struct load *l = ctx;

	if (message_route(&l->model, message)->flags & RECORD_OVERSIZE)
		return NULL;
	look_at(l, message);
	return l->again.looked;
}

/* NULL: it is not kept. */
static struct summary_kept *summary_slot(struct load *l, uint32_t message)
{
	return l->model.records.v[message].length < SUMMARY_KEPT_FROM
		       ? NULL
		       : &l->summaries[message % SUMMARIES_KEPT];
}

static struct str read_summary(void *ctx, uint32_t message)
{
	struct load *l = ctx;
	const struct route *route = message_route(&l->model, message);
	struct summary_kept *kept = summary_slot(l, message);

	if (kept && kept->of == message + 1)
		return buf_str(&kept->text);
	buf_clear(&l->text);
	if (route->flags & RECORD_OVERSIZE)
		buf_printf(&l->text, "oversize, %u bytes", l->model.records.v[message].length);
	else if (route->dialect != DIALECT_TEXT)
		look_at(l, message);
	if (!l->text.n && (route->dialect == DIALECT_TEXT || !dialect_summary(&l->again, &l->text)))
		buf_add_str(&l->text, str_trim(read_bytes(l, message)));
	if (kept && l->text.n <= SUMMARY_KEPT_MAX) {
		kept->of = message + 1;
		buf_clear(&kept->text);
		buf_add_str(&kept->text, buf_str(&l->text));
	}
	return buf_str(&l->text);
}

static struct str read_source(void *ctx, uint32_t message)
{
	struct load *l = ctx;

	return load_source_name(l, message_route(&l->model, message)->source);
}

static const struct diags *read_diags(void *ctx, uint32_t message)
{
	struct load *l = ctx;
	const struct route *route = message_route(&l->model, message);
	const struct wire_file *file = &l->wire.files.v[route->source];
	struct frame_info info = { .flags = route->flags & (RECORD_TRUNCATED | RECORD_OVERSIZE),
				   .full_length = l->model.records.v[message].length,
				   .text = route->dialect == DIALECT_TEXT };
	struct diag_store_walk w;

	load_line_info(file,
		       route->flags & RECORD_HOLDER ? CAPTURE_RUN
		       : route->flags & RECORD_TOLD ? CAPTURE_SAID
						    : CAPTURE_BY_AGENT,
		       &info);
	info.reply = (route->flags & RECORD_REPLY) != 0;
	if (l->checked == message && l->checked_of == l->model.records.n)
		return &l->again_message.diags;
	l->checked = message;
	l->checked_of = l->model.records.n;
	dialect_decode(&l->checker, read_bytes(l, message), &info, &l->again_message);
	diag_store_start(&w, &l->model, message);
	while (diag_store_next(&w) && w.message == message) {
		diag_store_read(&w);
		diag_add(&l->again_message.diags, w.severity, w.rule, w.pointer, "%.*s",
			 STR_ARG(w.text));
	}
	return &l->again_message.diags;
}

/* group: lasts as long as the load; empty = the source as given. */
static struct desk open_desk(struct load *l, const char *source, struct str group)
{
	struct desk d = { .group = group, .sole_writer = l->desk_options.sole_writer, .idle = l->desk_options.idle,
			  .reader = &l->reader, .anchor = conversation_anchor,
			  .anchor_ctx = l, .locks = &l->locks };
	struct buf base = { 0 };

	desk_base(l->desk_options.journal, &base);
	desk_open(&d, base.p, source, l->desk_options.write);
	buf_release(&base);
	return d;
}

void load_reopen_desk(struct load *l, uint32_t number)
{
	struct desk *d = &l->desks.list.v[number];
	struct desk again = d->agent ? open_desk(l, d->source.p, d->group)
				     : open_desk(l, d->group.p, STR_NONE);

	/* remove all overlays, some may be undone; load_settle adds the others again */
	for (uint32_t i = 0; i < d->drafts.n; i++)
		if (d->drafts.v[i].number != NONE)
			model_overlay(&l->model, &(struct overlay){ .item = d->drafts.v[i].number,
								   .delivery = DELIVERY_NONE });
	again.agent = d->agent;
	desk_close(d);
	*d = again;
	conversation_rebind(l, number);
}

void load_say_copy(struct load *l, const struct desk *d)
{
	struct buf line = { 0 };

	if (!d->notice.n)
		return;
	buf_printf(&line, "%.*s: %.*s", STR_ARG(d->group), STR_ARG(d->notice));
	load_say(l, buf_str(&line));
	buf_release(&line);
}

/* One per group, also for a followed directory that has no file yet. */
static void open_desks(struct load *l)
{
	struct str last = STR_NONE;

	for (uint32_t i = 0; i < l->wire.files.n; i++) {
		struct str group = l->wire.files.v[i].group;
		bool is_stdin = str_is(l->wire.files.v[i].name, "-");

		if (str_eq(group, last) || desks_find(&l->desks, group))
			continue;
		last = group;
		/* a journal of standard input is of some other stream */
		if (is_stdin && !l->desk_options.write)
			continue;
		vec_push(&l->desks.list, open_desk(l, is_stdin ? "-" : group.p, STR_NONE));
	}
	for (uint32_t i = 0; l->follow && i < l->wire.dirs.n; i++)
		if (!desks_find(&l->desks, str_of(l->wire.dirs.v[i].name)))
			vec_push(&l->desks.list,
				 open_desk(l, l->wire.dirs.v[i].name, STR_NONE));
	for (uint32_t i = 0; i < l->desks.list.n && !l->desk_options.write; i++) {
		if (l->desks.list.v[i].trouble != JOURNAL_FINE)
			load_say(l, str_of(l->desks.list.v[i].why.text));
		load_say_copy(l, &l->desks.list.v[i]);
	}
}

static bool read_search_step(void *ctx, struct search_progress *h)
{
	struct load *l = ctx;

	l->looked_at = NONE;
	l->search.alone = l->threads == 1;
	return search_step(&l->search, &l->model, &l->wire, &l->reader, h);
}

void load_configure(struct load *l, const struct options *o, const struct config *c)
{
	l->config = c;
	l->threads = o->threads;
	l->reply = o->reply;
	l->cache.use = !o->no_cache && c->cache_mb;
	l->cache.max_mb = c->cache_mb;
}

void load_read_config(struct load *l, const struct options *o, struct config *c)
{
	config_load(c, o->config);
	for (uint32_t i = 0; i < c->problems.n; i++)
		load_say(l, str_of(c->problems.v[i]));
	load_configure(l, o, c);
}

void load_init(struct load *l, size_t max_line_bytes)
{
	model_init_in(&l->model, heap_new(cache_heap(&l->cache)));
	model_set_limit(&l->model, timestamp_now_ms() + AHEAD_MS);
	l->looked_at = l->checked = NONE;
	l->complete = true; /* nothing to do for load_step */
	l->reader = (struct reader){ l, read_detail, read_summary, read_bytes, read_diags,
				     read_source, read_search_step, read_parsed };
	l->wire.max_bytes = max_line_bytes;
	if (!l->config)
		return;
	if (!max_line_bytes)
		l->wire.max_bytes = l->config->max_line_bytes;
	l->model.approve_from = l->config->approve;
	l->model.human_from = l->config->human;
}

struct desk *load_add_desk(struct load *l, struct str group, const char *source)
{
	struct desk *d = desks_find(&l->desks, group);

	if (d || !(l->desk_options.open || l->desk_options.write))
		return d;
	vec_push(&l->desks.list, open_desk(l, source, group));
	return vec_last(&l->desks.list);
}

int load_open(struct load *l, const char *const *sources, uint32_t n, size_t max_line_bytes)
{
	struct err err;

	load_init(l, max_line_bytes);
	l->complete = false;
	l->wire.follow = l->follow;
	for (uint32_t i = 0; i < (n ? n : 1); i++)
		if (n && team_is_address(sources[i]) ? team_add(l, sources[i], &err)
						     : wire_add(&l->wire, n ? sources[i] : "-", &err)) {
			load_say(l, str_of(err.text));
			l->trouble = true;
		}
	for (uint32_t i = 0; i < l->wire.warnings.n; i++)
		load_say(l, l->wire.warnings.v[i]);
	load_note_origins(l, 0, l->wire.files.n);
	load_detect_replies(l);
	if (l->desk_options.open || l->desk_options.write) {
		open_desks(l);
		load_reach_agents(l);
		team_open_desks(l);
	}
	if (team_wait(l, &err)) {
		load_say(l, str_of(err.text));
		return -1;
	}
	if (conversation_open(l))
		return -1;
	return l->wire.files.n || (l->follow && l->wire.dirs.n) ? 0 : -1;
}

/* So that the error names the option, not the filter that is made of it. */
static bool is_bad_time(const char *option, const char *value, int64_t day)
{
	int64_t ms;

	if (!value || timestamp_parse_loose(str_of(value), day, &ms))
		return false;
	say_error("--%s=%s: not a time; give 10:15, 2026-01-26, 2026-01-26T10:15Z or ms since 1970",
		  option, value);
	return true;
}

int load_filter(const struct options *o, int64_t day, struct filter **out)
{
	struct buf text = { 0 };
	struct err err;

	*out = NULL;
	if (!o->filter && !o->since && !o->until)
		return 0;
	if (is_bad_time("since", o->since, day) || is_bad_time("until", o->until, day))
		return -1;
	if (o->filter)
		buf_adds(&text, o->filter);
	if (o->since)
		buf_printf(&text, " after:\"%s\"", o->since);
	if (o->until)
		buf_printf(&text, " before:\"%s\"", o->until);
	*out = filter_new(buf_str(&text), day, &err);
	buf_release(&text);
	if (!*out)
		say_error("%s", err.text);
	return *out ? 0 : -1;
}

void load_release(struct load *l)
{
	file_locks_release(&l->locks);
	team_release(l);
	for (uint32_t i = 0; i < l->desks.list.n; i++)
		desk_close(&l->desks.list.v[i]);
	vec_release(&l->desks.list);
	load_forget_agents(l);
	if (l->parallel)
		end_parallel(l);
	load_workers_stop(l);
	wire_read_end(l->file);
	free(l->order);
	vec_release(&l->readings);
	free(l->spooling.wanted);
	cache_release(&l->cache);
	follow_free(l->live);
	wire_release(&l->wire);
	model_release(&l->model);
	decoder_release(&l->decoder);
	decoder_release(&l->again);
	decoder_release(&l->checker);
	message_release(&l->message);
	message_release(&l->again_message);
	conversation_release(&l->conversation);
	buf_release(&l->bytes);
	buf_release(&l->text);
	for (unsigned i = 0; i < SUMMARIES_KEPT; i++)
		buf_release(&l->summaries[i].text);
	search_release(&l->search);
}
