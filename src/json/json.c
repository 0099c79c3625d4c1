/* Parsing with a depth limit and repair of broken Unicode; access to values. */
#include "json/json.h"

#include "base/mem.h"
#include "base/utf8.h"
#include "json/escapes.h"
#include "json/quick/quick.h"

#include <stdlib.h>

/* The offset behind the comment at i, or i where there is none. */
static size_t skip_comment(struct str s, size_t i)
{
	ptrdiff_t end;

	if (i + 1 >= s.n || s.p[i] != '/')
		return i;
	if (s.p[i + 1] == '/') {
		while (i < s.n && s.p[i] != '\n' && s.p[i] != '\r')
			i++;
	} else if (s.p[i + 1] == '*') {
		end = str_find(s, STR("*/"), i + 2);
		i = end < 0 ? s.n : (size_t)end + 2;
	}
	return i;
}

/* Whether a text that could not be parsed is nested too deep. */
static bool text_too_deep(struct str s, bool comments)
{
	unsigned depth = 0;
	bool in_string = false;

	if (s.n <= JSON_DEPTH_MAX)
		return false;
	for (size_t i = 0; i < s.n; i++) {
		char c = s.p[i];
		size_t behind = comments && !in_string ? skip_comment(s, i) : i;

		if (behind > i) {
			i = behind - 1;
		} else if (in_string) {
			if (c == '\\')
				i++;
			else if (c == '"')
				in_string = false;
		} else if (c == '"') {
			in_string = true;
		} else if (c == '[' || c == '{') {
			if (++depth > JSON_DEPTH_MAX)
				return true;
		} else if ((c == ']' || c == '}') && depth) {
			depth--;
		}
	}
	return false;
}

/* Values are in one array, containers before their contents; most messages have fewer values than
 * the limit has levels. */
static bool tree_too_deep(const yyjson_doc *doc)
{
	const yyjson_val *v = doc->root, *end = v + doc->val_read, *ends[JSON_DEPTH_MAX];
	unsigned depth = 0;

	if (doc->val_read <= JSON_DEPTH_MAX)
		return false;
	for (; v < end; v++) {
		if (!unsafe_yyjson_is_ctn((void *)(uintptr_t)v))
			continue;
		while (depth && ends[depth - 1] <= v)
			depth--;
		if (depth == JSON_DEPTH_MAX)
			return true;
		ends[depth++] = (const void *)((const char *)v + v->uni.ofs);
	}
	return false;
}

/* Copies s with U+FFFD for each byte that is not UTF-8 and for each half of a surrogate pair. */
static bool repair(struct str s, struct buf *out)
{
	bool changed = false;

	buf_reserve(out, s.n + 64);
	for (size_t i = 0; i < s.n;) {
		uint32_t c;
		size_t step = utf8_decode(str_from(s, i), &c);
		int unit, low;

		if (!step) {
			buf_adds(out, "\xef\xbf\xbd");
			changed = true;
			i++;
			continue;
		}
		if (c != '\\' || i + 6 > s.n || s.p[i + 1] != 'u') {
			if (c == '\\' && i + 1 < s.n && (unsigned char)s.p[i + 1] < 0x80)
				step = 2;
			buf_add(out, s.p + i, step);
			i += step;
			continue;
		}
		unit = escape_hex4(s.p + i + 2);
		low = i + 12 <= s.n && s.p[i + 6] == '\\' && s.p[i + 7] == 'u'
			      ? escape_hex4(s.p + i + 8)
			      : -1;
		if (unit >= 0xd800 && unit <= 0xdbff && low >= 0xdc00 && low <= 0xdfff) {
			buf_add(out, s.p + i, 12);
			i += 12;
		} else if (unit >= 0xd800 && unit <= 0xdfff) {
			buf_adds(out, "\\ufffd");
			changed = true;
			i += 6;
		} else {
			buf_add(out, s.p + i, 6);
			i += 6;
		}
	}
	return changed;
}

/* Whether `repair` could find something. */
static bool may_be_broken(struct str s)
{
	return !utf8_valid(s) || str_find(s, STR("\\u"), 0) >= 0;
}

enum {
	ROOM_KEPT_BYTES = 4 << 20, /* json_reader_forget frees a bigger buffer */
	PADDING = QUICK_PADDING > YYJSON_PADDING_SIZE ? QUICK_PADDING : YYJSON_PADDING_SIZE,
};

