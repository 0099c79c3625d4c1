/* The x-gavel object of a Decision: who decided, and in an escalation queue what was escalated.
 *
 *   by        the person's name; alone: a person's Decision
 *   dialect, kind, session, item, rev, title, source, line   the item, as the first reviewer saw it
 *   original  its message, exactly, as a string; index: which element of it, where there are
 *             several; file: the message's file name, where the file is the message
 *   context   further messages (strings, in the log's order) that an answer needs to look at,
 *             `before` of them from before the original; about: which of them, counted from 1,
 *             belongs to the item's words (item_subject)
 *   deadline  ISO 8601, where the item has one
 *   reply     {channel, path}: where the first reviewer's gavel sends replies to the original
 *   log       [{source, offset}]: in a team's store, where the lines have the original, and the context
 *             that belongs to the item's words
 *   team      {item, source}: in a team's inbox, its number in the store and the source it came from
 *   from      in a team's store: what its machine calls who asks, an agent or a log; in the inbox it is `by`
 *
 * In a team's inbox (session/team_inbox.h) a person's Decision tells the session, too, and the verb:
 * one of those that people decide with, or "withdrawn", as nobody waits for an answer any more.
 *
 * Everything in it is an unverified claim of the writer. Strings live in the parsed document. */
#ifndef GAVEL_DIALECT_ESCALATION_ENTRY_H
#define GAVEL_DIALECT_ESCALATION_ENTRY_H

#include "event/event.h"
#include "json/json.h"

enum { QUEUE_TITLE_MAX = 500 }; /* bytes of a title; a longer one is cut between two characters */

struct queue_entry {
	struct str by;
	bool passes_on;         /* it has an item; otherwise only `by`, `session` and `verb` are valid */
	const char *missing;    /* the first field that a complete entry must have, or NULL */
	enum dialect_id dialect; /* DIALECT_UNKNOWN if absent or not known */
	enum item_kind kind;
	struct str session, item, rev, title, source, original, file;
	int64_t line, index, before;
	int64_t about; /* 0 = none */
	int64_t deadline_ms;
	struct str reply_channel, reply_path;
	int64_t team_item; /* 0 = it is in no team's inbox */
	struct str team_source, verb;
	yyjson_val *context; /* array or NULL */
	yyjson_val *log;     /* array or NULL */
	yyjson_val *object;  /* all of it */
};

/* false when the Decision has no x-gavel object. */
bool queue_entry_read(yyjson_val *decision, struct queue_entry *out);

#endif
