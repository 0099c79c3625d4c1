/* Sources and framing. Frames are written down in a small notation, one a line:
 *   OFFSET+FULL_LENGTH #LINE FLAGS <bytes>      flags: T truncated, O oversize
 * and each input is framed in all the ways it can be cut in pieces of one size, and in two at every
 * place; the notes must agree. Files are made in a folder of the test's own. */
#include "event/record.h"
#include "wire/framer.h"
#include "wire/chunk.h"
#include "wire/scan.h"
#include "wire/wire.h"

#include "folder.h"
#include "read_frames.h"
#include "unit.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

_Static_assert((int)FRAME_TRUNCATED == RECORD_TRUNCATED, "one meaning, one bit");
_Static_assert((int)FRAME_OVERSIZE == RECORD_OVERSIZE, "one meaning, one bit");

static void note(void *ctx, const struct frame *f)
{
	struct buf *out = ctx;

	if (!(f->flags & FRAME_OVERSIZE))
		ck_assert_uint_eq(f->full_length, f->bytes.n);
	buf_printf(out, "%llu+%llu #%u %s%s<", (unsigned long long)f->offset,
		   (unsigned long long)f->full_length, f->line,
		   f->flags & FRAME_TRUNCATED ? "T" : "", f->flags & FRAME_OVERSIZE ? "O" : "");
	buf_add_str(out, f->bytes);
	buf_adds(out, ">\n");
}

/* first is the length of the first piece, 0: like all others */
static void frame_pieces(struct str input, size_t max_bytes, size_t first, size_t piece,
			 struct buf *out)
{
	struct framer f;

	framer_init(&f, max_bytes, 0);
	for (size_t i = 0, n; i < input.n; i += n) {
		char *copy;

		n = i == 0 && first ? first : piece;
		n = n < input.n - i ? n : input.n - i;
		copy = xmalloc(n); /* so that a look past the piece is seen */
		memcpy(copy, input.p + i, n);
		framer_feed(&f, str_make(copy, n), note, out);
		free(copy);
		ck_assert_uint_le(f.held.n, max_bytes + 1);
	}
	framer_end(&f, note, out);
	framer_end(&f, note, out); /* has nothing to add */
	framer_release(&f);
}

struct part_note {
	struct buf *out;
	uint32_t lines; /* before the part */
	unsigned asked; /* for newlines */
};

static void note_in_part(void *ctx, const struct frame *frame)
{
	struct part_note *n = ctx;
	struct frame f = *frame;

	f.line += n->lines;
	note(n->out, &f);
}

/* Tells every other one. */
static const char *some_newlines(void *ctx, const char *p, const char *end)
{
	struct part_note *n = ctx;
	const char *newline = memchr(p, '\n', (size_t)(end - p));

	ck_assert_ptr_nonnull(newline);
	return n->asked++ % 2 ? newline : NULL;
}

/* In parts of one size, the rest behind the last complete line as one piece. */
static void frame_parts(int fd, struct str input, size_t max_bytes, size_t size, struct buf *out)
{
	struct chunk p = { .fd = fd, .end = input.n, .max_bytes = max_bytes,
			  .newline = some_newlines };
	struct part_note n = { .out = out };
	struct framer rest;
	struct buf room = { 0 };
	uint64_t at = 0;

	for (; p.from < p.end; p.from += size) {
		struct chunk_lines got;

		p.to = p.from + size;
		ck_assert_int_eq(chunk_read(&p, &room, note_in_part, &n, &got), 0);
		n.lines += got.lines;
		at = got.lines ? got.next : at;
	}
	framer_init(&rest, max_bytes, at);
	rest.line += n.lines;
	rest.bom = at ? BOM_BYTES : 0;
	framer_feed(&rest, str_from(input, at), note, out);
	framer_end(&rest, note, out);
	framer_release(&rest);
	buf_release(&room);
}

static int file_of(struct str input)
{
	int fd = memfd_create("parts", MFD_CLOEXEC);

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(write(fd, input.p, input.n), (ssize_t)input.n);
	return fd;
}

static void check_parts(struct str input, size_t max_bytes, struct str want)
{
	int fd = file_of(input);

	for (size_t size = 1; size <= input.n + 1; size++) {
		struct buf got = { 0 };

		frame_parts(fd, input, max_bytes, size, &got);
		ck_assert_msg(str_eq(buf_str(&got), want), "parts of %zu: got\n%.*swant\n%.*s", size,
			      STR_ARG(buf_str(&got)), STR_ARG(want));
		buf_release(&got);
	}
	close(fd);
}

static void check_frames(struct str input, size_t max_bytes, struct str want)
{
	check_parts(input, max_bytes, want);
	for (size_t cut = 0; cut < 2 * input.n + 1; cut++) {
		struct buf got = { 0 };

		if (cut <= input.n)
			frame_pieces(input, max_bytes, 0, cut ? cut : input.n + 1, &got);
		else
			frame_pieces(input, max_bytes, cut - input.n, input.n, &got);
		ck_assert_msg(str_eq(buf_str(&got), want), "cut %zu: got\n%.*swant\n%.*s", cut,
			      STR_ARG(buf_str(&got)), STR_ARG(want));
		buf_release(&got);
	}
}

#define FRAMES(input, max_bytes, want) check_frames(STR(input), max_bytes, STR(want))

START_TEST(lines)
{
	FRAMES("", 99, "");
	FRAMES("\n", 99, "");
	FRAMES("a\n", 99, "0+1 #1 <a>\n");
	FRAMES("a\nbc\n", 99, "0+1 #1 <a>\n2+2 #2 <bc>\n");
	FRAMES("a\r\nb\rc\r\r\n", 99, "0+1 #1 <a>\n3+4 #2 <b\rc\r>\n");
	FRAMES(" \t\r\n\n a \n\r\n\tb\n", 99, "5+3 #3 < a >\n11+2 #5 <\tb>\n");
	FRAMES("a\nb", 99, "0+1 #1 <a>\n2+1 #2 T<b>\n");
	FRAMES("a\nb\r", 99, "0+1 #1 <a>\n2+2 #2 T<b\r>\n");
	FRAMES("a\n \t", 99, "0+1 #1 <a>\n");
	FRAMES("a\0b\0\n\0\n\xff\xfe", 99, "0+4 #1 <a\0b\0>\n5+1 #2 <\0>\n7+2 #3 T<\xff\xfe>\n");
}
END_TEST