/* A buffer in which a text of n bytes can be parsed. */
static char *text_buffer(struct json_reader *r, size_t n)
{
	if (r->text_cap - r->kept < n + PADDING) {
		size_t cap = n + n / 2 + 4096;

		if (r->kept) {
			vec_push(&r->full, r->text);
			/* so that a few buffers suffice, and soon one */
			cap = cap < 2 * r->text_cap ? 2 * r->text_cap : cap;
		} else {
			free(r->text);
		}
		r->kept = 0;
		r->text_cap = cap;
		r->text = xmalloc(cap);
	}
	r->current = n + PADDING;
	return r->text + r->kept;
}

void json_reader_keep(struct json_reader *r)
{
	r->kept += r->current;
	r->current = 0;
}

void json_reader_forget(struct json_reader *r)
{
	for (uint32_t i = 0; i < r->full.n; i++)
		free(r->full.v[i]);
	r->full.n = 0;
	r->kept = r->current = 0;
	r->ahead = NULL; /* another text may follow at the same address */
	if (r->text_cap > ROOM_KEPT_BYTES) {
		free(r->text);
		r->text = NULL;
		r->text_cap = 0;
	}
}

/* Room for a tree that replaces the last one. */
static void reserve_tree(struct json_reader *r, size_t need)
{
	r->ahead = NULL;
	if (r->pool_cap < need) {
		r->pool_cap = need + need / 2;
		free(r->pool);
		r->pool = xmalloc(r->pool_cap);
	}
}

static char *copy_text(struct json_reader *r, struct str s)
{
	char *text = text_buffer(r, s.n);

	memcpy(text, s.p, s.n);
	memset(text + s.n, 0, PADDING);
	return text;
}

static bool read_quickly(struct json_reader *r, const char *text, size_t n, bool lazily)
{
	reserve_tree(r, QUICK_POOL_BYTES(n));
	r->doc = quick_read(text, n, NULL, lazily ? r->names : NULL, r->pool, r->pool_cap);
	if (r->doc && !lazily)
		tree_unescape(r->doc);
	return r->doc;
}

/* Parses with yyjson the copy of a text, and refuses what is nested too deep for recursive callers. */
static enum json_outcome read_slowly(struct json_reader *r, char *text, struct str s,
				     yyjson_read_flag more)
{
	const yyjson_read_flag flags = YYJSON_READ_INSITU | YYJSON_READ_BIGNUM_AS_RAW | more;
	yyjson_read_err e = { 0 };
	yyjson_alc alc;

	reserve_tree(r, yyjson_read_max_memory_usage(s.n, flags));
	yyjson_alc_pool_init(&alc, r->pool, r->pool_cap);
	r->doc = yyjson_read_opts(text, s.n, flags, &alc, &e);
	if (!r->doc)
		r->current = 0;
	if (r->doc ? tree_too_deep(r->doc) : text_too_deep(s, more & YYJSON_READ_ALLOW_COMMENTS)) {
		r->why = "nested deeper than 128 levels";
		return JSON_TOO_DEEP;
	}
	if (r->doc)
		return JSON_OK;
	r->why = e.msg;
	r->where = e.pos;
	return JSON_NOT;
}

static enum json_outcome read_once(struct json_reader *r, struct str s, yyjson_read_flag more,
				   bool lazily)
{
	char *text;

	r->why = "empty";
	r->where = 0;
	if (s.n == 0)
		return JSON_NOT;
	text = copy_text(r, s);
	if (!more && read_quickly(r, text, s.n, lazily))
		return JSON_OK;
	return read_slowly(r, text, s, more);
}

/* Whether it begins as an object and ends otherwise, as a line does that was cut off. */
static bool is_unclosed(struct str s)
{
	if (usually(s.n && s.p[s.n - 1] == '}'))
		return false;
	s = str_trim(s);
	return s.n && s.p[0] == '{' && s.p[s.n - 1] != '}';
}

/* No parser accepts it, repaired or not: one is only asked for the reason. */
static enum json_outcome refuse_unclosed(struct json_reader *r, struct str s)
{
	if (!r->quiet || s.n > JSON_DEPTH_MAX)
		return read_slowly(r, copy_text(r, s), s, 0);
	r->doc = NULL;
	r->current = 0;
	return JSON_NOT;
}

