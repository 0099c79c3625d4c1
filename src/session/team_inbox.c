/* The team's inbox as a source: opening, steps of the loop, marks, what is said of the connection. */
#include "session/team_internal.h"

#include "base/io.h"
#include "decide/records.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pwd.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum {
	WAIT_MS = 15000,      /* for what the store has, where nothing follows */
	WAIT_SHORT_MS = 1500, /* and where the rest comes later */
	SWEEP_S = 60,         /* so old is a capture that nobody locks any more */
	END_MS = 2000,        /* for answers when gavel ends */
	SLOW_MS = 2000,       /* without an answer, said on the banner */
	CLOCK_MS = 5000,      /* difference of clocks, likewise */
};

#define CAPTURE_NAME "gavel-team-"
#define CAPTURE_HEAD WIRE_HEAD ",\"speaks\":\"session\"}\n"

bool team_is_address(const char *word)
{
	return team_url_is(word);
}

void team_say(struct team_inbox *t, const char *format, ...)
{
	struct buf *news = &t->load->teams.news;
	char text[1024];
	va_list ap;

	va_start(ap, format);
	vsnprintf(text, sizeof(text), format, ap);
	va_end(ap);
	buf_clear(news); /* the message line shows one */
	buf_adds(news, text);
}

void team_note_trouble(struct team_inbox *t, struct str why)
{
	if (t->trouble && str_is(why, t->trouble))
		return;
	free(t->trouble);
	t->trouble = str_dup(why);
}

/* ---- opening ---- */

static void on_ready(void *ctx)
{
	struct team_inbox *t = ctx;

	t->checked = t->begun = false; /* all is read again: a standby may have forgotten the newest */
	t->due = true;
	t->poll_ms = t->claims_ms = 0;
	/* claims may have lapsed */
	t->beat_ms = 0;
}

static void on_hint(void *ctx)
{
	struct team_inbox *t = ctx;

	t->due = true;
}

/* The login that libpq will take. */
static char *login_of(const struct team_url *url)
{
	struct str rest = str_from(str_of(url->libpq), strlen("postgresql://"));
	const char *user = getenv("PGUSER");
	const struct passwd *account;
	ptrdiff_t at = str_find(rest, STR("@"), 0), slash = str_find(rest, STR("/"), 0);

	if (at > 0 && (slash < 0 || at < slash))
		return str_dup(str_make(rest.p, (size_t)at));
	if (user && *user)
		return xstrdup(user);
	account = getpwuid(geteuid());
	return xstrdup(account ? account->pw_name : "me");
}

/* postgresql://ann@db/team: what the source is called, and a journal of its own is named by. */
static struct str group_of(struct team_inbox *t)
{
	const char *rest = t->url.group + strlen("postgresql://");
	struct buf name = { 0 };
	struct str kept;

	buf_printf(&name, "postgresql://%s@%s", t->login, rest);
	if (t->url.source)
		buf_printf(&name, "%ssource=%s", strchr(rest, '?') ? "&" : "?", t->url.source);
	kept = arena_str(&t->load->wire.arena, buf_str(&name));
	buf_release(&name);
	return kept;
}

/* Removes captures of runs that were killed: whoever uses one has locked it. */
static void sweep_captures(void)
{
	DIR *dir = opendir(io_temp_folder());
	struct dirent *e;

	while (dir && (e = readdir(dir))) {
		struct stat st;
		int fd;

		if (strncmp(e->d_name, CAPTURE_NAME, strlen(CAPTURE_NAME)) != 0)
			continue;
		fd = openat(dirfd(dir), e->d_name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
		if (fd < 0)
			continue;
		if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_uid == geteuid() &&
		    time(NULL) - st.st_mtime > SWEEP_S && flock(fd, LOCK_EX | LOCK_NB) == 0)
			unlinkat(dirfd(dir), e->d_name, 0);
		close(fd);
	}
	if (dir)
		closedir(dir);
}

