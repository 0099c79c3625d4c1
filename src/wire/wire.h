/* Input: SOURCE arguments → files → frames, and fetching a frame's bytes again later.
 *
 * A wire owns its files. Zero it, set max_bytes if need be, wire_add each argument, wire_read_begin
 * to wire_read_end each file, wire_fetch at will; wire_release closes and frees all, also after
 * errors. Not thread-safe; no file may be added while one is read. Memory: one block, one message,
 * the list of files, and small files, from wire_add until they have been read.
 *
 * How a file is split into frames is detected from its content:
 *   lines      the rule
 *   elements   the whole file is one JSON array, or one object with a messages array
 *   one        the whole file is one JSON object over several lines; review-*.md always; a file
 *              named like a task, result or decision also when it is damaged
 * A file of a single line that holds a JSON object is lines, but `whole` all the same.
 *
 * With `follow` set before the first file is added, wire_read_step does only the initial load and
 * follow.h goes on: a last line without newline gives no frame yet, streams give none at all. New
 * files and new incarnations of files are appended to the list; file numbers and offsets stay valid
 * for ever. */
#ifndef GAVEL_WIRE_WIRE_H
#define GAVEL_WIRE_WIRE_H

#include "base/buf.h"
#include "base/map.h"
#include "base/mem.h"
#include "source/source.h"
#include "wire/frame.h"
#include "wire/framer.h"

enum {
	WIRE_FILES_MAX = 1 << 22, /* in one run; a record could number more (event/record.h) */
	WIRE_OPEN_MAX = 64,       /* files kept open; the others are opened when needed */
	WIRE_FOLLOW_OPEN_MAX = 1024, /* when they are followed, or half of RLIMIT_NOFILE */
	WIRE_HELD_BYTES = 32 << 20, /* of small files, all together, that are held in memory */
	WIRE_MARK_BYTES = 128,
	WIRE_SMALL_BYTES = SOURCE_BLOCK_BYTES / 2,
	WIRE_PEEK_BYTES = 4096,   /* of an oversize message, what can be fetched */
	WIRE_HEAD_BYTES = 16384,  /* the longest head of a capture */
};

/* The last bytes before some offset, to detect that a file was truncated or rewritten. */
struct wire_mark {
	char bytes[WIRE_MARK_BYTES];
	unsigned n;
};

/* State of reading a file as lines. */
struct wire_lines {
	struct framer framer;
	uint64_t at;               /* read up to here */
	struct wire_mark mark;     /* the bytes before `at` */
	struct wire_mark complete; /* the bytes before the incomplete line */
};

struct wire_file {
	struct source source;
	struct str name;  /* as given; DIRECTORY/FILE; "-". NUL after the end, as in all of these */
	struct str base;  /* without folders */
	struct str shown; /* set by the loader: what people call it, if that is not its name */
	struct str group; /* names the session: file or directory as given, or "stdin" */
	bool listed;      /* found in a directory, not given by name */
	struct str head;  /* of a capture: its first line, without the tab (source/child.h) */
	struct str answers; /* the session it replies to by its name, or none; set with joined */
	bool joined;      /* set by the loader: it holds replies to its group's log */
	bool found;       /* set by the loader: it was not given, but belongs to a source */
	bool said;        /* set by the loader: a reply among the files of a folder */
	uint8_t trust;    /* set by the loader: enum trust of its messages */
	bool made;        /* set by the loader: this very run writes it */
	bool ours;        /* set by the loader: a capture that no agent can have made */
	struct str speaker; /* set by the loader: of one agent's own output, its name; or none */
	bool text;        /* set by the loader: an agent's standard error, no part of its log */
	uint8_t stream;   /* set by the loader: the dialect that its head names, a number; 0 = none */
	/* set by wire_read_step before the first frame: */
	bool whole;         /* the file is one message; `base` is then frame_info.file_name */
	struct str session; /* a document's own session id, or none */
	/* for following, after wire_read_end: */
	struct wire_lines *lines; /* NULL: it is not followed line by line */
	uint64_t cut_at;          /* of lines: offset after the last complete one */
	uint32_t cut_line;        /* number of the next line */
	bool is_lines;            /* and will be, whatever is appended to it */
	bool read;                /* frames have been emitted */
	bool tailed;              /* a struct tail exists for it */
	uint64_t hash;            /* of its content without trailing blanks; 0 = unknown */
};

/* Hand-over of a file's lines to a parallel loader. */
struct wire_parallel {
	uint32_t file;
	int fd; /* a duplicate, closed by the wire; -1 = the file is held in memory, read it there */
	uint64_t start, end;
	size_t max_bytes;
	/* set by the loader: */
	uint64_t at;   /* where it stopped, at the start of a line */
	uint32_t line; /* that line's number */
};

struct wire {
	size_t max_bytes; /* limit of a message, below 4 GiB; 0: FRAME_MAX_BYTES */
	bool follow;      /* files will be followed after the initial load */
	bool only_timer;  /* poll only, no inotify */
	uint32_t open_max; /* files kept open; 0: chosen automatically */
	VEC(struct wire_file) files;
	/* Sentences for the user, "FILE: what is wrong; what to do", about skipped files. */
	VEC(struct str) warnings;
	uint64_t bytes_done, bytes_total; /* progress; a stream counts once it is read */

