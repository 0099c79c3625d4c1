/* Parser and player of key files. Each is walked twice: to check its syntax, then to play it. */
#include "term/headless.h"

#include "base/io.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

enum { UNTIL_MAX_S = 3600 };

struct key_player {
	headless_fn step; /* NULL: check only */
	void *ctx;
	bool stopped;
};

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

static struct str trim_blanks(struct str s)
{
	while (s.n > 0 && is_blank(s.p[0]))
		s = str_from(s, 1);
	while (s.n > 0 && (is_blank(s.p[s.n - 1]) || s.p[s.n - 1] == '\r'))
		s.n--;
	return s;
}

/* The keys of a line: without its comment, and without blanks at its ends. */
static struct str keys_of_line(struct str line)
{
	size_t i;

	line = trim_blanks(line);
	for (i = 0; i < line.n; i++) {
		if (line.p[i] == '#' && (i == 0 || (is_blank(line.p[i - 1]) &&
						    (i + 1 == line.n || is_blank(line.p[i + 1])))))
			break;
	}
	line.n = i;
	return trim_blanks(line);
}

static void play(struct key_player *p, const struct headless_step *step)
{
	if (p->step && !p->stopped)
		p->stopped = !p->step(p->ctx, step);
}

static void play_key(struct key_player *p, const struct key *key)
{
	play(p, &(struct headless_step){ .key = key });
}

/* "ROW,COL" */
static bool parse_place(struct str s, struct key *key)
{
	ptrdiff_t comma = str_find(s, STR(","), 0);
	uint64_t row, col;

	if (comma < 0 || !str_to_u64(str_make(s.p, (size_t)comma), &row) ||
	    !str_to_u64(str_from(s, (size_t)comma + 1), &col) || row > 9999 || col > 9999)
		return false;
	key->row = (int)row;
	key->col = (int)col;
	return true;
}

/* <word:value>; false if the word is unknown or the value invalid. */
static bool play_special(struct key_player *p, struct str word, struct str value)
{
	struct key key = { .code = KEY_MOUSE };
	uint64_t ms;

	if (str_is(word, "wait")) {
		if (!str_to_u64(value, &ms) || ms > WAIT_MAX_MS)
			return false;
		play(p, &(struct headless_step){ .wait_ms = (int64_t)ms });
		return true;
	}
	if (str_starts(word, STR("until"))) {
		struct str seconds = str_from(word, 5);

		ms = 0;
		if (!value.n || (seconds.n && (!str_to_u64(seconds, &ms) || ms > UNTIL_MAX_S)))
			return false;
		play(p, &(struct headless_step){ .until = value, .wait_ms = (int64_t)ms * 1000 });
		return true;
	}
	if (str_is(word, "paste")) {
		key.code = KEY_PASTE;
		key.text = value;
		play_key(p, &key);
		return true;
	}
	if (!parse_place(value, &key))
		return false;
	if (str_is(word, "click")) {
		key.button = 1;
		key.mouse = MOUSE_PRESS;
		play_key(p, &key);
		key.mouse = MOUSE_RELEASE;
	} else if (str_is(word, "wheel-up")) {
		key.mouse = MOUSE_WHEEL_UP;
	} else if (str_is(word, "wheel-down")) {
		key.mouse = MOUSE_WHEEL_DOWN;
	} else {
		return false;
	}
	play_key(p, &key);
	return true;
}

/* Plays the first step of *s and removes it; false if it cannot be parsed. */
static bool play_one(struct key_player *p, struct str *s)
{
	struct key key = { 0 };
	ptrdiff_t colon, close;

	if (s->p[0] == '\t') {
		key.code = KEY_TAB;
		*s = str_from(*s, 1);
		play_key(p, &key);
		return true;
	}
	if (key_parse(s, &key.code)) {
		play_key(p, &key);
		return true;
	}
	close = str_find(*s, STR(">"), 0);
	colon = str_find(*s, STR(":"), 0);
	if (s->p[0] != '<' || close < 0 || colon < 0 || colon > close ||
	    !play_special(p, str_make(s->p + 1, (size_t)colon - 1),
			  str_make(s->p + colon + 1, (size_t)(close - colon - 1))))
		return false;
	*s = str_from(*s, (size_t)close + 1);
	return true;
}

static struct str next_line(struct str *text)
{
	ptrdiff_t end = str_find(*text, STR("\n"), 0);
	struct str line = str_make(text->p, end < 0 ? text->n : (size_t)end);

	*text = str_from(*text, line.n + 1);
	return line;
}

static int walk(struct key_player *p, struct str text, const char *name, struct err *err)
{
	for (unsigned line = 1; text.n > 0 && !p->stopped; line++) {
		struct str keys = keys_of_line(next_line(&text));

		while (keys.n > 0 && !p->stopped) {
			int shown = keys.n < 24 ? (int)keys.n : 24;

			if (!play_one(p, &keys))
				return err_set(err, "%s:%u: unknown key %.*s; write < as <lt>",
					       name, line, shown, keys.p);
		}
	}
	return 0;
}

int headless_play(struct str text, const char *name, headless_fn step, void *ctx, struct err *err)
{
	struct key_player check = { 0 }, p = { .step = step, .ctx = ctx };

	if (walk(&check, text, name, err))
		return -1;
	return walk(&p, text, name, err);
}

int headless_run(const char *path, headless_fn step, void *ctx, struct err *err)
{
	bool standard = strcmp(path, "-") == 0;
	int fd = standard ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC), result;
	struct buf text = { 0 };

	if (fd < 0)
		return err_set(err, "%s: cannot be opened: %s", path, strerror(errno));
	result = io_read_rest(fd, KEY_FILE_MAX_BYTES, &text);
	if (result && errno == EFBIG)
		err_set(err, "%s: more than %d bytes; not a key file", path,
			KEY_FILE_MAX_BYTES);
	else if (result)
		err_set(err, "%s: cannot be read: %s", path, strerror(errno));
	if (!standard)
		close(fd);
	if (result == 0)
		result = headless_play(buf_str(&text), path, step, ctx, err);
	buf_release(&text);
	return result;
}
