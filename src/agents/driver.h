/* What gavel says by itself to a real agent (claude, codex, acp): the handshake, prompts,
 * interrupts, changes of its mode, refusals of what gavel cannot do for it. One small state
 * machine per dialect. No I/O, no clock.
 *
 *   driver_init      for a dialect that has a driver
 *   driver_run       a process was started: nothing has been said to it, nothing by it
 *   driver_end       it has ended; what waits was meant for it, and is dropped
 *   driver_note      each line of its capture, in both directions and in their order
 *   driver_live      what was in the capture before is known: from now on lines are due
 *   driver_prompt    and the other wishes of the user; they wait until the agent can take them
 *   driver_next      a line that is due, again and again until there is none
 *
 * The capture is the state: who attaches to an agent notes its capture from the beginning, and
 * goes on where the gavel before stopped. A line that driver_next returned counts as told at once,
 * and is noted a second time when the capture has it; that changes nothing any more.
 *
 * Only whole lines of JSON are written that the program is known to understand: a malformed one
 * ends Claude. */
#ifndef GAVEL_AGENTS_DRIVER_H
#define GAVEL_AGENTS_DRIVER_H

#include "event/record.h"
#include "json/json.h"

enum { DRIVER_PROMPTS_MAX = 100, DRIVER_ASKED_MAX = 1000 };

/* How far the handshake has got. Not every dialect has every step. */
enum driver_step {
	DRIVER_FRESH,        /* nothing was said */
	DRIVER_INITIALIZING, /* waits for the answer */
	DRIVER_INITIALIZED,
	DRIVER_ANNOUNCED, /* the agent was told that it is initialized */
	DRIVER_OPENING,   /* waits for its session or thread */
	DRIVER_READY,     /* takes prompts */
	DRIVER_FAILED,    /* the agent refused; a notice said why */
};

/* A prompt that waits. */
struct driver_prompt {
	char *text;
	size_t n;
};

/* A mode that an agent offers. */
struct driver_offer {
	char *mode;
	char *option; /* acp: the configuration option that has it, NULL = session/set_mode */
};

/* A request to the agent that it has not answered. */
struct driver_request {
	uint64_t id;
	char *method;
	char *text; /* of a prompt, NULL = none */
};

/* A request of the agent that nobody has answered. */
struct driver_asked {
	char *id; /* JSON */
	char *method;
	bool refuse; /* gavel cannot do that */
};

struct driver;

struct driver_ops {
	enum dialect_id dialect;
	bool mode_by_turn; /* a change of its mode goes with the next prompt */
	/* The agent wrote this; it was told this. */
	void (*heard)(struct driver *d, yyjson_val *root);
	void (*told)(struct driver *d, yyjson_val *root);
	/* Adds the next line, without its newline; false: nothing is due. */
	bool (*next)(struct driver *d, struct buf *line);
	const struct driver_rpc *rpc; /* for driver_rpc_heard and driver_rpc_told; NULL = no JSON-RPC */
};
extern const struct driver_ops driver_claude, driver_codex, driver_acp;
/* Of a dialect, NULL = gavel says nothing by itself. */
const struct driver_ops *driver_of(enum dialect_id dialect);

/* Zero it; driver_init; release it. */
struct driver {
	const struct driver_ops *ops;
	enum driver_step step;
	bool live;
	bool runs;        /* its process was started, by the capture */
	bool busy;        /* a turn runs */
	bool has_spoken;  /* this process has written a message */
	bool malformed;   /* and a line on standard output that is none */
	bool needs_login; /* what it refused last is about keys or a login */
	bool asks_nobody; /* in the mode that it began in and still has */
	struct buf notice; /* for the user, behind the agent's name; the caller clears it */
	uint32_t prompted; /* prompts that the capture has, of this run */
	VEC(struct driver_prompt) prompts;

	/* private */
	bool composing; /* the line that is noted was not written yet */
	struct buf folder;
	struct buf session; /* or thread */
	struct buf turn;    /* codex: the one that runs, as far as its id is known */
	struct buf start_mode; /* that each of its processes is to have, "a" or "a,b" */
	struct buf mode;       /* that it was not told yet, likewise */
	uint64_t mode_request; /* the change that it has not answered, 0 = none */
	bool first_mode;       /* what waits is start_mode: without it, it gets no prompt */
	VEC(struct driver_offer) offers; /* none: gavel does not know its modes */
	struct buf agent;   /* acp: what it calls itself */
	struct buf model;   /* codex: of its thread */
	bool interrupt;     /* its turn is to be ended */
	bool cancelling;    /* acp: that was said, what it asks meanwhile is cancelled */
	bool no_steering;   /* codex: this turn takes no more words */
	uint64_t last_id;   /* the highest number of a request to any of its processes */
	VEC(struct driver_request) requests;
	VEC(struct driver_asked) asked;
	struct json_reader reader;
};

