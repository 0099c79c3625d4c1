/* Keys, key files, looks, and the terminal on a pseudo-terminal. Keys are written down by their
 * names, so a test reads as what a person would have pressed; mouse and paste tell their
 * details. */
#include "base/mem.h"
#include "base/utf8.h"
#include "loop/loop.h"
#include "term/headless.h"
#include "term/keys.h"
#include "term/look.h"
#include "term/term.h"
#include "theme.h"
#include "unit.h"

#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

/* ck_assert() writes to a file each time it holds: too slow for what is checked by the million. */
#define MUST(condition) \
	do { \
		if (!(condition)) \
			ck_abort_msg("%s", #condition); \
	} while (0)

static uint64_t random_state = 1;

static uint32_t random_below(uint32_t n)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return (uint32_t)(random_state >> 32) % n;
}

static void write_key(void *ctx, const struct key *key)
{
	static const char *const did[] = { "press", "release", "drag", "up", "down" };
	struct buf *out = ctx;

	if (key->code == KEY_PASTE) {
		buf_adds(out, "<Paste ");
		buf_add_str(out, key->text);
		buf_adds(out, ">");
	} else if (key->code == KEY_MOUSE) {
		buf_printf(out, "<%s%d %d,%d>", did[key->mouse], key->button, key->row, key->col);
	} else {
		key_name(key->code, out);
	}
}

static const char *text_of(struct buf *b)
{
	buf_addc(b, '\0');
	b->n--;
	return b->p;
}

/* The keys of these bytes, and of the silence after them. */
static const char *keys_of(struct str bytes)
{
	static struct buf out;
	struct keys k = { 0 };

	buf_clear(&out);
	keys_feed(&k, bytes, 0, write_key, &out);
	keys_tick(&k, 10000, write_key, &out);
	keys_release(&k);
	return text_of(&out);
}

#define CHECK_KEYS(literal, expected) ck_assert_str_eq(keys_of(STR(literal)), expected)

START_TEST(plain_keys)
{
	CHECK_KEYS("jk GZ~", "jk<Space>GZ~");
	CHECK_KEYS("<", "<lt>");
	CHECK_KEYS("\r\n\t\b\x7f", "<Enter><Enter><Tab><BS><BS>");
	CHECK_KEYS("\x04\x15\x0c\x1a\x0f\x03", "<C-d><C-u><C-l><C-z><C-o><C-c>");
	CHECK_KEYS("\x1c\x1d\x1e\x1f", "<C-\\><C-]><C-^><C-_>");
	CHECK_KEYS("\0a", "a");
	CHECK_KEYS("\xc3\xa9\xe6\xbc\xa2\xf0\x9f\x98\x80", "\xc3\xa9\xe6\xbc\xa2\xf0\x9f\x98\x80");
	/* not UTF-8: swallowed, and what follows counts again */
	CHECK_KEYS("\xff" "a\xc3" "b\xe6\xbc" "c\xa9" "d\xf0\x9f\x98" "e", "abcde");
	CHECK_KEYS("\xed\xa0\x80" "a\xc0\xaf" "b\xf5\x80\x80\x80" "c\xe0\x80\xaf" "d", "abcd");
	CHECK_KEYS("\xc3", "");
}
END_TEST

START_TEST(named_keys)
{
	CHECK_KEYS("\033[A\033[B\033[C\033[D", "<Up><Down><Right><Left>");
	CHECK_KEYS("\033OA\033OB\033OC\033OD", "<Up><Down><Right><Left>");
	CHECK_KEYS("\033[H\033[F\033OH\033OF", "<Home><End><Home><End>");
	CHECK_KEYS("\033[1~\033[4~\033[7~\033[8~", "<Home><End><Home><End>");
	CHECK_KEYS("\033[2~\033[3~\033[5~\033[6~", "<Ins><Del><PageUp><PageDown>");
	CHECK_KEYS("\033[Z\033OM", "<S-Tab><Enter>");
	CHECK_KEYS("\033OP\033OQ\033OR\033OS", "<F1><F2><F3><F4>");
	CHECK_KEYS("\033[P\033[Q\033[S", "<F1><F2><F4>");
	CHECK_KEYS("\033[11~\033[12~\033[13~\033[14~\033[15~", "<F1><F2><F3><F4><F5>");
	CHECK_KEYS("\033[17~\033[18~\033[19~\033[20~\033[21~", "<F6><F7><F8><F9><F10>");
	CHECK_KEYS("\033[23~\033[24~", "<F11><F12>");
	CHECK_KEYS("\033[[A\033[[B\033[[C\033[[D\033[[E", "<F1><F2><F3><F4><F5>");
	CHECK_KEYS("\033[1;1A\033[3;1~", "<Up><Del>");
	CHECK_KEYS("\x9b" "A\xc2\x9b" "B\x8f" "C", "<Up><Down><Right>");
	/* with modifiers they are other keys */
	CHECK_KEYS("\033[1;5A\033[1;2B\033[5;3~\033[1;5P\033O5A\033[1;5H", "");
	CHECK_KEYS("\033[1;2D\033[1;2C", "<S-Left><S-Right>");
	/* Alt is none of ours; Esc Esc is one */
	CHECK_KEYS("\033j\033q\033\r\033\x7f\033\xc3\xa9j", "j");
	CHECK_KEYS("\033\033", "<Esc>");
	CHECK_KEYS("\033\033[A", "<Up>");
}
END_TEST