static enum json_outcome read_repaired(struct json_reader *r, struct str s, bool lazily,
				       yyjson_val **root)
{
	enum json_outcome outcome;

	*root = NULL;
	if (is_unclosed(s))
		return refuse_unclosed(r, s);
	outcome = read_once(r, s, 0, lazily);
	if (outcome == JSON_NOT && s.n && may_be_broken(s)) {
		const char *why = r->why;
		size_t where = r->where;
		struct buf mended = { 0 };

		if (repair(s, &mended) && read_once(r, buf_str(&mended), 0, lazily) == JSON_OK)
			outcome = JSON_REPAIRED;
		else
			r->why = why, r->where = where;
		buf_release(&mended);
	}
	if (outcome == JSON_OK || outcome == JSON_REPAIRED)
		*root = yyjson_doc_get_root(r->doc);
	return outcome;
}

static bool is_in_number(char c)
{
	return (c >= '0' && c <= '9') || c == '-' || c == '+' || c == '.' || c == 'e' || c == 'E';
}

/* The bytes of a number, true, false or null at the beginning; 0 = there is none. */
static size_t literal_bytes(struct str s)
{
	size_t n = 0;

	if (str_starts(s, STR("true")) || str_starts(s, STR("null")))
		return 4;
	if (str_starts(s, STR("false")))
		return 5;
	if (s.n && (s.p[0] == '-' || (s.p[0] >= '0' && s.p[0] <= '9')))
		while (n < s.n && is_in_number(s.p[n]))
			n++;
	return n;
}

/* Whether a value can begin with it, other than white space. */
static bool begins_value(char c)
{
	switch (c) {
	case '{': case '[': case '"': case '-': case 't': case 'f': case 'n': return true;
	default: return c >= '0' && c <= '9';
	}
}

bool json_is_possible(struct str bytes)
{
	struct str s, inside;
	size_t n;

	if (bytes.n && (unsigned char)bytes.p[0] > ' ' && !begins_value(bytes.p[0]))
		return false; /* most log lines */
	s = str_trim(bytes);
	if (!s.n || s.p[0] == '{')
		return s.n;
	if (s.p[0] == '"')
		return s.n > 1 && s.p[s.n - 1] == '"';
	if (s.p[0] != '[')
		return literal_bytes(s) == s.n;
	inside = str_trim(str_from(s, 1));
	if (!inside.n || strchr("]{[\"", inside.p[0]))
		return true;
	n = literal_bytes(inside);
	inside = str_trim(str_from(inside, n));
	return n && (!inside.n || inside.p[0] == ',' || str_is(inside, "]"));
}

enum json_outcome json_read(struct json_reader *r, struct str s, yyjson_val **root)
{
	return read_repaired(r, s, false, root);
}

const char *json_read_ahead(struct json_reader *r, const char *p, const char *end)
{
	const char *newline;

	reserve_tree(r, QUICK_POOL_BYTES((size_t)(end - p)));
	r->doc = quick_read(p, (size_t)(end - p), &newline, r->names, r->pool, r->pool_cap);
	r->ahead = p;
	return r->doc ? newline : NULL;
}

/* Parses the text if it is plain JSON and returns whether it is. */
static bool read_in_place(struct json_reader *r, struct str s)
{
	if (r->ahead != s.p)
		return s.n && read_quickly(r, s.p, s.n, true);
	r->ahead = NULL;
	return r->doc;
}

enum json_outcome json_read_lazily(struct json_reader *r, struct str s, yyjson_val **root)
{
	if (r->in_place && read_in_place(r, s)) {
		r->current = 0;
		*root = yyjson_doc_get_root(r->doc);
		return JSON_OK;
	}
	return read_repaired(r, s, true, root);
}

enum json_outcome json_read_relaxed(struct json_reader *r, struct str s, yyjson_val **root)
{
	enum json_outcome outcome = read_once(
		r, s, YYJSON_READ_ALLOW_COMMENTS | YYJSON_READ_ALLOW_TRAILING_COMMAS, false);

	*root = outcome == JSON_OK ? yyjson_doc_get_root(r->doc) : NULL;
	return outcome;
}

void json_reader_release(struct json_reader *r)
{
	json_reader_forget(r);
	vec_release(&r->full);
	free(r->text);
	free(r->pool);
	*r = (struct json_reader){ 0 };
}

