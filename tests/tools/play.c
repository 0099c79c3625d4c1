/* Plays the agents of a session and keeps the books of it (play.h):
 *
 *   play DIALECT SEED TURN LOG BOOKS   appends the agents' next messages to LOG
 *   play items BOOKS                   prints what has to be shown of each item:
 *                                      ID KIND VERDICT BY DELIVERY, sorted
 *
 * The same arguments and files make the same messages. */
#include "play.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CLOCK_BASE_MS 1772442000000ull /* 2026-03-02T09:00:00Z */

struct item items[ITEMS_MAX];
unsigned item_count;
unsigned turn;
bool repeats, echoes;
const char *log_path;

static struct {
	char name[NAME_SIZE];
	unsigned number;
} notes[256];
static unsigned note_count;

static FILE *log_file, *books;
static unsigned line_count;
static char last_line[65536];
static uint64_t state;
static unsigned seconds;

static void die(const char *what)
{
	perror(what);
	exit(2);
}

/* ---- chance and clock ---- */

static uint64_t bits(void)
{
	uint64_t z = state += 0x9e3779b97f4a7c15ull;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ z >> 27) * 0x94d049bb133111ebull;
	return z ^ z >> 31;
}

unsigned below(unsigned n)
{
	return (unsigned)(bits() % n);
}

bool chance(unsigned percent)
{
	return below(100) < percent;
}

unsigned long long now_ms(void)
{
	return CLOCK_BASE_MS + (turn * 300ull + seconds) * 1000;
}

const char *iso_now(void)
{
	static char text[32];
	unsigned t;

	seconds++;
	t = (unsigned)((now_ms() - CLOCK_BASE_MS) / 1000);
	snprintf(text, sizeof(text), "2026-03-02T%02u:%02u:%02uZ", (9 + t / 3600) % 24, t / 60 % 60,
		 t % 60);
	return text;
}

const char *uuid(char out[NAME_SIZE])
{
	uint64_t a = bits(), b = bits();

	snprintf(out, NAME_SIZE, "%08x-%04x-4%03x-8%03x-%012llx", (unsigned)(a >> 32),
		 (unsigned)(a >> 16 & 0xffff), (unsigned)(a & 0xfff), (unsigned)(b >> 52),
		 (unsigned long long)(b & 0xffffffffffffull));
	return out;
}

/* ---- the books ---- */

struct item *item_find(const char *id)
{
	for (unsigned i = 0; i < item_count; i++)
		if (strcmp(items[i].id, id) == 0)
			return &items[i];
	return NULL;
}

struct item *item_ending(const char *id)
{
	for (unsigned i = item_count; i-- > 0;) {
		const char *slash = strrchr(items[i].id, '/');

		if (strcmp(items[i].id, id) == 0 || (slash && strcmp(slash + 1, id) == 0))
			return &items[i];
	}
	return NULL;
}

static void set(struct item *it, const char *verdict, const char *by, const char *delivery)
{
	snprintf(it->verdict, NAME_SIZE, "%s", verdict);
	snprintf(it->by, NAME_SIZE, "%s", by);
	if (delivery != it->delivery)
		snprintf(it->delivery, NAME_SIZE, "%s", delivery);
	it->open = strcmp(verdict, "none") == 0;
}

static const char *verdict_of(const char *verb)
{
	static const char *const words[][2] = {
		{ "accept", "accepted" }, { "reject", "rejected" },   { "partial", "partial" },
		{ "answer", "answered" }, { "dismiss", "dismissed" }, { "escalate", "escalated" },
	};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (strcmp(words[i][0], verb) == 0)
			return words[i][1];
	return verb;
}

static void apply_raise(const char *kind, const char *id, const char *of, const char *words)
{
	struct item *it = item_find(id);

	if (!it && item_count == ITEMS_MAX)
		exit(2);
	if (!it)
		it = &items[item_count++];
	snprintf(it->kind, NAME_SIZE, "%s", kind);
	snprintf(it->id, NAME_SIZE, "%s", id);
	snprintf(it->of, NAME_SIZE, "%s", of);
	it->words = (unsigned)strtoul(words, NULL, 10);
	set(it, "none", "-", "none");
}

