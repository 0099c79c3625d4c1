/* Shell completion scripts. */
#ifndef GAVEL_CMD_COMPLETION_H
#define GAVEL_CMD_COMPLETION_H

#include "config/options.h"

/* The script for bash, zsh or fish; false: another shell. */
bool complete_script(const char *shell, struct buf *out);

#endif
