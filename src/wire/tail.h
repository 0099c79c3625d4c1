/* Reads what was appended to one followed file or stream, like tail -f. A tail is one incarnation:
 * a file from when it gets its name until nobody writes to it any more; a truncated or rewritten
 * file gets a new tail. Each has a number of its own in the wire's list of files.
 *
 * State machine: DETECTING until the format is clear; then LINES, a log, or DOCUMENT, once that is
 * complete or quiet for TAIL_SETTLE_MS. A changed document is read again as another incarnation.
 *
 * Everything read is spooled (source/spool.h); if that fails, `unspooled` is set.
 * Times are milliseconds of a monotonic clock. */
#ifndef GAVEL_WIRE_TAIL_H
#define GAVEL_WIRE_TAIL_H

#include "wire/scan.h"
#include "wire/wire.h"

enum {
	TAIL_SETTLE_MS = 500, /* a document is complete after so much silence */
	TAIL_TORN_MS = 2000,  /* a handoff file with unbalanced brackets is taken as truncated */
};

#define TAIL_NEVER INT64_MAX
#define TAIL_NOT_YET INT64_MIN

/* A frame and the file it is in. Must not call follow_* functions. */
typedef void (*follow_fn)(void *ctx, uint32_t file, const struct frame *frame);

/* Context of one follow_read: callback, time, remaining budget. */
struct feed {
	struct wire *w;
	follow_fn emit;
	void *ctx;
	int64_t now_ms;
	size_t budget_bytes;
	uint32_t file; /* of the frames being emitted */
};

enum tail_state { TAIL_DETECTING, TAIL_LINES, TAIL_DOCUMENT };

enum tail_result {
	TAIL_EOF,     /* all that is there has been read */
	TAIL_MORE,    /* the budget is used up */
	TAIL_CHANGED, /* truncated or rewritten: wire_new_incarnation, and a new tail */
	TAIL_ENDED,   /* a stream that has ended for good */
	TAIL_REPLACED, /* it was not open and its name refers to another file now */
	TAIL_FAILED,   /* err says why; may be retried */
};

struct tail {
	uint32_t file;
	uint32_t before; /* previous incarnation of this document, or NONE_BEFORE */
	enum tail_state state;
	struct wire_lines lines; /* at and mark in every state, the rest in LINES */
	struct scan *scan;       /* while DETECTING, from the first byte on */
	int64_t changed_ns;      /* mtime at the last stat */
	int64_t came_ms;         /* when bytes were last read */
	uint64_t line_start;     /* offset of the line that line_ms is about */
	int64_t line_ms;         /* when its first bytes were read */
	bool unspooled;             /* some bytes could not be spooled */
	int watch; /* inotify watch of the follower; -1 = none */
};

#define NONE_BEFORE UINT32_MAX

/* Continues where wire_read_step stopped; a file not read yet is read from its start. */
struct tail *tail_new(struct wire *w, uint32_t file);
/* Closes the file, too, if all its bytes are spooled; otherwise it stays open for wire_fetch. */
void tail_free(struct wire *w, struct tail *t);
enum tail_result tail_read(struct tail *t, struct feed *feed, struct err *err);
/* Re-evaluates DETECTING after time has passed: the silence may mean that it is complete. */
void tail_settle(struct tail *t, struct feed *feed);
/* When to call tail_settle, or TAIL_NEVER. */
int64_t tail_due(const struct wire *w, const struct tail *t);
/* End of input: emits an incomplete last line as truncated. Reading may still go on after it. */
void tail_end(struct tail *t, struct feed *feed);
/* The file is being rewritten: like tail_end, but drops half a document. */
void tail_supersede(struct tail *t, struct feed *feed);
/* Number of bytes read that have not become a frame yet. */
uint64_t tail_incomplete(const struct wire *w, const struct tail *t);

#endif
