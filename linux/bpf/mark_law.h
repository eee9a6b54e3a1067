/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the laws of the three markers have in common: RED (law/red.h) by time. Its thresholds and its
 * average, in bytes there, are microseconds here, and no time on an idle line ages the average.
 */
#ifndef _SHOAL_BPF_MARK_LAW_H
#define _SHOAL_BPF_MARK_LAW_H

#include "../modules/law/dualred.h"
#include "marker_trace.h"

/* A time in whole microseconds. */
static inline u32 mark_us(u64 wait_ns)
{
	return law_min64(law_div(wait_ns, 1000), U32_MAX);
}

static inline u64 mark_fraction(u32 ppm)
{
	return law_div(law_mul(ppm, LAW_CERTAIN), 1000000);
}

/* Weight 1 and equal thresholds: a step above a time. */
static inline struct law_red_params mark_above(u32 threshold_us)
{
	return (struct law_red_params){
		.min = threshold_us,
		.max = threshold_us,
		.max_p = LAW_CERTAIN,
		.weight = LAW_CERTAIN,
	};
}

#endif