/* An empty file of this run, with the head of a capture unless it gets lines as they are. */
static int make_capture(struct team_inbox *t, struct err *err)
{
	struct buf path = { 0 };

	sweep_captures();
	buf_printf(&path, "%s/" CAPTURE_NAME "XXXXXX.ndjson", io_temp_folder());
	t->fd = mkstemps(path.p, strlen(".ndjson"));
	t->path = path.p;
	if (t->fd < 0)
		return err_set(err, "%s: %s; what a store says is kept there while gavel runs",
			       path.p, strerror(errno));
	flock(t->fd, LOCK_EX | LOCK_NB);
	if (!t->url.source) {
		buf_adds(&t->out, CAPTURE_HEAD);
		t->end = t->out.n;
		team_flush(t);
	}
	return t->out.n ? err_set(err, "%s: %s", path.p, t->trouble) : 0;
}

static int open_inbox(struct team_inbox *t, const char *url, struct err *err)
{
	struct store_ops ops = { on_ready, on_hint, t };
	struct wire_file *f;

	if (team_url_parse(&t->url, url, err))
		return -1;
	t->login = login_of(&t->url);
	if (make_capture(t, err))
		return -1;
	if (t->url.source)
		ops.hint = NULL;
	t->store = store_open(&t->url, &ops, err);
	if (!t->store || wire_add(&t->load->wire, t->path, err))
		return -1;
	t->file = t->load->wire.files.n - 1;
	f = &t->load->wire.files.v[t->file];
	f->group = f->shown = group_of(t);
	f->made = !t->url.source;
	source_drop(&f->source); /* it is read once it has been written */
	return 0;
}

static void free_inbox(struct team_inbox *t)
{
	if (t->store)
		store_close(t->store);
	team_questions_free(t);
	if (t->fd >= 0) {
		close(t->fd);
		unlink(t->path);
	}
	team_url_release(&t->url);
	free(t->login);
	free(t->path);
	free(t->stopped);
	free(t->trouble);
	buf_release(&t->out);
	vec_release(&t->items);
	vec_release(&t->fetch);
	vec_release(&t->sent);
	vec_release(&t->prove);
	vec_release(&t->proving);
	decoder_release(&t->decoder);
	map_release(&t->by_id);
	map_release(&t->by_name);
	map_release(&t->by_offset);
	vec_release(&t->by_number);
	json_reader_release(&t->json);
	arena_release(&t->arena);
	free(t);
}

int team_add(struct load *l, const char *url, struct err *err)
{
	struct team_inbox *t = xcalloc(1, sizeof(*t));

	*t = (struct team_inbox){ .load = l, .fd = -1, .pause_ms = 20, .due = true };
	if (open_inbox(t, url, err)) {
		free_inbox(t);
		return -1;
	}
	vec_push(&l->teams.list, t);
	l->cache.use = false; /* the capture is of this run */
	team_link_open(l);
	return 0;
}

static const char *why_stopped(void *ctx)
{
	const struct team_inbox *t = ctx;

	return t->stopped;
}

void team_open_desks(struct load *l)
{
	for (uint32_t i = 0; i < l->teams.list.n; i++) {
		struct team_inbox *t = l->teams.list.v[i];
		struct desk *d = desks_find(&l->desks, l->wire.files.v[t->file].group);

		if (!d)
			continue;
		if (t->url.source) {
			d->access = DESK_READS;
			err_set(&d->why, "these are the lines of a source; decide in the team's "
					 "inbox: gavel %s", t->url.group);
			continue;
		}
		t->team = (struct desk_team){ t->url.group, t->login, why_stopped, team_refuses, t };
		d->team = &t->team;
		t->chain.n = d->store_seen.n;
		memcpy(t->chain.hash, d->store_seen.hash, sizeof(t->chain.hash));
	}
}

/* ---- in the loop ---- */

static void step_inbox(struct team_inbox *t, int64_t now_ms)
{
	struct store_status status;

	store_step(t->store, now_ms);
	store_status(t->store, &status);
	if (status.state == STORE_READY && t->url.source) {
		team_source_step(t, now_ms);
	} else if (status.state == STORE_READY) {
		if (status.schema > STORE_SCHEMA && !t->stopped) {
			struct err why;

			err_set(&why, "the store has version %d, this gavel knows %d: reading only; use a "
				      "newer gavel", status.schema, STORE_SCHEMA);
			t->stopped = xstrdup(why.text);
		}
		if (t->begun)
			team_claims_step(t, now_ms);
		team_events_step(t);
		team_dispatch(t);
	}
	store_step(t->store, now_ms); /* sends what was asked */
	team_flush(t);
}

