/* both_to_capture AGENT DIALECT <NAME.both.ndjson: a recording of a real agent with both directions,
 * {"t":ms,"dir":"agent"|"client"|"note"|"stderr","msg":…|"text":…} a line, as the capture that gavel's
 * holder would have written of it (source/child.h). */
#include "base/buf.h"
#include "json/json.h"

#include <stdio.h>
#include <stdlib.h>

#define BEGAN_MS INT64_C(1794902376000) /* times in recordings are relative */

struct converter {
	struct buf out;
	unsigned told;
};

static void add_run(struct converter *c, int64_t t)
{
	buf_printf(&c->out, "\t{\"gavel\":\"run\",\"n\":1,\"pid\":1001,\"t\":%lld}\n",
		   (long long)(BEGAN_MS + t));
}

/* "exit code=0 signal=null" */
static void add_exit(struct converter *c, int64_t t, const char *note)
{
	int code = 0;
	bool by_signal = sscanf(note, "exit code=%d", &code) != 1;

	buf_printf(&c->out, "\t{\"gavel\":\"exit\",\"n\":1,\"%s\":%d,\"t\":%lld}\n",
		   by_signal ? "signal" : "code", by_signal ? 9 : code, (long long)(BEGAN_MS + t));
}

static void add_line(struct converter *c, int64_t t, yyjson_val *line, bool told)
{
	yyjson_val *msg = json_get(line, "msg");

	if (told)
		buf_printf(&c->out, "\t{\"gavel\":\"to\",\"id\":\"%012u\",\"t\":%lld}\n\t", ++c->told,
			   (long long)(BEGAN_MS + t));
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

int main(int argc, char **argv)
{
	struct converter c = { 0 };
	struct json_reader json = { 0 };
	char *line = NULL;
	size_t cap = 0;
	ssize_t n;

	if (argc != 3) {
		fprintf(stderr, "usage: both_to_capture AGENT DIALECT <BOTH >CAPTURE\n");
		return 2;
	}
	buf_printf(&c.out,
		   "\t{\"gavel\":\"capture\",\"id\":\"00000000-0000-4000-8000-000000000001\","
		   "\"agent\":\"%s\",\"dialect\":\"%s\",\"command\":[\"%s\"]}\n",
		   argv[1], argv[2], argv[1]);
	add_run(&c, 0);
	while ((n = getline(&line, &cap, stdin)) > 0) {
		yyjson_val *root;

		if (json_read(&json, str_make(line, (size_t)n), &root) != JSON_OK) {
			fprintf(stderr, "both_to_capture: not JSON: %s", line);
			return 1;
		}
		convert(&c, root);
	}
	fwrite(c.out.p, 1, c.out.n, stdout);
	free(line);
	buf_release(&c.out);
	json_reader_release(&json);
	return fflush(stdout) == 0 ? 0 : 1;
}
