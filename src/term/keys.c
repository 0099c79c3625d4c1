/* State machine that parses escape sequences and UTF-8 byte by byte, so that it cannot matter how
 * the bytes were split into reads. Where terminals and standards disagree, it swallows more rather
 * than less: a lost key is pressed again, a spurious one may decide something.
 *
 * Introducers have three spellings: ESC and a letter, the C1 control as one byte (terminals with
 * 8-bit controls), and that control as UTF-8. A string ends in the spelling it began with, or in
 * ESC \: 0x9c is also a part of many characters that a title report may hold. */
#include "term/keys.h"

#include "base/utf8.h"

enum state {
	GROUND,
	CHARACTER,  /* inside a UTF-8 character, bytes in sequence[] */
	ESCAPE,     /* after ESC */
	UNWANTED,   /* inside a character that is swallowed, `more` bytes to go */
	DESIGNATE,  /* ESC and an intermediate byte: one more ends it */
	CONTROL,    /* CSI or SS3: parameters in sequence[] until a final byte */
	X10_MOUSE,  /* `more` bytes to go */
	CONSOLE,    /* CSI [ of the Linux console: one more byte names F1 to F5 */
	STRING,     /* OSC, DCS, APC, PM, SOS: until its end, `more` bytes of a character to go */
	STRING_ESC, /* ESC inside one */
	PASTE,      /* n bytes of paste_end have been matched; `more`: a CR came before */
};

enum form { FORM_ESC, FORM_BYTE, FORM_UTF8 };

/* C1 controls; ESC and the letter 0x40 below is the same */
enum {
	SS3 = 0x8f,
	DCS = 0x90,
	SOS = 0x98,
	CSI = 0x9b,
	ST = 0x9c,
	OSC = 0x9d,
	PM = 0x9e,
	APC = 0x9f,
};

static const char paste_end[] = "\033[201~";

static void emit_code(uint32_t code, key_fn emit, void *ctx)
{
	struct key key = { .code = code };

	emit(ctx, &key);
}

static void emit_paste(struct keys *k, key_fn emit, void *ctx)
{
	struct key key = { .code = KEY_PASTE, .text = buf_str(&k->paste) };

	if (k->paste.n)
		emit(ctx, &key);
}

static void start(struct keys *k, enum state state)
{
	k->state = (int)state;
	k->n = 0;
	k->more = 0;
}

static void keep(struct keys *k, char byte)
{
	if (k->n < sizeof(k->sequence))
		k->sequence[k->n] = byte;
	if (k->n <= sizeof(k->sequence))
		k->n++;
}

/* Length of the UTF-8 character that starts with this byte; 1 if it is no lead byte. */
static unsigned character_bytes(unsigned char lead)
{
	if (lead >= 0xc2 && lead <= 0xdf)
		return 2;
	if (lead >= 0xe0 && lead <= 0xef)
		return 3;
	return lead >= 0xf0 && lead <= 0xf4 ? 4 : 1;
}

static bool is_introducer(uint32_t c)
{
	return c == CSI || c == SS3 || c == OSC || c == DCS || c == APC || c == PM || c == SOS;
}

static void begin_sequence(struct keys *k, uint32_t c, enum form form)
{
	k->introducer = c;
	k->form = (uint8_t)form;
	start(k, c == CSI || c == SS3 ? CONTROL : STRING);
}

/* A complete character or control. */
static void dispatch_character(struct keys *k, uint32_t c, enum form form, key_fn emit, void *ctx)
{
	start(k, GROUND);
	if (c == '\033')
		start(k, ESCAPE);
	else if (is_introducer(c))
		begin_sequence(k, c, form);
	else if (c != 0 && (c < 0x80 || c >= 0xa0))
		emit_code(c < 0x20 ? key_of_control(c) : c, emit, ctx);
}

