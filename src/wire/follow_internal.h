/* Inside following only: names, the folders they are in, and what the system told of them. */
#ifndef GAVEL_WIRE_FOLLOW_INTERNAL_H
#define GAVEL_WIRE_FOLLOW_INTERNAL_H

#include "source/notice.h"
#include "wire/follow.h"

struct name {
	struct str path; /* NUL after the end; "-" has no folder */
	struct str base;
	uint32_t folder; /* NO_FOLDER */
	uint32_t file;   /* the newest, UINT32_MAX */
	struct tail *now; /* NULL: nothing readable has the name */
	VEC(struct tail *) old; /* oldest first */
	enum follow_health health;
	int64_t since_ms, retry_ms;
	char *why;
	uint32_t replaced;
	int64_t due_ms; /* look then, TAIL_NEVER */
	bool queued, waiting;
	bool listed;
	bool failed; /* the last reading */
};

#define NO_FOLDER UINT32_MAX

/* A folder that holds names; of a directory that was given, all its files. */
struct folder {
	struct str path;
	bool given;
	int watch;
	dev_t dev;
	ino_t ino;
	int64_t changed_ns;
	bool listed_again; /* a change right after a look may not show in the folder's time */
	bool gone;
	int64_t since_ms;
};

/* A file that had one of our names and was renamed, perhaps before it was ever opened. */
struct stray {
	uint32_t name;
	uint32_t folder;
	char *base;      /* what it is called now; NULL: on its way */
	uint32_t cookie; /* of the way; 0 = to nowhere */
	int64_t since_ms;
	bool tried;
};

struct follow {
	struct wire *w;
	VEC(struct name) names;
	VEC(struct folder) folders;
	VEC(struct stray) strays;
	struct map entries; /* folder and base → name */
	struct map watches; /* → name × 2, or folder × 2 + 1 */
	VEC(uint32_t) queue;
	uint32_t queue_first;
	VEC(uint32_t) waiting; /* names with due_ms */
	int epoll, notice;
	bool blind; /* some changes are not told */
	bool busy;
	uint32_t next; /* name to look at in turn */
	uint32_t anonymous; /* streams that have no name to look at */
	int64_t now_ms, tick_ms;
};

void follow_queue(struct follow *f, uint32_t name);
uint32_t follow_find(const struct follow *f, uint32_t folder, struct str base);
/* A name in a folder, new. path lives as long as the wire. */
uint32_t follow_add_name(struct follow *f, struct str path, uint32_t folder);
uint32_t follow_add_folder(struct follow *f, struct str path, bool given);
void follow_watch_tail(struct follow *f, uint32_t name, struct tail *t);
/* Takes in what the system has to tell, and finds files that were renamed unseen. */
void follow_hear(struct follow *f);
/* A file that had this name is on its way to another, and nobody said yet which: until when to wait
 * for that, TAIL_NEVER if there is none. */
int64_t follow_awaits_stray(const struct follow *f, uint32_t name);
/* Looks at folders: are they still there, is there anything new in them? */
void follow_look_at_folders(struct follow *f);
/* An open file that was renamed away from a name, known or not. */
void follow_take_stray(struct follow *f, uint32_t name, struct source *s);

#endif
