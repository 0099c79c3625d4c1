/* What an agent is started with, and starting its holder. Inside source/. */
#ifndef GAVEL_SOURCE_CHILD_SPAWN_H
#define GAVEL_SOURCE_CHILD_SPAWN_H

#include "source/child.h"

/* Path of argv[0], malloced; NULL: err says what is wrong. */
char *spawn_find(const char *name, const char *program, const char *withheld, struct err *err);
/* The environment for execve, CHILD_MARK and NULL last, and the names left out as text. Both
 * malloced. */
char **spawn_environment(const char *const *named, char **withheld);
/* Both NULL last. */
char **words_copy(const char *const *words);
void words_free(char **words);
/* "NAME: cannot run PROGRAM: why; what to do". Returns -1. */
int spawn_fail(const char *name, const char *program, int number, const char *withheld,
	       struct err *err);

/* The files of an agent: captures, which stay locked while its holder has them. */
struct child_files {
	int out, err, folder;
	bool created; /* the capture is new */
};

/* Opens and locks them; a new capture gets the head, a line without its tab. */
int files_open(const struct child *c, const char *head, struct child_files *f, struct err *err);
void files_close(struct child_files *f);
/* Removes files that nothing was written to. */
void files_discard(const struct child *c, struct child_files *f);
/* Runs c->program in a holder as incarnation `run`. */
int holder_start(const struct child *c, unsigned run, const struct child_files *f, pid_t *pid,
		 struct err *err);

#endif
