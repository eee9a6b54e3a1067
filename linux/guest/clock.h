/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The virtual clock. */
#ifndef SHOAL_CLOCK_H
#define SHOAL_CLOCK_H

#include <stdint.h>

/* CLOCK_MONOTONIC. */
uint64_t now_ns(void);

#endif
