/* What can happen to a log that is followed, in any order: it grows by lines and halves of lines, is
 * renamed, cut, copied and cut, deleted and made again. Each line comes at most once, and comes at the
 * next look unless it was cut away before, or went with a file that nobody had looked at. A byte of the
 * input is one thing that happens. */
#include "wire/follow.h"

#include "fuzz.h"
#include "../unit/read_frames.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

enum { LINES_MAX = 4096, STEPS_MAX = 300 };

enum fate { UNWRITTEN, DUE, SEEN, LOST };

struct world {
	struct wire wire;
	struct follow *follow;
	int64_t now_ms;
	uint8_t fate[LINES_MAX];
	unsigned written; /* lines so far */
	unsigned first;   /* line in the file that has the name */
	bool looked_at;   /* that file */
	bool half;        /* its last line lacks its end */
	unsigned renamed;
	int fd;           /* the writer's; -1: the name is free */
};

static void seen(void *ctx, uint32_t file, const struct frame *f)
{
	struct world *w = ctx;
	char text[64];
	unsigned line;

	(void)file;
	snprintf(text, sizeof(text), "%.*s", STR_ARG(f->bytes));
	PROMISE(sscanf(text, "{\"line\":%u,", &line) == 1 && line < w->written);
	PROMISE(w->fate[line] == DUE || w->fate[line] == LOST);
	if (f->flags & FRAME_TRUNCATED)
		PROMISE(w->fate[line] == LOST); /* its writer took it back */
	else
		PROMISE(f->bytes.p[f->bytes.n - 1] == '}');
	w->fate[line] = SEEN;
}

static void seen_at_first(void *ctx, const struct frame *f)
{
	seen(ctx, 0, f);
}

static void look(struct world *w)
{
	w->now_ms += FOLLOW_TICK_MS;
	for (int i = 0; i < 1000 && follow_read(w->follow, w->now_ms, 1 << 16, seen, w); i++)
		;
	for (unsigned i = 0; i < w->written - w->half; i++)
		PROMISE(w->fate[i] != DUE);
	w->looked_at = w->fd >= 0;
}

static void put(struct world *w, const char *text)
{
	PROMISE(write(w->fd, text, strlen(text)) == (ssize_t)strlen(text));
}

static void begin_line(struct world *w)
{
	char text[64];

	snprintf(text, sizeof(text), "{\"line\":%u,", w->written);
	put(w, text);
	w->fate[w->written++] = DUE;
	w->half = true;
}

static void end_line(struct world *w)
{
	put(w, "\"more\":\"of it\"}\n");
	w->half = false;
}

static void open_file(struct world *w)
{
	w->fd = open(fuzz_path("log"), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	PROMISE(w->fd >= 0);
	w->first = w->written;
	w->looked_at = false;
}

static void close_file(struct world *w)
{
	if (w->half)
		end_line(w);
	close(w->fd);
	w->fd = -1;
}

/* Lines of the file that were not read yet cannot be read any more. */
static void lose(struct world *w)
{
	for (unsigned i = w->first; i < w->written; i++)
		if (w->fate[i] == DUE)
			w->fate[i] = LOST;
}

static void rename_file(struct world *w)
{
	char name[32];

	snprintf(name, sizeof(name), "log.%u", ++w->renamed);
	close_file(w);
	PROMISE(rename(fuzz_path("log"), fuzz_path(name)) == 0);
}

static void delete_file(struct world *w)
{
	close_file(w);
	if (!w->looked_at)
		lose(w);
	PROMISE(unlink(fuzz_path("log")) == 0);
}

static void cut_file(struct world *w)
{
	lose(w);
	w->half = false;
	PROMISE(ftruncate(w->fd, 0) == 0);
	w->first = w->written;
}

static void step(struct world *w, unsigned what)
{
	if (w->fd < 0) {
		if (what % 2)
			open_file(w);
		else
			look(w);
		return;
	}
	switch (what) {
	case 0: look(w); break;
	case 1:
		if (!w->half)
			begin_line(w);
		break;
	case 2: rename_file(w); break;
	case 3: delete_file(w); break;
	case 4: cut_file(w); break;
	default:
		if (!w->half)
			begin_line(w);
		end_line(w);
		break;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	static struct world w;
	struct dice d = { bytes, n };
	struct err err = { "" };

	fuzz_path("");
	fuzz_folder_remove();
	PROMISE(mkdir(fuzz_folder, 0700) == 0);
	memset(&w, 0, sizeof(w));
	w.now_ms = 1;
	open_file(&w);
	w.wire.follow = true;
	PROMISE(wire_add(&w.wire, fuzz_path("log"), &err) == 0);
	PROMISE(read_frames(&w.wire, 0, seen_at_first, &w, &err) == 0);
	w.follow = follow_new(&w.wire);
	w.looked_at = true;
	for (int i = 0; d.n && i < STEPS_MAX; i++)
		step(&w, dice_throw(&d, 9));
	if (w.half)
		end_line(&w);
	look(&w);
	if (w.fd >= 0)
		close(w.fd);
	follow_free(w.follow);
	wire_release(&w.wire);
	return 0;
}