START_TEST(byte_order_mark)
{
	FRAMES(BOM, 99, "");
	FRAMES(BOM "\n", 99, "");
	FRAMES(BOM "\r\nx\n", 99, "5+1 #2 <x>\n");
	FRAMES(BOM "a\n" BOM "b\n", 99, "3+1 #1 <a>\n5+4 #2 <" BOM "b>\n");
	FRAMES(BOM BOM "\n", 99, "3+3 #1 <" BOM ">\n");
	FRAMES("\n" BOM "\n", 99, "1+3 #2 <" BOM ">\n");
	FRAMES("\xef\xbb", 99, "0+2 #1 T<\xef\xbb>\n");
	FRAMES("\xef\xbb\n\xbf\n", 99, "0+2 #1 <\xef\xbb>\n3+1 #2 <\xbf>\n");
	FRAMES("\xef\xef\xbb\xbf\n", 99, "0+4 #1 <\xef\xef\xbb\xbf>\n");
}
END_TEST

START_TEST(oversize)
{
	FRAMES("12345678\nx\n", 8, "0+8 #1 <12345678>\n9+1 #2 <x>\n");
	FRAMES("123456789\nx\n", 8, "0+9 #1 O<>\n10+1 #2 <x>\n");
	FRAMES("12345678\r\nx\n", 8, "0+8 #1 <12345678>\n10+1 #2 <x>\n");
	FRAMES("123456789\r\nx\n", 8, "0+9 #1 O<>\n11+1 #2 <x>\n");
	FRAMES("1234567890abcdefghi\r\nx\n", 8, "0+19 #1 O<>\n21+1 #2 <x>\n");
	FRAMES("12345678\r", 8, "0+9 #1 TO<>\n");
	FRAMES("12345678", 8, "0+8 #1 T<12345678>\n");
	FRAMES("1234567890", 8, "0+10 #1 TO<>\n");
	FRAMES("x\n1234567890", 8, "0+1 #1 <x>\n2+10 #2 TO<>\n");
	FRAMES(BOM "12345678\n", 8, "3+8 #1 <12345678>\n");
	FRAMES(BOM "123456789\n", 8, "3+9 #1 O<>\n");
	FRAMES("                \nx\n", 8, "17+1 #2 <x>\n");
	FRAMES("               a\nx\n", 8, "0+16 #1 O<>\n17+1 #2 <x>\n");
	FRAMES("ab\ncd\n", 1, "0+2 #1 O<>\n3+2 #2 O<>\n");
}
END_TEST

static void count_frame(void *ctx, const struct frame *f)
{
	uint64_t *sum = ctx;

	sum[0]++;
	sum[1] += f->full_length;
}

START_TEST(endless_line_in_little_memory)
{
	static char piece[1 << 20];
	uint64_t sum[2] = { 0, 0 };
	struct framer f;

	memset(piece, 'x', sizeof(piece));
	framer_init(&f, 4096, 0);
	for (int i = 0; i < 5000; i++) {
		framer_feed(&f, str_make(piece, sizeof(piece)), count_frame, sum);
		ck_assert_uint_le(f.held.cap, 2 * 4096);
	}
	framer_feed(&f, STR("\ny\n"), count_frame, sum);
	ck_assert_uint_eq(sum[0], 2);
	ck_assert_uint_eq(sum[1], 5000ull * sizeof(piece) + 1);
	framer_release(&f);
}
END_TEST

static uint64_t random_state = 1;

static uint32_t random_below(uint32_t n)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return (uint32_t)(random_state >> 32) % n;
}

/* All bytes are in frames, line ends, blanks or a BOM, and at the place the frame names. */
/* Lines that go on behind their parts, over others. */
START_TEST(parts_and_long_lines)
{
	static const size_t lengths[] = { 3, 9000, 0, 80000, 1, 300000, 20, 131071, 5000 };
	static const size_t sizes[] = { 1000, 4096, 65536, 100000, 1 << 20 };
	struct buf input = { 0 }, want = { 0 }, got = { 0 };
	int fd;

	for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		for (size_t k = 0; k < lengths[i]; k++)
			buf_addc(&input, (char)('a' + k % 23));
		buf_adds(&input, i % 2 ? "\n" : "\r\n");
	}
	input.n--; /* the last line has no end */
	frame_pieces(buf_str(&input), 200000, 0, input.n, &want);
	fd = file_of(buf_str(&input));
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		buf_clear(&got);
		frame_parts(fd, buf_str(&input), 200000, sizes[i], &got);
		ck_assert_msg(str_eq(buf_str(&got), buf_str(&want)), "parts of %zu", sizes[i]);
	}
	close(fd);
	buf_release(&input);
	buf_release(&want);
	buf_release(&got);
}
END_TEST

/* What is not there any more, and what would take too long, is left to others. */
START_TEST(parts_that_fail)
{
	struct buf input = { 0 }, out = { 0 }, room = { 0 };
	struct chunk p = { .to = 1000, .end = 40 << 20, .max_bytes = 99 };
	struct chunk_lines got;

	buf_adds(&input, "short\n");
	p.fd = file_of(buf_str(&input));
	ck_assert_int_eq(chunk_read(&p, &room, note, &out, &got), -1);
	ck_assert_int_eq(ftruncate(p.fd, 40 << 20), 0); /* one line of 40 MB */
	ck_assert_int_eq(chunk_read(&p, &room, note, &out, &got), -1);
	close(p.fd);
	buf_release(&input);
	buf_release(&out);
	buf_release(&room);
}
END_TEST

START_TEST(random_lines)
{
	static const char *const bits[] = { "\n",  "\n",   "\r\n", "\r",   " ", "\t", "a",
					    "bcd", "\xef", "\xbb", "\xbf", BOM, "{}", "\"" };

	for (int round = 0; round < 3000; round++) {
		struct buf input = { 0 }, once = { 0 }, pieces = { 0 };
		size_t max_bytes = 1 + random_below(12);

		for (uint32_t n = random_below(40); n; n--)
			buf_adds(&input, bits[random_below(sizeof(bits) / sizeof(*bits))]);
		frame_pieces(buf_str(&input), max_bytes, 0, input.n + 1, &once);
		for (size_t piece = 1; piece < 6; piece++) {
			buf_clear(&pieces);
			frame_pieces(buf_str(&input), max_bytes, random_below(9), piece, &pieces);
			ck_assert(str_eq(buf_str(&once), buf_str(&pieces)));
		}
		buf_release(&input);
		buf_release(&once);
		buf_release(&pieces);
	}
}
END_TEST

/* Files, from here on. */

static void add(struct wire *w, const char *path)
{
	struct err err = { "" };

	ck_assert_msg(wire_add(w, path, &err) == 0, "%s", err.text);
}