START_TEST(mouse)
{
	CHECK_KEYS("\033[<0;1;1M\033[<0;1;1m", "<press1 0,0><release1 0,0>");
	CHECK_KEYS("\033[<2;80;24M\033[<1;300;200M", "<press3 23,79><press2 199,299>");
	CHECK_KEYS("\033[<64;5;6M\033[<65;5;6M", "<up0 5,4><down0 5,4>");
	CHECK_KEYS("\033[<32;7;8M\033[<16;7;8M", "<drag1 7,6><press1 7,6>");
	/* moving without a button, sideways wheels, more buttons, nonsense */
	CHECK_KEYS("\033[<35;7;8M\033[<66;1;1M\033[<67;1;1M\033[<128;1;1M\033[<64;1;1m", "");
	CHECK_KEYS("\033[<0;0;1M\033[<0;1M\033[<M\033[<0;1;1;1M\033[<;;M", "");
	CHECK_KEYS("\033[<0;99999999999;1M\033[<0;1;1q\033[<0;1;-1M", "");
	CHECK_KEYS("\033[M !!j\033[Majqj", "jj");
}
END_TEST

START_TEST(paste)
{
	struct buf bytes = { 0 }, out = { 0 };
	struct keys k = { 0 };

	CHECK_KEYS("\033[200~hello\033[201~j", "<Paste hello>j");
	CHECK_KEYS("\033[200~\033[201~j", "j");
	CHECK_KEYS("\033[200~a\rb\r\nc\nd\r\033\n\033[201~", "<Paste a\nb\nc\nd\n\033\n>");
	CHECK_KEYS("\033[200~\033[A\033[20\033[201\033\033[201~q", "<Paste \033[A\033[20\033[201\033>q");
	CHECK_KEYS("\033[200~\033[200~x\033[201~\033[201~q", "<Paste \033[200~x>q");
	CHECK_KEYS("\033[200~never ended", "<Paste never ended>");
	CHECK_KEYS("\033[201~", "");
	CHECK_KEYS("\033[200;1~q\033[200q", "q");

	/* endless ones are cut */
	buf_adds(&bytes, "\033[200~");
	for (int i = 0; i < PASTE_MAX_BYTES + 10; i++)
		buf_addc(&bytes, 'q');
	buf_adds(&bytes, "\033[201~j");
	keys_feed(&k, buf_str(&bytes), 0, write_key, &out);
	ck_assert_uint_eq(out.n, PASTE_MAX_BYTES + strlen("<Paste >j"));
	ck_assert_int_eq(keys_wait(&k, 0), -1);
	keys_release(&k);
	buf_release(&bytes);
	buf_release(&out);
}
END_TEST

START_TEST(silence)
{
	struct keys k = { 0 };
	struct buf out = { 0 };

	/* a lone Esc counts after 100 ms, not before */
	ck_assert_int_eq(keys_wait(&k, 1000), -1);
	keys_feed(&k, STR("\033"), 1000, write_key, &out);
	ck_assert_int_eq(keys_wait(&k, 1000), ESCAPE_ALONE_MS);
	ck_assert_int_eq(keys_wait(&k, 1060), 40);
	keys_tick(&k, 1099, write_key, &out);
	ck_assert_uint_eq(out.n, 0);
	keys_tick(&k, 1100, write_key, &out);
	ck_assert_str_eq(text_of(&out), "<Esc>");
	ck_assert_int_eq(keys_wait(&k, 1100), -1);
	/* the same when the next byte is what shows the silence */
	buf_clear(&out);
	keys_feed(&k, STR("\033"), 2000, write_key, &out);
	keys_feed(&k, STR("j"), 2100, write_key, &out);
	ck_assert_str_eq(text_of(&out), "<Esc>j");
	buf_clear(&out);
	keys_feed(&k, STR("\033"), 3000, write_key, &out);
	keys_feed(&k, STR("j"), 3099, write_key, &out);
	ck_assert_str_eq(text_of(&out), "");
	/* Esc held down: one, once it is let go */
	for (int i = 0; i < 20; i++)
		keys_feed(&k, STR("\033"), 4000 + 30 * i, write_key, &out);
	ck_assert_str_eq(text_of(&out), "");
	keys_tick(&k, 5000, write_key, &out);
	ck_assert_str_eq(text_of(&out), "<Esc>");
	/* a sequence gets two seconds after each byte, then it is forgotten */
	buf_clear(&out);
	keys_feed(&k, STR("\033["), 10000, write_key, &out);
	keys_feed(&k, STR("1"), 11999, write_key, &out);
	ck_assert_int_eq(keys_wait(&k, 11999), SEQUENCE_SILENCE_MS);
	keys_feed(&k, STR(";"), 13998, write_key, &out);
	keys_tick(&k, 15997, write_key, &out);
	ck_assert_int_eq(keys_wait(&k, 15997), 1);
	keys_tick(&k, 15998, write_key, &out);
	ck_assert_int_eq(keys_wait(&k, 15998), -1);
	keys_feed(&k, STR("j\033]0;q"), 16000, write_key, &out);
	keys_feed(&k, STR("j"), 18000, write_key, &out);
	ck_assert_str_eq(text_of(&out), "jj");
	/* a clock that goes back does no harm */
	keys_feed(&k, STR("\033"), 20000, write_key, &out);
	keys_tick(&k, 100, write_key, &out);
	ck_assert_int_eq(keys_wait(&k, 100), SEQUENCE_SILENCE_MS);
	keys_release(&k);
	buf_release(&out);
}
END_TEST

/* What terminals say without anybody pressing a key. Each must vanish, and the j after it count. */
struct replies {
	VEC(struct str) all;
};

