/* Drafts to and from the JSON of a team's store. */
#include "decide/draft_words.h"

#include "json/compose.h"

static void put_if(struct buf *out, const char *name, struct str s)
{
	if (s.n)
		json_put_str(out, name, s);
}

void draft_words_put(const struct draft *draft, struct str artifact, struct buf *out)
{
	put_if(out, "reason_code", draft->reason_code);
	put_if(out, "explanation", draft->explanation);
	put_if(out, "answer", draft->answer);
	if (draft->option)
		json_put_number(out, "option", draft->option);
	if (draft->input)
		json_put_number(out, "input", draft->input);
	put_if(out, "artifact", artifact);
	if (draft->sure)
		json_put_bool(out, "sure", true);
}

void draft_words_write(const struct draft *draft, struct str artifact, struct buf *out)
{
	buf_addc(out, '{');
	json_put_name(out, "verb", verb_name(draft->verb));
	draft_words_put(draft, artifact, out);
	buf_addc(out, '}');
}

static struct str read_text(yyjson_val *v, const char *name, struct arena *words)
{
	struct str s = json_get_str(v, name);

	return s.n ? arena_str(words, s) : STR_NONE;
}

static uint32_t read_number(yyjson_val *v, const char *name)
{
	int64_t n;

	return json_int(json_get(v, name), &n) && n > 0 && n < UINT32_MAX ? (uint32_t)n : 0;
}

int draft_words_read(struct str json, struct draft *draft, struct str *artifact, struct arena *words,
		     struct err *err)
{
	struct json_reader reader = { 0 };
	yyjson_val *v;
	int rc = 0;

	if (json_read(&reader, json, &v) != JSON_OK ||
	    !verb_named(json_get_str(v, "verb"), &draft->verb)) {
		rc = err_set(err, "the store has a decision that this gavel cannot read; use a newer one");
	} else {
		draft->reason_code = read_text(v, "reason_code", words);
		draft->explanation = read_text(v, "explanation", words);
		draft->answer = read_text(v, "answer", words);
		draft->option = read_number(v, "option");
		draft->input = read_number(v, "input");
		draft->sure = yyjson_is_true(json_get(v, "sure"));
		*artifact = read_text(v, "artifact", words);
	}
	json_reader_release(&reader);
	return rc;
}
