/* gavel help: help text, man page and completion scripts, generated from the tables of options,
 * commands, keys and settings. */
#include "cmd/cmd.h"
#include "cmd/completion.h"
#include "cmd/print.h"
#include "config/config.h"
#include "config/options.h"
#include "app/app.h"

static void add_keys(struct buf *out, const char *keys)
{
	struct str rest = str_of(keys);
	struct buf name = { 0 };
	uint32_t key;
	bool first = true;

	while (rest.n && key_parse(&rest, &key)) {
		buf_clear(&name);
		key_name(key, &name);
		buf_adds(out, first ? "" : ", ");
		roff_add(out, name.p);
		first = false;
	}
	buf_release(&name);
}

static void man_keys(struct buf *out)
{
	struct keymap keys;
	struct buf help = { 0 };

	keymap_init(&keys, app_commands, app_command_count);
	buf_adds(out, ".SH KEYS\nEvery key is an alias of a command, which can also be typed after "
		      "a colon. Tab completes.\n");
	for (unsigned i = 0; i < app_command_count; i++) {
		const struct app_command *c = &app_commands[i];

		if (!i || strcmp(c->section, app_commands[i - 1].section) != 0)
			buf_printf(out, ".SS %s\n", c->section);
		buf_adds(out, ".TP\n.B \"");
		add_keys(out, c->keys);
		buf_adds(out, c->keys[0] ? "  :" : ":");
		roff_add(out, c->name);
		buf_adds(out, "\"\n");
		buf_clear(&help);
		keymap_text(&keys, c->help, &help);
		roff_add(out, help.p);
		buf_addc(out, '\n');
	}
	keymap_release(&keys);
	buf_release(&help);
}

static void man_settings(struct buf *out)
{
	size_t n;
	const struct setting *settings = config_settings(&n);

	buf_adds(out,
		 ".SH CONFIGURATION\n.I $XDG_CONFIG_HOME/gavel/config.json\nis JSON with comments "
		 "and trailing commas. An invalid value is reported with its line and column, and "
		 "the default is used for that value only.\n");
	for (size_t i = 0; i < n; i++) {
		buf_adds(out, ".TP\n.B ");
		roff_add(out, settings[i].name);
		buf_addc(out, '\n');
		roff_add(out, settings[i].takes);
		buf_adds(out, ". ");
		roff_add(out, settings[i].help);
		buf_addc(out, '\n');
	}
}

int cmd_help(struct options *o)
{
	const char *word = o->words.n ? o->words.v[0] : NULL;
	const struct command *command = word ? command_find(word) : NULL;
	struct buf out = { 0 };

	if (word && strcmp(word, "man") == 0) {
		options_man(&out);
		man_keys(&out);
		man_settings(&out);
	} else if (word && strcmp(word, "config") == 0) {
		config_help(&out);
	} else if (word && complete_script(word, &out)) {
		; /* done */
	} else if (word && !command && command_near(word)) {
		return print_trouble("no command %s; did you mean %s?", word,
				     command_near(word)->name);
	} else if (word && !command) {
		return print_trouble("no command %s; see gavel --help", word);
	} else {
		options_help(command, &out);
	}
	say_own(buf_str(&out));
	buf_release(&out);
	return EXIT_FINE;
}
