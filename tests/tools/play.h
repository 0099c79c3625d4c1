/* play: the agents' side of a session, one turn at a time, and the books of both sides.
 *
 * The books are a text file, one fact a line, in the order in which things happened. Whoever
 * plays the person writes `said`, `told` and `overtake`; the agents react to the reply files:
 *
 *   raise KIND ID OF WORDS LINE   asked anew, so it is open; OF = its session, task or lane
 *   said VERB ID NAME             decided by a person, and sent
 *   told VERB ID NAME             decided, but nothing was sent to the agents
 *   close VERDICT BY ID           decided by an agent in the log
 *   ack ID, bounce ID             the agent has got the decision; it does not know the item
 *   overtake OF                   a later turn came: what is open of OF is superseded
 *   heard PATH N                  lines of a reply file that the agents have read
 *   note NAME NUMBER              the agents' own memory
 */
#ifndef GAVEL_PLAY_H
#define GAVEL_PLAY_H

#include <stdbool.h>
#include <stddef.h>

enum { NAME_SIZE = 96, ITEMS_MAX = 512 };

struct item {
	char kind[NAME_SIZE], id[NAME_SIZE], of[NAME_SIZE];
	char verdict[NAME_SIZE], by[NAME_SIZE], delivery[NAME_SIZE];
	unsigned words;
	bool open;
};

extern struct item items[ITEMS_MAX];
extern unsigned item_count;
extern unsigned turn;
extern bool repeats; /* some messages come twice */
extern bool echoes;  /* the log also holds some of what the agents were told */
extern const char *log_path;

unsigned below(unsigned n); /* a random number */
bool chance(unsigned percent);

/* Writes a line to the log; %-formatted, without its newline. Returns its number, from 1. */
unsigned say(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Perhaps writes the last line again, where messages are repeated: nothing new is asked by it.
 * Returns whether it did. */
bool say_again(unsigned percent);
/* Writes a fact into the books, and applies it. */
void fact(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* The last line that was said, or the next one, raises an item. */
void raise_item(const char *kind, const char *id, const char *of, unsigned words);
void raise_next(const char *kind, const char *id, const char *of, unsigned words);
struct item *item_find(const char *id);
/* The item whose id is ID or ends with /ID; else NULL. */
struct item *item_ending(const char *id);
unsigned noted(const char *name); /* 0 = never */
void note(const char *name, unsigned number);

/* The next line of a reply file that the agents have not read yet, or NULL. */
const char *hear(const char *path);
const char *replies_path(const char *session); /* "" = of the log */
/* The value of the first member of that name, without quotes; "" = there is none. From where it
 * stands, hence *at may be used to look for more. */
const char *member(const char *line, const char *name, const char **at);

const char *iso_now(void); /* the log's clock; each call is a second later */
unsigned long long now_ms(void);
const char *uuid(char out[NAME_SIZE]);

void play_feedback(unsigned seed);
void play_collaboration(unsigned seed);
void play_handoff(unsigned seed);
void play_envelope(unsigned seed);
void play_orchestrator(unsigned seed);

#endif
