/* The turns of a review: each is a process of its own, which gets one message on its standard
 * input, answers on its standard output and ends (feedback protocol 2.2). Here is what a turn is
 * told on its command line, what it has come to so far, what it amounted to, and what can be done
 * about it. No processes, no clock: times are the caller's.
 *
 *   turn_begin   a message goes out
 *   turn_look    after the model has taken messages: what they say of the turn
 *   turn_end     the process is gone and all that it said is in the model
 *
 * A turn that was not answered is written down in the log as the failure that its protocol has a
 * form for (turn_note): so it waits in the inbox as an item, is part of the ledger, and `accept` on
 * it sends the message again. */
#ifndef GAVEL_AGENTS_TURN_H
#define GAVEL_AGENTS_TURN_H

#include "decide/reader.h"

enum {
	TURN_SILENT_MS = 30000, /* a turn that says nothing for that long has stalled */
	TURN_SESSION_MAX = 128,
};

/* The words of a command, NULL last, with {session} in them replaced by the session's id. While
 * there is none, a word that holds it is left out, and with a word that is not an option itself the
 * lone option before it: "--session {session}", but neither "--format=json {session}" nor "--
 * {session}". The first word stays. Strings and the list are the arena's. */
const char **turn_command(struct arena *arena, const char *const *command, struct str session);
/* Whether a session's id can be a word of a command line: what a stream tells must not be taken for
 * an option, or for anything else but a name. */
bool turn_session_is_safe(struct str id);

enum turn_state_name {
	TURN_NONE,      /* there has been none */
	TURN_RUNS,
	TURN_ANSWERED,
	TURN_REFUSED,   /* answered by an error of the protocol's; it is an item already */
	TURN_OTHER,     /* answered, but another iteration than was asked for */
	TURN_UNREAD,    /* ended before it had read the message */
	TURN_ERROR,     /* said that there was an error, and answered nothing */
	TURN_STOPPED,   /* by the person */
	TURN_EXIT,      /* an exit code other than 0, or a signal */
	TURN_SILENT,    /* ended well without an answer */
	TURN_LOST,      /* gavel ended while it ran */
};

/* Zero it; release it. */
struct turn {
	enum dialect_id dialect; /* feedback or envelope */
	enum turn_state_name state;
	int64_t iteration;
	uint32_t first; /* messages there were when it began */
	uint32_t seen;  /* messages looked at */
	int64_t began_ms, heard_ms, ended_ms;
	/* what has come: */
	char session[TURN_SESSION_MAX + 1]; /* told last; empty = none */
	bool unsafe;                        /* one was told that cannot be used */
	uint32_t steps, tools, answers;
	int64_t echoed; /* iteration of the newest answer, 0 = none */
	bool refused, cut;
	uint64_t tokens;
	double cost;
	struct buf last;  /* what was said last, in a few words */
	struct buf error; /* the last line of type error */
	struct buf why;   /* once it has ended: how, in a sentence without its end */
};

/* How a process ended, for turn_end. */
struct turn_exit {
	bool well;              /* exit code 0 */
	bool stopped;           /* the person wanted it */
	bool unread;            /* without having read all that it was told */
	struct str words;       /* "exit code 3" */
	struct str complaint;   /* its last words on standard error; may be empty */
};

void turn_release(struct turn *t);
/* Forgets the turn before, but not its session. */
void turn_begin(struct turn *t, enum dialect_id dialect, int64_t iteration, uint32_t messages,
		int64_t now_ms);
/* Looks at the messages that have come since; those of other files than `file` only say that it
 * lives. */
void turn_look(struct turn *t, const struct model *m, const struct reader *r, uint32_t file,
	       int64_t now_ms);
void turn_end(struct turn *t, const struct turn_exit *e, int64_t now_ms);

/* No answer came: there is something to retry. */
bool turn_has_failed(const struct turn *t);
bool turn_is_silent(const struct turn *t, int64_t now_ms);
/* One line for the person: what it does, or what became of it and what to do now, which for
 * a failed turn is `remedies`. */
void turn_words(const struct turn *t, int64_t now_ms, const char *remedies, struct buf *out);
/* The failure as a message of the protocol, with its newline: the Response with an error, or the
 * output envelope, that nobody sent. time_ms is the wall clock's. */
void turn_note(const struct turn *t, int64_t time_ms, struct buf *out);

#endif
