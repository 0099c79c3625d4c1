/* Journal records as JSON: serialization, and replay into the desk's drafts and letters. */
#include "decide/records.h"
#include "decide/draft_words.h"

#include "dialect/dialect.h"

#include <stdlib.h>

bool letter_is_unfinished(const struct letter *l)
{
	return l->state == LETTER_ATTEMPT || l->state == LETTER_HELD ||
	       (l->state == LETTER_INTENT && l->channel != CHANNEL_NONE);
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

void record_open(const struct desk *d, struct buf *out)
{
	buf_adds(out, "{\"state\":\"OPEN\",\"gavel\":1");
	json_put_str(out, "source", d->source);
	json_put_int(out, "time", timestamp_now_ms());
	if (d->file.ino) {
		json_open(out, "file", '{');
		json_put_number(out, "dev", d->file.dev);
		json_put_number(out, "ino", d->file.ino);
		json_put_number(out, "born", (uint64_t)d->file.born_ns);
		json_put_name(out, "head", d->file.head);
		buf_addc(out, '}');
	}
	buf_addc(out, '}');
}

/* What was decided and by whom, without the words. The source's own session is named after the source
 * as typed, which may differ next time; the journal stores it as "". */
static void put_decision(const struct desk *d, const struct draft *draft, struct buf *out)
{
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
	put_if(out, "team", draft->team);
}

void record_draft(const struct desk *d, const struct draft *draft, struct buf *out)
{
	buf_adds(out, "{\"state\":\"DRAFT\"");
	put_decision(d, draft, out);
	draft_words_put(draft, draft->artifact, out);
	put_if(out, "corrects", draft->corrects);
	buf_addc(out, '}');
}

void record_begin_drafts(struct buf *out)
{
	buf_printf(out, "{\"state\":\"DRAFTS\",\"time\":%lld", (long long)timestamp_now_ms());
	json_open(out, "decides", '[');
}

static void put_ids(const struct desk *d, const uint32_t *drafts, uint32_t n, struct buf *out)
{
	json_open(out, "drafts", '[');
	for (uint32_t i = 0; i < n; i++) {
		json_comma(out);
		json_write_str(out, str_of(d->drafts.v[drafts[i]].id));
	}
	buf_addc(out, ']');
}

void record_void_drafts(const struct desk *d, const uint32_t *drafts, uint32_t n, struct buf *out)
{
	record_step("VOID", d->drafts.v[drafts[0]].id, out);
	put_ids(d, drafts, n, out);
	buf_addc(out, '}');
}

static void put_drafts(const struct desk *d, const struct letter *l, struct buf *out)
{
	put_ids(d, l->drafts.v, l->drafts.n, out);
	if (!l->drafts.n)
		return;
	json_open(out, "decides", '[');
	for (uint32_t i = 0; i < l->drafts.n; i++) {
		json_comma(out);
		buf_addc(out, '{');
		put_decision(d, &d->drafts.v[l->drafts.v[i]], out);
		buf_addc(out, '}');
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
	if (l->aside)
		json_put_bool(out, "aside", true);
	json_put_str(out, "bytes", l->bytes);
	buf_addc(out, '}');
}

void record_done(const struct desk *d, const struct letter *l, struct buf *out)
{
	buf_adds(out, "{\"state\":\"DONE\"");
	json_put_name(out, "id", l->id);
	json_put_int(out, "time", l->time_ms);
	put_drafts(d, l, out);
	json_put_name(out, "dialect", dialect_name(l->dialect));
	buf_addc(out, '}');
}

void record_put_anchor(const struct anchor *at, struct buf *out)
{
	if (!at->file.n)
		return;
	json_open(out, "at", '{');
	json_put_str(out, "file", at->file);
	json_put_number(out, "offset", at->offset);
	json_put_number(out, "print", at->print);
	buf_addc(out, '}');
}

void record_step(const char *state, const char *ref, struct buf *out)
{
	buf_adds(out, "{\"state\":\"");
	buf_adds(out, state);
	buf_adds(out, "\",\"ref\":\"");
	buf_adds(out, ref);
	buf_adds(out, "\",\"time\":");
	buf_add_i64(out, timestamp_now_ms());
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
	record_put_anchor(&l->at, out);
	buf_addc(out, '}');
}

void record_sent(const struct desk *d, const struct letter *l, struct buf *out)
{
	record_step("SENT", l->id, out);
	put_drafts(d, l, out);
	record_put_anchor(&l->at, out);
	buf_addc(out, '}');
}

void record_held(const struct letter *l, struct str why, bool certain, struct buf *out)
{
	record_step("HELD", l->id, out);
	json_put_str(out, "why", why);
	json_put_bool(out, "certain", certain);
	buf_addc(out, '}');
}

/* ---- replaying ---- */

static struct str read_str(struct desk *d, yyjson_val *v, const char *name)
{
	struct str s = json_get_str(v, name);

	return s.p ? arena_str(&d->arena, s) : STR_NONE;
}

static int64_t read_int(yyjson_val *v, const char *name)
{
	int64_t n = 0;

	json_int(json_get(v, name), &n);
	return n;
}

/* For offsets, inodes and nanoseconds, which need more than 53 bits. */
static uint64_t read_u64(yyjson_val *v, const char *name)
{
	return yyjson_get_uint(json_get(v, name));
}

static bool read_id(yyjson_val *v, const char *name, char out[DECISION_ID_SIZE])
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

const struct draft *desk_draft_named(const struct desk *d, struct str id)
{
	uint32_t found = id.n ? find_draft(d, id) : NONE;

	return found == NONE ? NULL : &d->drafts.v[found];
}

static uint32_t find_letter(const struct desk *d, struct str id)
{
	for (uint32_t it = 0, i; map_next(&d->letter_ids, str_hash(id), &it, &i);)
		if (str_is(id, d->letters.v[i].id))
			return i;
	return NONE;
}

/* A name generated from kind and line. Such an item never changes, but is not unique: two files of
 * a folder may have one each. */
static bool has_generated_name(const struct draft *draft)
{
	struct str kind = str_of(item_kind_name(draft->kind));

	return str_starts(draft->item, kind) && draft->item.n > kind.n &&
	       draft->item.p[kind.n] == '@';
}

static bool supersedes(const struct draft *draft, const struct draft *old)
{
	return old->state == DRAFT_STAGED &&
	       draft_is_on(old, draft->session, draft->kind, draft->item) &&
	       (!has_generated_name(draft) || str_eq(old->rev, draft->rev));
}

/* batch: number of the first draft that was staged with it. */
static void apply_draft(struct desk *d, yyjson_val *v, uint32_t batch)
{
	struct draft draft = { .state = DRAFT_STAGED, .letter = NONE, .number = NONE,
			       .raise = NONE, .batch = batch };
	uint64_t key;

	if (!item_kind_named(json_get_str(v, "kind"), &draft.kind) ||
	    !dialect_named(json_get_str(v, "dialect"), &draft.dialect) ||
	    !verb_named(json_get_str(v, "verb"), &draft.verb) || !read_id(v, "id", draft.id) ||
	    find_draft(d, str_of(draft.id)) != NONE)
		return;
	draft.session = read_str(d, v, "session");
	if (!draft.session.n)
		draft.session = d->group;
	draft.item = read_str(d, v, "item");
	draft.rev = read_str(d, v, "rev");
	draft.seen = (uint32_t)read_int(v, "seen");
	draft.reason_code = read_str(d, v, "reason_code");
	draft.explanation = read_str(d, v, "explanation");
	draft.answer = read_str(d, v, "answer");
	draft.option = (uint32_t)read_int(v, "option");
	draft.input = (uint32_t)read_int(v, "input");
	draft.artifact = read_str(d, v, "artifact");
	draft.sure = yyjson_is_true(json_get(v, "sure"));
	draft.by = read_str(d, v, "by");
	draft.time_ms = read_int(v, "time");
	draft.team = read_str(d, v, "team");
	draft.corrects = read_str(d, v, "corrects");
	key = record_item_key(draft.kind, draft.item);
	for (uint32_t it = 0, i; map_next(&d->item_drafts, key, &it, &i);)
		if (supersedes(&draft, &d->drafts.v[i]))
			d->drafts.v[i].state = DRAFT_VOID;
	map_add(&d->item_drafts, key, d->drafts.n);
	map_add(&d->draft_ids, str_hash(str_of(draft.id)), d->drafts.n);
	vec_push(&d->drafts, draft);
}

/* Several that were staged at once. */
static void apply_drafts(struct desk *d, yyjson_val *list)
{
	uint32_t batch = d->drafts.n;
	yyjson_val *one;
	size_t i, n;

	yyjson_arr_foreach(list, i, n, one)
		apply_draft(d, one, batch);
}

/* Letters outlive their drafts: one whose DRAFT was damaged is known from the letter's own records, so
 * that its item stays decided. */
static void restore_drafts(struct desk *d, yyjson_val *record)
{
	yyjson_val *one;
	size_t i, n;

	yyjson_arr_foreach(json_get(record, "decides"), i, n, one)
		apply_draft(d, one, d->drafts.n);
}

/* record: names the drafts */
static void add_letter(struct desk *d, struct letter *l, yyjson_val *record)
{
	yyjson_val *one;
	size_t i, n;

	restore_drafts(d, record);
	yyjson_arr_foreach(json_get(record, "drafts"), i, n, one) {
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

/* An answer to a queue entry is in the dialect of the log that the item came from. */
static bool is_in_other_dialect(const struct desk *d, const struct letter *l)
{
	return l->drafts.n && d->drafts.v[l->drafts.v[0]].dialect != l->dialect;
}

/* batch: number of the first letter that was recorded with it. */
static void apply_intent(struct desk *d, yyjson_val *v, uint32_t batch)
{
	struct letter l = { .state = LETTER_INTENT, .batch = batch, .message = NONE };

	if (!read_id(v, "id", l.id) || find_letter(d, str_of(l.id)) != NONE ||
	    !dialect_named(json_get_str(v, "dialect"), &l.dialect) ||
	    !channel_type_parse(json_get_str(v, "channel"), &l.channel))
		return;
	l.path = read_str(d, v, "path");
	l.bytes = read_str(d, v, "bytes");
	l.to = read_str(d, v, "to");
	l.aside = yyjson_is_true(json_get(v, "aside"));
	l.time_ms = read_int(v, "time");
	add_letter(d, &l, v);
	/* journals of 0.1.0 do not say it */
	vec_last(&d->letters)->aside |= str_is(l.to, QUEUE_NAME) ||
					is_in_other_dialect(d, vec_last(&d->letters));
}

/* A damaged journal may have lost a letter's INTENT but not its later records. A placeholder keeps
 * its drafts from being sent twice. */
static uint32_t add_orphan(struct desk *d, yyjson_val *v)
{
	struct letter l = { .channel = CHANNEL_NONE, .path = STR(""), .bytes = STR(""),
			    .to = STR(""), .batch = d->letters.n, .message = NONE };
	uint32_t first;

	restore_drafts(d, v);
	first = find_draft(d, json_str(yyjson_arr_get_first(json_get(v, "drafts"))));
	if (first == NONE || !read_id(v, "ref", l.id))
		return NONE;
	l.dialect = d->drafts.v[first].dialect;
	add_letter(d, &l, v);
	return d->letters.n - 1;
}

/* A dismissal; older journals have an INTENT without bytes. */
static void apply_done(struct desk *d, yyjson_val *v)
{
	struct letter l = { .state = LETTER_INTENT, .channel = CHANNEL_NONE, .path = STR(""),
			    .bytes = STR(""), .to = STR("nobody"), .batch = d->letters.n,
			    .message = NONE };

	if (!read_id(v, "id", l.id) || find_letter(d, str_of(l.id)) != NONE ||
	    !dialect_named(json_get_str(v, "dialect"), &l.dialect))
		return;
	l.time_ms = read_int(v, "time");
	add_letter(d, &l, v);
}

static void read_anchor(struct desk *d, yyjson_val *v, struct anchor *out)
{
	yyjson_val *at = json_get(v, "at");

	if (!json_get_str(at, "file").n)
		return;
	*out = (struct anchor){ read_str(d, at, "file"), read_u64(at, "offset"),
				(uint32_t)read_int(at, "print") };
}

static void apply_heard(struct desk *d, yyjson_val *v)
{
	struct heard h = { .path = read_str(d, v, "path"), .offset = read_u64(v, "offset"),
			   .letters = d->letters.n };

	read_anchor(d, v, &h.at);
	if (h.at.file.n)
		vec_push(&d->heard, h);
}

static void apply_intents(struct desk *d, yyjson_val *list)
{
	uint32_t batch = d->letters.n;
	yyjson_val *v;
	size_t i, n;

	yyjson_arr_foreach(list, i, n, v)
		apply_intent(d, v, batch);
}

static void apply_attempt(struct letter *l, yyjson_val *v)
{
	l->state = LETTER_ATTEMPT;
	l->attempt = (struct attempt){ .offset = read_u64(v, "offset"),
				       .dev = read_u64(v, "dev"),
				       .ino = read_u64(v, "ino"),
				       .lead = yyjson_is_true(json_get(v, "lead")),
				       .print = (uint32_t)read_int(v, "print") };
	l->tried = l->uncertain = true; /* until its result is recorded */
	l->tries++;
}

/* Also voids the accompanying letters of its batch, unless they may have arrived. */
static void apply_void(struct desk *d, struct letter *l)
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

static void void_draft(struct desk *d, struct str id)
{
	uint32_t draft = find_draft(d, id);

	if (draft != NONE && d->drafts.v[draft].state == DRAFT_STAGED)
		d->drafts.v[draft].state = DRAFT_VOID;
}

/* Staged drafts that are taken back, one or several. */
static void void_drafts(struct desk *d, yyjson_val *v)
{
	yyjson_val *one;
	size_t i, n;

	void_draft(d, json_get_str(v, "ref"));
	yyjson_arr_foreach(json_get(v, "drafts"), i, n, one)
		void_draft(d, json_str(one));
}

/* A record that refers to a letter or draft on the desk. */
static void apply_step(struct desk *d, struct str state, yyjson_val *v)
{
	uint32_t at = find_letter(d, json_get_str(v, "ref"));
	struct letter *l;

	if (at == NONE && str_is(state, "VOID")) {
		void_drafts(d, v);
		return;
	}
	if (at == NONE)
		at = add_orphan(d, v);
	if (at == NONE)
		return;
	l = &d->letters.v[at];
	l->time_ms = read_int(v, "time");
	read_anchor(d, v, &l->at);
	if (str_is(state, "ATTEMPT")) {
		apply_attempt(l, v);
	} else if (str_is(state, "ACKED")) {
		l->state = LETTER_ACKED;
	} else if (l->state == LETTER_ACKED) {
		return; /* the acknowledgment came before the channel's result */
	} else if (str_is(state, "SENT")) {
		l->state = LETTER_SENT;
		l->uncertain = false;
	} else if (str_is(state, "HELD")) {
		l->state = LETTER_HELD;
		l->why = read_str(d, v, "why");
		l->uncertain = !yyjson_is_true(json_get(v, "certain"));
	} else if (str_is(state, "MOVED")) {
		l->path = read_str(d, v, "path");
	} else if (str_is(state, "VOID")) {
		apply_void(d, l);
	}
	if (at < d->finished && letter_is_unfinished(l)) /* an agent has ended without reading it */
		d->finished = at;
}

void record_snooze(const struct desk *d, const struct snooze *s, bool on, struct buf *out)
{
	buf_printf(out, "{\"state\":\"%s\",\"time\":%lld", on ? "SNOOZED" : "WOKEN",
		   (long long)timestamp_now_ms());
	json_put_str(out, "session", str_eq(s->session, d->group) ? STR("") : s->session);
	json_put_name(out, "kind", item_kind_name(s->kind));
	json_put_str(out, "item", s->item);
	json_put_str(out, "rev", s->rev);
	json_put_number(out, "steps", s->steps);
	buf_addc(out, '}');
}

/* The last record of an item counts. */
static void apply_snooze(struct desk *d, yyjson_val *v, bool on)
{
	struct snooze s = { .session = read_str(d, v, "session"), .item = read_str(d, v, "item"),
			    .rev = read_str(d, v, "rev"),
			    .steps = (uint32_t)read_int(v, "steps") };

	if (!item_kind_named(json_get_str(v, "kind"), &s.kind))
		return;
	if (!s.session.n)
		s.session = d->group;
	for (uint32_t i = d->snoozes.n; i-- > 0;)
		if (d->snoozes.v[i].kind == s.kind && str_eq(d->snoozes.v[i].item, s.item) &&
		    str_eq(d->snoozes.v[i].session, s.session))
			d->snoozes.v[i] = d->snoozes.v[--d->snoozes.n];
	if (on)
		vec_push(&d->snoozes, s);
}

void record_seen(const struct store_seen *seen, struct buf *out)
{
	buf_printf(out, "{\"state\":\"SEEN\",\"time\":%lld,\"n\":%lld,\"hash\":\"",
		   (long long)timestamp_now_ms(), (long long)seen->n);
	buf_reserve(out, 2 * sizeof(seen->hash));
	out->n = (size_t)(str_put_hex(out->p + out->n, seen->hash, sizeof(seen->hash)) - out->p);
	buf_adds(out, "\"}");
}

static void apply_seen(struct desk *d, yyjson_val *v)
{
	struct str hex = json_get_str(v, "hash");
	struct store_seen seen = { .n = read_int(v, "n") };

	if (hex.n != 2 * sizeof(seen.hash))
		return;
	for (size_t i = 0; i < sizeof(seen.hash); i++) {
		char digits[3] = { hex.p[2 * i], hex.p[2 * i + 1], '\0' };

		seen.hash[i] = (unsigned char)strtoul(digits, NULL, 16);
	}
	d->store_seen = seen;
}

static void apply_open(struct desk *d, yyjson_val *v)
{
	yyjson_val *file = json_get(v, "file");
	struct str head = json_get_str(file, "head");
	struct known_log log = { .source = read_str(d, v, "source"),
				 .file = { .dev = read_u64(file, "dev"),
					   .ino = read_u64(file, "ino"),
					   .born_ns = (int64_t)read_u64(file, "born") } };

	if (head.n == sizeof(log.file.head) - 1)
		memcpy(log.file.head, head.p, head.n);
	vec_push(&d->logs, log);
	if (!d->group.n && log.source.n)
		d->source = log.source;
}

void record_apply(struct desk *d, struct str json)
{
	struct json_reader reader = { 0 };
	yyjson_val *v;
	struct str state;

	d->changes++;
	if (json_read(&reader, json, &v) == JSON_OK) {
		state = json_get_str(v, "state");
		if (str_is(state, "OPEN")) {
			apply_open(d, v);
		} else if (str_is(state, "DRAFT")) {
			apply_draft(d, v, d->drafts.n);
		} else if (str_is(state, "DRAFTS")) {
			apply_drafts(d, json_get(v, "decides"));
		} else if (str_is(state, "INTENT")) {
			apply_intent(d, v, d->letters.n);
		} else if (str_is(state, "DONE")) {
			apply_done(d, v);
		} else if (str_is(state, "HEARD")) {
			apply_heard(d, v);
		} else if (str_is(state, "SNOOZED") || str_is(state, "WOKEN")) {
			apply_snooze(d, v, str_is(state, "SNOOZED"));
		} else if (str_is(state, "SEEN")) {
			apply_seen(d, v);
		} else if (str_is(state, "INTENTS")) {
			apply_intents(d, json_get(v, "list"));
		} else {
			apply_step(d, state, v);
		}
	}
	json_reader_release(&reader);
}
