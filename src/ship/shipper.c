/* The life of a shipper: its sources in the store, and the order of its parts. */
#include "ship/ship_internal.h"

#include "model/filter.h"

#include <stdlib.h>
#include <unistd.h>

enum { REMIND_MS = 3000 }; /* a connection that is lost for so long is told */

void shipper_say(struct shipper *s, const char *format, ...)
{
	struct buf line = { 0 };
	va_list ap;

	va_start(ap, format);
	buf_vprintf(&line, format, ap);
	va_end(ap);
	if (s->settings.said)
		s->settings.said(s->settings.ctx, buf_str(&line));
	buf_release(&line);
}

static void learn_refusal(void *ctx, const struct store_answer *a)
{
	if (!a->rows)
		shipper_say(ctx, "the store refuses: %.*s", STR_ARG(a->why));
}

void shipper_tell(struct shipper *s, const struct store_request *r)
{
	struct store_request request = *r;

	request.answered = learn_refusal;
	request.ctx = s;
	store_ask(s->store, &request);
}

void shipper_source_name(const struct shipper *s, const struct desk *desk, struct buf *out)
{
	const char *name = s->settings.options->as_source;

	if (name)
		buf_adds(out, name);
	else
		buf_printf(out, "%s:%.*s", s->host, STR_ARG(desk->source));
}

void ship_source_list(const struct shipper *s, struct buf *out)
{
	buf_addc(out, '{');
	for (uint32_t i = 0; i < s->sources.n; i++)
		if (s->sources.v[i]->id)
			buf_printf(out, "%s%lld", out->n > 1 ? "," : "", (long long)s->sources.v[i]->id);
	buf_addc(out, '}');
}

static void learn_source(void *ctx, const struct store_answer *a)
{
	struct shipped_source *source = ctx;

	if (a->rows) {
		source->id = store_int(a->rows, 0, 0);
		if (source->refused)
			source->s->compared = false; /* nobody has looked what it has open there */
		source->retry_ms = 0;
		source->refused = false;
		return;
	}
	shipper_say(source->s, "%.*s: its items are not shipped%s: %.*s",
		    STR_ARG(source->s->load->desks.list.v[source->desk].group), a->unsettled ? " yet" : "",
		    STR_ARG(a->why));
	source->retry_ms = loop_now_ms() + (a->unsettled ? SHIP_RETRY_MS : SHIP_REFUSED_MS);
	source->refused = !a->unsettled;
}

static void ask_source(struct shipped_source *source)
{
	struct shipper *s = source->s;
	struct store_request r = { .sql = "select id from gavel.ship_open($1, null, 0, 0)", .n = 1,
				   .answered = learn_source, .ctx = source };
	struct buf name = { 0 };

	shipper_source_name(s, &s->load->desks.list.v[source->desk], &name);
	r.values[0] = store_text(buf_str(&name));
	store_ask(s->store, &r);
	buf_release(&name);
}

static void open_sources(struct shipper *s, int64_t now_ms)
{
	for (uint32_t i = s->sources.n; i < s->load->desks.list.n; i++) {
		struct shipped_source *source = xcalloc(1, sizeof(*source));

		source->s = s;
		source->desk = i;
		ask_source(source);
		vec_push(&s->sources, source);
	}
	for (uint32_t i = 0; i < s->sources.n; i++) {
		struct shipped_source *source = s->sources.v[i];

		if (!source->retry_ms || now_ms < source->retry_ms)
			continue;
		source->retry_ms = now_ms + SHIP_REFUSED_MS;
		ask_source(source);
	}
}

/* A source that is refused does not keep the others. */
static bool sources_are_known(const struct shipper *s)
{
	for (uint32_t i = 0; i < s->sources.n; i++)
		if (!s->sources.v[i]->id && !s->sources.v[i]->refused)
			return false;
	return s->sources.n;
}

/* There is a connection again, perhaps to a standby that knows less than was acknowledged. */
static void on_ready(void *ctx)
{
	struct shipper *s = ctx;
	struct store_status status;

	store_status(s->store, &status);
	s->failure.text[0] = '\0'; /* the server may be another one */
	if (status.schema > STORE_SCHEMA)
		err_set(&s->failure, "%s: the store has version %d, this gavel knows %d: nothing is shipped; use "
				     "a newer gavel", s->settings.url->group, status.schema, STORE_SCHEMA);
	else if (status.schema != STORE_SCHEMA)
		err_set(&s->failure, "%s: there is no store for %s in this database: its owner makes one with "
				     "gavel team init, and grants gavel_agent to this login",
			s->settings.url->group, status.login);
	if (status.connections > 1) {
		shipper_say(s, "%s: connected again", s->settings.url->group);
		s->fresh = true;
	}
}

