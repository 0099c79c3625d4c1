/* Turns of a review: command line, progress, result, status line, failure message. */
#include "agents/turn.h"

#include "json/compose.h"

#include <ctype.h>
#include <stdio.h>

enum { WORDS_MAX = 400 }; /* bytes of quoted text */

/* ---- command line ---- */

#define PLACEHOLDER STR("{session}")

bool turn_session_is_safe(struct str id)
{
	for (size_t i = 0; i < id.n; i++)
		if (!isalnum((unsigned char)id.p[i]) && !memchr("._:-", id.p[i], 4))
			return false;
	return id.n && id.n <= TURN_SESSION_MAX && id.p[0] != '-';
}

static bool is_option(const char *word)
{
	return word[0] == '-' && word[1] && strcmp(word, "--") != 0;
}

static const char *put_session(struct arena *arena, const char *word, struct str session)
{
	struct buf out = { 0 };
	struct str rest = str_of(word);
	const char *kept;
	ptrdiff_t at;

	while ((at = str_find(rest, PLACEHOLDER, 0)) >= 0) {
		buf_add(&out, rest.p, (size_t)at);
		buf_add_str(&out, session);
		rest = str_from(rest, (size_t)at + PLACEHOLDER.n);
	}
	buf_add_str(&out, rest);
	kept = arena_str(arena, buf_str(&out)).p;
	buf_release(&out);
	return kept;
}

const char **turn_command(struct arena *arena, const char *const *command, struct str session)
{
	const char **out;
	uint32_t n = 0;

	while (command[n])
		n++;
	out = arena_alloc(arena, (n + 1) * sizeof(*out));
	n = 0;
	for (uint32_t i = 0; command[i]; i++) {
		const char *word = command[i];

		if (str_find(str_of(word), PLACEHOLDER, 0) < 0 || i == 0)
			out[n++] = word;
		else if (session.n)
			out[n++] = put_session(arena, word, session);
		else if (!is_option(word) && n > 1 && out[n - 1] == command[i - 1] &&
			 is_option(out[n - 1]) && !strchr(out[n - 1], '='))
			n--;
	}
	out[n] = NULL;
	return out;
}

/* ---- progress ---- */

void turn_release(struct turn *t)
{
	buf_release(&t->last);
	buf_release(&t->error);
	buf_release(&t->why);
}

void turn_begin(struct turn *t, enum dialect_id dialect, int64_t iteration, uint32_t messages,
		int64_t now_ms)
{
	struct turn fresh = { .dialect = dialect, .state = TURN_RUNS, .iteration = iteration,
			      .first = messages, .seen = messages, .began_ms = now_ms,
			      .heard_ms = now_ms };

	memcpy(fresh.session, t->session, sizeof(fresh.session));
	turn_release(t);
	*t = fresh;
}

static void take_session(struct turn *t, struct str id)
{
	t->unsafe = !turn_session_is_safe(id);
	if (!t->unsafe)
		snprintf(t->session, sizeof(t->session), "%.*s", STR_ARG(id));
}

/* Sets `to` to "KIND: " and the first line of the text, shortened. */
static void copy_first_line(struct buf *to, struct str kind, struct str words)
{
	size_t n = 0;

	words = str_trim(words);
	while (n < words.n && n < WORDS_MAX && words.p[n] != '\n')
		n++;
	while (n && n < words.n && ((unsigned char)words.p[n] & 0xc0) == 0x80)
		n--; /* not within a UTF-8 sequence */
	buf_clear(to);
	buf_add_str(to, kind);
	if (kind.n && n)
		buf_adds(to, ": ");
	buf_add(to, words.p, n);
	if (n < words.n)
		buf_adds(to, "…");
}

static void take_answer(struct turn *t, const struct model *m, uint32_t session)
{
	struct turn_state loop;

	t->answers++;
	if (t->dialect != DIALECT_FEEDBACK)
		return;
	feedback_turn(m, session, &loop);
	t->echoed = loop.answered;
	t->refused = loop.failed;
}

static void take_wrapper(struct turn *t, struct str kind, struct str summary)
{
	t->steps += str_is(kind, "step_start");
	t->tools += str_is(kind, "tool_use");
	if (str_is(kind, "error"))
		copy_first_line(&t->error, STR_NONE, summary);
	if (!str_is(kind, "step_start") && !str_is(kind, "step_finish"))
		copy_first_line(&t->last, str_is(kind, "text") ? STR_NONE : kind, summary);
}

