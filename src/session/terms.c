/* Fills struct terms. */
#include "session/terms.h"

#include <pwd.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

struct str terms_name(const struct options *o, const struct config *c)
{
	const struct passwd *login;
	const char *user = getenv("USER");

	if (o->as)
		return str_of(o->as);
	if (c->as)
		return str_of(c->as);
	if (user && *user)
		return str_of(user);
	login = getpwuid(geteuid());
	return login ? str_of(login->pw_name) : STR("reviewer");
}

void terms_fill(struct terms *t, const struct options *o, const struct config *c,
		const struct model *m)
{
	*t = (struct terms){ .as = terms_name(o, c), .reply = o->reply,
			     .escalate_to = o->escalate_to ? o->escalate_to : c->escalate_to,
			     .artifact = o->artifact, .sole_writer = o->sole_writer,
			     .now_ms = model_now(m, m->records.n) };
	if (t->now_ms == TIME_NONE)
		t->now_ms = (int64_t)time(NULL) * 1000;
	else
		t->now_ms++; /* files of a directory are sorted by time: the reply comes last */
}
