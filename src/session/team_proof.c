/* Whether what an item of a team shows is what its agents said. An entry is the word of the machine that
 * shipped it, and anybody who may write to the database could have changed it. So its title and revision are
 * computed again from the message in it, and the message is compared with the store's lines, at the place
 * that the entry names, of a log of the same machine. */
#include "session/team_internal.h"

#include "base/sha256.h"
#include "dialect/dialect.h"

enum {
	PLACES_MOST = 200,    /* in one request */
	OFFSET_MAX = 1 << 30, /* times OFFSET_UNIT: beyond any log, and what SQL may add to */
	OFFSET_UNIT = 1 << 20,
};

static void note_proof(struct team_inbox *t, struct team_item *item, enum team_proof proof, int64_t place)
{
	static const char *const unknown[] = {
		[TEAM_NO_PLACE] = "cannot be checked: its machine does not say where in the log it is",
		[TEAM_NOT_YET] = "cannot be checked yet: its line has not come to the store",
		[TEAM_TRIMMED] = "cannot be checked: its line was trimmed",
		[TEAM_PROVEN] = "",
	};
	static const char *const untrue[] = {
		[TEAM_OTHER_LINE] = "says something else",
		[TEAM_NO_LINE] = "was removed from the store",
		[TEAM_OTHER_LOG] = "the line that it names is in a log of another machine",
		[TEAM_OTHER_WORDS] = "its title or revision is not that of its message",
	};
	struct team_mark *m = &item->mark;
	struct buf words = { 0 };

	m->proof = proof;
	if (!team_mark_is_untrue(m)) {
		m->doubt = str_of(unknown[proof]);
		return;
	}
	buf_printf(&words, "not in the log of %.*s: ", STR_ARG(item->source));
	if (proof == TEAM_OTHER_LINE || proof == TEAM_NO_LINE)
		buf_printf(&words, "the line at byte %lld ", (long long)place);
	buf_adds(&words, untrue[proof]);
	m->doubt = arena_str(&t->arena, buf_str(&words));
	buf_release(&words);
}

/* ---- the words ---- */

/* Whether the entry's title and revision are those of the message in it. */
static bool has_own_words(struct team_inbox *t, const struct queue_entry *q)
{
	struct detail detail;
	struct buf words = { 0 };
	char hex[65];
	bool same;

	dialect_look(&t->decoder, q->original, DIALECT_UNKNOWN);
	if (q->about)
		dialect_look_about(&t->decoder,
				   json_str(yyjson_arr_get(q->context, (size_t)q->about - 1)));
	if (!dialect_detail(&t->decoder, q->kind, (uint32_t)q->index, &detail))
		return false;
	detail_write(&detail, &words);
	sha256_hex(buf_str(&words), hex);
	same = str_starts(q->rev, STR("sha256:")) && str_is(str_from(q->rev, strlen("sha256:")), hex) &&
	       (str_eq(q->title, detail.title.p ? detail.title : STR("")) ||
		(q->title.n > QUEUE_TITLE_MAX - 4 && str_starts(detail.title, q->title)));
	buf_release(&words);
	return same;
}

/* ---- the places ---- */

static bool read_place(yyjson_val *v, struct str text, struct team_place *out)
{
	if (!json_int(json_get(v, "source"), &out->source) ||
	    !json_int(json_get(v, "offset"), &out->offset) || out->offset < 0 ||
	    out->offset > (int64_t)OFFSET_MAX * OFFSET_UNIT || !text.n)
		return false;
	out->length = (int64_t)text.n;
	sha256(text, out->hash);
	return true;
}

static bool read_places(const struct queue_entry *q, struct team_item *item)
{
	item->places_n = 1 + (q->about > 0);
	return read_place(yyjson_arr_get(q->log, 0), q->original, &item->places[0]) &&
	       (!q->about ||
		read_place(yyjson_arr_get(q->log, 1),
			   json_str(yyjson_arr_get(q->context, (size_t)q->about - 1)), &item->places[1]));
}

void team_prove(struct team_inbox *t, struct team_item *item, yyjson_val *entry, struct str rev)
{
	struct queue_entry q;

	note_proof(t, item, TEAM_NO_PLACE, 0);
	if (!queue_entry_read(entry, &q) || !q.passes_on || q.missing)
		return; /* it cannot be decided */
	if (!str_eq(q.rev, rev) || !has_own_words(t, &q)) {
		note_proof(t, item, TEAM_OTHER_WORDS, 0);
	} else if (read_places(&q, item)) {
		note_proof(t, item, TEAM_NOT_YET, 0);
		vec_push(&t->prove, item);
	}
}

