/* Takes a store's address apart: what libpq gets, what the team is called by, and what is refused. */
#include "team/team_url.h"

#include "base/buf.h"
#include "base/mem.h"
#include "base/utf8.h"

struct url_parts {
	struct str user, hosts, database, settings;
};

static bool cut_scheme(struct str *rest)
{
	static const char *const schemes[] = { "postgresql://", "postgres://" };

	for (unsigned i = 0; i < 2; i++)
		if (str_starts(*rest, str_of(schemes[i]))) {
			*rest = str_from(*rest, strlen(schemes[i]));
			return true;
		}
	return false;
}

bool team_url_is(const char *word)
{
	struct str rest = str_of(word);

	return cut_scheme(&rest);
}

static int hex_value(char c)
{
	return c >= '0' && c <= '9'   ? c - '0'
	       : c >= 'a' && c <= 'f' ? c - 'a' + 10
	       : c >= 'A' && c <= 'F' ? c - 'A' + 10
				      : -1;
}

/* Appends text with its %XX decoded; -1: one of them is no byte of a text. */
static int add_decoded(struct buf *out, struct str s)
{
	for (size_t i = 0; i < s.n; i++) {
		int high = -1, low = -1;

		if (s.p[i] != '%') {
			buf_addc(out, s.p[i]);
			continue;
		}
		if (i + 2 < s.n) {
			high = hex_value(s.p[i + 1]);
			low = hex_value(s.p[i + 2]);
		}
		if (high < 0 || low < 0 || high + low == 0)
			return -1;
		buf_addc(out, (char)(high << 4 | low));
		i += 2;
	}
	return 0;
}

static int split(struct str word, struct url_parts *p, struct err *err)
{
	struct str authority;
	ptrdiff_t at;
	size_t end = 0;

	if (!cut_scheme(&word))
		return err_set(err, "a store's address begins with postgresql://");
	while (end < word.n && word.p[end] != '/' && word.p[end] != '?')
		end++;
	authority = str_make(word.p, end);
	word = str_from(word, end);
	at = str_find(authority, STR("@"), 0);
	if (at >= 0) {
		p->user = str_make(authority.p, (size_t)at);
		authority = str_from(authority, (size_t)at + 1);
	}
	p->hosts = authority;
	p->settings = word;
	p->database = str_cut(&p->settings, STR("?"));
	if (p->database.n && p->database.p[0] == '/')
		p->database = str_from(p->database, 1);
	return 0;
}

static int refuse_password(struct err *err)
{
	return err_set(err, "the store's address has a password in it, which others on this machine can "
			    "read; put it into ~/.pgpass (mode 0600) and take it out of the address");
}

/* Takes one NAME=VALUE: it goes to libpq, names hosts, or is gavel's own. */
static int take_setting(struct team_url *u, struct str name, struct str value, struct buf *settings,
			struct buf *hosts, struct str *sslmode, struct err *err)
{
	struct buf decoded = { 0 };

	if (str_find(name, STR("%"), 0) >= 0)
		return err_set(err, "the store's address: write the names of its settings without %%");
	if (str_is(name, "password") || str_is(name, "sslpassword"))
		return refuse_password(err);
	if (add_decoded(&decoded, value)) {
		buf_release(&decoded);
		return err_set(err, "the store's address: %.*s= has a %% without two hexadecimal digits",
			       STR_ARG(name));
	}
	if (str_is(name, "source")) {
		free(u->source);
		u->source = str_dup(buf_str(&decoded));
	} else {
		if (str_is(name, "host") || str_is(name, "hostaddr")) {
			buf_adds(hosts, hosts->n ? "," : "");
			buf_add_str(hosts, buf_str(&decoded));
		} else if (str_is(name, "sslmode")) {
			*sslmode = value;
		}
		buf_adds(settings, settings->n ? "&" : "?");
		buf_add_str(settings, name);
		buf_addc(settings, '=');
		buf_add_str(settings, value);
	}
	buf_release(&decoded);
	return 0;
}

