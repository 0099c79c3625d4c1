/* Backtracking glob matcher. Patterns and paths come from messages: lengths are bounded, and every
 * step is charged to the caller's budget, so a hostile pattern cannot take exponential time. */
#include "base/glob.h"

enum { PATTERN_MAX = 1024, PATH_MAX_BYTES = 4096 };

static const bool is_wildcard[256] = { ['*'] = true, ['?'] = true, ['['] = true, ['{'] = true };

static bool match_here(unsigned *budget, struct str p, struct str s);

static bool match_class(struct str *p, char c, bool *hit)
{
	size_t i = 1;
	bool negate = i < p->n && (p->p[i] == '!' || p->p[i] == '^');

	*hit = false;
	i += negate;
	for (size_t start = i; i < p->n && (p->p[i] != ']' || i == start); i++) {
		if (i + 2 < p->n && p->p[i + 1] == '-' && p->p[i + 2] != ']') {
			*hit |= c >= p->p[i] && c <= p->p[i + 2];
			i += 2;
		} else {
			*hit |= c == p->p[i];
		}
	}
	if (i >= p->n)
		return false;
	*hit = *hit != negate && c != '/';
	*p = str_from(*p, i + 1);
	return true;
}

/* {a,b}rest: tries a + rest, then b + rest. Returns -1 when the brace is not closed. */
static int match_braces(unsigned *budget, struct str p, struct str s)
{
	size_t depth = 0, start = 1, close = 0;

	for (size_t i = 0; i < p.n && !close; i++) {
		if (p.p[i] == '{')
			depth++;
		else if (p.p[i] == '}' && --depth == 0)
			close = i;
	}
	if (!close)
		return -1;
	depth = 0;
	for (size_t i = 1; i <= close && *budget; i++) {
		char c = p.p[i];

		if (c == '{')
			depth++;
		if ((c == ',' && depth == 0) || i == close) {
			char joined[PATTERN_MAX];
			size_t head = i - start, tail = p.n - close - 1;

			memcpy(joined, p.p + start, head);
			memcpy(joined + head, p.p + close + 1, tail);
			if (match_here(budget, str_make(joined, head + tail), s))
				return 1;
			start = i + 1;
		}
		if (c == '}' && depth)
			depth--;
	}
	return 0;
}

static bool match_stars(unsigned *budget, struct str p, struct str s)
{
	bool deep = p.n > 1 && p.p[1] == '*';

	while (p.n && p.p[0] == '*')
		p = str_from(p, 1);
	if (!p.n) /* fast path: trailing ** matches any rest, * any without a slash */
		return *budget && (deep || !s.n || !memchr(s.p, '/', s.n));
	if (deep && p.p[0] == '/' && match_here(budget, str_from(p, 1), s))
		return true; /* a leading ** and its slash may match nothing */
	for (size_t i = 0; *budget; i++) {
		if (match_here(budget, p, str_from(s, i)))
			return true;
		if (i >= s.n || (!deep && s.p[i] == '/'))
			return false;
	}
	return false;
}

/* Length of the common literal prefix of pattern and s. */
static size_t literal_prefix(struct str p, struct str s, size_t most)
{
	size_t n = p.n < s.n ? p.n : s.n, i = 0;

	n = n < most ? n : most;
	while (i < n && p.p[i] == s.p[i] && !is_wildcard[(unsigned char)p.p[i]])
		i++;
	return i;
}

static bool match_here(unsigned *budget, struct str p, struct str s)
{
	while (p.n) {
		size_t n = literal_prefix(p, s, *budget);
		bool hit;
		int braces;

		*budget -= (unsigned)n;
		p = str_from(p, n);
		s = str_from(s, n);
		if (!p.n)
			break;
		if (*budget == 0)
			return false;
		--*budget;
		switch (p.p[0]) {
		case '*':
			return match_stars(budget, p, s);
		case '{':
			braces = match_braces(budget, p, s);
			if (braces >= 0)
				return braces;
			break;
		case '?':
			if (!s.n || s.p[0] == '/')
				return false;
			p = str_from(p, 1);
			s = str_from(s, 1);
			continue;
		case '[':
			if (s.n && match_class(&p, s.p[0], &hit)) {
				if (!hit)
					return false;
				s = str_from(s, 1);
				continue;
			}
			break;
		}
		if (!s.n || p.p[0] != s.p[0])
			return false;
		p = str_from(p, 1);
		s = str_from(s, 1);
	}
	return s.n == 0;
}

static struct str without_dot(struct str s)
{
	while (str_starts(s, STR("./")))
		s = str_from(s, 2);
	return s;
}

