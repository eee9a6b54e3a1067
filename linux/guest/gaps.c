/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Random times. The host draws them, in the order of their use, because the guest has no randomness
 * of its own.
 */
#include "guest.h"

#include <stdlib.h>

void gaps_add(struct gaps *gaps, uint64_t gap)
{
	if (gaps->count == gaps->room) {
		gaps->room = gaps->room ? 2 * gaps->room : 64;
		gaps->list = realloc(gaps->list, gaps->room * sizeof(*gaps->list));
		if (!gaps->list)
			fail("no memory for random times");
	}
	gaps->list[gaps->count++] = gap;
}

uint64_t gaps_next(struct gaps *gaps, uint64_t constant)
{
	if (!gaps->count)
		return constant;
	if (gaps->next == gaps->count)
		fail("the host has drawn too few random times");
	return gaps->list[gaps->next++];
}