void team_step(struct load *l, int64_t now_ms)
{
	for (uint32_t i = 0; i < l->teams.list.n; i++)
		step_inbox(l->teams.list.v[i], now_ms);
}

static int until(int64_t due_ms, int64_t now_ms)
{
	return due_ms > now_ms ? (int)(due_ms - now_ms) : 0;
}

/* Something of the store is to be read, and not only looked for. */
static bool has_to_ask(const struct team_inbox *t)
{
	return !t->url.source && !t->refused && (t->due || t->fetch.n || t->prove.n);
}

int team_wait_ms(const struct load *l, int64_t now_ms)
{
	int wait = -1;

	for (uint32_t i = 0; i < l->teams.list.n; i++) {
		const struct team_inbox *t = l->teams.list.v[i];
		struct store_status status;

		store_status(t->store, &status);
		wait = loop_sooner(wait, store_wait_ms(t->store, now_ms));
		if (status.state != STORE_READY)
			continue;
		if (!t->reading)
			wait = loop_sooner(wait, has_to_ask(t) ? 0 : until(t->poll_ms, now_ms));
		if (t->begun && !t->url.source)
			wait = loop_sooner(wait, until(t->tick_ms, now_ms));
	}
	return wait;
}

unsigned team_fds(const struct load *l, struct loop_fd *out, unsigned most)
{
	unsigned n = 0;

	for (uint32_t i = 0; i < l->teams.list.n && n < most; i++)
		out[n++] = store_fd(l->teams.list.v[i]->store);
	return n;
}

static bool is_settled(const struct team_inbox *t)
{
	return t->begun && !t->fetch.n && !t->prove.n && !t->reading;
}

/* Why a store has nothing to say, or NULL. */
static const char *failure(const struct team_inbox *t, const struct store_status *status)
{
	if (t->trouble)
		return t->trouble;
	return status->state == STORE_LOST && !status->connections ? status->why : NULL;
}

int team_wait(struct load *l, struct err *err)
{
	int64_t end = loop_now_ms() + (l->follow ? WAIT_SHORT_MS : WAIT_MS);

	for (uint32_t i = 0; i < l->teams.list.n; i++) {
		struct team_inbox *t = l->teams.list.v[i];
		struct store_status status;
		int64_t now = loop_now_ms();

		while (!is_settled(t) && now < end) {
			struct loop_fd wait = store_fd(t->store);
			struct pollfd fd = { wait.fd, (short)(POLLIN | (wait.output ? POLLOUT : 0)),
					     0 };

			team_step(l, now);
			store_status(t->store, &status);
			if (failure(t, &status))
				break;
			if (!is_settled(t))
				poll(&fd, 1, loop_sooner(team_wait_ms(l, now), 20));
			now = loop_now_ms();
		}
		team_flush(t);
		store_status(t->store, &status);
		if (is_settled(t) || l->follow)
			continue;
		return err_set(err, "%s: %.400s", t->url.group,
			       failure(t, &status) ? failure(t, &status) : "the store did not answer");
	}
	return 0;
}

/* ---- marks ---- */

/* New items of the model are found by the place of the line that raised them. */
static void bind_items(struct load *l)
{
	const struct model *m = &l->model;

	for (; l->teams.items_seen < m->items.n; l->teams.items_seen++) {
		uint32_t message = m->items.v[l->teams.items_seen].steps[0].message;
		uint32_t file = message_route(m, message)->source;

		for (uint32_t i = 0; i < l->teams.list.n; i++) {
			struct team_inbox *t = l->teams.list.v[i];
			struct team_item *item = file == t->file
							 ? team_item_at(t, message_offset(m, message))
							 : NULL;

			if (item)
				team_bind(t, item, l->teams.items_seen);
		}
	}
}

/* The agents have answered what was decided here. */
static void acknowledge(struct load *l, struct team_inbox *t)
{
	struct desk *d = desks_find(&l->desks, l->wire.files.v[t->file].group);

	if (!d || d->access != DESK_WRITES || (!t->acked && t->letters == d->changes))
		return;
	t->acked = false;
	t->letters = d->changes;
	for (uint32_t i = 0; i < d->letters.n; i++) {
		const struct letter *x = &d->letters.v[i];
		const struct team_item *item;

		if (x->channel != CHANNEL_TEAM || x->state != LETTER_SENT)
			continue;
		item = team_item_by_id(t, (int64_t)x->attempt.ino);
		if (!item || !str_is(item->mark.outcome, "acked"))
			continue;
		desk_acknowledge(d, i);
		t->acked |= d->letters.v[i].state == LETTER_SENT; /* it could not be recorded */
	}
}

