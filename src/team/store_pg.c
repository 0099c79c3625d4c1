/* The connection to PostgreSQL, the only file that sees libpq.
 *
 * A connection is made on a thread of its own with libpq's blocking call: looking names up, TLS and
 * going from one host of the address to the next have no complete asynchronous form. Once it is made,
 * and its session is set up, it is handed to the loop and only used there, without blocking. */
#include "base/buf.h"
#include "base/mem.h"
#include "base/thread.h"
#include "base/timestamp.h"
#include "team/store.h"
#include "team/store_values.h"

#include <errno.h>
#include <libpq-fe.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/random.h>
#include <unistd.h>

enum {
	RETRY_FIRST_MS = 250,
	RETRY_MAX_MS = 8000,
	SETTLED_MS = 5000, /* a connection of that age was a good one: the next try comes soon */
	CLOSE_PATIENCE_MS = 100,
};
/* From 1970 to 2000, which the server counts from. */
#define EPOCH_MS INT64_C(946684800000)

/* What a new session tells of the server. */
struct session_facts {
	int schema;
	char login[64], id[40];
	int64_t clock_ms;
};

enum attempt_state {
	ATTEMPT_RUNS,
	ATTEMPT_DONE,
	ATTEMPT_ABANDONED, /* nobody waits for it any more; the thread frees it */
};

struct connect_attempt {
	char *url;
	bool listens;
	_Atomic(int) state;
	int done; /* eventfd */
	pthread_t thread;
	PGconn *conn; /* NULL = `why` not */
	char why[400];
	struct session_facts facts;
};

struct queued_request {
	struct queued_request *next;
	struct store_request request;
	struct buf bytes[STORE_VALUES_MAX];
};

struct store {
	char *url, *group;
	struct store_ops ops;
	bool listens;
	enum store_state state;
	int64_t since_ms, retry_ms;
	unsigned failures; /* in a row */
	uint32_t connections;
	char why[400];
	struct session_facts facts;
	struct connect_attempt *attempt;
	PGconn *conn;
	struct queued_request *first, *last; /* the first is in flight if `sent` is set */
	uint32_t queued;
	bool sent, output;
	int64_t sent_ms;
	uint64_t sent_bytes;
	PGresult *result; /* the newest of the request in flight */
};

const char *store_engine(void)
{
	static char words[48];
	int v = PQlibVersion();
	struct buf b = { 0 };

	buf_printf(&b, "with PostgreSQL (libpq %d.%d)", v / 10000, v % 10000);
	str_copy(words, str_make(b.p, b.n < sizeof(words) ? b.n : sizeof(words) - 1));
	buf_release(&b);
	return words;
}

/* ---- errors ---- */

/* libpq's lines as one sentence, without what might quote a password. */
static void set_why(char *why, size_t size, const char *text)
{
	struct str rest = str_of(text);
	struct buf out = { 0 };

	while (rest.n) {
		struct str line = str_cut(&rest, STR("\n"));
		bool is_guess = line.n && line.p[0] == '\t'; /* "Is the server running …?" */

		line = str_trim(line);
		if (!line.n || is_guess || str_contains_nocase(line, STR("password=")))
			continue;
		buf_adds(&out, out.n ? "; " : "");
		buf_add_str(&out, line);
	}
	if (!out.n)
		buf_adds(&out, "the connection was lost");
	str_copy(why, str_make(out.p, out.n < size ? out.n : size - 1));
	buf_release(&out);
}

/* ---- values of rows, in binary form ---- */

static const PGresult *result_of(const struct store_rows *rows)
{
	return (const PGresult *)rows;
}

bool store_is_null(const struct store_rows *rows, uint32_t row, unsigned column)
{
	return PQgetisnull(result_of(rows), (int)row, (int)column);
}

struct str store_str(const struct store_rows *rows, uint32_t row, unsigned column)
{
	const PGresult *r = result_of(rows);

	return str_make(PQgetvalue(r, (int)row, (int)column),
			(size_t)PQgetlength(r, (int)row, (int)column));
}

int64_t store_int(const struct store_rows *rows, uint32_t row, unsigned column)
{
	struct str s = store_str(rows, row, column);
	uint64_t v = 0;

	for (size_t i = 0; i < s.n && i < 8; i++)
		v = v << 8 | (unsigned char)s.p[i];
	if (s.n == 4)
		return (int32_t)v;
	return s.n == 2 ? (int16_t)v : (int64_t)v;
}

