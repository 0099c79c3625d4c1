/* Reads the captures of running agents into the model, round robin. */
#include "session/agent_set.h"

#include "decide/decision.h"
#include "json/compose.h"
#include "json/json.h"
#include "loop/loop.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

enum {
	STEP_MS = 5,            /* of reading per agent_set_take */
	PIECE_BYTES = 32 << 10, /* of one agent, before the next one is read */
	HEAD_MAX_BYTES = 2048,  /* of a command in the head of a capture; escaped, it may get longer */
};

int agent_set_open(struct agent_set *c, struct load *l, const char *captures, struct err *err)
{
	c->load = l;
	c->children = children_open(captures, err);
	return c->children ? 0 : -1;
}

static void agent_free(struct set_agent *a)
{
	for (int i = 0; i < AGENT_PIPES; i++)
		framer_release(&a->streams[i].framer);
	vec_release(&a->incarnations);
	free(a);
}

void agent_set_kill(struct agent_set *c)
{
	struct buf left = { 0 };

	children_kill(c->children, &left);
	for (struct str rest = buf_str(&left), line; rest.n; rest = str_from(rest, line.n + 1)) {
		line = str_make(rest.p, (size_t)((char *)memchr(rest.p, '\n', rest.n) - rest.p));
		load_say(c->load, line);
	}
	buf_release(&left);
}

void agent_set_close(struct agent_set *c)
{
	children_close(c->children);
	for (uint32_t i = 0; i < c->agents.n; i++)
		agent_free(c->agents.v[i]);
	vec_release(&c->agents);
	buf_release(&c->room);
	c->children = NULL;
}

/* ---- starting ---- */

static const struct child_capture *capture_of(const struct set_agent *a, int stream)
{
	return stream == AGENT_OUT ? &a->child->out : &a->child->err;
}

/* Wire and child both close their descriptor, so it is duplicated. */
static int open_stream(struct agent_set *c, struct set_agent *a, int stream, struct str group,
			struct err *err)
{
	struct wire *w = &c->load->wire;
	struct source s = capture_of(a, stream)->source;
	struct agent_stream *r = &a->streams[stream];
	char *name = arena_printf(&w->arena, "%s%s", a->child->name,
				  stream == AGENT_ERR ? " stderr" : "");

	s.fd = fcntl(s.fd, F_DUPFD_CLOEXEC, 3);
	if (s.fd < 0)
		return err_set(err, "%s: %s; run fewer agents", a->child->name, strerror(errno));
	s.name = name;
	r->load = (struct load_reading){ .l = c->load,
					 .file = wire_append(w, &s, str_of(name)),
					 .text = stream == AGENT_ERR,
					 .before = c->before,
					 .before_ctx = c->before_ctx };
	w->files.v[r->load.file].group = group;
	w->files.v[r->load.file].trust = a->speaks_for_session ? TRUST_LOG : TRUST_AGENT;
	w->files.v[r->load.file].ours = w->files.v[r->load.file].is_lines = true;
	w->files.v[r->load.file].text = stream == AGENT_ERR;
	w->files.v[r->load.file].stream = (uint8_t)a->dialect;
	w->files.v[r->load.file].speaker =
		a->speaks_for_session ? STR_NONE : str_of(a->child->name);
	r->at = s.start;
	r->line_ms = AGENT_SET_NO_LINE;
	framer_init(&r->framer, wire_max_bytes(w), r->at);
	return 0;
}

static void begin_incarnation(struct set_agent *a)
{
	const struct child *child = a->child;

	vec_push(&a->incarnations,
		 (struct incarnation_start){ { child->out.began, child->err.began },
					     child->incarnation });
	for (int i = 0; i < AGENT_PIPES; i++)
		a->streams[i].ended = false;
}

