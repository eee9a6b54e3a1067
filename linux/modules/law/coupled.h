/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Coupled marking and dropping: scalable traffic is marked with p, classic traffic dropped with
 * (p/k)^2.
 *
 * Source: De Schepper, "Data Centre to the Home" (slides, 2015): "Coupled AQM", "Detailed
 * implementation", "Queue size based coupled AQM". Counterpart of crates/core/aqm/src/laws/coupled.
 */
#ifndef _SHOAL_LAW_COUPLED_H
#define _SHOAL_LAW_COUPLED_H

#include "law.h"

/* Measures of a queue. */
enum law_measure {
	/* Nanoseconds. */
	MEASURE_TIME,
	MEASURE_BYTES,
	MEASURE_PACKETS,
};

enum law_slope_form {
	/* p = Q / saturation. */
	SLOPE_LINEAR,
	/* The integers of the slides: p = (Q / unit) << bits in 2^-32. */
	SLOPE_SHIFT,
};

struct law_slope {
	/* enum law_measure, enum law_slope_form. */
	u32 measure;
	u32 form;
	/* Linear slope: the queue from which on every ECT packet is marked, and k in 2^-16. */
	u64 saturation;
	u32 coupling;
	/* Slope by shifts: S_r and S_d, and the unit of Q. */
	u8 drop_bits;
	u8 mark_bits;
	u64 unit;
};

enum law_coupled_decision {
	COUPLED_PASS,
	COUPLED_MARK,
	COUPLED_DROP,
};

static inline u64 law_slope_shifted(u64 queue, u64 unit, u8 bits)
{
	queue = law_div(queue, unit);
	return queue >> 32 ? LAW_CERTAIN : law_min64(law_shl(queue, bits), LAW_CERTAIN);
}

/* Q / saturation in 2^-32, which may be above one; it saturates far above one. */
static inline u64 law_slope_raw(const struct law_slope *slope, u64 queue)
{
	if (law_div(queue, slope->saturation) >> 16)
		return 1ULL << 48;
	return law_mul_div(queue, LAW_CERTAIN, slope->saturation);
}

/* Probability of a mark, in 2^-32. */
static inline u64 law_slope_mark(const struct law_slope *slope, u64 queue)
{
	if (slope->form == SLOPE_SHIFT)
		return law_slope_shifted(queue, slope->unit, slope->mark_bits);
	return law_min64(law_slope_raw(slope, queue), LAW_CERTAIN);
}

/* Square root of the probability of a drop: two random numbers must both be below it. */
static inline u64 law_slope_drop_root(const struct law_slope *slope, u64 queue)
{
	if (slope->form == SLOPE_SHIFT)
		return law_slope_shifted(queue, slope->unit, slope->drop_bits);
	return law_min64(law_mul_div(law_slope_raw(slope, queue), 1 << 16, slope->coupling),
			 LAW_CERTAIN);
}

/**
 * law_slope_queue() - Measure Q, the input of both probabilities
 * @slope: the two probabilities
 * @packets: waiting packets
 * @bytes: bytes of the waiting packets
 * @wait: time in ns that the packet has waited, or will wait
 *
 * Return: Q in the measure of the slope.
 */
static inline u64 law_slope_queue(const struct law_slope *slope, u32 packets, u32 bytes, u64 wait)
{
	switch (slope->measure) {
	case MEASURE_TIME:
		return wait;
	case MEASURE_BYTES:
		return bytes;
	default:
		return packets;
	}
}

/*
 * A packet is marked if and only if p > R1, and dropped if and only if root > R1 and root > R2,
 * which has the probability root^2 (slides, "Square is easy!"). R2 is drawn only if R1 is below.
 */
static inline enum law_coupled_decision law_coupled_decide(const struct law_slope *slope, bool ect,
							   u64 queue, law_random_t random,
							   void *context)
{
	u64 root;

	if (ect)
		return law_happens(law_slope_mark(slope, queue), random(context)) ? COUPLED_MARK :
										    COUPLED_PASS;
	root = law_slope_drop_root(slope, queue);
	if (law_happens(root, random(context)) && law_happens(root, random(context)))
		return COUPLED_DROP;
	return COUPLED_PASS;
}

/**
 * law_coupled_depart() - Decide on a packet that leaves
 * @slope: the two probabilities
 * @ect: the packet is ECN-capable
 * @behind: packets that stay in the queue
 * @queue: law_slope_queue()
 * @random: source of random numbers of 32 bits
 * @context: argument of @random
 *
 * The last packet is never dropped, whatever was drawn: a scheduler that asks for a packet and
 * gets none takes the queue for empty (drr and htb then serve nobody else). sch_codel and
 * sch_dualpi2 spare the last packet too.
 *
 * Return: the decision.
 */
static inline enum law_coupled_decision law_coupled_depart(const struct law_slope *slope, bool ect,
							   u32 behind, u64 queue,
							   law_random_t random, void *context)
{
	enum law_coupled_decision decision;

	decision = law_coupled_decide(slope, ect, queue, random, context);
	return decision == COUPLED_DROP && !behind ? COUPLED_PASS : decision;
}

#endif
