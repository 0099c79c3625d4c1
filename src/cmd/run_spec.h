/* From the command line and the configuration to what the supervisor starts: names, flags and variables
 * of agents, and their first prompts. */
#ifndef GAVEL_CMD_RUN_SPEC_H
#define GAVEL_CMD_RUN_SPEC_H

#include "agents/supervisor.h"

/* The command of the command line. */
int spec_of_command(struct arena *arena, struct options *o, struct supervisor_spec *out,
		    struct err *err);
/* An agent of the configuration. */
int spec_of_configured(struct arena *arena, const struct options *o, const struct config_agent *a,
		       struct supervisor_spec *out, struct err *err);
/* The words of a prompt: TEXT, or what is in FILE for @FILE. what: the option, for errors. */
int read_prompt(struct arena *arena, const char *what, const char *given, struct str *out,
		struct err *err);

#endif
