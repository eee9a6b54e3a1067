/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One RED instance: an average of the queue, and the decisions about packets.
 *
 * Sources: Floyd and Jacobson, "Random Early Detection Gateways for Congestion Avoidance" (1993),
 * section 4; Kuehlewind et al. 2014, figure 3, sections II-A and IV-B. Counterpart of
 * crates/core/aqm/src/laws/red, which computes in floating point: averages agree to 2^-10 bytes,
 * probabilities to a few 2^-32.
 */
#ifndef _SHOAL_LAW_RED_H
#define _SHOAL_LAW_RED_H

#include "line.h"
#include "log2.h"

/* Fraction bits of averages, which count bytes. */
#define RED_FRACTION	24
/* Fraction bits of intermediate probabilities. */
#define RED_FINE	48

enum law_red_decision {
	RED_PASS,
	/* Above the fixed threshold. */
	RED_THRESHOLD,
	/* A random early decision. */
	RED_EARLY,
	/* The average is above its upper limit. */
	RED_FORCED,
};

struct law_red_params {
	/* Thresholds of the average, bytes. */
	u32 min;
	u32 max;
	/* Probability at max, in 2^-32, up to LAW_CERTAIN. */
	u64 max_p;
	/* Weight of the average, in 2^-32, up to LAW_CERTAIN. */
	u64 weight;
	/* Between max and 2 max the probability rises to one, instead of jumping to it. */
	bool gentle;
	/* An independent decision for each packet; else gaps that counting makes uniform. */
	bool independent;
	/*
	 * Derived: increase of the probability per byte between min and max, and between max and 2
	 * max, in 2^-63.
	 */
	u64 slope;
	u64 gentle_slope;
	/* Derived: -log2(1 - weight) for a nanosecond of idle time, in 2^-LAW_LOG_BITS. */
	u64 ageing;
};

struct law_red {
	/* Bytes in 2^-RED_FRACTION. */
	u64 average;
	/* Packets that passed since the last hit, while the average is above min. */
	u32 passed;
	/* Time of the last arrival, ns. */
	u64 updated;
};

/**
 * law_red_slopes() - Compute the derived slopes, which are all that a queue that never idles needs
 * @params: parameters
 */
static inline void law_red_slopes(struct law_red_params *params)
{
	u32 zone = params->max > params->min ? params->max - params->min : 1;

	params->slope = law_div(law_shl(params->max_p, 31), zone);
	params->gentle_slope =
		law_div(law_shl(law_less(LAW_CERTAIN, params->max_p), 31),
			law_max32(params->max, 1));
}

/**
 * law_red_derive() - Compute derived parameters
 * @params: parameters
 * @mean_packet_ns: transmission time of a mean packet in ns
 */
static inline void law_red_derive(struct law_red_params *params, u64 mean_packet_ns)
{
	law_red_slopes(params);
	params->ageing = 0;
	if (params->weight < LAW_CERTAIN)
		params->ageing = law_div(law_minus_log2(LAW_CERTAIN - params->weight),
					 mean_packet_ns ? mean_packet_ns : 1);
}

/* Kuehlewind et al., II-A: min = max = K and weight 1 is step marking. */
static inline bool law_red_is_step(const struct law_red_params *params)
{
	return params->weight >= LAW_CERTAIN && params->min >= params->max;
}

/* As if m = idle time / time of a mean packet had arrived at an empty queue: avg (1-w)^m. */
static inline u64 law_red_aged(const struct law_red_params *params, u64 average, u64 idle)
{
	u64 exponent;

	/*
	 * The exponent fits into 64 bits up to 18 minutes; after a longer idle time the average is
	 * 0.
	 */
	if (params->weight >= LAW_CERTAIN || idle >> 40)
		return 0;
	if (law_mul_shr(params->ageing, idle, LAW_LOG_BITS) >= 64)
		return 0;
	exponent = law_mul_shr(params->ageing, idle, LAW_LOG_BITS - 32);
	average = law_mul_shr(average, law_exp2_fraction(exponent & U32_MAX), 62);
	return average >> (exponent >> 32);
}