int64_t store_time_ms(const struct store_rows *rows, uint32_t row, unsigned column)
{
	int64_t us = store_int(rows, row, column);

	if (store_is_null(rows, row, column) || us == INT64_MAX || us == INT64_MIN)
		return TIME_NONE;
	return us / 1000 + EPOCH_MS;
}

/* ---- connecting, on a thread ---- */

static void free_attempt(struct connect_attempt *a)
{
	if (a->conn)
		PQfinish(a->conn);
	if (a->done >= 0)
		close(a->done);
	free(a->url);
	free(a);
}

/* One statement while nobody else uses the connection; NULL: it failed, see a->why. */
static PGresult *ask_now(struct connect_attempt *a, const char *sql)
{
	PGresult *r = PQexecParams(a->conn, sql, 0, NULL, NULL, NULL, NULL, 1);

	if (PQresultStatus(r) == PGRES_TUPLES_OK || PQresultStatus(r) == PGRES_COMMAND_OK)
		return r;
	set_why(a->why, sizeof(a->why), PQerrorMessage(a->conn));
	PQclear(r);
	return NULL;
}

static void keep_name(char *to, size_t size, struct str s)
{
	str_copy(to, str_make(s.p, s.n < size ? s.n : size - 1));
}

/* The version is 0 if there is no schema, or this login may not look at it. */
static bool read_facts(struct connect_attempt *a)
{
	static const char who[] =
		"select session_user::text, clock_timestamp(), "
		"coalesce(has_schema_privilege(to_regnamespace('gavel')::oid, 'usage'), false) and "
		"coalesce(has_table_privilege(to_regclass('gavel.meta')::oid, 'select'), false)";
	PGresult *r = ask_now(a, who);
	const struct store_rows *rows = (const struct store_rows *)r;
	bool knows;

	if (!r)
		return false;
	keep_name(a->facts.login, sizeof(a->facts.login), store_str(rows, 0, 0));
	a->facts.clock_ms = store_time_ms(rows, 0, 1) - timestamp_now_ms();
	knows = store_int(rows, 0, 2);
	PQclear(r);
	if (!knows)
		return true;
	r = ask_now(a, "select version, id::text from gavel.meta");
	rows = (const struct store_rows *)r;
	if (!r)
		return false;
	if (PQntuples(r) == 1) {
		a->facts.schema = (int)store_int(rows, 0, 0);
		keep_name(a->facts.id, sizeof(a->facts.id), store_str(rows, 0, 1));
	}
	PQclear(r);
	return true;
}

/* libpq would print them. */
static void ignore_notice(void *ctx, const char *words)
{
	(void)ctx;
	(void)words;
}

/* A statement that outlives its client must not keep its locks for long. */
static bool set_up(struct connect_attempt *a)
{
	static const char *const settings[] = {
		("select set_config('synchronous_commit', 'on', false) "
		 "where current_setting('synchronous_commit') not in ('on', 'remote_apply')"),
		"select set_config('search_path', 'gavel, pg_temp', false)",
		"select set_config('statement_timeout', '10s', false)",
		"select set_config('lock_timeout', '3s', false)",
		"select set_config('idle_in_transaction_session_timeout', '10s', false)",
	};
	PGresult *r;

	for (unsigned i = 0; i < sizeof(settings) / sizeof(settings[0]); i++) {
		r = ask_now(a, settings[i]);
		if (!r)
			return false;
		PQclear(r);
	}
	r = a->listens ? ask_now(a, "listen gavel") : NULL;
	PQclear(r);
	PQsetNoticeProcessor(a->conn, ignore_notice, NULL);
	return (r || !a->listens) && read_facts(a) && PQsetnonblocking(a->conn, 1) == 0;
}

/* What stands behind the address overrules what it says. For sockets libpq ignores sslmode. */
static void *connect_store(void *ctx)
{
	struct connect_attempt *a = ctx;
	static const char *const names[] = {
		"dbname", "sslmode", "gssencmode", "target_session_attrs", "client_encoding",
		"application_name", "connect_timeout", "keepalives_idle", "keepalives_interval",
		"keepalives_count", "tcp_user_timeout", NULL
	};
	const char *values[] = { a->url, "verify-full", "disable", "read-write", "UTF8",
				 "gavel", "5", "5", "2", "3", "10000", NULL };
	uint64_t one = 1;

	a->conn = PQconnectdbParams(names, values, 1);
	if (PQstatus(a->conn) != CONNECTION_OK)
		set_why(a->why, sizeof(a->why), PQerrorMessage(a->conn));
	if (PQstatus(a->conn) != CONNECTION_OK || !set_up(a)) {
		PQfinish(a->conn);
		a->conn = NULL;
	}
	(void)!write(a->done, &one, sizeof(one));
	if (atomic_exchange(&a->state, ATTEMPT_DONE) == ATTEMPT_ABANDONED)
		free_attempt(a);
	return NULL;
}

