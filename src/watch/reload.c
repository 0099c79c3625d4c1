/* :theme and :reload. Of a configuration that is read again, the keys, the theme and the notices take
 * effect; the rest is for the next start, since sources and agents were opened with it. */
#include "watch/watch.h"

#include "term/term.h"

#include <stdlib.h>

void watch_apply_theme(struct watch *w)
{
	const char *no_color = getenv("NO_COLOR");
	enum color_mode color = w->options->color;

	config_theme(&w->config, w->colours, &w->theme);
	if (w->headless || color == COLOR_NEVER || (color == COLOR_AUTO && no_color && *no_color))
		return;
	term_theme(&w->theme);
}

void watch_set_theme(struct watch *w, const char *name)
{
	static const char *const names[] = { "dark", "light", "mono" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strcmp(names[i], name) == 0)
			w->config.theme = names[i];
	watch_apply_theme(w);
	app_say(&w->app, ROLE_DIM, "theme %s, until the end; \"theme\" in %s keeps it", name,
		w->config.file ? w->config.file : "the configuration");
}

void watch_reload(struct watch *w)
{
	struct config fresh = { 0 }, old = w->config;
	struct config *c = &w->config;

	config_load(&fresh, w->options->config);
	c->theme = fresh.theme;
	memcpy(c->looks, fresh.looks, sizeof(c->looks));
	c->notices = fresh.notices;
	c->keys = fresh.keys;
	c->problems = fresh.problems;
	/* released are the old ones, and the settings that are not used */
	fresh.keys = old.keys;
	fresh.problems = old.problems;
	config_release(&fresh);
	keymap_release(&w->app.keymap);
	keymap_init(&w->app.keymap, app_commands, app_command_count);
	buf_clear(&w->app.notice);
	watch_configure(w);
	watch_apply_theme(w);
	app_invalidate(&w->app);
	if (!c->problems.n)
		app_say(&w->app, ROLE_DIM, "%s was read again: keys, theme and notices; the rest at "
					   "the next start", c->file ? c->file : "no file");
}