static void add_reply(struct replies *r, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static void add_reply(struct replies *r, const char *format, ...)
{
	char text[256];
	va_list args;
	int n;

	va_start(args, format);
	n = vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	MUST(n > 0 && n < (int)sizeof(text));
	vec_push(&r->all, str_make(memcpy(xmalloc((size_t)n), text, (size_t)n), (size_t)n));
}

static void add_replies(struct replies *r)
{
	static const char *const whole[] = {
		/* device attributes, status, versions, settings */
		"\033[?1;2c", "\033[?6c", "\033[?62;1;2;4;6;9;15;22c", "\033[>0;276;0c",
		"\033[>41;354;0c", "\033[>1;4000;29c", "\033[=0c", "\033P!|7E565445\033\\",
		"\033[0n", "\033[3n", "\033[?10n", "\033[?11n", "\033[?13n", "\033[?15n", "\033[?20n",
		"\033[?21n", "\033[?27;1;0;0n", "\033[?50n", "\033[?53n", "\033[?70n", "\033[?83n",
		"\033[?997;1n", "\033[?997;2n", "\033[2;1;1;128;128;1;0x", "\033[3;1;1;120;120;1;0x",
		"\033P>|XTerm(380)\033\\", "\033P>|tmux 3.3a\033\\", "\033P>|kitty(0.26.5)\033\\",
		"\033P1$r0m\033\\", "\033P1$r2 q\033\\", "\033P1$r1;24r\033\\", "\033P0$r\033\\",
		"\033P1+r524742=38\033\\", "\033P1+r436f=323536\033\\", "\033P0+r\033\\",
		"\033P1!~FFFF\033\\", "\033P2$u8/16/24\033\\", "\033P1$u1;1;1;@;@;@;0;2;BBBB\033\\",
		"\033[1;2;3;4&w", "\033[?1;1;0S", "\033[?2;0;800;600S", "\033[?1;2;256S", "\033/Z",
		"\033[1;24;80;1;1;1\"w", "\033[5;1;1*y", "\033[>4;2m", "\033[>1;2u",
		/* windows, titles, icons */
		"\033[1t", "\033[2t", "\033[3;0;0t", "\033[4;600;800t", "\033[5;1080;1920t",
		"\033[6;16;8t", "\033[8;24;80t", "\033[9;50;200t", "\033[48;24;80;384;640t",
		"\033]lq a x\033\\", "\033]LaqX\033\\", "\033]l\xe6\x9c\x9c q\033\\", "\033]ldrop\a",
		"\033]0;quit q\a", "\033]2;aqx\033\\", "\033]l\033q a x\033\\",
		/* OSC answers */
		"\033]52;c;cXVpdCBub3cK\a", "\033]52;p;cQ==\033\\", "\033]52;;\033\\",
		"\033]7;file://host/home/q\033\\", "\033]8;;http://q\033\\",
		"\033]9;q\a", "\033]99;i=1;q\033\\", "\033]133;A\a", "\033]1337;ReportCellSize=16;8\a",
		"\033]21;foreground=rgb:ff/ff/ff\033\\", "\033]777;notify;q;a\a", "\033]\a",
		/* kitty: keyboard, graphics, clipboard, pointer */
		"\033[?0u", "\033[?31u", "\033[97u", "\033[97;5u", "\033[97;1:3u", "\033[113::97;2u",
		"\033[57441;1u", "\033[127;3u", "\033[27u", "\033[13;2u", "\033[9;5u", "\033[32;;32u",
		"\033_Gi=31;OK\033\\", "\033_Gi=1;ENOENT:no q\033\\", "\033_Gi=31\a;a\033\\",
		"\033]5522;type=read:status=OK\033\\", "\033]22;text\033\\",
		/* focus, old and foreign mice */
		"\033[I", "\033[O", "\033[M !!", "\033[M#qa", "\033[Mqqq", "\033[M\x80\xff\xfe",
		"\033[32;10;10M", "\033[35;79;23M", "\033[0;1;1;1;0&w", "\033[<35;10;10M",
		/* keys nobody asked for: modified, xterm's and rxvt's */
		"\033[27;5;106~", "\033[27;6;81~", "\033[1;5A", "\033[1;3D", "\033[3;5~", "\033[5;2~",
		"\033[1;2P", "\033[1;6S", "\033[15;5~", "\033[25~", "\033[34~", "\033[99~", "\033[201~",
		"\033[3^", "\033[7@", "\033[2;3;4~", "\033O5A", "\033O1;5P", "\033Oq", "\033Op",
		"\033Oj", "\033OX", "\033[E", "\033[G", "\033[a", "\033[d", "\033[[F", "\033[[q",
		/* the rest of the strings */
		"\033^private q\033\\", "\033Xsos q a\033\\", "\033_apc q a x\033\\", "\033P\033\\",
		"\033Pq#0;2;0;0;0#0~~@@vv@@~~@@~~$\033\\", "\033X\a\a q\033\\", "\033^\a q\033\\",
		/* with 8-bit controls, and those in UTF-8 */
		"\x9b?1;2c", "\x9b" "24;80R", "\x9d" "52;c;cQ==\x9c", "\x90" "1$r0m\x9c", "\x9d" "0;q\a",
		"\x9d" "lq\xe6\x9c\x9c q\x9c", "\x9f" "Gi=1;OK\x9c", "\x9e" "q\x9c", "\x98" "q\x9c",
		"\x8f" "q", "\xc2\x9b" "?62;c", "\xc2\x9d" "lq\xc2\x9c", "\xc2\x9d" "0;q\xe6\x9c\x9c\xc2\x9c",
		"\xc2\x90" "1$r\xc2\x9c", "\xc2\x9f" "G\xc2\x9c", "\xc2\x85", "\xc2\x84", "\x9d" "q\033\\",
		/* broken on the way */
		"\033[1;2\033[3;4R", "\033[?\033[?1c", "\033[1\x18;2R", "\033[1 2;\x01q", "\033[\xff\xfeq",
	};

	for (size_t i = 0; i < sizeof(whole) / sizeof(whole[0]); i++)
		add_reply(r, "%s", whole[i]);
	for (int i = 1; i < 60; i += 7)
		add_reply(r, "\033[%d;%dR", i, i * 3);
	for (int i = 1; i < 60; i += 9)
		add_reply(r, "\033[?%d;%d;1R", i, i * 3);
	for (int i = 0; i < 256; i += 17)
		add_reply(r, "\033]4;%d;rgb:%02x%02x/aaaa/qqqq\033\\", i, i, i);
	for (int i = 10; i < 20; i++)
		add_reply(r, "\033]%d;rgb:ffff/0000/%04x\a", i, i);
	for (int i = 1000; i < 1017; i++)
		add_reply(r, "\033[?%d;%d$y", i, i % 5);
	for (int i = 0; i < 8; i++)
		add_reply(r, "\033[%d;%d$y", i, i % 3);
	for (char c = '0'; c <= 'z'; c++) {
		if (!strchr("OP[]^_X", c))
			add_reply(r, "\033%c", c);
	}
}

static void release_replies(struct replies *r)
{
	for (uint32_t i = 0; i < r->all.n; i++)
		free((void *)(uintptr_t)r->all.v[i].p);
	vec_release(&r->all);
}

/* Where the introducer ends: before it a silence makes the bytes something else. */
static size_t introducer_end(struct str s)
{
	return (unsigned char)s.p[0] == '\033' || (unsigned char)s.p[0] == 0xc2 ? 2 : 1;
}

static bool only_j(struct buf *out, struct keys *k)
{
	bool ok = out->n == 1 && out->p[0] == 'j' && keys_wait(k, 0) == -1;

	buf_clear(out);
	keys_release(k);
	return ok;
}

START_TEST(replies_are_no_keys)
{
	struct replies r = { 0 };
	struct buf out = { 0 }, bytes = { 0 };
	struct keys k = { 0 };

	add_replies(&r);
	ck_assert_uint_ge(r.all.n, 200);
	for (uint32_t i = 0; i < r.all.n; i++) {
		struct str s = r.all.v[i];
		const char *shown = s.p + 1;
		int64_t now = 0;

		/* in one piece */
		buf_clear(&bytes);
		buf_add_str(&bytes, s);
		buf_addc(&bytes, 'j');
		keys_feed(&k, buf_str(&bytes), 0, write_key, &out);
		ck_assert_msg(only_j(&out, &k), "bulk: %.*s", (int)s.n - 1, shown);
		/* byte by byte, at leisure */
		for (size_t at = 0; at < bytes.n; at++) {
			keys_feed(&k, str_make(bytes.p + at, 1), now, write_key, &out);
			keys_tick(&k, now + 50, write_key, &out);
			now += 99;
		}
		ck_assert_msg(only_j(&out, &k), "bytes: %.*s", (int)s.n - 1, shown);
		/* cut in two at each place */
		for (size_t cut = 1; cut < bytes.n; cut++) {
			bool long_pause = cut >= introducer_end(s) && s.p[introducer_end(s) - 1] != '/' &&
					  cut < s.n;

			/* a pause inside a broken one may come after its second Esc */
			if (s.p[cut - 1] == '\033' && cut > 1)
				long_pause = strchr("]P_^X", s.p[1]) != NULL;
			now = long_pause ? 1999 : 99;
			keys_feed(&k, str_make(bytes.p, cut), 0, write_key, &out);
			keys_tick(&k, now, write_key, &out);
			keys_feed(&k, str_from(buf_str(&bytes), cut), now, write_key, &out);
			ck_assert_msg(only_j(&out, &k), "cut at %zu: %.*s", cut, (int)s.n - 1, shown);
		}
	}
	release_replies(&r);
	buf_release(&bytes);
	buf_release(&out);
}
END_TEST

/* Unknown sequences of every shape: whatever their letters would mean as commands. */
START_TEST(random_sequences_are_no_keys)
{
	static const char letters[] = "aqxpezDM$J!~0123456789;:<=>?";
	struct buf bytes = { 0 }, out = { 0 };
	struct keys k = { 0 };

	for (int round = 0; round < 20000; round++) {
		char kind = "P]X^_"[random_below(5)];

		buf_clear(&bytes);
		buf_printf(&bytes, "\033%c", kind);
		for (uint32_t n = random_below(200); n > 0; n--)
			buf_addc(&bytes, letters[random_below(sizeof(letters) - 1)]);
		buf_adds(&bytes, kind == ']' && random_below(2) ? "\a" : "\033\\");
		/* too long for any key, with any final byte */
		buf_adds(&bytes, "\033[?");
		for (uint32_t n = random_below(150); n > 0; n--)
			buf_addc(&bytes, (char)(0x20 + random_below(32)));
		buf_addc(&bytes, (char)(0x40 + random_below(0x3f)));
		buf_addc(&bytes, 'j');
		keys_feed(&k, buf_str(&bytes), 0, write_key, &out);
		MUST(only_j(&out, &k));
	}
	buf_release(&bytes);
	buf_release(&out);
}
END_TEST

static void check_key(void *ctx, const struct key *key)
{
	struct buf *out = ctx;

	if (key->code == KEY_MOUSE)
		MUST(key->row >= 0 && key->col >= 0 && key->button >= 0 && key->button <= 3);
	else if (key->code == KEY_PASTE)
		MUST(key->text.n > 0 && key->text.n <= PASTE_MAX_BYTES);
	else if (key->code < KEY_UP)
		MUST(key->code > 0 && key->code <= 0x10ffff && key->code != '\n' && key->code != '\b' &&
		     !(key->code >= 0x80 && key->code < 0xa0) &&
		     !(key->code >= 0xd800 && key->code < 0xe000));
	else
		MUST(key->code <= KEY_F12);
	write_key(out, key);
}

static void random_input(struct buf *b)
{
	static const char *const piece[] = {
		"\033", "\033[", "\033O", "\033]", "\033P", "\033_", "\033\\", "\a", "\033[200~",
		"\033[201~", "\033[M", "\033[<0;", "1;", "M", "m", "~", "A", "\x9b", "\x9d", "\x9c", "\xc2",
		"\xe6\xbc\xa2", "\xe6", "\xf0\x9f", "j", "q", "5", ";", "\r", "\n", "[", "?",
	};

	buf_clear(b);
	for (uint32_t n = 1 + random_below(30); n > 0; n--) {
		if (random_below(4) == 0)
			buf_addc(b, (char)random_below(256));
		else
			buf_adds(b, piece[random_below(sizeof(piece) / sizeof(piece[0]))]);
	}
}

/* The same bytes at the same times give the same keys, in whatever calls they come. */
START_TEST(random_bytes_however_cut)
{
	struct buf bytes = { 0 }, one = { 0 }, other = { 0 };
	static const int gaps[] = { 0, 0, 0, 0, 1, 50, 99, 100, 150, 1999, 2000, 5000 };

	for (int round = 0; round < 60000; round++) {
		struct keys a = { 0 }, b = { 0 };
		int64_t now = 0;

		random_input(&bytes);
		buf_clear(&one);
		buf_clear(&other);
		for (size_t at = 0; at < bytes.n;) {
			size_t n = 1 + random_below((uint32_t)(bytes.n - at));

			keys_feed(&a, str_make(bytes.p + at, n), now, check_key, &one);
			for (size_t i = 0; i < n; i++) {
				keys_feed(&b, str_make(bytes.p + at + i, 1), now, check_key, &other);
				keys_feed(&b, STR_NONE, now, check_key, &other);
				keys_tick(&b, now, check_key, &other);
			}
			at += n;
			for (int64_t end = now + gaps[random_below(12)]; now < end;) {
				now += 1 + random_below((uint32_t)(end - now));
				keys_tick(&b, now, check_key, &other);
			}
		}
		keys_tick(&a, now + 9000, check_key, &one);
		keys_tick(&b, now + 9000, check_key, &other);
		MUST(str_eq(buf_str(&one), buf_str(&other)));
		MUST(keys_wait(&a, now) == -1 && keys_wait(&b, now) == -1);
		keys_release(&a);
		keys_release(&b);
	}
	buf_release(&bytes);
	buf_release(&one);
	buf_release(&other);
}
END_TEST

static bool parses(const char *text, uint32_t expected)
{
	struct str s = str_of(text);
	uint32_t code = 0;

	return key_parse(&s, &code) && s.n == 0 && code == expected;
}

static bool refuses(struct str s)
{
	struct str rest = s;
	uint32_t code;

	return !key_parse(&rest, &code) && rest.n == s.n;
}

START_TEST(names_and_back)
{
	struct buf name = { 0 };
	struct str s;
	uint32_t code;

	for (uint32_t c = 1; c <= KEY_F12; c++) {
		if (c == '\n' || c == '\b' || (c >= 0x80 && c < 0xa0) || (c >= 0xd800 && c < 0xe000) ||
		    (c > 0x10ffff && c < KEY_UP))
			continue;
		buf_clear(&name);
		key_name(c, &name);
		s = buf_str(&name);
		if (!key_parse(&s, &code) || s.n != 0 || code != c)
			ck_abort_msg("%x is called %s", c, name.p);
	}
	buf_release(&name);
	ck_assert(parses("<esc>", KEY_ESCAPE) && parses("<CR>", KEY_ENTER));
	ck_assert(parses("<pgup>", KEY_PAGE_UP));
	ck_assert(parses("<C-d>", 4) && parses("<c-D>", 4) && parses("<C-m>", KEY_ENTER));
	ck_assert(parses("<C-j>", KEY_ENTER) && parses("<C-h>", KEY_BACKSPACE));
	ck_assert(parses("<C-i>", KEY_TAB) && parses("<C-[>", KEY_ESCAPE));
	ck_assert(parses("<F12>", KEY_F12) && parses("<f2>", KEY_F1 + 1));
	ck_assert(parses("<#>", '#') && parses("<>>", '>') && parses("<<>", '<') && parses(">", '>'));
	ck_assert(refuses(STR("")) && refuses(STR("<")) && refuses(STR("<>")) && refuses(STR("<Esc")));
	ck_assert(refuses(STR("<nobody>")) && refuses(STR("<F0>")) && refuses(STR("<F13>")));
	ck_assert(refuses(STR("<F01>")) && refuses(STR("<C-1>")) && refuses(STR("<C-->")) &&
		  refuses(STR("<Mouse>")) && refuses(STR("<Paste>")));
	ck_assert(refuses(STR("\n")) && refuses(STR("\x7f")) && refuses(STR("\xff")));
	ck_assert(refuses(STR("\0")));
	s = STR("a<Up>b");
	ck_assert(key_parse(&s, &code) && code == 'a' && key_parse(&s, &code) && code == KEY_UP);
	assert_str(s, "b");
}
END_TEST

struct script {
	struct buf out;
	int64_t clock;
	int left; /* steps until it stops */
};

static bool write_step(void *ctx, const struct headless_step *step)
{
	struct script *s = ctx;

	s->clock += step->wait_ms;
	if (step->key)
		write_key(&s->out, step->key);
	else if (step->until.n)
		buf_printf(&s->out, "(until %.*s)", STR_ARG(step->until));
	else
		buf_printf(&s->out, "(%lld)", (long long)s->clock);
	return --s->left != 0;
}

static const char *played(struct str text)
{
	static struct script s;
	static struct err err;

	s.clock = 0;
	s.left = 0;
	buf_clear(&s.out);
	if (headless_play(text, "keys", write_step, &s, &err))
		return err.text;
	return text_of(&s.out);
}

#define CHECK_FILE(literal, expected) ck_assert_str_eq(played(STR(literal)), expected)

START_TEST(key_files)
{
	CHECK_FILE("", "");
	CHECK_FILE("jjk<Enter><Esc><C-d><Up>", "jjk<Enter><Esc><C-d><Up>");
	CHECK_FILE("j\nk\r\n\n  l  \n", "jkl");
	CHECK_FILE(":save-screen out.txt<Enter>\n", ":save-screen<Space>out.txt<Enter>");
	CHECK_FILE("# a comment\nj # and another\n#\nk #\n\t# <nobody>\n", "jk");
	CHECK_FILE(":goto #12<Enter>\na#b\n<#> x\n", ":goto<Space>#12<Enter>a#b#<Space>x");
	CHECK_FILE("a<wait:300>b<wait:50>c<wait:0>", "a(300)b(350)c(350)");
	CHECK_FILE("<paste:quit q><click:3,14><wheel-up:0,0><wheel-down:9,9>",
		   "<Paste quit q><press1 3,14><release1 3,14><up0 0,0><down0 9,9>");
	CHECK_FILE("a<until:2 open>b", "a(until 2 open)b");
	CHECK_FILE("<until:>", "keys:1: unknown key <until:>; write < as <lt>");
	CHECK_FILE("a\tb", "a<Tab>b");
	CHECK_FILE("\xe6\xbc\xa2", "\xe6\xbc\xa2");
	CHECK_FILE("j\nk<nobody>j", "keys:2: unknown key <nobody>j; write < as <lt>");
	CHECK_FILE("<wait:>", "keys:1: unknown key <wait:>; write < as <lt>");
	CHECK_FILE("<wait:-1>", "keys:1: unknown key <wait:-1>; write < as <lt>");
	CHECK_FILE("<wait:99999999999>",
		   "keys:1: unknown key <wait:99999999999>; write < as <lt>");
	CHECK_FILE("a < b", "keys:1: unknown key < b; write < as <lt>");
	CHECK_FILE("<click:1>", "keys:1: unknown key <click:1>; write < as <lt>");
}
END_TEST

START_TEST(key_files_from_disk)
{
	char path[] = "/tmp/gavel-keys-XXXXXX";
	struct script s = { .left = 3 };
	struct err err;
	int fd = mkstemp(path);

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(write(fd, "abc<wait:5>d\n", 13), 13);
	close(fd);
	ck_assert_int_eq(headless_run(path, write_step, &s, &err), 0);
	ck_assert_str_eq(text_of(&s.out), "abc");
	unlink(path);
	ck_assert_int_eq(headless_run(path, write_step, &s, &err), -1);
	ck_assert_ptr_nonnull(strstr(err.text, "cannot be opened"));
	buf_release(&s.out);
}
END_TEST

START_TEST(themes_and_looks)
{
	const struct theme *const themes[] = {
		&theme_dark, &theme_light, &theme_dark_256, &theme_light_256, &theme_mono,
	};
	const int colours[] = { 8, 16, 88, 256 };
	struct look grey = { COLOUR_BRIGHT + COLOUR_BLACK, COLOUR_DEFAULT, 0 };

	for (size_t i = 0; i < sizeof(themes) / sizeof(themes[0]); i++) {
		ck_assert(theme_is_sound(themes[i]));
		for (int role = 0; role < ROLE_COUNT; role++) {
			for (int c = 0; c < 4; c++) {
				struct look look = look_fit(themes[i]->look[role], colours[c]);

				MUST(colours[c] >= 256 || (look.front <= 16 && look.back <= 16));
				MUST(colours[c] >= 16 || ((look.front < 8 || look.front == 16) &&
							  (look.back < 8 || look.back == 16)));
				/* letters must not vanish in their background */
				MUST(look.front != look.back || look.front == COLOUR_DEFAULT);
			}
		}
	}
	for (int role = 0; role < ROLE_COUNT; role++)
		ck_assert(theme_mono.look[role].front == COLOUR_DEFAULT &&
			  theme_mono.look[role].back == COLOUR_DEFAULT);
	ck_assert_ptr_eq(theme_find(STR("dark"), 16), &theme_dark);
	ck_assert_ptr_eq(theme_find(STR("light"), 256), &theme_light_256);
	ck_assert_ptr_eq(theme_find(STR("mono"), 256), &theme_mono);
	ck_assert_ptr_null(theme_find(STR("pink"), 256));
	ck_assert_int_eq(look_fit(grey, 8).bits, LOOK_FAINT);
	ck_assert_int_eq(look_fit((struct look){ COLOUR_256(196), 16, 0 }, 16).front, 9);
	ck_assert_int_eq(look_fit((struct look){ COLOUR_256(231), 16, 0 }, 8).front, COLOUR_WHITE);
}
END_TEST

/* A terminal that only listens: a child draws on it and dies in some way. */
struct listener {
	int master, slave;
	struct termios before;
	struct buf heard;
	pid_t child;
};

static void send_note(const char *note)
{
	if (write(1, note, strlen(note)) < 0)
		_exit(1);
}

static void draw_on_terminal(const char *how, int number)
{
	struct term_look look = { .theme = &theme_dark_256, .mouse = true };
	struct grid *g = grid_new(24, 80, false);
	struct err err;

	if (term_open(&look, &err))
		_exit(77);
	grid_text(g, grid_rect(g), ROLE_TITLE, raw_of(STR("\xe6\xbc\xa2 \033]0;x\a e\xcc\x81 \xff")),
		  TEXT_LINE);
	grid_fill(g, (struct rect){ 20, 0, 4, 80 }, ROLE_OK, "\xe5\xad\x97");
	term_show(g, 1, 2);
	grid_free(g);
	if (strcmp(how, "close") == 0) {
		term_close();
		exit(0);
	}
	if (strcmp(how, "exit") == 0)
		exit(0);
	if (strcmp(how, "bug") == 0) {
		dup2(open("/dev/null", O_WRONLY), 2);
		BUG("asked for");
	}
	if (strcmp(how, "leave") == 0 || strcmp(how, "enter") == 0)
		term_release_screen();
	if (strcmp(how, "enter") == 0 && term_acquire_screen(&err))
		_exit(1);
	/* a child of the program that ends must leave the terminal alone */
	if (strcmp(how, "child") == 0) {
		pid_t pid = fork();

		if (pid == 0)
			exit(0);
		waitpid(pid, NULL, 0);
		send_note("still ours");
		pause();
	}
	kill(getpid(), number);
	pause();
}

static void start_listener(struct listener *l, const char *how, int number)
{
	struct winsize size = { .ws_row = 24, .ws_col = 80 };
	const char *name;

	*l = (struct listener){ .master = posix_openpt(O_RDWR | O_NOCTTY) };
	ck_assert_int_ge(l->master, 0);
	ck_assert(grantpt(l->master) == 0 && unlockpt(l->master) == 0);
	name = ptsname(l->master);
	ck_assert_ptr_nonnull(name);
	l->slave = open(name, O_RDWR | O_NOCTTY);
	ck_assert_int_ge(l->slave, 0);
	ck_assert_int_eq(ioctl(l->slave, TIOCSWINSZ, &size), 0);
	ck_assert_int_eq(tcgetattr(l->slave, &l->before), 0);
	l->child = fork();
	ck_assert_int_ge(l->child, 0);
	if (l->child == 0) {
		/* libcheck has handlers of its own */
		for (int i = 1; i < 32; i++)
			signal(i, SIG_DFL);
		setsid();
		ioctl(l->slave, TIOCSCTTY, 0);
		dup2(l->slave, 0);
		dup2(l->slave, 1);
		close(l->master);
		close(l->slave);
		setenv("TERM", "xterm-256color", 1);
		draw_on_terminal(how, number);
		_exit(1);
	}
}

/* Hears until the wanted bytes came, or for five seconds. */
static bool hear(struct listener *l, const char *wanted)
{
	struct pollfd p = { .fd = l->master, .events = POLLIN };
	char bytes[4096];

	while (str_find(buf_str(&l->heard), str_of(wanted), 0) < 0) {
		ssize_t n = poll(&p, 1, 5000) == 1 ? read(l->master, bytes, sizeof(bytes)) : 0;

		if (n <= 0)
			return false;
		buf_add(&l->heard, bytes, (size_t)n);
	}
	return true;
}

/* Hears the rest, until nobody has the terminal open any more: the guardian too is gone then. */
static void end_listener(struct listener *l)
{
	close(l->slave);
	ck_assert(!hear(l, "never said"));
	close(l->master);
}

static bool modes_return(struct listener *l)
{
	struct termios now;

	/* the guardian writes first and sets modes then */
	for (int i = 0; i < 500; i++) {
		if (tcgetattr(l->slave, &now) == 0 && now.c_lflag == l->before.c_lflag &&
		    now.c_iflag == l->before.c_iflag && now.c_oflag == l->before.c_oflag &&
		    now.c_cc[VMIN] == l->before.c_cc[VMIN])
			return true;
		poll(NULL, 0, 10);
	}
	return false;
}

/* Nothing but printable characters, cursor movement, and sequences of the kinds terminfo has. */
static void check_heard(struct str s)
{
	for (size_t i = 0; i < s.n;) {
		uint32_t c;
		size_t n = utf8_decode(str_from(s, i), &c);

		MUST(n > 0);
		i += n;
		if (c != '\033') {
			MUST((c >= 0x20 && c < 0x7f) || c >= 0xa0 || c == '\r' || c == '\n' || c == '\b');
			continue;
		}
		MUST(i < s.n);
		if (s.p[i] == '(' || s.p[i] == ')') {
			i += 2;
		} else if (s.p[i] == '[') {
			for (i++; i < s.n && s.p[i] >= 0x20 && s.p[i] < 0x40; i++)
				;
			MUST(i++ < s.n);
		} else {
			MUST(strchr("=>78MH", s.p[i++]) != NULL);
		}
	}
}

static ptrdiff_t last_of(const struct listener *l, const char *bytes)
{
	ptrdiff_t at = -1, next = -1;

	while ((next = str_find(buf_str(&l->heard), str_of(bytes), (size_t)(next + 1))) >= 0)
		at = next;
	return at;
}

START_TEST(terminal_comes_back)
{
	static const struct {
		const char *how;
		int signal;
	} ways[] = {
		{ "close", 0 }, { "exit", 0 }, { "bug", SIGABRT }, { "leave", SIGKILL },
		{ "enter", SIGKILL }, { "TERM", SIGTERM }, { "HUP", SIGHUP }, { "INT", SIGINT },
		{ "QUIT", SIGQUIT }, { "SEGV", SIGSEGV }, { "ABRT", SIGABRT }, { "BUS", SIGBUS },
		{ "FPE", SIGFPE }, { "ILL", SIGILL }, { "KILL", SIGKILL },
	};

	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
		struct listener l;
		int status;

		start_listener(&l, ways[i].how, ways[i].signal);
		if (!hear(&l, "\033[?1049l")) {
			ck_assert_int_eq(waitpid(l.child, &status, 0), l.child);
			if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
				return; /* no terminfo for xterm-256color here */
			ck_abort_msg("%s: the screen did not come back", ways[i].how);
		}
		ck_assert_msg(modes_return(&l), "%s: modes", ways[i].how);
		ck_assert_int_eq(waitpid(l.child, &status, 0), l.child);
		/* a sanitizer turns some of the signals into an exit */
		if (ways[i].signal == 0)
			ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) == 0, "%s", ways[i].how);
		else
			ck_assert_msg((WIFSIGNALED(status) && WTERMSIG(status) == ways[i].signal) ||
				      (WIFEXITED(status) && WEXITSTATUS(status) != 0), "%s", ways[i].how);
		end_listener(&l);
		ck_assert(last_of(&l, "\033[?2004h") > 0 && last_of(&l, "\033[?1006h") > 0);
		check_heard(buf_str(&l.heard));
		ck_assert_msg(last_of(&l, "\033[?1049l") > last_of(&l, "\033[?1049h") &&
			      last_of(&l, "\033[?2004l") > last_of(&l, "\033[?2004h") &&
			      last_of(&l, "\033[?1002l") > last_of(&l, "\033[?1002h"), "%s", ways[i].how);
		buf_release(&l.heard);
	}
}
END_TEST

