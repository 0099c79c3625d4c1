/* Short names of sessions, made unique where there are not too many. */
#include "view/session_label.h"

#include "dialect/formats.h"

enum {
	SESSION_COLS = 20, /* of a column, at most */
	SHORT_BYTES = 8,
	OPAQUE_BYTES = 16,     /* letters and digits in a row that nobody remembers */
	OPAQUE_DIGITS = 2,     /* among them; a long word has none */
	COMPARED_MAX = 10000,  /* sessions; among more, nobody looks for two of one name */
};

/* Up to FORM_WHOLE, of a path that many folders more, of a long identifier four characters more for
 * each; FORM_NONE: no message belongs to it. */
enum form { FORM_SHORT, FORM_WHOLE = 4, FORM_WITH_SOURCE, FORM_NONE };

struct session_labels {
	struct sessions_named named;
	uint32_t n;
	uint8_t *form; /* enum form, by session */
	int width;
	uint32_t file; /* a session named after a file, NONE */
	size_t common; /* bytes that all names of files begin with, up to a separator */
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
	unsigned run = 0, digits = 0;

	for (; run < s.n && is_alnum(s.p[s.n - 1 - run]); run++)
		digits += s.p[s.n - 1 - run] <= '9';
	return run >= OPAQUE_BYTES && digits >= OPAQUE_DIGITS;
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
	struct str name = session_name(m, session);

	if (form == FORM_SHORT)
		return session_short(m, session);
	if (form < FORM_WHOLE && s->name == s->group)
		return path_tail(name, form);
	if (form < FORM_WHOLE && ends_opaque(name) && name.n > SHORT_BYTES + 4u * form)
		return str_from(name, name.n - SHORT_BYTES - 4u * form);
	return name;
}

/* Whether the label is the end of an identifier. */
static bool is_tail(const struct model *m, uint32_t session, struct str label)
{
	const struct session *s = &m->sessions.v[session];

	return s->name != s->group && label.p != session_name(m, session).p;
}

/* Gives sessions whose labels are the same their next longer form; false: there are none. Only the
 * first session of each label is remembered, so that many of one label cost no more than others. */
static bool tell_apart(struct session_labels *l, const struct model *m, enum form form,
		       struct yield *yield)
{
	struct map first = { 0 };
	bool same = false;

	for (uint32_t i = 0; i < l->n && yield_on(yield); i++) {
		uint32_t it = 0, v = NONE;
		struct str label;
		uint64_t hash;

		if (l->form[i] != form)
			continue;
		label = label_of(m, i, form);
		if (!label.n)
			continue;
		hash = str_hash(label);
		while (map_next(&first, hash, &it, &v) && !str_eq(label_of(m, v, form), label))
			v = NONE;
		if (v == NONE) {
			map_add(&first, hash, i);
			continue;
		}
		l->form[v] = l->form[i] = (uint8_t)(form + 1);
		same = true;
	}
	map_release(&first);
	return same;
}

static struct str without_extension(struct str name)
{
	static const char *const known[] = { ".ndjson", ".jsonl", ".json", ".log" };

	for (unsigned i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (str_ends(name, str_of(known[i])) && name.n > strlen(known[i]))
			return str_make(name.p, name.n - strlen(known[i]));
	return name;
}

/* Shortens what the names of all files have in common to what this one has, too. */
static void note_file(struct session_labels *l, const struct model *m, uint32_t session)
{
	struct str name = without_extension(session_short(m, session)), other;
	size_t n = 0;

	if (l->file == NONE) {
		l->file = session;
		l->common = name.n;
		return;
	}
	other = session_short(m, l->file);
	while (n < l->common && n < name.n && name.p[n] == other.p[n])
		n++;
	while (n && name.p[n - 1] != '-' && name.p[n - 1] != '_' && name.p[n - 1] != '.')
		n--;
	l->common = n;
}

static int label_width(const struct model *m, const struct session_labels *l, uint32_t session)
{
	uint32_t group = m->sessions.v[session].group;
	struct str label = label_of(m, session, l->form[session]);
	int width = (int)cells_width(raw_of(label), TEXT_ID, true, 512);

	width += is_tail(m, session, label);
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
	l->file = NONE;
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
			if (!tell_apart(l, m, form, s->yield))
				break;
	}
	for (uint32_t i = 0; i < l->n && i < COMPARED_MAX; i++) {
		int width = l->form[i] == FORM_NONE ? 0 : label_width(m, l, i);

		l->width = width > l->width ? width : l->width;
		if (l->form[i] == FORM_SHORT && m->sessions.v[i].name == m->sessions.v[i].group)
			note_file(l, m, i);
	}
}

int session_labels_width(const struct lines *lines, int max)
{
	int width = lines->labels ? lines->labels->width : 0;

	return width < max ? width : max;
}

void session_column(const struct scene *s, const struct lines *lines, struct column *column, int rank)
{
	column->want = session_labels_width(lines, SESSION_COLS);
	if (column->min > column->want)
		column->min = column->want;
	if (!s->model->several_sources)
		return;
	column->late = false;
	column->rank = rank;
}

uint32_t message_session(const struct scene *s, const struct lines *lines, uint32_t message)
{
	const struct record *r = &s->model->records.v[message];

	return lines->labels ? session_of(&lines->labels->named, s->model, r->route)
			     : route_of(s->model, r)->session;
}

static bool fits(const struct pen *p, struct str name)
{
	return (int)cells_width(raw_of(name), TEXT_ID, true, 512) <= p->rest.cols;
}

/* Where there is little room, the name without its extension, and without what all of them begin
 * with. */
static void put_file(struct pen *p, enum role role, struct str name, size_t common)
{
	if (!fits(p, name))
		name = without_extension(name);
	if (!fits(p, name) && common && common < name.n) {
		pen_put(p, role, "…");
		name = str_from(name, common);
	}
	pen_id(p, role, name);
}

void pen_session(struct pen *p, enum role role, const struct scene *s, const struct lines *lines,
		 uint32_t session)
{
	const struct session_labels *l = lines->labels;
	const struct model *m = s->model;
	struct str label;
	enum form form;

	if (!l)
		return;
	form = session < l->n && l->form[session] != FORM_NONE ? (enum form)l->form[session]
							       : FORM_SHORT;
	label = label_of(m, session, form);
	if (form == FORM_WITH_SOURCE) {
		pen_id(p, role, path_base(model_str(m, m->sessions.v[session].group)));
		pen_put(p, role, ":");
	}
	if (is_tail(m, session, label))
		pen_put(p, role, "…");
	if (form == FORM_SHORT && m->sessions.v[session].name == m->sessions.v[session].group)
		put_file(p, role, label, l->common);
	else
		pen_id(p, role, label);
}

void pen_source(struct pen *p, const struct scene *s, uint32_t message)
{
	if (!s->model->several_sources)
		return;
	pen_put(p, ROLE_DIM, " · ");
	pen_path(p, ROLE_DIM, s->reader->source(s->reader->ctx, message));
}
