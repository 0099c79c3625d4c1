/* Finds the newest Request of a feedback session, and composes the artifact of the next one: the
 * attached file, else the object of the newest Request, byte for byte. A Request has no session id;
 * the model knows which ones belong to a session. */
#include "encode/encode_request.h"

#include "encode/attach.h"
#include "encode/raw_member.h"
#include "decide/records.h"
#include "json/compose.h"
#include "wire/frame.h"

/* ,"name": and the member's raw text, if found, else the parsed value. */
static void put_member(struct buf *b, struct str object, yyjson_val *parsed, const char *name)
{
	struct str text = raw_member(object, name);

	json_key(b, name);
	if (text.n)
		add_on_one_line(b, text);
	else
		json_write(b, json_get(parsed, name));
}

/* ---- the session's newest Request ---- */

/* false if the bytes are no Request. */
static bool read_request(struct encoding *e, struct str bytes, struct sent_request *out)
{
	yyjson_val *root;
	enum json_outcome outcome = json_read(&e->json, bytes, &root);

	if (outcome == JSON_NOT || outcome == JSON_TOO_DEEP || !json_get(root, "artifact"))
		return false;
	*out = (struct sent_request){ .bytes = keep_str(e, bytes),
				      .broken = outcome == JSON_REPAIRED };
	json_int(json_get(root, "iteration"), &out->iteration);
	return true;
}

bool find_unsent_request(struct encoding *e, struct str session, struct sent_request *out)
{
	for (uint32_t n = e->desk->letters.n; n-- > 0;) {
		const struct letter *l = &e->desk->letters.v[n];

		if (l->dialect == DIALECT_FEEDBACK && letter_is_unfinished(l) && l->drafts.n &&
		    str_eq(e->desk->drafts.v[l->drafts.v[0]].session, session) &&
		    read_request(e, str_trim(l->bytes), out))
			return true;
	}
	return false;
}

struct sent_request find_request(struct encoding *e, const struct turn_state *turn,
				 int64_t iteration)
{
	struct sent_request found = { 0 };

	if (turn->request != NONE && !turn->unsure &&
	    read_request(e, e->reader->bytes(e->reader->ctx, turn->request), &found)) {
		unsigned flags = message_route(e->model, turn->request)->flags;

		found.broken |= (flags & (RECORD_REPAIRED | RECORD_AMBIGUOUS)) != 0;
		if (iteration && found.iteration != iteration)
			found = (struct sent_request){ 0 };
	}
	return found;
}

/* ---- the artifact ---- */

struct artifact {
	struct str json;       /* the object; empty = none */
	struct str media_type; /* empty = missing or invalid */
	struct str text;       /* content, if it is a string */
};

static bool is_extension(yyjson_val *key)
{
	return str_starts(json_str(key), STR("x-"));
}

/* Only members of the protocol, and extensions. */
static bool has_only(yyjson_val *object, const char *const *known)
{
	yyjson_val *key, *value;
	size_t i, n;

	if (!yyjson_is_obj(object))
		return true;
	yyjson_obj_foreach(object, i, n, key, value)
		if (value_index(known, json_str(key)) < 0 && !is_extension(key))
			return false;
	return true;
}

/* Whether the artifact is valid in a Request. */
static bool is_clean(yyjson_val *artifact)
{
	static const char *const known[] = { "media_type", "content", "artifact_ref", NULL };
	yyjson_val *ref = json_get(artifact, "artifact_ref");

	return has_only(artifact, known) &&
	       is_mime(json_get_str(artifact, "media_type")) && (!ref || yyjson_is_str(ref));
}

static struct artifact last_artifact(struct encoding *e, const struct sent_request *request)
{
	struct artifact a = { 0 };
	struct buf b = { 0 };
	struct str text;
	yyjson_val *root, *v;

	if (!request->bytes.n || request->broken)
		return a;
	json_read(&e->json, request->bytes, &root);
	v = json_get(root, "artifact");
	if (!json_get(v, "content"))
		return a;
	if (is_mime(json_get_str(v, "media_type")))
		a.media_type = keep_str(e, json_get_str(v, "media_type"));
	if (yyjson_is_str(json_get(v, "content")))
		a.text = keep_str(e, json_get_str(v, "content"));
	text = raw_member(request->bytes, "artifact");
	if (is_clean(v) && text.n) {
		add_on_one_line(&b, text);
	} else {
		buf_addc(&b, '{');
		json_put_str(&b, "media_type", a.media_type.n ? a.media_type : STR("text/plain"));
		put_member(&b, text, v, "content");
		if (yyjson_is_str(json_get(v, "artifact_ref")))
			json_put_str(&b, "artifact_ref", json_get_str(v, "artifact_ref"));
		buf_addc(&b, '}');
	}
	a.json = keep_buf(e, &b);
	return a;
}

