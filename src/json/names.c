/* Interning table of member names. */
#include "json/names.h"

#include "base/err.h"

_Static_assert(sizeof(struct known_name) == NAME_WINDOW, "compared with one window of text");

static void set_name(struct known_name *out, struct str name)
{
	*out = (struct known_name){ .text = { '"' }, .span = (uint8_t)(name.n + 3) };
	if (name.n)
		memcpy(out->text + 1, name.p, name.n);
	memcpy(out->text + 1 + name.n, "\":", 2);
}

static void begin(struct names *t)
{
	set_name(&t->list[0], STR(""));
	t->n = 1;
}

static unsigned slot_of(const struct known_name *name)
{
	const char *close = memchr(name_text(name), '"', name->span);

	return name_slot(name->text, UINT32_C(1) << (close - name->text));
}

static unsigned find(const struct names *t, const struct known_name *name)
{
	unsigned number = t->slots[slot_of(name)];

	while (number && (t->list[number].span != name->span ||
			  memcmp(t->list[number].text, name->text, name->span) != 0))
		number = t->next[number];
	return number;
}

unsigned names_find(const struct names *t, struct str name)
{
	struct known_name made;

	if (name.n == 0 || name.n > NAME_BYTES)
		return 0;
	set_name(&made, name);
	return find(t, &made);
}

const char *names_add(struct names *t, struct str name)
{
	struct known_name made;
	unsigned number;
	uint16_t *slot;

	if (name.n == 0 || name.n > NAME_BYTES)
		return NULL;
	if (!t->n)
		begin(t);
	set_name(&made, name);
	number = find(t, &made);
	if (number)
		return name_text(&t->list[number]);
	if (t->n == NAME_COUNT_MAX)
		BUG("no number is left for the name %.*s: raise NAME_COUNT_MAX", STR_ARG(name));
	slot = &t->slots[slot_of(&made)];
	t->next[t->n] = *slot;
	*slot = (uint16_t)t->n;
	t->list[t->n] = made;
	return name_text(&t->list[t->n++]);
}
