/* Bookmarks: messages that the person wants to find again, each with an optional note. They are kept
 * beside the journal of their source (watch/bookmark_file.h), never in a log. */
#include "app/app.h"
#include "app/commands.h"

#include <stdlib.h>

uint32_t app_bookmark_find(const struct app *a, uint32_t message)
{
	for (uint32_t i = 0; i < a->bookmarks.n; i++)
		if (a->bookmarks.v[i].message == message)
			return i;
	return NONE;
}

void app_bookmark_set(struct app *a, uint32_t message, struct str note)
{
	struct bookmark fresh = { message, note.n ? str_dup(note) : NULL };
	uint32_t at = app_bookmark_find(a, message);

	if (at != NONE) {
		free(a->bookmarks.v[at].note);
		a->bookmarks.v[at] = fresh;
		return;
	}
	vec_push(&a->bookmarks, fresh);
	for (at = a->bookmarks.n - 1; at > 0 && a->bookmarks.v[at - 1].message > message; at--) {
		a->bookmarks.v[at] = a->bookmarks.v[at - 1];
		a->bookmarks.v[at - 1] = fresh;
	}
}

static void remove_bookmark(struct app *a, uint32_t at)
{
	free(a->bookmarks.v[at].note);
	memmove(&a->bookmarks.v[at], &a->bookmarks.v[at + 1],
		(a->bookmarks.n - at - 1) * sizeof(*a->bookmarks.v));
	a->bookmarks.n--;
}

/* The page that lists them is made anew. */
static void changed(struct app *a)
{
	for (unsigned i = 0; i < a->screen_count; i++)
		if (a->screens[i].pane.view == &view_bookmarks)
			a->screens[i].stale = true;
}

static void keep(struct app *a, uint32_t message, struct str note, bool removed)
{
	app_effect(a, (struct effect){ EFFECT_BOOKMARK,
				       .bookmark = { message, app_effect_dup(a, note), removed } });
	changed(a);
}

void app_bookmark_noted(struct app *a, struct str note)
{
	struct message_number n = message_number(a->scene.model, a->noting);

	note = str_trim(note);
	app_bookmark_set(a, a->noting, note);
	app_say(a, ROLE_DIM, "bookmark at #%u%s%.*s; :bookmarks lists them", n.n,
		note.n ? ": " : "", STR_ARG(note));
	keep(a, a->noting, note, false);
}

/* The message that is shown, selected, or raised what is; on the page of bookmarks, the selected. */
static uint32_t message_meant(struct app *a)
{
	struct screen *s = app_screen(a);
	struct target t;

	if (!app_shows(a, &view_bookmarks))
		return app_message_here(a);
	t = pane_target(&s->pane, &a->scene);
	return t.type == TARGET_MESSAGE ? t.number : NONE;
}

COMMAND(bookmark)
{
	uint32_t message = message_meant(a), at;

	if (message == NONE) {
		app_say(a, ROLE_DIM, "no message is selected");
		return;
	}
	a->noting = message;
	at = app_bookmark_find(a, message);
	if (argument.n) {
		app_bookmark_noted(a, argument);
	} else if (at != NONE) {
		remove_bookmark(a, at);
		app_say(a, ROLE_DIM, "bookmark removed");
		keep(a, message, STR_NONE, true);
	} else {
		prompt_open(&a->prompt, PROMPT_NOTE, STR_NONE);
	}
}

COMMAND(bookmarks) { app_open_view(a, &view_bookmarks, 0, 0); }

void app_bookmarks_release(struct app *a)
{
	for (uint32_t i = 0; i < a->bookmarks.n; i++)
		free(a->bookmarks.v[i].note);
	vec_release(&a->bookmarks);
}
