/* The table of names. */
#include "json/names.h"

#include "base/err.h"
#include "json/name_at.h"

_Static_assert(sizeof(struct name) == NAME_WINDOW, "compared as it is");

static void set_name(struct name *out, struct str name)
{
	*out = (struct name){ .text = { '"' }, .span = (uint8_t)(name.n + 3) };
	if (name.n)
		memcpy(out->text + 1, name.p, name.n);
	memcpy(out->text + 1 + name.n, "\":", 2);
}

static void begin(struct names *t)
{
	set_name(&t->list[0], STR(""));
	t->n = 1;
}

unsigned names_find(const struct names *t, struct str name)
{
	struct name made;
	size_t number;

	if (name.n == 0 || name.n > NAME_BYTES)
		return 0;
	set_name(&made, name);
	number = name_find(t, made.text);
	/* one that has a quote and a colon in it begins like a shorter one */
	return t->list[number].span == made.span ? (unsigned)number : 0;
}

const char *names_add(struct names *t, struct str name)
{
	struct name made;
	size_t number;
	uint16_t *slot;

	if (name.n == 0 || name.n > NAME_BYTES)
		return NULL;
	if (!t->n)
		begin(t);
	set_name(&made, name);
	number = name_find(t, made.text);
	if (number)
		return name_text(&t->list[number]);
	if (t->n == NAME_COUNT_MAX)
		BUG("no number is left for the name %.*s: raise NAME_COUNT_MAX", STR_ARG(name));
	slot = &t->slots[name_slot(made.text)];
	t->next[t->n] = *slot;
	*slot = (uint16_t)t->n;
	t->list[t->n] = made;
	return name_text(&t->list[t->n++]);
}
