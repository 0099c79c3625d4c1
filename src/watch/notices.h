/* Notices that leave gavel: the terminal's (bell, OSC 9, OSC 777) and the user's command, for items
 * that open, come near their deadline or expire. At most one a second of each; the others are
 * counted, and the command is told of the newest of the most urgent kind. It gets one line of JSON;
 * its fields are in the manual, and are only ever added to. */
#ifndef GAVEL_WATCH_NOTICES_H
#define GAVEL_WATCH_NOTICES_H

#include "app/app.h"
#include "config/config.h"
#include "watch/notice_command.h"

/* By urgency. */
enum notice_event { ITEM_OPENED, ITEM_NEAR, ITEM_EXPIRED };

struct notices {
	const struct config *config;
	struct app *app;
	void (*terminal)(unsigned kinds); /* NULL = there is none */
	/* private */
	bool ring;             /* the terminal's is due */
	uint32_t n;            /* that wait for the command; 0 = none */
	enum notice_event event; /* of the one that it will be told */
	uint32_t item;
	int64_t rung_ms, sent_ms; /* time of the last ones */
	bool rung, sent;
	struct notice_command command;
	struct err trouble; /* to be said once the message line is free */
	bool failed;           /* the command has; that is said once */
};

/* Something happened to n items, the last of which is given. */
void notices_add(struct notices *l, enum notice_event event, uint32_t item, uint32_t n);
/* Sends what is due. now_ms is loop_now_ms. */
void notices_tick(struct notices *l, int64_t now_ms);
/* Timeout until the next tick; -1 = none. */
int notices_wait_ms(const struct notices *l, int64_t now_ms);
void notices_release(struct notices *l);

#endif
