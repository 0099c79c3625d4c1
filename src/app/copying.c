/* Copies to the clipboard: an id, or a message as it came. The terminal is asked to do it (OSC 52),
 * by an effect; the message line says what was copied. */
#include "app/app.h"
#include "app/commands.h"

#include "base/utf8.h"

/* Terminals ignore a longer sequence; 74994 bytes are 99992 in base64. */
enum { COPY_MAX_BYTES = 74994 };

/* Whether a text holds control characters, other than those allowed, or ones that nobody sees. What
 * is copied may be pasted into a shell. */
static bool has_controls(struct str text, const char *allowed)
{
	for (size_t i = 0; i < text.n; i++) {
		unsigned char c = (unsigned char)text.p[i];

		if ((c < 0x20 || c == 0x7f) && !(c && strchr(allowed, c)))
			return true;
	}
	return cells_unseen(raw_of(text));
}

/* False: not copied, which the message line says. */
static bool copy(struct app *a, const char *what, struct str text, const char *allowed)
{
	struct err err;

	if (text.n > COPY_MAX_BYTES)
		app_say(a, ROLE_WARN, "%s has %zu bytes, more than the %d that terminals take; not "
				      "copied", what, text.n, COPY_MAX_BYTES);
	else if (has_controls(text, allowed) || utf8_check(text, what, &err))
		app_say(a, ROLE_WARN, "%s contains control or hidden characters or invalid UTF-8; "
				      "not copied", what);
	else {
		app_effect(a, (struct effect){ EFFECT_COPY, .copy = app_effect_dup(a, text) });
		return true;
	}
	return false;
}

/* Appends the id that a message has in its own words, else its number as --at takes it. */
static void message_id(const struct app *a, uint32_t message, struct buf *out)
{
	static const char *const names[] = { "message_id", "id", "uuid", "request_id" };
	const struct reader *r = a->scene.reader;
	struct message_number n = message_number(a->scene.model, message);
	yyjson_val *root = r->parsed ? r->parsed(r->ctx, message) : NULL;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]) && !out->n; i++)
		buf_add_str(out, json_get_str(root, names[i]));
	if (out->n)
		return;
	buf_printf(out, "#%u", n.n);
	if (n.r)
		buf_printf(out, ".%u", n.r);
}

/* The message that a list or a page is about, or NONE. */
static uint32_t message_shown(struct app *a)
{
	if (a->screen_count && !app_shows(a, &view_message) && !app_shows(a, &view_item))
		return NONE;
	return app_message_here(a);
}

/* The agent selected in the list of agents, or NONE. */
static uint32_t agent_here(struct app *a)
{
	const struct pane *p = app_list(a);
	struct line line;

	if (a->screen_count || a->tab != TAB_AGENTS || p->selected >= p->lines.list.n)
		return NONE;
	line = line_at(&p->lines, p->selected);
	return line.what ? NONE : line.a; /* else a process that has not spoken */
}

/* The session selected in the list of sessions or shown, or NONE. */
static uint32_t session_here(struct app *a)
{
	const struct pane *p = app_list(a);

	if (app_shows(a, &view_session))
		return app_screen(a)->page.number;
	if (a->screen_count || a->tab != TAB_SESSIONS || p->selected >= p->lines.list.n)
		return NONE;
	return line_at(&p->lines, p->selected).a;
}

COMMAND(copy_id)
{
	uint32_t session = session_here(a);
	uint32_t item = app_item_here(a), agent = agent_here(a), message;
	struct buf id = { 0 };

	if (session != NONE)
		buf_add_str(&id, model_str(a->scene.model, a->scene.model->sessions.v[session].name));
	else if (item != NONE)
		item_name(a->scene.model, &a->scene.model->items.v[item], &id);
	else if (agent != NONE)
		buf_add_str(&id, agent_name(a->scene.model, agent));
	else if ((message = message_shown(a)) != NONE)
		message_id(a, message, &id);
	if (!id.n)
		app_say(a, ROLE_DIM, "nothing with an id is selected");
	else if (copy(a, "the id", buf_str(&id), ""))
		app_say(a, ROLE_ID, "copied %.*s", STR_ARG(buf_str(&id)));
	buf_release(&id);
}

/* Not the dialect: a line of prose may contain a message. */
static bool is_json(struct str text)
{
	yyjson_doc *doc = yyjson_read(text.p, text.n, YYJSON_READ_BIGNUM_AS_RAW);
	bool json = yyjson_is_ctn(yyjson_doc_get_root(doc));

	yyjson_doc_free(doc);
	return json;
}

COMMAND(copy_message)
{
	uint32_t message = message_shown(a);
	struct message_number n;
	const char *blanks;
	struct str bytes;

	if (message == NONE) {
		app_say(a, ROLE_DIM, "no message is selected");
		return;
	}
	n = message_number(a->scene.model, message);
	bytes = a->scene.reader->bytes(a->scene.reader->ctx, message);
	blanks = bytes.n <= COPY_MAX_BYTES && is_json(bytes) ? "\t\n\r" : "";
	if (!copy(a, "the message", bytes, blanks))
		return;
	if (n.r)
		app_say(a, ROLE_ID, "copied message #%u.%u, %zu bytes", n.n, n.r, bytes.n);
	else
		app_say(a, ROLE_ID, "copied message #%u, %zu bytes", n.n, bytes.n);
}
