/* What is printed of the tables of commands and options: --help, and two sections of the man page. */
#include "config/options.h"

#include <stdio.h>
#include <string.h>

void buf_add_wrapped(struct buf *out, const char *text, const char *hang, int column, int cols)
{
	for (const char *p = text; *p; p += strspn(p, " ")) {
		int n = (int)strcspn(p, " ");

		if (p > text && column + 1 + n > cols) {
			buf_printf(out, "\n%s", hang);
			column = (int)strlen(hang);
		} else if (p > text) {
			buf_addc(out, ' ');
			column++;
		}
		buf_add(out, p, (size_t)n);
		column += n;
		p += n;
	}
	buf_addc(out, '\n');
}

/* Wraps help text with a hanging indent; the first line is indented already. */
static void add_help(struct buf *out, const char *text, int indent)
{
	char hang[32];

	snprintf(hang, sizeof(hang), "%*s", indent, "");
	buf_add_wrapped(out, text, hang, indent, 78);
}

static void help_options(struct buf *out, unsigned bits)
{
	const struct option *o;

	for (unsigned i = 0; (o = option_at(i)); i++) {
		char left[40];

		if (!(o->commands & bits))
			continue;
		snprintf(left, sizeof(left), "  --%s%s%s", o->name, o->argument ? "=" : "",
			 o->argument ? o->argument : "");
		buf_printf(out, "%-21s ", left);
		add_help(out, o->help, 22);
	}
}

void options_help(const struct command *command, struct buf *out)
{
	bool all = !command || !command->name[0];
	const struct command *c;

	if (!all) {
		buf_printf(out, "usage: gavel %s [OPTION...] %s\n\n", command->name,
			   command->synopsis);
		add_help(out, command->help, 0);
		buf_adds(out, "\n");
		help_options(out, 1u << command->id);
		return;
	}
	buf_adds(out, "gavel: see and decide what AI agents ask for\n\n");
	for (unsigned i = 0; (c = command_at(i)); i++) {
		buf_printf(out, "%s gavel %s%s[OPTION...] %s\n", i ? "      " : "usage:", c->name,
			   c->name[0] ? " " : "", c->synopsis);
		buf_adds(out, "           ");
		add_help(out, c->help, 11);
	}
	buf_adds(out,
		 "\nSOURCE is a log of one JSON message a line, a directory of task-, result-\n"
		 "and review- files or of logs, one JSON document with messages[], a FIFO, or\n"
		 "- for standard input. Without one, standard input is read. Options may stand\n"
		 "before the command, too; after -- no word is one.\n\n");
	help_options(out, ~0u);
	buf_adds(out,
		 "\nExit codes: 0 fine; 1 check found errors, there is no such item, or a "
		 "decision\n"
		 "was refused or held; 2 usage or file trouble; 3 the journal is damaged or\n"
		 "locked by another gavel. The manual: man gavel.\n");
}

void roff_add(struct buf *out, const char *text)
{
	for (; *text; text++) {
		if (*text == '\\')
			buf_adds(out, "\\e");
		else if (*text == '-')
			buf_adds(out, "\\-");
		else
			buf_addc(out, *text);
	}
}

static void man_command(const struct command *c, struct buf *out)
{
	buf_printf(out, ".B gavel%s%s\n.RI [ OPTION... ] \" ", c->name[0] ? " " : "", c->name);
	roff_add(out, c->synopsis);
	buf_adds(out, "\"\n");
}

void options_man(struct buf *out)
{
	const struct command *c;
	const struct option *o;

	buf_adds(out, ".SH SYNOPSIS\n");
	for (unsigned i = 0; (c = command_at(i)); i++) {
		buf_adds(out, i ? ".br\n" : "");
		man_command(c, out);
	}
	buf_adds(out, ".SH COMMANDS\n");
	for (unsigned i = 0; (c = command_at(i)); i++) {
		man_command(c, out);
		buf_adds(out, ".RS\n");
		roff_add(out, c->help);
		buf_adds(out, "\n.RE\n.PP\n");
	}
	buf_adds(out, ".SH OPTIONS\n");
	for (unsigned i = 0; (o = option_at(i)); i++) {
		buf_adds(out, ".TP\n.BI \\-\\-");
		roff_add(out, o->name);
		if (o->argument)
			buf_printf(out, " = %s", o->argument);
		buf_addc(out, '\n');
		roff_add(out, o->help);
		buf_addc(out, '\n');
	}
}
