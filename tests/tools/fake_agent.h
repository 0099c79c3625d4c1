/* Parts of the scripted agent (fake_agent.c). */
#ifndef GAVEL_TESTS_FAKE_AGENT_H
#define GAVEL_TESTS_FAKE_AGENT_H

#include <stdbool.h>
#include <stddef.h>

/* Reads one line of standard input, without its newline; NULL at the end. Valid until the next one. */
const char *fake_read_line(void);
/* Writes a text, whose {…} are replaced, and a newline to standard output. */
void fake_say(const char *text);

/* Speaks a dialect of real agents until the end of input (fake_dialects.c). */
void fake_claude(const char *plan);
void fake_codex(const char *plan);
void fake_acp(const char *plan);

#endif
