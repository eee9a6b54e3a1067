/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Two queues, coupled (De Schepper 2015, "Detailed implementation"): the classic queue determines
 * the probabilities of both, and the low-latency queue has a threshold in addition. Counterpart of
 * crates/core/aqm/src/laws/dual_coupled.rs and shell/dual.rs.
 */
#ifndef _SHOAL_LAW_DUALQ_H
#define _SHOAL_LAW_DUALQ_H

#include "coupled.h"
#include "line.h"
#include "sched.h"

struct law_dualq_params {
	struct law_slope slope;
	/* T of the low-latency queue, and its enum law_measure. */
	u64 threshold;
	u32 threshold_measure;
	/*
	 * Both queues determine the probabilities: the sum of their sizes, or the longer of the
	 * times. Else the classic queue alone.
	 */
	bool total;
	/*
	 * At departure a time is the wait of the packet itself; on arrival that of the oldest
	 * packet of its queue.
	 */
	bool at_dequeue;
	/* Rate of the line in bytes per second. */
	u64 rate;
	struct law_sched_params sched;
};

struct law_dualq {
	struct law_sched sched;
	/* Detects that the line found both queues empty, which resets the scheduler. */
	struct law_line line;
	/* The scheduler is in its initial state. */
	bool fresh;
};

/* Backlog of one queue. */
struct law_backlog {
	u32 packets;
	u32 bytes;
	/* Wait of the oldest packet, ns; 0 if none waits. */
	u64 age;
};

enum law_dualq_decision {
	DUALQ_PASS,
	/* A packet is marked above T, or with probability p. */
	DUALQ_THRESHOLD,
	DUALQ_COUPLED,
	DUALQ_DROP,
};

static inline void law_dualq_reset(struct law_dualq *law, const struct law_dualq_params *params)
{
	law_sched_reset(&law->sched, &params->sched);
	law->fresh = true;
}

/**
 * law_dualq_input() - Measure Q, the input of both probabilities
 * @params: parameters
 * @low: the packet is in the low-latency queue
 * @own: queue of the packet, including it, with its wait as the age
 * @other: the other queue
 *
 * Return: Q in the measure of the slope.
 */
static inline u64 law_dualq_input(const struct law_dualq_params *params, bool low,
				  const struct law_backlog *own, const struct law_backlog *other)
{
	const struct law_slope *slope = &params->slope;
	u64 mine = law_slope_queue(slope, own->packets, own->bytes, own->age);
	u64 theirs = law_slope_queue(slope, other->packets, other->bytes, other->age);

	if (!params->total)
		return low ? theirs : mine;
	if (slope->measure == MEASURE_TIME)
		return mine > theirs ? mine : theirs;
	return law_sum(mine, theirs);
}

static inline bool law_dualq_above(const struct law_dualq_params *params,
				   const struct law_backlog *own)
{
	switch (params->threshold_measure) {
	case MEASURE_TIME:
		if (params->at_dequeue)
			return own->age > params->threshold;
		/* On arrival, the bytes that the line sends in that time. */
		return own->bytes > law_line_sends(params->threshold, params->rate);
	case MEASURE_BYTES:
		return own->bytes > params->threshold;
	default:
		return own->packets > params->threshold;
	}
}

/**
 * law_dualq_decide() - Decide on a packet
 * @params: parameters
 * @low: the packet is in the low-latency queue
 * @own: queue of the packet, including it
 * @queue: law_dualq_input()
 * @random: source of random numbers of 32 bits
 * @context: argument of @random
 *
 * Above the threshold no random number is drawn.
 *
 * Return: the decision.
 */
static inline enum law_dualq_decision law_dualq_decide(const struct law_dualq_params *params,
						       bool low, const struct law_backlog *own,
						       u64 queue, law_random_t random,
						       void *context)
{
	if (low && law_dualq_above(params, own))
		return DUALQ_THRESHOLD;
	switch (law_coupled_decide(&params->slope, low, queue, random, context)) {
	case COUPLED_MARK:
		return DUALQ_COUPLED;
	case COUPLED_DROP:
		return DUALQ_DROP;
	default:
		return DUALQ_PASS;
	}
}

/**
 * law_dualq_depart() - Decide on a packet that leaves
 * @params: parameters
 * @low: the packet is in the low-latency queue
 * @own: queue of the packet, including it
 * @behind: packets that stay in both queues
 * @queue: law_dualq_input()
 * @random: source of random numbers of 32 bits
 * @context: argument of @random
 *
 * The last packet of both queues is never dropped; see law_coupled_depart().
 *
 * Return: the decision.
 */
static inline enum law_dualq_decision law_dualq_depart(const struct law_dualq_params *params,
						       bool low, const struct law_backlog *own,
						       u32 behind, u64 queue, law_random_t random,
						       void *context)
{
	enum law_dualq_decision decision;

	decision = law_dualq_decide(params, low, own, queue, random, context);
	return decision == DUALQ_DROP && !behind ? DUALQ_PASS : decision;
}

/**
 * law_dualq_on_push() - Record that a packet joins a queue
 * @law: state of the law
 * @params: parameters
 * @waiting: packets that wait in both queues without it
 * @now: time in ns
 */
static inline void law_dualq_on_push(struct law_dualq *law, const struct law_dualq_params *params,
				     u32 waiting, u64 now)
{
	u64 idle;

	if (!law->fresh && law_line_idle(&law->line, now, waiting, now, &idle))
		law_dualq_reset(law, params);
}

/**
 * law_dualq_picks_low() - Choose the queue that sends
 * @law: state of the law
 * @params: parameters
 * @has_low: a packet waits in the low-latency queue
 * @has_classic: a packet waits in the classic queue
 * @low_head: arrival of the oldest packet of the low-latency queue in ns
 * @classic_head: arrival of the oldest packet of the classic queue in ns
 *
 * Return: whether the low-latency queue sends.
 */
static inline bool law_dualq_picks_low(const struct law_dualq *law,
				       const struct law_dualq_params *params, bool has_low,
				       bool has_classic, u64 low_head, u64 classic_head)
{
	if (has_low && has_classic)
		return law_sched_picks_low(&law->sched, &params->sched, low_head, classic_head);
	return has_low;
}

/* Called when the line asked for a packet and both queues were empty. */
static inline void law_dualq_on_empty(struct law_dualq *law, const struct law_dualq_params *params,
				      u64 now)
{
	law_line_on_empty(&law->line, now);
	law_dualq_reset(law, params);
}

/**
 * law_dualq_on_sent() - Record that a packet is sent
 * @law: state of the law
 * @params: parameters
 * @low: the packet is from the low-latency queue
 * @contended: both queues were backlogged
 * @bytes: size of the packet
 * @now: time in ns
 *
 * A packet that is dropped instead is not charged to its queue.
 */
static inline void law_dualq_on_sent(struct law_dualq *law, const struct law_dualq_params *params,
				     bool low, bool contended, u32 bytes, u64 now)
{
	law_line_on_departure(&law->line, bytes, now);
	if (contended)
		law_sched_charge(&law->sched, &params->sched, low, bytes);
	law->fresh = false;
}

#endif
