/* Writes the values of requests as PostgreSQL takes them. */
#include "team/store_values.h"

enum { STORE_OID_BYTES = 17, STORE_OID_LIST = 1001 };

unsigned store_type_oid(enum store_type type)
{
	return type == STORE_BYTES ? STORE_OID_BYTES : type == STORE_LIST ? STORE_OID_LIST : 0;
}

static void add_big_endian(struct buf *out, uint32_t v)
{
	for (int shift = 24; shift >= 0; shift -= 8)
		buf_addc(out, (char)(v >> shift));
}

/* An array of bytea as the server sends and takes it. */
static void add_list(struct buf *out, const struct str *list, size_t n)
{
	add_big_endian(out, n ? 1 : 0);
	add_big_endian(out, 0);
	add_big_endian(out, STORE_OID_BYTES);
	if (n) {
		add_big_endian(out, (uint32_t)n);
		add_big_endian(out, 1);
	}
	for (size_t i = 0; i < n; i++) {
		add_big_endian(out, (uint32_t)list[i].n);
		buf_add_str(out, list[i]);
	}
}

/* A text of the server has no NUL. */
static void add_text(struct buf *out, struct str s)
{
	for (size_t i = 0; i < s.n; i++)
		if (s.p[i])
			buf_addc(out, s.p[i]);
		else
			buf_adds(out, "\xef\xbf\xbd");
	buf_addc(out, '\0');
}

void store_value_write(const struct store_value *v, struct buf *out)
{
	switch (v->type) {
	case STORE_NULL:
		break;
	case STORE_TEXT:
		add_text(out, v->s);
		break;
	case STORE_BYTES:
		buf_reserve(out, v->s.n);
		buf_add_str(out, v->s);
		break;
	case STORE_LIST:
		add_list(out, v->list, v->s.n);
		break;
	case STORE_NUMBER:
		buf_printf(out, "%lld", (long long)v->number);
		break;
	}
}