yyjson_val *json_getn(yyjson_val *obj, const char *key, size_t n)
{
	yyjson_val *name;

	if (!yyjson_is_obj(obj))
		return NULL;
	name = unsafe_yyjson_get_first(obj);
	for (size_t left = unsafe_yyjson_get_len(obj); left; left--) {
		if (unsafe_yyjson_get_len(name) == n && memcmp(name->uni.str, key, n) == 0)
			return name + 1;
		name = unsafe_yyjson_get_next(name + 1);
	}
	return NULL;
}

bool json_int(yyjson_val *v, int64_t *out)
{
	double d;

	if (yyjson_is_sint(v)) {
		*out = yyjson_get_sint(v);
		return true;
	}
	if (yyjson_is_uint(v)) {
		if (yyjson_get_uint(v) > INT64_MAX)
			return false;
		*out = (int64_t)yyjson_get_uint(v);
		return true;
	}
	if (!yyjson_is_real(v))
		return false;
	d = yyjson_get_real(v);
	if (!(d >= -9007199254740992.0 && d <= 9007199254740992.0))
		return false;
	*out = (int64_t)d;
	return (double)*out == d;
}

bool json_number(yyjson_val *v, double *out)
{
	if (!yyjson_is_num(v))
		return false;
	*out = yyjson_get_num(v);
	return true;
}

const char *json_type_name(yyjson_val *v)
{
	static const char *const names[] = {
		[YYJSON_TYPE_NONE] = "nothing",  [YYJSON_TYPE_RAW] = "a number",
		[YYJSON_TYPE_NULL] = "null",	 [YYJSON_TYPE_BOOL] = "a boolean",
		[YYJSON_TYPE_NUM] = "a number",  [YYJSON_TYPE_STR] = "a string",
		[YYJSON_TYPE_ARR] = "an array",  [YYJSON_TYPE_OBJ] = "an object",
	};

	return names[yyjson_get_type(v)];
}

void json_pointer_add(struct buf *b, struct str name)
{
	buf_addc(b, '/');
	if (name.n && !memchr(name.p, '~', name.n) && !memchr(name.p, '/', name.n)) {
		buf_add_str(b, name);
		return;
	}
	for (size_t i = 0; i < name.n; i++) {
		if (name.p[i] == '~')
			buf_adds(b, "~0");
		else if (name.p[i] == '/')
			buf_adds(b, "~1");
		else
			buf_addc(b, name.p[i]);
	}
}

/* How many bytes of a string come before a quote or backslash. Looks at a few only, so that a
 * string full of escapes is not searched again and again. */
static size_t plain_bytes(const char *p, size_t n)
{
	enum { WINDOW = 128 };
	const char *found;

	n = n < WINDOW ? n : WINDOW;
	found = memchr(p, '"', n);
	n = found ? (size_t)(found - p) : n;
	found = memchr(p, '\\', n);
	return found ? (size_t)(found - p) : n;
}

/* The bytes up to the brace that closes the first one, 0 = there is none. */
static size_t object_bytes(struct str s, size_t *budget)
{
	size_t depth = 0;
	bool in_string = false;

	for (size_t i = 0; i < s.n && *budget; i++, --*budget) {
		char c = s.p[i];

		if (in_string) {
			if (c == '\\') {
				i++;
			} else if (c == '"') {
				in_string = false;
			} else {
				size_t left = s.n - i < *budget ? s.n - i : *budget;
				size_t more = plain_bytes(s.p + i + 1, left - 1);

				i += more;
				*budget -= more;
			}
		} else if (c == '"') {
			in_string = true;
		} else if (c == '{') {
			depth++;
		} else if (c == '}' && --depth == 0) {
			--*budget;
			return i + 1;
		}
	}
	return 0;
}

bool json_next_object(struct str s, size_t *at, struct str *span, size_t *budget)
{
	for (size_t i = *at; i < s.n && *budget; i++) {
		const char *brace = memchr(s.p + i, '{', s.n - i);
		size_t n;

		if (!brace)
			break;
		i = (size_t)(brace - s.p);
		n = object_bytes(str_from(s, i), budget);
		if (n) {
			*span = str_make(brace, n);
			*at = i + 1;
			return true;
		}
	}
	*at = s.n;
	return false;
}
