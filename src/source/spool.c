/* The spool's temporary file, and the sorted extent list that maps a source's offsets into it. */
#include "source/spool.h"

#include "base/io.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

int spool_fail(struct err *err)
{
	return err_set(err,
		       "%.300s: cannot keep bytes there: %s; set TMPDIR to a folder with room",
		       io_temp_folder(), strerror(errno));
}

int spool_open_file(struct err *err)
{
	struct arena arena = { 0 };
	char *name = arena_printf(&arena, "%s/gavel-XXXXXX", io_temp_folder());
	int fd = mkostemp(name, O_CLOEXEC); /* 0600 */

	if (fd < 0)
		spool_fail(err);
	else
		unlink(name);
	arena_release(&arena);
	return fd;
}

static int put(int fd, uint64_t at, struct str bytes, struct err *err)
{
	while (bytes.n) {
		ssize_t n = pwrite(fd, bytes.p, bytes.n, (off_t)at);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return spool_fail(err);
		at += (uint64_t)n;
		bytes = str_from(bytes, (size_t)n);
	}
	return 0;
}

/* Index of the first piece that ends after offset. */
static uint32_t piece_at(const struct pieces *pieces, uint64_t offset)
{
	uint32_t low = 0;

	bisect(low, pieces->list.n, i,
	       pieces->list.v[i].offset + pieces->list.v[i].n <= offset)
	return low;
}

static bool piece_covers(const struct pieces *pieces, uint32_t i, uint64_t offset)
{
	return i < pieces->list.n && pieces->list.v[i].offset <= offset;
}

/* The piece before number i, if n bytes at offset can be appended to it. */
static struct piece *extendable(struct spool *spool, struct pieces *pieces, uint32_t i,
				uint64_t offset, size_t n)
{
	struct piece *p;

	if (!i)
		return NULL;
	p = &pieces->list.v[i - 1];
	if (p->offset + p->n != offset || n > SPOOL_PIECE_MAX - p->n)
		return NULL;
	if (p->at + p->room == spool->end && p->room - p->n < n) {
		/* the last allocation in the file: extend it */
		spool->end += n - (p->room - p->n);
		p->room = p->n + (uint32_t)n;
	}
	return p->room - p->n >= n ? p : NULL;
}

static void insert_piece(struct pieces *pieces, uint32_t i, struct piece fresh)
{
	vec_push(&pieces->list, fresh);
	memmove(pieces->list.v + i + 1, pieces->list.v + i,
		(pieces->list.n - 1 - i) * sizeof(fresh));
	pieces->list.v[i] = fresh;
}

/* None of the bytes is kept yet; SPOOL_PIECE_MAX at most. */
static int add_piece(struct spool *spool, struct pieces *pieces, uint64_t offset, struct str bytes,
		     struct err *err)
{
	uint32_t i = piece_at(pieces, offset);
	struct piece *p = extendable(spool, pieces, i, offset, bytes.n);
	bool goes_on = i && pieces->list.v[i - 1].offset + pieces->list.v[i - 1].n == offset;
	struct piece fresh = { offset, spool->end, (uint32_t)bytes.n, (uint32_t)bytes.n };

	if (put(spool->fd_plus_one - 1, p ? p->at + p->n : fresh.at, bytes, err) < 0)
		return -1;
	if (p) {
		p->n += (uint32_t)bytes.n;
		return 0;
	}
	if (goes_on)
		fresh.room += SPOOL_ROOM_BYTES;
	spool->end += fresh.room;
	insert_piece(pieces, i, fresh);
	return 0;
}

static int ensure_file(struct spool *spool, struct err *err)
{
	if (!spool->fd_plus_one)
		spool->fd_plus_one = spool_open_file(err) + 1;
	return spool->fd_plus_one ? 0 : -1;
}

