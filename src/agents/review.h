/* gavel review: an artifact, and a reviewer with one process per turn (agents/turn.h). The terminal
 * UI on the review's log, which holds the requests and all output; between turns the user decides
 * items and edits the artifact, and `$` begins the next turn.
 *
 * The log is a capture (source/child.h) in a folder named after the artifact and the command:
 * running the same command on the same artifact continues the review.
 *
 * A turn begins when its message has been recorded (INTENT) and the desk opens the channel to its
 * process (review_start_turn); nothing else starts one. When the process has ended, its letter is
 * concluded: an answer proves delivery; a failure is recorded in the log, where it is an item.
 * review_resume recovers from the log and the journal after a crash. */
#ifndef GAVEL_AGENTS_REVIEW_H
#define GAVEL_AGENTS_REVIEW_H

#include "session/agent_set.h"
#include "watch/watch.h"
#include "agents/turn.h"

#include <sys/stat.h>

/* The file under review, reloaded when it changes. */
struct review_file {
	const char *path; /* NULL = none */
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
	uint32_t agent, file; /* numbers in the agent set; in the wire: the log */
	struct child *child;
	const char *const *command; /* NULL last */
	const char *envelope;       /* file with the first input; NULL = feedback */
	struct review_file artifact;
	struct turn turn;
	uint32_t letter; /* of the turn; NONE */
	int64_t look_ms; /* when it is looked for again, if it is held */
	bool begin;      /* start the first turn */
	bool again;      /* the next plan repeats the last message */
	bool stopped;    /* the user has stopped the turn */
	bool leaving, warned;
	bool stays;      /* the turn goes on when gavel ends */
	VEC(uint8_t) told; /* by letter: seen in the log */
	struct arena words;
	struct turn_terms terms;
	struct buf path, to, blocked, log;
};

extern const struct watch_ops review_ops; /* ctx is the review */
/* The propose of struct decider: plans a turn without decisions if nothing is staged. */
bool review_propose(void *review, const struct terms *t);

struct desk *review_desk(struct reviewing *r);
/* After review_read: restores the state of the last turn and finishes what the last run left. */
void review_resume(struct reviewing *r);
/* Reads the log to its end, while no turn runs. */
void review_read(struct reviewing *r);
/* Updates the turn; concludes it when its process has ended. */
void review_tick(struct reviewing *r, int64_t now_ms);
/* Updates the status line. */
void review_show(struct reviewing *r, int64_t now_ms);
/* The start of struct channel_starter. */
int review_start_turn(void *review, const char *path, struct err *err);
/* An undelivered letter, or NONE. */
uint32_t review_held(struct reviewing *r);
/* The open item of a failed turn, or NONE. */
uint32_t review_failure(const struct reviewing *r);
/* The session of the newest answer, or NONE. */
uint32_t review_session(const struct reviewing *r);

/* Keeps the artifact's content as sent in a request, to compare with later. */
void review_file_sent(struct review_file *f, struct str request, int64_t iteration);
/* Reads the file again if it has changed; true = it has. */
bool review_file_reload(struct review_file *f);
void review_file_release(struct review_file *f);

#endif
