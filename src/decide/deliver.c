/* Sending replies: INTENT, ATTEMPT, write to the channel, SENT or HELD; resending, giving up, and
 * recovery after a crash.
 *
 * Letters to one channel go out in journal order: a held one holds those behind it. One that may
 * have arrived is not blindly sent again: the channel is probed where possible; elsewhere a
 * duplicate is harmless thanks to native ids and file names (collaboration, handoff), or the
 * person is asked. */
#include "channel/channel.h"
#include "channel/file_locks.h"
#include "decide/output_queue.h"
#include "decide/records.h"
#include "dialect/dialect.h"
#include "loop/loop.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	TRIES_MAX = 3,
	LOOK_MS = 100, /* for an agent's holder to respond */
	/* letters that share their syncs, and their bytes: what is recorded of them is held in memory */
	BATCH_MAX = 16384,
	BATCH_BYTES_MAX = 1 << 24,
};

/* Where in the agents' stream the letter is said now. One that has left stays where it was sent if the
 * agent has put its item into other words since: the person has not seen these. */
static void find_anchor(struct desk *d, struct letter *l, bool has_left)
{
	struct anchor at = { 0 };

	if (!l->aside && d->anchor &&
	    d->anchor(d->anchor_ctx, d, has_left ? l : NULL, &at, &d->arena))
		l->at = at;
}

int desk_mark_sent(struct desk *d, uint32_t number, struct err *err)
{
	struct letter copy = d->letters.v[number];
	struct buf line = { 0 };
	struct err why;

	/* what goes through a FIFO is said when it is read there; captures have the place */
	if (copy.channel == CHANNEL_FIFO)
		find_anchor(d, &copy, true);
	record_sent(d, &copy, &line);
	if (desk_step(d, &line, true, &why) == 0)
		return 0;
	return err_set(err, "the message went out, but that was %.450s", why.text);
}

int desk_hold(struct desk *d, uint32_t number, bool certain, const struct err *why, struct err *err)
{
	struct buf line = { 0 };
	struct err failed;

	record_held(&d->letters.v[number], str_of(why->text), certain, &line);
	if (desk_step(d, &line, true, &failed) == 0)
		return 0;
	return err_set(err, "the message was %s sent, and that was %.450s",
		       certain ? "not" : "perhaps", failed.text);
}

/* The unit of ordering: the file or FIFO, or the folder of a CHANNEL_DIR letter. */
static struct str channel_name(const struct letter *l)
{
	struct str path = l->path;

	while (l->channel == CHANNEL_DIR && path.n && path.p[path.n - 1] != '/')
		path.n--;
	return path;
}

static bool is_same_channel(const struct letter *a, const struct letter *b)
{
	return a->channel == b->channel && str_eq(channel_name(a), channel_name(b));
}

/* An unsent letter to the same channel among the first n, or NONE. */
static uint32_t find_blocking(struct desk *d, const struct letter *l, uint32_t n)
{
	while (d->finished < n && !letter_is_unfinished(&d->letters.v[d->finished]))
		d->finished++;
	for (uint32_t i = d->finished; i < n; i++)
		if (letter_is_unfinished(&d->letters.v[i]) && is_same_channel(&d->letters.v[i], l))
			return i;
	return NONE;
}

/* Whether the letter before it on the same channel may have left a partial line there, even if it
 * was acknowledged or given up since. */
static bool is_after_torn(const struct desk *d, uint32_t number)
{
	const struct letter *l = d->letters.v;

	for (uint32_t i = number; i-- > 0;)
		if (l[i].tried && is_same_channel(&l[i], &l[number]))
			return l[i].uncertain;
	return false;
}

int desk_mark_attempt(struct desk *d, uint32_t number, const struct attempt *at, struct err *err)
{
	struct letter copy = d->letters.v[number];
	struct buf line = { 0 };

	copy.attempt = *at;
	find_anchor(d, &copy, false);
	record_attempt(d, &copy, &line);
	return desk_step(d, &line, true, err);
}

