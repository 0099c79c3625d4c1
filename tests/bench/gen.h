/*
 * The parts of the log generator.
 *
 * Everything is a function of the seed: no clock, no locale, no floating point. gen_line.c owns
 * the random sequence and the simulated clock, and every writer draws from them, so the order of
 * calls is part of the output. The same seed and size give the same bytes on every machine as
 * long as no argument list holds two random values: compilers evaluate them in any order.
 *
 * A line under construction is a struct line. The line_* functions append one JSON value, with
 * its key (NULL inside arrays and at the top level), and put commas by themselves.
 */
#ifndef GAVEL_BENCH_GEN_H
#define GAVEL_BENCH_GEN_H

#ifndef _POSIX_C_SOURCE
#define _POSIX_C_SOURCE 200809L
#endif

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ARRAY_LEN(a) (sizeof(a) / sizeof((a)[0]))
#define PICK(a) ((a)[rnd_below(ARRAY_LEN(a))])
#define UUID_SIZE 37

struct line {
	char *bytes;
	size_t len, cap;
};

void rnd_seed(uint64_t seed);
uint64_t rnd_bits(void);
unsigned rnd_below(unsigned limit);
unsigned rnd_between(unsigned low, unsigned high);
bool rnd_percent(unsigned percent);
/* A length with the given median; four in five lie between half and twice of it. */
unsigned rnd_length(unsigned median);
/* The same for an artifact, of which a few are 20 to 100 kB. */
unsigned rnd_artifact_length(unsigned median);
void rnd_uuid(char uuid[UUID_SIZE]);

/* The simulated clock: milliseconds since 1970. */
uint64_t clock_ms(void);
void clock_advance(unsigned ms);

void line_clear(struct line *line);
void line_release(struct line *line);
void line_add(struct line *line, const char *bytes, size_t len);
void line_addf(struct line *line, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

void line_object(struct line *line, const char *key);
void line_object_end(struct line *line);
void line_array(struct line *line, const char *key);
void line_array_end(struct line *line);
void line_string(struct line *line, const char *key, const char *value);
void line_string_len(struct line *line, const char *key, const char *value, size_t len);
void line_stringf(struct line *line, const char *key, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
void line_uint(struct line *line, const char *key, uint64_t value);
/* A number between 0 and 1, given in hundredths. */
void line_hundredths(struct line *line, const char *key, unsigned value);
void line_bool(struct line *line, const char *key, bool value);
void line_null(struct line *line, const char *key);
/* The simulated time as ISO 8601, with milliseconds. */
void line_time(struct line *line, const char *key);
/* The same, so many seconds ahead. */
void line_time_ahead(struct line *line, const char *key, unsigned seconds);

/* Sentences of about so many bytes, as raw text and as JSON strings. */
void text_prose(struct line *line, unsigned bytes);
void line_prose(struct line *line, const char *key, unsigned median);
void line_prose_array(struct line *line, const char *key, unsigned count, unsigned median);
/* Source code and markdown: newlines, tabs, quotes and backslashes. */
void line_code(struct line *line, const char *key, unsigned bytes);

const char *word_pick(void);
const char *aspect_pick(void);
const char *slug_pick(void);
const char *path_pick(void);

/* Each writes the next message of one protocol; the order of calls makes the session. */
void feedback_next(struct line *line);
void envelope_next(struct line *line);
void collaboration_next(struct line *line);
void handoff_next(struct line *line);
void orchestrator_next(struct line *line);
void orchestrator_marker(struct line *line, const char *message);
/* A log event, of which nothing is to be remembered but its id. */
void orchestrator_log(struct line *line);

#endif
