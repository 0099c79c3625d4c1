/* Puts the script together that makes or upgrades a store. */
#include "team/team_schema.h"

#include "team/store.h"

void schema_script(int from, struct buf *out)
{
	/* from version i to i + 1 */
	static const char *const steps[STORE_SCHEMA] = { schema_tables_1 };

	/* two at once would both find the old version */
	buf_printf(out,
		   "select pg_advisory_xact_lock(hashtext('gavel.meta'));\n"
		   "do $$ declare v int := 0; begin\n"
		   "if to_regclass('gavel.meta') is not null then\n"
		   "execute 'select version from gavel.meta' into v; end if;\n"
		   "if v <> %d then raise exception 'somebody else is changing the store; try again'; "
		   "end if; end $$;\n",
		   from);
	for (int i = from; i < STORE_SCHEMA; i++)
		buf_adds(out, steps[i]);
	buf_adds(out, schema_functions);
	buf_printf(out, "update gavel.meta set version = %d where version <> %d;\n", STORE_SCHEMA,
		   STORE_SCHEMA);
}
