/* Drivers of real agents: the state that all dialects have, and the list of prompts that wait. */
#include "agents/driver.h"

#include <stdio.h>

enum { WORDS_MAX_BYTES = 300 };

static const struct driver_ops *const drivers[] = { &driver_claude, &driver_codex, &driver_acp };

const struct driver_ops *driver_of(enum dialect_id dialect)
{
	for (size_t i = 0; i < sizeof(drivers) / sizeof(drivers[0]); i++)
		if (drivers[i]->dialect == dialect)
			return drivers[i];
	return NULL;
}

void driver_set(struct buf *b, struct str text)
{
	buf_clear(b);
	if (text.n)
		buf_add_str(b, text);
}

static void forget_requests(struct driver *d)
{
	for (uint32_t i = 0; i < d->requests.n; i++) {
		free(d->requests.v[i].method);
		free(d->requests.v[i].text);
	}
	for (uint32_t i = 0; i < d->asked.n; i++) {
		free(d->asked.v[i].id);
		free(d->asked.v[i].method);
	}
	d->requests.n = d->asked.n = 0;
}

void driver_init(struct driver *d, const struct driver_ops *ops, struct str folder)
{
	d->ops = ops;
	driver_set(&d->folder, folder);
}

static void drop_prompt(struct driver *d, uint32_t i)
{
	free(d->prompts.v[i].text);
	d->prompts.n--;
	memmove(&d->prompts.v[i], &d->prompts.v[i + 1], (d->prompts.n - i) * sizeof(*d->prompts.v));
}

/* Numbers go on, so that each is that of one request in the whole capture. Prompts and modes that
 * were given for the start wait already. */
void driver_run(struct driver *d)
{
	if (d->runs) /* its holder was killed before it could record the end */
		driver_end(d);
	d->runs = true;
	d->step = DRIVER_FRESH;
	d->has_spoken = d->malformed = d->needs_login = d->asks_nobody = false;
	d->prompted = 0;
	buf_clear(&d->session);
	buf_clear(&d->agent);
	buf_clear(&d->model);
	driver_forget_modes(d);
	d->first_mode = !d->mode.n && d->start_mode.n;
	if (d->first_mode)
		driver_set(&d->mode, buf_str(&d->start_mode));
}

void driver_end(struct driver *d)
{
	if (d->live && d->prompts.n)
		driver_say(d, "has ended; %u prompt%s not sent to it", d->prompts.n,
			   d->prompts.n == 1 ? " was" : "s were");
	while (d->prompts.n)
		drop_prompt(d, d->prompts.n - 1);
	forget_requests(d);
	driver_turn_ends(d);
	driver_forget_modes(d);
	buf_clear(&d->mode);
	d->runs = false;
}

void driver_release(struct driver *d)
{
	forget_requests(d);
	for (uint32_t i = 0; i < d->prompts.n; i++)
		free(d->prompts.v[i].text);
	vec_release(&d->prompts);
	vec_release(&d->requests);
	vec_release(&d->asked);
	buf_release(&d->notice);
	buf_release(&d->folder);
	buf_release(&d->session);
	buf_release(&d->turn);
	driver_forget_modes(d);
	vec_release(&d->offers);
	buf_release(&d->start_mode);
	buf_release(&d->mode);
	buf_release(&d->agent);
	buf_release(&d->model);
	json_reader_release(&d->reader);
}

void driver_note(struct driver *d, struct str line, bool told)
{
	enum json_outcome read;
	yyjson_val *root;

	line = str_trim(line);
	if (!line.n)
		return;
	read = json_read(&d->reader, line, &root);
	if ((read != JSON_OK && read != JSON_REPAIRED) || !yyjson_is_obj(root)) {
		d->malformed |= !told;
		return;
	}
	if (told) {
		d->ops->told(d, root);
		return;
	}
	d->has_spoken = true;
	d->ops->heard(d, root);
}

void driver_live(struct driver *d)
{
	d->live = true;
	buf_clear(&d->notice);
}

/* ---- wishes ---- */

bool driver_prompt(struct driver *d, struct str text)
{
	if (d->prompts.n >= DRIVER_PROMPTS_MAX)
		return false;
	vec_push(&d->prompts, (struct driver_prompt){ str_dup(text), text.n });
	return true;
}

