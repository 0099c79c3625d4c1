/* Queries of the as-of index (asof.h): seeking the bitmap of open slots to k, counting and listing
 * its bits. */
#include "model/asof_internal.h"
#include "model/rules.h"

#include <stdlib.h>

void asof_free(struct asof *a)
{
	if (!a)
		return;
	free(a->items);
	free(a->raises);
	free(a->toggles);
	free(a->places);
	free(a->ends);
	free(a->snapshots);
	free(a->open);
	free(a->decided);
	block_stats_free(a->blocks);
	ledger_release(a->ledger);
	free(a);
}

/* Number of toggles of the first k messages. */
static uint32_t toggles_before(const struct asof *a, uint32_t k)
{
	uint32_t page = k / PAGE, n = page ? a->ends[page - 1] : 0;

	if (k >= a->end)
		return a->n;
	while (n < a->ends[page] && a->places[n] < k % PAGE)
		n++;
	return n;
}

static void seek(struct asof *a, uint32_t k)
{
	uint32_t wanted = toggles_before(a, k);
	uint32_t near = (wanted + SNAPSHOT_EVERY / 2) / SNAPSHOT_EVERY * SNAPSHOT_EVERY;

	if (near > a->n)
		near -= SNAPSHOT_EVERY;
	if ((wanted > a->at ? wanted - a->at : a->at - wanted) > SNAPSHOT_EVERY / 2) {
		memcpy(a->open, a->snapshots + near / SNAPSHOT_EVERY * a->words,
		       a->words * sizeof(uint64_t));
		a->at = near;
	}
	while (a->at < wanted)
		toggle_bit(a->open, a->toggles[a->at++]);
	while (a->at > wanted)
		toggle_bit(a->open, a->toggles[--a->at]);
}

/* Binary search: the first slot that has not expired. */
static uint32_t first_slot(const struct asof *a, int64_t wall_ms)
{
	uint32_t low = 0;

	bisect(low, a->dated, i, a->m->dated_raises.v[a->raises[i]].deadline_ms < wall_ms)
	return low;
}

/* Population count of the first n slots. */
static uint32_t count_open(const struct asof *a, uint32_t n)
{
	uint64_t rest = (UINT64_C(1) << n % WORD) - 1;
	uint32_t open = (uint32_t)__builtin_popcountll(a->open[n / WORD] & rest);

	for (uint32_t w = 0; w < n / WORD; w++)
		open += (uint32_t)__builtin_popcountll(a->open[w]);
	return open;
}

/* Open in the log, but not with the decision overlay. */
static bool is_closed_by_overlay(const struct model *m, const struct item *item, uint32_t k,
				 int64_t wall_ms)
{
	struct item_state at;

	return item->overlaid && item_without_overlay(m, item, k, wall_ms, &at) && at.open &&
	       item_at(m, item, k, wall_ms, &at) && !at.open;
}

uint32_t asof_open(struct asof *a, uint32_t k, int64_t wall_ms, uint32_t *due)
{
	uint32_t open, expired;

	seek(a, k);
	expired = count_open(a, first_slot(a, wall_ms));
	open = count_open(a, a->slots) - expired;
	*due = count_open(a, a->dated) - expired;
	for (uint32_t i = 0; i < a->m->overlays.n; i++) {
		const struct item *item = &a->m->items.v[a->m->overlays.v[i].item];

		if (!is_closed_by_overlay(a->m, item, k, wall_ms))
			continue;
		open--;
		*due -= item_deadline(a->m, item, k) != TIME_NONE;
	}
	return open;
}

uint32_t *asof_inbox(struct asof *a, uint32_t k, int64_t wall_ms, bool all, uint32_t *n)
{
	const struct model *m = a->m;
	uint32_t whole = model_item_count(m, k), from = first_slot(a, wall_ms);
	uint32_t *list = xmalloc(((size_t)whole + 1) * sizeof(*list));
	uint64_t *listed = all ? xcalloc(whole / WORD + 1, sizeof(*listed)) : NULL;

	seek(a, k);
	*n = 0;
	for (size_t w = from / WORD; w < a->words; w++) {
		uint64_t bits = a->open[w];

		if (w == from / WORD)
			bits &= ~UINT64_C(0) << from % WORD;
		for (; bits; bits &= bits - 1) {
			uint32_t item = a->items[w * WORD + (uint32_t)__builtin_ctzll(bits)];

			if (m->overlays.n && is_closed_by_overlay(m, &m->items.v[item], k, wall_ms))
				continue;
			list[(*n)++] = item;
			if (all)
				toggle_bit(listed, item);
		}
	}
	for (uint32_t i = 0; all && i < whole; i++)
		if (!(listed[i / WORD] >> i % WORD & 1))
			list[(*n)++] = i;
	free(listed);
	return list;
}

const struct decided *asof_decided(struct asof *a, uint32_t k, uint32_t *n, struct yield *yield)
{
	if (!a->decided)
		a->decided = decided_new(a->m, a->end, yield);
	return a->decided ? decided_before(a->decided, k, n) : NULL;
}

struct agent_stats *asof_agent_stats(struct asof *a, uint32_t k, int64_t now_ms,
				     struct yield *yield)
{
	if (!a->blocks)
		a->blocks = block_stats_new(a->m, a->end, yield);
	return block_stats_agent_stats(a->blocks, a->m, k, now_ms, yield);
}

struct ledger *asof_ledger(struct asof *a, uint32_t k, struct yield *yield)
{
	if (!a->ledger || k < a->ledger->from || k > a->ledger->to) {
		ledger_release(a->ledger);
		a->ledger = NULL; /* ledger_new may yield */
		a->ledger = ledger_new(a->m, k, a->end, yield);
	}
	return ledger_ref(a->ledger);
}
