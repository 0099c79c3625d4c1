/* Whose words a file holds: who owns it and who can write to it. One check for the files that gavel
 * appends to (channel/) and for those that it believes, such as reply files.
 *
 * Safe is a file of this user that nobody else can write to. Files that are only read may also be
 * of the people whom the configuration names, and writable for the group that it names; for
 * everybody never. The folder is not judged: who replaces the file owns the new one. */
#ifndef GAVEL_BASE_FILE_FAULT_H
#define GAVEL_BASE_FILE_FAULT_H

#include "base/str.h"

#include <sys/stat.h>

/* People whose files are believed besides one's own. Lent; zero = nobody. */
struct trusted {
	char *const *users; /* login names */
	uint32_t n;
	const char *group; /* NULL = none */
};

enum file_fault {
	FILE_SAFE,
	FILE_IS_LINK,
	FILE_IS_OTHER_TYPE,
	FILE_IS_FOREIGN, /* belongs to somebody else */
	FILE_HAS_SECOND_NAME,
	FILE_IS_OPEN, /* others can write to it */
};

/* The first fault of a file that must be of this type (S_IFREG …), by lstat or, once it is open,
 * fstat. also: NULL = only this user. */
enum file_fault file_fault(const struct stat *st, mode_t type, const struct trusted *also);
/* Why a regular file is not believed, or NULL; completes "the file …". */
const char *file_distrust(const struct stat *st, const struct trusted *also);

#endif
