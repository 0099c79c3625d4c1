/* Modes of real agents: what they may do without asking, or whether they only plan. What the user
 * wishes waits here until the agent was told, and prompts wait until it has answered: a call that
 * was to be asked about must not run while the mode is being changed. */
#include "agents/driver.h"

void driver_offer(struct driver *d, struct str mode, struct str option)
{
	if (mode.n && !driver_offer_of(d, mode))
		vec_push(&d->offers, (struct driver_offer){ str_dup(mode),
							    option.n ? str_dup(option) : NULL });
}

const struct driver_offer *driver_offer_of(const struct driver *d, struct str mode)
{
	for (uint32_t i = 0; i < d->offers.n; i++)
		if (str_is(mode, d->offers.v[i].mode))
			return &d->offers.v[i];
	return NULL;
}

void driver_put_offers(const struct driver *d, struct buf *out)
{
	for (uint32_t i = 0; i < d->offers.n; i++)
		buf_printf(out, "%s%s", i ? ", " : "", d->offers.v[i].mode);
}

void driver_forget_modes(struct driver *d)
{
	for (uint32_t i = 0; i < d->offers.n; i++) {
		free(d->offers.v[i].mode);
		free(d->offers.v[i].option);
	}
	d->offers.n = 0;
	d->mode_request = 0;
	d->first_mode = false;
}

/* Says which of the modes is not offered. */
static bool are_offered(struct driver *d, struct str modes)
{
	struct buf all = { 0 };
	bool offered = true;

	while (d->offers.n && modes.n && offered) {
		struct str mode = str_trim(str_cut(&modes, STR(",")));

		offered = driver_offer_of(d, mode) != NULL;
		if (offered)
			continue;
		driver_put_offers(d, &all);
		driver_say(d, "has no mode \"%.*s\"; it offers %s", STR_ARG(driver_cut(mode)),
			   all.p);
	}
	buf_release(&all);
	return offered;
}

bool driver_mode(struct driver *d, struct str modes)
{
	if (!are_offered(d, modes))
		return false;
	driver_set(&d->mode, modes);
	return true;
}

void driver_start_mode(struct driver *d, struct str modes)
{
	driver_set(&d->start_mode, modes);
}

bool driver_offered(struct driver *d)
{
	if (!d->first_mode || are_offered(d, buf_str(&d->start_mode)))
		return true;
	d->step = DRIVER_FAILED;
	return false;
}

struct str driver_next_mode(const struct driver *d)
{
	struct str rest = buf_str(&d->mode);

	return str_trim(str_cut(&rest, STR(",")));
}

void driver_mode_told(struct driver *d, struct str mode, uint64_t request)
{
	struct str rest = buf_str(&d->mode), first = str_trim(str_cut(&rest, STR(",")));
	struct buf left = { 0 };

	d->mode_request = request;
	/* the capture repeats what was written meanwhile, which may be wished for again */
	if (!str_eq(first, mode) || (d->live && !d->composing))
		return;
	buf_add_str(&left, rest);
	driver_set(&d->mode, buf_str(&left));
	buf_release(&left);
	d->first_mode &= d->mode.n || request;
}

bool driver_mode_answered(struct driver *d, uint64_t request, struct str why)
{
	if (!request || request != d->mode_request)
		return false;
	d->mode_request = 0;
	if (!why.n) {
		d->asks_nobody = false;
		if (!d->first_mode)
			driver_say(d, "has changed its mode");
		d->first_mode &= d->mode.n != 0;
		return true;
	}
	buf_clear(&d->mode);
	if (d->first_mode)
		d->step = DRIVER_FAILED;
	d->needs_login = driver_is_login(why);
	driver_say(d, "refused the mode: %.*s", STR_ARG(driver_cut(why)));
	return true;
}

bool driver_changes_mode(const struct driver *d)
{
	return d->mode.n || d->mode_request;
}
