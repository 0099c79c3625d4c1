/* What reading a big log has come to, kept for the next time: the model's memory as it is, and the
 * figures that take a walk through all of it.
 *
 * $XDG_CACHE_HOME/gavel (~/.cache/gavel) has an image for each list of sources that was read, made
 * after reading and used before it: the heap of the model is put back at the address that it had,
 * and only what the last log has got since is read. Everything in the folder may be deleted at any
 * time.
 *
 * An image is used only if it is whole (sums over all of it), of this very program (a sum of the
 * executable), made with the same settings and the same hash seed, and ours (owner, mode). Of each
 * log it must be known that it is still the same: device, inode, birth and name; a size not below
 * what it was; where the size is the same, its time; and sums of its first and last bytes and of
 * samples in between. So a log that was changed in its middle and has grown besides passes if the
 * samples are not touched. Anything else is as if there was no image: it is made anew.
 *
 * Only logs of lines have images. The seed of the hash is kept beside the images, in `seed`;
 * without it none is of use. */
#ifndef GAVEL_SESSION_CACHE_H
#define GAVEL_SESSION_CACHE_H

#include "base/buf.h"
#include "base/heap.h"
#include "view/stats.h"

struct load;
struct load_reading;

enum {
	CACHE_MIN_BYTES = 16 << 20, /* logs below that are read as fast as one looks */
	CACHE_IMAGES_MAX = 64,
};

/* What an image knows of a log, or will. */
struct cache_file {
	uint64_t dev, ino, size, at; /* at: behind the last complete line */
	int64_t born_ns, changed_ns;
	uint64_t samples; /* sum of samples of the bytes before `at` */
	uint32_t number;  /* in the wire's list */
	uint32_t line;    /* that begins at `at` */
	uint32_t messages, binary; /* see load_judge_binary */
	uint32_t joined;
	uint32_t group; /* interned in the model */
	uint32_t name_n, unused; /* its name is among the names */
};

struct cache {
	bool use;        /* wanted; set before load_run, which then may call nobody for each message */
	uint32_t max_mb; /* 0 = CONFIG_CACHE_MB */
	/* its own: */
	char *path; /* of the image, NULL = there shall be none */
	bool known; /* an image was used */
	uint64_t known_bytes; /* of logs, that need not be read */
	VEC(struct cache_file) files; /* that are in the model, in the order of reading */
	struct figures figures; /* of the whole log, if they are known: scene.kept */
	bool incomplete; /* something is in the model that an image cannot have */
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
/* Samples of the file's bytes before `at`; 0 = they cannot be read. */
uint64_t cache_samples(int fd, uint64_t at);
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
