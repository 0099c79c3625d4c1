/* The journal's records: what each looks like, and what it does to the desk. */
#include "decide/records.h"

#include "dialect/dialect.h"

bool letter_is_unfinished(const struct letter *l)
{
	switch (l->state) {
	case LETTER_INTENT: return l->channel != CHANNEL_NONE;
	case LETTER_ATTEMPT:
	case LETTER_HELD: return true;
	case LETTER_SENT:
	case LETTER_ACKED:
	case LETTER_VOID: return false;
	}
	return false;
}

bool letter_is_empty(const struct desk *d, const struct letter *l)
{
	bool dismisses = l->channel == CHANNEL_NONE && l->drafts.n &&
			 d->drafts.v[l->drafts.v[0]].verb == VERB_DISMISS;

	return !dismisses && !str_trim(l->bytes).n;
}

/* ---- writing ---- */

static void put_if(struct buf *out, const char *name, struct str s)
{
	if (s.n)
		json_put_str(out, name, s);
}

/* The source's own session is named after the source as it was given; the journal names it by "",
 * for it may be given by another name tomorrow. */
void record_draft(const struct desk *d, const struct draft *draft, struct buf *out)
{
	buf_adds(out, "{\"state\":\"DRAFT\"");
	json_put_name(out, "id", draft->id);
	json_put_int(out, "time", draft->time_ms);
	json_put_str(out, "session", str_eq(draft->session, d->group) ? STR("") : draft->session);
	json_put_name(out, "kind", item_kind_name(draft->kind));
	json_put_str(out, "item", draft->item);
	json_put_name(out, "dialect", dialect_name(draft->dialect));
	json_put_str(out, "rev", draft->rev);
	json_put_name(out, "verb", verb_name(draft->verb));
	json_put_str(out, "by", draft->by);
	json_put_number(out, "seen", draft->seen);
	put_if(out, "reason_code", draft->reason_code);
	put_if(out, "explanation", draft->explanation);
	put_if(out, "answer", draft->answer);
	put_if(out, "artifact", draft->artifact);
	if (draft->sure)
		json_put_bool(out, "sure", true);
	put_if(out, "corrects", draft->corrects);
	buf_addc(out, '}');
}

static void put_drafts(const struct desk *d, const struct letter *l, struct buf *out)
{
	json_key(out, "drafts");
	buf_addc(out, '[');
	for (uint32_t i = 0; i < l->drafts.n; i++) {
		json_comma(out);
		json_write_str(out, str_of(d->drafts.v[l->drafts.v[i]].id));
	}
	buf_addc(out, ']');
}

void record_intent(const struct desk *d, const struct letter *l, struct buf *out)
{
	buf_adds(out, "{\"state\":\"INTENT\"");
	json_put_name(out, "id", l->id);
	json_put_int(out, "time", l->time_ms);
	put_drafts(d, l, out);
	json_put_name(out, "dialect", dialect_name(l->dialect));
	json_put_name(out, "channel", channel_type_name(l->channel));
	json_put_str(out, "path", l->path);
	json_put_str(out, "to", l->to);
	put_if(out, "expect", l->expect);
	json_put_str(out, "bytes", l->bytes);
	buf_addc(out, '}');
}

void record_step(const char *state, const char *ref, struct buf *out)
{
	buf_printf(out, "{\"state\":\"%s\",\"ref\":\"%s\",\"time\":%lld", state, ref,
		   (long long)timestamp_now_ms());
}

void record_attempt(const struct desk *d, const struct letter *l, struct buf *out)
{
	record_step("ATTEMPT", l->id, out);
	put_drafts(d, l, out);
	json_put_number(out, "offset", l->attempt.offset);
	json_put_number(out, "dev", l->attempt.dev);
	json_put_number(out, "ino", l->attempt.ino);
	json_put_bool(out, "lead", l->attempt.lead);
	json_put_number(out, "print", l->attempt.print);
	buf_addc(out, '}');
}

void record_sent(const struct desk *d, const struct letter *l, struct buf *out)
{
	record_step("SENT", l->id, out);
	put_drafts(d, l, out);
	buf_addc(out, '}');
}

void record_held(const struct letter *l, struct str why, bool certain, struct buf *out)
{
	record_step("HELD", l->id, out);
	json_put_str(out, "why", why);
	json_put_bool(out, "certain", certain);
	buf_addc(out, '}');
}

/* ---- taking back ---- */

static struct str keep(struct desk *d, yyjson_val *v, const char *name)
{
	struct str s = json_get_str(v, name);

	return s.p ? arena_str(&d->arena, s) : STR_NONE;
}

static int64_t number(yyjson_val *v, const char *name)
{
	int64_t n = 0;

	json_int(json_get(v, name), &n);
	return n;
}

