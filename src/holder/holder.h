/* gavel-holder: keeps one running agent, so that the agent survives gavel.
 *
 *   gavel-holder NAME RUN PROGRAM ARG0 [ARG...]
 *
 * It owns the agent's pipes, writes what the agent says and what it is told to captures, and serves a
 * Unix socket through which any gavel of the same user writes a line to the agent, ends its input or
 * stops it. One process for each running agent, no threads, at most 2 MB resident. No timers while
 * nothing happens, except that a line which the agent does not read is looked at every few seconds.
 *
 * Start. gavel passes four descriptors: 3 the capture NAME.ndjson and 4 NAME.stderr (read and write,
 * flocked: the lock goes with the open file and so stays with the holder), 5 the folder of captures,
 * 6 a pipe for the result. The current folder and the environment are the agent's. The first process
 * exits at once; the second one writes one line to 6, and closes it:
 *     started PID
 *     failed STEP ERRNO        STEP: socket pipes session folder program capture
 * After `failed` nothing is left behind.
 *
 * Capture. A line that begins with a tab is the holder's; a line of the agent that would gets a space
 * before it. (t = ms since 1970)
 *     <TAB>{"gavel":"run","n":1,"pid":123,"t":...}        before anything of this run
 *     <TAB>{"gavel":"clock","t":...}                      before a line of the agent, every 100 ms at most
 *     <TAB>{"gavel":"to","id":"ID","t":...}               the next line is a tab and what it was told
 *     <TAB>{"gavel":"exit","n":1,"code":0,"t":...}        or "signal":11[,"core":true]
 *         [,"cut":true]   its last line had no end
 *         [,"lost":N]     bytes of its output that were given up for lack of room
 *         [,"unread":N]   bytes of its input that it has not read
 *         [,"id":"ID"]    the line they belong to. If there is no `to` of it, it was written in part
 *         [,"left":[7,9]] processes that could not be ended
 * NAME.stderr has no lines of the holder.
 *
 * What cannot be written waits in memory, its pipe is not read meanwhile (the agent waits instead of
 * losing output), and writing is tried again every RETRY_MS. It is dropped only if the file was deleted,
 * or if the holder gets SIGTERM after the agent's exit; then the exit is recorded if there is room for
 * that. No client can have it dropped.
 *
 * Socket NAME.sock, mode 0600, peers of the same uid only. A process of the agent is refused, so that an
 * agent cannot answer its own questions by just connecting: one that descends from it, is in its session,
 * or has exited before it could be looked up. That is a barrier and no protection: a process of the same
 * user that the agent gets started elsewhere (by cron, a container, a debugger) is not recognized, and
 * can write to the capture, too.
 *
 * Each line of text ends with a newline. The holder says:
 *     H RUN PID STATE UNREAD LAST START
 *                                  first, and when asked. STATE: runs, ending (it was asked to stop) or
 *                                  ended; UNREAD bytes in its input; LAST the id of the line in flight,
 *                                  else of the last one written, or -; START the offset of this run in
 *                                  the capture. The first one is said after all lines that were sent
 *                                  before this connection was made have been taken or refused
 *     A ID OFFSET                  the line was written; offset of its `to` in the capture
 *     T ID                         it has been read
 *     N ID WHY [PUT]               it was not written: busy, full, closed, ended, bad. With PUT, it was
 *                                  accepted, but its reader is gone; that many bytes of it were read
 *     U N                          so many bytes of its input are unread, for a second or more; 0 = none
 *                                  any more
 *     N - WHY                      instead of H: busy, CLIENTS_MAX are connected; refused, the client is
 *                                  a process of the agent. Closes the connection
 *     F WHY, O                     a capture cannot be written to, what the agent says waits for room; it
 *                                  can again
 *     S ending|term|kill           how far a stop has got
 *     D code|signal N [left PID, PID...]
 *                                  the agent has ended, its record is written or given up, socket and
 *                                  lock are gone; closes the connection. left: could not be ended
 * A client says:
 *     W ID N, then N bytes         write this line (the last byte, and no other, is a newline)
 *     E                            end of input, after the line in flight
 *     K GRACE_MS                   stop it: TERM after that time, KILL TERM_MS later
 *     X                            kill it and the processes that it has started
 *     ?                            H again
 * A line whose id is the last one written is answered by A, and T if it was read; one whose id is in
 * flight gets the answers of that: so a client that lost its connection just sends it again. What is
 * malformed is answered by `N - bad` and the end of the connection.
 *
 * Order. The record of a line is in the capture before anything that the agent said after it could read
 * the whole line: the last piece is written only while the capture is at the beginning of a line, and
 * the record follows before standard output is read again.
 *
 * End. When the agent exits: its pipes are drained, the rest of its processes ended, the exit recorded.
 * SIGTERM is `K 0`; after the agent's exit, it gives up what waits for room. When the holder is killed,
 * the agent gets SIGTERM.
 *
 * Times are monotonic_ms milliseconds, passed in as now_ms. */
