/* gavel check: validates every message against its protocol, as text, JSON lines or SARIF. */
#include "cmd/cmd.h"
#include "session/load.h"

#include <stdio.h>

struct checking {
	const struct options *o;
	struct filter *filter;
	bool dated; /* the filter has the log's day */
	bool several;
	uint64_t count[3];
	uint64_t messages[DIALECT_MAX];
	uint64_t results; /* SARIF results so far */
	struct buf prefix; /* of the message's lines: source and number */
	struct buf out;
};

static void flush(struct checking *c, size_t limit)
{
	if (c->out.n > limit) {
		(c->o->format == OUTPUT_TEXT ? say_text : say_json)(buf_str(&c->out));
		buf_clear(&c->out);
	}
}

/* Plain texts, as nearly all are, are appended without a look at the buffer for each. */
static char *put(char *p, struct str s)
{
	memcpy(p, s.p, s.n);
	return p + s.n;
}

static void print_plain(struct buf *out, struct str prefix, const struct diag *d, struct str rule)
{
	char *p;

	buf_reserve(out, prefix.n + d->pointer.n + d->text.n + rule.n + 32);
	p = put(out->p + out->n, prefix);
	switch (d->severity) {
	case SEVERITY_NOTE: p = put(p, STR("note: ")); break;
	case SEVERITY_WARNING: p = put(p, STR("warning: ")); break;
	case SEVERITY_ERROR: p = put(p, STR("error: ")); break;
	}
	if (d->pointer.n)
		p = put(put(p, d->pointer), STR(": "));
	p = put(put(p, d->text), STR(" ["));
	p = put(put(p, rule), STR("]\n"));
	*p = '\0';
	out->n = (size_t)(p - out->p);
}

static void print_any(struct buf *out, struct str prefix, const struct diag *d)
{
	buf_add_str(out, prefix);
	buf_adds(out, severity_name(d->severity));
	if (d->pointer.n)
		add_labelled(out, ": ", d->pointer, TEXT_ID);
	add_labelled(out, ": ", d->text, TEXT_LINE);
	buf_add_str(out, STR(" ["));
	buf_adds(out, d->rule);
	buf_add_str(out, STR("]\n"));
}

static void print_text(struct checking *c, struct str source, const struct message *msg,
		       uint32_t number)
{
	char digits[DIGITS_MAX];

	buf_clear(&c->prefix);
	add_clean(&c->prefix, source, TEXT_ID);
	buf_add_str(&c->prefix, STR(":"));
	buf_add_str(&c->prefix, str_from_u64(number, digits));
	buf_add_str(&c->prefix, STR(": "));
	for (uint32_t i = 0; i < msg->diags.list.n; i++) {
		const struct diag *d = &msg->diags.list.v[i];

		if (str_is_plain(d->pointer) && str_is_plain(d->text))
			print_plain(&c->out, buf_str(&c->prefix), d, str_of(d->rule));
		else
			print_any(&c->out, buf_str(&c->prefix), d);
	}
}

static void print_json(struct checking *c, struct str source, const struct message *msg,
		       uint32_t line)
{
	struct buf *b = &c->out;

	buf_printf(b, "{\"line\":%u", line);
	if (c->several) {
		buf_adds(b, ",\"source\":");
		json_write_str(b, source);
	}
	buf_printf(b, ",\"dialect\":\"%s\",\"kind\":", dialect_name(msg->dialect));
	json_write_str(b, msg->kind);
	buf_printf(b, ",\"valid\":%s,\"diagnostics\":[",
		   msg->diags.count[SEVERITY_ERROR] ? "false" : "true");
	for (uint32_t i = 0; i < msg->diags.list.n; i++) {
		const struct diag *d = &msg->diags.list.v[i];

		buf_printf(b, "%s{\"rule\":\"%s\",\"severity\":\"%s\",\"pointer\":", i ? "," : "",
			   d->rule, severity_name(d->severity));
		json_write_str(b, d->pointer);
		buf_adds(b, ",\"message\":");
		json_write_str(b, d->text);
		if (d->counted)
			buf_printf(b, ",\"counted\":%u", d->counted);
		buf_addc(b, '}');
	}
	buf_adds(b, "]}\n");
}

/* A file name as a relative URI reference. */
static void add_uri(struct buf *b, struct str name)
{
	buf_addc(b, '"');
	for (size_t i = 0; i < name.n; i++) {
		unsigned char ch = (unsigned char)name.p[i];

		if ((ch | 32) >= 'a' && (ch | 32) <= 'z')
			buf_addc(b, (char)ch);
		else if ((ch >= '0' && ch <= '9') || (ch && strchr("-._~/", ch)))
			buf_addc(b, (char)ch);
		else
			buf_printf(b, "%%%02X", ch);
	}
	buf_addc(b, '"');
}

