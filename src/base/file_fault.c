/* Ownership and permission checks of files. */
#include "base/file_fault.h"

#include <grp.h>
#include <pwd.h>
#include <unistd.h>

static bool is_trusted_user(uid_t user, const struct trusted *also)
{
	const struct passwd *login;

	if (user == geteuid())
		return true;
	login = also && also->n ? getpwuid(user) : NULL;
	for (uint32_t i = 0; login && i < also->n; i++)
		if (strcmp(also->users[i], login->pw_name) == 0)
			return true;
	return false;
}

static bool is_trusted_group(gid_t group, const struct trusted *also)
{
	const struct group *g = also && also->group ? getgrgid(group) : NULL;

	return g && strcmp(also->group, g->gr_name) == 0;
}

enum file_fault file_fault(const struct stat *st, mode_t type, const struct trusted *also)
{
	if (S_ISLNK(st->st_mode))
		return FILE_IS_LINK;
	if ((st->st_mode & S_IFMT) != type)
		return FILE_IS_OTHER_TYPE;
	if (!is_trusted_user(st->st_uid, also))
		return FILE_IS_FOREIGN;
	if (type != S_IFDIR && st->st_nlink > 1)
		return FILE_HAS_SECOND_NAME;
	if ((st->st_mode & S_IWOTH) ||
	    ((st->st_mode & S_IWGRP) && !is_trusted_group(st->st_gid, also)))
		return FILE_IS_OPEN;
	return FILE_SAFE;
}

const char *file_distrust(const struct stat *st, const struct trusted *also)
{
	switch (file_fault(st, S_IFREG, also)) {
	case FILE_SAFE: break;
	case FILE_IS_LINK: return "is a symbolic link; put the file itself there";
	case FILE_IS_OTHER_TYPE: return "is not a plain file; move it away";
	case FILE_IS_FOREIGN:
		return "belongs to a user who is not among \"reviewers\" of the configuration";
	case FILE_HAS_SECOND_NAME: return "has a second name (hard link); remove it";
	case FILE_IS_OPEN:
		return "can be written by others; chmod go-w it, or set \"reviewers_group\"";
	}
	return NULL;
}
