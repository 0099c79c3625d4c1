/* Lines → frames → items → screens: any bytes are a log, and every view of it can be drawn at any
 * moment of its story. Where a block of bytes is cut does not matter. */
#include "session/load.h"
#include "app/app.h"
#include "wire/framer.h"

#include "fuzz.h"


enum { LINE_MAX_BYTES = 1 << 16, CUTS = 3 };

static void note(void *ctx, const struct frame *f)
{
	struct buf *notes = ctx;

	buf_printf(notes, "%llu+%llu #%u %u <", (unsigned long long)f->offset,
		   (unsigned long long)f->full_length, f->line, (unsigned)f->flags);
	buf_add_str(notes, f->bytes);
	buf_adds(notes, ">\n");
}

static void frame(struct str text, size_t piece, struct buf *notes)
{
	struct framer f;

	framer_init(&f, LINE_MAX_BYTES, 0);
	while (text.n) {
		size_t n = text.n < piece ? text.n : piece;

		framer_feed(&f, str_make(text.p, n), note, notes);
		text = str_from(text, n);
	}
	framer_end(&f, note, notes);
	framer_release(&f);
}

static void check_framing(struct str text)
{
	static const size_t pieces[CUTS] = { SIZE_MAX, 1, 7 };
	struct buf notes[CUTS] = { 0 };

	for (int i = 0; i < CUTS; i++)
		frame(text, pieces[i], &notes[i]);
	for (int i = 1; i < CUTS; i++)
		PROMISE(str_eq(buf_str(&notes[0]), buf_str(&notes[i])));
	for (int i = 0; i < CUTS; i++)
		buf_release(&notes[i]);
}

static void press(struct app *a, const char *keys)
{
	struct str rest = str_of(keys);
	uint32_t code;

	while (rest.n && key_parse(&rest, &code))
		app_key(a, &(struct key){ .code = code });
	app_effects_taken(a);
}

static void look(struct load *l)
{
	static const char *const places[] = { "1", "1<Enter>", "2", "3", "3d", "4", "4<Enter>r", "5", "6" };
	struct grid *g = grid_new(24, 80, false);
	struct app a;
	int row, col;

	app_init(&a, &l->model, &l->reader, STR("fuzz"), false);
	app_arrived(&a, 1, 1, false);
	app_draw(&a, g, &row, &col);
	for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++) {
		press(&a, places[i]);
		app_draw(&a, g, &row, &col);
		press(&a, "<Esc>");
	}
	app_release(&a);
	grid_free(g);
}

static void look_back(struct load *l)
{
	const struct model *m = &l->model;
	struct buf name = { 0 };
	struct item_state st;

	for (uint32_t i = 0; i < m->items.n; i++) {
		buf_clear(&name);
		item_name(m, &m->items.v[i], &name);
		for (uint32_t k = 0; k <= m->records.n; k += 1 + m->records.n / 8)
			if (item_at(m, &m->items.v[i], k, TIME_NONE, &st))
				PROMISE(st.message < k);
	}
	buf_release(&name);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	struct str text = str_make((const char *)bytes, n);
	const char *path = fuzz_path("log.ndjson");
	struct buf said = { 0 };
	struct load l;

	fuzz_locale();
	check_framing(text);
	fuzz_write(path, "w", text);
	memset(&l, 0, sizeof(l));
	l.hold = &said;
	if (load_open(&l, &path, 1, LINE_MAX_BYTES) == 0) {
		load_run(&l, NULL, NULL);
		look_back(&l);
		look(&l);
	}
	load_release(&l);
	buf_release(&said);
	return 0;
}
