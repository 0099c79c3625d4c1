/* Bytes from the terminal → keys: how the bytes are cut into calls does not matter, only the silences
 * between them. The first byte of the input says how it is cut, zero bytes are silences. */
#include "term/keys.h"

#include "fuzz.h"

static void note(void *ctx, const struct key *key)
{
	struct buf *notes = ctx;

	PROMISE(key->code != 0);
	buf_printf(notes, "%u %d %d %d <", key->code, (int)key->mouse, key->row, key->col);
	if (key->code == KEY_PASTE)
		buf_add_str(notes, key->text);
	buf_adds(notes, ">\n");
}

static void type(struct str text, unsigned piece, struct buf *notes)
{
	struct keys k = { 0 };
	int64_t now = 1;

	while (text.n) {
		size_t n = 0;

		while (n < text.n && n < piece && text.p[n])
			n++;
		if (n)
			keys_feed(&k, str_make(text.p, n), now, note, notes);
		if (n < text.n && !text.p[n]) {
			now += n + 1 < text.n && text.p[n + 1] ? ESCAPE_ALONE_MS : SEQUENCE_SILENCE_MS;
			keys_tick(&k, now, note, notes);
			n++;
		}
		text = str_from(text, n);
	}
	PROMISE(keys_wait(&k, now) >= -1);
	keys_tick(&k, now + SEQUENCE_SILENCE_MS + 1, note, notes);
	PROMISE(keys_wait(&k, now + SEQUENCE_SILENCE_MS + 1) == -1);
	keys_release(&k);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	struct dice d = { bytes, n };
	unsigned piece = 1 + dice_throw(&d, 7);
	struct str text = dice_take(&d, d.n);
	struct buf whole = { 0 }, cut = { 0 };

	type(text, UINT32_MAX, &whole);
	type(text, piece, &cut);
	PROMISE(str_eq(buf_str(&whole), buf_str(&cut)));
	buf_release(&whole);
	buf_release(&cut);
	return 0;
}