static void apply_note(const char *name, const char *number)
{
	unsigned i = 0;

	while (i < note_count && strcmp(notes[i].name, name) != 0)
		i++;
	if (i == sizeof(notes) / sizeof(notes[0]))
		exit(2);
	if (i == note_count)
		snprintf(notes[note_count++].name, NAME_SIZE, "%s", name);
	notes[i].number = (unsigned)strtoul(number, NULL, 10);
}

static void overtake(const char *of)
{
	for (unsigned i = 0; i < item_count; i++)
		if (items[i].open && strcmp(items[i].of, of) == 0)
			set(&items[i], "superseded", "*", items[i].delivery);
}

static void apply_fact(const char *line)
{
	char w[5][NAME_SIZE] = { "", "", "", "", "" };
	struct item *it;

	sscanf(line, "%95s %95s %95s %95s %95s", w[0], w[1], w[2], w[3], w[4]);
	it = item_find(strcmp(w[0], "close") == 0              ? w[3]
		       : w[2][0] && strcmp(w[0], "heard") != 0 ? w[2]
							       : w[1]);
	if (strcmp(w[0], "raise") == 0)
		apply_raise(w[1], w[2], w[3], w[4]);
	else if (strcmp(w[0], "note") == 0 || strcmp(w[0], "heard") == 0)
		apply_note(w[1], w[2]);
	else if (strcmp(w[0], "overtake") == 0)
		overtake(w[1]);
	else if (!it)
		return;
	else if (strcmp(w[0], "said") == 0)
		set(it, verdict_of(w[1]), w[3], "sent");
	else if (strcmp(w[0], "told") == 0)
		set(it, verdict_of(w[1]), w[3], "recorded");
	else if (strcmp(w[0], "close") == 0 && it->open)
		set(it, w[1], w[2], "none");
	else if (strcmp(w[0], "ack") == 0 && strcmp(it->delivery, "sent") == 0)
		snprintf(it->delivery, NAME_SIZE, "acknowledged");
	else if (strcmp(w[0], "bounce") == 0) /* a delivery is that of a person's reply */
		set(it, "none", "-", strcmp(it->delivery, "none") == 0 ? "none" : "bounced");
}

void fact(const char *format, ...)
{
	char line[512];
	va_list args;

	va_start(args, format);
	vsnprintf(line, sizeof(line), format, args);
	va_end(args);
	fprintf(books, "%s\n", line);
	apply_fact(line);
}

void raise_item(const char *kind, const char *id, const char *of, unsigned words)
{
	fact("raise %s %s %s %u %u", kind, id, of, words, line_count);
}

void raise_next(const char *kind, const char *id, const char *of, unsigned words)
{
	fact("raise %s %s %s %u %u", kind, id, of, words, line_count + 1);
}

unsigned noted(const char *name)
{
	for (unsigned i = 0; i < note_count; i++)
		if (strcmp(notes[i].name, name) == 0)
			return notes[i].number;
	return 0;
}

void note(const char *name, unsigned number)
{
	fact("note %s %u", name, number);
}

/* ---- what is said, and what is heard ---- */

static void put_line(void)
{
	fprintf(log_file, "%s\n", last_line);
	line_count++;
}

unsigned say(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	if ((size_t)vsnprintf(last_line, sizeof(last_line), format, args) >= sizeof(last_line))
		exit(2);
	va_end(args);
	put_line();
	return line_count;
}

bool say_again(unsigned percent)
{
	bool again = chance(percent) && repeats && line_count;

	if (again)
		put_line();
	return again;
}

const char *replies_path(const char *session)
{
	static char path[4096];

	snprintf(path, sizeof(path), "%s%s%s.replies.ndjson", log_path, *session ? "." : "",
		 session);
	return path;
}

