/* Incremental scanner that tells a JSON document from JSON lines, and splits a document into the
 * elements of its top-level array or of the `messages` array of a top-level object. It tracks only
 * strings, escapes and brackets: no tree, constant memory. It does not validate the elements.
 *
 * Feed it pieces of any size, from the first byte on, until the state is SCAN_REJECTED or the input
 * ends. The file is one value exactly if it ends in SCAN_AFTER.
 *
 * A log whose first line is truncated looks much like a multi-line value. It is rejected when a
 * line ends inside a string, or begins with a bracket where no value can begin. */
#ifndef GAVEL_WIRE_SCAN_H
#define GAVEL_WIRE_SCAN_H

#include "base/str.h"

enum { SCAN_DEPTH_MAX = 1 << 16, SCAN_SESSION_MAX = 256 };

enum scan_state {
	SCAN_BEFORE, /* only blanks yet */
	SCAN_INSIDE,
	SCAN_AFTER, /* the value is complete and only blanks came after it */
	SCAN_REJECTED,   /* not one JSON object or array */
};

enum scan_last { SCAN_OPEN, SCAN_COMMA, SCAN_COLON, SCAN_VALUE };

/* An element is the bytes [start, end). Numbers count from 1. */
typedef void (*element_fn)(void *ctx, uint64_t start, uint64_t end, uint32_t number);

struct scan {
	enum scan_state state;
	uint64_t value_start, value_end;
	bool is_array;
	bool has_elements; /* an array, or an object with messages[] */
	bool has_objects;  /* some element is an object */
	bool many_lines;   /* the value goes on after its first line */
	char session[SCAN_SESSION_MAX]; /* top-level session_id, escapes as written */
	unsigned session_n;             /* 0: none, or too long */

	/* private */
	uint64_t offset;
	unsigned bom;
	bool at_line_start, in_string, escaped;
	enum scan_last last; /* kind of the last token */
	uint32_t depth;
	uint32_t elements_depth; /* of the array that is split, 0 outside */
	uint32_t number;
	bool in_element;
	uint64_t element_start, element_end;
	char text[SCAN_SESSION_MAX + 1]; /* the top-level string being read, truncated */
	unsigned text_n;
	char key[16]; /* the last top-level name, "" if too long to matter */
	uint8_t arrays[SCAN_DEPTH_MAX / 8]; /* bitmap by depth: array or object; last, not zeroed */
};

void scan_init(struct scan *s, uint64_t offset);
/* Whether the first bytes of a file are those of most logs: a line that begins and ends like an
 * object, and another one that begins like one. Whatever is between, the scanner would reject it. */
bool scan_begins_log(struct str piece);
/* element may be NULL. */
void scan_feed(struct scan *s, struct str piece, element_fn element, void *ctx);

#endif
