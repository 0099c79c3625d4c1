/* Completion for shells. */
#ifndef GAVEL_CMD_COMPLETION_H
#define GAVEL_CMD_COMPLETION_H

#include "config/options.h"

/* The script for bash, zsh or fish; false when there is none for that shell. */
bool complete_script(const char *shell, struct buf *out);

#endif
