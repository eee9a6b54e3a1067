/* SPDX-License-Identifier: GPL-2.0-only */
/* The slope in a row of configuration, and how exactly its probabilities agree with the model's. */
#ifndef _SLOPE_AT_H
#define _SLOPE_AT_H

#include "../law/coupled.h"
#include "replay.h"

static inline struct law_slope slope_at(const struct row *row, int at)
{
	return (struct law_slope){
		.measure = number_at(row, at),
		.form = number_at(row, at + 1),
		.saturation = number_at(row, at + 2),
		.coupling = number_at(row, at + 3),
		.drop_bits = number_at(row, at + 4),
		.mark_bits = number_at(row, at + 5),
		.unit = number_at(row, at + 6),
	};
}

/* Shifts are exact; the model's linear slope is a product in floating point. */
static inline void expect_probability(const struct row *row, const struct law_slope *slope,
				      u64 probability)
{
	expect_number(row, "probability", number_at(row, 6), probability,
		      slope->form == SLOPE_SHIFT ? 0 : 2);
}

#endif
