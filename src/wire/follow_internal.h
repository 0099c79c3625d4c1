/* Internal to follow*.c: followed names, their folders, and files renamed away from them. */
#ifndef GAVEL_WIRE_FOLLOW_INTERNAL_H
#define GAVEL_WIRE_FOLLOW_INTERNAL_H

#include "source/file_watch.h"
#include "wire/follow.h"

struct followed_name {
	struct str path; /* NUL after the end; "-" has no folder */
	struct str base;
	uint32_t folder; /* NO_FOLDER */
	uint32_t file;   /* the newest in the wire's list, UINT32_MAX = none */
	struct tail *now; /* current file; NULL: nothing readable has the name */
	VEC(struct tail *) old; /* rotated files still read, oldest first */
	enum follow_health health;
	int64_t since_ms, retry_ms;
	char *why;
	uint32_t replaced;
	int64_t due_ms; /* next look, or TAIL_NEVER */
	bool queued, waiting;
	bool listed;
	bool failed; /* the last read */
};

#define NO_FOLDER UINT32_MAX

/* A folder that holds names. given: an argument, so all its files are followed. */
struct folder {
	struct str path;
	bool given;
	int watch;
	dev_t dev;
	ino_t ino;
	int64_t changed_ns;
	bool listed_again; /* since its last change: a later one may have the same mtime */
	bool gone;
	int64_t since_ms;
};

/* A file that had one of our names and was renamed, perhaps before it was ever opened. */
struct renamed_file {
	uint32_t name;
	uint32_t folder;
	char *base;      /* new name; NULL: the second event of the rename is outstanding */
	uint32_t cookie; /* of the rename; 0 = deleted */
	int64_t since_ms;
	bool tried;
};

struct follow {
	struct wire *w;
	VEC(struct followed_name) names;
	VEC(struct folder) folders;
	VEC(struct renamed_file) renamed;
	struct map entries; /* folder and base → name */
	struct map watches; /* inotify watch → name × 2, or folder × 2 + 1 */
	VEC(uint32_t) queue;
	uint32_t queue_first;
	VEC(uint32_t) waiting; /* names with due_ms */
	int epoll, inotify;
	bool fast_poll; /* some watches could not be added: poll more often */
	bool busy;
	uint32_t next; /* round robin position of tick */
	uint32_t anonymous; /* streams that cannot be reopened by name */
	int64_t now_ms, tick_ms;
};

void follow_queue(struct follow *f, uint32_t name);
/* Adds a name; path must live as long as the wire. */
uint32_t follow_add_name(struct follow *f, struct str path, uint32_t folder);
uint32_t follow_add_folder(struct follow *f, struct str path, bool given);
void follow_watch_tail(struct follow *f, uint32_t name, struct tail *t);
/* Reads pending inotify events and opens files that were renamed between two looks. */
void follow_read_events(struct follow *f);
/* Deadline for the second event of a rename away from this name, TAIL_NEVER if none is pending. */
int64_t follow_rename_deadline(const struct follow *f, uint32_t name);
/* Polls all folders: do they still exist, have they new files? */
void follow_look_at_folders(struct follow *f);
/* Takes over an open file that was renamed away from a name, known or not. */
void follow_take_renamed(struct follow *f, uint32_t name, struct source *s);

#endif