#ifndef GAVEL_HOLDER_HOLDER_H
#define GAVEL_HOLDER_HOLDER_H

#include "base/buf.h"
#include "base/mem.h"

#include <poll.h>
#include <sys/types.h>

enum {
	BLOCK_BYTES = 64 << 10,
	PIPE_BYTES = 1 << 20,
	DRAIN_MS = 500,     /* for pipes that others hold open after the exit */
	TERM_MS = 5000,     /* from TERM to KILL */
	RETRY_MS = 200,     /* of writing to a full disk */
	CLOCK_MS = 100,
	BOUNDARY_MS = 1000, /* how long the rest of a line is waited for before a record */
	SWEEP_MS = 50,
	ID_MAX = 64,
	LINE_MAX_BYTES = 64 << 20,
	RECORD_HEAD = 192,  /* room before a line for the `to` of its record */
	CLIENTS_MAX = 16,
	UNREAD_MS = 1000,   /* after that, clients hear that a line is unread */
};

/* ---- captures (capture.c) ---- */

struct capture_file {
	int fd;
	uint64_t end;     /* bytes in the file */
	int trouble;      /* errno of the last write that failed; 0 = it is written to */
	struct buf rest;  /* what could not be written yet */
	int64_t retry_ms; /* when that is tried again */
	bool mid_line;    /* the last byte, of `rest` if there is one, is not a newline */
	bool fresh;       /* the next byte does not continue that line */
	bool clocked;     /* has lines of the holder */
	int64_t clock_ms; /* when the last of them was written */
	bool split;       /* the next take stops behind its last newline */
	struct buf carry; /* what then was behind it */
};

/* -1 and errno if fd is no file to write to. */
int capture_init(struct capture_file *c, int fd, bool clocked);
/* 0 or the errno that says that so many bytes more have no room. */
int capture_reserve(const struct capture_file *c, size_t bytes);
/* Writes as much as can be written now; returns the rest. Only while `rest` is empty. */
struct str capture_put(struct capture_file *c, struct str bytes, int64_t now_ms);
/* Appends what the agent wrote. What cannot be written waits. */
void capture_take(struct capture_file *c, struct str bytes, int64_t now_ms);
/* Appends a line of the holder, without its tab and newline. */
void capture_control(struct capture_file *c, struct str line, int64_t now_ms);
/* Ends a line of the agent that has no end. */
void capture_break(struct capture_file *c, int64_t now_ms);
/* Ends `split`: what was carried is taken. */
void capture_rejoin(struct capture_file *c, int64_t now_ms);
/* Writes what is waiting, if it is time. True: nothing waits any more. */
bool capture_flush(struct capture_file *c, int64_t now_ms);

/* ---- the agent's input (input.c) ---- */

enum input_state {
	INPUT_IDLE,
	INPUT_SENDS,   /* a line leaves */
	INPUT_RECORDS, /* it has left, its record is not whole */
	INPUT_UNREAD,  /* it is in the pipe */
};

struct client;

struct agent_input {
	int fd;    /* nonblocking; -1 = closed */
	int asked; /* once it is closed: a read end, to ask how much is unread; -1 = none */
	enum input_state state;
	bool ends; /* E came while a line was leaving */
	struct client *from; /* who sent the line; NULL = gone */
	/* the line in flight: mapped, RECORD_HEAD bytes before it */
	char *map;
	size_t map_bytes, n, put;
	char id[ID_MAX + 1];
	struct str record; /* what of it is to be written; in map */
	int64_t record_ms; /* when that is tried again */
	bool wants_room;   /* waits for POLLOUT */
	int64_t broken_ms; /* nobody reads it: when it has failed; 0 = somebody does */
	int64_t boundary_ms; /* when a half line is broken; 0 = not waited for */
	int64_t ask_ms;    /* when it is asked next whether the line was read; 0 = never */
	int64_t left_ms;   /* when the line had left */
	bool announced;    /* U said that it is unread */
	int ask_every_ms;
	char last[ID_MAX + 1]; /* id written last; "" = none */
	uint64_t last_at;      /* offset of its record */
};

/* ---- its output ---- */

enum { STREAM_OUT, STREAM_ERR, STREAMS };

struct held_stream {
	int fd;   /* -1 = at end of file */
	int room; /* bytes that the pipe holds */
	struct capture_file capture;
};

/* ---- clients (serve.c) ---- */

struct client {
	int fd; /* -1 = free */
	bool gone;
	char head[256]; /* what was read of a line of the protocol */
	size_t head_n;
	/* the line that is being received; need = 0: none */
	char id[ID_MAX + 1];
	char *map; /* NULL: it was refused, and is dropped */
	size_t map_bytes, need, got;
};