static void take_message(struct turn *t, const struct model *m, const struct reader *r,
			 uint32_t message)
{
	const struct record *record = &m->records.v[message];
	struct str kind = model_kind(m, record);
	const struct route *route = route_of(m, record);
	struct str id = session_name(m, route->session);
	bool feedback = route->dialect == DIALECT_FEEDBACK;

	t->cut = (route->flags & RECORD_TRUNCATED) != 0;
	if (feedback && !str_eq(id, model_str(m, m->sessions.v[route->session].group)))
		take_session(t, id);
	if (route->dialect == t->dialect &&
	    (str_is(kind, "response") || str_is(kind, "output")))
		take_answer(t, m, route->session);
	else if (route->dialect == t->dialect &&
		 (str_is(kind, "request") || str_is(kind, "input")))
		return;
	take_wrapper(t, feedback ? kind : STR_NONE, r->summary(r->ctx, message));
}

static void add_usage(struct turn *t, const struct model *m)
{
	t->tokens = 0;
	t->cost = 0;
	for (uint32_t i = m->usage.n; i-- > 0 && m->usage.v[i].message >= t->first;) {
		const struct usage *u = &m->usage.v[i];

		t->tokens += u->tokens_in + u->tokens_out + u->tokens_cached;
		t->cost += u->cost;
	}
}

void turn_look(struct turn *t, const struct model *m, const struct reader *r, uint32_t file,
	       int64_t now_ms)
{
	if (t->seen == m->records.n)
		return;
	for (; t->seen < m->records.n; t->seen++)
		if (message_route(m, t->seen)->source == file)
			take_message(t, m, r, t->seen);
	add_usage(t, m);
	t->heard_ms = now_ms;
}

/* ---- result ---- */

static enum turn_state_name classify(const struct turn *t, const struct turn_exit *e)
{
	if (t->answers && !e->unread) {
		if (t->dialect == DIALECT_FEEDBACK && t->echoed != t->iteration)
			return TURN_OTHER;
		return t->refused ? TURN_REFUSED : TURN_ANSWERED;
	}
	if (e->stopped)
		return TURN_STOPPED;
	if (e->unread)
		return TURN_UNREAD;
	if (t->error.n)
		return TURN_ERROR;
	return e->well ? TURN_SILENT : TURN_EXIT;
}

static void add_complaint(struct buf *out, struct str complaint)
{
	struct buf words = { 0 };

	copy_first_line(&words, STR_NONE, complaint);
	if (words.n)
		buf_printf(out, "%sit said: %s", out->n ? "; " : "", words.p);
	buf_release(&words);
}

void turn_end(struct turn *t, const struct turn_exit *e, int64_t now_ms)
{
	struct buf *out = &t->why;

	t->state = classify(t, e);
	t->ended_ms = now_ms;
	buf_clear(out);
	switch (t->state) {
	case TURN_NONE:
	case TURN_RUNS:
	case TURN_LOST:
	case TURN_REFUSED:
	case TURN_ANSWERED: /* an answer by another agent shows on standard error only */
		if (!e->well && e->words.n)
			buf_printf(out, "%.*s", STR_ARG(e->words));
		break;
	case TURN_OTHER:
		buf_printf(out, "answered for iteration %lld, not %lld", (long long)t->echoed,
			   (long long)t->iteration);
		return;
	case TURN_UNREAD:
		buf_printf(out, "ended without reading its input (%.*s)", STR_ARG(e->words));
		break;
	case TURN_ERROR:
		buf_add_str(out, buf_str(&t->error));
		if (!e->well)
			buf_printf(out, " (%.*s)", STR_ARG(e->words));
		return;
	case TURN_STOPPED: buf_adds(out, "stopped"); return;
	case TURN_EXIT: buf_add_str(out, e->words); break;
	case TURN_SILENT:
		buf_adds(out, t->cut	? "its last line was cut off" :
			      t->last.n ? "no answer in its output" :
					  "ended without output");
		break;
	}
	add_complaint(out, e->complaint);
}

bool turn_has_failed(const struct turn *t)
{
	return t->state >= TURN_UNREAD;
}

bool turn_is_silent(const struct turn *t, int64_t now_ms)
{
	return t->state == TURN_RUNS && now_ms - t->heard_ms >= TURN_SILENT_MS;
}

/* ---- status line ---- */

static void add_clock(struct buf *out, int64_t ms)
{
	int64_t s = ms < 0 ? 0 : ms / 1000;

	if (s >= 3600)
		buf_printf(out, "%lld:%02d:%02d", (long long)(s / 3600), (int)(s / 60 % 60),
			   (int)(s % 60));
	else
		buf_printf(out, "%d:%02d", (int)(s / 60), (int)(s % 60));
}