/* Of the file system: all 64 bits may be used. */
static uint64_t count(yyjson_val *v, const char *name)
{
	return yyjson_get_uint(json_get(v, name));
}

static bool take_id(yyjson_val *v, const char *name, char out[DECISION_ID_SIZE])
{
	struct str id = json_get_str(v, name);

	if (id.n != DECISION_ID_SIZE - 1)
		return false;
	memcpy(out, id.p, id.n);
	out[id.n] = '\0';
	return true;
}

uint64_t record_item_key(enum item_kind kind, struct str name)
{
	return hash_mix(str_hash(name), (uint64_t)kind);
}

static uint32_t find_draft(const struct desk *d, struct str id)
{
	for (uint32_t it = 0, i; map_next(&d->draft_ids, str_hash(id), &it, &i);)
		if (str_is(id, d->drafts.v[i].id))
			return i;
	return NONE;
}

static uint32_t find_letter(const struct desk *d, struct str id)
{
	for (uint32_t it = 0, i; map_next(&d->letter_ids, str_hash(id), &it, &i);)
		if (str_is(id, d->letters.v[i].id))
			return i;
	return NONE;
}

/* A name that gavel made up from the kind and the line: such an item never changes, but two files
 * of a folder may each have one. */
static bool is_made_up(const struct draft *draft)
{
	struct str kind = str_of(item_kind_name(draft->kind));

	return str_starts(draft->item, kind) && draft->item.n > kind.n &&
	       draft->item.p[kind.n] == '@';
}

/* Whether a new draft takes the place of a staged one. */
static bool replaces(const struct draft *draft, const struct draft *old)
{
	return old->state == DRAFT_STAGED && old->kind == draft->kind &&
	       str_eq(old->item, draft->item) && str_eq(old->session, draft->session) &&
	       (!is_made_up(draft) || str_eq(old->rev, draft->rev));
}

static void take_draft(struct desk *d, yyjson_val *v)
{
	struct draft draft = { .state = DRAFT_STAGED, .letter = NONE, .number = NONE };
	uint64_t key;

	if (!item_kind_named(json_get_str(v, "kind"), &draft.kind) ||
	    !dialect_named(json_get_str(v, "dialect"), &draft.dialect) ||
	    !verb_named(json_get_str(v, "verb"), &draft.verb) || !take_id(v, "id", draft.id) ||
	    find_draft(d, str_of(draft.id)) != NONE)
		return;
	draft.session = keep(d, v, "session");
	if (!draft.session.n)
		draft.session = d->group;
	draft.item = keep(d, v, "item");
	draft.rev = keep(d, v, "rev");
	draft.seen = (uint32_t)number(v, "seen");
	draft.reason_code = keep(d, v, "reason_code");
	draft.explanation = keep(d, v, "explanation");
	draft.answer = keep(d, v, "answer");
	draft.artifact = keep(d, v, "artifact");
	draft.sure = yyjson_is_true(json_get(v, "sure"));
	draft.by = keep(d, v, "by");
	draft.time_ms = number(v, "time");
	draft.corrects = keep(d, v, "corrects");
	/* the newest word on an item counts */
	key = record_item_key(draft.kind, draft.item);
	for (uint32_t it = 0, i; map_next(&d->item_drafts, key, &it, &i);)
		if (replaces(&draft, &d->drafts.v[i]))
			d->drafts.v[i].state = DRAFT_VOID;
	map_add(&d->item_drafts, key, d->drafts.n);
	map_add(&d->draft_ids, str_hash(str_of(draft.id)), d->drafts.n);
	vec_push(&d->drafts, draft);
}

/* Puts it on the desk with its drafts, a list of ids. */
static void add_letter(struct desk *d, struct letter *l, yyjson_val *drafts)
{
	yyjson_val *one;
	size_t i, n;

	yyjson_arr_foreach(drafts, i, n, one) {
		uint32_t draft = find_draft(d, json_str(one));

		if (draft == NONE)
			continue;
		vec_push(&l->drafts, draft);
		d->drafts.v[draft].state = DRAFT_WRITTEN;
		d->drafts.v[draft].letter = d->letters.n;
	}
	map_add(&d->letter_ids, str_hash(str_of(l->id)), d->letters.n);
	vec_push(&d->letters, *l);
}

