/* The people and machines of a team, for make soak-team and make bench-team: one program, whose first
 * word says whom it plays. All reach the store through team/store.h. What they were told by the store
 * they keep in files, which are compared with the store in the end. */
#ifndef GAVEL_TESTS_TEAM_ACTORS_H
#define GAVEL_TESTS_TEAM_ACTORS_H

#include "base/buf.h"
#include "base/mem.h"
#include "team/store.h"

int reviewer_main(int argc, char **argv);
int shipper_main(int argc, char **argv);
int reader_main(int argc, char **argv);
int relay_main(int argc, char **argv);
int storm_main(int argc, char **argv);
int books_main(int argc, char **argv);
int restore_main(int argc, char **argv);
int bench_main(int argc, char **argv);

/* Ends the program with a sentence. */
_Noreturn void fail(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Never NULL. */
struct store *open_store(const char *url, const struct store_ops *ops);
/* Steps all of them after waiting for any, at most timeout_ms. */
void step_stores(struct store *const *stores, unsigned n, int timeout_ms);
/* Waits until it is answered. rows is called for an answer with rows, and may be NULL. Returns how many
 * there are, -1 if it was refused: then the code and the sentence are written to standard error. */
int ask(struct store *s, const char *sql, const struct store_value *values, unsigned n,
	void (*rows)(void *ctx, const struct store_answer *a), void *ctx);
#define VALUES(...) \
	(const struct store_value[]){ __VA_ARGS__ }, \
		sizeof((const struct store_value[]){ __VA_ARGS__ }) / sizeof(struct store_value)

/* An even number below n, from a seed of one's own. */
uint32_t chance(uint64_t *seed, uint32_t n);
int64_t now_us(void);
/* Opens a file to append to. */
int open_append(const char *path);
/* One write of the whole line, so that a kill -9 leaves it whole or not at all. */
void write_line(int fd, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Appends a whole file; one that does not exist is empty. */
void read_whole(const char *path, struct buf *out);

#endif
