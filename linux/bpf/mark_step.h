/* SPDX-License-Identifier: GPL-2.0-only */
/* Step marking by time: ECT packets are marked above a threshold, others pass. */
#ifndef _SHOAL_BPF_MARK_STEP_H
#define _SHOAL_BPF_MARK_STEP_H

#include "mark_law.h"

struct mark_parameters {
	u32 threshold_us;
};

#define MARK_DEFAULTS	{ .threshold_us = 5000 }
#define MARK_PARAMETERS(PARAMETER) \
	PARAMETER(threshold_us, 0, 10000000, "ECT packets are marked above this wait, us (default 5000)")

struct marker_law {
	struct law_red red;
};

extern struct mark_parameters mark_parameters;

static inline enum marker_decision marker_decide(struct marker_law *law, bool ect, u64 wait_ns,
						 law_random_t random, void *context)
{
	const struct law_red_params params = mark_above(mark_parameters.threshold_us);

	if (!ect)
		return MARKER_PASS;
	return law_red_decide(&law->red, &params, mark_us(wait_ns), random, context) == RED_PASS ?
		       MARKER_PASS :
		       MARKER_MARK;
}

#endif