/* Parses the parameters "1;2;3"; false if it is anything else, or longer than `max`. */
static bool parse_numbers(struct str s, unsigned *v, unsigned max, unsigned *n)
{
	bool digit = false;

	*n = 0;
	if (s.n == 0)
		return true;
	v[0] = 0;
	for (size_t i = 0; i < s.n; i++) {
		char c = s.p[i];

		if (c == ';' && digit && *n + 1 < max) {
			digit = false;
			v[++*n] = 0;
		} else if (c >= '0' && c <= '9' && v[*n] < 10000) {
			digit = true;
			v[*n] = v[*n] * 10 + (unsigned)(c - '0');
		} else {
			return false;
		}
	}
	++*n;
	return digit;
}

/* CSI < button ; column ; row M, or m for a release. */
static void emit_mouse(struct str parameters, bool press, key_fn emit, void *ctx)
{
	enum { MODIFIERS = 4 | 8 | 16, MOTION = 32, WHEEL = 64, EXTRA = 128 };
	struct key key = { .code = KEY_MOUSE };
	unsigned v[3], n, button;

	if (!parse_numbers(parameters, v, 3, &n) || n != 3 || v[1] == 0 || v[2] == 0)
		return;
	button = v[0] & ~(unsigned)MODIFIERS;
	key.col = (int)v[1] - 1;
	key.row = (int)v[2] - 1;
	if (button & WHEEL) {
		if (!press || (button != WHEEL && button != WHEEL + 1))
			return;
		key.mouse = button == WHEEL ? MOUSE_WHEEL_UP : MOUSE_WHEEL_DOWN;
	} else {
		if (button >= EXTRA || (button & 3) == 3)
			return;
		key.button = (int)(button & 3) + 1;
		key.mouse = !press ? MOUSE_RELEASE : button & MOTION ? MOUSE_DRAG : MOUSE_PRESS;
	}
	emit(ctx, &key);
}

/* CSI number ~ */
static uint32_t numbered_key(unsigned number)
{
	static const uint32_t keys[] = {
		[1] = KEY_HOME, [2] = KEY_INSERT, [3] = KEY_DELETE, [4] = KEY_END,
		[5] = KEY_PAGE_UP, [6] = KEY_PAGE_DOWN, [7] = KEY_HOME, [8] = KEY_END,
		[11] = KEY_F1, [12] = KEY_F1 + 1, [13] = KEY_F1 + 2, [14] = KEY_F1 + 3,
		[15] = KEY_F1 + 4, [17] = KEY_F1 + 5, [18] = KEY_F1 + 6, [19] = KEY_F1 + 7,
		[20] = KEY_F1 + 8, [21] = KEY_F1 + 9, [23] = KEY_F1 + 10, [24] = KEY_F1 + 11,
	};

	return number < sizeof(keys) / sizeof(keys[0]) ? keys[number] : 0;
}

/* CSI letter or SS3 letter */
static uint32_t lettered_key(uint32_t introducer, char final)
{
	switch (final) {
	case 'A': return KEY_UP;
	case 'B': return KEY_DOWN;
	case 'C': return KEY_RIGHT;
	case 'D': return KEY_LEFT;
	case 'H': return KEY_HOME;
	case 'F': return KEY_END;
	case 'P': return KEY_F1;
	case 'Q': return KEY_F1 + 1;
	case 'R': return introducer == SS3 ? KEY_F1 + 2 : 0; /* else a cursor report */
	case 'S': return KEY_F1 + 3;
	case 'Z': return introducer == CSI ? KEY_BACKTAB : 0;
	case 'M': return introducer == SS3 ? KEY_ENTER : 0; /* on the keypad */
	default: return 0;
	}
}