/* False: not all of them fit. set: only names of variables that have a value. */
static bool write_words(struct buf *out, const char *name, const char *const *words, bool set)
{
	json_open(out, name, '[');
	for (; words && *words && out->n + strlen(*words) < HEAD_MAX_BYTES; words++)
		if (!set || getenv(*words)) {
			json_comma(out);
			json_write_str(out, str_of(*words));
		}
	buf_addc(out, ']');
	return !words || !*words;
}

/* What a capture tells of itself in its first line, wherever it is copied to. It has `from`, the
 * folder of gavel, only if that and the command are whole: then the agent can be started again. */
static void write_head(const struct child_spec *spec, const struct agent_about *about,
		       struct buf *out)
{
	char id[37], from[HEAD_MAX_BYTES];

	uuid_make(id);
	buf_addc(out, '{');
	json_put_name(out, "gavel", "capture");
	json_put_name(out, "id", id);
	json_put_str(out, "agent", str_of(spec->name));
	json_put_name(out, "speaks", about->session ? "session" : "agent");
	if (about->dialect != DIALECT_UNKNOWN)
		json_put_name(out, "dialect", dialect_name(about->dialect));
	if (about->mode.n)
		json_put_str(out, "mode", about->mode);
	if (write_words(out, "command", spec->argv, false) &&
	    write_words(out, "env", spec->env, true) &&
	    getcwd(from, sizeof(from)) && (!spec->folder || strlen(spec->folder) < sizeof(from))) {
		json_put_name(out, "from", from);
		if (spec->folder)
			json_put_name(out, "folder", spec->folder);
	}
	if (about->role.n)
		json_put_str(out, "role", about->role);
	json_open(out, "capabilities", '[');
	for (uint32_t i = 0; i < about->capability_n && out->n < WIRE_HEAD_BYTES / 2; i++) {
		json_comma(out);
		json_write_str(out, about->capabilities[i]);
	}
	buf_addc(out, ']');
	buf_addc(out, '}');
}

static uint32_t add_agent(struct agent_set *c, struct child *child, struct str group,
			  const struct agent_about *about, struct err *err)
{
	struct set_agent *a = xcalloc(1, sizeof(*a));

	a->child = child;
	a->known = child->out.source.end;
	a->speaks_for_session = about->session;
	a->dialect = about->dialect;
	group = arena_str(&c->load->wire.arena, group.n ? group : str_of(child->name));
	begin_incarnation(a);
	for (int i = 0; i < AGENT_PIPES; i++)
		if (open_stream(c, a, i, group, err) < 0) {
			agent_free(a);
			return NONE;
		}
	load_add_desk(c->load, group, child->capture);
	vec_push(&c->agents, a);
	return c->agents.n - 1;
}

static bool has_room(const struct agent_set *c, const struct child_spec *spec, struct err *err)
{
	if (c->load->wire.files.n + AGENT_PIPES <= WIRE_FILES_MAX)
		return true;
	err_set(err, "%s: too many files; run fewer agents", spec->name);
	return false;
}

static uint32_t add_child(struct agent_set *c, const struct child_spec *given, struct str group,
			  const struct agent_about *about, bool turns, struct err *err)
{
	struct child_spec spec = *given;
	struct buf head = { 0 };
	struct child *child = NULL;
	uint32_t n = NONE;

	write_head(&spec, about, &head);
	spec.head = head.p;
	if (has_room(c, &spec, err))
		child = (turns ? child_add : child_start)(c->children, &spec, err);
	buf_release(&head);
	if (child)
		n = add_agent(c, child, group, about, err);
	if (child && n == NONE && !turns)
		child_stop(child, 0, 0);
	return n;
}

uint32_t agent_set_start(struct agent_set *c, const struct child_spec *spec, struct str group,
			 const struct agent_about *about, struct err *err)
{
	return add_child(c, spec, group, about, false, err);
}

uint32_t agent_set_add(struct agent_set *c, const struct child_spec *spec, struct str group,
		       struct err *err)
{
	return add_child(c, spec, group, &(struct agent_about){ 0 }, true, err);
}

