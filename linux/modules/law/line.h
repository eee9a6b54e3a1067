/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The time since which the line behind a queue is idle, from the packets that left the queue.
 * Counterpart of crates/core/aqm/src/shell/transmitter.rs.
 */
#ifndef _SHOAL_LAW_LINE_H
#define _SHOAL_LAW_LINE_H

#include "law.h"

struct law_line {
	/* Nanoseconds per byte, in 2^-32. */
	u64 ns_per_byte;
	/* The line is free from then on, ns. */
	u64 free;
	/* The line asked for a packet and the queue was empty, which replaces the computed time. */
	bool confirmed;
};

/**
 * law_line_rate() - Set the rate of a line
 * @line: the line behind the queue
 * @rate: rate in bytes per second
 */
static inline void law_line_rate(struct law_line *line, u64 rate)
{
	/* 10^9 2^32 fits into 62 bits. */
	line->ns_per_byte = law_div(law_sum(1000000000ULL << 32, rate) - 1, rate);
}

static inline void law_line_reset(struct law_line *line)
{
	line->free = 0;
	line->confirmed = true;
}

/**
 * law_line_time() - Compute the transmission time on a line
 * @line: the line behind the queue
 * @bytes: number of bytes
 *
 * Return: time in ns.
 */
static inline u64 law_line_time(const struct law_line *line, u64 bytes)
{
	return law_mul_shr(line->ns_per_byte, bytes, 32);
}

/**
 * law_line_wait() - Compute the transmission time at a rate
 * @bytes: number of bytes
 * @rate: rate in bytes per second
 *
 * Return: time in ns.
 */
static inline u64 law_line_wait(u32 bytes, u64 rate)
{
	return law_mul_div(bytes, 1000000000, rate);
}

/**
 * law_line_sends() - Compute the bytes that a line sends
 * @time: time in ns
 * @rate: rate in bytes per second
 *
 * Return: number of bytes.
 */
static inline u64 law_line_sends(u64 time, u64 rate)
{
	return law_mul_div(time, rate, 1000000000);
}

static inline void law_line_on_departure(struct law_line *line, u32 bytes, u64 now)
{
	line->free = law_sum(now, law_line_time(line, bytes));
	line->confirmed = false;
}

/* Called when the queue was asked for a packet and had none. */
static inline void law_line_on_empty(struct law_line *line, u64 now)
{
	if (!line->confirmed) {
		line->free = now;
		line->confirmed = true;
	}
}

/**
 * law_line_idle() - Compute the idle time of a line
 * @line: the line behind the queue
 * @counted: time up to which idle time has been counted: the last arrival, which restarts the
 *   clock even if it was dropped on an empty queue
 * @waiting: waiting packets
 * @now: time in ns
 * @idle: result: idle time in ns after @counted
 *
 * Return: false while packets wait or the line transmits.
 */
static inline bool law_line_idle(const struct law_line *line, u64 counted, u32 waiting, u64 now,
				 u64 *idle)
{
	u64 since = line->free > counted ? line->free : counted;

	if (waiting || line->free > now)
		return false;
	*idle = now > since ? now - since : 0;
	return true;
}

#endif
