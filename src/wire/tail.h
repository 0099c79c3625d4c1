/* One incarnation of something that is followed: a file from when it got its name until nobody
 * writes to it any more, or a stream. It has a number among the wire's files of its own, and reads
 * what has come since it was read last.
 *
 * A log goes on line by line. What is looked at for the first time is LOOKING until it is clear how
 * it is to be cut: after its first line, if that is a message; as a document when it is complete or
 * nothing more comes. A document is then WHOLE, and read anew as another incarnation when it
 * changes.
 *
 * Everything read is kept (source/keep.h); when that fails, reading goes on and `unkept` says so.
 * Times are milliseconds of any clock that does not go back. */
#ifndef GAVEL_WIRE_TAIL_H
#define GAVEL_WIRE_TAIL_H

#include "wire/scan.h"
#include "wire/wire.h"

enum {
	TAIL_SETTLE_MS = 500, /* nothing came for so long: that was a document's end */
	TAIL_TORN_MS = 2000,  /* a hand-off file that does not end is torn */
};

#define TAIL_NEVER INT64_MAX
#define TAIL_NOT_YET INT64_MIN

/* A frame, and the file that it is in. Must not call into what follows. */
typedef void (*follow_fn)(void *ctx, uint32_t file, const struct frame *frame);

/* Whom frames go to, when it is, and how much may still be read. */
struct feed {
	struct wire *w;
	follow_fn emit;
	void *ctx;
	int64_t now_ms;
	size_t budget_bytes;
	uint32_t file; /* whose frames are coming */
};

enum tail_state { TAIL_LOOKING, TAIL_LINES, TAIL_WHOLE };

enum tail_news {
	TAIL_DRY,     /* all that is there has been read */
	TAIL_MORE,    /* the budget is used up */
	TAIL_CHANGED, /* the file was cut or rewritten: wire_again, and a new tail */
	TAIL_OVER,    /* a stream that has ended for good */
	TAIL_LOST,    /* it was not open and its name leads elsewhere now */
	TAIL_FAILED,  /* err says why; may be tried again */
};

struct tail {
	uint32_t file;
	uint32_t before; /* file that held this document earlier, NONE_BEFORE */
	enum tail_state state;
	struct wire_lines lines; /* at and mark in every state, the rest in LINES */
	struct scan *scan;       /* while LOOKING, from the first byte on */
	int64_t changed_ns;      /* the file's own time when it was last looked at */
	int64_t came_ms;         /* when bytes last came */
	uint64_t line_start;     /* of the line that line_ms is about */
	int64_t line_ms;         /* when its first bytes came */
	bool unkept;
	int watch; /* for whoever wants to be told of changes; -1 = none */
};

#define NONE_BEFORE UINT32_MAX

/* Of a file that was read once goes on from there; of any other begins at the beginning. */
struct tail *tail_new(struct wire *w, uint32_t file);
/* Closes the file too if all its bytes are kept; otherwise it stays open for wire_fetch. */
void tail_free(struct wire *w, struct tail *t);
enum tail_news tail_read(struct tail *t, struct feed *feed, struct err *err);
/* Time has passed: what was waited for may be all there is. */
void tail_settle(struct tail *t, struct feed *feed);
/* When to call tail_settle, TAIL_NEVER. */
int64_t tail_due(const struct wire *w, const struct tail *t);
/* No more will come: a line without an end is cut off here. More may come all the same. */
void tail_end(struct tail *t, struct feed *feed);
/* The file is written anew: like tail_end, but half a document is nothing to show. */
void tail_supersede(struct tail *t, struct feed *feed);
/* Bytes that came and gave no frame yet. */
uint64_t tail_incomplete(const struct wire *w, const struct tail *t);

#endif
