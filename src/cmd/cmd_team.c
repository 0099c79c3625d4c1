/* gavel team: makes, checks and trims the store of a team. For its owner; everybody may check. */
#include "cmd/cmd.h"
#include "cmd/print.h"
#include "config/config.h"
#include "json/compose.h"
#include "team/chain.h"
#include "team/team_schema.h"
#include "team/store.h"

enum {
	CONNECT_MS = 20000,
	WORK_MS = 300000, /* what may take long, such as dropping days of lines */
	CHAIN_STEP = 5000, /* events read at once */
	CLOCK_MAX_MS = 5000,
	KEEP_S = 30 * 86400,
	VERSION_MIN = 130000, /* of the server: gen_random_uuid, xid8 */
};

enum check_state { CHECK_OK, CHECK_CAUTION, CHECK_PROBLEM };

struct team_command {
	struct options *o;
	struct team_url url;
	struct store *store;
	struct chain chain;
	struct err err;
	bool failed;    /* err says why */
	uint32_t taken; /* rows of the newest answer */
	int64_t number; /* the first value of it */
	bool found;     /* a problem */
};

/* ---- asking ---- */

/* Keeps why it was refused, or how many rows came. */
static bool take(struct team_command *t, const struct store_answer *a)
{
	if (!a->rows) {
		t->failed = true;
		err_set(&t->err, "%s: %.*s", t->url.group, STR_ARG(a->why));
		return false;
	}
	t->taken = a->n;
	return true;
}

static void take_number(void *ctx, const struct store_answer *a)
{
	struct team_command *t = ctx;

	if (take(t, a) && a->n)
		t->number = store_int(a->rows, 0, 0);
}

static void take_nothing(void *ctx, const struct store_answer *a)
{
	take(ctx, a);
}

/* Asks one thing and waits for the answer. */
static int ask(struct team_command *t, const struct store_request *r, int timeout_ms)
{
	store_ask(t->store, r);
	t->failed = false;
	return store_run(t->store, timeout_ms, &t->err) || t->failed ? -1 : 0;
}

static int ask_number(struct team_command *t, const char *sql, int64_t *out)
{
	struct store_request r = { .sql = sql, .answered = take_number, .ctx = t };

	if (ask(t, &r, CONNECT_MS))
		return -1;
	*out = t->number;
	return 0;
}

/* Connects, and refuses a store that is newer than this program. */
static int connect_store(struct team_command *t, struct store_status *status)
{
	int64_t one;

	t->store = store_open(&t->url, NULL, &t->err);
	if (!t->store || ask_number(t, "select 1", &one))
		return -1;
	store_status(t->store, status);
	if (status->schema > STORE_SCHEMA)
		return err_set(&t->err, "%s has version %d, this gavel knows %d: use a newer gavel",
			       t->url.group, status->schema, STORE_SCHEMA);
	return 0;
}

/* ---- init ---- */

static void print_examples(void)
{
	static const char words[] =
		"\n-- A login for each person and each machine, in psql; \\password asks for the "
		"password.\n"
		"create role ann login in role gavel_reviewer;\n"
		"\\password ann\n"
		"create role machine1 login in role gavel_agent;\n"
		"\\password machine1\n"
		"-- Who is asked when nobody decides in time (optional).\n"
		"create role lead nologin in role gavel_reviewer;\n"
		"insert into gavel.ladder values (0, 'gavel_reviewer', '1 hour'), (1, 'lead', '1 hour');\n"
		"-- Two persons for all items of a source (optional).\n"
		"update gavel.source set need = 2 where name = 'machine1:/log.ndjson';\n";

	say_text(STR(words));
}

static int init(struct team_command *t)
{
	struct store_status status;
	struct store_request r = { .is_script = true, .patience_ms = WORK_MS,
				   .answered = take_nothing, .ctx = t };
	struct buf script = { 0 };
	int rc;

	if (connect_store(t, &status))
		return -1;
	schema_script(status.schema, &script);
	r.sql = script.p;
	rc = ask(t, &r, WORK_MS);
	buf_release(&script);
	if (rc)
		return -1;
	if (!status.schema)
		say("%s: the store was made, version %d", t->url.group, STORE_SCHEMA);
	else if (status.schema < STORE_SCHEMA)
		say("%s: the store was upgraded from version %d to %d", t->url.group, status.schema,
		    STORE_SCHEMA);
	else
		say("%s: the store is there, version %d; its functions and rights were made anew",
		    t->url.group, STORE_SCHEMA);
	print_examples();
	return 0;
}

