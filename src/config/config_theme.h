/* The setting "theme": its setter, and the names its help lists. For config.c only; config_theme is
 * in config/config.h. */
#ifndef GAVEL_CONFIG_CONFIG_THEME_H
#define GAVEL_CONFIG_CONFIG_THEME_H

#include "config/config_reading.h"

void config_set_theme(struct config_reading *r, const struct setting *s, yyjson_val *value);
/* Names of all roles but ROLE_ESCAPED, which cannot be changed. */
void config_add_role_names(struct buf *b);

#endif