/* One attempt on an open channel. *doubt: an earlier one may have arrived; cleared if it certainly
 * did not. anew: send again even if that cannot be found out. */
static enum channel_result try_send(struct desk *d, uint32_t number, struct channel *c, bool anew,
				    bool *doubt, struct err *err)
{
	struct letter *l = &d->letters.v[number];
	struct attempt at = l->attempt;
	enum channel_result r;

	if (*doubt) {
		switch (channel_probe(c, l->bytes, &at, err)) {
		case FOUND_WHOLE:
		case FOUND_TORN: return channel_send(c, l->bytes, &at, err);
		case FOUND_NOTHING: *doubt = false; break;
		case FOUND_TROUBLE: return CHANNEL_UNCERTAIN;
		case FOUND_UNKNOWN:
			if (!anew)
				return CHANNEL_UNCERTAIN;
			break;
		}
	}
	r = channel_prepare(c, l->bytes, l->tried || is_after_torn(d, number), &at, err);
	if (r != CHANNEL_OK)
		return r;
	if (desk_mark_attempt(d, number, &at, err))
		return CHANNEL_FAILED;
	return channel_send(c, l->bytes, &at, err);
}

/* The reader must not see end of file between two messages. */
static void keep_fifo_open(struct desk *d, const struct channel *c)
{
	int fd = c->type == CHANNEL_FIFO ? fcntl(c->fd, F_DUPFD_CLOEXEC, 3) : -1;

	if (fd < 0)
		return;
	desk_close_fifo(d);
	d->kept_fifo = fd + 1;
}

void desk_close_fifo(struct desk *d)
{
	if (d->kept_fifo)
		close(d->kept_fifo - 1);
	d->kept_fifo = 0;
}

/* The channel of a file that is locked already, or NULL. */
static struct channel *locked_channel(const struct desk *d, const struct letter *l)
{
	return d->locks && l->channel == CHANNEL_FILE ? file_locks_find(d->locks, l->path) : NULL;
}

/* Records what an attempt has led to. doubt: an earlier one may have arrived. */
static int record_result(struct desk *d, uint32_t number, enum channel_result r, bool doubt,
			 const struct err *why, struct err *err)
{
	switch (r) {
	case CHANNEL_OK: return desk_mark_sent(d, number, err);
	case CHANNEL_FAILED: return desk_hold(d, number, !doubt, why, err);
	case CHANNEL_UNCERTAIN: return desk_hold(d, number, false, why, err);
	}
	return 0;
}

/* clean: no earlier attempt has written anything. */
static int transmit(struct desk *d, uint32_t number, bool anew, bool clean, struct err *err)
{
	struct letter *l = &d->letters.v[number];
	struct channel own = { .fd = -1, .sole_writer = d->sole_writer, .wait_ms = d->wait_ms,
			       .idle = d->idle, .id = l->id };
	struct channel *locked = locked_channel(d, l), *c = locked ? locked : &own;
	struct err why = { { 0 } };
	enum channel_result r;
	bool doubt = l->tried && l->uncertain && !clean;
	uint32_t before;

	if (!letter_is_unfinished(l))
		return 0; /* a dismissal is only recorded */
	if (l->channel == CHANNEL_AGENT && d->agent && d->agent->queued) {
		desk_tick(d, loop_now_ms());
		return 0;
	}
	if (l->channel == CHANNEL_NONE) {
		err_set(&why,
			"its text was lost with a damaged record; check whether it arrived, then "
			"decide again");
		return desk_hold(d, number, !doubt, &why, err);
	}
	before = find_blocking(d, l, number);
	if (before != NONE) {
		err_set(&why,
			"waits for %s, which is not sent yet; send or abandon that one first",
			d->letters.v[before].id);
		return desk_hold(d, number, !doubt, &why, err);
	}
	r = locked ? CHANNEL_OK : channel_open(c, l->channel, l->path.p, &why);
	if (r == CHANNEL_OK) {
		keep_fifo_open(d, c);
		r = try_send(d, number, c, anew, &doubt, &why);
	}
	if (!locked)
		channel_close(c);
	return record_result(d, number, r, doubt, &why, err);
}