struct fetching {
	struct buf *notes;
	VEC(struct frame) frames;
	struct arena arena;
};

static void note_and_keep(void *ctx, const struct frame *f)
{
	struct fetching *all = ctx;
	struct frame copy = *f;

	note(all->notes, f);
	copy.bytes = arena_str(&all->arena, f->bytes);
	vec_push(&all->frames, copy);
}

/* Notes of one file; every frame is fetched again and must be the same bytes. */
static void read_notes(struct wire *w, uint32_t file, struct buf *notes)
{
	struct fetching all = { .notes = notes };
	struct buf again = { 0 };
	struct err err = { "" };

	ck_assert_msg(read_frames(w, file, note_and_keep, &all, &err) == 0, "%s", err.text);
	for (uint32_t i = 0; i < all.frames.n; i++) {
		struct frame *f = &all.frames.v[i];

		ck_assert_msg(wire_fetch(w, file, f->offset, f->full_length, &again, &err) == 0,
			      "%s", err.text);
		if (f->flags & FRAME_OVERSIZE)
			ck_assert_uint_eq(again.n, f->full_length < 4096 ? f->full_length : 4096);
		else
			ck_assert(str_eq(buf_str(&again), f->bytes));
	}
	buf_release(&again);
	vec_release(&all.frames);
	arena_release(&all.arena);
}

/* The notes of a file of that name and content; `whole` and session as well. */
static void check_file(const char *name, struct str content, size_t max_bytes, bool whole,
		       struct str session, struct str want)
{
	struct wire w = { .max_bytes = max_bytes };
	struct buf notes = { 0 };
	struct wire_file *file;

	write_file(path_of(name), content);
	add(&w, path_of(name));
	ck_assert_uint_eq(w.files.n, 1);
	ck_assert_uint_eq(w.bytes_total, content.n);
	read_notes(&w, 0, &notes);
	ck_assert_msg(str_eq(buf_str(&notes), want), "%.*s: got\n%.*swant\n%.*s", STR_ARG(content),
		      STR_ARG(buf_str(&notes)), STR_ARG(want));
	file = &w.files.v[0];
	ck_assert_msg(file->whole == whole, "%.*s: whole is %d", STR_ARG(content), file->whole);
	ck_assert_msg(str_eq(file->session, session), "session is %.*s", STR_ARG(file->session));
	ck_assert(str_is(file->base, name));
	ck_assert(str_is(file->name, path_of(name)));
	ck_assert(str_eq(file->group, file->name));
	ck_assert_uint_eq(w.bytes_done, w.bytes_total);
	ck_assert_uint_eq(w.warnings.n, 0);
	buf_release(&notes);
	wire_release(&w);
}

#define LINES(content, want) check_file("log", STR(content), 0, false, STR_NONE, STR(want))
#define WHOLE(content, want) check_file("log", STR(content), 0, true, STR_NONE, STR(want))
#define ELEMENTS(content, want) LINES(content, want)

START_TEST(files_of_lines)
{
	LINES("", "");
	LINES(BOM, "");
	LINES("\n\n", "");
	LINES("{}\n{}\n", "0+2 #1 <{}>\n3+2 #2 <{}>\n");
	LINES("{}\n\n[]", "0+2 #1 <{}>\n4+2 #3 T<[]>\n");
	LINES("plain\n{}\n", "0+5 #1 <plain>\n6+2 #2 <{}>\n");
	LINES("[INFO] up\n[WARN", "0+9 #1 <[INFO] up>\n10+5 #2 T<[WARN>\n");
	LINES("[INFO]\n", "0+6 #1 <[INFO]>\n");
	LINES("{x\n}\n", "0+2 #1 <{x>\n3+1 #2 <}>\n");
	LINES("{} {}\n", "0+5 #1 <{} {}>\n");
	LINES("\"text\"\n", "0+6 #1 <\"text\">\n");
	LINES("{\"messages\":[1]}\n{}\n", "0+16 #1 <{\"messages\":[1]}>\n17+2 #2 <{}>\n");
	LINES("[1]\n[2]\n", "0+3 #1 <[1]>\n4+3 #2 <[2]>\n");
	LINES("{\"a\":[1}\n", "0+8 #1 <{\"a\":[1}>\n");
	LINES("{\"a\":[1}}\n", "0+9 #1 <{\"a\":[1}}>\n");
	LINES("{\"a\":\"x\ny\"}\n", "0+7 #1 <{\"a\":\"x>\n8+3 #2 <y\"}>\n");
	LINES("\xef\xbb{}\n", "0+4 #1 <\xef\xbb{}>\n");
	LINES(" " BOM "{\n}\n", "0+5 #1 < " BOM "{>\n6+1 #2 <}>\n");
}
END_TEST

START_TEST(torn_first_line)
{
	LINES("{\"a\":\"x\n{\"b\":1}\n", "0+7 #1 <{\"a\":\"x>\n8+7 #2 <{\"b\":1}>\n");
	LINES("{\"a\":1,\n{\"b\":1}\n}\n", "0+7 #1 <{\"a\":1,>\n8+7 #2 <{\"b\":1}>\n16+1 #3 <}>\n");
	LINES("{\"a\":\n{\"b\":1}\n{\"c\":1}\n}\n",
	      "0+5 #1 <{\"a\":>\n6+7 #2 <{\"b\":1}>\n14+7 #3 <{\"c\":1}>\n22+1 #4 <}>\n");
	LINES("{\"a\":\n{\"b\":1}\n", "0+5 #1 <{\"a\":>\n6+7 #2 <{\"b\":1}>\n");
	LINES("{\"a\":[\n{}\n{}\n]}\n",
	      "0+6 #1 <{\"a\":[>\n7+2 #2 <{}>\n10+2 #3 <{}>\n13+2 #4 <]}>\n");
	LINES("{\"a\"\n{\"b\":1}\n}\n", "0+4 #1 <{\"a\">\n5+7 #2 <{\"b\":1}>\n13+1 #3 <}>\n");
	LINES("{\n{\"b\":1}\n}\n", "0+1 #1 <{>\n2+7 #2 <{\"b\":1}>\n10+1 #3 <}>\n");
	LINES("x\":1}\n{}\n", "0+5 #1 <x\":1}>\n6+2 #2 <{}>\n");
}
END_TEST