static void dispatch_control(struct keys *k, char final, key_fn emit, void *ctx)
{
	struct str parameters = str_make(k->sequence, k->n);
	unsigned v[2], n;
	uint32_t code = 0;

	start(k, GROUND);
	if (parameters.n > sizeof(k->sequence))
		return;
	if (k->introducer == CSI && parameters.n == 0 && final == 'M') {
		start(k, X10_MOUSE);
		k->more = 3;
		return;
	}
	if (k->introducer == CSI && parameters.n == 0 && final == '[') {
		start(k, CONSOLE);
		return;
	}
	if (k->introducer == CSI && parameters.n && parameters.p[0] == '<') {
		if (final == 'M' || final == 'm')
			emit_mouse(str_from(parameters, 1), final == 'M', emit, ctx);
		return;
	}
	/* the second parameter encodes the modifiers: 1 for none, 2 for shift */
	if (!parse_numbers(parameters, v, 2, &n))
		return;
	if (n == 2 && v[0] == 1 && v[1] == 2 && k->introducer == CSI &&
	    (final == 'C' || final == 'D')) {
		emit_code(final == 'C' ? KEY_SHIFT_RIGHT : KEY_SHIFT_LEFT, emit, ctx);
		return;
	}
	if (n == 2 && v[1] != 1)
		return;
	if (final == '~' && k->introducer == CSI && n == 1 && v[0] == 200) {
		start(k, PASTE);
		buf_clear(&k->paste);
		return;
	}
	if (final == '~' && k->introducer == CSI && n > 0)
		code = numbered_key(v[0]);
	else if (n == 0 || (v[0] == 1 && n == 2))
		code = lettered_key(k->introducer, final);
	if (code)
		emit_code(code, emit, ctx);
}

static void add_pasted(struct keys *k, char byte)
{
	if (k->paste.n < PASTE_MAX_BYTES)
		buf_addc(&k->paste, byte);
}

static void paste_byte(struct keys *k, char byte, key_fn emit, void *ctx)
{
	if (byte == paste_end[k->n]) {
		if (++k->n == sizeof(paste_end) - 1) {
			start(k, GROUND);
			emit_paste(k, emit, ctx);
		}
		return;
	}
	for (unsigned i = 0; i < k->n; i++) {
		add_pasted(k, paste_end[i]);
		k->more = 0;
	}
	k->n = byte == paste_end[0];
	if (k->n)
		return;
	if (byte != '\n' || !k->more)
		add_pasted(k, byte == '\r' ? '\n' : byte);
	k->more = byte == '\r';
}

static void string_byte(struct keys *k, unsigned char byte)
{
	bool inside = k->more > 0 && (byte & 0xc0) == 0x80;
	bool after_c2 = k->n == 1;

	k->n = 0;
	if (byte == '\033') {
		k->state = STRING_ESC;
		k->more = 0;
	} else if (byte == '\a' && k->introducer == OSC) {
		start(k, GROUND);
	} else if (byte == ST && k->form == FORM_BYTE && !inside) {
		start(k, GROUND);
	} else if (byte == ST && k->form == FORM_UTF8 && inside && after_c2) {
		start(k, GROUND);
	} else if (inside) {
		k->more--;
	} else {
		k->more = character_bytes(byte) - 1;
		k->n = byte == 0xc2;
	}
}

static void feed_byte(struct keys *k, unsigned char byte, key_fn emit, void *ctx);

static void ground_byte(struct keys *k, unsigned char byte, key_fn emit, void *ctx)
{
	if (byte < 0x80 || (byte < 0xa0 && is_introducer(byte))) {
		dispatch_character(k, byte, FORM_BYTE, emit, ctx);
	} else if (character_bytes(byte) > 1) {
		start(k, CHARACTER);
		k->more = character_bytes(byte) - 1;
		keep(k, (char)byte);
	}
}

static void utf8_byte(struct keys *k, unsigned char byte, key_fn emit, void *ctx)
{
	struct str s;
	uint32_t c;

	if ((byte & 0xc0) != 0x80) {
		start(k, GROUND);
		feed_byte(k, byte, emit, ctx);
		return;
	}
	keep(k, (char)byte);
	if (--k->more)
		return;
	s = str_make(k->sequence, k->n);
	if (utf8_decode(s, &c) == s.n)
		dispatch_character(k, c, FORM_UTF8, emit, ctx);
	else
		start(k, GROUND);
}