/* Prepares sending to a file that is locked already, before the letter is recorded: nothing is waited
 * for, so that its INTENT and ATTEMPT can be recorded together. false: send it the usual way. */
static bool prepare_locked(struct desk *d, struct letter *l)
{
	struct channel *c = locked_channel(d, l);
	struct err ignored; /* transmit will say it */

	if (!c || !d->journal.writing || find_blocking(d, l, d->letters.n) != NONE ||
	    channel_prepare(c, l->bytes, false, &l->attempt, &ignored) != CHANNEL_OK)
		return false;
	return true;
}

/* Writes the bytes of a letter whose ATTEMPT was recorded with its INTENT. */
static int transmit_prepared(struct desk *d, uint32_t number, struct err *err)
{
	const struct letter *l = &d->letters.v[number];
	struct err why = { { 0 } };
	enum channel_result r = channel_send(locked_channel(d, l), l->bytes, &l->attempt, &why);

	return record_result(d, number, r, false, &why, err);
}

/* An empty message could never be delivered, and would block all others to the same channel. */
static int check_intent(const struct desk *d, const struct letter *l, struct err *err)
{
	for (uint32_t i = 0; i < l->drafts.n; i++)
		if (d->drafts.v[l->drafts.v[i]].state != DRAFT_STAGED)
			return err_set(err, "NOT recorded: the decision is not staged any more");
	if (letter_is_empty(d, l))
		return err_set(err, "NOT recorded: the message would be empty; this is a fault of "
				    "gavel, please report it");
	return 0;
}

/* Letters that are about to be recorded, and the records. */
struct outbox {
	VEC(struct letter) letters; /* their drafts are borrowed */
	struct buf text;
	VEC(size_t) ends; /* of the records in the text */
	uint32_t first;   /* number of the first letter on the desk */
};

static void outbox_release(struct outbox *o)
{
	vec_release(&o->letters);
	vec_release(&o->ends);
	buf_release(&o->text);
}

static struct str outbox_record(const struct outbox *o, uint32_t i)
{
	size_t from = i ? o->ends.v[i - 1] : 0;

	return str_make(o->text.p + from, o->ends.v[i] - from);
}

static int append_outbox(struct desk *d, const struct outbox *o, struct err *err)
{
	struct str *records = xmalloc(o->ends.n * sizeof(*records));
	int rc;

	for (uint32_t i = 0; i < o->ends.n; i++)
		records[i] = outbox_record(o, i);
	rc = desk_append_all(d, records, o->ends.n, true, err);
	free(records);
	return rc;
}

static void apply_outbox(struct desk *d, const struct outbox *o)
{
	for (uint32_t i = 0; i < o->ends.n; i++)
		record_apply(d, outbox_record(o, i));
}

/* The record of letters that are sent together, which get their ids. */
static int record_letters(struct desk *d, struct letter *letters, uint32_t n, struct buf *line,
			  struct err *err)
{
	if (n > 1)
		buf_adds(line, "{\"state\":\"INTENTS\",\"list\":[");
	for (uint32_t i = 0; i < n; i++) {
		if (check_intent(d, &letters[i], err))
			return -1;
		decision_id(letters[i].id);
		letters[i].time_ms = timestamp_now_ms();
		if (n > 1)
			json_comma(line);
		if (n == 1 && letters[i].channel == CHANNEL_NONE)
			record_done(d, &letters[i], line);
		else
			record_intent(d, &letters[i], line);
	}
	if (n > 1)
		buf_adds(line, "]}");
	return 0;
}

