/* A folder for each test, gone after it, and files in it. make_folder and remove_folder are its
 * fixture, or part of one. */
#ifndef GAVEL_TESTS_FOLDER_H
#define GAVEL_TESTS_FOLDER_H

#include "unit.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static char folder[64];

/* Holds until eight others were asked for. */
static inline char *path_of(const char *name)
{
	static char path[8][512];
	static int turn;

	turn = (turn + 1) % 8;
	snprintf(path[turn], sizeof(path[turn]), "%s/%s", folder, name);
	return path[turn];
}

static void make_folder(void)
{
	strcpy(folder, "/tmp/gavel-test-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(folder));
}

static void remove_folder(void)
{
	char command[128];

	snprintf(command, sizeof(command), "/bin/rm -rf '%s'", folder);
	ck_assert_int_eq(system(command), 0);
}

/* flags: O_TRUNC, O_APPEND; a file that is made gets the mode. */
static inline void write_with(const char *path, int flags, mode_t mode, struct str bytes)
{
	int fd = open(path, O_WRONLY | O_CREAT | flags, mode);

	ck_assert_int_ge(fd, 0);
	while (bytes.n) {
		ssize_t put = write(fd, bytes.p, bytes.n);

		ck_assert_int_gt(put, 0);
		bytes = str_from(bytes, (size_t)put);
	}
	close(fd);
}

static inline void write_file(const char *path, struct str bytes)
{
	write_with(path, O_TRUNC, 0600, bytes);
}

#endif
