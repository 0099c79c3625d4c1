/* The log of what a server writes, made by the preloaded power_cut.c and read by team_restore.c: one
 * record before each write, with what was there before, and one after each sync. */
#ifndef GAVEL_TESTS_POWER_CUT_H
#define GAVEL_TESTS_POWER_CUT_H

#include <stdint.h>

/* The environment variable that names the log. */
#define POWER_CUT_LOG "GAVEL_POWER_CUT_LOG"
enum { POWER_CUT_SECTOR = 512 };

struct power_cut_record {
	uint64_t is_sync;
	uint64_t device, inode;
	uint64_t
		offset; /* a sync: the size of the log when it began; all writes before that are safe */
	uint64_t
		length; /* of the old bytes, which follow; those behind the end of the file are zero */
};

#endif
