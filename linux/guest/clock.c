/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The virtual clock. */
#include "clock.h"

#include <time.h>

uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}
