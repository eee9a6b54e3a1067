/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Coupled marking by time (law/coupled.h, as in sch_coupled): ECT packets are marked with p, which
 * rises with the wait, others dropped with (p/k)^2.
 */
#ifndef _SHOAL_BPF_MARK_COUPLED_H
#define _SHOAL_BPF_MARK_COUPLED_H

#include "../modules/law/coupled.h"
#include "marker_trace.h"

struct mark_parameters {
	u32 saturation_us;
	u32 coupling_percent;
};

#define MARK_DEFAULTS	{ .saturation_us = 200000, .coupling_percent = 163 }
#define MARK_PARAMETERS(PARAMETER) \
	PARAMETER(saturation_us, 1, 10000000, "Every ECT packet is marked from this wait on, us (default 200000)") \
	PARAMETER(coupling_percent, 1, 102400, "k in percent; others are dropped with (p/k)^2 (default 163)")

/* The law has no state. */
struct marker_law {
	u32 nothing;
};

extern struct mark_parameters mark_parameters;

static inline enum marker_decision marker_decide(struct marker_law *law, bool ect, u64 wait_ns,
						 law_random_t random, void *context)
{
	const struct law_slope slope = {
		.measure = MEASURE_TIME,
		.form = SLOPE_LINEAR,
		.saturation = law_mul(mark_parameters.saturation_us, 1000),
		.coupling = law_div(law_mul(mark_parameters.coupling_percent, 1 << 16), 100),
	};

	switch (law_coupled_decide(&slope, ect, law_slope_queue(&slope, 0, 0, wait_ns), random,
				   context)) {
	case COUPLED_MARK:
		return MARKER_MARK;
	case COUPLED_DROP:
		return MARKER_DROP;
	default:
		return MARKER_PASS;
	}
}

#endif
