/* What binds a decision to the text that was shown. */
#include "decide/reader.h"

#include "base/sha256.h"

void item_rev(const struct reader *r, const struct item *item, const struct item_state *state,
	      struct buf *out)
{
	struct detail detail;
	struct buf compact = { 0 };
	char hex[65];

	if (!r->detail(r->ctx, item, state, &detail) || !detail.value)
		return;
	json_write(&compact, detail.value);
	sha256_hex(buf_str(&compact), hex);
	buf_printf(out, "sha256:%s", hex);
	buf_release(&compact);
}