START_TEST(a_child_ends)
{
	struct listener l;
	int status;

	start_listener(&l, "child", 0);
	if (hear(&l, "still ours"))
		ck_assert_int_lt(str_find(buf_str(&l.heard), STR("\033[?1049l"), 0), 0);
	kill(l.child, SIGKILL);
	ck_assert_int_eq(waitpid(l.child, &status, 0), l.child);
	ck_assert(WIFEXITED(status) || hear(&l, "\033[?1049l"));
	end_listener(&l);
	buf_release(&l.heard);
}
END_TEST

START_TEST(no_terminal)
{
	struct term_look look = { 0 };
	struct err err = { "" };
	struct listener l;

	/* of no process group with a terminal */
	setsid();
	dup2(open("/dev/null", O_RDWR), 0);
	dup2(open("/dev/null", O_RDWR), 1);
	ck_assert_int_eq(term_open(&look, &err), -1);
	ck_assert_ptr_nonnull(strstr(err.text, "no terminal"));

	l.master = posix_openpt(O_RDWR | O_NOCTTY);
	ck_assert(l.master >= 0 && grantpt(l.master) == 0 && unlockpt(l.master) == 0);
	l.slave = open(ptsname(l.master), O_RDWR | O_NOCTTY);
	dup2(l.slave, 0);
	dup2(l.slave, 1);
	unsetenv("TERM");
	ck_assert_int_eq(term_open(&look, &err), -1);
	ck_assert_ptr_nonnull(strstr(err.text, "TERM is not set"));
	setenv("TERM", "no-such-terminal", 1);
	ck_assert_int_eq(term_open(&look, &err), -1);
	ck_assert_ptr_nonnull(strstr(err.text, "no-such-terminal"));
	setenv("TERM", "dumb", 1);
	ck_assert_int_eq(term_open(&look, &err), -1);
	ck_assert_ptr_nonnull(strstr(err.text, "gavel show"));
	ck_assert_int_eq(term_colours(), 0);
}
END_TEST