/* batch: number of the first letter that was recorded with it. */
static void take_intent(struct desk *d, yyjson_val *v, uint32_t batch)
{
	struct letter l = { .state = LETTER_INTENT, .batch = batch };

	if (!take_id(v, "id", l.id) || find_letter(d, str_of(l.id)) != NONE ||
	    !dialect_named(json_get_str(v, "dialect"), &l.dialect) ||
	    !channel_type_parse(json_get_str(v, "channel"), &l.channel))
		return;
	l.path = keep(d, v, "path");
	l.bytes = keep(d, v, "bytes");
	l.to = keep(d, v, "to");
	l.expect = keep(d, v, "expect");
	l.time_ms = number(v, "time");
	add_letter(d, &l, json_get(v, "drafts"));
}

/* A damaged journal may have lost the text of a letter. That it was on its way is known all the
 * same: its drafts must not be sent a second time. */
static uint32_t take_orphan(struct desk *d, yyjson_val *v)
{
	struct letter l = { .channel = CHANNEL_NONE, .path = STR(""), .bytes = STR(""),
			    .to = STR(""), .batch = d->letters.n };
	yyjson_val *drafts = json_get(v, "drafts");
	uint32_t first = find_draft(d, json_str(yyjson_arr_get_first(drafts)));

	if (first == NONE || !take_id(v, "ref", l.id))
		return NONE;
	l.dialect = d->drafts.v[first].dialect;
	add_letter(d, &l, drafts);
	return d->letters.n - 1;
}

static void take_intents(struct desk *d, yyjson_val *list)
{
	uint32_t batch = d->letters.n;
	yyjson_val *v;
	size_t i, n;

	if (yyjson_is_arr(list))
		yyjson_arr_foreach(list, i, n, v)
			take_intent(d, v, batch);
}

static void take_attempt(struct letter *l, yyjson_val *v)
{
	l->state = LETTER_ATTEMPT;
	l->attempt = (struct attempt){ .offset = count(v, "offset"),
				       .dev = count(v, "dev"),
				       .ino = count(v, "ino"),
				       .lead = yyjson_is_true(json_get(v, "lead")),
				       .print = (uint32_t)number(v, "print") };
	l->tried = l->uncertain = true; /* until its end is told */
	l->tries++;
}

/* With a decision go the letters that only accompany it, unless they may have arrived. */
static void take_void(struct desk *d, struct letter *l)
{
	l->state = LETTER_VOID;
	for (uint32_t i = 0; i < l->drafts.n; i++)
		d->drafts.v[l->drafts.v[i]].state = DRAFT_VOID;
	for (uint32_t i = l->batch; l->drafts.n && i < d->letters.n; i++) {
		struct letter *other = &d->letters.v[i];

		if (other->batch == l->batch && !other->drafts.n && letter_is_unfinished(other) &&
		    !(other->tried && other->uncertain))
			other->state = LETTER_VOID;
	}
}

/* A record about something that is already on the desk. */
static void take_step(struct desk *d, struct str state, yyjson_val *v)
{
	uint32_t at = find_letter(d, json_get_str(v, "ref"));
	struct letter *l;

	if (at == NONE)
		at = take_orphan(d, v);
	l = at == NONE ? NULL : &d->letters.v[at];
	if (!l) {
		at = find_draft(d, json_get_str(v, "ref"));
		if (at != NONE && str_is(state, "VOID") && d->drafts.v[at].state == DRAFT_STAGED)
			d->drafts.v[at].state = DRAFT_VOID;
		return;
	}
	l->time_ms = number(v, "time");
	if (str_is(state, "ATTEMPT")) {
		take_attempt(l, v);
	} else if (str_is(state, "ACKED")) {
		l->state = LETTER_ACKED;
	} else if (l->state == LETTER_ACKED) {
		return; /* the log knew before the channel did */
	} else if (str_is(state, "SENT")) {
		l->state = LETTER_SENT;
		l->uncertain = false;
	} else if (str_is(state, "HELD")) {
		l->state = LETTER_HELD;
		l->why = keep(d, v, "why");
		l->uncertain = !yyjson_is_true(json_get(v, "certain"));
	} else if (str_is(state, "MOVED")) {
		l->path = keep(d, v, "path");
	} else if (str_is(state, "VOID")) {
		take_void(d, l);
	}
}

void record_take(struct desk *d, struct str json)
{
	struct json_reader reader = { 0 };
	yyjson_val *v;
	struct str state;

	if (json_read(&reader, json, &v) == JSON_OK) {
		state = json_get_str(v, "state");
		if (str_is(state, "OPEN")) {
			if (!d->source.n)
				d->source = keep(d, v, "source");
		} else if (str_is(state, "DRAFT")) {
			take_draft(d, v);
		} else if (str_is(state, "INTENT")) {
			take_intent(d, v, d->letters.n);
		} else if (str_is(state, "INTENTS")) {
			take_intents(d, json_get(v, "list"));
		} else {
			take_step(d, state, v);
		}
	}
	json_reader_release(&reader);
}
