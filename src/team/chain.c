/* Checks the chain of a store's events. */
#include "team/chain.h"

#include "base/sha256.h"
#include "base/timestamp.h"
#include "team/store.h"

#define US_PER_S INT64_C(1000000)
#define EPOCH_S INT64_C(946684800) /* from 1970 to 2000 */

void chain_read(const struct store_rows *rows, uint32_t row, struct store_event *e)
{
	*e = (struct store_event){ .n = store_int(rows, row, 0), .at_us = store_int(rows, row, 1),
				   .who = store_str(rows, row, 2), .what = store_str(rows, row, 3),
				   .item = store_int(rows, row, 4), .note = store_str(rows, row, 5),
				   .hash = store_str(rows, row, 6) };
}

/* As function chain_text of the schema: YYYY-MM-DDTHH:MM:SS.UUUUUU in UTC. */
static void add_text(struct buf *out, const struct store_event *e)
{
	char at[32];
	int64_t us = e->at_us % US_PER_S;

	us += us < 0 ? US_PER_S : 0;
	timestamp_iso(((e->at_us - us) / US_PER_S + EPOCH_S) * 1000, at);
	at[strlen("2000-01-01T00:00:00")] = '\0';
	buf_printf(out, "%lld|%s.%06d|%.*s|%lld|%.*s|", (long long)e->n, at, (int)us,
		   STR_ARG(e->what), (long long)e->item, STR_ARG(e->who));
	buf_add_str(out, e->note);
}

enum chain_fault chain_add(struct chain *c, const struct store_event *e)
{
	struct buf text = { 0 };
	unsigned char hash[32];

	if (e->n != c->n + 1)
		return CHAIN_GAP;
	if (c->n)
		buf_add(&text, c->hash, sizeof(c->hash));
	add_text(&text, e);
	sha256(buf_str(&text), hash);
	buf_release(&text);
	if (!str_eq(e->hash, str_make((const char *)hash, sizeof(hash))))
		return CHAIN_WRONG;
	memcpy(c->hash, hash, sizeof(hash));
	c->n = e->n;
	return CHAIN_FINE;
}
