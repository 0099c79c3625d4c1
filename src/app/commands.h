/* Functions of the command table (app_commands[] in commands.c) that live in other files. To add a
 * command, define COMMAND(name) and add a row to the table: the help, the completion of the command
 * line and the default key bindings all read that row. */
#ifndef GAVEL_APP_COMMANDS_H
#define GAVEL_APP_COMMANDS_H

#include "draw/keymap.h"

/* argument: the rest of the command line. number: from the row of the table, so that several
 * commands share one function; most often a direction, 1 or -1. */
#define COMMAND(name)                                                                              \
	void run_##name(struct app *a, __attribute__((unused)) struct str argument,                \
			__attribute__((unused)) int number)

/* axis.c: number is a direction. */
COMMAND(mark_step);
COMMAND(zoom);
COMMAND(pan);

/* copying.c */
COMMAND(copy_id);
COMMAND(copy_message);

/* bookmarks.c */
COMMAND(bookmark);
COMMAND(bookmarks);

/* commands.c */
COMMAND(sideways); /* number: a direction */

/* agent_prompt.c */
COMMAND(prompt_agent);
COMMAND(order_agent); /* number: ORDER_INTERRUPT, ORDER_MODE */

/* jumping.c: number is a direction. */
COMMAND(problem_step);
COMMAND(error_step);
COMMAND(along);
COMMAND(along_back);

/* deciding.c */
COMMAND(verb); /* number: enum verb */
COMMAND(explain);
COMMAND(reason);
COMMAND(deliver);
COMMAND(attach);
COMMAND(input);
COMMAND(reply);
COMMAND(resend);

/* claiming.c */
COMMAND(claim); /* number: 1 claims, -1 releases, 0 does the other */
COMMAND(team);

/* confirming.c */
COMMAND(quit);

/* undoing.c */
COMMAND(undo);
COMMAND(redo);

/* preflight.c */
COMMAND(drop);
COMMAND(caution); /* number: a direction */

/* marking.c */
COMMAND(mark);
COMMAND(mark_all);
COMMAND(on_marked);
COMMAND(defer);

/* narrowing.c */
COMMAND(narrow);
COMMAND(widen);

/* sorting.c */
COMMAND(sort);
COMMAND(sort_reverse);

/* split.c */
COMMAND(split);
COMMAND(split_size); /* number: a direction */

/* replay.c */
COMMAND(replay);
COMMAND(play);
COMMAND(step);         /* number: a direction */
COMMAND(speed_step);   /* number: a direction */
COMMAND(speed);
COMMAND(minute);       /* number: minutes */
COMMAND(event_step);   /* number: a direction */
COMMAND(mark_jump);    /* number: enum playback_mark, negative for the previous one */
COMMAND(replay_start);
COMMAND(replay_end);
COMMAND(seek);
COMMAND(loop);
COMMAND(fork);
COMMAND(skip);

#endif
