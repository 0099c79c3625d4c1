/* Queries on the index: seeking the bitmap of open slots to k, counting and listing its bits. */
#include "model/asof_internal.h"
#include "model/rules.h"

#include <stdlib.h>

void asof_free(struct asof *a)
{
	if (!a)
		return;
	free(a->items);
	free(a->toggles);
	free(a->places);
	free(a->ends);
	free(a->kept);
	free(a->open);
	decided_free(a->decided);
	block_stats_free(a->blocks);
	ledger_release(a->loops);
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
	uint32_t near = (wanted + KEPT_EVERY / 2) / KEPT_EVERY * KEPT_EVERY;

	if (near > a->n)
		near -= KEPT_EVERY;
	if ((wanted > a->at ? wanted - a->at : a->at - wanted) > KEPT_EVERY / 2) {
		memcpy(a->open, a->kept + near / KEPT_EVERY * a->words, a->words * sizeof(uint64_t));
		a->at = near;
	}
	while (a->at < wanted)
		flip(a->open, a->toggles[a->at++]);
	while (a->at > wanted)
		flip(a->open, a->toggles[--a->at]);
}

/* Binary search: the first slot that has not expired. */
static uint32_t first_slot(const struct asof *a, int64_t now_ms)
{
	uint32_t low = 0;

	bisect(low, a->dated, i, item_has_expired(a->m, &a->m->items.v[a->items[i]], now_ms))
	return low;
}

/* Population count of the open slots [from, to). */
static uint32_t count(const struct asof *a, uint32_t from, uint32_t to)
{
	uint32_t n = 0;

	for (; from < to && from % WORD; from++)
		n += a->open[from / WORD] >> from % WORD & 1;
	for (; from + WORD <= to; from += WORD)
		n += (uint32_t)__builtin_popcountll(a->open[from / WORD]);
	for (; from < to; from++)
		n += a->open[from / WORD] >> from % WORD & 1;
	return n;
}

/* Open in the log, but closed by the decision overlay. */
static bool is_decided_here(const struct model *m, const struct item *item, uint32_t k, int64_t now_ms)
{
	struct item_state at;

	return item->overlaid && item_without_overlay(m, item, k, now_ms, &at) && at.open &&
	       item_at(m, item, k, now_ms, &at) && !at.open;
}

uint32_t asof_open(struct asof *a, uint32_t k, int64_t now_ms, uint32_t *due)
{
	uint32_t from = first_slot(a, now_ms), open;

	seek(a, k);
	open = count(a, from, a->slots);
	*due = count(a, from, a->dated);
	for (uint32_t i = 0; i < a->m->overlays.n; i++) {
		const struct item *item = &a->m->items.v[a->m->overlays.v[i].item];

		if (!is_decided_here(a->m, item, k, now_ms))
			continue;
		open--;
		*due -= item->dated;
	}
	return open;
}

uint32_t *asof_inbox(struct asof *a, uint32_t k, int64_t now_ms, bool all, uint32_t *n)
{
	const struct model *m = a->m;
	uint32_t whole = model_item_count(m, k), from = first_slot(a, now_ms);
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

			if (m->overlays.n && is_decided_here(m, &m->items.v[item], k, now_ms))
				continue;
			list[(*n)++] = item;
			if (all)
				flip(listed, item);
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

struct agent_stats *asof_agent_stats(struct asof *a, uint32_t k, int64_t now_ms, struct yield *yield)
{
	if (!a->blocks)
		a->blocks = block_stats_new(a->m, a->end, yield);
	return block_stats_agent_stats(a->blocks, a->m, k, now_ms, yield);
}

struct ledger *asof_ledger(struct asof *a, uint32_t k, struct yield *yield)
{
	if (!a->loops || k < a->loops->from || k > a->loops->to) {
		ledger_release(a->loops);
		a->loops = ledger_new(a->m, k, a->end, yield);
	}
	return ledger_ref(a->loops);
}
