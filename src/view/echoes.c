/* Finds echoes: messages that equal a letter of a desk byte for byte. */
#include "view/echoes.h"

#include <stdlib.h>

static int compare_echoes(const void *left, const void *right)
{
	const struct echo *a = left, *b = right;

	if (a->item != b->item)
		return a->item < b->item ? -1 : 1;
	return a->step < b->step ? -1 : a->step > b->step;
}

static bool is_letter(const struct scene *s, uint32_t message, struct str letter)
{
	const struct record *r = &s->model->records.v[message];

	letter = str_trim(letter);
	/* the length rules out most without reading them */
	return r->length == letter.n &&
	       str_eq(str_trim(s->reader->bytes(s->reader->ctx, message)), letter);
}

static void find_in_item(const struct scene *s, uint32_t number, struct str letter,
			 struct echoes *out)
{
	const struct item *item = &s->model->items.v[number];

	for (uint32_t i = 0; i < item->n && item->steps[i].message < s->k; i++)
		if (item->steps[i].what == STEP_DECIDED &&
		    is_letter(s, item->steps[i].message, letter))
			vec_push(&out->list, (struct echo){ number, i });
}

void echoes_find(const struct scene *s, struct echoes *out)
{
	for (uint32_t d = 0; s->desks && d < s->desks->list.n; d++) {
		const struct desk *desk = &s->desks->list.v[d];

		for (uint32_t i = 0; i < desk->drafts.n; i++) {
			const struct draft *draft = &desk->drafts.v[i];

			if (draft->state != DRAFT_WRITTEN || draft->number == NONE)
				continue;
			find_in_item(s, draft->number, desk->letters.v[draft->letter].bytes, out);
		}
	}
	if (out->list.n)
		qsort(out->list.v, out->list.n, sizeof(*out->list.v), compare_echoes);
}

bool echoes_have(const struct echoes *e, uint32_t item, uint32_t step)
{
	struct echo wanted = { item, step };

	return e->list.n &&
	       bsearch(&wanted, e->list.v, e->list.n, sizeof(wanted), compare_echoes) != NULL;
}

void echoes_release(struct echoes *e)
{
	vec_release(&e->list);
}