	/* private */
	struct arena arena;
	struct map by_identity; /* device and inode → file */
	VEC(struct source) dirs;
	uint32_t n_open;
	uint64_t held_bytes; /* of all files that were held at some time */
	uint32_t temp_open; /* file opened temporarily beyond open_max, plus one; 0 = none */
	struct block block;
	struct buf message;
	struct spool spool;
};

/* A file, FIFO, device, directory (its files become sources of their own) or "-". -1: nothing was
 * added. Entries of a directory that cannot be read and files given twice become warnings. */
int wire_add(struct wire *w, const char *name, struct err *err);

/* Reading a file emits all its frames, in order, in steps of a block at most; a stream is read to
 * its end. Other files may be fetched from in between, but none be added. */
enum wire_step {
	WIRE_MORE,
	WIRE_LINES, /* MORE, once: the frames will be lines, and none was emitted yet */
	WIRE_WAITS, /* for wire_read_fd, a stream, to become readable */
	WIRE_DONE,
	WIRE_FAILED, /* after the frames emitted so far */
};
struct wire_reading;
struct wire_reading *wire_read_begin(struct wire *w, uint32_t file, frame_fn emit, void *ctx);
enum wire_step wire_read_step(struct wire_reading *r, struct err *err);
int wire_read_fd(const struct wire_reading *r);
/* At any time; NULL is nothing. Bytes of a small file that were held in memory are freed. */
void wire_read_end(struct wire_reading *r);
/* The same, but the file will be read again soon. */
void wire_read_leave(struct wire_reading *r);
/* After WIRE_LINES, for a parallel loader: it reads complete lines from the front of the file by
 * itself and sets in *a where it stopped; frames go on from there. false: not with this file. */
bool wire_parallel_begin(struct wire_reading *r, struct wire_parallel *a);
void wire_parallel_end(struct wire_reading *r, struct wire_parallel *a);

/* The bytes of a frame (offset, full_length) into out, which is cleared first; of an oversize one
 * the first WIRE_PEEK_BYTES at most. Only once that file is read. */
int wire_fetch(struct wire *w, uint32_t file, uint64_t offset, uint64_t length, struct buf *out,
	       struct err *err);
/* Any range of bytes that was read from a file, regardless of frames; out points into room. */
int wire_fetch_block(struct wire *w, uint32_t file, uint64_t offset, size_t n, struct buf *room,
		     struct str *out, struct err *err);
/* Spools the bytes of a frame, to be fetched even after a truncation. Following spools anyway. */
int wire_spool(struct wire *w, uint32_t file, uint64_t offset, uint64_t length, struct err *err);
void wire_release(struct wire *w);

/* Within this folder: */
enum wire_cut { CUT_LINES, CUT_ELEMENTS, CUT_ONE };
struct scan;
size_t wire_max_bytes(const struct wire *w);
/* Opens the file if it is not open; may close another one to stay within open_max. */
int wire_ensure_open(struct wire *w, uint32_t file, struct err *err);
/* Looks up a file by identity (device, inode, birth): its newest number, or UINT32_MAX. */
uint32_t wire_find(const struct wire *w, const struct source *s);
/* A file whose first line begins so is a capture. */
#define WIRE_HEAD "\t{\"gavel\":\"capture\""
/* Appends a file and takes ownership of its open source; the caller sets group etc. */
uint32_t wire_append(struct wire *w, struct source *s, struct str name);
/* Appends a new incarnation of a truncated or rewritten file and moves its descriptor there; the
 * old one can be read from the spool only. */
uint32_t wire_new_incarnation(struct wire *w, uint32_t file);
/* Closes a file whose bytes are spooled or not needed. */
void wire_close_file(struct wire *w, uint32_t file);
/* Without slashes at its end, unless it is the root. */
struct str wire_trim_slashes(struct str path);
/* FOLDER/BASE in the wire's arena. */
struct str wire_join(struct wire *w, struct str folder, const char *base);
/* File names read from a directory; and the same as text. */
bool wire_wants(struct str name);
#define WIRE_WANTS "*.json, *.ndjson, *.jsonl, *.log or review-*.md"
/* How a file of that name is split, by what was scanned so far. */
enum wire_cut wire_cut_of(struct str base, const struct scan *scan);
/* review-*.md; task-*.json and the like. */
bool wire_is_review(struct str base);
bool wire_is_handoff(struct str base);
/* Emits all frames of a document whose bytes [start, end) will not change. */
int wire_read_document(struct wire *w, uint32_t file, frame_fn emit, void *ctx, struct err *err);
/* Content hash of a small file, 0 for others. */
uint64_t wire_hash(struct wire *w, const struct source *s);
/* Stores the last bytes of seen as a mark. */
void wire_mark_set(struct wire_mark *mark, struct str seen);
void wire_lines_free(struct wire_lines *l);
/* Feeds the last `fresh` bytes of seen to the framer and updates the marks. */
void wire_lines_feed(struct wire_lines *l, struct str seen, size_t fresh, frame_fn emit, void *ctx);

#endif
