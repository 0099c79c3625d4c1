/* The table of names. */
#include "json/names.h"

static void set_name(struct name *out, struct str name)
{
	char *text = (char *)out->word;

	*out = (struct name){ .length = (uint16_t)name.n };
	text[0] = '"';
	if (name.n)
		memcpy(text + 1, name.p, name.n);
	memcpy(text + 1 + name.n, "\":", 2);
	memset(out->mask, 0xff, name.n + 3);
}

const char *names_add(struct names *t, struct str name)
{
	struct name made;
	unsigned number;
	uint8_t *slot;

	if (name.n == 0 || name.n + 3 > NAME_WINDOW)
		return NULL;
	if (!t->n)
		set_name(&t->list[t->n++], STR(""));
	set_name(&made, name);
	number = name_find(t, (const char *)made.word);
	if (number)
		return name_text(&t->list[number]);
	if (t->n == NAME_COUNT_MAX)
		return NULL;
	slot = &t->slots[name_slot((const char *)made.word)];
	made.other = *slot;
	*slot = (uint8_t)t->n;
	t->list[t->n] = made;
	return name_text(&t->list[t->n++]);
}
