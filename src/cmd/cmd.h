/* One function and one file for each command (cmd_NAME.c); what each takes is in config/options.h.
 * They return the exit code (enum exit_code). */
#ifndef GAVEL_CMD_CMD_H
#define GAVEL_CMD_CMD_H

#include "config/options.h"

int cmd_agents(struct options *o);
int cmd_check(struct options *o);
int cmd_decide(struct options *o);
int cmd_demo(struct options *o);
int cmd_help(struct options *o);
int cmd_journal(struct options *o);
int cmd_purge(struct options *o);
int cmd_replay(struct options *o);
int cmd_review(struct options *o);
int cmd_run(struct options *o);
int cmd_ship(struct options *o);
int cmd_show(struct options *o);
int cmd_team(struct options *o);
/* The team's URL from the configuration; NULL if it has none. Owned by o. */
const char *configured_team(struct options *o);
/* Where only so many words were given, and nothing is piped to gavel: its inbox is the source. */
void configured_source(struct options *o, uint32_t words);
/* Without a command word: the terminal UI, or the inbox where the output is not a terminal. */
int cmd_watch(struct options *o);

struct agent_group; /* agents/running.h */
/* The terminal UI on agents that run. */
int attach_to(struct options *o, const struct agent_group *group);
/* Answers, without a screen, the requests of running agents that need no person. */
void attend(struct options *o, const struct agent_group *group);
/* Ships agents that run (gavel ship). */
int ship_agents(struct options *o, const struct agent_group *group);
/* Prompts an agent of the group (run_work.h). */
int prompt_agent(struct options *o, const struct agent_group *group);

/* The views that show knows, NULL after the last. */
const char *show_view_name(unsigned i);
/* gavel show inbox of all words. */
int show_inbox(struct options *o);
/* Inbox and summary of one log, without its journal. */
int show_demo(struct options *o, const char *source);

#endif
