// SPDX-License-Identifier: GPL-2.0-only
/* The products of 128 bits of ../arithmetic.h against the compiler's own, at random numbers of all sizes. */

#include <stdio.h>
#include <stdlib.h>

#include "../arithmetic.h"

#define SEED	7
#define TRIES	5000000

static u64 any(void)
{
	u64 number = (u64)random() << 42 ^ (u64)random() << 21 ^ (u64)random();

	return number >> random() % 64;
}

int main(void)
{
	long i, quotients = 0;

	srandom(SEED);
	for (i = 0; i < TRIES; i++) {
		u64 a = any(), b = any(), divisor = any();
		unsigned int shift = random() % 128;
		unsigned __int128 product = (unsigned __int128)a * b;

		if (law_mul_shr(a, b, shift) != (u64)(product >> shift)) {
			fprintf(stderr, "seed %d: law_mul_shr(%llu, %llu, %u)\n", SEED, a, b, shift);
			return 1;
		}
		/* Other quotients do not fit. */
		if (!divisor || product / divisor >> 64)
			continue;
		quotients++;
		if (law_mul_div(a, b, divisor) != (u64)(product / divisor)) {
			fprintf(stderr, "seed %d: law_mul_div(%llu, %llu, %llu)\n", SEED, a, b, divisor);
			return 1;
		}
	}
	printf("seed %d: %d products and %ld quotients agree\n", SEED, TRIES, quotients);
	return 0;
}