/* "12.3k tokens  $0.0018" */
static void add_spent(struct buf *out, const struct turn *t)
{
	if (t->tokens >= 10000)
		buf_printf(out, "  %.1fk tokens", (double)t->tokens / 1000);
	else if (t->tokens)
		buf_printf(out, "  %llu token%s", (unsigned long long)t->tokens,
			   plural_s(t->tokens));
	if (t->cost >= 0.00005)
		buf_printf(out, t->cost < 1 ? "  $%.4f" : "  $%.2f", t->cost);
}

static void add_running(struct buf *out, const struct turn *t, int64_t now_ms)
{
	buf_adds(out, " runs ");
	add_clock(out, now_ms - t->began_ms);
	if (turn_is_silent(t, now_ms)) {
		buf_adds(out, "  silent for ");
		add_clock(out, now_ms - t->heard_ms);
		buf_adds(out, ": wait, or :stop it");
	}
	if (t->steps)
		buf_printf(out, "  step %u", t->steps);
	if (t->tools)
		buf_printf(out, "  %u tool%s", t->tools, plural_s(t->tools));
	add_spent(out, t);
	if (t->last.n && !turn_is_silent(t, now_ms)) {
		buf_adds(out, "  ");
		buf_add_str(out, buf_str(&t->last));
	}
}

static void add_over(struct buf *out, const struct turn *t, const char *what)
{
	buf_printf(out, " %s in ", what);
	add_clock(out, t->ended_ms - t->began_ms);
	add_spent(out, t);
	if (t->why.n)
		buf_printf(out, "  (%s)", t->why.p);
}

/* Remedies come before the reason, which may be longer than the line. */
void turn_words(const struct turn *t, int64_t now_ms, const char *remedies, struct buf *out)
{
	if (t->state == TURN_NONE)
		return;
	buf_printf(out, "turn %lld", (long long)t->iteration);
	switch (t->state) {
	case TURN_NONE: break;
	case TURN_RUNS: add_running(out, t, now_ms); break;
	case TURN_ANSWERED:
		if (t->ended_ms)
			add_over(out, t, "answered");
		else
			buf_adds(out, " was answered");
		break;
	case TURN_REFUSED:
		buf_printf(out, " ended in an error %s", remedies);
		break;
	case TURN_OTHER:
		buf_printf(out, " %s: decide its items anyway, or :retry", t->why.p);
		break;
	case TURN_LOST:
		buf_printf(out, " was interrupted %s: gavel ended, it may have been answered",
			   remedies);
		break;
	case TURN_UNREAD:
	case TURN_ERROR:
	case TURN_STOPPED:
	case TURN_EXIT:
	case TURN_SILENT:
		buf_printf(out, " failed %s: %s", remedies, t->why.p);
		break;
	}
	if (t->unsafe)
		buf_adds(out, "  invalid session id: the next turn starts a new session");
}

/* ---- failure message ---- */

static void put_failure(const struct turn *t, struct buf *out)
{
	static const char *const names[] = {
		[TURN_UNREAD] = "unread",   [TURN_ERROR] = "error",  [TURN_STOPPED] = "stopped",
		[TURN_EXIT] = "exit",	    [TURN_SILENT] = "silent", [TURN_LOST] = "lost",
	};
	const struct str lost =
		STR("interrupted: gavel ended while it ran, and it may have been answered");

	buf_adds(out, "{\"protocol_version\":\"1.2\"");
	json_put_int(out, "iteration", t->iteration);
	buf_adds(out, ",\"status\":\"error\",\"error\":{\"code\":\"INTERNAL_ERROR\"");
	json_put_str(out, "message", t->state == TURN_LOST ? lost : buf_str(&t->why));
	buf_adds(out, "},\"x-gavel\":{");
	json_put_name(out, "turn", names[t->state]);
	buf_adds(out, "}}");
}

void turn_note(const struct turn *t, int64_t time_ms, struct buf *out)
{
	struct buf inner = { 0 };

	if (t->dialect == DIALECT_ENVELOPE) {
		buf_printf(&inner, "gavel: turn %lld failed: %s", (long long)t->iteration,
			   t->state == TURN_LOST ? "gavel ended while it ran" : t->why.p);
		buf_adds(out, "{\"success\":false");
		json_put_str(out, "summary", buf_str(&inner));
		buf_adds(out, ",\"artifacts\":[],\"recommendation\":\"retry\"}\n");
	} else if (t->session[0]) {
		put_failure(t, &inner);
		buf_adds(out, "{\"type\":\"text\"");
		json_put_int(out, "timestamp", time_ms);
		json_put_name(out, "sessionID", t->session);
		buf_adds(out, ",\"part\":{\"type\":\"text\"");
		json_put_str(out, "text", buf_str(&inner));
		buf_adds(out, "}}\n");
	} else {
		put_failure(t, out);
		buf_addc(out, '\n');
	}
	buf_release(&inner);
}
