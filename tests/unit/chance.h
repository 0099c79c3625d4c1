/* Chances for tests that try many things: each run others, and the same ones with GAVEL_SEED. */
#ifndef GAVEL_TESTS_CHANCE_H
#define GAVEL_TESTS_CHANCE_H

#include <stdint.h>
#include <stdlib.h>
#include <time.h>

static uint64_t seed;

static uint32_t chance(uint32_t below)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)((seed >> 33) % below);
}

static uint64_t sown;

/* From the clock, or given to repeat a failure; either way it is told. */
static void sow(int salt)
{
	const char *given = getenv("GAVEL_SEED");

	sown = seed = given ? strtoull(given, NULL, 10)
			    : (uint64_t)time(NULL) * 1000003u + (uint64_t)salt;
	chance(2);
}

#define TOLD "GAVEL_SEED=%llu"
#define SEED ((unsigned long long)sown)

#endif