START_TEST(one_object)
{
	WHOLE("{\"a\":1}", "0+7 #1 T<{\"a\":1}>\n");
	WHOLE("\n {\"a\":1}\r\n\n", "1+8 #2 < {\"a\":1}>\n");
	WHOLE("{\n \"a\": {\n}\n}\n\n", "0+13 #1 <{\n \"a\": {\n}\n}>\n");
	WHOLE("\r\n{\r\n}\r\n", "2+4 #1 <{\r\n}>\n");
	WHOLE(BOM "{\n}", "3+3 #1 <{\n}>\n");
	/* none of these is a top-level messages array */
	WHOLE("{\"a\":{\"messages\":[1]}}\n", "0+22 #1 <{\"a\":{\"messages\":[1]}}>\n");
	WHOLE("{\"a\":\"messages\",\"b\":[1]}\n", "0+24 #1 <{\"a\":\"messages\",\"b\":[1]}>\n");
	WHOLE("{\"messages\":{\"a\":[1]}}\n", "0+22 #1 <{\"messages\":{\"a\":[1]}}>\n");
	WHOLE("{\"a\":\"\\\"messages\\\":[1]\"}\n", "0+24 #1 <{\"a\":\"\\\"messages\\\":[1]\"}>\n");
	WHOLE("{\"a\":[\"messages\",[1]]}\n", "0+22 #1 <{\"a\":[\"messages\",[1]]}>\n");
	WHOLE("{\"messages\":1,\"a\":[1]}\n", "0+22 #1 <{\"messages\":1,\"a\":[1]}>\n");
	check_file("log", STR("{\n\"a\":1\n}\n"), 8, true, STR_NONE, STR("0+9 #1 O<>\n"));
}
END_TEST

START_TEST(elements)
{
	WHOLE("[]", "0+2 #1 T<[]>\n");
	WHOLE("[1, 2]\n", "0+6 #1 <[1, 2]>\n");
	ELEMENTS("[\n]", "");
	ELEMENTS("{\"messages\":[]}\n", "");
	ELEMENTS("[1,\"a,]\",null , [2,{}],{\"x\":[]}]",
		 "1+1 #1 <1>\n3+5 #2 <\"a,]\">\n9+4 #3 <null>\n16+6 #4 <[2,{}]>\n23+8 #5 "
		 "<{\"x\":[]}>\n");
	ELEMENTS("[\n  {\"a\": 1},\r\n  {\n\"b\":\t2\n}\n]\n",
		 "4+8 #1 <{\"a\": 1}>\n17+10 #2 <{\n\"b\":\t2\n}>\n");
	ELEMENTS("{\"messages\":[{\"a\":1},{\"messages\":[2]}]}",
		 "13+7 #1 <{\"a\":1}>\n21+16 #2 <{\"messages\":[2]}>\n");
	ELEMENTS("{\n\"x\": \"messages\",\n\"messages\": [\n{\"a\":\"\\\\\"},\n{}\n],\n\"y\": "
		 "[7]\n}",
		 "33+10 #1 <{\"a\":\"\\\\\"}>\n45+2 #2 <{}>\n");
	ELEMENTS("[{\"a\":\"\\n\"},{\"b\":\"\\u0022]\"}]",
		 "1+10 #1 <{\"a\":\"\\n\"}>\n12+15 #2 <{\"b\":\"\\u0022]\"}>\n");
	ELEMENTS(BOM "\n[\n1]\n", "6+1 #1 <1>\n");
	/* neither lost nor merged: empty slots, a comma too many, a second array of that name */
	ELEMENTS("[\n1,,2,]", "2+1 #1 <1>\n5+1 #3 <2>\n");
	ELEMENTS("{\"messages\":[1],\"messages\":[2]}", "13+1 #1 <1>\n28+1 #2 <2>\n");
	ELEMENTS("[\n {\"a\" 1},\n {\"b\":[{}\n {}]}]",
		 "3+7 #1 <{\"a\" 1}>\n13+14 #2 <{\"b\":[{}\n {}]}>\n");
	check_file("log", STR("[\n\"123456\",\"1234567\"   ,[ 1 ]]"), 8, false, STR_NONE,
		   STR("2+8 #1 <\"123456\">\n11+9 #2 O<>\n24+5 #3 <[ 1 ]>\n"));
}
END_TEST

START_TEST(session_of_a_document)
{
	struct buf longer = { 0 };
	struct str one = STR("13+1 #1 <1>\n");

	check_file("log", STR("{\"messages\":[1],\"session_id\":\"s-1\"}"), 0, false, STR("s-1"),
		   one);
	check_file("log", STR("{\"messages\":[1],\"sessionId\":\"\\u00e9\\\"\"}"), 0, false,
		   STR("\xc3\xa9\""), one);
	check_file("log", STR("{\"messages\":[1],\"a\":{\"session_id\":\"s-1\"}}"), 0, false,
		   STR_NONE, one);
	check_file("log", STR("{\"messages\":[1],\"session_id\":7}"), 0, false, STR_NONE, one);
	check_file("log", STR("{\"messages\":[1],\"session_id\":[\"a\"]}"), 0, false, STR_NONE,
		   one);
	check_file("log", STR("{\"messages\":[1],\"x\":\"session_id\",\"y\":\"z\"}"), 0, false,
		   STR_NONE, one);
	buf_adds(&longer, "{\"messages\":[1],\"session_id\":\"");
	for (int i = 0; i < 1000; i++)
		buf_addc(&longer, 'x');
	buf_adds(&longer, "\"}");
	check_file("log", buf_str(&longer), 0, false, STR_NONE, one);
	buf_release(&longer);
}
END_TEST

START_TEST(handoff_files)
{
	struct str none = STR_NONE;

	check_file("task-1.json", STR("{\n\"task_id\":1\n}\n"), 0, true, none,
		   STR("0+15 #1 <{\n\"task_id\":1\n}>\n"));
	check_file("task-1.json", STR("{\"task_id\":1}\n"), 0, true, none,
		   STR("0+13 #1 <{\"task_id\":1}>\n"));
	/* damaged, and still one message by its name */
	check_file("task-1.json", STR("{\n\"task_id\":1,\n"), 0, true, none,
		   STR("0+14 #1 T<{\n\"task_id\":1,>\n"));
	check_file("result-1.json", STR("{\"a\":\"\nb\"\n}\r\n"), 0, true, none,
		   STR("0+11 #1 <{\"a\":\"\nb\"\n}>\n"));
	check_file("decision-1.json", STR(" {\"a\""), 0, true, none, STR("1+4 #1 T<{\"a\">\n"));
	check_file("task-1.json", STR("{}\n{}\n"), 0, false, none,
		   STR("0+2 #1 <{}>\n3+2 #2 <{}>\n"));
	check_file("task-1.json", STR("text\n"), 0, false, none, STR("0+4 #1 <text>\n"));
	check_file("review-1.md", STR("# Notes\n\n- a\n"), 0, true, none,
		   STR("0+12 #1 <# Notes\n\n- a>\n"));
	check_file("review-1.md", STR(BOM "x\r\n"), 0, true, none, STR("3+1 #1 <x>\n"));
	check_file("review-1.md", STR("{}\n{}"), 0, true, none, STR("0+5 #1 <{}\n{}>\n"));
	check_file("review-1.md", STR(""), 0, true, none, STR(""));
	check_file("review-1.md", STR("123456789\n"), 8, true, none, STR("0+9 #1 O<>\n"));
	check_file("notes.md", STR("a\nb\n"), 0, false, none, STR("0+1 #1 <a>\n2+1 #2 <b>\n"));
}
END_TEST

