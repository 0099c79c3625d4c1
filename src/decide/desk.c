/* Opening a desk (journal replay, lock), appending records, staging and undoing drafts. Sending is
 * in deliver.c, matching with the model in settle.c. */
#include "decide/desk.h"

#include "base/io.h"
#include "base/sha256.h"
#include "decide/output_queue.h"
#include "decide/records.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

void desk_base(const char *given, struct buf *out)
{
	if (given)
		buf_adds(out, given);
	else
		io_user_folder("XDG_STATE_HOME", ".local/state", out);
}

/* ---- opening ---- */

static void take_record(void *ctx, struct str json)
{
	record_apply(ctx, json);
}

static void add_head(const struct desk *d, struct buf *out)
{
	buf_adds(out, "{\"state\":\"OPEN\",\"gavel\":1");
	json_put_str(out, "source", d->source);
	json_put_int(out, "time", timestamp_now_ms());
	buf_addc(out, '}');
}

static void append_again(struct desk *d, struct buf *line)
{
	if (d->access == DESK_WRITES &&
	    journal_append(&d->journal, buf_str(line), true, &d->why)) {
		d->access = DESK_READS;
		d->trouble = JOURNAL_TROUBLE;
	}
	buf_clear(line);
}

/* After a failed sync the disk's contents are unknown: appends all unfinished records again. */
static void rewrite_unfinished(struct desk *d)
{
	struct buf line = { 0 };

	for (uint32_t i = 0; i < d->drafts.n; i++) {
		const struct draft *draft = &d->drafts.v[i];
		bool open = draft->state == DRAFT_STAGED ||
			    (draft->state == DRAFT_WRITTEN &&
			     letter_is_unfinished(&d->letters.v[draft->letter]));

		if (!open)
			continue;
		record_draft(d, draft, &line);
		append_again(d, &line);
	}
	for (uint32_t i = 0; i < d->letters.n; i++) {
		const struct letter *l = &d->letters.v[i];

		if (!letter_is_unfinished(l))
			continue;
		record_intent(d, l, &line);
		append_again(d, &line);
		if (l->tried) {
			record_attempt(d, l, &line);
			append_again(d, &line);
		}
		if (l->state == LETTER_HELD) {
			record_held(l, l->why, !l->uncertain, &line);
			append_again(d, &line);
		}
	}
	buf_release(&line);
}

/* Replays the journal, and locks it for writing. */
static void open_journal(struct desk *d, bool write)
{
	struct buf head = { 0 };
	enum journal_result r;

	add_head(d, &head);
	r = journal_open(&d->journal, d->dir, write, buf_str(&head), take_record, d, &d->why);
	buf_release(&head);
	d->trouble = JOURNAL_FINE;
	switch (r) {
	case JOURNAL_FINE:
		d->access = write ? DESK_WRITES : DESK_READS;
		if (!write)
			err_set(&d->why, "read-only was asked for");
		else if (d->journal.was_poisoned)
			rewrite_unfinished(d);
		return;
	case JOURNAL_NONE:
		d->access = DESK_NONE;
		return;
	case JOURNAL_LOCKED:
	case JOURNAL_DAMAGED:
	case JOURNAL_TROUBLE:
		break;
	}
	d->trouble = r;
	d->access = DESK_READS;
	/* fall back to reading */
	if (write && !d->drafts.n && !d->letters.n) {
		struct err ignored;

		journal_open(&d->journal, d->dir, false, STR_NONE, take_record, d, &ignored);
	}
}

/* Called before the first record. Another gavel may have created the journal meanwhile, whose
 * records are then on this desk. */
static void create_journal(struct desk *d)
{
	if (d->access != DESK_WRITES || d->journal.writing)
		return;
	open_journal(d, true);
	d->recovered = !desk_unfinished(d);
}

void desk_open(struct desk *d, const char *base, const char *source, bool write)
{
	struct buf dir = { 0 };
	struct stat st;
	bool is_stream = strcmp(source, "-") == 0;
	char hex[65], *real = is_stream ? NULL : realpath(source, NULL);

	d->group = arena_str(&d->arena, str_of(is_stream ? "stdin" : source));
	d->source = real ? arena_str(&d->arena, str_of(real)) : d->group;
	free(real);
	d->is_dir = stat(source, &st) == 0 && S_ISDIR(st.st_mode);
	if (is_stream) {
		char once[37]; /* a pipe cannot be reopened: each gets a journal of its own */

		uuid_make(once);
		sha256_hex(str_of(once), hex);
	} else {
		sha256_hex(d->source, hex);
	}
	buf_printf(&dir, "%s/%.32s", base, hex);
	desk_open_dir(d, dir.p, write);
	buf_release(&dir);
	if (write && d->access == DESK_NONE) /* the first record creates it */
		d->access = DESK_WRITES;
}

void desk_open_dir(struct desk *d, const char *dir, bool write)
{
	d->journal = (struct journal){ .fd = -1, .lock_fd = -1 };
	d->dir = xstrdup(dir);
	if (journal_is_there(dir))
		open_journal(d, write);
	d->recovered = !desk_unfinished(d);
}

void desk_close(struct desk *d)
{
	desk_close_fifo(d);
	output_queue_free(d);
	journal_close(&d->journal);
	for (uint32_t i = 0; i < d->letters.n; i++)
		vec_release(&d->letters.v[i].drafts);
	vec_release(&d->drafts);
	vec_release(&d->letters);
	vec_release(&d->heard);
	map_release(&d->draft_ids);
	map_release(&d->letter_ids);
	map_release(&d->item_drafts);
	arena_release(&d->arena);
	free(d->dir);
	d->dir = NULL;
}

