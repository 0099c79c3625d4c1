/* Rate limit of notices, and what the user's command is told. */
#include "watch/notices.h"

#include "base/utf8.h"
#include "json/compose.h"
#include "loop/loop.h"
#include "view/view_parts.h"

#include <limits.h>

enum {
	GAP_MS = 1000,      /* between two notices */
	WORDS_BYTES = 600,  /* longer texts are cut; see write_notice */
	ID_BYTES = 240,
};

void notices_add(struct notices *l, enum notice_event event, uint32_t item, uint32_t n)
{
	l->ring = l->terminal && l->config->notices;
	if (!l->config->notice_command.n)
		return;
	if (!l->n || event >= l->event) {
		l->event = event;
		l->item = item;
	}
	l->n += n;
}

/* A text of an agent, cut to about max bytes. Control characters become blanks, as they might reach a
 * terminal again, and what is not UTF-8 a question mark; bidi and invisible ones are left out. */
static void put_text(struct buf *out, const char *name, struct str s, size_t max)
{
	struct buf clean = { 0 };
	bool none = !s.p;

	for (size_t n; s.n && clean.n < max; s = str_from(s, n)) {
		uint32_t code = 0;

		n = utf8_decode(s, &code);
		if (n == 0)
			buf_addc(&clean, '?'), n = 1;
		else if (code < 0x20 || (code >= 0x7f && code < 0xa0))
			buf_addc(&clean, ' ');
		else if (!is_unseen(code))
			buf_add(&clean, s.p, n);
	}
	if (s.n)
		buf_adds(&clean, "…");
	json_put_str(out, name, none ? STR_NONE : str_make(clean.n ? clean.p : "", clean.n));
	buf_release(&clean);
}

/* A line of JSON of at most PIPE_BUF bytes: in each text at most every byte is escaped by another. */
static void write_notice(const struct notices *l, struct buf *out)
{
	static const char *const events[] = { [ITEM_OPENED] = "opened", [ITEM_NEAR] = "near",
					      [ITEM_EXPIRED] = "expired" };
	const struct scene *s = &l->app->scene;
	const struct model *m = s->model;
	const struct item *item = &m->items.v[l->item];
	struct buf name = { 0 };
	struct item_state st;
	struct detail d = { 0 };
	bool known = item_at(m, item, s->k, scene_clock(s), &st);

	if (!known || !s->reader->detail(s->reader->ctx, item, &st, &d) || !d.title.p)
		d.title = STR("");
	item_name(m, item, &name);
	buf_addc(out, '{');
	json_put_name(out, "event", events[l->event]);
	put_text(out, "id", buf_str(&name), ID_BYTES);
	json_put_name(out, "kind", item_kind_name(item->kind));
	put_text(out, "title", d.title, WORDS_BYTES);
	put_text(out, "session", session_name(m, item_session(m, item)), ID_BYTES);
	put_text(out, "agent", known ? agent_name(m, message_route(m, st.message)->from) : STR_NONE,
		 ID_BYTES);
	json_put_time(out, "deadline", known ? st.deadline_ms : TIME_NONE);
	json_put_number(out, "rest", l->n - 1);
	buf_adds(out, "}\n");
	buf_release(&name);
}
_Static_assert(2 * (WORDS_BYTES + 3 * ID_BYTES) + 512 <= PIPE_BUF, "a notice fits a pipe");

static void send_command(struct notices *l, int64_t now_ms)
{
	struct buf line = { 0 };
	struct err err;

	write_notice(l, &line);
	l->n = 0;
	l->sent = true;
	l->sent_ms = now_ms;
	if (notice_command_start(&l->command, l->config->notice_command.v, buf_str(&line), now_ms,
				 &err) < 0 && !l->failed) {
		l->failed = true;
		l->trouble = err;
	}
	buf_release(&line);
}

/* Says what is wrong with the command, once, unless the message line is in use. */
static void say_trouble(struct notices *l)
{
	const struct app *a = l->app;

	if (!l->trouble.text[0] || a->prompt.kind != PROMPT_NONE ||
	    a->deciding.confirm != CONFIRM_NONE)
		return;
	app_say(l->app, ROLE_WARN, "notices.command %s: %s; check it in the configuration "
				   "(this is said once)",
		l->config->notice_command.v[0], l->trouble.text);
	l->trouble.text[0] = '\0';
}

static bool is_due(bool before, int64_t last_ms, int64_t now_ms)
{
	return !before || now_ms - last_ms >= GAP_MS;
}

void notices_tick(struct notices *l, int64_t now_ms)
{
	struct err err;

	if (l->ring && is_due(l->rung, l->rung_ms, now_ms)) {
		l->ring = false;
		l->rung = true;
		l->rung_ms = now_ms;
		l->terminal(l->config->notices);
	}
	if (notice_command_tick(&l->command, now_ms, &err) < 0 && !l->failed) {
		l->failed = true;
		l->trouble = err;
	}
	if (l->n && !l->command.pid && is_due(l->sent, l->sent_ms, now_ms))
		send_command(l, now_ms);
	say_trouble(l);
}

static int until_due(bool before, int64_t last_ms, int64_t now_ms)
{
	return is_due(before, last_ms, now_ms) ? 0 : (int)(last_ms + GAP_MS - now_ms);
}

int notices_wait_ms(const struct notices *l, int64_t now_ms)
{
	int wait = notice_command_wait_ms(&l->command, now_ms);

	if (l->ring)
		wait = loop_sooner(wait, until_due(l->rung, l->rung_ms, now_ms));
	if (l->n && !l->command.pid)
		wait = loop_sooner(wait, until_due(l->sent, l->sent_ms, now_ms));
	return wait;
}

void notices_release(struct notices *l)
{
	notice_command_end(&l->command);
}
