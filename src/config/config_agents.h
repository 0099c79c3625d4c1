/* The setting "agents": the agents that gavel run starts. For config.c only. */
#ifndef GAVEL_CONFIG_CONFIG_AGENTS_H
#define GAVEL_CONFIG_CONFIG_AGENTS_H

#include "config/config_reading.h"

void config_set_agents(struct config_reading *r, const struct setting *s, yyjson_val *value);
void config_free_agents(struct config *c);

#endif
