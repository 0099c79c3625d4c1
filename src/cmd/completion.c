/* gavel help bash, zsh, fish: completion scripts, generated from the tables of commands, options
 * and views. */
#include "cmd/completion.h"

#include "cmd/cmd.h"
#include "encode/verbs.h"

static void add_commands(struct buf *out, const char *separator)
{
	for (unsigned i = 1; command_at(i); i++)
		buf_printf(out, "%s%s", i > 1 ? separator : "", command_at(i)->name);
}

/* What the first word after a command may be, space separated; empty = a file. */
static void add_first_words(const struct command *c, struct buf *out)
{
	struct str rest = str_of(c->synopsis);

	if (c->id == COMMAND_SHOW) {
		for (unsigned i = 0; show_view_name(i); i++)
			buf_printf(out, "%s%s", i ? " " : "", show_view_name(i));
	} else if (c->id == COMMAND_HELP) {
		add_commands(out, " ");
		buf_adds(out, " config bash zsh fish");
	} else if (rest.n && rest.p[0] != '[' && str_find(rest, STR("|"), 0) > 0) {
		/* list | verify | resend ID */
		while (rest.n) {
			ptrdiff_t bar = str_find(rest, STR("|"), 0);
			struct str word = bar < 0 ? rest : str_make(rest.p, (size_t)bar);

			buf_adds(out, out->n ? " " : "");
			buf_add_str(out, str_first_word(&word));
			rest = bar < 0 ? STR_NONE : str_from(rest, (size_t)bar + 1);
		}
	}
}

/* Names of the options that take a value, each with its dashes. */
static void add_valued(struct buf *out, const char *separator)
{
	const struct option *o;

	for (unsigned i = 0, n = 0; (o = option_at(i)); i++)
		if (o->argument)
			buf_printf(out, "%s--%s", n++ ? separator : "", o->name);
}

static void add_verbs(struct buf *out)
{
	for (int v = 0; v < VERB_COUNT; v++)
		buf_printf(out, "%s%s", v ? " " : "", verb_name((enum verb)v));
}

static bool takes_file(const struct option *o)
{
	return o->argument && (strcmp(o->argument, "FILE") == 0 ||
			       strcmp(o->argument, "PATH") == 0 || strcmp(o->argument, "DIR") == 0);
}

/* The first sentence, safe inside a shell's single quotes. */
static void add_sentence(struct buf *out, const char *help, const char *escaped)
{
	for (const char *p = help; *p && !(p[0] == '.' && (p[1] == ' ' || !p[1])); p++) {
		if (*p == '\'') {
			buf_adds(out, "’");
			continue;
		}
		if (strchr(escaped, *p))
			buf_addc(out, '\\');
		buf_addc(out, *p);
	}
}

/* ---- bash ---- */

/* Values of options: one of a few words, a file, or any text. */
static void bash_values(struct buf *out)
{
	const struct option *o;

	buf_adds(out, "\tcase $prev in\n");
	for (unsigned i = 0; (o = option_at(i)); i++) {
		if (!o->argument || takes_file(o))
			continue;
		buf_printf(out, "\t--%s) ", o->name);
		if (o->values)
			buf_printf(out, "COMPREPLY=($(compgen -W '%s' -- \"$cur\")); ", o->values);
		buf_adds(out, "return ;;\n");
	}
	buf_adds(out, "\t");
	for (unsigned i = 0, n = 0; (o = option_at(i)); i++)
		if (takes_file(o))
			buf_printf(out, "%s--%s", n++ ? "|" : "", o->name);
	buf_adds(out, ") COMPREPLY=($(compgen -f -- \"$cur\")); compopt -o filenames; return ;;\n"
		      "\tesac\n");
}

static void bash_command(const struct command *c, struct buf *out)
{
	const struct option *o;
	struct buf words = { 0 };

	add_first_words(c, &words);
	buf_printf(out, "\t%s)\n\t\twords='%s'\n\t\toptions='", c->name[0] ? c->name : "''",
		   words.n ? words.p : "");
	for (unsigned i = 0, n = 0; (o = option_at(i)); i++)
		if (command_takes(c, o))
			buf_printf(out, "%s--%s%s", n++ ? " " : "", o->name,
				   o->argument ? "=" : "");
	buf_adds(out, "' ;;\n");
	buf_release(&words);
}

