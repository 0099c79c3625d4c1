/* Short names of sessions, made unique where there are not too many. */
#include "view/session_label.h"

#include "dialect/formats.h"

enum {
	SHORT_BYTES = 8,
	OPAQUE_BYTES = 20,     /* letters and digits in a row that nobody remembers */
	COMPARED_MAX = 10000,  /* sessions; among more, nobody looks for two of one name */
};

/* Up to FORM_WHOLE, of a path that many folders more; FORM_NONE: no message belongs to it. */
enum form { FORM_SHORT, FORM_WHOLE = 4, FORM_WITH_SOURCE, FORM_NONE };

struct session_labels {
	struct sessions_named named;
	uint32_t n;
	uint8_t *form; /* enum form, by session */
	int width;
};

struct str path_base(struct str path)
{
	size_t at = path.n;

	while (at && path.p[at - 1] != '/')
		at--;
	return at < path.n ? str_from(path, at) : path;
}

static bool is_alnum(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool ends_opaque(struct str s)
{
	size_t run = 0;

	while (run < s.n && is_alnum(s.p[s.n - 1 - run]))
		run++;
	return run >= OPAQUE_BYTES;
}

struct str session_short(const struct model *m, uint32_t session)
{
	const struct session *s = &m->sessions.v[session];
	struct str name = session_name(m, session);

	if (s->name == s->group)
		return path_base(name);
	if (is_uuid(name, false))
		return str_make(name.p, SHORT_BYTES);
	return ends_opaque(name) ? str_from(name, name.n - SHORT_BYTES) : name;
}

/* Whether the label is the end of an identifier. */
static bool is_tail(const struct model *m, uint32_t session, enum form form)
{
	const struct session *s = &m->sessions.v[session];

	return form == FORM_SHORT && s->name != s->group &&
	       session_short(m, session).p != session_name(m, session).p;
}

/* The end of a path with that many folders. */
static struct str path_tail(struct str path, unsigned folders)
{
	size_t at = path.n;

	while (at && (path.p[at - 1] != '/' || folders--))
		at--;
	return str_from(path, at);
}

static struct str label_of(const struct model *m, uint32_t session, enum form form)
{
	const struct session *s = &m->sessions.v[session];

	if (form == FORM_SHORT)
		return session_short(m, session);
	if (s->name == s->group && form < FORM_WHOLE)
		return path_tail(session_name(m, session), form);
	return session_name(m, session);
}

/* Gives sessions whose labels are the same their next longer form. */
static void tell_apart(struct session_labels *l, const struct model *m, enum form form,
		       struct yield *yield)
{
	struct map seen = { 0 };

	for (uint32_t i = 0; i < l->n && yield_on(yield); i++) {
		struct str label = label_of(m, i, form);
		bool twin = false;

		if (l->form[i] != form || !label.n)
			continue;
		for (uint32_t it = 0, v; map_next(&seen, str_hash(label), &it, &v);)
			if (str_eq(label_of(m, v, form), label)) {
				l->form[v] = (uint8_t)(form + 1);
				twin = true;
			}
		map_add(&seen, str_hash(label), i);
		if (twin)
			l->form[i] = (uint8_t)(form + 1);
	}
	map_release(&seen);
}

static int label_width(const struct model *m, const struct session_labels *l, uint32_t session)
{
	uint32_t group = m->sessions.v[session].group;
	int width = (int)cells_width(raw_of(label_of(m, session, l->form[session])), TEXT_ID, true,
				     512);

	width += is_tail(m, session, l->form[session]);
	if (l->form[session] == FORM_WITH_SOURCE)
		width += 1 + (int)cells_width(raw_of(path_base(model_str(m, group))), TEXT_ID,
					      true, 512);
	return width;
}

/* Notes the sessions that messages belong to; returns how many there are. */
static uint32_t note_sessions(struct session_labels *l, const struct scene *s)
{
	const struct model *m = s->model;
	uint32_t n = 0;

	memset(l->form, FORM_NONE, l->n);
	for (uint32_t i = 0; i < m->routes.n && yield_on(s->yield); i++) {
		uint32_t session;

		if (m->sessions.v[m->routes.v[i].session].first >= s->k)
			continue;
		session = session_of(&l->named, m, i);
		n += l->form[session] == FORM_NONE;
		l->form[session] = FORM_SHORT;
	}
	return n;
}

static void release(void *labels)
{
	sessions_named_release(&((struct session_labels *)labels)->named);
}

void session_labels_make(const struct scene *s, struct lines *lines)
{
	const struct model *m = s->model;
	struct session_labels *l = arena_zalloc(&lines->arena, sizeof(*l));

	l->named.k = s->k;
	l->n = m->sessions.n;
	if (!s->k || l->n < 2)
		return;
	l->form = arena_alloc(&lines->arena, l->n);
	if (note_sessions(l, s) < 2) {
		release(l);
		return;
	}
	lines->labels = l;
	lines->release_labels = release;
	if (l->n <= COMPARED_MAX) {
		for (enum form form = FORM_SHORT; form <= FORM_WHOLE; form++)
			tell_apart(l, m, form, s->yield);
	}
	for (uint32_t i = 0; i < l->n && i < COMPARED_MAX; i++) {
		int width = l->form[i] == FORM_NONE ? 0 : label_width(m, l, i);

		l->width = width > l->width ? width : l->width;
	}
}

int session_labels_width(const struct lines *lines, int max)
{
	int width = lines->labels ? lines->labels->width : 0;

	return width < max ? width : max;
}

uint32_t message_session(const struct scene *s, const struct lines *lines, uint32_t message)
{
	const struct record *r = &s->model->records.v[message];

	return lines->labels ? session_of(&lines->labels->named, s->model, r->route)
			     : route_of(s->model, r)->session;
}

void pen_session(struct pen *p, enum role role, const struct scene *s, const struct lines *lines,
		 uint32_t session)
{
	const struct session_labels *l = lines->labels;
	const struct model *m = s->model;
	enum form form;

	if (!l)
		return;
	form = session < l->n && l->form[session] != FORM_NONE ? (enum form)l->form[session]
							       : FORM_SHORT;
	if (form == FORM_WITH_SOURCE) {
		pen_id(p, role, path_base(model_str(m, m->sessions.v[session].group)));
		pen_put(p, role, ":");
	}
	if (is_tail(m, session, form))
		pen_put(p, role, "…");
	pen_id(p, role, label_of(m, session, form));
}

bool has_several_sources(const struct scene *s)
{
	const struct model *m = s->model;
	uint32_t only = NONE;

	for (uint32_t i = 0; i < m->routes.n; i++) {
		const struct route *r = &m->routes.v[i];

		if (r->flags & RECORD_REPLY)
			continue;
		if (only != NONE && r->source != only)
			return true;
		only = r->source;
	}
	return false;
}

void pen_source(struct pen *p, const struct scene *s, uint32_t message)
{
	if (!has_several_sources(s))
		return;
	pen_put(p, ROLE_DIM, " · ");
	pen_path(p, ROLE_DIM, s->reader->source(s->reader->ctx, message));
}