/* Drops the sequence together with the character that starts here. */
static void swallow(struct keys *k, unsigned char byte)
{
	start(k, byte == '\033' ? ESCAPE : character_bytes(byte) > 1 ? UNWANTED : GROUND);
	k->more = character_bytes(byte) - 1;
}

static void escape_byte(struct keys *k, unsigned char byte)
{
	if (byte >= 0x40 && byte < 0x60 && is_introducer(byte + 0x40u))
		begin_sequence(k, byte + 0x40u, FORM_ESC);
	else if (byte < 0xa0 && is_introducer(byte))
		begin_sequence(k, byte, FORM_BYTE);
	else if (byte >= 0x20 && byte < 0x30)
		start(k, DESIGNATE);
	else
		swallow(k, byte);
}

static void feed_byte(struct keys *k, unsigned char byte, key_fn emit, void *ctx)
{
	switch ((enum state)k->state) {
	case GROUND:
		ground_byte(k, byte, emit, ctx);
		return;
	case CHARACTER:
		utf8_byte(k, byte, emit, ctx);
		return;
	case ESCAPE:
		escape_byte(k, byte);
		return;
	case UNWANTED:
		if ((byte & 0xc0) != 0x80) {
			start(k, GROUND);
			feed_byte(k, byte, emit, ctx);
		} else if (--k->more == 0) {
			start(k, GROUND);
		}
		return;
	case DESIGNATE:
		swallow(k, byte);
		return;
	case CONTROL:
		if (byte == '\033')
			start(k, ESCAPE);
		else if (byte >= 0x40 && byte < 0x7f)
			dispatch_control(k, (char)byte, emit, ctx);
		else
			keep(k, (char)byte);
		return;
	case X10_MOUSE:
		if (byte == '\033')
			start(k, ESCAPE);
		else if (--k->more == 0)
			start(k, GROUND);
		return;
	case CONSOLE:
		swallow(k, byte);
		if (byte >= 'A' && byte <= 'E')
			emit_code(KEY_F1 + byte - 'A', emit, ctx);
		return;
	case STRING:
		string_byte(k, byte);
		return;
	case STRING_ESC:
		k->state = STRING;
		if (byte == '\\')
			start(k, GROUND);
		else
			string_byte(k, byte);
		return;
	case PASTE:
		paste_byte(k, (char)byte, emit, ctx);
		return;
	}
}

static int silence_limit(const struct keys *k)
{
	return k->state == ESCAPE || k->state == DESIGNATE ? ESCAPE_ALONE_MS : SEQUENCE_SILENCE_MS;
}

void keys_tick(struct keys *k, int64_t now_ms, key_fn emit, void *ctx)
{
	int state = k->state;

	if (state == GROUND || now_ms - k->last_ms < silence_limit(k))
		return;
	start(k, GROUND);
	if (state == ESCAPE)
		emit_code(KEY_ESCAPE, emit, ctx);
	else if (state == PASTE)
		emit_paste(k, emit, ctx);
}

void keys_feed(struct keys *k, struct str bytes, int64_t now_ms, key_fn emit, void *ctx)
{
	if (bytes.n == 0)
		return;
	keys_tick(k, now_ms, emit, ctx);
	k->last_ms = now_ms;
	for (size_t i = 0; i < bytes.n; i++)
		feed_byte(k, (unsigned char)bytes.p[i], emit, ctx);
}

int keys_wait(const struct keys *k, int64_t now_ms)
{
	int64_t left = k->last_ms + silence_limit(k) - now_ms;

	if (k->state == GROUND)
		return -1;
	return left < 0 ? 0 : left > SEQUENCE_SILENCE_MS ? SEQUENCE_SILENCE_MS : (int)left;
}

void keys_release(struct keys *k)
{
	buf_release(&k->paste);
	*k = (struct keys){ 0 };
}