static const char **words_in(yyjson_val *array)
{
	VEC(const char *) words = { 0 };
	yyjson_val *word;
	size_t i, n;

	yyjson_arr_foreach(array, i, n, word)
		vec_push(&words, yyjson_is_str(word) ? yyjson_get_str(word) : "");
	vec_push(&words, NULL);
	return words.v;
}

/* The path, seen from that folder if it is relative. */
static char *path_from(struct str from, struct str path)
{
	struct buf out = { 0 };

	if (!str_starts(path, STR("/")))
		buf_printf(&out, "%.*s/", STR_ARG(from));
	buf_add_str(&out, path);
	return out.p;
}

static void read_about(yyjson_val *root, struct arena *arena, struct agent_about *out)
{
	yyjson_val *array = json_get(root, "capabilities"), *word;
	struct str *words = arena_zalloc(arena, (yyjson_arr_size(array) + 1) * sizeof(*words));
	size_t i, n;

	yyjson_arr_foreach(array, i, n, word)
		words[out->capability_n++] = arena_str(arena, json_str(word));
	out->capabilities = words;
	out->role = arena_str(arena, json_get_str(root, "role"));
	out->session = str_is(json_get_str(root, "speaks"), "session");
	out->mode = arena_str(arena, json_get_str(root, "mode"));
	if (!dialect_named(json_get_str(root, "dialect"), &out->dialect))
		out->dialect = DIALECT_UNKNOWN;
}

/* Tells the child what the head of its capture has of its start. */
static void read_head(struct child *child, struct arena *arena, struct agent_about *about)
{
	struct json_reader reader = { 0 };
	struct child_spec spec = { .name = child->name };
	struct buf head = { 0 };
	struct str rest, line;
	yyjson_val *root;
	ssize_t n;

	buf_reserve(&head, WIRE_HEAD_BYTES + JSON_PADDING);
	n = pread(child->out.source.fd, head.p, WIRE_HEAD_BYTES, 0);
	rest = str_make(head.p, n > 0 ? (size_t)n : 0);
	line = str_cut(&rest, STR("\n"));
	if (str_starts(line, STR(WIRE_HEAD)) &&
	    json_read(&reader, str_from(line, 1), &root) == JSON_OK) {
		const char **argv = words_in(json_get(root, "command"));
		const char **env = words_in(json_get(root, "env"));
		struct str from = json_get_str(root, "from");
		char *folder = path_from(from, json_get_str(root, "folder")), *program = NULL;

		read_about(root, arena, about);
		if (from.n)
			about->folder = arena_str(arena, str_of(folder));
		if (argv[0] && strchr(argv[0], '/'))
			argv[0] = program = path_from(from, str_of(argv[0]));
		spec.argv = argv;
		spec.env = env;
		spec.folder = folder;
		if (argv[0] && from.n)
			child_learn(child, &spec);
		for (uint32_t i = 0; env[i] && !child->missing; i++)
			child->missing = getenv(env[i]) ? NULL : xstrdup(env[i]);
		free(argv);
		free(env);
		free(folder);
		free(program);
	}
	json_reader_release(&reader);
	buf_release(&head);
}

uint32_t agent_set_attach(struct agent_set *c, const char *name, struct agent_about *about,
			  struct err *err)
{
	struct child_spec spec = { .name = name };
	struct child *child = has_room(c, &spec, err) ? child_attach(c->children, name, err) : NULL;

	*about = (struct agent_about){ 0 };
	if (!child)
		return NONE;
	read_head(child, &c->load->wire.arena, about);
	return add_agent(c, child, STR_NONE, about, err);
}

/* ---- reading ---- */

/* Where the output of the current incarnation ends, as far as it was captured. */
static uint64_t incarnation_end(const struct set_agent *a, int stream)
{
	const struct agent_stream *r = &a->streams[stream];

	return r->current + 1 < a->incarnations.n ? a->incarnations.v[r->current + 1].began[stream]
					 : capture_of(a, stream)->source.end;
}