/* ---- check ---- */

static void note(struct team_command *t, enum check_state state, const char *name,
		 const char *format, ...) __attribute__((format(printf, 4, 5)));

static void note(struct team_command *t, enum check_state state, const char *name,
		 const char *format, ...)
{
	static const char *const states[] = { "ok", "caution", "problem" };
	struct buf words = { 0 }, out = { 0 };
	va_list ap;

	va_start(ap, format);
	buf_vprintf(&words, format, ap);
	va_end(ap);
	t->found |= state == CHECK_PROBLEM;
	if (t->o->format == OUTPUT_JSON) {
		buf_addc(&out, '{');
		json_put_name(&out, "check", name);
		json_put_name(&out, "state", states[state]);
		json_put_str(&out, "words", buf_str(&words));
		buf_adds(&out, "}\n");
		print_json(&out);
	} else {
		buf_printf(&out, "%-8s %-8s ", states[state], name);
		add_clean(&out, buf_str(&words), TEXT_LINE);
		buf_addc(&out, '\n');
		print_text(&out);
	}
	buf_release(&words);
}

/* Who connects a standby is hidden from most logins, but not that there is somebody. */
static const char server_sql[] =
	"select current_setting('server_version'), current_setting('server_version_num')::int, "
	"current_setting('fsync'), "
	"(select reset_val from pg_settings where name = 'synchronous_commit'), "
	"current_setting('full_page_writes'), current_setting('synchronous_standby_names'), "
	"(select count(*) from pg_stat_replication where sync_state in ('sync', 'quorum')), "
	"(select count(*) from pg_stat_replication where sync_state is null), "
	"coalesce((select version from pg_stat_ssl where pid = pg_backend_pid() and ssl), ''), "
	"inet_server_addr() is null, "
	"(select rolsuper from pg_roles where rolname = session_user)";

static void check_durable(struct team_command *t, const struct store_rows *rows)
{
	struct str fsync = store_str(rows, 0, 2), commit = store_str(rows, 0, 3);

	note(t, str_is(fsync, "on") ? CHECK_OK : CHECK_PROBLEM, "fsync", "fsync is %.*s%s",
	     STR_ARG(fsync), str_is(fsync, "on") ? "" : ": a power cut can take the whole store; set "
							"fsync = on in postgresql.conf");
	if (!str_is(store_str(rows, 0, 4), "on"))
		note(t, CHECK_PROBLEM, "fsync", "full_page_writes is off: a power cut can damage the "
						"store; set full_page_writes = on");
	if (str_is(commit, "on") || str_is(commit, "remote_apply"))
		note(t, CHECK_OK, "commit", "synchronous_commit is %.*s", STR_ARG(commit));
	else
		note(t, CHECK_CAUTION, "commit",
		     "synchronous_commit is %.*s; gavel sets it to on for itself, and decides nothing "
		     "without", STR_ARG(commit));
}

static void check_standby(struct team_command *t, const struct store_rows *rows)
{
	struct str names = store_str(rows, 0, 5);
	int64_t n = store_int(rows, 0, 6), hidden = store_int(rows, 0, 7);

	if (!names.n)
		note(t, CHECK_CAUTION, "standby",
		     "no synchronous standby: what was acknowledged is lost with this server's disk; "
		     "set synchronous_standby_names");
	else if (!n && hidden)
		note(t, CHECK_CAUTION, "standby",
		     "synchronous_standby_names is '%.*s', and this login may not see whether it is "
		     "connected: grant it pg_read_all_stats", STR_ARG(names));
	else if (!n)
		note(t, CHECK_PROBLEM, "standby",
		     "synchronous_standby_names is '%.*s' and none of them is connected: deciding "
		     "waits for one", STR_ARG(names));
	else
		note(t, CHECK_OK, "standby", "%lld synchronous standby%s", (long long)n,
		     plural_s((uint64_t)n));
}

