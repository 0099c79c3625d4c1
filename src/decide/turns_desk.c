/* What becomes of the letter of a turn whose process could not begin, or has ended. */
#include "decide/records.h"

/* Releases the line. */
static int write_step(struct desk *d, struct buf *line, struct err *err)
{
	int rc = desk_append(d, buf_str(line), true, err);

	if (rc == 0)
		record_take(d, buf_str(line));
	buf_release(line);
	return rc;
}

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
	return write_step(d, &line, err);
}

int desk_conclude(struct desk *d, uint32_t letter, bool arrived, struct err *err)
{
	const struct letter *l = &d->letters.v[letter];
	struct buf line = { 0 };

	if (!letter_is_unfinished(l))
		return 0;
	if (arrived) {
		record_sent(d, l, &line);
	} else {
		record_step("VOID", l->id, &line);
		buf_addc(&line, '}');
	}
	return write_step(d, &line, err);
}