static bool has_ended(const struct set_agent *a, int stream)
{
	return a->streams[stream].current + 1 < a->incarnations.n || a->child->life == CHILD_OVER;
}

static bool has_more(const struct set_agent *a, int stream)
{
	const struct agent_stream *r = &a->streams[stream];

	return r->at < capture_of(a, stream)->source.end || (has_ended(a, stream) && !r->ended) ||
	       r->current + 1 < a->incarnations.n;
}

/* Reads a piece of one stream; at the end of an incarnation, emits its incomplete last line. */
static void read_piece(struct agent_set *c, struct set_agent *a, int stream)
{
	struct agent_stream *r = &a->streams[stream];
	struct wire *w = &c->load->wire;
	struct source *s = &w->files.v[r->load.file].source;
	uint64_t end = incarnation_end(a, stream);
	struct err err;

	s->end = capture_of(a, stream)->source.end;
	if (r->at < end) {
		size_t n = end - r->at < PIECE_BYTES ? (size_t)(end - r->at) : PIECE_BYTES;

		buf_reserve(&c->room, n);
		if (source_fetch(s, r->at, n, c->room.p, &err) < 0) {
			load_say(c->load, str_of(err.text));
			c->load->trouble = true;
		} else {
			framer_feed(&r->framer, str_make(c->room.p, n), load_frame, &r->load);
		}
		r->at += n;
		w->bytes_done += n;
	}
	if (r->at < end || !has_ended(a, stream))
		return;
	if (!r->ended)
		framer_end(&r->framer, load_frame, &r->load);
	r->ended = r->current + 1 == a->incarnations.n;
	r->current += !r->ended;
}

uint64_t agent_set_behind(const struct agent_set *c)
{
	uint64_t n = 0;

	for (uint32_t i = 0; i < c->agents.n; i++)
		for (int k = 0; k < AGENT_PIPES; k++)
			n += capture_of(c->agents.v[i], k)->source.end -
			     c->agents.v[i]->streams[k].at;
	return n;
}

static void note_incomplete(struct agent_stream *r, int64_t now_ms)
{
	if (!r->framer.length || r->framer.blank)
		r->line_ms = AGENT_SET_NO_LINE;
	else if (r->line_ms == AGENT_SET_NO_LINE || r->line_start != r->framer.start)
		r->line_ms = now_ms;
	r->line_start = r->framer.start;
}

static bool read_agent(struct agent_set *c, struct set_agent *a, int64_t now_ms)
{
	bool more = false;

	for (int k = 0; k < AGENT_PIPES; k++)
		if (has_more(a, k)) {
			read_piece(c, a, k);
			note_incomplete(&a->streams[k], now_ms);
			more = true;
		}
	return more;
}

uint32_t agent_set_take(struct agent_set *c, int64_t now_ms, load_fn each, void *ctx)
{
	uint32_t before = c->load->model.records.n, idle = 0;

	children_tick(c->children, now_ms);
	for (uint32_t i = 0; i < c->agents.n; i++) {
		struct set_agent *a = c->agents.v[i];

		if (a->child->incarnation != vec_last(&a->incarnations)->incarnation)
			begin_incarnation(a);
		for (int k = 0; k < AGENT_PIPES; k++) {
			a->streams[k].load.each = each;
			a->streams[k].load.ctx = ctx;
		}
	}
	while (idle < c->agents.n) {
		if (c->next >= c->agents.n)
			c->next = 0;
		idle = read_agent(c, c->agents.v[c->next++], now_ms) ? 0 : idle + 1;
		if (!idle && loop_now_ms() - now_ms >= STEP_MS)
			break;
	}
	c->load->wire.bytes_total = c->load->wire.bytes_done + agent_set_behind(c);
	if (c->load->model.records.n != before)
		load_settle(c->load);
	return c->load->model.records.n - before;
}

int agent_set_fd(const struct agent_set *c)
{
	return children_fd(c->children);
}