/* Finds the first word that is neither an option nor the value of one; it may be the command. */
static void bash_find_command(struct buf *out)
{
	buf_adds(out, "\tfor ((i = 1; i < COMP_CWORD; i++)); do\n\t\tcase ${COMP_WORDS[i]} in\n\t\t");
	add_valued(out, "|");
	buf_adds(out, ") [[ ${COMP_WORDS[i+1]} == = ]] || ((i++)) ;;\n"
		      "\t\t=) ((i++)) ;;\n"
		      "\t\t-*) ;;\n\t\t");
	add_commands(out, "|");
	buf_adds(out, ") command=${COMP_WORDS[i]} first=$i; break ;;\n"
		      "\t\t*) first=$i; break ;;\n"
		      "\t\tesac\n\tdone\n");
}

static void complete_bash(struct buf *out)
{
	struct buf verbs = { 0 };

	add_verbs(&verbs);
	buf_adds(out,
		 "# bash completion for gavel, made by: gavel help bash\n"
		 "_gavel()\n{\n"
		 "\tlocal cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]}\n"
		 "\tlocal command= words= options= first=0 given=0 i\n\n"
		 "\tCOMPREPLY=()\n"
		 "\t# bash cuts --option=value in three\n"
		 "\tif [[ $cur == = ]]; then\n\t\tcur=\n"
		 "\telif [[ $prev == = ]]; then\n\t\tprev=${COMP_WORDS[COMP_CWORD-2]}\n\tfi\n");
	bash_values(out);
	bash_find_command(out);
	buf_adds(out, "\tcase $command in\n");
	for (unsigned i = 0; command_at(i); i++)
		bash_command(command_at(i), out);
	buf_adds(out, "\tesac\n"
		      "\t# words that are neither options nor their values\n"
		      "\tfor ((i = first + 1; i < COMP_CWORD; i++)); do\n"
		      "\t\t[[ ${COMP_WORDS[i]} == -* || ${COMP_WORDS[i]} == = ||\n"
		      "\t\t\t${COMP_WORDS[i-1]} == = ||\n"
		      "\t\t\t\" $options \" == *\" ${COMP_WORDS[i-1]}= \"* ]] || ((given++))\n"
		      "\tdone\n"
		      "\tif [[ $cur == -* ]]; then\n"
		      "\t\tCOMPREPLY=($(compgen -W \"$options\" -- \"$cur\"))\n"
		      "\t\t[[ ${#COMPREPLY[@]} -eq 1 && $COMPREPLY == *= ]] && compopt -o nospace\n"
		      "\t\treturn\n\tfi\n"
		      "\tif ((first == 0)); then\n\t\twords='");
	add_commands(out, " ");
	buf_printf(out, "'\n\telif [[ $command == decide ]] && ((given == 2)); then\n"
			"\t\twords='%s'\n"
			"\telif ((given > 0)); then\n\t\twords=\n\tfi\n",
		   verbs.p);
	buf_adds(out, "\t[[ $words ]] && COMPREPLY=($(compgen -W \"$words\" -- \"$cur\"))\n"
		      "}\n"
		      "complete -o bashdefault -o default -F _gavel gavel 2>/dev/null || "
		      "complete -o default -F _gavel gavel\n");
	buf_release(&verbs);
}

/* ---- zsh ---- */

static void zsh_option(const struct option *o, struct buf *out)
{
	const char *values = o->values ? o->values : takes_file(o) ? "_files" : " ";

	buf_printf(out, " \\\n\t\t\t'--%s%s[", o->name, o->argument ? "=" : "");
	add_sentence(out, o->help, "[]\\");
	buf_addc(out, ']');
	if (o->argument)
		buf_printf(out, o->values ? ":%s:(%s)" : ":%s:%s", o->argument, values);
	buf_addc(out, '\'');
}

static void zsh_command(const struct command *c, struct buf *out)
{
	const struct option *o;
	struct buf words = { 0 };

	add_first_words(c, &words);
	buf_printf(out, "\t%s)\n\t\t_arguments", c->name[0] ? c->name : "*");
	for (unsigned i = 0; (o = option_at(i)); i++)
		if (command_takes(c, o))
			zsh_option(o, out);
	if (words.n)
		buf_printf(out, " \\\n\t\t\t'1:what:(%s)'", words.p);
	if (c->id == COMMAND_DECIDE) {
		buf_adds(out, " \\\n\t\t\t'1:source:_files' '2:item: ' '3:verb:(");
		add_verbs(out);
		buf_adds(out, ")'");
	} else {
		buf_adds(out, " \\\n\t\t\t'*:source:_files'");
	}
	buf_adds(out, " ;;\n");
	buf_release(&words);
}