static void note_element(void *ctx, uint64_t start, uint64_t end, uint32_t number)
{
	buf_printf(ctx, "%llu-%llu #%u\n", (unsigned long long)start, (unsigned long long)end,
		   number);
}

static void scan_pieces(struct str input, size_t piece, struct buf *out)
{
	struct scan s;

	scan_init(&s, 0);
	for (size_t i = 0; i < input.n; i += piece)
		scan_feed(&s, str_make(input.p + i, piece < input.n - i ? piece : input.n - i),
			  note_element, out);
	buf_printf(out, "%d %d %d %.*s", s.state, s.many_lines, s.has_elements, (int)s.session_n,
		   s.session);
}

START_TEST(scanning_any_pieces)
{
	static const char *const bits[] = {
		"{",
		"}",
		"[",
		"]",
		",",
		":",
		"\"",
		"\"messages\":[",
		"\"session_id\":\"s\"",
		"\\",
		"\n",
		" ",
		"1",
		"\"a\"",
		"\"\\\"\"",
		"{\"a\":[1,{}]}",
		"{\"a\":1}",
		BOM,
	};

	for (int round = 0; round < 3000; round++) {
		struct buf input = { 0 }, once = { 0 }, pieces = { 0 };

		buf_adds(&input, random_below(2) ? "{\"messages\":[" : "[");
		for (uint32_t n = random_below(20); n; n--)
			buf_adds(&input, bits[random_below(sizeof(bits) / sizeof(*bits))]);
		buf_adds(&input, random_below(2) ? "]}" : "]");
		scan_pieces(buf_str(&input), input.n, &once);
		for (size_t piece = 1; piece < 8; piece++) {
			buf_clear(&pieces);
			scan_pieces(buf_str(&input), piece, &pieces);
			ck_assert_msg(str_eq(buf_str(&once), buf_str(&pieces)), "%.*s",
				      STR_ARG(buf_str(&input)));
		}
		buf_release(&input);
		buf_release(&once);
		buf_release(&pieces);
	}
}
END_TEST

/* What is known for a log by its first two lines is one for the scanner, too. */
START_TEST(logs_at_once)
{
	static const char *const bits[] = {
		"{", "}", "[", "]", ",", ":", "\"", "\"messages\":[", "\\", "\n", " ", "1", "\"a\"",
		"{\"a\":[1,{}]}", "{\"a\":1}", "}\n{", "]\n{", "}\n[",
	};
	unsigned logs = 0;

	for (int round = 0; round < 20000; round++) {
		struct buf input = { 0 };
		struct scan s;

		buf_adds(&input, "{");
		for (uint32_t n = random_below(8); n; n--)
			buf_adds(&input, bits[random_below(sizeof(bits) / sizeof(*bits))]);
		scan_init(&s, 0);
		scan_feed(&s, buf_str(&input), NULL, NULL);
		if (scan_begins_log(buf_str(&input))) {
			ck_assert_msg(s.state == SCAN_REJECTED, "%.*s", STR_ARG(buf_str(&input)));
			logs++;
		}
		buf_release(&input);
	}
	ck_assert_uint_gt(logs, 1000);
	ck_assert(!scan_begins_log(STR("")));
	ck_assert(!scan_begins_log(STR("\n{")));
	ck_assert(!scan_begins_log(STR("{}\n")));
	ck_assert(!scan_begins_log(STR("{\"a\":{}\n}\n")));
	ck_assert(!scan_begins_log(STR("{\"messages\":[{},\n{}]}")));
	ck_assert(scan_begins_log(STR("{}\n{")));
}
END_TEST

/* Longer than what is looked at first, in a file of more than a block. */
START_TEST(long_first_line)
{
	static const size_t lengths[] = { 16380, 16384, 20000, 65536, 100000, 262144, 600000 };

	for (unsigned i = 0; i < 2 * sizeof(lengths) / sizeof(*lengths); i++) {
		bool document = i % 2;
		struct buf text = { 0 }, want = { 0 }, notes = { 0 };
		struct wire w = { 0 };

		buf_adds(&text, document ? "{\"messages\":[" : "");
		for (uint32_t n = 1; text.n < 2 * lengths[i / 2] + SOURCE_BLOCK_BYTES; n++) {
			size_t start = text.n, end = start + (n == 1 ? lengths[i / 2] : 10);

			buf_adds(&text, "{\"a\":\"");
			while (text.n < end)
				buf_adds(&text, "\\n");
			buf_adds(&text, "\"}");
			note(&want, &(struct frame){ str_make(text.p + start, text.n - start),
						     start, text.n - start, n, 0 });
			buf_adds(&text, document ? ",\n" : "\n");
		}
		if (document) {
			text.n -= 2;
			buf_adds(&text, "]}");
		}
		write_file(path_of("long"), buf_str(&text));
		add(&w, path_of("long"));
		read_notes(&w, 0, &notes);
		ck_assert(str_eq(buf_str(&notes), buf_str(&want)));
		wire_release(&w);
		buf_release(&text);
		buf_release(&want);
		buf_release(&notes);
	}
}
END_TEST

START_TEST(brackets_without_end)
{
	struct buf text = { 0 };

	for (int i = 0; i < 1000000; i++)
		buf_addc(&text, '[');
	check_file("log", buf_str(&text), 999999, false, STR_NONE, STR("0+1000000 #1 TO<>\n"));
	buf_clear(&text);
	buf_adds(&text, "[\n");
	for (int i = 0; i < SCAN_DEPTH_MAX - 2; i++)
		buf_addc(&text, '[');
	for (int i = 0; i < SCAN_DEPTH_MAX - 1; i++)
		buf_addc(&text, ']');
	check_file("log", buf_str(&text), 100, false, STR_NONE, STR("2+131068 #1 O<>\n"));
	buf_release(&text);
}
END_TEST

