/*
 * gen - makes session logs to measure gavel with.
 *
 *	gen [-s SEED] [-k KIND] -n COUNT	so many messages
 *	gen [-s SEED] [-k KIND] SIZE{k,m,g}	until so many bytes (decimal) are reached
 *
 * The log is a mix of all five protocols, line by line, and of lines that are not JSON. Messages
 * are valid and sessions coherent, but for one message in a hundred, which is broken on purpose.
 * KIND text gives lines that are not JSON only, KIND ids log events only, each with an id of its
 * own: messages that make no tasks, reviews or items, to see what a message alone costs.
 * The first and the last line, but of text, are log events with a marker, so that a viewer can be
 * seen to have reached them. Same seed and size, same bytes; a summary goes to stderr.
 */
#include "gen.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define OUTPUT_BUFFER_BYTES (1 << 20)
#define STEP_MAX_MS 40
#define BROKEN_PERCENT 1

/*
 * How a message is broken: the first place of FIND becomes PUT. No id that others refer to is
 * touched, so that one broken message does not break more of them.
 */
static const struct flaw {
	const char *find, *put;
} flaws[] = {
	{ "\"timestamp\":\"20", "\"timestamp\":\"yesterday 20" },
	{ "\"priority\":\"", "\"priority\":\"very " },
	{ "\"created_at\":", "\"made_at\":" },
	{ "\"verdict\":\"", "\"verdict\":\"perhaps " },
	{ "\"progress_percent\":", "\"progress_percent\":9" },
	{ "\\\"level\\\":\\\"", "\\\"level\\\":\\\"rather " },
	{ "\"recommendation\":\"", "\"recommendation\":\"maybe " },
	{ "\"media_type\":", "\"mime\":" },
	{ "\"severity\":\"", "\"severity\":\"not " },
	{ "\"confidence_score\":", "\"confidence_score\":7" },
	{ "\\\"protocol_version\\\":\\\"1.2", "\\\"protocol_version\\\":\\\"1.1" },
	{ "\"workflow\":\"", "\"workflow\":7,\"was\":\"" },
	{ "\"decision\":\"", "\"decision\":\"not " },
	{ "\"progress\":", "\"progress\":\"half\",\"was\":" },
	{ "\"acceptance_criteria\":[", "\"acceptance_criteria\":null,\"was\":[" },
	{ "\"level\":\"", "\"level\":\"loud " },
	{ "\"findings\":[", "\"findings\":{},\"was\":[" },
	{ "\"to_agent\":{\"agent_id\":", "\"to_agent\":{\"name\":" },
	{ "\"agentId\":\"", "\"agentId\":7,\"was\":\"" },
	{ "\"timestamp\":1", "\"timestamp\":\"\",\"was\":1" },
};

/* Shares of a hundred lines; the rest is text. */
static const struct share {
	unsigned percent;
	void (*next)(struct line *line);
} shares[] = {
	{ 28, feedback_next },
	{ 34, collaboration_next },
	{ 20, orchestrator_next },
	{ 8, envelope_next },
	{ 8, handoff_next },
};

static void
line_break(struct line *line)
{
	unsigned start = rnd_below(ARRAY_LEN(flaws));

	line_add(line, "", 1); /* the end for strstr, not part of the line */
	line->len--;
	for (unsigned i = 0; i < ARRAY_LEN(flaws); i++) {
		const struct flaw *flaw = &flaws[(start + i) % ARRAY_LEN(flaws)];
		size_t find_len = strlen(flaw->find), put_len = strlen(flaw->put), at;
		const char *hit = strstr(line->bytes, flaw->find);

		if (!hit)
			continue;
		at = (size_t)(hit - line->bytes);
		line_add(line, flaw->put, put_len); /* makes room; overwritten by the move */
		memmove(line->bytes + at + put_len, line->bytes + at + find_len,
			line->len - put_len - at - find_len);
		memcpy(line->bytes + at, flaw->put, put_len);
		line->len -= find_len;
		return;
	}
}

