/* Status of followed sources for the screen: health, backlog, incomplete lines, banner. */
#include "wire/follow_internal.h"

#include "base/timestamp.h"

uint32_t follow_count(const struct follow *f)
{
	return f->names.n;
}

static uint64_t behind(const struct follow *f, const struct tail *t)
{
	const struct source *s = &f->w->files.v[t->file].source;
	struct source_stat seen;

	if (s->kind != SOURCE_FILE || source_stat(s->fd < 0 ? s->name : NULL, s->fd, &seen) < 0 ||
	    !source_is(s, &seen) || seen.size <= t->lines.at)
		return 0;
	return seen.size - t->lines.at;
}

/* The tail with the oldest line that is not complete. */
static const struct tail *incomplete_tail(const struct follow *f, const struct followed_name *n)
{
	const struct tail *oldest = NULL;

	for (uint32_t i = 0; i <= n->old.n; i++) {
		const struct tail *t = i < n->old.n ? n->old.v[i] : n->now;

		if (t && tail_incomplete(f->w, t) && t->line_ms != TAIL_NOT_YET &&
		    (!oldest || t->line_ms < oldest->line_ms))
			oldest = t;
	}
	return oldest;
}

void follow_status(const struct follow *f, uint32_t i, struct follow_status *out)
{
	const struct followed_name *n = &f->names.v[i];
	const struct tail *t = incomplete_tail(f, n);

	*out = (struct follow_status){ .name = n->path, .listed = n->listed, .file = n->file,
				       .health = n->health, .since_ms = n->since_ms,
				       .why = n->why, .replaced = n->replaced };
	if (n->now)
		out->behind = behind(f, n->now);
	if (t) {
		out->incomplete = tail_incomplete(f->w, t);
		out->incomplete_since_ms = t->line_ms;
	}
}

uint32_t follow_incomplete(const struct follow *f)
{
	uint32_t found = UINT32_MAX;
	int64_t since = INT64_MAX;

	for (uint32_t i = 0; i < f->names.n; i++) {
		const struct tail *t = incomplete_tail(f, &f->names.v[i]);

		if (t && t->line_ms < since) {
			since = t->line_ms;
			found = i;
		}
	}
	return found;
}

void follow_incomplete_text(struct follow *f, uint32_t i, size_t most, struct buf *out)
{
	const struct tail *t = incomplete_tail(f, &f->names.v[i]);
	uint64_t n = t ? tail_incomplete(f->w, t) : 0, start;

	buf_clear(out);
	if (!n)
		return;
	start = t->state == TAIL_LINES ? t->lines.framer.start
				       : f->w->files.v[t->file].source.start;
	if (wire_fetch(f->w, t->file, start, n < most ? n : most, out, NULL) < 0)
		buf_clear(out);
}

static bool any_unspooled(const struct follow *f)
{
	for (uint32_t i = 0; i < f->names.n; i++)
		if (f->names.v[i].now && f->names.v[i].now->unspooled)
			return true;
	return false;
}

/* A given directory in which no file has been found yet. */
static const struct folder *empty_folder(const struct follow *f)
{
	for (uint32_t i = 0; i < f->folders.n; i++) {
		uint32_t n = 0;

		while (n < f->names.n && f->names.v[n].folder != i)
			n++;
		if (f->folders.v[i].given && n == f->names.n)
			return &f->folders.v[i];
	}
	return NULL;
}

static void say_gone(struct buf *out, struct str path, int64_t for_ms)
{
	char span[32];

	buf_add_str(out, path);
	buf_printf(out, ": missing for %s; checked once a second", timestamp_span(for_ms, span));
}

bool follow_banner(const struct follow *f, int64_t now_ms, struct buf *out)
{
	const struct followed_name *worst = NULL;
	uint32_t others = 0;
	char span[32];

	for (uint32_t i = 0; i < f->folders.n; i++)
		if (f->folders.v[i].given && f->folders.v[i].gone) {
			say_gone(out, f->folders.v[i].path, now_ms - f->folders.v[i].since_ms);
			return true;
		}
	for (uint32_t i = 0; i < f->names.n; i++) {
		const struct followed_name *n = &f->names.v[i];

		if (n->health != FOLLOW_UNREADABLE && (n->health != FOLLOW_GONE || n->listed))
			continue;
		others += worst != NULL;
		if (!worst || (n->health == FOLLOW_UNREADABLE && worst->health == FOLLOW_GONE))
			worst = n;
	}
	if (!worst && any_unspooled(f)) {
		buf_adds(out, "no room in $TMPDIR to keep what comes; "
			      "it is lost when the log is cut");
		return true;
	}
	if (!worst && empty_folder(f)) {
		buf_add_str(out, empty_folder(f)->path);
		buf_adds(out, ": no " WIRE_WANTS " in it yet");
		return true;
	}
	if (!worst)
		return false;
	if (worst->health == FOLLOW_GONE) {
		say_gone(out, worst->path, now_ms - worst->since_ms);
	} else {
		buf_printf(out, "%s (for %s)", worst->why,
			   timestamp_span(now_ms - worst->since_ms, span));
	}
	if (others)
		buf_printf(out, "; and %u more", others);
	return true;
}
