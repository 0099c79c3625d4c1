/* Runs a fuzz target without libFuzzer: replay CORPUS [ROUNDS] plays every file of the folder, as it
 * is and with ROUNDS small changes made up from a fixed seed. One TAP case a file. */
#include "fuzz.h"

#include <dirent.h>
#include <errno.h>
#include <string.h>

enum { INPUT_MAX = 1 << 20 };

static uint64_t seed;

static uint32_t chance(uint32_t sides)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(seed >> 33) % sides;
}

/* What goes wrong with bytes: one changes, some go, some come twice, the end is missing. */
static size_t change(uint8_t *p, size_t n)
{
	size_t at = chance((uint32_t)n), some = 1 + chance(16);

	if (some > n - at)
		some = n - at;
	switch (chance(5)) {
	case 0: p[at] = (uint8_t)chance(256); break;
	case 1: p[at] ^= (uint8_t)(1u << chance(8)); break;
	case 2:
		memmove(p + at, p + at + some, n - at - some);
		return n - some;
	case 3:
		memmove(p + at + some, p + at, n - at);
		return n + some;
	case 4: return at;
	}
	return n;
}

static void play(const uint8_t *bytes, size_t n)
{
	uint8_t *exact = malloc(n ? n : 1); /* ASan sees a step beyond its end */

	PROMISE(exact);
	memcpy(exact, bytes, n);
	LLVMFuzzerTestOneInput(exact, n);
	free(exact);
}

static void play_file(const char *folder, const char *name, unsigned rounds)
{
	static uint8_t original[INPUT_MAX], changed[INPUT_MAX + 64];
	char path[4096];
	size_t n, m;
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	f = fopen(path, "r");
	PROMISE(f);
	n = fread(original, 1, sizeof(original), f);
	fclose(f);
	play(original, n);
	seed = n;
	for (unsigned i = 0; i < rounds && n; i++) {
		memcpy(changed, original, n);
		m = n;
		for (unsigned changes = 1 + chance(3); changes && m; changes--)
			m = change(changed, m < INPUT_MAX ? m : INPUT_MAX);
		play(changed, m);
	}
}

static int is_file(const struct dirent *entry)
{
	return entry->d_name[0] != '.';
}

int main(int argc, char **argv)
{
	unsigned rounds = argc > 2 ? (unsigned)atoi(argv[2]) : 0;
	struct dirent **entries;
	int n;

	if (argc < 2) {
		fputs("usage: replay CORPUS [ROUNDS]\n", stderr);
		return 2;
	}
	n = scandir(argv[1], &entries, is_file, alphasort);
	if (n <= 0) {
		fprintf(stderr, "%s: %s\n", argv[1], n ? strerror(errno) : "no files");
		return 2;
	}
	setvbuf(stdout, NULL, _IOLBF, 0);
	for (int i = 0; i < n; i++) {
		play_file(argv[1], entries[i]->d_name, rounds);
		printf("ok %d - %s\n", i + 1, entries[i]->d_name);
		free(entries[i]);
	}
	free(entries);
	printf("1..%d\n", n);
	return 0;
}
