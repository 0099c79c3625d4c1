/* SOURCE arguments → files → frames, and the bytes of a frame again when someone wants to look.
 *
 * A wire owns its files and what it says of them. Zero it, set max_bytes if need be, wire_add each
 * argument, wire_read each file, wire_fetch at will; wire_release ends all, also after errors.
 * Everything happens in the caller's thread, and no file is added from within wire_read. Memory:
 * one block, one message, the list of files.
 *
 * How a file is cut into frames is found out by looking at it once it is read:
 *   lines      the rule
 *   elements   the whole file is one JSON array, or one object with a messages array
 *   one        the whole file is one JSON object over several lines; review-*.md always; a file
 *              named like a task, result or decision also when it is damaged
 * A file of a single line that holds a JSON object is lines, but `whole` all the same.
 *
 * With `follow` set before the first file is added, reading is only the beginning (follow.h): a
 * last line without an end gives no frame yet, streams are not waited for and give none at all.
 * Files that come, or come again in another incarnation, are added to the end of the list; numbers
 * and offsets stay true for ever. */
#ifndef GAVEL_WIRE_WIRE_H
#define GAVEL_WIRE_WIRE_H

#include "base/buf.h"
#include "base/map.h"
#include "base/mem.h"
#include "source/source.h"
#include "wire/frame.h"
#include "wire/framer.h"

enum {
	WIRE_FILES_MAX = 1 << 22, /* as many as a record can number (event/record.h) */
	WIRE_OPEN_MAX = 64,       /* files kept open; the others are opened when needed */
	WIRE_FOLLOW_OPEN_MAX = 1024, /* when they are followed, or half of what the system allows */
	WIRE_MARK_BYTES = 128,
	WIRE_SMALL_BYTES = SOURCE_BLOCK_BYTES / 2,
	WIRE_PEEK_BYTES = 4096,   /* of an oversize message, what can be fetched */
};

/* The last bytes before some offset: they tell whether a file is still the one that was read. */
struct wire_mark {
	char bytes[WIRE_MARK_BYTES];
	unsigned n;
};

/* Where the cutting of a file into lines stands. */
struct wire_lines {
	struct framer framer;
	uint64_t at;               /* the bytes before it were read */
	struct wire_mark mark;     /* those before at */
	struct wire_mark complete; /* those before the line that is not complete */
};

struct wire_file {
	struct source source;
	struct str name;  /* as given; DIRECTORY/FILE; "-". NUL after the end, as in all of these */
	struct str base;  /* without folders */
	struct str group; /* names the session: file or directory as given, or "stdin" */
	bool listed;      /* found in a directory, not given by name */
	struct str answers; /* the session it replies to by its name, or none; set with joined */
	bool joined;      /* whoever reads it has found that it holds replies to its group's log */
	/* found out by wire_read before it hands over the first frame: */
	bool whole;         /* the file is one message; `base` is then frame_info.file_name */
	struct str session; /* a document's own session id, or none */
	/* for following, after wire_read: */
	struct wire_lines *lines; /* NULL: it is not followed line by line */
	uint64_t cut_at;          /* of lines: behind the last complete one */
	uint32_t cut_line;        /* the number of the next */
	bool is_lines;            /* and will be, whatever is added to it */
	bool read;                /* some reading has begun to hand over frames */
	bool tailed;              /* somebody follows it (tail.h) */
	uint64_t hash;            /* of what it held, blanks at its end aside; 0 = not known */
};

/* Lines that are read in another way than one after the other. */
struct wire_ahead {
	uint32_t file;
	int fd; /* of the file, its own */
	uint64_t start, end;
	size_t max_bytes;
	/* told by whoever reads them: */
	uint64_t at;   /* where it stopped, at the beginning of a line */
	uint32_t line; /* that line's number */
};

struct wire {
	size_t max_bytes; /* limit of a message, below 4 GiB; 0: FRAME_MAX_BYTES */
	bool follow;      /* following comes after reading */
	bool only_timer;  /* changes are not told, only looked for */
	uint32_t open_max; /* files kept open; 0: as many as there is reason to */
	VEC(struct wire_file) files;
	/* Sentences for the person, "FILE: what is wrong; what to do": what was left out. */
	VEC(struct str) warnings;
	uint64_t bytes_done, bytes_total; /* progress; a stream counts once it is read */

