/* Sending: the record first, then the channel, then the record of how it ended.
 *
 * Letters to one channel go out in the order of the journal: behind one that is held, the next is
 * held too. What may have arrived is not sent again without a reason: the channel is probed where
 * that is possible; where it is not, native ids and file names make a second copy harmless
 * (collaboration, handoff), other protocols ask the person. */
#include "channel/channel_ops.h"
#include "decide/output_queue.h"
#include "decide/records.h"
#include "dialect/dialect.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

enum { TRIES_MAX = 3 };

int desk_mark_sent(struct desk *d, uint32_t number, struct err *err)
{
	struct buf line = { 0 };
	struct err why;

	record_sent(d, &d->letters.v[number], &line);
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

/* Letters to the same file or FIFO, or to files of the same folder, keep their order. */
static struct str channel_name(const struct letter *l)
{
	struct str path = l->path;

	while (l->channel == CHANNEL_DIR && path.n && path.p[path.n - 1] != '/')
		path.n--;
	return path;
}

/* An earlier letter to the same channel that has not gone out, or NONE. */
static uint32_t find_before(const struct desk *d, uint32_t number)
{
	const struct letter *l = &d->letters.v[number];

	for (uint32_t i = 0; i < number; i++)
		if (d->letters.v[i].channel == l->channel &&
		    letter_is_unfinished(&d->letters.v[i]) &&
		    str_eq(channel_name(&d->letters.v[i]), channel_name(l)))
			return i;
	return NONE;
}

/* Whether the letter before it on the same channel may have left half a line, whatever became of it
 * since: the log may have proven it, or the person given it up. */
static bool is_after_torn(const struct desk *d, uint32_t number)
{
	const struct letter *l = &d->letters.v[number];

	for (uint32_t i = number; i-- > 0;) {
		const struct letter *old = &d->letters.v[i];

		if (old->tried && old->channel == l->channel &&
		    str_eq(channel_name(old), channel_name(l)))
			return old->uncertain;
	}
	return false;
}

int desk_mark_attempt(struct desk *d, uint32_t number, const struct attempt *at, struct err *err)
{
	struct letter told = d->letters.v[number];
	struct buf line = { 0 };

	told.attempt = *at;
	record_attempt(d, &told, &line);
	return desk_step(d, &line, true, err);
}

/* Where the try begins; recorded before a byte leaves. */
static enum channel_result begin(struct desk *d, uint32_t number, struct channel *c,
				 struct attempt *at, struct err *err)
{
	const struct letter *l = &d->letters.v[number];
	enum channel_result r = channel_prepare(c, l->bytes, l->tried || is_after_torn(d, number), at, err);

	if (r != CHANNEL_OK)
		return r;
	return desk_mark_attempt(d, number, at, err) ? CHANNEL_FAILED : CHANNEL_OK;
}

/* One try on an open channel. *doubt: an earlier one may have arrived, as far as is known. anew: it
 * is to be sent again all the same. */
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
	r = begin(d, number, c, &at, err);
	if (r != CHANNEL_OK)
		return r;
	return channel_send(c, l->bytes, &at, err);
}

/* A reader takes it for the end when the last writer closes; between two messages it is not. */
static void keep_open(struct desk *d, const struct channel *c)
{
	int fd = c->type == CHANNEL_FIFO ? fcntl(c->fd, F_DUPFD_CLOEXEC, 3) : -1;

	if (fd < 0)
		return;
	desk_let_go(d);
	d->hand = fd + 1;
}

void desk_let_go(struct desk *d)
{
	if (d->hand)
		close(d->hand - 1);
	d->hand = 0;
}

static int transmit(struct desk *d, uint32_t number, bool anew, struct err *err)
{
	struct letter *l = &d->letters.v[number];
	struct channel c = { .fd = -1, .sole_writer = d->sole_writer, .wait_ms = d->wait_ms,
			     .idle = d->idle };
	struct err why = { { 0 } };
	enum channel_result r;
	bool doubt = l->tried && l->uncertain;
	uint32_t before;

	if (!letter_is_unfinished(l))
		return 0; /* nothing is sent: the record is all */
	if (l->channel == CHANNEL_CHILD && d->way) {
		desk_tick(d, loop_now_ms());
		return 0;
	}
	if (l->channel == CHANNEL_NONE) {
		err_set(&why,
			"its text was lost with a damaged record; look whether it arrived, then "
			"decide once more");
		return desk_hold(d, number, !doubt, &why, err);
	}
	before = find_before(d, number);
	if (before != NONE) {
		err_set(&why, "waits behind %s, which has not gone out; send or give up that one first",
			d->letters.v[before].id);
		return desk_hold(d, number, !doubt, &why, err);
	}
	r = channel_open(&c, l->channel, l->path.p, &why);
	if (r == CHANNEL_OK) {
		keep_open(d, &c);
		r = try_send(d, number, &c, anew, &doubt, &why);
	}
	channel_close(&c);
	switch (r) {
	case CHANNEL_OK: return desk_mark_sent(d, number, err);
	case CHANNEL_FAILED: return desk_hold(d, number, !doubt, &why, err);
	case CHANNEL_UNCERTAIN: return desk_hold(d, number, false, &why, err);
	}
	return 0;
}