/* Several blocks: lines and elements that lie across their edges. */
START_TEST(bigger_than_a_block)
{
	for (int document = 0; document < 2; document++) {
		struct buf text = { 0 }, want = { 0 }, notes = { 0 };
		struct wire w = { 0 };

		buf_adds(&text, document ? "[\n" : "");
		for (uint32_t i = 0; text.n < 5 * SOURCE_BLOCK_BYTES; i++) {
			size_t start = text.n, n = i % 7 == 6 ? 300000 : random_below(5000);

			buf_adds(&text, "{\"x\":\"");
			while (n--)
				buf_addc(&text, "abc\\"[n % 3]);
			buf_adds(&text, "\"}");
			note(&want, &(struct frame){ str_make(text.p + start, text.n - start),
						     start, text.n - start, i + 1, 0 });
			buf_adds(&text, document ? "\t,  \n" : "\n");
		}
		buf_adds(&text, document ? "]" : "");
		write_file(path_of("big"), buf_str(&text));
		add(&w, path_of("big"));
		read_notes(&w, 0, &notes);
		ck_assert(str_eq(buf_str(&notes), buf_str(&want)));
		ck_assert_uint_eq(w.bytes_done, text.n);
		/* and once more, into the same buffers */
		buf_clear(&notes);
		read_notes(&w, 0, &notes);
		ck_assert(str_eq(buf_str(&notes), buf_str(&want)));
		wire_release(&w);
		buf_release(&text);
		buf_release(&want);
		buf_release(&notes);
	}
}
END_TEST

static bool warned(const struct wire *w, const char *text)
{
	for (uint32_t i = 0; i < w->warnings.n; i++)
		if (str_find(w->warnings.v[i], str_of(text), 0) >= 0)
			return true;
	return false;
}

/* Reading may end after any step; the next one is a whole one. */
START_TEST(as_much_as_is_enough)
{
	for (int document = 0; document < 2; document++) {
		struct buf text = { 0 };
		struct wire w = { 0 };
		struct wire_reading *r;
		uint64_t first[2] = { 0 }, all[2] = { 0 };
		uint32_t n = 0;
		struct err err;

		buf_adds(&text, document ? "[\n" : "");
		for (; text.n < 3 * SOURCE_BLOCK_BYTES; n++)
			buf_adds(&text, document && n ? ",{\"x\":1}\n" : "{\"x\":1}\n");
		buf_adds(&text, document ? "]" : "");
		write_file(path_of("big"), buf_str(&text));
		add(&w, path_of("big"));
		r = wire_read_begin(&w, 0, count_frame, first);
		while (!first[0])
			ck_assert_int_le(wire_read_step(r, &err), WIRE_LINES);
		wire_read_end(r);
		ck_assert_uint_lt(first[0], n / 2);
		ck_assert_int_eq(read_frames(&w, 0, count_frame, all, &err), 0);
		ck_assert_uint_eq(all[0], n);
		wire_release(&w);
		buf_release(&text);
	}
}
END_TEST

START_TEST(directory)
{
	static const char *const names[] = { "task-2.json", "task-1.json", "review-1.md",
					     "b.ndjson",    "a.jsonl",     "z.log",
					     "multi.json",  "notes.md",    ".hidden.json",
					     "x.txt" };
	static const char *const want[] = { "a.jsonl",     "b.ndjson",    "multi.json",
					    "review-1.md", "task-1.json", "task-2.json",
					    "z.log" };
	struct wire w = { 0 };

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		write_file(path_of(names[i]), STR("{}\n"));
	ck_assert_int_eq(mkdir(path_of("sub.json"), 0700), 0);
	ck_assert_int_eq(mkfifo(path_of("pipe.log"), 0600), 0);
	ck_assert_int_eq(symlink("nowhere", path_of("gone.log")), 0);
	add(&w, path_of("")); /* with a slash at the end */
	ck_assert_uint_eq(w.files.n, sizeof(want) / sizeof(*want));
	for (uint32_t i = 0; i < w.files.n; i++) {
		struct buf notes = { 0 };

		ck_assert(str_is(w.files.v[i].base, want[i]));
		ck_assert(str_is(w.files.v[i].name, path_of(want[i])));
		ck_assert(str_is(w.files.v[i].group, folder));
		read_notes(&w, i, &notes);
		ck_assert(w.files.v[i].whole);
		assert_str(buf_str(&notes), "0+2 #1 <{}>\n");
		buf_release(&notes);
	}
	ck_assert_uint_eq(w.warnings.n, 3);
	ck_assert(warned(&w, "/sub.json: not a regular file; "));
	ck_assert(warned(&w, "/pipe.log: not a regular file; "));
	ck_assert(warned(&w, "/gone.log: No such file or directory; "));
	add(&w, folder);
	add(&w, path_of("task-1.json"));
	ck_assert_uint_eq(w.files.n, sizeof(want) / sizeof(*want));
	ck_assert_uint_eq(w.warnings.n, 5);
	ck_assert(warned(&w, "/task-1.json: given twice; read once"));
	wire_release(&w);
}
END_TEST

START_TEST(more_files_than_descriptors)
{
	struct wire w = { 0 };
	struct buf notes = { 0 };
	char name[32], want[64];
	struct err err;
	int highest;

	for (int i = 0; i < 500; i++) {
		snprintf(name, sizeof(name), "%03d.log", i);
		write_file(path_of(name), str_of(name));
	}
	add(&w, folder);
	ck_assert_uint_eq(w.files.n, 500);
	highest = dup(0);
	ck_assert_int_lt(highest, 100);
	close(highest);
	for (uint32_t i = 0; i < 500; i++) {
		buf_clear(&notes);
		read_notes(&w, i, &notes);
		snprintf(want, sizeof(want), "0+7 #1 T<%03u.log>\n", i);
		ck_assert(str_is(buf_str(&notes), want));
	}
	for (uint32_t i = 0; i < 500; i++) {
		uint32_t file = random_below(500);

		ck_assert_int_eq(wire_fetch(&w, file, 0, 3, &notes, &err), 0);
		snprintf(want, sizeof(want), "%03u", file);
		ck_assert(str_is(buf_str(&notes), want));
	}
	/* another file in its place is not taken for it */
	write_file(path_of("new"), STR("499.log"));
	ck_assert_int_eq(wire_fetch(&w, 498, 0, 3, &notes, &err), 0);
	ck_assert_int_eq(rename(path_of("new"), path_of("499.log")), 0);
	ck_assert_int_eq(wire_fetch(&w, 499, 0, 3, &notes, &err), -1);
	ck_assert_ptr_nonnull(strstr(err.text, "499.log: is another file now"));
	buf_release(&notes);
	wire_release(&w);
}
END_TEST

