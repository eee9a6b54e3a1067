/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Dual RED by time (law/dualred.h, as in sch_dualred): a step for ECT packets, RED with independent
 * decisions for others, whose average counts all packets.
 */
#ifndef _SHOAL_BPF_MARK_DUALRED_H
#define _SHOAL_BPF_MARK_DUALRED_H

#include "mark_law.h"

struct mark_parameters {
	u32 threshold_us;
	u32 min_us;
	u32 max_us;
	u32 max_p_ppm;
	u32 weight_ppm;
};

#define MARK_DEFAULTS { \
	.threshold_us = 16750, \
	.min_us = 12500, \
	.max_us = 37500, \
	.max_p_ppm = 100000, \
	.weight_ppm = 2000, \
}
#define MARK_PARAMETERS(PARAMETER) \
	PARAMETER(threshold_us, 0, 10000000, "ECT packets are marked above this wait, us (default 16750)") \
	PARAMETER(min_us, 0, 10000000, "Others are dropped from this average wait on, us (default 12500)") \
	PARAMETER(max_us, 0, 10000000, "Others are all dropped from this average wait on, us (default 37500)") \
	PARAMETER(max_p_ppm, 1, 1000000, "Probability of a drop at max_us, in 10^-6 (default 100000)") \
	PARAMETER(weight_ppm, 1, 1000000, "Weight of each packet in the average, in 10^-6 (default 2000)")

struct marker_law {
	struct law_dualred dualred;
};

extern struct mark_parameters mark_parameters;

static inline enum marker_decision marker_decide(struct marker_law *law, bool ect, u64 wait_ns,
						 law_random_t random, void *context)
{
	struct law_dualred_params params = {
		.ect = mark_above(mark_parameters.threshold_us),
		.not_ect = {
			.min = mark_parameters.min_us,
			.max = mark_parameters.max_us,
			.max_p = mark_fraction(mark_parameters.max_p_ppm),
			.weight = mark_fraction(mark_parameters.weight_ppm),
			.independent = true,
		},
	};
	u32 wait_us = mark_us(wait_ns);

	law_red_slopes(&params.not_ect);
	/* A packet waits, so that the average never ages: the time says what the queue is. */
	if (law_dualred_arrive(&law->dualred, &params, ect, 0, 1, wait_us, 0, random, context) ==
	    RED_PASS)
		return MARKER_PASS;
	return ect ? MARKER_MARK : MARKER_DROP;
}

#endif