const char *hear(const char *path)
{
	static char line[65536];
	const char *name = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
	unsigned known = noted(name), at = 0;
	FILE *f = fopen(path, "r");
	bool found = false;

	if (!f)
		return NULL;
	while (!found && fgets(line, sizeof(line), f))
		found = ++at > known;
	fclose(f);
	if (!found)
		return NULL;
	fact("heard %s %u", name, at);
	line[strcspn(line, "\n")] = '\0';
	if (echoes && chance(60))
		say("%s", line);
	return line;
}

const char *member(const char *line, const char *name, const char **at)
{
	static char values[8][NAME_SIZE];
	static unsigned next;
	char *value = values[next++ % 8], key[NAME_SIZE];
	const char *p;
	size_t n = 0;

	snprintf(key, sizeof(key), "\"%s\":", name);
	p = strstr(line, key);
	value[0] = '\0';
	if (!p)
		return value;
	p += strlen(key);
	if (at)
		*at = p;
	if (*p == '"')
		for (p++; *p && *p != '"' && n < NAME_SIZE - 1;)
			value[n++] = *p++;
	else
		while (*p && !strchr(",}]", *p) && n < NAME_SIZE - 1)
			value[n++] = *p++;
	value[n] = '\0';
	return value;
}

/* ---- main ---- */

static void read_books(const char *path)
{
	char line[512];
	FILE *f = fopen(path, "r");

	while (f && fgets(line, sizeof(line), f))
		apply_fact(line);
	if (f)
		fclose(f);
}

static void read_log(const char *path)
{
	FILE *f = fopen(path, "r");

	while (f && fgets(last_line, sizeof(last_line), f)) {
		last_line[strcspn(last_line, "\n")] = '\0';
		line_count++;
	}
	if (f)
		fclose(f);
}

static int by_id(const void *a, const void *b)
{
	return strcmp(((const struct item *)a)->id, ((const struct item *)b)->id);
}

static int print_items(const char *path)
{
	read_books(path);
	qsort(items, item_count, sizeof(items[0]), by_id);
	for (unsigned i = 0; i < item_count; i++)
		printf("%s %s %s %s %s\n", items[i].id, items[i].kind, items[i].verdict,
		       items[i].by, items[i].delivery);
	return 0;
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*play)(unsigned seed);
	} plays[] = {
		{ "feedback", play_feedback },         { "collaboration", play_collaboration },
		{ "handoff", play_handoff },           { "envelope", play_envelope },
		{ "orchestrator", play_orchestrator },
	};
	unsigned seed;

	if (argc == 3 && strcmp(argv[1], "items") == 0)
		return print_items(argv[2]);
	if (argc != 6) {
		fprintf(stderr, "usage: play DIALECT SEED TURN LOG BOOKS | play items BOOKS\n");
		return 2;
	}
	seed = (unsigned)strtoul(argv[2], NULL, 10);
	turn = (unsigned)strtoul(argv[3], NULL, 10);
	log_path = argv[4];
	state = (uint64_t)seed << 32 ^ (uint64_t)turn << 8 ^ (unsigned char)argv[1][0];
	read_books(argv[5]);
	read_log(log_path);
	if (!(log_file = fopen(log_path, "a")))
		die(log_path);
	if (!(books = fopen(argv[5], "a")))
		die(argv[5]);
	fprintf(books, "turn %u\n", turn);
	/* a message that comes twice asks nothing; an output would answer another input, though */
	repeats = seed % 4 == 0;
	echoes = seed % 5 == 0;
	if (strcmp(argv[1], "envelope") != 0)
		say_again(30);
	for (size_t i = 0; i < sizeof(plays) / sizeof(plays[0]); i++)
		if (strcmp(plays[i].name, argv[1]) == 0) {
			plays[i].play(seed);
			return fclose(log_file) || fclose(books) ? 2 : 0;
		}
	fprintf(stderr, "play: no dialect %s\n", argv[1]);
	return 2;
}