struct shipper *shipper_open(struct load *l, const struct shipper_settings *settings, struct err *err)
{
	struct shipper *s = xcalloc(1, sizeof(*s));
	struct store_ops ops = { .ready = on_ready, .ctx = s };

	s->load = l;
	s->settings = *settings;
	if (gethostname(s->host, sizeof(s->host) - 1) < 0)
		str_copy(s->host, STR("localhost"));
	s->store = store_open(settings->url, &ops, err);
	if (!s->store) {
		free(s);
		return NULL;
	}
	return s;
}

void shipper_close(struct shipper *s)
{
	if (!s)
		return;
	store_close(s->store);
	for (uint32_t i = 0; i < s->sources.n; i++)
		free(s->sources.v[i]);
	for (uint32_t i = 0; i < s->files.n; i++)
		free(s->files.v[i]);
	for (uint32_t i = 0; i < s->items.n; i++)
		free(s->items.v[i]);
	vec_release(&s->sources);
	vec_release(&s->files);
	vec_release(&s->items);
	vec_release(&s->box);
	vec_release(&s->unacknowledged);
	free(s->by_id.slots);
	arena_release(&s->box_words);
	buf_release(&s->room);
	free(s);
}

struct loop_fd shipper_fd(const struct shipper *s)
{
	return store_fd(s->store);
}

int shipper_wait_ms(const struct shipper *s, int64_t now_ms)
{
	int wait = loop_sooner(store_wait_ms(s->store, now_ms), ship_lines_wait_ms(s, now_ms));
	struct store_status status;

	/* What was refused is asked again, and an answer that came at the end of a step is looked at in the
	 * next one: nothing else wakes the loop for these. */
	store_status(s->store, &status);
	if (status.state == STORE_READY)
		wait = loop_sooner(wait, SHIP_ROUND_MAX_MS);
	if (!s->load->complete || !sources_are_known(s))
		return wait;
	if ((!s->round_done && !s->item_waits) || s->box_full)
		return 0;
	if (s->messages != s->load->model.records.n)
		wait = loop_sooner(wait, SHIP_ROUND_MIN_MS);
	if (s->compared && !s->box_asked)
		wait = loop_sooner(wait, s->box_ms > now_ms ? (int)(s->box_ms - now_ms) : 0);
	return wait;
}

static void recover(struct shipper *s)
{
	for (uint32_t i = 0; i < s->load->desks.list.n; i++) {
		struct err err = { { 0 } };

		desk_recover(&s->load->desks.list.v[i], true, &err);
		if (err.text[0])
			shipper_say(s, "%s", err.text);
	}
	load_settle(s->load);
	s->recovered = true;
}

void shipper_step(struct shipper *s, int64_t now_ms)
{
	store_step(s->store, now_ms);
	if (!s->load->complete || s->failure.text[0])
		return;
	if (!s->recovered)
		recover(s);
	s->live = s->live || load_is_recent(s->load, s->messages);
	open_sources(s, now_ms);
	if (s->fresh) {
		s->fresh = false;
		ship_lines_again(s);
		ship_items_again(s);
	}
	ship_lines_step(s, now_ms);
	if (!sources_are_known(s))
		return;
	ship_items_step(s, now_ms);
	ship_outbox_step(s, now_ms);
	store_step(s->store, loop_now_ms()); /* what was just asked leaves at once */
}

bool shipper_is_idle(const struct shipper *s)
{
	struct store_status status;

	store_status(s->store, &status);
	return s->load->complete && s->round_done && s->messages == s->load->model.records.n &&
	       s->compared && s->box_done && !s->box_full && !status.queued &&
	       ship_lines_are_done(s);
}

void shipper_look_again(struct shipper *s)
{
	s->box_done = s->round_done = false;
	s->scanned = 0;
	s->box_ms = 0;
	s->box_old = s->box_asked;
}

bool shipper_has_lost(struct shipper *s, int64_t now_ms, struct buf *why)
{
	struct store_status status;

	store_status(s->store, &status);
	if (status.state == STORE_READY)
		s->told_lost = false;
	if (status.state != STORE_LOST || s->told_lost ||
	    (status.connections && now_ms - status.since_ms <= REMIND_MS && !status.why[0]))
		return false;
	s->told_lost = true;
	buf_printf(why, "no connection to %s: %s; what is to be shipped waits", s->settings.url->group,
		   status.why);
	return true;
}

const char *shipper_failure(const struct shipper *s)
{
	return s->failure.text[0] ? s->failure.text : NULL;
}

bool shipper_is_incomplete(const struct shipper *s)
{
	for (uint32_t i = 0; i < s->sources.n; i++)
		if (s->sources.v[i]->refused)
			return true;
	for (uint32_t i = 0; i < s->files.n; i++)
		if (s->files.v[i]->refused)
			return true;
	return false;
}

void shipper_status(const struct shipper *s, struct store_status *out)
{
	store_status(s->store, out);
}
