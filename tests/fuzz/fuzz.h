/* What every fuzz target offers and uses. A target takes any bytes and aborts if a promise is broken;
 * with --enable-fuzzing libFuzzer makes up the bytes (`make fuzz-NAME`), otherwise replay.c plays the
 * corpus and changes of it, in `make check`. */
#ifndef GAVEL_TESTS_FUZZ_H
#define GAVEL_TESTS_FUZZ_H

#include "base/buf.h"

#include <ftw.h>
#include <locale.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

#define PROMISE(condition) \
	do { \
		if (!(condition)) { \
			fprintf(stderr, "%s:%d: broken promise: %s\n", __FILE__, __LINE__, #condition); \
			abort(); \
		} \
	} while (0)

/* Takes bytes from the front, 0 when there are none. */
struct dice {
	const uint8_t *p;
	size_t n;
};

static inline unsigned dice_throw(struct dice *d, unsigned sides)
{
	unsigned value = d->n ? *d->p : 0;

	if (d->n) {
		d->p++;
		d->n--;
	}
	return value % sides;
}

static inline struct str dice_take(struct dice *d, size_t n)
{
	struct str s;

	if (n > d->n)
		n = d->n;
	s = str_make((const char *)d->p, n);
	d->p += n;
	d->n -= n;
	return s;
}

/* Once: it takes longer than most inputs. */
static inline void fuzz_locale(void)
{
	static bool done;

	if (!done)
		done = setlocale(LC_ALL, "C.UTF-8") != NULL;
}

/* A folder of this process, gone when it ends in order. */
static char fuzz_folder[64];

static inline int fuzz_remove(const char *path, const struct stat *st, int type, struct FTW *where)
{
	(void)st;
	(void)type;
	(void)where;
	return remove(path);
}

static inline void fuzz_folder_remove(void)
{
	nftw(fuzz_folder, fuzz_remove, 8, FTW_DEPTH | FTW_PHYS);
}

static inline const char *fuzz_path(const char *name)
{
	static char path[4][128];
	static unsigned turn;
	char *p = path[turn++ % 4];

	if (!fuzz_folder[0]) {
		snprintf(fuzz_folder, sizeof(fuzz_folder), "/tmp/gavel-fuzz-XXXXXX");
		PROMISE(mkdtemp(fuzz_folder));
		atexit(fuzz_folder_remove);
	}
	snprintf(p, sizeof(path[0]), "%s/%s", fuzz_folder, name);
	return p;
}

static inline void fuzz_write(const char *path, const char *mode, struct str bytes)
{
	FILE *f = fopen(path, mode);

	PROMISE(f && fwrite(bytes.p, 1, bytes.n, f) == bytes.n && fclose(f) == 0);
}

#endif
