/* both_to_capture AGENT DIALECT <NAME.both.ndjson: a recording of a real agent with both directions,
 * {"t":ms,"dir":"agent"|"client"|"note"|"stderr","msg":…|"text":…} a line, as the capture that gavel's
 * holder would have written of it (source/child.h). */
#include "base/buf.h"
#include "json/json.h"

#include <stdio.h>

struct converter {
	struct buf out;
	unsigned told;
	int64_t began_ms; /* times in recordings are relative */
};

static void add_run(struct converter *c, int64_t t)
{
	buf_printf(&c->out, "\t{\"gavel\":\"run\",\"n\":1,\"pid\":1001,\"t\":%lld}\n",
		   (long long)(c->began_ms + t));
}

/* "exit code=0 signal=null" */
static void add_exit(struct converter *c, int64_t t, const char *note)
{
	int code = 0;
	bool by_signal = sscanf(note, "exit code=%d", &code) != 1;

	buf_printf(&c->out, "\t{\"gavel\":\"exit\",\"n\":1,\"%s\":%d,\"t\":%lld}\n",
		   by_signal ? "signal" : "code", by_signal ? 9 : code, (long long)(c->began_ms + t));
}

static void add_line(struct converter *c, int64_t t, yyjson_val *line, bool told)
{
	yyjson_val *msg = json_get(line, "msg");

	if (told)
		buf_printf(&c->out, "\t{\"gavel\":\"to\",\"id\":\"%012u\",\"t\":%lld}\n\t", ++c->told,
			   (long long)(c->began_ms + t));
	if (msg)
		json_write(&c->out, msg);
	else
		buf_add_str(&c->out, str_trim(json_get_str(line, "text")));
	buf_addc(&c->out, '\n');
}

static void convert(struct converter *c, yyjson_val *line)
{
	struct str dir = json_get_str(line, "dir"), text = json_get_str(line, "text");
	int64_t t = 0;

	json_int(json_get(line, "t"), &t);
	if (str_is(dir, "agent") || str_is(dir, "client"))
		add_line(c, t, line, str_is(dir, "client"));
	else if (str_is(dir, "note") && str_starts(text, STR("exit ")))
		add_exit(c, t, text.p);
}

/* Codex says when it wrote a line; for others any time will do. */
static void find_clock(struct converter *c, yyjson_val *line)
{
	int64_t t, wrote_ms;

	if (!c->began_ms && json_int(json_get(line, "t"), &t) &&
	    json_int(json_get(json_get(line, "msg"), "emittedAtMs"), &wrote_ms))
		c->began_ms = wrote_ms - t;
}

/* Calls it with each line, parsed. */
static int each_line(struct converter *c, struct str text,
		     void (*do_line)(struct converter *c, yyjson_val *line))
{
	struct json_reader json = { 0 };
	yyjson_val *root;
	int result = 0;

	while (text.n && result == 0) {
		const char *end = memchr(text.p, '\n', text.n);
		struct str line = str_make(text.p, end ? (size_t)(end - text.p) : text.n);

		if (json_read(&json, line, &root) == JSON_OK)
			do_line(c, root);
		else
			result = 1;
		text = str_from(text, line.n + (end != NULL));
	}
	json_reader_release(&json);
	return result;
}

int main(int argc, char **argv)
{
	struct converter c = { 0 };
	struct buf in = { 0 };
	int c1, result;

	if (argc != 3) {
		fprintf(stderr, "usage: both_to_capture AGENT DIALECT <BOTH >CAPTURE\n");
		return 2;
	}
	buf_printf(&c.out,
		   "\t{\"gavel\":\"capture\",\"id\":\"00000000-0000-4000-8000-000000000001\","
		   "\"agent\":\"%s\",\"dialect\":\"%s\",\"command\":[\"%s\"]}\n",
		   argv[1], argv[2], argv[1]);
	while ((c1 = getchar()) != EOF)
		buf_addc(&in, (char)c1);
	result = each_line(&c, buf_str(&in), find_clock);
	if (!c.began_ms)
		c.began_ms = INT64_C(1794902376000);
	add_run(&c, 0);
	result |= each_line(&c, buf_str(&in), convert);
	fwrite(c.out.p, 1, c.out.n, stdout);
	buf_release(&c.out);
	buf_release(&in);
	return fflush(stdout) == 0 ? result : 1;
}