static int run_shell(const char *text)
{
	return loop_run_foreground("/bin/sh", (const char *const[]){ "sh", "-c", text, NULL });
}

/* How it ends, and that ^C in it is no signal for us, before and afterwards one. */
START_TEST(another_program_has_the_terminal)
{
	struct err err;

	ck_assert_int_eq(loop_open(&err), 0);
	ck_assert_int_eq(run_shell("exit 3"), 3);
	ck_assert_int_eq(run_shell("kill -TERM $$"), 128 + SIGTERM);
	ck_assert_int_eq(loop_run_foreground("/no/such/program", (const char *const[]){ "x", NULL }), 127);
	ck_assert_int_eq(run_shell("kill -INT $PPID; kill -QUIT $PPID; kill -INT $$; exit 1"),
			 128 + SIGINT);
	ck_assert_int_eq(loop_signal(), 0);
	ck_assert_int_eq(raise(SIGINT), 0);
	ck_assert_int_eq(loop_signal(), SIGINT);
	loop_close();
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("term");
	TCase *keys = tcase_create("keys"), *names = tcase_create("names");
	TCase *files = tcase_create("files"), *terminal = tcase_create("terminal");

	if (!setlocale(LC_ALL, "C.UTF-8")) {
		fputs("test_term: no locale C.UTF-8 here; skipped\n", stderr);
		return 77;
	}
	tcase_add_test(keys, plain_keys);
	tcase_add_test(keys, named_keys);
	tcase_add_test(keys, mouse);
	tcase_add_test(keys, paste);
	tcase_add_test(keys, silence);
	tcase_add_test(keys, replies_are_no_keys);
	tcase_add_test(keys, random_sequences_are_no_keys);
	tcase_add_test(keys, random_bytes_however_cut);
	tcase_set_timeout(keys, 60);
	suite_add_tcase(suite, keys);
	tcase_add_test(names, names_and_back);
	suite_add_tcase(suite, names);
	tcase_add_test(files, key_files);
	tcase_add_test(files, key_files_from_disk);
	suite_add_tcase(suite, files);
	tcase_add_test(terminal, themes_and_looks);
	tcase_add_test(terminal, terminal_comes_back);
	tcase_add_test(terminal, a_child_ends);
	tcase_add_test(terminal, no_terminal);
	tcase_add_test(terminal, another_program_has_the_terminal);
	tcase_set_timeout(terminal, 120);
	suite_add_tcase(suite, terminal);
	return unit_run(suite);
}
