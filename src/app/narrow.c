/* Limits every view to one session. */
#include "app/app.h"
#include "view/session_label.h"

/* A filter word; what quotes cannot hold, and a wildcard, match any character. */
static void add_word(struct buf *out, const char *key, struct str value)
{
	buf_printf(out, "%s%s:\"", out->n ? " " : "", key);
	for (size_t i = 0; i < value.n; i++)
		buf_addc(out, value.p[i] == '"' ? '*' : value.p[i]);
	buf_addc(out, '"');
}

/* Whether another source has a session of that name. */
static bool name_is_shared(const struct model *m, uint32_t session)
{
	for (uint32_t i = 0; i < m->sessions.n; i++)
		if (i != session && m->sessions.v[i].name == m->sessions.v[session].name)
			return true;
	return false;
}

void app_narrow_to_session(struct app *a, uint32_t session)
{
	const struct model *m = a->scene.model;
	struct buf text = { 0 };
	char name[QUOTED_MAX];

	buf_add_str(&text, buf_str(&a->filter_text));
	add_word(&text, "session", session_name(m, session));
	if (name_is_shared(m, session))
		add_word(&text, "source", model_str(m, m->sessions.v[session].group));
	if (app_set_filter(a, buf_str(&text))) {
		app_show_tab(a, TAB_INBOX);
		app_say(a, ROLE_DIM, "only session %s; {back <Esc>} shows all again",
			quoted(session_short(m, session), name));
	}
	buf_release(&text);
}
