/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Two RED instances on one queue, chosen by ECN capability (Kuehlewind et al. 2014, section III-C:
 * "one shared queue but applying two differently parameterized instances"). Counterpart of
 * crates/core/aqm/src/laws/dual_red.rs.
 */
#ifndef _SHOAL_LAW_DUALRED_H
#define _SHOAL_LAW_DUALRED_H

#include "red.h"

struct law_dualred_params {
	struct law_red_params not_ect;
	struct law_red_params ect;
	/*
	 * Each instance averages the queue only at arrivals of its own class; else at all arrivals
	 * (as WRED does).
	 */
	bool per_class;
};

struct law_dualred {
	struct law_line line;
	struct law_red not_ect;
	struct law_red ect;
};

/**
 * law_dualred_derive() - Compute derived parameters, before the first packet
 * @params: parameters
 * @line: the line behind the queue
 * @rate: rate of the line in bytes per second
 * @mean_packet: mean packet size in bytes
 */
static inline void law_dualred_derive(struct law_dualred_params *params, struct law_line *line,
				      u64 rate, u32 mean_packet)
{
	law_line_rate(line, rate);
	law_red_derive(&params->not_ect, law_line_time(line, mean_packet));
	law_red_derive(&params->ect, law_line_time(line, mean_packet));
}

static inline void law_dualred_reset(struct law_dualred *law)
{
	law_line_reset(&law->line);
	law_red_reset(&law->not_ect);
	law_red_reset(&law->ect);
}

/**
 * law_dualred_arrive() - Decide on a packet that arrives
 * @law: state of the law
 * @params: parameters
 * @ect: the packet is ECN-capable
 * @len: size of the packet in bytes
 * @packets: waiting packets without it
 * @bytes: bytes of the waiting packets
 * @now: time in ns
 * @random: source of random numbers of 32 bits
 * @context: argument of @random
 *
 * A packet that is hit is marked if it is ECN-capable, and dropped otherwise.
 *
 * Return: the decision.
 */
static inline enum law_red_decision law_dualred_arrive(struct law_dualred *law,
						       const struct law_dualred_params *params,
						       bool ect, u32 len, u32 packets, u32 bytes,
						       u64 now, law_random_t random, void *context)
{
	if (ect || !params->per_class)
		law_red_on_arrival(&law->ect, &params->ect, &law->line, packets, bytes, now);
	if (!ect || !params->per_class)
		law_red_on_arrival(&law->not_ect, &params->not_ect, &law->line, packets, bytes,
				   now);
	if (ect)
		return law_red_decide(&law->ect, &params->ect, law_add32(bytes, len), random,
				      context);
	return law_red_decide(&law->not_ect, &params->not_ect, law_add32(bytes, len), random,
			      context);
}

#endif