void team_settle(struct load *l)
{
	if (!l->teams.list.n)
		return;
	bind_items(l);
	for (uint32_t i = 0; i < l->teams.list.n; i++)
		acknowledge(l, l->teams.list.v[i]);
}

/* ---- what is said ---- */

static bool add_trouble(const struct team_inbox *t, int64_t now_ms, struct buf *out)
{
	struct store_status s;
	char span[32];

	store_status(t->store, &s);
	if (s.state != STORE_READY && (s.connections || s.state == STORE_LOST))
		buf_printf(out, "%s: no connection for %s; staged decisions wait", t->url.group,
			   timestamp_span(now_ms - s.since_ms, span));
	else if (t->stopped)
		buf_adds(out, t->stopped);
	else if (s.asking_ms >= SLOW_MS)
		buf_printf(out, "%s: no answer for %lld s", t->url.group,
			   (long long)(s.asking_ms / 1000));
	else if (t->trouble)
		buf_printf(out, "%s: %s", t->url.group, t->trouble);
	else if (s.clock_ms >= CLOCK_MS || s.clock_ms <= -CLOCK_MS)
		buf_printf(out, "this clock is %lld s off the store's",
			   (long long)(s.clock_ms < 0 ? -s.clock_ms : s.clock_ms) / 1000);
	return out->n > 0;
}

bool team_banner(const struct load *l, int64_t now_ms, struct buf *out)
{
	for (uint32_t i = 0; i < l->teams.list.n; i++)
		if (add_trouble(l->teams.list.v[i], now_ms, out))
			return true;
	return false;
}

bool team_news(struct load *l, struct buf *out)
{
	if (!l->teams.news.n)
		return false;
	buf_add_str(out, buf_str(&l->teams.news));
	buf_clear(&l->teams.news);
	return true;
}

static void note_seen(struct team_inbox *t)
{
	struct desk *d = desks_find(&t->load->desks, t->load->wire.files.v[t->file].group);
	struct store_seen seen = { .n = t->chain.n };

	if (!d || !t->begun || t->stopped || t->url.source)
		return;
	memcpy(seen.hash, t->chain.hash, sizeof(seen.hash));
	desk_note_seen(d, &seen);
}

/* What the store has forgotten is listed as not sent, to be sent again. */
static void hold_forgotten(struct load *l, struct team_inbox *t)
{
	struct desk *d = desks_find(&l->desks, l->wire.files.v[t->file].group);
	struct err why, unused;

	err_set(&why, "the store went back and does not have it any more; resend it");
	for (uint32_t i = 0; d && d->access == DESK_WRITES && i < d->letters.n; i++) {
		if (team_forgot(t, d, &d->letters.v[i]))
			desk_hold(d, i, true, &why, &unused);
	}
}

bool team_accept(struct load *l)
{
	bool any = false;

	for (uint32_t i = 0; i < l->teams.list.n; i++) {
		struct team_inbox *t = l->teams.list.v[i];
		struct store_status s;

		store_status(t->store, &s);
		if (!t->stopped || s.schema > STORE_SCHEMA)
			continue;
		free(t->stopped);
		t->stopped = NULL;
		hold_forgotten(l, t);
		note_seen(t);
		any = true;
	}
	return any;
}

/* What was decided leaves, even if gavel ends at once. */
static void end_asking(struct team_inbox *t)
{
	struct store_status s;
	struct err unused;

	team_dispatch(t);
	store_status(t->store, &s);
	if (s.state == STORE_READY && s.queued)
		store_run(t->store, END_MS, &unused);
}

void team_release(struct load *l)
{
	for (uint32_t i = 0; i < l->teams.list.n; i++) {
		end_asking(l->teams.list.v[i]);
		note_seen(l->teams.list.v[i]);
		free_inbox(l->teams.list.v[i]);
	}
	vec_release(&l->teams.list);
	vec_release(&l->teams.marks.by_item);
	buf_release(&l->teams.news);
}