int agent_set_wait_ms(const struct agent_set *c, int64_t now_ms)
{
	int wait = children_wait_ms(c->children, now_ms);

	for (uint32_t i = 0; i < c->agents.n; i++)
		for (int k = 0; k < AGENT_PIPES; k++) {
			int64_t line = c->agents.v[i]->streams[k].line_ms;

			if (has_more(c->agents.v[i], k))
				return 0;
			if (line == AGENT_SET_NO_LINE || line + FOLLOW_SHOWN_MS <= now_ms)
				continue;
			line += FOLLOW_SHOWN_MS - now_ms;
			if (wait < 0 || line < wait)
				wait = (int)line;
		}
	return wait;
}

struct str agent_set_incomplete(const struct agent_set *c, int64_t now_ms)
{
	const struct agent_stream *oldest = NULL;

	for (uint32_t i = 0; i < c->agents.n; i++)
		for (int k = 0; k < AGENT_PIPES; k++) {
			const struct agent_stream *r = &c->agents.v[i]->streams[k];

			if (r->line_ms <= now_ms - FOLLOW_SHOWN_MS &&
			    (!oldest || r->line_ms < oldest->line_ms))
				oldest = r;
		}
	return oldest ? buf_str(&oldest->framer.held) : STR_NONE;
}

/* ---- queries ---- */

bool agent_set_waits_for_room(const struct agent_set *c, struct buf *out)
{
	const struct child *first = NULL;
	uint32_t n = 0;

	for (uint32_t i = 0; i < c->agents.n; i++)
		if (c->agents.v[i]->child->full.n)
			first = n++ ? first : c->agents.v[i]->child;
	if (!n)
		return false;
	buf_printf(out, "%s", first->name);
	if (n > 1)
		buf_printf(out, " and %u more", n - 1);
	buf_printf(out, ": cannot keep %s output in %s: %s; %s until there is room, nothing is lost",
		   n > 1 ? "their" : "its", children_folder(c->children), first->full.p,
		   n > 1 ? "they wait" : "it waits");
	return true;
}

bool agent_set_has_caught_up(const struct agent_set *c, uint32_t agent)
{
	const struct set_agent *a = c->agents.v[agent];

	return a->streams[AGENT_OUT].at >= a->known;
}

bool agent_set_is_over(const struct agent_set *c, uint32_t agent)
{
	const struct set_agent *a = c->agents.v[agent];

	return a->child->life == CHILD_OVER && !has_more(a, AGENT_OUT) && !has_more(a, AGENT_ERR);
}

uint32_t agent_set_running(const struct agent_set *c)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < c->agents.n; i++)
		n += !agent_set_is_over(c, i);
	return n;
}

uint32_t agent_set_of_file(const struct agent_set *c, uint32_t file, enum agent_pipe *stream)
{
	uint32_t agent = 0;

	/* sorted, as files are numbered in the order of starting; AGENT_ERR is the last of each */
	bisect(agent, c->agents.n, i, c->agents.v[i]->streams[AGENT_ERR].load.file < file)
	for (int k = 0; agent < c->agents.n && k < AGENT_PIPES; k++)
		if (c->agents.v[agent]->streams[k].load.file == file) {
			if (stream)
				*stream = (enum agent_pipe)k;
			return agent;
		}
	return NONE;
}

uint32_t agent_set_named(const struct agent_set *c, struct str name)
{
	for (uint32_t i = c->agents.n; i-- > 0;) {
		uint32_t file = c->agents.v[i]->streams[AGENT_OUT].load.file;

		if (str_is(name, c->agents.v[i]->child->name) ||
		    str_eq(name, c->load->wire.files.v[file].group))
			return i;
	}
	return NONE;
}

unsigned agent_set_incarnation(const struct set_agent *a, enum agent_pipe stream, uint64_t offset)
{
	uint32_t i = a->incarnations.n - 1;

	while (i && a->incarnations.v[i].began[stream] > offset)
		i--;
	return a->incarnations.v[i].began[stream] > offset ? 0
							   : a->incarnations.v[i].incarnation;
}