/* What must not become an INTENT. An empty message could never be delivered, and all others to the
 * same place would wait behind it. */
static int check_letter(const struct desk *d, const struct letter *l, struct err *err)
{
	for (uint32_t i = 0; i < l->drafts.n; i++)
		if (d->drafts.v[l->drafts.v[i]].state != DRAFT_STAGED)
			return err_set(err, "NOT recorded: the decision is not staged any more");
	if (letter_is_empty(d, l))
		return err_set(err, "NOT recorded: the message would be empty; this is a fault of "
				    "gavel, please report it");
	return 0;
}

int desk_send_all(struct desk *d, const struct letter *letters, uint32_t n, uint32_t *first,
		  struct err *err)
{
	struct buf line = { 0 };
	int rc = 0;

	if (n > 1)
		buf_adds(&line, "{\"state\":\"INTENTS\",\"list\":[");
	for (uint32_t i = 0; i < n; i++) {
		struct letter fresh = letters[i];

		if (check_letter(d, &fresh, err)) {
			buf_release(&line);
			return -1;
		}
		decision_id(fresh.id);
		fresh.time_ms = timestamp_now_ms();
		if (n > 1)
			json_comma(&line);
		record_intent(d, &fresh, &line);
	}
	if (n > 1)
		buf_adds(&line, "]}");
	rc = desk_append(d, buf_str(&line), true, err);
	*first = d->letters.n; /* the first record may have opened a journal with others' */
	if (rc == 0)
		record_take(d, buf_str(&line)); /* what is sent is what the journal has */
	buf_release(&line);
	for (uint32_t i = 0; i < n && rc == 0; i++)
		rc = transmit(d, *first + i, false, err);
	return rc;
}

int desk_resend(struct desk *d, uint32_t letter, struct err *err)
{
	uint32_t before = find_before(d, letter);

	if (!letter_is_unfinished(&d->letters.v[letter]))
		return err_set(err, "%s is %s; only what is held is sent again",
			       d->letters.v[letter].id,
			       letter_state_name(d->letters.v[letter].state));
	if (before != NONE)
		return err_set(err, "%s goes first to the same place; send or give up that one",
			       d->letters.v[before].id);
	if (d->access != DESK_WRITES)
		return err_set(err, "%s", d->why.text);
	return transmit(d, letter, true, err);
}

/* Whether it is known after all that it arrived. A place that is gone is not made anew to look. */
static bool has_arrived(struct desk *d, const struct letter *l)
{
	struct channel c = { .fd = -1, .sole_writer = d->sole_writer };
	struct stat st;
	struct err ignored;
	bool arrived = false;

	if ((l->channel != CHANNEL_FILE && l->channel != CHANNEL_DIR) || stat(l->path.p, &st))
		return false;
	if (channel_open(&c, l->channel, l->path.p, &ignored) == CHANNEL_OK)
		arrived = channel_probe(&c, l->bytes, &l->attempt, &ignored) == FOUND_WHOLE;
	channel_close(&c);
	return arrived;
}

static int give_up(struct desk *d, const struct letter *l, struct err *err)
{
	struct buf line = { 0 };

	record_step("VOID", l->id, &line);
	buf_addc(&line, '}');
	return desk_step(d, &line, true, err);
}

int desk_give_up(struct desk *d, uint32_t letter, bool sure, struct err *err)
{
	const struct letter *l = &d->letters.v[letter];

	if (!letter_is_unfinished(l))
		return err_set(err, "%s is %s; there is nothing to give up", l->id,
			       letter_state_name(l->state));
	if (l->tried && l->uncertain) {
		if (!sure && !letter_is_lost(l))
			return err_set(err,
				       "%s may have arrived, and then somebody may act on it; send it "
				       "again, or give --sure",
				       l->id);
		if (has_arrived(d, l))
			return desk_mark_sent(d, letter, err);
	}
	return give_up(d, l, err);
}

/* ---- turns of a review ---- */

int desk_move(struct desk *d, uint32_t letter, struct str path, struct err *err)
{
	const struct letter *l = &d->letters.v[letter];
	struct buf line = { 0 };

	if (!letter_is_unfinished(l) || l->channel != CHANNEL_CHILD)
		return err_set(err, "%s is %s; only what is held is sent again", l->id,
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
		return give_up(d, l, err);
	record_sent(d, l, &line);
	return desk_step(d, &line, true, err);
}

/* ---- after a start ---- */

uint32_t desk_unfinished(const struct desk *d)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < d->letters.n; i++)
		n += letter_is_unfinished(&d->letters.v[i]);
	return n;
}

/* Whether a second copy may go out when nobody knows about the first. */
static bool may_repeat(const struct letter *l, bool asked)
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
		else if (letter_is_lost(&d->letters.v[i]))
			desk_give_up(d, i, true, err);
		else
			transmit(d, i, may_repeat(&d->letters.v[i], uncertain), err);
	return desk_unfinished(d);
}
