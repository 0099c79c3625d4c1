/* Text → cells: whatever comes in, only cells come out, and where the walk is cut does not matter. */
#include "draw/cells.h"

#include "fuzz.h"


static void check_cell(const struct cell *c, bool ascii)
{
	PROMISE(c->width == 1 || c->width == 2);
	PROMISE(c->base >= 0x20 && c->base != 0x7f && !(c->base >= 0x80 && c->base < 0xa0));
	PROMISE(!(c->base >= 0xd800 && c->base < 0xe000) && c->base <= 0x10ffff);
	PROMISE(!(c->base >= 0x202a && c->base <= 0x202e) && c->base != 0x200b);
	PROMISE(!ascii || (c->base < 0x7f && !c->mark[0]));
	PROMISE(c->class != CELL_ESCAPED || (c->base < 0x7f && c->width == 1));
}

static void walk(struct str text, enum text_mode mode, bool ascii)
{
	struct cells it = cells_start(raw_of(text), mode, ascii), mark;
	struct cell a, b;
	uint32_t columns = 0, widest = 0;
	enum cells_step step;

	for (;;) {
		mark = it;
		step = cells_next(&it, &a);
		if (step == CELLS_END)
			break;
		PROMISE(step != CELLS_BREAK || mode == TEXT_LINES);
		columns = step == CELLS_BREAK ? 0 : columns + a.width;
		widest = columns > widest ? columns : widest;
		if (step != CELLS_CELL)
			continue;
		check_cell(&a, ascii);
		PROMISE(cells_next(&mark, &b) == CELLS_CELL && b.base == a.base && b.width == a.width);
	}
	PROMISE(cells_width(raw_of(text), mode, ascii, UINT32_MAX) == widest);
	cells_hidden(raw_of(text));
}

static void clip(struct str text, uint32_t cols)
{
	struct cells it = cells_start(raw_of(text), TEXT_LINE, false);
	struct cell out[256];
	uint32_t n = cells_clip(&it, cols, out), width = 0;

	for (uint32_t i = 0; i < n; i++)
		width += out[i].width;
	PROMISE(n <= cols && width <= cols);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	struct dice d = { bytes, n };
	uint32_t cols = 1 + dice_throw(&d, 200);
	struct str text = dice_take(&d, d.n);

	fuzz_locale();
	for (int mode = TEXT_LINE; mode <= TEXT_LABEL; mode++) {
		walk(text, (enum text_mode)mode, false);
		walk(text, (enum text_mode)mode, true);
	}
	clip(text, cols);
	return 0;
}
