/* Identity of log files, and the index of journals by it. */
#include "decide/identity.h"

#include "base/io.h"
#include "base/sha256.h"
#include "source/source.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

enum {
	HEAD_LEAST_BYTES = 64, /* the first line of a document may be a mere brace */
	HEAD_MOST_BYTES = 1 << 20,
	LOCK_TRIES = 300,
	LOCK_STEP_MS = 10,
};

/* ---- identity ---- */

/* The length of the head, 0 = more has to be read. */
static size_t head_length(struct str bytes)
{
	const char *end;

	if (bytes.n >= HEAD_MOST_BYTES)
		return HEAD_MOST_BYTES;
	if (bytes.n < HEAD_LEAST_BYTES)
		return 0;
	end = memchr(bytes.p + HEAD_LEAST_BYTES - 1, '\n', bytes.n - HEAD_LEAST_BYTES + 1);
	return end ? (size_t)(end + 1 - bytes.p) : 0;
}

static void read_head(int fd, char out[65])
{
	struct buf bytes = { 0 };
	char block[8192];
	size_t n = 0;
	ssize_t got;

	do {
		IO_RETRY(got, pread(fd, block, sizeof(block), (off_t)bytes.n));
		if (got > 0)
			buf_add(&bytes, block, (size_t)got);
		n = head_length(buf_str(&bytes));
	} while (!n && got > 0);
	out[0] = '\0';
	if (n)
		sha256_hex(str_make(bytes.p, n), out);
	buf_release(&bytes);
}

bool identity_read(const char *path, struct log_identity *out)
{
	/* O_NONBLOCK: opening a FIFO must not block */
	int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	struct source_stat st;
	bool is = fd >= 0 && source_stat(NULL, fd, &st) == 0 && S_ISREG(st.mode);

	*out = (struct log_identity){ 0 };
	if (is) {
		out->dev = (uint64_t)st.dev;
		out->ino = (uint64_t)st.ino;
		out->born_ns = st.born_ns;
		read_head(fd, out->head);
	}
	if (fd >= 0)
		close(fd);
	return is;
}

bool identity_is_same(const struct log_identity *a, const struct log_identity *b)
{
	return a->ino && a->dev == b->dev && a->ino == b->ino && a->born_ns == b->born_ns;
}

/* ---- index ---- */

static void add_folder(struct buf *out, const char *base, const char *head)
{
	buf_printf(out, "%s/by-head/%s", base, head);
}

void index_list(const char *base, const char *head, struct index_names *out)
{
	struct buf path = { 0 };
	struct dirent *entry;
	DIR *dir;

	add_folder(&path, base, head);
	dir = opendir(path.p);
	while (dir && (entry = readdir(dir)))
		if (entry->d_name[0] != '.' && strcmp(entry->d_name, "lock") != 0)
			vec_push(&out->list, xstrdup(entry->d_name));
	if (dir)
		closedir(dir);
	buf_release(&path);
}

void index_names_release(struct index_names *names)
{
	for (uint32_t i = 0; i < names->list.n; i++)
		free(names->list.v[i]);
	vec_release(&names->list);
}

static int fail(const char *path, struct err *err)
{
	return err_set(err, "%.300s: cannot be made: %s; check the disk", path, strerror(errno));
}

/* Makes the folder, then the file in it; its descriptor, or -1. */
static int make_entry(const char *base, const char *head, const char *name, struct buf *path,
		      struct err *err)
{
	int fd;

	add_folder(path, base, head);
	if (io_make_folders(path->p, true, err) < 0)
		return -1;
	buf_printf(path, "/%s", name);
	IO_RETRY(fd, io.open(path->p, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600));
	return fd < 0 ? fail(path->p, err) : fd;
}

int index_add(const char *base, const char *head, const char *name, struct err *err)
{
	struct buf path = { 0 };
	struct stat st;
	int fd, rc;

	buf_printf(&path, "%s/by-head/%s/%s", base, head, name);
	IO_RETRY(rc, io.lstat(path.p, &st));
	if (rc < 0) {
		buf_clear(&path);
		fd = make_entry(base, head, name, &path, err);
		rc = fd < 0 ? -1 : 0;
		if (fd >= 0)
			io.close(fd);
		if (fd >= 0 && io_sync_folder(path.p) < 0)
			rc = fail(path.p, err);
	}
	buf_release(&path);
	return rc;
}

void index_remove(const char *base, const char *head, const char *name)
{
	struct buf path = { 0 };

	buf_printf(&path, "%s/by-head/%s/%s", base, head, name);
	unlink(path.p);
	buf_release(&path);
}

int index_lock(const char *base, const char *head, struct err *err)
{
	struct buf path = { 0 };
	int fd = make_entry(base, head, "lock", &path, err), rc = -1;

	for (int i = 0; fd >= 0 && rc < 0; i++) {
		IO_RETRY(rc, io.lock_open(fd));
		if (rc == 0)
			break;
		if ((errno == EAGAIN || errno == EACCES) && i < LOCK_TRIES) {
			io.poll(NULL, 0, LOCK_STEP_MS);
			continue;
		}
		err_set(err, "%.300s: cannot be locked: %s; try again", path.p, strerror(errno));
		io.close(fd);
		fd = -1;
	}
	buf_release(&path);
	return fd;
}
