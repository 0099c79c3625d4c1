/* The store of a team: a PostgreSQL database in which the machines with agents put what waits for a
 * person, and reviewers settle who decides. This is the connection to it; what is asked is in
 * schema_functions.sql, which is the only way in.
 *
 * Nothing here blocks: connecting (names are looked up, too) runs on a thread of its own, the rest in
 * the loop. store_open; then, in each turn of the loop, wait for store_fd at most store_wait_ms and
 * call store_step; store_close at last. Commands that have nothing else to do call store_run.
 *
 * Requests are sent in the order they were asked in, one at a time. Each is answered exactly once,
 * unless the store is closed before:
 *   - the server has done it: rows;
 *   - the server refused it: an SQLSTATE and a sentence. It is never asked again.
 * If the connection is lost, or STORE_PATIENCE_MS have passed without an answer, the connection is dropped
 * and the request is asked again once there is a new one. So a request may have been carried out twice, and
 * what is asked must mean the same when it is asked again, as all functions of the schema do.
 *
 * Without libpq (store_none.c) store_open fails with a sentence that says how to get it. */
#ifndef GAVEL_TEAM_STORE_H
#define GAVEL_TEAM_STORE_H

#include "base/err.h"
#include "base/str.h"
#include "loop/loop.h"
#include "team/team_url.h"

/* The version of the schema that this program knows (team/schema_tables_N.sql). */
enum { STORE_SCHEMA = 1 };
enum { STORE_VALUES_MAX = 16, STORE_PATIENCE_MS = 5000 };

/* "with PostgreSQL (libpq 15.18)", or "without PostgreSQL": for gavel --version. */
const char *store_engine(void);

enum store_state {
	STORE_CONNECTING,
	STORE_READY,
	STORE_LOST, /* it waits, ever longer up to 8 s, before it tries again */
};

/* What is known of the connection. The strings are valid until the next store_step. */
struct store_status {
	enum store_state state;
	int64_t since_ms;    /* loop_now_ms of when it became ready, or has not been since */
	int64_t asking_ms;   /* how long the request in flight has been waiting; 0 = none is */
	uint32_t queued;     /* requests without an answer */
	uint32_t connections; /* that there were so far */
	const char *why;     /* it is not ready, a sentence; "" = none yet */
	/* of the newest connection; zero and "" before the first */
	int schema;          /* version; 0 = the database has none */
	const char *login;   /* who is connected */
	const char *id;      /* of the store, the same for its standbys; "" without a schema */
	int64_t clock_ms;    /* how far the server's clock is ahead of this one's */
	uint64_t sent_bytes;
};

struct store;

struct store_ops {
	/* There is a new connection: what was read before may be old. */
	void (*ready)(void *ctx);
	/* Something has happened in the store. A hint and never a fact, as anybody who may connect
	 * can send it: read the events. Several may come as one. NULL = do not listen. */
	void (*hint)(void *ctx);
	void *ctx;
};

/* Begins to connect. ops may be NULL, and is copied. NULL: err. */
struct store *store_open(const struct team_url *url, const struct store_ops *ops, struct err *err);
/* Requests without an answer are dropped. Not from within a callback. */
void store_close(struct store *s);

/* What to wait for, which differs from one turn to the next; fd -1 = only for the time. */
struct loop_fd store_fd(const struct store *s);
int store_wait_ms(const struct store *s, int64_t now_ms);
/* Receives and sends; calls back. now_ms is loop_now_ms. */
void store_step(struct store *s, int64_t now_ms);
/* Waits until all requests are answered, at most timeout_ms. -1: not all are, and why; at once if the
 * first connection fails. */
int store_run(struct store *s, int timeout_ms, struct err *err);
void store_status(const struct store *s, struct store_status *out);

/* ---- requests ---- */

enum store_type {
	STORE_NULL,
	STORE_TEXT,
	STORE_BYTES,  /* bytea */
	STORE_LIST,   /* bytea[] */
	STORE_NUMBER, /* in SQL a text, to be cast: $1::bigint */
};

struct store_value {
	enum store_type type;
	struct str s;
	int64_t number;
	const struct str *list; /* of s.n */
};

static inline struct store_value store_text(struct str s)
{
	return (struct store_value){ .type = STORE_TEXT, .s = s };
}

static inline struct store_value store_bytes(struct str s)
{
	return (struct store_value){ .type = STORE_BYTES, .s = s };
}

static inline struct store_value store_list(const struct str *list, size_t n)
{
	return (struct store_value){ .type = STORE_LIST, .s = { NULL, n }, .list = list };
}

static inline struct store_value store_number(int64_t n)
{
	return (struct store_value){ .type = STORE_NUMBER, .number = n };
}

static inline struct store_value store_null(void)
{
	return (struct store_value){ .type = STORE_NULL };
}

struct store_rows; /* lent to a callback */

struct store_answer {
	const struct store_rows *rows; /* NULL = refused */
	uint32_t n;                    /* rows */
	uint32_t affected;             /* by an insert, update or delete */
	const char *code;              /* of a refusal: SQLSTATE */
	bool unsettled;                /* refused for now: a lock, a timeout, no room. Where the request
					  is asked again after a lost connection, it may be the lock of
					  its own first try, which may still be carried out */
	struct str why;                /* of a refusal: the server's sentence */
};

struct store_request {
	const char *sql; /* one statement with $1…; static, or a script */
	struct store_value values[STORE_VALUES_MAX];
	unsigned n;
	bool is_script;  /* several statements, without values; they succeed or fail together */
	int patience_ms; /* 0 = STORE_PATIENCE_MS */
	/* May ask more. NULL = nobody cares. */
	void (*answered)(void *ctx, const struct store_answer *a);
	void *ctx;
};

/* Queues it; texts are copied. */
void store_ask(struct store *s, const struct store_request *r);

/* A value of a row. Strings are lent; a NULL is empty, 0 or TIME_NONE. */
bool store_is_null(const struct store_rows *rows, uint32_t row, unsigned column);
struct str store_str(const struct store_rows *rows, uint32_t row, unsigned column); /* text, bytea */
int64_t store_int(const struct store_rows *rows, uint32_t row, unsigned column); /* any integer, bool */
int64_t store_time_ms(const struct store_rows *rows, uint32_t row, unsigned column); /* timestamptz */

#endif
