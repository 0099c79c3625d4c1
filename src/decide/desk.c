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

	record_open(d, &head);
	r = journal_open(&d->journal, d->dir, write, buf_str(&head), take_record, d, &d->why);
	if (r == JOURNAL_FINE && write && !d->changes) /* it was empty, and is the first record now */
		record_apply(d, buf_str(&head));
	buf_release(&head);
	d->trouble = JOURNAL_FINE;
	switch (r) {
	case JOURNAL_FINE:
		d->access = write ? DESK_WRITES : DESK_READS;
		if (!write)
			err_set(&d->why, "--read-only was given");
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

/* The name of a journal's folder, which the index has. */
static const char *name_of(const char *dir)
{
	const char *slash = strrchr(dir, '/');

	return slash ? slash + 1 : dir;
}

static bool knows_file(const struct desk *d, const struct log_identity *file)
{
	for (uint32_t i = 0; i < d->logs.n; i++)
		if (identity_is_same(&d->logs.v[i].file, file))
			return true;
	return false;
}

static bool knows_source(const struct desk *d)
{
	for (uint32_t i = 0; i < d->logs.n; i++)
		if (str_eq(d->logs.v[i].source, d->source) &&
		    identity_is_same(&d->logs.v[i].file, &d->file) &&
		    strcmp(d->logs.v[i].file.head, d->file.head) == 0)
			return true;
	return false;
}

/* "begins like PATH, where 3 items were decided by ann"; false = fewer than `most` were. */
static bool describe_copy(const struct desk *other, uint32_t *most, struct buf *out)
{
	struct str by = STR_NONE;
	bool several = false;
	uint32_t n = 0;

	for (uint32_t i = 0; i < other->drafts.n; i++) {
		if (other->drafts.v[i].state == DRAFT_VOID)
			continue;
		several |= n && !str_eq(by, other->drafts.v[i].by);
		by = n++ ? by : other->drafts.v[i].by;
	}
	if (n <= *most)
		return false;
	*most = n;
	buf_clear(out);
	buf_printf(out, "begins like %.*s, where %u item%s decided by %.*s%s; see gavel journal list",
		   STR_ARG(other->source), n, n == 1 ? " was" : "s were", STR_ARG(by),
		   several ? " and others" : "");
	return true;
}

static bool dir_knows_file(const char *dir, const struct log_identity *file)
{
	struct desk own = { 0 };
	bool knows;

	desk_open_dir(&own, dir, false);
	knows = knows_file(&own, file);
	desk_close(&own);
	return knows;
}

/* The journals in the index for logs that begin like the source, except the one in dir. */
static void list_others(const struct desk *d, const char *dir, struct index_names *out)
{
	struct index_names all = { 0 };

	index_list(d->base, d->file.head, &all);
	for (uint32_t i = 0; i < all.list.n; i++)
		if (strcmp(all.list.v[i], name_of(dir)) != 0)
			vec_push(&out->list, xstrdup(all.list.v[i]));
	index_names_release(&all);
}

/* Sets dir to the folder of the journal that knows the source's file, if there is one; notes what was
 * decided in the journals of other logs that begin like it. */
static void choose_dir(struct desk *d, struct buf *dir)
{
	struct index_names others = { 0 };
	struct buf path = { 0 }, notice = { 0 };
	uint32_t most = 0;
	bool found;

	if (d->file.head[0])
		list_others(d, dir->p, &others);
	found = others.list.n && dir_knows_file(dir->p, &d->file);
	for (uint32_t i = 0; i < others.list.n; i++) {
		struct desk other = { 0 };

		buf_clear(&path);
		buf_printf(&path, "%s/%s", d->base, others.list.v[i]);
		desk_open_dir(&other, path.p, false);
		if (!knows_file(&other, &d->file)) {
			describe_copy(&other, &most, &notice);
		} else if (!found) {
			found = true;
			buf_clear(dir);
			buf_add_str(dir, buf_str(&path));
		}
		desk_close(&other);
	}
	d->notice = arena_str(&d->arena, buf_str(&notice));
	index_names_release(&others);
	buf_release(&path);
	buf_release(&notice);
}

/* Adds the source to the index, and to the journal unless that knows it. */
static int note_source(struct desk *d, struct err *err)
{
	struct buf line = { 0 };
	int rc = 0;

	d->noted = true;
	if (!d->base || !d->file.ino)
		return 0;
	if (d->file.head[0])
		rc = index_add(d->base, d->file.head, name_of(d->dir), err);
	if (rc == 0 && !knows_source(d)) {
		record_open(d, &line);
		rc = journal_append(&d->journal, buf_str(&line), false, err);
		if (rc == 0)
			record_apply(d, buf_str(&line));
		buf_release(&line);
	}
	d->noted = rc == 0;
	return rc;
}

/* Looks again for a journal of the file, and puts the one to be created into the index. Returns a lock
 * on the index, to be held until it is created; -1: d->why. */
static int claim_file(struct desk *d)
{
	struct buf dir = { 0 };
	int lock = index_lock(d->base, d->file.head, &d->why);

	if (lock < 0)
		return -1;
	buf_adds(&dir, d->dir);
	choose_dir(d, &dir);
	free(d->dir);
	d->dir = dir.p;
	if (index_add(d->base, d->file.head, name_of(d->dir), &d->why) < 0)
		fd_close(&lock);
	return lock;
}

/* Called before the first record. Another gavel may have created the journal meanwhile, perhaps under
 * another name of the file; its records are then on this desk. */
static void create_journal(struct desk *d)
{
	int lock = -1;

	if (d->access != DESK_WRITES || d->journal.writing)
		return;
	if (d->base && d->source.p[0] == '/' && identity_read(d->source.p, &d->file) &&
	    d->file.head[0]) {
		lock = claim_file(d);
		if (lock < 0) {
			d->access = DESK_READS;
			d->trouble = JOURNAL_TROUBLE;
			return;
		}
	}
	open_journal(d, true);
	fd_close(&lock);
	d->recovered = !desk_unfinished(d);
}

int desk_claim(struct desk *d, struct err *err)
{
	create_journal(d);
	return d->access == DESK_WRITES ? 0 : err_set(err, "%s", d->why.text);
}

void desk_open(struct desk *d, const char *base, const char *source, bool write)
{
	struct buf dir = { 0 };
	struct stat st;
	struct err ignored;
	bool is_stream = strcmp(source, "-") == 0;
	char hex[65], *real = is_stream ? NULL : realpath(source, NULL);

	if (!d->group.n) /* what the journal replays is of the group that it has now */
		d->group = arena_str(&d->arena, str_of(is_stream ? "stdin" : source));
	d->source = arena_str(&d->arena, real ? str_of(real) : str_of(is_stream ? "stdin" : source));
	free(real);
	d->base = xstrdup(base);
	d->is_dir = stat(source, &st) == 0 && S_ISDIR(st.st_mode);
	if (is_stream) {
		char once[37]; /* a pipe cannot be reopened: each gets a journal of its own */

		uuid_make(once);
		sha256_hex(str_of(once), hex);
	} else {
		sha256_hex(d->source, hex);
	}
	buf_printf(&dir, "%s/%.32s", base, hex);
	if (!is_stream && identity_read(source, &d->file))
		choose_dir(d, &dir);
	desk_open_dir(d, dir.p, write);
	/* a renamed log: gavel purge must find it where it is now */
	if (d->journal.writing && knows_file(d, &d->file) && !knows_source(d))
		note_source(d, &ignored); /* the first decision tries again */
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
	vec_release(&d->snoozes);
	vec_release(&d->logs);
	map_release(&d->draft_ids);
	map_release(&d->letter_ids);
	map_release(&d->item_drafts);
	arena_release(&d->arena);
	free(d->base);
	free(d->dir);
	d->base = d->dir = NULL;
}

/* The journal has refused a record: once its disk has failed, nothing more is decided. */
static int note_failure(struct desk *d)
{
	if (d->journal.poisoned) {
		d->access = DESK_READS;
		d->trouble = JOURNAL_TROUBLE;
		err_set(&d->why, "the disk failed; check it, then start gavel again");
	}
	return -1;
}

int desk_append_all(struct desk *d, const struct str *records, uint32_t n, bool sync,
		    struct err *err)
{
	create_journal(d);
	if (d->access != DESK_WRITES)
		return err_set(err, "NOT recorded: %s",
			       d->why.text[0] ? d->why.text : "this session is read-only");
	if ((!d->noted && note_source(d, err)) ||
	    journal_append_all(&d->journal, records, n, sync, err))
		return note_failure(d);
	return 0;
}

int desk_append(struct desk *d, struct str json, bool sync, struct err *err)
{
	return desk_append_all(d, &json, 1, sync, err);
}

int desk_confirm(struct desk *d, struct err *err)
{
	return journal_sync(&d->journal, err) ? note_failure(d) : 0;
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

static int refuse_decided(const struct desk *d, const struct draft *draft, struct err *err)
{
	uint32_t written = desk_find_written(d, draft);

	if (written == NONE || str_is(draft->corrects, d->drafts.v[written].id))
		return 0;
	return err_set(err, "already decided (%s, %s); a correction must be marked as one",
		       verb_name(d->drafts.v[written].verb),
		       delivery_name(draft_delivery(d, &d->drafts.v[written], NULL)));
}

/* The record of drafts that are staged together: that of the draft if there is one only. */
static void record_staged(struct desk *d, const struct draft *drafts, uint32_t n, struct buf *line)
{
	if (n > 1)
		record_begin_drafts(line);
	for (uint32_t i = 0; i < n; i++) {
		struct draft fresh = drafts[i];

		decision_id(fresh.id);
		fresh.time_ms = timestamp_now_ms();
		fresh.artifact = absolute_path(d, fresh.artifact);
		if (n > 1)
			json_comma(line);
		record_draft(d, &fresh, line);
	}
	if (n > 1)
		buf_adds(line, "]}");
}

static int stage(struct desk *d, const struct draft *drafts, uint32_t n, bool sync,
		 uint32_t *first, struct err *err)
{
	struct buf line = { 0 };

	for (uint32_t i = 0; i < n; i++) {
		const char *missing = draft_missing(&drafts[i]);

		if (missing)
			return err_set(err, "%s", missing);
		if (draft_check_texts(&drafts[i], err))
			return -1;
	}
	create_journal(d); /* may bring in decisions of another gavel */
	for (uint32_t i = 0; i < n; i++)
		if (refuse_decided(d, &drafts[i], err))
			return -1;
	*first = d->drafts.n;
	record_staged(d, drafts, n, &line);
	if (desk_step(d, &line, sync, err) < 0)
		return -1;
	for (uint32_t i = 0; i < n; i++) {
		d->drafts.v[*first + i].number = drafts[i].number;
		d->drafts.v[*first + i].raise = drafts[i].raise;
	}
	return 0;
}

int desk_stage_all(struct desk *d, const struct draft *drafts, uint32_t n, uint32_t *first,
		   struct err *err)
{
	return stage(d, drafts, n, true, first, err);
}

int desk_stage(struct desk *d, const struct draft *draft, uint32_t *number, struct err *err)
{
	return stage(d, draft, 1, true, number, err);
}

int desk_stage_unconfirmed(struct desk *d, const struct draft *draft, uint32_t *number,
			   struct err *err)
{
	return stage(d, draft, 1, false, number, err);
}

void desk_note_heard(struct desk *d, struct str path, uint64_t offset)
{
	struct anchor at = { 0 };
	struct buf line = { 0 };
	struct err ignored; /* without the record, the line stands behind what it answers */

	if (d->access != DESK_WRITES || !journal_is_there(d->dir) || !d->anchor ||
	    !d->anchor(d->anchor_ctx, d, NULL, &at, &d->arena))
		return;
	buf_printf(&line, "{\"state\":\"HEARD\",\"time\":%lld", (long long)timestamp_now_ms());
	json_put_str(&line, "path", path);
	json_put_number(&line, "offset", offset);
	record_put_anchor(&at, &line);
	buf_addc(&line, '}');
	desk_step(d, &line, false, &ignored);
}

int desk_snooze(struct desk *d, const struct snooze *s, bool on, struct err *err)
{
	struct buf line = { 0 };

	record_snooze(d, s, on, &line);
	return desk_step(d, &line, false, err);
}

int desk_undo_all(struct desk *d, const uint32_t *drafts, uint32_t n, struct err *err)
{
	struct buf line = { 0 };

	for (uint32_t i = 0; i < n; i++)
		if (d->drafts.v[drafts[i]].state != DRAFT_STAGED)
			return err_set(err, "only staged decisions can be undone; this one is being "
					    "sent");
	if (n == 1)
		return desk_void(d, d->drafts.v[drafts[0]].id, err);
	record_void_drafts(d, drafts, n, &line);
	return desk_step(d, &line, true, err);
}

int desk_undo(struct desk *d, uint32_t draft, struct err *err)
{
	return desk_undo_all(d, &draft, 1, err);
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

void desk_note_seen(struct desk *d, const struct store_seen *seen)
{
	struct buf line = { 0 };
	struct err unused;

	if (d->access != DESK_WRITES || !d->journal.writing || seen->n == d->store_seen.n)
		return;
	record_seen(seen, &line);
	desk_step(d, &line, false, &unused);
}

struct str desk_decider(const struct desk *d, struct str as)
{
	return d && d->team ? str_of(d->team->login) : as;
}