int spool_add(struct spool *spool, struct pieces *pieces, uint64_t offset, struct str bytes,
	     struct err *err)
{
	if (ensure_file(spool, err) < 0)
		return -1;
	while (bytes.n) {
		uint64_t n = spooled_from(pieces, offset);

		if (!n) {
			n = spooled_gap(pieces, offset);
			n = n < bytes.n ? n : bytes.n;
			n = n < SPOOL_PIECE_MAX ? n : SPOOL_PIECE_MAX;
			if (add_piece(spool, pieces, offset, str_make(bytes.p, (size_t)n), err) < 0)
				return -1;
		}
		n = n < bytes.n ? n : bytes.n;
		offset += n;
		bytes = str_from(bytes, (size_t)n);
	}
	return 0;
}

void spool_batch_add(struct spool_batch *b, struct pieces *pieces, uint64_t offset,
		     struct str bytes)
{
	vec_push(&b->parts, ((struct spool_part){ pieces, offset, (uint32_t)bytes.n }));
	buf_add_str(&b->bytes, bytes);
}

int spool_batch_write(struct spool_batch *b, struct spool *spool, struct err *err)
{
	const char *from = b->bytes.p;
	uint64_t at = spool->end;
	int rc = 0;

	if (b->bytes.n)
		rc = ensure_file(spool, err) < 0 ||
				     put(spool->fd_plus_one - 1, at, buf_str(&b->bytes), err) < 0
			     ? -1
			     : 0;
	if (rc == 0)
		spool->end += b->bytes.n;
	for (uint32_t i = 0; i < b->parts.n && rc == 0; i++) {
		const struct spool_part *p = &b->parts.v[i];
		struct piece fresh = { p->offset, at, p->n, p->n };

		if (spooled_gap(p->pieces, p->offset) < p->n) /* some of it is spooled meanwhile */
			rc = spool_add(spool, p->pieces, p->offset, str_make(from, p->n), err);
		else
			insert_piece(p->pieces, piece_at(p->pieces, p->offset), fresh);
		at += p->n;
		from += p->n;
	}
	buf_clear(&b->bytes);
	b->parts.n = 0;
	return rc;
}

void spool_batch_release(struct spool_batch *b)
{
	buf_release(&b->bytes);
	vec_release(&b->parts);
}

void spool_close(struct spool *spool)
{
	if (spool->fd_plus_one)
		close(spool->fd_plus_one - 1);
	*spool = (struct spool){ 0 };
}

uint64_t spooled_from(const struct pieces *pieces, uint64_t offset)
{
	uint64_t at = offset;

	for (uint32_t i = piece_at(pieces, at); piece_covers(pieces, i, at); i++)
		at = pieces->list.v[i].offset + pieces->list.v[i].n;
	return at - offset;
}

uint64_t spooled_gap(const struct pieces *pieces, uint64_t offset)
{
	uint32_t i = piece_at(pieces, offset);

	if (i == pieces->list.n)
		return UINT64_MAX;
	return piece_covers(pieces, i, offset) ? 0 : pieces->list.v[i].offset - offset;
}

ssize_t spooled_read(const struct spool *spool, const struct pieces *pieces, uint64_t offset,
		     char *out, size_t n)
{
	uint32_t i = piece_at(pieces, offset);
	const struct piece *p;
	ssize_t got;

	if (!piece_covers(pieces, i, offset))
		return 0;
	p = &pieces->list.v[i];
	if (n > p->offset + p->n - offset)
		n = (size_t)(p->offset + p->n - offset);
	IO_RETRY(got, pread(spool->fd_plus_one - 1, out, n, (off_t)(p->at + (offset - p->offset))));
	return got;
}

void spooled_cut(struct pieces *pieces, uint64_t offset)
{
	uint32_t i = piece_at(pieces, offset);

	if (piece_covers(pieces, i, offset)) {
		pieces->list.v[i].n = (uint32_t)(offset - pieces->list.v[i].offset);
		i += pieces->list.v[i].n != 0;
	}
	pieces->list.n = i;
}
