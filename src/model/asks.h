/* Internal to the model: the rules that real agents (claude, codex, acp) have in common. An agent asks
 * by a request that has an id on its connection, one answer decides it, and the agent proves by a
 * message of its own that it used the answer. Between request and answer the agent may withdraw what
 * it asked; its turn or its process may end.
 *
 * A dialect's decoder turns all of this into events (EV_ITEM with EV_TOOL, EV_RESPONSE, EV_ACK,
 * EV_WITHDRAWN, EV_TURN, EV_MODE, EV_FOLDER, EV_RUN); its rules call asks_apply with what differs. Ids of
 * requests are those of the newest one: JSON-RPC starts at 0 again for each connection. */
#ifndef GAVEL_MODEL_ASKS_H
#define GAVEL_MODEL_ASKS_H

#include "model/rules.h"

/* What differs between the dialects, and the names of their rules. */
struct ask_rules {
	const char *answer;  /* an answer without its request, or a second one */
	const char *result;  /* a tool's result without its call */
	const char *unasked; /* a call that changed something, and nobody was asked */
	const char *outcome; /* a call was run or denied against the answer; NULL = not checked */
	bool call_proves;    /* news of the call prove that the answer to its ask was used */
	bool resolved;       /* an acknowledgment of what we did not answer: somebody else did; one
				of an answer that the agent cannot use proves nothing */
	bool shows_call;     /* the message that told its input belongs to the item's text */
	bool by_option;      /* an answer names an option, and whether it is usable only the ask
				tells */
};

/* Applies all events of the message. */
void asks_apply(struct apply_ctx *a, const struct ask_rules *rules);
/* rules_ops.subject: the message that started the call, or the subagent that asks. */
uint32_t asks_subject(const struct model *m, const struct item *item, uint32_t message);
/* rules_ops.find_session: subagents speak under the names they were introduced by. */
void asks_name_sender(struct apply_ctx *a, struct str group);
/* rules_ops.reply_keys and offer_keys: an answer stands behind its request. */
void asks_reply_keys(const struct message *msg, struct reply_keys *out);
void asks_offer_keys(const struct model *m, uint32_t session, const struct message *msg,
		     struct reply_keys *out);

/* A request that waits, or has waited, for an answer. */
struct ask {
	uint64_t request;     /* hash of its id */
	uint64_t call;        /* hash of the tool call's id, 0 = none */
	uint64_t turn;        /* hash of its turn's id, 0 = none */
	uint64_t answer_hash; /* of what the answer says, 0 = unknown */
	uint64_t input_hash;  /* of the call's input, 0 = unknown */
	uint32_t message;
	uint32_t item;        /* NONE: a request that is not for a person */
	uint32_t subject;     /* message that belongs to its text, NONE */
	uint32_t answer;      /* message that answered it first, NONE */
	uint32_t newest;      /* of the first request of an id: index of the newest */
	uint32_t offers, offers_n; /* in session_asks.offers */
	uint8_t verdict;      /* of the answer */
	bool open;            /* neither proven nor withdrawn */
	bool by_subagent;
	bool call_known;      /* the call was told of before */
	bool unusable;        /* its answer is nothing that the agent knows: taken for a denial, and
				 never proven */
	bool given_up;        /* by its answer */
	bool cancelled;       /* its turn is: the client answers it, even if the agent is faster */
};

/* An option that an ask offers. */
struct ask_offer {
	uint64_t id; /* hash */
	uint32_t means; /* enum verdict, perhaps with OFFER_ALWAYS */
};

/* Where the agent works from a message on. */
struct work_folder {
	uint32_t message, path; /* path interned */
};

struct subagent {
	uint64_t id; /* hash */
	uint32_t name, message;
};

/* What asks_apply knows of a session. */
struct session_asks {
	HVEC(struct ask) list;
	HVEC(struct ask_offer) offers;
	struct map by_request;
	uint32_t first_open;     /* none before it is open */
	struct map calls;        /* by id: index into m->tool_calls */
	HVEC(struct subagent) subagents;
	double cost;             /* the running total that the agent reported last */
	uint32_t turn;           /* task that is under way, NONE */
	uint32_t turns;          /* that have no id of their own, so far */
	HVEC(struct work_folder) folders; /* in the order of messages */
	uint64_t reviewed;       /* hash of the call that was reviewed last, by no person */
	uint32_t reviewer;       /* by what, interned */
	uint32_t mode;           /* interned, NONE */
	bool mode_asks;          /* it asks before a call that changes something */
	uint32_t allowed_always; /* message that allowed some calls for good, the newest; NONE */
};

/* The session's, made when it is needed; for reading, NULL if there is none. */
struct session_asks *asks_of(struct apply_ctx *a);
const struct session_asks *session_asks(const struct model *m, uint32_t session);

/* The newest ask of that request, or NULL. */
struct ask *asks_find(struct apply_ctx *a, struct str request);
/* The newest request of that call, an index, or NONE. */
uint32_t ask_of_call(const struct session_asks *s, uint32_t message, uint64_t call);
/* A call is over: the outcome may contradict the answer to its ask. */
void ask_check_outcome(struct apply_ctx *a, uint32_t ask, const struct event *e,
		       const struct ask_rules *rules);

/* Tool calls (tool_calls.c). */
void tool_apply(struct apply_ctx *a, const struct event *e, const struct ask_rules *rules);
/* The call of that id, an index into m->tool_calls, or NONE. */
uint32_t tool_call_find(const struct model *m, const struct session_asks *s, uint64_t id);
/* A turn begins, goes on or ends; without an id the dialect's turns are numbered. */
void turn_apply(struct apply_ctx *a, const struct event *e);
/* A person is asked about a call. */
void tool_act_add(struct apply_ctx *a, uint32_t agent, bool asked);

#endif
