/* Where replies go: to the next turn of a review, to the running agent, to --reply, else beside the
 * source; never into the log that agents write. */
#include "encode/plan.h"

#include "base/sha256.h"

#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { NAME_PART_MAX = 80 };

bool has_several_sessions(const struct model *m, uint32_t group)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < m->sessions.n && n < 2; i++)
		n += m->sessions.v[i].group == group && m->sessions.v[i].loop != NONE;
	return n > 1;
}

/* Escapes a session's name, which its sender chose, for a file name. A long one is truncated and
 * made unique by its hash. */
static void add_file_part(struct buf *out, struct str name)
{
	size_t start = out->n;
	char hex[65];

	for (size_t i = 0; i < name.n; i++) {
		unsigned char c = (unsigned char)name.p[i];
		bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
			     (c >= '0' && c <= '9') || c == '-' || c == '_' || (c == '.' && i);

		if (plain)
			buf_addc(out, (char)c);
		else
			buf_printf(out, "%%%02X", c);
	}
	if (out->n - start > NAME_PART_MAX) {
		sha256_hex(name, hex);
		out->n = start + NAME_PART_MAX - 17;
		buf_printf(out, "-%.16s", hex);
	}
}

bool reply_part_is_cut(struct str part)
{
	if (part.n != NAME_PART_MAX || part.p[part.n - 17] != '-')
		return false;
	for (size_t i = part.n - 16; i < part.n; i++)
		if (!strchr("0123456789abcdef", part.p[i]))
			return false;
	return true;
}

void add_absolute(struct buf *out, const char *path)
{
	char folder[PATH_MAX], real[PATH_MAX];
	const char *slash = strrchr(path, '/');
	size_t n = slash ? (size_t)(slash - path) : 0;

	if (n >= sizeof(folder)) {
		buf_adds(out, path);
		return;
	}
	memcpy(folder, path, n);
	folder[n] = '\0';
	if (realpath(!slash ? "." : n ? folder : "/", real)) {
		buf_adds(out, strcmp(real, "/") == 0 ? "" : real);
		buf_addc(out, '/');
		buf_adds(out, slash ? slash + 1 : path);
		return;
	}
	if (!slash || path[0] != '/') {
		buf_adds(out, getcwd(real, sizeof(real)) ? real : ".");
		buf_addc(out, '/');
	}
	buf_adds(out, path);
}

static bool is_regular(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISREG(st.st_mode);
}

bool reply_path_is_missing(const struct desk *d, const char *reply)
{
	/* a stream has no reply path, even if a file is called "stdin" */
	return !d->agent && !d->team && !reply && !d->is_dir &&
	       (d->source.p[0] != '/' || !is_regular(d->source.p));
}

enum channel_type reply_path(const struct desk *d, const struct terms *t, const struct model *m,
			     const struct item *item, enum dialect_id dialect, struct buf *out)
{
	if (t->turn) {
		buf_adds(out, t->turn->path);
		return CHANNEL_AGENT;
	}
	if (d->agent) { /* an agent that gavel runs: only the incarnation that asked */
		struct item_state at;
		bool asked = item->n && item_at(m, item, m->records.n, TIME_NONE, &at);

		d->agent->path(d->agent->ctx, asked ? at.message : NONE, out);
		return out->n ? CHANNEL_AGENT : CHANNEL_NONE;
	}
	if (t->reply) {
		add_absolute(out, t->reply);
		return channel_type_of(t->reply);
	}
	if (d->is_dir) {
		buf_add_str(out, d->source);
		if (encoders[dialect]->is_file)
			return CHANNEL_DIR;
		/* beside the folder, so that it is not read as one of its logs */
		buf_adds(out, ".replies.ndjson");
		return CHANNEL_FILE;
	}
	if (reply_path_is_missing(d, NULL))
		return CHANNEL_NONE;
	buf_add_str(out, d->source);
	if (encoders[dialect]->names_no_session &&
	    has_several_sessions(m, m->sessions.v[item_session(m, item)].group)) {
		buf_addc(out, '.');
		add_file_part(out, session_name(m, item_session(m, item)));
	}
	buf_adds(out, ".replies.ndjson");
	return channel_type_of(out->p);
}

void letter_set_path(struct encoding *e, struct letter *l)
{
	const struct item *item = e->n ? item_of(e, 0) : NULL;
	struct reply_place *last = &e->last_place;
	bool by_session = item && !e->terms->turn && !e->desk->agent; /* else by message or process */
	struct buf path = { 0 };

	if (!by_session || !last->path.p || last->dialect != l->dialect ||
	    last->session != item_session(e->model, item)) {
		l->channel = reply_path(e->desk, e->terms, e->model, item, l->dialect, &path);
		l->path = keep_buf(e, &path);
		if (by_session)
			*last = (struct reply_place){ item_session(e->model, item), l->dialect,
						      l->channel, l->path };
		return;
	}
	l->channel = last->channel;
	l->path = last->path;
}
