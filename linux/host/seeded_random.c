/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Preloaded into the user-mode kernel: getrandom(2), the only source of randomness that the kernel takes from the host,
 * returns the SplitMix64 stream (Steele, Lea, Flood 2014) of $SHOAL_SEED instead. It determines all randomness in the
 * guest.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

static uint64_t next(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
	z = (z ^ z >> 27) * 0x94d049bb133111eb;
	return z ^ z >> 31;
}

ssize_t getrandom(void *buffer, size_t size, unsigned flags)
{
	static uint64_t state;
	static int seeded;

	(void)flags;
	if (!seeded) {
		const char *seed = getenv("SHOAL_SEED");

		state = seed ? strtoull(seed, NULL, 10) : 0;
		seeded = 1;
	}
	for (size_t done = 0; done < size; done += sizeof(uint64_t)) {
		uint64_t value = next(&state);

		memcpy((char *)buffer + done, &value, size - done < sizeof(value) ? size - done : sizeof(value));
	}
	return (ssize_t)size;
}
