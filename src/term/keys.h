/* Decoder of terminal input: bytes and escape sequences → keys. Terminal replies (device
 * attributes, cursor reports, titles, OSC answers, focus, kitty) and pastes must never become keys:
 * after an introducer only the final byte, or two seconds of silence, ends a sequence, and unknown
 * sequences are swallowed whole. A lone Esc counts after 100 ms of silence. Bracketed paste arrives
 * as one KEY_PASTE.
 *
 * Esc and a character within 100 ms is Alt with that key, which no command uses: both are
 * swallowed. So are keys with Shift, Ctrl or Alt that arrive as sequences (Ctrl+Up), invalid UTF-8,
 * and NUL. Of Esc Esc the first is dropped.
 *
 * The keys depend on the bytes and on the silences between them, never on how the bytes were split
 * into calls or on when keys_tick was called between two of them. */
#ifndef GAVEL_TERM_KEYS_H
#define GAVEL_TERM_KEYS_H

#include "base/buf.h"
#include "draw/key.h"

enum { ESCAPE_ALONE_MS = 100, SEQUENCE_SILENCE_MS = 2000, PASTE_MAX_BYTES = 1 << 20 };

/* Zero it to start. */
struct keys {
	int state;
	int64_t last_ms; /* time of the newest byte */
	char sequence[64];
	unsigned n;          /* used of sequence; larger than it: too long, swallowed */
	unsigned more;       /* bytes still to come, where their number is known */
	uint32_t introducer; /* as the code of its C1 control */
	uint8_t form;        /* enum form: encoding of the introducer and of its terminator */
	struct buf paste;
};

typedef void (*key_fn)(void *ctx, const struct key *key);

/* now_ms: any monotonic clock. Calls keys_tick first, for the silence before these bytes. A paste
 * is truncated to PASTE_MAX_BYTES; an empty one emits nothing. When two seconds of silence end a
 * paste, what has arrived is emitted as KEY_PASTE. */
void keys_feed(struct keys *k, struct str bytes, int64_t now_ms, key_fn emit, void *ctx);
/* Call after keys_wait without input; emits a lone Esc, drops unfinished sequences. */
void keys_tick(struct keys *k, int64_t now_ms, key_fn emit, void *ctx);
/* Timeout until keys_tick, in ms; -1 = none. */
int keys_wait(const struct keys *k, int64_t now_ms);
void keys_release(struct keys *k);

#endif