static void check_server(void *ctx, const struct store_answer *a)
{
	struct team_command *t = ctx;
	struct str version, tls;
	bool local;

	if (!take(t, a))
		return;
	version = store_str(a->rows, 0, 0);
	tls = store_str(a->rows, 0, 8);
	local = store_int(a->rows, 0, 9);
	note(t, store_int(a->rows, 0, 1) >= VERSION_MIN ? CHECK_OK : CHECK_PROBLEM, "server",
	     "PostgreSQL %.*s%s", STR_ARG(version),
	     store_int(a->rows, 0, 1) >= VERSION_MIN ? "" : ": gavel needs 13 or later");
	note(t, local || tls.n ? CHECK_OK : CHECK_PROBLEM, "tls", "%.*s",
	     STR_ARG(local ? STR("a socket of this machine") : tls.n ? tls : STR("not encrypted")));
	check_durable(t, a->rows);
	check_standby(t, a->rows);
	if (store_int(a->rows, 0, 10))
		note(t, CHECK_CAUTION, "login",
		     "this login is a superuser: good for init, too much for every day");
}

static const char rights_sql[] =
	"select 'role ' || r.name || ' may ' || p.name || ' ' || c.relname "
	"from (values ('gavel_agent'), ('gavel_reviewer')) r (name), "
	"(values ('insert'), ('update'), ('delete'), ('truncate'), ('trigger')) p (name), pg_class c "
	"where c.relnamespace = 'gavel'::regnamespace and c.relkind in ('r', 'p') "
	"and has_table_privilege(r.name, c.oid, p.name) "
	"union all select 'everybody may call ' || f.proname from pg_proc f "
	"where f.pronamespace = 'gavel'::regnamespace and has_function_privilege('public', f.oid, "
	"'execute') "
	"union all select 'role ' || r.name || ' may create tables in the store' from "
	"(values ('gavel_agent'), ('gavel_reviewer')) r (name) "
	"where has_schema_privilege(r.name, 'gavel', 'create') limit 20";

static void check_rights(void *ctx, const struct store_answer *a)
{
	struct team_command *t = ctx;

	if (!take(t, a))
		return;
	if (!a->n)
		note(t, CHECK_OK, "rights", "agents and reviewers can only do what the functions do");
	for (uint32_t i = 0; i < a->n; i++) {
		struct str words = store_str(a->rows, i, 0);

		note(t, CHECK_PROBLEM, "rights", "%.*s; gavel team init takes that back",
		     STR_ARG(words));
	}
}

static void check_events(void *ctx, const struct store_answer *a)
{
	struct team_command *t = ctx;
	struct store_event e;

	if (!take(t, a))
		return;
	for (uint32_t i = 0; i < a->n; i++) {
		enum chain_fault fault;

		chain_read(a->rows, i, &e);
		fault = chain_add(&t->chain, &e);
		if (fault == CHAIN_FINE)
			continue;
		note(t, CHECK_PROBLEM, "events",
		     fault == CHAIN_GAP ? "after event %lld one is missing: somebody has changed the "
					  "history of the store"
					: "event %lld is the last that is proven; the next one was "
					  "changed afterwards",
		     (long long)t->chain.n);
		t->failed = true;
		t->err.text[0] = '\0'; /* it was said */
		return;
	}
}

static const char undecided_sql[] =
	"select count(*) from gavel.decision d where not exists (select from gavel.event e "
	"where e.item = d.item and e.what = 'decided' "
	"and e.note = d.verb || ' ' || encode(sha256(convert_to(d.draft, 'UTF8')), 'hex'))";

/* All events from the first on, and whether each decision is the one that its event tells of. */
static int check_chain(struct team_command *t)
{
	struct store_request r = { .sql = "select " CHAIN_COLUMNS " from gavel.event "
					  "where n > $1::bigint order by n limit $2::bigint",
				   .n = 2, .answered = check_events, .ctx = t };
	int64_t head, strangers;

	do {
		r.values[0] = store_number(t->chain.n);
		r.values[1] = store_number(CHAIN_STEP);
		if (ask(t, &r, WORK_MS))
			return t->err.text[0] ? -1 : 0;
	} while (t->taken == CHAIN_STEP);
	if (ask_number(t, "select n from gavel.head", &head) ||
	    ask_number(t, undecided_sql, &strangers))
		return -1;
	if (head > t->chain.n) /* or more has come meanwhile */
		note(t, CHECK_CAUTION, "events", "%lld of %lld events are there and proven",
		     (long long)t->chain.n, (long long)head);
	else if (strangers)
		note(t, CHECK_PROBLEM, "events",
		     "%lld decision%s differ from what their events tell: they were changed",
		     (long long)strangers, plural_s((uint64_t)strangers));
	else
		note(t, CHECK_OK, "events", "all %lld events are proven", (long long)t->chain.n);
	return 0;
}

