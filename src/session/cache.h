/* Cache of loaded big logs: an image of the model's heap after loading, and the statistics that
 * need a pass over all of it.
 *
 * $XDG_CACHE_HOME/gavel (~/.cache/gavel) has one image for each list of logs, written after a load.
 * The next load maps it at the address that the heap had, and reads only what was appended to the
 * last log. Everything in the folder may be deleted at any time.
 *
 * An image is used only if it is intact (checksums over all of it), of this very executable
 * (another checksum), written with the same settings and hash seed, and ours (owner, mode).
 * Otherwise it is ignored and replaced.
 *
 * It never shows what the logs no longer say:
 * - A log with the device, inode, birth, size, mtime and ctime recorded in the image is
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
 * Only logs of lines are cached. The hash seed is stored beside the images, in `seed`; without it
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
	CACHE_MIN_BYTES = 16 << 20, /* smaller logs load fast enough */
	CACHE_IMAGES_MAX = 64,
};

/* A log in an image. */
struct cache_file {
	struct source_stat seen; /* before it was read */
	uint64_t at;     /* end of the last complete line */
	uint64_t sum;    /* cache_checksum of the bytes before that */
	uint32_t number; /* in the wire's list */
	uint32_t line;   /* number of the line that begins at `at` */
	uint32_t messages, binary; /* see load_warn_binary */
	uint32_t name_n, unused; /* length of its name, in the names section */
};

struct cache {
	bool use; /* set before load_run; load_fn is then not called for cached messages */
	uint32_t max_mb; /* 0 = CONFIG_CACHE_MB */
	/* private */
	char *path; /* of the image; NULL = not cached */
	bool known; /* an image was used */
	uint64_t known_bytes; /* of the logs, from the image */
	VEC(struct source_stat) seen; /* of all files, before the load */
	VEC(struct cache_file) files; /* loaded so far, in load order */
	struct session_stats session_stats; /* of the whole log, if computed: scene.kept */
	bool incomplete; /* the model must not be written to an image */
};

/* Sets hash_seed to the one of the images, if there is one; before anything is hashed. */
void cache_seed(void);

/* The kind of heap the model needs. */
enum heap_kind cache_heap(const struct cache *c);

/* Called by load: restores the model from a valid image. */
void cache_open(struct load *l);
/* A file as the image has it, or NULL. */
const struct cache_file *cache_file(const struct load *l, uint32_t file);
/* After a file was loaded; lines: as lines, all of them complete. */
void cache_add_file(struct load *l, const struct load_reading *r, bool lines);
/* Writes the image, if that is worth it, in a background process; a gavel started meanwhile loads
 * the log without it. goes_on: this program continues, and the process must not become a zombie. */
void cache_save(struct load *l, bool goes_on);
void cache_release(struct cache *c);

/* Inside cache*.c: */
/* Hash of the settings that loading depends on. */
uint64_t cache_settings(const struct load *l);
/* A checksum of the file's first n bytes; 0 = they cannot be read. */
uint64_t cache_checksum(int fd, uint64_t n);
/* Whether it is a regular file of this user that nobody else may access. */
bool cache_is_private(int fd, uint64_t *size);
/* Prints a debug message if GAVEL_CACHE_TELL is set; returns false. */
bool cache_debug(const char *what, const char *why);
/* The cache folder; NULL = it does not exist, or cannot be made. Free the result. */
char *cache_folder(bool make);
/* Replaces the model, which is empty, by the image. false: unchanged. */
bool image_read(struct load *l);
bool image_write(struct load *l);
/* Deletes the least recently used images above the limits. */
void cache_evict(const char *folder, uint64_t max_bytes);

#endif
