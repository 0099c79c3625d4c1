/* The text of a member or an element as it stands in a message. */
#include "encode/raw_member.h"

static size_t skip_space(struct str s, size_t i)
{
	while (i < s.n && (s.p[i] == ' ' || s.p[i] == '\t' || s.p[i] == '\n' || s.p[i] == '\r'))
		i++;
	return i;
}

/* The offset behind the value at i. s is valid JSON. */
static size_t skip_value(struct str s, size_t i)
{
	unsigned depth = 0;
	bool in_string = false;

	for (; i < s.n; i++) {
		char c = s.p[i];

		if (in_string) {
			if (c == '\\')
				i++;
			else if (c == '"')
				in_string = false;
		} else if (c == '"') {
			in_string = true;
		} else if (c == '{' || c == '[') {
			depth++;
		} else if (c == '}' || c == ']') {
			if (depth == 0)
				break;
			depth--;
		} else if (depth == 0 && (c == ',' || c == ':')) {
			break;
		}
	}
	return i;
}

struct str raw_member(struct str object, const char *name)
{
	size_t i = skip_space(object, 0) + 1;

	while (i < object.n && object.p[skip_space(object, i)] != '}') {
		size_t end = skip_value(object, i);
		struct str key = str_trim(str_make(object.p + i, end - i));

		i = end + 1;
		end = skip_value(object, i);
		if (key.n >= 2 && str_is(str_make(key.p + 1, key.n - 2), name))
			return str_trim(str_make(object.p + i, end - i));
		i = end + 1;
	}
	return STR_NONE;
}

struct str raw_element(struct str array, uint32_t index)
{
	size_t i = skip_space(array, 0) + 1;

	while (i < array.n && array.p[skip_space(array, i)] != ']') {
		size_t end = skip_value(array, i);

		if (!index--)
			return str_trim(str_make(array.p + i, end - i));
		i = end + 1;
	}
	return STR_NONE;
}

void add_on_one_line(struct buf *b, struct str text)
{
	for (size_t i = 0; i < text.n; i++)
		if (text.p[i] != '\n' && text.p[i] != '\r')
			buf_addc(b, text.p[i]);
}