static void check_session(struct team_command *t, const struct store_status *s)
{
	char span[32];

	if (s->schema == STORE_SCHEMA)
		note(t, CHECK_OK, "schema", "version %d", s->schema);
	else if (s->schema)
		note(t, CHECK_PROBLEM, "schema", "version %d, this gavel needs %d; run gavel team init",
		     s->schema, STORE_SCHEMA);
	else
		note(t, CHECK_PROBLEM, "schema",
		     "no store, or %s may not see it: run gavel team init, or grant %s the role "
		     "gavel_reviewer or gavel_agent", s->login, s->login);
	if (s->clock_ms > CLOCK_MAX_MS || s->clock_ms < -CLOCK_MAX_MS)
		note(t, CHECK_CAUTION, "clock", "the server's clock is %s off from this one",
		     timestamp_span(s->clock_ms, span));
}

static int check(struct team_command *t)
{
	struct store_request server = { .sql = server_sql, .answered = check_server, .ctx = t };
	struct store_request rights = { .sql = rights_sql, .answered = check_rights, .ctx = t };
	struct store_status status;
	int64_t may_read;

	if (connect_store(t, &status) || ask(t, &server, CONNECT_MS))
		return -1;
	check_session(t, &status);
	if (!status.schema)
		return 0;
	if (ask(t, &rights, CONNECT_MS) ||
	    ask_number(t, "select has_table_privilege('gavel.event', 'select')", &may_read))
		return -1;
	if (may_read)
		return check_chain(t);
	note(t, CHECK_OK, "events", "only reviewers see them");
	return 0;
}

/* ---- trim ---- */

static int trim(struct team_command *t)
{
	struct store_request r = { .sql = "select gavel.trim_lines($1::interval)", .n = 1,
				   .patience_ms = WORK_MS, .answered = take_number, .ctx = t };
	struct store_status status;
	struct buf keep = { 0 };
	int64_t zero;
	int rc;

	buf_printf(&keep, "%llu seconds",
		   (unsigned long long)(t->o->has_age ? t->o->older_than_s : (uint64_t)KEEP_S));
	r.values[0] = store_text(buf_str(&keep));
	rc = connect_store(t, &status) ||
	     ask_number(t, "select length(set_config('statement_timeout', '0', false))", &zero) ||
	     ask(t, &r, WORK_MS);
	buf_release(&keep);
	if (rc)
		return -1;
	say("%s: removed the lines of %lld day%s", t->url.group, (long long)t->number,
	    plural_s((uint64_t)t->number));
	return 0;
}

static const struct {
	const char *name;
	int (*run)(struct team_command *t);
} actions[] = { { "init", init }, { "check", check }, { "trim", trim } };

int cmd_team(struct options *o)
{
	struct team_command t = { .o = o };
	const char *url = o->words.n > 1 ? o->words.v[1] : NULL;
	unsigned n = sizeof(actions) / sizeof(actions[0]), i = 0;
	int rc;

	while (o->words.n && i < n && strcmp(o->words.v[0], actions[i].name) != 0)
		i++;
	if (!o->words.n || o->words.n > 2 || i == n)
		return print_trouble("team takes init, check or trim, and the store's address; see gavel "
				     "team --help");
	if (!url && config_check(o->config, &t.err) == 0)
		url = configured_team(o);
	else if (!url)
		return print_trouble("%s", t.err.text);
	if (!url)
		return print_trouble("team %s needs the store's address, or team.url in the "
				     "configuration", actions[i].name);
	if (o->has_age && actions[i].run != trim)
		return print_trouble("--keep is for team trim");
	rc = team_url_parse(&t.url, url, &t.err) || actions[i].run(&t);
	if (rc)
		print_trouble("%s", t.err.text);
	store_close(t.store);
	team_url_release(&t.url);
	return rc ? EXIT_TROUBLE : t.found ? EXIT_FOUND : EXIT_FINE;
}