static void hear_nothing(void *ctx, const struct frame *frame)
{
	(void)ctx;
	(void)frame;
}

/* A small file that has not just been written is read into memory when it is added: it says what it said
 * then, however often it is looked at, and is read from the disk again once it was read. */
START_TEST(small_files_are_held)
{
	int64_t deadline = unit_now_ms() + 10000;
	struct wire w = { 0 };
	struct buf notes = { 0 };
	struct fetching all = { .notes = &notes };
	struct wire_reading *r;
	struct err err;

	write_file(path_of("small"), STR("[1]\n{}\n"));
	add(&w, path_of("small"));
	while (!w.files.v[0].source.held) {
		ck_assert_msg(unit_now_ms() < deadline, "a small file is never held");
		wire_release(&w);
		add(&w, path_of("small"));
	}
	ck_assert_uint_eq(w.held_bytes, 7);
	write_file(path_of("small"), STR("[2]\n{}\n[3]\n"));
	r = wire_read_begin(&w, 0, hear_nothing, NULL);
	while (wire_read_step(r, &err) != WIRE_DONE)
		;
	wire_read_leave(r);
	ck_assert_ptr_nonnull(w.files.v[0].source.held);
	ck_assert_int_eq(read_frames(&w, 0, note_and_keep, &all, &err), 0);
	ck_assert_str_eq(notes.p, "0+3 #1 <[1]>\n4+2 #2 <{}>\n");
	ck_assert_ptr_null(w.files.v[0].source.held);
	ck_assert_int_eq(wire_fetch(&w, 0, 0, 3, &notes, &err), 0);
	ck_assert(str_is(buf_str(&notes), "[2]"));
	vec_release(&all.frames);
	arena_release(&all.arena);
	buf_release(&notes);
	wire_release(&w);
}
END_TEST

START_TEST(errors_say_what_to_do)
{
	struct wire w = { 0 };
	struct buf out = { 0 };
	struct err err = { "" };
	char longest[5000];

	ck_assert_int_eq(wire_add(&w, path_of("none"), &err), -1);
	ck_assert_ptr_nonnull(strstr(err.text, "/none: No such file or directory; check the name"));
	ck_assert_int_eq(wire_add(&w, "", &err), -1);
	memset(longest, 'x', sizeof(longest));
	longest[sizeof(longest) - 1] = '\0';
	ck_assert_int_eq(wire_add(&w, longest, &err), -1);
	ck_assert_ptr_nonnull(strstr(err.text, "x: File name too long; check the name"));
	ck_assert_uint_eq(w.files.n, 0);

	ck_assert_int_eq(mkdir(path_of("empty"), 0700), 0);
	add(&w, path_of("empty"));
	ck_assert(warned(&w, "/empty: no *.json"));

	write_file(path_of("log"), STR("abc\n"));
	add(&w, path_of("log"));
	ck_assert_int_eq(wire_fetch(&w, 0, 2, 3, &out, &err), -1);
	ck_assert_ptr_nonnull(strstr(err.text, "has become shorter"));
	ck_assert_uint_eq(out.n, 0);
	buf_release(&out);
	wire_release(&w);
}
END_TEST

START_TEST(same_file_twice)
{
	struct wire w = { 0 };

	write_file(path_of("log"), STR("a\n"));
	ck_assert_int_eq(symlink("log", path_of("other")), 0);
	add(&w, path_of("log"));
	add(&w, path_of("log"));
	add(&w, path_of("other"));
	ck_assert_uint_eq(w.files.n, 1);
	ck_assert_uint_eq(w.warnings.n, 2);
	ck_assert(warned(&w, "/other: given twice; read once"));
	wire_release(&w);
}
END_TEST

struct growing {
	const char *path;
	uint32_t n;
};

static void grow(void *ctx, const struct frame *f)
{
	struct growing *g = ctx;

	ck_assert_uint_eq(f->bytes.n, 1);
	if (g->n++ == 0) {
		int fd = open(g->path, O_WRONLY | O_APPEND);

		ck_assert_int_eq(write(fd, "b\nb\n", 4), 4);
		close(fd);
	}
}

/* The file ends, for one reading, where it ended when that began; the next sees all that is new. */
START_TEST(changing_while_read)
{
	struct wire w = { 0 };
	struct growing g = { path_of("log"), 0 };
	struct buf text = { 0 }, notes = { 0 };
	struct err err;

	while (text.n < SOURCE_BLOCK_BYTES + 1000)
		buf_adds(&text, "a\n");
	write_file(g.path, buf_str(&text));
	add(&w, g.path);
	ck_assert_int_eq(read_frames(&w, 0, grow, &g, &err), 0);
	ck_assert_uint_eq(g.n, text.n / 2);
	ck_assert_int_eq(read_frames(&w, 0, grow, &g, &err), 0);
	ck_assert_uint_eq(g.n, text.n / 2 + text.n / 2 + 2);
	for (int i = 0; i < 2; i++) {
		write_file(g.path, i ? STR("a\n") : STR("b\n"));
		buf_clear(&notes);
		read_notes(&w, 0, &notes);
		ck_assert(str_is(buf_str(&notes), i ? "0+1 #1 <a>\n" : "0+1 #1 <b>\n"));
	}
	buf_release(&text);
	buf_release(&notes);
	wire_release(&w);
}
END_TEST

/* A process that writes the text to a descriptor or a named FIFO, in small pieces. */
static pid_t writer(const char *fifo, int fd, struct str text)
{
	pid_t pid = fork();

	ck_assert_int_ge(pid, 0);
	if (pid)
		return pid;
	if (fifo)
		fd = open(fifo, O_WRONLY);
	while (text.n) {
		ssize_t put = write(fd, text.p, text.n < 1000 ? text.n : 1000);

		if (put <= 0)
			_exit(1);
		text = str_from(text, (size_t)put);
	}
	_exit(0);
}

static void wait_for(pid_t pid)
{
	int status;

	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(status, 0);
}

