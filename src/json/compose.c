/* JSON output, one member at a time. */
#include "json/compose.h"

#include "base/timestamp.h"

void json_comma(struct buf *b)
{
	if (b->n && b->p[b->n - 1] != '{' && b->p[b->n - 1] != '[')
		buf_addc(b, ',');
}

void json_key(struct buf *b, const char *name)
{
	json_comma(b);
	buf_addc(b, '"');
	buf_adds(b, name);
	buf_add(b, "\":", 2);
}

void json_open(struct buf *b, const char *name, char bracket)
{
	json_key(b, name);
	buf_addc(b, bracket);
}

void json_put_str(struct buf *b, const char *name, struct str s)
{
	json_key(b, name);
	if (s.p)
		json_write_str(b, s);
	else
		buf_adds(b, "null");
}

void json_put_name(struct buf *b, const char *name, const char *value)
{
	json_put_str(b, name, str_of(value));
}

void json_put_number(struct buf *b, const char *name, uint64_t n)
{
	json_key(b, name);
	buf_add_u64(b, n);
}

void json_put_int(struct buf *b, const char *name, int64_t n)
{
	json_key(b, name);
	buf_add_i64(b, n);
}

void json_put_bool(struct buf *b, const char *name, bool value)
{
	json_key(b, name);
	buf_adds(b, value ? "true" : "false");
}

void json_put_int_if(struct buf *b, const char *name, bool present, int64_t n)
{
	if (present)
		json_put_int(b, name, n);
	else
		json_put_str(b, name, STR_NONE);
}

void json_put_time(struct buf *b, const char *name, int64_t ms)
{
	json_put_int_if(b, name, ms != TIME_NONE, ms);
}

void json_put_value(struct buf *b, const char *name, yyjson_val *v)
{
	json_key(b, name);
	if (v)
		json_write(b, v);
	else
		buf_adds(b, "null");
}

void json_put_member(struct buf *b, yyjson_val *key, yyjson_val *v)
{
	json_comma(b);
	json_write_str(b, json_str(key));
	buf_addc(b, ':');
	json_write(b, v);
}
