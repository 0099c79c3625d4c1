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
 * A file of a single line that holds a JSON object is lines, but `whole` all the same. */
#ifndef GAVEL_WIRE_WIRE_H
#define GAVEL_WIRE_WIRE_H

#include "base/buf.h"
#include "base/map.h"
#include "base/mem.h"
#include "source/source.h"
#include "wire/frame.h"

enum {
	WIRE_FILES_MAX = 1 << 22, /* as many as a record can number (event/record.h) */
	WIRE_OPEN_MAX = 64,       /* files kept open; the others are opened when needed */
	WIRE_PEEK_BYTES = 4096,   /* of an oversize message, what can be fetched */
};

struct wire_file {
	struct source source;
	struct str name;  /* as given; DIRECTORY/FILE; "-". NUL after the end, as in all of these */
	struct str base;  /* without folders */
	struct str group; /* names the session: file or directory as given, or "stdin" */
	/* found out by wire_read before it hands over the first frame: */
	bool whole;         /* the file is one message; `base` is then frame_info.file_name */
	struct str session; /* a document's own session id, or none */
};

struct wire {
	size_t max_bytes; /* limit of a message, below 4 GiB; 0: FRAME_MAX_BYTES */
	VEC(struct wire_file) files;
	/* Sentences for the person, "FILE: what is wrong; what to do": what was left out. */
	VEC(struct str) warnings;
	uint64_t bytes_done, bytes_total; /* progress; a stream counts once it is read */
	bool stop; /* set while frames come: reading ends with the block */
	struct idle idle; /* while a stream is waited for; go_on NULL = just wait */

	/* the rest is the wire's own */
	struct arena arena;
	struct map by_identity; /* device and inode → file */
	VEC(struct source) dirs;
	uint32_t n_open;
	uint32_t lent; /* file opened for a while, plus one */
	struct block block;
	struct buf message;
};

/* A file, FIFO, device, directory (its files become sources of their own) or "-". -1: nothing was
 * added. Entries of a directory that cannot be read and files given twice become warnings. */
int wire_add(struct wire *w, const char *name, struct err *err);
/* All frames of one file, in order. A stream is waited for. -1: the frames so far are all. */
int wire_read(struct wire *w, uint32_t file, frame_fn emit, void *ctx, struct err *err);
/* The bytes of a frame (offset, full_length) into out, which is cleared first; of an oversize one
 * the first WIRE_PEEK_BYTES at most. Only after wire_read of that file. */
int wire_fetch(struct wire *w, uint32_t file, uint64_t offset, uint64_t length, struct buf *out,
	       struct err *err);
void wire_release(struct wire *w);

/* Within this folder: */
size_t wire_max_bytes(const struct wire *w);
/* Opens the file if it is not open; another one may be closed for it. */
int wire_hold(struct wire *w, uint32_t file, struct err *err);

#endif