static void check_stream(const char *name, const char *group, struct str text, bool fifo)
{
	struct wire w = { 0 };
	struct buf want = { 0 }, notes = { 0 };
	int ends[2] = { -1, -1 };
	pid_t pid;

	frame_pieces(text, FRAME_MAX_BYTES, 0, text.n + 1, &want);
	if (fifo) {
		ck_assert_int_eq(mkfifo(name, 0600), 0);
		add(&w, name); /* does not wait, though there is no writer yet */
		pid = writer(name, -1, text);
	} else {
		ck_assert_int_eq(pipe(ends), 0);
		ck_assert_int_ge(dup2(ends[0], 0), 0);
		close(ends[0]);
		add(&w, name);
		pid = writer(NULL, ends[1], text);
		close(ends[1]);
	}
	read_notes(&w, 0, &notes);
	wait_for(pid);
	ck_assert(str_eq(buf_str(&notes), buf_str(&want)));
	ck_assert(str_is(w.files.v[0].group, group));
	ck_assert_uint_eq(w.bytes_done, text.n);
	ck_assert_uint_eq(w.bytes_total, text.n);
	wire_release(&w);
	buf_release(&want);
	buf_release(&notes);
}

START_TEST(streams)
{
	struct buf text = { 0 };

	buf_adds(&text, BOM "{\"a\":1}\r\n\n");
	while (text.n < 3 * SOURCE_BLOCK_BYTES)
		buf_printf(&text, "line %zu\n", text.n);
	buf_adds(&text, "the end");
	check_stream(path_of("fifo"), path_of("fifo"), buf_str(&text), true);
	check_stream("-", "stdin", buf_str(&text), false);
	check_stream("-", "stdin", STR(""), false);
	check_stream("/dev/stdin", "/dev/stdin", buf_str(&text), false);
	buf_release(&text);
}
END_TEST

START_TEST(documents_from_streams)
{
	struct wire w = { 0 };
	struct buf notes = { 0 };
	pid_t pid;

	setenv("TMPDIR", folder, 1);
	ck_assert_int_eq(mkfifo(path_of("fifo"), 0600), 0);
	add(&w, path_of("fifo"));
	add(&w, path_of("fifo"));
	ck_assert_uint_eq(w.files.n, 1);
	pid = writer(path_of("fifo"), -1,
		     STR("{\"session_id\":\"s\",\n\"messages\":[\n{},7\n]}\n"));
	read_notes(&w, 0, &notes);
	wait_for(pid);
	assert_str(buf_str(&notes), "32+2 #1 <{}>\n35+1 #2 <7>\n");
	assert_str(w.files.v[0].session, "s");
	/* the capture has no name even while it is in use */
	ck_assert_int_eq(unlink(path_of("fifo")), 0);
	ck_assert_int_eq(rmdir(folder), 0);
	wire_release(&w);
	buf_release(&notes);
}
END_TEST

START_TEST(a_capture_needs_room)
{
	struct wire w = { 0 };
	struct err err;
	int ends[2];

	setenv("TMPDIR", path_of("none"), 1);
	ck_assert_int_eq(pipe(ends), 0);
	ck_assert_int_ge(dup2(ends[0], 0), 0);
	close(ends[1]);
	add(&w, "-");
	ck_assert_int_eq(read_frames(&w, 0, note, NULL, &err), -1);
	ck_assert_ptr_nonnull(strstr(err.text, "set TMPDIR"));
	wire_release(&w);
	close(ends[0]);
}
END_TEST

START_TEST(standard_input_from_a_file)
{
	struct wire w = { 0 };
	struct buf text = { 0 }, notes = { 0 }, want = { 0 };
	struct err err;
	int fd;

	while (text.n < 5000)
		buf_adds(&text, "a\n");
	for (uint32_t i = 1; text.n < 2 * SOURCE_BLOCK_BYTES; i++) {
		note(&want, &(struct frame){ STR("line"), text.n, 4, i, 0 });
		buf_adds(&text, "line\n");
	}
	write_file(path_of("log"), buf_str(&text));
	fd = open(path_of("log"), O_RDONLY);
	ck_assert_int_ge(dup2(fd, 0), 0);
	ck_assert_int_eq(lseek(fd, 5000, SEEK_SET), 5000); /* someone has read the first lines */
	add(&w, "-");
	ck_assert(w.files.v[0].source.kind == SOURCE_FILE);
	ck_assert_uint_eq(w.bytes_total, text.n - 5000);
	read_notes(&w, 0, &notes);
	ck_assert(str_eq(buf_str(&notes), buf_str(&want)));
	wire_release(&w);
	ck_assert_int_eq(lseek(0, 0, SEEK_CUR), 5000); /* still open */
	close(fd);

	fd = open(folder, O_RDONLY);
	ck_assert_int_ge(dup2(fd, 0), 0);
	ck_assert_int_eq(wire_add(&w, "-", &err), -1);
	close(fd);
	close(0);
	ck_assert_int_eq(wire_add(&w, "-", &err), -1);
	wire_release(&w);
	buf_release(&text);
	buf_release(&notes);
	buf_release(&want);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("wire");
	TCase *t = unit_cases(suite, "framer", NULL, NULL);

	tcase_add_test(t, lines);
	tcase_add_test(t, byte_order_mark);
	tcase_add_test(t, oversize);
	tcase_add_test(t, endless_line_in_little_memory);
	tcase_add_test(t, parts_and_long_lines);
	tcase_add_test(t, parts_that_fail);
	tcase_add_test(t, random_lines);
	tcase_add_test(t, scanning_any_pieces);
	tcase_add_test(t, logs_at_once);

	t = unit_cases(suite, "files", make_folder, remove_folder);
	tcase_add_test(t, files_of_lines);
	tcase_add_test(t, torn_first_line);
	tcase_add_test(t, one_object);
	tcase_add_test(t, elements);
	tcase_add_test(t, session_of_a_document);
	tcase_add_test(t, handoff_files);
	tcase_add_test(t, brackets_without_end);
	tcase_add_test(t, bigger_than_a_block);
	tcase_add_test(t, long_first_line);
	tcase_add_test(t, as_much_as_is_enough);
	tcase_add_test(t, directory);
	tcase_add_test(t, more_files_than_descriptors);
	tcase_add_test(t, small_files_are_held);
	tcase_add_test(t, errors_say_what_to_do);
	tcase_add_test(t, same_file_twice);
	tcase_add_test(t, changing_while_read);

	t = unit_cases(suite, "streams", make_folder, remove_folder);
	tcase_add_test(t, streams);
	tcase_add_test(t, documents_from_streams);
	tcase_add_test(t, a_capture_needs_room);
	tcase_add_test(t, standard_input_from_a_file);

	return unit_run(suite);
}
