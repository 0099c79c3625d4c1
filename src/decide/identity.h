/* The identity of a log file, and an index of journals by it: a renamed log or another hard link to it
 * has the same journal, and of a copy it is known where the other one is.
 *
 * BASE/by-head/HASH/ has an empty file for each journal of a log that begins like that, named as its
 * folder in BASE; an entry without its journal is ignored. The OPEN records of the journals are the
 * truth (desk.h), the index makes finding them cheap. */
#ifndef GAVEL_DECIDE_IDENTITY_H
#define GAVEL_DECIDE_IDENTITY_H

#include "base/buf.h"
#include "base/err.h"
#include "base/mem.h"

struct log_identity {
	uint64_t dev, ino; /* ino 0: not known */
	int64_t born_ns;   /* 0: the file system does not tell */
	char head[65];     /* SHA-256 of its first line, and of as many more as make 64 bytes; "" =
			      they are not complete yet */
};

/* Of a regular file; else false. */
bool identity_read(const char *path, struct log_identity *out);
/* Whether it is one file: the same device, inode and birth. */
bool identity_is_same(const struct log_identity *a, const struct log_identity *b);

struct index_names {
	VEC(char *) list;
};
/* The entries for a head. */
void index_list(const char *base, const char *head, struct index_names *out);
void index_names_release(struct index_names *names);
/* Adds a journal durably, unless it is there. */
int index_add(const char *base, const char *head, const char *name, struct err *err);
/* Ignores errors. */
void index_remove(const char *base, const char *head, const char *name);
/* Locks the entries for a head, so that two gavels do not create two journals of one file; waits for
 * at most three seconds. Close the descriptor to unlock. -1 and the reason. */
int index_lock(const char *base, const char *head, struct err *err);

#endif