bool glob_match_within(struct str pattern, struct str path, unsigned *budget)
{
	pattern = without_dot(pattern);
	path = without_dot(path);
	if (pattern.n > PATTERN_MAX || path.n > PATH_MAX_BYTES)
		return str_eq(pattern, path);
	if (pattern.n && pattern.p[pattern.n - 1] == '/')
		return str_starts(path, pattern);
	return match_here(budget, pattern, path);
}

bool glob_match(struct str pattern, struct str path)
{
	unsigned budget = 100000;

	return glob_match_within(pattern, path, &budget);
}

/* Length of the component that begins at i. */
static size_t component_length(struct str s, size_t i)
{
	const char *slash = i < s.n ? memchr(s.p + i, '/', s.n - i) : NULL;

	return (slash ? (size_t)(slash - s.p) : s.n) - i;
}

static bool is_parent(const char *p, size_t n)
{
	return n == 2 && p[0] == '.' && p[1] == '.';
}

/* Whether one of eight bytes is a slash that another slash or a dot follows; reads nine. */
static bool is_odd_eight(const char *p)
{
	const uint64_t each = 0x0101010101010101;
	uint64_t here, next, differs;

	memcpy(&here, p, sizeof(here));
	memcpy(&next, p + 1, sizeof(next));
	differs = (here ^ '/' * each) | ((next & 0xfe * each) ^ '.' * each);
	return (differs - each) & ~differs & 0x80 * each;
}

_Static_assert(('/' & 0xfe) == '.', "they differ in the lowest bit");

/* Most paths have no component that is empty or begins with a dot. */
static bool is_usual(struct str s)
{
	bool odd = s.n && s.p[0] == '.';

	if (s.n < 9)
		return false;
	for (size_t i = 0; i + 9 < s.n; i += 8)
		odd |= is_odd_eight(s.p + i);
	return !odd && !is_odd_eight(s.p + s.n - 9);
}

static bool is_clean(struct str s)
{
	if (is_usual(s))
		return true;
	for (size_t i = 0, n; i < s.n; i += n + 1) {
		n = component_length(s, i);
		if ((n == 0 && i > 0) || (n == 1 && s.p[i] == '.') || is_parent(s.p + i, n))
			return false;
	}
	return true;
}

/* Strips the last component of a path that ends with '/'; false if that is ".." or the path is empty. */
static bool strip_component(const char *path, size_t *n)
{
	size_t start = *n ? *n - 1 : 0;

	while (start > 0 && path[start - 1] != '/')
		start--;
	if (start + 1 >= *n || is_parent(path + start, *n - 1 - start))
		return false;
	*n = start;
	return true;
}

struct str path_clean(struct str s, char room[PATH_CLEAN_MAX])
{
	size_t n = 0, root = s.n && s.p[0] == '/', length;

	if (s.n > PATH_CLEAN_MAX || is_clean(s))
		return s;
	if (root)
		room[n++] = '/';
	for (size_t i = root; i < s.n; i += length + 1) {
		bool parent;

		length = component_length(s, i);
		parent = is_parent(s.p + i, length);
		if (length == 0 || (length == 1 && s.p[i] == '.') ||
		    (parent && (strip_component(room, &n) || root))) /* nothing is above the root */
			continue;
		memcpy(room + n, s.p + i, length);
		n += length;
		if (i + length < s.n)
			room[n++] = '/';
	}
	return str_make(room, n);
}

struct str glob_clean(struct str pattern, char room[PATH_CLEAN_MAX])
{
	size_t folders = 0;
	struct str head;

	for (size_t i = 0; i < pattern.n && !is_wildcard[(unsigned char)pattern.p[i]]; i++)
		if (pattern.p[i] == '/' || i + 1 == pattern.n)
			folders = i + 1;
	if (pattern.n > PATH_CLEAN_MAX)
		return pattern;
	head = path_clean(str_make(pattern.p, folders), room);
	if (head.p != room) /* nothing was removed */
		return pattern;
	memcpy(room + head.n, pattern.p + folders, pattern.n - folders);
	return str_make(room, head.n + pattern.n - folders);
}

static bool leaves_root(struct str s)
{
	return s.n >= 2 && s.p[0] == '.' && s.p[1] == '.' && (s.n == 2 || s.p[2] == '/');
}

bool glob_match_clean(struct str pattern, struct str path, unsigned *budget)
{
	return leaves_root(pattern) == leaves_root(path) &&
	       glob_match_within(pattern, path, budget);
}
