/* gavel review: an artifact, and a reviewer that is one process a turn (agents/turn.h). The
 * terminal UI on the review's log, which holds what was asked and all that came back; between turns
 * the person decides the items and edits the artifact, and `$` begins the next one.
 *
 * The log is a capture of source/child.h in a folder that is named after the artifact and the
 * command: the same two again go on with the same review.
 *
 * A turn begins when its message has been recorded (INTENT) and the desk looks for the process that
 * it names (review_input); nothing else starts one. When the process has ended, its letter is
 * concluded: an answer proves that it arrived; without one the failure is noted in the log, where
 * it is an item. Whatever a crash leaves behind is found by review_resume in the log and in the
 * journal. */
#ifndef GAVEL_AGENTS_REVIEW_H
#define GAVEL_AGENTS_REVIEW_H

#include "session/agent_set.h"
#include "watch/watch.h"
#include "agents/turn.h"

#include <sys/stat.h>

/* The file under review, looked at again and again. */
struct review_file {
	const char *path; /* NULL = there is none */
	struct artifact_now now;
	struct buf seen, disk;
	struct stat stat;
	struct err trouble;
	int64_t looked_ms;
	uint32_t added, removed; /* lines */
};

struct reviewing {
	struct watch watch;
	struct agent_set agents;
	uint32_t agent, file; /* of the agents; of the wire: the log */
	struct child *child;
	const char *const *command; /* NULL last */
	const char *envelope;       /* file with the first input; NULL = feedback */
	struct review_file artifact;
	struct turn turn;
	uint32_t letter; /* of the turn; NONE */
	bool begin;      /* the first turn is still to begin */
	bool again;      /* the next plan is the last message once more */
	bool stopped;    /* the person has ended the turn */
	bool leaving, warned;
	VEC(uint8_t) told; /* by letter: it was seen in the log */
	struct arena words;
	struct turn_terms terms;
	struct buf path, to, blocked, log;
};

/* The loop's part (watch_ops, ctx is the review). */
extern const struct watch_ops review_ops;
/* The seat's: a turn that decides nothing, where nothing is staged. */
bool review_propose(void *review, const struct terms *t);

/* Within the review: */
struct desk *review_desk(struct reviewing *r);
/* The log was read: how does the review stand? Finishes what the last run left. */
void review_resume(struct reviewing *r);
/* Everything that the log has; for when nothing runs. */
void review_read(struct reviewing *r);
/* Looks whether the turn is over. */
void review_look(struct reviewing *r, int64_t now_ms);
/* The one line about it, and what the next plan needs to know. */
void review_tell(struct reviewing *r, int64_t now_ms);
/* The find of struct channel_agents. */
struct child_input *review_input(void *review, const char *path, struct err *err);
/* A letter that is held or was left behind, or NONE. */
uint32_t review_held(struct reviewing *r);
/* An item that is a turn's failure and still open, or NONE. */
uint32_t review_failure(const struct reviewing *r);
/* The session of the newest answer, or NONE. */
uint32_t review_session(const struct reviewing *r);

/* What was sent in that turn is what the reviewer saw. */
void review_file_sent(struct review_file *f, struct str request, int64_t iteration);
/* Reads it again if it has changed; true = it has. */
bool review_file_look(struct review_file *f);
void review_file_release(struct review_file *f);

#endif