static void set_state(struct store *s, enum store_state state)
{
	if (!s->since_ms || (state == STORE_READY) != (s->state == STORE_READY))
		s->since_ms = loop_now_ms();
	s->state = state;
}

/* Between half and all of a time that doubles: clients that lost a server together come back one by
 * one. */
static void wait_to_retry(struct store *s)
{
	uint64_t chance = 0;
	int64_t most = RETRY_FIRST_MS << (s->failures < 5 ? s->failures : 5);

	if (getrandom(&chance, sizeof(chance), GRND_NONBLOCK) < 0)
		chance = (uint64_t)loop_now_ms();
	s->failures++;
	most = most < RETRY_MAX_MS ? most : RETRY_MAX_MS;
	set_state(s, STORE_LOST);
	s->retry_ms = loop_now_ms() + most / 2 + (int64_t)(chance % (uint64_t)(most / 2));
}

static void begin_attempt(struct store *s)
{
	struct connect_attempt *a = xcalloc(1, sizeof(*a));
	int rc;

	a->url = xstrdup(s->url);
	a->listens = s->listens;
	a->done = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	rc = a->done < 0 ? errno : thread_start(&a->thread, connect_store, a);
	if (rc) {
		set_why(s->why, sizeof(s->why), strerror(rc));
		free_attempt(a);
		wait_to_retry(s);
		return;
	}
	s->attempt = a;
	set_state(s, STORE_CONNECTING);
}

static void end_attempt(struct store *s)
{
	struct connect_attempt *a = s->attempt;

	if (atomic_load(&a->state) != ATTEMPT_DONE)
		return;
	pthread_join(a->thread, NULL);
	s->attempt = NULL;
	if (!a->conn) {
		str_copy(s->why, str_of(a->why));
		wait_to_retry(s);
	} else {
		s->conn = a->conn;
		a->conn = NULL;
		s->facts = a->facts;
		s->why[0] = '\0';
		s->sent = s->output = false;
		s->connections++;
		set_state(s, STORE_READY);
	}
	free_attempt(a);
	if (s->conn && s->ops.ready)
		s->ops.ready(s->ops.ctx);
}

/* A thread that hangs in a lookup of a name is left to itself. */
static void abandon_attempt(struct connect_attempt *a)
{
	struct timespec until;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_nsec += CLOSE_PATIENCE_MS * 1000000L;
	until.tv_sec += until.tv_nsec / 1000000000L;
	until.tv_nsec %= 1000000000L;
	if (pthread_timedjoin_np(a->thread, NULL, &until) == 0) {
		free_attempt(a);
		return;
	}
	pthread_detach(a->thread);
	if (atomic_exchange(&a->state, ATTEMPT_ABANDONED) == ATTEMPT_DONE)
		free_attempt(a);
}

/* ---- the queue ---- */

static void free_asked(struct queued_request *q)
{
	for (unsigned i = 0; i < q->request.n; i++)
		buf_release(&q->bytes[i]);
	free(q);
}

void store_ask(struct store *s, const struct store_request *r)
{
	struct queued_request *q = xcalloc(1, sizeof(*q));

	q->request = *r;
	for (unsigned i = 0; i < r->n; i++)
		store_value_write(&r->values[i], &q->bytes[i]);
	*(s->first ? &s->last->next : &s->first) = q;
	s->last = q;
	s->queued++;
}

static int send_request(struct store *s, struct queued_request *q)
{
	const struct store_request *r = &q->request;
	const char *values[STORE_VALUES_MAX];
	int lengths[STORE_VALUES_MAX], formats[STORE_VALUES_MAX];
	Oid types[STORE_VALUES_MAX];

	for (unsigned i = 0; i < r->n; i++) {
		enum store_type type = r->values[i].type;

		types[i] = store_type_oid(type);
		values[i] = type == STORE_NULL ? NULL : q->bytes[i].p ? q->bytes[i].p : "";
		lengths[i] = (int)q->bytes[i].n;
		formats[i] = types[i] != 0;
		s->sent_bytes += q->bytes[i].n;
	}
	return r->is_script ? PQsendQuery(s->conn, r->sql)
			    : PQsendQueryParams(s->conn, r->sql, (int)r->n, types, values, lengths,
						formats, 1);
}

