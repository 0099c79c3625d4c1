/* Tool calls of real agents, and which of them a person was asked about. */
#ifndef GAVEL_MODEL_TOOL_CALLS_H
#define GAVEL_MODEL_TOOL_CALLS_H

#include <stdbool.h>
#include <stdint.h>

struct model;

/* A tool call of a real agent. */
struct tool_call {
	uint64_t id;      /* hash */
	uint32_t message; /* that told of it first */
	uint32_t told;    /* that told its input; state after all messages */
	uint32_t agent;
	uint32_t tool;    /* interned name, NONE */
	uint32_t end;     /* message that told of its end first, NONE */
	uint32_t ask;     /* the newest that was about it, in its session's list; NONE */
	uint32_t content; /* hash of what it does, where asks show that; 0 = nothing */
	bool severe, asked; /* state after all messages */
};

/* A call that a person was asked about, or that changed something without that. */
struct tool_act {
	uint32_t message; /* the ask, or the call's end */
	uint32_t agent;
	bool asked;
};

enum { RECENT_CALLS = 3 }; /* that a permission's page shows */

/* The messages of up to n tool calls of its session that were over before a message, newest first;
 * returns how many. */
uint32_t recent_calls(const struct model *m, uint32_t message, uint32_t *out, uint32_t n);

#endif
