/* What Tab completes in the prompt: commands and their arguments, by the kinds in the command table;
 * filters; reason codes. */
#include "app/app.h"

static void add_word(void *ctx, struct str word)
{
	completions_add(ctx, word);
}

static void complete_filter(const struct app *a, struct str before, size_t from,
			    struct completions *out)
{
	struct str text = str_from(before, from);

	completions_start(out, before, from + filter_last_word(text));
	filter_complete(a->scene.model, text, add_word, out);
}

void app_complete_name(struct completions *out, struct str name)
{
	if (name.n <= FILTER_VALUE_MAX)
		completions_add(out, name);
}

static void add_agents(const struct app *a, struct completions *out)
{
	for (uint32_t i = 0; i < a->scene.life_n; i++)
		app_complete_name(out, a->scene.lives[i].group);
	for (uint32_t i = 0; i < a->scene.model->agents.n; i++)
		app_complete_name(out, agent_name(a->scene.model, i));
}

/* before: the word before the argument */
static void complete_argument(const struct app *a, enum argument kind, struct str before,
			      struct completions *out)
{
	static const char *const themes[] = { "dark", "light", "mono" };
	const struct model *m = a->scene.model;

	switch (kind) {
	case ARGUMENT_AGENT: add_agents(a, out); break;
	case ARGUMENT_TASK:
		for (uint32_t i = 0; i < m->tasks.n; i++)
			app_complete_name(out, model_str(m, m->tasks.v[i].id));
		break;
	case ARGUMENT_THEME:
		for (size_t i = 0; i < sizeof(themes) / sizeof(themes[0]); i++)
			completions_add(out, str_of(themes[i]));
		break;
	case ARGUMENT_SCOPE: app_narrow_complete(a, STR_NONE, out); break;
	case ARGUMENT_IN_SCOPE: app_narrow_complete(a, before, out); break;
	case ARGUMENT_COLUMN: app_sort_complete(a, out); break;
	case ARGUMENT_FILTER: /* more than one word */
	case ARGUMENT_TEXT:
	case ARGUMENT_NONE: break;
	}
}

static void complete_command(const struct app *a, struct str before, struct completions *out)
{
	const struct app_command *c;
	struct str rest = before, name = str_first_word(&rest);
	size_t from = before.n;
	unsigned n, words = 0;

	while (from > 0 && before.p[from - 1] != ' ')
		from--;
	for (size_t i = 0; i < from; i++)
		words += before.p[i] != ' ' && before.p[i + 1] == ' ';
	completions_start(out, before, from);
	if (!words) {
		for (unsigned i = 0; i < app_command_count; i++)
			completions_add(out, str_of(app_commands[i].name));
		return;
	}
	c = keymap_command(&a->keymap, name, &n);
	if (c && c->arguments[0] == ARGUMENT_FILTER)
		complete_filter(a, before, before.n - rest.n, out);
	else if (c && words <= 2)
		complete_argument(a, c->arguments[words - 1], str_first_word(&rest), out);
}

static void complete_reason(const struct app *a, struct str before, struct completions *out)
{
	completions_start(out, before, 0);
	for (uint32_t i = 0; i < a->deciding.reason_code_count; i++)
		completions_add(out, str_of(a->deciding.reason_codes[i]));
}

void app_complete(const void *ctx, struct str before, struct completions *out)
{
	const struct app *a = ctx;

	switch (a->prompt.kind) {
	case PROMPT_COMMAND: complete_command(a, before, out); break;
	case PROMPT_FILTER: complete_filter(a, before, 0, out); break;
	case PROMPT_REASON: complete_reason(a, before, out); break;
	case PROMPT_EXPLAIN: /* a rejection may be explained by a code alone */
		if (a->deciding.verb == VERB_REJECT)
			complete_reason(a, before, out);
		break;
	case PROMPT_NONE:
	case PROMPT_SEARCH:
	case PROMPT_ANSWER:
	case PROMPT_RULE:
	case PROMPT_NOTE:
	case PROMPT_AGENT:
	case PROMPT_KINDS: break;
	}
}

/* The help of the command, once its name is complete and its argument has no completions. */
static bool add_command_help(const struct app *a, struct buf *out)
{
	struct str line = buf_str(&a->prompt.text), name = str_first_word(&line);
	unsigned n;
	const struct app_command *c = keymap_command(&a->keymap, name, &n);

	if (c)
		keymap_text(&a->keymap, c->help, out);
	return c;
}

/* As many completions as there is room for, from the one in the text on; "…" stands for the others. */
static void add_list(const struct app *a, int room, struct buf *out)
{
	const struct prompt *p = &a->prompt;
	const struct completions *c = &p->completions;
	uint32_t i = p->cycles ? p->chosen : 0;

	for (uint32_t first = i; i < c->list.n; i++) {
		int cols = (int)cells_width(raw_of(c->list.v[i]), TEXT_LABEL, a->scene.ascii, 512);
		bool last = i + 1 == c->list.n;

		room -= cols + (i > first ? 2 : 0);
		if (i > first && room < (last ? 0 : 3)) {
			buf_adds(out, "  …");
			return;
		}
		buf_printf(out, "%s%.*s", i > first ? "  " : "", STR_ARG(c->list.v[i]));
	}
}

void app_prompt_hint(const struct app *a, int room, struct buf *out)
{
	const struct completions *c = &a->prompt.completions;
	bool command = a->prompt.kind == PROMPT_COMMAND;

	if (a->prompt.tabs && c->list.n > 1) {
		add_list(a, room, out);
		return;
	}
	if (!a->prompt.text.n || (!command && a->prompt.kind != PROMPT_FILTER))
		return;
	if (command && (!c->from || !c->list.n) && add_command_help(a, out))
		return;
	if (c->word.n || command)
		add_list(a, room, out);
}