/* Copies them behind the others. */
static void copy_letters(struct outbox *o, const struct letter_group *group)
{
	for (uint32_t i = 0; i < group->n; i++)
		vec_push(&o->letters, group->letters[i]);
}

/* Records INTENT of each group, and ATTEMPT of the first `attempts` letters. */
static int record_outbox(struct desk *d, struct outbox *o, const struct letter_group *groups, uint32_t n,
			 uint32_t attempts, struct err *err)
{
	uint32_t at = 0;

	for (uint32_t i = 0; i < n; at += groups[i++].n) {
		if (record_letters(d, &o->letters.v[at], groups[i].n, &o->text, err))
			return -1;
		vec_push(&o->ends, o->text.n);
	}
	for (uint32_t i = 0; i < attempts; i++) {
		find_anchor(d, &o->letters.v[i], false);
		record_attempt(d, &o->letters.v[i], &o->text);
		vec_push(&o->ends, o->text.n);
	}
	if (append_outbox(d, o, err))
		return -1;
	o->first = d->letters.n; /* after desk_append_all, which may have replayed another's journal */
	apply_outbox(d, o); /* so exactly what the journal has is sent */
	return 0;
}

int desk_send_all(struct desk *d, const struct letter *letters, uint32_t n, uint32_t *first,
		  struct err *err)
{
	const struct letter_group group = { letters, n };
	struct outbox o = { 0 };
	bool prepared;
	int rc;

	copy_letters(&o, &group);
	prepared = n && prepare_locked(d, &o.letters.v[0]);
	rc = record_outbox(d, &o, &group, 1, prepared, err);
	*first = rc ? d->letters.n : o.first;
	for (uint32_t i = 0; i < n && rc == 0; i++)
		rc = i == 0 && prepared ? transmit_prepared(d, *first, err)
					: transmit(d, *first + i, false, false, err);
	outbox_release(&o);
	return rc;
}

/* ---- many letters to one file ---- */

/* How many of the groups go to the file of the first one, which is locked. */
static uint32_t count_batch(const struct desk *d, const struct letter_group *groups, uint32_t n)
{
	const struct channel *c = locked_channel(d, &groups[0].letters[0]);
	uint32_t letters = 0;
	size_t bytes = 0;

	for (uint32_t i = 0; i < n && c; i++) {
		letters += groups[i].n;
		for (uint32_t k = 0; k < groups[i].n; k++) {
			bytes += groups[i].letters[k].bytes.n;
			if (locked_channel(d, &groups[i].letters[k]) != c)
				return i;
		}
		if (letters > BATCH_MAX || bytes > BATCH_BYTES_MAX)
			return i;
	}
	return c ? n : 0;
}

/* Letters as the channel takes them. */
struct sending {
	struct str *bytes;
	struct attempt *attempts;
};

static struct sending sending_of(const struct letter *letters, uint32_t n)
{
	struct sending s = { xmalloc(n * sizeof(*s.bytes)), xmalloc(n * sizeof(*s.attempts)) };

	for (uint32_t i = 0; i < n; i++) {
		s.bytes[i] = letters[i].bytes;
		s.attempts[i] = letters[i].attempt;
	}
	return s;
}

static void sending_release(struct sending *s)
{
	free(s->bytes);
	free(s->attempts);
}

/* Where each letter will be in the file. */
static bool prepare_batch(struct desk *d, struct outbox *o)
{
	uint32_t n = o->letters.n;
	struct sending s = sending_of(o->letters.v, n);
	struct err ignored; /* desk_send_all will say it */
	bool fine = d->journal.writing &&
		    find_blocking(d, &o->letters.v[0], d->letters.n) == NONE &&
		    channel_prepare_all(locked_channel(d, &o->letters.v[0]), s.bytes, n, s.attempts,
					&ignored) == CHANNEL_OK;

	for (uint32_t i = 0; i < n && fine; i++)
		o->letters.v[i].attempt = s.attempts[i];
	sending_release(&s);
	return fine;
}

