/* team: what a store's address becomes, and what is refused in it; the chain of events. Connections are
 * tested with a real server (team.t, team_ship.t). */
#include "base/buf.h"
#include "base/sha256.h"
#include "team/chain.h"
#include "team/team_url.h"
#include "unit.h"

#include <stdlib.h>

struct url_case {
	const char *url, *libpq, *group, *source;
	bool local;
};

static const struct url_case good[] = {
	{ "postgresql://", "postgresql:///", "postgresql:///", NULL, true },
	{ "postgres://h", "postgresql://h/", "postgresql://h/", NULL, false },
	{ "postgresql://ann@db1,db2:5433/team", "postgresql://ann@db1,db2:5433/team",
	  "postgresql://db1,db2:5433/team", NULL, false },
	{ "postgresql:///team?host=/run/pg", "postgresql:///team?host=/run/pg",
	  "postgresql:///team?host=/run/pg", NULL, true },
	{ "postgresql://ann@%2Frun%2Fpg/team", "postgresql://ann@%2Frun%2Fpg/team",
	  "postgresql://%2Frun%2Fpg/team", NULL, true },
	{ "postgresql://%2Frun,db/team", "postgresql://%2Frun,db/team", "postgresql://%2Frun,db/team",
	  NULL, false },
	{ "postgresql://a@h/t?source=m1%3A%2Fvar%2Flog&user=bob", "postgresql://a@h/t?user=bob",
	  "postgresql://h/t", "m1:/var/log", false },
	{ "postgresql://h/t?sslmode=verify-full&source=x", "postgresql://h/t?sslmode=verify-full",
	  "postgresql://h/t", "x", false },
	{ "postgresql:///t?sslmode=disable", "postgresql:///t?sslmode=disable", "postgresql:///t", NULL,
	  true },
};

START_TEST(address)
{
	const struct url_case *c = &good[_i];
	struct team_url u;
	struct err err;

	ck_assert(team_url_is(c->url));
	ck_assert_msg(team_url_parse(&u, c->url, &err) == 0, "%s: %s", c->url, err.text);
	ck_assert_str_eq(u.libpq, c->libpq);
	ck_assert_str_eq(u.group, c->group);
	ck_assert_pstr_eq(u.source, c->source);
	ck_assert_int_eq(u.local, c->local);
	team_url_release(&u);
}
END_TEST

static const struct {
	const char *url, *says;
} bad[] = {
	{ "/tmp/log", "begins with postgresql://" },
	{ "postgresql://ann:secret@h/t", "has a password in it" },
	{ "postgresql://ann:@h/t", "has a password in it" },
	{ "postgresql://h/t?x=1&password=secret", "has a password in it" },
	{ "postgresql://h/t?sslpassword=secret", "has a password in it" },
	{ "postgresql://h/t?%70assword=secret", "without %" },
	{ "postgresql://h/t?sslmode=require", "verify-full" },
	{ "postgresql://h,%2Frun/t?sslmode=disable", "verify-full" },
	{ "postgresql:///t?host=/run,h&sslmode=prefer", "verify-full" },
	{ "postgresql://h/t?source=a%0", "hexadecimal" },
	{ "postgresql://h/t?source=a%00", "hexadecimal" },
	{ "postgresql://h%zz/t", "hexadecimal" },
	{ "postgresql://h/t?source=", "names no source" },
	{ "postgresql://h/t?source=\xff", "not UTF-8" },
};

START_TEST(refused_address)
{
	struct team_url u;
	struct err err;

	ck_assert_int_eq(team_url_parse(&u, bad[_i].url, &err), -1);
	assert_says(err, bad[_i].says);
	ck_assert_ptr_null(strstr(err.text, "secret"));
	team_url_release(&u);
}
END_TEST

START_TEST(environment)
{
	struct team_url u;
	struct err err;

	setenv("PGHOST", "db1", 1);
	ck_assert_int_eq(team_url_parse(&u, "postgresql:///t?sslmode=disable", &err), -1);
	team_url_release(&u);
	setenv("PGHOST", "/run/pg", 1);
	ck_assert_int_eq(team_url_parse(&u, "postgresql:///t?sslmode=disable", &err), 0);
	team_url_release(&u);
	unsetenv("PGHOST");
	setenv("PGSERVICE", "somewhere", 1);
	ck_assert_int_eq(team_url_parse(&u, "postgresql:///t?sslmode=disable", &err), -1);
	team_url_release(&u);
}
END_TEST

START_TEST(chain)
{
	struct store_event e = { .n = 1, .at_us = 5, .who = STR("ann"), .what = STR("opened"),
				 .item = 7, .note = STR("k") };
	struct chain c = { 0 };
	unsigned char hash[32], second[32];
	struct buf text = { 0 };

	sha256(STR("1|2000-01-01T00:00:00.000005|opened|7|ann|k"), hash);
	e.hash = str_make((const char *)hash, 32);
	ck_assert_int_eq(chain_add(&c, &e), CHAIN_FINE);
	ck_assert_int_eq(chain_add(&c, &e), CHAIN_GAP);
	e.n = 2;
	e.at_us = -1;
	ck_assert_int_eq(chain_add(&c, &e), CHAIN_WRONG);
	buf_add(&text, hash, 32);
	buf_adds(&text, "2|1999-12-31T23:59:59.999999|opened|7|ann|k");
	sha256(buf_str(&text), second);
	e.hash = str_make((const char *)second, 32);
	ck_assert_int_eq(chain_add(&c, &e), CHAIN_FINE);
	ck_assert_int_eq(c.n, 2);
	buf_release(&text);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("team");
	TCase *t = unit_cases(suite, "address", NULL, NULL);

	unsetenv("PGHOST");
	unsetenv("PGHOSTADDR");
	unsetenv("PGSERVICE");
	tcase_add_loop_test(t, address, 0, sizeof(good) / sizeof(good[0]));
	tcase_add_loop_test(t, refused_address, 0, sizeof(bad) / sizeof(bad[0]));
	tcase_add_test(t, environment);
	tcase_add_test(unit_cases(suite, "chain", NULL, NULL), chain);
	return unit_run(suite);
}