static bool is_socket(struct str host)
{
	return !host.n || host.p[0] == '/' || host.p[0] == '@';
}

/* Without any host, libpq looks into the environment before it takes the usual socket. */
static bool all_are_sockets(struct str hosts)
{
	static const char *const elsewhere[] = { "PGHOSTADDR", "PGSERVICE" };
	const char *host = getenv("PGHOST");

	if (!hosts.n && host)
		hosts = str_of(host);
	for (unsigned i = 0; !hosts.n && i < 2; i++)
		if (getenv(elsewhere[i]))
			return false;
	while (hosts.n)
		if (!is_socket(str_cut(&hosts, STR(","))))
			return false;
	return true;
}

/* PQ's own order of the parts; hosts that are settings are part of the name, too. */
static void compose(struct team_url *u, const struct url_parts *p, struct str settings,
		    struct str host_settings)
{
	struct buf out = { 0 };

	buf_adds(&out, "postgresql://");
	if (p->user.n) {
		buf_add_str(&out, p->user);
		buf_addc(&out, '@');
	}
	buf_add_str(&out, p->hosts);
	buf_addc(&out, '/');
	buf_add_str(&out, p->database);
	buf_add_str(&out, settings);
	u->libpq = str_dup(buf_str(&out));
	buf_clear(&out);
	buf_adds(&out, "postgresql://");
	buf_add_str(&out, p->hosts);
	buf_addc(&out, '/');
	buf_add_str(&out, p->database);
	if (host_settings.n) {
		buf_adds(&out, "?host=");
		buf_add_str(&out, host_settings);
	}
	u->group = str_dup(buf_str(&out));
	buf_release(&out);
}

/* What is checked once all parts are known. */
static int judge(struct team_url *u, const struct url_parts *p, struct str hosts, struct str sslmode,
		 struct err *err)
{
	struct buf decoded = { 0 };
	int rc = add_decoded(&decoded, p->hosts);

	if (rc == 0 && hosts.n && decoded.n)
		buf_addc(&decoded, ',');
	buf_add_str(&decoded, hosts);
	u->local = rc == 0 && all_are_sockets(buf_str(&decoded));
	buf_release(&decoded);
	if (rc)
		return err_set(err, "the store's address: a host has a %% without two hexadecimal digits");
	if (sslmode.n && !u->local && !str_is(sslmode, "verify-full"))
		return err_set(err, "sslmode=%.*s does not make sure who answers; leave it out: unless "
				    "the host is a socket, gavel takes verify-full",
			       STR_ARG(sslmode));
	if (u->source && !u->source[0])
		return err_set(err, "?source= in the store's address names no source");
	return 0;
}

int team_url_parse(struct team_url *u, const char *word, struct err *err)
{
	struct url_parts p = { STR_NONE, STR_NONE, STR_NONE, STR_NONE };
	struct str rest, sslmode = STR_NONE;
	struct buf settings = { 0 }, hosts = { 0 };
	int rc;

	*u = (struct team_url){ 0 };
	if (!utf8_valid(str_of(word)))
		return err_set(err, "the store's address is not UTF-8");
	rc = split(str_of(word), &p, err);
	if (rc == 0 && str_find(p.user, STR(":"), 0) >= 0)
		rc = refuse_password(err);
	rest = p.settings;
	while (rc == 0 && rest.n) {
		struct str value = str_cut(&rest, STR("&"));
		struct str name = str_cut(&value, STR("="));

		rc = take_setting(u, name, value, &settings, &hosts, &sslmode, err);
	}
	if (rc == 0)
		rc = judge(u, &p, buf_str(&hosts), sslmode, err);
	if (rc == 0)
		compose(u, &p, buf_str(&settings), buf_str(&hosts));
	buf_release(&settings);
	buf_release(&hosts);
	return rc;
}

void team_url_release(struct team_url *u)
{
	free(u->libpq);
	free(u->group);
	free(u->source);
	*u = (struct team_url){ 0 };
}