static void
text_next(struct line *line)
{
	const char *word = word_pick();
	unsigned number = rnd_below(400);

	switch (rnd_below(7)) {
	case 0:
		line_addf(line, "[worker] INFO ");
		text_prose(line, 60);
		break;
	case 1:
		line_addf(line, "npm WARN deprecated %s@%u.0.1: ", word, number);
		text_prose(line, 40);
		break;
	case 2:
		line_addf(line, "    at Object.%s (/app/%s:%u:9)", word, path_pick(), number);
		break;
	case 3:
		line_addf(line, "\033[32m\342\234\223\033[0m %u tests passed", number);
		break;
	case 4: /* torn off by a crash */
		line_addf(line, "{\"type\":\"event:log\",\"id\":\"%08x", (unsigned)rnd_bits());
		break;
	case 5: /* blank */
		break;
	default:
		line_addf(line, "DEBUG: ");
		text_prose(line, rnd_length(80));
	}
}

static void
mix_next(struct line *line)
{
	unsigned roll = rnd_below(100);

	for (unsigned i = 0; i < ARRAY_LEN(shares); i++) {
		if (roll < shares[i].percent) {
			shares[i].next(line);
			if (rnd_percent(BROKEN_PERCENT))
				line_break(line);
			return;
		}
		roll -= shares[i].percent;
	}
	text_next(line);
}

static const struct kind {
	const char *name;
	void (*next)(struct line *line);
	bool marked;
} kinds[] = {
	{ "mix", mix_next, true },
	{ "text", text_next, false },
	{ "ids", orchestrator_log, true },
};

struct total {
	uint64_t messages, bytes;
};

static void
line_write(struct line *line, struct total *total)
{
	line_add(line, "\n", 1);
	if (fwrite(line->bytes, 1, line->len, stdout) != line->len) {
		perror("gen: stdout");
		exit(2);
	}
	total->messages++;
	total->bytes += line->len;
}

static void
marker_write(struct line *line, const char *text, struct total *total)
{
	line_clear(line);
	orchestrator_marker(line, text);
	line_write(line, total);
}

/* A limit of 0 does not count. */
static struct total
log_write(const struct kind *kind, uint64_t messages_max, uint64_t bytes_max)
{
	struct total total = { 0 };
	struct line line = { 0 };

	if (kind->marked)
		marker_write(&line, "gen-start-marker", &total);
	while ((!messages_max || total.messages + kind->marked < messages_max) &&
	       (!bytes_max || total.bytes < bytes_max)) {
		line_clear(&line);
		clock_advance(rnd_below(STEP_MAX_MS + 1));
		kind->next(&line);
		line_write(&line, &total);
	}
	if (kind->marked)
		marker_write(&line, "gen-end-marker", &total);
	line_release(&line);
	return total;
}

static void
usage(void)
{
	fputs("usage: gen [-s SEED] [-k mix|text|ids] -n COUNT | SIZE{k,m,g}\n", stderr);
	exit(2);
}

static uint64_t
number_parse(const char *text)
{
	char *end;
	uint64_t value = strtoull(text, &end, 10);

	switch (*end) {
	case 'k':
		value *= 1000;
		end++;
		break;
	case 'm':
		value *= 1000000;
		end++;
		break;
	case 'g':
		value *= 1000000000;
		end++;
		break;
	}
	if (end == text || *end)
		usage();
	return value;
}

static const struct kind *
kind_parse(const char *name)
{
	for (unsigned i = 0; i < ARRAY_LEN(kinds); i++)
		if (strcmp(kinds[i].name, name) == 0)
			return &kinds[i];
	usage();
	return NULL;
}

int
main(int argc, char **argv)
{
	static char output_buffer[OUTPUT_BUFFER_BYTES];
	uint64_t seed = 1, messages_max = 0, bytes_max = 0;
	const struct kind *kind = &kinds[0];
	struct total total;
	int option;

	while ((option = getopt(argc, argv, "s:n:k:")) != -1) {
		if (option == 's')
			seed = number_parse(optarg);
		else if (option == 'n')
			messages_max = number_parse(optarg);
		else if (option == 'k')
			kind = kind_parse(optarg);
		else
			usage();
	}
	if (optind < argc)
		bytes_max = number_parse(argv[optind++]);
	if (optind < argc || !messages_max == !bytes_max)
		usage();
	setvbuf(stdout, output_buffer, _IOFBF, sizeof(output_buffer));
	rnd_seed(seed);
	total = log_write(kind, messages_max, bytes_max);
	if (fflush(stdout)) {
		perror("gen: stdout");
		return 2;
	}
	fprintf(stderr, "gen: %llu messages, %llu bytes\n", (unsigned long long)total.messages,
		(unsigned long long)total.bytes);
	return 0;
}