int desk_append(struct desk *d, struct str json, bool sync, struct err *err)
{
	create_journal(d);
	if (d->access != DESK_WRITES)
		return err_set(err, "NOT recorded: %s",
			       d->why.text[0] ? d->why.text : "this session is read-only");
	if (journal_append(&d->journal, json, sync, err)) {
		if (d->journal.poisoned) {
			d->access = DESK_READS;
			d->trouble = JOURNAL_TROUBLE;
			err_set(&d->why, "the disk failed; check it, then start gavel again");
		}
		return -1;
	}
	return 0;
}

int desk_step(struct desk *d, struct buf *line, bool sync, struct err *err)
{
	int rc = desk_append(d, buf_str(line), sync, err);

	if (rc == 0)
		record_apply(d, buf_str(line));
	buf_release(line);
	return rc;
}

int desk_void(struct desk *d, const char *id, struct err *err)
{
	struct buf line = { 0 };

	record_step("VOID", id, &line);
	buf_addc(&line, '}');
	return desk_step(d, &line, true, err);
}

/* ---- staging ---- */

bool draft_is_on(const struct draft *draft, struct str session, enum item_kind kind,
		 struct str item)
{
	return draft->kind == kind && str_eq(draft->item, item) &&
	       str_eq(draft->session, session);
}

/* Decisions belong to a raise: an item that came back is undecided. Before desk_settle has found the
 * raise of a draft, its revision must do. */
static bool is_same_raise(const struct draft *draft, const struct draft *like)
{
	if (draft->raise != NONE && like->raise != NONE)
		return draft->raise == like->raise;
	return !like->rev.n || str_eq(draft->rev, like->rev);
}

/* The newest draft on the same raise in one of the states (bits 1 << DRAFT_…), or NONE. */
static uint32_t find_newest(const struct desk *d, unsigned states, const struct draft *like)
{
	uint64_t key = record_item_key(like->kind, like->item);
	uint32_t found = NONE;

	for (uint32_t it = 0, i; map_next(&d->item_drafts, key, &it, &i);) {
		const struct draft *draft = &d->drafts.v[i];

		if ((states & 1u << draft->state) &&
		    draft_is_on(draft, like->session, like->kind, like->item) &&
		    is_same_raise(draft, like) && (found == NONE || i > found))
			found = i;
	}
	return found;
}

uint32_t desk_find(const struct desk *d, const struct draft *like)
{
	return find_newest(d, 1u << DRAFT_STAGED | 1u << DRAFT_WRITTEN, like);
}

uint32_t desk_find_written(const struct desk *d, const struct draft *like)
{
	return find_newest(d, 1u << DRAFT_WRITTEN, like);
}

uint32_t desk_staged(const struct desk *d)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < d->drafts.n; i++)
		n += d->drafts.v[i].state == DRAFT_STAGED;
	return n;
}

static struct str absolute_path(struct desk *d, struct str path)
{
	char *real = path.n ? realpath(arena_str(&d->arena, path).p, NULL) : NULL;
	struct str out = real ? arena_str(&d->arena, str_of(real)) : path;

	free(real);
	return out;
}

int desk_stage(struct desk *d, const struct draft *draft, uint32_t *number, struct err *err)
{
	struct draft fresh = *draft;
	const char *missing = draft_missing(draft);
	struct buf line = { 0 };
	uint32_t written;

	if (missing)
		return err_set(err, "%s", missing);
	if (draft_check_texts(draft, err))
		return -1;
	create_journal(d); /* may bring in decisions of another gavel */
	written = desk_find_written(d, draft);
	if (written != NONE && !str_is(draft->corrects, d->drafts.v[written].id))
		return err_set(err,
			       "this was decided already (%s, %s); a correction has to say that it "
			       "is one",
			       verb_name(d->drafts.v[written].verb),
			       delivery_name(draft_delivery(d, &d->drafts.v[written], NULL)));
	decision_id(fresh.id);
	fresh.state = DRAFT_STAGED;
	fresh.letter = NONE;
	fresh.time_ms = timestamp_now_ms();
	fresh.artifact = absolute_path(d, draft->artifact);
	record_draft(d, &fresh, &line);
	if (desk_step(d, &line, true, err) < 0)
		return -1;
	*number = d->drafts.n - 1;
	d->drafts.v[*number].number = draft->number;
	d->drafts.v[*number].raise = draft->raise;
	return 0;
}

void desk_note_heard(struct desk *d, struct str path, uint64_t offset)
{
	struct anchor at = { 0 };
	struct buf line = { 0 };
	struct err ignored; /* without the record, the line stands behind what it answers */

	if (d->access != DESK_WRITES || !journal_is_there(d->dir) || !d->anchor ||
	    !d->anchor(d->anchor_ctx, d, &at, &d->arena))
		return;
	buf_printf(&line, "{\"state\":\"HEARD\",\"time\":%lld", (long long)timestamp_now_ms());
	json_put_str(&line, "path", path);
	json_put_number(&line, "offset", offset);
	record_put_anchor(&at, &line);
	buf_addc(&line, '}');
	desk_step(d, &line, false, &ignored);
}

int desk_undo(struct desk *d, uint32_t draft, struct err *err)
{
	if (d->drafts.v[draft].state != DRAFT_STAGED)
		return err_set(err, "only what is staged can be undone; this was recorded to be "
				    "sent");
	return desk_void(d, d->drafts.v[draft].id, err);
}

struct desk *desks_find(struct desks *all, struct str group)
{
	for (uint32_t i = 0; i < all->list.n; i++)
		if (str_eq(all->list.v[i].group, group))
			return &all->list.v[i];
	return NULL;
}

struct desk *desks_of_item(struct desks *all, const struct model *m, const struct item *item)
{
	return desks_find(all, model_str(m, m->sessions.v[item_session(m, item)].group));
}
