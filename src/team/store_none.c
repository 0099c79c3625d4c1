/* In place of store_pg.c where libpq was not found: a store cannot be opened, and says why. */
#include "base/buf.h"
#include "team/store.h"

const char *store_engine(void)
{
	return "without PostgreSQL";
}

struct store *store_open(const struct team_url *url, const struct store_ops *ops, struct err *err)
{
	(void)url;
	(void)ops;
	err_set(err, "this gavel was built without PostgreSQL, so it cannot reach a team's store; install "
		     "libpq-dev (Debian's name), run configure --with-postgresql and make again");
	return NULL;
}

/* Nobody has a store to give to these. */
static _Noreturn void no_store(void)
{
	BUG("a store without libpq");
}

void store_close(struct store *s)
{
	if (s)
		no_store();
}

struct loop_fd store_fd(const struct store *s)
{
	(void)s;
	no_store();
}

int store_wait_ms(const struct store *s, int64_t now_ms)
{
	(void)s;
	(void)now_ms;
	no_store();
}

void store_step(struct store *s, int64_t now_ms)
{
	(void)s;
	(void)now_ms;
	no_store();
}

int store_run(struct store *s, int timeout_ms, struct err *err)
{
	(void)s;
	(void)timeout_ms;
	(void)err;
	no_store();
}

void store_status(const struct store *s, struct store_status *out)
{
	(void)s;
	(void)out;
	no_store();
}

void store_ask(struct store *s, const struct store_request *r)
{
	(void)s;
	(void)r;
	no_store();
}

bool store_is_null(const struct store_rows *rows, uint32_t row, unsigned column)
{
	(void)rows;
	(void)row;
	(void)column;
	no_store();
}

struct str store_str(const struct store_rows *rows, uint32_t row, unsigned column)
{
	(void)rows;
	(void)row;
	(void)column;
	no_store();
}

int64_t store_int(const struct store_rows *rows, uint32_t row, unsigned column)
{
	(void)rows;
	(void)row;
	(void)column;
	no_store();
}

int64_t store_time_ms(const struct store_rows *rows, uint32_t row, unsigned column)
{
	(void)rows;
	(void)row;
	(void)column;
	no_store();
}
