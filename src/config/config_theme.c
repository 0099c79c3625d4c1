/* Parser of the setting "theme", and config_theme: overrides of roles are stored, and applied
 * to the base theme once the number of colours of the terminal is known. */
#include "config/config_theme.h"

#include <stdio.h>

static const char *const colour_names[] = {
	"black", "red", "green", "yellow", "blue", "magenta", "cyan", "white",
	"bright-black", "bright-red", "bright-green", "bright-yellow",
	"bright-blue", "bright-magenta", "bright-cyan", "bright-white", "default",
};

static bool set_colour(struct config_reading *r, const char *name, yyjson_val *v, uint16_t *out)
{
	int64_t n;

	for (uint16_t i = 0; i <= COLOUR_DEFAULT; i++)
		if (yyjson_is_str(v) && str_is(json_str(v), colour_names[i])) {
			*out = i;
			return true;
		}
	if (json_int(v, &n) && n >= 0 && n <= 255) {
		*out = (uint16_t)(n < 16 ? n : COLOUR_256(n));
		return true;
	}
	config_invalid(r, v, name,
		       "a colour such as red, bright-red or default, or a number from 0 to 255");
	return false;
}

static void set_look(struct config_reading *r, enum role role, yyjson_val *object)
{
	struct config_look *look = &r->c->looks[role];
	yyjson_val *key, *v, *last = NULL;
	char name[64];
	size_t i, n;

	snprintf(name, sizeof(name), "theme.%s", role_name(role));
	if (!config_is_object(r, object, name, "an object of fg, bg, bold, underline"))
		return;
	yyjson_obj_foreach(object, i, n, key, v) {
		static const char *const parts[] = { "fg", "bg", "bold", "underline" };
		int part = 0;

		while (part < 4 && !str_is(json_str(key), parts[part]))
			part++;
		if (part == 4) {
			config_unknown_key(r, key, "part of a look", "fg, bg, bold, underline");
			continue;
		}
		if (config_is_repeated(r, object, key))
			continue;
		snprintf(name, sizeof(name), "theme.%s.%s", role_name(role), parts[part]);
		if (part == 0)
			look->has_front = set_colour(r, name, v, &look->front);
		else if (part == 1)
			look->has_back = set_colour(r, name, v, &look->back);
		else if (part == 2)
			look->has_bold = config_set_bool(r, name, v, &look->bold);
		else
			look->has_underline = config_set_bool(r, name, v, &look->underline);
		last = part < 2 ? v : last;
	}
	if (look->has_front && look->has_back && look->front == look->back &&
	    look->front != COLOUR_DEFAULT) {
		config_error(r, last, "theme.%s: fg and bg must differ, or nothing could be read",
			     role_name(role));
		look->has_front = look->has_back = false;
	}
}

static void set_base(struct config_reading *r, const char *name, const char *takes, yyjson_val *v)
{
	static const char *const names[] = { "dark", "light", "mono" };

	for (int i = 0; i < 3; i++)
		if (yyjson_is_str(v) && str_is(json_str(v), names[i])) {
			r->c->theme = names[i];
			return;
		}
	config_invalid(r, v, name, takes);
}

void config_add_role_names(struct buf *b)
{
	for (int role = 0; role < ROLE_COUNT; role++)
		if (role != ROLE_ESCAPED)
			buf_printf(b, "%s%s", role ? ", " : "", role_name((enum role)role));
}

void config_set_theme(struct config_reading *r, const struct setting *s, yyjson_val *value)
{
	struct buf roles = { 0 };
	yyjson_val *key, *v;
	size_t i, n;

	if (!yyjson_is_obj(value)) {
		set_base(r, s->name, s->takes, value);
		return;
	}
	if (!config_is_object(r, value, s->name, s->takes))
		return;
	config_add_role_names(&roles);
	yyjson_obj_foreach(value, i, n, key, v) {
		enum role role = role_find(json_str(key));
		bool is_base = str_is(json_str(key), "base");

		if (!is_base && role == ROLE_COUNT)
			config_unknown_key(r, key, "role", roles.p);
		else if (config_is_repeated(r, value, key))
			continue;
		else if (is_base)
			set_base(r, "theme.base", "\"dark\", \"light\" or \"mono\"", v);
		else if (role == ROLE_ESCAPED)
			config_error(r, key,
				     "theme.escaped cannot be changed: its look tells what "
				     "gavel spelled out from what was written");
		else
			set_look(r, role, v);
	}
	buf_release(&roles);
}

static void set_front_and_back(struct look *look, const struct config_look *override, int colours)
{
	/* COLOUR_256 starts above all others */
	if (override->has_front && (colours >= 256 || override->front <= COLOUR_DEFAULT))
		look->front = override->front;
	if (override->has_back && (colours >= 256 || override->back <= COLOUR_DEFAULT))
		look->back = override->back;
}

void config_theme(const struct config *c, int colours, struct theme *out)
{
	bool mono = colours < 8 || strcmp(c->theme, "mono") == 0;

	*out = *theme_find(str_of(mono ? "mono" : c->theme), colours);
	for (int role = 0; role < ROLE_COUNT; role++) {
		const struct config_look *override = &c->looks[role];
		struct look *look = &out->look[role];

		if (!mono)
			set_front_and_back(look, override, colours);
		if (override->has_bold) {
			look->bits &= (uint8_t) ~(override->bold ? LOOK_FAINT : LOOK_BOLD);
			look->bits |= override->bold ? LOOK_BOLD : 0;
		}
		if (override->has_underline) {
			look->bits &= (uint8_t)~LOOK_UNDERLINE;
			look->bits |= override->underline ? LOOK_UNDERLINE : 0;
		}
	}
}
