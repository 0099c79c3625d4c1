/* "[ID verdict] text" */
#include "dialect/marker.h"

static const enum verdict verdicts[] = { VERDICT_ACCEPTED, VERDICT_PARTIAL, VERDICT_REJECTED,
					 VERDICT_ESCALATED };

bool marker_read(struct str text, struct marker *out)
{
	ptrdiff_t close = str_find(text, STR("]"), 0);
	size_t space;

	if (close < 0 || text.p[0] != '[')
		return false;
	for (space = (size_t)close; space > 1 && text.p[space - 1] != ' ';)
		space--;
	if (space < 3) /* no space, or nothing before it */
		return false;
	out->id = str_make(text.p + 1, space - 2);
	out->rest = str_trim(str_from(text, (size_t)close + 1));
	for (size_t i = 0; i < sizeof(verdicts) / sizeof(verdicts[0]); i++)
		if (str_is(str_make(text.p + space, (size_t)close - space),
			   verdict_name(verdicts[i]))) {
			out->verdict = verdicts[i];
			return true;
		}
	return false;
}

void marker_write(struct buf *b, struct str id, enum verdict verdict)
{
	buf_addc(b, '[');
	buf_add_str(b, id);
	buf_printf(b, " %s] ", verdict_name(verdict));
}

bool marker_can_name(struct str id)
{
	for (size_t i = 0; i < id.n; i++)
		if (id.p[i] == '[' || id.p[i] == ']' || (unsigned char)id.p[i] < 0x20)
			return false;
	return id.n > 0;
}