	/* the rest is the wire's own */
	struct arena arena;
	struct map by_identity; /* device and inode → file */
	VEC(struct source) dirs;
	uint32_t n_open;
	uint32_t lent; /* file opened for a while, plus one */
	struct block block;
	struct buf message;
	struct keep keep;
};

/* A file, FIFO, device, directory (its files become sources of their own) or "-". -1: nothing was
 * added. Entries of a directory that cannot be read and files given twice become warnings. */
int wire_add(struct wire *w, const char *name, struct err *err);
/* All frames of one file, in order. A stream is waited for. -1: the frames so far are all. */
int wire_read(struct wire *w, uint32_t file, frame_fn emit, void *ctx, struct err *err);

/* The same in steps of a block at most. Other files may be fetched from in between, but none be
 * added. */
enum wire_step {
	WIRE_MORE,
	WIRE_LINES, /* MORE, told once: the frames will be lines, none of which was handed over yet */
	WIRE_WAITS, /* for wire_read_fd, a stream, to become readable */
	WIRE_DONE,
	WIRE_FAILED,
};
struct wire_reading;
struct wire_reading *wire_read_begin(struct wire *w, uint32_t file, frame_fn emit, void *ctx);
enum wire_step wire_read_step(struct wire_reading *r, struct err *err);
int wire_read_fd(const struct wire_reading *r);
/* At any time; NULL is nothing. */
void wire_read_end(struct wire_reading *r);
/* After WIRE_LINES: the caller reads complete lines from the front of the file by itself, as many
 * as it likes, and says in *a where it stopped; frames then go on from there. false: not of this
 * file, and then there is nothing to end. */
bool wire_ahead_begin(struct wire_reading *r, struct wire_ahead *a);
void wire_ahead_end(struct wire_reading *r, struct wire_ahead *a);

/* The bytes of a frame (offset, full_length) into out, which is cleared first; of an oversize one
 * the first WIRE_PEEK_BYTES at most. Only after wire_read of that file. */
int wire_fetch(struct wire *w, uint32_t file, uint64_t offset, uint64_t length, struct buf *out,
	       struct err *err);
/* Bytes from anywhere in what was read of a file, whatever the frames in them; they are in room
 * afterwards. */
int wire_fetch_block(struct wire *w, uint32_t file, uint64_t offset, size_t n, struct buf *room,
		     struct str *out, struct err *err);
/* Keeps the bytes of a frame, so that they can be fetched also after the file was cut or rewritten.
 * What comes while following is kept anyway. */
int wire_keep(struct wire *w, uint32_t file, uint64_t offset, uint64_t length, struct err *err);
void wire_release(struct wire *w);

/* Within this folder: */
enum wire_cut { CUT_LINES, CUT_ELEMENTS, CUT_ONE };
struct scan;
size_t wire_max_bytes(const struct wire *w);
/* Opens the file if it is not open; another one may be closed for it. */
int wire_hold(struct wire *w, uint32_t file, struct err *err);
/* Is this a file that is in the list, by whatever name? Then its newest number, else UINT32_MAX. */
uint32_t wire_find(const struct wire *w, const struct source *s);
/* Adds a file, whose open source it takes over; group and the like are for the caller to set. */
uint32_t wire_adopt(struct wire *w, struct source *s, struct str name);
/* The same open file once more, from its beginning: what was read of it so far is no more in it. */
uint32_t wire_again(struct wire *w, uint32_t file);
/* Closes a file whose bytes are kept, or not needed. */
void wire_let_go(struct wire *w, uint32_t file);
/* What a directory is looked through for; and in words. */
bool wire_wants(struct str name);
#define WIRE_WANTS "*.json, *.ndjson, *.jsonl, *.log or review-*.md"
/* How a file of that name is cut, as far as it was looked at. */
enum wire_cut wire_cut_of(struct str base, const struct scan *scan);
/* review-*.md; task-*.json and the like. */
bool wire_is_review(struct str base);
bool wire_is_handoff(struct str base);
/* All frames of the bytes from start to end, none of which will change. */
int wire_cut_whole(struct wire *w, uint32_t file, frame_fn emit, void *ctx, struct err *err);
/* The hash of a small file, 0 of others. */
uint64_t wire_hash(struct wire *w, const struct source *s);
/* The last bytes of what was seen. */
void wire_remember(struct wire_mark *mark, struct str seen);
/* Cuts the last `fresh` bytes of seen, and remembers what is needed to go on. */
void wire_lines_feed(struct wire_lines *l, struct str seen, size_t fresh, frame_fn emit, void *ctx);

#endif