/**
 * law_red_on_arrival() - Update the average for a packet that arrives
 * @red: state of the instance
 * @params: parameters
 * @line: the line behind the queue
 * @waiting: waiting packets without it
 * @bytes: bytes of the waiting packets
 * @now: time in ns
 *
 * Called for every packet, whatever its class.
 */
static inline void law_red_on_arrival(struct law_red *red, const struct law_red_params *params,
				      const struct law_line *line, u32 waiting, u32 bytes, u64 now)
{
	u64 found = (u64)bytes << RED_FRACTION;
	u64 idle;

	if (law_line_idle(line, red->updated, waiting, now, &idle))
		red->average = law_red_aged(params, red->average, idle);
	else if (found >= red->average)
		red->average += law_mul_shr(found - red->average, params->weight, 32);
	else
		red->average -= law_mul_shr(red->average - found, params->weight, 32);
	red->updated = now;
}

/**
 * law_red_spread() - Compute the probability of a hit after other packets passed
 * @params: parameters
 * @p: probability in 2^-RED_FINE
 * @passed: packets that passed since the last hit
 *
 * Return: probability in 2^-32, rounded.
 */
static inline u64 law_red_spread(const struct law_red_params *params, u64 p, u32 passed)
{
	const u64 one = 1ULL << RED_FINE;
	u64 left;

	if (params->independent)
		return law_sum(p, 1ULL << (RED_FINE - 33)) >> (RED_FINE - 32);
	/* Floyd and Jacobson, method 2: p / (1 - n p), certain from 1/p on. */
	if (law_mul_shr(p, passed, RED_FINE))
		return LAW_CERTAIN;
	left = law_less(one, law_mul(p, passed));
	if (p >= left)
		return LAW_CERTAIN;
	return (law_mul_div(p, 1ULL << 33, left) + 1) >> 1;
}

static inline enum law_red_decision law_red_early(struct law_red *red,
						  const struct law_red_params *params, u64 p,
						  law_random_t random, void *context)
{
	if (law_happens(law_red_spread(params, p, red->passed), random(context))) {
		red->passed = 0;
		return RED_EARLY;
	}
	red->passed = law_add32(red->passed, 1);
	return RED_PASS;
}

/**
 * law_red_decide() - Decide on a packet
 * @red: state of the instance
 * @params: parameters
 * @with_packet: bytes that would wait including the packet
 * @random: source of random numbers of 32 bits
 * @context: argument of @random
 *
 * Return: the decision.
 */
static inline enum law_red_decision law_red_decide(struct law_red *red,
						   const struct law_red_params *params,
						   u32 with_packet, law_random_t random,
						   void *context)
{
	u64 min = (u64)params->min << RED_FRACTION;
	u64 max = (u64)params->max << RED_FRACTION;
	u64 p;

	if (law_red_is_step(params))
		return with_packet > params->max ? RED_THRESHOLD : RED_PASS;
	if (red->average < min) {
		red->passed = 0;
		return RED_PASS;
	}
	if (red->average < max) {
		p = law_mul_shr(red->average - min, params->slope, RED_FRACTION + 63 - RED_FINE);
		return law_red_early(red, params, p, random, context);
	}
	if (params->gentle && red->average < 2 * max) {
		p = (params->max_p << (RED_FINE - 32)) + law_mul_shr(red->average - max,
								     params->gentle_slope,
								     RED_FRACTION + 63 - RED_FINE);
		return law_red_early(red, params, p, random, context);
	}
	red->passed = 0;
	return RED_FORCED;
}

static inline void law_red_reset(struct law_red *red)
{
	red->average = 0;
	red->passed = 0;
	red->updated = 0;
}

#endif