/* The worst of an item's places counts. */
static void note_place(struct team_inbox *t, struct team_item *item, unsigned k, enum team_proof found)
{
	if (!k || item->mark.proof == TEAM_PROVEN || found >= TEAM_OTHER_LINE)
		note_proof(t, item, found, item->places[k].offset);
}

static enum team_proof judge(const struct store_answer *a, uint32_t row, const struct team_place *place)
{
	struct str found = store_str(a->rows, row, 0);

	if (str_is(found, "there"))
		return str_eq(store_str(a->rows, row, 1),
			      str_make((const char *)place->hash, sizeof(place->hash)))
			       ? TEAM_PROVEN
			       : TEAM_OTHER_LINE;
	return str_is(found, "later")	  ? TEAM_NOT_YET
	       : str_is(found, "trimmed") ? TEAM_TRIMMED
	       : str_is(found, "gap")	  ? TEAM_NO_LINE
					  : TEAM_OTHER_LOG;
}

static void take_places(void *ctx, const struct store_answer *a)
{
	struct team_inbox *t = ctx;
	uint32_t row = 0;

	t->reading = false;
	if (!a->rows)
		team_note_trouble(t, a->why);
	for (uint32_t i = 0; i < t->proving.n; i++) {
		struct team_item *item = t->proving.v[i];

		for (unsigned k = 0; k < item->places_n && a->rows && row < a->n; k++, row++)
			note_place(t, item, k, judge(a, row, &item->places[k]));
	}
	t->proving.n = 0;
}

/* A row for each place, whatever is missing. Bytes are those of the lines from the one that covers the place
 * on; a gap in them is no trimmed day, as those are the oldest. */
void team_ask_places(struct team_inbox *t)
{
	static const char sql[] =
		"select case when s.id is null then 'none' when p.at + p.n > s.next then 'later' "
		"when f.seq is null then 'trimmed' when octet_length(x.bytes) < p.at + p.n - f.seq then 'gap' "
		"else 'there' end, "
		"case when p.at + p.n <= s.next and octet_length(x.bytes) >= p.at + p.n - f.seq "
		"then sha256(substring(x.bytes from (p.at - f.seq + 1)::int for p.n::int)) end "
		"from unnest($1::text::bigint[], $2::text::bigint[], $3::text::bigint[], "
		"$4::text::bigint[]) with ordinality p (item, source, at, n, place) "
		"left join gavel.item i on i.id = p.item left join gavel.source own on own.id = i.source "
		"left join gavel.source s on s.id = p.source and s.owner = own.owner "
		"left join lateral (select l.seq from gavel.line l where l.source = s.id "
		"and l.seq <= p.at order by l.seq desc limit 1) f on true "
		"left join lateral (select string_agg(l.bytes, '' order by l.seq) as bytes "
		"from gavel.line l where l.source = s.id and l.seq >= f.seq and l.seq < p.at + p.n) x on true "
		"order by p.place";
	struct store_request r = { .sql = sql, .n = 4, .answered = take_places, .ctx = t };
	struct buf list[4] = { { 0 }, { 0 }, { 0 }, { 0 } };
	unsigned n = 0;

	while (t->prove.n && n < PLACES_MOST) {
		struct team_item *item = t->prove.v[--t->prove.n];

		vec_push(&t->proving, item);
		for (unsigned k = 0; k < item->places_n; k++, n++) {
			const struct team_place *place = &item->places[k];
			const int64_t values[4] = { item->id, place->source, place->offset, place->length };

			for (unsigned c = 0; c < 4; c++)
				buf_printf(&list[c], "%c%lld", n ? ',' : '{', (long long)values[c]);
		}
	}
	for (unsigned c = 0; c < 4; c++) {
		buf_addc(&list[c], '}');
		r.values[c] = store_text(buf_str(&list[c]));
	}
	t->reading = true;
	store_ask(t->store, &r);
	for (unsigned c = 0; c < 4; c++)
		buf_release(&list[c]);
}

void team_prove_again(struct team_inbox *t)
{
	if (t->prove.n || t->proving.n)
		return; /* without a connection, they would be listed again and again */
	for (uint32_t i = 0; i < t->items.n; i++)
		if (t->items.v[i]->mark.proof == TEAM_NOT_YET && t->items.v[i]->state == TEAM_OPEN)
			vec_push(&t->prove, t->items.v[i]);
}

bool team_refuses(void *ctx, uint32_t number, struct buf *why)
{
	const struct team_item *item = team_item_of(ctx, number);

	if (!item || !team_mark_is_untrue(&item->mark))
		return false;
	buf_add_str(why, item->mark.doubt);
	buf_adds(why, "; ask whoever runs its agents");
	return true;
}
