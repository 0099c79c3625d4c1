/* Makes a power cut of a server whose processes were killed: takes back, from the log of power_cut.c, what was
 * written and never synced. Of that, some sectors reach the disk all the same, as chance has it.
 *
 *   team_actors restore LOG DATA SEED
 *
 * The log is empty afterwards. */
#include "team_actors.h"

#include "power_cut.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

/* One sector in so many survives. */
enum { SURVIVORS = 4 };

struct data_file {
	uint64_t device, inode;
	uint64_t synced; /* records before that are safe */
	char *path;
	int fd;
};

static VEC(struct data_file) files;

static int add_file(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)ftw;
	if (type == FTW_F)
		vec_push(&files,
			 (struct data_file){ st->st_dev, st->st_ino, 0, xstrdup(path), -1 });
	return 0;
}

/* NULL: it was removed. */
static struct data_file *find_file(const struct power_cut_record *r)
{
	for (uint32_t i = 0; i < files.n; i++)
		if (files.v[i].inode == r->inode && files.v[i].device == r->device)
			return &files.v[i];
	return NULL;
}

/* The same answer for a sector however often it was written. */
static bool survives(uint64_t seed, const struct power_cut_record *r, uint64_t sector)
{
	uint64_t mixed = seed ^ r->inode * UINT64_C(0x9e3779b97f4a7c15) ^
			 sector * UINT64_C(0xd6e8feb86659fd93);

	return chance(&mixed, SURVIVORS) == 0;
}

static void undo(struct data_file *f, const struct power_cut_record *r, const char *old,
		 uint64_t seed)
{
	if (f->fd < 0)
		f->fd = open(f->path, O_RDWR | O_CLOEXEC);
	if (f->fd < 0)
		fail("%s: %s", f->path, strerror(errno));
	for (uint64_t done = 0, n; done < r->length; done += n) {
		uint64_t at = r->offset + done;

		n = POWER_CUT_SECTOR - at % POWER_CUT_SECTOR;
		if (n > r->length - done)
			n = r->length - done;
		if (!survives(seed, r, at / POWER_CUT_SECTOR) &&
		    pwrite(f->fd, old + done, n, (off_t)at) != (ssize_t)n)
			fail("%s: %s", f->path, strerror(errno));
	}
}

int restore_main(int argc, char **argv)
{
	VEC(size_t) records = { 0 };
	struct buf log = { 0 };
	struct power_cut_record r;
	unsigned undone = 0;
	char *data;

	if (argc != 4)
		fail("restore LOG DATA SEED");
	read_whole(argv[1], &log);
	data = realpath(argv[2], NULL); /* it may be a link, into which nftw would not go */
	if (!data || nftw(data, add_file, 16, FTW_PHYS) || !files.n)
		fail("%s: %s", argv[2], strerror(errno));
	for (size_t at = 0; at + sizeof(r) <= log.n; at += sizeof(r) + r.length) {
		struct data_file *f;

		memcpy(&r, log.p + at, sizeof(r));
		f = r.is_sync ? find_file(&r) : NULL;
		if (f)
			f->synced = r.offset;
		vec_push(&records, at);
	}
	while (records.n) {
		size_t at = records.v[--records.n];
		struct data_file *f;

		memcpy(&r, log.p + at, sizeof(r));
		f = r.is_sync || at + sizeof(r) + r.length > log.n ? NULL : find_file(&r);
		if (!f || at < f->synced)
			continue;
		undo(f, &r, log.p + at + sizeof(r), strtoull(argv[3], NULL, 10));
		undone++;
	}
	if (truncate(argv[1], 0) < 0)
		fail("%s: %s", argv[1], strerror(errno));
	fprintf(stderr, "restore: %u writes were taken back\n", undone);
	return 0;
}