/* folder: where it works, an absolute path; empty = unknown. */
void driver_init(struct driver *d, const struct driver_ops *ops, struct str folder);
void driver_release(struct driver *d);
void driver_run(struct driver *d);
void driver_end(struct driver *d);
void driver_note(struct driver *d, struct str line, bool told);
void driver_live(struct driver *d);
/* False: too many wait. While the capture is read again, a prompt that it has behind this place is
 * dropped: so that what was to be said after a turn is said once. */
bool driver_prompt(struct driver *d, struct str text);
/* Whether a prompt would leave at once, as far as is known. */
bool driver_takes_prompt(const struct driver *d);
/* False: no turn runs. */
bool driver_interrupt(struct driver *d);
/* modes: one, or several with commas, of options that have nothing to do with each other. False:
 * the agent does not offer it; the notice says what it offers. */
bool driver_mode(struct driver *d, struct str modes);
/* Before driver_run: the modes that each process is to have before its first prompt. One that
 * does not take them gets none (DRIVER_FAILED). */
void driver_start_mode(struct driver *d, struct str modes);
/* Adds a line with its newline. */
bool driver_next(struct driver *d, struct buf *line);

/* Modes, for the dialects (driver_modes.c): */
/* option: may be empty. Of two with one name the first counts. */
void driver_offer(struct driver *d, struct str mode, struct str option);
/* All of them are known now. False: start_mode is none of them, and the handshake failed. */
bool driver_offered(struct driver *d);
const struct driver_offer *driver_offer_of(const struct driver *d, struct str mode);
/* "a, b, c" */
void driver_put_offers(const struct driver *d, struct buf *out);
/* The mode that the agent is to be told next, empty = none. */
struct str driver_next_mode(const struct driver *d);
/* It was told; request: by that one, 0 = it will not be answered. */
void driver_mode_told(struct driver *d, struct str mode, uint64_t request);
/* An answer; why: why not, empty = it has the mode. False: to something else. */
bool driver_mode_answered(struct driver *d, uint64_t request, struct str why);
/* Whether prompts wait for it. */
bool driver_changes_mode(const struct driver *d);
void driver_forget_modes(struct driver *d);

/* For the dialects (driver.c): */
/* The beginning of an agent's words, for a notice. */
struct str driver_cut(struct str words);
void driver_say(struct driver *d, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* The handshake was refused. */
void driver_fail(struct driver *d, const char *what, struct str why);
void driver_step_to(struct driver *d, enum driver_step step); /* never back */
void driver_turn_begins(struct driver *d);
void driver_turn_ends(struct driver *d);
void driver_set(struct buf *b, struct str text);
/* One without a valid id cannot be answered; of too many at once, gavel answers none. */
void driver_asks(struct driver *d, yyjson_val *id, struct str method, bool refuse);
void driver_answered(struct driver *d, yyjson_val *id);
const struct driver_asked *driver_to_refuse(const struct driver *d);
/* The first prompt that waits is taken off the list and added as a JSON string. */
void driver_put_prompt(struct driver *d, struct buf *line);
/* The prompt with that text was told. */
void driver_prompt_told(struct driver *d, struct str text);
/* In front of those that wait: the agent did not take it. */
void driver_prompt_again(struct driver *d, struct str text);
/* Whether these words of an agent say that it lacks a key or a login. */
bool driver_is_login(struct str words);

/* What two JSON-RPC dialects have in common (driver_rpc.c). */
struct driver_rpc {
	bool (*is_ask)(struct str method); /* that a person answers */
	void (*notified)(struct driver *d, struct str method, yyjson_val *params);
	void (*requested)(struct driver *d, struct driver_request *r, yyjson_val *params);
	void (*announced)(struct driver *d, struct str method); /* a notification to the agent */
	void (*replied)(struct driver *d, struct driver_request *r, yyjson_val *result);
	void (*failed)(struct driver *d, struct driver_request *r, struct str why);
};
/* heard and told of struct driver_ops. */
void driver_rpc_heard(struct driver *d, yyjson_val *root);
void driver_rpc_told(struct driver *d, yyjson_val *root);
/* Adds "id":N,"method":M,"params":{ with the next number. */
void driver_rpc_request(struct driver *d, const char *method, struct buf *line);
/* The words of the text in params.prompt or params.input. */
struct str driver_rpc_text(yyjson_val *blocks);
/* ,"clientInfo":{…} */
void driver_put_client(struct buf *line);

#endif
