/* Short names of sessions where there are several: what tells them apart in a few columns.
 *   named after a file           the file's name, without folders
 *   a UUID                       its first 8 characters
 *   ses_0123456789abcdefXYZ …    the last 8 characters of a long identifier: its head is often a time
 *   anything else                as it is
 * Where two would be the same, a file has as many folders as tell them apart, others their whole name;
 * where these are the same, the source goes in front.
 *
 * Made with the lines of a view, in their arena (lines->labels). */
#ifndef GAVEL_VIEW_SESSION_LABEL_H
#define GAVEL_VIEW_SESSION_LABEL_H

#include "model/session_of.h"
#include "view/view_parts.h"

struct session_labels;

/* Sets lines->labels; NULL there: as of the scene there is only one session. */
void session_labels_make(const struct scene *s, struct lines *lines);
/* As many columns as the longest label needs, up to max; 0 where there are no labels. */
int session_labels_width(const struct lines *lines, int max);
/* Fits a column of labels, which is late in its table: it is left out where there are no labels, and
 * comes early, with that rank, where there are several sources. */
void session_column(const struct scene *s, const struct lines *lines, struct column *column, int rank);
/* The session that a message belongs to: model/session_of.h. */
uint32_t message_session(const struct scene *s, const struct lines *lines, uint32_t message);
/* Draws nothing where there are no labels. */
void pen_session(struct pen *p, enum role role, const struct scene *s, const struct lines *lines,
		 uint32_t session);
/* The short form of a name alone, whatever the others are called. */
struct str session_short(const struct model *m, uint32_t session);
/* " · FILE" where there are several, for what stands behind a line number. */
void pen_source(struct pen *p, const struct scene *s, uint32_t message);
/* A path without its folders. */
struct str path_base(struct str path);

#endif
