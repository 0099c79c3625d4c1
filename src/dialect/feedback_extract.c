/* Extracts a Response of the feedback protocol from a text: the whole text, or an object within
 * prose or a code fence. */
#include "dialect/feedback.h"

/* Score of how much an object looks like a Response. */
static unsigned response_score(yyjson_val *v, const struct names *names)
{
	unsigned has = dialect_has(&dialect_feedback, v, names);

	if (HAS(ARTIFACT))
		return 0; /* a quoted Request */
	return HAS(VERSION) + HAS(ITERATION) +
	       (HAS(STATUS) && yyjson_is_str(json_get(v, "status"))) +
	       2u * (HAS(FEEDBACK) && yyjson_is_obj(json_get(v, "feedback"))) + 2 * HAS(ACK) +
	       HAS(ERROR);
}

/* The last object in prose that looks like a Response, or NULL. */
static yyjson_val *response_in_prose(struct decoder *d, struct str prose, bool *repaired)
{
	struct json_reader *inner = d->last_wins ? &d->last_inner : &d->inner;
	struct str span, best = STR_NONE;
	size_t at = 0, budget = prose.n * 4 + 4096;
	yyjson_val *found = NULL; /* tree of `best`, until the reader is reused */
	enum json_outcome outcome;

	for (int tries = 0; tries < 64 && json_next_object(prose, &at, &span, &budget); tries++) {
		yyjson_val *v;

		outcome = decoder_read(d, inner, span, &v);
		found = NULL;
		if (!v)
			continue;
		at = (size_t)(span.p - prose.p) + span.n; /* skip nested objects */
		if (response_score(v, inner->names) >= 3) {
			best = span;
			found = v;
			*repaired = outcome == JSON_REPAIRED;
		}
	}
	if (!found && best.p)
		decoder_read(d, inner, best, &found);
	return found;
}

static yyjson_val *search_text(struct decoder *d, yyjson_val *part_text, bool *repaired,
			       bool *broken)
{
	struct json_reader *inner = d->last_wins ? &d->last_inner : &d->inner;
	struct str text = json_str(part_text), body = str_trim(text);
	yyjson_val *v;
	enum json_outcome outcome;

	if (body.n && body.p[0] == '{') {
		/* unescaping has left a shorter text with a NUL after it: room to parse in place */
		inner->in_place = !(part_text->tag & YYJSON_SUBTYPE_NOESC);
		outcome = decoder_read(d, inner, body, &v);
		inner->in_place = false;
		*repaired = outcome == JSON_REPAIRED;
		if (v)
			return response_score(v, inner->names) >= 2 ? v : NULL;
	}
	v = response_in_prose(d, text, repaired);
	*broken = !v && str_find(text, STR("\"protocol_version\""), 0) >= 0 &&
		  (str_find(text, STR("\"iteration\""), 0) >= 0 ||
		   str_find(text, STR("\"status\""), 0) >= 0);
	return v;
}

/* Parsing in place uses the text up, so the other reading of a message goes on with the same tree. */
yyjson_val *find_response(struct decoder *d, yyjson_val *part_text, bool *repaired, bool *broken)
{
	*repaired = *broken = false;
	if (!d->response_in || d->response_in != part_text) {
		d->response_in = part_text;
		d->response = search_text(d, part_text, repaired, broken);
	}
	if (d->last_wins)
		json_last_wins(d->response);
	return d->response;
}