struct next_artifact compose_artifact(struct encoding *e, struct proposal *p,
				      const struct sent_request *last, const char *path)
{
	struct artifact seen = last_artifact(e, last);
	struct next_artifact out = { .attached = path != NULL };
	struct attachment file;
	struct buf b = { 0 };
	struct err err;

	if (!path) {
		out.json = seen.json;
		out.same = true;
		return out;
	}
	if (attach_read(&e->plan->arena, path, &file, &err) != 0) {
		propose_missing(e, p, "%s", err.text);
		return out;
	}
	out.same = seen.text.p && str_eq(seen.text, file.content);
	if (out.same)
		propose_caution(e, p, "%s says the same as the artifact of the last turn", path);
	buf_addc(&b, '{');
	json_put_str(&b, "media_type",
		     file.media_type	 ? str_of(file.media_type) :
		     seen.media_type.n ? seen.media_type :
					   STR("text/plain"));
	json_put_str(&b, "content", file.content);
	json_put_str(&b, "artifact_ref", file.ref);
	buf_addc(&b, '}');
	out.json = keep_buf(e, &b);
	return out;
}

/* Whether a Request is complete and valid, and can be resent unchanged. */
static bool is_whole(yyjson_val *root, int64_t iteration)
{
	static const char *const known[] = { "protocol_version", "iteration", "artifact",
					     "applied_feedback", NULL };

	return str_is(json_get_str(root, "protocol_version"), "1.2") && has_only(root, known) &&
	       is_clean(json_get(root, "artifact")) &&
	       (iteration < 2 || yyjson_is_obj(json_get(root, "applied_feedback")));
}

void begin_request(struct buf *b, int64_t iteration, struct str artifact)
{
	buf_addc(b, '{');
	json_put_name(b, "protocol_version", "1.2");
	json_put_int(b, "iteration", iteration);
	json_key(b, "artifact");
	buf_add_str(b, artifact);
}

static void put_corrected(struct encoding *e, const struct sent_request *request,
			  struct str artifact, struct buf *b)
{
	yyjson_val *root, *key, *value;
	size_t i, n;

	json_read(&e->json, request->bytes, &root);
	begin_request(b, request->iteration, artifact);
	if (yyjson_is_obj(json_get(root, "applied_feedback")))
		put_member(b, request->bytes, root, "applied_feedback");
	else if (request->iteration > 1)
		buf_adds(b, ",\"applied_feedback\":{\"items\":[]}");
	if (yyjson_is_obj(root))
		yyjson_obj_foreach(root, i, n, key, value)
			if (is_extension(key))
				json_put_member(b, key, value);
	buf_addc(b, '}');
}

void compose_resend(struct encoding *e, struct proposal *p, const struct sent_request *request,
		    struct str artifact)
{
	bool edited = artifact.n > 0, whole;
	struct buf b = { 0 };
	yyjson_val *root;

	json_read(&e->json, request->bytes, &root);
	whole = is_whole(root, request->iteration);
	if (!edited)
		artifact = last_artifact(e, request).json;
	if (!whole)
		propose_caution(e, p, "the Request that failed did not keep to the protocol; what "
				      "it lacked is supplied");
	if (!artifact.n)
		propose_missing(e, p, "the Request that failed has no content to send again; "
				      "dismiss the error, or let the requester send it anew");
	else if (whole && !edited)
		add_on_one_line(&b, request->bytes);
	else
		put_corrected(e, request, artifact, &b);
	if (b.n)
		set_request_bytes(e, p, &b);
	buf_release(&b);
}

void set_request_bytes(struct encoding *e, struct proposal *p, struct buf *b)
{
	if (b->n > FRAME_MAX_BYTES)
		propose_missing(e, p,
				"the Request would have %zu bytes, over %d; attach a smaller file",
				b->n, FRAME_MAX_BYTES);
	else
		proposal_set_bytes(e, p, b);
}
