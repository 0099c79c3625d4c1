/* Binding drafts to item revisions, required fields of each verb, state names, random ids. */
#include "decide/decision.h"

#include "base/sha256.h"
#include "base/utf8.h"
#include "decide/reader.h"

#include <stdio.h>
#include <sys/random.h>

const char *verb_name(enum verb v)
{
	static const char *const names[] = { "accept", "always", "partial", "reject",
					     "stop",   "answer", "dismiss", "escalate" };

	return names[v];
}

const char *verb_refusal(enum verb v)
{
	static const char *const words[] = {
		[VERB_ACCEPT] = "can't accept this item",
		[VERB_ALWAYS] = "can't always allow this",
		[VERB_PARTIAL] = "can't accept this item in part",
		[VERB_REJECT] = "can't reject this item",
		[VERB_STOP] = "can't stop a turn by this item",
		[VERB_ANSWER] = "can't answer this item",
		[VERB_DISMISS] = "can't dismiss this item",
		[VERB_ESCALATE] = "can't escalate this item",
	};

	return words[v];
}

bool verb_named(struct str name, enum verb *out)
{
	for (int v = 0; v < VERB_COUNT; v++)
		if (str_is(name, verb_name((enum verb)v))) {
			*out = (enum verb)v;
			return true;
		}
	return false;
}

const char *draft_missing(const struct draft *d)
{
	bool explained = str_trim(d->explanation).n > 0;

	if ((d->verb == VERB_REJECT || d->verb == VERB_STOP) && !explained &&
	    !str_trim(d->reason_code).n)
		return "a rejection needs a reason code or an explanation";
	if (d->verb == VERB_PARTIAL && d->kind == ITEM_PERMISSION)
		return str_trim(d->answer).n ? NULL : "accepting an edited call needs its input";
	if (d->verb == VERB_PARTIAL && !explained)
		return "accepting in part needs an explanation of what is taken and what not";
	if (d->verb == VERB_ANSWER && !d->option && !str_trim(d->answer).n)
		return "an answer needs its text";
	return NULL;
}

int draft_check_texts(const struct draft *d, struct err *err)
{
	const struct {
		struct str text;
		const char *what;
	} texts[] = { { d->explanation, "the explanation" },
		      { d->answer, "the answer" },
		      { d->reason_code, "the reason code" },
		      { d->by, "the name of who decides (--as)" },
		      { d->artifact, "the path of the artifact" } };

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		if (utf8_check(texts[i].text, texts[i].what, err))
			return -1;
	return 0;
}

void item_rev(const struct reader *r, const struct item *item, const struct item_state *state,
	      struct buf *out)
{
	struct detail detail;
	struct buf compact = { 0 };
	char hex[65];

	if (!r->detail(r->ctx, item, state, &detail))
		return;
	detail_write(&detail, &compact);
	if (!compact.n)
		return;
	sha256_hex(buf_str(&compact), hex);
	buf_adds(out, "sha256:");
	buf_adds(out, hex);
	buf_release(&compact);
}

bool draft_bind(struct draft *d, const struct model *m, const struct reader *r, uint32_t number,
		uint32_t k, struct arena *words)
{
	const struct item *item = &m->items.v[number];
	uint32_t session = item_session(m, item);
	struct buf name = { 0 }, rev = { 0 };
	struct item_state at;

	if (!item_without_overlay(m, item, k, TIME_NONE, &at))
		return false;
	item_name(m, item, &name);
	item_rev(r, item, &at, &rev);
	d->session = arena_str(words, session_name(m, session));
	d->item = arena_str(words, buf_str(&name));
	d->kind = item->kind;
	d->dialect = message_route(m, at.message)->dialect;
	d->rev = arena_str(words, buf_str(&rev));
	d->seen = model_seen(m, session, k);
	d->raise = at.anew;
	d->number = number;
	buf_release(&name);
	buf_release(&rev);
	return true;
}

const char *letter_state_name(enum letter_state s)
{
	static const char *const names[] = { "INTENT", "ATTEMPT", "SENT", "ACKED", "HELD", "VOID" };

	return names[s];
}

static void random_bytes(unsigned char *to, size_t n)
{
	/* reads of up to 256 bytes are never short */
	if (getrandom(to, n, 0) != (ssize_t)n)
		BUG("getrandom failed");
}

void decision_id(char out[DECISION_ID_SIZE])
{
	unsigned char r[6];

	random_bytes(r, sizeof(r));
	*str_put_hex(out, r, sizeof(r)) = '\0';
}

void uuid_make(char out[37])
{
	static const unsigned char groups[] = { 4, 2, 2, 2, 6 };
	unsigned char r[16];

	random_bytes(r, sizeof(r));
	r[6] = (unsigned char)(0x40 | (r[6] & 0x0f));
	r[8] = (unsigned char)(0x80 | (r[8] & 0x3f));
	for (size_t i = 0, at = 0; i < sizeof(groups); at += groups[i++]) {
		out = str_put_hex(out, r + at, groups[i]);
		*out++ = i + 1 < sizeof(groups) ? '-' : '\0';
	}
}