static void lose(struct store *s, const char *why)
{
	if (s->state == STORE_READY && loop_now_ms() - s->since_ms > SETTLED_MS)
		s->failures = 0;
	set_why(s->why, sizeof(s->why), why);
	PQclear(s->result);
	s->result = NULL;
	PQfinish(s->conn);
	s->conn = NULL;
	s->sent = s->output = false;
	wait_to_retry(s);
}

static bool is_error(const PGresult *r)
{
	return PQresultStatus(r) != PGRES_TUPLES_OK && PQresultStatus(r) != PGRES_COMMAND_OK &&
	       PQresultStatus(r) != PGRES_EMPTY_QUERY;
}

/* An error of the connection or of the whole server, and not of what was asked. */
static bool is_loss(const struct store *s, const PGresult *r)
{
	const char *severity = PQresultErrorField(r, PG_DIAG_SEVERITY_NONLOCALIZED);

	return is_error(r) && (PQstatus(s->conn) == CONNECTION_BAD ||
			       (severity && (strcmp(severity, "FATAL") == 0 ||
					     strcmp(severity, "PANIC") == 0)));
}

/* Transaction rollback, insufficient resources, lock not available, operator intervention. */
static bool is_unsettled(const char *code)
{
	return strncmp(code, "40", 2) == 0 || strncmp(code, "53", 2) == 0 ||
	       strncmp(code, "57", 2) == 0 || strcmp(code, "55P03") == 0;
}

/* What to do about a database without a store, or a login that nobody has let in. */
static const char *remedy(const struct store *s, const char *code)
{
	if (s->facts.schema || !code)
		return "";
	if (strcmp(code, "3F000") == 0 || strcmp(code, "42P01") == 0)
		return "; there is no store in this database: its owner makes one with gavel team init";
	return strcmp(code, "42501") == 0
		       ? "; its owner grants gavel_reviewer to people, and gavel_agent to machines"
		       : "";
}

static void refuse(const struct store *s, const struct store_request *r, const PGresult *result)
{
	const char *code = PQresultErrorField(result, PG_DIAG_SQLSTATE);
	const char *hint = PQresultErrorField(result, PG_DIAG_MESSAGE_HINT);
	const char *what = PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY);
	struct buf why = { 0 };

	buf_adds(&why, what ? what : PQresultErrorMessage(result));
	if (hint)
		buf_printf(&why, " (%s)", hint);
	buf_adds(&why, remedy(s, code));
	r->answered(r->ctx, &(struct store_answer){ .code = code ? code : "",
						    .unsettled = code && is_unsettled(code),
						    .why = buf_str(&why) });
	buf_release(&why);
}

/* The request in flight is answered: it leaves the queue before it calls back. */
static void answer(struct store *s)
{
	struct queued_request *q = s->first;
	PGresult *result = s->result;
	uint64_t affected = 0;

	s->result = NULL;
	s->sent = false;
	s->failures = 0;
	s->first = q->next;
	s->queued--;
	if (q->request.answered && is_error(result)) {
		refuse(s, &q->request, result);
	} else if (q->request.answered) {
		str_to_u64(str_of(PQcmdTuples(result)), &affected);
		q->request.answered(q->request.ctx,
				    &(struct store_answer){ .rows = (const struct store_rows *)result,
							    .n = (uint32_t)PQntuples(result),
							    .affected = (uint32_t)affected });
	}
	PQclear(result);
	free_asked(q);
}

/* Takes what has come of the request in flight. false: the connection is lost. */
static bool take_results(struct store *s)
{
	while (s->sent && !PQisBusy(s->conn)) {
		PGresult *next = PQgetResult(s->conn);

		if (!next && !s->result) {
			lose(s, PQerrorMessage(s->conn));
			return false;
		}
		if (!next) {
			answer(s);
			return true;
		}
		if (is_loss(s, next)) {
			lose(s, PQresultErrorMessage(next));
			PQclear(next);
			return false;
		}
		if (s->result && is_error(s->result)) {
			PQclear(next);
		} else {
			PQclear(s->result);
			s->result = next;
		}
	}
	return true;
}

