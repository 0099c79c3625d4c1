/*
 * floor - what reading a log costs at least: yyjson parses each line, and nothing is kept.
 *
 * One thread, in situ, with one pool for all documents. Blocks are read to an address that equals
 * the file offset modulo the page size: the kernel copies several times slower to others. A
 * line that a block cuts off is read again with the next block, which spares moving it.
 */
#ifndef _POSIX_C_SOURCE
#define _POSIX_C_SOURCE 200809L
#endif

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <yyjson.h>

#define PAGE_BYTES 4096
#define BLOCK_BYTES (1 << 20)

struct floor {
	const char *path;
	int fd;
	off_t offset;
	char *block;
	size_t block_bytes;
	void *pool;
	size_t pool_bytes;
	uint64_t lines, parsed, bytes;
};

static void
die(const char *what)
{
	fprintf(stderr, "floor: %s: %s\n", what, strerror(errno));
	exit(2);
}

/* Room for a page of misalignment and for the padding that yyjson reads behind a line. */
static void
block_resize(struct floor *floor, size_t bytes)
{
	void *block;

	free(floor->block);
	errno = posix_memalign(&block, PAGE_BYTES, bytes + 2 * PAGE_BYTES);
	if (errno)
		die("block");
	floor->block = block;
	floor->block_bytes = bytes;
}

static yyjson_alc
pool_reset(struct floor *floor, size_t line_len)
{
	size_t need = yyjson_read_max_memory_usage(line_len, YYJSON_READ_INSITU);
	yyjson_alc allocator;

	if (need > floor->pool_bytes) {
		free(floor->pool);
		floor->pool_bytes = 2 * need;
		floor->pool = malloc(floor->pool_bytes);
		if (!floor->pool)
			die("pool");
	}
	yyjson_alc_pool_init(&allocator, floor->pool, floor->pool_bytes);
	return allocator;
}

/* The bytes behind the line belong to the next one: yyjson wants zeros there for a moment. */
static void
line_parse(struct floor *floor, char *line, size_t len)
{
	yyjson_alc allocator = pool_reset(floor, len);
	char behind[YYJSON_PADDING_SIZE];

	memcpy(behind, line + len, sizeof(behind));
	memset(line + len, 0, sizeof(behind));
	if (yyjson_read_opts(line, len, YYJSON_READ_INSITU, &allocator, NULL))
		floor->parsed++;
	memcpy(line + len, behind, sizeof(behind));
}

static size_t
lines_parse(struct floor *floor, char *start, size_t len, bool last)
{
	char *line = start, *end = start + len;

	while (line < end) {
		char *newline = memchr(line, '\n', (size_t)(end - line));

		if (!newline && !last)
			break;
		if (!newline)
			newline = end;
		if (newline > line) {
			floor->lines++;
			line_parse(floor, line, (size_t)(newline - line));
		}
		line = newline < end ? newline + 1 : end;
	}
	return (size_t)(line - start);
}

static size_t
block_read(struct floor *floor, char *start)
{
	size_t len = 0;

	while (len < floor->block_bytes) {
		ssize_t got = pread(floor->fd, start + len, floor->block_bytes - len,
				    floor->offset + (off_t)len);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			die(floor->path);
		if (got == 0)
			break;
		len += (size_t)got;
	}
	return len;
}

static bool
block_next(struct floor *floor)
{
	char *start = floor->block + floor->offset % PAGE_BYTES;
	size_t len = block_read(floor, start);
	bool last = len < floor->block_bytes;
	size_t used = lines_parse(floor, start, len, last);

	floor->offset += (off_t)used;
	floor->bytes += used;
	if (used == 0 && !last)
		block_resize(floor, 2 * floor->block_bytes);
	return !last;
}

int
main(int argc, char **argv)
{
	struct floor floor = { 0 };

	if (argc != 2) {
		fputs("usage: floor LOG\n", stderr);
		return 2;
	}
	floor.path = argv[1];
	floor.fd = open(floor.path, O_RDONLY | O_CLOEXEC);
	if (floor.fd < 0)
		die(floor.path);
	block_resize(&floor, BLOCK_BYTES);
	while (block_next(&floor))
		;
	printf("lines %llu json %llu bytes %llu\n", (unsigned long long)floor.lines,
	       (unsigned long long)floor.parsed, (unsigned long long)floor.bytes);
	free(floor.block);
	free(floor.pool);
	close(floor.fd);
	return 0;
}