static int mark_all_sent(struct desk *d, uint32_t first, uint32_t n, struct err *err)
{
	struct outbox o = { 0 };
	struct err why;
	int rc;

	for (uint32_t i = 0; i < n; i++) {
		record_sent(d, &d->letters.v[first + i], &o.text);
		vec_push(&o.ends, o.text.n);
	}
	rc = append_outbox(d, &o, &why);
	if (rc)
		err_set(err, "the messages went out, but that was %.450s", why.text);
	else
		apply_outbox(d, &o);
	outbox_release(&o);
	return rc;
}

/* Writes letters whose ATTEMPTs are recorded, up to the first one that fails. */
static int transmit_batch(struct desk *d, uint32_t first, uint32_t n, struct err *err)
{
	struct channel *c = locked_channel(d, &d->letters.v[first]);
	enum channel_result r = CHANNEL_OK, synced;
	struct sending s = sending_of(&d->letters.v[first], n);
	struct err why = { { 0 } }, unsafe = { { 0 } };
	uint32_t done = 0, more, doubtful = 0;
	int rc = 0;

	for (; done < n && r == CHANNEL_OK; done += more)
		r = channel_append(c, &s.bytes[done], &s.attempts[done], n - done, &more, &doubtful,
				   &why);
	sending_release(&s);
	synced = done ? channel_sync(c, &unsafe) : CHANNEL_OK;
	if (done && synced == CHANNEL_OK)
		rc = mark_all_sent(d, first, done, err);
	for (uint32_t i = 0; i < done && synced != CHANNEL_OK && rc == 0; i++)
		rc = record_result(d, first + i, synced, false, &unsafe, err);
	for (; r == CHANNEL_UNCERTAIN && doubtful && rc == 0; doubtful--)
		rc = record_result(d, first + done++, r, false, &why, err);
	for (; done < n && rc == 0; done++) /* held behind it, or not where they were expected */
		rc = transmit(d, first + done, false, true, err);
	return rc;
}

/* 1: it must be sent the usual way, and nothing was recorded. */
static int send_batch(struct desk *d, const struct letter_group *groups, uint32_t n, struct err *err)
{
	struct outbox o = { 0 };
	int rc = 1;

	for (uint32_t i = 0; i < n; i++)
		copy_letters(&o, &groups[i]);
	if (prepare_batch(d, &o)) {
		rc = record_outbox(d, &o, groups, n, o.letters.n, err);
		if (rc == 0)
			rc = transmit_batch(d, o.first, o.letters.n, err);
	}
	outbox_release(&o);
	return rc;
}

int desk_send_groups(struct desk *d, const struct letter_group *groups, uint32_t n, struct err *err)
{
	uint32_t batch, ignored;
	int rc = 0;

	for (uint32_t i = 0; i < n && rc == 0; i += batch) {
		batch = count_batch(d, &groups[i], n - i);
		rc = batch > 1 ? send_batch(d, &groups[i], batch, err) : 1;
		batch = rc == 1 ? 1 : batch;
		if (rc == 1)
			rc = desk_send_all(d, groups[i].letters, groups[i].n, &ignored, err);
	}
	return rc;
}

int desk_resend(struct desk *d, uint32_t letter, struct err *err)
{
	uint32_t before = find_blocking(d, &d->letters.v[letter], letter);

	if (!letter_is_unfinished(&d->letters.v[letter]))
		return err_set(err, "%s is %s; only held messages are sent again",
			       d->letters.v[letter].id,
			       letter_state_name(d->letters.v[letter].state));
	if (before != NONE)
		return err_set(err, "%s goes to the same place first; send or abandon it",
			       d->letters.v[before].id);
	if (d->access != DESK_WRITES)
		return err_set(err, "%s", d->why.text);
	return transmit(d, letter, true, false, err);
}

