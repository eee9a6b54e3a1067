/* SPDX-License-Identifier: GPL-2.0-only */
/* Random numbers of tests: the seed is printed, and a run can be repeated with it. */
#ifndef _SHOAL_RANDOM_H
#define _SHOAL_RANDOM_H

#include <inttypes.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/random.h>

struct random {
	uint64_t state;
};

/* The seed of the command line, or of the system. */
static inline uint64_t random_seed(const char *given)
{
	uint64_t seed = 0;

	if (given)
		return strtoull(given, NULL, 0);
	if (getrandom(&seed, sizeof(seed), 0) != sizeof(seed))
		abort();
	return seed;
}

/* SplitMix64 (Steele, Lea, Flood, "Fast splittable pseudorandom number generators", 2014). */
static inline uint64_t random_u64(struct random *random)
{
	uint64_t z = random->state += 0x9e3779b97f4a7c15;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
	z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
	return z ^ (z >> 31);
}

static inline uint64_t random_below(struct random *random, uint64_t bound)
{
	return random_u64(random) % bound;
}

/*
 * From @min to @max: edges and their neighbours half the time, else evenly over the numbers or over
 * their lengths in bits.
 */
static inline uint64_t random_between(struct random *random, uint64_t min, uint64_t max)
{
	uint64_t span = max - min, value;

	if (!span)
		return min;
	switch (random_below(random, 8)) {
	case 0:
		return min;
	case 1:
		return max;
	case 2:
		return min + 1;
	case 3:
		return max - 1;
	case 4:
		return min + (span == UINT64_MAX ? random_u64(random) :
						   random_below(random, span + 1));
	default:
		value = random_u64(random) >> random_below(random, 64);
		return value <= span ? min + value : max - value % span;
	}
}

#endif
