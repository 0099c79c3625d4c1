/* Matching by backtracking, with a budget: a hostile pattern must not cost more than a moment. */
#include "base/glob.h"

struct match {
	unsigned budget;
};

static bool match_here(struct match *m, struct str p, struct str s);

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
static int match_braces(struct match *m, struct str p, struct str s)
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
	for (size_t i = 1; i <= close; i++) {
		char c = p.p[i];

		if (c == '{')
			depth++;
		if ((c == ',' && depth == 0) || i == close) {
			char joined[512];
			size_t head = i - start, tail = p.n - close - 1;

			if (head + tail <= sizeof(joined)) {
				memcpy(joined, p.p + start, head);
				memcpy(joined + head, p.p + close + 1, tail);
				if (match_here(m, str_make(joined, head + tail), s))
					return 1;
			}
			start = i + 1;
		}
		if (c == '}' && depth)
			depth--;
	}
	return 0;
}

static bool match_stars(struct match *m, struct str p, struct str s)
{
	bool deep = p.n > 1 && p.p[1] == '*';

	p = str_from(p, deep ? 2 : 1);
	if (deep && p.n && p.p[0] == '/' && match_here(m, str_from(p, 1), s))
		return true; /* a double star may stand for no folder at all */
	for (size_t i = 0;; i++) {
		if (match_here(m, p, str_from(s, i)))
			return true;
		if (i >= s.n || (!deep && s.p[i] == '/'))
			return false;
	}
}

static bool match_here(struct match *m, struct str p, struct str s)
{
	while (p.n) {
		bool hit;
		int braces;

		if (m->budget == 0)
			return false;
		m->budget--;
		switch (p.p[0]) {
		case '*':
			return match_stars(m, p, s);
		case '{':
			braces = match_braces(m, p, s);
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

bool glob_match(struct str pattern, struct str path)
{
	struct match m = { 100000 };

	pattern = without_dot(pattern);
	path = without_dot(path);
	if (pattern.n && pattern.p[pattern.n - 1] == '/')
		return str_starts(path, pattern);
	return match_here(&m, pattern, path);
}
