/* The filter terms session: and source:, which both ask where a message was said.
 *
 * A session matches by its name, and one that is named after its file also by a tail of the path. A
 * source matches by the path of the file or of what was given (a folder, the log of a reply file), or
 * by a tail of it: run.ndjson, logs/run.ndjson. Results are cached by file. */
#include "model/filter_terms.h"

enum source_match { SOURCE_UNKNOWN, SOURCE_NO, SOURCE_YES };

void filter_set_sources(struct filter *f, filter_text_fn name, void *ctx)
{
	f->source_name = name;
	f->source_ctx = ctx;
}

void filter_sources_release(struct filter *f)
{
	sessions_named_release(f->sessions);
	for (uint32_t i = 0; i < f->terms.n; i++)
		if (f->terms.v[i].sources)
			vec_release(&f->terms.v[i].sources->known);
}

static bool path_matches(const struct term *t, struct str path)
{
	if (value_matches(t, path))
		return true;
	for (size_t i = path.n; i-- > 0;)
		if (path.p[i] == '/' && value_matches(t, str_from(path, i + 1)))
			return true;
	return false;
}

static bool session_matches(const struct term *t, const struct model *m, uint32_t number)
{
	const struct session *session = &m->sessions.v[number];
	struct str name = session_name(m, number);

	return session->name == session->group ? path_matches(t, name) : value_matches(t, name);
}

uint32_t subject_session(const struct subject *s)
{
	return session_of(s->f->sessions, s->m, s->first->route);
}

bool match_session(const struct term *t, const struct subject *s)
{
	uint32_t session = subject_session(s);

	return session_matches(t, s->m, s->session) ||
	       (session != s->session && session_matches(t, s->m, session));
}

static bool source_matches(const struct term *t, const struct subject *s)
{
	const struct session *session = &s->m->sessions.v[route_of(s->m, s->last)->session];
	uint32_t message = (uint32_t)(s->last - s->m->records.v);

	return path_matches(t, model_str(s->m, session->group)) ||
	       (s->f->source_name &&
		path_matches(t, s->f->source_name(s->f->source_ctx, message)));
}

bool match_source(const struct term *t, const struct subject *s)
{
	struct source_matches *c = t->sources;
	uint32_t source = route_of(s->m, s->last)->source;

	if (c->m != s->m) {
		vec_release(&c->known);
		c->m = s->m;
	}
	while (c->known.n <= source)
		vec_push(&c->known, SOURCE_UNKNOWN);
	if (c->known.v[source] == SOURCE_UNKNOWN)
		c->known.v[source] = source_matches(t, s) ? SOURCE_YES : SOURCE_NO;
	return c->known.v[source] == SOURCE_YES;
}