enum channel_found desk_look_for(struct desk *d, const struct letter *l, struct err *err)
{
	struct channel c = { .fd = -1, .sole_writer = d->sole_writer, .id = l->id };
	enum channel_found found = FOUND_NOTHING;
	struct stat st;

	if (l->channel == CHANNEL_AGENT) {
		found = FOUND_TROUBLE;
		c.wait_ms = LOOK_MS;
	} else if (l->channel == CHANNEL_TEAM) {
		found = FOUND_TROUBLE;
	} else if ((l->channel != CHANNEL_FILE && l->channel != CHANNEL_DIR) ||
		   stat(l->path.p, &st)) {
		return FOUND_NOTHING; /* nothing is created */
	}
	if (channel_open(&c, l->channel, l->path.p, err) == CHANNEL_OK)
		found = channel_probe(&c, l->bytes, &l->attempt, err);
	channel_close(&c);
	return found;
}

int desk_give_up(struct desk *d, uint32_t letter, bool sure, struct err *err)
{
	const struct letter *l = &d->letters.v[letter];
	enum channel_found found;
	struct err why = { { 0 } };

	if (!letter_is_unfinished(l))
		return err_set(err, "%s is %s; nothing to abandon", l->id,
			       letter_state_name(l->state));
	if (l->tried && l->uncertain) {
		if (!sure && !letter_is_lost(d, l))
			return err_set(err,
				       "%s may have arrived, and then somebody may act on it; send "
				       "it again, or give --sure",
				       l->id);
		found = desk_look_for(d, l, &why);
		if (found == FOUND_WHOLE)
			return desk_mark_sent(d, letter, err);
		if (found == FOUND_TROUBLE && (l->channel == CHANNEL_AGENT || l->channel == CHANNEL_TEAM))
			return err_set(err, "%s may be on its way: %.400s", l->id, why.text);
	}
	return desk_void(d, l->id, err);
}

/* ---- turns of a review ---- */

int desk_reroute(struct desk *d, uint32_t letter, struct str path, struct err *err)
{
	const struct letter *l = &d->letters.v[letter];
	struct buf line = { 0 };

	if (!letter_is_unfinished(l) || l->channel != CHANNEL_AGENT)
		return err_set(err, "%s is %s; only held messages are sent again", l->id,
			       letter_state_name(l->state));
	record_step("MOVED", l->id, &line);
	json_put_str(&line, "path", path);
	buf_addc(&line, '}');
	return desk_step(d, &line, true, err);
}

int desk_conclude(struct desk *d, uint32_t letter, bool arrived, struct err *err)
{
	const struct letter *l = &d->letters.v[letter];
	struct buf line = { 0 };

	if (!letter_is_unfinished(l))
		return 0;
	if (!arrived)
		return desk_void(d, l->id, err);
	record_sent(d, l, &line);
	return desk_step(d, &line, true, err);
}

/* ---- recovery after a crash ---- */

uint32_t desk_unfinished(const struct desk *d)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < d->letters.n; i++)
		n += letter_is_unfinished(&d->letters.v[i]);
	return n;
}

/* Whether to risk a duplicate when the first copy's fate is unknown. */
static bool may_send_twice(const struct letter *l, bool asked)
{
	switch (dialects[l->dialect]->redelivery) {
	case REDELIVERY_ALWAYS: return l->tries < TRIES_MAX;
	case REDELIVERY_ASKED: return asked;
	case REDELIVERY_NEVER: break;
	}
	return false;
}

uint32_t desk_recover(struct desk *d, bool uncertain, struct err *err)
{
	d->recovered = true;
	for (uint32_t i = 0; i < d->letters.n && d->access == DESK_WRITES; i++)
		if (!letter_is_unfinished(&d->letters.v[i]))
			continue;
		else if (letter_is_lost(d, &d->letters.v[i]))
			desk_give_up(d, i, true, err);
		else
			transmit(d, i, may_send_twice(&d->letters.v[i], uncertain), false, err);
	return desk_unfinished(d);
}
