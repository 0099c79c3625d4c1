/* A frame is the bytes of one message, exactly as read, and their position. A frame and its bytes
 * are valid only during the callback. */
#ifndef GAVEL_WIRE_FRAME_H
#define GAVEL_WIRE_FRAME_H

#include "base/str.h"

/* The same bits as in a record's flags (event/record.h). */
enum frame_flag {
	FRAME_TRUNCATED = 1 << 0, /* the input ended inside this line or file */
	FRAME_OVERSIZE = 1 << 1,  /* over the limit: skipped, only its length is known */
};

enum { FRAME_MAX_BYTES = 16 << 20 }; /* default limit */

/* UTF-8 byte order mark at the start of a file; not part of any frame. */
#define BOM "\xef\xbb\xbf"
enum { BOM_BYTES = sizeof(BOM) - 1 };

struct frame {
	struct str bytes;     /* without BOM and line end; empty when oversize */
	uint64_t offset;      /* of the first byte in its file */
	uint64_t full_length; /* bytes.n, or what it would be without the limit */
	uint32_t line;        /* from 1, blank ones count; of a document, the element's number */
	unsigned flags;       /* enum frame_flag */
};

typedef void (*frame_fn)(void *ctx, const struct frame *frame);
/* Optional shortcut past memchr: returns the newline that ends the line at p, or NULL if it cannot
 * tell. There is a newline before `end`. */
typedef const char *(*newline_fn)(void *ctx, const char *p, const char *end);

#endif