static void print_sarif(struct checking *c, struct str source, const struct message *msg,
			uint32_t line)
{
	struct buf *b = &c->out;

	for (uint32_t i = 0; i < msg->diags.list.n; i++) {
		const struct diag *d = &msg->diags.list.v[i];

		buf_printf(b, "%s{\"ruleId\":\"%s\",\"level\":\"%s\",\"message\":{\"text\":",
			   c->results++ ? ",\n" : "", d->rule, severity_name(d->severity));
		json_write_str(b, d->text);
		buf_addc(b, '}');
		if (d->counted)
			buf_printf(b, ",\"occurrenceCount\":%u", d->counted);
		buf_adds(b,
			 ",\"locations\":[{\"physicalLocation\":{\"artifactLocation\":{\"uri\":");
		add_uri(b, source);
		buf_printf(b, "},\"region\":{\"startLine\":%u}},\"logicalLocations\":[{"
			      "\"fullyQualifiedName\":",
			   line);
		json_write_str(b, d->pointer);
		buf_adds(b, "}]}]}");
	}
}

/* A clock time in the filter means that time on the day of the log. */
static void date_filter(struct checking *c, const struct load *l, int64_t day)
{
	struct filter *dated;

	c->dated = true;
	if (load_filter(c->o, day, &dated))
		return;
	filter_free(c->filter);
	c->filter = dated;
	filter_set_sources(dated, l->reader.source, l->reader.ctx);
}

static void check_message(void *ctx, struct load *l, const struct message *msg,
			  const struct record *r)
{
	struct checking *c = ctx;
	uint32_t number = l->model.records.n - 1, line;
	struct str source;

	if (c->filter && !c->dated && r->time_ms != TIME_NONE)
		date_filter(c, l, r->time_ms);
	if (c->filter && !filter_message(c->filter, &l->model, number, l->reader.bytes, l))
		return;
	c->messages[msg->dialect]++;
	for (int i = 0; i < 3; i++)
		c->count[i] += msg->diags.count[i];
	if (!msg->diags.list.n && !c->o->all)
		return;
	source = load_source_name(l, route_of(&l->model, r)->source);
	line = message_line(&l->model, number);
	switch (c->o->format) {
	case OUTPUT_TEXT: print_text(c, source, msg, line); break;
	case OUTPUT_JSON: print_json(c, source, msg, line); break;
	case OUTPUT_SARIF: print_sarif(c, source, msg, line); break;
	case OUTPUT_MD: break; /* refused by the options */
	}
	flush(c, 64 * 1024);
}

static void print_closing(struct checking *c)
{
	uint64_t total = 0;
	const char *between = " (";

	for (unsigned i = 0; i < dialect_count(); i++)
		total += c->messages[i];
	buf_printf(&c->out, "%llu error%s, %llu warning%s, %llu note%s in %llu message%s",
		   (unsigned long long)c->count[SEVERITY_ERROR], plural_s(c->count[SEVERITY_ERROR]),
		   (unsigned long long)c->count[SEVERITY_WARNING],
		   plural_s(c->count[SEVERITY_WARNING]),
		   (unsigned long long)c->count[SEVERITY_NOTE], plural_s(c->count[SEVERITY_NOTE]),
		   (unsigned long long)total, plural_s(total));
	for (unsigned i = dialect_count(); i-- > 0;)
		if (c->messages[i]) {
			buf_printf(&c->out, "%s%s %llu", between, dialect_name((enum dialect_id)i),
				   (unsigned long long)c->messages[i]);
			between = ", ";
		}
	buf_adds(&c->out, total ? ")\n" : "\n");
}

int cmd_check(struct options *o)
{
	struct load l = { .want_diags = true };
	struct checking c = { .o = o };
	struct config config;
	int code = EXIT_TROUBLE;

	if (load_filter(o, TIME_NONE, &c.filter))
		return EXIT_TROUBLE;
	configured_source(o, 0);
	load_read_config(&l, o, &config);
	l.cache.use = false; /* check_message must see each message */
	/* journals tell where replies were said */
	l.desk_options = (struct desk_options){ .open = true, .journal = o->journal };
	if (load_open(&l, o->words.v, o->words.n, o->max_line_bytes))
		goto out;
	l.model.keeps_no_diags = true; /* check_message prints them */
	if (c.filter)
		filter_set_sources(c.filter, l.reader.source, l.reader.ctx);
	c.several = l.wire.files.n > 1 || o->words.n > 1;
	if (o->format == OUTPUT_SARIF)
		buf_adds(&c.out, "{\"$schema\":\"https://json.schemastore.org/sarif-2.1.0.json\","
				 "\"version\":\"2.1.0\",\"runs\":[{\"tool\":{\"driver\":{"
				 "\"name\":\"gavel\",\"version\":\"" PACKAGE_VERSION "\"}},"
				 "\"results\":[\n");
	load_run(&l, check_message, &c);
	if (o->format == OUTPUT_SARIF)
		buf_adds(&c.out, "\n]}]}\n");
	else if (o->format == OUTPUT_TEXT)
		print_closing(&c);
	flush(&c, 0);
	code = l.trouble ? EXIT_TROUBLE
	     : c.count[SEVERITY_ERROR] || (o->strict && c.count[SEVERITY_WARNING]) ? EXIT_FOUND
										   : EXIT_FINE;
out:
	filter_free(c.filter);
	buf_release(&c.prefix);
	buf_release(&c.out);
	load_release(&l);
	config_release(&config);
	return code;
}