static void complete_zsh(struct buf *out)
{
	buf_adds(out, "#compdef gavel\n# made by: gavel help zsh\n\n_gavel() {\n"
		      "\tlocal -a commands\n\tlocal -i at=2\n\tlocal command=\n\tcommands=(\n");
	for (unsigned i = 1; command_at(i); i++) {
		buf_printf(out, "\t\t'%s:", command_at(i)->name);
		add_sentence(out, command_at(i)->help, ":\\");
		buf_adds(out, "'\n");
	}
	buf_adds(out, "\t)\n\t# options may stand before the command\n"
		      "\twhile (( at < CURRENT )) && [[ $words[at] == -* ]]; do\n"
		      "\t\t[[ $words[at] == (");
	add_valued(out, "|");
	buf_adds(out, ") ]] && (( at++ ))\n\t\t(( at++ ))\n\tdone\n"
		      "\tif (( CURRENT == at )) && [[ $words[at] != -* ]]; then\n"
		      "\t\t_describe -t commands command commands\n\t\t_files\n\t\treturn\n\tfi\n"
		      "\tif (( at < CURRENT && ${commands[(I)$words[at]:*]} )); then\n"
		      "\t\tcommand=$words[at]\n\t\tshift $((at - 1)) words\n"
		      "\t\t(( CURRENT -= at - 1 ))\n\tfi\n"
		      "\tcase $command in\n");
	for (unsigned i = 1; command_at(i); i++)
		zsh_command(command_at(i), out);
	zsh_command(command_at(0), out);
	buf_adds(out, "\tesac\n}\n\n_gavel \"$@\"\n");
}

/* ---- fish ---- */

/* The condition for a command's completions; `not`: unless one of these words was given. */
static void fish_when(const struct command *c, struct str not, struct buf *out)
{
	if (c->name[0]) {
		buf_printf(out, "-n '__fish_seen_subcommand_from %s", c->name);
		if (not.n)
			buf_printf(out, "; and not __fish_seen_subcommand_from %.*s", STR_ARG(not));
		buf_addc(out, '\'');
		return;
	}
	buf_adds(out, "-n 'not __fish_seen_subcommand_from ");
	add_commands(out, " ");
	buf_addc(out, '\'');
}

/* Offers these words until one was given. */
static void fish_words(const struct command *c, struct str words, struct buf *out)
{
	if (!words.n)
		return;
	buf_adds(out, "complete -c gavel ");
	fish_when(c, words, out);
	buf_printf(out, " -a '%.*s'\n", STR_ARG(words));
}

static void fish_command(const struct command *c, struct buf *out)
{
	const struct option *o;
	struct buf words = { 0 };

	if (c->name[0]) {
		buf_printf(out, "complete -c gavel -n __fish_use_subcommand -a %s -d '", c->name);
		add_sentence(out, c->help, "\\");
		buf_adds(out, "'\n");
	}
	add_first_words(c, &words);
	fish_words(c, buf_str(&words), out);
	if (c->id == COMMAND_DECIDE) {
		buf_clear(&words);
		add_verbs(&words);
		fish_words(c, buf_str(&words), out);
	}
	for (unsigned i = 0; (o = option_at(i)); i++) {
		if (!command_takes(c, o))
			continue;
		buf_adds(out, "complete -c gavel ");
		fish_when(c, STR_NONE, out);
		buf_printf(out, " -l %s", o->name);
		if (o->values)
			buf_printf(out, " -x -a '%s'", o->values);
		else if (o->argument)
			buf_adds(out, takes_file(o) ? " -r -F" : " -x");
		buf_adds(out, " -d '");
		add_sentence(out, o->help, "\\");
		buf_adds(out, "'\n");
	}
	buf_release(&words);
}

static void complete_fish(struct buf *out)
{
	buf_adds(out, "# fish completion for gavel, made by: gavel help fish\n");
	for (unsigned i = 0; command_at(i); i++)
		fish_command(command_at(i), out);
}

bool complete_script(const char *shell, struct buf *out)
{
	if (strcmp(shell, "bash") == 0)
		complete_bash(out);
	else if (strcmp(shell, "zsh") == 0)
		complete_zsh(out);
	else if (strcmp(shell, "fish") == 0)
		complete_fish(out);
	else
		return false;
	return true;
}
