/* SPDX-License-Identifier: GPL-2.0-only */
/* The choice between two queues. Counterpart of crates/core/aqm/src/sched. */
#ifndef _SHOAL_LAW_SCHED_H
#define _SHOAL_LAW_SCHED_H

#include "law.h"

enum law_scheduler {
	/*
	 * The low-latency queue whenever a packet waits in it (De Schepper 2015, "strict priority
	 * scheduler").
	 */
	SCHED_PRIORITY,
	/* Shares of the bytes by credit (De Schepper 2015, "90%/10% weighted round robin"). */
	SCHED_WEIGHTED,
	/*
	 * The queue with the longer wait, to which the low-latency queue adds a head start (RFC
	 * 9332 section 4.2.2, https://www.rfc-editor.org/rfc/rfc9332#section-4.2.2).
	 */
	SCHED_TIME_SHIFTED,
};

struct law_sched_params {
	/* enum law_scheduler. */
	u32 kind;
	/* Share of the classic queue. */
	u32 classic_percent;
	/* Head start, ns. */
	u64 shift;
	/* Largest packet in bytes, which gives the initial credit. */
	u32 mtu;
};

struct law_sched {
	/* Credit in bytes times percent; the low-latency queue sends while it is not positive. */
	s32 credit;
};

/* Both queues are empty and the line is free. */
static inline void law_sched_reset(struct law_sched *sched, const struct law_sched_params *params)
{
	/* The MTU of a device may be larger. */
	s32 mtu = (s32)law_min32(params->mtu, LAW_MTU_MAX);
	s32 classic = (s32)params->classic_percent;

	sched->credit = mtu * (2 * classic - 100);
}

/**
 * law_sched_picks_low() - Choose between two backlogged queues
 * @sched: state of the scheduler
 * @params: parameters
 * @low: arrival of the oldest packet of the low-latency queue in ns
 * @classic: arrival of the oldest packet of the classic queue in ns
 *
 * Return: whether the low-latency queue sends.
 */
static inline bool law_sched_picks_low(const struct law_sched *sched,
				       const struct law_sched_params *params, u64 low, u64 classic)
{
	switch (params->kind) {
	case SCHED_WEIGHTED:
		return sched->credit <= 0;
	case SCHED_TIME_SHIFTED:
		return law_sum(classic, params->shift) >= low;
	default:
		return true;
	}
}

/* Called when a packet is sent that was picked while both queues were backlogged. */
static inline void law_sched_charge(struct law_sched *sched, const struct law_sched_params *params,
				    bool low, u32 bytes)
{
	s32 classic = (s32)params->classic_percent;
	/* A packet that was not split may be larger than the largest packet of the credit. */
	s32 size = (s32)law_min32(bytes, 1 << 20);

	if (params->kind != SCHED_WEIGHTED)
		return;
	if (low)
		sched->credit += classic * size;
	else
		sched->credit -= (100 - classic) * size;
}

#endif