void driver_put_prompt(struct driver *d, struct buf *line)
{
	json_write_str(line, str_make(d->prompts.v[0].text, d->prompts.v[0].n));
	drop_prompt(d, 0);
}

void driver_prompt_told(struct driver *d, struct str text)
{
	d->prompted += !d->composing;
	for (uint32_t i = 0; !d->live && i < d->prompts.n; i++)
		if (str_eq(text, str_make(d->prompts.v[i].text, d->prompts.v[i].n))) {
			drop_prompt(d, i);
			return;
		}
}

void driver_prompt_again(struct driver *d, struct str text)
{
	vec_push(&d->prompts, (struct driver_prompt){ 0 });
	memmove(&d->prompts.v[1], &d->prompts.v[0], (d->prompts.n - 1) * sizeof(*d->prompts.v));
	d->prompts.v[0] = (struct driver_prompt){ str_dup(text), text.n };
}

bool driver_takes_prompt(const struct driver *d)
{
	if (d->ops->dialect == DIALECT_CLAUDE)
		return true;
	return d->step == DRIVER_READY &&
	       (!d->busy || (d->ops->dialect == DIALECT_CODEX && d->turn.n && !d->no_steering));
}

bool driver_interrupt(struct driver *d)
{
	d->interrupt = d->busy;
	return d->busy;
}

bool driver_next(struct driver *d, struct buf *line)
{
	size_t start = line->n;

	if (!d->live || !d->runs || d->step == DRIVER_FAILED || !d->ops->next(d, line))
		return false;
	d->composing = true;
	driver_note(d, str_from(buf_str(line), start), true);
	d->composing = false;
	buf_addc(line, '\n');
	return true;
}

/* ---- for the dialects ---- */

struct str driver_cut(struct str words)
{
	return str_make(words.p, words.n < WORDS_MAX_BYTES ? words.n : WORDS_MAX_BYTES);
}

void driver_say(struct driver *d, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	buf_clear(&d->notice);
	buf_vprintf(&d->notice, format, ap);
	va_end(ap);
}

bool driver_is_login(struct str words)
{
	static const char *const some[] = { "log in", "login",      "logged in",
					    "auth",   "api key",    "api_key",
					    "apikey", "credential", "unauthorized",
					    "environment variable" };

	for (size_t i = 0; i < sizeof(some) / sizeof(some[0]); i++)
		if (str_contains_nocase(words, str_of(some[i])))
			return true;
	return false;
}

void driver_fail(struct driver *d, const char *what, struct str why)
{
	d->step = DRIVER_FAILED;
	d->needs_login = driver_is_login(why);
	driver_say(d, "refused %s: %.*s", what, STR_ARG(driver_cut(why)));
}

void driver_step_to(struct driver *d, enum driver_step step)
{
	if (step > d->step)
		d->step = step;
}

void driver_turn_begins(struct driver *d)
{
	d->busy = true;
}

void driver_turn_ends(struct driver *d)
{
	d->busy = d->interrupt = d->cancelling = d->no_steering = false;
	buf_clear(&d->turn);
}

static uint32_t find_asked(const struct driver *d, yyjson_val *id)
{
	struct buf text = { 0 };
	uint32_t i = 0;

	json_write(&text, id);
	while (i < d->asked.n && !str_is(buf_str(&text), d->asked.v[i].id))
		i++;
	buf_release(&text);
	return i;
}

void driver_asks(struct driver *d, yyjson_val *id, struct str method, bool refuse)
{
	struct buf text = { 0 };

	if ((!yyjson_is_str(id) && !yyjson_is_num(id)) || d->asked.n >= DRIVER_ASKED_MAX ||
	    find_asked(d, id) < d->asked.n)
		return;
	json_write(&text, id);
	vec_push(&d->asked, (struct driver_asked){ text.p, str_dup(method), refuse });
}

void driver_answered(struct driver *d, yyjson_val *id)
{
	uint32_t i = id ? find_asked(d, id) : d->asked.n;

	if (i == d->asked.n)
		return;
	free(d->asked.v[i].id);
	free(d->asked.v[i].method);
	d->asked.v[i] = d->asked.v[--d->asked.n];
}

const struct driver_asked *driver_to_refuse(const struct driver *d)
{
	for (uint32_t i = 0; i < d->asked.n; i++)
		if (d->asked.v[i].refuse)
			return &d->asked.v[i];
	return NULL;
}
