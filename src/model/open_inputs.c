/* Inputs of a session's envelopes that no output has answered yet. An output has no id: with one
 * open input it answers that, with several nobody can tell which, except that all are answered
 * after as many outputs. */
#include "model/rules.h"

static struct open_inputs *inputs_of(struct apply_ctx *a)
{
	uint32_t i = rules_of(a)->inputs;

	return i ? &a->m->open_inputs.v[i - 1] : NULL;
}

uint32_t newest_lane(struct apply_ctx *a)
{
	return inputs_of(a) ? inputs_of(a)->newest : NONE;
}

static void remove_at(struct open_inputs *o, uint32_t i)
{
	o->n--;
	memmove(&o->list[i], &o->list[i + 1], (o->n - i) * sizeof(o->list[0]));
}

void input_open(struct apply_ctx *a, uint32_t lane)
{
	struct open_inputs *o;
	uint32_t i = 0;

	if (!rules_of(a)->inputs) {
		heap_push(a->m->heap, &a->m->open_inputs, (struct open_inputs){ .newest = NONE });
		rules_of(a)->inputs = a->m->open_inputs.n;
	}
	o = inputs_of(a);
	while (i < o->n && o->list[i].lane != lane)
		i++;
	if (i < o->n) {
		/* asked again, or after one of the unclear outputs asked to go on */
		remove_at(o, i);
		if (o->outputs)
			o->outputs--;
	} else if (o->n == OPEN_INPUTS_MAX) {
		remove_at(o, 0);
	}
	o->newest = lane;
	o->list[o->n].lane = lane;
	o->list[o->n++].message = a->message;
}

bool input_answer(struct apply_ctx *a)
{
	struct open_inputs *o = inputs_of(a);
	struct model *m = a->m;

	if (!o || o->n < 2) {
		if (o)
			o->n = 0;
		return true;
	}
	heap_push(m->heap, &m->unclear_outputs,
		  (struct unclear_output){ a->message, m->unclear_inputs.n, o->n });
	for (uint32_t i = 0; i < o->n; i++)
		heap_push(m->heap, &m->unclear_inputs, o->list[i].message);
	if (++o->outputs == o->n)
		o->n = o->outputs = 0;
	return false;
}

const uint32_t *output_inputs(const struct model *m, uint32_t message, uint32_t *n)
{
	uint32_t low = 0;

	bisect(low, m->unclear_outputs.n, i, m->unclear_outputs.v[i].message < message)
	*n = 0;
	if (low == m->unclear_outputs.n || m->unclear_outputs.v[low].message != message)
		return NULL;
	*n = m->unclear_outputs.v[low].n;
	return &m->unclear_inputs.v[m->unclear_outputs.v[low].first];
}

bool lane_has_input(const struct model *m, uint32_t lane, uint32_t message)
{
	const struct task *t = &m->tasks.v[lane];
	uint32_t low = 0;

	bisect(low, t->steps.n, i, t->steps.v[i].message < message)
	return low < t->steps.n && t->steps.v[low].message == message && t->steps.v[low].assigned;
}

uint32_t input_lane(const struct model *m, uint32_t message)
{
	uint32_t session = message_route(m, message)->session;

	for (uint32_t i = 0; i < m->tasks.n; i++)
		if (m->tasks.v[i].session == session && lane_has_input(m, i, message))
			return i;
	return NONE;
}
