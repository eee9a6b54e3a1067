/* SPDX-License-Identifier: GPL-2.0-only */
/* The congestion window in packets, and Reno's growth by the rules of two generations of Linux. */
#ifndef _SHOAL_LAW_WINDOW_H
#define _SHOAL_LAW_WINDOW_H

#include "law.h"

struct law_window {
	u32 cwnd;
	u32 ssthresh;
	/* Progress towards the next linear increase, in ACKs or packets. */
	u32 cnt;
	/* Upper bound of cwnd. */
	u32 clamp;
};

enum law_counting {
	/* Every acknowledged packet counts; cwnd < ssthresh is slow start (Linux since 4.3). */
	LAW_COUNT_PACKETS,
	/* Every ACK counts once; cwnd <= ssthresh is slow start (Linux 3.2). */
	LAW_COUNT_ACKS,
};

/**
 * law_grow_linear_packets() - Grow linearly, counting packets
 * @win: congestion window
 * @w: packets for one step
 * @acked: acknowledged packets
 *
 * Packets beyond @w are carried over, and steps that are due from a larger window come first.
 */
static inline void law_grow_linear_packets(struct law_window *win, u32 w, u32 acked)
{
	u32 steps;

	if (win->cnt >= w) {
		win->cnt = 0;
		win->cwnd = law_add32(win->cwnd, 1);
	}
	win->cnt += acked;
	if (win->cnt >= w) {
		steps = win->cnt / w;
		win->cnt -= steps * w;
		win->cwnd = law_add32(win->cwnd, steps);
	}
	win->cwnd = law_min32(win->cwnd, win->clamp);
}

/**
 * law_grow_linear_acks() - Grow linearly, counting ACKs
 * @win: congestion window
 * @w: ACKs for one step
 *
 * The step comes with ACK @w + 1.
 */
static inline void law_grow_linear_acks(struct law_window *win, u32 w)
{
	if (win->cnt < w) {
		win->cnt++;
		return;
	}
	win->cnt = 0;
	if (win->cwnd < win->clamp)
		win->cwnd++;
}

/* What the counter pays for steps of one packet each: a step costs the window that it finds. */
static inline u64 law_slow_start_cost(u32 cwnd, u32 steps)
{
	return law_mul(steps, cwnd) + (law_mul(steps, steps) - steps) / 2;
}

/*
 * The most steps that the counter pays for, up to the clamp, bit by bit: a full counter pays for
 * 92681 from the smallest window, which has 17 bits. Without branches, as the verifier of BPF
 * programs would follow all their combinations: all terms have less than 63 bits, and the top bit
 * of a difference says that it is negative.
 */
static inline u32 law_slow_start_steps(const struct law_window *win)
{
	u64 most = win->cwnd && win->cwnd < win->clamp ? win->clamp - win->cwnd : 0;
	u64 steps = 0;
	u64 bit;

	for (bit = 1u << 16; bit; bit >>= 1) {
		u64 more = steps + bit;
		u64 dear = (most - more) | (win->cnt - law_slow_start_cost(win->cwnd, more));

		steps += bit & ((dear >> 63) - 1);
	}
	return steps;
}

/*
 * Grows by one packet per ACK; a remainder in the counter is kept, as in 3.2 without appropriate
 * byte counting.
 */
static inline void law_slow_start_acks(struct law_window *win)
{
	u32 steps;

	win->cnt = law_add32(win->cnt, win->cwnd);
	steps = law_slow_start_steps(win);
	win->cnt -= law_slow_start_cost(win->cwnd, steps);
	win->cwnd += steps;
	if (win->cwnd)
		win->cnt %= win->cwnd;
}

/* Grows up to the threshold; returns the packets that are left for linear growth. */
static inline u32 law_slow_start_packets(struct law_window *win, u32 acked)
{
	u32 grown = law_min32(law_add32(win->cwnd, acked), win->ssthresh);
	u32 left = acked - (grown - win->cwnd);

	win->cwnd = law_min32(grown, win->clamp);
	return left;
}

/**
 * law_grow() - Grow for one ACK
 * @win: congestion window
 * @counting: how the host counts
 * @acked: packets that the ACK acknowledges
 */
static inline void law_grow(struct law_window *win, enum law_counting counting, u32 acked)
{
	if (counting == LAW_COUNT_ACKS) {
		if (win->cwnd <= win->ssthresh)
			law_slow_start_acks(win);
		else
			law_grow_linear_acks(win, law_max32(win->cwnd, 1));
		return;
	}
	if (win->cwnd < win->ssthresh) {
		acked = law_slow_start_packets(win, acked);
		if (!acked)
			return;
	}
	law_grow_linear_packets(win, law_max32(win->cwnd, 1), acked);
}

#endif
