/* A cache of loaded big logs: the model's memory as it is after loading, and the figures that need
 * a pass over all of it.
 *
 * $XDG_CACHE_HOME/gavel (~/.cache/gavel) has one image for each list of logs, written after loading
 * and used before it: the heap of the model is mapped at the address that it had, and only what was
 * appended to the last log is read. Everything in the folder may be deleted at any time.
 *
 * An image is used only if it is intact (checksums over all of it), of this very executable
 * (another checksum), written with the same settings and hash seed, and ours (owner, mode).
 * Otherwise it is ignored and replaced.
 *
 * It never shows what the logs no longer say:
 * - A log with the device, inode, birth, size, mtime and ctime that the image has noted is
 *   unchanged: each write sets ctime, and no program can set it back, as touch does with mtime.
 * - Of any other log (it has grown, or was touched), all bytes that the image covers are compared
 *   by a checksum; if that differs, the log is loaded anew.
 * - An image is written only if the log's times were the same before its first byte was read and
 *   after the checksum was computed; if the clock had left the log's ctime behind before reading,
 *   so that no later write can be dated the same; and on local file systems, which are known to
 *   keep ctime like that (NFS, FUSE and FAT are not). So a busy log gets an image when it is
 *   loaded in a quiet moment.
 * What this cannot see is a store through a shared mapping (mmap), which the kernel may date late.
 *
 * Only logs of lines have images. The hash seed is kept beside the images, in `seed`; without it
 * none can be used. */
#ifndef GAVEL_SESSION_CACHE_H
#define GAVEL_SESSION_CACHE_H

#include "base/buf.h"
#include "base/heap.h"
#include "source/source.h"
#include "view/session_stats.h"

struct load;
struct load_reading;

enum {
	CACHE_MIN_BYTES = 16 << 20, /* logs below that are read as fast as one looks */
	CACHE_IMAGES_MAX = 64,
};

/* What an image knows, or will know, of a log. */
struct cache_file {
	struct source_stat seen; /* before it was read */
	uint64_t at;  /* behind the last complete line */
	uint64_t sum; /* cache_checksum of the bytes before that */
	uint32_t number;  /* in the wire's list */
	uint32_t line;    /* that begins at `at` */
	uint32_t messages, binary; /* see load_judge_binary */
	uint32_t joined;
	uint32_t group; /* interned in the model */
	uint32_t name_n, unused; /* its name is among the names */
};

struct cache {
	bool use;        /* wanted; set before load_run, which then may not report each message */
	uint32_t max_mb; /* 0 = CONFIG_CACHE_MB */
	/* its own: */
	char *path; /* of the image, NULL = there shall be none */
	bool known; /* an image was used */
	uint64_t known_bytes; /* of logs, that need not be read */
	VEC(struct source_stat) seen; /* of all files, before anything was read */
	VEC(struct cache_file) files; /* that are in the model, in the order of reading */
	struct session_stats session_stats; /* of the whole log, if they are known: scene.kept */
	bool incomplete; /* there must be no image of what is in the model */
};

/* Takes the seed of the images for this run's; before anything is hashed. */
void cache_seed(void);

/* What kind of heap the model needs. */
enum heap_kind cache_heap(const struct cache *c);

/* Within load. order: files in the order of reading. */
void cache_open(struct load *l, const uint32_t *order);
/* What the image has of a file, or NULL. */
const struct cache_file *cache_file(const struct load *l, uint32_t file);
/* A file was read; lines: as lines, all of them complete. */
void cache_note(struct load *l, const struct load_reading *r, bool lines);
/* Writes the image if there is reason to, in a process of its own, so that nobody waits: who runs
 * gavel again at once may find none yet, and then reads the log once more. goes_on: this program
 * does not end now, so the process must not be its child. */
void cache_save(struct load *l, bool goes_on);
void cache_release(struct cache *c);

/* Within cache: */
/* Which files, read how. */
uint64_t cache_settings(const struct load *l);
/* A checksum of the file's first n bytes; 0 = they cannot be read. */
uint64_t cache_checksum(int fd, uint64_t n);
/* Says why, if GAVEL_CACHE_TELL is set; returns false. */
bool cache_tell(const char *what, const char *why);
/* The folder, made if it is not there; NULL = it cannot be. Free the result. */
char *cache_folder(bool make);
/* Reads the image into the model, whose heap is empty or may be emptied. false: it is as it was. */
bool image_read(struct load *l, const uint32_t *order);
bool image_write(struct load *l);
/* Deletes what is too much. */
void cache_tidy(const char *folder, uint64_t max_bytes);

#endif