/* ---- all of it ---- */

enum stop_state { STOP_NONE, STOP_ASKED, STOP_TERMED, STOP_KILLED };

/* A process of the agent other than the one that was started. */
struct agent_process {
	pid_t pid, group;
	unsigned long long started; /* with the pid: its identity */
};

struct holder {
	const char *name;
	unsigned long run;
	uint64_t start; /* offset of the run in the capture */
	const char *program;
	char **argv;
	int folder;  /* of the captures */
	int work;    /* the agent's folder */
	int signals; /* signalfd: CHLD and TERM */
	int listener;
	int64_t accept_ms; /* no connections are accepted before; 0 = they are */
	pid_t pid; /* also its process group; a zombie until the end, so it is not reused */
	struct held_stream streams[STREAMS];
	struct agent_input input;
	struct client clients[CLIENTS_MAX];
	int told; /* errno that F has announced; 0 = none */
	bool exited;
	int64_t exited_ms;
	bool by_signal, dumped;
	int number; /* exit code or signal */
	size_t lost;   /* bytes of output that were given up */
	bool gives_up; /* what waits for room is not waited for any more */
	size_t unread; /* bytes of its input at its exit */
	char partial[ID_MAX + 1]; /* id of a line that was written in part; "" = none */
	enum stop_state stop;
	int64_t stop_ms;  /* of the next step */
	bool swept;       /* the rest of its processes were sent TERM */
	int64_t sweep_ms; /* time of the next look at them */
	bool gathered;    /* its processes have ended, or are left */
	bool recorded;    /* the exit is in the capture, or waits to be */
	VEC(struct agent_process) known; /* of the last look */
	/* coalescing: see holder.c */
	unsigned busy_rounds;
	bool filling;
	int64_t quiet_ms;
};

extern char block[BLOCK_BYTES]; /* shared read buffer */

/* Sets *timeout to the milliseconds until then, if that is sooner. -1 = none; when_ms 0 = never. */
void sooner(int *timeout, int64_t when_ms, int64_t now_ms);
/* Bytes that can be read from a pipe or socket; 0 also if that is not known. */
size_t bytes_in(int fd);
/* Serves the agent until it is over. */
void holder_run(struct holder *h);
/* Reads what the agent has said, and writes it to the capture. */
void stream_drain(struct holder *h, int stream, int64_t now_ms);
bool stream_is_read(const struct holder *h, int stream);

/* agent.c: runs h->program. On failure returns the step, errno says why. */
const char *agent_start(struct holder *h);

/* input.c */
enum refusal {
	REFUSE_NOT,
	REFUSE_BUSY,
	REFUSE_FULL,
	REFUSE_CLOSED,
	REFUSE_ENDED,
	REFUSE_AGAIN,     /* it was written already */
	REFUSE_IN_FLIGHT, /* it is being written */
};
enum refusal input_refuses(const struct holder *h, const char *id, size_t bytes);
/* Takes over the mapping, whose line is whole. */
void input_begin(struct holder *h, struct client *from, int64_t now_ms);
void input_advance(struct holder *h, int64_t now_ms);
void input_end(struct holder *h);
/* The agent has exited. */
void input_abandon(struct holder *h, int64_t now_ms);
size_t input_unread(const struct holder *h);
void input_timeout(const struct holder *h, int *timeout, int64_t now_ms);

/* serve.c */
int serve_open(struct holder *h); /* -1 and errno */
/* Removes the socket and closes the captures, whose lock it needs for that. Clients stay. */
void serve_close(struct holder *h);
void serve_accept(struct holder *h, int64_t now_ms);
/* Reads once, and obeys; returns how many bytes were read. */
size_t serve_client(struct holder *h, struct client *c, int64_t now_ms);
void serve_sweep(struct holder *h); /* closes those that are gone */
void serve_say(struct client *c, const char *format, ...) __attribute__((format(printf, 2, 3)));
void serve_say_all(struct holder *h, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* Says F or O when captures have got into trouble or out of it. */
void serve_trouble(struct holder *h);

/* ending.c */
void ending_stop(struct holder *h, int64_t grace_ms, int64_t now_ms);
void ending_kill(struct holder *h, int64_t now_ms);   /* at once */
void ending_notice(struct holder *h, int64_t now_ms); /* after SIGCHLD */
bool ending_advance(struct holder *h, int64_t now_ms); /* true: all is over */
void ending_timeout(const struct holder *h, int *timeout, int64_t now_ms);

/* processes.c */
/* Looks for the agent's processes anew, fills `known`, returns how many besides the agent itself. */
uint32_t processes_find(struct holder *h);
/* Finds them, and sends a signal to all, the agent included. */
void processes_signal(struct holder *h, int number);
/* Whether that process is one of them, or has exited: then nobody can tell. */
bool processes_has(const struct holder *h, pid_t pid);

#endif
