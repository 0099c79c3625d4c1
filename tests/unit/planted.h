/* decide/deliver.c once more, with bugs that a test can plant: what finds none in the program must find
 * these. The copy is used in place of the library's, as its functions are known to the linker first. */
#ifndef GAVEL_TESTS_PLANTED_H
#define GAVEL_TESTS_PLANTED_H

#include "channel/channel.h"
#include "decide/records.h"

/* INTENT and ATTEMPT are not on the disk before the message leaves; letters are called sent before they are;
 * nobody looks whether a letter has arrived already. */
enum planted_bug { BUG_SYNC_AFTER = 1, BUG_NO_PROBE = 2, BUG_SENT_EARLY = 4 };
static unsigned planted_bugs;

#define desk_step(d, line, sync, err) \
	desk_step(d, line, (sync) && !(planted_bugs & BUG_SYNC_AFTER && \
				       strcmp(__func__, "desk_mark_attempt") == 0), err)
#define desk_append_all(d, records, n, sync, err) \
	desk_append_all(d, records, n, (sync) && !(planted_bugs & BUG_SYNC_AFTER), err)
#define channel_probe(c, bytes, at, err) \
	(planted_bugs & BUG_NO_PROBE ? FOUND_NOTHING : channel_probe(c, bytes, at, err))
#define channel_send(c, bytes, at, err) \
	((void)(planted_bugs & BUG_SENT_EARLY && desk_mark_sent(d, number, err)), \
	 channel_send(c, bytes, at, err))

#include "decide/deliver.c"

#undef desk_step
#undef desk_append_all
#undef channel_probe
#undef channel_send

#endif