static void take_hints(struct store *s)
{
	bool hinted = false;
	PGnotify *n;

	while ((n = PQnotifies(s->conn))) {
		hinted = true;
		PQfreemem(n);
	}
	if (hinted && s->ops.hint)
		s->ops.hint(s->ops.ctx);
}

static int patience_ms(const struct queued_request *q)
{
	return q->request.patience_ms ? q->request.patience_ms : STORE_PATIENCE_MS;
}

static void step_ready(struct store *s, int64_t now_ms)
{
	int rest;

	if (!PQconsumeInput(s->conn)) {
		lose(s, PQerrorMessage(s->conn));
		return;
	}
	if (!take_results(s))
		return;
	take_hints(s); /* reading results may have queued notifications, too */
	if (s->sent && now_ms - s->sent_ms >= patience_ms(s->first)) {
		lose(s, "the server did not answer in time");
		return;
	}
	if (s->first && !s->sent) {
		if (!send_request(s, s->first)) {
			lose(s, PQerrorMessage(s->conn));
			return;
		}
		s->sent = true;
		s->sent_ms = now_ms;
	}
	rest = PQflush(s->conn);
	s->output = rest > 0;
	if (rest < 0)
		lose(s, PQerrorMessage(s->conn));
}

void store_step(struct store *s, int64_t now_ms)
{
	switch (s->state) {
	case STORE_CONNECTING:
		end_attempt(s);
		break;
	case STORE_LOST:
		if (now_ms >= s->retry_ms)
			begin_attempt(s);
		return;
	case STORE_READY:
		break;
	}
	if (s->state == STORE_READY)
		step_ready(s, now_ms);
}

/* ---- life cycle ---- */

struct store *store_open(const struct team_url *url, const struct store_ops *ops, struct err *err)
{
	struct store *s;

	if (!PQisthreadsafe()) {
		err_set(err, "this libpq was built without threads; install Debian's libpq5");
		return NULL;
	}
	s = xcalloc(1, sizeof(*s));
	s->url = xstrdup(url->libpq);
	s->group = xstrdup(url->group);
	if (ops)
		s->ops = *ops;
	s->listens = s->ops.hint;
	begin_attempt(s);
	return s;
}

void store_close(struct store *s)
{
	if (!s)
		return;
	if (s->attempt)
		abandon_attempt(s->attempt);
	PQclear(s->result);
	if (s->conn)
		PQfinish(s->conn);
	while (s->first) {
		struct queued_request *q = s->first;

		s->first = q->next;
		free_asked(q);
	}
	free(s->url);
	free(s->group);
	free(s);
}

struct loop_fd store_fd(const struct store *s)
{
	if (s->state == STORE_READY)
		return (struct loop_fd){ PQsocket(s->conn), s->output };
	return (struct loop_fd){ s->attempt ? s->attempt->done : -1, false };
}

int store_wait_ms(const struct store *s, int64_t now_ms)
{
	int64_t left = -1;

	switch (s->state) {
	case STORE_CONNECTING:
		return -1;
	case STORE_LOST:
		left = s->retry_ms - now_ms;
		break;
	case STORE_READY:
		if (!s->first)
			return -1;
		left = s->sent ? s->sent_ms + patience_ms(s->first) - now_ms : 0;
		break;
	}
	return left > 0 ? (int)left : 0;
}

int store_run(struct store *s, int timeout_ms, struct err *err)
{
	int64_t now = loop_now_ms(), end = now + timeout_ms;

	while (store_step(s, now), s->first && now < end) {
		struct loop_fd fd = store_fd(s);

		if (s->state == STORE_LOST && !s->connections)
			break;
		loop_wait(-1, &fd, 1, loop_sooner(store_wait_ms(s, now), (int)(end - now)));
		now = loop_now_ms();
	}
	if (!s->first)
		return 0;
	if (s->state == STORE_READY)
		return err_set(err, "%s does not answer", s->group);
	return err_set(err, "no connection to %s: %s", s->group,
		       s->why[0] ? s->why : "connecting takes too long");
}

void store_status(const struct store *s, struct store_status *out)
{
	*out = (struct store_status){ .state = s->state, .since_ms = s->since_ms,
				      .asking_ms = s->sent ? loop_now_ms() - s->sent_ms : 0,
				      .queued = s->queued, .connections = s->connections,
				      .why = s->why, .schema = s->facts.schema,
				      .login = s->facts.login, .id = s->facts.id,
				      .clock_ms = s->facts.clock_ms, .sent_bytes = s->sent_bytes };
}
