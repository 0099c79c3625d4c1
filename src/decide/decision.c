/* Names of states, and names nobody else will give. */
#include "decide/decision.h"

#include <stdio.h>
#include <sys/random.h>

const char *verb_name(enum verb v)
{
	static const char *const names[] = { "accept", "partial", "reject",
					     "answer", "dismiss", "escalate" };

	return names[v];
}

const char *letter_state_name(enum letter_state s)
{
	static const char *const names[] = { "INTENT", "ATTEMPT", "SENT", "ACKED", "HELD", "VOID" };

	return names[s];
}

static void random_bytes(unsigned char *to, size_t n)
{
	/* up to 256 bytes come whole or not at all */
	if (getrandom(to, n, 0) != (ssize_t)n)
		BUG("the system gives no random bytes");
}

void decision_id(char out[DECISION_ID_SIZE])
{
	unsigned char r[6];

	random_bytes(r, sizeof(r));
	snprintf(out, DECISION_ID_SIZE, "%02x%02x%02x%02x%02x%02x", r[0], r[1], r[2], r[3], r[4],
		 r[5]);
}

void uuid_make(char out[37])
{
	unsigned char r[16];

	random_bytes(r, sizeof(r));
	r[6] = (unsigned char)(0x40 | (r[6] & 0x0f));
	r[8] = (unsigned char)(0x80 | (r[8] & 0x3f));
	snprintf(out, 37, "%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x",
		 r[0], r[1], r[2], r[3], r[4], r[5], r[6], r[7], r[8], r[9], r[10], r[11], r[12],
		 r[13], r[14], r[15]);
}
